/**
 * Reads of shops whose files stay closed, since as many are open as may be (D376): they see, remember and refuse what reads of open files do.
 *
 * Only on sqlite: with a database there are no files to open.
 */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { queryObjects } from "node:v8";
import { readsInPlaceMax } from "../../../src/store/sqlite/reads-in-place.ts";
import { openSqliteEngine, type SqliteEngine } from "../../../src/store/sqlite/engine.ts";
import type { Footprint, Remembered, Tx } from "../../../src/store/store.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import { inPlace } from "../../support/store.ts";
import { pause, until } from "../../support/until.ts";
import { addLocation, faultOf, locationIds } from "../../contract/engine-suite.ts";

const reads = [{ sql: "select location_id from location where shop_id = ? order by location_id", params: ["a"] }];
const asked: Remembered = { key: "locations", reads, bytesOf: () => 1_000 };

const add = (engine: SqliteEngine, locationId: string): Promise<void> =>
  engine.write("a", (tx) => tx.batch([addLocation("a", locationId, "x")]));

const isClosed = (directory: string): boolean => !existsSync(path.join(directory, "a.db-wal"));

let others = 0;

/** Has the engine, which may have one file open, close that of `a`. */
async function close(engine: SqliteEngine, directory: string): Promise<void> {
  const first = others;
  await until("the file is closed", async () => {
    if (others > first && isClosed(directory) && engine.filesOpen === 1) return true;
    // A file that is opened has those closed of which nobody wants anything.
    others += 1;
    await engine.create(`other-${others}`);
    return false;
  });
}

/** An engine with the shop `a`, whose file is closed; its location is `x`. */
const withClosedShop = (body: (engine: SqliteEngine, directory: string) => Promise<void>): Promise<void> =>
  inPlace(async (directory) => {
    const schemaDirectory = path.join(import.meta.dirname, "../../../src/shop/schema");
    const engine = await openSqliteEngine({ directory, schemaDirectory, shopsOpenMax: 1, clock: systemClock });
    await engine.create("a");
    await add(engine, "x");
    // Statements that are new open the file.
    await engine.read("a", (tx) => locationIds(tx, "a"));
    await engine.read("a", (tx) => tx.all(reads[0]?.sql ?? "", ["a"]));
    await close(engine, directory);
    await body(engine, directory);
    await engine.close();
  });

test("a shop is read with its file closed readsInPlaceMax times; the next read opens it", () =>
  withClosedShop(async (engine, directory) => {
    for (let count = 0; count < readsInPlaceMax; count += 1) {
      const read = count % 2 === 0 ? engine.read.bind(engine) : engine.peek.bind(engine);
      assert.deepEqual(await read("a", (tx) => locationIds(tx, "a")), ["x"]);
      assert.equal(isClosed(directory), true);
    }
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x"]);
    assert.equal(isClosed(directory), false);
    await close(engine, directory);
    await engine.read("a", (tx) => locationIds(tx, "a"));
    assert.equal(isClosed(directory), true, "they are counted anew");
  }));

/** Connections that Node has not collected. It collects before it counts. */
const connections = (): number => queryObjects(DatabaseSync, { format: "count" });

test("a connection that was closed is collected", () =>
  withClosedShop(async (engine, directory) => {
    const before = connections();
    for (let count = 0; count < 5; count += 1) {
      await add(engine, String(count));
      await close(engine, directory);
    }
    let left = Infinity;
    await until("all but those in use are collected", () => (left = connections()) <= before + 2);
    assert.ok(left >= 1);
  }));

test("while fewer files are open than may be, a read opens the file", () =>
  withClosedShop(async (engine, directory) => {
    for (const shopId of (await engine.list()).filter((each) => each !== "a")) await engine.remove(shopId);
    await engine.read("a", (tx) => locationIds(tx, "a"));
    assert.equal(isClosed(directory), false);
  }));

test("what was seen in a closed file, and what was made of it, stands until a change of its rows", () =>
  withClosedShop(async (engine, directory) => {
    let loads = 0;
    const recall = (tx: Tx): Promise<readonly string[] | null> => {
      assert.ok(tx.cache !== undefined);
      return tx.cache.recall(asked, () => {
        loads += 1;
        return locationIds(tx, "a");
      });
    };
    const seen: Footprint[] = [];
    for (const work of [(tx: Tx) => locationIds(tx, "a"), recall, recall])
      assert.deepEqual(await engine.read("a", work, (each) => seen.push(each)), ["x"]);
    assert.equal(loads, 1);
    assert.equal(isClosed(directory), true);
    assert.deepEqual(
      seen.map((each) => each.stands()),
      [true, true, true],
    );
    await add(engine, "y");
    assert.deepEqual(
      seen.map((each) => each.stands()),
      [false, false, false],
    );
    await close(engine, directory);
    assert.deepEqual(await engine.read("a", recall), ["x", "y"]);
    assert.equal(loads, 2);
  }));

test("a read whose statements nobody knows tells nothing of what it has seen", () =>
  withClosedShop(async (engine) => {
    const seen: Footprint[] = [];
    const onSeen = (each: Footprint): number => seen.push(each);
    await engine.read("a", (tx) => tx.all("select 7 as seven from location where shop_id = ?", ["a"]), onSeen);
    assert.deepEqual(seen, []);
  }));

test("a change that begins while a closed file is read has the read made anew", () =>
  withClosedShop(async (engine) => {
    let tries = 0;
    const changes: Promise<void>[] = [];
    const seen: Footprint[] = [];
    const found = await engine.read(
      "a",
      async (tx) => {
        tries += 1;
        const before = await locationIds(tx, "a");
        if (changes.length === 0) changes.push(add(engine, "y"));
        return [before, await locationIds(tx, "a")];
      },
      (each) => seen.push(each),
    );
    await Promise.all(changes);
    assert.equal(tries, 2);
    assert.deepEqual(found[0], found[1]);
    assert.equal(seen.length, 1);
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x", "y"]);
  }));

test("what a read makes of a closed file while a change begins is not remembered", () =>
  withClosedShop(async (engine) => {
    const changes: Promise<void>[] = [];
    const load = (tx: Tx) => async (): Promise<readonly string[]> => {
      // The change may run between two statements.
      for (let count = 0; count < 50; count += 1) await locationIds(tx, "a");
      return await locationIds(tx, "a");
    };
    const found = await engine.read("a", async (tx) => {
      await locationIds(tx, "a");
      if (changes.length === 0) changes.push(add(engine, "y"));
      for (let count = 0; count < 50; count += 1) await locationIds(tx, "a").catch(() => []);
      return (await tx.cache?.recall(asked, load(tx)).catch(() => null)) ?? null;
    });
    await Promise.all(changes);
    assert.ok(found !== null);
    assert.deepEqual(await engine.read("a", async (tx) => (await tx.cache?.recall(asked, load(tx))) ?? null), [
      "x",
      "y",
    ]);
  }));

test("a connection is closed with the read for which it was opened", (t) =>
  withClosedShop(async (engine, directory) => {
    const { mock } = t.mock.method(DatabaseSync.prototype, "close");
    await engine.read("a", (tx) => locationIds(tx, "a"));
    assert.equal(isClosed(directory), true);
    assert.equal(mock.callCount(), 1);
    await engine.read("a", () => Promise.resolve());
    assert.equal(mock.callCount(), 1, "a read without a statement opens none");
  }));

test("a read of a closed file changes nothing, awaits nothing else, and throws what its work throws", () =>
  withClosedShop(async (engine, directory) => {
    await assert.rejects(
      engine.read("a", () => Promise.reject(new RangeError("of its own"))),
      /of its own/,
    );
    assert.equal(isClosed(directory), true);
    await assert.rejects(
      engine.read("a", () => pause(50)),
      /shop a awaited something other than its Tx/,
    );
    assert.equal(isClosed(directory), true);
    await assert.rejects(
      engine.read("a", (tx) => tx.batch([addLocation("a", "y", "x")])),
      /may not change anything/,
    );
    await assert.rejects(
      engine.read("a", (tx) => tx.all("delete from location where shop_id = ?", ["a"])),
      /may not change anything/,
    );
    await assert.rejects(
      engine.read("a", (tx) => tx.all("select a from nowhere")),
      /no such table/,
    );
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x"]);
  }));

test("a file beside which a crash has left something is opened, and a shop that is removed is not there", () =>
  withClosedShop(async (engine, directory) => {
    writeFileSync(path.join(directory, "a.db-wal"), "");
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x"]);
    assert.equal(engine.filesOpen >= 1, true);
    await close(engine, directory);
    await engine.remove("a");
    await assert.rejects(
      engine.read("a", (tx) => locationIds(tx, "a")),
      faultOf("NOT_FOUND"),
    );
  }));
