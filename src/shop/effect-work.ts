/**
 * What each kind of effect does: short changes of the shop with one call of the storefront between them (S5).
 *
 * Owns: the steps of every kind and what is kept between them. Does not own: when they run, time limits and repeats of a step
 * (outbox.ts), the amounts (core/storefront-plan.ts).
 *
 * Every step can be run again after a crash: what a call carries is kept before it is made, and a call that is repeated changes
 * nothing more (F1). A step may even be run again that was kept though it was reported as failed: the runner runs one only while it
 * has the step's effects (O6), and a step that leaves them claimed looks at what is there before it counts anything.
 */
import type { Effect, EffectOutcome } from "../core/effect.ts";
import { asQuantity, type Money, moneyToNumber } from "../core/money.ts";
import type { PurchaseOrder } from "../core/purchase-order.ts";
import {
  needsSync,
  type OnOrder,
  type PushItem,
  type PushNews,
  pushPlan,
  pushRecorded,
  tagPlan,
} from "../core/storefront-plan.ts";
import type { ItemResult, Storefront, StorefrontError } from "../storefront/storefront.ts";
import { loadShop } from "./account.ts";
import { settleCostStatement } from "./costs.ts";
import { type ClaimedEffect, laneOf, putOffStatement, renewStatement, settleEffectStatement } from "./effects.ts";
import { inChunks, placeholders } from "./in-lists.ts";
import { loadOrder, saveDecision, type Stamp } from "./rows.ts";
import type { Ids, SqlValue, Statement, Tx } from "./shop.ts";
import {
  giveUpStatements,
  insertPushStatement,
  itemResultsStatement,
  loadStockPushes,
  notLandedStatement,
  resendStatement,
  type SentItem,
  type StockPush,
} from "./stock-pushes.ts";

/** A change of the shop that ends in the next step. It may be run again if it was not kept, or if that is not known. */
export type Work = (tx: Tx) => Promise<Step>;

export type Step =
  /** Through for now; effects that are `pending` have been put off. */
  | { readonly kind: "ended"; readonly outcomes: ReadonlyMap<string, EffectOutcome> }
  /** Call the storefront, then go on with what the call gives. */
  | {
      readonly kind: "call";
      call(storefront: Storefront, signal: AbortSignal): Promise<Work>;
      failed(error: StorefrontError): Work;
    };

/** What steps are told beside the transaction. */
export interface WorkContext {
  readonly shopId: string;
  readonly ids: Ids;
  /** References of the stock pushes that this run has put down, whether or not the write was told as kept. */
  readonly begunPushes: Set<string>;
  now(): number;
  /** When an effect that has been tried so often is tried again; null when it is given up. */
  retryAtMs(attempts: number, error: StorefrontError | null): number | null;
  leasedUntilMs(): number;
}

type KindOf<K extends Effect["kind"]> = Extract<Effect, { readonly kind: K }>;

/** Effects of one lane, claimed together; a lane holds one kind. */
type Run<K extends Effect["kind"]> = readonly (ClaimedEffect & { readonly effect: KindOf<K> })[];

const ofKind = <K extends Effect["kind"]>(claimed: readonly ClaimedEffect[], kind: K): Run<K> =>
  claimed.flatMap((entry) => {
    const { effect } = entry;
    return isKind(effect, kind) ? [{ ...entry, effect }] : [];
  });

const isKind = <K extends Effect["kind"]>(effect: Effect, kind: K): effect is KindOf<K> => effect.kind === kind;

const skipped: EffectOutcome = { state: "skipped" };
const pending: EffectOutcome = { state: "pending" };

/** Begins the work of a lane, inside the change that claimed its effects. */
export async function begin(tx: Tx, context: WorkContext, claimed: readonly ClaimedEffect[]): Promise<Step> {
  const [first] = claimed;
  switch (first?.effect.kind) {
    case "push-stock":
      return await planPush(tx, context, {
        purchaseOrderId: first.effect.purchaseOrderId,
        run: ofKind(claimed, "push-stock"),
        landedLineIds: new Set(),
        rejections: new Map(),
      });
    case "mirror-incoming":
      return await mirrorIncoming(tx, context, first.effect.locationId, ofKind(claimed, "mirror-incoming"));
    case "sync-tags":
      return await syncTags(tx, context, ofKind(claimed, "sync-tags"));
    case "settle-costs":
      return await settleCosts(tx, context, first.effect.purchaseOrderId, ofKind(claimed, "settle-costs"));
    case undefined:
      return { kind: "ended", outcomes: new Map() };
  }
}

/** Settles effects, or puts off those that are `pending`. `detail` says what came in their way. */
async function end(
  tx: Tx,
  context: WorkContext,
  run: readonly ClaimedEffect[],
  outcomeOf: (entry: ClaimedEffect) => EffectOutcome,
  detail: string,
  error: StorefrontError | null,
): Promise<Step> {
  const outcomes = new Map(run.map((entry) => [entry.effectId, outcomeOf(entry)]));
  await tx.batch(
    run.map(({ effectId, attempts }) => {
      const outcome = outcomes.get(effectId) ?? pending;
      return outcome.state === "pending"
        ? putOffStatement(context.shopId, effectId, context.retryAtMs(attempts, error) ?? context.now(), detail)
        : settleEffectStatement(context.shopId, effectId, outcome, context.now());
    }),
  );
  return { kind: "ended", outcomes };
}

/** Tried again, or failed when that was the last time. */
const again = (
  context: WorkContext,
  entry: ClaimedEffect,
  error: StorefrontError | null,
  detail: string,
  itemCount: number,
): EffectOutcome =>
  context.retryAtMs(entry.attempts, error) === null
    ? { state: "failed", detail: `${detail} (tried ${entry.attempts} times).`, itemCount }
    : pending;

/** Problems that a detail spells out. */
const namedProblemsMax = 5;

function problemsText(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  const more = distinct.length > namedProblemsMax ? `, and ${distinct.length - namedProblemsMax} more` : "";
  return `${distinct.slice(0, namedProblemsMax).join(", ")}${more}.`;
}

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
async function planPush(tx: Tx, context: WorkContext, push: PushRun): Promise<Step> {
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

// Incoming, tags and costs: told as they stand, so that telling again changes nothing.

/** `(?)` in the statement is the list of the values. */
const selectIn = <Row>(
  tx: Tx,
  sql: string,
  params: readonly SqlValue[],
  values: readonly string[],
): Promise<readonly Row[]> =>
  inChunks(values, (chunk) =>
    tx.all<Row>(sql.replace("(?)", `(${placeholders(chunk.length)})`), [...params, ...chunk]),
  );

/** Tells the storefront what the local ledger holds; a run of several effects tells it once (C41). */
async function mirrorIncoming(
  tx: Tx,
  context: WorkContext,
  locationId: string,
  run: Run<"mirror-incoming">,
): Promise<Step> {
  const { shopId } = context;
  const variantIds = [...new Set(run.flatMap(({ effect }) => effect.variantIds))];
  const rows = await selectIn<{ variant_id: string; quantity: number }>(
    tx,
    "select variant_id, quantity from incoming where shop_id = ? and location_id = ? and variant_id in (?)",
    [shopId, locationId],
    variantIds,
  );
  const ledger = new Map(rows.map((row) => [row.variant_id, row.quantity]));
  const levels = variantIds.map((variantId) => ({
    variantId,
    locationId,
    incoming: asQuantity(ledger.get(variantId) ?? 0),
  }));
  return telling(
    context,
    run,
    variantIds,
    ({ effect }) => effect.variantIds,
    (storefront, signal) =>
      storefront.setIncoming(levels, {
        reference: `incoming:${run[0]?.effectId ?? ""}`,
        documentUri: `openpo://shops/${shopId}/locations/${locationId}`,
        signal,
      }),
  );
}

/** Tags products with something on order and untags the others; nothing while the shop's tag is off (C42). */
async function syncTags(tx: Tx, context: WorkContext, run: Run<"sync-tags">): Promise<Step> {
  const { shopId } = context;
  const tag = (await loadShop(tx, shopId))?.onOrderTag ?? null;
  if (tag === null) return await end(tx, context, run, () => skipped, "", null);
  const variants = await loadOnOrder(tx, shopId, [...new Set(run.flatMap(({ effect }) => effect.variantIds))]);
  const changes = tagPlan(variants).map((change) => ({ ...change, tag }));
  const productOf = new Map(variants.map((variant) => [variant.variantId, variant.productId ?? variant.variantId]));
  const speakers = new Map(changes.map(({ variantId }) => [productOf.get(variantId), variantId]));
  // A product is told by one of its variants.
  const speakersOf = ({ effect }: Run<"sync-tags">[number]): readonly string[] => [
    ...new Set(effect.variantIds.flatMap((variantId) => speakers.get(productOf.get(variantId)) ?? [])),
  ];
  return telling(
    context,
    run,
    changes.map((change) => change.variantId),
    speakersOf,
    (storefront, signal) =>
      storefront.setTags(changes, {
        reference: `tags:${run[0]?.effectId ?? ""}`,
        documentUri: `openpo://shops/${shopId}`,
        signal,
      }),
  );
}

/** These variants and all others of their products, with what is on order of each over all locations. */
async function loadOnOrder(tx: Tx, shopId: string, variantIds: readonly string[]): Promise<readonly OnOrder[]> {
  const named = await selectIn<{ variant_id: string; product_id: string }>(
    tx,
    "select variant_id, product_id from variant where shop_id = ? and variant_id in (?)",
    [shopId],
    variantIds,
  );
  const siblings = await selectIn<{ variant_id: string; product_id: string }>(
    tx,
    "select variant_id, product_id from variant where shop_id = ? and product_id in (?) order by product_id, variant_id",
    [shopId],
    named.map((row) => row.product_id),
  );
  const inCatalogue = new Set(siblings.map((row) => row.variant_id));
  const variants: readonly { readonly variantId: string; readonly productId: string | null }[] = [
    ...siblings.map((row) => ({ variantId: row.variant_id, productId: row.product_id })),
    ...variantIds.filter((id) => !inCatalogue.has(id)).map((variantId) => ({ variantId, productId: null })),
  ];
  const rows = await selectIn<{ variant_id: string; quantity: number }>(
    tx,
    `select variant_id, cast(sum(quantity) as bigint) as quantity from incoming
     where shop_id = ? and variant_id in (?) group by variant_id`,
    [shopId],
    variants.map((variant) => variant.variantId),
  );
  const incoming = new Map(rows.map((row) => [row.variant_id, row.quantity]));
  return variants.map((variant) => ({ ...variant, incoming: asQuantity(incoming.get(variant.variantId) ?? 0) }));
}

/**
 * Tells the storefront something that may be told again, one item a variant, and settles each effect by its own variants: refused
 * ones fail it, unknown ones are told again.
 */
function telling<K extends "mirror-incoming" | "sync-tags">(
  context: WorkContext,
  run: Run<K>,
  variantIds: readonly string[],
  variantsOf: (entry: Run<K>[number]) => readonly string[],
  tell: (storefront: Storefront, signal: AbortSignal) => Promise<readonly ItemResult[]>,
): Step {
  const mine = new Map(run.map((entry) => [entry.effectId, variantsOf(entry)]));
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const answers = await tell(storefront, signal);
      const results = new Map(variantIds.map((variantId, index) => [variantId, answers[index]]));
      const outcomeOf = (entry: ClaimedEffect): EffectOutcome => {
        const own = (mine.get(entry.effectId) ?? []).map((variantId) => results.get(variantId));
        const refused = own.flatMap((result) => (result?.outcome === "rejected" ? result.message : []));
        const itemCount = own.filter((r) => r?.outcome === "applied" || r?.outcome === "unchanged").length;
        if (itemCount + refused.length < own.length) return again(context, entry, null, unknownItems, itemCount);
        if (refused.length > 0) return { state: "failed", detail: problemsText(refused), itemCount };
        return itemCount === 0 ? skipped : { state: "applied", itemCount };
      };
      return (tx) => end(tx, context, run, outcomeOf, unknownItems, null);
    },
    failed: (error) => (tx) => retry(tx, context, run, error),
  };
}

const unknownItems = "the storefront does not know of every item yet";

/** The call failed as a whole. */
const retry = (tx: Tx, context: WorkContext, run: readonly ClaimedEffect[], error: StorefrontError): Promise<Step> =>
  end(tx, context, run, (entry) => again(context, entry, error, error.message, 0), error.message, error);

interface ProposedRow {
  readonly cost_sync_id: string;
  readonly variant_id: string;
  readonly proposed_unit_cost: number;
}

/**
 * Reads the costs of a completed order back and settles its `proposed` rows: what can be read is applied; what cannot is looked at
 * again, and has failed when it was looked at often enough (C45).
 */
async function settleCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"settle-costs">,
): Promise<Step> {
  const { shopId } = context;
  const rows = await tx.all<ProposedRow>(
    `select cost_sync_id, variant_id, proposed_unit_cost from cost_sync
     where shop_id = ? and purchase_order_id = ? and outcome = 'proposed' order by cost_sync_id`,
    [shopId, purchaseOrderId],
  );
  if (rows.length === 0) return await end(tx, context, run, () => skipped, "", null);
  return {
    kind: "call",
    call: async (storefront) => {
      const variantIds = [...new Set(rows.map((row) => row.variant_id))];
      const costs = await storefront.readCosts(variantIds);
      const shown = new Map(variantIds.map((variantId, index) => [variantId, costs[index] ?? null]));
      return (tx) => recordCosts(tx, context, purchaseOrderId, run, rows, shown);
    },
    failed: (error) => (tx) => retry(tx, context, run, error),
  };
}

async function recordCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"settle-costs">,
  rows: readonly ProposedRow[],
  shown: ReadonlyMap<string, Money | null>,
): Promise<Step> {
  const { shopId } = context;
  const differ = rows.filter((row) => shown.get(row.variant_id) !== row.proposed_unit_cost);
  const detail = "the storefront shows another unit cost";
  const applied = rows.length - differ.length;
  const outcomeOf = (entry: ClaimedEffect): EffectOutcome =>
    differ.length === 0 ? { state: "applied", itemCount: applied } : again(context, entry, null, detail, applied);
  const ended = await end(tx, context, run, outcomeOf, detail, null);
  const isLast = run.every((entry) => outcomeOf(entry).state !== "pending");
  await tx.batch(
    rows.flatMap((row): readonly Statement[] => {
      const settle = (outcome: "applied" | "failed", reason: string | null): readonly Statement[] => [
        settleCostStatement(shopId, purchaseOrderId, row.cost_sync_id, { outcome, reason }, context.now()),
      ];
      if (!differ.includes(row)) return settle("applied", null);
      return isLast ? settle("failed", costReason(shown.get(row.variant_id) ?? null)) : [];
    }),
  );
  return ended;
}

const costReason = (shown: Money | null): string =>
  shown === null ? "the storefront shows no unit cost" : `the storefront shows ${moneyToNumber(shown)}`;
