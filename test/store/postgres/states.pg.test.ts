/**
 * What a node remembers of orders that other nodes may change (R6, D357): their lines are not read again while nobody has changed them, and never taken for
 * those of another state.
 *
 * Only on postgres: sqlite knows who changes its rows (engine-memory.test.ts).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordsRememberedBytesMax } from "../../../src/store/cache.ts";
import type { PurchaseOrder } from "../../../src/core/order/purchase-order.ts";
import {
  deleteOrder,
  importOrder,
  loadOrder,
  saveDecision,
  type Stamp,
} from "../../../src/shop/order/purchase-orders.ts";
import type { Tx } from "../../../src/store/store.ts";
import { systemClock, timeOrderedIds } from "../../../src/base/time/system.ts";
import { importedOrder, line, order, quantity } from "../../support/goods.ts";
import { openPostgresStore } from "../../support/postgres/postgres.ts";
import { databaseOf, makePlace, runBehind, type Store } from "../../support/store.ts";

const shopId = "a";
const orderId = "po_1";

const stamp: Stamp = {
  actor: { type: "system", id: null, name: null },
  operation: null,
  requestId: "req_1",
  nowMs: 0,
  ids: timeOrderedIds(systemClock),
};

const first = order("Draft", [line("l1"), line("l2"), line("l3")]);

/** The order after one more change: so much of its first line is received. */
const received = (before: PurchaseOrder, units: number): PurchaseOrder => ({
  ...before,
  version: before.version + 1,
  lineItems: before.lineItems.map((each, index) =>
    index === 0 ? { ...each, quantityReceived: quantity(units) } : each,
  ),
});

const save = (tx: Tx, before: PurchaseOrder | null, next: PurchaseOrder): Promise<unknown> =>
  saveDecision(tx, shopId, before, { next, log: [], effects: [], receipts: [] }, stamp);

/** The order as a transaction loads it, and how many rows of lines that took. */
async function loaded(tx: Tx): Promise<{ readonly order: PurchaseOrder | null; readonly lines: number }> {
  let lines = 0;
  const counting: Tx = {
    states: tx.states,
    batch: (statements) => tx.batch(statements),
    async all<R>(...[sql, params]: Parameters<Tx["all"]>): Promise<R[]> {
      const rows = await tx.all<R>(sql, params);
      if (sql.includes("from purchase_order_line")) lines += rows.length;
      return rows;
    },
  };
  return { order: await loadOrder(counting, shopId, orderId), lines };
}

const readBy = ({ engine }: Store) => engine.read(shopId, loaded);

/** Two nodes on a database with the order, which the first of them has written. */
async function withNodes(use: (one: Store, two: Store, directory: string) => Promise<void>): Promise<void> {
  const place = await makePlace(true);
  const url = databaseOf(place.directory) ?? "";
  const [one, two] = [await openPostgresStore(url), await openPostgresStore(url)];
  try {
    await one.engine.create(shopId);
    await one.engine.write(shopId, (tx) => save(tx, null, first));
    await use(one, two, place.directory);
  } finally {
    await one.close();
    await two.close();
    await place.remove();
  }
}

test("a node reads the lines of an order once, or not at all if it has written them", () =>
  withNodes(async (one, two) => {
    assert.deepEqual(await readBy(one), { order: first, lines: 0 });
    assert.deepEqual(await readBy(two), { order: first, lines: 3 });
    assert.deepEqual(await readBy(two), { order: first, lines: 0 });
    assert.deepEqual(await two.engine.write(shopId, loaded), { order: first, lines: 0 });
  }));

test("what another node has changed is read anew, also within a turn", () =>
  withNodes(async (one, two) => {
    const next = received(first, 4);
    await two.engine.write(shopId, async (tx) => save(tx, (await loaded(tx)).order, next));
    assert.deepEqual(await readBy(one), { order: next, lines: 3 });
    const last = received(next, 5);
    await one.engine.write(shopId, (tx) => save(tx, next, last));
    assert.deepEqual(await two.engine.write(shopId, loaded), { order: last, lines: 3 });
    assert.deepEqual(await readBy(two), { order: last, lines: 0 });
  }));

test("a change that was not kept is never taken for one that was, though both have the same version", () =>
  withNodes(async (one, two) => {
    const [lost, kept] = [received(first, 4), received(first, 5)];
    const refused = one.engine.write(shopId, async (tx) => {
      await save(tx, first, lost);
      assert.deepEqual(await loaded(tx), { order: lost, lines: 0 }, "it is in its own transaction");
      throw new Error("refused");
    });
    await assert.rejects(refused, /refused/);
    assert.deepEqual((await readBy(one)).order, first);
    await assert.rejects(
      one.engine.write(shopId, async (tx) => {
        await save(tx, first, lost);
        throw new Error("refused");
      }),
    );
    await two.engine.write(shopId, (tx) => save(tx, first, kept));
    assert.deepEqual(await readBy(one), { order: kept, lines: 3 });
  }));

test("an order that was deleted and imported anew with the same version is read anew", () =>
  withNodes(async (one, two) => {
    const other = { ...received(first, 7), version: first.version };
    await two.engine.write(shopId, (tx) => deleteOrder(tx, shopId, first, stamp));
    assert.deepEqual(await readBy(one), { order: null, lines: 0 });
    await two.engine.write(shopId, (tx) => importOrder(tx, shopId, importedOrder(other), true));
    assert.deepEqual(await readBy(one), { order: other, lines: 3 });
    assert.deepEqual(await readBy(one), { order: other, lines: 3 }, "what is imported has no name of its state");
  }));

test("what a node of an earlier version has changed, which gives states no names, is read anew", () =>
  withNodes(async (one, _two, directory) => {
    const next = received(first, 6);
    await runBehind(directory, shopId, "update purchase_order set version = version + 1");
    await runBehind(
      directory,
      shopId,
      "update purchase_order_line set quantity_received = 6000 where po_line_item_id = 'l1'",
    );
    assert.deepEqual(await readBy(one), { order: next, lines: 3 });
    assert.deepEqual(await readBy(one), { order: next, lines: 0 });
  }));

test("lines are remembered up to recordsRememberedBytesMax", () =>
  withNodes(async ({ engine }) => {
    const bytes = 1_000_000;
    const held = Math.floor(recordsRememberedBytesMax / bytes);
    const keys = Array.from({ length: held }, (_, index) => `k${index}`);
    await engine.read(shopId, async (tx) => {
      await tx.all("select 1 as one");
      for (const key of keys) tx.states?.put(key, { key }, bytes);
      assert.deepEqual(tx.states?.get("k0"), { key: "k0" });
      tx.states?.put("more", {}, bytes);
      assert.deepEqual(tx.states?.get("k0"), { key: "k0" }, "it was asked for later than the others");
      assert.equal(tx.states?.get("k1"), null);
    });
  }));
