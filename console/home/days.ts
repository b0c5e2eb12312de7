/** Days of the home screen, as `YYYY-MM-DD`. Pure. */
import { dayAfter } from "../orders/lateness.ts";

const dayMs = 86_400_000;

export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

/** The Monday of a day's week. */
export const mondayOf = (day: string): string => dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7));
