/** The mutation score (test/mutation/) on one small file, so that the tool cannot rot. `npm run test:mutation` has all. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

test("each mutant of a small file is played: nearly all are killed, and the others are named", async () => {
  const script = ["--expose-internals", "--disable-warning=ExperimentalWarning", "test/mutation/score.ts"];
  // It fails below the score, and for an entry of the list of equivalent mutants that its source no longer has.
  const { stdout } = await promisify(execFile)(process.execPath, [...script, "core/access/idempotency"]);
  const [score, killed, survived] = /(\d\d\.\d) % \((\d+) killed, (\d+) survived, 0 equivalent\)/
    .exec(stdout)
    ?.slice(1)
    .map(Number) ?? [0, 0, 0];
  assert.ok(score !== undefined && score >= 90 && score < 100, stdout);
  assert.ok(killed !== undefined && killed >= 30, stdout);
  // Signs that a stable sort does not tell apart.
  assert.match(stdout, /^survived src\/core\/access\/idempotency\.ts:\d+: a > b → false$/m);
  assert.equal(stdout.match(/^survived /gm)?.length, survived);
  assert.equal(stdout.trimEnd().split("\n").at(-1), "1 passed, 0 failed");
});
