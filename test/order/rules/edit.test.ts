import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decideAddLines,
  decideCreate,
  decideDelete,
  decideDeleteLines,
  decideEditLines,
  decideHeader,
  type HeaderChanges,
  type HeaderFacts,
  type LineEdit,
  type NewLine,
} from "../../../src/core/order/edit.ts";
import {
  type FieldChange,
  type LineFailure,
  linesPerOrderMax,
  type PurchaseOrder,
  type Status,
  statuses,
} from "../../../src/core/order/purchase-order.ts";
import { context, fxRate, line, money, newLine, order, quantity, refusal, shop } from "../../support/goods.ts";

const nobody: HeaderFacts = { supplier: null, locationName: null };
const european: HeaderFacts = {
  supplier: { name: "Fjord AS", currencyCode: "EUR", paymentTerms: "30 days net", incoterm: "DAP", leadTimeDays: 9 },
  locationName: "Depot",
};

const create = (header: HeaderChanges, lineItems: readonly NewLine[] = [], facts = nobody, told = context()) =>
  decideCreate({ purchaseOrderId: "po_1", poNumber: "PO-1001", createdBy: "key_1", header, lineItems }, facts, told);

const patch = (before: PurchaseOrder, changes: HeaderChanges, facts = nobody, told = context()) =>
  decideHeader(
    before,
    changes,
    {
      ...facts,
      change:
        changes.supplierId === undefined || changes.supplierId === before.supplierId
          ? null
          : {
              before: { supplier: null, terms: new Map() },
              after: { supplier: facts.supplier, terms: new Map() },
            },
    },
    told,
  );

const edit = (before: PurchaseOrder, ...edits: readonly LineEdit[]) => decideEditLines(before, edits, context());

const changesIn = (decided: { readonly log: readonly { readonly changes: readonly FieldChange[] }[] }) =>
  decided.log.flatMap((entry) => entry.changes);

const reasons = (failed: readonly LineFailure[]): readonly string[] =>
  failed.map((failure) => `${failure.lineItemId}: ${failure.reason}`);

const linesChangeIn: readonly Status[] = [
  "Draft",
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
];

// Creating.

test("an empty create is a Draft in the shop's currency", () => {
  const { next, log, effects } = create({});
  assert.equal(next.status, "Draft");
  assert.equal(next.previousStatus, "Draft");
  assert.equal(next.currencyCode, "USD");
  assert.equal(next.version, 1);
  assert.equal(next.totalValue, 0);
  assert.equal(next.itemCount, 0);
  assert.equal(next.createdAtMs, 1_000);
  assert.equal(next.createdBy, "key_1");
  assert.deepEqual(next.tags, []);
  assert.equal(log[0]?.message, "Created PO-1001 as a Draft with 0 lines.");
  assert.deepEqual(effects, [], "a Draft brings nothing in");
});

test("an order has the requested currency, else the supplier's, else the shop's; a line has the order's", () => {
  const supplierWithout: HeaderFacts = {
    supplier: { name: "Plain", currencyCode: null, paymentTerms: null, incoterm: null, leadTimeDays: null },
    locationName: null,
  };
  const cases: readonly (readonly [HeaderChanges, HeaderFacts, string])[] = [
    [{ currencyCode: "GBP", supplierId: "s" }, european, "GBP"],
    [{ supplierId: "s" }, european, "EUR"],
    [{ supplierId: "s", currencyCode: null }, european, "EUR"],
    [{ supplierId: "s" }, supplierWithout, "USD"],
    [{}, nobody, "USD"],
  ];
  for (const [header, facts, currencyCode] of cases) {
    const { next } = create(header, [newLine("a"), newLine("b", { unitCostCurrencyCode: "JPY" })], facts);
    assert.equal(next.currencyCode, currencyCode);
    assert.deepEqual(
      next.lineItems.map((each) => each.unitCostCurrencyCode),
      [currencyCode, "JPY"],
    );
    assert.deepEqual(next.unpricedLineItemIds, ["b"], "no rate for JPY");
    assert.equal(next.totalValue, money(6));
    assert.equal(next.supplierName, facts.supplier?.name ?? null);
  }
});

test("a new line has the requested values and nothing confirmed, received, rejected, cancelled or synced", () => {
  const [made] = create({}, [newLine("a", { sku: "A-1", packSize: quantity(6), note: "blue" })]).next.lineItems;
  assert.deepEqual(made, {
    ...line("a", { ordered: 2, unitCost: 3 }),
    sku: "A-1",
    packSize: quantity(6),
    note: "blue",
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
  });
});

test("a catalogue line with a custom line's id is refused on create and add, naming the operation for custom lines", () => {
  const lines = [newLine("a"), newLine("b", { variantId: "CSTM-1" })];
  for (const work of [() => create({}, lines), () => decideAddLines(order("Draft", []), lines, context())]) {
    const fault = refusal(work);
    assert.equal(fault.status, 400);
    assert.match(`${fault.action}`, /purchase_order_line_item_add_custom/);
    assert.deepEqual(
      fault.details?.map((detail) => "path" in detail && detail.path),
      ["/lineItems/1/variantId"],
    );
  }
  const custom = newLine("c", { variantId: "CSTM-1", isCustom: true, productName: "Pallet" });
  const { next } = decideAddLines(order("Draft", []), [custom], context());
  assert.equal(next.lineItems[0]?.variantId, "CSTM-1");
  assert.equal(next.lineItems[0]?.productName, "Pallet");
  assert.throws(
    () => decideAddLines(order("Draft", []), [newLine("d", { isCustom: true })], context()),
    TypeError,
    "a custom line under a catalogue id would be pushed to the storefront",
  );
});

test("an order holds linesPerOrderMax lines and no more", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => line(`l${index}`));
  const full = decideAddLines(order("Draft", many(linesPerOrderMax - 1)), [newLine("last")], context());
  assert.equal(full.next.itemCount, linesPerOrderMax);
  assert.match(refusal(() => decideAddLines(full.next, [newLine("one more")], context())).message, /5001 lines/);
});

test("a line or an order above the value limit is refused; at the limit it is accepted", () => {
  const dear = newLine("a", { quantityOrdered: quantity(1_000_000), unitCost: money(100_000) });
  assert.equal(create({}, [dear]).next.totalValue, money(100_000_000_000));
  const dearer = { ...dear, unitCost: money(100_000.0001) };
  assert.match(refusal(() => create({}, [dearer])).message, /^\/lineItems\/0\/unitCost: /);
  assert.match(
    refusal(() => create({}, [{ ...dearer, unitCostCurrencyCode: "JPY" }])).message,
    /unitCost/,
    "unpriced too",
  );
  assert.match(refusal(() => create({}, [dear, newLine("b")])).message, /total would pass/);
});

// The header.

test("a header change is logged field by field as the API shows it, and raises the version by one", () => {
  const before = order("Sent", [line("a")], { version: 7, tags: ["old"], shippingCost: money(2.5) });
  const decided = patch(before, {
    poName: "Spring",
    shippingCost: money(12.05),
    tags: ["new", "old"],
    fxRateOverride: fxRate(1.08),
    note: undefined,
    paymentTerms: null,
  });
  assert.deepEqual(changesIn(decided), [
    { field: "poName", poLineItemId: null, before: null, after: "Spring" },
    { field: "shippingCost", poLineItemId: null, before: 2.5, after: 12.05 },
    { field: "tags", poLineItemId: null, before: ["old"], after: ["new", "old"] },
    { field: "fxRateOverride", poLineItemId: null, before: null, after: 1.08 },
  ]);
  assert.equal(decided.log[0]?.message, "Changed poName, shippingCost, tags, fxRateOverride.");
  assert.equal(decided.next.version, 8);
  assert.equal(decided.next.updatedAtMs, 1_000);
  assert.equal(decided.next.status, "Sent");
});

const address = {
  companyName: "Fjord AS",
  contactName: null,
  address1: "Kai 1",
  address2: null,
  city: "Bergen",
  province: null,
  provinceCode: null,
  country: "Norway",
  countryCode: "NO",
  zip: "5003",
  phone: null,
  email: null,
};

test("an unchanged header changes nothing: same order, no new version, no log, no effect", () => {
  const before = order("In Progress", [line("a")], { tags: ["x", "y"], billingAddress: address, poName: "N" });
  const reordered = Object.fromEntries(Object.entries(address).reverse()) as typeof address;
  const decided = patch(before, {
    poName: "N",
    tags: ["x", "y"],
    billingAddress: reordered,
    locationId: "warehouse",
    note: null,
  });
  assert.equal(decided.next, before);
  assert.deepEqual([decided.log, decided.effects, decided.receipts], [[], [], []]);
});

test("null clears a field, an absent one is kept, cleared tags are an empty list", () => {
  const before = order("Completed", [], { poName: "N", note: "n", tags: ["x"], shippingAddress: address });
  const { next } = patch(before, { poName: null, tags: null, shippingAddress: null });
  assert.deepEqual([next.poName, next.note, next.tags, next.shippingAddress], [null, "n", [], null]);
  const moved = patch(next, { shippingAddress: { ...address, zip: "5004" } });
  assert.deepEqual(changesIn(moved), [
    { field: "shippingAddress", poLineItemId: null, before: null, after: { ...address, zip: "5004" } },
  ]);
});

for (const status of statuses)
  test(`locationId in ${status}: another is taken, none ${status === "Draft" ? "is taken" : "is refused"}`, () => {
    const before = order(status, [line("a", { confirmed: 10 })]);
    const facts: HeaderFacts = { supplier: null, locationName: "Depot" };
    const { next } = patch(before, { locationId: "depot" }, facts);
    assert.deepEqual([next.locationId, next.locationName], ["depot", "Depot"]);
    if (status === "Draft") assert.equal(patch(before, { locationId: null }).next.locationId, null);
    else assert.match(refusal(() => patch(before, { locationId: null })).message, /^\/locationId: /);
  });

test("locationId cannot change while anything is received or synced; sending the same one is no change", () => {
  for (const figures of [{ received: 0.001 }, { synced: 1 }]) {
    const before = order("Partially Received", [line("a"), line("b", figures)]);
    assert.match(
      refusal(() => patch(before, { locationId: "depot", poName: "N" })).message,
      /while anything is received/,
    );
    assert.equal(patch(before, { locationId: "warehouse" }).next, before);
  }
});

test("the incoming quantity moves to a new location", () => {
  assert.deepEqual(patch(order("Sent", [line("a")]), { locationId: "depot" }).effects, [
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of a"] },
    { kind: "mirror-incoming", locationId: "depot", variantIds: ["variant of a"] },
  ]);
});

test("a new supplier brings its currency unless a cost was typed; another currency converts lines and clears the old override", () => {
  const before = order("Draft", [line("a", { ordered: 1, unitCost: 10.8 })], {
    fxRateOverride: fxRate(2),
    shippingCost: money(5),
  });
  const told = context({ shop: shop({ fxRates: { EUR: fxRate(1.08) } }) });
  const typed = patch(before, { supplierId: "fjord" }, european, told);
  assert.deepEqual([typed.next.currencyCode, typed.keptTerms], ["USD", ["unitCost"]]);
  const untyped = order("Draft", [line("a", { unitCost: 0 })]);
  const followed = patch(untyped, { supplierId: "fjord" }, european, told).next;
  assert.deepEqual([followed.currencyCode, followed.lineItems[0]?.unitCostCurrencyCode], ["EUR", "EUR"]);
  assert.deepEqual([followed.paymentTerms, followed.incoterm], ["30 days net", "DAP"]);
  const decided = patch(before, { supplierId: "fjord", currencyCode: "EUR" }, european, told);
  assert.equal(decided.next.currencyCode, "EUR");
  assert.equal(decided.next.supplierName, "Fjord AS");
  assert.equal(decided.next.lineItems[0]?.unitCostCurrencyCode, "USD");
  assert.equal(decided.next.totalValue, money(10));
  assert.equal(decided.next.fxRateOverride, null);
  assert.equal(decided.next.shippingCost, money(5));
  assert.deepEqual(
    changesIn(decided).map((change) => change.field),
    ["supplierId", "currencyCode", "paymentTerms", "incoterm", "fxRateOverride"],
  );
  const overridden = patch(
    before,
    { supplierId: "fjord", currencyCode: "EUR", fxRateOverride: fxRate(1.2) },
    european,
    told,
  );
  assert.equal(overridden.next.totalValue, money(9), "an override sent along is of the new currency");
  assert.equal(patch(before, { supplierId: "fjord", currencyCode: "USD" }, european, told).next.currencyCode, "USD");
  assert.equal(
    patch(before, { supplierId: "supplier", note: "n" }, european, told).next.currencyCode,
    "USD",
    "same supplier",
  );
});

test("after a payment the currency stays: a new supplier does not change it, requesting another is refused", () => {
  const before = order("Sent", [], { settledAmount: money(1) });
  assert.equal(patch(before, { supplierId: "fjord" }, european).next.currencyCode, "USD");
  assert.match(refusal(() => patch(before, { currencyCode: "EUR" })).message, /^\/currencyCode: /);
  assert.match(refusal(() => patch(before, { currencyCode: null }, european)).message, /^\/currencyCode: /);
  assert.equal(patch(before, { currencyCode: "USD" }).next, before);
});

test("a rate for the order's currency changes the total at once", () => {
  const before = order("Sent", [line("a", { ordered: 1, unitCost: 100, currency: "USD" })], { currencyCode: "EUR" });
  const { next } = patch(before, { fxRateOverride: fxRate(1.25) });
  assert.equal(next.totalValue, money(80));
});

// Deleting the order.

test("a Draft is deleted, a Cancelled order is hidden, any other is refused with the way to delete it", () => {
  for (const status of statuses) {
    const before = order(status, [], { previousStatus: "Sent" });
    if (status === "Draft") assert.equal(decideDelete(before), "deleted");
    else if (status === "Cancelled") assert.equal(decideDelete(before), "soft-deleted");
    else {
      const fault = refusal(() => decideDelete(before));
      assert.equal(fault.status, 400);
      assert.match(fault.message, /must be Draft or Cancelled/);
      assert.match(`${fault.action}`, /to Cancelled/);
    }
  }
});

// Lines: which statuses.

for (const status of statuses)
  test(`lines in ${status} ${linesChangeIn.includes(status) ? "may" : "may not"} be added, edited and deleted`, () => {
    const before = order(status, [line("a"), line("b")], { previousStatus: "Confirmed" });
    const calls = [
      () => decideAddLines(before, [newLine("c")], context()),
      () => edit(before, { lineItemId: "a", quantityOrdered: quantity(3) }),
      () => decideDeleteLines(before, ["a"], context()),
    ];
    for (const call of calls) {
      if (linesChangeIn.includes(status)) {
        const { next } = call();
        assert.equal(next.status, status, "the status does not move");
        assert.equal(next.previousStatus, "Confirmed");
        assert.equal(next.version, 2);
      } else {
        const fault = refusal(call);
        assert.equal(fault.status, 400);
        assert.ok(fault.message.includes(status));
        assert.match(`${fault.action}`, /purchase_order_status/);
      }
    }
  });

test("added lines come last, and the log names them", () => {
  const decided = decideAddLines(order("Sent", [line("a")]), [newLine("b"), newLine("c")], context());
  assert.deepEqual(
    decided.next.lineItems.map((each) => each.poLineItemId),
    ["a", "b", "c"],
  );
  assert.equal(decided.log[0]?.message, "Added 2 lines.");
  assert.deepEqual(changesIn(decided)[0], {
    field: "lineItem",
    poLineItemId: "b",
    before: null,
    after: { variantId: "variant of b", quantityOrdered: 2, unitCost: 3, unitCostCurrencyCode: "USD" },
  });
});

// Lines: editing.

test("an edit changes the named fields of the named lines, and the log has each as the API shows it", () => {
  const before = order("Draft", [line("a"), line("b", { unitCost: 19.99 })]);
  const decided = edit(before, {
    lineItemId: "b",
    quantityOrdered: quantity(2.5),
    unitCost: money(20.0001),
    supplierSku: "S-1",
    leadTimeDays: 14,
    note: null,
  });
  assert.deepEqual(decided.updatedLineItemIds, ["b"]);
  assert.deepEqual(decided.failed, []);
  assert.equal(decided.next.lineItems[0], before.lineItems[0]);
  assert.deepEqual(changesIn(decided), [
    { field: "quantityOrdered", poLineItemId: "b", before: 10, after: 2.5 },
    { field: "unitCost", poLineItemId: "b", before: 19.99, after: 20.0001 },
    { field: "supplierSku", poLineItemId: "b", before: null, after: "S-1" },
    { field: "leadTimeDays", poLineItemId: "b", before: null, after: 14 },
  ]);
  assert.deepEqual(
    decided.next.lineItems.map((each) => each.updatedAtMs),
    [0, 1_000],
  );
  assert.equal(decided.next.totalValue, money(60), "10 × 1 + 2.5 × 20.0001 = 60.00025");
});

test("an edit without a difference counts as updated and changes nothing", () => {
  const before = order("Sent", [line("a"), line("b")]);
  const decided = edit(before, { lineItemId: "a", quantityOrdered: quantity(10) }, { lineItemId: "b" });
  assert.equal(decided.next, before);
  assert.deepEqual(decided.updatedLineItemIds, ["a", "b"]);
  assert.deepEqual([decided.log, decided.effects], [[], []]);
});

test("a line whose currency is cleared has the order's again", () => {
  const before = order("Draft", [line("a", { currency: "JPY" })], { currencyCode: "EUR" });
  assert.equal(
    edit(before, { lineItemId: "a", unitCostCurrencyCode: null }).next.lineItems[0]?.unitCostCurrencyCode,
    "EUR",
  );
});

test("lines that cannot be changed are named and keep all their values; the others change", () => {
  const before = order("Sent", [line("a"), line("b", { confirmed: 5 })]);
  const decided = edit(
    before,
    { lineItemId: "b", quantityOrdered: quantity(4), note: "lost with the rest" },
    { lineItemId: "nobody", note: "n" },
    { lineItemId: "a", note: "kept" },
  );
  assert.deepEqual(decided.updatedLineItemIds, ["a"]);
  assert.deepEqual(reasons(decided.failed), ["b: below-confirmed", "nobody: unknown-line"]);
  assert.equal(decided.next.lineItems[1], before.lineItems[1]);
  assert.equal(decided.next.lineItems[0]?.note, "kept");
});

test("if no line can be changed the call is refused and names each with its position", () => {
  const fault = refusal(() =>
    edit(
      order("Sent", [line("b", { confirmed: 5 })]),
      { lineItemId: "x" },
      { lineItemId: "b", quantityOrdered: quantity(4) },
    ),
  );
  assert.equal(fault.status, 400);
  assert.deepEqual(
    fault.details?.map((detail) => "path" in detail && detail.path),
    ["/lines/0", "/lines/1"],
  );
  assert.match(JSON.stringify(fault.details?.[1]), /below the confirmed 5/);
});

// Edits of a line's quantities: "ok" or the reason of the refusal.
const quantityEdits: readonly (readonly [string, Parameters<typeof line>[1], Parameters<typeof line>[1], string])[] = [
  ["ordered down to what is confirmed", { confirmed: 5 }, { ordered: 5 }, "ok"],
  ["ordered below what is confirmed", { confirmed: 5 }, { ordered: 4.999 }, "below-confirmed"],
  ["ordered up", { confirmed: 10 }, { ordered: 11 }, "ok"],
  ["ordered down to what is received, unconfirmed", { received: 5 }, { ordered: 5 }, "ok"],
  ["ordered below what is received, unconfirmed", { received: 5 }, { ordered: 4 }, "below-received"],
  ["ordered below received and rejected together", { received: 3, rejected: 3 }, { ordered: 5 }, "above-base"],
  ["ordered below what was received over the cap", { received: 12 }, { ordered: 9 }, "below-received"],
  ["ordered up towards what was received over the cap", { received: 12 }, { ordered: 11 }, "ok"],
  ["rejected up to the confirmed quantity", { confirmed: 5, received: 2 }, { rejected: 3 }, "ok"],
  ["rejected above the confirmed quantity", { confirmed: 5, received: 2 }, { rejected: 3.001 }, "above-base"],
  ["rejected up to the ordered quantity, unconfirmed", { received: 2 }, { rejected: 8 }, "ok"],
  ["rejected above the ordered quantity, unconfirmed", { received: 2 }, { rejected: 9 }, "above-base"],
  ["cancelled wholly", {}, { cancelled: 10 }, "ok"],
  ["cancelled above what was ordered", {}, { cancelled: 10.001 }, "above-base"],
  ["cancelled above a smaller confirmed quantity", { confirmed: 4 }, { cancelled: 5 }, "above-base"],
  ["cancelled and ordered raised together", {}, { ordered: 12, cancelled: 12 }, "ok"],
  ["more rejected over the cap", { received: 12 }, { rejected: 1 }, "above-base"],
  ["less rejected over the cap", { received: 9, rejected: 4 }, { rejected: 3 }, "ok"],
  ["rejected taken for cancelled", { rejected: 10 }, { rejected: 0, cancelled: 10 }, "ok"],
];
for (const [name, figures, to, outcome] of quantityEdits)
  test(`${name}: ${outcome}`, () => {
    const before = order("In Progress", [line("a", figures), line("other")]);
    const { failed, next } = edit(
      before,
      {
        lineItemId: "a",
        quantityOrdered: to?.ordered === undefined ? undefined : quantity(to.ordered),
        quantityRejected: to?.rejected === undefined ? undefined : quantity(to.rejected),
        quantityCancelled: to?.cancelled === undefined ? undefined : quantity(to.cancelled),
      },
      { lineItemId: "other", note: "so that something is applied" },
    );
    assert.deepEqual(reasons(failed), outcome === "ok" ? [] : [`a: ${outcome}`]);
    const wanted = outcome === "ok" ? { ...figures, ...to } : figures;
    assert.deepEqual({ ...next.lineItems[0], updatedAtMs: 0 }, line("a", wanted));
  });

test("other fields of an over-received line may be edited", () => {
  const before = order("Partially Received", [line("a", { received: 12 })]);
  assert.equal(edit(before, { lineItemId: "a", note: "n" }).next.lineItems[0]?.note, "n");
});

test("names, SKU and barcode are edited on custom lines only", () => {
  const before = order("Draft", [line("a"), line("c", { variantId: "CSTM-1" })]);
  for (const field of ["productName", "variantName", "sku", "barcode"] as const) {
    const decided = edit(before, { lineItemId: "a", [field]: "X" }, { lineItemId: "c", [field]: "X" });
    assert.deepEqual(reasons(decided.failed), ["a: custom-field-on-catalogue-line"]);
    assert.equal(decided.next.lineItems[1]?.[field], "X");
    assert.equal(decided.next.lineItems[0]?.[field], null);
  }
});

test("a line edited above the largest value fails alone", () => {
  const before = order("Draft", [line("a", { ordered: 1_000_000_000 }), line("b")]);
  const decided = edit(before, { lineItemId: "a", unitCost: money(101) }, { lineItemId: "b", note: "n" });
  assert.deepEqual(reasons(decided.failed), ["a: total-too-large"]);
});

test("an edited quantity changes the incoming quantity", () => {
  const decided = edit(order("Sent", [line("a")]), { lineItemId: "a", quantityCancelled: quantity(4) });
  assert.deepEqual(decided.effects, [
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of a"] },
  ]);
  assert.deepEqual(edit(order("Sent", [line("a")]), { lineItemId: "a", note: "n" }).effects, []);
});

// Lines: deleting.

test("lines are deleted unless they have received, rejected or synced goods; confirmed and cancelled ones can be", () => {
  const before = order("Partially Received", [
    line("plain"),
    line("received", { received: 1 }),
    line("synced", { synced: 1 }),
    line("rejected", { rejected: 1 }),
    line("confirmed", { confirmed: 10 }),
    line("cancelled", { cancelled: 10 }),
    line("kept"),
  ]);
  const decided = decideDeleteLines(
    before,
    ["confirmed", "nobody", "plain", "received", "synced", "rejected", "cancelled"],
    context(),
  );
  assert.deepEqual(decided.deletedLineItemIds, ["confirmed", "plain", "cancelled"]);
  assert.deepEqual(reasons(decided.failed), [
    "nobody: unknown-line",
    "received: has-received-quantity",
    "synced: has-synced-quantity",
    "rejected: has-rejected-quantity",
  ]);
  assert.deepEqual(
    decided.next.lineItems.map((each) => each.poLineItemId),
    ["received", "synced", "rejected", "kept"],
  );
  assert.equal(decided.next.itemCount, 4);
  assert.equal(decided.next.totalValue, money(40));
  assert.equal(decided.log[0]?.message, "Deleted 3 lines.");
  assert.deepEqual(
    changesIn(decided).map((change) => [change.poLineItemId, change.after]),
    [
      ["confirmed", null],
      ["plain", null],
      ["cancelled", null],
    ],
  );
});

test("if every deletion fails the order is unchanged and the call still succeeds", () => {
  const before = order("Sent", [line("a", { received: 1 })]);
  const decided = decideDeleteLines(before, ["a", "b"], context());
  assert.equal(decided.next, before);
  assert.deepEqual(decided.deletedLineItemIds, []);
  assert.equal(decided.failed.length, 2);
  assert.deepEqual(decided.log, []);
});
