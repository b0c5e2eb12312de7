/**
 * Every refusal because of an order's status, over REST and MCP: the same refusal, with each surface's names for operations.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Status, statuses } from "../../src/core/order/purchase-order.ts";
import { type Activity, isHeld, movesFrom, permits } from "../../src/core/order/status.ts";
import { operations, restOperations } from "../../src/operations/registry.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { inToolNames } from "../support/openapi/wording.ts";

/** The members of an error. */
const errorOf = (error: unknown): Readonly<Record<string, unknown>> => ({ ...(error as object) });

const lines = (members: object) => ({ lines: [{ lineItemId: "a", ...members }] });

/** One call for each activity that a status may forbid. */
const calls: readonly (readonly [Activity, operation: string, input: object])[] = [
  ["edit-lines", "purchase_order_line_item_add", { lineItems: [{ variantId: "red", quantityOrdered: 1 }] }],
  ["edit-lines", "purchase_order_line_item_add_custom", { productName: "Pallet", quantityOrdered: 1 }],
  ["edit-lines", "purchase_order_line_item_update", lines({ quantityOrdered: 2 })],
  ["edit-lines", "purchase_order_line_item_delete", { lineItemIds: ["a"] }],
  ["confirm", "purchase_order_confirm", { confirmAll: true }],
  ["receive", "purchase_order_receive", lines({ quantityReceived: 1 })],
  ["unreceive", "purchase_order_unreceive", lines({ quantity: 1 })],
  ["complete", "purchase_order_complete", {}],
  ["quick-complete", "purchase_order_quick_complete", {}],
  ["sync", "purchase_order_storefront_sync", {}],
  ["delete", "purchase_order_delete", {}],
];

const toolNames = new RegExp(operations.map(({ name }) => name).join("|"));

for (const status of statuses)
  test(`${status}: both surfaces refuse the same calls, each with its own names for operations`, async () => {
    await using server = await startGoodsServer();
    await using agent = await connectAgent(server);
    const order = { status, ...(isHeld({ status }) ? { previousStatus: "Sent" } : {}) };
    await server.bringOrder(status, [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10 }], order);

    const refused = async (name: string, input: object): Promise<void> => {
      const { route } = restOperations.find((each) => each.name === name) ?? assert.fail(name);
      const query = "lineItemIds" in input ? "?lineItemIds=a" : "";
      const target = `${server.order()}${route.path.split("}")[1] ?? ""}${query}`;
      const rest = await server.request(route.method, target, route.method === "DELETE" ? {} : { body: input });
      const told = await agent.call(name, { purchaseOrderId: "po_1", ...input });
      const what = `${name} ${JSON.stringify(input)}: ${rest.text}`;
      assert.ok(told.isError, what);
      assert.ok(rest.status === 400 || rest.status === 409, what);
      for (const member of ["code", "reason", "message", "action", "details"]) {
        const spoken = JSON.stringify(rest.at("error", member) ?? null);
        assert.doesNotMatch(spoken, toolNames, `${what}: REST is told no tool's name`);
        assert.equal(JSON.stringify(told.at("error", member) ?? null), inToolNames(spoken), what);
      }
      assert.notEqual(rest.at("error", "action"), undefined, `${what}: says what to do`);
    };

    for (const [activity, name, input] of calls) if (!permits({ status }, activity)) await refused(name, input);
    const open: readonly Status[] = isHeld({ status }) ? ["Sent"] : movesFrom(status);
    for (const to of statuses)
      if (to === "Completed" || !open.includes(to)) await refused("purchase_order_status", { status: to });
  });

test("a stored refusal is replayed byte for byte, in the words of the surface that asked first (C18)", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  await server.bringOrder("Draft", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10 }]);
  const ask = (key: string) =>
    server.request("POST", server.order("/complete"), { body: {}, headers: { "Idempotency-Key": key } });
  const tell = (idempotencyKey: string) =>
    agent.call("purchase_order_complete", { purchaseOrderId: "po_1", idempotencyKey });

  const rest = await ask("rest first");
  assert.match(rest.textAt("error", "action"), /POST \/purchase-orders\/\{id\}\/status/);
  // An agent is told what it is (C69), in the words of the surface that asked first.
  const { message, action, ...others } = errorOf(rest.at("error"));
  const toAgent = (await tell("rest first")).at("error");
  assert.deepEqual({ ...errorOf(toAgent), message, action }, { ...others, message, action });
  assert.ok(String(errorOf(toAgent)["message"]).endsWith(`It was: ${String(message)}`));
  assert.ok(String(errorOf(toAgent)["action"]).includes(String(action)));
  assert.equal((await ask("rest first")).text, rest.text);

  const told = await tell("agent first");
  assert.match(told.textAt("error", "action"), /purchase_order_status/);
  const replayed = await ask("agent first");
  assert.equal(replayed.headers["idempotent-replayed"], "true");
  assert.deepEqual(replayed.at("error"), told.at("error"));
});
