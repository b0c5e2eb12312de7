import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { caughtUpMsMax, steadyClock } from "../../src/base/time/steady-clock.ts";

/** A machine whose clock can be set. */
function machine(fromMs?: number) {
  const state = { belowMs: 1_700_000_000_000, elapsedMs: 5 };
  const reported: number[] = [];
  const clock = steadyClock({
    below: { now: () => state.belowMs },
    elapsedMs: () => state.elapsedMs,
    ...(fromMs === undefined ? {} : { fromMs }),
    onSetBack: (behindMs) => reported.push(behindMs),
  });
  return {
    clock,
    reported,
    pass: (ms: number): void => {
      state.belowMs += ms;
      state.elapsedMs += ms;
    },
    set: (byMs: number): void => {
      state.belowMs += byMs;
    },
    below: (): number => state.belowMs,
  };
}

test("it tells the machine's time, and follows it forwards at once", () => {
  const { clock, pass, set, below, reported } = machine();
  assert.equal(clock.now(), below());
  pass(1_234);
  assert.equal(clock.now(), below());
  set(caughtUpMsMax * 400);
  assert.equal(clock.now(), below());
  assert.deepEqual(reported, []);
});

test("set back by an hour it goes on at nine tenths of the speed, until the machine's time has caught up", () => {
  const { clock, pass, set, below, reported } = machine();
  const before = clock.now();
  set(-3_600_000);
  pass(1_000);
  assert.equal(clock.now(), before + 900);
  pass(10 * 3_600_000);
  assert.equal(clock.now(), below());
  assert.deepEqual(reported, [3_599_900]);
});

test("set back by more than a day it follows: it was wrong before", () => {
  const { clock, set, below, reported } = machine();
  clock.now();
  set(-caughtUpMsMax - 1);
  assert.equal(clock.now(), below());
  assert.equal(reported.length, 1);
});

test("it does not begin before the time that the last process had reached", () => {
  const { clock, below } = machine(1_700_000_000_000 + 60_000);
  assert.equal(clock.now(), below() + 60_000);
});

test("whatever the machine's clock is set to within a day, time goes on and never back", () => {
  const step = fc.record({ passes: fc.nat({ max: 100_000 }), set: fc.integer({ min: -3_600_000, max: 3_600_000 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const { clock, pass, set } = machine();
      let last = clock.now();
      for (const { passes, set: byMs } of steps) {
        set(byMs);
        pass(passes);
        const now = clock.now();
        assert.ok(now >= last + Math.floor(passes * 0.9) - 1, `${now} after ${last} and ${passes} ms`);
        last = now;
      }
    }),
  );
});
