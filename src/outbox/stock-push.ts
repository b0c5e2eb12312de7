import type { EffectOutcome } from "../core/effect.ts";
import type { PurchaseOrder } from "../core/purchase-order.ts";
import { type PushItem, type PushNews, needsSync, pushPlan, pushRecorded } from "../core/stock-push.ts";
import { type ClaimedEffect, laneOf, renewStatement } from "../shop/effects.ts";
import { type Stamp, loadOrder, saveDecision } from "../shop/purchase-orders.ts";
import {
  type SentItem,
  type StockPush,
  giveUpStatements,
  insertPushStatement,
  itemResultsStatement,
  loadStockPushes,
  notLandedStatement,
  resendStatement,
} from "../shop/stock-pushes.ts";
import type { Statement, Tx } from "../store/store.ts";
import type { ItemResult, StorefrontError } from "../storefront/storefront.ts";
import { type Run, type Step, type WorkContext, again, end, problemsText, skipped } from "./step.ts";

// Stock (C40, C43).

interface PushRun {
  readonly purchaseOrderId: string;
  readonly run: Run<"push-stock">;
  /** Lines that landed in this run. */
  readonly landedLineIds: ReadonlySet<string>;
  /** Line → why the storefront refused it in this run. */
  readonly rejections: ReadonlyMap<string, string>;
}

/** Loads the order and its pushes and goes on from there. */
export async function planPush(tx: Tx, context: WorkContext, push: PushRun): Promise<Step> {
  const [order, pushes] = await loadPushed(tx, context.shopId, push.purchaseOrderId);
  if (order === null) return await end(tx, context, push.run, () => skipped, "", null);
  return await advancePush(tx, context, push, order, [], pushes);
}

const loadPushed = (
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
): Promise<[PurchaseOrder | null, readonly StockPush[]]> =>
  Promise.all([loadOrder(tx, shopId, purchaseOrderId), loadStockPushes(tx, shopId, purchaseOrderId)]);

/**
 * Keeps what has just landed, then keeps the next push of the order before it is sent, or ends.
 *
 * @param order  as stored; `landed` is not in it yet.
 * @param pushes all of the order's, as they stand now.
 */
async function advancePush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  order: PurchaseOrder,
  landed: readonly PushItem[],
  pushes: readonly StockPush[],
): Promise<Step> {
  const { shopId, ids } = context;
  const { purchaseOrderId, run } = push;
  const news = { landed, problem: null, inFlight: true };
  const wanted = run.flatMap(linesOf).filter((lineItemId) => !push.rejections.has(lineItemId));
  const { next } = pushRecorded(order, news, context.now());
  const step = pushPlan(
    next,
    wanted,
    pushes.filter((each) => each.state !== "settled"),
  );
  if (step.kind === "nothing") return await endPush(tx, context, push, order, landed, next);
  const sent = step.kind === "resend" ? step.push : { reference: ids.next("push"), items: step.items };
  // One that this run has put down itself, by a write that was told as failed, has not been sent before.
  const kind = context.begunPushes.has(sent.reference) ? "send" : step.kind;
  if (step.kind === "send") context.begunPushes.add(sent.reference);
  await tx.batch([
    step.kind === "resend"
      ? resendStatement(shopId, sent.reference)
      : insertPushStatement(shopId, purchaseOrderId, sent, context.now()),
    ...run.map(({ effectId }) => renewStatement(shopId, effectId, context.leasedUntilMs())),
  ]);
  await record(tx, context, order, news);
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const results = await storefront.changeOnHand(
        sent.items.map(({ variantId, locationId, delta }) => ({ variantId, locationId, delta })),
        { reference: sent.reference, documentUri: orderUri(shopId, purchaseOrderId), signal },
      );
      return (tx) => recordPush(tx, context, push, sent.reference, results, kind);
    },
    failed: (error) => (tx) => pushFailed(tx, context, push, sent.reference, error),
  };
}

const orderUri = (shopId: string, purchaseOrderId: string): string =>
  `openpo://shops/${shopId}/purchase-orders/${purchaseOrderId}`;

/**
 * Keeps what the storefront said of each item, with what follows for the order and the shop's own levels; then goes on. A refusal that
 * comes to light when a push is sent again is that of an earlier day: its lines are pushed once more, under a reference of their own.
 */
async function recordPush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  reference: string,
  results: readonly ItemResult[],
  kind: "send" | "resend",
): Promise<Step> {
  const { shopId } = context;
  const { purchaseOrderId } = push;
  const [order, pushes] = await loadPushed(tx, shopId, purchaseOrderId);
  const sent = pushes.find((each) => each.reference === reference);
  if (order === null || sent === undefined) return await planPush(tx, context, push);
  // Its effects are still claimed, so an earlier try of this very step was kept: it is told, but not counted again.
  if (sent.state === "settled") return await planPush(tx, context, toldBy(push, sent.items, sent.items, kind));
  const items = sent.items.map((item, index): SentItem =>
    item.result === null ? { ...item, result: resultOf(results[index]) } : item,
  );
  const landed = items.filter((item, index) => item.result?.outcome === "landed" && sent.items[index]?.result === null);
  await tx.batch([
    itemResultsStatement(shopId, reference, items, context.now()),
    ...landed.map((item) => addOnHandStatement(shopId, item)),
  ]);
  const told = toldBy(push, items, landed, kind);
  if (items.some((item) => item.result === null))
    return await putOffPush(tx, context, told, order, landed, "the storefront does not know of every item yet", null);
  const others = pushes.filter((each) => each !== sent);
  return await advancePush(tx, context, told, order, landed, others);
}

/** The run with what the storefront said of these items. */
const toldBy = (
  push: PushRun,
  items: readonly SentItem[],
  news: readonly SentItem[],
  kind: "send" | "resend",
): PushRun => ({
  ...push,
  landedLineIds: new Set([
    ...push.landedLineIds,
    ...news.flatMap((item) => (item.result?.outcome === "landed" ? lineIdsOf(item) : [])),
  ]),
  rejections: new Map([...push.rejections, ...(kind === "send" ? items.flatMap(rejectionsOf) : [])]),
});

function resultOf(result: ItemResult | undefined): SentItem["result"] {
  switch (result?.outcome) {
    case "applied":
    case "unchanged":
      return { outcome: "landed" };
    case "rejected":
      return { outcome: "rejected", message: result.message };
    case "unknown":
    case undefined:
      return null;
  }
}

const lineIdsOf = (item: PushItem): readonly string[] => item.lines.map((line) => line.poLineItemId);

const rejectionsOf = (item: SentItem): readonly (readonly [string, string])[] => {
  const { result } = item;
  return result?.outcome === "rejected" ? lineIdsOf(item).map((id) => [id, result.message] as const) : [];
};

/** The shop's own levels follow what landed (C40). */
const addOnHandStatement = (shopId: string, item: PushItem): Statement => ({
  sql: `insert into inventory_level (shop_id, variant_id, location_id, on_hand) values (?, ?, ?, ?)
        on conflict (shop_id, variant_id, location_id) do update set
          on_hand = inventory_level.on_hand + excluded.on_hand`,
  params: [shopId, item.variantId, item.locationId, item.delta],
});

async function pushFailed(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  reference: string,
  error: StorefrontError,
): Promise<Step> {
  if (error.landed === "no") await tx.batch([notLandedStatement(context.shopId, reference)]);
  const order = await loadOrder(tx, context.shopId, push.purchaseOrderId);
  if (order === null) return await end(tx, context, push.run, () => skipped, "", null);
  return await putOffPush(tx, context, push, order, [], error.message, error);
}

/** The push has no outcome: it is tried again, or given up with the last of the lane's effects. */
async function putOffPush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  order: PurchaseOrder,
  landed: readonly PushItem[],
  detail: string,
  error: StorefrontError | null,
): Promise<Step> {
  const { shopId } = context;
  const { purchaseOrderId } = push;
  const outcomeOf = (entry: ClaimedEffect): EffectOutcome =>
    again(context, entry, error, detail, landedOf(push, entry).length);
  const ended = await end(tx, context, push.run, outcomeOf, detail, error);
  const gaveUp = push.run.find((entry) => outcomeOf(entry).state === "failed");
  const isLast = !(await hasPendingEffect(tx, shopId, purchaseOrderId));
  if (isLast) await tx.batch(giveUpStatements(shopId, purchaseOrderId));
  const problem = gaveUp === undefined ? null : `${detail} (tried ${gaveUp.attempts} times).`;
  await record(tx, context, order, { landed, problem, inFlight: !isLast });
  return ended;
}

/** Nothing is left to send: every effect is told what became of its lines. */
async function endPush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  order: PurchaseOrder,
  landed: readonly PushItem[],
  next: PurchaseOrder,
): Promise<Step> {
  const inStep = new Set(next.lineItems.filter((line) => !needsSync(line)).map((line) => line.poLineItemId));
  const outcomeOf = (entry: ClaimedEffect): EffectOutcome => {
    const refused = linesOf(entry).flatMap((id) => push.rejections.get(id) ?? []);
    if (refused.length > 0)
      return { state: "failed", detail: problemsText(refused), itemCount: landedOf(push, entry).length };
    // An earlier attempt, or another effect's push, may have brought its lines through.
    const through = entry.attempts > 1 ? linesOf(entry).filter((id) => inStep.has(id)) : landedOf(push, entry);
    return through.length === 0 ? skipped : { state: "applied", itemCount: through.length };
  };
  const ended = await end(tx, context, push.run, outcomeOf, "", null);
  const problem = push.rejections.size === 0 ? null : problemsText([...push.rejections.values()]);
  const inFlight = await hasPendingEffect(tx, context.shopId, push.purchaseOrderId);
  await record(tx, context, order, { landed, problem, inFlight });
  return ended;
}

const linesOf = ({ effect }: ClaimedEffect): readonly string[] =>
  effect.kind === "push-stock" ? effect.poLineItemIds : [];

const landedOf = (push: PushRun, entry: ClaimedEffect): readonly string[] =>
  linesOf(entry).filter((id) => push.landedLineIds.has(id));

async function hasPendingEffect(tx: Tx, shopId: string, purchaseOrderId: string): Promise<boolean> {
  const lane = laneOf({ kind: "push-stock", purchaseOrderId, poLineItemIds: [] });
  const rows = await tx.all<{ effect_id: string }>(
    "select effect_id from effect where shop_id = ? and lane = ? and state = 'pending' limit 1",
    [shopId, lane],
  );
  return rows.length > 0;
}

/** Writes what is new of the order's pushes into the order; the order is as stored. */
async function record(tx: Tx, context: WorkContext, order: PurchaseOrder, news: PushNews): Promise<void> {
  const stamp: Stamp = {
    actor: { type: "system", id: null, name: null },
    operation: null,
    requestId: null,
    nowMs: context.now(),
    ids: context.ids,
  };
  await saveDecision(tx, context.shopId, order, pushRecorded(order, news, stamp.nowMs), stamp);
}
