import assert from "node:assert/strict";
import { test } from "node:test";
import { besideMs, LoopShare } from "../../src/store/loop-share.ts";

/** A loop whose time and rounds the test drives. Steps are named by their shop and a number: `a1`. */
function loopUnderTest() {
  let nowMs = 1_000;
  let rounds: (() => void)[] = [];
  const timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  const loop = new LoopShare({
    now: () => nowMs,
    nextRound: (callback) => void rounds.push(callback),
    after: (ms, callback) => void timers.push({ atMs: nowMs + ms, callback }),
  });
  const begun: string[] = [];
  const ask = (...names: string[]): void => {
    for (const name of names) {
      const turn = loop.waitForShare(name.slice(0, 1));
      if (turn === null) begun.push(name);
      else void turn.then(() => begun.push(name));
    }
  };
  /** The loop goes on so many times. */
  const round = async (count = 1): Promise<void> => {
    for (let done = 0; done < count; done += 1) {
      const due = rounds;
      rounds = [];
      // What a callback promises is over before the next one, as in Node.
      for (const callback of due) {
        callback();
        await new Promise((resolve) => void setImmediate(resolve));
      }
    }
  };
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    for (const { atMs, callback } of timers.splice(0))
      if (atMs <= nowMs) callback();
      else timers.push({ atMs, callback });
    await round(3);
  };
  /** A step of the shop that takes so long. */
  const hold = (shopId: string, ms: number): void => {
    loop.run(shopId, () => {
      nowMs += ms;
    });
  };
  return { loop, ask, round, pass, hold, begun };
}

test("a shop that has held the loop for long begins its next step when the others' requests are over (Q5)", async () => {
  const { loop, ask, round, hold, begun } = loopUnderTest();
  hold("a", 30);
  const left = loop.admit("b");
  ask("a1");
  await round(3);
  assert.deepEqual(begun, []);
  assert.equal(loop.waitedTotal, 1);
  left();
  await round(3);
  assert.deepEqual(begun, ["a1"]);
});

test("a health check belongs to no shop, and every shop that owes gives way to it (Q5)", async () => {
  const { loop, ask, round, hold, begun } = loopUnderTest();
  hold("a", 30);
  const left = loop.admit(null);
  ask("a1", "b1");
  await round(3);
  assert.deepEqual(begun, ["b1"]);
  left();
  await round(3);
  assert.deepEqual(begun, ["b1", "a1"]);
});

test("small steps wait for nobody, nor do the steps of a shop that is alone (Q5)", async () => {
  const { loop, ask, round, hold, begun } = loopUnderTest();
  loop.admit("b");
  hold("a", 9);
  ask("a1");
  assert.deepEqual(begun, ["a1"]);
  hold("c", 9);
  loop.admit("c");
  await round(2);
  hold("b", 5);
  ask("b1");
  assert.deepEqual(begun, ["a1", "b1"]);
  assert.equal(loop.waitedTotal, 0);
});

test("time pays back what a shop owes, so others cannot stop it: it has as much of the loop as they leave and half of what they take (Q5)", async () => {
  const { loop, ask, pass, round, hold, begun } = loopUnderTest();
  loop.admit("b");
  hold("a", 60);
  ask("a1");
  await round(3);
  await pass(49);
  assert.deepEqual(begun, []);
  await pass(1);
  assert.deepEqual(begun, ["a1"]);
});

test("what a shop owes has a limit, and so has the wait of its next step (Q5)", async () => {
  const { loop, ask, pass, round, hold, begun } = loopUnderTest();
  loop.admit("b");
  hold("a", 60_000);
  ask("a1");
  await round(3);
  await pass(239);
  assert.deepEqual(begun, []);
  await pass(1);
  assert.deepEqual(begun, ["a1"]);
});

test("of the shops that owe, the one that owes least comes first, and each only gives way to those that owe less (Q5, Q6)", async () => {
  const { loop, ask, round, begun } = loopUnderTest();
  for (const [shopId, ms] of [
    ["a", 90],
    ["b", 60],
    ["c", 30],
  ] as const) {
    loop.admit(shopId);
    loop.held(shopId, ms);
  }
  ask("a1", "b1", "c1");
  await round(12);
  assert.deepEqual(begun, ["c1"], "of the others, each still has a request of one that owes less beside it");
});

test("steps that wait begin one after another, and after a long one the loop takes in what has arrived (Q6)", async () => {
  const { loop, ask, round, hold, begun } = loopUnderTest();
  hold("a", 30);
  ask("a1", "a2", "a3");
  assert.deepEqual(begun, [], "the loop has been held for long in this round");
  await round(2);
  assert.deepEqual(begun, ["a1"]);
  await round();
  assert.deepEqual(begun, ["a1", "a2"], "a short step was followed by the next");
  hold("a", 30);
  await round();
  assert.deepEqual(begun, ["a1", "a2"], "a long one was not");
  const left = loop.admit("b");
  await round(5);
  assert.deepEqual(begun, ["a1", "a2"], "what arrived in between goes first");
  left();
  await round(2);
  assert.deepEqual(begun, ["a1", "a2", "a3"]);
});

test("many shops that owe nothing hold the loop for one round's time together, and begin in the order in which they asked (Q6)", async () => {
  const { loop, ask, round, hold, begun } = loopUnderTest();
  hold("a", 6);
  hold("b", 6);
  const step = async (shopId: string): Promise<void> => {
    await loop.waitForShare(shopId);
    begun.push(shopId);
    hold(shopId, 6);
  };
  for (const shopId of ["c", "d", "e", "f"]) void step(shopId);
  assert.deepEqual(begun, []);
  await round(2);
  assert.deepEqual(begun, ["c", "d"], "then the loop goes on");
  ask("g1");
  assert.deepEqual(begun, ["c", "d"], "nobody overtakes those that wait");
  await round(4);
  assert.deepEqual(begun, ["c", "d", "e", "f", "g1"]);
  ask("h1");
  assert.deepEqual(begun.at(-1), "h1", "in a new round nothing waits");
});

test("a shop that owed waits no longer than for its debt while others that owe little never leave the loop free (Q5)", async () => {
  const { loop, ask, pass, round, hold, begun } = loopUnderTest();
  const keepBusy = async (shopId: string): Promise<void> => {
    for (let step = 0; step < 100; step += 1) {
      await loop.waitForShare(shopId);
      hold(shopId, 6);
    }
  };
  loop.admit("b");
  hold("a", 240);
  ask("a1", "a2");
  for (const shopId of ["b", "c", "d", "e"]) void keepBusy(shopId);
  await round(4);
  await pass(0);
  assert.deepEqual(begun, [], "what it owes is not paid yet");
  await pass(230);
  assert.deepEqual(begun, ["a1"]);
  await pass(1);
  assert.deepEqual(begun, ["a1", "a2"]);
});

test("a timer is never set into the past, although time passes between two looks at the clock", () => {
  const waitsMs: number[] = [];
  for (let owedMs = 10; owedMs < 80; owedMs += 1) {
    let nowMs = 1_000;
    const loop = new LoopShare({
      // As on a machine that is busy with something else: 12 ms pass between any two looks.
      now: () => (nowMs += 12),
      nextRound: () => {},
      after: (ms) => void waitsMs.push(ms),
    });
    loop.admit("b");
    loop.held("a", owedMs);
    void loop.waitForShare("a");
  }
  assert.ok(waitsMs.length > 0 && waitsMs.every((ms) => ms >= 0), waitsMs.join(" "));
});

test("it is quiet since the latest request came, whoever sent it", async () => {
  const { loop, pass, hold } = loopUnderTest();
  await pass(40);
  assert.equal(loop.quietMs, 40);
  const left = loop.admit(null);
  await pass(30);
  left();
  hold("a", 20);
  assert.equal(loop.quietMs, 50, "work and the end of a request are no requests");
  loop.admit("b");
  assert.equal(loop.quietMs, 0);
});

test("beside a shop's writes are reads, other shops or nobody, for besideMs after the latest request of that kind", async () => {
  const { loop, pass } = loopUnderTest();
  assert.equal(loop.besideWritesOf("a"), "other shops", "nothing is known of who writes");
  loop.admit("a", false);
  await pass(besideMs - 1);
  loop.admit("a", false);
  assert.equal(loop.besideWritesOf("a"), "other shops");
  await pass(1);
  assert.equal(loop.besideWritesOf("a"), "nobody", "its own changes alone came");
  assert.equal(loop.besideWritesOf("b"), "other shops", "and those are beside another shop's");
  for (const shopId of ["a", "b", null]) {
    loop.admit(shopId);
    loop.admit("a", false);
    await pass(besideMs - 1);
    loop.admit("a", false);
    assert.equal(loop.besideWritesOf("a"), "reads", String(shopId));
    await pass(1);
    assert.equal(loop.besideWritesOf("a"), "nobody", String(shopId));
  }
  loop.admit("b", false);
  assert.equal(loop.besideWritesOf("a"), "other shops");
});

test("groups of writes that give way to reads begin one after another, each when the loop has gone on twice (Q7)", async () => {
  const { loop, round, begun } = loopUnderTest();
  const ask = (name: string): void => void loop.waitAfterReads(name.slice(0, 1)).then(() => begun.push(name));
  for (const name of ["a1", "b1", "c1"]) ask(name);
  await round();
  assert.deepEqual(begun, ["a1"]);
  ask("a2");
  await round();
  assert.deepEqual(begun, ["a1"]);
  await round();
  assert.deepEqual(begun, ["a1", "b1"]);
  await round(4);
  assert.deepEqual(begun, ["a1", "b1", "c1", "a2"]);
  await round(2);
  ask("d1");
  await round();
  assert.deepEqual(begun.at(-1), "d1", "nobody was before it");
});

test("a group that gives way to reads pays what its shop owes all the same (Q5)", async () => {
  const { loop, round, hold, begun } = loopUnderTest();
  hold("a", 30);
  const left = loop.admit("b");
  void loop.waitAfterReads("a").then(() => begun.push("a1"));
  await round(5);
  assert.deepEqual(begun, []);
  left();
  await round(5);
  assert.deepEqual(begun, ["a1"]);
});
