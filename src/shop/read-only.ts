/**
 * The resources that come in by import and are only read: stock takes and their reasons, stock adjustments, transfer orders and
 * manufacturing orders, between SQL and core.
 *
 * Owns: storing one whole, its lists, reading it and its parts. Does not own: its figures (core) nor what a record looks like in a
 * file (exchange/read-only.ts).
 *
 * A record is a header and parts of several kinds (lines, log, …). The header is stored as text, with a column for each
 * filter; each part is a row. A record is replaced as a whole, in one transaction, so that header and parts always fit.
 *
 * A page of a list is found by keys in the order of an index and then read by key: what it costs grows with the page. Counting walks
 * the index entries of the matches. A search, and filters on top of the first, walk the entries of one index.
 */
import { fold } from "../core/fold.ts";
import { chunksOf, inListMax, placeholders } from "../store/in-lists.ts";
import type { SqlValue, Statement, Tx } from "../store/store.ts";
import { type Fragment, joined } from "./purchase-order-list.ts";

/** What every header has: lists are sorted by it. */
interface Aged {
  readonly createdAtMs: number;
}

/** One resource: where its headers are, and what they can be found by. */
export interface HeaderTable<Header extends Aged> {
  readonly name: "stock_take" | "stock_adjustment" | "transfer_order" | "manufacturing_order";
  readonly idColumn: string;
  idOf(header: Header): string;
  readonly columns: Readonly<Record<string, (header: Header) => SqlValue>>;
}

/** One kind of part of a resource's records: what identifies one within its record, and what order they are in. */
export interface PartKind<Part> {
  readonly resource: HeaderTable<Aged>["name"];
  readonly kind: string;
  idOf(part: Part): string;
  /** What records are searched by; null: not by these parts. */
  readonly variant: ((part: Part) => { readonly variantId: string; readonly sku: string | null }) | null;
  /** When it happened, for parts that are read newest first; null: in the order of the record. */
  readonly at: ((part: Part) => number) | null;
}

/** What a search looks through, one field a line. */
export const searchable = (...fields: readonly (string | null)[]): string =>
  fields.flatMap((field) => (field === null ? [] : fold(field))).join("\n");

const insertPart = `
insert into read_only_part (shop_id, resource, record_id, kind, position, part_id, variant_id, sku, doc)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The rows of these parts; a part's position is its place among those of its kind. */
export function partStatements<Part>(
  shopId: string,
  partKind: PartKind<Part>,
  recordId: string,
  parts: readonly Part[],
): readonly Statement[] {
  const { resource, kind, variant, at } = partKind;
  const idOf = (part: Part): string => partKind.idOf(part);
  const sorted = at === null ? parts : parts.toSorted((a, b) => at(b) - at(a) || (idOf(a) < idOf(b) ? 1 : -1));
  return sorted.map((part, position) => {
    const found = variant === null ? null : variant(part);
    return {
      sql: insertPart,
      params: [
        shopId,
        resource,
        recordId,
        kind,
        position,
        idOf(part),
        found?.variantId ?? null,
        found?.sku ?? null,
        JSON.stringify(part),
      ],
    };
  });
}

/** Stores the header, replacing the one with its id, and takes away what parts that one had. */
export function headerStatements<Header extends Aged>(
  shopId: string,
  table: HeaderTable<Header>,
  header: Header,
): readonly Statement[] {
  const recordId = table.idOf(header);
  const names = Object.keys(table.columns);
  const updates = [...names, "doc"].map((name) => `${name} = excluded.${name}`).join(", ");
  return [
    {
      sql: `insert into ${table.name} (shop_id, ${table.idColumn}, ${names.join(", ")}, doc) values (${placeholders(names.length + 3)})
            on conflict (shop_id, ${table.idColumn}) do update set ${updates}`,
      params: [
        shopId,
        recordId,
        ...Object.values(table.columns).map((valueOf) => valueOf(header)),
        JSON.stringify(header),
      ],
    },
    {
      sql: "delete from read_only_part where shop_id = ? and resource = ? and record_id = ?",
      params: [shopId, table.name, recordId],
    },
  ];
}

// Reading.

interface DocRow {
  readonly doc: string;
}

// Headers and parts are read as they were stored by this module.
const headerFrom = <Header extends Aged>(_table: HeaderTable<Header>, row: DocRow): Header => JSON.parse(row.doc);

const partFrom = <Part>(_kind: PartKind<Part>, row: DocRow): Part => JSON.parse(row.doc);

/** The headers of these records, by id. */
async function loadHeaders<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, Header>> {
  const headers = new Map<string, Header>();
  for (const ids of chunksOf(recordIds, inListMax)) {
    const rows = await tx.all<DocRow>(
      `select doc from ${table.name} where shop_id = ? and ${table.idColumn} in (${placeholders(ids.length)})`,
      [shopId, ...ids],
    );
    for (const row of rows) {
      const header = headerFrom(table, row);
      headers.set(table.idOf(header), header);
    }
  }
  return headers;
}

export async function loadReadOnlyHeader<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  recordId: string,
): Promise<Header | null> {
  return (await loadHeaders(tx, table, shopId, [recordId])).get(recordId) ?? null;
}

/** A page of headers by id, from behind `after` on: how an export goes through a resource. */
export async function pageOfHeaders<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
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

/** The parts of this kind of these records, by record id, each in its order. */
export async function loadParts<Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Part[]>> {
  const parts = new Map<string, Part[]>(recordIds.map((recordId) => [recordId, []]));
  for (const ids of chunksOf(recordIds, inListMax)) {
    const rows = await tx.all<DocRow & { readonly record_id: string }>(
      `select record_id, doc from read_only_part
       where shop_id = ? and resource = ? and kind = ? and record_id in (${placeholders(ids.length)})
       order by record_id, position`,
      [shopId, kind.resource, kind.kind, ...ids],
    );
    for (const row of rows) parts.get(row.record_id)?.push(partFrom(kind, row));
  }
  return parts;
}

/** The parts of this kind of one record, in their order. */
export const partsOf = async <Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  recordId: string,
): Promise<readonly Part[]> => (await loadParts(tx, kind, shopId, [recordId])).get(recordId) ?? [];

export interface PartPage<Part> {
  readonly parts: readonly Part[];
  readonly totalCount: number;
  /** The place of the last part of the page; null on the last page. */
  readonly end: number | null;
}

/** A page of the parts of this kind of one record, from behind place `after` on; all of them when `limit` is null. */
export async function pageOfParts<Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  recordId: string,
  after: number | null,
  limit: number | null,
): Promise<PartPage<Part>> {
  const key = [shopId, kind.resource, recordId, kind.kind];
  const ofRecord = "where shop_id = ? and resource = ? and record_id = ? and kind = ?";
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from read_only_part ${ofRecord}`, key),
    tx.all<DocRow & { readonly position: number }>(
      `select position, doc from read_only_part ${ofRecord} and position > ? order by position${limit === null ? "" : " limit ?"}`,
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

// Lists.

/** Where a page ended. */
export interface ReadOnlyPosition {
  readonly createdAtMs: number;
  readonly recordId: string;
}

export interface ReadOnlyPage<Header> {
  readonly headers: readonly Header[];
  /** Matches over all pages. */
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: ReadOnlyPosition | null;
}

/** A list's filters as SQL over a header table named `r`. */
export interface ReadOnlyQuery {
  /** What leads to the records where it is not the header table: a statement that answers their `record_id`. */
  readonly source: Fragment | null;
  /** All of them hold. */
  readonly all: readonly Fragment[];
  /**
   * One of them holds, and no record fits two. Every branch finds its rows in the order of one index instead of sorting all matches.
   */
  readonly branches: readonly Fragment[];
}

export const equal = (column: string, value: string | null): readonly Fragment[] =>
  value === null ? [] : [{ sql: `r.${column} = ?`, params: [value] }];

/** One condition for each value, none twice. */
export const alternatives = (column: string, values: readonly string[] | null): readonly Fragment[] =>
  values === null ? [] : [...new Set(values)].flatMap((value) => equal(column, value));

export const between = (column: string, fromMs: number | null, beforeMs: number | null): readonly Fragment[] => [
  ...(fromMs === null ? [] : [{ sql: `r.${column} >= ?`, params: [fromMs] }]),
  ...(beforeMs === null ? [] : [{ sql: `r.${column} < ?`, params: [beforeMs] }]),
];

// A text that holds another is changed by taking that out. Unlike a LIKE pattern this needs no escapes and has no length limit.
// The range names every instant: it leads the engine to an index by age, which holds the text.
export const searched = (search: string | null): readonly Fragment[] =>
  search === null
    ? []
    : [
        {
          sql: "r.created_at >= ? and replace(r.search_folded, ?, '') <> r.search_folded",
          params: [Number.MIN_SAFE_INTEGER, fold(search)],
        },
      ];

const anyOf = (conditions: readonly Fragment[]): readonly Fragment[] => {
  if (conditions.length === 0) return [];
  const any = joined(conditions, " or ");
  return [{ sql: `(${any.sql})`, params: any.params }];
};

/** The first filter that has alternatives is searched branch by branch, the others as they are met. */
export function queryOf(
  source: Fragment | null,
  all: readonly Fragment[],
  ...choices: readonly (readonly Fragment[])[]
): ReadOnlyQuery {
  const [first, ...others] = choices.filter((conditions) => conditions.length > 0);
  return { source, all: [...all, ...others.flatMap(anyOf)], branches: first ?? [] };
}

type AnyTable = Pick<HeaderTable<Aged>, "name" | "idColumn">;

/** Headers named `r`. Where parts are searched, their index leads: `cross join` keeps the engine from walking all headers instead. */
function sourceOf({ name, idColumn }: AnyTable, shopId: string, source: Fragment | null): Fragment {
  if (source === null) return { sql: `from ${name} r where r.shop_id = ?`, params: [shopId] };
  return {
    sql: `from (select distinct record_id from (${source.sql}) found) i cross join ${name} r
          where r.shop_id = ? and r.${idColumn} = i.record_id`,
    params: [...source.params, shopId],
  };
}

/** The statement that counts all matches. */
export function countStatement(table: AnyTable, shopId: string, query: ReadOnlyQuery): Statement {
  const where = joined([sourceOf(table, shopId, query.source), ...query.all, ...anyOf(query.branches)], " and ");
  return { sql: `select count(*) as n ${where.sql}`, params: where.params };
}

/** The statement that finds the keys of a page, newest first. */
export function pageStatement(
  table: AnyTable,
  shopId: string,
  query: ReadOnlyQuery,
  after: ReadOnlyPosition | null,
  limit: number,
): Statement {
  const id = table.idColumn;
  const position: readonly Fragment[] =
    after === null ? [] : [{ sql: `(r.created_at, r.${id}) < (?, ?)`, params: [after.createdAtMs, after.recordId] }];
  const shared = [sourceOf(table, shopId, query.source), ...query.all, ...position];
  const branches = (query.branches.length === 0 ? [[]] : query.branches.map((branch) => [branch])).map((branch) => {
    const where = joined([...shared, ...branch], " and ");
    return {
      sql: `select record_id, created_at from (
              select r.${id} as record_id, r.created_at ${where.sql} order by r.created_at desc, r.${id} desc limit ?) branch`,
      params: [...where.params, limit],
    };
  });
  const all = joined(branches, " union all ");
  return {
    sql: `select record_id, created_at from (${all.sql}) page order by created_at desc, record_id desc limit ?`,
    params: [...all.params, limit],
  };
}

/**
 * One page of a resource, newest first with the id as tie-break. Pages neither repeat nor skip a record that stays, whatever comes in
 * meanwhile.
 *
 * @param after where the page before ended; null for the first.
 * Source: C12, C13.
 */
export async function listReadOnly<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  query: ReadOnlyQuery,
  after: ReadOnlyPosition | null,
  limit: number,
): Promise<ReadOnlyPage<Header>> {
  const count = countStatement(table, shopId, query);
  const page = pageStatement(table, shopId, query, after, limit + 1);
  const [[counted], keys] = await Promise.all([
    tx.all<{ n: number }>(count.sql, count.params),
    tx.all<{ record_id: string; created_at: number }>(page.sql, page.params),
  ]);
  const shown = keys.slice(0, limit);
  const headers = await loadHeaders(
    tx,
    table,
    shopId,
    shown.map((key) => key.record_id),
  );
  const last = shown.at(-1);
  return {
    headers: shown.flatMap((key) => headers.get(key.record_id) ?? []),
    totalCount: counted?.n ?? 0,
    end: keys.length > limit && last !== undefined ? { createdAtMs: last.created_at, recordId: last.record_id } : null,
  };
}
