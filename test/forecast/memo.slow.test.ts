/** What is remembered of views of reorders only, and what blocks say, against the same decided anew, after whatever was changed (V8, V9). */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { dateOf, dayIn } from "../../src/base/time/calendar.ts";
import { loadShop } from "../../src/shop/access/accounts.ts";
import { loadBlocks, makeBlock } from "../../src/shop/forecast/reorder-block-tables.ts";
import { forecastPage } from "../../src/shop/forecast/forecast-rows.ts";
import { loadForecastView } from "../../src/shop/forecast/saved-views.ts";
import { countingRows } from "../support/engine/counted-rows.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { type TestServer, startServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";

const orders = "/api/v1/purchase-orders";
const variants = ["red", "blue", "green"];
const viewIds = ["all", "mill", "warehouse", "named"];

/** One thing that is changed: which, of which variant, to what. */
const step = fc.record({
  kind: fc.constantFrom(
    "level",
    "sale",
    "variant",
    "terms",
    "supplier",
    "order",
    "receive",
    "view",
    "create",
    "blocks",
    "blocks",
  ),
  variant: fc.nat(2),
  value: fc.nat(100),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const view = (viewId: string, filters: object): object => ({
  type: "forecastView",
  viewId,
  viewName: viewId,
  mode: "stock",
  columns: ["onHand"],
  filters: { onlyReorder: true, ...filters },
});

async function change(server: GoodsServer, node: TestServer, { kind, variant, value }: Step): Promise<void> {
  const variantId = variants[variant] ?? "red";
  const today = dayIn("UTC", server.clock.now());
  switch (kind) {
    case "level":
      return await server.bring([{ type: "inventoryLevel", variantId, locationId: "warehouse", onHand: value - 10 }]);
    case "sale":
      return await server.bring([
        { type: "sale", variantId, locationId: "warehouse", date: dateOf(today - value), quantity: 1 + (value % 9) },
      ]);
    case "variant":
      return await server.bring([
        {
          type: "variant",
          variantId,
          productId: "p",
          productName: `Shirt ${value}`,
          status: value % 2 === 0 ? "active" : "inactive",
        },
      ]);
    case "terms":
      return await server.bring([
        { type: "supplierVariant", supplierId: "mill", variantId, unitCost: 1, leadTimeDays: value },
      ]);
    case "supplier":
      return await server.bring([
        { type: "supplier", supplierId: "mill", name: "Mill", currencyCode: "EUR", leadTimeDays: value },
      ]);
    case "blocks":
      // Some or all, of one variant or two, so that they are of several versions.
      for (let made = 0; made <= value % 6; made += 1)
        await server.engine.write(server.shopId, (tx) => makeBlock(tx, server.shopId, 1 + (value % 2)));
      return;
    case "view":
      return await server.bring([view("mill", value % 2 === 0 ? {} : { supplierIds: ["mill"] })]);
    case "order":
      return await server.bringOrder("Sent", [
        { poLineItemId: "a", variantId, quantityOrdered: 1 + value, unitCost: 1 },
      ]);
    case "receive": {
      const answer = await node.post(server.order("/receive"), { receiveAllRemaining: true });
      assert.ok([200, 400, 404, 409].includes(answer.status), answer.text);
      return;
    }
    case "create": {
      const lineItems = [{ variantId, quantityOrdered: value + 1, unitCost: 1 }];
      const created = await node.post(orders, { supplierId: "mill", locationId: "warehouse", lineItems });
      assert.equal(created.status, 201, created.text);
      const id = created.textAt("data", "purchaseOrder", "purchaseOrderId");
      await node.post(`${orders}/${id}/status`, { status: "Sent" });
    }
  }
}

/**
 * The rows of the view: as remembered, or for these variants, which are decided anew.
 *
 * @param viewName another name: nothing is remembered of such a view.
 */
function rowsOf(
  server: TestServer,
  viewId: string,
  variantIds: readonly string[] | null,
  viewName = viewId,
): Promise<readonly unknown[]> {
  const { engine, shopId, clock } = server;
  return engine.read(shopId, async (tx) => {
    const [found, shop] = await Promise.all([loadForecastView(tx, shopId, viewId), loadShop(tx, shopId)]);
    assert.ok(found !== null && shop !== null);
    const context = { shop, today: dayIn("UTC", clock.now()) };
    const page = await forecastPage(tx, shopId, { view: { ...found, viewName }, variantIds }, context, null, 50);
    return [page.totalCount, ...page.variants];
  });
}

test(
  "after any changes, a view of reorders only shows what is decided anew, on two nodes too",
  { timeout: 240_000 },
  async () => {
    let [asked, readFromBlocks] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), async (steps) => {
        await using server = await startGoodsServer();
        await server.bring([
          view("all", {}),
          view("mill", { supplierIds: ["mill"] }),
          view("warehouse", { locationIds: ["warehouse"] }),
          view("named", { variantIds: ["red", "green"] }),
          ...variants.map((variantId) => ({
            type: "sale",
            variantId,
            locationId: "warehouse",
            date: dateOf(dayIn("UTC", server.clock.now()) - 20),
            quantity: 30,
          })),
        ]);
        const check = async (node: TestServer): Promise<void> => {
          const { engine, shopId } = node;
          if ((await engine.read(shopId, (tx) => loadBlocks(tx, shopId))) !== null) readFromBlocks += 1;
          for (const viewId of viewIds) {
            const anew = await rowsOf(node, viewId, variants);
            assert.deepEqual(await rowsOf(node, viewId, null), anew, viewId);
            assert.deepEqual(
              await rowsOf(node, viewId, null, `never read ${(asked += 1)}`),
              anew,
              `${viewId} by blocks`,
            );
          }
        };
        const walk = async (node: TestServer): Promise<void> => {
          for (const each of steps) {
            await change(server, node, each);
            await check(server);
          }
          await check(node);
        };
        if (onPostgres) {
          await using node = await startServer({ beside: server });
          await walk(node);
        } else await walk(server);
      }),
      { numRuns: Number(process.env["OPENPO_PROPERTY_RUNS"] ?? 8) },
    );
    assert.ok(readFromBlocks > 0, "blocks were never read");
  },
);

test("after a change of one variant, a view of reorders only reads that variant and the page", async () => {
  await using server = await startGoodsServer();
  const { engine, shopId, clock } = server;
  const today = dayIn("UTC", clock.now());
  const many = Array.from({ length: 300 }, (_, index) => `v${String(index).padStart(3, "0")}`);
  await server.bring([
    view("all", {}),
    ...many.flatMap((variantId) => [
      { type: "variant", variantId, productId: "p", productName: `Shirt ${variantId}` },
      { type: "sale", variantId, locationId: "warehouse", date: dateOf(today - 5), quantity: 30 },
    ]),
  ]);
  const read = (): Promise<{ readonly rows: number; readonly totalCount: number }> =>
    engine.read(shopId, async (tx) => {
      const { counting, rows } = countingRows(tx);
      const [found, shop] = await Promise.all([loadForecastView(tx, shopId, "all"), loadShop(tx, shopId)]);
      assert.ok(found !== null && shop !== null);
      const scope = { view: found, variantIds: null };
      const { totalCount } = await forecastPage(counting, shopId, scope, { shop, today }, null, 3);
      return { rows: rows(), totalCount };
    });
  const first = await read();
  assert.ok(first.rows > 600, `${first.rows} rows to decide about all`);
  const changes: readonly (() => Promise<unknown>)[] = [
    () => server.bring([{ type: "inventoryLevel", variantId: "v007", locationId: "warehouse", onHand: 9_999 }]),
    () =>
      server.bring([{ type: "sale", variantId: "v008", locationId: "warehouse", date: dateOf(today), quantity: 3 }]),
    () => server.bring([{ type: "supplierVariant", supplierId: "mill", variantId: "v009", unitCost: 1 }]),
    () => server.bring([{ type: "variant", variantId: "v010", productId: "p", productName: "A", status: "inactive" }]),
    () => server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "v011", quantityOrdered: 9_999, unitCost: 1 }]),
    () => server.post(server.order("/receive"), { receiveAllRemaining: true }),
  ];
  for (const [index, make] of changes.entries()) {
    await make();
    const { rows } = await read();
    assert.ok(rows > 0 && rows < 60, `${rows} rows after change ${index}`);
  }
  assert.equal((await read()).totalCount, first.totalCount - 3, "v007, v010 and v011 need none any more");
});
