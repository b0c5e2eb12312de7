/** The sandbox storefront beyond the port's contract: faults, delays, the operator's side. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SandboxControl } from "../../src/storefront/sandbox/control.ts";
import { openSandbox } from "../../src/storefront/sandbox/sandbox.ts";
import { type SandboxCall, type SandboxFault, type SandboxFaults } from "../../src/storefront/sandbox/faults.ts";
import { type Storefront, StorefrontError } from "../../src/storefront/storefront.ts";
import { money, quantity } from "../support/goods.ts";
import { inPlace, openStore } from "../support/store.ts";
import { quiet } from "../support/until.ts";

type Sandbox = Storefront & SandboxControl;

/** A sandbox with active variants v1 and v2 and a clock that a test sets. */
async function withSandbox(use: (sandbox: Sandbox, clock: { nowMs: number }) => Promise<void>): Promise<void> {
  await inPlace(async (directory) => {
    const store = await openStore(directory);
    const clock = { nowMs: 1_000 };
    const sandbox = openSandbox({
      engine: store.sandboxEngine,
      clock: { now: () => clock.nowMs },
      shopId: "demo",
      timeoutMs: 20,
    });
    try {
      await sandbox.seedVariants(
        ["v1", "v2"].map((variantId) => ({ variantId, productId: "p", status: "active", unitCost: null })),
      );
      await use(sandbox, clock);
    } finally {
      await store.close();
    }
  });
}

const fault = (
  call: SandboxFault["call"],
  outcome: SandboxFault["outcome"],
  rest: Partial<SandboxFault> = {},
): SandboxFault => ({ call, outcome, variantIds: null, times: null, ...rest });

const faults = (list: readonly SandboxFault[], delays: Partial<SandboxFaults> = {}): SandboxFaults => ({
  latencyMs: 0,
  applyDelayMs: 0,
  ...delays,
  faults: list,
});

const context = (reference: string) => ({ reference, documentUri: "test:" });
const add = (sandbox: Sandbox, reference: string, ...variantIds: readonly string[]) =>
  sandbox.changeOnHand(
    variantIds.map((variantId) => ({ variantId, locationId: "here", delta: quantity(1) })),
    context(reference),
  );

async function onHand(sandbox: Sandbox, variantId: string): Promise<number> {
  const { variants } = await sandbox.state([variantId]);
  return variants[0]?.levels[0]?.onHand ?? 0;
}

const rejection = async (work: Promise<unknown>): Promise<StorefrontError> => {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof StorefrontError, String(error));
    return error;
  }
  return assert.fail("the call went through");
};

suite("sandbox", () => {
  for (const [outcome, kind, landed, happened] of [
    ["error", "error", "no", 0],
    ["throttled", "throttled", "no", 0],
    ["timeout", "timeout", "maybe", 0],
    ["lost-response", "error", "maybe", 1_000],
  ] as const)
    test(`${outcome} fails the whole call that one of its variants is in, and no other`, () =>
      withSandbox(async (sandbox) => {
        await sandbox.replaceFaults(faults([fault("changeOnHand", outcome, { variantIds: ["v2"] })]));
        const error = await rejection(add(sandbox, "r1", "v1", "v2"));
        assert.equal(error.kind, kind);
        assert.equal(error.landed, landed);
        assert.equal(error.retryAfterMs === null, outcome !== "throttled");
        assert.equal(await onHand(sandbox, "v1"), happened);
        assert.deepEqual(await add(sandbox, "r2", "v1"), [{ outcome: "applied" }]);
        assert.deepEqual(await sandbox.checkVariants(["v2"]), ["active"], "another call is not struck");
      }));

  test("refused rejects only its items, in every call when it is for *", () =>
    withSandbox(async (sandbox) => {
      await sandbox.replaceFaults(faults([fault("*", "refused", { variantIds: ["v2"] })]));
      const results = await add(sandbox, "r1", "v1", "v2");
      assert.deepEqual(
        results.map((result) => result.outcome),
        ["applied", "rejected"],
      );
      const costs = await sandbox.writeCosts(
        ["v1", "v2"].map((variantId) => ({ variantId, unitCost: money(1) })),
        context("r2"),
      );
      assert.deepEqual(
        costs.map((result) => result.outcome),
        ["applied", "rejected"],
      );
      assert.deepEqual(await sandbox.checkVariants(["v1", "v2"]), ["active", "unsyncable"]);
    }));

  test("a fault hits as many calls as it says, and ends when the faults are replaced", () =>
    withSandbox(async (sandbox) => {
      await sandbox.replaceFaults(faults([fault("*", "error", { times: 2 }), fault("checkVariants", "throttled")]));
      assert.equal((await rejection(sandbox.checkVariants(["v1"]))).kind, "error");
      assert.equal((await rejection(add(sandbox, "r1", "v1"))).kind, "error");
      assert.equal((await rejection(sandbox.checkVariants(["v1"]))).kind, "throttled", "the next fault has its turn");
      await sandbox.replaceFaults(faults([]));
      assert.deepEqual(await sandbox.checkVariants(["v1"]), ["active"]);
    }));

  test("calls are counted, not items, and failed ones too (X3)", () =>
    withSandbox(async (sandbox) => {
      await add(sandbox, "r1", "v1", "v2");
      await sandbox.replaceFaults(faults([fault("changeOnHand", "error", { times: 1 })]));
      await rejection(add(sandbox, "r2", "v1"));
      await sandbox.checkVariants(["v1", "v2"]);
      const expected: Partial<Record<SandboxCall, number>> = { changeOnHand: 2, checkVariants: 1 };
      assert.deepEqual((await sandbox.state([])).calls, expected);
    }));

  test("a change is accepted at once and readable after applyDelayMs (X4)", () =>
    withSandbox(async (sandbox, clock) => {
      await sandbox.replaceFaults(faults([], { applyDelayMs: 500 }));
      const changes = [{ variantId: "v1", locationId: "here", delta: quantity(3) }];
      assert.deepEqual(await sandbox.changeOnHand(changes, context("r1")), [{ outcome: "applied" }]);
      clock.nowMs += 499;
      assert.deepEqual(await sandbox.readOnHand(changes, context("r1")), [{ verified: false, onHand: quantity(0) }]);
      clock.nowMs += 1;
      assert.deepEqual(await sandbox.readOnHand(changes, context("r1")), [{ verified: true, onHand: quantity(3) }]);
    }));

  test("a level that the operator sets is what is readable; accepted changes still come on top of it (X4)", () =>
    withSandbox(async (sandbox, clock) => {
      await sandbox.replaceFaults(faults([], { applyDelayMs: 500 }));
      await add(sandbox, "r1", "v1");
      const patched = await sandbox.patchVariant("v1", {
        status: "inactive",
        unitCost: money(2),
        levels: [{ locationId: "here", onHand: quantity(10) }],
      });
      assert.deepEqual(patched, {
        variantId: "v1",
        status: "inactive",
        unitCost: money(2),
        tags: [],
        levels: [{ locationId: "here", onHand: quantity(10), incoming: quantity(0) }],
      });
      clock.nowMs += 500;
      assert.equal(await onHand(sandbox, "v1"), quantity(11));
      assert.equal(await sandbox.patchVariant("never seeded", { status: "active" }), null);
    }));

  test("a variant that the sandbox never got is deleted (X2)", () =>
    withSandbox(async (sandbox) => {
      assert.deepEqual(await sandbox.checkVariants(["v1", "from elsewhere"]), ["active", "deleted"]);
    }));

  test("latency delays every call, and nothing is done for a caller that has aborted", () =>
    withSandbox(async (sandbox) => {
      await sandbox.replaceFaults(faults([], { latencyMs: 40 }));
      const beganMs = performance.now();
      await sandbox.checkVariants(["v1"]);
      assert.ok(performance.now() - beganMs >= 35);
      const givenUp = new AbortController();
      const change = sandbox.changeOnHand([{ variantId: "v1", locationId: "here", delta: quantity(1) }], {
        ...context("r1"),
        signal: givenUp.signal,
      });
      givenUp.abort();
      assert.equal((await rejection(change)).landed, "no");
      await quiet(60);
      assert.equal(await onHand(sandbox, "v1"), 0);
    }));

  test("a call that its caller gives up while it waits for its turn is not made later (X3)", () =>
    withSandbox(async (sandbox) => {
      const givenUp = new AbortController();
      const level = { variantId: "v1", locationId: "here" };
      const old = sandbox.setIncoming([{ ...level, incoming: quantity(5) }], {
        ...context("r1"),
        signal: givenUp.signal,
      });
      givenUp.abort();
      assert.equal((await rejection(old)).landed, "no");
      const { variants, calls } = await sandbox.state(["v1"]);
      assert.deepEqual(variants[0]?.levels, []);
      assert.deepEqual(calls, {});
    }));

  test("seeding again replaces a variant and keeps its levels and tags", () =>
    withSandbox(async (sandbox) => {
      await sandbox.seedLevels([{ variantId: "v1", locationId: "here", onHand: quantity(4) }]);
      await sandbox.setTags([{ variantId: "v1", tag: "summer", present: true }], context("r1"));
      await sandbox.seedVariants([{ variantId: "v1", productId: "p", status: "inactive", unitCost: money(3) }]);
      assert.deepEqual((await sandbox.state(["v1"])).variants, [
        {
          variantId: "v1",
          status: "inactive",
          unitCost: money(3),
          tags: ["summer"],
          levels: [{ locationId: "here", onHand: quantity(4), incoming: quantity(0) }],
        },
      ]);
    }));
});
