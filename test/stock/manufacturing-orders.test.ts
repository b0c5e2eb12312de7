import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type ItemToBuild,
  type ManufacturingOrderHeader,
  manufacturingOrderStatuses,
  type Material,
  measuresOf,
} from "../../src/core/stock/manufacturing-orders.ts";
import { asMoney, asQuantity } from "../../src/core/money/money.ts";

const facts = { today: "2026-03-10", currencyCode: "EUR" };
const open = { status: "In Progress", dueDate: null } as const;

const item = (moItemId: string, planned: number, completed: number, more: Partial<ItemToBuild> = {}): ItemToBuild => ({
  moItemId,
  variantId: "v",
  sku: null,
  quantityPlanned: asQuantity(planned * 1000),
  quantityCompleted: asQuantity(completed * 1000),
  quantityScrapped: asQuantity(0),
  unitCost: asMoney(20_000),
  ...more,
});

const material = (moItemId: string | null, required: number, allocated: number, consumed: number): Material => ({
  moMaterialId: "m",
  moItemId,
  variantId: "v",
  sku: null,
  quantityPerUnit: null,
  quantityRequired: asQuantity(required * 1000),
  quantityAllocated: asQuantity(allocated * 1000),
  quantityConsumed: asQuantity(consumed * 1000),
  unitCost: asMoney(10_000),
});

test("a surplus of one item does not hide a shortage of another", () => {
  const { progressPercent, quantityRemaining } = measuresOf(open, [item("a", 10, 20), item("b", 10, 0)], [], facts);
  assert.equal(progressPercent, 50);
  assert.equal(quantityRemaining, 10_000);
});

test("percentages are rounded down to one decimal, so 100 means complete; nothing planned is 0, nothing needed is ready", () => {
  assert.equal(measuresOf(open, [item("a", 3, 2)], [], facts).progressPercent, 66.6);
  assert.equal(measuresOf(open, [item("a", 5_000, 4_999)], [], facts).progressPercent, 99.9);
  assert.equal(measuresOf(open, [], [], facts).progressPercent, 0);
  assert.equal(measuresOf(open, [], [], facts).materialsReadyPercent, 100);
  assert.equal(
    measuresOf(open, [], [material("a", 8, 1, 1), material("a", 8, 20, 0)], facts).materialsReadyPercent,
    62.5,
  );
});

test("materials give the cost; an item without materials counts at its own cost, unless materials belong to the whole order", () => {
  const items = [item("a", 10, 4), item("b", 5, 1, { quantityScrapped: asQuantity(1_000) })];
  const cost = (materials: readonly Material[]) => {
    const { plannedCost, actualCost } = measuresOf(open, items, materials, facts);
    return [plannedCost / 10_000, actualCost / 10_000];
  };
  assert.deepEqual(cost([]), [30, 12]);
  assert.deepEqual(cost([material("a", 7, 0, 3)]), [17, 7]);
  assert.deepEqual(cost([material(null, 7, 0, 3)]), [7, 3]);
});

test("an order is late from the day after it is due until it is completed or cancelled", () => {
  const late = (status: ManufacturingOrderHeader["status"], dueDate: string | null) =>
    measuresOf({ status, dueDate }, [], [], facts).isLate;
  for (const status of manufacturingOrderStatuses) {
    assert.equal(late(status, "2026-03-09"), status !== "Completed" && status !== "Cancelled", status);
    assert.equal(late(status, "2026-03-10"), false, "the day itself is in time");
    assert.equal(late(status, null), false);
  }
});

test("percentages are within 0 and 100, and 100 exactly if nothing remains or is short", () => {
  const quantities = fc.record({
    planned: fc.nat(5_000),
    completed: fc.nat(6_000),
    allocated: fc.nat(3_000),
    consumed: fc.nat(3_000),
  });
  fc.assert(
    fc.property(fc.array(quantities, { minLength: 1, maxLength: 6 }), (entries) => {
      const items = entries.map(({ planned, completed }, index) => item(String(index), planned, completed));
      const materials = entries.map(({ planned, allocated, consumed }, index) =>
        material(String(index), planned, allocated, consumed),
      );
      const measures = measuresOf(open, items, materials, facts);
      for (const percent of [measures.progressPercent, measures.materialsReadyPercent])
        assert.ok(percent >= 0 && percent <= 100);
      const isPlanned = measures.quantityPlanned > 0;
      assert.equal(measures.progressPercent === 100, isPlanned && measures.quantityRemaining === 0);
      const isShort = entries.some(({ planned, allocated, consumed }) => planned > allocated + consumed);
      assert.equal(measures.materialsReadyPercent === 100, !isShort);
    }),
  );
});
