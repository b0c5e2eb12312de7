/** What an order's header says of its lines and amounts: what is owed, sums of quantities, the next expected day (C13, C35, contract §9). */
import assert from "node:assert/strict";
import { minorDigits } from "../../src/core/money/minor-units.ts";
import path from "node:path";
import { test } from "node:test";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { exportRecords } from "../../src/exchange/export.ts";
import { loadMigrations, statementsOf } from "../../src/store/migrations.ts";
import type { Tx } from "../../src/store/store.ts";
import { fxRate } from "../support/goods.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import type { TestResponse, TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

/** The order's header members of these names, as its list row shows them. The same read by id must agree. */
async function shown(server: TestServer, names: readonly string[]): Promise<readonly unknown[]> {
  const [list, order] = [await server.get(orders), await server.get(`${orders}/po_1`)];
  const members = names.map((name) => order.at("data", "purchaseOrder", name));
  assert.deepEqual(
    names.map((name) => list.at("data", "purchaseOrders", 0, name)),
    members,
  );
  return members;
}

const paid = (amount: number) => ({
  payments: [
    {
      paymentId: "p1",
      paymentType: "deposit",
      status: "Paid",
      amount,
      currencyCode: "EUR",
      createdAt: "2026-01-01T00:00:00.000Z",
    },
  ],
});

const red = { poLineItemId: "a", variantId: "red", quantityOrdered: 10, quantityConfirmed: 10, unitCost: 4 };
const blue = { poLineItemId: "b", variantId: "blue", quantityOrdered: 5, quantityConfirmed: 4, unitCost: 8 };

test("what is owed follows shipping, tax and discount, and the paid status, its filter and the summary follow it", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [red], { shippingCost: 10, ...paid(40) });
  const standing = async (): Promise<readonly unknown[]> => {
    const [grandTotal, paidStatus] = await shown(server, ["grandTotal", "paidStatus"]);
    const summary = await server.get(server.order("/payments"));
    assert.equal(summary.at("data", "summary", "grandTotal"), grandTotal);
    assert.equal(summary.at("data", "summary", "paidStatus"), paidStatus);
    const listed = await server.get(`${orders}?paidStatus=${encodeURIComponent(String(paidStatus))}`);
    assert.equal(listed.at("data", "totalCount"), 1, String(paidStatus));
    return [grandTotal, paidStatus, summary.at("data", "summary", "outstandingAmount")];
  };
  assert.deepEqual(await standing(), [50, "Partially Paid", 10]);
  for (const [changes, expected] of [
    [{ shippingCost: null }, [40, "Paid", 0]],
    [{ discountAmount: 5.5 }, [34.5, "Overpaid", -5.5]],
    [{ taxAmount: 7.6049 }, [42.1, "Partially Paid", 2.1]],
    [{ discountAmount: 50 }, [0, "Overpaid", -40]],
  ] as const) {
    const answer = await server.patch(server.order(), changes);
    assert.equal(answer.at("data", "purchaseOrder", "grandTotal"), expected[0], answer.text);
    assert.deepEqual(await standing(), expected);
  }
});

/** `totalValue` and `grandTotal` of the answer's order. */
const worth = (answer: TestResponse): readonly unknown[] =>
  ["totalValue", "grandTotal"].map((name) => answer.at("data", "purchaseOrder", name));

/** The order as its record in an export. */
async function exportedOrder({ engine, shopId }: TestServer): Promise<JsonObject> {
  let text = "";
  for await (const part of exportRecords(engine, shopId)) text += part;
  const line = text.split("\n").find((each) => each.includes('"type":"purchaseOrder"'));
  const record: Json = JSON.parse(line ?? "null");
  assert.ok(isJsonObject(record));
  return record;
}

const usd = { ...red, unitCost: 10, unitCostCurrencyCode: "USD", quantityReceived: 10 };

test("an order's rates are its own: the shop's of today move neither its totals nor what is paid of it, and an export keeps them", async () => {
  await using server = await startGoodsServer({ shop: { currencyCode: "EUR", fxRates: { USD: fxRate(0.9) } } });
  const payments = paid(90).payments.map((payment) => ({ ...payment, amount: 100, currencyCode: "USD" }));
  await server.bringOrder("Completed", [usd], { payments });
  await server.changeShop({ fxRates: { USD: fxRate(0.5) } });
  const noted = await server.patch(server.order(), { note: "x" });
  assert.deepEqual(worth(noted), [90, 90], noted.text);
  assert.equal(noted.at("data", "purchaseOrder", "paidStatus"), "Paid");
  assert.deepEqual(noted.at("data", "purchaseOrder", "fxRates"), { USD: 0.9 });
  const summary = await server.get(server.order("/payments"));
  assert.deepEqual(
    ["grandTotal", "paidAmount", "outstandingAmount", "paidStatus"].map((name) => summary.at("data", "summary", name)),
    [90, 90, 0, "Paid"],
  );
  const log = await server.get(server.order("/log"));
  assert.equal(log.at("data", "log", 0, "message"), "Changed note.");
  const exported = await exportedOrder(server);
  await server.bring([exported]);
  assert.deepEqual(await exportedOrder(server), exported);
  const { fxRates: _own, ...without } = exported;
  await server.bring([without]);
  const anew = await server.get(server.order());
  assert.deepEqual([...worth(anew), anew.at("data", "purchaseOrder", "paidStatus")], [50, 50, "Paid"]);
});

test("an order that nobody can price is not paid, however little it seems to owe", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Completed", [usd]);
  assert.deepEqual(await shown(server, ["grandTotal", "unpricedLineItemIds", "paidStatus"]), [0, ["a"], "Unpaid"]);
  assert.equal((await server.get(`${orders}?paidStatus=Paid`)).at("data", "totalCount"), 0);
  await server.changeShop({ fxRates: { USD: fxRate(0.9), GBP: fxRate(1.2) } });
  const inPounds = await server.patch(server.order(), { currencyCode: "GBP" });
  assert.deepEqual(
    inPounds.at("data", "purchaseOrder", "fxRates"),
    { GBP: 1.2 },
    "its own settles nothing of its line",
  );
  assert.equal(inPounds.at("data", "purchaseOrder", "paidStatus"), "Unpaid");
});

test("a Completed order that changes its currency takes the rate of the new one", async () => {
  await using server = await startGoodsServer({ shop: { fxRates: { GBP: fxRate(1.25) } } });
  await server.bringOrder("Completed", [{ ...red, quantityReceived: 10, unitCostCurrencyCode: "EUR" }]);
  const inPounds = await server.patch(server.order(), { currencyCode: "GBP" });
  assert.deepEqual(worth(inPounds), [32, 32], inPounds.text);
  assert.deepEqual(inPounds.at("data", "purchaseOrder", "unpricedLineItemIds"), []);
});

test("what payments and credits settle together is rounded once, as what is owed is", async () => {
  await using server = await startGoodsServer({ shop: { fxRates: { USD: fxRate(0.86) } } });
  const cents = { amount: 0.4, currencyCode: "USD" };
  const payments = paid(1).payments.map((payment) => ({ ...payment, ...cents }));
  const credit = { creditId: "c1", amountApplied: 0.4, currencyCode: "USD", appliedAt: "2026-01-01T00:00:00.000Z" };
  const line = { ...red, quantityOrdered: 1, quantityConfirmed: 1, unitCost: 0.8, unitCostCurrencyCode: "USD" };
  await server.bringOrder("Sent", [line], { payments, credits: [credit] });
  assert.deepEqual(await shown(server, ["grandTotal", "paidStatus"]), [0.69, "Paid"]);
  const summary = await server.get(server.order("/payments"));
  assert.equal(summary.at("data", "summary", "outstandingAmount"), 0);
});

test("a rate that an order left Draft with is there again when its currency comes back", async () => {
  await using server = await startGoodsServer({ shop: { fxRates: { USD: fxRate(0.9) } } });
  await server.bringOrder("Sent", [{ ...usd, quantityReceived: 0 }]);
  await server.changeShop({ fxRates: { USD: fxRate(0.5) } });
  const edit = (unitCostCurrencyCode: string): Promise<TestResponse> =>
    server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", unitCostCurrencyCode }] });
  assert.deepEqual(worth(await edit("EUR")), [100, 100]);
  const back = await edit("USD");
  assert.deepEqual([worth(back), back.at("data", "purchaseOrder", "fxRates")], [[90, 90], { USD: 0.9 }]);
});

test("an order that the supplier confirmed short owes what comes", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [
    { poLineItemId: "a", variantId: "red", quantityOrdered: 10, unitCost: 4 },
    { poLineItemId: "b", variantId: "blue", quantityOrdered: 5, unitCost: 100 },
  ]);
  assert.deepEqual(await shown(server, ["totalValue", "grandTotal"]), [540, 540]);
  await server.post(server.order("/confirm"), { lines: [{ lineItemId: "a", quantityConfirmed: 8 }] });
  await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "b", quantityCancelled: 5 }] });
  await server.post(server.order("/confirm"), { lines: [{ lineItemId: "a", quantityConfirmed: 8 }] });
  const begun = await server.post(server.order("/status"), { status: "In Progress" });
  assert.equal(begun.status, 200, begun.text);
  await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived: 8 }] });
  const done = await server.post(server.order("/complete"), {});
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(await shown(server, ["status", "totalValue", "grandTotal"]), ["Completed", 40, 32]);
  const lines = await server.get(server.order("/line-items"));
  assert.deepEqual(
    [lines.at("data", "lineItems", 0, "lineTotal"), lines.at("data", "lineItems", 1, "lineTotal")],
    [40, 0],
  );
});

test("an order in that owes nothing is paid, and found so", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Received", [{ ...red, unitCost: 0, quantityReceived: 10 }]);
  assert.deepEqual(await shown(server, ["grandTotal", "paidStatus"]), [0, "Paid"]);
  assert.equal((await server.get(`${orders}?paidStatus=Paid`)).at("data", "totalCount"), 1);
});

test("the sums of a header follow confirming, editing and receiving its lines", async () => {
  await using server = await startGoodsServer();
  const names = ["quantityOrdered", "quantityConfirmed", "quantityReceived", "quantityPending", "nextExpectedDate"];
  await server.bringOrder("In Progress", [red, blue], { expectedDeliveryDate: "2026-06-01" });
  assert.deepEqual(await shown(server, names), [15, 14, 0, 14, "2026-06-01"]);
  await server.patch(server.order("/line-items"), {
    lines: [
      { lineItemId: "a", expectedDeliveryDate: "2026-05-20" },
      { lineItemId: "b", quantityCancelled: 1 },
    ],
  });
  assert.deepEqual(await shown(server, names), [15, 14, 0, 13, "2026-05-20"]);
  await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived: 10 }] });
  assert.deepEqual(await shown(server, names), [15, 14, 10, 3, "2026-06-01"]);
  await server.post(server.order("/receive"), { lines: [{ lineItemId: "b", quantityReceived: 3 }] });
  assert.deepEqual(await shown(server, names), [15, 14, 13, 0, null]);
});

test("late orders and those in a sync state are found by filters, page by page", async () => {
  await using server = await startGoodsServer();
  const order = (purchaseOrderId: string, facts: object): object => ({
    type: "purchaseOrder",
    purchaseOrderId,
    status: "Sent",
    locationId: "warehouse",
    createdAt: `2026-01-0${purchaseOrderId.slice(1)}T00:00:00.000Z`,
    lineItems: [red],
    ...facts,
  });
  await server.bring([
    order("o1", { expectedDeliveryDate: "2026-03-01" }),
    order("o2", { expectedDeliveryDate: "2026-03-02" }),
    order("o3", {
      expectedDeliveryDate: "2026-09-01",
      lineItems: [{ ...red, expectedDeliveryDate: "2026-02-01" }, blue],
    }),
    order("o4", { expectedDeliveryDate: "2026-01-01", status: "Cancelled", previousStatus: "Sent" }),
    order("o5", {}),
    order("o6", {
      expectedDeliveryDate: "2026-01-01",
      status: "Partially Received",
      storefrontSyncState: "failed",
      lineItems: [{ ...red, quantityReceived: 2, quantitySynced: 0 }],
    }),
    order("o7", { status: "Received", lineItems: [{ ...red, quantityReceived: 10 }] }),
  ]);
  const found = async (query: string): Promise<string> => {
    const answer = await server.get(`${orders}?${query}`);
    assert.equal(answer.status, 200, answer.text);
    const rows = answer.at("data", "purchaseOrders");
    assert.ok(Array.isArray(rows));
    assert.ok(Number(answer.at("data", "totalCount")) >= rows.length);
    return rows.map((_, index) => answer.textAt("data", "purchaseOrders", index, "purchaseOrderId")).join(" ");
  };
  assert.equal(await found("expectedBefore=2026-03-01"), "o6 o3");
  assert.equal(await found("expectedBefore=2026-03-02&status=Sent"), "o3 o1");
  assert.equal(await found("expectedBefore=2026-03-02&storefrontSyncState=failed,in-flight"), "o6");
  assert.equal(await found("storefrontSyncState=synced"), "o7");
  assert.equal(await found("storefrontSyncState=synced&storefrontSyncState=failed&limit=1"), "o7");
  assert.equal(await found("storefrontSyncState=synced&status=Sent"), "");
  const first = await server.get(`${orders}?expectedBefore=2026-03-02&limit=2`);
  assert.equal(first.at("data", "totalCount"), 3);
  const cursor = first.textAt("data", "cursor");
  assert.equal(await found(`expectedBefore=2026-03-02&limit=2&cursor=${cursor}`), "o1");
  for (const query of ["expectedBefore=tomorrow", "expectedBefore=2026-02-30", "storefrontSyncState=lost"]) {
    const answer = await server.get(`${orders}?${query}`);
    assert.equal(answer.status, 400, query);
  }
});

const schemaDirectory = path.join(import.meta.dirname, "../../src/shop/schema");

/** The columns that migrations 6 and 41 fill, of every order. */
const filled = (tx: Tx) =>
  tx.all(
    `select purchase_order_id, currency_code, total_value, grand_total, paid_status, quantity_ordered, quantity_confirmed, quantity_received,
       quantity_pending, next_expected_date from purchase_order order by purchase_order_id`,
  );

/** Minor unit by which the migrations round. Where the rules had it from then, some are no longer those of ISO 4217. */
const digitsThen = (currency: string): number | undefined =>
  new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;

test("orders from before get the same totals by the migration as by the rules, in every currency", async () => {
  await using server = await startGoodsServer();
  const known = [...new Set([...Intl.supportedValuesOf("currency"), "TRL", "QQQ"])];
  const codes = known.filter((code) => digitsThen(code) === minorDigits(code));
  assert.ok(codes.length > 100);
  const statuses = ["Draft", "Sent", "In Progress", "Completed", "Cancelled"];
  const lines = [
    { ...red, quantityReceived: 10, expectedDeliveryDate: "2026-01-01" },
    { ...blue, quantityReceived: 1.5, quantityRejected: 0.5, expectedDeliveryDate: "2026-05-01" },
    {
      poLineItemId: "c",
      variantId: "green",
      quantityOrdered: 7,
      quantityCancelled: 7,
      expectedDeliveryDate: "2026-01-02",
    },
    {
      poLineItemId: "d",
      variantId: "green",
      quantityOrdered: 3,
      quantityReceived: 4.25,
      allowOverReceipt: true,
      expectedDeliveryDate: "2026-01-03",
    },
  ];
  await server.bring(
    codes.map((currencyCode, index) => ({
      type: "purchaseOrder",
      purchaseOrderId: `o${index}`,
      status: statuses[index % statuses.length],
      previousStatus: "Sent",
      locationId: "warehouse",
      currencyCode,
      expectedDeliveryDate: index % 3 === 0 ? "2026-06-01" : null,
      shippingCost: [null, 10.5555, 0.0005, 3.5][index % 4],
      taxAmount: [0.4945, null, 12.345][index % 3],
      discountAmount: [1, 999.99, null, 0.0055, null][index % 5],
      lineItems: [lines, lines.slice(0, 1), lines.slice(2), []][index % 4],
      payments: [
        {
          paymentId: "p1",
          paymentType: "deposit",
          status: "Paid",
          amount: [0, 23, 100, 1][index % 4],
          currencyCode,
          createdAt: "2026-01-01T00:00:00.000Z",
        },
      ],
    })),
  );
  const { engine, shopId } = server;
  const byRules = await engine.read(shopId, filled);
  assert.equal(byRules.length, codes.length);
  const updates = [6, 41].flatMap((number) => {
    const [migration = ""] = loadMigrations(schemaDirectory).slice(number - 1, number);
    return statementsOf(migration).filter((statement) => statement.startsWith("update purchase_order set"));
  });
  await engine.write(shopId, (tx) =>
    tx.batch([
      {
        sql: `update purchase_order set grand_total = 0, paid_status = 'Unpaid', quantity_ordered = 0, quantity_confirmed = 0,
                quantity_received = 0, quantity_pending = 0, next_expected_date = null`,
        params: [],
      },
      ...updates.map((sql) => ({ sql, params: [] })),
    ]),
  );
  assert.deepEqual(await engine.read(shopId, filled), byRules);
});
