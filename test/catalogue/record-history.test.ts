/** What histories tell of imports and orders (C85): who, with before and after of every field that changed, and nothing of what is as it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { recordTypes } from "../../src/exchange/record-types.ts";
import { type GoodsServer, lineA, lineB, startGoodsServer } from "../support/goods-server.ts";
import { createValues, membersOf } from "../support/openapi/schema-values.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { objectsAt } from "../support/server.ts";
import { until } from "../support/until.ts";

const values = createValues({ known: {}, raised: {}, currencies: ["EUR", "USD"], derived: null });

/** Types with a history: whose it is, and members that it does not show. */
const types = {
  location: { kind: "location", of: "locationId", hidden: [] },
  supplier: { kind: "supplier", of: "supplierId", hidden: [] },
  variant: { kind: "variant", of: "variantId", hidden: [] },
  supplierVariant: { kind: "supplier", of: "supplierId", hidden: ["supplierVariantDetails"] },
  inventoryLevel: { kind: "variant", of: "variantId", hidden: ["variantId", "locationId"] },
} as const;

const textIn = (record: JsonObject, name: string): string => {
  const value = record[name];
  assert.ok(typeof value === "string", name);
  return value;
};

const changesOf = (entry: JsonObject | undefined): ReadonlyMap<Json | undefined, readonly (Json | undefined)[]> => {
  const { changes = null } = entry ?? {};
  return new Map(
    (isJsonArray(changes) ? changes : [])
      .filter(isJsonObject)
      .map(({ field, before, after }): [Json | undefined, readonly (Json | undefined)[]] => [field, [before, after]]),
  );
};

for (const [type, { kind, of, hidden }] of Object.entries(types))
  test(`an import of a ${type} is in its history with every field before and after; again the same, it is not`, async () => {
    await using server = await startGoodsServer({ console: true });
    const path = `/shops/${server.shopId}`;
    const owner = await signInAs(server, "owner", "Olga Owner");
    const bring = async (record: JsonObject): Promise<void> => {
      const body = `${JSON.stringify(record)}\n`.repeat(2);
      const answer = await askAdmin(server, "POST", `${path}/import`, body, { key: await owner.bearer() });
      assert.equal(answer.status, 200, answer.text);
    };
    const members = membersOf(recordTypes[type as keyof typeof types].input);
    const first = values.ofMembers(members, type);
    const ids = Object.fromEntries(
      Object.entries(first).filter(([name]) => /^(variant|supplier|location)Id$/.test(name)),
    );
    const second: JsonObject = { ...values.ofMembers(members, type), ...ids };
    const historyOf = async (): Promise<readonly JsonObject[]> => {
      const id = encodeURIComponent(textIn(first, of));
      const listed = await askAdmin(server, "GET", `${path}/history?kind=${kind}&id=${id}`);
      const entries = listed.at("data", "history");
      assert.ok(entries !== undefined && isJsonArray(entries), listed.text);
      return entries.filter(isJsonObject);
    };

    // Each file has its record twice: of the second there is nothing to tell.
    await bring(first);
    await bring(second);
    await bring(second);
    const [changed, made, ...others] = await historyOf();
    assert.deepEqual(others, []);
    const shown = [...members.keys()].filter((name) => name !== "type" && !hidden.some((each) => each === name));
    assert.deepEqual(new Set(changesOf(made).keys()), new Set(shown));
    for (const name of shown) {
      assert.deepEqual(changesOf(made).get(name), [null, first[name]], name);
      const isSame = JSON.stringify(first[name]) === JSON.stringify(second[name]);
      assert.deepEqual(changesOf(changed).get(name), isSame ? undefined : [first[name], second[name]], name);
    }
    assert.deepEqual(
      [made?.["action"], changed?.["action"], changed?.["operation"]],
      [type === "inventoryLevel" ? "changed" : "created", "changed", "shop_import"],
    );
    assert.match(JSON.stringify(changed?.["actor"]), /Olga Owner/);
    assert.match(JSON.stringify(changed?.["requestId"]), /^"req_/);
    const isPart = type === "supplierVariant" || type === "inventoryLevel";
    assert.deepEqual(
      [changed?.["variantId"], changed?.["locationId"]],
      [
        isPart && kind === "supplier" ? (ids["variantId"] ?? null) : null,
        type === "inventoryLevel" ? (ids["locationId"] ?? null) : null,
      ],
    );
  });

test("an import of a price list tells of hidden details nothing, but stores them", async () => {
  await using server = await startGoodsServer({ console: true });
  const entry = { type: "supplierVariant", supplierId: "mill", variantId: "blue", unitCost: 2 };
  await server.bring([entry]);
  await server.bring([{ ...entry, supplierVariantDetails: { secret: 1 } }]);
  const listed = await askAdmin(server, "GET", `/shops/${server.shopId}/history?kind=supplier&id=mill`);
  assert.ok(!listed.text.includes("secret"), listed.text);
  const exported = await askAdmin(server, "GET", `/shops/${server.shopId}/export`);
  assert.match(exported.text, /"secret":1/);
});

/** Entries of a record that no import has made, newest first: by which operation, of which variant, and what changed. */
async function toldOf(server: GoodsServer, kind: string, id: string): Promise<readonly (readonly unknown[])[]> {
  const listed = await askAdmin(server, "GET", `/shops/${server.shopId}/history?kind=${kind}&id=${id}`);
  return objectsAt(listed, "data", "history").flatMap((entry) => {
    const { action, actor, operation, requestId, variantId } = entry;
    assert.match(JSON.stringify(requestId), operation === "take_back_costs" ? /^"eff_/ : /^"req_/);
    const name = actor !== undefined && isJsonObject(actor) ? actor["name"] : null;
    const changed = [...changesOf(entry)].map(([field, values]) => [field, ...values]);
    return operation === "shop_import" ? [] : [[action, name, operation, variantId, ...changed]];
  });
}

const lineEdit = async (server: GoodsServer, line: object): Promise<void> => {
  const edited = await server.patch(server.order("/line-items"), { lines: [line], updateSupplier: true });
  assert.equal(edited.status, 200, edited.text);
};

test("terms that an order writes back are in the supplier's history, without the hidden details; what stays is not", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bringOrder("Draft", [lineA, lineB, { ...lineA, poLineItemId: "c" }]);
  const terms = { unitCost: 5, supplierSku: "MILL-RED", supplierVariantDetails: { secret: 1 } };
  await lineEdit(server, { lineItemId: "a", ...terms });
  await lineEdit(server, { lineItemId: "a", ...terms, supplierVariantDetails: { secret: 2 } });
  // The supplier has no entry for it.
  const without = await server.patch(server.order("/line-items"), {
    lines: [
      { lineItemId: "b", unitCost: 9 },
      { lineItemId: "a", moq: 4 },
      { lineItemId: "c", moq: 6, unitCost: 7 },
    ],
    updateSupplier: true,
  });
  assert.equal(without.at("data", "sideEffects", "supplierUpdate", "outcome"), "failed", without.text);
  const told = await toldOf(server, "supplier", "mill");
  const by = ["changed", "the write key", "purchase_order_line_item_update", "red"];
  assert.deepEqual(told, [
    [...by, ["unitCost", 5, 7], ["moq", 4, 6]],
    [...by, ["moq", null, 4]],
    [...by, ["unitCost", 1, 5], ["supplierSku", null, "MILL-RED"]],
  ]);
  assert.ok(!JSON.stringify(told).includes("secret"));
});

test("costs that a completion writes are in the histories of the supplier and the variants, those of a failed attempt, too", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bringOrder("Received", [
    { ...lineA, quantityReceived: 10, quantitySynced: 10 },
    { ...lineB, quantityReceived: 5.5, quantitySynced: 5.5 },
  ]);
  await server.faults([{ call: "writeCosts", outcome: "refused", variantIds: ["blue"] }]);
  const failed = await server.post(server.order("/complete"), {});
  assert.equal(failed.at("error", "code"), "UPSTREAM_STOREFRONT", failed.text);
  const by = ["changed", "the write key", "purchase_order_complete"];
  const ofMill = [[...by, "red", ["unitCost", 1, 4]]];
  assert.deepEqual(await toldOf(server, "supplier", "mill"), ofMill);
  assert.deepEqual(await toldOf(server, "variant", "red"), [[...by, null, ["unitCost", 1, 4]]]);
  assert.deepEqual(await toldOf(server, "variant", "blue"), []);
  await server.faults([]);
  const completed = await server.post(server.order("/complete"), {});
  assert.equal(completed.status, 200, completed.text);
  assert.deepEqual(await toldOf(server, "supplier", "mill"), ofMill);
  assert.equal((await toldOf(server, "variant", "red")).length, 1);
  assert.deepEqual(await toldOf(server, "variant", "blue"), [[...by, null, ["unitCost", 1, 2.5]]]);
});

test("a cost that follows from goods taken back is in the variant's history, by the work that has written it", async () => {
  await using server = await startGoodsServer({ console: true });
  const set = await askAdmin(server, "PUT", `/shops/${server.shopId}`, {
    settings: { costSyncMode: "moving-average" },
  });
  assert.equal(set.status, 200, set.text);
  await server.bring([{ type: "inventoryLevel", variantId: "red", locationId: "warehouse", onHand: 10 }]);
  await server.bringOrder("In Progress", [lineA]);
  const act = async (below: string, body: object): Promise<void> => {
    const answered = await server.post(server.order(below), body);
    assert.equal(answered.status, 200, answered.text);
  };
  await act("/receive", { lines: [{ lineItemId: "a", quantityReceived: 10 }] });
  await act("/complete", {});
  await act("/status", { status: "Received" });
  await act("/unreceive", { lines: [{ lineItemId: "a", quantity: 10 }] });
  const told = await until("both are told", async () => {
    const entries = await toldOf(server, "variant", "red");
    return entries.length === 2 && entries;
  });
  assert.deepEqual(told, [
    ["changed", null, "take_back_costs", null, ["unitCost", 2.5, 1]],
    ["changed", "the write key", "purchase_order_complete", null, ["unitCost", 1, 2.5]],
  ]);
});
