import assert from "node:assert/strict";
import { test } from "node:test";
import {
  lineItemStatus,
  lineTotal,
  orderTotals,
  paidStatus,
  pendingQuantity,
  rateToOrderCurrency,
} from "../../src/core/lines.ts";
import { moneyToNumber, quantityToNumber } from "../../src/core/money.ts";
import type { LineItemStatus } from "../../src/core/purchase-order.ts";
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
      { currencyCode, fxRateOverride: fxRateOverride === null ? null : fxRate(fxRateOverride) },
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

test("an order's payment status compares the settled amount with its total", () => {
  const paid = (settled: number, total: number) =>
    paidStatus({ settledAmount: money(settled), totalValue: money(total) });
  assert.deepEqual(
    [paid(0, 10), paid(9.99, 10), paid(10, 10), paid(10.01, 10), paid(0, 0), paid(1, 0)],
    ["Unpaid", "Partially Paid", "Paid", "Overpaid", "Unpaid", "Overpaid"],
  );
});
