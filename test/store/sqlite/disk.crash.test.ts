/**
 * Disk failures of one shop (S6): that shop answers 503 and the others work. No acknowledged write is lost, and the shop recovers by
 * itself when the disk does.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import {
  copyFile,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { Fault } from "../../../src/base/fault.ts";
import type { Engine } from "../../../src/store/store.ts";
import { type SqliteEngine, openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import { addLocation, faultOf, locationIds } from "../../contract/engine-suite.ts";

interface Bench {
  readonly engine: Engine;
  readonly shops: string;
  readonly logged: string[];
  /** Opens an engine on the directory; it is closed at the end. */
  readonly open: () => Promise<SqliteEngine>;
}

async function withShops(body: (bench: Bench) => Promise<void>, shops?: string): Promise<void> {
  const directory = shops ?? (await mkdtemp(join(tmpdir(), "openpo-disk-")));
  const logged: string[] = [];
  const opened: Engine[] = [];
  const openEngine = async (): Promise<SqliteEngine> => {
    const engine = await openSqliteEngine({
      directory,
      schemaDirectory: "src/shop/schema",
      shopsOpenMax: 4,
      clock: systemClock,
      log: {
        info: (_, message) => logged.push(message),
        warn: (_, message) => logged.push(message),
        error: (_, message) => logged.push(message),
      },
    });
    opened.push(engine);
    return engine;
  };
  try {
    const engine = await openEngine();
    for (const shopId of ["a", "b"]) {
      await engine.create(shopId);
      await engine.write(shopId, (tx) => tx.batch([addLocation(shopId, "x", "before")]));
    }
    await body({ engine, shops: directory, logged, open: openEngine });
  } finally {
    for (const engine of opened) await engine.close();
    if (shops === undefined) await rm(directory, { recursive: true });
  }
}

/** Checks that shop a is refused with this message, which reveals nothing about the machine, and that shop b works. */
async function onlyAIsUnavailable(engine: Engine, message: RegExp): Promise<void> {
  const attempts = [
    engine.read("a", (tx) => locationIds(tx, "a")),
    engine.peek("a", (tx) => locationIds(tx, "a")),
    engine.write("a", (tx) => locationIds(tx, "a")),
  ];
  for (const outcome of await Promise.allSettled(attempts)) {
    assert.ok(outcome.status === "rejected");
    const error: unknown = outcome.reason;
    faultOf("DO_UNAVAILABLE")(error);
    assert.ok(error instanceof Fault);
    assert.match(error.message, message);
    assert.ok(!`${error.message} ${error.action}`.includes("/"), error.message);
    assert.ok((error.retryAfterMs ?? 0) >= 1_000);
  }
  assert.deepEqual(await engine.read("b", (tx) => locationIds(tx, "b")), ["x"]);
  await engine.write("b", (tx) => tx.all("update location set name = 'served' where shop_id = 'b'"));
}

test("a file that is not a database: 503 for its shop only, until the right file is back", async () => {
  await withShops(async ({ engine, shops, logged, open }) => {
    await engine.close();
    const file = join(shops, "a.db");
    await rename(file, `${file}.good`);
    await writeFile(file, "this is not a database ".repeat(1_000));
    const again = await open();
    assert.deepEqual(await again.list(), ["a", "b"]);
    await onlyAIsUnavailable(again, /damaged/);
    assert.equal(logged.filter((message) => message.includes("damaged")).length, 1, "told once, not once a call");
    await rename(`${file}.good`, file);
    assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x"]);
  });
});

test("a file damaged in the middle: 503 for its shop only, until it has been restored", async () => {
  await withShops(async ({ engine, shops, open }) => {
    await engine.close();
    const path = join(shops, "a.db");
    const { size: schemaBytes } = await stat(path);
    const filling = await open();
    for (let index = 0; index < 50; index += 1)
      await filling.write("a", (tx) => tx.batch([addLocation("a", `y${index}`, "x".repeat(3_000))]));
    await filling.close();
    await copyFile(path, `${path}.good`);
    const { size } = await stat(path);
    const file = await openFile(path, "r+");
    await file.write(Buffer.alloc(size - schemaBytes, 0xee), 0, undefined, schemaBytes);
    await file.close();
    const again = await open();
    await onlyAIsUnavailableForData(again);
    // The file is restored after the program has closed the damaged one.
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
    await rename(`${path}.good`, path);
    assert.equal((await again.read("a", (tx) => locationIds(tx, "a"))).length, 51);
    await again.write("a", (tx) => tx.batch([addLocation("a", "z", "not there yet")]));
  });
});

/** Checks that reads of damaged pages of shop a fail, and that other statements work. */
async function onlyAIsUnavailableForData(engine: Engine): Promise<void> {
  const names = engine.read("a", (tx) => tx.all("select sum(length(name)) from location where shop_id = 'a'"));
  const beside = engine.read("a", async (tx) => {
    for (let step = 0; step < 20; step += 1) await tx.all("select 1");
  });
  await assert.rejects(names, faultOf("DO_UNAVAILABLE"));
  await beside;
  const swallowed = engine.write("a", async (tx) => {
    await tx.batch([addLocation("a", "z", "lost")]);
    try {
      await tx.all("select sum(length(name)) from location where shop_id = 'a'");
    } catch {
      return "all is well";
    }
    return "written";
  });
  await assert.rejects(swallowed, faultOf("DO_UNAVAILABLE"), "even if the work catches the error");
  assert.deepEqual(await engine.read("b", (tx) => locationIds(tx, "b")), ["x"]);
}

test("a directory instead of the file: 503 for its shop only, until the directory is removed", async () => {
  await withShops(async ({ engine, shops, open }) => {
    await engine.close();
    const file = join(shops, "a.db");
    await rename(file, `${file}.good`);
    await mkdir(file);
    const again = await open();
    await onlyAIsUnavailable(again, /cannot be opened/);
    await assert.rejects(again.remove("a"), faultOf("DO_UNAVAILABLE"));
    assert.equal(await again.exists("a"), true, "what could not be removed is still there");
    await rmdir(file);
    await rename(`${file}.good`, file);
    assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x"]);
  });
});

test("a file locked by another program: 503 for its shop only, until it is unlocked", async () => {
  await withShops(async ({ engine, shops, open }) => {
    await engine.close();
    const other = new DatabaseSync(join(shops, "a.db"));
    other.exec("begin immediate");
    const again = await open();
    await onlyAIsUnavailable(again, /Another program/);
    other.close();
    assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x"]);
  });
});

test("a file written by a newer version of the program is not changed", async () => {
  await withShops(async ({ engine, shops, logged, open }) => {
    await engine.close();
    const newer = new DatabaseSync(join(shops, "a.db"));
    newer.exec("pragma user_version = 9999");
    newer.close();
    await onlyAIsUnavailable(await open(), /newer version of OpenPO/);
    assert.ok(logged.some((message) => message.includes("newer version")));
    const after = new DatabaseSync(join(shops, "a.db"), { readOnly: true });
    assert.equal(after.prepare("pragma user_version").get()?.["user_version"], 9999);
    after.close();
  });
});

/** Mounts a small separate disk; null if this process may not mount one. */
function mountSmallDisk(t: TestContext): { readonly path: string; remount(options: string): void } | null {
  const path = join(tmpdir(), `openpo-small-${process.pid}-${Date.now()}`);
  mkdirSync(path);
  const run = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
  if (process.platform !== "linux" || !run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", path)) {
    t.skip("needs the right to mount a small tmpfs");
    return null;
  }
  t.after(async () => {
    run("umount", path);
    await rmdir(path);
  });
  return {
    path,
    remount(options) {
      assert.ok(run("mount", "-o", `remount,${options}`, path), `remount,${options}`);
    },
  };
}

test("a full disk: writes are refused and change nothing, reads work, and writes work again when there is space", async (t) => {
  const disk = mountSmallDisk(t);
  if (disk === null) return;
  await withShops(
    async ({ engine, shops, logged }) => {
      const acknowledged = ["x"];
      const name = "x".repeat(50_000);
      const refusals: unknown[] = [];
      for (let index = 100; index < 200; index += 1) {
        const outcome = await Promise.allSettled([
          engine.write("a", (tx) =>
            tx.batch([addLocation("a", `y${index}`, name), addLocation("a", `z${index}`, name)]),
          ),
        ]);
        if (outcome[0].status === "fulfilled") acknowledged.push(`y${index}`, `z${index}`);
        else refusals.push(outcome[0].reason);
      }
      assert.ok(acknowledged.length > 5 && refusals.length > 5, `${acknowledged.length}, ${refusals.length}`);
      for (const error of refusals) {
        faultOf("DO_UNAVAILABLE")(error);
        assert.match(String(error), /disk that holds this shop's data is full/);
      }
      assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), acknowledged.sort());
      assert.deepEqual(await engine.read("b", (tx) => locationIds(tx, "b")), ["x"]);
      await assert.rejects(engine.create("c"), faultOf("DO_UNAVAILABLE"));
      assert.deepEqual(await engine.list(), ["a", "b"], "a shop that could not be created is not there");
      // Room for the first of its files, and no more.
      disk.remount("size=8900k");
      await assert.rejects(engine.create("c"), faultOf("DO_UNAVAILABLE"));
      assert.deepEqual(
        (await readdir(shops)).filter((name) => name.startsWith("c")),
        [],
        "nor does it leave files",
      );

      disk.remount("size=24m");
      await engine.write("a", (tx) => tx.batch([addLocation("a", "zz", name)]));
      assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), [...acknowledged, "zz"]);
      await engine.create("c");
      // Of a once, of c at each attempt.
      assert.equal(logged.filter((message) => message.includes("full")).length, 1 + 2, logged.join("\n"));
      assert.ok(logged.some((message) => message.includes("can be written again")));
      await engine.close();
      const reopened = new DatabaseSync(join(shops, "a.db"), { readOnly: true });
      assert.deepEqual({ ...reopened.prepare("pragma integrity_check").get() }, { integrity_check: "ok" });
      reopened.close();
    },
    join(disk.path, "shops"),
  );
});

test("a shop whose file is opened on a full disk can be read; when there is space, broad reads and writes work again", async (t) => {
  const disk = mountSmallDisk(t);
  if (disk === null) return;
  await withShops(
    async ({ engine, open }) => {
      await engine.close();
      const filler = join(disk.path, "filler");
      spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4k"]);
      const again = await open();
      assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x"]);
      await assert.rejects(again.lend("a"), faultOf("DO_UNAVAILABLE"));
      assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x"]);
      await assert.rejects(again.ready(), faultOf("DO_UNAVAILABLE"));
      await rm(filler);
      (await again.lend("a")).giveBack();
      await again.write("a", (tx) => tx.batch([addLocation("a", "y", "y")]));
      assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x", "y"]);
    },
    join(disk.path, "shops"),
  );
});

test("a read-only disk: 503 with a clear message, not ready, and writes work again when it is writable", async (t) => {
  const disk = mountSmallDisk(t);
  if (disk === null) return;
  await withShops(
    async ({ engine, open }) => {
      await engine.close();
      disk.remount("ro");
      const again = await open();
      await assert.rejects(again.ready(), faultOf("DO_UNAVAILABLE"));
      await assert.rejects(again.create("c"), faultOf("DO_UNAVAILABLE"));
      await assert.rejects(
        again.write("a", (tx) => tx.batch([addLocation("a", "y", "y")])),
        (error) => faultOf("DO_UNAVAILABLE")(error) && /read-only/.test(String(error)),
      );
      await assert.rejects(
        again.read("a", (tx) => locationIds(tx, "a")),
        faultOf("DO_UNAVAILABLE"),
      );
      disk.remount("rw");
      await again.ready();
      await again.write("a", (tx) => tx.batch([addLocation("a", "y", "y")]));
      assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x", "y"]);
    },
    join(disk.path, "shops"),
  );
});
