/**
 * Totals of a shop's orders: their number by each value of each filter of the list. With them a list need not count its
 * matches.
 *
 * Owns: the SQL of the totals. Does not own: the list (purchase-order-list.ts), when orders change
 * (purchase-orders.ts).
 *
 * Invariants:
 * - R4. Totals change in the transaction that changes an order. They always equal a count of the rows; deleted orders
 *   are not counted.
 */
import { dayMs } from "../../base/time/calendar.ts";
import { paidStatus } from "../../core/order/lines.ts";
import type { OrderWithLines } from "../../core/order/purchase-order.ts";
import { placeholders } from "../../store/in-lists.ts";
import { asciiLower } from "../code-forms.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { type Change, insert } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Kinds of totals. */
export type CountKind =
  | "all"
  | "status"
  | "paid-status"
  | "sync-state"
  | "supplier"
  | "location"
  | "day"
  | "variant"
  | "sku";

/** The days from the earliest instant of a date to 1970. */
const daysBefore1970 = 100_000_000;

/** Makes every day's number ten digits long, so that days are in order as text. */
const dayOffset = 1_000_000_000;

/** A UTC day as it is counted by, from its number since 1970. */
const dayValue = (day: number): string => String(day + daysBefore1970 + dayOffset);

/** Returns the totals that count the order, each as kind and value. */
function countedUnder(order: OrderWithLines): ReadonlySet<string> {
  const keys = new Set<string>();
  const add = (kind: CountKind, value: string | null): void => {
    if (value !== null) keys.add(`${kind} ${value}`);
  };
  add("all", "");
  add("status", order.status);
  add("paid-status", paidStatus(order));
  add("sync-state", order.storefrontSyncState);
  add("supplier", order.supplierId);
  add("location", order.locationId);
  add("day", dayValue(Math.floor(order.createdAtMs / dayMs)));
  for (const line of order.lineItems) {
    add("variant", line.variantId);
    add("sku", line.sku === null ? null : asciiLower(line.sku));
  }
  return keys;
}

/** By how much totals change, by kind and value. */
export type CountChanges = Map<string, number>;

/** Adds the difference between an order before and after a change. Null: there was, or is, no such order (R4). */
export function addCounts(changes: CountChanges, before: OrderWithLines | null, next: OrderWithLines | null): void {
  if (before === next) return;
  const counted = before === null ? new Set<string>() : countedUnder(before);
  const counting = next === null ? new Set<string>() : countedUnder(next);
  const change = (key: string, by: number): void => {
    changes.set(key, (changes.get(key) ?? 0) + by);
  };
  for (const key of counted) if (!counting.has(key)) change(key, -1);
  for (const key of counting) if (!counted.has(key)) change(key, 1);
}

/** Changes the totals (R4). */
export function countStatements(shopId: string, changes: CountChanges): readonly Change[] {
  return [...changes].flatMap(([key, by]) => {
    const space = key.indexOf(" ");
    const row = { kind: key.slice(0, space), value: key.slice(space + 1), orders: by };
    return by === 0 ? [] : [insert(tables.purchase_order_count, shopId, row, "add")];
  });
}

const sumOf = (condition: string): string =>
  `select cast(coalesce(sum(orders), 0) as bigint) as n from purchase_order_count where shop_id = ? and kind = ? and ${condition}`;

async function totalOf(tx: Tx, sql: string, params: readonly SqlValue[]): Promise<number> {
  const [row] = await tx.all<{ n: number }>(sql, params);
  return row?.n ?? 0;
}

/** Orders with one of these values. */
export const countOf = (tx: Tx, shopId: string, kind: CountKind, values: readonly string[]): Promise<number> =>
  totalOf(tx, sumOf(`value in (${placeholders(values.length)})`), [shopId, kind, ...values]);

/**
 * Orders created from one instant on and before another; null: no such bound. Whole days are summed; of the days at
 * both ends the orders are counted.
 */
export async function countCreated(
  tx: Tx,
  shopId: string,
  fromMs: number | null,
  beforeMs: number | null,
): Promise<number> {
  const counted = (from: number, before: number): Promise<number> =>
    totalOf(
      tx,
      `select count(*) as n from purchase_order where shop_id = ? and deleted_at is null and created_at >= ? and created_at < ?`,
      [shopId, from, before],
    );
  const firstDay = fromMs === null ? -daysBefore1970 : Math.ceil(fromMs / dayMs);
  const endDay = beforeMs === null ? daysBefore1970 + 1 : Math.floor(beforeMs / dayMs);
  if (fromMs !== null && beforeMs !== null && endDay <= firstDay) return await counted(fromMs, beforeMs);
  const parts = await Promise.all([
    totalOf(tx, sumOf("value >= ? and value < ?"), [shopId, "day", dayValue(firstDay), dayValue(endDay)]),
    fromMs === null || fromMs === firstDay * dayMs ? 0 : counted(fromMs, firstDay * dayMs),
    beforeMs === null || beforeMs === endDay * dayMs ? 0 : counted(endDay * dayMs, beforeMs),
  ]);
  return parts.reduce((sum, part) => sum + part, 0);
}
