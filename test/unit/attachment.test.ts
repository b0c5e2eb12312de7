import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  currentShipment,
  outstandingAmount,
  type Payment,
  receiptSchedule,
  settledAmount,
  type Shipment,
} from "../../src/core/order/attachments.ts";
import { pendingQuantity } from "../../src/core/order/lines.ts";
import { asQuantity } from "../../src/core/money/money.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { fxRate, line, money, order, quantity, shop } from "../support/goods.ts";

const shipment = (shipmentId: string, facts: Partial<Shipment> = {}): Shipment => ({
  shipmentId,
  shipmentNumber: null,
  status: "In Transit",
  carrier: null,
  shippingMethod: null,
  trackingNumber: null,
  trackingUrl: null,
  shippedDate: null,
  expectedArrivalDate: null,
  receivedDate: null,
  shippingCost: null,
  currencyCode: null,
  note: null,
  lineAllocations: [],
  ...facts,
});

const carrying = (poLineItemId: string, units: number, rejected = 0): Shipment["lineAllocations"][number] => ({
  poLineItemId,
  variantId: "v",
  quantityAllocated: quantity(units),
  quantityReceived: quantity(0),
  quantityRejected: quantity(rejected),
});

const payment = (amount: number, facts: Partial<Payment> = {}): Payment => ({
  paymentId: "p",
  paymentName: null,
  paymentType: "other",
  status: "Paid",
  amount: money(amount),
  currencyCode: "USD",
  dueDate: null,
  paidAtMs: null,
  paymentMethod: null,
  reference: null,
  note: null,
  createdAtMs: 0,
  createdBy: null,
  ...facts,
});

test("the settled amount is the sum of payments and credits in the order's currency, as far as rates are known", () => {
  const facts = shop({ fxRates: { EUR: fxRate(1.1) } });
  const payments = [
    payment(10),
    payment(20, { status: "Scheduled" }),
    payment(30, { currencyCode: "EUR" }),
    payment(40, { currencyCode: "JPY" }),
  ];
  const credits = [
    { creditId: "c", creditNumber: null, amountApplied: money(0.5), currencyCode: "USD", appliedAtMs: 0 },
  ];
  assert.equal(settledAmount({ payments, credits }, order("Sent", []), facts), money(43.5));
  const inEuro = order("Sent", [], { currencyCode: "EUR", fxRateOverride: fxRate(2) });
  assert.equal(settledAmount({ payments, credits: [] }, inEuro, facts), money(35), "the override counts");
  assert.equal(outstandingAmount({ grandTotal: money(40) }, money(43.5)), money(-3.5), "overpaid");
  assert.equal(outstandingAmount({ grandTotal: money(44) }, money(43.5)), money(0.5));
});

test("the current shipment is the earliest that has not arrived, otherwise the latest that has", () => {
  const late = shipment("late", { expectedArrivalDate: "2027-02-01" });
  const soon = shipment("soon", { expectedArrivalDate: "2027-01-01", status: "Draft" });
  const came = shipment("came", { status: "Received", receivedDate: "2026-05-01" });
  const cameFirst = shipment("came first", { status: "Received", receivedDate: "2026-04-01" });
  const undated = shipment("undated");
  const cancelled = shipment("cancelled", { status: "Cancelled", expectedArrivalDate: "2026-01-01" });
  for (const [shipments, found] of [
    [[late, came, soon, undated, cancelled], soon],
    [[undated, late], late],
    [[came, cameFirst, cancelled], came],
    [[cancelled], cancelled],
    [[], null],
  ] as const)
    assert.equal(currentShipment(shipments), found);
});

test("a date comes from the first of shipment, line, order and lead time that has one", () => {
  const today = "2026-01-01";
  const dated = (
    lineDate: string | null,
    facts: Parameters<typeof order>[2],
    lead: number | null,
    arrival?: string,
  ) => {
    const lines = [{ ...line("a"), expectedDeliveryDate: lineDate }];
    const shipments =
      arrival === undefined
        ? []
        : [shipment("s", { expectedArrivalDate: arrival, lineAllocations: [carrying("a", 10)] })];
    const [row] = receiptSchedule(order("Sent", lines, facts), shipments, lead, today);
    return `${row?.dateSource} ${row?.expectedDate} ${row?.status}`;
  };
  const all = { expectedDeliveryDate: "2026-04-01", orderDate: "2026-02-27" };
  assert.equal(dated("2026-03-01", all, 3, "2026-02-01"), "shipment 2026-02-01 Scheduled");
  assert.equal(dated("2026-03-01", all, 3), "line 2026-03-01 Scheduled");
  assert.equal(dated(null, all, 3), "order 2026-04-01 Scheduled");
  assert.equal(dated(null, { orderDate: "2026-02-27" }, 3), "lead-time 2026-03-02 Scheduled");
  assert.equal(dated(null, { sentAtMs: Date.parse("2025-12-01T23:00:00Z") }, 2), "lead-time 2025-12-03 Overdue");
  assert.equal(dated(null, { orderDate: "2026-02-27" }, null), "null null Scheduled");
  assert.equal(dated("2026-01-01", {}, null), "line 2026-01-01 Scheduled", "today is not overdue");
  assert.equal(dated("2025-12-31", {}, null), "line 2025-12-31 Overdue");
});

test("rows are sorted by date, those without one last", () => {
  const lines = [line("undated"), { ...line("late"), expectedDeliveryDate: "2026-03-01" }, line("undated too")];
  const early = shipment("s", { expectedArrivalDate: "2026-02-01", lineAllocations: [carrying("late", 4)] });
  const rows = receiptSchedule(order("Sent", lines), [early], null, "2026-01-01");
  assert.deepEqual(
    rows.map((row) => row.scheduleId),
    ["late:s", "late", "undated", "undated too"],
  );
});

test("a schedule's rows add up to each line's received and pending quantity, whatever is shipped", () => {
  const units = fc.integer({ min: 0, max: 20 });
  const figures = fc.record({
    ordered: fc.integer({ min: 1, max: 20 }),
    received: units,
    rejected: units,
    cancelled: units,
  });
  const allocations = fc.array(
    fc.record({ units, rejected: fc.integer({ min: 0, max: 5 }), cancelled: fc.boolean() }),
    {
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(figures, allocations, fc.constantFrom(...statuses), (line1, shipped, status) => {
      const item = line("a", line1);
      const shipments = shipped.map((each, index) =>
        shipment(`s${index}`, {
          status: each.cancelled ? "Cancelled" : "In Transit",
          lineAllocations: [carrying("a", each.units, each.rejected)],
        }),
      );
      const rows = receiptSchedule(order(status, [item]), shipments, null, "2026-01-01");
      const sum = (of: "quantityExpected" | "quantityReceived" | "quantityPending") =>
        asQuantity(rows.reduce((total, row) => total + row[of], 0));
      const isClosed = status === "Cancelled" || status === "Completed";
      const isCancelled = line1.cancelled >= line1.ordered && line1.received === 0;
      assert.equal(sum("quantityReceived"), item.quantityReceived);
      assert.equal(sum("quantityPending"), isClosed || isCancelled ? 0 : pendingQuantity(item));
      assert.equal(new Set(rows.map((row) => row.scheduleId)).size, rows.length, "each row has an id of its own");
      for (const row of rows) {
        assert.equal(row.quantityExpected, row.quantityReceived + row.quantityPending);
        assert.ok(row.quantityExpected > 0);
        assert.equal(row.status === "Received", row.quantityPending === 0);
      }
    }),
  );
});
