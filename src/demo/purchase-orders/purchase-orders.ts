/**
 * The demo's purchase orders as data: one for every situation that a person or an agent has to deal with, the oldest
 * first.
 *
 * Says what happened to an order and when. Everything else follows from that: purchase-order-course.ts works out
 * quantities, status, log and receipts, purchase-order-records.ts the rest of the record. Notes are made from the same
 * figures.
 */
import { type DemoSupplier, instruments, pottery, raisedCost, roastery, teaEstates } from "../catalogue.ts";
import { keyOf, store, warehouse } from "../shop.ts";

/** A quantity for each SKU. */
export type Quantities = Readonly<Record<string, number>>;

/** One thing that happened to an order, and how many days ago. */
export type Step = { readonly daysAgo: number } & (
  | { readonly did: "created" | "sent" | "completed" }
  /** Without quantities the supplier confirmed everything. */
  | { readonly did: "confirmed"; readonly quantities?: Quantities }
  /** `shippedDaysAgo`: the supplier has told when it sent the goods. */
  | { readonly did: "started"; readonly shippedDaysAgo?: number }
  /** Good goods that came; without quantities everything that was still to come. */
  | { readonly did: "received"; readonly quantities?: Quantities; readonly rejected?: Quantities }
  | { readonly did: "took back"; readonly quantities: Quantities; readonly reason: string }
  | { readonly did: "fixed the rate"; readonly fxRateOverride: number }
  | { readonly did: "held"; readonly as: "On Hold" | "Disputed" | "Cancelled" }
);

/** A line of an order as notes tell of it. */
export interface NoteLine {
  readonly name: string;
  readonly ordered: number;
  readonly confirmed: number;
  readonly received: number;
  readonly rejected: number;
  readonly pending: number;
  readonly unitCost: number;
  readonly moq: number;
}

/** Facts from which a note is made. */
export interface NoteFacts {
  readonly line: (sku: string) => NoteLine;
  readonly supplierName: string;
  readonly currencyCode: string;
  readonly expectedDate: string;
  readonly day: (daysAgo: number) => string;
}

/** Something without a catalogue variant. */
interface CustomLine {
  readonly productName: string;
  readonly quantity: number;
  readonly unitCost: number;
}

export interface DemoOrder {
  readonly name: string;
  readonly supplier: DemoSupplier;
  readonly locationId: string;
  /** Ordered quantities, by SKU. */
  readonly lines: Quantities;
  readonly customLines?: readonly CustomLine[];
  readonly steps: readonly [Step, ...(readonly Step[])];
  /** When the supplier promised it, if not after its lead time. */
  readonly expectedDaysAgo?: number;
  readonly note?: (facts: NoteFacts) => string;
  /** Status of its latest payment whose day has passed, if it was not paid. */
  readonly unpaid?: "Scheduled" | "Overdue";
  /** SKUs whose received quantity the storefront does not have. */
  readonly unsynced?: readonly string[];
  /** Latest answer of the storefront to a push; without it nothing was tried. */
  readonly syncProblem?: string;
  /** Credit note of the supplier, in the order's currency. Rejected goods need none: they are not owed (C35). */
  readonly credit?: { readonly number: string; readonly amount: number };
}

/** The variant whose stock changes the sandbox refuses, so that a push that fails for good can be seen. */
export const refusedSku = "MIL-PIT-350ML";

export const purchaseOrders: readonly DemoOrder[] = [
  {
    name: "Breakfast tea and Earl Grey",
    supplier: teaEstates,
    locationId: warehouse,
    lines: { "HAR-BRE-100G": 144, "LAN-EAR-GRE-100G": 96, "HAR-BRE-250GT": 48 },
    steps: [
      { did: "created", daysAgo: 118 },
      { did: "sent", daysAgo: 117 },
      { did: "confirmed", daysAgo: 113 },
      { did: "started", daysAgo: 110, shippedDaysAgo: 108 },
      { did: "received", daysAgo: 82 },
      { did: "completed", daysAgo: 78 },
    ],
  },
  {
    name: "Kettles and grinders",
    supplier: instruments,
    locationId: warehouse,
    lines: { "POU-KET-06L": 12, [raisedCost.sku]: 8, "HAN-GRI-BLACK": 8 },
    steps: [
      { did: "created", daysAgo: 96 },
      { did: "sent", daysAgo: 95 },
      { did: "confirmed", daysAgo: 92 },
      { did: "started", daysAgo: 90, shippedDaysAgo: 88 },
      { did: "received", daysAgo: 74 },
      { did: "completed", daysAgo: 73 },
    ],
    note: ({ line, currencyCode }) => {
      const { name, unitCost } = line(raisedCost.sku);
      return `New price: ${name} now costs ${unitCost} ${currencyCode}. The storefront did not take the new cost.`;
    },
  },
  {
    name: "Espresso and Brazil",
    supplier: roastery,
    locationId: warehouse,
    lines: { "DOC-ESP-1KG": 24, "BAL-BRA-250G": 36, "BAL-BRA-1KG": 12 },
    steps: [
      { did: "created", daysAgo: 62 },
      { did: "sent", daysAgo: 61 },
      { did: "confirmed", daysAgo: 60 },
      { did: "started", daysAgo: 60, shippedDaysAgo: 58 },
      { did: "received", daysAgo: 56 },
      { did: "completed", daysAgo: 55 },
    ],
  },
  {
    name: "Mugs for the shop",
    supplier: pottery,
    locationId: store,
    lines: { "TID-MUG-SAND": 48, "TID-MUG-SEA": 48, "TID-MUG-SLATE": 24 },
    steps: [
      { did: "created", daysAgo: 58 },
      { did: "sent", daysAgo: 57 },
      { did: "confirmed", daysAgo: 54 },
      { did: "started", daysAgo: 33, shippedDaysAgo: 25 },
      {
        did: "received",
        daysAgo: 23,
        quantities: { "TID-MUG-SAND": 48, "TID-MUG-SEA": 46, "TID-MUG-SLATE": 24 },
        rejected: { "TID-MUG-SEA": 2 },
      },
    ],
    unpaid: "Overdue",
    credit: { number: "CN-118", amount: 15 },
    note: ({ line, supplierName }) => {
      const { name, confirmed, rejected } = line("TID-MUG-SEA");
      return `${rejected} of ${confirmed} ${name} came chipped and are not paid; ${supplierName} credited the late delivery. Everything is in: to be completed.`;
    },
  },
  {
    name: "Restock of tea",
    supplier: teaEstates,
    locationId: warehouse,
    lines: { "HAR-BRE-100G": 96, "LAN-EAR-GRE-250GT": 48, "JAS-RIG-100G": 96, "MIS-QUA-GRE-100G": 48 },
    steps: [
      { did: "created", daysAgo: 52 },
      { did: "sent", daysAgo: 51 },
      { did: "confirmed", daysAgo: 47 },
      { did: "started", daysAgo: 44, shippedDaysAgo: 40 },
      {
        did: "received",
        daysAgo: 6,
        quantities: { "HAR-BRE-100G": 96, "LAN-EAR-GRE-250GT": 44, "JAS-RIG-100G": 48 },
        rejected: { "LAN-EAR-GRE-250GT": 4 },
      },
    ],
    expectedDaysAgo: -9,
    note: ({ line, expectedDate }) => {
      const dented = line("LAN-EAR-GRE-250GT");
      const short = line("JAS-RIG-100G");
      const missing = line("MIS-QUA-GRE-100G");
      return (
        `${dented.rejected} of ${dented.confirmed} ${dented.name} came dented and were refused. ` +
        `The second half, ${short.pending} ${short.name} and ${missing.pending} ${missing.name}, is expected on ${expectedDate}.`
      );
    },
  },
  {
    name: "Espresso cups",
    supplier: pottery,
    locationId: store,
    lines: { "ESP-CUP-SAND": 48, "ESP-CUP-SEA": 48 },
    steps: [
      { did: "created", daysAgo: 48 },
      { did: "sent", daysAgo: 47 },
      { did: "confirmed", daysAgo: 44 },
      { did: "started", daysAgo: 24, shippedDaysAgo: 13 },
      { did: "received", daysAgo: 11, quantities: { "ESP-CUP-SAND": 48 }, rejected: { "ESP-CUP-SEA": 48 } },
      { did: "held", as: "Disputed", daysAgo: 8 },
    ],
    note: ({ line, supplierName }) => {
      const { name, rejected } = line("ESP-CUP-SEA");
      return `All ${rejected} ${name} came in the wrong glaze and were refused; ${supplierName} does not agree.`;
    },
  },
  {
    name: "Rooibos tins",
    supplier: teaEstates,
    locationId: warehouse,
    lines: { "ROO-SUN-250GT": 96 },
    steps: [
      { did: "created", daysAgo: 45 },
      { did: "sent", daysAgo: 44 },
      { did: "held", as: "Cancelled", daysAgo: 40 },
    ],
    note: ({ line }) => `Cancelled: we do not sell ${line("ROO-SUN-250GT").name} any more.`,
  },
  {
    name: "Milk pitchers and thermometers",
    supplier: instruments,
    locationId: warehouse,
    lines: { [refusedSku]: 24, "GOO-THE-CLIPO": 20 },
    steps: [
      { did: "created", daysAgo: 36 },
      { did: "sent", daysAgo: 35 },
      { did: "confirmed", daysAgo: 32 },
      { did: "started", daysAgo: 30, shippedDaysAgo: 28 },
      { did: "received", daysAgo: 12 },
    ],
    unsynced: [refusedSku],
    syncProblem: "the sandbox is told to refuse changeOnHand",
    note: ({ line }) => {
      const { name, received } = line(refusedSku);
      return `The storefront refuses to change the stock of ${name}: the ${received} that came are not in it.`;
    },
  },
  {
    name: "Steel grinders and scales",
    supplier: instruments,
    locationId: warehouse,
    lines: { "HAN-GRI-STEEL": 12, "POC-SCA-2KG": 20 },
    steps: [
      { did: "created", daysAgo: 31 },
      { did: "sent", daysAgo: 30 },
      { did: "confirmed", daysAgo: 27 },
      { did: "started", daysAgo: 25 },
    ],
    note: ({ supplierName, expectedDate }) =>
      `${supplierName} promised it for ${expectedDate} and has not said that it was shipped.`,
  },
  {
    name: "Green tea",
    supplier: teaEstates,
    locationId: warehouse,
    lines: { "MIS-QUA-GRE-100G": 96, "MIS-QUA-GRE-250GT": 48 },
    steps: [
      { did: "created", daysAgo: 30 },
      { did: "sent", daysAgo: 29 },
      { did: "confirmed", daysAgo: 26 },
      { did: "fixed the rate", daysAgo: 25, fxRateOverride: 0.89 },
      { did: "started", daysAgo: 22, shippedDaysAgo: 20 },
    ],
    note: ({ currencyCode }) => `Paid from the ${currencyCode} that we bought beforehand, so it has a rate of its own.`,
  },
  {
    name: "Paper filters",
    supplier: instruments,
    locationId: store,
    lines: { "PAP-FIL-SIZE2": 300 },
    steps: [
      { did: "created", daysAgo: 29 },
      { did: "sent", daysAgo: 28 },
      { did: "confirmed", daysAgo: 25 },
      { did: "started", daysAgo: 23, shippedDaysAgo: 21 },
      { did: "received", daysAgo: 5, quantities: { "PAP-FIL-SIZE2": 200 } },
    ],
    expectedDaysAgo: -5,
    unsynced: ["PAP-FIL-SIZE2"],
    note: ({ line, expectedDate }) => {
      const { name, received, confirmed, pending } = line("PAP-FIL-SIZE2");
      return (
        `${received} of ${confirmed} ${name} came while stock updates were switched off: not pushed to the storefront yet. ` +
        `The other ${pending} are expected on ${expectedDate}.`
      );
    },
  },
  {
    name: "Decaf and Lighthouse",
    supplier: roastery,
    locationId: warehouse,
    lines: { "SLA-WAT-DEC-250G": 36, "LIG-FIL-1KG": 24 },
    steps: [
      { did: "created", daysAgo: 26 },
      { did: "sent", daysAgo: 25 },
      { did: "confirmed", daysAgo: 24 },
      { did: "started", daysAgo: 24, shippedDaysAgo: 22 },
      { did: "received", daysAgo: 20 },
      {
        did: "took back",
        daysAgo: 20,
        quantities: { "SLA-WAT-DEC-250G": 12 },
        reason: "One case was counted twice",
      },
      { did: "received", daysAgo: 18 },
      { did: "completed", daysAgo: 17 },
    ],
    unpaid: "Scheduled",
  },
  {
    name: "Sugar bowls and drippers",
    supplier: pottery,
    locationId: warehouse,
    lines: { "SUG-BOW-SAND": 24, "DRI-SIZE2": 24, "DRI-SIZE4": 12 },
    steps: [
      { did: "created", daysAgo: 24 },
      { did: "sent", daysAgo: 23 },
      { did: "confirmed", daysAgo: 20 },
      { did: "started", daysAgo: 10, shippedDaysAgo: 2 },
    ],
    note: ({ line }) => `${line("SUG-BOW-SAND").name} was deleted in the storefront after the order was confirmed.`,
  },
  {
    name: "Large milk pitchers",
    supplier: instruments,
    locationId: store,
    lines: { "MIL-PIT-600ML": 24 },
    steps: [
      { did: "created", daysAgo: 20 },
      { did: "sent", daysAgo: 19 },
      { did: "held", as: "On Hold", daysAgo: 15 },
    ],
    note: ({ supplierName }) => `On hold until the new price list of ${supplierName} is here.`,
  },
  {
    name: "Decaf and Colombia",
    supplier: roastery,
    locationId: warehouse,
    lines: { "SLA-WAT-DEC-1KG": 12, "NOR-PIE-COL-250G": 36 },
    steps: [
      { did: "created", daysAgo: 14 },
      { did: "sent", daysAgo: 13 },
      { did: "confirmed", daysAgo: 12 },
      { did: "started", daysAgo: 12, shippedDaysAgo: 10 },
      { did: "received", daysAgo: 8 },
    ],
    unsynced: ["SLA-WAT-DEC-1KG", "NOR-PIE-COL-250G"],
    syncProblem: "the storefront did not answer",
    note: ({ day }) => `Counted in on ${day(8)}; the storefront did not answer that day and was not told again.`,
  },
  {
    name: "Green tea and breakfast tins",
    supplier: teaEstates,
    locationId: warehouse,
    lines: { "MIS-QUA-GRE-250GT": 48, "HAR-BRE-250GT": 48 },
    steps: [
      { did: "created", daysAgo: 13 },
      { did: "sent", daysAgo: 12 },
      { did: "confirmed", daysAgo: 8, quantities: { "MIS-QUA-GRE-250GT": 24, "HAR-BRE-250GT": 48 } },
    ],
    note: ({ line, supplierName }) => {
      const { name, confirmed, ordered } = line("MIS-QUA-GRE-250GT");
      return `${supplierName} confirmed ${confirmed} of ${ordered} ${name}; there are no more this season.`;
    },
  },
  {
    name: "Espresso and Colombia",
    supplier: roastery,
    locationId: store,
    lines: { "DOC-ESP-250G": 48, "NOR-PIE-COL-1KG": 12 },
    steps: [
      { did: "created", daysAgo: 12 },
      { did: "sent", daysAgo: 11 },
      { did: "confirmed", daysAgo: 10 },
      { did: "started", daysAgo: 9, shippedDaysAgo: 7 },
      { did: "received", daysAgo: 5, quantities: { "DOC-ESP-250G": 60 } },
    ],
    expectedDaysAgo: -4,
    note: ({ line, expectedDate }) => {
      const { name, received, confirmed } = line("DOC-ESP-250G");
      const rest = line("NOR-PIE-COL-1KG");
      return (
        `${received} ${name} came where ${confirmed} were confirmed, ${received - confirmed} too many; we keep them. ` +
        `${rest.pending} ${rest.name} follow on ${expectedDate}.`
      );
    },
  },
  {
    name: "Mugs with our logo",
    supplier: pottery,
    locationId: store,
    lines: { "TID-MUG-SAND": 48, "TID-MUG-SLATE": 24 },
    customLines: [{ productName: "Engraving of our logo", quantity: 48 + 24, unitCost: 1.5 }],
    steps: [
      { did: "created", daysAgo: 10 },
      { did: "sent", daysAgo: 9 },
      { did: "confirmed", daysAgo: 5 },
    ],
    unpaid: "Scheduled",
    note: ({ supplierName }) => `${supplierName} starts when the deposit is paid.`,
  },
  {
    name: "Scales and thermometers",
    supplier: instruments,
    locationId: store,
    lines: { "POC-SCA-2KG": 20, "GOO-THE-CLIPO": 20 },
    steps: [
      { did: "created", daysAgo: 9 },
      { did: "sent", daysAgo: 8 },
      { did: "confirmed", daysAgo: 4, quantities: { "POC-SCA-2KG": 20 } },
    ],
    note: ({ line, supplierName }) => {
      const { name, confirmed } = line("POC-SCA-2KG");
      return `${supplierName} confirmed ${confirmed} ${name} and has not answered for ${line("GOO-THE-CLIPO").name}.`;
    },
  },
  {
    name: "Rooibos and jasmine",
    supplier: teaEstates,
    locationId: warehouse,
    lines: { "ROO-SUN-100G": 96, "JAS-RIG-100G": 48 },
    steps: [
      { did: "created", daysAgo: 8 },
      { did: "sent", daysAgo: 7 },
    ],
    note: ({ supplierName, day }) => `Sent on ${day(7)}; ${supplierName} has not answered.`,
  },
  {
    name: "Ethiopia and Brazil",
    supplier: roastery,
    locationId: warehouse,
    lines: { "SPR-TID-ETH-250G": 48, "BAL-BRA-1KG": 18 },
    steps: [
      { did: "created", daysAgo: 5 },
      { did: "sent", daysAgo: 4 },
      { did: "confirmed", daysAgo: 3 },
      { did: "started", daysAgo: 2, shippedDaysAgo: 1 },
    ],
    expectedDaysAgo: -3,
  },
  {
    name: "Trial of jasmine tins",
    supplier: teaEstates,
    locationId: store,
    lines: { "JAS-RIG-250GT": 12 },
    steps: [{ did: "created", daysAgo: 2 }],
    note: ({ line, supplierName }) => {
      const { name, ordered, moq } = line("JAS-RIG-250GT");
      return `A trial of ${ordered} ${name}. Ask ${supplierName} first: its minimum is ${moq}.`;
    },
  },
  {
    name: "Coffee for the shop",
    supplier: roastery,
    locationId: store,
    lines: { "DOC-ESP-1KG": 12, "LIG-FIL-1KG": 12, "BAL-BRA-250G": 24 },
    steps: [
      { did: "created", daysAgo: 1 },
      { did: "sent", daysAgo: 0 },
    ],
  },
  {
    name: "Next roast",
    supplier: roastery,
    locationId: warehouse,
    lines: { "LIG-FIL-250G": 48, "DOC-ESP-250G": 36 },
    steps: [{ did: "created", daysAgo: 0 }],
    note: ({ line }) => `${line("LIG-FIL-250G").name} is running out. To be sent once the rest is decided.`,
  },
];

/** Returns the days since this happened to the order for the last time; undefined when it did not. */
export const daysAgoOf = ({ steps }: DemoOrder, did: Step["did"]): number | undefined =>
  steps.findLast((step) => step.did === did)?.daysAgo;

/** The id of the order of this name. */
export const purchaseOrderIdOf = (name: string): string =>
  `po_demo_${keyOf(purchaseOrders.findIndex((order) => order.name === name))}`;
