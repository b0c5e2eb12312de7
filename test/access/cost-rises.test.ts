/** The limit `unitCostRisePercentMax` of a key (C78) over the API: every way in which a line gets a cost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fxRate } from "../support/goods.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInWith } from "../support/people.ts";
import type { TestResponse } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

async function keyWith(server: GoodsServer, limits: object): Promise<string> {
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/keys`, {
    name: "An agent",
    scope: "write",
    limits: { beyond: "refuse", ...limits },
  });
  assert.equal(made.status, 201, made.text);
  return made.textAt("data", "apiKey");
}

const atMost = (percent: number) => ({ unitCostRisePercentMax: percent });

function refused(answered: TestResponse, asked: number | null, allowed = 10): void {
  assert.equal(answered.status, 403, answered.text);
  assert.deepEqual(answered.at("error", "details"), [{ limit: "unitCostRisePercentMax", allowed, used: null, asked }]);
}

/** A Draft of the mill, by a key without limits. */
async function draft(server: GoodsServer, lineItems: readonly object[], facts: object = {}): Promise<string> {
  const made = await server.post(orders, { supplierId: "mill", locationId: "warehouse", lineItems, ...facts });
  assert.equal(made.status, 201, made.text);
  return made.textAt("data", "purchaseOrder", "purchaseOrderId");
}

const red = (unitCost?: number, more: object = {}) => ({
  variantId: "red",
  quantityOrdered: 2,
  ...(unitCost === undefined ? {} : { unitCost }),
  ...more,
});

const lineOf = async (server: GoodsServer, id: string): Promise<string> =>
  (await server.get(`${orders}/${id}`)).textAt("data", "purchaseOrder", "lineItems", 0, "poLineItemId");

test("a cost may rise by the maximum itself, wherever a line gets one: creates, lines, headers and the move to Sent", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring([{ type: "supplier", supplierId: "dyer", name: "The Dyer", currencyCode: "EUR" }]);
  await server.bring([{ type: "supplierVariant", supplierId: "dyer", variantId: "red", unitCost: 0.5 }]);
  const key = await keyWith(server, atMost(10));
  const create = (unitCost: number) => server.post(orders, { supplierId: "mill", lineItems: [red(unitCost)] }, { key });
  assert.equal((await create(1.1)).status, 201);
  refused(await create(1.1001), 10.01);
  const id = await draft(server, [red(1)], { locationId: "warehouse" });
  const add = (unitCost?: number) => server.post(`${orders}/${id}/line-items`, { lineItems: [red(unitCost)] }, { key });
  assert.equal((await add()).status, 201, "at the supplier's own terms");
  refused(await add(2), 100);
  const lineItemId = await lineOf(server, id);
  const edit = (fields: object, of = id, updateSupplier = false) =>
    server.patch(`${orders}/${of}/line-items`, { lines: [{ lineItemId, ...fields }], updateSupplier }, { key });
  assert.equal((await edit({ unitCost: 1.1 })).status, 200);
  refused(await edit({ unitCost: 1.2 }), 20);
  refused(await edit({ unitCostCurrencyCode: "USD" }), null);
  assert.equal((await edit({ quantityOrdered: 50 })).status, 200);
  const header = (facts: object) => server.patch(`${orders}/${id}`, facts, { key });
  assert.equal((await header({ noteToSupplier: "Before noon." })).status, 200);
  refused(await header({ supplierId: "dyer" }), 120);
  const dear = await draft(server, [red(1.5)]);
  assert.equal((await server.patch(`${orders}/${dear}`, { noteToSupplier: "x" }, { key })).status, 200);
  refused(await server.post(`${orders}/${dear}/status`, { status: "Sent" }, { key }), 50);
});

test("the measure is the supplier's entry, else the last cost that was paid, else the catalogue's; where there is none, any cost is beyond", async () => {
  await using server = await startGoodsServer({ console: true });
  const key = await keyWith(server, atMost(10));
  const of = (variantId: string, unitCost: number, facts: object = {}) =>
    server.post(orders, { supplierId: "mill", lineItems: [{ ...red(unitCost), variantId }], ...facts }, { key });
  assert.equal((await of("blue", 1.1)).status, 201, "the catalogue's");
  refused(await of("blue", 2), 100);
  const bought = await draft(server, [{ ...red(4), variantId: "blue" }], { locationId: "warehouse" });
  const step = async (below: string, body: object): Promise<void> => {
    const done = await server.post(`${orders}/${bought}/${below}`, body);
    assert.equal(done.status, 200, done.text);
  };
  await step("status", { status: "Sent" });
  await step("confirm", { confirmAll: true });
  await step("quick-complete", {});
  const paid = await of("blue", 4.4);
  assert.equal(paid.status, 201, paid.text);
  refused(await of("blue", 5), 25);
  refused(await of("red", 1.2, { supplierId: undefined }), 20);
  refused(await of("unheard-of", 0.01), null);
  assert.equal((await of("unheard-of", 0)).status, 201);
  const id = await draft(server, []);
  const custom = { quantityOrdered: 1, productName: "Work" };
  refused(await server.post(`${orders}/${id}/line-items/custom`, { ...custom, unitCost: 1 }, { key }), null);
  assert.equal(
    (await server.post(`${orders}/${id}/line-items/custom`, { ...custom, unitCost: 0 }, { key })).status,
    201,
  );
});

test("who has signed in with the key is under the limit too: with an order made again, and with merged drafts", async () => {
  await using server = await startGoodsServer({ console: true });
  const person = await signInWith(server, { apiKey: await keyWith(server, atMost(10)), name: "Somebody" });
  const as = { key: await person.bearer() };
  const dear = await draft(server, [], { locationId: "warehouse" });
  const work = { quantityOrdered: 1, productName: "Work", unitCost: 1 };
  assert.equal((await server.post(`${orders}/${dear}/line-items/custom`, work)).status, 201);
  const into = await draft(server, [], { locationId: "warehouse" });
  const path = `/shops/${server.shopId}/purchase-orders/${dear}`;
  refused(await askAdmin(server, "POST", `${path}/order-again`, {}, as), null);
  refused(await askAdmin(server, "POST", `${path}/merge`, { into }, as), null);
});

test("who has signed in with the key raises nothing that costs are held against: price lists, the catalogue's cost, a supplier's currency", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring([
    { type: "supplier", supplierId: "dyer", name: "The Dyer", currencyCode: "EUR" },
    { type: "supplierVariant", supplierId: "dyer", variantId: "red", unitCost: 0.5 },
  ]);
  await server.changeShop({ fxRates: { USD: fxRate(0.5), GBP: fxRate(2) } });
  const apiKey = await keyWith(server, { ...atMost(10), beyond: "ask" });
  const somebody = { key: await (await signInWith(server, { apiKey, name: "Somebody" })).bearer() };
  const write = (method: string, path: string, body: object = {}) =>
    askAdmin(server, method, `/shops/${server.shopId}${path}`, body, somebody);
  const rises = async (asked: number | null, method: string, path: string, body: object = {}): Promise<void> => {
    refused(await write(method, path, body), asked, 0);
    refused(await write(method, `${path}?dryRun=true`, body), asked, 0);
  };
  const done = async (method: string, path: string, body: object = {}): Promise<void> => {
    const answered = await write(method, path, body);
    assert.ok(answered.status < 300, answered.text);
  };
  const mill = (variantId: string) => `/suppliers/mill/variants/${variantId}`;
  await rises(9_900, "PUT", mill("red"), { unitCost: 100 });
  await rises(1, "PUT", mill("red"), { unitCost: 1.01 });
  await rises(100, "PUT", mill("red"), { unitCost: 1, unitCostCurrencyCode: "GBP" });
  await rises(50, "PUT", mill("blue"), { unitCost: 1.5, unitCostCurrencyCode: "EUR" });
  const rows = (...costs: readonly (readonly [string, number])[]) => ({
    rows: costs.map(([code, unitCost]) => ({ code, terms: { unitCost } })),
  });
  await rises(25, "PATCH", "/suppliers/mill/variants", rows(["red", 0.9], ["blue", 1.25], ["green", 1.2]));
  await rises(100, "DELETE", "/suppliers/dyer/variants/red");
  await rises(100, "PATCH", "/suppliers/dyer", { currencyCode: "GBP", name: "Dyer & Son" });
  await rises(1, "PATCH", "/variants/blue", { unitCost: 1.01 });
  await rises(null, "POST", "/variants", { productName: "New", unitCost: 0.01 });
  // What says nothing of a cost, or lowers it, goes on.
  await done("PATCH", "/suppliers/dyer", { currencyCode: "USD", name: "Dyer & Son" });
  await done("POST", "/variants", { variantId: "new", productName: "New" });
  await rises(null, "PATCH", "/variants/new", { unitCost: 1 });
  await done("PATCH", "/variants/blue", { unitCost: 0.9, barcode: "8719001002013" });
  await done("PUT", mill("red"), { unitCost: 1, unitCostCurrencyCode: "EUR", moq: 5 });
  await done("PATCH", "/suppliers/mill/variants", rows(["red", 0.9], ["green", 1]));
  const order = (unitCost: number) =>
    server.post(orders, { supplierId: "mill", lineItems: [red(unitCost)] }, { key: apiKey });
  assert.equal((await order(1)).status, 202, "the entry that was lowered is the measure");
  assert.equal((await order(0.99)).status, 201);
  const another = await signInWith(server, { apiKey: await keyWith(server, { orderValueMax: 5 }), name: "Another" });
  const key = await another.bearer();
  const path = `/shops/${server.shopId}${mill("red")}`;
  assert.equal((await askAdmin(server, "PUT", path, { unitCost: 100 }, { key })).status, 200, "it has no such limit");
});

test("other currencies are compared at the rates, and beyond the limit without one", async () => {
  await using server = await startGoodsServer({ console: true });
  const key = await keyWith(server, atMost(10));
  const inDollars = (unitCost: number) =>
    server.post(orders, { supplierId: "mill", lineItems: [red(unitCost, { unitCostCurrencyCode: "USD" })] }, { key });
  refused(await inDollars(0.01), null);
  await server.changeShop({ fxRates: { USD: fxRate(0.5) } });
  assert.equal((await inDollars(2.2)).status, 201);
  refused(await inDollars(2.3), 15);
});

test("beyond a limit that asks the write waits, a dry run says why, and the list of keys shows the limit", async () => {
  await using server = await startGoodsServer({ console: true });
  const key = await keyWith(server, { ...atMost(10), beyond: "ask" });
  const id = await draft(server, [red(1.5)]);
  const cause = { cause: "limit", limit: "unitCostRisePercentMax", allowed: 10, used: null, asked: 50 };
  const move = (query = "") => server.post(`${orders}/${id}/status${query}`, { status: "Sent" }, { key });
  assert.deepEqual((await move("?dryRun=true")).at("data", "approvalCauses"), [cause]);
  const asked = await move();
  assert.equal(asked.status, 202, asked.text);
  assert.deepEqual(asked.at("data", "approvalRequest", "causes"), [cause]);
  const path = `/shops/${server.shopId}/approval-requests`;
  const requestId = asked.textAt("data", "approvalRequest", "approvalRequestId");
  const approved = await askAdmin(server, "POST", `${path}/${requestId}/approve`, {});
  assert.equal(approved.at("data", "approvalRequest", "status"), "approved", approved.text);
  const keys = (await askAdmin(server, "GET", `/shops/${server.shopId}/keys`)).at("data", "keys");
  assert.ok(Array.isArray(keys));
  assert.ok(keys.some(({ limits }) => limits?.unitCostRisePercentMax === 10));
});

test("no sequence of edits, at once, carries a cost or the price list further than the maximum", async () => {
  const step = fc.record({
    percent: fc.integer({ min: 90, max: 130 }),
    line: fc.nat(1),
    updateSupplier: fc.boolean(),
  });
  await using server = await startGoodsServer({ console: true });
  const key = await keyWith(server, atMost(10));
  const entry = async (): Promise<number> => {
    const made = await server.post(orders, { supplierId: "mill", lineItems: [red()] });
    return Number(made.at("data", "purchaseOrder", "lineItems", 0, "unitCost"));
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), async (rounds) => {
      const id = await draft(server, [red(1), red(1)]);
      let known = await entry();
      for (const round of rounds) {
        const lines = (await server.get(`${orders}/${id}`)).at("data", "purchaseOrder", "lineItems");
        assert.ok(Array.isArray(lines));
        const at = (index: number): number => lines[index]?.unitCost ?? 0;
        await Promise.all(
          round.map(({ percent, line: index, updateSupplier }) =>
            server.patch(
              `${orders}/${id}/line-items`,
              {
                lines: [
                  { lineItemId: lines[index].poLineItemId, unitCost: Number(((at(index) * percent) / 100).toFixed(4)) },
                ],
                updateSupplier,
              },
              { key },
            ),
          ),
        );
        const now = await entry();
        assert.ok(now <= known, `the price list rose from ${known} to ${now}`);
        known = now;
      }
      const after = (await server.get(`${orders}/${id}`)).at("data", "purchaseOrder", "lineItems");
      assert.ok(Array.isArray(after));
      for (const { unitCost } of after) assert.ok(unitCost <= 1.1, `${unitCost}`);
      await server.bring([
        { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: 1, unitCostCurrencyCode: "EUR" },
      ]);
    }),
    { numRuns: 12 },
  );
});
