/**
 * `npm run soak` in a form of seconds: the mixed load runs, what it measures is within its bounds, and leaks break them.
 *
 * Only on sqlite: it bounds files of the data directory.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak.ts";

const seconds = 5;
/** What a busy machine cannot break. */
const steady = ["memoryMbMax", "memoryGrowthMbMax", "descriptorsMax", "walBytesMax", "wrongAnswersMax"];

test("a soak of seconds sends every kind of request and keeps its bounds", async (t) => {
  if (process.platform !== "linux") return t.skip("NOT TESTED: it reads /proc, which only Linux has");
  const told = await soak({ ms: seconds * 1_000, seed: "short" });
  t.diagnostic(told.rows.map(({ name, figure }) => `${name} ${figure}`).join(", "));
  assert.deepEqual(told.wrong, []);
  const broken = told.rows.filter(({ isKept }) => !isKept).map(({ name }) => name);
  assert.deepEqual(
    broken.filter((name) => steady.includes(name)),
    [],
  );
  assert.deepEqual(
    [...told.requests.keys()].toSorted(),
    ["agent", "create", "edit", "large", "list", "read", "receive", "replay", "search", "step"],
    "the seed's clients send all kinds",
  );
});

test("a process that leaks memory, descriptors and files, and blocks its event loop, breaks each bound of a soak", async (t) => {
  if (process.platform !== "linux") return t.skip("NOT TESTED: it reads /proc, which only Linux has");
  const plants = ["memory", "descriptors", "files", "wal", "loop"];
  const { rows } = await soak({ ms: seconds * 1_000, seed: "short", plants });
  const broken = rows.filter(({ isKept }) => !isKept).map(({ name }) => name);
  assert.deepEqual(
    broken.filter((name) => name !== "wrongAnswersMax"),
    ["memoryMbMax", "memoryGrowthMbMax", "descriptorsMax", "bytesPerWriteMax", "walBytesMax", "loopWorkP99MsMax"],
  );
});
