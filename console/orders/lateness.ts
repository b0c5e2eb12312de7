/** For how many days a supplier is late with an order, as the service counts them (C57, C68). */
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { signedIn, today } from "../data/session.ts";

const dayMs = 86_400_000;

/** The day that is so many days after a day, as `YYYY-MM-DD`. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

/** A day that is further away is told by its date alone. */
const countedDaysMax = 30;

const open: readonly string[] = ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received"];

/** Days since goods of the order were expected; null when they are not late. */
export function lateFor({ status, nextExpectedDate, quantityPending }: PurchaseOrderHeader): number | null {
  if (nextExpectedDate === null || quantityPending === 0 || !open.includes(status)) return null;
  const days = (Date.parse(today()) - Date.parse(nextExpectedDate)) / dayMs;
  return days > 0 ? days : null;
}

/** Days until goods of the order are expected, of which a person still counts them; else null. */
export function dueIn({ status, nextExpectedDate, quantityPending }: PurchaseOrderHeader): number | null {
  if (nextExpectedDate === null || quantityPending === 0 || !open.includes(status)) return null;
  const days = (Date.parse(nextExpectedDate) - Date.parse(today())) / dayMs;
  return days >= 0 && days <= countedDaysMax ? days : null;
}

/** Days since the order was sent, if it is unconfirmed for longer than the shop allows; else null. */
export function unconfirmedFor({ status, sentAt, createdAt }: PurchaseOrderHeader): number | null {
  const allowedDays = signedIn()?.shop.unconfirmedDays ?? 0;
  if (status !== "Sent" || allowedDays === 0) return null;
  const waitedMs = Date.now() - Date.parse(sentAt ?? createdAt);
  return waitedMs > allowedDays * dayMs ? Math.floor(waitedMs / dayMs) : null;
}
