import type {
  ExecutionMode,
  ItemToBuild,
  ManufacturingDateField,
  ManufacturingOrderHeader,
  ManufacturingOrderStatus,
  Material,
  StockRelease,
} from "../core/manufacturing-orders.ts";
import { chunksOf, inListMax, placeholders } from "../store/in-lists.ts";
import type { Statement, Tx } from "../store/store.ts";
import type { LogEntry } from "./purchase-order-history.ts";
import { type Fragment, joined } from "./purchase-order-list.ts";
import {
  type HeaderTable,
  type PartKind,
  type ReadOnlyQuery,
  alternatives,
  between,
  headerStatements,
  partStatements,
  queryOf,
  searchable,
  searched,
} from "./read-only.ts";

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

/** A manufacturing order with all its parts. */
export interface ManufacturingOrder extends ManufacturingOrderHeader {
  readonly itemsToBuild: readonly ItemToBuild[];
  readonly materials: readonly Material[];
  readonly stockReleases: readonly StockRelease[];
  /** Newest first. */
  readonly log: readonly LogEntry[];
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
