import assert from "node:assert/strict";
import { test } from "node:test";
import {
  completionOf,
  costAttempt,
  type CostFacts,
  type CostHistory,
  costPlan,
  type CostProposal,
  type CostRow,
  costSource,
  dueCosts,
  readBackCost,
  skippedCustomLines,
  unreadCost,
} from "../../../src/core/storefront/cost-sync.ts";
import { moneyToNumber } from "../../../src/core/money/money.ts";
import type { PurchaseOrder, ShopFacts } from "../../../src/core/order/purchase-order.ts";
import { fxRate, line, money, order, quantity, refusal, shop } from "../../support/goods.ts";

interface CostCase {
  readonly name: string;
  readonly lines: readonly Parameters<typeof line>[1][];
  readonly shop?: Partial<ShopFacts>;
  readonly order?: Partial<PurchaseOrder>;
  readonly known?: CostFacts;
  /** proposed cost, source cost, source currency, source of the rate */
  readonly expected: readonly [number, number, string, string];
}

const costCases: readonly CostCase[] = [
  {
    name: "the line's cost in the shop's currency",
    lines: [{ received: 3, unitCost: 19.99 }],
    expected: [19.99, 19.99, "USD", "same-currency"],
  },
  {
    name: "two lines weighted by what was received, rounded half-up to 4 decimals",
    lines: [
      { received: 1, unitCost: 10 },
      { received: 2, unitCost: 11 },
    ],
    expected: [10.6667, 10.6667, "USD", "same-currency"],
  },
  {
    name: "the override for lines in the order's currency",
    lines: [{ received: 1, unitCost: 10, currency: "EUR" }],
    order: { currencyCode: "EUR", fxRateOverride: fxRate(1.1) },
    shop: { fxRates: { EUR: fxRate(1.08) } },
    expected: [11, 10, "EUR", "override"],
  },
  {
    name: "the shop's rate without an override",
    lines: [{ received: 1, unitCost: 10, currency: "EUR" }],
    order: { currencyCode: "EUR" },
    shop: { fxRates: { EUR: fxRate(1.08) } },
    expected: [10.8, 10, "EUR", "shop-rate"],
  },
  {
    name: "the shop's rate for a line in a third currency, override or not",
    lines: [{ received: 1, unitCost: 10, currency: "GBP" }],
    order: { currencyCode: "EUR", fxRateOverride: fxRate(1.1) },
    shop: { fxRates: { GBP: fxRate(1.25) } },
    expected: [12.5, 10, "GBP", "shop-rate"],
  },
  {
    name: "lines in two currencies: converted, weighted; the row names the first",
    lines: [
      { received: 1, unitCost: 10, currency: "EUR" },
      { received: 3, unitCost: 4 },
    ],
    order: { currencyCode: "EUR" },
    shop: { fxRates: { EUR: fxRate(2) } },
    expected: [8, 10, "EUR", "shop-rate"],
  },
  {
    name: "a moving average with the stock before this order's receipts",
    lines: [{ received: 10, synced: 10, unitCost: 4 }],
    shop: { costSyncMode: "moving-average" },
    known: { unitCost: money(1), onHand: quantity(15) },
    expected: [3, 4, "USD", "same-currency"],
  },
  {
    name: "a moving average over receipts that are not pushed yet",
    lines: [{ received: 10, unitCost: 4 }],
    shop: { costSyncMode: "moving-average" },
    known: { unitCost: money(1), onHand: quantity(20) },
    expected: [2, 4, "USD", "same-currency"],
  },
  {
    name: "no old cost: the new one",
    lines: [{ received: 10, unitCost: 4 }],
    shop: { costSyncMode: "moving-average" },
    known: { unitCost: null, onHand: quantity(20) },
    expected: [4, 4, "USD", "same-currency"],
  },
  {
    name: "no stock before, or less than none: the new one",
    lines: [{ received: 10, synced: 10, unitCost: 4 }],
    shop: { costSyncMode: "moving-average" },
    known: { unitCost: money(1), onHand: quantity(5) },
    expected: [4, 4, "USD", "same-currency"],
  },
];

for (const each of costCases) {
  test(`a proposed unit cost: ${each.name}`, () => {
    const lines = each.lines.map((figures, index) => line(`line ${index}`, { variantId: "v", ...figures }));
    const facts = new Map(each.known === undefined ? [] : [["v", each.known]]);
    const [proposal, ...rest] = costPlan(order("Received", lines, each.order), shop(each.shop), facts);
    assert.deepEqual(rest, []);
    assert.ok(proposal !== undefined);
    assert.deepEqual(
      [
        moneyToNumber(proposal.proposedUnitCost),
        moneyToNumber(proposal.sourceUnitCost),
        proposal.sourceCurrencyCode,
        proposal.fxSource,
      ],
      each.expected,
    );
    assert.equal(proposal.poLineItemId, "line 0");
    assert.equal(proposal.currencyCode, "USD");
    assert.equal(proposal.previousUnitCost, each.known?.unitCost ?? null);
  });
}

test("costs are proposed for received catalogue lines only, and for none when cost sync is off", () => {
  const lines = [
    line("a", { received: 1 }),
    line("b"),
    line("custom", { variantId: "CSTM-1", received: 1, currency: "JPY" }),
  ];
  assert.deepEqual(
    costPlan(order("Received", lines), shop(), new Map()).map((proposal) => proposal.variantId),
    ["variant of a"],
  );
  const foreign = order("Received", [line("a", { received: 1, currency: "JPY" })]);
  assert.deepEqual(costPlan(foreign, shop({ costSyncMode: "disabled" }), new Map()), []);
});

test("a missing rate is refused and names fxRateOverride", () => {
  const lines = [line("a", { received: 1, currency: "EUR" })];
  const missing = refusal(() => costPlan(order("Received", lines, { currencyCode: "EUR" }), shop(), new Map()));
  assert.match(missing.message, /EUR to USD.*fxRateOverride/);
  assert.match(missing.action ?? "", /purchase_order_update/);
  const third = order("Received", lines, { currencyCode: "GBP", fxRateOverride: fxRate(1.2) });
  assert.match(refusal(() => costPlan(third, shop(), new Map())).message, /fxRateOverride covers lines in .*GBP/);
  const absurd = order("Received", [line("a", { received: 1, currency: "EUR", unitCost: 1_000_000_000 })], {
    currencyCode: "EUR",
    fxRateOverride: fxRate(500_000),
  });
  assert.match(refusal(() => costPlan(absurd, shop(), new Map())).action ?? "", /fxRateOverride/);
  const dear = { ...absurd, fxRateOverride: fxRate(1) };
  assert.equal(
    moneyToNumber(costPlan(dear, shop(), new Map())[0]?.proposedUnitCost ?? money(0)),
    1_000_000_000,
    "the largest cost itself is written",
  );
});

// Attempts of one completion (C45).

const received = order("Received", [
  line("a", { received: 10, synced: 10, unitCost: 4 }),
  line("b", { received: 5, unitCost: 2 }),
  line("custom", { variantId: "CSTM-1", received: 1 }),
]);

const row = (proposal: CostProposal, outcome: CostRow["outcome"], attempt = 1): CostRow => ({
  ...proposal,
  costSyncId: `cs of ${proposal.variantId} ${attempt}`,
  outcome,
  attempt,
  completion: 0,
  proposedAtMs: 0,
  isAccepted: false,
});

/** Of an order whose goods came without receipts. */
const history = (...rows: readonly CostRow[]): CostHistory => ({ rows, receipts: [] });

const variantsOf = (proposals: readonly CostProposal[]): readonly string[] =>
  proposals.map((proposal) => proposal.variantId);

test("a first attempt proposes every cost; one that failed, or of which nothing is known, is due again", () => {
  const first = dueCosts(received, shop(), history(), new Map());
  assert.deepEqual(variantsOf(first.proposals), ["variant of a", "variant of b"]);
  assert.equal(first.appliedVariantIds.size, 0);
  const rows = first.proposals.flatMap((proposal) => [row(proposal, "proposed"), row(proposal, "failed")]);
  assert.deepEqual(dueCosts(received, shop(), history(...rows), new Map()), first);
});

test("a cost that was applied is not due again, unless the order has changed since", () => {
  const [a, b] = dueCosts(received, shop(), history(), new Map()).proposals;
  assert.ok(a !== undefined && b !== undefined);
  const rows = [row(a, "applied"), row(b, "failed")];
  // The shop's own catalogue has the applied cost by now.
  const facts = new Map<string, CostFacts>([["variant of a", { unitCost: money(4), onHand: quantity(10) }]]);
  const again = dueCosts(received, shop(), history(...rows), facts);
  assert.deepEqual(variantsOf(again.proposals), ["variant of b"]);
  assert.deepEqual([...again.appliedVariantIds], ["variant of a"]);
  const dearer = { ...received, lineItems: [line("a", { received: 10, synced: 10, unitCost: 5 })] };
  const changed = dueCosts(dearer, shop(), history(...rows), facts);
  assert.deepEqual(
    changed.proposals.map((proposal) => [moneyToNumber(proposal.proposedUnitCost), proposal.previousUnitCost]),
    [[5, money(4)]],
  );
  assert.equal(changed.appliedVariantIds.size, 0);
});

test("a moving average is made from the cost before the first attempt, so that what was applied is found again", () => {
  const average = shop({ costSyncMode: "moving-average" });
  const before = new Map<string, CostFacts>([["variant of a", { unitCost: money(1), onHand: quantity(20) }]]);
  const only = { ...received, lineItems: received.lineItems.slice(0, 1) };
  const [proposal] = dueCosts(only, average, history(), before).proposals;
  assert.ok(proposal !== undefined);
  assert.equal(moneyToNumber(proposal.proposedUnitCost), 2.5);
  const after = new Map<string, CostFacts>([["variant of a", { unitCost: money(2.5), onHand: quantity(20) }]]);
  assert.deepEqual(dueCosts(only, average, history(row(proposal, "applied")), after).proposals, []);
});

test("costs of variants that are gone, cannot be set or were skipped by the caller are not written, and are recorded once", () => {
  const due = ["active", "inactive", "deleted", "unsyncable", "skipped", "new"].map((variantId) => {
    const lines = [line(`line of ${variantId}`, { variantId, received: 1 })];
    return costPlan(order("Received", lines), shop(), new Map())[0] ?? assert.fail(variantId);
  });
  const standings = new Map(
    (["active", "inactive", "deleted", "unsyncable"] as const).map((standing) => [standing, standing] as const),
  );
  const rows = due.slice(2, 3).map((proposal) => row(proposal, "skipped", 3));
  const { attempt, writes, skipped } = costAttempt(due, rows, standings, new Set(["skipped"]));
  assert.equal(attempt, 4);
  assert.deepEqual(variantsOf(writes), ["active", "inactive", "new"]);
  assert.deepEqual(
    skipped.map(({ reason, isRecorded }) => [reason, isRecorded]),
    [
      ["variant deleted is deleted on the storefront", true],
      ["variant unsyncable is unsyncable on the storefront", false],
      ["variant skipped was skipped by the caller", false],
    ],
  );
  assert.equal(costAttempt(due, [], standings, new Set()).attempt, 1);
  const failed = due.slice(2, 3).map((proposal) => row(proposal, "failed"));
  assert.deepEqual(
    costAttempt(due, failed, standings, new Set()).skipped.map(({ isRecorded }) => isRecorded),
    [false, false],
    "a row of another outcome does not say that it was skipped",
  );
});

test("the source of an order's costs changes with what costs follow from, and with nothing else", () => {
  const source = costSource(received);
  assert.equal(costSource({ ...received, note: "new", version: 9 }), source);
  assert.equal(costSource({ ...received, lineItems: [...received.lineItems, line("not received")] }), source);
  const others: readonly Partial<PurchaseOrder>[] = [
    { supplierId: "another" },
    { fxRateOverride: fxRate(2) },
    { currencyCode: "EUR" },
    { lineItems: [line("a", { received: 11, synced: 10, unitCost: 4 }), ...received.lineItems.slice(1)] },
    { lineItems: [line("a", { received: 10, synced: 10, unitCost: 5 }), ...received.lineItems.slice(1)] },
  ];
  for (const facts of others) assert.notEqual(costSource({ ...received, ...facts }), source, JSON.stringify(facts));
  assert.deepEqual(
    skippedCustomLines(received).map((each) => each.poLineItemId),
    ["custom"],
  );
});

test("a reopened order starts another completion", () => {
  assert.equal(completionOf({ completedAtMs: null }), 0);
  assert.equal(completionOf({ completedAtMs: 7_000 }), 7_000);
});

test("a cost that is shown was applied, one that another has replaced too, and any other may still be shown (C45, D346)", () => {
  const byOther = { orderName: "PO-1002", isBeside: false };
  const taken = { unitCost: money(3), isAccepted: true };
  const unknown = { unitCost: money(3), isAccepted: false };
  assert.deepEqual(readBackCost(taken, money(3), null), { outcome: "applied", reason: null });
  assert.deepEqual(readBackCost(unknown, money(3), byOther), { outcome: "applied", reason: null });
  assert.equal(readBackCost(taken, money(4), null), null);
  assert.equal(readBackCost(unknown, null, null), null);
  assert.deepEqual(readBackCost(taken, money(4), byOther), { outcome: "applied", reason: "replaced since by PO-1002" });
  assert.deepEqual(readBackCost(taken, null, { orderName: null, isBeside: true }), {
    outcome: "applied",
    reason: "replaced since by another cost of this order",
  });
  assert.deepEqual(readBackCost(unknown, money(4), byOther), {
    outcome: "failed",
    reason: "replaced since by PO-1002; whether it was written before is not known",
  });
});

test("a cost that was never shown has failed, with what is shown instead", () => {
  assert.deepEqual(unreadCost(null), { outcome: "failed", reason: "the storefront shows no unit cost" });
  assert.deepEqual(unreadCost(money(7.25)), { outcome: "failed", reason: "the storefront shows 7.25" });
});
