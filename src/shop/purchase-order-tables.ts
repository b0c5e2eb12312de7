import type { Statement } from "../store/store.ts";

// Deleting.

/** Everything that belongs to one order. */
export const orderTables = [
  "purchase_order",
  "purchase_order_line",
  "purchase_order_attachment",
  "purchase_order_log",
  "receipt",
  "cost_sync",
  "stock_push",
] as const;

export const removeStatements = (
  shopId: string,
  purchaseOrderId: string,
  tables: readonly (typeof orderTables)[number][],
): readonly Statement[] =>
  tables.map((table) => ({
    sql: `delete from ${table} where shop_id = ? and purchase_order_id = ?`,
    params: [shopId, purchaseOrderId],
  }));
