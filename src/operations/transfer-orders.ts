/**
 * Reading transfer orders, their shipment, documents, addresses and log (spec "Transfer orders (read-only)", contract
 * §9).
 */
import { mention, only } from "../core/order/guidance.ts";
import { z } from "zod";
import { currentShipment } from "../core/order/attachments.ts";
import { moneyToNumber, quantityToNumber, moneyToNumberOrNull } from "../core/money/money.ts";
import {
  type TransferLine,
  type TransferOrderHeader,
  transferOrderStatuses,
  transferPending,
} from "../core/stock/transfer-orders.ts";
import {
  transferDocuments,
  transferLines,
  transferLog,
  transferOrderQuery,
  transferOrderTable,
  transferShipments,
} from "../shop/stock/transfer-orders.ts";
import {
  addressJson,
  addressSchema,
  dateFrom,
  dateSchema,
  dateTo,
  instant,
  instantOrNull,
  instantSchema,
  listParameter,
  orderedRange,
  plainParameter,
} from "./fields.ts";
import {
  documentJson,
  documentSchema,
  logEntryJson,
  logEntrySchema,
  shipmentJson,
  shipmentSchema,
} from "./purchase-orders/attachments.ts";
import { pageInput, partsToShow, ReadOnlyOperations, searchParameter } from "./read-only.ts";

const transferOrders = new ReadOnlyOperations({
  table: transferOrderTable,
  noun: "transfer order",
  tag: "Transfer orders",
  path: "/transfer-orders",
  idName: "transferOrderId",
  exampleId: "to_demo_02",
  listName: "transfer_order_list",
});

const headerShape = {
  transferOrderId: z.string(),
  transferNumber: z.string().nullable(),
  transferName: z.string().nullable(),
  status: z.enum(transferOrderStatuses),
  fromLocationId: z.string().nullable(),
  toLocationId: z.string().nullable(),
  itemCount: z.int().meta({ description: "Number of lines." }),
  totalQuantity: z.number().meta({ description: "Requested quantities of all lines." }),
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
  unitCost: moneyToNumberOrNull(line.unitCost),
});

const addressesSchema = z
  .strictObject({ fromAddress: addressSchema.nullable(), toAddress: addressSchema.nullable() })
  .meta({ description: "Where a transfer leaves from and where it goes." });

export const transferAddressesJson = (order: TransferOrderHeader): z.output<typeof addressesSchema> => ({
  fromAddress: addressJson(order.fromAddress),
  toAddress: addressJson(order.toAddress),
});

const listTransferOrders = transferOrders.list(
  {
    description: `${only("rest", "Filters narrow together; one that takes several values matches any of them. To go on, pass cursor with the same filters until it is null. ")}transfer_order_get has the lines of one.`,
    input: z
      .strictObject({
        status: listParameter(z.enum(transferOrderStatuses), "Status."),
        fromLocationId: plainParameter("Transfers from this location."),
        toLocationId: plainParameter("Transfers to this location."),
        variantId: plainParameter("Transfers with a line of this variant."),
        sku: plainParameter("Transfers with a line of exactly this SKU."),
        search: searchParameter("Part of the number or name."),
        dateFrom,
        dateTo,
        ...pageInput,
      })
      .check(orderedRange("dateFrom", "dateTo"))
      .meta({ example: { status: ["In Transit"], dateFrom: "2026-01-01", limit: 20 } }),
    member: "transferOrders",
    header: headerSchema,
  },
  (shopId, filters) =>
    transferOrderQuery(shopId, {
      statuses: filters.status ?? null,
      fromLocationId: filters.fromLocationId ?? null,
      toLocationId: filters.toLocationId ?? null,
      variantId: filters.variantId ?? null,
      sku: filters.sku ?? null,
      search: filters.search ?? null,
      createdFromMs: filters.dateFrom ?? null,
      createdBeforeMs: filters.dateTo ?? null,
    }),
  async (orders) => orders.map(transferHeaderJson),
);

const getTransferOrder = transferOrders.one(
  {
    name: "transfer_order_get",
    title: "Read a transfer order",
    summary: "One transfer order with its lines, addresses and log.",
    description: `For one with very many lines use transfer_order_line_item_list${only("rest", ", for its shipment transfer_order_shipment_get")}.`,
    at: "",
    input: transferOrders.byId({}),
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
  },
  async (order, reading) => {
    const lines = await partsToShow(reading, transferLines);
    const log = await partsToShow(reading, transferLog);
    return {
      transferOrder: {
        ...transferHeaderJson(order),
        lineItems: lines.map(transferLineJson),
        addresses: transferAddressesJson(order),
        log: log.map(logEntryJson),
      },
    };
  },
);

const listLineItems = transferOrders.lines({
  name: "transfer_order_line_item_list",
  description: `With requested, shipped and received quantities.${only("rest", " All of them, or page by page with limit.")}`,
  kind: transferLines,
  part: lineSchema,
  json: transferLineJson,
});

const getShipment = transferOrders.one(
  {
    name: "transfer_order_shipment_get",
    title: "Read a transfer order's shipment",
    summary: "The shipment of one transfer order with the lines it carries; null when it has none.",
    description: `The earliest that is still to arrive, else the latest. In its lineAllocations, ${mention("shownLineId")} is the transferLineItemId.`,
    at: "/shipment",
    input: transferOrders.byId({}),
    output: z.strictObject({ shipment: shipmentSchema.nullable() }),
  },
  async (_order, reading) => {
    const shipment = currentShipment(await partsToShow(reading, transferShipments));
    return { shipment: shipment === null ? null : shipmentJson(shipment) };
  },
);

const listDocuments = transferOrders.one(
  {
    name: "transfer_order_document_list",
    title: "List a transfer order's documents",
    summary: "Metadata of the documents of one transfer order: names, types, sizes, versions.",
    description: "Their content is not served here.",
    at: "/documents",
    input: transferOrders.byId({}),
    output: z.strictObject({ documents: z.array(documentSchema) }),
  },
  async (_order, reading) => {
    const documents = await partsToShow(reading, transferDocuments);
    return { documents: documents.map(documentJson) };
  },
);

const getAddresses = transferOrders.one(
  {
    name: "transfer_order_address_get",
    title: "Read a transfer order's addresses",
    summary: "Where one transfer order leaves from and where it goes.",
    description: "Both addresses; each is null when it is not known.",
    at: "/addresses",
    input: transferOrders.byId({}),
    output: z.strictObject({ addresses: addressesSchema }),
  },
  async (order) => ({ addresses: transferAddressesJson(order) }),
);

const listLog = transferOrders.log({
  name: "transfer_order_log_list",
  description: `${only("rest", "All entries, or page by page with limit. ")}In changes, ${mention("shownLineId")} is the transferLineItemId.`,
  kind: transferLog,
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
