/**
 * Writes while the database crashes, its answers get lost, or it stops responding (S4, S6, N2): no acknowledged write is lost, no wrong
 * outcome is reported, and no wait or lock is endless.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Fault } from "../../../src/base/fault.ts";
import type { Coordination, Engine, Tx } from "../../../src/store/store.ts";
import { addLocation, faultOf, locationIds } from "../../contract/engine-suite.ts";
import { freshDatabase, makeTemplate, openPostgresStore, startPostgres } from "../../support/postgres/postgres.ts";
import { startProxy } from "../../support/postgres/proxy.ts";
import { patienceMs, pause, until } from "../../support/until.ts";

/** Statements for two rows that must be kept together. */
const pair = (number: number) => [
  addLocation("a", String(number), "x"),
  {
    sql: "insert into inventory_level (shop_id, variant_id, location_id, on_hand) values ('a', 'v', ?, ?)",
    params: [String(number), number],
  },
];

async function kept(tx: Tx): Promise<{ readonly numbers: readonly number[]; readonly halves: number }> {
  const levels = await tx.all<{ on_hand: number }>(
    "select on_hand from inventory_level where shop_id = 'a' order by on_hand",
  );
  const locations = await locationIds(tx, "a");
  return { numbers: levels.map((row) => row.on_hand), halves: Math.abs(levels.length - locations.length) };
}

/** Repeats `work` until it fails no longer because the database is unavailable. */
async function persistently<T>(ask: () => Promise<T>, msMax: number): Promise<T> {
  const untilMs = performance.now() + msMax;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Fault) || !error.retryable || performance.now() > untilMs) throw error;
      await pause(50);
    }
  }
}

const isUnknown = (error: Fault): boolean => /not known/.test(error.message);

suite("crash: PostgreSQL", { concurrency: true }, () => {
  for (const how of ["SIGKILL", "SIGQUIT"] as const)
    test(`the database crashes by ${how} under load: the engine reconnects, and every acknowledged write is kept once`, async () => {
      await using server = await startPostgres();
      await makeTemplate(server.url);
      const database = await freshDatabase({ server: server.url });
      const store = await openPostgresStore(database.url);
      const { engine } = store;
      await engine.create("a");
      const acknowledged: number[] = [];
      const refused: number[] = [];
      const unknown: number[] = [];
      let next = 0;
      const ending = new AbortController();
      const writer = async (): Promise<void> => {
        while (!ending.signal.aborted) {
          const number = next;
          next += 1;
          try {
            await engine.write("a", (tx) => tx.batch(pair(number)));
            acknowledged.push(number);
          } catch (error) {
            assert.ok(error instanceof Fault, String(error));
            assert.ok(error.code === "DO_UNAVAILABLE" || error.code === "DO_OVERLOADED", String(error));
            assert.ok((error.retryAfterMs ?? 0) > 0);
            (isUnknown(error) ? unknown : refused).push(number);
            await pause(20);
          }
        }
      };
      const writers = Array.from({ length: 12 }, writer);
      for (let round = 0; round < 2; round += 1) {
        await pause(200 + Math.random() * 200);
        const before = acknowledged.length;
        await server.crash(how);
        await pause(100);
        await server.start();
        await persistently(() => engine.ready(), patienceMs);
        await until("writes succeed again", () => acknowledged.length >= before + 20);
      }
      ending.abort();
      await Promise.all(writers);
      const { numbers, halves } = await engine.write("a", kept);
      assert.equal(halves, 0);
      const found = new Set(numbers);
      const context = `${acknowledged.length} acknowledged, ${refused.length} refused, ${unknown.length} not known`;
      assert.deepEqual(
        acknowledged.filter((number) => !found.has(number)),
        [],
        `${context}: acknowledged and lost`,
      );
      assert.deepEqual(
        refused.filter((number) => found.has(number)),
        [],
        `${context}: refused and kept`,
      );
      await store.close();
    });

  /** Runs `use` with an engine that is connected through a proxy (`far`), one that is connected directly (`near`), and a shop a. */
  async function withProxy(
    use: (bench: {
      readonly near: Engine;
      readonly far: Engine;
      readonly nearKeys: Coordination;
      readonly farKeys: Coordination;
      readonly proxy: Awaited<ReturnType<typeof startProxy>>;
    }) => Promise<void>,
    server?: string,
  ): Promise<void> {
    const database = await freshDatabase(server === undefined ? {} : { server });
    const proxy = await startProxy(database.url);
    const far = await openPostgresStore(proxy.url);
    const near = await openPostgresStore(database.url);
    try {
      await near.engine.create("a");
      await use({
        near: near.engine,
        far: far.engine,
        nearKeys: near.coordination,
        farKeys: far.coordination,
        proxy,
      });
    } finally {
      proxy.resume();
      await far.close();
      await near.close();
      await proxy.close();
      await database.drop();
    }
  }

  for (const writes of [1, 5])
    test(`the answer to a commit is lost (writes in it: ${writes}): the outcome is looked up, and success is reported`, () =>
      withProxy(async ({ near, far, proxy }) => {
        const lost = proxy.loseCommit("after");
        const numbers = Array.from({ length: writes }, (_, index) => index);
        await Promise.all(numbers.map((number) => far.write("a", (tx) => tx.batch(pair(number)))));
        await lost;
        assert.deepEqual(await near.read("a", kept), { numbers, halves: 0 });
        await far.write("a", (tx) => tx.batch(pair(writes)));
      }));

  test("the answer to a commit in one round trip with a load is lost: success is reported", () =>
    withProxy(async ({ near, far, proxy }) => {
      const lost = proxy.loseCommit("after");
      await far.write("a", async (tx) => {
        await locationIds(tx, "a");
        await tx.batch(pair(1));
      });
      await lost;
      assert.deepEqual(await near.read("a", kept), { numbers: [1], halves: 0 });
    }));

  test("a connection cut before the commit: nothing is kept, and failure is reported", () =>
    withProxy(async ({ near, far, proxy }) => {
      const lost = proxy.loseCommit("before");
      const write = far.write("a", (tx) => tx.batch(pair(1)));
      await assert.rejects(write, (error) => faultOf("DO_UNAVAILABLE")(error) && !/not known/.test(String(error)));
      await lost;
      assert.deepEqual(await near.write("a", kept), { numbers: [], halves: 0 });
      await far.write("a", (tx) => tx.batch(pair(1)));
    }));

  test("the answer is lost and the database stays away: the outcome is reported as unknown in bounded time", () =>
    withProxy(async ({ near, far, proxy }) => {
      const lost = proxy.loseCommit("for-long");
      // The database is away for as long as this waits.
      const write = far.write("a", (tx) => tx.batch(pair(1)));
      await assert.rejects(write, (error) => faultOf("DO_UNAVAILABLE")(error) && /not known/.test(String(error)));
      await lost;
      assert.deepEqual(await near.read("a", kept), { numbers: [1], halves: 0 });
      proxy.resume();
      assert.deepEqual(await persistently(() => far.read("a", kept), patienceMs), { numbers: [1], halves: 0 });
    }));

  test("a connection cut before the commit, then a crash: later transactions are not mistaken for the lost one", async () => {
    await using server = await startPostgres();
    await makeTemplate(server.url);
    await withProxy(async ({ near, far, proxy }) => {
      await near.create("b");
      const lost = proxy.loseCommit("before-for-long");
      const write = far.write("a", async (tx) => {
        await locationIds(tx, "a");
        await tx.batch(pair(1));
      });
      const told = assert.rejects(
        write,
        (error) => faultOf("DO_UNAVAILABLE")(error) && !/not known/.test(String(error)),
      );
      await lost;
      await server.crash("SIGKILL");
      await server.start();
      // These writes get the transaction ids that the database has forgotten in the crash.
      for (let index = 0; index < 30; index += 1)
        await persistently(() => near.write("b", (tx) => tx.batch([addLocation("b", String(index), "x")])), patienceMs);
      proxy.resume();
      await told;
      assert.deepEqual(await persistently(() => near.write("a", kept), patienceMs), { numbers: [], halves: 0 });
    }, server.url);
  });

  test("a database that stops responding gives DO_UNAVAILABLE or DO_OVERLOADED in bounded time, and is used again later", () =>
    withProxy(async ({ far, proxy }) => {
      await far.write("a", (tx) => tx.batch(pair(1)));
      proxy.stall();
      // It does not respond for as long as this waits.
      const outcomes = await Promise.allSettled([
        far.read("a", kept),
        far.write("a", (tx) => tx.batch(pair(2))),
        far.ready(),
        far.exists("a"),
      ]);
      for (const outcome of outcomes) {
        assert.ok(outcome.status === "rejected");
        const error: unknown = outcome.reason;
        assert.ok(error instanceof Fault && error.retryable && (error.retryAfterMs ?? 0) > 0, String(error));
        assert.match(error.code, /^DO_/);
      }
      proxy.resume();
      await persistently(() => far.write("a", (tx) => tx.batch(pair(3))), patienceMs);
    }));

  test("a key that could not be released while the database was away is free soon after the database is back", () =>
    withProxy(async ({ nearKeys, farKeys, proxy }) => {
      assert.equal(await farKeys.claimKey("a", "key_1 x", { kind: "run", fingerprint: "first" }), null);
      const lost = proxy.loseCommit("before");
      const [givenBack] = await Promise.all([farKeys.releaseKey("a", "key_1 x"), lost]);
      assert.equal(givenBack, undefined, "releasing a key reports no error");
      await until(
        "the key is free",
        async () => (await nearKeys.claimKey("a", "key_1 x", { kind: "run", fingerprint: "second" })) === null,
      );
    }));

  test("a node that stops responding during its turn does not lock the shop forever", () =>
    withProxy(async ({ near, far, proxy }) => {
      const underLock = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const hanging = far.write("a", async (tx) => {
        await tx.batch(pair(1));
        await locationIds(tx, "a");
        proxy.stall();
        underLock.resolve();
        await goOn.promise;
      });
      const hung = assert.rejects(hanging, Fault);
      await underLock.promise;
      assert.deepEqual(await near.read("a", kept), { numbers: [], halves: 0 }, "reads do not wait for the turn");
      // The node hangs for as long as this waits.
      await persistently(() => near.write("a", (tx) => tx.batch(pair(2))), patienceMs);
      proxy.resume();
      goOn.resolve();
      await hung;
      assert.deepEqual(await near.write("a", kept), { numbers: [2], halves: 0 });
    }));
});
