/**
 * What the steps of a tracer (C6b) cost while there is none, as at a start without an SDK: the processor time of the steps of a request alone,
 * beside that of the request. The steps are those of the service: the same functions, with the tracer that tells nobody.
 *
 * Two revisions of the service can be compared only by a scatter of some percent, so that one percent would not show.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { noSpans, type Span } from "../src/base/spans.ts";
import { tracedWrite } from "../src/requests/write/traced-write.ts";
import { TracedAttempt } from "../src/jobs/outbox/traced-attempt.ts";
import type { Engine } from "../src/store/store.ts";
import { Connection, requestBytes } from "./bounds/client.ts";
import { report } from "./report.ts";
import { adminToken, startService } from "./service.ts";

const variantIds = Array.from({ length: 10 }, (_, index) => `v${index}`);
const connectionCount = 16;
const rounds = 5;
const stepRuns = 200_000;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Median microseconds of processor time of one run. */
async function microsecondsOf(run: () => void | Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let runs = 0; runs < stepRuns; runs += 1) await run();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / stepRuns);
  }
  return median(times);
}

/** A store without a store: its writes are their work. */
const bare: Pick<Engine, "write"> = {
  write: (_shopId, work) => work({ all: async () => [], batch: async () => {} }),
};
const work = async (): Promise<null> => null;
let last: Span | null = null;

function requestSteps(): void {
  last = noSpans.start("openpo.request", null, { "http.request.method": "GET" });
  if (noSpans.recorded) last.end({});
}

async function writeSteps(): Promise<void> {
  requestSteps();
  await tracedWrite(bare, { spans: noSpans, parent: null }, "bench", work);
  const attempt = new TracedAttempt(noSpans, "bench");
  attempt.begin([]);
  attempt.end(new Map());
}

// With the loop around them and a store that does nothing: more than they cost.
const requestStepsUs = await microsecondsOf(requestSteps);
const writeStepsUs = await microsecondsOf(writeSteps);

const directory = mkdtempSync(path.join(tmpdir(), "openpo-bench-spans-"));
const service = await startService(directory);
const connections = Array.from({ length: connectionCount }, () => new Connection(service.port));

async function asked(
  connection: Connection | undefined,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body: object | string | null = null,
): Promise<string> {
  const answer = await connection?.ask(requestBytes(method, target, headers, body));
  if (answer === undefined || answer.status >= 300)
    throw new Error(`${method} ${target}: ${answer?.status} ${answer?.body}`);
  return answer.body;
}

/** Median microseconds of the service's processor time for one request of many. */
async function requestUs(
  count: number,
  ask: (connection: Connection, turn: number) => Promise<unknown>,
): Promise<number> {
  const times: number[] = [];
  let turn = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = service.processorMs();
    const end = turn + count;
    const askAll = async (connection: Connection): Promise<void> => {
      while (turn < end) await ask(connection, (turn += 1));
    };
    await Promise.all(connections.map(askAll));
    times.push(((service.processorMs() - before) * 1_000) / count);
  }
  return median(times);
}

try {
  const admin = { authorization: `Bearer ${adminToken}` };
  const [first] = connections;
  await asked(first, "PUT", "/admin/v1/shops/bench", admin, {
    name: "Bench",
    settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 } },
  });
  const made = await asked(first, "POST", "/admin/v1/shops/bench/keys", admin, { name: "bench", scope: "write" });
  const key = { authorization: `Bearer ${/opo_bench_\w+/.exec(made)?.[0]}` };
  const records = [
    { type: "location", locationId: "loc", name: "Warehouse" },
    { type: "supplier", supplierId: "sup", name: "Supplier" },
    ...variantIds.map((variantId) => ({ type: "variant", variantId, productId: variantId, productName: variantId })),
  ];
  const ndjson = records.map((record) => JSON.stringify(record)).join("\n");
  await asked(first, "POST", "/admin/v1/shops/bench/import", admin, ndjson);
  const lineItems = variantIds.map((variantId) => ({ variantId, quantityOrdered: 5, unitCost: 1.5 }));
  const body = { locationId: "loc", supplierId: "sup", lineItems };
  const create = (connection: Connection | undefined, turn: number): Promise<string> =>
    asked(connection, "POST", "/api/v1/purchase-orders", { ...key, "idempotency-key": `key-${turn}` }, body);
  const id = /"purchaseOrderId":"(\w+)"/.exec(await create(first, 0))?.[1];
  const get = (connection: Connection): Promise<string> =>
    asked(connection, "GET", `/api/v1/purchase-orders/${id}`, key);
  await requestUs(2_000, get);
  for (const [name, stepsUs, wholeUs] of [
    ["a GET", requestStepsUs, await requestUs(6_000, get)],
    ["a keyed create", writeStepsUs, await requestUs(500, create)],
  ] as const)
    report({
      name: `steps of a tracer without an SDK, of ${name}`,
      value: (stepsUs * 100) / wholeUs,
      figure: `${stepsUs.toFixed(2)} µs`,
      bound: `${Math.round(wholeUs)} µs`,
    });
} finally {
  for (const connection of connections) connection.close();
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}
