/**
 * Lines of several orders, as they are stored.
 *
 * Owns: the SQL. Does not own: whole orders, and what is written of lines (purchase-orders.ts).
 */
import { type Fields, storedLineFields } from "../../core/order/purchase-order-fields.ts";
import type { LineItem } from "../../core/order/purchase-order.ts";
import type { Row } from "../../store/change.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { columnList, recordReader } from "../columns.ts";

/** Reads lines of orders: by order, as they were added. An order without lines is left out. */
type LineReader<Line> = (
  tx: Tx,
  shopId: string,
  orderIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly Line[]>>;

/** A line as a reader gives it. */
export type LineOf<Reader> = Reader extends LineReader<infer Line> ? Line : never;

/** A function that reads these fields of lines; without names, all. */
export function lineReader<Name extends keyof LineItem>(names?: readonly Name[]): LineReader<Pick<LineItem, Name>> {
  const fields: Fields =
    names === undefined
      ? storedLineFields
      : Object.fromEntries(names.map((name) => [name, storedLineFields[name]] as const));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields are those of the names
  const lineFrom = recordReader(fields) as (row: Row) => Pick<LineItem, Name>;
  const select = `select purchase_order_id, ${columnList(fields)}
from purchase_order_line where shop_id = ? and purchase_order_id in (?) order by purchase_order_id, position`;
  return async (tx, shopId, orderIds) => {
    const rows = await selectIn<Row & { readonly purchase_order_id: string }>(tx, select, [shopId], orderIds);
    const ofOrders = Map.groupBy(rows, (row) => row.purchase_order_id);
    return new Map([...ofOrders].map(([orderId, of]) => [orderId, of.map(lineFrom)]));
  };
}
