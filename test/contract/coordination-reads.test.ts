/** Calls of the coordination that share a round trip with a read or a write of the shop, and a caller that is remembered, on both engines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type BucketReading, takeToken, type TokenBucket } from "../../src/core/access/rate-limit.ts";
import { SharedPeeks } from "../../src/requests/remembered/shared-peeks.ts";
import type { Engine, KeyClaim, Statement } from "../../src/store/store.ts";
import { inPlace, openStore, type Store } from "../support/store.ts";
import { startServer } from "../support/server.ts";
import { addLocation, locationIds } from "./engine-suite.ts";

const limit = { capacity: 3, refillPerSecond: 2 };
const nowMs = 1_700_000_000_000;
const run: KeyClaim = { kind: "run", fingerprint: "f" };

const withStore = (use: (store: Store) => Promise<void>): Promise<void> =>
  inPlace(async (directory) => {
    const store = await openStore(directory);
    try {
      await store.engine.create("a");
      await use(store);
    } finally {
      await store.close();
    }
  });

const location = (locationId: string): Statement => ({
  sql: "select 1 as found from location where shop_id = ? and location_id = ?",
  params: ["a", locationId],
});
const add = (engine: Engine, locationId: string): Promise<void> =>
  engine.write("a", (tx) => tx.batch([addLocation("a", locationId, "x")]));

test("a token is taken only if the shop has the row that is asked for, and never more often than there are tokens", () =>
  withStore(async ({ engine, coordination }) => {
    const take = async (locationId: string) => {
      const asked = { when: location(locationId), count: 1 };
      const [reading] = await engine.peek("a", (tx) => coordination.takeTokensWhen("a", limit, nowMs, asked, tx));
      return reading ?? null;
    };
    assert.equal(await take("l1"), null);
    assert.equal((await coordination.peekTokens("a", limit, nowMs)).remaining, 3);
    await add(engine, "l1");
    const taken = await Promise.all(Array.from({ length: 8 }, () => take("l1")));
    assert.equal(taken.filter((reading) => reading?.retryAfterMs === null).length, 3);
    assert.equal(await take("l2"), null, "an empty bucket is not told to those without the row");
    await assert.rejects(
      engine.peek("none", (tx) =>
        coordination.takeTokensWhen("none", limit, nowMs, { when: location("l1"), count: 1 }, tx),
      ),
      { code: "NOT_FOUND" },
    );
  }));

test("tokens that are taken together are told as if they were taken one after another, also when there are too few", () =>
  withStore(async ({ engine, coordination }) => {
    await engine.create("b");
    await add(engine, "l1");
    const take = (count: number, atMs: number, locationId = "l1") =>
      engine.peek("a", (tx) =>
        coordination.takeTokensWhen("a", limit, atMs, { when: location(locationId), count }, tx),
      );
    let bucket: TokenBucket | null = null;
    let atMs = nowMs;
    for (const [count, laterMs] of [
      [2, 0],
      [4, 0],
      [2, 700],
      [1, 0],
      [3, 1_200],
      [5, 60_000],
    ] as const) {
      atMs += laterMs;
      const expected: BucketReading[] = [];
      for (let each = 0; each < count; each += 1) {
        const taken = takeToken(bucket, limit, atMs);
        bucket = taken.bucket;
        expected.push(taken.reading);
      }
      assert.deepEqual(await take(count, atMs), expected);
    }
    assert.deepEqual(await take(2, atMs, "l2"), [null, null]);
    assert.equal((await coordination.peekTokens("a", limit, atMs)).remaining, 0);
    const first = { when: { sql: "select 1 as found where ? = 1", params: [1] }, count: 4 };
    const told = await engine.peek("b", (tx) => coordination.takeTokensWhen("b", limit, nowMs, first, tx));
    assert.deepEqual(
      told.map((reading) => [reading?.remaining, reading?.retryAfterMs]),
      [
        [2, null],
        [1, null],
        [0, null],
        [0, 500],
      ],
      "more than a bucket holds, of a bucket that is new",
    );
  }));

test("tokens that one read takes under several conditions are taken one after another, of those whose row is there", () =>
  withStore(async ({ engine, coordination }) => {
    await add(engine, "l1");
    await add(engine, "l3");
    const told = await engine.peek("a", (tx) =>
      Promise.all(
        ["l1", "l2", "l3", "l1"].map((locationId) =>
          coordination.takeTokensWhen("a", limit, nowMs, { when: location(locationId), count: 1 }, tx),
        ),
      ),
    );
    assert.deepEqual(
      told.map(([reading]) => reading?.remaining ?? null),
      [2, null, 1, 0],
    );
    assert.equal((await coordination.peekTokens("a", limit, nowMs)).remaining, 0);
  }));

test("a claim that shares its peek with others is told that there is no such shop", () =>
  withStore(async ({ engine, coordination }) => {
    const shared = new SharedPeeks(engine);
    const claims = ["k", "l"].map((scope) =>
      shared.peek("none", (tx) => coordination.claimKey("none", scope, run, tx)),
    );
    for (const claim of claims) await assert.rejects(claim, { code: "NOT_FOUND" });
  }));

test("a read that claims a key sees what was stored before; of simultaneous claims one gets it", () =>
  withStore(async ({ engine, coordination }) => {
    const claim = () =>
      engine.peek("a", async (tx) => {
        const [holder, ids] = await Promise.all([coordination.claimKey("a", "k", run, tx), locationIds(tx, "a")]);
        return { holder, ids };
      });
    for (let round = 1; round <= 5; round += 1) {
      await add(engine, `l${round}`);
      const claims = await Promise.all(Array.from({ length: 4 }, claim));
      assert.equal(claims.filter(({ holder }) => holder === null).length, 1);
      assert.ok(claims.every(({ ids }) => ids.length === round));
      assert.deepEqual((await claim()).holder, run);
      await coordination.releaseKey("a", "k");
    }
  }));

test("a key is given back with the commit of a write, and kept when the write fails", () =>
  withStore(async ({ engine, coordination }) => {
    await coordination.claimKey("a", "k", run);
    const release = coordination.releaseKeyWith("a", "k");
    const failing = engine.write("a", async (tx) => {
      await tx.batch(release.statements);
      throw new Error("no");
    });
    await assert.rejects(failing, /no/);
    assert.equal(await coordination.holdsKey("a", "k"), true);
    await engine.write("a", async (tx) => {
      assert.equal(await coordination.holdsKey("a", "k", tx), true);
      await tx.batch([addLocation("a", "l1", "x"), ...release.statements]);
    });
    release.done();
    assert.equal(await coordination.claimKey("a", "k", run), null);
    // What was given back late does not end the later claim.
    release.done();
    assert.deepEqual(await coordination.claimKey("a", "k", run), run);
    assert.deepEqual(coordination.releaseKeyWith("a", "other").statements, []);
  }));

test("what is known of a caller counts only as long as the shop's rows say so", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 50, refillPerSecond: 0.001 } } });
  const { shopId, engine } = server;
  const list = (key: string) => server.get("/api/v1/purchase-orders", { key });
  const { keyId, apiKey } = await server.addKey("read");
  for (const remaining of [49, 48, 47])
    assert.match(String((await list(apiKey)).headers["ratelimit"]), new RegExp(`r=${remaining};`));

  await server.changeShop({ rateLimit: { capacity: 20, refillPerSecond: 0.001 } });
  assert.match(String((await list(apiKey)).headers["ratelimit-policy"]), /q=20;/);
  assert.match(String((await list(apiKey)).headers["ratelimit"]), /r=18;/);

  await server.changeShop({ planRestApi: false });
  assert.equal((await list(apiKey)).at("error", "code"), "PLAN_REQUIRED");
  await server.changeShop({ planRestApi: true });
  assert.equal((await list(apiKey)).status, 200);

  const revoke = (atMs: number | null) =>
    engine.write(shopId, (tx) =>
      tx.batch([
        { sql: "update api_key set revoked_at = ? where shop_id = ? and key_id = ?", params: [atMs, shopId, keyId] },
      ]),
    );
  await revoke(1);
  assert.equal((await list(apiKey)).at("error", "code"), "UNAUTHORIZED");
  await revoke(null);
  assert.match(String((await list(apiKey)).headers["ratelimit"]), /r=16;/, "refusals have taken no token");
});

test("a replay takes no token, whatever is known of its caller", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 3, refillPerSecond: 0.001 } } });
  const create = (key: string) => server.post("/api/v1/purchase-orders", {}, { headers: { "Idempotency-Key": key } });
  for (const remaining of [2, 1, 0])
    assert.match(String((await create(`k${remaining}`)).headers["ratelimit"]), new RegExp(`r=${remaining};`));
  assert.equal((await create("k")).status, 429);
  for (const remaining of [2, 1, 0]) {
    const replayed = await create(`k${remaining}`);
    assert.deepEqual([replayed.status, replayed.headers["idempotent-replayed"]], [201, "true"]);
  }
});
