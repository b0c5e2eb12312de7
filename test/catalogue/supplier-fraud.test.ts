/**
 * An assistant that was talked into changing where a supplier is written to (C85): by every road that a token opens, whatever its scope, it is
 * refused, and nothing changes.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordOperations } from "../../src/admin/catalogue/records.ts";
import { bindingOf, spellRequest } from "../../src/http/routes.ts";
import { operations } from "../../src/operations/registry.ts";
import { supplierContactFields, supplierRecordFields } from "../../src/shop/catalogue/catalogue.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { callTool, connect } from "../support/peers/connect.ts";
import { askAdmin, signInAs, signInWith } from "../support/people.ts";
import { assertFault } from "../support/server.ts";

/** Whom a table of suppliers that merchants have would write to instead. */
const table = "Name,Email\nThe Mill,pay@fraud.example\n";

const contact = { email: "pay@fraud.example", phone: "+44 20 7946 0000", address: { city: "Elsewhere" } };

test("no tool and no key changes a supplier's e-mail, phone or address: over REST, MCP, import and a sign-in, it is refused, or asked for", async () => {
  await using server = await startGoodsServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  await askAdmin(server, "PATCH", `${shop}/suppliers/mill`, { email: "orders@mill.example", phone: "1" });
  const exported = async (): Promise<string> => (await askAdmin(server, "GET", `${shop}/export`)).text;
  const before = await exported();
  const owner = await signInAs(server, "owner");

  const made = await askAdmin(server, "POST", `${shop}/keys`, { name: "An agent", scope: "write", signIn: false });
  const tokens = {
    read: server.readKey,
    write: made.textAt("data", "apiKey"),
    propose: (await server.addKey("propose")).apiKey,
    "a connection that writes": (await connect(server, owner, { scope: "write" })).access,
    "a connection that proposes": (await connect(server, owner, { scope: "propose" })).access,
  };
  const writes = recordOperations.filter(({ route }) => route.method !== "GET");
  assert.ok(writes.length >= 10);
  for (const [whose, key] of Object.entries(tokens)) {
    for (const operation of writes) {
      const { name, route } = operation;
      const input = {
        shopId: server.shopId,
        supplierId: "mill",
        variantId: "red",
        locationId: "warehouse",
        ...contact,
      };
      const { path, body } = spellRequest(bindingOf(operation), input);
      const options = { key, undocumented: true, body };
      const inApi = await server.request(route.method, `/api/v1${path.replace(shop, "")}`, options);
      // Of a connection REST takes no token at all.
      if (whose.startsWith("a connection")) assertFault(inApi, 401, "UNAUTHORIZED");
      else assertFault(inApi, 404, "NOT_FOUND");
      const called = await callTool(server, key, name, input);
      assert.match(called.text, /error|not found|Unknown|INVALID/i, `${whose}: ${name}: ${called.text}`);
      assert.ok(!/"isError":false/.test(called.text), called.text);
    }
    // The admin API answers ever later who guesses its token: these two are enough.
    if (whose === "write" || whose === "a connection that writes") {
      const options = { key, undocumented: true };
      const path = `/admin/v1${shop}`;
      assertFault(
        await server.request("PATCH", `${path}/suppliers/mill`, { ...options, body: contact }),
        401,
        "UNAUTHORIZED",
      );
      const file = `${JSON.stringify({ type: "supplier", supplierId: "mill", name: "The Mill", ...contact })}\n`;
      assertFault(await server.request("POST", `${path}/import`, { ...options, body: file }), 401, "UNAUTHORIZED");
    }
    // Neither does it become a person of the console with it.
    const signedIn = await server.request("POST", "/console/session", {
      key: null,
      undocumented: true,
      headers: { "Sec-Fetch-Site": "same-origin" },
      body: { apiKey: key, name: "Anna" },
    });
    if (whose === "write" || whose.startsWith("a connection"))
      assert.ok(signedIn.status >= 400, `${whose}: ${signedIn.text}`);
  }
  assert.equal(await exported(), before);

  for (const [whose, key] of Object.entries(tokens)) {
    const called = await callTool(server, key, "supplier_update", { supplierId: "mill", ...contact });
    assert.match(called.text, whose === "read" ? /FORBIDDEN_SCOPE/ : /pending/, `${whose}: ${called.text}`);
  }
  assert.equal(await exported(), before);

  const tools = new Map(operations.map((operation) => [operation.name, operation]));
  assert.deepEqual(
    writes.flatMap(({ name }) => tools.get(name) ?? []).map(({ name, isProposed }) => [name, isProposed]),
    [["supplier_update", true]],
    "an operation on records that is a tool, too, is held by nothing here",
  );
});

test("whoever has signed in with a key that writes changes a supplier, but not where it is written to, by any road", async () => {
  await using server = await startGoodsServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  const mill = { email: "orders@mill.example", phone: "1", contactName: "Miller", address: { city: "Here" } };
  await askAdmin(server, "PATCH", `${shop}/suppliers/mill`, mill);
  await server.bring([
    { type: "supplier", supplierId: "loom", name: "The Loom", email: "orders@loom.example" },
    { type: "supplier", supplierId: "twin", name: "The Mill again", ...mill },
  ]);
  const exported = async (): Promise<string> => (await askAdmin(server, "GET", `${shop}/export`)).text;
  const before = await exported();
  const byKey = await signInWith(server, { apiKey: server.writeKey, name: "Anna" });
  const key = await byKey.bearer();
  const ask = (method: string, path: string, body: unknown) => askAdmin(server, method, shop + path, body, { key });

  for (const [field, value] of Object.entries({ ...contact, contactName: "F. Raud" })) {
    for (const sent of [value, null]) {
      const refused = await ask("PATCH", "/suppliers/mill", { note: "n", [field]: sent });
      assertFault(refused, 403, "FORBIDDEN_SCOPE");
      assert.equal(refused.at("error", "details", 0, "path"), `/${field}`);
      assert.match(refused.textAt("error", "action"), /invitation, a passkey or a mailed link/);
      assertFault(await ask("PATCH", "/suppliers/mill?dryRun=true", { [field]: sent }), 403, "FORBIDDEN_SCOPE");
    }
    assertFault(await ask("POST", "/suppliers", { name: "New", [field]: value }), 403, "FORBIDDEN_SCOPE");
  }
  assertFault(await ask("POST", "/suppliers/mill/merge", { into: "loom" }), 403, "FORBIDDEN_SCOPE");
  const file = `${JSON.stringify({ type: "supplier", supplierId: "mill", name: "The Mill", ...contact })}\n`;
  assertFault(await ask("POST", "/import", file), 403, "FORBIDDEN_SCOPE");
  assertFault(await ask("POST", "/import?format=suppliers", table), 403, "FORBIDDEN_SCOPE");
  assert.equal(await exported(), before);

  // What is no contact is a purchaser's, and so is what a person changes.
  assert.equal((await ask("PATCH", "/suppliers/mill", { note: "Slow", email: mill.email })).status, 200);
  assert.equal((await ask("POST", "/suppliers", { name: "New", currencyCode: "EUR" })).status, 201);
  assert.equal((await ask("POST", "/suppliers/twin/merge", { into: "mill" })).status, 200);
  const person = await (await signInAs(server, "purchaser")).bearer();
  const changed = await askAdmin(server, "PATCH", `${shop}/suppliers/mill`, contact, { key: person });
  assert.deepEqual([changed.status, changed.at("data", "supplier", "email")], [200, contact.email]);
});

test("every field of a supplier that is a contact by its name is changed by people alone", () => {
  const fields = Object.keys(supplierRecordFields).filter((field) => /mail|phone|fax|contact|address|url/i.test(field));
  assert.deepEqual(fields, [...supplierContactFields]);
});
