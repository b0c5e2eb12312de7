import assert from "node:assert/strict";
import { setImmediate as nextRound } from "node:timers/promises";
import { test } from "node:test";
import { MadeLater } from "../../src/http/made-later.ts";

/** Something of three steps. `done` counts them. */
function three(): { readonly later: MadeLater<readonly string[]>; readonly done: string[] } {
  const done: string[] = [];
  const later = new MadeLater(function* () {
    for (const step of ["a", "b", "c"]) {
      done.push(step);
      yield;
    }
    return [...done];
  });
  return { later, done };
}

test("what is made later takes one step in each round of the event loop, and nothing before it is prepared", async () => {
  const { later, done } = three();
  await nextRound();
  assert.deepEqual(done, []);
  const prepared = later.prepare();
  assert.deepEqual(done, ["a"]);
  await prepared;
  assert.deepEqual(later.value, ["a", "b", "c"]);
  assert.equal(done.length, 3, "it is made once");
});

test("who needs it sooner has all of it at once, also while it is being prepared", async () => {
  const { later } = three();
  const prepared = later.prepare();
  const { value } = later;
  assert.equal(value.at(-1), "c");
  await prepared;
  assert.equal(later.value, value);
});

test("what cannot be made fails for everybody who needs it", async () => {
  const later = new MadeLater<string>(function* () {
    yield;
    throw new Error("contradiction");
  });
  await assert.rejects(later.prepare(), /contradiction/);
  for (let times = 0; times < 2; times += 1) assert.throws(() => later.value, /contradiction/);
});
