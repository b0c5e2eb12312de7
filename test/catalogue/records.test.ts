/**
 * What a shop keeps (C82–C85): suppliers, their price lists, variants and locations are made, read, changed, archived and deleted, with
 * versions, keys, roles and a history.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { adminOperations } from "../../src/admin/registry.ts";
import type { Fault } from "../../src/base/fault.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { recordTypes } from "../../src/exchange/record-types.ts";
import { asQuantity } from "../../src/core/money/money.ts";
import { loadShop, saveShop } from "../../src/shop/access/accounts.ts";
import { useOf } from "../../src/shop/catalogue/record-uses.ts";
import type { Tx } from "../../src/store/store.ts";
import { variantTable } from "../../src/shop/catalogue/catalogue.ts";
import { recordsByKey, replaceRecord } from "../../src/shop/record-table.ts";
import { effectStatements } from "../../src/shop/storefront/effects.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";
import { createValues, differences, type Members, membersOf, takesNull } from "../support/openapi/schema-values.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { assertFault, type TestResponse } from "../support/server.ts";
import { exportedRecords } from "../support/shops/exported-records.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

const of =
  (server: GoodsServer) =>
  (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    askAdmin(server, method, `/shops/${server.shopId}${path}`, body, { headers });

const etagOf = ({ headers }: TestResponse): string => String(headers["etag"]);

const historyOf = async (server: GoodsServer, kind: string, id: string): Promise<readonly JsonObject[]> => {
  const listed = await of(server)("GET", `/history?kind=${kind}&id=${encodeURIComponent(id)}`);
  const entries = listed.at("data", "history");
  assert.ok(entries !== undefined && isJsonArray(entries), listed.text);
  return entries.filter(isJsonObject);
};

const recordsOf = async (server: GoodsServer, type: string): Promise<readonly JsonObject[]> =>
  (await exportedRecords(server.engine, server.shopId)).filter((record) => record["type"] === type);

/** The kinds of records: where they are, and members that another kind or the operator alone has. */
const kinds = [
  { kind: "supplier", type: "supplier", path: "/suppliers", idMember: "supplierId" },
  { kind: "variant", type: "variant", path: "/variants", idMember: "variantId" },
  { kind: "location", type: "location", path: "/locations", idMember: "locationId" },
] as const;

const inputOf = (name: string): Members => {
  const found = adminOperations.find((each) => each.name === name);
  assert.ok(found !== undefined, name);
  return new Map([...membersOf(found.input)].filter(([member]) => member !== "shopId"));
};

const values = createValues({ known: {}, raised: {}, currencies: ["EUR", "USD"], derived: null });

const none = (faults: readonly string[]): void => assert.deepEqual(faults, []);

for (const { kind, type, path, idMember } of kinds)
  test(`every field of a ${kind} is set, changed and cleared, and stands in its answer, its record and its history`, async () => {
    await using server = await startGoodsServer({ console: true });
    const ask = of(server);
    // A field of the record that no operation takes would be left out below.
    const named = [...membersOf(recordTypes[type].input).keys()].filter((name) => name !== "type");
    assert.deepEqual([...inputOf(`${kind}_create`).keys()].toSorted(), named.toSorted());
    assert.deepEqual([...inputOf(`${kind}_update`).keys()].toSorted(), named.toSorted());

    const first = values.ofMembers(inputOf(`${kind}_create`), kind);
    const id = first[idMember];
    assert.ok(typeof id === "string");
    const at = `${path}/${encodeURIComponent(id)}`;
    const check = async (expected: JsonObject, answered: TestResponse): Promise<void> => {
      const shown = answered.at("data", kind);
      none(differences(expected, shown, "answer"));
      const read = await ask("GET", at);
      none(differences(expected, read.at("data", kind), "read"));
      assert.equal(answered.headers["etag"], read.headers["etag"]);
      const [record] = (await recordsOf(server, type)).filter((each) => each[idMember] === id);
      none(differences(expected, record, "record"));
    };
    const made = await ask("POST", path, first);
    assert.equal(made.status, 201, made.text);
    await check(first, made);

    const { [idMember]: _, ...second } = values.ofMembers(inputOf(`${kind}_update`), kind);
    const changed = await ask("PATCH", at, second);
    assert.equal(changed.status, 200, changed.text);
    await check({ ...first, ...second }, changed);

    const cleared = Object.fromEntries(
      [...inputOf(`${kind}_update`)].flatMap(([name, schema]): readonly (readonly [string, Json])[] =>
        takesNull(schema) ? [[name, null]] : [],
      ),
    );
    await check({ ...first, ...second, ...cleared }, await ask("PATCH", at, cleared));

    const [third, later, begin, ...others] = await historyOf(server, kind, id);
    assert.deepEqual(others, []);
    const changesOf = (entry: JsonObject | undefined): readonly JsonObject[] => {
      const changes = entry?.["changes"] ?? null;
      return isJsonArray(changes) ? changes.filter(isJsonObject) : [];
    };
    const afterOf = (entry: JsonObject | undefined, member: "before" | "after"): JsonObject =>
      Object.fromEntries(
        changesOf(entry).map((change) => [JSON.stringify(change["field"]).slice(1, -1), change[member] ?? null]),
      );
    none(differences(first, afterOf(begin, "after"), "begun"));
    const differ = Object.keys(second).filter((name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]));
    const those = (record: JsonObject): JsonObject =>
      Object.fromEntries(differ.map((name) => [name, record[name] ?? null]));
    none(differences(those(second), afterOf(later, "after"), "changed to"));
    none(differences(those(first), afterOf(later, "before"), "changed from"));
    none(differences(cleared, afterOf(third, "after"), "cleared"));
    assert.deepEqual(
      [begin?.["action"], later?.["operation"], later?.["actor"]],
      ["created", `${kind}_update`, { type: "user", id: null, name: "operator" }],
    );
  });

test("every field of a price list is set and stands in its list, its record and the supplier's history; hidden details stay", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  const details = { kept: true };
  await server.bring([
    { type: "supplierVariant", supplierId: "mill", variantId: "blue", supplierVariantDetails: details },
  ]);
  const { supplierId: _s, variantId: _v, ...sent } = values.ofMembers(inputOf("supplier_variant_put"), "entry");
  const named = [...membersOf(recordTypes.supplierVariant.input).keys()];
  assert.deepEqual(
    [...Object.keys(sent), "type", "supplierId", "variantId", "supplierVariantDetails"].toSorted(),
    named.toSorted(),
  );
  const put = await ask("PUT", "/suppliers/mill/variants/blue", sent);
  assert.equal(put.status, 200, put.text);
  const expected = { ...sent, supplierId: "mill", variantId: "blue" };
  none(differences(expected, put.at("data", "supplierVariant"), "answer"));
  const listed = await ask("GET", "/suppliers/mill/variants?limit=1");
  none(differences(expected, listed.at("data", "supplierVariants", 0), "list"));
  assert.equal(listed.at("data", "supplierVariants", 0, "productName"), "Shirt, blue");
  assert.equal(listed.at("data", "totalCount"), 2);
  const rest = await ask("GET", `/suppliers/mill/variants?limit=1&cursor=${listed.textAt("data", "cursor")}`);
  assert.deepEqual([rest.at("data", "supplierVariants", 0, "variantId"), rest.at("data", "cursor")], ["red", null]);
  const [record] = (await recordsOf(server, "supplierVariant")).filter((each) => each["variantId"] === "blue");
  none(differences({ ...expected, supplierVariantDetails: details }, record, "record"));
  assert.ok(!put.text.includes("kept") && !listed.text.includes("kept"));

  // What is left out of a PUT is empty.
  const again = await ask("PUT", "/suppliers/mill/variants/blue", { unitCost: 2 }, { "If-Match": etagOf(put) });
  assert.deepEqual(
    [again.at("data", "supplierVariant", "unitCost"), again.at("data", "supplierVariant", "moq")],
    [2, null],
  );
  assertFault(
    await ask("PUT", "/suppliers/mill/variants/blue", {}, { "If-Match": `"old"` }),
    412,
    "INVALID_INPUT",
    "VERSION_MISMATCH",
  );
  assertFault(
    await ask("DELETE", "/suppliers/mill/variants/blue", undefined, { "If-Match": `"old"` }),
    412,
    "INVALID_INPUT",
    "VERSION_MISMATCH",
  );
  assert.equal((await ask("DELETE", "/suppliers/mill/variants/blue")).status, 200);
  assertFault(await ask("DELETE", "/suppliers/mill/variants/blue"), 404, "NOT_FOUND");
  assertFault(await ask("PUT", "/suppliers/nobody/variants/blue", {}), 404, "NOT_FOUND");
  const history = await historyOf(server, "supplier", "mill");
  assert.deepEqual(
    history.map(({ action, variantId, operation }) => [action, variantId, operation]),
    [
      ["deleted", "blue", "supplier_variant_delete"],
      ["changed", "blue", "supplier_variant_put"],
      ["changed", "blue", "supplier_variant_put"],
      ["created", "blue", "shop_import"],
      ["created", "red", "shop_import"],
      ["created", null, "shop_import"],
    ],
  );
  assert.ok(!JSON.stringify(history).includes("kept"));
});

test("an id that is sent is kept and taken once; else one is made. A repeated key makes one, an old version changes nothing", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  assertFault(await ask("POST", "/suppliers", { supplierId: "mill", name: "Other" }), 400, "INVALID_INPUT", "ID_TAKEN");
  const key = { "Idempotency-Key": "one" };
  const made = await ask("POST", "/suppliers", { name: "Weaver" }, key);
  assert.match(made.textAt("data", "supplier", "supplierId"), /^sup_/);
  const repeated = await ask("POST", "/suppliers", { name: "Weaver" }, key);
  assert.equal(repeated.text, made.text);
  assert.equal(repeated.headers["idempotent-replayed"], "true");
  const variant = await ask("POST", "/variants", { productName: "Scarf" });
  assert.match(variant.textAt("data", "variant", "variantId"), /^var_/);
  assert.match(variant.textAt("data", "variant", "productId"), /^prod_/);
  assert.match((await ask("POST", "/locations", { name: "Shed" })).textAt("data", "location", "locationId"), /^loc_/);
  const suppliers = await ask("GET", "/suppliers?search=weaver");
  assert.equal(suppliers.at("data", "totalCount"), 1);

  const at = `/suppliers/${made.textAt("data", "supplier", "supplierId")}`;
  const etag = { "If-Match": etagOf(made) };
  const first = await ask("PATCH", at, { name: "Weavers" }, etag);
  assert.equal(first.status, 200, first.text);
  assertFault(await ask("PATCH", at, { name: "Late" }, etag), 412, "INVALID_INPUT", "VERSION_MISMATCH");
  assertFault(await ask("DELETE", at, undefined, etag), 412, "INVALID_INPUT", "VERSION_MISMATCH");
  assert.equal((await ask("PATCH", at, { name: "Weavers" }, { "If-Match": "*" })).status, 200);
  // What changes nothing is no entry.
  assert.equal((await historyOf(server, "supplier", at.slice("/suppliers/".length))).length, 2);
  assertFault(await ask("PATCH", at, { name: null }), 400, "INVALID_INPUT");
  assertFault(await ask("PATCH", at, { nam: "x" }), 400, "INVALID_INPUT");
  assertFault(await ask("PATCH", "/suppliers/nobody", {}), 404, "NOT_FOUND");
  // Somebody else's change meanwhile.
  await server.bring([{ type: "supplier", supplierId: at.slice("/suppliers/".length), name: "Imported" }]);
  assertFault(
    await ask("PATCH", at, { name: "Late" }, { "If-Match": etagOf(first) }),
    412,
    "INVALID_INPUT",
    "VERSION_MISMATCH",
  );
});

test("what orders use is archived, not deleted; what nothing uses is deleted and keeps its history", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10 }]);
  for (const [path, use] of [
    ["/suppliers/mill", "orders"],
    ["/variants/red", "orders"],
    ["/locations/warehouse", "orders"],
  ] as const) {
    const refused = await ask("DELETE", path);
    assertFault(refused, 400, "INVALID_INPUT", "IN_USE");
    assert.match(refused.textAt("error", "message"), new RegExp(`used by ${use}`));
    assert.match(refused.textAt("error", "action"), /Archive it/);
  }
  assert.equal(
    (await ask("PATCH", "/suppliers/mill", { status: "archived" })).at("data", "supplier", "status"),
    "archived",
  );
  assert.equal((await ask("PATCH", "/variants/red", { isArchived: true })).at("data", "variant", "isArchived"), true);
  await server.bring([{ type: "supplierVariant", supplierId: "mill", variantId: "green", unitCost: 2 }]);
  assert.equal((await ask("DELETE", "/variants/green")).status, 200);
  assertFault(await ask("GET", "/variants/green"), 404, "NOT_FOUND");
  assert.ok(!(await recordsOf(server, "supplierVariant")).some((each) => each["variantId"] === "green"));
  assert.equal((await historyOf(server, "variant", "green"))[0]?.["action"], "deleted");
  const { variants } = await server.sandbox.state(["green"]);
  assert.equal(variants[0]?.status, "deleted");
});

/** Records that name a location each, or a variant, and what a refusal says of them. */
const uses: readonly (readonly [use: string, record: (id: string) => object])[] = [
  ["transfers", (id) => ({ type: "transferOrder", transferOrderId: id, fromLocationId: id })],
  ["transfers", (id) => ({ type: "transferOrder", transferOrderId: id, toLocationId: id })],
  ["stock takes", (id) => ({ type: "stockTake", stockTakeId: id, locationId: id })],
  ["stock adjustments", (id) => ({ type: "stockAdjustment", stockAdjustmentId: id, locationId: id })],
  [
    "manufacturing orders",
    (id) => ({ type: "manufacturingOrder", manufacturingOrderId: id, productionLocationId: id }),
  ],
  ["stock", (id) => ({ type: "inventoryLevel", variantId: "red", locationId: id, onHand: 1 })],
  ["sales", (id) => ({ type: "sale", variantId: "red", locationId: id, date: "2026-01-02", quantity: 1 })],
];

const ofVariant: typeof uses = [
  [
    "transfers, stock takes or adjustments",
    (id) => ({ type: "transferOrder", transferOrderId: id, lineItems: [{ variantId: id, quantityRequested: 1 }] }),
  ],
  [
    "transfers, stock takes or adjustments",
    (id) => ({ type: "stockTake", stockTakeId: id, lineItems: [{ variantId: id }] }),
  ],
];

test("what transfers, stock takes, adjustments, manufacturing orders, stock or sales name is not deleted, and each is told", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  const named = uses.map(([use, record], index) => [`place-${index}`, use, record] as const);
  await server.bring([
    ...["nowhere", ...named.map(([id]) => id)].map((id) => ({ type: "location", locationId: id, name: id })),
    ...named.map(([id, , record]) => record(id)),
    ...ofVariant.flatMap(([, record], index) => [
      { type: "variant", variantId: `thing-${index}`, productId: `p-${index}`, productName: "Thing" },
      record(`thing-${index}`),
    ]),
  ]);
  for (const [path, use] of [
    ...named.map(([id, use]) => [`/locations/${id}`, use] as const),
    ...ofVariant.map(([use], index) => [`/variants/thing-${index}`, use] as const),
  ]) {
    const refused = await ask("DELETE", path);
    assertFault(refused, 400, "INVALID_INPUT", "IN_USE");
    assert.match(refused.textAt("error", "message"), new RegExp(`is used by ${use}, so`), path);
  }
  assert.equal((await ask("DELETE", "/locations/nowhere")).status, 200);
});

test(
  "what transfers, stock takes, adjustments and manufacturing orders name is found by an index",
  { skip: onPostgres && "what is looked at is a plan of sqlite" },
  async () => {
    await using server = await startGoodsServer();
    const plans: string[] = [];
    await server.engine.read(server.shopId, async (tx) => {
      const explaining: Tx = {
        ...tx,
        async all(sql, params = []) {
          const steps = await tx.all<{ detail: string }>(`explain query plan ${sql}`, params);
          plans.push(...steps.map(({ detail }) => detail));
          return [];
        },
      };
      for (const kind of ["variant", "location"] as const) await useOf(explaining, server.shopId, kind, "a");
    });
    const looked = plans.filter((plan) => /read_only_part|transfer|stock_take|stock_adj|manufacturing/.test(plan));
    assert.equal(looked.length, 6, plans.join("\n"));
    for (const plan of looked) assert.match(plan, /\(shop_id=\? AND (\w+_location_id|location_id|variant_id)=\?\)$/);
  },
);

test("purchasers write records, receivers and viewers read them, keys and agents reach neither", async () => {
  await using server = await startGoodsServer({ console: true });
  const path = `/admin/v1/shops/${server.shopId}/suppliers/mill`;
  const history = `/admin/v1/shops/${server.shopId}/history?kind=supplier&id=mill`;
  for (const role of ["viewer", "receiver", "purchaser", "owner"] as const) {
    const key = await (await signInAs(server, role, `A ${role}`)).bearer();
    assert.equal((await server.get(path, { key, undocumented: true })).status, 200);
    assert.equal((await server.get(history, { key, undocumented: true })).status, 200);
    const changed = await server.request("PATCH", path, { key, body: { phone: role }, undocumented: true });
    if (role === "viewer" || role === "receiver") assertFault(changed, 403, "FORBIDDEN_SCOPE");
    else assert.equal(changed.at("data", "supplier", "phone"), role, changed.text);
  }
  // A key has no way to a supplier's e-mail, whatever its scope.
  const refused = await server.request("PATCH", path, { body: { email: "me@fraud.example" }, undocumented: true });
  assertFault(refused, 401, "UNAUTHORIZED");
  assert.equal((await of(server)("GET", "/suppliers/mill")).at("data", "supplier", "email"), null);
  const [last] = await historyOf(server, "supplier", "mill");
  assert.equal(isJsonObject(last?.["actor"] ?? null) && JSON.stringify(last?.["actor"]).includes("A owner"), true);
});

test("what comes from a storefront is refused with its name; what is the shop's own is set", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await server.engine.write(server.shopId, async (tx) => {
    const shop = await loadShop(tx, server.shopId);
    assert.ok(shop !== null);
    const storefront = {
      kind: "shopify",
      domain: "a.myshopify.com",
      accessToken: "sealed",
      apiVersion: "2026-10",
    } as const;
    await saveShop(tx, { ...shop, storefront });
  });
  const refusals = [
    await ask("PATCH", "/variants/red", { productName: "Other" }),
    await ask("PATCH", "/variants/red", { status: "inactive" }),
    await ask("PATCH", "/variants/red", { unitCost: 9 }),
    await ask("PATCH", "/locations/warehouse", { name: "Other" }),
    await ask("POST", "/variants", { productName: "New" }),
    await ask("POST", "/locations", { name: "New" }),
    await ask("DELETE", "/variants/green"),
    await ask("PUT", "/variants/red/levels/warehouse", { onHand: 5 }),
  ];
  for (const refused of refusals) {
    assertFault(refused, 400, "INVALID_INPUT", "STOREFRONT_OWNED");
    assert.match(refused.textAt("error", "message"), /comes? from Shopify\.$/);
  }
  const address = { city: "Rotterdam" };
  assert.equal((await ask("PATCH", "/locations/warehouse", { name: "Warehouse", address })).status, 200);
  assert.equal((await ask("PATCH", "/variants/red", { isArchived: true })).status, 200);
  assert.equal((await ask("POST", "/suppliers", { name: "New" })).status, 201);
  await server.engine.write(server.shopId, async (tx) => {
    const shop = await loadShop(tx, server.shopId);
    assert.ok(shop !== null);
    await saveShop(tx, { ...shop, costSyncMode: "disabled" });
  });
  assert.equal((await ask("PATCH", "/variants/red", { unitCost: 9 })).at("data", "variant", "unitCost"), 9);
});

test("a new variant can be ordered and received at once, and stock that a person sets is what the storefront has", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  await ask("POST", "/variants", { variantId: "scarf", productName: "Scarf", unitCost: 3 });
  const set = await ask("PUT", "/variants/scarf/levels/warehouse", { onHand: 7, reason: "Found behind\nthe shelf." });
  assert.equal(set.at("data", "level", "onHand"), 7, set.text);
  assert.equal(await server.onHand("scarf"), 7);
  await server.bringOrder("Draft", [{ poLineItemId: "a", variantId: "scarf", quantityOrdered: 10 }]);
  const sent = await server.post(server.order("/status"), { status: "Sent" });
  assert.equal(sent.status, 200, sent.text);
  assert.equal((await server.post(server.order("/confirm"), { confirmAll: true })).status, 200);
  const received = await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived: 4 }] });
  assert.equal(received.status, 200, received.text);
  await server.settled();
  assert.equal(await server.onHand("scarf"), 11);
  const lowered = await ask("PUT", "/variants/scarf/levels/warehouse", { onHand: 10 }, { "If-Match": "*" });
  assert.equal(lowered.status, 200, lowered.text);
  assert.equal(await server.onHand("scarf"), 10);
  assertFault(
    await ask("PUT", "/variants/scarf/levels/warehouse", { onHand: 1 }, { "If-Match": `"old"` }),
    412,
    "INVALID_INPUT",
    "VERSION_MISMATCH",
  );
  assertFault(await ask("PUT", "/variants/none/levels/warehouse", { onHand: 1 }), 404, "NOT_FOUND");
  assertFault(await ask("PUT", "/variants/scarf/levels/nowhere", { onHand: 1 }), 404, "NOT_FOUND");
  const history = await historyOf(server, "variant", "scarf");
  assert.deepEqual(
    history
      .map(({ locationId, reason, changes }) => [
        locationId,
        reason,
        isJsonArray(changes ?? null) ? (changes as Json[]).length : 0,
      ])
      .slice(0, 2),
    [
      ["warehouse", null, 1],
      ["warehouse", "Found behind\nthe shelf.", 1],
    ],
  );
  assert.deepEqual(history[0]?.["changes"], [{ field: "onHand", before: 11, after: 10 }]);
  // A later price does not undo what a person changed, and a change of state reaches the ledger.
  await ask("PATCH", "/variants/scarf", { status: "inactive" });
  const { variants } = await server.sandbox.state(["scarf"]);
  assert.equal(variants[0]?.status, "inactive");
});

test("a shop without a storefront keeps its stock: no fault of the rehearsal is left, the stock stays, and stock is set and received", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  const shop = `/shops/${server.shopId}`;
  await server.faults([{ call: "changeOnHand", outcome: "refused", variantIds: ["red"] }], { applyDelayMs: 60_000 });
  const moved = await askAdmin(server, "PUT", shop, { storefront: { kind: "none" } });
  assert.deepEqual(moved.at("data", "shop", "storefront"), { kind: "none" }, moved.text);
  assert.equal((await ask("GET", "/storefront")).at("data", "storefront", "kind"), "none");
  assertFault(await ask("PUT", "/sandbox/faults", {}), 400, "INVALID_INPUT");
  assert.equal(await server.onHand("red"), 100);
  assert.equal((await ask("PUT", "/variants/red/levels/warehouse", { onHand: 90 })).status, 200);
  assert.equal(await server.onHand("red"), 90);
  await server.bringOrder("In Progress", [
    { poLineItemId: "a", variantId: "red", quantityOrdered: 10, quantityConfirmed: 10 },
  ]);
  const received = await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived: 10 }] });
  assert.equal(received.at("data", "purchaseOrder", "storefrontSyncState"), "synced", received.text);
  assert.equal(await server.onHand("red"), 100);
});

/** What the shop and the storefront say of a variant's stock at the warehouse. */
const stockOf = async (server: GoodsServer, variantId: string): Promise<readonly unknown[]> => {
  const found = await of(server)("GET", `/variants?ids=${variantId}`);
  return [found.at("data", "variants", 0, "levels", 0, "onHand") ?? 0, await server.onHand(variantId)];
};

for (const kind of ["sandbox", "none"] as const)
  test(`stock of a variant that the storefront does not keep is refused, by its status (${kind})`, async () => {
    await using server = await startGoodsServer({ console: true });
    const ask = of(server);
    await askAdmin(server, "PUT", `/shops/${server.shopId}`, { storefront: { kind } });
    const at = "/variants/scarf/levels/warehouse";
    await ask("POST", "/variants", { variantId: "scarf", productName: "Scarf", status: "unsyncable" });
    for (const status of ["unsyncable", "deleted"]) {
      await ask("PATCH", "/variants/scarf", { status });
      const refused = await ask("PUT", at, { onHand: 20 });
      assertFault(refused, 400, "INVALID_INPUT");
      assert.equal(refused.at("error", "details", 0, "path"), "/onHand", refused.text);
      assert.match(refused.textAt("error", "action"), /status active/);
      assertFault(await ask("PUT", `${at}?dryRun=true`, { onHand: 20 }), 400, "INVALID_INPUT");
      assert.deepEqual(await stockOf(server, "scarf"), [0, 0]);
    }
    for (const [status, onHand] of [
      ["inactive", 20],
      ["active", 30],
    ] as const) {
      await ask("PATCH", "/variants/scarf", { status });
      assert.equal((await ask("PUT", at, { onHand })).status, 200);
      assert.deepEqual(await stockOf(server, "scarf"), [onHand, onHand]);
    }
  });

test("stock that the storefront refuses is taken back, with a word in the answer and in the history", async () => {
  await using server = await startGoodsServer({ console: true });
  const ask = of(server);
  const at = "/variants/red/levels/warehouse";
  await server.faults([{ call: "changeOnHand", outcome: "refused", times: 1 }]);
  const key = { "Idempotency-Key": "set" };
  const refused = await ask("PUT", at, { onHand: 120 }, key);
  assert.equal(refused.at("data", "level", "onHand"), 100, refused.text);
  assert.match(refused.textAt("data", "recovery"), /refuses variant red/);
  assert.equal((await ask("PUT", at, { onHand: 120 }, key)).text, refused.text);
  assert.deepEqual(await stockOf(server, "red"), [100, 100]);
  const [taken, set] = await historyOf(server, "variant", "red");
  assert.deepEqual(set?.["changes"], [{ field: "onHand", before: 100, after: 120 }]);
  assert.deepEqual(
    [taken?.["changes"], taken?.["locationId"], taken?.["actor"]],
    [[{ field: "onHand", before: 120, after: 100 }], "warehouse", { type: "system", id: null, name: null }],
  );
  assert.match(JSON.stringify(taken?.["reason"]), /refuses variant red/);
  // Its ETag is that of the level as it stands.
  const set2 = await ask("PUT", at, { onHand: 110 }, { "If-Match": etagOf(refused) });
  assert.equal(set2.at("data", "recovery"), undefined, set2.text);
  assert.deepEqual(await stockOf(server, "red"), [110, 110]);

  // A level that was none before, and goods that come afterwards.
  await server.faults([{ call: "changeOnHand", outcome: "refused", times: 1 }]);
  await ask("PUT", "/variants/blue/levels/warehouse", { onHand: 20 });
  assert.deepEqual(await stockOf(server, "blue"), [0, 0]);
  await server.bringOrder("In Progress", [
    { poLineItemId: "a", variantId: "blue", quantityOrdered: 5, quantityConfirmed: 5 },
  ]);
  await server.post(server.order("/receive"), { lines: [{ lineItemId: "a", quantityReceived: 5 }] });
  await server.settled();
  assert.deepEqual(await stockOf(server, "blue"), [5, 5]);
});

test("stock that the storefront could not be told of is taken back when it is given up, unless it may be there", async () => {
  await using server = await startGoodsServer({ console: true, outboxLimits: { attemptsMax: 3, backoffMs: 2 } });
  const ask = of(server);
  await server.faults([
    { call: "changeOnHand", outcome: "error", variantIds: ["red"] },
    { call: "changeOnHand", outcome: "lost-response", variantIds: ["blue"] },
  ]);
  await ask("PUT", "/variants/red/levels/warehouse", { onHand: 120 });
  await until("the level is taken back", async () => (await stockOf(server, "red"))[0] === 100);
  assert.match(JSON.stringify((await historyOf(server, "variant", "red"))[0]?.["reason"]), /tried 3 times/);
  await ask("PUT", "/variants/blue/levels/warehouse", { onHand: 20 });
  await until("the change is given up", async () => {
    const states = await server.engine.read(server.shopId, (tx) =>
      tx.all("select state from effect where shop_id = ? and state = 'pending'", [server.shopId]),
    );
    return states.length === 0;
  });
  assert.deepEqual(await stockOf(server, "blue"), [20, 20]);
});

test("a level that the storefront cannot be told of keeps no other waiting", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.faults([{ call: "changeOnHand", outcome: "error", variantIds: ["red"] }]);
  const delta = asQuantity(20_000);
  const others = ["red", "blue"].map((variantId) => ({
    kind: "keep-level" as const,
    variantId,
    locationId: "warehouse",
    delta,
  }));
  const { statements } = effectStatements(server.shopId, others, server.ids, server.clock.now());
  await server.engine.write(server.shopId, (tx) => tx.batch(statements));
  await of(server)("PUT", "/variants/green/levels/warehouse", { onHand: 5 });
  assert.deepEqual([await server.onHand("green"), await server.onHand("blue")], [5, 20]);
});

test("no variant has an id of custom lines, which none of its orders could name", async () => {
  await using server = await startGoodsServer({ console: true });
  const refused = await of(server)("POST", "/variants", { variantId: "CSTM-2", productName: "Scarf" });
  assertFault(refused, 400, "INVALID_INPUT");
  assert.deepEqual(refused.at("error", "details"), [
    { path: "/variantId", message: "begins with CSTM-, which marks custom lines; use another id" },
  ]);
  await assert.rejects(
    server.bring([{ type: "variant", variantId: "CSTM-3", productId: "p", productName: "Scarf" }]),
    (error: Fault) => {
      assert.match(JSON.stringify(error.details), /variantId.*begins with CSTM-, .*use another id/);
      return true;
    },
  );
  // One that was there before is changed and deleted as ever.
  await server.engine.write(server.shopId, async (tx) => {
    const [scarf] = await recordsByKey(tx, variantTable, server.shopId, [["red"]]);
    assert.ok(scarf !== undefined);
    await tx.batch([replaceRecord(variantTable, server.shopId, { ...scarf, variantId: "CSTM-old" })]);
  });
  const at = "/variants/CSTM-old";
  assert.equal((await of(server)("PATCH", at, { productName: "Old scarf" })).status, 200);
  assert.equal((await of(server)("DELETE", at)).status, 200);
});
