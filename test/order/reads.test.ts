/** What hangs on an order, as the sub-resources show it (contract §9; spec "Purchase orders: reads"). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fxRate } from "../support/goods.ts";
import { startGoodsServer } from "../support/goods-server.ts";

const empty = [
  ["/line-items", { lineItems: [], totalCount: 0, cursor: null }],
  [
    "/payments",
    {
      payments: [],
      summary: {
        totalValue: 0,
        grandTotal: 0,
        paidAmount: 0,
        creditAmount: 0,
        outstandingAmount: 0,
        currencyCode: "EUR",
        paidStatus: "Unpaid",
      },
    },
  ],
  ["/documents", { documents: [] }],
  ["/shipment", { shipment: null }],
  ["/shipments", { shipments: [] }],
  ["/addresses", { addresses: { billingAddress: null, shippingAddress: null } }],
  ["/receipt-schedule", { receiptSchedule: [], receipts: [] }],
  ["/cost-sync-history", { costSyncHistory: [], totalCount: 0, cursor: null }],
  [
    "/credits",
    { credits: { applied: [], available: [], totals: { appliedAmount: 0, availableAmount: 0, currencyCode: "EUR" } } },
  ],
] as const;

test("a bare order answers every sub-resource in its final shape, an unknown one none", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", [], { supplierId: null, locationId: null });
  for (const [below, data] of empty) {
    const answer = await server.get(server.order(below));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.at("data"), data);
    assert.equal((await server.get(`/api/v1/purchase-orders/po_nowhere${below}`)).status, 404);
  }
});

const shipment = (
  shipmentId: string,
  status: string,
  expectedArrivalDate: string | null,
  quantityAllocated: number,
) => ({
  shipmentId,
  status,
  expectedArrivalDate,
  lineAllocations: [
    { poLineItemId: "a", variantId: "red", quantityAllocated, quantityReceived: 0, quantityRejected: 0 },
  ],
});

const red = { poLineItemId: "a", variantId: "red", quantityOrdered: 10, quantityConfirmed: 10, unitCost: 4 };
const blue = { poLineItemId: "b", variantId: "blue", quantityOrdered: 5, quantityConfirmed: 5, unitCost: 8 };
const lines = [{ ...red, quantityReceived: 3 }, blue];

test("payments are summed up in the order's currency; what no rate converts is left out", async () => {
  await using server = await startGoodsServer();
  await server.changeShop({ fxRates: { USD: fxRate(0.5) } });
  const payment = (paymentId: string, status: string, amount: number, currencyCode = "EUR") => ({
    paymentId,
    paymentType: "installment",
    status,
    amount,
    currencyCode,
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  await server.bringOrder("Sent", lines, {
    payments: [
      payment("p1", "Paid", 20.5),
      payment("p2", "Paid", 10, "USD"),
      payment("p3", "Paid", 1000, "JPY"),
      payment("p4", "Scheduled", 30),
      payment("p5", "Cancelled", 40),
    ],
    credits: [{ creditId: "c1", amountApplied: 4.25, currencyCode: "EUR", appliedAt: "2026-01-01T00:00:00.000Z" }],
  });
  const answer = await server.get(server.order("/payments"));
  assert.deepEqual(answer.at("data", "summary"), {
    totalValue: 80,
    grandTotal: 80,
    paidAmount: 25.5,
    creditAmount: 4.25,
    outstandingAmount: 50.25,
    currencyCode: "EUR",
    paidStatus: "Partially Paid",
  });
  assert.equal(answer.at("data", "payments", 4, "status"), "Cancelled");
});

test("a new exchange rate values what was paid anew: header, filter and summary agree", async () => {
  await using server = await startGoodsServer();
  const paid = { paymentId: "p1", paymentType: "deposit", status: "Paid", createdAt: "2026-01-01T00:00:00.000Z" };
  await server.bringOrder("Sent", [{ ...red, unitCostCurrencyCode: "USD" }], {
    currencyCode: "USD",
    payments: [{ ...paid, amount: 20, currencyCode: "EUR" }],
  });
  const standing = async (): Promise<readonly unknown[]> => {
    const [header, payments] = [await server.get(server.order()), await server.get(server.order("/payments"))];
    const paidStatus = header.textAt("data", "purchaseOrder", "paidStatus");
    const listed = await server.get(`/api/v1/purchase-orders?paidStatus=${encodeURIComponent(paidStatus)}`);
    assert.equal(listed.at("data", "totalCount"), 1, paidStatus);
    assert.equal(payments.at("data", "summary", "paidStatus"), paidStatus);
    return [paidStatus, payments.at("data", "summary", "outstandingAmount")];
  };
  assert.deepEqual(await standing(), ["Unpaid", 40], "no rate for what was paid");
  for (const [fxRateOverride, expected] of [
    [0.5, ["Paid", 0]],
    [1, ["Partially Paid", 20]],
    [0.25, ["Overpaid", -40]],
    [null, ["Unpaid", 40]],
  ] as const) {
    const answer = await server.patch(server.order(), { fxRateOverride });
    assert.equal(answer.at("data", "purchaseOrder", "paidStatus"), expected[0]);
    assert.deepEqual(await standing(), expected);
  }
  const absurd = await server.patch(server.order(), { fxRateOverride: 1e-10 });
  assert.equal(absurd.status, 400);
  assert.match(absurd.textAt("error", "message"), /^What was paid would be worth more than /);
});

test("credits applied stand beside those of the supplier that have something left", async () => {
  await using server = await startGoodsServer();
  const credit = (creditId: string, supplierId: string, balance: number) => ({
    type: "supplierCredit",
    creditId,
    supplierId,
    amount: 100,
    balance,
    currencyCode: "EUR",
  });
  await server.bring([
    { type: "supplier", supplierId: "other", name: "Other" },
    credit("c1", "mill", 60),
    credit("c2", "mill", 0),
    credit("c3", "other", 50),
  ]);
  await server.bringOrder("Sent", lines, {
    credits: [{ creditId: "c1", amountApplied: 40, currencyCode: "EUR", appliedAt: "2026-01-01T00:00:00.000Z" }],
  });
  const answer = await server.get(server.order("/credits"));
  assert.equal(answer.at("data", "credits", "applied", 0, "creditId"), "c1");
  assert.equal(answer.at("data", "credits", "available", 0, "creditId"), "c1");
  assert.equal(answer.at("data", "credits", "available", 1), undefined);
  assert.deepEqual(answer.at("data", "credits", "totals"), {
    appliedAmount: 40,
    availableAmount: 60,
    currencyCode: "EUR",
  });
});

test("the detail carries shipment, addresses, payments and documents; the shipment is the next to arrive", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", lines, {
    billingAddress: { city: "Ghent" },
    shipments: [
      shipment("s1", "Received", "2026-01-01", 1),
      shipment("s3", "In Transit", "2027-03-01", 2),
      shipment("s2", "Draft", "2027-02-01", 2),
      shipment("s0", "Cancelled", "2026-12-01", 2),
    ],
    documents: [
      { documentId: "d1", fileName: "invoice.pdf", documentType: "invoice", uploadedAt: "2026-01-01T00:00:00.000Z" },
    ],
  });
  const detail = await server.get(server.order());
  assert.equal(detail.at("data", "purchaseOrder", "shipment", "shipmentId"), "s2");
  assert.equal(detail.at("data", "purchaseOrder", "addresses", "billingAddress", "city"), "Ghent");
  assert.equal(detail.at("data", "purchaseOrder", "documents", 0, "fileName"), "invoice.pdf");
  assert.equal(detail.at("data", "purchaseOrder", "lineItems", 1, "quantityPending"), 5);
  assert.equal((await server.get(server.order("/shipment"))).at("data", "shipment", "shipmentId"), "s2");
  assert.equal((await server.get(server.order("/shipments"))).at("data", "shipments", 3, "shipmentId"), "s0");
});

test("the receipt schedule spreads a line over its shipments, and receipts are listed newest first", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [red, blue], {
    expectedDeliveryDate: "2020-01-01",
    shipments: [shipment("s1", "In Transit", "2099-02-01", 4)],
  });
  for (const quantityReceived of [1, 3])
    assert.equal(
      (await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived }] })).status,
      200,
    );
  const answer = await server.get(server.order("/receipt-schedule"));
  const row = (index: number) => answer.at("data", "receiptSchedule", index);
  const common = { locationId: "warehouse" };
  assert.deepEqual(row(0), {
    ...common,
    scheduleId: "a",
    poLineItemId: "a",
    variantId: "red",
    shipmentId: null,
    expectedDate: "2020-01-01",
    dateSource: "order",
    quantityExpected: 6,
    quantityReceived: 0,
    quantityPending: 6,
    status: "Overdue",
  });
  assert.equal(answer.at("data", "receiptSchedule", 1, "poLineItemId"), "b");
  assert.deepEqual(row(2), {
    ...common,
    scheduleId: "a:s1",
    poLineItemId: "a",
    variantId: "red",
    shipmentId: "s1",
    expectedDate: "2099-02-01",
    dateSource: "shipment",
    quantityExpected: 4,
    quantityReceived: 3,
    quantityPending: 1,
    status: "Partially Received",
  });
  assert.equal(answer.at("data", "receipts", 0, "lines", 0, "quantityDelta"), 2);
  assert.equal(answer.at("data", "receipts", 0, "lines", 0, "quantityReceivedAfter"), 3);
  assert.equal(answer.at("data", "receipts", 1, "lines", 0, "quantityDelta"), 1);
});

test("the log is paged newest first and says who did what", async () => {
  await using server = await startGoodsServer();
  const made = await server.post("/api/v1/purchase-orders");
  const path = `/api/v1/purchase-orders/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  for (let index = 0; index < 4; index += 1) await server.patch(path, { note: `note ${index}` });
  const seen: unknown[] = [];
  for (let cursor = ""; ;) {
    const page = await server.get(`${path}/log?limit=2${cursor}`);
    assert.equal(page.at("data", "totalCount"), 5);
    for (const index of [0, 1]) {
      const action = page.at("data", "log", index, "action");
      if (action !== undefined) seen.push(page.at("data", "log", index, "changes", 0, "after") ?? action);
    }
    if (page.at("data", "cursor") === null) break;
    cursor = `&cursor=${page.textAt("data", "cursor")}`;
  }
  assert.deepEqual(seen, ["note 3", "note 2", "note 1", "note 0", "create"]);
  const all = await server.get(`${path}/log`);
  assert.equal(all.at("data", "cursor"), null);
  assert.deepEqual(all.at("data", "log", 4, "actor", "type"), "api-key");
  assert.equal(all.at("data", "log", 4, "actor", "name"), "the write key");
});

test("cost history is narrowed by variant and paged newest first", async () => {
  await using server = await startGoodsServer();
  const cost = (index: number, variantId: string) => ({
    costSyncId: `cost-${index}`,
    variantId,
    poLineItemId: "a",
    proposedUnitCost: 4,
    currencyCode: "EUR",
    sourceUnitCost: 4,
    sourceCurrencyCode: "EUR",
    fxRate: 1,
    fxSource: "same-currency",
    outcome: "applied",
    attempt: 1,
    proposedAt: new Date(Date.parse("2026-01-01T00:00:00.000Z") + index).toISOString(),
  });
  await server.bringOrder("Completed", lines, {
    costSyncHistory: [cost(0, "red"), cost(1, "blue"), cost(2, "red")],
  });
  const ids = async (query: string): Promise<readonly unknown[]> => {
    const answer = await server.get(server.order(`/cost-sync-history${query}`));
    assert.equal(answer.status, 200, answer.text);
    return [0, 1, 2].map((index) => answer.at("data", "costSyncHistory", index, "costSyncId"));
  };
  assert.deepEqual(await ids(""), ["cost-2", "cost-1", "cost-0"]);
  assert.deepEqual(await ids("?variantIds=red"), ["cost-2", "cost-0", undefined]);
  const first = await server.get(server.order("/cost-sync-history?limit=1&variantIds=red,blue"));
  const cursor = first.textAt("data", "cursor");
  assert.deepEqual(await ids(`?limit=2&variantIds=red,blue&cursor=${cursor}`), ["cost-1", "cost-0", undefined]);
  assert.equal((await server.get(server.order(`/cost-sync-history?cursor=${cursor}`))).status, 400);
});
