/**
 * Measures what one shop's worst calls do to the others: while one shop of 100,000 orders and 20,000 variants asks a call with 1 and with 8
 * connections, the requests of another shop and the health checks are timed. The service runs as users run it. Client and service share
 * the machine. Prints a table; `p99 x` is the neighbour's p99 over the idle one.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_SECONDS` the seconds per call (default 3), `OPENPO_DATABASE_URL` an empty
 * PostgreSQL database instead of files, `OPENPO_BENCH_CALLS` the calls whose name contains one of these words.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askHere } from "../src/admin/ask.ts";
import { readConfig } from "../src/config.ts";
import { dayMs } from "../src/core/calendar.ts";
import { openDataDirectory } from "../src/data-directory.ts";
import { openDatabase } from "../src/database.ts";
import { loadMigrations, statementsOf } from "../src/store/migrations.ts";
import type { Engine, Tx } from "../src/store/store.ts";
import { onlyGlobal } from "../src/webhooks/addresses.ts";
import { freePort } from "./free-port.ts";

const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 3);
const wanted = (process.env["OPENPO_BENCH_CALLS"] ?? "").split(" ").filter((word) => word !== "");
const databaseUrl = process.env["OPENPO_DATABASE_URL"] ?? null;
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-fair-"));
const environment = {
  ...process.env,
  OPENPO_DATA_DIR: directory,
  OPENPO_DEMO: "0",
  OPENPO_LOG_LEVEL: "error",
  OPENPO_ADMIN_TOKEN: "bench-admin-token-0123456789",
};
const silent = { info: () => {}, warn: () => {}, error: console.error };
const ordersInShop = Number(process.env["OPENPO_BENCH_ORDERS"] ?? 100_000);
const variantsInShop = Number(process.env["OPENPO_BENCH_VARIANTS"] ?? 20_000);
const baseOrders = 200;
const baseVariants = 200;

// The shops.

const now = Date.now();
const dateAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const line = (index: number): object => ({
  variantId: `v${index % baseVariants}`,
  quantityOrdered: 10 + (index % 7),
  unitCost: 4.5,
  note: `Line ${index}: as agreed, packed in boxes`,
});

const order = (id: string, index: number, lines: number, more: object = {}): object => ({
  type: "purchaseOrder",
  purchaseOrderId: id,
  poNumber: `N-${id}`,
  poName: `Restock ${index}`,
  status: ["Draft", "Sent", "Confirmed"][index % 3],
  supplierId: `s${index % 5}`,
  locationId: `l${index % 2}`,
  createdAt: new Date(now - (index + 1) * 3_600_000).toISOString(),
  lineItems: Array.from({ length: lines }, (_, place) => ({ poLineItemId: `l${place}`, ...line(index * 3 + place) })),
  ...more,
});

function* records(large: boolean): Generator<object> {
  for (let index = 0; index < 2; index += 1)
    yield { type: "location", locationId: `l${index}`, name: `Place ${index}` };
  for (let index = 0; index < 5; index += 1)
    yield { type: "supplier", supplierId: `s${index}`, name: `Supplier ${index}`, currencyCode: "EUR" };
  for (let index = 0; index < baseVariants; index += 1) {
    const variantId = `v${index}`;
    yield {
      type: "variant",
      variantId,
      productId: `p${index}`,
      productName: `Product ${index}`,
      sku: `S-${index}`,
      unitCost: 4,
    };
    yield { type: "supplierVariant", supplierId: `s${index % 5}`, variantId, unitCost: 4, unitCostCurrencyCode: "EUR" };
    for (const locationId of ["l0", "l1"]) {
      yield { type: "inventoryLevel", variantId, locationId, onHand: (index * 13) % 40 };
      for (let sale = 0; sale < 20; sale += 1)
        yield {
          type: "sale",
          variantId,
          locationId,
          date: dateAt(now - sale * (1 + (index % 9)) * dayMs),
          quantity: 1 + (sale % 3),
        };
    }
  }
  const view = {
    type: "forecastView",
    viewName: "View",
    mode: "stock",
    columns: ["productName", "onHand", "suggestedOrderQuantity"],
  };
  yield { ...view, viewId: "reorder", filters: { onlyReorder: true } };
  yield { ...view, viewId: "supply", mode: "supply", horizonPeriods: 52, periodUnit: "week" };
  for (let index = 0; index < baseOrders; index += 1) yield order(`o${index}`, index, 3);
  if (!large) return;
  yield order("large", 1, 1_560);
  for (let index = 0; index < 40; index += 1) yield order(`receive${index}`, 2, 500, { status: "In Progress" });
}

async function* file(large: boolean): AsyncGenerator<Uint8Array> {
  for (const record of records(large)) yield Buffer.from(`${JSON.stringify(record)}\n`);
}

/** Adds copies of the rows of a table, `times` of each. Columns named in `changed` get their expression of `t` and `n.i`. */
async function copyRows(
  tx: Tx,
  table: string,
  times: number,
  where: string,
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const [row] = await tx.all<Record<string, unknown>>(`select * from ${table} limit 1`);
  const columns = Object.keys(row ?? {});
  await tx.batch([
    {
      sql: `insert into ${table} (${columns.join(", ")})
            with recursive n(i) as (select 1 union all select i + 1 from n where i < ${times})
            select ${columns.map((column) => changed[column] ?? `t.${column}`).join(", ")} from ${table} t cross join n where ${where}`,
      params: [],
    },
  ]);
}

/** Makes the shop as large as it shall be. */
async function grow(engine: Engine, shopId: string): Promise<void> {
  const times = variantsInShop / baseVariants - 1;
  const copied = { variant_id: "t.variant_id || '.' || cast(n.i as text)" };
  for (const [table, changed] of [
    ["variant", { ...copied, product_name: "t.product_name || ' ' || cast(n.i as text)" }],
    ["inventory_level", copied],
    ["supplier_variant", copied],
    ["demand_series", copied],
    ["demand_recent", copied],
  ] as const)
    await engine.write(shopId, (tx) => copyRows(tx, table, times, `t.shop_id = '${shopId}'`, changed));
  const id = "t.purchase_order_id || '.' || cast(n.i as text)";
  const ordinary = `t.shop_id = '${shopId}' and substr(t.purchase_order_id, 1, 1) = 'o'`;
  const orderTimes = ordersInShop / baseOrders - 1;
  await engine.write(shopId, async (tx) => {
    await copyRows(tx, "purchase_order", orderTimes, ordinary, {
      purchase_order_id: id,
      po_number: "t.po_number || '.' || cast(n.i as text)",
      search_folded: "t.search_folded || '.' || cast(n.i as text)",
      created_at: "t.created_at - n.i * 3600000",
    });
    await copyRows(tx, "purchase_order_line", orderTimes, ordinary, { purchase_order_id: id });
    // The migration that made the totals fills them anew.
    const [totals = ""] = loadMigrations(path.join(import.meta.dirname, "../src/shop/schema")).slice(8, 9);
    const filling = statementsOf(totals).filter((statement) => /^(?:update|insert)/.test(statement));
    await tx.batch(["delete from purchase_order_count", ...filling].map((sql) => ({ sql, params: [] })));
  });
}

async function build(): Promise<{ readonly heavy: string; readonly other: string }> {
  const config = readConfig(environment);
  const store =
    config.database === null ? await openDataDirectory(directory, silent) : await openDatabase(config.database, silent);
  const admin = store.adminContext({ wakeOutbox: () => {}, webhooks: { policy: onlyGlobal, changed: () => {} } });
  const ask = askHere(admin);
  const keys: string[] = [];
  for (const shopId of ["heavy", "other"]) {
    await ask("shop_put", {
      shopId,
      name: shopId,
      currencyCode: "EUR",
      settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } },
    });
    await ask("shop_import", { shopId }, file(shopId === "heavy"));
    const made = await ask("key_create", { shopId, name: "bench", scope: "write" });
    if ("data" in made && typeof made.data === "object" && made.data !== null && "apiKey" in made.data)
      keys.push(String(made.data.apiKey));
  }
  await grow(store.engine, "heavy");
  await store.completeFirstStart();
  await store.close();
  const [heavy = "", other = ""] = keys;
  return { heavy, other };
}

// The service and its clients.

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly key?: string;
  readonly body?: object;
}

function ask(port: number, agent: Agent, { method, path: target, key, body }: Ask): Promise<number> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    };
    const sent = request({ port, host: "127.0.0.1", agent, method, path: target, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

interface Timing {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

function timingOf(latenciesMs: readonly number[]): Timing {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** Asks again and again until `done`, with a pause after every answer. */
async function watch(port: number, asks: readonly Ask[], pauseMs: number, done: () => boolean): Promise<Timing> {
  const agent = new Agent({ keepAlive: true });
  const latenciesMs: number[] = [];
  for (let index = 0; !done(); index += 1) {
    const startMs = performance.now();
    const next = asks[index % asks.length];
    if (next === undefined) break;
    const status = await ask(port, agent, next);
    if (status >= 300) throw new Error(`${next.path}: ${status}`);
    latenciesMs.push(performance.now() - startMs);
    await sleep(pauseMs);
  }
  agent.destroy();
  return timingOf(latenciesMs);
}

const api = "/api/v1";
let received = 0;

/** The worst calls of the heavy shop. */
const calls: Readonly<Record<string, (index: number) => Ask>> = {
  "forecast rows, only reorders": () => ({ method: "GET", path: `${api}/forecast-views/reorder/rows?limit=50` }),
  "forecast rows, 1,000 of 52 weeks": () => ({ method: "GET", path: `${api}/forecast-views/supply/rows?limit=1000` }),
  "search that finds nothing": (index) => ({ method: "GET", path: `${api}/purchase-orders?search=nowhere${index}` }),
  "search that finds all": () => ({ method: "GET", path: `${api}/purchase-orders?search=restock` }),
  "list of 50": () => ({ method: "GET", path: `${api}/purchase-orders?limit=50` }),
  "list by status and date": () => ({
    method: "GET",
    path: `${api}/purchase-orders?status=Sent&dateFrom=2010-01-01&limit=50`,
  }),
  "list by variant": (index) => ({ method: "GET", path: `${api}/purchase-orders?variantId=v${index % 200}` }),
  "order of 1,560 lines": () => ({ method: "GET", path: `${api}/purchase-orders/large` }),
  "PATCH of 1,560 lines": (index) => ({
    method: "PATCH",
    path: `${api}/purchase-orders/large`,
    body: { note: `note ${index}` },
  }),
  "create with 500 lines": () => ({
    method: "POST",
    path: `${api}/purchase-orders`,
    body: { lineItems: Array.from({ length: 500 }, (_, index) => line(index)) },
  }),
  "receive of 500 lines": () => ({
    method: "POST",
    path: `${api}/purchase-orders/receive${(received += 1) % 40}/receive`,
    body: {
      lines: Array.from({ length: 500 }, (_, index) => ({
        lineItemId: `l${index}`,
        quantityReceived: Math.min(10, 1 + Math.floor(received / 40)),
      })),
    },
  }),
};

interface Neighbours {
  readonly calls: number;
  readonly statuses: string;
  readonly other: Timing;
  readonly health: Timing;
}

async function measure(
  port: number,
  keys: { readonly heavy: string; readonly other: string },
  call: ((index: number) => Ask) | null,
  connections: number,
): Promise<Neighbours> {
  const endMs = performance.now() + seconds * 1_000;
  const done = (): boolean => performance.now() > endMs;
  const statuses = new Map<number, number>();
  let count = 0;
  const agent = new Agent({ keepAlive: true });
  const press = async (next: (index: number) => Ask): Promise<void> => {
    while (!done()) {
      const status = await ask(port, agent, { ...next((count += 1)), key: keys.heavy });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const heavy = call === null ? [] : Array.from({ length: connections }, () => press(call));
  const other = ["/purchase-orders?limit=5", "/purchase-orders/o1", "/purchase-orders/o7/line-items"].map(
    (target): Ask => ({ method: "GET", path: api + target, key: keys.other }),
  );
  const [one, two, health] = await Promise.all([
    watch(port, other, 5, done),
    watch(port, other, 5, done),
    watch(
      port,
      ["/healthz", "/readyz"].map((target): Ask => ({ method: "GET", path: target })),
      5,
      done,
    ),
    ...heavy,
  ]);
  agent.destroy();
  const [first, second] = [one ?? timingOf([]), two ?? timingOf([])];
  return {
    calls: [...statuses.values()].reduce((sum, n) => sum + n, 0),
    statuses: [...statuses].map(([status, n]) => `${status}×${n}`).join(" "),
    other: first.p99Ms > second.p99Ms ? first : second,
    health: health ?? timingOf([]),
  };
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0).padStart(6);

function print(name: string, connections: number, found: Neighbours): void {
  console.log(
    `${name.padEnd(34)} ${String(connections).padStart(2)}  ${(found.calls / seconds).toFixed(1).padStart(7)}/s` +
      `  others p50 ${ms(found.other.p50Ms)}  p99 ${ms(found.other.p99Ms)}  max ${ms(found.other.maxMs)}` +
      `  health p99 ${ms(found.health.p99Ms)}  max ${ms(found.health.maxMs)}  ${found.statuses}`,
  );
}

try {
  const buildMs = performance.now();
  const keys = await build();
  console.log(
    `built in ${((performance.now() - buildMs) / 1_000).toFixed(0)} s${databaseUrl === null ? "" : ", on PostgreSQL"}`,
  );
  const port = await freePort();
  const service = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "src/main.ts"], {
    cwd: path.join(import.meta.dirname, ".."),
    env: { ...environment, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    const agent = new Agent();
    while ((await ask(port, agent, { method: "GET", path: "/readyz" }).catch(() => 0)) !== 200) await sleep(50);
    await measure(port, keys, null, 0);
    print("idle", 0, await measure(port, keys, null, 0));
    for (const [name, call] of Object.entries(calls)) {
      if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
      for (const connections of [1, 8]) print(name, connections, await measure(port, keys, call, connections));
    }
  } finally {
    service.kill();
    await once(service, "exit");
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
