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
  type Status,
} from "./purchase-order.ts";

type Quantities = Pick<
  LineItem,
  "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantityRejected" | "quantityCancelled"
>;

export const isCustom = (line: Pick<LineItem, "variantId">): boolean => line.variantId.startsWith(customVariantPrefix);

/** What a line is expected to bring: confirmed if any, else ordered. */
export const baseQuantity = (line: Quantities): Quantity =>
  line.quantityConfirmed > 0 ? line.quantityConfirmed : line.quantityOrdered;

/** received + rejected + cancelled: what counts against the base. */
export const accountedQuantity = (line: Quantities): Quantity =>
  asQuantity(line.quantityReceived + line.quantityRejected + line.quantityCancelled);

export const pendingQuantity = (line: Quantities): Quantity =>
  asQuantity(Math.max(0, baseQuantity(line) - accountedQuantity(line)));

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

/** Orders whose pending quantities are incoming stock (C41). */
const openStatuses: ReadonlySet<Status> = new Set([
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
]);

export const isOpen = (order: Pick<PurchaseOrder, "status">): boolean => openStatuses.has(order.status);

/**
 * Incoming stock of one order: catalogue variant → pending quantity at the order's location. Empty unless the order is open
 * and has a location.
 */
export function incomingOf(order: PurchaseOrder | null): ReadonlyMap<string, Quantity> {
  const incoming = new Map<string, Quantity>();
  if (order === null || !isOpen(order) || order.locationId === null) return incoming;
  for (const line of order.lineItems) {
    const pending = pendingQuantity(line);
    if (pending === 0 || isCustom(line)) continue;
    incoming.set(line.variantId, asQuantity((incoming.get(line.variantId) ?? 0) + pending));
  }
  return incoming;
}

export interface IncomingDelta {
  readonly variantId: string;
  readonly locationId: string;
  readonly delta: Quantity;
}

/** How the incoming ledger moves when `before` becomes `after` (null: no such order). Only real moves are listed. */
export function incomingDeltas(before: PurchaseOrder | null, after: PurchaseOrder | null): readonly IncomingDelta[] {
  const deltas = new Map<string, { variantId: string; locationId: string; delta: number }>();
  const add = (order: PurchaseOrder | null, sign: 1 | -1): void => {
    const locationId = order?.locationId ?? null;
    if (locationId === null) return;
    for (const [variantId, quantity] of incomingOf(order)) {
      const key = JSON.stringify([locationId, variantId]);
      const entry = deltas.get(key) ?? { variantId, locationId, delta: 0 };
      entry.delta += sign * quantity;
      deltas.set(key, entry);
    }
  };
  add(before, -1);
  add(after, 1);
  return [...deltas.values()]
    .filter((entry) => entry.delta !== 0)
    .map((entry) => ({ ...entry, delta: asQuantity(entry.delta) }));
}

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
