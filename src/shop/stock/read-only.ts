/**
 * Read-only resources between SQL and core. A read-only resource is a stock take, a stock adjustment, a transfer order
 * or a manufacturing order. It comes in by import and is only read.
 *
 * Owns: storing a resource, reading it and its parts, and its lists. Does not own: figures (core) or the records of a
 * file (exchange/records/read-only.ts).
 *
 * A resource is a header and parts of several kinds (lines, log, …). The header is one row: JSON text, with a column
 * for each filter. Each part is a row of `read_only_part`, whose `record_id` is the resource's id. A resource is
 * replaced as a whole in one transaction, so header and parts always belong together.
 *
 * A page of a list is found by keys in the order of an index and then read by key. So its cost grows with the page.
 * Counting walks the index entries of the matches. A search, and every filter after the first, walks the entries of one
 * index.
 */
import { foldedLines, wordsOf } from "../../base/text/fold.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { SqlValue, Statement, Tx } from "../../store/store.ts";
import type { LogEntry } from "../order/purchase-order-history.ts";
import { type Fragment, joined } from "../fragment.ts";
import { type Change, insert, replace, remove } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Fields of every header: lists are sorted by them. */
interface Dated {
  readonly createdAtMs: number;
}

/** Where the headers of one type of resource are kept, and the columns that they can be found by. */
export interface ResourceTable<Header extends Dated> {
  readonly name: "stock_take" | "stock_adjustment" | "transfer_order" | "manufacturing_order";
  readonly idColumn: string;
  idOf(header: Header): string;
  /** The texts that a search looks through. */
  searched(header: Header): readonly (string | null)[];
  /** The columns of its filters. */
  readonly columns: Readonly<Record<string, (header: Header) => SqlValue>>;
}

/** One kind of part of one type of resource. */
export interface PartKind<Part> {
  readonly resource: ResourceTable<Dated>["name"];
  readonly kind: string;
  /** Unique within its resource. */
  idOf(part: Part): string;
  /** Resources are found by these; null: not by parts of this kind. */
  readonly variant: ((part: Part) => { readonly variantId: string; readonly sku: string | null }) | null;
  /** When it happened, for parts that are read newest first; null: in the order in which they came in. */
  readonly atMs: ((part: Part) => number) | null;
}

/**
 * Parts that are read in the order in which they came in. `variant`: resources are found by their variants and SKUs.
 */
export const partKind = <Part>(
  resource: PartKind<Part>["resource"],
  kind: string,
  idOf: (part: Part) => string,
  variant: PartKind<Part>["variant"] = null,
): PartKind<Part> => ({ resource, kind, idOf, variant, atMs: null });

/** The activity log, newest first. */
export const logKind = (resource: PartKind<LogEntry>["resource"]): PartKind<LogEntry> => ({
  resource,
  kind: "log",
  idOf: (entry) => entry.logId,
  variant: null,
  atMs: (entry) => entry.occurredAtMs,
});

// Storing.

/** The parts of one kind of a resource, on their way into rows. */
type PartRows = (shopId: string, resourceId: string) => readonly Change[];

/** The rows of these parts, in the order in which they are read. */
export function partRows<Part>(kind: PartKind<Part>, parts: readonly Part[]): PartRows {
  const { atMs, variant } = kind;
  const idOf = (part: Part): string => kind.idOf(part);
  const sorted = atMs === null ? parts : parts.toSorted((a, b) => atMs(b) - atMs(a) || (idOf(a) < idOf(b) ? 1 : -1));
  return (shopId, resourceId) =>
    sorted.map((part, position) => {
      const searched = variant === null ? null : variant(part);
      return insert(tables.read_only_part, shopId, {
        resource: kind.resource,
        record_id: resourceId,
        kind: kind.kind,
        position,
        part_id: idOf(part),
        variant_id: searched?.variantId ?? null,
        sku: searched?.sku ?? null,
        doc: JSON.stringify(part),
      });
    });
}

/** Stores a resource, replacing the one with its id and all parts of that one. */
export function resourceStatements<Header extends Dated>(
  shopId: string,
  table: ResourceTable<Header>,
  header: Header,
  parts: readonly PartRows[],
): readonly Change[] {
  const resourceId = table.idOf(header);
  const row = {
    [table.idColumn]: resourceId,
    created_at: header.createdAtMs,
    search_folded: foldedLines(table.searched(header)),
    ...Object.fromEntries(Object.entries(table.columns).map(([name, valueOf]) => [name, valueOf(header)])),
  };
  return [
    replace({ name: table.name, key: [table.idColumn] }, shopId, { ...row, doc: JSON.stringify(header) }),
    remove(tables.read_only_part, shopId, { resource: table.name, record_id: resourceId }),
    ...parts.flatMap((rows) => rows(shopId, resourceId)),
  ];
}

// Reading.

interface DocRow {
  readonly doc: string;
}

// Stored text is trusted: this module wrote it.
const headerFrom = <Header extends Dated>(_table: ResourceTable<Header>, row: DocRow): Header => JSON.parse(row.doc);

const partFrom = <Part>(_kind: PartKind<Part>, row: DocRow): Part => JSON.parse(row.doc);

/** The headers of these resources, by id. */
async function loadHeaders<Header extends Dated>(
  tx: Tx,
  table: ResourceTable<Header>,
  shopId: string,
  resourceIds: readonly string[],
): Promise<ReadonlyMap<string, Header>> {
  const rows = await selectIn<DocRow>(
    tx,
    `select doc from ${table.name} where shop_id = ? and ${table.idColumn} in (?)`,
    [shopId],
    resourceIds,
  );
  const headers = rows.map((row) => headerFrom(table, row));
  return new Map(headers.map((header) => [table.idOf(header), header]));
}

/** The header of one resource; null when there is no such. */
export async function loadHeader<Header extends Dated>(
  tx: Tx,
  table: ResourceTable<Header>,
  shopId: string,
  resourceId: string,
): Promise<Header | null> {
  return (await loadHeaders(tx, table, shopId, [resourceId])).get(resourceId) ?? null;
}

/** A page of headers by id, after the id `after`. An export goes through a table so. */
export async function pageOfHeaders<Header extends Dated>(
  tx: Tx,
  table: ResourceTable<Header>,
  shopId: string,
  after: string,
  limit: number,
): Promise<readonly Header[]> {
  const rows = await tx.all<DocRow>(
    `select doc from ${table.name} where shop_id = ? and ${table.idColumn} > ? order by ${table.idColumn} limit ?`,
    [shopId, after, limit],
  );
  return rows.map((row) => headerFrom(table, row));
}

/** The parts of this kind of these resources, by resource id, each in its order. */
export async function loadParts<Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  resourceIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Part[]>> {
  const parts = new Map<string, Part[]>(resourceIds.map((resourceId) => [resourceId, []]));
  const rows = await selectIn<DocRow & { readonly record_id: string }>(
    tx,
    `select record_id, doc from read_only_part
     where shop_id = ? and resource = ? and kind = ? and record_id in (?) order by record_id, position`,
    [shopId, kind.resource, kind.kind],
    resourceIds,
  );
  for (const row of rows) parts.get(row.record_id)?.push(partFrom(kind, row));
  return parts;
}

/** Returns the number of parts of these resources, of all kinds, by resource id; one without any is left out. */
export async function countParts(
  tx: Tx,
  resource: ResourceTable<Dated>["name"],
  shopId: string,
  resourceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = await selectIn<{ record_id: string; n: number }>(
    tx,
    `select record_id, count(*) as n from read_only_part
     where shop_id = ? and resource = ? and record_id in (?) group by record_id`,
    [shopId, resource],
    resourceIds,
  );
  return new Map(counts.map(({ record_id: resourceId, n }) => [resourceId, n]));
}

interface PartPage<Part> {
  readonly parts: readonly Part[];
  /** Over all pages. */
  readonly totalCount: number;
  /** The position of the page's last part; null on the last page. */
  readonly end: number | null;
}

/** A page of the parts of this kind of one resource, after position `after`; all of them when `limit` is null. */
export async function pageOfParts<Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  resourceId: string,
  after: number | null,
  limit: number | null,
): Promise<PartPage<Part>> {
  const key = [shopId, kind.resource, resourceId, kind.kind];
  const ofResource = "where shop_id = ? and resource = ? and record_id = ? and kind = ?";
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from read_only_part ${ofResource}`, key),
    tx.all<DocRow & { readonly position: number }>(
      `select position, doc from read_only_part ${ofResource} and position > ? order by position${limit === null ? "" : " limit ?"}`,
      [...key, after ?? -1, ...(limit === null ? [] : [limit + 1])],
    ),
  ]);
  const shown = limit === null ? rows : rows.slice(0, limit);
  return {
    parts: shown.map((row) => partFrom(kind, row)),
    totalCount: counted?.n ?? 0,
    end: rows.length > shown.length ? (shown.at(-1)?.position ?? null) : null,
  };
}

// Filters: SQL over a resource table named `r`.

/** The filters of a list. */
export interface ResourceQuery {
  /** A statement that finds the `record_id` of candidates; null: every resource is one. */
  readonly source: Fragment | null;
  /** All of them hold. */
  readonly all: readonly Fragment[];
  /**
   * One of them holds, and no resource fits two. Each branch finds its rows in the order of one index instead of
   * sorting all matches.
   */
  readonly branches: readonly Fragment[];
}

/** The column has this value; null: no condition. */
export const equal = (column: string, value: string | null): readonly Fragment[] =>
  value === null ? [] : [{ sql: `r.${column} = ?`, params: [value] }];

/** One condition for each distinct value; null: no condition. */
export const oneOf = (column: string, values: readonly string[] | null): readonly Fragment[] =>
  values === null ? [] : [...new Set(values)].flatMap((value) => equal(column, value));

/** The column is at or after `fromMs` and before `beforeMs`; null: no such bound. */
export const between = (column: string, fromMs: number | null, beforeMs: number | null): readonly Fragment[] => [
  ...(fromMs === null ? [] : [{ sql: `r.${column} >= ?`, params: [fromMs] }]),
  ...(beforeMs === null ? [] : [{ sql: `r.${column} < ?`, params: [beforeMs] }]),
];

/** The search text contains each of these words; null: no condition. */
export function contains(search: string | null): readonly Fragment[] {
  const words = wordsOf(search);
  if (words.length === 0) return [];
  return [
    // The range covers every instant: it leads the engine to the index by age, which holds the text.
    { sql: "r.created_at >= ?", params: [Number.MIN_SAFE_INTEGER] },
    // A text changes by removing what it contains. Unlike a LIKE pattern this needs no escapes and has no length limit.
    ...words.map((word) => ({ sql: "replace(r.search_folded, ?, '') <> r.search_folded", params: [word] })),
  ];
}

const anyOf = (conditions: readonly Fragment[]): readonly Fragment[] => {
  if (conditions.length === 0) return [];
  const any = joined(conditions, " or ");
  return [{ sql: `(${any.sql})`, params: any.params }];
};

/**
 * The conditions of a list. Of `choices`, each a list of alternatives, the first that is not empty becomes the
 * branches.
 */
export function resourceQuery(
  source: Fragment | null,
  all: readonly Fragment[],
  ...choices: readonly (readonly Fragment[])[]
): ResourceQuery {
  const [first, ...others] = choices.filter((conditions) => conditions.length > 0);
  return { source, all: [...all, ...others.flatMap(anyOf)], branches: first ?? [] };
}

// Lists.

/** Where a page ended. */
export interface ResourcePosition {
  readonly createdAtMs: number;
  readonly resourceId: string;
}

export interface ResourcePage<Header> {
  readonly headers: readonly Header[];
  /** Matches over all pages. */
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: ResourcePosition | null;
}

type AnyTable = Pick<ResourceTable<Dated>, "name" | "idColumn">;

/** The keys of the headers, named `r`, that fit one of the branches. */
function keysOf(
  { name, idColumn }: AnyTable,
  shopId: string,
  query: ResourceQuery,
  position: readonly Fragment[],
  branches: readonly Fragment[],
): Fragment {
  const predicates = [...query.all, ...anyOf(branches)];
  if (query.source === null) {
    const all = joined([...predicates, ...position], " and ");
    return {
      sql: `select r.${idColumn} as resource_id, r.created_at from ${name} r where r.shop_id = ?${all.sql === "" ? "" : ` and ${all.sql}`}`,
      params: [shopId, ...all.params],
    };
  }
  // Candidates are looked up by key, one by one: with a join an engine may walk all headers instead.
  const all = joined(predicates, " and ");
  const which = joined([{ sql: "r.created_at is not null", params: [] }, ...position], " and ");
  return {
    sql: `select r.resource_id, r.created_at from (
            select i.record_id as resource_id, (
              select ${all.sql === "" ? "r.created_at" : `case when ${all.sql} then r.created_at end`} from ${name} r
              where r.shop_id = ? and r.${idColumn} = i.record_id) as created_at
            from (select distinct record_id from (${query.source.sql}) found) i) r where ${which.sql}`,
    params: [...all.params, shopId, ...query.source.params, ...which.params],
  };
}

/** The statement that counts all matches. */
export function countStatement(table: AnyTable, shopId: string, query: ResourceQuery): Statement {
  const keys = keysOf(table, shopId, query, [], query.branches);
  return { sql: `select count(*) as n from (${keys.sql}) found`, params: keys.params };
}

/** The statement that finds the keys of a page, newest first. */
export function pageStatement(
  table: AnyTable,
  shopId: string,
  query: ResourceQuery,
  after: ResourcePosition | null,
  limit: number,
): Statement {
  const id = query.source === null ? table.idColumn : "resource_id";
  const position: readonly Fragment[] =
    after === null ? [] : [{ sql: `(r.created_at, r.${id}) < (?, ?)`, params: [after.createdAtMs, after.resourceId] }];
  // The candidates of a source are sorted in any case.
  const branches = query.source === null ? query.branches.map((branch) => [branch]) : [query.branches];
  const parts = (branches.length === 0 ? [[]] : branches).map((branch): Fragment => {
    const keys = keysOf(table, shopId, query, position, branch);
    return {
      sql: `select resource_id, created_at from (${keys.sql} order by r.created_at desc, r.${id} desc limit ?) branch`,
      params: [...keys.params, limit],
    };
  });
  const all = joined(parts, " union all ");
  return {
    sql: `select resource_id, created_at from (${all.sql}) page order by created_at desc, resource_id desc limit ?`,
    params: [...all.params, limit],
  };
}

/**
 * One page of a list, newest first with the id as tie-break. Pages neither repeat nor skip a resource that stays,
 * whatever is imported meanwhile.
 *
 * @param after where the page before ended; null for the first.
 * Source: C12, C13.
 */
export async function listResources<Header extends Dated>(
  tx: Tx,
  table: ResourceTable<Header>,
  shopId: string,
  query: ResourceQuery,
  after: ResourcePosition | null,
  limit: number,
): Promise<ResourcePage<Header>> {
  const count = countStatement(table, shopId, query);
  const page = pageStatement(table, shopId, query, after, limit + 1);
  const [[counted], keys] = await Promise.all([
    tx.all<{ n: number }>(count.sql, count.params),
    tx.all<{ resource_id: string; created_at: number }>(page.sql, page.params),
  ]);
  const shown = keys.slice(0, limit);
  const ids = shown.map((key) => key.resource_id);
  const headers = await loadHeaders(tx, table, shopId, ids);
  const last = shown.at(-1);
  return {
    headers: ids.flatMap((resourceId) => headers.get(resourceId) ?? []),
    totalCount: counted?.n ?? 0,
    end:
      keys.length > limit && last !== undefined ? { createdAtMs: last.created_at, resourceId: last.resource_id } : null,
  };
}
