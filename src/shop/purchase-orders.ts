/**
 * Purchase orders between SQL and core: loading one, saving what a rule decided, deleting, numbering.
 *
 * Owns: the SQL of an order, its lines, log, receipts and attachments, the incoming ledger, the number counter and the catalogue
 * rows that orders read. Does not own: lists (order-list.ts), the outbox (effects.ts), or any rule.
 *
 * Invariants:
 * - R1. `saveDecision` writes everything a decision holds or, when it changes nothing, nothing (S2, P5).
 * - R2. The incoming ledger moves with the order in the same transaction, by the difference (C41).
 * - R3. A number is given once; a refused request gives none away (C34).
 */
import type { Attachments } from "../core/attachments.ts";
import type { Effect } from "../core/effect.ts";
import { fold } from "../core/fold.ts";
import { incomingDeltas } from "../core/incoming.ts";
import { paidStatus } from "../core/lines.ts";
import { type Fields, storedHeaderFields, storedLineFields } from "../core/purchase-order-fields.ts";
import {
  type Decision,
  type Header,
  type LineItem,
  type PurchaseOrder,
  linesPerOrderMax,
} from "../core/purchase-order.ts";
import { inListMax, placeholders } from "../store/in-lists.ts";
import type { Ids, SqlValue, Statement, Tx } from "../store/store.ts";
import { type Columns, type Row, columnList, columnsOf, recordReader } from "./columns.ts";
import { effectStatements } from "./effects.ts";
import { attachmentStatements, loadAttachments } from "./purchase-order-attachments.ts";
import { orderTables, removeStatements } from "./purchase-order-tables.ts";

// Orders.

/** The fields of a header as they are read: what is stored, and the names as they are now. */
const headerFields = {
  ...storedHeaderFields,
  supplierName: { kind: "text", empty: null },
  locationName: { kind: "text", empty: null },
} as const satisfies Fields;

/** Columns of a header and the joins that bring the live names; `o` is the order. */
export const selectHeader = `
select ${columnList(storedHeaderFields, "o.")}, s.name as supplier_name, l.name as location_name
from purchase_order o
left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
left join location l on l.shop_id = o.shop_id and l.location_id = o.location_id`;

export const headerFrom = recordReader<Header>(headerFields);

const selectLinesOfOrder = `
select position, ${columnList(storedLineFields)}
from purchase_order_line where shop_id = ? and purchase_order_id = ?`;

const selectLines = `${selectLinesOfOrder} order by position`;

const lineFrom = recordReader<LineItem>(storedLineFields);

/** The header alone; null when there is no such order or it was deleted (C33). */
export async function loadHeader(tx: Tx, shopId: string, purchaseOrderId: string): Promise<Header | null> {
  const [row] = await tx.all<Row>(
    `${selectHeader} where o.shop_id = ? and o.purchase_order_id = ? and o.deleted_at is null`,
    [shopId, purchaseOrderId],
  );
  return row === undefined ? null : headerFrom(row);
}

/** The order with its lines in the order they were added; null when there is no such order or it was deleted (C33). */
export async function loadOrder(tx: Tx, shopId: string, purchaseOrderId: string): Promise<PurchaseOrder | null> {
  const [header, rows] = await Promise.all([
    loadHeader(tx, shopId, purchaseOrderId),
    tx.all<Row>(selectLines, [shopId, purchaseOrderId]),
  ]);
  return header === null ? null : { ...header, lineItems: rows.map(lineFrom) };
}

interface LinePage {
  readonly lineItems: readonly LineItem[];
  readonly totalCount: number;
  /** Place of the page's last line in its order; null on the last page. */
  readonly end: number | null;
}

/** Lines of an order in the order they were added; all of them when `limit` is null. */
export async function pageOfLines(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  after: number | null,
  limit: number | null,
): Promise<LinePage> {
  const key = [shopId, purchaseOrderId];
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(
      "select count(*) as n from purchase_order_line where shop_id = ? and purchase_order_id = ?",
      key,
    ),
    tx.all<Row & { readonly position: number }>(
      `${selectLinesOfOrder}${after === null ? "" : " and position > ?"} order by position${limit === null ? "" : " limit ?"}`,
      [...key, ...(after === null ? [] : [after]), ...(limit === null ? [] : [limit + 1])],
    ),
  ]);
  const shown = limit === null ? rows : rows.slice(0, limit);
  return {
    lineItems: shown.map(lineFrom),
    totalCount: counted?.n ?? 0,
    end: rows.length > shown.length ? (shown.at(-1)?.position ?? null) : null,
  };
}

/** Orders from behind this id on, by id, soft-deleted ones too: for export. */
export async function pageOfOrders(
  tx: Tx,
  shopId: string,
  after: string,
  limit: number,
): Promise<readonly { readonly order: PurchaseOrder; readonly deletedAtMs: number | null }[]> {
  const keys = await tx.all<{ purchase_order_id: string; deleted_at: number | null }>(
    `select purchase_order_id, deleted_at from purchase_order where shop_id = ? and purchase_order_id > ?
     order by purchase_order_id limit ?`,
    [shopId, after, limit],
  );
  const page = await Promise.all(
    keys.map(async ({ purchase_order_id: purchaseOrderId, deleted_at: deletedAtMs }) => {
      const key = [shopId, purchaseOrderId];
      const [headers, rows] = await Promise.all([
        tx.all<Row>(`${selectHeader} where o.shop_id = ? and o.purchase_order_id = ?`, key),
        tx.all<Row>(selectLines, key),
      ]);
      return headers.map((header) => ({
        order: { ...headerFrom(header), lineItems: rows.map(lineFrom) },
        deletedAtMs,
      }));
    }),
  );
  return page.flat();
}

/** What a search for an order by text looks through, one field a line; the supplier's name is looked up where it stands (C13). */
const searchText = (order: Pick<Header, "poNumber" | "poName" | "supplierReference">): string =>
  [order.poNumber, order.poName ?? "", order.supplierReference ?? ""].map(fold).join("\n");

const { purchaseOrderId: _orderKey, ...headerDataFields } = storedHeaderFields;

/** Every column of `purchase_order` but its key and `deleted_at`. */
const headerColumns: Columns<Header> = {
  ...columnsOf(headerDataFields),
  paid_status: paidStatus,
  search_folded: searchText,
};

const { poLineItemId: _lineKey, ...lineDataFields } = storedLineFields;

/** Every column of `purchase_order_line` but its key and `position`. */
const lineColumns: Columns<LineItem> = columnsOf(lineDataFields);

const columnNames = (columns: object): string => Object.keys(columns).join(", ");

const insertHeader = `
insert into purchase_order (shop_id, purchase_order_id, ${columnNames(headerColumns)})
values (?, ?, ${placeholders(Object.keys(headerColumns).length)})`;

const insertLine = `
insert into purchase_order_line (shop_id, purchase_order_id, po_line_item_id, position, ${columnNames(lineColumns)})
values (?, ?, ?, ?, ${placeholders(Object.keys(lineColumns).length)})`;

const deleteLine =
  "delete from purchase_order_line where shop_id = ? and purchase_order_id = ? and po_line_item_id = ?";

/** The update of the columns that differ, so that untouched indexes stay untouched; null when none does. */
function updateStatement<T>(
  table: string,
  columns: Columns<T>,
  before: T,
  next: T,
  key: Readonly<Record<string, string>>,
): Statement | null {
  const sets: string[] = [];
  const params: SqlValue[] = [];
  for (const [column, valueOf] of Object.entries(columns)) {
    const value = valueOf(next);
    if (value === valueOf(before)) continue;
    sets.push(`${column} = ?`);
    params.push(value);
  }
  if (sets.length === 0) return null;
  const where = Object.keys(key).map((column) => `${column} = ?`);
  return {
    sql: `update ${table} set ${sets.join(", ")} where ${where.join(" and ")}`,
    params: [...params, ...Object.values(key)],
  };
}

const valuesOf = <T>(columns: Columns<T>, of: T): readonly SqlValue[] =>
  Object.values(columns).map((valueOf) => valueOf(of));

/** Writes the header and the lines of `next` as far as they differ from `before`. */
function orderStatements(shopId: string, before: PurchaseOrder | null, next: PurchaseOrder): readonly Statement[] {
  const { purchaseOrderId } = next;
  const statements: Statement[] = [];
  if (before === null) {
    statements.push({ sql: insertHeader, params: [shopId, purchaseOrderId, ...valuesOf(headerColumns, next)] });
  } else {
    const key = { shop_id: shopId, purchase_order_id: purchaseOrderId };
    const update = updateStatement<Header>("purchase_order", headerColumns, before, next, key);
    if (update !== null) statements.push(update);
  }
  const lines = new Map((before?.lineItems ?? []).map((line) => [line.poLineItemId, line] as const));
  for (const [index, line] of next.lineItems.entries()) {
    const { poLineItemId } = line;
    const stored = lines.get(poLineItemId);
    lines.delete(poLineItemId);
    if (stored === line) continue;
    if (stored === undefined) {
      // Grows with every change and within it, so lines stay in the order in which they were added whatever is deleted.
      const position = next.version * linesPerOrderMax + index;
      const params = [shopId, purchaseOrderId, poLineItemId, position, ...valuesOf(lineColumns, line)];
      statements.push({ sql: insertLine, params });
      continue;
    }
    const key = { shop_id: shopId, purchase_order_id: purchaseOrderId, po_line_item_id: poLineItemId };
    const update = updateStatement<LineItem>("purchase_order_line", lineColumns, stored, line, key);
    if (update !== null) statements.push(update);
  }
  for (const poLineItemId of lines.keys())
    statements.push({ sql: deleteLine, params: [shopId, purchaseOrderId, poLineItemId] });
  return statements;
}

const addIncoming = `
insert into incoming (shop_id, variant_id, location_id, quantity) values (?, ?, ?, ?)
on conflict (shop_id, variant_id, location_id) do update set quantity = incoming.quantity + excluded.quantity`;

/** Moves the incoming ledger from what `before` brought to what `next` brings (R2). For import, too. */
export const incomingStatements = (
  shopId: string,
  before: PurchaseOrder | null,
  next: PurchaseOrder | null,
): readonly Statement[] =>
  incomingDeltas(before, next).map(({ variantId, locationId, delta }) => ({
    sql: addIncoming,
    params: [shopId, variantId, locationId, delta],
  }));

// Saving.

/** Who made a change, in which call and when. */
export interface Stamp {
  readonly actor: {
    readonly type: "api-key" | "agent" | "user" | "system";
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** The name under which records show who made them; the id where there is no name. */
export const actorName = (actor: Stamp["actor"]): string | null => actor.name ?? actor.id;

const insertLog = `
insert into purchase_order_log
  (shop_id, purchase_order_id, log_id, occurred_at, action, message, actor_type, actor_id, actor_name, operation, request_id,
   changes)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function logStatement(
  shopId: string,
  purchaseOrderId: string,
  entry: Decision["log"][number],
  { actor, operation, requestId, nowMs, ids }: Stamp,
): Statement {
  return {
    sql: insertLog,
    params: [
      shopId,
      purchaseOrderId,
      ids.next("log"),
      nowMs,
      entry.action,
      entry.message,
      actor.type,
      actor.id,
      actor.name,
      operation,
      requestId,
      JSON.stringify(entry.changes),
    ],
  };
}

const insertReceipt = `
insert into receipt
  (shop_id, purchase_order_id, receipt_id, received_at, recorded_by, source, reason, request_id, lines)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Writes what was decided in one flight: the order, its log, receipts, the incoming ledger and the effects. Nothing when the decision
 * changes nothing.
 *
 * @param before the order as loaded in this transaction; null for a new one.
 * @returns the effects as asked for, each with its id in the outbox.
 */
export async function saveDecision(
  tx: Tx,
  shopId: string,
  before: PurchaseOrder | null,
  { next, log, receipts, effects }: Decision,
  stamp: Stamp,
): Promise<readonly { readonly effectId: string; readonly kind: Effect["kind"] }[]> {
  if (next === before) return [];
  const { purchaseOrderId } = next;
  const outbox = effectStatements(shopId, effects, stamp.ids, stamp.nowMs);
  await tx.batch([
    ...orderStatements(shopId, before, next),
    ...incomingStatements(shopId, before, next),
    ...log.map((entry) => logStatement(shopId, purchaseOrderId, entry, stamp)),
    ...receipts.map((receipt) => ({
      sql: insertReceipt,
      params: [
        shopId,
        purchaseOrderId,
        stamp.ids.next("rcpt"),
        stamp.nowMs,
        actorName(stamp.actor),
        receipt.source,
        receipt.reason,
        stamp.requestId,
        JSON.stringify(receipt.lines),
      ],
    })),
    ...outbox.statements,
  ]);
  return outbox.effects;
}

/** Everything that is kept of an order and what hangs on it, but its version. */
const contentOf = (order: PurchaseOrder, { payments, documents, shipments, credits }: Attachments): string =>
  JSON.stringify([
    valuesOf(headerColumns, { ...order, version: 0 }),
    order.lineItems.map((line) => [line.poLineItemId, ...valuesOf(lineColumns, line)]),
    [payments, documents, shipments, credits],
  ]);

/**
 * Takes an order that came from outside as it is: no log, no effects; the ledger follows. A stored one is replaced; if the record says
 * something else than what is stored, its version is above the stored one's, so that no ETag stands for two states (C37).
 *
 * @returns the order as it was stored; null when there was none, or a deleted one.
 */
export async function importOrder(
  tx: Tx,
  shopId: string,
  order: PurchaseOrder,
  attachments: Attachments,
): Promise<PurchaseOrder | null> {
  const [before, attached] = await Promise.all([
    loadOrder(tx, shopId, order.purchaseOrderId),
    loadAttachments(tx, shopId, order.purchaseOrderId),
  ]);
  const isSame = before !== null && contentOf(before, attached) === contentOf(order, attachments);
  const storedVersion = before === null ? 0 : before.version + (isSame ? 0 : 1);
  const version = Math.max(order.version, storedVersion);
  const statements = [
    // A soft-deleted one is not loaded but is there.
    ...removeStatements(shopId, order.purchaseOrderId, ["purchase_order", "purchase_order_line"]),
    ...orderStatements(shopId, null, { ...order, version }),
    ...incomingStatements(shopId, before, order),
    ...attachmentStatements(shopId, order.purchaseOrderId, attachments),
  ];
  await tx.batch(statements);
  return before;
}

/** Deletes the order with everything that belongs to it. Its number is not given again, since the counter has passed it (C33, C34). */
export async function deleteOrder(tx: Tx, shopId: string, order: PurchaseOrder): Promise<void> {
  await tx.batch([
    ...incomingStatements(shopId, order, null),
    ...removeStatements(shopId, order.purchaseOrderId, orderTables),
  ]);
}

/** Hides the order and keeps all of it; the log tells who did (C33). */
export async function softDelete(tx: Tx, shopId: string, order: PurchaseOrder, stamp: Stamp): Promise<void> {
  const entry = { action: "delete", message: `Deleted ${order.poNumber}; it is hidden and retained.`, changes: [] };
  await tx.batch([
    {
      sql: `update purchase_order set deleted_at = ?, updated_at = ?, version = version + 1
            where shop_id = ? and purchase_order_id = ?`,
      params: [stamp.nowMs, stamp.nowMs, shopId, order.purchaseOrderId],
    },
    ...incomingStatements(shopId, order, null),
    logStatement(shopId, order.purchaseOrderId, entry, stamp),
  ]);
}

// Numbers.

const poNumberPrefix = "PO-";

/**
 * Takes the next number, `PO-1001` on. Numbers that an import brought along are passed over (C34).
 *
 * Call it inside the transaction that inserts the order: if that fails, the number was never given.
 */
export async function nextPoNumber(tx: Tx, shopId: string): Promise<string> {
  const [shop] = await tx.all<{ next_po_number: number }>("select next_po_number from shop where shop_id = ?", [
    shopId,
  ]);
  if (shop === undefined) throw new Error(`shop ${shopId} has no row`);
  let first = shop.next_po_number;
  // One look-up is enough but after an import, whose numbers are then passed in strides.
  for (let count = 1; ; first += count, count = inListMax) {
    const numbers = Array.from({ length: count }, (_, index) => `${poNumberPrefix}${first + index}`);
    const rows = await tx.all<{ po_number: string }>(
      `select po_number from purchase_order where shop_id = ? and po_number in (${placeholders(count)})`,
      [shopId, ...numbers],
    );
    const taken = new Set(rows.map((row) => row.po_number));
    const index = numbers.findIndex((poNumber) => !taken.has(poNumber));
    const free = numbers[index];
    if (free === undefined) continue;
    await tx.batch([
      { sql: "update shop set next_po_number = ? where shop_id = ?", params: [first + index + 1, shopId] },
    ]);
    return free;
  }
}
