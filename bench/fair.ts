/**
 * Measures what one shop's worst calls do to the others: while one shop of 100,000 orders and 20,000 variants asks a call with 1 and with 8
 * connections, the requests of another shop and the health checks are timed. The service runs as users run it. Client and service share
 * the machine. Prints a table of the neighbours' times.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_SECONDS` the seconds per row (default 3), `OPENPO_BENCH_CALLS` the calls
 * whose name contains one of these words, `OPENPO_BENCH_ORDERS` and `OPENPO_BENCH_VARIANTS` the size of the shop.
 * `OPENPO_BENCH_NODES=2` measures so many nodes on a PostgreSQL that the program starts; every client asks them in turn.
 */
import { SecretBox } from "../src/base/secret-box.ts";
import { noDocuments } from "../src/documents/documents.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiPrefix } from "../src/http/routes.ts";
import { askHere } from "../src/admin/ask.ts";
import { readConfig } from "../src/service/config.ts";
import { dayMs } from "../src/base/time/calendar.ts";
import { openDataDirectory } from "../src/service/data-directory.ts";
import { openDatabase } from "../src/service/database.ts";
import type { Engine } from "../src/store/store.ts";
import { onlyGlobal } from "../src/webhooks/addresses.ts";
import { mcpHeaders, toolCall } from "../test/support/mcp.ts";
import { freshDatabase, startPostgres } from "../test/support/postgres/postgres.ts";
import { copyOrders, copyRows } from "./copy-rows.ts";
import { freePort } from "./free-port.ts";

const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 3);
const wanted = (process.env["OPENPO_BENCH_CALLS"] ?? "").split(" ").filter((word) => word !== "");
const nodes = Number(process.env["OPENPO_BENCH_NODES"] ?? 0);
await using postgres = nodes === 0 ? null : await startPostgres();
const database = postgres === null ? null : await freshDatabase({ empty: true, server: postgres.url });
const adminToken = "bench-admin-token-0123456789";
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-fair-"));
const environment = {
  ...process.env,
  OPENPO_DATA_DIR: directory,
  OPENPO_DEMO: "0",
  OPENPO_LOG_LEVEL: "error",
  OPENPO_ADMIN_TOKEN: adminToken,
  ...(database === null ? {} : { OPENPO_DATABASE_URL: database.url }),
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
  yield {
    type: "stockTake",
    stockTakeId: "large",
    createdAt: new Date(now).toISOString(),
    lineItems: Array.from({ length: 3_000 }, (_, index) => ({
      stockTakeLineItemId: `l${index}`,
      variantId: `v${index}`,
      quantityExpected: 5,
      quantityCounted: 4,
    })),
  };
  yield order("large", 1, 1_560);
  for (let index = 0; index < 40; index += 1) yield order(`receive${index}`, 2, 500, { status: "In Progress" });
}

async function* file(large: boolean): AsyncGenerator<Uint8Array> {
  for (const record of records(large)) yield Buffer.from(`${JSON.stringify(record)}\n`);
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
  await copyOrders(engine, shopId, ordersInShop / baseOrders - 1, 3_600_000);
  await addOldRows(engine, shopId);
}

/** Rows that are due to be deleted: of the audit log and of stored answers. */
async function addOldRows(engine: Engine, shopId: string): Promise<void> {
  const count = 50_000;
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
  await engine.write(shopId, (tx) =>
    tx.batch([
      {
        sql: `insert into idempotency_record (shop_id, key_id, idempotency_key, fingerprint, status, headers, body, stored_at)
              ${numbers} select '${shopId}', 'key_old', 'k' || cast(i as text), 'f', 200, '{}', '${"x".repeat(1_000)}', i from n`,
        params: [],
      },
      {
        sql: `insert into audit_log (shop_id, audit_id, at, request_id, tag, method, path, status, duration_ms, replayed)
              ${numbers} select '${shopId}', 'aud_' || cast(i as text), i, 'req', 'rest:old', 'GET', '/old', 200, 1, 0 from n`,
        params: [],
      },
    ]),
  );
}

async function build(): Promise<{ readonly heavy: string; readonly other: string }> {
  const config = readConfig(environment);
  const store =
    config.database === null ? await openDataDirectory(directory, silent) : await openDatabase(config.database, silent);
  const admin = store.adminContext({
    wakeOutbox: () => {},
    webhooks: { policy: onlyGlobal, secrets: new SecretBox(null), changed: () => {} },
    documents: noDocuments,
    mailIsOn: false,
    publicUrl: null,
  });
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
  /** The whole path. */
  readonly path: string;
  readonly key?: string;
  /** An object is sent as JSON. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

let keysSent = 0;

function ask(
  port: number,
  agent: Agent,
  { method, path: target, key, body, headers: more = {} }: Ask,
): Promise<number> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const isKeyed = typeof body === "object" && target.startsWith(apiPrefix);
  return new Promise((resolve, reject) => {
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      ...(isKeyed ? { "idempotency-key": `bench ${(keysSent += 1)}` } : {}),
      ...more,
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
async function watch(
  ports: readonly number[],
  asks: readonly Ask[],
  pauseMs: number,
  done: () => boolean,
): Promise<Timing> {
  const agent = new Agent({ keepAlive: true });
  const latenciesMs: number[] = [];
  for (let index = 0; !done(); index += 1) {
    const startMs = performance.now();
    const next = asks[index % asks.length];
    if (next === undefined) break;
    const status = await ask(portAt(ports, index), agent, next);
    if (status >= 300) throw new Error(`${next.path}: ${status}`);
    latenciesMs.push(performance.now() - startMs);
    await sleep(pauseMs);
  }
  agent.destroy();
  return timingOf(latenciesMs);
}

const portAt = (ports: readonly number[], index: number): number => ports[index % ports.length] ?? 0;

const admin = "/admin/v1/shops/heavy";

/** An import of so many orders that the shop has already. */
const orderFile = Array.from(
  { length: 1_000 },
  (_, index) => `${JSON.stringify(order(`o${index % baseOrders}`, index, 3))}\n`,
).join("");

const tool = (name: string, input: object): Ask => ({
  method: "POST",
  path: "/mcp",
  body: toolCall(name, input),
  headers: mcpHeaders,
});

let received = 0;

/** The worst calls of the heavy shop. */
const calls: Readonly<Record<string, (index: number) => Ask>> = {
  "forecast rows, only reorders": () => ({ method: "GET", path: `${apiPrefix}/forecast-views/reorder/rows?limit=50` }),
  "forecast rows, 1,000 of 52 weeks": () => ({
    method: "GET",
    path: `${apiPrefix}/forecast-views/supply/rows?limit=1000`,
  }),
  "search that finds nothing": (index) => ({
    method: "GET",
    path: `${apiPrefix}/purchase-orders?search=nowhere${index}`,
  }),
  "search that finds all": () => ({ method: "GET", path: `${apiPrefix}/purchase-orders?search=restock` }),
  "list of 50": () => ({ method: "GET", path: `${apiPrefix}/purchase-orders?limit=50` }),
  "list by status and date": () => ({
    method: "GET",
    path: `${apiPrefix}/purchase-orders?status=Sent&dateFrom=2010-01-01&limit=50`,
  }),
  "list by variant": (index) => ({ method: "GET", path: `${apiPrefix}/purchase-orders?variantId=v${index % 200}` }),
  "list of 1, old rows swept": () => ({ method: "GET", path: `${apiPrefix}/purchase-orders?limit=1` }),
  "stock take of 3,000 lines": () => ({ method: "GET", path: `${apiPrefix}/stock-takes/large` }),
  "reorder_from_view, dry run": () => tool("reorder_from_view", { viewId: "reorder", locationId: "l0" }),
  "order of 1,560 lines by an agent": () => tool("purchase_order_get", { purchaseOrderId: "large" }),
  "export of the shop": () => ({ method: "GET", path: `${admin}/export`, key: adminToken }),
  "import of 1,000 orders": () => ({
    method: "POST",
    path: `${admin}/import`,
    key: adminToken,
    body: orderFile,
    headers: { "content-type": "application/x-ndjson" },
  }),
  // Each is drawn anew: the change before it makes another version.
  "PDF of 500 lines, changed before": (index) =>
    index % 2 === 0
      ? { method: "PATCH", path: `${apiPrefix}/purchase-orders/receive${index % 40}`, body: { note: `note ${index}` } }
      : { method: "GET", path: `${admin}/purchase-orders/receive${(index - 1) % 40}/document.pdf`, key: adminToken },
  "order of 1,560 lines": () => ({ method: "GET", path: `${apiPrefix}/purchase-orders/large` }),
  "PATCH of 1,560 lines": (index) => ({
    method: "PATCH",
    path: `${apiPrefix}/purchase-orders/large`,
    body: { note: `note ${index}` },
  }),
  "create with 500 lines": () => ({
    method: "POST",
    path: `${apiPrefix}/purchase-orders`,
    body: { lineItems: Array.from({ length: 500 }, (_, index) => line(index)) },
  }),
  "receive of 500 lines": () => ({
    method: "POST",
    path: `${apiPrefix}/purchase-orders/receive${(received += 1) % 40}/receive`,
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
  ports: readonly number[],
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
      const index = (count += 1);
      try {
        const status = await ask(portAt(ports, index), agent, { key: keys.heavy, ...next(index) });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      } catch (error) {
        // What takes longer than the row, such as an export, is cut off at its end.
        if (!done()) throw error;
      }
    }
  };
  const heavy = call === null ? [] : Array.from({ length: connections }, () => press(call));
  const other = ["/purchase-orders?limit=5", "/purchase-orders/o1", "/purchase-orders/o7/line-items"].map(
    (target): Ask => ({ method: "GET", path: apiPrefix + target, key: keys.other }),
  );
  const health: readonly Ask[] = ["/healthz", "/readyz"].flatMap((target) =>
    ports.map((): Ask => ({ method: "GET", path: target })),
  );
  const [one, two, checks] = await Promise.all([
    watch(ports, other, 5, done),
    watch(ports, other, 5, done),
    watch(ports, health, 5, done),
  ]);
  agent.destroy();
  await Promise.all(heavy);
  return {
    calls: [...statuses.values()].reduce((sum, n) => sum + n, 0),
    statuses: [...statuses].map(([status, n]) => `${status}×${n}`).join(" "),
    other: one.p99Ms > two.p99Ms ? one : two,
    health: checks,
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
    `built in ${((performance.now() - buildMs) / 1_000).toFixed(0)} s${nodes === 0 ? "" : `, ${nodes} nodes on PostgreSQL`}`,
  );
  const ports = [];
  for (let node = 0; node < Math.max(1, nodes); node += 1) ports.push(await freePort());
  const services = ports.map((port) =>
    spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "src/main.ts"], {
      cwd: path.join(import.meta.dirname, ".."),
      env: { ...environment, PORT: String(port) },
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  try {
    const agent = new Agent();
    for (const port of ports)
      while ((await ask(port, agent, { method: "GET", path: "/readyz" }).catch(() => 0)) !== 200) await sleep(50);
    await measure(ports, keys, null, 0);
    print("idle", 0, await measure(ports, keys, null, 0));
    for (const [name, call] of Object.entries(calls)) {
      if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
      for (const connections of [1, 8]) print(name, connections, await measure(ports, keys, call, connections));
    }
  } finally {
    for (const service of services) service.kill();
    await Promise.all(services.map((service) => once(service, "exit")));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
  await database?.drop();
}
