/** The rows that the costs of a completion are made from, and those that it leaves (C45). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock, timeOrderedIds } from "../../../src/base/time/system.ts";
import { costPlan, type ReplacingCost } from "../../../src/core/storefront/cost-sync.ts";
import type { Money } from "../../../src/core/money/money.ts";
import {
  acceptCostsStatement,
  costWriteMsMax,
  loadCostFacts,
  loadCostHistory,
  loadReplacingCost,
  loadWrittenRows,
  settleCostStatement,
} from "../../../src/shop/storefront/cost-sync.ts";
import { catalogueCostStatements } from "../../../src/shop/catalogue/price-changes.ts";
import { pageOfRecordLog, type RecordEntry } from "../../../src/shop/catalogue/record-log.ts";
import { costStatement } from "../../../src/shop/order/purchase-order-history.ts";
import { importOrder } from "../../../src/shop/order/purchase-orders.ts";
import type { Statement, Tx } from "../../../src/store/store.ts";
import { fxRate, importedOrder, line, money, order, quantity, shop } from "../../support/goods.ts";
import { makePlace, openStore, type Store, type StorePlace } from "../../support/store.ts";

const received = order("Received", [
  line("a", { variantId: "known", received: 2, unitCost: 3, currency: "USD" }),
  line("b", { variantId: "known", received: 1, unitCost: 3 }),
  line("c", { variantId: "no cost", received: 1, unitCost: 4 }),
  line("d", { variantId: "unheard of", received: 1, unitCost: 5 }),
]);
const { purchaseOrderId } = received;
const other = order("Received", [line("e", { variantId: "elsewhere" })], {
  purchaseOrderId: "po_2",
  poNumber: "PO-1002",
});

const variant = (variantId: string, unitCost: number | null): Statement => ({
  sql: "insert into variant (shop_id, variant_id, product_id, product_name, unit_cost, status) values (?, ?, ?, ?, ?, ?)",
  params: ["a", variantId, "p", "Product", unitCost, "active"],
});
const level = (variantId: string, locationId: string, units: number): Statement => ({
  sql: "insert into inventory_level (shop_id, variant_id, location_id, on_hand) values (?, ?, ?, ?)",
  params: ["a", variantId, locationId, quantity(units)],
});

let place: StorePlace;
let store: Store;
before(async () => {
  place = await makePlace();
  store = await openStore(place.directory);
  await store.engine.create("a");
  await store.engine.write("a", async (tx) => {
    for (const each of [received, other]) await importOrder(tx, "a", importedOrder(each), true);
  });
});
after(async () => {
  await store.close();
  await place.remove();
});

/** The shop with its two orders, and nothing of what other tests have made of it. */
async function inShop(use: (write: Write) => Promise<void>): Promise<void> {
  await store.engine.write("a", (tx) =>
    tx.batch([
      ...["cost_sync", "variant", "inventory_level", "record_log"].map((table) => ({
        sql: `delete from ${table} where shop_id = ?`,
        params: ["a"],
      })),
      { sql: "update purchase_order set completed_at = null where shop_id = ?", params: ["a"] },
      variant("known", money(2.5)),
      variant("no cost", null),
      variant("elsewhere", money(9)),
      level("known", "one", 1.5),
      level("known", "two", 2),
    ]),
  );
  await use((work) => store.engine.write("a", work));
}

const ids = timeOrderedIds(systemClock);

type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

async function setCosts(write: Write, costs: Parameters<typeof catalogueCostStatements>[2]): Promise<void> {
  const actor = { type: "system", id: null, name: null } as const;
  const stamp = { actor, operation: "test", requestId: "req_1", nowMs: 1_000, ids };
  await write(async (tx) => tx.batch(await catalogueCostStatements(tx, "a", costs, stamp)));
}

/** What the history tells of a variant's unit cost, newest first. */
async function changesOf(write: Write, variantId: string): Promise<readonly (readonly unknown[])[]> {
  const { entries } = await write((tx) => pageOfRecordLog(tx, "a", { kind: "variant", recordId: variantId }, null, 10));
  return entries.flatMap(({ changes }: RecordEntry) => changes.map(({ before, after }) => [before, after]));
}

test("costs come in on the unit cost and the stock of all locations; a variant without them has neither", async () => {
  await inShop(async (write) => {
    const facts = await write((tx) => loadCostFacts(tx, "a", received));
    assert.deepEqual(
      facts,
      new Map([
        ["known", { unitCost: money(2.5), onHand: quantity(3.5) }],
        ["no cost", { unitCost: null, onHand: quantity(0) }],
        ["unheard of", { unitCost: null, onHand: quantity(0) }],
      ]),
    );
    await setCosts(write, [
      { variantId: "known", unitCost: money(3) },
      { variantId: "x", unitCost: money(7) },
    ]);
    const after = await write((tx) => loadCostFacts(tx, "a", received));
    assert.deepEqual(
      [...after.values()].map(({ unitCost }) => unitCost),
      [money(3), null, null],
    );
    const untouched = await write((tx) => loadCostFacts(tx, "a", other));
    assert.equal(untouched.get("elsewhere")?.unitCost, money(9));
  });
});

test("rows of a completion are read as they were left, oldest first, and settled one by one", async () => {
  await inShop(async (write) => {
    const plan = costPlan(received, shop(), await write((tx) => loadCostFacts(tx, "a", received)));
    const [known, costless, unheard] = plan;
    assert.ok(known !== undefined && costless !== undefined && unheard !== undefined);
    const row = (proposal: typeof known, costSyncId: string, completion: number, attempt: number): Statement =>
      costStatement("a", purchaseOrderId, {
        ...proposal,
        costSyncId,
        completion,
        attempt,
        outcome: "proposed",
        reason: null,
        proposedAtMs: 1_000,
        resolvedAtMs: null,
      });
    await write((tx) =>
      tx.batch([
        row(costless, "cs_2", 0, 1),
        row(known, "cs_1", 0, 1),
        row(unheard, "cs_3", 0, 2),
        row(known, "cs_4", 7, 1),
      ]),
    );
    await write((tx) =>
      tx.batch([
        settleCostStatement("a", purchaseOrderId, "cs_1", { outcome: "applied", reason: null }, 5_000),
        settleCostStatement("a", purchaseOrderId, "cs_2", { outcome: "proposed", reason: "no answer" }, 5_000),
      ]),
    );
    const { rows } = await write((tx) => loadCostHistory(tx, "a", purchaseOrderId));
    const told = (proposal: typeof known) => ({
      variantId: proposal.variantId,
      previousUnitCost: proposal.previousUnitCost,
      proposedUnitCost: proposal.proposedUnitCost,
      sourceUnitCost: proposal.sourceUnitCost,
      sourceCurrencyCode: proposal.sourceCurrencyCode,
      fxRate: proposal.fxRate,
      lots: proposal.lots,
      completion: 0,
      proposedAtMs: 1_000,
      isAccepted: false,
    });
    assert.deepEqual(rows, [
      { ...told(known), costSyncId: "cs_1", outcome: "applied", attempt: 1, isAccepted: true },
      { ...told(costless), costSyncId: "cs_2", outcome: "proposed", attempt: 1 },
      { ...told(unheard), costSyncId: "cs_3", outcome: "proposed", attempt: 2 },
      { ...told(known), costSyncId: "cs_4", outcome: "proposed", attempt: 1, completion: 7 },
    ]);
    assert.deepEqual([known.previousUnitCost, costless.previousUnitCost], [money(2.5), null]);
    const resolved = await write((tx) =>
      tx.all<{ cost_sync_id: string; reason: string | null; resolved_at: number | null }>(
        "select cost_sync_id, reason, resolved_at from cost_sync where shop_id = ? order by cost_sync_id",
        ["a"],
      ),
    );
    assert.deepEqual(
      resolved.map((each) => [each.cost_sync_id, each.reason, each.resolved_at]),
      [
        ["cs_1", null, 5_000],
        ["cs_2", "no answer", null],
        ["cs_3", null, null],
        ["cs_4", null, null],
      ],
      "one without an answer gets no instant",
    );
    assert.deepEqual(await write((tx) => loadCostHistory(tx, "a", other.purchaseOrderId)), { rows: [], receipts: [] });
  });
});

/** A row of the history, as it is stored, and when the storefront is known to have taken its cost. */
interface Written {
  readonly purchaseOrderId?: string;
  readonly variantId?: string;
  readonly unitCost: number;
  readonly at: number;
  readonly acceptedAt?: number;
  readonly outcome?: "proposed" | "applied" | "skipped" | "failed";
  readonly completion?: number;
  readonly attempt?: number;
}

const put = (costSyncId: string, written: Written): readonly Statement[] => [
  costStatement("a", written.purchaseOrderId ?? "po_2", {
    costSyncId,
    variantId: written.variantId ?? "known",
    poLineItemId: "a",
    previousUnitCost: null,
    proposedUnitCost: money(written.unitCost),
    currencyCode: "USD",
    sourceUnitCost: money(written.unitCost),
    sourceCurrencyCode: "USD",
    fxRate: fxRate(1),
    fxSource: "same-currency",
    outcome: written.outcome ?? "proposed",
    reason: null,
    attempt: written.attempt ?? 1,
    completion: written.completion ?? 0,
    proposedAtMs: written.at,
    resolvedAtMs: null,
    lots: null,
  }),
  {
    sql: "update cost_sync set accepted_at = ? where shop_id = ? and cost_sync_id = ?",
    params: [written.acceptedAt ?? null, "a", costSyncId],
  },
];

test("what an attempt has written waits to be read back; what a later completion has under way does not", async () => {
  await inShop(async (write) => {
    const mine = { purchaseOrderId, unitCost: 3 };
    const completedAt = (ms: number): Statement => ({
      sql: "update purchase_order set completed_at = ? where shop_id = ? and purchase_order_id = ?",
      params: [ms, "a", purchaseOrderId],
    });
    await write((tx) =>
      tx.batch([
        ...put("cs_3", { ...mine, at: 300, attempt: 2, variantId: "v3" }),
        ...put("cs_1", { ...mine, at: 100, variantId: "v1", unitCost: 2.5 }),
        ...put("cs_2", { ...mine, at: 300, attempt: 2, variantId: "v2", outcome: "skipped" }),
        ...put("cs_5", { ...mine, at: 300, attempt: 2, purchaseOrderId: "po_2" }),
      ]),
    );
    assert.deepEqual(await write((tx) => loadWrittenRows(tx, "a", "po_2")), [], "before the first completion");
    await write((tx) =>
      tx.batch([
        acceptCostsStatement("a", purchaseOrderId, { completion: 0, attempt: 2 }, 400),
        settleCostStatement("a", purchaseOrderId, "cs_5", { outcome: "applied", reason: null }, 450),
      ]),
    );
    const rows = await write((tx) => loadWrittenRows(tx, "a", purchaseOrderId));
    assert.deepEqual(rows, [
      {
        purchaseOrderId,
        costSyncId: "cs_3",
        variantId: "v3",
        poLineItemId: "a",
        unitCost: money(3),
        previousUnitCost: null,
        proposedAtMs: 300,
        acceptedAtMs: 400,
      },
    ]);
    await write((tx) =>
      tx.batch([completedAt(900), ...put("cs_4", { ...mine, at: 1_000, attempt: 1, completion: 900 })]),
    );
    const completed = await write((tx) => loadWrittenRows(tx, "a", purchaseOrderId));
    assert.deepEqual(
      completed.map(({ costSyncId, acceptedAtMs }) => [costSyncId, acceptedAtMs]),
      [
        ["cs_1", null],
        ["cs_3", 400],
      ],
      "the completion at 900 is over, the one after it is under way",
    );
    assert.equal((await write((tx) => loadWrittenRows(tx, "a", "po_2"))).length, 0);
  });
});

test("a row that is settled as applied is known to be taken from then on, and no other is", async () => {
  await inShop(async (write) => {
    const settle = (costSyncId: string, outcome: "applied" | "failed"): Statement =>
      settleCostStatement("a", "po_2", costSyncId, { outcome, reason: null }, 700);
    await write((tx) =>
      tx.batch([
        ...put("cs_1", { unitCost: 1, at: 100 }),
        ...put("cs_2", { unitCost: 1, at: 100, acceptedAt: 200 }),
        ...put("cs_3", { unitCost: 1, at: 100 }),
        ...put("cs_4", { unitCost: 1, at: 100, acceptedAt: 200 }),
        settle("cs_1", "applied"),
        settle("cs_2", "applied"),
        settle("cs_3", "failed"),
        settle("cs_4", "failed"),
      ]),
    );
    const rows = await write((tx) =>
      tx.all<{ accepted_at: number | null }>(
        "select accepted_at from cost_sync where shop_id = ? order by cost_sync_id",
        ["a"],
      ),
    );
    assert.deepEqual(
      rows.map((each) => each.accepted_at),
      [700, 200, null, 200],
    );
  });
});

const began = 1_000_000;
const accepted = began + 400;
const row = {
  purchaseOrderId,
  costSyncId: "cs_mine",
  variantId: "known",
  poLineItemId: "a",
  unitCost: money(3),
  proposedAtMs: began,
  previousUnitCost: null,
  acceptedAtMs: accepted,
};
const unknownRow = { ...row, acceptedAtMs: null };
const later = { orderName: "PO-1002", isBeside: false };
const beside = { orderName: "PO-1002", isBeside: true };

const replacing: readonly (readonly [
  rule: string,
  others: readonly Written[],
  shown: number | null,
  expected: ReplacingCost | null,
  of?: typeof row | typeof unknownRow,
])[] = [
  ["nothing else was written", [], 9, null],
  [
    "a later cost that was taken has replaced it",
    [{ unitCost: 6, at: accepted + 1, acceptedAt: accepted + 9 }],
    6,
    later,
  ],
  [
    "one that began in the moment in which it was taken has, and was beside it if it is shown",
    [{ unitCost: 6, at: accepted, acceptedAt: accepted + 9 }],
    6,
    beside,
  ],
  [
    "one that began in the moment in which it was taken has, and was not beside it if it is not shown",
    [{ unitCost: 6, at: accepted, acceptedAt: accepted + 9 }],
    9,
    later,
  ],
  [
    "a later cost that was taken has replaced it, whatever the storefront shows",
    [{ unitCost: 6, at: accepted + 1, acceptedAt: accepted + 9 }],
    9,
    later,
  ],
  [
    "a later cost that was taken has replaced it, though the storefront shows none",
    [{ unitCost: 6, at: accepted + 1, acceptedAt: accepted + 9, outcome: "applied" }],
    null,
    later,
  ],
  ["a later cost of unknown outcome has if it is shown", [{ unitCost: 6, at: began }], 6, later],
  ["a later cost of unknown outcome has not if it is not shown", [{ unitCost: 6, at: accepted + 9 }], 9, null],
  ["a later cost of unknown outcome has not if none is shown", [{ unitCost: 6, at: accepted + 9 }], null, null],
  [
    "a later cost that was refused has if it is shown all the same",
    [{ unitCost: 6, at: accepted + 9, outcome: "failed" }],
    6,
    later,
  ],
  ["a later cost that was never written has not", [{ unitCost: 6, at: accepted + 9, outcome: "skipped" }], 6, null],
  ["another variant's cost has not", [{ unitCost: 6, at: accepted, acceptedAt: accepted, variantId: "v" }], 6, null],
  [
    "a cost that was taken after it began, and is shown, was beside it",
    [{ unitCost: 6, at: began - 5, acceptedAt: began }],
    6,
    beside,
  ],
  [
    "a cost beside it has not if another one is shown",
    [{ unitCost: 6, at: accepted - 1, acceptedAt: accepted }],
    9,
    null,
  ],
  [
    "a cost that was taken before it began has not, though it is shown: the storefront lies",
    [{ unitCost: 6, at: began - 5, acceptedAt: began - 1, outcome: "applied" }],
    6,
    null,
  ],
  [
    "an earlier cost of unknown outcome has not, though it is shown: the storefront has an old cost for good",
    [{ unitCost: 6, at: began - 1 }],
    6,
    null,
  ],
  [
    "a write that began longer ago than one takes has not",
    [{ unitCost: 6, at: began - costWriteMsMax - 1, acceptedAt: began + 1 }],
    6,
    null,
  ],
  [
    "a write that began as long ago as one takes was beside it",
    [{ unitCost: 6, at: began - costWriteMsMax, acceptedAt: began + 1 }],
    6,
    beside,
  ],
  [
    "of several the newest has",
    [
      { unitCost: 6, at: accepted + 5, acceptedAt: accepted + 9, purchaseOrderId },
      { unitCost: 7, at: accepted + 6, acceptedAt: accepted + 9 },
      { unitCost: 8, at: accepted + 7 },
    ],
    6,
    later,
  ],
  [
    "one of its own order has no name, and none is beside it that began later",
    [{ unitCost: 6, at: accepted + 5, acceptedAt: accepted + 9, purchaseOrderId }],
    6,
    { ...later, orderName: null },
  ],
  [
    "an order that is gone is named by its id",
    [{ unitCost: 6, at: accepted + 5, acceptedAt: accepted + 9, purchaseOrderId: "po_gone" }],
    6,
    { ...later, orderName: "po_gone" },
  ],
  [
    "where it is not known whether its cost was taken, one that was begun later and taken has, and is not beside it",
    [{ unitCost: 6, at: began, acceptedAt: began + 9 }],
    9,
    later,
    unknownRow,
  ],
  [
    "where it is not known whether its cost was taken, one that is shown is not beside it",
    [{ unitCost: 6, at: began - 1, acceptedAt: began + 9 }],
    6,
    later,
    unknownRow,
  ],
];

for (const [rule, others, shown, expected, of = row] of replacing)
  test(`costs that take the place of one: ${rule} (C45, D346)`, async () => {
    await inShop(async (write) => {
      await write((tx) =>
        tx.batch([
          ...put(of.costSyncId, { purchaseOrderId, unitCost: 3, at: of.proposedAtMs, acceptedAt: accepted + 99 }),
          ...others.flatMap((other, index) => put(`cs_${index}`, other)),
        ]),
      );
      const shownCost: Money | null = shown === null ? null : money(shown);
      assert.deepEqual(await write((tx) => loadReplacingCost(tx, "a", of, shownCost)), expected);
    });
  });

test("the catalogue's unit cost is corrected only as long as it is the one to correct", async () => {
  await inShop(async (write) => {
    await setCosts(write, [
      { variantId: "known", from: money(2.5), unitCost: money(4) },
      { variantId: "elsewhere", from: money(2.5), unitCost: money(4) },
      { variantId: "no cost", from: null, unitCost: money(5) },
      { variantId: "no cost", from: null, unitCost: money(6) },
      { variantId: "no cost", from: money(5), unitCost: null },
      { variantId: "known", unitCost: money(4) },
      { variantId: "unheard of", unitCost: money(4) },
    ]);
    const costs = await write((tx) =>
      tx.all<{ unit_cost: number }>(
        "select unit_cost from variant where shop_id = ? and unit_cost is not null order by variant_id",
        ["a"],
      ),
    );
    assert.deepEqual(
      costs.map((each) => each.unit_cost),
      [money(9), money(4)],
    );
    assert.deepEqual(await changesOf(write, "known"), [[2.5, 4]]);
    assert.deepEqual(await changesOf(write, "no cost"), [
      [5, null],
      [null, 5],
    ]);
    for (const variantId of ["elsewhere", "unheard of"]) assert.deepEqual(await changesOf(write, variantId), []);
  });
});
