/**
 * Measures the SQLite engine and compares it with its disk. One write is a change of an order as the service makes it: three look-ups,
 * then the order, a log row, an idempotency record with an answer of 2 kB and an audit row, committed together.
 *
 * The speed of a shared disk changes tenfold from one second to the next. So the benchmarks take turns in many short slices, and each
 * figure is the median of its slices.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk (default: the system's temporary directory), `OPENPO_BENCH_SLICES` the number of slices
 * (default 9).
 */
import { closeSync, fdatasync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Engine, Statement, Tx } from "../src/store/store.ts";
import { loadSchema, migrate } from "../src/store/sqlite/schema.ts";
import { openSqliteEngine } from "../src/store/sqlite/engine.ts";
import { systemClock, timeOrderedIds } from "../src/base/time/system.ts";

const slices = Number(process.env["OPENPO_BENCH_SLICES"] ?? 9);
const sliceMs = 400;
const directory = mkdtempSync(join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-bench-"));
const schemaDirectory = join(import.meta.dirname, "../src/shop/schema");
const ids = timeOrderedIds(systemClock);
const body = JSON.stringify({ data: "x".repeat(2_000) });
const ordersInShop = 500;
/** The bytes that a write adds to SQLite's log: about six pages. */
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
            total_value, unpriced_line_item_ids, settled_amount, paid_status, storefront_sync_state, created_at,
            updated_at, version)
          values (?, ?, ?, 'Draft', 'Draft', 'EUR', '[]', 0, 0, '[]', 0, 'Unpaid', 'never-synced', 0, 0, 0)`,
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

/** The result of one slice. */
interface Slice {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  /** The longest time for which the event loop was blocked. */
  readonly loopHeldMs: number;
}

interface Line {
  readonly name: string;
  /** Benchmarks that this one is compared with. */
  readonly beside: readonly string[];
  readonly measure: () => Promise<Slice>;
}

/** Repeats `once` synchronously until the slice is over. */
function alone(once: (index: number) => void): Promise<Slice> {
  const startMs = performance.now();
  let count = 0;
  while (performance.now() - startMs < sliceMs) {
    once(count);
    count += 1;
  }
  return Promise.resolve({
    perSecond: (count * 1_000) / (performance.now() - startMs),
    latenciesMs: [],
    loopHeldMs: 0,
  });
}

let asked = 0;

/** Runs this many callers; each sends its next call when it has its answer. */
async function load(callers: number, ask: (caller: number, index: number) => Promise<void>): Promise<Slice> {
  const latenciesMs: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() - startMs < sliceMs) {
        const askedMs = performance.now();
        asked += 1;
        await ask(caller, asked);
        latenciesMs.push(performance.now() - askedMs);
        // A client's next request comes over the network, in a later turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  const elapsedMs = performance.now() - startMs;
  delay.disable();
  return { perSecond: (latenciesMs.length * 1_000) / elapsedMs, latenciesMs, loopHeldMs: delay.max / 1e6 };
}

/** The bytes of one write. They are written over and over into a file of the size of a log, so that the file does not grow. */
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

const synced = (file: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });

/** SQLite as it is usually run: each transaction is synced before the next begins, on the calling thread. */
function openPlain(): {
  readonly write: (index: number) => void;
  readonly look: (index: number) => void;
  close(): void;
} {
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
  return {
    write(index) {
      run("begin immediate");
      statement(selectKey).all("plain", "key_1", "none");
      statement(selectShop).all("plain");
      const order = statement(selectOrder).all("plain", orderId(index))[0];
      for (const { sql, params } of change("plain", index, Number(order?.["version"]) + 1)) run(sql, params);
      run("commit");
    },
    look(index) {
      run("begin");
      statement(selectShop).all("plain");
      statement(selectOrder).all("plain", orderId(index));
      run("commit");
    },
    close: () => database.close(),
  };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
}

/** Measures all slices of the benchmarks in turn and prints the medians. */
async function report(lines: readonly Line[]): Promise<void> {
  const measured = new Map<string, Slice[]>(lines.map((line) => [line.name, []]));
  for (let slice = 0; slice < slices; slice += 1)
    for (const line of lines) measured.get(line.name)?.push(await line.measure());
  const rate = (name: string): number =>
    quantile(
      (measured.get(name) ?? []).map((slice) => slice.perSecond),
      0.5,
    );
  for (const { name, beside } of lines) {
    const ratios = beside.map((other) => `${(rate(name) / rate(other)).toFixed(2)} × ${other}`).join(", ");
    const latenciesMs = (measured.get(name) ?? []).flatMap((slice) => slice.latenciesMs);
    const heldMs = (measured.get(name) ?? []).map((slice) => slice.loopHeldMs);
    console.log(`${name.padEnd(38)} ${Math.round(rate(name)).toString().padStart(7)}/s  ${ratios}`);
    if (latenciesMs.length === 0) continue;
    const latency = [0.5, 0.99, 1].map((share) => quantile(latenciesMs, share).toFixed(1));
    console.log(
      `${"".padEnd(40)} ms: p50 ${latency[0]}, p99 ${latency[1]}, max ${latency[2]}; event loop held at most ${quantile(heldMs, 0.5).toFixed(0)} (median slice), ${quantile(heldMs, 1).toFixed(0)} (worst)`,
    );
  }
}

try {
  const log = openLog("raw");
  const logs = Array.from({ length: 8 }, (_, index) => openLog(`raw-${index}`));
  const plain = openPlain();
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
  const read = (caller: number, index: number): Promise<void> =>
    engine.read(shopOf(caller), (tx) => look(tx, shopOf(caller), index));

  const bound = "raw append + sync";
  const parallelBound = "raw append + sync, 8 files at once";
  const usual = "sqlite, a sync per transaction";
  const usualReads = "sqlite, the same reads without an engine";
  await report([
    { name: bound, beside: [], measure: () => alone((index) => (append(log, index), fdatasyncSync(log))) },
    {
      name: parallelBound,
      beside: [bound],
      measure: () =>
        load(8, (caller, index) => {
          append(logs[caller] ?? 0, index);
          return synced(logs[caller] ?? 0);
        }),
    },
    { name: usual, beside: [bound], measure: () => alone(plain.write) },
    {
      name: "1 shop × 1 writer",
      beside: [bound, usual],
      measure: () => load(1, (_, index) => write(engine, "shop-0", index)),
    },
    {
      name: "1 shop × 32 writers",
      beside: [bound, usual],
      measure: () => load(32, (_, index) => write(engine, "shop-0", index)),
    },
    {
      name: "8 shops × 32 writers",
      beside: [parallelBound, usual],
      measure: () => load(256, (caller, index) => write(engine, shopOf(caller), index)),
    },
    {
      name: "1 shop × 32 writers, not durable",
      beside: [usual],
      measure: () => load(32, (_, index) => write(engine, "shop-0", index, false)),
    },
    { name: usualReads, beside: [], measure: () => alone(plain.look) },
    { name: "8 shops × 32 readers", beside: [usualReads], measure: () => load(256, read) },
    {
      name: "8 shops × 16 readers and 16 writers",
      beside: [parallelBound],
      measure: () =>
        load(256, (caller, index) => (caller < 128 ? read(caller, index) : write(engine, shopOf(caller), index))),
    },
  ]);
  plain.close();
  await engine.close();
  for (const file of [log, ...logs]) closeSync(file);
} finally {
  rmSync(directory, { recursive: true });
}
