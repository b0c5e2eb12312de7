/**
 * What confirming, receiving, completing and syncing have in common: new totals of lines, the receipts and the push that follow, and
 * how such a decision ends.
 *
 * A call is all or nothing: one bad line changes nothing (C15). Lines are named once a call; the input schema refuses repeats.
 */
import { type DecisionContext, decision, moved, statusChange, unchanged } from "./decision.ts";
import type { Effect } from "./effect.ts";
import { invalidField } from "./fault.ts";
import { leavingAlone } from "./guard.ts";
import { isCustom } from "./lines.ts";
import { asQuantity, type Quantity, quantityToNumber } from "./money.ts";
import type { Decision, FieldChange, LineItem, PurchaseOrder, ReceiptDraft, Status } from "./purchase-order.ts";
import { storefrontSyncState } from "./stock-push.ts";

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

/** New totals of one line. */
type Totals = Partial<
  Pick<LineItem, "quantityConfirmed" | "quantityReceived" | "quantityRejected" | "quantityCancelled">
>;
export type Edits = ReadonlyMap<string, Totals>;

export const shown = (quantity: Quantity): string => String(quantityToNumber(quantity));

/** The lines that the entries name, with their place in the request. */
export function linesNamed<Entry extends { readonly lineItemId: string }>(
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
export function linesWithIds(order: PurchaseOrder, lineItemIds: readonly string[]): readonly LineItem[] {
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
export function edited(
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

export function receiptsOf(
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

export const nothing = (order: PurchaseOrder): GoodsDecision => ({
  ...unchanged(order),
  status: { before: order.status, after: order.status, autoTransitioned: false },
  updatedLineItemIds: [],
  stockSync: "skipped",
});

/** Ends a rule that changed totals, the status or both. */
export function concluded(
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

export const linesCounted = (count: number): string => (count === 1 ? "1 line" : `${count} lines`);
