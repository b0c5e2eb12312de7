/**
 * Measures one, two and three nodes on one PostgreSQL, and compares them with the SQLite engine on one node and with the database alone
 * (32 connections that each insert a row in its own transaction). Nodes, database and the 32 clients are all on this machine.
 *
 * Environment: `OPENPO_BENCH_SECONDS` is the duration of a slice (default 2). Each benchmark has three slices, in turn with the others of
 * its block. The figure is their median.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { ask, type Asked, adminToken, hangUp, makeShop, operate } from "../test/support/clients.ts";
import { serviceNode } from "../test/support/programs/nodes.ts";
import { freshDatabase, startPostgres } from "../test/support/postgres/postgres.ts";
import { type RunningProgram, serveProgram } from "../test/support/process.ts";

const sliceMs = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 2) * 1_000;
const slices = 3;
const clients = 32;
const nodesMax = 3;
const shopIds = Array.from({ length: 16 }, (_, index) => `shop-${index}`);
const linesMax = 500;
const bigOrders = 8;

interface Slice {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** All clients repeat `once` until the slice is over. */
async function slice(once: (client: number, count: number) => Promise<void>): Promise<Slice> {
  const startMs = performance.now();
  const latenciesMs: number[] = [];
  let count = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (performance.now() - startMs < sliceMs) {
        const askedMs = performance.now();
        await once(client, (count += 1));
        latenciesMs.push(performance.now() - askedMs);
      }
    }),
  );
  const elapsedMs = performance.now() - startMs;
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number => latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? 0;
  return { perSecond: (latenciesMs.length * 1_000) / elapsedMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Returns the string at this path of an answer. */
function textAt(value: unknown, ...names: readonly (string | number)[]): string {
  const found = names.reduce<unknown>(
    (object, name) => (typeof object === "object" && object !== null ? Reflect.get(object, name) : undefined),
    value,
  );
  if (typeof found !== "string") throw new Error(`no text at ${names.join(".")}`);
  return found;
}

async function must(url: string, asked: Asked): Promise<unknown> {
  const answer = await ask(url, asked);
  if (answer.status >= 300)
    throw new Error(`${asked.method} ${asked.target}: ${answer.status} ${answer.text.slice(0, 300)}`);
  return JSON.parse(answer.text);
}

let keys = 0;
const orders = "/api/v1/purchase-orders";
const variantIds = Array.from({ length: linesMax }, (_, index) => `v${index}`);
const draft = (lines: number): object => ({
  locationId: "loc",
  lineItems: variantIds
    .slice(0, lines)
    .map((variantId) => ({ variantId, quantityOrdered: 1_000_000, unitCost: 19.99 })),
});

/** The calls of the benchmarks, for one service on any engine. */
interface Service {
  readonly tokens: readonly string[];
  /** Creates an order of five lines in each shop. */
  readonly small: readonly string[];
  readonly big: readonly { readonly id: string; readonly lineIds: readonly string[] }[];
}

async function prepare(url: string): Promise<Service> {
  const records = [
    { type: "location", locationId: "loc", name: "Warehouse" },
    ...variantIds.map((variantId) => ({ type: "variant", variantId, productId: variantId, productName: variantId })),
  ];
  const tokens: string[] = [];
  for (const shopId of shopIds) tokens.push(await makeShop(url, shopId, { autoSyncOnReceiving: false }, records));
  const make = async (token: string, lines: number) => {
    const order = await must(url, { method: "POST", target: orders, token, body: draft(lines) });
    const id = textAt(order, "data", "purchaseOrder", "purchaseOrderId");
    const lineIds = variantIds
      .slice(0, lines)
      .map((_, index) => textAt(order, "data", "purchaseOrder", "lineItems", index, "poLineItemId"));
    const below = `${orders}/${id}`;
    await must(url, { method: "POST", target: `${below}/status`, token, body: { status: "Sent" } });
    await must(url, { method: "POST", target: `${below}/confirm`, token, body: { confirmAll: true } });
    return { id, lineIds };
  };
  const small = [];
  for (const token of tokens) small.push((await make(token, 5)).id);
  const big = [];
  for (const token of tokens.slice(0, bigOrders)) big.push(await make(token, linesMax));
  // Wait until the follow-on work of the preparation is done.
  for (const shopId of shopIds) await operate(url, "GET", `/shops/${shopId}/sandbox`);
  return { tokens, small, big };
}

type Load = (service: Service, client: number, count: number) => Asked;
const keyed = (asked: Asked): Asked => ({ ...asked, idempotencyKey: `bench ${(keys += 1)}` });
const tokenOf = ({ tokens }: Service, index: number): string => tokens[index % tokens.length] ?? "";

const loads: readonly (readonly [name: string, Load])[] = [
  [
    "an order of 5 lines read, 16 shops",
    (service, client) => ({
      method: "GET",
      target: `${orders}/${service.small[client % shopIds.length]}`,
      token: tokenOf(service, client),
    }),
  ],
  [
    "an order of 5 lines read, one shop",
    (service) => ({ method: "GET", target: `${orders}/${service.small[0]}`, token: tokenOf(service, 0) }),
  ],
  [
    "an order of 5 lines created under a key, 16 shops",
    (service, client) => keyed({ method: "POST", target: orders, token: tokenOf(service, client), body: draft(5) }),
  ],
  [
    "an order of 5 lines created under a key, one shop",
    (service) => keyed({ method: "POST", target: orders, token: tokenOf(service, 0), body: draft(5) }),
  ],
  [
    "500 lines received under a key, 8 shops, nothing pushed",
    (service, client, count) => {
      const order = service.big[client % bigOrders];
      const lines = (order?.lineIds ?? []).map((lineItemId) => ({ lineItemId, quantityReceived: count / 1_000 + 1 }));
      const body = { lines, allowOverReceipt: true };
      return keyed({
        method: "POST",
        target: `${orders}/${order?.id}/receive`,
        token: tokenOf(service, client % bigOrders),
        body,
      });
    },
  ],
];

/** Measures slices of all benchmarks in turn, so that a noisy minute affects all of them. Returns each median. */
async function serially(lines: readonly (() => Promise<Slice>)[]): Promise<readonly Slice[]> {
  const taken: Slice[][] = lines.map(() => []);
  for (let round = 0; round < slices; round += 1)
    for (const [index, line] of lines.entries()) taken[index]?.push(await line());
  return taken.map((each) => {
    const sorted = each.toSorted((a, b) => a.perSecond - b.perSecond);
    return sorted[Math.floor(sorted.length / 2)] ?? { perSecond: 0, p50Ms: 0, p99Ms: 0 };
  });
}

function print(name: string, { perSecond, p50Ms, p99Ms }: Slice, base: Slice | undefined): void {
  const ratio = base === undefined ? "" : `${(perSecond / base.perSecond).toFixed(2)} × one node`;
  console.log(
    `  ${name.padEnd(26)}${Math.round(perSecond).toString().padStart(7)}/s  ${ratio.padEnd(16)} p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`,
  );
}

const directory = mkdtempSync(path.join(tmpdir(), "openpo-bench-"));
let embedded: RunningProgram | null = null;
const running: { end(signal: NodeJS.Signals): Promise<unknown> }[] = [];
const bare: Client[] = [];
await using server = await startPostgres();
try {
  const { url } = await freshDatabase({ empty: true, server: server.url });
  const nodes = Array.from({ length: nodesMax }, () => serviceNode(url));
  running.push(...nodes);
  for (const node of nodes) await node.start();
  embedded = await serveProgram({ OPENPO_DATA_DIR: directory, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" });
  running.push(embedded);
  const embeddedUrl = embedded.url;
  const onFiles = await prepare(embeddedUrl);
  const onPostgres = await prepare(nodes[0]?.url ?? "");

  for (let index = 0; index < clients; index += 1) {
    const client = new Client({ connectionString: url, pipeline: true });
    await client.connect();
    bare.push(client);
  }
  await bare[0]?.query("create table bench (id bigint not null primary key, body text not null)");
  const body = "x".repeat(2_000);
  const inserts = await slice(async (client, count) => {
    const connection = bare[client];
    const insert = { name: "insert", text: "insert into bench values ($1, $2)", values: [count, body] };
    await Promise.all([connection?.query("begin"), connection?.query(insert), connection?.query("commit")]);
  });
  console.log(`PostgreSQL ${server.version}; ${clients} clients, slices of ${sliceMs / 1_000} s`);
  print("bare: begin, insert, commit", inserts, undefined);
  for (const [name, load] of loads) {
    const asked = (urls: readonly string[], service: Service) => () =>
      slice(async (client, count) => {
        await must(urls[(client + count) % urls.length] ?? "", load(service, client, count));
      });
    const urls = nodes.map((node) => node.url);
    const [files, ...counts] = await serially([
      asked([embeddedUrl], onFiles),
      ...urls.map((_, index) => asked(urls.slice(0, index + 1), onPostgres)),
    ]);
    console.log(name);
    if (files !== undefined) print("one node, embedded engine", files, counts[0]);
    for (const [index, each] of counts.entries()) print(`${index + 1} on PostgreSQL`, each, counts[0]);
  }
} finally {
  hangUp();
  for (const client of bare) await client.end();
  for (const each of running) await each.end("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
}
