import assert from "node:assert/strict";
import { test } from "node:test";
import type { LineItem } from "../../../src/core/order/purchase-order.ts";
import { type InQuestion, orderWarnings } from "../../../src/core/order/advice/warnings.ts";
import { line, type LineFigures, money, order, quantity } from "../../support/goods.ts";

/** The warnings of what is looked at, on 2026-03-01. */
const warningsOf = (next: Parameters<typeof orderWarnings>[0], looked: Partial<InQuestion>) =>
  orderWarnings(
    next,
    {
      supplierPath: null,
      locationPath: null,
      datePath: null,
      discountPath: "",
      lines: [],
      suppliedVariantIds: null,
      keptTerms: [],
      olderVersion: null,
      isCompleted: false,
      ...looked,
    },
    { today: "2026-03-01", shopCurrency: "USD", byCode: new Map() },
  );

const shownOf = (warnings: ReturnType<typeof orderWarnings>): string =>
  warnings.map(({ path, reason }) => `${path} ${reason}`).join(", ");

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
    const lines = [{ line: item, path: "/lineItems/0", isCostMissing, isNew: true }];
    const warnings = warningsOf(order("Draft", [item]), { supplierPath: null, locationPath: null, lines });
    assert.equal(
      warnings.map(({ path, reason }) => `${path.replace("/lineItems/0", "")} ${reason}`).join(", "),
      expected,
    );
  });

test("a supplier and a location that the shop does not know are named where the request names them", () => {
  const draft = order("Draft", []);
  const looked = { supplierPath: "/supplierId", locationPath: "/locationId", lines: [] };
  assert.deepEqual(
    warningsOf(draft, looked).map(({ path, reason }) => [path, reason]),
    [
      ["/supplierId", "unknown-supplier"],
      ["/locationId", "unknown-location"],
    ],
  );
  assert.deepEqual(warningsOf({ ...draft, supplierName: "Mill", locationName: "Store" }, looked), []);
  assert.deepEqual(warningsOf({ ...draft, supplierId: null, locationId: null }, looked), []);
  assert.deepEqual(warningsOf(draft, { ...looked, supplierPath: null, locationPath: null }), []);
});

test("an open order without lines is warned of; a Draft and a Cancelled one are not", () => {
  const reasons = (status: "Draft" | "Sent" | "Cancelled"): readonly string[] =>
    warningsOf(order(status, []), { supplierPath: null, locationPath: null, lines: [] }).map(({ reason }) => reason);
  assert.deepEqual([reasons("Draft"), reasons("Sent"), reasons("Cancelled")], [[], ["no-lines"], []]);
});

test("warnings of one reason about the order as a whole become one that counts them", () => {
  const unknown = known({}, { productName: null });
  const lines = [1, 2, 3].map(() => ({ line: unknown, path: null, isCostMissing: false, isNew: true }));
  const [warning, ...others] = warningsOf(order("Sent", [unknown]), {
    supplierPath: null,
    locationPath: null,
    lines,
  });
  assert.deepEqual([warning?.path, warning?.reason, others], ["", "unknown-variant", []]);
  assert.match(warning?.message ?? "", /2 more lines/);
});

const dated = (expectedDeliveryDate: string | null): LineItem => ({ ...known({}), expectedDeliveryDate });

test("a day in the past is warned of where it was sent, and an order's date that nothing goes by", () => {
  const asked = (facts: Parameters<typeof order>[2], item: LineItem, looked: Partial<InQuestion>): string =>
    shownOf(warningsOf(order("Sent", [item], facts), looked));
  const path = { datePath: "/expectedDeliveryDate" };
  assert.equal(asked({ expectedDeliveryDate: "2026-02-28" }, dated(null), path), "/expectedDeliveryDate past-date");
  assert.equal(asked({ expectedDeliveryDate: "2026-03-01" }, dated(null), path), "");
  assert.equal(asked({ expectedDeliveryDate: "2026-02-28" }, dated(null), {}), "", "it was not sent");
  assert.equal(
    asked({ expectedDeliveryDate: "2026-03-09" }, dated("2026-03-05"), path),
    "/expectedDeliveryDate date-ignored",
  );
  const late = dated("2026-02-28");
  const lines = [{ line: late, path: "/lines/0", isCostMissing: false, isNew: true }];
  assert.equal(asked({}, late, { lines }), "/lines/0/expectedDeliveryDate past-date");
  const closed = order("Completed", [late], { expectedDeliveryDate: "2026-02-28" });
  assert.equal(shownOf(warningsOf(closed, { ...path, lines })), "");
});

test("a variant that this supplier has no entry for, a line without a rate, a discount above the total, terms and versions are told", () => {
  const item = known({ unitCost: 4 });
  const lines = [{ line: item, path: "/lineItems/0", isCostMissing: false, isNew: true }];
  const sent = order("Sent", [item], { supplierName: "Mill" });
  assert.equal(
    shownOf(warningsOf(sent, { lines, suppliedVariantIds: new Set(["other"]) })),
    "/lineItems/0/variantId not-this-supplier",
  );
  assert.equal(shownOf(warningsOf(sent, { lines, suppliedVariantIds: new Set([item.variantId]) })), "");
  const unpriced = { ...sent, unpricedLineItemIds: ["a"] };
  assert.equal(shownOf(warningsOf(unpriced, { lines })), "/lineItems/0/unitCostCurrencyCode no-rate");
  assert.equal(shownOf(warningsOf(unpriced, {})), " no-rate");
  const discounted = { ...sent, discountAmount: money(40.01) };
  assert.equal(shownOf(warningsOf(discounted, {})), " discount-above-total");
  assert.equal(
    shownOf(warningsOf(discounted, { discountPath: "/discountAmount" })),
    "/discountAmount discount-above-total",
  );
  assert.equal(shownOf(warningsOf({ ...sent, discountAmount: money(40) }, {})), "");
  assert.equal(
    shownOf(warningsOf(sent, { supplierPath: "/supplierId", keptTerms: ["unitCost"], olderVersion: 2 })),
    "/supplierId other-supplier-terms,  supplier-has-older-version",
  );
  const without = { ...sent, supplierId: null, supplierName: null };
  assert.match(warningsOf(without, { keptTerms: ["sku"] })[0]?.message ?? "", /though the order has no supplier now/);
  // Nobody is told to mail an order that is held.
  const messageIn = (status: Parameters<typeof order>[0]): string | undefined =>
    warningsOf(order(status, [item], { supplierName: "Mill" }), { olderVersion: 2 })[0]?.message;
  assert.match(messageIn("Sent") ?? "", /Send it again/);
  for (const status of ["On Hold", "Disputed", "Cancelled"] as const)
    assert.match(messageIn(status) ?? "", new RegExp(`It is ${status}: do not send it`));
});
