/**
 * The demo's sales of the last year, which the forecast views are computed from.
 */
import { type DemoVariant, instruments, pottery, roastery, teaEstates } from "./catalogue.ts";
import { randomFrom } from "./random.ts";
import { store, warehouse } from "./shop.ts";
import { dayMs } from "../base/time/calendar.ts";

/** Days of sales in the past: a year and a week, so that every season is there. */
export const salesDays = 371;

/**
 * Pace of a supplier's variants compared to others of their price: coffee sells daily, equipment and ceramics rarely.
 */
const paces: ReadonlyMap<string, number> = new Map([
  [roastery.supplierId, 1.6],
  [teaEstates.supplierId, 1.1],
  [instruments.supplierId, 0.5],
  [pottery.supplierId, 0.35],
]);

/** Pace of the sets that the shop makes itself. */
const paceOfSets = 0.4;

/** Tea has a season: half as much again in the middle of January, half as much in July. */
function pace({ terms }: DemoVariant, date: Date): number {
  if (terms === null) return paceOfSets;
  const usual = paces.get(terms.supplier.supplierId) ?? 1;
  if (terms.supplier !== teaEstates) return usual;
  const yearStartMs = Date.UTC(date.getUTCFullYear(), 0, 1);
  return usual * (1 + 0.5 * Math.cos((2 * Math.PI * ((date.getTime() - yearStartMs) / dayMs - 15)) / 365.25));
}

/** Returns the average sales of a weekday at the beginning of the year: more of cheap variants. */
export const weekdaySales = (variant: DemoVariant, date: Date): number =>
  (12 / (6 + variant.price)) * pace(variant, date);

/** True if customers can buy it. */
export const isSold = ({ status }: DemoVariant): boolean => status === "active" || status === "unsyncable";

/**
 * Sales day by day: more at weekends, more of cheap variants, tea by its season, and a quarter more by the end of the
 * year.
 */
export function* saleRecords(variants: readonly DemoVariant[], nowMs: number): Generator<object> {
  const random = randomFrom(20_241);
  const sold = variants.filter(isSold);
  for (let daysAgo = salesDays; daysAgo >= 1; daysAgo -= 1) {
    const date = new Date(nowMs - daysAgo * dayMs);
    const weekend = date.getUTCDay() === 6 || date.getUTCDay() === 0 ? 1.6 : 1;
    const growth = 1 + (salesDays - daysAgo) / (4 * salesDays);
    for (const variant of sold) {
      const mean = weekdaySales(variant, date) * weekend * growth;
      // On average exactly `mean`.
      const quantity = Math.floor(mean * 2 * random() + random());
      if (quantity === 0) continue;
      const locationId = random() < 0.65 ? store : warehouse;
      yield { type: "sale", variantId: variant.variantId, locationId, date: date.toISOString().slice(0, 10), quantity };
    }
  }
}
