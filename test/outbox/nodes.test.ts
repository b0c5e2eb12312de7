/** The outbox among other nodes: answers that are lost, runners that are overtaken, and work that one leaves to another (O1, O6). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DueSearch } from "../../src/jobs/due-search.ts";
import { claimLane, findDueLanes } from "../../src/shop/storefront/effects.ts";
import type { OutboxLimits } from "../../src/jobs/outbox/limits.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import { createOutbox, type Outbox } from "../../src/jobs/outbox/runner.ts";
import type { Engine } from "../../src/store/store.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import type { SandboxFault } from "../../src/storefront/sandbox/faults.ts";
import type { Storefront } from "../../src/storefront/storefront.ts";
import { losingAnswers } from "../support/engine/engine-doubles.ts";
import { line, quantity } from "../support/goods.ts";
import { locationId, shopId, withWorld, type World } from "../support/peers/storefront.ts";
import { patienceMs, pause, quiet, until } from "../support/until.ts";

interface NodeOptions {
  readonly engineOf?: (engine: Engine) => Engine;
  readonly between?: (storefront: Storefront) => Storefront;
  /** Before the storefront can be called. */
  readonly connecting?: () => Promise<void>;
  readonly limits?: Partial<OutboxLimits>;
  readonly clock?: Clock;
  /** How far its clock is ahead. */
  readonly aheadMs?: number;
  readonly recover?: (shopId: string) => Promise<void>;
}

/** One more node on the world's data, and what it complains about. */
function nodeOf(world: World, options: NodeOptions = {}): { readonly outbox: Outbox; readonly complaints: string[] } {
  const complaints: string[] = [];
  const complain = (_: object, message: string): void => void complaints.push(message);
  const clock = options.clock ?? { now: () => systemClock.now() + (options.aheadMs ?? 0) };
  const engine = options.engineOf?.(world.engine) ?? world.engine;
  const log = { info: () => {}, warn: complain, error: complain };
  const outbox = createOutbox({
    engine,
    storefrontOf: async () => {
      await options.connecting?.();
      return options.between?.(world.sandbox) ?? world.sandbox;
    },
    clock,
    ids: timeOrderedIds(clock),
    log,
    search: new DueSearch({ engine, clock, log, random: () => 0.5, everyMs: 20 }),
    random: () => 0.5,
    limits: { backoffMs: 5, backoffMsMax: 40, closeWaitMs: 200, ...options.limits },
    ...(options.recover === undefined ? {} : { recover: { table: "import_run", finish: options.recover } }),
  });
  return { outbox, complaints };
}

const threeLines = ["1", "2", "3"].map((n) => line(`l${n}`, { confirmed: 10, variantId: `v${n}` }));
const totals = { l1: quantity(4), l2: quantity(2.5), l3: quantity(1) };

/** What a run leaves, less what names or times it. */
async function leftBy(world: World, outcomes: ReadonlyMap<string, unknown>) {
  const { lineItems, storefrontSyncState } = await world.load("po_1");
  const { variants } = await world.sandbox.state(["v1", "v2", "v3"]);
  const rows = await world.engine.read(shopId, async (tx) => ({
    effects: await tx.all<{ attempts: number }>(
      "select kind, state, attempts, detail, item_count, lease_owner from effect where shop_id = ? order by kind",
      [shopId],
    ),
    levels: await tx.all<{ on_hand: number }>(
      "select variant_id, on_hand from inventory_level where shop_id = ? order by variant_id",
      [shopId],
    ),
    log: await tx.all<{ message: string }>(
      "select message from purchase_order_log where shop_id = ? and action = 'storefront-sync' order by log_id",
      [shopId],
    ),
  }));
  return {
    told: [...outcomes.values()],
    synced: lineItems.map((each) => each.quantitySynced),
    storefrontSyncState,
    onHand: variants.map((variant) => variant.levels.map((level) => [level.onHand, level.incoming])),
    tags: variants.map((variant) => variant.tags),
    ...rows,
    // What is told in one entry may be told in two.
    log: rows.log.map((entry) => entry.message).join(" "),
  };
}

/** Receives goods with a node's engine, settles and tells what is left. */
async function receiptLeaves(
  faults: readonly SandboxFault[],
  engineOf: (engine: Engine) => Engine,
): Promise<Awaited<ReturnType<typeof leftBy>>> {
  const left: Awaited<ReturnType<typeof leftBy>>[] = [];
  await withWorld(
    async (world) => {
      await world.place("po_1", threeLines);
      await world.strike(faults);
      const effects = await world.receive("po_1", totals);
      const { outbox, complaints } = nodeOf(world, { engineOf, limits: { attemptsMax: 2 } });
      try {
        await outbox.settle(shopId, effects, patienceMs);
        await world.quiet();
        left.push(await leftBy(world, await outbox.settle(shopId, effects, patienceMs)));
        assert.deepEqual(complaints, []);
      } finally {
        await outbox.close();
      }
    },
    { settings: { onOrderTag: "on-order" } },
  );
  return left[0] ?? assert.fail();
}

const refusal: SandboxFault = { call: "changeOnHand", outcome: "refused", variantIds: ["v2"], times: null };
const stories: Readonly<Record<string, readonly SandboxFault[]>> = {
  "that all land": [],
  "of which one is refused": [refusal],
  "whose first answers are lost": ["changeOnHand", "setIncoming", "setTags"].map((call): SandboxFault => {
    assert.ok(call === "changeOnHand" || call === "setIncoming" || call === "setTags");
    return { call, outcome: "lost-response", variantIds: null, times: 1 };
  }),
  "that never get through": [{ call: "*", outcome: "error", variantIds: null, times: null }],
};

suite("a write that was kept and reported as failed", () => {
  for (const [story, faults] of Object.entries(stories))
    test(`at each step in turn changes nothing of what goods ${story} leave`, async () => {
      let writes = 0;
      const expected = await receiptLeaves(faults, (engine) => losingAnswers(engine, () => (writes += 1) === 0));
      // At least the claim and the end of three lanes, which share changes.
      assert.ok(writes >= 2, `${writes} writes`);
      for (let lostAt = 1; lostAt <= writes; lostAt += 1) {
        let write = 0;
        const left = await receiptLeaves(faults, (engine) => losingAnswers(engine, () => (write += 1) === lostAt));
        assert.deepEqual(left, expected, `the answer of write ${lostAt} of ${writes} was lost`);
      }
    });

  test("time and again still has one effect", async () => {
    const expected = await receiptLeaves([refusal], (engine) => engine);
    let write = 0;
    const left = await receiptLeaves([refusal], (engine) => losingAnswers(engine, () => (write += 1) % 2 === 1));
    assert.deepEqual(left, expected);
  });
});

/** A storefront whose next answer to a push waits for `open`. */
function held() {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const between = (storefront: Storefront): Storefront => ({
    ...storefront,
    changeOnHand: async (changes, write) => {
      const results = await storefront.changeOnHand(changes, write);
      calls += 1;
      if (calls === 1) {
        reached.resolve();
        await gate.promise;
      }
      return results;
    },
  });
  return { between, reached: reached.promise, open: () => gate.resolve() };
}

const leaseMs = 1_500;
const limits = { leaseMs, callTimeLimitMs: 1_200 };

/** What proves that the three lines landed, and landed once. */
async function landedOnce(world: World): Promise<void> {
  const order = await world.load("po_1");
  assert.deepEqual(
    order.lineItems.map((each) => each.quantitySynced),
    Object.values(totals),
  );
  assert.deepEqual(await Promise.all(["v1", "v2", "v3"].map((id) => world.onHand(id))), [4, 2.5, 1]);
  const { levels, log } = await leftBy(world, new Map());
  assert.deepEqual(
    levels.map((level) => level.on_hand),
    [4_000, 2_500, 1_000],
  );
  assert.equal(log, "The storefront took the stock of 3 lines.");
}

/** What the storefront shows as incoming. */
async function incoming(world: World): Promise<readonly number[]> {
  const { variants } = await world.sandbox.state(["v1", "v2", "v3"]);
  return variants.map(({ levels }) => levels.reduce((sum, level) => sum + level.incoming, 0));
}

suite("two nodes", () => {
  test("a runner that was overtaken keeps nothing, and tells what the other one has brought about", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const effects = await world.receive("po_1", totals);
      const slow = held();
      const first = nodeOf(world, { between: slow.between });
      // By its clock the first one's lease has ended.
      const second = nodeOf(world, { aheadMs: 60_000 });
      const told = first.outbox.settle(shopId, effects, patienceMs);
      await slow.reached;
      await second.outbox.settle(shopId, effects, patienceMs);
      await world.quiet();
      await landedOnce(world);
      slow.open();
      const outcomes = [...(await told).values()];
      assert.ok(outcomes.every((outcome) => outcome.state === "applied"));
      await first.outbox.close();
      await second.outbox.close();
      await landedOnce(world);
      assert.deepEqual([...first.complaints, ...second.complaints], []);
    }));

  test("what a node has claimed whose clock stood hours ahead is attempted when a claim that begins now has ended", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const effects = await world.receive("po_1", totals);
      const nowMs = systemClock.now();
      await world.engine.write(shopId, async (tx) => {
        const { lanes } = await findDueLanes(tx, shopId, "gone", [], nowMs);
        for (const lane of lanes)
          await claimLane(tx, shopId, lane, "gone", { nowMs, leasedUntilMs: nowMs + 5 * 3_600_000 });
      });
      assert.deepEqual(
        (await world.engine.shopsWithDueRows(nowMs)).map((each) => each.shopId),
        [shopId],
      );
      const node = nodeOf(world, { limits: { leaseMs: 300, callTimeLimitMs: 200 } });
      const outcomes = await node.outbox.settle(shopId, effects, 20_000);
      assert.deepEqual(new Set([...outcomes.values()].map(({ state }) => state)), new Set(["applied"]));
      await node.outbox.close();
      await landedOnce(world);
      assert.match(node.complaints.join(), /claimed before the clock was set back/);
    }));

  test("of a lane that runs, what it has claimed is not due; what was added since is", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      await world.receive("po_1", totals);
      const nowMs = systemClock.now();
      const due = (running: readonly string[]) =>
        world.engine.write(shopId, (tx) => findDueLanes(tx, shopId, "own", running, nowMs + 1_000));
      const { lanes } = await due([]);
      assert.ok(lanes.length >= 2);
      await world.engine.write(shopId, async (tx) => {
        for (const lane of lanes)
          await claimLane(tx, shopId, lane, "own", { nowMs: nowMs + 1_000, leasedUntilMs: nowMs + 30_000 });
      });
      assert.deepEqual((await due(lanes)).lanes, []);
      await world.receive("po_1", { l1: quantity(7) });
      assert.deepEqual(new Set((await due(lanes)).lanes), new Set(lanes));
    }));

  test("a runner that is overtaken under way leaves the end to the other one", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const effects = await world.receive("po_1", totals);
      const [firstCall, secondCall] = [held(), held()];
      const first = nodeOf(world, { between: firstCall.between });
      const second = nodeOf(world, { between: secondCall.between, aheadMs: 60_000 });
      const told = first.outbox.settle(shopId, effects, patienceMs);
      await firstCall.reached;
      const toldToo = second.outbox.settle(shopId, effects, patienceMs);
      await secondCall.reached;
      firstCall.open();
      await quiet(100);
      assert.equal((await world.load("po_1")).storefrontSyncState, "in-flight", "the first one's answer came too late");
      secondCall.open();
      assert.deepEqual([...(await told).values()], [...(await toldToo).values()]);
      await world.quiet();
      await first.outbox.close();
      await second.outbox.close();
      await landedOnce(world);
    }));

  test("a runner that was held up before its call does not overwrite incoming quantities that another one has set since", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const reached = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const connecting = async (): Promise<void> => {
        reached.resolve();
        await gate.promise;
      };
      const first = nodeOf(world, { connecting, limits });
      const told = first.outbox.settle(shopId, await world.receive("po_1", totals), patienceMs);
      await reached.promise;
      const effects = await world.receive("po_1", { l1: quantity(10), l2: quantity(10), l3: quantity(10) });
      const second = nodeOf(world, { aheadMs: 60_000 });
      await second.outbox.settle(shopId, effects, patienceMs);
      await world.quiet();
      assert.deepEqual(await incoming(world), [0, 0, 0]);
      // The first one finds that it cannot renew its lease.
      await quiet(limits.leaseMs / 2);
      const { calls } = await world.sandbox.state([]);
      gate.resolve();
      await told;
      await first.outbox.close();
      await second.outbox.close();
      assert.deepEqual(await incoming(world), [0, 0, 0]);
      assert.deepEqual((await world.sandbox.state([])).calls, calls);
      assert.deepEqual([...first.complaints, ...second.complaints], []);
    }));

  test("`settle` tells what another node has brought about, as soon as it has", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const effects = await world.receive("po_1", totals);
      const slow = held();
      const [first, second] = [nodeOf(world, { between: slow.between }), nodeOf(world)];
      void first.outbox.settle(shopId, effects, 0);
      await slow.reached;
      // It would wait for longer than the file may take.
      const told = second.outbox.settle(shopId, effects, 3_600_000);
      void pause(50).then(() => slow.open());
      assert.ok([...(await told).values()].every((outcome) => outcome.state === "applied"));
      await first.outbox.close();
      await second.outbox.close();
      await landedOnce(world);
    }));

  test("a call that lasts for longer than the lease keeps it: no other node makes the call too", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const effects = await world.receive("po_1", totals);
      const slow = held();
      const short = { leaseMs: 400, callTimeLimitMs: patienceMs };
      // Time goes on as the test says, so that no machine is too slow to renew.
      const time = { nowMs: systemClock.now() };
      const clock = { now: () => time.nowMs };
      let looks = 0;
      const looking = (engine: Engine): Engine => ({
        ...losingAnswers(engine, () => false),
        shopsWithDueRows: (...asked) => {
          looks += 1;
          return engine.shopsWithDueRows(...asked);
        },
      });
      const first = nodeOf(world, { clock, between: slow.between, limits: short });
      const second = nodeOf(world, { clock, engineOf: looking, limits: short });
      const told = first.outbox.settle(shopId, effects, patienceMs);
      await slow.reached;
      await second.outbox.start();
      for (let renewed = 0; renewed < 3; renewed += 1) {
        time.nowMs += 0.75 * short.leaseMs;
        await until("the lease is renewed", async () => {
          const [due] = await world.engine.read(shopId, (tx) =>
            tx.all<{ due_at: number }>("select max(due_at) as due_at from effect where shop_id = ?", [shopId]),
          );
          return due?.due_at === time.nowMs + short.leaseMs;
        });
      }
      const before = looks;
      await until("the other node has looked", () => looks >= before + 2);
      const { calls } = await world.sandbox.state([]);
      slow.open();
      assert.ok([...(await told).values()].every((outcome) => outcome.state === "applied"));
      assert.equal(calls["changeOnHand"], 1, "the other node called the storefront as well");
      await world.quiet();
      await first.outbox.close();
      await second.outbox.close();
      await landedOnce(world);
    }));

  test("what a node that died has claimed, or has never looked at, is found and brought to its end", () =>
    withWorld(async (world) => {
      const write = (sql: string): Promise<void> =>
        world.engine.write(shopId, (tx) => tx.batch([{ sql, params: [shopId] }]));
      await world.place("po_1", threeLines);
      const [push = ""] = await world.receive("po_1", totals);
      const nowMs = Date.now();
      const claimed = await world.engine.write(shopId, (tx) =>
        claimLane(tx, shopId, "push-stock po_1", "a node that died", { nowMs, leasedUntilMs: nowMs + leaseMs }),
      );
      assert.deepEqual(
        claimed.map((entry) => entry.effectId),
        [push],
      );
      // An import that it has left, too.
      await write(
        "insert into import_run (shop_id, import_id, state, started_at, leased_until) values (?, 'left', 'staging', 0, 0)",
      );
      const recovered: string[] = [];
      const { outbox, complaints } = nodeOf(world, {
        limits,
        recover: async (shop) => {
          recovered.push(shop);
          await write("delete from import_run where shop_id = ?");
        },
      });
      await outbox.start();
      await world.quiet();
      assert.ok(Date.now() >= nowMs + leaseMs, "not before the lease had ended");
      await until("the import is taken up", () => recovered.length > 0);
      await outbox.close();
      await landedOnce(world);
      assert.ok(recovered.every((shop) => shop === shopId));
      const { effects } = await leftBy(world, new Map());
      assert.ok(effects.every((effect) => effect.attempts === 1));
      assert.deepEqual(complaints, []);
    }));

  test("a node that stops gives back what it could not bring to its end, and another goes on at once", () =>
    withWorld(async (world) => {
      await world.place("po_1", threeLines);
      const effects = await world.receive("po_1", totals);
      let writes = 0;
      let stops = false;
      // Claims, and then can write no more until it stops.
      const engineOf = (engine: Engine): Engine => ({
        ...losingAnswers(engine, () => false),
        write: async (shop, work, options) => {
          writes += 1;
          if (writes === 1 || stops) return await engine.write(shop, work, options);
          throw new TypeError("a bug");
        },
      });
      const first = nodeOf(world, { engineOf });
      const second = nodeOf(world);
      void first.outbox.settle(shopId, [effects[0] ?? ""], 0);
      await until("it complains", () => first.complaints.length > 0);
      stops = true;
      await first.outbox.close();
      assert.deepEqual([...new Set(first.complaints)], ["a run of the outbox has failed; it is tried again"]);
      const outcomes = await second.outbox.settle(shopId, effects, patienceMs);
      assert.ok([...outcomes.values()].every((outcome) => outcome.state === "applied"));
      await second.outbox.close();
      await landedOnce(world);
    }));

  test("many nodes at once on many orders push everything, and push it once", () =>
    withWorld(async (world) => {
      const orders = ["a", "b", "c", "d"];
      for (const name of orders)
        await world.place(`po_${name}`, [line(`${name}1`, { confirmed: 10, variantId: `${name}v` })]);
      const nodes = Array.from({ length: 3 }, () => nodeOf(world));
      await Promise.all(nodes.map(({ outbox }) => outbox.start()));
      await world.strike([{ call: "*", outcome: "lost-response", variantIds: null, times: 3 }], { latencyMs: 2 });
      for (const total of [1, 2, 3])
        await Promise.all(
          orders.map(async (name, index) => {
            const effects = await world.receive(`po_${name}`, { [`${name}1`]: quantity(total) });
            await nodes[(index + total) % nodes.length]?.outbox.settle(shopId, effects, 200);
          }),
        );
      await world.quiet();
      for (const { outbox } of nodes) await outbox.close();
      for (const name of orders) assert.equal(await world.onHand(`${name}v`), 3);
      const { variants } = await world.sandbox.state(orders.map((name) => `${name}v`));
      for (const variant of variants)
        assert.equal(variant.levels.find((level) => level.locationId === locationId)?.incoming, quantity(7));
      assert.deepEqual(
        nodes.flatMap(({ complaints }) => complaints),
        [],
      );
    }));
});
