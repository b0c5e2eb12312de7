/**
 * An assistant that was talked into changing where a supplier is written to (C85): by every road that a token opens, whatever its scope, it is
 * refused, and nothing changes.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordOperations } from "../../src/admin/catalogue/records.ts";
import { bindingOf, spellRequest } from "../../src/http/routes.ts";
import { operations } from "../../src/operations/registry.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { callTool, connect } from "../support/peers/connect.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { assertFault } from "../support/server.ts";

const contact = { email: "pay@fraud.example", phone: "+44 20 7946 0000", address: { city: "Elsewhere" } };

test("no tool and no key changes a supplier's e-mail, phone or address: over REST, MCP, import and a sign-in, it is refused", async () => {
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

  const names = new Set(operations.map(({ name }) => name));
  assert.deepEqual(
    writes.map(({ name }) => name).filter((name) => names.has(name)),
    [],
    "an operation on records that is a tool, too, is held by nothing here",
  );
});
