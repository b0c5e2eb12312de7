/** The tests that every Coordination must pass: one token bucket per shop, one holder per key in flight. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Coordination, KeyClaim } from "../../src/store/store.ts";

/** Runs `use` with a new, empty Coordination, and closes it afterwards. */
export type Prepare = (use: (coordination: Coordination) => Promise<void>) => Promise<void>;

/** `many`: more shops than an implementation keeps in memory. */
export function coordinationSuite(name: string, prepare: Prepare, many: number): void {
  const limit = { capacity: 3, refillPerSecond: 2 };
  const startMs = 1_700_000_000_000;
  const coordinationTest = (rule: string, body: (coordination: Coordination) => Promise<void>): void => {
    test(`${name}: ${rule}`, () => prepare(body));
  };

  coordinationTest(
    "a shop that has spent its tokens gets the next one exactly after the announced time",
    async (coordination) => {
      const take = (nowMs: number) => coordination.takeToken("a", limit, nowMs);
      assert.deepEqual(await coordination.peekTokens("a", limit, startMs), {
        remaining: 3,
        resetAfterMs: 0,
        retryAfterMs: null,
      });
      for (const remaining of [2, 1, 0]) {
        const state = await take(startMs);
        assert.deepEqual([state.remaining, state.retryAfterMs], [remaining, null]);
      }
      assert.deepEqual(await take(startMs), { remaining: 0, resetAfterMs: 1_500, retryAfterMs: 500 });
      assert.equal((await take(startMs + 499)).retryAfterMs, 1);
      assert.equal((await take(startMs + 500)).retryAfterMs, null);
      assert.equal((await take(startMs + 500)).retryAfterMs, 500);
    },
  );

  coordinationTest("a clock that is set back by an hour locks nobody out", async (coordination) => {
    const hourMs = 3_600_000;
    for (let call = 0; call < 3; call += 1) await coordination.takeToken("a", limit, startMs + hourMs);
    assert.equal((await coordination.takeToken("a", limit, startMs)).retryAfterMs, 500);
    assert.equal((await coordination.takeToken("a", limit, startMs + 500)).retryAfterMs, null);
  });

  coordinationTest("peeking takes no token, and shops do not share a bucket", async (coordination) => {
    await coordination.takeToken("a", limit, startMs);
    for (let look = 0; look < 5; look += 1)
      assert.equal((await coordination.peekTokens("a", limit, startMs)).remaining, 2);
    assert.equal((await coordination.peekTokens("b", limit, startMs)).remaining, 3);
  });

  coordinationTest(
    "a token that is given back can be taken again, and a bucket never overflows",
    async (coordination) => {
      assert.equal((await coordination.giveToken("a", limit, startMs)).remaining, 3);
      for (let call = 0; call < 4; call += 1) await coordination.takeToken("a", limit, startMs);
      assert.equal((await coordination.giveToken("a", limit, startMs)).remaining, 1);
      assert.equal((await coordination.takeToken("a", limit, startMs)).retryAfterMs, null);
      assert.equal((await coordination.takeToken("a", limit, startMs)).retryAfterMs, 500);
      assert.equal((await coordination.giveToken("a", limit, startMs + 60_000)).remaining, 3);
    },
  );

  coordinationTest("of simultaneous calls, exactly as many succeed as there are tokens", async (coordination) => {
    const states = await Promise.all(Array.from({ length: 20 }, () => coordination.takeToken("a", limit, startMs)));
    assert.equal(states.filter((state) => state.retryAfterMs === null).length, 3);
  });

  coordinationTest("a bucket keeps its level after many other shops have been served", async (coordination) => {
    const slow = { capacity: 1, refillPerSecond: 0.001 };
    await coordination.takeToken("slow", slow, startMs);
    for (let start = 0; start < many; start += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          coordination.takeToken(`s${start + index}`, limit, startMs + start + index),
        ),
      );
    assert.equal((await coordination.takeToken("slow", slow, startMs + many)).retryAfterMs, 1_000_000 - many);
    assert.equal((await coordination.peekTokens("s0", limit, startMs + 2_000 + many)).remaining, 3);
  });

  coordinationTest(
    "a key has one holder, and the next request learns which request holds it and why",
    async (coordination) => {
      const claim = (shopId: string, scope: string, fingerprint: string, kind: KeyClaim["kind"] = "run") =>
        coordination.claimKey(shopId, scope, { kind, fingerprint });
      const claims = await Promise.all(["first", "second", "third"].map((each) => claim("a", "key_1 x", each)));
      const first: KeyClaim = { kind: "run", fingerprint: "first" };
      assert.deepEqual(claims, [null, first, first]);
      assert.equal(await claim("a", "key_2 x", "other", "replay"), null);
      assert.equal(await claim("b", "key_1 x", "other"), null);
      assert.equal(await coordination.holdsKey("a", "key_1 x"), true);
      assert.equal(await coordination.holdsKey("a", "key_3 x"), false);
      assert.equal(await coordination.takeOverKey("a", "key_1 x", "first"), false, "its holder runs");
      assert.equal(await coordination.takeOverKey("a", "key_3 x", "first"), false, "nobody holds it");
      assert.equal(await coordination.holdsKey("a", "key_1 x"), true);
      await coordination.releaseKey("a", "key_1 x");
      await coordination.releaseKey("a", "key_1 x");
      assert.equal(await coordination.holdsKey("a", "key_1 x"), false);
      assert.equal(await claim("a", "key_1 x", "fourth"), null);
      assert.deepEqual(await claim("b", "key_1 x", "fifth"), { kind: "run", fingerprint: "other" });
      assert.deepEqual(await claim("a", "key_2 x", "sixth"), { kind: "replay", fingerprint: "other" });
    },
  );
}
