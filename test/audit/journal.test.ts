/**
 * The journal of audit rows (A1 to A4): real files, and copies of them for what a crash leaves.
 *
 * Only on sqlite: among nodes there is no journal.
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { restoreBackup } from "../../src/cli/copies/backup.ts";
import { markFormat, openDataDirectory, openJournal } from "../../src/service/data-directory.ts";
import { dayMs } from "../../src/base/time/calendar.ts";
import { AuditTrail } from "../../src/requests/audit/audit-trail.ts";
import { type AuditEntry, type AuditFilters, listAudit } from "../../src/shop/audit/audit.ts";
import { linksAfter } from "../../src/shop/audit/audit-chain.ts";
import {
  AuditJournal,
  auditJournalRowsMax,
  auditJournalShopRows,
  auditJournalStopMs,
  auditJournalSyncMs,
  auditJournalWaitMs,
} from "../../src/shop/audit/audit-journal.ts";
import { delegated } from "../../src/store/delegated.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import type { Engine, Log, Tx, WriteOptions } from "../../src/store/store.ts";
import { systemClock } from "../../src/base/time/system.ts";
import { auditEntry as anyEntry, verifyWhole } from "../support/audit.ts";
import { inPlace } from "../support/store.ts";
import { quiet, until } from "../support/until.ts";

/** The row of a read. */
const auditEntry = (auditId: string): AuditEntry =>
  anyEntry({ auditId, requestId: `req_${auditId}`, atMs: Date.UTC(2026, 0, 1) });

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const source = path.join(import.meta.dirname, "../../src");

const openShops = (directory: string) =>
  openSqliteEngine({
    directory: path.join(directory, "shops"),
    schemaDirectory: path.join(source, "shop/schema"),
    shopsOpenMax: 8,
    clock: systemClock,
  });

const openFile = (directory: string) =>
  openSqliteEngine({
    directory: path.join(directory, "journal"),
    schemaDirectory: path.join(source, "shop/audit/schema"),
    shopsOpenMax: 1,
    clock: systemClock,
  });

interface Changes {
  readonly limits?: Parameters<typeof AuditJournal.open>[0]["limits"];
  readonly shopsAre?: (shops: Engine) => Engine;
  readonly fileIs?: (file: Engine) => Engine;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** Shops `a` and `b` with a journal before them. */
async function open(
  directory: string,
  {
    limits = {},
    shopsAre = (shops) => shops,
    fileIs = (file) => file,
    clock = systemClock,
    log = silent,
  }: Changes = {},
) {
  const shops = await openShops(directory);
  const file = fileIs(await openFile(directory));
  const below = shopsAre(shops);
  const trail = new AuditTrail({ engine: below, clock, log });
  const journal = await AuditJournal.open({ file, shops: below, trail, clock, log, limits });
  const engine = journal.engine(shops);
  for (const shopId of ["a", "b"]) await engine.create(shopId);
  return {
    shops,
    journal,
    engine,
    close: () => engine.close(),
  };
}

const everything: AuditFilters = {
  keyId: null,
  personId: null,
  operation: null,
  surfaces: null,
  outcomes: null,
  status: null,
};

/** Ids of the shop's log, oldest first. */
const logOf = async (engine: Engine, shopId: string): Promise<string[]> =>
  (await engine.read(shopId, (tx) => listAudit(tx, shopId, everything, null, 500))).entries
    .map(({ auditId }) => auditId)
    .reverse();

/** The rows of each link in the shop's chain, after the whole log was verified. */
async function linked(engine: Engine, shopId: string): Promise<string[][]> {
  const { findings } = await engine.read(shopId, (tx) => verifyWhole(tx, shopId));
  assert.deepEqual(findings, []);
  const { links } = await engine.read(shopId, (tx) => linksAfter(tx, shopId, 0, 1_000));
  return links.map(({ rows }) => rows.map(({ auditId }) => auditId));
}

const stored = (engine: Engine, shopId: string): Promise<string[]> =>
  engine.read(shopId, async (tx) =>
    (
      await tx.all<{ audit_id: string }>("select audit_id from audit_log where shop_id = ? order by rowid", [shopId])
    ).map((row) => row.audit_id),
  );

/** What a process that is killed now would leave. */
function killed(directory: string): string {
  const left = `${directory}/left-${Math.random()}`;
  for (const folder of ["shops", "journal"]) {
    mkdirSync(path.join(left, folder), { recursive: true });
    for (const name of readdirSync(path.join(directory, folder)).filter((each) => !each.endsWith("-shm")))
      cpSync(path.join(directory, folder, name), path.join(left, folder, name));
  }
  return left;
}

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, "0")}`);

test("whoever reads a shop's log sees every row that was added, in its order, and rows of other shops stay", () =>
  inPlace(async (directory) => {
    const { shops, journal, engine, close } = await open(directory);
    for (const id of ["3", "1", "2"]) await journal.add("a", auditEntry(id));
    await journal.add("b", auditEntry("4"));
    assert.deepEqual(await stored(shops, "a"), [], "they wait in the journal");
    await engine.read("a", (tx) => tx.all("select 1 as one from purchase_order where shop_id = ?", ["a"]));
    assert.deepEqual(await stored(shops, "a"), [], "who reads something else does not wait for them");
    assert.deepEqual(await stored(engine, "a"), ["3", "1", "2"]);
    assert.deepEqual(await logOf(engine, "a"), ["1", "2", "3"]);
    assert.deepEqual(await linked(engine, "a"), [["3", "1", "2"]]);
    assert.deepEqual(await stored(shops, "b"), []);
    const links = await engine.read("b", (tx) => linksAfter(tx, "b", 0, 10));
    assert.deepEqual(
      links.links.map(({ rows }) => rows.map(({ auditId }) => auditId)),
      [["4"]],
      "who reads the chain alone sees them too",
    );
    await journal.add("b", auditEntry("5"));
    assert.equal(journal.count, 1);
    const byPeek = await engine.peek("b", (tx) => listAudit(tx, "b", everything, null, 500));
    assert.equal(byPeek.entries.length, 2);
    await close();
  }));

test("rows leave the journal when they are synced in their shop's log, not sooner", () =>
  inPlace(async (directory) => {
    const synced = Promise.withResolvers<void>();
    const asked: (WriteOptions | undefined)[] = [];
    const { journal, close } = await open(directory, {
      shopsAre: (below) => ({
        ...delegated(below),
        write: async (shopId, work, options) => {
          asked.push(options);
          const written = await below.write(shopId, work, options);
          await synced.promise;
          return written;
        },
      }),
    });
    await journal.add("a", auditEntry("1"));
    const settled = journal.settle("a");
    await journal.add("b", auditEntry("2"));
    const left = killed(directory);
    const rows = new DatabaseSync(path.join(left, "journal/audit.db"));
    assert.equal(rows.prepare("select count(*) as n from pending_row").get()?.["n"], 2);
    rows.close();
    assert.equal(journal.has("a"), true);
    synced.resolve();
    await settled;
    assert.deepEqual([journal.has("a"), journal.count], [false, 1]);
    assert.deepEqual(asked, [undefined], "such a write resolves when it is synced");
    await close();
  }));

test("rows that could not be moved come before those that were added meanwhile", () =>
  inPlace(async (directory) => {
    let isFull = true;
    const later: Promise<void>[] = [];
    const { journal, shops, close } = await open(directory, {
      limits: { shopRows: 1_000 },
      shopsAre: (below) => ({
        ...delegated(below),
        write: async (...asked) => {
          if (!isFull) return await below.write(...asked);
          isFull = false;
          later.push(...ids("s", 10).map((id) => journal.add("a", auditEntry(id))));
          throw new Fault("DO_UNAVAILABLE", "The disk is full.", { retryAfterMs: 1 });
        },
      }),
    });
    // More than one write moves.
    await Promise.all(ids("r", 300).map((id) => journal.add("a", auditEntry(id))));
    await assert.rejects(journal.settle("a"), { code: "DO_UNAVAILABLE" });
    await Promise.all(later);
    await journal.settle("a");
    assert.deepEqual(await stored(shops, "a"), [...ids("r", 300), ...ids("s", 10)]);
    await close();
  }));

test("rows that are not committed yet are in a log that is read meanwhile", () =>
  inPlace(async (directory) => {
    const { journal, engine, close } = await open(directory);
    const adding = ids("r", 300).map((id) => journal.add("a", auditEntry(id)));
    assert.deepEqual(await logOf(engine, "a"), ids("r", 300));
    await Promise.all(adding);
    await close();
  }));

test("a killed process loses no row that was added, and no row is there twice", () =>
  inPlace(async (directory) => {
    const { journal, engine, shops, close } = await open(directory);
    await Promise.all(ids("r", 20).map((id) => journal.add("a", auditEntry(id))));
    const before = killed(directory);
    await journal.settle("a");
    // The rows are in the shop's log by now, and still in the journal.
    assert.deepEqual(await stored(shops, "a"), ids("r", 20));
    const between = killed(directory);
    const rows = new DatabaseSync(path.join(between, "journal/audit.db"));
    assert.equal(rows.prepare("select count(*) as n from pending_row").get()?.["n"], 20);
    rows.close();
    await engine.read("a", () => Promise.resolve());
    await close();
    for (const left of [before, between]) {
      const again = await open(left);
      assert.equal(again.journal.count, 20);
      await again.journal.add("a", auditEntry("s"));
      assert.deepEqual(await logOf(again.engine, "a"), [...ids("r", 20), "s"]);
      // Rows that were in the log already have the one link with which they came.
      assert.deepEqual(
        await linked(again.engine, "a"),
        left === between ? [ids("r", 20), ["s"]] : [[...ids("r", 20), "s"]],
      );
      await again.close();
    }
  }));

test("with auditJournalShopRows rows of a shop in the journal they are moved to its log, and deleted from the journal", () =>
  inPlace(async (directory) => {
    const { journal, shops, close } = await open(directory);
    await Promise.all(ids("r", auditJournalShopRows - 1).map((id) => journal.add("a", auditEntry(id))));
    await journal.add("b", auditEntry("x"));
    await quiet(20);
    assert.deepEqual(await stored(shops, "a"), []);
    await journal.add("a", auditEntry("s"));
    await until("they are moved", async () => (await stored(shops, "a")).length === auditJournalShopRows);
    assert.deepEqual(await stored(shops, "b"), []);
    await close();
    const file = new DatabaseSync(path.join(directory, "journal/audit.db"));
    assert.equal(file.prepare("select count(*) as n from pending_row").get()?.["n"], 0);
    file.close();
  }));

test("beyond the journal's rows those of the shop that has waited for longest are moved; beyond twice as many it has no room", () =>
  inPlace(async (directory) => {
    assert.ok(auditJournalRowsMax >= auditJournalShopRows);
    let mayWrite = Promise.resolve();
    const { journal, shops, close } = await open(directory, {
      limits: { rowsMax: 8, shopRows: 1_000 },
      shopsAre: (below) => ({
        ...delegated(below),
        write: async (...asked) => {
          await mayWrite;
          return await below.write(...asked);
        },
      }),
    });
    const shopIds = ids("shop", 9);
    for (const shopId of shopIds) await shops.create(shopId);
    for (const shopId of shopIds.slice(0, 8)) await journal.add(shopId, auditEntry("1"));
    await quiet(20);
    assert.equal(journal.count, 8);
    await journal.add("shop0008", auditEntry("1"));
    await until("rows are moved", () => journal.count <= 7);
    // Four shops at a time, those that have waited for longest.
    const moved = await Promise.all(shopIds.map(async (shopId) => (await stored(shops, shopId)).length));
    assert.deepEqual([moved[0], ...moved.slice(6)], [1, 0, 0, 0]);
    await until("the four are moved", () => journal.count <= 5);
    const before = journal.count;
    const free = Promise.withResolvers<void>();
    mayWrite = free.promise;
    for (const id of ids("c", 15 - before)) await journal.add("a", auditEntry(id));
    assert.equal(journal.hasRoom, true);
    await journal.add("a", auditEntry("d"));
    assert.equal(journal.hasRoom, false);
    free.resolve();
    await until("there is room again", () => journal.count <= 7 && journal.hasRoom);
    await close();
  }));

test("rows end with their shop: one that is made under the same id has none of them, also after a crash", () =>
  inPlace(async (directory) => {
    const { journal, engine, close } = await open(directory);
    await journal.add("a", auditEntry("1"));
    await engine.remove("a");
    // The row of a request that was under way.
    await journal.add("a", auditEntry("2"));
    const left = killed(directory);
    await engine.create("a");
    await journal.add("a", auditEntry("3"));
    const later = killed(directory);
    assert.deepEqual(await logOf(engine, "a"), ["3"]);
    await close();
    for (const [place, expected] of [
      [left, []],
      [later, ["3"]],
    ] as const) {
      const again = await open(place);
      assert.deepEqual(await logOf(again.engine, "a"), expected);
      await again.close();
    }
  }));

test("while a shop cannot be written its log is read as it is, and its rows come when it can", () =>
  inPlace(async (directory) => {
    let isFull = false;
    const { journal, engine, close } = await open(directory, {
      limits: { shopRows: 4 },
      shopsAre: (below) => ({
        ...delegated(below),
        write: async (...asked) => {
          if (isFull) throw new Fault("DO_UNAVAILABLE", "The disk is full.", { retryAfterMs: 1 });
          return await below.write(...asked);
        },
      }),
    });
    await journal.add("a", auditEntry("1"));
    assert.deepEqual(await logOf(engine, "a"), ["1"]);
    isFull = true;
    for (const id of ["2", "3", "4", "5", "6"]) await journal.add("a", auditEntry(id));
    assert.deepEqual(await logOf(engine, "a"), ["1"]);
    await assert.rejects(journal.settle("a"), { code: "DO_UNAVAILABLE" });
    isFull = false;
    await journal.add("a", auditEntry("7"));
    assert.deepEqual(await logOf(engine, "a"), ["1", "2", "3", "4", "5", "6", "7"]);
    await close();
  }));

test("a row that the journal does not take is refused, and is nowhere", () =>
  inPlace(async (directory) => {
    let isFull = false;
    const { journal, engine, close } = await open(directory, {
      fileIs: (below) => ({
        ...delegated(below),
        write: async (...asked) => {
          if (isFull) throw new Fault("DO_UNAVAILABLE", "The disk is full.", { retryAfterMs: 1 });
          return await below.write(...asked);
        },
      }),
    });
    await journal.add("a", auditEntry("1"));
    isFull = true;
    await assert.rejects(journal.add("a", auditEntry("2")), { code: "DO_UNAVAILABLE" });
    assert.equal(journal.count, 1);
    isFull = false;
    assert.deepEqual(await logOf(engine, "a"), ["1"]);
    isFull = true;
    // With this write the moved row was to be deleted.
    await assert.rejects(journal.add("a", auditEntry("3")), { code: "DO_UNAVAILABLE" });
    isFull = false;
    await close();
    const file = new DatabaseSync(path.join(directory, "journal/audit.db"));
    assert.equal(file.prepare("select count(*) as n from pending_row").get()?.["n"], 0);
    file.close();
  }));

test("rows are synced auditJournalSyncMs after they were added, and not again while none are", async (t) => {
  const writes: (WriteOptions | undefined)[] = [];
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const none: Tx = { all: () => Promise.resolve([]), batch: () => Promise.resolve() };
  const double: Engine = {
    ...delegated({} as Engine),
    create: () => Promise.resolve(),
    peek: (_shopId, work) => work(none),
    write: (_shopId, work, options) => {
      writes.push(options);
      return work(none);
    },
  };
  const trail = { statements: () => Promise.resolve([]) };
  const journal = await AuditJournal.open({ file: double, shops: double, trail, clock: systemClock, log: silent });
  await journal.add("a", auditEntry("1"));
  t.mock.timers.tick(auditJournalSyncMs - 1);
  assert.deepEqual(writes, [{ durable: false }]);
  t.mock.timers.tick(1);
  assert.deepEqual(writes, [{ durable: false }, { durable: true }]);
  t.mock.timers.tick(10 * auditJournalSyncMs);
  assert.equal(writes.length, 2);
});

test("rows of a shop are moved when the first of them has waited for auditJournalWaitMs, and tried again after as long", async (t) => {
  let nowMs = 0;
  let isFull = true;
  const moved: string[] = [];
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const tick = async (ms: number): Promise<void> => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  const none: Tx = { all: () => Promise.resolve([]), batch: () => Promise.resolve() };
  const file: Engine = {
    ...delegated({} as Engine),
    create: () => Promise.resolve(),
    peek: (_shopId, work) => work(none),
    write: (_shopId, work) => work(none),
  };
  const shops: Engine = {
    ...file,
    write: (shopId) => {
      moved.push(`${shopId} at ${nowMs}`);
      return isFull
        ? Promise.reject(new Fault("DO_UNAVAILABLE", "The disk is full.", { retryAfterMs: 1 }))
        : Promise.resolve(undefined as never);
    },
  };
  const trail = { statements: () => Promise.resolve([]) };
  const journal = await AuditJournal.open({ file, shops, trail, clock: { now: () => nowMs }, log: silent });
  await journal.add("a", auditEntry("1"));
  await tick(1_000);
  await journal.add("b", auditEntry("2"));
  await tick(auditJournalWaitMs - 1_001);
  assert.deepEqual(moved, []);
  await tick(1);
  assert.deepEqual(moved, [`a at ${auditJournalWaitMs}`]);
  isFull = false;
  for (let waited = 0; waited < auditJournalWaitMs; waited += 1_000) await tick(1_000);
  const [, , again] = moved;
  assert.equal(moved.length, 3);
  assert.equal(again, `a at ${2 * auditJournalWaitMs}`);
  assert.equal(journal.count, 0);
});

test("rows that come all the time keep nobody who reads the log waiting", () =>
  inPlace(async (directory) => {
    const { journal, engine, close } = await open(directory, {
      limits: { shopRows: 1 },
      shopsAre: (below) => ({
        ...delegated(below),
        write: async (...asked) => {
          const moving = below.write(...asked);
          // More than the rows that are moved now.
          for (const id of ["x", "y"]) if (journal.hasRoom && adding) void journal.add("a", auditEntry(`${id}${n++}`));
          return await moving;
        },
      }),
    });
    let [adding, n] = [true, 0];
    await journal.add("a", auditEntry("1"));
    assert.ok((await logOf(engine, "a")).includes("1"));
    adding = false;
    await close();
  }));

test("the day's first rows tell the head of the day before when they are moved", () =>
  inPlace(async (directory) => {
    let nowMs = Date.UTC(2026, 0, 1, 12);
    const told: unknown[] = [];
    const log: Log = { ...silent, info: (facts, message) => told.push([message, facts]) };
    const { journal, engine, close } = await open(directory, { clock: { now: () => nowMs }, log });
    await journal.add("a", auditEntry("1"));
    await journal.settle("a");
    assert.deepEqual(told, []);
    const [head] = (await engine.read("a", (tx) => linksAfter(tx, "a", 0, 1))).links;
    nowMs += dayMs;
    await journal.add("a", auditEntry("2"));
    await journal.settle("a");
    const { position, hash } = head?.place ?? { position: 0, hash: "" };
    assert.deepEqual(told, [
      ["head of the audit log", { shopId: "a", auditHead: `${position}:${hash}`, at: nowMs - dayMs }],
    ]);
    await close();
  }));

test("a stop moves rows for auditJournalStopMs; the rest is moved by the next process", () =>
  inPlace(async (directory) => {
    let nowMs = 0;
    const clock = { now: () => nowMs };
    const first = await openShops(directory);
    for (const shopId of ids("shop", 12)) await first.create(shopId);
    const slow: Engine = {
      ...delegated(first),
      write: async (...asked) => {
        nowMs += auditJournalStopMs / 4;
        return await first.write(...asked);
      },
    };
    const journal = await openJournal(directory, slow, { clock, log: silent });
    for (const shopId of ids("shop", 12)) await journal.add(shopId, auditEntry("1"));
    await journal.close();
    assert.ok(journal.count >= 4 && journal.count <= 8, `${journal.count} are left`);
    const later = await openJournal(directory, first, { clock: systemClock, log: silent });
    assert.equal(later.count, journal.count);
    const engine = later.engine(first);
    for (const shopId of ids("shop", 12)) assert.deepEqual(await logOf(engine, shopId), ["1"]);
    await later.close();
    await first.close();
  }));

test("a data directory keeps the journal in a folder of its own, for its user alone, and a copy of a shop has its rows", () =>
  inPlace(async (directory) => {
    const store = await openDataDirectory(directory, silent);
    await store.engine.create("a");
    await store.auditJournal?.add("a", auditEntry("1"));
    for (const name of readdirSync(path.join(directory, "journal")))
      assert.equal(statSync(path.join(directory, "journal", name)).mode & 0o777, 0o600, name);
    assert.equal(statSync(path.join(directory, "journal")).mode & 0o777, 0o700);
    const admin = store.adminContext({
      wakeOutbox: () => {},
      webhooks: { policy: () => true, changed: () => {} } as never,
      documents: {} as never,
      mailIsOn: false,
      publicUrl: null,
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of admin.snapshotOf("shop", "a")) pieces.push(piece);
    assert.ok(Buffer.concat(pieces).includes("req_1"));
    await store.close();
  }));

test("a copy of a stopped directory is restored with the rows of its journal, and none of the directory that it replaces", () =>
  inPlace(async (directory) => {
    const directories = ["copied", "replaced"].map((name) => path.join(directory, name));
    const [copied = "", replaced = ""] = directories;
    for (const dataDir of directories) {
      const { journal, engine, close } = await open(dataDir, { limits: { stopMs: -1 } });
      await journal.add("a", auditEntry(path.basename(dataDir)));
      await engine.read("a", () => Promise.resolve());
      await close();
      assert.equal(journal.count, 1);
      mkdirSync(path.join(dataDir, "sandbox"));
      markFormat(dataDir);
    }
    await restoreBackup(copied, replaced, true, { progress: () => {} } as never);
    const store = await openDataDirectory(replaced, silent);
    assert.deepEqual(await logOf(store.engine, "a"), ["copied"]);
    await store.close();
  }));

test("a journal that is damaged ends the start, saying which folder it is and what to do", () =>
  inPlace(async (directory) => {
    mkdirSync(path.join(directory, "journal"), { recursive: true });
    writeFileSync(path.join(directory, "journal/audit.db"), "no database ".repeat(1_000));
    await assert.rejects(openDataDirectory(directory, silent), (error: Error) => {
      assert.match(error.message, /journal cannot be used: .*damaged.*move the folder away/);
      return true;
    });
    renameSync(path.join(directory, "journal"), path.join(directory, "away"));
    await (await openDataDirectory(directory, silent)).close();
  }));
