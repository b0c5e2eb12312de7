/**
 * An order's stock pushes as rows (C40, C43): what was sent under which reference, and what became of it.
 *
 * Owns: the SQL of `stock_push`. Does not own: what a push carries (core/storefront/stock-push.ts), when it is sent and
 * settled (jobs/outbox/steps/stock-push.ts).
 *
 * Statements about pushes that are not settled say so as `settled_at is null`: the index of these rows has the same
 * words.
 */
import { type OpenPush, type SentItem, isUnread } from "../../core/storefront/stock-push.ts";
import type { Tx } from "../../store/store.ts";
import { laneOf } from "./effects.ts";
import { type Change, type Row, changeOf, insert, update, remove, plus, upTo, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Effects that asked for a push of the order and are not finished, at most so many. */
export async function pendingPushEffects(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  limit: number,
): Promise<readonly string[]> {
  const lane = laneOf({ kind: "push-stock", purchaseOrderId, poLineItemIds: [] });
  const rows = await tx.all<{ effect_id: string }>(
    "select effect_id from effect where shop_id = ? and lane = ? and state = 'pending' limit ?",
    [shopId, lane, limit],
  );
  return rows.map((row) => row.effect_id);
}

/**
 * True if a push of the order was queued, or sent, and has no known outcome. One that was given up is not in flight any
 * more.
 */
export async function isPushInFlight(tx: Tx, shopId: string, purchaseOrderId: string): Promise<boolean> {
  const [pending, sent] = await Promise.all([
    pendingPushEffects(tx, shopId, purchaseOrderId, 1),
    tx.all<{ reference: string }>(
      `select reference from stock_push
       where shop_id = ? and purchase_order_id = ? and state = 'in-flight' and settled_at is null limit 1`,
      [shopId, purchaseOrderId],
    ),
  ]);
  return pending.length + sent.length > 0;
}

const itemsFrom = (json: string): readonly SentItem[] => {
  const items: readonly SentItem[] = JSON.parse(json);
  return items;
};

/** A push that was stored before it was sent. */
export interface StockPush extends OpenPush {
  readonly items: readonly SentItem[];
  /** In flight, given up without an outcome, or settled item by item. */
  readonly state: "in-flight" | "unknown" | "settled";
}

interface PushRow {
  readonly reference: string;
  readonly items: string;
  readonly state: StockPush["state"];
}

const pushFrom = ({ reference, items, state }: PushRow): StockPush => ({ reference, items: itemsFrom(items), state });

/** All pushes of the order, oldest first. */
export async function loadStockPushes(tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly StockPush[]> {
  const rows = await tx.all<PushRow>(
    `select reference, items, state from stock_push where shop_id = ? and purchase_order_id = ?
     order by created_at, reference`,
    [shopId, purchaseOrderId],
  );
  return rows.map(pushFrom);
}

/**
 * The order's pushes that are not settled, oldest first, and the one under `reference` whatever its state. An order
 * that is received in many parts has as many pushes, and the settled ones do not matter to the next.
 */
export async function loadOpenPushes(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  reference: string | null,
): Promise<readonly StockPush[]> {
  const rows = await tx.all<PushRow>(
    `select reference, items, state, created_at from stock_push
     where shop_id = ? and purchase_order_id = ? and settled_at is null
     union all
     select reference, items, state, created_at from stock_push
     where shop_id = ? and reference = ? and purchase_order_id = ? and settled_at is not null
     order by created_at, reference`,
    [shopId, purchaseOrderId, shopId, reference ?? "", purchaseOrderId],
  );
  return rows.map(pushFrom);
}

/** The order's lines in pushes that have no known outcome: the storefront may have their goods. */
export async function unsettledLines(tx: Tx, shopId: string, purchaseOrderId: string): Promise<ReadonlySet<string>> {
  const pushes = await loadOpenPushes(tx, shopId, purchaseOrderId, null);
  const items = pushes.flatMap((push) => push.items).filter((item) => item.result === null);
  return new Set(items.flatMap((item) => item.lines.map((line) => line.poLineItemId)));
}

/** Stores a push that is about to be sent for the first time (C40). */
export const insertPushStatement = (shopId: string, purchaseOrderId: string, push: OpenPush, nowMs: number): Change => {
  const items: readonly SentItem[] = push.items.map((item) => ({ ...item, result: null }));
  return insert(tables.stock_push, shopId, {
    reference: push.reference,
    purchase_order_id: purchaseOrderId,
    items: JSON.stringify(items),
    unread: 0,
    state: "in-flight",
    attempts: 1,
    not_landed: 0,
    created_at: nowMs,
    settled_at: null,
  });
};

/** Records that a push is about to be sent again, under the same reference. */
export const resendStatement = (shopId: string, reference: string): Change =>
  update(tables.stock_push, shopId, { reference }, { state: "in-flight", attempts: plus(1) });

/** Records the results of the items. The push is settled once every item has one. */
export const itemResultsStatement = (
  shopId: string,
  reference: string,
  items: readonly SentItem[],
  nowMs: number,
): Change => {
  const settled = items.every((item) => item.result !== null);
  return update(
    tables.stock_push,
    shopId,
    { reference },
    { ...itemsOf(items), state: settled ? "settled" : "in-flight", settled_at: settled ? nowMs : null },
  );
};

const itemsOf = (items: readonly SentItem[]): Row => ({
  items: JSON.stringify(items),
  unread: items.filter(isUnread).length,
});

/** Items of pushes, by reference and place in the push. */
export type ItemPlaces = ReadonlyMap<string, ReadonlySet<number>>;

/** Records that the storefront has shown these items of the order's pushes. */
export async function markReadBack(tx: Tx, shopId: string, purchaseOrderId: string, shown: ItemPlaces): Promise<void> {
  if (shown.size === 0) return;
  const pushes = await loadStockPushes(tx, shopId, purchaseOrderId);
  await tx.batch(
    pushes.flatMap(({ reference, items }): readonly Change[] => {
      const places = shown.get(reference);
      if (places === undefined) return [];
      const marked = items.map((item, index): SentItem =>
        places.has(index) && isUnread(item) ? { ...item, result: { outcome: "landed", isReadBack: true } } : item,
      );
      return [update(tables.stock_push, shopId, { reference }, itemsOf(marked))];
    }),
  );
}

/** Counts an attempt that certainly had no effect. */
export const notLandedStatement = (shopId: string, reference: string): Change =>
  update(tables.stock_push, shopId, { reference }, { not_landed: plus(1) });

/**
 * Give up the order's open pushes. One whose attempts certainly had no effect is deleted. The others wait for a later
 * push, which sends them again under their reference.
 */
export const giveUpStatements = (shopId: string, purchaseOrderId: string): readonly Change[] => [
  changeOf(dropUnlanded, [shopId, purchaseOrderId]),
  update(
    tables.stock_push,
    shopId,
    { purchase_order_id: purchaseOrderId, state: "in-flight", settled_at: null },
    { state: "unknown" },
  ),
];

const dropUnlanded = textForm(
  tables.stock_push,
  `delete from stock_push
   where shop_id = ? and purchase_order_id = ? and state = 'in-flight' and settled_at is null and attempts = not_landed`,
  ["shop_id", "purchase_order_id"],
);

/** True if a push of the order has failed since then. */
export async function hasFailedPush(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  sinceMs: number,
): Promise<boolean> {
  const lane = laneOf({ kind: "push-stock", purchaseOrderId, poLineItemIds: [] });
  const rows = await tx.all<{ effect_id: string }>(
    "select effect_id from effect where shop_id = ? and lane = ? and state = 'failed' and settled_at >= ? limit 1",
    [shopId, lane, sinceMs],
  );
  return rows.length > 0;
}

/** Deletes pushes that were settled at `untilMs` or before, but for those that have not been read back whole. */
export const sweepPushesStatement = (shopId: string, untilMs: number): Change =>
  remove(tables.stock_push, shopId, { settled_at: upTo(untilMs), unread: 0 });
