/**
 * Payments of the demo's orders with their days, by their suppliers' terms: a deposit when the order is confirmed, the
 * rest after delivery.
 */
import { cents } from "../catalogue.ts";
import type { Placed } from "./placed-orders.ts";
import { daysAgoOf } from "./purchase-orders.ts";
import { owner } from "../shop.ts";

/** A deposit is due so many days after the confirmation. */
const depositDays = 3;

interface Due {
  readonly name: string;
  readonly type: "deposit" | "balance" | "other";
  readonly amount: number;
  /** Negative when it is still to come. */
  readonly daysAgo: number;
  /** When the supplier asked for it. */
  readonly knownDaysAgo: number;
}

/** The order's payments: those whose day has passed are paid, but for the latest of an order that was not paid. */
export function paymentsOf(from: Placed): readonly object[] {
  const { order, key, calendar } = from;
  const dues = duesOf(from);
  const lastPassed = dues.findLast(({ daysAgo }) => daysAgo >= 0);
  return dues.map((due, index) => {
    const status = due.daysAgo < 0 ? "Scheduled" : due === lastPassed ? (order.unpaid ?? "Paid") : "Paid";
    return {
      paymentId: `pay_demo_${key}_${index + 1}`,
      paymentName: due.name,
      paymentType: due.type,
      status,
      amount: due.amount,
      currencyCode: order.supplier.currencyCode,
      dueDate: calendar.day(due.daysAgo),
      paidAt: status === "Paid" ? calendar.at(due.daysAgo) : null,
      paymentMethod: "Bank transfer",
      createdAt: calendar.at(due.knownDaysAgo, 90),
      createdBy: owner.name,
    };
  });
}

/** Nothing is due before the supplier has confirmed, and without a deposit nothing before something has come. */
function duesOf({ order, course, expectedDaysAgo, grandTotal, credited }: Placed): readonly Due[] {
  const { depositShare, balanceDays } = order.supplier.payment;
  const confirmedDaysAgo = daysAgoOf(order, "confirmed");
  const receivedDaysAgo = daysAgoOf(order, "received");
  if (confirmedDaysAgo === undefined || course.status === "Partially Confirmed") return [];
  const deposit = cents(grandTotal * depositShare);
  const isAllIn = course.status !== "Partially Received";
  const balance: Due = {
    name: depositShare === 0 ? "Invoice" : "Balance",
    type: depositShare === 0 ? "other" : "balance",
    amount: cents(grandTotal - deposit - credited),
    knownDaysAgo: depositShare === 0 ? (receivedDaysAgo ?? confirmedDaysAgo) : confirmedDaysAgo,
    daysAgo: (isAllIn ? (receivedDaysAgo ?? expectedDaysAgo) : expectedDaysAgo) - balanceDays,
  };
  if (depositShare === 0) return receivedDaysAgo === undefined ? [] : [balance];
  const daysAgo = confirmedDaysAgo - depositDays;
  return [{ name: "Deposit", type: "deposit", amount: deposit, daysAgo, knownDaysAgo: confirmedDaysAgo }, balance];
}
