/**
 * The exchange rates of an order: which it needs, when it takes them from the shop, and what they convert (C35). Pure.
 *
 * An order's rates are its own. A Draft takes the shop's anew with each change; later only a currency that had no rate
 * takes one.
 */
import { type FxRate, type FxRates, unitRate } from "../money/money.ts";
import type { LineItem, PurchaseOrder, ShopFacts } from "./purchase-order.ts";

/** A rate as an exact fraction. */
interface Fraction {
  readonly numerator: FxRate;
  readonly denominator: FxRate;
}

/** Currency and rates by which amounts are converted to an order's currency. */
export interface OrderCurrency {
  readonly currencyCode: string;
  readonly fxRateOverride: FxRate | null;
  readonly fxRates: FxRates;
}

/** Currencies in which an order counts. */
export interface InCurrencies extends Pick<PurchaseOrder, "currencyCode"> {
  readonly lineItems: readonly Pick<LineItem, "unitCostCurrencyCode">[];
  readonly attached: {
    readonly payments: readonly { readonly currencyCode: string }[];
    readonly credits: readonly { readonly currencyCode: string }[];
  };
}

/**
 * The currencies of an order for which it needs a rate, sorted: its own, and those of its lines, payments and credits.
 */
function foreignCurrencies(order: InCurrencies, shopCurrency: string): readonly string[] {
  const codes = new Set([order.currencyCode]);
  for (const line of order.lineItems) codes.add(line.unitCostCurrencyCode);
  for (const payment of order.attached.payments) codes.add(payment.currencyCode);
  for (const credit of order.attached.credits) codes.add(credit.currencyCode);
  codes.delete(shopCurrency);
  return [...codes].sort();
}

/** The rates of these currencies among the source's. */
const ratesOf = (codes: readonly string[], source: FxRates): FxRates =>
  Object.fromEntries(
    codes.flatMap((code) => {
      const rate = Object.hasOwn(source, code) ? source[code] : undefined;
      return rate === undefined ? [] : [[code, rate]];
    }),
  );

/** The rates of a new order: the shop's. */
export const newRates = (order: InCurrencies, shop: Pick<ShopFacts, "currencyCode" | "fxRates">): FxRates =>
  ratesOf(foreignCurrencies(order, shop.currencyCode), shop.fxRates);

/**
 * The rates of an order after a change. A Draft has the shop's anew. Any other keeps its own, also those of currencies
 * that it has no more, and takes the shop's for a currency that has none. One that is Completed before and after takes
 * them for a new currency alone.
 *
 * Source: C35.
 */
export function ratesAfter(
  before: InCurrencies & Pick<PurchaseOrder, "status" | "fxRates">,
  next: InCurrencies & Pick<PurchaseOrder, "status">,
  shop: Pick<ShopFacts, "currencyCode" | "fxRates">,
): FxRates {
  if (before.status === "Draft") return newRates(next, shop);
  const isDone = before.status === "Completed" && next.status === "Completed";
  const settled = new Set(isDone ? foreignCurrencies(before, shop.currencyCode) : []);
  const missing = foreignCurrencies(next, shop.currencyCode).filter(
    (code) => !Object.hasOwn(before.fxRates, code) && !settled.has(code),
  );
  return { ...before.fxRates, ...ratesOf(missing, shop.fxRates) };
}

/** The rates of an order after a change, had the currencies that it had before kept theirs. */
export function ratesKept(
  before: InCurrencies & { readonly fxRates: FxRates },
  next: InCurrencies & { readonly fxRates: FxRates },
  shop: Pick<ShopFacts, "currencyCode">,
): FxRates {
  const known = new Set(foreignCurrencies(before, shop.currencyCode));
  const codes = foreignCurrencies(next, shop.currencyCode);
  return {
    ...ratesOf(codes, before.fxRates),
    ...ratesOf(
      codes.filter((code) => !known.has(code)),
      next.fxRates,
    ),
  };
}

/** True if the order counts by the same rates in both. */
export const isSameFor = (order: InCurrencies, shopCurrency: string, a: FxRates, b: FxRates): boolean =>
  foreignCurrencies(order, shopCurrency).every((code) => a[code] === b[code]);

/**
 * The rate from a currency to the order's, as an exact fraction; null when none is known. It goes through the shop's
 * currency: by the order's rates to it, and from it by 1 / (override, else the rate of the order's currency).
 *
 * Source: C35.
 */
export function rateToOrderCurrency(currencyCode: string, order: OrderCurrency, shopCurrency: string): Fraction | null {
  if (currencyCode === order.currencyCode) return { numerator: unitRate, denominator: unitRate };
  const toShop = currencyCode === shopCurrency ? unitRate : (order.fxRates[currencyCode] ?? null);
  const orderToShop =
    order.currencyCode === shopCurrency
      ? unitRate
      : (order.fxRateOverride ?? order.fxRates[order.currencyCode] ?? null);
  return toShop === null || orderToShop === null ? null : { numerator: toShop, denominator: orderToShop };
}
