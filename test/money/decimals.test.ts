/** Numbers as clients send them that add doubles: each door takes them as the decimals that they stand for (C14). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GoodsServer, lineA, startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { askAdmin } from "../support/people.ts";
import type { TestResponse } from "../support/server.ts";
import { makeLink, newestProposal, propose } from "../support/peers/supplier-link.ts";

/** 1.14 as a client gets it that adds 1.1 and 0.04. */
const sum = 1.1 + 0.04;
assert.notEqual(sum, 1.14);
let tenTenths = 0;
for (let added = 0; added < 10; added += 1) tenTenths += 0.1;
assert.notEqual(tenTenths, 1);

const start = (): Promise<GoodsServer & AsyncDisposable> => startGoodsServer({ console: true });

const lineOf = (answer: TestResponse, field: string, index = 0): unknown =>
  answer.at("data", "purchaseOrder", "lineItems", index, field);

test("create, lines, header, confirm, receive and unreceive take sums of doubles as the decimals that they stand for", async () => {
  await using server = await start();
  const entry = { variantId: "red", quantityOrdered: sum, unitCost: sum, moq: sum, packSize: tenTenths };
  const created = await server.post("/api/v1/purchase-orders", {
    supplierId: "mill",
    locationId: "warehouse",
    shippingCost: sum,
    lineItems: [entry],
  });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.at("data", "purchaseOrder", "shippingCost"), 1.14);
  for (const [field, value] of [
    ["quantityOrdered", 1.14],
    ["unitCost", 1.14],
    ["moq", 1.14],
    ["packSize", 1],
  ] as const)
    assert.equal(lineOf(created, field), value, field);
  const path = `/api/v1/purchase-orders/${created.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  const lineItemId = String(lineOf(created, "poLineItemId"));
  const write = async (method: "post" | "patch", below: string, body: object): Promise<TestResponse> => {
    const answer = await server[method](`${path}${below}`, body);
    assert.ok(answer.status < 300, `${below}: ${answer.text}`);
    return answer;
  };
  const header = await write("patch", "", { taxAmount: 0.1 + 0.2, discountAmount: 3 * 1.1, fxRateOverride: 1.1 * 1.1 });
  assert.deepEqual(
    ["taxAmount", "discountAmount", "fxRateOverride"].map((field) => header.at("data", "purchaseOrder", field)),
    [0.3, 3.3, 1.21],
  );
  const edited = await write("patch", "/line-items", { lines: [{ lineItemId, quantityOrdered: 0.7 + 0.1 + 1.1 }] });
  assert.equal(lineOf(edited, "quantityOrdered"), 1.9);
  const added = await write("post", "/line-items", { lineItems: [{ variantId: "blue", quantityOrdered: 0.1 + 0.2 }] });
  assert.equal(added.at("data", "lineItems", 0, "quantityOrdered"), 0.3);
  const custom = await write("post", "/line-items/custom", {
    productName: "Pallet",
    quantityOrdered: 1,
    unitCost: sum,
  });
  assert.equal(custom.at("data", "lineItems", 0, "unitCost"), 1.14);
  await write("post", "/status", { status: "Sent" });
  const confirmed = await write("post", "/confirm", { lines: [{ lineItemId, quantityConfirmed: sum }] });
  assert.equal(lineOf(confirmed, "quantityConfirmed"), 1.14);
  await write("post", "/confirm", {
    lines: [1, 2].map((index) => ({
      lineItemId: String(lineOf(custom, "poLineItemId", index)),
      quantityConfirmed: 0.1,
    })),
  });
  await write("post", "/status", { status: "In Progress" });
  const received = await write("post", "/receive", {
    lines: [{ lineItemId, quantityReceived: 0.1 + 0.2, quantityRejected: 0.7 + 0.1 }],
  });
  assert.deepEqual([lineOf(received, "quantityReceived"), lineOf(received, "quantityRejected")], [0.3, 0.8]);
  const back = await write("post", "/unreceive", { lines: [{ lineItemId, quantity: 0.1 + 0.2 }] });
  assert.equal(lineOf(back, "quantityReceived"), 0);
});

test("what is farther off is refused as before, with the number of decimals", async () => {
  await using server = await start();
  const bodies = [
    [{ variantId: "red", quantityOrdered: 1.0001 }, /3 decimals/],
    [{ variantId: "red", quantityOrdered: 1.001 + 2e-9 }, /3 decimals/],
    [{ variantId: "red", quantityOrdered: 1, unitCost: 1.00005 }, /4 decimals/],
    [{ variantId: "red", quantityOrdered: 0.1 + 0.2 - 0.3 }, /decimals/],
    [{ variantId: "red", quantityOrdered: 1, packSize: 0.999 }, /packSize/],
  ] as const;
  for (const [entry, message] of bodies) {
    const refused = await server.post("/api/v1/purchase-orders", { supplierId: "mill", lineItems: [entry] });
    assert.equal(refused.status, 400, JSON.stringify(entry));
    assert.match(refused.textAt("error", "message"), message);
  }
});

test("the operator's settings and imported records take them likewise", async () => {
  await using server = await start();
  const path = `/shops/${server.shopId}`;
  const changed = await askAdmin(server, "PUT", path, {
    settings: { fxRates: { USD: 1.1 * 1.1 }, rateLimit: { refillPerSecond: 0.1 + 0.2 } },
  });
  assert.equal(changed.at("data", "shop", "settings", "fxRates", "USD"), 1.21, changed.text);
  assert.equal(changed.at("data", "shop", "settings", "rateLimit", "refillPerSecond"), 0.3);
  await server.bring([
    { type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: -(0.1 + 0.2) },
    { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: sum, packSize: tenTenths },
  ]);
  await server.bringOrder("Sent", [{ ...lineA, quantityOrdered: 0.1 + 0.2, unitCost: sum }]);
  const order = await server.get(server.order());
  assert.deepEqual([lineOf(order, "quantityOrdered"), lineOf(order, "unitCost")], [0.3, 1.14]);
  const exported = await askAdmin(server, "GET", `${path}/export`);
  const records = exported.text.split("\n").filter((line) => line !== "");
  assert.ok(
    records.some((line) => /"inventoryLevel".*"red".*"onHand":-0\.3\b/.test(line)),
    exported.text,
  );
  assert.ok(
    records.some((line) => /"supplierVariant".*"unitCost":1\.14\b.*"packSize":1\b/.test(line)),
    exported.text,
  );
});

test("an agent's tools and a supplier's answer take them likewise", async () => {
  await using server = await start();
  await using agent = await connectAgent(server);
  const made = await agent.callWhole("purchase_order_create", {
    supplierId: "mill",
    lineItems: [{ variantId: "red", quantityOrdered: 0.1 + 0.2, unitCost: sum }],
  });
  assert.ok(!made.isError, made.text);
  assert.deepEqual(
    ["quantityOrdered", "unitCost"].map((field) => made.at("purchaseOrder", "lineItems", 0, field)),
    [0.3, 1.14],
  );
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  const proposed = await propose(server, link, { lines: [{ lineItemId: "a", quantityConfirmed: sum }] });
  assert.ok(proposed.status < 300, proposed.text);
  const newest = await newestProposal(server);
  assert.equal(newest.at("data", "proposals", 0, "lines", 0, "quantityConfirmed"), 1.14, newest.text);
});
