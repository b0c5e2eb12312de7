/** When the SQLite engine releases answers (S4, W1–W4 in store/sqlite/file.ts): the tests delay the system's `fdatasync` and make it fail. */
import assert from "node:assert/strict";
import fs from "node:fs";
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { MessageChannel } from "node:worker_threads";
import {
  giveWayMsMax,
  groupHoldAloneMsMax,
  groupHoldBesideReadsMsMax,
  groupHoldMsMax,
} from "../../../src/store/sqlite/door.ts";
import { besideMs, loopFreeMs, LoopShare } from "../../../src/store/loop-share.ts";
import type { Engine, Footprint } from "../../../src/store/store.ts";
import { filesClosingMax, openSqliteEngine, type SqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import { addLocation, faultOf, locationIds } from "../../contract/engine-suite.ts";
import { pause, until } from "../../support/until.ts";

/** Syncs that were requested and not completed yet; the test decides when they complete. */
interface HeldDisk {
  readonly waiting: ((error: NodeJS.ErrnoException | null) => void)[];
  release(): void;
}

/** The disk that a test holds: its engine ends only when the disk is released, also when the test has failed. */
let held: HeldDisk | null = null;

function holdSyncs(t: TestContext): HeldDisk {
  const { mock } = t.mock.method(
    fs,
    "fdatasync",
    (_descriptor: number, done: fs.NoParamCallback) => void waiting.push(done),
  );
  const waiting: HeldDisk["waiting"] = [];
  syncBuiltinESMExports();
  held = {
    waiting,
    /** Completes the waiting syncs and passes later ones on to the disk. */
    release() {
      mock.restore();
      syncBuiltinESMExports();
      for (const done of waiting.splice(0)) done(null);
    },
  };
  return held;
}

/** Returns the names of the promises that have settled after a few turns of the event loop. */
async function settledNow(promises: Readonly<Record<string, Promise<unknown>>>): Promise<string[]> {
  const settled: string[] = [];
  for (const [name, promise] of Object.entries(promises))
    void promise.then(
      () => settled.push(name),
      () => settled.push(name),
    );
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
  return settled.sort();
}

async function withEngine(
  body: (engine: SqliteEngine, directory: string) => Promise<void>,
  onFatal: (error: unknown) => void = (error) => assert.fail(String(error)),
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "openpo-gate-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: "src/shop/schema",
    shopsOpenMax: 4,
    clock: systemClock,
    onFatal,
  });
  try {
    await engine.create("a");
    await engine.create("b");
    await body(engine, directory);
  } finally {
    held?.release();
    held = null;
    await engine.close();
    await rm(directory, { recursive: true });
  }
}

const add = (engine: Engine, locationId: string, durable = true): Promise<void> =>
  engine.write("a", (tx) => tx.batch([addLocation("a", locationId, "x")]), { durable });

test("an answer waits until the changes it shows are on disk, and other shops do not wait for it", async (t) => {
  await withEngine(async (engine) => {
    const disk = holdSyncs(t);
    const write = add(engine, "x");
    assert.deepEqual(await settledNow({ write }), []);
    assert.equal(disk.waiting.length, 1);
    const promises = {
      write,
      read: engine.read("a", (tx) => locationIds(tx, "a")),
      readRefusal: engine.read("a", () => Promise.reject(new Error("tells of x"))),
      writeRefusal: engine.write("a", () => Promise.reject(new Error("tells of x"))),
      peek: engine.peek("a", (tx) => locationIds(tx, "a")),
      readOfAnotherShop: engine.read("b", (tx) => locationIds(tx, "b")),
    };
    assert.deepEqual(await settledNow(promises), ["peek", "readOfAnotherShop"]);
    assert.deepEqual(await promises.peek, ["x"], "a peek sees what is not synced yet");
    disk.release();
    assert.deepEqual(await settledNow(promises), Object.keys(promises).sort());
    assert.deepEqual(await promises.read, ["x"]);
    await assert.rejects(promises.writeRefusal, /tells of x/);
  });
});

test("what was read stands until a statement changes rows, also one that returns what it has changed", async () => {
  await withEngine(async (engine) => {
    await add(engine, "x");
    const seen: Footprint[] = [];
    await engine.read(
      "a",
      (tx) => locationIds(tx, "a"),
      (each) => seen.push(each),
    );
    const remove = (locationId: string): Promise<unknown> =>
      engine.write("a", (tx) =>
        tx.all("delete from location where shop_id = ? and location_id = ? returning location_id", ["a", locationId]),
      );
    const stands = (): boolean => seen.every((each) => each.stands());
    assert.deepEqual(await remove("nowhere"), []);
    assert.equal(stands(), true);
    await remove("x");
    assert.equal(stands(), false);
  });
});

test("who has borrowed the file for another connection learns when all that was committed by then is on disk", async (t) => {
  await withEngine(async (engine) => {
    const disk = holdSyncs(t);
    const write = add(engine, "x");
    await settledNow({ write });
    const loan = await engine.lend("a");
    const durable = loan.untilDurable();
    assert.deepEqual(await settledNow({ durable }), []);
    disk.release();
    await durable;
    loan.giveBack();
    await write;
  });
});

test("what another connection has read stands while nothing of it is changed, and nothing that began before a commit may stand (W6)", async () => {
  await withEngine(async (engine) => {
    await add(engine, "x");
    const loan = await engine.lend("a");
    // Else a failure would wait for the loan.
    loan.rest(() => loan.giveBack());
    const locations = [{ sql: "select name from location where shop_id = ?", params: [["a"]] }];
    const suppliers = [{ sql: "select name from supplier where shop_id = ?", params: [["a"], ["a"]] }];
    const standing = loan.observe()(locations);
    assert.equal(standing?.stands(), true);
    assert.equal(loan.observe()(suppliers)?.stands(), true);

    const before = loan.observe();
    await add(engine, "y");
    assert.equal(before(locations), null, "changed while it was read");
    assert.equal(before(suppliers)?.stands(), true, "only other rows were changed");
    assert.equal(standing?.stands(), false, "changed after it was read");

    const within: ReturnType<typeof loan.observe>[] = [];
    await engine.write("a", async (tx) => {
      await tx.batch([addLocation("a", "z", "z")]);
      within.push(loan.observe());
    });
    assert.equal(within[0]?.(locations), null, "the commit came after the reading had begun");
    assert.equal(loan.observe()(locations)?.stands(), true);

    const undone = engine.write("a", async (tx) => {
      await tx.batch([addLocation("a", "q", "q")]);
      within.push(loan.observe());
      throw new Error("undone");
    });
    await assert.rejects(undone, /undone/);
    assert.throws(
      () => loan.observe()([{ sql: "delete from location where shop_id = ?", params: [["a"]] }]),
      /may not change/,
    );
    const never = [{ sql: "select supplier_id from supplier_variant where shop_id = ?", params: [["a"]] }];
    const unknown = loan.observe();
    await add(engine, "w");
    assert.equal(unknown(never), null, "nobody has counted the changes of these rows meanwhile");
  });
});

test("a loan that rests is recalled when the file is to be closed, and one in use as soon as it rests", async () => {
  await withEngine(async (engine) => {
    await add(engine, "x");
    const told: string[] = [];
    const resting = await engine.lend("a");
    const recalled = (): void => {
      told.push("recalled");
      resting.giveBack();
    };
    resting.rest(() => told.push("never"));
    resting.resume();
    resting.rest(recalled);
    const used = await engine.lend("a");
    const removed = engine.remove("a").then(() => told.push("removed"));
    await settledNow({ removed });
    assert.deepEqual(told.includes("removed"), false);
    used.rest(() => used.giveBack());
    await removed;
    assert.deepEqual(told, ["recalled", "removed"]);
  });
});

test("a read waits only for the sync of what it has seen, and one that has seen nothing for all", async (t) => {
  await withEngine(async (engine) => {
    const disk = holdSyncs(t);
    const write = add(engine, "x");
    await settledNow({ write });
    const promises = {
      write,
      readOfOtherRows: engine.read("a", (tx) => tx.all("select name from supplier where shop_id = ?", ["a"])),
      readOfNothing: engine.read("a", () => Promise.resolve()),
    };
    assert.deepEqual(await settledNow(promises), ["readOfOtherRows"]);
    disk.release();
    assert.deepEqual(await settledNow(promises), Object.keys(promises).sort());
  });
});

test("commits continue during a sync, and the next sync covers them all", async (t) => {
  await withEngine(async (engine) => {
    const disk = holdSyncs(t);
    const first = add(engine, "0");
    await settledNow({ first });
    const later: Record<string, Promise<void>> = {};
    for (let index = 1; index <= 5; index += 1) {
      later[`${index}`] = add(engine, `${index}`);
      await settledNow({});
    }
    assert.equal(disk.waiting.length, 1, "one sync at a time");
    disk.waiting.shift()?.(null);
    assert.deepEqual(
      await settledNow({ first, ...later }),
      ["first"],
      "a commit is not covered by a sync that began before it",
    );
    assert.equal(disk.waiting.length, 1);
    disk.waiting.shift()?.(null);
    assert.deepEqual(await settledNow(later), Object.keys(later));
    assert.equal(disk.waiting.length, 0, "nothing is left to sync");
    disk.release();
  });
});

test("a write that need not be durable does not wait for a sync, nor do reads of it", async (t) => {
  await withEngine(async (engine) => {
    const disk = holdSyncs(t);
    await add(engine, "loose", false);
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["loose"]);
    const durable = add(engine, "durable");
    const together = { durable, loose: add(engine, "loose-2", false) };
    assert.deepEqual(await settledNow(together), ["loose"], "nor when it is committed together with a durable write");
    assert.equal(disk.waiting.length, 1);
    disk.release();
    await durable;
  });
});

test("a write that changes nothing requests no sync", async (t) => {
  await withEngine(async (engine) => {
    const disk = holdSyncs(t);
    assert.deepEqual(await engine.write("a", (tx) => locationIds(tx, "a")), []);
    await assert.rejects(
      engine.write("a", async (tx) => {
        await tx.batch([addLocation("a", "x", "X")]);
        throw new Error("refused");
      }),
      /refused/,
    );
    assert.equal(disk.waiting.length, 0);
    disk.release();
  });
});

test("a failed sync ends the service: waiting and later requests are refused", async (t) => {
  const fatal: unknown[] = [];
  await withEngine(
    async (engine) => {
      const disk = holdSyncs(t);
      const write = add(engine, "x");
      await settledNow({ write });
      const read = engine.read("a", (tx) => locationIds(tx, "a"));
      const outcomes = [write, read].map((promise) => assert.rejects(promise, faultOf("DO_UNAVAILABLE")));
      const failure = new Error("EIO: i/o error, fdatasync");
      disk.waiting.shift()?.(failure);
      await Promise.all(outcomes);
      assert.deepEqual(fatal, [failure]);
      await assert.rejects(add(engine, "y"), faultOf("DO_UNAVAILABLE"));
      await assert.rejects(engine.ready(), faultOf("DO_UNAVAILABLE"));
      disk.release();
    },
    (error) => fatal.push(error),
  );
});

test("work that awaits anything but its Tx is rolled back and reported, and other writes continue", async () => {
  await withEngine(async (engine) => {
    let later: Promise<unknown> = Promise.resolve();
    const before = add(engine, "1");
    const stuck = engine.write("a", async (tx) => {
      await tx.batch([addLocation("a", "2", "x")]);
      later = pause(5).then(() => tx.batch([addLocation("a", "3", "x")]));
      later.catch(() => undefined);
      await later;
    });
    const after = add(engine, "4");
    await assert.rejects(stuck, /awaited something other than its Tx/);
    await Promise.all([before, after]);
    await assert.rejects(later, /after its work had ended/);
    const stuckLater = engine.write("a", async (tx) => {
      for (const untilMs = performance.now() + loopFreeMs; performance.now() < untilMs;);
      await tx.giveWay?.();
      await tx.batch([addLocation("a", "5", "x")]);
      await pause(5);
    });
    await assert.rejects(stuckLater, /awaited something other than its Tx/);
    await assert.rejects(
      engine.read("a", () => pause(5)),
      /awaited something other than its Tx/,
    );
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["1", "4"]);
  });
});

test("during a checkpoint no write starts, answers leave and reads are served", async (t) => {
  await withEngine(async (engine, directory) => {
    const path = (suffix: string): string => join(directory, suffix);
    await copyFile(path("a.db"), path("before"));
    const disk = holdSyncs(t);
    const ids = Array.from({ length: 400 }, (_, index) => String(index).padStart(3, "0"));
    const large = engine.write("a", (tx) => tx.batch(ids.map((id) => addLocation("a", id, "x".repeat(20_000)))));
    assert.deepEqual(await settledNow({ large }), []);
    disk.waiting.shift()?.(null);
    assert.deepEqual(await settledNow({ large }), ["large"]);
    assert.equal(disk.waiting.length, 1, "the file is being synced");

    let begun = false;
    const next = engine.write("a", async (tx) => {
      begun = true;
      await tx.batch([addLocation("a", "next", "x")]);
    });
    const read = engine.read("a", (tx) => locationIds(tx, "a"));
    assert.deepEqual(await settledNow({ next, read }), ["read"]);
    assert.equal(begun, false);

    // Simulates a power failure now: the file has its old content, the log what has been synced.
    await copyFile(path("before"), path("copy.db"));
    await copyFile(path("a.db-wal"), path("copy.db-wal"));
    assert.deepEqual(await engine.read("copy", (tx) => locationIds(tx, "a")), ids);

    disk.waiting.shift()?.(null);
    assert.deepEqual(await settledNow({ next }), []);
    assert.equal(begun, true);
    disk.release();
    await next;
    // The log has started again from its beginning, so the file must contain all earlier writes.
    await copyFile(path("a.db"), path("copy2.db"));
    await copyFile(path("a.db-wal"), path("copy2.db-wal"));
    assert.deepEqual(await engine.read("copy2", (tx) => locationIds(tx, "a")), [...ids, "next"]);
  });
});

test("the write-ahead log stays small, and file and log together are consistent at any moment", async () => {
  await withEngine(async (engine, directory) => {
    const name = "x".repeat(20_000);
    let walBytesMax = 0;
    for (let round = 0; round < 60; round += 1) {
      const ids = Array.from(
        { length: 16 },
        (_, index) => `${String(round).padStart(3, "0")}-${String(index).padStart(2, "0")}`,
      );
      await Promise.all(
        ids.map((id, index) =>
          engine.write("a", (tx) => tx.batch([addLocation("a", id, name)]), {
            durable: index !== 0 && round % 2 === 0,
          }),
        ),
      );
      walBytesMax = Math.max(walBytesMax, (await stat(join(directory, "a.db-wal"))).size);
      if (round % 12 !== 0) continue;
      // The files that another process finds if this one is killed now.
      for (const suffix of [".db", ".db-wal"])
        await copyFile(join(directory, `a${suffix}`), join(directory, `copy${suffix}`));
      const [first] = await engine.read("copy", (tx) => tx.all<{ n: number }>("select count(*) as n from location"));
      assert.equal(first?.n, (round + 1) * 16);
      await engine.remove("copy");
    }
    assert.ok(walBytesMax < 8 * 1_048_576, `the log grew to ${walBytesMax} bytes for 19 MB written`);
  });
});

// Only Linux lists the open files of a process.
test(
  "the least recently used file is closed above the limit of open files, but never one in use",
  { skip: !fs.existsSync("/proc/self/fd") },
  async (t) => {
    await withEngine(async (engine, directory) => {
      const shops = Array.from({ length: 10 }, (_, index) => `s${index}`);
      for (const shopId of shops) await engine.create(shopId);
      const openFiles = (): string[] => {
        const names = new Set<string>();
        for (const descriptor of fs.readdirSync("/proc/self/fd")) {
          const link = `/proc/self/fd/${descriptor}`;
          // The descriptor of the listing itself is already closed.
          const path = fs.existsSync(link) ? fs.readlinkSync(link) : "";
          if (path.startsWith(directory) && path.endsWith(".db")) names.add(path.slice(directory.length + 1));
        }
        return [...names].sort();
      };
      /** Waits until those that are being closed are closed. */
      const openInTheEnd = async (): Promise<string[]> => {
        await until(
          () => `four open files, but ${openFiles().join()}`,
          () => openFiles().length <= 4,
        );
        return openFiles();
      };
      assert.deepEqual(await openInTheEnd(), ["s6.db", "s7.db", "s8.db", "s9.db"]);
      await engine.read("s6", () => Promise.resolve());
      await engine.write("s0", () => Promise.resolve());
      assert.deepEqual(await openInTheEnd(), ["s0.db", "s6.db", "s8.db", "s9.db"]);
      const disk = holdSyncs(t);
      const writes = shops.map((shopId) => engine.write(shopId, (tx) => tx.batch([addLocation(shopId, "x", "x")])));
      // Busy files stay open beyond the limit.
      await until("ten open files", () => openFiles().length === 10);
      disk.release();
      await Promise.all(writes);
      await engine.read("a", () => Promise.resolve());
      assert.equal((await openInTheEnd()).length, 4);
      for (const shopId of shops) assert.deepEqual(await engine.read(shopId, (tx) => locationIds(tx, shopId)), ["x"]);
    });
  },
);

test(
  "many shops used at once: files that are being closed are bounded too, and none is opened twice",
  { skip: !fs.existsSync("/proc/self/fd") },
  async (t) => {
    await withEngine(async (engine, directory) => {
      await engine.write("a", (tx) => tx.batch([addLocation("a", "x", "x")]));
      await engine.remove("b");
      for (const shopId of ["c", "d", "e", "f"]) await engine.create(shopId);
      await engine.write("c", (tx) => tx.batch([addLocation("c", "x", "x")]));
      await until("the file is closed", () => !fs.existsSync(join(directory, "a.db-wal")));
      const shops = Array.from({ length: 120 }, (_, index) => `copy${index}`);
      for (const shopId of shops) await copyFile(join(directory, "a.db"), join(directory, `${shopId}.db`));
      const disk = holdSyncs(t);
      const used: Promise<void>[] = [];
      for (const shopId of shops) {
        used.push(engine.write(shopId, (tx) => tx.batch([addLocation(shopId, "y", "y")]), { durable: false }));
        await settledNow({});
      }
      // While the disk stands still, nothing can be closed.
      const open = fs.readdirSync(directory).filter((name) => name.endsWith(".db-wal")).length;
      disk.release();
      await Promise.all(used);
      assert.ok(open <= 4 + filesClosingMax + 1, `${open} files were open`);
      for (const shopId of shops) assert.deepEqual(await engine.read(shopId, (tx) => locationIds(tx, shopId)), ["y"]);
    });
  },
);

test("beyond the shops used last, an open file gives back the memory of what it has read", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "openpo-warm-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: "src/shop/schema",
    shopsOpenMax: 4,
    shopsWarmMax: 2,
    clock: systemClock,
  });
  try {
    for (const shopId of ["a", "b", "c"]) await engine.create(shopId);
    const exec = t.mock.method(DatabaseSync.prototype, "exec");
    for (const shopId of ["b", "c", "b", "a"]) await engine.read(shopId, (tx) => locationIds(tx, shopId));
    const given = exec.mock.calls
      .filter(({ arguments: [sql] }) => sql.includes("shrink_memory"))
      .map(({ this: on }) => (on instanceof DatabaseSync ? on.location() : null));
    assert.deepEqual(given, [join(directory, "c.db")]);
    assert.deepEqual(await engine.read("c", (tx) => locationIds(tx, "c")), []);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});

test("when statementsDroppedMax statements were given back and not collected, a file that gives back more is closed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "openpo-dropped-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: "src/shop/schema",
    shopsOpenMax: 8,
    shopsWarmMax: 1,
    statementsDroppedMax: 20,
    clock: systemClock,
  });
  const use = (shopId: string): Promise<void> =>
    engine.read(shopId, async (tx) => {
      for (let index = 0; index < 40; index += 1) await tx.all(`select ${index} from location`);
    });
  const closed = async (open: number): Promise<void> => {
    await until(`no more than ${open} files are open`, () => engine.filesOpen <= open);
    assert.equal(engine.filesOpen, open);
  };
  try {
    for (const shopId of ["a", "b", "c", "d"]) await engine.create(shopId);
    await use("a");
    await use("b");
    assert.equal(engine.filesOpen, 4, "the first gives back 24 and stays open");
    await use("c");
    await closed(3);
    await use("d");
    await closed(2);
    await engine.write("b", (tx) => tx.batch([addLocation("b", "y", "y")]));
    assert.deepEqual(await engine.read("b", (tx) => locationIds(tx, "b")), ["y"]);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});

/** An engine with the shop `a`, whose event loop goes on by itself and whose time the test drives. */
async function withLoop(
  body: (engine: Engine, loop: LoopShare, pass: (ms: number) => void) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "openpo-gate-"));
  let nowMs = 1_000;
  const loop = new LoopShare({
    now: () => nowMs,
    nextRound: (callback) => void setImmediate(callback),
    after: (ms, callback) => void setTimeout(callback, ms),
  });
  const options = { directory, schemaDirectory: "src/shop/schema", shopsOpenMax: 4, clock: systemClock, loop };
  const engine = await openSqliteEngine(options);
  try {
    await engine.create("a");
    await body(engine, loop, (ms) => {
      nowMs += ms;
    });
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
}

for (const [beside, holdMs, came] of [
  ["nothing that is known, groupHoldMsMax", groupHoldMsMax, null],
  ["reads, groupHoldBesideReadsMsMax", groupHoldBesideReadsMsMax, { shopId: "b", reads: true }],
  ["changes of another shop, groupHoldMsMax", groupHoldMsMax, { shopId: "b", reads: false }],
  ["changes of its own alone, groupHoldAloneMsMax", groupHoldAloneMsMax, { shopId: "a", reads: false }],
] as const)
  test(`a group of writes ends after, beside ${beside}, and reads have their turn before the next`, async () => {
    await withLoop(async (engine, loop, pass) => {
      if (came !== null) loop.admit(came.shopId, came.reads)();
      if (came?.shopId === "a") pass(besideMs);
      const writes = Array.from({ length: 6 }, (_, index) =>
        engine.write("a", async (tx) => {
          await tx.batch([addLocation("a", String(index), "x")]);
          pass(holdMs / 2);
        }),
      );
      const counts: number[] = [];
      const look = async (): Promise<unknown> =>
        counts.push((await engine.peek("a", (tx) => locationIds(tx, "a"))).length);
      const writing = { isOver: false };
      const written = Promise.all(writes).finally(() => (writing.isOver = true));
      while (!writing.isOver) {
        await look();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await written;
      await look();
      assert.deepEqual([...new Set(counts)], [0, 2, 4, 6]);
    });
  });

/** Two groups of a shop's writes, the first of which takes so long, and during which something comes that takes one step. @returns the order in which all ran. */
async function groupsAndStep(beside: { readonly reads: boolean }, firstMs = 0): Promise<readonly string[]> {
  const order: string[] = [];
  await withLoop(async (engine, loop, pass) => {
    loop.admit("a", beside.reads)();
    const write = (name: string): Promise<void> =>
      engine.write("a", async (tx) => {
        await tx.batch([addLocation("a", name, "x")]);
        order.push(name);
        // Time of the process: that of the queue.
        for (const untilMs = performance.now() + firstMs; performance.now() < untilMs;);
        pass(groupHoldAloneMsMax);
        if (name === "first") port1.postMessage("comes when the loop goes on");
      });
    const { port1, port2 } = new MessageChannel();
    port2.once("message", () => {
      port2.close();
      setImmediate(() => order.push("step"));
    });
    await Promise.all([write("first"), write("second")]);
    while (order.length < 3) await new Promise((resolve) => setImmediate(resolve));
  });
  return order;
}

test("while reads come, one that came during a group of writes is answered before the next group (Q7)", async () => {
  assert.deepEqual(await groupsAndStep({ reads: true }), ["first", "step", "second"]);
  assert.deepEqual(await groupsAndStep({ reads: false }), ["first", "second", "step"]);
});

test("writes that have waited for giveWayMsMax do not wait for reads that came after them", async () => {
  assert.deepEqual(await groupsAndStep({ reads: true }, giveWayMsMax), ["first", "second", "step"]);
});
