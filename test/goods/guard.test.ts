import assert from "node:assert/strict";
import { test } from "node:test";
import { guardVerdict, type Resolution, type VariantStanding, withoutStorefront } from "../../src/core/goods/guard.ts";
import { decideReceive } from "../../src/core/goods/receive.ts";
import { context, line, order, quantity } from "../support/goods.ts";

const standings = new Map<string, VariantStanding>([
  ["active", "active"],
  ["inactive", "inactive"],
  ["deleted", "deleted"],
  ["bundle", "unsyncable"],
]);

const verdict = (variantIds: readonly string[], resolutions: readonly Resolution[] = []) =>
  guardVerdict(
    variantIds.map((variantId, index) => line(`line ${index}`, { variantId })),
    standings,
    resolutions,
  );

test("the guard reports every catalogue line whose variant is not active, with the possible resolutions", () => {
  const { issues, activateVariantIds, skippedLineItemIds } = verdict([
    "active",
    "inactive",
    "deleted",
    "bundle",
    "unheard of",
    "CSTM-1",
  ]);
  assert.deepEqual(issues, [
    { itemId: "line 1", variantId: "inactive", issue: "inactive", allowedActions: ["activate", "skip"] },
    { itemId: "line 2", variantId: "deleted", issue: "deleted", allowedActions: ["skip"] },
    { itemId: "line 3", variantId: "bundle", issue: "unsyncable", allowedActions: ["skip"] },
    { itemId: "line 4", variantId: "unheard of", issue: "deleted", allowedActions: ["skip"] },
  ]);
  assert.deepEqual([activateVariantIds, skippedLineItemIds.size], [[], 0]);
});

test("a resolution removes its issue; an issue it cannot resolve stays; one without an issue is ignored", () => {
  const resolved = verdict(
    ["active", "inactive", "deleted", "bundle", "inactive"],
    [
      { itemId: "line 0", action: "skip" },
      { itemId: "line 1", action: "activate" },
      { itemId: "line 2", action: "activate" },
      { itemId: "line 3", action: "skip" },
      { itemId: "not a line of this call", action: "skip" },
    ],
  );
  assert.deepEqual(
    resolved.issues.map((issue) => issue.itemId),
    ["line 2"],
  );
  assert.deepEqual(resolved.activateVariantIds, ["inactive"]);
  assert.deepEqual([...resolved.skippedLineItemIds], ["line 3"]);
});

test("skipped variants are in no effect; the rest of the decision is kept", () => {
  const decided = decideReceive(
    order("In Progress", [line("a"), line("b")]),
    {
      lines: ["a", "b"].map((lineItemId) => ({ lineItemId, quantityReceived: quantity(10) })),
      allowOverReceipt: false,
    },
    context(),
  );
  const alone = withoutStorefront(decided, new Set(["variant of a"]));
  assert.equal(alone.next, decided.next);
  assert.deepEqual(alone.effects, [
    { kind: "push-stock", purchaseOrderId: "po_1", poLineItemIds: ["b"] },
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of b"] },
  ]);
  assert.deepEqual(withoutStorefront(decided, new Set(["variant of a", "variant of b"])).effects, []);
});
