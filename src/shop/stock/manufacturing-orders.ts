/**
 * Manufacturing orders between SQL and core, and the orders that they are linked to.
 */
import type {
  ExecutionMode,
  ItemToBuild,
  ManufacturingDateField,
  ManufacturingOrderHeader,
  ManufacturingOrderStatus,
  Material,
  StockRelease,
} from "../../core/stock/manufacturing-orders.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { LogEntry } from "../order/purchase-order-history.ts";
import { type Fragment, joined } from "../fragment.ts";
import {
  type ResourceQuery,
  type ResourceTable,
  between,
  contains,
  logKind,
  oneOf,
  partKind,
  partRows,
  resourceQuery,
  resourceStatements,
} from "./read-only.ts";

/** A day as its first moment, UTC. */
const dayMs = (day: string | null): number | null => (day === null ? null : Date.parse(day));

export const manufacturingOrderTable: ResourceTable<ManufacturingOrderHeader> = {
  name: "manufacturing_order",
  idColumn: "manufacturing_order_id",
  idOf: (header) => header.manufacturingOrderId,
  searched: (header) => [header.moNumber, header.moName],
  columns: {
    status: (header) => header.status,
    execution_mode: (header) => header.executionMode,
    production_location_id: (header) => header.productionLocationId,
    planned_start: (header) => dayMs(header.plannedStartDate),
    due: (header) => dayMs(header.dueDate),
    completed_at: (header) => header.completedAtMs,
  },
};

export const itemsToBuild = partKind("manufacturing_order", "item", (item: ItemToBuild) => item.moItemId);

export const materials = partKind("manufacturing_order", "material", (material: Material) => material.moMaterialId);

export const stockReleases = partKind(
  "manufacturing_order",
  "release",
  (release: StockRelease) => release.stockReleaseId,
);

export const manufacturingLog = logKind("manufacturing_order");

/** A manufacturing order with all its parts. */
export interface ManufacturingOrder extends ManufacturingOrderHeader {
  readonly itemsToBuild: readonly ItemToBuild[];
  readonly materials: readonly Material[];
  readonly stockReleases: readonly StockRelease[];
  readonly log: readonly LogEntry[];
}

/** Stores the manufacturing order, replacing the one with its id. */
export const manufacturingOrderStatements = (
  shopId: string,
  { itemsToBuild: items, materials: needed, stockReleases: releases, log, ...header }: ManufacturingOrder,
): readonly Statement[] =>
  resourceStatements(shopId, manufacturingOrderTable, header, [
    partRows(itemsToBuild, items),
    partRows(materials, needed),
    partRows(stockReleases, releases),
    partRows(manufacturingLog, log),
  ]);

/** A transfer order that a manufacturing order is linked to. Number and status null: the shop has no such order. */
interface LinkedOrder {
  readonly orderId: string;
  readonly number: string | null;
  readonly status: string | null;
}

/** The transfer orders with these ids as they are now, in the order of the ids. */
export async function loadLinkedTransferOrders(
  tx: Tx,
  shopId: string,
  orderIds: readonly string[],
): Promise<readonly LinkedOrder[]> {
  const rows = await selectIn<LinkedRow>(tx, selectLinkedTransferOrders, [shopId], orderIds);
  const found = new Map(rows.map((row) => [row.id, row]));
  return orderIds.map((orderId) => ({
    orderId,
    number: found.get(orderId)?.number ?? null,
    status: found.get(orderId)?.status ?? null,
  }));
}

interface LinkedRow {
  readonly id: string;
  readonly number: string | null;
  readonly status: string;
}

const selectLinkedTransferOrders = `
select transfer_order_id as id, transfer_number as number, status from transfer_order
where shop_id = ? and transfer_order_id in (?)`;

/** Null: no such filter. */
interface ManufacturingOrderFilters {
  readonly statuses: readonly ManufacturingOrderStatus[] | null;
  readonly executionModes: readonly ExecutionMode[] | null;
  /** At most 50: each is a branch of the statement. */
  readonly productionLocationIds: readonly string[] | null;
  readonly search: string | null;
  /** The date that the range is about. */
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

/**
 * Orders in a range of another date than `createdAt`, found by the index of that date: only these are sorted, not all
 * orders.
 */
function dateSource(shopId: string, filters: ManufacturingOrderFilters): Fragment | null {
  const range = between(dateColumns[filters.dateField], filters.dateFromMs, filters.dateBeforeMs);
  if (filters.dateField === "createdAt" || range.length === 0) return null;
  const conditions = joined([{ sql: "r.shop_id = ?", params: [shopId] }, ...range], " and ");
  return {
    sql: `select r.manufacturing_order_id as record_id from manufacturing_order r where ${conditions.sql}`,
    params: conditions.params,
  };
}

export const manufacturingOrderQuery = (shopId: string, filters: ManufacturingOrderFilters): ResourceQuery =>
  resourceQuery(
    dateSource(shopId, filters),
    [
      ...(filters.dateField === "createdAt" ? between("created_at", filters.dateFromMs, filters.dateBeforeMs) : []),
      ...contains(filters.search),
    ],
    oneOf("status", filters.statuses),
    oneOf("production_location_id", filters.productionLocationIds),
    oneOf("execution_mode", filters.executionModes),
  );
