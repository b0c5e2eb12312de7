import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { ShopQueue, type QueueLimits } from "../../src/store/queue.ts";
import { until } from "../support/until.ts";

interface Write {
  readonly name: number;
  refuse(fault: Fault): void;
}

/** A queue whose turns end when the test decides. */
function queueUnderTest(limits: QueueLimits, groupLengthMax = 3, gate?: (waitedMs: number) => Promise<void> | null) {
  const clock = { nowMs: 1_000, now: () => clock.nowMs };
  const turns: { readonly names: readonly number[]; readonly end: (left?: number) => void }[] = [];
  const refusals = new Map<number, Fault>();
  const depth = { waiting: 0 };
  const queue = new ShopQueue<Write>({
    limits,
    groupLengthMax,
    elapsedMs: clock.now,
    depth,
    ...(gate === undefined ? {} : { gate }),
    turn: (group) =>
      new Promise((resolve) => {
        turns.push({ names: group.map((write) => write.name), end: (left = 0) => resolve(left) });
      }),
  });
  const add = (...names: number[]): void => {
    for (const name of names) queue.add({ name, refuse: (fault) => void refusals.set(name, fault) });
  };
  const eventLoop = async (rounds = 3): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, clock, turns, refusals, depth, add, eventLoop };
}

const generous = { lengthMax: 100, waitMsMax: 10_000 };

test("writes that arrive together share a turn, in order, up to the group's limit; the next turn waits for the end of one", async () => {
  const { queue, turns, add, eventLoop } = queueUnderTest(generous);
  assert.equal(queue.idle, true);
  add(1, 2, 3, 4, 5);
  assert.equal(turns.length, 0, "the turn comes when the event loop goes round");
  await eventLoop();
  assert.deepEqual(
    turns.map((turn) => turn.names),
    [[1, 2, 3]],
  );
  add(6);
  await eventLoop();
  assert.equal(turns.length, 1);
  turns[0]?.end();
  await eventLoop();
  assert.deepEqual(turns[1]?.names, [4, 5, 6]);
  assert.equal(queue.idle, false);
  const idle = queue.untilIdle();
  turns[1]?.end();
  await idle;
  assert.equal(queue.idle, true);
});

test("a full queue refuses at once; the running group does not count", async () => {
  const { queue, add, turns, eventLoop } = queueUnderTest({ lengthMax: 3, waitMsMax: 10_000 });
  add(1, 2, 3);
  assert.throws(() => add(4), { code: "DO_OVERLOADED" });
  assert.throws(() => queue.admit(), { code: "DO_OVERLOADED" });
  await eventLoop();
  assert.equal(turns.length, 1);
  queue.admit();
  add(5, 6, 7);
  assert.throws(() => add(8), { code: "DO_OVERLOADED" });
});

test("the depth counts writes that wait: neither those that run nor those that were refused", async () => {
  const { queue, clock, depth, turns, add, eventLoop } = queueUnderTest({ lengthMax: 10, waitMsMax: 10_000 });
  add(1, 2, 3, 4);
  assert.equal(depth.waiting, 4);
  await eventLoop();
  assert.equal(depth.waiting, 1);
  turns[0]?.end(2);
  assert.deepEqual([await eventLoop(), turns[1]?.names, depth.waiting], [undefined, [2, 3, 4], 0]);
  add(5, 6);
  clock.nowMs += 20_000;
  turns[1]?.end();
  await eventLoop();
  assert.equal(depth.waiting, 0, "they were refused for their age");
  add(7);
  await eventLoop();
  add(8, 9);
  queue.refuseAll(new Fault("DO_UNAVAILABLE", "closing", { retryAfterMs: 1 }));
  assert.equal(depth.waiting, 0);
});

test("a refusal's Retry-After is the current wait in the queue", async () => {
  const { clock, turns, add, eventLoop } = queueUnderTest({ lengthMax: 3, waitMsMax: 10_000 });
  const toldWaitMs = (): number | null => {
    try {
      add(0);
    } catch (error) {
      assert.ok(error instanceof Fault);
      return error.retryAfterMs;
    }
    return null;
  };
  add(1, 2, 3);
  assert.equal(toldWaitMs(), 100, "nobody has waited yet: the least that is worth telling");
  await eventLoop();
  add(4, 5, 6);
  clock.nowMs += 2_500;
  assert.equal(toldWaitMs(), 2_500, "the head of the line has waited that long");
  turns[0]?.end();
  await eventLoop();
  add(7, 8, 9);
  assert.equal(toldWaitMs(), 2_500, "the latest turn came after that long");
  clock.nowMs += 60_000;
  assert.equal(toldWaitMs(), 10_000, "nobody waits longer than that");
});

test("a write that has waited too long for its turn is refused and not run", async () => {
  const { clock, turns, refusals, add, eventLoop } = queueUnderTest(generous);
  add(1);
  await eventLoop();
  add(2);
  clock.nowMs += 1;
  add(3);
  clock.nowMs += 9_999;
  turns[0]?.end();
  await eventLoop();
  assert.deepEqual([...refusals.keys()], [2]);
  assert.equal(refusals.get(2)?.code, "DO_OVERLOADED");
  assert.deepEqual(turns[1]?.names, [3]);
});

test("behind a turn that does not end, waiting writes are refused when their time limit is reached", async () => {
  const limits = { lengthMax: 100, waitMsMax: 30 };
  const { clock, turns, refusals, add, eventLoop } = queueUnderTest(limits);
  add(1);
  await eventLoop();
  add(2);
  clock.nowMs += 40;
  await until("what waits is refused", () => refusals.size > 0);
  assert.deepEqual([...refusals.keys()], [2]);
  turns[0]?.end();
  await eventLoop();
  assert.equal(turns.length, 1);
});

test("refusing all refuses the waiting writes and lets the running group end", async () => {
  const { queue, turns, refusals, add, eventLoop } = queueUnderTest(generous);
  add(1);
  await eventLoop();
  add(2, 3);
  queue.refuseAll(new Fault("NOT_FOUND", "gone"));
  assert.deepEqual([...refusals.keys()], [2, 3]);
  turns[0]?.end();
  await queue.untilIdle();
  assert.equal(turns.length, 1);
});

test("writes that a turn leaves come first in the next, in their order (Q1)", async () => {
  const { turns, add, eventLoop } = queueUnderTest(generous);
  add(1, 2, 3, 4);
  await eventLoop();
  add(5);
  turns[0]?.end(2);
  await eventLoop();
  assert.deepEqual(turns[1]?.names, [2, 3, 4]);
  turns[1]?.end();
  await eventLoop();
  assert.deepEqual(turns[2]?.names, [5]);
});

test("a turn begins when its shop may hold the event loop; a write that has waited for half of its time gives way no longer", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let opens: (() => void)[] = [];
  const { clock, turns, refusals, add, eventLoop } = queueUnderTest(
    generous,
    3,
    () => new Promise((resolve) => void opens.push(resolve)),
  );
  const open = async (): Promise<void> => {
    for (const opened of opens.splice(0)) opened();
    await eventLoop();
  };
  add(1, 2);
  await eventLoop();
  assert.equal(turns.length, 0);
  add(3);
  await open();
  assert.deepEqual(turns[0]?.names, [1, 2, 3], "what came meanwhile shares the turn");

  add(4);
  clock.nowMs += 5_001;
  turns[0]?.end();
  await eventLoop();
  assert.deepEqual(turns[1]?.names, [4]);
  assert.equal(opens.length, 0, "the gate was not asked");
  turns[1]?.end();

  add(5);
  await eventLoop();
  clock.nowMs += 10_000;
  t.mock.timers.tick(10_000);
  await eventLoop();
  assert.deepEqual([...refusals.keys()], [5], "the limit on a wait holds before the gate too");
  opens = [];
});

test("the gate is told how long the oldest write has waited", async () => {
  const waits: number[] = [];
  const { clock, turns, add, eventLoop } = queueUnderTest(generous, 3, (waitedMs) => {
    waits.push(waitedMs);
    return null;
  });
  add(1);
  await eventLoop();
  add(2);
  clock.nowMs += 70;
  add(3);
  clock.nowMs += 30;
  turns[0]?.end();
  await eventLoop();
  assert.deepEqual(waits, [0, 100]);
});
