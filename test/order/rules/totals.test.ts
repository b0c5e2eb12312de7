/** What an order is worth and owes, by golden tables; and the rates by which it counts (C35). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decideComplete } from "../../../src/core/goods/complete.ts";
import { decideEditLines, decideHeader, type HeaderChanges } from "../../../src/core/order/edit.ts";
import { moneyToNumber, quantityToNumber } from "../../../src/core/money/money.ts";
import { rateToOrderCurrency } from "../../../src/core/order/order-rates.ts";
import type { PurchaseOrder, ShopFacts, Status } from "../../../src/core/order/purchase-order.ts";
import { decideStatus } from "../../../src/core/order/status-move.ts";
import { discountExcess, noTotals, orderTotals } from "../../../src/core/order/totals.ts";
import {
  context,
  fxRate,
  line,
  type LineFigures,
  money,
  order,
  payment,
  quantity,
  refusal,
  shop,
} from "../../support/goods.ts";

type Charges = { readonly shipping?: number; readonly tax?: number; readonly discount?: number };

/** Status, lines as figures with a unit cost, charges; then totalValue and grandTotal. */
const totalsTable: readonly (readonly [Status, readonly LineFigures[], Charges, number, number])[] = [
  ["Draft", [{ ordered: 10, unitCost: 4 }], {}, 40, 40],
  ["Sent", [{ ordered: 10, confirmed: 8, unitCost: 4 }], {}, 40, 32],
  [
    "Completed",
    [
      { ordered: 10, confirmed: 8, received: 8, unitCost: 4 },
      { ordered: 5, cancelled: 5, unitCost: 100 },
    ],
    {},
    40,
    32,
  ],
  ["In Progress", [{ ordered: 10, confirmed: 10, rejected: 3, unitCost: 4 }], {}, 40, 28],
  ["In Progress", [{ ordered: 10, confirmed: 10, cancelled: 3, unitCost: 4 }], {}, 28, 28],
  ["Partially Received", [{ ordered: 10, received: 4, unitCost: 4 }], { shipping: 6.9 }, 40, 46.9],
  ["Completed", [{ ordered: 10, received: 4, unitCost: 4 }], { shipping: 6.9 }, 40, 22.9],
  ["Cancelled", [{ ordered: 10, unitCost: 4 }], {}, 40, 0],
  ["Cancelled", [{ ordered: 10, received: 2, unitCost: 4 }], { tax: 1.5 }, 40, 9.5],
  ["On Hold", [{ ordered: 10, received: 2, unitCost: 4 }], {}, 40, 40],
  ["Received", [{ ordered: 10, received: 12, unitCost: 4 }], {}, 40, 48],
  [
    "Draft",
    [
      { ordered: 1, unitCost: 0.005 },
      { ordered: 1, unitCost: 0.005 },
      { ordered: 1, unitCost: 0.005 },
    ],
    {},
    0.02,
    0.02,
  ],
  ["Draft", [{ ordered: 3, unitCost: 19.99 }], { shipping: 6.9, tax: 11.39, discount: 5 }, 59.97, 73.26],
  ["Draft", [{ ordered: 1, unitCost: 0.0025 }], { shipping: 0.0025 }, 0, 0.01],
  ["Draft", [{ ordered: 3, unitCost: 19.99 }], { discount: 59.9649 }, 59.97, 0.01],
  ["Draft", [{ ordered: 3, unitCost: 19.99 }], { discount: 60 }, 59.97, 0],
];

const amount = (value: number | undefined) => (value === undefined ? null : money(value));

for (const [status, figures, charges, totalValue, grandTotal] of totalsTable)
  test(`${status} ${JSON.stringify(figures)} ${JSON.stringify(charges)} is worth ${totalValue} and owes ${grandTotal}`, () => {
    const lines = figures.map((each, index) => line(`l${index}`, each));
    const charged = {
      shippingCost: amount(charges.shipping),
      taxAmount: amount(charges.tax),
      discountAmount: amount(charges.discount),
    };
    const totals = orderTotals(order(status, lines, charged), "USD");
    assert.equal(moneyToNumber(totals.totalValue), totalValue);
    assert.equal(moneyToNumber(totals.grandTotal), grandTotal);
  });

test("a discount is above what it is taken off by this much", () => {
  const lines = [line("a", { ordered: 10, unitCost: 4 })];
  const excess = (facts: Partial<PurchaseOrder>): number =>
    moneyToNumber(discountExcess(order("Draft", lines, facts), "USD"));
  assert.equal(excess({}), 0);
  assert.equal(excess({ discountAmount: money(40) }), 0);
  assert.equal(excess({ discountAmount: money(45.5), shippingCost: money(5) }), 0.5);
});

test("what was received can make an order owe too much", () => {
  const lines = [line("a", { ordered: 1, received: 1_000_000_000, unitCost: 1_000 })];
  refusal(() => orderTotals(order("Received", lines), "USD"));
});

test("lines in other currencies are converted through the shop's at the order's rates; those without a rate are named and left out", () => {
  const fxRates = { EUR: fxRate(1.25), JPY: fxRate(0.01) };
  const lines = [
    line("usd", { ordered: 1, unitCost: 100 }),
    line("eur", { ordered: 1, unitCost: 100, currency: "EUR" }),
    line("jpy", { ordered: 1, unitCost: 1_000, currency: "JPY" }),
    line("gbp", { ordered: 1, unitCost: 100, currency: "GBP" }),
  ];
  const inCurrency = (currencyCode: string, override: number | null) =>
    orderTotals(
      order("Draft", lines, { currencyCode, fxRateOverride: override === null ? null : fxRate(override), fxRates }),
      "USD",
    );
  assert.equal(moneyToNumber(inCurrency("USD", null).totalValue), 235);
  assert.equal(moneyToNumber(inCurrency("EUR", null).totalValue), 188, "100/1.25 + 100 + 10/1.25");
  assert.equal(moneyToNumber(inCurrency("EUR", 2).totalValue), 155, "the override is EUR → USD: 100/2 + 100 + 10/2");
  assert.equal(moneyToNumber(inCurrency("JPY", null).totalValue), 23_500);
  assert.equal(moneyToNumber(inCurrency("USD", null).grandTotal), 235);
  assert.deepEqual(inCurrency("USD", null).unpricedLineItemIds, ["gbp"]);
  assert.deepEqual(inCurrency("GBP", null).unpricedLineItemIds, ["usd", "eur", "jpy"], "no rate for the order itself");
});

test("a line in the order's currency needs no rate", () => {
  const rate = rateToOrderCurrency("GBP", { currencyCode: "GBP", fxRateOverride: null, fxRates: {} }, "USD");
  assert.equal(rate?.numerator, rate?.denominator);
});

test("the totals to begin with are those of an order without lines and amounts", () => {
  assert.deepEqual(noTotals, orderTotals(order("Draft", []), "USD"));
});

test("the header sums up the quantities of its lines", () => {
  const lines = [
    line("confirmed short", { ordered: 10, confirmed: 6, received: 2 }),
    line("cancelled", { ordered: 5, cancelled: 5 }),
    line("over-received", { ordered: 4, received: 7.5 }),
    line("part rejected", { ordered: 3, rejected: 1 }),
  ];
  const totals = orderTotals(order("In Progress", lines), "USD");
  assert.equal(quantityToNumber(totals.quantityOrdered), 22);
  assert.equal(quantityToNumber(totals.quantityConfirmed), 6);
  assert.equal(quantityToNumber(totals.quantityReceived), 9.5);
  assert.equal(quantityToNumber(totals.quantityPending), 6, "4 + 0 + 0 + 2");
});

// An order's rates are its own.

/** A USD shop that converts at these rates. */
const told = (fxRates: Readonly<Record<string, number>>) =>
  context({
    shop: shop({
      fxRates: Object.fromEntries(Object.entries(fxRates).map(([code, rate]) => [code, fxRate(rate)])),
    } satisfies Partial<ShopFacts>),
  });

const nobody = { supplier: null, locationName: null };

const patched = (before: PurchaseOrder, changes: HeaderChanges, rates: Readonly<Record<string, number>>) =>
  decideHeader(before, changes, { ...nobody, change: null }, told(rates));

const tenEuros = line("a", { ordered: 10, received: 10, unitCost: 10, currency: "EUR" });

/** An order of 10 × 10 EUR, at 0.9. */
const rated = (status: Status, facts: Partial<PurchaseOrder> = {}): PurchaseOrder => {
  const bare = order(status, [tenEuros], { fxRates: { EUR: fxRate(0.9) }, ...facts });
  return { ...bare, ...orderTotals(bare, "USD") };
};

const worth = ({ totalValue, grandTotal }: PurchaseOrder) => [moneyToNumber(totalValue), moneyToNumber(grandTotal)];

test("a note on an order that has left Draft moves no total, whatever the shop's rates are by now", () => {
  for (const status of ["Sent", "Received", "Completed", "Cancelled", "On Hold"] as const) {
    const before = rated(status);
    const { next, log } = patched(before, { note: "x" }, { EUR: 0.5 });
    assert.deepEqual(worth(next), worth(before), status);
    assert.deepEqual(next.fxRates, before.fxRates);
    assert.deepEqual(
      log.map((entry) => [entry.message, entry.changes.length]),
      [["Changed note.", 1]],
    );
  }
});

test("a Draft takes the shop's rates with each edit and with the move to Sent, and its log tells what that does to its total", () => {
  const before = rated("Draft");
  for (const { next, log } of [
    patched(before, { note: "x" }, { EUR: 0.5 }),
    decideStatus(
      { ...before, lineItems: [{ ...tenEuros, quantityReceived: quantity(0) }] },
      "Sent",
      told({ EUR: 0.5 }),
    ),
  ]) {
    assert.deepEqual(worth(next), [50, 50]);
    assert.equal(log.length, 1);
    assert.match(log[0]?.message ?? "", /The order took the shop's exchange rates, which changes its total\.$/);
    assert.deepEqual(log[0]?.changes.slice(1), [
      { field: "fxRates", poLineItemId: null, before: { EUR: 0.9 }, after: { EUR: 0.5 } },
      { field: "totalValue", poLineItemId: null, before: 90, after: 50 },
      { field: "grandTotal", poLineItemId: null, before: 90, after: 50 },
    ]);
  }
  const same = patched(before, { note: "x" }, { EUR: 0.9 });
  assert.deepEqual(same.log[0]?.changes.length, 1);
  const without = patched({ ...before, lineItems: [line("a")] }, { note: "x" }, { EUR: 0.5 });
  assert.deepEqual(without.next.fxRates, {}, "a currency that the order does not have needs no rate");
});

test("a currency without a rate takes the shop's with the first change that finds one, and keeps it", () => {
  const unpriced = rated("Sent", { fxRates: {} });
  assert.deepEqual([worth(unpriced), unpriced.unpricedLineItemIds], [[0, 0], ["a"]]);
  const still = patched(unpriced, { note: "x" }, {}).next;
  assert.deepEqual(still.unpricedLineItemIds, ["a"]);
  const { next, log } = patched(still, { note: "y" }, { EUR: 0.5 });
  assert.deepEqual([worth(next), next.unpricedLineItemIds], [[50, 50], []]);
  assert.equal(log[0]?.changes.find(({ field }) => field === "totalValue")?.after, 50);
  assert.deepEqual(worth(patched(next, { note: "z" }, { EUR: 0.7 }).next), [50, 50]);
  const received = { ...rated("Received", { fxRates: {} }) };
  assert.deepEqual(worth(decideComplete(received, false, told({ EUR: 0.5 })).next), [50, 50], "a completion, too");
});

test("nothing of a Completed order moves by another edit: it takes no rate that it did not have", () => {
  const done = rated("Completed", { fxRates: {} });
  const { next } = patched(done, { note: "x" }, { EUR: 0.5 });
  assert.deepEqual([worth(next), next.unpricedLineItemIds], [[0, 0], ["a"]]);
  const reopened = decideStatus(next, "Received", told({ EUR: 0.5 })).next;
  assert.deepEqual(worth(reopened), [50, 50], "once it is open again it does");
});

test("a rate that an order has had since it left Draft is there again when its currency comes back", () => {
  const before = rated("Sent");
  const inCurrency = (of: PurchaseOrder, unitCostCurrencyCode: string) =>
    decideEditLines(of, [{ lineItemId: "a", unitCostCurrencyCode }], told({ EUR: 0.5, GBP: 2 })).next;
  const gone = inCurrency(before, "GBP");
  assert.deepEqual(worth(gone), [200, 200]);
  assert.deepEqual(worth(inCurrency(gone, "EUR")), worth(before));
});

test("a Completed order that gets another currency takes the rate of that one, and keeps the others", () => {
  const { next } = patched(rated("Completed"), { currencyCode: "GBP" }, { EUR: 0.5, GBP: 2 });
  assert.deepEqual([worth(next), next.unpricedLineItemIds], [[45, 45], []]);
});

test("after Draft the rate of an order changes by fxRateOverride alone", () => {
  const before = rated("Sent", { currencyCode: "EUR", lineItems: [line("a", { ordered: 10, unitCost: 9 })] });
  const totalled = { ...before, ...orderTotals(before, "USD") };
  assert.deepEqual(worth(totalled), [100, 100], "90 USD at 0.9");
  assert.deepEqual(worth(patched(totalled, { fxRateOverride: fxRate(0.5) }, { EUR: 0.7 }).next), [180, 180]);
  const { next } = patched({ ...totalled, fxRateOverride: fxRate(0.5) }, { fxRateOverride: null }, { EUR: 0.7 });
  assert.deepEqual(worth(next), [100, 100]);
});

test("what was paid is rounded once, to the minor unit, as what is owed is", () => {
  const settledBy = (...amounts: readonly (readonly [number, string])[]): number => {
    const payments = amounts.map(([amount, currencyCode]) => payment(amount, { currencyCode }));
    const attached = { payments, credits: [], shipments: [], documents: [] };
    const rates = { EUR: fxRate(1.1), CHF: fxRate(1.5) };
    return moneyToNumber(orderTotals(order("Sent", [line("a")], { attached, fxRates: rates }), "USD").settledAmount);
  };
  assert.equal(settledBy([33.3333, "USD"], [33.3333, "USD"], [33.3333, "USD"]), 100);
  assert.equal(settledBy([0.33, "EUR"], [0.33, "EUR"], [0.33, "EUR"]), 1.09, "1.089");
  assert.equal(settledBy([0.31, "EUR"], [0.33, "CHF"]), 0.84, "0.341 + 0.495");
});

test("what was paid in another currency counts at the order's rates", () => {
  const attached = { payments: [payment(10, { currencyCode: "EUR" })], credits: [], shipments: [], documents: [] };
  const bare = order("Sent", [line("a")], { attached, fxRates: { EUR: fxRate(0.9) } });
  const before = { ...bare, ...orderTotals(bare, "USD") };
  assert.equal(moneyToNumber(before.settledAmount), 9);
  const edit = [{ lineItemId: "a", quantityOrdered: quantity(11) }];
  assert.equal(moneyToNumber(decideEditLines(before, edit, told({ EUR: 0.5 })).next.settledAmount), 9);
  const draft = { ...before, status: "Draft" as const };
  assert.equal(moneyToNumber(decideEditLines(draft, edit, told({ EUR: 0.5 })).next.settledAmount), 5);
});

test("a Draft has its supplier's lead time as it is now; an order that was sent keeps what it had", () => {
  const draft = order("Draft", [line("a")], { supplierLeadTimeDays: 5, supplierLeadTimeNow: 9 });
  const sent = decideStatus(draft, "Sent", context({ nowMs: Date.parse("2026-03-01T12:00:00Z") })).next;
  assert.deepEqual([sent.supplierLeadTimeDays, sent.sentDate, sent.nextExpectedDate], [9, "2026-03-01", "2026-03-10"]);
  const known = {
    change: null,
    supplier: { name: "S", currencyCode: null, paymentTerms: null, incoterm: null, leadTimeDays: 20 },
    locationName: null,
  };
  const noted = decideHeader(sent, { note: "x" }, known, context()).next;
  assert.deepEqual([noted.supplierLeadTimeDays, noted.nextExpectedDate], [9, "2026-03-10"]);
  const other = decideHeader(
    sent,
    { supplierId: "other" },
    {
      ...known,
      change: { before: { supplier: null, terms: new Map() }, after: { supplier: known.supplier, terms: new Map() } },
    },
    context(),
  ).next;
  assert.deepEqual([other.supplierLeadTimeDays, other.nextExpectedDate], [20, "2026-03-21"]);
});

test("the day on which an order was sent is that of the shop's time zone then", () => {
  const nowMs = Date.parse("2026-03-01T20:00:00Z");
  const auckland = context({ shop: shop({ timezone: "Pacific/Auckland" }), nowMs });
  assert.equal(decideStatus(order("Draft", [line("a")]), "Sent", auckland).next.sentDate, "2026-03-02");
});
