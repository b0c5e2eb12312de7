/**
 * Figures of a shop's purchasing for its first page: what is open, what came in week by week, and of whom was ordered
 * (C85). Pure. Amounts are in the shop's currency at each order's rates, as reports have them (report.ts).
 *
 * Does not own: which orders are looked at (shop/order/advice/report.ts).
 */
import { type Day, dayFrom, daysPerWeek, type Week, weekOf, weekStart } from "../../../base/time/calendar.ts";
import {
  addQuantity,
  asMoney,
  convert,
  type Money,
  type Quantity,
  roundToMinorUnit,
  zeroQuantity,
} from "../../money/money.ts";
import type { ReceiptDraft } from "../purchase-order.ts";
import { valueOfLines } from "../totals.ts";
import { rateOf, type ReportedOrder, type ReportSums, reportOf, sumsOf } from "./report.ts";

/** Weeks up to the present one of which receipts are summed, and weeks from it on of which open goods are. */
export const figureWeeks = 8;

/** Days from the Monday of the present week on of which deliveries are counted. */
export const figureDays = 4 * daysPerWeek;

/** Suppliers that are told, those with the highest orders. */
export const figureSuppliersMax = 10;

/** An order with what was received on it. */
interface ReceivedOrder {
  readonly order: ReportedOrder;
  readonly receipts: readonly { readonly day: Day; readonly lines: ReceiptDraft["lines"] }[];
}

/** Orders that the figures are made from. */
export interface FigureOrders {
  /** Orders on their way. */
  readonly open: readonly ReportedOrder[];
  readonly received: readonly ReceivedOrder[];
  /** Orders that were placed lately. */
  readonly placed: readonly ReportedOrder[];
}

interface WeekValue {
  readonly week: Week;
  readonly value: Money;
}

/** Figures of a shop's purchasing. */
interface PurchaseFigures {
  readonly open: ReportSums;
  /** Open goods that were expected before today. */
  readonly late: Money;
  readonly expected: readonly WeekValue[];
  /** Orders of which something is expected on a day; days without any are left out. */
  readonly deliveries: readonly { readonly day: Day; readonly orders: number }[];
  readonly received: readonly WeekValue[];
  readonly placed: ReportSums;
  readonly suppliers: readonly (ReportSums & { readonly key: string | null })[];
}

/** Weeks in their order, the first of them given. */
const weeksFrom = (first: Week): readonly Week[] => Array.from({ length: figureWeeks }, (_, nth) => first + nth);

/**
 * Sums the orders.
 *
 * @param today  the shop's day.
 * Source: C85.
 */
export function purchaseFigures(
  { open, received, placed }: FigureOrders,
  shop: { readonly currencyCode: string; readonly timezone: string },
  today: Day,
): PurchaseFigures {
  const { currencyCode } = shop;
  const dayOf = ({ nextExpectedDate }: ReportedOrder): Day | null =>
    nextExpectedDate === null ? null : dayFrom(nextExpectedDate);
  const byDay = Map.groupBy(open, dayOf);
  const openValue = (isWanted: (day: Day) => boolean): Money =>
    sumsOf(
      [...byDay].flatMap(([day, orders]) => (day !== null && isWanted(day) ? orders : [])),
      currencyCode,
    ).openValue;
  const present = weekOf(today);
  const receivedIn = receivedValues(received, currencyCode);
  return {
    open: sumsOf(open, currencyCode),
    late: openValue((day) => day < today),
    expected: weeksFrom(present).map((week) => ({
      week,
      value: openValue((day) => day >= today && weekOf(day) === week),
    })),
    deliveries: Array.from({ length: figureDays }, (_, nth) => weekStart(present) + nth).flatMap((day) => {
      const orders = byDay.get(day)?.length ?? 0;
      return orders === 0 ? [] : [{ day, orders }];
    }),
    received: weeksFrom(present - figureWeeks + 1).map((week) => ({ week, value: receivedIn(week) })),
    placed: sumsOf(placed, currencyCode),
    suppliers: reportOf(placed, "supplier", shop).slice(0, figureSuppliersMax),
  };
}

/** Returns the value received in a week, less what was taken back. What no rate converts is left out. */
function receivedValues(orders: readonly ReceivedOrder[], shopCurrency: string): (week: Week) => Money {
  const sums = new Map<Week, bigint>();
  for (const { order, receipts } of orders) {
    const rate = rateOf(order, shopCurrency);
    if (rate === undefined) continue;
    for (const [week, ofWeek] of Map.groupBy(receipts, ({ day }) => weekOf(day))) {
      const deltas = new Map<string, Quantity>();
      for (const { poLineItemId, quantityDelta } of ofWeek.flatMap(({ lines }) => lines))
        deltas.set(poLineItemId, addQuantity(deltas.get(poLineItemId) ?? zeroQuantity, quantityDelta));
      const value = valueOfLines(order, shopCurrency, ({ poLineItemId }) => deltas.get(poLineItemId) ?? zeroQuantity);
      sums.set(week, (sums.get(week) ?? 0n) + BigInt(convert(value, rate)));
    }
  }
  return (week) => asMoney(Number(roundToMinorUnit(sums.get(week) ?? 0n, 1n, shopCurrency)));
}
