import { z } from "zod";
import { type Attachments, settledAmount } from "../core/attachments.ts";
import { invalidField } from "../core/fault.ts";
import { accountedQuantity, baseQuantity, isCustom, lineTotal, orderTotals } from "../core/lines.ts";
import { moneyDecimalsMax, totalValueMax, zeroMoney, zeroQuantity } from "../core/money.ts";
import {
  type LineItem,
  type PurchaseOrder,
  type ShopFacts,
  type Status,
  linesPerOrderMax,
  statuses,
  storefrontSyncStates,
} from "../core/purchase-order.ts";
import { isHeld } from "../core/status.ts";
import { storefrontSyncState } from "../core/stock-push.ts";
import {
  address,
  currencyCode,
  day,
  id,
  instant,
  noRepeats,
  noteMax,
  positiveQuantity,
  productNameMax,
  quantity,
  text,
  unitCost,
} from "../operations/fields.ts";
import {
  appliedCreditJson,
  costSyncJson,
  documentJson,
  logEntryJson,
  paymentJson,
  receiptJson,
  shipmentJson,
} from "../operations/purchase-orders/attachments.ts";
import { fxRate, headerInput, headerJson, lineJson, supplierInput } from "../operations/purchase-orders/json.ts";
import type { VariantSnapshot } from "../shop/catalogue.ts";
import type { CostSyncEntry, LogEntry, OrderHistory, Receipt } from "../shop/purchase-order-history.ts";
import type { Ids } from "../store/store.ts";
import { creditInput, documentInput, logInput, paymentInput, shipmentInput } from "./attachments.ts";
import { derived, instantMs, optional, ownText, shortText, signedQuantity } from "./record-type.ts";

const receiptInput = z
  .strictObject({
    receiptId: id,
    receivedAt: instantMs,
    recordedBy: optional(ownText),
    source: z.enum(["receive", "unreceive", "quick-complete"]),
    reason: optional(ownText),
    requestId: optional(ownText),
    lines: z.array(
      z.strictObject({
        poLineItemId: id,
        variantId: id,
        quantityDelta: signedQuantity,
        quantityReceivedAfter: quantity,
      }),
    ),
  })
  .transform(({ receivedAt, ...receipt }): Receipt => ({ ...receipt, receivedAtMs: receivedAt }));

const costSyncInput = z
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
  })
  .transform(({ proposedAt, resolvedAt, ...row }): CostSyncEntry => ({
    ...row,
    proposedAtMs: proposedAt,
    resolvedAtMs: resolvedAt,
  }));

/** The row as it is read, and which completion it belongs to. */
const costSyncRecord = (row: CostSyncEntry) => ({ ...costSyncJson(row), completion: row.completion });

const lineInput = z.strictObject({
  poLineItemId: id.optional(),
  variantId: id,
  quantityOrdered: positiveQuantity,
  quantityConfirmed: quantity.default(zeroQuantity),
  quantityReceived: quantity.default(zeroQuantity),
  quantityRejected: quantity.default(zeroQuantity),
  quantityCancelled: quantity.default(zeroQuantity),
  /** Left out: what was received is taken to be in the levels that come in beside the orders. */
  quantitySynced: quantity.optional(),
  /** Lifts P2 for this line, as in /receive. */
  allowOverReceipt: z.boolean().default(false),
  unitCost: unitCost.default(zeroMoney),
  unitCostCurrencyCode: currencyCode.nullable().optional(),
  productName: text(productNameMax).nullable().optional(),
  variantName: optional(text(productNameMax)),
  sku: optional(shortText),
  barcode: optional(shortText),
  ...supplierInput,
  expectedDeliveryDate: optional(day),
  note: optional(text(noteMax)),
  createdAt: instantMs.optional(),
  updatedAt: instantMs.optional(),
  isCustom: derived,
  lineItemStatus: derived,
  quantityPending: derived,
  lineTotal: derived,
});

export const purchaseOrderInput = z.strictObject({
  type: z.literal("purchaseOrder"),
  purchaseOrderId: id,
  poNumber: shortText.optional(),
  status: z.enum(statuses).default("Draft"),
  previousStatus: z.enum(statuses).optional(),
  ...headerInput,
  fxRateOverride: optional(fxRate),
  storefrontSyncState: z.enum(storefrontSyncStates).optional(),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  updatedAt: instantMs.optional(),
  sentAt: optional(instantMs),
  confirmedAt: optional(instantMs),
  receivedAt: optional(instantMs),
  completedAt: optional(instantMs),
  cancelledAt: optional(instantMs),
  /** Of an order that was soft-deleted (C33). */
  deletedAt: optional(instantMs),
  version: z.int().min(1).default(1),
  lineItems: z.array(lineInput).max(linesPerOrderMax).default([]),
  payments: z
    .array(paymentInput)
    .check(noRepeats((payment) => payment.paymentId, "paymentId"))
    .default([]),
  documents: z
    .array(documentInput)
    .check(noRepeats((document) => document.documentId, "documentId"))
    .default([]),
  shipments: z
    .array(shipmentInput)
    .check(noRepeats((shipment) => shipment.shipmentId, "shipmentId"))
    .default([]),
  credits: z
    .array(creditInput)
    .check(noRepeats((credit) => credit.creditId, "creditId"))
    .default([]),
  addresses: z.strictObject({ billingAddress: optional(address), shippingAddress: optional(address) }).optional(),
  log: z
    .array(logInput)
    .check(noRepeats((entry) => entry.logId, "logId"))
    .optional(),
  receipts: z
    .array(receiptInput)
    .check(noRepeats((receipt) => receipt.receiptId, "receiptId"))
    .default([]),
  costSyncHistory: z
    .array(costSyncInput)
    .check(noRepeats((row) => row.costSyncId, "costSyncId"))
    .default([]),
  supplierName: derived,
  locationName: derived,
  itemCount: derived,
  totalValue: derived,
  unpricedLineItemIds: derived,
  paidStatus: derived,
  shipment: derived,
});

export type OrderInput = z.output<typeof purchaseOrderInput>;

type LineInput = z.output<typeof lineInput>;

/** An order as it is stored, with all that hangs on it. */
export interface OrderRecord {
  readonly order: PurchaseOrder;
  readonly attachments: Attachments;
  readonly history: OrderHistory;
  readonly deletedAtMs: number | null;
}

/** What the shop knows beside the record. */
export interface OrderFacts {
  readonly shop: ShopFacts;
  /** The supplier's currency; null when the supplier or its currency is unknown. */
  readonly supplierCurrencyCode: string | null;
  /** Catalogue names for lines that do not bring their own (D2). */
  readonly variants: ReadonlyMap<string, VariantSnapshot>;
  readonly requestId: string;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** Where an order usually comes from when a record does not say. A held status does not tell. */
const usualPrevious: Readonly<Record<Status, Status | null>> = {
  Draft: "Draft",
  Sent: "Draft",
  "Partially Confirmed": "Sent",
  Confirmed: "Sent",
  "In Progress": "Confirmed",
  "Partially Received": "In Progress",
  Received: "In Progress",
  Completed: "Received",
  Cancelled: null,
  "On Hold": null,
  Disputed: null,
};

function previousStatusOf(input: OrderInput): Status {
  const previous = input.previousStatus ?? usualPrevious[input.status];
  if (previous === null)
    throw invalidField("/previousStatus", `is needed for an order that is ${input.status}: it is the only way back`);
  if (isHeld(input) && isHeld({ status: previous }))
    throw invalidField("/previousStatus", `cannot be ${previous} for an order that is ${input.status}`);
  return previous;
}

/** P1, P2, P3 on a line that comes from outside. */
function refuseImpossibleQuantities(line: LineItem, at: string, input: LineInput, receipts: readonly Receipt[]): void {
  if (line.quantityConfirmed > line.quantityOrdered)
    throw invalidField(`${at}/quantityConfirmed`, "must not be above quantityOrdered");
  if (!input.allowOverReceipt && accountedQuantity(line) > baseQuantity(line))
    throw invalidField(
      `${at}/quantityReceived`,
      "received, rejected and cancelled together must not be above what is confirmed (ordered, if nothing is); " +
        "`allowOverReceipt: true` on the line lifts this",
    );
  if (line.quantitySynced <= line.quantityReceived) return;
  const takenBack = receipts.some(
    ({ source, lines }) => source === "unreceive" && lines.some((taken) => taken.poLineItemId === line.poLineItemId),
  );
  if (!takenBack) throw invalidField(`${at}/quantitySynced`, "must not be above quantityReceived");
}

function lineFrom(
  input: LineInput,
  index: number,
  order: Pick<OrderInput, "receipts"> & { readonly currencyCode: string; readonly createdAtMs: number },
  facts: OrderFacts,
): LineItem {
  const custom = isCustom(input);
  if (custom && (input.productName ?? null) === null)
    throw invalidField(`/lineItems/${index}/productName`, "is needed on a custom line");
  const snapshot = input.productName === undefined ? facts.variants.get(input.variantId) : undefined;
  const createdAtMs = input.createdAt ?? order.createdAtMs;
  const line: LineItem = {
    poLineItemId: input.poLineItemId ?? facts.ids.next("pol"),
    variantId: input.variantId,
    quantityOrdered: input.quantityOrdered,
    quantityConfirmed: input.quantityConfirmed,
    quantityReceived: input.quantityReceived,
    quantityRejected: input.quantityRejected,
    quantityCancelled: input.quantityCancelled,
    quantitySynced: input.quantitySynced ?? (custom ? zeroQuantity : input.quantityReceived),
    unitCost: input.unitCost,
    unitCostCurrencyCode: input.unitCostCurrencyCode ?? order.currencyCode,
    productName: input.productName ?? snapshot?.productName ?? null,
    variantName: input.variantName ?? snapshot?.variantName ?? null,
    sku: input.sku ?? snapshot?.sku ?? null,
    barcode: input.barcode ?? snapshot?.barcode ?? null,
    supplierSku: input.supplierSku ?? null,
    supplierBarcode: input.supplierBarcode ?? null,
    supplierProductName: input.supplierProductName ?? null,
    supplierProductUrl: input.supplierProductUrl ?? null,
    moq: input.moq ?? null,
    packSize: input.packSize ?? null,
    leadTimeDays: input.leadTimeDays ?? null,
    expectedDeliveryDate: input.expectedDeliveryDate,
    note: input.note,
    createdAtMs,
    updatedAtMs: input.updatedAt ?? createdAtMs,
  };
  if (lineTotal(line) > totalValueMax * 10 ** moneyDecimalsMax)
    throw invalidField(`/lineItems/${index}`, `is worth more than ${totalValueMax}`);
  refuseImpossibleQuantities(line, `/lineItems/${index}`, input, order.receipts);
  return line;
}

/**
 * The order that a record describes, whole and checked. Totals, payment and sync state are computed; names, currency, ids, instants
 * and history that the record leaves out are filled in.
 *
 * @param poNumber the record's own, or a stand-in until one is given.
 * @throws Fault INVALID_INPUT  the record breaks P1, P2 or P3, needs a previous status or a location, or a line or the order is worth
 *                              too much.
 * Source: contract §8; C22, C29, C30, C35, D2.
 */
export function orderFrom(input: OrderInput, poNumber: string, facts: OrderFacts): OrderRecord {
  const createdAtMs = input.createdAt ?? facts.nowMs;
  const orderCurrency = input.currencyCode ?? facts.supplierCurrencyCode ?? facts.shop.currencyCode;
  const locationId = input.locationId ?? null;
  if (locationId === null && input.status !== "Draft")
    throw invalidField("/locationId", `is needed for an order that is ${input.status}`);
  const lineItems = input.lineItems.map((line, index) =>
    lineFrom(line, index, { receipts: input.receipts, currencyCode: orderCurrency, createdAtMs }, facts),
  );
  const lineIds = new Set<string>();
  for (const [index, line] of lineItems.entries()) {
    if (lineIds.has(line.poLineItemId))
      throw invalidField(`/lineItems/${index}/poLineItemId`, `${line.poLineItemId} is given twice`);
    lineIds.add(line.poLineItemId);
  }
  const attachments: Attachments = {
    payments: input.payments,
    documents: input.documents,
    shipments: input.shipments,
    credits: input.credits,
  };
  const currency = { currencyCode: orderCurrency, fxRateOverride: input.fxRateOverride };
  const order: PurchaseOrder = {
    purchaseOrderId: input.purchaseOrderId,
    poNumber,
    poName: input.poName ?? null,
    status: input.status,
    previousStatus: previousStatusOf(input),
    supplierId: input.supplierId ?? null,
    supplierName: null,
    locationId,
    locationName: null,
    ...currency,
    orderDate: input.orderDate ?? null,
    expectedDeliveryDate: input.expectedDeliveryDate ?? null,
    supplierReference: input.supplierReference ?? null,
    paymentTerms: input.paymentTerms ?? null,
    incoterm: input.incoterm ?? null,
    shippingCost: input.shippingCost ?? null,
    discountAmount: input.discountAmount ?? null,
    taxAmount: input.taxAmount ?? null,
    tags: input.tags ?? [],
    note: input.note ?? null,
    noteToSupplier: input.noteToSupplier ?? null,
    billingAddress: input.billingAddress ?? input.addresses?.billingAddress ?? null,
    shippingAddress: input.shippingAddress ?? input.addresses?.shippingAddress ?? null,
    ...orderTotals(currency, lineItems, facts.shop),
    settledAmount: settledAmount(attachments, currency, facts.shop),
    storefrontSyncState: storefrontSyncState(lineItems, {
      inFlight: false,
      failed: input.storefrontSyncState === "failed",
    }),
    createdBy: input.createdBy,
    createdAtMs,
    updatedAtMs: input.updatedAt ?? createdAtMs,
    sentAtMs: input.sentAt,
    confirmedAtMs: input.confirmedAt,
    receivedAtMs: input.receivedAt,
    completedAtMs: input.completedAt,
    cancelledAtMs: input.cancelledAt,
    version: input.version,
    lineItems,
  };
  const history: OrderHistory = {
    log: input.log ?? [importedEntry(order, facts)],
    receipts: input.receipts,
    costSyncHistory: input.costSyncHistory,
  };
  return { order, attachments, history, deletedAtMs: input.deletedAt };
}

/** What the log of an order says that came without one. */
const importedEntry = ({ status }: PurchaseOrder, { ids, nowMs, requestId }: OrderFacts): LogEntry => ({
  logId: ids.next("log"),
  occurredAtMs: nowMs,
  action: "import",
  message: `Imported as ${status}.`,
  actor: { type: "system", id: null, name: null },
  operation: "shop_import",
  requestId,
  changes: [],
});

/** The record of an order: header and lines as the API returns them, and all that hangs on it. */
export function orderJson({ order, attachments, history, deletedAtMs }: OrderRecord) {
  return {
    type: "purchaseOrder",
    ...headerJson(order),
    ...(deletedAtMs === null ? {} : { deletedAt: instant(deletedAtMs) }),
    lineItems: order.lineItems.map((line) => ({
      ...lineJson(line),
      ...(accountedQuantity(line) > baseQuantity(line) ? { allowOverReceipt: true } : {}),
    })),
    payments: attachments.payments.map(paymentJson),
    documents: attachments.documents.map(documentJson),
    shipments: attachments.shipments.map(shipmentJson),
    credits: attachments.credits.map(appliedCreditJson),
    log: history.log.map(logEntryJson),
    receipts: history.receipts.map(receiptJson),
    costSyncHistory: history.costSyncHistory.map(costSyncRecord),
  };
}
