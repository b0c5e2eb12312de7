/**
 * Suppliers that were merged into another one (table `supplier_merge`; C86): whatever names one goes over, and its id
 * leads on. So it does in approval rules and in limits of keys, also in those that name it later.
 *
 * Owns: which rows name a supplier, and what they are after a merge. Does not own: who merges, and the history of
 * suppliers (operations/catalogue/merge.ts).
 *
 * An id has a row here or is a supplier's, not both.
 */
import { type ApprovalRule, rulesAfter } from "../../core/access/approvals.ts";
import { type KeyLimits, limitsAfter, type Merges } from "../../core/access/limits.ts";
import type { SupplierCredit } from "../../core/order/attachments.ts";
import { lineEvent } from "../../core/events/events.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { Header, OrderWithLines } from "../../core/order/purchase-order.ts";
import {
  type Change,
  type Row,
  changeOf,
  insert,
  oneOf,
  plus,
  remove,
  textForm,
  update,
  upTo,
} from "../../store/change.ts";
import { chunksOf } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { limitStatement, loadKeyLimits, loadShop, saveShop } from "../access/accounts.ts";
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
export async function loadMerges(tx: Tx, shopId: string): Promise<Merges> {
  const rows = await tx.all<{ readonly supplier_id: string; readonly into_id: string }>(
    "select supplier_id, into_id from supplier_merge where shop_id = ?",
    [shopId],
  );
  return new Map(rows.map((row) => [row.supplier_id, row.into_id]));
}

async function mergesOf(tx: Tx, shopId: string, supplierIds: readonly string[]): Promise<Merges> {
  const keys = [...new Set(supplierIds)].map((id) => [id]);
  const merges = keys.length === 0 ? [] : await recordsByKey(tx, supplierMergeTable, shopId, keys);
  return new Map(merges.map(({ supplierId, intoId }) => [supplierId, intoId]));
}

/** The limits with the suppliers to which their ids lead. */
export const presentLimits = async (tx: Tx, shopId: string, limits: KeyLimits | null): Promise<KeyLimits | null> =>
  limits === null ? null : limitsAfter(limits, await mergesOf(tx, shopId, limits.supplierIds ?? []));

const ruledSuppliers = (rules: readonly ApprovalRule[]): readonly string[] =>
  rules.flatMap(({ when }) => when.supplierIds ?? []);

/** The rules with the suppliers to which their ids lead. */
export const presentRules = async (
  tx: Tx,
  shopId: string,
  rules: readonly ApprovalRule[],
): Promise<readonly ApprovalRule[]> => rulesAfter(rules, await mergesOf(tx, shopId, ruledSuppliers(rules)));

/** Rows of a supplier that a merge takes over. */
interface SupplierRows {
  readonly orderIds: readonly string[];
  readonly credits: readonly SupplierCredit[];
  /** Entries for variants that the other supplier has none for. */
  readonly newEntries: number;
}

const countNewEntries = `
select count(*) as n from supplier_variant f where f.shop_id = ? and f.supplier_id = ? and not exists (
  select 1 from supplier_variant t where t.shop_id = f.shop_id and t.supplier_id = ? and t.variant_id = f.variant_id)`;

/** The rows of `from` that would go over to `into`. @param ordersMax as many orders are looked for. */
export async function rowsToMerge(
  tx: Tx,
  shopId: string,
  from: string,
  into: string,
  ordersMax: number,
): Promise<SupplierRows> {
  const ofSupplier = () => Promise.resolve({ columns: { supplierId: isOneOf([from]) }, articles: [] });
  const [orderIds, credits, [counted]] = await Promise.all([
    orderIdsOf(tx, shopId, ofSupplier, ordersMax),
    loadSupplierCredits(tx, shopId, from),
    tx.all<{ readonly n: number }>(countNewEntries, [shopId, from, into]),
  ]);
  return { orderIds, credits, newEntries: counted?.n ?? 0 };
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
   from supplier_variant where shop_id = ? and supplier_id = ? and variant_id <= ?
   on conflict (shop_id, supplier_id, variant_id) do nothing`,
  ["supplier_id", null, "shop_id", null, null],
);

const moveViewFilters = textForm(
  tables.forecast_view_filter,
  `insert into forecast_view_filter (shop_id, view_id, kind, value, position)
   select shop_id, view_id, kind, ?, position from forecast_view_filter where shop_id = ? and kind = 'supplier' and value = ?
   on conflict (shop_id, view_id, kind, value) do nothing`,
  ["value", "shop_id", null],
);

/** Rows that a merge moves before it gives way: some 5 ms. */
const movedAtOnce = 90;

/**
 * Names the other supplier in the links of these orders, among the parties that their papers keep, and where they were
 * approved.
 */
const renamedBeside = (shopId: string, from: string, into: string, ids: readonly string[]): readonly Change[] => [
  ...[tables.purchase_order_parties, tables.supplier_link].map((table) =>
    update(table, shopId, { purchase_order_id: oneOf(ids), supplier_id: from }, { supplier_id: into }),
  ),
  update(
    tables.approval_request,
    shopId,
    { purchase_order_id: oneOf(ids), cleared_supplier_id: from },
    { cleared_supplier_id: into },
  ),
];

/** Facts for lists, an entry of the log and an event of an order that goes over. Of its lines nothing changes. */
function recordsOfMerge(
  shopId: string,
  header: Header,
  from: Supplier,
  into: Supplier,
  stamp: Stamp,
): readonly Statement[] {
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

/** Names the other supplier on these orders, and tells of it. */
async function moveOrders(
  tx: Tx,
  shopId: string,
  from: Supplier,
  into: Supplier,
  orderIds: readonly string[],
  stamp: Stamp,
): Promise<void> {
  const { supplierId } = into;
  for (const ids of chunksOf(orderIds, movedAtOnce)) {
    const headers = await loadHeaders(tx, shopId, ids);
    await tx.batch([
      update(
        tables.purchase_order,
        shopId,
        { purchase_order_id: oneOf(ids) },
        { supplier_id: supplierId, version: plus(1), updated_at: stamp.nowMs },
      ),
      ...renamedBeside(shopId, from.supplierId, supplierId, ids),
      ...headers.flatMap((header) => recordsOfMerge(shopId, header, from, into, stamp)),
    ]);
    await tx.giveWay?.();
  }
}

/** Names the other supplier in the approval rules of the shop and in the limits of its keys. */
async function moveAccess(tx: Tx, shopId: string, from: string, into: string, nowMs: number): Promise<void> {
  const merges = new Map([[from, into]]);
  const [shop, limited] = await Promise.all([loadShop(tx, shopId), loadKeyLimits(tx, shopId)]);
  if (shop !== null && ruledSuppliers(shop.approvalRules).includes(from))
    await saveShop(tx, { ...shop, approvalRules: rulesAfter(shop.approvalRules, merges), updatedAtMs: nowMs });
  await tx.batch(
    [...limited].flatMap(([keyId, limits]) =>
      limits.supplierIds?.includes(from) === true ? [limitStatement(shopId, keyId, limitsAfter(limits, merges))] : [],
    ),
  );
}

/** Moves rows of a supplier, the next of which this statement finds, as long as there are any. */
async function moveAll(
  tx: Tx,
  selectNext: string,
  params: readonly string[],
  changesOf: (ids: readonly string[]) => readonly Change[],
): Promise<void> {
  for (;;) {
    const rows = await tx.all<{ readonly id: string }>(`${selectNext} limit ?`, [...params, movedAtOnce]);
    if (rows.length === 0) return;
    await tx.batch(changesOf(rows.map(({ id }) => id)));
    await tx.giveWay?.();
  }
}

/** Orders that no list has. */
const selectDeleted = `
select purchase_order_id as id from purchase_order where shop_id = ? and supplier_id = ? and deleted_at is not null`;

const selectEntries = `
select variant_id as id from supplier_variant where shop_id = ? and supplier_id = ? order by variant_id`;

/**
 * Ends the supplier `from`: orders, entries, credits, views, approval rules and limits name `into` instead, and its id
 * leads there. Of both entries for one variant, that of `into` stays. It gives way to other shops, since there may be
 * thousands of rows.
 *
 * @param currencyCode of costs of `from` without a currency of their own.
 */
export async function mergeSupplier(
  tx: Tx,
  shopId: string,
  from: Supplier,
  into: Supplier,
  currencyCode: string,
  { orderIds, credits }: SupplierRows,
  stamp: Stamp,
): Promise<void> {
  const [fromId, intoId] = [from.supplierId, into.supplierId];
  await moveAccess(tx, shopId, fromId, intoId, stamp.nowMs);
  await moveOrders(tx, shopId, from, into, orderIds, stamp);
  await moveAll(tx, selectDeleted, [shopId, fromId], (ids) => [
    update(tables.purchase_order, shopId, { purchase_order_id: oneOf(ids) }, { supplier_id: intoId }),
    ...renamedBeside(shopId, fromId, intoId, ids),
  ]);
  await moveAll(tx, selectEntries, [shopId, fromId], (ids) => {
    const last = ids.at(-1) ?? "";
    return [
      changeOf(moveEntries, [intoId, currencyCode, shopId, fromId, last]),
      remove(tables.supplier_variant, shopId, { supplier_id: fromId, variant_id: upTo(last) }),
    ];
  });
  for (const some of chunksOf(credits, movedAtOnce)) {
    await tx.batch(
      some.map((credit) =>
        update(
          tables.supplier_credit,
          shopId,
          { credit_id: credit.creditId },
          { supplier_id: intoId, doc: JSON.stringify({ ...credit, supplierId: intoId }) },
        ),
      ),
    );
    await tx.giveWay?.();
  }
  await tx.batch([
    changeOf(moveViewFilters, [intoId, shopId, fromId]),
    remove(tables.forecast_view_filter, shopId, { kind: "supplier", value: fromId }),
    update(tables.supplier_merge, shopId, { into_id: fromId }, { into_id: intoId }),
    insert(tables.supplier_merge, shopId, { supplier_id: fromId, into_id: intoId }),
    remove(tables.supplier, shopId, { supplier_id: fromId }),
  ]);
}
