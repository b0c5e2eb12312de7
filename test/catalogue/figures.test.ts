/**
 * Figures that stand with suppliers and products: what is open, late and came last, deliveries, cover, sales, prices
 * paid (C82, C83).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { dateOf, dayIn, dayStart, weekOf, weekStart } from "../../src/base/time/calendar.ts";
import { figureSuppliersMax } from "../../src/core/order/advice/purchase-figures.ts";
import { sealRecent } from "../../src/shop/order-list/sealing.ts";
import { loadFigureOrders } from "../../src/shop/order/advice/report.ts";
import { type GoodsServer, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin } from "../support/people.ts";
import { assertFault, objectsAt, type TestResponse } from "../support/server.ts";

const of =
  (server: GoodsServer) =>
  (path: string): Promise<TestResponse> =>
    askAdmin(server, "GET", `/shops/${server.shopId}${path}`);

/** The date so many days from the shop's day. */
const inDays = ({ clock }: GoodsServer, days: number): string => dateOf(dayIn("UTC", clock.now()) + days);

const day = 86_400_000;

const text = (value: JsonObject[string] | undefined): string => (typeof value === "string" ? value : "");

const isPlaced = ({ status }: JsonObject): boolean => status !== "Draft" && status !== "Cancelled";

/** All orders of a supplier, newest first. */
async function ordersOf(server: GoodsServer, supplierId: string): Promise<readonly JsonObject[]> {
  const orders: JsonObject[] = [];
  for (let cursor = ""; ;) {
    const page = await server.get(`/api/v1/purchase-orders?supplierId=${supplierId}${cursor}`);
    orders.push(...objectsAt(page, "data", "purchaseOrders"));
    const next = page.at("data", "cursor");
    if (typeof next !== "string") return orders;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

const open = ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received"];

/** What the figures of a supplier must be, from the list of its orders. */
async function expectedFigures(server: GoodsServer, supplierId: string) {
  const orders = await ordersOf(server, supplierId);
  const isOpen = orders.filter((order) => open.includes(text(order["status"])));
  const sums = new Map<string, number>();
  for (const { currencyCode, totalValue } of isOpen)
    sums.set(text(currencyCode), (sums.get(text(currencyCode)) ?? 0) + Number(totalValue));
  const last = orders.find(isPlaced);
  const today = inDays(server, 0);
  return {
    supplierId,
    openOrders: isOpen.length,
    openValue: [...sums]
      .map(([currencyCode, amount]) => ({ currencyCode, amount: Math.round(amount * 10_000) / 10_000 }))
      .toSorted((a, b) => (a.currencyCode < b.currencyCode ? -1 : 1)),
    lateOrders: isOpen.filter(
      ({ nextExpectedDate, quantityPending }) =>
        typeof nextExpectedDate === "string" && nextExpectedDate < today && Number(quantityPending) > 0,
    ).length,
    lastOrder:
      last === undefined
        ? null
        : {
            purchaseOrderId: last["purchaseOrderId"],
            poNumber: last["poNumber"],
            orderedOn: last["orderDate"] ?? text(last["sentAt"] ?? last["createdAt"]).slice(0, 10),
          },
  };
}

test("a supplier's figures are those of its orders, sealed or changed since, one sum for each currency", async () => {
  await using server = await startGoodsServer({ console: true });
  const suppliers = ["mill", "loom", "dye", "yarn", "idle"];
  const statuses = ["Draft", "Sent", "Confirmed", "Received", "Completed", "Cancelled", "Partially Received"] as const;
  const start = server.clock.now();
  await server.bring([
    ...suppliers.map((supplierId) => ({ type: "supplier", supplierId, name: supplierId, currencyCode: "EUR" })),
    ...Array.from({ length: 180 }, (_, index) => {
      const status = statuses[(index * 5 + (index >> 3)) % statuses.length] ?? "Draft";
      const quantityReceived = status === "Partially Received" ? 4 : 0;
      return {
        type: "purchaseOrder",
        purchaseOrderId: `po_${String(index).padStart(3, "0")}`,
        status,
        ...(status === "Cancelled" ? { previousStatus: "Sent" } : {}),
        // The last supplier has no order, the one before it only old ones.
        supplierId: index < 9 ? "yarn" : suppliers[(index * 7) % 3],
        locationId: "warehouse",
        currencyCode: index % 4 === 0 ? "USD" : "EUR",
        createdAt: new Date(start - (200 - index) * day).toISOString(),
        expectedDeliveryDate: inDays(server, (index % 9) - 4),
        ...(index % 6 === 0 ? { orderDate: inDays(server, index - 190) } : {}),
        lineItems: [{ ...lineA, unitCost: 1.2345 + index, quantityReceived }],
      };
    }),
  ]);
  const check = async (): Promise<void> => {
    const answered = await of(server)(`/supplier-figures?ids=${suppliers.join(",")}`);
    assert.deepEqual(
      answered.at("data", "suppliers"),
      await Promise.all(suppliers.map((supplierId) => expectedFigures(server, supplierId))),
    );
  };
  await check();
  while (await server.engine.write(server.shopId, (tx) => sealRecent(tx, server.shopId, 0)));
  await check();
  // An order that is sealed with one supplier goes over to another, the newest one of it is cancelled, a new one is made.
  const [newest] = (await ordersOf(server, "mill")).filter(isPlaced);
  const [oldest] = (await ordersOf(server, "loom")).filter(({ status }) => status === "Draft");
  const patched = await server.patch(`/api/v1/purchase-orders/${text(oldest?.["purchaseOrderId"])}`, {
    supplierId: "idle",
  });
  assert.equal(patched.status, 200, patched.text);
  await server.bringOrder("Cancelled", [lineB], {
    purchaseOrderId: newest?.["purchaseOrderId"],
    poNumber: newest?.["poNumber"],
    previousStatus: "Sent",
    supplierId: "mill",
    createdAt: newest?.["createdAt"],
  });
  await server.bringOrder("Sent", [lineA], { purchaseOrderId: "po_new", supplierId: "dye" });
  await check();
});

test("a delivery is on time by the last day on which its goods were expected; documents stand with their orders", async () => {
  await using server = await startGoodsServer({ console: true });
  const received = { ...lineA, quantityReceived: 10 };
  const at = (days: number): string => new Date(server.clock.now() + days * day).toISOString();
  const bring = (purchaseOrderId: string, facts: object, line: object = {}): Promise<void> =>
    server.bringOrder("Received", [{ ...received, ...line }], { purchaseOrderId, ...facts });
  await bring("on the day", { receivedAt: at(-10), expectedDeliveryDate: inDays(server, -10) });
  await bring("early", { receivedAt: at(-12), expectedDeliveryDate: inDays(server, -10) });
  await bring("3 late", { receivedAt: at(-7), expectedDeliveryDate: inDays(server, -10) });
  await bring(
    "by its line",
    { receivedAt: at(-7), expectedDeliveryDate: inDays(server, -10) },
    { expectedDeliveryDate: inDays(server, -7) },
  );
  await bring("6 late", {
    receivedAt: at(-1),
    expectedDeliveryDate: inDays(server, -7),
    documents: [
      {
        documentId: "d",
        fileName: "invoice.pdf",
        contentType: "application/pdf",
        fileSizeBytes: 12_000,
        documentType: "invoice",
        version: 1,
        uploadedAt: at(-1),
        uploadedBy: null,
      },
    ],
  });
  await bring("of no day", { receivedAt: at(-1) });
  await server.bringOrder("Sent", [lineA], { purchaseOrderId: "open", expectedDeliveryDate: inDays(server, -90) });
  const answered = await of(server)("/suppliers/mill/deliveries");
  assert.deepEqual(answered.at("data", "deliveries"), { counted: 5, onTime: 3, daysLate: 5 });
  const [document, ...others] = objectsAt(await of(server)("/suppliers/mill/documents"), "data", "documents");
  assert.deepEqual(others, []);
  assert.equal(document?.["purchaseOrderId"], "6 late");
  assert.equal(document?.["fileName"], "invoice.pdf");
  const none = await of(server)("/suppliers/unheard-of/deliveries");
  assert.deepEqual(none.at("data"), { deliveries: { counted: 0, onTime: 0, daysLate: null } });
});

test("the shop's figures: what is open and late, what was received week by week at each order's rates, and spend by supplier", async () => {
  await using server = await startGoodsServer({ console: true });
  const { clock } = server;
  const today = dayIn("UTC", clock.now());
  const monday = weekStart(weekOf(today));
  const at = (date: number): string => new Date(date * day + day / 2).toISOString();
  const receipt = (receiptId: string, date: number, quantityDelta: number, after: number, poLineItemId = "a") => ({
    receiptId,
    receivedAt: at(date),
    recordedBy: null,
    source: quantityDelta < 0 ? "unreceive" : "receive",
    requestId: null,
    lines: [{ poLineItemId, variantId: "red", quantityDelta, quantityReceivedAfter: after }],
  });
  await server.bring([{ type: "supplier", supplierId: "loom", name: "The Loom", currencyCode: "USD" }]);
  // Two weeks ago 6 came, last week 3 more and 1 went back, all at 4; the one before the weeks that are told is not.
  await server.bringOrder("Partially Received", [{ ...lineA, quantityOrdered: 20, quantityReceived: 10 }], {
    purchaseOrderId: "partly",
    supplierId: "mill",
    createdAt: at(monday - 100),
    updatedAt: at(monday - 1),
    expectedDeliveryDate: dateOf(today),
    receipts: [
      receipt("r0", monday - 60, 2, 2),
      receipt("r1", monday - 14, 6, 8),
      receipt("r2", monday - 7, 3, 11),
      receipt("r3", monday - 1, -1, 10),
    ],
  });
  await server.bringOrder("Received", [{ ...lineA, quantityReceived: 10, unitCostCurrencyCode: "USD" }], {
    purchaseOrderId: "of-dollars",
    supplierId: "loom",
    currencyCode: "USD",
    fxRateOverride: 0.5,
    createdAt: at(today - 20),
    updatedAt: at(monday),
    receipts: [receipt("r4", monday, 10, 10)],
  });
  await server.bringOrder("Sent", [lineB], {
    purchaseOrderId: "late",
    supplierId: "mill",
    createdAt: at(today - 30),
    expectedDeliveryDate: dateOf(today - 30),
  });
  await server.bringOrder("Sent", [lineB], {
    purchaseOrderId: "later",
    supplierId: "mill",
    createdAt: at(today - 89),
    expectedDeliveryDate: dateOf(monday + 7),
  });
  await server.bringOrder("Draft", [lineB], { purchaseOrderId: "no order yet", supplierId: "mill" });
  const check = async (): Promise<void> => {
    const answered = await of(server)("/purchase-figures");
    const valuesOf = (...path: readonly string[]) =>
      Object.fromEntries(
        objectsAt(answered, "data", "figures", ...path).flatMap(({ week, value }) =>
          value === 0 ? [] : [[text(week), value]],
        ),
      );
    assert.equal(answered.at("data", "figures", "open", "orders"), 3);
    assert.equal(answered.at("data", "figures", "open", "value"), 40 + 13.75 + 13.75);
    assert.equal(answered.at("data", "figures", "open", "lateValue"), 13.75);
    assert.deepEqual(valuesOf("open", "weeks"), { [dateOf(monday)]: 40, [dateOf(monday + 7)]: 13.75 });
    assert.deepEqual(answered.at("data", "figures", "open", "days"), [
      { date: dateOf(today), orders: 1 },
      { date: dateOf(monday + 7), orders: 1 },
    ]);
    assert.deepEqual(valuesOf("received", "weeks"), {
      [dateOf(monday - 14)]: 24,
      [dateOf(monday - 7)]: 8,
      [dateOf(monday)]: 20,
    });
    assert.equal(objectsAt(answered, "data", "figures", "received", "weeks").length, 8);
    assert.deepEqual(answered.at("data", "figures", "ordered"), {
      orders: 3,
      value: 47.5,
      unpricedOrders: 0,
      suppliers: [
        { supplierId: "mill", supplierName: "The Mill", orders: 2, value: 27.5 },
        { supplierId: "loom", supplierName: "The Loom", orders: 1, value: 20 },
      ],
    });
  };
  await check();
  while (await server.engine.write(server.shopId, (tx) => sealRecent(tx, server.shopId, 0)));
  await check();
});

for (const timezone of ["Pacific/Auckland", "America/Los_Angeles"])
  test(`what was ordered in 90 days begins with the shop's day, not that of UTC: ${timezone}`, async () => {
    await using server = await startGoodsServer({ console: true, shop: { timezone } });
    const firstMs = dayStart(timezone, dayIn(timezone, server.clock.now()) - 89);
    for (const [purchaseOrderId, createdAtMs] of [
      ["within", firstMs],
      ["before", firstMs - 1],
    ] as const)
      await server.bringOrder("Sent", [lineA], { purchaseOrderId, createdAt: new Date(createdAtMs).toISOString() });
    const answered = await of(server)("/purchase-figures");
    assert.equal(answered.at("data", "figures", "ordered", "orders"), 1, answered.text);
  });

test("of more than figureOrdersMax orders the newest ones count", async () => {
  await using server = await startGoodsServer({ console: true });
  for (const days of [3, 2, 1])
    await server.bringOrder("Sent", [{ ...lineA, quantityOrdered: days }], {
      purchaseOrderId: `po_${days}`,
      createdAt: new Date(server.clock.now() - days * day).toISOString(),
    });
  const today = dayIn("UTC", server.clock.now());
  const { open, placed } = await server.engine.read(server.shopId, (tx) =>
    loadFigureOrders(tx, server.shopId, { timezone: "UTC", today }, 2),
  );
  assert.deepEqual(
    [open, placed].map((orders) => orders.map(({ totalValue }) => totalValue)),
    [
      [40_000, 80_000],
      [40_000, 80_000],
    ],
  );
});

test("figureSuppliersMax suppliers are told, those of whom most was ordered", async () => {
  await using server = await startGoodsServer({ console: true });
  const suppliers = Array.from({ length: figureSuppliersMax + 2 }, (_, index) => `s${String(index).padStart(2, "0")}`);
  await server.bring([
    ...suppliers.map((supplierId) => ({ type: "supplier", supplierId, name: supplierId, currencyCode: "EUR" })),
    ...suppliers.map((supplierId, index) => ({
      type: "purchaseOrder",
      purchaseOrderId: `po_${supplierId}`,
      status: "Sent",
      supplierId,
      locationId: "warehouse",
      createdAt: new Date(server.clock.now() - day).toISOString(),
      lineItems: [{ ...lineA, quantityOrdered: 100 - index }],
    })),
  ]);
  const told = objectsAt(await of(server)("/purchase-figures"), "data", "figures", "ordered", "suppliers");
  assert.deepEqual(
    told.map(({ supplierId }) => supplierId),
    suppliers.slice(0, figureSuppliersMax),
  );
});

test("a variant's figures are those of the forecast, with its sales by week, what comes and what is left", async () => {
  await using server = await startGoodsServer({ console: true });
  const today = dayIn("UTC", server.clock.now());
  await server.bring([
    ...Array.from({ length: 60 }, (_, index) => ({
      type: "sale",
      variantId: "red",
      locationId: "warehouse",
      date: dateOf(today - 1 - index),
      quantity: 2,
    })),
    { type: "sale", variantId: "red", date: dateOf(today - 1), quantity: 5 },
    { type: "variant", variantId: "old", productId: "old", productName: "Old", isArchived: true },
    { type: "forecastView", viewId: "all", viewName: "All", mode: "stock", columns: ["daysOfCover", "stockoutDate"] },
  ]);
  await server.bringOrder("Sent", [{ ...lineA, expectedDeliveryDate: dateOf(today + 8) }]);
  const answered = await of(server)("/variant-figures?ids=red,old,unheard-of");
  const figures = objectsAt(answered, "data", "variants");
  assert.deepEqual(
    figures.map(({ variantId, onHand, incoming, isArchived }) => [variantId, onHand, incoming, isArchived]),
    [
      ["old", 0, 0, true],
      ["red", 100, 10, false],
    ],
  );
  const view = await server.get("/api/v1/forecast-views/all/rows?variantIds=red");
  const [row] = objectsAt(view, "data", "rows");
  assert.deepEqual(
    [figures[1]?.["daysOfCover"], figures[1]?.["stockoutDate"]],
    [row?.["daysOfCover"], row?.["stockoutDate"]],
  );

  const read = await of(server)("/variants/red/outlook");
  const sales = objectsAt(read, "data", "outlook", "sales");
  assert.equal(sales.length, 12);
  const soldIn = (week: number): number =>
    Array.from({ length: 7 }, (_, index) => weekStart(week) + index).reduce(
      (sum, each) => sum + (each < today && each >= today - 60 ? 2 : 0) + (each === today - 1 ? 5 : 0),
      0,
    );
  const thisWeek = weekOf(today);
  assert.deepEqual(
    sales,
    Array.from({ length: 12 }, (_, index) => thisWeek - 11 + index).map((week) => ({
      week: dateOf(weekStart(week)),
      quantity: soldIn(week),
    })),
  );
  const weeks = objectsAt(read, "data", "outlook", "weeks");
  assert.equal(weeks.length, 13);
  assert.equal(weeks[0]?.["week"], dateOf(weekStart(thisWeek)));
  assert.deepEqual(
    weeks.flatMap(({ week, incoming }) => (incoming === 0 ? [] : [[week, incoming]])),
    [[dateOf(weekStart(weekOf(today + 8))), 10]],
  );
  let left = 100;
  for (const { week, demand, incoming, projectedOnHand } of weeks) {
    left += Number(incoming) - Number(demand);
    assert.ok(Math.abs(left - Number(projectedOnHand)) < 0.001, `${left}, ${text(week)}`);
  }
  assertFault(await of(server)("/variants/unheard-of/outlook"), 404, "NOT_FOUND");
});

test("what was paid for a variant is what its orders' lines say, newest first, of one supplier or of all", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring([{ type: "supplier", supplierId: "loom", name: "Loom", currencyCode: "USD" }]);
  const start = server.clock.now();
  const bring = (index: number, status: Parameters<GoodsServer["bringOrder"]>[0], facts: object): Promise<void> =>
    server.bringOrder(status, [{ ...lineA, unitCost: 1 + index / 10_000 }, lineB], {
      purchaseOrderId: `po_${index}`,
      createdAt: new Date(start - (20 - index) * day).toISOString(),
      ...facts,
    });
  await bring(1, "Completed", {});
  await bring(2, "Sent", { supplierId: "loom", orderDate: inDays(server, -30) });
  await bring(3, "Draft", {});
  await bring(4, "Received", { supplierId: "loom" });
  await bring(5, "Cancelled", { previousStatus: "Sent" });
  await server.bringOrder("Sent", [lineB], { purchaseOrderId: "po_6" });
  const paid = async (query: string) => {
    const answered = await of(server)(`/variants/red/orders?${query}`);
    return {
      orders: objectsAt(answered, "data", "orders").map(({ purchaseOrderId, unitCost }) => [purchaseOrderId, unitCost]),
      count: answered.at("data", "totalCount"),
      cursor: answered.at("data", "cursor"),
    };
  };
  const all = await paid("");
  assert.deepEqual(
    [all.orders.map(([id]) => id), all.count, all.cursor],
    [["po_5", "po_4", "po_3", "po_2", "po_1"], 5, null],
  );
  assert.deepEqual(await paid("placed=true"), {
    orders: [
      ["po_4", 1.0004],
      ["po_2", 1.0002],
      ["po_1", 1.0001],
    ],
    count: 3,
    cursor: null,
  });
  const first = await paid("placed=true&supplierId=loom&limit=1");
  assert.deepEqual([first.orders, first.count], [[["po_4", 1.0004]], 2]);
  const second = await paid(`placed=true&supplierId=loom&limit=1&cursor=${encodeURIComponent(text(first.cursor))}`);
  assert.deepEqual([second.orders, second.cursor], [[["po_2", 1.0002]], null]);
  const [row] = objectsAt(await of(server)("/variants/red/orders?supplierId=loom&placed=true"), "data", "orders").slice(
    1,
  );
  assert.deepEqual(
    [row?.["supplierName"], row?.["orderedOn"], row?.["unitCostCurrencyCode"], row?.["quantityOrdered"]],
    ["Loom", inDays(server, -30), "USD", 10],
  );
});
