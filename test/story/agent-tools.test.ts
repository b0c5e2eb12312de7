/**
 * The tools that REST has no path for (C68), over the protocol: look-ups with paging and codes, another shop's records out of sight,
 * and what the audit log says of them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { importRecords } from "../../src/exchange/import.ts";
import { apiPrefix } from "../../src/http/routes.ts";
import { isRestOperation } from "../../src/operations/operation.ts";
import { operations } from "../../src/operations/registry.ts";
import { loadShop, saveShop } from "../../src/shop/accounts.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { type Agent, connectAgent } from "../support/mcp.ts";

const variant = (variantId: string, productName: string, more: object = {}) => ({
  type: "variant",
  variantId,
  productId: `p-${variantId}`,
  productName,
  ...more,
});

const records = [
  { type: "location", locationId: "pier", name: "Pier Über See", address: { city: "Kiel", countryCode: "DE" } },
  {
    type: "supplier",
    supplierId: "nord",
    name: "Nordlicht GRÖSSE",
    email: "sales@nord.example",
    currencyCode: "USD",
    leadTimeDays: 9,
  },
  variant("kettle", "Kettle", { variantName: "Red 50%", sku: "K-1", barcode: "4006", price: 20, unitCost: 8 }),
  variant("cup", "Cup", { sku: "K-10", status: "deleted" }),
  variant("spoon", "Spoon", { barcode: "40067" }),
  {
    type: "supplierVariant",
    supplierId: "nord",
    variantId: "kettle",
    unitCost: 4.5,
    supplierSku: "N-K",
    moq: 12,
    packSize: 6,
  },
  { type: "supplierVariant", supplierId: "nord", variantId: "cup", unitCostCurrencyCode: "EUR", leadTimeDays: 2 },
  { type: "inventoryLevel", variantId: "kettle", locationId: "pier", onHand: 2.5 },
];

/** Another shop on the same server, with a supplier, location and variant of the same ids. */
async function bringElsewhere({ engine, clock, ids, shopId }: GoodsServer): Promise<void> {
  const own = await engine.read(shopId, (tx) => loadShop(tx, shopId));
  assert.ok(own !== null);
  const other = { ...own, shopId: "elsewhere" };
  await engine.create(other.shopId);
  await engine.write(other.shopId, (tx) => saveShop(tx, other));
  const file = [
    { type: "location", locationId: "pier", name: "Elsewhere" },
    { type: "supplier", supplierId: "nord", name: "Elsewhere" },
    variant("kettle", "Elsewhere", { sku: "K-1" }),
    variant("hidden", "Elsewhere"),
  ];
  await importRecords(
    { engine, clock, ids, seedStorefront: async () => {} },
    other,
    (async function* () {
      yield Buffer.from(file.map((record) => `${JSON.stringify(record)}\n`).join(""));
    })(),
    "req_other",
  );
}

const idsOf = (rows: unknown, member: string): readonly unknown[] =>
  Array.isArray(rows) ? rows.map((row: Record<string, unknown>) => row[member]) : assert.fail(JSON.stringify(rows));

/** Ids that a look-up finds, all pages of `limit` rows together. */
async function found(agent: Agent, name: string, list: string, member: string, input: object): Promise<unknown[]> {
  const ids: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await agent.call(name, { ...input, ...(cursor === undefined ? {} : { cursor }) });
    assert.ok(!page.isError, JSON.stringify(page.at()));
    ids.push(...idsOf(page.at(list), member));
    cursor = page.at("cursor") ?? undefined;
    if (cursor === undefined) assert.equal(page.at("totalCount"), ids.length);
  } while (cursor !== undefined);
  return ids;
}

test("suppliers and locations are found by part of their name, whatever the case, by id and page by page", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await bringElsewhere(server);
  await using agent = await connectAgent(server, { key: server.readKey });
  const suppliers = (input: object) => found(agent, "supplier_list", "suppliers", "supplierId", input);
  assert.deepEqual(await suppliers({}), ["nord", "mill"]);
  assert.deepEqual(await suppliers({ limit: 1 }), ["nord", "mill"]);
  assert.deepEqual(await suppliers({ search: "größe" }), ["nord"]);
  assert.deepEqual(await suppliers({ search: "elsewhere" }), []);
  assert.deepEqual(await suppliers({ ids: ["mill", "unknown"] }), ["mill"]);
  const [nord] = Object.values((await agent.call("supplier_list", { ids: ["nord"] })).at("suppliers") ?? {});
  assert.partialDeepStrictEqual(nord, {
    supplierId: "nord",
    name: "Nordlicht GRÖSSE",
    email: "sales@nord.example",
    currencyCode: "USD",
    leadTimeDays: 9,
  });
  const locations = (input: object) => found(agent, "location_list", "locations", "locationId", input);
  assert.deepEqual(await locations({ limit: 1 }), ["pier", "warehouse"]);
  assert.deepEqual(await locations({ search: "über" }), ["pier"]);
  const pier = await agent.call("location_list", { ids: ["pier"] });
  assert.equal(pier.at("locations", 0, "name"), "Pier Über See");
  assert.equal(pier.at("locations", 0, "address", "city"), "Kiel");
});

test("variants are found by text, whole SKU, whole barcode, id and supplier, with levels and that supplier's terms", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await bringElsewhere(server);
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "kettle", quantityOrdered: 10 }]);
  await using agent = await connectAgent(server, { key: server.readKey });
  const variants = (input: object) => found(agent, "variant_search", "variants", "variantId", input);
  assert.deepEqual(await variants({ search: "KETT" }), ["kettle"]);
  assert.deepEqual(await variants({ search: "50%" }), ["kettle"]);
  assert.deepEqual(await variants({ search: "k-1", limit: 1 }), ["cup", "kettle"]);
  assert.deepEqual(await variants({ sku: "K-1" }), ["kettle"]);
  assert.deepEqual(await variants({ barcode: "4006" }), ["kettle"]);
  assert.deepEqual(await variants({ barcode: "4006", sku: "K-10" }), []);
  assert.deepEqual(await variants({ ids: ["spoon", "cup", "hidden"] }), ["cup", "spoon"]);
  assert.deepEqual(await variants({ supplierId: "nord", limit: 1 }), ["cup", "kettle"]);
  assert.equal((await variants({ limit: 2 })).length, 6);

  const answer = await agent.call("variant_search", { supplierId: "nord" });
  assert.deepEqual(answer.at("variants", 1), {
    variantId: "kettle",
    productId: "p-kettle",
    productName: "Kettle",
    variantName: "Red 50%",
    sku: "K-1",
    barcode: "4006",
    status: "active",
    price: 20,
    unitCost: 8,
    levels: [
      { locationId: "pier", onHand: 2.5, incoming: 0 },
      { locationId: "warehouse", onHand: 0, incoming: 10 },
    ],
    terms: { unitCost: 4.5, currencyCode: "USD", supplierSku: "N-K", moq: 12, packSize: 6, leadTimeDays: 9 },
  });
  assert.equal(answer.at("variants", 0, "status"), "deleted");
  assert.deepEqual(answer.at("variants", 0, "terms"), {
    unitCost: null,
    currencyCode: "EUR",
    supplierSku: null,
    moq: null,
    packSize: null,
    leadTimeDays: 2,
  });
  assert.equal((await agent.call("variant_search", { ids: ["kettle"] })).at("variants", 0, "terms"), undefined);
});

test("a cursor belongs to its tool and filters, and a look-up takes no argument that it does not know", async () => {
  await using server = await startGoodsServer();
  await server.bring(records);
  await using agent = await connectAgent(server);
  const first = await agent.call("variant_search", { limit: 1 });
  const cursor = first.textAt("cursor");
  const refused: readonly (readonly [string, object, string])[] = [
    ["variant_search", { cursor, search: "k" }, "/cursor"],
    ["supplier_list", { cursor }, "/cursor"],
    ["variant_search", { limit: 51 }, "/limit"],
    ["location_list", { name: "x" }, "/name"],
  ];
  for (const [name, input, path] of refused) {
    const answer = await agent.call(name, input);
    assert.equal(answer.at("error", "code"), "INVALID_INPUT", JSON.stringify(answer.at()));
    assert.equal(answer.at("error", "details", 0, "path"), path);
  }
});

test("a tool without a path on REST is audited by its name, draws on the bucket, and REST knows nothing of it", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server, { key: server.readKey });
  await agent.call("supplier_list");
  const [row] = await server.audit();
  assert.equal(row?.tag, "mcp:supplier_list");
  assert.equal(row?.method, "TOOL");
  assert.equal(row?.path, "/supplier_list");
  assert.equal(row?.status, 200);

  const document = (await server.get(`${apiPrefix}/openapi.json`, { key: null })).text;
  const alone = operations.filter((operation) => !isRestOperation(operation));
  assert.ok(alone.length > 0);
  for (const { name } of alone) {
    assert.doesNotMatch(document, new RegExp(`"${name}"`));
    assert.equal((await server.get(`${apiPrefix}/${name}`)).status, 404);
  }
});
