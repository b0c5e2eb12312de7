import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { weekOf, weekStart } from "../../src/base/calendar.ts";
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

test("a series is the same whether its sales come at once or in two parts (V1)", () => {
  fc.assert(
    fc.property(salesOf, fc.nat(40), (sales, cut) => {
      const first = extendSeries(null, sales.slice(0, cut));
      const since = first === null ? -Infinity : weekStart(first.latestWeek);
      const second = extendSeries(
        first,
        sales.filter((sale) => sale.day >= since),
      );
      assert.deepEqual(second, extendSeries(null, sales));
    }),
  );
});

test("demand is never negative and never above the best week; its variance is never below it (V2)", () => {
  fc.assert(
    fc.property(salesOf, fc.integer({ min: 0, max: 4_000 }), (sales, later) => {
      const series = extendSeries(null, sales);
      const weeks = Map.groupBy(sales, (sale) => weekOf(sale.day));
      const best = Math.max(...[...weeks.values()].map((week) => week.reduce((sum, sale) => sum + sale.quantity, 0)));
      assert.equal(series === null, best === 0);
      if (series === null) return;
      const { mean, variance } = weeklyDemand(series, (sales.at(-1)?.day ?? 0) + later);
      assert.ok(mean >= 0 && mean <= best / 1_000 + 1e-9, `${mean} of at most ${best / 1_000}`);
      assert.ok(variance >= mean);
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
  onHand: fc.integer({ min: -50_000, max: 500_000 }).map(asQuantity),
  incoming: quantity(100_000),
  series: fc.array(
    salesOf.map((sales) => extendSeries(null, sales)).filter((series) => series !== null),
    { maxLength: 3 },
  ),
  offers: fc.array(offerOf, { maxLength: 3 }),
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
      const shortage = decided.reorderPoint + cycle - (facts.onHand + facts.incoming);
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
