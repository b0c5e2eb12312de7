/**
 * What the SQLite engine remembers of rows for the next reads and writes (D248): never what was rolled back, never past a change, and never
 * ahead of the disk (S4).
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StatementSync } from "node:sqlite";
import { test } from "node:test";
import { recordsRememberedBytesMax } from "../../src/core/limits.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import type { Engine, Remembered, Tx } from "../../src/store/store.ts";
import { systemClock } from "../../src/system.ts";
import { addLocation, faultOf, locationIds } from "./engine-suite.ts";

const asked: Remembered = {
  key: "locations",
  reads: [{ sql: "select location_id from location where shop_id = ? order by location_id", params: ["a"] }],
  bytesOf: () => 1_000,
};

/** An engine with the shop `a`, and reads of its locations that count how often they were loaded. */
async function withShop(
  body: (
    engine: Engine,
    recall: (tx: Tx, more?: Partial<Remembered>) => Promise<readonly string[] | null>,
    loads: () => number,
  ) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "openpo-memory-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: "src/shop/schema",
    shopsOpenMax: 1,
    clock: systemClock,
  });
  let loads = 0;
  const recall = async (tx: Tx, more: Partial<Remembered> = {}): Promise<readonly string[] | null> => {
    assert.ok(tx.memory !== undefined);
    return await tx.memory.recall({ ...asked, ...more }, async () => {
      loads += 1;
      return await locationIds(tx, "a");
    });
  };
  try {
    await engine.create("a");
    await body(engine, recall, () => loads);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
}

const add = (engine: Engine, locationId: string): Promise<void> =>
  engine.write("a", (tx) => tx.batch([addLocation("a", locationId, "x")]));

test("what was loaded is recalled by reads and writes until its rows change, or the file is opened anew", async () => {
  await withShop(async (engine, recall, loads) => {
    await add(engine, "x");
    assert.deepEqual(await engine.read("a", recall), ["x"]);
    assert.deepEqual(await engine.write("a", recall), ["x"]);
    assert.equal(loads(), 1);
    await add(engine, "y");
    assert.deepEqual(await engine.write("a", recall), ["x", "y"]);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    assert.equal(loads(), 2, "what a write has loaded counts for reads");
    for (const shopId of ["b", "c"]) await engine.create(shopId);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    assert.equal(loads(), 3, "the shop's file was closed for another's");
  });
});

test("a write recalls its own state, and what it knows of rows counts for others when it is kept", async () => {
  await withShop(async (engine, recall, loads) => {
    const change = (tx: Tx, locationId: string): Promise<void> => tx.batch([addLocation("a", locationId, "x")]);
    await engine.write("a", async (tx) => {
      assert.deepEqual(await recall(tx), []);
      await change(tx, "x");
      assert.deepEqual(await recall(tx), ["x"], "it has changed the rows itself");
      await change(tx, "y");
      tx.memory?.know(asked, ["x", "y"]);
      assert.deepEqual(await recall(tx), ["x", "y"]);
    });
    assert.equal(loads(), 2);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    assert.equal(loads(), 2);
    // Both in one group: a savepoint is rolled back, and with it what was made there.
    const refused = engine.write("a", async (tx) => {
      await change(tx, "z");
      tx.memory?.know(asked, ["x", "y", "z"]);
      throw new Error("refused");
    });
    const after = engine.write("a", recall);
    await assert.rejects(refused, /refused/);
    assert.deepEqual(await after, ["x", "y"]);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
  });
});

test("a group that cannot be committed leaves nothing that is remembered", async (t) => {
  await withShop(async (engine, recall) => {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with the statement below
    const { run } = StatementSync.prototype;
    const full = Object.assign(new Error("disk full"), { errcode: 13 });
    const mock = t.mock.method(StatementSync.prototype, "run", function (this: StatementSync, ...values: unknown[]) {
      if (this.sourceSQL === "commit") throw full;
      return Reflect.apply(run, this, values);
    });
    const write = engine.write("a", async (tx) => {
      await tx.batch([addLocation("a", "x", "x")]);
      tx.memory?.know(asked, ["x"]);
    });
    await assert.rejects(write, faultOf("DO_UNAVAILABLE"));
    mock.mock.restore();
    assert.deepEqual(await engine.read("a", recall), []);
  });
});

test("a read that recalls what is not on disk yet waits for the disk", async (t) => {
  await withShop(async (engine, recall, loads) => {
    await add(engine, "first");
    const waiting: ((error: NodeJS.ErrnoException | null) => void)[] = [];
    const real = fs.fdatasync;
    t.mock.method(fs, "fdatasync", (_descriptor: number, done: fs.NoParamCallback) => void waiting.push(done));
    syncBuiltinESMExports();
    const write = engine.write("a", async (tx) => {
      await tx.batch([addLocation("a", "x", "x")]);
      tx.memory?.know(asked, ["first", "x"]);
    });
    const rounds = async (): Promise<void> => {
      for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await rounds();
    let told: readonly string[] | null = null;
    const read = engine
      .read("a", async (tx) => {
        // Of these rows nothing waits for the disk.
        await tx.all("select name from supplier where shop_id = ?", ["a"]);
        return await recall(tx);
      })
      .then((value) => (told = value));
    await rounds();
    const toldSooner = told;
    fs.fdatasync = real;
    syncBuiltinESMExports();
    for (const done of waiting.splice(0)) done(null);
    await Promise.all([write, read]);
    assert.equal(toldSooner, null);
    assert.deepEqual([told, loads()], [["first", "x"], 0]);
  });
});

test("records are remembered up to recordsRememberedBytesMax", async () => {
  await withShop(async (engine, recall, loads) => {
    const bytes = 1_000_000;
    const held = Math.floor(recordsRememberedBytesMax / bytes);
    const keys = Array.from({ length: held }, (_, index) => `k${index}`);
    const ask = (key: string): Promise<unknown> => engine.read("a", (tx) => recall(tx, { key, bytesOf: () => bytes }));
    for (const key of keys) await ask(key);
    await ask("k0");
    assert.equal(loads(), held);
    await ask("more");
    await ask("k0");
    assert.equal(loads(), held + 1, "it was asked for later than the others");
    await ask("k1");
    assert.equal(loads(), held + 2);
  });
});
