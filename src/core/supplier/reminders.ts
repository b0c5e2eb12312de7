/**
 * When somebody is reminded of an order that its supplier is late with: once for each cause and what it is about (C57).
 * Pure.
 *
 * Owns: what an order can be late with, since when, and from when on that is told. Does not own: what was told
 * (shop/supplier/reminders.ts), who tells (jobs/reminders.ts), what an agent is shown (core/order/advice/attention.ts),
 * which goes by the same two rules.
 */
import { dayFrom, dayMs, dayStart, zoneMsMax } from "../../base/time/calendar.ts";
import type { Header } from "../order/purchase-order.ts";
import { isOpen } from "../order/status.ts";

/**
 * Things with which a supplier can be late.
 *
 * - `overdue`: goods are pending and were expected before today, the shop's day.
 * - `unconfirmed`: the order has been Sent for longer than the shop allows. What the supplier has confirmed in part is
 *   not: it has answered.
 */
export const reminderCauses = ["overdue", "unconfirmed"] as const;
/** Thing with which a supplier is late. */
export type ReminderCause = (typeof reminderCauses)[number];

type OverdueFacts = Pick<Header, "status" | "nextExpectedDate" | "quantityPending">;

type UnconfirmedFacts = Pick<Header, "status" | "sentAtMs" | "createdAtMs">;

/** The date on which goods of the order are expected; null when none are. */
export const expectedDateOf = (order: OverdueFacts): string | null =>
  isOpen(order) && order.quantityPending > 0 ? order.nextExpectedDate : null;

/** Since when the order waits for the supplier's first answer; null when it does not. */
export const waitsSinceMs = ({ status, sentAtMs, createdAtMs }: UnconfirmedFacts): number | null =>
  status === "Sent" ? (sentAtMs ?? createdAtMs) : null;

/**
 * Basis of a reminder of the order: the expected date, or the instant at which it was sent. Null: there is no cause. It
 * is told once of each, so it is told again when the date is another one, or when the order was sent again.
 */
export const reminderBasis: Readonly<Record<ReminderCause, (order: OverdueFacts & UnconfirmedFacts) => string | null>> =
  {
    overdue: expectedDateOf,
    unconfirmed: (order) => {
      const sinceMs = waitsSinceMs(order);
      return sinceMs === null ? null : String(sinceMs);
    },
  };

/** Settings of a shop that decide when it is reminded. */
interface ReminderSettings {
  readonly timezone: string;
  /** 0: nobody is reminded of unconfirmed orders. */
  readonly unconfirmedDays: number;
}

/** From when on this is told; null: never. */
export const reminderAtMs: Readonly<
  Record<ReminderCause, (basis: string, settings: ReminderSettings) => number | null>
> = {
  overdue: (basis, { timezone }) => dayStart(timezone, dayFrom(basis) + 1),
  unconfirmed: (basis, { unconfirmedDays }) =>
    unconfirmedDays === 0 ? null : unconfirmedFromMs(Number(basis), unconfirmedDays),
};

/** From when on an order counts as unconfirmed that has waited since then: after more than so many days. */
export const unconfirmedFromMs = (sinceMs: number, unconfirmedDays: number): number =>
  sinceMs + unconfirmedDays * dayMs + 1;

/** An instant before which it cannot be time, whatever the shop has set: until then nobody need look. */
export const reminderNotBeforeMs: Readonly<Record<ReminderCause, (basis: string) => number>> = {
  overdue: (basis) => (dayFrom(basis) + 1) * dayMs - zoneMsMax,
  unconfirmed: (basis) => unconfirmedFromMs(Number(basis), 1),
};
