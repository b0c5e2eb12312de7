/**
 * The audit row of a request (H1; spec "Authentication" 9).
 */
import { Fault } from "../../base/fault.ts";
import { shownPath } from "../../base/text/shown-path.ts";
import type { AuditEntry } from "../../shop/audit/audit.ts";
import type { AuditRowPlace } from "../../shop/audit/audit-journal.ts";
import type { Engine, Tx, WriteOptions } from "../../store/store.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { SignedIn } from "../caller.ts";
import type { Reply } from "../envelope.ts";
import type { IdentifiedRequest } from "../request.ts";

/** Time for which the answer of a read waits for its audit row when the shop's turn does not come, on SQLite (D112). */
export const auditWaitMsMax = 5;

/**
 * Groups of audit rows of reads, one a shop, that may wait for their turns while their answers leave. Beyond it an
 * answer waits for its row.
 */
export const auditGroupsBehindMax = 256;

/** Options of an audit row's write when nothing else commits with it (D5). */
export const auditAlone: WriteOptions = { durable: false, append: true };

/** Rows that are written together. A read waits for its row, so a group is no larger than one round brings. */
const rowsTogetherMax = 256;

/** Told of each row that could not be written when its answer had left. */
type LostRow = (shopId: string, row: AuditEntry, error: unknown) => void;

interface ShopRow {
  readonly shopId: string;
  readonly row: AuditEntry;
}

/** Audit rows of reads that are written together. */
interface RowGroup {
  readonly rows: AuditEntry[];
  /** Resolves when they are committed, or have waited for long enough. */
  readonly waited: Promise<void>;
}

/**
 * Writes the audit rows of reads: to the process's journal (D5), where there is one and it has room, else to the
 * shop's log. Those that wait for the same turn are one write: each alone cost a third of a small read.
 *
 * On an embedded engine an answer waits at most `auditWaitMsMax` for its row. A turn may wait for a disk, and the read
 * reports nothing that does (D112). With `auditGroupsBehindMax` groups behind it waits until the row is committed, as
 * among nodes. Else clients could read faster than rows are written.
 */
export class AuditRows {
  readonly #engine: Pick<Engine, "write" | "embedded">;
  readonly #trail: Pick<AuditTrail, "statements">;
  readonly #lost: LostRow;
  readonly #journal: AuditRowPlace | null;
  /** By shop, rows whose write has not begun. */
  readonly #waiting = new Map<string, RowGroup>();
  /** Rows of the journal that are written together, and how long answers wait for them. */
  #inJournal: { readonly written: Promise<void>; readonly rows: ShopRow[]; readonly waited: Promise<void> } | null =
    null;
  /** Groups whose write has not ended. */
  #behind = 0;

  constructor(
    engine: Pick<Engine, "write" | "embedded">,
    trail: Pick<AuditTrail, "statements">,
    lost: LostRow,
    journal: AuditRowPlace | null = null,
  ) {
    this.#engine = engine;
    this.#trail = trail;
    this.#lost = lost;
    this.#journal = journal;
  }

  /** Resolves when the answer may leave (H1). @throws Fault when the store cannot be written. */
  add(shopId: string, row: AuditEntry): Promise<void> {
    if (this.#journal?.hasRoom === true) return this.#addToJournal(this.#journal.add(shopId, row), shopId, row);
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
    const waited = this.#waitFor(this.#engine.write(shopId, work, auditAlone).finally(begin), (error) => {
      for (const each of rows) this.#lost(shopId, each, error);
    });
    this.#waiting.set(shopId, { rows, waited });
    return waited;
  }

  #addToJournal(written: Promise<void>, shopId: string, row: AuditEntry): Promise<void> {
    if (this.#inJournal?.written !== written) {
      const rows: ShopRow[] = [];
      const waited = this.#waitFor(written, (error) => {
        for (const each of rows) this.#lost(each.shopId, each.row, error);
      });
      this.#inJournal = { written, rows, waited };
    }
    this.#inJournal.rows.push({ shopId, row });
    return this.#inJournal.waited;
  }

  /** Resolves when the group is written, or has waited for long enough. `lost` is called when it fails after that. */
  #waitFor(written: Promise<void>, lost: (error: unknown) => void): Promise<void> {
    const mayLeave = this.#engine.embedded && this.#behind < auditGroupsBehindMax;
    this.#behind += 1;
    const counted = written.finally(() => {
      this.#behind -= 1;
    });
    return mayLeave ? this.#waitForSome(counted, lost) : counted;
  }

  async #waitForSome(written: Promise<void>, lost: (error: unknown) => void): Promise<void> {
    const enough = Promise.withResolvers<void>();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      enough.resolve();
    }, auditWaitMsMax);
    written.catch((error: unknown) => {
      if (isOver) lost(error);
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
    keyId: key?.keyId ?? person?.keyId ?? null,
    personId: person?.personId ?? null,
    method: incoming.method,
    path: shownPath(incoming.path),
    status: reply.status,
    errorCode: reply.errorCode,
    durationMs: Math.max(0, Math.round(nowMs - startedAtMs)),
    replayed,
    count: 1,
    ...(incoming.isDryRun === true ? { detail: dryRunDetail } : {}),
  };
}

const dryRunDetail = JSON.stringify({ dryRun: true });

/** A request as a surface has it. */
interface ShownRequest {
  readonly requestId: string;
  readonly trace: { readonly traceId: string | null; readonly spanId: string | null };
  readonly request: { readonly method: string };
  readonly path: string;
}

/**
 * The audit row of a request that its surface answers itself: a person's (C50, C51), or the operator's, who has neither
 * id nor key (§7).
 */
export const auditRowOf = (
  { requestId, trace, request, path }: ShownRequest,
  {
    auditId,
    startedAtMs,
    operation,
    person,
  }: {
    readonly auditId: string;
    readonly startedAtMs: number;
    readonly operation: string;
    readonly person: Pick<SignedIn, "personId" | "keyId">;
  },
  { status, errorCode, nowMs }: { readonly status: number; readonly errorCode: string | null; readonly nowMs: number },
): AuditEntry => ({
  auditId,
  atMs: startedAtMs,
  requestId,
  traceId: trace.traceId,
  spanId: trace.spanId,
  tag: `console:${operation}`,
  keyId: person.keyId,
  personId: person.personId,
  method: request.method,
  path: shownPath(path),
  status,
  errorCode,
  durationMs: Math.max(0, Math.round(nowMs - startedAtMs)),
  replayed: false,
  count: 1,
});
