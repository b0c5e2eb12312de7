/** New orders and lines on the supplier's terms (C16, C32, C35). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonObject } from "../../src/base/json.ts";
import { loadCatalogueFacts } from "../../src/operations/purchase-orders/lines.ts";
import type { Tx } from "../../src/store/store.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import type { TestResponse } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

const records = [
  {
    type: "supplier",
    supplierId: "loom",
    name: "The Loom",
    currencyCode: "USD",
    phone: "+1 555 0100",
    contactName: "Ada",
    paymentTerms: "30 days net",
    incoterm: "DAP",
  },
  {
    type: "supplierVariant",
    supplierId: "loom",
    variantId: "red",
    unitCost: 2.5,
    unitCostCurrencyCode: "USD",
    supplierSku: "L-RED",
    supplierBarcode: "4006381333948",
    supplierProductName: "Red cloth",
    supplierProductUrl: "https://loom.example/red",
    moq: 6,
    packSize: 3,
    leadTimeDays: 9,
    supplierVariantDetails: { secret: "of the loom" },
  },
  { type: "supplierVariant", supplierId: "loom", variantId: "unheard-of", unitCost: 3, packSize: 2 },
  { type: "supplierVariant", supplierId: "loom", variantId: "green", moq: 2 },
  { type: "variant", variantId: "plain", productId: "plain", productName: "Plain" },
];

async function start(): Promise<GoodsServer & AsyncDisposable> {
  const server = await startGoodsServer();
  await server.bring(records);
  return server;
}

const shown = [
  "unitCost",
  "unitCostCurrencyCode",
  "supplierSku",
  "supplierBarcode",
  "supplierProductName",
  "supplierProductUrl",
  "moq",
  "packSize",
  "leadTimeDays",
];

/** The values of a line's terms, in the order of `shown`. */
function termsAt(answer: TestResponse, ...path: readonly (string | number)[]): readonly unknown[] {
  const line = answer.at(...path);
  assert.ok(line !== undefined && isJsonObject(line), answer.text);
  return shown.map((name) => line[name]);
}

const none = [null, null, null, null, null, null, null];
const ofTheEntry = ["L-RED", "4006381333948", "Red cloth", "https://loom.example/red", 6, 3, 9];

/** What is sent beside variantId and quantity, and the terms that the line then has. */
const entries: readonly (readonly [sent: Readonly<Record<string, unknown>>, terms: readonly unknown[]])[] = [
  [{ variantId: "red" }, [2.5, "USD", ...ofTheEntry]],
  [{ variantId: "red", unitCost: 4 }, [4, "EUR", ...ofTheEntry]],
  [{ variantId: "red", unitCost: 0 }, [0, "EUR", ...ofTheEntry]],
  [{ variantId: "red", unitCostCurrencyCode: "USD" }, [2.5, "USD", ...ofTheEntry]],
  [{ variantId: "red", unitCostCurrencyCode: null }, [1, "EUR", ...ofTheEntry]],
  [{ variantId: "red", unitCostCurrencyCode: "SEK" }, [0, "SEK", ...ofTheEntry]],
  [
    { variantId: "red", supplierSku: null, moq: null, packSize: 1 },
    [2.5, "USD", null, ...ofTheEntry.slice(1, 4), null, 1, 9],
  ],
  [{ variantId: "unheard-of" }, [3, "USD", null, null, null, null, null, 2, null]],
  [{ variantId: "green" }, [1, "EUR", null, null, null, null, 2, null, null]],
  [{ variantId: "blue" }, [1, "EUR", ...none]],
  [{ variantId: "plain" }, [0, "EUR", ...none]],
  [{ variantId: "nowhere" }, [0, "EUR", ...none]],
];

test("what a line leaves out is on the supplier's terms; what it sends stands", async () => {
  await using server = await start();
  const lineItems = entries.map(([sent]) => ({ quantityOrdered: 6, ...sent }));
  const created = await server.post(orders, {
    supplierId: "loom",
    locationId: "warehouse",
    currencyCode: "EUR",
    lineItems,
  });
  assert.equal(created.status, 201, created.text);
  const order = `${orders}/${created.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  const added = await server.post(`${order}/line-items`, { lineItems });
  const read = await server.get(order);
  for (const [index, [sent, terms]] of entries.entries()) {
    const what = JSON.stringify(sent);
    assert.deepEqual(termsAt(created, "data", "purchaseOrder", "lineItems", index), terms, what);
    assert.deepEqual(termsAt(added, "data", "lineItems", index), terms, what);
    assert.deepEqual(termsAt(read, "data", "purchaseOrder", "lineItems", entries.length + index), terms, what);
  }
  for (const answer of [created, added, read]) assert.doesNotMatch(answer.text, /secret/);

  const custom = await server.post(`${order}/line-items/custom`, { productName: "Pallet", quantityOrdered: 1 });
  assert.deepEqual(termsAt(custom, "data", "lineItems", 0), [0, "EUR", ...none], "a custom line is in no catalogue");
  const alone = await server.post(orders, { lineItems: [{ variantId: "red", quantityOrdered: 1 }] });
  assert.deepEqual(
    termsAt(alone, "data", "purchaseOrder", "lineItems", 0),
    [1, "EUR", ...none],
    "without a supplier the variant's own cost is known",
  );
});

test("warnings judge a line with the terms that it took, and only a cost that is not known is missing", async () => {
  await using server = await start();
  const created = await server.post(orders, {
    supplierId: "loom",
    lineItems: [
      { variantId: "red", quantityOrdered: 5 },
      { variantId: "red", quantityOrdered: 5, moq: null, packSize: null },
      { variantId: "blue", quantityOrdered: 1 },
      { variantId: "plain", quantityOrdered: 1 },
      { variantId: "plain", quantityOrdered: 1, unitCost: 0 },
      { variantId: "red", quantityOrdered: 6, unitCostCurrencyCode: "SEK" },
    ],
  });
  const warnings = created.at("data", "warnings");
  assert.ok(Array.isArray(warnings), created.text);
  assert.deepEqual(
    warnings.map((_, at) => [
      created.textAt("data", "warnings", at, "path"),
      created.textAt("data", "warnings", at, "reason"),
    ]),
    [
      ["/lineItems/0/quantityOrdered", "off-moq"],
      ["/lineItems/0/quantityOrdered", "off-pack-size"],
      ["/lineItems/2/variantId", "not-this-supplier"],
      ["/lineItems/3/unitCost", "no-cost"],
      ["/lineItems/3/variantId", "not-this-supplier"],
      ["/lineItems/4/variantId", "not-this-supplier"],
      ["/lineItems/5/unitCost", "no-cost"],
      ["/lineItems/2/unitCostCurrencyCode", "no-rate"],
      ["/lineItems/5/unitCostCurrencyCode", "no-rate"],
    ],
  );
});

test("a new order has its supplier's payment and delivery terms; what is sent stands", async () => {
  await using server = await start();
  const header = (answer: TestResponse) =>
    ["paymentTerms", "incoterm"].map((name) => answer.at("data", "purchaseOrder", name));
  const lineItems = [{ variantId: "red", quantityOrdered: 6 }];
  const created = await server.post(orders, { supplierId: "loom", lineItems });
  assert.deepEqual(header(created), ["30 days net", "DAP"]);
  assert.deepEqual(header(await server.post(orders, { supplierId: "loom", paymentTerms: null, incoterm: "EXW" })), [
    null,
    "EXW",
  ]);
  assert.deepEqual(header(await server.post(orders, { supplierId: "mill" })), [null, null]);
  assert.deepEqual(header(await server.post(orders, { supplierId: "nobody" })), [null, null]);
});

test("another supplier brings its own terms, and leaves what was typed", async () => {
  await using server = await start();
  await server.bring([
    { type: "supplier", supplierId: "weaver", name: "The Weaver", currencyCode: "EUR", paymentTerms: "in advance" },
    { type: "supplierVariant", supplierId: "weaver", variantId: "red", unitCost: 3, supplierSku: "W-1", packSize: 4 },
  ]);
  const lineItems = [
    { variantId: "red", quantityOrdered: 6 },
    { variantId: "unheard-of", quantityOrdered: 6 },
    { variantId: "red", quantityOrdered: 6, supplierSku: "mine" },
  ];
  const draft = async (more: readonly object[] = []): Promise<string> => {
    const created = await server.post(orders, { supplierId: "loom", lineItems: [...lineItems, ...more] });
    return `${orders}/${created.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  };
  const order = await draft();
  const moved = await server.patch(order, { supplierId: "weaver" });
  const shownOrder = ["supplierId", "currencyCode", "paymentTerms", "incoterm"].map((name) =>
    moved.at("data", "purchaseOrder", name),
  );
  assert.deepEqual(shownOrder, ["weaver", "EUR", "in advance", null], moved.text);
  const line = (answer: TestResponse, index: number) => termsAt(answer, "data", "purchaseOrder", "lineItems", index);
  const ofTheWeaver = [3, "EUR", "W-1", null, null, null, null, 4, null];
  assert.deepEqual(line(moved, 0), ofTheWeaver);
  assert.deepEqual(line(moved, 1), [0, "EUR", ...none], "as if it were left out now");
  assert.deepEqual(line(moved, 2), [3, "EUR", "mine", ...ofTheWeaver.slice(3)]);
  const warnings = moved.at("data", "warnings");
  assert.ok(Array.isArray(warnings));
  const kept = warnings.find(({ reason }) => reason === "other-supplier-terms");
  assert.match(kept?.message, /^supplierSku: /);
  assert.deepEqual(line(await server.patch(order, { supplierId: "loom" }), 0), [2.5, "USD", ...ofTheEntry], "and back");

  const typed = await draft([{ variantId: "red", quantityOrdered: 1, unitCost: 9 }]);
  const later = await server.patch(typed, { supplierId: "weaver", paymentTerms: "60 days" });
  assert.deepEqual(
    ["currencyCode", "paymentTerms"].map((name) => later.at("data", "purchaseOrder", name)),
    ["USD", "60 days"],
    "a line has a typed cost",
  );
  assert.deepEqual(line(later, 0), ofTheWeaver);
  assert.deepEqual(line(later, 3), [9, "USD", ...ofTheWeaver.slice(2)]);
  const log = await server.get(`${typed}/log`);
  assert.match(
    log.textAt("data", "log", 0, "message"),
    /^Changed supplierId, .*and the supplier's terms of 4 lines\.$/,
  );
});

test("the terms of all lines of a call are looked up together", async () => {
  await using server = await start();
  const lines = Array.from({ length: 80 }, (_, index) => ({ variantId: `v${index}`, quantityOrdered: 1 }));
  const asked: string[] = [];
  const facts = await server.engine.read(server.shopId, (tx) => {
    const counting: Tx = {
      all: (sql, params) => {
        asked.push(sql);
        return tx.all(sql, params);
      },
      batch: (statements) => tx.batch(statements),
    };
    const all = [...lines, { variantId: "red", quantityOrdered: 1 }];
    return loadCatalogueFacts(counting, server.shopId, "loom", all);
  });
  assert.equal(facts.terms.size, 1);
  assert.equal(asked.length, 2, "the variants, and the supplier's terms");
});
