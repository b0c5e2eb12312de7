/**
 * Webhooks: what an event costs the write that makes it, and how fast events reach their receivers.
 *
 * Keyed creates of a draft, each an event. First without an endpoint, then with five whose receivers never answer (the deliveries are written
 * and stay), then 10,000 to five that answer 204 at once, in a process of their own.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { answersOf, load, percentile } from "./raw-load.ts";
import { adminToken, type Service, startService } from "./service.ts";

const endpointCount = 5;
const eventsWanted = Number(process.env["OPENPO_BENCH_EVENTS"] ?? 10_000);
const comparedSeconds = 5;
const connections = 8;

/** A receiver on each of these ports; GET tells how many deliveries have come. `answers`: else nobody is answered. */
const receiverProgram = `
  let count = 0;
  const { createServer } = require("node:http");
  const answers = process.env.ANSWERS === "1";
  for (const port of process.env.PORTS.split(",")) createServer((request, response) => {
    if (request.method === "GET") return response.end(String(count));
    request.resume();
    request.on("end", () => { count += 1; if (answers) response.writeHead(204).end(); });
  }).listen(Number(port), "127.0.0.1");`;

async function withReceivers(answers: boolean, use: (ports: readonly number[]) => Promise<void>): Promise<void> {
  const ports: number[] = [];
  while (ports.length < endpointCount) ports.push(await freePort());
  const child = spawn(process.execPath, ["-e", receiverProgram], {
    env: { ...process.env, PORTS: ports.join(), ANSWERS: answers ? "1" : "0" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    while ((await countOf(ports)) === null) await sleep(20);
    await use(ports);
  } finally {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }
}

async function countOf([port]: readonly number[]): Promise<number | null> {
  const answered = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
  return answered === null ? null : Number(await answered.text());
}

async function admin(service: Service, method: string, below: string, body?: object): Promise<string> {
  const answered = await fetch(`http://127.0.0.1:${service.port}/admin/v1/shops/bench${below}`, {
    method,
    headers: { Authorization: `Bearer ${adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answered.text();
  if (!answered.ok) throw new Error(`${method} ${below}: ${answered.status} ${text}`);
  return text;
}

async function addEndpoints(service: Service, ports: readonly number[]): Promise<void> {
  for (const port of ports)
    await admin(service, "POST", "/webhook-endpoints", {
      url: `http://127.0.0.1:${port}/`,
      eventTypes: ["purchase_order.*"],
    });
}

let made = 0;

/** Keyed creates for so long. */
async function create(service: Service, key: string, seconds: number) {
  const processorMs = service.processorMs();
  const result = await load({
    port: service.port,
    connections,
    seconds,
    next: () => {
      made += 1;
      const body = JSON.stringify({ note: `order ${made}` });
      return (
        `POST /api/v1/purchase-orders HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n` +
        `Idempotency-Key: key-${made}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      );
    },
  });
  const count = answersOf(result, 201);
  const times = result.latenciesMs.get(201) ?? [];
  const each = ((service.processorMs() - processorMs) * 1_000) / count;
  return { count, perSecond: count / result.seconds, microseconds: each, p99Ms: percentile(times, 0.99) };
}

const show = (name: string, { perSecond, microseconds, p99Ms }: Awaited<ReturnType<typeof create>>): void =>
  console.log(
    `${name.padEnd(44)} ${Math.round(perSecond).toString().padStart(6)} creates/s  ` +
      `${Math.round(microseconds).toString().padStart(5)} µs of processor each  p99 ${p99Ms.toFixed(1)} ms`,
  );

async function withShop(use: (service: Service, key: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-bench-webhooks-"));
  const service = await startService(directory, { OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8", OPENPO_WEBHOOK_HTTP: "1" });
  try {
    const rateLimit = { capacity: 1_000_000, refillPerSecond: 1_000_000 };
    await admin(service, "PUT", "", { name: "Bench", currencyCode: "EUR", settings: { rateLimit } });
    const key = /opo_bench_\w+/.exec(await admin(service, "POST", "/keys", { name: "bench", scope: "write" }))?.[0];
    await use(service, key ?? "");
  } finally {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the deliveries add to the write: in turn without endpoints and with five that never answer, each in a shop of its own. */
async function compare(): Promise<void> {
  await withReceivers(false, (ports) =>
    withShop((without, keyWithout) =>
      withShop(async (five, keyOfFive) => {
        await addEndpoints(five, ports);
        await create(without, keyWithout, 2);
        await create(five, keyOfFive, 2);
        for (let round = 1; round <= 3; round += 1) {
          show("no endpoint", await create(without, keyWithout, comparedSeconds));
          show(`${endpointCount} endpoints that never answer`, await create(five, keyOfFive, comparedSeconds));
        }
      }),
    ),
  );
}

async function fanOut(): Promise<void> {
  await withReceivers(true, (ports) =>
    withShop(async (service, key) => {
      await addEndpoints(service, ports);
      const startMs = performance.now();
      const processorMs = service.processorMs();
      let events = 0;
      while (events < eventsWanted) {
        const result = await create(service, key, 1);
        events += result.count;
      }
      const madeMs = performance.now() - startMs;
      const deliveries = events * endpointCount;
      const before = (await countOf(ports)) ?? 0;
      while (((await countOf(ports)) ?? 0) < deliveries) await sleep(20);
      const doneMs = performance.now() - startMs;
      const each = ((service.processorMs() - processorMs) * 1_000) / deliveries;
      console.log(
        `${events} events to ${endpointCount} endpoints: ${Math.round((events * 1_000) / madeMs)} events/s made, ` +
          `${Math.round((deliveries * 1_000) / doneMs)} deliveries/s over all, ` +
          `${Math.round(((deliveries - before) * 1_000) / (doneMs - madeMs))}/s once nothing more is made, ` +
          `${Math.round(each)} µs of processor a delivery with its share of the create`,
      );
    }),
  );
}

await compare();
await fanOut();
