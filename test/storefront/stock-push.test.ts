import assert from "node:assert/strict";
import { test } from "node:test";
import { zeroQuantity } from "../../src/core/money/money.ts";
import type { StorefrontSyncState } from "../../src/core/order/purchase-order.ts";
import {
  isPushed,
  type PushItem,
  pushPlan,
  pushRecorded,
  type SentItem,
  storefrontSyncState,
  unreadQuantities,
} from "../../src/core/storefront/stock-push.ts";
import { line, order, quantity } from "../support/goods.ts";

test("a push has received − synced of the selected catalogue lines, one item per variant", () => {
  const step = pushPlan(
    order("Received", [
      line("a", { variantId: "v", received: 5.5, synced: 2 }),
      line("b", { variantId: "v", received: 1, synced: 2 }),
      line("in step", { received: 3, synced: 3 }),
      line("custom", { variantId: "CSTM-1", received: 3 }),
      line("not wanted", { received: 3 }),
      line("back", { received: 0, synced: 4 }),
    ]),
    ["a", "b", "in step", "custom", "back", "gone"],
    [],
  );
  assert.deepEqual(step, {
    kind: "send",
    items: [
      {
        variantId: "v",
        locationId: "warehouse",
        delta: quantity(2.5),
        lines: [
          { poLineItemId: "a", delta: quantity(3.5) },
          { poLineItemId: "b", delta: quantity(-1) },
        ],
      },
      {
        variantId: "variant of back",
        locationId: "warehouse",
        delta: quantity(-4),
        lines: [{ poLineItemId: "back", delta: quantity(-4) }],
      },
    ],
  });
});

test("lines of a variant whose changes add up to zero are separate items", () => {
  const lines = [line("a", { variantId: "v", received: 2 }), line("b", { variantId: "v", received: 0, synced: 2 })];
  const step = pushPlan(order("Received", lines), ["a", "b"], []);
  assert.deepEqual(step.kind === "send" && step.items.map((item) => item.delta), [quantity(2), quantity(-2)]);
});

test("an open push is sent first, with its own items under its own reference", () => {
  const open = { reference: "ref_1", items: [] };
  assert.deepEqual(pushPlan(order("Received", [line("a", { received: 5 })]), ["a"], [open]), {
    kind: "resend",
    push: open,
  });
});

test("there is nothing to push without a location or a difference", () => {
  const lines = [line("a", { received: 5 })];
  assert.deepEqual(pushPlan(order("Received", lines, { locationId: null }), ["a"], []), { kind: "nothing" });
  assert.deepEqual(pushPlan(order("Received", [line("a", { received: 5, synced: 5 })]), ["a"], []), {
    kind: "nothing",
  });
});

test("an order's sync state is derived from its lines and attempts", () => {
  const none = { inFlight: false, failed: false };
  const failed = { inFlight: false, failed: true };
  const table: [Parameters<typeof line>[1][], typeof none, StorefrontSyncState][] = [
    [[{}], none, "never-synced"],
    [[{ received: 5 }], none, "never-synced"],
    [[{ received: 5 }], failed, "failed"],
    [[{ received: 5, synced: 5 }, {}], none, "synced"],
    [[{ received: 5, synced: 5 }, { received: 1 }], none, "partial"],
    [[{ received: 5, synced: 5 }, { received: 1 }], failed, "partial"],
    [[{ received: 3, synced: 5 }], none, "partial"],
    [[{ received: 5 }], { inFlight: true, failed: true }, "in-flight"],
    [[{ variantId: "CSTM-1", received: 5 }], failed, "never-synced"],
  ];
  for (const [figures, attempts, expected] of table) {
    const lines = figures.map((each, index) => line(`line ${index}`, each));
    assert.equal(storefrontSyncState(lines, attempts), expected, JSON.stringify([figures, attempts]));
  }
});

// What a push has brought.

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
      message: "The storefront took the stock of 2 lines.",
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

test("a pushed line is through once the storefront has what it was short of, or all that the line is now", () => {
  const asked = line("a", { received: 10, synced: 4 });
  const cases: readonly (readonly [Parameters<typeof line>[1], boolean])[] = [
    [{ received: 10, synced: 4 }, false],
    [{ received: 10, synced: 9 }, false],
    [{ received: 10, synced: 10 }, true],
    // More came in since: what was asked for is through, the rest is another push's.
    [{ received: 15, synced: 10 }, true],
    // Some was taken back since: nothing is missing any more.
    [{ received: 7, synced: 7 }, true],
    [{ received: 4, synced: 4 }, true],
    [{ received: 8, synced: 7 }, false],
  ];
  for (const [figures, through] of cases)
    assert.equal(isPushed(asked, line("a", figures)), through, JSON.stringify(figures));
  assert.equal(isPushed(asked, undefined), false, "a line that is gone");
  const back = line("a", { received: 4, synced: 10 });
  assert.equal(isPushed(back, line("a", { received: 4, synced: 5 })), false);
  assert.equal(isPushed(back, line("a", { received: 2, synced: 4 })), true);
});

test("of a line it is known how much the storefront took and has never shown, also of pushes from before that was noted", () => {
  const item = (result: SentItem["result"], ...lines: readonly (readonly [string, number])[]): SentItem => ({
    variantId: "v",
    locationId: "warehouse",
    delta: quantity(lines.reduce((sum, [, delta]) => sum + delta, 0)),
    lines: lines.map(([poLineItemId, delta]) => ({ poLineItemId, delta: quantity(delta) })),
    result,
  });
  const unread = unreadQuantities([
    item({ outcome: "landed", isReadBack: false }, ["a", 5], ["b", 1]),
    item({ outcome: "landed" }, ["a", -2]),
    item({ outcome: "landed", isReadBack: true }, ["c", 3]),
    item({ outcome: "rejected", message: "no" }, ["d", 3]),
    item(null, ["e", 3]),
  ]);
  assert.deepEqual(
    [...unread],
    [
      ["a", quantity(3)],
      ["b", quantity(1)],
    ],
  );
});
