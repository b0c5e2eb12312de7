/** A view of reorders only of a shop with many variants is decided from blocks, which are kept up (V9). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dateOf, dayIn } from "../../src/base/time/calendar.ts";
import { loadShop } from "../../src/shop/access/accounts.ts";
import { areBlocksBehind, loadBlocks, makeBlock } from "../../src/shop/forecast/reorder-block-tables.ts";
import { forecastPage } from "../../src/shop/forecast/forecast-rows.ts";
import { loadForecastView } from "../../src/shop/forecast/saved-views.ts";
import { countingRows } from "../support/engine/counted-rows.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { until } from "../support/until.ts";

const idOf = (index: number): string => `v${String(index).padStart(4, "0")}`;

const view = {
  type: "forecastView",
  viewId: "all",
  viewName: "All",
  mode: "stock",
  columns: ["onHand"],
  filters: { onlyReorder: true },
};

const level = (index: number, onHand: number): object => ({
  type: "inventoryLevel",
  variantId: idOf(index),
  locationId: "warehouse",
  onHand,
});

/** Variants of which every second is owed to customers, so that an order is needed. */
const many = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => [
    { type: "variant", variantId: idOf(index), productId: "p", productName: `Shirt ${idOf(index)}` },
    level(index, index % 2 === 0 ? -5 : 5),
  ]).flat();

/** How many variants need an order, and how many rows were read to find out, by somebody who has never read the view. */
async function readLatest({ engine, shopId, clock }: GoodsServer, viewName: string, dearestFirst = false) {
  return await engine.read(shopId, async (tx) => {
    const { counting, rows } = countingRows(tx);
    const [found, shop] = await Promise.all([loadForecastView(tx, shopId, "all"), loadShop(tx, shopId)]);
    assert.ok(found !== null && shop !== null);
    const scope = { view: { ...found, viewName }, variantIds: null, dearestFirst };
    const page = await forecastPage(counting, shopId, scope, { shop, today: dayIn("UTC", clock.now()) }, null, 3);
    return { needed: page.totalCount, rows: rows(), first: page.variants.map(({ variantId }) => variantId) };
  });
}

test("many variants get blocks when an import ends, and after a change of all", { timeout: 120_000 }, async () => {
  await using server = await startGoodsServer();
  const { engine, shopId, clock } = server;
  const behind = (): Promise<boolean> => engine.read(shopId, (tx) => areBlocksBehind(tx, shopId));
  const blocks = (): Promise<number> =>
    engine.read(shopId, async (tx) => (await tx.all("select 1 as found from forecast_block")).length);
  // The shop has some variants of its own.
  await server.bring([view, ...many(996)]);
  assert.deepEqual([await behind(), await blocks()], [false, 0], "few variants need none");
  const before = await readLatest(server, "without blocks");
  assert.ok(before.rows > 1_900, `${before.rows} rows without blocks`);

  await server.bring(many(1_000));
  assert.deepEqual([await behind(), await blocks()], [false, 8]);
  const { needed, rows } = await readLatest(server, "after the import");
  assert.ok(needed >= 500 && needed < 520, `${needed} variants need an order`);
  assert.ok(rows < 60, `${rows} rows with blocks`);

  // What is changed since the blocks were made.
  await server.bring([
    { type: "variant", variantId: idOf(5), productId: "p", productName: `Shirt ${idOf(5)}`, price: 3 },
    level(0, 5),
    level(1, -5),
    level(3, -5),
    {
      type: "sale",
      variantId: idOf(5),
      locationId: "warehouse",
      date: dateOf(dayIn("UTC", clock.now())),
      quantity: 99,
    },
  ]);
  const changed = await readLatest(server, "after some changes", true);
  assert.equal(changed.first[0], idOf(5), "the dearest stock-out of rows");
  assert.equal(changed.needed, needed + 2);
  assert.ok(changed.rows < 120, `${changed.rows} rows after some changes`);

  // What people have set is in no block.
  await server.bring([
    { type: "variant", variantId: idOf(1), productId: "p", productName: `Shirt ${idOf(1)}`, isArchived: true },
    { type: "variant", variantId: idOf(7), productId: "p", productName: `Shirt ${idOf(7)}`, reorder: { minimum: 9 } },
    { type: "variant", variantId: idOf(9), productId: "p", productName: `Shirt ${idOf(9)}`, reorder: { minimum: 4 } },
  ]);
  const steered = await readLatest(server, "after some settings");
  assert.equal(steered.needed, needed + 2);
  assert.ok(steered.rows < 130, `${steered.rows} rows after some settings`);

  // A supplier's own terms may concern any variant: all is decided from rows, and then from new blocks.
  await server.bring([{ type: "supplier", supplierId: "mill", name: "Mill", leadTimeDays: 3 }]);
  assert.equal(await behind(), false, "the import of the supplier has made them");
  await engine.write(shopId, (tx) =>
    tx.batch([{ sql: "update forecast_version set version = 'another' where shop_id = ?", params: [shopId] }]),
  );
  assert.equal(await behind(), true);
  assert.ok((await readLatest(server, "between")).rows > 1_900);
  const answer = await server.get("/api/v1/forecast-views/all/rows?limit=3");
  assert.equal(answer.at("data", "totalCount"), needed + 2, answer.text);
  await until("the blocks are made", async () => !(await behind()));
  const made = await readLatest(server, "after the first read", true);
  assert.equal(made.first[0], idOf(5), "the dearest stock-out of blocks");
  assert.equal(made.needed, needed + 2);
  assert.ok(made.rows < 60, `${made.rows} rows with new blocks`);
});

test("what is changed between the making of two blocks is decided anew", async () => {
  await using server = await startGoodsServer();
  const { engine, shopId } = server;
  // Each of the shop's variants is in a block of its own at first.
  const make = (variantsMax = 1): Promise<boolean> => engine.write(shopId, (tx) => makeBlock(tx, shopId, variantsMax));
  const isNeeded = (variantId: string, productName: string, onHand: number): Promise<void> =>
    server.bring([
      { type: "variant", variantId, productId: "p", productName },
      { type: "inventoryLevel", variantId, locationId: "warehouse", onHand },
    ]);
  const neededByBlocks = async (): Promise<number> => {
    assert.ok((await engine.read(shopId, (tx) => loadBlocks(tx, shopId))) !== null);
    return (await readLatest(server, String(Math.random()))).needed;
  };
  await server.bring([view]);
  await isNeeded("red", "A", 1);
  await isNeeded("blue", "B", 1);
  await isNeeded("green", "C", 1);
  while (await make());
  assert.equal(await neededByBlocks(), 0);
  await isNeeded("green", "C", -1);
  await make();
  assert.equal(await neededByBlocks(), 1, "the first block is newer than the change, the last is older");
  await isNeeded("green", "0", -1);
  assert.equal(await neededByBlocks(), 1, "the variant is before all blocks' variants");
  await isNeeded("green", "AB", -1);
  for (let made = 0; made < 3; made += 1) {
    await make(2);
    assert.equal(await neededByBlocks(), 1, "the variant has moved from one block to another");
  }
});

test("blocks are made anew when more than half a thousand variants have changed", { timeout: 120_000 }, async () => {
  await using server = await startGoodsServer();
  const { engine, shopId } = server;
  await server.bring([view, ...many(1_000)]);
  const oldest = (): Promise<number> =>
    engine.read(shopId, async (tx) => {
      const [row] = await tx.all<{ changes: number }>("select min(changes) as changes from forecast_block");
      return row?.changes ?? -1;
    });
  const atFirst = await oldest();
  const levels = (count: number): readonly object[] => Array.from({ length: count }, (_, index) => level(index, 7));
  await server.bring(levels(500));
  assert.equal(await oldest(), atFirst, "500 changes are decided anew as quickly");
  await server.bring(levels(501));
  assert.ok((await oldest()) > atFirst);
  const [{ needed }, answer] = await Promise.all([
    readLatest(server, "after many changes"),
    server.get("/api/v1/forecast-views/all/rows?limit=3"),
  ]);
  assert.equal(answer.at("data", "totalCount"), needed);
});
