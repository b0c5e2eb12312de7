/** What becomes of the unit costs of a completed order when they are read back (C45, D346). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decideComplete } from "../../../src/core/goods/complete.ts";
import type { LineItem } from "../../../src/core/order/purchase-order.ts";
import { acceptCostsStatement } from "../../../src/shop/storefront/cost-sync.ts";
import { eventsAfter } from "../../../src/shop/events/events.ts";
import { pageOfRecordLog } from "../../../src/shop/catalogue/record-log.ts";
import { costStatement } from "../../../src/shop/order/purchase-order-history.ts";
import type { Statement } from "../../../src/store/store.ts";
import { context, fxRate, line, money, quantity } from "../../support/goods.ts";
import { shopId, withWorld, type World } from "../../support/peers/storefront.ts";

/** Lines l1…lN of variants v1…vN, ten received of each. */
const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => line(`l${index + 1}`, { confirmed: 10, variantId: `v${index + 1}` }));

const received = (lineItems: readonly LineItem[]) =>
  lineItems.map((each) => ({ ...each, quantityReceived: quantity(10), quantitySynced: quantity(10) }));

/** A row of the cost history that waits to be read back. */
const proposed = (
  costSyncId: string,
  purchaseOrderId: string,
  variantId: string,
  { unitCost = 7.25, at = 0, completion = 0, accepted = null as number | null } = {},
): readonly Statement[] => [
  costStatement(shopId, purchaseOrderId, {
    costSyncId,
    variantId,
    poLineItemId: "l1",
    previousUnitCost: null,
    proposedUnitCost: money(unitCost),
    currencyCode: "USD",
    sourceUnitCost: money(unitCost),
    sourceCurrencyCode: "USD",
    fxRate: fxRate(1),
    fxSource: "same-currency",
    outcome: "proposed",
    reason: null,
    attempt: 1,
    completion,
    proposedAtMs: at,
    resolvedAtMs: null,
    lots: null,
  }),
  ...(accepted === null ? [] : [acceptCostsStatement(shopId, purchaseOrderId, { completion, attempt: 1 }, accepted)]),
];

const show = async (world: World, unitCost: number, ...variantIds: readonly string[]): Promise<void> => {
  await world.sandbox.writeCosts(
    variantIds.map((variantId) => ({ variantId, unitCost: money(unitCost) })),
    { reference: `costs ${unitCost}`, documentUri: "test:" },
  );
};

/** Completes the order and waits until its costs have been read back. */
const readBack = async (world: World, purchaseOrderId: string): Promise<void> => {
  const effects = await world.decide(purchaseOrderId, async (order) => decideComplete(order, true, context()));
  await world.outbox.settle(shopId, effects, 2_000);
  await world.quiet();
};

const outcomes = async (world: World): Promise<readonly (readonly [string, string | null])[]> => {
  const rows = await world.engine.read(shopId, (tx) =>
    tx.all<{ outcome: string; reason: string | null }>(
      "select outcome, reason from cost_sync where shop_id = ? order by cost_sync_id",
      [shopId],
    ),
  );
  return rows.map((row) => [row.outcome, row.reason]);
};

const failures = async (world: World): Promise<number> => {
  const events = await world.engine.read(shopId, (tx) => eventsAfter(tx, shopId, 0, ["cost_sync.failed"], 10));
  return events.length;
};

const effectOf = async (world: World): Promise<readonly unknown[]> => {
  const rows = await world.engine.read(shopId, (tx) =>
    tx.all<{ state: string; attempts: number; item_count: number }>(
      "select state, attempts, item_count from effect where shop_id = ? and kind = 'settle-costs'",
      [shopId],
    ),
  );
  return rows.map(({ state, attempts, item_count: items }) => [state, attempts, items]);
};

test("costs that can be read back are applied; others have failed once they were looked at often enough (C45)", () =>
  withWorld(
    async (world) => {
      await world.place("po_1", received(lines(3)), { status: "Received" });
      await show(world, 7.25, "v1");
      await show(world, 9, "v3");
      await world.engine.write(shopId, (tx) =>
        tx.batch([
          ...proposed("cs_1", "po_1", "v1"),
          ...proposed("cs_2", "po_1", "v2"),
          ...proposed("cs_3", "po_1", "v3", { accepted: 5 }),
        ]),
      );
      await readBack(world, "po_1");
      assert.deepEqual(await outcomes(world), [
        ["applied", null],
        ["failed", "the storefront shows no unit cost"],
        ["failed", "the storefront shows 9"],
      ]);
      assert.equal(await failures(world), 1);
      assert.deepEqual(await effectOf(world), [["failed", 2, 0]]);
    },
    { limits: { attemptsMax: 2 } },
  ));

test("costs that later ones of this service have replaced are settled at the first look, and nobody is told of a failure (C45, D346)", () =>
  withWorld(async (world) => {
    await world.place("po_1", received(lines(3)), { status: "Received" });
    await world.place("po_2", [line("m1", { variantId: "v1" })]);
    await show(world, 8, "v1");
    await show(world, 9, "v2");
    await show(world, 7.25, "v3");
    await world.engine.write(shopId, (tx) =>
      tx.batch([
        ...proposed("cs_1", "po_1", "v1"),
        ...proposed("cs_2", "po_1", "v2", { accepted: 5 }),
        ...proposed("cs_3", "po_1", "v3"),
        ...proposed("cs_4", "po_2", "v1", { unitCost: 8, at: 10, accepted: 20 }),
        ...proposed("cs_5", "po_1", "v2", { unitCost: 9, at: 10, completion: 7, accepted: 20 }),
        ...proposed("cs_6", "po_3", "v2", { unitCost: 11, at: 9, accepted: 20 }),
        ...proposed("cs_7", "po_3", "v2", { unitCost: 9, at: 8 }),
      ]),
    );
    await world.engine.write(shopId, (tx) =>
      tx.batch([acceptCostsStatement(shopId, "po_1", { completion: 0, attempt: 1 }, 5)]),
    );
    await readBack(world, "po_1");
    assert.deepEqual(await outcomes(world), [
      ["applied", "replaced since by PO-po_2"],
      ["applied", "replaced since by another cost of this order"],
      ["applied", null],
      ["proposed", null],
      ["applied", null],
      ["proposed", null],
      ["proposed", null],
    ]);
    assert.equal(await failures(world), 0);
    assert.deepEqual(await effectOf(world), [["applied", 1, 4]]);
  }));

test("a replaced cost of which nobody knows whether it was written has failed, and nobody is told again (D346)", () =>
  withWorld(async (world) => {
    await world.place("po_1", received(lines(1)), { status: "Received" });
    await show(world, 8, "v1");
    await world.engine.write(shopId, (tx) =>
      tx.batch([
        ...proposed("cs_1", "po_1", "v1"),
        ...proposed("cs_2", "po_1", "v1", { unitCost: 8, at: 10, completion: 1, accepted: 20 }),
      ]),
    );
    await readBack(world, "po_1");
    assert.deepEqual(await outcomes(world), [
      ["failed", "replaced since by another cost of this order; whether it was written before is not known"],
      ["applied", null],
    ]);
    assert.equal(await failures(world), 0);
    assert.deepEqual(await effectOf(world), [["applied", 1, 1]]);
  }));

test("of two costs written at the same time the catalogue gets the one that the storefront kept (D346)", () =>
  withWorld(async (world) => {
    await world.place("po_1", received(lines(2)), { status: "Received" });
    await world.place("po_2", [line("m1", { variantId: "v1" })]);
    await show(world, 8, "v1", "v2");
    await world.engine.write(shopId, (tx) =>
      tx.batch([
        ...proposed("cs_0", "po_2", "v1", { unitCost: 8, at: 10, accepted: 20 }),
        ...proposed("cs_1", "po_1", "v1", { at: 11, accepted: 21 }),
        // This one was begun later: the catalogue has it by its own completion.
        ...proposed("cs_2", "po_1", "v2", { at: 11, accepted: 21 }),
        ...proposed("cs_3", "po_2", "v2", { unitCost: 8, at: 30, accepted: 40, completion: 1 }),
        { sql: "update variant set unit_cost = ? where shop_id = ?", params: [money(7.25), shopId] },
      ]),
    );
    await readBack(world, "po_1");
    const catalogue = await world.engine.read(shopId, (tx) =>
      tx.all<{ unit_cost: number | null }>("select unit_cost from variant where shop_id = ? order by variant_id", [
        shopId,
      ]),
    );
    assert.deepEqual(
      catalogue.map((each) => each.unit_cost),
      [money(8), money(7.25)],
    );
    assert.deepEqual(
      (await outcomes(world)).map(([outcome, reason]) => `${outcome} ${reason}`),
      ["proposed null", "applied replaced since by PO-po_2", "applied replaced since by PO-po_2", "proposed null"],
    );
    const told = await Promise.all(
      ["v1", "v2"].map((recordId) =>
        world.engine.read(shopId, (tx) => pageOfRecordLog(tx, shopId, { kind: "variant", recordId }, null, 10)),
      ),
    );
    assert.deepEqual(
      told.map(({ entries }) => entries.map(({ operation, changes }) => [operation, changes])),
      [[["settle_costs", [{ field: "unitCost", before: 7.25, after: 8 }]]], []],
    );
  }));

test("costs of a completion that is under way are not read back with those of the one before (C45, D346)", () =>
  withWorld(
    async (world) => {
      await world.place("po_1", received(lines(1)), { status: "Received" });
      await show(world, 9, "v1");
      await world.engine.write(shopId, (tx) => tx.batch(proposed("cs_1", "po_1", "v1", { accepted: 5 })));
      const effects = await world.decide("po_1", async (order, tx) => {
        const decided = decideComplete(order, true, context());
        const completion = decided.next.completedAtMs ?? assert.fail("it is not completed");
        await tx.batch(proposed("cs_2", "po_1", "v1", { unitCost: 8, completion, at: 10 }));
        return decided;
      });
      await world.outbox.settle(shopId, effects, 2_000);
      await world.quiet();
      assert.deepEqual(await outcomes(world), [
        ["failed", "the storefront shows 9"],
        ["proposed", null],
      ]);
    },
    { limits: { attemptsMax: 2 } },
  ));
