/**
 * A process that writes is killed (-9) at any moment: what it acknowledged is there, in whole writes, in the order of acceptance.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { lockDirectory } from "../../src/store/sqlite/engine.ts";
import { inPlace, onPostgres, openStore } from "../support/store.ts";

interface Writer {
  readonly acknowledged: readonly number[];
  kill(): Promise<void>;
}

/** Starts a writer and waits until it writes. */
async function startWriter(directory: string, first: number): Promise<Writer> {
  const child = spawn(process.execPath, ["test/crash/engine-writer.ts", directory, String(first)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  while (!output.startsWith("ready\n")) {
    if (child.exitCode !== null) throw new Error(errors);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return {
    get acknowledged() {
      // A line cut short by the kill is none.
      return output.split("\n").slice(1, -1).map(Number);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

test("killed at any moment, every acknowledged write is there, whole, and none before it is missing", () =>
  inPlace(async (directory) => {
    let kept = 0;
    for (let round = 0; round < 8; round += 1) {
      const writer = await startWriter(directory, kept);
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 300));
      await writer.kill();

      const store = await openStore(directory);
      // In a turn of the shop: what a database still does for the process that is gone is over then.
      const found = await store.engine.write("a", async (tx) => ({
        numbers: (
          await tx.all<{ on_hand: number }>("select on_hand from inventory_level where shop_id = 'a' order by on_hand")
        ).map((row) => row.on_hand),
        locations: (await tx.all<{ n: number }>("select count(*) as n from location where shop_id = 'a'"))[0]?.n,
      }));
      await store.close();

      const context = `round ${round}: ${writer.acknowledged.length} acknowledged, ${found.numbers.length - kept} kept`;
      assert.ok(round > 0 || writer.acknowledged.length > 0, context);
      assert.deepEqual(
        found.numbers,
        found.numbers.map((_, index) => index),
        `${context}: without a gap`,
      );
      assert.equal(found.locations, found.numbers.length, `${context}: no half of a write`);
      assert.ok(
        Math.max(-1, ...writer.acknowledged) < found.numbers.length,
        `${context}: nothing acknowledged is lost`,
      );
      kept = found.numbers.length;
    }
    assert.ok(kept > 100, `only ${kept} writes in all rounds`);
  }));

const onFiles = { skip: onPostgres && "a database is for many processes" };

test("a second process does not start on a directory in use, and starts once the first has been killed", onFiles, () =>
  inPlace(async (directory) => {
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
  }),
);
