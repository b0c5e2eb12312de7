/**
 * Attachments of an order beside header and lines: payments, documents, shipments, applied credits. And what follows
 * from it: how much of the order is settled, which shipment is the current one, when goods are expected (contract §9).
 */
import { dateOf, dayFrom } from "../../base/time/calendar.ts";
import { isWhollyCancelled, pendingQuantity } from "./lines.ts";
import {
  type Money,
  type Quantity,
  addQuantity,
  asMoney,
  asQuantity,
  roundToMinorUnit,
  zeroQuantity,
} from "../money/money.ts";
import { type OrderCurrency, rateToOrderCurrency } from "./order-rates.ts";
import type { Header, LineItem } from "./purchase-order.ts";
import { isClosed } from "./status.ts";

/** Purposes of a payment. */
export const paymentTypes = ["deposit", "balance", "installment", "other"] as const;

/** Only a Paid payment counts as settled. */
export const paymentStatuses = ["Scheduled", "Paid", "Overdue", "Cancelled"] as const;

/** A payment for an order, made or planned. */
export interface Payment {
  readonly paymentId: string;
  readonly paymentName: string | null;
  readonly paymentType: (typeof paymentTypes)[number];
  readonly status: (typeof paymentStatuses)[number];
  readonly amount: Money;
  readonly currencyCode: string;
  readonly dueDate: string | null;
  readonly paidAtMs: number | null;
  readonly paymentMethod: string | null;
  readonly reference: string | null;
  readonly note: string | null;
  readonly createdAtMs: number;
  readonly createdBy: string | null;
}

/** Kinds of documents. */
export const documentTypes = ["purchase-order", "invoice", "packing-list", "customs", "other"] as const;

/** Metadata of a document; its content is not kept here. */
export interface OrderDocument {
  readonly documentId: string;
  readonly fileName: string;
  readonly contentType: string | null;
  readonly fileSizeBytes: number | null;
  readonly documentType: (typeof documentTypes)[number];
  readonly version: number;
  readonly uploadedAtMs: number;
  readonly uploadedBy: string | null;
}

/** From what is planned to what has arrived. */
export const shipmentStatuses = ["Draft", "In Transit", "Partially Received", "Received", "Cancelled"] as const;

/** Quantity of a line in a shipment. */
interface LineAllocation {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityAllocated: Quantity;
  readonly quantityReceived: Quantity;
  readonly quantityRejected: Quantity;
}

/** A delivery of some of an order's lines. */
export interface Shipment {
  readonly shipmentId: string;
  readonly shipmentNumber: string | null;
  readonly status: (typeof shipmentStatuses)[number];
  readonly carrier: string | null;
  readonly shippingMethod: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
  readonly shippedDate: string | null;
  readonly expectedArrivalDate: string | null;
  readonly receivedDate: string | null;
  readonly shippingCost: Money | null;
  readonly currencyCode: string | null;
  readonly note: string | null;
  readonly lineAllocations: readonly LineAllocation[];
}

/** A supplier's credit as far as it was applied to this order. */
export interface AppliedCredit {
  readonly creditId: string;
  readonly creditNumber: string | null;
  readonly amountApplied: Money;
  readonly currencyCode: string;
  readonly appliedAtMs: number;
}

/** A supplier's credit of which `balance` is left to apply. */
export interface SupplierCredit {
  readonly creditId: string;
  readonly creditNumber: string | null;
  readonly supplierId: string;
  readonly creditDate: string | null;
  readonly amount: Money;
  readonly balance: Money;
  readonly currencyCode: string;
  readonly reason: string | null;
}

/** Everything that belongs to one order and comes in by import. */
export interface Attachments {
  readonly payments: readonly Payment[];
  readonly documents: readonly OrderDocument[];
  readonly shipments: readonly Shipment[];
  readonly credits: readonly AppliedCredit[];
}

/**
 * The sum of the amounts in the order's currency, rounded once to its minor unit, as what is owed is. An amount that no
 * rate converts is left out.
 */
export function sumInOrderCurrency(
  amounts: readonly { readonly amount: Money; readonly currencyCode: string }[],
  order: OrderCurrency,
  shopCurrency: string,
): Money {
  // The exact sum is `sum / scale`: the rates of different currencies have different denominators.
  let [sum, scale] = [0n, 1n];
  for (const [currencyCode, same] of Map.groupBy(amounts, (each) => each.currencyCode)) {
    const rate = rateToOrderCurrency(currencyCode, order, shopCurrency);
    if (rate === null) continue;
    const amount = same.reduce((total, each) => total + BigInt(each.amount), 0n) * BigInt(rate.numerator);
    [sum, scale] = [sum * BigInt(rate.denominator) + amount * scale, scale * BigInt(rate.denominator)];
  }
  return asMoney(Number(roundToMinorUnit(sum, scale, order.currencyCode)));
}

const paid = (payments: readonly Payment[]) => payments.filter((payment) => payment.status === "Paid");

const applied = (credits: readonly AppliedCredit[]) =>
  credits.map(({ amountApplied, currencyCode }) => ({ amount: amountApplied, currencyCode }));

/** The payments that are Paid, in the order's currency. */
export const paidAmount = (payments: readonly Payment[], order: OrderCurrency, shopCurrency: string): Money =>
  sumInOrderCurrency(paid(payments), order, shopCurrency);

/** The applied credits, in the order's currency. */
export const creditAmount = (credits: readonly AppliedCredit[], order: OrderCurrency, shopCurrency: string): Money =>
  sumInOrderCurrency(applied(credits), order, shopCurrency);

/**
 * Payments made plus credits applied, rounded once: the header's `settledAmount`, from which `paidStatus` follows. It
 * may differ by a minor unit from the sum of the two, each of which is rounded for itself.
 */
export const settledAmount = (
  attachments: Pick<Attachments, "payments" | "credits">,
  order: OrderCurrency,
  shopCurrency: string,
): Money => sumInOrderCurrency([...paid(attachments.payments), ...applied(attachments.credits)], order, shopCurrency);

/** Returns the amount left to pay; negative when more was paid and credited than is owed (C35). */
export const outstandingAmount = (order: Pick<Header, "grandTotal">, settled: Money): Money =>
  asMoney(order.grandTotal - settled);

/** Sorts after every date. */
const noDate = "9999-12-31";

/** When a shipment arrived or is expected. One without a date is last. */
const arrival = (shipment: Shipment): string =>
  shipment.receivedDate ?? shipment.expectedArrivalDate ?? shipment.shippedDate ?? noDate;

const byArrival = (a: Shipment, b: Shipment): number => {
  const [left, right] = [arrival(a), arrival(b)];
  if (left !== right) return left < right ? -1 : 1;
  return a.shipmentId < b.shipmentId ? -1 : 1;
};

/**
 * The earliest shipment that is still to arrive, else the latest; null without shipments. A Cancelled one only if there
 * is no other (contract §9).
 */
export function currentShipment(shipments: readonly Shipment[]): Shipment | null {
  const sorted = [...shipments].sort(byArrival);
  const coming = sorted.find((shipment) => shipment.status !== "Received" && shipment.status !== "Cancelled");
  return coming ?? sorted.findLast((shipment) => shipment.status !== "Cancelled") ?? sorted.at(-1) ?? null;
}

/** Where the date of an expected arrival is taken from. */
export const dateSources = ["line", "shipment", "order", "lead-time"] as const;

/** States of an expected arrival. `Overdue`: its date has passed and nothing of it has arrived. */
export const scheduleStatuses = ["Scheduled", "Overdue", "Partially Received", "Received"] as const;

/** One expected arrival of one line. `expectedDate` and `dateSource` are null when no date is known. */
export interface ScheduleRow {
  readonly scheduleId: string;
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly locationId: string | null;
  readonly shipmentId: string | null;
  readonly expectedDate: string | null;
  readonly dateSource: (typeof dateSources)[number] | null;
  readonly quantityExpected: Quantity;
  readonly quantityReceived: Quantity;
  readonly quantityPending: Quantity;
  readonly status: (typeof scheduleStatuses)[number];
}

const daysAfter = (date: string, days: number): string => dateOf(dayFrom(date) + days);

/** The members of a line that a schedule is made from. */
export type ExpectedLine = Pick<
  LineItem,
  | "poLineItemId"
  | "variantId"
  | "quantityOrdered"
  | "quantityConfirmed"
  | "quantityReceived"
  | "quantityRejected"
  | "quantityCancelled"
  | "expectedDeliveryDate"
  | "leadTimeDays"
>;

/** The members of an order that a schedule is made from; `lineItems` may be some of its lines. */
export interface ExpectedOrder extends Pick<
  Header,
  "status" | "locationId" | "orderDate" | "expectedDeliveryDate" | "sentAtMs" | "sentDate" | "supplierLeadTimeDays"
> {
  readonly lineItems: readonly ExpectedLine[];
}

type ExpectedDate = Pick<ScheduleRow, "expectedDate" | "dateSource">;

/**
 * The day from which lead times count: that on which the order was sent, else its own (C13). Null for an order that was
 * never sent.
 */
function leadTimeFrom({ status, sentDate, sentAtMs, orderDate }: ExpectedOrder): string | null {
  if (sentDate !== null) return sentDate;
  if (sentAtMs !== null) return new Date(sentAtMs).toISOString().slice(0, "YYYY-MM-DD".length);
  return status === "Draft" ? null : orderDate;
}

/** The first that is known of: the line's own date, its shipment's, the order's, the end of the lead time (C13). */
function expectedDate(order: ExpectedOrder, line: ExpectedLine, shipment: Shipment | null): ExpectedDate {
  if (line.expectedDeliveryDate !== null) return { expectedDate: line.expectedDeliveryDate, dateSource: "line" };
  const shipmentDate = shipment?.expectedArrivalDate ?? null;
  if (shipmentDate !== null) return { expectedDate: shipmentDate, dateSource: "shipment" };
  if (order.expectedDeliveryDate !== null) return { expectedDate: order.expectedDeliveryDate, dateSource: "order" };
  const leadTimeDays = line.leadTimeDays ?? order.supplierLeadTimeDays;
  const from = leadTimeFrom(order);
  if (leadTimeDays === null || from === null) return { expectedDate: null, dateSource: null };
  return { expectedDate: daysAfter(from, leadTimeDays), dateSource: "lead-time" };
}

function scheduleStatus(
  row: Pick<ScheduleRow, "expectedDate" | "quantityReceived" | "quantityPending">,
  today: string,
) {
  if (row.quantityPending === 0) return "Received" as const;
  if (row.quantityReceived > 0) return "Partially Received" as const;
  return row.expectedDate !== null && row.expectedDate < today ? ("Overdue" as const) : ("Scheduled" as const);
}

/**
 * Lists when goods are expected: per line one row for each shipment that carries some of it, and one for the rest. What
 * the line has received fills its rows in the order of their arrival. Nothing more is expected of a Cancelled or
 * Completed order, so its rows show only what has arrived. Rows are sorted by date, those without one last.
 *
 * @param today `YYYY-MM-DD` where the shop is.
 * Source: contract §9 "Receipt schedule row".
 */
export function receiptSchedule(
  order: ExpectedOrder,
  shipments: readonly Shipment[],
  today: string,
): readonly ScheduleRow[] {
  const coming = comingShipments(shipments);
  const rows = order.lineItems.flatMap((line) =>
    arrivalsOf(line, coming, isClosed(order)).map(({ shipment, quantityExpected, quantityReceived }): ScheduleRow => {
      const figures = {
        ...expectedDate(order, line, shipment),
        quantityExpected: asQuantity(quantityExpected),
        quantityReceived: asQuantity(quantityReceived),
        quantityPending: asQuantity(quantityExpected - quantityReceived),
      };
      return {
        scheduleId: shipment === null ? line.poLineItemId : `${line.poLineItemId}:${shipment.shipmentId}`,
        poLineItemId: line.poLineItemId,
        variantId: line.variantId,
        locationId: order.locationId,
        shipmentId: shipment?.shipmentId ?? null,
        ...figures,
        status: scheduleStatus(figures, today),
      };
    }),
  );
  return rows.toSorted((a, b) => {
    const [left, right] = [a.expectedDate ?? noDate, b.expectedDate ?? noDate];
    return left === right ? 0 : left < right ? -1 : 1;
  });
}

/** Shipments that carry something, in the order of their arrival. */
const comingShipments = (shipments: readonly Shipment[]): readonly Shipment[] =>
  shipments.filter((shipment) => shipment.status !== "Cancelled").sort(byArrival);

/** Where the dates of what is still to come are from, and the earliest of them. */
interface PendingDates {
  readonly earliest: string | null;
  readonly sources: ReadonlySet<ScheduleRow["dateSource"]>;
}

/** The dates of the schedule's rows of which something is still to come. */
export function pendingDates(order: ExpectedOrder, shipments: readonly Shipment[]): PendingDates {
  const coming = comingShipments(shipments);
  const isOver = isClosed(order);
  const sources = new Set<ScheduleRow["dateSource"]>();
  let earliest: string | null = null;
  for (const line of order.lineItems)
    for (const { shipment, quantityExpected, quantityReceived } of arrivalsOf(line, coming, isOver)) {
      if (quantityExpected === quantityReceived) continue;
      const { expectedDate: date, dateSource } = expectedDate(order, line, shipment);
      sources.add(dateSource);
      if (date !== null && (earliest === null || date < earliest)) earliest = date;
    }
  return { earliest, sources };
}

/**
 * The earliest day on which the schedule expects something that is still to come; the order's own while it has no
 * lines. Null when nothing is expected any more: the order is Completed or Cancelled, or it has lines and none of them
 * is pending.
 *
 * Source: C13.
 */
export function nextExpectedDate(order: ExpectedOrder, shipments: readonly Shipment[]): string | null {
  if (isClosed(order)) return null;
  return order.lineItems.length === 0 ? order.expectedDeliveryDate : pendingDates(order, shipments).earliest;
}

interface ExpectedArrival {
  /** Null: no shipment carries it. */
  readonly shipment: Shipment | null;
  /** Above 0. */
  readonly quantityExpected: number;
  readonly quantityReceived: number;
}

/**
 * Divides what has come of a line, and is still to come, among the shipments that carry it, in the order of their
 * arrival. What is left has no shipment. What was received fills them in this order.
 */
function arrivalsOf(
  line: ExpectedLine,
  coming: readonly Shipment[],
  isOrderClosed: boolean,
): readonly ExpectedArrival[] {
  const pending = isOrderClosed || isWhollyCancelled(line) ? zeroQuantity : pendingQuantity(line);
  let expected: number = addQuantity(line.quantityReceived, pending);
  let received: number = line.quantityReceived;
  const arrivals: ExpectedArrival[] = [];
  const add = (shipment: Shipment | null, quantityExpected: number): void => {
    if (quantityExpected <= 0) return;
    const quantityReceived = Math.min(received, quantityExpected);
    expected -= quantityExpected;
    received -= quantityReceived;
    arrivals.push({ shipment, quantityExpected, quantityReceived });
  };
  for (const shipment of coming) {
    const allocated = shipment.lineAllocations
      .filter((allocation) => allocation.poLineItemId === line.poLineItemId)
      .reduce((sum, allocation) => sum + allocation.quantityAllocated - allocation.quantityRejected, 0);
    add(shipment, Math.min(allocated, expected));
  }
  add(null, expected);
  return arrivals;
}
