import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { weekStart } from "../../src/base/time/calendar.ts";
import { type DaySale, extendSeries, weeklyDemand } from "../../src/core/forecast/demand.ts";
import {
  forecastRow,
  orderCycleDays,
  periodsFrom,
  replenishment,
  type SupplierOffer,
  type VariantFacts,
} from "../../src/core/forecast/forecast.ts";
import { asMoney, asQuantity, quantityToNumber } from "../../src/core/money/money.ts";
import { type StockDay, type StockOut, daysOut, stockOutsOf } from "../../src/core/forecast/stock-outs.ts";

const quantity = (max: number) => fc.integer({ min: 0, max }).map(asQuantity);

/** Sales of different days, oldest first; long silences included. */
const salesOf = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 900 })),
      quantity: quantity(50_000),
    }),
    {
      minLength: 1,
      maxLength: 40,
    },
  )
  .map((entries): readonly DaySale[] => {
    let day = 19_000;
    return entries.map(({ gap, quantity }) => ({ day: (day += gap), quantity }));
  });

/** Times without stock between sales: some days after each, before the next. */
const outsOf = (sales: readonly DaySale[], lengths: readonly number[]): readonly StockOut[] =>
  sales.flatMap((sale, index) => {
    const next = sales[index + 1]?.day ?? Infinity;
    const from = sale.day + 1 + (lengths[index] ?? 0);
    const until = Math.min(next - 1, from + 3 * (lengths[index] ?? 0));
    return lengths[index] === undefined || until < from ? [] : { from, until };
  });

const lengthsOf = fc.array(fc.nat(200), { maxLength: 40 });

test("a series is the same whether its sales come at once or in two parts (V1)", () => {
  fc.assert(
    fc.property(salesOf, lengthsOf, fc.nat(40), (sales, lengths, cut) => {
      const outs = outsOf(sales, lengths);
      const first = extendSeries(null, sales.slice(0, cut), outs);
      const since = first === null ? -Infinity : weekStart(first.latestWeek);
      const second = extendSeries(
        first,
        sales.filter((sale) => sale.day >= since),
        outs.filter((out) => (out.until ?? Infinity) >= since),
      );
      assert.deepEqual(second, extendSeries(null, sales, outs));
    }),
  );
});

test("demand is never negative and never above the pace of the best day; its variance is never below it (V2)", () => {
  fc.assert(
    fc.property(salesOf, lengthsOf, fc.integer({ min: 0, max: 4_000 }), (sales, lengths, later) => {
      const series = extendSeries(null, sales, outsOf(sales, lengths));
      const best = 7 * Math.max(...sales.map((sale) => sale.quantity));
      assert.equal(series === null, best === 0);
      if (series === null) return;
      const { mean, variance } = weeklyDemand(series, (sales.at(-1)?.day ?? 0) + later);
      assert.ok(mean >= 0 && mean <= best / 1_000 + 1e-6, `${mean} of at most ${best / 1_000}`);
      assert.ok(variance >= mean);
    }),
  );
});

test("a week without a counted day changes nothing: it is as if the weeks around it followed each other (V10)", () => {
  fc.assert(
    fc.property(salesOf, fc.nat(60), (sales, weeks) => {
      const [last] = sales.slice(-1);
      const series = extendSeries(null, sales);
      if (series === null || last === undefined) return;
      const until = weekStart(series.latestWeek) + 7;
      const out = { from: until, until: until + weeks * 7 - 1 };
      const stocked = weeks === 0 ? series : { ...series, stockOut: out };
      assert.deepEqual(weeklyDemand(stocked, until + weeks * 7), weeklyDemand(series, until));
    }),
  );
});

const offerOf = fc.record<SupplierOffer>({
  supplierId: fc.constantFrom("a", "b", "c"),
  supplierName: fc.constant("Supplier"),
  unitCost: fc.option(fc.integer({ min: 0, max: 1_000_000 }).map(asMoney)),
  currencyCode: fc.constantFrom("EUR", "USD"),
  moq: fc.option(quantity(500_000)),
  packSize: fc.option(fc.integer({ min: 1_000, max: 100_000 }).map(asQuantity)),
  leadTimeDays: fc.option(fc.integer({ min: 0, max: 365 })),
});

const today = 20_000;

const factsOf = fc.record<VariantFacts>({
  variantId: fc.constant("var_1"),
  productId: fc.constant("prod_1"),
  productName: fc.constant("Kettle"),
  variantName: fc.constant(null),
  sku: fc.constant(null),
  isActive: fc.boolean(),
  unitCost: fc.constant(null),
  price: fc.option(fc.integer({ min: 0, max: 1_000_000 }).map(asMoney)),
  onHand: fc.integer({ min: -50_000, max: 500_000 }).map(asQuantity),
  incoming: fc.integer({ min: 40_000, max: 100_000 }).map(asQuantity),
  lateArrivals: fc.array(
    fc.record({ day: fc.integer({ min: today + 31, max: today + 500 }), quantity: quantity(10_000) }),
    {
      maxLength: 4,
    },
  ),
  series: fc.array(
    salesOf.map((sales) => extendSeries(null, sales)).filter((series) => series !== null),
    { maxLength: 3 },
  ),
  offers: fc.array(offerOf, { maxLength: 3 }),
  steering: fc.constant(null),
  arrivals: fc.array(
    fc.record({ day: fc.option(fc.integer({ min: today - 40, max: today + 500 })), quantity: quantity(100_000) }),
  ),
  sold30d: quantity(1_000),
  sold90d: quantity(1_000),
  lastSoldDay: fc.constant(null),
  draftQuantity: quantity(1_000),
});

const context = { shop: { currencyCode: "EUR", fxRates: {} }, today, locationName: null };

test("a suggestion covers the shortage, reaches the MOQ and is a whole number of packs; without need there is none (V4)", () => {
  fc.assert(
    fc.property(factsOf, (facts) => {
      const decided = replenishment(facts, context);
      const suggested = decided.suggestedOrderQuantity;
      assert.equal(suggested > 0, decided.needsReorder);
      if (!decided.needsReorder) return;
      const cycle = Math.round((decided.dailyDemand * orderCycleDays) / 10);
      const horizon = today + (decided.offer?.leadTimeDays ?? 14) + orderCycleDays;
      const late = facts.lateArrivals.filter(({ day }) => day > horizon).reduce((sum, each) => sum + each.quantity, 0);
      assert.equal(decided.covering, facts.incoming - late);
      const shortage = decided.reorderPoint + cycle - (facts.onHand + decided.covering);
      const pack = decided.offer?.packSize ?? 1_000;
      assert.ok(suggested >= shortage);
      assert.ok(suggested >= (decided.offer?.moq ?? 0));
      assert.equal(suggested % pack, 0);
      assert.ok(suggested - pack < Math.max(shortage, decided.offer?.moq ?? 0), "a pack less would do too");
    }),
  );
});

test("the reorder point is the demand of the lead time plus the safety stock, of the figures as shown (V3)", () => {
  fc.assert(
    fc.property(factsOf, (facts) => {
      const row = forecastRow(facts, ["dailyDemand", "leadTimeDays", "safetyStock", "reorderPoint"], {
        ...context,
        periods: [],
      });
      const shown = (id: string): bigint => BigInt(Math.round(Number(row[id]) * 10_000));
      const exact = shown("dailyDemand") * BigInt(row["leadTimeDays"] === null ? 14 : Number(row["leadTimeDays"]));
      const difference = shown("reorderPoint") - shown("safetyStock") - exact;
      assert.ok(difference >= -5n && difference <= 5n, `off by ${difference} ten-thousandths`);
    }),
  );
});

test("projected on hand follows from the period before, and every arrival within the horizon is in one period (V5)", () => {
  fc.assert(
    fc.property(
      factsOf,
      fc.constantFrom("week" as const, "month" as const),
      fc.integer({ min: 1, max: 52 }),
      (facts, unit, count) => {
        const periods = periodsFrom(today, unit, count);
        const row = forecastRow(facts, ["onHand"], { ...context, periods });
        const figure = (id: string): number => Math.round(Number(row[id]) * 1_000);
        let onHand: number = facts.onHand;
        let incoming = 0;
        for (const { label } of periods) {
          onHand += figure(`incoming:${label}`) - figure(`demand:${label}`);
          incoming += figure(`incoming:${label}`);
          assert.equal(figure(`projectedOnHand:${label}`), onHand);
        }
        const lastDay = periods.at(-1)?.lastDay ?? today;
        const leadTime = replenishment(facts, context).offer?.leadTimeDays ?? 14;
        const expected = facts.arrivals
          .filter((arrival) => (arrival.day ?? today + leadTime) <= lastDay)
          .reduce((sum, arrival) => sum + arrival.quantity, 0);
        assert.equal(incoming, expected);
        assert.equal(row["onHand"], quantityToNumber(facts.onHand));
      },
    ),
  );
});

test("periods follow each other without a gap", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60_000 }),
      fc.constantFrom("week" as const, "month" as const),
      fc.integer({ min: 2, max: 52 }),
      (today, unit, count) => {
        const periods = periodsFrom(today, unit, count);
        assert.equal(periods.length, count);
        assert.equal(new Set(periods.map((period) => period.label)).size, count);
        let next = today;
        for (const { firstDay, lastDay } of periods) {
          assert.equal(firstDay, next);
          assert.ok(lastDay >= firstDay);
          next = lastDay + 1;
        }
      },
    ),
  );
});

const stockDay = fc.record<Omit<StockDay, "day">>({
  sold: quantity(5),
  moved: fc.integer({ min: -5, max: 10 }),
  counted: fc.option(quantity(3), { freq: 6 }),
});

test("a time without stock has no sale and nothing that came in, and no two of them touch", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -3, max: 5 }).map(asQuantity),
      fc.uniqueArray(fc.tuple(fc.nat(60), stockDay), { selector: ([day]) => day, maxLength: 30 }),
      (onHand, entries) => {
        const days = entries.map(([day, entry]) => ({ day, ...entry }));
        const outs = stockOutsOf(onHand, days);
        for (const { day, sold, moved } of days)
          if (sold > 0 || moved > 0) assert.equal(daysOut(outs, day, day), 0, `day ${day}`);
        for (const [index, out] of outs.entries()) {
          assert.ok(out.until === null ? index === outs.length - 1 : out.from <= out.until);
          const next = outs[index + 1];
          if (next !== undefined) assert.ok(out.until !== null && next.from > out.until + 1);
        }
      },
    ),
  );
});
