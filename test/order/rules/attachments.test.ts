import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  currentShipment,
  nextExpectedDate,
  outstandingAmount,
  receiptSchedule,
  settledAmount,
  type Shipment,
} from "../../../src/core/order/attachments.ts";
import { pendingQuantity } from "../../../src/core/order/lines.ts";
import { asQuantity } from "../../../src/core/money/money.ts";
import { statuses } from "../../../src/core/order/purchase-order.ts";
import { fxRate, line, money, order, payment, quantity } from "../../support/goods.ts";

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

test("the settled amount is the sum of payments and credits in the order's currency, as far as rates are known", () => {
  const fxRates = { EUR: fxRate(1.1) };
  const payments = [
    payment(10),
    payment(20, { status: "Scheduled" }),
    payment(30, { currencyCode: "EUR" }),
    payment(40, { currencyCode: "JPY" }),
  ];
  const credits = [
    { creditId: "c", creditNumber: null, amountApplied: money(0.5), currencyCode: "USD", appliedAtMs: 0 },
  ];
  assert.equal(settledAmount({ payments, credits }, order("Sent", [], { fxRates }), "USD"), money(43.5));
  const inEuro = order("Sent", [], { currencyCode: "EUR", fxRateOverride: fxRate(2), fxRates });
  assert.equal(settledAmount({ payments, credits: [] }, inEuro, "USD"), money(35), "the override counts");
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

test("a date comes from the first of line, shipment, order and lead time that has one", () => {
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
    const [row] = receiptSchedule(order("Sent", lines, { ...facts, supplierLeadTimeDays: lead }), shipments, today);
    return `${row?.dateSource} ${row?.expectedDate} ${row?.status}`;
  };
  const all = { expectedDeliveryDate: "2026-04-01", orderDate: "2026-02-27" };
  assert.equal(dated("2026-03-01", all, 3, "2026-02-01"), "line 2026-03-01 Scheduled");
  assert.equal(dated(null, all, 3, "2026-02-01"), "shipment 2026-02-01 Scheduled");
  assert.equal(dated(null, all, 3), "order 2026-04-01 Scheduled");
  assert.equal(dated(null, { orderDate: "2026-02-27" }, 3), "lead-time 2026-03-02 Scheduled");
  assert.equal(dated(null, { sentAtMs: Date.parse("2025-12-01T23:00:00Z") }, 2), "lead-time 2025-12-03 Overdue");
  const sent = { orderDate: "2026-02-27", sentAtMs: Date.parse("2026-03-05T23:00:00Z") };
  assert.equal(dated(null, sent, 2), "lead-time 2026-03-07 Scheduled", "from the day it was sent");
  assert.equal(
    dated(null, { ...sent, sentDate: "2026-03-06" }, 2),
    "lead-time 2026-03-08 Scheduled",
    "where the shop is",
  );
  assert.equal(dated(null, { orderDate: "2026-02-27" }, null), "null null Scheduled");
  assert.equal(dated("2026-01-01", {}, null), "line 2026-01-01 Scheduled", "today is not overdue");
  assert.equal(dated("2025-12-31", {}, null), "line 2025-12-31 Overdue");
});

test("the next expected date is the earliest of the schedule's rows of which something is still to come", () => {
  const arriving = (id: string, date: string, units: number) =>
    shipment(id, { expectedArrivalDate: date, lineAllocations: [carrying("a", units)] });
  const next = (
    lines: readonly ReturnType<typeof line>[],
    shipments: readonly Shipment[],
    facts: Parameters<typeof order>[2] = {},
    status: (typeof statuses)[number] = "Sent",
  ) => nextExpectedDate(order(status, lines, facts), shipments);
  const header = { expectedDeliveryDate: "2026-06-01" };
  assert.equal(next([line("a")], [arriving("s", "2026-05-20", 10)], header), "2026-05-20", "the shipment's");
  assert.equal(next([line("a")], [arriving("s", "2026-07-20", 10)], header), "2026-07-20", "even if it is later");
  assert.equal(next([line("a")], [arriving("s", "2026-07-20", 4)], header), "2026-06-01", "6 are in no shipment");
  const come = line("a", { received: 4 });
  assert.equal(next([come], [arriving("s", "2026-05-20", 4)], header), "2026-06-01", "what the shipment had has come");
  const cancelled = { ...arriving("s", "2026-05-20", 10), status: "Cancelled" as const };
  assert.equal(next([line("a")], [cancelled], header), "2026-06-01");
  const dated = { ...line("a"), expectedDeliveryDate: "2026-08-01" };
  assert.equal(next([dated], [arriving("s", "2026-05-20", 10)], header), "2026-08-01", "the line's own comes first");
  assert.equal(next([dated, line("b")], [], header), "2026-06-01", "the other line has the order's");
  const sent = { sentDate: "2026-01-10", supplierLeadTimeDays: 9 };
  assert.equal(next([line("a")], [], sent), "2026-01-19");
  assert.equal(next([{ ...line("a"), leadTimeDays: 3 }, line("b")], [], sent), "2026-01-13");
  assert.equal(next([line("a")], [], { supplierLeadTimeDays: 9, orderDate: "2026-01-10" }, "Draft"), null, "not sent");
  assert.equal(next([], [], header), "2026-06-01", "no lines yet");
  assert.equal(next([line("a", { received: 10 })], [], header), null);
  for (const status of ["Completed", "Cancelled"] as const) assert.equal(next([line("a")], [], header, status), null);
});

test("rows are sorted by date, those without one last", () => {
  const lines = [
    line("undated"),
    line("late"),
    { ...line("late too"), expectedDeliveryDate: "2026-03-01" },
    line("undated too"),
  ];
  const early = shipment("s", { expectedArrivalDate: "2026-02-01", lineAllocations: [carrying("late", 4)] });
  const rows = receiptSchedule(order("Sent", lines), [early], "2026-01-01");
  assert.deepEqual(
    rows.map((row) => row.scheduleId),
    ["late:s", "late too", "undated", "late", "undated too"],
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
      const rows = receiptSchedule(order(status, [item]), shipments, "2026-01-01");
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
