/**
 * The arithmetic over the quantities and the value of one line (C14, C29, C35). Pure; figures are exact. What an order
 * is worth is in totals.ts.
 */
import {
  asMoney,
  asQuantity,
  exactValue,
  exactValueScale,
  type Money,
  type Quantity,
  roundToMinorUnit,
  unitRate,
  zeroMoney,
} from "../money/money.ts";
import {
  customVariantPrefix,
  type Header,
  type LineItem,
  type LineItemStatus,
  type PaidStatus,
} from "./purchase-order.ts";

type Quantities = Pick<
  LineItem,
  "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantityRejected" | "quantityCancelled"
>;

/** A number of lines as messages say it: `1 line`, `2 lines`. */
export const linesCounted = (count: number): string => (count === 1 ? "1 line" : `${count} lines`);

/** True if the line has no catalogue variant (C16). */
export const isCustom = (line: Pick<LineItem, "variantId">): boolean => line.variantId.startsWith(customVariantPrefix);

/** Returns the quantity that a line is expected to bring: its confirmed quantity if any, else its ordered quantity. */
export const baseQuantity = (line: Quantities): Quantity =>
  line.quantityConfirmed > 0 ? line.quantityConfirmed : line.quantityOrdered;

/** received + rejected + cancelled: what counts against the base quantity (C25, C29). */
export const accountedQuantity = (
  line: Pick<Quantities, "quantityReceived" | "quantityRejected" | "quantityCancelled">,
): Quantity => asQuantity(line.quantityReceived + line.quantityRejected + line.quantityCancelled);

/** Returns the quantity still to come: base − accounted, never below 0 (C29). */
export const pendingQuantity = (line: Quantities): Quantity =>
  asQuantity(Math.max(0, baseQuantity(line) - accountedQuantity(line)));

/** True if everything ordered was cancelled and nothing was received. */
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

/** Returns the quantity that a line is for, without what was cancelled of it (C35). */
export const wantedQuantity = (line: Pick<LineItem, "quantityOrdered" | "quantityCancelled">): Quantity =>
  asQuantity(Math.max(0, line.quantityOrdered - line.quantityCancelled));

/**
 * Returns the quantity of a line that is to be paid: goods that came and, while more may come, those still to come
 * (C35).
 */
export const owedQuantity = (line: Quantities, isOrderClosed: boolean): Quantity =>
  isOrderClosed ? line.quantityReceived : asQuantity(line.quantityReceived + pendingQuantity(line));

/** quantity × unitCost in the line's own currency, rounded half-up to its minor unit. */
export const valueOf = (quantity: Quantity, line: Pick<LineItem, "unitCost" | "unitCostCurrencyCode">): Money =>
  asMoney(
    Number(roundToMinorUnit(exactValue(quantity, line.unitCost, unitRate), exactValueScale, line.unitCostCurrencyCode)),
  );

/** (ordered − cancelled) × unitCost in the line's own currency, rounded half-up to its minor unit (C35). */
export const lineTotal = (
  line: Pick<LineItem, "quantityOrdered" | "quantityCancelled" | "unitCost" | "unitCostCurrencyCode">,
): Money => valueOf(wantedQuantity(line), line);

/**
 * Returns the payment status of an order: its settled amount against the owed one. One that is in and owes nothing is
 * paid, unless nobody knows what lines of it are worth.
 *
 * Source: C35.
 */
export function paidStatus(
  order: Pick<Header, "status" | "grandTotal" | "settledAmount" | "unpricedLineItemIds">,
): PaidStatus {
  const isIn = order.status === "Received" || order.status === "Completed";
  const owesNothing = order.grandTotal === zeroMoney && order.unpricedLineItemIds.length === 0;
  if (order.settledAmount <= zeroMoney) return isIn && owesNothing ? "Paid" : "Unpaid";
  if (order.settledAmount === order.grandTotal) return "Paid";
  return order.settledAmount < order.grandTotal ? "Partially Paid" : "Overpaid";
}
