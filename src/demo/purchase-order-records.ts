/**
 * The demo's purchase orders as records to import, with everything that came of them: log, payments, documents, shipments, receipts.
 */
import type { Calendar } from "./calendar.ts";
import { cents, type DemoSupplier, type DemoVariant, suppliers, supplierSkuOf } from "./catalogue.ts";
import { type DemoOrder, purchaseOrders } from "./purchase-orders.ts";
import { demoShop, locations, owner } from "./shop.ts";

/** When a status was reached, as header fields. */
const reachedFields: Readonly<Record<string, string>> = {
  Sent: "sentAt",
  Confirmed: "confirmedAt",
  Received: "receivedAt",
  Completed: "completedAt",
  Cancelled: "cancelledAt",
};

/** Up to this share of what is owed a payment is a deposit. */
const depositShare = 0.3;

/** Share of the total that shipping costs. */
const shippingShare = 0.04;

/** An order with what its parts are made from. */
interface Placed {
  readonly order: DemoOrder;
  /** Counts from 1. */
  readonly number: number;
  /** The number with two digits, for ids. */
  readonly key: string;
  readonly calendar: Calendar;
  readonly supplier: DemoSupplier | undefined;
  readonly currencyCode: string;
  readonly madeDaysAgo: number;
  /** Negative when the delivery is still to come. */
  readonly expectedDaysAgo: number;
  readonly lines: readonly PlacedLine[];
  /** What was ordered, in the order's currency. */
  readonly total: number;
  readonly shippingCost: number;
  readonly taxAmount: number | null;
  /** The total with shipping and tax. */
  readonly owed: number;
}

interface PlacedLine {
  readonly poLineItemId: string;
  readonly variantId: string | undefined;
  readonly quantityOrdered: number;
  readonly quantityConfirmed: number;
  readonly quantityReceived: number;
  readonly quantityRejected: number;
  readonly unitCost: number;
}

/** Every purchase order of the demo. */
export function* purchaseOrderRecords(variants: readonly DemoVariant[], calendar: Calendar): Generator<object> {
  for (const [index, order] of purchaseOrders.entries()) yield recordOf(placed(order, index + 1, variants, calendar));
}

function placed(order: DemoOrder, number: number, variants: readonly DemoVariant[], calendar: Calendar): Placed {
  const key = String(number).padStart(2, "0");
  const supplier = suppliers.find(({ supplierId }) => supplierId === order.supplierId);
  const madeDaysAgo = order.path[0]?.[1] ?? 0;
  const lines = linesOf(order, number, key, variants, supplier);
  const currencyCode = supplier?.currencyCode ?? demoShop.currencyCode;
  const total = cents(lines.reduce((sum, line) => sum + line.quantityOrdered * line.unitCost, 0));
  const shippingCost = cents(total * shippingShare);
  const taxAmount = currencyCode === "EUR" ? cents(total * 0.21) : null;
  return {
    order,
    number,
    key,
    calendar,
    supplier,
    currencyCode,
    madeDaysAgo,
    expectedDaysAgo: madeDaysAgo - (supplier?.leadTimeDays ?? 0),
    lines,
    total,
    shippingCost,
    taxAmount,
    owed: cents(total + shippingCost + (taxAmount ?? 0)),
  };
}

function linesOf(
  order: DemoOrder,
  number: number,
  key: string,
  variants: readonly DemoVariant[],
  supplier: DemoSupplier | undefined,
): readonly PlacedLine[] {
  const sold = variants.filter((variant) => variant.supplier === supplier);
  return order.lines.map(([ordered, confirmed, received, rejected], index) => {
    const variant = sold[(index + number) % sold.length];
    return {
      poLineItemId: `pol_demo_${key}_${index + 1}`,
      variantId: variant?.variantId,
      quantityOrdered: ordered,
      quantityConfirmed: confirmed,
      quantityReceived: received,
      quantityRejected: rejected,
      unitCost: variant?.supplierCost ?? 0,
      supplierSku: variant === undefined ? null : supplierSkuOf(variant),
      packSize: variant?.packSize ?? null,
      leadTimeDays: supplier?.leadTimeDays ?? 0,
    };
  });
}

/** How many days ago the order reached the first of these statuses; undefined when it reached none. */
const reachedDaysAgo = ({ order }: Placed, ...statuses: readonly string[]): number | undefined =>
  order.path.find(([status]) => statuses.includes(status))?.[1];

const receivedDaysAgo = (from: Placed): number => reachedDaysAgo(from, "Received", "Partially Received") ?? 0;

const receivedLines = ({ lines }: Placed): readonly PlacedLine[] => lines.filter((line) => line.quantityReceived > 0);

function recordOf(from: Placed): object {
  const { order, number, key, calendar, supplier, currencyCode, madeDaysAgo, expectedDaysAgo } = from;
  const { at, day } = calendar;
  const [status, reachedAgo] = order.path.at(-1) ?? ["Draft", 0];
  return {
    type: "purchaseOrder",
    purchaseOrderId: `po_demo_${key}`,
    poNumber: `PO-${1_000 + number}`,
    poName: order.name,
    status,
    previousStatus: order.path.at(-2)?.[0] ?? "Draft",
    supplierId: order.supplierId,
    locationId: order.locationId,
    currencyCode,
    orderDate: day(madeDaysAgo),
    expectedDeliveryDate: day(expectedDaysAgo),
    supplierReference:
      reachedDaysAgo(from, "Sent") === undefined
        ? null
        : `${(supplier?.name ?? "").slice(0, 3).toUpperCase()}-${4_200 + number * 7}`,
    paymentTerms: order.paid === 0 ? "30 days" : "30 % deposit, balance 14 days after delivery",
    incoterm: currencyCode === "USD" ? "FOB" : "DAP",
    shippingCost: from.shippingCost,
    taxAmount: from.taxAmount,
    tags: currencyCode === "USD" ? ["import"] : [],
    note: order.note ?? null,
    billingAddress: locations[0].address,
    shippingAddress: locations.find(({ locationId }) => locationId === order.locationId)?.address,
    createdBy: owner.name,
    createdAt: at(madeDaysAgo),
    updatedAt: at(reachedAgo, order.path.length - 1),
    ...reachedAt(from),
    version: order.path.length,
    lineItems: from.lines,
    payments: paymentsOf(from),
    documents: documentsOf(from),
    shipments: shipmentsOf(from),
    credits: creditsOf(from),
    log: logOf(from),
    receipts: receiptsOf(from),
  };
}

/** The header fields with the time at which each status was reached. */
function reachedAt({ order, calendar }: Placed): object {
  return Object.fromEntries(
    order.path.flatMap(([status, daysAgo], index) => {
      const field = reachedFields[status];
      return field === undefined ? [] : [[field, calendar.at(daysAgo, index)] as const];
    }),
  );
}

function logOf({ order, key, calendar }: Placed): readonly object[] {
  return order.path.map(([status, daysAgo], index) => {
    const before = order.path[index - 1]?.[0];
    return {
      logId: `log_demo_${key}_${index + 1}`,
      occurredAt: calendar.at(daysAgo, index),
      action: index === 0 ? "create" : "status",
      message: index === 0 ? "Created." : `Moved from ${before} to ${status}.`,
      actor: owner,
      changes: index === 0 ? [] : [{ field: "status", poLineItemId: null, before, after: status }],
    };
  });
}

/** A deposit that is paid, and the balance, paid or scheduled; nothing for orders that are paid later. */
function paymentsOf({ order, key, calendar, currencyCode, madeDaysAgo, expectedDaysAgo, owed }: Placed) {
  if (order.paid === 0) return [];
  const { at, day } = calendar;
  const deposit = cents(owed * Math.min(order.paid, depositShare));
  const isBalancePaid = order.paid > depositShare;
  return [
    {
      paymentId: `pay_demo_${key}_1`,
      paymentName: "Deposit",
      paymentType: "deposit",
      status: "Paid",
      amount: deposit,
      currencyCode,
      dueDate: day(madeDaysAgo - 2),
      paidAt: at(madeDaysAgo - 2),
      paymentMethod: "Bank transfer",
      createdAt: at(madeDaysAgo),
      createdBy: owner.name,
    },
    {
      paymentId: `pay_demo_${key}_2`,
      paymentName: "Balance",
      paymentType: "balance",
      status: isBalancePaid ? "Paid" : "Scheduled",
      amount: cents(isBalancePaid ? owed * order.paid - deposit : owed - deposit),
      currencyCode,
      dueDate: day(expectedDaysAgo - 14),
      ...(isBalancePaid ? { paidAt: at(Math.max(0, expectedDaysAgo - 10)) } : {}),
      paymentMethod: "Bank transfer",
      createdAt: at(madeDaysAgo),
      createdBy: owner.name,
    },
  ];
}

/** The order as it was sent, and the invoice once something has come. */
function documentsOf(from: Placed): readonly object[] {
  const { number, key, calendar } = from;
  const sentDaysAgo = reachedDaysAgo(from, "Sent");
  if (sentDaysAgo === undefined) return [];
  const sent = {
    documentId: `doc_demo_${key}_1`,
    fileName: `order-${key}.pdf`,
    contentType: "application/pdf",
    fileSizeBytes: 48_000 + number * 731,
    documentType: "purchase-order",
    uploadedAt: calendar.at(sentDaysAgo, 5),
    uploadedBy: owner.name,
  };
  if (receivedLines(from).length === 0) return [sent];
  const invoice = {
    documentId: `doc_demo_${key}_2`,
    fileName: `invoice-${key}.pdf`,
    contentType: "application/pdf",
    fileSizeBytes: 61_000 + number * 517,
    documentType: "invoice",
    uploadedAt: calendar.at(receivedDaysAgo(from), 30),
    uploadedBy: owner.name,
  };
  return [sent, invoice];
}

/** One shipment with everything that was confirmed, from In Progress on. */
function shipmentsOf(from: Placed): readonly object[] {
  const { number, key, calendar, currencyCode, expectedDaysAgo, lines, total } = from;
  const shippedDaysAgo = reachedDaysAgo(from, "In Progress");
  if (shippedDaysAgo === undefined) return [];
  const hasAllArrived = lines.every((line) => line.quantityReceived + line.quantityRejected >= line.quantityConfirmed);
  const status = receivedLines(from).length === 0 ? "In Transit" : hasAllArrived ? "Received" : "Partially Received";
  const isOverseas = currencyCode === "USD";
  return [
    {
      shipmentId: `shp_demo_${key}`,
      shipmentNumber: `SH-${key}`,
      status,
      carrier: isOverseas ? "Blue Anchor Lines" : "Polder Express",
      shippingMethod: isOverseas ? "Sea freight" : "Road",
      trackingNumber: `BA${70_000 + number * 137}`,
      shippedDate: calendar.day(Math.max(0, shippedDaysAgo - 1)),
      expectedArrivalDate: calendar.day(expectedDaysAgo),
      receivedDate: status === "Received" ? calendar.day(receivedDaysAgo(from)) : null,
      shippingCost: cents(total * shippingShare),
      currencyCode,
      lineAllocations: lines.map((line) => ({
        poLineItemId: line.poLineItemId,
        variantId: line.variantId,
        quantityAllocated: line.quantityConfirmed,
        quantityReceived: line.quantityReceived,
        quantityRejected: line.quantityRejected,
      })),
    },
  ];
}

/** The credit of supplierCreditRecord, applied to the order that it is about. */
function creditsOf({ number, currencyCode, calendar }: Placed): readonly object[] {
  if (number !== creditedOrder) return [];
  return [{ ...credit, amountApplied: 20, currencyCode, appliedAt: calendar.at(18) }];
}

/** Number of the order with the chipped mugs. */
const creditedOrder = 4;

const credit = { creditId: "cred_demo_1", creditNumber: "CN-118" } as const;

/** What the supplier gave back for the chipped mugs. */
export const supplierCreditRecord = (creditDate: string): object => ({
  type: "supplierCredit",
  ...credit,
  supplierId: "sup_clay",
  creditDate,
  amount: 60,
  balance: 40,
  currencyCode: "EUR",
  reason: "Chipped mugs",
});

function receiptsOf(from: Placed): readonly object[] {
  const received = receivedLines(from);
  if (received.length === 0) return [];
  return [
    {
      receiptId: `rcpt_demo_${from.key}`,
      receivedAt: from.calendar.at(receivedDaysAgo(from), 20),
      recordedBy: owner.name,
      source: "receive",
      lines: received.map((line) => ({
        poLineItemId: line.poLineItemId,
        variantId: line.variantId,
        quantityDelta: line.quantityReceived,
        quantityReceivedAfter: line.quantityReceived,
      })),
    },
  ];
}
