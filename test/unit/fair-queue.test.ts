import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import { FairQueue, type FairLimits } from "../../src/store/fair-queue.ts";

/** A queue whose work ends when the test decides. Work is named by its shop and a number: `a1`. */
function queueUnderTest(limits: Partial<FairLimits> = {}) {
  const clock = { nowMs: 1_000, now: () => clock.nowMs };
  const queue = new FairQueue(
    { runningMax: 2, runningPerShopMax: 1, waitingPerShopMax: 100, waitMsMax: 10_000, ...limits },
    "broad reads",
    clock.now,
  );
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const refusals = new Map<string, Fault>();
  const add = (...names: string[]): void => {
    for (const name of names)
      queue
        .run(name.slice(0, 1), () => {
          started.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        })
        .catch((error: unknown) => {
          assert.ok(error instanceof Fault);
          refusals.set(name, error);
        });
  };
  const rounds = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await rounds();
  };
  return { queue, clock, add, end, rounds, started, refusals };
}

test("shops take turns, however many reads one of them has waiting (Q3)", async () => {
  const { add, end, rounds, started } = queueUnderTest({ runningMax: 1 });
  add("a1", "a2", "a3", "a4", "b1", "c1", "b2");
  await rounds();
  for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await end(name);
  assert.deepEqual(started, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
});

test("one shop leaves a place to the others (Q4)", async () => {
  const { queue, add, end, rounds, started } = queueUnderTest();
  add("a1", "a2", "a3");
  await rounds();
  assert.deepEqual(started, ["a1"]);
  assert.equal(queue.waiting, 2);
  add("b1");
  await rounds();
  assert.deepEqual(started, ["a1", "b1"]);
  await end("b1");
  assert.deepEqual(started, ["a1", "b1"], "the free place is not a second one for the same shop");
  await end("a1");
  assert.deepEqual(started, ["a1", "b1", "a2"]);
});

test("a shop with too much waiting is refused, and told how long that is likely to take (Q4)", async () => {
  const { clock, add, end, rounds, started, refusals } = queueUnderTest({ waitingPerShopMax: 3 });
  add("a1");
  await rounds();
  clock.nowMs += 2_000;
  await end("a1");
  add("a2", "a3", "a4", "a5", "a6", "b1");
  await rounds();
  assert.deepEqual([...refusals.keys()], ["a6"]);
  assert.equal(refusals.get("a6")?.code, "DO_OVERLOADED");
  assert.equal(refusals.get("a6")?.retryAfterMs, 6_000, "three wait, and a run takes two seconds");
  assert.deepEqual(started, ["a1", "a2", "b1"], "another shop is not refused");
});

test("what waits for too long is refused and never run (Q4)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { clock, add, end, rounds, started, refusals } = queueUnderTest({ waitMsMax: 10_000 });
  add("a1", "a2");
  await rounds();
  clock.nowMs += 10_000;
  t.mock.timers.tick(10_000);
  await rounds();
  assert.deepEqual([...refusals.keys()], ["a2"]);
  await end("a1");
  assert.deepEqual(started, ["a1"]);
});

test("work that fails passes its error on and frees its place", async () => {
  const { queue, add, rounds, started } = queueUnderTest({ runningMax: 1 });
  await assert.rejects(
    queue.run("a", () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  add("b1");
  await rounds();
  assert.deepEqual(started, ["b1"]);
});
