/**
 * Saved queries of the console (table `console_view`; C54).
 */
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { Tx } from "../../store/store.ts";
import { columnList } from "../columns.ts";
import { type RecordTable, fieldTable } from "../record-table.ts";
import { type Change, type Row, remove } from "../../store/change.ts";
import { tables } from "../tables.ts";

const viewFields = {
  viewId: { kind: "text" },
  viewName: { kind: "text" },
  /** The query string of the list that it shows. */
  query: { kind: "text" },
  /** Everybody of the shop sees it. */
  isShared: { kind: "boolean" },
  /** Whose it is; null: nobody's. */
  personId: { kind: "text", empty: null },
} as const satisfies Fields;

/** A query under a name. */
export interface ConsoleView extends ValuesOf<typeof viewFields> {}

export const consoleViewTable: RecordTable<ConsoleView, Row> = fieldTable("console_view", ["viewId"], viewFields);

/** All views of the shop by name. */
export async function listConsoleViews(tx: Tx, shopId: string): Promise<readonly ConsoleView[]> {
  const rows = await tx.all<Row>(
    `select ${columnList(viewFields)} from console_view where shop_id = ? order by view_name, view_id`,
    [shopId],
  );
  return rows.map((row) => consoleViewTable.from(row));
}

export const deleteConsoleViewStatement = (shopId: string, viewId: string): Change =>
  remove(tables.console_view, shopId, { view_id: viewId });
