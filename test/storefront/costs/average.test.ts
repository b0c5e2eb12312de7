/** The moving average over the life of an order: each unit enters it once, and leaves it at the cost at which it came in (C45). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../../src/operations/registry.ts";
import { loadVariants } from "../../../src/shop/catalogue/catalogue.ts";
import { eventsAfter } from "../../../src/shop/events/events.ts";
import { type GoodsServer, holdCalls, lineA, lineB, startGoodsServer } from "../../support/goods-server.ts";
import type { TestServerOptions } from "../../support/server.ts";
import { until } from "../../support/until.ts";

const open = async (options: TestServerOptions = {}): Promise<GoodsServer & AsyncDisposable> => {
  const server = await startGoodsServer({
    operations,
    outboxLimits: { attemptsMax: 3, backoffMs: 10 },
    ...options,
    shop: { costSyncMode: "moving-average", ...options.shop },
  });
  // 10 on hand at 2.
  await server.bring([
    { type: "variant", variantId: "red", productId: "product of red", productName: "Shirt, red", unitCost: 2 },
    { type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 10 },
  ]);
  return server;
};

const receive = async (server: GoodsServer, total: number, below = server.order()): Promise<void> => {
  const received = await server.post(`${below}/receive`, {
    lines: [{ lineItemId: "a", quantityReceived: total }],
    allowOverReceipt: true,
  });
  assert.equal(received.status, 200, received.text);
  await server.settled();
};

const unreceive = async (server: GoodsServer, quantity: number): Promise<void> => {
  const back = await server.post(server.order("/unreceive"), { lines: [{ lineItemId: "a", quantity }] });
  assert.equal(back.status, 200, back.text);
  await server.settled();
};

const complete = async (server: GoodsServer, below = server.order()): Promise<unknown> => {
  const completed = await server.post(`${below}/complete`);
  assert.equal(completed.status, 200, completed.text);
  return completed.at("data", "costSync", "syncedVariantCount");
};

const reopen = async (server: GoodsServer, status = "Received"): Promise<void> => {
  const reopened = await server.post(server.order("/status"), { status });
  assert.equal(reopened.status, 200, reopened.text);
};

/** The unit cost that the storefront has. */
const costAt = async (server: GoodsServer, variantId = "red"): Promise<number> => {
  const { variants } = await server.sandbox.state([variantId]);
  return (variants[0]?.unitCost ?? Number.NaN) / 10_000;
};

const untilCost = (server: GoodsServer, expected: number): Promise<true> =>
  until(`the storefront has the cost ${expected}`, async () => (await costAt(server)) === expected);

const rowsOf = async (server: GoodsServer): Promise<readonly { outcome: string; reason: string | null }[]> => {
  const history = await server.get(server.order("/cost-sync-history"));
  return history.at("data", "costSyncHistory") as unknown as readonly { outcome: string; reason: string | null }[];
};

const setCost = async (server: GoodsServer, unitCost: number): Promise<void> => {
  const edited = await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", unitCost }] });
  assert.equal(edited.status, 200, edited.text);
};

test("an order that is completed again weighs its goods no second time", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  assert.equal(await complete(server), 1);
  assert.equal(await costAt(server), 3, "(10 × 2 + 10 × 4) ÷ 20");
  for (let again = 0; again < 2; again += 1) {
    await reopen(server);
    assert.equal(await complete(server), 0, "nothing was left to be written");
    assert.equal(await costAt(server), 3);
  }
  assert.equal((await rowsOf(server)).length, 1);
});

test("what is received after a reopening is weighed at its own cost, and nothing else", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  await complete(server);
  await reopen(server, "Partially Received");
  await setCost(server, 6);
  await receive(server, 20);
  assert.equal(await complete(server), 1);
  assert.equal(await costAt(server), 4, "(20 × 3 + 10 × 6) ÷ 30");
});

test("goods taken back leave the average at the cost at which they came in, as follow-on work", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  await complete(server);
  await reopen(server);
  await unreceive(server, 4);
  await untilCost(server, 2.75);
  assert.equal(await server.onHand("red"), 16, "(20 × 3 − 4 × 4) ÷ 16");
  await unreceive(server, 6);
  await untilCost(server, 2);
  await until("both rows are read back", async () =>
    (await rowsOf(server)).every(({ outcome }) => outcome === "applied"),
  );
  assert.equal((await rowsOf(server)).length, 3);
  await setCost(server, 6);
  await receive(server, 10);
  assert.equal(await complete(server), 1);
  assert.equal(await costAt(server), 4, "(10 × 2 + 10 × 6) ÷ 20");
});

test("of lots at several costs the last that came in leaves first", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  await complete(server);
  await reopen(server, "Partially Received");
  await setCost(server, 6);
  await receive(server, 20);
  await complete(server);
  await reopen(server);
  // (30 × 4 − 10 × 6) ÷ 20; and the rest at 4.
  await unreceive(server, 10);
  await untilCost(server, 3);
  await unreceive(server, 10);
  await untilCost(server, 2);
});

test("goods that are not in the average leave no mark on it: taken back before the completion, or a total that is lowered", async () => {
  await using server = await open({ shop: { autoSyncOnReceiving: false } });
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  await unreceive(server, 4);
  await receive(server, 5);
  assert.equal(await costAt(server), 2);
  await complete(server);
  assert.equal(await costAt(server), 2.6667, "(10 × 2 + 5 × 4) ÷ 15, the stock of the storefront lacks them still");
  await reopen(server);
  // Not at the storefront yet, so a lower total takes them back.
  await receive(server, 2);
  await untilCost(server, 2.3334);
  await receive(server, 5);
  await complete(server);
  assert.equal(await costAt(server), 2.6667);
});

test("quick-complete, reopened, taken back and quick-completed again", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 10 }]);
  const done = await server.post(server.order("/quick-complete"));
  assert.equal(done.status, 200, done.text);
  assert.equal(await costAt(server), 3);
  await reopen(server);
  await unreceive(server, 10);
  await untilCost(server, 2);
  const again = await server.post(server.order("/quick-complete"));
  assert.equal(again.status, 200, again.text);
  assert.equal(await costAt(server), 3);
});

test("a lost answer, a failed attempt and an edit between attempts leave each unit weighed once", async () => {
  await using server = await open();
  await server.bring([{ type: "inventoryLevel", variantId: "blue", locationId: "warehouse", onHand: 5.5 }]);
  await server.bringOrder("In Progress", [lineA, lineB]);
  await receive(server, 10);
  await server.faults([{ call: "writeCosts", outcome: "lost-response" }]);
  assert.equal((await server.post(server.order("/complete"))).status, 502);
  assert.equal(await costAt(server), 3, "it has landed all the same");
  // A pull brings what has landed.
  await server.bring([
    { type: "variant", variantId: "red", productId: "product of red", productName: "Shirt, red", unitCost: 3 },
  ]);
  await server.faults([]);
  assert.equal(await complete(server), 1);
  assert.equal(await costAt(server), 3);
  await reopen(server);
  assert.equal(await complete(server), 0);
  assert.equal(await costAt(server), 3);
});

test("goods that are taken back between two attempts leave with what the first has brought through", async () => {
  await using server = await open();
  await server.bringOrder("Received", [
    { ...lineA, quantityConfirmed: 10, quantityReceived: 10, quantitySynced: 10 },
    { ...lineB, quantityReceived: 5.5, quantitySynced: 5.5 },
  ]);
  await server.bring([{ type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 20 }]);
  await server.faults([{ call: "writeCosts", outcome: "refused", variantIds: ["blue"] }]);
  assert.equal((await server.post(server.order("/complete"))).status, 502);
  assert.equal(await costAt(server), 3);
  await unreceive(server, 4);
  await untilCost(server, 2.75);
  await server.faults([]);
  assert.equal(await complete(server), 2);
  assert.equal(await costAt(server), 2.75);
});

test("goods that are all taken back while their costs are written leave the average, though the completion is refused", async (t) => {
  await using server = await open({ outboxLimits: { attemptsMax: 20, backoffMs: 10 } });
  await server.bringOrder("Received", [{ ...lineA, quantityConfirmed: 10, quantityReceived: 10, quantitySynced: 10 }]);
  await server.bring([{ type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 20 }]);
  const { begun, goOn } = holdCalls(t, ["writeCosts"]);
  const completing = server.post(server.order("/complete"));
  await begun;
  await unreceive(server, 10);
  goOn();
  assert.equal((await completing).status, 400);
  await untilCost(server, 2);
  await until("the shop has the storefront's cost", async () => {
    const catalogue = await server.engine.read(server.shopId, (tx) => loadVariants(tx, server.shopId, ["red"]));
    return catalogue.get("red")?.unitCost === 20_000;
  });
});

test("a storefront that does not answer is told of what was taken back with the next completion", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  await complete(server);
  await reopen(server);
  await server.faults([{ call: "writeCosts", outcome: "error" }]);
  await unreceive(server, 4);
  await until(
    "it is given up",
    async () => (await rowsOf(server)).filter(({ outcome }) => outcome === "failed").length === 3,
  );
  assert.equal(await costAt(server), 3);
  const { engine, shopId } = server;
  const told = await engine.read(shopId, (tx) => eventsAfter(tx, shopId, 0, ["cost_sync.failed"], 10));
  assert.equal(told.length, 1);
  await server.faults([]);
  await complete(server);
  assert.equal(await costAt(server), 2.75);
});

test("a cost whose answer was lost is settled by a completion that writes none itself", async () => {
  await using server = await open();
  await server.bringOrder("In Progress", [lineA]);
  await receive(server, 10);
  await complete(server);
  await reopen(server);
  await server.faults([{ call: "writeCosts", outcome: "lost-response", times: 1 }]);
  await unreceive(server, 4);
  const outcomes = async (): Promise<string> => (await rowsOf(server)).map(({ outcome }) => outcome).join();
  await until(
    "the cost has been sent again and read back",
    async () => (await outcomes()) === "applied,proposed,applied",
  );
  await complete(server);
  await until("no cost waits for an answer", async () => (await outcomes()) === "applied,applied,applied");
});

test("two orders of a variant that are completed at once are both in the average", async () => {
  await using server = await open();
  await server.bring([{ type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 30 }]);
  const received = { quantityConfirmed: 10, quantityReceived: 10, quantitySynced: 10 };
  for (const [purchaseOrderId, unitCost] of [
    ["po_1", 5],
    ["po_2", 5],
  ] as const)
    await server.bringOrder("Received", [{ ...lineA, ...received, unitCost }], { purchaseOrderId });
  await server.faults([], { latencyMs: 100 });
  await Promise.all([complete(server), complete(server, "/api/v1/purchase-orders/po_2")]);
  // (20 × 2 + 10 × 5) ÷ 30 = 3, and (20 × 3 + 10 × 5) ÷ 30.
  assert.equal(await costAt(server), 3.6667);
});

test("a free sample is no unit cost of 0: not at the storefront, nor in the supplier's entry", async () => {
  for (const costSyncMode of ["unit-cost", "moving-average"] as const) {
    await using server = await open({ shop: { costSyncMode } });
    await server.bring([{ type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 0 }]);
    await server.bringOrder("In Progress", [{ ...lineA, unitCost: 0 }]);
    await receive(server, 10);
    const completed = await server.post(server.order("/complete"));
    assert.equal(completed.status, 200, completed.text);
    assert.equal(completed.at("data", "costSync", "syncedVariantCount"), 0);
    assert.match(completed.textAt("data", "costSync", "warnings", 0), /^zero-cost\b/);
    assert.equal(await costAt(server), 2);
    const [row, ...others] = await rowsOf(server);
    assert.deepEqual(others, []);
    assert.equal(row?.outcome, "skipped");
    assert.match(row?.reason ?? "", /^zero-cost\b/);
    assert.deepEqual(await entryOf(server), [1, "EUR"]);
  }
});

test("ten at 4 and two free: the average has the free ones, the supplier's entry says 4", async () => {
  for (const [costSyncMode, expected] of [
    ["unit-cost", 3.3333],
    ["moving-average", 2.7273],
  ] as const) {
    await using server = await open({ shop: { costSyncMode } });
    const free = { poLineItemId: "f", variantId: "red", quantityOrdered: 2, unitCost: 0 };
    await server.bringOrder("In Progress", [lineA, free]);
    const received = await server.post(server.order("/receive"), {
      lines: [
        { lineItemId: "a", quantityReceived: 10 },
        { lineItemId: "f", quantityReceived: 2 },
      ],
    });
    assert.equal(received.status, 200, received.text);
    await server.settled();
    await complete(server);
    assert.equal(await costAt(server), expected, costSyncMode);
    assert.deepEqual(await entryOf(server), [4, "EUR"]);
    await reopen(server);
    await server.post(server.order("/unreceive"), { lines: [{ lineItemId: "f", quantity: 2 }] });
    // The free ones leave at 0.
    await untilCost(server, costSyncMode === "moving-average" ? 3 : expected);
  }
});

/** Cost and currency of the supplier's entry for red. */
async function entryOf(server: GoodsServer): Promise<readonly unknown[]> {
  const [row] = await server.engine.read(server.shopId, (tx) =>
    tx.all<{ unit_cost: number; unit_cost_currency_code: string }>(
      "select unit_cost, unit_cost_currency_code from supplier_variant where shop_id = ? and variant_id = 'red'",
      [server.shopId],
    ),
  );
  return row === undefined ? [] : [row.unit_cost / 10_000, row.unit_cost_currency_code];
}
