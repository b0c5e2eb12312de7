import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type BucketLimit,
  clocksApartMsMax,
  giveToken,
  limitInMillionths,
  readBucket,
  takeToken,
  type TokenBucket,
} from "../../src/core/access/rate-limit.ts";

test("a burst up to the capacity passes, then one call per refilled token", () => {
  const limit: BucketLimit = { capacity: 2, refillPerSecond: 4 };
  const rows: readonly (readonly [
    atMs: number,
    remaining: number,
    resetAfterMs: number,
    retryAfterMs: number | null,
  ])[] = [
    [0, 1, 250, null],
    [0, 0, 500, null],
    [0, 0, 500, 250],
    [249, 0, 251, 1],
    [250, 0, 500, null],
    [250, 0, 500, 250],
    [100, 0, 500, 250], // The clock went back: nothing is refilled, nor twice after it has caught up.
    [500, 0, 500, null],
    [10_000, 1, 250, null],
  ];
  let bucket: TokenBucket | null = null;
  for (const [atMs, remaining, resetAfterMs, retryAfterMs] of rows) {
    const taken: ReturnType<typeof takeToken> = takeToken(bucket, limit, atMs);
    assert.deepEqual(taken.reading, { remaining, resetAfterMs, retryAfterMs }, `at ${atMs}`);
    bucket = taken.bucket;
  }
});

test("a clock that is set back by an hour locks nobody out and gives nothing away", () => {
  const limit: BucketLimit = { capacity: 2, refillPerSecond: 4 };
  const hour = 3_600_000;
  let bucket: TokenBucket | null = null;
  const remainingAt = (atMs: number): readonly [remaining: number, retryAfterMs: number | null] => {
    const taken: ReturnType<typeof takeToken> = takeToken(bucket, limit, atMs);
    bucket = taken.bucket;
    return [taken.reading.remaining, taken.reading.retryAfterMs];
  };
  assert.deepEqual(remainingAt(hour), [1, null]);
  assert.deepEqual(remainingAt(hour), [0, null]);
  assert.deepEqual(remainingAt(0), [0, 250]);
  assert.deepEqual(remainingAt(250), [0, null]);
  assert.deepEqual(remainingAt(250), [0, 250]);
});

test("a changed limit applies from the next call", () => {
  const { bucket } = takeToken(null, { capacity: 100, refillPerSecond: 1 }, 0);
  assert.equal(readBucket(bucket, { capacity: 5, refillPerSecond: 1 }, 0).remaining, 5);
  assert.equal(readBucket(bucket, { capacity: 200, refillPerSecond: 1 }, 0).remaining, 99);
  assert.equal(readBucket(bucket, { capacity: 200, refillPerSecond: 50 }, 100).remaining, 104);
});

test("a clock that is behind by clocksApartMsMax is another node's; behind by more, the bucket was ahead", () => {
  const limit: BucketLimit = { capacity: 2, refillPerSecond: 4 };
  const [tenth, apart] = [100, clocksApartMsMax];
  const empty: TokenBucket = { level: 0, atMs: tenth + apart };
  const within = takeToken(empty, limit, tenth).bucket;
  assert.equal(within.atMs, tenth + apart, "what that node has refilled is not refilled again");
  assert.equal(takeToken(empty, limit, tenth - 1).bucket.atMs, tenth - 1);
});

test("a token that is given back can be taken again, and never more than the bucket holds", () => {
  const limit: BucketLimit = { capacity: 3, refillPerSecond: 4 };
  const taken = takeToken(takeToken(null, limit, 0).bucket, limit, 0).bucket;
  const given = giveToken(taken, limit, 0);
  assert.deepEqual(given.reading, { remaining: 2, resetAfterMs: 250, retryAfterMs: null });
  assert.deepEqual(readBucket(given.bucket, limit, 0), given.reading);
  assert.deepEqual(giveToken(taken, limit, 125).reading, { remaining: 2, resetAfterMs: 125, retryAfterMs: null });
  const full = { remaining: 3, resetAfterMs: 0, retryAfterMs: null };
  assert.deepEqual(giveToken(given.bucket, limit, 125).reading, full);
  assert.deepEqual(giveToken(null, limit, 0).reading, full);
  const refused = takeToken({ level: 0, atMs: 0 }, limit, 0);
  assert.deepEqual(giveToken(refused.bucket, limit, 0).reading, {
    remaining: 1,
    resetAfterMs: 500,
    retryAfterMs: null,
  });
});

test("a limit in millionths is what a bucket holds, and what a millisecond adds", () => {
  const limit: BucketLimit = { capacity: 3, refillPerSecond: 0.125 };
  assert.deepEqual(limitInMillionths(limit), { levelMax: 3_000_000, refillPerMs: 125 });
  assert.deepEqual(
    readBucket({ level: 999_875, atMs: 0 }, limit, 1),
    readBucket({ level: 1_000_000, atMs: 1 }, limit, 1),
  );
});

test("a bucket that is read tells no wait when it has exactly one token", () => {
  const limit: BucketLimit = { capacity: 3, refillPerSecond: 1 };
  assert.equal(readBucket({ level: 1_000_000, atMs: 0 }, limit, 0).retryAfterMs, null);
  assert.equal(readBucket({ level: 999_999, atMs: 0 }, limit, 0).retryAfterMs, 1);
});

test("a bucket is full after the wait that is told, and not a millisecond before", () => {
  const limit: BucketLimit = { capacity: 3, refillPerSecond: 3 };
  const { bucket, reading } = takeToken(null, limit, 0);
  assert.deepEqual(reading, { remaining: 2, resetAfterMs: 334, retryAfterMs: null });
  assert.equal(readBucket(bucket, limit, 333).remaining, 2);
  assert.equal(readBucket(bucket, limit, 334).remaining, 3);
});

const limits = fc.record({
  capacity: fc.integer({ min: 1, max: 1_000 }),
  refillPerSecond: fc.integer({ min: 1, max: 5_000_000 }).map((thousandths) => thousandths / 1_000),
});

test("the bucket matches exact fractions over any calls, and its Retry-After is the shortest sufficient wait", () => {
  fc.assert(
    fc.property(limits, fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 }), (limit, pauses) => {
      // The reference counts millionths of a token in BigInt: level = min(capacity, level + elapsed × rate) − 1.
      const unit = 1_000_000n;
      const ratePerMs = BigInt(Math.round(limit.refillPerSecond * 1_000));
      const full = BigInt(limit.capacity) * unit;
      let level = full;
      let bucket: TokenBucket | null = null;
      let atMs = 1_700_000_000_000;
      for (const pause of pauses) {
        atMs += pause;
        level = level + BigInt(pause) * ratePerMs;
        if (level > full) level = full;
        const granted = level >= unit;
        if (granted) level -= unit;
        const taken: ReturnType<typeof takeToken> = takeToken(bucket, limit, atMs);
        bucket = taken.bucket;
        assert.equal(taken.reading.retryAfterMs === null, granted);
        assert.equal(taken.reading.remaining, Number(level / unit));
        const { retryAfterMs, resetAfterMs } = taken.reading;
        if (retryAfterMs !== null) {
          assert.equal(readBucket(bucket, limit, atMs + retryAfterMs).retryAfterMs, null);
          assert.notEqual(readBucket(bucket, limit, atMs + retryAfterMs - 1).retryAfterMs, null);
        }
        assert.equal(readBucket(bucket, limit, atMs + resetAfterMs).resetAfterMs, 0);
      }
    }),
  );
});
