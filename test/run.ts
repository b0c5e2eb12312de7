/**
 * Runs the test files (all, or those whose path contains one of the arguments) and ends in a line `N passed, N failed`.
 */
import { globSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const wanted = process.argv.slice(2);
const files = globSync("test/**/*.test.ts")
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();

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
  process.stdout.write(`\n${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}\n`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
});
stream.compose(new spec()).pipe(process.stdout, { end: false });
