/**
 * Reading stock adjustments (spec "Stock adjustment (read-only)", contract §9).
 */
import { z } from "zod";
import { only } from "../core/order/guidance.ts";
import { moneyToNumber, quantityToNumber, moneyToNumberOrNull } from "../core/money/money.ts";
import {
  type StockAdjustmentHeader,
  type StockAdjustmentLine,
  stockAdjustmentStatuses,
} from "../core/stock/stock-adjustments.ts";
import {
  loadRevertLinks,
  stockAdjustmentLines,
  stockAdjustmentQuery,
  stockAdjustmentTable,
} from "../shop/stock/stock-adjustments.ts";
import type { Tx } from "../store/store.ts";
import { instant, instantOrNull, instantSchema, listParameter, plainParameter, textParameter } from "./fields.ts";
import { pageInput, partsToShow, ReadOnlyOperations, searchParameter } from "./read-only.ts";

const stockAdjustments = new ReadOnlyOperations({
  table: stockAdjustmentTable,
  noun: "stock adjustment",
  tag: "Stock adjustments",
  path: "/stock-adjustments",
  idName: "stockAdjustmentId",
  exampleId: "sa_demo_01",
  listName: "stock_adjustment_list",
});

const headerShape = {
  stockAdjustmentId: z.string(),
  stockAdjustmentNumber: z.string().nullable(),
  status: z.enum(stockAdjustmentStatuses),
  locationId: z.string().nullable(),
  reasonId: z.string().nullable().meta({ description: "One of the stock take reasons." }),
  reason: z.string().nullable().meta({ description: "The reason's name when the adjustment was made." }),
  itemCount: z.int().meta({ description: "Number of lines." }),
  netQuantityChange: z.number().meta({ description: "The sum of the lines." }),
  netValueChange: z.number().meta({ description: "The value of that change, in currencyCode." }),
  currencyCode: z.string(),
  createdBy: z.string().nullable().meta({ description: "The operator." }),
  createdAt: instantSchema,
  appliedAt: instantSchema.nullable(),
  revertOf: z.string().nullable().meta({ description: "The adjustment that this one takes back." }),
  revertedBy: z.string().nullable().meta({ description: "The adjustment that takes this one back." }),
  note: z.string().nullable(),
} as const;

const headerSchema = z.strictObject(headerShape).meta({ description: "A stock adjustment without its lines." });

export const stockAdjustmentHeaderJson = (adjustment: StockAdjustmentHeader): z.output<typeof headerSchema> => ({
  stockAdjustmentId: adjustment.stockAdjustmentId,
  stockAdjustmentNumber: adjustment.stockAdjustmentNumber,
  status: adjustment.status,
  locationId: adjustment.locationId,
  reasonId: adjustment.reasonId,
  reason: adjustment.reason,
  itemCount: adjustment.itemCount,
  netQuantityChange: quantityToNumber(adjustment.netQuantityChange),
  netValueChange: moneyToNumber(adjustment.netValueChange),
  currencyCode: adjustment.currencyCode,
  createdBy: adjustment.createdBy,
  createdAt: instant(adjustment.createdAtMs),
  appliedAt: instantOrNull(adjustment.appliedAtMs),
  revertOf: adjustment.revertOf,
  revertedBy: adjustment.revertedBy,
  note: adjustment.note,
});

const lineSchema = z
  .strictObject({
    stockAdjustmentLineItemId: z.string(),
    variantId: z.string(),
    sku: z.string().nullable(),
    quantityDelta: z.number().meta({ description: "Signed: how much was added or taken away." }),
    unitCost: z.number().nullable(),
    valueChange: z.number().nullable().meta({ description: "The delta at the unit cost." }),
    reasonId: z.string().nullable(),
    note: z.string().nullable(),
  })
  .meta({ description: "A line of a stock adjustment." });

export const stockAdjustmentLineJson = (line: StockAdjustmentLine): z.output<typeof lineSchema> => ({
  stockAdjustmentLineItemId: line.stockAdjustmentLineItemId,
  variantId: line.variantId,
  sku: line.sku,
  quantityDelta: quantityToNumber(line.quantityDelta),
  unitCost: moneyToNumberOrNull(line.unitCost),
  valueChange: moneyToNumberOrNull(line.valueChange),
  reasonId: line.reasonId,
  note: line.note,
});

/** Headers as the API shows them, with their revert links. */
async function headersJson(tx: Tx, shopId: string, adjustments: readonly StockAdjustmentHeader[]) {
  const links = await loadRevertLinks(tx, shopId, adjustments);
  return adjustments.map((adjustment) => ({
    ...stockAdjustmentHeaderJson(adjustment),
    ...links.get(adjustment.stockAdjustmentId),
  }));
}

const listStockAdjustments = stockAdjustments.list(
  {
    description: `${only("rest", "Filters narrow together; one that takes several values matches any of them. To go on, pass cursor with the same filters until it is null. ")}stock_take_reason_list has the reasons.`,
    input: z
      .strictObject({
        status: listParameter(z.enum(stockAdjustmentStatuses), "Status."),
        locationId: plainParameter("Adjustments at this location."),
        reason: textParameter("A reason's id, or its name in any case."),
        createdBy: textParameter("The operator's name, exactly as it is spelled."),
        search: searchParameter("Part of the number or note."),
        ...pageInput,
      })
      .meta({ example: { status: ["Completed"], limit: 20 } }),
    member: "stockAdjustments",
    header: headerSchema,
  },
  (_shopId, filters) =>
    stockAdjustmentQuery({
      statuses: filters.status ?? null,
      locationId: filters.locationId ?? null,
      reason: filters.reason ?? null,
      createdBy: filters.createdBy ?? null,
      search: filters.search ?? null,
    }),
  (adjustments, tx, call) => headersJson(tx, call.shop.shopId, adjustments),
);

const getStockAdjustment = stockAdjustments.one(
  {
    name: "stock_adjustment_get",
    title: "Read a stock adjustment",
    summary: "One stock adjustment with its lines: signed deltas and their values.",
    description:
      "For one with very many lines use stock_adjustment_line_item_list. revertOf and revertedBy name the other one of a revert pair.",
    at: "",
    input: stockAdjustments.byId({}),
    output: z.strictObject({
      stockAdjustment: z
        .strictObject({ ...headerShape, lineItems: z.array(lineSchema) })
        .meta({ description: "A stock adjustment with its lines." }),
    }),
  },
  async (adjustment, reading) => {
    const { tx, shopId, resourceId } = reading;
    const links = await loadRevertLinks(tx, shopId, [adjustment]);
    const lines = await partsToShow(reading, stockAdjustmentLines);
    return {
      stockAdjustment: {
        ...stockAdjustmentHeaderJson(adjustment),
        ...links.get(resourceId),
        lineItems: lines.map(stockAdjustmentLineJson),
      },
    };
  },
);

const listLineItems = stockAdjustments.lines({
  name: "stock_adjustment_line_item_list",
  description: `Signed deltas, never counted quantities.${only("rest", " All of them, or page by page with limit.")}`,
  kind: stockAdjustmentLines,
  part: lineSchema,
  json: stockAdjustmentLineJson,
});

export const stockAdjustmentOperations = [listStockAdjustments, getStockAdjustment, listLineItems] as const;
