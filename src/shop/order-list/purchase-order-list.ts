/**
 * The list of a shop's orders: filters, stable pages, the count of all matches (C12, C13).
 *
 * A page is found by keys alone, in an index that has the page's order, and its rows are then read by key. So its cost
 * grows with the page, not with the shop. For one filter the count is kept (purchase-order-counts.ts). The shop's
 * digest (block-tables.ts) answers searches, several filters at once and a day before which something is expected. So
 * their cost grows little with the shop. Without one, counting reads the index entries of the matches. So it does for a
 * variant or SKU together with other filters (search-by-line.ts).
 */
import { wordsOf } from "../../base/text/fold.ts";
import type { Header, PaidStatus, Status, StorefrontSyncState } from "../../core/order/purchase-order.ts";
import type { Tx } from "../../store/store.ts";
import { caseForms } from "../code-forms.ts";
import { type Fragment, joined } from "../fragment.ts";
import { type Wanted, isSearchable } from "./block-format.ts";
import { type OrderKey, matchesOf } from "./block-search.ts";
import { type LineQuery, countByLine, pageByLine, ordersByLine } from "./search-by-line.ts";
import { type CountKind, countCreated, countOf } from "./purchase-order-counts.ts";
import { loadHeaders } from "../order/purchase-orders.ts";

/** Null: not filtered by it. */
export interface OrderFilters {
  readonly statuses: readonly Status[] | null;
  readonly paidStatuses: readonly PaidStatus[] | null;
  readonly storefrontSyncStates: readonly StorefrontSyncState[] | null;
  /** Something is expected before this day. */
  readonly expectedBefore: string | null;
  readonly supplierId: string | null;
  readonly locationId: string | null;
  /** Orders with a line of this variant. */
  readonly variantId: string | null;
  /** Orders with a line of this SKU, whatever the case and the blanks around it. */
  readonly sku: string | null;
  /** Words, each within number, name, supplier reference, a tag or the supplier's name, folded (base/text/fold.ts). */
  readonly search: string | null;
  /** Created at this instant or later. */
  readonly createdFromMs: number | null;
  /** Created before this instant. */
  readonly createdBeforeMs: number | null;
}

/** Where a page ended. */
interface OrderPosition {
  readonly createdAtMs: number;
  readonly purchaseOrderId: string;
}

interface OrderPage {
  readonly orders: readonly Header[];
  /** Matches over all pages. */
  readonly totalCount: number;
  /** The position after which the next page begins. Null on the last page. */
  readonly end: OrderPosition | null;
}

// A text contains another if removing that changes it. Unlike a LIKE pattern this needs no escapes and has no length
// limit.
const searchSql = `(replace(o.search_folded, ?, '') <> o.search_folded or o.supplier_id in
  (select supplier_id from supplier where shop_id = ? and replace(name_folded, ?, '') <> name_folded))`;

const expectedFragments = ({ expectedBefore }: OrderFilters): readonly Fragment[] =>
  expectedBefore === null ? [] : [{ sql: "o.next_expected_date < ?", params: [expectedBefore] }];

function searchFragments(shopId: string, filters: OrderFilters): readonly Fragment[] {
  return wordsOf(filters.search).map((word) => ({ sql: searchSql, params: [word, shopId, word] }));
}

function conditions(shopId: string, filters: OrderFilters): readonly Fragment[] {
  const parts: Fragment[] = [{ sql: "o.deleted_at is null", params: [] }];
  if (filters.supplierId !== null) parts.push({ sql: "o.supplier_id = ?", params: [filters.supplierId] });
  if (filters.locationId !== null) parts.push({ sql: "o.location_id = ?", params: [filters.locationId] });
  parts.push(...expectedFragments(filters));
  // A search always has a range, so that the engine uses the one index that has the columns of a search.
  const createdFromMs = filters.createdFromMs ?? (filters.search === null ? null : Number.MIN_SAFE_INTEGER);
  if (createdFromMs !== null) parts.push({ sql: "o.created_at >= ?", params: [createdFromMs] });
  if (filters.createdBeforeMs !== null) parts.push({ sql: "o.created_at < ?", params: [filters.createdBeforeMs] });
  return [...parts, ...searchFragments(shopId, filters)];
}

/** A filter that takes several values. */
interface Enumeration {
  readonly column: string;
  readonly values: readonly string[];
}

/** The filters with several values that are asked for. */
const enumerations = (filters: OrderFilters): readonly Enumeration[] =>
  Object.entries({
    "o.status": filters.statuses,
    "o.paid_status": filters.paidStatuses,
    "o.storefront_sync_state": filters.storefrontSyncStates,
  }).flatMap(([column, values]) => (values === null ? [] : [{ column, values }]));

const anyOf = ({ column, values }: Enumeration): Fragment => ({
  sql: `${column} in (${values.map(() => "?").join(", ")})`,
  params: values,
});

/**
 * One branch for each value of the first filter that has several. So every branch finds its rows in the order of one
 * index instead of sorting all matches. A value given twice has one branch, or its orders would come twice.
 */
function branches(filters: OrderFilters): readonly (readonly Fragment[])[] {
  const [first, ...others] = enumerations(filters);
  if (first === undefined) return [[]];
  const narrowed = others.map(anyOf);
  return [...new Set(first.values)].map((value) => [{ sql: `${first.column} = ?`, params: [value] }, ...narrowed]);
}

/** Everything that is asked of an order `o` itself. */
const conditionsOfOrder = (shopId: string, filters: OrderFilters): readonly Fragment[] => [
  ...conditions(shopId, filters),
  ...enumerations(filters).map(anyOf),
];

const one = (value: string | null): readonly string[] | null => (value === null ? null : [value]);

/** The filters by a line with what else is asked; null: there is none by a line. */
function lineQuery(shopId: string, filters: OrderFilters): LineQuery | null {
  const { variantId, sku, createdFromMs, createdBeforeMs } = filters;
  const [first, ...others] = [
    ...(variantId === null ? [] : [{ kind: "variant", column: "variant_id", values: [variantId] } as const]),
    ...(sku === null ? [] : [{ kind: "sku", column: "sku", values: caseForms(sku.trim()) } as const]),
  ];
  if (first === undefined) return null;
  const values = (
    [
      ["status", "o.status", filters.statuses],
      ["paid-status", "o.paid_status", filters.paidStatuses],
      ["sync-state", "o.storefront_sync_state", filters.storefrontSyncStates],
      ["supplier", "o.supplier_id", one(filters.supplierId)],
      ["location", "o.location_id", one(filters.locationId)],
    ] as const
  ).flatMap(([kind, column, wanted]) => (wanted === null ? [] : [{ kind, column, values: [...new Set(wanted)] }]));
  return {
    lines: [first, ...others],
    values,
    others: [...expectedFragments(filters), ...searchFragments(shopId, filters)],
    createdFromMs,
    createdBeforeMs,
  };
}

/** The statement that counts all matches. */
export function countStatement(shopId: string, filters: OrderFilters): Fragment {
  const byLine = lineQuery(shopId, filters);
  if (byLine !== null) return countByLine(shopId, byLine);
  const where = joined([ofShop(shopId), ...conditionsOfOrder(shopId, filters)], " and ");
  return { sql: `select count(*) as n ${where.sql}`, params: where.params };
}

/** The shop's orders, as `o`. */
const ofShop = (shopId: string): Fragment => ({ sql: "from purchase_order o where o.shop_id = ?", params: [shopId] });

/** A filter for which the count is kept. */
type KeptFilter =
  | { readonly kind: Exclude<CountKind, "day">; readonly values: readonly string[] }
  | { readonly kind: "day"; readonly fromMs: number | null; readonly beforeMs: number | null };

/** The one filter that is asked for, if the count of its matches is kept; null: matches must be counted. */
function keptFilter(filters: OrderFilters): KeptFilter | null {
  if (filters.search !== null || filters.expectedBefore !== null) return null;
  const { createdFromMs: fromMs, createdBeforeMs: beforeMs } = filters;
  const orderFilters: KeptFilter[] = [];
  for (const [kind, values] of [
    ["status", filters.statuses],
    ["paid-status", filters.paidStatuses],
    ["sync-state", filters.storefrontSyncStates],
    ["supplier", one(filters.supplierId)],
    ["location", one(filters.locationId)],
    ["variant", one(filters.variantId)],
    ["sku", filters.sku === null ? null : caseForms(filters.sku.trim())],
  ] as const)
    if (values !== null) orderFilters.push({ kind, values });
  if (fromMs !== null || beforeMs !== null) orderFilters.push({ kind: "day", fromMs, beforeMs });
  if (orderFilters.length > 1) return null;
  // An order may have two lines with forms of one SKU.
  if (orderFilters[0]?.kind === "sku" && orderFilters[0].values.length > 1) return null;
  return orderFilters[0] ?? { kind: "all", values: [""] };
}

/** True if a page of these orders walks through others than those that it shows. */
export const walksOrders = (filters: OrderFilters): boolean => keptFilter(filters) === null;

async function totalCount(tx: Tx, shopId: string, filters: OrderFilters): Promise<number> {
  const kept = keptFilter(filters);
  if (kept?.kind === "day") return await countCreated(tx, shopId, kept.fromMs, kept.beforeMs);
  if (kept !== null) return await countOf(tx, shopId, kept.kind, [...new Set(kept.values)]);
  const { sql, params } = countStatement(shopId, filters);
  const [row] = await tx.all<{ n: number }>(sql, params);
  return row?.n ?? 0;
}

const keyOf = (position: OrderPosition | null): OrderKey | null =>
  position && { created_at: position.createdAtMs, purchase_order_id: position.purchaseOrderId };

/** The statement that finds the keys of a page, newest first. */
export function pageStatement(
  shopId: string,
  filters: OrderFilters,
  after: OrderPosition | null,
  limit: number,
): Fragment {
  const byLine = lineQuery(shopId, filters);
  if (byLine !== null) return pageByLine(shopId, byLine, keyOf(after), limit);
  // The sign keeps the engine from walking the shop's orders by age where the index by the expected day leads to the
  // few that are late.
  const createdAt = filters.expectedBefore === null ? "o.created_at" : "+o.created_at";
  const position: readonly Fragment[] =
    after === null
      ? []
      : [
          {
            sql: `(${createdAt}, o.purchase_order_id) < (?, ?)`,
            params: [after.createdAtMs, after.purchaseOrderId],
          },
        ];
  const shared = [ofShop(shopId), ...conditions(shopId, filters), ...position];
  const parts = branches(filters).map((branch) => {
    const where = joined([...shared, ...branch], " and ");
    return {
      sql: `select purchase_order_id, created_at from (
              select o.purchase_order_id, o.created_at ${where.sql} order by o.created_at desc, o.purchase_order_id desc limit ?) branch`,
      params: [...where.params, limit],
    };
  });
  const all = joined(parts, " union all ");
  return {
    sql: `select purchase_order_id, created_at from (${all.sql}) page order by created_at desc, purchase_order_id desc limit ?`,
    params: [...all.params, limit],
  };
}

/** The keys of a page and the count of all matches. */
interface KeyPage {
  readonly totalCount: number;
  readonly keys: readonly OrderKey[];
}

async function statedPage(
  tx: Tx,
  shopId: string,
  filters: OrderFilters,
  after: OrderPosition | null,
  limit: number,
): Promise<KeyPage> {
  const byLine = walksOrders(filters) ? lineQuery(shopId, filters) : null;
  if (byLine !== null) return await ordersByLine(tx, shopId, byLine, keyOf(after), limit);
  const page = pageStatement(shopId, filters, after, limit);
  const [count, keys] = await Promise.all([totalCount(tx, shopId, filters), tx.all<OrderKey>(page.sql, page.params)]);
  return { totalCount: count, keys };
}

/** Suppliers whose name has the folded word. */
async function suppliersNamed(tx: Tx, shopId: string, search: string): Promise<ReadonlySet<string>> {
  const rows = await tx.all<{ supplier_id: string }>(
    "select supplier_id from supplier where shop_id = ? and replace(name_folded, ?, '') <> name_folded",
    [shopId, search],
  );
  return new Set(rows.map((row) => row.supplier_id));
}

/** The filters as the digest takes them. Undefined: any value. */
const digestFilters = (filters: OrderFilters): Wanted["columns"] => {
  const oneOf = (values: readonly (string | null)[] | null) => {
    const wanted = new Set(values);
    return values === null ? undefined : (value: string | null) => wanted.has(value);
  };
  const { expectedBefore } = filters;
  return {
    status: oneOf(filters.statuses),
    paid_status: oneOf(filters.paidStatuses),
    storefront_sync_state: oneOf(filters.storefrontSyncStates),
    supplier_id: oneOf(one(filters.supplierId)),
    location_id: oneOf(one(filters.locationId)),
    next_expected_date: expectedBefore === null ? undefined : (value) => value !== null && value < expectedBefore,
  };
};

/** The page by the shop's digest. Null: the filters ask for something else, or the digest is no help. */
async function digestedPage(
  tx: Tx,
  shopId: string,
  filters: OrderFilters,
  after: OrderPosition | null,
  limit: number,
): Promise<KeyPage | null> {
  if (!walksOrders(filters) || filters.variantId !== null || filters.sku !== null) return null;
  const words = wordsOf(filters.search);
  if (!words.every(isSearchable)) return null;
  const wanted = async (): Promise<Wanted> => {
    const wantedWords = await Promise.all(
      words.map(async (text) => ({ text, namedSuppliers: await suppliersNamed(tx, shopId, text) })),
    );
    return {
      key: JSON.stringify([
        { ...filters, search: words },
        wantedWords.map(({ namedSuppliers }) => [...namedSuppliers].sort()),
      ]),
      words: wantedWords,
      columns: digestFilters(filters),
      createdFromMs: filters.createdFromMs,
      createdBeforeMs: filters.createdBeforeMs,
    };
  };
  return await matchesOf(tx, shopId, wanted, keyOf(after), limit);
}

/**
 * One page of the shop's orders, newest first with the id as tie-break. Pages neither repeat nor skip an order that
 * stays, whatever is added or deleted meanwhile.
 *
 * @param after where the page before ended; null for the first.
 * @param limit at most 90.
 * Source: C12, C13.
 */
export async function listOrders(
  tx: Tx,
  shopId: string,
  orderFilters: OrderFilters,
  after: OrderPosition | null,
  limit: number,
): Promise<OrderPage> {
  const filters = wordsOf(orderFilters.search).length === 0 ? { ...orderFilters, search: null } : orderFilters;
  const { totalCount: count, keys } =
    (await digestedPage(tx, shopId, filters, after, limit + 1)) ??
    (await statedPage(tx, shopId, filters, after, limit + 1));
  const shown = keys.slice(0, limit);
  const last = shown.at(-1);
  return {
    orders: await loadHeaders(
      tx,
      shopId,
      shown.map((key) => key.purchase_order_id),
    ),
    totalCount: count,
    end:
      keys.length > limit && last !== undefined
        ? { createdAtMs: last.created_at, purchaseOrderId: last.purchase_order_id }
        : null,
  };
}
