/**
 * Runs test files: those whose path contains one of the words in the arguments, and whose cost is asked for (support/costs.ts). Without arguments:
 * all that are cheap. The last line of the output is `N passed, N failed`. A test that makes no assertion fails.
 *
 * The imports of a file decide on which engines it can run (support/engines.ts). It runs on SQLite, or on a real PostgreSQL (support/postgres/postgres.ts) if
 * it can run nowhere else. `OPENPO_TEST_ENGINE=postgres` or `sqlite` runs only the files of that engine, on it; with `both` all run on both, and a
 * missing PostgreSQL is a failure. A run without arguments on SQLite also prints which documented statuses of each operation the tests have seen,
 * and fails if one is missing.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { pathToFileURL } from "node:url";
import type { Json } from "../src/base/json.ts";
import { medusaUrlVariable } from "./storefront/medusa/place.ts";
import { claimsVariable, offerFiles } from "./runner/shared-process.ts";
import { faultOfWord, isSelected, selectionOf } from "./support/costs.ts";
import {
  type EngineName,
  placeOf,
  reasonForOwnProcess,
  reasonToComeFirst,
  reasonToRunAlone,
} from "./support/engines.ts";
import { type Hole, matrixOf, observedDirectoryVariable } from "./support/openapi/matrix.ts";
import {
  databaseVariable,
  dropDatabases,
  findPostgres,
  makeTemplate,
  startPostgres,
} from "./support/postgres/postgres.ts";
import { engineVariable } from "./support/store.ts";

/** Documented statuses that no test can see. */
const holes: readonly Hole[] = [
  {
    status: 400,
    operations: /^openapi$/,
    reason: "input that is not HTTP is refused before it has a path; the pipeline's tests check it on a raw socket",
  },
  { status: 500, operations: /^openapi$/, reason: "it sends bytes made at the start, so nothing can fail" },
];

/**
 * Tests wait for syncs, timers and other processes, so one file more than there are processors keeps those busy. A real Medusa that two files
 * use at a time takes longer for a call than the adapter waits.
 */
const filesAtOnce = process.env[medusaUrlVariable] === undefined ? availableParallelism() + 1 : 1;

/** Ends what hangs: the longest file takes two minutes, and five on a machine that does much else. `OPENPO_TEST_FILE_MINUTES` gives a drill with many shops more. A real Medusa takes about a second for a push of stock, and the replay makes 200 of them. */
const fileMsMax = Number(process.env["OPENPO_TEST_FILE_MINUTES"] ?? 10) * 60_000;
const fileMsMaxOnMedusa = 900_000;
const msMax = process.env[medusaUrlVariable] === undefined ? fileMsMax : fileMsMaxOnMedusa;
/** A process that files share ends at the latest after so many times what one file may take. */
const sharingFilesMax = 10;

const selection = selectionOf(process.argv.slice(2));
const isWhole = process.argv.length === 2;
const engineWanted = process.env[engineVariable];
const testFiles = globSync("test/**/*.test.ts", { exclude: ["test/node_modules/**"] }).sort();
const selected = testFiles.filter((file) =>
  isSelected(file, selection, engineWanted === "postgres" || engineWanted === "both"),
);
const placed = selected.map((file) => ({ file, ...placeOf(file, (name) => readFileSync(name, "utf8")) }));
const on = (engine: EngineName): readonly string[] =>
  placed.filter(({ engines }) => engines.includes(engine)).map(({ file }) => file);
const withoutEngine = placed.filter(({ engines }) => engines.length === 0).map(({ file }) => file);
const files = engineWanted === "postgres" ? [] : [...withoutEngine, ...on("sqlite")].sort();
const filesOnPostgres =
  engineWanted === "sqlite" ? [] : on("postgres").filter((file) => engineWanted !== undefined || !files.includes(file));

const observedDirectory = mkdtempSync(path.join(tmpdir(), "openpo-observed-"));
process.env[observedDirectoryVariable] = observedDirectory;
// Every test file and every tested server is a process that loads the same sources, so they share a compile cache.
process.env["NODE_COMPILE_CACHE"] ??= path.join(tmpdir(), "openpo-compile-cache");
process.on("exit", () => rmSync(observedDirectory, { recursive: true, force: true }));
/** Ends the processes of test files. */
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    stopping.abort();
    process.exit(1);
  });

const sharedProcess = path.join(import.meta.dirname, "runner/shared-process.ts");
/** Loaded before each test file, in this order. */
const preloaded = ["runner/promises.ts", "support/asserting.ts"].flatMap((name) => [
  "--import",
  pathToFileURL(path.join(import.meta.dirname, name)).href,
]);

let passed = 0;
let failed = 0;
let skipped = 0;
/** Each test that failed, as `name (file): begin of the error`. They are repeated at the end, where a long run is read. */
const failures: string[] = [];
const failureLettersMax = 300;
/** Each file that ran, with its engine, and how long it took in ms. */
const durations: { readonly name: string; readonly ms: number }[] = [];
const durationsShownMax = 12;

/**
 * Runs these files and adds the label to each test's name. All but those that say otherwise share processes, since loading the program or starting the browser takes longer than
 * most of them. Those that measure times come last, one after another.
 */
async function runFiles(chosen: readonly string[], label: string): Promise<void> {
  const sources = new Map(chosen.map((file) => [file, readFileSync(file, "utf8")]));
  const alone = chosen.filter((file) => reasonToRunAlone(sources.get(file) ?? "") !== null);
  const together = chosen.filter((file) => !alone.includes(file));
  const sharing = together.filter((file) => reasonForOwnProcess(sources.get(file) ?? "") === null);
  const weightOf = (file: string): number => {
    const source = sources.get(file) ?? "";
    return reasonToComeFirst(source) === null ? source.length : Number.MAX_SAFE_INTEGER;
  };
  await runShared(
    sharing.toSorted((one, other) => weightOf(other) - weightOf(one)),
    label,
  );
  const own = together.filter((file) => !sharing.includes(file));
  await runProcesses(own, { concurrency: filesAtOnce, timeout: msMax, label });
  await runProcesses(alone, { concurrency: 1, timeout: msMax, label });
}

/**
 * Runs these files, in this order, in as many processes as run at once. Long ones come first, so that no processor is without work at the end. A file
 * whose process ended before it did is a failure.
 */
async function runShared(files: readonly string[], label: string): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-claims-"));
  try {
    offerFiles(directory, { files, fileMsMax: msMax });
    process.env[claimsVariable] = directory;
    const concurrency = Math.min(filesAtOnce, files.length);
    const ended = await runProcesses(Array<string>(concurrency).fill(sharedProcess), {
      concurrency,
      timeout: sharingFilesMax * msMax,
      label,
    });
    for (const file of files.filter((name) => !ended.has(name))) {
      failed += 1;
      failures.push(`${file}${label} did not run to its end`);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Running {
  readonly concurrency: number;
  /** How long a process may take, in ms. */
  readonly timeout: number;
  readonly label: string;
}

/** Runs each of these files in a process of its own. Returns the names of the suites that ended. */
async function runProcesses(
  chosen: readonly string[],
  { concurrency, timeout, label }: Running,
): Promise<ReadonlySet<string>> {
  const suites = new Set<string>();
  if (chosen.length === 0) return suites;
  const stream = run({
    files: chosen,
    concurrency,
    timeout,
    signal: stopping.signal,
    execArgv: ["--disable-warning=ExperimentalWarning", ...preloaded],
  });
  /** Errors of tests that had ended. */
  let late = 0;
  const isShared = (file: string | undefined): boolean => file === sharedProcess;
  const endSuite = (name: string, file: string | undefined, ms: number): void => {
    suites.add(name);
    if (isShared(file)) durations.push({ name: name + label, ms });
  };
  stream.on("test:pass", (event) => {
    if (event.details.type === "suite") endSuite(event.name, event.file, event.details.duration_ms);
    else if (isShared(event.file)) return;
    else if (event.skip === undefined) passed += 1;
    else skipped += 1;
  });
  stream.on("test:fail", (event) => {
    if (event.details.type === "suite") endSuite(event.name, event.file, event.details.duration_ms);
    // A suite, or the test around shared files, that fails by its tests alone: they are counted.
    if ((event.details.type === "suite" || isShared(event.file)) && isBySubtests(event.details.error)) return;
    // The process of a late error fails with it.
    if (late > 0 && event.name === sharedProcess) return;
    failed += 1;
    const said = messageOf(event.details.error)
      .split("\n")
      .map((line) => line.trim());
    failures.push(
      `${event.name}${label} (${path.relative(process.cwd(), event.file ?? "")}): ${said.join(" ").trim().slice(0, failureLettersMax)}`,
    );
  });
  stream.on("test:diagnostic", ({ message }) => {
    if (!message.includes("asynchronous activity after the test ended")) return;
    late += 1;
    failed += 1;
    failures.push(message.slice(0, failureLettersMax) + label);
  });
  stream.on("test:summary", ({ file, duration_ms: ms }) => {
    if (file !== undefined && !isShared(file)) durations.push({ name: path.relative(process.cwd(), file) + label, ms });
  });
  const named = stream.map((event: { readonly type: string; readonly data: { readonly name?: string } }) =>
    event.data.name === undefined ? event : { ...event, data: { ...event.data, name: event.data.name + label } },
  );
  const shown = named.compose(new spec());
  for await (const text of shown) process.stdout.write(text);
  return suites;
}

/** What was thrown: around it the runner has an error that, for a hook, says nothing of it. */
const messageOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);

const isBySubtests = (error: Error): boolean => "failureType" in error && error.failureType === "subtestsFailed";

async function runOnPostgres(): Promise<void> {
  const given = process.env[databaseVariable];
  if (given === undefined && findPostgres() === null) {
    process.stdout.write(
      `\n✖✖✖ PostgreSQL IS NOT TESTED: there is none on this machine. ${filesOnPostgres.length} files are skipped.\n` +
        "    npm run tools brings one for most platforms; or install PostgreSQL 15 or later, or name a server by\n" +
        `    ${databaseVariable}=postgres://… with a role that may create databases.\n`,
    );
    if (engineWanted === "both") failed += filesOnPostgres.length;
    else skipped += filesOnPostgres.length;
    return;
  }
  // No test ends this server before it has written: those that do start their own.
  const server = given === undefined ? await startPostgres({ settings: { fsync: "off" } }) : null;
  const url = given ?? server?.url ?? "";
  try {
    process.stdout.write(`\nOn PostgreSQL ${server?.version ?? "of your own"}:\n\n`);
    await makeTemplate(url);
    process.env[databaseVariable] = url;
    process.env[engineVariable] = "postgres";
    await runFiles(filesOnPostgres, " [postgres]");
    await dropDatabases(url);
  } finally {
    await server?.stop();
  }
}

for (const { fault } of placed)
  if (fault !== null) {
    process.stdout.write(`✖ ${fault}\n`);
    failed += 1;
  }
if (files.length > 0) await runFiles(files, "");
if (filesOnPostgres.length > 0) await runOnPostgres();
for (const word of selection.words.filter((each) => !selected.some((file) => file.includes(each)))) {
  failed += 1;
  failures.push(faultOfWord(word, testFiles));
}
if (isWhole && (engineWanted === undefined || engineWanted === "both")) failed += showMatrix();
for (const { file, engines, reason } of placed)
  if (reason !== null) process.stdout.write(`\nOnly on ${engines.join()}: ${file}: ${reason}`);
const slowest = durations.sort((one, other) => other.ms - one.ms).slice(0, durationsShownMax);
if (slowest.length > 1)
  process.stdout.write(
    `\nThe slowest files, in s: ${slowest.map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(0)}`).join(", ")}`,
  );
if (failures.length > 0)
  process.stdout.write(`\nThe tests that failed:\n${failures.map((line) => `✖ ${line}`).join("\n")}`);
process.stdout.write(`\n${skipped === 0 ? "" : `${skipped} skipped\n`}${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Prints the statuses that were seen. Returns the number of faults. */
function showMatrix(): number {
  const document: Json = JSON.parse(readFileSync(path.join(import.meta.dirname, "../openapi.json"), "utf8"));
  const { text, faults } = matrixOf(document, observedDirectory, holes);
  process.stdout.write(`\nDocumented statuses that were seen:\n\n${text}\n`);
  for (const fault of faults) process.stdout.write(`✖ ${fault}\n`);
  return faults.length;
}
