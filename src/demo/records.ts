/**
 * The demo shop: a coffee and tea shop of our own invention, made for the first start on an empty data directory.
 *
 * Pure: the same clock gives the same shop. Everything comes in by import, so it is also an example of the records of contract §8.
 */
import { demoStockWork } from "./stock-work.ts";

export const demoShopId = "demo";

export const demoShop = {
  name: "Tideline Coffee & Tea",
  currencyCode: "EUR",
  settings: { fxRates: { USD: 0.92 }, onOrderTag: "on-order", timezone: "Europe/Amsterdam" },
} as const;

const dayMs = 86_400_000;

/** How far the sales go back: a year and a week, so that every season is there. */
export const salesDays = 371;

/** Numbers from 0 to below 1, the same ones every time. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const warehouse = "loc_warehouse";

const store = "loc_store";

const locations = [
  {
    type: "location",
    locationId: warehouse,
    name: "Warehouse Keilehaven",
    address: {
      companyName: "Tideline Coffee & Tea",
      address1: "Keilekade 12",
      zip: "3029 RA",
      city: "Rotterdam",
      countryCode: "NL",
    },
  },
  {
    type: "location",
    locationId: store,
    name: "Shop Voorhaven",
    address: {
      companyName: "Tideline Coffee & Tea",
      address1: "Voorhaven 4",
      zip: "3024 RC",
      city: "Rotterdam",
      countryCode: "NL",
    },
  },
] as const;

interface DemoSupplier {
  readonly supplierId: string;
  readonly name: string;
  readonly email: string;
  readonly currencyCode: "EUR" | "USD";
  readonly leadTimeDays: number;
  readonly countryCode: string;
}

const suppliers: readonly DemoSupplier[] = [
  {
    supplierId: "sup_roastery",
    name: "Maasbrand Roastery",
    email: "orders@maasbrand.example",
    currencyCode: "EUR",
    leadTimeDays: 5,
    countryCode: "NL",
  },
  {
    supplierId: "sup_leaf",
    name: "High Garden Tea Estates",
    email: "export@highgarden.example",
    currencyCode: "USD",
    leadTimeDays: 35,
    countryCode: "LK",
  },
  {
    supplierId: "sup_gear",
    name: "Brewright Instruments",
    email: "trade@brewright.example",
    currencyCode: "USD",
    leadTimeDays: 21,
    countryCode: "US",
  },
  {
    supplierId: "sup_clay",
    name: "Atelier Vaarzon Ceramics",
    email: "atelier@vaarzon.example",
    currencyCode: "EUR",
    leadTimeDays: 28,
    countryCode: "NL",
  },
];

/** Product, sizes or colours, price of the first one. */
type Family = readonly [name: string, options: readonly string[], price: number];

const families: Readonly<Record<string, readonly Family[]>> = {
  sup_roastery: [
    ["Dockside Espresso", ["250 g", "1 kg"], 9.5],
    ["Lighthouse Filter", ["250 g", "1 kg"], 10.5],
    ["Slack Water Decaf", ["250 g", "1 kg"], 10],
    ["Spring Tide Ethiopia", ["250 g", "1 kg"], 12.5],
    ["Ballast Brazil", ["250 g", "1 kg"], 9],
    ["North Pier Colombia", ["250 g", "1 kg"], 11.5],
  ],
  sup_leaf: [
    ["Harbour Breakfast", ["100 g", "250 g tin"], 7.5],
    ["Misty Quay Green", ["100 g", "250 g tin"], 8.5],
    ["Lantern Earl Grey", ["100 g", "250 g tin"], 8],
    ["Jasmine Rigging", ["100 g", "250 g tin"], 9.5],
    ["Rooibos Sunset", ["100 g", "250 g tin"], 7],
  ],
  sup_gear: [
    ["Pour-over Kettle", ["0.6 l", "0.9 l"], 54],
    ["Hand Grinder", ["Steel", "Black"], 89],
    ["Paper Filters", ["Size 2, 100 pieces", "Size 4, 100 pieces"], 4.95],
    ["Pocket Scale", ["2 kg"], 34.5],
    ["Milk Pitcher", ["350 ml", "600 ml"], 22],
    ["Gooseneck Thermometer", ["Clip-on"], 16.5],
  ],
  sup_clay: [
    ["Tideline Mug", ["Sand", "Sea", "Slate"], 18],
    ["Espresso Cup", ["Sand", "Sea"], 12],
    ["Stoneware Teapot", ["0.8 l", "1.2 l"], 58],
    ["Dripper", ["Size 2", "Size 4"], 29],
  ],
};

interface DemoVariant {
  readonly variantId: string;
  readonly productId: string;
  readonly productName: string;
  readonly variantName: string;
  readonly sku: string;
  readonly barcode: string;
  /** In the shop's currency. */
  readonly unitCost: number;
  readonly price: number;
  readonly status: "active" | "inactive" | "unsyncable";
  readonly supplier: DemoSupplier;
  /** In the supplier's currency. */
  readonly supplierCost: number;
  readonly packSize: number;
}

const cents = (value: number): number => Math.round(value * 100) / 100;

/** `Dockside Espresso`, `250 g` → `DOC-ESP-250G`. */
const skuOf = (product: string, option: string): string =>
  [...product.split(" ").map((word) => word.slice(0, 3)), option.replaceAll(/[^\w]/g, "").slice(0, 5)]
    .join("-")
    .toUpperCase();

/** One that is not sold any more and one that the storefront keeps no stock of, so that the inventory guard has something to say. */
const oddVariants: Readonly<Record<string, DemoVariant["status"]>> = {
  "ROO-SUN-250GT": "inactive",
  "PAP-FIL-SIZE4": "unsyncable",
};

function catalogue(): readonly DemoVariant[] {
  const variants: DemoVariant[] = [];
  let product = 0;
  for (const supplier of suppliers)
    for (const [productName, options, firstPrice] of families[supplier.supplierId] ?? []) {
      product += 1;
      for (const [index, variantName] of options.entries()) {
        const sku = skuOf(productName, variantName);
        const price = cents(firstPrice * (1 + index * (supplier.supplierId === "sup_roastery" ? 2.6 : 0.4)));
        const supplierCost = cents(price * 0.42 * (supplier.currencyCode === "USD" ? 1.09 : 1));
        variants.push({
          variantId: `var_${String(product).padStart(2, "0")}${index + 1}`,
          productId: `prod_${String(product).padStart(2, "0")}`,
          productName,
          variantName,
          sku,
          barcode: `87190010${String(product).padStart(2, "0")}${index + 1}00`,
          unitCost: cents(supplierCost * (supplier.currencyCode === "USD" ? demoShop.settings.fxRates.USD : 1)),
          price,
          status: oddVariants[sku] ?? "active",
          supplier,
          supplierCost,
          packSize: supplier.supplierId === "sup_clay" ? 6 : supplier.supplierId === "sup_gear" ? 4 : 12,
        });
      }
    }
  return variants;
}

type Quantities = readonly [ordered: number, confirmed: number, received: number, rejected: number];

interface DemoOrder {
  readonly name: string;
  readonly supplierId: string;
  readonly locationId: string;
  /** Status by status, each with the days ago it was reached; the first is when the order was made. */
  readonly path: readonly (readonly [status: string, daysAgo: number])[];
  /** What each of the supplier's first lines has come to. */
  readonly lines: readonly Quantities[];
  /** Share of the total that has been paid. */
  readonly paid: number;
  readonly note?: string;
}

const orders: readonly DemoOrder[] = [
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

/** When a status was reached, as header fields. */
const reachedFields: Readonly<Record<string, string>> = {
  Sent: "sentAt",
  Confirmed: "confirmedAt",
  Received: "receivedAt",
  Completed: "completedAt",
  Cancelled: "cancelledAt",
};

const owner = { type: "user", id: "usr_owner", name: "Noor (owner)" } as const;

function orderRecord(order: DemoOrder, number: number, variants: readonly DemoVariant[], nowMs: number): object {
  const key = String(number).padStart(2, "0");
  // Half past nine (UTC) of the day before that many days ago: always in the past.
  const at = (daysAgo: number, minutes = 0): string =>
    new Date(Math.floor(nowMs / dayMs) * dayMs - daysAgo * dayMs - (24 * 60 - 570 - minutes) * 60_000).toISOString();
  const day = (daysAgo: number): string => at(daysAgo).slice(0, "YYYY-MM-DD".length);
  const supplier = suppliers.find(({ supplierId }) => supplierId === order.supplierId);
  const currencyCode = supplier?.currencyCode ?? demoShop.currencyCode;
  const leadTimeDays = supplier?.leadTimeDays ?? 0;
  const madeDaysAgo = order.path[0]?.[1] ?? 0;
  const expectedDaysAgo = madeDaysAgo - leadTimeDays;
  const last = order.path.at(-1);
  const status = last?.[0] ?? "Draft";
  const articles = variants.filter((variant) => variant.supplier === supplier);
  const lineItems = order.lines.map(([ordered, confirmed, received, rejected], index) => {
    const variant = articles[(index + number) % articles.length];
    return {
      poLineItemId: `pol_demo_${key}_${index + 1}`,
      variantId: variant?.variantId,
      quantityOrdered: ordered,
      quantityConfirmed: confirmed,
      quantityReceived: received,
      quantityRejected: rejected,
      unitCost: variant?.supplierCost ?? 0,
      supplierSku:
        variant === undefined ? null : `${variant.supplier.supplierId.slice(4, 6).toUpperCase()}-${variant.sku}`,
      packSize: variant?.packSize ?? null,
      leadTimeDays,
    };
  });
  const total = cents(lineItems.reduce((sum, line) => sum + line.quantityOrdered * line.unitCost, 0));
  const log = order.path.map(([reached, daysAgo], index) => ({
    logId: `log_demo_${key}_${index + 1}`,
    occurredAt: at(daysAgo, index),
    action: index === 0 ? "create" : "status",
    message: index === 0 ? "Created." : `Moved from ${order.path[index - 1]?.[0]} to ${reached}.`,
    actor: owner,
    changes:
      index === 0 ? [] : [{ field: "status", poLineItemId: null, before: order.path[index - 1]?.[0], after: reached }],
  }));
  const received = lineItems.filter((line) => line.quantityReceived > 0);
  const receivedDaysAgo = order.path.find(
    ([reached]) => reached === "Received" || reached === "Partially Received",
  )?.[1];
  const sent = order.path.find(([reached]) => reached === "Sent");
  const shipped = order.path.find(([reached]) => reached === "In Progress");
  const deposit = cents(total * Math.min(order.paid, 0.3));
  const payments =
    order.paid === 0
      ? []
      : [
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
            status: order.paid > 0.3 ? "Paid" : "Scheduled",
            amount: cents(order.paid > 0.3 ? total * order.paid - deposit : total - deposit),
            currencyCode,
            dueDate: day(expectedDaysAgo - 14),
            ...(order.paid > 0.3 ? { paidAt: at(Math.max(0, expectedDaysAgo - 10)) } : {}),
            paymentMethod: "Bank transfer",
            createdAt: at(madeDaysAgo),
            createdBy: owner.name,
          },
        ];
  const documents =
    sent === undefined
      ? []
      : [
          {
            documentId: `doc_demo_${key}_1`,
            fileName: `order-${key}.pdf`,
            contentType: "application/pdf",
            fileSizeBytes: 48_000 + number * 731,
            documentType: "purchase-order",
            uploadedAt: at(sent[1], 5),
            uploadedBy: owner.name,
          },
          ...(received.length === 0
            ? []
            : [
                {
                  documentId: `doc_demo_${key}_2`,
                  fileName: `invoice-${key}.pdf`,
                  contentType: "application/pdf",
                  fileSizeBytes: 61_000 + number * 517,
                  documentType: "invoice",
                  uploadedAt: at(receivedDaysAgo ?? 0, 30),
                  uploadedBy: owner.name,
                },
              ]),
        ];
  const arrived =
    received.length === 0
      ? "In Transit"
      : lineItems.every((line) => line.quantityReceived + line.quantityRejected >= line.quantityConfirmed)
        ? "Received"
        : "Partially Received";
  const shipments =
    shipped === undefined
      ? []
      : [
          {
            shipmentId: `shp_demo_${key}`,
            shipmentNumber: `SH-${key}`,
            status: arrived,
            carrier: currencyCode === "USD" ? "Blue Anchor Lines" : "Polder Express",
            shippingMethod: currencyCode === "USD" ? "Sea freight" : "Road",
            trackingNumber: `BA${70_000 + number * 137}`,
            shippedDate: day(Math.max(0, shipped[1] - 1)),
            expectedArrivalDate: day(expectedDaysAgo),
            receivedDate: arrived === "Received" ? day(receivedDaysAgo ?? 0) : null,
            shippingCost: cents(total * 0.04),
            currencyCode,
            lineAllocations: lineItems.map((line) => ({
              poLineItemId: line.poLineItemId,
              variantId: line.variantId,
              quantityAllocated: line.quantityConfirmed,
              quantityReceived: line.quantityReceived,
              quantityRejected: line.quantityRejected,
            })),
          },
        ];
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
      sent === undefined ? null : `${(supplier?.name ?? "").slice(0, 3).toUpperCase()}-${4_200 + number * 7}`,
    paymentTerms: order.paid === 0 ? "30 days" : "30 % deposit, balance 14 days after delivery",
    incoterm: currencyCode === "USD" ? "FOB" : "DAP",
    shippingCost: cents(total * 0.04),
    taxAmount: currencyCode === "EUR" ? cents(total * 0.21) : null,
    tags: currencyCode === "USD" ? ["import"] : [],
    note: order.note ?? null,
    billingAddress: locations[0].address,
    shippingAddress: locations.find(({ locationId }) => locationId === order.locationId)?.address,
    createdBy: owner.name,
    createdAt: at(madeDaysAgo),
    updatedAt: at(last?.[1] ?? 0, order.path.length - 1),
    ...Object.fromEntries(
      order.path.flatMap(([reached, daysAgo], index) => {
        const field = reachedFields[reached];
        return field === undefined ? [] : [[field, at(daysAgo, index)] as const];
      }),
    ),
    version: order.path.length,
    lineItems,
    payments,
    documents,
    shipments,
    credits:
      number === 4
        ? [{ creditId: "cred_demo_1", creditNumber: "CN-118", amountApplied: 20, currencyCode, appliedAt: at(18) }]
        : [],
    log,
    receipts:
      received.length === 0
        ? []
        : [
            {
              receiptId: `rcpt_demo_${key}`,
              receivedAt: at(receivedDaysAgo ?? 0, 20),
              recordedBy: owner.name,
              source: "receive",
              lines: received.map((line) => ({
                poLineItemId: line.poLineItemId,
                variantId: line.variantId,
                quantityDelta: line.quantityReceived,
                quantityReceivedAfter: line.quantityReceived,
              })),
            },
          ],
  };
}

/** How fast a supplier's articles sell beside others of their price: coffee every day, equipment and ceramics now and then. */
const paces: Readonly<Record<string, number>> = { sup_roastery: 1.6, sup_leaf: 1.1, sup_gear: 0.5, sup_clay: 0.35 };

/** Tea has a season: half as much again in the middle of January, half as little in July. */
function pace({ supplier }: DemoVariant, date: Date): number {
  const usual = paces[supplier.supplierId] ?? 1;
  if (supplier.supplierId !== "sup_leaf") return usual;
  const yearStartMs = Date.UTC(date.getUTCFullYear(), 0, 1);
  return usual * (1 + 0.5 * Math.cos((2 * Math.PI * ((date.getTime() - yearStartMs) / dayMs - 15)) / 365.25));
}

/** What was sold, day by day: more at weekends, more of the cheap, tea by its season, a quarter more by the end of the year. */
function* sales(variants: readonly DemoVariant[], nowMs: number): Generator<object> {
  const draw = draws(20_241);
  for (let daysAgo = salesDays; daysAgo >= 1; daysAgo -= 1) {
    const date = new Date(nowMs - daysAgo * dayMs);
    const weekend = date.getUTCDay() === 6 || date.getUTCDay() === 0 ? 1.6 : 1;
    const growth = 1 + (salesDays - daysAgo) / (4 * salesDays);
    for (const variant of variants) {
      if (variant.status === "inactive") continue;
      const mean = (12 / (6 + variant.price)) * pace(variant, date) * weekend * growth;
      // On average exactly `mean`.
      const quantity = Math.floor(mean * 2 * draw() + draw());
      if (quantity === 0) continue;
      const locationId = draw() < 0.65 ? store : warehouse;
      yield { type: "sale", variantId: variant.variantId, locationId, date: date.toISOString().slice(0, 10), quantity };
    }
  }
}

const article = ["productName", "variantName", "sku"];

const forecastViews = [
  {
    viewId: "fv_demo_order",
    viewName: "To order",
    isStarred: true,
    mode: "stock",
    columns: [
      ...article,
      "supplierName",
      "onHand",
      "incoming",
      "nextIncomingDate",
      "dailyDemand",
      "daysOfCover",
      "stockoutDate",
      "reorderPoint",
      "suggestedOrderQuantity",
      "unitCost",
      "suggestedOrderValue",
    ],
    filters: { onlyReorder: true },
  },
  {
    viewId: "fv_demo_months",
    viewName: "The next six months",
    mode: "supply",
    columns: [...article, "onHand", "incoming", "dailyDemand"],
    horizonPeriods: 6,
    periodUnit: "month",
  },
  {
    viewId: "fv_demo_store",
    viewName: "On the shelves",
    mode: "stock",
    columns: [...article, "locationName", "onHand", "sold30d", "sold90d", "lastSoldDate", "stockValue"],
    filters: { locationIds: [store] },
  },
  {
    viewId: "fv_demo_dashboard",
    viewName: "Dashboard: running out",
    isAutogenerated: true,
    mode: "stock",
    columns: ["productName", "variantName", "stockoutDate", "needsReorder"],
    filters: { onlyReorder: true },
  },
];

/** The records of the demo shop as of this instant, in an order that imports. */
export function* demoRecords(nowMs: number): Generator<object> {
  const variants = catalogue();
  const draw = draws(7);
  yield* locations;
  for (const { countryCode, ...supplier } of suppliers)
    yield { type: "supplier", ...supplier, address: { companyName: supplier.name, countryCode } };
  for (const { supplier: _supplier, supplierCost: _supplierCost, packSize: _packSize, ...variant } of variants)
    yield { type: "variant", ...variant };
  for (const { variantId, sku, productName, supplier, supplierCost, packSize } of variants)
    yield {
      type: "supplierVariant",
      supplierId: supplier.supplierId,
      variantId,
      unitCost: supplierCost,
      unitCostCurrencyCode: supplier.currencyCode,
      supplierSku: `${supplier.supplierId.slice(4, 6).toUpperCase()}-${sku}`,
      supplierProductName: productName,
      moq: packSize,
      packSize,
      leadTimeDays: supplier.leadTimeDays,
    };
  for (const { variantId, price } of variants)
    for (const [locationId, share] of [
      [warehouse, 1],
      [store, 0.35],
    ] as const)
      yield {
        type: "inventoryLevel",
        variantId,
        locationId,
        onHand: Math.floor((30 + 900 / (8 + price)) * share * draw()),
      };
  yield* sales(variants, nowMs);
  yield {
    type: "supplierCredit",
    creditId: "cred_demo_1",
    creditNumber: "CN-118",
    supplierId: "sup_clay",
    creditDate: new Date(nowMs - 19 * dayMs).toISOString().slice(0, 10),
    amount: 60,
    balance: 40,
    currencyCode: "EUR",
    reason: "Chipped mugs",
  };
  for (const [index, order] of orders.entries()) yield orderRecord(order, index + 1, variants, nowMs);
  yield* demoStockWork(variants, nowMs);
  for (const view of forecastViews) yield { type: "forecastView", ...view };
}
