import { z } from "zod";
import { Fault } from "../../core/fault.ts";
import { decideComplete, decideQuickComplete, decideQuickReceive } from "../../core/complete.ts";
import type { GoodsDecision } from "../../core/goods.ts";
import { syncableLines } from "../../core/sync.ts";
import type { PurchaseOrder } from "../../core/purchase-order.ts";
import type { Tx } from "../../store/store.ts";
import { operation } from "../operation.ts";
import { orderOf, orderToChange, saveFor } from "./access.ts";
import { costSyncSchema, refuseUnlessPriced, writeCosts } from "./cost-sync.ts";
import { autoMoveSchema, common, goodsContext, guardFaults, idsOf, path, statusMoveShape, tag } from "./goods.ts";
import { guard, noGuard, resolutions } from "./guard.ts";
import { etagOf, purchaseOrderId, purchaseOrderJson, purchaseOrderSchema } from "./json.ts";
import {
  type FollowedOrder,
  type SideEffects,
  followOnShape,
  onOrder,
  recoveryText,
  renderSideEffects,
} from "./side-effects.ts";
import {
  type Confirmation,
  askedPush,
  confirmPush,
  confirmationSchema,
  refuseWhileInFlight,
  waitedSlot,
} from "./stock-sync.ts";

// Complete.

export const completeOrder = operation({
  name: "purchase_order_complete",
  title: "Complete an order",
  summary: "Writes unit costs to the storefront and completes the order.",
  description:
    "Runs the cost sync, then moves the order to Completed; outstanding quantity is left behind. Use it from Received or Partially Received. If a currency cannot be converted, set fxRateOverride with purchase_order_update and repeat. If the storefront refuses a cost, the order stays as it is and repeating the call goes on where it stopped.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/complete` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, "ON_HAND_SYNC_IN_FLIGHT", "UPSTREAM_STOREFRONT"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2" } }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    status: z.strictObject(statusMoveShape).meta({ description: "The order's status before and after." }),
    costSync: costSyncSchema,
    ...followOnShape,
  }),
  async run(call, input) {
    const load = async (tx: Tx): Promise<PurchaseOrder> => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      decideComplete(order, false, { shop: call.shop, nowMs: call.clock.now() });
      await refuseWhileInFlight(tx, call, order);
      return order;
    };
    const costs = await writeCosts(call, load);
    return call.commit(async (tx) => {
      const order = await load(tx);
      refuseIfMoved(costs.unmoved(order));
      const decided = decideComplete(order, costs.settle, { shop: call.shop, nowMs: call.clock.now() });
      const effects = await saveFor(tx, call, order, decided);
      if (costs.statements.length > 0) await tx.batch(costs.statements);
      return {
        effectIds: idsOf(effects),
        answer: (outcomes) => ({
          data: {
            purchaseOrder: purchaseOrderJson(decided.next),
            status: { before: decided.status.before, after: decided.status.after },
            costSync: costs.costSync,
            ...renderSideEffects(effects, outcomes, { order: decided.next }),
          },
          etag: etagOf(decided.next),
        }),
      };
    });
  },
});

/** How long a caller waits before it completes an order anew that was edited meanwhile. */
const movedRetryAfterMs = 1_000;

function refuseIfMoved(unmoved: boolean): void {
  if (unmoved) return;
  throw new Fault("INVALID_INPUT", "The order was edited while its costs were written; it was not completed.", {
    action: "Repeat the call; it writes the costs that changed.",
    retryAfterMs: movedRetryAfterMs,
  });
}

export const quickCompleteOrder = operation({
  name: "purchase_order_quick_complete",
  title: "Receive everything and complete",
  summary: "Receives everything outstanding that was confirmed, pushes it, writes the costs and completes.",
  description:
    "Only from In Progress. Receives the outstanding confirmed quantity of every line, pushes stock to the storefront and waits for it, writes unit costs and completes. When no line reaches the storefront, or the costs cannot be written, receipts are kept, the order stays In Progress and the same call can be made again. When some lines fail it completes and says so in confirmation and recovery.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/quick-complete` },
  success: 200,
  repeat: "partly",
  destructive: false,
  faults: [...common, ...guardFaults, "NOTHING_TO_RECEIVE", "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId, resolutions: resolutions.optional() }).meta({
    example: {
      purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
      resolutions: [{ itemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", action: "skip" }],
    },
  }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    status: autoMoveSchema,
    receivedLineItemIds: z.array(z.string()).meta({ description: "Lines that this call received." }),
    costSync: costSyncSchema,
    confirmation: confirmationSchema,
    ...followOnShape,
  }),
  async run(call, input) {
    const id = input.purchaseOrderId;
    const lines = await call.read(async (tx) => {
      const order = await orderToChange(tx, call, id);
      const context = goodsContext(call, noGuard);
      const trial = decideQuickReceive(order, context);
      await refuseWhileInFlight(tx, call, order);
      await refuseUnlessPriced(tx, call, trial.next);
      return syncableLines(trial.next, context);
    });
    const guardFacts = await guard(call, lines, input.resolutions ?? []);
    const received = await call.change(async (tx) => {
      const order = await orderToChange(tx, call, id);
      const context = goodsContext(call, guardFacts);
      const decided = decideQuickReceive(order, context);
      await refuseWhileInFlight(tx, call, order);
      const pushed = syncableLines(decided.next, context);
      const effects = await saveFor(tx, call, order, decided);
      const asked = await askedPush(tx, call, id, {
        effectId: effects.find((effect) => effect.kind === "push-stock")?.effectId ?? null,
        lines: pushed,
        guardSkipped: lines.filter((line) => guardFacts.skippedLineItemIds.has(line.poLineItemId)),
      });
      return { asked, effects, before: order.status, receivedLineItemIds: decided.updatedLineItemIds };
    });
    const confirmation = await confirmPush(call, received.asked);
    if (confirmation.status === "failed") throw nothingPushed(confirmation, id);
    const decideLast = async (
      tx: Tx,
      settleCosts: boolean,
    ): Promise<GoodsDecision & { readonly order: PurchaseOrder }> => {
      const order = await orderOf(tx, call, id);
      return { ...decideQuickComplete(order, settleCosts, goodsContext(call, guardFacts)), order };
    };
    const costs = await writeCosts(
      call,
      async (tx) => (await decideLast(tx, false)).order,
      guardFacts.skippedVariantIds,
    );
    return call.commit(async (tx) => {
      const { order, ...decided } = await decideLast(tx, costs.settle);
      refuseIfMoved(costs.unmoved(order));
      const completing = await saveFor(tx, call, order, decided);
      if (costs.statements.length > 0) await tx.batch(costs.statements);
      const effects = [...received.effects.filter((effect) => effect.kind !== "push-stock"), ...completing];
      return {
        effectIds: idsOf(effects),
        answer: (outcomes) => {
          const followOn = renderSideEffects(effects, outcomes, { order: decided.next });
          const sideEffects: SideEffects = { storefrontSync: waitedSlot(confirmation), ...followOn.sideEffects };
          const recovery = completedRecovery(confirmation, sideEffects, decided.next);
          return {
            data: {
              purchaseOrder: purchaseOrderJson(decided.next),
              status: { ...decided.status, before: received.before },
              receivedLineItemIds: [...received.receivedLineItemIds],
              costSync: costs.costSync,
              confirmation,
              sideEffects,
              ...(recovery === null ? {} : { recovery }),
            },
            etag: etagOf(decided.next),
          };
        },
      };
    });
  },
});

/** Every line that was pushed failed: the receipts stay, the order does not move (C28). */
function nothingPushed(confirmation: Confirmation, purchaseOrderId: string): Fault {
  const failed = confirmation.lines.filter((line) => line.status === "failed");
  const reasons = [...new Set(failed.map((line) => line.reason ?? "unknown"))].join(" ");
  return new Fault(
    "UPSTREAM_STOREFRONT",
    `The storefront took none of ${failed.length} lines (${reasons}). What was received is kept; the order was not completed.`,
    {
      action: `Repeat the call, or use ${onOrder({ purchaseOrderId }, "purchase_order_storefront_sync_reset")} and then ${onOrder({ purchaseOrderId }, "purchase_order_storefront_sync")}.`,
    },
  );
}

/** What to do when /quick-complete completed an order of which the storefront does not have everything. */
function completedRecovery(confirmation: Confirmation, sideEffects: SideEffects, order: FollowedOrder): string | null {
  const { storefrontSync, ...others } = sideEffects;
  const steps: string[] = [];
  if (storefrontSync?.status === "failed")
    steps.push(
      `The order is completed, but not every line reached the storefront. Reopen it with ${onOrder(order, "purchase_order_status")} (status Received or Partially Received), use ${onOrder(order, "purchase_order_storefront_sync_reset")}, then ${onOrder(order, "purchase_order_storefront_sync")} and ${onOrder(order, "purchase_order_complete")}.`,
    );
  else if (confirmation.status === "timed-out")
    steps.push(
      `The order is completed; the storefront has not shown every line yet. Read the order again: storefrontSyncState tells when the sync is through.`,
    );
  const rest = recoveryText(others, order);
  if (rest !== null) steps.push(rest);
  return steps.length === 0 ? null : steps.join(" ");
}
