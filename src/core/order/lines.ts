/**
 * All arithmetic over the quantities and values of lines (C14, C29, C35). Pure; figures are exact.
 */
import { Fault } from "../../base/fault.ts";
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
  zeroMoney,
  zeroQuantity,
} from "../money/money.ts";
import {
  customVariantPrefix,
  type Header,
  type LineItem,
  type LineItemStatus,
  type PaidStatus,
  type ShopFacts,
} from "./purchase-order.ts";
import { isClosed } from "./status.ts";

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
export const accountedQuantity = (
  line: Pick<Quantities, "quantityReceived" | "quantityRejected" | "quantityCancelled">,
): Quantity => asQuantity(line.quantityReceived + line.quantityRejected + line.quantityCancelled);

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

/** The header fields that follow from the lines and from other header fields. */
export type OrderTotals = ValueTotals & QuantityTotals & Pick<Header, "itemCount" | "grandTotal" | "nextExpectedDate">;

/** The header fields that the totals are made from. */
type TotalledHeader = Pick<
  Header,
  | "status"
  | "currencyCode"
  | "fxRateOverride"
  | "shippingCost"
  | "taxAmount"
  | "discountAmount"
  | "expectedDeliveryDate"
>;

/**
 * Works out the header fields that follow from others: the values, the sums of quantities and the next expected day.
 *
 * @throws Fault INVALID_INPUT when the total passes `totalValueMax`.
 * Source: contract §9 "Header"; C13, C35.
 */
export function orderTotals(
  order: TotalledHeader,
  lineItems: readonly LineItem[],
  shop: Pick<ShopFacts, "currencyCode" | "fxRates">,
): OrderTotals {
  const values = valueTotals(order, lineItems, shop);
  return {
    itemCount: lineItems.length,
    ...values,
    grandTotal: grandTotal(order, values.totalValue),
    ...quantityTotals(lineItems),
    nextExpectedDate: nextExpectedDate(order, lineItems),
  };
}

/** The totals of an order without lines and amounts, for one whose totals are still to be worked out. */
export const noTotals: OrderTotals = {
  itemCount: 0,
  totalValue: zeroMoney,
  unpricedLineItemIds: [],
  grandTotal: zeroMoney,
  quantityOrdered: zeroQuantity,
  quantityConfirmed: zeroQuantity,
  quantityReceived: zeroQuantity,
  quantityPending: zeroQuantity,
  nextExpectedDate: null,
};

/** What is owed: total value + shipping + tax − discount, rounded once to the currency's minor unit, never below 0 (C35). */
function grandTotal(
  {
    currencyCode,
    shippingCost,
    taxAmount,
    discountAmount,
  }: Pick<Header, "currencyCode" | "shippingCost" | "taxAmount" | "discountAmount">,
  totalValue: Money,
): Money {
  const exact = totalValue + (shippingCost ?? 0) + (taxAmount ?? 0) - (discountAmount ?? 0);
  return asMoney(Math.max(0, Number(roundToMinorUnit(BigInt(exact), 1n, currencyCode))));
}

type QuantityTotals = Pick<Header, "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantityPending">;

/** Sums over the lines. The largest order's are within 2^53: `linesPerOrderMax` × `quantityMax`. */
function quantityTotals(lineItems: readonly LineItem[]): QuantityTotals {
  let [ordered, confirmed, received, pending] = [0, 0, 0, 0];
  for (const line of lineItems) {
    ordered += line.quantityOrdered;
    confirmed += line.quantityConfirmed;
    received += line.quantityReceived;
    pending += pendingQuantity(line);
  }
  return {
    quantityOrdered: asQuantity(ordered),
    quantityConfirmed: asQuantity(confirmed),
    quantityReceived: asQuantity(received),
    quantityPending: asQuantity(pending),
  };
}

/**
 * The earliest day that a pending line carries itself, else the order's. Null when nothing is expected any more: the order is Completed
 * or Cancelled, or it has lines and none of them is pending (C13).
 */
function nextExpectedDate(
  order: Pick<Header, "status" | "expectedDeliveryDate">,
  lineItems: readonly LineItem[],
): string | null {
  if (isClosed(order)) return null;
  const pending = lineItems.filter((line) => pendingQuantity(line) > 0);
  if (lineItems.length > 0 && pending.length === 0) return null;
  const [earliest] = pending.flatMap((line) => line.expectedDeliveryDate ?? []).sort();
  return earliest ?? order.expectedDeliveryDate;
}

type ValueTotals = Pick<Header, "totalValue" | "unpricedLineItemIds">;

/**
 * Σ ordered × unitCost in the order's currency, summed exactly and rounded once (P6, C35). Lines that no rate converts are left
 * out and named.
 */
function valueTotals(
  order: { readonly currencyCode: string; readonly fxRateOverride: FxRate | null },
  lineItems: readonly LineItem[],
  shop: Pick<ShopFacts, "currencyCode" | "fxRates">,
): ValueTotals {
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
  return { totalValue: asMoney(Number(total)), unpricedLineItemIds };
}

/** How far an order is paid: what was settled against what is owed (C35). */
export function paidStatus(order: Pick<Header, "grandTotal" | "settledAmount">): PaidStatus {
  if (order.settledAmount <= zeroMoney) return "Unpaid";
  if (order.settledAmount === order.grandTotal) return "Paid";
  return order.settledAmount < order.grandTotal ? "Partially Paid" : "Overpaid";
}
