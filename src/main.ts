#!/usr/bin/env node
/**
 * Where the program begins: checks its Node, then runs the command line.
 *
 * Everything else is imported once the Node is known to be new enough: an older one would stop at the first import, with a
 * message that helps nobody.
 */
import module from "node:module";

// sqlite's authorizer, which keeps the statements of one shop within their transaction, came with 24.10.
const [nodeMajorMin, nodeMinorMin] = [24, 10];
const [nodeMajor = 0, nodeMinor = 0] = process.versions.node.split(".").map(Number);
if (nodeMajor < nodeMajorMin || (nodeMajor === nodeMajorMin && nodeMinor < nodeMinorMin)) {
  console.error(`OpenPO needs Node ${nodeMajorMin}.${nodeMinorMin} or later; this is ${process.version}.`);
  process.exit(1);
}
// Shops are synced to disk side by side in the thread pool, whose size is read at its first use.
process.env["UV_THREADPOOL_SIZE"] ??= "8";
// The next start is twice as fast; where the cache cannot be written, it is only not faster.
module.enableCompileCache();
await import("./cli.ts");
