/**
 * Measures what a directory of many shops costs: making them, starting, memory, reads spread evenly over all of them against reads of one,
 * and keys that are forged. The service runs as users run it; client and service share the machine.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_SHOPS` the number of shops (default 2,000), `OPENPO_BENCH_SECONDS` the
 * seconds per slice (default 3), `OPENPO_BENCH_KEEP` a directory in which the shops are kept for the next run.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiKeyRandomBytes, makeApiKey } from "../src/core/access/api-key.ts";
import { answersOf, load, percentile } from "./raw-load.ts";
import { perSecond, report } from "./report.ts";
import { adminToken, bareNodeMs, type Service, startService } from "./service.ts";

const shops = Number(process.env["OPENPO_BENCH_SHOPS"] ?? 2_000);
const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 3);
const kept = process.env["OPENPO_BENCH_KEEP"] ?? null;
const ordersPerShop = 50;
const linesPerOrder = 10;
const connections = 32;

const shopIdOf = (index: number): string => `shop-${index}`;

/** The records of a shop, one a line. */
function recordsOf(): string {
  const variants = Array.from({ length: 20 }, (_, index) => ({
    type: "variant",
    variantId: `v${index}`,
    productId: `p${index}`,
    productName: `Product ${index}`,
    sku: `S-${index}`,
  }));
  const orders = Array.from({ length: ordersPerShop }, (_, index) => ({
    type: "purchaseOrder",
    purchaseOrderId: `po${index}`,
    poNumber: `${1_001 + index}`,
    poName: `Order ${index}`,
    status: "Sent",
    supplierId: "s",
    locationId: "l",
    createdAt: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
    lineItems: Array.from({ length: linesPerOrder }, (__, line) => ({
      poLineItemId: `l${line}`,
      variantId: `v${(index + line) % 20}`,
      quantityOrdered: 5 + line,
      unitCost: 4.5,
    })),
  }));
  return [
    { type: "location", locationId: "l", name: "Warehouse" },
    { type: "supplier", supplierId: "s", name: "Supplier", currencyCode: "EUR" },
    ...variants,
    ...orders,
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
}

async function admin(port: number, method: string, below: string, body: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/admin/v1/shops/${below}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${below}: ${response.status} ${text.slice(0, 300)}`);
  const answer: unknown = JSON.parse(text);
  return answer;
}

/** Makes the shops, four at a time, and a key of each. */
async function makeShops(port: number): Promise<readonly string[]> {
  const records = recordsOf();
  const keys: string[] = [];
  let made = 0;
  const settings = { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } };
  const maker = async (): Promise<void> => {
    while (made < shops) {
      const index = made;
      made += 1;
      const shopId = shopIdOf(index);
      await admin(port, "PUT", shopId, JSON.stringify({ name: shopId, currencyCode: "EUR", settings }));
      await admin(port, "POST", `${shopId}/import`, records);
      const answer = await admin(port, "POST", `${shopId}/keys`, JSON.stringify({ name: "bench", scope: "read" }));
      const key = /"apiKey":"([^"]+)"/.exec(JSON.stringify(answer))?.[1];
      if (key === undefined) throw new Error("no key was made");
      keys[index] = key;
    }
  };
  await Promise.all(Array.from({ length: 4 }, maker));
  return keys;
}

const get = (key: string, target: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;

const row = (name: string, ...figures: readonly string[]): void =>
  console.log(`${name.padEnd(46)} ${figures.join("  ")}`);

const mb = (value: number): string => `${value.toFixed(0)} MB`;

/** Answers a second. */
async function read(service: Service, next: () => readonly [key: string, order: number]): Promise<number> {
  const found = await load({
    port: service.port,
    connections,
    seconds,
    next: () => {
      const [key, order] = next();
      return get(key, `/api/v1/purchase-orders/po${order}`);
    },
  });
  const statuses = [...found.statuses.keys()];
  if (statuses.length !== 1 || statuses[0] !== 200 || found.resets > 0) throw new Error(`reads: ${statuses.join(" ")}`);
  return answersOf(found, 200) / found.seconds;
}

const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** Reads of one shop and reads spread evenly, in alternating slices. */
async function spread(service: Service, keys: readonly string[]): Promise<void> {
  const one: number[] = [];
  const even: number[] = [];
  const serially = (count: number, sameShop: number): readonly [string, number] => [
    keys[Math.floor(count / sameShop) % keys.length] ?? "",
    Math.floor(sameShop === 1 ? count / keys.length : count) % ordersPerShop,
  ];
  // Every order of every shop once, as it comes in use: what is told later was read before.
  let first = 0;
  const startedMs = performance.now();
  const startedProcessorMs = service.processorMs();
  while (first < keys.length * ordersPerShop) await read(service, () => serially((first += 1), ordersPerShop));
  row(
    "first reads of all orders, shop by shop",
    perSecond((first * 1_000) / (performance.now() - startedMs)),
    `${Math.round(((service.processorMs() - startedProcessorMs) * 1_000) / first)} µs`,
  );
  let next = 0;
  let own = 0;
  for (let slice = 0; slice < 3; slice += 1) {
    one.push(await read(service, () => [keys[0] ?? "", (own += 1) % ordersPerShop]));
    even.push(await read(service, () => serially((next += 1), 1)));
  }
  const [single, all] = [median(one), median(even)];
  const rates = { figure: perSecond(all), bound: perSecond(single) };
  report({ name: "reads spread over 2,000 shops against one", value: all / single, ...rates });
  const { nowMb, peakMb } = service.memory();
  report({ name: "memory after reads of 2,000 shops", value: peakMb, figure: mb(peakMb) });
  row("memory after these reads, at most", mb(nowMb), mb(peakMb), `${service.descriptors()} descriptors`);
}

/** Keys with a right checksum and a wrong secret, of shops that exist and of shops that do not. */
async function forge(service: Service): Promise<void> {
  const forged = (shopId: string): string[] =>
    Array.from(
      { length: Math.min(shops, 600) },
      (_, index) => makeApiKey(`${shopId}-${index}`, randomBytes(apiKeyRandomBytes)).apiKey,
    );
  const rates: number[][] = [];
  for (const keys of [forged("nobody"), forged("shop"), forged("nobody"), forged("shop")]) {
    let next = 0;
    const found = await load({
      port: service.port,
      connections,
      seconds,
      next: () => get(keys[(next += 1) % keys.length] ?? "", "/api/v1/purchase-orders"),
    });
    rates.push([answersOf(found, 401) / found.seconds, percentile(found.latenciesMs.get(401) ?? [], 0.5)]);
  }
  const [unknown, existing] = [rates[2] ?? [], rates[3] ?? []];
  row("forged keys of unknown shops", `${unknown[0]?.toFixed(0).padStart(6)}/s`, `p50 ${unknown[1]?.toFixed(1)} ms`);
  row(
    `forged keys of ${Math.min(shops, 600)} shops`,
    `${existing[0]?.toFixed(0).padStart(6)}/s`,
    `p50 ${existing[1]?.toFixed(1)} ms`,
    `ratio ${((existing[0] ?? 0) / (unknown[0] ?? 1)).toFixed(2)}`,
  );
}

/** Starts on the directory some times; the least time counts, the memory is that of the last one after it has become quiet. */
async function starts(name: string, at: string, nodeMs: number): Promise<void> {
  const startsMs: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const service = await startService(at);
    startsMs.push(service.readyMs);
    if (tries === 2) {
      await sleep(6_000);
      const { nowMb, peakMb } = service.memory();
      report({ name: `idle memory, ${name}`, value: nowMb, figure: mb(nowMb) });
      row(`idle memory, ${name}`, mb(nowMb), `at most ${mb(peakMb)}`, `${service.descriptors()} descriptors`);
    }
    await service.stop();
  }
  const least = Math.min(...startsMs);
  const beyondMs = least - nodeMs;
  const times = { figure: `${least.toFixed(0)} ms`, bound: `${nodeMs.toFixed(0)} ms` };
  report({ name: `start beyond bare node, ${name}`, value: beyondMs, ...times });
}

const directory = kept ?? mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-many-"));
try {
  mkdirSync(directory, { recursive: true });
  const [empty, full, keyFile] = ["empty", "full", "keys.json"].map((name) => path.join(directory, name));
  if (empty === undefined || full === undefined || keyFile === undefined) throw new Error("no directory");
  const nodeMs = await bareNodeMs();
  row("bare node", `${nodeMs.toFixed(0)} ms`);
  await starts("no shops", empty, nodeMs);
  if (!existsSync(keyFile)) {
    const service = await startService(full);
    const startedMs = performance.now();
    writeFileSync(keyFile, JSON.stringify(await makeShops(service.port)));
    const took = (performance.now() - startedMs) / 1_000;
    row(`${shops} shops of ${ordersPerShop} orders made`, `${took.toFixed(0)} s`, `${(shops / took).toFixed(0)}/s`);
    const { peakMb } = service.memory();
    report({ name: "memory while 2,000 shops are made", value: peakMb, figure: mb(peakMb) });
    await service.stop();
  }
  const keys: string[] = JSON.parse(readFileSync(keyFile, "utf8"));
  await starts("2,000 shops", full, nodeMs);
  const service = await startService(full);
  await forge(service);
  await spread(service, keys);
  await service.stop();
} finally {
  if (kept === null) rmSync(directory, { recursive: true, force: true });
}
