/** What a new line takes from the supplier's catalogue and the variant where its request leaves it out (C32). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { valuesFrom } from "../../src/core/order/purchase-order-fields.ts";
import {
  type LineTerms,
  lineTerms,
  type SupplierTerms,
  supplierTermFields,
} from "../../src/core/supplier/supplier-terms.ts";
import { money, quantity } from "../support/goods.ts";

const currencies = { order: "GBP", supplier: "CHF", shop: "EUR" };

const terms = (given: Partial<SupplierTerms>): SupplierTerms => valuesFrom(supplierTermFields, given);

const inDollars = terms({ unitCost: money(4), unitCostCurrencyCode: "USD" });
const withoutCurrency = terms({ unitCost: money(5) });
const onlyCurrency = terms({ unitCostCurrencyCode: "USD" });
const free = terms({ unitCost: money(0), unitCostCurrencyCode: "USD" });

/** The cost in units and its currency; undefined: none, which an order makes 0 and the order's. */
const costTable: readonly (readonly [
  what: string,
  sent: LineTerms,
  entry: SupplierTerms | null,
  ofVariant: number | null,
  expected: readonly [cost: number | undefined, currency: string | null | undefined],
])[] = [
  ["nothing sent: the entry's, before the variant's", {}, inDollars, 9, [4, "USD"]],
  ["the entry's without a currency is in the supplier's", {}, withoutCurrency, 9, [5, "CHF"]],
  ["an entry's cost of 0 is a cost", {}, free, 9, [0, "USD"]],
  ["no entry: the variant's in the shop's currency", {}, null, 9, [9, "EUR"]],
  ["an entry without a cost: the variant's, in the shop's currency", {}, onlyCurrency, 9, [9, "EUR"]],
  ["no cost anywhere: the entry's currency", {}, onlyCurrency, null, [undefined, "USD"]],
  ["nothing known", {}, null, null, [undefined, undefined]],
  ["a cost alone is in the order's currency", { unitCost: money(7) }, inDollars, 9, [7, undefined]],
  ["a cost of 0 stands", { unitCost: money(0) }, inDollars, 9, [0, undefined]],
  ["cost and currency sent", { unitCost: money(7), unitCostCurrencyCode: "SEK" }, inDollars, 9, [7, "SEK"]],
  ["a cost and null: the order's", { unitCost: money(7), unitCostCurrencyCode: null }, inDollars, 9, [7, null]],
  ["a currency that is the entry's takes its cost", { unitCostCurrencyCode: "USD" }, inDollars, 9, [4, "USD"]],
  ["a currency that is the shop's takes the variant's", { unitCostCurrencyCode: "EUR" }, inDollars, 9, [9, "EUR"]],
  ["another currency takes none", { unitCostCurrencyCode: "SEK" }, inDollars, 9, [undefined, "SEK"]],
  ["null takes a cost in the order's currency", { unitCostCurrencyCode: null }, inDollars, 9, [undefined, "GBP"]],
  [
    "null takes an entry's in the order's currency",
    { unitCostCurrencyCode: null },
    terms({ unitCost: money(3), unitCostCurrencyCode: "GBP" }),
    9,
    [3, "GBP"],
  ],
];
for (const [what, sent, entry, ofVariant, [cost, currency]] of costTable)
  test(`cost of a new line: ${what}`, () => {
    const variantUnitCost = ofVariant === null ? null : money(ofVariant);
    const found = lineTerms(sent, { terms: entry, variantUnitCost }, currencies);
    assert.equal(found.unitCost, cost === undefined ? undefined : money(cost));
    assert.equal(found.unitCostCurrencyCode, currency);
  });

test("supplier fields that are left out are the entry's; those that are sent stand, null included", () => {
  const entry = terms({ supplierSku: "M-1", moq: quantity(6), packSize: quantity(3), leadTimeDays: 14 });
  const known = { terms: entry, variantUnitCost: null };
  const found = lineTerms({ supplierSku: null, moq: quantity(2), leadTimeDays: 0 }, known, currencies);
  assert.equal(found.supplierSku, null);
  assert.equal(found.moq, quantity(2));
  assert.equal(found.leadTimeDays, 0);
  assert.equal(found.packSize, quantity(3));
  assert.equal(found.supplierBarcode, null);
  assert.equal(lineTerms({}, { ...known, terms: null }, currencies).moq, undefined);
});
