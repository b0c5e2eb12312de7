import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { FairQueue, type FairLimits, startsRememberedMax } from "../../src/store/fair-queue.ts";

/** A queue whose work ends when the test decides. Work is named by its shop and a number: `a1`, and `a1?` if it may become unwanted. */
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
  const unwanted = new AbortController();
  const add = (...names: string[]): void => {
    for (const name of names)
      queue
        .run(
          name.slice(0, 1),
          () => {
            started.push(name);
            return new Promise<void>((resolve) => ends.set(name, resolve));
          },
          name.endsWith("?") ? unwanted.signal : null,
        )
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
  return { queue, clock, add, end, rounds, started, refusals, unwanted };
}

test("shops take turns, however many reads one of them has waiting (Q3)", async () => {
  const { add, end, rounds, started } = queueUnderTest({ runningMax: 1 });
  add("a1", "a2", "a3", "a4", "b1", "c1", "b2");
  await rounds();
  for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await end(name);
  assert.deepEqual(started, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
});

test("a shop with one read after another takes turns with those that have many waiting (Q3)", async () => {
  const { add, end, rounds, started } = queueUnderTest({ runningMax: 1 });
  add("a1", "b1", "b2", "b3", "c1");
  await rounds();
  await end("a1");
  add("a2");
  await end("b1");
  add("d1");
  await end("c1");
  add("c2");
  for (const name of ["d1", "a2", "b2", "c2"]) await end(name);
  assert.deepEqual(started, ["a1", "b1", "c1", "d1", "a2", "b2", "c2", "b3"]);
});

test("the latest turns of startsRememberedMax shops are remembered; one that is forgotten counts as new (Q3)", async () => {
  for (const { between, expected } of [
    { between: startsRememberedMax - 2, expected: ["n1", "a1"] },
    { between: startsRememberedMax - 1, expected: ["a1", "n1"] },
  ]) {
    const { queue, add, end, rounds, started } = queueUnderTest({ runningMax: 1 });
    await queue.run("a", () => Promise.resolve());
    for (let index = 0; index < between; index += 1) await queue.run(`shop ${index}`, () => Promise.resolve());
    add("z1");
    await rounds();
    add("a1", "n1");
    for (const name of ["z1", ...expected]) await end(name);
    assert.deepEqual(started, ["z1", ...expected]);
  }
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

test("work waits for any time if it may, and no timer is armed for it (Q4)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { queue, clock, add, end, rounds, started, refusals } = queueUnderTest({
    runningMax: 1,
    waitingPerShopMax: Number.POSITIVE_INFINITY,
    waitMsMax: Number.POSITIVE_INFINITY,
  });
  const timers = t.mock.method(globalThis, "setTimeout");
  add("a1", "a2", "b1");
  await rounds();
  clock.nowMs += 1e12;
  t.mock.timers.tick(2 ** 31);
  await rounds();
  assert.deepEqual([refusals.size, queue.waiting, timers.mock.callCount()], [0, 2, 0]);
  for (const name of ["a1", "b1", "a2"]) await end(name);
  assert.deepEqual(started, ["a1", "b1", "a2"]);
});

test("work that nobody wants any more gives up its place and is never run; what runs or is refused gives up none (Q4)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { queue, clock, add, end, rounds, started, refusals, unwanted } = queueUnderTest({ waitMsMax: 10_000 });
  add("a1?", "a2?", "b1", "b2?");
  await rounds();
  clock.nowMs += 10_000;
  t.mock.timers.tick(10_000);
  await rounds();
  add("a3?", "a4", "b3", "c1?");
  await rounds();
  assert.deepEqual([started, [...refusals.keys()], queue.waiting], [["a1?", "b1"], ["a2?", "b2?"], 4]);
  const gone = new Fault("INVALID_INPUT", "gone");
  unwanted.abort(gone);
  await rounds();
  assert.equal(queue.waiting, 2);
  assert.deepEqual(
    [...refusals].map(([name, fault]) => [name, fault === gone]),
    [
      ["a2?", false],
      ["b2?", false],
      ["a3?", true],
      ["c1?", true],
    ],
  );
  add("a5?");
  await rounds();
  assert.equal(refusals.get("a5?"), gone, "what is unwanted when it is asked for");
  for (const name of ["a1?", "b1", "b3", "a4"]) await end(name);
  assert.deepEqual(started, ["a1?", "b1", "a4", "b3"]);
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
