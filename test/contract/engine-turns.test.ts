/** A turn of the embedded engine does not hold the event loop for longer than it must: slow writes are not committed together. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";

/** The rounds of the event loop in which five writes that were asked for together have run, when each takes so long. */
async function roundsOf(writeMs: number): Promise<readonly number[]> {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-turns-"));
  const clock = { nowMs: 1_000, now: () => clock.nowMs };
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: path.join(import.meta.dirname, "../../src/shop/schema"),
    shopsOpenMax: 1,
    clock,
  });
  let round = 0;
  let going = true;
  const tick = (): void => {
    round += 1;
    if (going) setImmediate(tick);
  };
  try {
    await engine.create("shop");
    tick();
    const rounds: number[] = [];
    await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        engine.write("shop", async (tx) => {
          rounds.push(round);
          clock.nowMs += writeMs;
          await tx.batch([
            {
              sql: "insert into purchase_order_count (shop_id, kind, value, orders) values (?, ?, ?, ?)",
              params: ["shop", "all", String(index), 1],
            },
          ]);
        }),
      ),
    );
    const rows = await engine.read("shop", (tx) => tx.all<{ value: string }>("select value from purchase_order_count"));
    assert.equal(rows.length, 5, "all of them are kept");
    return rounds;
  } finally {
    going = false;
    await engine.close();
    await rm(directory, { recursive: true });
  }
}

test("quick writes share a turn; slow ones let the event loop go round between them (Q1)", async () => {
  assert.equal(new Set(await roundsOf(0)).size, 1);
  const slow = await roundsOf(50);
  assert.equal(new Set(slow).size, 5, `rounds ${slow.join(" ")}`);
});
