/**
 * Reading purchase orders: the list, one order, and everything that belongs to it (spec "Purchase orders: reads";
 * contract §9).
 */
import { only } from "../../core/order/guidance.ts";
import { z } from "zod";
import {
  type Attachments,
  type OrderDocument,
  creditAmount,
  currentShipment,
  outstandingAmount,
  paidAmount,
  receiptSchedule,
  settledAmount,
  sumInOrderCurrency,
} from "../../core/order/attachments.ts";
import {
  type CursorScope,
  decodeAnyCursor,
  decodeCursor,
  encodeCursor,
  hasKinds,
  invalidCursor,
} from "../../base/cursor.ts";
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import { paidStatus } from "../../core/order/lines.ts";
import { moneyToNumber } from "../../core/money/money.ts";
import {
  type Header,
  type OrderWithLines,
  paidStatuses,
  statuses,
  storefrontSyncStates,
} from "../../core/order/purchase-order.ts";
import { loadAttachments, loadSupplierCredits } from "../../shop/order/purchase-order-attachments.ts";
import {
  type HistoryPage,
  type HistoryPosition,
  loadReceipts,
  pageOfCosts,
  pageOfLog,
} from "../../shop/order/purchase-order-history.ts";
import { positionOfLine } from "../../shop/order/purchase-orders.ts";
import type { Tx } from "../../store/store.ts";
import { sortColumns } from "../../shop/order-list/order-facts.ts";
import { countOrders } from "../../shop/order-list/order-search.ts";
import {
  type OrderFilters,
  type OrderPosition,
  listOrders,
  walksOrders,
} from "../../shop/order-list/purchase-order-list.ts";
import type { OrderSort } from "../../shop/order-list/sorted-search.ts";
import { hasMoreRows } from "../../shop/size.ts";
import { entriesOnLoopMax, rowsOnLoopMax } from "../../requests/loop-limits.ts";
import {
  addressJson,
  cursor,
  dateFrom,
  dateTo,
  day,
  id,
  limit,
  listParameter,
  optionalLimit,
  orderedRange,
  pageShape,
  searchMax,
  plainParameter,
  soughtText,
} from "../fields.ts";
import { type Call, operation } from "../../requests/operation.ts";
import { headerOf, linesToShow, orderToShow, path, read } from "./access.ts";
import {
  addressesSchema,
  appliedCreditJson,
  appliedCreditSchema,
  availableCreditJson,
  availableCreditSchema,
  costRowJson,
  costRowSchema,
  documentJson,
  documentSchema,
  logEntryJson,
  logEntrySchema,
  paymentJson,
  paymentSchema,
  receiptJson,
  receiptSchema,
  scheduleRowJson,
  scheduleRowSchema,
  shipmentJson,
  shipmentSchema,
} from "./attachments.ts";
import {
  etagOf,
  headerJson,
  headerSchema,
  lineJson,
  lineSchema,
  purchaseOrderId,
  purchaseOrderJson,
  purchaseOrderSchema,
  tagMax,
} from "./json.ts";

/** An order of the demo shop that has payments, documents and shipments. */
const example = { purchaseOrderId: "po_demo_05" };

// The list.

/** The sort of a list that names none. */
const newestFirst = "-createdAt";

const orderSorts = [newestFirst, ...sortColumns.flatMap((column) => [column, `-${column}`] as const)] as const;

export const listPurchaseOrders = operation({
  ...read,
  name: "purchase_order_list",
  toolSets: ["purchasing", "reorder", "receiving"],
  title: "List purchase orders",
  summary: "Orders without their lines, newest first.",
  description: `${only("rest", "Filters narrow together; one that takes several values matches any of them. To go on, pass cursor with the same filters until it is null.")}${only("mcp", "In short; include brings headers whole.")}`,
  route: { method: "GET", path: "/purchase-orders" },
  faults: [],
  input: z
    .strictObject({
      status: listParameter(z.enum(statuses), "Status."),
      paidStatus: listParameter(z.enum(paidStatuses), "How far it is paid."),
      storefrontSyncState: listParameter(
        z.enum(storefrontSyncStates),
        "How far the storefront has the goods that were received.",
      ),
      expectedBefore: day.optional().meta({
        description: `${only("rest", "Orders whose nextExpectedDate is")}${only("mcp", "nextExpectedDate")} before this day; today: late ones.`,
        query: "string",
      }),
      supplierId: plainParameter("Orders from this supplier."),
      locationId: plainParameter("Orders to this location."),
      variantId: plainParameter("Orders with a line of this variant."),
      sku: plainParameter("Orders with a line of this SKU, spelled exactly so."),
      search: soughtText(searchMax)
        .optional()
        .meta({
          description: `Words, each in number, name, supplier reference, tag, supplier's name, or a line's names and codes${only("rest", "; case and accents do not matter")}.`,
          query: "string",
        }),
      tag: listParameter(z.string().min(1).max(tagMax), "One of its tags."),
      dateFrom,
      dateTo,
      updatedFrom: dateFrom.meta({
        description: only("rest", "Changed last on this day (UTC) or at this instant, or later."),
      }),
      updatedTo: dateTo.meta({
        description: only("rest", "Changed last on this day (UTC) or at this instant, or before."),
      }),
      sort: z
        .enum(orderSorts)
        .optional()
        .meta({
          description: only(
            "rest",
            "By what orders are sorted, with `-` from high to low: `totalValue` in the shop's currency, `poNumber` as people count. Orders without the value come last.",
          ),
        }),
      limit,
      cursor,
    })
    .check(orderedRange("dateFrom", "dateTo"), orderedRange("updatedFrom", "updatedTo"))
    .meta({ example: { status: ["Draft", "Sent"], dateFrom: "2026-01-01", limit: 20 } }),
  output: z.strictObject({ purchaseOrders: z.array(headerSchema), ...pageShape }),
  async run(call, input) {
    const { shopId } = call.shop;
    const { limit, cursor, ...filters } = input;
    const scope = { list: call.operation, shopId, filters };
    const after = cursor === undefined ? null : orderPosition(scope, cursor);
    const orderFilters: OrderFilters = {
      statuses: input.status ?? null,
      paidStatuses: input.paidStatus ?? null,
      storefrontSyncStates: input.storefrontSyncState ?? null,
      expectedBefore: input.expectedBefore ?? null,
      supplierId: input.supplierId ?? null,
      locationId: input.locationId ?? null,
      variantId: input.variantId ?? null,
      sku: input.sku ?? null,
      search: input.search ?? null,
      createdFromMs: input.dateFrom ?? null,
      createdBeforeMs: input.dateTo ?? null,
      tags: input.tag ?? null,
      updatedFromMs: input.updatedFrom ?? null,
      updatedBeforeMs: input.updatedTo ?? null,
    };
    const sort = sortFrom(input.sort, call.shop.currencyCode);
    const page = await call.read(async (tx) => {
      const isBroad = sort !== null || walksOrders(orderFilters);
      if (isBroad && (await countOrders(tx, shopId)) > rowsOnLoopMax) call.leaveLoop();
      return await listOrders(tx, shopId, orderFilters, after, limit, sort);
    });
    return {
      data: {
        purchaseOrders: page.orders.map(headerJson),
        totalCount: page.totalCount,
        cursor: page.end === null ? null : encodeCursor(scope, positionOf(page.end)),
      },
    };
  },
});

const positionOf = ({ createdAtMs, purchaseOrderId: orderId, by }: OrderPosition): (string | number)[] =>
  by === null ? [createdAtMs, orderId] : [createdAtMs, orderId, by];

function orderPosition(scope: CursorScope, cursor: string): OrderPosition {
  const position = decodeAnyCursor(scope, cursor);
  if (hasKinds(position, ["number", "string"]))
    return { createdAtMs: position[0], purchaseOrderId: position[1], by: null };
  if (!hasKinds(position, ["number", "string", "string"])) throw invalidCursor();
  return { createdAtMs: position[0], purchaseOrderId: position[1], by: position[2] };
}

function sortFrom(sort: (typeof orderSorts)[number] | undefined, shopCurrency: string): OrderSort | null {
  if (sort === undefined || sort === newestFirst) return null;
  const isDescending = sort.startsWith("-");
  const column = sortColumns.find((each) => each === (isDescending ? sort.slice(1) : sort));
  return column === undefined ? null : { column, isDescending, shopCurrency };
}

/** The position that the cursor of a list by age holds: an instant and an id. */
function historyPosition(scope: CursorScope, cursor: string): HistoryPosition {
  const [atMs, id] = decodeCursor(scope, cursor, ["number", "string"]);
  return { atMs, id };
}

// One order.

/** The order's header, and what is attached to it. */
async function withAttachments(tx: Tx, call: Call, orderId: string): Promise<Attachments & { readonly order: Header }> {
  const [order, attachments] = await Promise.all([
    headerOf(tx, call, orderId),
    loadAttachments(tx, call.shop.shopId, orderId),
  ]);
  return { ...attachments, order };
}

const addressesJson = ({ billingAddress, shippingAddress }: Header) => ({
  billingAddress: addressJson(billingAddress),
  shippingAddress: addressJson(shippingAddress),
});

/** True if a document was added that shows this version of the order: a mail makes no new one (D261, D268). */
const isSentSince = ({ version }: OrderWithLines, documents: readonly OrderDocument[]): boolean =>
  documents.some((document) => document.documentType === "purchase-order" && document.version === version);

export const getPurchaseOrder = operation({
  ...read,
  name: "purchase_order_get",
  toolSets: ["purchasing", "reorder", "receiving"],
  title: "Read a purchase order",
  summary: "One order in full: header, lines, shipment, addresses, payments and documents.",
  description: `Read it before changing it${only("rest", ": line ids, quantities and the status decide what is possible. Its ETag can be sent as If-Match with a change")}. totalValue: the lines, less what was cancelled. grandTotal: what is owed, goods received or pending, plus shippingCost and taxAmount, less discountAmount. Both in currencyCode.`,
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
      const [order, { payments, documents, shipments }] = await Promise.all([
        orderToShow(tx, call, input.purchaseOrderId),
        loadAttachments(tx, call.shop.shopId, input.purchaseOrderId),
      ]);
      const shipment = currentShipment(shipments);
      return {
        data: {
          purchaseOrder: {
            ...purchaseOrderJson(order),
            shipment: shipment === null ? null : shipmentJson(shipment),
            addresses: addressesJson(order),
            payments: payments.map(paymentJson),
            documents: documents.map(documentJson),
          },
        },
        etag: etagOf(order),
        isNewerThanEtag: isSentSince(order, documents),
      };
    }),
});

const linesScope = (shopId: string, purchaseOrderId: string): CursorScope => ({
  list: "purchase_order_line_item_list",
  shopId,
  filters: { purchaseOrderId },
});

/** The cursor of the lines after this one, where an answer that is no page of them was cut. */
export const cursorAfterLine = (shopId: string, purchaseOrderId: string, poLineItemId: string): string =>
  encodeCursor(linesScope(shopId, purchaseOrderId), [poLineItemId]);

/** The position that a cursor stands for: a page's end, or a line. @throws Fault INVALID_INPUT  it stands for none. */
async function positionAt(tx: Tx, shopId: string, purchaseOrderId: string, end: unknown): Promise<number> {
  if (hasKinds(end, ["number"])) return end[0];
  const position = hasKinds(end, ["string"]) ? await positionOfLine(tx, shopId, purchaseOrderId, end[0]) : null;
  if (position === null) throw invalidCursor();
  return position;
}

export const listLineItems = operation({
  ...read,
  name: "purchase_order_line_item_list",
  toolSets: ["purchasing", "receiving"],
  title: "List an order's lines",
  summary: "The lines of one order, in the order they were added.",
  description: `${only("rest", "All of them, or page by page with limit. For an order with very many lines, use it instead of purchase_order_get.")}${only("mcp", "In short, or whole with include.")}`,
  route: { method: "GET", path: `${path}/line-items` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId, limit: optionalLimit, cursor }).meta({ example: { ...example, limit: 20 } }),
  output: z.strictObject({ lineItems: z.array(lineSchema), ...pageShape }),
  versioned: true,
  run(call, input) {
    const { shopId } = call.shop;
    const scope = linesScope(shopId, input.purchaseOrderId);
    const end = input.cursor === undefined ? null : decodeAnyCursor(scope, input.cursor);
    return call.read(async (tx) => {
      const after = end === null ? null : await positionAt(tx, shopId, input.purchaseOrderId, end);
      const page = await linesToShow(tx, call, input.purchaseOrderId, after, input.limit ?? null);
      return {
        data: {
          lineItems: page.lineItems.map(lineJson),
          totalCount: page.header.itemCount,
          cursor: page.end === null ? null : encodeCursor(scope, [page.end]),
        },
        etag: etagOf(page.header),
      };
    });
  },
});

export const listPayments = operation({
  ...read,
  name: "purchase_order_payment_list",
  title: "List an order's payments",
  summary: "Payments of one order, and what is still owed.",
  description: `The sums are in the order's currency: grandTotal against paid payments and applied credits. An amount that no exchange rate converts is left out.${only("rest", " Payments come in by import and cannot be changed here.")}`,
  route: { method: "GET", path: `${path}/payments` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({
    payments: z.array(paymentSchema),
    summary: z
      .strictObject({
        totalValue: z.number(),
        grandTotal: z.number().meta({ description: "What is owed." }),
        paidAmount: z.number().meta({ description: "Payments with status Paid." }),
        creditAmount: z.number().meta({ description: "Credits applied." }),
        outstandingAmount: z.number().meta({ description: "What is left to pay; negative when overpaid." }),
        currencyCode: z.string(),
        paidStatus: z.enum(paidStatuses),
      })
      .meta({ description: "In the order's currency." }),
  }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { order, payments, credits } = await withAttachments(tx, call, input.purchaseOrderId);
      const settled = settledAmount({ payments, credits }, order, call.shop.currencyCode);
      return {
        data: {
          payments: payments.map(paymentJson),
          summary: {
            totalValue: moneyToNumber(order.totalValue),
            grandTotal: moneyToNumber(order.grandTotal),
            paidAmount: moneyToNumber(paidAmount(payments, order, call.shop.currencyCode)),
            creditAmount: moneyToNumber(creditAmount(credits, order, call.shop.currencyCode)),
            outstandingAmount: moneyToNumber(outstandingAmount(order, settled)),
            currencyCode: order.currencyCode,
            paidStatus: paidStatus({ ...order, settledAmount: settled }),
          },
        },
      };
    }),
});

export const listDocuments = operation({
  ...read,
  name: "purchase_order_document_list",
  title: "List an order's documents",
  summary: "Metadata of the documents of one order: names, types, sizes, versions.",
  description: "Their content is not served here.",
  route: { method: "GET", path: `${path}/documents` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ documents: z.array(documentSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { documents } = await withAttachments(tx, call, input.purchaseOrderId);
      return { data: { documents: documents.map(documentJson) } };
    }),
});

export const getShipment = operation({
  ...read,
  name: "purchase_order_shipment_get",
  toolSets: ["purchasing", "receiving"],
  title: "Read an order's current shipment",
  summary: "The earliest shipment that has not been received, else the latest; null when there is none.",
  description: "For all of them use purchase_order_shipment_list.",
  route: { method: "GET", path: `${path}/shipment` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ shipment: shipmentSchema.nullable() }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { shipments } = await withAttachments(tx, call, input.purchaseOrderId);
      const shipment = currentShipment(shipments);
      return { data: { shipment: shipment === null ? null : shipmentJson(shipment) } };
    }),
});

export const listShipments = operation({
  ...read,
  name: "purchase_order_shipment_list",
  toolSets: ["purchasing", "receiving"],
  title: "List an order's shipments",
  summary: "All shipments of one order, each with the lines it carries.",
  description: `For ${only("rest", "the dates on which goods are expected")}${only("mcp", "dates of goods")} use purchase_order_receipt_schedule_get.`,
  route: { method: "GET", path: `${path}/shipments` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ shipments: z.array(shipmentSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { shipments } = await withAttachments(tx, call, input.purchaseOrderId);
      return { data: { shipments: shipments.map(shipmentJson) } };
    }),
});

export const getAddresses = operation({
  ...read,
  name: "purchase_order_address_get",
  title: "Read an order's addresses",
  summary: "Billing and shipping address of one order.",
  description: "Each is null when not set. purchase_order_update sets them.",
  route: { method: "GET", path: `${path}/addresses` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ addresses: addressesSchema }),
  versioned: true,
  run: (call, input) =>
    call.read(async (tx) => {
      const order = await headerOf(tx, call, input.purchaseOrderId);
      return {
        data: { addresses: addressesJson(order) },
        etag: etagOf(order),
      };
    }),
});

export const getReceiptSchedule = operation({
  ...read,
  name: "purchase_order_receipt_schedule_get",
  toolSets: ["purchasing", "receiving"],
  title: "Read an order's receipt schedule",
  summary: "When goods are expected, line by line, and what has arrived, newest first.",
  description: "A date comes from the line, its shipment, the order or the lead time, in this order.",
  route: { method: "GET", path: `${path}/receipt-schedule` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example }),
  output: z.strictObject({ receiptSchedule: z.array(scheduleRowSchema), receipts: z.array(receiptSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { shopId, timezone } = call.shop;
      const [order, { shipments }, receipts] = await Promise.all([
        orderToShow(tx, call, input.purchaseOrderId),
        loadAttachments(tx, shopId, input.purchaseOrderId),
        loadReceipts(tx, shopId, input.purchaseOrderId),
      ]);
      const today = dateOf(dayIn(timezone, call.clock.now()));
      const schedule = receiptSchedule(order, shipments, today);
      return { data: { receiptSchedule: schedule.map(scheduleRowJson), receipts: receipts.map(receiptJson) } };
    }),
});

// Its history.

interface HistoryInput {
  readonly purchaseOrderId: string;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A page of the order's rows in a table, newest first. A long history that is asked for whole leaves the loop. */
function historyPage<Entry>(
  call: Call,
  { purchaseOrderId, limit, cursor }: HistoryInput,
  filters: object,
  table: "cost_sync" | "purchase_order_log",
  load: (tx: Tx, after: HistoryPosition | null) => Promise<HistoryPage<Entry>>,
) {
  const { shopId } = call.shop;
  const scope = { list: call.operation, shopId, filters: { purchaseOrderId, ...filters } };
  const after = cursor === undefined ? null : historyPosition(scope, cursor);
  return call.read(async (tx) => {
    await headerOf(tx, call, purchaseOrderId);
    if (limit === undefined && (await hasMoreRows(tx, table, shopId, entriesOnLoopMax, purchaseOrderId)))
      call.leaveLoop();
    const { entries, totalCount, end } = await load(tx, after);
    return { entries, totalCount, cursor: end === null ? null : encodeCursor(scope, [end.atMs, end.id]) };
  });
}

export const listCostSyncHistory = operation({
  ...read,
  name: "purchase_order_cost_sync_history_list",
  title: "List an order's cost updates",
  summary: "Every unit cost that the order proposed, with its outcome, newest first.",
  description: `Rows marked proposed or failed may still have been applied.${only("rest", " All rows, or page by page with limit.")}`,
  route: { method: "GET", path: `${path}/cost-sync-history` },
  faults: ["NOT_FOUND"],
  input: z
    .strictObject({
      purchaseOrderId,
      variantIds: listParameter(id, "Only these variants."),
      limit: optionalLimit,
      cursor,
    })
    .meta({ example: { purchaseOrderId: "po_demo_02" } }),
  output: z.strictObject({ costSyncHistory: z.array(costRowSchema), ...pageShape }),
  async run(call, { variantIds, ...input }) {
    const { entries, ...page } = await historyPage(call, input, { variantIds }, "cost_sync", (tx, after) =>
      pageOfCosts(tx, call.shop.shopId, input.purchaseOrderId, variantIds ?? null, after, input.limit ?? null),
    );
    return { data: { costSyncHistory: entries.map(costRowJson), ...page } };
  },
});

export const listLog = operation({
  ...read,
  name: "purchase_order_log_list",
  title: "List an order's activity",
  summary: "What was done to one order, by whom and in which call, newest first.",
  description: `With the fields that each change moved.${only("rest", " All entries, or page by page with limit.")}`,
  route: { method: "GET", path: `${path}/log` },
  faults: ["NOT_FOUND"],
  input: z
    .strictObject({ purchaseOrderId, limit: optionalLimit, cursor })
    .meta({ example: { purchaseOrderId: "po_demo_12" } }),
  output: z.strictObject({ log: z.array(logEntrySchema), ...pageShape }),
  async run(call, input) {
    const { entries, ...page } = await historyPage(call, input, {}, "purchase_order_log", (tx, after) =>
      pageOfLog(tx, call.shop.shopId, input.purchaseOrderId, after, input.limit ?? null),
    );
    return { data: { log: entries.map(logEntryJson), ...page } };
  },
});

export const listCredits = operation({
  ...read,
  name: "purchase_order_credit_list",
  title: "List an order's credits",
  summary: "Supplier credits applied to one order, and those still available.",
  description: `The totals are in the order's currency; an amount that no exchange rate converts is left out.${only("rest", " Credits come in by import and cannot be changed here.")}`,
  route: { method: "GET", path: `${path}/credits` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: "po_demo_04" } }),
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
      const [order, { credits }] = await Promise.all([
        headerOf(tx, call, input.purchaseOrderId),
        loadAttachments(tx, shopId, input.purchaseOrderId),
      ]);
      const supplierCredits = order.supplierId === null ? [] : await loadSupplierCredits(tx, shopId, order.supplierId);
      const available = supplierCredits.filter((credit) => credit.balance > 0);
      const balances = available.map(({ balance, currencyCode }) => ({ amount: balance, currencyCode }));
      return {
        data: {
          credits: {
            applied: credits.map(appliedCreditJson),
            available: available.map(availableCreditJson),
            totals: {
              appliedAmount: moneyToNumber(creditAmount(credits, order, call.shop.currencyCode)),
              availableAmount: moneyToNumber(sumInOrderCurrency(balances, order, call.shop.currencyCode)),
              currencyCode: order.currencyCode,
            },
          },
        },
      };
    }),
});
