/** Orders as a caller makes, edits, moves and deletes them (spec "Purchase orders: writes", C22, C23, C30, C33–C35, C37). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { holdCalls, type OrderLine, startGoodsServer } from "../support/goods-server.ts";
import type { TestResponse, TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

const entriesOf = (value: Json | undefined): readonly Json[] => {
  assert.ok(Array.isArray(value));
  return value;
};

async function created(server: TestServer, body: object = {}): Promise<string> {
  const answer = await server.post(orders, body);
  assert.equal(answer.status, 201, answer.text);
  return `${orders}/${answer.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
}

const numberOf = (answer: TestResponse): string => answer.textAt("data", "purchaseOrder", "poNumber");
const header = (answer: TestResponse, field: string): Json | undefined => answer.at("data", "purchaseOrder", field);

const ordered: OrderLine = { poLineItemId: "a", variantId: "red", quantityOrdered: 10, unitCost: 4 };

test("an empty body makes an empty draft with the first number, and says where it is", async () => {
  await using server = await startGoodsServer();
  const answer = await server.post(orders);
  assert.equal(answer.status, 201);
  assert.equal(header(answer, "poNumber"), "PO-1001");
  assert.equal(header(answer, "status"), "Draft");
  assert.equal(header(answer, "previousStatus"), "Draft");
  assert.equal(header(answer, "currencyCode"), "EUR");
  assert.equal(header(answer, "createdBy"), "the write key");
  assert.deepEqual(header(answer, "lineItems"), []);
  assert.equal(answer.headers.location, `${orders}/${answer.textAt("data", "purchaseOrder", "purchaseOrderId")}`);
  assert.equal(answer.headers.etag, '"1"');
  const read = await server.get(answer.headers.location);
  assert.equal(read.status, 200);
  assert.equal(header(read, "version"), 1);
});

test("a new order takes its supplier's currency, and its lines take the order's currency and the catalogue's names", async () => {
  await using server = await startGoodsServer({ shop: { currencyCode: "USD" } });
  const answer = await server.post(orders, {
    poName: "Spring",
    supplierId: "mill",
    locationId: "warehouse",
    lineItems: [
      { variantId: "red", quantityOrdered: 3, unitCost: 19.99 },
      { variantId: "from-elsewhere", quantityOrdered: 0.5 },
    ],
  });
  assert.equal(answer.status, 201);
  assert.equal(header(answer, "currencyCode"), "EUR");
  assert.equal(header(answer, "supplierName"), "The Mill");
  assert.equal(header(answer, "locationName"), "Warehouse");
  assert.equal(header(answer, "totalValue"), 59.97);
  assert.equal(header(answer, "itemCount"), 2);
  const [known, unknown] = entriesOf(header(answer, "lineItems"));
  assert.ok(typeof known === "object" && typeof unknown === "object");
  assert.equal(answer.at("data", "purchaseOrder", "lineItems", 0, "productName"), "Shirt, red");
  assert.equal(answer.at("data", "purchaseOrder", "lineItems", 0, "unitCostCurrencyCode"), "EUR");
  assert.equal(answer.at("data", "purchaseOrder", "lineItems", 1, "productName"), null);
  assert.equal(answer.at("data", "purchaseOrder", "lineItems", 1, "unitCost"), 0);
});

test("a line keeps the name it was ordered under; the supplier's name is today's", async () => {
  await using server = await startGoodsServer();
  const path = await created(server, { supplierId: "mill", lineItems: [{ variantId: "red", quantityOrdered: 1 }] });
  await server.bring([
    { type: "supplier", supplierId: "mill", name: "The New Mill" },
    { type: "variant", variantId: "red", productId: "p", productName: "Renamed" },
  ]);
  const read = await server.get(path);
  assert.equal(header(read, "supplierName"), "The New Mill");
  assert.equal(read.at("data", "purchaseOrder", "lineItems", 0, "productName"), "Shirt, red");
});

test("numbers follow each other without a gap or a double, whatever is refused or made at once", async () => {
  await using server = await startGoodsServer();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      server.post(orders, index % 2 === 0 ? {} : { lineItems: [{ variantId: "CSTM-1", quantityOrdered: 1 }] }),
    ),
  );
  const made = answers.filter((answer) => answer.status === 201);
  assert.equal(made.length, 20);
  assert.deepEqual(
    made.map(numberOf).sort(),
    Array.from({ length: 20 }, (_, index) => `PO-${1001 + index}`),
  );
  const path = await created(server);
  await server.delete(path);
  assert.equal(numberOf(await server.post(orders)), "PO-1022", "a deleted order's number is not used again");
});

test("numbers that are taken already are passed over", async () => {
  await using server = await startGoodsServer();
  await server.bring(
    Array.from({ length: 120 }, (_, index) => ({
      type: "purchaseOrder",
      purchaseOrderId: `old-${index}`,
      poNumber: `PO-${1001 + index}`,
      lineItems: [],
    })).filter((record) => record.poNumber !== "PO-1003"),
  );
  // An import moves the counter behind its numbers; a counter that lags does no harm either.
  await server.engine.write(server.shopId, (tx) =>
    tx.batch([{ sql: "update shop set next_po_number = 1001 where shop_id = ?", params: [server.shopId] }]),
  );
  assert.equal(numberOf(await server.post(orders)), "PO-1003");
  assert.equal(numberOf(await server.post(orders)), "PO-1121");
  assert.equal(numberOf(await server.post(orders)), "PO-1122");
});

test("a header update changes what is sent, clears what is null, and logs exactly that", async () => {
  await using server = await startGoodsServer();
  const path = await created(server, { poName: "Old", note: "keep", tags: ["x"] });
  const body = { poName: "New", tags: null, shippingCost: 12.5, billingAddress: { city: "Ghent", countryCode: "BE" } };
  const answer = await server.patch(path, body);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(header(answer, "poName"), "New");
  assert.equal(header(answer, "note"), "keep");
  assert.deepEqual(header(answer, "tags"), []);
  assert.equal(answer.at("data", "purchaseOrder", "billingAddress", "city"), "Ghent");
  assert.equal(answer.at("data", "purchaseOrder", "billingAddress", "zip"), null);
  assert.equal(answer.headers.etag, '"2"');
  assert.deepEqual(answer.at("data", "sideEffects"), {});
  const log = await server.get(`${path}/log`);
  assert.equal(log.at("data", "totalCount"), 2);
  assert.equal(log.at("data", "log", 0, "operation"), "purchase_order_update");
  assert.equal(log.at("data", "log", 0, "requestId"), answer.at("meta", "requestId"));
  const changes = entriesOf(log.at("data", "log", 0, "changes"));
  assert.deepEqual(
    new Set(changes.map((_, index) => log.at("data", "log", 0, "changes", index, "field"))),
    new Set(["billingAddress", "poName", "shippingCost", "tags"]),
  );
  const again = await server.patch(path, body);
  assert.equal(again.status, 200);
  assert.equal(again.headers.etag, '"2"', "the same again is no change");
  assert.equal((await server.get(`${path}/log`)).at("data", "totalCount"), 2);
  const cleared = await server.patch(path, { poName: null, shippingCost: null, billingAddress: null });
  assert.equal(header(cleared, "poName"), null);
  assert.equal(header(cleared, "billingAddress"), null);
});

test("a header update refuses the status, an empty body and fields it does not know, and says why", async () => {
  await using server = await startGoodsServer();
  const path = await created(server);
  for (const [body, pointer, words] of [
    [{ status: "Sent" }, "/status", /POST \/purchase-orders\/\{id\}\/status/],
    [{}, "", /at least one/],
    [{ poNumber: "PO-1" }, "/poNumber", /unknown/],
    [{ poName: "" }, "/poName", /null to clear/],
    [{ shippingCost: 1.00001 }, "/shippingCost", /4 decimals/],
    [{ shippingCost: -1 }, "/shippingCost", /./],
    [{ orderDate: "2026-02-30" }, "/orderDate", /./],
    [{ currencyCode: "eur" }, "/currencyCode", /capital/],
    [{ tags: ["a", "a"] }, "/tags/1", /twice/],
    [{ billingAddress: { street: "x" } }, "/billingAddress/street", /unknown/],
    [{ fxRateOverride: 0 }, "/fxRateOverride", /./],
  ] as const) {
    const answer = await server.patch(path, body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.at("error", "details", 0, "path"), pointer, answer.text);
    assert.match(answer.textAt("error", "details", 0, "message"), words);
  }
  assert.equal(header(await server.get(path), "version"), 1);
});

test("If-Match lets a change through only at the version it names; If-None-Match spares an unchanged read", async () => {
  await using server = await startGoodsServer();
  const path = await created(server);
  const stale = await server.patch(path, { note: "x" }, { headers: { "If-Match": '"7"' } });
  assert.equal(stale.status, 412);
  assert.equal(stale.at("error", "code"), "INVALID_INPUT");
  assert.equal(stale.at("error", "reason"), "VERSION_MISMATCH");
  assert.equal((await server.patch(path, { note: "x" }, { headers: { "If-Match": '"1"' } })).status, 200);
  assert.equal((await server.patch(path, { note: "y" }, { headers: { "If-Match": "*" } })).status, 200);
  assert.equal((await server.get(path, { headers: { "If-None-Match": '"3"' } })).status, 304);
  for (const [ifMatch, status] of [
    ['"2", "3"', 200],
    ['"1","2"', 412],
    ['W/"3"', 412],
    ["3", 412],
    ['"*"', 412],
    ["", 412],
  ] as const)
    assert.equal(
      (await server.patch(path, { note: "y" }, { headers: { "If-Match": ifMatch } })).status,
      status,
      ifMatch,
    );
  assert.equal((await server.get(path, { headers: { "If-None-Match": '"2"' } })).status, 200);
  for (const refused of [
    await server.delete(path, { headers: { "If-Match": '"1"' } }),
    await server.post(`${path}/status`, { status: "Sent" }, { headers: { "If-Match": '"1"' } }),
    await server.post(
      `${path}/line-items`,
      { lineItems: [{ variantId: "red", quantityOrdered: 1 }] },
      { headers: { "If-Match": '"1"' } },
    ),
  ])
    assert.equal(refused.status, 412);
});

test("a draft is deleted outright: it is nowhere any more, and a second call finds nothing", async () => {
  await using server = await startGoodsServer();
  const path = await created(server, { lineItems: [{ variantId: "red", quantityOrdered: 1 }] });
  const answer = await server.delete(path);
  assert.equal(answer.status, 200);
  assert.equal(answer.at("data", "mode"), "deleted");
  assert.equal(answer.at("data", "poNumber"), "PO-1001");
  assert.equal((await server.delete(path)).status, 404);
  assert.equal((await server.get(path)).status, 404);
  const left = await server.engine.read(server.shopId, (tx) =>
    tx.all("select po_line_item_id from purchase_order_line where shop_id = ?", [server.shopId]),
  );
  assert.deepEqual(left, []);
});

test("a cancelled order is hidden and retained: 404 everywhere, counted nowhere, its rows and log kept", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Cancelled", [ordered], { previousStatus: "Sent" });
  const answer = await server.delete(server.order());
  assert.equal(answer.at("data", "mode"), "soft-deleted");
  for (const below of ["", "/line-items", "/log", "/payments", "/receipt-schedule"])
    assert.equal((await server.get(server.order(below))).status, 404);
  assert.equal((await server.patch(server.order(), { note: "x" })).status, 404);
  assert.equal((await server.get(orders)).at("data", "totalCount"), 0);
  assert.equal((await server.get(`${orders}?variantId=red`)).at("data", "totalCount"), 0);
  const log = await server.engine.read(server.shopId, (tx) =>
    tx.all("select action from purchase_order_log where shop_id = ? and action = 'delete'", [server.shopId]),
  );
  assert.equal(log.length, 1);
});

test("an order on its way cannot be deleted; the refusal says how to", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [ordered]);
  const answer = await server.delete(server.order());
  assert.equal(answer.status, 400);
  assert.match(answer.textAt("error", "message"), /must be Draft or Cancelled/);
});

test("a draft is sent once it has a location and its variants are active", async () => {
  await using server = await startGoodsServer();
  const path = await created(server, { supplierId: "mill", lineItems: [{ variantId: "red", quantityOrdered: 8 }] });
  const homeless = await server.post(`${path}/status`, { status: "Sent" });
  assert.equal(homeless.status, 400);
  assert.match(homeless.textAt("error", "message"), /locationId/);
  await server.patch(path, { locationId: "warehouse" });
  const sent = await server.post(`${path}/status`, { status: "Sent" });
  assert.equal(sent.status, 200, sent.text);
  assert.deepEqual(sent.at("data", "transition"), { from: "Draft", to: "Sent" });
  assert.equal(header(sent, "previousStatus"), "Draft");
  assert.equal(sent.at("data", "previousStatus"), undefined);
  assert.deepEqual(sent.at("data", "sideEffects"), { incoming: { outcome: "applied" } });
  assert.equal(await server.incoming("red"), 8);
  const again = await server.post(`${path}/status`, { status: "Sent" });
  assert.equal(again.status, 400);
  assert.match(again.textAt("error", "message"), /Draft, Cancelled, On Hold, Disputed/);
});

test("the guard stops a move to Sent until each variant is activated or skipped, and comes after every rule", async () => {
  await using server = await startGoodsServer();
  await server.sandbox.patchVariant("red", { status: "inactive" });
  await server.sandbox.patchVariant("blue", { status: "deleted" });
  const path = await created(server, {
    lineItems: [
      { variantId: "red", quantityOrdered: 1 },
      { variantId: "blue", quantityOrdered: 2 },
    ],
  });
  assert.match((await server.post(`${path}/status`, { status: "Sent" })).textAt("error", "message"), /locationId/);
  await server.patch(path, { locationId: "warehouse" });
  const stopped = await server.post(`${path}/status`, { status: "Sent" });
  assert.equal(stopped.status, 400);
  assert.equal(stopped.at("error", "code"), "INVENTORY_GUARD_ISSUES");
  const details = entriesOf(stopped.at("error", "details"));
  assert.equal(details.length, 2);
  assert.equal(header(await server.get(path), "status"), "Draft");
  const red = stopped.textAt("error", "details", 0, "itemId");
  const blue = stopped.textAt("error", "details", 1, "itemId");
  const sent = await server.post(`${path}/status`, {
    status: "Sent",
    resolutions: [
      { itemId: red, action: "activate" },
      { itemId: blue, action: "skip" },
    ],
  });
  assert.equal(sent.status, 200, sent.text);
  assert.equal((await server.sandbox.state(["red"])).variants[0]?.status, "active");
  assert.equal(await server.incoming("red"), 1);
  assert.equal(await server.incoming("blue"), 0, "the storefront is left alone for a skipped variant");
});

test("a storefront that cannot be asked stops the move with nothing changed", async () => {
  await using server = await startGoodsServer();
  const path = await created(server, {
    locationId: "warehouse",
    lineItems: [{ variantId: "red", quantityOrdered: 1 }],
  });
  await server.faults([{ call: "checkVariants", outcome: "error" }]);
  const answer = await server.post(`${path}/status`, { status: "Sent" });
  assert.equal(answer.status, 502);
  assert.equal(header(await server.get(path), "status"), "Draft");
});

test("lines that come while the guard looks are looked at before the order is sent", async (t) => {
  await using server = await startGoodsServer();
  const path = await created(server, {
    locationId: "warehouse",
    lineItems: [{ variantId: "red", quantityOrdered: 1 }],
  });
  await server.sandbox.patchVariant("blue", { status: "deleted" });
  const { begun, goOn } = holdCalls(t, ["checkVariants"]);
  const sending = server.post(`${path}/status`, { status: "Sent" });
  await begun;
  const added = await server.post(`${path}/line-items`, { lineItems: [{ variantId: "blue", quantityOrdered: 1 }] });
  assert.equal(added.status, 201);
  goOn();
  const sent = await sending;
  assert.equal(sent.at("error", "code"), "INVENTORY_GUARD_ISSUES", sent.text);
  assert.equal(header(await server.get(path), "status"), "Draft");
});

test("an order on hold goes back only where it came from, and the answer shows what it left", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Confirmed", [{ ...ordered, quantityConfirmed: 10 }]);
  const held = await server.post(server.order("/status"), { status: "On Hold" });
  assert.equal(header(held, "previousStatus"), "Confirmed");
  const refused = await server.post(server.order("/status"), { status: "Sent" });
  assert.equal(refused.status, 409);
  assert.equal(refused.at("error", "reason"), "PREVIOUS_STATUS_MISMATCH");
  const back = await server.post(server.order("/status"), { status: "Confirmed" });
  assert.equal(back.status, 200);
  assert.equal(header(back, "status"), "Confirmed");
  assert.equal(back.at("data", "previousStatus"), "On Hold");
});

test("checks on /status come in their order: body, id, status", async () => {
  await using server = await startGoodsServer();
  const nowhere = `${orders}/po_nowhere/status`;
  assert.equal((await server.post(nowhere, { status: "Gone" })).status, 400);
  assert.equal((await server.post(nowhere, {})).status, 400);
  assert.equal((await server.post(nowhere, { status: "Sent", note: "x" })).status, 400);
  assert.equal((await server.post(nowhere, { status: "Completed" })).status, 404);
  await server.bringOrder("Confirmed", [ordered, { ...ordered, poLineItemId: "b" }]);
  const completed = await server.post(server.order("/status"), { status: "Completed" });
  assert.equal(completed.status, 400);
  const unconfirmed = await server.post(server.order("/status"), { status: "In Progress" });
  assert.equal(unconfirmed.status, 409);
  assert.equal(unconfirmed.at("error", "reason"), "UNCONFIRMED_LINES");
  assert.match(unconfirmed.textAt("error", "message"), /a, b/);
});

test("the incoming ledger follows every change of an open order", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [ordered]);
  const ledger = async (): Promise<readonly string[]> => {
    const rows = await server.engine.read(server.shopId, (tx) =>
      tx.all<{ location_id: string; quantity: number }>(
        "select location_id, quantity from incoming where shop_id = ? and variant_id = 'red' and quantity <> 0",
        [server.shopId],
      ),
    );
    return rows.map((row) => `${row.quantity / 1000} to ${row.location_id}`);
  };
  assert.deepEqual(await ledger(), ["10 to warehouse"]);
  await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", quantityOrdered: 12.5 }] });
  assert.deepEqual(await ledger(), ["12.5 to warehouse"]);
  await server.patch(server.order(), { locationId: "store" });
  assert.deepEqual(await ledger(), ["12.5 to store"]);
  await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", quantityCancelled: 2 }] });
  assert.deepEqual(await ledger(), ["10.5 to store"]);
  await server.post(server.order("/status"), { status: "Cancelled" });
  assert.deepEqual(await ledger(), []);
  await server.post(server.order("/status"), { status: "Sent" });
  assert.deepEqual(await ledger(), ["10.5 to store"]);
});
