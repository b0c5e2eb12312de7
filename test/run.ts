/**
 * Runs the test files (all, or those whose path contains one of the arguments) and ends in a line `N passed, N failed`.
 *
 * A whole run also prints which documented status of which operation was seen, and fails on one that was not.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import type { Json } from "../src/core/json.ts";
import { type Hole, matrixOf, observedDirectoryVariable } from "./support/matrix.ts";

/** Documented, but not seen by any test. */
const holes: readonly Hole[] = [
  {
    status: 400,
    operations: /^openapi$/,
    reason: "what cannot be read as HTTP is refused before it has a path; the pipeline's tests see it on a bare socket",
  },
  { status: 500, operations: /^openapi$/, reason: "it sends bytes made at the start: there is nothing left to break" },
];

const wanted = process.argv.slice(2);
const files = globSync("test/**/*.test.ts")
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
const observedDirectory = mkdtempSync(path.join(tmpdir(), "openpo-observed-"));
process.env[observedDirectoryVariable] = observedDirectory;
// Every test file and every server under test is a process that loads the same sources.
process.env["NODE_COMPILE_CACHE"] ??= path.join(tmpdir(), "openpo-compile-cache");

let passed = 0;
let failed = 0;
let skipped = 0;
const stream = run({ files, concurrency: 2, timeout: 240_000, execArgv: ["--disable-warning=ExperimentalWarning"] });
stream.on("test:pass", (event) => {
  if (event.details.type === "suite") return;
  if (event.skip === undefined) passed += 1;
  else skipped += 1;
});
stream.on("test:fail", (event) => {
  if (event.details.type !== "suite") failed += 1;
});
stream.on("end", () => {
  if (files.length === 0) failed += 1;
  if (wanted.length === 0) failed += showMatrix();
  rmSync(observedDirectory, { recursive: true });
  process.stdout.write(`\n${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}\n`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
});
stream.compose(new spec()).pipe(process.stdout, { end: false });

/** Prints the statuses that were seen; the answer is the number of faults. */
function showMatrix(): number {
  const document: Json = JSON.parse(readFileSync(path.join(import.meta.dirname, "../openapi.json"), "utf8"));
  const { text, faults } = matrixOf(document, observedDirectory, holes);
  process.stdout.write(`\nDocumented statuses that were seen:\n\n${text}\n`);
  for (const fault of faults) process.stdout.write(`✖ ${fault}\n`);
  return faults.length;
}
