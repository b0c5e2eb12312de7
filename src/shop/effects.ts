/**
 * Puts the effects that a change asks for into the outbox, in that change's transaction (S3). What becomes of them is the outbox's
 * business (outbox.ts).
 */
import type { Effect } from "../core/effect.ts";
import type { Ids, Statement } from "./shop.ts";

const insertEffect = `
insert into effect
  (shop_id, effect_id, kind, lane, purchase_order_id, payload, state, attempts, due_at, detail, item_count, lease_owner,
   leased_until, created_at, settled_at)
values (?, ?, ?, ?, ?, ?, 'pending', 0, ?, null, 0, null, 0, ?, null)`;

/**
 * Effects of one lane run one at a time: an order has one push in flight, and the storefront's incoming figures of a location and its
 * tags are set by one call after another, so that the last one told is the ledger's last.
 */
function laneOf(effect: Effect): string {
  switch (effect.kind) {
    case "push-stock":
    case "settle-costs":
      return `${effect.kind} ${effect.purchaseOrderId}`;
    case "mirror-incoming":
      return `${effect.kind} ${effect.locationId}`;
    case "sync-tags":
      return effect.kind;
  }
}

/** The statements that keep these effects, each due at once, and the ids they get. */
export function effectStatements(
  shopId: string,
  effects: readonly Effect[],
  ids: Ids,
  nowMs: number,
): {
  readonly effects: readonly { readonly effectId: string; readonly kind: Effect["kind"] }[];
  readonly statements: readonly Statement[];
} {
  const entries = effects.map((effect) => ({ effectId: ids.next("eff"), effect }));
  return {
    effects: entries.map(({ effectId, effect }) => ({ effectId, kind: effect.kind })),
    statements: entries.map(({ effectId, effect }) => ({
      sql: insertEffect,
      params: [
        shopId,
        effectId,
        effect.kind,
        laneOf(effect),
        "purchaseOrderId" in effect ? effect.purchaseOrderId : null,
        JSON.stringify(effect),
        nowMs,
        nowMs,
      ],
    })),
  };
}
