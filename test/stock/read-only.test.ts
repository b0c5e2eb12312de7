/**
 * The read-only resources over HTTP: what comes in by import is what is read (spec "Stock takes (read-only)", "Stock adjustments
 * (read-only)", "Transfer orders (read-only)", "Manufacturing orders (read-only)"; contract §9).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bring } from "../support/shops/imported-records.ts";
import { reasons, world } from "../support/shops/read-only.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";

/** The clock of the tests: 9 March 2026, noon. */
const nowMs = Date.parse("2026-03-09T12:00:00Z");

async function startWorld(): Promise<TestServer & AsyncDisposable> {
  const server = await startServer();
  server.clock.advance(nowMs - server.clock.now());
  await bring(server, world);
  return server;
}

/** The ids of a list's rows, in order. */
function idsOf(response: TestResponse, collection: string, member: string): readonly unknown[] {
  assert.equal(response.status, 200, response.text);
  const rows = response.at("data", collection);
  assert.ok(Array.isArray(rows), response.text);
  return rows.map((_, index) => response.at("data", collection, index, member));
}

test("a stock take tells what was counted: uncounted lines change nothing, worth is exact and rounded once", async () => {
  await using server = await startWorld();
  const header = {
    stockTakeId: "st_1",
    stockTakeNumber: "ST-1",
    stockTakeName: "Spring count",
    status: "Counted",
    locationId: "loc_main",
    countType: "partial",
    reasonId: "rsn_damage",
    reason: "Damaged",
    itemCount: 3,
    countedItemCount: 2,
    netQuantityChange: -1.5,
    // −2.5 × 19.99 + 2.5 = −47.475, half away from zero.
    netValueChange: -47.48,
    currencyCode: "EUR",
    stockAdjustmentId: null,
    createdBy: "Ada",
    createdAt: "2026-03-01T09:00:00.000Z",
    startedAt: null,
    completedAt: null,
    note: null,
  };
  const common = { reasonId: null, countedBy: null, countedAt: null, note: null };
  const lineItems = [
    {
      stockTakeLineItemId: "stl_1",
      variantId: "v_mug",
      sku: "MUG-1",
      productName: "Mug",
      quantityExpected: 10,
      quantityCounted: 7.5,
      quantityVariance: -2.5,
      unitCost: 19.99,
      valueVariance: -49.98,
      ...common,
    },
    {
      stockTakeLineItemId: "stl_2",
      variantId: "v_tea",
      sku: "TEA-1",
      productName: "Tea",
      quantityExpected: 4,
      quantityCounted: 5,
      quantityVariance: 1,
      unitCost: null,
      valueVariance: 2.5,
      ...common,
    },
    {
      stockTakeLineItemId: "stl_3",
      variantId: "v_unknown",
      sku: null,
      productName: null,
      quantityExpected: 4,
      quantityCounted: null,
      quantityVariance: null,
      unitCost: 1,
      valueVariance: null,
      ...common,
    },
  ];
  assert.deepEqual((await server.get("/api/v1/stock-takes/st_1")).at("data"), { stockTake: { ...header, lineItems } });
  assert.deepEqual((await server.get("/api/v1/stock-takes")).at("data"), {
    stockTakes: [header],
    totalCount: 1,
    cursor: null,
  });
  assert.deepEqual((await server.get("/api/v1/stock-takes/st_1/line-items")).at("data"), {
    lineItems,
    totalCount: 3,
    cursor: null,
  });
  assert.deepEqual(idsOf(await server.get("/api/v1/stock-takes?search=pring"), "stockTakes", "stockTakeId"), ["st_1"]);
  assert.deepEqual(idsOf(await server.get("/api/v1/stock-takes?status=Draft"), "stockTakes", "stockTakeId"), []);
});

test("the reasons are not the stock take named so", async () => {
  await using server = await startWorld();
  const [damage, found] = reasons;
  assert.deepEqual((await server.get("/api/v1/stock-takes/reasons")).at("data"), {
    reasons: [
      {
        reasonId: damage.reasonId,
        name: "Damaged",
        code: "DMG",
        direction: "decrease",
        isSystem: false,
        isActive: true,
      },
      { reasonId: found.reasonId, name: "Found", code: null, direction: "increase", isSystem: true, isActive: false },
    ],
  });
});

test("an adjustment's net change is the sum of its lines, before and after it is imported again", async () => {
  await using server = await startWorld();
  const before = await server.get("/api/v1/stock-adjustments/sa_1");
  assert.equal(before.at("data", "stockAdjustment", "netQuantityChange"), -1.5);
  assert.equal(before.at("data", "stockAdjustment", "netValueChange"), -46.98);
  assert.equal(before.at("data", "stockAdjustment", "lineItems", 0, "valueChange"), -49.98);
  await bring(server, [
    {
      type: "stockAdjustment",
      stockAdjustmentId: "sa_1",
      netQuantityChange: 99,
      createdAt: "2026-03-02T09:00:00.000Z",
      lineItems: [{ variantId: "v_tea", quantityDelta: -0.125 }],
    },
  ]);
  const after = await server.get("/api/v1/stock-adjustments/sa_1");
  assert.equal(after.at("data", "stockAdjustment", "netQuantityChange"), -0.125);
  assert.equal(after.at("data", "stockAdjustment", "netValueChange"), 0);
  assert.equal(after.at("data", "stockAdjustment", "itemCount"), 1);
  assert.equal(after.at("data", "stockAdjustment", "lineItems", 0, "sku"), "TEA-1");
  assert.equal(after.at("data", "stockAdjustment", "lineItems", 1), undefined);
});

test("a revert pair is linked from both sides, whichever side names the other", async () => {
  await using server = await startWorld();
  const links: Record<string, unknown> = {};
  const list = await server.get("/api/v1/stock-adjustments");
  for (const [index, stockAdjustmentId] of idsOf(list, "stockAdjustments", "stockAdjustmentId").entries()) {
    const own = await server.get(`/api/v1/stock-adjustments/${String(stockAdjustmentId)}`);
    for (const member of ["revertOf", "revertedBy"])
      assert.equal(
        own.at("data", "stockAdjustment", member),
        list.at("data", "stockAdjustments", index, member),
        "the list and the detail agree",
      );
    links[String(stockAdjustmentId)] = [
      own.at("data", "stockAdjustment", "revertOf"),
      own.at("data", "stockAdjustment", "revertedBy"),
    ];
  }
  assert.deepEqual(links, {
    sa_1: [null, "sa_2"],
    sa_2: ["sa_1", null],
    sa_3: [null, "sa_4"],
    sa_4: ["sa_3", null],
  });
});

test("adjustments are found by a reason's id, by its name in any case, and by who made them", async () => {
  await using server = await startWorld();
  const found = async (query: string) =>
    idsOf(await server.get(`/api/v1/stock-adjustments?${query}`), "stockAdjustments", "stockAdjustmentId");
  assert.deepEqual(await found("reason=rsn_damage"), ["sa_1"]);
  assert.deepEqual(await found("reason=dAMAGED"), ["sa_1"]);
  assert.deepEqual(await found("reason=oops"), ["sa_2"]);
  assert.deepEqual(await found("reason=rsn"), []);
  assert.deepEqual(await found("createdBy=Bob"), ["sa_2"]);
  assert.deepEqual(await found("createdBy=bob"), []);
  assert.deepEqual(await found("search=sa-1"), ["sa_2", "sa_1"], "the note of SA-2 names SA-1");
  assert.deepEqual(await found("status=Draft,Reverted,Draft"), ["sa_4", "sa_3", "sa_1"]);
});

test("a transfer is read whole and in parts: its addresses are those of its locations", async () => {
  await using server = await startWorld();
  const header = {
    transferOrderId: "to_1",
    transferNumber: "TO-1",
    transferName: "Restock the shop",
    status: "Partially Received",
    fromLocationId: "loc_main",
    toLocationId: "loc_shop",
    itemCount: 2,
    totalQuantity: 11.5,
    totalValue: 199.95,
    currencyCode: "EUR",
    expectedArrivalDate: "2026-03-09",
    shippedAt: null,
    receivedAt: null,
    createdBy: null,
    createdAt: "2026-03-05T09:00:00.000Z",
    updatedAt: "2026-03-06T09:00:00.000Z",
    note: null,
  };
  const lineItems = [
    {
      transferLineItemId: "tol_1",
      variantId: "v_mug",
      sku: "MUG-1",
      quantityRequested: 10,
      quantityShipped: 12,
      quantityReceived: 5,
      quantityRejected: 1,
      quantityCancelled: 0,
      quantityPending: 6,
      unitCost: 19.995,
    },
    {
      transferLineItemId: "tol_2",
      variantId: "v_tea",
      sku: "OTHER",
      quantityRequested: 1.5,
      quantityShipped: 0,
      quantityReceived: 0,
      quantityRejected: 0,
      quantityCancelled: 2,
      quantityPending: 0,
      unitCost: null,
    },
  ];
  const addresses = {
    fromAddress: {
      companyName: null,
      contactName: null,
      address1: "Kade 1",
      address2: null,
      city: "Delft",
      province: null,
      provinceCode: null,
      country: null,
      countryCode: "NL",
      zip: null,
      phone: null,
      email: null,
    },
    toAddress: null,
  };
  const detail = await server.get("/api/v1/transfer-orders/to_1");
  const log = detail.at("data", "transferOrder", "log");
  assert.deepEqual(detail.at("data"), { transferOrder: { ...header, lineItems, addresses, log } });
  assert.deepEqual((await server.get("/api/v1/transfer-orders")).at("data", "transferOrders"), [header]);
  const base = "/api/v1/transfer-orders/to_1";
  assert.deepEqual((await server.get(`${base}/line-items`)).at("data", "lineItems"), lineItems);
  assert.deepEqual((await server.get(`${base}/addresses`)).at("data"), { addresses });
  assert.deepEqual((await server.get(`${base}/log`)).at("data"), { log, totalCount: 2, cursor: null });
  assert.deepEqual(idsOf(await server.get(`${base}/log`), "log", "logId"), ["log_2", "log_1"], "newest first");
  assert.deepEqual(idsOf(await server.get(`${base}/documents`), "documents", "documentId"), ["doc_1"]);
  const shipment = await server.get(`${base}/shipment`);
  assert.equal(shipment.at("data", "shipment", "carrier"), "Van");
  assert.equal(shipment.at("data", "shipment", "lineAllocations", 0, "quantityAllocated"), 12);
  await bring(server, [{ type: "transferOrder", transferOrderId: "to_1" }]);
  assert.deepEqual((await server.get(`${base}/shipment`)).at("data"), { shipment: null }, "it was replaced as a whole");
});

test("a manufacturing order is read whole; how far it is only when that is asked for", async () => {
  await using server = await startWorld();
  const header = {
    manufacturingOrderId: "mo_1",
    moNumber: "MO-1",
    moName: "Gift sets",
    status: "In Progress",
    executionMode: "in-house",
    productionLocationId: "loc_main",
    supplierId: null,
    plannedStartDate: "2026-03-02",
    dueDate: "2026-03-10",
    startedAt: null,
    completedAt: null,
    createdAt: "2026-03-01T09:00:00.000Z",
    createdBy: null,
    note: null,
  };
  const measures = {
    // 3 of 8 and all of 4: 7 of 12.
    progressPercent: 58.3,
    quantityPlanned: 12,
    quantityCompleted: 8,
    quantityRemaining: 5,
    // 4 of 24 are short.
    materialsReadyPercent: 83.3,
    // 16 × 19.995 + 8 × 1, and 4 × 0.5 for the card, which no material is for.
    plannedCost: 329.92,
    actualCost: 171.46,
    currencyCode: "EUR",
    isLate: false,
  };
  const detail = {
    ...header,
    itemsToBuild: [
      {
        moItemId: "moi_1",
        variantId: "v_set",
        sku: null,
        quantityPlanned: 8,
        quantityCompleted: 3,
        quantityScrapped: 1,
        unitCost: 9,
      },
      {
        moItemId: "moi_2",
        variantId: "v_card",
        sku: null,
        quantityPlanned: 4,
        quantityCompleted: 5,
        quantityScrapped: 0,
        unitCost: 0.5,
      },
    ],
    materials: [
      {
        moMaterialId: "mom_1",
        moItemId: "moi_1",
        variantId: "v_mug",
        sku: "MUG-1",
        quantityPerUnit: 2,
        quantityRequired: 16,
        quantityAllocated: 4,
        quantityConsumed: 8,
        quantityShort: 4,
        unitCost: 19.995,
      },
      {
        moMaterialId: "mom_2",
        moItemId: "moi_1",
        variantId: "v_tea",
        sku: "TEA-1",
        quantityPerUnit: null,
        quantityRequired: 8,
        quantityAllocated: 0,
        quantityConsumed: 9,
        quantityShort: 0,
        unitCost: 1,
      },
    ],
    linkedPurchaseOrders: [
      { purchaseOrderId: "po_1", poNumber: "PO-7", status: "Draft" },
      { purchaseOrderId: "po_gone", poNumber: null, status: null },
    ],
    linkedTransferOrders: [{ transferOrderId: "to_1", transferNumber: "TO-1", status: "Partially Received" }],
    stockReleases: [
      {
        stockReleaseId: "mor_1",
        variantId: "v_mug",
        locationId: "loc_main",
        quantity: 8,
        direction: "consume",
        releasedAt: "2026-03-03T09:00:00.000Z",
        releasedBy: "Ada",
      },
    ],
  };
  const base = "/api/v1/manufacturing-orders";
  assert.deepEqual((await server.get(`${base}/mo_1`)).at("data"), { manufacturingOrder: detail });
  assert.deepEqual((await server.get(base)).at("data", "manufacturingOrders"), [header]);
  assert.deepEqual((await server.get(`${base}/mo_1?includeMeasures=true`)).at("data"), {
    manufacturingOrder: { ...detail, measures },
  });
  assert.deepEqual((await server.get(`${base}?includeMeasures=true`)).at("data", "manufacturingOrders"), [
    { ...header, measures },
  ]);
  assert.deepEqual(idsOf(await server.get(`${base}/mo_1/log`), "log", "logId"), ["log_1"]);
  server.clock.advance(2 * 86_400_000);
  const late = await server.get(`${base}/mo_1?includeMeasures=true`);
  assert.equal(late.at("data", "manufacturingOrder", "measures", "isLate"), true);
});

test("repeatable filters repeat and take comma lists; a range is on the field that was asked for", async () => {
  await using server = await startWorld();
  const order = (manufacturingOrderId: string, more: object) => ({
    type: "manufacturingOrder",
    manufacturingOrderId,
    createdAt: "2026-02-01T00:00:00Z",
    ...more,
  });
  await bring(server, [
    order("mo_2", { status: "Planned", productionLocationId: "loc_a", dueDate: "2026-04-01" }),
    order("mo_3", { status: "On Hold", productionLocationId: "loc_b", completedAt: "2026-04-02T10:00:00Z" }),
    order("mo_4", { status: "Completed", productionLocationId: "loc_c", executionMode: "outsourced" }),
  ]);
  const found = async (query: string) =>
    idsOf(await server.get(`/api/v1/manufacturing-orders?${query}`), "manufacturingOrders", "manufacturingOrderId");
  assert.deepEqual(await found("status=Planned&status=Completed,On%20Hold"), ["mo_4", "mo_3", "mo_2"]);
  assert.deepEqual(await found("productionLocationId=loc_a&productionLocationId=loc_c"), ["mo_4", "mo_2"]);
  assert.deepEqual(await found("productionLocationId=loc_a,loc_b&status=Planned"), ["mo_2"]);
  assert.deepEqual(await found("executionMode=outsourced"), ["mo_4"]);
  assert.deepEqual(await found("dateField=dueDate&dateFrom=2026-04-01&dateTo=2026-04-01"), ["mo_2"]);
  assert.deepEqual(await found("dateField=completedAt&dateTo=2026-04-02"), ["mo_3"]);
  assert.deepEqual(await found("dateFrom=2026-03-01"), ["mo_1"]);
  for (const [query, path] of [
    ["status=Nope", "/status/0"],
    ["executionMode=both", "/executionMode/0"],
    ["dateField=updatedAt", "/dateField"],
    ["dateFrom=2026-02-02&dateTo=2026-02-01", "/dateTo"],
    ["includeMeasures=yes", "/includeMeasures"],
    ["locationId=loc_a", "/locationId"],
  ]) {
    const refused = await server.get(`/api/v1/manufacturing-orders?${query}`);
    assert.equal(refused.status, 400, query);
    assert.equal(refused.at("error", "details", 0, "path"), path);
  }
});

test("pages neither repeat nor skip while records come in, and a cursor belongs to its list and filters", async () => {
  await using server = await startWorld();
  const take = (index: number, more: object = {}) => ({
    type: "stockTake",
    stockTakeId: `st_many_${String(index).padStart(3, "0")}`,
    status: "Completed",
    // Two of each age: the id breaks the tie.
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(index / 2))).toISOString(),
    ...more,
  });
  await bring(
    server,
    Array.from({ length: 100 }, (_, index) => take(index)),
  );
  const first = await server.get("/api/v1/stock-takes?status=Completed");
  assert.equal(first.at("data", "totalCount"), 100);
  const cursor = first.textAt("data", "cursor");
  // Newer than all that was shown.
  await bring(server, [take(500), take(501)]);
  const second = await server.get(`/api/v1/stock-takes?status=Completed&cursor=${cursor}`);
  assert.equal(second.at("data", "cursor"), null, "the count is a multiple of the page");
  assert.equal(second.at("data", "totalCount"), 102);
  const ids = [first, second].flatMap((page) => idsOf(page, "stockTakes", "stockTakeId"));
  assert.deepEqual(
    ids,
    Array.from({ length: 100 }, (_, index) => take(99 - index).stockTakeId),
  );
  for (const target of [
    `/api/v1/stock-takes?cursor=${cursor}`,
    `/api/v1/stock-takes?status=Draft&cursor=${cursor}`,
    `/api/v1/stock-adjustments?status=Completed&cursor=${cursor}`,
    `/api/v1/stock-takes?status=Completed&cursor=${cursor}x`,
    "/api/v1/stock-takes?limit=51",
    "/api/v1/stock-takes?limit=0",
  ])
    assert.equal((await server.get(target)).status, 400, target);
});

test("lines come page by page when limit is given, in the order of the document", async () => {
  await using server = await startWorld();
  const base = "/api/v1/stock-takes/st_1/line-items";
  const first = await server.get(`${base}?limit=2`);
  assert.deepEqual(idsOf(first, "lineItems", "stockTakeLineItemId"), ["stl_1", "stl_2"]);
  assert.equal(first.at("data", "totalCount"), 3);
  const second = await server.get(`${base}?limit=2&cursor=${first.textAt("data", "cursor")}`);
  assert.deepEqual(idsOf(second, "lineItems", "stockTakeLineItemId"), ["stl_3"]);
  assert.equal(second.at("data", "cursor"), null);
});

test("an unknown id is 404 everywhere, and says where to look", async () => {
  await using server = await startWorld();
  for (const path of [
    "stock-takes/x",
    "stock-takes/x/line-items",
    "stock-adjustments/x",
    "stock-adjustments/x/line-items",
    "transfer-orders/x",
    "transfer-orders/x/line-items",
    "transfer-orders/x/shipment",
    "transfer-orders/x/documents",
    "transfer-orders/x/addresses",
    "transfer-orders/x/log",
    "manufacturing-orders/x",
    "manufacturing-orders/x/log",
  ]) {
    const answer = await server.get(`/api/v1/${path}`);
    assert.equal(answer.status, 404, path);
    assert.match(answer.textAt("error", "action"), new RegExp(`GET /${path.split("/")[0]}\\.`));
  }
});
