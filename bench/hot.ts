/**
 * Measures the requests that a shop makes most against their lower bounds: bare programs that read or write the same rows and do nothing
 * else (bounds/hot.ts). Service and bound take turns in short rounds of the same run, each in its own process, with 32 connections; each
 * figure is the median of its rounds.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk (default: the system's temporary directory), `OPENPO_BENCH_ROUNDS` the rounds (default
 * 3), `OPENPO_BENCH_SECONDS` the seconds of a round (default 1), `OPENPO_BENCH_ONLY` the rows whose names contain it,
 * `OPENPO_BENCH_NODE_ARGUMENTS` arguments of Node for the service (`--cpu-prof`), `OPENPO_DATABASE_URL` an empty PostgreSQL database instead of
 * files and `OPENPO_BOUND_URL` one for its bound (bounds/postgres.ts; see on-postgres.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, Connection, requestBytes } from "./bounds/client.ts";
import { serviceArguments, startServer, stopServers } from "./servers.ts";
import { perSecond as asRate, report } from "./report.ts";

const roundMs = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 1) * 1_000;
const rounds = Number(process.env["OPENPO_BENCH_ROUNDS"] ?? 3);
const only = process.env["OPENPO_BENCH_ONLY"] ?? "";
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-bench-"));
const connectionCount = 32;
const adminToken = "bench-admin-token-0123456789";
const onPostgres = process.env["OPENPO_DATABASE_URL"] !== undefined;
const ordersListed = onPostgres ? 200 : 2_000;
const otherShops = onPostgres ? 0 : 64;

/** What a round has measured. */
interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Load {
  readonly connections: readonly Connection[];
  readonly status: number;
  /** The request of one connection (by its number) at this turn. */
  readonly next: (connection: number, turn: number) => string;
  /** Requests a second of all connections. Default: as many as there are answers. */
  readonly perSecond?: number;
}

let turns = 0;

/** Each connection sends its next request when it has its answer, and when it is due. */
async function load({ connections, status, next, perSecond }: Load): Promise<Round> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const everyMs = perSecond === undefined ? 0 : (connections.length * 1_000) / perSecond;
  await Promise.all(
    connections.map(async (connection, number) => {
      for (let sent = 0; performance.now() - startMs < roundMs; sent += 1) {
        const dueMs = startMs + (sent + number / connections.length) * everyMs;
        if (everyMs > 0 && performance.now() < dueMs) await sleep(dueMs - performance.now());
        const askedMs = performance.now();
        const answer = await connection.ask(next(number, (turns += 1)));
        if (answer.status !== status) throw new Error(`${answer.status} ${answer.body.slice(0, 300)}`);
        latenciesMs.push(performance.now() - askedMs);
      }
    }),
  );
  const elapsedMs = performance.now() - startMs;
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number => latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? 0;
  return { perSecond: (latenciesMs.length * 1_000) / elapsedMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** A string member of an answer. */
function member(answer: Answer, ...names: readonly (string | number)[]): string {
  let found: unknown = JSON.parse(answer.body);
  for (const name of names) found = typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined;
  if (typeof found !== "string") throw new Error(`no ${names.join(".")} in ${answer.body.slice(0, 300)}`);
  return found;
}

interface ReceivedOrder {
  readonly id: string;
  readonly lineIds: readonly string[];
}

const variantsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `v${index}`);

/** The service with its shops, and the requests that are measured. */
class Service {
  readonly #port: number;
  readonly #tokens = new Map<string, string>();
  readonly #main: Connection;

  constructor(port: number) {
    this.#port = port;
    this.#main = new Connection(port);
  }

  connections(count = connectionCount): readonly Connection[] {
    return Array.from({ length: count }, () => new Connection(this.#port));
  }

  async makeShop(shopId: string, variantCount: number): Promise<void> {
    const admin = async (method: string, below: string, body: object | string): Promise<Answer> =>
      this.#asked(`/admin/v1/shops/${shopId}${below}`, method, { authorization: `Bearer ${adminToken}` }, body);
    await admin("PUT", "", {
      name: shopId,
      plan: { restApi: true },
      settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } },
    });
    this.#tokens.set(shopId, member(await admin("POST", "/keys", { name: "bench", scope: "write" }), "data", "apiKey"));
    const records = [
      { type: "location", locationId: "loc", name: "Warehouse" },
      { type: "supplier", supplierId: "sup", name: "Supplier" },
      ...variantsOf(variantCount).map((variantId) => ({
        type: "variant",
        variantId,
        productId: variantId,
        productName: `Product ${variantId}`,
        sku: `SKU-${variantId}`,
      })),
    ];
    await admin("POST", "/import", records.map((record) => JSON.stringify(record)).join("\n"));
  }

  #headers(shopId: string): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#tokens.get(shopId) ?? ""}` };
  }

  async #asked(
    target: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body: object | string | null,
  ): Promise<Answer> {
    const answer = await this.#main.ask(requestBytes(method, target, headers, body));
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.body}`);
    return answer;
  }

  api(method: string, below: string, body: object | null = null): Promise<Answer> {
    return this.#asked(`/api/v1${below}`, method, this.#headers("bench"), body);
  }

  get(below: string): string {
    return requestBytes("GET", `/api/v1${below}`, this.#headers("bench"));
  }

  create(shopId: string, key: string, lineCount = 10): string {
    const lineItems = variantsOf(lineCount).map((variantId) => ({
      variantId,
      quantityOrdered: 1_000_000,
      unitCost: 19.99,
    }));
    const headers = { ...this.#headers(shopId), "idempotency-key": key };
    return requestBytes("POST", "/api/v1/purchase-orders", headers, {
      locationId: "loc",
      supplierId: "sup",
      lineItems,
    });
  }

  receive({ id, lineIds }: ReceivedOrder, turn: number): string {
    const lines = lineIds.map((lineItemId) => ({ lineItemId, quantityReceived: turn / 1_000 }));
    const headers = { ...this.#headers("bench"), "idempotency-key": `receive-${turn}` };
    return requestBytes("POST", `/api/v1/purchase-orders/${id}/receive`, headers, { lines });
  }

  /** An order that is confirmed. */
  async order(lineCount: number, key: string): Promise<ReceivedOrder> {
    const created = await this.#main.ask(this.create("bench", key, lineCount));
    const id = member(created, "data", "purchaseOrder", "purchaseOrderId");
    await this.api("POST", `/purchase-orders/${id}/status`, { status: "Sent" });
    await this.api("POST", `/purchase-orders/${id}/confirm`, { confirmAll: true });
    const lineIds = variantsOf(lineCount).map((_, index) =>
      member(created, "data", "purchaseOrder", "lineItems", index, "poLineItemId"),
    );
    return { id, lineIds };
  }
}

/** A row: the service's load, and its bound's loads, of which the best one counts. */
interface Row {
  readonly name: string;
  readonly service: () => Promise<Round>;
  readonly bounds: readonly (() => Promise<Round>)[];
}

async function measureRow({ name, service, bounds }: Row): Promise<void> {
  const own: Round[] = [];
  const others = bounds.map((): Round[] => []);
  for (let round = 0; round < rounds; round += 1) {
    own.push(await service());
    for (const [index, bound] of bounds.entries()) others[index]?.push(await bound());
  }
  const perSecond = median(own.map((each) => each.perSecond));
  const best = Math.max(...others.map((each) => median(each.map((round) => round.perSecond))));
  const times = `p50 ${median(own.map((each) => each.p50Ms)).toFixed(1)} p99 ${median(own.map((each) => each.p99Ms)).toFixed(1)} ms`;
  report({ name, value: perSecond / best, figure: asRate(perSecond), bound: asRate(best) });
  console.log(`  ${times}`);
}

const isWanted = (name: string): boolean => name.includes(only);

async function rates(service: Service, boundPort: number, orders: readonly ReceivedOrder[]): Promise<void> {
  const connections = service.connections();
  const bare = Array.from({ length: connectionCount }, () => new Connection(boundPort));
  const orderOf = (number: number): ReceivedOrder => orders[number % orders.length] ?? { id: "", lineIds: [] };
  const draft = { locationId: "loc", supplierId: "sup", lineItems: variantsOf(10).map((variantId) => ({ variantId })) };
  const boundOf =
    (method: string, target: (number: number) => string, body: object | null = null): (() => Promise<Round>) =>
    () =>
      load({ connections: bare, status: 200, next: (number) => requestBytes(method, target(number), {}, body) });
  const own =
    (status: number, next: Load["next"]): (() => Promise<Round>) =>
    () =>
      load({ connections, status, next });
  const getOrder = own(200, (number) => service.get(`/purchase-orders/${orderOf(number).id}`));
  const createHere = own(201, (_, turn) => service.create("bench", `create-${turn}`));
  const barely = ["group", "each"].map((how) => boundOf("POST", () => `/create/0/${how}`, draft));
  const rowsOnPostgres: readonly Row[] = [
    {
      name: "PostgreSQL: read, 10 lines",
      service: getOrder,
      bounds: [boundOf("GET", (number) => `/order/${number}`)],
    },
    { name: "PostgreSQL: create, 10 lines, keyed", service: createHere, bounds: barely },
  ];
  const rowsOnFiles: readonly Row[] = [
    { name: "GET one order of 10 lines", service: getOrder, bounds: [boundOf("GET", (number) => `/order/${number}`)] },
    {
      name: "GET list of 50",
      service: own(200, () => service.get("/purchase-orders?limit=50")),
      bounds: [boundOf("GET", () => "/list")],
    },
    {
      name: "create, 10 lines, keyed, 1 shop",
      service: createHere,
      bounds: barely,
    },
    {
      name: "create, 10 lines, keyed, 64 shops",
      service: own(201, (_, turn) => service.create(`shop-${turn % otherShops}`, `create-${turn}`)),
      bounds: ["group", "each"].map((how) =>
        boundOf("POST", () => `/create/${1 + (turns % otherShops)}/${how}`, draft),
      ),
    },
    {
      name: "receive, 10 lines, pushed to the sandbox",
      service: own(200, (number, turn) => service.receive(orderOf(number), turn)),
      bounds: [boundOf("POST", (number) => `/receive/${number}`, draft)],
    },
    {
      name: "replay of a stored answer against GET",
      service: own(201, () => service.create("bench", "order-0")),
      bounds: [getOrder],
    },
  ];
  for (const row of onPostgres ? rowsOnPostgres : rowsOnFiles) if (isWanted(row.name)) await measureRow(row);
  for (const connection of [...connections, ...bare]) connection.close();
}

async function receiveSizes(service: Service): Promise<void> {
  const name = "receive 500 lines against 50";
  if (!isWanted(name)) return;
  const connections = service.connections(1);
  const p50Of = async (lineCount: number): Promise<number> => {
    const order = await service.order(lineCount, `large-${lineCount}`);
    const measured: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      measured.push((await load({ connections, status: 200, next: (_, turn) => service.receive(order, turn) })).p50Ms);
    return median(measured);
  };
  const small = await p50Of(50);
  const large = await p50Of(500);
  report({ name, value: large / small, figure: `${large.toFixed(1)} ms`, bound: `${small.toFixed(1)} ms` });
  for (const connection of connections) connection.close();
}

/** Reads on a few connections with pauses, alone and while creates run at half of what the service takes. */
async function readsBesideCreates(service: Service, orders: readonly ReceivedOrder[]): Promise<void> {
  const readers = service.connections(4);
  const writers = service.connections();
  const reads = (): Promise<Round> =>
    load({
      connections: readers,
      status: 200,
      perSecond: 200,
      next: (_, turn) => service.get(`/purchase-orders/${orders[turn % orders.length]?.id ?? ""}`),
    });
  for (const [name, shopOf] of [
    ["the same shop", () => "bench"],
    ["64 others", (turn: number) => `shop-${turn % otherShops}`],
  ] as const) {
    const row = `p99 of reads beside creates of ${name}`;
    if (!isWanted(row)) continue;
    const creates: Load = {
      connections: writers,
      status: 201,
      next: (_, turn) => service.create(shopOf(turn), `half-${turn}`),
    };
    const most = (await load(creates)).perSecond;
    const alone: Round[] = [];
    const beside: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await reads());
      beside.push((await Promise.all([reads(), load({ ...creates, perSecond: most / 2 })]))[0]);
    }
    const of = (measured: readonly Round[], time: "p50Ms" | "p99Ms"): number =>
      median(measured.map((each) => each[time]));
    const [p99Ms, aloneMs] = [of(beside, "p99Ms"), of(alone, "p99Ms")];
    report({ name: row, value: p99Ms / aloneMs, figure: `${p99Ms.toFixed(1)} ms`, bound: `${aloneMs.toFixed(1)} ms` });
    console.log(
      `  ${Math.round(most / 2)} creates/s; p50 ${of(beside, "p50Ms").toFixed(1)} ms, alone ${of(alone, "p50Ms").toFixed(1)} ms`,
    );
  }
  for (const connection of [...readers, ...writers]) connection.close();
}

try {
  const nodeArguments = (process.env["OPENPO_BENCH_NODE_ARGUMENTS"] ?? "").split(" ").filter((each) => each !== "");
  const service = new Service(
    await startServer([...nodeArguments, ...serviceArguments], {
      OPENPO_DATA_DIR: path.join(directory, "service"),
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_DEMO: "0",
      OPENPO_LOG_LEVEL: "warn",
    }),
  );
  const boundPort = await startServer(
    [path.join(import.meta.dirname, "bounds", onPostgres ? "postgres.ts" : "hot.ts")],
    {
      OPENPO_BOUND_DIR: path.join(directory, "bound"),
    },
  );
  await service.makeShop("bench", 500);
  for (let index = 0; index < otherShops; index += 1) await service.makeShop(`shop-${index}`, 10);
  const orders: ReceivedOrder[] = [];
  for (let index = 0; index < connectionCount; index += 1) orders.push(await service.order(10, `order-${index}`));
  const filling = service.connections();
  await Promise.all(
    filling.map(async (connection, number) => {
      for (let index = number; index < ordersListed; index += filling.length)
        await connection.ask(service.create("bench", `listed-${index}`));
      connection.close();
    }),
  );
  await rates(service, boundPort, orders);
  if (!onPostgres) {
    await receiveSizes(service);
    await readsBesideCreates(service, orders);
  }
} finally {
  await stopServers();
  rmSync(directory, { recursive: true, force: true });
}
