/**
 * All record types but orders, by name, in the order of an export: types that others refer to come first.
 */
import { reasonJson } from "../operations/stock-takes.ts";
import {
  inventoryLevelFields,
  inventoryLevelTable,
  loadSupplier,
  locationFields,
  locationTable,
  priceFields,
  saleTable,
  supplierCreditTable,
  supplierRecordFields,
  supplierTable,
  supplierVariantTable,
  variantFields,
  variantTable,
} from "../shop/catalogue/catalogue.ts";
import { supplierMergeTable } from "../shop/catalogue/supplier-merges.ts";
import { type RecordKind, type RecordStamp, replacedStatements } from "../shop/catalogue/record-log.ts";
import type { Change } from "../store/change.ts";
import type { Fields, ValuesOf } from "../core/order/purchase-order-fields.ts";
import { markSeriesStatement } from "../shop/forecast/demand.ts";
import { levelNoted } from "../shop/forecast/stock-days.ts";
import { stockTakeReasonTable } from "../shop/stock/stock-takes.ts";
import {
  inventoryLevelInput,
  inventoryLevelJson,
  locationInput,
  locationJson,
  saleInput,
  saleJson,
  supplierCreditInput,
  supplierCreditJson,
  supplierJson,
  supplierMergeInput,
  supplierMergeJson,
  supplierRecordInput,
  supplierVariantInput,
  supplierVariantJson,
  variantInput,
  variantJson,
} from "./records/catalogue.ts";
import { consoleViewType } from "./records/console-views.ts";
import { documentSettingsType } from "./records/document-settings.ts";
import { forecastViewType } from "./records/forecast-views.ts";
import { manufacturingOrderType } from "./records/manufacturing-orders.ts";
import { type ApplyContext, type RecordType, tableRecordType } from "./record-type.ts";
import { stockAdjustmentType } from "./records/stock-adjustments.ts";
import { reasonInput, stockTakeType } from "./records/stock-takes.ts";
import { transferOrderType } from "./records/transfer-orders.ts";

/** The record, of the supplier that its own was merged into. */
const ofPresentSupplier = <Stored extends { readonly supplierId: string }>(
  record: Stored,
  { merges }: ApplyContext,
): Stored => ({ ...record, supplierId: merges.get(record.supplierId) ?? record.supplierId });

/** The history of records of a kind: each has its own. */
const historyOf =
  <T extends Fields, Stored extends ValuesOf<T>>(kind: RecordKind, fields: T, idOf: (record: Stored) => string) =>
  (shopId: string, record: Stored, before: Stored | null, stamp: RecordStamp): readonly Change[] =>
    replacedStatements(shopId, { kind, recordId: idOf(record) }, fields, before, record, stamp);

/** Reference data: the catalogue, suppliers, stock levels, sales, credits, forecast views. */
export const referenceTypes = {
  location: tableRecordType(locationInput, locationJson, locationTable, {
    history: historyOf("location", locationFields, ({ locationId }) => locationId),
  }),
  supplier: tableRecordType(supplierRecordInput, supplierJson, supplierTable, {
    history: historyOf("supplier", supplierRecordFields, ({ supplierId }) => supplierId),
    becomes: (supplier, { merges }) => (merges.has(supplier.supplierId) ? null : supplier),
  }),
  supplierMerge: tableRecordType(supplierMergeInput, supplierMergeJson, supplierMergeTable, {
    // An id that a supplier has leads to that supplier.
    becomes: async (merge, { tx, shop }) =>
      (await loadSupplier(tx, shop.shopId, merge.supplierId)) === null ? merge : null,
  }),
  variant: tableRecordType(variantInput, variantJson, variantTable, {
    history: historyOf("variant", variantFields, ({ variantId }) => variantId),
  }),
  supplierVariant: tableRecordType(supplierVariantInput, supplierVariantJson, supplierVariantTable, {
    becomes: ofPresentSupplier,
    history: (shopId, entry, before, stamp) => {
      const { supplierId: recordId, variantId } = entry;
      return replacedStatements(shopId, { kind: "supplier", recordId, variantId }, priceFields, before, entry, stamp);
    },
  }),
  inventoryLevel: tableRecordType(inventoryLevelInput, inventoryLevelJson, inventoryLevelTable, {
    follows: (shopId, level, before, today) => levelNoted(shopId, level, before?.onHand ?? null, level.onHand, today),
    history: (shopId, level, before, stamp) => {
      const { variantId: recordId, locationId } = level;
      const { onHand } = inventoryLevelFields;
      return replacedStatements(shopId, { kind: "variant", recordId, locationId }, { onHand }, before, level, stamp);
    },
  }),
  sale: tableRecordType(saleInput, saleJson, saleTable, {
    follows: (shopId, sale) => [markSeriesStatement(shopId, sale)],
  }),
  supplierCredit: tableRecordType(supplierCreditInput, supplierCreditJson, supplierCreditTable, {
    becomes: ofPresentSupplier,
  }),
  forecastView: forecastViewType,
  consoleView: consoleViewType,
  documentSettings: documentSettingsType,
} as const satisfies Readonly<Record<string, RecordType>>;

/** Read-only resources, and the reasons of stock takes. */
const readOnlyTypes = {
  stockTakeReason: tableRecordType(
    reasonInput,
    (reason) => ({ type: "stockTakeReason", ...reasonJson(reason) }),
    stockTakeReasonTable,
  ),
  stockTake: stockTakeType,
  stockAdjustment: stockAdjustmentType,
  transferOrder: transferOrderType,
  manufacturingOrder: manufacturingOrderType,
} as const satisfies Readonly<Record<string, RecordType>>;

export const recordTypes = {
  ...referenceTypes,
  ...readOnlyTypes,
} as const satisfies Readonly<Record<string, RecordType>>;

/** True if records of this type are imported as reference data, which is every type but `purchaseOrder`. */
export const isRecordType = (type: string): type is keyof typeof recordTypes => Object.hasOwn(recordTypes, type);
