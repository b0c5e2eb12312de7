/**
 * Import and export records of transfer orders (contract §8, §9).
 */
import { z } from "zod";
import { type Address, linesPerOrderMax } from "../../core/order/purchase-order.ts";
import { requestedValue, transferOrderStatuses, transferTotals } from "../../core/stock/transfer-orders.ts";
import {
  codeText,
  address,
  currencyCode,
  day,
  id,
  noRepeats,
  noteMax,
  positiveQuantity,
  textOfLines,
  unitCost,
} from "../../operations/fields.ts";
import { documentJson, logEntryJson, shipmentJson } from "../../operations/purchase-orders/attachments.ts";
import { transferAddressesJson, transferHeaderJson, transferLineJson } from "../../operations/transfer-orders.ts";
import {
  type TransferOrder,
  loadLocationAddresses,
  transferDocuments,
  transferLines,
  transferLog,
  transferOrderStatements,
  transferOrderTable,
  transferShipments,
} from "../../shop/stock/transfer-orders.ts";
import { documentInput, shipmentInput } from "./attachments.ts";
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
import { type ApplyContext, attachmentsMax, derived, instantMs, optional, shortText } from "../record-type.ts";

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
  note: optional(textOfLines(noteMax)),
  lineItems: z
    .array(
      z.strictObject({
        transferLineItemId: id.optional(),
        variantId: id,
        sku: fillable(codeText),
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
    .check(representable((line) => [requestedValue(line)]))
    .default([]),
  addresses: z.strictObject({ fromAddress: fillable(address), toAddress: fillable(address) }).default({}),
  /** The one shipment, as the API shows it; `shipments` has all of them. */
  shipment: optional(shipmentInput),
  shipments: z
    .array(shipmentInput)
    .max(attachmentsMax)
    .check(noRepeats((shipment) => shipment.shipmentId, "shipmentId"))
    .optional(),
  documents: z
    .array(documentInput)
    .max(attachmentsMax)
    .check(noRepeats((document) => document.documentId, "documentId"))
    .default([]),
  log,
  itemCount: derived,
  totalQuantity: derived,
  totalValue: derived,
});

async function transferOrderFrom(
  { createdAt, updatedAt, shippedAt, receivedAt, ...draft }: z.output<typeof transferOrderInput>,
  context: ApplyContext,
): Promise<TransferOrder> {
  const currencyCode = draft.currencyCode ?? context.shop.currencyCode;
  const createdAtMs = createdAt ?? context.nowMs;
  const variants = await variantsOf(context, draft.lineItems);
  const known = await loadLocationAddresses(
    context.tx,
    context.shop.shopId,
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
      transferLineItemId: line.transferLineItemId ?? context.ids.next("tol"),
      sku: filled(line.sku, variants.get(line.variantId)?.sku),
    })),
    shipments: draft.shipments ?? (draft.shipment === null ? [] : [draft.shipment]),
    documents: draft.documents,
    log: draft.log,
  };
}

export const transferOrderType = readOnlyType({
  type: "transferOrder",
  input: transferOrderInput,
  table: transferOrderTable,
  recordId: (draft) => draft.transferOrderId,
  weight: (draft) =>
    1 + draft.lineItems.length + (draft.shipments?.length ?? 1) + draft.documents.length + draft.log.length,
  resource: transferOrderFrom,
  statements: transferOrderStatements,
  header: (order) => ({ ...transferHeaderJson(order), addresses: transferAddressesJson(order) }),
  parts: {
    lineItems: recordParts(transferLines, transferLineJson, ({ lineItems }: TransferOrder) => lineItems),
    shipments: recordParts(transferShipments, shipmentJson, ({ shipments }: TransferOrder) => shipments),
    documents: recordParts(transferDocuments, documentJson, ({ documents }: TransferOrder) => documents),
    log: recordParts(transferLog, logEntryJson, (order: TransferOrder) => order.log),
  },
  log: { kind: transferLog, with: (order: TransferOrder, change) => ({ ...order, log: change(order.log) }) },
});
