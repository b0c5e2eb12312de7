/**
 * Replays the AdventureWorks purchase orders through a running service and compares the stock at the end with the exact expectation.
 *
 * Every order is created, sent, confirmed, received (stocked quantities as received, rejected ones as rejected) and completed, several
 * orders in parallel. A third is confirmed whole, a third at half of what was ordered, so that more comes than was confirmed, a third
 * halfway between what comes and what was ordered. Of the orders with outstanding goods, every second one is left Partially Received.
 * The program starts the server itself, on an empty directory, and can inject faults and crashes:
 *
 *     node_modules/.bin/node examples/replay.ts --data FOLDER [--orders 200] [--parallel 8] [--faults] [--kills 10]
 *
 * FOLDER is the one of examples/adventureworks.ts.
 *
 * `--faults`: the sandbox storefront loses answers, throttles or fails about one call in ten. `--kills N`: the server is killed (-9) and
 * restarted N times during the run. The result must be the same: on hand = opening + Σ stocked, incoming = Σ pending of open orders,
 * unit costs as the cost sync proposed. Every write carries an Idempotency-Key and is repeated until it is answered.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type CsvRow, csvRows } from "./csv.ts";

interface Line {
  readonly variantId: string;
  readonly unitCost: number;
  readonly ordered: number;
  readonly stocked: number;
  readonly rejected: number;
}

type Confirmation = "all" | "half" | "halfway";

interface Order {
  readonly id: string;
  readonly supplierId: string;
  readonly locationId: string;
  readonly confirmation: Confirmation;
  readonly lines: readonly Line[];
}

const confirmations: readonly Confirmation[] = ["all", "half", "halfway"];

/** What the supplier confirms of a line; never 0. */
function confirmedOf({ confirmation }: Order, { ordered, stocked, rejected }: Line): number {
  switch (confirmation) {
    case "all":
      return ordered;
    case "half":
      return Math.ceil(ordered / 2);
    case "halfway":
      return Math.max(1, Math.floor((ordered + stocked + rejected) / 2));
  }
}

const isConfirmedShort = (order: Order): boolean => order.lines.some((line) => confirmedOf(order, line) < line.ordered);

export interface ReplayOptions {
  readonly data: string;
  readonly orders: number;
  readonly parallel: number;
  readonly faults: boolean;
  readonly kills: number;
}

export interface ReplayResult {
  readonly orders: number;
  readonly calls: number;
  readonly seconds: number;
  readonly slowestMs: number;
  readonly slowestCall: string;
  readonly retries: number;
  readonly storefrontCalls: number;
  readonly faultsSet: number;
  readonly kills: number;
  /** Orders with a line that the supplier confirmed below what was ordered. */
  readonly confirmedShort: number;
  /** Where the stock differs from the expectation; empty when the run was correct. */
  readonly differences: readonly string[];
}

const shopId = "replay";
const adminToken = "replay-admin-token-0123456789";
/** With `--faults`, one storefront call in this many fails. */
const callsPerFault = 10;
/** Timeout of a call with all its retries. */
const callTimeoutMs = 60_000;
/** After a kill, follow-on work is resumed by the next start, and is then retried for some seconds. */
const followOnMsMax = 45_000;
/** With `--faults`, so many calls fail that tell the storefront of the last order's receipt what is incoming; each takes 1 s. */
const lateAttempts = 4;

/** The service as a separate process that can be killed and restarted on the same directory. */
class Server {
  readonly #directory: string;
  readonly #port: number;
  #process: ChildProcess | null = null;

  constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const main = path.join(import.meta.dirname, "..", "src", "main.ts");
    this.#process = spawn(process.execPath, [main], {
      env: {
        ...process.env,
        PORT: String(this.#port),
        OPENPO_DATA_DIR: this.#directory,
        OPENPO_ADMIN_TOKEN: adminToken,
        OPENPO_DEMO: "0",
        OPENPO_LOG_LEVEL: "warn",
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const until = Date.now() + 20_000;
    for (;;) {
      try {
        if ((await fetch(`${this.url}/readyz`)).ok) return;
      } catch {
        // Not listening yet.
      }
      if (Date.now() > until) throw new Error("the server did not become ready");
      await sleep(50);
    }
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
    this.#process = null;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function readOrders(data: string, count: number): readonly Order[] {
  const lines = Map.groupBy(
    csvRows(path.join(data, "purchase_order_lines.csv")),
    (row) => row["purchaseOrderId"] ?? "",
  );
  const locations = csvRows(path.join(data, "locations.csv")).map((row) => row["locationId"] ?? "");
  return csvRows(path.join(data, "purchase_orders.csv"))
    .slice(0, count)
    .map((row, index) => {
      const id = row["purchaseOrderId"] ?? "";
      return {
        id,
        supplierId: row["vendorId"] ?? "",
        // The data has no destination for an order, so the locations take turns.
        locationId: locations[index % locations.length] ?? "",
        confirmation: confirmations[index % confirmations.length] ?? "all",
        lines: (lines.get(id) ?? []).map((line) => ({
          variantId: line["productId"] ?? "",
          unitCost: Number(line["unitCost"]),
          ordered: Number(line["quantityOrdered"]),
          stocked: Number(line["quantityStocked"]),
          rejected: Number(line["quantityRejected"]),
        })),
      };
    });
}

/** Returns locations, suppliers, products and opening stock as import records. */
function referenceData(data: string): string {
  const rows = (file: string): readonly CsvRow[] => csvRows(path.join(data, file));
  const levels = new Map<string, { variantId: string; locationId: string; onHand: number }>();
  for (const row of rows("inventory.csv")) {
    const variantId = row["productId"] ?? "";
    const locationId = row["locationId"] ?? "";
    const level = levels.get(`${variantId} ${locationId}`) ?? { variantId, locationId, onHand: 0 };
    level.onHand += Number(row["quantity"]);
    levels.set(`${variantId} ${locationId}`, level);
  }
  const records = [
    ...rows("locations.csv").map((row) => ({ type: "location", locationId: row["locationId"], name: row["name"] })),
    ...rows("vendors.csv").map((row) => ({ type: "supplier", supplierId: row["vendorId"], name: row["name"] })),
    ...rows("products.csv").map((row) => ({
      type: "variant",
      variantId: row["productId"],
      productId: row["productId"],
      productName: row["name"],
      sku: row["productNumber"],
      unitCost: Number(row["standardCost"]),
    })),
    ...[...levels.values()].map((level) => ({ type: "inventoryLevel", ...level })),
  ];
  return records.map((record) => JSON.stringify(record)).join("\n");
}

interface Body {
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly retryable: boolean; readonly retryAfterMs?: number };
}

/** Returns a member of an answer. Throws if it is missing. */
function member(value: unknown, ...names: readonly string[]): unknown {
  let found: unknown = value;
  for (const name of names) {
    if (typeof found !== "object" || found === null || !(name in found)) throw new Error(`no ${names.join(".")}`);
    found = new Map(Object.entries(found)).get(name);
  }
  return found;
}

function list(value: unknown, ...names: readonly string[]): readonly unknown[] {
  const found = member(value, ...names);
  if (!Array.isArray(found)) throw new Error(`${names.join(".")} is not a list`);
  return found;
}

class Replay {
  readonly #options: ReplayOptions;
  readonly #server: Server;
  #apiKey = "";
  #calls = 0;
  #retries = 0;
  #faultsSet = 0;
  #kills = 0;
  #slowest = { ms: 0, call: "" };

  constructor(options: ReplayOptions, server: Server) {
    this.#options = options;
    this.#server = server;
  }

  /** Sends a request and repeats it with the same key until it gets a final answer. */
  async #call(method: string, below: string, token: string, body?: object | string, key?: string): Promise<unknown> {
    const started = performance.now();
    const until = Date.now() + callTimeoutMs;
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    for (;;) {
      let waitMs = 200;
      try {
        const response = await fetch(`${this.#server.url}${below}`, {
          method,
          headers: {
            Authorization: `Bearer ${token}`,
            "Content-Type": "application/json",
            ...(key === undefined ? {} : { "Idempotency-Key": key }),
          },
          ...(text === undefined ? {} : { body: text }),
          signal: AbortSignal.timeout(callTimeoutMs),
        });
        const answer: Body = JSON.parse(await response.text());
        if (response.ok) {
          const ms = performance.now() - started;
          this.#calls += 1;
          if (ms > this.#slowest.ms) this.#slowest = { ms, call: `${method} ${below}` };
          return answer.data;
        }
        // After a 5xx the outcome is unknown; the key makes the retry safe.
        if (answer.error?.retryable !== true && response.status < 500)
          throw new Refused(`${method} ${below}: ${response.status} ${JSON.stringify(answer.error)}`);
        waitMs = Math.min(answer.error?.retryAfterMs ?? waitMs, 2_000);
      } catch (error) {
        if (error instanceof Refused) throw error;
        // The connection failed: the server is restarting.
      }
      if (Date.now() > until) throw new Error(`${method} ${below}: no answer in ${callTimeoutMs} ms`);
      this.#retries += 1;
      await sleep(waitMs);
    }
  }

  #admin(method: string, below: string, body?: object | string): Promise<unknown> {
    return this.#call(method, `/admin/v1/shops/${shopId}${below}`, adminToken, body);
  }

  #write(method: string, below: string, body: object, key: string): Promise<unknown> {
    return this.#call(method, `/api/v1${below}`, this.#apiKey, body, key);
  }

  #read(below: string): Promise<unknown> {
    return this.#call("GET", `/api/v1${below}`, this.#apiKey);
  }

  /** Takes an order through all its steps. `isLate`: calls fail that follow its receipt. Returns its id in the service. */
  async #play(order: Order, index: number, isLate = false): Promise<string> {
    const key = (step: string): string => `order-${order.id}-${step}`;
    const created = await this.#write(
      "POST",
      "/purchase-orders",
      {
        poName: `AdventureWorks ${order.id}`,
        supplierId: order.supplierId,
        locationId: order.locationId,
        lineItems: order.lines.map((line) => ({
          variantId: line.variantId,
          quantityOrdered: line.ordered,
          unitCost: line.unitCost,
        })),
      },
      key("create"),
    );
    const id = String(member(created, "purchaseOrder", "purchaseOrderId"));
    const lineIds = list(created, "purchaseOrder", "lineItems").map((line) => String(member(line, "poLineItemId")));
    const path = `/purchase-orders/${id}`;
    await this.#write("POST", `${path}/status`, { status: "Sent" }, key("send"));
    await this.#confirm(order, path, lineIds, key);
    if (isLate) await this.#delayIncoming();
    const received = await this.#write(
      "POST",
      `${path}/receive`,
      {
        lines: order.lines.map((line, position) => ({
          lineItemId: lineIds[position],
          quantityReceived: line.stocked,
          quantityRejected: line.rejected,
        })),
        allowOverReceipt: order.confirmation === "half",
      },
      key("receive"),
    );
    const isOutstanding = member(received, "purchaseOrder", "status") === "Partially Received";
    if (!isOutstanding || index % 2 === 0) await this.#write("POST", `${path}/complete`, {}, key("complete"));
    return id;
  }

  /** Confirms an order at once or line by line, and begins work on it. */
  async #confirm(order: Order, path: string, lineIds: readonly string[], key: (step: string) => string): Promise<void> {
    if (order.confirmation === "all") {
      await this.#write("POST", `${path}/confirm`, { confirmAll: true }, key("confirm"));
      return;
    }
    const lines = order.lines.map((line, position) => ({
      lineItemId: lineIds[position],
      quantityConfirmed: confirmedOf(order, line),
    }));
    await this.#write("POST", `${path}/confirm`, { lines }, key("confirm"));
    await this.#write("POST", `${path}/status`, { status: "In Progress" }, key("begin"));
  }

  /** Repeats follow-on work that has failed, as `recovery` describes. */
  async #recover(id: string): Promise<void> {
    const order = member(await this.#read(`/purchase-orders/${id}`), "purchaseOrder");
    const state = member(order, "storefrontSyncState");
    if (state === "synced" || state === "never-synced") return;
    const path = `/purchase-orders/${id}`;
    const status = member(order, "status");
    // Only orders from Sent to Received can be synced, so a completed order is reopened.
    if (status === "Completed")
      await this.#write("POST", `${path}/status`, { status: "Received" }, `order-${id}-reopen`);
    await this.#write("POST", `${path}/storefront-sync/reset`, {}, `order-${id}-reset`);
    await this.#write("POST", `${path}/storefront-sync`, {}, `order-${id}-sync`);
    if (status === "Completed") await this.#write("POST", `${path}/complete`, {}, `order-${id}-complete-again`);
  }

  /** Injects one fault after every ten storefront calls, each kind in turn. */
  async #injectFaults(until: { done: boolean }): Promise<void> {
    const outcomes = ["lost-response", "throttled", "error", "timeout"] as const;
    let lastFaultAt = 0;
    while (!until.done) {
      const calls = await this.#storefrontCalls();
      if (calls - lastFaultAt >= callsPerFault) {
        lastFaultAt = calls;
        const outcome = outcomes[this.#faultsSet % outcomes.length];
        await this.#admin("PUT", "/sandbox/faults", { faults: [{ call: "*", outcome, times: 1 }] });
        this.#faultsSet += 1;
      }
      await sleep(20);
    }
    await this.#admin("PUT", "/sandbox/faults", { faults: [] });
  }

  /** The storefront is told late what is no longer incoming, so the comparison has to wait for it. */
  async #delayIncoming(): Promise<void> {
    const late = { call: "setIncoming", outcome: "timeout", times: lateAttempts };
    await this.#admin("PUT", "/sandbox/faults", { faults: [late] });
  }

  async #storefrontCalls(): Promise<number> {
    const sandbox = await this.#admin("GET", "/sandbox?variantIds=none");
    const calls = member(sandbox, "calls");
    if (typeof calls !== "object" || calls === null) return 0;
    return Object.values(calls).reduce((sum: number, count: unknown) => sum + Number(count), 0);
  }

  async run(): Promise<ReplayResult> {
    const { data, orders: count, parallel, faults, kills } = this.#options;
    const orders = readOrders(data, count);
    await this.#admin("PUT", "", {
      name: "Replay",
      currencyCode: "USD",
      plan: { restApi: true },
      settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 }, followOnWaitMs: 500 },
    });
    this.#apiKey = String(member(await this.#admin("POST", "/keys", { name: "Replay", scope: "write" }), "apiKey"));
    await this.#admin("POST", "/import", referenceData(data));
    const opening = await this.#stock();

    const started = performance.now();
    const replaying = { done: false };
    const injecting = faults ? this.#injectFaults(replaying) : Promise.resolve();
    const ids: string[] = [];
    let next = 0;
    let killing: Promise<void> = Promise.resolve();
    const killEvery = kills === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(orders.length / (kills + 1)));
    const last = orders.length - 1;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < last; index = next++) {
        const order = orders[index];
        if (order === undefined) return;
        if (index > 0 && index % killEvery === 0 && this.#kills < kills) {
          this.#kills += 1;
          killing = this.#restart(killing);
        }
        ids[index] = await this.#play(order, index);
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    await killing;
    replaying.done = true;
    await injecting;
    const final = orders[last];
    if (final !== undefined) ids[last] = await this.#play(final, last, faults);
    const seconds = (performance.now() - started) / 1000;

    await this.#settled(ids);
    for (const id of ids) await this.#recover(id);
    await this.#settled(ids);
    return {
      orders: orders.length,
      calls: this.#calls,
      seconds,
      slowestMs: this.#slowest.ms,
      slowestCall: this.#slowest.call,
      retries: this.#retries,
      storefrontCalls: await this.#storefrontCalls(),
      faultsSet: this.#faultsSet,
      kills: this.#kills,
      confirmedShort: orders.filter(isConfirmedShort).length,
      differences: await this.#differences(orders, ids, opening),
    };
  }

  /** Kills and restarts the server, after the previous restart has finished. */
  async #restart(last: Promise<void>): Promise<void> {
    await last;
    await this.#server.end("SIGKILL");
    await this.#server.start();
  }

  /** Waits until no order has a push in flight, at most `callTimeoutMs`. */
  async #settled(ids: readonly string[]): Promise<void> {
    const until = Date.now() + callTimeoutMs;
    let open: readonly string[] = ids;
    while (open.length > 0) {
      const still: string[] = [];
      for (const id of open) {
        const order = await this.#read(`/purchase-orders/${id}`);
        if (member(order, "purchaseOrder", "storefrontSyncState") === "in-flight") still.push(id);
      }
      open = still;
      if (open.length > 0 && Date.now() > until) return;
      if (open.length > 0) await sleep(250);
    }
  }

  /** Reads the storefront's stock: on hand and incoming by `variant location`, unit cost by variant. */
  async #stock(): Promise<Stock> {
    const stock: Stock = { onHand: new Map(), incoming: new Map(), unitCost: new Map() };
    for (const variant of list(await this.#admin("GET", "/sandbox"), "variants")) {
      const variantId = String(member(variant, "variantId"));
      const cost = member(variant, "unitCost");
      stock.unitCost.set(variantId, cost === null ? null : Number(cost));
      for (const level of list(variant, "levels")) {
        const place = `${variantId} ${String(member(level, "locationId"))}`;
        stock.onHand.set(place, Number(member(level, "onHand")));
        stock.incoming.set(place, Number(member(level, "incoming")));
      }
    }
    return stock;
  }

  /** What the stock must be: on hand and incoming by `variant location`, and the unit costs that each variant may have. */
  async #expected(orders: readonly Order[], ids: readonly string[], opening: Stock): Promise<Expected> {
    const onHand = new Map(opening.onHand);
    const incoming = new Map<string, number>();
    const unitCosts = new Map<string, Set<number>>();
    for (const [index, order] of orders.entries()) {
      const id = ids[index] ?? "";
      const stored = member(await this.#read(`/purchase-orders/${id}`), "purchaseOrder");
      const isOpen = member(stored, "status") === "Partially Received";
      for (const line of order.lines) {
        const place = `${line.variantId} ${order.locationId}`;
        onHand.set(place, (onHand.get(place) ?? 0) + line.stocked);
        const pending = Math.max(0, confirmedOf(order, line) - line.stocked - line.rejected);
        if (isOpen) incoming.set(place, (incoming.get(place) ?? 0) + pending);
      }
      for (const row of list(await this.#read(`/purchase-orders/${id}/cost-sync-history`), "costSyncHistory")) {
        const variantId = String(member(row, "variantId"));
        const proposed = unitCosts.get(variantId) ?? new Set();
        proposed.add(Number(member(row, "proposedUnitCost")));
        unitCosts.set(variantId, proposed);
      }
    }
    return { onHand, incoming, unitCosts };
  }

  /** Compares the storefront's stock with what it must be. Incoming quantities follow the orders, so they may come later. */
  async #differences(orders: readonly Order[], ids: readonly string[], opening: Stock): Promise<readonly string[]> {
    const expected = await this.#expected(orders, ids, opening);
    const until = Date.now() + followOnMsMax;
    while (differing("incoming", expected.incoming, (await this.#stock()).incoming).length > 0 && Date.now() < until)
      await sleep(250);
    const stock = await this.#stock();
    const differences = [
      ...differing("on hand", expected.onHand, stock.onHand),
      ...differing("incoming", expected.incoming, stock.incoming),
    ];
    // Orders of one product complete in parallel, so any of their proposed costs may be the last one written.
    for (const [variantId, proposed] of expected.unitCosts) {
      const cost = stock.unitCost.get(variantId) ?? null;
      if (cost === null || !proposed.has(cost))
        differences.push(
          `unit cost of ${variantId}: ${cost} instead of one of ${[...proposed].slice(0, 5).join(", ")}`,
        );
    }
    return differences;
  }
}

interface Expected {
  readonly onHand: ReadonlyMap<string, number>;
  readonly incoming: ReadonlyMap<string, number>;
  readonly unitCosts: ReadonlyMap<string, ReadonlySet<number>>;
}

function differing(
  what: string,
  expected: ReadonlyMap<string, number>,
  found: ReadonlyMap<string, number>,
): readonly string[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((place) => {
    const [a, b] = [expected.get(place) ?? 0, found.get(place) ?? 0];
    return a === b ? [] : [`${what} of ${place}: ${b} instead of ${a}`];
  });
}

interface Stock {
  readonly onHand: Map<string, number>;
  readonly incoming: Map<string, number>;
  readonly unitCost: Map<string, number | null>;
}

/** A refusal that a retry would not change. */
class Refused extends Error {
  override readonly name = "Refused";
}

/** Starts a server on an empty directory, replays the orders and compares the stock. */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-replay-"));
  const server = new Server(directory, await freePort());
  try {
    await server.start();
    return await new Replay(options, server).run();
  } finally {
    await server.end("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      data: { type: "string" },
      orders: { type: "string", default: "4012" },
      parallel: { type: "string", default: "8" },
      faults: { type: "boolean", default: false },
      kills: { type: "string", default: "0" },
    },
  });
  const { data } = values;
  if (data === undefined) {
    console.error("usage: node_modules/.bin/node examples/replay.ts --data FOLDER-OF-THE-CSV-FILES");
    process.exit(1);
  }
  readFileSync(path.join(data, "purchase_orders.csv"));
  const result = await replay({
    data,
    orders: Number(values.orders),
    parallel: Number(values.parallel),
    faults: values.faults,
    kills: Number(values.kills),
  });
  console.log(
    [
      `${result.orders} orders, ${result.calls} calls, ${result.seconds.toFixed(1)} s: ${(result.orders / result.seconds).toFixed(1)} orders/s`,
      `slowest call: ${result.slowestMs.toFixed(0)} ms, retries included (${result.slowestCall})`,
      `${result.retries} retries, ${result.storefrontCalls} storefront calls, ${result.faultsSet} faults, ${result.kills} kills, ${result.confirmedShort} orders confirmed short`,
      result.differences.length === 0
        ? "stock, incoming quantities and costs are exactly as expected"
        : result.differences.join("\n"),
    ].join("\n"),
  );
  process.exitCode = result.differences.length === 0 ? 0 : 1;
}
