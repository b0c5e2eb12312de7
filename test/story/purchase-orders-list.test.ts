/** The list of orders: filters, search, stable pages, and what it costs (C12, C13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { countStatement, type OrderFilters, pageStatement } from "../../src/shop/purchase-order-list.ts";
import { anything } from "../support/order-filters.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import type { TestServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";

const orders = "/api/v1/purchase-orders";
const dayMs = 86_400_000;
const start = Date.parse("2026-03-01T12:00:00.000Z");

const order = (index: number, facts: object = {}): object => ({
  type: "purchaseOrder",
  purchaseOrderId: `o${String(index).padStart(3, "0")}`,
  poNumber: `N-${index}`,
  createdAt: new Date(start + index * dayMs).toISOString(),
  lineItems: [],
  ...facts,
});

const line = (poLineItemId: string, facts: object): object => ({
  poLineItemId,
  variantId: "red",
  quantityOrdered: 10,
  unitCost: 10,
  ...facts,
});

const paid = (amount: number, facts: object = {}): object => ({
  paymentId: "p1",
  paymentType: "deposit",
  createdAt: "2026-03-01T00:00:00.000Z",
  status: "Paid",
  amount,
  currencyCode: "EUR",
  ...facts,
});

const various = [
  { type: "supplier", supplierId: "strasse", name: "Große Straße 100% _Garn_ GmbH" },
  { type: "location", locationId: "store", name: "Store" },
  order(0),
  order(1, { status: "Sent", supplierId: "mill", locationId: "warehouse", poName: "Spring restock" }),
  order(2, { status: "Sent", supplierId: "strasse", locationId: "store", lineItems: [line("a", { sku: "R-1" })] }),
  order(3, {
    status: "Confirmed",
    locationId: "warehouse",
    supplierId: "strasse",
    supplierReference: "REF-77%",
    lineItems: [line("a", {}), line("b", { variantId: "blue", sku: "B-1" }), line("c", {})],
    payments: [paid(100)],
  }),
  order(4, {
    locationId: "warehouse",
    status: "Cancelled",
    previousStatus: "Sent",
    lineItems: [line("a", {})],
    payments: [paid(100.01)],
  }),
  order(5, {
    status: "Received",
    locationId: "warehouse",
    lineItems: [line("a", { variantId: "blue" })],
    payments: [paid(60), paid(40, { paymentId: "p2", status: "Scheduled" })],
    credits: [{ creditId: "c1", amountApplied: 40, currencyCode: "EUR", appliedAt: "2026-03-01T00:00:00.000Z" }],
  }),
];

async function idsOf(server: TestServer, query: string): Promise<string> {
  const answer = await server.get(`${orders}${query}`);
  assert.equal(answer.status, 200, answer.text);
  const found = answer.at("data", "purchaseOrders");
  assert.ok(Array.isArray(found));
  assert.equal(answer.at("data", "totalCount"), found.length, query);
  return found.map((_, index) => answer.textAt("data", "purchaseOrders", index, "purchaseOrderId").slice(2)).join(" ");
}

test("each filter finds the orders it describes, newest first, and they narrow together", async () => {
  await using server = await startGoodsServer();
  await server.bring(various);
  for (const [query, found] of [
    ["", "05 04 03 02 01 00"],
    ["?status=Sent", "02 01"],
    ["?status=Sent,Draft,Received", "05 02 01 00"],
    ["?status=Draft,Draft&paidStatus=Paid,Paid", ""],
    ["?status=Sent,Sent", "02 01"],
    ["?supplierId=strasse", "03 02"],
    ["?locationId=store", "02"],
    ["?variantId=blue", "05 03"],
    ["?variantId=red", "04 03 02"],
    ["?sku=R-1", "02"],
    ["?sku=r-1", ""],
    ["?variantId=red&sku=B-1", "03"],
    ["?paidStatus=Unpaid", "02 01 00"],
    ["?paidStatus=Paid", "05"],
    ["?paidStatus=Partially%20Paid", "03"],
    ["?paidStatus=Overpaid,Paid", "05 04"],
    ["?paidStatus=Overpaid,Paid&status=Received,Sent", "05"],
    ["?search=SPRING", "01"],
    ["?search=n-3", "03"],
    ["?search=ref-77%25", "03"],
    ["?search=%25", "03 02"],
    ["?search=_", "03 02"],
    ["?search=STRASSE", "03 02"],
    ["?search=GRO%C3%9FE", "03 02"],
    ["?search=mill", "01"],
    ["?search=mill&status=Draft", ""],
    ["?dateFrom=2026-03-02&dateTo=2026-03-04", "03 02 01"],
    ["?dateFrom=2026-03-05T12:00:00.000Z", "05 04"],
    ["?dateFrom=2026-03-05T12:00:00.001Z", "05"],
    ["?dateTo=2026-03-02T12:00:00Z", "01 00"],
    ["?dateTo=2026-03-02T13:59:59%2B02:00", "00"],
    ["?dateFrom=2026-03-03&dateTo=2026-03-03", "02"],
    ["?supplierId=nobody", ""],
  ] as const)
    assert.equal(await idsOf(server, query), found, query);
});

test("a filter that cannot be is refused by name", async () => {
  await using server = await startGoodsServer();
  for (const [query, pointer] of [
    ["?status=Gone", "/status/0"],
    ["?status=Sent,Gone", "/status/1"],
    ["?status=", "/status"],
    ["?paidStatus=paid", "/paidStatus/0"],
    ["?dateFrom=yesterday", "/dateFrom"],
    ["?dateFrom=2026-02-30", "/dateFrom"],
    ["?dateFrom=2026-03-02&dateTo=2026-03-01", "/dateTo"],
    ["?limit=0", "/limit"],
    ["?limit=51", "/limit"],
    ["?limit=ten", "/limit"],
    ["?limit=", "/limit"],
    ["?page=2", "/page"],
    ["?supplierId=mill&supplierId=strasse", "/supplierId"],
    ["?cursor=x", "/cursor"],
    ["?search=", "/search"],
  ] as const) {
    const answer = await server.get(`${orders}${query}`);
    assert.equal(answer.status, 400, query);
    const told = answer.textAt("error", "details", 0, "path");
    assert.ok(told === pointer || told.startsWith(`${pointer}/`), `${query}: ${told}`);
  }
});

test("pages neither repeat nor skip an order that stays, while others come and go", async () => {
  await using server = await startGoodsServer();
  // Several created in the same millisecond: the id breaks the tie.
  await server.bring(Array.from({ length: 23 }, (_, index) => order(index, { createdAt: createdAtOf(index) })));
  const seen: string[] = [];
  let cursor = "";
  for (let page = 0; ; page += 1) {
    const answer = await server.get(`${orders}?limit=5${cursor}`);
    assert.equal(answer.status, 200, answer.text);
    const rows = answer.at("data", "purchaseOrders");
    assert.ok(Array.isArray(rows));
    seen.push(...rows.map((_, index) => answer.textAt("data", "purchaseOrders", index, "purchaseOrderId")));
    if (answer.at("data", "cursor") === null) break;
    cursor = `&cursor=${answer.textAt("data", "cursor")}`;
    if (page === 1) {
      await server.post(orders);
      assert.equal((await server.delete(`${orders}/o022`)).status, 200, "one already seen");
      assert.equal((await server.delete(`${orders}/o000`)).status, 200, "one still to come");
    }
  }
  const stayed = Array.from({ length: 22 }, (_, index) => `o${String(22 - index).padStart(3, "0")}`);
  assert.deepEqual(seen, stayed);
});

const createdAtOf = (index: number): string => new Date(start + Math.floor(index / 4)).toISOString();

test("the last page has no cursor, also when the count is a whole number of pages", async () => {
  await using server = await startGoodsServer();
  await server.bring(Array.from({ length: 4 }, (_, index) => order(index)));
  const first = await server.get(`${orders}?limit=2`);
  const second = await server.get(`${orders}?limit=2&cursor=${first.textAt("data", "cursor")}`);
  assert.equal(second.at("data", "cursor"), null);
  assert.equal(second.at("data", "purchaseOrders", 1, "purchaseOrderId"), "o000");
  const empty = await server.get(`${orders}?status=Disputed`);
  assert.deepEqual(empty.at("data", "purchaseOrders"), []);
  assert.equal(empty.at("data", "cursor"), null);
});

test("a cursor works only with the list and the filters it came from", async () => {
  await using server = await startGoodsServer();
  await server.bring(
    Array.from({ length: 4 }, (_, index) => order(index, { lineItems: [line("a", {}), line("b", {})] })),
  );
  const cursor = (await server.get(`${orders}?limit=1&status=Draft`)).textAt("data", "cursor");
  assert.equal((await server.get(`${orders}?status=Draft&limit=3&cursor=${cursor}`)).status, 200, "limit may change");
  const lines = (await server.get(`${orders}/o000/line-items?limit=1`)).textAt("data", "cursor");
  for (const target of [
    `${orders}?cursor=${cursor}`,
    `${orders}?status=Sent&cursor=${cursor}`,
    `${orders}?status=Draft&cursor=${lines}`,
    `${orders}/o001/line-items?cursor=${lines}`,
    `${orders}/o000/line-items?cursor=${cursor}`,
    `${orders}?status=Draft&cursor=${cursor.slice(1)}`,
  ]) {
    const answer = await server.get(target);
    assert.equal(answer.status, 400, target);
    assert.match(answer.textAt("error", "message"), /cursor/);
  }
});

const plansOfSqlite = { skip: onPostgres && "what is looked at is a plan of sqlite" };

test(
  "every filter is answered from an index: no scan of all orders, no sort of all matches",
  plansOfSqlite,
  async () => {
    await using server = await startGoodsServer();
    await server.bring(various);
    const planOf = async ({ sql, params }: ReturnType<typeof countStatement>): Promise<string> => {
      const steps = await server.engine.read(server.shopId, (tx) =>
        tx.all<{ detail: string }>(`explain query plan ${sql}`, params),
      );
      return steps.map((step) => step.detail).join("\n");
    };
    const after = { createdAtMs: start, purchaseOrderId: "o001" };
    for (const [name, filters, index] of [
      ["none", {}, "purchase_order_by_age"],
      ["status", { statuses: ["Sent"] }, "purchase_order_by_status"],
      ["statuses", { statuses: ["Sent", "Disputed"] }, "purchase_order_by_status"],
      ["paid", { paidStatuses: ["Paid", "Overpaid"] }, "purchase_order_by_paid_status"],
      ["sync", { storefrontSyncStates: ["failed"] }, "purchase_order_by_sync_state"],
      ["expected", { expectedBefore: "2026-03-01" }, "purchase_order_by_next_expected_date"],
      ["supplier", { supplierId: "mill" }, "purchase_order_by_supplier"],
      ["location", { locationId: "store" }, "purchase_order_by_location"],
      ["variant", { variantId: "red" }, "purchase_order_line_by_variant"],
      ["sku", { sku: "R-1" }, "purchase_order_line_by_sku"],
      ["dates", { createdFromMs: start, createdBeforeMs: start + dayMs }, "purchase_order_by_age"],
      ["search", { search: "x" }, "purchase_order_by_age"],
    ] as const) {
      const all: OrderFilters = { ...anything, ...filters };
      for (const statement of [
        pageStatement("s", all, null, 51),
        pageStatement("s", all, after, 51),
        ...(name === "none" ? [] : [countStatement("s", all)]),
      ]) {
        const plan = await planOf(statement);
        assert.ok(plan.includes(index), `${name}: ${plan}`);
        assert.ok(!/SCAN (?:o|purchase_order|purchase_order_line)\b/.test(plan), `${name}: ${plan}`);
      }
      const sorts = /TEMP B-TREE/.test(await planOf(pageStatement("s", all, null, 51)));
      // What a day leads to, and the few rows of several branches, are sorted; they are as many as are found.
      assert.equal(sorts, ["statuses", "paid", "expected"].includes(name), name);
    }
  },
);
