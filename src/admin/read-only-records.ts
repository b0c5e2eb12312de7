/**
 * Import and export records of the resources that are only read: stock takes and their reasons, stock adjustments, transfer orders,
 * manufacturing orders (contract §8, §9).
 *
 * Owns: what their records look like, and what is filled in where one leaves something out. Does not own: SQL
 * (shop/read-only-records.ts) or figures (core).
 *
 * A record has the fields that the API returns for it. What follows from other fields (`itemCount`, `netQuantityChange`, `quantityPending`,
 * …) may be there and is computed anew. A member that is left out is filled in when the record comes in, from what the shop knows by
 * then, the lines before it in the file included: the currency from the shop, `reason` from the reason, SKU and product name from the
 * catalogue, a transfer's addresses from its locations. A null stays null, so that a record that was exported comes in as it was.
 */
import { z } from "zod";
import {
  executionModes,
  type ItemToBuild,
  manufacturingOrderStatuses,
  type Material,
  releaseDirections,
} from "../core/manufacturing-order.ts";
import { type Money, moneyFrom, totalValueMax, zeroQuantity } from "../core/money.ts";
import type { Address } from "../core/purchase-order.ts";
import { linesPerOrderMax } from "../core/purchase-order.ts";
import {
  adjustmentLineChange,
  adjustmentTotals,
  countTypes,
  isTellable,
  reasonDirections,
  type StockAdjustment,
  stockAdjustmentStatuses,
  type StockTake,
  stockTakeLineChange,
  type StockTakeReason,
  stockTakeStatuses,
  stockTakeTotals,
  type ValuedQuantity,
  worthOf,
} from "../core/stock-take.ts";
import { requestedValue, transferOrderStatuses, transferTotals } from "../core/transfer-order.ts";
import { checkInput } from "../operations/input.ts";
import { itemJson, manufacturingHeaderJson, materialJson, releaseJson } from "../operations/manufacturing-orders.ts";
import { stockAdjustmentHeaderJson, stockAdjustmentLineJson } from "../operations/stock-adjustments.ts";
import { reasonJson, stockTakeHeaderJson, stockTakeLineJson } from "../operations/stock-takes.ts";
import { transferAddressesJson, transferHeaderJson, transferLineJson } from "../operations/transfer-orders.ts";
import {
  address,
  currencyCode,
  day,
  id,
  noRepeats,
  noteMax,
  positiveQuantity,
  productNameMax,
  quantity,
  text,
  unitCost,
} from "../operations/wire.ts";
import { documentJson, logEntryJson, shipmentJson } from "../operations/purchase-order-reads.ts";
import {
  type HeaderTable,
  itemsToBuild,
  loadLocationAddresses,
  loadParts,
  loadReasonName,
  type ManufacturingOrder,
  manufacturingLog,
  manufacturingOrderStatements,
  manufacturingOrderTable,
  materials,
  pageOfHeaders,
  stockAdjustmentLines,
  stockAdjustmentStatements,
  stockAdjustmentTable,
  stockReleases,
  stockTakeLines,
  stockTakeReasonTable,
  stockTakeStatements,
  stockTakeTable,
  transferDocuments,
  transferLines,
  transferLog,
  type TransferOrder,
  transferOrderStatements,
  transferOrderTable,
  transferShipments,
} from "../shop/read-only-records.ts";
import { loadVariants, type VariantSnapshot } from "../shop/rows.ts";
import type { Statement, Tx } from "../shop/shop.ts";
import {
  type Bringing,
  derived,
  documentInput,
  instantMs,
  logInput,
  optional,
  type ReferenceType,
  referenceType,
  shipmentInput,
  shortText,
  signedQuantity,
} from "./records.ts";

/** Records of one page of an export: each may have thousands of lines. */
const pageLength = 25;
/** Orders that one manufacturing order is linked to. */
const linkedOrdersMax = 100;

/** Filled in when it is left out; a null stays. */
const fillable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();
const quantityOrZero = quantity.default(zeroQuantity);
/** What something is worth where no unit cost tells. */
const statedValue = optional(
  z
    .number()
    .min(-totalValueMax)
    .max(totalValueMax)
    .transform((value, context): Money => {
      const parsed = moneyFrom(value);
      if (parsed !== null) return parsed;
      context.addIssue({ code: "custom", message: "must have at most 4 decimals" });
      return z.NEVER;
    }),
);

/** Refuses entries that are worth more than figures can tell. */
const tellable =
  <T>(valuesOf: (entry: T) => readonly ValuedQuantity[]) =>
  (context: z.core.ParsePayload<readonly T[]>): void => {
    const values = context.value.flatMap(valuesOf);
    if (isTellable(values) && values.every((value) => isTellable([value]))) return;
    context.issues.push({
      code: "custom",
      input: context.value,
      message: `are worth more than ${totalValueMax}, one of them or all together`,
    });
  };

const log = z
  .array(logInput)
  .check(noRepeats((entry) => entry.logId, "logId"))
  .default([]);

/** What the shop knows of the variants of these lines; asked only where a line leaves something out. */
const variantsOf = (
  { tx, shop }: Bringing,
  lines: readonly { readonly variantId: string; readonly sku?: unknown; readonly productName?: unknown }[],
  isWhole: (line: (typeof lines)[number]) => boolean = (line) => line.sku !== undefined,
): Promise<ReadonlyMap<string, VariantSnapshot>> =>
  loadVariants(
    tx,
    shop.shopId,
    lines.filter((line) => !isWhole(line)).map((line) => line.variantId),
  );

/** As given; what is left out is as known. */
const filled = <T>(given: T | null | undefined, known: T | null | undefined): T | null =>
  given === undefined ? (known ?? null) : given;

const reasonOf = async (
  { tx, shop }: Bringing,
  given: { readonly reasonId: string | null; readonly reason?: string | null | undefined },
): Promise<string | null> =>
  given.reason === undefined && given.reasonId !== null
    ? await loadReasonName(tx, shop.shopId, given.reasonId)
    : (given.reason ?? null);

// Stock takes.

const reasonInput = z
  .strictObject({
    type: z.literal("stockTakeReason"),
    reasonId: id,
    name: shortText,
    code: optional(shortText),
    direction: z.enum(reasonDirections).default("both"),
    isSystem: z.boolean().default(false),
    isActive: z.boolean().default(true),
  })
  .transform(({ type: _type, ...reason }): StockTakeReason => reason);

const stockTakeInput = z.strictObject({
  type: z.literal("stockTake"),
  stockTakeId: id,
  stockTakeNumber: optional(shortText),
  stockTakeName: optional(shortText),
  status: z.enum(stockTakeStatuses).default("Draft"),
  locationId: optional(id),
  countType: z.enum(countTypes).default("full"),
  reasonId: optional(id),
  reason: fillable(shortText),
  currencyCode: currencyCode.nullable().optional(),
  stockAdjustmentId: optional(id),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  startedAt: optional(instantMs),
  completedAt: optional(instantMs),
  note: optional(text(noteMax)),
  lineItems: z
    .array(
      z.strictObject({
        stockTakeLineItemId: id.optional(),
        variantId: id,
        sku: fillable(shortText),
        productName: fillable(text(productNameMax)),
        quantityExpected: signedQuantity.default(zeroQuantity),
        quantityCounted: optional(quantity),
        unitCost: optional(unitCost),
        valueVariance: statedValue,
        reasonId: optional(id),
        countedBy: optional(shortText),
        countedAt: optional(instantMs),
        note: optional(text(noteMax)),
        quantityVariance: derived,
      }),
    )
    .max(linesPerOrderMax)
    .check(noRepeats((line) => line.stockTakeLineItemId, "stockTakeLineItemId"))
    .check(tellable((line) => stockTakeLineChange(line)))
    .default([]),
  itemCount: derived,
  countedItemCount: derived,
  netQuantityChange: derived,
  netValueChange: derived,
});

async function stockTakeFrom(
  { createdAt, startedAt, completedAt, ...draft }: z.output<typeof stockTakeInput>,
  bringing: Bringing,
): Promise<StockTake> {
  const currencyCode = draft.currencyCode ?? bringing.shop.currencyCode;
  const variants = await variantsOf(
    bringing,
    draft.lineItems,
    (line) => line.sku !== undefined && line.productName !== undefined,
  );
  const lineItems = draft.lineItems.map(({ quantityVariance: _derived, countedAt, ...line }) => {
    const [change] = stockTakeLineChange(line);
    return {
      ...line,
      stockTakeLineItemId: line.stockTakeLineItemId ?? bringing.ids.next("stl"),
      sku: filled(line.sku, variants.get(line.variantId)?.sku),
      productName: filled(line.productName, variants.get(line.variantId)?.productName),
      valueVariance: change === undefined ? null : worthOf(change, currencyCode),
      countedAtMs: countedAt,
    };
  });
  return {
    stockTakeId: draft.stockTakeId,
    stockTakeNumber: draft.stockTakeNumber,
    stockTakeName: draft.stockTakeName,
    status: draft.status,
    locationId: draft.locationId,
    countType: draft.countType,
    reasonId: draft.reasonId,
    reason: await reasonOf(bringing, draft),
    ...stockTakeTotals(lineItems, currencyCode),
    currencyCode,
    stockAdjustmentId: draft.stockAdjustmentId,
    createdBy: draft.createdBy,
    createdAtMs: createdAt ?? bringing.nowMs,
    startedAtMs: startedAt,
    completedAtMs: completedAt,
    note: draft.note,
    lineItems,
  };
}

// Stock adjustments.

const stockAdjustmentInput = z.strictObject({
  type: z.literal("stockAdjustment"),
  stockAdjustmentId: id,
  stockAdjustmentNumber: optional(shortText),
  status: z.enum(stockAdjustmentStatuses).default("Draft"),
  locationId: optional(id),
  reasonId: optional(id),
  reason: fillable(shortText),
  currencyCode: currencyCode.nullable().optional(),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  appliedAt: optional(instantMs),
  revertOf: optional(id),
  revertedBy: optional(id),
  note: optional(text(noteMax)),
  lineItems: z
    .array(
      z.strictObject({
        stockAdjustmentLineItemId: id.optional(),
        variantId: id,
        sku: fillable(shortText),
        quantityDelta: signedQuantity,
        unitCost: optional(unitCost),
        valueChange: statedValue,
        reasonId: optional(id),
        note: optional(text(noteMax)),
      }),
    )
    .max(linesPerOrderMax)
    .check(noRepeats((line) => line.stockAdjustmentLineItemId, "stockAdjustmentLineItemId"))
    .check(tellable((line) => [adjustmentLineChange(line)]))
    .default([]),
  itemCount: derived,
  netQuantityChange: derived,
  netValueChange: derived,
});

async function stockAdjustmentFrom(
  { createdAt, appliedAt, ...draft }: z.output<typeof stockAdjustmentInput>,
  bringing: Bringing,
): Promise<StockAdjustment> {
  const currencyCode = draft.currencyCode ?? bringing.shop.currencyCode;
  const variants = await variantsOf(bringing, draft.lineItems);
  const lineItems = draft.lineItems.map((line) => ({
    ...line,
    stockAdjustmentLineItemId: line.stockAdjustmentLineItemId ?? bringing.ids.next("sal"),
    sku: filled(line.sku, variants.get(line.variantId)?.sku),
    valueChange: worthOf(adjustmentLineChange(line), currencyCode),
  }));
  return {
    stockAdjustmentId: draft.stockAdjustmentId,
    stockAdjustmentNumber: draft.stockAdjustmentNumber,
    status: draft.status,
    locationId: draft.locationId,
    reasonId: draft.reasonId,
    reason: await reasonOf(bringing, draft),
    ...adjustmentTotals(lineItems, currencyCode),
    currencyCode,
    createdBy: draft.createdBy,
    createdAtMs: createdAt ?? bringing.nowMs,
    appliedAtMs: appliedAt,
    revertOf: draft.revertOf,
    revertedBy: draft.revertedBy,
    note: draft.note,
    lineItems,
  };
}

// Transfer orders.

const transferOrderInput = z.strictObject({
  type: z.literal("transferOrder"),
  transferOrderId: id,
  transferNumber: optional(shortText),
  transferName: optional(shortText),
  status: z.enum(transferOrderStatuses).default("Draft"),
  fromLocationId: optional(id),
  toLocationId: optional(id),
  currencyCode: currencyCode.nullable().optional(),
  expectedArrivalDate: optional(day),
  shippedAt: optional(instantMs),
  receivedAt: optional(instantMs),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  updatedAt: instantMs.optional(),
  note: optional(text(noteMax)),
  lineItems: z
    .array(
      z.strictObject({
        transferLineItemId: id.optional(),
        variantId: id,
        sku: fillable(shortText),
        quantityRequested: positiveQuantity,
        quantityShipped: quantityOrZero,
        quantityReceived: quantityOrZero,
        quantityRejected: quantityOrZero,
        quantityCancelled: quantityOrZero,
        unitCost: optional(unitCost),
        quantityPending: derived,
      }),
    )
    .max(linesPerOrderMax)
    .check(noRepeats((line) => line.transferLineItemId, "transferLineItemId"))
    .check(tellable((line) => [requestedValue(line)]))
    .default([]),
  addresses: z.strictObject({ fromAddress: fillable(address), toAddress: fillable(address) }).default({}),
  /** The one shipment, as the API shows it; `shipments` has all of them. */
  shipment: optional(shipmentInput),
  shipments: z
    .array(shipmentInput)
    .check(noRepeats((shipment) => shipment.shipmentId, "shipmentId"))
    .optional(),
  documents: z
    .array(documentInput)
    .check(noRepeats((document) => document.documentId, "documentId"))
    .default([]),
  log,
  itemCount: derived,
  totalQuantity: derived,
  totalValue: derived,
});

async function transferOrderFrom(
  { createdAt, updatedAt, shippedAt, receivedAt, ...draft }: z.output<typeof transferOrderInput>,
  bringing: Bringing,
): Promise<TransferOrder> {
  const currencyCode = draft.currencyCode ?? bringing.shop.currencyCode;
  const createdAtMs = createdAt ?? bringing.nowMs;
  const variants = await variantsOf(bringing, draft.lineItems);
  const known = await loadLocationAddresses(
    bringing.tx,
    bringing.shop.shopId,
    [draft.fromLocationId, draft.toLocationId].flatMap((locationId) => locationId ?? []),
  );
  const addressAt = (given: Address | null | undefined, locationId: string | null): Address | null =>
    filled(given, locationId === null ? null : known.get(locationId));
  return {
    transferOrderId: draft.transferOrderId,
    transferNumber: draft.transferNumber,
    transferName: draft.transferName,
    status: draft.status,
    fromLocationId: draft.fromLocationId,
    toLocationId: draft.toLocationId,
    ...transferTotals(draft.lineItems, currencyCode),
    currencyCode,
    expectedArrivalDate: draft.expectedArrivalDate,
    shippedAtMs: shippedAt,
    receivedAtMs: receivedAt,
    createdBy: draft.createdBy,
    createdAtMs,
    updatedAtMs: updatedAt ?? createdAtMs,
    note: draft.note,
    fromAddress: addressAt(draft.addresses.fromAddress, draft.fromLocationId),
    toAddress: addressAt(draft.addresses.toAddress, draft.toLocationId),
    lineItems: draft.lineItems.map(({ quantityPending: _derived, ...line }) => ({
      ...line,
      transferLineItemId: line.transferLineItemId ?? bringing.ids.next("tol"),
      sku: filled(line.sku, variants.get(line.variantId)?.sku),
    })),
    shipments: draft.shipments ?? (draft.shipment === null ? [] : [draft.shipment]),
    documents: draft.documents,
    log: draft.log,
  };
}

// Manufacturing orders.

/** Linked orders by their ids, or as the API shows them: what it tells of them beside the id is theirs. */
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
  sku: fillable(shortText),
  quantityPlanned: quantity,
  quantityCompleted: quantityOrZero,
  quantityScrapped: quantityOrZero,
  unitCost: optional(unitCost),
});

const materialInput = z.strictObject({
  moMaterialId: id.optional(),
  moItemId: optional(id),
  variantId: id,
  sku: fillable(shortText),
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
    note: optional(text(noteMax)),
    itemsToBuild: z
      .array(itemInput)
      .max(linesPerOrderMax)
      .check(noRepeats((item) => item.moItemId, "moItemId"))
      .check(
        tellable((item) =>
          valuesOf(item.unitCost, item.quantityPlanned, item.quantityCompleted, item.quantityScrapped),
        ),
      )
      .default([]),
    materials: z
      .array(materialInput)
      .max(linesPerOrderMax)
      .check(noRepeats((material) => material.moMaterialId, "moMaterialId"))
      .check(tellable((material) => valuesOf(material.unitCost, material.quantityRequired, material.quantityConsumed)))
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
    for (const [index, { moItemId }] of context.value.materials.entries())
      if (moItemId !== null && !itemIds.has(moItemId))
        context.issues.push({
          code: "custom",
          input: moItemId,
          path: ["materials", index, "moItemId"],
          message: `${moItemId} is no item of this order`,
        });
  });

async function manufacturingOrderFrom(
  { createdAt, startedAt, completedAt, ...draft }: z.output<typeof manufacturingOrderInput>,
  bringing: Bringing,
): Promise<ManufacturingOrder> {
  const { ids } = bringing;
  const variants = await variantsOf(bringing, [...draft.itemsToBuild, ...draft.materials]);
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
    createdAtMs: createdAt ?? bringing.nowMs,
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

// The way of each through import and export.

/** A type of record that is kept as a header with parts. */
function readOnlyType<Draft, Header extends { readonly createdAtMs: number }>(options: {
  readonly input: z.ZodType<Draft>;
  readonly table: HeaderTable<Header>;
  recordId(draft: Draft): string;
  /** How many rows it makes. */
  weight(draft: Draft): number;
  statements(draft: Draft, bringing: Bringing): Promise<readonly Statement[]>;
  /** The records of these headers as they stand in a file. */
  records(tx: Tx, shopId: string, headers: readonly Header[]): Promise<readonly object[]>;
}): ReferenceType {
  return {
    parse(record) {
      const draft = checkInput(options.input, record);
      return { recordId: options.recordId(draft), stored: JSON.stringify(draft), weight: options.weight(draft) };
    },
    statements(_shopId, stored, bringing) {
      // Text that `parse` wrote.
      const draft: Draft = JSON.parse(stored);
      return options.statements(draft, bringing);
    },
    async page(tx, shopId, after) {
      const headers = await pageOfHeaders(tx, options.table, shopId, after ?? "", pageLength);
      const last = headers.length < pageLength ? undefined : headers.at(-1);
      return {
        lines: (await options.records(tx, shopId, headers)).map((record) => JSON.stringify(record)),
        next: last === undefined ? null : options.table.idOf(last),
      };
    },
  };
}

const stockTakeType = readOnlyType({
  input: stockTakeInput,
  table: stockTakeTable,
  recordId: (draft) => draft.stockTakeId,
  weight: (draft) => 1 + draft.lineItems.length,
  statements: async (draft, bringing) =>
    stockTakeStatements(bringing.shop.shopId, await stockTakeFrom(draft, bringing)),
  async records(tx, shopId, takes) {
    const lines = await loadParts(
      tx,
      stockTakeLines,
      shopId,
      takes.map((take) => take.stockTakeId),
    );
    return takes.map((take) => ({
      type: "stockTake",
      ...stockTakeHeaderJson(take),
      lineItems: lines.get(take.stockTakeId)?.map(stockTakeLineJson),
    }));
  },
});

const stockAdjustmentType = readOnlyType({
  input: stockAdjustmentInput,
  table: stockAdjustmentTable,
  recordId: (draft) => draft.stockAdjustmentId,
  weight: (draft) => 1 + draft.lineItems.length,
  statements: async (draft, bringing) =>
    stockAdjustmentStatements(bringing.shop.shopId, await stockAdjustmentFrom(draft, bringing)),
  async records(tx, shopId, adjustments) {
    const lines = await loadParts(
      tx,
      stockAdjustmentLines,
      shopId,
      adjustments.map((adjustment) => adjustment.stockAdjustmentId),
    );
    return adjustments.map((adjustment) => ({
      type: "stockAdjustment",
      ...stockAdjustmentHeaderJson(adjustment),
      lineItems: lines.get(adjustment.stockAdjustmentId)?.map(stockAdjustmentLineJson),
    }));
  },
});

const transferOrderType = readOnlyType({
  input: transferOrderInput,
  table: transferOrderTable,
  recordId: (draft) => draft.transferOrderId,
  weight: (draft) =>
    1 + draft.lineItems.length + (draft.shipments?.length ?? 1) + draft.documents.length + draft.log.length,
  statements: async (draft, bringing) =>
    transferOrderStatements(bringing.shop.shopId, await transferOrderFrom(draft, bringing)),
  async records(tx, shopId, orders) {
    const orderIds = orders.map((order) => order.transferOrderId);
    const lines = await loadParts(tx, transferLines, shopId, orderIds);
    const shipments = await loadParts(tx, transferShipments, shopId, orderIds);
    const documents = await loadParts(tx, transferDocuments, shopId, orderIds);
    const log = await loadParts(tx, transferLog, shopId, orderIds);
    return orders.map((order) => ({
      type: "transferOrder",
      ...transferHeaderJson(order),
      lineItems: lines.get(order.transferOrderId)?.map(transferLineJson),
      addresses: transferAddressesJson(order),
      shipments: shipments.get(order.transferOrderId)?.map(shipmentJson),
      documents: documents.get(order.transferOrderId)?.map(documentJson),
      log: log.get(order.transferOrderId)?.map(logEntryJson),
    }));
  },
});

const manufacturingOrderType = readOnlyType({
  input: manufacturingOrderInput,
  table: manufacturingOrderTable,
  recordId: (draft) => draft.manufacturingOrderId,
  weight: (draft) =>
    1 + draft.itemsToBuild.length + draft.materials.length + draft.stockReleases.length + draft.log.length,
  statements: async (draft, bringing) =>
    manufacturingOrderStatements(bringing.shop.shopId, await manufacturingOrderFrom(draft, bringing)),
  async records(tx, shopId, orders) {
    const orderIds = orders.map((order) => order.manufacturingOrderId);
    const items = await loadParts(tx, itemsToBuild, shopId, orderIds);
    const needed = await loadParts(tx, materials, shopId, orderIds);
    const releases = await loadParts(tx, stockReleases, shopId, orderIds);
    const log = await loadParts(tx, manufacturingLog, shopId, orderIds);
    return orders.map((order) => ({
      type: "manufacturingOrder",
      ...manufacturingHeaderJson(order),
      itemsToBuild: items.get(order.manufacturingOrderId)?.map(itemJson),
      materials: needed.get(order.manufacturingOrderId)?.map(materialJson),
      linkedPurchaseOrders: order.linkedPurchaseOrderIds.map((purchaseOrderId) => ({ purchaseOrderId })),
      linkedTransferOrders: order.linkedTransferOrderIds.map((transferOrderId) => ({ transferOrderId })),
      stockReleases: releases.get(order.manufacturingOrderId)?.map(releaseJson),
      log: log.get(order.manufacturingOrderId)?.map(logEntryJson),
    }));
  },
});

/** In the order in which an export holds them. */
export const readOnlyTypes = {
  stockTakeReason: referenceType(
    reasonInput,
    (reason) => ({ type: "stockTakeReason", ...reasonJson(reason) }),
    stockTakeReasonTable,
  ),
  stockTake: stockTakeType,
  stockAdjustment: stockAdjustmentType,
  transferOrder: transferOrderType,
  manufacturingOrder: manufacturingOrderType,
} as const satisfies Readonly<Record<string, ReferenceType>>;
