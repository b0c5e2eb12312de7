/**
 * The resources that come in by import and are only read: stock takes and their reasons, stock adjustments, transfer orders and
 * manufacturing orders, between SQL and core.
 *
 * Owns: storing one whole, its lists, reading it and its parts. Does not own: its figures (core) nor what a record looks like in a
 * file (admin/read-only-records.ts).
 *
 * A record is a header and parts of several kinds (lines, log, …). The header is stored as text, with a column for each
 * filter; each part is a row. A record is replaced as a whole, in one transaction, so that header and parts always fit.
 *
 * A page of a list is found by keys in the order of an index and then read by key: what it costs grows with the page. Counting walks
 * the index entries of the matches. A search, and filters on top of the first, walk the entries of one index.
 */
import type { OrderDocument, Shipment } from "../core/attachment.ts";
import { fold } from "../core/fold.ts";
import type {
  ExecutionMode,
  ItemToBuild,
  ManufacturingDateField,
  ManufacturingOrderHeader,
  ManufacturingOrderStatus,
  Material,
  StockRelease,
} from "../core/manufacturing-order.ts";
import type { Address } from "../core/purchase-order.ts";
import type {
  StockAdjustment,
  StockAdjustmentHeader,
  StockAdjustmentLine,
  StockAdjustmentStatus,
  StockTake,
  StockTakeHeader,
  StockTakeLine,
  StockTakeReason,
  StockTakeStatus,
} from "../core/stock-take.ts";
import type { TransferLine, TransferOrderHeader, TransferOrderStatus } from "../core/transfer-order.ts";
import { type Fragment, joined } from "./order-list.ts";
import type { LogEntry, RecordTable } from "./records.ts";
import { chunksOf, inListMax, placeholders } from "./in-lists.ts";
import type { SqlValue, Statement, Tx } from "./shop.ts";

/** What every header has: lists are sorted by it. */
interface Aged {
  readonly createdAtMs: number;
}

/** One resource: where its headers are, and what they can be found by. */
export interface HeaderTable<Header extends Aged> {
  readonly name: "stock_take" | "stock_adjustment" | "transfer_order" | "manufacturing_order";
  readonly idColumn: string;
  idOf(header: Header): string;
  readonly columns: Readonly<Record<string, (header: Header) => SqlValue>>;
}

/** One kind of part of a resource's records: what identifies one within its record, and what order they are in. */
export interface PartKind<Part> {
  readonly resource: HeaderTable<Aged>["name"];
  readonly kind: string;
  idOf(part: Part): string;
  /** What records are searched by; null: not by these parts. */
  readonly variant: ((part: Part) => { readonly variantId: string; readonly sku: string | null }) | null;
  /** When it happened, for parts that are read newest first; null: in the order of the record. */
  readonly at: ((part: Part) => number) | null;
}

/** What a search looks through, one field a line. */
const searchable = (...fields: readonly (string | null)[]): string =>
  fields.flatMap((field) => (field === null ? [] : fold(field))).join("\n");

export const stockTakeTable: HeaderTable<StockTakeHeader> = {
  name: "stock_take",
  idColumn: "stock_take_id",
  idOf: (header) => header.stockTakeId,
  columns: {
    created_at: (header) => header.createdAtMs,
    search_folded: (header) => searchable(header.stockTakeNumber, header.stockTakeName),
    status: (header) => header.status,
    location_id: (header) => header.locationId,
  },
};

export const stockTakeLines: PartKind<StockTakeLine> = {
  resource: "stock_take",
  kind: "line",
  idOf: (line) => line.stockTakeLineItemId,
  variant: null,
  at: null,
};

export const stockAdjustmentTable: HeaderTable<StockAdjustmentHeader> = {
  name: "stock_adjustment",
  idColumn: "stock_adjustment_id",
  idOf: (header) => header.stockAdjustmentId,
  columns: {
    created_at: (header) => header.createdAtMs,
    search_folded: (header) => searchable(header.stockAdjustmentNumber, header.note),
    status: (header) => header.status,
    location_id: (header) => header.locationId,
    reason_id: (header) => header.reasonId,
    reason_folded: (header) => (header.reason === null ? null : fold(header.reason)),
    created_by: (header) => header.createdBy,
    revert_of: (header) => header.revertOf,
    reverted_by: (header) => header.revertedBy,
  },
};

export const stockAdjustmentLines: PartKind<StockAdjustmentLine> = {
  resource: "stock_adjustment",
  kind: "line",
  idOf: (line) => line.stockAdjustmentLineItemId,
  variant: null,
  at: null,
};

export const transferOrderTable: HeaderTable<TransferOrderHeader> = {
  name: "transfer_order",
  idColumn: "transfer_order_id",
  idOf: (header) => header.transferOrderId,
  columns: {
    created_at: (header) => header.createdAtMs,
    search_folded: (header) => searchable(header.transferNumber, header.transferName),
    transfer_number: (header) => header.transferNumber,
    status: (header) => header.status,
    from_location_id: (header) => header.fromLocationId,
    to_location_id: (header) => header.toLocationId,
  },
};

export const transferLines: PartKind<TransferLine> = {
  resource: "transfer_order",
  kind: "line",
  idOf: (line) => line.transferLineItemId,
  variant: (line) => line,
  at: null,
};

export const transferShipments: PartKind<Shipment> = {
  resource: "transfer_order",
  kind: "shipment",
  idOf: (shipment) => shipment.shipmentId,
  variant: null,
  at: null,
};

export const transferDocuments: PartKind<OrderDocument> = {
  resource: "transfer_order",
  kind: "document",
  idOf: (document) => document.documentId,
  variant: null,
  at: null,
};

export const transferLog: PartKind<LogEntry> = {
  resource: "transfer_order",
  kind: "log",
  idOf: (entry) => entry.logId,
  variant: null,
  at: (entry) => entry.occurredAtMs,
};

/** A day as its first moment, UTC. */
const dayMs = (day: string | null): number | null => (day === null ? null : Date.parse(day));

export const manufacturingOrderTable: HeaderTable<ManufacturingOrderHeader> = {
  name: "manufacturing_order",
  idColumn: "manufacturing_order_id",
  idOf: (header) => header.manufacturingOrderId,
  columns: {
    created_at: (header) => header.createdAtMs,
    search_folded: (header) => searchable(header.moNumber, header.moName),
    status: (header) => header.status,
    execution_mode: (header) => header.executionMode,
    production_location_id: (header) => header.productionLocationId,
    planned_start: (header) => dayMs(header.plannedStartDate),
    due: (header) => dayMs(header.dueDate),
    completed_at: (header) => header.completedAtMs,
  },
};

export const itemsToBuild: PartKind<ItemToBuild> = {
  resource: "manufacturing_order",
  kind: "item",
  idOf: (item) => item.moItemId,
  variant: null,
  at: null,
};

export const materials: PartKind<Material> = {
  resource: "manufacturing_order",
  kind: "material",
  idOf: (material) => material.moMaterialId,
  variant: null,
  at: null,
};

export const stockReleases: PartKind<StockRelease> = {
  resource: "manufacturing_order",
  kind: "release",
  idOf: (release) => release.stockReleaseId,
  variant: null,
  at: null,
};

export const manufacturingLog: PartKind<LogEntry> = {
  resource: "manufacturing_order",
  kind: "log",
  idOf: (entry) => entry.logId,
  variant: null,
  at: (entry) => entry.occurredAtMs,
};

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
  const key = (reason: StockTakeReason): string => `${fold(reason.name)}\n${reason.reasonId}`;
  return rows.map((row) => stockTakeReasonTable.from(row)).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** What the reason is called; null when the shop has no such reason. */
export async function loadReasonName(tx: Tx, shopId: string, reasonId: string): Promise<string | null> {
  const [row] = await tx.all<ReasonRow>(
    "select reason_id, doc from stock_take_reason where shop_id = ? and reason_id = ?",
    [shopId, reasonId],
  );
  return row === undefined ? null : stockTakeReasonTable.from(row).name;
}

interface AddressRow {
  readonly location_id: string;
  readonly address: string;
}

/** The addresses of these locations, by location; those without one are left out. */
export async function loadLocationAddresses(
  tx: Tx,
  shopId: string,
  locationIds: readonly string[],
): Promise<ReadonlyMap<string, Address>> {
  const addresses = new Map<string, Address>();
  for (const ids of chunksOf(locationIds, inListMax)) {
    const rows = await tx.all<AddressRow>(
      `select location_id, address from location
       where shop_id = ? and address is not null and location_id in (${placeholders(ids.length)})`,
      [shopId, ...ids],
    );
    for (const row of rows) {
      const address: Address = JSON.parse(row.address);
      addresses.set(row.location_id, address);
    }
  }
  return addresses;
}

// Storing.

/** A transfer order with all its parts. */
export interface TransferOrder extends TransferOrderHeader {
  readonly lineItems: readonly TransferLine[];
  readonly shipments: readonly Shipment[];
  readonly documents: readonly OrderDocument[];
  /** Newest first. */
  readonly log: readonly LogEntry[];
}

/** A manufacturing order with all its parts. */
export interface ManufacturingOrder extends ManufacturingOrderHeader {
  readonly itemsToBuild: readonly ItemToBuild[];
  readonly materials: readonly Material[];
  readonly stockReleases: readonly StockRelease[];
  /** Newest first. */
  readonly log: readonly LogEntry[];
}

const insertPart = `
insert into read_only_part (shop_id, resource, record_id, kind, position, part_id, variant_id, sku, doc)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The rows of these parts; a part's position is its place among those of its kind. */
function partStatements<Part>(
  shopId: string,
  partKind: PartKind<Part>,
  recordId: string,
  parts: readonly Part[],
): readonly Statement[] {
  const { resource, kind, variant, at } = partKind;
  const idOf = (part: Part): string => partKind.idOf(part);
  const sorted = at === null ? parts : parts.toSorted((a, b) => at(b) - at(a) || (idOf(a) < idOf(b) ? 1 : -1));
  return sorted.map((part, position) => {
    const found = variant === null ? null : variant(part);
    return {
      sql: insertPart,
      params: [
        shopId,
        resource,
        recordId,
        kind,
        position,
        idOf(part),
        found?.variantId ?? null,
        found?.sku ?? null,
        JSON.stringify(part),
      ],
    };
  });
}

/** Stores the header, replacing the one with its id, and takes away what parts that one had. */
function headerStatements<Header extends Aged>(
  shopId: string,
  table: HeaderTable<Header>,
  header: Header,
): readonly Statement[] {
  const recordId = table.idOf(header);
  const names = Object.keys(table.columns);
  const updates = [...names, "doc"].map((name) => `${name} = excluded.${name}`).join(", ");
  return [
    {
      sql: `insert into ${table.name} (shop_id, ${table.idColumn}, ${names.join(", ")}, doc) values (${placeholders(names.length + 3)})
            on conflict (shop_id, ${table.idColumn}) do update set ${updates}`,
      params: [
        shopId,
        recordId,
        ...Object.values(table.columns).map((valueOf) => valueOf(header)),
        JSON.stringify(header),
      ],
    },
    {
      sql: "delete from read_only_part where shop_id = ? and resource = ? and record_id = ?",
      params: [shopId, table.name, recordId],
    },
  ];
}

/** Stores the stock take, replacing the one with its id. */
export function stockTakeStatements(shopId: string, { lineItems, ...header }: StockTake): readonly Statement[] {
  return [
    ...headerStatements(shopId, stockTakeTable, header),
    ...partStatements(shopId, stockTakeLines, header.stockTakeId, lineItems),
  ];
}

/** Stores the adjustment, replacing the one with its id. */
export function stockAdjustmentStatements(
  shopId: string,
  { lineItems, ...header }: StockAdjustment,
): readonly Statement[] {
  return [
    ...headerStatements(shopId, stockAdjustmentTable, header),
    ...partStatements(shopId, stockAdjustmentLines, header.stockAdjustmentId, lineItems),
  ];
}

/** Stores the transfer order, replacing the one with its id. */
export function transferOrderStatements(
  shopId: string,
  { lineItems, shipments, documents, log, ...header }: TransferOrder,
): readonly Statement[] {
  const recordId = header.transferOrderId;
  return [
    ...headerStatements(shopId, transferOrderTable, header),
    ...partStatements(shopId, transferLines, recordId, lineItems),
    ...partStatements(shopId, transferShipments, recordId, shipments),
    ...partStatements(shopId, transferDocuments, recordId, documents),
    ...partStatements(shopId, transferLog, recordId, log),
  ];
}

/** Stores the manufacturing order, replacing the one with its id. */
export function manufacturingOrderStatements(
  shopId: string,
  { itemsToBuild: items, materials: needed, stockReleases: releases, log, ...header }: ManufacturingOrder,
): readonly Statement[] {
  const recordId = header.manufacturingOrderId;
  return [
    ...headerStatements(shopId, manufacturingOrderTable, header),
    ...partStatements(shopId, itemsToBuild, recordId, items),
    ...partStatements(shopId, materials, recordId, needed),
    ...partStatements(shopId, stockReleases, recordId, releases),
    ...partStatements(shopId, manufacturingLog, recordId, log),
  ];
}

// Reading.

interface DocRow {
  readonly doc: string;
}

// Headers and parts are read as they were stored by this module.
const headerFrom = <Header extends Aged>(_table: HeaderTable<Header>, row: DocRow): Header => JSON.parse(row.doc);
const partFrom = <Part>(_kind: PartKind<Part>, row: DocRow): Part => JSON.parse(row.doc);

/** The headers of these records, by id. */
async function loadHeaders<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, Header>> {
  const headers = new Map<string, Header>();
  for (const ids of chunksOf(recordIds, inListMax)) {
    const rows = await tx.all<DocRow>(
      `select doc from ${table.name} where shop_id = ? and ${table.idColumn} in (${placeholders(ids.length)})`,
      [shopId, ...ids],
    );
    for (const row of rows) {
      const header = headerFrom(table, row);
      headers.set(table.idOf(header), header);
    }
  }
  return headers;
}

export async function loadReadOnlyHeader<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  recordId: string,
): Promise<Header | null> {
  return (await loadHeaders(tx, table, shopId, [recordId])).get(recordId) ?? null;
}

/** A page of headers by id, from behind `after` on: how an export goes through a resource. */
export async function pageOfHeaders<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  after: string,
  limit: number,
): Promise<readonly Header[]> {
  const rows = await tx.all<DocRow>(
    `select doc from ${table.name} where shop_id = ? and ${table.idColumn} > ? order by ${table.idColumn} limit ?`,
    [shopId, after, limit],
  );
  return rows.map((row) => headerFrom(table, row));
}

/** The parts of this kind of these records, by record id, each in its order. */
export async function loadParts<Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Part[]>> {
  const parts = new Map<string, Part[]>(recordIds.map((recordId) => [recordId, []]));
  for (const ids of chunksOf(recordIds, inListMax)) {
    const rows = await tx.all<DocRow & { readonly record_id: string }>(
      `select record_id, doc from read_only_part
       where shop_id = ? and resource = ? and kind = ? and record_id in (${placeholders(ids.length)})
       order by record_id, position`,
      [shopId, kind.resource, kind.kind, ...ids],
    );
    for (const row of rows) parts.get(row.record_id)?.push(partFrom(kind, row));
  }
  return parts;
}

/** The parts of this kind of one record, in their order. */
export const partsOf = async <Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  recordId: string,
): Promise<readonly Part[]> => (await loadParts(tx, kind, shopId, [recordId])).get(recordId) ?? [];

export interface PartPage<Part> {
  readonly parts: readonly Part[];
  readonly totalCount: number;
  /** The place of the last part of the page; null on the last page. */
  readonly end: number | null;
}

/** A page of the parts of this kind of one record, from behind place `after` on; all of them when `limit` is null. */
export async function pageOfParts<Part>(
  tx: Tx,
  kind: PartKind<Part>,
  shopId: string,
  recordId: string,
  after: number | null,
  limit: number | null,
): Promise<PartPage<Part>> {
  const key = [shopId, kind.resource, recordId, kind.kind];
  const ofRecord = "where shop_id = ? and resource = ? and record_id = ? and kind = ?";
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from read_only_part ${ofRecord}`, key),
    tx.all<DocRow & { readonly position: number }>(
      `select position, doc from read_only_part ${ofRecord} and position > ? order by position${limit === null ? "" : " limit ?"}`,
      [...key, after ?? -1, ...(limit === null ? [] : [limit + 1])],
    ),
  ]);
  const shown = limit === null ? rows : rows.slice(0, limit);
  return {
    parts: shown.map((row) => partFrom(kind, row)),
    totalCount: counted?.n ?? 0,
    end: rows.length > shown.length ? (shown.at(-1)?.position ?? null) : null,
  };
}

/** Links between adjustments that revert each other. */
export interface RevertLinks {
  readonly revertOf: string | null;
  readonly revertedBy: string | null;
}

const selectReverters = `
select revert_of as of_id, min(stock_adjustment_id) as by_id from stock_adjustment
where shop_id = ? and revert_of in (IDS) group by revert_of`;

const selectReverted = `
select reverted_by as by_id, min(stock_adjustment_id) as of_id from stock_adjustment
where shop_id = ? and reverted_by in (IDS) group by reverted_by`;

/**
 * The revert links of these adjustments, by id, from both sides: an adjustment that says nothing of a pair is linked by what the other
 * one says of it.
 */
export async function loadRevertLinks(
  tx: Tx,
  shopId: string,
  headers: readonly StockAdjustmentHeader[],
): Promise<ReadonlyMap<string, RevertLinks>> {
  const reverters = new Map<string, string>();
  const reverted = new Map<string, string>();
  for (const ids of chunksOf(
    headers.map((header) => header.stockAdjustmentId),
    inListMax,
  )) {
    const marks = placeholders(ids.length);
    type LinkRow = { readonly of_id: string; readonly by_id: string };
    for (const row of await tx.all<LinkRow>(selectReverters.replace("IDS", marks), [shopId, ...ids]))
      reverters.set(row.of_id, row.by_id);
    for (const row of await tx.all<LinkRow>(selectReverted.replace("IDS", marks), [shopId, ...ids]))
      reverted.set(row.by_id, row.of_id);
  }
  return new Map(
    headers.map(({ stockAdjustmentId, revertOf, revertedBy }) => [
      stockAdjustmentId,
      {
        revertOf: revertOf ?? reverted.get(stockAdjustmentId) ?? null,
        revertedBy: revertedBy ?? reverters.get(stockAdjustmentId) ?? null,
      },
    ]),
  );
}

/** What is told of an order that a manufacturing order is linked to. Number and status are null when the shop has no such order. */
export interface LinkedOrder {
  readonly orderId: string;
  readonly number: string | null;
  readonly status: string | null;
}

interface LinkedRow {
  readonly id: string;
  readonly number: string | null;
  readonly status: string;
}

async function loadLinked(
  tx: Tx,
  sql: string,
  shopId: string,
  orderIds: readonly string[],
): Promise<readonly LinkedOrder[]> {
  const found = new Map<string, LinkedRow>();
  for (const ids of chunksOf(orderIds, inListMax))
    for (const row of await tx.all<LinkedRow>(sql.replace("IDS", placeholders(ids.length)), [shopId, ...ids]))
      found.set(row.id, row);
  return orderIds.map((orderId) => ({
    orderId,
    number: found.get(orderId)?.number ?? null,
    status: found.get(orderId)?.status ?? null,
  }));
}

const selectLinkedPurchaseOrders = `
select purchase_order_id as id, po_number as number, status from purchase_order
where shop_id = ? and deleted_at is null and purchase_order_id in (IDS)`;

const selectLinkedTransferOrders = `
select transfer_order_id as id, transfer_number as number, status from transfer_order
where shop_id = ? and transfer_order_id in (IDS)`;

/** The purchase orders of these ids as they are now. */
export const loadLinkedPurchaseOrders = (tx: Tx, shopId: string, orderIds: readonly string[]) =>
  loadLinked(tx, selectLinkedPurchaseOrders, shopId, orderIds);

/** The transfer orders of these ids as they are now. */
export const loadLinkedTransferOrders = (tx: Tx, shopId: string, orderIds: readonly string[]) =>
  loadLinked(tx, selectLinkedTransferOrders, shopId, orderIds);

// Lists.

/** Where a page ended. */
export interface ReadOnlyPosition {
  readonly createdAtMs: number;
  readonly recordId: string;
}

export interface ReadOnlyPage<Header> {
  readonly headers: readonly Header[];
  /** Matches over all pages. */
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: ReadOnlyPosition | null;
}

/** A list's filters as SQL over a header table named `r`. */
export interface ReadOnlyQuery {
  /** What leads to the records where it is not the header table: a statement that answers their `record_id`. */
  readonly source: Fragment | null;
  /** All of them hold. */
  readonly all: readonly Fragment[];
  /**
   * One of them holds, and no record fits two. Every branch finds its rows in the order of one index instead of sorting all matches.
   */
  readonly branches: readonly Fragment[];
}

const equal = (column: string, value: string | null): readonly Fragment[] =>
  value === null ? [] : [{ sql: `r.${column} = ?`, params: [value] }];

/** One condition for each value, none twice. */
const alternatives = (column: string, values: readonly string[] | null): readonly Fragment[] =>
  values === null ? [] : [...new Set(values)].flatMap((value) => equal(column, value));

const between = (column: string, fromMs: number | null, beforeMs: number | null): readonly Fragment[] => [
  ...(fromMs === null ? [] : [{ sql: `r.${column} >= ?`, params: [fromMs] }]),
  ...(beforeMs === null ? [] : [{ sql: `r.${column} < ?`, params: [beforeMs] }]),
];

// A text that holds another is changed by taking that out. Unlike a LIKE pattern this needs no escapes and has no length limit.
// The range names every instant: it leads the engine to an index by age, which holds the text.
const searched = (search: string | null): readonly Fragment[] =>
  search === null
    ? []
    : [
        {
          sql: "r.created_at >= ? and replace(r.search_folded, ?, '') <> r.search_folded",
          params: [Number.MIN_SAFE_INTEGER, fold(search)],
        },
      ];

const anyOf = (conditions: readonly Fragment[]): readonly Fragment[] => {
  if (conditions.length === 0) return [];
  const any = joined(conditions, " or ");
  return [{ sql: `(${any.sql})`, params: any.params }];
};

/** The first filter that has alternatives is searched branch by branch, the others as they are met. */
function queryOf(
  source: Fragment | null,
  all: readonly Fragment[],
  ...choices: readonly (readonly Fragment[])[]
): ReadOnlyQuery {
  const [first, ...others] = choices.filter((conditions) => conditions.length > 0);
  return { source, all: [...all, ...others.flatMap(anyOf)], branches: first ?? [] };
}

/** Null: not filtered by it. */
export interface StockTakeFilters {
  readonly statuses: readonly StockTakeStatus[] | null;
  readonly locationId: string | null;
  readonly search: string | null;
}

export const stockTakeQuery = (filters: StockTakeFilters): ReadOnlyQuery =>
  queryOf(
    null,
    [...equal("location_id", filters.locationId), ...searched(filters.search)],
    alternatives("status", filters.statuses),
  );

/** Null: not filtered by it. */
export interface StockAdjustmentFilters {
  readonly statuses: readonly StockAdjustmentStatus[] | null;
  readonly locationId: string | null;
  /** A reason's id, or its name as the adjustment has it, whatever the case. */
  readonly reason: string | null;
  readonly createdBy: string | null;
  readonly search: string | null;
}

function reasonConditions(reason: string | null): readonly Fragment[] {
  if (reason === null) return [];
  return [
    { sql: "r.reason_id = ?", params: [reason] },
    { sql: "r.reason_folded = ? and coalesce(r.reason_id, '') <> ?", params: [fold(reason), reason] },
  ];
}

export const stockAdjustmentQuery = (filters: StockAdjustmentFilters): ReadOnlyQuery =>
  queryOf(
    null,
    [
      ...equal("location_id", filters.locationId),
      ...equal("created_by", filters.createdBy),
      ...searched(filters.search),
    ],
    alternatives("status", filters.statuses),
    reasonConditions(filters.reason),
  );

/** Null: not filtered by it. */
export interface TransferOrderFilters {
  readonly statuses: readonly TransferOrderStatus[] | null;
  readonly fromLocationId: string | null;
  readonly toLocationId: string | null;
  /** Transfers with a line of this variant. */
  readonly variantId: string | null;
  /** Transfers with a line of this SKU, exactly as it is spelled. */
  readonly sku: string | null;
  readonly search: string | null;
  readonly createdFromMs: number | null;
  readonly createdBeforeMs: number | null;
}

function transferLineSource(shopId: string, filters: TransferOrderFilters): Fragment | null {
  const byLine = (column: string, value: string | null): readonly Fragment[] =>
    value === null
      ? []
      : [
          {
            sql: `select record_id from read_only_part
                  where shop_id = ? and resource = 'transfer_order' and kind = 'line' and ${column} = ?`,
            params: [shopId, value],
          },
        ];
  const lines = [...byLine("variant_id", filters.variantId), ...byLine("sku", filters.sku)];
  return lines.length === 0 ? null : joined(lines, " intersect ");
}

export const transferOrderQuery = (shopId: string, filters: TransferOrderFilters): ReadOnlyQuery =>
  queryOf(
    transferLineSource(shopId, filters),
    [
      ...equal("from_location_id", filters.fromLocationId),
      ...equal("to_location_id", filters.toLocationId),
      ...between("created_at", filters.createdFromMs, filters.createdBeforeMs),
      ...searched(filters.search),
    ],
    alternatives("status", filters.statuses),
  );

/** Null: not filtered by it. */
export interface ManufacturingOrderFilters {
  readonly statuses: readonly ManufacturingOrderStatus[] | null;
  readonly executionModes: readonly ExecutionMode[] | null;
  /** At most 50: each is a branch. */
  readonly productionLocationIds: readonly string[] | null;
  readonly search: string | null;
  readonly dateField: ManufacturingDateField;
  readonly dateFromMs: number | null;
  readonly dateBeforeMs: number | null;
}

const dateColumns: Readonly<Record<ManufacturingDateField, string>> = {
  createdAt: "created_at",
  plannedStartDate: "planned_start",
  dueDate: "due",
  completedAt: "completed_at",
};

/** A range of another date than the one the list is sorted by leads to its records by its own index: they are sorted, not all. */
function dateSource(shopId: string, filters: ManufacturingOrderFilters): Fragment | null {
  const range = between(dateColumns[filters.dateField], filters.dateFromMs, filters.dateBeforeMs);
  if (filters.dateField === "createdAt" || range.length === 0) return null;
  const conditions = joined([{ sql: "r.shop_id = ?", params: [shopId] }, ...range], " and ");
  return {
    sql: `select r.manufacturing_order_id as record_id from manufacturing_order r where ${conditions.sql}`,
    params: conditions.params,
  };
}

export const manufacturingOrderQuery = (shopId: string, filters: ManufacturingOrderFilters): ReadOnlyQuery =>
  queryOf(
    dateSource(shopId, filters),
    [
      ...(filters.dateField === "createdAt" ? between("created_at", filters.dateFromMs, filters.dateBeforeMs) : []),
      ...searched(filters.search),
    ],
    alternatives("status", filters.statuses),
    alternatives("production_location_id", filters.productionLocationIds),
    alternatives("execution_mode", filters.executionModes),
  );

type AnyTable = Pick<HeaderTable<Aged>, "name" | "idColumn">;

/** Headers named `r`. Where parts are searched, their index leads: `cross join` keeps the engine from walking all headers instead. */
function sourceOf({ name, idColumn }: AnyTable, shopId: string, source: Fragment | null): Fragment {
  if (source === null) return { sql: `from ${name} r where r.shop_id = ?`, params: [shopId] };
  return {
    sql: `from (select distinct record_id from (${source.sql}) found) i cross join ${name} r
          where r.shop_id = ? and r.${idColumn} = i.record_id`,
    params: [...source.params, shopId],
  };
}

/** The statement that counts all matches. */
export function countStatement(table: AnyTable, shopId: string, query: ReadOnlyQuery): Statement {
  const where = joined([sourceOf(table, shopId, query.source), ...query.all, ...anyOf(query.branches)], " and ");
  return { sql: `select count(*) as n ${where.sql}`, params: where.params };
}

/** The statement that finds the keys of a page, newest first. */
export function pageStatement(
  table: AnyTable,
  shopId: string,
  query: ReadOnlyQuery,
  after: ReadOnlyPosition | null,
  limit: number,
): Statement {
  const id = table.idColumn;
  const position: readonly Fragment[] =
    after === null ? [] : [{ sql: `(r.created_at, r.${id}) < (?, ?)`, params: [after.createdAtMs, after.recordId] }];
  const shared = [sourceOf(table, shopId, query.source), ...query.all, ...position];
  const branches = (query.branches.length === 0 ? [[]] : query.branches.map((branch) => [branch])).map((branch) => {
    const where = joined([...shared, ...branch], " and ");
    return {
      sql: `select record_id, created_at from (
              select r.${id} as record_id, r.created_at ${where.sql} order by r.created_at desc, r.${id} desc limit ?) branch`,
      params: [...where.params, limit],
    };
  });
  const all = joined(branches, " union all ");
  return {
    sql: `select record_id, created_at from (${all.sql}) page order by created_at desc, record_id desc limit ?`,
    params: [...all.params, limit],
  };
}

/**
 * One page of a resource, newest first with the id as tie-break. Pages neither repeat nor skip a record that stays, whatever comes in
 * meanwhile.
 *
 * @param after where the page before ended; null for the first.
 * Source: C12, C13.
 */
export async function listReadOnly<Header extends Aged>(
  tx: Tx,
  table: HeaderTable<Header>,
  shopId: string,
  query: ReadOnlyQuery,
  after: ReadOnlyPosition | null,
  limit: number,
): Promise<ReadOnlyPage<Header>> {
  const count = countStatement(table, shopId, query);
  const page = pageStatement(table, shopId, query, after, limit + 1);
  const [[counted], keys] = await Promise.all([
    tx.all<{ n: number }>(count.sql, count.params),
    tx.all<{ record_id: string; created_at: number }>(page.sql, page.params),
  ]);
  const shown = keys.slice(0, limit);
  const headers = await loadHeaders(
    tx,
    table,
    shopId,
    shown.map((key) => key.record_id),
  );
  const last = shown.at(-1);
  return {
    headers: shown.flatMap((key) => headers.get(key.record_id) ?? []),
    totalCount: counted?.n ?? 0,
    end: keys.length > limit && last !== undefined ? { createdAtMs: last.created_at, recordId: last.record_id } : null,
  };
}
