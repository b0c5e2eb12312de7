/** When an effect is tried again (D11). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dueSearchMs } from "../../src/jobs/due-search.ts";
import { outboxLimits, retryDelayMs } from "../../src/jobs/outbox/limits.ts";
import { claimLeaseMs } from "../../src/operations/purchase-orders/goods/order-claim.ts";
import { StorefrontError } from "../../src/storefront/storefront.ts";

const delays = (random: number): (number | null)[] =>
  [1, 2, 3, 4, 5, 6, 7].map((attempts) => retryDelayMs(outboxLimits, attempts, null, random));

test("the delay doubles with each attempt, up to a limit, and after the last attempt there is none", () => {
  assert.deepEqual(delays(0), [100, 200, 400, 800, 1_600, 3_200, null]);
  const short = { ...outboxLimits, backoffMsMax: 300, attemptsMax: 5 };
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((attempts) => retryDelayMs(short, attempts, null, 0)),
    [100, 200, 300, 300, null],
  );
});

test("at most half of the delay is taken off at random", () => {
  assert.deepEqual(delays(0.5), [75, 150, 300, 600, 1_200, 2_400, null]);
  assert.ok(delays(0.999).every((delay, index) => delay === null || delay >= 50 * 2 ** index));
});

test("a storefront that says how long to wait is not called before", () => {
  const throttled = new StorefrontError("throttled", "slow down", { landed: "no", retryAfterMs: 2_500 });
  assert.equal(retryDelayMs(outboxLimits, 1, throttled, 0), 2_500);
  assert.equal(retryDelayMs(outboxLimits, 6, throttled, 0), 3_200);
  assert.equal(retryDelayMs(outboxLimits, 7, throttled, 0), null);
});

test("a storefront that refuses the credentials is not called again", () => {
  const refused = new StorefrontError("auth", "wrong token", { landed: "no" });
  assert.equal(retryDelayMs(outboxLimits, 1, refused, 0), null);
});

test("what a node that died has claimed is found by another one within 10 s (C38)", () => {
  const searchMsMax = dueSearchMs * 1.5;
  // That of an effect, and that of a call which held the order.
  for (const leaseMs of [outboxLimits.leaseMs, claimLeaseMs]) assert.ok(leaseMs + searchMsMax < 10_000);
});
