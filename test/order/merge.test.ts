/** Merging two Drafts (C86a). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/base/json.ts";
import {
  customLine,
  type GoodsServer,
  lineA,
  lineB,
  type OrderLine,
  startGoodsServer,
} from "../support/goods-server.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { assertFault, type TestResponse } from "../support/server.ts";

const merge = (
  { shopId, ...server }: GoodsServer,
  into: string,
  options: Parameters<typeof askAdmin>[4] = {},
  query = "",
): Promise<TestResponse> =>
  askAdmin({ ...server, shopId }, "POST", `/shops/${shopId}/purchase-orders/po_1/merge${query}`, { into }, options);

const other = (server: GoodsServer, lineItems: readonly OrderLine[], facts: object = {}): Promise<void> =>
  server.bringOrder("Draft", lineItems, { purchaseOrderId: "po_2", ...facts });

const orderOf = (server: GoodsServer, id: string): Promise<TestResponse> => server.get(`/api/v1/purchase-orders/${id}`);

const linesOf = (answered: TestResponse): readonly JsonObject[] => {
  const lines = answered.at("data", "purchaseOrder", "lineItems");
  assert.ok(lines !== undefined && isJsonArray(lines), answered.text);
  return lines.filter(isJsonObject);
};

const termsOf = ({ variantId, quantityOrdered, unitCost, note, productName }: JsonObject) => [
  variantId,
  quantityOrdered,
  unitCost,
  note,
  productName,
];

test("the lines of a Draft go over to another one as they are, it ends, and both logs say so; lists and events follow", async () => {
  await using server = await startGoodsServer({ console: true });
  const noted = { ...lineB, note: "in red boxes" };
  await server.bringOrder("Draft", [lineA, noted, customLine], { note: "gone" });
  await other(server, [{ ...lineA, unitCost: 3.75 }], { poName: "Stays", tags: ["weekly"] });
  const [ending, staying] = [await orderOf(server, "po_1"), await orderOf(server, "po_2")];
  const numbers = [ending, staying].map((each) => each.textAt("data", "purchaseOrder", "poNumber"));
  const merged = await merge(server, "po_2");
  assert.equal(merged.status, 200, merged.text);
  assert.deepEqual(linesOf(merged).map(termsOf), [...linesOf(staying), ...linesOf(ending)].map(termsOf));
  assert.equal(new Set(linesOf(merged).map((line) => line["poLineItemId"])).size, 4);
  for (const [field, expected] of [
    ["poName", "Stays"],
    ["note", null],
    ["totalValue", 10 * 3.75 + 10 * 4 + 5.5 * 2.5 + 3],
    ["itemCount", 4],
  ] as const)
    assert.equal(merged.at("data", "purchaseOrder", field), expected, field);
  const read = await orderOf(server, "po_2");
  assert.deepEqual(linesOf(read), linesOf(merged));
  assert.equal(read.headers["etag"], merged.headers["etag"]);
  assertFault(await orderOf(server, "po_1"), 404, "NOT_FOUND");
  const log = await server.get("/api/v1/purchase-orders/po_2/log");
  assert.equal(log.at("data", "log", 0, "message"), `Merged ${numbers[0]} into this order: 3 lines added.`);
  assert.equal(log.at("data", "log", 0, "operation"), "purchase_order_merge");
  const changes = await askAdmin(server, "GET", `/shops/${server.shopId}/changes?purchaseOrderId=po_1`);
  assert.equal(changes.at("data", "changes", 0, "message"), `Merged ${numbers[0]} into ${numbers[1]}.`, changes.text);
  const list = await server.get("/api/v1/purchase-orders?variantId=blue");
  assert.deepEqual(
    [list.at("data", "totalCount"), list.at("data", "purchaseOrders", 0, "purchaseOrderId")],
    [1, "po_2"],
    list.text,
  );
  const events = await askAdmin(server, "GET", `/shops/${server.shopId}/events?types=purchase_order.*`);
  const told = events.at("data", "events");
  assert.ok(told !== undefined && isJsonArray(told));
  assert.deepEqual(
    told
      .filter(isJsonObject)
      .map(({ type }) => type)
      .slice(-2),
    ["purchase_order.deleted", "purchase_order.lines_changed"],
  );
});

test("only two Drafts of one supplier, place and currency become one; the refusal names what differs, and changes nothing", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring([{ type: "location", locationId: "shed", name: "Shed" }]);
  await server.bringOrder("Draft", [lineA]);
  const refused = async (path: string, words: RegExp, into = "po_2"): Promise<void> => {
    const before = [await orderOf(server, "po_1"), await orderOf(server, into)];
    const answered = await merge(server, into);
    assertFault(answered, 400, "INVALID_INPUT");
    assert.equal(answered.at("error", "details", 0, "path"), path, answered.text);
    assert.match(answered.textAt("error", "message"), words);
    assert.deepEqual(
      [await orderOf(server, "po_1"), await orderOf(server, into)].map((each) => each.at("data")),
      before.map((each) => each.at("data")),
    );
  };
  await refused("/into", /is no order of the shop/);
  await refused("/into", /is the order itself/, "po_1");
  for (const [facts, words] of [
    [{ supplierId: "other" }, /another supplierId, other instead of mill/],
    [{ supplierId: null }, /another supplierId, none instead of mill/],
    [{ locationId: "shed" }, /another locationId, shed instead of warehouse/],
    [{ currencyCode: "USD" }, /another currencyCode, USD instead of EUR/],
    [{ status: "Sent" }, /is Sent; both/],
  ] as const) {
    await other(server, [lineB], facts);
    await refused("/into", words);
  }
  await other(server, [lineB]);
  await server.bringOrder("Cancelled", [lineA], { previousStatus: "Draft" });
  await refused("/purchaseOrderId", /is Cancelled; both/);
  for (const facts of [
    {
      payments: [
        { paymentId: "pay_1", amount: 1, currencyCode: "EUR", status: "Paid", createdAt: "2026-01-01T00:00:00Z" },
      ],
    },
    { lineItems: [{ ...lineA, quantityReceived: 1 }] },
  ]) {
    await server.bringOrder("Draft", [lineA], facts);
    await refused("/purchaseOrderId", /would be lost/);
  }
});

test("a merge is done once under its key, not at an older version, not dry, and not by a receiver; an order holds 5,000 lines", async () => {
  await using server = await startGoodsServer({ console: true });
  const many = Array.from({ length: 5_000 }, (_, index) => ({ ...lineA, poLineItemId: `l${index}` }));
  await server.bringOrder("Draft", [lineA]);
  await other(server, many);
  const full = await merge(server, "po_2");
  assertFault(full, 400, "INVALID_INPUT");
  assert.match(full.textAt("error", "message"), /5001 lines; the most is 5000/);
  await other(server, [lineB]);
  const version = String((await orderOf(server, "po_1")).headers["etag"]);
  assertFault(
    await merge(server, "po_2", { headers: { "If-Match": `"${Number(version.replaceAll('"', "")) + 1}"` } }),
    412,
    "INVALID_INPUT",
  );
  const receiver = await (await signInAs(server, "receiver")).bearer();
  assertFault(await merge(server, "po_2", { key: receiver }), 403, "FORBIDDEN_SCOPE");
  const dry = await merge(server, "po_2", {}, "?dryRun=true");
  assert.deepEqual([dry.status, linesOf(dry).length], [200, 2], dry.text);
  assert.equal(linesOf(await orderOf(server, "po_2")).length, 1);
  const headers = { "Idempotency-Key": "one", "If-Match": version };
  const merged = await merge(server, "po_2", { headers });
  assert.equal(merged.status, 200, merged.text);
  assert.equal((await merge(server, "po_2", { headers })).text, merged.text);
  assertFault(await merge(server, "po_2"), 404, "NOT_FOUND");
  assert.equal(linesOf(await orderOf(server, "po_2")).length, 2);
});
