import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import type { EffectOutcome } from "../../src/core/order/effect.ts";
import { zeroQuantity } from "../../src/core/money/money.ts";
import { claimLane } from "../../src/shop/storefront/effects.ts";
import { isUnread } from "../../src/core/storefront/stock-push.ts";
import {
  claimStatements,
  claimsHeld,
  endConfirmation,
  renewClaimStatement,
} from "../../src/shop/order/order-claims.ts";
import { loadStockPushes, markReadBack, sweepPushesStatement } from "../../src/shop/storefront/stock-pushes.ts";
import type { OutboxLimits } from "../../src/jobs/outbox/limits.ts";
import type { SandboxFault } from "../../src/storefront/sandbox/faults.ts";
import type { Storefront } from "../../src/storefront/storefront.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import { line, quantity } from "../support/goods.ts";
import { inDirectory, locationId, openWorld, shopId, withWorld, type World } from "../support/peers/storefront.ts";
import { onPostgres } from "../support/store.ts";
import { patienceMs, pause, until } from "../support/until.ts";

const fault = (
  call: SandboxFault["call"],
  outcome: SandboxFault["outcome"],
  rest: Partial<SandboxFault> = {},
): SandboxFault => ({ call, outcome, variantIds: null, times: null, ...rest });

/** Lines l1…lN of variants v1…vN, ten confirmed of each. */
const lines = (count: number, order = "") =>
  Array.from({ length: count }, (_, index) =>
    line(`${order}l${index + 1}`, { confirmed: 10, variantId: `${order}v${index + 1}` }),
  );

/** The outcome of the push among the effects of a change. */
async function pushOutcome(world: World, effectIds: readonly string[], waitMs = patienceMs): Promise<EffectOutcome> {
  const outcomes = await world.outbox.settle(shopId, effectIds, waitMs);
  const rows = await world.engine.read(shopId, (tx) =>
    tx.all<{ effect_id: string }>("select effect_id from effect where shop_id = ? and kind = 'push-stock'", [shopId]),
  );
  const id = rows.map((row) => row.effect_id).find((each) => outcomes.has(each));
  return outcomes.get(id ?? "") ?? assert.fail("no push was asked for");
}

const calls = async (world: World) => (await world.sandbox.state([])).calls;

suite("outbox: stock", () => {
  test("what was received lands at the storefront, is synced, told in the log and in the shop's own levels", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(2));
      const effects = await world.receive("po_1", { l1: quantity(4), l2: quantity(2.5) });
      const asked = await world.load("po_1");
      assert.equal(asked.storefrontSyncState, "in-flight");
      assert.deepEqual(await pushOutcome(world, effects), { state: "applied", itemCount: 2 });

      const order = await world.load("po_1");
      assert.deepEqual(
        order.lineItems.map((each) => each.quantitySynced),
        [quantity(4), quantity(2.5)],
      );
      assert.equal(order.storefrontSyncState, "synced");
      assert.equal(order.version, asked.version + 1, "one change of what the order shows, one version");
      assert.equal(await world.onHand("v1"), 4);
      assert.equal(await world.onHand("v2"), 2.5);
      const own = await world.engine.read(shopId, async (tx) => ({
        levels: await tx.all<{ on_hand: number }>(
          "select on_hand from inventory_level where shop_id = ? order by variant_id",
          [shopId],
        ),
        log: await tx.all<{ message: string }>(
          "select message from purchase_order_log where shop_id = ? and action = 'storefront-sync'",
          [shopId],
        ),
      }));
      assert.deepEqual(
        own.levels.map((level) => level.on_hand),
        [4_000, 2_500],
      );
      assert.deepEqual(
        own.log.map((entry) => entry.message),
        ["The storefront took the stock of 2 lines."],
      );
    }));

  test("goods taken back below what is synced are taken from the storefront", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(1));
      await world.outbox.settle(shopId, await world.receive("po_1", { l1: quantity(6) }), patienceMs);
      await world.quiet();
      assert.deepEqual(await pushOutcome(world, await world.unreceive("po_1", { l1: quantity(2) })), {
        state: "applied",
        itemCount: 1,
      });
      assert.equal(await world.onHand("v1"), 4);
    }));

  // The second attempt waits until the test says that it is due, so that it is not over before the first one was looked at.
  const tries: Partial<OutboxLimits> = { backoffMs: 3_600_000, backoffMsMax: 3_600_000 };
  const tryNow = (world: World): Promise<void> =>
    world.engine.write(shopId, (tx) =>
      tx.batch([
        {
          sql: "update effect set due_at = 0 where shop_id = ? and state = 'pending' and lease_owner is null",
          params: [shopId],
        },
      ]),
    );
  for (const outcome of ["error", "throttled", "timeout", "lost-response"] as const)
    test(`a push that meets ${outcome} is tried again and lands once`, () =>
      withWorld(
        async (world) => {
          await world.place("po_1", lines(2));
          await world.strike([fault("changeOnHand", outcome, { times: 2 })]);
          const effects = await world.receive("po_1", { l1: quantity(5), l2: quantity(1) });
          assert.deepEqual(await pushOutcome(world, effects), { state: "pending" }, "the first attempt is over");
          await until("the push has landed", async () => {
            await tryNow(world);
            return (await pushOutcome(world, effects, 100)).state !== "pending";
          });
          assert.deepEqual(await pushOutcome(world, effects), { state: "applied", itemCount: 2 });
          assert.equal(await world.onHand("v1"), 5);
          assert.equal(await world.onHand("v2"), 1);
          assert.equal((await calls(world)).changeOnHand, 3);
        },
        { limits: tries },
      ));

  test("the backlog tells the age of the oldest effect that is pending, and counts those given up", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(1));
      await world.quiet();
      assert.deepEqual(world.outbox.backlog(), { shops: 0, oldestAtMs: null, failedTotal: 0 });
      await world.strike([fault("changeOnHand", "error")]);
      const beforeMs = systemClock.now();
      const effects = await world.receive("po_1", { l1: quantity(5) });
      await pushOutcome(world, effects);
      const { shops, oldestAtMs } = world.outbox.backlog();
      assert.ok(shops === 1 && oldestAtMs !== null && oldestAtMs >= beforeMs, String(oldestAtMs));
      await world.quiet();
      // The effect is settled before the outbox has seen it: it looks once more within a second.
      await until("nothing is left", () => world.outbox.backlog().oldestAtMs === null);
      assert.deepEqual(world.outbox.backlog(), { shops: 0, oldestAtMs: null, failedTotal: 1 });
    }));

  test("work that was put off is done when the clock is set back by more than a day, whatever it waited for", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(1));
      const effects = await world.receive("po_1", { l1: quantity(5) });
      // As an attempt or a lease has left it before the clock was set back by 40 days.
      await world.engine.write(shopId, (tx) =>
        tx.batch([
          {
            sql: "update effect set due_at = ?, lease_owner = 'node_before' where shop_id = ? and state = 'pending'",
            params: [systemClock.now() + 40 * 86_400_000, shopId],
          },
        ]),
      );
      assert.deepEqual(await pushOutcome(world, effects), { state: "applied", itemCount: 1 });
      assert.equal(await world.onHand("v1"), 5);
    }));

  test("a refused line fails alone, with its reason; its neighbours are synced", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(3));
      await world.strike([fault("changeOnHand", "refused", { variantIds: ["v2"] })]);
      const effects = await world.receive("po_1", { l1: quantity(1), l2: quantity(1), l3: quantity(1) });
      assert.deepEqual(await pushOutcome(world, effects), {
        state: "failed",
        detail: "the storefront refuses variant v2.",
        itemCount: 2,
      });
      const order = await world.load("po_1");
      assert.equal(order.storefrontSyncState, "partial");
      assert.deepEqual(
        order.lineItems.map((each) => each.quantitySynced),
        [quantity(1), zeroQuantity, quantity(1)],
      );
      assert.equal((await calls(world)).changeOnHand, 1, "what is refused for good is not tried again");
    }));

  test("a push that never gets through has failed after the named number of attempts, and nothing landed", () =>
    withWorld(
      async (world) => {
        await world.place("po_1", lines(1));
        await world.strike([fault("changeOnHand", "error")]);
        const effects = await world.receive("po_1", { l1: quantity(3) });
        await world.outbox.settle(shopId, effects, patienceMs);
        await world.quiet();
        assert.deepEqual(await pushOutcome(world, effects), {
          state: "failed",
          detail: "the storefront failed (tried 3 times).",
          itemCount: 0,
        });
        assert.equal((await calls(world)).changeOnHand, 3);
        assert.equal((await world.load("po_1")).storefrontSyncState, "failed");

        await world.strike([]);
        assert.deepEqual(await pushOutcome(world, await world.receive("po_1", { l1: quantity(4) })), {
          state: "applied",
          itemCount: 1,
        });
        assert.equal(await world.onHand("v1"), 4);
      },
      { limits: { attemptsMax: 3 } },
    ));

  test("a push given up without an outcome is sent again under its reference, and cannot land twice (C43)", () =>
    withWorld(
      async (world) => {
        await world.place("po_1", lines(1));
        await world.strike([fault("changeOnHand", "lost-response")]);
        await world.outbox.settle(shopId, await world.receive("po_1", { l1: quantity(3) }), patienceMs);
        await world.quiet();
        assert.equal(await world.onHand("v1"), 3, "it had landed");
        assert.equal((await world.load("po_1")).lineItems[0]?.quantitySynced, zeroQuantity);

        await world.strike([]);
        await world.outbox.settle(shopId, await world.receive("po_1", { l1: quantity(8) }), patienceMs);
        await world.quiet();
        assert.equal(await world.onHand("v1"), 8);
        assert.equal((await world.load("po_1")).lineItems[0]?.quantitySynced, quantity(8));
      },
      { limits: { attemptsMax: 2 } },
    ));

  test("a receipt during a push that hangs is pushed after it, in full", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(1));
      await world.strike([], { latencyMs: 60 });
      const first = await world.receive("po_1", { l1: quantity(2) });
      void world.outbox.settle(shopId, first, 0);
      await until("the push is made", async () => (await calls(world)).changeOnHand === 1);
      const second = await world.receive("po_1", { l1: quantity(7) });
      const outcome = await pushOutcome(world, second);
      await world.quiet();
      assert.notEqual(outcome.state, "failed");
      assert.equal(await world.onHand("v1"), 7);
      assert.equal((await world.load("po_1")).storefrontSyncState, "synced");
    }));

  test("a storefront that hangs for one order delays no other, and is waited for no longer than the limit", () => {
    let hanging = 0;
    const between = (storefront: Storefront): Storefront => ({
      ...storefront,
      changeOnHand: (changes, write) => {
        if (changes.every((change) => change.variantId !== "av1")) return storefront.changeOnHand(changes, write);
        hanging += 1;
        return new Promise(() => {});
      },
    });
    return withWorld(
      async (world) => {
        await world.place("po_a", lines(1, "a"));
        await world.place("po_b", lines(1, "b"));
        const stuck = await world.receive("po_a", { al1: quantity(1) });
        const others = await world.receive("po_b", { bl1: quantity(1) });
        void world.outbox.settle(shopId, stuck, 0);
        assert.deepEqual(await pushOutcome(world, others), { state: "applied", itemCount: 1 });
        await world.quiet();
        assert.equal(hanging, 2, "given up after two attempts, each at the time limit");
        assert.deepEqual(await pushOutcome(world, stuck), {
          state: "failed",
          detail: "the storefront did not answer in time (tried 2 times).",
          itemCount: 0,
        });
      },
      { between, limits: { callTimeLimitMs: 500, attemptsMax: 2 } },
    );
  });

  test("the storefront is told the trace of the request that asked for a push, whoever attempts it", () => {
    const told: unknown[] = [];
    const between = (storefront: Storefront): Storefront => ({
      ...storefront,
      changeOnHand: (changes, write) => {
        told.push(write.traceparent);
        return storefront.changeOnHand(changes, write);
      },
    });
    return withWorld(
      async (world) => {
        await world.place("po_1", lines(1));
        const effects = await world.receive("po_1", { l1: quantity(1) });
        await world.engine.write(shopId, (tx) =>
          tx.batch([
            { sql: "update effect set traceparent = 't1' where shop_id = ? and kind = 'push-stock'", params: [shopId] },
          ]),
        );
        await world.strike([fault("changeOnHand", "error", { times: 1 })]);
        await world.outbox.settle(shopId, effects, patienceMs);
        await world.quiet();
        assert.deepEqual(told, ["t1", "t1"]);
      },
      { between },
    );
  });

  test("`settle` waits no longer than asked and then says pending", () => {
    // The storefront answers after that, however slow the machine is.
    const asked = Promise.withResolvers<void>();
    const between = (storefront: Storefront): Storefront => ({
      ...storefront,
      changeOnHand: async (changes, write) => {
        await asked.promise;
        return await storefront.changeOnHand(changes, write);
      },
    });
    return withWorld(
      async (world) => {
        await world.place("po_1", lines(1));
        const [push = ""] = await world.receive("po_1", { l1: quantity(2) });
        const outcomes = await world.outbox.settle(shopId, [push], 30);
        asked.resolve();
        assert.equal(outcomes.get(push)?.state, "pending");
        await world.quiet();
        assert.equal(await world.onHand("v1"), 2);
      },
      { between },
    );
  });

  test("an answer that does not know of every item is asked for again; what it knew is kept once", () => {
    let answers = 0;
    const between = (storefront: Storefront): Storefront => ({
      ...storefront,
      changeOnHand: async (changes, write) => {
        const results = await storefront.changeOnHand(changes, write);
        answers += 1;
        return answers > 1 ? results : results.map((r, i) => (i === 0 ? r : { outcome: "unknown", message: "?" }));
      },
    });
    return withWorld(
      async (world) => {
        await world.place("po_1", lines(2));
        const effects = await world.receive("po_1", { l1: quantity(2), l2: quantity(3) });
        await world.outbox.settle(shopId, effects, patienceMs);
        await world.quiet();
        assert.equal(answers, 2);
        const order = await world.load("po_1");
        assert.deepEqual(
          order.lineItems.map((each) => each.quantitySynced),
          [quantity(2), quantity(3)],
        );
        assert.equal(await world.onHand("v2"), 3);
      },
      { between },
    );
  });

  test("a pending effect is resumed by the next process", () =>
    inDirectory(async (directory) => {
      const before = await openWorld(directory);
      await before.place("po_1", lines(1));
      await before.strike([], { latencyMs: 5_000 });
      void before.outbox.settle(shopId, await before.receive("po_1", { l1: quantity(2) }), 0);
      await until("the push is made", async () => (await calls(before)).changeOnHand === 1);
      await before.close();

      const after = await openWorld(directory);
      try {
        await after.strike([]);
        await after.outbox.start();
        await after.quiet();
        assert.equal(await after.onHand("v1"), 2);
        assert.equal((await after.load("po_1")).storefrontSyncState, "synced");
      } finally {
        await after.close();
      }
    }));

  // Other processes of a database may live: their claims are left to them.
  const skip = onPostgres && "a database has other processes beside this one";
  test(
    "what a process that died had claimed is due at the next start, however long its lease still is (O1)",
    { skip },
    () =>
      inDirectory(async (directory) => {
        const before = await openWorld(directory);
        await before.place("po_1", lines(1));
        await before.receive("po_1", { l1: quantity(2) });
        const nowMs = Date.now();
        const leasedUntilMs = nowMs + 3_600_000;
        const claimed = await before.engine.write(shopId, (tx) =>
          claimLane(tx, shopId, "push-stock po_1", "a runner that died", { nowMs, leasedUntilMs }),
        );
        assert.equal(claimed.length, 1);
        await before.close();

        const after = await openWorld(directory);
        try {
          await after.outbox.start();
          const owners = await after.engine.read(shopId, (tx) =>
            tx.all<{ lease_owner: string | null }>("select lease_owner from effect where shop_id = ?", [shopId]),
          );
          assert.ok(owners.every(({ lease_owner: owner }) => owner !== "a runner that died"));
          await until("it has landed", async () => (await after.onHand("v1")) === 2);
        } finally {
          await after.close();
        }
      }),
  );

  test("more orders than lanes at a time all get their turn", () =>
    withWorld(
      async (world) => {
        await world.strike([], { latencyMs: 5 });
        const orders = ["a", "b", "c", "d", "e", "f"];
        for (const name of orders) await world.place(`po_${name}`, lines(1, name));
        for (const name of orders) await world.receive(`po_${name}`, { [`${name}l1`]: quantity(3) });
        await world.outbox.settle(shopId, [], 0);
        await world.quiet();
        for (const name of orders) assert.equal(await world.onHand(`${name}v1`), 3);
      },
      { limits: { lanesMax: 2, lanesPerShopMax: 3 } },
    ));

  test("what another runner has claimed is left to it, and taken over when its lease has ended (O1)", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(1));
      const [push = "", ...others] = await world.receive("po_1", { l1: quantity(3) });
      const nowMs = Date.now();
      const claimed = await world.engine.write(shopId, (tx) =>
        claimLane(tx, shopId, "push-stock po_1", "another runner", {
          nowMs,
          leasedUntilMs: nowMs + 3_600_000,
        }),
      );
      assert.deepEqual(
        claimed.map((entry) => entry.effectId),
        [push],
      );
      await world.outbox.settle(shopId, others, patienceMs);
      assert.deepEqual(await pushOutcome(world, [push], 50), { state: "pending" });
      assert.equal(await world.onHand("v1"), 0);
      await world.engine.write(shopId, (tx) =>
        tx.batch([
          { sql: "update effect set due_at = ? where shop_id = ? and effect_id = ?", params: [nowMs, shopId, push] },
        ]),
      );
      assert.deepEqual(await pushOutcome(world, [push]), { state: "applied", itemCount: 1 });
      assert.equal(await world.onHand("v1"), 3);
    }));

  test("whatever goes wrong, the storefront ends with what was received, and nothing landed twice", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.record({ kind: fc.constant("receive" as const), line: fc.constantFrom("l1", "l2"), units: fc.nat(10) }),
            fc.record({ kind: fc.constant("take back" as const), line: fc.constantFrom("l1", "l2") }),
            fc.record({
              kind: fc.constant("fault" as const),
              outcome: fc.constantFrom("error", "throttled", "timeout", "lost-response" as const),
              times: fc.integer({ min: 1, max: 5 }),
            }),
            fc.record({ kind: fc.constant("rest" as const) }),
          ),
          { minLength: 3, maxLength: 12 },
        ),
        (steps) =>
          withWorld(
            async (world) => {
              await world.place("po_1", lines(2));
              for (const step of steps) {
                switch (step.kind) {
                  case "receive": {
                    const order = await world.load("po_1");
                    const now = order.lineItems.find((each) => each.poLineItemId === step.line);
                    const total = Math.max(step.units * 1_000, now?.quantityReceived ?? 0) / 1_000;
                    void world.outbox.settle(shopId, await world.receive("po_1", { [step.line]: quantity(total) }), 0);
                    break;
                  }
                  case "take back": {
                    const order = await world.load("po_1");
                    const now = order.lineItems.find((each) => each.poLineItemId === step.line);
                    if (now === undefined || now.quantityReceived < 1_000) break;
                    void world.outbox.settle(shopId, await world.unreceive("po_1", { [step.line]: quantity(1) }), 0);
                    break;
                  }
                  case "fault":
                    await world.strike([fault("changeOnHand", step.outcome, { times: step.times })]);
                    break;
                  case "rest":
                    await pause(10);
                    break;
                }
              }
              await world.quiet();
              // What was given up on the way is brought in step by one more push of everything.
              await world.strike([]);
              const effects = await world.decide("po_1", async (order) => ({
                next: { ...order, version: order.version + 1 },
                log: [],
                receipts: [],
                effects: [{ kind: "push-stock", purchaseOrderId: "po_1", poLineItemIds: ["l1", "l2"] }],
              }));
              await world.outbox.settle(shopId, effects, patienceMs);
              await world.quiet();
              const order = await world.load("po_1");
              for (const each of order.lineItems) {
                assert.equal(each.quantitySynced, each.quantityReceived);
                assert.equal((await world.onHand(each.variantId)) * 1_000, each.quantityReceived);
              }
              assert.deepEqual(world.complaints, []);
            },
            { limits: { attemptsMax: 3, backoffMs: 1, backoffMsMax: 4 } },
          ),
      ),
      { numRuns: 15 },
    ));
});

suite("outbox: incoming and tags", () => {
  const incomingOf = async (world: World, variantId: string): Promise<number> => {
    const { variants } = await world.sandbox.state([variantId]);
    return (variants[0]?.levels.find((level) => level.locationId === locationId)?.incoming ?? 0) / 1_000;
  };

  test("the storefront's incoming follows the ledger, whatever the order of the calls", () =>
    withWorld(async (world) => {
      await world.place("po_a", [line("al1", { ordered: 10, confirmed: 10, variantId: "v1" })]);
      await world.place("po_b", [line("bl1", { ordered: 5, confirmed: 5, variantId: "v1" })]);
      await world.strike([fault("setIncoming", "lost-response", { times: 1 })]);
      const effects = [
        ...(await world.receive("po_a", { al1: quantity(4) })),
        ...(await world.receive("po_b", { bl1: quantity(1) })),
        ...(await world.receive("po_a", { al1: quantity(9) })),
      ];
      await world.outbox.settle(shopId, effects, patienceMs);
      await world.quiet();
      assert.equal(await incomingOf(world, "v1"), 5);
    }));

  test("products with something on order carry the tag, others do not; off, nothing is told", async () => {
    await withWorld(
      async (world) => {
        await world.place("po_1", lines(1));
        const tags = async () => (await world.sandbox.state(["v1"])).variants[0]?.tags;
        await world.outbox.settle(shopId, await world.receive("po_1", { l1: quantity(4) }), patienceMs);
        assert.deepEqual(await tags(), ["on order"]);
        await world.outbox.settle(shopId, await world.receive("po_1", { l1: quantity(10) }), patienceMs);
        assert.deepEqual(await tags(), []);
      },
      { settings: { onOrderTag: "on order" } },
    );
    await withWorld(async (world) => {
      await world.place("po_1", lines(1));
      await world.outbox.settle(shopId, await world.receive("po_1", { l1: quantity(4) }), patienceMs);
      assert.equal((await calls(world)).setTags, undefined);
    });
  });
});

suite("outbox: what was read back, and claims of calls", () => {
  /** How many items of each of the order's pushes the storefront has not shown. */
  const unread = async (world: World): Promise<readonly number[]> => {
    const pushes = await world.engine.read(shopId, (tx) => loadStockPushes(tx, shopId, "po_1"));
    return pushes.map((push) => push.items.filter(isUnread).length);
  };

  test("a push is read back at once if the storefront shows it; until it was, it is kept (C43)", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(2));
      await pushOutcome(world, await world.receive("po_1", { l1: quantity(1) }));
      await world.strike([], { applyDelayMs: 60_000 });
      await pushOutcome(world, await world.receive("po_1", { l1: quantity(2), l2: quantity(2) }));
      assert.deepEqual(await unread(world), [0, 2]);
      const reads = (await calls(world))["readOnHand"];
      await world.strike([fault("changeOnHand", "refused")]);
      await pushOutcome(world, await world.receive("po_1", { l1: quantity(3) }));
      assert.equal((await calls(world))["readOnHand"], reads, "nothing has landed");

      const sweep = sweepPushesStatement(shopId, systemClock.now());
      await world.engine.write(shopId, (tx) => tx.batch([sweep]));
      assert.deepEqual(await unread(world), [2]);
      const [late] = await world.engine.read(shopId, (tx) => loadStockPushes(tx, shopId, "po_1"));
      const shown = new Map([[late?.reference ?? "", new Set([0, 1])]]);
      await world.engine.write(shopId, (tx) => markReadBack(tx, shopId, "po_1", shown));
      assert.deepEqual(await unread(world), [0]);
      await world.engine.write(shopId, (tx) => tx.batch([sweep]));
      assert.deepEqual(await unread(world), []);
    }));

  test("a claim holds until its lease ends; a call that was too slow does not end the wait of the next one (C43)", () =>
    withWorld(async (world) => {
      await world.place("po_1", lines(1), { storefrontSyncState: "in-flight" });
      const effect = { kind: "end-confirmation", purchaseOrderId: "po_1", sinceMs: 0, wasFailed: false } as const;
      const take = (claimId: string, leasedUntilMs: number) =>
        world.engine.write(shopId, (tx) =>
          tx.batch(claimStatements(shopId, { claimId, effect, nowMs: 1_000, leasedUntilMs })),
        );
      const held = (nowMs: number, own: string | null = null) =>
        world.engine.read(shopId, async (tx) => [...(await claimsHeld(tx, shopId, "po_1", nowMs, own))]);
      const end = (claimId: string, nowMs: number) =>
        world.engine.write(shopId, (tx) =>
          endConfirmation(tx, shopId, claimId, effect, {
            actor: { type: "system", id: null, name: null },
            operation: null,
            requestId: null,
            nowMs,
            ids: timeOrderedIds(systemClock),
          }),
        );
      const state = async (): Promise<string> => (await world.load("po_1")).storefrontSyncState;
      await take("slow", 2_000);
      assert.deepEqual(
        [await held(1_999), await held(1_999, "slow"), await held(2_000)],
        [["end-confirmation"], [], []],
      );
      await world.engine.write(shopId, (tx) => tx.batch([renewClaimStatement(shopId, "slow", 3_000)]));
      assert.deepEqual(await held(2_999), ["end-confirmation"]);

      await take("next", 9_000);
      await world.engine.write(shopId, (tx) => tx.batch([renewClaimStatement(shopId, "slow", 99_000)]));
      assert.deepEqual(await held(4_000, "next"), [], "a claim that was followed by another is not renewed");
      await end("slow", 4_000);
      assert.equal(await state(), "in-flight");
      await end("next", 4_000);
      assert.equal(await state(), "never-synced");
    }));
});

test("when the service has stopped, work that an import asks for is left for the next start, without a failure", () =>
  inDirectory(async (directory) => {
    const world = await openWorld(directory);
    await world.close();
    assert.deepEqual(await world.outbox.settle(shopId, [], 0), new Map());
  }));
