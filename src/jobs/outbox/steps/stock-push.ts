/**
 * The run of an order's stock pushes. Received goods go to the storefront, one push at a time, each under a reference
 * of its own that is stored before the call (C40, C43).
 *
 * Owns: the order of these changes and calls. Does not own: what a push carries and what it means for the order
 * (core/storefront/stock-push.ts), the rows of pushes (shop/storefront/stock-pushes.ts).
 */
import { type EffectOutcome, orderUri } from "../../../core/order/effect.ts";
import type { PurchaseOrder } from "../../../core/order/purchase-order.ts";
import {
  type PushItem,
  type PushReport,
  type SentItem,
  needsSync,
  pushPlan,
  pushRecorded,
} from "../../../core/storefront/stock-push.ts";
import { type ClaimedEffect, renewStatement } from "../../../shop/storefront/effects.ts";
import { claimsHeld } from "../../../shop/order/order-claims.ts";
import { loadOrder, saveDecision } from "../../../shop/order/purchase-orders.ts";
import { dayOfShop, inStockStatement } from "../../../shop/forecast/stock-days.ts";
import {
  type StockPush,
  giveUpStatements,
  pendingPushEffects,
  insertPushStatement,
  itemResultsStatement,
  loadOpenPushes,
  notLandedStatement,
  resendStatement,
} from "../../../shop/storefront/stock-pushes.ts";
import type { Tx } from "../../../store/store.ts";
import {
  type ItemResult,
  type Storefront,
  StorefrontError,
  type WriteContext,
} from "../../../storefront/storefront.ts";
import {
  type Run,
  type Step,
  type WorkContext,
  endRun,
  problemsText,
  retryOrFail,
  skipped,
  systemStamp,
  traceparentOfRun,
} from "../step.ts";
import { withinMs } from "../../../base/time/waiting.ts";
import { type Change, insert } from "../../../store/change.ts";
import { tables } from "../../../shop/tables.ts";

const missingResults = "the storefront has no result for some items yet";

interface PushRun {
  readonly purchaseOrderId: string;
  readonly run: Run<"push-stock">;
  /** Lines that landed in this run. */
  readonly landedLineIds: ReadonlySet<string>;
  /** Line → why the storefront refused it in this run. */
  readonly rejections: ReadonlyMap<string, string>;
}

/** Loads the order and its open pushes, and plans the next push. */
export async function planPush(tx: Tx, context: WorkContext, push: PushRun): Promise<Step> {
  const { order, ...standing } = await loadPushed(tx, context, push, null);
  if (order === null) return await endRun(tx, context, push.run, () => skipped, "", null);
  return await advancePush(tx, context, push, order, [], standing);
}

/** State of the order's pushes when a step begins. */
interface PushStanding {
  readonly pushes: readonly StockPush[];
  /** A push of the order was asked for by other effects than those of the run, and is not finished. */
  readonly othersPending: boolean;
  /** A call waits for the storefront to show the order's pushes. */
  readonly isAwaited: boolean;
}

/** The order and how its pushes stand, in one round trip. */
async function loadPushed(
  tx: Tx,
  { shopId, now }: WorkContext,
  { purchaseOrderId, run }: PushRun,
  reference: string | null,
): Promise<PushStanding & { readonly order: PurchaseOrder | null }> {
  const [order, pushes, pendingIds, claims] = await Promise.all([
    loadOrder(tx, shopId, purchaseOrderId),
    loadOpenPushes(tx, shopId, purchaseOrderId, reference),
    pendingPushEffects(tx, shopId, purchaseOrderId, run.length + 1),
    claimsHeld(tx, shopId, purchaseOrderId, now(), null),
  ]);
  const own = new Set(run.map(({ effectId }) => effectId));
  return {
    order,
    pushes,
    othersPending: pendingIds.some((effectId) => !own.has(effectId)),
    isAwaited: claims.has("end-confirmation"),
  };
}

/**
 * Records what has just landed. Then it stores the next push of the order, so that it can be sent, or ends the run.
 *
 * @param order    as stored, without `landed`.
 * @param standing with the order's pushes that are not settled, as they are now; settled ones do not count.
 */
async function advancePush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  order: PurchaseOrder,
  landed: readonly SentItem[],
  standing: PushStanding,
): Promise<Step> {
  const { shopId, ids } = context;
  const { purchaseOrderId, run } = push;
  const report = { landed, problem: null, inFlight: true };
  const wanted = run.flatMap(linesOf).filter((lineItemId) => !push.rejections.has(lineItemId));
  const { next } = pushRecorded(order, report, context.now());
  const step = pushPlan(
    next,
    wanted,
    standing.pushes.filter((each) => each.state !== "settled"),
  );
  if (step.kind === "nothing") return await endPush(tx, context, push, order, landed, { ...standing, next });
  const sent = step.kind === "resend" ? step.push : { reference: ids.next("push"), items: step.items };
  // A push that this run has stored by a write that was reported as failed has not been sent yet.
  const kind = context.begunPushes.has(sent.reference) ? "send" : step.kind;
  if (step.kind === "send") context.begunPushes.add(sent.reference);
  await tx.batch([
    step.kind === "resend"
      ? resendStatement(shopId, sent.reference)
      : insertPushStatement(shopId, purchaseOrderId, sent, context.now()),
    ...run.map(({ effectId }) => renewStatement(shopId, effectId, context.leasedUntilMs())),
  ]);
  await record(tx, context, order, report);
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const changes = sent.items.map(({ variantId, locationId, delta }) => ({ variantId, locationId, delta }));
      const documentUri = orderUri(shopId, purchaseOrderId);
      const write = { reference: sent.reference, documentUri, traceparent: traceparentOfRun(run), signal };
      const results = await storefront.changeOnHand(changes, write);
      const hasLanded = results.some(({ outcome }) => outcome === "applied" || outcome === "unchanged");
      const shown = hasLanded ? await shownAtOnce(storefront, changes, write) : [];
      return (tx) => recordPush(tx, context, push, { reference: sent.reference, results, shown, kind });
    },
    failed: (error) => (tx) => pushFailed(tx, context, push, sent.reference, error),
  };
}

/**
 * Time for which a push waits until the storefront shows its changes. A later /storefront-sync reads again what was not
 * shown (C43).
 */
const showMsMax = 1_000;

/** Returns for each change if the storefront shows it already. It shows none while it does not answer. */
async function shownAtOnce(
  storefront: Storefront,
  changes: Parameters<Storefront["readOnHand"]>[0],
  context: WriteContext & { readonly signal: AbortSignal },
): Promise<readonly boolean[]> {
  let shown: readonly boolean[] | null = null;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  context.signal.addEventListener("abort", end, { once: true });
  if (context.signal.aborted) end();
  const read = async (): Promise<void> => {
    try {
      const levels = await storefront.readOnHand(changes, { ...context, signal: ending.signal });
      shown = levels.map((level) => level.verified);
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
      shown = [];
    }
  };
  try {
    await withinMs(read(), showMsMax);
    return shown ?? [];
  } finally {
    context.signal.removeEventListener("abort", end);
    // An abort is an error with a stack, which costs more than the rest of this.
    if (shown === null) end();
  }
}

/** Answer of a call. `kind`: whether the push was sent for the first time. */
interface PushAnswer {
  readonly reference: string;
  readonly results: readonly ItemResult[];
  /** True for each item that the storefront shows already. */
  readonly shown: readonly boolean[];
  readonly kind: "send" | "resend";
}

/**
 * Records the storefront's result for each item, with its consequences for the order and the shop's stock levels, and
 * plans the next push. A refusal that is found by sending a push again (`resend`) belongs to an earlier attempt. Its
 * lines are pushed once more, under a new reference.
 */
async function recordPush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  { reference, results, shown, kind }: PushAnswer,
): Promise<Step> {
  const { shopId } = context;
  const { order, ...standing } = await loadPushed(tx, context, push, reference);
  const { pushes } = standing;
  const sent = pushes.find((each) => each.reference === reference);
  if (order === null || sent === undefined) return await planPush(tx, context, push);
  // Its effects are still claimed, so an earlier try of this very step was kept: its results are reported, but not
  // counted again.
  if (sent.state === "settled") return await planPush(tx, context, withResults(push, sent.items, sent.items, kind));
  const items = sent.items.map((item, index): SentItem =>
    item.result === null ? { ...item, result: resultOf(results[index], shown[index] === true) } : item,
  );
  const landed = items.filter((item, index) => item.result?.outcome === "landed" && sent.items[index]?.result === null);
  const come = landed.filter((item) => item.delta > 0);
  const today = come.length === 0 ? 0 : await dayOfShop(tx, shopId, context.now());
  await tx.batch([
    itemResultsStatement(shopId, reference, items, context.now()),
    ...landed.map((item) => addOnHandStatement(shopId, item)),
    ...come.map(({ variantId, locationId }) => inStockStatement(shopId, variantId, locationId, today)),
  ]);
  const updated = withResults(push, items, landed, kind);
  if (items.some((item) => item.result === null))
    return await putOffPush(tx, context, updated, order, landed, { ...standing, detail: missingResults, error: null });
  const others = pushes.filter((each) => each !== sent);
  return await advancePush(tx, context, updated, order, landed, { ...standing, pushes: others });
}

/**
 * The run with the storefront's results for these items. `landedNow`: items whose result is new and may have landed.
 */
const withResults = (
  push: PushRun,
  items: readonly SentItem[],
  landedNow: readonly SentItem[],
  kind: "send" | "resend",
): PushRun => ({
  ...push,
  landedLineIds: new Set([
    ...push.landedLineIds,
    ...landedNow.flatMap((item) => (item.result?.outcome === "landed" ? lineIdsOf(item) : [])),
  ]),
  rejections: new Map([...push.rejections, ...(kind === "send" ? items.flatMap(rejectionsOf) : [])]),
});

function resultOf(result: ItemResult | undefined, isReadBack: boolean): SentItem["result"] {
  switch (result?.outcome) {
    case "applied":
    case "unchanged":
      return { outcome: "landed", isReadBack };
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

/** Adds what has landed to the shop's own stock level (C40). */
const addOnHandStatement = (shopId: string, item: PushItem): Change =>
  insert(
    tables.inventory_level,
    shopId,
    { variant_id: item.variantId, location_id: item.locationId, on_hand: item.delta },
    "add",
  );

async function pushFailed(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  reference: string,
  error: StorefrontError,
): Promise<Step> {
  if (error.landed === "no") await tx.batch([notLandedStatement(context.shopId, reference)]);
  const { order, ...standing } = await loadPushed(tx, context, push, reference);
  if (order === null) return await endRun(tx, context, push.run, () => skipped, "", null);
  return await putOffPush(tx, context, push, order, [], { ...standing, detail: error.message, error });
}

/**
 * Ends the run without an outcome of its push: it is tried again, or given up with the last pending effect of the lane.
 */
async function putOffPush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  order: PurchaseOrder,
  landed: readonly SentItem[],
  why: PushStanding & { readonly detail: string; readonly error: StorefrontError | null },
): Promise<Step> {
  const { shopId } = context;
  const { purchaseOrderId } = push;
  const { detail, error } = why;
  const outcomeOf = (entry: ClaimedEffect): EffectOutcome =>
    retryOrFail(context, entry, error, detail, landedOf(push, entry).length);
  const ended = await endRun(tx, context, push.run, outcomeOf, detail, error);
  const gaveUp = push.run.find((entry) => outcomeOf(entry).state === "failed");
  const isLast = !why.othersPending && push.run.every((entry) => outcomeOf(entry).state !== "pending");
  if (isLast) await tx.batch(giveUpStatements(shopId, purchaseOrderId));
  const problem = gaveUp === undefined ? null : `${detail} (tried ${gaveUp.attempts} times).`;
  await record(tx, context, order, { landed, problem, inFlight: !isLast || why.isAwaited });
  return ended;
}

/** Ends the run with nothing left to send: each effect gets the outcome of its lines. */
async function endPush(
  tx: Tx,
  context: WorkContext,
  push: PushRun,
  order: PurchaseOrder,
  landed: readonly SentItem[],
  { next, othersPending, isAwaited }: PushStanding & { readonly next: PurchaseOrder },
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
  const ended = await endRun(tx, context, push.run, outcomeOf, "", null);
  const problem = push.rejections.size === 0 ? null : problemsText([...push.rejections.values()]);
  await record(tx, context, order, { landed, problem, inFlight: othersPending || isAwaited });
  return ended;
}

const linesOf = ({ effect }: ClaimedEffect): readonly string[] =>
  effect.kind === "push-stock" ? effect.poLineItemIds : [];

const landedOf = (push: PushRun, entry: ClaimedEffect): readonly string[] =>
  linesOf(entry).filter((id) => push.landedLineIds.has(id));

/** Updates the order by what is new about its pushes. `order` is as stored. */
async function record(
  tx: Tx,
  context: WorkContext,
  order: PurchaseOrder,
  report: Omit<PushReport, "landed"> & { readonly landed: readonly SentItem[] },
): Promise<void> {
  const stamp = systemStamp(context);
  const shown = report.landed.every(({ result }) => result?.outcome === "landed" && result.isReadBack);
  await saveDecision(tx, context.shopId, order, pushRecorded(order, { ...report, shown }, stamp.nowMs), stamp);
}
