/**
 * The orders of the demo shop: one of every situation that has to be handled, and every text agrees with the facts of its order.
 *
 * The orders are imported and exported again, so the figures are those that the service works out.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { attentionReasons } from "../../src/core/order/advice/attention.ts";
import { fxRateFrom } from "../../src/core/money/money.ts";
import { demoRecords } from "../../src/demo/records.ts";
import { demoShop } from "../../src/demo/shop.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { withShops } from "../support/admin.ts";
import { connectAgent } from "../support/mcp.ts";
import { withProgram } from "../support/process.ts";

const nowMs = Date.UTC(2026, 5, 15, 7, 30);
const today = "2026-06-15";

const lineSchema = z.object({
  poLineItemId: z.string(),
  variantId: z.string(),
  isCustom: z.boolean(),
  productName: z.string(),
  variantName: z.string().nullable(),
  lineItemStatus: z.string(),
  quantityOrdered: z.number(),
  quantityConfirmed: z.number(),
  quantityReceived: z.number(),
  quantityRejected: z.number(),
  quantitySynced: z.number(),
  quantityPending: z.number(),
  unitCost: z.number(),
  moq: z.number().nullable(),
  packSize: z.number().nullable(),
});
const paymentSchema = z.object({
  paymentType: z.string(),
  status: z.string(),
  amount: z.number(),
  dueDate: z.string(),
  paidAt: z.string().nullable(),
});
const orderSchema = z.object({
  type: z.literal("purchaseOrder"),
  purchaseOrderId: z.string(),
  poNumber: z.string(),
  poName: z.string(),
  status: z.enum(statuses),
  previousStatus: z.enum(statuses),
  supplierId: z.string(),
  supplierName: z.string(),
  locationName: z.string(),
  currencyCode: z.string(),
  fxRateOverride: z.number().nullable(),
  paymentTerms: z.string(),
  incoterm: z.string(),
  note: z.string().nullable(),
  expectedDeliveryDate: z.string(),
  nextExpectedDate: z.string().nullable(),
  grandTotal: z.number(),
  storefrontSyncState: z.string(),
  quantityPending: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  sentAt: z.string().nullable(),
  confirmedAt: z.string().nullable(),
  receivedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  cancelledAt: z.string().nullable(),
  lineItems: z.array(lineSchema),
  payments: z.array(paymentSchema),
  documents: z.array(z.object({ fileName: z.string(), documentType: z.string(), uploadedAt: z.string() })),
  shipments: z.array(
    z.object({
      shipmentNumber: z.string(),
      status: z.string(),
      shippedDate: z.string(),
      expectedArrivalDate: z.string(),
      receivedDate: z.string().nullable(),
      lineAllocations: z.array(
        z.object({
          poLineItemId: z.string(),
          quantityAllocated: z.number(),
          quantityReceived: z.number(),
          quantityRejected: z.number(),
        }),
      ),
    }),
  ),
  credits: z.array(z.object({ amountApplied: z.number() })),
  log: z.array(z.object({ occurredAt: z.string(), action: z.string(), message: z.string() })),
  receipts: z.array(
    z.object({
      source: z.string(),
      receivedAt: z.string(),
      lines: z.array(z.object({ poLineItemId: z.string(), quantityDelta: z.number() })),
    }),
  ),
  costSyncHistory: z.array(z.object({ outcome: z.string() })),
});
type Order = z.output<typeof orderSchema>;
type Line = z.output<typeof lineSchema>;

const variantSchema = z.object({ type: z.literal("variant"), variantId: z.string(), status: z.string() });
const supplierVariantSchema = z.object({
  type: z.literal("supplierVariant"),
  supplierId: z.string(),
  variantId: z.string(),
  moq: z.number(),
  packSize: z.number(),
  unitCost: z.number(),
});
const supplierSchema = z.object({
  type: z.literal("supplier"),
  supplierId: z.string(),
  currencyCode: z.string(),
  leadTimeDays: z.number(),
  paymentTerms: z.string(),
  incoterm: z.string(),
});

interface Demo {
  readonly orders: readonly Order[];
  readonly statusOf: ReadonlyMap<string, string>;
  readonly terms: readonly z.output<typeof supplierVariantSchema>[];
  readonly suppliers: readonly z.output<typeof supplierSchema>[];
}

async function loadDemo(): Promise<Demo> {
  let records: readonly Record<string, unknown>[] = [];
  await withShops(async (open) => {
    const usd = fxRateFrom(demoShop.settings.fxRates.USD);
    assert.ok(usd !== null);
    const shop = await open("demo", { currencyCode: demoShop.currencyCode, fxRates: { USD: usd } });
    await shop.bring([...demoRecords(nowMs)]);
    records = await shop.records();
  });
  const parsed = <T>(schema: z.ZodType<T>, type: string): T[] =>
    records.filter((record) => record["type"] === type).map((record) => schema.parse(record));
  return {
    orders: parsed(orderSchema, "purchaseOrder").toSorted((a, b) => (a.poNumber < b.poNumber ? -1 : 1)),
    statusOf: new Map(parsed(variantSchema, "variant").map(({ variantId, status }) => [variantId, status])),
    terms: parsed(supplierVariantSchema, "supplierVariant"),
    suppliers: parsed(supplierSchema, "supplier"),
  };
}

let loading: Promise<Demo> | null = null;
/** The demo shop as of `nowMs`, imported and exported once. */
const demoOnce = (): Promise<Demo> => (loading ??= loadDemo());

const daysSince = (instant: string): number => (nowMs - Date.parse(instant)) / 86_400_000;
const isOpen = ({ status }: Order): boolean =>
  ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received"].includes(status);
const isShort = (line: Line): boolean =>
  line.quantityConfirmed > 0 && line.quantityConfirmed < line.quantityOrdered && line.quantityOrdered === 48;
const isUnsynced = (line: Line): boolean => line.quantityReceived !== line.quantitySynced;
const isLate = (order: Order): boolean =>
  isOpen(order) && order.nextExpectedDate !== null && order.nextExpectedDate < today;
const isPastDue = (order: Order, status: string): boolean =>
  order.payments.some((payment) => payment.status === status && payment.dueDate < today);

/** What a person or an agent has to handle, each with an order that is in it. */
const situations: Readonly<Record<string, (order: Order, demo: Demo) => boolean>> = {
  ...Object.fromEntries(statuses.map((status) => [`is ${status}`, (order: Order) => order.status === status])),
  "sent and unanswered for over 3 days": ({ status, sentAt }) =>
    status === "Sent" && sentAt !== null && daysSince(sentAt) > 3,
  "sent yesterday": ({ status, sentAt }) => status === "Sent" && sentAt !== null && daysSince(sentAt) < 3,
  "one line confirmed, one not": ({ status, lineItems }) =>
    status === "Partially Confirmed" && lineItems.some((line) => line.quantityConfirmed === 0),
  "confirmed short, 24 of 48": ({ status, lineItems }) =>
    status === "Confirmed" && lineItems.some((line) => isShort(line) && line.quantityConfirmed === 24),
  "on the way": (order) =>
    order.status === "In Progress" && order.shipments.some((shipment) => shipment.status === "In Transit"),
  "late, nothing shipped": (order) => isLate(order) && order.shipments.length === 0 && order.quantityPending > 0,
  "partially received with breakage": ({ status, lineItems }) =>
    status === "Partially Received" && lineItems.some((line) => line.quantityRejected > 0),
  "over-received": ({ lineItems }) => lineItems.some((line) => line.quantityReceived > line.quantityConfirmed),
  "fully in and open": ({ status, storefrontSyncState }) => status === "Received" && storefrontSyncState === "synced",
  "completed, and a cost did not reach the storefront": ({ status, costSyncHistory }) =>
    status === "Completed" && costSyncHistory.some(({ outcome }) => outcome === "failed"),
  "storefront sync failed": ({ storefrontSyncState }) => storefrontSyncState === "failed",
  "never synced": ({ storefrontSyncState, lineItems }) =>
    storefrontSyncState === "never-synced" && lineItems.some(isUnsynced),
  "one variant not on hand at the storefront": ({ storefrontSyncState, lineItems }) =>
    storefrontSyncState === "partial" && lineItems.some(isUnsynced),
  "a payment is due": (order) => isPastDue(order, "Scheduled"),
  "a payment is overdue": (order) => isPastDue(order, "Overdue"),
  "foreign currency at a rate of its own": ({ currencyCode, fxRateOverride }) =>
    currencyCode === "USD" && fxRateOverride !== null,
  "a custom line": ({ lineItems }) => lineItems.some((line) => line.isCustom),
  "an un-receive in its past": ({ receipts, log }) =>
    receipts.some(({ source }) => source === "unreceive") && log.some(({ action }) => action === "unreceive"),
  "a deleted variant on an open order": (order, { statusOf }) =>
    isOpen(order) && order.lineItems.some((line) => statusOf.get(line.variantId) === "deleted"),
  "below the minimum": ({ status, lineItems }) =>
    status === "Draft" && lineItems.some((line) => line.quantityOrdered < (line.moq ?? 0)),
};

test("the demo shop has an order of every situation that a person or an agent must handle", async () => {
  const demo = await demoOnce();
  for (const [situation, holds] of Object.entries(situations))
    assert.ok(
      demo.orders.some((order) => holds(order, demo)),
      `no order of the demo: ${situation}`,
    );
});

/** Words of an order's name, and what must be on the order then. */
const promised: Readonly<Record<string, RegExp>> = {
  tea: /^(Harbour Breakfast|Misty Quay Green|Lantern Earl Grey|Jasmine Rigging|Rooibos Sunset)/,
  "green tea": /Misty Quay Green/,
  breakfast: /Harbour Breakfast/,
  "earl grey": /Lantern Earl Grey/,
  rooibos: /Rooibos Sunset/,
  jasmine: /Jasmine Rigging/,
  tins: /tin$/,
  coffee: /Espresso|Filter|Decaf|Ethiopia|Brazil|Colombia/,
  roast: /Espresso|Filter|Decaf|Ethiopia|Brazil|Colombia/,
  espresso: /Espresso/,
  decaf: /Slack Water Decaf/,
  lighthouse: /Lighthouse Filter/,
  ethiopia: /Spring Tide Ethiopia/,
  brazil: /Ballast Brazil/,
  colombia: /North Pier Colombia/,
  kettles: /Pour-over Kettle/,
  grinders: /Hand Grinder/,
  steel: /Steel/,
  scales: /Pocket Scale/,
  "paper filters": /Paper Filters/,
  "milk pitchers": /Milk Pitcher/,
  "large milk": /600 ml/,
  thermometers: /Gooseneck Thermometer/,
  mugs: /Tideline Mug/,
  logo: /logo/,
  "espresso cups": /Espresso Cup/,
  "sugar bowls": /Sugar Bowl/,
  drippers: /Dripper/,
};
/** Words that promise nothing. */
const idle = new Set("and for the shop restock of with our next trial a".split(" "));

const nameOf = ({ productName, variantName }: Line): string =>
  variantName === null ? productName : `${productName}, ${variantName}`;

test("an order's name is what it contains", async () => {
  const { orders } = await demoOnce();
  for (const { poName, lineItems } of orders) {
    const name = poName.toLowerCase().replaceAll(",", "");
    const names = lineItems.map(nameOf);
    const found = Object.entries(promised).filter(([words]) => new RegExp(`\\b${words}\\b`).test(name));
    for (const [words, content] of found)
      assert.ok(
        names.some((each) => content.test(each)),
        `"${poName}" has no ${words}: ${names.join("; ")}`,
      );
    const said = found.flatMap(([words]) => words.split(" "));
    const unknown = name.split(" ").filter((word) => !idle.has(word) && !said.includes(word));
    assert.deepEqual(unknown, [], `words of "${poName}" that this test does not know`);
    // And nothing else: every line is named.
    for (const each of names)
      assert.ok(
        found.some(([, content]) => content.test(each)),
        `"${poName}" does not say that it has ${each}`,
      );
  }
});

/** Every figure that a note may have: of its order and its lines. */
function figuresOf({ lineItems, fxRateOverride }: Order): ReadonlySet<number> {
  const ofLines = lineItems.flatMap((line) => [
    line.quantityOrdered,
    line.quantityConfirmed,
    line.quantityReceived,
    line.quantityRejected,
    line.quantityPending,
    line.quantityReceived - line.quantityConfirmed,
    line.unitCost,
    line.moq ?? 0,
  ]);
  return new Set([...ofLines, fxRateOverride ?? 0]);
}

test("what a note says of products, figures, dates and the supplier is so", async () => {
  const { orders } = await demoOnce();
  const allNames = new Set(orders.flatMap(({ lineItems }) => lineItems.map(nameOf)));
  const supplierNames = new Set(orders.map(({ supplierName }) => supplierName));
  for (const order of orders) {
    const { poNumber, note } = order;
    if (note === null) continue;
    const names = order.lineItems.map(nameOf);
    let rest = note;
    for (const name of [...allNames].filter((each) => note.includes(each))) {
      assert.ok(names.includes(name), `${poNumber} has no ${name}`);
      rest = rest.replaceAll(name, "");
    }
    for (const name of [...supplierNames].filter((each) => note.includes(each)))
      assert.equal(name, order.supplierName, poNumber);
    const dates = rest.match(/\d{4}-\d\d-\d\d/g) ?? [];
    const known = [order.expectedDeliveryDate, ...[order.sentAt, order.receivedAt].map((at) => at?.slice(0, 10))];
    for (const date of dates) assert.ok(known.includes(date), `${poNumber}: ${date}`);
    const figures = rest.replaceAll(/\d{4}-\d\d-\d\d/g, "").match(/\d+(?:\.\d+)?/g) ?? [];
    for (const figure of figures)
      assert.ok(figuresOf(order).has(Number(figure)), `${poNumber}: ${figure} in "${note}"`);
  }
  // The figures of a line are told of that line: "24 of 48 Misty Quay Green, 250 g tin".
  for (const { note, lineItems } of orders)
    for (const line of lineItems) {
      const told = new RegExp(`(\\d+) of (\\d+) ${nameOf(line).replaceAll(/[()]/g, "\\$&")}`).exec(note ?? "");
      if (told === null) continue;
      const [, part, whole] = told.map(Number);
      assert.ok(
        [line.quantityConfirmed, line.quantityReceived, line.quantityRejected].includes(part ?? -1),
        note ?? "",
      );
      assert.ok([line.quantityOrdered, line.quantityConfirmed].includes(whole ?? -1), note ?? "");
    }
});

test("dates fit statuses, receipts and payments, and only the order that is late is late", async () => {
  const { orders } = await demoOnce();
  assert.deepEqual(
    orders.map(({ createdAt }) => createdAt),
    orders.map(({ createdAt }) => createdAt).toSorted(),
    "numbers follow the time",
  );
  for (const order of orders) {
    const { poNumber, status } = order;
    const reached = [order.createdAt, order.sentAt, order.confirmedAt, order.receivedAt, order.completedAt].filter(
      (at) => at !== null,
    );
    assert.deepEqual(reached, reached.toSorted(), `${poNumber}: ${reached.join(" ")}`);
    assert.equal(order.sentAt === null, status === "Draft", poNumber);
    assert.equal(order.completedAt !== null, status === "Completed", poNumber);
    assert.equal(order.cancelledAt !== null, status === "Cancelled", poNumber);
    const times = order.log.map(({ occurredAt }) => occurredAt);
    assert.deepEqual(times, times.toSorted(), poNumber);
    assert.ok(times.every((at) => Date.parse(at) < nowMs) && Date.parse(order.updatedAt) < nowMs, poNumber);
    assert.equal(isLate(order), order.poName === "Steel grinders and scales", `${poNumber} ${order.nextExpectedDate}`);
    for (const line of order.lineItems) {
      const received = order.receipts
        .flatMap(({ lines }) => lines)
        .filter(({ poLineItemId }) => poLineItemId === line.poLineItemId)
        .reduce((sum, { quantityDelta }) => sum + quantityDelta, 0);
      assert.equal(received, line.quantityReceived, `${poNumber}: receipts of ${nameOf(line)}`);
    }
    for (const { status: paid, dueDate, paidAt } of order.payments) {
      if (paid === "Paid") assert.ok(paidAt !== null && dueDate < today, `${poNumber}: paid before it was due`);
      else assert.ok(paidAt === null && (paid !== "Overdue" || dueDate < today), poNumber);
    }
    for (const shipment of order.shipments) {
      assert.ok(shipment.shippedDate <= shipment.expectedArrivalDate, poNumber);
      assert.equal(shipment.receivedDate !== null, shipment.status === "Received", poNumber);
      if (shipment.status === "In Transit") assert.ok(shipment.expectedArrivalDate >= today, poNumber);
    }
  }
});

test("documents and shipments are the order's, payments are what its terms and its total say", async () => {
  const { orders } = await demoOnce();
  for (const order of orders) {
    const { poNumber, grandTotal, payments, paymentTerms, lineItems } = order;
    for (const { fileName, documentType } of order.documents)
      assert.ok(documentType === "invoice" || fileName.includes(poNumber), `${poNumber}: ${fileName}`);
    assert.ok(
      order.shipments.every(({ shipmentNumber }) => shipmentNumber.startsWith(poNumber)),
      poNumber,
    );
    for (const line of order.shipments.length === 0 ? [] : lineItems) {
      const allocations = order.shipments
        .flatMap(({ lineAllocations }) => lineAllocations)
        .filter(({ poLineItemId }) => poLineItemId === line.poLineItemId);
      const sum = (member: "quantityAllocated" | "quantityReceived" | "quantityRejected"): number =>
        allocations.reduce((total, allocation) => total + allocation[member], 0);
      assert.equal(sum("quantityReceived"), line.quantityReceived, `${poNumber}: shipped ${nameOf(line)}`);
      assert.equal(sum("quantityRejected"), line.quantityRejected, poNumber);
      assert.equal(sum("quantityAllocated"), line.quantityReceived + line.quantityRejected + line.quantityPending);
    }
    const credited = order.credits.reduce((sum, { amountApplied }) => sum + amountApplied, 0);
    const owed = payments.reduce((sum, { amount }) => sum + amount, 0);
    if (payments.length > 0)
      assert.equal(Math.round((owed + credited) * 100), Math.round(grandTotal * 100), `${poNumber}: paid ${owed}`);
    const deposit = payments.find(({ paymentType }) => paymentType === "deposit");
    const percent = /^(\d+) % deposit/.exec(paymentTerms)?.[1];
    if (deposit === undefined) assert.ok(percent === undefined || payments.length === 0, poNumber);
    else assert.ok(Math.abs(deposit.amount - (grandTotal * Number(percent)) / 100) < 0.01, poNumber);
  }
});

test("every supplier has its terms, and orders keep to minimum and pack size but for the trial", async () => {
  const { orders, terms, suppliers, statusOf } = await demoOnce();
  assert.ok(suppliers.length >= 4);
  for (const { supplierId } of suppliers) assert.ok(terms.some((each) => each.supplierId === supplierId));
  assert.deepEqual(new Set(statusOf.values()), new Set(["active", "inactive", "deleted", "unsyncable"]));
  for (const { moq, packSize } of terms) assert.ok(moq >= packSize && moq % packSize === 0);
  for (const order of orders) {
    const supplier = suppliers.find(({ supplierId }) => supplierId === order.supplierId);
    const { paymentTerms, incoterm, currencyCode } = order;
    assert.deepEqual(
      [paymentTerms, incoterm, currencyCode],
      [supplier?.paymentTerms, supplier?.incoterm, supplier?.currencyCode],
      order.poName,
    );
  }
  for (const { poName, supplierId, lineItems } of orders)
    for (const line of lineItems) {
      if (line.isCustom) continue;
      const offer = terms.find((each) => each.supplierId === supplierId && each.variantId === line.variantId);
      assert.ok(offer !== undefined, `${poName}: ${nameOf(line)} is not sold by the supplier`);
      assert.equal(line.unitCost, offer.unitCost, poName);
      assert.deepEqual([line.moq, line.packSize], [offer.moq, offer.packSize], poName);
      assert.equal(line.quantityOrdered % offer.packSize, 0, `${poName}: packs of ${nameOf(line)}`);
      assert.equal(line.quantityOrdered < offer.moq, poName === "Trial of jasmine tins", poName);
    }
});

test("an agent finds every reason for attention, and what to reorder from several suppliers", async () => {
  await withProgram(
    async (program) => {
      const key = program.word("write key");
      await using agent = await connectAgent({ url: program.url, writeKey: key });
      const found = await agent.call("orders_needing_attention");
      for (const reason of attentionReasons) assert.ok(Number(found.at("counts", reason)) > 0, `no order is ${reason}`);

      const rows = z
        .array(z.object({ variantId: z.string(), supplierName: z.string(), suggestedOrderQuantity: z.number() }))
        .parse(
          (await program.ask("GET", "/api/v1/forecast-views/fv_demo_order/rows?limit=1000", key)).at("data", "rows"),
        );
      assert.ok(new Set(rows.map(({ supplierName }) => supplierName)).size >= 2);
      assert.ok(rows.every(({ suggestedOrderQuantity }) => suggestedOrderQuantity > 0));
      const drafts = await program.ask("GET", "/api/v1/purchase-orders?status=Draft", key);
      const draftSchema = z.array(z.object({ purchaseOrderId: z.string() }));
      const drafted = new Set<unknown>();
      for (const { purchaseOrderId } of draftSchema.parse(drafts.at("data", "purchaseOrders"))) {
        const lines = await program.ask("GET", `/api/v1/purchase-orders/${purchaseOrderId}/line-items`, key);
        for (const line of z.array(z.object({ variantId: z.string() })).parse(lines.at("data", "lineItems")))
          drafted.add(line.variantId);
      }
      assert.ok(rows.some(({ variantId }) => drafted.has(variantId)));
      assert.ok(rows.some(({ variantId }) => !drafted.has(variantId)));
    },
    { OPENPO_DEMO: "1" },
  );
});

test("the situations behave as their notes say when somebody goes on with them", async () => {
  await withProgram(
    async (program) => {
      const key = program.word("write key");
      const listed = await program.ask("GET", "/api/v1/purchase-orders?limit=50", key);
      const orders = z
        .array(z.object({ purchaseOrderId: z.string(), poName: z.string() }))
        .parse(listed.at("data", "purchaseOrders"));
      const pathOf = (poName: string): string => {
        const order = orders.find((each) => each.poName === poName);
        return `/api/v1/purchase-orders/${order?.purchaseOrderId}`;
      };
      // Confirmed short: the order goes on.
      const short = await program.ask("POST", `${pathOf("Green tea and breakfast tins")}/status`, key, {
        status: "In Progress",
      });
      assert.equal(short.status, 200);
      // The deleted variant stops receiving until it is skipped.
      const bowls = pathOf("Sugar bowls and drippers");
      const first = await program.ask("GET", `${bowls}/line-items`, key);
      const line = { lineItemId: first.at("data", "lineItems", 0, "poLineItemId"), quantityReceived: 24 };
      const guarded = await program.ask("POST", `${bowls}/receive`, key, { lines: [line] });
      assert.deepEqual([guarded.status, guarded.at("error", "details", 0, "issue")], [400, "deleted"]);
      const resolutions = [{ itemId: line.lineItemId, action: "skip" }];
      assert.equal((await program.ask("POST", `${bowls}/receive`, key, { lines: [line], resolutions })).status, 200);
      // The sync that failed goes through, the refused one fails again.
      const retried = await program.ask("POST", `${pathOf("Decaf and Colombia")}/storefront-sync`, key, {});
      assert.equal(retried.at("data", "confirmation", "status"), "verified");
      const refused = await program.ask("POST", `${pathOf("Milk pitchers and thermometers")}/storefront-sync`, key, {});
      assert.equal(refused.at("data", "confirmation", "status"), "failed");
      // A draft below the minimum is accepted with a warning.
      const trial = await program.ask("POST", `${pathOf("Trial of jasmine tins")}/status`, key, { status: "Sent" });
      assert.equal(trial.status, 200);
    },
    { OPENPO_DEMO: "1" },
  );
});
