/**
 * Waiting until the storefront shows what was pushed, and what a caller is told of it (spec "Rules attached to the
 * endpoints" 4; C43).
 *
 * Owns: the wait, reading back, `confirmation` and `skipped[]`. Does not own: which lines are pushed and what they are
 * told (core/storefront/sync.ts), sending a push (jobs/outbox/steps/stock-push.ts).
 *
 * The wait holds neither a transaction nor the shop's turn. It polls the effect in the outbox, then the change at the
 * storefront.
 */
import { z } from "zod";
import { sleep } from "../../../base/time/waiting.ts";
import { type EffectOutcome, orderUri } from "../../../core/order/effect.ts";
import { lineEvent } from "../../../core/events/events.ts";
import { type Quantity, quantityToNumber } from "../../../core/money/money.ts";
import type { LineItem, PurchaseOrder } from "../../../core/order/purchase-order.ts";
import {
  isPushed,
  isUnread,
  needsSync,
  type SentItem,
  unreadQuantities,
  unsyncedQuantity,
} from "../../../core/storefront/stock-push.ts";
import { confirmationStatus, lineConfirmation, type SyncDecision, waitBegun } from "../../../core/storefront/sync.ts";
import { eventStatements } from "../../../shop/events/events.ts";
import { loadOrder } from "../../../shop/order/purchase-orders.ts";
import {
  type ItemPlaces,
  loadStockPushes,
  markReadBack,
  type StockPush,
} from "../../../shop/storefront/stock-pushes.ts";
import type { Tx } from "../../../store/store.ts";
import { StorefrontError } from "../../../storefront/storefront.ts";
import type { Call } from "../../../requests/operation.ts";
import { withinLimit } from "../../../requests/write/upstream-time-limit.ts";
import { saveFor, stampOf } from "../access.ts";
import type { OrderClaim } from "./order-claim.ts";
import { type FollowedOrder, type FollowOn, recoveryText, type SideEffects } from "../side-effects.ts";

export const confirmationSchema = z
  .strictObject({
    status: z.enum(["verified", "partial", "failed", "timed-out"]).meta({
      description:
        "verified: every line was read back. partial: some lines landed, others failed. failed: none landed. timed-out: still in progress, not an error.",
    }),
    lines: z.array(
      z.strictObject({
        lineItemId: z.string(),
        variantId: z.string(),
        status: z.enum(["verified", "failed", "pending", "skipped"]),
        quantity: z.number().meta({ description: "The change of stock; negative when goods were taken back." }),
        reason: z.string().nullable(),
      }),
    ),
  })
  .meta({ description: "What the storefront shows of the push; read back, not assumed." });

export type Confirmation = z.output<typeof confirmationSchema>;

type ConfirmationLine = Confirmation["lines"][number];

export const skippedSchema = z
  .array(
    z.strictObject({
      lineItemId: z.string(),
      variantId: z.string(),
      reason: z.enum(["already-synced", "custom-item", "guard-skipped", "nothing-received", "no-location"]),
    }),
  )
  .meta({ description: "Lines that were not pushed, and why." });

export const skippedJson = (skipped: SyncDecision["skipped"]): z.output<typeof skippedSchema> =>
  skipped.map(({ line, reason }) => ({ lineItemId: line.poLineItemId, variantId: line.variantId, reason }));

/** Goods that a call waits for: its own push, and earlier changes that the storefront took and has never shown. */
export interface PendingPush {
  readonly purchaseOrderId: string;
  /** Null when nothing was to be pushed. */
  readonly effectId: string | null;
  /** The lines that are pushed, as they were then. */
  readonly lines: readonly LineItem[];
  /** Lines that needed it and that the caller had skipped. */
  readonly guardSkipped: readonly LineItem[];
  /** Other lines of which the storefront took changes and has never shown them, and how much that is in sum. */
  readonly unread: readonly { readonly line: LineItem; readonly quantity: Quantity }[];
  /** References that were settled before: their outcomes are not of this push. */
  readonly settledReferences: ReadonlySet<string>;
}

/**
 * Notes what a call waits for, inside the change that asked for a push. If that is anything, the order is in flight
 * until the call ends its claim (C43).
 *
 * @param before the order before that change.
 * @param next   the order as the change leaves it.
 * @param awaited the push; of `reportedLines` lines it is noted what was never read back.
 */
export async function pendingPush(
  tx: Tx,
  call: Call,
  claim: OrderClaim,
  { before, next }: { readonly before: PurchaseOrder; readonly next: PurchaseOrder },
  awaited: Pick<PendingPush, "effectId" | "lines" | "guardSkipped"> & { readonly reportedLines: readonly LineItem[] },
): Promise<PendingPush> {
  const { purchaseOrderId } = next;
  const { reportedLines, ...push } = awaited;
  const pushes = await loadStockPushes(tx, call.shop.shopId, purchaseOrderId);
  const settled = pushes.filter((each) => each.state === "settled").map((each) => each.reference);
  const unreadOf = unreadQuantities(pushes.flatMap((each) => each.items));
  const others = new Set([...push.lines, ...push.guardSkipped].map((line) => line.poLineItemId));
  const unread = reportedLines.flatMap((line) => {
    const quantity = unreadOf.get(line.poLineItemId);
    return quantity === undefined || others.has(line.poLineItemId) ? [] : [{ line, quantity }];
  });
  if (push.effectId !== null || unread.length > 0) {
    const nowMs = call.clock.now();
    const wasFailed = before.storefrontSyncState === "failed";
    await claim.take(tx, { kind: "end-confirmation", purchaseOrderId, sinceMs: nowMs, wasFailed });
    await saveFor(tx, call, next, waitBegun(next, nowMs));
  }
  return { ...push, purchaseOrderId, unread, settledReferences: new Set(settled) };
}

/**
 * The pause between two polls: short at first, longer once the push takes long, since each poll may ask the storefront.
 */
const pollMinMs = 100;

const pollMaxMs = 2_000;

/** Result of a wait. */
interface Confirmed {
  readonly confirmation: Confirmation;
  /** Lines that the storefront has shown; to be recorded with the call's last change (`recordReadBack`). */
  readonly shown: ItemPlaces;
}

/**
 * Waits until everything that is waited for has landed and can be read at the storefront, or has failed, at most the
 * shop's `confirmationWaitMs`.
 */
export async function confirmPush(call: Call, awaited: PendingPush): Promise<Confirmed> {
  const { confirmationWaitMs } = call.shop;
  const deadlineMs = call.clock.now() + confirmationWaitMs;
  const shown = new Map<string, Set<number>>();
  let pollMs = pollMinMs;
  // The time slept is counted beside the clock, so that the wait ends even under a clock that does not advance.
  for (let waitedMs = 0; ; waitedMs += pollMs, pollMs = Math.min(2 * pollMs, pollMaxMs)) {
    const leftMs = Math.max(0, Math.min(deadlineMs - call.clock.now(), confirmationWaitMs - waitedMs));
    const lines = await polledLines(call, awaited, shown, leftMs);
    const isDone = lines.every((line) => line.status !== "pending");
    if (isDone || leftMs === 0) {
      const confirmation = { status: confirmationStatus(lines), lines: [...lines, ...skippedLines(awaited)] };
      return { confirmation, shown };
    }
    await sleep(Math.min(pollMs, leftMs));
  }
}

/** Records what the storefront has shown of the order's pushes, with an event if that was anything new. */
export async function recordReadBack(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  { confirmation, shown }: Confirmed,
): Promise<void> {
  if (shown.size === 0) return;
  const { shopId } = call.shop;
  await markReadBack(tx, shopId, order.purchaseOrderId, shown);
  const verified = confirmation.lines.flatMap((line) => (line.status === "verified" ? [line.lineItemId] : []));
  await tx.batch(
    eventStatements(shopId, lineEvent("storefront_sync.verified", order, new Set(verified)), stampOf(call)),
  );
}

const confirmationLine = <Status extends ConfirmationLine["status"]>(
  { poLineItemId: lineItemId, variantId }: LineItem,
  quantity: Quantity,
  { status, reason }: { readonly status: Status; readonly reason: string | null },
) => ({ lineItemId, variantId, status, quantity: quantityToNumber(quantity), reason });

const skippedLines = ({ guardSkipped }: PendingPush): readonly ConfirmationLine[] =>
  guardSkipped.map((line) =>
    confirmationLine(line, unsyncedQuantity(line), { status: "skipped", reason: "guard-skipped" }),
  );

const pending: EffectOutcome = { state: "pending" };

type PolledLine = ConfirmationLine & { readonly status: "verified" | "failed" | "pending" };

/**
 * Returns the present state of each line that is waited for. `shown` gathers the items that were read back, over all
 * polls.
 */
async function polledLines(
  call: Call,
  awaited: PendingPush,
  shown: Map<string, Set<number>>,
  waitMs: number,
): Promise<readonly PolledLine[]> {
  const { purchaseOrderId, effectId } = awaited;
  if (effectId === null && awaited.unread.length === 0) return [];
  const push = effectId === null ? pending : ((await call.settle([effectId], waitMs)).get(effectId) ?? pending);
  const { order, pushes } = await call.read(async (tx) => ({
    order: await loadOrder(tx, call.shop.shopId, purchaseOrderId),
    pushes: await loadStockPushes(tx, call.shop.shopId, purchaseOrderId),
  }));
  const ofThisCall = pushes.filter((each) => !awaited.settledReferences.has(each.reference));
  const refusals = new Map(ofThisCall.flatMap(refusalsOf));
  const now = new Map((order?.lineItems ?? []).map((line) => [line.poLineItemId, line]));
  const taken = new Set(ofThisCall.flatMap((each) => each.items.flatMap(takenLines)));
  // A line whose goods may have been there is through, too, if they turn out never to have come.
  const isThrough = push.state === "applied" || push.state === "skipped";
  const hasLanded = (line: LineItem): boolean =>
    (taken.has(line.poLineItemId) || (isThrough && !needsSync(line))) && isPushed(line, now.get(line.poLineItemId));
  const waitedFor = [...awaited.lines.filter(hasLanded), ...awaited.unread.map(({ line }) => line)];
  await readBack(call, purchaseOrderId, pushes, new Set(waitedFor.map((line) => line.poLineItemId)), shown, waitMs);
  const unread = unreadQuantities(pushes.flatMap((each) => unshown(each, shown).map(({ item }) => item)));
  const progress = (line: LineItem) => ({
    isReadBack: !unread.has(line.poLineItemId),
    refusal: refusals.get(line.poLineItemId) ?? null,
    push,
  });
  return [
    ...awaited.lines.map((line) => {
      const reported = lineConfirmation({ ...progress(line), hasLanded: hasLanded(line) });
      return confirmationLine(line, unsyncedQuantity(line), reported);
    }),
    ...awaited.unread.map(({ line, quantity }) =>
      confirmationLine(line, quantity, lineConfirmation({ ...progress(line), hasLanded: true })),
    ),
  ];
}

/** Line → why the storefront did not take its change. */
const refusalsOf = ({ items }: StockPush): readonly (readonly [string, string])[] =>
  items.flatMap(({ lines, result }) =>
    result?.outcome === "rejected" ? lines.map((line) => [line.poLineItemId, result.message] as const) : [],
  );

/** The lines of an item that the storefront has taken. */
const takenLines = ({ lines, result }: SentItem): readonly string[] =>
  result?.outcome === "landed" ? lines.map((line) => line.poLineItemId) : [];

/** The items of a push that are still to be read back. */
const unshown = ({ reference, items }: StockPush, shown: ItemPlaces) =>
  items
    .map((item, index) => ({ item, index }))
    .filter(({ item, index }) => isUnread(item) && shown.get(reference)?.has(index) !== true);

/** Pushes that one poll reads back, the latest ones. */
const pushesPerPollMax = 16;

/**
 * Reads the items of these lines back that the storefront has not shown yet, and adds to `shown` those that it shows
 * now.
 */
async function readBack(
  call: Call,
  purchaseOrderId: string,
  pushes: readonly StockPush[],
  lineItemIds: ReadonlySet<string>,
  shown: Map<string, Set<number>>,
  waitMs: number,
): Promise<void> {
  const dueItems = (push: StockPush) =>
    unshown(push, shown).filter(({ item }) => item.lines.some((line) => lineItemIds.has(line.poLineItemId)));
  const due = pushes.filter((push) => dueItems(push).length > 0);
  const limitMs = Math.max(waitMs, pollMaxMs);
  await Promise.all(
    due.slice(-pushesPerPollMax).map(async (push) => {
      const isReadable = await readOnHand(call, purchaseOrderId, push, limitMs);
      const places = dueItems(push).filter(({ index }) => isReadable[index] === true);
      if (places.length === 0) return;
      shown.set(push.reference, new Set([...(shown.get(push.reference) ?? []), ...places.map(({ index }) => index)]));
    }),
  );
}

/** Which items of a push can be read at the storefront; none while it does not answer. */
async function readOnHand(
  call: Call,
  purchaseOrderId: string,
  push: StockPush,
  limitMs: number,
): Promise<readonly boolean[]> {
  const changes = push.items.map(({ variantId, locationId, delta }) => ({ variantId, locationId, delta }));
  const { traceparent } = call;
  const documentUri = orderUri(call.shop.shopId, purchaseOrderId);
  const context = { reference: push.reference, documentUri, traceparent };
  try {
    const levels = await withinLimit((signal) => call.storefront.readOnHand(changes, { ...context, signal }), limitMs);
    return levels.map((level) => level.verified);
  } catch (error) {
    if (error instanceof StorefrontError) return [];
    throw error;
  }
}

/** The `storefrontSync` slot of a call that waited (C39). */
export function waitedSlot({ lines }: Confirmation): NonNullable<SideEffects["storefrontSync"]> {
  const failed = lines.filter((line) => line.status === "failed");
  const syncedLineItemCount = lines.filter((line) => line.status === "verified" || line.status === "pending").length;
  if (failed.length > 0) return { status: "failed", syncedLineItemCount, detail: failureReasons(failed) };
  return { status: syncedLineItemCount > 0 ? "queued" : "skipped", syncedLineItemCount };
}

/** Why these lines failed, each reason once. */
export function failureReasons(failed: readonly Pick<ConfirmationLine, "reason">[]): string {
  const reasons = [...new Set(failed.map((line) => line.reason ?? "unknown"))];
  const [only = "", ...others] = reasons;
  return others.length === 0 ? only : reasons.map((reason) => reason.replace(/\.$/, "")).join("; ");
}

/** The follow-on work of a call that waited for a push; `others` is what it asked for beside. */
export function waitedFollowOn(confirmation: Confirmation, others: SideEffects, order: FollowedOrder): FollowOn {
  const sideEffects: SideEffects = { storefrontSync: waitedSlot(confirmation), ...others };
  const recovery = recoveryText(sideEffects, order);
  return recovery === null ? { sideEffects } : { sideEffects, recovery };
}
