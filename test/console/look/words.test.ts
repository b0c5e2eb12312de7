/** Words of the service as the console says them to people. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutPaths } from "../../../console/data/format.ts";

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
