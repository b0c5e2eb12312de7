/**
 * Syncing the storefront's stock with what was received, when a caller asks for it (spec "Storefront sync state",
 * "Rules attached to the endpoints" 4; C43).
 *
 * Owns: which lines a call pushes, why others are skipped, what a caller that waits is told, and the reset. Does not
 * own: what a push carries and its outcome (stock-push.ts), waiting for it
 * (operations/purchase-orders/goods/stock-sync.ts), from which statuses an order is synced (core/order/status.ts).
 */
import { type DecisionContext, decision, unchanged } from "../order/decision.ts";
import type { Effect, EffectOutcome } from "../order/effect.ts";
import { type GoodsContext, type GoodsDecision, linesWithIds, unchangedGoods } from "../goods/goods.ts";
import { isCustom, linesCounted } from "../order/lines.ts";
import type { Decision, FieldChange, LineItem, PurchaseOrder, StorefrontSyncState } from "../order/purchase-order.ts";
import { isUnsettled, refuseUnless } from "../order/status.ts";
import { needsSync, storefrontSyncState } from "./stock-push.ts";

/** Why a line is not pushed (C43). */
type SyncSkipReason = "custom-item" | "nothing-received" | "already-synced" | "guard-skipped" | "no-location";

/** A decision to push, line by line. */
export interface SyncDecision extends GoodsDecision {
  /** Lines that are pushed. */
  readonly pushedLineItemIds: readonly string[];
  readonly skipped: readonly { readonly line: LineItem; readonly reason: SyncSkipReason }[];
}

/**
 * Pushes every line wanted whose received quantity the storefront does not have, and says of the others why not. A
 * line in a push without a known outcome is pushed, too: the storefront may have more of it.
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
  const notPushed = new Set(skipped.map(({ line }) => line));
  const pushedLineItemIds = wanted.filter((line) => !notPushed.has(line)).map((line) => line.poLineItemId);
  return { ...pushDecision(order, pushedLineItemIds, context), pushedLineItemIds, skipped };
}

function skipReason(line: LineItem, order: PurchaseOrder, context: GoodsContext): SyncSkipReason | null {
  if (isCustom(line)) return "custom-item";
  if (!needsSync(line) && !isUnsettled(line, context))
    return line.quantityReceived === 0 ? "nothing-received" : "already-synced";
  if (context.skippedVariantIds.has(line.variantId)) return "guard-skipped";
  return order.locationId === null ? "no-location" : null;
}

/** Lines of the order that a push would carry. */
export const syncableLines = (order: PurchaseOrder, context: GoodsContext): readonly LineItem[] =>
  order.lineItems.filter((line) => skipReason(line, order, context) === null);

/**
 * Clears failed and unknown attempts, never what is synced: what was not pushed can then be pushed anew.
 *
 * Source: spec "Storefront sync state"; C43.
 */
export function decideSyncReset(order: PurchaseOrder, context: DecisionContext): GoodsDecision {
  const state = storefrontSyncState(order.lineItems, { inFlight: false, failed: false });
  if (state === order.storefrontSyncState) return unchangedGoods(order);
  const log = {
    action: "storefront-sync-reset",
    message: "Cleared the storefront sync attempts.",
    changes: [syncStateChange(order, state)],
  };
  return {
    ...unchangedGoods(order),
    ...decision(order, { ...order, storefrontSyncState: state }, { log: [log] }, context),
  };
}

const syncStateChange = (order: PurchaseOrder, after: StorefrontSyncState): FieldChange => ({
  field: "storefrontSyncState",
  poLineItemId: null,
  before: order.storefrontSyncState,
  after,
});

/** The decision to push these lines of an order that does not change otherwise. */
export function pushDecision(
  order: PurchaseOrder,
  poLineItemIds: readonly string[],
  context: DecisionContext,
): GoodsDecision {
  if (poLineItemIds.length === 0) return unchangedGoods(order);
  const log = {
    action: "storefront-sync",
    message: `Pushing ${linesCounted(poLineItemIds.length)} to the storefront.`,
    changes: [syncStateChange(order, "in-flight")],
  };
  const effects: readonly Effect[] = [{ kind: "push-stock", purchaseOrderId: order.purchaseOrderId, poLineItemIds }];
  return {
    ...unchangedGoods(order),
    ...decision(order, { ...order, storefrontSyncState: "in-flight" }, { log: [log], effects }, context),
    stockSync: "queued",
  };
}

/** The order while a call waits until the storefront shows what it took (C43). */
export const waitBegun = (order: PurchaseOrder, nowMs: number): Decision => withSyncState(order, "in-flight", nowMs);

/** The order once no call waits any more. `attempts`: how its pushes stand then. */
export const waitEnded = (
  order: PurchaseOrder,
  attempts: { readonly inFlight: boolean; readonly failed: boolean },
  nowMs: number,
): Decision => withSyncState(order, storefrontSyncState(order.lineItems, attempts), nowMs);

function withSyncState(order: PurchaseOrder, state: StorefrontSyncState, nowMs: number): Decision {
  if (state === order.storefrontSyncState) return unchanged(order);
  const next = { ...order, storefrontSyncState: state, version: order.version + 1, updatedAtMs: nowMs };
  return { next, log: [], receipts: [], effects: [] };
}

/** Progress of a line of a push while a caller waits for it. */
export interface LineProgress {
  /** The storefront has taken the line's change. */
  readonly hasLanded: boolean;
  /** The change can be read at the storefront. */
  readonly isReadBack: boolean;
  /** Why the storefront refused the line; null: it did not. */
  readonly refusal: string | null;
  /** State of the push as a whole. */
  readonly push: EffectOutcome;
}

/** State of a line for a caller that waits. */
interface LineConfirmation {
  readonly status: "verified" | "failed" | "pending";
  readonly reason: string | null;
}

/**
 * Returns the state of a line for a caller that waits: `verified` is read back from the storefront, not assumed.
 *
 * Source: spec "Rules attached to the endpoints" 4; C43.
 */
export function lineConfirmation({ hasLanded, isReadBack, refusal, push }: LineProgress): LineConfirmation {
  if (hasLanded)
    return isReadBack
      ? { status: "verified", reason: null }
      : { status: "pending", reason: "The storefront took the change; it cannot be read there yet." };
  switch (push.state) {
    case "pending":
      return { status: "pending", reason: "The storefront has not taken the change yet; it is tried again." };
    case "failed":
      return { status: "failed", reason: refusal ?? push.detail };
    case "applied":
    case "skipped":
      return { status: "failed", reason: refusal ?? "The storefront did not take the change." };
  }
}

/**
 * Returns the state of the whole push for a caller that waits. Without lines it is `verified`: there was nothing to
 * sync.
 *
 * Source: spec "Rules attached to the endpoints" 4; C43.
 */
export function confirmationStatus(
  lines: readonly Pick<LineConfirmation, "status">[],
): "verified" | "partial" | "failed" | "timed-out" {
  if (lines.some((line) => line.status === "pending")) return "timed-out";
  const verified = lines.filter((line) => line.status === "verified").length;
  if (verified === lines.length) return "verified";
  return verified === 0 ? "failed" : "partial";
}
