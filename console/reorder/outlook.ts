/** Stock that is left of a product in the next weeks, as far as the columns of its row say. Pure. */
import { type ForecastRow, numberOf } from "./ticked.ts";

/** Days that are looked ahead. */
export const outlookDays = 60;

const dayMs = 86_400_000;

interface RowOutlook {
  /** Stock that is left on a day, in the order of days. Two on one day: something arrives. */
  readonly points: readonly (readonly [day: number, left: number])[];
  /** The first day without stock; null: there is stock on all of them. */
  readonly outDay: number | null;
  /** Days until the next goods arrive; null: none do. */
  readonly arrivalDay: number | null;
}

/** The columns without which there is no outlook. */
export const outlookColumns = ["onHand", "incoming", "dailyDemand"] as const;

/**
 * @param today  as `YYYY-MM-DD`.
 * @returns null where the view does not show what it takes; `undated`: goods are on their way, and no day is known.
 */
export function outlookOf(row: ForecastRow, today: string): RowOutlook | "undated" | null {
  const [onHand, incoming, demand] = outlookColumns.map((id) => numberOf(row, id));
  if (onHand === null || onHand === undefined || demand === null || demand === undefined) return null;
  if (incoming === null || incoming === undefined) return null;
  const date = row["nextIncomingDate"];
  if (incoming > 0 && typeof date !== "string") return "undated";
  const arrivalDay = incoming > 0 && typeof date === "string" ? arrivalOf(date, today) : null;
  const points: (readonly [number, number])[] = [[0, Math.max(0, onHand)]];
  let outDay: number | null = onHand <= 0 ? 0 : null;
  /** Sells until a day, from what is left. @returns what is left then. */
  const sell = (fromDay: number, left: number, toDay: number): number => {
    const lasts = demand > 0 ? fromDay + left / demand : Infinity;
    if (lasts < toDay) {
      outDay ??= lasts;
      if (lasts > fromDay) points.push([lasts, 0]);
    }
    const rest = lasts < toDay ? 0 : left - demand * (toDay - fromDay);
    points.push([toDay, rest]);
    return rest;
  };
  const first = Math.max(0, onHand);
  if (arrivalDay === null) sell(0, first, outlookDays);
  else {
    const before = arrivalDay === 0 ? first : sell(0, first, arrivalDay);
    const after = before + incoming;
    points.push([arrivalDay, after]);
    sell(arrivalDay, after, outlookDays);
  }
  return { points, outDay, arrivalDay };
}

function arrivalOf(date: string, today: string): number | null {
  const day = Math.max(0, Math.round((Date.parse(date) - Date.parse(today)) / dayMs));
  return day < outlookDays ? day : null;
}
