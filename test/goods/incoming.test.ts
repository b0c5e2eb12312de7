import assert from "node:assert/strict";
import { test } from "node:test";
import { incomingDeltas, incomingEffects, incomingOf, tagPlan } from "../../src/core/goods/incoming.ts";
import { zeroQuantity } from "../../src/core/money/money.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { line, order, quantity } from "../support/goods.ts";

test("incoming is the pending quantity of catalogue lines of an open order with a location, by variant", () => {
  const lines = [
    line("a", { confirmed: 4, received: 1 }),
    line("b", { variantId: "variant of a" }),
    line("c", { cancelled: 10 }),
    line("d", { variantId: "CSTM-1" }),
  ];
  for (const status of statuses) {
    const open = ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received"].includes(status);
    assert.deepEqual([...incomingOf(order(status, lines))], open ? [["variant of a", quantity(13)]] : [], status);
  }
  assert.equal(incomingOf(order("Sent", lines, { locationId: null })).size, 0);
  assert.equal(incomingOf(null).size, 0);
});

test("the ledger changes by the difference, for each location and variant", () => {
  const before = order("Sent", [line("a"), line("b")]);
  assert.deepEqual(incomingDeltas(before, before), []);
  assert.deepEqual(incomingDeltas(before, order("Sent", [line("a", { ordered: 7 }), line("b")])), [
    { variantId: "variant of a", locationId: "warehouse", delta: quantity(-3) },
  ]);
  assert.deepEqual(incomingDeltas(before, order("Sent", [line("a")], { locationId: "depot" })), [
    { variantId: "variant of a", locationId: "warehouse", delta: quantity(-10) },
    { variantId: "variant of b", locationId: "warehouse", delta: quantity(-10) },
    { variantId: "variant of a", locationId: "depot", delta: quantity(10) },
  ]);
});

test("the storefront follows the ledger: one effect a location, and one for the tags while the shop has a tag", () => {
  const deltas = [
    { locationId: "warehouse", variantId: "red" },
    { locationId: "depot", variantId: "red" },
    { locationId: "warehouse", variantId: "blue" },
    { locationId: "warehouse", variantId: "red" },
  ];
  const mirrors = [
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["red", "blue"] },
    { kind: "mirror-incoming", locationId: "depot", variantIds: ["red"] },
  ];
  assert.deepEqual(incomingEffects(deltas, null), mirrors);
  assert.deepEqual(incomingEffects(deltas, "on order"), [
    ...mirrors,
    { kind: "sync-tags", variantIds: ["red", "blue"] },
  ]);
  assert.deepEqual(incomingEffects([], "on order"), []);
});

test("a product has the tag while any of its variants is incoming; one change per product", () => {
  const plan = tagPlan([
    { variantId: "red", productId: "shirt", incoming: zeroQuantity },
    { variantId: "blue", productId: "shirt", incoming: quantity(1) },
    { variantId: "hat", productId: "hat", incoming: zeroQuantity },
    { variantId: "shirt", productId: null, incoming: quantity(2) },
  ]);
  assert.deepEqual(plan, [
    { variantId: "red", present: true },
    { variantId: "hat", present: false },
    { variantId: "shirt", present: true },
  ]);
});
