/**
 * Pushing received stock to the storefront when a caller asks for it, and clearing failed attempts (spec "Storefront
 * sync state"; C43).
 */
import { z } from "zod";
import { isCustom } from "../../../core/order/lines.ts";
import { type LineItem, type PurchaseOrder, linesPerOrderMax } from "../../../core/order/purchase-order.ts";
import { decideStorefrontSync, decideSyncReset, type SyncDecision } from "../../../core/storefront/sync.ts";
import { type QueuedEffect, retryFailedMirrors } from "../../../shop/storefront/effects.ts";
import { clearWritesStatement } from "../../../shop/storefront/storefront-writes.ts";
import type { Tx } from "../../../store/store.ts";
import { noRepeats } from "../../fields.ts";
import { type Answer, type Call, operation } from "../../../requests/operation.ts";
import { contextOf, contextWithPushes, faults, orderOf, orderToChange, path, saveFor, write } from "../access.ts";
import { goodsContext } from "./goods.ts";
import { refuseWhileInFlight } from "./in-flight.ts";
import { withOrderClaim } from "./order-claim.ts";
import { type GuardFacts, guard, guardFaults, noGuard, resolutions } from "./guard.ts";
import { etagOf, lineItemId, purchaseOrderId, purchaseOrderJson, purchaseOrderSchema } from "../json.ts";
import { followOnShape, idsOf, renderSideEffects } from "../side-effects.ts";
import {
  pendingPush,
  confirmPush,
  confirmationSchema,
  recordReadBack,
  skippedJson,
  skippedSchema,
  waitedFollowOn,
} from "./stock-sync.ts";

const syncInput = z
  .strictObject({
    purchaseOrderId,
    lineItemIds: z
      .array(lineItemId)
      .min(1)
      .max(linesPerOrderMax)
      .check(noRepeats((each) => each))
      .optional()
      .meta({ uniqueItems: true }),
    awaitConfirmation: z
      .boolean()
      .default(true)
      .meta({ description: "Waits until the storefront shows it, up to about 30 seconds." }),
    resolutions: resolutions.optional(),
  })
  .meta({
    example: { purchaseOrderId: "po_demo_15", awaitConfirmation: true },
  });

type SyncInput = z.output<typeof syncInput>;

const syncAnswer = z.strictObject({
  purchaseOrder: purchaseOrderSchema,
  confirmation: confirmationSchema.optional(),
  skipped: skippedSchema,
  ...followOnShape,
});

type SyncAnswer = Answer<z.output<typeof syncAnswer>>;

export const syncStorefront = operation({
  ...write,
  name: "purchase_order_storefront_sync",
  toolSets: ["purchasing", "receiving"],
  receiving: true,
  title: "Push stock to the storefront",
  summary: "Pushes received stock that the storefront does not have yet.",
  description:
    "Every line that needs it, or those named; from Sent to Received. Waits for the storefront to show the change (and earlier ones never shown) and tells line by line; awaitConfirmation: false returns once the work is queued. After a failure call purchase_order_storefront_sync_reset first.",
  route: { method: "POST", path: `${path}/storefront-sync` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...faults, ...guardFaults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: syncInput,
  output: syncAnswer,
  async run(call, input) {
    const lines = await call.read(async (tx) => {
      const { order, decided } = await decide(tx, call, input, noGuard);
      return linesWithIds(order, decided.pushedLineItemIds);
    });
    const facts = await guard(call, lines, input.resolutions ?? []);
    return input.awaitConfirmation ? waitedSync(call, input, facts) : queuedSync(call, input, facts);
  },
});

async function decide(
  tx: Tx,
  call: Call,
  input: SyncInput,
  facts: GuardFacts,
): Promise<{ readonly order: PurchaseOrder; readonly decided: SyncDecision }> {
  const order = await orderToChange(tx, call, input.purchaseOrderId);
  const context = { ...goodsContext(call, facts), ...(await contextWithPushes(tx, call, order)) };
  const decided = decideStorefrontSync(order, input.lineItemIds ?? null, context);
  await refuseWhileInFlight(tx, call, order);
  return { order, decided };
}

/** Saves the sync. Incoming quantities and tags of the order's variants that failed before are told again with it. */
async function startSync(
  tx: Tx,
  call: Call,
  input: SyncInput,
  facts: GuardFacts,
): Promise<{
  readonly order: PurchaseOrder;
  readonly decided: SyncDecision;
  readonly queuedEffects: readonly QueuedEffect[];
  readonly retried: readonly QueuedEffect[];
}> {
  const { order, decided } = await decide(tx, call, input, facts);
  const queuedEffects = await saveFor(tx, call, order, decided);
  const variantIds = new Set(order.lineItems.filter((line) => !isCustom(line)).map((line) => line.variantId));
  const retried = await retryFailedMirrors(tx, call.shop.shopId, order.locationId, variantIds, call.clock.now());
  return { order, decided, queuedEffects, retried };
}

/** Answers once the work is queued; it is started and not waited for. */
async function queuedSync(call: Call, input: SyncInput, facts: GuardFacts): Promise<SyncAnswer> {
  const queued: string[] = [];
  const answer = await call.commit(async (tx) => {
    const { decided, queuedEffects, retried } = await startSync(tx, call, input, facts);
    const { next, pushedLineItemIds } = decided;
    const effects = [...queuedEffects, ...retried];
    queued.push(...idsOf(effects));
    return {
      effects: [],
      answer: (outcomes) => ({
        data: {
          purchaseOrder: purchaseOrderJson(next),
          skipped: skippedJson(decided.skipped),
          ...renderSideEffects(effects, outcomes, {
            order: next,
            storefrontSync: { unpushed: { status: "skipped" }, lineItemCount: pushedLineItemIds.length },
          }),
        },
        etag: etagOf(next),
      }),
    };
  });
  await call.settle(queued, 0);
  return answer;
}

/**
 * Answers once the storefront shows the push, or the wait has ended. What the storefront took earlier and has never
 * shown is looked at again. Meanwhile the order is in flight (C43).
 */
function waitedSync(call: Call, input: SyncInput, facts: GuardFacts): Promise<SyncAnswer> {
  return withOrderClaim(call, async (claim) => {
    const { push, retried, skipped } = await call.change(async (tx) => {
      const { order, decided, queuedEffects, retried } = await startSync(tx, call, input, facts);
      const push = await pendingPush(
        tx,
        call,
        claim,
        { before: order, next: decided.next },
        {
          effectId: queuedEffects[0]?.effectId ?? null,
          lines: linesWithIds(decided.next, decided.pushedLineItemIds),
          guardSkipped: decided.skipped.flatMap(({ line, reason }) => (reason === "guard-skipped" ? [line] : [])),
          reportedLines: linesWithIds(decided.next, input.lineItemIds ?? null),
        },
      );
      return { push, retried, skipped: skippedJson(decided.skipped) };
    });
    const { confirmation, shown } = await confirmPush(call, push);
    // A line that was looked at again is told once.
    const confirmedIds = new Set(confirmation.lines.map((line) => line.lineItemId));
    const alsoSkipped = skipped.filter(
      ({ lineItemId, reason }) => reason !== "already-synced" || !confirmedIds.has(lineItemId),
    );
    return call.commit(async (tx) => {
      await claim.end(tx);
      const order = await orderOf(tx, call, input.purchaseOrderId);
      await recordReadBack(tx, call, order, { confirmation, shown });
      return {
        effects: retried,
        answer: (outcomes) => ({
          data: {
            purchaseOrder: purchaseOrderJson(order),
            confirmation,
            skipped: alsoSkipped,
            ...waitedFollowOn(confirmation, renderSideEffects(retried, outcomes, { order }).sideEffects, order),
          },
          etag: etagOf(order),
        }),
      };
    });
  });
}

/** The lines with these ids; all of them for null. */
function linesWithIds(order: PurchaseOrder, lineItemIds: readonly string[] | null): readonly LineItem[] {
  const ids = lineItemIds === null ? null : new Set(lineItemIds);
  return order.lineItems.filter((line) => ids?.has(line.poLineItemId) ?? true);
}

export const resetStorefrontSync = operation({
  ...write,
  name: "purchase_order_storefront_sync_reset",
  toolSets: ["purchasing", "receiving"],
  receiving: true,
  title: "Clear storefront sync attempts",
  summary: "Forgets failed and unknown pushes of an order, so that it can be synced anew.",
  description:
    "Never what is synced; touches no storefront data. In any status, but not while a push is running. Go on with purchase_order_storefront_sync.",
  route: { method: "POST", path: `${path}/storefront-sync/reset` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...faults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: "po_demo_08" } }),
  output: z.strictObject({ purchaseOrder: purchaseOrderSchema }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      await refuseWhileInFlight(tx, call, order);
      const decided = decideSyncReset(order, contextOf(call));
      await saveFor(tx, call, order, decided);
      await tx.batch([clearWritesStatement(call.shop.shopId, order.purchaseOrderId, call.clock.now())]);
      return {
        effects: [],
        answer: () => ({ data: { purchaseOrder: purchaseOrderJson(decided.next) }, etag: etagOf(decided.next) }),
      };
    }),
});
