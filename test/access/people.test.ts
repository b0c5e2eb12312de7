/** People of a shop: invitations, sessions, bearers, and what each role may do (contract §10, C48–C51, C55). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { adminOperations } from "../../src/admin/registry.ts";
import { consoleViewsMax, consoleViewsOfPersonMax } from "../../src/admin/console-views.ts";
import { signInFailuresMax } from "../../src/http/attempts.ts";
import { leastRole, type Role, roles } from "../../src/core/access/role.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { bindingOf } from "../../src/http/routes.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { bearerMs, sessionIdleMs } from "../../src/requests/sessions.ts";
import { askAdmin, cookieOf, fromPage, invite, signInAs, signInWith } from "../support/people.ts";
import { spelled } from "../support/openapi/requests.ts";
import { assertFault, adminToken, startServer, type TestResponse, type TestServer } from "../support/server.ts";

const listed = async (server: TestServer, key: string): Promise<number> =>
  (await server.get("/api/v1/purchase-orders?limit=1", { key })).status;

test("an invitation signs one person in, once, within 24 hours; its secret is nowhere but in the link", async () => {
  await using server = await startServer({ console: true });
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/invitations`, {
    name: "Ana",
    role: "receiver",
    email: "ana@example.com",
  });
  assert.equal(made.status, 201, made.text);
  const url = new URL(made.textAt("data", "url"));
  assert.equal(url.origin + url.pathname + url.search, `${server.url}/console`);
  assert.equal(Date.parse(made.textAt("data", "expiresAt")) - server.clock.now() > 86_000_000, true);
  const secret = url.hash.slice(1);

  const begun = await fromPage(server, "POST", "/session", { body: { invitation: secret } });
  assert.equal(begun.status, 201, begun.text);
  const cookie = begun.headers["set-cookie"]?.[0] ?? "";
  assert.match(cookie, /^openpo_console=opc_[^;]+; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=43200$/);
  assert.equal(begun.headers["cache-control"], "no-store");
  assert.ok(!begun.text.includes("opc_"), "the cookie's secret is not in the body");

  assertFault(await fromPage(server, "POST", "/session", { body: { invitation: secret } }), 401, "UNAUTHORIZED");
  const late = await invite(server, "viewer");
  const revoked = await invite(server, "viewer");
  const list = await askAdmin(server, "GET", `/shops/${server.shopId}/invitations`);
  assert.deepEqual(
    [list.at("data", "invitations", 2, "status"), list.at("data", "invitations", 0, "status")],
    ["used", "open"],
  );
  const revokedId = list.textAt("data", "invitations", 0, "invitationId");
  const path = `/shops/${server.shopId}/invitations/${revokedId}`;
  assert.equal((await askAdmin(server, "DELETE", path)).at("data", "invitation", "status"), "revoked");
  assertFault(await fromPage(server, "POST", "/session", { body: { invitation: revoked } }), 401, "UNAUTHORIZED");
  server.clock.advance(86_400_001);
  const expired = await fromPage(server, "POST", "/session", { body: { invitation: late } });
  assertFault(expired, 401, "UNAUTHORIZED");
  assert.match(expired.textAt("error", "message"), /has expired/);
  assert.match(expired.textAt("error", "action"), /new one/);

  const people = await askAdmin(server, "GET", `/shops/${server.shopId}/people`);
  assert.deepEqual(
    [people.at("data", "totalCount"), people.at("data", "people", 0, "name"), people.at("data", "people", 0, "role")],
    [1, "Ana", "receiver"],
  );
  const secrets = [secret, cookieOf(begun).split("=")[1] ?? "", late, revoked].map((text) => text.slice(-20));
  const told = [...server.logged, JSON.stringify(await server.audit()), list.text, people.text].join("\n");
  for (const each of secrets) assert.ok(!told.includes(each), "a secret was written down");
});

test("a cookie alone opens nothing, and only this service's pages turn it into a bearer", async () => {
  await using server = await startServer({ console: true });
  const ana = await signInAs(server, "owner");
  const pathsOf = (
    prefix: string,
    operations: readonly { readonly route: { readonly method: string; readonly path: string } }[],
  ) =>
    operations.map(({ route: { method, path } }) => ({
      // The body of a stream has no end.
      method: path.endsWith("/stream") ? "HEAD" : method,
      path: `${prefix}${path}`.replace("{shopId}", server.shopId).replaceAll(/\{\w+\}/g, "x"),
    }));
  const closed = [
    ...pathsOf("/api/v1", restOperations),
    ...pathsOf("/admin/v1", adminOperations),
    { method: "POST", path: "/mcp" },
  ];
  assert.ok(closed.length > 100);
  for (const { method, path } of closed) {
    const headers = { Cookie: ana.cookie, Origin: server.url, "Sec-Fetch-Site": "same-origin" };
    const { status, text } = await server.request(method, path, { key: null, headers, undocumented: true });
    assert.equal(status, 401, `${method} ${path}: ${text}`);
  }
  const refused: readonly Record<string, string>[] = [
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
    { Origin: "https://evil.example" },
    { Origin: "null" },
    {},
  ];
  for (const headers of refused) {
    const asked = await server.request("POST", "/console/token", {
      key: null,
      undocumented: true,
      headers: { Cookie: ana.cookie, ...headers },
    });
    assertFault(asked, 403, "FORBIDDEN_SCOPE");
  }
  const elsewhere = { "Sec-Fetch-Site": "cross-site" };
  const body = { invitation: await invite(server, "viewer") };
  assertFault(await fromPage(server, "POST", "/session", { body, headers: elsewhere }), 403, "FORBIDDEN_SCOPE");
  assertFault(
    await fromPage(server, "DELETE", "/session", { cookie: ana.cookie, headers: elsewhere }),
    403,
    "FORBIDDEN_SCOPE",
  );

  const byOrigin = await server.request("POST", "/console/token", {
    key: null,
    undocumented: true,
    headers: { Cookie: ana.cookie, Origin: server.url },
  });
  assert.equal(byOrigin.status, 200, byOrigin.text);
  assert.match(byOrigin.textAt("data", "token"), /^ops_test-shop_/);
  assertFault(await fromPage(server, "POST", "/token", {}), 401, "UNAUTHORIZED");
  assertFault(await fromPage(server, "POST", "/token", { cookie: `${ana.cookie}x` }), 401, "UNAUTHORIZED");
  assertFault(await fromPage(server, "GET", "/session", { cookie: ana.cookie }), 405, "METHOD_NOT_ALLOWED");
});

test("behind TLS the cookie is Secure, under a name that only TLS can set", async () => {
  await using server = await startServer({ console: true });
  const headers = { "X-Forwarded-Proto": "https" };
  const begun = await fromPage(server, "POST", "/session", { body: { adminToken }, headers });
  assert.match(begun.headers["set-cookie"]?.[0] ?? "", /^__Secure-openpo_console=.*; Secure$/);
  const plain = cookieOf(begun).replace("__Secure-", "");
  assertFault(await fromPage(server, "POST", "/token", { cookie: plain, headers }), 401, "UNAUTHORIZED");
  assert.equal((await fromPage(server, "POST", "/token", { cookie: cookieOf(begun), headers })).status, 200);
});

test("guesses from one address are refused after a while, whatever forwarding headers say; a right secret is taken from there all the same", async () => {
  await using server = await startServer({ console: true, isClockStill: true });
  const right = await invite(server, "viewer");
  const statuses: number[] = [];
  for (let index = 0; index < signInFailuresMax + 5; index += 1) {
    const credential = [
      { invitation: right.replace(/..$/, "00") },
      { adminToken: "x" },
      { apiKey: "opo_a_b", name: "n" },
    ];
    const headers = { "X-Forwarded-For": `10.0.0.${index}`, Forwarded: `for=10.0.0.${index}` };
    const tried = await fromPage(server, "POST", "/session", { body: credential[index % 3], headers });
    statuses.push(tried.status);
    if (tried.status === 429) assert.ok(Number(tried.headers["retry-after"]) >= 1);
  }
  assert.deepEqual([statuses[0], statuses[signInFailuresMax - 1], statuses[signInFailuresMax]], [401, 401, 429]);
  // Whoever else is behind that address gets in, with whatever they have.
  for (const body of [{ invitation: right }, { adminToken }, { apiKey: server.readKey, name: "Ben" }])
    assert.equal((await fromPage(server, "POST", "/session", { body })).status, 201);
  const wrong = { adminToken: "another-wrong-token" };
  assertFault(await fromPage(server, "POST", "/session", { body: wrong }), 429, "RATE_LIMITED");
  server.clock.advance(20_000);
  assertFault(await fromPage(server, "POST", "/session", { body: wrong }), 401, "UNAUTHORIZED");
});

test("one secret that fails is not looked up for ever; another one is", async () => {
  await using server = await startServer({ console: true, isClockStill: true });
  const { keyId, apiKey } = await server.addKey("read");
  await askAdmin(server, "DELETE", `/shops/${server.shopId}/keys/${keyId}`);
  const body = { apiKey, name: "Ben" };
  for (let count = 0; count < signInFailuresMax; count += 1)
    assertFault(await fromPage(server, "POST", "/session", { body }), 401, "UNAUTHORIZED");
  const rows = async (): Promise<number> => (await server.audit()).filter((row) => row.keyId === keyId).length;
  const before = await rows();
  const refused = await fromPage(server, "POST", "/session", { body });
  assertFault(refused, 429, "RATE_LIMITED");
  assert.match(refused.textAt("error", "message"), /this secret/);
  assert.equal(await rows(), before, "nothing was looked up");
});

test("a bearer ends with its session: time, sign-out, revocation, deletion of the person, of the shop", async () => {
  await using server = await startServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  const timed = await signInAs(server, "viewer");
  const bearer = await timed.bearer();
  assert.equal(await listed(server, bearer), 200);
  server.clock.advance(bearerMs);
  assert.equal(await listed(server, bearer), 401);
  assert.equal(await listed(server, await timed.bearer()), 200);

  const leaving = await signInAs(server, "viewer");
  const left = await leaving.bearer();
  const out = await fromPage(server, "DELETE", "/session", { cookie: leaving.cookie });
  assert.match(out.headers["set-cookie"]?.[0] ?? "", /^openpo_console=; .*Max-Age=0/);
  assert.equal(await listed(server, left), 401);
  assertFault(await fromPage(server, "POST", "/token", { cookie: leaving.cookie }), 401, "UNAUTHORIZED");

  const everywhere = await invite(server, "viewer", "Everywhere");
  const phone = await signInWith(server, { apiKey: server.writeKey, name: "Here and there" });
  const desk = await signInWith(server, { apiKey: server.writeKey, name: "Here and there" });
  const other = await signInWith(server, { invitation: everywhere });
  const bearers = [await phone.bearer(), await desk.bearer()];
  assert.equal(phone.personId, desk.personId);
  assertFault(await fromPage(server, "GET", "/sessions", { cookie: desk.cookie }), 405, "METHOD_NOT_ALLOWED");
  const fromElsewhere = { cookie: desk.cookie, headers: { "Sec-Fetch-Site": "cross-site" } };
  assertFault(await fromPage(server, "DELETE", "/sessions", fromElsewhere), 403, "FORBIDDEN_SCOPE");
  const gone = await fromPage(server, "DELETE", "/sessions", { cookie: desk.cookie });
  assert.match(gone.headers["set-cookie"]?.[0] ?? "", /^openpo_console=; .*Max-Age=0/);
  for (const each of bearers) assert.equal(await listed(server, each), 401);
  assertFault(await fromPage(server, "POST", "/token", { cookie: phone.cookie }), 401, "UNAUTHORIZED");
  assert.equal(await listed(server, await other.bearer()), 200, "others stay");
  assert.equal((await fromPage(server, "DELETE", "/sessions", {})).status, 200, "nobody is signed in");

  const revoked = await signInAs(server, "viewer", "Revoked");
  const revokedBearer = await revoked.bearer();
  const sessions = await askAdmin(server, "GET", `${shop}/sessions`);
  assert.equal(sessions.at("data", "sessions", 0, "personId"), revoked.personId);
  const sessionId = sessions.textAt("data", "sessions", 0, "sessionId");
  assert.equal((await askAdmin(server, "DELETE", `${shop}/sessions/${sessionId}`)).status, 200);
  assertFault(await askAdmin(server, "DELETE", `${shop}/sessions/${sessionId}`), 404, "NOT_FOUND");
  assert.equal(await listed(server, revokedBearer), 401);

  const deleted = await signInAs(server, "owner", "Deleted");
  const deletedBearer = await deleted.bearer();
  assert.equal((await askAdmin(server, "DELETE", `${shop}/people/${deleted.personId}`)).status, 200);
  assert.equal(await listed(server, deletedBearer), 401);
  assertFault(await askAdmin(server, "GET", `${shop}/people`, undefined, { key: deletedBearer }), 401, "UNAUTHORIZED");
  assertFault(await fromPage(server, "POST", "/token", { cookie: deleted.cookie }), 401, "UNAUTHORIZED");

  const idle = await signInAs(server, "viewer");
  server.clock.advance(sessionIdleMs);
  assertFault(await fromPage(server, "POST", "/token", { cookie: idle.cookie }), 401, "UNAUTHORIZED");

  const last = await signInAs(server, "viewer");
  const lastBearer = await last.bearer();
  assert.equal((await askAdmin(server, "DELETE", `${shop}?confirm=${server.shopId}`)).status, 200);
  assert.equal(await listed(server, lastBearer), 401);
  assertFault(await fromPage(server, "POST", "/token", { cookie: last.cookie }), 401, "UNAUTHORIZED");
});

test("a session by API key has the key's role at most, and ends when the key is revoked", async () => {
  await using server = await startServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  const { keyId, apiKey } = await server.addKey("write");
  const reader = await signInWith(server, { apiKey: server.readKey, name: "Ben" });
  const writer = await signInWith(server, { apiKey, name: "Benno" });
  const again = await signInWith(server, { apiKey, name: "Benno" });
  assert.equal(again.personId, writer.personId);
  assert.notEqual(reader.personId, writer.personId);
  const create = async (key: string): Promise<number> =>
    (await server.post("/api/v1/purchase-orders", {}, { key })).status;
  assert.deepEqual([await create(await reader.bearer()), await create(await writer.bearer())], [403, 201]);

  // Whoever has the key could sign in as Ben: the role is never more than the key's.
  const raised = await askAdmin(server, "PATCH", `${shop}/people/${writer.personId}`, { role: "owner" });
  assert.equal(raised.status, 200, raised.text);
  const bearer = await writer.bearer();
  assertFault(await askAdmin(server, "GET", `${shop}/keys`, undefined, { key: bearer }), 403, "FORBIDDEN_SCOPE");

  assert.equal((await askAdmin(server, "DELETE", `${shop}/keys/${keyId}`)).status, 200);
  assert.equal(await listed(server, bearer), 401);
  assertFault(await fromPage(server, "POST", "/token", { cookie: writer.cookie }), 401, "UNAUTHORIZED");
  const body = { apiKey, name: "Benno" };
  assertFault(await fromPage(server, "POST", "/session", { body }), 401, "UNAUTHORIZED");
  assertFault(await fromPage(server, "POST", "/session", { body: { apiKey } }), 400, "INVALID_INPUT");
});

test("the operator names a shop and acts there as its owner, until signing out", async () => {
  await using server = await startServer({ console: true });
  const { cookie } = await signInWith(server, { adminToken });
  const shops = await fromPage(server, "POST", "/token", { cookie });
  assert.equal(shops.at("data", "token"), null);
  assert.equal(shops.at("data", "shops", 0, "shopId"), server.shopId);
  assertFault(await fromPage(server, "POST", "/token", { cookie, body: { shopId: "none" } }), 400, "INVALID_INPUT");
  const given = await fromPage(server, "POST", "/token", { cookie, body: { shopId: server.shopId } });
  const key = given.textAt("data", "token");
  const made = await server.post("/api/v1/purchase-orders", {}, { key });
  assert.equal(made.status, 201, made.text);
  const log = await server.get(
    `/api/v1/purchase-orders/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}/log`,
    { key },
  );
  assert.deepEqual(log.at("data", "log", 0, "actor"), { type: "user", id: null, name: "operator" });
  assert.equal((await askAdmin(server, "GET", `/shops/${server.shopId}/keys`, undefined, { key })).status, 200);
  const elsewhere = await signInWith(server, { adminToken });
  assert.equal((await fromPage(server, "DELETE", "/session", { cookie })).status, 200);
  assert.equal(await listed(server, key), 401);
  assertFault(await fromPage(server, "POST", "/token", { cookie }), 401, "UNAUTHORIZED");

  assert.equal((await fromPage(server, "POST", "/token", { cookie: elsewhere.cookie })).status, 200);
  const { cookie: third } = await signInWith(server, { adminToken });
  assert.equal((await fromPage(server, "DELETE", "/sessions", { cookie: third })).status, 200);
  assertFault(await fromPage(server, "POST", "/token", { cookie: elsewhere.cookie }), 401, "UNAUTHORIZED");
});

test("a change of role holds at once", async () => {
  await using server = await startServer({ console: true });
  const ana = await signInAs(server, "purchaser");
  const key = await ana.bearer();
  assert.equal((await server.post("/api/v1/purchase-orders", {}, { key })).status, 201);
  await askAdmin(server, "PATCH", `/shops/${server.shopId}/people/${ana.personId}`, { role: "viewer", name: "Anna" });
  assertFault(await server.post("/api/v1/purchase-orders", {}, { key }), 403, "FORBIDDEN_SCOPE");
  const given = await fromPage(server, "POST", "/token", { cookie: ana.cookie });
  assert.deepEqual(given.at("data", "person"), {
    personId: ana.personId,
    name: "Anna",
    role: "viewer",
    language: null,
  });
});

test("a person's request is logged and audited under the person; an idempotency key is the person's", async () => {
  await using server = await startServer({ console: true });
  const ana = await signInAs(server, "purchaser", "Ana");
  const ben = await signInAs(server, "purchaser", "Ben");
  const [first, second] = [await ana.bearer(), await ana.bearer()];
  const headers = { "Idempotency-Key": "a-key" };
  const create = (key: string) => server.post("/api/v1/purchase-orders", { poName: "x" }, { key, headers });
  const made = await create(first);
  assert.equal(made.status, 201, made.text);
  const again = await create(second);
  assert.equal(again.headers["idempotent-replayed"], "true");
  assert.equal(again.text, made.text);
  assert.notEqual((await create(await ben.bearer())).text, made.text);
  assert.equal((await create(server.writeKey)).headers["idempotent-replayed"], undefined);

  const purchaseOrderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const log = await server.get(`/api/v1/purchase-orders/${purchaseOrderId}/log`);
  assert.deepEqual(log.at("data", "log", 0, "actor"), { type: "user", id: ana.personId, name: "Ana" });
  const audit = await askAdmin(server, "GET", `/shops/${server.shopId}/audit-log?personId=${ana.personId}`);
  // The sign-in, the request and its replay.
  assert.equal(audit.at("data", "totalCount"), 3);
  assert.deepEqual(
    [
      audit.at("data", "auditLog", 1, "tag"),
      audit.at("data", "auditLog", 1, "keyId"),
      audit.at("data", "auditLog", 0, "replayed"),
    ],
    ["console:purchase_order_create", null, true],
  );
  const byOperation = await askAdmin(
    server,
    "GET",
    `/shops/${server.shopId}/audit-log?operation=purchase_order_create`,
  );
  assert.equal(byOperation.at("data", "totalCount"), 4);
});

test("the audit log names the order of a request: by its path or by what it changed, while there is one", async () => {
  await using server = await startServer({ console: true });
  const made = await server.post("/api/v1/purchase-orders", { poName: "x" }, { key: server.writeKey });
  const order = {
    purchaseOrderId: made.textAt("data", "purchaseOrder", "purchaseOrderId"),
    poNumber: made.textAt("data", "purchaseOrder", "poNumber"),
  };
  const at = `/api/v1/purchase-orders/${order.purchaseOrderId}`;
  await server.get(at);
  await server.get("/api/v1/purchase-orders/po_none");
  await server.get("/api/v1/purchase-orders");
  const orders = async () => {
    const { data } = JSON.parse((await askAdmin(server, "GET", `/shops/${server.shopId}/audit-log`)).text);
    return data.auditLog.map((each: { readonly order: unknown }) => each.order);
  };
  assert.deepEqual(await orders(), [null, null, order, order]);
  const deleted = await server.request("DELETE", at, { key: server.writeKey });
  assert.equal(deleted.status, 200, deleted.text);
  assert.deepEqual(await orders(), [null, null, null, null, null]);
});

test("people draw on a bucket of their own, and agents on theirs", async () => {
  await using server = await startServer({
    console: true,
    shop: { rateLimit: { capacity: 3, refillPerSecond: 0.001 } },
  });
  const ana = await signInAs(server, "viewer");
  const key = await ana.bearer();
  assert.equal(await listed(server, server.readKey), 200);
  for (let index = 0; index < 5; index += 1)
    await server.get("/api/v1/purchase-orders?limit=1", { key: server.readKey });
  assert.equal(await listed(server, server.readKey), 429);
  const first = await server.get("/api/v1/purchase-orders?limit=1", { key });
  assert.equal(first.status, 200, first.text);
  assert.match(String(first.headers["ratelimit-policy"]), /^"people";q=3;/);
  assert.equal(await listed(server, key), 200);
  assert.equal(await listed(server, key), 429);
});

test("a session bearer is nothing to agents' surface", async () => {
  await using server = await startServer({ console: true });
  const key = await (await signInAs(server, "owner")).bearer();
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const headers = { Accept: "application/json, text/event-stream" };
  assertFault(await server.post("/mcp", body, { key, headers, undocumented: true }), 401, "UNAUTHORIZED");
});

test("each role may call exactly its operations, of the API and of the admin API", async () => {
  await using server = await startServer({ console: true });
  const other = await askAdmin(server, "PUT", "/shops/other-shop", { name: "Other" });
  assert.equal(other.status, 201, other.text);
  // The body of a stream has no end.
  const admin = adminOperations.map((operation) => {
    const { method, path } = operation.route;
    return { operation, path, method: path.endsWith("/stream") ? "HEAD" : method };
  });
  for (const role of roles) {
    const signedIn = await signInAs(server, role);
    const key = await signedIn.bearer();
    for (const operation of restOperations) {
      const { target, body } = spelled(bindingOf(operation), exampleOf(operation));
      const { status, text } = await server.request(operation.route.method, target, { key, body });
      const allowed = roles.indexOf(role) >= roles.indexOf(leastRole(operation));
      assert.equal(status !== 403, allowed, `${role}: ${operation.name} answered ${text}`);
    }
    for (const { operation, method, path } of admin) {
      const allowed = operation.role !== undefined && roles.indexOf(role) >= roles.indexOf(operation.role);
      const asked = async (shopId: string): Promise<TestResponse> =>
        await askAdmin(server, method, path.replace("{shopId}", shopId).replaceAll(/\{\w+\}/g, "x"), undefined, {
          key,
        });
      const own = await asked(server.shopId);
      assert.equal(own.status !== 403, allowed, `${role}: ${operation.name} answered ${own.text}`);
      if (!path.includes("{shopId}")) continue;
      const [foreign, none] = [await asked("other-shop"), await asked("no-such-shop")];
      assert.equal(foreign.status, 403);
      if (method !== "HEAD") assertFault(foreign, 403, "FORBIDDEN_SCOPE");
      const body = (text: string): string => text.replace(/req_\w+/, "");
      assert.equal(body(foreign.text), body(none.text), "another shop is as if it did not exist");
    }
  }
});

test("no role below the owner reaches webhook endpoints: whoever adds one reads every later change (C59)", async () => {
  await using server = await startServer({ console: true });
  const routes = adminOperations.map(({ route }) => route).filter(({ path }) => path.includes("/webhook-endpoints"));
  assert.equal(routes.length, 10);
  for (const role of roles.filter((each) => each !== "owner")) {
    const key = await (await signInAs(server, role)).bearer();
    for (const { method, path } of routes) {
      const target = path.replace("{shopId}", server.shopId).replaceAll(/\{\w+\}/g, "x");
      assertFault(await askAdmin(server, method, target, undefined, { key }), 403, "FORBIDDEN_SCOPE");
    }
  }
});

test("an owner changes the shop's settings, but neither plan nor rate limit; what is the operator's is 403", async () => {
  await using server = await startServer({ console: true });
  const key = await (await signInAs(server, "owner")).bearer();
  const shop = `/shops/${server.shopId}`;
  const put = (body: object) => askAdmin(server, "PUT", shop, body, { key });
  assert.equal((await put({ settings: { onOrderTag: "coming" } })).status, 200);
  const refused: readonly object[] = [
    { settings: { rateLimit: { capacity: 5 } } },
    { plan: { restApi: true } },
    { storefront: { kind: "sandbox" } },
    { currencyCode: "EUR" },
  ];
  for (const body of refused) assertFault(await put(body), 403, "FORBIDDEN_SCOPE");
  for (const path of ["/shops", `${shop}/export`, `${shop}/sandbox`, `${shop}/nothing`, "/nothing"])
    assertFault(await askAdmin(server, "GET", path, undefined, { key }), 403, "FORBIDDEN_SCOPE");
  const made = await askAdmin(server, "POST", `${shop}/keys`, { name: "agent", scope: "write" }, { key });
  assert.equal(made.status, 201, made.text);
  const audit = await server.audit();
  assert.deepEqual([audit[0]?.tag, audit[0]?.keyId], ["console:key_create", null]);
  assert.ok(audit.some(({ tag, status }) => tag === "console:unknown" && status === 403));
});

test("roles are from the least to the most", () => {
  const least = (scope: "read" | "write", receiving?: true): Role =>
    leastRole({ scope, ...(receiving === undefined ? {} : { receiving }) });
  assert.deepEqual([least("read"), least("write", true), least("write")], ["viewer", "receiver", "purchaser"]);
  assert.deepEqual(
    restOperations.filter(({ receiving }) => receiving === true).map(({ name }) => name),
    [
      "purchase_order_confirm",
      "purchase_order_receive",
      "purchase_order_unreceive",
      "purchase_order_storefront_sync",
      "purchase_order_storefront_sync_reset",
    ],
  );
});

test("below owners people reach what is listed here of the admin API, and owners all but what is the operator's (C51)", () => {
  const namesOf = (role: Role | undefined): readonly string[] =>
    adminOperations.filter((operation) => operation.role === role).map(({ name }) => name);
  assert.deepEqual(namesOf("viewer"), [
    "connection_request_get",
    "connection_decide",
    "supplier_list",
    "location_list",
    "variant_search",
    "open_line_list",
    "change_list",
    "supplier_get",
    "variant_get",
    "location_get",
    "supplier_variant_list",
    "record_history_list",
    "purchase_figures_get",
    "supplier_figures_list",
    "supplier_deliveries_get",
    "supplier_document_list",
    "variant_figures_list",
    "variant_outlook_get",
    "variant_order_list",
    "purchase_order_document",
    "purchase_order_document_pdf",
    "purchase_order_document_csv",
    "document_settings_get",
    "purchase_order_mail_list",
    "failed_mail_list",
    "comment_list",
    "approval_request_list",
    "approval_request_get",
    "approval_request_approve",
    "approval_request_reject",
    "approval_request_withdraw",
    "console_view_list",
    "console_view_put",
    "console_view_delete",
    "supplier_proposal_list",
    "supplier_proposal_waiting",
    "event_list",
    "event_stream",
  ]);
  assert.deepEqual(namesOf("receiver"), ["comment_add"]);
  assert.deepEqual(namesOf("purchaser"), [
    ...["supplier", "variant", "location"].flatMap((kind) =>
      ["create", "update", "delete"].map((does) => `${kind}_${does}`),
    ),
    "supplier_variant_put",
    "supplier_variant_update",
    "supplier_variant_delete",
    "variant_level_put",
    "supplier_merge",
    "purchase_order_send",
    "purchase_order_mail_retry",
    "purchase_order_again",
    "purchase_order_merge",
    "supplier_link_create",
    "supplier_link_list",
    "supplier_link_revoke",
    "supplier_proposal_accept",
    "supplier_proposal_reject",
  ]);
  assert.deepEqual(namesOf(undefined), [
    "shop_list",
    "shop_delete",
    "shop_export",
    "shop_snapshot",
    "shop_restore",
    "sandbox_get",
    "sandbox_variant_patch",
    "sandbox_faults_put",
  ]);
});

test("a paused key, and who signed in with it, are refused from the next request on, until it is resumed", async () => {
  await using server = await startServer({ console: true });
  const keys = `/shops/${server.shopId}/keys`;
  const made = await askAdmin(server, "POST", keys, { name: "Night bot", scope: "write" });
  const [keyId, apiKey] = [made.textAt("data", "keyId"), made.textAt("data", "apiKey")];
  const person = await signInWith(server, { apiKey, name: "Ben" });
  const bearer = await person.bearer();
  const pause = (paused: boolean) => askAdmin(server, "PATCH", `${keys}/${keyId}`, { paused });
  assert.deepEqual([await listed(server, apiKey), await listed(server, bearer)], [200, 200]);

  const first = (await pause(true)).textAt("data", "key", "pausedAt");
  server.clock.advance(1_000);
  assert.equal((await pause(true)).textAt("data", "key", "pausedAt"), first);
  const refused = await server.get("/api/v1/purchase-orders", { key: apiKey });
  assertFault(refused, 401, "UNAUTHORIZED");
  assert.match(refused.textAt("error", "action"), /owner of the shop to resume it/);
  assert.equal(await listed(server, bearer), 401);

  assert.equal((await pause(false)).at("data", "key", "pausedAt"), null);
  assert.deepEqual([await listed(server, apiKey), await listed(server, await person.bearer())], [200, 200]);
  assertFault(await askAdmin(server, "PATCH", `${keys}/none`, { paused: true }), 404, "NOT_FOUND");
});

test("the last owner can neither be deleted nor become something else, but by the operator (C48)", async () => {
  await using server = await startServer({ console: true });
  const people = `/shops/${server.shopId}/people`;
  const ana = await signInAs(server, "owner", "Ana");
  const ben = await signInAs(server, "owner", "Ben");
  const own = `${people}/${ana.personId}`;
  const key = await ana.bearer();
  const asAna = (method: string, path: string, body?: object) => askAdmin(server, method, path, body, { key });
  // Whoever came by a key is no owner, whatever role is stored.
  const keyed = await signInWith(server, { apiKey: server.writeKey, name: "Cleo" });
  await askAdmin(server, "PATCH", `${people}/${keyed.personId}`, { role: "owner" });

  assert.equal((await asAna("DELETE", `${people}/${ben.personId}`)).status, 200);
  for (const refused of [
    await asAna("DELETE", own),
    await asAna("PATCH", own, { role: "purchaser" }),
    await asAna("PATCH", own, { role: "viewer", name: "Nobody" }),
  ]) {
    assertFault(refused, 400, "INVALID_INPUT");
    assert.equal(refused.at("error", "reason"), "LAST_OWNER");
  }
  assert.equal((await asAna("GET", own)).at("data", "person", "name"), "Ana");
  assert.equal((await asAna("PATCH", own, { role: "owner", name: "Anna" })).status, 200);

  const { cookie } = await signInWith(server, { adminToken });
  const operator = await fromPage(server, "POST", "/token", { cookie, body: { shopId: server.shopId } });
  const asOperator = { key: operator.textAt("data", "token") };
  assert.equal((await askAdmin(server, "PATCH", own, { role: "viewer" }, asOperator)).status, 200);
  assert.equal((await askAdmin(server, "DELETE", own)).status, 200);
});

test("one person can save some of the shop's views and not all of them", async () => {
  await using server = await startServer({ console: true });
  const [ana, ben] = [await signInAs(server, "viewer"), await signInAs(server, "viewer")];
  const keys = [await ana.bearer(), await ben.bearer()];
  const save = (key: string | undefined, viewId: string) =>
    askAdmin(
      server,
      "PUT",
      `/shops/${server.shopId}/console-views/${viewId}`,
      { viewName: viewId, query: "" },
      { key: key ?? "" },
    );
  for (let count = 0; count < consoleViewsOfPersonMax; count += 1)
    assert.equal((await save(keys[0], `view-${count}`)).status, 201);
  assertFault(await save(keys[0], "one-more"), 400, "INVALID_INPUT");
  assert.equal((await save(keys[0], "view-0")).status, 200, "their own can be changed");
  assert.equal((await save(keys[1], "of-ben")).status, 201);
  assert.equal((await save(adminToken, "of-the-operator")).status, 201);
  assert.ok(consoleViewsOfPersonMax * 2 < consoleViewsMax);
});

const peopleOf = async (
  server: TestServer,
): Promise<readonly { readonly name: string; readonly keyId: string | null }[]> =>
  z
    .array(z.object({ name: z.string(), keyId: z.string().nullable() }))
    .parse((await askAdmin(server, "GET", `/shops/${server.shopId}/people`)).at("data", "people"));

test("a key makes one person, who counts among nobody, and goes with the key; each sign-in costs a token and is recorded (C49)", async () => {
  await using server = await startServer({
    console: true,
    shop: { rateLimit: { capacity: 12, refillPerSecond: 0.001 } },
  });
  const { keyId, apiKey } = await server.addKey("read");
  const tried: number[] = [];
  for (let count = 0; count < 20; count += 1)
    tried.push((await fromPage(server, "POST", "/session", { body: { apiKey, name: `Nobody ${count}` } })).status);
  assert.deepEqual(tried, [...Array<number>(12).fill(201), ...Array<number>(8).fill(429)], "the key's bucket pays");
  const people = await peopleOf(server);
  assert.deepEqual(people, [{ name: "Nobody 11", keyId }]);
  const rows = (await server.audit()).filter((row) => row.tag === "console:session_begin");
  assert.deepEqual(
    rows.map((row) => [row.keyId, row.personId !== null, row.method, row.path, row.status, row.errorCode]).toReversed(),
    [
      ...Array.from({ length: 12 }, () => [keyId, true, "POST", "/console/session", 201, null]),
      ...Array.from({ length: 8 }, () => [keyId, false, "POST", "/console/session", 429, "RATE_LIMITED"]),
    ],
  );
  // People, and their invitations, have not been in the way of that, nor it of them.
  const ana = await signInAs(server, "viewer", "Ana");
  assert.equal(await listed(server, await ana.bearer()), 200);
  const [row] = (await server.audit()).filter(
    (each) => each.personId === ana.personId && each.tag === "console:session_begin",
  );
  assert.deepEqual([row?.keyId, row?.status], [null, 201]);

  assert.equal((await askAdmin(server, "DELETE", `/shops/${server.shopId}/keys/${keyId}`)).status, 200);
  assert.deepEqual(await peopleOf(server), [{ name: "Ana", keyId: null }]);
});

test("a key that was made without sign-in signs nobody in, and works otherwise (C49)", async () => {
  await using server = await startServer({ console: true });
  const keys = `/shops/${server.shopId}/keys`;
  const made = await askAdmin(server, "POST", keys, { name: "Night bot", scope: "write", signIn: false });
  assert.equal(made.at("data", "signIn"), false);
  const apiKey = made.textAt("data", "apiKey");
  const refused = await fromPage(server, "POST", "/session", { body: { apiKey, name: "Ben" } });
  assertFault(refused, 403, "FORBIDDEN_SCOPE");
  assert.equal(refused.headers["set-cookie"], undefined);
  assert.equal(await listed(server, apiKey), 200);
  assert.deepEqual(await peopleOf(server), []);
  const [row] = (await server.audit()).filter(({ tag }) => tag === "console:session_begin");
  assert.deepEqual([row?.keyId, row?.status, row?.errorCode], [made.textAt("data", "keyId"), 403, "FORBIDDEN_SCOPE"]);
  const other = await askAdmin(server, "POST", keys, { name: "Dock", scope: "write" });
  assert.equal(other.at("data", "signIn"), true);
  const listedKeys = await askAdmin(server, "GET", keys);
  const shown = z.array(z.object({ name: z.string(), signIn: z.boolean() })).parse(listedKeys.at("data", "keys"));
  assert.deepEqual(
    shown.filter(({ signIn }) => !signIn).map(({ name }) => name),
    ["Night bot"],
  );
});

test("nobody signs in with a key under the name of a person of the shop, of one who is invited, or of the operator (C49)", async () => {
  await using server = await startServer({ console: true });
  await signInAs(server, "owner", "Demo owner");
  await invite(server, "viewer", "José");
  const revoked = await askAdmin(server, "POST", `/shops/${server.shopId}/invitations`, {
    name: "Rita",
    role: "viewer",
  });
  await askAdmin(server, "DELETE", `/shops/${server.shopId}/invitations/${revoked.textAt("data", "invitationId")}`);
  await signInWith(server, { apiKey: server.readKey, name: "Reader" });
  const signIn = (name: string): Promise<TestResponse> =>
    fromPage(server, "POST", "/session", { body: { apiKey: server.writeKey, name } });
  for (const name of [
    "Demo owner",
    "demo  OWNER",
    "ｄｅｍｏ owner",
    "operator",
    "Operator",
    "José",
    "JOSE\u0301",
    "Jose",
    "oper\u00adator",
    "Demo\u200b owner\u2060",
    "reader",
    // Letters of other alphabets, and such as cannot be told apart.
    "оperаtоr",
    "ΟΡΕRΑΤΟR",
    "ᴏᴘᴇʀᴀᴛᴏʀ",
    "0perator",
    "Dеmо оwnеr",
    "Jоsé",
    "Rеаdеr",
  ]) {
    const refused = await signIn(name);
    assertFault(refused, 400, "INVALID_INPUT");
    assert.equal(refused.at("error", "details", 0, "path"), "/name", name);
  }
  for (const name of ["Writer", "Writer", "Оператор", "Νίκος", "Rita"])
    assert.equal((await signIn(name)).status, 201, name);
  assert.deepEqual(
    (await peopleOf(server)).map(({ name }) => name),
    ["Demo owner", "Reader", "Rita"],
  );
});

test("log, events, changes and audit log name the key beside the person who has signed in with it, and its bucket pays (C49)", async () => {
  await using server = await startServer({
    console: true,
    shop: { rateLimit: { capacity: 8, refillPerSecond: 0.001 } },
  });
  const shop = `/shops/${server.shopId}`;
  const { keyId, apiKey } = await server.addKey("write");
  const cleo = await signInWith(server, { apiKey, name: "Cleo" });
  const key = await cleo.bearer();
  const made = await server.post("/api/v1/purchase-orders", {}, { key });
  assert.equal(made.status, 201, made.text);
  assert.match(String(made.headers["ratelimit-policy"]), /^"shop";/);
  const actor = { type: "user", id: cleo.personId, name: "Cleo", keyId };
  const log = await server.get(
    `/api/v1/purchase-orders/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}/log`,
    { key },
  );
  assert.deepEqual(log.at("data", "log", 0, "actor"), actor);
  const events = await askAdmin(server, "GET", `${shop}/events`, undefined, { key });
  assert.deepEqual(events.at("data", "events", 0, "actor"), actor);
  assert.match(String(events.headers["ratelimit-policy"]), /^"shop";/);
  const byKey = { key: apiKey };
  await server.post("/api/v1/purchase-orders", {}, byKey);

  const found = async (query: string): Promise<unknown> => {
    const changes = await askAdmin(server, "GET", `${shop}/changes?${query}`);
    const actors = z.array(z.object({ actor: z.object({ type: z.string() }) })).parse(changes.at("data", "changes"));
    assert.equal(changes.at("data", "totalCount"), actors.length);
    return actors.map((each) => each.actor.type);
  };
  assert.deepEqual(
    await found(`keyId=${keyId}`),
    ["api-key", "user"],
    "what it did, and what was done by who signed in with it",
  );
  assert.deepEqual(await found(`keyId=${keyId}&personId=${cleo.personId}`), ["user"]);
  assert.deepEqual(await found(`personId=${cleo.personId}`), ["user"]);
  assert.deepEqual(await found(`keyId=${cleo.personId}&personId=${cleo.personId}`), []);
  const first = await askAdmin(server, "GET", `${shop}/changes?keyId=${keyId}&limit=1`);
  assert.deepEqual([first.at("data", "totalCount"), first.at("data", "changes", 0, "actor", "type")], [2, "api-key"]);
  const second = await askAdmin(
    server,
    "GET",
    `${shop}/changes?keyId=${keyId}&limit=1&cursor=${first.textAt("data", "cursor")}`,
  );
  assert.deepEqual([second.at("data", "cursor"), second.at("data", "changes", 0, "actor", "type")], [null, "user"]);

  const rows = (await server.audit()).filter((row) => row.personId === cleo.personId);
  assert.deepEqual([...new Set(rows.map((row) => row.keyId))], [keyId]);
  assert.deepEqual(rows.map(({ tag }) => tag).toReversed(), [
    "console:session_begin",
    "console:purchase_order_create",
    "console:purchase_order_log_list",
    "console:event_list",
  ]);
  // Sign-in, bearer, and six requests: the shop's bucket is empty, that of its people is not.
  assert.equal(await listed(server, apiKey), 200);
  assert.equal(await listed(server, key), 200);
  assert.equal(await listed(server, apiKey), 429);
  const ana = await signInAs(server, "viewer", "Ana");
  assert.equal(await listed(server, await ana.bearer()), 200);
});

test("an order that is exported and imported keeps the key in its log", async () => {
  await using server = await startServer({ console: true });
  const { keyId, apiKey } = await server.addKey("write");
  const cleo = await signInWith(server, { apiKey, name: "Cleo" });
  const made = await server.post("/api/v1/purchase-orders", {}, { key: await cleo.bearer() });
  const exported = await askAdmin(server, "GET", `/shops/${server.shopId}/export`);
  await askAdmin(server, "PUT", "/shops/other", { name: "Other", currencyCode: "EUR" });
  const imported = await askAdmin(server, "POST", "/shops/other/import", exported.text);
  assert.equal(imported.status, 200, imported.text);
  const changes = await askAdmin(server, "GET", `/shops/other/changes?keyId=${keyId}`);
  assert.equal(changes.at("data", "changes", 0, "actor", "keyId"), keyId);
  assert.equal(
    changes.at("data", "changes", 0, "purchaseOrderId"),
    made.at("data", "purchaseOrder", "purchaseOrderId"),
  );
});

test("what only the person sees goes with the person; what is shared stays", async () => {
  await using server = await startServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  const { keyId, apiKey } = await server.addKey("read");
  const [ben, cleo] = [await signInAs(server, "viewer", "Ben"), await signInWith(server, { apiKey, name: "Cleo" })];
  for (const person of [ben, cleo]) {
    const { personId } = person;
    const key = await person.bearer();
    for (const isShared of [true, false])
      await askAdmin(
        server,
        "PUT",
        `${shop}/console-views/${personId}-${String(isShared)}`,
        { viewName: "v", query: "", isShared },
        { key },
      );
  }
  const views = async (): Promise<unknown> =>
    (await askAdmin(server, "GET", `${shop}/console-views`)).at("data", "totalCount");
  assert.equal(await views(), 4);
  await askAdmin(server, "DELETE", `${shop}/people/${ben.personId}`);
  assert.equal(await views(), 3);
  await askAdmin(server, "DELETE", `${shop}/keys/${keyId}`);
  assert.equal(await views(), 2);
});
