/**
 * Measures whole HTTP requests, and compares them with a plain Node HTTP server in its own process that answers a fixed body of the same
 * size. The service runs as users run it, on an empty directory, with 32 connections.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk (default: the system's temporary directory), `OPENPO_BENCH_SECONDS` the seconds per
 * benchmark (default 2).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

const seconds = Number(process.env["OPENPO_BENCH_SECONDS"] ?? 2);
const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-bench-"));
const connections = 32;
const adminToken = "bench-admin-token-0123456789";
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const children: ChildProcess[] = [];

interface Reply {
  readonly status: number;
  readonly text: string;
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly key?: string;
  readonly body?: object | string;
}

function ask(port: number, { method, path: target, token, key, body }: Ask): Promise<Reply> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: "127.0.0.1",
        agent,
        method,
        path: target,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(key === undefined ? {} : { "idempotency-key": key }),
          ...(text === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
        );
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });
}

async function start(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.push(child);
  for (let tries = 0; tries < 200; tries += 1) {
    const ready = await ask(Number(environment["PORT"]), { method: "GET", path: "/readyz" }).catch(() => null);
    if (ready?.status === 200) return;
    await sleep(50);
  }
  throw new Error("a server did not become ready");
}

interface Line {
  readonly name: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs `connections` clients; each sends its next request when it has its answer. Every answer must have the status. */
async function load(name: string, port: number, status: number, next: (index: number) => Ask): Promise<Line> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() - startMs < seconds * 1_000) {
        const askedMs = performance.now();
        const reply = await ask(port, next(count++));
        if (reply.status !== status) throw new Error(`${name}: ${reply.status} ${reply.text.slice(0, 300)}`);
        latenciesMs.push(performance.now() - askedMs);
      }
    }),
  );
  const elapsedMs = performance.now() - startMs;
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number => latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? 0;
  return { name, perSecond: (latenciesMs.length * 1_000) / elapsedMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function print(line: Line, bound: Line | null): Line {
  const ratio = bound === null ? "" : `${(line.perSecond / bound.perSecond).toFixed(2).padStart(6)} × the bound`;
  console.log(
    `${line.name.padEnd(34)} ${Math.round(line.perSecond).toString().padStart(7)}/s ${ratio.padEnd(20)} p50 ${line.p50Ms.toFixed(1)} p99 ${line.p99Ms.toFixed(1)} ms`,
  );
  return line;
}

/** Returns a string member of an answer. Throws if it is missing. */
function member(text: string, ...names: readonly (string | number)[]): string {
  let found: unknown = JSON.parse(text);
  for (const name of names) found = typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined;
  if (typeof found !== "string") throw new Error(`no ${names.join(".")} in ${text.slice(0, 300)}`);
  return found;
}

try {
  const port = await freePort();
  const main = path.join(import.meta.dirname, "../src/main.ts");
  await start([main], {
    PORT: String(port),
    OPENPO_DATA_DIR: directory,
    OPENPO_ADMIN_TOKEN: adminToken,
    OPENPO_DEMO: "0",
    OPENPO_LOG_LEVEL: "warn",
  });
  const admin = (method: string, below: string, body: object | string): Promise<Reply> =>
    ask(port, { method, path: `/admin/v1/shops/bench${below}`, token: adminToken, body });
  await admin("PUT", "", {
    name: "Bench",
    plan: { restApi: true },
    settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } },
  });
  const token = member((await admin("POST", "/keys", { name: "bench", scope: "write" })).text, "data", "apiKey");
  const variants = Array.from({ length: 5 }, (_, index) => `v${index}`);
  await admin(
    "POST",
    "/import",
    [
      { type: "location", locationId: "loc", name: "Warehouse" },
      ...variants.map((variantId) => ({ type: "variant", variantId, productId: variantId, productName: variantId })),
    ]
      .map((record) => JSON.stringify(record))
      .join("\n"),
  );
  const api = (method: string, below: string, body?: object, key?: string): Ask => ({
    method,
    path: `/api/v1${below}`,
    token,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  });
  const draft = {
    locationId: "loc",
    lineItems: variants.map((variantId) => ({ variantId, quantityOrdered: 1_000_000, unitCost: 19.99 })),
  };
  const created = await ask(port, api("POST", "/purchase-orders", draft));
  const id = member(created.text, "data", "purchaseOrder", "purchaseOrderId");
  const lineIds = variants.map((_, index) =>
    member(created.text, "data", "purchaseOrder", "lineItems", index, "poLineItemId"),
  );
  await ask(port, api("POST", `/purchase-orders/${id}/status`, { status: "Sent" }));
  await ask(port, api("POST", `/purchase-orders/${id}/confirm`, { confirmAll: true }));
  const bodyBytes = Buffer.byteLength((await ask(port, api("GET", `/purchase-orders/${id}`))).text);

  const boundPort = await freePort();
  await start(
    [
      "-e",
      `const body = "x".repeat(${bodyBytes});
       require("node:http").createServer((request, response) => {
         request.resume();
         request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(body));
       }).listen(process.env.PORT, "127.0.0.1")`,
    ],
    { PORT: String(boundPort) },
  );

  const bound = print(
    await load(`node, ${bodyBytes} bytes, nothing done`, boundPort, 200, () => ({ method: "GET", path: "/" })),
    null,
  );
  print(await load("GET /healthz", port, 200, () => ({ method: "GET", path: "/healthz" })), bound);
  print(await load("an order of 5 lines", port, 200, () => api("GET", `/purchase-orders/${id}`)), bound);
  print(await load("create an order of 5 lines", port, 201, () => api("POST", "/purchase-orders", draft)), bound);
  print(
    await load("the same with an Idempotency-Key", port, 201, (index) =>
      api("POST", "/purchase-orders", draft, `create-${index}`),
    ),
    bound,
  );
  print(await load("its replay", port, 201, () => api("POST", "/purchase-orders", draft, "create-0")), bound);
  print(await load("a page of 50 orders", port, 200, () => api("GET", "/purchase-orders?limit=50")), bound);
  print(
    await load("edit a header", port, 200, (index) =>
      api("PATCH", `/purchase-orders/${id}`, { supplierReference: `reference ${index}` }),
    ),
    bound,
  );
  print(
    await load("receive on 5 lines, pushed", port, 200, (index) =>
      api("POST", `/purchase-orders/${id}/receive`, {
        lines: lineIds.map((lineItemId) => ({ lineItemId, quantityReceived: (index + 1) / 10 })),
        allowOverReceipt: true,
      }),
    ),
    bound,
  );
} finally {
  agent.destroy();
  for (const child of children) {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
  rmSync(directory, { recursive: true, force: true });
}
