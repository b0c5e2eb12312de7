/**
 * Dry runs (C81): every write of the registry, on the demo shop, by its example. The dry run changes no row, and then the write says
 * what the dry run has said.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { demoRecords } from "../../src/demo/records.ts";
import { demoShop } from "../../src/demo/shop.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { operations } from "../../src/operations/registry.ts";
import type { PerformDependencies } from "../../src/requests/perform.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { comparable, noEffectIsPending, rowsOf } from "./rows.ts";
import type { TestResponse } from "../support/server.ts";
import { until } from "../support/until.ts";

const writes = operations.filter(({ scope, aboutApprovals }) => scope === "write" && aboutApprovals !== true);

test("every write can be run dry: it changes no row, and the write then says the same", async () => {
  let startWork = (): unknown => assert.fail("the server has no outbox");
  const perform = ({ outbox }: PerformDependencies): object => {
    startWork = () => outbox.settle(server.shopId, [], 0);
    return {};
  };
  await using server = await startGoodsServer({ shop: demoShop, perform });
  await server.bring([...demoRecords(server.clock.now())]);
  await startWork();
  await using agent = await connectAgent(server);
  const changingNothing: string[] = [];
  for (const operation of writes) {
    const { name, dryByDefault } = operation;
    await until("all follow-on work is done", () => noEffectIsPending(server));
    const before = await rowsOf(server);
    const dry = await agent.callWhole(name, { ...exampleOf(operation), dryRun: true });
    assert.ok(isDeepStrictEqual(await rowsOf(server), before), `${name} has changed rows`);
    assert.equal(dry.isError, false, `${name}: ${dry.text}`);
    assert.equal(dry.at("dryRun"), true, name);
    const really = dryByDefault === true ? { dryRun: false } : {};
    const done = await agent.callWhole(name, { ...exampleOf(operation), ...really });
    assert.equal(done.isError, false, `${name}: ${done.text}`);
    if (isDeepStrictEqual(await rowsOf(server), before)) changingNothing.push(name);
    if (operation.isProposed === true) {
      assert.deepEqual(dry.at("approvalCauses"), done.at("approvalRequest", "causes"), name);
      assert.deepEqual(comparable(dry.at("changes")), comparable(done.at("approvalRequest", "preview", "changes")));
    } else assert.deepEqual(comparable(dry.at()), comparable(done.at()), name);
  }
  // The sandbox of this test refuses nothing, so there is no failed push to forget.
  assert.deepEqual(changingNothing, ["purchase_order_storefront_sync_reset"]);
});

const orders = "/api/v1/purchase-orders";
const key = { headers: { "Idempotency-Key": "k" } };

test("a dry run of a create is 200 with the order and nothing stored under the key; the create is 201", async () => {
  await using server = await startGoodsServer();
  const input = { supplierId: "mill", lineItems: [{ variantId: "red", quantityOrdered: 3 }] };
  const dry = await server.post(`${orders}?dryRun=true`, input, key);
  assert.equal(dry.status, 200);
  assert.equal(dry.at("meta", "dryRun"), true);
  assert.deepEqual([dry.headers["etag"], dry.headers["location"]], [undefined, undefined]);
  assert.equal(dry.at("data", "purchaseOrder", "lineItems", 0, "quantityOrdered"), 3);
  assert.equal((await server.get(orders)).at("data", "totalCount"), 0);
  const made = await server.post(orders, input, key);
  assert.equal(made.status, 201);
  assert.equal(made.at("data", "purchaseOrder", "poNumber"), dry.at("data", "purchaseOrder", "poNumber"));
  const lines = `${orders}/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}/line-items`;
  for (const [target, body] of [
    [lines, { lineItems: [{ variantId: "blue", quantityOrdered: 1 }] }],
    [`${lines}/custom`, { productName: "Pallet", quantityOrdered: 1 }],
  ] as const)
    assert.equal((await server.post(`${target}?dryRun=true`, body)).status, 200, target);
});

test("a dry run takes a token, has a marked row in the audit log, and is refused like the write", async () => {
  await using server = await startGoodsServer({ shop: { rateLimit: { capacity: 20, refillPerSecond: 0.01 } } });
  await server.bringOrder("Sent", [lineA]);
  const left = ({ headers }: TestResponse): number => Number(/r=(\d+)/.exec(String(headers["ratelimit"]))?.[1]);
  const [first, second] = [
    await server.post(`${server.order("/status")}?dryRun=true`, { status: "Cancelled" }),
    await server.post(`${server.order("/complete")}?dryRun=true`, {}),
  ];
  assert.equal(first.status, 200);
  assert.equal(second.status, 400);
  assert.ok(left(second) < left(first));
  const readOnly = await server.post(`${server.order("/complete")}?dryRun=true`, {}, { key: server.readKey });
  assert.equal(readOnly.at("error", "code"), "FORBIDDEN_SCOPE");
  for (const [query, message] of [
    ["dryRun=maybe", "must be true or false"],
    ["dryRun=true&dryRun=true", "given more than once"],
  ]) {
    const bad = await server.post(`${server.order("/status")}?${query}`, { status: "Cancelled" });
    assert.deepEqual(bad.at("error", "details", 0), { path: "/dryRun", message });
  }
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "status"), "Sent");
  const rows = await server.audit();
  const details = rows
    .filter(({ detail }) => detail === '{"dryRun":true}')
    .map(({ tag, status }) => `${tag} ${status}`);
  assert.deepEqual(details.toSorted(), [
    "rest:purchase_order_complete 400",
    "rest:purchase_order_complete 403",
    "rest:purchase_order_status 200",
    "rest:purchase_order_status 400",
  ]);
});

test("a dry run asks the storefront and writes nothing there; it says what the write would", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10 }]);
  const before = await server.onHand("red");
  const dry = await server.post(`${server.order("/quick-complete")}?dryRun=true`, {});
  assert.equal(dry.at("data", "confirmation", "status"), "verified", dry.text);
  assert.deepEqual(dry.at("meta", "storefrontWrites", "onHand"), [
    { variantId: "red", locationId: "warehouse", quantity: 10 },
  ]);
  assert.deepEqual(dry.at("meta", "storefrontWrites", "unitCosts"), [{ variantId: "red", unitCost: 4 }]);
  assert.equal(await server.onHand("red"), before);
  assert.equal(await server.calls("changeOnHand"), 0);
  await server.sandbox.patchVariant("red", { status: "inactive" });
  const refused = await server.post(`${server.order("/quick-complete")}?dryRun=true`, {});
  assert.equal(refused.at("error", "reason") ?? refused.at("error", "code"), "INVENTORY_GUARD_ISSUES");
  const resolutions = [{ itemId: "a", action: "activate" }];
  const resolved = await server.post(`${server.order("/quick-complete")}?dryRun=true`, { resolutions });
  assert.deepEqual(resolved.at("meta", "storefrontWrites", "activate"), ["red"]);
  assert.equal((await server.sandbox.checkVariants(["red"]))[0], "inactive");
});
