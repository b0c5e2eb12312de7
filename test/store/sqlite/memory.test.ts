/**
 * What the SQLite engine remembers of rows for the next reads and writes (D248): never what was rolled back, never past a change, and never
 * ahead of the disk (S4).
 */
import assert from "node:assert/strict";
import fs, { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StatementSync } from "node:sqlite";
import { test } from "node:test";
import { insert, update } from "../../../src/store/change.ts";
import { tables } from "../../../src/shop/tables.ts";
import { recordsRememberedBytesMax } from "../../../src/store/cache.ts";
import {
  openSqliteEngine,
  shopsOpenMax,
  shopsWatchedMax,
  type SqliteEngine,
} from "../../../src/store/sqlite/engine.ts";
import type { Footprint, Remembered, Tx } from "../../../src/store/store.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import { until } from "../../support/until.ts";
import { addLocation, faultOf, locationIds } from "../../contract/engine-suite.ts";

const asked: Remembered = {
  key: "locations",
  reads: [{ sql: "select location_id from location where shop_id = ? order by location_id", params: ["a"] }],
  bytesOf: () => 1_000,
};

/** An engine with the shop `a`, and reads of its locations that count how often they were loaded. */
async function withShop(
  body: (
    engine: SqliteEngine,
    recall: (tx: Tx, more?: Partial<Remembered>) => Promise<readonly string[] | null>,
    loads: () => number,
    directory: string,
  ) => Promise<void>,
  options: { readonly shopsWatchedMax?: number; readonly sliceColumn?: string } = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "openpo-memory-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: "src/shop/schema",
    shopsOpenMax: 1,
    ...options,
    clock: systemClock,
  });
  let loads = 0;
  const recall = async (tx: Tx, more: Partial<Remembered> = {}): Promise<readonly string[] | null> => {
    assert.ok(tx.cache !== undefined);
    return await tx.cache.recall({ ...asked, ...more }, async () => {
      loads += 1;
      return await locationIds(tx, "a");
    });
  };
  try {
    await engine.create("a");
    await body(engine, recall, () => loads, directory);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
}

const add = (engine: SqliteEngine, locationId: string): Promise<void> =>
  engine.write("a", (tx) => tx.batch([addLocation("a", locationId, "x")]));

/** What a read of the shop's locations has seen. */
async function seenIn(engine: SqliteEngine, shopId: string): Promise<Footprint> {
  const seen: Footprint[] = [];
  await engine.read(
    shopId,
    (tx) => locationIds(tx, shopId),
    (each) => seen.push(each),
  );
  assert.ok(seen[0] !== undefined);
  return seen[0];
}

/** Of the event loop. */
async function rounds(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

let others = 0;

/** Has the engine close every file but that of another shop. */
async function closed(engine: SqliteEngine): Promise<void> {
  const first = others;
  await until("one file is open", async () => {
    if (others > first && engine.filesOpen === 1) return true;
    // A file that is opened has those closed of which nobody wants anything.
    others += 1;
    await engine.create(`other-${others}`);
    return false;
  });
}

test("what was loaded is recalled by reads and writes until its rows change, also when the file was closed meanwhile", async () => {
  await withShop(async (engine, recall, loads) => {
    await add(engine, "x");
    assert.deepEqual(await engine.read("a", recall), ["x"]);
    assert.deepEqual(await engine.write("a", recall), ["x"]);
    assert.equal(loads(), 1);
    await add(engine, "y");
    assert.deepEqual(await engine.write("a", recall), ["x", "y"]);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    assert.equal(loads(), 2, "what a write has loaded counts for reads");
    for (const locationId of ["z", "zz"]) {
      await closed(engine);
      const before = loads();
      await engine.read("a", recall);
      assert.equal(loads(), before, "nobody has changed it");
      await closed(engine);
      await add(engine, locationId);
      assert.ok((await engine.read("a", recall))?.includes(locationId));
    }
  });
});

test("what was seen of a shop stands while its file is closed, and falls with the shop", async () => {
  await withShop(async (engine, _recall, _loads, directory) => {
    await add(engine, "x");
    const first = await seenIn(engine, "a");
    await closed(engine);
    assert.equal(existsSync(join(directory, "a.db-wal")), false);
    assert.equal(first.stands(), true);
    await add(engine, "y");
    assert.equal(first.stands(), false, "a change of the file that was opened again");
    const second = await seenIn(engine, "a");
    await closed(engine);
    await engine.remove("a");
    assert.equal(second.stands(), false);
    await engine.create("a");
    const third = await seenIn(engine, "a");
    await engine.remove("a");
    assert.equal(third.stands(), false);
  });
});

test("what was seen of a shop, and made of it, falls when its file is replaced", async () => {
  await withShop(async (engine, recall, _loads, directory) => {
    await add(engine, "x");
    const staged = join(directory, "staged");
    await engine.snapshot("a", staged);
    await add(engine, "y");
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    const seen = await seenIn(engine, "a");
    const files = { staged, keptAs: join(directory, "kept", "a.db"), isGivenUp: false };
    await engine.replace("a", files, () => {
      assert.equal(seen.stands(), false, "nobody is told of it meanwhile");
      return Promise.resolve();
    });
    assert.equal(seen.stands(), false);
    assert.deepEqual(await engine.read("a", recall), ["x"]);
  });
});

test("what was seen of shopsWatchedMax shops stands while they are closed; that of the one opened longest ago falls first", async () => {
  assert.ok(shopsWatchedMax >= shopsOpenMax, "open ones are among them");
  await withShop(
    async (engine) => {
      const seen: Footprint[] = [];
      for (const shopId of ["a", "b", "c", "d", "e"]) {
        await engine.create(shopId);
        await until("the file before is closed", () => engine.filesOpen === 1);
        seen.push(await seenIn(engine, shopId));
        await rounds();
      }
      assert.deepEqual(
        seen.map((each) => each.stands()),
        [false, false, true, true, true],
      );
    },
    { shopsWatchedMax: 3 },
  );
});

test("a write recalls its own state, and what it knows of rows counts for others when it is kept", async () => {
  await withShop(async (engine, recall, loads) => {
    const change = (tx: Tx, locationId: string): Promise<void> => tx.batch([addLocation("a", locationId, "x")]);
    await engine.write("a", async (tx) => {
      assert.deepEqual(await recall(tx), []);
      await change(tx, "x");
      assert.deepEqual(await recall(tx), ["x"], "it has changed the rows itself");
      await change(tx, "y");
      tx.cache?.know(asked, ["x", "y"]);
      assert.deepEqual(await recall(tx), ["x", "y"]);
    });
    assert.equal(loads(), 2);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    assert.equal(loads(), 2);
    // Both in one group: it is rolled back, and with it what was made there.
    const refused = engine.write("a", async (tx) => {
      await change(tx, "z");
      tx.cache?.know(asked, ["x", "y", "z"]);
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
      tx.cache?.know(asked, ["x"]);
    });
    await assert.rejects(write, faultOf("DO_UNAVAILABLE"));
    mock.mock.restore();
    assert.deepEqual(await engine.read("a", recall), []);
  });
});

test("what was seen of a file that has failed, and is opened again, counts no more", async (t) => {
  await withShop(async (engine) => {
    await add(engine, "x");
    const seen = await seenIn(engine, "a");
    // oxlint-disable-next-line typescript/unbound-method -- it is called with the statement below
    const { run } = StatementSync.prototype;
    const broken = Object.assign(new Error("disk I/O error"), { errcode: 10 });
    const mock = t.mock.method(StatementSync.prototype, "run", function (this: StatementSync, ...values: unknown[]) {
      if (this.sourceSQL === "commit") throw broken;
      return Reflect.apply(run, this, values);
    });
    const ofOtherRows = {
      sql: "insert into supplier (shop_id, supplier_id, name, name_folded) values (?, ?, ?, ?)",
      params: ["a", "s", "S", "s"],
    };
    await assert.rejects(
      engine.write("a", (tx) => tx.batch([ofOtherRows])),
      faultOf("DO_UNAVAILABLE"),
    );
    mock.mock.restore();
    assert.equal(seen.stands(), false);
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x"]);
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
      tx.cache?.know(asked, ["first", "x"]);
    });
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

test("of changes of one form, each part whose rows they change falls, and no other", async () => {
  await withShop(
    async (engine) => {
      const orders = ["po_1", "po_2", "po_3", "po_4"];
      const read = "select lines from receipt where shop_id = ? and purchase_order_id = ?";
      await engine.write("a", (tx) =>
        tx.batch(
          orders.flatMap((order) =>
            ["r1", "r2"].map((id) =>
              insert(tables.receipt, "a", {
                purchase_order_id: order,
                receipt_id: id,
                received_at: 1,
                source: "receive",
                lines: "",
              }),
            ),
          ),
        ),
      );
      const seenOf = async (order: string): Promise<Footprint> => {
        const seen: Footprint[] = [];
        await engine.read(
          "a",
          (tx) => tx.all(read, ["a", order]),
          (each) => seen.push(each),
        );
        return seen[0] ?? assert.fail("nothing was seen");
      };
      const seen = await Promise.all(orders.map(seenOf));
      const changes = [
        ["po_1", "r1"],
        ["po_1", "r2"],
        ["po_2", "none"],
        ["po_2", "r1"],
        ["po_3", "none"],
      ];
      await engine.write("a", (tx) =>
        tx.batch(
          changes.map(([order = "", id = ""]) =>
            update(tables.receipt, "a", { purchase_order_id: order, receipt_id: id }, { lines: "changed" }),
          ),
        ),
      );
      assert.deepEqual(
        seen.map((each) => each.stands()),
        [false, false, true, true],
      );
    },
    { sliceColumn: "purchase_order_id" },
  );
});
