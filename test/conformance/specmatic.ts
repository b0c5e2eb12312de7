/**
 * Runs Specmatic against a live server (Java 17 or later): `npm run test:specmatic`, or with the path of a `specmatic.jar`.
 *
 * It first sends the example of every operation, and the same with an unknown id and an unknown key. Then it sends the variations that
 * Specmatic generates from the schemas: valid ones must be accepted, malformed ones refused. The run fails on any failure, and if an
 * operation was not seen both to succeed and to refuse. The last line counts the operations of both parts: `N passed, N failed`.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { apiPrefix } from "../../src/http/routes.ts";
import type { RestOperation } from "../../src/requests/operation.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { manufacturingOrder, stockTake, transfer, world } from "../support/shops/read-only.ts";
import { ids, ready, view } from "../support/openapi/ready.ts";
import { refusals, specmaticDocument } from "./specmatic-document.ts";
import { startProxy } from "./specmatic-proxy.ts";

/** Most combinations of optional members per body; all combinations would take hours. */
const combinationsMax = 2;
/** Time limit of one run, which takes some minutes. */
const runLimitMs = 15 * 60_000;

/** The jar named as argument, or the one of the package that `npm exec` has put on the path. */
function jarPath(): string {
  const named = process.argv.slice(2);
  const directories = (process.env["PATH"] ?? "").split(path.delimiter);
  const installed = directories.map((directory) => path.join(directory, "../specmatic/specmatic.jar"));
  const found = [...named, ...installed].find((jar) => existsSync(jar));
  if (found === undefined) throw new Error("There is no specmatic.jar: name one, or run this under npm exec.");
  return path.resolve(found);
}
const jar = jarPath();

/** Filters that match two records of each list, so that there is a next page. */
const filters: Readonly<Record<string, JsonObject>> = {
  purchase_order_list: {
    status: ["Draft"],
    supplierId: "mill",
    locationId: "warehouse",
    variantId: "red",
    search: "PO",
  },
  stock_take_list: { status: ["Counted"], locationId: "loc_main", search: "ST" },
  stock_adjustment_list: { search: "SA" },
  transfer_order_list: {
    status: ["Partially Received"],
    search: "TO",
    fromLocationId: "loc_main",
    toLocationId: "loc_shop",
    variantId: "v_mug",
    sku: "MUG-1",
  },
  manufacturing_order_list: {
    status: ["In Progress"],
    executionMode: ["in-house"],
    productionLocationId: ["loc_main"],
    search: "MO",
  },
};

/** Returns the input of an operation's example, changed to existing records. */
function inputOf(operation: RestOperation): JsonObject {
  const [, , input = {}] = ready[operation.name] ?? [];
  const { resolutions: _, variantIds: __, ...example } = exampleOf(operation);
  return JSON.parse(JSON.stringify({ ...example, ...ids, ...input, ...filters[operation.name] }));
}

const document = openApiDocument(restOperations);
const works = new Map(restOperations.map((operation) => [operation.name, inputOf(operation)]));

await using server = await startGoodsServer();
await server.bring([
  ...world,
  { ...stockTake, stockTakeId: "st_2", lineItems: [] },
  {
    ...transfer,
    transferOrderId: "to_2",
    lineItems: transfer.lineItems.map((line) => ({ ...line, transferLineItemId: `${line.transferLineItemId}_2` })),
  },
  { ...manufacturingOrder, manufacturingOrderId: "mo_2" },
  view,
  { ...view, viewId: "view_2" },
]);
await server.bringOrder("Draft", [lineA]);
await server.bring([
  {
    type: "purchaseOrder",
    purchaseOrderId: "po_2",
    supplierId: "mill",
    locationId: "warehouse",
    lineItems: [{ ...lineA, poLineItemId: "a_2" }],
  },
]);
await using proxy = await startProxy(server);

const directory = await mkdtemp(path.join(tmpdir(), "openpo-specmatic-"));
await writeFile(path.join(directory, "openapi.json"), JSON.stringify(specmaticDocument(document, works)));
await mkdir(path.join(directory, "openapi_examples"));
for (const [name, example] of refusals(document, works, "nobody"))
  await writeFile(path.join(directory, "openapi_examples", `${name}.json`), JSON.stringify(example));

/** Runs Specmatic once. Returns its output. */
async function specmatic(resiliency: "none" | "all"): Promise<string> {
  await writeFile(
    path.join(directory, "specmatic.json"),
    JSON.stringify({
      version: 2,
      contracts: [{ provides: ["openapi.json"] }],
      security: { OpenAPI: { securitySchemes: { apiKey: { type: "bearer", token: server.writeKey } } } },
      ...(resiliency === "none"
        ? {}
        : { test: { resiliencyTests: { enable: resiliency }, maxTestRequestCombinations: combinationsMax } }),
    }),
  );
  const child = spawn("java", ["-Xmx1g", "-jar", jar, "test", `--testBaseURL=${proxy.url}`, "--timeout=30"], {
    cwd: directory,
    timeout: runLimitMs,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = (): boolean => child.kill();
  process.once("SIGTERM", stop);
  const parts: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => parts.push(data));
  await new Promise((resolve) => child.once("close", resolve));
  process.off("SIGTERM", stop);
  return Buffer.concat(parts).toString();
}

const ended = /^(?:[+-]ve {2})?Scenario: ([A-Z]+ \S+) -> (\w+) [^]*?has (SUCCEEDED|FAILED)$/gm;
/** Converts `GET /api/v1/stock-takes/(stockTakeId:string)` to the document's form. */
const spelled = (endpoint: string): string => endpoint.replaceAll(/\((\w+):\w+\)/g, "{$1}");

let operationsPassed = 0;
let operationsFailed = 0;
for (const resiliency of ["none", "all"] as const) {
  const startedAtMs = performance.now();
  const text = await specmatic(resiliency);
  const log = path.join(tmpdir(), `specmatic-${resiliency}.log`);
  await writeFile(log, text);
  const seen = new Map<string, { succeeded: number; refused: number; failed: number }>(
    [
      ...restOperations.map(({ route }) => `${route.method} ${apiPrefix}${route.path}`),
      `GET ${apiPrefix}/openapi.json`,
    ].map((endpoint) => [endpoint, { succeeded: 0, refused: 0, failed: 0 }]),
  );
  for (const [, endpoint = "", status = "", outcome] of text.matchAll(ended)) {
    const row = seen.get(spelled(endpoint));
    if (row === undefined) throw new Error(`${endpoint} is not in the registry`);
    row[outcome === "FAILED" ? "failed" : status.startsWith("2") ? "succeeded" : "refused"] += 1;
  }
  console.log(`\n${resiliency === "none" ? "Examples" : "Variations"}: succeeded, refused, FAILED\n`);
  for (const [endpoint, { succeeded, refused, failed }] of seen) {
    // The path of the document itself has no key, id or parameter, so it is never refused.
    const isWhole = succeeded > 0 && failed === 0 && (refused > 0 || endpoint.endsWith("/openapi.json"));
    if (isWhole) operationsPassed += 1;
    else operationsFailed += 1;
    console.log(`${isWhole ? " " : "✖"} ${endpoint.padEnd(72)} ${succeeded} ${refused} ${failed}`);
  }
  const summary = /^Tests run: .*$/m.exec(text)?.[0] ?? "Specmatic did not come to its end";
  if (!summary.includes("Failures: 0,")) operationsFailed += 1;
  console.log(`\n${summary}; ${Math.round((performance.now() - startedAtMs) / 1000)} s; ${log}`);
}
console.log(`Cursors: ${proxy.cursors.asked} asked for, ${proxy.cursors.found} of them of a next page.`);
await rm(directory, { recursive: true });
console.log(`\n${operationsPassed} passed, ${operationsFailed} failed`);
process.exitCode = operationsFailed === 0 ? 0 : 1;
