/**
 * Waiting for a stock push to land, and what is told of it (spec "Rules attached to the endpoints" 4; C43).
 *
 * Owns: the wait, reading back, `confirmation` and `skipped[]`. Does not own: what to push (core), sending it (outbox/runner.ts).
 *
 * The wait holds nothing of the shop: it asks the outbox how the effect stands, then the storefront whether the change can be read.
 */
import { z } from "zod";
import type { EffectOutcome } from "../../core/effect.ts";
import { Fault } from "../../core/fault.ts";
import type { SyncDecision } from "../../core/sync.ts";
import { asQuantity, quantityToNumber } from "../../core/money.ts";
import type { LineItem, PurchaseOrder } from "../../core/purchase-order.ts";
import { needsSync } from "../../core/stock-push.ts";
import { loadOrder } from "../../shop/purchase-orders.ts";
import { type StockPush, isPushInFlight, loadStockPushes } from "../../shop/stock-pushes.ts";
import type { Tx } from "../../store/store.ts";
import { StorefrontError } from "../../storefront/storefront.ts";
import type { Call } from "../operation.ts";
import { withinLimit } from "../upstream.ts";
import { type FollowOn, type FollowedOrder, type SideEffects, recoveryText } from "./side-effects.ts";

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

export const skippedSchema = z
  .array(
    z.strictObject({
      lineItemId: z.string(),
      variantId: z.string(),
      reason: z.enum(["already-synced", "custom-item", "guard-skipped", "nothing-received", "no-location"]),
    }),
  )
  .meta({ description: "Lines that were not pushed, and why." });

export type Skipped = z.output<typeof skippedSchema>;

export const skippedJson = (skipped: SyncDecision["skipped"]): Skipped =>
  skipped.map(({ line, reason }) => ({ lineItemId: line.poLineItemId, variantId: line.variantId, reason }));

/** How long a caller waits before it asks again whether a push is known. */
const inFlightRetryAfterMs = 1_000;

/**
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT  a push of the order has no known outcome yet (C43).
 */
export async function refuseWhileInFlight(tx: Tx, call: Call, order: PurchaseOrder): Promise<void> {
  if (!(await isPushInFlight(tx, call.shop.shopId, order.purchaseOrderId))) return;
  throw new Fault("ON_HAND_SYNC_IN_FLIGHT", `A stock sync of ${order.poNumber} is still running.`, {
    action: "Wait and repeat the same call.",
    retryAfterMs: inFlightRetryAfterMs,
  });
}

/** A push as it was asked for. */
export interface AskedPush {
  readonly purchaseOrderId: string;
  /** Null when nothing was to be pushed. */
  readonly effectId: string | null;
  /** The lines that are pushed, as they stood then. */
  readonly lines: readonly LineItem[];
  /** Lines that needed it and that the caller had skipped. */
  readonly guardSkipped: readonly LineItem[];
  /** References that were settled before. */
  readonly settledReferences: ReadonlySet<string>;
}

/** Remembers what a push was asked for, inside the change that asked. `lines` stand as the change leaves them. */
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

/** Between two looks at whether something has landed: at first, and once it takes long, since each may ask the storefront. */
const pollMinMs = 100;

const pollMaxMs = 2_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const pending: EffectOutcome = { state: "pending" };

/**
 * Waits until every line of the push has landed and can be read at the storefront, or has failed, at most the shop's
 * `confirmationWaitMs`.
 */
export async function confirmPush(call: Call, asked: AskedPush): Promise<Confirmation> {
  const { confirmationWaitMs } = call.shop;
  const deadlineMs = call.clock.now() + confirmationWaitMs;
  const verified = new Set<string>();
  let pollMs = pollMinMs;
  // Steps are counted beside the clock, so that the wait ends under a clock that stands still.
  for (let waitedMs = 0; ; waitedMs += pollMs, pollMs = Math.min(2 * pollMs, pollMaxMs)) {
    const leftMs = Math.max(0, Math.min(deadlineMs - call.clock.now(), confirmationWaitMs - waitedMs));
    const lines = await look(call, asked, verified, leftMs);
    const done = lines.every((line) => line.status !== "pending");
    if (done || leftMs === 0) return { status: statusOf(lines), lines: [...lines, ...skippedLines(asked)] };
    await sleep(Math.min(pollMs, leftMs));
  }
}

type ConfirmationLine = Confirmation["lines"][number];

/** How each line of the push stands by now. `verified` gathers the lines that were read back. */
async function look(
  call: Call,
  asked: AskedPush,
  verified: Set<string>,
  waitMs: number,
): Promise<readonly ConfirmationLine[]> {
  const { effectId, purchaseOrderId } = asked;
  if (effectId === null) return [];
  const outcome = (await call.settle([effectId], waitMs)).get(effectId) ?? pending;
  const { order, pushes } = await call.read(async (tx) => ({
    order: await loadOrder(tx, call.shop.shopId, purchaseOrderId),
    pushes: (await loadStockPushes(tx, call.shop.shopId, purchaseOrderId)).filter(
      (push) => !asked.settledReferences.has(push.reference),
    ),
  }));
  const refusals = new Map(pushes.flatMap(refusalsOf));
  const now = new Map((order?.lineItems ?? []).map((line) => [line.poLineItemId, line]));
  const taken = new Set(pushes.flatMap((push) => push.items.flatMap(takenOf)));
  const landed = asked.lines.filter(
    (line) => taken.has(line.poLineItemId) && isThrough(line, now.get(line.poLineItemId)),
  );
  const unread = landed.map((line) => line.poLineItemId).filter((id) => !verified.has(id));
  for (const id of await readBack(call, asked, pushes, unread, Math.max(waitMs, pollMaxMs))) verified.add(id);
  return asked.lines.map((line) => {
    const told = (status: ConfirmationLine["status"], reason: string | null): ConfirmationLine => ({
      lineItemId: line.poLineItemId,
      variantId: line.variantId,
      status,
      quantity: quantityToNumber(outstanding(line)),
      reason,
    });
    if (landed.includes(line))
      return verified.has(line.poLineItemId)
        ? told("verified", null)
        : told("pending", "The storefront took the change; it cannot be read there yet.");
    switch (outcome.state) {
      case "pending":
        return told("pending", "The storefront has not taken the change yet; it is tried again.");
      case "failed":
        return told("failed", refusals.get(line.poLineItemId) ?? outcome.detail);
      case "applied":
      case "skipped":
        return told("failed", refusals.get(line.poLineItemId) ?? "The storefront did not take the change.");
    }
  });
}

/** Line → why the storefront did not take its change. */
const refusalsOf = (push: StockPush): readonly (readonly [string, string])[] =>
  push.items.flatMap(({ lines, result }) =>
    result?.outcome === "rejected" ? lines.map((line) => [line.poLineItemId, result.message] as const) : [],
  );

const outstanding = (line: LineItem) => asQuantity(line.quantityReceived - line.quantitySynced);

/** Lines of an item that the storefront has taken. */
const takenOf = ({ lines, result }: StockPush["items"][number]): readonly string[] =>
  result?.outcome === "landed" ? lines.map((line) => line.poLineItemId) : [];

/** Whether the storefront has what the line was short of, or is in step with what the line has become since. */
function isThrough(then: LineItem, now: LineItem | undefined): boolean {
  if (now === undefined) return false;
  if (!needsSync(now)) return true;
  const wanted = outstanding(then);
  const moved = now.quantitySynced - then.quantitySynced;
  return wanted > 0 ? moved >= wanted : moved <= wanted;
}

/** Which of these lines' changes can be read at the storefront. */
async function readBack(
  call: Call,
  asked: AskedPush,
  pushes: readonly StockPush[],
  poLineItemIds: readonly string[],
  limitMs: number,
): Promise<readonly string[]> {
  const wanted = new Set(poLineItemIds);
  const unread = new Set<string>();
  for (const push of pushes) {
    const linesOf = (item: StockPush["items"][number]): readonly string[] =>
      takenOf(item).filter((id) => wanted.has(id));
    if (!push.items.some((item) => linesOf(item).length > 0)) continue;
    const seen = await readOnHand(call, asked.purchaseOrderId, push, limitMs);
    for (const [index, item] of push.items.entries())
      if (seen[index] !== true) for (const id of linesOf(item)) unread.add(id);
  }
  return poLineItemIds.filter((id) => !unread.has(id));
}

/** Which items of a push can be read; none while the storefront does not answer. */
async function readOnHand(
  call: Call,
  purchaseOrderId: string,
  push: StockPush,
  limitMs: number,
): Promise<readonly boolean[]> {
  const changes = push.items.map(({ variantId, locationId, delta }) => ({ variantId, locationId, delta }));
  const context = { reference: push.reference, documentUri: documentUri(call, purchaseOrderId) };
  try {
    const levels = await withinLimit(() => call.storefront.readOnHand(changes, context), limitMs);
    return levels.map((level) => level.verified);
  } catch (error) {
    if (error instanceof StorefrontError) return [];
    throw error;
  }
}

const documentUri = (call: Call, purchaseOrderId: string): string =>
  `openpo://shops/${call.shop.shopId}/purchase-orders/${purchaseOrderId}`;

function statusOf(lines: readonly ConfirmationLine[]): Confirmation["status"] {
  if (lines.some((line) => line.status === "pending")) return "timed-out";
  const verified = lines.filter((line) => line.status === "verified").length;
  if (verified === lines.length) return "verified";
  return verified === 0 ? "failed" : "partial";
}

const skippedLines = (asked: AskedPush): readonly ConfirmationLine[] =>
  asked.guardSkipped.map((line) => ({
    lineItemId: line.poLineItemId,
    variantId: line.variantId,
    status: "skipped",
    quantity: quantityToNumber(outstanding(line)),
    reason: "guard-skipped",
  }));

/** The storefrontSync slot of a call that waited (C39). */
export function waitedSlot(confirmation: Confirmation): NonNullable<SideEffects["storefrontSync"]> {
  const failed = confirmation.lines.filter((line) => line.status === "failed");
  const syncedLineItemCount = confirmation.lines.filter(
    (line) => line.status === "verified" || line.status === "pending",
  ).length;
  if (failed.length > 0) {
    const reasons = new Set(failed.map((line) => line.reason ?? "unknown"));
    return { status: "failed", syncedLineItemCount, detail: [...reasons].join(" ") };
  }
  return { status: syncedLineItemCount > 0 ? "queued" : "skipped", syncedLineItemCount };
}

/** Follow-on work of a call that waited for a push; `others` is what it asked for beside. */
export function waitedFollowOn(confirmation: Confirmation, others: SideEffects, order: FollowedOrder): FollowOn {
  const sideEffects: SideEffects = { storefrontSync: waitedSlot(confirmation), ...others };
  const recovery = recoveryText(sideEffects, order);
  return recovery === null ? { sideEffects } : { sideEffects, recovery };
}
