#!/usr/bin/env node
/**
 * The entry point of the program: checks the version of Node, then runs the command line.
 *
 * Everything else is imported after the check: an older Node would stop at the first import, with a message that does not help.
 */
import module from "node:module";

// sqlite's authorizer, which keeps statements from ending their transaction, was added in 24.10.
const [nodeMajorMin, nodeMinorMin] = [24, 10];
const [nodeMajor = 0, nodeMinor = 0] = process.versions.node.split(".").map(Number);
if (nodeMajor < nodeMajorMin || (nodeMajor === nodeMajorMin && nodeMinor < nodeMinorMin)) {
  console.error(`OpenPO needs Node ${nodeMajorMin}.${nodeMinorMin} or later; this is ${process.version}.`);
  process.exit(1);
}
// Shops are synced to disk in parallel in the thread pool. Its size is read at its first use.
process.env["UV_THREADPOOL_SIZE"] ??= "8";
// Makes the next start twice as fast. Without a writable cache nothing is lost.
module.enableCompileCache();
await import("./cli.ts");
