/**
 * Figures of a shop's purchasing, and those that stand with suppliers and products (C82, C83, C85): what is open and
 * late, what came in, cover, sales, prices paid.
 */
import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { dateOf, dayIn, type Week, weekOf, weekStart } from "../../base/time/calendar.ts";
import { type ColumnId, forecastRow, periodsFrom } from "../../core/forecast/forecast.ts";
import { addQuantity, type Money, moneyToNumber, quantityToNumber, zeroQuantity } from "../../core/money/money.ts";
import { figureDays, figureSuppliersMax, figureWeeks } from "../../core/order/advice/purchase-figures.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import {
  purchaseFigures,
  supplierDeliveries,
  supplierDocuments,
  supplierFigures,
  variantOrders,
} from "../../operations/catalogue/figures.ts";
import { cursor, dateSchema, id, limit, pageShape, pageSizeMax, pathId, shownId } from "../../operations/fields.ts";
import { documentJson, documentSchema } from "../../operations/purchase-orders/attachments.ts";
import { Fault } from "../../base/fault.ts";
import { loadRecentSales } from "../../shop/forecast/demand.ts";
import { loadVariantFacts } from "../../shop/forecast/forecast-rows.ts";
import { placedDays } from "../../shop/order/advice/report.ts";
import { lastDeliveries, documentOrders, documentsShown, orderedOn } from "../../shop/order/advice/supplier-figures.ts";
import { type AdminOperation, data, inShop, operation, readQuery, shopOf } from "../operation.ts";

const weekValues = z.array(z.strictObject({ week: dateSchema, value: z.number() }));

const weekJson = ({ week, value }: { readonly week: Week; readonly value: Money }) => ({
  week: dateOf(weekStart(week)),
  value: moneyToNumber(value),
});

const getPurchaseFigures = operation({
  name: "purchase_figures_get",
  route: { method: "GET", path: "/shops/{shopId}/purchase-figures" },
  role: "viewer",
  describes: {
    summary: "What is open, what was received week by week, and of whom was ordered.",
    description: `In the shop's currency at each order's rates. Weeks are named by their Mondays: ${figureWeeks} up to the present one of what was received, less what was taken back, and ${figureWeeks} from it on of what is expected. Days of deliveries: ${figureDays} from this week's Monday on. \`ordered\` is about orders that were created in the last ${placedDays} days and are neither drafts nor cancelled, with at most ${figureSuppliersMax} suppliers, the highest value first. \`unpricedOrders\` are counted too low, for want of a rate.`,
    output: z.strictObject({
      figures: z.strictObject({
        currencyCode: z.string(),
        open: z.strictObject({
          orders: z.int(),
          value: z.number().meta({ description: "Of the goods still to come." }),
          lateValue: z.number(),
          unpricedOrders: z.int(),
          weeks: weekValues,
          days: z.array(z.strictObject({ date: dateSchema, orders: z.int() })),
        }),
        received: z.strictObject({ weeks: weekValues }),
        ordered: z.strictObject({
          orders: z.int(),
          value: z.number(),
          unpricedOrders: z.int(),
          suppliers: z.array(
            z.strictObject({
              supplierId: z.string().nullable(),
              supplierName: z.string().nullable(),
              orders: z.int(),
              value: z.number(),
            }),
          ),
        }),
      }),
    }),
  },
  input: z.strictObject(inShop),
  async run(context, { shopId }, call) {
    const found = await readQuery(context, call, shopId, purchaseFigures, {});
    const { open, placed } = found;
    return data({
      figures: {
        currencyCode: found.currencyCode,
        open: {
          orders: open.orderCount,
          value: moneyToNumber(open.openValue),
          lateValue: moneyToNumber(found.late),
          unpricedOrders: open.unpricedOrderCount,
          weeks: found.expected.map(weekJson),
          days: found.deliveries.map(({ day, orders }) => ({ date: dateOf(day), orders })),
        },
        received: { weeks: found.received.map(weekJson) },
        ordered: {
          orders: placed.orderCount,
          value: moneyToNumber(placed.orderedValue),
          unpricedOrders: placed.unpricedOrderCount,
          suppliers: found.suppliers.map(({ key, name, orderCount, orderedValue }) => ({
            supplierId: key,
            supplierName: name,
            orders: orderCount,
            value: moneyToNumber(orderedValue),
          })),
        },
      },
    });
  },
});

const ids = z.array(id).min(1).max(pageSizeMax).meta({ query: "list", description: "Their ids." });

const listSupplierFigures = operation({
  name: "supplier_figures_list",
  route: { method: "GET", path: "/shops/{shopId}/supplier-figures" },
  role: "viewer",
  describes: {
    summary: "What is open, what is late and when the last order was, for these suppliers.",
    description:
      "Open orders are those that were sent and are neither received, held nor over. Their value is in their own currencies. A supplier without orders has zeros.",
    output: z.strictObject({
      suppliers: z.array(
        z.strictObject({
          supplierId: z.string(),
          openOrders: z.int(),
          openValue: z.array(z.strictObject({ currencyCode: z.string(), amount: z.number() })),
          lateOrders: z.int(),
          lastOrder: z
            .strictObject({ purchaseOrderId: z.string(), poNumber: z.string(), orderedOn: dateSchema })
            .nullable()
            .meta({ description: "The newest one that is neither a draft nor cancelled." }),
        }),
      ),
    }),
  },
  input: z.strictObject({ ...inShop, ids }),
  async run(context, { shopId, ids: supplierIds }, call) {
    const suppliers = await readQuery(context, call, shopId, supplierFigures, { ids: supplierIds });
    return data({
      suppliers: suppliers.map(({ openValue, ...figures }) => ({
        ...figures,
        openValue: openValue.map(({ currencyCode, amount }) => ({ currencyCode, amount: moneyToNumber(amount) })),
      })),
    });
  },
});

const getSupplierDeliveries = operation({
  name: "supplier_deliveries_get",
  route: { method: "GET", path: "/shops/{shopId}/suppliers/{supplierId}/deliveries" },
  role: "viewer",
  describes: {
    summary: "Whether a supplier's orders came on time.",
    description: `Of its last ${lastDeliveries} orders that were received in full, those of which it is known when their goods were expected: on time is what came by the latest of these days.`,
    output: z.strictObject({
      deliveries: z.strictObject({
        counted: z.int(),
        onTime: z.int(),
        daysLate: z.int().nullable().meta({ description: "Of those that were late, on average." }),
      }),
    }),
  },
  input: z.strictObject({ ...inShop, supplierId: pathId }),
  async run(context, { shopId, supplierId }, call) {
    return data({ deliveries: await readQuery(context, call, shopId, supplierDeliveries, { supplierId }) });
  },
});

const listSupplierDocuments = operation({
  name: "supplier_document_list",
  route: { method: "GET", path: "/shops/{shopId}/suppliers/{supplierId}/documents" },
  role: "viewer",
  describes: {
    summary: "Documents of a supplier's orders.",
    description: `Those of its last ${documentOrders} orders, at most ${documentsShown}, newest order first.`,
    output: z.strictObject({
      documents: z.array(
        z.strictObject({ purchaseOrderId: z.string(), poNumber: z.string(), ...documentSchema.shape }),
      ),
    }),
  },
  input: z.strictObject({ ...inShop, supplierId: pathId }),
  async run(context, { shopId, supplierId }, call) {
    const documents = await readQuery(context, call, shopId, supplierDocuments, { supplierId });
    return data({
      documents: documents.map(({ purchaseOrderId, poNumber, ...document }) => ({
        purchaseOrderId,
        poNumber,
        ...documentJson(document),
      })),
    });
  },
});

const figureColumns = [
  "onHand",
  "incoming",
  "daysOfCover",
  "stockoutDate",
  "reorderPoint",
  "needsReorder",
] as const satisfies readonly ColumnId[];

const number = z.number();

const figureSchemas = {
  variantId: z.string(),
  onHand: number,
  incoming: number,
  daysOfCover: number.nullable().meta({ description: "Days that the stock lasts; null: nothing sells." }),
  stockoutDate: dateSchema.nullable(),
  reorderPoint: number,
  needsReorder: z.boolean(),
} as const;

const listVariantFigures = operation({
  name: "variant_figures_list",
  route: { method: "GET", path: "/shops/{shopId}/variant-figures" },
  role: "viewer",
  describes: {
    summary: "Stock and cover of these variants over all locations.",
    description: "The figures of a forecast view of everything. A variant that the shop does not have is left out.",
    output: z.strictObject({
      variants: z.array(z.strictObject({ ...figureSchemas, isArchived: z.boolean() })),
    }),
  },
  input: z.strictObject({ ...inShop, ids }),
  run: ({ engine, clock }, { shopId, ids: variantIds }) =>
    engine.read(shopId, async (tx) => {
      const shop = await shopOf(tx, shopId);
      const today = dayIn(shop.timezone, clock.now());
      const found = await loadVariantFacts(tx, shopId, variantIds, { shop, today });
      return data({
        variants: found.map((facts) => {
          const context = { shop, today, locationName: null, periods: [] };
          const { productId: _product, ...figures } = forecastRow(facts, figureColumns, context);
          return { ...figures, isArchived: facts.steering?.isArchived ?? false };
        }),
      });
    }),
});

/** Weeks before the present one of which the sales are shown, and weeks from it on that are foreseen. */
const pastWeeks = 11;
const comingWeeks = 13;

const outlookColumns = [
  ...figureColumns,
  "dailyDemand",
  "leadTimeDays",
  "safetyStock",
  "sold30d",
  "sold90d",
  "suggestedOrderQuantity",
  "supplierName",
] as const satisfies readonly ColumnId[];

const getVariantOutlook = operation({
  name: "variant_outlook_get",
  route: { method: "GET", path: "/shops/{shopId}/variants/{variantId}/outlook" },
  role: "viewer",
  describes: {
    summary: "Sales of a variant week by week, and how its stock will go on.",
    description: `The figures of a forecast view of everything, sales of the last ${pastWeeks + 1} weeks and what is foreseen for ${comingWeeks}. A week is named by its Monday.`,
    output: z.strictObject({
      outlook: z.strictObject({
        ...figureSchemas,
        dailyDemand: number,
        leadTimeDays: z.int().nullable(),
        safetyStock: number,
        sold30d: number,
        sold90d: number,
        suggestedOrderQuantity: number,
        supplierName: z.string().nullable().meta({ description: "The supplier that a reorder would go to." }),
        sales: z.array(z.strictObject({ week: dateSchema, quantity: number })),
        weeks: z
          .array(z.strictObject({ week: dateSchema, demand: number, incoming: number, projectedOnHand: number }))
          .meta({ description: "The first one begins today." }),
      }),
    }),
  },
  input: z.strictObject({ ...inShop, variantId: pathId }),
  /** @throws Fault NOT_FOUND  the shop has no such variant. */
  run: ({ engine, clock }, { shopId, variantId }) =>
    engine.read(shopId, async (tx) => {
      const shop = await shopOf(tx, shopId);
      const today = dayIn(shop.timezone, clock.now());
      const [[facts], sold] = await Promise.all([
        loadVariantFacts(tx, shopId, [variantId], { shop, today }),
        loadRecentSales(tx, shopId, variantId),
      ]);
      if (facts === undefined) throw new Fault("NOT_FOUND", `There is no variant ${shownId(variantId)}.`);
      const periods = periodsFrom(today, "week", comingWeeks);
      const { productId: _product, ...row } = forecastRow(facts, outlookColumns, {
        shop,
        today,
        locationName: null,
        periods,
      });
      const figures = Object.fromEntries(["variantId", ...outlookColumns].map((name) => [name, row[name]]));
      const week = weekOf(today);
      const soldIn = (one: number): number =>
        quantityToNumber(
          sold
            .filter(({ day }) => weekOf(day) === one)
            .reduce((sum, { quantity }) => addQuantity(sum, quantity), zeroQuantity),
        );
      return data({
        outlook: {
          ...figures,
          sales: Array.from({ length: pastWeeks + 1 }, (_, index) => week - pastWeeks + index).map((one) => ({
            week: dateOf(weekStart(one)),
            quantity: soldIn(one),
          })),
          weeks: periods.map(({ label, firstDay }) => ({
            week: dateOf(weekStart(weekOf(firstDay))),
            demand: row[`demand:${label}`],
            incoming: row[`incoming:${label}`],
            projectedOnHand: row[`projectedOnHand:${label}`],
          })),
        },
      });
    }),
});

const listVariantOrders = operation({
  name: "variant_order_list",
  route: { method: "GET", path: "/shops/{shopId}/variants/{variantId}/orders" },
  role: "viewer",
  describes: {
    summary: "Orders with this variant, newest first, with what was paid for it.",
    description:
      "One row for each line with the variant. `totalCount` and `limit` count orders. With `placed` drafts and cancelled orders are left out: what is left tells the price over time.",
    output: z.strictObject({
      orders: z.array(
        z.strictObject({
          purchaseOrderId: z.string(),
          poNumber: z.string(),
          status: z.enum(statuses),
          supplierId: z.string().nullable(),
          supplierName: z.string().nullable(),
          orderedOn: dateSchema,
          nextExpectedDate: dateSchema.nullable(),
          poLineItemId: z.string(),
          quantityOrdered: number,
          quantityReceived: number,
          unitCost: number,
          unitCostCurrencyCode: z.string(),
        }),
      ),
      ...pageShape,
    }),
  },
  input: z.strictObject({
    ...inShop,
    variantId: pathId,
    supplierId: id.optional(),
    placed: z
      .boolean()
      .default(false)
      .meta({ query: "boolean", description: "Only orders that are neither drafts nor cancelled." }),
    limit,
    cursor,
  }),
  async run(context, { shopId, variantId, supplierId, placed, limit: rows, cursor: encoded }, call) {
    const scope = { list: "variant-orders", shopId, filters: { variantId, supplierId, placed } };
    const at = encoded === undefined ? null : decodeCursor(scope, encoded, ["number", "string"]);
    const { timezone, page } = await readQuery(context, call, shopId, variantOrders, {
      variantId,
      supplierId: supplierId ?? null,
      arePlaced: placed,
      after: at === null ? null : { createdAtMs: at[0], purchaseOrderId: at[1], by: null },
      limit: rows,
    });
    const { lines, totalCount, end } = page;
    return data({
      orders: lines.map(({ order, ...line }) => ({
        purchaseOrderId: order.purchaseOrderId,
        poNumber: order.poNumber,
        status: order.status,
        supplierId: order.supplierId,
        supplierName: order.supplierName,
        orderedOn: orderedOn(order, timezone),
        nextExpectedDate: order.nextExpectedDate,
        poLineItemId: line.poLineItemId,
        quantityOrdered: quantityToNumber(line.quantityOrdered),
        quantityReceived: quantityToNumber(line.quantityReceived),
        unitCost: moneyToNumber(line.unitCost),
        unitCostCurrencyCode: line.unitCostCurrencyCode,
      })),
      totalCount,
      cursor: end === null ? null : encodeCursor(scope, [end.createdAtMs, end.purchaseOrderId]),
    });
  },
});

export const figureOperations: readonly AdminOperation[] = [
  getPurchaseFigures,
  listSupplierFigures,
  getSupplierDeliveries,
  listSupplierDocuments,
  listVariantFigures,
  getVariantOutlook,
  listVariantOrders,
];
