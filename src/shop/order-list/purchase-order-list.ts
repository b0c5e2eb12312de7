/**
 * The list of a shop's orders: filters, stable pages, the count of all matches (C12, C13).
 *
 * Matches and their count come from segments and the orders that are not in one yet (order-search.ts). The rows of a
 * page are then read by key.
 */
import { wordsOf } from "../../base/text/fold.ts";
import type { Header, PaidStatus, Status, StorefrontSyncState } from "../../core/order/purchase-order.ts";
import type { Tx } from "../../store/store.ts";
import { mergedInto } from "../catalogue/supplier-merges.ts";
import { caseForms } from "../code-forms.ts";
import { loadHeaders } from "../order/purchase-orders.ts";
import {
  type KeptFilter,
  type Matches,
  type Question,
  articlesNamed,
  articlesWith,
  findOrders,
  isOneOf,
} from "./order-search.ts";
import { type OrderSort, type SortedKey, findSortedOrders } from "./sorted-search.ts";
import type { OrderKey, Wanted } from "./segment.ts";

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
  /** Orders with one of these tags. */
  readonly tags: readonly string[] | null;
  /**
   * Words, each within number, name, supplier reference, a tag, the supplier's name, or names and codes of a line,
   * folded (base/text/fold.ts).
   */
  readonly search: string | null;
  /** Created at this instant or later. */
  readonly createdFromMs: number | null;
  /** Created before this instant. */
  readonly createdBeforeMs: number | null;
  /** Changed last at this instant or later. */
  readonly updatedFromMs: number | null;
  /** Changed last before this instant. */
  readonly updatedBeforeMs: number | null;
}

/** Filters that every order passes. */
export const anyOrder: OrderFilters = {
  statuses: null,
  paidStatuses: null,
  storefrontSyncStates: null,
  expectedBefore: null,
  supplierId: null,
  locationId: null,
  variantId: null,
  sku: null,
  tags: null,
  search: null,
  createdFromMs: null,
  createdBeforeMs: null,
  updatedFromMs: null,
  updatedBeforeMs: null,
};

/** Where a page ended. */
export interface OrderPosition {
  readonly createdAtMs: number;
  readonly purchaseOrderId: string;
  /** Of a sorted list: by what its last order is sorted. Null: it does not have the value, or the list is by age. */
  readonly by: string | null;
}

interface OrderPage {
  readonly orders: readonly Header[];
  /** Matches over all pages. */
  readonly totalCount: number;
  /** The position after which the next page begins. Null on the last page. */
  readonly end: OrderPosition | null;
}

const one = (value: string | null): readonly string[] | null => (value === null ? null : [value]);

/** The filters by values of one column. */
const valueFilters = (filters: OrderFilters): readonly KeptFilter[] =>
  (
    [
      ["status", filters.statuses],
      ["paidStatus", filters.paidStatuses],
      ["storefrontSyncState", filters.storefrontSyncStates],
      ["supplierId", one(filters.supplierId)],
      ["locationId", one(filters.locationId)],
    ] as const
  ).flatMap(([kind, values]) => (values === null ? [] : [{ kind, values: [...new Set<string>(values)] }]));

/** The one filter that is asked for, if its total is kept; null: matches must be counted. */
function keptFilter(filters: OrderFilters): KeptFilter | null {
  const [first, ...others] = valueFilters(filters);
  return first === undefined || others.length > 0 || asksMore(filters) ? null : first;
}

/** True if more is asked for than values and ages. */
const asksMore = ({ tags, expectedBefore, variantId, sku, search, ...filters }: OrderFilters): boolean =>
  [tags, expectedBefore, variantId, sku, search, filters.updatedFromMs, filters.updatedBeforeMs].some(
    (filter) => filter !== null,
  );

/** True if a page of these orders looks through others than those that it shows. */
export const walksOrders = (filters: OrderFilters): boolean => {
  const { createdFromMs, createdBeforeMs } = filters;
  const values = valueFilters(filters).length + (createdFromMs === null && createdBeforeMs === null ? 0 : 1);
  return values > 1 || asksMore(filters);
};

/** Suppliers whose name has the folded word. */
async function suppliersNamed(tx: Tx, shopId: string, word: string): Promise<ReadonlySet<string>> {
  // A text contains another if removing that changes it. Unlike a LIKE pattern this needs no escapes.
  const rows = await tx.all<{ supplier_id: string }>(
    "select supplier_id from supplier where shop_id = ? and replace(name_folded, ?, '') <> name_folded",
    [shopId, word],
  );
  return new Set(rows.map((row) => row.supplier_id));
}

function valuesWanted(filters: OrderFilters): Wanted["columns"] {
  const { expectedBefore, tags } = filters;
  const values = valueFilters(filters).map(({ kind, values: wanted }) => [kind, isOneOf(wanted)] as const);
  return {
    ...Object.fromEntries(values),
    ...(expectedBefore === null
      ? {}
      : { nextExpectedDate: (value: string | null) => value !== null && value < expectedBefore }),
    ...(tags === null ? {} : { tags: (value: string | null) => tagsFrom(value).some((tag) => tags.includes(tag)) }),
  };
}

function tagsFrom(value: string | null): readonly string[] {
  // Stored text is trusted: order-facts.ts made it.
  const tags: readonly string[] = JSON.parse(value ?? "[]");
  return tags;
}

function updatedWanted({ updatedFromMs: from, updatedBeforeMs: before }: OrderFilters): Wanted["updated"] {
  if (from === null && before === null) return null;
  return (atMs) => (from === null || atMs >= from) && (before === null || atMs < before);
}

/** The question that the filters ask of each order. */
async function questionOf(tx: Tx, shopId: string, filters: OrderFilters): Promise<Question> {
  const { variantId, sku, createdFromMs, createdBeforeMs } = filters;
  const words = wordsOf(filters.search);
  const [suppliers, named, ...articles] = await Promise.all([
    Promise.all(words.map((word) => suppliersNamed(tx, shopId, word))),
    articlesNamed(tx, shopId, words),
    ...(variantId === null ? [] : [articlesWith(tx, shopId, ["variantId"], [variantId])]),
    ...(sku === null ? [] : [articlesWith(tx, shopId, ["sku"], caseForms(sku.trim()))]),
  ]);
  return {
    key: JSON.stringify([
      { ...filters, createdFromMs: null, createdBeforeMs: null, search: words },
      suppliers.map((ids) => [...ids].sort()),
    ]),
    wanted: {
      columns: valuesWanted(filters),
      updated: updatedWanted(filters),
      words: named.map((condition, index) => ({
        text: words[index] ?? "",
        suppliers: suppliers[index] ?? new Set(),
        articles: condition,
      })),
      articles,
    },
    createdFromMs,
    createdBeforeMs,
    kept: createdFromMs === null && createdBeforeMs === null ? keptFilter(filters) : null,
  };
}

/**
 * One page of the shop's orders, newest first with the id as tie-break, or as they are sorted. Pages neither repeat nor
 * skip an order that stays as it is, whatever is added or deleted meanwhile. No order names a supplier that was merged
 * into another one: its id stands for that one (C86).
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
  sort: OrderSort | null = null,
): Promise<OrderPage> {
  const filters = wordsOf(orderFilters.search).length === 0 ? { ...orderFilters, search: null } : orderFilters;
  const position = after && { created_at: after.createdAtMs, purchase_order_id: after.purchaseOrderId, by: after.by };
  const question = (): Promise<Question> => questionOf(tx, shopId, filters);
  const { totalCount, keys }: Matches<OrderKey & Partial<SortedKey>> =
    sort === null
      ? await findOrders(tx, shopId, question, position, limit + 1)
      : await findSortedOrders(tx, shopId, question, sort, position, limit + 1);
  if (totalCount === 0 && filters.supplierId !== null) {
    const supplierId = await mergedInto(tx, shopId, filters.supplierId);
    if (supplierId !== null) return await listOrders(tx, shopId, { ...filters, supplierId }, after, limit, sort);
  }
  const shown = keys.slice(0, limit);
  const last = shown.at(-1);
  return {
    orders: await loadHeaders(
      tx,
      shopId,
      shown.map((key) => key.purchase_order_id),
    ),
    totalCount,
    end:
      keys.length > limit && last !== undefined
        ? { createdAtMs: last.created_at, purchaseOrderId: last.purchase_order_id, by: last.by ?? null }
        : null,
  };
}
