/**
 * Reading purchase orders: the list, one order, and everything that hangs on it (spec "Purchase orders: reads", contract §9).
 */
import { z } from "zod";
import {
  type AppliedCredit,
  creditAmount,
  currentShipment,
  dateSources,
  documentTypes,
  type OrderDocument,
  outstandingAmount,
  paidAmount,
  type Payment,
  paymentStatuses,
  paymentTypes,
  receiptSchedule,
  type ScheduleRow,
  scheduleStatuses,
  settledAmount,
  type Shipment,
  shipmentStatuses,
  sumInOrderCurrency,
  type SupplierCredit,
} from "../core/attachment.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../core/cursor.ts";
import { dateOf, dayIn } from "../core/demand.ts";
import { paidStatus } from "../core/lines.ts";
import { fxRateToNumber, moneyToNumber, quantityToNumber } from "../core/money.ts";
import { paidStatuses, statuses } from "../core/purchase-order.ts";
import { type HistoryPosition, loadReceipts, pageOfCosts, pageOfLog } from "../shop/order-history.ts";
import { listOrders } from "../shop/order-list.ts";
import type { CostSyncEntry, LogEntry, Receipt } from "../shop/records.ts";
import { loadAttachments, loadSupplier, loadSupplierCredits, pageOfLines } from "../shop/rows.ts";
import { operation } from "./operation.ts";
import { headerOf, orderOf } from "./order-access.ts";
import {
  addressJson,
  addressSchema,
  cursor,
  dateFrom,
  dateSchema,
  dateTo,
  etagOf,
  headerJson,
  headerSchema,
  id,
  instant,
  instantOrNull,
  instantSchema,
  limit,
  lineJson,
  lineSchema,
  listParameter,
  moneyOrNull,
  optionalLimit,
  orderedRange,
  pageShape,
  purchaseOrderId,
  purchaseOrderJson,
  purchaseOrderSchema,
  searchMax,
  text,
  textParameter,
} from "./wire.ts";

const tag = "Purchase orders";
const path = "/purchase-orders/{purchaseOrderId}";
const example = { purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2" };

/** What every read has in common. */
const read = { tag, scope: "read", success: 200, repeat: "read", destructive: false } as const;

// The shapes of what hangs on an order, and the way to them.

const paymentSchema = z
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
  shippingCost: moneyOrNull(shippingCost),
  lineAllocations: lineAllocations.map((allocation) => ({
    ...allocation,
    quantityAllocated: quantityToNumber(allocation.quantityAllocated),
    quantityReceived: quantityToNumber(allocation.quantityReceived),
    quantityRejected: quantityToNumber(allocation.quantityRejected),
  })),
});

const addressesSchema = z
  .strictObject({ billingAddress: addressSchema.nullable(), shippingAddress: addressSchema.nullable() })
  .meta({ description: "The order's addresses." });

const scheduleRowSchema = z
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

const scheduleRowJson = (row: ScheduleRow): z.output<typeof scheduleRowSchema> => ({
  ...row,
  quantityExpected: quantityToNumber(row.quantityExpected),
  quantityReceived: quantityToNumber(row.quantityReceived),
  quantityPending: quantityToNumber(row.quantityPending),
});

const receiptSchema = z
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

const costSyncSchema = z
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
    reason: z.string().nullable(),
    attempt: z.int(),
    proposedAt: instantSchema,
    resolvedAt: instantSchema.nullable(),
  })
  .meta({ id: "CostSyncRow", description: "A unit cost that the order proposed, and what became of it." });

export const costSyncJson = (entry: CostSyncEntry): z.output<typeof costSyncSchema> => ({
  costSyncId: entry.costSyncId,
  variantId: entry.variantId,
  poLineItemId: entry.poLineItemId,
  previousUnitCost: moneyOrNull(entry.previousUnitCost),
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

export const logEntrySchema = z
  .strictObject({
    logId: z.string(),
    occurredAt: instantSchema,
    action: z.string().meta({ description: "A stable machine word." }),
    message: z.string(),
    actor: z
      .strictObject({
        type: z.enum(["api-key", "agent", "user", "system"]),
        id: z.string().nullable(),
        name: z.string().nullable(),
      })
      .meta({ description: "Who did it." }),
    operation: z.string().nullable(),
    requestId: z.string().nullable(),
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

export const logEntryJson = ({
  occurredAtMs,
  actor,
  changes,
  ...entry
}: LogEntry): z.output<typeof logEntrySchema> => ({
  ...entry,
  occurredAt: instant(occurredAtMs),
  actor: { ...actor },
  changes: changes.map((change) => ({ ...change })),
});

const appliedCreditSchema = z
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

const availableCreditSchema = z
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

const availableCreditJson = (credit: SupplierCredit): z.output<typeof availableCreditSchema> => ({
  ...credit,
  amount: moneyToNumber(credit.amount),
  balance: moneyToNumber(credit.balance),
});

// The list.

const listPurchaseOrders = operation({
  ...read,
  name: "purchase_order_list",
  title: "List purchase orders",
  summary: "Orders, newest first, filtered.",
  description:
    "Lists orders without their lines, newest first. Filters narrow together; one that takes several values matches any of them. To go on, pass cursor of the answer with the same filters until it is null. For an order's lines use purchase_order_get.",
  route: { method: "GET", path: "/purchase-orders" },
  faults: [],
  input: z
    .strictObject({
      status: listParameter(z.enum(statuses), "Status."),
      paidStatus: listParameter(z.enum(paidStatuses), "How far it is paid."),
      supplierId: textParameter("Orders from this supplier."),
      locationId: textParameter("Orders to this location."),
      variantId: textParameter("Orders with a line of this variant."),
      sku: textParameter("Orders with a line of this SKU, spelled exactly so."),
      search: text(searchMax).optional().meta({
        description: "Part of the number, name, supplier reference or supplier name; case does not matter.",
        query: "string",
      }),
      dateFrom,
      dateTo,
      limit,
      cursor,
    })
    .check(orderedRange)
    .meta({ example: { status: ["Draft", "Sent"], dateFrom: "2026-01-01", limit: 20 } }),
  output: z.strictObject({ purchaseOrders: z.array(headerSchema), ...pageShape }),
  async run(call, input) {
    const { shopId } = call.shop;
    const { limit, cursor, ...filters } = input;
    const scope = { list: call.operation, shopId, filters };
    const after = cursor === undefined ? null : historyPosition(decodeCursor(scope, cursor));
    const page = await call.read((tx) =>
      listOrders(
        tx,
        shopId,
        {
          statuses: input.status ?? null,
          paidStatuses: input.paidStatus ?? null,
          supplierId: input.supplierId ?? null,
          locationId: input.locationId ?? null,
          variantId: input.variantId ?? null,
          sku: input.sku ?? null,
          search: input.search ?? null,
          createdFromMs: input.dateFrom ?? null,
          createdBeforeMs: input.dateTo ?? null,
        },
        after === null ? null : { createdAtMs: after.atMs, purchaseOrderId: after.id },
        limit,
      ),
    );
    return {
      data: {
        purchaseOrders: page.orders.map(headerJson),
        totalCount: page.totalCount,
        cursor: page.end === null ? null : encodeCursor(scope, [page.end.createdAtMs, page.end.purchaseOrderId]),
      },
    };
  },
});

/** Lists by age hold an instant and an id. */
function historyPosition(keys: ReturnType<typeof decodeCursor>): HistoryPosition {
  const [atMs, id] = keys;
  if (typeof atMs !== "number" || typeof id !== "string" || keys.length !== 2) throw invalidCursor();
  return { atMs, id };
}

// One order.

const getPurchaseOrder = operation({
  ...read,
  name: "purchase_order_get",
  title: "Read a purchase order",
  summary: "One order in full: header, lines, shipment, addresses, payments and documents.",
  description:
    "Reads one order with everything on it. Read it before changing it: line ids, quantities and the status decide what is possible. Its ETag can be sent as If-Match with a change. For the status moves open to it see purchase_order_status.",
  route: { method: "GET", path },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({
    purchaseOrder: z
      .strictObject({
        ...purchaseOrderSchema.shape,
        shipment: shipmentSchema.nullable(),
        addresses: addressesSchema,
        payments: z.array(paymentSchema),
        documents: z.array(documentSchema),
      })
      .meta({ description: "A purchase order in full." }),
  }),
  run: (call, input) =>
    call.read(async (tx) => {
      const order = await orderOf(tx, call, input.purchaseOrderId);
      const { payments, documents, shipments } = await loadAttachments(tx, call.shop.shopId, input.purchaseOrderId);
      const shipment = currentShipment(shipments);
      return {
        data: {
          purchaseOrder: {
            ...purchaseOrderJson(order),
            shipment: shipment === null ? null : shipmentJson(shipment),
            addresses: {
              billingAddress: addressJson(order.billingAddress),
              shippingAddress: addressJson(order.shippingAddress),
            },
            payments: payments.map(paymentJson),
            documents: documents.map(documentJson),
          },
        },
        etag: etagOf(order),
      };
    }),
});

const listLineItems = operation({
  ...read,
  name: "purchase_order_line_item_list",
  title: "List an order's lines",
  summary: "The lines of one order, in the order they were added.",
  description:
    "Lists the lines of one order with their quantities and status: all of them, or page by page when limit is given. Use it instead of purchase_order_get for an order with very many lines.",
  route: { method: "GET", path: `${path}/line-items` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId, limit: optionalLimit, cursor }).meta({ example: { ...example, limit: 20 } }),
  output: z.strictObject({ lineItems: z.array(lineSchema), ...pageShape }),
  versioned: true,
  run(call, input) {
    const { shopId } = call.shop;
    const scope = { list: call.operation, shopId, filters: { purchaseOrderId: input.purchaseOrderId } };
    const after = input.cursor === undefined ? null : linePosition(decodeCursor(scope, input.cursor));
    return call.read(async (tx) => {
      const order = await headerOf(tx, call, input.purchaseOrderId);
      const page = await pageOfLines(tx, shopId, input.purchaseOrderId, after, input.limit ?? null);
      return {
        data: {
          lineItems: page.lineItems.map(lineJson),
          totalCount: page.totalCount,
          cursor: page.end === null ? null : encodeCursor(scope, [page.end]),
        },
        etag: etagOf(order),
      };
    });
  },
});

function linePosition(keys: ReturnType<typeof decodeCursor>): number {
  const [position] = keys;
  if (typeof position !== "number" || keys.length !== 1) throw invalidCursor();
  return position;
}

const listPayments = operation({
  ...read,
  name: "purchase_order_payment_list",
  title: "List an order's payments",
  summary: "Payments of one order, and how far it is paid.",
  description:
    "Lists the payments of one order and sums them up in its currency: paid payments and applied credits against totalValue. An amount whose currency no exchange rate converts is left out of the sums. Payments come in by import and cannot be changed here.",
  route: { method: "GET", path: `${path}/payments` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({
    payments: z.array(paymentSchema),
    summary: z
      .strictObject({
        totalValue: z.number(),
        paidAmount: z.number().meta({ description: "Payments with status Paid." }),
        creditAmount: z.number().meta({ description: "Credits applied." }),
        outstandingAmount: z.number().meta({ description: "What is left to pay; never below 0." }),
        currencyCode: z.string(),
        paidStatus: z.enum(paidStatuses),
      })
      .meta({ description: "In the order's currency." }),
  }),
  run: (call, input) =>
    call.read(async (tx) => {
      const order = await headerOf(tx, call, input.purchaseOrderId);
      const { payments, credits } = await loadAttachments(tx, call.shop.shopId, input.purchaseOrderId);
      const settled = settledAmount({ payments, credits }, order, call.shop);
      return {
        data: {
          payments: payments.map(paymentJson),
          summary: {
            totalValue: moneyToNumber(order.totalValue),
            paidAmount: moneyToNumber(paidAmount(payments, order, call.shop)),
            creditAmount: moneyToNumber(creditAmount(credits, order, call.shop)),
            outstandingAmount: moneyToNumber(outstandingAmount(order, settled)),
            currencyCode: order.currencyCode,
            paidStatus: paidStatus({ totalValue: order.totalValue, settledAmount: settled }),
          },
        },
      };
    }),
});

const listDocuments = operation({
  ...read,
  name: "purchase_order_document_list",
  title: "List an order's documents",
  summary: "Metadata of the documents of one order.",
  description: "Lists what is known of an order's documents. Their content is not served here.",
  route: { method: "GET", path: `${path}/documents` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ documents: z.array(documentSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      await headerOf(tx, call, input.purchaseOrderId);
      const { documents } = await loadAttachments(tx, call.shop.shopId, input.purchaseOrderId);
      return { data: { documents: documents.map(documentJson) } };
    }),
});

const getShipment = operation({
  ...read,
  name: "purchase_order_shipment_get",
  title: "Read an order's current shipment",
  summary: "The earliest shipment that has not been received, else the latest; null when there is none.",
  description:
    "Reads the shipment that matters now: the earliest that is still to arrive, else the latest one. For all of them use purchase_order_shipment_list.",
  route: { method: "GET", path: `${path}/shipment` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ shipment: shipmentSchema.nullable() }),
  run: (call, input) =>
    call.read(async (tx) => {
      await headerOf(tx, call, input.purchaseOrderId);
      const { shipments } = await loadAttachments(tx, call.shop.shopId, input.purchaseOrderId);
      const shipment = currentShipment(shipments);
      return { data: { shipment: shipment === null ? null : shipmentJson(shipment) } };
    }),
});

const listShipments = operation({
  ...read,
  name: "purchase_order_shipment_list",
  title: "List an order's shipments",
  summary: "All shipments of one order, each with the lines it carries.",
  description:
    "Lists the shipments of one order with their line allocations. For when what is expected use purchase_order_receipt_schedule_get.",
  route: { method: "GET", path: `${path}/shipments` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ shipments: z.array(shipmentSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      await headerOf(tx, call, input.purchaseOrderId);
      const { shipments } = await loadAttachments(tx, call.shop.shopId, input.purchaseOrderId);
      return { data: { shipments: shipments.map(shipmentJson) } };
    }),
});

const getAddresses = operation({
  ...read,
  name: "purchase_order_address_get",
  title: "Read an order's addresses",
  summary: "Billing and shipping address of one order.",
  description: "Reads both addresses of one order; each is null when not set. Set them with purchase_order_update.",
  route: { method: "GET", path: `${path}/addresses` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ addresses: addressesSchema }),
  versioned: true,
  run: (call, input) =>
    call.read(async (tx) => {
      const order = await headerOf(tx, call, input.purchaseOrderId);
      return {
        data: {
          addresses: {
            billingAddress: addressJson(order.billingAddress),
            shippingAddress: addressJson(order.shippingAddress),
          },
        },
        etag: etagOf(order),
      };
    }),
});

const getReceiptSchedule = operation({
  ...read,
  name: "purchase_order_receipt_schedule_get",
  title: "Read an order's receipt schedule",
  summary: "When what is expected, and what has come.",
  description:
    "Computes, per line and shipment, how much is expected when, and lists the receipts recorded so far, newest first. Dates come from the shipment, the line, the order or the lead time, in this order. Record goods with purchase_order_receive.",
  route: { method: "GET", path: `${path}/receipt-schedule` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ receiptSchedule: z.array(scheduleRowSchema), receipts: z.array(receiptSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { shopId, timezone } = call.shop;
      const order = await orderOf(tx, call, input.purchaseOrderId);
      const { shipments } = await loadAttachments(tx, shopId, input.purchaseOrderId);
      const supplier = order.supplierId === null ? null : await loadSupplier(tx, shopId, order.supplierId);
      const receipts = await loadReceipts(tx, shopId, input.purchaseOrderId);
      const today = dateOf(dayIn(timezone, call.clock.now()));
      const schedule = receiptSchedule(order, shipments, supplier?.leadTimeDays ?? null, today);
      return { data: { receiptSchedule: schedule.map(scheduleRowJson), receipts: receipts.map(receiptJson) } };
    }),
});

// What it has gone through.

const listCostSyncHistory = operation({
  ...read,
  name: "purchase_order_cost_sync_history_list",
  title: "List an order's cost updates",
  summary: "Every unit cost that the order proposed, with its outcome, newest first.",
  description:
    "Lists the unit costs that completing the order proposed to the storefront and what became of each. Rows marked proposed or failed may still have been applied. All rows, or page by page when limit is given; variantIds narrows.",
  route: { method: "GET", path: `${path}/cost-sync-history` },
  faults: ["NOT_FOUND"],
  input: z
    .strictObject({
      purchaseOrderId,
      variantIds: listParameter(id, "Only these variants."),
      limit: optionalLimit,
      cursor,
    })
    .meta({ example }),
  output: z.strictObject({ costSyncHistory: z.array(costSyncSchema), ...pageShape }),
  run(call, input) {
    const { shopId } = call.shop;
    const { limit, cursor, ...filters } = input;
    const scope = { list: call.operation, shopId, filters };
    const after = cursor === undefined ? null : historyPosition(decodeCursor(scope, cursor));
    return call.read(async (tx) => {
      await headerOf(tx, call, input.purchaseOrderId);
      const { purchaseOrderId, variantIds } = filters;
      const page = await pageOfCosts(tx, shopId, purchaseOrderId, variantIds ?? null, after, limit ?? null);
      return {
        data: {
          costSyncHistory: page.entries.map(costSyncJson),
          totalCount: page.totalCount,
          cursor: page.end === null ? null : encodeCursor(scope, [page.end.atMs, page.end.id]),
        },
      };
    });
  },
});

const listLog = operation({
  ...read,
  name: "purchase_order_log_list",
  title: "List an order's activity",
  summary: "What was done to one order, by whom and in which call, newest first.",
  description:
    "Lists the activity log of one order with the fields that each change moved. All entries, or page by page when limit is given.",
  route: { method: "GET", path: `${path}/log` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId, limit: optionalLimit, cursor }).meta({ example }),
  output: z.strictObject({ log: z.array(logEntrySchema), ...pageShape }),
  run(call, input) {
    const { shopId } = call.shop;
    const scope = { list: call.operation, shopId, filters: { purchaseOrderId: input.purchaseOrderId } };
    const after = input.cursor === undefined ? null : historyPosition(decodeCursor(scope, input.cursor));
    return call.read(async (tx) => {
      await headerOf(tx, call, input.purchaseOrderId);
      const page = await pageOfLog(tx, shopId, input.purchaseOrderId, after, input.limit ?? null);
      return {
        data: {
          log: page.entries.map(logEntryJson),
          totalCount: page.totalCount,
          cursor: page.end === null ? null : encodeCursor(scope, [page.end.atMs, page.end.id]),
        },
      };
    });
  },
});

const listCredits = operation({
  ...read,
  name: "purchase_order_credit_list",
  title: "List an order's credits",
  summary: "Supplier credits applied to one order, and those still available.",
  description:
    "Lists the credits applied to one order and the ones of its supplier with a balance left. The totals are in the order's currency; an amount that no exchange rate converts is left out of them. Credits come in by import and cannot be changed here.",
  route: { method: "GET", path: `${path}/credits` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({
    credits: z
      .strictObject({
        applied: z.array(appliedCreditSchema),
        available: z.array(availableCreditSchema),
        totals: z
          .strictObject({ appliedAmount: z.number(), availableAmount: z.number(), currencyCode: z.string() })
          .meta({ description: "In the order's currency." }),
      })
      .meta({ description: "Credits of the order and of its supplier." }),
  }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { shopId } = call.shop;
      const order = await headerOf(tx, call, input.purchaseOrderId);
      const { credits } = await loadAttachments(tx, shopId, input.purchaseOrderId);
      const supplierCredits = order.supplierId === null ? [] : await loadSupplierCredits(tx, shopId, order.supplierId);
      const available = supplierCredits.filter((credit) => credit.balance > 0);
      const balances = available.map(({ balance, currencyCode }) => ({ amount: balance, currencyCode }));
      return {
        data: {
          credits: {
            applied: credits.map(appliedCreditJson),
            available: available.map(availableCreditJson),
            totals: {
              appliedAmount: moneyToNumber(creditAmount(credits, order, call.shop)),
              availableAmount: moneyToNumber(sumInOrderCurrency(balances, order, call.shop)),
              currencyCode: order.currencyCode,
            },
          },
        },
      };
    }),
});

export const purchaseOrderReads = [
  listPurchaseOrders,
  getPurchaseOrder,
  listLineItems,
  listPayments,
  listDocuments,
  getShipment,
  listShipments,
  getAddresses,
  getReceiptSchedule,
  listCostSyncHistory,
  listLog,
  listCredits,
] as const;
