/** Accepting what a supplier has answered: by the rules of the operations that others use, in the supplier's name (C64, C64a). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GoodsServer, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInAs, signInWith } from "../support/people.ts";
import { accept, adminOrder, makeLink, propose } from "../support/peers/supplier-link.ts";
import type { TestResponse } from "../support/server.ts";

const start = (): Promise<GoodsServer & AsyncDisposable> => startGoodsServer({ console: true });

/** Sends an answer and returns the id of the proposal. */
async function proposed(server: GoodsServer, body: unknown): Promise<string> {
  const sent = await propose(server, await makeLink(server), body);
  assert.ok(sent.status === 201 || sent.status === 200, sent.text);
  return sent.textAt("data", "proposal", "proposalId");
}

/** The order as reads show it: status, version, and of each line confirmed, cancelled and expected. */
async function orderNow(server: GoodsServer): Promise<unknown> {
  const read = await server.get(server.order());
  const lines = [0, 1].map((index) => {
    const member = (name: string): unknown => read.at("data", "purchaseOrder", "lineItems", index, name);
    return [member("quantityConfirmed"), member("quantityCancelled"), member("expectedDeliveryDate")];
  });
  return [read.at("data", "purchaseOrder", "status"), ...lines];
}

const refusedWith = (answered: TestResponse, message: RegExp): void => {
  assert.equal(answered.status, 400, answered.text);
  assert.match(answered.textAt("error", "message"), message);
};

test("accepting confirms, dates, cancels, and takes over reference and tracking, with the supplier as actor", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const proposalId = await proposed(server, {
    lines: [
      { lineItemId: "a", quantityConfirmed: 8, expectedDeliveryDate: "2099-12-24" },
      { lineItemId: "b", cannotDeliver: true },
    ],
    reference: "SO-7",
    trackingNumber: "1Z-9",
  });
  const person = await signInAs(server, "purchaser", "Ana");
  const accepted = await accept(server, proposalId, {}, { key: await person.bearer() });
  assert.equal(accepted.status, 200, accepted.text);
  assert.equal(accepted.at("data", "proposal", "status"), "accepted");
  assert.equal(accepted.at("data", "proposal", "decidedBy"), "Ana");
  assert.deepEqual(await orderNow(server), ["Confirmed", [8, 0, "2099-12-24"], [0, 5.5, null]]);
  const read = await server.get(server.order());
  assert.equal(read.at("data", "purchaseOrder", "supplierReference"), "SO-7");
  const shipments = await server.get(server.order("/shipments"));
  assert.equal(shipments.at("data", "shipments", 0, "trackingNumber"), "1Z-9", shipments.text);
  const log = await server.get(server.order("/log"));
  const entries = [0, 1, 2, 3].map((index) => [
    log.at("data", "log", index, "operation"),
    log.at("data", "log", index, "actor", "type"),
    log.at("data", "log", index, "actor", "id"),
    log.at("data", "log", index, "actor", "name"),
  ]);
  for (const [, ...actor] of entries) assert.deepEqual(actor, ["supplier", "mill", "The Mill"]);
  assert.deepEqual(
    entries.map(([operation]) => operation),
    ["purchase_order_update", "purchase_order_update", "purchase_order_confirm", "purchase_order_line_item_update"],
  );
  const events = await askAdmin(server, "GET", `/shops/${server.shopId}/events?after=0&types=purchase_order.confirmed`);
  assert.equal(events.at("data", "events", 0, "actor", "type"), "supplier", events.text);
  assert.equal(await server.incoming("red"), 8);
  const version = read.at("data", "purchaseOrder", "version");
  const again = await accept(server, proposalId);
  assert.equal(again.status, 200, again.text);
  assert.equal(again.at("data", "purchaseOrder", "version"), version, "repeating changes nothing");
});

test("accepted by a person who has signed in with a key, the log names the supplier and the key (C49)", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 1 }] });
  const { keyId, apiKey } = await server.addKey("write");
  const cleo = await signInWith(server, { apiKey, name: "Cleo" });
  assert.equal((await accept(server, proposalId, {}, { key: await cleo.bearer() })).status, 200);
  const log = await server.get(server.order("/log"));
  assert.deepEqual(log.at("data", "log", 0, "actor"), { type: "supplier", id: "mill", name: "The Mill", keyId });
});

test("some lines are accepted and the others later; what is left can be rejected", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const body = {
    lines: [
      { lineItemId: "a", quantityConfirmed: 10 },
      { lineItemId: "b", quantityConfirmed: 5 },
    ],
    reference: "SO-1",
  };
  const first = await proposed(server, body);
  const some = await accept(server, first, { lineItemIds: ["b"] });
  assert.equal(some.at("data", "proposal", "status"), "open", some.text);
  assert.deepEqual(await orderNow(server), ["Partially Confirmed", [0, 0, null], [5, 0, null]]);
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "supplierReference"), "SO-1");
  refusedWith(await accept(server, first, { lineItemIds: ["z"] }), /z is not a line of the proposal/);
  assert.equal((await accept(server, first)).at("data", "proposal", "status"), "accepted");
  assert.deepEqual(await orderNow(server), ["Confirmed", [10, 0, null], [5, 0, null]]);

  const second = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 4 }] });
  const path = adminOrder(server, `/proposals/${second}/reject`);
  const rejected = await askAdmin(server, "POST", path, {});
  assert.equal(rejected.at("data", "proposal", "status"), "rejected", rejected.text);
  assert.equal((await askAdmin(server, "POST", path, {})).status, 200);
  refusedWith(await accept(server, second), /was rejected/);
  assert.deepEqual(await orderNow(server), ["Confirmed", [10, 0, null], [5, 0, null]]);
  refusedWith(await askAdmin(server, "POST", adminOrder(server, `/proposals/${first}/reject`), {}), /accepted before/);
});

test("purchasers and owners decide on proposals, others only see them", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 1 }] });
  for (const [role, status] of [
    ["viewer", 403],
    ["receiver", 403],
    ["owner", 200],
  ] as const) {
    const key = await (await signInAs(server, role)).bearer();
    const waiting = await askAdmin(server, "GET", `/shops/${server.shopId}/proposals`, undefined, { key });
    assert.equal(waiting.at("data", "totalCount"), 1, waiting.text);
    assert.equal((await accept(server, proposalId, {}, { key })).status, status, role);
  }
  const unknown = await accept(server, "spr_none");
  assert.equal(unknown.status, 404);
});

test("more than was ordered is not accepted, until the order is raised to it", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const proposalId = await proposed(server, {
    lines: [
      { lineItemId: "a", quantityConfirmed: 12 },
      { lineItemId: "b", quantityConfirmed: 5 },
    ],
  });
  refusedWith(await accept(server, proposalId), /confirms more than was ordered/);
  assert.deepEqual(await orderNow(server), ["Sent", [0, 0, null], [0, 0, null]]);
  assert.equal((await accept(server, proposalId, { lineItemIds: ["b"] })).status, 200);
  await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", quantityOrdered: 12 }] });
  assert.equal((await accept(server, proposalId)).status, 200);
  assert.deepEqual(await orderNow(server), ["Confirmed", [12, 0, null], [5, 0, null]]);
});

test("a proposal that the order has overtaken says so and is not accepted; its other lines are", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const proposalId = await proposed(server, {
    lines: [
      { lineItemId: "a", quantityConfirmed: 8 },
      { lineItemId: "b", quantityConfirmed: 5 },
    ],
  });
  await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", quantityOrdered: 20 }] });
  await server.patch(server.order(), { noteToSupplier: "what is not in the answer overtakes nothing" });
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.deepEqual(
    [
      listed.at("data", "proposals", 0, "status"),
      listed.at("data", "proposals", 0, "lines", 0, "status"),
      listed.at("data", "proposals", 0, "lines", 1, "status"),
    ],
    ["overtaken", "overtaken", "open"],
  );
  const refused = await accept(server, proposalId);
  refusedWith(refused, /overtaken the proposal: a changed/);
  assert.equal(refused.at("error", "details", 0, "lineItemId"), "a");
  assert.equal((await accept(server, proposalId, { lineItemIds: ["b"] })).status, 200);
  assert.deepEqual(await orderNow(server), ["Partially Confirmed", [0, 0, null], [5, 0, null]]);
});

test("a status that lets nothing change overtakes the whole proposal", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 8 }] });
  await server.post(server.order("/status"), { status: "On Hold" });
  refusedWith(await accept(server, proposalId), /it is On Hold/);
});

test("a line that was confirmed and cannot be delivered after all is confirmed with 0 and cancelled in full", async () => {
  await using server = await start();
  await server.bringOrder("Confirmed", [
    { ...lineA, quantityConfirmed: 10 },
    { ...lineB, quantityConfirmed: 4 },
  ]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "b", cannotDeliver: true }] });
  const accepted = await accept(server, proposalId);
  assert.equal(accepted.status, 200, accepted.text);
  assert.deepEqual(await orderNow(server), ["Confirmed", [10, 0, null], [0, 5.5, null]]);
});

test("an order in work takes dates and no quantities", async () => {
  await using server = await start();
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10 }]);
  const link = await makeLink(server);
  refusedWith(await propose(server, link, { lines: [{ lineItemId: "a", quantityConfirmed: 5 }] }), /In Progress/);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", expectedDeliveryDate: "2099-12-31" }] });
  assert.equal((await accept(server, proposalId)).status, 200);
  assert.deepEqual(await orderNow(server), ["In Progress", [10, 0, "2099-12-31"], [undefined, undefined, undefined]]);
});

test("the inventory guard stands before accepting as before confirming", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [{ ...lineA, variantId: "unknown-there" }]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 8 }] });
  const refused = await accept(server, proposalId);
  assert.deepEqual([refused.status, refused.at("error", "code")], [400, "INVENTORY_GUARD_ISSUES"], refused.text);
  const skipped = await accept(server, proposalId, { resolutions: [{ itemId: "a", action: "skip" }] });
  assert.equal(skipped.status, 200, skipped.text);
});

test("accepting at a version that the order no longer has is refused", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 8 }] });
  const refused = await accept(server, proposalId, {}, { headers: { "If-Match": '"99"' } });
  assert.deepEqual([refused.status, refused.at("error", "reason")], [412, "VERSION_MISMATCH"], refused.text);
});

test("two accepts at once, and an accept beside an edit: one effect, or a refusal that changed nothing", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA, lineB]);
  const proposalId = await proposed(server, {
    lines: [
      { lineItemId: "a", quantityConfirmed: 8, expectedDeliveryDate: "2099-12-24" },
      { lineItemId: "b", quantityConfirmed: 5 },
    ],
    trackingNumber: "1Z",
  });
  const both = await Promise.all([accept(server, proposalId), accept(server, proposalId)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  const log = await server.get(server.order("/log"));
  const confirms = Array.from({ length: 10 }, (_, index) => log.at("data", "log", index, "action")).filter(
    (action) => action === "confirm",
  );
  assert.equal(confirms.length, 1);
  assert.equal((await server.get(server.order("/shipments"))).at("data", "shipments", "length"), 1);

  const confirmedNow = async (): Promise<unknown> =>
    (await server.get(server.order())).at("data", "purchaseOrder", "lineItems", 0, "quantityConfirmed");
  for (let round = 0; round < 10; round += 1) {
    const before = await confirmedNow();
    const quantity = round % 2 === 0 ? 6 : 7;
    const next = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: quantity }] });
    const ordered = 20 + round;
    const [accepted, edited] = await Promise.all([
      accept(server, next),
      server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", quantityOrdered: ordered }] }),
    ]);
    assert.equal(edited.status, 200, edited.text);
    const read = await server.get(server.order());
    const confirmed = read.at("data", "purchaseOrder", "lineItems", 0, "quantityConfirmed");
    assert.equal(read.at("data", "purchaseOrder", "lineItems", 0, "quantityOrdered"), ordered);
    if (accepted.status === 200) assert.equal(confirmed, quantity);
    else {
      refusedWith(accepted, /overtaken/);
      assert.equal(confirmed, before);
    }
  }
});

test("a proposal survives an import of its order, and goes with a draft that is deleted", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const proposalId = await proposed(server, { lines: [{ lineItemId: "a", quantityConfirmed: 8 }] });
  await server.bringOrder("Sent", [{ ...lineA, quantityOrdered: 30 }]);
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  assert.deepEqual(
    [listed.at("data", "proposals", 0, "proposalId"), listed.at("data", "proposals", 0, "status")],
    [proposalId, "overtaken"],
  );
  await server.post(server.order("/status"), { status: "Draft" });
  await server.delete(server.order());
  const rows = await server.engine.read(server.shopId, (tx) =>
    tx.all("select proposal_id from supplier_proposal union all select link_id from supplier_link", []),
  );
  assert.deepEqual(rows, []);
});
