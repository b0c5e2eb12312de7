/**
 * All arithmetic over the quantities and values of lines (C14, C29, C35). Pure; figures are exact.
 */
import { Fault } from "./fault.ts";
import {
  asMoney,
  asQuantity,
  exactValue,
  exactValueScale,
  type FxRate,
  type Money,
  type Quantity,
  roundToMinorUnit,
  totalValueMax,
  moneyDecimalsMax,
  unitRate,
  zeroQuantity,
} from "./money.ts";
import {
  customVariantPrefix,
  type LineItem,
  type LineItemStatus,
  type PaidStatus,
  type PurchaseOrder,
  type ShopFacts,
} from "./purchase-order.ts";

type Quantities = Pick<
  LineItem,
  "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantityRejected" | "quantityCancelled"
>;

/** Whether the line has no catalogue variant (C16). */
export const isCustom = (line: Pick<LineItem, "variantId">): boolean => line.variantId.startsWith(customVariantPrefix);

/** What a line is expected to bring: its confirmed quantity if any, else its ordered quantity. */
export const baseQuantity = (line: Quantities): Quantity =>
  line.quantityConfirmed > 0 ? line.quantityConfirmed : line.quantityOrdered;

/** received + rejected + cancelled: what counts against the base quantity (C25, C29). */
export const accountedQuantity = (line: Quantities): Quantity =>
  asQuantity(line.quantityReceived + line.quantityRejected + line.quantityCancelled);

/** What is still to come: base − accounted, never below 0 (C29). */
export const pendingQuantity = (line: Quantities): Quantity =>
  asQuantity(Math.max(0, baseQuantity(line) - accountedQuantity(line)));

/** Whether everything ordered was cancelled and nothing was received. */
export const isWhollyCancelled = (line: Quantities): boolean =>
  line.quantityCancelled >= line.quantityOrdered && line.quantityReceived === 0;

/** A line's status, the first rule of C29 that holds. */
export function lineItemStatus(line: Quantities): LineItemStatus {
  if (isWhollyCancelled(line)) return "Cancelled";
  const pending = pendingQuantity(line);
  if (line.quantityReceived > 0) return pending === 0 ? "Received" : "Partially Received";
  if (pending === 0 && line.quantityRejected > 0) return "Rejected";
  if (line.quantityConfirmed >= line.quantityOrdered) return "Confirmed";
  return line.quantityConfirmed > 0 ? "Partially Confirmed" : "Pending";
}

/** ordered × unitCost in the line's own currency, rounded half-up to its minor unit. */
export const lineTotal = (line: Pick<LineItem, "quantityOrdered" | "unitCost" | "unitCostCurrencyCode">): Money =>
  asMoney(
    Number(
      roundToMinorUnit(
        exactValue(line.quantityOrdered, line.unitCost, unitRate),
        exactValueScale,
        line.unitCostCurrencyCode,
      ),
    ),
  );

/**
 * The rate from a line's currency to the order's, as an exact fraction `numerator / denominator`; null when none is known.
 * Through the shop's currency: line → shop by the shop's rates, shop → order by 1 / (override or the shop's rate) (C35).
 */
export function rateToOrderCurrency(
  lineCurrency: string,
  order: { readonly currencyCode: string; readonly fxRateOverride: FxRate | null },
  shop: Pick<ShopFacts, "currencyCode" | "fxRates">,
): { readonly numerator: FxRate; readonly denominator: FxRate } | null {
  if (lineCurrency === order.currencyCode) return { numerator: unitRate, denominator: unitRate };
  const toShop = lineCurrency === shop.currencyCode ? unitRate : (shop.fxRates[lineCurrency] ?? null);
  const orderToShop =
    order.currencyCode === shop.currencyCode
      ? unitRate
      : (order.fxRateOverride ?? shop.fxRates[order.currencyCode] ?? null);
  return toShop === null || orderToShop === null ? null : { numerator: toShop, denominator: orderToShop };
}

/** What of a header follows from the lines. */
export interface OrderTotals {
  readonly itemCount: number;
  readonly totalValue: Money;
  readonly unpricedLineItemIds: readonly string[];
}

/**
 * Σ ordered × unitCost in the order's currency, summed exactly and rounded once (P6, C35). Lines that no rate converts are left
 * out and named.
 *
 * @throws Fault INVALID_INPUT when the total passes `totalValueMax`.
 */
export function orderTotals(
  order: { readonly currencyCode: string; readonly fxRateOverride: FxRate | null },
  lineItems: readonly LineItem[],
  shop: Pick<ShopFacts, "currencyCode" | "fxRates">,
): OrderTotals {
  // One exact sum per pair of rates, joined over a common denominator at the end.
  let numerator = 0n;
  let denominator = 1n;
  const unpricedLineItemIds: string[] = [];
  const sums = new Map<string, { sum: bigint; denominator: bigint }>();
  for (const line of lineItems) {
    const rate = rateToOrderCurrency(line.unitCostCurrencyCode, order, shop);
    if (rate === null) {
      unpricedLineItemIds.push(line.poLineItemId);
      continue;
    }
    const entry = sums.get(line.unitCostCurrencyCode) ?? { sum: 0n, denominator: BigInt(rate.denominator) };
    entry.sum += exactValue(line.quantityOrdered, line.unitCost, rate.numerator);
    sums.set(line.unitCostCurrencyCode, entry);
  }
  for (const entry of sums.values()) {
    numerator = numerator * entry.denominator + entry.sum * denominator;
    denominator *= entry.denominator;
  }
  // exactValue carries the rate's scale in the numerator; the denominator's rate carries it too, so only the quantity's is left.
  const total = roundToMinorUnit(numerator * BigInt(unitRate), denominator * exactValueScale, order.currencyCode);
  if (total > BigInt(totalValueMax) * 10n ** BigInt(moneyDecimalsMax))
    throw new Fault("INVALID_INPUT", `The order's total would pass ${totalValueMax} ${order.currencyCode}.`, {
      action: "Lower quantities or unit costs, or split the order.",
    });
  return { itemCount: lineItems.length, totalValue: asMoney(Number(total)), unpricedLineItemIds };
}

/** How far an order is paid: what was settled against its total value (contract §9). */
export function paidStatus(order: Pick<PurchaseOrder, "totalValue" | "settledAmount">): PaidStatus {
  if (order.settledAmount <= zeroQuantity) return "Unpaid";
  if (order.settledAmount === order.totalValue) return "Paid";
  return order.settledAmount < order.totalValue ? "Partially Paid" : "Overpaid";
}
