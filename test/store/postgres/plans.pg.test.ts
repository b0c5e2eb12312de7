/**
 * How PostgreSQL finds rows by their key while it knows little of a table, and when it gets to know it (D368, D369).
 *
 * Only on postgres: sqlite has its statistics and plans file by file.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findIdempotencyRecord,
  findStoredHeaders,
  findStoredFingerprint,
  idempotencyStatements,
  unlessAnswered,
} from "../../../src/shop/access/idempotency.ts";
import { attachmentsOfOrders } from "../../../src/shop/order/purchase-order-attachments.ts";
import { historyOfOrders } from "../../../src/shop/order/purchase-order-history.ts";
import {
  type ImportedOrder,
  importOrder,
  nextPoNumber,
  pageOfOrders,
} from "../../../src/shop/order/purchase-orders.ts";
import { statisticsBytesMin, statisticsTurnsMin } from "../../../src/store/postgres/statistics.ts";
import type { Statement, Tx } from "../../../src/store/store.ts";
import { importedOrder, line, order } from "../../support/goods.ts";
import { openTestPool, withClient } from "../../support/postgres/postgres.ts";
import { databaseOf, examining, makePlace, openStore, type Store } from "../../support/store.ts";
import { until } from "../../support/until.ts";

const shopId = "a";

async function withStore(use: (store: Store, directory: string) => Promise<void>): Promise<void> {
  const place = await makePlace(true, { unused: true });
  const store = await openStore(place.directory);
  try {
    await store.engine.create(shopId);
    await use(store, place.directory);
  } finally {
    await store.close();
    await place.remove();
  }
}

/** The statements that `work` asks; each is answered with no rows, or one as given. */
async function statementsOf(work: (tx: Tx) => Promise<unknown>, row?: object): Promise<readonly Statement[]> {
  const asked: Statement[] = [];
  await work({
    all: async <R>(sql: string, params: Statement["params"] = []): Promise<R[]> => {
      asked.push({ sql, params });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the row of the one statement that needs one
      return (row === undefined ? [] : [row]) as R[];
    },
    batch: async () => {},
  });
  return asked;
}

const rowCount = 400;

/** Look-ups by a key of what a shop has many of. */
const lookUps = async (): Promise<readonly Statement[]> => [
  ...(await statementsOf((tx) => nextPoNumber(tx, shopId), { next_po_number: 7, taken: null })),
  ...(await statementsOf((tx) => findIdempotencyRecord(tx, shopId, "key", "k7", 0))),
  ...(await statementsOf((tx) => findStoredHeaders(tx, shopId, "key", "k7", 0))),
  ...(await statementsOf((tx) => findStoredFingerprint(tx, shopId, "secret", "k7", 0))),
  unlessAnswered({ sql: "select 1 as asked where ? = 1", params: [1] }, shopId, "key", "k7", 0),
];

/** What an export asks for a page of whole orders. */
const pageOfExport = (): Promise<readonly Statement[]> =>
  statementsOf(
    async (tx) => {
      const list = { shopId, ids: ["po_7", "po_8"], ordersMax: 5 };
      await pageOfOrders(tx, shopId, "po_6", 5);
      await attachmentsOfOrders(tx, list);
      await historyOfOrders(tx, list);
    },
    { purchase_order_id: "po_7", deleted_at: null, item_count: 1 },
  );

/** An order with an attachment and a history. */
const orderWithHistory = (purchaseOrderId: string): ImportedOrder => ({
  ...importedOrder(order("Draft", [line("a line")], { purchaseOrderId, poNumber: purchaseOrderId })),
  attachments: {
    payments: [],
    documents: [
      {
        documentId: "doc",
        fileName: "terms.pdf",
        contentType: null,
        fileSizeBytes: null,
        documentType: "other",
        version: 1,
        uploadedAtMs: 1,
        uploadedBy: null,
      },
    ],
    shipments: [],
    credits: [],
  },
  history: {
    log: [
      {
        logId: `log of ${purchaseOrderId}`,
        occurredAtMs: 1,
        action: "created",
        message: "Created",
        actor: { type: "user", id: null, name: "Ana" },
        operation: null,
        requestId: null,
        changes: [],
      },
    ],
    receipts: [
      {
        receiptId: "receipt",
        receivedAtMs: 1,
        recordedBy: null,
        source: "receive",
        reason: null,
        requestId: null,
        lines: [],
      },
    ],
    costSyncHistory: [],
  },
});

test("a page of an export is found by the keys of its orders", () =>
  withStore(async ({ engine }, directory) => {
    await engine.write(shopId, async (tx) => {
      for (let index = 0; index < rowCount; index += 1)
        await importOrder(tx, shopId, orderWithHistory(`po_${index}`), true);
    });
    await withClient(databaseOf(directory) ?? "", (client) => client.query("analyze"));
    const counts: number[] = [];
    await examining(directory, shopId, async (examined) => {
      for (const statement of await pageOfExport()) counts.push(await examined(statement));
    });
    assert.equal(counts.length, 7);
    for (const count of counts) assert.ok(count < 50, `${counts.join(", ")} rows and pages of ${rowCount} each`);
  }));

test("a number for a new order and a stored answer are found without a look at the shop's others, with statistics or without", () =>
  withStore(async ({ engine }, directory) => {
    const examinedOf = async (): Promise<readonly number[]> => {
      const counts: number[] = [];
      await examining(directory, shopId, async (examined) => {
        for (const statement of await lookUps()) counts.push(await examined(statement));
      });
      return counts;
    };
    await engine.write(shopId, (tx) =>
      tx.batch([
        {
          sql: `insert into shop (shop_id, name, currency_code, plan_rest_api, settings, storefront, next_po_number, created_at, updated_at)
                values (?, 'A', 'EUR', 1, '{}', '{}', 7, 0, 0)`,
          params: [shopId],
        },
        {
          sql: `insert into api_key (shop_id, key_id, name, scope, secret_hash, last_four, created_at)
                values (?, 'key', 'key', 'write', 'secret', 'cret', 0)`,
          params: [shopId],
        },
      ]),
    );
    await engine.write(shopId, async (tx) => {
      for (let index = 0; index < rowCount; index += 1) {
        const record = {
          fingerprint: "f",
          status: 201,
          headers: {},
          body: "b".repeat(500),
          encoding: null,
          storedAtMs: index + 1,
          operation: "purchase_order_create",
          purchaseOrderId: `po_${index}`,
        };
        await tx.batch(idempotencyStatements(shopId, "key", `k${index}`, record));
        const imported = order("Draft", [line(`l${index}`)], {
          purchaseOrderId: `po_${index}`,
          poNumber: `N-${index}`,
        });
        await importOrder(tx, shopId, importedOrder(imported), true);
      }
    });
    const without = await examinedOf();
    await withClient(databaseOf(directory) ?? "", (client) => client.query("analyze"));
    for (const counts of [without, await examinedOf()])
      for (const count of counts) assert.ok(count < 50, `${counts.join(", ")} rows and pages of ${rowCount} each`);
  }));

const tuplesOf = async (directory: string, table: string): Promise<number> =>
  withClient(databaseOf(directory) ?? "", async (client) => {
    const { rows } = await client.query<{ n: number }>(
      "select reltuples::int as n from pg_class where relname = $1 and relnamespace = 'openpo'::regnamespace",
      [table],
    );
    return rows[0]?.n ?? 0;
  });

const variants = (from: number, count: number): readonly Statement[] =>
  Array.from({ length: count }, (_, index) => ({
    sql: "insert into variant (shop_id, variant_id, product_id, product_name, status) values (?, ?, 'p', ?, 'active')",
    params: [shopId, `v${from + index}`, "x".repeat(200)],
  }));

test("a table of statisticsBytesMin gets its first statistics after statisticsTurnsMin turns, a smaller one none", () =>
  withStore(async ({ engine }, directory) => {
    const rowsOfTurn = Math.ceil((statisticsBytesMin * 2) / 200 / statisticsTurnsMin);
    const location = "insert into location (shop_id, location_id, name) values (?, 'l', 'L')";
    await engine.write(shopId, (tx) => tx.batch([{ sql: location, params: [shopId] }]));
    for (let turn = 1; turn < statisticsTurnsMin - 1; turn += 1)
      await engine.write(shopId, (tx) => tx.batch(variants(turn * rowsOfTurn, rowsOfTurn)));
    assert.ok((await tuplesOf(directory, "variant")) <= 0);
    for (let turn = 0; turn < 2; turn += 1)
      await engine.write(shopId, (tx) => tx.batch(variants((statisticsTurnsMin + turn) * rowsOfTurn, rowsOfTurn)));
    await until("the table has statistics", async () => (await tuplesOf(directory, "variant")) > 0);
    assert.ok((await tuplesOf(directory, "location")) <= 0);
  }));

/** Rows of more than a hundred pages. */
const rowsGrown = 4_000;

/** Executions of a prepared statement until PostgreSQL keeps a plan for all values. */
const executionsUntilKept = 6;

test("a plan that was made while a table was small does not read all of it when it has grown", () =>
  withStore(async ({ engine }, directory) => {
    const pool = await openTestPool(databaseOf(directory) ?? "", 1);
    try {
      await engine.write(shopId, (tx) => tx.batch(variants(0, 5)));
      await withClient(databaseOf(directory) ?? "", (client) => client.query("analyze openpo.variant"));
      await pool.using(async (connection) => {
        const asked = `execute asked ('${shopId}', 'v1')`;
        await connection.run(`set openpo.shop_id = '${shopId}'`);
        await connection.run("prepare asked as select product_id from variant where shop_id = $1 and variant_id = $2");
        for (let time = 0; time < executionsUntilKept; time += 1) await connection.run(asked);
        await engine.write(shopId, (tx) => tx.batch(variants(5, rowsGrown)));
        const [row] = await connection.run<{ plan: unknown }>(`explain (analyze, buffers, format json) ${asked}`);
        const plan = JSON.stringify(Object.values(row ?? {}));
        const pages =
          Number(/"Shared Hit Blocks":(\d+)/.exec(plan)?.[1]) + Number(/"Shared Read Blocks":(\d+)/.exec(plan)?.[1]);
        assert.match(plan, /\$1/, "the plan is not the kept one");
        assert.ok(pages > 0 && pages < 20, `${pages} pages: ${plan}`);
      });
    } finally {
      await pool.close();
    }
  }));

test("no statement is compiled: what the scan of a small table seems to cost would have it done each time", async () => {
  const place = await makePlace(true);
  const pool = await openTestPool(databaseOf(place.directory) ?? "");
  try {
    const rows = await pool.using((connection) =>
      connection.run<{ jit: string }>("select current_setting('jit') as jit"),
    );
    assert.deepEqual(rows, [{ jit: "off" }]);
  } finally {
    await pool.close();
    await place.remove();
  }
});
