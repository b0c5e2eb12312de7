/**
 * All record types but orders, by name, in the order of an export: types that others refer to come first.
 */
import { reasonJson } from "../operations/stock-takes.ts";
import {
  type InventoryLevel,
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
import { type Concerned, shownChanges } from "../shop/catalogue/record-log.ts";
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
import { type DecideContext, type RecordType, tableRecordType } from "./record-type.ts";
import { stockAdjustmentType } from "./records/stock-adjustments.ts";
import { reasonInput, stockTakeType } from "./records/stock-takes.ts";
import { transferOrderType } from "./records/transfer-orders.ts";

/** The record, of the supplier that its own was merged into. */
const ofPresentSupplier = <Stored extends { readonly supplierId: string }>(
  record: Stored,
  { merges }: DecideContext,
): Stored => ({ ...record, supplierId: merges.get(record.supplierId) ?? record.supplierId });

/** A history of these fields. @param of  the record that an entry is about, and the part of it. */
const historyOf = <T extends Fields, Stored extends ValuesOf<T>>(fields: T, of: (record: Stored) => Concerned) => ({
  of,
  changes: (before: Stored | null, next: Stored) => shownChanges(fields, before, next),
});

/** Reference data: the catalogue, suppliers, stock levels, sales, credits, forecast views. */
export const referenceTypes = {
  location: tableRecordType(locationInput, locationJson, locationTable, {
    history: historyOf(locationFields, ({ locationId: recordId }) => ({ kind: "location", recordId })),
  }),
  supplier: tableRecordType(supplierRecordInput, supplierJson, supplierTable, {
    history: historyOf(supplierRecordFields, ({ supplierId: recordId }) => ({ kind: "supplier", recordId })),
    becomes: (supplier, { merges }) => (merges.has(supplier.supplierId) ? null : supplier),
  }),
  supplierMerge: tableRecordType(supplierMergeInput, supplierMergeJson, supplierMergeTable, {
    // An id that a supplier has leads to that supplier.
    becomes: async (merge, { tx, shop }) =>
      (await loadSupplier(tx, shop.shopId, merge.supplierId)) === null ? merge : null,
  }),
  variant: tableRecordType(variantInput, variantJson, variantTable, {
    history: historyOf(variantFields, ({ variantId: recordId }) => ({ kind: "variant", recordId })),
  }),
  supplierVariant: tableRecordType(supplierVariantInput, supplierVariantJson, supplierVariantTable, {
    becomes: ofPresentSupplier,
    history: historyOf(priceFields, ({ supplierId: recordId, variantId }) => ({
      kind: "supplier",
      recordId,
      variantId,
    })),
  }),
  inventoryLevel: tableRecordType(inventoryLevelInput, inventoryLevelJson, inventoryLevelTable, {
    follows: (shopId, level, before, today) => levelNoted(shopId, level, before?.onHand ?? null, level.onHand, today),
    history: historyOf(
      { onHand: inventoryLevelFields.onHand },
      ({ variantId: recordId, locationId }: InventoryLevel) => ({ kind: "variant", recordId, locationId }),
    ),
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
