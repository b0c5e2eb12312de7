/**
 * The demo's purchase orders with their course, their dates and what is owed for them.
 */
import type { Calendar } from "../calendar.ts";
import { cents, type DemoVariant } from "../catalogue.ts";
import { type Course, courseOf, pendingOf } from "./purchase-order-course.ts";
import { daysAgoOf, type DemoOrder, purchaseOrders } from "./purchase-orders.ts";
import { keyOf } from "../shop.ts";

/** Share of the total that shipping costs. */
const shippingShare = 0.04;

/** An order with what its parts are made from. */
export interface Placed {
  readonly order: DemoOrder;
  /** Its place in the list as two digits, for ids. */
  readonly key: string;
  readonly poNumber: string;
  readonly calendar: Calendar;
  readonly course: Course;
  /** Negative when the delivery is still to come. */
  readonly expectedDaysAgo: number;
  readonly shippingCost: number;
  readonly taxAmount: number | null;
  /** Amount owed in the order's currency: goods that came or are still to come, shipping and tax (C35). */
  readonly grandTotal: number;
  /** Amount that the supplier gave back. */
  readonly credited: number;
}

export const placedOrders = (variants: readonly DemoVariant[], calendar: Calendar): readonly Placed[] =>
  purchaseOrders.map((order, index) => placed(order, index, variants, calendar));

function placed(order: DemoOrder, index: number, variants: readonly DemoVariant[], calendar: Calendar): Placed {
  const key = keyOf(index);
  const poNumber = `PO-${1_001 + index}`;
  const { supplier } = order;
  const course = courseOf({ order, key, poNumber }, variants, calendar);
  const total = cents(course.lines.reduce((sum, line) => sum + line.ordered * line.unitCost, 0));
  const isOver = course.status === "Completed" || course.status === "Cancelled";
  const owed = cents(
    course.lines.reduce((sum, line) => sum + (line.received + (isOver ? 0 : pendingOf(line))) * line.unitCost, 0),
  );
  const shippingCost = cents(total * shippingShare);
  const taxAmount = supplier.taxShare === null ? null : cents(total * supplier.taxShare);
  return {
    order,
    key,
    poNumber,
    calendar,
    course,
    expectedDaysAgo:
      order.expectedDaysAgo ?? (daysAgoOf(order, "sent") ?? order.steps[0].daysAgo) - supplier.leadTimeDays,
    shippingCost,
    taxAmount,
    grandTotal: cents(owed + shippingCost + (taxAmount ?? 0)),
    credited: order.credit?.amount ?? 0,
  };
}
