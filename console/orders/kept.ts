/**
 * Lists of orders that were read, by their query. The way back shows the same rows at the same place, in their present
 * state.
 */
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { type KeptList, listOf, type ReadPage } from "../data/pages.ts";
import { shopId, today } from "../data/session.ts";
import { inputOf } from "./filters.ts";

const kept = new Map<string, KeptList<PurchaseOrderHeader>>();
const keptMax = 10;

const keyOf = (query: URLSearchParams): string => `${shopId()}?${query.toString()}`;

/** Reads the pages of a filter. */
export const pagesOf =
  (query: URLSearchParams): ReadPage<PurchaseOrderHeader> =>
  async (cursor) => {
    const input = inputOf(query, today());
    const result = await openpo.call("purchase_order_list", cursor === null ? input : { ...input, cursor });
    if (!result.ok) return { problem: problemOf(result) };
    const { purchaseOrders, totalCount, cursor: next } = result.data;
    return { rows: purchaseOrders, totalCount, cursor: next };
  };

export function ordersOf(query: URLSearchParams): KeptList<PurchaseOrderHeader> {
  const key = keyOf(query);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const list = listOf(pagesOf(query));
  kept.set(key, list);
  const [oldest] = kept.keys();
  if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
  return list;
}

/** Shows in every kept list what the order is now. */
export function noteOrder(order: PurchaseOrderHeader): void {
  for (const list of kept.values())
    list.replace((row) => (row.purchaseOrderId === order.purchaseOrderId ? order : row));
}

/** A new or deleted order changes every list: none is kept. */
export const forgetAll = (): void => kept.clear();
