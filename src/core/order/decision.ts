/** Steps that every decision has: version, totals, the effects on incoming stock, and moves (P4, P5, P6, C38, C41). */
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import type { Effect } from "./effect.ts";
import { incomingDeltas, incomingEffects } from "../goods/incoming.ts";
import { moneyToNumber } from "../money/money.ts";
import { isSameFor, newRates, ratesAfter, ratesKept } from "./order-rates.ts";
import { shownRates } from "./purchase-order-fields.ts";
import type {
  Decision,
  FieldChange,
  LogDraft,
  PurchaseOrder,
  ReceiptDraft,
  ShopFacts,
  Status,
} from "./purchase-order.ts";
import { type PushFacts, statusesOnTheWay } from "./status.ts";
import { orderTotals, totalsAfter } from "./totals.ts";

/** Facts for a rule beside the order: the shop's, and the time. */
export interface DecisionContext extends PushFacts {
  readonly shop: ShopFacts;
  readonly nowMs: number;
}

/** Nothing changes: no version, no log, no effects. */
export const unchanged = (order: PurchaseOrder): Decision => ({ next: order, log: [], receipts: [], effects: [] });

/**
 * Returns the change from `before` (null: the order is new) to `draft`. It raises the version, sets `updatedAtMs`,
 * takes the rates and the lead time that the order is to keep, and recomputes the totals. It adds the effects by which
 * the storefront's incoming quantities and tags follow the ledger. Where the shop's rates change a total, the log tells
 * it.
 *
 * @throws Fault INVALID_INPUT when the total passes its limit.
 * Source: C13, C35.
 */
export function decision(
  before: PurchaseOrder | null,
  draft: PurchaseOrder,
  what: {
    readonly log: readonly LogDraft[];
    readonly receipts?: readonly ReceiptDraft[];
    readonly effects?: readonly Effect[];
  },
  { shop, nowMs }: DecisionContext,
): Decision {
  const kept: PurchaseOrder = {
    ...draft,
    fxRates: before === null ? newRates(draft, shop) : ratesAfter(before, draft, shop),
    supplierLeadTimeDays: leadTimeKept(before, draft),
  };
  const next: PurchaseOrder = {
    ...kept,
    ...totalsAfter(before, kept, shop.currencyCode),
    version: (before?.version ?? 0) + 1,
    updatedAtMs: nowMs,
  };
  return {
    next,
    log: before === null ? what.log : withRateChanges(what.log, before, next, shop),
    receipts: what.receipts ?? [],
    effects: [...(what.effects ?? []), ...incomingEffects(incomingDeltas(before, next), shop.onOrderTag)],
  };
}

/**
 * A Draft, and an order that gets another supplier, have the lead time of the supplier's record; others keep what they
 * have.
 */
const leadTimeKept = (before: PurchaseOrder | null, draft: PurchaseOrder): number | null =>
  before === null || before.status === "Draft" || before.supplierId !== draft.supplierId
    ? draft.supplierLeadTimeNow
    : before.supplierLeadTimeDays;

/** The log with what the shop's rates have changed in the totals, in the last of its entries. */
function withRateChanges(
  log: readonly LogDraft[],
  before: PurchaseOrder,
  next: PurchaseOrder,
  shop: ShopFacts,
): readonly LogDraft[] {
  const last = log.at(-1);
  const fxRates = ratesKept(before, next, shop);
  if (last === undefined || isSameFor(next, shop.currencyCode, fxRates, next.fxRates)) return log;
  const otherwise = orderTotals({ ...next, fxRates }, shop.currencyCode);
  const totals = (["totalValue", "grandTotal"] as const).filter((field) => otherwise[field] !== next[field]);
  if (totals.length === 0) return log;
  const changes: readonly FieldChange[] = [
    { field: "fxRates", poLineItemId: null, before: shownRates(before.fxRates), after: shownRates(next.fxRates) },
    ...totals.map((field) => ({
      field,
      poLineItemId: null,
      before: moneyToNumber(before[field]),
      after: moneyToNumber(next[field]),
    })),
  ];
  const message = `${last.message} The order took the shop's exchange rates, which changes its total.`;
  return [...log.slice(0, -1), { ...last, message, changes: [...last.changes, ...changes] }];
}

/**
 * The order after a move: the status it had becomes `previousStatus` (C22). A move forward sets the instants of the
 * statuses that it reaches or passes. A move back, or a return from a held status, sets none and clears none (D21).
 */
export function moved(order: PurchaseOrder, to: Status, { shop, nowMs }: DecisionContext): PurchaseOrder {
  const [from, until] = [statusesOnTheWay.indexOf(order.status), statusesOnTheWay.indexOf(to)];
  const at = (stage: Status, before: number | null): number | null => {
    const place = statusesOnTheWay.indexOf(stage);
    return from !== -1 && from < place && place <= until ? nowMs : before;
  };
  const sentAtMs = at("Sent", order.sentAtMs);
  return {
    ...order,
    status: to,
    previousStatus: order.status,
    sentAtMs,
    sentDate: sentAtMs === order.sentAtMs ? order.sentDate : dateOf(dayIn(shop.timezone, nowMs)),
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
