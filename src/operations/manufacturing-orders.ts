/**
 * Reading manufacturing orders, on request with their measures (spec "Manufacturing orders (read-only)", contract §9).
 */
import { z } from "zod";
import { only } from "../core/order/guidance.ts";
import { dateOf, dayIn } from "../base/time/calendar.ts";
import { loadHeaders } from "../shop/order/purchase-orders.ts";
import {
  executionModes,
  type ItemToBuild,
  manufacturingDateFields,
  type ManufacturingOrderHeader,
  manufacturingOrderStatuses,
  type Material,
  measuresOf,
  quantityShort,
  releaseDirections,
  type StockRelease,
} from "../core/stock/manufacturing-orders.ts";
import { moneyToNumber, quantityToNumber, moneyToNumberOrNull, quantityToNumberOrNull } from "../core/money/money.ts";
import {
  itemsToBuild,
  loadLinkedTransferOrders,
  manufacturingLog,
  manufacturingOrderQuery,
  manufacturingOrderTable,
  materials,
  stockReleases,
} from "../shop/stock/manufacturing-orders.ts";
import { countParts, loadParts } from "../shop/stock/read-only.ts";
import type { Tx } from "../store/store.ts";
import {
  dateFrom,
  dateSchema,
  dateTo,
  id,
  instant,
  instantOrNull,
  instantSchema,
  listParameter,
  orderedRange,
} from "./fields.ts";
import { linesOnLoopMax } from "../requests/loop-limits.ts";
import type { Call } from "../requests/operation.ts";
import { pageInput, partsToShow, ReadOnlyOperations, repeatableParameter, searchParameter } from "./read-only.ts";

/** Locations that one list may name: each is a branch of the statement. */
const productionLocationsMax = 50;

const manufacturingOrders = new ReadOnlyOperations({
  table: manufacturingOrderTable,
  noun: "manufacturing order",
  tag: "Manufacturing orders",
  path: "/manufacturing-orders",
  idName: "manufacturingOrderId",
  exampleId: "mo_demo_02",
  listName: "manufacturing_order_list",
});

const includeMeasures = z
  .boolean()
  .default(false)
  .meta({ description: "Adds measures: progress, readiness of materials, cost.", query: "boolean" });

const measuresSchema = z
  .strictObject({
    progressPercent: z.number().meta({ description: "Completed of planned, item by item." }),
    quantityPlanned: z.number(),
    quantityCompleted: z.number(),
    quantityRemaining: z.number(),
    materialsReadyPercent: z
      .number()
      .meta({ description: "Share of the required materials that is allocated or consumed." }),
    plannedCost: z.number().meta({ description: "Required materials; items that need none at their own cost." }),
    actualCost: z.number().meta({ description: "Consumed materials; items that need none at their own cost." }),
    currencyCode: z.string().meta({ description: "The shop's currency." }),
    isLate: z.boolean().meta({ description: "The due date has passed and it is neither completed nor cancelled." }),
  })
  .meta({
    description: "Progress, readiness and cost of a manufacturing order. Percentages are rounded down to one decimal.",
  });

const headerShape = {
  manufacturingOrderId: z.string(),
  moNumber: z.string().nullable(),
  moName: z.string().nullable(),
  status: z.enum(manufacturingOrderStatuses),
  executionMode: z.enum(executionModes),
  productionLocationId: z.string().nullable(),
  supplierId: z.string().nullable().meta({ description: "Who builds it, when it is outsourced." }),
  plannedStartDate: dateSchema.nullable(),
  dueDate: dateSchema.nullable(),
  startedAt: instantSchema.nullable(),
  completedAt: instantSchema.nullable(),
  createdAt: instantSchema,
  createdBy: z.string().nullable(),
  note: z.string().nullable(),
  measures: measuresSchema.optional().meta({ description: "Present when includeMeasures is true." }),
} as const;

const headerSchema = z
  .strictObject(headerShape)
  .meta({ description: "A manufacturing order without items and materials." });

export const manufacturingHeaderJson = (order: ManufacturingOrderHeader): z.output<typeof headerSchema> => ({
  manufacturingOrderId: order.manufacturingOrderId,
  moNumber: order.moNumber,
  moName: order.moName,
  status: order.status,
  executionMode: order.executionMode,
  productionLocationId: order.productionLocationId,
  supplierId: order.supplierId,
  plannedStartDate: order.plannedStartDate,
  dueDate: order.dueDate,
  startedAt: instantOrNull(order.startedAtMs),
  completedAt: instantOrNull(order.completedAtMs),
  createdAt: instant(order.createdAtMs),
  createdBy: order.createdBy,
  note: order.note,
});

const itemSchema = z
  .strictObject({
    moItemId: z.string(),
    variantId: z.string(),
    sku: z.string().nullable(),
    quantityPlanned: z.number(),
    quantityCompleted: z.number(),
    quantityScrapped: z.number(),
    unitCost: z.number().nullable(),
  })
  .meta({ description: "An item to build." });

export const itemJson = (item: ItemToBuild): z.output<typeof itemSchema> => ({
  moItemId: item.moItemId,
  variantId: item.variantId,
  sku: item.sku,
  quantityPlanned: quantityToNumber(item.quantityPlanned),
  quantityCompleted: quantityToNumber(item.quantityCompleted),
  quantityScrapped: quantityToNumber(item.quantityScrapped),
  unitCost: moneyToNumberOrNull(item.unitCost),
});

const materialSchema = z
  .strictObject({
    moMaterialId: z.string(),
    moItemId: z.string().nullable().meta({ description: "The item it goes into; null: the order as a whole." }),
    variantId: z.string(),
    sku: z.string().nullable(),
    quantityPerUnit: z.number().nullable(),
    quantityRequired: z.number(),
    quantityAllocated: z.number().meta({ description: "Allocated and not yet consumed." }),
    quantityConsumed: z.number(),
    quantityShort: z.number().meta({ description: "Required, less allocated and consumed; never below 0." }),
    unitCost: z.number().nullable(),
  })
  .meta({ description: "A material that is needed." });

export const materialJson = (material: Material): z.output<typeof materialSchema> => ({
  moMaterialId: material.moMaterialId,
  moItemId: material.moItemId,
  variantId: material.variantId,
  sku: material.sku,
  quantityPerUnit: quantityToNumberOrNull(material.quantityPerUnit),
  quantityRequired: quantityToNumber(material.quantityRequired),
  quantityAllocated: quantityToNumber(material.quantityAllocated),
  quantityConsumed: quantityToNumber(material.quantityConsumed),
  quantityShort: quantityToNumber(quantityShort(material)),
  unitCost: moneyToNumberOrNull(material.unitCost),
});

const releaseSchema = z
  .strictObject({
    stockReleaseId: z.string(),
    variantId: z.string(),
    locationId: z.string().nullable(),
    quantity: z.number(),
    direction: z.enum(releaseDirections).meta({ description: "Whether stock was taken or made." }),
    releasedAt: instantSchema.nullable(),
    releasedBy: z.string().nullable(),
  })
  .meta({ description: "Stock that the order took or made." });

export const releaseJson = (release: StockRelease): z.output<typeof releaseSchema> => ({
  stockReleaseId: release.stockReleaseId,
  variantId: release.variantId,
  locationId: release.locationId,
  quantity: quantityToNumber(release.quantity),
  direction: release.direction,
  releasedAt: instantOrNull(release.releasedAtMs),
  releasedBy: release.releasedBy,
});

function measuresJson(
  call: Call,
  order: ManufacturingOrderHeader,
  items: readonly ItemToBuild[],
  needed: readonly Material[],
): z.output<typeof measuresSchema> {
  const { currencyCode, timezone } = call.shop;
  const today = dateOf(dayIn(timezone, call.clock.now()));
  const measures = measuresOf(order, items, needed, { today, currencyCode });
  return {
    progressPercent: measures.progressPercent,
    quantityPlanned: quantityToNumber(measures.quantityPlanned),
    quantityCompleted: quantityToNumber(measures.quantityCompleted),
    quantityRemaining: quantityToNumber(measures.quantityRemaining),
    materialsReadyPercent: measures.materialsReadyPercent,
    plannedCost: moneyToNumber(measures.plannedCost),
    actualCost: moneyToNumber(measures.actualCost),
    currencyCode,
    isLate: measures.isLate,
  };
}

/** Headers as the API shows them with `includeMeasures`. */
async function headersWithMeasures(tx: Tx, call: Call, orders: readonly ManufacturingOrderHeader[]) {
  const orderIds = orders.map((order) => order.manufacturingOrderId);
  const counts = await countParts(tx, manufacturingOrderTable.name, call.shop.shopId, orderIds);
  if ([...counts.values()].reduce((sum, count) => sum + count, 0) > linesOnLoopMax) call.leaveLoop();
  const items = await loadParts(tx, itemsToBuild, call.shop.shopId, orderIds);
  const needed = await loadParts(tx, materials, call.shop.shopId, orderIds);
  return orders.map((order) => {
    const orderId = order.manufacturingOrderId;
    const measures = measuresJson(call, order, items.get(orderId) ?? [], needed.get(orderId) ?? []);
    return { ...manufacturingHeaderJson(order), measures };
  });
}

const listManufacturingOrders = manufacturingOrders.list(
  {
    description: `${only("rest", "Filters narrow together; one that takes several values matches any of them. To go on, pass cursor with the same filters until it is null. ")}manufacturing_order_get has the lines of one.`,
    input: z
      .strictObject({
        status: repeatableParameter(z.enum(manufacturingOrderStatuses), "Status."),
        executionMode: listParameter(z.enum(executionModes), "Who builds it."),
        productionLocationId: repeatableParameter(id, "Orders built at this location.", productionLocationsMax),
        search: searchParameter("Part of the number or name."),
        dateField: z
          .enum(manufacturingDateFields)
          .default("createdAt")
          .meta({ description: "Which date dateFrom and dateTo are about.", query: "string" }),
        dateFrom,
        dateTo,
        includeMeasures,
        ...pageInput,
      })
      .check(orderedRange("dateFrom", "dateTo"))
      .meta({ example: { status: ["Planned", "In Progress"], dateField: "dueDate", dateTo: "2026-12-31", limit: 20 } }),
    member: "manufacturingOrders",
    header: headerSchema,
    display: ["includeMeasures"],
  },
  (shopId, filters) =>
    manufacturingOrderQuery(shopId, {
      statuses: filters.status ?? null,
      executionModes: filters.executionMode ?? null,
      productionLocationIds: filters.productionLocationId ?? null,
      search: filters.search ?? null,
      dateField: filters.dateField,
      dateFromMs: filters.dateFrom ?? null,
      dateBeforeMs: filters.dateTo ?? null,
    }),
  async (orders, tx, call, filters) =>
    filters.includeMeasures ? await headersWithMeasures(tx, call, orders) : orders.map(manufacturingHeaderJson),
);

const linkedPurchaseOrderSchema = z
  .strictObject({ purchaseOrderId: z.string(), poNumber: z.string().nullable(), status: z.string().nullable() })
  .meta({ description: "A linked purchase order; number and status are null when the shop has no such order." });

const linkedTransferOrderSchema = z
  .strictObject({ transferOrderId: z.string(), transferNumber: z.string().nullable(), status: z.string().nullable() })
  .meta({ description: "A linked transfer order; number and status are null when the shop has no such order." });

/** The orders that this one is linked to. */
async function linkedOrdersJson(tx: Tx, shopId: string, order: ManufacturingOrderHeader) {
  const headers = await loadHeaders(tx, shopId, order.linkedPurchaseOrderIds);
  const transferOrders = await loadLinkedTransferOrders(tx, shopId, order.linkedTransferOrderIds);
  const purchaseOrders = new Map(headers.map((header) => [header.purchaseOrderId, header]));
  return {
    linkedPurchaseOrders: order.linkedPurchaseOrderIds.map((purchaseOrderId) => ({
      purchaseOrderId,
      poNumber: purchaseOrders.get(purchaseOrderId)?.poNumber ?? null,
      status: purchaseOrders.get(purchaseOrderId)?.status ?? null,
    })),
    linkedTransferOrders: transferOrders.map(({ orderId, number, status }) => ({
      transferOrderId: orderId,
      transferNumber: number,
      status,
    })),
  };
}

const getManufacturingOrder = manufacturingOrders.one(
  {
    name: "manufacturing_order_get",
    title: "Read a manufacturing order",
    summary: "One manufacturing order: items to build, materials, linked orders and stock releases.",
    description: "Linked orders and stock as they are now; with includeMeasures also progress, readiness and cost.",
    at: "",
    input: manufacturingOrders.byId({ includeMeasures }),
    output: z.strictObject({
      manufacturingOrder: z
        .strictObject({
          ...headerShape,
          itemsToBuild: z.array(itemSchema),
          materials: z.array(materialSchema),
          linkedPurchaseOrders: z.array(linkedPurchaseOrderSchema),
          linkedTransferOrders: z.array(linkedTransferOrderSchema),
          stockReleases: z.array(releaseSchema),
        })
        .meta({ description: "A manufacturing order in full." }),
    }),
  },
  async (order, reading, input) => {
    const { tx, call, shopId } = reading;
    const items = await partsToShow(reading, itemsToBuild);
    const needed = await partsToShow(reading, materials);
    const releases = await partsToShow(reading, stockReleases);
    return {
      manufacturingOrder: {
        ...manufacturingHeaderJson(order),
        ...(input.includeMeasures ? { measures: measuresJson(call, order, items, needed) } : {}),
        itemsToBuild: items.map(itemJson),
        materials: needed.map(materialJson),
        ...(await linkedOrdersJson(tx, shopId, order)),
        stockReleases: releases.map(releaseJson),
      },
    };
  },
);

const listLog = manufacturingOrders.log({
  name: "manufacturing_order_log_list",
  description: "All entries, or page by page with limit.",
  kind: manufacturingLog,
});

export const manufacturingOrderOperations = [listManufacturingOrders, getManufacturingOrder, listLog] as const;
