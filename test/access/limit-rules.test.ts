/** Rules of a key's limits (C78): what an order is worth, what a change adds or gives back, and what is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  asksPlaces,
  givenBack,
  type KeyLimits,
  limitsPassed,
  noLimits,
  riseOf,
  type SpentOn,
} from "../../src/core/access/limits.ts";
import { monthStart, dateOf, dayFrom } from "../../src/base/time/calendar.ts";
import { moneyToNumber } from "../../src/core/money/money.ts";
import { orderTotals } from "../../src/core/order/totals.ts";
import { type PurchaseOrder, type Status, statuses } from "../../src/core/order/purchase-order.ts";
import { fxRate, line, type LineFigures, money, order, refusal } from "../support/goods.ts";

/** An order of a shop that counts in USD, with its totals. */
function worth(status: Status, figures: LineFigures, facts: Partial<PurchaseOrder> = {}): PurchaseOrder {
  const made = order(status, [line("a", { ordered: 1, ...figures })], facts);
  return { ...made, ...orderTotals(made, "USD") };
}

const valueOf = (of: PurchaseOrder): number => moneyToNumber(riseOf(null, of, "USD").value);
const added = (before: PurchaseOrder | null, next: PurchaseOrder): number =>
  moneyToNumber(riseOf(before, next, "USD").rise);

test("an order counts once it has left Draft, until it is cancelled; a held one counts as before", () => {
  const counted: Readonly<Record<Status, boolean>> = {
    Draft: false,
    Sent: true,
    "Partially Confirmed": true,
    Confirmed: true,
    "In Progress": true,
    "Partially Received": true,
    Received: true,
    Completed: true,
    Cancelled: false,
    "On Hold": true,
    Disputed: true,
  };
  for (const status of statuses) {
    const figures = { unitCost: 100, confirmed: 1, received: 1 };
    assert.equal(valueOf(worth(status, figures, { previousStatus: "Sent" })), counted[status] ? 100 : 0, status);
  }
  assert.equal(valueOf(worth("On Hold", { unitCost: 100 }, { previousStatus: "Draft" })), 0);
});

test("a rise is counted, a fall gives back, and a held order that comes back counts once", () => {
  const draft = worth("Draft", { unitCost: 100 });
  const sent = worth("Sent", { unitCost: 100 });
  const dearer = worth("Sent", { unitCost: 120.5 });
  const held = worth("On Hold", { unitCost: 120.5 }, { previousStatus: "Sent" });
  const cancelled = worth("Cancelled", { unitCost: 120.5 }, { previousStatus: "Sent" });
  assert.equal(added(null, draft), 0);
  assert.equal(added(draft, sent), 100);
  assert.equal(added(sent, dearer), 20.5);
  assert.equal(added(dearer, held), 0);
  assert.equal(added(held, dearer), 0);
  assert.equal(added(dearer, cancelled), -120.5);
  assert.equal(added(cancelled, dearer), 120.5, "what was given back counts again");
  assert.equal(added(sent, draft), -100);
});

test("the value is exact in the shop's currency, at the order's own rate; an override never lowers it", () => {
  const inEuros = (facts: Partial<PurchaseOrder>) =>
    worth("Sent", { unitCost: 3, ordered: 0.1, currency: "EUR" }, { currencyCode: "EUR", ...facts });
  const fxRates = { EUR: fxRate(1.1) };
  assert.equal(valueOf(inEuros({ fxRates })), 0.33);
  assert.equal(valueOf(inEuros({ fxRates, fxRateOverride: fxRate(0.0001) })), 0.33);
  assert.equal(valueOf(inEuros({ fxRates, fxRateOverride: fxRate(2) })), 0.6);
});

test("what has no rate, and what is worth more than can be counted, adds something unpriced; a repetition does not", () => {
  const adds = (before: PurchaseOrder | null, next: PurchaseOrder): boolean => riseOf(before, next, "USD").addsUnpriced;
  const whole = (cost: number, facts: Partial<PurchaseOrder> = {}, status: Status = "Sent") =>
    worth(status, { unitCost: cost, currency: "EUR" }, { currencyCode: "EUR", ...facts });
  assert.ok(adds(null, whole(1)));
  assert.ok(adds(null, whole(1, { fxRateOverride: fxRate(1) })), "an override alone is no rate of the shop");
  assert.ok(!adds(null, whole(1, {}, "Draft")));
  assert.ok(!adds(whole(2), whole(2)));
  assert.ok(!adds(whole(2), whole(1)));
  assert.ok(adds(whole(2), whole(3)));
  const ofLine = (cost: number) => worth("Sent", { unitCost: cost, currency: "EUR" });
  assert.ok(adds(null, ofLine(1)));
  assert.ok(!adds(ofLine(1), ofLine(1)));
  assert.ok(adds(ofLine(1), ofLine(1.5)));
  assert.ok(adds(ofLine(1), worth("Sent", { unitCost: 1, currency: "JPY" })), "another currency without a rate");
  assert.ok(adds(null, whole(1_000_000_000, { fxRates: { EUR: fxRate(500_000) } })));
});

test("supplier and location are asked of a new order, an edited header and an order that leaves Draft", () => {
  const draft = worth("Draft", { unitCost: 1 });
  const sent = worth("Sent", { unitCost: 1 });
  assert.ok(asksPlaces(null, draft));
  assert.ok(asksPlaces(draft, sent));
  assert.ok(asksPlaces(sent, { ...sent, noteToSupplier: "Before noon." }));
  assert.ok(!asksPlaces(sent, worth("Sent", { unitCost: 2 })));
  assert.ok(!asksPlaces(sent, worth("Confirmed", { unitCost: 1, confirmed: 1 })));
});

const none: KeyLimits = { ...noLimits, beyond: "refuse" };

const limited = (next: PurchaseOrder, before: PurchaseOrder | null = null, day = 0, month = day) => ({
  next,
  rise: riseOf(before, next, "USD"),
  costRises: [],
  asksPlaces: asksPlaces(before, next),
  spent: { dayValue: money(day), monthValue: money(month) },
  currencyCode: "USD",
});

/** The limits that the refusal names, with the figures. */
function named(limits: Partial<KeyLimits>, change: ReturnType<typeof limited>): unknown {
  const fault = refusal(() => limitsPassed({ ...none, ...limits }, change), "FORBIDDEN_SCOPE");
  assert.equal(fault.status, 403);
  assert.equal(fault.reason, "LIMIT_EXCEEDED");
  return fault.details;
}

test("a maximum itself is within; beyond it every limit is named with what is allowed, used and asked", () => {
  const sent = worth("Sent", { unitCost: 100 });
  const exactly: KeyLimits = {
    ...none,
    orderValueMax: money(100),
    dayValueMax: money(150),
    monthValueMax: money(1_100),
    supplierIds: ["supplier"],
    locationIds: ["warehouse"],
  };
  limitsPassed(exactly, limited(sent, null, 50, 1_000));
  assert.deepEqual(
    named(
      {
        orderValueMax: money(99.9999),
        dayValueMax: money(149.9999),
        monthValueMax: money(1_099.9999),
        supplierIds: ["other"],
        locationIds: ["other"],
      },
      limited(sent, null, 50, 1_000),
    ),
    [
      { limit: "orderValueMax", allowed: 99.9999, used: 0, asked: 100 },
      { limit: "dayValueMax", allowed: 149.9999, used: 50, asked: 100 },
      { limit: "monthValueMax", allowed: 1_099.9999, used: 1_000, asked: 100 },
      { limit: "supplierIds", allowed: ["other"], used: null, asked: "supplier" },
      { limit: "locationIds", allowed: ["other"], used: null, asked: "warehouse" },
    ],
  );
});

test("what neither rises nor touches a place is within every limit, also of an order beyond it", () => {
  const tight = { ...none, orderValueMax: money(1), dayValueMax: money(0), supplierIds: ["other"] };
  const sent = worth("Sent", { unitCost: 100 });
  limitsPassed(tight, limited(worth("Confirmed", { unitCost: 100, confirmed: 1 }), sent, 500));
  limitsPassed(tight, limited(worth("Sent", { unitCost: 99 }), sent, 500));
  limitsPassed(tight, limited(worth("Cancelled", { unitCost: 100 }, { previousStatus: "Sent" }), sent, 500));
});

test("what cannot be priced is beyond each limit of value; a Draft may lack its supplier, a sent order may not", () => {
  const foreign = worth("Sent", { unitCost: 1, currency: "EUR" }, { currencyCode: "EUR" });
  assert.deepEqual(named({ dayValueMax: money(1_000) }, limited(foreign)), [
    { limit: "dayValueMax", allowed: 1_000, used: 0, asked: null },
  ]);
  limitsPassed({ ...none, supplierIds: ["supplier"] }, limited(foreign));
  const nobodys = { supplierId: null };
  limitsPassed({ ...none, supplierIds: ["supplier"] }, limited(worth("Draft", {}, nobodys)));
  assert.deepEqual(named({ supplierIds: ["supplier"] }, limited(worth("Sent", {}, nobodys))), [
    { limit: "supplierIds", allowed: ["supplier"], used: null, asked: null },
  ]);
});

test("a fall is given back newest day first, and never more than was spent", () => {
  const row = (keyId: string, day: number, amount: number): SpentOn => ({ keyId, day, amount: money(amount) });
  const rows = [row("k", 1, 10), row("k", 3, 5), row("j", 2, 7)];
  assert.deepEqual(givenBack(rows, money(6)), [row("k", 3, 0), row("j", 2, 6)]);
  assert.deepEqual(givenBack(rows, money(100)), [row("k", 3, 0), row("j", 2, 0), row("k", 1, 0)]);
  assert.deepEqual(givenBack([], money(1)), []);
});

test("whatever happens to an order, what keys have spent on it is never more than it is worth, nor less than nothing", () => {
  const statusOf = fc.constantFrom<Status>("Draft", "Sent", "Confirmed", "Cancelled");
  const step = fc.record({ status: statusOf, cents: fc.nat(100_000), isLimited: fc.boolean(), day: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let before: PurchaseOrder | null = null;
      let rows: readonly SpentOn[] = [];
      let day = 0;
      for (const { status, cents, isLimited, day: later } of steps) {
        day += later;
        const next: PurchaseOrder = worth(status, { unitCost: cents / 100 }, { previousStatus: "Sent" });
        const { rise, value } = riseOf(before, next, "USD");
        if (rise > 0 && isLimited) rows = [...rows, { keyId: `k${rows.length}`, day, amount: rise }];
        if (rise < 0) {
          const left = new Map(givenBack(rows, money(-moneyToNumber(rise))).map((row) => [row.keyId, row]));
          rows = rows.map((row) => left.get(row.keyId) ?? row);
        }
        const sum = rows.reduce((total, row) => total + row.amount, 0);
        assert.ok(sum <= value && rows.every((row) => row.amount >= 0), JSON.stringify(steps));
        before = next;
      }
    }),
  );
});

test("a month begins on its first day", () => {
  for (const [date, first] of [
    ["2028-02-29", "2028-02-01"],
    ["2026-12-31", "2026-12-01"],
    ["2026-01-01", "2026-01-01"],
  ] as const)
    assert.equal(dateOf(monthStart(dayFrom(date))), first);
});
