/**
 * Measures what is left of the service's rate when it has eight times the connections that saturate it: answers in a second as a share of the
 * peak, how soon refusals come, and connections that are reset. Clients keep the contract: they wait as Retry-After says. The service
 * runs as users run it; client and service share the machine.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_BENCH_SECONDS` the seconds per row (default 4), `OPENPO_BENCH_CONNECTIONS` a
 * further number of connections (default 6,000).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { answersOf, load, percentile } from "./raw-load.ts";
import { adminToken, type Service, startService } from "./service.ts";

const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 4);
const most = Number(process.env["OPENPO_BENCH_CONNECTIONS"] ?? 6_000);
const shops = 8;

/** A number of connections saturates the service when twice as many are answered at most this much more. */
const gainMin = 1.05;

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

interface Row {
  readonly perSecond: number;
  readonly text: string;
}

async function measure(service: Service, connections: number, ok: number, next: () => string): Promise<Row> {
  const rampSeconds = Math.max(0.5, connections / 1_000);
  const found = await load({ port: service.port, connections, seconds, rampSeconds, next, obeysRetryAfter: true });
  const p99 = (status: number): string => `${percentile(found.latenciesMs.get(status) ?? [], 0.99).toFixed(0)} ms`;
  const perSecond = answersOf(found, ok) / seconds;
  const others = [...found.statuses.keys()].filter((status) => status !== ok && status !== 503);
  if (others.length > 0) throw new Error(`answers of ${others.join(" ")}`);
  const refused = `${answersOf(found, 503)} refused, p99 ${p99(503)}`;
  return {
    perSecond,
    text: `${perSecond.toFixed(0).padStart(6)}/s  p99 ${p99(ok)}  ${refused}  ${found.resets} resets  ${found.withoutRetryAfter} without Retry-After`,
  };
}

/** Doubles the connections until that adds nothing, then takes eight times as many. */
async function press(service: Service, name: string, ok: number, next: () => string): Promise<void> {
  console.log(`\n${name}`);
  let peak = 0;
  let saturating = 1;
  for (let connections = 4; connections <= 512; connections *= 2) {
    const row = await measure(service, connections, ok, next);
    console.log(`${String(connections).padStart(6)} connections  ${row.text}`);
    if (row.perSecond < peak * gainMin) break;
    peak = row.perSecond;
    saturating = connections;
  }
  for (const connections of [saturating * 8, most]) {
    const row = await measure(service, connections, ok, next);
    const share = (row.perSecond / peak).toFixed(2);
    console.log(`${String(connections).padStart(6)} connections  ${row.text}  ${share} of the peak`);
  }
}

const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-overload-"));
const service = await startService(directory);
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
