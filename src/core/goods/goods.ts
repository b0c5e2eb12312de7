/**
 * Shared by confirming, receiving, completing and syncing: new totals of lines, the receipts and the push that
 * follow, and the end of the decision.
 *
 * A call is all or nothing: one bad line changes nothing (C15). A line is named once a call; the input schema refuses
 * repeats.
 */
import { mention } from "../order/guidance.ts";
import { type DecisionContext, decision, moved, statusChange, unchanged } from "../order/decision.ts";
import type { Effect } from "../order/effect.ts";
import { invalidField } from "../../base/fault.ts";
import { withoutStorefront } from "./guard.ts";
import { isCustom, linesCounted } from "../order/lines.ts";
import { asQuantity, quantityToNumber, quantityText } from "../money/money.ts";
import type { Decision, FieldChange, LineItem, PurchaseOrder, ReceiptDraft, Status } from "../order/purchase-order.ts";
import { isUnsettled } from "../order/status.ts";
import { needsSync, storefrontSyncState } from "../storefront/stock-push.ts";

/** Facts for these rules beside the order. */
export interface GoodsContext extends DecisionContext {
  /** Variants that the caller wants recorded without the storefront (C44 "skip"). */
  readonly skippedVariantIds: ReadonlySet<string>;
}

/** The order's status before and after a call. */
interface StatusMove {
  readonly before: Status;
  readonly after: Status;
  /** True if the quantities moved the order by themselves. */
  readonly autoTransitioned: boolean;
}

/**
 * State of the storefront's stock: a push is queued, auto-sync is off, or there is nothing to push. `failed`: nothing
 * new is to be pushed, and an earlier push of lines of the call failed.
 */
type StockSync = "queued" | "disabled" | "skipped" | "failed";

/** A decision, and what its answer tells beside the order. */
export interface GoodsDecision extends Decision {
  readonly status: StatusMove;
  /** Lines whose totals changed, in the order's order. */
  readonly updatedLineItemIds: readonly string[];
  readonly stockSync: StockSync;
}

const totalFields = ["quantityConfirmed", "quantityReceived", "quantityRejected", "quantityCancelled"] as const;

/** New totals by line id; what is left out stays. */
export type NewTotals = ReadonlyMap<string, Partial<Pick<LineItem, (typeof totalFields)[number]>>>;

/**
 * The lines that the entries of a request name, each with its JSON pointer in the request.
 *
 * @throws Fault INVALID_INPUT  an entry names no line of the order.
 */
export function linesNamed<Entry extends { readonly lineItemId: string }>(
  order: PurchaseOrder,
  entries: readonly Entry[],
): readonly { readonly line: LineItem; readonly entry: Entry; readonly path: string }[] {
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const named = entries.map((entry, index) => {
    const path = `/lines/${index}`;
    return { line: lineWithId(lines, entry.lineItemId, `${path}/lineItemId`), entry, path };
  });
  if (new Set(named.map(({ line }) => line)).size < named.length) throw new TypeError("A line was named twice.");
  return named;
}

/**
 * The lines with these ids, which a request names as `lineItemIds`.
 *
 * @throws Fault INVALID_INPUT  an id is of no line of the order.
 */
export function linesWithIds(order: PurchaseOrder, lineItemIds: readonly string[]): readonly LineItem[] {
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  return lineItemIds.map((lineItemId, index) => lineWithId(lines, lineItemId, `/lineItemIds/${index}`));
}

function lineWithId(lines: ReadonlyMap<string, LineItem>, lineItemId: string, path: string): LineItem {
  const line = lines.get(lineItemId);
  if (line !== undefined) return line;
  throw invalidField(
    path,
    `${lineItemId} is not a line of the order`,
    `Nothing was changed. Read the order's line items and name them by ${mention("shownLineId")}.`,
  );
}

/** The lines with the new totals, and what changed. A line whose totals stay is left as it is. */
export function withTotals(
  order: PurchaseOrder,
  totals: NewTotals,
  nowMs: number,
): { readonly lineItems: readonly LineItem[]; readonly changes: readonly FieldChange[] } {
  const changes: FieldChange[] = [];
  const lineItems = order.lineItems.map((line) => {
    const given = totals.get(line.poLineItemId);
    let isChanged = false;
    for (const field of totalFields) {
      const after = given?.[field] ?? line[field];
      if (after === line[field]) continue;
      isChanged = true;
      changes.push({
        field,
        poLineItemId: line.poLineItemId,
        before: quantityToNumber(line[field]),
        after: quantityToNumber(after),
      });
    }
    return isChanged ? { ...line, ...given, updatedAtMs: nowMs } : line;
  });
  return { lineItems, changes };
}

/** The receipt of what came in or was taken back, one at most: none when no received quantity changed. */
export function receiptsOf(
  source: ReceiptDraft["source"],
  reason: string | null,
  order: PurchaseOrder,
  lineItems: readonly LineItem[],
): readonly ReceiptDraft[] {
  const lines = lineItems.flatMap((line, index) => {
    const quantityDelta = asQuantity(line.quantityReceived - (order.lineItems[index]?.quantityReceived ?? 0));
    const { poLineItemId, variantId, quantityReceived: quantityReceivedAfter } = line;
    return quantityDelta === 0 ? [] : [{ poLineItemId, variantId, quantityDelta, quantityReceivedAfter }];
  });
  return lines.length === 0 ? [] : [{ source, reason, lines }];
}

/** Nothing changes. */
export const unchangedGoods = (order: PurchaseOrder): GoodsDecision => ({
  ...unchanged(order),
  status: { before: order.status, after: order.status, autoTransitioned: false },
  updatedLineItemIds: [],
  stockSync: "skipped",
});

/** Change that a rule has decided, as it reports it. */
interface GoodsChange {
  /** The log's machine word. */
  readonly action: string;
  /** `Received goods on`, to be followed by the number of lines. */
  readonly done: string;
  readonly changes: readonly FieldChange[];
  readonly receipts?: readonly ReceiptDraft[];
  readonly reason?: string | null;
  /** Lines to push in place of those that follow from the change. */
  readonly pushed?: readonly string[];
}

/** The decision of a rule that changed totals, the status or both; nothing changes when it changed neither. */
export function goodsDecision(
  order: PurchaseOrder,
  lineItems: readonly LineItem[],
  to: Status,
  change: GoodsChange,
  context: GoodsContext,
): GoodsDecision {
  const updated = new Set(change.changes.flatMap((each) => each.poLineItemId ?? []));
  const isMove = to !== order.status;
  if (updated.size === 0 && !isMove) return unchangedGoods(order);
  const { poLineItemIds, stockSync } =
    change.pushed === undefined ? pushAfter(order, lineItems, change.action, context) : pushOf(change.pushed);
  const { purchaseOrderId } = order;
  const pushes: readonly Effect[] =
    poLineItemIds.length === 0 ? [] : [{ kind: "push-stock", purchaseOrderId, poLineItemIds }];
  const effects: readonly Effect[] = isTakenBack(order, lineItems, context)
    ? [...pushes, { kind: "take-back-costs", purchaseOrderId }]
    : pushes;
  const draft = {
    ...(isMove ? moved(order, to, context) : order),
    lineItems,
    storefrontSyncState: storefrontSyncState(lineItems, {
      inFlight: pushes.length > 0 || order.storefrontSyncState === "in-flight",
      failed: order.storefrontSyncState === "failed",
    }),
  };
  const reason = (change.reason ?? null) === null ? "" : ` (${change.reason})`;
  const log = {
    action: change.action,
    message: `${change.done} ${linesCounted(updated.size)}${reason}${isMove ? `; moved from ${order.status} to ${to}` : ""}.`,
    changes: isMove ? [...change.changes, statusChange(order.status, to)] : change.changes,
  };
  const decided = decision(order, draft, { log: [log], effects, receipts: change.receipts ?? [] }, context);
  return {
    ...withoutStorefront(decided, context.skippedVariantIds),
    status: { before: order.status, after: to, autoTransitioned: isMove },
    updatedLineItemIds: order.lineItems.map((line) => line.poLineItemId).filter((id) => updated.has(id)),
    stockSync,
  };
}

/** True if goods were taken back that may be in a moving average. */
const isTakenBack = (order: PurchaseOrder, lineItems: readonly LineItem[], context: GoodsContext): boolean =>
  context.shop.costSyncMode === "moving-average" &&
  lineItems.some(
    (line, index) => !isCustom(line) && line.quantityReceived < (order.lineItems[index]?.quantityReceived ?? 0),
  );

interface Push {
  readonly poLineItemIds: readonly string[];
  readonly stockSync: StockSync;
}

const pushOf = (poLineItemIds: readonly string[]): Push => ({
  poLineItemIds,
  stockSync: poLineItemIds.length > 0 ? "queued" : "skipped",
});

/**
 * The push that follows from a change: of the catalogue lines whose received quantity changed. Goods taken back are
 * pushed only below what is synced, or where it is not known what the storefront has. With auto-sync off nothing is
 * pushed (C40).
 */
function pushAfter(order: PurchaseOrder, lineItems: readonly LineItem[], action: string, context: GoodsContext): Push {
  if (!context.shop.autoSyncOnReceiving) return { poLineItemIds: [], stockSync: "disabled" };
  if (order.locationId === null) return pushOf([]);
  const changed = lineItems.filter(
    (line, index) =>
      line !== order.lineItems[index] && !isCustom(line) && !context.skippedVariantIds.has(line.variantId),
  );
  const before = new Map(order.lineItems.map((line) => [line.poLineItemId, line.quantityReceived]));
  const due = changed.filter((line) => {
    if (line.quantityReceived === before.get(line.poLineItemId)) return false;
    return action !== "unreceive" || line.quantityReceived < line.quantitySynced || isUnsettled(line, context);
  });
  const isLeft = due.length === 0 && order.storefrontSyncState !== "in-flight" && changed.some(needsSync);
  return isLeft ? { poLineItemIds: [], stockSync: "failed" } : pushOf(due.map((line) => line.poLineItemId));
}

/** Lines that a text names. */
const namedLinesMax = 5;

/** Which lines' goods the storefront does not have, as a sentence, for an order of which it misses some. */
export function unsyncedText({ lineItems }: PurchaseOrder): string {
  const unsynced = lineItems.filter(needsSync);
  const named = unsynced
    .slice(0, namedLinesMax)
    .map(
      (line) =>
        `${line.poLineItemId} (${quantityText(line.quantityReceived)} received, ${quantityText(line.quantitySynced)} there)`,
    );
  const more = unsynced.length > namedLinesMax ? `, and ${unsynced.length - namedLinesMax} more` : "";
  return `Not at the storefront: ${linesCounted(unsynced.length)}, ${named.join(", ")}${more}.`;
}
