/** Drafts planned from a forecast's suggestions (C68). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dayFrom } from "../../src/base/time/calendar.ts";
import type { SupplierOffer, Suggestion } from "../../src/core/forecast/forecast.ts";
import { type Quantity, asMoney, asQuantity, zeroQuantity } from "../../src/core/money/money.ts";
import { planReorder, type ReorderFacts } from "../../src/core/forecast/reorder.ts";

const pieces = (units: number): Quantity => asQuantity(units * 1_000);
const today = dayFrom("2026-11-21");

const offer = (supplierId: string, supplierName: string): SupplierOffer => ({
  supplierId,
  supplierName,
  unitCost: asMoney(45_000),
  currencyCode: "USD",
  moq: null,
  packSize: null,
  leadTimeDays: 14,
});
const nord = offer("nord", "Nordwind");
const sud = offer("sud", "Amsel");

const suggestion = (variantId: string, more: Partial<Suggestion> = {}): Suggestion => ({
  facts: {
    variantId,
    productId: `p-${variantId}`,
    productName: `Product ${variantId}`,
    variantName: null,
    sku: variantId.toUpperCase(),
    isActive: true,
    unitCost: null,
    price: null,
    onHand: pieces(4),
    incoming: pieces(2),
    series: [],
    offers: [],
    arrivals: [],
    lateArrivals: [],
    steering: null,
    sold30d: zeroQuantity,
    sold90d: zeroQuantity,
    lastSoldDay: null,
    draftQuantity: zeroQuantity,
  },
  offer: nord,
  dailyDemand: 1,
  safetyStock: zeroQuantity,
  reorderPoint: pieces(12),
  covering: pieces(2),
  needsReorder: true,
  suggestedOrderQuantity: pieces(24),
  leadTimeDays: 14,
  reorderReason: "demand",
  unit: { cost: asMoney(45_000), currencyCode: "USD" },
  arrivalDay: today + 14,
  stockoutDay: today + 14,
  ...more,
});

const plan = (suggestions: readonly Suggestion[], more: Partial<ReorderFacts> = {}) =>
  planReorder({ suggestions, onDraft: new Map(), quantities: new Map(), outside: new Map(), ...more });

test("one draft for each supplier, by supplier name, at suggested quantities and the supplier's terms", () => {
  const { drafts, skipped } = plan([
    suggestion("a"),
    suggestion("b", { offer: sud }),
    suggestion("c", { arrivalDay: today + 20 }),
  ]);
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    drafts.map(({ supplierId, arrivalDay, lines }) => [supplierId, arrivalDay - today, lines.map((l) => l.variantId)]),
    [
      ["sud", 14, ["b"]],
      ["nord", 20, ["a", "c"]],
    ],
  );
  assert.deepEqual(drafts[1]?.lines[0], {
    variantId: "a",
    sku: "A",
    productName: "Product a",
    quantity: pieces(24),
    unitCost: asMoney(45_000),
    currencyCode: "USD",
    reason: "4 on hand + 2 incoming, at or below the reorder point 12.",
    arrivalDay: today + 14,
    stockoutDay: today + 14,
    late: false,
  });
});

test("a line is late when it arrives after the day on which the stock is gone", () => {
  const late = (stockoutDay: number | null): boolean | undefined =>
    plan([suggestion("a", { stockoutDay })]).drafts[0]?.lines[0]?.late;
  assert.equal(late(today + 13), true);
  assert.equal(late(today + 14), false);
  assert.equal(late(null), false);
});

const draft = { purchaseOrderId: "po_9", poNumber: "PO-9" };

const cases: readonly (readonly [
  what: string,
  suggestion: Partial<Suggestion>,
  facts: Partial<ReorderFacts>,
  expected: object,
])[] = [
  ["on a draft", {}, { onDraft: new Map([["a", draft]]) }, { reason: "on-draft", draft }],
  [
    "on a draft, with a quantity set",
    {},
    { onDraft: new Map([["a", draft]]), quantities: new Map([["a", pieces(5)]]) },
    { reason: "on-draft", draft },
  ],
  ["nobody offers it", { offer: null, arrivalDay: null }, {}, { reason: "no-supplier", draft: null }],
  ["set to 0", {}, { quantities: new Map([["a", zeroQuantity]]) }, { reason: "left-out", draft: null }],
];
for (const [what, more, facts, expected] of cases)
  test(`not ordered: ${what}`, () => {
    assert.deepEqual(plan([suggestion("a", more)], facts), {
      drafts: [],
      skipped: [{ variantId: "a", sku: "A", productName: "Product a", ...expected }],
    });
  });

test("a set quantity replaces the suggested one, also of a variant that needs no reorder; an unknown variant is named", () => {
  const { drafts, skipped } = plan(
    [suggestion("a"), suggestion("b", { needsReorder: false, suggestedOrderQuantity: zeroQuantity })],
    {
      quantities: new Map([
        ["a", pieces(7)],
        ["b", pieces(3)],
        ["elsewhere", pieces(1)],
        ["unknown", pieces(1)],
      ]),
      outside: new Map([["elsewhere", { sku: null, productName: "Lamp" }]]),
    },
  );
  assert.deepEqual(
    drafts[0]?.lines.map((line) => [line.variantId, line.quantity, line.reason]),
    [
      ["a", pieces(7), "4 on hand + 2 incoming, at or below the reorder point 12. Suggested 24."],
      ["b", pieces(3), "Asked for; 4 on hand + 2 incoming, reorder point 12."],
    ],
  );
  assert.deepEqual(skipped, [
    { variantId: "elsewhere", sku: null, productName: "Lamp", reason: "not-in-view", draft: null },
    { variantId: "unknown", sku: null, productName: null, reason: "not-in-view", draft: null },
  ]);
});

test("without any cost the line's is not known, and is no 0 that somebody has set; its currency is the supplier's", () => {
  const line = plan([suggestion("a", { unit: null })]).drafts[0]?.lines[0];
  assert.equal(line?.unitCost, null);
  assert.equal(line.currencyCode, "USD");
});
