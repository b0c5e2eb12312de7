/**
 * What an order has gone through, page by page and newest first: its log, its receipts, its cost history.
 */
import {
  type CostSyncEntry,
  type CostSyncRow,
  costFrom,
  type LogEntry,
  logFrom,
  type LogRow,
  type Receipt,
  receiptFrom,
  type ReceiptRow,
  selectCosts,
  selectLog,
  selectReceipts,
} from "./records.ts";
import { chunksOf, inListMax, placeholders } from "./in-lists.ts";
import type { SqlValue, Tx } from "./shop.ts";

/** Where a page ended: when the row was written, and its id as tie-break. */
export interface HistoryPosition {
  readonly atMs: number;
  readonly id: string;
}

export interface HistoryPage<Entry> {
  readonly entries: readonly Entry[];
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: HistoryPosition | null;
}

interface Table<Row, Entry> {
  readonly name: string;
  readonly select: string;
  readonly atColumn: string;
  readonly idColumn: string;
  from(row: Row): Entry;
  positionOf(entry: Entry): HistoryPosition;
}

const log: Table<LogRow, LogEntry> = {
  name: "purchase_order_log",
  select: selectLog,
  atColumn: "occurred_at",
  idColumn: "log_id",
  from: logFrom,
  positionOf: (entry) => ({ atMs: entry.occurredAtMs, id: entry.logId }),
};

const costs: Table<CostSyncRow, CostSyncEntry> = {
  name: "cost_sync",
  select: selectCosts,
  atColumn: "proposed_at",
  idColumn: "cost_sync_id",
  from: costFrom,
  positionOf: (entry) => ({ atMs: entry.proposedAtMs, id: entry.costSyncId }),
};

async function pageOf<Row, Entry>(
  table: Table<Row, Entry>,
  tx: Tx,
  where: string,
  params: readonly SqlValue[],
  after: HistoryPosition | null,
  limit: number | null,
): Promise<HistoryPage<Entry>> {
  const { atColumn, idColumn } = table;
  const position = after === null ? "" : ` and (${atColumn}, ${idColumn}) < (?, ?)`;
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from ${table.name} where ${where}`, params),
    tx.all<Row>(
      `${table.select} where ${where}${position} order by ${atColumn} desc, ${idColumn} desc${limit === null ? "" : " limit ?"}`,
      [...params, ...(after === null ? [] : [after.atMs, after.id]), ...(limit === null ? [] : [limit + 1])],
    ),
  ]);
  const entries = (limit === null ? rows : rows.slice(0, limit)).map((row) => table.from(row));
  const last = entries.at(-1);
  return {
    entries,
    totalCount: counted?.n ?? 0,
    end: rows.length > entries.length && last !== undefined ? table.positionOf(last) : null,
  };
}

const ofOrder = "shop_id = ? and purchase_order_id = ?";

/** The order's activity log; all of it when `limit` is null. */
export const pageOfLog = (
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  after: HistoryPosition | null,
  limit: number | null,
): Promise<HistoryPage<LogEntry>> => pageOf(log, tx, ofOrder, [shopId, purchaseOrderId], after, limit);

/** The order's cost history, of these variants only when they are given; all of it when `limit` is null. */
export function pageOfCosts(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  variantIds: readonly string[] | null,
  after: HistoryPosition | null,
  limit: number | null,
): Promise<HistoryPage<CostSyncEntry>> {
  const key = [shopId, purchaseOrderId];
  if (variantIds === null) return pageOf(costs, tx, ofOrder, key, after, limit);
  const lists = chunksOf(variantIds, inListMax).map((ids) => `variant_id in (${placeholders(ids.length)})`);
  return pageOf(costs, tx, `${ofOrder} and (${lists.join(" or ")})`, [...key, ...variantIds], after, limit);
}

/** All receipts of the order, newest first. */
export async function loadReceipts(tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly Receipt[]> {
  const rows = await tx.all<ReceiptRow>(
    `${selectReceipts} where ${ofOrder} order by received_at desc, receipt_id desc`,
    [shopId, purchaseOrderId],
  );
  return rows.map(receiptFrom);
}
