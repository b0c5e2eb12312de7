/**
 * The records that an operator brings in and takes out, between SQL and the program: reference data, and of an order what no rule
 * reads (its log, receipts and cost history as they are).
 *
 * Owns: writing, replacing and paging through them. Does not own: what a record looks like in a file (admin/records.ts), the order
 * itself and what hangs on it (rows.ts).
 */
import type { SupplierCredit } from "../core/attachment.ts";
import { fold } from "../core/fold.ts";
import { asFxRate, asMoney, asQuantity, type FxRate, type Money, type Quantity } from "../core/money.ts";
import type { Address, FieldChange, ReceiptDraft, SupplierFields } from "../core/purchase-order.ts";
import type { CostOutcome } from "./costs.ts";
import { placeholders } from "./in-lists.ts";
import { changesFrom, receiptLinesFrom } from "./rows.ts";
import type { SqlValue, Statement, Tx } from "./shop.ts";

/** One kind of record and its table: how a record is written as a row, and read back. */
export interface RecordTable<Stored, Row> {
  readonly name: string;
  /** Columns of the key after the shop id; pages follow it. */
  readonly key: readonly (keyof Row & string)[];
  readonly columns: { readonly [Column in keyof Row & string]: (record: Stored) => SqlValue };
  /** Columns that are written but never read back. */
  readonly derived?: Readonly<Record<string, (record: Stored) => SqlValue>>;
  from(row: Row): Stored;
}

/** Stores the record, replacing the one with its key. */
export function replaceStatement<Stored, Row>(
  table: RecordTable<Stored, Row>,
  shopId: string,
  record: Stored,
): Statement {
  const columns: Readonly<Record<string, (record: Stored) => SqlValue>> = { ...table.columns, ...table.derived };
  const names = Object.keys(columns);
  const key: readonly string[] = table.key;
  const updates = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  return {
    sql: `insert into ${table.name} (shop_id, ${names.join(", ")}) values (${placeholders(names.length + 1)})
          on conflict (shop_id, ${key.join(", ")}) do update set ${updates.join(", ")}`,
    params: [shopId, ...Object.values(columns).map((valueOf) => valueOf(record))],
  };
}

/** A page in the order of the key, from behind `after` on. */
export async function pageOf<Stored, Row>(
  tx: Tx,
  table: RecordTable<Stored, Row>,
  shopId: string,
  after: Stored | null,
  limit: number,
): Promise<readonly Stored[]> {
  const key = table.key.join(", ");
  const behind = after === null ? "" : ` and (${key}) > (${placeholders(table.key.length)})`;
  const rows = await tx.all<Row>(
    `select ${Object.keys(table.columns).join(", ")} from ${table.name} where shop_id = ?${behind} order by ${key} limit ?`,
    [shopId, ...(after === null ? [] : table.key.map((column) => table.columns[column](after))), limit],
  );
  return rows.map((row) => table.from(row));
}

/** Records that one statement looks up; a key of two columns binds two values each. */
const lookUpMax = 45;

/** The records that have one of these keys, each the values of the key's columns in their order. */
export async function recordsByKey<Stored, Row>(
  tx: Tx,
  table: RecordTable<Stored, Row>,
  shopId: string,
  keys: readonly (readonly string[])[],
): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  for (let start = 0; start < keys.length; start += lookUpMax) {
    const chunk = keys.slice(start, start + lookUpMax);
    const wanted = chunk.map(() => `(${placeholders(table.key.length)})`).join(", ");
    const rows = await tx.all<Row>(
      `select ${Object.keys(table.columns).join(", ")} from ${table.name}
       where shop_id = ? and (${table.key.join(", ")}) in (values ${wanted})`,
      [shopId, ...chunk.flat()],
    );
    found.push(...rows.map((row) => table.from(row)));
  }
  return found;
}

const orNull = <T>(value: number | null, brand: (value: number) => T): T | null =>
  value === null ? null : brand(value);

const addressText = (address: Address | null): string | null => (address === null ? null : JSON.stringify(address));

function addressFrom(json: string | null): Address | null {
  if (json === null) return null;
  const address: Address = JSON.parse(json);
  return address;
}

export interface Location {
  readonly locationId: string;
  readonly name: string;
  readonly address: Address | null;
}

interface LocationRow {
  readonly location_id: string;
  readonly name: string;
  readonly address: string | null;
}

export const locationTable: RecordTable<Location, LocationRow> = {
  name: "location",
  key: ["location_id"],
  columns: {
    location_id: (location) => location.locationId,
    name: (location) => location.name,
    address: (location) => addressText(location.address),
  },
  from: (row) => ({ locationId: row.location_id, name: row.name, address: addressFrom(row.address) }),
};

export interface Supplier {
  readonly supplierId: string;
  readonly name: string;
  readonly email: string | null;
  readonly currencyCode: string | null;
  readonly leadTimeDays: number | null;
  readonly address: Address | null;
}

interface SupplierRow {
  readonly supplier_id: string;
  readonly name: string;
  readonly email: string | null;
  readonly currency_code: string | null;
  readonly lead_time_days: number | null;
  readonly address: string | null;
}

export const supplierTable: RecordTable<Supplier, SupplierRow> = {
  name: "supplier",
  key: ["supplier_id"],
  columns: {
    supplier_id: (supplier) => supplier.supplierId,
    name: (supplier) => supplier.name,
    email: (supplier) => supplier.email,
    currency_code: (supplier) => supplier.currencyCode,
    lead_time_days: (supplier) => supplier.leadTimeDays,
    address: (supplier) => addressText(supplier.address),
  },
  derived: { name_folded: (supplier) => fold(supplier.name) },
  from: (row) => ({
    supplierId: row.supplier_id,
    name: row.name,
    email: row.email,
    currencyCode: row.currency_code,
    leadTimeDays: row.lead_time_days,
    address: addressFrom(row.address),
  }),
};

/** How a variant stands at the storefront, as last imported or pulled. */
export const variantStatuses = ["active", "inactive", "deleted", "unsyncable"] as const;
export type VariantStatus = (typeof variantStatuses)[number];

export interface Variant {
  readonly variantId: string;
  readonly productId: string;
  readonly productName: string;
  readonly variantName: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  /** In the shop's currency, like `price`. */
  readonly unitCost: Money | null;
  readonly price: Money | null;
  readonly status: VariantStatus;
}

interface VariantRow {
  readonly variant_id: string;
  readonly product_id: string;
  readonly product_name: string;
  readonly variant_name: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly unit_cost: number | null;
  readonly price: number | null;
  readonly status: VariantStatus;
}

export const variantTable: RecordTable<Variant, VariantRow> = {
  name: "variant",
  key: ["variant_id"],
  columns: {
    variant_id: (variant) => variant.variantId,
    product_id: (variant) => variant.productId,
    product_name: (variant) => variant.productName,
    variant_name: (variant) => variant.variantName,
    sku: (variant) => variant.sku,
    barcode: (variant) => variant.barcode,
    unit_cost: (variant) => variant.unitCost,
    price: (variant) => variant.price,
    status: (variant) => variant.status,
  },
  from: (row) => ({
    variantId: row.variant_id,
    productId: row.product_id,
    productName: row.product_name,
    variantName: row.variant_name,
    sku: row.sku,
    barcode: row.barcode,
    unitCost: orNull<Money>(row.unit_cost, asMoney),
    price: orNull<Money>(row.price, asMoney),
    status: row.status,
  }),
};

/** A supplier's catalogue entry for a variant. */
export interface SupplierVariant extends SupplierFields {
  readonly supplierId: string;
  readonly variantId: string;
  readonly unitCost: Money | null;
  readonly unitCostCurrencyCode: string | null;
  /** JSON text. It is shown to the operator alone (C36). */
  readonly supplierVariantDetails: string | null;
}

interface SupplierVariantRow {
  readonly supplier_id: string;
  readonly variant_id: string;
  readonly unit_cost: number | null;
  readonly unit_cost_currency_code: string | null;
  readonly supplier_sku: string | null;
  readonly supplier_barcode: string | null;
  readonly supplier_product_name: string | null;
  readonly supplier_product_url: string | null;
  readonly supplier_variant_details: string | null;
  readonly moq: number | null;
  readonly pack_size: number | null;
  readonly lead_time_days: number | null;
}

export const supplierVariantTable: RecordTable<SupplierVariant, SupplierVariantRow> = {
  name: "supplier_variant",
  key: ["supplier_id", "variant_id"],
  columns: {
    supplier_id: (entry) => entry.supplierId,
    variant_id: (entry) => entry.variantId,
    unit_cost: (entry) => entry.unitCost,
    unit_cost_currency_code: (entry) => entry.unitCostCurrencyCode,
    supplier_sku: (entry) => entry.supplierSku,
    supplier_barcode: (entry) => entry.supplierBarcode,
    supplier_product_name: (entry) => entry.supplierProductName,
    supplier_product_url: (entry) => entry.supplierProductUrl,
    supplier_variant_details: (entry) => entry.supplierVariantDetails,
    moq: (entry) => entry.moq,
    pack_size: (entry) => entry.packSize,
    lead_time_days: (entry) => entry.leadTimeDays,
  },
  from: (row) => ({
    supplierId: row.supplier_id,
    variantId: row.variant_id,
    unitCost: orNull<Money>(row.unit_cost, asMoney),
    unitCostCurrencyCode: row.unit_cost_currency_code,
    supplierSku: row.supplier_sku,
    supplierBarcode: row.supplier_barcode,
    supplierProductName: row.supplier_product_name,
    supplierProductUrl: row.supplier_product_url,
    supplierVariantDetails: row.supplier_variant_details,
    moq: orNull<Quantity>(row.moq, asQuantity),
    packSize: orNull<Quantity>(row.pack_size, asQuantity),
    leadTimeDays: row.lead_time_days,
  }),
};

export interface InventoryLevel {
  readonly variantId: string;
  readonly locationId: string;
  readonly onHand: Quantity;
}

interface InventoryLevelRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly on_hand: number;
}

export const inventoryLevelTable: RecordTable<InventoryLevel, InventoryLevelRow> = {
  name: "inventory_level",
  key: ["variant_id", "location_id"],
  columns: {
    variant_id: (level) => level.variantId,
    location_id: (level) => level.locationId,
    on_hand: (level) => level.onHand,
  },
  from: (row) => ({ variantId: row.variant_id, locationId: row.location_id, onHand: asQuantity(row.on_hand) }),
};

/** What was sold of a variant on a day; `locationId` is null when it is not known where. */
export interface Sale {
  readonly variantId: string;
  readonly locationId: string | null;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly quantity: Quantity;
}

interface SaleRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly date: string;
  readonly quantity: number;
}

export const saleTable: RecordTable<Sale, SaleRow> = {
  name: "sale",
  key: ["variant_id", "location_id", "date"],
  columns: {
    variant_id: (sale) => sale.variantId,
    // A key column cannot be null; no location has an empty id.
    location_id: (sale) => sale.locationId ?? "",
    date: (sale) => sale.date,
    quantity: (sale) => sale.quantity,
  },
  from: (row) => ({
    variantId: row.variant_id,
    locationId: row.location_id === "" ? null : row.location_id,
    date: row.date,
    quantity: asQuantity(row.quantity),
  }),
};

interface SupplierCreditRow {
  readonly credit_id: string;
  readonly supplier_id: string;
  readonly doc: string;
}

export const supplierCreditTable: RecordTable<SupplierCredit, SupplierCreditRow> = {
  name: "supplier_credit",
  key: ["credit_id"],
  columns: {
    credit_id: (credit) => credit.creditId,
    supplier_id: (credit) => credit.supplierId,
    doc: (credit) => JSON.stringify(credit),
  },
  from: (row): SupplierCredit => JSON.parse(row.doc),
};

// What an order has gone through.

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

export interface LogRow {
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

export interface ReceiptRow {
  readonly receipt_id: string;
  readonly received_at: number;
  readonly recorded_by: string | null;
  readonly source: Receipt["source"];
  readonly reason: string | null;
  readonly request_id: string | null;
  readonly lines: string;
}

export interface CostSyncRow {
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
export const selectLog = `
select log_id, occurred_at, action, message, actor_type, actor_id, actor_name, operation, request_id, changes
from purchase_order_log`;

export const selectReceipts = `
select receipt_id, received_at, recorded_by, source, reason, request_id, lines
from receipt`;

export const selectCosts = `
select cost_sync_id, variant_id, po_line_item_id, previous_unit_cost, proposed_unit_cost, currency_code, source_unit_cost,
  source_currency_code, fx_rate, fx_source, outcome, reason, attempt, completion, proposed_at, resolved_at
from cost_sync`;

export const logFrom = (row: LogRow): LogEntry => ({
  logId: row.log_id,
  occurredAtMs: row.occurred_at,
  action: row.action,
  message: row.message,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  operation: row.operation,
  requestId: row.request_id,
  changes: changesFrom(row.changes),
});

export const receiptFrom = (row: ReceiptRow): Receipt => ({
  receiptId: row.receipt_id,
  receivedAtMs: row.received_at,
  recordedBy: row.recorded_by,
  source: row.source,
  reason: row.reason,
  requestId: row.request_id,
  lines: receiptLinesFrom(row.lines),
});

export const costFrom = (row: CostSyncRow): CostSyncEntry => ({
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
