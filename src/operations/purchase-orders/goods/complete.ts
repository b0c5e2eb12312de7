/**
 * Completing an order, and receiving everything on the way to it (spec "Moves made by other operations"; C27, C28).
 *
 * Owns: the sequence of changes and storefront calls of each. Every change leaves a state from which the same call can
 * go on (S5). Does not own: the decisions (core/goods/complete.ts), the costs (cost-sync.ts), waiting for a push
 * (stock-sync.ts).
 */
import { z } from "zod";
import { decideComplete, decideQuickComplete, decideQuickReceive } from "../../../core/goods/complete.ts";
import { Fault } from "../../../base/fault.ts";
import type { GoodsDecision } from "../../../core/goods/goods.ts";
import type { PurchaseOrder } from "../../../core/order/purchase-order.ts";
import { syncableLines } from "../../../core/storefront/sync.ts";
import type { QueuedEffect } from "../../../shop/storefront/effects.ts";
import type { Tx } from "../../../store/store.ts";
import { type Call, operation } from "../../../requests/operation.ts";
import { contextOf, faults, orderOf, orderToChange, path, saveFor, write } from "../access.ts";
import { completedWithCosts, costSyncSchema, refuseUnlessPriced, type WrittenCosts, writeCosts } from "./cost-sync.ts";
import { autoMoveSchema, goodsContext, statusMoveShape } from "./goods.ts";
import { type GuardFacts, guard, guardFaults, noGuard, resolutions } from "./guard.ts";
import { etagOf, purchaseOrderId, purchaseOrderJson, purchaseOrderSchema } from "../json.ts";
import { warningsIn, warningsShape } from "../warnings.ts";
import { refuseBesideSyncs } from "./in-flight.ts";
import { type OrderClaim, withOrderClaim } from "./order-claim.ts";
import {
  type FollowedOrder,
  type FollowOn,
  followOnShape,
  idsOf,
  onOrder,
  recoveryText,
  renderSideEffects,
  type SideEffects,
} from "../side-effects.ts";
import {
  type PendingPush,
  pendingPush,
  type Confirmation,
  confirmationSchema,
  confirmPush,
  failureReasons,
  recordReadBack,
  waitedSlot,
} from "./stock-sync.ts";

export const completeOrder = operation({
  ...write,
  name: "purchase_order_complete",
  toolSets: ["purchasing", "receiving"],
  title: "Complete an order",
  summary: "Writes unit costs to the storefront and completes the order.",
  description:
    "From Received or Partially Received; what is pending stays so and is expected no more. If a currency cannot be converted, set fxRateOverride with purchase_order_update and repeat. If the storefront refuses a cost, the order stays as it is; repeating goes on where it stopped.",
  route: { method: "POST", path: `${path}/complete` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...faults, "ORDER_EDITED", "ON_HAND_SYNC_IN_FLIGHT", "UPSTREAM_STOREFRONT"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: "po_demo_04" } }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    status: z.strictObject(statusMoveShape).meta({ description: "The order's status before and after." }),
    costSync: costSyncSchema,
    ...followOnShape,
    ...warningsShape,
  }),
  run: (call, { purchaseOrderId }) =>
    withOrderClaim(call, async (claim) => {
      const load = async (tx: Tx): Promise<PurchaseOrder> => {
        const order = await orderToChange(tx, call, purchaseOrderId);
        await refuseBesideSyncs(tx, call, order, claim.claimId);
        decideComplete(order, false, contextOf(call));
        return order;
      };
      return completedWithCosts(
        () => writeCosts(call, claim, load),
        (costs) =>
          call.commit(async (tx) => {
            await claim.end(tx);
            const order = await load(tx);
            const decided = decideComplete(order, costs.settle, contextOf(call));
            const effects = await saveCompletion(tx, call, order, decided, costs);
            const { next, status } = decided;
            const warnings = await warningsIn(tx, call, decided, { isCompleted: true });
            return {
              effects,
              answer: (outcomes) => ({
                data: {
                  purchaseOrder: purchaseOrderJson(next),
                  status: { before: status.before, after: status.after },
                  costSync: costs.costSync,
                  ...renderSideEffects(effects, outcomes, { order: next }),
                  ...warnings,
                },
                etag: etagOf(next),
              }),
            };
          }),
      );
    }),
});

/**
 * Saves the completion with the costs that follow it into the catalogue.
 *
 * @throws Fault INVALID_INPUT (ORDER_EDITED)  the order was edited while its costs were written.
 */
async function saveCompletion(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: GoodsDecision,
  costs: WrittenCosts,
): Promise<readonly QueuedEffect[]> {
  if (!costs.isCurrent(order))
    throw new Fault("INVALID_INPUT", "The order was edited while its costs were written; it was not completed.", {
      reason: "ORDER_EDITED",
      action: "Repeat the call; it writes the costs that changed.",
    });
  await costs.refuseOvertaken(tx);
  const effects = await saveFor(tx, call, order, decided);
  await tx.batch(await costs.statements(tx));
  return effects;
}

export const quickCompleteOrder = operation({
  ...write,
  name: "purchase_order_quick_complete",
  toolSets: ["purchasing", "receiving"],
  title: "Receive everything and complete",
  summary: "Receives everything outstanding that was confirmed, pushes it, writes the costs and completes.",
  description:
    "Only from In Progress. Waits for the storefront. When no line reaches it, or the costs cannot be written, receipts are kept, the order stays In Progress and the same call can be made again. When some lines fail it completes and says so in confirmation and recovery.",
  route: { method: "POST", path: `${path}/quick-complete` },
  success: 200,
  repeat: "partly",
  destructive: false,
  faults: [...faults, ...guardFaults, "NOTHING_TO_RECEIVE", "ORDER_EDITED", "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId, resolutions: resolutions.optional() }).meta({
    example: { purchaseOrderId: "po_demo_13", resolutions: [{ itemId: "pol_demo_13_1", action: "skip" }] },
  }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    status: autoMoveSchema,
    receivedLineItemIds: z.array(z.string()).meta({ description: "Lines that this call received." }),
    costSync: costSyncSchema,
    confirmation: confirmationSchema,
    ...followOnShape,
    ...warningsShape,
  }),
  run: (call, input) =>
    withOrderClaim(call, async (claim) => {
      const id = input.purchaseOrderId;
      const lines = await linesToPush(call, claim, id);
      const facts = await guard(call, lines, input.resolutions ?? []);
      const guardSkipped = lines.filter((line) => facts.skippedLineItemIds.has(line.poLineItemId));
      const received = await call.change((tx) => receiveEverything(tx, call, claim, id, facts, guardSkipped));
      const { confirmation, shown } = await confirmPush(call, received.push);
      if (isNothingPushed(received.push, confirmation)) throw nothingPushed(confirmation, id);
      const decide = async (tx: Tx, settleCosts: boolean) => {
        const order = await orderOf(tx, call, id);
        return { order, decided: decideQuickComplete(order, settleCosts, goodsContext(call, facts)) };
      };
      const load = async (tx: Tx): Promise<PurchaseOrder> => (await decide(tx, false)).order;
      return completedWithCosts(
        () => writeCosts(call, claim, load, facts.skippedVariantIds),
        (costs) =>
          call.commit(async (tx) => {
            await claim.end(tx);
            const { order, decided } = await decide(tx, costs.settle);
            await recordReadBack(tx, call, order, { confirmation, shown });
            const queued = await saveCompletion(tx, call, order, decided, costs);
            const effects = [...received.effects, ...queued];
            const warnings = await warningsIn(tx, call, decided, { isCompleted: true });
            return {
              effects: queued,
              earlierEffectIds: idsOf(received.effects),
              answer: (outcomes) => {
                const followOn = renderSideEffects(effects, outcomes, { order: decided.next });
                const { data, etag } = quickAnswer(received, confirmation, costs, decided, followOn);
                return { data: { ...data, ...warnings }, etag };
              },
            };
          }),
      );
    }),
});

const quickAnswer = (
  received: ReceivedEverything,
  confirmation: Confirmation,
  { costSync }: WrittenCosts,
  { next, status }: GoodsDecision,
  { sideEffects }: FollowOn,
) => ({
  data: {
    purchaseOrder: purchaseOrderJson(next),
    status: { ...status, before: received.before },
    receivedLineItemIds: [...received.receivedLineItemIds],
    costSync,
    confirmation,
    ...quickFollowOn(confirmation, sideEffects, next),
  },
  etag: etagOf(next),
});

/** The lines that will be pushed, once everything that may be refused has been looked at. Nothing is changed. */
const linesToPush = (call: Call, claim: OrderClaim, purchaseOrderId: string): Promise<PurchaseOrder["lineItems"]> =>
  call.read(async (tx) => {
    const order = await orderToChange(tx, call, purchaseOrderId);
    await refuseBesideSyncs(tx, call, order, claim.claimId);
    const context = goodsContext(call, noGuard);
    const trial = decideQuickReceive(order, context);
    await refuseUnlessPriced(tx, call, trial.next);
    return syncableLines(trial.next, context);
  });

interface ReceivedEverything {
  readonly push: PendingPush;
  /** Other effects that the receipt has stored. */
  readonly effects: readonly QueuedEffect[];
  readonly before: PurchaseOrder["status"];
  readonly receivedLineItemIds: readonly string[];
}

async function receiveEverything(
  tx: Tx,
  call: Call,
  claim: OrderClaim,
  purchaseOrderId: string,
  facts: GuardFacts,
  guardSkipped: PurchaseOrder["lineItems"],
): Promise<ReceivedEverything> {
  const order = await orderToChange(tx, call, purchaseOrderId);
  const context = goodsContext(call, facts);
  const decided = decideQuickReceive(order, context);
  await refuseBesideSyncs(tx, call, order, claim.claimId);
  const effects = await saveFor(tx, call, order, decided);
  const push = await pendingPush(
    tx,
    call,
    claim,
    { before: order, next: decided.next },
    {
      effectId: effects.find((effect) => effect.kind === "push-stock")?.effectId ?? null,
      lines: syncableLines(decided.next, context),
      guardSkipped,
      reportedLines: decided.next.lineItems,
    },
  );
  // Without anything to wait for, the claim is on the costs alone.
  await claim.take(tx, { kind: "end-cost-sync", purchaseOrderId });
  return {
    push,
    effects: effects.filter((effect) => effect.kind !== "push-stock"),
    before: order.status,
    receivedLineItemIds: decided.updatedLineItemIds,
  };
}

const isNothingPushed = ({ lines }: PendingPush, confirmation: Confirmation): boolean => {
  const pushed = new Set(lines.map((line) => line.poLineItemId));
  const reported = confirmation.lines.filter((line) => pushed.has(line.lineItemId));
  return reported.length > 0 && reported.every((line) => line.status === "failed");
};

/** Every line that was pushed failed: the receipts stay, the order does not move (C28). */
function nothingPushed({ lines }: Confirmation, purchaseOrderId: string): Fault {
  const failed = lines.filter((line) => line.status === "failed");
  const reset = onOrder({ purchaseOrderId }, "purchase_order_storefront_sync_reset");
  const sync = onOrder({ purchaseOrderId }, "purchase_order_storefront_sync");
  return new Fault(
    "UPSTREAM_STOREFRONT",
    `The storefront took none of ${failed.length} lines (${failureReasons(failed)}). What was received is kept; the order was not completed.`,
    { action: `Repeat the call, or use ${reset} and then ${sync}.` },
  );
}

/** The follow-on work of /quick-complete; `others` is what it asked for beside the push. */
function quickFollowOn(confirmation: Confirmation, others: SideEffects, order: FollowedOrder): FollowOn {
  const sideEffects: SideEffects = { storefrontSync: waitedSlot(confirmation), ...others };
  const steps = [pushRecovery(confirmation, sideEffects, order), recoveryText(others, order)];
  const recovery = steps.filter((step) => step !== null).join(" ");
  return recovery === "" ? { sideEffects } : { sideEffects, recovery };
}

/**
 * Returns the advice when the order was completed although the storefront does not have, or show, every line; else
 * null.
 */
function pushRecovery(
  confirmation: Confirmation,
  { storefrontSync }: SideEffects,
  order: FollowedOrder,
): string | null {
  if (storefrontSync?.status === "failed") {
    const reopen = onOrder(order, "purchase_order_status");
    const reset = onOrder(order, "purchase_order_storefront_sync_reset");
    const sync = onOrder(order, "purchase_order_storefront_sync");
    const complete = onOrder(order, "purchase_order_complete");
    return `The order is completed, but not every line reached the storefront. Reopen it with ${reopen} (status Received or Partially Received), use ${reset}, then ${sync} and ${complete}.`;
  }
  return confirmation.status === "timed-out"
    ? "The order is completed; the storefront has not shown every line yet. Read the order again: storefrontSyncState tells when the sync is through."
    : null;
}
