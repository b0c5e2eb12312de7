/**
 * Comments on an order (C70a), by people and by agents: entries of the log and an event, while the order and its version stay. And the
 * reason that a move by hand can have.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { signInAs } from "../support/people.ts";
import { assertFault } from "../support/server.ts";

const orderId = "po_1";

const comments = ({ shopId }: GoodsServer): string => `/admin/v1/shops/${shopId}/purchase-orders/po_1/comments`;

async function withOrder(server: GoodsServer): Promise<void> {
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10 }]);
}

test("a comment stands in the list and in the log with who wrote it, and tells an event; the order's version stays", async () => {
  await using server = await startGoodsServer({ console: true });
  await withOrder(server);
  const before = await server.get(server.order());
  const ana = await (await signInAs(server, "receiver", "Ana")).bearer();
  const made = await server.post(comments(server), { text: "Two cases\nare wet." }, { key: ana, undocumented: true });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.at("data", "comment", "text"), "Two cases\nare wet.");
  await using agent = await connectAgent(server);
  const input = { purchaseOrderId: orderId, text: "The supplier knows.", idempotencyKey: "c1" };
  const told = await agent.call("comment_add", input);
  assert.ok(!told.isError, told.text);
  assert.equal((await agent.call("comment_add", input)).at("replayed"), true);
  const listed = await server.get(comments(server), { key: ana, undocumented: true });
  assert.equal(listed.at("data", "totalCount"), 2);
  assert.deepEqual(
    [0, 1].map((index) => [
      listed.at("data", "comments", index, "text"),
      listed.at("data", "comments", index, "createdBy", "type"),
    ]),
    [
      ["The supplier knows.", "agent"],
      ["Two cases\nare wet.", "user"],
    ],
  );
  const page = await server.get(`${comments(server)}?limit=1`, { key: ana, undocumented: true });
  const rest = await server.get(`${comments(server)}?limit=1&cursor=${page.textAt("data", "cursor")}`, {
    key: ana,
    undocumented: true,
  });
  assert.equal(rest.at("data", "comments", 0, "text"), "Two cases\nare wet.");
  assert.equal(rest.at("data", "cursor"), null);
  const log = await agent.call("purchase_order_log_list", { purchaseOrderId: orderId });
  assert.equal(log.at("log", 0, "action"), "comment");
  assert.equal(log.at("log", 0, "operation"), "comment_add");
  const after = await server.get(server.order());
  assert.deepEqual(after.at("data"), before.at("data"));
  const events = await server.get(`/admin/v1/shops/${server.shopId}/events?types=purchase_order.updated`, {
    key: ana,
    undocumented: true,
  });
  assert.equal(events.at("data", "events", 1, "data", "purchaseOrderId"), orderId);
  assert.equal(events.at("data", "totalCount"), 2);
});

test("a viewer and a read key write no comment; one of nothing, of control characters or for no order is refused", async () => {
  await using server = await startGoodsServer({ console: true });
  await withOrder(server);
  const viewer = await (await signInAs(server, "viewer", "Vic")).bearer();
  const ana = await (await signInAs(server, "receiver", "Ana")).bearer();
  assertFault(
    await server.post(comments(server), { text: "x" }, { key: viewer, undocumented: true }),
    403,
    "FORBIDDEN_SCOPE",
  );
  assert.equal((await server.get(comments(server), { key: viewer, undocumented: true })).at("data", "totalCount"), 0);
  for (const text of ["", "a\u0000b", "a\u202eb", "x".repeat(5_001)])
    assertFault(await server.post(comments(server), { text }, { key: ana, undocumented: true }), 400, "INVALID_INPUT");
  const nowhere = comments(server).replace(orderId, "none");
  assertFault(await server.post(nowhere, { text: "x" }, { key: ana, undocumented: true }), 404, "NOT_FOUND");
  assertFault(await server.get(nowhere, { key: ana, undocumented: true }), 404, "NOT_FOUND");
  await using reader = await connectAgent(server, { key: server.readKey });
  const refused = await reader.call("comment_add", { purchaseOrderId: orderId, text: "x" });
  assert.equal(refused.at("error", "code"), "FORBIDDEN_SCOPE");
});

test("the reason of a move by hand is kept in the log", async () => {
  await using server = await startGoodsServer();
  await withOrder(server);
  const moved = await server.post(server.order("/status"), { status: "On Hold", reason: "Prices are asked anew" });
  assert.equal(moved.status, 200, moved.text);
  const log = await server.get(server.order("/log"));
  assert.equal(log.at("data", "log", 0, "message"), "Moved from Sent to On Hold (Prices are asked anew).");
});
