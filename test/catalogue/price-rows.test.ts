/** Rows of a sheet as entries of a supplier's price list, by codes of one variant each, all or none (C82). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { assertFault, type TestResponse } from "../support/server.ts";

const path = "/suppliers/mill/variants";

const of =
  (server: GoodsServer) =>
  (method: string, target: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    askAdmin(server, method, `/shops/${server.shopId}${target}`, body, { headers });

const objectsAt = (answered: TestResponse, ...steps: readonly string[]): readonly JsonObject[] => {
  const list = answered.at(...steps);
  assert.ok(list !== undefined && isJsonArray(list), answered.text);
  return list.filter(isJsonObject);
};

const catalogue: readonly object[] = [
  { type: "variant", variantId: "tea", productId: "tea", productName: "Tea", sku: "TEA-1", barcode: "4006381333931" },
  { type: "variant", variantId: "jam", productId: "jam", productName: "Jam", sku: "SHARED" },
  { type: "variant", variantId: "rye", productId: "rye", productName: "Rye", variantName: "1 kg", sku: "shared" },
  { type: "variant", variantId: "oil", productId: "oil", productName: "Oil", sku: "OIL-1" },
  { type: "supplier", supplierId: "weaver", name: "Weaver", currencyCode: "USD" },
  { type: "supplierVariant", supplierId: "mill", variantId: "rye", supplierSku: "M-7", moq: 4, unitCost: 2 },
  { type: "supplierVariant", supplierId: "weaver", variantId: "oil", supplierSku: "M-9" },
  // Whose code is that of another variant of the shop.
  { type: "supplierVariant", supplierId: "mill", variantId: "jam", supplierSku: "OIL-1" },
];

test("rows by the supplier's SKU, a barcode, a SKU or an id set terms; what is left out stays; a dry run tells it first", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring(catalogue);
  const ask = of(server);
  const rows = [
    { code: "m-7", terms: { unitCost: 2.5, packSize: 6 } },
    { code: "04006381333931", terms: { unitCost: 3 } },
    { code: "tea-2", terms: { unitCost: 1 } },
    { code: "red", terms: { unitCost: 1 } },
  ];
  // A SKU may look like another variant's id: the SKU is it.
  await server.bring([{ type: "variant", variantId: "x", productId: "x", productName: "Tea bags", sku: "TEA-2" }]);
  const listed = async () =>
    objectsAt(await ask("GET", path), "data", "supplierVariants").map((entry) => [
      entry["variantId"],
      entry["unitCost"],
      entry["unitCostCurrencyCode"],
      entry["moq"],
      entry["packSize"],
    ]);
  const before = await listed();
  const dry = await ask("PATCH", `${path}?dryRun=true`, { rows });
  assert.deepEqual(await listed(), before);
  const told = objectsAt(dry, "data", "entries");
  assert.deepEqual(
    told.map(({ variantId, productName, variantName, action }) => [variantId, productName, variantName, action]),
    [
      ["rye", "Rye", "1 kg", "changed"],
      ["tea", "Tea", null, "created"],
      ["x", "Tea bags", null, "created"],
      ["red", "Shirt, red", null, "unchanged"],
    ],
  );
  assert.deepEqual(told[0]?.["changes"], [
    { field: "unitCost", before: 2, after: 2.5 },
    { field: "packSize", before: null, after: 6 },
  ]);
  const version = { "If-Match": `"${dry.textAt("data", "version")}"` };
  const made = await ask("PATCH", path, { rows }, version);
  assert.deepEqual(objectsAt(made, "data", "entries"), told);
  assert.deepEqual(await listed(), [
    ["jam", null, null, null, null],
    ["red", 1, "EUR", null, null],
    ["rye", 2.5, null, 4, 6],
    ["tea", 3, "EUR", null, null],
    ["x", 1, "EUR", null, null],
  ]);
  const history = objectsAt(await ask("GET", "/history?kind=supplier&id=mill"), "data", "history");
  assert.deepEqual(
    history.map(({ action, variantId, operation }) => [action, variantId, operation]),
    [
      ["created", "x", "supplier_variant_update"],
      ["created", "tea", "supplier_variant_update"],
      ["changed", "rye", "supplier_variant_update"],
      // What the import before has brought.
      ["created", "jam", "shop_import"],
      ["created", "rye", "shop_import"],
      ["created", "red", "shop_import"],
      ["created", null, "shop_import"],
    ],
  );
  // What was shown before is no longer what is there.
  assertFault(await ask("PATCH", path, { rows }, version), 412, "INVALID_INPUT", "VERSION_MISMATCH");
  const dollars = await ask("PATCH", "/suppliers/weaver/variants", { rows: [{ code: "TEA-1", terms: { moq: 2 } }] });
  const [first] = objectsAt(dollars, "data", "entries");
  assert.deepEqual(first?.["changes"], [
    { field: "supplierId", before: null, after: "weaver" },
    { field: "variantId", before: null, after: "tea" },
    { field: "unitCostCurrencyCode", before: null, after: "USD" },
    { field: "moq", before: null, after: 2 },
    { field: "isPreferred", before: null, after: false },
  ]);
});

test("codes of nobody, of several variants and of one that another row has are named row by row, and nothing is written", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bring(catalogue);
  const ask = of(server);
  const before = objectsAt(await ask("GET", path), "data", "supplierVariants");
  const rows = ["TEA-1", "nothing", "shared", "M-9", "OIL-1", "tea"].map((code) => ({ code, terms: { unitCost: 9 } }));
  const refused = await ask("PATCH", path, { rows });
  assertFault(refused, 400, "INVALID_INPUT");
  assert.deepEqual(
    objectsAt(refused, "error", "details").map(({ path: at, message }) => [at, message]),
    [
      ["/rows/1/code", "no variant has it"],
      ["/rows/2/code", "is of 2 variants: Jam (jam), Rye · 1 kg (rye); send the id of one"],
      ["/rows/3/code", "no variant has it"],
      ["/rows/4/code", "is of 2 variants: Jam (jam), Oil (oil); send the id of one"],
      ["/rows/5/code", "is of Tea (tea), like TEA-1"],
    ],
  );
  const bad = await ask("PATCH", path, { rows: [{ code: "TEA-1", terms: { moq: -1, leadTimeDays: 1.5 } }] });
  assertFault(bad, 400, "INVALID_INPUT");
  assert.deepEqual(
    objectsAt(bad, "error", "details").map(({ path: at }) => at),
    ["/rows/0/terms/moq", "/rows/0/terms/leadTimeDays"],
  );
  assert.deepEqual(objectsAt(await ask("GET", path), "data", "supplierVariants"), before);
  assertFault(await ask("PATCH", "/suppliers/nobody/variants", { rows: rows.slice(0, 1) }), 404, "NOT_FOUND");
  const receiver = await (await signInAs(server, "receiver", "Rik")).bearer();
  const target = `/admin/v1/shops/${server.shopId}${path}`;
  const body = { rows: rows.slice(0, 1) };
  assertFault(
    await server.request("PATCH", target, { key: receiver, body, undocumented: true }),
    403,
    "FORBIDDEN_SCOPE",
  );
  const purchaser = await (await signInAs(server, "purchaser", "Pia")).bearer();
  const written = await server.request("PATCH", target, { key: purchaser, body, undocumented: true });
  assert.equal(written.status, 200, written.text);
});
