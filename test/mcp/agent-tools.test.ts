/**
 * The tools that REST has no path for (C68), over the protocol: look-ups with paging and codes, another shop's records out of sight,
 * what the audit log says of them, and the list of orders that need attention.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dateOf, dayIn, dayMs } from "../../src/base/time/calendar.ts";
import { importRecords } from "../../src/exchange/import.ts";
import { apiPrefix } from "../../src/http/routes.ts";
import { isRestOperation } from "../../src/requests/operation.ts";
import { operations } from "../../src/operations/registry.ts";
import { loadShop, saveShop } from "../../src/shop/access/accounts.ts";
import { LoopShare } from "../../src/store/loop-share.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { type Agent, connectAgent, type ToolAnswer } from "../support/mcp.ts";
import { askAdmin } from "../support/people.ts";

const variant = (variantId: string, productName: string, more: object = {}) => ({
  type: "variant",
  variantId,
  productId: `p-${variantId}`,
  productName,
  ...more,
});

const records = [
  { type: "location", locationId: "pier", name: "Pier Über See", address: { city: "Kiel", countryCode: "DE" } },
  {
    type: "supplier",
    supplierId: "nord",
    name: "Nordlicht GRÖSSE",
    email: "sales@nord.example",
    currencyCode: "USD",
    leadTimeDays: 9,
  },
  variant("kettle", "Kettle", { variantName: "Red 50%", sku: "K-1", barcode: "4006", price: 20, unitCost: 8 }),
  variant("cup", "Cup", { sku: "K-10", status: "deleted" }),
  variant("spoon", "Spoon", { barcode: "40067" }),
  {
    type: "supplierVariant",
    supplierId: "nord",
    variantId: "kettle",
    unitCost: 4.5,
    supplierSku: "N-K",
    supplierBarcode: "4006381333931",
    moq: 12,
    packSize: 6,
  },
  { type: "supplierVariant", supplierId: "nord", variantId: "cup", unitCostCurrencyCode: "EUR", leadTimeDays: 2 },
  { type: "inventoryLevel", variantId: "kettle", locationId: "pier", onHand: 2.5 },
];

/** Another shop on the same server, with a supplier, location and variant of the same ids. */
async function bringElsewhere({ engine, clock, ids, shopId }: GoodsServer): Promise<void> {
  const own = await engine.read(shopId, (tx) => loadShop(tx, shopId));
  assert.ok(own !== null);
  const other = { ...own, shopId: "elsewhere" };
  await engine.create(other.shopId);
  await engine.write(other.shopId, (tx) => saveShop(tx, other));
  const file = [
    { type: "location", locationId: "pier", name: "Elsewhere" },
    { type: "supplier", supplierId: "nord", name: "Elsewhere" },
    variant("kettle", "Elsewhere", { sku: "K-1" }),
    variant("hidden", "Elsewhere"),
  ];
  await importRecords(
    { engine, clock, ids, loop: new LoopShare(), seedStorefront: async () => {} },
    other,
    (async function* () {
      yield Buffer.from(file.map((record) => `${JSON.stringify(record)}\n`).join(""));
    })(),
    "req_other",
  );
}

const idsOf = (rows: unknown, member: string): readonly unknown[] =>
  Array.isArray(rows) ? rows.map((row: Record<string, unknown>) => row[member]) : assert.fail(JSON.stringify(rows));

/** Ids that a look-up finds, all pages of `limit` rows together. */
async function found(agent: Agent, name: string, list: string, member: string, input: object): Promise<unknown[]> {
  const ids: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await agent.call(name, { ...input, ...(cursor === undefined ? {} : { cursor }) });
    assert.ok(!page.isError, JSON.stringify(page.at()));
    ids.push(...idsOf(page.at(list), member));
    cursor = page.at("cursor") ?? undefined;
    if (cursor === undefined) assert.equal(page.at("totalCount"), ids.length);
  } while (cursor !== undefined);
  return ids;
}

test("suppliers and locations are found by part of their name, whatever the case, by id and page by page", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await bringElsewhere(server);
  await using agent = await connectAgent(server, { key: server.readKey });
  const suppliers = (input: object) => found(agent, "supplier_list", "suppliers", "supplierId", input);
  assert.deepEqual(await suppliers({}), ["nord", "mill"]);
  assert.deepEqual(await suppliers({ limit: 1 }), ["nord", "mill"]);
  assert.deepEqual(await suppliers({ search: "größe" }), ["nord"]);
  assert.deepEqual(await suppliers({ search: "elsewhere" }), []);
  assert.deepEqual(await suppliers({ ids: ["mill", "unknown"] }), ["mill"]);
  const [nord] = Object.values((await agent.call("supplier_list", { ids: ["nord"] })).at("suppliers") ?? {});
  assert.partialDeepStrictEqual(nord, {
    supplierId: "nord",
    name: "Nordlicht GRÖSSE",
    email: "sales@nord.example",
    currencyCode: "USD",
    leadTimeDays: 9,
  });
  const locations = (input: object) => found(agent, "location_list", "locations", "locationId", input);
  assert.deepEqual(await locations({ limit: 1 }), ["pier", "warehouse"]);
  assert.deepEqual(await locations({ search: "über" }), ["pier"]);
  const pier = await agent.call("location_list", { ids: ["pier"] });
  assert.equal(pier.at("locations", 0, "name"), "Pier Über See");
  assert.deepEqual(pier.at("locations", 0, "address"), { city: "Kiel", countryCode: "DE" });
  assert.equal(pier.at("cursor"), null);
});

test("variants are found by text, whole SKU, whole barcode, id and supplier, with levels and that supplier's terms", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await bringElsewhere(server);
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "kettle", quantityOrdered: 10 }]);
  await using agent = await connectAgent(server, { key: server.readKey });
  const variants = (input: object) => found(agent, "variant_search", "variants", "variantId", input);
  assert.deepEqual(await variants({ search: "KETT" }), ["kettle"]);
  assert.deepEqual(await variants({ search: "50%" }), ["kettle"]);
  assert.deepEqual(await variants({ search: "k-1", limit: 1 }), ["cup", "kettle"]);
  assert.deepEqual(await variants({ sku: "K-1" }), ["kettle"]);
  assert.deepEqual(await variants({ barcode: "4006" }), ["kettle"]);
  assert.deepEqual(await variants({ barcode: "4006", sku: "K-10" }), []);
  assert.deepEqual(await variants({ ids: ["spoon", "cup", "hidden"] }), ["cup", "spoon"]);
  assert.deepEqual(await variants({ supplierId: "nord", limit: 1 }), ["cup", "kettle"]);
  assert.equal((await variants({ limit: 2 })).length, 6);

  const terms = {
    unitCost: 4.5,
    unitCostCurrencyCode: "USD",
    supplierSku: "N-K",
    supplierBarcode: "4006381333931",
    moq: 12,
    packSize: 6,
    leadTimeDays: 9,
  };
  const answer = await agent.call("variant_search", { supplierId: "nord" });
  assert.deepEqual(answer.at("variants", 1), {
    variantId: "kettle",
    productId: "p-kettle",
    productName: "Kettle",
    variantName: "Red 50%",
    sku: "K-1",
    barcode: "4006",
    status: "active",
    price: 20,
    unitCost: 8,
    levels: [
      { locationId: "pier", onHand: 2.5, incoming: 0 },
      { locationId: "warehouse", onHand: 0, incoming: 10 },
    ],
    suppliers: [{ supplierId: "nord", supplierName: "Nordlicht GRÖSSE", terms }],
    terms,
  });
  assert.equal(answer.at("variants", 0, "status"), "deleted");
  assert.deepEqual(answer.at("variants", 0, "terms"), { unitCostCurrencyCode: "EUR", leadTimeDays: 2 });
  assert.equal((await agent.call("variant_search", { ids: ["kettle"] })).at("variants", 0, "terms"), undefined);
});

test("a cursor belongs to its tool and filters, and a look-up takes no argument that it does not know", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await using agent = await connectAgent(server);
  const first = await agent.call("variant_search", { limit: 1 });
  const cursor = first.textAt("cursor");
  const refused: readonly (readonly [string, object, string])[] = [
    ["variant_search", { cursor, search: "k" }, "/cursor"],
    ["supplier_list", { cursor }, "/cursor"],
    ["variant_search", { limit: 51 }, "/limit"],
    ["location_list", { name: "x" }, "/name"],
  ];
  for (const [name, input, path] of refused) {
    const answer = await agent.call(name, input);
    assert.equal(answer.at("error", "code"), "INVALID_INPUT", JSON.stringify(answer.at()));
    assert.equal(answer.at("error", "details", 0, "path"), path);
  }
});

test("a tool without a path on REST is audited by its name, draws on the bucket, and REST knows nothing of it", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server, { key: server.readKey });
  await agent.call("supplier_list");
  const [row] = await server.audit();
  assert.equal(row?.tag, "mcp:supplier_list");
  assert.equal(row?.method, "TOOL");
  assert.equal(row?.path, "/supplier_list");
  assert.equal(row?.status, 200);

  const document = (await server.get(`${apiPrefix}/openapi.json`, { key: null })).text;
  const alone = operations.filter((operation) => !isRestOperation(operation));
  assert.ok(alone.length > 0);
  for (const { name } of alone) {
    assert.doesNotMatch(document, new RegExp(`"${name}"`));
    assert.equal((await server.get(`${apiPrefix}/${name}`)).status, 404);
  }
});

/** Today, where the test shop is, and days around it. */
const date = (server: GoodsServer, days: number): string => dateOf(dayIn("UTC", server.clock.now()) + days);

const instant = (server: GoodsServer, days: number): string =>
  new Date(server.clock.now() + days * dayMs).toISOString();

test("orders needing attention are listed once each, longest waiting first, with reasons, open quantities and a next step", async () => {
  await using server = await startGoodsServer();
  const line = (more: object = {}) => [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10, ...more }];
  const order = (purchaseOrderId: string, status: string, more: object = {}) => ({
    type: "purchaseOrder",
    purchaseOrderId,
    poNumber: purchaseOrderId,
    status,
    supplierId: "mill",
    locationId: "warehouse",
    sentAt: instant(server, -1),
    lineItems: line(),
    ...more,
  });
  const payment = (paymentId: string, more: object) => ({
    paymentId,
    paymentType: "balance",
    status: "Scheduled",
    amount: 40,
    currencyCode: "EUR",
    createdAt: instant(server, -30),
    ...more,
  });
  await server.bring([
    order("late", "In Progress", {
      expectedDeliveryDate: date(server, -4),
      lineItems: line({ quantityReceived: 3, quantitySynced: 3 }),
    }),
    order("in-time", "In Progress", { expectedDeliveryDate: date(server, 0) }),
    order("draft", "Draft", { expectedDeliveryDate: date(server, -9) }),
    order("unconfirmed", "Sent", { sentAt: instant(server, -6) }),
    order("sent", "Sent", { sentAt: instant(server, -2), locationId: "pier" }),
    order("disputed", "Disputed", { previousStatus: "Confirmed", updatedAt: instant(server, -1) }),
    order("unsynced", "Partially Received", {
      updatedAt: instant(server, -2),
      lineItems: line({ quantityReceived: 4, quantitySynced: 1 }),
    }),
    order("custom", "Partially Received", {
      lineItems: [
        {
          poLineItemId: "a",
          variantId: "CSTM-1",
          quantityOrdered: 9,
          quantityReceived: 4,
          quantitySynced: 0,
          productName: "Pallet",
        },
      ],
    }),
    order("all-in", "Received", {
      receivedAt: instant(server, -3),
      lineItems: line({ quantityReceived: 10, quantitySynced: 10 }),
    }),
    order("owed", "Completed", {
      lineItems: line({ unitCost: 9, quantityReceived: 10, quantitySynced: 10 }),
      payments: [payment("due", { dueDate: date(server, -10) }), payment("later", { dueDate: date(server, 10) })],
    }),
    order("cancelled", "Cancelled", {
      previousStatus: "Sent",
      payments: [payment("due", { dueDate: date(server, -10) })],
    }),
  ]);
  await bringElsewhere(server);
  await using agent = await connectAgent(server, { key: server.readKey });
  const all = await agent.call("orders_needing_attention");
  const rows = all.at("orders");
  assert.ok(Array.isArray(rows));
  assert.deepEqual(
    rows.map((_, index) => [all.at("orders", index, "purchaseOrderId"), all.at("orders", index, "reasons")]),
    [
      ["owed", [{ reason: "payment-due", days: 10 }]],
      ["unconfirmed", [{ reason: "unconfirmed", days: 6 }]],
      ["late", [{ reason: "late", days: 4 }]],
      ["all-in", [{ reason: "received", days: 3 }]],
      ["unsynced", [{ reason: "unsynced", days: 2 }]],
      ["disputed", [{ reason: "disputed", days: 1 }]],
    ],
  );
  assert.deepEqual(all.at("counts"), {
    disputed: 1,
    unsynced: 1,
    late: 1,
    unconfirmed: 1,
    received: 1,
    "payment-due": 1,
  });
  assert.deepEqual(all.at("orders", 0, "duePayments"), [
    { amount: 40, currencyCode: "EUR", dueDate: date(server, -10) },
  ]);
  const { nextStep, ...late } = Object.fromEntries(Object.entries(all.at("orders", 2) ?? {}));
  assert.deepEqual(late, {
    purchaseOrderId: "late",
    poNumber: "late",
    status: "In Progress",
    supplierName: "The Mill",
    reasons: [{ reason: "late", days: 4 }],
    nextExpectedDate: date(server, -4),
    quantityOrdered: 10,
    quantityReceived: 3,
    quantityPending: 7,
  });
  assert.partialDeepStrictEqual(nextStep, {
    tool: "purchase_order_update",
    arguments: { purchaseOrderId: "late" },
  });

  const orders = (input: object) => found(agent, "orders_needing_attention", "orders", "purchaseOrderId", input);
  assert.deepEqual(await orders({ limit: 1 }), ["owed", "unconfirmed", "late", "all-in", "unsynced", "disputed"]);
  assert.deepEqual(await orders({ unconfirmedDays: 1, locationId: "pier" }), ["sent"]);
  assert.deepEqual(await orders({ supplierId: "unknown" }), []);
});

test("a completed order whose sync failed is still listed, and its next step is to reopen it", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await server.bringOrder("In Progress", [{ poLineItemId: "a", variantId: "kettle", quantityOrdered: 10 }]);
  await server.faults([{ call: "changeOnHand", outcome: "refused" }]);
  await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived: 10 }] });
  assert.equal((await server.post(server.order("/complete"))).status, 200);
  await using agent = await connectAgent(server, { key: server.readKey });
  const found = await agent.call("orders_needing_attention");
  assert.deepEqual(found.at("orders", 0, "reasons"), [{ reason: "unsynced", days: 0 }]);
  assert.partialDeepStrictEqual(found.at("orders", 0, "nextStep"), {
    tool: "purchase_order_status",
    arguments: { status: "Received" },
  });
});

/** Kettle, cup and pot sell one a day; all are short. Lamp sells nothing. */
const shortOfStock = (server: GoodsServer) => [
  ...records,
  variant("pot", "Pot", { sku: "P-1" }),
  variant("lamp", "Lamp", { unitCost: 3 }),
  variant("orphan", "Orphan"),
  { type: "supplierVariant", supplierId: "mill", variantId: "pot", unitCost: 2, leadTimeDays: 1 },
  { type: "supplierVariant", supplierId: "mill", variantId: "lamp", unitCost: 5 },
  variant("cup", "Cup", { sku: "K-10" }),
  variant("mug", "Mug", { sku: "M-1" }),
  { type: "inventoryLevel", variantId: "pot", locationId: "warehouse", onHand: 2 },
  ...["kettle", "cup", "pot", "orphan"].flatMap((variantId) =>
    Array.from({ length: 60 }, (_, day) => ({
      type: "sale",
      variantId,
      locationId: "warehouse",
      date: date(server, -60 + day),
      quantity: 1,
    })),
  ),
  {
    type: "forecastView",
    viewId: "reorder",
    viewName: "Reorder",
    mode: "stock",
    columns: ["productName"],
    filters: { variantIds: ["kettle", "cup", "pot", "lamp", "orphan"] },
  },
];

test("reordering from a view: a dry run shows one draft a supplier and changes nothing; the commit makes them, once", async () => {
  await using server = await startGoodsServer();
  await server.bring(shortOfStock(server));
  await bringElsewhere(server);
  await using agent = await connectAgent(server);
  const count = async () => (await agent.call("purchase_order_list")).at("totalCount");
  const asked = { viewId: "reorder", locationId: "warehouse" };
  const dry = await agent.call("reorder_from_view", asked);
  assert.ok(!dry.isError, JSON.stringify(dry.at()));
  assert.equal(await count(), 0);
  const orphan = { variantId: "orphan", sku: null, productName: "Orphan", reason: "no-supplier" };
  assert.deepEqual(dry.at("skipped"), [orphan]);
  assert.equal(dry.at("dryRun"), true);
  assert.deepEqual(dry.at("nextStep", "arguments"), { ...asked, dryRun: false });
  assert.deepEqual(idsOf(dry.at("drafts"), "supplierId"), ["nord", "mill"]);
  const nord = Object.fromEntries(Object.entries(dry.at("drafts", 0) ?? {}));
  const quantity = dry.at("drafts", 0, "lines", 0, "quantity");
  assert.ok(typeof quantity === "number" && quantity >= 12 && quantity % 6 === 0);
  assert.partialDeepStrictEqual(nord, {
    supplierName: "Nordlicht GRÖSSE",
    purchaseOrderId: null,
    poNumber: null,
    expectedArrivalDate: date(server, 9),
  });
  assert.deepEqual(idsOf(nord["lines"], "variantId"), ["kettle", "cup"]);
  assert.partialDeepStrictEqual(dry.at("drafts", 0, "lines", 0), {
    lineItemId: null,
    sku: "K-1",
    productName: "Kettle",
    unitCost: 4.5,
    stockoutDate: date(server, 2),
    late: true,
  });
  // Pot lasts two days and its supplier needs one.
  assert.equal(dry.at("drafts", 1, "lines", 0, "late"), false);

  const committed = { ...asked, dryRun: false, noteToSupplier: "By boat.", idempotencyKey: "reorder-1" };
  const lines = [
    { variantId: "cup", quantity: 0 },
    { variantId: "kettle", quantity: 30 },
    { variantId: "hidden", quantity: 4 },
    { variantId: "mug", quantity: 1 },
  ];
  const made = await agent.call("reorder_from_view", { ...committed, lines });
  assert.ok(!made.isError, JSON.stringify(made.at()));
  assert.equal(await count(), 2);
  assert.deepEqual(made.at("skipped"), [
    { variantId: "cup", sku: "K-10", productName: "Cup", reason: "left-out" },
    orphan,
    // Another shop's.
    { variantId: "hidden", sku: null, productName: null, reason: "not-in-view" },
    { variantId: "mug", sku: "M-1", productName: "Mug", reason: "not-in-view" },
  ]);
  assert.equal(made.at("drafts", 0, "totalValue"), 135);
  assert.equal(made.at("drafts", 0, "currencyCode"), "USD");
  const purchaseOrderId = made.textAt("drafts", 0, "purchaseOrderId");
  assert.deepEqual([made.at("drafts", 0, "poNumber"), made.at("drafts", 1, "poNumber")], ["PO-1001", "PO-1002"]);
  assert.equal(made.at("dryRun"), undefined);
  assert.partialDeepStrictEqual(made.at("nextStep"), {
    tool: "purchase_order_status",
    arguments: { purchaseOrderId, status: "Sent" },
  });
  const order = await agent.call("purchase_order_get", { purchaseOrderId });
  assert.partialDeepStrictEqual(order.at("purchaseOrder"), {
    status: "Draft",
    poNumber: "PO-1001",
    supplierId: "nord",
    locationId: "warehouse",
    currencyCode: "USD",
    totalValue: 135,
    noteToSupplier: "By boat.",
    expectedDeliveryDate: date(server, 9),
  });
  assert.partialDeepStrictEqual(order.at("purchaseOrder", "lineItems", 0), {
    lineItemId: made.textAt("drafts", 0, "lines", 0, "lineItemId"),
    variantId: "kettle",
    productName: "Kettle",
    sku: "K-1",
    quantityOrdered: 30,
    unitCost: 4.5,
    unitCostCurrencyCode: "USD",
    supplierSku: "N-K",
    moq: 12,
    packSize: 6,
  });
  const log = await agent.call("purchase_order_log_list", { purchaseOrderId });
  assert.equal(log.at("log", 0, "operation"), "purchase_order_create", "the change is the REST operation's own");
  assert.equal(log.at("log", 0, "actor", "type"), "agent");
  const rows = (await server.audit()).filter(({ tag }) => tag === "mcp:reorder_from_view");
  const row = { method: "TOOL", path: "/reorder_from_view", status: 200 };
  assert.partialDeepStrictEqual(rows, [row, { ...row, detail: '{"dryRun":true}' }]);
  assert.equal(rows[0]?.detail, undefined);

  const again = await agent.call("reorder_from_view", { ...committed, lines });
  assert.equal(again.at("replayed"), true);
  assert.deepEqual(again.at("drafts"), made.at("drafts"));
  const { _meta: meta } = again.result;
  assert.equal(meta?.["openpo/idempotentReplayed"], true);
  const other = await agent.call("reorder_from_view", committed);
  assert.equal(other.at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
  assert.equal(await count(), 2);

  // Without the key, what stands on a draft is named and not doubled; the cup is ordered now.
  const rest = await agent.call("reorder_from_view", { ...asked, dryRun: false });
  assert.deepEqual(idsOf(rest.at("drafts", 0, "lines"), "variantId"), ["cup"]);
  assert.equal(rest.at("drafts", 1), undefined);
  assert.deepEqual(rest.at("skipped"), [
    {
      variantId: "kettle",
      sku: "K-1",
      productName: "Kettle",
      reason: "on-draft",
      purchaseOrderId,
      poNumber: "PO-1001",
    },
    {
      variantId: "pot",
      sku: "P-1",
      productName: "Pot",
      reason: "on-draft",
      purchaseOrderId: made.textAt("drafts", 1, "purchaseOrderId"),
      poNumber: "PO-1002",
    },
    orphan,
  ]);
  assert.equal(await count(), 3);
  const nothing = await agent.call("reorder_from_view", asked);
  assert.deepEqual([nothing.at("drafts"), nothing.at("nextStep", "tool")], [[], "orders_needing_attention"]);
});

test("a reordered variant whose cost nobody knows is warned of, dry and made, and is to be corrected first (C16)", async () => {
  await using server = await startGoodsServer();
  await server.bring(shortOfStock(server));
  await server.bring([{ type: "supplierVariant", supplierId: "mill", variantId: "orphan", moq: 2, leadTimeDays: 1 }]);
  await using agent = await connectAgent(server);
  const asked = { viewId: "reorder", locationId: "warehouse" };
  const lines = [{ variantId: "cup", quantity: 0 }];
  for (const dryRun of [true, false]) {
    const answer = await agent.call("reorder_from_view", { ...asked, lines, dryRun });
    assert.ok(!answer.isError, answer.text);
    assert.equal(answer.at("drafts", 0, "warnings"), undefined, "all costs are known");
    const warnings = answer.at("drafts", 1, "warnings");
    assert.partialDeepStrictEqual(warnings, [{ path: "", reason: "no-cost" }], answer.text);
    assert.match(answer.textAt("drafts", 1, "warnings", 0, "message"), /^No unitCost of orphan is known/);
    assert.deepEqual(new Set(idsOf(answer.at("drafts", 1, "lines"), "variantId")), new Set(["orphan", "pot"]));
    const step = answer.at("nextStep");
    if (dryRun) assert.partialDeepStrictEqual(step, { tool: "reorder_from_view", arguments: asked });
    else {
      const purchaseOrderId = answer.textAt("drafts", 1, "purchaseOrderId");
      assert.partialDeepStrictEqual(step, { tool: "purchase_order_line_item_update", arguments: { purchaseOrderId } });
    }
  }
});

test("a key that reads sees reorder_from_view and may have it run dry, nothing else, and nowhere but at /mcp (C68)", async () => {
  await using server = await startGoodsServer();
  await server.bring(shortOfStock(server));
  await using reader = await connectAgent(server, { key: server.readKey });
  const asked = { viewId: "reorder", locationId: "warehouse" };
  const { tools } = await reader.client.listTools();
  const writes = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
  assert.deepEqual(
    writes.map(({ name }) => name),
    ["reorder_from_view"],
  );
  for (const dryRun of [{}, { dryRun: true, idempotencyKey: "k" }, { dryRun: true, idempotencyKey: "k" }]) {
    const dry = await reader.call("reorder_from_view", { ...asked, ...dryRun });
    assert.deepEqual([dry.isError, dry.at("dryRun"), dry.at("replayed")], [false, true, undefined], dry.text);
    assert.deepEqual(idsOf(dry.at("drafts"), "supplierId"), ["nord", "mill"]);
  }
  const refused = await reader.call("reorder_from_view", { ...asked, dryRun: false });
  assert.partialDeepStrictEqual(refused.at("error"), {
    code: "FORBIDDEN_SCOPE",
    message: "A key with the read scope may not call reorder_from_view, but for a dry run.",
    action: "Use a key with the scope write, or propose.",
  });
  const other = await reader.call("purchase_order_create", { dryRun: true });
  assert.equal(other.at("error", "code"), "FORBIDDEN_SCOPE");
  assert.equal((await reader.call("purchase_order_list")).at("totalCount"), 0);
  await using reads = await connectAgent(server, { address: "/mcp/read" });
  await assert.rejects(reads.call("reorder_from_view", asked), /There is no tool reorder_from_view at this address/);
  await using agent = await connectAgent(server);
  const unclear = await agent.call("reorder_from_view", { ...asked, dryRun: "no" });
  assert.deepEqual(unclear.at("error", "details", 0), { path: "/dryRun", message: "must be true or false" });
});

test("a dry run of a reorder says what the commit would need: a decision, or that its limits refuse it (C81)", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring(shortOfStock(server));
  const asked = { viewId: "reorder", locationId: "warehouse" };
  const dryRunOf = async (facts: object): Promise<ToolAnswer> => {
    const made = await askAdmin(server, "POST", `/shops/${server.shopId}/keys`, { name: "Agent", ...facts });
    await using agent = await connectAgent(server, { key: made.textAt("data", "apiKey") });
    return await agent.call("reorder_from_view", asked);
  };
  const limits = { supplierIds: ["mill"] };
  const proposed = await dryRunOf({ scope: "propose" });
  assert.deepEqual(proposed.at("approvalCauses"), [{ cause: "scope" }]);
  const beyond = await dryRunOf({ scope: "write", limits: { ...limits, beyond: "ask" } });
  assert.partialDeepStrictEqual(beyond.at("approvalCauses"), [{ cause: "limit", limit: "supplierIds", asked: "nord" }]);
  const refused = await dryRunOf({ scope: "write", limits: { ...limits, beyond: "refuse" } });
  assert.equal(refused.at("error", "reason"), "LIMIT_EXCEEDED");
  assert.equal((await dryRunOf({ scope: "write" })).at("approvalCauses"), undefined);
  const rows = (await server.audit()).filter(({ tag }) => tag === "mcp:reorder_from_view");
  assert.deepEqual(
    rows.map(({ status, detail }) => [status, detail]),
    [200, 403, 200, 200].map((status) => [status, '{"dryRun":true}']),
  );
});

test("reordering needs a view and a location of the shop, and makes all drafts or none", async () => {
  await using server = await startGoodsServer();
  const dear = { type: "supplierVariant", supplierId: "mill", variantId: "pot", unitCost: 1_000, leadTimeDays: 1 };
  await server.bring(shortOfStock(server));
  await server.bring([dear]);
  await using agent = await connectAgent(server);
  const asked = { viewId: "reorder", locationId: "warehouse" };
  assert.equal((await agent.call("reorder_from_view", { ...asked, viewId: "none" })).at("error", "code"), "NOT_FOUND");
  const nowhere = await agent.call("reorder_from_view", { ...asked, locationId: "none" });
  assert.equal(nowhere.at("error", "details", 0, "path"), "/locationId");
  assert.match(nowhere.textAt("error", "action"), /location_list/);
  // The second supplier's draft would be worth too much: the first one's is not made either.
  const tooMuch = await agent.call("reorder_from_view", {
    ...asked,
    dryRun: false,
    lines: [{ variantId: "pot", quantity: 999_999_999 }],
  });
  assert.equal(tooMuch.at("error", "code"), "INVALID_INPUT", JSON.stringify(tooMuch.at()));
  assert.equal((await agent.call("purchase_order_list")).at("totalCount"), 0);
});
