/**
 * What goes over the wire about purchase orders, in both directions: zod building blocks that parse input straight into core
 * values, and the way from core to JSON.
 *
 * Owns: names, limits and formats of fields (contract §9, C11, C14). Does not own: rules over them (core) or which operation
 * takes what. Every object is strict, every nullable field of an answer is there as null. `query` in a schema's metadata says
 * how its query parameter is spelled: `string`, `integer`, `boolean`, `list` (comma-separated) or `repeatable-list`.
 * `body` in the metadata of an operation's input is what JSON Schema can say of the whole body beside its members.
 */
import { z } from "zod";
import { isCustom, lineItemStatus, lineTotal, paidStatus, pendingQuantity } from "../core/lines.ts";
import {
  type FxRate,
  fxRateFrom,
  fxRateMax,
  fxRateToNumber,
  type Money,
  moneyFrom,
  moneyToNumber,
  type Quantity,
  quantityFrom,
  quantityMax,
  quantityToNumber,
  totalValueMax,
  unitCostMax,
} from "../core/money.ts";
import {
  type Address,
  bulkLinesMax,
  type Header,
  type LineItem,
  lineItemStatuses,
  paidStatuses,
  type PurchaseOrder,
  statuses,
  storefrontSyncStates,
} from "../core/purchase-order.ts";

// Limits, in characters unless said otherwise.

export const idMax = 200;
export const poNameMax = 200;
/** References, terms, SKUs, barcodes, names of people and places. */
export const shortTextMax = 200;
export const productNameMax = 500;
export const urlMax = 2_000;
export const noteMax = 5_000;
export const tagMax = 60;
export const tagsMax = 50;
export const searchMax = 200;
/** Of the JSON text. */
export const supplierVariantDetailsMax = 10_000;
export const leadTimeDaysMax = 3_650;
/** Ids, statuses or other values in one query parameter. */
export const listParameterMax = 500;
export const pageSizeMax = 50;
export const pageSizeDefault = 50;

// Scalars of input. Each parses into its core value.

/** An exact decimal that core can hold; `parse` answers null for too many decimals. */
const decimal = <T>(schema: z.ZodNumber, decimals: number, parse: (value: number) => T | null) =>
  schema.transform((value, context): T => {
    const parsed = parse(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: "custom", message: `must have at most ${decimals} decimals` });
    return z.NEVER;
  });

/** ≥ 0, at most 3 decimals. */
export const quantity = decimal(z.number().min(0).max(quantityMax), 3, quantityFrom).meta({
  description: "A quantity: at least 0, at most 3 decimals.",
});
/** > 0, at most 3 decimals. */
export const positiveQuantity = decimal(z.number().positive().max(quantityMax), 3, quantityFrom).meta({
  description: "A quantity: above 0, at most 3 decimals.",
});
const packSize = decimal(z.number().min(1).max(quantityMax), 3, quantityFrom).meta({
  description: "Units in one pack: at least 1, at most 3 decimals.",
});
export const unitCost = decimal(z.number().min(0).max(unitCostMax), 4, moneyFrom).meta({
  description: "A cost of one unit: at least 0, at most 4 decimals.",
});
export const amount = decimal(z.number().min(0).max(totalValueMax), 4, moneyFrom).meta({
  description: "An amount of money: at least 0, at most 4 decimals.",
});
export const fxRate = decimal(z.number().positive().max(fxRateMax), 10, fxRateFrom).meta({
  description: "What one unit of the order's currency is worth in the shop's currency; at most 10 decimals.",
});
export const leadTimeDays = z.int().min(0).max(leadTimeDaysMax);
/** A day, `YYYY-MM-DD`. */
export const day = z.iso.date();
export const currencyCode = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be a currency code of three capital letters, like EUR")
  .meta({ description: "ISO 4217 currency code.", example: "EUR" });
/** Opaque; whatever form it came in with. */
export const id = z.string().min(1).max(idMax);
export const text = (max: number) =>
  z.string().min(1, "must not be empty; leave it out, or send null to clear it").max(max);

const tags = z
  .array(text(tagMax))
  .max(tagsMax)
  .check(noRepeats((tag) => tag))
  .meta({ description: `Free labels: at most ${tagsMax}, none twice.`, uniqueItems: true });

/** Refuses an array in which two entries have the same key (C15); undefined is none. `member` is where in an entry the key stands. */
export function noRepeats<T>(keyOf: (entry: T) => string | undefined, member?: string) {
  return (context: z.core.ParsePayload<readonly T[]>): void => {
    const seen = new Set<string>();
    for (const [index, entry] of context.value.entries()) {
      const key = keyOf(entry);
      if (key === undefined) continue;
      if (seen.has(key))
        context.issues.push({
          code: "custom",
          input: context.value,
          path: member === undefined ? [index] : [index, member],
          message: `${key} is given twice`,
        });
      seen.add(key);
    }
  };
}

const addressLine = text(shortTextMax).nullable().default(null);
export const address = z
  .strictObject({
    companyName: addressLine,
    contactName: addressLine,
    address1: addressLine,
    address2: addressLine,
    city: addressLine,
    province: addressLine,
    provinceCode: addressLine,
    country: addressLine,
    countryCode: z
      .string()
      .regex(/^[A-Z]{2}$/, "must be a country code of two capital letters, like NL")
      .nullable()
      .default(null),
    zip: addressLine,
    phone: addressLine,
    email: addressLine,
  })
  .meta({
    id: "AddressInput",
    description: "A postal address. It is replaced as a whole: members left out become null.",
  });

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

// Query parameters.

export const limit = z
  .int()
  .min(1)
  .max(pageSizeMax)
  .default(pageSizeDefault)
  .meta({ description: `Rows of one page, 1 to ${pageSizeMax}.`, query: "integer" });
/** For lists that belong to one order: everything when it is not given (contract §9). */
export const optionalLimit = z
  .int()
  .min(1)
  .max(pageSizeMax)
  .optional()
  .meta({ description: `Rows of one page, 1 to ${pageSizeMax}; all rows when left out.`, query: "integer" });
export const cursor = z
  .string()
  .min(1)
  .optional()
  .meta({ description: "`cursor` of the previous page, unchanged, with the same filters.", query: "string" });
export const textParameter = (description: string) => id.optional().meta({ description, query: "string" });
/** One value or several, separated by commas. */
export const listParameter = <T extends z.ZodType<string>>(entry: T, description: string) =>
  z
    .array(entry)
    .min(1)
    .max(listParameterMax)
    .optional()
    .meta({ description: `${description} One value, or several separated by commas.`, query: "list" });

const dayMs = 86_400_000;
/** An RFC 3339 instant with its offset and nanoseconds, and some. */
const instantLengthMax = 40;
const dayOrInstant = z.union([day, z.iso.datetime({ offset: true }).max(instantLengthMax)], {
  error: "must be a day (YYYY-MM-DD) or an RFC 3339 instant",
});

/** From this day's beginning (UTC), or this instant, on: milliseconds, inclusive (C13). */
export const dateFrom = dayOrInstant
  .transform((value) => Date.parse(value))
  .optional()
  .meta({ description: "The first day (UTC) or instant.", query: "string", example: "2026-01-01" });
/** To this day's end (UTC), or this instant, itself included: milliseconds, exclusive (C13). */
export const dateTo = dayOrInstant
  .transform((value) => Date.parse(value) + (value.length === "YYYY-MM-DD".length ? dayMs : 1))
  .optional()
  .meta({ description: "The last day (UTC) or instant, included.", query: "string", example: "2026-12-31" });

/** Refuses a range that ends before it begins. */
export const orderedRange = (
  context: z.core.ParsePayload<{ readonly dateFrom?: number | undefined; readonly dateTo?: number | undefined }>,
): void => {
  const { dateFrom, dateTo } = context.value;
  if (dateFrom !== undefined && dateTo !== undefined && dateFrom >= dateTo)
    context.issues.push({
      code: "custom",
      input: context.value,
      path: ["dateTo"],
      message: "must not be before dateFrom",
    });
};

// Answers.

export const instantSchema = z.iso
  .datetime({ precision: 3 })
  .meta({ description: "RFC 3339, UTC, milliseconds.", example: "2026-03-01T09:30:00.000Z" });
export const dateSchema = z.iso.date().meta({ description: "YYYY-MM-DD." });

export const addressSchema = z
  .strictObject({
    companyName: z.string().nullable(),
    contactName: z.string().nullable(),
    address1: z.string().nullable(),
    address2: z.string().nullable(),
    city: z.string().nullable(),
    province: z.string().nullable(),
    provinceCode: z.string().nullable(),
    country: z.string().nullable(),
    countryCode: z.string().nullable(),
    zip: z.string().nullable(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
  })
  .meta({ id: "Address", description: "A postal address." });

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

/** The members that every list answers beside its rows. */
export const pageShape = {
  totalCount: z.int().meta({ description: "Rows over all pages." }),
  cursor: z.string().nullable().meta({ description: "For the next page; null on the last." }),
} as const;

// From core to JSON.

export const instant = (ms: number): string => new Date(ms).toISOString();
export const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));
export const moneyOrNull = (value: Money | null): number | null => (value === null ? null : moneyToNumber(value));
export const quantityOrNull = (value: Quantity | null): number | null =>
  value === null ? null : quantityToNumber(value);
const rateOrNull = (value: FxRate | null): number | null => (value === null ? null : fxRateToNumber(value));
export const addressJson = (value: Address | null): z.output<typeof addressSchema> | null =>
  value === null ? null : { ...value };

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
