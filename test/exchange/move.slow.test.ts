/**
 * Moves a shop by export and import from SQLite to PostgreSQL and back. Every answer is the same byte for byte, ids included.
 *
 * Only on postgres: both engines are opened here; a second run would be the same.
 *
 * The shop has the traces of every kind of operation, records of every type, and texts of the maximum length.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { demoRecords } from "../../src/demo/records.ts";
import { exportRecords } from "../../src/exchange/export.ts";
import { isJsonObject, type Json } from "../../src/base/json.ts";
import { fxRateFrom } from "../../src/core/money/money.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { systemClock } from "../../src/base/time/system.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { world } from "../support/shops/read-only.ts";
import type { TestResponse, TestServer } from "../support/server.ts";
import { idsIn } from "../support/openapi/ids-in.ts";

const orders = "/api/v1/purchase-orders";

/** A text of this many characters of three bytes each that cannot be compressed. */
function longText(length: number, seed: number): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return String.fromCharCode(0x4e00 + (state % 20_000));
  }).join("");
}

const longId = (seed: number): string => longText(200, seed);
const longRecords: readonly object[] = [
  { type: "location", locationId: longId(1), name: longId(2) },
  { type: "supplier", supplierId: longId(3), name: longId(4), currencyCode: "EUR" },
  {
    type: "variant",
    variantId: longId(5),
    productId: longId(6),
    productName: longText(500, 7),
    variantName: longText(500, 8),
    sku: longId(9),
    barcode: longId(10),
  },
  {
    type: "supplierVariant",
    supplierId: longId(3),
    variantId: longId(5),
    supplierSku: longId(11),
    supplierProductName: longText(500, 12),
    supplierProductUrl: `https://example.com/${longText(1_980, 13)}`,
    supplierVariantDetails: { words: longText(9_000, 14) },
  },
  { type: "inventoryLevel", variantId: longId(5), locationId: longId(1), onHand: 5 },
  { type: "sale", variantId: longId(5), locationId: longId(1), date: "2026-02-01", quantity: 2 },
  { type: "supplierCredit", creditId: longId(15), supplierId: longId(3), amount: 5, currencyCode: "EUR" },
  {
    type: "purchaseOrder",
    purchaseOrderId: longId(16),
    poNumber: longId(17),
    poName: longId(18),
    supplierReference: longId(19),
    status: "Partially Received",
    supplierId: longId(3),
    locationId: longId(1),
    note: longText(5_000, 20),
    lineItems: [
      {
        poLineItemId: longId(21),
        variantId: longId(5),
        quantityOrdered: 5,
        quantityConfirmed: 5,
        quantityReceived: 2,
        unitCost: 1.25,
      },
    ],
    payments: [
      {
        paymentId: longId(22),
        paymentName: longId(23),
        paymentType: "deposit",
        status: "Paid",
        amount: 1,
        currencyCode: "EUR",
        createdAt: "2026-03-01T09:00:00.000Z",
      },
    ],
  },
  { type: "stockTakeReason", reasonId: longId(24), name: longId(25), direction: "both" },
  {
    type: "stockTake",
    stockTakeId: longId(26),
    stockTakeNumber: longId(27),
    locationId: longId(1),
    reasonId: longId(24),
  },
  {
    type: "stockAdjustment",
    stockAdjustmentId: longId(28),
    locationId: longId(1),
    reason: longId(29),
    createdBy: longId(30),
    revertOf: longId(31),
    lineItems: [{ stockAdjustmentLineItemId: longId(32), variantId: longId(5), quantityDelta: 1 }],
  },
  {
    type: "transferOrder",
    transferOrderId: longId(33),
    transferNumber: longId(34),
    fromLocationId: longId(1),
    toLocationId: longId(35),
    lineItems: [{ transferLineItemId: longId(36), variantId: longId(5), sku: longId(37), quantityRequested: 1 }],
  },
  {
    type: "manufacturingOrder",
    manufacturingOrderId: longId(38),
    moNumber: longId(39),
    executionMode: "in-house",
    productionLocationId: longId(1),
  },
  {
    type: "forecastView",
    viewId: longId(40),
    viewName: longId(41),
    mode: "stock",
    columns: ["productName", "onHand"],
    filters: { variantIds: [longId(5)], supplierIds: [longId(3)], locationIds: [longId(1)] },
  },
];

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked;
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

/** Creates an order of red and blue and moves it to In Progress. */
async function inProgress(
  server: TestServer,
  poName: string,
): Promise<{ readonly at: string; readonly lines: string[] }> {
  const lineItems = [
    { variantId: "red", quantityOrdered: 10, unitCost: 4 },
    { variantId: "blue", quantityOrdered: 5.5, unitCost: 2.5, unitCostCurrencyCode: "USD" },
  ];
  const made = await ok(server.post(orders, { poName, supplierId: "mill", locationId: "warehouse", lineItems }));
  const at = `${orders}/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  await ok(server.post(`${at}/status`, { status: "Sent" }));
  await ok(server.post(`${at}/confirm`, { confirmAll: true }));
  const lines = [0, 1].map((index) => made.textAt("data", "purchaseOrder", "lineItems", index, "poLineItemId"));
  return { at, lines };
}

/** Calls every kind of operation. */
async function workAMonth(server: GoodsServer): Promise<void> {
  await ok(server.patch((await inProgress(server, "header")).at, { note: "ünï", tags: ["a"], fxRateOverride: 1.1 }));
  for (const [poName, status] of [
    ["held", "On Hold"],
    ["disputed", "Disputed"],
    ["cancelled", "Cancelled"],
  ] as const)
    await ok(server.post(`${(await inProgress(server, poName)).at}/status`, { status }));

  const edited = await inProgress(server, "edited");
  await ok(server.post(`${edited.at}/line-items`, { lineItems: [{ variantId: "green", quantityOrdered: 1 }] }));
  await ok(server.post(`${edited.at}/line-items/custom`, { productName: "Pallet", quantityOrdered: 3, unitCost: 1 }));
  const lines = [{ lineItemId: edited.lines[0], unitCost: 3.5, supplierSku: "R-9" }];
  await ok(server.patch(`${edited.at}/line-items`, { lines, updateSupplier: true }));
  await ok(server.delete(`${edited.at}/line-items?lineItemIds=${edited.lines[1]}`));

  const received = await inProgress(server, "received");
  await ok(server.post(`${received.at}/receive`, { lines: [{ lineItemId: received.lines[0], quantityReceived: 7 }] }));
  await ok(
    server.post(`${received.at}/unreceive`, {
      lines: [{ lineItemId: received.lines[0], quantity: 2 }],
      reason: "broken",
    }),
  );
  await ok(server.post(`${received.at}/storefront-sync`));
  await ok(server.post(`${received.at}/storefront-sync/reset`));

  const completed = await inProgress(server, "completed");
  const totals = completed.lines.map((lineItemId) => ({ lineItemId, quantityReceived: 5 }));
  await ok(server.post(`${completed.at}/receive`, { lines: totals }));
  await ok(server.post(`${completed.at}/storefront-sync`));
  await ok(server.post(`${completed.at}/complete`));
  await ok(server.post(`${(await inProgress(server, "quick")).at}/quick-complete`));

  await ok(
    server.delete(
      `${orders}/${(await ok(server.post(orders, {}))).textAt("data", "purchaseOrder", "purchaseOrderId")}`,
    ),
  );
  const gone = await inProgress(server, "gone");
  await ok(server.post(`${gone.at}/status`, { status: "Cancelled" }));
  await ok(server.delete(gone.at));
}

const exported = async (server: TestServer): Promise<string> => {
  let text = "";
  for await (const part of exportRecords(server.engine, server.shopId)) text += part;
  return text;
};

const recordsOf = (file: string): readonly object[] =>
  file
    .split("\n")
    .filter((line) => line !== "")
    .map((line): object => JSON.parse(line));

const paths: Readonly<Record<string, Json>> = (() => {
  const found = openApiDocument(operations)["paths"] ?? null;
  return isJsonObject(found) ? found : assert.fail();
})();

const filters: readonly string[] = [
  "search=e",
  "search=%E6",
  "status=Draft",
  "status=Completed",
  "locationId=warehouse",
  "variantId=red",
  "sku=TEA-1",
  "supplierId=mill",
  "paidStatus=Paid",
  "dateFrom=2026-03-01",
  "dateField=dueDate",
  "includeMeasures=true",
  "includeAutogenerated=true",
];

/**
 * Reads every GET answer of the shop that can be found, by target, in a form that can be compared: without the request id, and without
 * cursors, which may contain positions in a table that are not part of the shop.
 */
async function answersOf(server: TestServer): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  const ids = new Map<string, Set<string>>();
  const ask = async (target: string, name = target): Promise<TestResponse> => {
    const answer = await server.get(target);
    const body = answer.text
      .replaceAll(answer.textAt(answer.status < 400 ? "meta" : "error", "requestId"), "req")
      .replace(/"cursor":"[^"]+"/, '"cursor":"…"');
    answers.set(name, `${answer.status} ${answer.headers.etag ?? ""} ${body}`);
    idsIn(answer.at("data") ?? null, ids);
    return answer;
  };
  const pages = async (target: string, limit: number): Promise<void> => {
    let cursor: Json | undefined = "";
    for (let page = 1; typeof cursor === "string"; page += 1) {
      const place = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const answer: TestResponse = await ask(
        `${target}?limit=${limit}${place}`,
        `${target}?limit=${limit}, page ${page}`,
      );
      cursor = answer.at("data", "cursor");
    }
  };
  const gets = Object.entries(paths).flatMap(([path, item]) => {
    const get = isJsonObject(item) ? item["get"] : undefined;
    return get === undefined || path.endsWith("openapi.json")
      ? []
      : [{ path, isPaged: JSON.stringify(get).includes('"limit"') }];
  });
  for (const { path, isPaged } of gets) {
    if (path.includes("{")) continue;
    await ask(path);
    if (isPaged) await pages(path, 5);
    for (const filter of filters) await ask(`${path}?${filter}`);
  }
  for (const { path, isPaged } of gets) {
    const parameter = /\{(\w+)\}/.exec(path)?.[1];
    if (parameter === undefined) continue;
    const found = [...(ids.get(parameter) ?? [])];
    assert.ok(found.length > 0, `nothing to ask ${path} about`);
    for (const [index, value] of found.entries()) {
      const target = path.replace(/\{\w+\}/, encodeURIComponent(value));
      await ask(target);
      if (isPaged && index < 8) await pages(target, 2);
    }
  }
  return answers;
}

function assertSame(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): void {
  assert.deepEqual([...right.keys()], [...left.keys()]);
  for (const [target, answer] of left) assert.equal(right.get(target), answer, target);
}

test("a shop of any content moves to PostgreSQL and back: every answer is the same, byte for byte", async () => {
  const usd = fxRateFrom(0.9) ?? assert.fail();
  const settings = { fxRates: { USD: usd }, timezone: "Europe/Amsterdam" };
  await using sqlite = await startGoodsServer({ postgres: false, shop: settings });
  await using postgres = await startGoodsServer({ postgres: true, shop: settings });
  await using back = await startGoodsServer({ postgres: false, shop: settings });
  const sales = (record: object, index: number): boolean => Reflect.get(record, "type") !== "sale" || index % 10 === 0;
  await sqlite.bring([...world, ...longRecords, ...[...demoRecords(systemClock.now())].filter(sales)]);
  await workAMonth(sqlite);
  const file = await exported(sqlite);
  const answers = await answersOf(sqlite);
  const ofAll = new Set([...answers.values()].map((answer) => answer.slice(0, 3)));
  assert.deepEqual(ofAll, new Set(["200", "400"]), "every filter is known to some lists and unknown to others");

  for (const next of [postgres, back]) {
    await next.bring(recordsOf(file));
    assert.equal(await exported(next), file);
    assertSame(answers, await answersOf(next));
  }
});
