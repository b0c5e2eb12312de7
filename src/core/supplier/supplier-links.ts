/** Links by which suppliers see one order and answer it: how long they can be used, and how they stand (C64). Pure. */
import { dayMs } from "../../base/time/calendar.ts";

/** Time for which a link can be used. */
export const supplierLinkMs = 14 * dayMs;

/** Time for which a link is listed after its end. */
export const supplierLinkKeptMs = 30 * dayMs;

/** States of a link. */
export const supplierLinkStatuses = ["open", "expired", "revoked"] as const;

/** Returns the state of a link. */
export function supplierLinkStatus(
  { revokedAtMs, expiresAtMs }: { readonly revokedAtMs: number | null; readonly expiresAtMs: number },
  nowMs: number,
): (typeof supplierLinkStatuses)[number] {
  if (revokedAtMs !== null) return "revoked";
  return expiresAtMs <= nowMs ? "expired" : "open";
}
