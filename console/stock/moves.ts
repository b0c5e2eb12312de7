/** Transfers and manufacturing orders: what goes from one location to another, and what is built. */
import { openpo, problemOf } from "../data/client.ts";
import { money, number } from "../data/format.ts";
import { chosenColumn, column, nameColumn } from "../parts/lists/record-columns.tsx";
import { stockTexts } from "../texts/en/goods/stock.ts";
import {
  chosenOf,
  cursorOf,
  dayOf,
  type Kind,
  locationName,
  momentOf,
  nameLocations,
  textIn,
  value,
  variantNames,
} from "./kinds.ts";

const { columns: titles, lines: words } = stockTexts;

const transferStatuses = [
  "Draft",
  "Ready to Ship",
  "In Transit",
  "Partially Received",
  "Received",
  "Cancelled",
] as const;

export const transfers: Kind = {
  statuses: transferStatuses,
  places: [
    { parameter: "fromLocationId", title: titles.from },
    { parameter: "toLocationId", title: titles.to },
  ],
  hasDates: true,
  columns: {
    from: nameColumn(titles.from, true),
    to: nameColumn(titles.to, true),
    quantity: column(titles.quantity, true, true),
    value: column(titles.value, true),
    arrival: column(titles.arrival, false, true),
    shipped: chosenColumn(titles.shipped),
    by: chosenColumn(titles.by),
  },
  async page(query, cursor) {
    const result = await openpo.call("transfer_order_list", {
      status: chosenOf(query, "status", transferStatuses),
      fromLocationId: textIn(query, "fromLocationId"),
      toLocationId: textIn(query, "toLocationId"),
      dateFrom: textIn(query, "dateFrom"),
      dateTo: textIn(query, "dateTo"),
      search: textIn(query, "search"),
      ...cursorOf(cursor),
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { transferOrders, totalCount, cursor: next } = result.data;
    await nameLocations(transferOrders.flatMap(({ fromLocationId, toLocationId }) => [fromLocationId, toLocationId]));
    const rows = transferOrders.map((each) => ({
      id: each.transferOrderId,
      title: each.transferNumber ?? each.transferOrderId,
      hint: each.transferName,
      status: each.status,
      values: [
        value(locationName(each.fromLocationId)),
        value(locationName(each.toLocationId)),
        value(number(each.totalQuantity)),
        value(money(each.totalValue, each.currencyCode)),
        value(dayOf(each.expectedArrivalDate)),
        value(momentOf(each.shippedAt)),
        value(each.createdBy),
      ],
    }));
    return { rows, totalCount, cursor: next };
  },
  async detail(transferOrderId) {
    const result = await openpo.call("transfer_order_get", { transferOrderId });
    if (!result.ok) return problemOf(result);
    const { transferOrder: found } = result.data;
    const [names] = await Promise.all([
      variantNames(found.lineItems.map(({ variantId }) => variantId)),
      nameLocations([found.fromLocationId, found.toLocationId]),
    ]);
    return {
      title: found.transferNumber ?? found.transferOrderId,
      hint: found.transferName,
      status: found.status,
      facts: [
        [titles.from, locationName(found.fromLocationId)],
        [titles.to, locationName(found.toLocationId)],
        [titles.quantity, number(found.totalQuantity)],
        [titles.value, money(found.totalValue, found.currencyCode)],
        [titles.arrival, dayOf(found.expectedArrivalDate)],
        [titles.shipped, momentOf(found.shippedAt)],
        [titles.by, found.createdBy],
        [titles.note, found.note],
      ],
      tables: [
        {
          title: words.title,
          columns: [
            column(words.product),
            column(words.sku),
            column(words.requested, true),
            column(words.shipped, true),
            column(words.received, true),
            column(words.pending, true),
          ],
          rows: found.lineItems.map((line) => ({
            id: line.transferLineItemId,
            values: [
              names.get(line.variantId) ?? line.variantId,
              line.sku ?? "",
              number(line.quantityRequested),
              number(line.quantityShipped),
              number(line.quantityReceived),
              number(line.quantityPending),
            ],
          })),
        },
      ],
      log: found.log,
      orders: [],
    };
  },
};

const buildStatuses = [
  "Draft",
  "Planned",
  "In Progress",
  "Partially Completed",
  "Completed",
  "On Hold",
  "Cancelled",
] as const;

export const manufacturing: Kind = {
  statuses: buildStatuses,
  places: [{ parameter: "productionLocationId", title: titles.location }],
  hasDates: true,
  columns: {
    location: nameColumn(titles.location),
    mode: column(titles.mode),
    progress: column(titles.progress, true, true),
    due: column(titles.due, false, true),
    planned: chosenColumn(titles.planned),
    by: chosenColumn(titles.by),
    completed: chosenColumn(titles.completed),
  },
  async page(query, cursor) {
    const at = textIn(query, "productionLocationId");
    const result = await openpo.call("manufacturing_order_list", {
      status: chosenOf(query, "status", buildStatuses),
      productionLocationId: at === undefined ? undefined : [at],
      dateFrom: textIn(query, "dateFrom"),
      dateTo: textIn(query, "dateTo"),
      search: textIn(query, "search"),
      includeMeasures: true,
      ...cursorOf(cursor),
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { manufacturingOrders, totalCount, cursor: next } = result.data;
    await nameLocations(manufacturingOrders.map(({ productionLocationId }) => productionLocationId));
    const rows = manufacturingOrders.map((each) => ({
      id: each.manufacturingOrderId,
      title: each.moNumber ?? each.manufacturingOrderId,
      hint: each.moName,
      status: each.status,
      values: [
        value(locationName(each.productionLocationId)),
        value(stockTexts.modes[each.executionMode]),
        value(
          each.measures === undefined
            ? null
            : stockTexts.of(each.measures.quantityCompleted, each.measures.quantityPlanned),
        ),
        value(dayOf(each.dueDate)),
        value(dayOf(each.plannedStartDate)),
        value(each.createdBy),
        value(momentOf(each.completedAt)),
      ],
    }));
    return { rows, totalCount, cursor: next };
  },
  async detail(manufacturingOrderId) {
    const [result, logged] = await Promise.all([
      openpo.call("manufacturing_order_get", { manufacturingOrderId, includeMeasures: true }),
      openpo.call("manufacturing_order_log_list", { manufacturingOrderId, limit: 50 }),
    ]);
    if (!result.ok) return problemOf(result);
    const { manufacturingOrder: found } = result.data;
    const [names] = await Promise.all([
      variantNames([...found.itemsToBuild, ...found.materials].map(({ variantId }) => variantId)),
      nameLocations([found.productionLocationId]),
    ]);
    const { measures } = found;
    return {
      title: found.moNumber ?? found.manufacturingOrderId,
      hint: found.moName,
      status: found.status,
      facts: [
        [titles.location, locationName(found.productionLocationId)],
        [titles.mode, stockTexts.modes[found.executionMode]],
        [
          titles.progress,
          measures === undefined ? null : stockTexts.of(measures.quantityCompleted, measures.quantityPlanned),
        ],
        [titles.planned, dayOf(found.plannedStartDate)],
        [titles.due, dayOf(found.dueDate)],
        [titles.completed, momentOf(found.completedAt)],
        [titles.by, found.createdBy],
        [titles.note, found.note],
      ],
      tables: [
        {
          title: words.toBuild,
          columns: [
            column(words.product),
            column(words.sku),
            column(words.planned, true),
            column(words.completed, true),
            column(words.scrapped, true),
          ],
          rows: found.itemsToBuild.map((item) => ({
            id: item.moItemId,
            values: [
              names.get(item.variantId) ?? item.variantId,
              item.sku ?? "",
              number(item.quantityPlanned),
              number(item.quantityCompleted),
              number(item.quantityScrapped),
            ],
          })),
        },
        {
          title: words.materials,
          columns: [
            column(words.product),
            column(words.sku),
            column(words.required, true),
            column(words.allocated, true),
            column(words.consumed, true),
            column(words.short, true),
          ],
          rows: found.materials.map((material) => ({
            id: material.moMaterialId,
            values: [
              names.get(material.variantId) ?? material.variantId,
              material.sku ?? "",
              number(material.quantityRequired),
              number(material.quantityAllocated),
              number(material.quantityConsumed),
              number(material.quantityShort),
            ],
          })),
        },
      ],
      log: logged.ok ? logged.data.log : [],
      orders: found.linkedPurchaseOrders,
    };
  },
};
