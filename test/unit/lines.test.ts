import assert from "node:assert/strict";
import { test } from "node:test";
import { lineTotal } from "../../src/core/lines.ts";
import { moneyFrom, moneyToNumber, quantityFrom } from "../../src/core/money.ts";

test("three at 19.99 are 59.97, exactly", () => {
  const quantityOrdered = quantityFrom(3);
  const unitCost = moneyFrom(19.99);
  assert.ok(quantityOrdered !== null && unitCost !== null);
  assert.equal(moneyToNumber(lineTotal({ quantityOrdered, unitCost, unitCostCurrencyCode: "USD" })), 59.97);
});
