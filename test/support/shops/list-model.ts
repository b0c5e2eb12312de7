/** Lists of orders as C12 and C13 describe them, computed from the orders themselves, against the lists that are answered. */
import assert from "node:assert/strict";
import { fold, wordsOf } from "../../../src/base/text/fold.ts";
import { paidStatus } from "../../../src/core/order/lines.ts";
import type { OrderWithLines } from "../../../src/core/order/purchase-order.ts";
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

/** The lists by these filters, page by page, against those of the orders. */
export async function assertLists(
  tx: Tx,
  shopId: string,
  asked: readonly Partial<OrderFilters>[],
  limit: number,
): Promise<void> {
  const orders = await allOrders(tx, shopId);
  for (const each of asked) {
    const filters: OrderFilters = { ...anything, ...each };
    const expected = orders.filter((order) => isMatch(order, filters)).map((order) => order.purchaseOrderId);
    const found: string[] = [];
    for (let page = await listOrders(tx, shopId, filters, null, limit); ;) {
      assert.equal(page.totalCount, expected.length, JSON.stringify(each));
      found.push(...page.orders.map((order) => order.purchaseOrderId));
      if (page.end === null) break;
      page = await listOrders(tx, shopId, filters, page.end, limit);
    }
    assert.deepEqual(found, expected, JSON.stringify(each));
  }
}
