/** Stock takes and adjustments: what was counted, and what was changed. */
import { openpo, problemOf } from "../data/client.ts";
import { money, number } from "../data/format.ts";
import { chosenColumn, column, nameColumn } from "../parts/lists/record-columns.tsx";
import { stockTexts } from "../texts/en/goods/stock.ts";
import {
  chosenOf,
  cursorOf,
  type Kind,
  locationName,
  momentOf,
  nameLocations,
  textIn,
  value,
  variantNames,
} from "./kinds.ts";

const { columns: titles, lines: words, signed } = stockTexts;

const takeStatuses = ["Draft", "In Progress", "Counted", "Completed", "Cancelled"] as const;

export const takes: Kind = {
  statuses: takeStatuses,
  places: [{ parameter: "locationId", title: titles.location }],
  hasDates: false,
  columns: {
    location: nameColumn(titles.location),
    counted: column(titles.counted, false, true),
    change: column(titles.change, true, true),
    value: column(titles.value, true),
    created: column(titles.created),
    by: chosenColumn(titles.by),
    completed: chosenColumn(titles.completed),
  },
  async page(query, cursor) {
    const result = await openpo.call("stock_take_list", {
      status: chosenOf(query, "status", takeStatuses),
      locationId: textIn(query, "locationId"),
      search: textIn(query, "search"),
      ...cursorOf(cursor),
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { stockTakes, totalCount, cursor: next } = result.data;
    await nameLocations(stockTakes.map(({ locationId }) => locationId));
    const rows = stockTakes.map((take) => ({
      id: take.stockTakeId,
      title: take.stockTakeNumber ?? take.stockTakeId,
      hint: take.stockTakeName,
      status: take.status,
      values: [
        value(locationName(take.locationId)),
        value(stockTexts.of(take.countedItemCount, take.itemCount)),
        value(signed(take.netQuantityChange)),
        value(money(take.netValueChange, take.currencyCode)),
        value(momentOf(take.createdAt)),
        value(take.createdBy),
        value(momentOf(take.completedAt)),
      ],
    }));
    return { rows, totalCount, cursor: next };
  },
  async detail(stockTakeId) {
    const result = await openpo.call("stock_take_get", { stockTakeId });
    if (!result.ok) return problemOf(result);
    const { stockTake: take } = result.data;
    const [names] = await Promise.all([
      variantNames(take.lineItems.map(({ variantId }) => variantId)),
      nameLocations([take.locationId]),
    ]);
    return {
      title: take.stockTakeNumber ?? take.stockTakeId,
      hint: take.stockTakeName,
      status: take.status,
      facts: [
        [titles.location, locationName(take.locationId)],
        [titles.type, stockTexts.countTypes[take.countType]],
        [titles.counted, stockTexts.of(take.countedItemCount, take.itemCount)],
        [titles.change, signed(take.netQuantityChange)],
        [titles.value, money(take.netValueChange, take.currencyCode)],
        [titles.reason, take.reason],
        [titles.by, take.createdBy],
        [titles.completed, momentOf(take.completedAt)],
        [titles.note, take.note],
      ],
      tables: [
        {
          title: words.title,
          columns: [
            column(words.product),
            column(words.sku),
            column(words.expected, true),
            column(words.counted, true),
            column(words.variance, true),
            column(words.value, true),
          ],
          rows: take.lineItems.map((line) => ({
            id: line.stockTakeLineItemId,
            values: [
              names.get(line.variantId) ?? line.productName ?? line.variantId,
              line.sku ?? "",
              number(line.quantityExpected),
              line.quantityCounted === null ? "" : number(line.quantityCounted),
              line.quantityVariance === null ? "" : signed(line.quantityVariance),
              line.valueVariance === null ? "" : money(line.valueVariance, take.currencyCode),
            ],
          })),
        },
      ],
      log: [],
      orders: [],
    };
  },
};

const adjustmentStatuses = ["Draft", "Completed", "Reverted"] as const;

export const adjustments: Kind = {
  statuses: adjustmentStatuses,
  places: [{ parameter: "locationId", title: titles.location }],
  hasDates: false,
  columns: {
    location: nameColumn(titles.location),
    reason: column(titles.reason),
    change: column(titles.change, true, true),
    value: column(titles.value, true),
    created: column(titles.created),
    completed: chosenColumn(titles.completed),
  },
  async page(query, cursor) {
    const result = await openpo.call("stock_adjustment_list", {
      status: chosenOf(query, "status", adjustmentStatuses),
      locationId: textIn(query, "locationId"),
      search: textIn(query, "search"),
      ...cursorOf(cursor),
    });
    if (!result.ok) return { problem: problemOf(result) };
    const { stockAdjustments, totalCount, cursor: next } = result.data;
    await nameLocations(stockAdjustments.map(({ locationId }) => locationId));
    const rows = stockAdjustments.map((each) => ({
      id: each.stockAdjustmentId,
      title: each.stockAdjustmentNumber ?? each.stockAdjustmentId,
      hint: each.createdBy,
      status: each.status,
      values: [
        value(locationName(each.locationId)),
        value(each.reason),
        value(signed(each.netQuantityChange)),
        value(money(each.netValueChange, each.currencyCode)),
        value(momentOf(each.createdAt)),
        value(momentOf(each.appliedAt)),
      ],
    }));
    return { rows, totalCount, cursor: next };
  },
  async detail(stockAdjustmentId) {
    const result = await openpo.call("stock_adjustment_get", { stockAdjustmentId });
    if (!result.ok) return problemOf(result);
    const { stockAdjustment: found } = result.data;
    const [names] = await Promise.all([
      variantNames(found.lineItems.map(({ variantId }) => variantId)),
      nameLocations([found.locationId]),
    ]);
    return {
      title: found.stockAdjustmentNumber ?? found.stockAdjustmentId,
      hint: null,
      status: found.status,
      facts: [
        [titles.location, locationName(found.locationId)],
        [titles.reason, found.reason],
        [titles.change, signed(found.netQuantityChange)],
        [titles.value, money(found.netValueChange, found.currencyCode)],
        [titles.by, found.createdBy],
        [titles.completed, momentOf(found.appliedAt)],
        [titles.revertOf, found.revertOf],
        [titles.revertedBy, found.revertedBy],
        [titles.note, found.note],
      ],
      tables: [
        {
          title: words.title,
          columns: [column(words.product), column(words.sku), column(words.change, true), column(words.value, true)],
          rows: found.lineItems.map((line) => ({
            id: line.stockAdjustmentLineItemId,
            values: [
              names.get(line.variantId) ?? line.variantId,
              line.sku ?? "",
              signed(line.quantityDelta),
              line.valueChange === null ? "" : money(line.valueChange, found.currencyCode),
            ],
          })),
        },
      ],
      log: [],
      orders: [],
    };
  },
};
