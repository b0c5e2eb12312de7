/**
 * Waiting for a stock push to land, and what a caller is told of it (spec "Rules attached to the endpoints" 4; C43).
 *
 * Owns: the wait, reading back, `confirmation` and `skipped[]`. Does not own: which lines are pushed and what they are told
 * (core/sync.ts), sending a push (outbox/stock-push.ts).
 *
 * The wait holds neither a transaction nor the shop's turn: it asks the outbox how far the effect is, then the storefront whether the
 * change can be read there.
 */
import { z } from "zod";
import { type EffectOutcome, orderUri } from "../../core/effect.ts";
import { Fault } from "../../core/fault.ts";
import { quantityToNumber } from "../../core/money.ts";
import type { LineItem, PurchaseOrder } from "../../core/purchase-order.ts";
import { isPushed, unsyncedQuantity } from "../../core/stock-push.ts";
import { confirmationStatus, lineConfirmation, type SyncDecision } from "../../core/sync.ts";
import { claimsHeld } from "../../shop/order-claims.ts";
import { loadOrder } from "../../shop/purchase-orders.ts";
import { isPushInFlight, loadStockPushes, type SentItem, type StockPush } from "../../shop/stock-pushes.ts";
import type { Tx } from "../../store/store.ts";
import { StorefrontError } from "../../storefront/storefront.ts";
import type { Call } from "../operation.ts";
import { withinLimit } from "../upstream.ts";
import { type FollowedOrder, type FollowOn, recoveryText, type SideEffects } from "./side-effects.ts";

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

/** How long a caller waits before it asks again whether the outcome of a push is known. */
const inFlightRetryAfterMs = 1_000;

/**
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT  a push of the order has no known outcome yet (C43).
 */
export async function refuseWhileInFlight(tx: Tx, call: Call, order: PurchaseOrder): Promise<void> {
  if (await isPushInFlight(tx, call.shop.shopId, order.purchaseOrderId))
    throw inFlight(`A stock sync of ${order.poNumber} is still running.`);
}

/**
 * @param ownClaimId the caller's own claim.
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT  a push of the order has no known outcome yet, or another call writes its unit costs (C45).
 */
export async function refuseBesideSyncs(tx: Tx, call: Call, order: PurchaseOrder, ownClaimId: string): Promise<void> {
  await refuseWhileInFlight(tx, call, order);
  const held = await claimsHeld(tx, call.shop.shopId, order.purchaseOrderId, call.clock.now(), ownClaimId);
  if (held.has("end-cost-sync")) throw inFlight(`Another call is writing the unit costs of ${order.poNumber}.`);
}

const inFlight = (message: string): Fault =>
  new Fault("ON_HAND_SYNC_IN_FLIGHT", message, {
    action: "Wait and repeat the same call.",
    retryAfterMs: inFlightRetryAfterMs,
  });

/** A push that a call has asked for. */
export interface AskedPush {
  readonly purchaseOrderId: string;
  /** Null when nothing was to be pushed. */
  readonly effectId: string | null;
  /** The lines that are pushed, as they were then. */
  readonly lines: readonly LineItem[];
  /** Lines that needed it and that the caller had skipped. */
  readonly guardSkipped: readonly LineItem[];
  /** References that were settled before: their outcomes are not of this push. */
  readonly settledReferences: ReadonlySet<string>;
}

/** Notes what a push was asked for, inside the change that asked. `lines` are as the change leaves them. */
export async function askedPush(
  tx: Tx,
  call: Call,
  purchaseOrderId: string,
  asked: Pick<AskedPush, "effectId" | "lines" | "guardSkipped">,
): Promise<AskedPush> {
  const pushes = await loadStockPushes(tx, call.shop.shopId, purchaseOrderId);
  const settled = pushes.filter((push) => push.state === "settled").map((push) => push.reference);
  return { purchaseOrderId, settledReferences: new Set(settled), ...asked };
}

/** The pause between two polls: short at first, longer once the push takes long, since each poll may ask the storefront. */
const pollMinMs = 100;

const pollMaxMs = 2_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Waits until every line of the push has landed and can be read at the storefront, or has failed, at most the shop's
 * `confirmationWaitMs`.
 */
export async function confirmPush(call: Call, asked: AskedPush): Promise<Confirmation> {
  const { confirmationWaitMs } = call.shop;
  const deadlineMs = call.clock.now() + confirmationWaitMs;
  const verified = new Set<string>();
  let pollMs = pollMinMs;
  // The time slept is counted beside the clock, so that the wait ends even under a clock that does not advance.
  for (let waitedMs = 0; ; waitedMs += pollMs, pollMs = Math.min(2 * pollMs, pollMaxMs)) {
    const leftMs = Math.max(0, Math.min(deadlineMs - call.clock.now(), confirmationWaitMs - waitedMs));
    const lines = asked.effectId === null ? [] : await polledLines(call, asked, asked.effectId, verified, leftMs);
    const isDone = lines.every((line) => line.status !== "pending");
    if (isDone || leftMs === 0) return { status: confirmationStatus(lines), lines: [...lines, ...skippedLines(asked)] };
    await sleep(Math.min(pollMs, leftMs));
  }
}

const confirmationLine = (
  line: LineItem,
  { status, reason }: Pick<ConfirmationLine, "status" | "reason">,
): ConfirmationLine => ({
  lineItemId: line.poLineItemId,
  variantId: line.variantId,
  status,
  quantity: quantityToNumber(unsyncedQuantity(line)),
  reason,
});

const skippedLines = ({ guardSkipped }: AskedPush): readonly ConfirmationLine[] =>
  guardSkipped.map((line) => confirmationLine(line, { status: "skipped", reason: "guard-skipped" }));

const pending: EffectOutcome = { state: "pending" };

/** How each line of the push stands now. `verified` gathers the lines that were read back, over all polls. */
async function polledLines(
  call: Call,
  asked: AskedPush,
  effectId: string,
  verified: Set<string>,
  waitMs: number,
): Promise<readonly (ConfirmationLine & { readonly status: "verified" | "failed" | "pending" })[]> {
  const { purchaseOrderId } = asked;
  const push = (await call.settle([effectId], waitMs)).get(effectId) ?? pending;
  const { order, pushes } = await call.read(async (tx) => ({
    order: await loadOrder(tx, call.shop.shopId, purchaseOrderId),
    pushes: (await loadStockPushes(tx, call.shop.shopId, purchaseOrderId)).filter(
      (each) => !asked.settledReferences.has(each.reference),
    ),
  }));
  const refusals = new Map(pushes.flatMap(refusalsOf));
  const now = new Map((order?.lineItems ?? []).map((line) => [line.poLineItemId, line]));
  const taken = new Set(pushes.flatMap((each) => each.items.flatMap(takenLines)));
  const landed = new Set(
    asked.lines
      .filter((line) => taken.has(line.poLineItemId) && isPushed(line, now.get(line.poLineItemId)))
      .map((line) => line.poLineItemId),
  );
  const unread = [...landed].filter((id) => !verified.has(id));
  const readable = await readableLines(call, purchaseOrderId, pushes, unread, Math.max(waitMs, pollMaxMs));
  for (const id of readable) verified.add(id);
  return asked.lines.map((line) => {
    const confirmed = lineConfirmation({
      hasLanded: landed.has(line.poLineItemId),
      isReadBack: verified.has(line.poLineItemId),
      refusal: refusals.get(line.poLineItemId) ?? null,
      push,
    });
    return { ...confirmationLine(line, confirmed), status: confirmed.status };
  });
}

/** Line → why the storefront did not take its change. */
const refusalsOf = ({ items }: StockPush): readonly (readonly [string, string])[] =>
  items.flatMap(({ lines, result }) =>
    result?.outcome === "rejected" ? lines.map((line) => [line.poLineItemId, result.message] as const) : [],
  );

/** The lines of an item that the storefront has taken. */
const takenLines = ({ lines, result }: SentItem): readonly string[] =>
  result?.outcome === "landed" ? lines.map((line) => line.poLineItemId) : [];

/** Which of these lines' changes can be read at the storefront. */
async function readableLines(
  call: Call,
  purchaseOrderId: string,
  pushes: readonly StockPush[],
  poLineItemIds: readonly string[],
  limitMs: number,
): Promise<readonly string[]> {
  const wanted = new Set(poLineItemIds);
  const unreadable = new Set<string>();
  for (const push of pushes) {
    const wantedLines = (item: SentItem): readonly string[] => takenLines(item).filter((id) => wanted.has(id));
    if (!push.items.some((item) => wantedLines(item).length > 0)) continue;
    const isReadable = await readOnHand(call, purchaseOrderId, push, limitMs);
    for (const [index, item] of push.items.entries())
      if (isReadable[index] !== true) for (const id of wantedLines(item)) unreadable.add(id);
  }
  return poLineItemIds.filter((id) => !unreadable.has(id));
}

/** Which items of a push can be read at the storefront; none while it does not answer. */
async function readOnHand(
  call: Call,
  purchaseOrderId: string,
  push: StockPush,
  limitMs: number,
): Promise<readonly boolean[]> {
  const changes = push.items.map(({ variantId, locationId, delta }) => ({ variantId, locationId, delta }));
  const context = { reference: push.reference, documentUri: orderUri(call.shop.shopId, purchaseOrderId) };
  try {
    const levels = await withinLimit(() => call.storefront.readOnHand(changes, context), limitMs);
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
export const failureReasons = (failed: readonly ConfirmationLine[]): string =>
  [...new Set(failed.map((line) => line.reason ?? "unknown"))].join(" ");

/** The follow-on work of a call that waited for a push; `others` is what it asked for beside. */
export function waitedFollowOn(confirmation: Confirmation, others: SideEffects, order: FollowedOrder): FollowOn {
  const sideEffects: SideEffects = { storefrontSync: waitedSlot(confirmation), ...others };
  const recovery = recoveryText(sideEffects, order);
  return recovery === null ? { sideEffects } : { sideEffects, recovery };
}
