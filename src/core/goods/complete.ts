/**
 * Completing an order, and receiving everything outstanding before (spec "Moves made by other operations"; C27, C28).
 *
 * Owns: the two decisions of /quick-complete and the one of /complete. Does not own: the costs that are written between
 * (core/storefront/cost-sync.ts), waiting for the storefront (operations/purchase-orders/goods/complete.ts), from which
 * statuses an order is completed (core/order/status.ts).
 */
import { type DecisionContext, decision, moved, statusChange } from "../order/decision.ts";
import type { Effect } from "../order/effect.ts";
import { Fault } from "../../base/fault.ts";
import {
  type GoodsContext,
  type GoodsDecision,
  goodsDecision,
  type NewTotals,
  receiptsOf,
  withTotals,
} from "./goods.ts";
import { withoutStorefront } from "./guard.ts";
import { mention } from "../order/guidance.ts";
import { pendingQuantity } from "../order/lines.ts";
import { asQuantity } from "../money/money.ts";
import type { PurchaseOrder } from "../order/purchase-order.ts";
import { permits, refuseUnless } from "../order/status.ts";
import { pushDecision, syncableLines } from "../storefront/sync.ts";

/**
 * Receives everything outstanding that was confirmed and pushes it, whatever `autoSyncOnReceiving` says. It does not
 * move the order: /quick-complete does so after stock and costs, so that the call can be repeated until then. A repeat
 * receives nothing and pushes what is left.
 *
 * @throws Fault INVALID_INPUT       the order is not In Progress.
 * @throws Fault NOTHING_TO_RECEIVE  no line has a confirmed quantity.
 * Source: spec "Moves made by other operations"; C28.
 */
export function decideQuickReceive(order: PurchaseOrder, context: GoodsContext): GoodsDecision {
  refuseUnless(order, "quick-complete");
  if (!order.lineItems.some((line) => line.quantityConfirmed > 0))
    throw new Fault("NOTHING_TO_RECEIVE", "No line of the order has a confirmed quantity.", {
      action: `Move the order back to Confirmed or Sent and confirm quantities, or record goods with ${mention("purchase_order_receive")}.`,
    });
  const totals: NewTotals = new Map(
    order.lineItems
      .filter((line) => line.quantityConfirmed > 0)
      .map((line) => [
        line.poLineItemId,
        { quantityReceived: asQuantity(line.quantityReceived + pendingQuantity(line)) },
      ]),
  );
  const { lineItems, changes } = withTotals(order, totals, context.nowMs);
  const pushed = syncableLines({ ...order, lineItems }, context).map((line) => line.poLineItemId);
  if (changes.length === 0) return pushDecision(order, pushed, context);
  const receipts = receiptsOf("quick-complete", null, order, lineItems);
  const change = { action: "quick-complete", done: "Received everything outstanding on", changes, receipts, pushed };
  return goodsDecision(order, lineItems, order.status, change, context);
}

/**
 * Completes the order; quantities outstanding stay on its lines. The costs have been written before.
 *
 * @param settleCosts whether cost rows wait to be read back.
 * @throws Fault INVALID_INPUT  the order is neither Received nor Partially Received.
 * Source: spec "Moves made by other operations"; C27.
 */
export function decideComplete(order: PurchaseOrder, settleCosts: boolean, context: DecisionContext): GoodsDecision {
  refuseUnless(order, "complete");
  return completion(order, settleCosts, "complete", context);
}

/**
 * Completes an order whose goods /quick-complete has just received (`decideQuickReceive`).
 *
 * @param settleCosts whether cost rows wait to be read back.
 * @throws Fault INVALID_INPUT  the order is no longer In Progress.
 * Source: C28.
 */
export function decideQuickComplete(order: PurchaseOrder, settleCosts: boolean, context: GoodsContext): GoodsDecision {
  if (!permits(order, "quick-complete"))
    throw new Fault("INVALID_INPUT", `Meanwhile the order was moved to ${order.status}.`, {
      action: "Read the order again before deciding.",
    });
  const decided = completion(order, settleCosts, "quick-complete", context);
  return { ...decided, ...withoutStorefront(decided, context.skippedVariantIds) };
}

function completion(
  order: PurchaseOrder,
  settleCosts: boolean,
  action: string,
  context: DecisionContext,
): GoodsDecision {
  const effects: readonly Effect[] = settleCosts
    ? [{ kind: "settle-costs", purchaseOrderId: order.purchaseOrderId }]
    : [];
  const log = {
    action,
    message: `Completed from ${order.status}.`,
    changes: [statusChange(order.status, "Completed")],
  };
  return {
    ...decision(order, moved(order, "Completed", context), { log: [log], effects }, context),
    status: { before: order.status, after: "Completed", autoTransitioned: action === "quick-complete" },
    updatedLineItemIds: [],
    stockSync: "skipped",
  };
}
