/** Shops share the event loop on both engines, and so do their requests (Q5). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopShare } from "../../src/store/loop-share.ts";
import { startServer } from "../support/server.ts";
import { inPlace, openStore } from "../support/store.ts";
import { quiet, until } from "../support/until.ts";

const orders = "/api/v1/purchase-orders";

/** A loop share whose time passes only as the test says. */
function loopUnderTest() {
  const time = { nowMs: 1_000 };
  const held: string[] = [];
  class Noted extends LoopShare {
    override held(shopId: string, ms: number): void {
      held.push(shopId);
      super.held(shopId, ms);
    }
  }
  const loop = new Noted({
    now: () => time.nowMs,
    nextRound: (callback) => void setImmediate(callback),
    after: () => {},
  });
  return { loop, time, held };
}

/** Whether it has settled by the time that the others had for their work. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), quiet(60).then(() => false)]);
}

test("reads and writes of a shop whose work has held the loop for long wait for the requests of others", () =>
  inPlace(async (directory) => {
    const { loop, time } = loopUnderTest();
    const store = await openStore(directory, { loop });
    const { engine } = store;
    try {
      for (const shopId of ["heavy", "other"]) {
        await engine.create(shopId);
        // The first work on a shop also asks whether its orders are in segments. Here it is done before a shop owes time.
        await engine.read(shopId, (tx) => tx.all("select 1 as one"));
      }
      const left = loop.admit("other");
      await engine.write("heavy", async (tx) => {
        await tx.all("select 1 as one");
        time.nowMs += 40;
      });
      const write = engine.write("heavy", (tx) => tx.all("select 2 as two"));
      const read = engine.read("heavy", (tx) => tx.all("select 3 as three"));
      assert.deepEqual(await Promise.all([hasSettled(write), hasSettled(read)]), [false, false]);
      await engine.write("other", (tx) => tx.all("select 4 as four"));
      await engine.read("other", (tx) => tx.all("select 5 as five"));
      left();
      assert.deepEqual(
        [await write, await read].map(([row]) => Object.values(row ?? {})[0]),
        [2, 3],
      );

      time.nowMs += 60;
      await engine.read("heavy", async (tx) => {
        await tx.all("select 6 as six");
        time.nowMs += 40;
      });
      loop.admit("other");
      assert.equal(await hasSettled(engine.read("heavy", (tx) => tx.all("select 7 as seven"))), false);
      time.nowMs += 60;
    } finally {
      loop.admit("other")();
      await store.close();
    }
  }));

test("a long write gives way to other shops between its parts, and who asks for its shop sees all of it or nothing", () =>
  inPlace(async (directory) => {
    const { loop, time } = loopUnderTest();
    const store = await openStore(directory, { loop });
    const { engine } = store;
    const insert = "insert into location (shop_id, location_id, name) values (?, ?, 'x')";
    const ids = async (shopId: string): Promise<readonly string[]> =>
      (
        await engine.read(shopId, (tx) =>
          tx.all<{ location_id: string }>("select location_id from location where shop_id = ? order by location_id", [
            shopId,
          ]),
        )
      ).map((row) => row.location_id);
    const add = (shopId: string, id: string): Promise<void> =>
      engine.write(shopId, (tx) => tx.batch([{ sql: insert, params: [shopId, id] }]));
    const long = (name: string, fails: boolean): Promise<void> =>
      engine.write("heavy", async (tx) => {
        for (const part of [1, 2, 3]) {
          await tx.batch([{ sql: insert, params: ["heavy", `${name} ${part}`] }]);
          time.nowMs += 40;
          await tx.giveWay?.();
        }
        if (fails) throw new Error("refused");
      });
    try {
      for (const shopId of ["heavy", "other"]) {
        await engine.create(shopId);
        await ids(shopId);
      }
      for (const fails of [false, true]) {
        const name = fails ? "refused" : "kept";
        const before = await ids("heavy");
        const left = loop.admit("other");
        const beside = add("heavy", `${name} beside`);
        const written = long(name, fails);
        const seen = ids("heavy");
        const settled = fails ? assert.rejects(written, /refused/) : written;
        assert.deepEqual(await Promise.all([hasSettled(settled), hasSettled(beside)]), [false, false]);
        await add("other", name);
        assert.ok((await ids("other")).includes(name));
        left();
        await Promise.all([settled, beside]);
        const parts = fails ? [] : ["kept 1", "kept 2", "kept 3"];
        const after = await ids("heavy");
        assert.deepEqual(after, [...before, ...parts, `${name} beside`].sort());
        assert.ok([before.length, after.length].includes((await seen).length), (await seen).join());
        // What it owed does not hold up what comes next.
        time.nowMs += 1_000;
      }
    } finally {
      await store.close();
    }
  }));

test("a group of writes that waited for its turn does not begin while a read of its shop is half done (S1)", () =>
  inPlace(async (directory) => {
    const { loop } = loopUnderTest();
    const store = await openStore(directory, { loop });
    const { engine } = store;
    try {
      await engine.create("shop");
      const rows: unknown[] = [];
      const write = engine.write("shop", (tx) => tx.all("select 1 as one"));
      loop.held("other", 12);
      const read = engine.read("shop", async (tx) => {
        for (let count = 0; count < 5; count += 1) {
          rows.push(...(await tx.all("select 2 as two")));
          loop.held("another", 1);
        }
      });
      await Promise.all([write, read]);
      assert.equal(rows.length, 5);
    } finally {
      await store.close();
    }
  }));

test("a request counts for its shop from its arrival to its answer", async () => {
  const { loop } = loopUnderTest();
  await using server = await startServer({ loop });
  loop.held("elsewhere", 100);
  const turns: boolean[] = [];
  const operations = server.get(orders);
  for (let round = 0; round < 200; round += 1) {
    turns.push(loop.waitForShare("elsewhere") === null);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await operations).status, 200);
  assert.ok(turns.includes(false), "while it was under way");
  await until("and no longer", () => loop.waitForShare("elsewhere") === null);
});

test("a body is made into values, and checked, when its shop may hold the loop; that time counts", async () => {
  const { loop, held, time } = loopUnderTest();
  // The engine shares nothing here: only the request itself waits.
  await using server = await startServer({ perform: () => ({ loop }) });
  loop.held(server.shopId, 100);
  const left = loop.admit("other");
  const created = server.post(orders, { poName: "Waits" }, { headers: { "Idempotency-Key": "k" } });
  const read = server.get(orders);
  assert.equal(await hasSettled(created), false);
  assert.equal((await read).status, 200, "what has no body does not wait here");
  left();
  assert.equal((await created).status, 201);
  assert.ok(
    held.filter((shopId) => shopId === server.shopId).length > 3,
    "body, fingerprint, input and the read's answer",
  );
  time.nowMs += 100;
});

test("requests that change nothing, and those that reach nothing, are reads beside a shop's writes; changes are not", async () => {
  const { loop } = loopUnderTest();
  const arrivals: boolean[] = [];
  const admit = loop.admit.bind(loop);
  loop.admit = (shopId, reads) => {
    assert.equal(shopId, server.shopId);
    arrivals.push(reads ?? true);
    return admit(shopId, reads);
  };
  await using server = await startServer({ perform: () => ({ loop }) });
  await server.get(orders);
  await server.get("/api/v1/nowhere");
  await server.post(orders, { poName: "x" }, { headers: { "Idempotency-Key": "k" } });
  assert.deepEqual(arrivals, [true, true, false]);
});
