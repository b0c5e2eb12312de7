/**
 * Reading stock takes and the reasons that they share with stock adjustments (spec "Stock takes (read-only)", contract
 * §9).
 */
import { z } from "zod";
import { only } from "../core/order/guidance.ts";
import { moneyToNumber, quantityToNumber, moneyToNumberOrNull, quantityToNumberOrNull } from "../core/money/money.ts";
import {
  countTypes,
  quantityVariance,
  reasonDirections,
  type StockTakeHeader,
  type StockTakeLine,
  type StockTakeReason,
  stockTakeStatuses,
} from "../core/stock/stock-takes.ts";
import { loadReasons, stockTakeLines, stockTakeQuery, stockTakeTable } from "../shop/stock/stock-takes.ts";
import { instant, instantOrNull, instantSchema, listParameter, plainParameter } from "./fields.ts";
import { operation } from "../requests/operation.ts";
import { pageInput, read, partsToShow, ReadOnlyOperations, searchParameter } from "./read-only.ts";

const tag = "Stock takes";
const stockTakes = new ReadOnlyOperations({
  table: stockTakeTable,
  noun: "stock take",
  tag,
  path: "/stock-takes",
  idName: "stockTakeId",
  exampleId: "st_demo_01",
  listName: "stock_take_list",
});

const headerShape = {
  stockTakeId: z.string(),
  stockTakeNumber: z.string().nullable(),
  stockTakeName: z.string().nullable(),
  status: z.enum(stockTakeStatuses),
  locationId: z.string().nullable(),
  countType: z.enum(countTypes),
  reasonId: z.string().nullable(),
  reason: z.string().nullable().meta({ description: "The reason's name when the stock take was made." }),
  itemCount: z.int().meta({ description: "Number of lines." }),
  countedItemCount: z.int().meta({ description: "Lines that have been counted." }),
  netQuantityChange: z.number().meta({ description: "Counted minus expected, over all counted lines." }),
  netValueChange: z.number().meta({ description: "The value of that change, in currencyCode." }),
  currencyCode: z.string(),
  stockAdjustmentId: z.string().nullable().meta({ description: "The adjustment that the stock take led to." }),
  createdBy: z.string().nullable(),
  createdAt: instantSchema,
  startedAt: instantSchema.nullable(),
  completedAt: instantSchema.nullable(),
  note: z.string().nullable(),
} as const;

const headerSchema = z.strictObject(headerShape).meta({ description: "A stock take without its lines." });

export const stockTakeHeaderJson = (take: StockTakeHeader): z.output<typeof headerSchema> => ({
  stockTakeId: take.stockTakeId,
  stockTakeNumber: take.stockTakeNumber,
  stockTakeName: take.stockTakeName,
  status: take.status,
  locationId: take.locationId,
  countType: take.countType,
  reasonId: take.reasonId,
  reason: take.reason,
  itemCount: take.itemCount,
  countedItemCount: take.countedItemCount,
  netQuantityChange: quantityToNumber(take.netQuantityChange),
  netValueChange: moneyToNumber(take.netValueChange),
  currencyCode: take.currencyCode,
  stockAdjustmentId: take.stockAdjustmentId,
  createdBy: take.createdBy,
  createdAt: instant(take.createdAtMs),
  startedAt: instantOrNull(take.startedAtMs),
  completedAt: instantOrNull(take.completedAtMs),
  note: take.note,
});

const lineSchema = z
  .strictObject({
    stockTakeLineItemId: z.string(),
    variantId: z.string(),
    sku: z.string().nullable(),
    productName: z.string().nullable(),
    quantityExpected: z.number(),
    quantityCounted: z.number().nullable().meta({ description: "Null until it is counted." }),
    quantityVariance: z.number().nullable().meta({ description: "Counted minus expected; null until it is counted." }),
    unitCost: z.number().nullable(),
    valueVariance: z.number().nullable().meta({ description: "The variance at the unit cost." }),
    reasonId: z.string().nullable(),
    countedBy: z.string().nullable(),
    countedAt: instantSchema.nullable(),
    note: z.string().nullable(),
  })
  .meta({ description: "A line of a stock take." });

export const stockTakeLineJson = (line: StockTakeLine): z.output<typeof lineSchema> => ({
  stockTakeLineItemId: line.stockTakeLineItemId,
  variantId: line.variantId,
  sku: line.sku,
  productName: line.productName,
  quantityExpected: quantityToNumber(line.quantityExpected),
  quantityCounted: quantityToNumberOrNull(line.quantityCounted),
  quantityVariance: quantityToNumberOrNull(quantityVariance(line)),
  unitCost: moneyToNumberOrNull(line.unitCost),
  valueVariance: moneyToNumberOrNull(line.valueVariance),
  reasonId: line.reasonId,
  countedBy: line.countedBy,
  countedAt: instantOrNull(line.countedAtMs),
  note: line.note,
});

const reasonSchema = z
  .strictObject({
    reasonId: z.string(),
    name: z.string(),
    code: z.string().nullable(),
    direction: z.enum(reasonDirections).meta({ description: "Which changes it may explain." }),
    isSystem: z.boolean(),
    isActive: z.boolean().meta({ description: "Whether it may be chosen for new stock takes and adjustments." }),
  })
  .meta({ description: "A reason for a difference in stock." });

export const reasonJson = (reason: StockTakeReason): z.output<typeof reasonSchema> => ({
  reasonId: reason.reasonId,
  name: reason.name,
  code: reason.code,
  direction: reason.direction,
  isSystem: reason.isSystem,
  isActive: reason.isActive,
});

const listStockTakes = stockTakes.list(
  {
    description: `${only("rest", "Filters narrow together; one that takes several values matches any of them. To go on, pass cursor with the same filters until it is null. ")}stock_take_get has the lines of one.`,
    input: z
      .strictObject({
        status: listParameter(z.enum(stockTakeStatuses), "Status."),
        locationId: plainParameter("Stock takes at this location."),
        search: searchParameter("Part of the number or name."),
        ...pageInput,
      })
      .meta({ example: { status: ["In Progress", "Counted"], limit: 20 } }),
    member: "stockTakes",
    header: headerSchema,
  },
  (_shopId, filters) =>
    stockTakeQuery({
      statuses: filters.status ?? null,
      locationId: filters.locationId ?? null,
      search: filters.search ?? null,
    }),
  async (takes) => takes.map(stockTakeHeaderJson),
);

const listReasons = operation({
  ...read,
  tag,
  name: "stock_take_reason_list",
  toolSets: ["stock"],
  title: "List stock take reasons",
  summary: "The reasons that stock takes and stock adjustments can have, inactive ones too, by name.",
  description: "stock_adjustment_list filters by a reason's id or name.",
  route: { method: "GET", path: "/stock-takes/reasons" },
  faults: [],
  input: z.strictObject({}).meta({ example: {} }),
  output: z.strictObject({ reasons: z.array(reasonSchema) }),
  async run(call) {
    const reasons = await call.read((tx) => loadReasons(tx, call.shop.shopId));
    return { data: { reasons: reasons.map(reasonJson) } };
  },
});

const getStockTake = stockTakes.one(
  {
    name: "stock_take_get",
    title: "Read a stock take",
    summary: "One stock take with its lines.",
    description:
      "For one with very many lines use stock_take_line_item_list. stockAdjustmentId names its change of stock.",
    at: "",
    input: stockTakes.byId({}),
    output: z.strictObject({
      stockTake: z
        .strictObject({ ...headerShape, lineItems: z.array(lineSchema) })
        .meta({ description: "A stock take with its lines." }),
    }),
  },
  async (take, reading) => {
    const lines = await partsToShow(reading, stockTakeLines);
    return { stockTake: { ...stockTakeHeaderJson(take), lineItems: lines.map(stockTakeLineJson) } };
  },
);

const listLineItems = stockTakes.lines({
  name: "stock_take_line_item_list",
  description: `With expected and counted quantities.${only("rest", " All of them, or page by page with limit.")}`,
  kind: stockTakeLines,
  part: lineSchema,
  json: stockTakeLineJson,
});

export const stockTakeOperations = [listStockTakes, listReasons, getStockTake, listLineItems] as const;
