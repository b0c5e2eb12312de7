import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const planted = `
import assert from "node:assert/strict";
import { suite, test } from "node:test";
const proven = (value) => assert.ok(value);
test("bare", () => {});
test("of no rows", () => { for (const row of []) assert.ok(row); });
suite("a suite", () => { test("bare in a suite", () => {}); });
test("direct", () => { assert.equal(1, 1); });
test("by a helper", () => proven(true));
test("skipped", { skip: true }, () => {});
`;

test("a test that asserts nothing fails, one that asserts directly or by a helper passes", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-asserting-"));
  const file = path.join(directory, "planted.test.mjs");
  await writeFile(file, planted);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const guard = path.join(import.meta.dirname, "../support/asserting.ts");
  const args = ["--import", guard, "--test-reporter=tap", file];
  const ended = await promisify(execFile)(process.execPath, args, { env }).catch((error: unknown) => error);
  await rm(directory, { recursive: true });
  assert.ok(ended instanceof Error && "stdout" in ended && typeof ended.stdout === "string", String(ended));
  const outcomes = [...ended.stdout.matchAll(/^ *(ok|not ok) \d+ - (.+)$/gm)].map(([, ok, name]) => `${ok}: ${name}`);
  assert.deepEqual(outcomes, [
    "not ok: bare",
    "not ok: of no rows",
    "not ok: bare in a suite",
    "not ok: a suite",
    "ok: direct",
    "ok: by a helper",
    "ok: skipped # SKIP",
  ]);
});
