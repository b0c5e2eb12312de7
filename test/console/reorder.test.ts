/** What is ticked in a forecast, and the drafts that come of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
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
