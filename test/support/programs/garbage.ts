/** What a process needs of its memory, told apart from what is only not collected yet. */
import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

/** Collects all that is not needed any more. */
export function collectGarbage(): void {
  assert.ok(typeof collect === "function");
  Reflect.apply(collect, undefined, []);
}

/** What the process holds in memory, without garbage, in bytes. */
export function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
