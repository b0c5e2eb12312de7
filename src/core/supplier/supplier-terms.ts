/**
 * The supplier's terms as defaults: what a new line takes from the supplier's catalogue entry for its variant where the
 * request leaves it out (C32).
 *
 * Pure. Does not own: looking the terms up (shop/catalogue/catalogue.ts), what an order takes from its supplier
 * (core/order/edit.ts), writing terms back (core/storefront/write-back.ts).
 */
import type { Money } from "../money/money.ts";
import {
  type Changes,
  completed,
  type Fields,
  type lineCostFields,
  supplierFields,
  type ValuesOf,
} from "../order/purchase-order-fields.ts";

/** Terms of a variant in a supplier's catalogue entry. Null: nothing. */
export const supplierTermFields = {
  unitCost: { kind: "money", empty: null },
  /** Null: the supplier's currency, else the shop's. */
  unitCostCurrencyCode: { kind: "text", empty: null },
  ...supplierFields,
} as const satisfies Fields;

/** A supplier's terms for a variant. */
export interface SupplierTerms extends ValuesOf<typeof supplierTermFields> {}

/** Cost and supplier fields of a new line. Null is a value; an absent field takes its default. */
export interface LineTerms extends Changes<typeof lineCostFields>, Changes<typeof supplierFields> {}

/** Facts that the shop knows about the line's variant. */
export interface KnownTerms {
  /** Null: the order has no supplier, or the supplier no entry for the variant. */
  readonly terms: SupplierTerms | null;
  /** The variant's own cost, in the shop's currency. Null: none, or the catalogue does not hold the variant. */
  readonly variantUnitCost: Money | null;
}

/** The currencies that a cost without one is in. */
export interface Currencies {
  readonly order: string;
  /** Of what the supplier's catalogue says without a currency: the supplier's, else the shop's. */
  readonly supplier: string;
  readonly shop: string;
}

/**
 * Fills in what the request leaves out of a new line. Cost and currency travel together: a currency that was sent takes
 * only a cost in that currency. `unitCost` stays absent when none was sent and none is known.
 *
 * Source: C32, C35.
 */
export const lineTerms = (sent: LineTerms, known: KnownTerms, currencies: Currencies): LineTerms => ({
  ...completed(supplierFields, sent, known.terms ?? {}),
  ...costOf(sent, known, currencies),
});

/**
 * True if a line costs 0 and an entry made now, in the line's currency, would find no cost. A 0 that was typed then
 * counts as one that was left out, as it does when the supplier changes.
 *
 * Source: C16, C32.
 */
export const lacksCost = (
  { unitCost, unitCostCurrencyCode }: ValuesOf<typeof lineCostFields>,
  known: KnownTerms,
  currencies: Currencies,
): boolean => unitCost === 0 && costOf({ unitCostCurrencyCode }, known, currencies).unitCost === undefined;

function costOf(
  sent: LineTerms,
  { terms, variantUnitCost }: KnownTerms,
  currencies: Currencies,
): Changes<typeof lineCostFields> {
  const { unitCost } = sent;
  if (unitCost !== undefined) return { unitCost, unitCostCurrencyCode: sent.unitCostCurrencyCode };
  // Null asks for the order's currency.
  const sentCurrency = sent.unitCostCurrencyCode === null ? currencies.order : sent.unitCostCurrencyCode;
  const costs = [
    { cost: terms?.unitCost ?? null, currency: terms?.unitCostCurrencyCode ?? currencies.supplier },
    { cost: variantUnitCost, currency: currencies.shop },
  ];
  const found = costs.find(
    ({ cost, currency }) => cost !== null && (sentCurrency === undefined || currency === sentCurrency),
  );
  return found === undefined
    ? { unitCostCurrencyCode: sentCurrency ?? terms?.unitCostCurrencyCode }
    : { unitCost: found.cost, unitCostCurrencyCode: found.currency };
}
