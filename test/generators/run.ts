/**
 * Makes clients of openapi.json with the generators that people use (generators.ts), compiles each, and runs its program against a fresh
 * server: `npm run test:generators`, or with the names of some generators.
 *
 * A program lists orders with two statuses, creates one and gets its exact cost back, sends it, confirms all of it, reads a refusal as the
 * generated type, and reads forecast rows. Each answer gets a member more than the document has, as from a later version. Versions are
 * pinned. What is downloaded is kept outside the tree (`toolsCache`). Where the machine lacks a
 * language, its generators are not run, which is a failure under `CI`. The last line is `N passed, N failed`, by generator.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { columnIds } from "../../src/core/forecast/forecast.ts";
import { customLine, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import { ended, installed, placed, step, toolsCache } from "../support/programs/programs.ts";
import { view } from "../support/openapi/ready.ts";
import { startAddingProxy } from "./adding-proxy.ts";
import { type Generator, generators } from "./generators.ts";

const clients = path.join(import.meta.dirname, "clients");
const wanted = process.argv.slice(2);
const chosen = generators.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

/** What the machine lacks for a generator; null when it has everything. */
async function lackOf({ needs }: Generator): Promise<string | null> {
  for (const { what, version, accepted } of needs) {
    const { output } = await ended(version, toolsCache);
    if (!accepted.test(output)) return what;
  }
  return null;
}

/** Generates, compiles and runs the client of one generator. Returns whether all of it succeeded. */
async function passes(generator: Generator, document: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const folder = path.join(clients, generator.name);
  const kept = await installed(
    generator.install,
    generator.manifests.map((manifest) => path.join(folder, manifest)),
  );
  if (kept === null) return false;
  const directory = await mkdtemp(path.join(toolsCache, "work-"));
  try {
    await cp(folder, directory, { recursive: true });
    await writeFile(path.join(directory, "openapi.json"), document);
    if (existsSync(path.join(kept, "package.json")))
      for (const file of ["package.json", "node_modules"])
        await ended(["ln", "-s", path.join(kept, file), file], directory);
    return (
      (await step("generate", [placed(generator.generate, kept)], directory)) &&
      (await step(
        "compile",
        generator.compile.map((command) => placed(command, kept)),
        directory,
      )) &&
      (await step("run", [placed(generator.run, kept)], directory, environment))
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A server with two orders that a list of two statuses finds, and a forecast view of every column. Null: nothing runs against it. */
async function withServer(work: (environment: NodeJS.ProcessEnv) => Promise<boolean>): Promise<boolean> {
  await using server = await startGoodsServer({ postgres: false });
  const order = { type: "purchaseOrder", supplierId: "mill", locationId: "warehouse" };
  const received = { ...lineB, quantityConfirmed: 5.5, quantityReceived: 1, quantitySynced: 1 };
  await server.bring([
    { ...order, purchaseOrderId: "po_1", status: "Draft", lineItems: [lineA] },
    { ...order, purchaseOrderId: "po_2", status: "Partially Received", lineItems: [received] },
    { ...order, purchaseOrderId: "po_3", status: "Completed", lineItems: [customLine] },
    { ...view, columns: columnIds },
  ]);
  await using proxy = await startAddingProxy(server.url);
  return await work({ OPENPO_URL: proxy.url, OPENPO_API_KEY: server.writeKey });
}

await mkdir(toolsCache, { recursive: true });
const document = `${JSON.stringify(openApiDocument(operations), null, 2)}\n`;
let passed = 0;
let failed = 0;
const notRun: string[] = [];
for (const generator of chosen) {
  console.log(`\n${generator.name}`);
  const lack = await lackOf(generator);
  if (lack !== null) {
    notRun.push(`${generator.name} needs ${lack}`);
    console.log(`✖✖✖ NOT RUN: ${generator.name} needs ${lack}.`);
    if (process.env["CI"] !== undefined) failed += 1;
  } else if (await withServer((environment) => passes(generator, document, environment))) passed += 1;
  else failed += 1;
}
for (const reason of notRun) console.log(`\n✖✖✖ NOT RUN: ${reason}.`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
