/**
 * All record types but orders, by name, in the order of an export: types that others refer to come first.
 */
import { dayIn } from "../base/time/calendar.ts";
import { reasonJson } from "../operations/stock-takes.ts";
import {
  inventoryLevelTable,
  loadSupplier,
  locationTable,
  saleTable,
  supplierCreditTable,
  supplierTable,
  supplierVariantTable,
  variantTable,
} from "../shop/catalogue/catalogue.ts";
import { supplierMergeTable } from "../shop/catalogue/supplier-merges.ts";
import { markSeriesStatement } from "../shop/forecast/demand.ts";
import { recordsByKey } from "../shop/record-table.ts";
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

/** Reference data: the catalogue, suppliers, stock levels, sales, credits, forecast views. */
export const referenceTypes = {
  location: tableRecordType(locationInput, locationJson, locationTable),
  supplier: tableRecordType(supplierRecordInput, supplierJson, supplierTable, {
    becomes: (supplier, { merges }) => (merges.has(supplier.supplierId) ? null : supplier),
  }),
  supplierMerge: tableRecordType(supplierMergeInput, supplierMergeJson, supplierMergeTable, {
    // An id that a supplier has leads to that supplier.
    becomes: async (merge, { tx, shop }) =>
      (await loadSupplier(tx, shop.shopId, merge.supplierId)) === null ? merge : null,
  }),
  variant: tableRecordType(variantInput, variantJson, variantTable),
  supplierVariant: tableRecordType(supplierVariantInput, supplierVariantJson, supplierVariantTable, {
    becomes: ofPresentSupplier,
  }),
  inventoryLevel: tableRecordType(inventoryLevelInput, inventoryLevelJson, inventoryLevelTable, {
    follows: async (shopId, level, { tx, shop, nowMs }) => {
      const [stored] = await recordsByKey(tx, inventoryLevelTable, shopId, [[level.variantId, level.locationId]]);
      return levelNoted(shopId, level, stored?.onHand ?? null, level.onHand, dayIn(shop.timezone, nowMs));
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
