/**
 * What a process finds in a shop's `-wal` file was left by one that was killed, and may not be on disk yet: it is synced before any of it is told (W8).
 *
 * Only on sqlite: a database syncs what it finds by itself.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { openSqliteEngine, type SqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import { inPlace } from "../../support/store.ts";
import { addLocation, locationIds } from "../../contract/engine-suite.ts";

const open = (directory: string): Promise<SqliteEngine> =>
  openSqliteEngine({
    directory,
    schemaDirectory: path.join(import.meta.dirname, "../../../src/shop/schema"),
    shopsOpenMax: 4,
    clock: systemClock,
  });

/** A directory as a process that was killed has left it: the shop `a` has a location that is in its `-wal` file. */
const withFound = (use: (directory: string) => Promise<void>): Promise<void> =>
  inPlace(async (place) => {
    const [before, found] = [path.join(place, "before"), path.join(place, "found")];
    for (const directory of [before, found]) fs.mkdirSync(directory);
    const killed = await open(before);
    await killed.create("a");
    await killed.write("a", (tx) => tx.batch([addLocation("a", "x", "X")]));
    for (const name of ["a.db", "a.db-wal"]) fs.copyFileSync(path.join(before, name), path.join(found, name));
    await killed.close();
    assert.ok(fs.statSync(path.join(found, "a.db-wal")).size > 0);
    await use(found);
  });

/** Notes which of these files and folders are synced. */
function watchSyncs(t: TestContext, names: readonly string[]): readonly string[] {
  const synced: string[] = [];
  const inodes = new Map(names.map((name) => [fs.statSync(name).ino, path.basename(name)]));
  const { fsyncSync } = fs;
  t.mock.method(fs, "fsyncSync", (descriptor: number) => {
    const name = inodes.get(fs.fstatSync(descriptor).ino);
    fsyncSync(descriptor);
    if (name !== undefined) synced.push(name);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return synced;
}

for (const kind of ["read", "peek", "write"] as const)
  test(`what a killed process has committed is synced before a ${kind} tells of it`, (t) =>
    withFound(async (directory) => {
      const synced = watchSyncs(t, [directory, path.join(directory, "a.db-wal")]);
      const engine = await open(directory);
      try {
        const seen = await engine[kind]("a", async (tx) => ({ ids: await locationIds(tx, "a"), synced: [...synced] }));
        assert.deepEqual(seen.ids, ["x"]);
        assert.deepEqual(seen.synced.toSorted(), ["a.db-wal", "found"]);
      } finally {
        await engine.close();
      }
    }));

test("a file that was closed has nothing to be synced when it is opened", (t) =>
  withFound(async (directory) => {
    const first = await open(directory);
    await first.read("a", (tx) => locationIds(tx, "a"));
    await first.close();
    assert.equal(fs.existsSync(path.join(directory, "a.db-wal")), false);
    const synced = watchSyncs(t, [directory, path.join(directory, "a.db")]);
    const engine = await open(directory);
    try {
      const write = engine.write("a", async () => [...synced], { durable: false });
      assert.deepEqual(await write, []);
    } finally {
      await engine.close();
    }
  }));
