/** A block of variants says of each what its rows say, in every view (V9). */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { seriesFrom } from "../../src/shop/forecast/demand.ts";
import { type BlockedStock, blockOf, keptOf } from "../../src/shop/forecast/reorder-block.ts";
import type { DecidingRows } from "../../src/shop/forecast/forecast-facts.ts";

const locations = ["pier", "main", 'it\'s\n"north"', ""];
const suppliers = ["mill", "weaver", "𝒳"];
const variants = ["v1", "v2", "ünder", "v4"];

const whole = fc.oneof(
  fc.integer({ min: -1, max: 1 }),
  fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }),
);
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 3 });
const float = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e12 });

const goods = fc
  .uniqueArray(fc.record({ location_id: fc.constantFrom(...locations), quantity: whole }), {
    selector: (row) => row.location_id,
  })
  .map((rows) => rows.map((row) => ({ ...row, variant_id: "" })));

const series = fc.uniqueArray(
  fc.record({
    variant_id: fc.constant(""),
    location_id: fc.constantFrom(...locations),
    latest_week: orNull(fc.nat(4_000)),
    latest_week_quantity: whole,
    weeks: fc.nat(2_000),
    level_sum: float,
    slow_sum: float,
    slow_square_sum: float,
    sale_week_sum: float,
    sale_weeks: fc.nat(2_000),
    size: float,
    counted_days: orNull(fc.nat(14_000)),
    sale_days: orNull(fc.nat(14_000)),
    latest_from: orNull(fc.nat(28_000)),
    latest_day: orNull(fc.nat(28_000)),
    out_from: orNull(fc.nat(28_000)),
    out_until: orNull(fc.nat(28_000)),
  }),
  { selector: (row) => row.location_id },
);

const offers = fc.uniqueArray(
  fc.record({
    variant_id: fc.constant(""),
    supplier_id: fc.constantFrom(...suppliers),
    supplier_name: orNull(fc.constantFrom("Mill", "", "mill")),
    unit_cost: orNull(whole),
    currency_code: orNull(fc.constantFrom("EUR", "USD")),
    moq: orNull(whole),
    pack_size: orNull(whole),
    lead_time_days: orNull(fc.nat(400)),
  }),
  { selector: (row) => row.supplier_id },
);

const deciding: fc.Arbitrary<DecidingRows> = fc.record({ onHand: goods, incoming: goods, series, offers });
const filter = (values: readonly string[]): fc.Arbitrary<readonly string[] | null> =>
  fc.option(fc.subarray([...values]), { freq: 2 });

/** What decides about a variant in the view, straight from its rows. Null: the view does not have it. */
function stockOf(
  rows: DecidingRows,
  isActive: boolean,
  locationIds: readonly string[] | null,
  supplierIds: readonly string[] | null,
): BlockedStock | null {
  const at = <R extends { readonly location_id: string }>(all: readonly R[]): readonly R[] =>
    all.filter((row) => locationIds === null || locationIds.includes(row.location_id));
  const [onHand, incoming, sold] = [at(rows.onHand), at(rows.incoming), at(rows.series)];
  const terms = rows.offers.filter((row) => supplierIds === null || supplierIds.includes(row.supplier_id));
  const isThere = onHand.length > 0 || incoming.some((row) => row.quantity > 0) || sold.length > 0;
  if ((locationIds !== null && !isThere) || (supplierIds !== null && terms.length === 0)) return null;
  const sum = (all: readonly { readonly quantity: number }[]): number => all.reduce((n, row) => n + row.quantity, 0);
  const facts = {
    isActive,
    onHand: sum(onHand),
    incoming: sum(incoming),
    series: sold.flatMap((row) => (row.latest_week === null ? [] : (seriesFrom({ ...row, variant_id: "" }) ?? []))),
    offers: terms.map((row) => ({
      supplierId: row.supplier_id,
      supplierName: row.supplier_name ?? row.supplier_id,
      unitCost: row.unit_cost,
      currencyCode: row.currency_code ?? "CHF",
      moq: row.moq,
      packSize: row.pack_size,
      leadTimeDays: row.lead_time_days,
    })),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- plain numbers for the branded ones
  return facts as unknown as BlockedStock;
}

test("a block gives back what decides about each variant, in every view, in its order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ rows: deciding, isActive: fc.boolean() }), { maxLength: variants.length }),
      filter(locations),
      filter(suppliers),
      filter(variants),
      (all, locationIds, supplierIds, variantIds) => {
        const keys = all.map(({ isActive }, index) => ({
          variant_id: variants[index] ?? "",
          product_name: `Product "${index}"`,
          status: isActive ? "active" : "inactive",
          price: index % 2 === 0 ? null : index,
          unit_cost: index % 3 === 0 ? null : index * 2,
        }));
        const rowsOf = (variantId: string): DecidingRows =>
          all[variants.indexOf(variantId)]?.rows ?? { onHand: [], incoming: [], series: [], offers: [] };
        const seen: [string, BlockedStock][] = [];
        const needed = keptOf(blockOf(keys, rowsOf), { locationIds, supplierIds, variantIds }, "CHF", (key, stock) => {
          seen.push([key.variant_id, stock]);
          return key.variant_id === "v2" ? null : key;
        });
        const expected = keys.flatMap((key): [string, BlockedStock][] => {
          const stock = stockOf(rowsOf(key.variant_id), key.status === "active", locationIds, supplierIds);
          const isWanted = variantIds === null || variantIds.includes(key.variant_id);
          return stock === null || !isWanted ? [] : [[key.variant_id, stock]];
        });
        assert.deepEqual(seen, expected);
        const isIn = new Set(expected.map(([variantId]) => variantId));
        assert.deepEqual(
          needed,
          keys.filter((key) => isIn.has(key.variant_id) && key.variant_id !== "v2"),
        );
      },
    ),
    { numRuns: 500 },
  );
});
