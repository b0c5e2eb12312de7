import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Admission,
  retryAfterMsMax,
  retryAfterMsMin,
  RetryTimes,
  startsWaitingMin,
  startWaitMsMax,
} from "../../src/http/node/admission.ts";
import { defaultSettings } from "../../src/shop/access/accounts.ts";

/** A process that starts so many requests in a second, at the time that the test has reached. */
function processUnderTest(startsPerSecond: number) {
  const admission = new Admission();
  let nowMs = 5_000;
  const pass = (ms: number): void => {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 1_000 / startsPerSecond) admission.started(nowMs);
  };
  pass(2_000);
  return {
    pass,
    ask: (waiting: number, oldestWaitMs: number) => admission.refuses({ waiting, oldestWaitMs }, nowMs),
    refused: () => admission.refusedTotal,
  };
}

test("a request is refused only when another has waited for too long and many wait (H13)", () => {
  const { ask, refused } = processUnderTest(100);
  assert.equal(ask(100_000, startWaitMsMax), null);
  assert.equal(ask(startsWaitingMin - 1, 60_000), null);
  assert.equal(refused(), 0);
  assert.notEqual(ask(startsWaitingMin, startWaitMsMax + 1), null);
  assert.equal(refused(), 1);
});

test("what the default rate limit lets a shop ask at once may wait for any time (H13)", () => {
  assert.ok(startsWaitingMin > defaultSettings.rateLimit.capacity);
});

test("refused requests are retried when those before them have started, one after another at the rate of starts (H14)", () => {
  const { ask, pass } = processUnderTest(100);
  const overloaded = () => Math.round(ask(500, 2_000) ?? 0);
  assert.deepEqual([overloaded(), overloaded(), overloaded()], [5_000, 5_010, 5_020]);
  pass(1_000);
  assert.ok(Math.abs(overloaded() - 5_000) <= 20);
});

test("the wait that a refusal asks for is within its limits (H14)", () => {
  const slow = processUnderTest(2);
  assert.equal(slow.ask(100_000, 2_000), retryAfterMsMax);
  assert.equal(slow.ask(100_000, 2_000), retryAfterMsMax);
  const fast = processUnderTest(10_000);
  assert.equal(fast.ask(300, 2_000), retryAfterMsMin);
});

test("refused connections are retried at a steady rate, and at once after a pause", () => {
  const again = new RetryTimes();
  assert.deepEqual(
    [again.next(0, 500), again.next(0, 500), again.next(0, 500)],
    [retryAfterMsMin, retryAfterMsMin + 2, retryAfterMsMin + 4],
  );
  assert.equal(again.next(10_000, 500), retryAfterMsMin);
});
