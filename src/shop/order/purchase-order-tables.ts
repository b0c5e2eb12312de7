/**
 * The tables that hold one order, and deleting its rows from them.
 */
import { placeholders } from "../../store/in-lists.ts";
import { type Change, remove } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

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
  "purchase_order_parties",
  "order_spend",
] as const;

/** The column by which rows belong to an order. Most reads and changes of these tables are of one order. */
export const orderColumn = "purchase_order_id";

/** Deletes the order's rows from these tables. */
export const removeStatements = (
  shopId: string,
  purchaseOrderId: string,
  names: readonly (typeof orderTables)[number][],
): readonly Change[] => names.map((name) => remove(tables[name], shopId, { purchase_order_id: purchaseOrderId }));

/** Several orders that are read together. */
export interface OrderList {
  readonly shopId: string;
  readonly ids: readonly string[];
  /** As many as there may be; at most `inListMax`. */
  readonly ordersMax: number;
}

/**
 * Rows of several orders, by order, each order's as the statement sorts them. An order without rows is left out.
 *
 * @param sql  selects the column `purchase_order_id` too. `(?)` in it stands for the ids, after the shop's. They are
 *             `ordersMax` in any case, the last one repeated: so the text is the same each time, and prepared once.
 */
export async function rowsOfOrders<Row>(
  tx: Tx,
  sql: string,
  { shopId, ids, ordersMax }: OrderList,
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const last = ids.at(-1);
  if (last === undefined) return new Map();
  const list = [...ids, ...Array.from({ length: ordersMax - ids.length }, () => last)];
  const rows = await tx.all<Row & { readonly purchase_order_id: string }>(
    sql.replace("(?)", `(${placeholders(ordersMax)})`),
    [shopId, ...list],
  );
  return Map.groupBy(rows, (row) => row.purchase_order_id);
}
