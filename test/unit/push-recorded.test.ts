import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { zeroQuantity } from "../../src/core/money.ts";
import { type PushItem, pushRecorded } from "../../src/core/stock-push.ts";
import { line, order, quantity } from "../support/goods.ts";

const item = (variantId: string, shares: Readonly<Record<string, number>>): PushItem => ({
  variantId,
  locationId: "warehouse",
  delta: quantity(Object.values(shares).reduce((sum, share) => sum + share, 0)),
  lines: Object.entries(shares).map(([poLineItemId, delta]) => ({ poLineItemId, delta: quantity(delta) })),
});

const received = order("Partially Received", [
  line("l1", { received: 4, variantId: "v" }),
  line("l2", { received: 3, synced: 1, variantId: "v" }),
  line("l3", { received: 2, synced: 2, variantId: "w" }),
]);

suite("what a push brought, in the order", () => {
  test("each line is synced by its own share, and the log records it", () => {
    const { next, log, effects } = pushRecorded(
      received,
      { landed: [item("v", { l1: 4, l2: 2 })], problem: null, inFlight: false },
      7_000,
    );
    assert.deepEqual(
      next.lineItems.map((each) => [each.quantitySynced, each.updatedAtMs]),
      [
        [quantity(4), 7_000],
        [quantity(3), 7_000],
        [quantity(2), 0],
      ],
    );
    assert.equal(next.storefrontSyncState, "synced");
    assert.equal(next.version, received.version + 1);
    assert.deepEqual(log, [
      {
        action: "storefront-sync",
        message: "The storefront took the stock of 2 line(s).",
        changes: [
          { field: "quantitySynced", poLineItemId: "l1", before: 0, after: 4 },
          { field: "quantitySynced", poLineItemId: "l2", before: 1, after: 3 },
        ],
      },
    ]);
    assert.deepEqual(effects, []);
  });

  test("a problem is recorded, whether or not other items took effect", () => {
    const nothing = pushRecorded(
      order("Partially Received", [line("l1", { received: 4 })]),
      { landed: [], problem: "refused.", inFlight: false },
      0,
    );
    assert.equal(nothing.next.storefrontSyncState, "failed");
    assert.equal(nothing.next.lineItems[0]?.quantitySynced, zeroQuantity);
    assert.equal(nothing.log[0]?.message, "Stock was not pushed to the storefront: refused.");
    const some = pushRecorded(received, { landed: [item("v", { l2: 2 })], problem: "refused.", inFlight: false }, 0);
    assert.equal(some.next.storefrontSyncState, "partial");
  });

  test("an outcome without news changes nothing (P5)", () => {
    const waiting = order("Received", [line("l1", { received: 4 })], { storefrontSyncState: "in-flight" });
    const { next, log } = pushRecorded(waiting, { landed: [], problem: null, inFlight: true }, 7_000);
    assert.equal(next, waiting);
    assert.deepEqual(log, []);
  });
});
