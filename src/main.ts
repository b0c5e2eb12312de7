#!/usr/bin/env node
/**
 * Where the program begins: checks its Node, then runs the command line.
 *
 * Everything else is imported once the Node is known to be new enough: an older one would stop at the first import, with a
 * message that helps nobody.
 */
const nodeMajorMin = 24;
if (Number(process.versions.node.split(".")[0]) < nodeMajorMin) {
  console.error(`OpenPO needs Node ${nodeMajorMin} or later; this is ${process.version}.`);
  process.exit(1);
}
await import("./cli.ts");
