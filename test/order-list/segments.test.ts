/** Lists find what the orders themselves say, whatever was done to them and wherever they are: in segments, recent, in the middle of sealing (C12, C13, R4, R5). */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fold, wordsOf } from "../../src/base/text/fold.ts";
import { naturalKey } from "../../src/base/text/natural-key.ts";
import { dayMs } from "../../src/base/time/calendar.ts";
import type { OrderFacts } from "../../src/shop/order-list/order-facts.ts";
import type { OrderFilters } from "../../src/shop/order-list/purchase-order-list.ts";
import { beginFilling, fillSegments, isBehind, recentMax, sealRecent } from "../../src/shop/order-list/sealing.ts";
import { loadHeads } from "../../src/shop/order-list/segment-heads.ts";
import { keepingSegments } from "../../src/shop/order-list/segment-upkeep.ts";
import {
  ArticleIds,
  type Wanted,
  articleIdsFrom,
  columnsText,
  factsFrom,
  isMatch,
  placesOf,
  postingsText,
  segmentOrdersMax,
} from "../../src/shop/order-list/segment.ts";
import type { Tx } from "../../src/store/store.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { startServer } from "../support/server.ts";
import { allOrders, assertLists } from "../support/shops/list-model.ts";
import { assertLookUps } from "../support/shops/look-up-model.ts";
import { run, start, step, variants } from "../support/shops/order-steps.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

const orders = "/api/v1/purchase-orders";

// A segment.

/** What is hard to search: wildcards, escapes, letters of several lengths, and blanks. */
const letters = [...Array.from("abAßÉς%_\\'1-"), "e\u0301", "ﬁ", "İ", "𝒳", "é", "¨", " ", "\u0001", "\u0085"];

const textOf = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 }).map((all) => all.join(""));

const factsOf = fc.record({
  createdAtMs: fc.nat(40),
  updatedAtMs: fc.nat(40),
  number: textOf.map(naturalKey),
  values: fc.constantFrom(
    ["0000000000000020=EUR"],
    ["0000000000000020=USD", "0000000000000030!USD"],
    ["0000000000000020!PLN", "0000000000000020=PLN"],
    ["0000000000000007!PLN", "0000000000000020=PLN"],
  ),
  text: textOf.map(fold),
  status: fc.constantFrom("Draft", "Sent"),
  paidStatus: fc.constantFrom("Paid", "Unpaid"),
  storefrontSyncState: fc.constant("never-synced"),
  supplierId: fc.constantFrom("mill", "weaver", '"\n\\', null),
  locationId: fc.constantFrom("warehouse", null),
  nextExpectedDate: fc.constantFrom("2026-01-01", "2026-02-01", null),
  tags: fc.constantFrom("[]", '["a"]'),
});

const sealedOrders = fc.array(
  fc.record({
    facts: factsOf,
    articleIds: fc.uniqueArray(fc.oneof(fc.nat(70), fc.nat(2 ** 30 - 1)), { maxLength: 5 }),
  }),
  { maxLength: 80 },
);

test("a segment gives back what was stored, and finds what a look at each of its orders finds", () => {
  fc.assert(
    fc.property(
      sealedOrders,
      fc.array(textOf, { maxLength: 3 }),
      fc.constantFrom([], ["mill"], ["mill", "weaver"]),
      fc.constantFrom(null, "Sent", "Completed"),
      fc.option(fc.array(fc.nat(70), { maxLength: 4 })),
      fc.option(fc.nat(40)),
      (found, searches, suppliers, status, articleIds, updatedFromMs) => {
        const facts = found.map((each, place): OrderFacts => ({ ...each.facts, purchaseOrderId: `o"${place}` }));
        const articles = found.map((each) => each.articleIds);
        const bodies = new Map([...columnsText(facts), ...postingsText(articles)]);
        assert.deepEqual(factsFrom(bodies), facts);
        assert.deepEqual(
          articleIdsFrom(bodies, facts.length).map((ids) => new Set(ids)),
          articles.map((ids) => new Set(ids)),
        );
        const condition = (ids: readonly number[]) => ({ ids: new ArticleIds(ids), has: () => false });
        const wanted: Wanted = {
          columns: status === null ? {} : { status: (value) => value === status },
          updated: updatedFromMs === null ? null : (atMs) => atMs >= updatedFromMs,
          words: searches.flatMap(wordsOf).map((text, index) => ({
            text,
            suppliers: new Set<string>(index === 0 ? suppliers : []),
            articles: condition([index, index + 32]),
          })),
          articles: articleIds === null ? [] : [condition(articleIds)],
        };
        const expected = [...facts.entries()].flatMap(([place, each]) =>
          isMatch(each, ({ ids }) => articles[place]?.some((id) => ids.marks[id] === 1) ?? false, wanted) ? place : [],
        );
        assert.deepEqual(placesOf(bodies, facts.length, wanted), expected);
      },
    ),
    { numRuns: 500 },
  );
});

test("a full segment of orders with nothing in common gives back what was stored", () => {
  const facts = Array.from({ length: segmentOrdersMax }, (_, place): OrderFacts => ({
    purchaseOrderId: `o${place}`,
    createdAtMs: place,
    updatedAtMs: place + 5,
    number: `n${place % 100}`,
    values: [`${String(place % 50).padStart(16, "0")}=EUR`],
    text: `t${place}`,
    status: `s${place}`,
    paidStatus: null,
    storefrontSyncState: "x",
    supplierId: `u${place}`,
    locationId: `l${place}`,
    nextExpectedDate: `d${place}`,
    tags: `["${place}"]`,
  }));
  const articles = facts.map((_, place) => [7, 1_000 + place]);
  const bodies = new Map([...columnsText(facts), ...postingsText(articles)]);
  assert.deepEqual(factsFrom(bodies), facts);
  assert.deepEqual(
    articleIdsFrom(bodies, facts.length).map((ids) => ids.toSorted((a, b) => a - b)),
    articles,
  );
});

// Orders of a shop.

/** Any filter alone, some together, with words and tags of lines and headers. */
const asked: readonly Partial<OrderFilters>[] = [
  {},
  { statuses: ["Draft"] },
  { statuses: ["Sent", "Confirmed", "Sent"] },
  { paidStatuses: ["Paid", "Overpaid"] },
  { storefrontSyncStates: ["never-synced"] },
  ...["mill", "weaver", "nobody"].map((supplierId) => ({ supplierId })),
  ...["warehouse", "store"].map((locationId) => ({ locationId })),
  ...variants.map((variantId) => ({ variantId })),
  ...["R-1", " b-1 "].map((sku) => ({ sku })),
  { tags: ["weekly", "none"] },
  { createdFromMs: start },
  { createdBeforeMs: start + 1 },
  { createdFromMs: start, createdBeforeMs: start + 1 },
  { createdFromMs: start + 1, createdBeforeMs: start + 2 * dayMs },
  { createdFromMs: -300 * dayMs, createdBeforeMs: -dayMs / 2 },
  { updatedFromMs: start, updatedBeforeMs: start + 2 * dayMs },
  { expectedBefore: "2026-03-10" },
  ...["n-i", "red", "r-1", "weber", "weekly", "n-i 1", "scarf red", "%"].map((search) => ({ search })),
  { statuses: ["Draft", "Sent"], paidStatuses: ["Unpaid"], supplierId: "mill" },
  { statuses: ["Sent"], variantId: "red", createdFromMs: start },
  { variantId: "red", sku: "R-1" },
  { search: "red", statuses: ["Draft"], locationId: "warehouse" },
  { search: "b-1", supplierId: "mill", createdBeforeMs: start + dayMs },
  { tags: ["weekly"], expectedBefore: "2026-04-01", search: "n" },
];

/** A thing that is done to an order, or to where orders are kept. */
const anyStep = fc.oneof(
  { weight: 8, arbitrary: step },
  { weight: 1, arbitrary: fc.constantFrom("seal one", "seal all", "fill") },
);

async function fillAgain({ engine, shopId }: GoodsServer): Promise<void> {
  await engine.write(shopId, (tx) => tx.batch([beginFilling(shopId)]));
  while (await engine.write(shopId, (tx) => fillSegments(tx, shopId)));
}

const sealAll = async ({ engine, shopId }: GoodsServer): Promise<void> => {
  while (await engine.write(shopId, (tx) => sealRecent(tx, shopId, 0)));
};

/** Totals, articles and segments say what the orders say, when none is recent. */
async function assertSealed(server: GoodsServer): Promise<void> {
  const { engine, shopId } = server;
  await sealAll(server);
  await engine.read(shopId, async (tx) => {
    const found = await allOrders(tx, shopId);
    const [stored] = await tx.all<{ n: number }>(
      "select coalesce(sum(orders), 0) as n from order_count where shop_id = ? and kind = 'status'",
      [shopId],
    );
    assert.equal(Number(stored?.n), found.length);
    assert.deepEqual(await tx.all("select 1 as found from order_recent where shop_id = ?", [shopId]), []);
    assert.deepEqual(await tx.all("select 1 as found from order_count where shop_id = ? and orders < 0", [shopId]), []);
  });
}

/** Lists and look-ups say what the orders say. */
async function assertFound(tx: Tx, shopId: string, limit: number): Promise<void> {
  await assertLists(tx, shopId, asked, limit);
  await assertLookUps(tx, shopId);
}

test(
  "after any changes, on two nodes too, each list and look-up is what the orders give",
  { timeout: 240_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 12, maxLength: 40 }), async (steps) => {
        await using server = await startGoodsServer();
        const { engine, shopId } = server;
        await server.bring([{ type: "supplier", supplierId: "weaver", name: "Weberei Groß %" }]);
        const ids: string[] = [];
        await using node = onPostgres ? await startServer({ beside: server }) : null;
        for (const [index, each] of steps.entries()) {
          if (each === "fill") await fillAgain(server);
          else if (each === "seal one") await engine.write(shopId, (tx) => sealRecent(tx, shopId, 0));
          else if (each === "seal all") await sealAll(server);
          else await run(server, node === null || index % 2 === 0 ? server : node, ids, each);
          if (index % 8 === 7) await engine.read(shopId, (tx) => assertFound(tx, shopId, 3));
        }
        await engine.read(shopId, (tx) => assertFound(tx, shopId, 3));
        await assertSealed(server);
        await engine.read(shopId, (tx) => assertFound(tx, shopId, 3));
        await fillAgain(server);
        await engine.read(shopId, (tx) => assertFound(tx, shopId, 4));
      }),
      { numRuns: Number(process.env["OPENPO_PROPERTY_RUNS"] ?? (onPostgres ? 4 : 12)) },
    );
  },
);

const imported = (id: string, minute: number, value: number): object => ({
  type: "purchaseOrder",
  purchaseOrderId: id,
  poNumber: `N-${id}`,
  poName: `Restock ${value % 17}`,
  tags: value % 3 === 0 ? ["weekly"] : [],
  status: ["Draft", "Sent", "Confirmed"][value % 3],
  ...(value % 4 === 0 ? {} : { supplierId: ["mill", "weaver"][value % 2] }),
  locationId: "warehouse",
  expectedDeliveryDate: `2026-0${1 + (value % 3)}-01`,
  createdAt: new Date(start + minute * 60_000).toISOString(),
  lineItems: Array.from({ length: value % 3 }, (_, index) => ({
    poLineItemId: String(index),
    variantId: variants[(value + index) % 3],
    sku: ["R-1", "B-1"][value % 2],
    quantityOrdered: 5,
    unitCost: 2,
  })),
});

const many = (count: number, from = 0): readonly object[] =>
  Array.from({ length: count }, (_, index) => imported(`i${from + index}`, (from + index) >> 1, from + index));

test(
  "lists over several segments, with changes in any of them, are what the orders give",
  { timeout: 120_000, skip: onPostgres && "the same as on sqlite, and it takes long" },
  async () => {
    await using server = await startGoodsServer();
    const { engine, shopId } = server;
    await server.bring([...many(segmentOrdersMax + 300)]);
    const check = (): Promise<void> => engine.read(shopId, (tx) => assertFound(tx, shopId, 60));
    await check();
    // Orders of long ago fill the oldest segment, which is divided.
    await server.bring(Array.from({ length: 80 }, (_, index) => imported(`old${index}`, index, index)));
    await check();
    const segments = await engine.read(shopId, (tx) => loadHeads(tx, shopId));
    assert.ok(segments.length >= 3 && segments.every((head) => head.orders <= segmentOrdersMax));
    // Orders move from one segment to another, are changed, go and come back.
    await server.bring([imported("i3", 5_000, 4), imported("i1200", -1, 1_201)]);
    await server.patch(`${orders}/i40`, { poName: "Another" });
    await server.delete(`${orders}/i300`);
    await server.delete(`${orders}/i900`);
    await server.bring([imported("i300", 150, 2)]);
    await check();
    await assertSealed(server);
    await check();
    await fillAgain(server);
    await check();
  },
);

test("orders are sealed while they are made, so that few are outside segments", async () => {
  await using server = await startGoodsServer();
  const { engine, shopId } = server;
  for (let index = 0; index < recentMax + 36; index += 1)
    assert.equal((await server.post(orders, { poName: `Order ${index}` })).status, 201);
  await until("they are sealed", async () => !(await engine.read(shopId, (tx) => isBehind(tx, shopId))));
  await engine.read(shopId, (tx) => assertFound(tx, shopId, 20));
});

test("a shop whose orders are in no segments yet is served when they are; its lists are whole", async () => {
  await using server = await startGoodsServer();
  const { engine, shopId } = server;
  await server.bring(many(300));
  await engine.write(shopId, (tx) =>
    tx.batch([
      { sql: "delete from order_segment", params: [] },
      { sql: "delete from order_recent", params: [] },
      beginFilling(shopId),
    ]),
  );
  // A slice is all that was done before the process ended.
  await engine.write(shopId, (tx) => fillSegments(tx, shopId));
  const restarted = keepingSegments(engine, { error: () => {} });
  await restarted.read(shopId, (tx) => assertLists(tx, shopId, asked, 60));
});

/** Counts the bytes and rows that a list reads. */
test(
  "a list reads what it shows and the columns that it asks about, not the orders",
  { skip: onPostgres && "the same as on sqlite" },
  async () => {
    await using server = await startGoodsServer();
    await server.bring(many(700));
    await sealAll(server);
    for (const filters of asked) {
      let rows = 0;
      await server.engine.read(server.shopId, async (tx) => {
        const { listOrders } = await import("../../src/shop/order-list/purchase-order-list.ts");
        const { anything } = await import("../support/shops/order-filters.ts");
        await listOrders(
          {
            all: async (sql, params) => {
              const found = await tx.all(sql, params);
              rows += found.length;
              // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rows of the statement
              return found as never;
            },
            batch: (statements) => tx.batch(statements),
          },
          server.shopId,
          { ...anything, ...filters },
          null,
          10,
        );
      });
      assert.ok(rows < 60, `${JSON.stringify(filters)} read ${rows} rows`);
    }
  },
);
