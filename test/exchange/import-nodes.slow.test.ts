/** Imports on several nodes: their leases, what happens when a node dies or stops making progress, and lost answers (I2, I5). */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { importRecords, recoverImports } from "../../src/exchange/import.ts";
import type { ImportContext } from "../../src/exchange/import-run.ts";
import { Fault } from "../../src/base/fault.ts";
import type { Engine } from "../../src/store/store.ts";
import { systemClock } from "../../src/base/time/system.ts";
import { ndjson, piecesOf, type TestShop, withShops } from "../support/admin.ts";
import { delegated } from "../../src/store/delegated.ts";

/** Longer than a lease. */
const longMs = 10 * 60_000;

/** They are staged in two writes and applied in four: each write is tried, so a file has few records, and long ones. */
const records = Array.from({ length: 400 }, (_, index) => ({
  type: "variant",
  variantId: `v-${String(index).padStart(4, "0")}`,
  productId: "p-1",
  productName: "Mug ".repeat(50).trim(),
  variantName: "Blue ".repeat(40).trim(),
}));

const here = (shop: TestShop): ImportContext & TestShop => shop;
/** Another node, whose clock is ahead by so much. */
const nodeOf = (shop: TestShop, aheadMs = 0): ImportContext => ({
  ...here(shop),
  clock: { now: () => systemClock.now() + aheadMs },
});
const shopIdOf = (shop: TestShop): string => shop.shop.shopId;
const among = { alone: false } as const;

const variantsOf = async (shop: TestShop): Promise<number> => (await shop.records()).length;

interface RunRow {
  readonly state: string;
  readonly leased_until: number;
}

const runsOf = (shop: TestShop): Promise<readonly RunRow[]> =>
  shop.engine.read(shopIdOf(shop), (tx) =>
    tx.all<RunRow>("select state, leased_until from import_run where shop_id = ?", [shopIdOf(shop)]),
  );

async function assertSwept(shop: TestShop): Promise<void> {
  assert.deepEqual(await runsOf(shop), []);
  const left = await shop.engine.read(shopIdOf(shop), (tx) =>
    tx.all("select position from import_record where shop_id = ? limit 1", [shopIdOf(shop)]),
  );
  assert.deepEqual(left, []);
}

/** Half of the file, and the rest when `goOn` is called. */
function halting() {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const bytes = ndjson(records);
    yield* piecesOf(bytes.subarray(0, bytes.length / 2), 65_536);
    reached.resolve();
    await gate.promise;
    yield* piecesOf(bytes.subarray(bytes.length / 2), 65_536);
  }
  return { pieces: pieces(), reached: reached.promise, goOn: () => gate.resolve() };
}

/** An engine that runs a hook before its n-th write, or after that write has committed. */
function hooked(
  engine: Engine,
  at: number,
  hooks: { before?: () => Promise<void>; after?: () => Promise<void> },
): Engine {
  let write = 0;
  return {
    ...delegated(engine),
    async write(shopId, work, options) {
      write += 1;
      const isIt = write === at;
      if (isIt) await hooks.before?.();
      const value = await engine.write(shopId, work, options);
      if (isIt) await hooks.after?.();
      return value;
    },
  };
}

const lost = (): Promise<void> =>
  Promise.reject(new Fault("DO_UNAVAILABLE", "Whether this was kept is not known.", { retryAfterMs: 1 }));

const bring = (context: ImportContext, shop: TestShop): Promise<Readonly<Record<string, number>>> =>
  importRecords(context, shop.shop, piecesOf(ndjson(records), 65_536), "req_1");

/** Writes of an import that succeeds, and which of them commits it. */
async function writesOf(shop: TestShop): Promise<{ readonly count: number; readonly commitAt: number }> {
  let count = 0;
  let commitAt = 0;
  await bring(
    {
      ...here(shop),
      engine: {
        ...delegated(shop.engine),
        async write(shopId, work, options) {
          const value = await shop.engine.write(shopId, work, options);
          count += 1;
          if (commitAt === 0 && (await runsOf(shop))[0]?.state === "committed") commitAt = count;
          return value;
        },
      },
    },
    shop,
  );
  assert.ok(commitAt > 3 && count - commitAt >= 5, `commits at ${commitAt} of ${count}`);
  return { count, commitAt };
}

test("another node's start leaves an import under way alone, however long its file takes", () =>
  withShops(async (open) => {
    const shop = await open("shop");
    const file = halting();
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      const done = importRecords(shop, shop.shop, file.pieces, "req_1");
      await file.reached;
      await recoverImports(nodeOf(shop), "shop", among);
      const [before] = await runsOf(shop);
      let after = before;
      mock.timers.tick(15_000);
      while (after?.leased_until === before?.leased_until) [after] = await runsOf(shop);
      file.goOn();
      assert.deepEqual(await done, { variant: records.length });
      assert.equal(await variantsOf(shop), records.length);
      await assertSwept(shop);
    } finally {
      mock.timers.reset();
    }
  }));

test("an import without progress is discarded by another node; if it goes on, it is refused and nothing was imported", () =>
  withShops(async (open) => {
    const shop = await open("shop");
    const file = halting();
    const done = importRecords(shop, shop.shop, file.pieces, "req_1");
    await file.reached;
    await recoverImports(nodeOf(shop, longMs), "shop", among);
    await assertSwept(shop);
    file.goOn();
    await assert.rejects(
      done,
      (error) => error instanceof Fault && error.code === "DO_UNAVAILABLE" && /discarded/.test(error.message),
    );
    assert.equal(await variantsOf(shop), 0);
    await assertSwept(shop);
  }));

test("an import that a dead node had committed is applied once, however many nodes take over at the same time", () =>
  withShops(async (open) => {
    const { commitAt } = await writesOf(await open("counted"));
    const shop = await open("shop");
    const dead = Promise.withResolvers<void>();
    const dying = hooked(shop.engine, commitAt, {
      after: () => {
        dead.resolve();
        return new Promise(() => {});
      },
    });
    void bring({ ...here(shop), engine: dying }, shop);
    await dead.promise;
    assert.equal(await variantsOf(shop), 0);
    await recoverImports(nodeOf(shop), "shop", among);
    assert.equal(await variantsOf(shop), 0, "its lease has not ended");
    await Promise.all([1, 2, 3].map(() => recoverImports(nodeOf(shop, longMs), "shop", among)));
    assert.equal(await variantsOf(shop), records.length);
    await assertSwept(shop);
  }));

test("a write that committed but was reported as failed leaves all of the import or nothing", () =>
  withShops(async (open) => {
    const { count, commitAt } = await writesOf(await open("counted"));
    for (let at = 1; at <= count; at += 1) {
      const shop = await open(`lost-${at}`);
      const engine = hooked(shop.engine, at, { after: lost });
      const brought = await bring({ ...here(shop), engine }, shop).then(
        () => true,
        (error: unknown) => {
          assert.ok(error instanceof Fault && error.code === "DO_UNAVAILABLE");
          return false;
        },
      );
      // A commit that was kept cannot be undone: the import goes on.
      if (at === commitAt) assert.ok(brought);
      await recoverImports(nodeOf(shop, longMs), shopIdOf(shop), among);
      assert.equal(await variantsOf(shop), at < commitAt ? 0 : records.length, `the answer of write ${at} was lost`);
      await assertSwept(shop);
    }
  }));

test("an import that another node took over while it was applied is answered when all of it is there", () =>
  withShops(async (open) => {
    const { commitAt } = await writesOf(await open("counted"));
    const shop = await open("shop");
    // Taken over between two chunks.
    const engine = hooked(shop.engine, commitAt + 2, {
      before: () => recoverImports(nodeOf(shop, longMs), "shop", among),
    });
    assert.deepEqual(await bring({ ...here(shop), engine }, shop), { variant: records.length });
    assert.equal(await variantsOf(shop), records.length);
    await assertSwept(shop);
  }));

test("an import of a node whose clock stood hours ahead is found, and taken over when a lease that begins now has ended", () =>
  withShops(async (open) => {
    const { commitAt } = await writesOf(await open("counted"));
    const shop = await open("shop");
    const hoursMs = 5 * 3_600_000;
    const failing = hooked(shop.engine, commitAt + 1, { before: () => Promise.reject(new Error("killed")) });
    await assert.rejects(bring({ ...nodeOf(shop, hoursMs), engine: failing }, shop), /killed/);
    const due = await shop.engine.shopsWithDueRows(systemClock.now());
    assert.ok(
      due.some((each) => each.shopId === "shop"),
      JSON.stringify(due),
    );
    // Its node may still be at work.
    await recoverImports(nodeOf(shop), "shop", among);
    assert.ok((await variantsOf(shop)) < records.length);
    await recoverImports(nodeOf(shop, 61_000), "shop", among);
    assert.equal(await variantsOf(shop), records.length);
    await assertSwept(shop);
  }));

test("a node that stops while it applies an import releases it, and another goes on at once", () =>
  withShops(async (open) => {
    const { commitAt } = await writesOf(await open("counted"));
    const shop = await open("shop");
    const failing = hooked(shop.engine, commitAt + 1, { before: () => Promise.reject(new Error("killed")) });
    await assert.rejects(bring({ ...here(shop), engine: failing }, shop), /killed/);
    const stop = new AbortController();
    // It takes over, applies a chunk, and is told to stop.
    const stopping = hooked(shop.engine, 2, { before: async () => stop.abort() });
    const first = { ...nodeOf(shop, longMs), engine: stopping };
    await recoverImports(first, "shop", { ...among, signal: stop.signal });
    const half = await variantsOf(shop);
    assert.ok(half > 0 && half < records.length, `${half} variants`);
    await recoverImports(nodeOf(shop, longMs), "shop", among);
    assert.equal(await variantsOf(shop), records.length);
    await assertSwept(shop);
  }));

test("a shop that is deleted during an import is gone for the import and for its recovery", () =>
  withShops(async (open) => {
    const { count } = await writesOf(await open("counted"));
    const isGone = (error: unknown): boolean => error instanceof Fault && error.code === "NOT_FOUND";
    for (let at = 1; at <= count; at += 1) {
      const shopId = `gone-${at}`;
      const shop = await open(shopId);
      const engine = hooked(shop.engine, at, { before: () => shop.engine.remove(shopId) });
      await assert.rejects(bring({ ...here(shop), engine }, shop), isGone);
      await assert.rejects(recoverImports(nodeOf(shop, longMs), shopId, among), isGone);
      assert.equal(await shop.engine.exists(shopId), false);
    }
  }));
