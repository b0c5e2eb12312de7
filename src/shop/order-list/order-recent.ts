/**
 * Orders that lists do not find in segments as they are now: the newest, and those that were changed since.
 *
 * Owns: the rows of `order_recent`. Does not own: moving them into segments (sealing.ts), finding matches among them
 * (order-search.ts).
 *
 * Invariants:
 * - R4. An order without such a row is in a segment as it is, and counted so, or it is deleted and in none. The row is
 *       written in the transaction that changes the order.
 */
import type { OrderWithLines } from "../../core/order/purchase-order.ts";
import { type Change, insert } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";
import { type OrderFacts, articleFrom, articlesOf, factsOf } from "./order-facts.ts";
import type { Article } from "./order-facts.ts";

/** Facts of which the totals count sealed orders. */
export const countedColumns = ["status", "paidStatus", "storefrontSyncState", "supplierId", "locationId"] as const;

export type CountedColumn = (typeof countedColumns)[number];

/** Facts that totals have of an order, and where it was sealed. */
export interface SealedFacts extends Readonly<Record<CountedColumn, string | null>> {
  readonly createdAtMs: number;
}

/** An order that differs from its segment. */
export interface RecentOrder {
  readonly purchaseOrderId: string;
  /** Null: it was deleted. */
  readonly facts: OrderFacts | null;
  /** By key. Null: those that its segment has. */
  readonly articles: ReadonlyMap<string, Article> | null;
  /** Null: it is in no segment. */
  readonly sealed: SealedFacts | null;
}

const sealedOf = ({
  createdAtMs,
  status,
  paidStatus,
  storefrontSyncState,
  supplierId,
  locationId,
}: OrderFacts): SealedFacts => ({ createdAtMs, status, paidStatus, storefrontSyncState, supplierId, locationId });

/** Notes what lists must know of a change. Null: there was, or is, no such order (R4). */
export function recentChanges(
  shopId: string,
  before: OrderWithLines | null,
  next: OrderWithLines | null,
): readonly Change[] {
  const order = next ?? before;
  if (order === null || before === next) return [];
  const facts = next === null ? null : JSON.stringify(factsOf(next));
  const known = before === null ? null : factsOf(before);
  const keys = next === null ? null : [...articlesOf(next).keys()];
  const isSame =
    before !== null &&
    keys !== null &&
    before.createdAtMs === next?.createdAtMs &&
    isEqual([...articlesOf(before).keys()], keys);
  if (isSame && facts === JSON.stringify(known)) return [];
  const row = {
    purchase_order_id: order.purchaseOrderId,
    facts,
    articles: keys === null || isSame ? null : JSON.stringify(keys),
    sealed: known === null ? null : JSON.stringify(sealedOf(known)),
  };
  // A row that is there says what was sealed.
  return [insert(tables.order_recent, shopId, row, isSame ? ["facts"] : ["facts", "articles"])];
}

const isEqual = (some: readonly string[], others: readonly string[]): boolean => {
  if (some.length !== others.length) return false;
  const known = new Set(some);
  return others.every((each) => known.has(each));
};

interface RecentRow {
  readonly purchase_order_id: string;
  readonly facts: string | null;
  readonly articles: string | null;
  readonly sealed: string | null;
}

// Stored texts are trusted: `recentChanges` made them.

function recentFrom(row: RecentRow): RecentOrder {
  const facts: OrderFacts | null = JSON.parse(row.facts ?? "null");
  const keys: readonly string[] | null = JSON.parse(row.articles ?? "null");
  const sealed: SealedFacts | null = JSON.parse(row.sealed ?? "null");
  return {
    purchaseOrderId: row.purchase_order_id,
    facts,
    articles: keys === null ? null : new Map(keys.map((key) => [key, articleFrom(key)])),
    sealed,
  };
}

/** All of them. */
export async function loadRecent(tx: Tx, shopId: string): Promise<readonly RecentOrder[]> {
  const rows = await tx.all<RecentRow>(
    "select purchase_order_id, facts, articles, sealed from order_recent where shop_id = ?",
    [shopId],
  );
  return rows.map(recentFrom);
}
