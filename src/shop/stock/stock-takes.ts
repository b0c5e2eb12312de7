/**
 * Stock takes and the reasons that they share with stock adjustments, between SQL and core.
 */
import { foldCase } from "../../base/text/fold.ts";
import type {
  StockTake,
  StockTakeHeader,
  StockTakeLine,
  StockTakeReason,
  StockTakeStatus,
} from "../../core/stock/stock-takes.ts";
import type { Statement, Tx } from "../../store/store.ts";
import {
  type ResourceQuery,
  type ResourceTable,
  contains,
  equal,
  oneOf,
  partKind,
  partRows,
  resourceQuery,
  resourceStatements,
} from "./read-only.ts";
import type { RecordTable } from "../record-table.ts";
import { forgetStockOuts } from "../forecast/stock-days.ts";

export const stockTakeTable: ResourceTable<StockTakeHeader> = {
  name: "stock_take",
  idColumn: "stock_take_id",
  idOf: (header) => header.stockTakeId,
  searched: (header) => [header.stockTakeNumber, header.stockTakeName],
  columns: {
    status: (header) => header.status,
    location_id: (header) => header.locationId,
  },
};

/** Found by their variants when it is asked what moved their stock (forecast/stock-days.ts). */
export const stockTakeLines = partKind(
  "stock_take",
  "line",
  (line: StockTakeLine) => line.stockTakeLineItemId,
  (line) => line,
);

interface ReasonRow {
  readonly reason_id: string;
  readonly doc: string;
}

export const stockTakeReasonTable: RecordTable<StockTakeReason, ReasonRow> = {
  name: "stock_take_reason",
  key: ["reason_id"],
  columns: { reason_id: (reason) => reason.reasonId, doc: (reason) => JSON.stringify(reason) },
  from: (row): StockTakeReason => JSON.parse(row.doc),
};

/** All reasons, by name. */
export async function loadReasons(tx: Tx, shopId: string): Promise<readonly StockTakeReason[]> {
  const rows = await tx.all<ReasonRow>("select reason_id, doc from stock_take_reason where shop_id = ?", [shopId]);
  const key = (reason: StockTakeReason): string => `${foldCase(reason.name)}\n${reason.reasonId}`;
  return rows.map((row) => stockTakeReasonTable.from(row)).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The reason's name; null when the shop has no such reason. */
export async function loadReasonName(tx: Tx, shopId: string, reasonId: string): Promise<string | null> {
  const [row] = await tx.all<ReasonRow>(
    "select reason_id, doc from stock_take_reason where shop_id = ? and reason_id = ?",
    [shopId, reasonId],
  );
  return row === undefined ? null : stockTakeReasonTable.from(row).name;
}

/** Stores the stock take, replacing the one with its id. */
export const stockTakeStatements = (shopId: string, { lineItems, ...header }: StockTake): readonly Statement[] => [
  ...resourceStatements(shopId, stockTakeTable, header, [partRows(stockTakeLines, lineItems)]),
  ...lineItems.map((line) => forgetStockOuts(shopId, line.variantId)),
];

/** Null: no such filter. */
interface StockTakeFilters {
  readonly statuses: readonly StockTakeStatus[] | null;
  readonly locationId: string | null;
  readonly search: string | null;
}

export const stockTakeQuery = (filters: StockTakeFilters): ResourceQuery =>
  resourceQuery(
    null,
    [...equal("location_id", filters.locationId), ...contains(filters.search)],
    oneOf("status", filters.statuses),
  );
