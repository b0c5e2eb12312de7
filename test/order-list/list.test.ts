/** The list of orders: filters, search, stable pages, and what it costs (C12, C13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mergedStatements } from "../../src/shop/order-list/search-by-line.ts";
import {
  countStatement,
  type OrderFilters,
  listOrders,
  pageStatement,
} from "../../src/shop/order-list/purchase-order-list.ts";
import { NoticingTx } from "../../src/store/delegated.ts";
import { anything } from "../support/shops/order-filters.ts";
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

/** More than a page looks at one by one; with lines of one variant in most. */
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

/** Filters together with a line of the red variant, what they mean, and whether PostgreSQL and SQLite merge for them. */
const combined: readonly (readonly [OrderFilters, (found: Many) => boolean, "merges" | "looks up"])[] = (
  [
    [{ statuses: ["Sent"] }, (found) => statusOf(found) === "Sent", "merges"],
    // Only among the oldest, so that the newest do not make a page.
    [{ statuses: ["In Progress"] }, (found) => statusOf(found) === "In Progress", "merges"],
    [
      { statuses: ["In Progress", "Draft", "Draft"], paidStatuses: ["Unpaid"] },
      (found) => ["In Progress", "Draft"].includes(statusOf(found)),
      "merges",
    ],
    [{ supplierId: "strasse" }, (found) => found.supplierId === "strasse", "merges"],
    [
      { supplierId: "strasse", locationId: "warehouse", search: "even" },
      (found) => found.supplierId === "strasse" && found.poName === "Even",
      "merges",
    ],
    [{ sku: "R-5" }, hasSku, "merges"],
    [
      { sku: "R-5", statuses: ["Sent"], createdBeforeMs: start + 50 * dayMs },
      (found) => hasSku(found) && statusOf(found) === "Sent" && createdAtMs(found) < start + 50 * dayMs,
      "merges",
    ],
    [{ storefrontSyncStates: ["failed"] }, () => false, "merges"],
    [{ search: "odd" }, (found) => found.poName === "Odd", "looks up"],
    [
      { createdFromMs: start + 7 * dayMs, createdBeforeMs: start + 90 * dayMs },
      (found) => createdAtMs(found) >= start + 7 * dayMs && createdAtMs(found) < start + 90 * dayMs,
      "looks up",
    ],
  ] satisfies readonly (readonly [Partial<OrderFilters>, (found: Many) => boolean, "merges" | "looks up"])[]
).map(([filters, matches, how]) => [{ ...anything, variantId: "red", ...filters }, matches, how]);

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

test("a variant together with any other filter lists every match once, newest first, whichever way it is found", async () => {
  await using server = await startGoodsServer();
  await server.bring([...various.slice(0, 2), ...many, ...hidden]);
  const gone = "o099";
  assert.equal((await server.delete(`${orders}/${gone}`)).status, 200);
  const stays = many.filter((found) => linesOf(found).length > 0 && idOf(found) !== gone);
  for (const [filters, matches, how] of combined) {
    const name = JSON.stringify(filters);
    const expected = stays
      .filter(matches)
      .sort((a, b) => createdAtMs(b) - createdAtMs(a) || (idOf(a) < idOf(b) ? 1 : -1))
      .map(idOf);
    let merges = false;
    const found: string[] = [];
    const pageAfter = (position: Position): ReturnType<typeof listOrders> =>
      server.engine.read(server.shopId, (tx) => {
        const noticing = new NoticingTx(tx, ({ sql }) => (merges ||= /\bintersect\b/.test(sql)));
        return listOrders(noticing, server.shopId, filters, position, 20);
      });
    for (let page = await pageAfter(null); ; page = await pageAfter(page.end)) {
      assert.equal(page.totalCount, expected.length, name);
      found.push(...page.orders.map(({ purchaseOrderId }) => purchaseOrderId));
      if (page.end === null) break;
    }
    assert.deepEqual(found, expected, name);
    assert.equal(merges, how === "merges", name);
  }
});

test("a variant together with a status is merged from two indexes, without a sort", plansOfSqlite, async () => {
  await using server = await startGoodsServer();
  await server.bring(many);
  const merged = await server.engine.read(server.shopId, async (tx) => {
    const statements = await mergedStatements(
      tx,
      server.shopId,
      {
        lines: [{ kind: "variant", column: "variant_id", values: ["red"] }],
        values: [{ kind: "status", column: "o.status", values: ["Sent"] }],
        others: [],
        createdFromMs: null,
        createdBeforeMs: null,
      },
      { created_at: start + 60 * dayMs, purchase_order_id: "o180" },
      51,
    );
    assert.ok(statements !== null);
    const plans = [statements.count, statements.page].map(async ({ sql, params }) => {
      const steps = await tx.all<{ detail: string }>(`explain query plan ${sql}`, params);
      return steps.map((step) => step.detail).join("\n");
    });
    return await Promise.all(plans);
  });
  for (const plan of merged) {
    assert.match(plan, /MERGE \(INTERSECT\)/);
    assert.match(plan, /COVERING INDEX purchase_order_line_by_variant/);
    assert.match(plan, /COVERING INDEX purchase_order_by_status|INDEX purchase_order_by_status/);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  }
});
