/**
 * Purchase orders in requests and answers: what a caller may set of an order and a line, and what is shown of them.
 *
 * Every field that a caller may set (core/order/purchase-order-fields.ts) has a row here, with its limits, its
 * description and an example. The members of requests follow from these rows, those of answers from core's tables. Does
 * not own: rules (core), which operation takes what (header.ts, lines.ts), payments, documents and other attachments of
 * an order (attachments.ts).
 */
import { only } from "../../core/order/guidance.ts";
import { z } from "zod";
import { isCustom, lineItemStatus, lineTotal, paidStatus, pendingQuantity } from "../../core/order/lines.ts";
import {
  fxRateDecimalsMax,
  fxRateFrom,
  fxRateMax,
  moneyToNumber,
  quantityDecimalsMax,
  quantityFrom,
  quantityMax,
  quantityToNumber,
} from "../../core/money/money.ts";
import type { Json } from "../../base/json.ts";
import {
  articleFields,
  headerFields,
  type headerUpdateFields,
  lineFields,
  storedHeaderFields,
  storedLineFields,
  supplierFields,
} from "../../core/order/purchase-order-fields.ts";
import {
  type Header,
  type LineItem,
  type OrderWithLines,
  bulkLinesMax,
  lineItemStatuses,
  paidStatuses,
  statuses,
  storefrontSyncStates,
} from "../../core/order/purchase-order.ts";
import {
  type InputField,
  type InputFields,
  described,
  fieldMembers,
  member,
  optionalMembers,
  renderer,
  schemasOf,
} from "../field-members.ts";
import {
  codeText,
  pathId,
  address,
  amount,
  currencyCode,
  day,
  decimal,
  exampleAddress,
  id,
  leadTimeDays,
  noRepeats,
  noteMax,
  positiveQuantity,
  productNameMax,
  quantity,
  shortTextMax,
  text,
  textOfLines,
  unitCost,
  urlMax,
} from "../fields.ts";

const poNameMax = 200;

export const tagMax = 60;

const tagsMax = 50;

const packSize = decimal((number) => number.min(1).max(quantityMax), quantityDecimalsMax, quantityFrom).meta({
  description: only("rest", "Units in one pack: at least 1, at most 3 decimals."),
});

export const fxRate = decimal((number) => number.positive().max(fxRateMax), fxRateDecimalsMax, fxRateFrom).meta({
  description: `What one unit of the order's currency is worth in the shop's currency${only("rest", "; at most 10 decimals")}.`,
});

const tags = z
  .array(text(tagMax))
  .max(tagsMax)
  .check(noRepeats((tag) => tag))
  .meta({ description: only("rest", `Free labels: at most ${tagsMax}, none twice.`), uniqueItems: true });

// Requests.

export const purchaseOrderId = pathId.meta({ description: only("rest", "Id of the purchase order.") });

export const lineItemId = id.meta({ description: only("rest", "Id of the line item (`poLineItemId` of an answer).") });

const headerFieldInputs = {
  poName: { input: text(poNameMax), description: only("rest", "The order's name."), example: "Next roast" },
  supplierId: { input: id, description: only("rest", "The supplier."), example: "sup_roastery" },
  supplierReference: {
    input: text(shortTextMax),
    description: "The supplier's own number for it.",
    example: "MAA-4268",
  },
  locationId: {
    input: id,
    description: `Where the goods go.${only("rest", " Needed before the order is sent; null only in Draft.")}`,
    example: "loc_warehouse",
  },
  orderDate: { input: day, description: only("rest", "Day of the order."), example: "2026-03-01" },
  expectedDeliveryDate: {
    input: day,
    description: only("rest", "Day it is expected, unless a line says otherwise."),
    example: "2026-03-07",
  },
  currencyCode: {
    input: currencyCode,
    description: `${only("rest", "The order's currency. Null or never given: the supplier's, else the shop's.")}${only("mcp", "Left out: the supplier's.")}`,
    example: "EUR",
  },
  paymentTerms: {
    input: text(shortTextMax),
    description: only("rest", "Payment terms, as agreed. Left out of a new order: the supplier's."),
    example: "14 days net",
  },
  incoterm: {
    input: text(shortTextMax),
    description: only("rest", "Delivery terms, as agreed. Left out of a new order: the supplier's."),
    example: "DAP",
  },
  shippingCost: {
    input: amount,
    description: only("rest", "In the order's currency; in grandTotal, not in totalValue."),
    example: 8.47,
  },
  discountAmount: {
    input: amount,
    description: only("rest", "In the order's currency; in grandTotal, not in totalValue."),
    example: null,
  },
  taxAmount: {
    input: amount,
    description: only("rest", "In the order's currency; in grandTotal, not in totalValue."),
    example: 19.05,
  },
  tags: { input: tags, example: ["weekly"] },
  note: { input: textOfLines(noteMax), description: "For the shop's own use.", example: "The usual order." },
  noteToSupplier: {
    input: textOfLines(noteMax),
    description: "For the supplier.",
    example: "Please deliver before noon.",
  },
  billingAddress: { input: address, example: exampleAddress },
  shippingAddress: { input: address, example: exampleAddress },
} as const satisfies InputFields<typeof headerFields>;

const headerUpdateFieldInputs = {
  fxRateOverride: { input: fxRate, example: null },
} as const satisfies InputFields<typeof headerUpdateFields>;

/** Limits, descriptions and examples of the supplier's side of an article. */
export const supplierFieldInputs = {
  supplierSku: {
    input: codeText,
    description: only("rest", "The supplier's SKU."),
    example: "RO-LIG-FIL-250G",
  },
  supplierBarcode: {
    input: codeText,
    description: only("rest", "The supplier's barcode."),
    example: "8719001002013",
  },
  supplierProductName: {
    input: text(productNameMax),
    description: only("rest", "The supplier's product name."),
    example: "Lighthouse Filter",
  },
  supplierProductUrl: {
    input: text(urlMax),
    description: only("rest", "The product at the supplier's."),
    example: "https://maasbrand.example/lighthouse-filter",
  },
  moq: { input: quantity, description: only("rest", "The supplier's minimum order quantity."), example: 12 },
  packSize: { input: packSize, example: 12 },
  leadTimeDays: { input: leadTimeDays, description: only("rest", "Days from order to delivery."), example: 14 },
} as const satisfies InputFields<typeof supplierFields>;

const lineFieldInputs = {
  expectedDeliveryDate: { input: day, description: only("rest", "Day this line is expected."), example: "2026-03-07" },
  note: { input: textOfLines(noteMax), example: "The usual order." },
} as const satisfies InputFields<typeof lineFields>;

/** A realistic value for each field, by name. */
export const fieldExamples: Readonly<Record<string, Json>> = Object.fromEntries(
  Object.entries<InputField<unknown>>({
    ...headerFieldInputs,
    ...headerUpdateFieldInputs,
    ...supplierFieldInputs,
    ...lineFieldInputs,
  }).map(([name, { example }]) => [name, example]),
);

/** Header fields of create and update; null clears (C30). */
export const headerInput = optionalMembers(headerFieldInputs);

/** Header fields of update only. */
export const headerUpdateInput = optionalMembers(headerUpdateFieldInputs);

/** The supplier's side of a line's article. */
export const supplierInput = optionalMembers(supplierFieldInputs);

/** Further fields of a line. */
export const lineFieldInput = optionalMembers(lineFieldInputs);

export const catalogueLineInput = z
  .strictObject({
    variantId: id.meta({ description: only("rest", "The catalogue variant to order; not one that begins CSTM-.") }),
    quantityOrdered: positiveQuantity,
    unitCost: unitCost.optional().meta({
      description: "Cost of one unit. Left out: that of the supplier's catalogue, else the variant's own, else 0.",
    }),
    unitCostCurrencyCode: currencyCode
      .nullable()
      .optional()
      .meta({
        description: only(
          "rest",
          "Currency of unitCost; null: the order's. Left out: the order's for a unitCost that is sent, else that of the cost found; one that is sent takes only a cost in it.",
        ),
      }),
    ...supplierInput,
    ...lineFieldInput,
  })
  .meta({
    id: "CatalogueLineInput",
    description: `${only("rest", "A line for a variant of the catalogue. ")}Supplier fields left out are those of the supplier's catalogue; null leaves one empty.`,
  });

/** Members of the one line that /line-items/custom takes (C32). */
export const customLineInput = {
  productName: text(productNameMax).meta({ description: only("rest", "What is ordered.") }),
  quantityOrdered: positiveQuantity,
  variantName: text(productNameMax).nullable().optional(),
  sku: codeText.nullable().optional(),
  barcode: codeText.nullable().optional(),
  unitCost: unitCost.optional().meta({ description: "Cost of one unit; 0 when left out." }),
  unitCostCurrencyCode: currencyCode
    .nullable()
    .optional()
    .meta({ description: only("rest", "Currency of unitCost. Null or left out: the order's.") }),
  ...supplierInput,
  ...lineFieldInput,
} as const;

export const catalogueLinesInput = z
  .array(catalogueLineInput)
  .min(1)
  .max(bulkLinesMax)
  .meta({ description: only("rest", `1 to ${bulkLinesMax} lines.`) });

// Answers. One row for each member, in the order of the answer.

const headerMembers = fieldMembers(storedHeaderFields);

/** Values that an order keeps of its day, as import records have them beside the header. */
const keptAnswer = {
  supplierLeadTimeDays: headerMembers.supplierLeadTimeDays,
  sentDate: headerMembers.sentDate,
} as const;

export const keptJson = renderer<Header, typeof keptAnswer>(keptAnswer);

const {
  poName,
  supplierId,
  supplierReference,
  locationId,
  orderDate,
  expectedDeliveryDate,
  currencyCode: orderCurrency,
  shippingCost,
  discountAmount,
  taxAmount,
  tags: orderTags,
  note,
  noteToSupplier,
  billingAddress,
  shippingAddress,
  ...furtherFields
} = fieldMembers(headerFields);

/** Identity, status, parties, dates, money, lines, notes. */
const headerAnswer = {
  purchaseOrderId: headerMembers.purchaseOrderId,
  poNumber: headerMembers.poNumber,
  poName,
  version: described(headerMembers.version, "Raised by every change."),
  status: member(z.enum(statuses), (order: Header) => order.status),
  previousStatus: member(
    z.enum(statuses).meta({ description: "The status before the latest move; Draft on a new order." }),
    (order: Header) => order.previousStatus,
  ),
  paidStatus: member(z.enum(paidStatuses), paidStatus),
  storefrontSyncState: member(z.enum(storefrontSyncStates), (order: Header) => order.storefrontSyncState),
  supplierId,
  supplierName: member(z.string().nullable(), (order: Header) => order.supplierName),
  supplierReference,
  locationId,
  locationName: member(z.string().nullable(), (order: Header) => order.locationName),
  orderDate,
  expectedDeliveryDate,
  nextExpectedDate: described(
    headerMembers.nextExpectedDate,
    "Earliest date of the receipt schedule on which something is still to come; null when nothing is.",
  ),
  createdBy: headerMembers.createdBy,
  createdAt: headerMembers.createdAtMs,
  updatedAt: headerMembers.updatedAtMs,
  sentAt: headerMembers.sentAtMs,
  confirmedAt: headerMembers.confirmedAtMs,
  receivedAt: headerMembers.receivedAtMs,
  completedAt: headerMembers.completedAtMs,
  cancelledAt: headerMembers.cancelledAtMs,
  currencyCode: orderCurrency,
  fxRateOverride: described(headerMembers.fxRateOverride, "Order currency to shop currency."),
  fxRates: described(
    headerMembers.fxRates,
    "The order's own exchange rates, by currency, to the shop's currency: the shop's as they were when it left Draft.",
  ),
  ...furtherFields,
  totalValue: described(
    headerMembers.totalValue,
    "Ordered quantities, less cancelled ones, at their unit costs, in the order's currency.",
  ),
  shippingCost,
  discountAmount,
  taxAmount,
  grandTotal: described(
    headerMembers.grandTotal,
    "What is owed: received and pending quantities at their unit costs + shippingCost + taxAmount − discountAmount, not below 0.",
  ),
  unpricedLineItemIds: described(
    headerMembers.unpricedLineItemIds,
    "Lines left out of totalValue and grandTotal: no exchange rate is known for their currency.",
  ),
  itemCount: described(headerMembers.itemCount, "Number of lines."),
  quantityOrdered: described(headerMembers.quantityOrdered, "Sum over the lines."),
  quantityConfirmed: described(headerMembers.quantityConfirmed, "Sum over the lines."),
  quantityReceived: described(headerMembers.quantityReceived, "Sum over the lines."),
  quantityPending: described(headerMembers.quantityPending, "Still to come, over all lines."),
  tags: orderTags,
  note,
  noteToSupplier,
  billingAddress,
  shippingAddress,
} as const;

export const headerSchema = z
  .strictObject(schemasOf(headerAnswer))
  .meta({ id: "PurchaseOrderHeader", description: "A purchase order without its lines." });

export const headerJson = renderer<Header, typeof headerAnswer>(headerAnswer);

const lineMembers = fieldMembers(storedLineFields);

const lineAnswer = {
  poLineItemId: described(
    lineMembers.poLineItemId,
    only("rest", "Requests call it lineItemId (itemId in resolutions)."),
  ),
  variantId: lineMembers.variantId,
  isCustom: member(z.boolean(), isCustom),
  ...fieldMembers(articleFields),
  lineItemStatus: member(z.enum(lineItemStatuses), lineItemStatus),
  quantityOrdered: lineMembers.quantityOrdered,
  quantityConfirmed: described(
    lineMembers.quantityConfirmed,
    "0: unconfirmed. Below quantityOrdered: confirmed short.",
  ),
  quantityReceived: lineMembers.quantityReceived,
  quantityRejected: lineMembers.quantityRejected,
  quantityCancelled: lineMembers.quantityCancelled,
  quantityPending: member(z.number().meta({ description: "Still to come." }), (line: LineItem) =>
    quantityToNumber(pendingQuantity(line)),
  ),
  quantitySynced: described(lineMembers.quantitySynced, "How much of the received quantity the storefront has."),
  unitCost: lineMembers.unitCost,
  unitCostCurrencyCode: lineMembers.unitCostCurrencyCode,
  lineTotal: member(
    z.number().meta({ description: "quantityOrdered − quantityCancelled at unitCost, in the line's currency." }),
    (line: LineItem) => moneyToNumber(lineTotal(line)),
  ),
  ...fieldMembers(supplierFields),
  ...fieldMembers(lineFields),
  createdAt: lineMembers.createdAtMs,
  updatedAt: lineMembers.updatedAtMs,
} as const;

export const lineSchema = z
  .strictObject(schemasOf(lineAnswer))
  .meta({ id: "PurchaseOrderLineItem", description: "A line of a purchase order." });

export const lineJson = renderer<LineItem, typeof lineAnswer>(lineAnswer);

export const purchaseOrderSchema = z
  .strictObject({ ...headerSchema.shape, lineItems: z.array(lineSchema) })
  .meta({ id: "PurchaseOrder", description: "A purchase order with its lines." });

/** A line that a bulk call left as it was. */
export const lineFailureSchema = z
  .strictObject({
    lineItemId: z.string(),
    reason: z.string().meta({ description: "A stable machine word." }),
    message: z.string(),
  })
  .meta({ id: "LineFailure", description: "A line that the call left as it was, and why." });

export const purchaseOrderJson = (order: OrderWithLines): z.output<typeof purchaseOrderSchema> => ({
  ...headerJson(order),
  lineItems: order.lineItems.map(lineJson),
});

/** The order's version as its ETag (C37). */
export const etagOf = (order: Pick<Header, "version">): string => String(order.version);
