/** Size of a table of a shop, as far as it matters: a read over few rows stays on the event loop. */
import type { Tx } from "../store/store.ts";

/** Table that has grown with the shop, or with one order. */
type Table =
  | "purchase_order"
  | "variant"
  | "stock_take"
  | "stock_adjustment"
  | "transfer_order"
  | "manufacturing_order"
  | "purchase_order_log"
  | "cost_sync";

/**
 * True if there are more rows than this; of one order if an order is given. Reads at most so many entries of an index.
 */
export async function hasMoreRows(
  tx: Tx,
  table: Table,
  shopId: string,
  rows: number,
  purchaseOrderId: string | null = null,
): Promise<boolean> {
  const ofOrder = purchaseOrderId === null ? "" : " and purchase_order_id = ?";
  const found = await tx.all(`select 1 as found from ${table} where shop_id = ?${ofOrder} limit 1 offset ?`, [
    shopId,
    ...(purchaseOrderId === null ? [] : [purchaseOrderId]),
    rows,
  ]);
  return found.length > 0;
}
