/**
 * Saved queries of the console (table `console_view`; C54).
 */
import type { Tx } from "../../store/store.ts";
import type { RecordTable } from "../record-table.ts";
import { type Change, remove } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** A query under a name. */
export interface ConsoleView {
  readonly viewId: string;
  readonly viewName: string;
  /** The query string of the list that it shows. */
  readonly query: string;
  /** Everybody of the shop sees it. */
  readonly isShared: boolean;
  /** Whose it is; null: nobody's. */
  readonly personId: string | null;
}

interface ViewRow {
  readonly view_id: string;
  readonly view_name: string;
  readonly query: string;
  readonly is_shared: number;
  readonly person_id: string | null;
}

export const consoleViewTable: RecordTable<ConsoleView, ViewRow> = {
  name: "console_view",
  key: ["view_id"],
  columns: {
    view_id: (view) => view.viewId,
    view_name: (view) => view.viewName,
    query: (view) => view.query,
    is_shared: (view) => (view.isShared ? 1 : 0),
    person_id: (view) => view.personId,
  },
  from: (row) => ({
    viewId: row.view_id,
    viewName: row.view_name,
    query: row.query,
    isShared: row.is_shared === 1,
    personId: row.person_id,
  }),
};

/** All views of the shop by name. */
export async function listConsoleViews(tx: Tx, shopId: string): Promise<readonly ConsoleView[]> {
  const rows = await tx.all<ViewRow>(
    "select view_id, view_name, query, is_shared, person_id from console_view where shop_id = ? order by view_name, view_id",
    [shopId],
  );
  return rows.map((row) => consoleViewTable.from(row));
}

export const deleteConsoleViewStatement = (shopId: string, viewId: string): Change =>
  remove(tables.console_view, shopId, { view_id: viewId });
