/**
 * Which segments a shop has, and the texts of their columns as rows.
 *
 * Owns: the rows of `order_segment`, one by one. Does not own: what a text says (segment.ts), when it is written
 * (sealing.ts), reading many (order-search.ts).
 */
import { compareText } from "../../base/text/compare-text.ts";
import { type Change, replace } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

/** Where a segment begins. */
export interface SegmentKey {
  readonly created_from: number;
  readonly id_from: string;
}

/** A segment with the number of its orders. */
export interface SegmentHead extends SegmentKey {
  readonly orders: number;
  /** Names its content: equal ones are the same. */
  readonly stamp: string;
}

/** Texts of articles that stand together, for searches. */
export const articlesOfWords = 1_024;

/** The segment of a shop that has none. */
export const oldest: SegmentHead = { created_from: Number.MIN_SAFE_INTEGER, id_from: "", orders: 0, stamp: "" };

/** The shop's segments by age; at least one. */
export async function loadHeads(tx: Tx, shopId: string): Promise<readonly SegmentHead[]> {
  const body = await bodyOf(tx, shopId, "heads", whole);
  if (body === "") return [oldest];
  // Stored text is trusted: `saveHeads` made it.
  const stored: readonly StoredHead[] = JSON.parse(body);
  return stored.map(([created_from, id_from, orders, stamp]) => ({ created_from, id_from, orders, stamp }));
}

type StoredHead = readonly [createdFrom: number, idFrom: string, orders: number, stamp: string];

/** Stores the shop's segments by age. */
export function saveHeads(shopId: string, heads: readonly SegmentHead[]): Change {
  const stored: readonly StoredHead[] = heads.map(({ created_from, id_from, orders, stamp }) => [
    created_from,
    id_from,
    orders,
    stamp,
  ]);
  return saveBody(shopId, "heads", whole, JSON.stringify(stored));
}

/** The key of what there is of all segments. */
const whole: SegmentKey = { created_from: 0, id_from: "" };

/** True if a segment begins with this order or before it. */
const beginsBy = ({ created_from, id_from }: SegmentKey, createdAtMs: number, id: string): boolean =>
  created_from < createdAtMs || (created_from === createdAtMs && compareText(id_from, id) <= 0);

/** Index of the segment in which an order of this age is. */
export const indexOf = (heads: readonly SegmentKey[], createdAtMs: number, id: string): number =>
  heads.findLastIndex((head) => beginsBy(head, createdAtMs, id));

/** The text of a segment's column; empty if there is none. */
export async function bodyOf(
  tx: Tx,
  shopId: string,
  name: string,
  { created_from, id_from }: SegmentKey,
): Promise<string> {
  const [row] = await tx.all<{ body: string }>(
    "select body from order_segment where shop_id = ? and name = ? and created_from = ? and id_from = ?",
    [shopId, name, created_from, id_from],
  );
  return row?.body ?? "";
}

/** Stores the text of a segment's column. */
export const saveBody = (shopId: string, name: string, { created_from, id_from }: SegmentKey, body: string): Change =>
  replace(tables.order_segment, shopId, { name, created_from, id_from, body });
