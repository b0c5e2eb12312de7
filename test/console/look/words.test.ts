/** Words of the service as the console says them to people. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exactMoney, money, withoutPaths } from "../../../console/data/format.ts";
import { saidOf } from "../../../console/order/lines/said.ts";

test("amounts have the decimals of the currency's minor unit, costs up to four", () => {
  const bare = (text: string): string => text.replaceAll(/[^\d.]/g, "");
  for (const [code, amount, cost] of [
    ["EUR", "1234.50", "1234.5025"],
    ["RSD", "1234.50", "1234.5025"],
    ["JPY", "1235", "1234.5025"],
    ["IQD", "1234.503", "1234.5025"],
  ] as const)
    assert.deepEqual([bare(money(1234.5025, code)), bare(exactMoney(1234.5025, code))], [amount, cost], code);
});

test("a refusal names the field in words, and no path", () => {
  for (const [said, shown] of [
    ["/unitCost: must be 0 or more", "Unit cost: must be 0 or more"],
    ["/limits/dayValueMax: must be 0 or more", "Day value max: must be 0 or more"],
    ["/lineItems/12/quantityOrdered: is required", "Quantity ordered: is required"],
    ["/supplierIds/3: must be text; /name: must not be empty", "Supplier ids: must be text; Name: must not be empty"],
    ["/note: is required (and 4 more)", "Note: is required (and 4 more)"],
    ["Nothing is at https://example.com/a: look again", "Nothing is at https://example.com/a: look again"],
    ["The order has 3 lines.", "The order has 3 lines."],
  ] as const)
    assert.equal(withoutPaths(said), shown);
});

const lines = [
  { poLineItemId: "pol_1", variantId: "var_1", name: "Hand Grinder" },
  { poLineItemId: "pol_2", variantId: "v", name: "Scale black" },
];

test("a sentence about an order has names of fields and lines, no ids, and days as people write them", () => {
  for (const [said, shown] of [
    [
      "Changed supplierId, expectedDeliveryDate, note, and the supplier's terms of 1 line.",
      "Changed supplier, expected delivery, note, and the supplier's terms of 1 line.",
    ],
    ["Changed poName.", "Changed name."],
    ["Changed 2 lines.", "Changed 2 lines."],
    [
      "moq, supplierSku: what was typed stayed, and the new supplier has it otherwise.",
      "minimum order, supplier's SKU: what was typed stayed, and the new supplier has it otherwise.",
    ],
    ["discountAmount is 3 EUR above what it is taken off.", "discount is 3 EUR above what it is taken off."],
    [
      "Mill has no entry for v, and has entries for others.",
      "Mill has no entry for Scale black, and has entries for others.",
    ],
    ["Expected no more: 3 of GR-1 (pol_1), 4 of v (pol_2).", "Expected no more: 3 of GR-1, 4 of Scale black."],
    [
      "The expected date 2026-12-20 of var_1 is in the past.",
      "The expected date Dec 20, 2026 of Hand Grinder is in the past.",
    ],
    // Names that somebody typed are not those of fields.
    [
      "Merged the supplier iPhone parts into eBay (PO-2026-12-20).",
      "Merged the supplier iPhone parts into eBay (PO-2026-12-20).",
    ],
  ] as const)
    assert.equal(saidOf(lines, said), shown);
});
