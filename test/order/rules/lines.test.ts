import assert from "node:assert/strict";
import { test } from "node:test";
import { lineItemStatus, lineTotal, paidStatus, pendingQuantity } from "../../../src/core/order/lines.ts";
import { moneyToNumber, quantityToNumber } from "../../../src/core/money/money.ts";
import type { LineItemStatus, Status } from "../../../src/core/order/purchase-order.ts";
import { line, type LineFigures, money } from "../../support/goods.ts";

test("three units at 19.99 are exactly 59.97", () => {
  assert.equal(moneyToNumber(lineTotal(line("a", { ordered: 3, unitCost: 19.99 }))), 59.97);
});

test("what was cancelled of a line counts no more in its value", () => {
  assert.equal(moneyToNumber(lineTotal(line("a", { ordered: 10, cancelled: 4, unitCost: 2.5 }))), 15);
  assert.equal(moneyToNumber(lineTotal(line("a", { ordered: 10, cancelled: 12, unitCost: 2.5 }))), 0);
  assert.equal(moneyToNumber(lineTotal(line("a", { ordered: 10, confirmed: 8, received: 3, unitCost: 2 }))), 20);
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

test("an order's payment status compares the settled amount with what is owed; one that is in and owes nothing is paid", () => {
  const paid = (status: Status, settled: number, total: number, unpricedLineItemIds: readonly string[] = []) =>
    paidStatus({ status, settledAmount: money(settled), grandTotal: money(total), unpricedLineItemIds });
  for (const status of ["Received", "Completed"] as const)
    assert.equal(paid(status, 0, 0, ["a"]), "Unpaid", "nobody knows what it owes");
  for (const status of ["Draft", "In Progress", "Cancelled", "Disputed"] as const)
    assert.deepEqual(
      [
        paid(status, 0, 10),
        paid(status, 9.99, 10),
        paid(status, 10, 10),
        paid(status, 10.01, 10),
        paid(status, 0, 0),
        paid(status, 1, 0),
      ],
      ["Unpaid", "Partially Paid", "Paid", "Overpaid", "Unpaid", "Overpaid"],
      status,
    );
  for (const status of ["Received", "Completed"] as const)
    assert.deepEqual(
      [paid(status, 0, 0), paid(status, 0, 0.01), paid(status, 1, 0)],
      ["Paid", "Unpaid", "Overpaid"],
      status,
    );
});
