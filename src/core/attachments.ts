/**
 * What hangs on an order and comes in by import only: payments, documents, shipments, applied credits; and what follows from it:
 * how much of the order is settled, which shipment is the current one, when what is expected. Pure.
 */
import { dateOf, dayFrom } from "./calendar.ts";
import { isWhollyCancelled, pendingQuantity, rateToOrderCurrency } from "./lines.ts";
import {
  type FxRate,
  type Money,
  type Quantity,
  addQuantity,
  asMoney,
  asQuantity,
  divideHalfUp,
  zeroMoney,
  zeroQuantity,
} from "./money.ts";
import type { Header, LineItem, ShopFacts } from "./purchase-order.ts";
import { isClosed } from "./status.ts";

export const paymentTypes = ["deposit", "balance", "installment", "other"] as const;

export const paymentStatuses = ["Scheduled", "Paid", "Overdue", "Cancelled"] as const;

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

export const documentTypes = ["purchase-order", "invoice", "packing-list", "customs", "other"] as const;

/** Metadata of a document; its content is elsewhere. */
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

export const shipmentStatuses = ["Draft", "In Transit", "Partially Received", "Received", "Cancelled"] as const;

export interface LineAllocation {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityAllocated: Quantity;
  readonly quantityReceived: Quantity;
  readonly quantityRejected: Quantity;
}

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

export interface Attachments {
  readonly payments: readonly Payment[];
  readonly documents: readonly OrderDocument[];
  readonly shipments: readonly Shipment[];
  readonly credits: readonly AppliedCredit[];
}

type OrderCurrency = { readonly currencyCode: string; readonly fxRateOverride: FxRate | null };

type ShopRates = Pick<ShopFacts, "currencyCode" | "fxRates">;

/** Σ of the amounts in the order's currency; what no rate converts is left out. Each is rounded half-up to 4 decimals. */
export function sumInOrderCurrency(
  amounts: readonly { readonly amount: Money; readonly currencyCode: string }[],
  order: OrderCurrency,
  shop: ShopRates,
): Money {
  let sum = 0;
  for (const { amount, currencyCode } of amounts) {
    const rate = rateToOrderCurrency(currencyCode, order, shop);
    if (rate === null) continue;
    sum += Number(divideHalfUp(BigInt(amount) * BigInt(rate.numerator), BigInt(rate.denominator)));
  }
  return asMoney(sum);
}

/** What has been paid: payments that are Paid, in the order's currency. */
export const paidAmount = (payments: readonly Payment[], order: OrderCurrency, shop: ShopRates): Money =>
  sumInOrderCurrency(
    payments.filter((payment) => payment.status === "Paid"),
    order,
    shop,
  );

/** What credits have settled, in the order's currency. */
export const creditAmount = (credits: readonly AppliedCredit[], order: OrderCurrency, shop: ShopRates): Money =>
  sumInOrderCurrency(
    credits.map((credit) => ({ amount: credit.amountApplied, currencyCode: credit.currencyCode })),
    order,
    shop,
  );

/** Payments made plus credits applied: the header's `settledAmount`, from which `paidStatus` follows. */
export const settledAmount = (
  attachments: Pick<Attachments, "payments" | "credits">,
  order: OrderCurrency,
  shop: ShopRates,
): Money => asMoney(paidAmount(attachments.payments, order, shop) + creditAmount(attachments.credits, order, shop));

/** What is left to pay; never below 0. */
export const outstandingAmount = (order: Pick<Header, "totalValue">, settled: Money): Money =>
  settled >= order.totalValue ? zeroMoney : asMoney(order.totalValue - settled);

/** When a shipment comes, or came; those without a date come last. */
const arrival = (shipment: Shipment): string =>
  shipment.receivedDate ?? shipment.expectedArrivalDate ?? shipment.shippedDate ?? "9999-12-31";

const byArrival = (a: Shipment, b: Shipment): number => {
  const [left, right] = [arrival(a), arrival(b)];
  if (left !== right) return left < right ? -1 : 1;
  return a.shipmentId < b.shipmentId ? -1 : 1;
};

/** The earliest shipment that is still to arrive, else the latest, else null (contract §9). Cancelled ones count only as a last resort. */
export function currentShipment(shipments: readonly Shipment[]): Shipment | null {
  const sorted = [...shipments].sort(byArrival);
  const coming = sorted.find((shipment) => shipment.status !== "Received" && shipment.status !== "Cancelled");
  return coming ?? sorted.findLast((shipment) => shipment.status !== "Cancelled") ?? sorted.at(-1) ?? null;
}

export const dateSources = ["line", "shipment", "order", "lead-time"] as const;

export const scheduleStatuses = ["Scheduled", "Overdue", "Partially Received", "Received"] as const;

/** One expected arrival of one line. `expectedDate` and `dateSource` are null when nothing tells the date. */
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

/** What of a line a schedule is made from. */
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

/** What of an order a schedule is made from; `lineItems` may be those of interest only. */
export interface ExpectedOrder extends Pick<
  Header,
  "status" | "locationId" | "orderDate" | "expectedDeliveryDate" | "sentAtMs"
> {
  readonly lineItems: readonly ExpectedLine[];
}

type ExpectedDate = Pick<ScheduleRow, "expectedDate" | "dateSource">;

function expectedDate(
  order: ExpectedOrder,
  line: ExpectedLine,
  shipment: Shipment | null,
  supplierLeadTimeDays: number | null,
): ExpectedDate {
  const shipmentDate = shipment?.expectedArrivalDate ?? null;
  if (shipmentDate !== null) return { expectedDate: shipmentDate, dateSource: "shipment" };
  if (line.expectedDeliveryDate !== null) return { expectedDate: line.expectedDeliveryDate, dateSource: "line" };
  if (order.expectedDeliveryDate !== null) return { expectedDate: order.expectedDeliveryDate, dateSource: "order" };
  const leadTimeDays = line.leadTimeDays ?? supplierLeadTimeDays;
  const from =
    order.orderDate ??
    (order.sentAtMs === null ? null : new Date(order.sentAtMs).toISOString().slice(0, "YYYY-MM-DD".length));
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
 * When what is expected: per line one row for each shipment it is allocated to, and one for what no shipment carries. What the
 * line has received fills its rows in the order of their arrival. Nothing more is expected of a Cancelled or Completed order, so it
 * shows only what came. Rows stand by date, those without one last.
 *
 * @param today `YYYY-MM-DD` where the shop is.
 * Source: contract §9 "Receipt schedule row".
 */
export function receiptSchedule(
  order: ExpectedOrder,
  shipments: readonly Shipment[],
  supplierLeadTimeDays: number | null,
  today: string,
): readonly ScheduleRow[] {
  const coming = shipments.filter((shipment) => shipment.status !== "Cancelled").sort(byArrival);
  const rows: ScheduleRow[] = [];
  for (const line of order.lineItems) {
    const pending = isClosed(order) || isWhollyCancelled(line) ? zeroQuantity : pendingQuantity(line);
    let expected: number = addQuantity(line.quantityReceived, pending);
    let received: number = line.quantityReceived;
    const add = (shipment: Shipment | null, quantityExpected: number): void => {
      if (quantityExpected <= 0) return;
      const quantityReceived = asQuantity(Math.min(received, quantityExpected));
      expected -= quantityExpected;
      received -= quantityReceived;
      const figures = {
        ...expectedDate(order, line, shipment, supplierLeadTimeDays),
        quantityExpected: asQuantity(quantityExpected),
        quantityReceived,
        quantityPending: asQuantity(quantityExpected - quantityReceived),
      };
      rows.push({
        scheduleId: shipment === null ? line.poLineItemId : `${line.poLineItemId}:${shipment.shipmentId}`,
        poLineItemId: line.poLineItemId,
        variantId: line.variantId,
        locationId: order.locationId,
        shipmentId: shipment?.shipmentId ?? null,
        ...figures,
        status: scheduleStatus(figures, today),
      });
    };
    for (const shipment of coming) {
      const allocated = shipment.lineAllocations
        .filter((allocation) => allocation.poLineItemId === line.poLineItemId)
        .reduce((sum, allocation) => sum + allocation.quantityAllocated - allocation.quantityRejected, 0);
      add(shipment, Math.min(allocated, expected));
    }
    add(null, expected);
  }
  const date = (row: ScheduleRow): string => row.expectedDate ?? "9999-12-31";
  return rows
    .map((row, index) => ({ row, index }))
    .sort((a, b) => (date(a.row) === date(b.row) ? a.index - b.index : date(a.row) < date(b.row) ? -1 : 1))
    .map(({ row }) => row);
}
