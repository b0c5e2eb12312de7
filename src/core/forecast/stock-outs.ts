/**
 * Times in which a variant had no stock at a location. They follow from the stock on hand now and its movements: sales,
 * receipts, adjustments and stock takes. Pure.
 *
 * It is told backwards from what is on hand now. Records are never complete, so two things are believed before all
 * arithmetic: what was counted was there, and what was sold was there.
 */
import type { Day } from "../../base/time/calendar.ts";
import type { Quantity } from "../money/money.ts";

/** A time without stock. Nothing was sold in it. */
export interface StockOut {
  readonly from: Day;
  /** The last day; null: it goes on. */
  readonly until: Day | null;
}

/** Movements of a variant's stock at a location on one day. */
export interface StockDay {
  readonly day: Day;
  readonly sold: Quantity;
  /** Received and adjusted, the latter with its sign. */
  readonly moved: number;
  /** Latest count of a stock take; null: nothing was counted. */
  readonly counted: Quantity | null;
}

/** Returns the number of days from `from` to `until`, both included, without stock. */
export function daysOut(outs: readonly StockOut[], from: Day, until: Day): number {
  let days = 0;
  for (const out of outs) days += Math.max(0, Math.min(until, out.until ?? until) - Math.max(from, out.from) + 1);
  return days;
}

/**
 * The times without stock since the first of these days, oldest first.
 *
 * A day is without stock when nothing was there in its morning, nothing was sold and nothing came in.
 *
 * @param onHand what is there now.
 * @param days   each day once, in any order.
 */
export function stockOutsOf(onHand: Quantity, days: readonly StockDay[]): readonly StockOut[] {
  const outs: StockOut[] = [];
  /** The last day of the stretch that is looked at; null: it reaches to now. */
  let end: Day | null = null;
  /** The day after which the stretch without stock goes on that was found last. */
  let open: { from: Day; readonly until: Day | null } | null = null;
  let level: number = onHand;
  const close = (): void => {
    if (open !== null) outs.push(open);
    open = null;
  };
  const add = (from: Day, until: Day | null): void => {
    if (until !== null && until < from) return;
    if (open === null) open = { from, until };
    else open.from = from;
  };
  for (const { day, sold, moved, counted } of days.toSorted((a, b) => b.day - a.day)) {
    level = counted ?? level;
    if (level <= 0) add(day + 1, end);
    else close();
    const evening = level;
    level += sold - moved;
    if (sold > 0) level = Math.max(level, sold - Math.max(0, moved));
    if (sold === 0 && moved <= 0 && evening <= 0 && level <= 0) add(day, day);
    else close();
    end = day - 1;
  }
  close();
  return outs.reverse();
}

/**
 * Returns the times without stock that records show, corrected by the one that was seen as it happened. That one lasts
 * from when the level came to 0 until it was above 0 again.
 *
 * @param reported what `stockOutsOf` says.
 * @param seen null: none was noticed since the records were looked at last.
 * @param sold days with a sale.
 */
export function withSeen(
  reported: readonly StockOut[],
  seen: StockOut | null,
  sold: readonly Day[],
): readonly StockOut[] {
  if (seen === null) return reported;
  const { from, until } = seen;
  // Stock was there until the day on which it was seen to end.
  if (until === null)
    return reported.map((out) => (out.until === null ? { from: Math.max(out.from, from), until: null } : out));
  if (until < from || sold.some((day) => day >= from && day <= until)) return reported;
  const apart = reported.filter((out) => (out.until ?? from) < from || out.from > until);
  const joined = reported.filter((out) => !apart.includes(out));
  const union: StockOut = {
    from: Math.min(from, ...joined.map((out) => out.from)),
    until: joined.some((out) => out.until === null)
      ? null
      : Math.max(until, ...joined.map((out) => out.until ?? until)),
  };
  return [...apart, union].sort((a, b) => a.from - b.from);
}
