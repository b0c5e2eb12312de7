import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { readBucket, takeToken, type BucketLimit, type TokenBucket } from "../../src/core/rate-limit.ts";

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
