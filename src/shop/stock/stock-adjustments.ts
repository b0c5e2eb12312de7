/**
 * Stock adjustments between SQL and core, and the links between two that revert each other.
 */
import { foldCase } from "../../base/text/fold.ts";
import type {
  StockAdjustment,
  StockAdjustmentHeader,
  StockAdjustmentLine,
  StockAdjustmentStatus,
} from "../../core/stock/stock-adjustments.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { Fragment } from "../fragment.ts";
import {
  type ResourceQuery,
  type ResourceTable,
  contains,
  equal,
  oneOf,
  partKind,
  partRows,
  resourceQuery,
  resourceStatements,
} from "./read-only.ts";
import { forgetStockOuts } from "../forecast/stock-days.ts";

export const stockAdjustmentTable: ResourceTable<StockAdjustmentHeader> = {
  name: "stock_adjustment",
  idColumn: "stock_adjustment_id",
  idOf: (header) => header.stockAdjustmentId,
  searched: (header) => [header.stockAdjustmentNumber, header.note],
  columns: {
    status: (header) => header.status,
    location_id: (header) => header.locationId,
    reason_id: (header) => header.reasonId,
    reason_folded: (header) => (header.reason === null ? null : foldCase(header.reason)),
    created_by: (header) => header.createdBy,
    revert_of: (header) => header.revertOf,
    reverted_by: (header) => header.revertedBy,
  },
};

/** Found by their variants when it is asked what moved their stock (forecast/stock-days.ts). */
export const stockAdjustmentLines = partKind(
  "stock_adjustment",
  "line",
  (line: StockAdjustmentLine) => line.stockAdjustmentLineItemId,
  (line) => line,
);

/** Stores the adjustment, replacing the one with its id. */
export const stockAdjustmentStatements = (
  shopId: string,
  { lineItems, ...header }: StockAdjustment,
): readonly Statement[] => [
  ...resourceStatements(shopId, stockAdjustmentTable, header, [partRows(stockAdjustmentLines, lineItems)]),
  ...lineItems.map((line) => forgetStockOuts(shopId, line.variantId)),
];

/** Links between adjustments that revert each other. */
interface RevertLinks {
  readonly revertOf: string | null;
  readonly revertedBy: string | null;
}

interface LinkRow {
  readonly of_id: string;
  readonly by_id: string;
}

const selectReverters = `
select revert_of as of_id, min(stock_adjustment_id) as by_id from stock_adjustment
where shop_id = ? and revert_of in (?) group by revert_of`;

const selectReverted = `
select reverted_by as by_id, min(stock_adjustment_id) as of_id from stock_adjustment
where shop_id = ? and reverted_by in (?) group by reverted_by`;

/**
 * The revert links of these adjustments, by id. A link is complete when only one of the two adjustments names the
 * other.
 */
export async function loadRevertLinks(
  tx: Tx,
  shopId: string,
  headers: readonly StockAdjustmentHeader[],
): Promise<ReadonlyMap<string, RevertLinks>> {
  const ids = headers.map((header) => header.stockAdjustmentId);
  const [reverters, reverted] = await Promise.all([
    selectIn<LinkRow>(tx, selectReverters, [shopId], ids),
    selectIn<LinkRow>(tx, selectReverted, [shopId], ids),
  ]);
  const reverterOf = new Map(reverters.map((row) => [row.of_id, row.by_id]));
  const revertedOf = new Map(reverted.map((row) => [row.by_id, row.of_id]));
  return new Map(
    headers.map(({ stockAdjustmentId: id, revertOf, revertedBy }) => [
      id,
      { revertOf: revertOf ?? revertedOf.get(id) ?? null, revertedBy: revertedBy ?? reverterOf.get(id) ?? null },
    ]),
  );
}

/** Null: no such filter. */
interface StockAdjustmentFilters {
  readonly statuses: readonly StockAdjustmentStatus[] | null;
  readonly locationId: string | null;
  /** A reason's id, or its name as the adjustment has it, whatever the case. */
  readonly reason: string | null;
  readonly createdBy: string | null;
  readonly search: string | null;
}

/** By id, or by name where the id is another: no adjustment fits both. */
function reasonConditions(reason: string | null): readonly Fragment[] {
  if (reason === null) return [];
  return [
    { sql: "r.reason_id = ?", params: [reason] },
    { sql: "r.reason_folded = ? and coalesce(r.reason_id, '') <> ?", params: [foldCase(reason), reason] },
  ];
}

export const stockAdjustmentQuery = (filters: StockAdjustmentFilters): ResourceQuery =>
  resourceQuery(
    null,
    [
      ...equal("location_id", filters.locationId),
      ...equal("created_by", filters.createdBy),
      ...contains(filters.search),
    ],
    oneOf("status", filters.statuses),
    reasonConditions(filters.reason),
  );
