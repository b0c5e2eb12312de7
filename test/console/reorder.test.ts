/** What is ticked in a forecast, and the drafts that come of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Choice,
  choiceIn,
  chosenOf,
  isWhole,
  type ServiceSort,
  serviceSortOf,
  suppliersIn,
} from "../../console/reorder/chosen.ts";
import { outlookOf } from "../../console/reorder/outlook.ts";
import { isSuggested, planOf } from "../../console/reorder/ticked.ts";

test("ticked lines become one draft for each supplier, with sums by currency and the last arrival", () => {
  const row = (nth: number, cells: Readonly<Record<string, string | number | null>>) => ({
    variantId: `var_${nth}`,
    productId: `prod_${nth}`,
    productName: `Product ${nth}`,
    ...cells,
  });
  const one = { supplierId: "sup_1", supplierName: "Zeta", expectedArrivalDate: "2026-12-01", unitCost: 2 };
  const rows = [
    row(1, one),
    row(2, { ...one, expectedArrivalDate: "2026-12-09", unitCostCurrencyCode: "USD", draftQuantity: 3 }),
    row(3, { supplierName: "Alfa" }),
    row(4, { supplierName: null }),
  ];
  const { drafts, unsupplied } = planOf(
    new Map(rows.map((each) => [each.variantId, { row: each, quantity: 4 }])),
    "EUR",
  );
  assert.deepEqual(unsupplied, ["Product 4"]);
  assert.deepEqual(
    drafts.map(({ values, lines, ...rest }) => ({ ...rest, values: [...values], lines: lines.length })),
    [
      { key: "Alfa", supplierId: null, supplierName: "Alfa", values: [], arrivalDate: null, onDraft: 0, lines: 1 },
      {
        key: "sup_1",
        supplierId: "sup_1",
        supplierName: "Zeta",
        values: [
          ["EUR", 8],
          ["USD", 8],
        ],
        arrivalDate: "2026-12-09",
        onDraft: 1,
        lines: 2,
      },
    ],
  );
  const needed = row(5, { ...one, suggestedOrderQuantity: 6, draftQuantity: 0 });
  assert.equal(isSuggested(needed), true);
  assert.equal(isSuggested({ ...needed, draftQuantity: 6 }), false);
});

test("rows are found by words in any order and by supplier, and sorted by a column, blanks last", () => {
  const row = (variantId: string, cells: Readonly<Record<string, string | number | null>>) => ({
    variantId,
    productId: variantId,
    ...cells,
  });
  const rows = [
    row("a", { productName: "Filter 10", sku: "F-10", supplierName: "Mill", onHand: 3 }),
    row("b", { productName: "Filter 9", sku: "F-9", supplierName: "Roastery", onHand: null }),
    row("c", { productName: "Grinder", sku: "G-1", supplierName: "Mill", onHand: 12 }),
  ];
  const ids = (choice: Partial<Choice>): string =>
    chosenOf(rows, { search: "", supplier: "", sort: "", ...choice })
      .map(({ variantId }) => variantId)
      .join("");
  assert.equal(ids({}), "abc");
  assert.equal(ids({ search: "mill filter" }), "a");
  assert.equal(ids({ search: "f-9" }), "b");
  assert.equal(ids({ search: "nothing" }), "");
  assert.equal(ids({ supplier: "Mill" }), "ac");
  // By name the service sorts: its rows stay as they came, or are turned round.
  assert.equal(ids({ sort: "productName" }), "abc");
  assert.equal(ids({ sort: "-productName" }), "cba");
  assert.equal(ids({ sort: "onHand" }), "acb");
  assert.equal(ids({ sort: "-onHand" }), "cab");
  assert.deepEqual(suppliersIn(rows), ["Mill", "Roastery"]);
  assert.ok(isWhole(choiceIn(new URLSearchParams("view=v"))));
  assert.ok(isWhole(choiceIn(new URLSearchParams("view=v&sort=productName"))));
  for (const each of ["sort=-onHand", "sort=-productName", "sort=productName&search=x", "supplier=Mill"])
    assert.ok(!isWhole(choiceIn(new URLSearchParams(each))), each);
  const sortOf = (sort: string): ServiceSort => serviceSortOf(choiceIn(new URLSearchParams({ sort })));
  assert.deepEqual(["", "onHand", "productName", "-productName"].map(sortOf), [
    "stockoutCost",
    "stockoutCost",
    undefined,
    undefined,
  ]);
});

test("the outlook of a row sells what is there, adds what arrives on its day, and names the day without stock", () => {
  const row = (cells: Readonly<Record<string, string | number | null>>) =>
    outlookOf({ variantId: "v", productId: "p", incoming: 0, ...cells }, "2026-11-30");
  const outlook = (cells: Parameters<typeof row>[0]) => {
    const found = row(cells);
    return found === null || found === "undated" ? assert.fail("there is an outlook") : found;
  };
  assert.equal(row({ onHand: 3 }), null);
  assert.equal(row({ onHand: null, dailyDemand: 1 }), null);
  assert.equal(row({ onHand: 3, dailyDemand: 1, incoming: null }), null);
  // Nobody knows when they come, so no day without stock is named.
  assert.equal(row({ onHand: 3, dailyDemand: 1, incoming: 18 }), "undated");
  assert.equal(row({ onHand: 3, dailyDemand: 1, incoming: 18, nextIncomingDate: null }), "undated");
  assert.deepEqual(row({ onHand: 10, dailyDemand: 1 }), {
    points: [
      [0, 10],
      [10, 0],
      [60, 0],
    ],
    outDay: 10,
    arrivalDay: null,
  });
  assert.deepEqual(row({ onHand: 10, dailyDemand: 1, incoming: 100, nextIncomingDate: "2026-12-05" }), {
    points: [
      [0, 10],
      [5, 5],
      [5, 105],
      [60, 50],
    ],
    outDay: null,
    arrivalDay: 5,
  });
  // What is late is expected today; what comes later than is looked ahead does not count.
  assert.equal(outlook({ onHand: 0, dailyDemand: 1, incoming: 5, nextIncomingDate: "2026-11-20" }).arrivalDay, 0);
  assert.equal(outlook({ onHand: 5, dailyDemand: 1, incoming: 5, nextIncomingDate: "2027-06-01" }).outDay, 5);
  assert.equal(outlook({ onHand: 0, dailyDemand: 0 }).outDay, 0);
  assert.equal(outlook({ onHand: 4, dailyDemand: 0 }).outDay, null);
  assert.equal(outlook({ onHand: -2, dailyDemand: 1 }).outDay, 0);
});
