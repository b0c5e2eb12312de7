/** Lists of orders as C12 and C13 describe them, computed from the orders themselves, against the lists that are answered. */
import assert from "node:assert/strict";
import { compareText } from "../../../src/base/text/compare-text.ts";
import { fold, wordsOf } from "../../../src/base/text/fold.ts";
import { convert, unitRate } from "../../../src/core/money/money.ts";
import { paidStatus } from "../../../src/core/order/lines.ts";
import type { OrderWithLines } from "../../../src/core/order/purchase-order.ts";
import { sortColumns } from "../../../src/shop/order-list/order-facts.ts";
import type { OrderSort } from "../../../src/shop/order-list/sorted-search.ts";
import { type OrderFilters, listOrders } from "../../../src/shop/order-list/purchase-order-list.ts";
import { pageOfOrders } from "../../../src/shop/order/purchase-orders.ts";
import type { Tx } from "../../../src/store/store.ts";
import { anything } from "./order-filters.ts";

/** Every order that is not deleted, newest first. */
export async function allOrders(tx: Tx, shopId: string): Promise<readonly OrderWithLines[]> {
  const orders: OrderWithLines[] = [];
  for (let after: string | null = ""; after !== null;) {
    const page = await pageOfOrders(tx, shopId, after, 90);
    for (const { order, deletedAtMs } of page.orders) if (deletedAtMs === null) orders.push(order);
    after = page.end;
  }
  return orders.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.purchaseOrderId < b.purchaseOrderId ? 1 : -1));
}

const hasSku = (order: OrderWithLines, sku: string): boolean =>
  order.lineItems.some((line) => line.sku?.toLowerCase() === sku.trim().toLowerCase());

function hasWord(order: OrderWithLines, word: string): boolean {
  const { poNumber, poName, supplierReference, supplierName, tags, lineItems } = order;
  const lines = lineItems.flatMap(({ productName, variantName, sku, supplierSku, barcode }) => [
    productName,
    variantName,
    sku,
    supplierSku,
    barcode,
  ]);
  return [poNumber, poName, supplierReference, supplierName, ...tags, ...lines].some((text) =>
    fold(text ?? "").includes(word),
  );
}

/** True if the value is wanted; null: any is. */
const isOneOf = (wanted: readonly string[] | null, value: string): boolean => wanted?.includes(value) ?? true;

const isSame = (wanted: string | null, value: string | null): boolean => wanted === null || wanted === value;

const isWithin = (from: number | null, before: number | null, atMs: number): boolean =>
  (from === null || atMs >= from) && (before === null || atMs < before);

/** True if the order matches by the words of C13. */
const isMatch = (order: OrderWithLines, filters: OrderFilters): boolean =>
  wordsOf(filters.search).every((word) => hasWord(order, word)) &&
  isOneOf(filters.statuses, order.status) &&
  isOneOf(filters.paidStatuses, paidStatus(order)) &&
  isOneOf(filters.storefrontSyncStates, order.storefrontSyncState) &&
  isSame(filters.supplierId, order.supplierId) &&
  isSame(filters.locationId, order.locationId) &&
  (filters.tags === null || order.tags.some((tag) => filters.tags?.includes(tag))) &&
  (filters.variantId === null || order.lineItems.some((line) => line.variantId === filters.variantId)) &&
  (filters.sku === null || hasSku(order, filters.sku)) &&
  (filters.expectedBefore === null ||
    (order.nextExpectedDate !== null && order.nextExpectedDate < filters.expectedBefore)) &&
  isWithin(filters.createdFromMs, filters.createdBeforeMs, order.createdAtMs) &&
  isWithin(filters.updatedFromMs, filters.updatedBeforeMs, order.updatedAtMs);

/** Compares numbers of orders as people count: digits by what they amount to. */
function byNumber(one: string, other: string): number {
  const [parts, others] = [one, other].map((text) => fold(text).split(/(\d+)/));
  for (const [index, part] of parts?.entries() ?? []) {
    const against = others?.[index] ?? "";
    const order = index % 2 === 1 && against !== "" ? Number(part) - Number(against) : compareText(part, against);
    if (order !== 0) return order;
  }
  return (parts?.length ?? 0) - (others?.length ?? 0);
}

/** The total value in the shop's currency; null: no rate leads to it. */
function shopValue({ totalValue, currencyCode, fxRateOverride, fxRates }: OrderWithLines, shopCurrency: string) {
  const rate = currencyCode === shopCurrency ? unitRate : (fxRateOverride ?? fxRates[currencyCode]);
  return rate === undefined ? null : convert(totalValue, rate);
}

/** The orders, which come newest first, as they are sorted; equal ones by age in the same direction. */
function sortedBy(orders: readonly OrderWithLines[], { column, isDescending, shopCurrency }: OrderSort) {
  const valueOf = (order: OrderWithLines): string | number | null =>
    column === "totalValue" ? shopValue(order, shopCurrency) : order[column === "updatedAt" ? "updatedAtMs" : column];
  const compare = (one: string | number | null, other: string | number | null): number => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    const order = column === "poNumber" ? byNumber : compareText;
    return order(String(one), String(other));
  };
  const withValue = orders.filter((order) => valueOf(order) !== null).toReversed();
  withValue.sort((one, other) => compare(valueOf(one), valueOf(other)));
  const others = orders.filter((order) => valueOf(order) === null);
  return [...(isDescending ? withValue.reverse() : withValue), ...others];
}

const sorts = sortColumns.flatMap((column) => [
  { column, isDescending: false },
  { column, isDescending: true },
]);

/** The lists by these filters, by age and sorted in one way each, page by page, against those of the orders. */
export async function assertLists(
  tx: Tx,
  shopId: string,
  asked: readonly Partial<OrderFilters>[],
  limit: number,
): Promise<void> {
  const orders = await allOrders(tx, shopId);
  for (const [index, each] of asked.entries()) {
    const filters: OrderFilters = { ...anything, ...each };
    const matching = orders.filter((order) => isMatch(order, filters));
    const shopCurrency = index % 16 < 8 ? "EUR" : "USD";
    // All sorts of all orders; of a filter one, another time another.
    const some = index === 0 ? sorts : sorts.filter((_, at) => (at + index + orders.length) % sorts.length === 0);
    for (const sort of [null, ...some.map((one) => ({ ...one, shopCurrency }))]) {
      const expected = (sort === null ? matching : sortedBy(matching, sort)).map((order) => order.purchaseOrderId);
      const found: string[] = [];
      for (let page = await listOrders(tx, shopId, filters, null, limit, sort); ;) {
        assert.equal(page.totalCount, expected.length, JSON.stringify(each));
        found.push(...page.orders.map((order) => order.purchaseOrderId));
        if (page.end === null) break;
        page = await listOrders(tx, shopId, filters, page.end, limit, sort);
      }
      assert.deepEqual(found, expected, JSON.stringify([each, sort]));
    }
  }
}
