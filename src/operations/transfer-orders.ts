/**
 * Reading transfer orders and what hangs on them (spec "Transfer orders (read-only)", contract §9).
 */
import { z } from "zod";
import { currentShipment } from "../core/attachments.ts";
import { moneyToNumber, quantityToNumber } from "../core/money.ts";
import {
  type TransferLine,
  type TransferOrderHeader,
  transferOrderStatuses,
  transferPending,
} from "../core/transfer-orders.ts";
import { partsOf } from "../shop/read-only.ts";
import {
  transferDocuments,
  transferLines,
  transferLog,
  transferOrderQuery,
  transferOrderTable,
  transferShipments,
} from "../shop/transfer-orders.ts";
import { operation } from "./operation.ts";
import {
  documentJson,
  documentSchema,
  logEntryJson,
  logEntrySchema,
  shipmentJson,
  shipmentSchema,
} from "./purchase-orders/attachments.ts";
import {
  pageInput,
  partsInput,
  read,
  readOnlyHeader,
  readOnlyPage,
  readOnlyParts,
  searchParameter,
} from "./read-only.ts";
import {
  addressJson,
  addressSchema,
  dateFrom,
  dateSchema,
  dateTo,
  id,
  instant,
  instantOrNull,
  instantSchema,
  listParameter,
  moneyOrNull,
  orderedRange,
  pageShape,
  textParameter,
} from "./fields.ts";

const tag = "Transfer orders";
const path = "/transfer-orders/{transferOrderId}";
const example = { transferOrderId: "to_01k8x4m2q7v9c3n5t6w8y0z1a2" };
const transferOrderId = id.meta({ description: "Id of the transfer order." });
const called = { noun: "transfer order", list: "transfer_order_list" } as const;

const headerShape = {
  transferOrderId: z.string(),
  transferNumber: z.string().nullable(),
  transferName: z.string().nullable(),
  status: z.enum(transferOrderStatuses),
  fromLocationId: z.string().nullable(),
  toLocationId: z.string().nullable(),
  itemCount: z.int().meta({ description: "Number of lines." }),
  totalQuantity: z.number().meta({ description: "What was requested, over all lines." }),
  totalValue: z.number().meta({ description: "Requested quantities at their unit costs, in currencyCode." }),
  currencyCode: z.string(),
  expectedArrivalDate: dateSchema.nullable(),
  shippedAt: instantSchema.nullable(),
  receivedAt: instantSchema.nullable(),
  createdBy: z.string().nullable(),
  createdAt: instantSchema,
  updatedAt: instantSchema,
  note: z.string().nullable(),
} as const;

const headerSchema = z.strictObject(headerShape).meta({ description: "A transfer order without its lines." });

export const transferHeaderJson = (order: TransferOrderHeader): z.output<typeof headerSchema> => ({
  transferOrderId: order.transferOrderId,
  transferNumber: order.transferNumber,
  transferName: order.transferName,
  status: order.status,
  fromLocationId: order.fromLocationId,
  toLocationId: order.toLocationId,
  itemCount: order.itemCount,
  totalQuantity: quantityToNumber(order.totalQuantity),
  totalValue: moneyToNumber(order.totalValue),
  currencyCode: order.currencyCode,
  expectedArrivalDate: order.expectedArrivalDate,
  shippedAt: instantOrNull(order.shippedAtMs),
  receivedAt: instantOrNull(order.receivedAtMs),
  createdBy: order.createdBy,
  createdAt: instant(order.createdAtMs),
  updatedAt: instant(order.updatedAtMs),
  note: order.note,
});

const lineSchema = z
  .strictObject({
    transferLineItemId: z.string(),
    variantId: z.string(),
    sku: z.string().nullable(),
    quantityRequested: z.number(),
    quantityShipped: z.number(),
    quantityReceived: z.number(),
    quantityRejected: z.number(),
    quantityCancelled: z.number(),
    quantityPending: z.number().meta({ description: "Still to arrive." }),
    unitCost: z.number().nullable(),
  })
  .meta({ description: "A line of a transfer order." });

export const transferLineJson = (line: TransferLine): z.output<typeof lineSchema> => ({
  transferLineItemId: line.transferLineItemId,
  variantId: line.variantId,
  sku: line.sku,
  quantityRequested: quantityToNumber(line.quantityRequested),
  quantityShipped: quantityToNumber(line.quantityShipped),
  quantityReceived: quantityToNumber(line.quantityReceived),
  quantityRejected: quantityToNumber(line.quantityRejected),
  quantityCancelled: quantityToNumber(line.quantityCancelled),
  quantityPending: quantityToNumber(transferPending(line)),
  unitCost: moneyOrNull(line.unitCost),
});

const addressesSchema = z
  .strictObject({ fromAddress: addressSchema.nullable(), toAddress: addressSchema.nullable() })
  .meta({ description: "Where a transfer leaves from and where it goes." });

export const transferAddressesJson = (order: TransferOrderHeader): z.output<typeof addressesSchema> => ({
  fromAddress: addressJson(order.fromAddress),
  toAddress: addressJson(order.toAddress),
});

const listTransferOrders = operation({
  ...read,
  tag,
  name: "transfer_order_list",
  title: "List transfer orders",
  summary: "Transfer orders, newest first, filtered.",
  description:
    "Lists transfer orders without their lines, newest first. Filters narrow together; status may be several values, of which any matches. To go on, pass cursor of the answer with the same filters until it is null. For the lines of one use transfer_order_get.",
  route: { method: "GET", path: "/transfer-orders" },
  faults: [],
  input: z
    .strictObject({
      status: listParameter(z.enum(transferOrderStatuses), "Status."),
      fromLocationId: textParameter("Transfers from this location."),
      toLocationId: textParameter("Transfers to this location."),
      variantId: textParameter("Transfers with a line of this variant."),
      sku: textParameter("Transfers with a line of this SKU, spelled exactly so."),
      search: searchParameter("Part of the number or name."),
      dateFrom,
      dateTo,
      ...pageInput,
    })
    .check(orderedRange)
    .meta({ example: { status: ["In Transit"], dateFrom: "2026-01-01", limit: 20 } }),
  output: z.strictObject({ transferOrders: z.array(headerSchema), ...pageShape }),
  async run(call, { limit, cursor, ...filters }) {
    const query = transferOrderQuery(call.shop.shopId, {
      statuses: filters.status ?? null,
      fromLocationId: filters.fromLocationId ?? null,
      toLocationId: filters.toLocationId ?? null,
      variantId: filters.variantId ?? null,
      sku: filters.sku ?? null,
      search: filters.search ?? null,
      createdFromMs: filters.dateFrom ?? null,
      createdBeforeMs: filters.dateTo ?? null,
    });
    const page = await call.read((tx) => readOnlyPage(tx, call, transferOrderTable, query, { limit, cursor }, filters));
    return {
      data: {
        transferOrders: page.headers.map(transferHeaderJson),
        totalCount: page.totalCount,
        cursor: page.cursor,
      },
    };
  },
});

const getTransferOrder = operation({
  ...read,
  tag,
  name: "transfer_order_get",
  title: "Read a transfer order",
  summary: "One transfer order with its lines, addresses and log.",
  description:
    "Reads one transfer order with all its lines, both addresses and its activity log. For one with very many lines use transfer_order_line_item_list with limit. How it travels is told by transfer_order_shipment_get.",
  route: { method: "GET", path },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ transferOrderId }).meta({ example }),
  output: z.strictObject({
    transferOrder: z
      .strictObject({
        ...headerShape,
        lineItems: z.array(lineSchema),
        addresses: addressesSchema,
        log: z.array(logEntrySchema),
      })
      .meta({ description: "A transfer order in full." }),
  }),
  run: (call, input) =>
    call.read(async (tx) => {
      const { shopId } = call.shop;
      const order = await readOnlyHeader(tx, call, transferOrderTable, input.transferOrderId, called);
      const lines = await partsOf(tx, transferLines, shopId, input.transferOrderId);
      const log = await partsOf(tx, transferLog, shopId, input.transferOrderId);
      return {
        data: {
          transferOrder: {
            ...transferHeaderJson(order),
            lineItems: lines.map(transferLineJson),
            addresses: transferAddressesJson(order),
            log: log.map(logEntryJson),
          },
        },
      };
    }),
});

const listLineItems = operation({
  ...read,
  tag,
  name: "transfer_order_line_item_list",
  title: "List a transfer order's lines",
  summary: "The lines of one transfer order, in its own order.",
  description:
    "Lists the lines of one transfer order with what was requested, shipped and received: all of them, or page by page when limit is given.",
  route: { method: "GET", path: `${path}/line-items` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ transferOrderId, ...partsInput }).meta({ example: { ...example, limit: 20 } }),
  output: z.strictObject({ lineItems: z.array(lineSchema), ...pageShape }),
  run: (call, input) =>
    call.read(async (tx) => {
      await readOnlyHeader(tx, call, transferOrderTable, input.transferOrderId, called);
      const page = await readOnlyParts(tx, call, transferLines, input.transferOrderId, input);
      return {
        data: { lineItems: page.parts.map(transferLineJson), totalCount: page.totalCount, cursor: page.cursor },
      };
    }),
});

const getShipment = operation({
  ...read,
  tag,
  name: "transfer_order_shipment_get",
  title: "Read a transfer order's shipment",
  summary: "How one transfer order travels; null when it has no shipment.",
  description:
    "Reads the shipment of one transfer order with the lines it carries: the earliest that is still to arrive, else the latest, else null. In its lineAllocations, poLineItemId is the transferLineItemId.",
  route: { method: "GET", path: `${path}/shipment` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ transferOrderId }).meta({ example }),
  output: z.strictObject({ shipment: shipmentSchema.nullable() }),
  run: (call, input) =>
    call.read(async (tx) => {
      await readOnlyHeader(tx, call, transferOrderTable, input.transferOrderId, called);
      const shipment = currentShipment(await partsOf(tx, transferShipments, call.shop.shopId, input.transferOrderId));
      return { data: { shipment: shipment === null ? null : shipmentJson(shipment) } };
    }),
});

const listDocuments = operation({
  ...read,
  tag,
  name: "transfer_order_document_list",
  title: "List a transfer order's documents",
  summary: "Metadata of the documents of one transfer order.",
  description: "Lists what is known of a transfer order's documents. Their content is not served here.",
  route: { method: "GET", path: `${path}/documents` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ transferOrderId }).meta({ example }),
  output: z.strictObject({ documents: z.array(documentSchema) }),
  run: (call, input) =>
    call.read(async (tx) => {
      await readOnlyHeader(tx, call, transferOrderTable, input.transferOrderId, called);
      const documents = await partsOf(tx, transferDocuments, call.shop.shopId, input.transferOrderId);
      return { data: { documents: documents.map(documentJson) } };
    }),
});

const getAddresses = operation({
  ...read,
  tag,
  name: "transfer_order_address_get",
  title: "Read a transfer order's addresses",
  summary: "Where one transfer order leaves from and where it goes.",
  description: "Reads both addresses of one transfer order; each is null when it is not known.",
  route: { method: "GET", path: `${path}/addresses` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ transferOrderId }).meta({ example }),
  output: z.strictObject({ addresses: addressesSchema }),
  run: (call, input) =>
    call.read(async (tx) => {
      const order = await readOnlyHeader(tx, call, transferOrderTable, input.transferOrderId, called);
      return { data: { addresses: transferAddressesJson(order) } };
    }),
});

const listLog = operation({
  ...read,
  tag,
  name: "transfer_order_log_list",
  title: "List a transfer order's activity",
  summary: "What was done to one transfer order and by whom, newest first.",
  description:
    "Lists the activity log of one transfer order. All entries, or page by page when limit is given. In changes, poLineItemId is the transferLineItemId.",
  route: { method: "GET", path: `${path}/log` },
  faults: ["NOT_FOUND"],
  input: z.strictObject({ transferOrderId, ...partsInput }).meta({ example: { ...example, limit: 20 } }),
  output: z.strictObject({ log: z.array(logEntrySchema), ...pageShape }),
  run: (call, input) =>
    call.read(async (tx) => {
      await readOnlyHeader(tx, call, transferOrderTable, input.transferOrderId, called);
      const page = await readOnlyParts(tx, call, transferLog, input.transferOrderId, input);
      return { data: { log: page.parts.map(logEntryJson), totalCount: page.totalCount, cursor: page.cursor } };
    }),
});

export const transferOrderOperations = [
  listTransferOrders,
  getTransferOrder,
  listLineItems,
  getShipment,
  listDocuments,
  getAddresses,
  listLog,
] as const;
