/** The list of orders: filters, search, stable pages, and what it costs (C12, C13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type OrderFilters, listOrders } from "../../src/shop/order-list/purchase-order-list.ts";
import { anything } from "../support/shops/order-filters.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import type { TestServer } from "../support/server.ts";

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
    ["?sku=r-1", "02"],
    ["?sku=%20R-1%20", "02"],
    ["?sku=R", ""],
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

test("lists are sorted by each value, in both directions; orders without it come last", async () => {
  await using server = await startGoodsServer();
  await server.bring([
    order(0, { poNumber: "PO-1001", lineItems: [line("a", { unitCost: 5 })] }),
    order(1, { poNumber: "po-999", expectedDeliveryDate: "2026-05-01", lineItems: [line("a", { unitCost: 90 })] }),
    order(2, { poNumber: "A-2", currencyCode: "USD", fxRateOverride: 0.5, lineItems: [line("a", { unitCost: 100 })] }),
    // No rate leads from this currency to the shop's.
    order(3, { poNumber: "A-10", currencyCode: "JPY", lineItems: [line("a", { unitCost: 1_000 })] }),
    order(4, { poNumber: "Ä-9", expectedDeliveryDate: "2026-04-01", lineItems: [line("a", { unitCost: 5 })] }),
  ]);
  for (const [sort, found] of [
    ["-createdAt", "04 03 02 01 00"],
    ["poNumber", "02 04 03 01 00"],
    ["-poNumber", "00 01 03 04 02"],
    ["totalValue", "00 04 02 01 03"],
    ["-totalValue", "01 02 04 00 03"],
    ["nextExpectedDate", "04 01 03 02 00"],
    ["-nextExpectedDate", "01 04 03 02 00"],
    ["updatedAt", "00 01 02 03 04"],
  ] as const)
    assert.equal(await idsOf(server, `?sort=${sort}`), found, sort);
  assert.equal(await idsOf(server, "?sort=totalValue&search=po-"), "00 01");
  const patched = await server.request("PATCH", `${orders}/o002`, { body: { poName: "Changed" } });
  assert.equal(patched.status, 200, patched.text);
  assert.equal(await idsOf(server, "?sort=-updatedAt"), "02 04 03 01 00");
});

test("a cursor belongs to the sort of its list", async () => {
  await using server = await startGoodsServer();
  await server.bring([order(0), order(1), order(2)]);
  const first = await server.get(`${orders}?limit=1&sort=poNumber`);
  const cursor = first.textAt("data", "cursor");
  assert.equal((await server.get(`${orders}?limit=1&sort=poNumber&cursor=${cursor}`)).status, 200);
  for (const query of ["", "&sort=-poNumber", "&sort=updatedAt"]) {
    const answer = await server.get(`${orders}?limit=1${query}&cursor=${cursor}`);
    assert.deepEqual([answer.status, answer.textAt("error", "details", 0, "path")], [400, "/cursor"], query);
  }
});

test("a search finds orders by each of its words, without accents, and by tags", async () => {
  await using server = await startGoodsServer();
  await server.bring([
    { type: "supplier", supplierId: "lodz", name: "Łódź Ceramika Müller" },
    order(0, { supplierId: "lodz", poName: "Tideline Mug Sea", tags: ["Frühjahr", "dock side"] }),
    order(1, { supplierId: "lodz", poName: "Café 250" }),
    order(2, { poName: "Smørrebrød", tags: ["100%"] }),
  ]);
  for (const [search, found] of [
    ["mug tideline", "00"],
    ["tideline mug sea", "00"],
    ["lodz cafe", "01"],
    ["LODZ muller", "01 00"],
    ["muller n-1", "01"],
    ["fruhjahr", "00"],
    ["side dock ceramika", "00"],
    ["smorrebrod", "02"],
    ["100%", "02"],
    ["%", "02"],
    ["_", ""],
    ["mug nobody", ""],
    ["   ", "02 01 00"],
  ] as const)
    assert.equal(await idsOf(server, `?search=${encodeURIComponent(search)}`), found, search);
  const patched = await server.request("PATCH", `${orders}/o001`, { body: { tags: ["Été"] } });
  assert.equal(patched.status, 200, patched.text);
  assert.equal(await idsOf(server, "?search=ete"), "01");
  assert.equal(await idsOf(server, "?search=ete&variantId=red"), "");
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
    ["?sort=grandTotal", "/sort"],
    ["?sort=poNumber,updatedAt", "/sort"],
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

/** More than are left unsealed; with lines of one variant in most. */
const manyOrders = 400;

const many = Array.from({ length: manyOrders }, (_, index) => {
  const status = index < 20 ? "In Progress" : ["Draft", "Sent", "Confirmed"][index % 3];
  const red = index % 16 === 0 ? [] : [line("a", { sku: index % 5 === 0 ? "R-1" : "R-5" })];
  const again = index % 4 === 1 ? [line("b", { sku: "R-5" })] : [];
  // Neighbours are of the same moment, so that ids decide.
  const createdAt = new Date(start + Math.floor(index / 3) * dayMs).toISOString();
  return {
    ...order(index, { status, createdAt, lineItems: [...red, ...again] }),
    poName: index % 2 === 0 ? "Even" : "Odd",
    supplierId: index % 7 === 0 ? "strasse" : "mill",
    locationId: "warehouse",
  };
});

/** Deleted orders that keep their lines, as one of each sort that filters tell apart. */
const hidden = many.slice(0, 24).map((found, index) => ({
  ...found,
  purchaseOrderId: `h${index}`,
  poNumber: `H-${index}`,
  deletedAt: "2026-09-01T00:00:00.000Z",
}));

type Many = (typeof many)[number];

/** Filters together with a line of the red variant, and what they mean. */
const combined: readonly (readonly [OrderFilters, (found: Many) => boolean])[] = (
  [
    [{ statuses: ["Sent"] }, (found) => statusOf(found) === "Sent"],
    // Only among the oldest, so that the newest do not make a page.
    [{ statuses: ["In Progress"] }, (found) => statusOf(found) === "In Progress"],
    [
      { statuses: ["In Progress", "Draft", "Draft"], paidStatuses: ["Unpaid"] },
      (found) => ["In Progress", "Draft"].includes(statusOf(found)),
    ],
    [{ supplierId: "strasse" }, (found) => found.supplierId === "strasse"],
    [
      { supplierId: "strasse", locationId: "warehouse", search: "even" },
      (found) => found.supplierId === "strasse" && found.poName === "Even",
    ],
    [{ sku: "R-5" }, hasSku],
    [
      { sku: "R-5", statuses: ["Sent"], createdBeforeMs: start + 50 * dayMs },
      (found) => hasSku(found) && statusOf(found) === "Sent" && createdAtMs(found) < start + 50 * dayMs,
    ],
    [{ storefrontSyncStates: ["failed"] }, () => false],
    [{ search: "odd" }, (found) => found.poName === "Odd"],
    [
      { createdFromMs: start + 7 * dayMs, createdBeforeMs: start + 90 * dayMs },
      (found) => createdAtMs(found) >= start + 7 * dayMs && createdAtMs(found) < start + 90 * dayMs,
    ],
  ] satisfies readonly (readonly [Partial<OrderFilters>, (found: Many) => boolean])[]
).map(([filters, matches]) => [{ ...anything, variantId: "red", ...filters }, matches]);

const fieldOf = (found: object, field: string): unknown => Object.entries(found).find(([name]) => name === field)?.[1];
const statusOf = (found: object): string => String(fieldOf(found, "status"));
const idOf = (found: object): string => String(fieldOf(found, "purchaseOrderId"));
const createdAtMs = (found: object): number => Date.parse(String(fieldOf(found, "createdAt")));

const linesOf = (found: object): readonly object[] => {
  const lines = fieldOf(found, "lineItems");
  return Array.isArray(lines) ? lines : [];
};

function hasSku(found: object): boolean {
  return linesOf(found).some((each) => fieldOf(each, "sku") === "R-5");
}

type Position = Parameters<typeof listOrders>[3];

test("a variant together with any other filter lists every match once, newest first", async () => {
  await using server = await startGoodsServer();
  await server.bring([...various.slice(0, 2), ...many, ...hidden]);
  const gone = "o099";
  assert.equal((await server.delete(`${orders}/${gone}`)).status, 200);
  const stays = many.filter((found) => linesOf(found).length > 0 && idOf(found) !== gone);
  for (const [filters, matches] of combined) {
    const name = JSON.stringify(filters);
    const expected = stays
      .filter(matches)
      .sort((a, b) => createdAtMs(b) - createdAtMs(a) || (idOf(a) < idOf(b) ? 1 : -1))
      .map(idOf);
    const found: string[] = [];
    const pageAfter = (position: Position): ReturnType<typeof listOrders> =>
      server.engine.read(server.shopId, (tx) => listOrders(tx, server.shopId, filters, position, 20));
    for (let page = await pageAfter(null); ; page = await pageAfter(page.end)) {
      assert.equal(page.totalCount, expected.length, name);
      found.push(...page.orders.map(({ purchaseOrderId }) => purchaseOrderId));
      if (page.end === null) break;
    }
    assert.deepEqual(found, expected, name);
  }
});
