/**
 * The audit row of a request (H1; spec "Authentication" 9).
 */
import { Fault } from "../core/fault.ts";
import { shownPath } from "../core/shown-path.ts";
import { type AuditEntry, auditStatement } from "../shop/audit.ts";
import type { Engine, Statement, WriteOptions } from "../store/store.ts";
import type { Reply } from "./envelope.ts";
import type { IdentifiedRequest } from "./request.ts";

/** How an audit row is written when nothing else commits with it (D5). */
export const auditAlone: WriteOptions = { durable: false, append: true };

/** Rows that are written together. A read waits for its row, so a group is no larger than one round brings. */
const rowsTogetherMax = 256;

/** Writes the audit rows of reads. Those that wait for the same shop's turn are one write: each alone cost a third of a small read. */
export class AuditRows {
  readonly #engine: Engine;
  /** Rows by shop whose write has not begun. */
  readonly #waiting = new Map<string, { readonly rows: Statement[]; readonly written: Promise<void> }>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Resolves when the row is committed (H1). @throws Fault when the store cannot be written. */
  add(shopId: string, row: Statement): Promise<void> {
    const waiting = this.#waiting.get(shopId);
    if (waiting !== undefined && waiting.rows.length < rowsTogetherMax) {
      waiting.rows.push(row);
      return waiting.written;
    }
    const rows = [row];
    const close = (): void => {
      if (this.#waiting.get(shopId)?.rows === rows) this.#waiting.delete(shopId);
    };
    const written = this.#engine
      .write(
        shopId,
        (tx) => {
          close();
          return tx.batch(rows);
        },
        auditAlone,
      )
      .finally(close);
    this.#waiting.set(shopId, { rows, written });
    return written;
  }
}

/** Writes the request's audit row as of this reply, replacing one that was written earlier. */
export const auditStatementOf = (request: IdentifiedRequest, reply: Reply, at: { readonly nowMs: number }): Statement =>
  auditStatement(request.shop.shopId, auditEntryOf(request, reply, at));

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
