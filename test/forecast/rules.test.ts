import assert from "node:assert/strict";
import { test } from "node:test";
import { dateOf, dayFrom, dayIn, weekOf, weekStart } from "../../src/base/time/calendar.ts";
import {
  type DaySale,
  type DemandSeries,
  extendSeries,
  recentSales,
  soldWithin,
  weeklyDemand,
} from "../../src/core/forecast/demand.ts";
import {
  chooseOffer,
  columnIds,
  columnsOf,
  type ForecastContext,
  forecastRow,
  orderQuantity,
  periodsFrom,
  replenishment,
  type SupplierOffer,
  type VariantFacts,
} from "../../src/core/forecast/forecast.ts";
import { asFxRate, asMoney, asQuantity, zeroQuantity } from "../../src/core/money/money.ts";

const pieces = (units: number) => asQuantity(Math.round(units * 1_000));
const money = (units: number) => asMoney(Math.round(units * 10_000));

/** One sale on the Monday of each week from `monday` on. */
const weekly = (monday: string, ...sold: readonly number[]): DaySale[] =>
  sold.map((units, week) => ({ day: dayFrom(monday) + week * 7, quantity: pieces(units) }));

function seriesOf(sales: readonly DaySale[]): DemandSeries {
  const series = extendSeries(null, sales);
  assert.ok(series !== null);
  return series;
}

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

test("a day is the one of the shop's time zone", () => {
  const instant = Date.parse("2026-11-21T23:30:00Z");
  assert.equal(dateOf(dayIn("UTC", instant)), "2026-11-21");
  assert.equal(dateOf(dayIn("Europe/Berlin", instant)), "2026-11-22");
  assert.equal(dateOf(dayIn("America/New_York", instant)), "2026-11-21");
  assert.equal(dateOf(dayIn("Pacific/Auckland", Date.parse("2026-12-31T11:00:00Z"))), "2027-01-01");
});

test("weeks begin on Monday", () => {
  assert.equal(dateOf(weekStart(weekOf(dayFrom("2026-11-22")))), "2026-11-16");
  assert.equal(dateOf(weekStart(weekOf(dayFrom("2026-11-23")))), "2026-11-23");
  assert.equal(dateOf(weekStart(weekOf(dayFrom("1969-12-28")))), "1969-12-22");
});

test("periods are ISO weeks or months, the first one what is left of it", () => {
  const shown = (today: string, unit: "week" | "month", count: number): string[] =>
    periodsFrom(dayFrom(today), unit, count).map(
      ({ label, firstDay, lastDay }) => `${label} ${dateOf(firstDay)} ${dateOf(lastDay)}`,
    );
  // 2026 has 53 ISO weeks; its last one ends in 2027.
  assert.deepEqual(shown("2026-12-26", "week", 3), [
    "2026-W52 2026-12-26 2026-12-27",
    "2026-W53 2026-12-28 2027-01-03",
    "2027-W01 2027-01-04 2027-01-10",
  ]);
  assert.deepEqual(shown("2024-12-31", "week", 1), ["2025-W01 2024-12-31 2025-01-05"]);
  assert.deepEqual(shown("2027-11-30", "month", 4), [
    "2027-11 2027-11-30 2027-11-30",
    "2027-12 2027-12-01 2027-12-31",
    "2028-01 2028-01-01 2028-01-31",
    "2028-02 2028-02-01 2028-02-29",
  ]);
});

/** Sums of weights of weeks, the latest counting 1 and each one back `factor` of the next. */
const weights = (factor: number, weeks: number): number =>
  Array.from({ length: weeks }, (_, back) => factor ** back).reduce((a, b) => a + b);

test("demand in every week is a weighted moving average of long memory while no change shows", () => {
  const series = seriesOf(weekly("2026-10-05", 7, 9, 6, 8));
  const weighted = (8 + 0.98 * 6 + 0.98 ** 2 * 9 + 0.98 ** 3 * 7) / weights(0.98, 4);
  near(weeklyDemand(series, dayFrom("2026-11-02")).mean, weighted);
});

test("demand in few weeks is the share of weeks with sales times the size of such a week", () => {
  // Sales in weeks 1 and 5 of 6: shares by weights of 0.98 a week, sizes averaged plainly while there are few.
  const series = seriesOf(weekly("2026-10-05", 4, 0, 0, 0, 10, 0));
  const share = (0.98 ** 5 + 0.98) / weights(0.98, 6);
  near(weeklyDemand(series, dayFrom("2026-11-16")).mean, share * 7);
});

test("between regular and intermittent the two are mixed by the share of weeks with sales", () => {
  const series = seriesOf(weekly("2026-10-05", 4, 12, 0, 8, 10, 7, 8));
  const share = (weights(0.98, 7) - 0.98 ** 4) / weights(0.98, 7);
  const regularity = (share - 1 / 1.32) / (1 - 1 / 1.32);
  assert.ok(regularity > 0 && regularity < 1);
  const average = [8, 7, 10, 8, 0, 12, 4].reduce((sum, sold, back) => sum + sold * 0.98 ** back, 0) / weights(0.98, 7);
  near(
    weeklyDemand(series, dayFrom("2026-11-23")).mean,
    regularity * average + (1 - regularity) * share * ((4 + 12 + 8 + 10 + 7 + 8) / 6),
  );
});

test("once the recent level differs by more than chance explains, one standard deviation of it is kept from the level", () => {
  const sold = [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 40, 40, 40, 40];
  const averageOf = (factor: number, values: readonly number[]): number =>
    values.toReversed().reduce((sum, value, back) => sum + value * factor ** back, 0) / weights(factor, values.length);
  const usual = averageOf(0.98, sold);
  const variance =
    averageOf(
      0.98,
      sold.map((value) => value * value),
    ) -
    usual ** 2;
  const difference = sold
    .map((_, back) => 0.9 ** back / weights(0.9, sold.length) - 0.98 ** back / weights(0.98, sold.length))
    .reduce((sum, weight) => sum + weight * weight, 0);
  const level = averageOf(0.9, sold);
  const expected = level - Math.sqrt(variance * difference);
  assert.ok(usual < expected && expected < level);
  near(weeklyDemand(seriesOf(weekly("2026-07-06", ...sold)), dayFrom("2026-10-12")).mean, expected);
});

test("the running week counts once it is over, or when nothing else is known", () => {
  const series = seriesOf(weekly("2026-11-02", 7, 7, 70));
  near(weeklyDemand(series, dayFrom("2026-11-22")).mean, 7);
  assert.ok(weeklyDemand(series, dayFrom("2026-11-23")).mean > 20);
  near(weeklyDemand(seriesOf(weekly("2026-11-16", 5)), dayFrom("2026-11-21")).mean, 5);
});

test("demand fades while nothing is sold and is gone after years", () => {
  const series = seriesOf(weekly("2024-01-01", ...Array.from({ length: 52 }, () => 20)));
  const after = (weeks: number): number => weeklyDemand(series, dayFrom("2024-12-30") + weeks * 7).mean;
  assert.ok(after(1) < after(0) && after(6) < after(5) && after(20) < after(10));
  assert.ok(after(26) < 6 && after(26) > 1);
  assert.equal(Math.round(after(52 * 20) * 10_000), 0);
});

test("demand varies at least as a count of customers does", () => {
  const steady = weeklyDemand(seriesOf(weekly("2026-10-05", 9, 9, 9, 9)), dayFrom("2026-11-02"));
  near(steady.variance, 9);
  const wild = weeklyDemand(seriesOf(weekly("2026-10-05", 0.001, 40, 0.001, 40)), dayFrom("2026-11-02"));
  assert.ok(wild.variance > 300);
});

test("sales of the latest week that come again replace it", () => {
  const first = seriesOf(weekly("2026-11-02", 3, 5));
  const wednesday = dayFrom("2026-11-11");
  const again = extendSeries(first, [
    { day: wednesday, quantity: zeroQuantity },
    { day: wednesday + 1, quantity: pieces(2) },
  ]);
  assert.deepEqual(again, { ...first, latestWeekQuantity: pieces(2), latestDay: wednesday + 1 });
  assert.equal(extendSeries(first, [{ day: wednesday, quantity: zeroQuantity }])?.latestWeekQuantity, zeroQuantity);
  assert.equal(extendSeries(null, [{ day: wednesday, quantity: zeroQuantity }]), null);
});

test("the days with sales of the last ninety are kept, and the last one before the latest week whatever its age", () => {
  const on = (date: string, units: number): DaySale => ({ day: dayFrom(date), quantity: pieces(units) });
  const old = on("2026-01-05", 9);
  const [first, second] = [on("2026-08-21", 1), on("2026-08-22", 2)];
  const latest = on("2026-11-19", 3);
  assert.deepEqual(recentSales([], [old, first, on("2026-09-01", 0), second, latest]), [second, latest]);
  assert.deepEqual(recentSales([], [old, latest]), [old, latest]);
  // The latest week's sales are taken back: what came before is known again.
  assert.deepEqual(recentSales([old], [{ ...latest, quantity: zeroQuantity }]), [old]);
  assert.deepEqual(recentSales([], [{ ...latest, quantity: zeroQuantity }]), []);
});

test("sold in a number of days counts today and not tomorrow", () => {
  const today = dayFrom("2026-11-21");
  const recent = [today - 30, today - 29, today, today + 1].map((day, index) => ({
    day,
    quantity: pieces(10 ** index),
  }));
  assert.equal(soldWithin(recent, today, 30), pieces(110));
  assert.equal(soldWithin(recent, today, 31), pieces(111));
  assert.equal(soldWithin([], today, 90), zeroQuantity);
});

const offer = (patch: Partial<SupplierOffer> = {}): SupplierOffer => ({
  supplierId: "sup_1",
  supplierName: "Nordwind",
  unitCost: money(4),
  currencyCode: "EUR",
  moq: null,
  packSize: null,
  leadTimeDays: null,
  ...patch,
});

const shop = { currencyCode: "EUR", fxRates: { USD: asFxRate(9_000_000_000) } };

test("the cheapest supplier is chosen in the shop's currency; one without a comparable cost only when there is no other", () => {
  const dollars = offer({ supplierId: "sup_2", unitCost: money(4.4), currencyCode: "USD" });
  const unknown = offer({ supplierId: "sup_0", unitCost: money(1), currencyCode: "JPY" });
  const unpriced = offer({ supplierId: "sup_3", unitCost: null });
  assert.equal(chooseOffer([offer(), dollars, unknown, unpriced], shop)?.supplierId, "sup_2");
  assert.equal(chooseOffer([unpriced, unknown], shop)?.supplierId, "sup_0");
  assert.equal(chooseOffer([offer({ supplierId: "b" }), offer({ supplierId: "a" })], shop)?.supplierId, "a");
  assert.equal(chooseOffer([], shop), null);
});

for (const [shortage, moq, packSize, expected] of [
  [0, 10, 6, 0],
  [1, null, null, 1],
  [1.2, null, null, 2],
  [5, 10, null, 10],
  [5, 10, 6, 12],
  [13, 10, 6, 18],
  [12, 10, 6, 12],
  [0.3, null, 2.5, 2.5],
  [7.6, 2.4, 2.5, 10],
] as const)
  test(`a shortage of ${shortage} with MOQ ${moq} and packs of ${packSize} suggests ${expected}`, () => {
    const terms = {
      moq: moq === null ? null : pieces(moq),
      packSize: packSize === null ? null : pieces(packSize),
    };
    assert.equal(orderQuantity(pieces(shortage), terms), pieces(expected));
  });

const today = dayFrom("2026-11-21");
const context: ForecastContext = { shop, today, locationName: null, periods: [] };

/** Sells 14 a week, one of them steady: 2 a day. */
const steady = seriesOf(weekly("2026-09-21", ...Array.from({ length: 8 }, () => 14)));

const facts = (patch: Partial<VariantFacts> = {}): VariantFacts => ({
  variantId: "var_1",
  productId: "prod_1",
  productName: "Kettle",
  variantName: "Red",
  sku: "K-R",
  isActive: true,
  unitCost: money(3.5),
  price: money(9.99),
  onHand: pieces(20),
  incoming: zeroQuantity,
  series: [steady],
  offers: [offer({ unitCost: money(5), currencyCode: "USD", moq: pieces(50), packSize: pieces(12), leadTimeDays: 14 })],
  lateArrivals: [],
  steering: null,
  arrivals: [],
  sold30d: pieces(56),
  sold90d: pieces(112),
  lastSoldDay: dayFrom("2026-11-11"),
  draftQuantity: pieces(24),
  ...patch,
});

test("the figures of a row are those that a buyer computes by hand", () => {
  const row = forecastRow(facts(), columnIds, { ...context, locationName: "Main" });
  // 14 in each of the complete weeks since 21 September; the week of the 16th is still running.
  const dailyDemand = 14 / 7;
  // The floor of a count: variance 14 a week, over a lead time of two weeks.
  const safetyStock = Math.round(1.645 * Math.sqrt(14 * 2) * 1_000) / 1_000;
  assert.equal(safetyStock, 8.705);
  const reorderPoint = 36.705;
  assert.equal(reorderPoint, dailyDemand * 14 + safetyStock);
  // 20 on hand is below it: back up to it after 30 days at 2 a day takes 36.705 + 60 − 20 = 76.705, in packs of 12.
  assert.deepEqual(row, {
    variantId: "var_1",
    productId: "prod_1",
    productName: "Kettle",
    variantName: "Red",
    sku: "K-R",
    supplierName: "Nordwind",
    locationName: "Main",
    isActive: true,
    needsReorder: true,
    nextIncomingDate: null,
    stockoutDate: "2026-12-01",
    lastSoldDate: "2026-11-11",
    onHand: 20,
    incoming: 0,
    sold30d: 56,
    sold90d: 112,
    dailyDemand,
    daysOfCover: 10,
    leadTimeDays: 14,
    safetyStock,
    reorderPoint,
    suggestedOrderQuantity: 84,
    unitCost: 5,
    unitCostCurrencyCode: "USD",
    suggestedOrderValue: 378,
    stockValue: 70,
    supplierId: offer({}).supplierId,
    packSize: 12,
    moq: 50,
    expectedArrivalDate: "2026-12-05",
    draftQuantity: 24,
    reorderReason: "demand",
    // 5 USD are 4.5 EUR: 2 a day at 9.99 − 4.5.
    stockoutCost: 10.98,
  });
});

test("a day without stock costs its margin, without a cost its price, without a price its cost, and nothing where none is known or it sells below cost", () => {
  const costing = (patch: Partial<VariantFacts>): unknown =>
    forecastRow(facts(patch), ["stockoutCost"], { ...context, locationName: null })["stockoutCost"];
  const noCost = { offers: [offer({ unitCost: null })], unitCost: null };
  assert.equal(costing({}), 10.98);
  // The supplier's cost comes before the catalogue's.
  assert.equal(costing({ offers: [offer({ unitCost: null })], unitCost: money(3.5) }), 12.98);
  assert.equal(costing(noCost), 19.98);
  assert.equal(costing({ price: null }), 9);
  assert.equal(costing({ price: money(4) }), 0);
  assert.equal(costing({ ...noCost, price: null }), null);
  assert.equal(costing({ series: [] }), 0);
});

test("the position decides: what is incoming counts as if it were there, and exactly at the reorder point it is time", () => {
  const at = (incoming: number) => replenishment(facts({ incoming: pieces(incoming) }), context);
  assert.equal(at(16.705).needsReorder, true);
  assert.equal(at(16.705).suggestedOrderQuantity, pieces(60));
  assert.equal(at(16.706).needsReorder, false);
  assert.equal(at(16.706).suggestedOrderQuantity, zeroQuantity);
});

test("nothing is suggested for what is inactive or does not sell, unless customers are owed", () => {
  const none = { offers: [], series: [], onHand: zeroQuantity };
  assert.equal(replenishment(facts({ isActive: false, onHand: zeroQuantity }), context).needsReorder, false);
  assert.equal(replenishment(facts(none), context).needsReorder, false);
  const owed = replenishment(facts({ ...none, onHand: pieces(-3) }), context);
  assert.equal(owed.needsReorder, true);
  assert.equal(owed.suggestedOrderQuantity, pieces(3));
});

test("what is not known is blank, and no figure is made up from it", () => {
  const row = forecastRow(
    facts({ unitCost: null, offers: [], series: [], lastSoldDay: null, variantName: null, sku: null }),
    columnIds,
    context,
  );
  for (const id of [
    "variantName",
    "sku",
    "supplierName",
    "locationName",
    "nextIncomingDate",
    "stockoutDate",
    "lastSoldDate",
    "daysOfCover",
    "leadTimeDays",
    "unitCost",
    "unitCostCurrencyCode",
    "suggestedOrderValue",
    "stockValue",
    "supplierId",
    "packSize",
    "moq",
    "expectedArrivalDate",
  ])
    assert.equal(row[id], null, id);
  assert.equal(row["dailyDemand"], 0);
  const unconvertible = forecastRow(
    facts({ unitCost: null, offers: [offer({ currencyCode: "JPY" })] }),
    columnIds,
    context,
  );
  assert.equal(unconvertible["unitCost"], 4);
  assert.equal(unconvertible["unitCostCurrencyCode"], "JPY");
  assert.equal(unconvertible["suggestedOrderValue"], null);
  assert.equal(unconvertible["stockValue"], null);
});

test("supply mode projects stock period by period; overdue is expected today, undated a lead time from today", () => {
  const periods = periodsFrom(today, "week", 4);
  const arrivals = [
    { day: today - 5, quantity: pieces(3) },
    { day: dayFrom("2026-11-29"), quantity: pieces(10) },
    { day: null, quantity: pieces(40) },
    { day: dayFrom("2027-06-01"), quantity: pieces(99) },
  ];
  const row = forecastRow(facts({ arrivals }), ["nextIncomingDate"], { ...context, periods });
  assert.deepEqual(row, {
    variantId: "var_1",
    productId: "prod_1",
    nextIncomingDate: "2026-11-16",
    "demand:2026-W47": 4,
    "incoming:2026-W47": 3,
    "projectedOnHand:2026-W47": 19,
    "demand:2026-W48": 14,
    "incoming:2026-W48": 10,
    "projectedOnHand:2026-W48": 15,
    "demand:2026-W49": 14,
    "incoming:2026-W49": 40,
    "projectedOnHand:2026-W49": 41,
    "demand:2026-W50": 14,
    "incoming:2026-W50": 0,
    "projectedOnHand:2026-W50": 27,
  });
});

test("columns come as the view orders them, then three for each period; a money column says where its currency is", () => {
  assert.deepEqual(
    columnsOf(["unitCost", "stockValue", "sku", "isActive", "stockoutDate"], periodsFrom(today, "month", 1)),
    [
      {
        id: "unitCost",
        displayName: "Unit cost",
        type: "number",
        unit: "currency",
        currencyColumn: "unitCostCurrencyCode",
      },
      { id: "stockValue", displayName: "Stock value", type: "number", unit: "currency", currencyColumn: null },
      { id: "sku", displayName: "SKU", type: "string" },
      { id: "isActive", displayName: "Active", type: "boolean" },
      { id: "stockoutDate", displayName: "Stock-out", type: "date" },
      { id: "demand:2026-11", displayName: "Demand 2026-11", type: "number", period: "2026-11" },
      { id: "incoming:2026-11", displayName: "Incoming 2026-11", type: "number", period: "2026-11" },
      {
        id: "projectedOnHand:2026-11",
        displayName: "Projected on hand 2026-11",
        type: "number",
        period: "2026-11",
      },
    ],
  );
});

test("the columns on offer are those of the contract", () => {
  assert.deepEqual(columnIds, [
    "productName",
    "variantName",
    "sku",
    "supplierName",
    "locationName",
    "isActive",
    "needsReorder",
    "nextIncomingDate",
    "stockoutDate",
    "lastSoldDate",
    "onHand",
    "incoming",
    "sold30d",
    "sold90d",
    "dailyDemand",
    "daysOfCover",
    "leadTimeDays",
    "safetyStock",
    "reorderPoint",
    "suggestedOrderQuantity",
    "unitCost",
    "suggestedOrderValue",
    "stockValue",
    "supplierId",
    "packSize",
    "moq",
    "expectedArrivalDate",
    "draftQuantity",
    "reorderReason",
    "stockoutCost",
  ]);
});
