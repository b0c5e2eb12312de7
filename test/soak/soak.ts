/**
 * Soaks a real process: a mixed load of several shops over HTTP for a long time, with bounds on what the process takes meanwhile.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { linesOnLoopMax } from "../../src/requests/loop-limits.ts";
import { mcpHeaders, toolCall } from "../support/mcp.ts";
import { adminToken, ask, type Answered, hangUp, makeShop, operate } from "../support/clients.ts";
import { serveProgram } from "../support/process.ts";
import { pause, until } from "../support/until.ts";
import { answerOf, catalogueRecords, type Deed, deedOn, newOrder, type OrderSeen, spell } from "../world/deeds.ts";
import { openingOnHand } from "../world/load.ts";
import { type Random, randomOf } from "../world/random.ts";
import type { Watched } from "./watch.ts";
import { listenOnPort, stopListening } from "../support/peers/serving.ts";

const shops = 4;
const clientsPerShop = 3;
/** Between two requests of a client, at most. */
const pauseMsMax = 120;
/** Orders that a client knows and asks about. */
const ordersKnownMax = 200;
const sampleEveryMs = 500;
/**
 * So many requests come before anything is measured: then threads have started, and all kinds of requests have run. They take 120 MB, and on a busy
 * machine longer than a soak of seconds.
 */
const requestsBefore = 150;
const mebibyte = 1_048_576;

/** Is read on a thread. So the threads start before anything is measured, and not only once the shops are large: what they take is no growth. */
const largeOrder = {
  type: "purchaseOrder",
  purchaseOrderId: "large",
  poNumber: "large",
  lineItems: Array.from({ length: 2 * linesOnLoopMax }, (_, index) => ({
    poLineItemId: `line-${index}`,
    variantId: `variant-${index}`,
    quantityOrdered: 1,
  })),
};

/** What the process may take. */
const soakBounds = {
  /** Resident memory at any moment: caches fill up to their bounds, and what threads have read is collected late. */
  memoryMbMax: 768,
  /** By how much the median of resident memory in the last fifth of the time is above that of the second. */
  memoryGrowthMbMax: 100,
  /** Descriptors at any moment, with a connection for each client. */
  descriptorsMax: 150,
  /** What the database files of the shops, of their built-in storefronts and of the journal have grown by, for each change that was acknowledged. */
  bytesPerWriteMax: 32_768,
  /** The largest `-wal` file. */
  walBytesMax: 24 * mebibyte,
  /** At the 99th percentile, by how much work of the event loop made a timer late. */
  loopWorkP99MsMax: 50,
  /** Answers that are none of what the requests allow. */
  wrongAnswersMax: 0,
} as const;

interface Sample {
  readonly memoryMb: number;
  readonly descriptors: number;
  readonly fileBytes: number;
  readonly walBytes: number;
}

interface SoakTold {
  readonly rows: readonly {
    readonly name: string;
    readonly figure: string;
    readonly bound: string;
    readonly isKept: boolean;
  }[];
  readonly requests: ReadonlyMap<string, number>;
  readonly wrong: readonly string[];
}

interface SoakOptions {
  readonly ms: number;
  readonly seed: string;
  /** Leaks that are planted in the process (watch.ts). */
  readonly plants?: readonly string[];
  /** Told now and then how it goes. */
  readonly say?: (line: string) => void;
}

/** Bytes of the database files, and of the largest `-wal` file. */
function bytesBelow(root: string): Pick<Sample, "fileBytes" | "walBytes"> {
  let [fileBytes, walBytes] = [0, 0];
  for (const folder of ["shops", "sandbox", "journal"])
    for (const name of readdirSync(path.join(root, folder))) {
      const bytes = statSync(path.join(root, folder, name), { throwIfNoEntry: false })?.size ?? 0;
      if (name.endsWith("-wal")) walBytes = Math.max(walBytes, bytes);
      else if (!name.endsWith("-shm")) fileBytes += bytes;
    }
  return { fileBytes, walBytes };
}

function sampleOf(pid: number, root: string): Sample {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return {
    memoryMb: Number(kilobytes) / 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    ...bytesBelow(root),
  };
}

interface Load {
  readonly url: string;
  readonly isOver: () => boolean;
  readonly requests: Map<string, number>;
  readonly wrong: string[];
  writes: number;
}

/** One client of a shop. */
class Client {
  readonly #load: Load;
  readonly #token: string;
  readonly #random: Random;
  readonly #orders = new Map<string, OrderSeen>();
  readonly #keys: { readonly deed: Deed; readonly key: string; readonly text: string }[] = [];
  #made = 0;
  readonly #name: string;

  constructor(load: Load, token: string, name: string, random: Random) {
    this.#load = load;
    this.#token = token;
    this.#name = name;
    this.#random = random;
  }

  async run(): Promise<void> {
    while (!this.#load.isOver()) {
      await this.#step();
      await pause(this.#random.next() * pauseMsMax);
    }
  }

  async #send(
    kind: string,
    deed: Pick<ReturnType<typeof spell>, "method" | "path" | "search" | "body">,
    key?: string,
  ): Promise<Answered> {
    const { requests } = this.#load;
    requests.set(kind, (requests.get(kind) ?? 0) + 1);
    const search = deed.search === undefined || deed.search === "" ? "" : `?${deed.search}`;
    return await ask(this.#load.url, {
      method: deed.method,
      target: `/api/v1${deed.path}${search}`,
      token: this.#token,
      ...(key === undefined ? {} : { idempotencyKey: key }),
      ...(deed.body === undefined ? {} : { body: deed.body }),
    });
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const next = random.next();
    const known = [...this.#orders.values()];
    const order = known.length === 0 ? null : random.pick(known);
    if (order === null || next < 0.1) return await this.#write("create", newOrder(this.#random, 6));
    if (next < 0.3)
      return await this.#expect("read", { method: "GET", path: `/purchase-orders/${order.purchaseOrderId}` });
    if (next < 0.4) {
      const status = random.pick(["", "&status=Draft", "&status=Received"]);
      return await this.#expect("list", { method: "GET", path: "/purchase-orders", search: `limit=50${status}` });
    }
    if (next < 0.48)
      return await this.#expect("search", {
        method: "GET",
        path: "/purchase-orders",
        search: `search=${encodeURIComponent(random.pick([order.poNumber, "name", "The Mill"]))}&limit=20`,
      });
    if (next < 0.56) return await this.#agent(order);
    if (next < 0.62) return await this.#replay();
    if (next < 0.68)
      return await this.#write("edit", {
        op: "rename",
        orderId: order.purchaseOrderId,
        name: `name ${random.int(1, 999)}`,
      });
    const share = random.pick([0.25, 0.5, 1]);
    if (next < 0.75)
      return await this.#write("receive", deedOn(order, { op: "receive", line: random.int(0, 3), share, over: false }));
    if (next < 0.79) return await this.#large();
    await this.#write("step", deedOn(order, { op: "forward", share }));
  }

  /** Reads the large order after a change, without which the answer would be known. */
  async #large(): Promise<void> {
    const orderId = largeOrder.purchaseOrderId;
    const name = `name ${this.#random.int(1, 999)}`;
    await this.#expect("edit", spell({ op: "rename", orderId, name }));
    this.#load.writes += 1;
    await this.#expect("large", { method: "GET", path: `/purchase-orders/${orderId}` });
  }

  async #expect(
    kind: string,
    request: Pick<ReturnType<typeof spell>, "method" | "path" | "search" | "body">,
  ): Promise<void> {
    const { status, text } = await this.#send(kind, request);
    if (status !== 200) this.#load.wrong.push(`${kind}: ${status} ${text.slice(0, 200)}`);
  }

  async #write(kind: string, deed: Deed | null): Promise<void> {
    if (deed === null) return;
    const key = `${this.#name}-${(this.#made += 1)}`;
    const { status, text } = await this.#send(kind, spell(deed), key);
    // Another client may have changed the order meanwhile: then a rule of the order refuses the request.
    if (status >= 500 || status === 429) this.#load.wrong.push(`${kind}: ${status} ${text.slice(0, 200)}`);
    if (status >= 300) {
      if ("orderId" in deed) this.#orders.delete(deed.orderId);
      return;
    }
    this.#load.writes += 1;
    this.#keys.push({ deed, key, text });
    if (this.#keys.length > ordersKnownMax) this.#keys.shift();
    const order = answerOf({ status, headers: {}, body: text, errorCode: null }).data?.purchaseOrder;
    if (order === undefined) return;
    this.#orders.delete(order.purchaseOrderId);
    if (order.status !== "Completed") this.#orders.set(order.purchaseOrderId, order);
    const [oldest] = this.#orders.keys();
    if (this.#orders.size > ordersKnownMax && oldest !== undefined) this.#orders.delete(oldest);
  }

  async #replay(): Promise<void> {
    if (this.#keys.length === 0) return;
    const { deed, key, text } = this.#random.pick(this.#keys);
    const again = await this.#send("replay", spell(deed), key);
    if (again.text !== text) this.#load.wrong.push(`replay: ${again.status} ${again.text.slice(0, 200)}`);
  }

  async #agent(order: OrderSeen): Promise<void> {
    const { requests, url, wrong } = this.#load;
    requests.set("agent", (requests.get("agent") ?? 0) + 1);
    const call = this.#random.chance(0.5)
      ? toolCall("purchase_order_get", { purchaseOrderId: order.purchaseOrderId })
      : toolCall("purchase_order_list", { limit: 10 });
    const asked = { method: "POST", target: "/mcp", token: this.#token, headers: mcpHeaders, body: call };
    const { status, text } = await ask(url, asked);
    if (status !== 200 || text.includes('"isError":true')) wrong.push(`agent: ${status} ${text.slice(0, 200)}`);
  }
}

/** A receiver of webhooks that counts them. */
async function receive(): Promise<{ readonly url: string; readonly count: () => number; close(): Promise<void> }> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      count += 1;
      response.writeHead(204).end();
    });
  });
  return {
    url: `http://127.0.0.1:${await listenOnPort(server)}/hook`,
    count: () => count,
    close: () => stopListening(server),
  };
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
const most = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.max(one, other), 0);

/** What was measured, each beside its bound. */
function judged(samples: readonly Sample[], watched: Watched, load: Load, deliveries: number): SoakTold {
  const memory = samples.map(({ memoryMb }) => memoryMb);
  const fifth = Math.max(1, Math.floor(memory.length / 5));
  const growthMb = median(memory.slice(-fifth)) - median(memory.slice(fifth, 2 * fifth));
  const [first, last] = [samples[0]?.fileBytes ?? 0, samples.at(-1)?.fileBytes ?? 0];
  const bytesPerWrite = (last - first) / Math.max(1, load.writes);
  const walBytes = most(samples.map(({ walBytes }) => walBytes));
  const descriptors = most(samples.map(({ descriptors }) => descriptors));
  const row = (name: keyof typeof soakBounds, figure: number, shown: (figure: number) => string) => ({
    name,
    figure: shown(figure),
    bound: shown(soakBounds[name]),
    isKept: figure <= soakBounds[name],
  });
  const fact = (name: string, figure: string) => ({ name, figure, bound: "", isKept: true });
  const megabytes = (figure: number): string => `${figure.toFixed(0)} MB`;
  const milliseconds = (figure: number): string => `${figure.toFixed(1)} ms`;
  const count = (figure: number): string => figure.toFixed(0);
  return {
    rows: [
      row("memoryMbMax", most(memory), megabytes),
      row("memoryGrowthMbMax", growthMb, megabytes),
      row("descriptorsMax", descriptors, count),
      row("bytesPerWriteMax", bytesPerWrite, (figure) => `${figure.toFixed(0)} bytes`),
      row("walBytesMax", walBytes, (figure) => `${(figure / mebibyte).toFixed(1)} MB`),
      row("loopWorkP99MsMax", watched.workP99Ms, milliseconds),
      row("wrongAnswersMax", load.wrong.length, count),
      fact("most work of the event loop at once", milliseconds(watched.workMsMax)),
      fact("timers late at p99, with what the machine did besides", milliseconds(watched.lateP99Ms)),
      fact("timers late at most, with what the machine did besides", milliseconds(watched.lateMsMax)),
      fact("heap at the end", megabytes(watched.heapMb)),
      fact("database files at the end", megabytes(last / mebibyte)),
      fact("changes acknowledged", count(load.writes)),
      fact("webhooks delivered", count(deliveries)),
    ],
    requests: load.requests,
    wrong: load.wrong,
  };
}

/** Soaks a process and tells what it took. */
export async function soak({ ms, seed, plants = [], say = () => {} }: SoakOptions): Promise<SoakTold> {
  const place = mkdtempSync(path.join(tmpdir(), "openpo-soak-"));
  const root = path.join(place, "data");
  const report = path.join(place, "report");
  const receiver = await receive();
  const program = await serveProgram({
    OPENPO_DATA_DIR: root,
    OPENPO_ADMIN_TOKEN: adminToken,
    OPENPO_DEMO: "0",
    OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8",
    OPENPO_WEBHOOK_HTTP: "1",
    OPENPO_SOAK_REPORT: report,
    OPENPO_SOAK_PLANT: plants.join(),
    NODE_OPTIONS: `--max-semi-space-size=8 --import=${pathToFileURL(path.join(import.meta.dirname, "watch.ts")).href}`,
  });
  try {
    const { url, pid } = program;
    const tokens: string[] = [];
    for (let index = 0; index < shops; index += 1) {
      const shopId = `shop-${index}`;
      tokens.push(
        await makeShop(url, shopId, { autoSyncOnReceiving: true }, [...catalogueRecords(openingOnHand), largeOrder]),
      );
      await operate(url, "POST", `/shops/${shopId}/webhook-endpoints`, { url: receiver.url, eventTypes: ["*"] });
    }
    // In all shops at once, so that all threads start.
    const target = `/api/v1/purchase-orders/${largeOrder.purchaseOrderId}`;
    await Promise.all(tokens.map((token) => ask(url, { method: "GET", target, token })));
    let untilMs = Infinity;
    const load: Load = {
      url,
      isOver: () => performance.now() > untilMs,
      requests: new Map(),
      wrong: [],
      writes: 0,
    };
    const random = randomOf(seed);
    const samples: Sample[] = [];
    const sampling = async (): Promise<void> => {
      const sent = (): number => [...load.requests.values()].reduce((one, other) => one + other, 0);
      await until("the program is warm", () => sent() >= requestsBefore);
      program.signal("SIGUSR2");
      load.writes = 0;
      untilMs = performance.now() + ms;
      let saidMs = performance.now();
      while (!load.isOver()) {
        samples.push(sampleOf(pid, root));
        await pause(sampleEveryMs);
        if (performance.now() < saidMs + 60_000) continue;
        saidMs = performance.now();
        const { memoryMb, descriptors, fileBytes, walBytes } = samples.at(-1) ?? sampleOf(pid, root);
        say(
          `${Math.round((untilMs - saidMs) / 60_000)} minutes left: ${memoryMb.toFixed(0)} MB, ${descriptors} descriptors, files ${(fileBytes / mebibyte).toFixed(0)} MB, -wal ${(walBytes / mebibyte).toFixed(1)} MB, ${load.writes} changes, ${load.wrong.length} wrong`,
        );
      }
      samples.push(sampleOf(pid, root));
    };
    await Promise.all([
      sampling(),
      ...tokens.flatMap((token, shop) =>
        Array.from({ length: clientsPerShop }, async (_, index) => {
          const name = `${shop}.${index}`;
          await new Client(load, token, name, random.named(name)).run();
        }),
      ),
    ]);
    const endMs = Date.now();
    await until("a report that tells of the end", () => statSync(report).mtimeMs > endMs);
    const watched: Watched = JSON.parse(readFileSync(report, "utf8"));
    return judged(samples, watched, load, receiver.count());
  } finally {
    await program.end("SIGTERM");
    await receiver.close();
    hangUp();
    rmSync(place, { recursive: true });
  }
}
