/** Orders as a CSV file: the filtered list, whatever its length, or some of it. */
import type { PurchaseOrderHeader } from "../../client/index.ts";
import type { Problem } from "../data/client.ts";
import { csvOf } from "../data/csv.ts";
import { saveFile } from "../data/saved-file.ts";
import { everyRow } from "../data/pages.ts";
import { pagesOf } from "./kept.ts";

const columns = [
  "poNumber",
  "poName",
  "supplierName",
  "locationName",
  "status",
  "orderDate",
  "nextExpectedDate",
  "quantityOrdered",
  "quantityReceived",
  "quantityPending",
  "totalValue",
  "grandTotal",
  "currencyCode",
  "paidStatus",
  "storefrontSyncState",
  "createdAt",
  "purchaseOrderId",
] as const satisfies readonly (keyof PurchaseOrderHeader)[];

/** Offers these orders as a file. */
export function saveOrders(orders: readonly PurchaseOrderHeader[]): void {
  const rows = orders.map((order) => columns.map((name) => order[name] ?? ""));
  saveFile("purchase-orders.csv", csvOf([columns, ...rows]));
}

/**
 * Reads all pages and offers them as a file. `onProgress` learns how many orders are read. @returns why it ended before
 * the last page.
 */
export async function exportOrders(
  query: URLSearchParams,
  onProgress: (read: number) => void,
): Promise<Problem | null> {
  const all = await everyRow(pagesOf(query), onProgress);
  if ("problem" in all) return all.problem;
  saveOrders(all.rows);
  return null;
}
