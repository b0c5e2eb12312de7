import { z } from "zod";
import { decideStorefrontSync, decideSyncReset } from "../../core/sync.ts";
import { isCustom } from "../../core/lines.ts";
import { type LineItem, type PurchaseOrder, linesPerOrderMax } from "../../core/purchase-order.ts";
import { reviveTellings } from "../../shop/effects.ts";
import type { Tx } from "../../store/store.ts";
import { noRepeats } from "../fields.ts";
import { operation } from "../operation.ts";
import { orderOf, orderToChange, saveFor } from "./access.ts";
import { common, goodsContext, guardFaults, idsOf, path, tag } from "./goods.ts";
import { guard, noGuard, resolutions } from "./guard.ts";
import { etagOf, lineItemId, purchaseOrderId, purchaseOrderJson, purchaseOrderSchema } from "./json.ts";
import { followOnShape, renderSideEffects } from "./side-effects.ts";
import {
  askedPush,
  confirmPush,
  confirmationSchema,
  refuseWhileInFlight,
  skippedJson,
  skippedSchema,
  waitedFollowOn,
} from "./stock-sync.ts";

// Storefront sync.

export const syncStorefront = operation({
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

export const resetStorefrontSync = operation({
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
