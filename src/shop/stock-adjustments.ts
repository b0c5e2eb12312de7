import { fold } from "../core/fold.ts";
import type {
  StockAdjustment,
  StockAdjustmentHeader,
  StockAdjustmentLine,
  StockAdjustmentStatus,
} from "../core/stock-adjustments.ts";
import { chunksOf, inListMax, placeholders } from "../store/in-lists.ts";
import type { Statement, Tx } from "../store/store.ts";
import type { Fragment } from "./purchase-order-list.ts";
import {
  type HeaderTable,
  type PartKind,
  type ReadOnlyQuery,
  alternatives,
  equal,
  headerStatements,
  partStatements,
  queryOf,
  searchable,
  searched,
} from "./read-only.ts";

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
