/** When a shop is reminded of an order: the pure rule (C57), against the calendar and the agents' rule (C68). */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { attentionTo } from "../../src/core/order/advice/attention.ts";
import { dateOf, dayFrom, dayIn, dayMs, dayStart } from "../../src/base/time/calendar.ts";
import { asQuantity } from "../../src/core/money/money.ts";
import { type Status, statuses } from "../../src/core/order/purchase-order.ts";
import { reminderAtMs, reminderBasis, reminderNotBeforeMs } from "../../src/core/supplier/reminders.ts";

const zones = Intl.supportedValuesOf("timeZone");

test("a day begins at the first minute that the shop's clocks show it, also where it begins at 01:00, at a quarter, or never came", () => {
  const starts: readonly (readonly [zone: string, date: string, startsAt: string])[] = [
    ["UTC", "2026-11-21", "2026-11-21T00:00:00Z"],
    // Clocks go from 24:00 to 01:00.
    ["Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z"],
    ["America/Havana", "2026-03-08", "2026-03-08T05:00:00Z"],
    // Clocks go from 24:00 back to 23:00: the day before has 25 hours.
    ["Asia/Beirut", "2026-10-25", "2026-10-24T22:00:00Z"],
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z"],
    ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00Z"],
    ["Europe/Berlin", "2026-10-26", "2026-10-25T23:00:00Z"],
    ["America/New_York", "2026-11-02", "2026-11-02T05:00:00Z"],
    ["Asia/Kathmandu", "2026-11-21", "2026-11-20T18:15:00Z"],
    ["Pacific/Chatham", "2026-11-21", "2026-11-20T10:15:00Z"],
    ["Pacific/Kiritimati", "2026-11-21", "2026-11-20T10:00:00Z"],
    ["Etc/GMT+12", "2026-11-21", "2026-11-21T12:00:00Z"],
    // Samoa had no 30 December 2011: it is the 31st that begins when it would have.
    ["Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"],
  ];
  for (const [zone, date, startsAt] of starts)
    assert.equal(new Date(dayStart(zone, dayFrom(date))).toISOString(), `${startsAt.slice(0, -1)}.000Z`, zone + date);
});

test("in every time zone a date has passed from the first minute of the next day on, and not before", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: dayFrom("2015-01-01"), max: dayFrom("2037-12-31") }),
      (zone, day) => {
        const date = dateOf(day);
        const atMs = reminderAtMs.overdue(date, { timezone: zone, unconfirmedDays: 3 }) ?? 0;
        assert.ok(dayIn(zone, atMs) > day, `${zone} ${date}`);
        assert.ok(dayIn(zone, atMs - 1) <= day, `${zone} ${date}`);
        assert.ok(reminderNotBeforeMs.overdue(date) <= atMs, `${zone} ${date}`);
      },
    ),
    { numRuns: 300 },
  );
});

test("whatever an order is, agents are shown it as late or unconfirmed from the very moment of its reminder on", () => {
  const startMs = Date.parse("2026-03-20T12:34:56.789Z");
  const facts = fc.record({
    status: fc.constantFrom<Status>(...statuses),
    quantityPending: fc.constantFrom(0, 1, 5_000).map(asQuantity),
    nextExpectedDate: fc.option(fc.integer({ min: -20, max: 40 }).map((days) => dateOf(dayFrom("2026-03-20") + days))),
    sentAtMs: fc.option(fc.integer({ min: startMs - 30 * dayMs, max: startMs })),
  });
  const settings = fc.record({
    timezone: fc.constantFrom(...zones),
    unconfirmedDays: fc.integer({ min: 1, max: 40 }),
  });
  fc.assert(
    fc.property(facts, settings, fc.integer({ min: -1, max: 1 }), (order, shop, offsetMs) => {
      const whole = {
        ...order,
        purchaseOrderId: "po_1",
        previousStatus: "Draft" as const,
        storefrontSyncState: "never-synced" as const,
        quantityConfirmed: asQuantity(0),
        createdAtMs: startMs - 40 * dayMs,
        updatedAtMs: startMs,
        receivedAtMs: null,
        unsyncedLines: 0,
        payments: [],
      };
      for (const [cause, reason] of [
        ["overdue", "late"],
        ["unconfirmed", "unconfirmed"],
      ] as const) {
        const basis = reminderBasis[cause](whole);
        const atMs = basis === null ? null : reminderAtMs[cause](basis, shop);
        const nowMs = (atMs ?? startMs) + offsetMs;
        const today = dayIn(shop.timezone, nowMs);
        const shown = attentionTo(whole, { nowMs, today, unconfirmedDays: shop.unconfirmedDays });
        assert.equal(
          shown?.reasons.some((each) => each.reason === reason) ?? false,
          atMs !== null && nowMs >= atMs,
          `${cause} ${String(basis)}`,
        );
        if (basis !== null && atMs !== null) assert.ok(reminderNotBeforeMs[cause](basis) <= atMs);
      }
    }),
    { numRuns: 500 },
  );
});

test("a shop that allows 0 days is told of no unconfirmed order", () => {
  assert.equal(reminderAtMs.unconfirmed(String(0), { timezone: "UTC", unconfirmedDays: 0 }), null);
});
