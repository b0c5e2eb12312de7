/**
 * Attachments of an order in answers: payments, documents, shipments, addresses, the receipt schedule, receipts, cost
 * history, log and credits. A schema for each, and the function that makes it from the program's own values.
 */
import { z } from "zod";
import { actorTypes } from "../../core/access/actor.ts";
import {
  type AppliedCredit,
  type OrderDocument,
  type Payment,
  type ScheduleRow,
  type Shipment,
  type SupplierCredit,
  dateSources,
  documentTypes,
  paymentStatuses,
  paymentTypes,
  scheduleStatuses,
  shipmentStatuses,
} from "../../core/order/attachments.ts";
import { fxRateToNumber, moneyToNumber, quantityToNumber, moneyToNumberOrNull } from "../../core/money/money.ts";
import type { CostSyncEntry, LogEntry, Receipt } from "../../shop/order/purchase-order-history.ts";
import { addressSchema, dateSchema, instant, instantOrNull, instantSchema } from "../fields.ts";

export const paymentSchema = z
  .strictObject({
    paymentId: z.string(),
    paymentName: z.string().nullable(),
    paymentType: z.enum(paymentTypes),
    status: z.enum(paymentStatuses),
    amount: z.number(),
    currencyCode: z.string(),
    dueDate: dateSchema.nullable(),
    paidAt: instantSchema.nullable(),
    paymentMethod: z.string().nullable(),
    reference: z.string().nullable(),
    note: z.string().nullable(),
    createdAt: instantSchema,
    createdBy: z.string().nullable(),
  })
  .meta({ id: "Payment", description: "A payment for the order." });

export const paymentJson = ({
  amount,
  paidAtMs,
  createdAtMs,
  ...payment
}: Payment): z.output<typeof paymentSchema> => ({
  ...payment,
  amount: moneyToNumber(amount),
  paidAt: instantOrNull(paidAtMs),
  createdAt: instant(createdAtMs),
});

export const documentSchema = z
  .strictObject({
    documentId: z.string(),
    fileName: z.string(),
    contentType: z.string().nullable(),
    fileSizeBytes: z.int().nullable(),
    documentType: z.enum(documentTypes),
    version: z.int(),
    uploadedAt: instantSchema,
    uploadedBy: z.string().nullable(),
  })
  .meta({ id: "Document", description: "Metadata of a document." });

export const documentJson = ({ uploadedAtMs, ...document }: OrderDocument): z.output<typeof documentSchema> => ({
  ...document,
  uploadedAt: instant(uploadedAtMs),
});

export const shipmentSchema = z
  .strictObject({
    shipmentId: z.string(),
    shipmentNumber: z.string().nullable(),
    status: z.enum(shipmentStatuses),
    carrier: z.string().nullable(),
    shippingMethod: z.string().nullable(),
    trackingNumber: z.string().nullable(),
    trackingUrl: z.string().nullable(),
    shippedDate: dateSchema.nullable(),
    expectedArrivalDate: dateSchema.nullable(),
    receivedDate: dateSchema.nullable(),
    shippingCost: z.number().nullable(),
    currencyCode: z.string().nullable(),
    note: z.string().nullable(),
    lineAllocations: z.array(
      z
        .strictObject({
          poLineItemId: z.string(),
          variantId: z.string(),
          quantityAllocated: z.number(),
          quantityReceived: z.number(),
          quantityRejected: z.number(),
        })
        .meta({ description: "How much of a line the shipment carries." }),
    ),
  })
  .meta({ id: "Shipment", description: "A shipment of the order." });

export const shipmentJson = ({
  shippingCost,
  lineAllocations,
  ...shipment
}: Shipment): z.output<typeof shipmentSchema> => ({
  ...shipment,
  shippingCost: moneyToNumberOrNull(shippingCost),
  lineAllocations: lineAllocations.map((allocation) => ({
    ...allocation,
    quantityAllocated: quantityToNumber(allocation.quantityAllocated),
    quantityReceived: quantityToNumber(allocation.quantityReceived),
    quantityRejected: quantityToNumber(allocation.quantityRejected),
  })),
});

export const addressesSchema = z
  .strictObject({ billingAddress: addressSchema.nullable(), shippingAddress: addressSchema.nullable() })
  .meta({ description: "The order's addresses." });

export const scheduleRowSchema = z
  .strictObject({
    scheduleId: z.string(),
    poLineItemId: z.string(),
    variantId: z.string(),
    locationId: z.string().nullable(),
    shipmentId: z.string().nullable(),
    expectedDate: dateSchema.nullable(),
    dateSource: z.enum(dateSources).nullable().meta({ description: "Where the date is taken from." }),
    quantityExpected: z.number(),
    quantityReceived: z.number(),
    quantityPending: z.number(),
    status: z.enum(scheduleStatuses),
  })
  .meta({ id: "ReceiptScheduleRow", description: "One expected arrival of one line." });

export const scheduleRowJson = (row: ScheduleRow): z.output<typeof scheduleRowSchema> => ({
  ...row,
  quantityExpected: quantityToNumber(row.quantityExpected),
  quantityReceived: quantityToNumber(row.quantityReceived),
  quantityPending: quantityToNumber(row.quantityPending),
});

export const receiptSchema = z
  .strictObject({
    receiptId: z.string(),
    receivedAt: instantSchema,
    recordedBy: z.string().nullable(),
    source: z.enum(["receive", "unreceive", "quick-complete"]),
    reason: z.string().nullable().meta({ description: "Why goods were taken back, where that was said." }),
    requestId: z.string().nullable(),
    lines: z.array(
      z
        .strictObject({
          poLineItemId: z.string(),
          variantId: z.string(),
          quantityDelta: z.number().meta({ description: "Negative when goods were taken back." }),
          quantityReceivedAfter: z.number(),
        })
        .meta({ description: "What changed on a line." }),
    ),
  })
  .meta({ id: "Receipt", description: "A record of goods received or taken back." });

export const receiptJson = ({ receivedAtMs, lines, ...receipt }: Receipt): z.output<typeof receiptSchema> => ({
  ...receipt,
  receivedAt: instant(receivedAtMs),
  lines: lines.map((line) => ({
    ...line,
    quantityDelta: quantityToNumber(line.quantityDelta),
    quantityReceivedAfter: quantityToNumber(line.quantityReceivedAfter),
  })),
});

export const costRowSchema = z
  .strictObject({
    costSyncId: z.string(),
    variantId: z.string(),
    poLineItemId: z.string(),
    previousUnitCost: z.number().nullable(),
    proposedUnitCost: z.number().meta({ description: "In the shop's currency." }),
    currencyCode: z.string(),
    sourceUnitCost: z.number().meta({ description: "The line's cost, in its own currency." }),
    sourceCurrencyCode: z.string(),
    fxRate: z.number(),
    fxSource: z.enum(["override", "shop-rate", "same-currency"]),
    outcome: z.enum(["proposed", "applied", "skipped", "failed"]).meta({
      description: "A row that is proposed or failed may still have been applied.",
    }),
    reason: z.string().nullable().meta({
      description: "Why it was skipped or has failed, or of which order a cost has replaced it since it was applied.",
    }),
    attempt: z.int(),
    proposedAt: instantSchema,
    resolvedAt: instantSchema.nullable(),
  })
  .meta({ id: "CostSyncRow", description: "A unit cost that the order proposed, and what became of it." });

export const costRowJson = (entry: CostSyncEntry): z.output<typeof costRowSchema> => ({
  costSyncId: entry.costSyncId,
  variantId: entry.variantId,
  poLineItemId: entry.poLineItemId,
  previousUnitCost: moneyToNumberOrNull(entry.previousUnitCost),
  proposedUnitCost: moneyToNumber(entry.proposedUnitCost),
  currencyCode: entry.currencyCode,
  sourceUnitCost: moneyToNumber(entry.sourceUnitCost),
  sourceCurrencyCode: entry.sourceCurrencyCode,
  fxRate: fxRateToNumber(entry.fxRate),
  fxSource: entry.fxSource,
  outcome: entry.outcome,
  reason: entry.reason,
  attempt: entry.attempt,
  proposedAt: instant(entry.proposedAtMs),
  resolvedAt: instantOrNull(entry.resolvedAtMs),
});

const actorSchema = z.strictObject({
  type: z.enum(actorTypes),
  id: z.string().nullable(),
  name: z.string().nullable(),
  keyId: z
    .string()
    .optional()
    .meta({ description: "The API key by which the person had signed in; absent for everybody else." }),
});

export const logEntrySchema = z
  .strictObject({
    logId: z.string(),
    occurredAt: instantSchema,
    action: z.string().meta({ description: "A stable machine word." }),
    message: z.string(),
    actor: actorSchema.meta({ description: "Who did it." }),
    approvedBy: actorSchema
      .optional()
      .meta({ description: "Who has approved it; absent where it needed no approval." }),
    operation: z.string().nullable(),
    requestId: z.string().nullable(),
    origin: z.literal("import").optional().meta({
      description: "From a file that a person of the shop has imported; absent where it was written when it happened.",
    }),
    changes: z.array(
      z
        .strictObject({
          field: z.string(),
          poLineItemId: z.string().nullable().meta({ description: "Null for a field of the header." }),
          before: z.unknown(),
          after: z.unknown(),
        })
        .meta({ description: "A field that changed." }),
    ),
  })
  .meta({ id: "LogEntry", description: "What was done to the order." });

/** Who did it, as an answer shows it. */
export const shownActor = ({ keyId, ...actor }: LogEntry["actor"]): z.output<typeof logEntrySchema>["actor"] =>
  keyId === undefined || keyId === null ? actor : { ...actor, keyId };

export const logEntryJson = ({
  occurredAtMs,
  actor,
  approvedBy,
  changes,
  origin,
  ...entry
}: LogEntry): z.output<typeof logEntrySchema> => ({
  ...entry,
  ...(origin === undefined ? {} : { origin }),
  occurredAt: instant(occurredAtMs),
  actor: shownActor(actor),
  ...(approvedBy === undefined ? {} : { approvedBy: shownActor(approvedBy) }),
  changes: changes.map((change) => ({ ...change })),
});

export const appliedCreditSchema = z
  .strictObject({
    creditId: z.string(),
    creditNumber: z.string().nullable(),
    amountApplied: z.number(),
    currencyCode: z.string(),
    appliedAt: instantSchema,
  })
  .meta({ description: "A credit as far as it was applied to this order." });

export const appliedCreditJson = ({
  amountApplied,
  appliedAtMs,
  ...credit
}: AppliedCredit): z.output<typeof appliedCreditSchema> => ({
  ...credit,
  amountApplied: moneyToNumber(amountApplied),
  appliedAt: instant(appliedAtMs),
});

export const availableCreditSchema = z
  .strictObject({
    creditId: z.string(),
    creditNumber: z.string().nullable(),
    supplierId: z.string(),
    creditDate: dateSchema.nullable(),
    amount: z.number(),
    balance: z.number(),
    currencyCode: z.string(),
    reason: z.string().nullable(),
  })
  .meta({ description: "A credit of the order's supplier with something left." });

export const availableCreditJson = (credit: SupplierCredit): z.output<typeof availableCreditSchema> => ({
  ...credit,
  amount: moneyToNumber(credit.amount),
  balance: moneyToNumber(credit.balance),
});
