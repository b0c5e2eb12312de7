/**
 * Suppliers that were merged into another one (table `supplier_merge`; C86): whatever names one goes over, and its id
 * leads on.
 *
 * Owns: which rows name a supplier, and what they are after a merge. Does not own: who merges, and the history of
 * suppliers (operations/catalogue/merge.ts).
 *
 * An id has a row here or is a supplier's, not both.
 */
import type { SupplierCredit } from "../../core/order/attachments.ts";
import { lineEvent } from "../../core/events/events.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { Header, OrderWithLines } from "../../core/order/purchase-order.ts";
import {
  type Change,
  type Row,
  changeOf,
  insert,
  not,
  oneOf,
  plus,
  remove,
  textForm,
  update,
} from "../../store/change.ts";
import { chunksOf, inListMax } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { eventStatements } from "../events/events.ts";
import { logStatement } from "../order/purchase-order-history.ts";
import { loadSupplierCredits } from "../order/purchase-order-attachments.ts";
import { type Stamp, loadHeaders, logged } from "../order/purchase-orders.ts";
import { recentChanges } from "../order-list/order-recent.ts";
import { isOneOf, orderIdsOf } from "../order-list/order-search.ts";
import { type RecordTable, fieldTable, recordsByKey } from "../record-table.ts";
import { tables } from "../tables.ts";
import { type Supplier, supplierVariantTable } from "./catalogue.ts";

export const supplierMergeFields = {
  supplierId: { kind: "text" },
  intoId: { kind: "text" },
} as const satisfies Fields;

/** The id of a supplier that is no more, and of the one that it was merged into. */
export interface SupplierMerge extends ValuesOf<typeof supplierMergeFields> {}

export const supplierMergeTable: RecordTable<SupplierMerge, Row> = fieldTable(
  "supplier_merge",
  ["supplierId"],
  supplierMergeFields,
);

/** The supplier that this one was merged into; null: it was not. */
export async function mergedInto(tx: Tx, shopId: string, supplierId: string): Promise<string | null> {
  const [merge] = await recordsByKey(tx, supplierMergeTable, shopId, [[supplierId]]);
  return merge?.intoId ?? null;
}

/** The supplier that this id leads to (C86). */
export const presentSupplierId = async (tx: Tx, shopId: string, supplierId: string): Promise<string> =>
  (await mergedInto(tx, shopId, supplierId)) ?? supplierId;

/** All suppliers that were merged, each with the one that it was merged into. */
export async function loadMerges(tx: Tx, shopId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.all<{ readonly supplier_id: string; readonly into_id: string }>(
    "select supplier_id, into_id from supplier_merge where shop_id = ?",
    [shopId],
  );
  return new Map(rows.map((row) => [row.supplier_id, row.into_id]));
}

/** Rows of a supplier that a merge takes over. */
interface SupplierRows {
  readonly orders: readonly Header[];
  /** Orders that no list has. */
  readonly deletedIds: readonly string[];
  readonly credits: readonly SupplierCredit[];
  /** Entries for variants that the other supplier has none for. */
  readonly newEntries: number;
}

const countNewEntries = `
select count(*) as n from supplier_variant f where f.shop_id = ? and f.supplier_id = ? and not exists (
  select 1 from supplier_variant t where t.shop_id = f.shop_id and t.supplier_id = ? and t.variant_id = f.variant_id)`;

const selectDeleted = `
select purchase_order_id from purchase_order where shop_id = ? and supplier_id = ? and deleted_at is not null`;

/** The rows of `from` that would go over to `into`. @param ordersMax as many orders are looked for. */
export async function rowsToMerge(
  tx: Tx,
  shopId: string,
  from: string,
  into: string,
  ordersMax: number,
): Promise<SupplierRows> {
  const ofSupplier = () => Promise.resolve({ columns: { supplierId: isOneOf([from]) }, articles: [] });
  const [ids, deleted, credits, [counted]] = await Promise.all([
    orderIdsOf(tx, shopId, ofSupplier, ordersMax),
    tx.all<{ readonly purchase_order_id: string }>(selectDeleted, [shopId, from]),
    loadSupplierCredits(tx, shopId, from),
    tx.all<{ readonly n: number }>(countNewEntries, [shopId, from, into]),
  ]);
  return {
    orders: await loadHeaders(tx, shopId, ids),
    deletedIds: deleted.map((row) => row.purchase_order_id),
    credits,
    newEntries: counted?.n ?? 0,
  };
}

const entryColumns = Object.keys({ ...supplierVariantTable.columns, ...supplierVariantTable.derived }).filter(
  (column) => column !== "supplier_id",
);

/** A cost without a currency is in its supplier's, which another supplier does not have. */
const moveEntries = textForm(
  tables.supplier_variant,
  `insert into supplier_variant (shop_id, supplier_id, ${entryColumns.join(", ")})
   select shop_id, ?, ${entryColumns
     .map((column) =>
       column === "unit_cost_currency_code"
         ? "case when unit_cost is null then unit_cost_currency_code else coalesce(unit_cost_currency_code, ?) end"
         : column,
     )
     .join(", ")}
   from supplier_variant where shop_id = ? and supplier_id = ?
   on conflict (shop_id, supplier_id, variant_id) do nothing`,
  ["supplier_id", null, "shop_id", null],
);

const moveViewFilters = textForm(
  tables.forecast_view_filter,
  `insert into forecast_view_filter (shop_id, view_id, kind, value, position)
   select shop_id, view_id, kind, ?, position from forecast_view_filter where shop_id = ? and kind = 'supplier' and value = ?
   on conflict (shop_id, view_id, kind, value) do nothing`,
  ["value", "shop_id", null],
);

/** Names the other supplier on these orders, in their links and among the parties that their papers keep. */
const orderChanges = (
  shopId: string,
  from: string,
  into: string,
  { orders, deletedIds }: SupplierRows,
  nowMs: number,
): readonly Change[] => [
  ...chunksOf(
    orders.map(({ purchaseOrderId }) => purchaseOrderId),
    inListMax,
  ).map((ids) =>
    update(
      tables.purchase_order,
      shopId,
      { purchase_order_id: oneOf(ids) },
      { supplier_id: into, version: plus(1), updated_at: nowMs },
    ),
  ),
  update(tables.purchase_order, shopId, { supplier_id: from, deleted_at: not(null) }, { supplier_id: into }),
  ...chunksOf([...orders.map(({ purchaseOrderId }) => purchaseOrderId), ...deletedIds], inListMax).flatMap((ids) =>
    [tables.purchase_order_parties, tables.supplier_link].map((table) =>
      update(table, shopId, { purchase_order_id: oneOf(ids), supplier_id: from }, { supplier_id: into }),
    ),
  ),
];

/** Facts for lists, an entry of the log and an event of an order that goes over. Of its lines nothing changes. */
function toldOf(shopId: string, header: Header, from: Supplier, into: Supplier, stamp: Stamp): readonly Statement[] {
  const { purchaseOrderId, version } = header;
  const before: OrderWithLines = { ...header, lineItems: [] };
  const next = { ...before, supplierId: into.supplierId, version: version + 1, updatedAtMs: stamp.nowMs };
  const change = { field: "supplierId", poLineItemId: null, before: from.supplierId, after: into.supplierId };
  const message = `Merged the supplier ${from.name} into ${into.name}.`;
  return [
    ...recentChanges(shopId, before, next),
    logStatement(shopId, purchaseOrderId, logged({ action: "edit", message, changes: [change] }, stamp)),
    ...eventStatements(shopId, lineEvent("purchase_order.updated", next, new Set()), stamp),
  ];
}

/**
 * Ends the supplier `from`: orders, entries, credits and views name `into` instead, and its id leads there. Of both
 * entries for one variant, that of `into` stays.
 *
 * @param currencyCode of costs of `from` without a currency of their own.
 */
export const mergeStatements = (
  shopId: string,
  from: Supplier,
  into: Supplier,
  currencyCode: string,
  rows: SupplierRows,
  stamp: Stamp,
): readonly Statement[] => [
  ...orderChanges(shopId, from.supplierId, into.supplierId, rows, stamp.nowMs),
  ...rows.orders.flatMap((header) => toldOf(shopId, header, from, into, stamp)),
  changeOf(moveEntries, [into.supplierId, currencyCode, shopId, from.supplierId]),
  remove(tables.supplier_variant, shopId, { supplier_id: from.supplierId }),
  ...rows.credits.map((credit) =>
    update(
      tables.supplier_credit,
      shopId,
      { credit_id: credit.creditId },
      { supplier_id: into.supplierId, doc: JSON.stringify({ ...credit, supplierId: into.supplierId }) },
    ),
  ),
  changeOf(moveViewFilters, [into.supplierId, shopId, from.supplierId]),
  remove(tables.forecast_view_filter, shopId, { kind: "supplier", value: from.supplierId }),
  update(tables.supplier_merge, shopId, { into_id: from.supplierId }, { into_id: into.supplierId }),
  insert(tables.supplier_merge, shopId, { supplier_id: from.supplierId, into_id: into.supplierId }),
  remove(tables.supplier, shopId, { supplier_id: from.supplierId }),
];
