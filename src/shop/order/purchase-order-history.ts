/**
 * The history of an order: its activity log, its receipts and its cost history.
 *
 * Owns: the SQL of these rows, and their pages, newest first. Does not own: what is written into them (core), settling
 * rows of the cost history (shop/storefront/cost-sync.ts).
 */
import type { Actor } from "../../core/access/actor.ts";
import type { CostLot } from "../../core/storefront/cost-lots.ts";
import type { CostOutcome } from "../../core/storefront/cost-sync.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { FieldChange, ReceiptDraft } from "../../core/order/purchase-order.ts";
import { chunksOf, inListMax, hasOneOf, placeholders, selectIn } from "../../store/in-lists.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { type OrderList, rowsOfOrders } from "./purchase-order-tables.ts";
import { type Columns, columnList, columnsOf, insertInto, recordReader } from "../columns.ts";
import type { Change, Row } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** An entry of the activity log. */
export interface LogEntry {
  readonly logId: string;
  readonly occurredAtMs: number;
  readonly action: string;
  readonly message: string;
  readonly actor: Actor;
  /** Who has approved it (C80); absent: it needed no approval. */
  readonly approvedBy?: Actor | undefined;
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly changes: readonly FieldChange[];
  /** `import`: it comes from a file that a person of the shop has imported; absent: it was written when it happened. */
  readonly origin?: "import" | undefined;
}

/** Goods received or taken back in one call. */
export interface Receipt extends ReceiptDraft {
  readonly receiptId: string;
  readonly receivedAtMs: number;
  readonly recordedBy: string | null;
  readonly requestId: string | null;
}

const costRowFields = {
  costSyncId: { kind: "text" },
  variantId: { kind: "text" },
  poLineItemId: { kind: "text" },
  previousUnitCost: { kind: "money", empty: null },
  proposedUnitCost: { kind: "money" },
  currencyCode: { kind: "text" },
  sourceUnitCost: { kind: "money" },
  sourceCurrencyCode: { kind: "text" },
  fxRate: { kind: "rate" },
  fxSource: { kind: "text" },
  outcome: { kind: "text" },
  reason: { kind: "text", empty: null },
  attempt: { kind: "integer" },
  /** The completion of the order that it belongs to, from 1 on. An order that was reopened is completed again. */
  completion: { kind: "integer" },
  proposedAtMs: { kind: "instant" },
  resolvedAtMs: { kind: "instant", empty: null },
} as const satisfies Fields;

/** A unit cost that the order proposed, and what became of it. */
export interface CostSyncEntry extends ValuesOf<typeof costRowFields> {
  readonly fxSource: "override" | "shop-rate" | "same-currency";
  readonly outcome: CostOutcome;
  /** Lots that entered and left the moving average with it; null: they were not noted. */
  readonly lots: readonly CostLot[] | null;
}

/** The history of an order, each list oldest first. */
export interface OrderHistory {
  readonly log: readonly LogEntry[];
  readonly receipts: readonly Receipt[];
  readonly costSyncHistory: readonly CostSyncEntry[];
}

// Writing.

const logColumns: Columns<LogEntry> = {
  log_id: (entry) => entry.logId,
  occurred_at: (entry) => entry.occurredAtMs,
  action: (entry) => entry.action,
  message: (entry) => entry.message,
  actor_type: (entry) => entry.actor.type,
  actor_id: (entry) => entry.actor.id,
  actor_name: (entry) => entry.actor.name,
  actor_key_id: (entry) => entry.actor.keyId ?? null,
  operation: (entry) => entry.operation,
  request_id: (entry) => entry.requestId,
  changes: (entry) => JSON.stringify(entry.changes),
  origin: (entry) => entry.origin ?? null,
  approved_by: (entry) => (entry.approvedBy === undefined ? null : JSON.stringify(entry.approvedBy)),
};

const receiptColumns: Columns<Receipt> = {
  receipt_id: (receipt) => receipt.receiptId,
  received_at: (receipt) => receipt.receivedAtMs,
  recorded_by: (receipt) => receipt.recordedBy,
  source: (receipt) => receipt.source,
  reason: (receipt) => receipt.reason,
  request_id: (receipt) => receipt.requestId,
  lines: (receipt) => JSON.stringify(receipt.lines),
};

const insertLog = insertInto(tables.purchase_order_log, ["purchase_order_id"], logColumns);

const insertReceipt = insertInto(tables.receipt, ["purchase_order_id"], receiptColumns);

const costColumns: Columns<CostSyncEntry> = {
  ...columnsOf(costRowFields),
  lots: ({ lots }) => (lots === null ? null : JSON.stringify(lots)),
};

const insertCost = insertInto(tables.cost_sync, ["purchase_order_id"], costColumns);

/** Adds an entry to the order's log. */
export const logStatement = (shopId: string, purchaseOrderId: string, entry: LogEntry): Change =>
  insertLog([shopId, purchaseOrderId], entry);

/** Adds a receipt of the order. */
export const receiptStatement = (shopId: string, purchaseOrderId: string, receipt: Receipt): Change =>
  insertReceipt([shopId, purchaseOrderId], receipt);

/** Adds a row to the order's cost history. */
export const costStatement = (shopId: string, purchaseOrderId: string, entry: CostSyncEntry): Change =>
  insertCost([shopId, purchaseOrderId], entry);

/** Adds the history of an order that has none. */
export function historyStatements(
  shopId: string,
  purchaseOrderId: string,
  { log, receipts, costSyncHistory }: OrderHistory,
): readonly Change[] {
  return [
    ...log.map((entry) => logStatement(shopId, purchaseOrderId, entry)),
    ...receipts.map((receipt) => receiptStatement(shopId, purchaseOrderId, receipt)),
    ...costSyncHistory.map((entry) => costStatement(shopId, purchaseOrderId, entry)),
  ];
}

// Reading. `changes` and `lines` are read as this module wrote them.

interface LogRow {
  readonly log_id: string;
  readonly occurred_at: number;
  readonly action: string;
  readonly message: string;
  readonly actor_type: LogEntry["actor"]["type"];
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly actor_key_id: string | null;
  readonly operation: string | null;
  readonly request_id: string | null;
  readonly changes: string;
  readonly origin: "import" | null;
  readonly approved_by: string | null;
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

function changesFrom(json: string): readonly FieldChange[] {
  const changes: readonly FieldChange[] = JSON.parse(json);
  return changes;
}

function receiptLinesFrom(json: string): ReceiptDraft["lines"] {
  const lines: ReceiptDraft["lines"] = JSON.parse(json);
  return lines;
}

function actorFrom(json: string): Actor {
  const actor: Actor = JSON.parse(json);
  return actor;
}

const logFrom = (row: LogRow): LogEntry => ({
  logId: row.log_id,
  occurredAtMs: row.occurred_at,
  action: row.action,
  message: row.message,
  actor: {
    type: row.actor_type,
    id: row.actor_id,
    name: row.actor_name,
    ...(row.actor_key_id === null ? {} : { keyId: row.actor_key_id }),
  },
  operation: row.operation,
  requestId: row.request_id,
  changes: changesFrom(row.changes),
  ...(row.origin === null ? {} : { origin: row.origin }),
  ...(row.approved_by === null ? {} : { approvedBy: actorFrom(row.approved_by) }),
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

const costRowFrom = recordReader<Omit<CostSyncEntry, "lots">>(costRowFields);

/** Lots as this module wrote them. */
export function lotsFrom(json: SqlValue | undefined): readonly CostLot[] | null {
  if (typeof json !== "string") return null;
  const lots: readonly CostLot[] = JSON.parse(json);
  return lots;
}

const costFrom = (row: Row): CostSyncEntry => ({ ...costRowFrom(row), lots: lotsFrom(row["lots"]) });

/** The selects of the three tables; the reader adds `where` and the order. */
const selectLog = `select ${Object.keys(logColumns).join(", ")} from purchase_order_log`;

const selectReceipts = `select ${Object.keys(receiptColumns).join(", ")} from receipt`;

const selectCosts = `select ${columnList(costRowFields)}, lots from cost_sync`;

/** The same for the rows of several orders. */
const ofOrders = (select: string): string =>
  `${select.replace("select ", "select purchase_order_id, ")} where shop_id = ? and purchase_order_id in (?)`;

const ofOrder = "shop_id = ? and purchase_order_id = ?";

/** The whole history of several orders, by order. */
export async function historyOfOrders(tx: Tx, orders: OrderList): Promise<(purchaseOrderId: string) => OrderHistory> {
  const [log, receipts, costs] = await Promise.all([
    rowsOfOrders<LogRow>(tx, `${ofOrders(selectLog)} order by log_id`, orders),
    rowsOfOrders<ReceiptRow>(tx, `${ofOrders(selectReceipts)} order by receipt_id`, orders),
    rowsOfOrders<Row>(tx, `${ofOrders(selectCosts)} order by cost_sync_id`, orders),
  ]);
  return (purchaseOrderId) => ({
    log: (log.get(purchaseOrderId) ?? []).map(logFrom),
    receipts: (receipts.get(purchaseOrderId) ?? []).map(receiptFrom),
    costSyncHistory: (costs.get(purchaseOrderId) ?? []).map(costFrom),
  });
}

/** Where a page ended: when the row was written, and its id as tie-break. */
export interface HistoryPosition {
  readonly atMs: number;
  readonly id: string;
}

/** A page of rows of an order's history. */
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

const costs: Table<Row, CostSyncEntry> = {
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

/** The order's activity log; all of it when `limit` is null. */
export const pageOfLog = (
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  after: HistoryPosition | null,
  limit: number | null,
): Promise<HistoryPage<LogEntry>> => pageOf(log, tx, ofOrder, [shopId, purchaseOrderId], after, limit);

/** The log's machine word of a comment. */
export const commentAction = "comment";

/** The order's comments: entries of its log. */
export const pageOfComments = (
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  after: HistoryPosition | null,
  limit: number,
): Promise<HistoryPage<LogEntry>> =>
  pageOf(log, tx, `${ofOrder} and action = '${commentAction}'`, [shopId, purchaseOrderId], after, limit);

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

/** Fields that a request has changed, in the order in which it did. */
export async function changesOfRequest(tx: Tx, shopId: string, requestId: string): Promise<readonly FieldChange[]> {
  const rows = await tx.all<Pick<LogRow, "changes">>(
    "select changes from purchase_order_log where shop_id = ? and request_id = ? order by occurred_at, log_id",
    [shopId, requestId],
  );
  return rows.flatMap(({ changes }) => changesFrom(changes));
}

/** Entries by their order and id, in no order. */
export async function logEntriesOf(
  tx: Tx,
  shopId: string,
  keys: readonly (readonly [purchaseOrderId: string, logId: string])[],
): Promise<readonly LogEntry[]> {
  const pages = await Promise.all(
    // A key takes three parameters.
    chunksOf(keys, Math.floor(inListMax / 3)).map((chunk) => {
      const { sql, params } = hasOneOf(shopId, ["purchase_order_id", "log_id"], chunk);
      return tx.all<LogRow>(`${selectLog} where ${sql}`, params);
    }),
  );
  return pages.flat().map(logFrom);
}

/** Receipts of these orders from an instant on, by order. */
export async function receiptsSince(
  tx: Tx,
  shopId: string,
  purchaseOrderIds: readonly string[],
  sinceMs: number,
): Promise<ReadonlyMap<string, readonly Receipt[]>> {
  const rows = await selectIn<ReceiptRow & { readonly purchase_order_id: string }>(
    tx,
    `${selectReceipts.replace("select ", "select purchase_order_id, ")} where shop_id = ? and received_at >= ? and purchase_order_id in (?)`,
    [shopId, sinceMs],
    purchaseOrderIds,
  );
  const byOrder = Map.groupBy(rows, (row) => row.purchase_order_id);
  return new Map([...byOrder].map(([id, of]) => [id, of.map(receiptFrom)]));
}

/** All receipts of the order, newest first. */
export async function loadReceipts(tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly Receipt[]> {
  const rows = await tx.all<ReceiptRow>(
    `${selectReceipts} where ${ofOrder} order by received_at desc, receipt_id desc`,
    [shopId, purchaseOrderId],
  );
  return rows.map(receiptFrom);
}
