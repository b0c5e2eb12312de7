/**
 * The audit log (table `audit_log`): one row per request with an API key of the shop or of a person (spec "Authentication" 9).
 */
import type { SqlValue, Statement, Tx } from "../store/store.ts";

/** One request in the audit log. */
export interface AuditEntry {
  readonly auditId: string;
  readonly atMs: number;
  readonly requestId: string;
  /** Of the request's trace; null in rows from before there were any. */
  readonly traceId: string | null;
  readonly spanId: string | null;
  /** `rest:purchase_order_receive`, `mcp:…`; `rest:unknown` where no operation was reached. */
  readonly tag: string;
  readonly keyId: string | null;
  /** Who asked at the console; such a request has no key. */
  readonly personId: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly replayed: boolean;
  /** Requests that the row stands for. */
  readonly count: number;
}

/** Inserts the row, or updates status, error code, duration and count of the one with this `auditId`. */
export const auditStatement = (shopId: string, entry: AuditEntry): Statement => ({
  sql: `insert into audit_log
          (shop_id, audit_id, at, request_id, tag, key_id, person_id, method, path, status, error_code, duration_ms,
           replayed, request_count, trace_id, span_id)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (shop_id, audit_id) do update set
          status = excluded.status, error_code = excluded.error_code, duration_ms = excluded.duration_ms,
          request_count = excluded.request_count`,
  params: [
    shopId,
    entry.auditId,
    entry.atMs,
    entry.requestId,
    entry.tag,
    entry.keyId,
    entry.personId,
    entry.method,
    entry.path,
    entry.status,
    entry.errorCode,
    entry.durationMs,
    entry.replayed ? 1 : 0,
    entry.count,
    entry.traceId,
    entry.spanId,
  ],
});

/**
 * Deletes the oldest rows as far as they are from before `untilMs`, at most `rowsMax`. Ids are in the order of time.
 *
 * @returns how many were deleted.
 */
export async function sweepAudit(tx: Tx, shopId: string, untilMs: number, rowsMax: number): Promise<number> {
  const rows = await tx.all(
    `delete from audit_log where shop_id = ? and at < ? and audit_id in
       (select audit_id from audit_log where shop_id = ? order by audit_id limit ?)
     returning 1 as deleted`,
    [shopId, untilMs, shopId, rowsMax],
  );
  return rows.length;
}

interface AuditRow {
  readonly audit_id: string;
  readonly at: number;
  readonly request_id: string;
  readonly tag: string;
  readonly key_id: string | null;
  readonly person_id: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly replayed: number;
  readonly request_count: number;
  readonly trace_id: string | null;
  readonly span_id: string | null;
}

/** Rows to list; null members let every row through. */
interface AuditFilters {
  readonly keyId: string | null;
  readonly personId: string | null;
  /** The operation's name; matches every surface's tag. */
  readonly operation: string | null;
  readonly status: number | null;
}

/** A page of the log, newest first, and the number of rows that pass the filters. `before`: the audit id with which the last page ended. */
export async function listAudit(
  tx: Tx,
  shopId: string,
  filters: AuditFilters,
  before: string | null,
  limit: number,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly totalCount: number }> {
  const conditions = ["shop_id = ?"];
  const params: SqlValue[] = [shopId];
  if (filters.keyId !== null) {
    conditions.push("key_id = ?");
    params.push(filters.keyId);
  }
  if (filters.personId !== null) {
    conditions.push("person_id = ?");
    params.push(filters.personId);
  }
  if (filters.operation !== null) {
    conditions.push("tag in (?, ?, ?)");
    params.push(`rest:${filters.operation}`, `mcp:${filters.operation}`, `console:${filters.operation}`);
  }
  if (filters.status !== null) {
    conditions.push("status = ?");
    params.push(filters.status);
  }
  const where = conditions.join(" and ");
  const page = before === null ? "" : " and audit_id < ?";
  const [[count], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from audit_log where ${where}`, params),
    tx.all<AuditRow>(
      `select audit_id, at, request_id, tag, key_id, person_id, method, path, status, error_code, duration_ms, replayed,
         request_count, trace_id, span_id
       from audit_log where ${where}${page} order by audit_id desc limit ?`,
      before === null ? [...params, limit] : [...params, before, limit],
    ),
  ]);
  const entries = rows.map((row) => ({
    auditId: row.audit_id,
    atMs: row.at,
    requestId: row.request_id,
    traceId: row.trace_id,
    spanId: row.span_id,
    tag: row.tag,
    keyId: row.key_id,
    personId: row.person_id,
    method: row.method,
    path: row.path,
    status: row.status,
    errorCode: row.error_code,
    durationMs: row.duration_ms,
    replayed: row.replayed === 1,
    count: row.request_count,
  }));
  return { entries, totalCount: count?.n ?? 0 };
}
