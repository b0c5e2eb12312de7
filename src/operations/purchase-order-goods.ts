/**
 * Operations that move goods: confirm, receive, un-receive, complete, quick-complete, and bringing the storefront in step (spec
 * "Purchase orders: writes", "Rules attached to the endpoints" 1–5; C24–C28, C43–C45).
 *
 * Owns: the order of steps between the shop and the storefront. Does not own: the rules (core/goods.ts, core/storefront-plan.ts), how
 * a push is carried out (shop/outbox.ts), the costs' rows (cost-sync.ts).
 *
 * Every one goes the same way: read and decide, so that what the order's state does not allow is refused first; ask the storefront
 * (the guard) outside the shop's turn; decide again inside the change, since the order may have moved meanwhile (S5).
 */
import { z } from "zod";
import type { EffectOutcome } from "../core/effect.ts";
import { Fault } from "../core/fault.ts";
import {
  decideComplete,
  decideConfirm,
  decideQuickComplete,
  decideQuickReceive,
  decideReceive,
  decideStorefrontSync,
  decideSyncReset,
  decideUnreceive,
  type GoodsContext,
  type GoodsDecision,
  syncableLines,
} from "../core/goods.ts";
import { isCustom, isWhollyCancelled } from "../core/lines.ts";
import { type LineItem, linesPerOrderMax, type PurchaseOrder, statuses } from "../core/purchase-order.ts";
import type { Resolution } from "../core/storefront-plan.ts";
import { reviveTellings } from "../shop/effects.ts";
import { loadOrder } from "../shop/rows.ts";
import type { Tx } from "../shop/shop.ts";
import { costSyncSchema, refuseUnlessPriced, writeCosts } from "./cost-sync.ts";
import { guard, type GuardFacts, LinesMoved, noGuard, resolutions, untilLinesStay } from "./guard.ts";
import { type Answer, type Call, type Committed, operation } from "./operation.ts";
import { orderOf, orderToChange, saveFor } from "./order-access.ts";
import {
  type AskedEffect,
  type FollowedOrder,
  followOnShape,
  recoveryText,
  renderSideEffects,
  type SideEffects,
} from "./side-effects.ts";
import {
  askedPush,
  type Confirmation,
  confirmationSchema,
  confirmPush,
  refuseWhileInFlight,
  skippedJson,
  skippedSchema,
  waitedFollowOn,
  waitedSlot,
} from "./stock-sync.ts";
import {
  etagOf,
  lineItemId,
  noRepeats,
  positiveQuantity,
  purchaseOrderId,
  purchaseOrderJson,
  purchaseOrderSchema,
  quantity,
  shortTextMax,
  text,
} from "./wire.ts";

// What the operations share.

const tag = "Purchase orders";
const path = "/purchase-orders/{purchaseOrderId}";

const guardFaults = ["INVENTORY_GUARD_ISSUES", "UPSTREAM_STOREFRONT", "TIMEOUT"] as const;
const common = ["NOT_FOUND", "VERSION_MISMATCH"] as const;

const statusMoveShape = { before: z.enum(statuses), after: z.enum(statuses) } as const;
const autoMoveSchema = z
  .strictObject({
    ...statusMoveShape,
    autoTransitioned: z.boolean().meta({ description: "Whether the quantities moved the order by themselves." }),
  })
  .meta({ description: "The order's status before and after." });

const goodsContext = (call: Call, guarded: GuardFacts): GoodsContext => ({
  shop: call.shop,
  nowMs: call.clock.now(),
  skippedVariantIds: guarded.skippedVariantIds,
});

const idsOf = (effects: readonly AskedEffect[]): readonly string[] => effects.map((effect) => effect.effectId);

/** A rule with its input: what a call wants decided, whatever the order is like by then. */
type Rule = (order: PurchaseOrder, context: GoodsContext) => GoodsDecision;

interface CheckedLines extends GuardFacts {
  readonly checkedLineItemIds: ReadonlySet<string>;
}

/**
 * Decides without keeping it, so that what the order's state does not allow is refused before the storefront is asked; then lets
 * the guard look at the lines that the change is about. A call that changes nothing touches nothing and is not guarded.
 */
async function guarded(
  call: Call,
  purchaseOrderId: string,
  rule: Rule,
  linesOf: (order: PurchaseOrder) => readonly LineItem[],
  resolutions: readonly Resolution[] | undefined,
): Promise<CheckedLines> {
  const lines = await call.read(async (tx) => {
    const order = await orderToChange(tx, call, purchaseOrderId);
    const trial = rule(order, goodsContext(call, noGuard));
    return trial.next === order ? [] : linesOf(order);
  });
  const facts = lines.length === 0 ? noGuard : await guard(call, lines, resolutions ?? []);
  return { ...facts, checkedLineItemIds: new Set(lines.map((line) => line.poLineItemId)) };
}

/** @throws LinesMoved  the change is about a line that the guard has not seen. */
function refuseUnchecked(decided: GoodsDecision, { checkedLineItemIds }: CheckedLines): void {
  if (decided.updatedLineItemIds.some((lineItemId) => !checkedLineItemIds.has(lineItemId))) throw new LinesMoved();
}

const named = (order: PurchaseOrder, entries: readonly { readonly lineItemId: string }[]): readonly LineItem[] => {
  const ids = new Set(entries.map((entry) => entry.lineItemId));
  return order.lineItems.filter((line) => ids.has(line.poLineItemId));
};

/** The change that /receive and /unreceive end in, and its answer, which shows the order as the first push has left it (D22). */
async function movedGoods(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: GoodsDecision,
): Promise<Committed<z.output<typeof goodsAnswer>>> {
  const effects = await saveFor(tx, call, order, decided);
  const { next, status, updatedLineItemIds, stockSync } = decided;
  const pushed = decided.effects.find((effect) => effect.kind === "push-stock");
  const shown = (
    now: PurchaseOrder,
    outcomes: ReadonlyMap<string, EffectOutcome>,
  ): Answer<z.output<typeof goodsAnswer>> => ({
    data: {
      purchaseOrder: purchaseOrderJson(now),
      status,
      updatedLineItemIds: [...updatedLineItemIds],
      ...renderSideEffects(effects, outcomes, {
        order: now,
        storefrontSync: {
          unpushed: stockSync === "disabled" ? "disabled" : "skipped",
          lineItemCount: pushed?.poLineItemIds.length ?? 0,
        },
      }),
    },
    etag: etagOf(now),
  });
  return {
    effectIds: idsOf(effects),
    answer: (outcomes) => shown(next, outcomes),
    answerAnew: async (tx, outcomes) => {
      const now = await loadOrder(tx, call.shop.shopId, next.purchaseOrderId);
      return now === null ? null : shown(now, outcomes);
    },
  };
}

const goodsAnswer = z.strictObject({
  purchaseOrder: purchaseOrderSchema,
  status: autoMoveSchema,
  updatedLineItemIds: z.array(z.string()).meta({ description: "Lines whose totals changed." }),
  ...followOnShape,
});

const lineIdOf = (line: { readonly lineItemId: string }): string => line.lineItemId;

// Confirm.

const confirmQuantities = operation({
  name: "purchase_order_confirm",
  title: "Confirm quantities",
  summary: "Records what the supplier confirmed, line by line or everything at once.",
  description:
    "Sets confirmed quantities as new totals; 0 un-confirms; repeating changes nothing. With lines the order becomes Sent, Partially Confirmed or Confirmed by what is confirmed; with confirmAll: true every line is confirmed and the order goes to In Progress, where goods can be received. Use it from Sent, Partially Confirmed or Confirmed.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/confirm` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      confirmAll: z.literal(true).optional().meta({
        description: "Confirms every line in full and moves the order to In Progress. Not together with lines.",
      }),
      lines: z
        .array(
          z.strictObject({
            lineItemId,
            quantityConfirmed: quantity.meta({ description: "New total confirmed; 0 un-confirms." }),
          }),
        )
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats(lineIdOf, "lineItemId"))
        .optional(),
      resolutions: resolutions.optional(),
    })
    .check((context) => {
      if ((context.value.confirmAll === undefined) === (context.value.lines === undefined))
        context.issues.push({
          code: "custom",
          input: context.value,
          path: [context.value.lines === undefined ? "lines" : "confirmAll"],
          message: "send either lines or confirmAll: true, exactly one of them",
        });
    })
    .meta({
      example: {
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        lines: [{ lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", quantityConfirmed: 12 }],
        resolutions: [{ itemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", action: "skip" }],
      },
      body: { oneOf: [{ required: ["lines"] }, { required: ["confirmAll"] }] },
    }),
  output: goodsAnswer,
  async run(call, input) {
    const { lines } = input;
    const rule: Rule = (order, context) =>
      decideConfirm(order, lines === undefined ? { confirmAll: true } : { lines }, context);
    const linesOf = (order: PurchaseOrder): readonly LineItem[] =>
      lines === undefined ? order.lineItems.filter((line) => !isWhollyCancelled(line)) : named(order, lines);
    return untilLinesStay(async () => {
      const guardFacts = await guarded(call, input.purchaseOrderId, rule, linesOf, input.resolutions);
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = rule(order, goodsContext(call, guardFacts));
        refuseUnchecked(decided, guardFacts);
        const effects = await saveFor(tx, call, order, decided);
        return {
          effectIds: idsOf(effects),
          answer: (outcomes) => ({
            data: {
              purchaseOrder: purchaseOrderJson(decided.next),
              status: decided.status,
              updatedLineItemIds: [...decided.updatedLineItemIds],
              ...renderSideEffects(effects, outcomes, { order: decided.next }),
            },
            etag: etagOf(decided.next),
          }),
        };
      });
    });
  },
});

// Receive and un-receive.

const receiveGoods = operation({
  name: "purchase_order_receive",
  title: "Receive goods",
  summary: "Records new totals received, and pushes the stock to the storefront.",
  description:
    "Sets received quantities as new totals, so repeating changes nothing; rejected and cancelled totals may be given per line. The order becomes Received when nothing is pending, else Partially Received. Use it from In Progress on. To lower a total below what is synced to the storefront use purchase_order_unreceive. Afterwards complete the order with purchase_order_complete.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/receive` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      lines: z
        .array(
          z.strictObject({
            lineItemId,
            quantityReceived: quantity.meta({ description: "New total received, not an amount to add." }),
            quantityRejected: quantity.optional().meta({ description: "New total rejected." }),
            quantityCancelled: quantity.optional().meta({ description: "New total cancelled." }),
          }),
        )
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats(lineIdOf, "lineItemId")),
      allowOverReceipt: z.boolean().default(false).meta({
        description: "Lets received + rejected + cancelled exceed what was confirmed (ordered, if never confirmed).",
      }),
      resolutions: resolutions.optional(),
    })
    .meta({
      example: {
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        lines: [{ lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", quantityReceived: 10, quantityRejected: 2 }],
        resolutions: [{ itemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", action: "skip" }],
      },
    }),
  output: goodsAnswer,
  async run(call, input) {
    const rule: Rule = (order, context) => decideReceive(order, input, context);
    const linesOf = (order: PurchaseOrder): readonly LineItem[] => named(order, input.lines);
    return untilLinesStay(async () => {
      const guardFacts = await guarded(call, input.purchaseOrderId, rule, linesOf, input.resolutions);
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = rule(order, goodsContext(call, guardFacts));
        refuseUnchecked(decided, guardFacts);
        return movedGoods(tx, call, order, decided);
      });
    });
  },
});

const unreceiveGoods = operation({
  name: "purchase_order_unreceive",
  title: "Take received goods back",
  summary: "Subtracts amounts from what was received, and from the storefront's stock.",
  description:
    "Takes amounts back from received quantities. They are deltas: the same call again takes back again. Below what is synced, the storefront's stock is lowered by the difference. With nothing left received the order is In Progress. Not for a Completed order: reopen it first with purchase_order_status.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/unreceive` },
  success: 200,
  repeat: "adds-again",
  destructive: true,
  faults: [...common, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z
    .strictObject({
      purchaseOrderId,
      lines: z
        .array(
          z
            .strictObject({
              // First, so that its message leads: it says what is wrong when quantity is missing, too.
              quantityReceived: z
                .never({ error: "amounts to take back are deltas; name them quantity" })
                .optional()
                .meta({ description: "Not here: amounts to take back are deltas named quantity." }),
              lineItemId,
              quantity: positiveQuantity.meta({ description: "The amount to take back." }),
            })
            .transform(({ lineItemId, quantity }) => ({ lineItemId, quantity })),
        )
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats(lineIdOf, "lineItemId")),
      reason: text(shortTextMax).optional().meta({ description: "Why; kept in the log and the receipt." }),
    })
    .meta({
      example: {
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        lines: [{ lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", quantity: 3 }],
        reason: "counted again",
      },
    }),
  output: goodsAnswer,
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const context = goodsContext(call, noGuard);
      const decided = decideUnreceive(order, { lines: input.lines, reason: input.reason ?? null }, context);
      await refuseWhileInFlight(tx, call, order);
      return movedGoods(tx, call, order, decided);
    }),
});

// Complete.

const completeOrder = operation({
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

const quickCompleteOrder = operation({
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
      action: `Repeat the call, or POST /api/v1/purchase-orders/${purchaseOrderId}/storefront-sync/reset and then POST /api/v1/purchase-orders/${purchaseOrderId}/storefront-sync.`,
    },
  );
}

/** What to do when /quick-complete completed an order of which the storefront does not have everything. */
function completedRecovery(confirmation: Confirmation, sideEffects: SideEffects, order: FollowedOrder): string | null {
  const path = `/api/v1/purchase-orders/${order.purchaseOrderId}`;
  const { storefrontSync, ...others } = sideEffects;
  const steps: string[] = [];
  if (storefrontSync?.status === "failed")
    steps.push(
      `The order is completed, but not every line reached the storefront. Reopen it with POST ${path}/status (status Received or Partially Received), POST ${path}/storefront-sync/reset, then POST ${path}/storefront-sync and POST ${path}/complete.`,
    );
  else if (confirmation.status === "timed-out")
    steps.push(
      `The order is completed; the storefront has not shown every line yet. Read the order again: storefrontSyncState tells when the sync is through.`,
    );
  const rest = recoveryText(others, order);
  if (rest !== null) steps.push(rest);
  return steps.length === 0 ? null : steps.join(" ");
}

// Storefront sync.

const syncStorefront = operation({
  name: "purchase_order_storefront_sync",
  title: "Push stock to the storefront",
  summary: "Pushes received stock that the storefront does not have yet.",
  description:
    "Pushes received − synced of every line that needs it, or of those named, from Sent to Received. By default it waits for the storefront to show the change and tells line by line; awaitConfirmation: false returns once the work is queued. Synced lines are skipped, so repeating is safe. After a failure call purchase_order_storefront_sync_reset first.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/storefront-sync` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, ...guardFaults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z
    .strictObject({
      purchaseOrderId,
      lineItemIds: z
        .array(lineItemId)
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats((each) => each))
        .optional()
        .meta({ description: "Lines to push; every line that needs it when left out.", uniqueItems: true }),
      awaitConfirmation: z
        .boolean()
        .default(true)
        .meta({ description: "Whether to wait until the storefront shows the change (up to about 30 seconds)." }),
      resolutions: resolutions.optional(),
    })
    .meta({
      example: {
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        awaitConfirmation: false,
        resolutions: [{ itemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", action: "skip" }],
      },
    }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    confirmation: confirmationSchema.optional(),
    skipped: skippedSchema,
    ...followOnShape,
  }),
  async run(call, input) {
    const id = input.purchaseOrderId;
    const wanted = input.lineItemIds ?? null;
    const trial = await call.read(async (tx) => {
      const order = await orderToChange(tx, call, id);
      const decided = decideStorefrontSync(order, wanted, goodsContext(call, noGuard));
      await refuseWhileInFlight(tx, call, order);
      return linesWithIds(order, decided.pushedLineItemIds);
    });
    const guardFacts = await guard(call, trial, input.resolutions ?? []);
    const start = async (tx: Tx) => {
      const order = await orderToChange(tx, call, id);
      const decided = decideStorefrontSync(order, wanted, goodsContext(call, guardFacts));
      await refuseWhileInFlight(tx, call, order);
      const asked = await saveFor(tx, call, order, decided);
      const { shopId } = call.shop;
      const variantIds = new Set(order.lineItems.filter((line) => !isCustom(line)).map((line) => line.variantId));
      const revived = await reviveTellings(tx, shopId, order.locationId, variantIds, call.clock.now());
      return { decided, asked, revived, skipped: skippedJson(decided.skipped) };
    };
    if (!input.awaitConfirmation) {
      const queued: string[] = [];
      const answer = await call.commit(async (tx) => {
        const { decided, asked, revived, skipped } = await start(tx);
        const effects = [...asked, ...revived];
        queued.push(...idsOf(effects));
        return {
          effectIds: [],
          answer: (outcomes) => ({
            data: {
              purchaseOrder: purchaseOrderJson(decided.next),
              skipped,
              ...renderSideEffects(effects, outcomes, {
                order: decided.next,
                storefrontSync: { unpushed: "skipped", lineItemCount: decided.pushedLineItemIds.length },
              }),
            },
            etag: etagOf(decided.next),
          }),
        };
      });
      // Started, not waited for.
      await call.settle(queued, 0);
      return answer;
    }
    const { push, revived, skipped } = await call.change(async (tx) => {
      const { decided, asked, revived, skipped } = await start(tx);
      const push = await askedPush(tx, call, id, {
        effectId: asked[0]?.effectId ?? null,
        lines: linesWithIds(decided.next, decided.pushedLineItemIds),
        guardSkipped: decided.skipped.flatMap(({ line, reason }) => (reason === "guard-skipped" ? [line] : [])),
      });
      return { push, revived, skipped };
    });
    const confirmation = await confirmPush(call, push);
    return call.commit(async (tx) => {
      const order = await orderOf(tx, call, id);
      return {
        effectIds: idsOf(revived),
        answer: (outcomes) => ({
          data: {
            purchaseOrder: purchaseOrderJson(order),
            confirmation,
            skipped,
            ...waitedFollowOn(confirmation, renderSideEffects(revived, outcomes, { order }).sideEffects, order),
          },
          etag: etagOf(order),
        }),
      };
    });
  },
});

function linesWithIds(order: PurchaseOrder, lineItemIds: readonly string[]): readonly LineItem[] {
  const ids = new Set(lineItemIds);
  return order.lineItems.filter((line) => ids.has(line.poLineItemId));
}

const resetStorefrontSync = operation({
  name: "purchase_order_storefront_sync_reset",
  title: "Clear storefront sync attempts",
  summary: "Forgets failed and unknown pushes of an order, so that it can be synced anew.",
  description:
    "Clears the sync bookkeeping of failed and unknown attempts, never what is synced; touches no storefront data. Allowed from any status, but not while a push is running. Follow it with purchase_order_storefront_sync.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/storefront-sync/reset` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2" } }),
  output: z.strictObject({ purchaseOrder: purchaseOrderSchema }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      await refuseWhileInFlight(tx, call, order);
      const decided = decideSyncReset(order, { shop: call.shop, nowMs: call.clock.now() });
      await saveFor(tx, call, order, decided);
      return {
        effectIds: [],
        answer: () => ({ data: { purchaseOrder: purchaseOrderJson(decided.next) }, etag: etagOf(decided.next) }),
      };
    }),
});

export const purchaseOrderGoods = [
  confirmQuantities,
  receiveGoods,
  unreceiveGoods,
  completeOrder,
  quickCompleteOrder,
  syncStorefront,
  resetStorefrontSync,
] as const;
