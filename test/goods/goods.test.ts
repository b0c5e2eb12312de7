/** Goods from confirmation to completion over HTTP, with the sandbox storefront doing what it is told, or not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/operations/registry.ts";
import { customLine, type GoodsServer, holdCalls, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import type { TestServerOptions } from "../support/server.ts";
import { patienceMs, until } from "../support/until.ts";

/** Retries end quickly, so that a persistent failure is one within a test. */
const open = (options: TestServerOptions = {}): Promise<GoodsServer & AsyncDisposable> =>
  startGoodsServer({ operations, outboxLimits: { attemptsMax: 2, backoffMs: 10 }, ...options });

/** Waits until the storefront has had so many calls of this kind. */
const called = (server: GoodsServer, name: string, count: number): Promise<true> =>
  until(`${name} called ${count} times`, async () => (await server.calls(name)) >= count);

const totals = (lines: Record<string, number>): object => ({
  lines: Object.entries(lines).map(([lineItemId, quantityReceived]) => ({ lineItemId, quantityReceived })),
});
const amounts = (lines: Record<string, number>): object => ({
  lines: Object.entries(lines).map(([lineItemId, quantity]) => ({ lineItemId, quantity })),
});
const synced = { quantityConfirmed: 10, quantityReceived: 10, quantitySynced: 10 };

test("a supplier who confirms 24 of 48 holds nothing up: the order goes on with the 24 and is completed (C24)", async () => {
  await using server = await open();
  await server.bringOrder("Sent", [{ ...lineA, quantityOrdered: 48 }]);
  const confirmed = await server.post(server.order("/confirm"), {
    lines: [{ lineItemId: "a", quantityConfirmed: 24 }],
  });
  assert.deepEqual(confirmed.at("data", "status"), { before: "Sent", after: "Confirmed", autoTransitioned: true });
  assert.equal(confirmed.at("data", "purchaseOrder", "lineItems", 0, "lineItemStatus"), "Partially Confirmed");
  assert.equal(await server.incoming("red"), 24);

  const begun = await server.post(server.order("/status"), { status: "In Progress" });
  assert.equal(begun.status, 200, begun.text);
  const all = await server.post(server.order("/confirm"), { confirmAll: true });
  assert.equal(all.status, 400, "confirmAll would overwrite what the supplier said");
  const received = await server.post(server.order("/receive"), totals({ a: 24 }));
  assert.equal(received.at("data", "status", "after"), "Received", received.text);
  await server.settled();
  assert.equal(await server.incoming("red"), 0);
  assert.equal(await server.onHand("red"), 124);
  const completed = await server.post(server.order("/complete"));
  assert.equal(completed.at("data", "status", "after"), "Completed", completed.text);
});

test("an order is confirmed, received in decimals, completed, and the storefront has exactly what was received", async () => {
  await using server = await open();
  await server.bringOrder("Sent", [lineA, lineB, customLine]);

  const confirmed = await server.post(server.order("/confirm"), {
    lines: [{ lineItemId: "a", quantityConfirmed: 8 }],
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  assert.deepEqual(confirmed.at("data", "status"), {
    before: "Sent",
    after: "Partially Confirmed",
    autoTransitioned: true,
  });
  assert.deepEqual(confirmed.at("data", "updatedLineItemIds"), ["a"]);
  assert.deepEqual(confirmed.at("data", "sideEffects"), { incoming: { outcome: "applied" } });
  assert.equal(await server.incoming("red"), 8);

  const all = await server.post(server.order("/confirm"), { confirmAll: true });
  assert.equal(all.at("data", "purchaseOrder", "status"), "In Progress");
  assert.deepEqual(all.at("data", "updatedLineItemIds"), ["a", "b", "c"]);

  const part = await server.post(server.order("/receive"), totals({ a: 2.5, b: 5.5 }));
  assert.equal(part.status, 200, part.text);
  assert.deepEqual(part.at("data", "status", "after"), "Partially Received");
  assert.deepEqual(part.at("data", "sideEffects"), {
    storefrontSync: { status: "queued", syncedLineItemCount: 2 },
    incoming: { outcome: "applied" },
  });
  assert.equal(part.at("data", "recovery"), undefined);
  assert.equal(await server.onHand("red"), 102.5);
  assert.equal(await server.onHand("blue"), 5.5);
  assert.equal(await server.incoming("red"), 7.5);

  const rest = await server.post(server.order("/receive"), {
    lines: [
      { lineItemId: "a", quantityReceived: 9, quantityRejected: 1 },
      { lineItemId: "c", quantityReceived: 3 },
    ],
  });
  assert.deepEqual(rest.at("data", "status"), {
    before: "Partially Received",
    after: "Received",
    autoTransitioned: true,
  });
  await server.settled();

  const completed = await server.post(server.order("/complete"));
  assert.equal(completed.status, 200, completed.text);
  assert.deepEqual(completed.at("data", "status"), { before: "Received", after: "Completed" });
  assert.deepEqual(completed.at("data", "costSync"), {
    mode: "unit-cost",
    syncedVariantCount: 2,
    skippedCustomItemCount: 1,
    warnings: [],
  });
  assert.equal(await server.onHand("red"), 109);
  assert.equal(await server.incoming("red"), 0);
  const { variants } = await server.sandbox.state(["red", "blue"]);
  assert.deepEqual(
    variants.map((variant) => variant.unitCost),
    [25_000, 40_000],
  );
  const history = await server.get(server.order("/cost-sync-history"));
  assert.deepEqual(
    [0, 1].map((index) => history.at("data", "costSyncHistory", index, "outcome")),
    ["applied", "applied"],
  );
  const schedule = await server.get(server.order("/receipt-schedule"));
  assert.equal(schedule.at("data", "receipts", "length"), 2);
  const received = (receipt: number) => [
    schedule.at("data", "receipts", receipt, "lines", 0, "quantityDelta"),
    schedule.at("data", "receipts", receipt, "lines", 1, "quantityDelta"),
  ];
  assert.deepEqual(
    [received(0), received(1)],
    [
      [6.5, 3],
      [2.5, 5.5],
    ],
    "newest first",
  );
  assert.equal((await server.settled()).at("data", "purchaseOrder", "storefrontSyncState"), "synced");
});

test("totals converge when a call is repeated, deltas do not, and completing twice leaves the order completed", async () => {
  await using server = await open();
  await server.bringOrder("Sent", [lineA]);
  const confirm = { lines: [{ lineItemId: "a", quantityConfirmed: 10 }] };
  for (const after of ["Confirmed", "Confirmed"])
    assert.equal((await server.post(server.order("/confirm"), confirm)).at("data", "status", "after"), after);
  await server.post(server.order("/confirm"), { confirmAll: true });
  const first = await server.post(server.order("/receive"), totals({ a: 10 }));
  const version = (await server.settled()).at("data", "purchaseOrder", "version");
  const again = await server.post(server.order("/receive"), totals({ a: 10 }));
  assert.equal(first.at("data", "sideEffects", "storefrontSync", "status"), "queued");
  assert.deepEqual(again.at("data", "sideEffects"), { storefrontSync: { status: "skipped", syncedLineItemCount: 0 } });
  assert.deepEqual(again.at("data", "updatedLineItemIds"), []);
  assert.equal(again.at("data", "purchaseOrder", "version"), version);
  assert.equal(await server.onHand("red"), 110);

  for (const onHand of [106, 102]) {
    const back = await server.post(server.order("/unreceive"), { ...amounts({ a: 4 }), reason: "damaged" });
    assert.equal(back.status, 200, back.text);
    await server.settled();
    assert.equal(await server.onHand("red"), onHand);
  }
  for (const status of ["verified", "verified"]) {
    const sync = await server.post(server.order("/storefront-sync"));
    assert.equal(sync.at("data", "confirmation", "status"), status, sync.text);
    assert.deepEqual(sync.at("data", "confirmation", "lines"), []);
    assert.equal(sync.at("data", "skipped", 0, "reason"), "already-synced");
    assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200);
  }
  assert.equal((await server.post(server.order("/complete"))).status, 200);
  const twice = await server.post(server.order("/complete"));
  assert.equal(twice.status, 400);
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "status"), "Completed");
});

test("one bad line changes nothing, and the refusal names its place", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA, lineB]);
  const table: [string, object, RegExp][] = [
    ["/receive", totals({ a: 1, nowhere: 1 }), /\/lines\/1\/lineItemId/],
    ["/receive", totals({ a: 1, b: 5.501 }), /\/lines\/1\/quantityReceived.*5\.5/],
    ["/receive", { lines: [] }, /lines/],
    ["/receive", { lines: [{ lineItemId: "a", quantityReceived: 1.0001 }] }, /3 decimals/],
    ["/receive", { lines: [lineTotal("a", 1), lineTotal("a", 2)] }, /twice/],
    ["/receive", { lines: [lineTotal("A", 1), lineTotal("A", 2)] }, /A is given twice/],
    ["/unreceive", amounts({ a: 1 }), /more than was received/],
    ["/unreceive", { lines: [{ lineItemId: "a", quantityReceived: 1 }] }, /deltas.*quantity/],
    ["/confirm", { confirmAll: true, lines: [{ lineItemId: "a", quantityConfirmed: 1 }] }, /exactly one/],
    ["/confirm", { lines: [{ lineItemId: "a", quantityConfirmed: 1 }] }, /In Progress/],
    ["/complete", {}, /In Progress/],
    ["/storefront-sync", { lineItemIds: [] }, /lineItemIds/],
    ["/storefront-sync", { lineItemIds: ["a", "nowhere"] }, /\/lineItemIds\/1/],
  ];
  const before = (await server.get(server.order())).text;
  for (const [below, body, message] of table) {
    const refused = await server.post(server.order(below), body);
    assert.equal(refused.status, 400, `${below} ${refused.text}`);
    assert.match(refused.textAt("error", "message"), message);
  }
  const after = await server.get(server.order());
  assert.deepEqual(JSON.parse(before).data, after.at("data"));
  const unknown = await server.post("/api/v1/purchase-orders/po_none/receive", totals({ a: 1 }));
  assert.equal(unknown.status, 404);
});

const lineTotal = (lineItemId: string, quantityReceived: number): object => ({ lineItemId, quantityReceived });

test("the guard asks once, stops what is not active, and goes on as the caller resolves it", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA, lineB, customLine]);
  await server.sandbox.patchVariant("red", { status: "inactive" });
  await server.sandbox.patchVariant("blue", { status: "deleted" });
  const body = totals({ a: 10, b: 5.5, c: 3 });
  const before = await server.calls("checkVariants");
  const stopped = await server.post(server.order("/receive"), body);
  assert.equal(stopped.status, 400);
  assert.equal(stopped.at("error", "code"), "INVENTORY_GUARD_ISSUES");
  assert.match(stopped.textAt("error", "message"), /INVENTORY_GUARD_ISSUES/);
  assert.deepEqual(stopped.at("error", "details"), [
    { itemId: "a", variantId: "red", issue: "inactive", allowedActions: ["activate", "skip"] },
    { itemId: "b", variantId: "blue", issue: "deleted", allowedActions: ["skip"] },
  ]);
  assert.equal((await server.calls("checkVariants")) - before, 1);

  const half = await server.post(server.order("/receive"), {
    ...body,
    resolutions: [
      { itemId: "a", action: "activate" },
      { itemId: "b", action: "activate" },
    ],
  });
  assert.equal(half.status, 400);
  assert.equal(half.at("error", "details", 0, "itemId"), "b");
  assert.equal(half.at("error", "details", 1), undefined);
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "status"), "In Progress");

  const through = await server.post(server.order("/receive"), {
    ...body,
    resolutions: [
      { itemId: "a", action: "activate" },
      { itemId: "b", action: "skip" },
    ],
  });
  assert.equal(through.status, 200, through.text);
  assert.equal(through.at("data", "status", "after"), "Received");
  await server.settled();
  assert.equal(await server.onHand("red"), 110);
  assert.equal(await server.onHand("blue"), 0);

  // What was skipped is asked for again by a later sync.
  const asked = await server.post(server.order("/storefront-sync"));
  assert.equal(asked.at("error", "details", 0, "itemId"), "b");
  const skipped = await server.post(server.order("/storefront-sync"), {
    resolutions: [{ itemId: "b", action: "skip" }],
  });
  assert.equal(skipped.status, 200, skipped.text);
  assert.deepEqual(skipped.at("data", "confirmation", "lines"), [
    { lineItemId: "b", variantId: "blue", status: "skipped", quantity: 5.5, reason: "guard-skipped" },
  ]);
});

test("a variant that the catalogue never had is called unknown, with the way to the right one; one that it had, deleted", async () => {
  await using server = await open();
  await server.bringOrder("Draft", [lineA, lineB]);
  const added = await server.post(server.order("/line-items"), {
    lineItems: [{ variantId: "rde", quantityOrdered: 1 }],
  });
  assert.equal(added.status, 201, added.text);
  await server.sandbox.patchVariant("blue", { status: "deleted" });
  const stopped = await server.post(server.order("/status"), { status: "Sent" });
  assert.equal(stopped.at("error", "code"), "INVENTORY_GUARD_ISSUES", stopped.text);
  assert.match(stopped.textAt("error", "message"), /: blue is deleted, rde is unknown\. /);
  const red = { type: "variant", variantId: "red", productId: "product of red", productName: "Shirt, red", sku: "R-1" };
  await server.bring([red]);
  const coded = await server.post(server.order("/line-items"), {
    lineItems: [{ variantId: "r-1", quantityOrdered: 1 }],
  });
  assert.match(
    coded.textAt("data", "warnings", 0, "message"),
    /^The catalogue has no variant r-1; that is a code of red\.$/,
  );
  const told = await server.post(server.order("/status"), { status: "Sent" });
  assert.match(
    told.textAt("error", "message"),
    /: blue is deleted, rde is unknown, r-1 is unknown \(a code of red\)\. /,
  );
  assert.match(stopped.textAt("error", "action"), /^An unknown id may be mistyped, or an SKU: put a line/);
  assert.equal(stopped.at("error", "details", 1, "issue"), "deleted", "the API has no word more");
  const unknownIds = [2, 3].map((index) => coded.textAt("data", "purchaseOrder", "lineItems", index, "poLineItemId"));
  await server.delete(server.order(`/line-items?lineItemIds=${unknownIds.join(",")}`));
  const known = await server.post(server.order("/status"), { status: "Sent" });
  assert.match(known.textAt("error", "action"), /^Repeat the call with resolutions/);
});

test("a guard that cannot ask is 502, or 504 when there was no answer, and changes nothing", async () => {
  await using server = await open();
  await server.bringOrder("Sent", [lineA]);
  for (const [outcome, status] of [
    ["error", 502],
    ["throttled", 502],
    ["timeout", 504],
  ] as const) {
    await server.faults([{ call: "checkVariants", outcome }]);
    const failed = await server.post(server.order("/confirm"), { confirmAll: true });
    assert.equal(failed.status, status, failed.text);
    assert.equal(failed.at("error", "retryable"), outcome === "throttled");
  }
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "status"), "Sent");
});

test("a line that the storefront refuses fails alone, with a way to recover that works", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA, lineB]);
  await server.faults([{ call: "changeOnHand", outcome: "refused", variantIds: ["red"] }]);
  const received = await server.post(server.order("/receive"), totals({ a: 10, b: 5.5 }));
  assert.equal(received.status, 200, received.text);
  assert.equal(received.at("data", "status", "after"), "Received");
  assert.equal(received.at("data", "sideEffects", "storefrontSync", "status"), "failed");
  assert.ok(received.textAt("data", "sideEffects", "storefrontSync", "detail").length > 0);
  assert.match(received.textAt("data", "recovery"), /storefront-sync\/reset.*storefront-sync/);
  assert.deepEqual([await server.onHand("red"), await server.onHand("blue")], [100, 5.5]);
  assert.equal((await server.settled()).at("data", "purchaseOrder", "storefrontSyncState"), "partial");

  const failing = await server.post(server.order("/storefront-sync"));
  assert.equal(failing.at("data", "confirmation", "status"), "failed");
  assert.equal(failing.at("data", "confirmation", "lines", 0, "status"), "failed");
  assert.match(failing.textAt("data", "recovery"), /reset/);

  await server.faults([]);
  assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200);
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.at("data", "confirmation", "status"), "verified", sync.text);
  assert.deepEqual(sync.at("data", "confirmation", "lines"), [
    { lineItemId: "a", variantId: "red", status: "verified", quantity: 10, reason: null },
  ]);
  assert.deepEqual(sync.at("data", "sideEffects"), { storefrontSync: { status: "queued", syncedLineItemCount: 1 } });
  assert.equal(await server.onHand("red"), 110);
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "storefrontSyncState"), "synced");
});

test("some lines verified and some failed is partial", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false } });
  await server.bringOrder("In Progress", [lineA, lineB]);
  const received = await server.post(server.order("/receive"), totals({ a: 10, b: 5.5 }));
  assert.deepEqual(received.at("data", "sideEffects", "storefrontSync"), {
    status: "disabled",
    syncedLineItemCount: 0,
  });
  assert.equal(await server.onHand("red"), 100);
  await server.faults([{ call: "changeOnHand", outcome: "refused", variantIds: ["red"] }]);
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.at("data", "confirmation", "status"), "partial", sync.text);
  assert.equal(sync.at("data", "sideEffects", "storefrontSync", "status"), "failed");
  assert.deepEqual([await server.onHand("red"), await server.onHand("blue")], [100, 5.5]);
});

test("a lost answer is asked for again under the same reference, so that stock counts once", async () => {
  await using server = await open({ outboxLimits: { attemptsMax: 5, backoffMs: 10 } });
  await server.bringOrder("In Progress", [lineA]);
  await server.faults([{ call: "changeOnHand", outcome: "lost-response", times: 2 }]);
  const received = await server.post(server.order("/receive"), totals({ a: 10 }));
  assert.equal(received.at("data", "sideEffects", "storefrontSync", "status"), "queued");
  await server.settled();
  assert.equal(await server.onHand("red"), 110);
});

test("an outcome given up as unknown lands once after reset and sync", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await server.faults([{ call: "changeOnHand", outcome: "lost-response" }]);
  await server.post(server.order("/receive"), totals({ a: 7 }));
  assert.equal((await server.settled()).at("data", "purchaseOrder", "storefrontSyncState"), "failed");
  await server.faults([]);
  await server.post(server.order("/storefront-sync/reset"));
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "storefrontSyncState"), "never-synced");
  await server.post(server.order("/receive"), totals({ a: 10 }));
  await server.settled();
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.at("data", "confirmation", "status"), "verified", sync.text);
  assert.equal(await server.onHand("red"), 110);
});

for (const isAway of [false, true])
  test(`goods whose push has no known outcome leave the storefront when they are taken back${isAway ? " and synced once it is back" : ""}`, async () => {
    await using server = await open();
    await server.bringOrder("In Progress", [lineA, lineB]);
    await server.faults([{ call: "changeOnHand", outcome: "lost-response" }]);
    await server.post(server.order("/receive"), totals({ a: 7 }));
    assert.equal((await server.settled()).at("data", "purchaseOrder", "storefrontSyncState"), "failed");
    await server.faults(isAway ? [{ call: "changeOnHand", outcome: "error" }] : []);
    const back = await server.post(server.order("/unreceive"), amounts({ a: 7 }));
    assert.equal(back.at("data", "sideEffects", "storefrontSync", "status"), "queued", back.text);
    await server.settled();
    if (isAway) {
      await server.faults([]);
      await server.post(server.order("/storefront-sync/reset"));
      const sync = await server.post(server.order("/storefront-sync"));
      assert.equal(sync.at("data", "confirmation", "status"), "verified", sync.text);
    }
    assert.equal(await server.onHand("red"), 100);
    const order = await server.get(server.order());
    assert.equal(order.at("data", "purchaseOrder", "lineItems", 0, "quantitySynced"), 0);
    assert.equal(order.at("data", "purchaseOrder", "storefrontSyncState"), "never-synced");
  });

test("a sync asks again what the storefront has of a line from which nothing is received any more", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false } });
  await server.bringOrder("Partially Received", [{ ...lineA, quantityReceived: 7, quantitySynced: 0 }, lineB]);
  for (const outcome of ["lost-response", "error"] as const) {
    await server.faults([{ call: "changeOnHand", outcome }]);
    await server.post(server.order("/storefront-sync"), { awaitConfirmation: false });
    await server.settled();
  }
  await server.faults([]);
  const back = await server.post(server.order("/unreceive"), amounts({ a: 7 }));
  assert.equal(back.at("data", "sideEffects", "storefrontSync", "status"), "disabled", back.text);
  const location = await server.patch(server.order(), { locationId: "loc_second" });
  assert.match(location.textAt("error", "message"), /locationId.*not known whether the storefront has goods/);
  const draft = await server.post(server.order("/status"), { status: "Confirmed" });
  assert.match(draft.textAt("error", "message"), /cannot go back/);
  const deleted = await server.delete(server.order("/line-items?lineItemIds=a"));
  assert.deepEqual(deleted.at("data", "deletedLineItemIds"), [], deleted.text);
  assert.equal(deleted.at("data", "failed", 0, "reason"), "has-synced-quantity");
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.at("data", "confirmation", "status"), "verified", sync.text);
  assert.equal(await server.onHand("red"), 100);
  const gone = await server.delete(server.order("/line-items?lineItemIds=a"));
  assert.deepEqual(gone.at("data", "deletedLineItemIds"), ["a"], gone.text);
});

test("a refusal whose answer was lost does not stand in the way of a later sync", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await server.faults([
    { call: "changeOnHand", outcome: "lost-response" },
    { call: "changeOnHand", outcome: "refused" },
  ]);
  await server.post(server.order("/receive"), totals({ a: 10 }));
  assert.equal((await server.settled()).at("data", "purchaseOrder", "storefrontSyncState"), "failed");
  await server.faults([]);
  await server.post(server.order("/storefront-sync/reset"));
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.at("data", "confirmation", "status"), "verified", sync.text);
  assert.equal(await server.onHand("red"), 110);
});

test("a push in flight holds back what must not overtake it, and nothing else", async (t) => {
  await using server = await open({ shop: { autoSyncOnReceiving: false, confirmationWaitMs: 5_000 } });
  await server.bringOrder("Partially Received", [{ ...lineA, quantityReceived: 6, quantitySynced: 0 }, lineB]);
  const { goOn } = holdCalls(t, ["changeOnHand"]);
  let answered = false;
  const sync = server.post(server.order("/storefront-sync")).finally(() => {
    answered = true;
  });
  await server.state("in-flight");
  for (const [below, body] of [
    ["/storefront-sync", {}],
    ["/storefront-sync/reset", {}],
    ["/unreceive", amounts({ a: 1 })],
    ["/complete", {}],
    ["/quick-complete", {}],
  ] as const) {
    const refused = await server.post(server.order(below), body);
    assert.equal(refused.status, 400, `${below} ${refused.text}`);
    assert.equal(refused.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", below);
    assert.equal(refused.at("error", "retryable"), true);
    assert.equal(refused.headers["retry-after"], "1");
  }
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "storefrontSyncState"), "in-flight");
  assert.ok(!answered, "nobody has waited for the storefront");
  const received = await server.post(server.order("/receive"), totals({ a: 4 }));
  assert.equal(received.status, 200, received.text);
  goOn();
  assert.equal((await sync).at("data", "confirmation", "status"), "verified", (await sync).text);
  await server.settled();
  assert.equal(await server.onHand("red"), 104, "what was lowered meanwhile is taken back");
});

test("a wait that runs out says so, and what is not waited for is only queued", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false, confirmationWaitMs: 300 } });
  await server.bringOrder("Received", [{ ...lineA, quantityReceived: 10, quantitySynced: 0 }]);
  await server.faults([], { applyDelayMs: 60_000 });
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.status, 200, sync.text);
  assert.equal(sync.at("data", "confirmation", "status"), "timed-out");
  assert.equal(sync.at("data", "confirmation", "lines", 0, "status"), "pending");
  assert.equal(sync.at("data", "recovery"), undefined);

  await server.faults([]);
  await server.bringOrder("Received", [{ ...lineA, quantityReceived: 20, quantityOrdered: 20, quantitySynced: 10 }]);
  const queued = await server.post(server.order("/storefront-sync"), { awaitConfirmation: false });
  assert.equal(queued.at("data", "confirmation"), undefined);
  assert.deepEqual(queued.at("data", "sideEffects"), { storefrontSync: { status: "queued", syncedLineItemCount: 1 } });
  await server.settled();
  server.clock.advance(60_000);
  assert.equal(await server.onHand("red"), 120);
});

test("what the storefront took and has never shown is looked at again, until it was read back once", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false, confirmationWaitMs: 300 } });
  await server.bringOrder("Partially Received", [
    { ...lineA, quantityReceived: 10, quantitySynced: 0 },
    { ...lineB, quantityReceived: 5.5, quantitySynced: 0 },
  ]);
  await server.faults([], { applyDelayMs: 60_000 });
  const sync = async (body: object = {}) => {
    const answer = await server.post(server.order("/storefront-sync"), body);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const told = (answer: Awaited<ReturnType<typeof sync>>) =>
    ["a", "b"].flatMap((_, index) => {
      const line = (member: string) => answer.at("data", "confirmation", "lines", index, member);
      return line("lineItemId") === undefined ? [] : [[line("lineItemId"), line("status"), line("quantity")]];
    });
  const pending = [
    ["a", "pending", 10],
    ["b", "pending", 5.5],
  ];
  for (const _ of ["the push", "the look after it", "another look"]) {
    const late = await sync();
    assert.equal(late.at("data", "confirmation", "status"), "timed-out");
    assert.deepEqual(told(late), pending);
    assert.equal(late.at("data", "purchaseOrder", "storefrontSyncState"), "synced", "nobody waits any more");
    assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200);
  }
  assert.equal(await server.calls("changeOnHand"), 1);
  const queued = await sync({ awaitConfirmation: false });
  assert.deepEqual(queued.at("data", "sideEffects"), { storefrontSync: { status: "skipped", syncedLineItemCount: 0 } });

  server.clock.advance(60_000);
  const one = await sync({ lineItemIds: ["b"] });
  assert.equal(one.at("data", "confirmation", "status"), "verified");
  assert.deepEqual(told(one), [["b", "verified", 5.5]]);
  assert.deepEqual(told(await sync()), [["a", "verified", 10]]);
  const nothing = await sync();
  assert.deepEqual(nothing.at("data", "confirmation"), { status: "verified", lines: [] });
  assert.equal(nothing.at("data", "skipped", 0, "reason"), "already-synced");
});

test("an automatic push that is not shown yet is looked at by the next storefront-sync, beside what that pushes", async () => {
  await using server = await open({ shop: { confirmationWaitMs: 300 } });
  await server.bringOrder("In Progress", [lineA, lineB]);
  await server.faults([{ call: "changeOnHand", outcome: "refused", variantIds: ["blue"] }], { applyDelayMs: 60_000 });
  await server.post(server.order("/receive"), totals({ a: 4 }));
  await server.post(server.order("/receive"), totals({ a: 6, b: 5.5 }));
  const sync = await server.post(server.order("/storefront-sync"));
  assert.equal(sync.at("data", "confirmation", "status"), "timed-out", sync.text);
  assert.deepEqual(
    [0, 1].map((index) => [
      sync.at("data", "confirmation", "lines", index, "lineItemId"),
      sync.at("data", "confirmation", "lines", index, "status"),
      sync.at("data", "confirmation", "lines", index, "quantity"),
    ]),
    [
      ["b", "failed", 5.5],
      ["a", "pending", 6],
    ],
  );
  assert.deepEqual(sync.at("data", "skipped"), [], "a line is told once");
  server.clock.advance(60_000);
  const partial = await server.post(server.order("/storefront-sync"));
  assert.equal(partial.at("data", "confirmation", "status"), "partial", "what was shown is told beside what failed");
  const failed = await server.post(server.order("/storefront-sync"));
  assert.equal(failed.at("data", "confirmation", "status"), "failed", "what was read back once is not told again");
});

test("while a storefront-sync waits for what has landed the order is in flight; a receipt is taken and its push follows", async () => {
  await using server = await open({ shop: { confirmationWaitMs: 4_000 } });
  await server.bringOrder("Partially Received", [{ ...lineA, quantityReceived: 6, quantitySynced: 0 }, lineB]);
  await server.faults([], { applyDelayMs: 60_000 });
  const sync = server.post(server.order("/storefront-sync"));
  await called(server, "readOnHand", 3);
  const read = await server.get(server.order());
  assert.equal(read.at("data", "purchaseOrder", "lineItems", 0, "quantitySynced"), 6, "the push has landed");
  assert.equal(read.at("data", "purchaseOrder", "storefrontSyncState"), "in-flight");
  const received = await server.post(server.order("/receive"), totals({ b: 2 }));
  assert.equal(received.status, 200, received.text);
  assert.equal(received.at("data", "purchaseOrder", "lineItems", 1, "quantitySynced"), 2, "its push does not wait");
  for (const [below, body] of [
    ["/storefront-sync", {}],
    ["/storefront-sync", { awaitConfirmation: false }],
    ["/storefront-sync/reset", {}],
    ["/unreceive", amounts({ a: 1 })],
    ["/complete", {}],
  ] as const) {
    const refused = await server.post(server.order(below), body);
    assert.equal(refused.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", `${below} ${refused.text}`);
    assert.equal(refused.headers["retry-after"], "1");
  }
  const early = await server.delete(server.order());
  assert.equal(early.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", "before the status is looked at");
  const waited = await sync;
  assert.equal(waited.at("data", "confirmation", "status"), "timed-out", waited.text);
  assert.equal(waited.at("data", "purchaseOrder", "storefrontSyncState"), "synced");
  const after = await server.get(server.order());
  assert.equal(after.headers.etag, waited.headers.etag, "the answer shows the order as it is from then on");
  assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200);
});

test("a call that waits for the storefront holds /quick-complete and DELETE back, too", async () => {
  await using server = await open({ shop: { confirmationWaitMs: 2_000 } });
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10, quantityReceived: 6, quantitySynced: 0 }]);
  await server.faults([], { applyDelayMs: 60_000 });
  const sync = server.post(server.order("/storefront-sync"));
  await called(server, "readOnHand", 2);
  const quick = await server.post(server.order("/quick-complete"));
  assert.equal(quick.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", quick.text);
  assert.equal((await server.post(server.order("/status"), { status: "Cancelled" })).status, 200);
  const early = await server.delete(server.order());
  assert.equal(early.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", early.text);
  assert.equal((await sync).at("data", "purchaseOrder", "storefrontSyncState"), "synced");
  assert.equal((await server.delete(server.order())).status, 200);
});

test("a failed push is remembered over a wait for another line; a wait whose call fails leaves nothing in flight", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false, confirmationWaitMs: 300 } });
  await server.bringOrder("Received", [{ ...lineA, quantityReceived: 10, quantitySynced: 0 }]);
  await server.faults([{ call: "changeOnHand", outcome: "error" }]);
  const failed = await server.post(server.order("/storefront-sync"));
  assert.equal(failed.at("data", "confirmation", "status"), "failed", failed.text);
  assert.equal(failed.at("data", "purchaseOrder", "storefrontSyncState"), "failed");

  await server.faults([{ call: "writeCosts", outcome: "error" }], { applyDelayMs: 60_000 });
  assert.equal((await server.post(server.order("/status"), { status: "In Progress" })).status, 200);
  await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", note: "counted" }] });
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10 }]);
  const costless = await server.post(server.order("/quick-complete"));
  assert.equal(costless.status, 502, costless.text);
  const left = await server.get(server.order());
  assert.equal(left.at("data", "purchaseOrder", "storefrontSyncState"), "synced", "the wait is over");
  await server.faults([]);
  const again = await server.post(server.order("/quick-complete"));
  assert.equal(again.at("data", "confirmation", "status"), "timed-out", "what was never shown is looked at again");
  assert.equal(again.at("data", "confirmation", "lines", 0, "status"), "pending");
  assert.equal(again.status, 200);
});

test("when nothing is pushed the answer says why: auto-sync is off, or an earlier push failed and a line is not there", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await server.faults([{ call: "changeOnHand", outcome: "refused" }]);
  await server.post(server.order("/receive"), totals({ a: 10 }));
  const back = await server.post(server.order("/unreceive"), amounts({ a: 3 }));
  assert.deepEqual(back.at("data", "sideEffects", "storefrontSync"), {
    status: "failed",
    syncedLineItemCount: 0,
    detail: "Not at the storefront: 1 line, a (7 received, 0 there).",
  });
  assert.match(back.textAt("data", "recovery"), /storefront-sync\/reset, then .*storefront-sync/);
  const repeated = await server.post(server.order("/receive"), totals({ a: 7 }));
  assert.deepEqual(
    repeated.at("data", "sideEffects", "storefrontSync"),
    { status: "skipped", syncedLineItemCount: 0 },
    "detail stands with failed alone; the lines and storefrontSyncState say what is left",
  );
  assert.equal(repeated.at("data", "recovery"), undefined);

  await server.faults([]);
  assert.equal((await server.post(server.order("/storefront-sync"))).at("data", "confirmation", "status"), "verified");
  await server.changeShop({ autoSyncOnReceiving: false });
  const pushes = await server.calls("changeOnHand");
  for (const [below, body] of [
    ["/unreceive", amounts({ a: 2 })],
    ["/receive", totals({ a: 6 })],
    ["/unreceive", amounts({ a: 1 })],
  ] as const) {
    const off = await server.post(server.order(below), body);
    assert.deepEqual(off.at("data", "sideEffects", "storefrontSync"), { status: "disabled", syncedLineItemCount: 0 });
  }
  assert.equal(await server.calls("changeOnHand"), pushes);
  assert.equal(await server.onHand("red"), 107);
  assert.equal((await server.post(server.order("/storefront-sync"))).at("data", "confirmation", "status"), "verified");
  assert.equal(await server.onHand("red"), 105);
});

test("goods taken back below what is synced lower the storefront's stock; with nothing left the order is In Progress", async () => {
  await using server = await open();
  await server.bringOrder("Received", [{ ...lineA, ...synced }]);
  const refused = await server.post(server.order("/receive"), totals({ a: 9 }));
  assert.equal(refused.status, 400);
  assert.match(refused.textAt("error", "action"), /unreceive/);
  const back = await server.post(server.order("/unreceive"), { ...amounts({ a: 10 }), reason: "all broken" });
  assert.equal(back.at("data", "status", "after"), "In Progress");
  await server.settled();
  assert.equal(await server.onHand("red"), 90);
  const schedule = await server.get(server.order("/receipt-schedule"));
  assert.equal(schedule.at("data", "receipts", 0, "source"), "unreceive");
  assert.equal(schedule.at("data", "receipts", 0, "lines", 0, "quantityDelta"), -10);
});

test("costs that cannot be converted stop a completion until fxRateOverride is set", async () => {
  await using server = await open();
  await server.bringOrder("Received", [{ ...lineA, ...synced, unitCostCurrencyCode: "USD" }], { currencyCode: "USD" });
  const refused = await server.post(server.order("/complete"));
  assert.equal(refused.status, 400);
  assert.match(refused.textAt("error", "message"), /fxRateOverride/);
  assert.equal((await server.patch(server.order(), { fxRateOverride: 0.5 })).status, 200);
  assert.equal((await server.post(server.order("/complete"))).status, 200);
  const history = await server.get(server.order("/cost-sync-history"));
  const row = (member: string) => history.at("data", "costSyncHistory", 0, member);
  assert.deepEqual(
    [row("previousUnitCost"), row("proposedUnitCost"), row("sourceUnitCost"), row("fxRate"), row("fxSource")],
    [1, 2, 4, 0.5, "override"],
  );
});

test("a cost that the storefront refuses is 502 with the status unchanged; what it took is kept and skipped", async () => {
  await using server = await open();
  await server.bringOrder("Received", [
    { ...lineA, ...synced },
    { ...lineB, quantityReceived: 5.5, quantitySynced: 5.5 },
  ]);
  await server.faults([{ call: "writeCosts", outcome: "refused", variantIds: ["blue"] }]);
  const failed = await server.post(server.order("/complete"));
  assert.equal(failed.status, 502, failed.text);
  assert.equal(failed.at("error", "code"), "UPSTREAM_STOREFRONT");
  const order = await server.get(server.order());
  assert.equal(order.at("data", "purchaseOrder", "status"), "Received");
  const outcomes = async (): Promise<unknown[]> => {
    const history = await server.get(server.order("/cost-sync-history"));
    return [0, 1, 2].map((index) => [
      history.at("data", "costSyncHistory", index, "variantId"),
      history.at("data", "costSyncHistory", index, "outcome"),
      history.at("data", "costSyncHistory", index, "attempt"),
    ]);
  };
  const [second, first] = await outcomes();
  assert.deepEqual(
    [first, second],
    [
      ["red", "applied", 1],
      ["blue", "failed", 1],
    ],
  );
  for (const outcome of ["error", "timeout", "lost-response"] as const) {
    await server.faults([{ call: "writeCosts", outcome }]);
    assert.equal((await server.post(server.order("/complete"))).status, 502, outcome);
  }
  await server.faults([]);
  const completed = await server.post(server.order("/complete"));
  assert.equal(completed.at("data", "costSync", "syncedVariantCount"), 2, completed.text);
  assert.deepEqual((await outcomes())[0], ["blue", "applied", 5]);
  const { variants } = await server.sandbox.state(["red", "blue"]);
  assert.deepEqual(
    variants.map((variant) => variant.unitCost),
    [25_000, 40_000],
  );
});

test("an order edited while its costs are written is not completed with stale ones", async (t) => {
  await using server = await open();
  await server.bringOrder("Partially Received", [{ ...lineA, quantityReceived: 6, quantitySynced: 6 }]);
  const { begun, goOn } = holdCalls(t, ["writeCosts"]);
  const completing = server.post(server.order("/complete"));
  await begun;
  const edited = await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", unitCost: 5 }] });
  assert.equal(edited.status, 200, edited.text);
  goOn();
  const stale = await completing;
  assert.equal(stale.status, 400, stale.text);
  assert.equal(stale.at("error", "retryable"), true);
  assert.equal(stale.at("error", "reason"), "ORDER_EDITED");
  assert.equal(stale.headers["retry-after"], "1");
  assert.equal((await server.post(server.order("/complete"))).status, 200);
  assert.equal((await server.sandbox.state(["red"])).variants[0]?.unitCost, 50_000);
});

for (const below of ["/complete", "/quick-complete"])
  test(`eight ${below} at once: one tells the storefront, each cost is written once, the others are refused before they tell anything`, async (t) => {
    await using server = await open({ outboxLimits: { callTimeLimitMs: patienceMs } });
    const [status, figures] =
      below === "/complete" ? (["Received", synced] as const) : (["In Progress", { quantityConfirmed: 10 }] as const);
    await server.bringOrder(status, [
      { ...lineA, ...figures },
      { ...lineB, ...figures, quantityOrdered: 10 },
    ]);
    const { goOn } = holdCalls(t, ["writeCosts", "changeOnHand"]);
    let ended = 0;
    const asked = Array.from({ length: 8 }, () => server.post(server.order(below)).finally(() => (ended += 1)));
    await until("seven are refused", () => ended === asked.length - 1);
    goOn();
    const answers = await Promise.all(asked);
    assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
    for (const refused of answers.filter((answer) => answer.status !== 200)) {
      assert.equal(refused.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", refused.text);
      assert.equal(refused.at("error", "retryable"), true);
      assert.equal(refused.headers["retry-after"], "1");
    }
    assert.equal(await server.calls("writeCosts"), 1);
    assert.equal(await server.calls("changeOnHand"), below === "/complete" ? 0 : 1);
    const history = await server.get(server.order("/cost-sync-history"));
    assert.equal(history.at("data", "costSyncHistory", "length"), 2);
    const { variants } = await server.sandbox.state(["red", "blue"]);
    assert.deepEqual(
      variants.map((variant) => variant.unitCost),
      [25_000, 40_000],
    );
  });

test("beside a /complete that writes costs another and a /quick-complete are refused; a failure ends that at once", async (t) => {
  await using server = await open();
  await server.bringOrder("Received", [{ ...lineA, ...synced }]);
  await server.faults([{ call: "writeCosts", outcome: "error" }]);
  const { begun, goOn } = holdCalls(t, ["writeCosts"]);
  const completing = server.post(server.order("/complete"));
  await begun;
  const beside = await server.post(server.order("/complete"));
  assert.equal(beside.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", beside.text);
  const fromReceived = await server.post(server.order("/quick-complete"));
  assert.equal(fromReceived.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", "before the status is looked at");
  assert.equal((await server.post(server.order("/status"), { status: "In Progress" })).status, 200);
  const completeFromInProgress = await server.post(server.order("/complete"));
  assert.equal(completeFromInProgress.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", completeFromInProgress.text);
  const quick = await server.post(server.order("/quick-complete"));
  assert.equal(quick.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", quick.text);
  assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200, "no push is in flight");
  goOn();
  assert.equal((await completing).status, 502);
  assert.equal(await server.calls("writeCosts"), 1);
  await server.faults([]);
  const done = await server.post(server.order("/quick-complete"));
  assert.equal(done.status, 200, done.text);
});

for (const [costSyncMode, expected] of [
  ["unit-cost", 70_000],
  // (100 × 1 + 10 × 7) ÷ 110: what an earlier attempt wrote is not averaged in.
  ["moving-average", 15_455],
] as const)
  test(`${costSyncMode}: a cost edited after an attempt that failed is written by the next one`, async () => {
    await using server = await open({ shop: { costSyncMode } });
    await server.bring([{ type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 110 }]);
    await server.bringOrder("Partially Received", [
      { ...lineA, ...synced },
      { ...lineB, quantityReceived: 5, quantitySynced: 5 },
    ]);
    await server.faults([{ call: "writeCosts", outcome: "refused", variantIds: ["blue"] }]);
    assert.equal((await server.post(server.order("/complete"))).status, 502);
    await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", unitCost: 7 }] });
    await server.faults([]);
    const completed = await server.post(server.order("/complete"));
    assert.equal(completed.at("data", "costSync", "syncedVariantCount"), 2, completed.text);
    assert.equal((await server.sandbox.state(["red"])).variants[0]?.unitCost, expected);
    const history = await server.get(server.order("/cost-sync-history?variantIds=red"));
    assert.deepEqual(
      [0, 1].map((index) => history.at("data", "costSyncHistory", index, "sourceUnitCost")),
      [7, 4],
    );
    assert.equal(
      history.at("data", "costSyncHistory", 0, "previousUnitCost"),
      history.at("data", "costSyncHistory", 1, "proposedUnitCost"),
    );
  });

test("a variant that is gone gets no cost and is a warning; with cost sync off nothing is written", async () => {
  await using server = await open();
  await server.bringOrder("Received", [
    { ...lineA, ...synced },
    { ...lineB, quantityReceived: 5.5, quantitySynced: 5.5 },
  ]);
  await server.sandbox.patchVariant("red", { status: "deleted" });
  const completed = await server.post(server.order("/complete"));
  assert.equal(completed.status, 200, completed.text);
  assert.equal(completed.at("data", "costSync", "syncedVariantCount"), 1);
  assert.match(completed.textAt("data", "costSync", "warnings", 0), /red is deleted/);
  await server.changeShop({ costSyncMode: "disabled" });
  await server.bringOrder("Received", [{ ...lineA, ...synced, unitCostCurrencyCode: "USD" }]);
  const calls = await server.calls("writeCosts");
  const without = await server.post(server.order("/complete"));
  assert.deepEqual(without.at("data", "costSync"), {
    mode: "disabled",
    syncedVariantCount: 0,
    skippedCustomItemCount: 0,
    warnings: [],
  });
  assert.equal(await server.calls("writeCosts"), calls);
});

test("a moving average weighs the stock that was there before this order", async () => {
  await using server = await open({ shop: { costSyncMode: "moving-average" } });
  await server.bringOrder("In Progress", [lineA]);
  await server.post(server.order("/receive"), totals({ a: 10 }));
  await server.settled();
  await server.post(server.order("/complete"));
  // (100 × 1 + 10 × 4) ÷ 110
  assert.equal((await server.sandbox.state(["red"])).variants[0]?.unitCost, 12_727);
});

test("quick-complete receives, pushes whatever auto-sync says, writes costs and completes", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false, onOrderTag: "on order" } });
  await server.bringOrder("In Progress", [
    { ...lineA, quantityConfirmed: 8 },
    lineB,
    { ...customLine, quantityConfirmed: 3 },
  ]);
  const done = await server.post(server.order("/quick-complete"));
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(done.at("data", "status"), { before: "In Progress", after: "Completed", autoTransitioned: true });
  assert.deepEqual(done.at("data", "receivedLineItemIds"), ["a", "c"]);
  assert.equal(done.at("data", "confirmation", "status"), "verified");
  assert.equal(done.at("data", "costSync", "syncedVariantCount"), 1);
  assert.deepEqual(done.at("data", "sideEffects"), {
    storefrontSync: { status: "queued", syncedLineItemCount: 1 },
    incoming: { outcome: "applied" },
    tagSync: { outcome: "applied" },
  });
  assert.equal(await server.onHand("red"), 108);
  assert.equal((await server.post(server.order("/quick-complete"))).status, 400);
});

test("quick-complete leaves the storefront alone for what is skipped: no stock, no cost, and a warning", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [
    { ...lineA, quantityConfirmed: 10 },
    { ...lineB, quantityConfirmed: 5.5 },
  ]);
  await server.sandbox.patchVariant("red", { status: "inactive" });
  assert.equal((await server.post(server.order("/quick-complete"))).at("error", "code"), "INVENTORY_GUARD_ISSUES");
  const done = await server.post(server.order("/quick-complete"), {
    resolutions: [{ itemId: "a", action: "skip" }],
  });
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(done.at("data", "receivedLineItemIds"), ["a", "b"]);
  assert.match(done.textAt("data", "costSync", "warnings", 0), /red was skipped/);
  assert.equal(done.at("data", "confirmation", "status"), "verified");
  assert.deepEqual([await server.onHand("red"), await server.onHand("blue")], [100, 5.5]);
  const { variants } = await server.sandbox.state(["red", "blue"]);
  assert.deepEqual(
    variants.map((variant) => variant.unitCost),
    [25_000, 10_000],
  );
});

test("quick-complete without a confirmed quantity is NOTHING_TO_RECEIVE; without a rate nothing changes", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  const nothing = await server.post(server.order("/quick-complete"));
  assert.deepEqual([nothing.status, nothing.at("error", "code")], [409, "NOTHING_TO_RECEIVE"]);
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10, unitCostCurrencyCode: "USD" }]);
  const unpriced = await server.post(server.order("/quick-complete"));
  assert.equal(unpriced.status, 400);
  assert.match(unpriced.textAt("error", "message"), /fxRateOverride/);
  const order = await server.get(server.order());
  assert.equal(order.at("data", "purchaseOrder", "lineItems", 0, "quantityReceived"), 0);
});

test("when no line reaches the storefront, quick-complete keeps the receipts, and the same call finishes later", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10 }]);
  for (const fault of [
    { call: "changeOnHand", outcome: "error" },
    { call: "changeOnHand", outcome: "refused" },
    { call: "changeOnHand", outcome: "lost-response" },
    { call: "writeCosts", outcome: "error" },
  ] as const) {
    await server.faults([fault]);
    const failed = await server.post(server.order("/quick-complete"));
    assert.equal(failed.status, 502, failed.text);
    const order = await server.get(server.order());
    assert.equal(order.at("data", "purchaseOrder", "status"), "In Progress");
    assert.equal(order.at("data", "purchaseOrder", "lineItems", 0, "quantityReceived"), 10);
  }
  await server.faults([]);
  const done = await server.post(server.order("/quick-complete"));
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(done.at("data", "receivedLineItemIds"), []);
  assert.equal(await server.onHand("red"), 110);
});

test("when some lines fail, quick-complete completes and says how to recover; the way works", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [
    { ...lineA, quantityConfirmed: 10 },
    { ...lineB, quantityConfirmed: 5.5 },
  ]);
  await server.faults([{ call: "changeOnHand", outcome: "refused", variantIds: ["red"] }]);
  const done = await server.post(server.order("/quick-complete"));
  assert.equal(done.status, 200, done.text);
  assert.equal(done.at("data", "confirmation", "status"), "partial");
  assert.match(done.textAt("data", "recovery"), /status.*reset.*storefront-sync.*complete/);
  await server.faults([]);
  for (const [below, body] of [
    ["/status", { status: "Received" }],
    ["/storefront-sync/reset", {}],
    ["/storefront-sync", {}],
    ["/complete", {}],
  ] as const) {
    const step = await server.post(server.order(below), body);
    assert.equal(step.status, 200, `${below} ${step.text}`);
  }
  assert.equal(await server.onHand("red"), 110);
});

test("every write is answered again byte for byte under its key, and moves no stock a second time", async () => {
  await using server = await open();
  await server.bringOrder("Sent", [{ ...lineA }]);
  const steps: [string, object, number][] = [
    ["/confirm", { confirmAll: true }, 200],
    ["/receive", totals({ a: 9 }), 200],
    ["/unreceive", amounts({ a: 2 }), 200],
    ["/storefront-sync", {}, 200],
    ["/storefront-sync/reset", {}, 200],
    ["/complete", {}, 200],
    ["/complete", {}, 400],
    ["/quick-complete", {}, 400],
  ];
  for (const [index, [below, body, status]] of steps.entries()) {
    const headers = { "Idempotency-Key": `step ${index}` };
    const first = await server.post(server.order(below), body, { headers });
    assert.equal(first.status, status, `${below} ${first.text}`);
    await server.settled();
    const again = await server.post(server.order(below), body, { headers });
    assert.equal(again.text, first.text);
    assert.equal(again.headers["idempotent-replayed"], "true");
  }
  assert.equal(await server.onHand("red"), 107);
});

test("an order's instants are those of its way forward; going back and coming back set none", async () => {
  await using server = await open();
  await server.bringOrder("Sent", [{ ...lineA, quantityConfirmed: 0 }]);
  const names = ["sentAt", "confirmedAt", "receivedAt", "completedAt", "cancelledAt"] as const;
  const read = async (): Promise<readonly unknown[]> => {
    const order = await server.settled();
    return names.map((name) => order.at("data", "purchaseOrder", name));
  };
  /** Which instants a call moves. */
  const moved = async (below: string, body: object): Promise<readonly string[]> => {
    const before = await read();
    server.clock.advance(1_000);
    const answer = await server.post(server.order(below), body);
    assert.equal(answer.status, 200, answer.text);
    const after = await read();
    return names.filter((_, index) => after[index] !== before[index]);
  };
  const to = (status: string): Promise<readonly string[]> => moved("/status", { status });
  assert.deepEqual(await to("On Hold"), []);
  assert.deepEqual(await to("Sent"), []);
  assert.deepEqual(await to("Cancelled"), ["cancelledAt"]);
  assert.deepEqual(await to("Sent"), []);
  assert.deepEqual(await to("Draft"), []);
  assert.deepEqual(await to("Sent"), ["sentAt"]);
  assert.deepEqual(await moved("/confirm", { confirmAll: true }), ["confirmedAt"]);
  assert.deepEqual(await to("Confirmed"), []);
  assert.deepEqual(await to("Sent"), []);
  assert.deepEqual(await moved("/confirm", { confirmAll: true }), ["confirmedAt"]);
  assert.deepEqual(await moved("/receive", totals({ a: 10 })), ["receivedAt"]);
  assert.deepEqual(await moved("/complete", {}), ["completedAt"]);
  assert.deepEqual(await to("Received"), []);
  assert.deepEqual(await to("In Progress"), []);
  assert.deepEqual(await moved("/quick-complete", {}), ["receivedAt", "completedAt"]);
});

test("the ETag of a receipt holds once its push has landed: what follows with If-Match goes through", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10 }]);
  const received = await server.post(server.order("/receive"), totals({ a: 4 }), {
    headers: { "Idempotency-Key": "once" },
  });
  assert.equal(received.at("data", "purchaseOrder", "lineItems", 0, "quantitySynced"), 4);
  assert.equal(received.at("data", "purchaseOrder", "storefrontSyncState"), "synced");
  const matching = (answer: typeof received) => ({ headers: { "If-Match": `${answer.headers.etag}` } });
  const back = await server.post(server.order("/unreceive"), amounts({ a: 1 }), matching(received));
  assert.equal(back.status, 200, back.text);
  assert.equal(back.at("data", "purchaseOrder", "lineItems", 0, "quantitySynced"), 3);
  const edited = await server.patch(server.order(), { note: "counted" }, matching(back));
  assert.equal(edited.status, 200, edited.text);
  const replayed = await server.post(server.order("/receive"), totals({ a: 4 }), {
    headers: { "Idempotency-Key": "once" },
  });
  assert.deepEqual([replayed.text, replayed.headers.etag], [received.text, received.headers.etag]);
});

test("recovery of incoming quantities and tags works: a storefront-sync tells what was given up", async () => {
  await using server = await open({ shop: { onOrderTag: "on-order" } });
  await server.bringOrder("Sent", [lineA]);
  await server.faults([
    { call: "setIncoming", outcome: "refused" },
    { call: "setTags", outcome: "refused" },
  ]);
  const confirmed = await server.post(server.order("/confirm"), { lines: [{ lineItemId: "a", quantityConfirmed: 6 }] });
  assert.equal(confirmed.at("data", "sideEffects", "incoming", "outcome"), "failed", confirmed.text);
  assert.equal(confirmed.at("data", "sideEffects", "tagSync", "outcome"), "failed");
  assert.match(confirmed.textAt("data", "recovery"), /storefront-sync\/reset, then POST/);
  assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200);
  const inVain = await server.post(server.order("/storefront-sync"));
  assert.equal(inVain.at("data", "sideEffects", "incoming", "outcome"), "failed", inVain.text);
  await server.faults([]);
  const synced = await server.post(server.order("/storefront-sync"));
  assert.deepEqual(synced.at("data", "sideEffects"), {
    storefrontSync: { status: "skipped", syncedLineItemCount: 0 },
    incoming: { outcome: "applied" },
    tagSync: { outcome: "applied" },
  });
  assert.equal(synced.at("data", "recovery"), undefined);
  assert.equal(await server.incoming("red"), 6);
  assert.deepEqual((await server.sandbox.state(["red"])).variants[0]?.tags, ["on-order"]);
  const calls = await server.calls("setIncoming");
  const again = await server.post(server.order("/storefront-sync"), { awaitConfirmation: false });
  assert.deepEqual(again.at("data", "sideEffects"), { storefrontSync: { status: "skipped", syncedLineItemCount: 0 } });
  assert.equal(await server.calls("setIncoming"), calls, "what was told is not told again");
});

test("what the storefront has no more, or does not count, is left out of incoming quantities and tags: nothing failed", async () => {
  for (const status of ["deleted", "unsyncable"] as const) {
    await using server = await open({ shop: { onOrderTag: "on-order" } });
    await server.bringOrder("Sent", [lineA, lineB]);
    await server.faults([{ call: "setIncoming", outcome: "refused", times: 1 }]);
    const lines = ["a", "b"].map((lineItemId) => ({ lineItemId, quantityConfirmed: 5 }));
    const confirmed = await server.post(server.order("/confirm"), { lines });
    assert.equal(confirmed.at("data", "sideEffects", "incoming", "outcome"), "failed", confirmed.text);
    await server.sandbox.patchVariant("blue", { status });
    for (const [path, body] of [
      ["/storefront-sync", {}],
      ["/status", { status: "Cancelled" }],
    ] as const) {
      const told = await server.post(server.order(path), body);
      assert.equal(told.at("data", "sideEffects", "incoming", "outcome"), "applied", told.text);
      assert.equal(told.at("data", "recovery"), undefined, told.text);
    }
    assert.equal(await server.incoming("red"), 0);
  }
});

test("a line that comes while the guard looks is looked at before confirmAll confirms it", async (t) => {
  await using server = await open();
  await server.bringOrder("Sent", [lineA]);
  await server.sandbox.patchVariant("blue", { status: "deleted" });
  const { begun, goOn } = holdCalls(t, ["checkVariants"]);
  const confirming = server.post(server.order("/confirm"), { confirmAll: true });
  await begun;
  const added = await server.post(server.order("/line-items"), {
    lineItems: [{ variantId: "blue", quantityOrdered: 1 }],
  });
  assert.equal(added.status, 201, added.text);
  goOn();
  const stopped = await confirming;
  assert.equal(stopped.at("error", "code"), "INVENTORY_GUARD_ISSUES", stopped.text);
  assert.equal(stopped.at("error", "details", 0, "variantId"), "blue");
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "status"), "Sent");
});

test("a push goes on whatever becomes of the order: cancelled it still lands, and only then can it be deleted", async (t) => {
  await using server = await open({ shop: { followOnWaitMs: 0 } });
  await server.bringOrder("In Progress", [
    { ...lineA, quantityConfirmed: 10, quantityReceived: 6, quantitySynced: 0 },
    lineB,
  ]);
  const { goOn } = holdCalls(t, ["changeOnHand"]);
  const sync = server.post(server.order("/storefront-sync"));
  await server.state("in-flight");
  const quick = await server.post(server.order("/quick-complete"));
  assert.equal(quick.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", quick.text);
  const cancelled = await server.post(server.order("/status"), { status: "Cancelled" });
  assert.equal(cancelled.status, 200, cancelled.text);
  const early = await server.delete(server.order());
  assert.equal(early.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", early.text);
  goOn();
  assert.equal((await sync).at("data", "confirmation", "status"), "verified", (await sync).text);
  assert.equal((await server.settled()).at("data", "purchaseOrder", "lineItems", 0, "quantitySynced"), 6);
  assert.equal(await server.onHand("red"), 106);
  assert.equal((await server.delete(server.order())).at("data", "mode"), "soft-deleted");
});
