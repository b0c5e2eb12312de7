/**
 * Orders from outside: what is filled in, what is computed, what is refused.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AdoptFacts, adoptOrder, type OutsideLine, type OutsideOrder } from "../../../src/core/order/adopt.ts";
import { money, quantity, refusal, shop } from "../../support/goods.ts";

const facts: AdoptFacts = { shop: shop(), supplier: null, variants: new Map(), nowMs: 5_000 };

const outsideLine = (poLineItemId: string, given: Partial<OutsideLine> = {}): OutsideLine => ({
  poLineItemId,
  variantId: "beans",
  quantityOrdered: quantity(10),
  allowOverReceipt: false,
  ...given,
});

const outside = (given: Partial<OutsideOrder> = {}): OutsideOrder => ({
  purchaseOrderId: "po_1",
  poNumber: "PO-7",
  status: "Sent",
  locationId: "warehouse",
  createdBy: null,
  sentAtMs: null,
  confirmedAtMs: null,
  receivedAtMs: null,
  completedAtMs: null,
  cancelledAtMs: null,
  version: 1,
  lineItems: [outsideLine("a")],
  attachments: { payments: [], documents: [], shipments: [], credits: [] },
  receipts: [],
  ...given,
});

const adoptedLine = (given: Partial<OutsideLine>, known: Partial<AdoptFacts> = {}) =>
  adoptOrder(outside({ lineItems: [outsideLine("a", given)] }), { ...facts, ...known }).lineItems[0];

test("an order that says next to nothing is made whole", () => {
  const order = adoptOrder(outside(), facts);
  assert.equal(order.currencyCode, "USD");
  assert.deepEqual(order.tags, []);
  assert.equal(order.note, null);
  assert.equal(order.previousStatus, "Draft");
  assert.equal(order.storefrontSyncState, "never-synced");
  assert.equal(order.createdAtMs, 5_000);
  assert.equal(order.updatedAtMs, 5_000);
  const [line] = order.lineItems;
  assert.equal(line?.unitCost, money(0));
  assert.equal(line?.unitCostCurrencyCode, "USD");
  assert.equal(line?.quantityReceived, quantity(0));
  assert.equal(line?.createdAtMs, 5_000);
  assert.equal(line?.updatedAtMs, 5_000);
});

test("totals are computed from the lines", () => {
  const lineItems = [
    outsideLine("a", { unitCost: money(2.5) }),
    outsideLine("b", { unitCost: money(1), unitCostCurrencyCode: "XAF" }),
  ];
  const order = adoptOrder(outside({ lineItems }), facts);
  assert.equal(order.itemCount, 2);
  assert.equal(order.totalValue, money(25));
  assert.deepEqual(order.unpricedLineItemIds, ["b"]);
});

test("the currency is the record's, else the supplier's, else the shop's; a line's is the order's", () => {
  const known = { ...facts, supplier: { currencyCode: "EUR", leadTimeDays: null } };
  assert.equal(adoptOrder(outside({ currencyCode: "GBP" }), known).currencyCode, "GBP");
  const order = adoptOrder(outside({ currencyCode: null }), known);
  assert.equal(order.currencyCode, "EUR");
  assert.equal(order.lineItems[0]?.unitCostCurrencyCode, "EUR");
});

test("a line takes its names from the catalogue, unless it names its product, null included", () => {
  // The catalogue knows more of a variant than a line takes from it.
  const beans = { productName: "Beans", variantName: "1 kg", sku: "B-1", barcode: null, unitCost: money(99) };
  const variants = new Map([["beans", beans]]);
  const known = adoptedLine({ sku: "OWN" }, { variants });
  assert.equal(known?.productName, "Beans");
  assert.equal(known?.variantName, "1 kg");
  assert.equal(known?.sku, "OWN");
  assert.equal(known?.unitCost, money(0));
  assert.equal(adoptedLine({ productName: "Own beans" }, { variants })?.variantName, null);
  assert.equal(adoptedLine({ productName: null }, { variants })?.productName, null);
});

test("what was received counts as synced, but on a custom line or where the record says otherwise", () => {
  const received = { quantityReceived: quantity(4) };
  assert.equal(adoptedLine(received)?.quantitySynced, quantity(4));
  assert.equal(adoptedLine({ ...received, quantitySynced: quantity(1) })?.quantitySynced, quantity(1));
  const custom = { ...received, variantId: "CSTM-1", productName: "Pallet" };
  assert.equal(adoptedLine(custom)?.quantitySynced, quantity(0));
});

test("a held order must say where it came from, and not from another held status", () => {
  assert.equal(adoptOrder(outside({ status: "On Hold", previousStatus: "Sent" }), facts).previousStatus, "Sent");
  for (const order of [outside({ status: "On Hold" }), outside({ status: "Disputed", previousStatus: "Cancelled" })])
    assert.match(refusal(() => adoptOrder(order, facts)).message, /^\/previousStatus: /);
});

const impossible: readonly (readonly [string, Partial<OutsideLine>, RegExp])[] = [
  ["confirmed above ordered", { quantityConfirmed: quantity(11) }, /^\/lineItems\/0\/quantityConfirmed: /],
  ["received above ordered", { quantityReceived: quantity(11) }, /^\/lineItems\/0\/quantityReceived: /],
  [
    "rejected above confirmed",
    { quantityConfirmed: quantity(3), quantityRejected: quantity(4) },
    /^\/lineItems\/0\/quantityReceived: /,
  ],
  ["synced above received", { quantitySynced: quantity(1) }, /^\/lineItems\/0\/quantitySynced: /],
  ["worth too much", { quantityOrdered: quantity(1_000_000), unitCost: money(1_000_000) }, /^\/lineItems\/0: /],
  ["a custom line without a name", { variantId: "CSTM-1" }, /^\/lineItems\/0\/productName: /],
];
for (const [name, given, message] of impossible)
  test(`refused: ${name}`, () => {
    assert.match(refusal(() => adoptedLine(given)).message, message);
  });

test("over-receipt is taken where the line allows it, and a sync ahead of a take-back where a receipt shows one", () => {
  assert.equal(adoptedLine({ quantityReceived: quantity(11), allowOverReceipt: true })?.quantityReceived, quantity(11));
  const lines = [
    { poLineItemId: "a", variantId: "beans", quantityDelta: quantity(-1), quantityReceivedAfter: quantity(0) },
  ];
  const order = outside({
    lineItems: [outsideLine("a", { quantitySynced: quantity(1) })],
    receipts: [{ source: "unreceive", lines }],
  });
  assert.equal(adoptOrder(order, facts).lineItems[0]?.quantitySynced, quantity(1));
});

test("a line named twice is refused, and so is an order that was sent nowhere", () => {
  const twice = outside({ lineItems: [outsideLine("a"), outsideLine("a")] });
  assert.match(refusal(() => adoptOrder(twice, facts)).message, /^\/lineItems\/1\/poLineItemId: a is given twice/);
  assert.match(refusal(() => adoptOrder(outside({ locationId: null }), facts)).message, /^\/locationId: /);
  assert.equal(adoptOrder(outside({ status: "Draft", locationId: null }), facts).locationId, null);
});
