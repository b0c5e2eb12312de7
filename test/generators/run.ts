/**
 * Makes clients of openapi.json with the generators that people use (generators.ts), compiles each, and runs its program against a fresh
 * server: `npm run test:generators`, or with the names of some generators.
 *
 * A program lists orders with two statuses, creates one and gets its exact cost back, sends it, confirms all of it, reads a refusal as the
 * generated type, and reads forecast rows. Each answer gets a member more than the document has, as from a later version. Versions are
 * pinned. What is downloaded is kept in `OPENPO_GENERATORS_CACHE`, by default in the temporary directory. Where the machine lacks a
 * language, its generators are not run, which is a failure under `CI`. The last line is `N passed, N failed`, by generator.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openApiDocument } from "../../src/http/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { columnIds } from "../../src/core/forecast.ts";
import { customLine, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import { view } from "../support/ready.ts";
import { startAddingProxy } from "./adding-proxy.ts";
import { type Command, type Generator, generators } from "./generators.ts";

const commandMinutesMax = 8;
const linesShownMax = 60;

const cache = process.env["OPENPO_GENERATORS_CACHE"] ?? path.join(tmpdir(), "openpo-generators");
const clients = path.join(import.meta.dirname, "clients");
const wanted = process.argv.slice(2);
const chosen = generators.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a program. A program that does not exist has the status null. */
function ended([program, ...rest]: Command, directory: string, environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(program, rest, {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: commandMinutesMax * 60_000,
    });
    const parts: Buffer[] = [];
    child.stdout.on("data", (data: Buffer) => parts.push(data));
    child.stderr.on("data", (data: Buffer) => parts.push(data));
    child.once("error", (error) => resolve({ status: null, output: error.message }));
    child.once("close", (status) => resolve({ status, output: Buffer.concat(parts).toString() }));
  });
}

/** What the machine lacks for a generator; null when it has everything. */
async function lackOf({ needs }: Generator): Promise<string | null> {
  for (const { what, version, accepted } of needs) {
    const { output } = await ended(version, cache);
    if (!accepted.test(output)) return what;
  }
  return null;
}

/** Runs the commands of a step, and prints what went wrong. Returns whether all succeeded. */
async function step(
  what: string,
  commands: readonly Command[],
  directory: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  const startedAtMs = performance.now();
  for (const command of commands) {
    const { status, output } = await ended(command, directory, environment);
    if (status === 0) continue;
    const shown = output.trimEnd().split("\n").slice(-linesShownMax).join("\n    ");
    console.log(`✖ ${what}: ${command.join(" ")}\n    ended with status ${String(status)}\n    ${shown}`);
    return false;
  }
  console.log(`  ${what} (${((performance.now() - startedAtMs) / 1000).toFixed(1)} s)`);
  return true;
}

/** The folder in which a generator is installed; null when that failed. It is kept for as long as its versions stay the same. */
async function installed({ name, install, manifests }: Generator): Promise<string | null> {
  const files = manifests.map((manifest) => path.join(clients, name, manifest));
  const hash = createHash("sha256").update(JSON.stringify(install));
  for (const file of files) hash.update(readFileSync(file));
  const kept = path.join(cache, hash.digest("hex").slice(0, 16));
  if (existsSync(path.join(kept, ".complete"))) return kept;
  await rm(kept, { recursive: true, force: true });
  await mkdir(kept, { recursive: true });
  for (const file of files) await cp(file, path.join(kept, path.basename(file)));
  const commands = install.map((command) => placed(command, kept));
  if (!(await step("install", commands, kept))) return null;
  await writeFile(path.join(kept, ".complete"), "");
  return kept;
}

const placed = ([program, ...rest]: Command, kept: string): Command => [
  program.replace("{cache}", kept),
  ...rest.map((argument) => argument.replace("{cache}", kept)),
];

/** Generates, compiles and runs the client of one generator. Returns whether all of it succeeded. */
async function passes(generator: Generator, document: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const kept = await installed(generator);
  if (kept === null) return false;
  const directory = await mkdtemp(path.join(cache, "work-"));
  try {
    await cp(path.join(clients, generator.name), directory, { recursive: true });
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

await mkdir(cache, { recursive: true });
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
