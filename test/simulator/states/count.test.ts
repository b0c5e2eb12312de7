/** The table of states that the simulator's stories must come to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seedsForAll, seedsForFrequent, StateCounts } from "./count.ts";
import { states } from "./table.ts";

const namesOf = (all: typeof states): readonly string[] => all.map(({ name }) => name);

/** Counts of a run in which each state but this one was reached. */
const without = (missing: string): StateCounts => {
  const counts = new StateCounts();
  counts.add(namesOf(states).filter((name) => name !== missing));
  return counts;
};

test("each state has a name of its own", () => {
  assert.ok(states.length >= 60);
  assert.equal(new Set(namesOf(states)).size, states.length);
});

test("a run of 1,000 seeds that misses a state names it", () => {
  for (const { name } of states) assert.deepEqual(namesOf(without(name).missed(seedsForAll)), [name]);
});

test("a run of 200 seeds may miss a rare state and no other, and a shorter one any", () => {
  for (const { name, isRare = false } of states) {
    assert.deepEqual(namesOf(without(name).missed(seedsForFrequent)), isRare ? [] : [name]);
    assert.deepEqual(without(name).missed(seedsForFrequent - 1), []);
  }
});

test("a run that goes on counts what was reached before", () => {
  const [first, second] = namesOf(states);
  assert.ok(first !== undefined && second !== undefined);
  const before = new StateCounts();
  before.add([first]);
  const after = new StateCounts(before.counts);
  after.add([first, second]);
  assert.deepEqual(after.counts, { [first]: 2, [second]: 1 });
});
