/** Turns of shops whose work is queued (U2, U3), whatever the work is. */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { DueSearch } from "../../src/jobs/due-search.ts";
import { JobRunner, writeResult } from "../../src/jobs/runner.ts";
import type { DueShop, Statement } from "../../src/store/store.ts";

type Options = ConstructorParameters<typeof JobRunner>[0];
type Kind = ConstructorParameters<typeof JobRunner>[1];

const searchOf = (find: () => readonly DueShop[], logged: string[] = []): DueSearch =>
  new DueSearch({
    engine: { shopsWithDueRows: async () => find() },
    clock: { now: () => 0 },
    log: { info: () => {}, warn: (_fields: object, text: string) => void logged.push(text), error: assert.fail },
    random: () => 0.5,
  });

/** A runner under virtual time, whose pieces end when the test says so. */
function runnerOf(context: TestContext, kind: Partial<Kind> = {}, options: Partial<Options> = {}) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const clock = { nowMs: 1_000_000, now: () => clock.nowMs };
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<number | null>>();
  const released: string[] = [];
  const logged: string[] = [];
  const log = {
    info: () => {},
    warn: (_fields: object, text: string) => void logged.push(text),
    error: (_fields: object, text: string) => void logged.push(text),
  };
  const unused = () => assert.fail("the store is not asked");
  const runner = new JobRunner(
    {
      engine: { list: unused, peek: unused, write: unused },
      clock,
      log,
      search: null,
      random: () => 0.5,
      ...options,
    },
    {
      what: "trials",
      runningMax: 2,
      table: "trial",
      retryMs: 700,
      run(shopId) {
        begun.push(shopId);
        const ended = Promise.withResolvers<number | null>();
        ends.set(shopId, ended);
        return ended.promise;
      },
      ...kind,
    },
  );
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
  };
  return {
    runner,
    clock,
    begun,
    released,
    logged,
    settle,
    end: async (shopId: string, dueAtMs: number | null = null): Promise<void> => {
      (ends.get(shopId) ?? assert.fail(`nothing of ${shopId} runs`)).resolve(dueAtMs);
      await settle();
    },
    fail: async (shopId: string, error: Error): Promise<void> => {
      (ends.get(shopId) ?? assert.fail(`nothing of ${shopId} runs`)).reject(error);
      await settle();
    },
    /** Time passes; the clock too, unless it stands still. */
    pass: async (ms: number, clockMs = ms): Promise<void> => {
      clock.nowMs += clockMs;
      context.mock.timers.tick(ms);
      await settle();
    },
  };
}

suite("turns of shops", () => {
  test("so many pieces run at a time, of a shop one, and a shop that has had one comes after all that wait", async (context) => {
    const { runner, begun, end, clock } = runnerOf(context);
    for (const shopId of ["a", "b", "c", "d"]) runner.wake(shopId);
    assert.deepEqual(begun, ["a", "b"]);
    runner.wake("a");
    await end("a", clock.now());
    assert.deepEqual(begun, ["a", "b", "c"]);
    await end("b");
    await end("c");
    assert.deepEqual(begun, ["a", "b", "c", "d", "a"]);
  });

  test("a kind may have more pieces of a shop at a time", async (context) => {
    const { runner, begun } = runnerOf(context, { perShopMax: 2, runningMax: 3 });
    runner.wake("a");
    runner.wake("a");
    runner.wake("a");
    assert.deepEqual(begun, ["a", "a"]);
  });

  test("a shop comes back at the earliest time that is known, once", async (context) => {
    const { runner, begun, end, pass, clock } = runnerOf(context);
    runner.note({ shopId: "a", dueAtMs: clock.now() + 5_000 });
    runner.note({ shopId: "a", dueAtMs: clock.now() + 2_000 });
    runner.note({ shopId: "b", dueAtMs: clock.now() + 90_000 });
    await pass(1_999);
    assert.deepEqual([begun, runner.remembers("a")], [[], true]);
    await pass(1);
    assert.deepEqual([begun, runner.remembers("a")], [["a"], false]);
    await end("a");
    await pass(60_000);
    assert.deepEqual(begun, ["a"]);
    await pass(28_000);
    assert.deepEqual(begun, ["a", "b"]);
  });

  test("a clock that is set forward is noticed within a minute; one that stands still delays nothing", async (context) => {
    const { runner, begun, pass, clock } = runnerOf(context);
    runner.note({ shopId: "later", dueAtMs: clock.now() + 3_600_000 });
    runner.note({ shopId: "soon", dueAtMs: clock.now() + 1_000 });
    await pass(1_000, 0);
    assert.deepEqual(begun, ["soon"]);
    await pass(60_000, 3_600_000);
    assert.deepEqual(begun, ["soon", "later"]);
  });

  test("a piece that fails is tried again after a pause; a shop that is gone is not", async (context) => {
    const { runner, begun, fail, pass, logged } = runnerOf(context);
    runner.wake("a");
    runner.wake("gone");
    await fail("a", new Error("no store"));
    await fail("gone", new Fault("NOT_FOUND", "no such shop"));
    await pass(699);
    assert.deepEqual(begun, ["a", "gone"]);
    await pass(1);
    assert.deepEqual(begun, ["a", "gone", "a"]);
    await pass(60_000);
    assert.deepEqual([begun.length, logged], [3, ["trials could not go on; it is tried again"]]);
  });

  test("nothing begins after the end, which waits for what runs and then has it end", async (context) => {
    const { runner, begun, end, pass, settle } = runnerOf(context, { closeWaitMs: 3_000 });
    runner.wake("a");
    runner.note({ shopId: "b", dueAtMs: 1_000_500 });
    let isClosed = false;
    const closing = runner.close().then(() => (isClosed = true));
    await settle();
    assert.deepEqual([runner.stopping.aborted, runner.aborting.aborted], [true, false]);
    await pass(3_000);
    assert.deepEqual([runner.aborting.aborted, isClosed], [true, false]);
    await end("a", 1_000_000);
    await closing;
    runner.wake("c");
    assert.deepEqual(begun, ["a"]);
  });
});

suite("work that was left", () => {
  const release = (shopId: string): Statement => ({ sql: "release", params: [shopId] });

  test("a process that is alone gives back claims and resumes; a shop that refuses is tried again", async (context) => {
    const released: string[] = [];
    const { runner, begun, logged, pass, clock } = runnerOf(
      context,
      { release },
      {
        engine: {
          list: () => assert.fail("the shops are known"),
          peek: () => assert.fail("nothing is searched for"),
          write(shopId) {
            released.push(shopId);
            if (shopId === "gone") return Promise.reject(new Fault("NOT_FOUND", "no such shop"));
            return shopId === "full"
              ? Promise.reject(new Error("no room"))
              : new Promise((done) => done(undefined as never));
          },
        },
        async *shopsToResume() {
          yield "a";
          yield "gone";
          yield "full";
          yield { shopId: "later", dueAtMs: clock.now() + 2_000 };
        },
      },
    );
    await runner.start();
    assert.deepEqual([released, begun], [["a", "gone", "full", "later"], ["a"]]);
    assert.deepEqual(logged, ["the shop's trials could not be resumed; it is tried again"]);
    await pass(700);
    assert.deepEqual(begun, ["a", "full"]);
  });

  test("a node among others asks the shops that have anything due, and remembers what is near", async (context) => {
    const due = new Map<string, number | null | Error>();
    const search = searchOf(() => [...due.keys()].map((shopId) => ({ shopId, table: "trial" })));
    const { runner, begun, end, pass, clock } = runnerOf(
      context,
      { nextDueAtMs: () => Promise.resolve(null) },
      {
        search,
        engine: {
          list: () => assert.fail("the search finds them"),
          write: () => assert.fail("no claim is given back"),
          peek(shopId) {
            const found = due.get(shopId);
            return found instanceof Error ? Promise.reject(found) : Promise.resolve(found as never);
          },
        },
      },
    );
    due.set("gone", new Fault("NOT_FOUND", "no such shop"));
    due.set("none", null);
    due.set("now", clock.now());
    due.set("near", clock.now() + 59_000);
    due.set("far", clock.now() + 61_000);
    await runner.start();
    assert.deepEqual([begun, runner.remembers("near"), runner.remembers("far")], [["now"], true, false]);
    due.clear();
    due.set("added", clock.now());
    await pass(1_000);
    assert.deepEqual(begun, ["now", "added"]);
    const closed = runner.close();
    await end("now");
    await end("added");
    await closed;
  });
});

suite("one search for all kinds of work", () => {
  const kindOf = (table: string, found: (shopIds: readonly string[]) => Promise<void>) => {
    const stop = new AbortController();
    return { stop, listener: { what: table, table, found, stopping: stop.signal } };
  };

  /** Searches of the virtual time, and how many there were. */
  function searching(context: TestContext, find: () => readonly DueShop[]) {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const seen = { searches: 0, logged: [] as string[] };
    const search = searchOf(() => {
      seen.searches += 1;
      return find();
    }, seen.logged);
    const pass = async (): Promise<void> => {
      context.mock.timers.tick(1_000);
      for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    };
    return { search, seen, pass };
  }

  test("each kind hears of its own rows; one that is still at work does not hold up the others", async (context) => {
    const due = [
      { shopId: "a", table: "mail" },
      { shopId: "b", table: "effect" },
      { shopId: "c", table: null },
    ];
    const { search, seen, pass } = searching(context, () => due);
    const heard: string[] = [];
    const slow = Promise.withResolvers<void>();
    const state = { isSlow: false };
    const mails = kindOf("mail", async (shopIds) => void heard.push(`mail ${shopIds.join()}`));
    const effects = kindOf("effect", async (shopIds) => {
      heard.push(`effect ${shopIds.join()}`);
      if (state.isSlow) await slow.promise;
    });
    await search.begin(mails.listener);
    await search.begin(effects.listener);
    assert.deepEqual(heard.splice(0, 2), ["mail a,c", "effect b,c"]);
    state.isSlow = true;
    await pass();
    await pass();
    assert.equal(seen.searches, 4, "one search for both");
    assert.deepEqual(heard, ["mail a,c", "effect b,c", "mail a,c"]);
    slow.resolve();
    mails.stop.abort();
    effects.stop.abort();
    await pass();
    assert.equal(seen.searches, 4, "nobody listens");
  });

  test("a search that fails is told once, and made again; so is a kind that fails", async (context) => {
    const state = { fails: true };
    const { search, seen, pass } = searching(context, () => {
      if (state.fails) throw new Error("no connection");
      return [{ shopId: "a", table: "mail" }];
    });
    const heard: (readonly string[])[] = [];
    const mails = kindOf("mails", async (shopIds) => {
      heard.push(shopIds);
      if (heard.length === 2) throw new Error("a bug");
    });
    const listener = { ...mails.listener, table: "mail" };
    await search.begin(listener);
    state.fails = false;
    await pass();
    await pass();
    assert.deepEqual(heard, [[], ["a"], ["a"]]);
    assert.deepEqual(seen.logged, [
      "the search for due work failed; it is tried again",
      "the search for mails failed; it is tried again",
    ]);
    mails.stop.abort();
    await search.begin(listener);
    assert.equal(seen.searches, 3, "a kind that has stopped hears nothing");
  });
});

test("what came of a piece is written again while the store refuses for now, until the lease ends", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const stopping = new AbortController();
  const busy = new Fault("DO_OVERLOADED", "later", { retryAfterMs: 2_000 });
  const tries: number[] = [];
  const write = (failing: number, error: Error) => (): Promise<string> => {
    tries.push(clock.nowMs);
    return tries.length <= failing ? Promise.reject(error) : Promise.resolve("kept");
  };
  const passing = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
      clock.nowMs += 100;
      context.mock.timers.tick(100);
    }
  };
  const kept = writeResult({ clock, stopping: stopping.signal }, 5_000, write(2, busy));
  await passing(1_500);
  assert.equal(await kept, "kept");
  assert.equal(tries.length, 3);
  const over = assert.rejects(writeResult({ clock, stopping: stopping.signal }, clock.nowMs, write(9, busy)), busy);
  await over;
  const refused = new Fault("NOT_FOUND", "no");
  await assert.rejects(writeResult({ clock, stopping: stopping.signal }, 99_000, write(9, refused)), refused);
  stopping.abort();
  await assert.rejects(writeResult({ clock, stopping: stopping.signal }, 99_000, write(9, busy)), busy);
});
