/**
 * How soon Node collects what is not needed any more (D364).
 *
 * Own process: it measures its heap, and sets how the heap grows.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  boundHeapGrowth,
  heapGrowthAfter,
  heapGrowthBytesMin,
  heapGrowthPercent,
  heapGrowthPercentMax,
} from "../../src/service/heap.ts";
import { collectGarbage } from "../support/programs/garbage.ts";
import { pause, until } from "../support/until.ts";

test("a heap grows by heapGrowthPercent beyond what is needed, and by what comes in while it is collected", async () => {
  boundHeapGrowth();
  /** What lives on, and what lives for so long only that it leaves the young generation. */
  const kept = Array.from({ length: 400_000 }, (_, index) => ({ index, text: String(index) }));
  const latest: object[] = Array.from({ length: 400_000 }, (_, index) => ({ index, of: [0] }));
  collectGarbage();
  const needed = process.memoryUsage().heapUsed;
  let most = 0;
  for (let round = 1; round <= 40; round += 1) {
    for (let index = 0; index < latest.length; index += 1) {
      latest[index] = { index, of: [round] };
      if (index % 20_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
    }
    await pause(2);
  }
  assert.equal(heapGrowthPercent, 30);
  // Three times as much with the young generation and what comes in while the rest is looked through; by V8 alone it is six times and more.
  assert.ok(most < 4.5 * needed, `${Math.round(needed / 1e6)} MB are needed, ${Math.round(most / 1e6)} were used`);
  assert.equal(kept.length + latest.length, 800_000);
});

test("a small heap may grow by heapGrowthBytesMin, but by heapGrowthPercentMax at most", () => {
  assert.equal(heapGrowthPercentMax, 100);
  assert.equal(heapGrowthAfter(10_000_000), heapGrowthPercentMax);
  assert.equal(heapGrowthAfter(heapGrowthBytesMin), 100);
  assert.equal(heapGrowthAfter(heapGrowthBytesMin * 2), 50);
  assert.equal(heapGrowthAfter(heapGrowthBytesMin * 10), heapGrowthPercent);
});

test("what a heap may grow by follows what its collections leave", async () => {
  const told: number[] = [];
  boundHeapGrowth((percent) => told.push(percent));
  const kept = Array.from({ length: 3_000_000 }, (_, index) => ({ index, text: String(index) }));
  const collected = async (): Promise<void> => {
    const before = told.length;
    collectGarbage();
    await until("a collection", () => told.length > before);
  };
  await collected();
  assert.equal(told.at(-1), heapGrowthPercent);
  kept.length = 0;
  await collected();
  assert.ok(Number(told.at(-1)) > heapGrowthPercent, told.join());
});
