/**
 * The tables that hold one order, and deleting its rows from them.
 */
import type { Statement } from "../store/store.ts";

/** Every table with rows of an order. */
export const orderTables = [
  "purchase_order",
  "purchase_order_line",
  "purchase_order_attachment",
  "purchase_order_log",
  "receipt",
  "cost_sync",
  "stock_push",
  "supplier_link",
  "supplier_proposal",
  "purchase_order_reminder",
] as const;

/** The column by which rows belong to an order. Most reads and changes of these tables are of one order. */
export const orderColumn = "purchase_order_id";

/** Deletes the order's rows from these tables. */
export const removeStatements = (
  shopId: string,
  purchaseOrderId: string,
  tables: readonly (typeof orderTables)[number][],
): readonly Statement[] =>
  tables.map((table) => ({
    sql: `delete from ${table} where shop_id = ? and purchase_order_id = ?`,
    params: [shopId, purchaseOrderId],
  }));
