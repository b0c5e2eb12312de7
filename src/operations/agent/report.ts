/** Sums of many orders: a tool without a path on REST (C70a). */
import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { Fault } from "../../base/fault.ts";
import { asMoney, moneyToNumber } from "../../core/money/money.ts";
import {
  compareRows,
  type ReportGroup,
  reportGroups,
  reportOf,
  type ReportPosition,
  type ReportSums,
  totalOf,
} from "../../core/order/advice/report.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { operation } from "../../requests/operation.ts";
import { loadNames } from "../../shop/catalogue/names.ts";
import { loadReportedOrders } from "../../shop/order/advice/report.ts";
import { placedStatuses } from "../../shop/order/advice/supplier-figures.ts";
import { hasMoreRows } from "../../shop/size.ts";
import { cursor, limit, listParameter, pageShape, shopFrom, shopRange, shopTo } from "../fields.ts";
import { readTool } from "./tool.ts";

/** Orders that one report sums. */
export const reportOrdersMax = 10_000;

/** With more orders in the shop, summing them could hold the event loop for too long. */
const ordersOnLoopMax = 200;

const sums = {
  orderCount: z.int(),
  orderedValue: z.number(),
  receivedValue: z.number(),
  openValue: z.number(),
  owedValue: z.number(),
  outstandingValue: z.number(),
  currencyCode: z.string(),
  unpricedOrderCount: z.int(),
};

const sumsJson = (row: ReportSums, currencyCode: string) => ({
  orderCount: row.orderCount,
  orderedValue: moneyToNumber(row.orderedValue),
  receivedValue: moneyToNumber(row.receivedValue),
  openValue: moneyToNumber(row.openValue),
  owedValue: moneyToNumber(row.owedValue),
  outstandingValue: moneyToNumber(row.outstandingValue),
  currencyCode,
  unpricedOrderCount: row.unpricedOrderCount,
});

/** Groups whose keys are ids of something with a name. */
const isNamed = (group: ReportGroup): group is "supplier" | "location" => group === "supplier" || group === "location";

export const purchaseReport = operation({
  ...readTool,
  name: "purchase_report",
  toolSets: ["purchasing"],
  title: "Purchase report",
  summary: "Sums of orders by supplier, status, month or location, in the shop's currency.",
  description:
    "By creation. Without status: all but Draft and Cancelled. Of goods: orderedValue (without cancelled ones), receivedValue, openValue (still to come). owedValue: grandTotals; outstandingValue: what of them is unpaid. unpricedOrderCount: orders counted too low, for want of a rate.",
  faults: [],
  input: z
    .strictObject({
      groupBy: z.enum(reportGroups),
      from: shopFrom,
      to: shopTo,
      status: listParameter(z.enum(statuses), "Status."),
      limit,
      cursor,
    })
    .meta({ example: { groupBy: "supplier", from: "2026-01-01" } }),
  output: z.strictObject({
    rows: z.array(z.strictObject({ key: z.string().nullable(), name: z.string().nullable(), ...sums })),
    total: z.strictObject(sums),
    ...pageShape,
  }),
  async run(call, { limit: size, cursor: encoded, ...filters }) {
    const { shopId, currencyCode } = call.shop;
    const { groupBy, status } = filters;
    const { fromMs, beforeMs } = shopRange(filters, call.shop.timezone);
    const scope = { list: call.operation, shopId, filters };
    const after = encoded === undefined ? null : positionFrom(scope, encoded);
    const wanted = {
      statuses: status ?? (groupBy === "status" ? statuses : placedStatuses),
      createdFromMs: fromMs,
      createdBeforeMs: beforeMs,
    };
    return await call.read(async (tx) => {
      if (await hasMoreRows(tx, "purchase_order", shopId, ordersOnLoopMax)) call.leaveLoop();
      const orders = await loadReportedOrders(tx, shopId, wanted, reportOrdersMax);
      if (orders === null)
        throw new Fault("INVALID_INPUT", `More than ${reportOrdersMax} orders match.`, {
          details: [{ path: "/from", message: "must leave fewer orders" }],
          action: "Give from and to, or a status, and call once for each part.",
        });
      const rows = reportOf(orders, groupBy, call.shop);
      const rest = after === null ? rows : rows.filter((row) => compareRows(groupBy, row, after) > 0);
      const page = rest.slice(0, size);
      const keys = page.flatMap(({ key }) => key ?? []);
      const names = isNamed(groupBy) ? await loadNames(tx, shopId, groupBy, keys) : null;
      const last = page.at(-1);
      return {
        data: {
          rows: page.map(({ key, ...row }) => ({
            key,
            name: names === null ? key : (names.get(key ?? "") ?? null),
            ...sumsJson(row, currencyCode),
          })),
          total: sumsJson(totalOf(rows), currencyCode),
          totalCount: rows.length,
          cursor:
            last === undefined || page.length === rest.length
              ? null
              : encodeCursor(scope, [last.orderedValue, last.key ?? ""]),
        },
      };
    });
  },
});

function positionFrom(scope: Parameters<typeof decodeCursor>[0], encoded: string): ReportPosition {
  const [orderedValue, key] = decodeCursor(scope, encoded, ["number", "string"]);
  return { orderedValue: asMoney(orderedValue), key: key === "" ? null : key };
}
