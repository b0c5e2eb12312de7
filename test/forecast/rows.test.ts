/**
 * Forecast rows from imported records to cells, over the real store. Today is Saturday, 21 November 2026.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dateOf, dayFrom } from "../../src/base/time/calendar.ts";
import { columnIds, type ForecastRow, forecastRow, periodsFrom } from "../../src/core/forecast/forecast.ts";
import { forecastPage, type RowPosition } from "../../src/shop/forecast/forecast-rows.ts";
import { loadForecastView } from "../../src/shop/forecast/saved-views.ts";
import { type TestShop, withShops } from "../support/admin.ts";

const today = dayFrom("2026-11-21");

interface Asked {
  readonly limit?: number;
  readonly variantIds?: readonly string[];
  readonly dearestFirst?: boolean;
  /** Runs between two pages. */
  readonly between?: () => Promise<unknown>;
}

/** All rows of a view, page by page. Every page says the same count. */
async function rowsOf(shop: TestShop, viewId: string, asked: Asked = {}): Promise<readonly ForecastRow[]> {
  const { shopId } = shop.shop;
  const rows: ForecastRow[] = [];
  let after: RowPosition | null = null;
  let totalCount: number | null = null;
  for (;;) {
    const { view, page } = await shop.engine.read(shopId, async (tx) => {
      const view = await loadForecastView(tx, shopId, viewId);
      assert.ok(view !== null);
      const scope = { view, variantIds: asked.variantIds ?? null, dearestFirst: asked.dearestFirst ?? false };
      return {
        view,
        page: await forecastPage(tx, shopId, scope, { shop: shop.shop, today }, after, asked.limit ?? 50),
      };
    });
    const periods = view.mode === "supply" ? periodsFrom(today, view.periodUnit, view.horizonPeriods) : [];
    const context = { shop: shop.shop, today, locationName: null, periods };
    rows.push(...page.variants.map((facts) => forecastRow(facts, view.columns, context)));
    if (asked.between === undefined) {
      totalCount ??= page.totalCount;
      assert.equal(page.totalCount, totalCount);
    }
    if (page.end === null) break;
    after = page.end;
    await asked.between?.();
  }
  if (totalCount !== null) assert.equal(rows.length, totalCount);
  return rows;
}

const view = (viewId: string, more: object = {}) => ({
  type: "forecastView",
  viewId,
  viewName: viewId,
  mode: "stock",
  columns: columnIds,
  ...more,
});

const variant = (variantId: string, productName: string, more: object = {}) => ({
  type: "variant",
  variantId,
  productId: `p-${variantId}`,
  productName,
  ...more,
});

const sale = (variantId: string, date: string, quantity: number, locationId?: string) => ({
  type: "sale",
  variantId,
  date,
  quantity,
  ...(locationId === undefined ? {} : { locationId }),
});

const level = (variantId: string, locationId: string, onHand: number) => ({
  type: "inventoryLevel",
  variantId,
  locationId,
  onHand,
});

const order = (purchaseOrderId: string, lineItems: readonly object[], more: object = {}) => ({
  type: "purchaseOrder",
  purchaseOrderId,
  poNumber: purchaseOrderId,
  status: "Sent",
  supplierId: "nord",
  locationId: "main",
  createdAt: "2026-11-02T09:00:00.000Z",
  sentAt: "2026-11-02T09:00:00.000Z",
  lineItems,
  ...more,
});

const base = [
  { type: "location", locationId: "main", name: "Main store" },
  { type: "location", locationId: "pier", name: "Pier" },
  { type: "supplier", supplierId: "nord", name: "Nordwind", currencyCode: "USD", leadTimeDays: 14 },
  { type: "supplier", supplierId: "sud", name: "Südwind" },
];

/** Seven sold on the Monday of each of the four complete weeks before today, and three this week. */
const kettle = [
  variant("kettle", "Kettle", { sku: "K-1", unitCost: 3.5 }),
  { type: "supplierVariant", supplierId: "nord", variantId: "kettle", unitCost: 4.4, moq: 20, packSize: 6 },
  { type: "supplierVariant", supplierId: "sud", variantId: "kettle", unitCost: 4.5, leadTimeDays: 3 },
  level("kettle", "main", 4),
  level("kettle", "pier", 1.5),
  sale("kettle", "2026-10-19", 7, "main"),
  sale("kettle", "2026-10-26", 7, "main"),
  sale("kettle", "2026-11-02", 7, "main"),
  sale("kettle", "2026-11-09", 7, "main"),
  sale("kettle", "2026-11-17", 3, "main"),
];

test("a row's figures are those computed by hand from what was imported", () =>
  withShops(async (open) => {
    const shop = await open("hand", { currencyCode: "EUR", fxRates: {} });
    await shop.bring([...base, ...kettle, view("all")]);
    // USD has no rate, so the supplier in the shop's currency is the comparable one: 4.50 EUR, 3 days.
    // Demand 7 a week, 1 a day; variance of a count, 7 a week: 1.645 × √(7 × 3/7) = 2.849. Reorder point 3 + 2.849.
    // 5.5 on hand is below it; 5.849 + 30 − 5.5 = 30.349 is 31 whole units.
    assert.deepEqual(await rowsOf(shop, "all"), [
      {
        variantId: "kettle",
        productId: "p-kettle",
        productName: "Kettle",
        variantName: null,
        sku: "K-1",
        supplierName: "Südwind",
        locationName: null,
        isActive: true,
        needsReorder: true,
        nextIncomingDate: null,
        stockoutDate: "2026-11-26",
        lastSoldDate: "2026-11-17",
        onHand: 5.5,
        incoming: 0,
        sold30d: 24,
        sold90d: 31,
        dailyDemand: 1,
        daysOfCover: 5.5,
        leadTimeDays: 3,
        safetyStock: 2.849,
        reorderPoint: 5.849,
        suggestedOrderQuantity: 31,
        unitCost: 4.5,
        unitCostCurrencyCode: "EUR",
        suggestedOrderValue: 139.5,
        stockValue: 19.25,
        supplierId: "sud",
        packSize: null,
        moq: null,
        expectedArrivalDate: "2026-11-24",
        draftQuantity: 0,
        reorderReason: "demand",
        stockoutCost: 4.5,
      },
    ]);
  }));

test("what stands on drafts is a column of its own, at the view's locations, and is not incoming", () =>
  withShops(async (open) => {
    const shop = await open("drafts");
    const draft = (id: string, quantityOrdered: number, more: object = {}) =>
      order(id, [{ poLineItemId: `line of ${id}`, variantId: "kettle", quantityOrdered }], {
        status: "Draft",
        ...more,
      });
    await shop.bring([
      ...base,
      ...kettle,
      draft("one", 3),
      draft("two", 2.5, { locationId: "pier" }),
      draft("deleted", 7, { deletedAt: "2026-11-03T09:00:00.000Z" }),
      view("all"),
      view("main", { filters: { locationIds: ["main"] } }),
    ]);
    const figures = async (viewId: string) =>
      (await rowsOf(shop, viewId)).map((row) => [row["draftQuantity"], row["incoming"]]);
    assert.deepEqual(await figures("all"), [[5.5, 0]]);
    assert.deepEqual(await figures("main"), [[3, 0]]);
  }));

test("open orders bring what is pending, on the day that their receipt schedule tells", () =>
  withShops(async (open) => {
    const shop = await open("incoming");
    const line = (poLineItemId: string, quantityOrdered: number, more: object = {}) => ({
      poLineItemId,
      variantId: "kettle",
      quantityOrdered,
      unitCost: 4,
      ...more,
    });
    await shop.bring([
      ...base,
      ...kettle,
      // By its lead time: 2 November and 14 days. Four of ten have come.
      order("PO-1", [line("l1", 10, { quantityConfirmed: 10, quantityReceived: 4 })], {
        status: "Partially Received",
        previousStatus: "In Progress",
      }),
      // By its own date, whatever a shipment carries (C13).
      order("PO-2", [line("l2", 12, { expectedDeliveryDate: "2026-12-09" })], {
        shipments: [
          {
            shipmentId: "s1",
            status: "In Transit",
            expectedArrivalDate: "2026-11-30",
            lineAllocations: [{ poLineItemId: "l2", variantId: "kettle", quantityAllocated: 5 }],
          },
        ],
      }),
      // Elsewhere, not sent, done with: none of these counts in the main store's view.
      order("PO-3", [line("l3", 100)], { locationId: "pier" }),
      order("PO-4", [line("l4", 100)], { status: "Draft", sentAt: null }),
      order("PO-5", [line("l5", 100)], { status: "Cancelled", previousStatus: "Sent" }),
      view("main", {
        mode: "supply",
        columns: ["onHand", "incoming", "nextIncomingDate"],
        filters: { locationIds: ["main"] },
        horizonPeriods: 3,
        periodUnit: "week",
      }),
    ]);
    const [row] = await rowsOf(shop, "main");
    assert.deepEqual(row, {
      variantId: "kettle",
      productId: "p-kettle",
      onHand: 4,
      incoming: 18,
      nextIncomingDate: "2026-11-16",
      // Overdue goods are expected today; two days of the week are left.
      "demand:2026-W47": 2,
      "incoming:2026-W47": 6,
      "projectedOnHand:2026-W47": 8,
      "demand:2026-W48": 7,
      "incoming:2026-W48": 0,
      "projectedOnHand:2026-W48": 1,
      "demand:2026-W49": 7,
      "incoming:2026-W49": 0,
      "projectedOnHand:2026-W49": -6,
    });
  }));

/** One sold each day, so many days from so many days ago on. */
const daily = (variantId: string, daysAgo: number, days: number, locationId?: string) =>
  Array.from({ length: days }, (_, index) => sale(variantId, dateOf(today - daysAgo + index), 1, locationId));

const figures = { columns: ["dailyDemand", "incoming", "needsReorder", "suggestedOrderQuantity"] };

test("what comes after lead time and order cycle covers nothing, as soon as its date says so", () =>
  withShops(async (open) => {
    const shop = await open("late");
    const due = (expectedDeliveryDate: string) =>
      order("PO-1", [{ poLineItemId: "l1", variantId: "cup", quantityOrdered: 96, unitCost: 1 }], {
        supplierId: "sud",
        expectedDeliveryDate,
      });
    await shop.bring([
      ...base,
      variant("cup", "Cup"),
      { type: "supplierVariant", supplierId: "sud", variantId: "cup", unitCost: 1, leadTimeDays: 10 },
      level("cup", "main", 5),
      ...daily("cup", 70, 70, "main"),
      view("all", figures),
      view("reorder", { ...figures, filters: { onlyReorder: true } }),
    ]);
    const needed = async () => (await rowsOf(shop, "reorder")).map((row) => row["suggestedOrderQuantity"]);
    assert.deepEqual(await needed(), [41]);
    await shop.bring([due(dateOf(today + 200))]);
    assert.deepEqual(await rowsOf(shop, "all"), [
      {
        variantId: "cup",
        productId: "p-cup",
        dailyDemand: 1,
        incoming: 96,
        needsReorder: true,
        suggestedOrderQuantity: 41,
      },
    ]);
    assert.deepEqual(await needed(), [41]);
    await shop.bring([due(dateOf(today + 40))]);
    assert.deepEqual(await needed(), [], "within lead time and cycle");
    await shop.bring([due(dateOf(today + 41))]);
    assert.deepEqual(await needed(), [41], "a day later");
  }));

const soldOut = [...base, variant("cup", "Cup"), level("cup", "main", 0), view("all", figures)];

test("days without stock are no days without demand, with a location and without", () =>
  withShops(async (open) => {
    for (const locationId of ["main", undefined]) {
      const shop = await open(`out-${String(locationId)}`);
      await shop.bring([...soldOut, ...daily("cup", 140, 70, locationId)]);
      const demand = async () => (await rowsOf(shop, "all"))[0]?.["dailyDemand"];
      assert.equal(await demand(), 1);
      await shop.bring([level("cup", "main", 5)]);
      assert.equal(await demand(), 1, "the level has risen just now");
    }
    const stocked = await open("stocked");
    await stocked.bring([...soldOut, level("cup", "main", 5), ...daily("cup", 140, 70, "main")]);
    assert.equal((await rowsOf(stocked, "all"))[0]?.["dailyDemand"], 0.3332);
  }));

test("receipts, stock takes and adjustments tell the days without stock, whatever comes in first", () =>
  withShops(async (open) => {
    const at = (daysAgo: number): string => `${dateOf(today - daysAgo)}T09:00:00.000Z`;
    const told: Readonly<Record<string, readonly object[]>> = {
      receipt: [
        order(
          "PO-1",
          [{ poLineItemId: "l1", variantId: "cup", quantityOrdered: 20, unitCost: 1, quantityReceived: 20 }],
          {
            status: "Received",
            previousStatus: "In Progress",
            receipts: [
              {
                receiptId: "r1",
                receivedAt: at(1),
                source: "receive",
                lines: [{ poLineItemId: "l1", variantId: "cup", quantityDelta: 20, quantityReceivedAfter: 20 }],
              },
            ],
          },
        ),
      ],
      take: [
        {
          type: "stockTake",
          stockTakeId: "t1",
          status: "Completed",
          locationId: "main",
          completedAt: at(70),
          lineItems: [{ variantId: "cup", quantityCounted: 0 }],
        },
      ],
      adjustment: [
        {
          type: "stockAdjustment",
          stockAdjustmentId: "a1",
          status: "Completed",
          locationId: "main",
          appliedAt: at(1),
          lineItems: [{ variantId: "cup", quantityDelta: 20 }],
        },
      ],
    };
    for (const [kind, records] of Object.entries(told))
      for (const isFirst of [true, false]) {
        const shop = await open(`${kind}-${String(isFirst)}`);
        const sales = [...soldOut, level("cup", "main", 20), ...daily("cup", 140, 70, "main")];
        await shop.bring(isFirst ? [...base, variant("cup", "Cup"), ...records] : sales);
        await shop.bring(isFirst ? sales : records);
        assert.equal((await rowsOf(shop, "all"))[0]?.["dailyDemand"], 1, `${kind}, first: ${String(isFirst)}`);
      }
  }));

test("the figures of two locations add up to those of the whole", () =>
  withShops(async (open) => {
    const shop = await open("sum");
    const columns = ["onHand", "sold30d", "sold90d", "dailyDemand", "lastSoldDate"];
    await shop.bring([
      ...base,
      ...kettle,
      sale("kettle", "2026-11-09", 14, "pier"),
      sale("kettle", "2026-11-18", 2, "pier"),
      view("all", { columns }),
      view("main", { columns, filters: { locationIds: ["main"] } }),
      view("pier", { columns, filters: { locationIds: ["pier"] } }),
    ]);
    const [all] = await rowsOf(shop, "all");
    const [main] = await rowsOf(shop, "main");
    const [pier] = await rowsOf(shop, "pier");
    for (const id of ["onHand", "sold30d", "sold90d", "dailyDemand"])
      assert.equal(all?.[id], Number(main?.[id]) + Number(pier?.[id]), id);
    assert.deepEqual(
      [all, main, pier].map((row) => row?.["lastSoldDate"]),
      ["2026-11-18", "2026-11-17", "2026-11-18"],
    );
    assert.equal(pier?.["dailyDemand"], 2);
  }));

test("sales imported bit by bit, out of order and again teach what one file teaches", () =>
  withShops(async (open) => {
    const days = ["2026-03-02", "2026-03-04", "2026-05-20", "2026-09-07", "2026-11-02", "2026-11-05", "2026-11-16"];
    const sales = days.map((date, index) => sale("kettle", date, index + 1, index % 3 === 0 ? undefined : "main"));
    const whole = await open("whole");
    await whole.bring([...base, variant("kettle", "Kettle"), ...sales, view("all")]);
    const parts = await open("parts");
    await parts.bring([...base, variant("kettle", "Kettle"), view("all")]);
    await parts.bring([sale("kettle", "2026-11-16", 99), ...sales.slice(3, 6).reverse()]);
    await parts.bring(sales.slice(0, 2));
    await parts.bring([sale("kettle", "2026-05-20", 50, "main")]);
    assert.notDeepEqual(await rowsOf(parts, "all"), await rowsOf(whole, "all"));
    await parts.bring([...sales.slice(2, 3), ...sales.slice(6)]);
    assert.deepEqual(await rowsOf(parts, "all"), await rowsOf(whole, "all"));
    assert.notEqual((await rowsOf(whole, "all"))[0]?.["dailyDemand"], 0);
  }));

test("a sale that is taken back leaves nothing behind, even one of a day that was mistyped", () =>
  withShops(async (open) => {
    const shop = await open("mistyped");
    await shop.bring([...base, ...kettle, variant("jug", "Jug"), view("all")]);
    const before = await rowsOf(shop, "all");
    await shop.bring([sale("kettle", "2062-11-17", 5, "main"), sale("jug", "2026-11-03", 5)]);
    assert.equal((await rowsOf(shop, "all"))[1]?.["dailyDemand"], 0);
    await shop.bring([sale("kettle", "2062-11-17", 0, "main"), sale("jug", "2026-11-03", 0)]);
    assert.deepEqual(await rowsOf(shop, "all"), before);
    assert.equal(before[1]?.["dailyDemand"], 1);
  }));

test("a view shows the variants of its suppliers, places and ids, and a caller may ask for some of them", () =>
  withShops(async (open) => {
    const shop = await open("scope");
    await shop.bring([
      ...base,
      ...kettle,
      variant("jug", "Jug"),
      variant("cup-b", "Cup"),
      variant("cup-a", "Cup"),
      { type: "supplierVariant", supplierId: "sud", variantId: "jug", unitCost: 1 },
      level("cup-a", "pier", 0),
      sale("cup-b", "2026-11-10", 1, "pier"),
      order("PO-1", [{ poLineItemId: "l1", variantId: "jug", quantityOrdered: 3, unitCost: 1 }], {
        locationId: "pier",
      }),
      view("all"),
      view("sud", { filters: { supplierIds: ["sud"] } }),
      view("pier", { filters: { locationIds: ["pier"] } }),
      view("both", { filters: { supplierIds: ["sud", "nord"], locationIds: ["main"] } }),
      view("named", { filters: { variantIds: ["kettle", "cup-b", "gone"] } }),
      view("reorder", { filters: { onlyReorder: true } }),
      view("none", { filters: { variantIds: ["gone"] } }),
    ]);
    const ids = async (viewId: string, asked: Asked = {}): Promise<readonly string[]> =>
      (await rowsOf(shop, viewId, asked)).map((row) => row.variantId);
    // By product name, then variant id.
    assert.deepEqual(await ids("all"), ["cup-a", "cup-b", "jug", "kettle"]);
    assert.deepEqual(await ids("sud"), ["jug", "kettle"]);
    // Stocked, sold or expected there.
    assert.deepEqual(await ids("pier"), ["cup-a", "cup-b", "jug", "kettle"]);
    assert.deepEqual(await ids("both"), ["kettle"]);
    assert.deepEqual(await ids("named"), ["cup-b", "kettle"]);
    assert.deepEqual(await ids("none"), []);
    // Those that sell and are short: the jug does not sell, the first cup neither.
    assert.deepEqual(await ids("reorder"), ["cup-b", "kettle"]);
    const asked = { variantIds: ["kettle", "jug", "kettle", "cup-a"] };
    assert.deepEqual(await ids("all", asked), ["cup-a", "jug", "kettle"]);
    assert.deepEqual(await ids("named", asked), ["kettle"]);
    assert.deepEqual(await ids("reorder", asked), ["kettle"]);
    for (const viewId of ["all", "named", "reorder"])
      assert.deepEqual(await ids(viewId, { limit: 1 }), await ids(viewId), viewId);
    assert.deepEqual(await ids("all", { ...asked, limit: 1 }), ["cup-a", "jug", "kettle"]);
  }));

test("pages neither repeat nor skip, whatever their size and whatever comes in between", () =>
  withShops(async (open) => {
    const shop = await open("pages");
    // Names that compare differently by code unit and by code point, and many that are the same.
    const names = ["\u{1F600} mug", "\uFF21 mug", "Mug", "mug", "Äpfel"];
    const variants = Array.from({ length: 97 }, (_, index) =>
      variant(`v-${index}`, names[index % names.length] ?? "", { sku: `S-${index}` }),
    );
    const sales = variants.flatMap(({ variantId }, index) => (index % 2 === 0 ? sale(variantId, "2026-11-10", 5) : []));
    await shop.bring([...variants, ...sales, view("all", { columns: ["sku"] })]);
    await shop.bring([view("reorder", { columns: ["sku"], filters: { onlyReorder: true } })]);
    const everything = await rowsOf(shop, "all", { limit: 1000 });
    assert.equal(everything.length, 97);
    const all = variants.map(({ variantId }) => variantId);
    for (const limit of [1, 7, 48, 96, 97]) {
      assert.deepEqual(await rowsOf(shop, "all", { limit }), everything);
      assert.deepEqual(await rowsOf(shop, "all", { limit, variantIds: all }), everything);
    }
    const short = everything.filter((row) => Number(row.variantId.slice(2)) % 2 === 0);
    assert.deepEqual(await rowsOf(shop, "reorder", { limit: 10 }), short);
    let count = 0;
    const seen = await rowsOf(shop, "all", {
      limit: 10,
      between: () => shop.bring([variant(`a-${(count += 1)}`, count % 2 === 0 ? "A first one" : "zz last one")]),
    });
    assert.deepEqual(
      seen.filter((row) => row.variantId.startsWith("v-")),
      everything,
    );
    assert.equal(new Set(seen.map((row) => row.variantId)).size, seen.length);
  }));

test("a view of reorders only has the dearest stock-out first where that is asked for: page by page, remembered, and decided again", () =>
  withShops(async (open) => {
    const shop = await open("dear", { currencyCode: "EUR", fxRates: {} });
    const weeks = ["2026-10-19", "2026-10-26", "2026-11-02", "2026-11-09"];
    const selling = (variantId: string, weekly: number, more: object = {}) => [
      variant(variantId, `Mug ${variantId}`, more),
      level(variantId, "main", 1),
      ...weeks.map((date) => sale(variantId, date, weekly, "main")),
    ];
    const dear = [
      ...selling("a", 7, { unitCost: 2 }),
      ...selling("b", 7, { price: 5, unitCost: 2 }),
      ...selling("c", 14, { price: 5, unitCost: 2 }),
      ...selling("d", 7, { price: 5 }),
      ...selling("e", 7),
      ...selling("f", 7, { price: 5, unitCost: 2 }),
      level("f", "pier", 1_000),
      view("low", { filters: { onlyReorder: true } }),
      view("everything"),
    ];
    await shop.bring([...base, ...dear]);
    const read = async (viewId: string, asked: Asked = {}): Promise<readonly unknown[]> =>
      (await rowsOf(shop, viewId, { limit: 2, ...asked })).map((row) => [row.variantId, row["stockoutCost"]]);
    const dearest = [
      ["c", 6],
      ["d", 5],
      ["b", 3],
      ["a", 2],
      ["e", null],
    ];
    const byName = dearest.toSorted(([one], [other]) => String(one).localeCompare(String(other)));
    for (const reading of ["decided", "remembered"]) {
      assert.deepEqual(await read("low", { dearestFirst: true }), dearest, reading);
      assert.deepEqual(await read("low"), byName, reading);
    }
    assert.deepEqual(await read("low", { dearestFirst: true, variantIds: ["a", "b"] }), [dearest[2], dearest[3]]);
    assert.deepEqual(await read("everything", { dearestFirst: true }), await read("everything"));
    // A higher price moves one up.
    await shop.bring([variant("b", "Mug b", { price: 9, unitCost: 2 })]);
    const [c, d, , ...others] = dearest;
    assert.deepEqual(await read("low", { dearestFirst: true }), [["b", 7], c, d, ...others]);
  }));

test("a view comes in, goes out as it is, and is replaced whole", () =>
  withShops(async (open) => {
    const shop = await open("views");
    const record = {
      type: "forecastView",
      viewId: "fv-1",
      viewName: "To order",
      isStarred: true,
      isAutogenerated: false,
      mode: "supply",
      columns: ["sku", "onHand"],
      filters: { supplierIds: ["sud", "nord"], locationIds: null, variantIds: ["b", "a"], onlyReorder: true },
      horizonPeriods: 8,
      periodUnit: "week",
    };
    await shop.bring([record, view("fv-2")]);
    const exported = (await shop.records()).filter(({ type }) => type === "forecastView");
    assert.deepEqual(exported[0], record);
    assert.deepEqual(exported[1], {
      ...view("fv-2"),
      isStarred: false,
      isAutogenerated: false,
      filters: { supplierIds: null, locationIds: null, variantIds: null, onlyReorder: false },
      horizonPeriods: 6,
      periodUnit: "month",
    });
    const changed = { ...record, columns: ["stockValue"], filters: { ...record.filters, variantIds: null } };
    await shop.bring([changed]);
    assert.deepEqual((await shop.records())[0], changed);
    for (const [broken, member] of [
      [{ ...record, columns: ["nothing"] }, "/columns/0"],
      [{ ...record, columns: [] }, "/columns"],
      [{ ...record, columns: ["sku", "sku"] }, "/columns/1"],
      [{ ...record, horizonPeriods: 53 }, "/horizonPeriods"],
      [{ ...record, filters: { supplierIds: [] } }, "/filters/supplierIds"],
      [{ ...record, filters: { brand: "x" } }, "/filters/brand"],
      [{ ...record, mode: "demand" }, "/mode"],
    ] as const)
      await assert.rejects(shop.bring([broken]), (error: Error) => error.message.includes(`line 1: ${member}`));
    assert.deepEqual((await shop.records())[0], changed);
  }));

test("what a buyer has set steers a view's rows, of one location its own; archived ones are left out, preferred suppliers come first", () =>
  withShops(async (open) => {
    const shop = await open("steered", { currencyCode: "EUR", fxRates: {} });
    const columns = ["supplierName", "leadTimeDays", "reorderPoint", "suggestedOrderQuantity", "reorderReason"];
    await shop.bring([
      ...base,
      ...kettle,
      view("all", { columns }),
      view("due", { columns, filters: { onlyReorder: true } }),
      view("main", { columns, filters: { locationIds: ["main"], onlyReorder: true } }),
      view("pier", { columns, filters: { locationIds: ["pier"] } }),
    ]);
    const set = async (more: object): Promise<unknown> =>
      await shop.bring([variant("kettle", "Kettle", { sku: "K-1", unitCost: 3.5, ...more })]);
    const shownIn = async (viewId: string): Promise<readonly unknown[]> =>
      (await rowsOf(shop, viewId)).map((row) => columns.map((column) => row[column]));
    assert.deepEqual(await shownIn("due"), [["Südwind", 3, 5.849, 31, "demand"]]);
    // 20 + 10 days of 1 − 5.5 on hand, at most 24.
    await set({ reorder: { minimum: 20, coverDays: 10 } });
    assert.deepEqual(await shownIn("due"), [["Südwind", 3, 20, 25, "minimum"]]);
    await set({ reorder: { minimum: 20, coverDays: 10, maximum: 24 } });
    assert.deepEqual(await shownIn("due"), [["Südwind", 3, 20, 19, "maximum"]]);
    // At the main store 4 are on hand; its own settings come first, the variant's hold beside them.
    await set({
      reorder: {
        coverDays: 10,
        locations: [
          { locationId: "main", minimum: 8 },
          { locationId: "pier", isExcluded: true, minimum: 9 },
        ],
      },
    });
    assert.deepEqual(await shownIn("main"), [["Südwind", 3, 8, 14, "minimum"]]);
    assert.deepEqual(await shownIn("pier"), [["Südwind", 3, 9, 0, "excluded"]]);
    assert.deepEqual(await shownIn("due"), [["Südwind", 3, 5.849, 11, "demand"]]);
    await shop.bring([
      {
        type: "supplierVariant",
        supplierId: "nord",
        variantId: "kettle",
        unitCost: 4.4,
        moq: 20,
        packSize: 6,
        isPreferred: true,
      },
    ]);
    await set({ reorder: { leadTimeDays: 3 } });
    assert.deepEqual(await shownIn("due"), [["Nordwind", 3, 5.849, 36, "demand"]]);
    await set({ isArchived: true });
    assert.deepEqual(await shownIn("due"), []);
    assert.deepEqual((await shownIn("all"))[0]?.toString().endsWith(",0,archived"), true);
  }));

test("goods that come after a shorter cover do not cover", () =>
  withShops(async (open) => {
    const shop = await open("late", { currencyCode: "EUR", fxRates: {} });
    const line = { poLineItemId: "a", variantId: "kettle", quantityOrdered: 50, expectedDeliveryDate: "2026-12-10" };
    await shop.bring([...base, ...kettle, order("po_1", [line]), view("due", { filters: { onlyReorder: true } })]);
    assert.deepEqual(await rowsOf(shop, "due"), []);
    // In 3 days of lead time and 10 of cover the goods of the nineteenth day are not there.
    await shop.bring([variant("kettle", "Kettle", { reorder: { coverDays: 10 } })]);
    assert.equal((await rowsOf(shop, "due"))[0]?.["suggestedOrderQuantity"], 11);
  }));
