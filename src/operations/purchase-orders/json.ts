import { z } from "zod";
import { isCustom, lineItemStatus, lineTotal, paidStatus, pendingQuantity } from "../../core/lines.ts";
import {
  type FxRate,
  fxRateFrom,
  fxRateMax,
  fxRateToNumber,
  moneyToNumber,
  quantityFrom,
  quantityMax,
  quantityToNumber,
} from "../../core/money.ts";
import {
  type Header,
  type LineItem,
  type PurchaseOrder,
  bulkLinesMax,
  lineItemStatuses,
  paidStatuses,
  statuses,
  storefrontSyncStates,
} from "../../core/purchase-order.ts";
import {
  address,
  addressJson,
  addressSchema,
  amount,
  currencyCode,
  dateSchema,
  day,
  decimal,
  id,
  instant,
  instantOrNull,
  instantSchema,
  leadTimeDays,
  moneyOrNull,
  noRepeats,
  noteMax,
  positiveQuantity,
  productNameMax,
  quantity,
  quantityOrNull,
  shortTextMax,
  text,
  unitCost,
  urlMax,
} from "../fields.ts";

export const poNameMax = 200;

export const tagMax = 60;

export const tagsMax = 50;

const packSize = decimal(z.number().min(1).max(quantityMax), 3, quantityFrom).meta({
  description: "Units in one pack: at least 1, at most 3 decimals.",
});

export const fxRate = decimal(z.number().positive().max(fxRateMax), 10, fxRateFrom).meta({
  description: "What one unit of the order's currency is worth in the shop's currency; at most 10 decimals.",
});

const tags = z
  .array(text(tagMax))
  .max(tagsMax)
  .check(noRepeats((tag) => tag))
  .meta({ description: `Free labels: at most ${tagsMax}, none twice.`, uniqueItems: true });

// Input objects.

export const purchaseOrderId = id.meta({ description: "Id of the purchase order." });

export const lineItemId = id.meta({ description: "Id of the line item (`poLineItemId` of an answer)." });

/** Header fields of create and PATCH; null clears (C30). */
export const headerInput = {
  poName: text(poNameMax).nullable().optional().meta({ description: "The order's name." }),
  supplierId: id.nullable().optional().meta({ description: "Whom it is ordered from." }),
  locationId: id
    .nullable()
    .optional()
    .meta({ description: "Where it goes. Needed before the order is sent; null only in Draft." }),
  currencyCode: currencyCode
    .nullable()
    .optional()
    .meta({ description: "The order's currency; null or never given: the supplier's, else the shop's." }),
  orderDate: day.nullable().optional().meta({ description: "Day of the order." }),
  expectedDeliveryDate: day
    .nullable()
    .optional()
    .meta({ description: "Day it is expected, unless a line says otherwise." }),
  supplierReference: text(shortTextMax)
    .nullable()
    .optional()
    .meta({ description: "The supplier's own number for it." }),
  paymentTerms: text(shortTextMax).nullable().optional().meta({ description: "Payment terms, as agreed." }),
  incoterm: text(shortTextMax).nullable().optional().meta({ description: "Delivery terms, as agreed." }),
  shippingCost: amount.nullable().optional().meta({ description: "In the order's currency; not in totalValue." }),
  discountAmount: amount.nullable().optional().meta({ description: "In the order's currency; not in totalValue." }),
  taxAmount: amount.nullable().optional().meta({ description: "In the order's currency; not in totalValue." }),
  tags: tags.nullable().optional(),
  note: text(noteMax).nullable().optional().meta({ description: "For the shop's own use." }),
  noteToSupplier: text(noteMax).nullable().optional().meta({ description: "For the supplier." }),
  billingAddress: address.nullable().optional(),
  shippingAddress: address.nullable().optional(),
} as const;

/** What a line says of the supplier's side of the article; null clears. */
export const supplierInput = {
  supplierSku: text(shortTextMax).nullable().optional().meta({ description: "The supplier's SKU." }),
  supplierBarcode: text(shortTextMax).nullable().optional().meta({ description: "The supplier's barcode." }),
  supplierProductName: text(productNameMax).nullable().optional().meta({ description: "The supplier's product name." }),
  supplierProductUrl: text(urlMax).nullable().optional().meta({ description: "The product at the supplier's." }),
  moq: quantity.nullable().optional().meta({ description: "The supplier's minimum order quantity." }),
  packSize: packSize.nullable().optional(),
  leadTimeDays: leadTimeDays.nullable().optional().meta({ description: "Days from order to delivery." }),
} as const;

const lineCommonInput = {
  unitCost: unitCost.optional().meta({ description: "Cost of one unit; 0 when left out." }),
  unitCostCurrencyCode: currencyCode
    .nullable()
    .optional()
    .meta({ description: "Currency of unitCost; null or never given: the order's." }),
  ...supplierInput,
  expectedDeliveryDate: day.nullable().optional().meta({ description: "Day this line is expected." }),
  note: text(noteMax).nullable().optional(),
} as const;

export const catalogueLineInput = z
  .strictObject({
    variantId: id.meta({ description: "The catalogue variant to order; not one that begins CSTM-." }),
    quantityOrdered: positiveQuantity,
    ...lineCommonInput,
  })
  .meta({ id: "CatalogueLineInput", description: "A line for a variant of the catalogue." });

/** Members of the one line that /line-items/custom takes (C32). */
export const customLineInput = {
  productName: text(productNameMax).meta({ description: "What is ordered." }),
  quantityOrdered: positiveQuantity,
  variantName: text(productNameMax).nullable().optional(),
  sku: text(shortTextMax).nullable().optional(),
  barcode: text(shortTextMax).nullable().optional(),
  ...lineCommonInput,
} as const;

export const catalogueLinesInput = z
  .array(catalogueLineInput)
  .min(1)
  .max(bulkLinesMax)
  .meta({ description: `1 to ${bulkLinesMax} lines.` });

export const headerSchema = z
  .strictObject({
    purchaseOrderId: z.string(),
    poNumber: z.string(),
    poName: z.string().nullable(),
    status: z.enum(statuses),
    previousStatus: z.enum(statuses).meta({ description: "The status before the latest move; Draft on a new order." }),
    supplierId: z.string().nullable(),
    supplierName: z.string().nullable(),
    locationId: z.string().nullable(),
    locationName: z.string().nullable(),
    currencyCode: z.string(),
    fxRateOverride: z.number().nullable().meta({ description: "Order currency to shop currency." }),
    orderDate: dateSchema.nullable(),
    expectedDeliveryDate: dateSchema.nullable(),
    supplierReference: z.string().nullable(),
    paymentTerms: z.string().nullable(),
    incoterm: z.string().nullable(),
    shippingCost: z.number().nullable(),
    discountAmount: z.number().nullable(),
    taxAmount: z.number().nullable(),
    tags: z.array(z.string()),
    note: z.string().nullable(),
    noteToSupplier: z.string().nullable(),
    billingAddress: addressSchema.nullable(),
    shippingAddress: addressSchema.nullable(),
    itemCount: z.int().meta({ description: "Number of lines." }),
    totalValue: z.number().meta({ description: "Ordered quantities at their unit costs, in the order's currency." }),
    unpricedLineItemIds: z
      .array(z.string())
      .meta({ description: "Lines left out of totalValue: no exchange rate is known for their currency." }),
    paidStatus: z.enum(paidStatuses),
    storefrontSyncState: z.enum(storefrontSyncStates),
    createdBy: z.string().nullable(),
    createdAt: instantSchema,
    updatedAt: instantSchema,
    sentAt: instantSchema.nullable(),
    confirmedAt: instantSchema.nullable(),
    receivedAt: instantSchema.nullable(),
    completedAt: instantSchema.nullable(),
    cancelledAt: instantSchema.nullable(),
    version: z.int().meta({ description: "Raised by every change; also the ETag." }),
  })
  .meta({ id: "PurchaseOrderHeader", description: "A purchase order without its lines." });

export type HeaderJson = z.output<typeof headerSchema>;

export const lineSchema = z
  .strictObject({
    poLineItemId: z.string().meta({ description: "Requests call it lineItemId (itemId in resolutions)." }),
    variantId: z.string(),
    isCustom: z.boolean(),
    productName: z.string().nullable(),
    variantName: z.string().nullable(),
    sku: z.string().nullable(),
    barcode: z.string().nullable(),
    lineItemStatus: z.enum(lineItemStatuses),
    quantityOrdered: z.number(),
    quantityConfirmed: z.number().meta({ description: "0: unconfirmed." }),
    quantityReceived: z.number(),
    quantityRejected: z.number(),
    quantityCancelled: z.number(),
    quantityPending: z.number().meta({ description: "Still to come." }),
    quantitySynced: z.number().meta({ description: "How much of the received quantity the storefront has." }),
    unitCost: z.number(),
    unitCostCurrencyCode: z.string(),
    lineTotal: z.number().meta({ description: "In the line's currency." }),
    supplierSku: z.string().nullable(),
    supplierBarcode: z.string().nullable(),
    supplierProductName: z.string().nullable(),
    supplierProductUrl: z.string().nullable(),
    moq: z.number().nullable(),
    packSize: z.number().nullable(),
    leadTimeDays: z.int().nullable(),
    expectedDeliveryDate: dateSchema.nullable(),
    note: z.string().nullable(),
    createdAt: instantSchema,
    updatedAt: instantSchema,
  })
  .meta({ id: "PurchaseOrderLineItem", description: "A line of a purchase order." });

export type LineJson = z.output<typeof lineSchema>;

export const purchaseOrderSchema = z
  .strictObject({ ...headerSchema.shape, lineItems: z.array(lineSchema) })
  .meta({ id: "PurchaseOrder", description: "A purchase order with its lines." });

export type PurchaseOrderJson = z.output<typeof purchaseOrderSchema>;

/** What a bulk call could not do to a line. */
export const lineFailureSchema = z
  .strictObject({
    lineItemId: z.string(),
    reason: z.string().meta({ description: "A stable machine word." }),
    message: z.string(),
  })
  .meta({ id: "LineFailure", description: "A line that the call left alone, and why." });

const rateOrNull = (value: FxRate | null): number | null => (value === null ? null : fxRateToNumber(value));

export const headerJson = (order: Header): HeaderJson => ({
  purchaseOrderId: order.purchaseOrderId,
  poNumber: order.poNumber,
  poName: order.poName,
  status: order.status,
  previousStatus: order.previousStatus,
  supplierId: order.supplierId,
  supplierName: order.supplierName,
  locationId: order.locationId,
  locationName: order.locationName,
  currencyCode: order.currencyCode,
  fxRateOverride: rateOrNull(order.fxRateOverride),
  orderDate: order.orderDate,
  expectedDeliveryDate: order.expectedDeliveryDate,
  supplierReference: order.supplierReference,
  paymentTerms: order.paymentTerms,
  incoterm: order.incoterm,
  shippingCost: moneyOrNull(order.shippingCost),
  discountAmount: moneyOrNull(order.discountAmount),
  taxAmount: moneyOrNull(order.taxAmount),
  tags: [...order.tags],
  note: order.note,
  noteToSupplier: order.noteToSupplier,
  billingAddress: addressJson(order.billingAddress),
  shippingAddress: addressJson(order.shippingAddress),
  itemCount: order.itemCount,
  totalValue: moneyToNumber(order.totalValue),
  unpricedLineItemIds: [...order.unpricedLineItemIds],
  paidStatus: paidStatus(order),
  storefrontSyncState: order.storefrontSyncState,
  createdBy: order.createdBy,
  createdAt: instant(order.createdAtMs),
  updatedAt: instant(order.updatedAtMs),
  sentAt: instantOrNull(order.sentAtMs),
  confirmedAt: instantOrNull(order.confirmedAtMs),
  receivedAt: instantOrNull(order.receivedAtMs),
  completedAt: instantOrNull(order.completedAtMs),
  cancelledAt: instantOrNull(order.cancelledAtMs),
  version: order.version,
});

export const lineJson = (line: LineItem): LineJson => ({
  poLineItemId: line.poLineItemId,
  variantId: line.variantId,
  isCustom: isCustom(line),
  productName: line.productName,
  variantName: line.variantName,
  sku: line.sku,
  barcode: line.barcode,
  lineItemStatus: lineItemStatus(line),
  quantityOrdered: quantityToNumber(line.quantityOrdered),
  quantityConfirmed: quantityToNumber(line.quantityConfirmed),
  quantityReceived: quantityToNumber(line.quantityReceived),
  quantityRejected: quantityToNumber(line.quantityRejected),
  quantityCancelled: quantityToNumber(line.quantityCancelled),
  quantityPending: quantityToNumber(pendingQuantity(line)),
  quantitySynced: quantityToNumber(line.quantitySynced),
  unitCost: moneyToNumber(line.unitCost),
  unitCostCurrencyCode: line.unitCostCurrencyCode,
  lineTotal: moneyToNumber(lineTotal(line)),
  supplierSku: line.supplierSku,
  supplierBarcode: line.supplierBarcode,
  supplierProductName: line.supplierProductName,
  supplierProductUrl: line.supplierProductUrl,
  moq: quantityOrNull(line.moq),
  packSize: quantityOrNull(line.packSize),
  leadTimeDays: line.leadTimeDays,
  expectedDeliveryDate: line.expectedDeliveryDate,
  note: line.note,
  createdAt: instant(line.createdAtMs),
  updatedAt: instant(line.updatedAtMs),
});

export const purchaseOrderJson = (order: PurchaseOrder): PurchaseOrderJson => ({
  ...headerJson(order),
  lineItems: order.lineItems.map(lineJson),
});

/** The order's version as a validator (C37). */
export const etagOf = (order: Pick<Header, "version">): string => String(order.version);
