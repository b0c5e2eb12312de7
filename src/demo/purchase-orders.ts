/**
 * The demo's purchase orders as data: one for every status. purchase-order-records.ts makes records of them.
 */
import { store, warehouse } from "./shop.ts";

type Quantities = readonly [ordered: number, confirmed: number, received: number, rejected: number];

export interface DemoOrder {
  readonly name: string;
  readonly supplierId: string;
  readonly locationId: string;
  /** Its statuses in order, each with how many days ago it was reached; the first is when the order was made. */
  readonly path: readonly (readonly [status: string, daysAgo: number])[];
  /** Quantities of each line. */
  readonly lines: readonly Quantities[];
  /** Share of what is owed that has been paid. */
  readonly paid: number;
  readonly note?: string;
}

export const purchaseOrders: readonly DemoOrder[] = [
  {
    name: "Winter espresso",
    supplierId: "sup_roastery",
    locationId: warehouse,
    paid: 1,
    path: [
      ["Draft", 96],
      ["Sent", 95],
      ["Confirmed", 94],
      ["In Progress", 94],
      ["Received", 90],
      ["Completed", 89],
    ],
    lines: [
      [48, 48, 48, 0],
      [36, 36, 36, 0],
      [24, 24, 24, 0],
    ],
  },
  {
    name: "Tea, first container",
    supplierId: "sup_leaf",
    locationId: warehouse,
    paid: 1,
    path: [
      ["Draft", 110],
      ["Sent", 108],
      ["Confirmed", 104],
      ["In Progress", 100],
      ["Received", 70],
      ["Completed", 66],
    ],
    lines: [
      [144, 144, 140, 4],
      [96, 96, 96, 0],
      [96, 96, 96, 0],
      [48, 48, 48, 0],
    ],
  },
  {
    name: "Kettles and grinders",
    supplierId: "sup_gear",
    locationId: warehouse,
    paid: 1,
    path: [
      ["Draft", 82],
      ["Sent", 80],
      ["Confirmed", 77],
      ["In Progress", 75],
      ["Received", 54],
      ["Completed", 53],
    ],
    lines: [
      [20, 20, 20, 0],
      [12, 12, 12, 0],
      [16, 16, 16, 0],
      [8, 8, 8, 0],
    ],
  },
  {
    name: "Mugs for the shop",
    supplierId: "sup_clay",
    locationId: store,
    paid: 0.5,
    path: [
      ["Draft", 60],
      ["Sent", 58],
      ["Confirmed", 55],
      ["In Progress", 52],
      ["Received", 21],
    ],
    lines: [
      [48, 48, 48, 0],
      [48, 48, 46, 2],
      [24, 24, 24, 0],
    ],
    note: "Two of the sea mugs came chipped.",
  },
  {
    name: "Spring tea",
    supplierId: "sup_leaf",
    locationId: warehouse,
    paid: 0.3,
    path: [
      ["Draft", 48],
      ["Sent", 46],
      ["Confirmed", 41],
      ["In Progress", 38],
      ["Partially Received", 4],
    ],
    lines: [
      [96, 96, 96, 0],
      [48, 48, 24, 0],
      [72, 60, 0, 0],
      [48, 48, 0, 0],
    ],
  },
  {
    name: "Filter coffee",
    supplierId: "sup_roastery",
    locationId: warehouse,
    paid: 0,
    path: [
      ["Draft", 9],
      ["Sent", 8],
      ["Confirmed", 7],
      ["In Progress", 6],
    ],
    lines: [
      [60, 60, 0, 0],
      [36, 36, 0, 0],
      [24, 24, 0, 0],
      [24, 24, 0, 0],
    ],
  },
  {
    name: "Grinders, autumn",
    supplierId: "sup_gear",
    locationId: warehouse,
    paid: 0.2,
    path: [
      ["Draft", 16],
      ["Sent", 15],
      ["Confirmed", 12],
      ["In Progress", 11],
    ],
    lines: [
      [12, 12, 0, 0],
      [12, 8, 0, 0],
      [20, 20, 0, 0],
    ],
  },
  {
    name: "Teapots",
    supplierId: "sup_clay",
    locationId: store,
    paid: 0,
    path: [
      ["Draft", 12],
      ["Sent", 10],
      ["Confirmed", 7],
    ],
    lines: [
      [12, 12, 0, 0],
      [12, 12, 0, 0],
    ],
  },
  {
    name: "Earl Grey refill",
    supplierId: "sup_leaf",
    locationId: warehouse,
    paid: 0,
    path: [
      ["Draft", 8],
      ["Sent", 7],
      ["Partially Confirmed", 3],
    ],
    lines: [
      [48, 48, 0, 0],
      [48, 0, 0, 0],
      [24, 0, 0, 0],
    ],
  },
  {
    name: "Weekly roast",
    supplierId: "sup_roastery",
    locationId: store,
    paid: 0,
    path: [
      ["Draft", 2],
      ["Sent", 1],
    ],
    lines: [
      [24, 0, 0, 0],
      [12, 0, 0, 0],
      [12, 0, 0, 0],
    ],
  },
  {
    name: "Pitchers",
    supplierId: "sup_gear",
    locationId: store,
    paid: 0,
    path: [
      ["Draft", 30],
      ["Sent", 29],
      ["On Hold", 25],
    ],
    lines: [
      [12, 0, 0, 0],
      [8, 0, 0, 0],
    ],
    note: "Waiting for the new price list.",
  },
  {
    name: "Holiday tins",
    supplierId: "sup_leaf",
    locationId: warehouse,
    paid: 0,
    path: [
      ["Draft", 75],
      ["Sent", 74],
      ["Cancelled", 70],
    ],
    lines: [
      [120, 0, 0, 0],
      [120, 0, 0, 0],
    ],
    note: "Cancelled: the tins could not come before the holidays.",
  },
  {
    name: "Espresso cups",
    supplierId: "sup_clay",
    locationId: store,
    paid: 0,
    path: [
      ["Draft", 44],
      ["Sent", 43],
      ["Confirmed", 40],
      ["In Progress", 38],
      ["Disputed", 6],
    ],
    lines: [
      [48, 48, 0, 0],
      [48, 48, 0, 0],
    ],
    note: "The kiln batch had the wrong glaze.",
  },
  {
    name: "Next roast",
    supplierId: "sup_roastery",
    locationId: warehouse,
    paid: 0,
    path: [["Draft", 0]],
    lines: [
      [36, 0, 0, 0],
      [36, 0, 0, 0],
      [12, 0, 0, 0],
      [12, 0, 0, 0],
    ],
  },
];
