/**
 * docs/distribution.sql is run on a database with shops: with PostgreSQL's own hash partitions, every answer is as it was before, the shops can be
 * changed on, a node starts on it, and row-level security holds. Citus was not available.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { type Asked, ask, hangUp, makeShop, operate } from "../../support/clients.ts";
import { rowsOf, type ServiceNode, withNodes } from "../../support/programs/nodes.ts";
import { freshDatabase, withClient } from "../../support/postgres/postgres.ts";
import { until } from "../../support/until.ts";

const script = readFileSync(path.join(import.meta.dirname, "../../../docs/distribution.sql"), "utf8");
const partitions = 4;
const shopIds = ["one", "two", "three"] as const;
const orders = "/api/v1/purchase-orders";

const goods = [
  { type: "location", locationId: "loc", name: "Warehouse" },
  { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR" },
  { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt" },
  { type: "inventoryLevel", variantId: "red", locationId: "loc", onHand: 100 },
  {
    type: "purchaseOrder",
    purchaseOrderId: "po_1",
    status: "In Progress",
    supplierId: "mill",
    locationId: "loc",
    lineItems: [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10, quantityConfirmed: 10 }],
  },
];

const create = (token: string, key: string): Asked => ({
  method: "POST",
  target: orders,
  token,
  idempotencyKey: key,
  body: { supplierId: "mill", locationId: "loc", lineItems: [{ variantId: "red", quantityOrdered: 2, unitCost: 3 }] },
});
const receive = (token: string, quantityReceived: number): Asked => ({
  method: "POST",
  target: `${orders}/po_1/receive`,
  token,
  idempotencyKey: `receive ${quantityReceived}`,
  body: { lines: [{ lineItemId: "a", quantityReceived }] },
});

const first = (nodes: readonly ServiceNode[]): ServiceNode => nodes[0] ?? assert.fail();

/** What reads answer, without the id of the request. */
async function readsOf(url: string, token: string): Promise<readonly string[]> {
  const targets = [orders, `${orders}?status=Draft&variantId=red`, `${orders}/po_1`, `${orders}/po_1/log`];
  const answers = await Promise.all(targets.map((target) => ask(url, { method: "GET", target, token })));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  return answers.map(({ text }) => text.replaceAll(/"requestId":"[^"]*"/g, ""));
}

/** What each shop is asked to do; a second round goes further. */
async function work(url: string, token: string, round: number): Promise<void> {
  for (const asked of [create(token, `create ${round}`), receive(token, 3 * round)]) {
    const answer = await ask(url, asked);
    assert.ok(answer.status < 300, answer.text);
  }
}

async function untilSynced(databaseUrl: string): Promise<void> {
  await until("follow-on work ends", async () => {
    const pending = await Promise.all(
      shopIds.map((shopId) =>
        rowsOf(databaseUrl, shopId, "select 1 from openpo.effect where shop_id = $1 and state = 'pending'"),
      ),
    );
    return pending.flat().length === 0;
  });
}

const namesOf = (databaseUrl: string, sql: string): Promise<readonly string[]> =>
  withClient(databaseUrl, async (client) => (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name));

suite("hash partitions by shop", () => {
  test("docs/distribution.sql leaves every answer as it was, and the shops go on", async () => {
    const database = await freshDatabase({ empty: true });
    const indexes = `select indexrelid::regclass::text || ' ' || indisunique as name from pg_index join pg_class on pg_class.oid = indrelid
      where relnamespace in ('openpo'::regnamespace, 'openpo_sandbox'::regnamespace) and not relispartition order by 1`;
    const policies = `select polname || ' ' || polrelid::regclass || ' ' || polcmd::text || pg_get_expr(polqual, polrelid) as name
      from pg_policy order by 1`;
    try {
      const tokens = new Map<string, string>();
      const before = new Map<string, readonly string[]>();
      const replies = new Map<string, string>();
      await withNodes(database.url, 1, async (nodes) => {
        const { url } = first(nodes);
        for (const shopId of shopIds) tokens.set(shopId, await makeShop(url, shopId, {}, goods));
        for (const token of tokens.values()) await work(url, token, 1);
        await untilSynced(database.url);
        for (const [shopId, token] of tokens) {
          before.set(shopId, await readsOf(url, token));
          replies.set(shopId, (await ask(url, create(token, "create 1"))).text);
        }
        await first(nodes).end("SIGTERM");
      });
      const [indexesBefore, policiesBefore] = [
        await namesOf(database.url, indexes),
        await namesOf(database.url, policies),
      ];
      // Twice, as after an upgrade: what is distributed is left as it is.
      for (let runs = 0; runs < 2; runs += 1)
        await withClient(database.url, async (client) => {
          await client.query(`set openpo.partitions = ${partitions}`);
          await client.query(script);
        });
      const tables = await namesOf(
        database.url,
        "select oid::regclass::text as name from pg_class where relkind = 'p' and relnamespace = 'openpo'::regnamespace",
      );
      assert.ok(tables.length > 50, String(tables.length));
      assert.deepEqual(await namesOf(database.url, indexes), indexesBefore);
      assert.deepEqual(await namesOf(database.url, policies), policiesBefore);
      const places = await withClient(database.url, (client) =>
        client.query("select distinct tableoid::regclass from openpo.engine_shop"),
      );
      assert.ok(places.rows.length > 1, "the shops are in one partition");
      await withNodes(database.url, 2, async (nodes) => {
        const { url } = first(nodes);
        for (const [shopId, token] of tokens) {
          assert.deepEqual(await readsOf(url, token), before.get(shopId), shopId);
          const replayed = await ask(url, create(token, "create 1"));
          assert.equal(replayed.text, replies.get(shopId));
          assert.equal(replayed.headers["idempotent-replayed"], "true");
        }
        tokens.set("four", await makeShop(url, "four", {}, goods));
        await Promise.all([...tokens].map(([, token], index) => work(nodes[index % 2]?.url ?? "", token, 2)));
        await untilSynced(database.url);
        for (const shopId of shopIds) {
          const rows = await rowsOf<{ on_hand: string }>(
            database.url,
            shopId,
            "select on_hand from openpo_sandbox.sandbox_level where shop_id = $1",
          );
          assert.deepEqual(rows, [{ on_hand: "106000" }]);
          await operate(url, "GET", `/shops/${shopId}/audit-log`);
        }
        const metrics = await ask(url, { method: "GET", target: "/metrics", token: "" });
        assert.ok(
          Number(/^openpo_audit_log_bytes (\d+)/m.exec(metrics.text)?.[1]) > 8_000,
          "the size of the audit log",
        );
      });
      // Without a shop's name no row is seen, and a partition shows none in any case.
      await withClient(database.url, async (client) => {
        const seen = async (from: string): Promise<number> => (await client.query(`select 1 from ${from}`)).rows.length;
        assert.equal(await seen("openpo.purchase_order"), 0);
        await client.query("set openpo.shop_id = 'one'");
        assert.equal(await seen("openpo.purchase_order"), 3);
        assert.equal(await seen("openpo.purchase_order where shop_id = 'two'"), 0);
        for (let part = 0; part < partitions; part += 1)
          assert.equal(await seen(`openpo.purchase_order_${part}`), 0, `partition ${part}`);
        await assert.rejects(client.query("truncate openpo.purchase_order_0"), /permission denied/);
      });
    } finally {
      hangUp();
      await database.drop();
    }
  });
});
