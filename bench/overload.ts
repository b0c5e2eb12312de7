/**
 * Measures what is left of the service's rate when it has eight times the connections that saturate it, and more: answers in a second as a
 * share of the peak, how soon refusals come, and connections that are reset. Clients keep the contract: they wait as Retry-After says.
 * On a machine that others use too, compare the answers for a second of the service's processor time; the time in which connections open is in it, and
 * is as long up to 500 of them. The service runs as users run it. Client and service share the machine, so times contain those of the client, whose own event loop is
 * watched too.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_SECONDS` the seconds per row (default 4), `OPENPO_BENCH_CONNECTIONS`
 * further numbers of connections (default `2000 6000`), `OPENPO_BENCH_ONLY` the block whose name contains it. `OPENPO_BENCH_NODES=1` measures
 * a node on a PostgreSQL that the program starts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { freshDatabase, startPostgres } from "../test/support/postgres/postgres.ts";
import { answersOf, load, percentile } from "./raw-load.ts";
import { adminToken, type Service, startService } from "./service.ts";

const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 4);
const crowds = (process.env["OPENPO_BENCH_CONNECTIONS"] ?? "2000 6000").split(" ").map(Number);
const only = process.env["OPENPO_BENCH_ONLY"] ?? "";
const usesDatabase = process.env["OPENPO_BENCH_NODES"] === "1";
const shops = 8;

const counts = [4, 8, 16, 32, 64, 128];

/** A number of connections saturates the service when it gets this share of the most that any number gets. */
const saturatedShare = 0.95;

async function admin(service: Service, method: string, below: string, body: object): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${service.port}/admin/v1/shops/${below}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${below}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Makes the shops, and returns a key of each. */
async function makeShops(service: Service): Promise<readonly string[]> {
  const settings = { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } };
  const keys: string[] = [];
  for (let index = 0; index < shops; index += 1) {
    await admin(service, "PUT", `shop-${index}`, { name: `Shop ${index}`, currencyCode: "EUR", settings });
    const made = await admin(service, "POST", `shop-${index}/keys`, { name: "bench", scope: "write" });
    const key = /"apiKey":"([^"]+)"/.exec(made)?.[1];
    if (key === undefined) throw new Error("no key was made");
    keys.push(key);
  }
  return keys;
}

async function measure(service: Service, connections: number, ok: number, next: () => string): Promise<number> {
  const rampSeconds = Math.max(0.5, connections / 1_000);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = service.processorMs();
  const found = await load({ port: service.port, connections, seconds, rampSeconds, next, obeysRetryAfter: true });
  delay.disable();
  const processorMs = service.processorMs() - before;
  const others = [...found.statuses.keys()].filter((status) => status !== ok && status !== 503);
  if (others.length > 0) throw new Error(`answers of ${others.join(" ")}`);
  const p99 = (status: number): string => `p99 ${percentile(found.latenciesMs.get(status) ?? [], 0.99).toFixed(0)} ms`;
  const perSecond = answersOf(found, ok) / seconds;
  console.log(
    [
      `${String(connections).padStart(6)} connections  ${perSecond.toFixed(0).padStart(6)}/s`,
      `${((answersOf(found, ok) / processorMs) * 1_000).toFixed(0)} for a second of processor`,
      p99(ok),
      `${answersOf(found, 503)} refused, ${p99(503)}`,
      `${found.resets} resets`,
      `${found.withoutRetryAfter} without Retry-After`,
      `client's loop p99 ${(delay.percentile(99) / 1e6).toFixed(0)} ms`,
    ].join("  "),
  );
  return perSecond;
}

/** Measures the counts up to one that saturates the service for certain, then eight times the one that does, and the crowds. */
async function press(service: Service, name: string, ok: number, next: () => string): Promise<void> {
  if (!name.includes(only)) return;
  console.log(`\n${name}`);
  await load({ port: service.port, connections: 32, seconds, next });
  const rows: { readonly connections: number; readonly perSecond: number }[] = [];
  for (const connections of counts)
    rows.push({ connections, perSecond: await measure(service, connections, ok, next) });
  const peak = Math.max(...rows.map(({ perSecond }) => perSecond));
  const saturating = rows.find(({ perSecond }) => perSecond >= peak * saturatedShare)?.connections ?? 1;
  console.log(`${String(saturating).padStart(6)} connections saturate the service`);
  for (const connections of [saturating * 8, ...crowds]) {
    const share = (await measure(service, connections, ok, next)) / peak;
    console.log(`       ${share.toFixed(2)} of the peak`);
  }
}

await using postgres = usesDatabase ? await startPostgres() : null;
const database = postgres === null ? null : await freshDatabase({ empty: true, server: postgres.url });
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-overload-"));
const service = await startService(directory, database === null ? {} : { OPENPO_DATABASE_URL: database.url });
try {
  const keys = await makeShops(service);
  let asked = 0;
  const head = (method: string, more = ""): string => {
    const key = keys[(asked += 1) % keys.length] ?? "";
    return `${method} /api/v1/purchase-orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`;
  };
  const order = JSON.stringify({
    supplierId: "s",
    locationId: "l",
    lineItems: Array.from({ length: 5 }, (_, index) => ({ variantId: `v${index}`, quantityOrdered: 5, unitCost: 4.5 })),
  });
  const body = `Content-Type: application/json\r\nContent-Length: ${order.length}\r\n`;
  await press(service, "lists of orders", 200, () => head("GET"));
  await press(service, "creates of orders with 5 lines", 201, () => head("POST", body) + order);
} finally {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}
