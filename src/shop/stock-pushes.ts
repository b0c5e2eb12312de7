/**
 * What is known of an order's stock pushes (C40, C43): whether one has no outcome yet, and what was sent under which reference.
 *
 * Owns: the questions that operations ask. Does not own: making, sending and settling pushes (outbox.ts).
 */
import type { OpenPush, PushItem } from "../core/storefront-plan.ts";
import type { Tx } from "./shop.ts";

export interface PushState {
  /** A push was asked for, or sent, and has no known outcome. One that was given up without an outcome is not in flight any more. */
  readonly inFlight: boolean;
  /** Lines that are part of a push without a known outcome, given up or not. */
  readonly lineItemIds: ReadonlySet<string>;
}

export async function loadPushState(tx: Tx, shopId: string, purchaseOrderId: string): Promise<PushState> {
  const effects = await tx.all<{ payload: string }>(
    `select payload from effect
     where shop_id = ? and state = 'pending' and kind = 'push-stock' and purchase_order_id = ?`,
    [shopId, purchaseOrderId],
  );
  const pushes = await tx.all<{ state: "in-flight" | "unknown"; items: string }>(
    "select state, items from stock_push where shop_id = ? and purchase_order_id = ? and state <> 'settled'",
    [shopId, purchaseOrderId],
  );
  const asked = effects.flatMap(({ payload }) => {
    const effect: { readonly poLineItemIds: readonly string[] } = JSON.parse(payload);
    return effect.poLineItemIds;
  });
  const sent = pushes.flatMap(({ items }) => lineItemIdsOf(itemsFrom(items)));
  return {
    inFlight: effects.length > 0 || pushes.some((push) => push.state === "in-flight"),
    lineItemIds: new Set([...asked, ...sent]),
  };
}

const itemsFrom = (json: string): readonly PushItem[] => {
  const items: readonly PushItem[] = JSON.parse(json);
  return items;
};

const lineItemIdsOf = (items: readonly PushItem[]): readonly string[] =>
  items.flatMap((item) => item.lines.map((line) => line.poLineItemId));

export interface StockPush extends OpenPush {
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
