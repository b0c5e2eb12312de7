/**
 * Which orders somebody has to look after, why, since when, and what to do next (C68). Pure.
 *
 * Does not own: which orders are looked at (shop/order/advice/attention.ts) or how the answer reads
 * (operations/agent/attention.ts).
 */
import type { Payment } from "../attachments.ts";
import { type Day, dayFrom, dayMs } from "../../../base/time/calendar.ts";
import { type NextStep, completeStep, resumeStep, syncStep } from "./next-step.ts";
import type { Header } from "../purchase-order.ts";
import { expectedDateOf, unconfirmedFromMs, waitsSinceMs } from "../../supplier/reminders.ts";

/**
 * Why an order needs attention, the most pressing first.
 *
 * - `disputed`: its status is Disputed.
 * - `unsynced`: a catalogue line has received goods that the storefront does not have, or a sync failed.
 * - `late`: goods are pending and were expected before today.
 * - `unconfirmed`: the order has been Sent for longer than the caller allows. One with lines confirmed short is
 *   Confirmed or beyond.
 * - `received`: all goods are in and the order is not completed.
 * - `payment-due`: a payment is due today or before, or marked as overdue.
 */
export const attentionReasons = ["disputed", "unsynced", "late", "unconfirmed", "received", "payment-due"] as const;
/** Why an order needs attention. */
export type AttentionReason = (typeof attentionReasons)[number];

/**
 * Days after which an order that was sent and not confirmed needs attention, unless the shop or the caller says
 * otherwise.
 */
export const unconfirmedDaysDefault = 3;

/** Days that a shop or a caller may allow for a confirmation. */
export const unconfirmedDaysMax = 365;

/** The facts of one order. */
export interface AttentionFacts extends Pick<
  Header,
  | "purchaseOrderId"
  | "status"
  | "previousStatus"
  | "storefrontSyncState"
  | "nextExpectedDate"
  | "quantityConfirmed"
  | "quantityPending"
  | "createdAtMs"
  | "updatedAtMs"
  | "sentAtMs"
  | "receivedAtMs"
> {
  /** Catalogue lines of which the storefront has not what was received. */
  readonly unsyncedLines: number;
  /** Payments that are due; empty for an order that is paid. */
  readonly payments: readonly Pick<Payment, "status" | "dueDate">[];
}

/** The moment that the orders are looked at. */
interface AttentionContext {
  readonly nowMs: number;
  /** Where the shop is. */
  readonly today: Day;
  readonly unconfirmedDays: number;
}

/** One reason, and for how many whole days it has held. */
interface ReasonSince {
  readonly reason: AttentionReason;
  readonly days: number;
}

/** Why an order needs attention, the most pressing reason first. */
export interface Attention {
  readonly reasons: readonly ReasonSince[];
  /** The next step for the first reason. */
  readonly nextStep: NextStep;
}

const daysSince = (instantMs: number, nowMs: number): number => Math.max(0, Math.floor((nowMs - instantMs) / dayMs));

/** For how many days a reason has held; null when it does not hold. */
type Rule = (facts: AttentionFacts, context: AttentionContext) => number | null;

const rules: Readonly<Record<AttentionReason, Rule>> = {
  disputed: ({ status, updatedAtMs }, { nowMs }) => (status === "Disputed" ? daysSince(updatedAtMs, nowMs) : null),
  unsynced: ({ unsyncedLines, storefrontSyncState, updatedAtMs }, { nowMs }) =>
    unsyncedLines > 0 || storefrontSyncState === "failed" ? daysSince(updatedAtMs, nowMs) : null,
  late: (facts, { today }) => {
    const expected = expectedDateOf(facts);
    const days = expected === null ? 0 : today - dayFrom(expected);
    return days > 0 ? days : null;
  },
  unconfirmed: (facts, { nowMs, unconfirmedDays }) => {
    const sinceMs = waitsSinceMs(facts);
    return sinceMs !== null && nowMs >= unconfirmedFromMs(sinceMs, unconfirmedDays) ? daysSince(sinceMs, nowMs) : null;
  },
  received: ({ status, receivedAtMs, updatedAtMs }, { nowMs }) =>
    status === "Received" ? daysSince(receivedAtMs ?? updatedAtMs, nowMs) : null,
  "payment-due": ({ payments }, { today }) => {
    const due = payments.filter((payment) => isDue(payment, today));
    if (due.length === 0) return null;
    return Math.max(0, ...due.map(({ dueDate }) => (dueDate === null ? 0 : today - dayFrom(dueDate))));
  },
};

/** True if a payment is due: overdue, or scheduled for today or before. */
export const isDue = ({ status, dueDate }: Pick<Payment, "status" | "dueDate">, today: Day): boolean =>
  status === "Overdue" || (status === "Scheduled" && dueDate !== null && dayFrom(dueDate) <= today);

const nextSteps: Readonly<Record<AttentionReason, (facts: AttentionFacts) => NextStep>> = {
  disputed: resumeStep("Once the dispute is settled."),
  unsynced: syncStep,
  late: ({ purchaseOrderId }) => ({
    tool: "purchase_order_update",
    arguments: { purchaseOrderId },
    advice:
      "Ask the supplier and set expectedDeliveryDate; if goods have come, record them with purchase_order_receive.",
  }),
  unconfirmed: ({ purchaseOrderId, quantityConfirmed }) => ({
    tool: "purchase_order_confirm",
    arguments: { purchaseOrderId },
    // Back from Confirmed the order keeps its confirmed quantities, and confirmAll would overwrite them.
    advice:
      quantityConfirmed > 0
        ? "Ask the supplier; then lines with what was confirmed."
        : "Ask the supplier; then confirmAll true, or lines with what was confirmed.",
  }),
  received: completeStep,
  "payment-due": ({ purchaseOrderId }) => ({
    tool: "purchase_order_payment_list",
    arguments: { purchaseOrderId },
    advice: "Shows what is due; payments are recorded outside these tools.",
  }),
};

/**
 * Says why an order needs attention; null when it does not.
 *
 * Source: C68.
 */
export function attentionTo(facts: AttentionFacts, context: AttentionContext): Attention | null {
  const reasons = attentionReasons.flatMap((reason): readonly ReasonSince[] => {
    const days = rules[reason](facts, context);
    return days === null ? [] : [{ reason, days }];
  });
  const [first] = reasons;
  return first === undefined ? null : { reasons, nextStep: nextSteps[first.reason](facts) };
}
