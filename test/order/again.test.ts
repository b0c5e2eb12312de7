/** Ordering again at today's terms (C86a). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonObject } from "../../src/base/json.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { assertFault, objectsAt, type TestResponse } from "../support/server.ts";

const again = (server: GoodsServer, orderId = "po_1", options: Parameters<typeof askAdmin>[4] = {}) =>
  askAdmin(server, "POST", `/shops/${server.shopId}/purchase-orders/${orderId}/order-again`, undefined, options);

const newLines = (made: TestResponse) =>
  objectsAt(made, "data", "purchaseOrder", "lineItems").map((line) => [
    line["productName"],
    line["quantityOrdered"],
    line["unitCost"],
    line["unitCostCurrencyCode"],
    line["supplierSku"],
  ]);

test("a received order is ordered again at the terms that its supplier has today; what nobody prices any more costs what it did", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring([
    { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR", paymentTerms: "30 days" },
    { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: 4.75, supplierSku: "R-2" },
    { type: "variant", variantId: "green", productId: "g", productName: "Shirt, green" },
  ]);
  await server.bringOrder(
    "Completed",
    [
      { poLineItemId: "a", variantId: "red", quantityOrdered: 10.5, quantityReceived: 10.5, unitCost: 4 },
      { poLineItemId: "b", variantId: "blue", quantityOrdered: 5, unitCost: 2.5 },
      { poLineItemId: "c", variantId: "CSTM-1", quantityOrdered: 3, unitCost: 1.25, productName: "Pallet" },
      { poLineItemId: "d", variantId: "green", quantityOrdered: 2, unitCost: 7, unitCostCurrencyCode: "USD" },
      { poLineItemId: "e", variantId: "red", quantityOrdered: 1, unitCost: 4 },
    ],
    { currencyCode: "EUR", poName: "Spring", shippingCost: 12, paymentTerms: "at once", orderDate: "2026-01-05" },
  );
  const source = await server.get(server.order());
  const made = await again(server);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(newLines(made), [
    ["Shirt, red", 10.5, 4.75, "EUR", "R-2"],
    // The supplier has no entry; the variant has a cost of its own, in the shop's currency.
    ["Shirt, blue", 5, 1, "EUR", null],
    ["Pallet", 3, 1.25, "EUR", null],
    ["Shirt, green", 2, 7, "USD", null],
    ["Shirt, red", 1, 4.75, "EUR", "R-2"],
  ]);
  assert.deepEqual(made.at("data", "skipped"), []);
  const order = made.at("data", "purchaseOrder");
  assert.ok(isJsonObject(order ?? null) && order !== undefined && isJsonObject(order));
  const { status, supplierId, locationId, currencyCode, paymentTerms, poName, shippingCost, orderDate } = order;
  assert.deepEqual(
    { status, supplierId, locationId, currencyCode, paymentTerms, poName, shippingCost, orderDate },
    {
      status: "Draft",
      supplierId: "mill",
      locationId: "warehouse",
      currencyCode: "EUR",
      paymentTerms: "30 days",
      poName: null,
      shippingCost: null,
      orderDate: null,
    },
  );
  const custom = objectsAt(made, "data", "purchaseOrder", "lineItems")[2];
  assert.deepEqual([custom?.["variantId"]], [`CSTM-${JSON.stringify(custom?.["poLineItemId"]).slice(1, -1)}`]);
  const orderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const read = await server.get(`/api/v1/purchase-orders/${orderId}`);
  const stored = read.at("data", "purchaseOrder");
  assert.ok(stored !== undefined && isJsonObject(stored));
  assert.deepEqual({ ...stored, ...order }, stored);
  assert.equal(read.headers["etag"], made.headers["etag"]);
  const log = await server.get(`/api/v1/purchase-orders/${orderId}/log`);
  const numbers = [made, source].map((each) => each.textAt("data", "purchaseOrder", "poNumber"));
  assert.equal(
    log.at("data", "log", 0, "message"),
    `Created ${numbers[0]} as a Draft with 5 lines: ${numbers[1]} again.`,
  );
  // The order itself stays as it was.
  assert.deepEqual((await server.get(server.order())).at("data"), source.at("data"));
});

test("lines of archived and deleted variants are left out and told; an order of nothing else makes a Draft without lines", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring([
    { type: "variant", variantId: "red", productId: "r", productName: "Shirt, red", isArchived: true },
    { type: "variant", variantId: "blue", productId: "b", productName: "Shirt, blue", status: "deleted" },
    { type: "variant", variantId: "green", productId: "g", productName: "Shirt, green", status: "inactive" },
  ]);
  const gone = ["red", "blue", "nowhere"].map((variantId, index) => ({
    poLineItemId: `gone${index}`,
    variantId,
    quantityOrdered: 1 + index,
    unitCost: 1,
  }));
  await server.bringOrder("Cancelled", [...gone, { poLineItemId: "d", variantId: "green", quantityOrdered: 2 }], {
    previousStatus: "Sent",
  });
  const made = await again(server);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(
    objectsAt(made, "data", "skipped").map(({ lineItem, reason }) => [
      isJsonObject(lineItem ?? null) && lineItem !== undefined && isJsonObject(lineItem) ? lineItem["variantId"] : null,
      reason,
    ]),
    [
      ["red", "archived"],
      ["blue", "deleted"],
      ["nowhere", "deleted"],
    ],
  );
  assert.deepEqual(
    newLines(made).map(([name]) => name),
    ["Shirt, green"],
  );
  assert.deepEqual(
    objectsAt(made, "data", "warnings").map(({ path, reason }) => [path, reason]),
    [
      ["", "no-cost"],
      ["", "not-this-supplier"],
    ],
  );
  const log = await server.get(
    `/api/v1/purchase-orders/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}/log`,
  );
  assert.match(log.textAt("data", "log", 0, "message"), /as a Draft with 1 line: \S+ again without 3 lines of it\.$/);

  await server.bringOrder("Draft", gone);
  const empty = await again(server);
  assert.equal(empty.at("data", "purchaseOrder", "itemCount"), 0, empty.text);
  assert.equal(objectsAt(empty, "data", "skipped").length, 3);
});

test("under one key one order is made, an older version or a dry run makes none; purchasers alone order again", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10 }]);
  const version = String((await server.get(server.order())).headers["etag"]);
  const count = async (): Promise<unknown> => (await server.get("/api/v1/purchase-orders")).at("data", "totalCount");
  const moved = await server.post(server.order("/status"), { status: "On Hold" });
  assert.equal(moved.status, 200, moved.text);
  assertFault(await again(server, "po_1", { headers: { "If-Match": version } }), 412, "INVALID_INPUT");
  assertFault(await again(server, "none"), 404, "NOT_FOUND");
  const dry = await askAdmin(
    server,
    "POST",
    `/shops/${server.shopId}/purchase-orders/po_1/order-again?dryRun=true`,
    undefined,
  );
  assert.deepEqual([dry.status, dry.at("meta", "dryRun")], [200, true], dry.text);
  assert.equal(await count(), 1);
  const headers = { "Idempotency-Key": "again" };
  const made = await again(server, "po_1", { headers });
  assert.equal((await again(server, "po_1", { headers })).text, made.text);
  assert.equal(await count(), 2);
  const receiver = await (await signInAs(server, "receiver")).bearer();
  assertFault(await again(server, "po_1", { key: receiver }), 403, "FORBIDDEN_SCOPE");
  const purchaser = await (await signInAs(server, "purchaser", "Pia")).bearer();
  const hers = await again(server, "po_1", { key: purchaser });
  assert.equal(hers.at("data", "purchaseOrder", "createdBy"), "Pia", hers.text);
});
