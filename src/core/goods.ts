/**
 * Everything that moves goods: confirming what the supplier will send, receiving, taking back, completing (spec "Moves made by other
 * operations"; C24–C29).
 *
 * Owns: quantities confirmed and received, the moves that follow from them, receipts, what to push. Does not own: moves asked for by
 * name (lifecycle.ts), edits of lines (edit.ts), costs and the storefront's answers (storefront-plan.ts).
 *
 * A call is all or nothing: one bad line changes nothing (C15). Lines are named once a call; the door's schema refuses repeats.
 */
import { type DecisionContext, decision, moved, unchanged } from "./decision.ts";
import type { Effect } from "./effect.ts";
import { Fault, invalidField } from "./fault.ts";
import { statusChange } from "./status.ts";
import { accountedQuantity, baseQuantity, isCustom, isWhollyCancelled, pendingQuantity } from "./lines.ts";
import { asQuantity, type Quantity, quantityToNumber } from "./money.ts";
import type {
  Decision,
  FieldChange,
  LineItem,
  PurchaseOrder,
  ReceiptDraft,
  Status,
  StorefrontSyncState,
} from "./purchase-order.ts";
import { leavingAlone, needsSync, storefrontSyncState } from "./storefront-plan.ts";

/** What a goods rule is told beside the order. */
export interface GoodsContext extends DecisionContext {
  /** Variants that the caller wants recorded without the storefront (C44 "skip"). */
  readonly skippedVariantIds: ReadonlySet<string>;
}

export interface StatusMove {
  readonly before: Status;
  readonly after: Status;
  /** Whether the quantities moved the order by themselves. */
  readonly autoTransitioned: boolean;
}

/** What becomes of the storefront's stock: a push is on its way, auto-sync is off, or there is nothing to push. */
export type StockSync = "queued" | "disabled" | "skipped";

/** A decision, and what its answer tells beside the order. */
export interface GoodsDecision extends Decision {
  readonly status: StatusMove;
  /** Lines whose totals changed, in the order's order. */
  readonly updatedLineItemIds: readonly string[];
  readonly stockSync: StockSync;
}

export interface ConfirmedTotal {
  readonly lineItemId: string;
  readonly quantityConfirmed: Quantity;
}

/** New totals of a line; what is left out stays. */
export interface ReceivedTotal {
  readonly lineItemId: string;
  readonly quantityReceived: Quantity;
  readonly quantityRejected?: Quantity | undefined;
  readonly quantityCancelled?: Quantity | undefined;
}

export interface TakenBack {
  readonly lineItemId: string;
  /** How much to take back; above 0. */
  readonly quantity: Quantity;
}

/**
 * Records what the supplier confirmed, as new totals; 0 un-confirms, repeating changes nothing. The status follows from the lines:
 * Sent, Partially Confirmed or Confirmed. `confirmAll` confirms every line that is not wholly cancelled and begins work.
 *
 * @throws Fault INVALID_INPUT  the status does not take it, a line is not on the order, or a total is above what was ordered or below
 *                              what is already accounted for.
 * Source: spec "Rules attached to the endpoints" 2; C24.
 */
export function decideConfirm(
  order: PurchaseOrder,
  input: { readonly confirmAll: true } | { readonly lines: readonly ConfirmedTotal[] },
  context: GoodsContext,
): GoodsDecision {
  refuseUnless(confirmable, order, "confirmed");
  const edits =
    "lines" in input
      ? confirmedTotals(order, input.lines)
      : new Map(
          order.lineItems
            .filter((line) => !isWhollyCancelled(line))
            .map((line) => [line.poLineItemId, { quantityConfirmed: line.quantityOrdered }]),
        );
  const { lineItems, changes } = edited(order, edits, context.nowMs);
  if (order.status === "In Progress") {
    if (changes.length === 0) return nothing(order);
    throw new Fault("INVALID_INPUT", "Confirmed quantities do not change while the order is In Progress.", {
      action: "Move it back to Confirmed first with POST /status, then confirm, then move it to In Progress.",
    });
  }
  const to = "lines" in input ? confirmedStatus(lineItems) : "In Progress";
  return concluded(order, lineItems, to, { action: "confirm", done: "Confirmed", changes }, context);
}

function confirmedTotals(order: PurchaseOrder, lines: readonly ConfirmedTotal[]): Edits {
  return new Map(
    named(order, lines).map(({ line, entry, path }) => {
      const { quantityConfirmed } = entry;
      const field = `${path}/quantityConfirmed`;
      if (quantityConfirmed > line.quantityOrdered)
        throw invalidField(
          field,
          `${shown(quantityConfirmed)} is above the ordered quantity, ${shown(line.quantityOrdered)}`,
          "Confirm at most what was ordered, or raise quantityOrdered with PATCH /line-items first.",
        );
      const base = baseQuantity({ ...line, quantityConfirmed });
      if (base < baseQuantity(line) && base < accountedQuantity(line))
        throw invalidField(
          field,
          `${shown(quantityConfirmed)} is below what is already received, rejected or cancelled, ${shown(accountedQuantity(line))}`,
          "Lower quantityRejected or quantityCancelled with PATCH /line-items first, or confirm more.",
        );
      return [line.poLineItemId, { quantityConfirmed }];
    }),
  );
}

/** Where the confirmed quantities alone put an order on which work has not begun. */
function confirmedStatus(lineItems: readonly LineItem[]): Status {
  const confirmed = lineItems.some((line) => line.quantityConfirmed > 0);
  if (!confirmed) return "Sent";
  return lineItems.every((line) => isWhollyCancelled(line) || line.quantityConfirmed === line.quantityOrdered)
    ? "Confirmed"
    : "Partially Confirmed";
}

/**
 * Records new totals received, and rejected or cancelled ones where given; repeating the call changes nothing. The order becomes
 * Received when nothing is pending on any line, else Partially Received. A line whose totals stay is not held to the cap again.
 *
 * @throws Fault INVALID_INPUT  the status does not take it, a line is not on the order, a total is lowered below what is already
 *                              synced, or the totals are above what was confirmed (ordered, if never confirmed) and
 *                              `allowOverReceipt` is false.
 * Source: spec "Rules attached to the endpoints" 1; C25, C29.
 */
export function decideReceive(
  order: PurchaseOrder,
  input: { readonly lines: readonly ReceivedTotal[]; readonly allowOverReceipt: boolean },
  context: GoodsContext,
): GoodsDecision {
  refuseUnless(receivable, order, "received");
  const edits: Edits = new Map(
    named(order, input.lines).map(({ line, entry, path }) => {
      const totals = {
        quantityReceived: entry.quantityReceived,
        quantityRejected: entry.quantityRejected ?? line.quantityRejected,
        quantityCancelled: entry.quantityCancelled ?? line.quantityCancelled,
      };
      const next = { ...line, ...totals };
      if (next.quantityReceived < line.quantityReceived && next.quantityReceived < line.quantitySynced)
        throw invalidField(
          `${path}/quantityReceived`,
          `${shown(next.quantityReceived)} is below what is already synced to the storefront, ${shown(line.quantitySynced)}`,
          "Take goods back with POST /unreceive.",
        );
      const same =
        next.quantityReceived === line.quantityReceived &&
        next.quantityRejected === line.quantityRejected &&
        next.quantityCancelled === line.quantityCancelled;
      if (!same && !input.allowOverReceipt && accountedQuantity(next) > baseQuantity(line))
        throw invalidField(
          `${path}/quantityReceived`,
          `received + rejected + cancelled would be ${shown(accountedQuantity(next))}, above the ${
            line.quantityConfirmed > 0 ? "confirmed" : "ordered"
          } quantity, ${shown(baseQuantity(line))}`,
          "Correct the totals, or send allowOverReceipt: true to take more than was expected.",
        );
      return [line.poLineItemId, totals];
    }),
  );
  const { lineItems, changes } = edited(order, edits, context.nowMs);
  if (changes.length === 0) return nothing(order);
  const to = lineItems.every((line) => pendingQuantity(line) === 0) ? "Received" : "Partially Received";
  const receipts = receiptsOf("receive", null, order, lineItems);
  return concluded(order, lineItems, to, { action: "receive", done: "Received goods on", changes, receipts }, context);
}

/**
 * Takes received goods back: each amount is subtracted, so repeating takes back again. It may go below what is synced; the
 * storefront is then told of the difference. Nothing left received → In Progress; something pending → Partially Received.
 *
 * @throws Fault INVALID_INPUT  the status does not take it, a line is not on the order, or more is taken back than was received.
 * Source: C26.
 */
export function decideUnreceive(
  order: PurchaseOrder,
  input: { readonly lines: readonly TakenBack[]; readonly reason: string | null },
  context: GoodsContext,
): GoodsDecision {
  refuseUnless(receivable, order, "un-received");
  const edits: Edits = new Map(
    named(order, input.lines).map(({ line, entry, path }) => {
      if (entry.quantity > line.quantityReceived)
        throw invalidField(
          `${path}/quantity`,
          `${shown(entry.quantity)} is more than was received, ${shown(line.quantityReceived)}`,
          "The quantity is the amount to take back, not a new total.",
        );
      return [line.poLineItemId, { quantityReceived: asQuantity(line.quantityReceived - entry.quantity) }];
    }),
  );
  const { lineItems, changes } = edited(order, edits, context.nowMs);
  const receipts = receiptsOf("unreceive", input.reason, order, lineItems);
  const what = { action: "unreceive", done: "Took goods back on", changes, receipts, reason: input.reason };
  return concluded(order, lineItems, receivedStatus(lineItems), what, context);
}

function receivedStatus(lineItems: readonly LineItem[]): Status {
  if (lineItems.every((line) => line.quantityReceived === 0)) return "In Progress";
  return lineItems.every((line) => pendingQuantity(line) === 0) ? "Received" : "Partially Received";
}

/**
 * Receives everything outstanding that was confirmed and pushes it, whatever `autoSyncOnReceiving` says, without moving the order:
 * /quick-complete moves it once stock and costs are through, so that until then the same call can be made again. A repeat receives
 * nothing and pushes what is left.
 *
 * @throws Fault INVALID_INPUT       the order is not In Progress.
 * @throws Fault NOTHING_TO_RECEIVE  no line has a confirmed quantity.
 * Source: spec "Moves made by other operations"; C28.
 */
export function decideQuickReceive(order: PurchaseOrder, context: GoodsContext): GoodsDecision {
  if (order.status !== "In Progress")
    throw new Fault(
      "INVALID_INPUT",
      `An order that is ${order.status} cannot be quick-completed, only one In Progress.`,
      {
        action:
          order.status === "Received" || order.status === "Partially Received"
            ? "Use POST /complete."
            : (wayToGoods(order) ?? "Read the order again before deciding."),
      },
    );
  if (!order.lineItems.some((line) => line.quantityConfirmed > 0))
    throw new Fault("NOTHING_TO_RECEIVE", "No line of the order has a confirmed quantity.", {
      action: "Move the order back to Confirmed or Sent and confirm quantities, or record goods with POST /receive.",
    });
  const edits: Edits = new Map(
    order.lineItems
      .filter((line) => line.quantityConfirmed > 0)
      .map((line) => [
        line.poLineItemId,
        { quantityReceived: asQuantity(line.quantityReceived + pendingQuantity(line)) },
      ]),
  );
  const { lineItems, changes } = edited(order, edits, context.nowMs);
  const pushed = syncableLines({ ...order, lineItems }, context).map((line) => line.poLineItemId);
  if (changes.length === 0) return syncing(order, pushed, context);
  const receipts = receiptsOf("quick-complete", null, order, lineItems);
  const what = { action: "quick-complete", done: "Received everything outstanding on", changes, receipts, pushed };
  return concluded(order, lineItems, order.status, what, context);
}

/**
 * Completes the order; quantities outstanding stay on its lines. The costs have been written before.
 *
 * @param settleCosts whether cost rows wait to be read back.
 * @throws Fault INVALID_INPUT  the order is neither Received nor Partially Received.
 * Source: spec "Moves made by other operations"; C27.
 */
export function decideComplete(order: PurchaseOrder, settleCosts: boolean, context: DecisionContext): GoodsDecision {
  refuseUnless(completable, order, "completed");
  return completed(order, settleCosts, "complete", context);
}

/**
 * Completes an order whose goods /quick-complete has just received.
 *
 * @throws Fault INVALID_INPUT  the order is no longer In Progress.
 * Source: C28.
 */
export function decideQuickComplete(order: PurchaseOrder, settleCosts: boolean, context: GoodsContext): GoodsDecision {
  if (order.status !== "In Progress")
    throw new Fault("INVALID_INPUT", `Meanwhile the order was moved to ${order.status}.`, {
      action: "Read the order again before deciding.",
    });
  const decided = completed(order, settleCosts, "quick-complete", context);
  return { ...decided, ...leavingAlone(decided, context.skippedVariantIds) };
}

function completed(
  order: PurchaseOrder,
  settleCosts: boolean,
  action: string,
  context: DecisionContext,
): GoodsDecision {
  const effects: readonly Effect[] = settleCosts
    ? [{ kind: "settle-costs", purchaseOrderId: order.purchaseOrderId }]
    : [];
  const log = {
    action,
    message: `Completed from ${order.status}.`,
    changes: [statusChange(order.status, "Completed")],
  };
  return {
    ...decision(order, moved(order, "Completed", context.nowMs), { log: [log], effects }, context),
    status: { before: order.status, after: "Completed", autoTransitioned: action === "quick-complete" },
    updatedLineItemIds: [],
    stockSync: "skipped",
  };
}

/** Why a line is not pushed. */
export type SyncSkipReason = "custom-item" | "nothing-received" | "already-synced" | "guard-skipped" | "no-location";

export interface SyncDecision extends GoodsDecision {
  /** Lines that are pushed. */
  readonly pushedLineItemIds: readonly string[];
  readonly skipped: readonly { readonly line: LineItem; readonly reason: SyncSkipReason }[];
}

/**
 * Brings the storefront in step with what was received: pushes every line wanted that needs it, and says of the others why not.
 *
 * @param lineItemIds the lines wanted; null for all.
 * @throws Fault INVALID_INPUT  the order is not Sent to Received, or a line is not on the order.
 * Source: spec "Storefront sync state", "Rules attached to the endpoints" 4; C43.
 */
export function decideStorefrontSync(
  order: PurchaseOrder,
  lineItemIds: readonly string[] | null,
  context: GoodsContext,
): SyncDecision {
  refuseUnless(syncable, order, "synced with the storefront");
  const wanted = lineItemIds === null ? order.lineItems : namedIds(order, lineItemIds);
  const skipped = wanted.flatMap((line) => {
    const reason = skipReason(line, order, context);
    return reason === null ? [] : [{ line, reason }];
  });
  const left = new Set(skipped.map(({ line }) => line));
  const pushedLineItemIds = wanted.filter((line) => !left.has(line)).map((line) => line.poLineItemId);
  return { ...syncing(order, pushedLineItemIds, context), pushedLineItemIds, skipped };
}

function skipReason(line: LineItem, order: PurchaseOrder, context: GoodsContext): SyncSkipReason | null {
  if (isCustom(line)) return "custom-item";
  if (!needsSync(line)) return line.quantityReceived === 0 ? "nothing-received" : "already-synced";
  if (context.skippedVariantIds.has(line.variantId)) return "guard-skipped";
  return order.locationId === null ? "no-location" : null;
}

/** Lines of the order that a push would carry. */
export const syncableLines = (order: PurchaseOrder, context: GoodsContext): readonly LineItem[] =>
  order.lineItems.filter((line) => skipReason(line, order, context) === null);

/**
 * Forgets failed and unknown attempts, never what is synced: what was not pushed may be pushed afresh.
 *
 * Source: spec "Storefront sync state"; C43.
 */
export function decideSyncReset(order: PurchaseOrder, context: DecisionContext): GoodsDecision {
  const state = storefrontSyncState(order.lineItems, { inFlight: false, failed: false });
  if (state === order.storefrontSyncState) return nothing(order);
  const log = {
    action: "storefront-sync-reset",
    message: "Cleared the storefront sync attempts.",
    changes: [syncStateChange(order, state)],
  };
  return {
    ...nothing(order),
    ...decision(order, { ...order, storefrontSyncState: state }, { log: [log] }, context),
  };
}

const syncStateChange = (order: PurchaseOrder, after: StorefrontSyncState): FieldChange => ({
  field: "storefrontSyncState",
  poLineItemId: null,
  before: order.storefrontSyncState,
  after,
});

/** Pushes lines of an order that does not change otherwise. */
function syncing(order: PurchaseOrder, poLineItemIds: readonly string[], context: DecisionContext): GoodsDecision {
  if (poLineItemIds.length === 0) return nothing(order);
  const log = {
    action: "storefront-sync",
    message: `Pushing ${linesCounted(poLineItemIds.length)} to the storefront.`,
    changes: [syncStateChange(order, "in-flight")],
  };
  const effects: readonly Effect[] = [{ kind: "push-stock", purchaseOrderId: order.purchaseOrderId, poLineItemIds }];
  return {
    ...nothing(order),
    ...decision(order, { ...order, storefrontSyncState: "in-flight" }, { log: [log], effects }, context),
    stockSync: "queued",
  };
}

const linesCounted = (count: number): string => (count === 1 ? "1 line" : `${count} lines`);

const confirmable: ReadonlySet<Status> = new Set(["Sent", "Partially Confirmed", "Confirmed", "In Progress"]);
const receivable: ReadonlySet<Status> = new Set(["In Progress", "Partially Received", "Received"]);
const completable: ReadonlySet<Status> = new Set(["Partially Received", "Received"]);
const syncable: ReadonlySet<Status> = new Set([
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
  "Received",
]);

/** Whether storefront-sync takes the order, from Sent to Received. */
export const isSyncable = (order: Pick<PurchaseOrder, "status">): boolean => syncable.has(order.status);

/** @param done what cannot be done to the order: `received`. */
function refuseUnless(accepted: ReadonlySet<Status>, order: PurchaseOrder, done: string): void {
  if (accepted.has(order.status)) return;
  const way = accepted === completable && order.status === "In Progress" ? completeWay : wayToGoods(order);
  throw new Fault(
    "INVALID_INPUT",
    `An order that is ${order.status} cannot be ${done}; it must be ${[...accepted].join(" or ")}.`,
    way === null ? {} : { action: way },
  );
}

const completeWay = "Record goods with POST /receive, or receive everything and complete with POST /quick-complete.";

/** The next step that brings an order to where goods move. */
function wayToGoods(order: PurchaseOrder): string | null {
  switch (order.status) {
    case "Draft":
      return "Move it to Sent with POST /status first.";
    case "Sent":
    case "Partially Confirmed":
      return "Confirm it with POST /confirm first (confirmAll: true moves it to In Progress).";
    case "Confirmed":
      return "Move it to In Progress with POST /status first.";
    case "Completed":
      return "Reopen it with POST /status first (In Progress, Partially Received or Received).";
    case "Cancelled":
    case "On Hold":
    case "Disputed":
      return `Move it back to ${order.previousStatus} with POST /status first.`;
    case "In Progress":
    case "Partially Received":
    case "Received":
      return "Goods have been recorded; correct them with POST /receive or POST /unreceive.";
  }
}

// What all goods rules share.

/** New totals of one line. */
type Totals = Partial<
  Pick<LineItem, "quantityConfirmed" | "quantityReceived" | "quantityRejected" | "quantityCancelled">
>;
type Edits = ReadonlyMap<string, Totals>;

const shown = (quantity: Quantity): string => String(quantityToNumber(quantity));

/** The lines that the entries name, with their place in the request. */
function named<Entry extends { readonly lineItemId: string }>(
  order: PurchaseOrder,
  entries: readonly Entry[],
): readonly { readonly line: LineItem; readonly entry: Entry; readonly path: string }[] {
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const found = entries.map((entry, index) => {
    const path = `/lines/${index}`;
    return { line: lineOf(lines, entry.lineItemId, `${path}/lineItemId`), entry, path };
  });
  if (new Set(found.map(({ line }) => line)).size < found.length) throw new TypeError("A line was named twice.");
  return found;
}

/** The lines with these ids, which stand in the request as `lineItemIds`. */
function namedIds(order: PurchaseOrder, lineItemIds: readonly string[]): readonly LineItem[] {
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  return lineItemIds.map((lineItemId, index) => lineOf(lines, lineItemId, `/lineItemIds/${index}`));
}

function lineOf(lines: ReadonlyMap<string, LineItem>, lineItemId: string, path: string): LineItem {
  const line = lines.get(lineItemId);
  if (line !== undefined) return line;
  throw invalidField(
    path,
    `${lineItemId} is not a line of the order`,
    "Nothing was changed. Read the order's line items and name them by poLineItemId.",
  );
}

/** The lines with the new totals, and what that changes. */
function edited(
  order: PurchaseOrder,
  edits: Edits,
  nowMs: number,
): { readonly lineItems: readonly LineItem[]; readonly changes: readonly FieldChange[] } {
  const changes: FieldChange[] = [];
  const lineItems = order.lineItems.map((line) => {
    const next = { ...line, ...edits.get(line.poLineItemId) };
    const moves = totals.filter((field) => next[field] !== line[field]);
    for (const field of moves)
      changes.push({
        field,
        poLineItemId: line.poLineItemId,
        before: quantityToNumber(line[field]),
        after: quantityToNumber(next[field]),
      });
    return moves.length === 0 ? line : { ...next, updatedAtMs: nowMs };
  });
  return { lineItems, changes };
}

const totals = ["quantityConfirmed", "quantityReceived", "quantityRejected", "quantityCancelled"] as const;

function receiptsOf(
  source: ReceiptDraft["source"],
  reason: string | null,
  order: PurchaseOrder,
  lineItems: readonly LineItem[],
): readonly ReceiptDraft[] {
  const lines = lineItems.flatMap((line, index) => {
    const quantityDelta = asQuantity(line.quantityReceived - (order.lineItems[index]?.quantityReceived ?? 0));
    return quantityDelta === 0
      ? []
      : [
          {
            poLineItemId: line.poLineItemId,
            variantId: line.variantId,
            quantityDelta,
            quantityReceivedAfter: line.quantityReceived,
          },
        ];
  });
  return lines.length === 0 ? [] : [{ source, reason, lines }];
}

const nothing = (order: PurchaseOrder): GoodsDecision => ({
  ...unchanged(order),
  status: { before: order.status, after: order.status, autoTransitioned: false },
  updatedLineItemIds: [],
  stockSync: "skipped",
});

/** Ends a rule that changed totals, the status or both. */
function concluded(
  order: PurchaseOrder,
  lineItems: readonly LineItem[],
  to: Status,
  what: {
    readonly action: string;
    /** `Received goods on`, to be followed by the number of lines. */
    readonly done: string;
    readonly changes: readonly FieldChange[];
    readonly receipts?: readonly ReceiptDraft[];
    readonly reason?: string | null;
    /** Lines to push in place of those that follow from the change. */
    readonly pushed?: readonly string[];
  },
  context: GoodsContext,
): GoodsDecision {
  const updated = new Set(what.changes.flatMap((change) => change.poLineItemId ?? []));
  const moves = to !== order.status;
  if (updated.size === 0 && !moves) return nothing(order);
  const { poLineItemIds, stockSync } =
    what.pushed === undefined ? push(order, lineItems, what.action, context) : pushOf(what.pushed);
  const effects: readonly Effect[] =
    poLineItemIds.length === 0 ? [] : [{ kind: "push-stock", purchaseOrderId: order.purchaseOrderId, poLineItemIds }];
  const draft = {
    ...(moves ? moved(order, to, context.nowMs) : order),
    lineItems,
    storefrontSyncState: storefrontSyncState(lineItems, {
      inFlight: effects.length > 0 || order.storefrontSyncState === "in-flight",
      failed: order.storefrontSyncState === "failed",
    }),
  };
  const reason = (what.reason ?? null) === null ? "" : ` (${what.reason})`;
  const log = {
    action: what.action,
    message: `${what.done} ${linesCounted(updated.size)}${reason}${moves ? `; moved from ${order.status} to ${to}` : ""}.`,
    changes: moves ? [...what.changes, statusChange(order.status, to)] : what.changes,
  };
  const concludes = decision(
    order,
    draft,
    { log: [log], effects, ...(what.receipts === undefined ? {} : { receipts: what.receipts }) },
    context,
  );
  return {
    ...leavingAlone(concludes, context.skippedVariantIds),
    status: { before: order.status, after: to, autoTransitioned: moves },
    updatedLineItemIds: order.lineItems.map((line) => line.poLineItemId).filter((id) => updated.has(id)),
    stockSync,
  };
}

interface Push {
  readonly poLineItemIds: readonly string[];
  readonly stockSync: StockSync;
}

const pushOf = (poLineItemIds: readonly string[]): Push => ({
  poLineItemIds,
  stockSync: poLineItemIds.length > 0 ? "queued" : "skipped",
});

/**
 * The catalogue lines whose received quantity changed and that the storefront is told of now, or would be if auto-sync were on. Goods
 * taken back matter only below what is synced.
 */
function push(order: PurchaseOrder, lineItems: readonly LineItem[], action: string, context: GoodsContext): Push {
  if (order.locationId === null) return pushOf([]);
  const due = lineItems.filter((line, index) => {
    if (isCustom(line) || context.skippedVariantIds.has(line.variantId)) return false;
    if (line.quantityReceived === order.lineItems[index]?.quantityReceived) return false;
    return action !== "unreceive" || line.quantityReceived < line.quantitySynced;
  });
  if (due.length > 0 && !context.shop.autoSyncOnReceiving) return { poLineItemIds: [], stockSync: "disabled" };
  return pushOf(due.map((line) => line.poLineItemId));
}
