/**
 * Sums of orders by supplier, status, month or location, in the shop's currency (C70a). Pure; figures are exact.
 *
 * Does not own: which orders are summed (shop/order/advice/report.ts).
 */
import { compareText } from "../../../base/text/compare-text.ts";
import { dateOf, dayIn } from "../../../base/time/calendar.ts";
import {
  asMoney,
  convert,
  type FxRate,
  type Money,
  roundToMinorUnit,
  unitRate,
  zeroQuantity,
} from "../../money/money.ts";
import { outstandingAmount } from "../attachments.ts";
import { pendingQuantity } from "../lines.ts";
import type { Header, LineItem } from "../purchase-order.ts";
import { isClosed } from "../status.ts";
import { type LinesInCurrency, valueOfLines } from "../totals.ts";

/** Facts of an order by which a report can group. A month is that of its creation in the shop's zone (C70a). */
export const reportGroups = ["supplier", "status", "month", "location"] as const;
/** Fact by which one report groups. */
export type ReportGroup = (typeof reportGroups)[number];

/** A line as it is summed. */
type ReportedLine = LinesInCurrency["lineItems"][number] & Pick<LineItem, "poLineItemId">;

/** An order as it is summed. */
export type ReportedOrder = Omit<LinesInCurrency, "lineItems"> & {
  readonly lineItems: readonly ReportedLine[];
} & Pick<
    Header,
    | "status"
    | "supplierId"
    | "locationId"
    | "createdAtMs"
    | "totalValue"
    | "grandTotal"
    | "settledAmount"
    | "unpricedLineItemIds"
    | "nextExpectedDate"
  >;

/** Amounts of an order. */
interface Values {
  readonly orderedValue: Money;
  readonly receivedValue: Money;
  /** Value of the goods still to come. */
  readonly openValue: Money;
  /** The order's grand total. */
  readonly owedValue: Money;
  /** Part of it that is not paid. */
  readonly outstandingValue: Money;
}

/** Counts and sums of orders. */
export interface ReportSums extends Values {
  readonly orderCount: number;
  /** Orders of which a part is not in the sums, since no rate converts it. */
  readonly unpricedOrderCount: number;
}

/** Sums of the orders of one group. */
interface ReportRow extends ReportSums {
  /** Id, status, or month as YYYY-MM; null: orders without supplier or location. */
  readonly key: string | null;
}

/** The shop as a report knows it. */
interface ReportingShop {
  readonly currencyCode: string;
  readonly timezone: string;
}

const monthLetters = "YYYY-MM".length;

const keyOf: Readonly<Record<ReportGroup, (order: ReportedOrder, timezone: string) => string | null>> = {
  supplier: (order) => order.supplierId,
  status: (order) => order.status,
  location: (order) => order.locationId,
  month: (order, timezone) => dateOf(dayIn(timezone, order.createdAtMs)).slice(0, monthLetters),
};

/** Amounts in the order's own currency. Nothing more comes of a closed order. */
const valuesOf = (order: ReportedOrder, shopCurrency: string): Values => ({
  orderedValue: order.totalValue,
  receivedValue: valueOfLines(order, shopCurrency, (line) => line.quantityReceived),
  openValue: valueOfLines(order, shopCurrency, isClosed(order) ? () => zeroQuantity : pendingQuantity),
  owedValue: order.grandTotal,
  outstandingValue: outstandingAmount(order, order.settledAmount),
});

/** The place of a row in its report. */
export type ReportPosition = Pick<ReportRow, "key" | "orderedValue">;

const byKey = (one: ReportPosition, other: ReportPosition): number => compareText(one.key ?? "", other.key ?? "");

/** Compares rows as a report sorts them: months newest first, others by what was ordered, most first. */
export const compareRows = (group: ReportGroup, one: ReportPosition, other: ReportPosition): number =>
  group === "month" ? byKey(other, one) : other.orderedValue - one.orderedValue || byKey(one, other);

/**
 * Sums orders by group, each converted at its own rate: `fxRateOverride`, else that of its currency.
 *
 * Source: C70a.
 */
export function reportOf(
  orders: readonly ReportedOrder[],
  group: ReportGroup,
  { currencyCode, timezone }: ReportingShop,
): readonly ReportRow[] {
  const rows = [...Map.groupBy(orders, (order) => keyOf[group](order, timezone))].map(([key, ofGroup]) => ({
    key,
    ...sumsOf(ofGroup, currencyCode),
  }));
  return rows.sort((one, other) => compareRows(group, one, other));
}

/** Returns the values that a function gives for each name. */
const eachValue = (valueOf: (name: keyof Values) => number): Values => ({
  orderedValue: asMoney(valueOf("orderedValue")),
  receivedValue: asMoney(valueOf("receivedValue")),
  openValue: asMoney(valueOf("openValue")),
  owedValue: asMoney(valueOf("owedValue")),
  outstandingValue: asMoney(valueOf("outstandingValue")),
});

/** The rate of an order to the shop's currency; undefined: there is none. */
export const rateOf = (order: ReportedOrder, shopCurrency: string): FxRate | undefined =>
  order.currencyCode === shopCurrency ? unitRate : (order.fxRateOverride ?? order.fxRates[order.currencyCode]);

/** Sums of these orders in the shop's currency. */
export function sumsOf(orders: readonly ReportedOrder[], shopCurrency: string): ReportSums {
  const converted: Values[] = [];
  let unpricedOrderCount = 0;
  for (const order of orders) {
    const rate = rateOf(order, shopCurrency);
    if (rate === undefined || order.unpricedLineItemIds.length > 0) unpricedOrderCount += 1;
    if (rate === undefined) continue;
    const values = valuesOf(order, shopCurrency);
    converted.push(eachValue((name) => convert(values[name], rate)));
  }
  const rounded = (name: keyof Values): number => {
    const exact = converted.reduce((sum, values) => sum + BigInt(values[name]), 0n);
    return Number(roundToMinorUnit(exact, 1n, shopCurrency));
  };
  return { orderCount: orders.length, unpricedOrderCount, ...eachValue(rounded) };
}

/** Sums of all rows, as they are shown. */
export function totalOf(rows: readonly ReportRow[]): ReportSums {
  const sum = (name: keyof ReportSums): number => rows.reduce((total, row) => total + row[name], 0);
  return { orderCount: sum("orderCount"), unpricedOrderCount: sum("unpricedOrderCount"), ...eachValue(sum) };
}
