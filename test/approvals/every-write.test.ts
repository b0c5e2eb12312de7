/**
 * Every write of the registry, on the demo shop, by its example, as an agent may be held to it: proposed and approved
 * (C77, C80), and beyond limits that refuse (C78). Dry runs are in dry-run.test.ts.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { demoRecords } from "../../src/demo/records.ts";
import { demoShop } from "../../src/demo/shop.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { bindingOf } from "../../src/http/routes.ts";
import { isRestOperation } from "../../src/requests/operation.ts";
import { exampleRequest } from "../support/openapi/requests.ts";
import { operations } from "../../src/operations/registry.ts";
import type { PerformDependencies } from "../../src/requests/perform.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { askAdmin } from "../support/people.ts";
import { comparable, noEffectIsPending, rowsOf } from "./rows.ts";
import { until } from "../support/until.ts";

const writes = operations.filter(({ scope, aboutApprovals }) => scope === "write" && aboutApprovals !== true);

/** Writes of which the example changes nothing, since nothing has failed in the demo shop. */
const changingNothing = ["purchase_order_storefront_sync_reset"];

/** The demo shop, with an agent whose key has these rights. */
async function demoWith(facts: object) {
  let startWork = (): unknown => assert.fail("the server has no outbox");
  const perform = ({ outbox }: PerformDependencies): object => {
    startWork = () => outbox.settle(server.shopId, [], 0);
    return {};
  };
  const server = await startGoodsServer({ shop: demoShop, perform, console: true });
  await server.bring([...demoRecords(server.clock.now())]);
  await startWork();
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/keys`, { name: "Agent", ...facts });
  const key = made.textAt("data", "apiKey");
  const agent = await connectAgent(server, { key, address: "/mcp?schemas=1" });
  // From then on the client holds each answer against its schema.
  await agent.client.listTools();
  return {
    server,
    agent,
    key,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Arguments of a call that is no dry run. */
const argumentsOf = (operation: (typeof writes)[number]): object => ({
  ...exampleOf(operation),
  ...(operation.dryByDefault === true ? { dryRun: false } : {}),
});

test("every write can be proposed: it changes nothing, and once approved it does what was shown, in the agent's name", async () => {
  await using demo = await demoWith({ scope: "propose" });
  const { server, agent, key } = demo;
  const asked = /^(?:approval_request|event|delivery)$/;
  const rest = async (): Promise<object> =>
    Object.fromEntries(Object.entries(await rowsOf(server)).filter(([table]) => !asked.test(table)));
  for (const operation of writes) {
    const { name } = operation;
    await until("all follow-on work is done", () => noEffectIsPending(server));
    const before = await rest();
    const proposed = await agent.call(name, argumentsOf(operation));
    assert.equal(proposed.isError, false, `${name}: ${proposed.text}`);
    const id = proposed.textAt("approvalRequest", "approvalRequestId");
    assert.deepEqual(proposed.at("approvalRequest", "causes", 0), { cause: "scope" }, name);
    assert.ok(isDeepStrictEqual(await rest(), before), `${name} has changed rows`);
    if (isRestOperation(operation)) {
      const { target, body } = exampleRequest(bindingOf(operation));
      const overRest = await server.request(operation.route.method, target, { body, key });
      assert.equal(overRest.status, 202, `${name}: ${overRest.text}`);
    }
    const path = `/shops/${server.shopId}/approval-requests/${id}`;
    const shown = await askAdmin(server, "GET", path);
    const approved = await askAdmin(server, "POST", `${path}/approve`);
    assert.equal(approved.at("data", "approvalRequest", "status"), "approved", `${name}: ${approved.text}`);
    assert.equal(!changingNothing.includes(name), !isDeepStrictEqual(await rest(), before), name);
    assert.deepEqual(
      comparable(approved.at("data", "approvalRequest", "preview")),
      comparable(shown.at("data", "approvalRequest", "preview")),
    );
    const became = await agent.call("approval_request_get", { approvalRequestId: id });
    assert.equal(became.at("approvalRequest", "status"), "approved", name);
  }
  const log = await askAdmin(server, "GET", `/shops/${server.shopId}/changes?actorType=agent&limit=50`);
  const rows = log.at("data", "changes");
  assert.ok(Array.isArray(rows), log.text);
  const ofOrders = writes.filter(({ isProposed }) => isProposed !== true);
  assert.ok(rows.length >= ofOrders.length - changingNothing.length, String(rows.length));
  for (const row of rows) assert.equal(row.approvedBy?.name, "operator", JSON.stringify(row));
});

/** Limits, and writes of which the example is beyond them. */
const tight = [
  {
    limits: { orderValueMax: 0, supplierIds: ["nobody"], locationIds: ["nowhere"] },
    beyond: ["purchase_order_create", "purchase_order_status"],
  },
  { limits: { unitCostRisePercentMax: 0 }, beyond: ["purchase_order_line_item_add_custom"] },
];

for (const { limits, beyond } of tight)
  test(`beyond ${Object.keys(limits).join()} that refuse, a write changes nothing and says so; its documents have named that`, async () => {
    await using demo = await demoWith({ scope: "write", limits: { ...limits, beyond: "refuse" } });
    const { server, agent } = demo;
    const refused: string[] = [];
    for (const operation of writes) {
      const { name, faults } = operation;
      await until("all follow-on work is done", () => noEffectIsPending(server));
      const before = await rowsOf(server);
      const answered = await agent.call(name, argumentsOf(operation));
      if (!answered.isError) continue;
      assert.equal(answered.at("error", "reason"), "LIMIT_EXCEEDED", `${name}: ${answered.text}`);
      assert.ok(faults.includes("LIMIT_EXCEEDED"), name);
      assert.ok(isDeepStrictEqual(await rowsOf(server), before), `${name} has changed rows`);
      refused.push(name);
    }
    for (const name of beyond) assert.ok(refused.includes(name), refused.join());
  });
