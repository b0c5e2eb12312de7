import assert from "node:assert/strict";
import { setImmediate as nextRound } from "node:timers/promises";
import { suite, test } from "node:test";
import { ShopLoops } from "../../src/jobs/outbox/shop-loop.ts";
import type { DueLanes } from "../../src/shop/storefront/effects.ts";
import { silent } from "../support/programs/broad-server.ts";

/** A lane that runs until it is told to look for its effects, and to end. */
interface Run {
  readonly name: string;
  readonly claim: () => void;
  readonly end: (mayBeDue?: boolean) => Promise<void>;
}

const nothingDue: DueLanes = { lanes: [], leavesOut: false, isHeldUp: false, nextDueAtMs: null, oldestAtMs: null };

/** Loops whose lanes end when the test says so. `due` answers each reading. */
function loopsOf(limits: Partial<Record<"lanesPerShopMax" | "lanesMax" | "lanesWantedMax", number>>) {
  const runs: Run[] = [];
  const readings: (readonly string[])[] = [];
  const unused = () => assert.fail("the store is not asked");
  const world = { due: nothingDue };
  const loops = new ShopLoops({
    engine: { list: unused, peek: unused, write: unused },
    clock: { now: () => 1_000 },
    log: silent,
    limits: { lanesPerShopMax: 2, lanesMax: 10, lanesWantedMax: 3, ...limits },
    search: null,
    random: () => 0,
    release: unused,
    findDue: (_shopId, running) => {
      readings.push(running);
      return Promise.resolve(world.due);
    },
    runLane(shopId, lane, told) {
      const ended = Promise.withResolvers<boolean>();
      runs.push({
        name: `${shopId} ${lane}`,
        claim: () => told.claiming(),
        async end(mayBeDue = false) {
          ended.resolve(mayBeDue);
          for (let round = 0; round < 3; round += 1) await nextRound();
        },
      });
      return ended.promise;
    },
  });
  const run = (index: number): Run => runs[index] ?? assert.fail(`run ${index} has not begun`);
  return { loops, world, readings, run, names: () => runs.map(({ name }) => name), stop: () => void loops.stop() };
}

suite("which lanes of a shop run", () => {
  test("lanes beyond the bound begin when others end, in their order, and nothing is read for that", async () => {
    const { loops, readings, run, names, stop } = loopsOf({});
    loops.start("shop", ["a", "b", "c", "d"]);
    assert.deepEqual(names(), ["shop a", "shop b"]);
    await run(1).end();
    await run(0).end();
    assert.deepEqual(names(), ["shop a", "shop b", "shop c", "shop d"]);
    await run(2).end();
    await run(3).end();
    assert.deepEqual([names().length, readings, loops.runs("shop")], [4, [], false]);
    stop();
  });

  test("a lane that has looked for its effects runs once more for one that was added later, another one does not", async () => {
    const { loops, run, names, stop } = loopsOf({});
    loops.start("shop", ["late", "early"]);
    run(0).claim();
    loops.start("shop", ["late", "early"]);
    await run(1).end();
    await run(0).end();
    assert.deepEqual(names(), ["shop late", "shop early", "shop late"]);
    stop();
  });

  test("lanes that a reading finds begin, those that run once more when they have ended", async () => {
    const { loops, world, readings, run, names, stop } = loopsOf({});
    loops.start("shop", ["a"]);
    run(0).claim();
    world.due = { ...nothingDue, lanes: ["b", "a"] };
    loops.check("shop");
    await nextRound();
    assert.deepEqual([names(), readings], [["shop a", "shop b"], [["a"]]]);
    await run(0).end();
    assert.deepEqual(names(), ["shop a", "shop b", "shop a"]);
    stop();
  });

  test("of lanes that wait `lanesWantedMax` are kept, and when these have begun the others are read", async () => {
    const { loops, world, readings, run, names, stop } = loopsOf({ lanesWantedMax: 1 });
    loops.start("shop", ["a", "b", "c", "d"]);
    await run(0).end();
    assert.deepEqual(names().at(-1), "shop c");
    assert.deepEqual(readings, [["b", "c"]], "what was left out is read when what was kept has begun");
    world.due = { ...nothingDue, lanes: ["d"], leavesOut: true };
    loops.check("shop");
    await nextRound();
    await run(1).end();
    assert.deepEqual(names().at(-1), "shop d");
    assert.equal(readings.length, 3, "a reading that was not whole is followed by another");
    stop();
  });

  test("a lane that becomes free goes to the shop that has waited, before the one that had it", async () => {
    const { loops, run, names, stop } = loopsOf({ lanesMax: 1 });
    loops.start("first", ["a", "b"]);
    loops.start("second", ["c"]);
    await run(0).end();
    assert.deepEqual(names(), ["first a", "first b"]);
    loops.start("first", ["d"]);
    await run(1).end();
    assert.deepEqual(names().at(-1), "second c");
    await run(2).end();
    assert.deepEqual(names().at(-1), "first d");
    stop();
  });

  test("nothing begins after the stop", async () => {
    const { loops, run, names, stop } = loopsOf({});
    loops.start("shop", ["a", "b", "c"]);
    stop();
    await run(0).end(true);
    assert.deepEqual(names(), ["shop a", "shop b"]);
  });
});
