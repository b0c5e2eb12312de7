/**
 * Bringing the storefront's stock in step with what was received, when a caller asks for it (spec "Storefront sync state", "Rules
 * attached to the endpoints" 4; C43).
 *
 * Owns: which lines a call pushes, why others are skipped, and the reset. Does not own: what a push carries and what comes of it
 * (stock-push.ts), waiting for it (operations/purchase-orders/stock-sync.ts), from which statuses an order is synced (status.ts).
 */
import { type DecisionContext, decision } from "./decision.ts";
import type { Effect } from "./effect.ts";
import { type GoodsContext, type GoodsDecision, linesCounted, linesWithIds, nothing } from "./goods.ts";
import { isCustom } from "./lines.ts";
import type { FieldChange, LineItem, PurchaseOrder, StorefrontSyncState } from "./purchase-order.ts";
import { refuseUnless } from "./status.ts";
import { needsSync, storefrontSyncState } from "./stock-push.ts";

/** Why a line is not pushed. */
export type SyncSkipReason = "custom-item" | "nothing-received" | "already-synced" | "guard-skipped" | "no-location";

export interface SyncDecision extends GoodsDecision {
  /** Lines that are pushed. */
  readonly pushedLineItemIds: readonly string[];
  readonly skipped: readonly { readonly line: LineItem; readonly reason: SyncSkipReason }[];
}

/**
 * Brings the storefront in step with what was received: pushes every line wanted that needs it, and says of the others why not.
 *
 * @param lineItemIds the lines wanted; null for all.
 * @throws Fault INVALID_INPUT  the order is not Sent to Received, or a line is not on the order.
 * Source: spec "Storefront sync state", "Rules attached to the endpoints" 4; C43.
 */
export function decideStorefrontSync(
  order: PurchaseOrder,
  lineItemIds: readonly string[] | null,
  context: GoodsContext,
): SyncDecision {
  refuseUnless(order, "sync");
  const wanted = lineItemIds === null ? order.lineItems : linesWithIds(order, lineItemIds);
  const skipped = wanted.flatMap((line) => {
    const reason = skipReason(line, order, context);
    return reason === null ? [] : [{ line, reason }];
  });
  const left = new Set(skipped.map(({ line }) => line));
  const pushedLineItemIds = wanted.filter((line) => !left.has(line)).map((line) => line.poLineItemId);
  return { ...syncing(order, pushedLineItemIds, context), pushedLineItemIds, skipped };
}

function skipReason(line: LineItem, order: PurchaseOrder, context: GoodsContext): SyncSkipReason | null {
  if (isCustom(line)) return "custom-item";
  if (!needsSync(line)) return line.quantityReceived === 0 ? "nothing-received" : "already-synced";
  if (context.skippedVariantIds.has(line.variantId)) return "guard-skipped";
  return order.locationId === null ? "no-location" : null;
}

/** Lines of the order that a push would carry. */
export const syncableLines = (order: PurchaseOrder, context: GoodsContext): readonly LineItem[] =>
  order.lineItems.filter((line) => skipReason(line, order, context) === null);

/**
 * Forgets failed and unknown attempts, never what is synced: what was not pushed may be pushed afresh.
 *
 * Source: spec "Storefront sync state"; C43.
 */
export function decideSyncReset(order: PurchaseOrder, context: DecisionContext): GoodsDecision {
  const state = storefrontSyncState(order.lineItems, { inFlight: false, failed: false });
  if (state === order.storefrontSyncState) return nothing(order);
  const log = {
    action: "storefront-sync-reset",
    message: "Cleared the storefront sync attempts.",
    changes: [syncStateChange(order, state)],
  };
  return {
    ...nothing(order),
    ...decision(order, { ...order, storefrontSyncState: state }, { log: [log] }, context),
  };
}

const syncStateChange = (order: PurchaseOrder, after: StorefrontSyncState): FieldChange => ({
  field: "storefrontSyncState",
  poLineItemId: null,
  before: order.storefrontSyncState,
  after,
});

/** Pushes lines of an order that does not change otherwise. */
export function syncing(
  order: PurchaseOrder,
  poLineItemIds: readonly string[],
  context: DecisionContext,
): GoodsDecision {
  if (poLineItemIds.length === 0) return nothing(order);
  const log = {
    action: "storefront-sync",
    message: `Pushing ${linesCounted(poLineItemIds.length)} to the storefront.`,
    changes: [syncStateChange(order, "in-flight")],
  };
  const effects: readonly Effect[] = [{ kind: "push-stock", purchaseOrderId: order.purchaseOrderId, poLineItemIds }];
  return {
    ...nothing(order),
    ...decision(order, { ...order, storefrontSyncState: "in-flight" }, { log: [log], effects }, context),
    stockSync: "queued",
  };
}
