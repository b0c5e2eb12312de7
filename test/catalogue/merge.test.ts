/** Merging two suppliers (C86): what goes over, what stays as it is, and where the old id leads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { loadContent } from "../../src/documents/content.ts";
import { mergedRowsMax } from "../../src/operations/catalogue/merge.ts";
import { mergedInto } from "../../src/shop/catalogue/supplier-merges.ts";
import {
  type GoodsServer,
  holdCalls,
  lineA,
  lineB,
  type OrderLine,
  startGoodsServer,
} from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";
import { askAdmin, signInAs, signInWith } from "../support/people.ts";
import { ask as askToConnect, codeIn, decide, exchange, registerClient } from "../support/peers/connect.ts";
import { byLink, makeLink } from "../support/peers/supplier-link.ts";
import { assertFault, objectsAt, type TestResponse } from "../support/server.ts";
import { exportedRecords } from "../support/shops/exported-records.ts";

const of =
  (server: GoodsServer) =>
  (method: string, path: string, body?: unknown, options: Parameters<typeof askAdmin>[4] = {}) =>
    askAdmin(server, method, `/shops/${server.shopId}${path}`, body, options);

const objectAt = (answered: TestResponse, ...path: readonly (string | number)[]): JsonObject => {
  const found = answered.at(...path);
  assert.ok(found !== undefined && isJsonObject(found), answered.text);
  return found;
};

const orderRead = (server: GoodsServer, id: string): Promise<TestResponse> =>
  server.get(`/api/v1/purchase-orders/${id}`);

const bringOrder = (
  server: GoodsServer,
  purchaseOrderId: string,
  status: Parameters<GoodsServer["bringOrder"]>[0],
  lines: readonly OrderLine[],
  facts: object = {},
): Promise<void> => server.bringOrder(status, lines, { purchaseOrderId, supplierId: "loom", ...facts });

const moves = { supplierId: null, supplierName: null, version: null, updatedAt: null };

/** A second supplier, in another currency and with another lead time, with orders, entries, credits and a link. */
async function withLoom(server: GoodsServer): Promise<void> {
  await server.bring([
    {
      type: "supplier",
      supplierId: "loom",
      name: "Old Loom",
      currencyCode: "USD",
      leadTimeDays: 40,
      email: "l@oom.eu",
    },
    { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR", leadTimeDays: 3 },
    { type: "supplierVariant", supplierId: "loom", variantId: "red", unitCost: 9, supplierSku: "LOOM-RED" },
    { type: "supplierVariant", supplierId: "loom", variantId: "blue", unitCost: 7.25, isPreferred: true },
    { type: "supplierVariant", supplierId: "loom", variantId: "green", supplierSku: "LOOM-GREEN" },
    ...["loom", "mill"].map((supplierId) => ({
      type: "supplierCredit",
      creditId: `credit of ${supplierId}`,
      supplierId,
      amount: 20.5,
      currencyCode: "USD",
    })),
    {
      type: "forecastView",
      viewId: "view",
      viewName: "Looms",
      mode: "stock",
      filters: { supplierIds: ["loom", "mill"] },
      columns: ["sku"],
    },
  ]);
}

test("orders, entries and credits go over, each order's log and an event say so, and no figure of an order moves", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  await bringOrder(server, "po_draft", "Draft", [lineA, lineB], { currencyCode: "USD", fxRateOverride: 0.9 });
  await bringOrder(server, "po_1", "Draft", [lineA], { expectedDeliveryDate: "2030-02-03" });
  await bringOrder(server, "po_done", "Completed", [{ ...lineB, quantityReceived: 5.5 }]);
  await bringOrder(server, "po_odd", "Disputed", [lineA], { previousStatus: "Sent" });
  await bringOrder(server, "po_hidden", "Cancelled", [lineA], {
    previousStatus: "Sent",
    deletedAt: "2026-01-01T00:00:00.000Z",
  });
  await bringOrder(server, "po_other", "Sent", [lineA], { supplierId: "mill" });
  const sent = await server.post(server.order("/status"), { status: "Sent" });
  assert.equal(sent.status, 200, sent.text);
  const link = await makeLink(server);
  const ids = ["po_draft", "po_1", "po_done", "po_odd"];
  const readAll = () => Promise.all(ids.map((id) => orderRead(server, id)));
  const before = await readAll();
  const other = await orderRead(server, "po_other");
  const incoming = await server.incoming("red");
  server.clock.advance(5_000);
  const merged = await ask("POST", "/suppliers/loom/merge", { into: "mill" });
  assert.equal(merged.status, 200, merged.text);
  assert.deepEqual(merged.at("data", "moved"), { orders: 4, supplierVariants: 2, credits: 1 });
  assert.deepEqual(
    [merged.at("data", "supplier", "supplierId"), merged.at("data", "supplier", "leadTimeDays")],
    ["mill", 3],
  );

  for (const [index, after] of (await readAll()).entries()) {
    const [was, is] = [before[index], after].map((each) => objectAt(each ?? after, "data", "purchaseOrder"));
    assert.ok(was !== undefined && is !== undefined);
    assert.deepEqual({ ...is, ...moves }, { ...was, ...moves });
    assert.deepEqual(
      [is["supplierId"], is["supplierName"], is["version"]],
      ["mill", "The Mill", Number(was["version"]) + 1],
    );
    const log = await server.get(`/api/v1/purchase-orders/${ids[index]}/log`);
    assert.deepEqual(
      ["message", "operation", "changes"].map((member) => log.at("data", "log", 0, member)),
      [
        "Merged the supplier Old Loom into The Mill.",
        "supplier_merge",
        [{ field: "supplierId", poLineItemId: null, before: "loom", after: "mill" }],
      ],
    );
  }
  assert.deepEqual((await orderRead(server, "po_other")).at("data"), other.at("data"));
  assert.equal(await server.incoming("red"), incoming);
  const events = await ask("GET", "/events?types=purchase_order.updated");
  assert.deepEqual(
    new Map(
      objectsAt(events, "data", "events")
        .slice(-ids.length)
        .map(({ data }) =>
          data !== undefined && isJsonObject(data) ? [data["purchaseOrderId"], data["supplierId"]] : [null, null],
        ),
    ),
    new Map(ids.map((id) => [id, "mill"])),
  );

  // The paper that was sent and its link stay; lists, counts and searches know the other supplier.
  const paper = await server.engine.read(server.shopId, (tx) =>
    loadContent(tx, server.shopId, "po_1", { nowMs: server.clock.now(), next: null }),
  );
  assert.equal(paper.supplier?.name, "Old Loom");
  const shown = await byLink(server, "GET", link.path);
  assert.equal(shown.status, 200, shown.text);
  for (const supplierId of ["loom", "mill"]) {
    const listed = await server.get(`/api/v1/purchase-orders?supplierId=${supplierId}`);
    assert.equal(listed.at("data", "totalCount"), 5, supplierId);
    const drafts = await server.get(`/api/v1/purchase-orders?supplierId=${supplierId}&status=Draft`);
    assert.deepEqual(
      objectsAt(drafts, "data", "purchaseOrders").map((each) => each["purchaseOrderId"]),
      ["po_draft"],
    );
  }
  await using agent = await connectAgent(server);
  const [late, ofMill] = await Promise.all(
    ["loom", "mill"].map((supplierId) => agent.call("orders_needing_attention", { supplierId })),
  );
  assert.ok(late !== undefined && ofMill !== undefined && late.at("totalCount") !== 0, late?.text);
  assert.deepEqual(late.at("orders"), ofMill.at("orders"));
  const found = await server.get("/api/v1/purchase-orders?search=loom");
  assert.equal(found.at("data", "totalCount"), 0);

  // A cost without a currency keeps the one that it was in; of two entries, the one of the supplier that stays.
  const prices = await ask("GET", "/suppliers/mill/variants");
  assert.deepEqual(
    objectsAt(prices, "data", "supplierVariants").map((entry) => [
      entry["variantId"],
      entry["unitCost"],
      entry["unitCostCurrencyCode"],
      entry["supplierSku"],
      entry["isPreferred"],
    ]),
    [
      ["blue", 7.25, "USD", null, true],
      ["green", null, null, "LOOM-GREEN", false],
      ["red", 1, "EUR", null, false],
    ],
  );
  const searched = await ask("GET", "/variants?search=loom-green&supplierId=mill");
  assert.equal(searched.at("data", "totalCount"), 1, searched.text);
  const credits = await server.get("/api/v1/purchase-orders/po_1/credits");
  assert.deepEqual(
    objectsAt(credits, "data", "credits", "available").map((credit) => [credit["creditId"], credit["supplierId"]]),
    [
      ["credit of loom", "mill"],
      ["credit of mill", "mill"],
    ],
    credits.text,
  );

  // No record names it but the one that tells where it went. What a shop exports makes the same shop.
  const records = await exportedRecords(server.engine, server.shopId);
  const naming = records.filter(
    (record) => record["supplierId"] === "loom" || JSON.stringify(record["supplierIds"] ?? null).includes("loom"),
  );
  assert.deepEqual(naming, [{ type: "supplierMerge", supplierId: "loom", intoId: "mill" }]);
  await using copy = await startGoodsServer();
  await copy.bring(records);
  const withoutOwn = (all: readonly JsonObject[]) => all.filter(({ type }) => type !== "documentSettings");
  assert.deepEqual(withoutOwn(await exportedRecords(copy.engine, copy.shopId)), withoutOwn(records));
});

test("the old id leads to the supplier that stays: reads follow, writes name it, orders and imports take it", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  await server.bring([{ type: "supplier", supplierId: "web", name: "Web", currencyCode: "EUR" }]);
  assert.equal((await ask("POST", "/suppliers/loom/merge", { into: "web" })).status, 200);
  assert.equal((await ask("POST", "/suppliers/web/merge", { into: "mill" })).status, 200);
  for (const old of ["loom", "web"]) {
    const read = await ask("GET", `/suppliers/${old}`);
    assert.equal(read.at("data", "supplier", "supplierId"), "mill", read.text);
    assert.equal((await ask("GET", `/suppliers/${old}/variants`)).at("data", "totalCount"), 3);
    const searched = await ask("GET", `/variants?supplierId=${old}&search=blue`);
    assert.deepEqual(
      [searched.at("data", "totalCount"), searched.at("data", "variants", 0, "terms", "unitCost")],
      [1, 7.25],
    );
    for (const [method, path, body] of [
      ["PATCH", "", { name: "New" }],
      ["DELETE", "", undefined],
      ["PUT", "/variants/red", { unitCost: 1 }],
      ["DELETE", "/variants/red", undefined],
      ["POST", "/merge", { into: "mill" }],
    ] as const) {
      const refused = await ask(method, `/suppliers/${old}${path}`, body);
      assertFault(refused, 404, "NOT_FOUND");
      assert.match(refused.textAt("error", "message"), /was merged into mill\.$/);
      assert.match(refused.textAt("error", "action"), /mill/);
    }
    assertFault(await ask("POST", "/suppliers", { supplierId: old, name: "X" }), 400, "INVALID_INPUT", "ID_TAKEN");
    const made = await server.post("/api/v1/purchase-orders", {
      supplierId: old,
      lineItems: [{ variantId: "blue", quantityOrdered: 2 }],
    });
    const order = objectAt(made, "data", "purchaseOrder");
    assert.deepEqual([order["supplierId"], order["currencyCode"]], ["mill", "EUR"]);
    assert.equal(made.at("data", "purchaseOrder", "lineItems", 0, "unitCost"), 7.25);
    const id = made.textAt("data", "purchaseOrder", "purchaseOrderId");
    await server.patch(`/api/v1/purchase-orders/${id}`, { supplierId: null });
    const back = await server.patch(`/api/v1/purchase-orders/${id}`, { supplierId: old });
    assert.equal(back.at("data", "purchaseOrder", "supplierId"), "mill", back.text);
  }
  const history = async (id: string) =>
    objectsAt(await ask("GET", `/history?kind=supplier&id=${id}`), "data", "history").flatMap((entry) => {
      const { action, operation, changes } = entry;
      if (operation !== "supplier_merge") return [];
      const all = changes !== undefined && isJsonArray(changes) ? changes.filter(isJsonObject) : [];
      const shown = ["mergedFrom", "mergedInto", "email"];
      return [[action, ...all.filter(({ field }) => shown.includes(JSON.stringify(field).slice(1, -1)))]];
    });
  assert.deepEqual(await history("loom"), [
    [
      "merged",
      { field: "email", before: "l@oom.eu", after: null },
      { field: "mergedInto", before: null, after: "web" },
    ],
  ]);
  assert.deepEqual(await history("mill"), [["merged", { field: "mergedFrom", before: null, after: "web" }]]);

  await server.bring([
    { type: "supplier", supplierId: "loom", name: "Back again" },
    { type: "supplierMerge", supplierId: "mill", intoId: "loom" },
    { type: "supplierVariant", supplierId: "loom", variantId: "red", unitCost: 4.5 },
    { type: "supplierCredit", creditId: "late", supplierId: "web", amount: 1, currencyCode: "EUR" },
  ]);
  await bringOrder(server, "po_1", "Draft", [lineA], { supplierLeadTimeDays: undefined });
  const imported = await orderRead(server, "po_1");
  assert.deepEqual(
    ["supplierId", "supplierName", "currencyCode"].map((member) => imported.at("data", "purchaseOrder", member)),
    ["mill", "The Mill", "EUR"],
  );
  // A price keeps what the file says nothing of, whatever name the supplier has there.
  for (const [query, file] of [
    ["", "Supplier ID,Variant ID,Cost\nloom,green,3\n"],
    ["", "Supplier,Variant ID,Cost\nloom,green,3\n"],
    ["&supplierId=web", "Variant ID,Cost\ngreen,3\n"],
  ]) {
    const brought = await ask("POST", `/import?format=supplier-prices${query}`, file);
    assert.equal(brought.status, 200, brought.text);
    const [, green] = objectsAt(await ask("GET", "/suppliers/mill/variants"), "data", "supplierVariants");
    assert.deepEqual([green?.["unitCost"], green?.["supplierSku"]], [3, "LOOM-GREEN"]);
    await ask("PUT", "/suppliers/mill/variants/green", { supplierSku: "LOOM-GREEN" });
  }
  const named = await ask("POST", "/import?format=suppliers", "Supplier ID,Supplier\nloom,Back\n");
  assertFault(named, 400, "INVALID_INPUT");
  assert.match(named.text, /was merged into .*mill/);
  const suppliers = await ask("GET", "/suppliers");
  assert.deepEqual(
    objectsAt(suppliers, "data", "suppliers").map((each) => each["supplierId"]),
    ["mill"],
  );
  const prices = objectsAt(await ask("GET", "/suppliers/mill/variants"), "data", "supplierVariants");
  assert.equal(prices.find((entry) => entry["variantId"] === "red")?.["unitCost"], 4.5);
  const records = await exportedRecords(server.engine, server.shopId);
  assert.deepEqual(
    records.filter(({ type }) => type === "supplierMerge"),
    ["loom", "web"].map((supplierId) => ({ type: "supplierMerge", supplierId, intoId: "mill" })),
  );
  assert.equal(records.find((record) => record["creditId"] === "late")?.["supplierId"], "mill");
});

test("a merge into itself, into nobody, into one that was merged, at an older version, dry or by a receiver changes nothing", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  await server.bring([{ type: "supplier", supplierId: "web", name: "Web" }]);
  await bringOrder(server, "po_1", "Sent", [lineA]);
  assert.equal((await ask("POST", "/suppliers/web/merge", { into: "mill" })).status, 200);
  const kept = JSON.stringify(await exportedRecords(server.engine, server.shopId));
  const etag = String((await ask("GET", "/suppliers/loom")).headers["etag"]);
  const merge = (into: string, options: Parameters<typeof askAdmin>[4] = {}, query = "") =>
    ask("POST", `/suppliers/loom/merge${query}`, { into }, options);
  for (const [into, words] of [
    ["loom", /is the supplier itself/],
    ["nobody", /is no supplier of the shop/],
    ["web", /was merged into mill/],
  ] as const) {
    const refused = await merge(into);
    assertFault(refused, 400, "INVALID_INPUT");
    assert.equal(refused.at("error", "details", 0, "path"), "/into");
    assert.match(refused.textAt("error", "message"), words);
  }
  assertFault(await ask("POST", "/suppliers/nobody/merge", { into: "mill" }), 404, "NOT_FOUND");
  assertFault(await merge("mill", { headers: { "If-Match": '"other"' } }), 412, "INVALID_INPUT", "VERSION_MISMATCH");
  const receiver = await (await signInAs(server, "receiver")).bearer();
  assertFault(await merge("mill", { key: receiver }), 403, "FORBIDDEN_SCOPE");
  const dry = await merge("mill", {}, "?dryRun=true");
  assert.deepEqual(dry.at("data", "moved", "orders"), 1, dry.text);
  assert.equal(JSON.stringify(await exportedRecords(server.engine, server.shopId)), kept);
  const headers = { "If-Match": etag, "Idempotency-Key": "one" };
  const merged = await merge("mill", { headers });
  assert.equal(merged.status, 200, merged.text);
  assert.equal((await merge("mill", { headers })).text, merged.text);
  assert.equal(await server.engine.read(server.shopId, (tx) => mergedInto(tx, server.shopId, "loom")), "mill");
});

test("a price list and deleted orders of any number go over", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  const variants = Array.from({ length: 200 }, (_, index) => `v${index}`);
  await server.bring([
    ...variants.map((variantId) => ({ type: "variant", variantId, productId: variantId, productName: variantId })),
    ...variants.map((variantId) => ({ type: "supplierVariant", supplierId: "loom", variantId, unitCost: 2 })),
    { type: "supplierVariant", supplierId: "mill", variantId: "v7", unitCost: 3 },
    ...variants.map((name) => ({
      type: "purchaseOrder",
      purchaseOrderId: `po_${name}`,
      supplierId: "loom",
      deletedAt: "2026-01-01T00:00:00.000Z",
      lineItems: [lineA],
    })),
  ]);
  const merged = await ask("POST", "/suppliers/loom/merge", { into: "mill" });
  assert.deepEqual(merged.at("data", "moved"), { orders: 0, supplierVariants: 201, credits: 1 }, merged.text);
  const records = await exportedRecords(server.engine, server.shopId);
  assert.deepEqual(
    records.filter(({ supplierId }) => supplierId === "loom").map(({ type }) => type),
    ["supplierMerge"],
  );
  const costs = new Map(
    records.flatMap(({ type, variantId, unitCost }) => (type === "supplierVariant" ? [[variantId, unitCost]] : [])),
  );
  assert.deepEqual(
    variants.filter((variantId) => costs.get(variantId) !== 2),
    ["v7"],
  );
});

test("a supplier with more orders and credits than one commit moves is refused, and is merged into from the other side", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  await server.bring(
    Array.from({ length: mergedRowsMax }, (_, index) => ({
      type: "purchaseOrder",
      purchaseOrderId: `po_${index}`,
      supplierId: "loom",
      lineItems: [lineA],
    })),
  );
  const refused = await ask("POST", "/suppliers/loom/merge", { into: "mill" });
  assertFault(refused, 400, "INVALID_INPUT");
  assert.match(refused.textAt("error", "message"), /more than 1000 orders and credits/);
  await server.bring([{ type: "supplier", supplierId: "web", name: "Web" }]);
  assert.equal((await ask("POST", "/suppliers/mill/merge", { into: "loom" })).status, 200);
  // Exactly as many go over.
  await server.delete("/api/v1/purchase-orders/po_0");
  await server.delete("/api/v1/purchase-orders/po_1");
  const merged = await ask("POST", "/suppliers/loom/merge", { into: "web" });
  assert.deepEqual(merged.at("data", "moved", "orders"), mergedRowsMax - 2, merged.text);
  const listed = await server.get("/api/v1/purchase-orders?supplierId=web");
  assert.equal(listed.at("data", "totalCount"), mergedRowsMax - 2);
});

const keysWith = async (server: GoodsServer, ...supplierIds: readonly (readonly string[])[]) => {
  const made = await Promise.all(
    supplierIds.map((ids) =>
      of(server)("POST", "/keys", { name: "Buyer", scope: "write", limits: { supplierIds: ids, beyond: "refuse" } }),
    ),
  );
  return made.map((answered) => answered.textAt("data", "apiKey"));
};

const limitedTo = async (server: GoodsServer): Promise<readonly unknown[]> =>
  objectsAt(await of(server)("GET", "/keys"), "data", "keys").flatMap(({ limits }) =>
    limits !== undefined && isJsonObject(limits) ? [limits["supplierIds"]] : [],
  );

const ruleOf = (ruleId: string, supplierIds: readonly string[] | null, totalAbove: number | null = null) => ({
  ruleId,
  name: ruleId,
  when: { supplierIds, totalAbove },
  approvers: { roles: ["owner"] },
});

const ruledSuppliers = (answered: TestResponse): unknown => {
  const rules = objectsAt(answered, "data", "shop", "settings", "approvalRules");
  return rules.map(({ ruleId, when }) => [ruleId, when !== undefined && isJsonObject(when) ? when["supplierIds"] : 0]);
};

test("approval rules, limits of keys and what was approved follow a supplier, then and when they name the old id later", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  const ruled = await ask("PUT", "", {
    settings: {
      approvalRules: [
        ruleOf("both", ["mill", "loom"], 1_000_000),
        ruleOf("loom", ["loom"], 30),
        ruleOf("any", null, 2_000_000),
      ],
    },
  });
  assert.equal(ruled.status, 200, ruled.text);
  const [ofLoom = "", ofBoth = "", ofMill = ""] = await keysWith(server, ["loom"], ["loom", "mill"], ["mill"]);
  const drafted = async (supplierId: string, key?: string): Promise<TestResponse> =>
    await server.post(
      "/api/v1/purchase-orders",
      {
        supplierId,
        locationId: "warehouse",
        currencyCode: "EUR",
        lineItems: [{ variantId: "red", quantityOrdered: 10, unitCost: 4, unitCostCurrencyCode: "EUR" }],
      },
      key === undefined ? {} : { key },
    );
  const idOf = (made: TestResponse): string => made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const send = (id: string): Promise<TestResponse> =>
    server.post(`/api/v1/purchase-orders/${id}/status`, { status: "Sent" });
  // Callers and the shop are read, and remembered, with the old id.
  assertFault(await drafted("mill", ofLoom), 403, "FORBIDDEN_SCOPE", "LIMIT_EXCEEDED");
  const waiting = await send(idOf(await drafted("loom")));
  assert.equal(waiting.status, 202, waiting.text);
  const approvedId = waiting.textAt("data", "approvalRequest", "purchaseOrderId");
  const requestId = waiting.textAt("data", "approvalRequest", "approvalRequestId");
  assert.equal((await ask("POST", `/approval-requests/${requestId}/approve`, {})).status, 200);
  const unruled = await send(idOf(await drafted("mill")));
  assert.equal(unruled.status, 200, unruled.text);
  const before = (await ask("GET", "")).at("data", "shop", "updatedAt");
  server.clock.advance(5_000);

  assert.equal((await ask("POST", "/suppliers/loom/merge", { into: "mill" })).status, 200);
  const shop = await ask("GET", "");
  const followed = [
    ["both", ["mill"]],
    ["loom", ["mill"]],
    ["any", null],
  ];
  assert.deepEqual(ruledSuppliers(shop), followed);
  assert.notEqual(shop.at("data", "shop", "updatedAt"), before);
  assert.deepEqual(await limitedTo(server), [["mill"], ["mill"], ["mill"]]);
  const mine = await drafted("mill", ofLoom);
  assert.equal(mine.status, 201, mine.text);
  for (const key of [ofLoom, ofBoth, ofMill]) {
    const refused = await server.patch(`/api/v1/purchase-orders/${idOf(mine)}`, { supplierId: "web" }, { key });
    assertFault(refused, 403, "FORBIDDEN_SCOPE", "LIMIT_EXCEEDED");
  }
  assert.equal((await send(idOf(mine))).status, 202, "the rule holds for the supplier that stays");
  // What was approved stays so, as long as it is worth no more.
  const lines = async (quantityOrdered: number): Promise<number> => {
    const read = await orderRead(server, approvedId);
    const lineItemId = read.textAt("data", "purchaseOrder", "lineItems", 0, "poLineItemId");
    const path = `/api/v1/purchase-orders/${approvedId}/line-items`;
    return (await server.patch(path, { lines: [{ lineItemId, quantityOrdered }] })).status;
  };
  assert.deepEqual([await lines(5), await lines(10), await lines(11)], [200, 200, 202]);

  const again = await ask("PUT", "", { settings: { approvalRules: [ruleOf("late", ["loom", "web", "mill"])] } });
  assert.deepEqual(ruledSuppliers(again), [["late", ["mill", "web"]]]);
  await keysWith(server, ["loom", "mill"]);
  const [first] = objectsAt(await ask("GET", "/keys"), "data", "keys").filter(({ limits }) => limits !== null);
  const keyId = first?.["keyId"];
  assert.ok(typeof keyId === "string");
  const patched = await ask("PATCH", `/keys/${keyId}`, { limits: { supplierIds: ["web", "loom"] } });
  assert.deepEqual(patched.at("data", "key", "limits", "supplierIds"), ["web", "mill"], patched.text);
  assert.deepEqual(await limitedTo(server), [["web", "mill"], ["mill"], ["mill"], ["mill"]]);
});

test("an order that is being sent while its supplier is merged, and a connection that is being made, keep rule and limit", async (t) => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  assert.equal((await ask("PUT", "", { settings: { approvalRules: [ruleOf("loom", ["loom"])] } })).status, 200);
  await bringOrder(server, "po_1", "Draft", [lineA]);
  const asked = askToConnect(server, await registerClient(server));
  const limits = { supplierIds: ["loom"], beyond: "refuse" };
  const allowed = await decide(server, await signInAs(server, "owner", "Ana"), asked.parameters, {
    scope: "write",
    limits,
  });
  const guard = holdCalls(t, ["checkVariants"]);
  const sending = server.post(server.order("/status"), { status: "Sent" });
  await guard.begun;
  const merged = await ask("POST", "/suppliers/loom/merge", { into: "mill" });
  guard.goOn();
  assert.equal(merged.status, 200, merged.text);
  const answered = await sending;
  assert.equal(answered.status, 202, answered.text);
  await exchange(server, codeIn(allowed), asked);
  assert.deepEqual(await limitedTo(server), [["mill"]]);
});

test("a merge that no limit or rule names leaves the shop's settings as they were; a limited key widens none", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await withLoom(server);
  await server.bring(["web", "yarn"].map((supplierId) => ({ type: "supplier", supplierId, name: supplierId })));
  const [ofWeb = "", ofBoth = ""] = await keysWith(server, ["web"], ["web", "mill"]);
  const shop = (await ask("GET", "")).at("data", "shop", "updatedAt");
  server.clock.advance(5_000);
  const limited = await signInWith(server, { apiKey: ofWeb, name: "Web only" });
  for (const [from, into] of [
    ["web", "yarn"],
    ["yarn", "web"],
  ] as const) {
    const refused = await ask("POST", `/suppliers/${from}/merge`, { into }, { key: await limited.bearer() });
    assertFault(refused, 403, "FORBIDDEN_SCOPE", "LIMIT_EXCEEDED");
  }
  const within = await signInWith(server, { apiKey: ofBoth, name: "Both" });
  const merged = await ask("POST", "/suppliers/web/merge", { into: "mill" }, { key: await within.bearer() });
  assert.equal(merged.status, 200, merged.text);
  assert.equal((await ask("GET", "")).at("data", "shop", "updatedAt"), shop);
});
