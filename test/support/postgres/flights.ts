/**
 * A node on PostgreSQL whose statements and round trips are counted, for one call of any operation. A round trip is one wait for the
 * database, however many statements are sent together. Separate pools count the request itself, the calls of the built-in storefront (a
 * real one gets them over its API), and the follow-on work that the answer waits for.
 */
import { DueSearch } from "../../../src/jobs/due-search.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import { noConnections } from "../../../src/storefront/connections.ts";
import assert from "node:assert/strict";
import path from "node:path";
import { askHere } from "../../../src/admin/ask.ts";
import type { AdminContext } from "../../../src/admin/operation.ts";
import { makeDemoShop } from "../../../src/demo/demo-shop.ts";
import { brotli, gzip } from "../../../src/service/compression.ts";
import { noDocuments } from "../../../src/documents/documents.ts";
import { createApp } from "../../../src/http/app.ts";
import { createMetrics } from "../../../src/http/metrics.ts";
import { apiPrefix } from "../../../src/http/routes.ts";
import type { RestOperation } from "../../../src/requests/operation.ts";
import { createPerform } from "../../../src/requests/perform.ts";
import { operations } from "../../../src/operations/registry.ts";
import { createOutbox } from "../../../src/jobs/outbox/runner.ts";
import { keepingForecastVersions } from "../../../src/shop/forecast/forecast-version.ts";
import { keepingSegments } from "../../../src/shop/order-list/segment-upkeep.ts";
import { exportQueue } from "../../../src/exchange/export.ts";
import { openPostgresPool, PostgresConnection, type PostgresPool } from "../../../src/store/postgres/connection.ts";
import { LoopShare } from "../../../src/store/loop-share.ts";
import { postgresCoordination } from "../../../src/store/postgres/coordination.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import type { Engine } from "../../../src/store/store.ts";
import { openSandbox } from "../../../src/storefront/sandbox/sandbox.ts";
import { systemClock as clock, timeOrderedIds } from "../../../src/base/time/system.ts";
import { onlyGlobal } from "../../../src/webhooks/addresses.ts";
import { sandboxSchema, shopsSchema } from "./postgres.ts";
import { until } from "../until.ts";

const silentLog = { error: () => {} };

const ids = timeOrderedIds(clock);
const loop = new LoopShare();
const log = { info: () => {}, warn: console.warn, error: console.error };

/** Parts of the round trips that come by time, however many requests there are: leases of keys, the chain of audit rows. */
const timed = ["skip locked", "from audit_chain", "update audit_link set position"];

/** What one call has cost. */
export interface Cost {
  readonly statements: number;
  readonly roundTrips: number;
}

export const payers = ["request", "storefront", "followOn"] as const;

export type Costs = Readonly<Record<(typeof payers)[number], Cost>>;

/** A request: the path below the API's prefix, and the body. */
type Asking = readonly [below: string, body?: object];

/** A counted node with a shop that has records of every kind. */
interface CountedNode extends AsyncDisposable {
  /** Returns the answer's JSON. */
  ask(method: string, below: string, body?: object): Promise<unknown>;
  /** Counts one call with the follow-on work that it waits for. */
  costOf(method: string, asking: Asking): Promise<Costs>;
  /** Prepares an order on which a write can succeed; or names a record for a read. */
  prepare(operation: RestOperation): Promise<Asking>;
  /** Prepares a receipt of all lines of an order with so many. */
  receipt(lines: number): Promise<Asking>;
  /** The content of each round trip of the latest counted call. */
  readonly flights: readonly string[];
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

const variantIds = Array.from({ length: 5 }, (_, index) => `bench-${index}`);
const manyVariantIds = Array.from({ length: 500 }, (_, index) => `bench-${index}`);
const locationId = "bench-location";

async function* catalogue(): AsyncGenerator<Uint8Array> {
  const records = [
    { type: "location", locationId, name: "Bench" },
    ...manyVariantIds.map((variantId) => ({
      type: "variant",
      variantId,
      productId: variantId,
      productName: variantId,
    })),
  ];
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}

interface MadeOrder {
  readonly at: string;
  readonly lineIds: readonly string[];
}

const quantities = (lineIds: readonly string[], quantityReceived: number): object => ({
  lines: lineIds.map((lineItemId) => ({ lineItemId, quantityReceived })),
});

/** Orders in the states in which writes find them. */
function ordersOf(ask: CountedNode["ask"]) {
  async function draft(variants = variantIds): Promise<MadeOrder> {
    const lineItems = variants.map((variantId) => ({ variantId, quantityOrdered: 10, unitCost: 2.5 }));
    const made = await ask("POST", "/purchase-orders", { locationId, lineItems });
    return {
      at: `/purchase-orders/${textAt(made, "data", "purchaseOrder", "purchaseOrderId")}`,
      lineIds: variants.map((_, index) => textAt(made, "data", "purchaseOrder", "lineItems", index, "poLineItemId")),
    };
  }
  async function sent(variants = variantIds): Promise<MadeOrder> {
    const order = await draft(variants);
    await ask("POST", `${order.at}/status`, { status: "Sent" });
    return order;
  }
  async function inProgress(variants = variantIds): Promise<MadeOrder> {
    const order = await sent(variants);
    await ask("POST", `${order.at}/confirm`, { confirmAll: true });
    return order;
  }
  async function received(): Promise<MadeOrder> {
    const order = await inProgress();
    await ask("POST", `${order.at}/receive`, quantities(order.lineIds, 4));
    return order;
  }
  return { draft, sent, inProgress, received };
}

/** For each write: prepares an order of five lines on which it can succeed, and returns the request. */
function writesOf({
  draft,
  sent,
  inProgress,
  received,
}: ReturnType<typeof ordersOf>): Readonly<Record<string, () => Promise<Asking>>> {
  return {
    purchase_order_create: async () => [
      "/purchase-orders",
      { locationId, lineItems: variantIds.map((variantId) => ({ variantId, quantityOrdered: 10 })) },
    ],
    purchase_order_update: async () => [(await draft()).at, { note: "Ring twice." }],
    purchase_order_delete: async () => [(await draft()).at],
    purchase_order_line_item_add: async () => [
      `${(await draft()).at}/line-items`,
      { lineItems: variantIds.map((variantId) => ({ variantId, quantityOrdered: 1 })) },
    ],
    purchase_order_line_item_add_custom: async () => [
      `${(await draft()).at}/line-items/custom`,
      { productName: "Pallet", quantityOrdered: 1 },
    ],
    purchase_order_line_item_update: async () => {
      const { at, lineIds } = await draft();
      return [`${at}/line-items`, { lines: lineIds.map((lineItemId) => ({ lineItemId, note: "Blue." })) }];
    },
    purchase_order_line_item_delete: async () => {
      const { at, lineIds } = await draft();
      return [`${at}/line-items?lineItemIds=${lineIds.slice(1).join(",")}`];
    },
    purchase_order_status: async () => [`${(await draft()).at}/status`, { status: "Sent" }],
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
}

/** For each path parameter, the path of the list with its ids, and the list's member in the answer. */
const lists: Readonly<Record<string, readonly [below: string, collection: string]>> = {
  stockTakeId: ["/stock-takes", "stockTakes"],
  stockAdjustmentId: ["/stock-adjustments", "stockAdjustments"],
  transferOrderId: ["/transfer-orders", "transferOrders"],
  manufacturingOrderId: ["/manufacturing-orders", "manufacturingOrders"],
  viewId: ["/forecast-views", "forecastViews"],
};

/** Prepares the request of a read. */
async function readOf({ route }: RestOperation, ask: CountedNode["ask"], orderToRead: MadeOrder): Promise<Asking> {
  const [, name] = /\{(\w+)\}/.exec(route.path) ?? [];
  if (name === undefined) return [route.path];
  if (name === "purchaseOrderId") return [route.path.replace("/purchase-orders/{purchaseOrderId}", orderToRead.at)];
  const [below, collection] = lists[name] ?? [];
  if (below === undefined || collection === undefined) throw new Error(`nothing is known of ${name}`);
  return [route.path.replace(`{${name}}`, textAt(await ask("GET", below), "data", collection, 0, name))];
}

type Pools = Readonly<Record<(typeof payers)[number], PostgresPool>>;

/** Opens the parts of a node, each payer on a pool of its own. */
async function openParts(pools: Pools) {
  const open = (pool: PostgresPool, schemaName: string, room: string): Promise<Engine> =>
    openPostgresEngine({
      pool,
      schemaName,
      schemaDirectory: path.join(import.meta.dirname, `../../../src/${room}/schema`),
      clock,
      loop,
    });
  const engine = keepingForecastVersions(
    keepingSegments(await open(pools.request, shopsSchema, "shop"), silentLog),
    ids,
  );
  const sandboxEngine = await open(pools.storefront, sandboxSchema, "storefront/sandbox");
  const outboxEngine = keepingForecastVersions(
    keepingSegments(await open(pools.followOn, shopsSchema, "shop"), silentLog),
    ids,
  );
  const coordination = await postgresCoordination({ pool: pools.request, schemaName: shopsSchema, owner: "counted" });
  const sandboxOf = (shopId: string) => openSandbox({ engine: sandboxEngine, clock, shopId });
  const storefrontOf = ({ shopId }: { readonly shopId: string }) => Promise.resolve(sandboxOf(shopId));
  const outbox = createOutbox({
    engine: outboxEngine,
    storefrontOf,
    clock,
    ids,
    log,
    search: new DueSearch({ engine: outboxEngine, clock, log, random: Math.random }),
    random: Math.random,
  });
  const admin: AdminContext = {
    engine,
    clock,
    ids,
    loop,
    sandboxOf,
    snapshotOf: () => {
      throw new Error("nothing is copied here");
    },
    restoreShop: () => {
      throw new Error("nothing is restored here");
    },
    calls: { outbox, storefrontOf, log },
    wakeOutbox: () => {},
    storefronts: noConnections,
    documents: noDocuments,
    exports: exportQueue(),
    mailIsOn: false,
    publicUrl: null,
    webhooks: { policy: onlyGlobal, secrets: new SecretBox(null), changed: () => {} },
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
    gzip,
    clock,
    ids,
    log,
    metrics: createMetrics(),
    ready: () => engine.ready(),
    loop,
    identity: "srv_counted",
  });
  const close = async (): Promise<void> => {
    await outbox.close();
    await coordination.close();
    for (const each of [engine, sandboxEngine, outboxEngine]) await each.close();
  };
  return { app, admin, outboxEngine, close };
}

/** Records the content of each round trip of the process. @returns what was recorded, and how to stop. */
function recordFlights(): { readonly flights: string[]; readonly stop: () => void } {
  const flights: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its connection below
  const { exchange } = PostgresConnection.prototype;
  PostgresConnection.prototype.exchange = function (queries) {
    flights.push(queries.map(({ text }) => `    ${text.replace(/\s+/g, " ").trim().slice(0, 400)}`).join("\n"));
    return exchange.call(this, queries);
  };
  return { flights, stop: () => void (PostgresConnection.prototype.exchange = exchange) };
}

/** Opens a node on an empty database. */
export async function openCountedNode(url: string): Promise<CountedNode> {
  const openPool = (): Promise<PostgresPool> =>
    openPostgresPool({ url, connectionsMax: 4, schemas: [shopsSchema, sandboxSchema] });
  const pools: Pools = { request: await openPool(), storefront: await openPool(), followOn: await openPool() };
  const { app, admin, outboxEngine, close } = await openParts(pools);
  const { flights, stop } = recordFlights();
  const here = askHere(admin);
  const { shopId, writeKey } = await makeDemoShop(here, clock.now());
  const rateLimit = { capacity: 1_000_000, refillPerSecond: 1_000_000 };
  await here("shop_put", { shopId, name: "Bench", settings: { rateLimit } });
  await here("shop_import", { shopId }, catalogue());
  let keys = 0;
  const ask: CountedNode["ask"] = async (method, below, body) => {
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
  };
  const orders = ordersOf(ask);
  const writes = writesOf(orders);
  // Its follow-on work makes the outbox look after the shop.
  const orderToRead = await orders.received();

  /** Waits until the shop has no pending effects, and the outbox has done nothing between two looks. */
  async function quiet(): Promise<void> {
    const pendingStatement = "select count(*) as n from effect where shop_id = ? and state = 'pending'";
    let afterLook = -1;
    await until("the outbox rests", async () => {
      const isSame = pools.followOn.statements === afterLook;
      const [row] = await outboxEngine.read(shopId, (tx) => tx.all<{ n: number }>(pendingStatement, [shopId]));
      afterLook = pools.followOn.statements;
      return row?.n === 0 && isSame;
    });
  }
  const costIn = ({ statements, roundTrips }: Cost, before: Cost): Cost => ({
    statements: statements - before.statements,
    roundTrips: roundTrips - before.roundTrips,
  });
  const counted = (of: keyof Pools): Cost => ({ statements: pools[of].statements, roundTrips: pools[of].roundTrips });

  return {
    flights,
    ask,
    async costOf(method, [below, body]) {
      await quiet();
      const before = { request: counted("request"), storefront: counted("storefront"), followOn: counted("followOn") };
      flights.length = 0;
      await ask(method, below, body);
      const byTime = flights.filter((flight) => timed.some((part) => flight.includes(part))).length;
      const request = costIn(counted("request"), before.request);
      return {
        request: { ...request, roundTrips: request.roundTrips - byTime },
        storefront: costIn(counted("storefront"), before.storefront),
        followOn: costIn(counted("followOn"), before.followOn),
      };
    },
    prepare(operation) {
      if (operation.scope === "read") return readOf(operation, ask, orderToRead);
      const prepareWrite = writes[operation.name];
      assert.ok(prepareWrite, `it is not known how ${operation.name} is asked`);
      return prepareWrite();
    },
    async receipt(lines) {
      const { at, lineIds } = await orders.inProgress(manyVariantIds.slice(0, lines));
      return [`${at}/receive`, quantities(lineIds, 4)];
    },
    async [Symbol.asyncDispose]() {
      stop();
      await close();
      for (const pool of Object.values(pools)) await pool.close();
    },
  };
}
