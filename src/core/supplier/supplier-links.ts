/** Links by which suppliers see one order and answer it: how long they can be used, and how they stand (C64). Pure. */
import { dayMs } from "../../base/calendar.ts";

/** How long a link can be used. */
export const supplierLinkMs = 14 * dayMs;

/** How long a link is listed after it could be used. */
export const supplierLinkKeptMs = 30 * dayMs;

/** How a link can stand. */
export const supplierLinkStatuses = ["open", "expired", "revoked"] as const;

/** How the link stands. */
export function supplierLinkStatus(
  { revokedAtMs, expiresAtMs }: { readonly revokedAtMs: number | null; readonly expiresAtMs: number },
  nowMs: number,
): (typeof supplierLinkStatuses)[number] {
  if (revokedAtMs !== null) return "revoked";
  return expiresAtMs <= nowMs ? "expired" : "open";
}
