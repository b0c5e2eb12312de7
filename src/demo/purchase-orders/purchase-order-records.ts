/**
 * The demo's purchase orders as records to import, with everything that came of them: payments, documents, shipments,
 * credits and the history of costs.
 */
import type { Calendar } from "../calendar.ts";
import { type DemoVariant, inShopCurrency, raisedCost, rateOf } from "../catalogue.ts";
import { type Placed, placedOrders } from "./placed-orders.ts";
import { type CountedLine, pendingOf } from "./purchase-order-course.ts";
import { paymentsOf } from "./purchase-order-payments.ts";
import { daysAgoOf, type DemoOrder, type NoteFacts, type NoteLine } from "./purchase-orders.ts";
import { demoShop, locations, owner } from "../shop.ts";

/** Every purchase order of the demo, and the credits that were applied to them. */
export function* purchaseOrderRecords(variants: readonly DemoVariant[], calendar: Calendar): Generator<object> {
  const orders = placedOrders(variants, calendar);
  yield* orders.flatMap(supplierCreditsOf);
  yield* orders.map(recordOf);
}

function recordOf(from: Placed): object {
  const { order, key, poNumber, calendar, course, expectedDaysAgo } = from;
  const { supplier, locationId } = order;
  const { at, day } = calendar;
  const rate = order.steps.find((step) => step.did === "fixed the rate");
  return {
    type: "purchaseOrder",
    purchaseOrderId: `po_demo_${key}`,
    poNumber,
    poName: order.name,
    status: course.status,
    previousStatus: course.previousStatus,
    supplierId: supplier.supplierId,
    locationId,
    currencyCode: supplier.currencyCode,
    fxRateOverride: rate?.fxRateOverride ?? null,
    orderDate: day(daysAgoOf(order, "sent") ?? order.steps[0].daysAgo),
    expectedDeliveryDate: day(expectedDaysAgo),
    supplierReference: daysAgoOf(order, "confirmed") === undefined ? null : supplierReferenceOf(from),
    paymentTerms: supplier.payment.text,
    incoterm: supplier.incoterm,
    shippingCost: from.shippingCost,
    taxAmount: from.taxAmount,
    tags: supplier.currencyCode === demoShop.currencyCode ? [] : ["import"],
    note: order.note?.(noteFactsOf(from)) ?? null,
    billingAddress: locations[0].address,
    shippingAddress: locations.find((location) => location.locationId === locationId)?.address,
    createdBy: owner.name,
    createdAt: at(order.steps[0].daysAgo),
    updatedAt: course.updatedAt,
    ...course.reachedAt,
    version: order.steps.length,
    storefrontSyncState: order.syncProblem === undefined ? undefined : "failed",
    lineItems: course.lines.map((line) => lineRecord(from, line)),
    payments: paymentsOf(from),
    documents: documentsOf(from),
    shipments: shipmentsOf(from),
    credits: appliedCreditsOf(from),
    log: [...course.log, ...failedPushOf(from)],
    receipts: course.receipts,
    costSyncHistory: costSyncHistoryOf(from),
  };
}

/** The supplier's own number of the order. */
const supplierReferenceOf = ({ order, poNumber }: Placed): string =>
  `${order.supplier.name.slice(0, 3).toUpperCase()}-${Number(poNumber.slice("PO-".length)) * 7 - 2_800}`;

function lineRecord({ order }: Placed, line: CountedLine): object {
  const { poLineItemId, variantId, variant, unitCost, ordered, confirmed, received, rejected } = line;
  const goods = {
    poLineItemId,
    variantId,
    quantityOrdered: ordered,
    quantityConfirmed: confirmed,
    quantityReceived: received,
    quantityRejected: rejected,
    unitCost,
  };
  if (variant === null) return { ...goods, productName: line.name };
  return {
    ...goods,
    allowOverReceipt: received + rejected > confirmed && confirmed > 0,
    quantitySynced: order.unsynced?.includes(line.sku) === true ? 0 : received,
    supplierSku: variant.terms?.supplierSku,
    supplierProductName: variant.productName,
    packSize: variant.terms?.packSize,
    moq: variant.terms?.moq,
    leadTimeDays: order.supplier.leadTimeDays,
  };
}

/** Returns the facts for the order's note. */
function noteFactsOf({ order, course, calendar, expectedDaysAgo }: Placed): NoteFacts {
  const line = (sku: string): NoteLine => {
    const found = course.lines.find((each) => each.sku === sku);
    if (found === undefined) throw new Error(`${order.name} has no line ${sku}`);
    return { ...found, pending: pendingOf(found), moq: found.variant?.terms?.moq ?? 0 };
  };
  const { name: supplierName, currencyCode } = order.supplier;
  return { line, supplierName, currencyCode, expectedDate: calendar.day(expectedDaysAgo), day: calendar.day };
}

/** The log entry of the push that did not go through. */
function failedPushOf({ order, key, course }: Placed): readonly object[] {
  if (order.syncProblem === undefined) return [];
  const synced = course.lines.filter((line) => line.received > 0 && !(order.unsynced ?? []).includes(line.sku));
  const taken =
    synced.length === 0
      ? ""
      : `The storefront took the stock of ${synced.length} ${synced.length === 1 ? "line" : "lines"}. `;
  return [
    {
      logId: `log_demo_${key}_${order.steps.length + 1}`,
      occurredAt: course.updatedAt,
      action: "storefront-sync",
      message: `${taken}Stock was not pushed to the storefront: ${order.syncProblem}`,
      actor: { type: "system", id: null, name: null },
    },
  ];
}

/** The order as it was sent, the papers of what is on its way, and the invoice once something has come. */
function documentsOf(from: Placed): readonly object[] {
  const { order, key, poNumber, calendar } = from;
  const shippedDaysAgo = shippedDaysAgoOf(order);
  const papers: readonly (readonly [documentType: string, fileName: string, daysAgo: number | undefined])[] = [
    ["purchase-order", `${poNumber}.pdf`, daysAgoOf(order, "sent")],
    ["packing-list", `packing-list-${poNumber}.pdf`, shippedDaysAgo],
    ["customs", `customs-${poNumber}.pdf`, order.supplier.taxShare === null ? shippedDaysAgo : undefined],
    ["invoice", `invoice-${supplierReferenceOf(from)}.pdf`, daysAgoOf(order, "received")],
  ];
  return papers.flatMap(([documentType, fileName, daysAgo], index) =>
    daysAgo === undefined
      ? []
      : {
          documentId: `doc_demo_${key}_${index + 1}`,
          fileName,
          contentType: "application/pdf",
          fileSizeBytes: 41_000 + index * 7_300 + Number(key) * 731,
          documentType,
          uploadedAt: calendar.at(daysAgo, 75 + index),
          uploadedBy: owner.name,
        },
  );
}

const shippedDaysAgoOf = ({ steps }: DemoOrder): number | undefined =>
  steps.find((step) => step.did === "started")?.shippedDaysAgo;

/** Returns the shipments: goods that have come are one, goods on their way another. */
function shipmentsOf(from: Placed): readonly object[] {
  const { order, key, poNumber, calendar, course, expectedDaysAgo } = from;
  const shippedDaysAgo = shippedDaysAgoOf(order);
  if (shippedDaysAgo === undefined) return [];
  const receivedDaysAgo = daysAgoOf(order, "received");
  const isOverseas = order.supplier.taxShare === null;
  const shipment = (index: number, allocated: (line: CountedLine) => number, hasCome: boolean) => ({
    shipmentId: `shp_demo_${key}_${index}`,
    shipmentNumber: `${poNumber}-${index}`,
    status: hasCome ? "Received" : "In Transit",
    carrier: isOverseas ? "Blue Anchor Lines" : "Polder Express",
    shippingMethod: isOverseas ? "Sea freight" : "Road",
    trackingNumber: `${isOverseas ? "BA" : "PX"}${70_000 + Number(key) * 137 + index}`,
    shippedDate: calendar.day(shippedDaysAgo),
    expectedArrivalDate: calendar.day(hasCome ? (receivedDaysAgo ?? expectedDaysAgo) : expectedDaysAgo),
    receivedDate: hasCome && receivedDaysAgo !== undefined ? calendar.day(receivedDaysAgo) : null,
    lineAllocations: course.lines
      .filter((line) => allocated(line) > 0)
      .map((line) => ({
        poLineItemId: line.poLineItemId,
        variantId: line.variantId,
        quantityAllocated: allocated(line),
        quantityReceived: hasCome ? line.received : 0,
        quantityRejected: hasCome ? line.rejected : 0,
      })),
  });
  const shipments = [shipment(1, (line) => line.received + line.rejected, true), shipment(2, pendingOf, false)];
  return shipments.filter(({ lineAllocations }) => lineAllocations.length > 0);
}

const creditIdOf = ({ key }: Placed): string => `cred_demo_${key}`;

/** A credit came this many days after the goods. */
const creditDays = 2;

function supplierCreditsOf(from: Placed): readonly object[] {
  const { order, calendar, credited, poNumber } = from;
  if (order.credit === undefined) return [];
  return [
    {
      type: "supplierCredit",
      creditId: creditIdOf(from),
      creditNumber: order.credit.number,
      supplierId: order.supplier.supplierId,
      creditDate: calendar.day((daysAgoOf(order, "received") ?? 0) - creditDays),
      amount: credited,
      balance: 0,
      currencyCode: order.supplier.currencyCode,
      reason: `Late delivery of ${poNumber}`,
    },
  ];
}

function appliedCreditsOf(from: Placed): readonly object[] {
  const { order, calendar, credited } = from;
  if (order.credit === undefined) return [];
  return [
    {
      creditId: creditIdOf(from),
      creditNumber: order.credit.number,
      amountApplied: credited,
      currencyCode: order.supplier.currencyCode,
      appliedAt: calendar.at((daysAgoOf(order, "received") ?? 0) - creditDays),
    },
  ];
}

/** A completed order's costs as the storefront took them, but for the one that it did not. */
function costSyncHistoryOf({ order, key, calendar, course }: Placed): readonly object[] {
  const completedDaysAgo = daysAgoOf(order, "completed");
  if (completedDaysAgo === undefined) return [];
  const { currencyCode } = order.supplier;
  const completedAt = calendar.at(completedDaysAgo, 180);
  return course.lines.flatMap(({ variant, poLineItemId, unitCost, received }, index) => {
    if (variant === null || received === 0) return [];
    const hasFailed = variant.sku === raisedCost.sku;
    return {
      costSyncId: `cst_demo_${key}_${index + 1}`,
      variantId: variant.variantId,
      poLineItemId,
      previousUnitCost: variant.unitCost,
      proposedUnitCost: inShopCurrency(unitCost, currencyCode),
      currencyCode: demoShop.currencyCode,
      sourceUnitCost: unitCost,
      sourceCurrencyCode: currencyCode,
      fxRate: rateOf(currencyCode),
      fxSource: currencyCode === demoShop.currencyCode ? "same-currency" : "shop-rate",
      outcome: hasFailed ? "failed" : "applied",
      reason: hasFailed ? `the storefront shows ${variant.unitCost}` : null,
      proposedAt: completedAt,
      resolvedAt: completedAt,
    };
  });
}
