/** The filtered list as a CSV file, whatever its length. */
import type { PurchaseOrderHeader, Result } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { csvOf, saveFile } from "../data/csv.ts";
import { today } from "../data/session.ts";
import { inputOf } from "./filters.ts";

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

/** Pages that are asked for at once. After them each waits, so that an export leaves the shop's people most of their calls. */
const pagesAtOnce = 20;
const pageWaitMs = 150;

/** Reads all pages and offers them as a file. `told` learns how many orders are read. @returns why it ended before the last page. */
export async function exportOrders(query: URLSearchParams, told: (read: number) => void): Promise<Problem | null> {
  const input = inputOf(query, today());
  const rows: (readonly (string | number)[])[] = [[...columns]];
  let cursor: string | null = null;
  let pages = 0;
  do {
    if ((pages += 1) > pagesAtOnce) await new Promise((resolve) => setTimeout(resolve, pageWaitMs));
    const result: Result<"purchase_order_list"> = await openpo.call(
      "purchase_order_list",
      cursor === null ? input : { ...input, cursor },
    );
    if (!result.ok) return problemOf(result);
    rows.push(...result.data.purchaseOrders.map((order) => columns.map((name) => order[name] ?? "")));
    ({ cursor } = result.data);
    told(rows.length - 1);
  } while (cursor !== null);
  saveFile("purchase-orders.csv", csvOf(rows));
  return null;
}
