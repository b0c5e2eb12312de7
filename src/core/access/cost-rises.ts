/**
 * Rises of unit costs, which the limits of a key may bound (C78). Owns: which lines are asked, and by how much their
 * cost is above what is known of it. Pure; exact.
 *
 * Does not own: what is known of a cost (shop/order/cost-bases.ts), what becomes of a rise (limits.ts).
 */
import {
  type FxRate,
  type FxRates,
  type Money,
  type Quantity,
  asQuantity,
  quantityToNumber,
  unitRate,
} from "../money/money.ts";
import type { LineItem, PurchaseOrder } from "../order/purchase-order.ts";
import { hasLeftDraft } from "../order/status.ts";

/** Thousandths of a percent. */
export type Percent = Quantity;

/** The JSON number of a percentage (C14). */
export const percentToNumber = quantityToNumber;

/** Cost that a line's is held against. */
export interface CostBasis {
  readonly unitCost: Money;
  readonly currencyCode: string;
}

/** A line or a variant, and how far its cost is above what is known. */
export interface CostRise {
  readonly line: Pick<LineItem, "variantId" | "productName">;
  /** Null: nothing is known of it, or there is no rate. */
  readonly percent: Percent | null;
  /** The cost becomes the known one: later costs would be compared with it. */
  readonly setsEntry: boolean;
}

/**
 * The lines whose cost is checked: all of a new order, of one that leaves Draft, and with another supplier or
 * currency. Else those that are new or dearer, and those whose cost goes to the price list.
 *
 * Source: C78.
 */
export function linesWithNewCosts(
  before: PurchaseOrder | null,
  next: PurchaseOrder,
  entryLineIds: ReadonlySet<string>,
): readonly LineItem[] {
  const costed = next.lineItems.filter(({ unitCost }) => unitCost > 0);
  if (
    before === null ||
    before.supplierId !== next.supplierId ||
    before.currencyCode !== next.currencyCode ||
    (!hasLeftDraft(before) && hasLeftDraft(next))
  )
    return costed;
  if (before.lineItems === next.lineItems && entryLineIds.size === 0) return [];
  const lines = new Map(before.lineItems.map((line) => [line.poLineItemId, line]));
  return costed.filter((line) => {
    const was = lines.get(line.poLineItemId);
    return (
      entryLineIds.has(line.poLineItemId) ||
      was === undefined ||
      was.unitCostCurrencyCode !== line.unitCostCurrencyCode ||
      line.unitCost > was.unitCost
    );
  });
}

/** Rates to the shop's currency. */
interface Rates {
  readonly currencyCode: string;
  /** Rates by which amounts are converted: an order's own before the shop's. */
  readonly sources: readonly FxRates[];
}

const rateOf = (code: string, { currencyCode, sources }: Rates): FxRate | null =>
  code === currencyCode ? unitRate : (sources.find((source) => Object.hasOwn(source, code))?.[code] ?? null);

const percentScale = 100_000n;

/**
 * Percent by which a cost is above another. It is rounded up, so that what is beyond a maximum is shown beyond it.
 *
 * @returns null: there is no other one, or no rate between the two.
 */
export function percentOver(
  { unitCost, unitCostCurrencyCode }: Pick<LineItem, "unitCost" | "unitCostCurrencyCode">,
  basis: CostBasis | undefined,
  rates: Rates,
): Percent | null {
  if (basis === undefined) return null;
  const isSame = basis.currencyCode === unitCostCurrencyCode;
  const rate = isSame ? unitRate : rateOf(unitCostCurrencyCode, rates);
  const basisRate = isSame ? unitRate : rateOf(basis.currencyCode, rates);
  if (rate === null || basisRate === null) return null;
  const known = BigInt(basis.unitCost) * BigInt(basisRate);
  const above = BigInt(unitCost) * BigInt(rate) - known;
  return asQuantity(above <= 0n ? 0 : Number((above * percentScale + known - 1n) / known));
}

/**
 * Rises of known costs by a write of them.
 *
 * @param before  known costs by variant. A variant without one has nothing to be compared with.
 * Source: C78.
 */
export const basisRises = (
  before: ReadonlyMap<string, CostBasis>,
  after: ReadonlyMap<string, CostBasis>,
  rates: Rates,
): readonly CostRise[] =>
  [...after].map(([variantId, { unitCost, currencyCode }]) => ({
    line: { variantId, productName: null },
    percent: percentOver({ unitCost, unitCostCurrencyCode: currencyCode }, before.get(variantId), rates),
    setsEntry: true,
  }));

/** The highest of the rises that are beyond a maximum, what is allowed of it, and their count; null: none is. */
export function highestBeyond(
  rises: readonly CostRise[],
  max: Percent,
): { readonly rise: CostRise; readonly allowed: Percent; readonly count: number } | null {
  // What steps up the list by which it is measured has no maximum that holds: it is not to rise at all.
  const allowedOf = ({ setsEntry }: CostRise): Percent => (setsEntry ? asQuantity(0) : max);
  const height = ({ percent }: CostRise): number => percent ?? Infinity;
  const beyond = rises.filter((rise) => height(rise) > allowedOf(rise));
  const [rise] = beyond.toSorted((one, other) => height(other) - height(one));
  return rise === undefined ? null : { rise, allowed: allowedOf(rise), count: beyond.length };
}
