/** Stock and cover that a request would bring (C80): of what it orders more, at the order's location. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stockCoverMax } from "../../src/operations/approvals/stock-cover.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin } from "../support/people.ts";
import type { TestResponse } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

async function proposer(server: GoodsServer): Promise<string> {
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/keys`, { name: "Agent", scope: "propose" });
  return made.textAt("data", "apiKey");
}

const shownOf = (server: GoodsServer, asked: TestResponse): Promise<TestResponse> => {
  assert.equal(asked.status, 202, asked.text);
  const id = asked.textAt("data", "approvalRequest", "approvalRequestId");
  return askAdmin(server, "GET", `/shops/${server.shopId}/approval-requests/${id}`);
};

const coverOf = async (server: GoodsServer, asked: TestResponse): Promise<unknown> =>
  (await shownOf(server, asked)).at("data", "approvalRequest", "stockCover");

const dayMs = 86_400_000;

test("an order that would be sent, and what would be raised later, show stock and days of cover without and with them", async () => {
  await using server = await startGoodsServer({ console: true });
  const key = await proposer(server);
  const day = (back: number): string => new Date(server.clock.now() - back * dayMs).toISOString().slice(0, 10);
  const sales = (variantId: string, locationId: string, quantity: number) =>
    Array.from({ length: 84 }, (_, back) => ({ type: "sale", variantId, locationId, date: day(back + 1), quantity }));
  await server.bring([
    { type: "location", locationId: "shop", name: "Shop" },
    { type: "inventoryLevel", variantId: "red", locationId: "shop", onHand: 900 },
    ...sales("red", "warehouse", 2),
    ...sales("red", "shop", 50),
  ]);
  const line = (variantId: string, quantityOrdered: number) => ({ variantId, quantityOrdered, unitCost: 1 });
  const custom = { quantityOrdered: 3, unitCost: 1, productName: "Work" };
  const lineItems = [line("red", 30), line("green", 5), line("red", 10)];
  const made = await server.post(orders, { supplierId: "mill", locationId: "warehouse", lineItems });
  const path = `${orders}/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  assert.equal((await server.post(`${path}/line-items/custom`, custom)).status, 201);
  const move = () => server.post(`${path}/status`, { status: "Sent" }, { key });
  const row = (variantId: string, facts: object) => ({
    variantId,
    productName: `Shirt, ${variantId}`,
    variantName: null,
    sku: null,
    ...facts,
  });
  const asked = await move();
  assert.deepEqual(await coverOf(server, asked), [
    row("red", { onHand: 100, incoming: 0, quantity: 40, daysBefore: 50, daysAfter: 70 }),
    row("green", { onHand: 0, incoming: 0, quantity: 5, daysBefore: null, daysAfter: null }),
  ]);
  const note = await server.patch(path, { noteToSupplier: "Before noon." }, { key });
  assert.deepEqual(await coverOf(server, note), [], "a Draft stays one");
  const id = asked.textAt("data", "approvalRequest", "approvalRequestId");
  const list = await askAdmin(server, "GET", `/shops/${server.shopId}/approval-requests`);
  assert.equal(list.at("data", "approvalRequests", 0, "stockCover"), undefined);
  await askAdmin(server, "POST", `/shops/${server.shopId}/approval-requests/${id}/approve`, {});
  assert.deepEqual(await coverOf(server, asked), [], "it is decided");
  const lineItemId = (await server.get(path)).textAt("data", "purchaseOrder", "lineItems", 0, "poLineItemId");
  const edit = (quantityOrdered: number) =>
    server.patch(`${path}/line-items`, { lines: [{ lineItemId, quantityOrdered }] }, { key });
  assert.deepEqual(await coverOf(server, await edit(50)), [
    row("red", { onHand: 100, incoming: 40, quantity: 20, daysBefore: 70, daysAfter: 80 }),
  ]);
  assert.deepEqual(await coverOf(server, await edit(20)), [], "a fall");
  const added = await server.post(`${path}/line-items`, { lineItems: [line("unheard-of", 1)] }, { key });
  assert.deepEqual(await coverOf(server, added), [
    {
      ...row("unheard-of", { onHand: 0, incoming: 0, quantity: 1, daysBefore: null, daysAfter: null }),
      productName: null,
    },
  ]);
});

test(`at most ${stockCoverMax} variants are shown`, async () => {
  await using server = await startGoodsServer({ console: true });
  const key = await proposer(server);
  const ids = Array.from({ length: stockCoverMax + 1 }, (_, index) => `v${index}`);
  await server.bring(ids.map((variantId) => ({ type: "variant", variantId, productId: "p", productName: variantId })));
  const lineItems = ids.map((variantId) => ({ variantId, quantityOrdered: 1, unitCost: 1 }));
  const made = await server.post(orders, { supplierId: "mill", locationId: "warehouse", lineItems });
  const path = `${orders}/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  const cover = await coverOf(server, await server.post(`${path}/status`, { status: "Sent" }, { key }));
  assert.ok(Array.isArray(cover));
  assert.deepEqual(
    cover.map(({ variantId }) => variantId),
    ids.slice(0, stockCoverMax),
  );
});
