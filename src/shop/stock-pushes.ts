/**
 * What is known of an order's stock pushes (C40, C43): whether one has no outcome yet, and what was sent under which reference.
 *
 * Owns: the SQL of `stock_push`. Does not own: when a push is made, sent and settled (effect-work.ts).
 */
import type { OpenPush, PushItem } from "../core/stock-push.ts";
import { laneOf } from "./effects.ts";
import type { Statement, Tx } from "../store/store.ts";

/**
 * Whether a push of the order was asked for, or sent, and has no known outcome. One that was given up without an outcome is not in
 * flight any more.
 */
export async function isPushInFlight(tx: Tx, shopId: string, purchaseOrderId: string): Promise<boolean> {
  const [effects, pushes] = await Promise.all([
    tx.all<{ effect_id: string }>(
      "select effect_id from effect where shop_id = ? and lane = ? and state = 'pending' limit 1",
      [shopId, laneOf({ kind: "push-stock", purchaseOrderId, poLineItemIds: [] })],
    ),
    tx.all<{ reference: string }>(
      "select reference from stock_push where shop_id = ? and purchase_order_id = ? and state = 'in-flight' limit 1",
      [shopId, purchaseOrderId],
    ),
  ]);
  return effects.length > 0 || pushes.length > 0;
}

const itemsFrom = (json: string): readonly SentItem[] => {
  const items: readonly SentItem[] = JSON.parse(json);
  return items;
};

/** An item of a push, and what became of it. */
export interface SentItem extends PushItem {
  /** Null while it may or may not have landed. */
  readonly result: { readonly outcome: "landed" } | { readonly outcome: "rejected"; readonly message: string } | null;
}

export interface StockPush extends OpenPush {
  readonly items: readonly SentItem[];
  /** In flight, given up without an outcome, or settled item by item. */
  readonly state: "in-flight" | "unknown" | "settled";
}

/** All pushes of the order, oldest first. */
export async function loadStockPushes(tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly StockPush[]> {
  const rows = await tx.all<{ reference: string; items: string; state: StockPush["state"] }>(
    `select reference, items, state from stock_push where shop_id = ? and purchase_order_id = ?
     order by created_at, reference`,
    [shopId, purchaseOrderId],
  );
  return rows.map((row) => ({ reference: row.reference, items: itemsFrom(row.items), state: row.state }));
}

/** Keeps a push that is about to be sent for the first time (C40). */
export const insertPushStatement = (
  shopId: string,
  purchaseOrderId: string,
  push: OpenPush,
  nowMs: number,
): Statement => {
  const items: readonly SentItem[] = push.items.map((item) => ({ ...item, result: null }));
  return {
    sql: `insert into stock_push
            (shop_id, reference, purchase_order_id, items, state, attempts, not_landed, created_at, settled_at)
          values (?, ?, ?, ?, 'in-flight', 1, 0, ?, null)`,
    params: [shopId, push.reference, purchaseOrderId, JSON.stringify(items), nowMs],
  };
};

/** Keeps that a push is about to be sent again, under the same reference. */
export const resendStatement = (shopId: string, reference: string): Statement => ({
  sql: "update stock_push set state = 'in-flight', attempts = attempts + 1 where shop_id = ? and reference = ?",
  params: [shopId, reference],
});

/** Keeps what became of the items; the push is settled once that is known of every one. */
export const itemResultsStatement = (
  shopId: string,
  reference: string,
  items: readonly SentItem[],
  nowMs: number,
): Statement => {
  const settled = items.every((item) => item.result !== null);
  return {
    sql: "update stock_push set items = ?, state = ?, settled_at = ? where shop_id = ? and reference = ?",
    params: [JSON.stringify(items), settled ? "settled" : "in-flight", settled ? nowMs : null, shopId, reference],
  };
};

/** Counts an attempt that is known to have done nothing. */
export const notLandedStatement = (shopId: string, reference: string): Statement => ({
  sql: "update stock_push set not_landed = not_landed + 1 where shop_id = ? and reference = ?",
  params: [shopId, reference],
});

/**
 * Gives the order's open pushes up: one of which no attempt can have landed is forgotten, the others wait to be sent again under
 * their reference by a later push.
 */
export const giveUpStatements = (shopId: string, purchaseOrderId: string): readonly Statement[] => [
  {
    sql: `delete from stock_push
          where shop_id = ? and purchase_order_id = ? and state = 'in-flight' and attempts = not_landed`,
    params: [shopId, purchaseOrderId],
  },
  {
    sql: "update stock_push set state = 'unknown' where shop_id = ? and purchase_order_id = ? and state = 'in-flight'",
    params: [shopId, purchaseOrderId],
  },
];

/** Deletes pushes that were settled at `untilMs` or before. */
export const sweepPushesStatement = (shopId: string, untilMs: number): Statement => ({
  sql: "delete from stock_push where shop_id = ? and settled_at <= ?",
  params: [shopId, untilMs],
});
