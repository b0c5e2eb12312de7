/**
 * The audit log (table `audit_log`): one row per request with an API key of the shop or of a person (spec
 * "Authentication" 9).
 */
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { type Change, insert } from "../../store/change.ts";
import { tables } from "../tables.ts";

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
  /** Detail of the row beside its request, as JSON: old and new values, or what was pruned. */
  readonly detail?: string;
}

/**
 * Inserts the row, or updates status, error code, duration and count of the one with this `auditId`. It must be written
 * together with its link (audit-chain.ts).
 *
 * @param linkId  the link that it is in; null: the one that is named after it.
 */
export const auditStatement = (shopId: string, entry: AuditEntry, linkId: string | null): Change =>
  insert(
    tables.audit_log,
    shopId,
    {
      audit_id: entry.auditId,
      at: entry.atMs,
      request_id: entry.requestId,
      tag: entry.tag,
      key_id: entry.keyId,
      person_id: entry.personId,
      method: entry.method,
      path: entry.path,
      status: entry.status,
      error_code: entry.errorCode,
      duration_ms: entry.durationMs,
      replayed: entry.replayed ? 1 : 0,
      request_count: entry.count,
      trace_id: entry.traceId,
      span_id: entry.spanId,
      link_id: linkId,
      detail: entry.detail ?? null,
    },
    changingColumns,
  );

/** Columns that a later row of the same `auditId` changes. */
const changingColumns = ["status", "error_code", "duration_ms", "request_count", "link_id"];

/** The entries whose ids the log does not have. */
export async function notInLog(tx: Tx, shopId: string, entries: readonly AuditEntry[]): Promise<readonly AuditEntry[]> {
  const rows = await selectIn<{ audit_id: string }>(
    tx,
    "select audit_id from audit_log where shop_id = ? and audit_id in (?)",
    [shopId],
    entries.map(({ auditId }) => auditId),
  );
  const there = new Set(rows.map((row) => row.audit_id));
  return entries.filter(({ auditId }) => !there.has(auditId));
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
  readonly link_id: string | null;
  readonly detail: string | null;
}

/** A row as it is stored. */
export interface StoredAudit {
  readonly entry: AuditEntry;
  /** The link that it says it is in; null: the one that is named after it. */
  readonly linkId: string | null;
}

/** Where a request was made: the API, agents' surface, the console. A tag begins with it. */
export const auditSurfaces = ["rest", "mcp", "console"] as const;

/** Outcomes of a request: a status below 400, below 500, from 500 on. */
export const auditOutcomes = ["done", "refused", "failed"] as const;

type AuditSurface = (typeof auditSurfaces)[number];
type AuditOutcome = (typeof auditOutcomes)[number];

/** Rows to list; null members let every row through. */
export interface AuditFilters {
  readonly keyId: string | null;
  readonly personId: string | null;
  /** The operation's name; matches every surface's tag. */
  readonly operation: string | null;
  readonly surfaces: readonly AuditSurface[] | null;
  readonly outcomes: readonly AuditOutcome[] | null;
  readonly status: number | null;
}

/** Where a page ended. */
export interface AuditPosition {
  readonly auditId: string;
  /** As it was counted for the first page. */
  readonly totalCount: number;
}

interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: AuditPosition | null;
}

/** A condition with its parameters. */
interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** The range of an index in which the matches are, and what narrows it without leaving the index. */
interface Range {
  readonly within: Condition;
  readonly narrowed: readonly Condition[];
}

/**
 * A limit that leaves out nothing. With an order and a limit PostgreSQL stays in the index; without, it reads the rows
 * of all shops.
 */
const everyRow = Number.MAX_SAFE_INTEGER;

const oneOf = (expression: string, values: readonly SqlValue[]): Condition => ({
  sql: `${expression} in (${values.map(() => "?").join(", ")})`,
  params: values,
});

/** The outcome of a status, as the index has it. */
const outcomeSql = (status: string): string =>
  `(case when ${status} < 400 then 'done' when ${status} < 500 then 'refused' else 'failed' end)`;

const outcomeOf = (status: number): AuditOutcome => {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
};

/** The surface of a tag, as the index has it: tags are compared by code point. */
const surfaceSql = (tag: string): string =>
  `(case when ${tag} < 'mcp:' then 'console' when ${tag} < 'rest:' then 'mcp' else 'rest' end)`;

/**
 * Returns the conditions that narrow a range. An expression of a column that is in no index keeps the engine in the
 * range's own.
 */
function narrowingOf({ operation, surfaces, outcomes, status }: AuditFilters) {
  const [tag, statusColumn] = ["tag || ''", "status + 0"];
  const bySurface = surfaces === null ? [] : [oneOf(surfaceSql(tag), surfaces)];
  return {
    tags: operation === null ? bySurface : [oneOf(`(${tag})`, tagsOf(operation, surfaces))],
    statuses: [
      ...(outcomes === null ? [] : [oneOf(outcomeSql(statusColumn), outcomes)]),
      ...(status === null ? [] : [oneOf(statusColumn, [status])]),
    ],
  };
}

const tagsOf = (operation: string, surfaces: AuditFilters["surfaces"]): readonly string[] =>
  (surfaces ?? auditSurfaces).map((surface) => `${surface}:${operation}`);

/**
 * Ranges of indexes that have all matches, each in the order of a page. The caller comes first, then the operation,
 * then outcome and surface, else the log.
 */
function rangesOf(shopId: string, filters: AuditFilters): readonly Range[] {
  const { keyId, personId, operation, surfaces, outcomes, status } = filters;
  const inShop = (sql: string, ...params: readonly SqlValue[]): Condition => ({
    sql: `shop_id = ? and ${sql}`,
    params: [shopId, ...params],
  });
  const { tags, statuses } = narrowingOf(filters);
  if (keyId !== null) {
    const byPerson = personId === null ? [] : [oneOf("(person_id || '')", [personId])];
    return [{ within: inShop("key_id = ?", keyId), narrowed: [...byPerson, ...tags, ...statuses] }];
  }
  if (personId !== null) return [{ within: inShop("person_id = ?", personId), narrowed: [...tags, ...statuses] }];
  if (operation !== null)
    return tagsOf(operation, surfaces).map((tag) => ({ within: inShop("tag = ?", tag), narrowed: statuses }));
  if (surfaces === null && outcomes === null && status === null)
    return [{ within: { sql: "shop_id = ?", params: [shopId] }, narrowed: [] }];
  // A status is one of those with its outcome.
  const byStatus = status === null ? [] : [oneOf("status + 0", [status])];
  const possible = outcomes ?? (status === null ? auditOutcomes : [outcomeOf(status)]);
  return possible.flatMap((each) =>
    (surfaces ?? auditSurfaces).map((surface) => ({
      within: inShop(`${outcomeSql("status")} = ? and ${surfaceSql("tag")} = ?`, each, surface),
      narrowed: byStatus,
    })),
  );
}

const all = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(" and "),
  params: conditions.flatMap(({ params }) => params),
});

const matching = ({ within, narrowed }: Range): Condition => all([within, ...narrowed]);

/**
 * True if a page after this position walks through more than so many rows: matches are counted, or lie among others.
 */
export async function walksAudit(
  tx: Tx,
  shopId: string,
  filters: AuditFilters,
  after: AuditPosition | null,
  rowsMax: number,
): Promise<boolean> {
  const ranges = rangesOf(shopId, filters).filter(({ narrowed }) => after === null || narrowed.length > 0);
  const found = await Promise.all(
    ranges.map(({ within: { sql, params } }) =>
      tx.all(`select 1 as found from audit_log where ${sql} order by audit_id desc limit 1 offset ?`, [
        ...params,
        rowsMax,
      ]),
    ),
  );
  return found.some((rows) => rows.length > 0);
}

/**
 * A page of the log, newest first, and the number of rows that pass the filters. A page is found in a range of an
 * index, so that it costs the same however long the log is. Matches are counted once, for the first page; the pages
 * after it carry the number on.
 */
export async function listAudit(
  tx: Tx,
  shopId: string,
  filters: AuditFilters,
  after: AuditPosition | null,
  limit: number,
): Promise<AuditPage> {
  const ranges = rangesOf(shopId, filters);
  const pages = ranges.map((range): Condition => {
    const { sql, params } = matching(range);
    const later = after === null ? { sql: "", params: [] } : { sql: " and audit_id < ?", params: [after.auditId] };
    return {
      sql: `select * from (select audit_id from audit_log where ${sql}${later.sql} order by audit_id desc limit ?) page`,
      params: [...params, ...later.params, limit + 1],
    };
  });
  const [found, ...counts] = await Promise.all([
    tx.all<{ audit_id: string }>(
      `select audit_id from (${pages.map(({ sql }) => sql).join(" union all ")}) found order by audit_id desc limit ?`,
      [...pages.flatMap(({ params }) => params), limit + 1],
    ),
    ...(after === null ? ranges : []).map((range) => {
      const { sql, params } = matching(range);
      return tx.all<{ n: number }>(
        `select count(*) as n from (select 1 as one from audit_log where ${sql} order by audit_id limit ?) counted`,
        [...params, everyRow],
      );
    }),
  ]);
  const totalCount = after?.totalCount ?? counts.reduce((sum, [count]) => sum + (count?.n ?? 0), 0);
  const entries = await entriesOf(
    tx,
    shopId,
    found.slice(0, limit).map((row) => row.audit_id),
  );
  const last = found.length > limit ? entries.at(-1) : undefined;
  return { entries, totalCount, end: last === undefined ? null : { auditId: last.auditId, totalCount } };
}

/** The rows of these ids, newest first. By themselves, since a join may be made by reading the whole log. */
async function entriesOf(tx: Tx, shopId: string, auditIds: readonly string[]): Promise<readonly AuditEntry[]> {
  if (auditIds.length === 0) return [];
  const rows = await tx.all<AuditRow>(
    `select ${auditColumns} from audit_log
     where shop_id = ? and audit_id in (${placeholders(auditIds.length)}) order by audit_id desc`,
    [shopId, ...auditIds],
  );
  return rows.map(entryFrom);
}

const auditColumns = `audit_id, at, request_id, tag, key_id, person_id, method, path, status, error_code, duration_ms, replayed,
  request_count, trace_id, span_id, link_id, detail`;

/** The rows of these ids, with the links that they name. */
export async function auditRowsOf(
  tx: Tx,
  shopId: string,
  auditIds: readonly string[],
): Promise<ReadonlyMap<string, StoredAudit>> {
  const rows = await selectIn<AuditRow>(
    tx,
    `select ${auditColumns} from audit_log where shop_id = ? and audit_id in (?)`,
    [shopId],
    auditIds,
  );
  return new Map(rows.map((row) => [row.audit_id, storedFrom(row)]));
}

/** Rows in the order of their ids. */
export async function auditRowsAfter(
  tx: Tx,
  shopId: string,
  afterId: string,
  limit: number,
): Promise<readonly StoredAudit[]> {
  const rows = await tx.all<AuditRow>(
    `select ${auditColumns} from audit_log where shop_id = ? and audit_id > ? order by audit_id limit ?`,
    [shopId, afterId, limit],
  );
  return rows.map(storedFrom);
}

const storedFrom = (row: AuditRow): StoredAudit => ({ entry: entryFrom(row), linkId: row.link_id });

const entryFrom = (row: AuditRow): AuditEntry => ({
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
  ...(row.detail === null ? {} : { detail: row.detail }),
});

/** The newest rows of this operation that the operator or a person has asked for, newest first. */
export async function newestRowsOf(
  tx: Tx,
  shopId: string,
  operation: string,
  rowsMax: number,
): Promise<readonly AuditEntry[]> {
  const rows = await tx.all<AuditRow>(
    `select ${auditColumns} from audit_log where shop_id = ? and tag = ? order by audit_id desc limit ?`,
    [shopId, `console:${operation}`, rowsMax],
  );
  return rows.map(entryFrom);
}
