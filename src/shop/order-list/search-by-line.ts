/**
 * The orders with a line of a variant or SKU, newest first, for the list (purchase-order-list.ts): how many match, and
 * a page of their keys.
 *
 * Their keys are a range of an index of lines, in the order of the list. What else is asked of an order is found in one
 * of two ways:
 *
 * - Looked up by key, one by one, for each order with such a line. A join or `exists` would let PostgreSQL begin with
 *   the orders and read all lines for each. It does so when it takes the shop for a small one. It leaves a `select` of
 *   a value as it is, and cannot look for what is within `case` in an index.
 * - Merged: a filter for one value is a range of an index too, in the same order. `intersect` reads both ranges once,
 *   side by side. For an entry that is a tenth of a look-up or less, so it is done unless the other range is much
 *   longer (D370).
 */
import { placeholders } from "../../store/in-lists.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { type Fragment, joined } from "../fragment.ts";
import type { OrderKey } from "./block-search.ts";
import { type CountKind, countOf } from "./purchase-order-counts.ts";

/** A filter by what a line has. */
interface LineFilter {
  readonly kind: Extract<CountKind, "variant" | "sku">;
  readonly column: "variant_id" | "sku";
  /** One, but for a SKU with letters beyond A to Z: as it may be stored, lowered. */
  readonly values: readonly string[];
}

/** The condition that the line of this name has it. */
const has = (line: string, { column, values }: LineFilter): string => {
  const expression = column === "sku" ? `lower(${line}.sku)` : `${line}.${column}`;
  return values.length === 1 ? `${expression} = ?` : `${expression} in (${placeholders(values.length)})`;
};

/** A filter by one of some values of a column that has an index in the order of the list. */
interface ValueFilter {
  readonly kind: Exclude<CountKind, "all" | "day" | "variant" | "sku">;
  /** Of `o`. */
  readonly column: string;
  /** Each once. */
  readonly values: readonly string[];
}

export interface LineQuery {
  readonly lines: readonly [LineFilter, ...LineFilter[]];
  readonly values: readonly ValueFilter[];
  /** Other conditions on an order `o`. */
  readonly others: readonly Fragment[];
  readonly createdFromMs: number | null;
  readonly createdBeforeMs: number | null;
}

/** Cost of a look-up, as a multiple of that of a merged range's entry. */
const lookUpEntries = 12;

/** The newest orders with such a line that are looked at one by one for a page, before ranges are merged. */
const walkedMax = 256;

/** Values of one filter that are merged, each with the lines' range. */
const branchesMax = 4;

/** Way in which the orders are found. */
interface Plan {
  readonly first: LineFilter;
  /** Ranges merged with the first; of a filter with several values one in each branch. */
  readonly branches: readonly (readonly Fragment[])[];
  /** Conditions that are looked up for each key, which has these two columns. */
  readonly probes: (createdAt: string, id: string) => readonly Fragment[];
}

const lineRange = (shopId: string, filter: LineFilter): Fragment => ({
  sql: `select l.order_created_at as created_at, l.purchase_order_id from purchase_order_line l
        where l.shop_id = ? and ${has("l", filter)} and l.order_created_at is not null`,
  params: [shopId, ...filter.values],
});

const orderRange = (shopId: string, column: string, value: string): Fragment => ({
  sql: `select o.created_at, o.purchase_order_id from purchase_order o
        where o.shop_id = ? and ${column} = ? and o.deleted_at is null`,
  params: [shopId, value],
});

const anyOf = ({ column, values }: ValueFilter): Fragment => ({
  sql: `${column} in (${placeholders(values.length)})`,
  params: values,
});

/** Looks up lines and what is asked of the order. */
const probesOf =
  (shopId: string, lines: readonly LineFilter[], predicates: readonly Fragment[]): Plan["probes"] =>
  (createdAt, id) => {
    const { sql, params } = joined(predicates, " and ");
    return [
      ...lines.map((filter) => ({
        sql: `(select 1 from purchase_order_line s where s.shop_id = ? and ${has("s", filter)}
                and s.order_created_at = ${createdAt} and s.purchase_order_id = ${id} limit 1) = 1`,
        params: [shopId, ...filter.values],
      })),
      ...(predicates.length === 0
        ? []
        : [
            {
              sql: `(select case when ${sql} then 1 end from purchase_order o where o.shop_id = ? and o.purchase_order_id = ${id}) = 1`,
              params: [...params, shopId],
            },
          ]),
    ];
  };

/** A plan that looks everything up. */
const walkOf = (shopId: string, { lines: [first, ...lines], values, others }: LineQuery): Plan => ({
  first,
  branches: [[]],
  probes: probesOf(shopId, lines, [...values.map(anyOf), ...others]),
});

/** A plan that merges what is worth it; null: nothing is. */
async function mergeOf(tx: Tx, shopId: string, query: LineQuery): Promise<Plan | null> {
  if (query.lines.length + query.values.length === 1) return null;
  const [lines, values] = await Promise.all([
    Promise.all(query.lines.map(async (line) => ({ line, orders: await countOf(tx, shopId, line.kind, line.values) }))),
    Promise.all(
      query.values.map(async (filter) => ({ filter, orders: await countOf(tx, shopId, filter.kind, filter.values) })),
    ),
  ]);
  const [rarest, ...otherLines] = lines.sort((a, b) => a.orders - b.orders);
  if (rarest === undefined || rarest.orders <= walkedMax) return null;
  const isWorth = ({ orders }: { readonly orders: number }): boolean => orders <= rarest.orders * lookUpEntries;
  const worthLines = otherLines.filter(isWorth);
  const worth = values.filter(isWorth).map(({ filter }) => filter);
  const several = worth.find(({ values: wanted }) => wanted.length > 1 && wanted.length <= branchesMax);
  const merged = worth.filter((filter) => filter.values.length === 1 || filter === several);
  if (worthLines.length + merged.length === 0) return null;
  const range = ({ column }: ValueFilter, value: string): Fragment => orderRange(shopId, column, value);
  const shared = [
    ...worthLines.map(({ line }) => lineRange(shopId, line)),
    ...merged.flatMap((filter) => (filter === several ? [] : filter.values.map((value) => range(filter, value)))),
  ];
  const probedLines = otherLines.flatMap(({ line, orders }) => (isWorth({ orders }) ? [] : line));
  const probes = values.flatMap(({ filter }) => (merged.includes(filter) ? [] : anyOf(filter)));
  return {
    first: rarest.line,
    branches: several === undefined ? [shared] : several.values.map((value) => [...shared, range(several, value)]),
    probes: probesOf(shopId, probedLines, [...probes, ...query.others]),
  };
}

/** The part of a range that is asked for. */
function within(range: Fragment, { createdFromMs, createdBeforeMs }: LineQuery, after: OrderKey | null): Fragment {
  const [createdAt, id] = range.sql.startsWith("select l.")
    ? ["l.order_created_at", "l.purchase_order_id"]
    : ["o.created_at", "o.purchase_order_id"];
  const parts: Fragment[] = [range];
  const narrow = (sql: string, ...params: readonly SqlValue[]): unknown => parts.push({ sql, params });
  if (createdFromMs !== null) narrow(`${createdAt} >= ?`, createdFromMs);
  if (createdBeforeMs !== null) narrow(`${createdAt} < ?`, createdBeforeMs);
  if (after !== null) narrow(`(${createdAt}, ${id}) < (?, ?)`, after.created_at, after.purchase_order_id);
  return joined(parts, " and ");
}

/** The first so many of them, newest first. SQLite reads the ranges in this order if it stands at their own level. */
const newest = ({ sql, params }: Fragment, limit: number): Fragment => ({
  sql: `${sql} order by created_at desc, purchase_order_id desc limit ?`,
  params: [...params, limit],
});

const from = ({ sql, params }: Fragment): Fragment => ({
  sql: `select created_at, purchase_order_id from (${sql}) k`,
  params,
});

/** Range of the keys that a plan finds. */
interface KeyRange {
  readonly after: OrderKey | null;
  /** No more than so many of the newest orders with such a line are looked at; null: all. */
  readonly walked: number | null;
  /** No more than so many of the newest are found; null: all. */
  readonly limit: number | null;
}

/** The keys that a plan finds, each once. */
function keysOf(
  shopId: string,
  { first, branches, probes }: Plan,
  query: LineQuery,
  { after, walked, limit }: KeyRange,
): Fragment {
  const lines = within(lineRange(shopId, first), query, after);
  const distinct = { sql: lines.sql.replace("select", "select distinct"), params: lines.params };
  const found = branches.map((merged): Fragment => {
    const ranges = [lines, ...merged.map((range) => within(range, query, after))];
    const isPlain = merged.length === 0 && walked === null;
    const keys = merged.length === 0 ? distinct : joined(ranges, " intersect ");
    const some = walked === null ? keys : newest(keys, walked);
    const where = isPlain
      ? probes("l.order_created_at", "l.purchase_order_id")
      : probes("k.created_at", "k.purchase_order_id");
    const [condition, ...conditions] = where;
    const matching =
      condition === undefined
        ? some
        : joined(
            [isPlain ? some : from(some), joined([condition, ...conditions], " and ")],
            isPlain ? " and " : " where ",
          );
    return limit === null
      ? matching
      : newest(condition === undefined && walked !== null ? from(matching) : matching, limit);
  });
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const all = joined(found.map(from), " union all ");
  return limit === null ? all : newest(all, limit);
}

const countBy = (shopId: string, plan: Plan, query: LineQuery): Fragment => {
  const { sql, params } = keysOf(shopId, plan, query, { after: null, walked: null, limit: null });
  return { sql: `select count(*) as n from (${sql}) found`, params };
};

/** The statement that counts all matches by looking each up. */
export const countByLine = (shopId: string, query: LineQuery): Fragment =>
  countBy(shopId, walkOf(shopId, query), query);

/** The statement that finds the keys of a page by looking each up, newest first. */
export const pageByLine = (shopId: string, query: LineQuery, after: OrderKey | null, limit: number): Fragment =>
  keysOf(shopId, walkOf(shopId, query), query, { after, walked: null, limit });

/** The statements of the same that merge; null: merging is not worth it. */
export async function mergedStatements(
  tx: Tx,
  shopId: string,
  query: LineQuery,
  after: OrderKey | null,
  limit: number,
): Promise<{ readonly count: Fragment; readonly nearby: Fragment; readonly page: Fragment } | null> {
  const plan = await mergeOf(tx, shopId, query);
  if (plan === null) return null;
  const { first } = plan;
  const lines = [first, ...query.lines.filter((line) => line !== first)] as const;
  return {
    count: countBy(shopId, plan, query),
    // PostgreSQL merges all before it sorts. Where most match, a page is found among the newest.
    nearby: keysOf(shopId, walkOf(shopId, { ...query, lines }), query, { after, walked: walkedMax, limit }),
    page: keysOf(shopId, plan, query, { after, walked: null, limit }),
  };
}

/**
 * Counts the orders that match, and finds the keys of a page of them, newest first.
 *
 * @param after where the page before ended; null for the first.
 */
export async function ordersByLine(
  tx: Tx,
  shopId: string,
  query: LineQuery,
  after: OrderKey | null,
  limit: number,
): Promise<{ readonly totalCount: number; readonly keys: readonly OrderKey[] }> {
  const keysBy = ({ sql, params }: Fragment): Promise<OrderKey[]> => tx.all<OrderKey>(sql, params);
  const countedBy = async ({ sql, params }: Fragment): Promise<number> =>
    (await tx.all<{ n: number }>(sql, params))[0]?.n ?? 0;
  const merged = await mergedStatements(tx, shopId, query, after, limit);
  const [totalCount, keys] = await Promise.all([
    countedBy(merged === null ? countByLine(shopId, query) : merged.count),
    keysBy(merged === null ? pageByLine(shopId, query, after, limit) : merged.nearby),
  ]);
  const isWhole = merged === null || keys.length === limit || (after === null && keys.length === totalCount);
  return { totalCount, keys: isWhole ? keys : await keysBy(merged.page) };
}
