import assert from "node:assert/strict";
import { test } from "node:test";
import type { LineItem } from "../../src/core/order/purchase-order.ts";
import { orderWarnings } from "../../src/core/order/warnings.ts";
import { line, type LineFigures, money, order, quantity } from "../support/goods.ts";

const known = (figures: LineFigures, facts: Partial<LineItem> = {}): LineItem => ({
  ...line("a", figures),
  productName: "Shirt",
  ...facts,
});

const lineTable: readonly (readonly [string, LineItem, boolean, string])[] = [
  ["nothing wrong", known({}), false, ""],
  ["a variant that the catalogue does not hold", known({}, { productName: null }), false, "/variantId unknown-variant"],
  ["no cost sent and none known", known({}, { unitCost: money(0) }), true, "/unitCost no-cost"],
  ["a cost of 0 that was sent or is known", known({}, { unitCost: money(0) }), false, ""],
  ["at the minimum", known({ ordered: 6 }, { moq: quantity(6) }), false, ""],
  ["below the minimum", known({ ordered: 5.999 }, { moq: quantity(6) }), false, "/quantityOrdered off-moq"],
  ["whole packs", known({ ordered: 7.5 }, { packSize: quantity(2.5) }), false, ""],
  ["a broken pack", known({ ordered: 7 }, { packSize: quantity(2.5) }), false, "/quantityOrdered off-pack-size"],
  [
    "both",
    known({ ordered: 7 }, { moq: quantity(8), packSize: quantity(4) }),
    false,
    "/quantityOrdered off-moq, /quantityOrdered off-pack-size",
  ],
  [
    "a custom line is only told of its cost",
    known({ variantId: "CSTM-1" }, { productName: null, moq: quantity(20), unitCost: money(0) }),
    true,
    "/unitCost no-cost",
  ],
];
for (const [name, item, isCostMissing, expected] of lineTable)
  test(`warnings of a line: ${name}`, () => {
    const lines = [{ line: item, path: "/lineItems/0", isCostMissing }];
    const warnings = orderWarnings(order("Draft", [item]), { supplierPath: null, locationPath: null, lines });
    assert.equal(
      warnings.map(({ path, reason }) => `${path.replace("/lineItems/0", "")} ${reason}`).join(", "),
      expected,
    );
  });

test("a supplier and a location that the shop does not know are named where the request names them", () => {
  const draft = order("Draft", []);
  const looked = { supplierPath: "/supplierId", locationPath: "/locationId", lines: [] };
  assert.deepEqual(
    orderWarnings(draft, looked).map(({ path, reason }) => [path, reason]),
    [
      ["/supplierId", "unknown-supplier"],
      ["/locationId", "unknown-location"],
    ],
  );
  assert.deepEqual(orderWarnings({ ...draft, supplierName: "Mill", locationName: "Store" }, looked), []);
  assert.deepEqual(orderWarnings({ ...draft, supplierId: null, locationId: null }, looked), []);
  assert.deepEqual(orderWarnings(draft, { ...looked, supplierPath: null, locationPath: null }), []);
});

test("an open order without lines is warned of; a Draft and a Cancelled one are not", () => {
  const reasons = (status: "Draft" | "Sent" | "Cancelled"): readonly string[] =>
    orderWarnings(order(status, []), { supplierPath: null, locationPath: null, lines: [] }).map(({ reason }) => reason);
  assert.deepEqual([reasons("Draft"), reasons("Sent"), reasons("Cancelled")], [[], ["no-lines"], []]);
});

test("warnings of one reason about the order as a whole become one that counts them", () => {
  const unknown = known({}, { productName: null });
  const lines = [1, 2, 3].map(() => ({ line: unknown, path: null, isCostMissing: false }));
  const [warning, ...others] = orderWarnings(order("Sent", [unknown]), {
    supplierPath: null,
    locationPath: null,
    lines,
  });
  assert.deepEqual([warning?.path, warning?.reason, others], ["", "unknown-variant", []]);
  assert.match(warning?.message ?? "", /2 more lines/);
});
