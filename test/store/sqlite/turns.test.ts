/**
 * A turn of the embedded engine does not hold the event loop for longer than it must: slow writes are not committed together. Copies of a file begin
 * between turns.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { LoopShare } from "../../../src/store/loop-share.ts";
import { openSqliteEngine, type SqliteEngine } from "../../../src/store/sqlite/engine.ts";
import type { Tx } from "../../../src/store/store.ts";
import { systemClock } from "../../../src/base/time/system.ts";

const count = (value: string) => ({
  sql: "insert into order_count (shop_id, kind, value, orders) values (?, ?, ?, ?)",
  params: ["shop", "all", value, 1],
});

/** Calls `use` with an engine that has one shop. */
async function withShop(
  options: { readonly loop?: LoopShare },
  use: (engine: SqliteEngine, directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-turns-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: path.join(import.meta.dirname, "../../../src/shop/schema"),
    shopsOpenMax: 1,
    clock: systemClock,
    ...options,
  });
  try {
    await engine.create("shop");
    await use(engine, directory);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
}

/** The rounds of the event loop in which five writes that were asked for together have run, when each takes so long. */
async function roundsOf(writeMs: number): Promise<readonly number[]> {
  let nowMs = 1_000;
  const loop = new LoopShare({
    now: () => nowMs,
    nextRound: (callback) => void setImmediate(callback),
    after: (ms, callback) => void setTimeout(callback, ms),
  });
  let round = 0;
  let going = true;
  const tick = (): void => {
    round += 1;
    if (going) setImmediate(tick);
  };
  const rounds: number[] = [];
  await withShop({ loop }, async (engine) => {
    tick();
    await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        engine.write("shop", async (tx) => {
          rounds.push(round);
          nowMs += writeMs;
          await tx.batch([count(String(index))]);
        }),
      ),
    );
    going = false;
    const rows = await engine.read("shop", (tx) => tx.all<{ value: string }>("select value from order_count"));
    assert.equal(rows.length, 5, "all of them are kept");
  });
  return rounds;
}

test("quick writes share a turn; slow ones let the event loop go round between them (Q1)", async () => {
  assert.equal(new Set(await roundsOf(0)).size, 1);
  const slow = await roundsOf(50);
  assert.equal(new Set(slow).size, 5, `rounds ${slow.join(" ")}`);
});

/** Long enough for a thread to come to its work. */
function holdLoop(): void {
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
}

test("a copy that is asked for beside changes begins between them, and none is made before it has begun", async () => {
  await withShop({}, async (engine, directory) => {
    const copies: Promise<void>[] = [];
    const copied: string[] = [];
    const copy = (): void => {
      const file = path.join(directory, `copy-${copied.length}`);
      copied.push(file);
      copies.push(engine.snapshot("shop", file));
    };
    const slowChange = (value: string) => async (tx: Tx) => {
      await tx.batch([count(value)]);
      if (value.startsWith("copied")) copy();
      holdLoop();
    };
    for (let index = 0; index < 5; index += 1) {
      await engine.write("shop", slowChange(`copied-${index}`));
      copy();
      await engine.write("shop", slowChange(`after-${index}`));
    }
    await Promise.all(copies);
    const found = copied.map((file) => {
      const database = new DatabaseSync(file, { readOnly: true });
      const row = database.prepare("select count(*) as rows from order_count").get();
      database.close();
      return Number(row?.["rows"]);
    });
    // Two copies were asked for during and after each second change.
    found.forEach((rows, index) =>
      assert.ok(rows >= 2 * Math.floor(index / 2) + 1, `copy ${index} has ${rows} changes`),
    );
  });
});
