/**
 * The audit row of a request (H1; spec "Authentication" 9).
 */
import { Fault } from "../core/fault.ts";
import { auditGroupsBehindMax, auditWaitMsMax } from "../core/limits.ts";
import { shownPath } from "../core/shown-path.ts";
import type { AuditEntry } from "../shop/audit.ts";
import type { Engine, Log, Tx, WriteOptions } from "../store/store.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { Reply } from "./envelope.ts";
import type { IdentifiedRequest } from "./request.ts";

/** How an audit row is written when nothing else commits with it (D5). */
export const auditAlone: WriteOptions = { durable: false, append: true };

/** Rows that are written together. A read waits for its row, so a group is no larger than one round brings. */
const rowsTogetherMax = 256;

/** Audit rows of reads that are written together. */
interface RowGroup {
  readonly rows: AuditEntry[];
  /** Resolves when they are committed, or have waited for long enough. */
  readonly waited: Promise<void>;
}

/**
 * Writes the audit rows of reads. Those that wait for the same shop's turn are one write: each alone cost a third of a small read.
 *
 * On an embedded engine an answer waits for its row for at most `auditWaitMsMax`: a turn may wait for a disk, and the read told nothing
 * that does (D112). With `auditGroupsBehindMax` groups behind it waits until the row is committed, as among nodes: else clients could read
 * faster than rows are written, until these were refused.
 */
export class AuditRows {
  readonly #engine: Pick<Engine, "write" | "embedded">;
  readonly #trail: Pick<AuditTrail, "statements">;
  readonly #log: Log;
  /** By shop, rows whose write has not begun. */
  readonly #waiting = new Map<string, RowGroup>();
  /** Groups whose write has not ended. */
  #behind = 0;

  constructor(engine: Pick<Engine, "write" | "embedded">, trail: Pick<AuditTrail, "statements">, log: Log) {
    this.#engine = engine;
    this.#trail = trail;
    this.#log = log;
  }

  /** Resolves when the answer may leave (H1). @throws Fault when the store cannot be written. */
  add(shopId: string, row: AuditEntry): Promise<void> {
    const waiting = this.#waiting.get(shopId);
    if (waiting !== undefined && waiting.rows.length < rowsTogetherMax) {
      waiting.rows.push(row);
      return waiting.waited;
    }
    const rows = [row];
    const begin = (): void => {
      if (this.#waiting.get(shopId)?.rows === rows) this.#waiting.delete(shopId);
    };
    const work = async (tx: Tx): Promise<void> => {
      begin();
      await tx.batch(await this.#trail.statements(tx, shopId, rows));
    };
    const mayLeave = this.#engine.embedded && this.#behind < auditGroupsBehindMax;
    this.#behind += 1;
    const written = this.#engine.write(shopId, work, auditAlone).finally(() => {
      begin();
      this.#behind -= 1;
    });
    const waited = mayLeave ? this.#waitFor(written, shopId, rows) : written;
    this.#waiting.set(shopId, { rows, waited });
    return waited;
  }

  async #waitFor(written: Promise<void>, shopId: string, rows: readonly AuditEntry[]): Promise<void> {
    const enough = Promise.withResolvers<void>();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      enough.resolve();
    }, auditWaitMsMax);
    written.catch((error: unknown) => {
      if (isOver)
        this.#log.error({ shopId, err: error, rows: rows.length }, "audit rows of reads could not be written");
    });
    try {
      await Promise.race([written, enough.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

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
    traceId: incoming.trace?.traceId ?? null,
    spanId: incoming.trace?.spanId ?? null,
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
