/**
 * What an order has gone through, page by page and newest first: its log, its receipts, its cost history.
 */
import type { CostOutcome } from "../core/cost-sync.ts";
import { type FxRate, type Money, asFxRate, asMoney } from "../core/money.ts";
import type { FieldChange, ReceiptDraft } from "../core/purchase-order.ts";
import { chunksOf, inListMax, placeholders } from "../store/in-lists.ts";
import type { SqlValue, Statement, Tx } from "../store/store.ts";
import { orNull } from "./columns.ts";

/** The log's changes and a receipt's lines are stored as core describes them. */
const changesFrom = (json: string): readonly FieldChange[] => {
  const changes: readonly FieldChange[] = JSON.parse(json);
  return changes;
};

const receiptLinesFrom = (json: string): ReceiptDraft["lines"] => {
  const lines: ReceiptDraft["lines"] = JSON.parse(json);
  return lines;
};

export interface LogEntry {
  readonly logId: string;
  readonly occurredAtMs: number;
  readonly action: string;
  readonly message: string;
  readonly actor: {
    readonly type: "api-key" | "agent" | "user" | "system";
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly changes: readonly FieldChange[];
}

export interface Receipt extends ReceiptDraft {
  readonly receiptId: string;
  readonly receivedAtMs: number;
  readonly recordedBy: string | null;
  readonly requestId: string | null;
}

export interface CostSyncEntry {
  readonly costSyncId: string;
  readonly variantId: string;
  readonly poLineItemId: string;
  readonly previousUnitCost: Money | null;
  readonly proposedUnitCost: Money;
  readonly currencyCode: string;
  readonly sourceUnitCost: Money;
  readonly sourceCurrencyCode: string;
  readonly fxRate: FxRate;
  readonly fxSource: "override" | "shop-rate" | "same-currency";
  readonly outcome: CostOutcome;
  readonly reason: string | null;
  readonly attempt: number;
  /** Which completion of the order it belongs to, from 1 on: one that was reopened is completed again. */
  readonly completion: number;
  readonly proposedAtMs: number;
  readonly resolvedAtMs: number | null;
}

/** What an order has gone through; each list oldest first. */
export interface OrderHistory {
  readonly log: readonly LogEntry[];
  readonly receipts: readonly Receipt[];
  readonly costSyncHistory: readonly CostSyncEntry[];
}

const insertLog = `
insert into purchase_order_log
  (shop_id, purchase_order_id, log_id, occurred_at, action, message, actor_type, actor_id, actor_name, operation, request_id,
   changes)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const insertReceipt = `
insert into receipt
  (shop_id, purchase_order_id, receipt_id, received_at, recorded_by, source, reason, request_id, lines)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const insertCost = `
insert into cost_sync
  (shop_id, purchase_order_id, cost_sync_id, variant_id, po_line_item_id, previous_unit_cost, proposed_unit_cost,
   currency_code, source_unit_cost, source_currency_code, fx_rate, fx_source, outcome, reason, attempt, completion,
   proposed_at, resolved_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Replaces what the order has gone through. */
export function historyStatements(
  shopId: string,
  purchaseOrderId: string,
  { log, receipts, costSyncHistory }: OrderHistory,
): readonly Statement[] {
  return [
    ...["purchase_order_log", "receipt", "cost_sync"].map((table) => ({
      sql: `delete from ${table} where shop_id = ? and purchase_order_id = ?`,
      params: [shopId, purchaseOrderId],
    })),
    ...log.map((entry) => ({
      sql: insertLog,
      params: [
        shopId,
        purchaseOrderId,
        entry.logId,
        entry.occurredAtMs,
        entry.action,
        entry.message,
        entry.actor.type,
        entry.actor.id,
        entry.actor.name,
        entry.operation,
        entry.requestId,
        JSON.stringify(entry.changes),
      ],
    })),
    ...receipts.map((receipt) => ({
      sql: insertReceipt,
      params: [
        shopId,
        purchaseOrderId,
        receipt.receiptId,
        receipt.receivedAtMs,
        receipt.recordedBy,
        receipt.source,
        receipt.reason,
        receipt.requestId,
        JSON.stringify(receipt.lines),
      ],
    })),
    ...costSyncHistory.map((row) => ({
      sql: insertCost,
      params: [
        shopId,
        purchaseOrderId,
        row.costSyncId,
        row.variantId,
        row.poLineItemId,
        row.previousUnitCost,
        row.proposedUnitCost,
        row.currencyCode,
        row.sourceUnitCost,
        row.sourceCurrencyCode,
        row.fxRate,
        row.fxSource,
        row.outcome,
        row.reason,
        row.attempt,
        row.completion,
        row.proposedAtMs,
        row.resolvedAtMs,
      ],
    })),
  ];
}

interface LogRow {
  readonly log_id: string;
  readonly occurred_at: number;
  readonly action: string;
  readonly message: string;
  readonly actor_type: LogEntry["actor"]["type"];
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly operation: string | null;
  readonly request_id: string | null;
  readonly changes: string;
}

interface ReceiptRow {
  readonly receipt_id: string;
  readonly received_at: number;
  readonly recorded_by: string | null;
  readonly source: Receipt["source"];
  readonly reason: string | null;
  readonly request_id: string | null;
  readonly lines: string;
}

interface CostSyncRow {
  readonly cost_sync_id: string;
  readonly variant_id: string;
  readonly po_line_item_id: string;
  readonly previous_unit_cost: number | null;
  readonly proposed_unit_cost: number;
  readonly currency_code: string;
  readonly source_unit_cost: number;
  readonly source_currency_code: string;
  readonly fx_rate: number;
  readonly fx_source: CostSyncEntry["fxSource"];
  readonly outcome: CostOutcome;
  readonly reason: string | null;
  readonly attempt: number;
  readonly completion: number;
  readonly proposed_at: number;
  readonly resolved_at: number | null;
}

/** Reads of an order's log, cost history and receipts begin with these; `where` and order are the reader's. */
const selectLog = `
select log_id, occurred_at, action, message, actor_type, actor_id, actor_name, operation, request_id, changes
from purchase_order_log`;

const selectReceipts = `
select receipt_id, received_at, recorded_by, source, reason, request_id, lines
from receipt`;

const selectCosts = `
select cost_sync_id, variant_id, po_line_item_id, previous_unit_cost, proposed_unit_cost, currency_code, source_unit_cost,
  source_currency_code, fx_rate, fx_source, outcome, reason, attempt, completion, proposed_at, resolved_at
from cost_sync`;

const logFrom = (row: LogRow): LogEntry => ({
  logId: row.log_id,
  occurredAtMs: row.occurred_at,
  action: row.action,
  message: row.message,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  operation: row.operation,
  requestId: row.request_id,
  changes: changesFrom(row.changes),
});

const receiptFrom = (row: ReceiptRow): Receipt => ({
  receiptId: row.receipt_id,
  receivedAtMs: row.received_at,
  recordedBy: row.recorded_by,
  source: row.source,
  reason: row.reason,
  requestId: row.request_id,
  lines: receiptLinesFrom(row.lines),
});

const costFrom = (row: CostSyncRow): CostSyncEntry => ({
  costSyncId: row.cost_sync_id,
  variantId: row.variant_id,
  poLineItemId: row.po_line_item_id,
  previousUnitCost: orNull<Money>(row.previous_unit_cost, asMoney),
  proposedUnitCost: asMoney(row.proposed_unit_cost),
  currencyCode: row.currency_code,
  sourceUnitCost: asMoney(row.source_unit_cost),
  sourceCurrencyCode: row.source_currency_code,
  fxRate: asFxRate(row.fx_rate),
  fxSource: row.fx_source,
  outcome: row.outcome,
  reason: row.reason,
  attempt: row.attempt,
  completion: row.completion,
  proposedAtMs: row.proposed_at,
  resolvedAtMs: row.resolved_at,
});

/** What the order has gone through. */
export async function loadHistory(tx: Tx, shopId: string, purchaseOrderId: string): Promise<OrderHistory> {
  const key = [shopId, purchaseOrderId];
  const ofOrder = "where shop_id = ? and purchase_order_id = ?";
  const [log, receipts, costs] = await Promise.all([
    tx.all<LogRow>(`${selectLog} ${ofOrder} order by log_id`, key),
    tx.all<ReceiptRow>(`${selectReceipts} ${ofOrder} order by receipt_id`, key),
    tx.all<CostSyncRow>(`${selectCosts} ${ofOrder} order by cost_sync_id`, key),
  ]);
  return { log: log.map(logFrom), receipts: receipts.map(receiptFrom), costSyncHistory: costs.map(costFrom) };
}

/** Where a page ended: when the row was written, and its id as tie-break. */
export interface HistoryPosition {
  readonly atMs: number;
  readonly id: string;
}

interface HistoryPage<Entry> {
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

// What an order has gone through.
