/**
 * The parts of an order's import record beside header and lines: payments, documents, shipments, credits, log, receipts
 * and cost history (contract §8). Each schema parses into the value that is stored.
 */
import { z } from "zod";
import { type Actor, actorTypes } from "../../core/access/actor.ts";
import {
  type AppliedCredit,
  type OrderDocument,
  type Payment,
  type Shipment,
  documentTypes,
  paymentStatuses,
  paymentTypes,
  shipmentStatuses,
} from "../../core/order/attachments.ts";
import { fxRateToNumber, moneyToNumber, quantityToNumber, zeroQuantity } from "../../core/money/money.ts";
import { plainTextProblem } from "../../base/text/plain-text.ts";
import { type FieldChange, linesPerOrderMax } from "../../core/order/purchase-order.ts";
import type { CostLot } from "../../core/storefront/cost-lots.ts";
import {
  amount,
  currencyCode,
  day,
  id,
  noRepeats,
  noteMax,
  plain,
  quantity,
  text,
  textOfLines,
  unitCost,
  urlMax,
} from "../../operations/fields.ts";
import { costRowJson } from "../../operations/purchase-orders/attachments.ts";
import { fxRate } from "../../operations/purchase-orders/json.ts";
import type { CostSyncEntry, LogEntry, Receipt } from "../../shop/order/purchase-order-history.ts";
import type { ImportStamp } from "../../shop/order/purchase-orders.ts";
import type { Ids } from "../../base/time/clock.ts";
import { historyMax, instantMs, optional, ownTextMax, ownText, shortText, signedQuantity } from "../record-type.ts";

export const paymentInput = z
  .strictObject({
    paymentId: id,
    paymentName: optional(shortText),
    paymentType: z.enum(paymentTypes).default("other"),
    status: z.enum(paymentStatuses),
    amount,
    currencyCode,
    dueDate: optional(day),
    paidAt: optional(instantMs),
    paymentMethod: optional(shortText),
    reference: optional(shortText),
    note: optional(textOfLines(noteMax)),
    createdAt: instantMs,
    createdBy: optional(shortText),
  })
  .transform(({ paidAt, createdAt, ...payment }): Payment => ({
    ...payment,
    paidAtMs: paidAt,
    createdAtMs: createdAt,
  }));

export const documentInput = z
  .strictObject({
    documentId: id,
    fileName: shortText,
    contentType: optional(shortText),
    fileSizeBytes: optional(z.int().min(0)),
    documentType: z.enum(documentTypes).default("other"),
    version: z.int().min(1).default(1),
    uploadedAt: instantMs,
    uploadedBy: optional(shortText),
  })
  .transform(({ uploadedAt, ...document }): OrderDocument => ({ ...document, uploadedAtMs: uploadedAt }));

const allocationInput = z.strictObject({
  poLineItemId: id,
  variantId: id,
  quantityAllocated: quantity,
  quantityReceived: quantity.default(zeroQuantity),
  quantityRejected: quantity.default(zeroQuantity),
});

export const shipmentInput = z
  .strictObject({
    shipmentId: id,
    shipmentNumber: optional(shortText),
    status: z.enum(shipmentStatuses),
    carrier: optional(shortText),
    shippingMethod: optional(shortText),
    trackingNumber: optional(shortText),
    trackingUrl: optional(text(urlMax)),
    shippedDate: optional(day),
    expectedArrivalDate: optional(day),
    receivedDate: optional(day),
    shippingCost: optional(amount),
    currencyCode: optional(currencyCode),
    note: optional(textOfLines(noteMax)),
    lineAllocations: z
      .array(allocationInput)
      .max(linesPerOrderMax)
      .check(noRepeats((allocation) => allocation.poLineItemId, "poLineItemId"))
      .default([]),
  })
  .transform((shipment): Shipment => shipment);

export const creditInput = z
  .strictObject({
    creditId: id,
    creditNumber: optional(shortText),
    amountApplied: amount,
    currencyCode,
    appliedAt: instantMs,
  })
  .transform(({ appliedAt, ...credit }): AppliedCredit => ({ ...credit, appliedAtMs: appliedAt }));

/** Value of a field in the log: any JSON, its texts plain. */
const loggedValue = z.unknown().check((context) => {
  for (const { path, text } of textsIn(context.value)) {
    const message = plainTextProblem(text, "lines");
    if (message !== null) context.issues.push({ code: "custom", input: context.value, path, message });
  }
});

function* textsIn(
  value: unknown,
  path: (string | number)[] = [],
): Generator<{ path: (string | number)[]; text: string }> {
  if (typeof value === "string") yield { path, text: value };
  else if (typeof value === "object" && value !== null)
    for (const [name, inside] of Object.entries(value)) yield* textsIn(inside, [...path, name]);
}

const actorInput = z
  .strictObject({
    type: z.enum(actorTypes),
    id: optional(ownText),
    name: optional(ownText),
    keyId: id.optional(),
  })
  .transform(({ keyId, ...actor }): Actor => (keyId === undefined ? actor : { ...actor, keyId }));

export const logInput = z
  .strictObject({
    logId: id,
    occurredAt: instantMs,
    action: shortText,
    message: z.string().max(ownTextMax).check(plain("lines")),
    actor: actorInput,
    approvedBy: actorInput.optional(),
    operation: optional(ownText),
    requestId: optional(ownText),
    origin: z.literal("import").optional(),
    changes: z
      .array(
        z
          .strictObject({ field: ownText, poLineItemId: optional(id), before: loggedValue, after: loggedValue })
          .transform(({ field, poLineItemId, before, after }) => ({
            field,
            poLineItemId,
            before: before ?? null,
            after: after ?? null,
          })),
      )
      .max(historyMax)
      .default([]),
  })
  .transform(({ occurredAt, ...entry }): LogEntry => ({ ...entry, occurredAtMs: occurredAt }));

/** Somebody whom a file names: nothing shows that it was the key or the person with that id. */
const namedOnly = ({ type, name }: Actor): Actor => ({ type, id: null, name });

/**
 * Entries of a file that a person of the shop imports. They are marked, and stand under no key's and no person's id:
 * nothing shows that these have done it.
 */
export const importedEntries = (entries: readonly LogEntry[]): LogEntry[] =>
  entries.map((entry) => ({
    ...entry,
    actor: namedOnly(entry.actor),
    ...(entry.approvedBy === undefined ? {} : { approvedBy: namedOnly(entry.approvedBy) }),
    origin: "import",
  }));

/** The log entry of a record that a person's record replaces. */
export const replacedByImport = (
  { actor, requestId }: ImportStamp,
  changes: readonly FieldChange[],
  { ids, nowMs }: { readonly ids: Ids; readonly nowMs: number },
): LogEntry => ({
  logId: ids.next("log"),
  occurredAtMs: nowMs,
  action: "import",
  message: "Replaced by import.",
  actor,
  operation: "shop_import",
  requestId,
  changes,
});

export const receiptInput = z
  .strictObject({
    receiptId: id,
    receivedAt: instantMs,
    recordedBy: optional(ownText),
    source: z.enum(["receive", "unreceive", "quick-complete"]),
    reason: optional(ownText),
    requestId: optional(ownText),
    lines: z
      .array(
        z.strictObject({
          poLineItemId: id,
          variantId: id,
          quantityDelta: signedQuantity,
          quantityReceivedAfter: quantity,
        }),
      )
      .max(linesPerOrderMax),
  })
  .transform(({ receivedAt, ...receipt }): Receipt => ({ ...receipt, receivedAtMs: receivedAt }));

/** Lot that entered or left the moving average. No answer of the API shows it. */
const lotInput = z
  .strictObject({
    poLineItemId: id,
    enteredQuantity: signedQuantity,
    enteredCost: unitCost,
    enteredCurrencyCode: currencyCode,
    enteredRate: fxRate,
  })
  .transform((lot): CostLot => ({
    poLineItemId: lot.poLineItemId,
    quantity: lot.enteredQuantity,
    unitCost: lot.enteredCost,
    currencyCode: lot.enteredCurrencyCode,
    fxRate: lot.enteredRate,
  }));

export const costSyncInput = z
  .strictObject({
    costSyncId: id,
    variantId: id,
    poLineItemId: id,
    previousUnitCost: optional(unitCost),
    proposedUnitCost: unitCost,
    currencyCode,
    sourceUnitCost: unitCost,
    sourceCurrencyCode: currencyCode,
    fxRate,
    fxSource: z.enum(["override", "shop-rate", "same-currency"]),
    outcome: z.enum(["proposed", "applied", "skipped", "failed"]),
    reason: optional(ownText),
    attempt: z.int().min(1).default(1),
    completion: z.int().min(0).default(1),
    proposedAt: instantMs,
    resolvedAt: optional(instantMs),
    lots: optional(z.array(lotInput).max(linesPerOrderMax)),
  })
  .transform(({ proposedAt, resolvedAt, ...row }): CostSyncEntry => ({
    ...row,
    proposedAtMs: proposedAt,
    resolvedAtMs: resolvedAt,
  }));

/**
 * A row of the cost history as the API shows it, the completion that it belongs to, and what entered the moving average
 * with it.
 */
export const costSyncRecord = (row: CostSyncEntry) => ({
  ...costRowJson(row),
  completion: row.completion,
  lots:
    row.lots?.map((lot) => ({
      poLineItemId: lot.poLineItemId,
      enteredQuantity: quantityToNumber(lot.quantity),
      enteredCost: moneyToNumber(lot.unitCost),
      enteredCurrencyCode: lot.currencyCode,
      enteredRate: fxRateToNumber(lot.fxRate),
    })) ?? null,
});
