/** Days and weeks of the home screen, as `YYYY-MM-DD`. Pure. */
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { dayAfter } from "../orders/lateness.ts";

const dayMs = 86_400_000;

export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

/** The Monday of a day's week. */
export const mondayOf = (day: string): string => dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7));

/** Value of the order in the shop's currency, by the order's own rates; null where none is known. */
export function valueOf(order: PurchaseOrderHeader, shopCurrency: string): number | null {
  const rate = order.currencyCode === shopCurrency ? 1 : (order.fxRateOverride ?? order.fxRates[order.currencyCode]);
  return rate === undefined ? null : order.totalValue * rate;
}

/** Sums by key, in the order of the keys. */
export function sums<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string | null,
  valueOfRow: (row: Row) => number | null,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== null) found.set(key, (found.get(key) ?? 0) + (valueOfRow(row) ?? 0));
  }
  return found;
}
