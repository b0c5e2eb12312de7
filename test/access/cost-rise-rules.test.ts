/** Rises of unit costs (C78): which lines are asked, and how far a cost is above what is known of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { basisRises, linesWithNewCosts, percentOver, percentToNumber } from "../../src/core/access/cost-rises.ts";
import { type KeyLimits, limitsPassed, noLimits } from "../../src/core/access/limits.ts";
import type { PurchaseOrder } from "../../src/core/order/purchase-order.ts";
import { fxRate, line, money, order, quantity, refusal } from "../support/goods.ts";

const rates = { currencyCode: "USD", sources: [{ EUR: fxRate(1.1) }, { EUR: fxRate(2), CHF: fxRate(1.05) }] };

/** Percent of a cost over another one; null: they cannot be compared. */
function over(cost: readonly [number, string], basis: readonly [number, string] | null): number | null {
  const asked = line("a", { unitCost: cost[0], currency: cost[1] });
  const known = basis === null ? undefined : { unitCost: money(basis[0]), currencyCode: basis[1] };
  const percent = percentOver(asked, known, rates);
  return percent === null ? null : percentToNumber(percent);
}

test("a cost is compared exactly, in its currency or at the order's rates before the shop's, and shown rounded up", () => {
  const rows: readonly (readonly [readonly [number, string], readonly [number, string] | null, number | null])[] = [
    [[4, "USD"], [4, "USD"], 0],
    [[3.9999, "USD"], [4, "USD"], 0],
    [[4.4, "USD"], [4, "USD"], 10],
    [[4.4001, "USD"], [4, "USD"], 10.003],
    [[0.1, "USD"], [0.09, "USD"], 11.112],
    [[0.0003, "USD"], [0.0001, "USD"], 200],
    [[1_000_000_000, "USD"], [0.0001, "USD"], 999_999_999_999_900],
    [[1.1, "USD"], [1, "EUR"], 0],
    [[1.1001, "USD"], [1, "EUR"], 0.01],
    [[1, "EUR"], [1, "USD"], 10],
    [[1.05, "EUR"], [1.1, "CHF"], 0],
    [[3, "JPY"], [2, "JPY"], 50],
    [[3, "JPY"], [2, "USD"], null],
    [[3, "USD"], [2, "JPY"], null],
    [[3, "USD"], null, null],
  ];
  for (const [cost, basis, percent] of rows) assert.equal(over(cost, basis), percent, JSON.stringify([cost, basis]));
});

const ids = (before: PurchaseOrder | null, next: PurchaseOrder, entries: readonly string[] = []): readonly string[] =>
  linesWithNewCosts(before, next, new Set(entries)).map(({ poLineItemId }) => poLineItemId);

test("all lines are asked of a new order, one that leaves Draft, and with another supplier or currency; else what is new or dearer", () => {
  const a = line("a", { unitCost: 4 });
  const b = line("b", { unitCost: 5 });
  const free = line("free", { unitCost: 0 });
  const draft = order("Draft", [a, b, free]);
  const sent = order("Sent", [a, b, free]);
  assert.deepEqual(ids(null, draft), ["a", "b"]);
  assert.deepEqual(ids(draft, sent), ["a", "b"]);
  assert.deepEqual(ids(order("Cancelled", [a, b]), sent), ["a", "b"], "it comes back");
  assert.deepEqual(ids(draft, { ...draft, supplierId: "other" }), ["a", "b"]);
  assert.deepEqual(ids(draft, { ...draft, currencyCode: "EUR" }), ["a", "b"]);
  assert.deepEqual(ids(draft, { ...draft, noteToSupplier: "Before noon." }), []);
  assert.deepEqual(ids(sent, order("Confirmed", [a, b, free])), []);
  assert.deepEqual(ids(order("Sent", [a]), sent), ["b"], "a new line");
  const dearer = line("a", { unitCost: 4.0001 });
  assert.deepEqual(ids(sent, order("Sent", [dearer, b])), ["a"]);
  assert.deepEqual(ids(order("Sent", [dearer, b]), sent), [], "it falls");
  assert.deepEqual(ids(sent, order("Sent", [line("a", { unitCost: 1, currency: "EUR" }), b])), ["a"]);
  assert.deepEqual(ids(sent, order("Sent", [line("a", { unitCost: 4, ordered: 90 }), b])), [], "a quantity");
  assert.deepEqual(ids(sent, sent, ["b", "free"]), ["b"], "it goes to the price list");
});

test("what costs are held against rises by what a write makes of it; where there was none, it cannot be compared", () => {
  const known = (costs: Readonly<Record<string, readonly [number, string]>>) =>
    new Map(
      Object.entries(costs).map(([id, [cost, currencyCode]]) => [id, { unitCost: money(cost), currencyCode }] as const),
    );
  const before = known({ same: [4, "JPY"], dearer: [4, "USD"], other: [4, "USD"], gone: [4, "USD"] });
  const after = known({ same: [4, "JPY"], dearer: [4.4, "USD"], other: [4, "EUR"], new: [0.01, "USD"] });
  const rises = basisRises(before, after, rates);
  assert.deepEqual(
    rises.map(({ line: of, percent }) => [of.variantId, percent === null ? null : percentToNumber(percent)]),
    [
      ["same", 0],
      ["dearer", 10],
      ["other", 10],
      ["new", null],
    ],
  );
  assert.ok(rises.every(({ setsEntry }) => setsEntry));
});

test("the maximum itself is within; the highest rise is told, and what has no measure before it; a price list takes none", () => {
  const limits: KeyLimits = { ...noLimits, unitCostRisePercentMax: quantity(10), beyond: "refuse" };
  const rise = (percent: number | null, setsEntry = false) => ({
    line: line("a", { variantId: "red" }),
    percent: percent === null ? null : quantity(percent),
    setsEntry,
  });
  const write = (...costRises: ReturnType<typeof rise>[]) => ({
    next: order("Draft", []),
    rise: { value: money(0), rise: money(0), addsUnpriced: false },
    costRises,
    asksPlaces: false,
    spent: { dayValue: money(0), monthValue: money(0) },
    currencyCode: "USD",
  });
  const told = (...rises: ReturnType<typeof rise>[]) =>
    refusal(() => limitsPassed(limits, write(...rises)), "FORBIDDEN_SCOPE");
  const detail = (asked: number | null, allowed = 10) => [
    { limit: "unitCostRisePercentMax", allowed, used: null, asked },
  ];
  assert.deepEqual(limitsPassed(limits, write(rise(10), rise(0), rise(0, true))), []);
  assert.deepEqual(limitsPassed({ ...noLimits, beyond: "refuse" }, write(rise(null))), []);
  assert.deepEqual(limitsPassed({ ...limits, beyond: "ask" }, write(rise(10.001))), detail(10.001));
  assert.deepEqual(told(rise(10.001)).details, detail(10.001));
  assert.deepEqual(told(rise(11), rise(300), rise(9)).details, detail(300));
  assert.match(told(rise(11), rise(300)).message, /A cost may rise by 10 %; that of red rises by 300 %, and 1 more\./);
  assert.deepEqual(told(rise(300), rise(null)).details, detail(null));
  assert.match(told(rise(null)).message, /of red there is none to compare with/);
  assert.deepEqual(told(rise(0.001, true)).details, detail(0.001, 0));
});
