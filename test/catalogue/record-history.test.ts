/** What histories tell of imports (C85): who, with before and after of every field that changed, and nothing of what is as it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { recordTypes } from "../../src/exchange/record-types.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { createValues, membersOf } from "../support/openapi/schema-values.ts";
import { askAdmin, signInAs } from "../support/people.ts";

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
