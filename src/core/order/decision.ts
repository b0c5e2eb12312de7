/**
 * What every decision has in common: version, totals, the effects on incoming stock, and moves (P4, P5, P6, C38, C41).
 */
import type { Effect } from "./effect.ts";
import { incomingDeltas, incomingEffects } from "../goods/incoming.ts";
import { orderTotals } from "./lines.ts";
import type {
  Decision,
  FieldChange,
  LogDraft,
  PurchaseOrder,
  ReceiptDraft,
  ShopFacts,
  Status,
} from "./purchase-order.ts";
import { statusesOnTheWay } from "./status.ts";

/** What a rule is told beside the order: the shop's facts and the time. */
export interface DecisionContext {
  readonly shop: ShopFacts;
  readonly nowMs: number;
}

/** Nothing changes: no version, no log, no effects. */
export const unchanged = (order: PurchaseOrder): Decision => ({ next: order, log: [], receipts: [], effects: [] });

/**
 * The change from `before` (null: the order is new) to `draft`: raises the version, sets `updatedAtMs`, recomputes the totals, and
 * adds the effects by which the storefront's incoming quantities and tags follow the ledger.
 *
 * @throws Fault INVALID_INPUT when the total passes its limit.
 */
export function decision(
  before: PurchaseOrder | null,
  draft: PurchaseOrder,
  what: {
    readonly log: readonly LogDraft[];
    readonly receipts?: readonly ReceiptDraft[];
    readonly effects?: readonly Effect[];
  },
  context: DecisionContext,
): Decision {
  const next: PurchaseOrder = {
    ...draft,
    ...orderTotals(draft, draft.lineItems, context.shop),
    version: (before?.version ?? 0) + 1,
    updatedAtMs: context.nowMs,
  };
  return {
    next,
    log: what.log,
    receipts: what.receipts ?? [],
    effects: [...(what.effects ?? []), ...incomingEffects(incomingDeltas(before, next), context.shop.onOrderTag)],
  };
}

/**
 * The order after a move: the status it had becomes `previousStatus` (C22). A move forward sets the instants of the statuses that it
 * reaches or passes. A move back, or a return from a held status, sets none and clears none (D21).
 */
export function moved(order: PurchaseOrder, to: Status, nowMs: number): PurchaseOrder {
  const [from, until] = [statusesOnTheWay.indexOf(order.status), statusesOnTheWay.indexOf(to)];
  const at = (stage: Status, before: number | null): number | null => {
    const place = statusesOnTheWay.indexOf(stage);
    return from !== -1 && from < place && place <= until ? nowMs : before;
  };
  return {
    ...order,
    status: to,
    previousStatus: order.status,
    sentAtMs: at("Sent", order.sentAtMs),
    confirmedAtMs: at("Confirmed", order.confirmedAtMs),
    receivedAtMs: at("Received", order.receivedAtMs),
    completedAtMs: at("Completed", order.completedAtMs),
    cancelledAtMs: to === "Cancelled" ? nowMs : order.cancelledAtMs,
  };
}

/** The log's field change of a move. */
export const statusChange = (from: Status, to: Status): FieldChange => ({
  field: "status",
  poLineItemId: null,
  before: from,
  after: to,
});
