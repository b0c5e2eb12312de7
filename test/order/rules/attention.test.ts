/** Why an order needs attention, since when, and what comes next (C68). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttentionFacts, attentionReasons, attentionTo } from "../../../src/core/order/advice/attention.ts";
import { dayFrom, dayMs } from "../../../src/base/time/calendar.ts";
import { asQuantity } from "../../../src/core/money/money.ts";
import { operations } from "../../../src/operations/registry.ts";

const nowMs = Date.parse("2026-11-20T23:30:00Z");
/** In Berlin it is the next day already. */
const context = { nowMs, today: dayFrom("2026-11-21"), unconfirmedDays: 3 };

const ago = (days: number): number => nowMs - days * dayMs;

const quiet: AttentionFacts = {
  purchaseOrderId: "po_1",
  status: "In Progress",
  previousStatus: "Confirmed",
  storefrontSyncState: "never-synced",
  nextExpectedDate: "2026-11-21",
  quantityConfirmed: asQuantity(5_000),
  quantityPending: asQuantity(5_000),
  createdAtMs: ago(40),
  updatedAtMs: ago(2),
  sentAtMs: ago(30),
  receivedAtMs: null,
  unsyncedLines: 0,
  payments: [],
};

const table: readonly (readonly [what: string, facts: Partial<AttentionFacts>, reasons: object])[] = [
  ["expected today", {}, {}],
  ["expected yesterday", { nextExpectedDate: "2026-11-20" }, { late: 1 }],
  ["expected yesterday, nothing pending", { nextExpectedDate: "2026-11-20", quantityPending: asQuantity(0) }, {}],
  ["no date", { nextExpectedDate: null }, {}],
  ["late, but held", { status: "On Hold", nextExpectedDate: "2026-11-01" }, {}],
  ["late, but a draft", { status: "Draft", nextExpectedDate: "2026-11-01" }, {}],
  ["sent exactly three days ago", { status: "Sent", sentAtMs: ago(3) }, {}],
  ["sent three days and a moment ago", { status: "Sent", sentAtMs: ago(3) - 1 }, { unconfirmed: 3 }],
  ["sent, nobody knows when", { status: "Sent", sentAtMs: null }, { unconfirmed: 40 }],
  ["confirmed short", { status: "Confirmed", sentAtMs: ago(30), quantityConfirmed: asQuantity(2_000) }, {}],
  ["confirmed in part", { status: "Partially Confirmed", sentAtMs: ago(30) }, {}],
  ["disputed", { status: "Disputed", previousStatus: "Received" }, { disputed: 2 }],
  ["a line is not synced", { unsyncedLines: 1 }, { unsynced: 2 }],
  ["the sync failed", { storefrontSyncState: "failed" }, { unsynced: 2 }],
  ["synced in part, and all that came is synced", { storefrontSyncState: "partial" }, {}],
  ["all in", { status: "Received", quantityPending: asQuantity(0), receivedAtMs: ago(6) }, { received: 6 }],
  ["a payment is due today", { payments: [{ status: "Scheduled", dueDate: "2026-11-21" }] }, { "payment-due": 0 }],
  ["a payment is due tomorrow", { payments: [{ status: "Scheduled", dueDate: "2026-11-22" }] }, {}],
  ["a payment is overdue without a date", { payments: [{ status: "Overdue", dueDate: null }] }, { "payment-due": 0 }],
  ["a payment was made", { payments: [{ status: "Paid", dueDate: "2026-11-01" }] }, {}],
  [
    "everything at once",
    {
      nextExpectedDate: "2026-11-11",
      unsyncedLines: 2,
      payments: [
        { status: "Overdue", dueDate: "2026-11-01" },
        { status: "Scheduled", dueDate: "2026-11-19" },
      ],
    },
    { unsynced: 2, late: 10, "payment-due": 20 },
  ],
];

for (const [what, facts, reasons] of table)
  test(`attention: ${what}`, () => {
    const attention = attentionTo({ ...quiet, ...facts }, context);
    const found = (attention?.reasons ?? []).map(({ reason, days }) => [reason, days]);
    assert.deepEqual(found, Object.entries(reasons));
  });

test("the next step belongs to the most pressing reason and names a tool and arguments that it takes", () => {
  const steps: readonly (readonly [facts: Partial<AttentionFacts>, tool: string, members: object])[] = [
    [{ status: "Disputed", previousStatus: "Received" }, "purchase_order_status", { status: "Received" }],
    [{ unsyncedLines: 1, nextExpectedDate: "2026-11-01" }, "purchase_order_storefront_sync", {}],
    [{ unsyncedLines: 1, storefrontSyncState: "in-flight" }, "purchase_order_get", {}],
    [{ nextExpectedDate: "2026-11-01" }, "purchase_order_update", {}],
    [{ status: "Sent" }, "purchase_order_confirm", {}],
    [{ status: "Received" }, "purchase_order_complete", {}],
    [{ payments: [{ status: "Overdue", dueDate: null }] }, "purchase_order_payment_list", {}],
  ];
  assert.ok(steps.length > attentionReasons.length);
  for (const [facts, tool, members] of steps) {
    const next = attentionTo({ ...quiet, ...facts }, context)?.nextStep;
    assert.equal(next?.tool, tool);
    assert.deepEqual(next.arguments, { purchaseOrderId: "po_1", ...members });
    const operation = operations.find(({ name }) => name === tool);
    assert.ok(operation !== undefined, tool);
    for (const member of Object.keys(next.arguments)) assert.ok(member in operation.input.shape, `${tool}: ${member}`);
    for (const [named] of next.advice.matchAll(/purchase_order_\w+/g))
      assert.ok(
        operations.some(({ name }) => name === named),
        named,
      );
  }
});

test("an order that keeps confirmed quantities is not to be confirmed with confirmAll, which would overwrite them", () => {
  const advice = (units: number): string =>
    attentionTo({ ...quiet, status: "Sent", quantityConfirmed: asQuantity(units) }, context)?.nextStep.advice ?? "";
  assert.match(advice(0), /confirmAll/);
  assert.doesNotMatch(advice(2_000), /confirmAll/);
});
