/** Only one process at a time can use a data directory. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { lockDirectory } from "../../../src/store/sqlite/directory-lock.ts";
import { startWriter } from "../writer.ts";

test("a second process does not start on a directory in use, but does after the first is killed", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-lock-"));
  const writer = await startWriter(directory, 0);
  try {
    assert.throws(() => lockDirectory(directory), /Another OpenPO process is using the data directory/);
    await assert.rejects(startWriter(directory, 0), /Another OpenPO process is using the data directory/);
  } finally {
    await writer.kill();
  }
  const lock = lockDirectory(directory);
  assert.throws(() => lockDirectory(directory), /Another OpenPO process/, "nor twice in one process");
  lock.release();
  lockDirectory(directory).release();
  await rm(directory, { recursive: true });
});
