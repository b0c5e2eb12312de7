/**
 * Import and export records of manufacturing orders (contract §8, §9).
 */
import { z } from "zod";
import {
  type ItemToBuild,
  type Material,
  executionModes,
  manufacturingOrderStatuses,
  releaseDirections,
} from "../../core/stock/manufacturing-orders.ts";
import type { Money } from "../../core/money/money.ts";
import { linesPerOrderMax } from "../../core/order/purchase-order.ts";
import type { ValuedQuantity } from "../../core/money/valued-quantity.ts";
import { codeText, day, id, noRepeats, noteMax, quantity, textOfLines, unitCost } from "../../operations/fields.ts";
import { itemJson, manufacturingHeaderJson, materialJson, releaseJson } from "../../operations/manufacturing-orders.ts";
import { logEntryJson } from "../../operations/purchase-orders/attachments.ts";
import {
  type ManufacturingOrder,
  itemsToBuild,
  manufacturingLog,
  manufacturingOrderStatements,
  manufacturingOrderTable,
  materials,
  stockReleases,
} from "../../shop/stock/manufacturing-orders.ts";
import {
  recordParts,
  fillable,
  filled,
  log,
  quantityOrZero,
  readOnlyType,
  representable,
  variantsOf,
} from "./read-only.ts";
import { type ApplyContext, derived, instantMs, optional, shortText } from "../record-type.ts";

/** Orders that one manufacturing order is linked to. */
const linkedOrdersMax = 100;

/** Linked orders, as ids or as the API shows them. Number and status are the linked order's own and are ignored. */
const linkedIds = <T extends z.ZodType<string>>(entry: T) =>
  z
    .array(entry)
    .max(linkedOrdersMax)
    .check(noRepeats((orderId) => orderId))
    .default([]);

const linkedPurchaseOrder = z.union([
  id,
  z
    .strictObject({ purchaseOrderId: id, poNumber: derived, status: derived })
    .transform(({ purchaseOrderId }) => purchaseOrderId),
]);

const linkedTransferOrder = z.union([
  id,
  z
    .strictObject({ transferOrderId: id, transferNumber: derived, status: derived })
    .transform(({ transferOrderId }) => transferOrderId),
]);

const itemInput = z.strictObject({
  moItemId: id.optional(),
  variantId: id,
  sku: fillable(codeText),
  quantityPlanned: quantity,
  quantityCompleted: quantityOrZero,
  quantityScrapped: quantityOrZero,
  unitCost: optional(unitCost),
});

const materialInput = z.strictObject({
  moMaterialId: id.optional(),
  moItemId: optional(id),
  variantId: id,
  sku: fillable(codeText),
  quantityPerUnit: optional(quantity),
  quantityRequired: quantity,
  quantityAllocated: quantityOrZero,
  quantityConsumed: quantityOrZero,
  unitCost: optional(unitCost),
  quantityShort: derived,
});

const valuesOf = (unitCost: Money | null, ...quantities: readonly ValuedQuantity["quantity"][]) =>
  quantities.map((quantity): ValuedQuantity => ({ quantity, unitCost, stated: null }));

const manufacturingOrderInput = z
  .strictObject({
    type: z.literal("manufacturingOrder"),
    manufacturingOrderId: id,
    moNumber: optional(shortText),
    moName: optional(shortText),
    status: z.enum(manufacturingOrderStatuses).default("Draft"),
    executionMode: z.enum(executionModes).default("in-house"),
    productionLocationId: optional(id),
    supplierId: optional(id),
    plannedStartDate: optional(day),
    dueDate: optional(day),
    startedAt: optional(instantMs),
    completedAt: optional(instantMs),
    createdAt: instantMs.optional(),
    createdBy: optional(shortText),
    note: optional(textOfLines(noteMax)),
    itemsToBuild: z
      .array(itemInput)
      .max(linesPerOrderMax)
      .check(noRepeats((item) => item.moItemId, "moItemId"))
      .check(
        representable((item) =>
          valuesOf(item.unitCost, item.quantityPlanned, item.quantityCompleted, item.quantityScrapped),
        ),
      )
      .default([]),
    materials: z
      .array(materialInput)
      .max(linesPerOrderMax)
      .check(noRepeats((material) => material.moMaterialId, "moMaterialId"))
      .check(
        representable((material) => valuesOf(material.unitCost, material.quantityRequired, material.quantityConsumed)),
      )
      .default([]),
    linkedPurchaseOrders: linkedIds(linkedPurchaseOrder),
    linkedTransferOrders: linkedIds(linkedTransferOrder),
    stockReleases: z
      .array(
        z.strictObject({
          stockReleaseId: id.optional(),
          variantId: id,
          locationId: optional(id),
          quantity,
          direction: z.enum(releaseDirections),
          releasedAt: optional(instantMs),
          releasedBy: optional(shortText),
        }),
      )
      .max(linesPerOrderMax)
      .check(noRepeats((release) => release.stockReleaseId, "stockReleaseId"))
      .default([]),
    log,
    measures: derived,
  })
  .check((context) => {
    const itemIds = new Set(context.value.itemsToBuild.map((item) => item.moItemId));
    // forEach leaves out the holes where reading stopped at a mistake.
    context.value.materials.forEach(({ moItemId }, index) => {
      if (moItemId !== null && !itemIds.has(moItemId))
        context.issues.push({
          code: "custom",
          input: moItemId,
          path: ["materials", index, "moItemId"],
          message: `${moItemId} is no item of this order`,
        });
    });
  });

async function manufacturingOrderFrom(
  { createdAt, startedAt, completedAt, ...draft }: z.output<typeof manufacturingOrderInput>,
  context: ApplyContext,
): Promise<ManufacturingOrder> {
  const { ids } = context;
  const variants = await variantsOf(context, [...draft.itemsToBuild, ...draft.materials]);
  return {
    manufacturingOrderId: draft.manufacturingOrderId,
    moNumber: draft.moNumber,
    moName: draft.moName,
    status: draft.status,
    executionMode: draft.executionMode,
    productionLocationId: draft.productionLocationId,
    supplierId: draft.supplierId,
    plannedStartDate: draft.plannedStartDate,
    dueDate: draft.dueDate,
    startedAtMs: startedAt,
    completedAtMs: completedAt,
    createdAtMs: createdAt ?? context.nowMs,
    createdBy: draft.createdBy,
    note: draft.note,
    linkedPurchaseOrderIds: draft.linkedPurchaseOrders,
    linkedTransferOrderIds: draft.linkedTransferOrders,
    itemsToBuild: draft.itemsToBuild.map((item): ItemToBuild => ({
      ...item,
      moItemId: item.moItemId ?? ids.next("moi"),
      sku: filled(item.sku, variants.get(item.variantId)?.sku),
    })),
    materials: draft.materials.map(({ quantityShort: _derived, ...material }): Material => ({
      ...material,
      moMaterialId: material.moMaterialId ?? ids.next("mom"),
      sku: filled(material.sku, variants.get(material.variantId)?.sku),
    })),
    stockReleases: draft.stockReleases.map(({ releasedAt, ...release }) => ({
      ...release,
      stockReleaseId: release.stockReleaseId ?? ids.next("mor"),
      releasedAtMs: releasedAt,
    })),
    log: draft.log,
  };
}

export const manufacturingOrderType = readOnlyType({
  type: "manufacturingOrder",
  input: manufacturingOrderInput,
  table: manufacturingOrderTable,
  recordId: (draft) => draft.manufacturingOrderId,
  weight: (draft) =>
    1 + draft.itemsToBuild.length + draft.materials.length + draft.stockReleases.length + draft.log.length,
  resource: manufacturingOrderFrom,
  statements: manufacturingOrderStatements,
  header: (order) => ({
    ...manufacturingHeaderJson(order),
    linkedPurchaseOrders: order.linkedPurchaseOrderIds.map((purchaseOrderId) => ({ purchaseOrderId })),
    linkedTransferOrders: order.linkedTransferOrderIds.map((transferOrderId) => ({ transferOrderId })),
  }),
  parts: {
    itemsToBuild: recordParts(itemsToBuild, itemJson, (order: ManufacturingOrder) => order.itemsToBuild),
    materials: recordParts(materials, materialJson, (order: ManufacturingOrder) => order.materials),
    stockReleases: recordParts(stockReleases, releaseJson, (order: ManufacturingOrder) => order.stockReleases),
    log: recordParts(manufacturingLog, logEntryJson, (order: ManufacturingOrder) => order.log),
  },
  log: { kind: manufacturingLog, with: (order: ManufacturingOrder, change) => ({ ...order, log: change(order.log) }) },
});
