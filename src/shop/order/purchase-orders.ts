/**
 * Purchase orders in SQL: loading one, saving a decision, importing, deleting, numbering.
 *
 * Owns: the SQL of an order and its lines, of the incoming ledger and of the number counter. Does not own: the list of
 * orders and what it knows of them (order-list/), log and receipts (purchase-order-history.ts), attachments
 * (purchase-order-attachments.ts), the outbox (shop/storefront/effects.ts), any rule.
 *
 * Invariants:
 * - R1. `saveDecision` writes the whole decision, or nothing if the decision changes nothing (S2, P5).
 * - R2. The incoming ledger changes by the difference, in the same transaction as the order (C41).
 * - R3. A number is given once. A refused request uses none (C34).
 */
import type { Actor } from "../../core/access/actor.ts";
import type { Attachments } from "../../core/order/attachments.ts";
import { deletedEvent, eventOf } from "../../core/events/events.ts";
import { zeroQuantity } from "../../core/money/money.ts";
import { type IncomingDelta, incomingDeltas, rescheduled, summedDeltas } from "../../core/goods/incoming.ts";
import { paidStatus } from "../../core/order/lines.ts";
import { type Fields, storedHeaderFields, storedLineFields } from "../../core/order/purchase-order-fields.ts";
import {
  type Decision,
  type Header,
  type LineItem,
  type OrderWithLines,
  type PurchaseOrder,
  linesPerOrderMax,
} from "../../core/order/purchase-order.ts";
import { inListMax, placeholders, selectIn } from "../../store/in-lists.ts";
import { type Change, type Row, insert, remove, plus, update } from "../../store/change.ts";
import type { Remembered, SqlValue, Statement, Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";
import { type Columns, columnList, columnsOf, insertInto, recordReader, updateIn } from "../columns.ts";
import { type QueuedEffect, effectStatements } from "../storefront/effects.ts";
import { type EventStamp, eventStatements } from "../events/events.ts";
import { attachmentStatements, loadAttachments, selectAttachments } from "./purchase-order-attachments.ts";
import { forgetStockOuts } from "../forecast/stock-days.ts";
import { recentChanges } from "../order-list/order-recent.ts";
import {
  type LogEntry,
  type OrderHistory,
  type Receipt,
  historyStatements,
  logStatement,
  receiptStatement,
} from "./purchase-order-history.ts";
import { lineReader } from "./order-lines.ts";
import { partiesStatements } from "./order-parties.ts";
import { orderTables, removeStatements } from "./purchase-order-tables.ts";
import { dropReminders, importedReminders, reminderStatements } from "../supplier/reminders.ts";

// Loading.

/** The fields of a header as it is read: the stored ones, and what supplier and location are now. */
const headerFields = {
  ...storedHeaderFields,
  supplierName: { kind: "text", empty: null },
  locationName: { kind: "text", empty: null },
  supplierLeadTimeNow: { kind: "integer", empty: null },
} as const satisfies Fields;

/** Selects headers with the current names. `o` is the order. */
const selectHeader = `
select ${columnList(storedHeaderFields, "o.")}, s.name as supplier_name, l.name as location_name, s.lead_time_days as supplier_lead_time_now
from purchase_order o
left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
left join location l on l.shop_id = o.shop_id and l.location_id = o.location_id`;

/** The header of a row of `selectHeader`. */
const headerFrom = recordReader<Header>(headerFields);

const selectHeadersOfOrders = `${selectHeader} where o.shop_id = ? and o.purchase_order_id in (?)`;

const wholeLines = lineReader();

const selectLinesOfOrder = `
select position, ${columnList(storedLineFields)}
from purchase_order_line where shop_id = ? and purchase_order_id = ?`;

const selectLines = `${selectLinesOfOrder} order by position`;

const lineFrom = recordReader<LineItem>(storedLineFields);

const selectOneHeader = `${selectHeader} where o.shop_id = ? and o.purchase_order_id = ? and o.deleted_at is null`;

/** The header. Null: there is no such order, or it was deleted (C33). */
export async function loadHeader(tx: Tx, shopId: string, purchaseOrderId: string): Promise<Header | null> {
  const [row] = await tx.all<Row>(selectOneHeader, [shopId, purchaseOrderId]);
  return row === undefined ? null : headerFrom(row);
}

/** The headers of these orders, in this order. One that is not there or was deleted is left out. */
export async function loadHeaders(tx: Tx, shopId: string, ids: readonly string[]): Promise<readonly Header[]> {
  const rows = await selectIn<Row>(
    tx,
    `${selectHeader} where o.shop_id = ? and o.deleted_at is null and o.purchase_order_id in (?)`,
    [shopId],
    ids,
  );
  const headers = new Map(rows.map((row) => [row["purchase_order_id"], headerFrom(row)]));
  return ids.flatMap((id) => headers.get(id) ?? []);
}

/** The order with its lines as they were added. Null: there is no such order, or it was deleted (C33). */
export async function loadOrder(tx: Tx, shopId: string, purchaseOrderId: string): Promise<PurchaseOrder | null> {
  const load = async (): Promise<PurchaseOrder | null> => {
    const [header, rows, attached] = await Promise.all([
      loadHeader(tx, shopId, purchaseOrderId),
      tx.all<Row>(selectLines, [shopId, purchaseOrderId]),
      loadAttachments(tx, shopId, purchaseOrderId),
    ]);
    return header === null ? null : { ...header, lineItems: rows.map(lineFrom), attached };
  };
  return await (tx.cache?.recall(orderRemembered(shopId, purchaseOrderId), load) ?? load());
}

/** Bytes of a header, and of each line, in memory, roughly. */
const rememberedHeaderBytes = 2_000;
const rememberedLineBytes = 800;

const rememberedBytesOf = (order: object): number =>
  "lineItems" in order && Array.isArray(order.lineItems)
    ? rememberedHeaderBytes + order.lineItems.length * rememberedLineBytes
    : rememberedHeaderBytes;

/** An order as it is remembered between the steps of a change, and from one change to the next (D248). */
function orderRemembered(shopId: string, purchaseOrderId: string): Remembered {
  const params = [shopId, purchaseOrderId];
  return {
    key: `order ${purchaseOrderId}`,
    reads: [
      { sql: selectOneHeader, params },
      { sql: selectLines, params },
      { sql: selectAttachments, params },
    ],
    bytesOf: rememberedBytesOf,
  };
}

/** A header with some of its lines. */
export interface LinePage {
  readonly header: Header;
  readonly lineItems: readonly LineItem[];
  /** Position of the page's last line. Null on the last page. */
  readonly end: number | null;
}

/**
 * A page of an order's lines as they were added, after the position `after`. All of them when `limit` is null. Null:
 * there is no such order, or it was deleted (C33).
 */
export async function pageOfLines(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  after: number | null,
  limit: number | null,
): Promise<LinePage | null> {
  const [header, rows] = await Promise.all([
    loadHeader(tx, shopId, purchaseOrderId),
    tx.all<Row & { readonly position: number }>(
      `${selectLinesOfOrder}${after === null ? "" : " and position > ?"} order by position${limit === null ? "" : " limit ?"}`,
      [shopId, purchaseOrderId, ...(after === null ? [] : [after]), ...(limit === null ? [] : [limit + 1])],
    ),
  ]);
  if (header === null) return null;
  const shown = limit === null ? rows : rows.slice(0, limit);
  return {
    header,
    lineItems: shown.map(lineFrom),
    end: rows.length > shown.length ? (shown.at(-1)?.position ?? null) : null,
  };
}

/** The position of an order's line; null: it has no such line. */
export async function positionOfLine(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  poLineItemId: string,
): Promise<number | null> {
  const [row] = await tx.all<{ readonly position: number }>(
    "select position from purchase_order_line where shop_id = ? and purchase_order_id = ? and po_line_item_id = ?",
    [shopId, purchaseOrderId, poLineItemId],
  );
  return row?.position ?? null;
}

/** Lines of a page of whole orders: loading and showing more would hold the event loop for too long. */
const pageLinesMax = 250;

/** Whole orders, soft-deleted ones included. */
interface WholeOrderPage {
  readonly orders: readonly { readonly order: OrderWithLines; readonly deletedAtMs: number | null }[];
  /** The id after which the next page begins. Null on the last page. */
  readonly end: string | null;
}

/** The given orders in the order of the ids, soft-deleted ones included. */
export async function wholeOrders(tx: Tx, shopId: string, ids: readonly string[]): Promise<readonly OrderWithLines[]> {
  const [headers, lines] = await Promise.all([
    selectIn<Row>(tx, selectHeadersOfOrders, [shopId], ids),
    wholeLines(tx, shopId, ids),
  ]);
  const orders = new Map(
    headers
      .map(headerFrom)
      .map((header) => [header.purchaseOrderId, { ...header, lineItems: lines.get(header.purchaseOrderId) ?? [] }]),
  );
  return ids.flatMap((id) => orders.get(id) ?? []);
}

/**
 * Orders after this id, by id, soft-deleted ones included: for export. A page has fewer orders if they have many lines,
 * but at least one.
 */
export async function pageOfOrders(tx: Tx, shopId: string, after: string, limit: number): Promise<WholeOrderPage> {
  const keys = await tx.all<{ purchase_order_id: string; deleted_at: number | null; item_count: number }>(
    `select purchase_order_id, deleted_at, item_count from purchase_order where shop_id = ? and purchase_order_id > ?
     order by purchase_order_id limit ?`,
    [shopId, after, limit],
  );
  let lineCount = 0;
  const shown = keys.filter(({ item_count: count }, index) => {
    lineCount += count;
    return index === 0 || lineCount <= pageLinesMax;
  });
  const ids = shown.map(({ purchase_order_id: purchaseOrderId }) => purchaseOrderId);
  const deleted = new Map(shown.map((key) => [key.purchase_order_id, key.deleted_at]));
  const orders = (await wholeOrders(tx, shopId, ids)).map((order) => ({
    order,
    deletedAtMs: deleted.get(order.purchaseOrderId) ?? null,
  }));
  const isLast = shown.length === keys.length && keys.length < limit;
  return { orders, end: isLast ? null : (shown.at(-1)?.purchase_order_id ?? null) };
}

// Saving.

const { purchaseOrderId: _orderId, ...headerDataFields } = storedHeaderFields;

/** Every column of `purchase_order` but its key and `deleted_at`. */
const headerColumns: Columns<Header> = {
  ...columnsOf(headerDataFields),
  paid_status: paidStatus,
};

const { poLineItemId: _lineId, ...lineDataFields } = storedLineFields;

/** Every column of `purchase_order_line` but its key and `position`. */
const lineColumns: Columns<LineItem> = columnsOf(lineDataFields);

const insertHeader = insertInto(tables.purchase_order, ["purchase_order_id"], headerColumns);

const updateHeader = updateIn(tables.purchase_order, headerColumns);

const insertLine = insertInto(
  tables.purchase_order_line,
  ["purchase_order_id", "po_line_item_id", "position"],
  lineColumns,
);

const updateLine = updateIn(tables.purchase_order_line, lineColumns);

const valuesOf = <T>(columns: Columns<T>, of: T): readonly SqlValue[] =>
  Object.values(columns).map((valueOf) => valueOf(of));

/**
 * Changes the incoming ledger, and what lists know, by the difference between `before` and `next` (R2, R4). Null: there
 * was, or is, no such order.
 */
function sumStatements(
  shopId: string,
  before: OrderWithLines | null,
  next: OrderWithLines | null,
): readonly Statement[] {
  return [
    ...incomingStatements(shopId, [...incomingDeltas(before, next), ...rescheduled(before, next)]),
    ...recentChanges(shopId, before, next),
  ];
}

/** Writes what differs between `before` and `next` in header and lines. */
function orderStatements(shopId: string, before: OrderWithLines | null, next: OrderWithLines): readonly Statement[] {
  const { purchaseOrderId } = next;
  const statements: Statement[] = [];
  const key = { purchase_order_id: purchaseOrderId };
  const header =
    before === null ? insertHeader([shopId, purchaseOrderId], next) : updateHeader(shopId, key, before, next);
  if (header !== null) statements.push(header);
  const lines = new Map((before?.lineItems ?? []).map((line) => [line.poLineItemId, line] as const));
  for (const [index, line] of next.lineItems.entries()) {
    const { poLineItemId } = line;
    const stored = lines.get(poLineItemId);
    lines.delete(poLineItemId);
    if (stored === line) continue;
    if (stored === undefined) {
      // It grows with every change and within one, so lines keep the order in which they were added, whatever is
      // deleted.
      const position = next.version * linesPerOrderMax + index;
      statements.push(insertLine([shopId, purchaseOrderId, poLineItemId, position], line));
      continue;
    }
    const change = updateLine(shopId, { ...key, po_line_item_id: poLineItemId }, stored, line);
    if (change !== null) statements.push(change);
  }
  for (const poLineItemId of lines.keys())
    statements.push(remove(tables.purchase_order_line, shopId, { ...key, po_line_item_id: poLineItemId }));
  return statements;
}

const incomingStatements = (shopId: string, deltas: readonly IncomingDelta[]): readonly Change[] =>
  deltas.map(({ variantId, locationId, delta }) =>
    insert(tables.incoming, shopId, { variant_id: variantId, location_id: locationId, quantity: delta }, "add"),
  );

/** Who made a change, in which call and when. */
export interface Stamp extends EventStamp {
  readonly operation: string | null;
  /** Who has approved the change (C80). Default: it needed no approval. */
  readonly approvedBy?: Actor | null;
}

/** The actor as records show it: the name, else the id. */
export const actorName = (actor: Stamp["actor"]): string | null => actor.name ?? actor.id;

/** The log entry of a change that this call makes. */
export const logged = (
  draft: Decision["log"][number],
  { actor, approvedBy = null, operation, requestId, nowMs, ids }: Stamp,
): LogEntry => ({
  ...draft,
  logId: ids.next("log"),
  occurredAtMs: nowMs,
  actor,
  ...(approvedBy === null ? {} : { approvedBy }),
  operation,
  requestId,
});

/** The receipt of goods that this call records. */
const recorded = (draft: Decision["receipts"][number], { actor, requestId, nowMs, ids }: Stamp): Receipt => ({
  ...draft,
  receiptId: ids.next("rcpt"),
  receivedAtMs: nowMs,
  recordedBy: actorName(actor),
  requestId,
});

/**
 * Writes a decision in one round trip: the order, its log, its receipts, its event, the incoming ledger and the
 * effects. Writes nothing when the decision changes nothing.
 *
 * @param before the order as loaded in this transaction; null for a new one.
 * @returns the decision's effects, each with its id in the outbox.
 */
export async function saveDecision(
  tx: Tx,
  shopId: string,
  before: PurchaseOrder | null,
  decided: Decision,
  stamp: Stamp,
): Promise<readonly QueuedEffect[]> {
  const { next, log, effects } = decided;
  if (next === before) return [];
  const { purchaseOrderId } = next;
  const outbox = effectStatements(shopId, effects, stamp.ids, stamp.nowMs, stamp.traceparent ?? null);
  const receipts = decided.receipts.map((receipt) => recorded(receipt, stamp));
  const event = eventOf(before, decided, receipts[0]?.receiptId ?? null);
  await tx.batch([
    ...orderStatements(shopId, before, next),
    ...partiesStatements(shopId, before, next),
    ...sumStatements(shopId, before, next),
    ...reminderStatements(shopId, purchaseOrderId, before, next),
    ...log.map((entry) => logStatement(shopId, purchaseOrderId, logged(entry, stamp))),
    ...receipts.map((receipt) => receiptStatement(shopId, purchaseOrderId, receipt)),
    ...(event === null ? [] : eventStatements(shopId, event, stamp)),
    ...outbox.statements,
  ]);
  tx.cache?.know(orderRemembered(shopId, purchaseOrderId), next);
  return outbox.effects;
}

/** Everything that is stored of an order and its attachments, without the version. */
const contentOf = (order: OrderWithLines, { payments, documents, shipments, credits }: Attachments): string =>
  JSON.stringify([
    valuesOf(headerColumns, { ...order, version: 0 }),
    order.lineItems.map((line) => [line.poLineItemId, ...valuesOf(lineColumns, line)]),
    [payments, documents, shipments, credits],
  ]);

/** An order from outside with all that belongs to it. */
export interface ImportedOrder {
  readonly order: OrderWithLines;
  readonly attachments: Attachments;
  readonly history: OrderHistory;
  /** Null: it was not deleted. */
  readonly deletedAtMs: number | null;
  /** Null: it is stored as it is, its history as well. Else an order that is there keeps its own. */
  readonly by?: ImportStamp | null | undefined;
}

/** The person of the shop who imports an order, and in which request. */
export interface ImportStamp {
  readonly actor: Actor;
  readonly requestId: string;
}

/** An order that a record replaces. */
export interface ReplacedOrder {
  readonly order: OrderWithLines;
  readonly attachments: Attachments;
}

/**
 * Stays when a record replaces an order, since none is in a record. The storefront knows its pushes, suppliers have its
 * links, events and reminders have gone out, and keys have spent on it.
 */
const keptTables: readonly string[] = [
  "stock_push",
  "supplier_link",
  "supplier_proposal",
  "purchase_order_reminder",
  "purchase_order_parties",
  "order_spend",
];

/** Tables that a record replaces. */
const importedTables = orderTables.filter((table) => !keptTables.includes(table));

/** Tables that a person's record leaves as they are: the history of the order. */
const historyTables: readonly string[] = ["purchase_order_log", "receipt", "cost_sync"];

/** The order as it is stored, and the version that the imported one gets: a higher one if it differs (C37). */
async function storedOrder(
  tx: Tx,
  shopId: string,
  { order, attachments }: ImportedOrder,
): Promise<{ readonly before: ReplacedOrder | null; readonly version: number }> {
  const [before, attached] = await Promise.all([
    loadOrder(tx, shopId, order.purchaseOrderId),
    loadAttachments(tx, shopId, order.purchaseOrderId),
  ]);
  if (before === null) return { before, version: order.version };
  const isSame = contentOf(before, attached) === contentOf(order, attachments);
  return {
    before: { order: before, attachments: attached },
    version: Math.max(order.version, before.version + (isSame ? 0 : 1)),
  };
}

/**
 * Stores an order from outside as it is, replacing a stored one. If it differs from the stored one, its version becomes
 * higher than that one's, so that no ETag stands for two states (C37). The incoming ledger is left to `importedSums`,
 * effects to the caller.
 *
 * @param isNew     nothing is stored under this id, nor is the log of an order that was deleted.
 * @param replaced  the entry that tells of a person's record in the log of an order that is there; null: nothing
 *   differs.
 * @returns the order as lists showed it before. Null: there was none, or it was deleted.
 */
export async function importOrder(
  tx: Tx,
  shopId: string,
  imported: ImportedOrder,
  isNew: boolean,
  replaced: (stamp: ImportStamp, before: ReplacedOrder | null) => LogEntry | null = () => null,
): Promise<OrderWithLines | null> {
  const { order, attachments, history, deletedAtMs } = imported;
  const { purchaseOrderId } = order;
  const { before: stored, version } = isNew
    ? { before: null, version: order.version }
    : await storedOrder(tx, shopId, imported);
  const before = stored?.order ?? null;
  const by = isNew ? null : (imported.by ?? null);
  const removed = by === null ? importedTables : importedTables.filter((table) => !historyTables.includes(table));
  const entry = by === null ? null : replaced(by, stored);
  await tx.batch([
    // Also of a soft-deleted order, which is not loaded.
    ...(isNew ? [] : removeStatements(shopId, purchaseOrderId, removed)),
    ...orderStatements(shopId, null, { ...order, version }),
    ...attachmentStatements(shopId, purchaseOrderId, attachments),
    ...(by === null ? historyStatements(shopId, purchaseOrderId, history) : []),
    ...(entry === null ? [] : [logStatement(shopId, purchaseOrderId, entry)]),
    ...(deletedAtMs === null
      ? []
      : [update(tables.purchase_order, shopId, { purchase_order_id: purchaseOrderId }, { deleted_at: deletedAtMs })]),
    ...(deletedAtMs === null ? importedReminders(shopId, order, isNew) : [dropReminders(shopId, purchaseOrderId)]),
    ...recentChanges(shopId, before, deletedAtMs === null ? order : null),
  ]);
  return before;
}

/** Changes the incoming ledger by what imported orders make different, all at once (R2). */
export function importedSums(
  shopId: string,
  orders: readonly { readonly before: OrderWithLines | null; readonly next: OrderWithLines | null }[],
  deltas: readonly IncomingDelta[],
): readonly Statement[] {
  const received = new Set<string>();
  for (const { next } of orders)
    for (const line of next?.lineItems ?? []) if (line.quantityReceived > 0) received.add(line.variantId);
  // An order that came in again may have other shipments.
  const again = orders.flatMap(({ before, next }) => (before === null ? [] : incomingDeltas(null, next)));
  return [
    ...incomingStatements(shopId, [
      ...summedDeltas(deltas),
      ...again.map((delta) => ({ ...delta, delta: zeroQuantity })),
    ]),
    ...[...received].map((variantId) => forgetStockOuts(shopId, variantId)),
  ];
}

/**
 * Deletes the order with everything that belongs to it but its log, which says who made and deleted it (C53). Its
 * number is not given again: the counter has passed it (C33, C34).
 */
export async function deleteOrder(
  tx: Tx,
  shopId: string,
  order: PurchaseOrder,
  stamp: Stamp,
  message = `Deleted ${order.poNumber}.`,
): Promise<void> {
  const entry = { action: "delete", message, changes: [] };
  const removed = orderTables.filter((table) => table !== "purchase_order_log");
  await tx.batch([
    ...eventStatements(shopId, deletedEvent(order), stamp),
    ...sumStatements(shopId, order, null),
    ...removeStatements(shopId, order.purchaseOrderId, removed),
    logStatement(shopId, order.purchaseOrderId, logged(entry, stamp)),
  ]);
}

/** Hides the order and keeps all of it, with a log entry about who did so (C33). */
export async function softDelete(tx: Tx, shopId: string, order: PurchaseOrder, stamp: Stamp): Promise<void> {
  const entry = { action: "delete", message: `Deleted ${order.poNumber}; it is hidden and retained.`, changes: [] };
  await tx.batch([
    update(
      tables.purchase_order,
      shopId,
      { purchase_order_id: order.purchaseOrderId },
      { deleted_at: stamp.nowMs, updated_at: stamp.nowMs, version: plus(1) },
    ),
    dropReminders(shopId, order.purchaseOrderId),
    ...sumStatements(shopId, order, null),
    logStatement(shopId, order.purchaseOrderId, logged(entry, stamp)),
    ...eventStatements(shopId, deletedEvent(order), stamp),
  ]);
}

// Numbers.

const poNumberPrefix = "PO-";

/**
 * Takes the next number, from `PO-1001` on. Skips numbers of imported orders (C34).
 *
 * Call it in the transaction that inserts the order: if that fails, the number is not used.
 */
export async function nextPoNumber(tx: Tx, shopId: string): Promise<string> {
  const [shop] = await tx.all<{ next_po_number: number; taken: string | null }>(
    // The number is a value of its own and not one of a join: PostgreSQL would compare it with the number of every
    // order (D368).
    `select next_po_number, (
       select po_number from purchase_order where shop_id = ? and po_number = (
         select '${poNumberPrefix}' || cast(next_po_number as text) from shop where shop_id = ?)) as taken
     from shop where shop_id = ?`,
    [shopId, shopId, shopId],
  );
  if (shop === undefined) throw new Error(`shop ${shopId} has no row`);
  const number = shop.taken === null ? shop.next_po_number : await freeNumber(tx, shopId, shop.next_po_number + 1);
  await tx.batch([update(tables.shop, shopId, {}, { next_po_number: number + 1 })]);
  return `${poNumberPrefix}${number}`;
}

/** The first number from here on that no order has. Numbers of an import are skipped many at a time. */
async function freeNumber(tx: Tx, shopId: string, from: number): Promise<number> {
  for (let first = from; ; first += inListMax) {
    const numbers = Array.from({ length: inListMax }, (_, index) => `${poNumberPrefix}${first + index}`);
    const rows = await tx.all<{ po_number: string }>(
      `select po_number from purchase_order where shop_id = ? and po_number in (${placeholders(inListMax)})`,
      [shopId, ...numbers],
    );
    const taken = new Set(rows.map((row) => row.po_number));
    const index = numbers.findIndex((poNumber) => !taken.has(poNumber));
    if (index !== -1) return first + index;
  }
}
