/** The kept totals of orders, and what lists answer by them, against counts of the rows, after whatever was done to the orders (R4). */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { dayMs } from "../../src/base/time/calendar.ts";
import { type OrderFilters, countStatement, listOrders } from "../../src/shop/order-list/purchase-order-list.ts";
import { loadMigrations, statementsOf } from "../../src/store/migrations.ts";
import { anything } from "../support/shops/order-filters.ts";
import { startGoodsServer, type GoodsServer } from "../support/goods-server.ts";
import { run, start, step, variants } from "../support/shops/order-steps.ts";
import { startServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";

const kept: readonly Partial<OrderFilters>[] = [
  {},
  { statuses: ["Draft"] },
  { statuses: ["Sent", "Confirmed", "Sent"] },
  { paidStatuses: ["Unpaid", "Partially Paid"] },
  { paidStatuses: ["Paid", "Overpaid"] },
  { storefrontSyncStates: ["never-synced"] },
  ...["mill", "weaver", "nobody"].map((supplierId) => ({ supplierId })),
  ...["warehouse", "store"].map((locationId) => ({ locationId })),
  ...variants.map((variantId) => ({ variantId })),
  ...["R-1", "B-1"].map((sku) => ({ sku })),
  { createdFromMs: start },
  { createdFromMs: start + 1 },
  { createdBeforeMs: start + 1 },
  { createdBeforeMs: start + dayMs },
  { createdFromMs: start, createdBeforeMs: start + 1 },
  { createdFromMs: start + 1, createdBeforeMs: start + 2 * dayMs },
  { createdFromMs: -300 * dayMs, createdBeforeMs: -dayMs / 2 },
  { createdFromMs: start - 1, createdBeforeMs: start + dayMs + 2 },
];

/** Every list by one filter: the total and all its pages. */
async function assertLists(server: GoodsServer): Promise<void> {
  const { shopId } = server;
  for (const filters of kept) {
    const all: OrderFilters = { ...anything, ...filters };
    const counting = countStatement(shopId, all);
    await server.engine.read(shopId, async (tx) => {
      const [counted] = await tx.all<{ n: number }>(counting.sql, counting.params);
      const found: string[] = [];
      let page = await listOrders(tx, shopId, all, null, 3);
      for (;;) {
        assert.equal(page.totalCount, counted?.n, JSON.stringify(filters));
        found.push(...page.orders.map((order) => order.purchaseOrderId));
        if (page.end === null) break;
        page = await listOrders(tx, shopId, all, page.end, 3);
      }
      assert.equal(found.length, counted?.n, JSON.stringify(filters));
      assert.equal(new Set(found).size, found.length, JSON.stringify(filters));
    });
  }
}

/** The totals themselves: none but those of the rows. */
async function assertTotals(server: GoodsServer): Promise<void> {
  const { shopId } = server;
  const here = "shop_id = ? and deleted_at is null";
  const lines = (kind: string, value: string): string =>
    `select '${kind}' as kind, ${value} as value, count(distinct l.purchase_order_id) as orders
     from purchase_order_line l join purchase_order o on o.shop_id = l.shop_id and o.purchase_order_id = l.purchase_order_id
     where o.shop_id = ? and o.deleted_at is null and ${value} is not null group by ${value}`;
  const header = (kind: string, column: string): string =>
    `select '${kind}' as kind, ${column} as value, count(*) as orders from purchase_order
     where ${here} and ${column} is not null group by ${column}`;
  const counting = [
    `select 'all' as kind, '' as value, count(*) as orders from purchase_order where ${here}`,
    header("status", "status"),
    header("paid-status", "paid_status"),
    header("sync-state", "storefront_sync_state"),
    header("supplier", "supplier_id"),
    header("location", "location_id"),
    lines("variant", "l.variant_id"),
    // A SKU is compared without case (C13).
    lines("sku", "lower(l.sku)"),
  ];
  interface Total {
    readonly kind: string;
    readonly value: string;
    readonly orders: number;
  }
  const mapOf = (rows: readonly Total[]): ReadonlyMap<string, number> =>
    new Map(
      rows
        .filter((row) => row.orders !== 0)
        .map((row): [string, number] => [`${row.kind} ${row.value}`, row.orders])
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  await server.engine.read(shopId, async (tx) => {
    const counted = (await Promise.all(counting.map((sql) => tx.all<Total>(sql, [shopId])))).flat();
    const stored = await tx.all<Total>("select kind, value, orders from purchase_order_count where shop_id = ?", [
      shopId,
    ]);
    assert.deepEqual(mapOf(stored.filter(({ kind }) => kind !== "day")), mapOf(counted));
    const days = stored.filter(({ kind }) => kind === "day");
    assert.ok(days.every(({ value, orders }) => value.length === 10 && orders >= 0));
  });
}

const totals = (server: GoodsServer) =>
  server.engine.read(server.shopId, (tx) =>
    tx.all(
      "select kind, value, orders from purchase_order_count where shop_id = ? and orders <> 0 order by kind, value",
      [server.shopId],
    ),
  );

/** Takes away what migrations fill, and fills it again. */
async function migrateAgain({ engine, shopId }: GoodsServer): Promise<void> {
  const filling = loadMigrations(path.join(import.meta.dirname, "../../src/shop/schema"))
    .flatMap(statementsOf)
    .filter((statement) =>
      /^(?:update|insert|delete)[^;]*\b(?:purchase_order_count|order_created_at)\b/.test(statement),
    );
  assert.equal(filling.length, 14);
  await engine.write(shopId, (tx) =>
    tx.batch(
      ["delete from purchase_order_count", "update purchase_order_line set order_created_at = 0", ...filling].map(
        (sql) => ({ sql, params: [] }),
      ),
    ),
  );
}

test(
  "after any changes, totals and lists are what a count of the rows gives, on two nodes too",
  { timeout: 240_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 35 }), async (steps) => {
        await using server = await startGoodsServer();
        const ids: string[] = [];
        if (onPostgres) {
          await using node = await startServer({ beside: server });
          for (const [index, each] of steps.entries()) await run(server, index % 2 === 0 ? server : node, ids, each);
        } else for (const each of steps) await run(server, server, ids, each);
        await assertTotals(server);
        await assertLists(server);
        const kept = await totals(server);
        await migrateAgain(server);
        assert.deepEqual(await totals(server), kept, "the migration gives orders from before the same totals");
        await assertLists(server);
      }),
      { numRuns: Number(process.env["OPENPO_PROPERTY_RUNS"] ?? 12) },
    );
  },
);
