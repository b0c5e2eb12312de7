/**
 * The demo's transfers between the warehouse and the shop.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, variantWith } from "./catalogue.ts";
import { clerk, keyOf, owner, store, warehouse } from "./shop.ts";

/** Name, status, days ago, and for each SKU what was requested, shipped and received. */
const transfers = [
  [
    "Coffee for the weekend",
    "Received",
    18,
    [
      ["DOC-ESP-250G", 24, 24, 24],
      ["DOC-ESP-1KG", 6, 6, 6],
      ["BAL-BRA-250G", 12, 12, 12],
    ],
  ],
  [
    "Mugs for the window",
    "Partially Received",
    5,
    [
      ["TID-MUG-SAND", 12, 12, 8],
      ["TID-MUG-SLATE", 6, 6, 6],
    ],
  ],
  [
    "Gift corner",
    "In Transit",
    2,
    [
      ["BRE-GIF-BOX", 10, 10, 0],
      ["ESP-GIF-BOX", 4, 4, 0],
    ],
  ],
  [
    "Tea for next Saturday",
    "Ready to Ship",
    1,
    [
      ["HAR-BRE-100G", 18, 0, 0],
      ["JAS-RIG-100G", 12, 0, 0],
    ],
  ],
  ["Teapots for the window", "Draft", 0, [["STO-TEA-08L", 6, 0, 0]]],
  ["Kettles back to the warehouse", "Cancelled", 33, [["POU-KET-06L", 2, 0, 0]]],
] as const;

/** A transfer with what its parts are made from. */
interface Transfer {
  readonly key: string;
  readonly index: number;
  readonly status: (typeof transfers)[number][1];
  readonly daysAgo: number;
  readonly calendar: Calendar;
  readonly lines: readonly TransferLine[];
  readonly hasShipped: boolean;
  readonly hasArrived: boolean;
}

interface TransferLine {
  readonly transferLineItemId: string;
  readonly variantId: string;
  readonly quantityRequested: number;
  readonly quantityShipped: number;
  readonly quantityReceived: number;
  readonly quantityCancelled: number;
  readonly unitCost: number;
}

export function* transferOrderRecords(variants: readonly DemoVariant[], calendar: Calendar): Generator<object> {
  const { at, day } = calendar;
  for (const [index, [name, status, daysAgo, quantities]] of transfers.entries()) {
    const key = keyOf(index);
    const lines = quantities.map(([sku, requested, shipped, received], line) => {
      const { variantId, unitCost } = variantWith(variants, sku);
      return {
        transferLineItemId: `tol_demo_${key}_${line + 1}`,
        variantId,
        quantityRequested: requested,
        quantityShipped: shipped,
        quantityReceived: received,
        quantityCancelled: status === "Cancelled" ? requested : 0,
        unitCost,
      };
    });
    const hasShipped = lines.some((line) => line.quantityShipped > 0);
    const hasArrived = lines.some((line) => line.quantityReceived > 0);
    const transfer: Transfer = { key, index, status, daysAgo, calendar, lines, hasShipped, hasArrived };
    yield {
      type: "transferOrder",
      transferOrderId: `to_demo_${key}`,
      transferNumber: `TO-${1_001 + index}`,
      transferName: name,
      status,
      fromLocationId: status === "Cancelled" ? store : warehouse,
      toLocationId: status === "Cancelled" ? warehouse : store,
      expectedArrivalDate: day(daysAgo - 3),
      shippedAt: hasShipped ? at(daysAgo, 120) : null,
      receivedAt: status === "Received" ? at(daysAgo, 300) : null,
      createdBy: owner.name,
      createdAt: at(daysAgo),
      updatedAt: at(daysAgo, hasArrived ? 300 : hasShipped ? 120 : 0),
      lineItems: lines,
      shipments: shipmentsOf(transfer),
      documents: documentsOf(transfer),
      log: logOf(transfer),
    };
  }
}

function shipmentsOf({ key, status, daysAgo, calendar, lines, hasShipped, hasArrived }: Transfer): readonly object[] {
  if (!hasShipped) return [];
  const { at, day } = calendar;
  return [
    {
      shipmentId: `shp_demo_to_${key}`,
      shipmentNumber: `TS-${key}`,
      status: status === "Received" ? "Received" : hasArrived ? "Partially Received" : "In Transit",
      carrier: "Own van",
      shippingMethod: "Road",
      shippedDate: at(daysAgo, 120).slice(0, 10),
      expectedArrivalDate: day(daysAgo - 3),
      receivedDate: status === "Received" ? at(daysAgo, 300).slice(0, 10) : null,
      lineAllocations: lines.map((line) => ({
        poLineItemId: line.transferLineItemId,
        variantId: line.variantId,
        quantityAllocated: line.quantityShipped,
        quantityReceived: line.quantityReceived,
      })),
    },
  ];
}

function documentsOf({ key, index, daysAgo, calendar, hasShipped }: Transfer): readonly object[] {
  if (!hasShipped) return [];
  return [
    {
      documentId: `doc_demo_to_${key}`,
      fileName: `packing-list-${key}.pdf`,
      contentType: "application/pdf",
      fileSizeBytes: 21_000 + index * 311,
      documentType: "packing-list",
      uploadedAt: calendar.at(daysAgo, 118),
      uploadedBy: owner.name,
    },
  ];
}

function logOf({ key, status, daysAgo, calendar, hasShipped, hasArrived }: Transfer): readonly object[] {
  const steps = [
    { minutes: 0, action: "create", message: "Created.", actor: owner },
    ...(hasShipped ? [{ minutes: 120, action: "ship", message: "Left with the van.", actor: owner }] : []),
    ...(hasArrived ? [{ minutes: 300, action: "receive", message: "Counted in at the shop.", actor: clerk }] : []),
    ...(status === "Cancelled"
      ? [{ minutes: 60, action: "cancel", message: "Cancelled: they were sold in the shop.", actor: owner }]
      : []),
  ];
  return steps.map(({ minutes, ...step }, index) => ({
    logId: `log_demo_to_${key}_${index + 1}`,
    occurredAt: calendar.at(daysAgo, minutes),
    ...step,
  }));
}
