#!/usr/bin/env node
/**
 * The entry point of the program: checks the version of Node, then runs the command line. `main.ts` is a link to this
 * file.
 *
 * An older Node must be able to load it, to say what is needed instead of stopping at a file that it does not know. It
 * loads a link as the file that the link leads to, here as plain CommonJS. So this file has no types and no syntax
 * newer than ES2017, and imports the rest of the program only after the check.
 */

// sqlite's authorizer, which keeps statements from ending their transaction, was added in 24.10.
const [majorMin, minorMin] = [24, 10];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < majorMin || (major === majorMin && minor < minorMin)) {
  console.error(
    `OpenPO needs Node ${majorMin}.${minorMin} or later; this is ${process.version}.\n` +
      "In a checkout npm ci brings one: use npm start, or npm exec -- node src/main.ts COMMAND.",
  );
  process.exit(1);
}
// Shops are synced to disk in parallel in the thread pool. Its size is read at its first use.
if (process.env["UV_THREADPOOL_SIZE"] === undefined) process.env["UV_THREADPOOL_SIZE"] = "8";
// Makes the next start twice as fast. Without a writable cache nothing is lost.
const { directory } = process.getBuiltinModule("node:module").enableCompileCache();
// Threads have it by the variable only. With it the first broad read takes 0.6 s of the processor instead of 1.4.
if (directory !== undefined && process.env["NODE_COMPILE_CACHE"] === undefined)
  process.env["NODE_COMPILE_CACHE"] = directory;
void import("./cli/cli.ts");
