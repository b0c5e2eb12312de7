import assert from "node:assert/strict";
import { test } from "node:test";
import {
  lineItemStatus,
  lineTotal,
  noTotals,
  orderTotals,
  paidStatus,
  pendingQuantity,
  rateToOrderCurrency,
} from "../../src/core/order/lines.ts";
import { moneyToNumber, quantityToNumber } from "../../src/core/money/money.ts";
import type { LineItem, LineItemStatus, PurchaseOrder, Status } from "../../src/core/order/purchase-order.ts";
import { fxRate, line, type LineFigures, money, order, shop } from "../support/goods.ts";

test("three units at 19.99 are exactly 59.97", () => {
  assert.equal(moneyToNumber(lineTotal(line("a", { ordered: 3, unitCost: 19.99 }))), 59.97);
});

test("a line's value is rounded half-up to the minor unit of its own currency", () => {
  const cases: readonly (readonly [number, number, string, number])[] = [
    [0.5, 0.01, "USD", 0.01],
    [0.499, 0.01, "USD", 0],
    [1, 1.005, "USD", 1.01],
    [3, 0.5, "JPY", 2],
    [1, 0.4999, "JPY", 0],
    [1, 0.0005, "KWD", 0.001],
    [1, 0.0004, "KWD", 0],
  ];
  for (const [ordered, unitCost, currency, total] of cases)
    assert.equal(
      moneyToNumber(lineTotal(line("a", { ordered, unitCost, currency }))),
      total,
      `${unitCost} ${currency}`,
    );
});

// C29: the pending quantity and the first status that applies.
const lineTable: readonly (readonly [LineFigures, number, LineItemStatus])[] = [
  [{}, 10, "Pending"],
  [{ confirmed: 4 }, 4, "Partially Confirmed"],
  [{ confirmed: 10 }, 10, "Confirmed"],
  [{ received: 4 }, 6, "Partially Received"],
  [{ confirmed: 4, received: 4 }, 0, "Received"],
  [{ confirmed: 4, received: 1, rejected: 1, cancelled: 2 }, 0, "Received"],
  [{ received: 12 }, 0, "Received"],
  [{ confirmed: 10, received: 0.001 }, 9.999, "Partially Received"],
  [{ rejected: 10 }, 0, "Rejected"],
  [{ rejected: 4, cancelled: 6 }, 0, "Rejected"],
  [{ rejected: 4 }, 6, "Pending"],
  [{ confirmed: 10, rejected: 4 }, 6, "Confirmed"],
  [{ cancelled: 10 }, 0, "Cancelled"],
  [{ confirmed: 10, cancelled: 10 }, 0, "Cancelled"],
  [{ cancelled: 9 }, 1, "Pending"],
  [{ confirmed: 4, cancelled: 4 }, 0, "Partially Confirmed"],
  [{ cancelled: 10, received: 1 }, 0, "Received"],
];
for (const [figures, pending, status] of lineTable)
  test(`a line of 10 with ${JSON.stringify(figures)} is ${status}, ${pending} pending`, () => {
    assert.equal(quantityToNumber(pendingQuantity(line("a", figures))), pending);
    assert.equal(lineItemStatus(line("a", figures)), status);
  });

test("the total is summed exactly and rounded once", () => {
  const thirds = Array.from({ length: 3 }, (_, index) => line(`l${index}`, { ordered: 1, unitCost: 0.005 }));
  assert.equal(moneyToNumber(orderTotals(order("Draft", []), thirds, shop()).totalValue), 0.02, "not 3 × 0.01");
});

test("lines in other currencies are converted through the shop's; those without a rate are named and left out", () => {
  const rates = shop({ currencyCode: "USD", fxRates: { EUR: fxRate(1.25), JPY: fxRate(0.01) } });
  const lines = [
    line("usd", { ordered: 1, unitCost: 100 }),
    line("eur", { ordered: 1, unitCost: 100, currency: "EUR" }),
    line("jpy", { ordered: 1, unitCost: 1_000, currency: "JPY" }),
    line("gbp", { ordered: 1, unitCost: 100, currency: "GBP" }),
  ];
  const inCurrency = (currencyCode: string, fxRateOverride: number | null) =>
    orderTotals(
      order("Draft", [], { currencyCode, fxRateOverride: fxRateOverride === null ? null : fxRate(fxRateOverride) }),
      lines,
      rates,
    );
  assert.equal(moneyToNumber(inCurrency("USD", null).totalValue), 235);
  assert.equal(moneyToNumber(inCurrency("EUR", null).totalValue), 188, "100/1.25 + 100 + 10/1.25");
  assert.equal(moneyToNumber(inCurrency("EUR", 2).totalValue), 155, "the override is EUR → USD: 100/2 + 100 + 10/2");
  assert.equal(moneyToNumber(inCurrency("JPY", null).totalValue), 23_500);
  assert.deepEqual(inCurrency("USD", null).unpricedLineItemIds, ["gbp"]);
  assert.deepEqual(inCurrency("GBP", null).unpricedLineItemIds, ["usd", "eur", "jpy"], "no rate for the order itself");
});

test("a line in the order's currency needs no rate", () => {
  const rate = rateToOrderCurrency("GBP", { currencyCode: "GBP", fxRateOverride: null }, shop());
  assert.equal(rate?.numerator, rate?.denominator);
});

test("what is owed has shipping and tax in it and the discount taken off, is rounded once and never below 0", () => {
  const lines = [line("a", { ordered: 3, unitCost: 19.99 })];
  const owed = (facts: Partial<PurchaseOrder>): number =>
    moneyToNumber(orderTotals(order("Draft", [], facts), lines, shop({ fxRates: { JPY: fxRate(1) } })).grandTotal);
  assert.equal(owed({}), 59.97);
  assert.equal(owed({ shippingCost: money(6.9), taxAmount: money(11.39), discountAmount: money(5) }), 73.26);
  assert.equal(owed({ shippingCost: money(0.0025), taxAmount: money(0.0025) }), 59.98, "rounded once, half-up");
  assert.equal(owed({ discountAmount: money(59.9649) }), 0.01);
  assert.equal(owed({ discountAmount: money(60) }), 0);
  assert.equal(owed({ currencyCode: "JPY", shippingCost: money(0.5) }), 61, "60 JPY and a half");
});

test("the totals to begin with are those of an order without lines and amounts", () => {
  assert.deepEqual(noTotals, orderTotals(order("Draft", []), [], shop()));
});

test("the header sums up the quantities of its lines", () => {
  const lines = [
    line("confirmed short", { ordered: 10, confirmed: 6, received: 2 }),
    line("cancelled", { ordered: 5, cancelled: 5 }),
    line("over-received", { ordered: 4, received: 7.5 }),
    line("part rejected", { ordered: 3, rejected: 1 }),
  ];
  const totals = orderTotals(order("In Progress", []), lines, shop());
  assert.equal(quantityToNumber(totals.quantityOrdered), 22);
  assert.equal(quantityToNumber(totals.quantityConfirmed), 6);
  assert.equal(quantityToNumber(totals.quantityReceived), 9.5);
  assert.equal(quantityToNumber(totals.quantityPending), 6, "4 + 0 + 0 + 2");
});

const pendingLine = (expectedDeliveryDate: string | null) => ({ ...line("pending"), expectedDeliveryDate });
const receivedLine = { ...line("received", { received: 10 }), expectedDeliveryDate: "2026-01-01" };
const nextExpectedTable: readonly (readonly [string, Status, readonly LineItem[], string | null])[] = [
  ["no lines", "Draft", [], "2026-06-01"],
  ["a pending line without a day", "Sent", [pendingLine(null)], "2026-06-01"],
  ["a pending line with a later day", "Sent", [pendingLine("2026-07-01")], "2026-07-01"],
  ["one line with a day, one without", "Sent", [pendingLine(null), pendingLine("2026-07-01")], "2026-07-01"],
  ["two days", "On Hold", [pendingLine("2026-07-02"), pendingLine("2026-05-01")], "2026-05-01"],
  ["a line that has come", "Partially Received", [receivedLine, pendingLine("2026-07-01")], "2026-07-01"],
  ["nothing pending", "Received", [receivedLine], null],
  ["Completed", "Completed", [pendingLine("2026-07-01")], null],
  ["Cancelled", "Cancelled", [pendingLine("2026-07-01")], null],
];
for (const [name, status, lines, expected] of nextExpectedTable)
  test(`an order that is expected on 2026-06-01, ${name}: something comes next on ${expected}`, () => {
    const header = order(status, [], { expectedDeliveryDate: "2026-06-01" });
    assert.equal(orderTotals(header, lines, shop()).nextExpectedDate, expected);
  });

test("an order's payment status compares the settled amount with what is owed", () => {
  const paid = (settled: number, total: number) =>
    paidStatus({ settledAmount: money(settled), grandTotal: money(total) });
  assert.deepEqual(
    [paid(0, 10), paid(9.99, 10), paid(10, 10), paid(10.01, 10), paid(0, 0), paid(1, 0)],
    ["Unpaid", "Partially Paid", "Paid", "Overpaid", "Unpaid", "Overpaid"],
  );
});
