/**
 * What the embedded engine makes of a disk, beside what the disk gives. One write is a change of an order as the service makes it:
 * three look-ups, then the order, a log row, an idempotency record with an answer of 2 kB and an audit row, committed together.
 *
 * Environment: `OPENPO_BENCH_DIR` chooses the disk (default: the system's temporary directory), `OPENPO_BENCH_SECONDS` the time per
 * line (default 2).
 */
import { closeSync, fdatasync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Engine, Statement, Tx } from "../src/shop/shop.ts";
import { loadSchema, migrate } from "../src/shop/sqlite-schema.ts";
import { openSqliteEngine } from "../src/shop/sqlite.ts";
import { systemClock, timeOrderedIds } from "../src/shop/system.ts";

const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 2);
const directory = mkdtempSync(join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-bench-"));
const schemaDirectory = join(import.meta.dirname, "../src/shop/schema");
const ids = timeOrderedIds(systemClock);
const body = JSON.stringify({ data: "x".repeat(2_000) });
const ordersInShop = 500;
/** What a write adds to sqlite's log: about six pages. */
const bytesAWrite = 6 * 4_096;

const selectKey =
  "select idempotency_key from idempotency_record where shop_id = ? and key_id = ? and idempotency_key = ?";
const selectShop = "select settings, next_po_number from shop where shop_id = ?";
const selectOrder =
  "select status, version, total_value from purchase_order where shop_id = ? and purchase_order_id = ?";

const orderId = (index: number): string => `po_${String(index % ordersInShop).padStart(5, "0")}`;

const seed = (shopId: string): Statement[] => [
  {
    sql: `insert into shop (shop_id, name, currency_code, plan_rest_api, settings, storefront, next_po_number, created_at, updated_at)
          values (?, 'Bench', 'EUR', 1, '{}', '{"kind":"sandbox"}', 1001, 0, 0)`,
    params: [shopId],
  },
  ...Array.from({ length: ordersInShop }, (_, index) => ({
    sql: `insert into purchase_order (shop_id, purchase_order_id, po_number, status, previous_status, currency_code, tags, item_count,
            total_value, unpriced_line_item_ids, settled_amount, paid_status, storefront_sync_state, search_folded, created_at,
            updated_at, version)
          values (?, ?, ?, 'Draft', 'Draft', 'EUR', '[]', 0, 0, '[]', 0, 'Unpaid', 'never-synced', '', 0, 0, 0)`,
    params: [shopId, orderId(index), `PO-${index}`],
  })),
];

const change = (shopId: string, index: number, version: number): Statement[] => [
  {
    sql: "update purchase_order set version = ?, updated_at = ? where shop_id = ? and purchase_order_id = ?",
    params: [version, index, shopId, orderId(index)],
  },
  {
    sql: `insert into purchase_order_log (shop_id, purchase_order_id, log_id, occurred_at, action, message, actor_type, changes)
          values (?, ?, ?, ?, 'edited', 'Edited', 'api-key', '[{"field":"note","before":null,"after":"x"}]')`,
    params: [shopId, orderId(index), ids.next("log"), index],
  },
  {
    sql: `insert into idempotency_record (shop_id, key_id, idempotency_key, fingerprint, status, headers, body, stored_at)
          values (?, 'key_1', ?, 'f', 200, '{}', ?, ?)`,
    params: [shopId, ids.next("idem"), body, index],
  },
  {
    sql: `insert into audit_log (shop_id, audit_id, at, request_id, tag, method, path, status, duration_ms, replayed)
          values (?, ?, ?, 'req_1', 'rest:purchase_order_update', 'PATCH', '/', 200, 1, 0)`,
    params: [shopId, ids.next("aud"), index],
  },
];

async function write(engine: Engine, shopId: string, index: number, durable = true): Promise<void> {
  await engine.write(
    shopId,
    async (tx) => {
      await tx.all(selectKey, [shopId, "key_1", "none"]);
      await tx.all(selectShop, [shopId]);
      const [order] = await tx.all<{ version: number }>(selectOrder, [shopId, orderId(index)]);
      await tx.batch(change(shopId, index, (order?.version ?? 0) + 1));
    },
    { durable },
  );
}

async function look(tx: Tx, shopId: string, index: number): Promise<void> {
  await tx.all(selectShop, [shopId]);
  await tx.all(selectOrder, [shopId, orderId(index)]);
}

interface Line {
  readonly name: string;
  readonly perSecond: number;
}

function print(line: Line, beside: readonly Line[], note = ""): Line {
  const ratios = beside.map((other) => `${(line.perSecond / other.perSecond).toFixed(2).padStart(7)} × ${other.name}`);
  console.log(
    `${line.name.padEnd(46)} ${Math.round(line.perSecond).toString().padStart(8)}/s ${ratios.join("  ")}${note}`,
  );
  return line;
}

/** Repeats `once` until the time is up, giving the event loop its turn. */
async function rate(name: string, once: (index: number) => void): Promise<Line> {
  const startMs = performance.now();
  let count = 0;
  while (performance.now() - startMs < seconds * 1_000) {
    once(count);
    count += 1;
    if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return { name, perSecond: (count * 1_000) / (performance.now() - startMs) };
}

/** As many callers as `callers`, each asking again when it has its answer. */
async function load(
  name: string,
  callers: number,
  ask: (caller: number, index: number) => Promise<void>,
): Promise<{ readonly line: Line; readonly note: string }> {
  const latenciesMs: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startMs = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() - startMs < seconds * 1_000) {
        const askedMs = performance.now();
        count += 1;
        await ask(caller, count);
        latenciesMs.push(performance.now() - askedMs);
        // The next request of a client comes by the network, which is another turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  const elapsedMs = performance.now() - startMs;
  delay.disable();
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): string => (latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? 0).toFixed(1);
  return {
    line: { name, perSecond: (count * 1_000) / elapsedMs },
    note: `   p50 ${at(0.5)} p99 ${at(0.99)} max ${at(1)} ms, loop held ≤ ${(delay.max / 1e6).toFixed(0)} ms`,
  };
}

/** A log's bytes: one write after another in a file of the log's size, over and over, so that the file does not grow. */
const bytes = Buffer.alloc(bytesAWrite, 1);
const writesInLog = 170;

function openLog(name: string): number {
  const file = openSync(join(directory, name), "w");
  for (let index = 0; index < writesInLog; index += 1) writeSync(file, bytes);
  fdatasyncSync(file);
  return file;
}

const append = (file: number, index: number): void =>
  void writeSync(file, bytes, 0, bytesAWrite, (index % writesInLog) * bytesAWrite);

/** The lower bound: the bytes of a write put on disk, one at a time, nothing else. */
async function rawAppend(): Promise<Line> {
  const file = openLog("raw");
  const line = await rate("raw append + sync", (index) => {
    append(file, index);
    fdatasyncSync(file);
  });
  closeSync(file);
  return line;
}

/** The same in eight files at once, from the thread pool: what the disk gives to parallel syncs. */
async function rawAppendParallel(): Promise<Line> {
  const files = Array.from({ length: 8 }, (_, index) => openLog(`raw-${index}`));
  const { line } = await load("raw append + sync, 8 files at once", 8, (caller, index) => {
    const file = files[caller] ?? 0;
    append(file, index);
    return new Promise((resolve, reject) => {
      fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
    });
  });
  for (const file of files) closeSync(file);
  return line;
}

/** sqlite as it is usually run: each transaction synced before the next begins, on the thread that asks. */
async function plainSqlite(): Promise<{ readonly writes: Line; readonly reads: Line }> {
  const database = new DatabaseSync(join(directory, "plain.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  migrate(database, loadSchema(schemaDirectory));
  const prepared = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  const statement = (sql: string): ReturnType<DatabaseSync["prepare"]> => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const run = (sql: string, params: readonly SQLInputValue[] = []): void => void statement(sql).run(...params);
  run("begin");
  for (const { sql, params } of seed("plain")) run(sql, params);
  run("commit");
  const writes = await rate("sync per transaction", (index) => {
    run("begin immediate");
    statement(selectKey).all("plain", "key_1", "none");
    statement(selectShop).all("plain");
    const order = statement(selectOrder).all("plain", orderId(index))[0];
    for (const { sql, params } of change("plain", index, Number(order?.["version"]) + 1)) run(sql, params);
    run("commit");
  });
  const reads = await rate("the same reads without an engine", (index) => {
    run("begin");
    statement(selectShop).all("plain");
    statement(selectOrder).all("plain", orderId(index));
    run("commit");
  });
  database.close();
  return { writes, reads };
}

try {
  const raw = print(await rawAppend(), []);
  const rawParallel = print(await rawAppendParallel(), [raw]);
  const plain = await plainSqlite();
  print(plain.writes, [raw]);

  const engine = await openSqliteEngine({
    directory: join(directory, "shops"),
    schemaDirectory,
    shopsOpenMax: 100,
    clock: systemClock,
  });
  const shops = Array.from({ length: 8 }, (_, index) => `shop-${index}`);
  for (const shopId of shops) {
    await engine.create(shopId);
    await engine.write(shopId, (tx) => tx.batch(seed(shopId)));
  }
  const shopOf = (caller: number): string => shops[caller % shops.length] ?? "";
  for (const [name, callers, ask] of [
    ["1 shop × 1 writer", 1, (_: number, index: number) => write(engine, "shop-0", index)],
    ["1 shop × 32 writers", 32, (_: number, index: number) => write(engine, "shop-0", index)],
    ["8 shops × 32 writers", 256, (caller: number, index: number) => write(engine, shopOf(caller), index)],
    ["1 shop × 32 writers, not durable", 32, (_: number, index: number) => write(engine, "shop-0", index, false)],
  ] as const) {
    const { line, note } = await load(name, callers, ask);
    print(line, [raw, plain.writes], note);
  }

  print(plain.reads, []);
  for (const [name, callers, ask] of [
    [
      "8 shops × 32 readers",
      256,
      (caller: number, index: number) => engine.read(shopOf(caller), (tx) => look(tx, shopOf(caller), index)),
    ],
    [
      "8 shops × 16 readers and 16 writers",
      256,
      (caller: number, index: number) =>
        caller < 128
          ? engine.read(shopOf(caller), (tx) => look(tx, shopOf(caller), index))
          : write(engine, shopOf(caller), index),
    ],
  ] as const) {
    const { line, note } = await load(name, callers, ask);
    print(line, name.endsWith("writers") ? [rawParallel] : [plain.reads], note);
  }
  await engine.close();
} finally {
  rmSync(directory, { recursive: true });
}
