/**
 * Dates of the demo, counted back from the day on which it is made.
 */
import { dayMs } from "../base/time/calendar.ts";
/** Half past nine (UTC): when the demo's days begin. */
const openingMinutes = 570;

export interface Calendar {
  /** An instant at opening of the day before that many days ago, so always in the past; `minutes` later. */
  readonly at: (daysAgo: number, minutes?: number) => string;
  /** The date of `at`. */
  readonly day: (daysAgo: number) => string;
}

export function calendarFrom(nowMs: number): Calendar {
  const yesterdayMs = Math.floor(nowMs / dayMs) * dayMs - dayMs;
  const at = (daysAgo: number, minutes = 0): string =>
    new Date(yesterdayMs - daysAgo * dayMs + (openingMinutes + minutes) * 60_000).toISOString();
  return { at, day: (daysAgo) => at(daysAgo).slice(0, "YYYY-MM-DD".length) };
}
