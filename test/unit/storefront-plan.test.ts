import assert from "node:assert/strict";
import { test } from "node:test";
import { decideReceive } from "../../src/core/receive.ts";
import { moneyToNumber, zeroQuantity } from "../../src/core/money.ts";
import type { PurchaseOrder, ShopFacts, StorefrontSyncState } from "../../src/core/purchase-order.ts";
import { type CostFacts, costPlan } from "../../src/core/cost-sync.ts";
import { guardVerdict, withoutStorefront, type Resolution, type VariantStanding } from "../../src/core/guard.ts";
import { tagPlan } from "../../src/core/incoming.ts";
import { pushPlan, storefrontSyncState } from "../../src/core/stock-push.ts";
import { context, fxRate, line, money, order, quantity, refusal, shop } from "../support/goods.ts";

const standings = new Map<string, VariantStanding>([
  ["active", "active"],
  ["inactive", "inactive"],
  ["deleted", "deleted"],
  ["bundle", "unsyncable"],
]);

const verdict = (variantIds: readonly string[], resolutions: readonly Resolution[] = []) =>
  guardVerdict(
    variantIds.map((variantId, index) => line(`line ${index}`, { variantId })),
    standings,
    resolutions,
  );

test("the guard reports every catalogue line whose variant is not active, with the possible resolutions", () => {
  const { issues, activateVariantIds, skippedLineItemIds } = verdict([
    "active",
    "inactive",
    "deleted",
    "bundle",
    "unheard of",
    "CSTM-1",
  ]);
  assert.deepEqual(issues, [
    { itemId: "line 1", variantId: "inactive", issue: "inactive", allowedActions: ["activate", "skip"] },
    { itemId: "line 2", variantId: "deleted", issue: "deleted", allowedActions: ["skip"] },
    { itemId: "line 3", variantId: "bundle", issue: "unsyncable", allowedActions: ["skip"] },
    { itemId: "line 4", variantId: "unheard of", issue: "deleted", allowedActions: ["skip"] },
  ]);
  assert.deepEqual([activateVariantIds, skippedLineItemIds.size], [[], 0]);
});

test("a resolution removes its issue; an issue it cannot resolve stays; one without an issue is ignored", () => {
  const resolved = verdict(
    ["active", "inactive", "deleted", "bundle", "inactive"],
    [
      { itemId: "line 0", action: "skip" },
      { itemId: "line 1", action: "activate" },
      { itemId: "line 2", action: "activate" },
      { itemId: "line 3", action: "skip" },
      { itemId: "not a line of this call", action: "skip" },
    ],
  );
  assert.deepEqual(
    resolved.issues.map((issue) => issue.itemId),
    ["line 2"],
  );
  assert.deepEqual(resolved.activateVariantIds, ["inactive"]);
  assert.deepEqual([...resolved.skippedLineItemIds], ["line 3"]);
});

test("skipped variants are in no effect; the rest of the decision is kept", () => {
  const decided = decideReceive(
    order("In Progress", [line("a"), line("b")]),
    {
      lines: ["a", "b"].map((lineItemId) => ({ lineItemId, quantityReceived: quantity(10) })),
      allowOverReceipt: false,
    },
    context(),
  );
  const alone = withoutStorefront(decided, new Set(["variant of a"]));
  assert.equal(alone.next, decided.next);
  assert.deepEqual(alone.effects, [
    { kind: "push-stock", purchaseOrderId: "po_1", poLineItemIds: ["b"] },
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of b"] },
  ]);
  assert.deepEqual(withoutStorefront(decided, new Set(["variant of a", "variant of b"])).effects, []);
});

test("a push has received − synced of the selected catalogue lines, one item per variant", () => {
  const step = pushPlan(
    order("Received", [
      line("a", { variantId: "v", received: 5.5, synced: 2 }),
      line("b", { variantId: "v", received: 1, synced: 2 }),
      line("in step", { received: 3, synced: 3 }),
      line("custom", { variantId: "CSTM-1", received: 3 }),
      line("not wanted", { received: 3 }),
      line("back", { received: 0, synced: 4 }),
    ]),
    ["a", "b", "in step", "custom", "back", "gone"],
    [],
  );
  assert.deepEqual(step, {
    kind: "send",
    items: [
      {
        variantId: "v",
        locationId: "warehouse",
        delta: quantity(2.5),
        lines: [
          { poLineItemId: "a", delta: quantity(3.5) },
          { poLineItemId: "b", delta: quantity(-1) },
        ],
      },
      {
        variantId: "variant of back",
        locationId: "warehouse",
        delta: quantity(-4),
        lines: [{ poLineItemId: "back", delta: quantity(-4) }],
      },
    ],
  });
});

test("lines of a variant whose changes add up to zero are separate items", () => {
  const lines = [line("a", { variantId: "v", received: 2 }), line("b", { variantId: "v", received: 0, synced: 2 })];
  const step = pushPlan(order("Received", lines), ["a", "b"], []);
  assert.deepEqual(step.kind === "send" && step.items.map((item) => item.delta), [quantity(2), quantity(-2)]);
});

test("an open push is sent first, with its own items under its own reference", () => {
  const open = { reference: "ref_1", items: [] };
  assert.deepEqual(pushPlan(order("Received", [line("a", { received: 5 })]), ["a"], [open]), {
    kind: "resend",
    push: open,
  });
});

test("there is nothing to push without a location or a difference", () => {
  const lines = [line("a", { received: 5 })];
  assert.deepEqual(pushPlan(order("Received", lines, { locationId: null }), ["a"], []), { kind: "nothing" });
  assert.deepEqual(pushPlan(order("Received", [line("a", { received: 5, synced: 5 })]), ["a"], []), {
    kind: "nothing",
  });
});

test("an order's sync state is derived from its lines and attempts", () => {
  const none = { inFlight: false, failed: false };
  const failed = { inFlight: false, failed: true };
  const table: [Parameters<typeof line>[1][], typeof none, StorefrontSyncState][] = [
    [[{}], none, "never-synced"],
    [[{ received: 5 }], none, "never-synced"],
    [[{ received: 5 }], failed, "failed"],
    [[{ received: 5, synced: 5 }, {}], none, "synced"],
    [[{ received: 5, synced: 5 }, { received: 1 }], none, "partial"],
    [[{ received: 5, synced: 5 }, { received: 1 }], failed, "partial"],
    [[{ received: 3, synced: 5 }], none, "partial"],
    [[{ received: 5 }], { inFlight: true, failed: true }, "in-flight"],
    [[{ variantId: "CSTM-1", received: 5 }], failed, "never-synced"],
  ];
  for (const [figures, attempts, expected] of table) {
    const lines = figures.map((each, index) => line(`line ${index}`, each));
    assert.equal(storefrontSyncState(lines, attempts), expected, JSON.stringify([figures, attempts]));
  }
});

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
});

test("a product has the tag while any of its variants is incoming; one change per product", () => {
  const plan = tagPlan([
    { variantId: "red", productId: "shirt", incoming: zeroQuantity },
    { variantId: "blue", productId: "shirt", incoming: quantity(1) },
    { variantId: "hat", productId: "hat", incoming: zeroQuantity },
    { variantId: "shirt", productId: null, incoming: quantity(2) },
  ]);
  assert.deepEqual(plan, [
    { variantId: "red", present: true },
    { variantId: "hat", present: false },
    { variantId: "shirt", present: true },
  ]);
});
