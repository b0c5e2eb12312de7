/**
 * Days and weeks as integers, between instants and dates (`YYYY-MM-DD`). Pure. The calendar is the proleptic Gregorian
 * one.
 */

/** Days since 1970-01-01. */
export type Day = number;
/** ISO weeks, Monday to Sunday, since the week of 1970-01-01. */
export type Week = number;

/** Milliseconds in a minute, an hour, a day. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Days in a week. */
export const daysPerWeek = 7;

/** The day of a `YYYY-MM-DD`. */
export const dayFrom = (date: string): Day => Math.floor(Date.parse(`${date}T00:00:00Z`) / dayMs);

/** The day as `YYYY-MM-DD`. */
export const dateOf = (day: Day): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** The day as `YYYY-MM-DD`; null for none. */
export const dateOrNull = (day: Day | null): string | null => (day === null ? null : dateOf(day));

/** By time zone. Making one takes 50 µs, ten times what its use takes, and each write needs the day. */
const dayFormats = new Map<string, Intl.DateTimeFormat>();

const dayFormatOf = (timezone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en", {
    timeZone: timezone,
    calendar: "iso8601",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });

/** The day of an instant in a time zone (IANA name). */
export function dayIn(timezone: string, instantMs: number): Day {
  let format = dayFormats.get(timezone);
  if (format === undefined) dayFormats.set(timezone, (format = dayFormatOf(timezone)));
  const parts = format.formatToParts(instantMs);
  const part = (type: "year" | "month" | "day"): number => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part("year"), part("month") - 1, part("day")) / dayMs;
}

/** The day begins nowhere earlier than so long before it does in UTC, nor later after. */
export const zoneMsMax = 16 * hourMs;

/**
 * Returns the first minute of a day in a time zone, whatever is done to clocks on it. A day may begin at 01:00, or not
 * exist at all.
 */
export function dayStart(timezone: string, day: Day): number {
  let [before, from] = [day * dayMs - zoneMsMax, day * dayMs + zoneMsMax];
  while (from - before > minuteMs) {
    const middle = before + Math.floor((from - before) / minuteMs / 2) * minuteMs;
    if (dayIn(timezone, middle) < day) before = middle;
    else from = middle;
  }
  return from;
}

/** The first day of the month that a day belongs to. */
export const monthStart = (day: Day): Day => dayFrom(`${dateOf(day).slice(0, 7)}-01`);

/** The week that a day belongs to. */
export const weekOf = (day: Day): Week => Math.floor((day + 3) / daysPerWeek);
/** The Monday of a week. */
export const weekStart = (week: Week): Day => week * daysPerWeek - 3;
