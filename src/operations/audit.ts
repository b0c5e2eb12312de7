/**
 * The audit row of a request (H1; spec "Authentication" 9).
 */
import { Fault } from "../core/fault.ts";
import { shownPath } from "../core/shown-path.ts";
import { type AuditEntry, auditStatement } from "../shop/audit.ts";
import type { Statement, WriteOptions } from "../store/store.ts";
import type { Reply } from "./envelope.ts";
import type { IdentifiedRequest } from "./request.ts";

/** How an audit row is written when nothing else commits with it (D5). */
export const auditAlone: WriteOptions = { durable: false, append: true };

/** Writes the request's audit row as of this reply, replacing one that was written earlier. */
export const auditStatementOf = (
  request: IdentifiedRequest,
  reply: Reply,
  at: { readonly nowMs: number; readonly replayed?: boolean },
): Statement => auditStatement(request.shop.shopId, auditEntryOf(request, reply, at));

/** The request's audit row as of this reply. */
export function auditEntryOf(
  { incoming, key, person, auditId, startedAtMs }: IdentifiedRequest,
  reply: Reply,
  { nowMs, replayed = false }: { readonly nowMs: number; readonly replayed?: boolean },
): AuditEntry {
  const name = incoming.target instanceof Fault ? "unknown" : incoming.target.name;
  return {
    auditId,
    atMs: startedAtMs,
    requestId: incoming.requestId,
    tag: `${person === null ? incoming.surface : "console"}:${name}`,
    keyId: key?.keyId ?? null,
    personId: person?.personId ?? null,
    method: incoming.method,
    path: shownPath(incoming.path),
    status: reply.status,
    errorCode: reply.errorCode,
    durationMs: Math.max(0, Math.round(nowMs - startedAtMs)),
    replayed,
    count: 1,
  };
}
