/**
 * Counts the statements and round trips to PostgreSQL of one call of every operation; writes have an Idempotency-Key. A round trip is one
 * wait for the database, however many statements are sent together. Separate pools count the request itself, the calls of the built-in
 * storefront (a real one gets them over its API), and the follow-on work that the answer waits for.
 *
 * Environment: `OPENPO_BENCH_FLIGHTS=purchase_order_receive` prints the content of each round trip of that operation instead.
 */
import path from "node:path";
import { askHere } from "../src/admin/ask.ts";
import { makeDemoShop } from "../src/demo/demo-shop.ts";
import type { AdminContext } from "../src/admin/operation.ts";
import { createApp } from "../src/http/app.ts";
import { createMetrics } from "../src/http/metrics.ts";
import { apiPrefix } from "../src/http/routes.ts";
import type { RestOperation } from "../src/operations/operation.ts";
import { LoopShare } from "../src/store/loop-share.ts";
import { createPerform } from "../src/operations/perform.ts";
import { operations, restOperations } from "../src/operations/registry.ts";
import { createOutbox } from "../src/outbox/runner.ts";
import { openPostgresEngine } from "../src/store/postgres/engine.ts";
import { openPostgresPool, PostgresConnection, type PostgresPool } from "../src/store/postgres/connection.ts";
import { postgresCoordination } from "../src/store/postgres/coordination.ts";
import type { Engine } from "../src/store/store.ts";
import { systemClock as clock, timeOrderedIds } from "../src/system.ts";
import { openSandbox } from "../src/storefront/sandbox/sandbox.ts";
import { brotli } from "../src/compression.ts";
import { onlyGlobal } from "../src/webhooks/addresses.ts";
import { freshDatabase, sandboxSchema, shopsSchema, startPostgres } from "../test/support/postgres.ts";

const flightsOf = process.env["OPENPO_BENCH_FLIGHTS"] ?? null;
const ids = timeOrderedIds(clock);
const log = { info: () => {}, warn: console.warn, error: console.error };

const loop = new LoopShare();
await using server = await startPostgres();
const { url } = await freshDatabase({ empty: true, server: server.url });
const openPool = (): Promise<PostgresPool> =>
  openPostgresPool({ url, connectionsMax: 4, schemas: [shopsSchema, sandboxSchema] });
const openEngine = (pool: PostgresPool, schemaName: string, room: string): Promise<Engine> =>
  openPostgresEngine({
    pool,
    schemaName,
    schemaDirectory: path.join(import.meta.dirname, `../src/${room}/schema`),
    clock,
    loop,
  });

const pools = { request: await openPool(), storefront: await openPool(), followOn: await openPool() };
const engine = await openEngine(pools.request, shopsSchema, "shop");
const sandboxEngine = await openEngine(pools.storefront, sandboxSchema, "storefront/sandbox");
const outboxEngine = await openEngine(pools.followOn, shopsSchema, "shop");
const coordination = await postgresCoordination({ pool: pools.request, schemaName: shopsSchema, owner: "bench" });
const sandboxOf = (shopId: string) => openSandbox({ engine: sandboxEngine, clock, shopId });
const storefrontOf = (shopId: string) => Promise.resolve(sandboxOf(shopId));
const outbox = createOutbox({
  engine: outboxEngine,
  storefrontOf,
  clock,
  ids,
  log,
  alone: false,
  random: Math.random,
});
const admin: AdminContext = {
  engine,
  clock,
  ids,
  sandboxOf,
  snapshotOf: () => {
    throw new Error("nothing is copied here");
  },
  wakeOutbox: () => {},
  webhooks: { policy: onlyGlobal, changed: () => {} },
};
const app = createApp({
  operations,
  perform: createPerform({
    engine,
    coordination,
    clock,
    ids,
    loop,
    outbox,
    storefrontOf,
    log,
    readers: null,
    compression: brotli,
  }),
  clock,
  ids,
  log,
  metrics: createMetrics(),
  ready: () => engine.ready(),
  identity: "srv_of_a_benchmark",
});

const { shopId, writeKey } = await makeDemoShop(askHere(admin), clock.now());
await askHere(admin)("shop_put", {
  shopId,
  name: "Bench",
  settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } },
});

let keys = 0;

/** Sends a request as a client does. Returns the answer's JSON. */
async function ask(method: string, below: string, body?: object): Promise<unknown> {
  const response = await app.fetch(
    new Request(`http://bench${apiPrefix}${below}`, {
      method,
      headers: { Authorization: `Bearer ${writeKey}`, "Idempotency-Key": `bench ${(keys += 1)}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${below}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Returns the member at this path. */
function member(value: unknown, ...names: readonly (string | number)[]): unknown {
  return names.reduce<unknown>(
    (found, name) => (typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined),
    value,
  );
}

function textAt(value: unknown, ...names: readonly (string | number)[]): string {
  const found = member(value, ...names);
  if (typeof found !== "string") throw new Error(`no text at ${names.join(".")}`);
  return found;
}

// The demo shop has records of every kind.
const variantIds = Array.from({ length: 5 }, (_, index) => `bench-${index}`);
const manyVariantIds = Array.from({ length: 500 }, (_, index) => `bench-${index}`);
async function* recordLines(records: readonly object[]): AsyncGenerator<Uint8Array> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}
const locationId = "bench-location";
await askHere(admin)(
  "shop_import",
  { shopId },
  recordLines([
    { type: "location", locationId, name: "Bench" },
    ...manyVariantIds.map((variantId) => ({
      type: "variant",
      variantId,
      productId: variantId,
      productName: variantId,
    })),
  ]),
);

/** Creates an order with a line for each of these variants. Returns its path and its line ids. */
async function makeOrder(variants: readonly string[]): Promise<{ readonly at: string; readonly lineIds: string[] }> {
  const lineItems = variants.map((variantId) => ({ variantId, quantityOrdered: 10, unitCost: 2.5 }));
  const made = await ask("POST", "/purchase-orders", { locationId, lineItems });
  return {
    at: `/purchase-orders/${textAt(made, "data", "purchaseOrder", "purchaseOrderId")}`,
    lineIds: variants.map((_, index) => textAt(made, "data", "purchaseOrder", "lineItems", index, "poLineItemId")),
  };
}

type Asking = readonly [below: string, body?: object];
const quantities = (lineIds: readonly string[], quantityReceived: number): object => ({
  lines: lineIds.map((lineItemId) => ({ lineItemId, quantityReceived })),
});

async function sent(variants = variantIds) {
  const order = await makeOrder(variants);
  await ask("POST", `${order.at}/status`, { status: "Sent" });
  return order;
}

async function inProgress(variants = variantIds) {
  const order = await sent(variants);
  await ask("POST", `${order.at}/confirm`, { confirmAll: true });
  return order;
}

async function received() {
  const order = await inProgress();
  await ask("POST", `${order.at}/receive`, quantities(order.lineIds, 4));
  return order;
}

/** Prepares an order of five lines on which the write can succeed. Returns the request. */
const writes: Readonly<Record<string, () => Promise<Asking>>> = {
  purchase_order_create: async () => [
    "/purchase-orders",
    { locationId, lineItems: variantIds.map((variantId) => ({ variantId, quantityOrdered: 10 })) },
  ],
  purchase_order_update: async () => [(await makeOrder(variantIds)).at, { note: "Ring twice." }],
  purchase_order_delete: async () => [(await makeOrder(variantIds)).at],
  purchase_order_line_item_add: async () => [
    `${(await makeOrder(variantIds)).at}/line-items`,
    { lineItems: variantIds.map((variantId) => ({ variantId, quantityOrdered: 1 })) },
  ],
  purchase_order_line_item_add_custom: async () => [
    `${(await makeOrder(variantIds)).at}/line-items/custom`,
    { productName: "Pallet", quantityOrdered: 1 },
  ],
  purchase_order_line_item_update: async () => {
    const { at, lineIds } = await makeOrder(variantIds);
    return [`${at}/line-items`, { lines: lineIds.map((lineItemId) => ({ lineItemId, note: "Blue." })) }];
  },
  purchase_order_line_item_delete: async () => {
    const { at, lineIds } = await makeOrder(variantIds);
    return [`${at}/line-items?lineItemIds=${lineIds.slice(1).join(",")}`];
  },
  purchase_order_status: async () => [`${(await makeOrder(variantIds)).at}/status`, { status: "Sent" }],
  purchase_order_confirm: async () => [`${(await sent()).at}/confirm`, { confirmAll: true }],
  purchase_order_receive: async () => {
    const { at, lineIds } = await inProgress();
    return [`${at}/receive`, quantities(lineIds, 4)];
  },
  purchase_order_unreceive: async () => {
    const { at, lineIds } = await received();
    return [`${at}/unreceive`, { lines: lineIds.map((lineItemId) => ({ lineItemId, quantity: 1 })) }];
  },
  purchase_order_complete: async () => [`${(await received()).at}/complete`, {}],
  purchase_order_quick_complete: async () => [`${(await inProgress()).at}/quick-complete`, {}],
  purchase_order_storefront_sync: async () => [`${(await received()).at}/storefront-sync`, {}],
  purchase_order_storefront_sync_reset: async () => [`${(await received()).at}/storefront-sync/reset`, {}],
};

/** For each path parameter, the path of the list with its ids, and the list's member in the answer. */
const lists: Readonly<Record<string, readonly [below: string, collection: string]>> = {
  stockTakeId: ["/stock-takes", "stockTakes"],
  stockAdjustmentId: ["/stock-adjustments", "stockAdjustments"],
  transferOrderId: ["/transfer-orders", "transferOrders"],
  manufacturingOrderId: ["/manufacturing-orders", "manufacturingOrders"],
  viewId: ["/forecast-views", "forecastViews"],
};
const readOrder = await received();

/** Makes a read of an existing record. */
async function readOf({ route }: RestOperation): Promise<Asking> {
  const [, name] = /\{(\w+)\}/.exec(route.path) ?? [];
  if (name === undefined) return [route.path];
  if (name === "purchaseOrderId") return [route.path.replace("/purchase-orders/{purchaseOrderId}", readOrder.at)];
  const [below, collection] = lists[name] ?? [];
  if (below === undefined || collection === undefined) throw new Error(`nothing is known of ${name}`);
  return [route.path.replace(`{${name}}`, textAt(await ask("GET", below), "data", collection, 0, name))];
}

/** Waits until the shop has no pending effects. */
async function quiet(): Promise<void> {
  for (let left = 1; left > 0;) {
    const [row] = await outboxEngine.read(shopId, (tx) =>
      tx.all<{ n: number }>("select count(*) as n from effect where shop_id = ? and state = 'pending'", [shopId]),
    );
    left = row?.n ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

const flights: string[] = [];
if (flightsOf !== null) {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its connection below
  const { exchange } = PostgresConnection.prototype;
  PostgresConnection.prototype.exchange = function (queries) {
    flights.push(queries.map(({ text }) => `    ${text.replace(/\s+/g, " ").trim().slice(0, 150)}`).join("\n"));
    return exchange.call(this, queries);
  };
}

interface Cost {
  readonly statements: number;
  readonly roundTrips: number;
}
const names = ["request", "storefront", "followOn"] as const;
const counted = () => names.map((name) => ({ statements: pools[name].statements, roundTrips: pools[name].roundTrips }));

/** Counts one call with the follow-on work that it waits for. */
async function costOf(method: string, [below, body]: Asking): Promise<readonly Cost[]> {
  await quiet();
  flights.length = 0;
  const before = counted();
  await ask(method, below, body);
  return counted().map(({ statements, roundTrips }, index) => ({
    statements: statements - (before[index]?.statements ?? 0),
    roundTrips: roundTrips - (before[index]?.roundTrips ?? 0),
  }));
}

const columns = ({ statements, roundTrips }: Cost): string =>
  statements === 0 ? "".padStart(14) : `${statements.toString().padStart(6)} in ${roundTrips.toString().padStart(3)} `;

function print(name: string, costs: readonly Cost[]): void {
  console.log(`${name.padEnd(44)}${costs.map(columns).join("  ")}`);
}

try {
  console.log(`PostgreSQL ${server.version}; statements in round trips`);
  console.log(`${"".padEnd(44)}${["request", "storefront", "follow-on"].map((name) => name.padStart(13)).join("   ")}`);
  for (const operation of restOperations.filter(({ name }) => flightsOf === null || name === flightsOf)) {
    const prepare = operation.scope === "read" ? () => readOf(operation) : writes[operation.name];
    if (prepare === undefined) throw new Error(`it is not known how ${operation.name} is asked`);
    // The second call is counted: the first one prepares statements and runs the shop's sweeps.
    await ask(operation.route.method, ...(await prepare()));
    print(operation.name, await costOf(operation.route.method, await prepare()));
    for (const [index, flight] of flights.entries()) console.log(`  ${index + 1}\n${flight}`);
  }
  if (flightsOf === null)
    for (const count of [1, 50, 500]) {
      const { at, lineIds } = await inProgress(manyVariantIds.slice(0, count));
      print(`receive on ${count} of ${count} lines`, await costOf("POST", [`${at}/receive`, quantities(lineIds, 4)]));
    }
} finally {
  await outbox.close();
  await coordination.close();
  for (const each of [engine, sandboxEngine, outboxEngine]) await each.close();
  for (const pool of Object.values(pools)) await pool.close();
}
