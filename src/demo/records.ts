/**
 * The demo shop: a coffee and tea shop of our own invention, made at the first start on an empty data directory.
 *
 * Pure: the same instant gives the same shop. Everything comes in by import, so it also shows the records of contract
 * §8.
 */
import { calendarFrom } from "./calendar.ts";
import { catalogue, catalogueRecords } from "./catalogue.ts";
import { forecastViews } from "./forecast-views.ts";
import { manufacturingOrderRecords } from "./manufacturing-orders.ts";
import { purchaseOrderRecords } from "./purchase-orders/purchase-order-records.ts";
import { saleRecords } from "./sales.ts";
import { locations } from "./shop.ts";
import { stockLevels, stockRecords } from "./stock.ts";
import { stockAdjustmentRecords } from "./stock-adjustments.ts";
import { stockTakeReasonRecords, stockTakeRecords } from "./stock-takes.ts";
import { transferOrderRecords } from "./transfer-orders.ts";

/** The records of the demo shop as of this instant, in an order that imports. */
export function* demoRecords(nowMs: number): Generator<object> {
  const variants = catalogue();
  const calendar = calendarFrom(nowMs);
  yield* locations;
  const levels = stockLevels(variants, nowMs);
  yield* catalogueRecords(variants);
  yield* stockRecords(levels);
  yield* saleRecords(variants, nowMs);
  yield* purchaseOrderRecords(variants, calendar);
  yield* stockTakeReasonRecords();
  yield* stockTakeRecords(variants, levels, calendar);
  yield* stockAdjustmentRecords(variants, calendar);
  yield* transferOrderRecords(variants, calendar);
  yield* manufacturingOrderRecords(variants, calendar);
  for (const view of forecastViews) yield { type: "forecastView", ...view };
}
