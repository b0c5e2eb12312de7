/**
 * An assistant connects by its address (contract §15): it finds out how, a person allows it, and it calls tools. Each attack is refused.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { accessTokenMs, connectCodeMs, refreshIdleMs, rotationGraceMs } from "../../src/core/access/grant.ts";
import { answeredRequestsMax, connectionsOfShopMax, registrationMs } from "../../src/connect/consent.ts";
import {
  registrationEveryMs,
  registrationOfAllEveryMs,
  registrationsMax,
  registrationsOfAllMax,
  tokenGuessesMax,
  tokenGuessMs,
} from "../../src/http/attempts.ts";
import { adminToken, assertFault, startServer, type TestServer } from "../support/server.ts";
import { askAdmin, signInAs, signInWith } from "../support/people.ts";
import {
  ask,
  authorize,
  callback,
  callTool,
  codeIn,
  connect,
  connectHere,
  decide,
  documentOf,
  exchange,
  oauth,
  oauthProvider,
  refresh,
  registerClient,
  serveDocuments,
} from "../support/peers/connect.ts";

const open = (server: TestServer, path: string, headers: Readonly<Record<string, string>> = {}) =>
  server.request("GET", path, { key: null, undocumented: true, headers });

const keysOf = async (server: TestServer) => {
  const keys = (await askAdmin(server, "GET", `/shops/${server.shopId}/keys`)).at("data", "keys");
  return Array.isArray(keys) ? keys : assert.fail();
};

/** A registration is its words and its time: two of the same words in the same millisecond are one. */
const otherClient = { client_name: "Other", redirect_uris: [callback] };

suite("found by itself (C72)", () => {
  test("documents name the addresses where it listens, whatever a request says of itself, and any page may read them", async () => {
    await using server = await startServer({ console: true });
    const forged = {
      Host: "evil.example",
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      Forwarded: "host=evil.example;proto=https",
    };
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
      const answered = await open(server, path, forged);
      assert.deepEqual(JSON.parse(answered.text), {
        resource: `${server.url}/mcp`,
        authorization_servers: [server.url],
        scopes_supported: ["read", "propose", "write"],
        bearer_methods_supported: ["header"],
        resource_name: "OpenPO",
      });
      assert.equal(answered.headers["access-control-allow-origin"], "*");
    }
    const answered = await open(server, "/.well-known/oauth-authorization-server", forged);
    assert.equal(answered.at("issuer"), server.url);
    assert.equal(answered.at("authorization_endpoint"), `${server.url}/oauth/authorize`);
    assert.equal(answered.at("token_endpoint"), `${server.url}/oauth/token`);
    assert.equal(answered.at("revocation_endpoint"), `${server.url}/oauth/revoke`);
    assert.equal(answered.at("registration_endpoint"), `${server.url}/oauth/register`);
    assert.deepEqual(answered.at("code_challenge_methods_supported"), ["S256"]);
    assert.deepEqual(answered.at("token_endpoint_auth_methods_supported"), ["none"]);
    assert.deepEqual(answered.at("grant_types_supported"), ["authorization_code", "refresh_token"]);
    assert.equal(answered.at("client_id_metadata_document_supported"), true);
    assert.equal(answered.at("authorization_response_iss_parameter_supported"), true);
    assert.doesNotMatch(answered.text, /evil/);
    const preflight = await server.request("OPTIONS", "/.well-known/oauth-authorization-server", {
      key: null,
      undocumented: true,
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers["access-control-allow-origin"], "*");
  });

  test("a 401 of /mcp says where to look; one of the API says what it always said", async () => {
    await using server = await startServer({ console: true });
    const metadata = `${server.url}/.well-known/oauth-protected-resource/mcp`;
    const forged = `opt_${server.shopId}_${"a".repeat(34)}`;
    for (const token of [null, "nonsense", forged]) {
      const refused = await callTool(server, token);
      assert.equal(refused.status, 401);
      assert.equal(refused.headers["www-authenticate"], `Bearer resource_metadata="${metadata}", scope="read"`);
    }
    const refused = await server.get("/api/v1/purchase-orders", { key: null });
    assert.equal(refused.headers["www-authenticate"], "Bearer");
  });

  test("with OPENPO_PUBLIC_URL every address is its; over http from elsewhere nobody can connect", async () => {
    await using server = await startServer({ console: true, publicUrl: "https://po.example" });
    const answered = await open(server, "/.well-known/oauth-authorization-server");
    assert.equal(answered.at("issuer"), "https://po.example");
    const refused = await server.request("POST", "/mcp", {
      key: null,
      undocumented: true,
      headers: { Host: "po.example" },
      body: {},
    });
    assert.match(
      refused.headers["www-authenticate"] ?? "",
      /resource_metadata="https:\/\/po\.example\/\.well-known\/oauth-protected-resource\/mcp"/,
    );
    await using plain = await startServer({ console: true, publicUrl: "http://po.example" });
    assert.equal((await open(plain, "/.well-known/oauth-authorization-server")).status, 404);
    assert.equal((await open(plain, "/oauth/authorize")).status, 404);
    assert.equal((await callTool(plain, null)).headers["www-authenticate"], "Bearer");
  });
});

interface Walk {
  readonly path?: string;
  readonly clientMetadataUrl?: string;
}

suite("the protocol's own client, from discovery to a call", () => {
  async function walk(server: TestServer, { path = "/mcp", clientMetadataUrl }: Walk = {}): Promise<void> {
    const person = await signInAs(server, "purchaser", "Ana");
    const provider = oauthProvider(
      "http://127.0.0.1:43117/callback",
      async (url) => {
        const sent = await server.request("GET", url.pathname + url.search, { key: null, undocumented: true });
        assert.equal(sent.status, 302, sent.text);
        const page = new URL(sent.headers.location ?? "", server.url);
        assert.equal(page.pathname, "/console/connect");
        const decided = await decide(server, person, Object.fromEntries(page.searchParams), { scope: "write" });
        return decided.textAt("data", "redirectTo");
      },
      clientMetadataUrl,
    );
    const address = new URL(path, server.url);
    const first = new StreamableHTTPClientTransport(address, { authProvider: provider });
    await assert.rejects(new Client({ name: "own", version: "1" }).connect(first), { name: "UnauthorizedError" });
    const answer = provider.answer();
    assert.equal(answer.get("iss"), server.url);
    await first.finishAuth(answer);
    const client = new Client({ name: "own", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(address, { authProvider: provider }));
    const { tools } = await client.listTools();
    assert.equal(
      tools.some(({ name }) => name === "purchase_order_create"),
      !path.startsWith("/mcp/read") && !path.includes("stock"),
    );
    const called = await client.callTool({ name: "location_list", arguments: {} });
    assert.notEqual(called.isError, true);
    // The next token comes by itself.
    server.clock.advance(accessTokenMs + 1);
    assert.notEqual((await client.callTool({ name: "location_list", arguments: {} })).isError, true);
    await client.close();
    if (clientMetadataUrl !== undefined) assert.equal(provider.client(), clientMetadataUrl);
  }

  test("by registration", async () => {
    await using server = await startServer({ console: true });
    await walk(server);
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    assert.equal(connection?.name, "Own client for Ana");
    assert.equal(connection?.clientHost, "127.0.0.1");
  });

  test("at an address that only reads, and at one with a set of tools", async () => {
    await using server = await startServer({ console: true });
    await walk(server, { path: "/mcp/read" });
    await walk(server, { path: "/mcp?tools=stock" });
  });

  test("by the document at its id", async () => {
    await using documents = await serveDocuments({
      "/client.json": { body: documentOf({ redirect_uris: ["http://127.0.0.1/callback"] }) },
    });
    await using server = await startServer({ console: true, connect: connectHere });
    await walk(server, { clientMetadataUrl: `${documents.url}/client.json` });
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    assert.equal(connection?.clientHost, new URL(documents.url).host);
    assert.equal(connection?.clientName, "Documented");
  });
});

suite("a connection (C74)", () => {
  test("it is a key of the shop, acts in its person's name, and changes what the scope says", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "purchaser", "Ana");
    const { access } = await connect(server, person);
    const made = await callTool(server, access, "purchase_order_create", { poName: "By an assistant" });
    assert.equal(made.status, 200, made.text);
    assert.equal(made.at("result", "isError"), undefined, made.text);
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    assert.deepEqual(
      { ...connection, keyId: "", createdAt: "", lastUsedAt: "", expiresAt: "" },
      {
        keyId: "",
        kind: "connection",
        name: "Assistant for Ana",
        scope: "write",
        lastFour: "",
        createdAt: "",
        revokedAt: null,
        pausedAt: null,
        signIn: false,
        lastUsedAt: "",
        clientName: "Assistant",
        clientHost: "assistant.example",
        personId: person.personId,
        expiresAt: "",
        limits: null,
        limitsUsed: null,
      },
    );
    const changes = await askAdmin(server, "GET", `/shops/${server.shopId}/changes`);
    assert.deepEqual(changes.at("data", "changes", 0, "actor"), {
      type: "agent",
      id: connection?.keyId,
      name: "Assistant for Ana",
    });
    const row = (await server.audit()).find(({ tag }) => tag === "mcp:purchase_order_create");
    assert.equal(row?.keyId, connection?.keyId);
  });

  test("a scope too small is a 403 that names the one it takes, and tools beyond it are not listed", async () => {
    await using server = await startServer({ console: true });
    const { access } = await connect(server, await signInAs(server, "owner"), { scope: "read" });
    const refused = await callTool(server, access, "purchase_order_create", {});
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.headers["www-authenticate"] ?? "", /^Bearer error="insufficient_scope", .*scope="write"$/);
    assert.equal(refused.at("error", "code"), "FORBIDDEN_SCOPE");
    const row = (await server.audit()).find(({ tag }) => tag === "mcp:purchase_order_create");
    assert.equal(row?.status, 403);
  });

  test("its limits hold for its next call, which is no lack of scope", async () => {
    await using server = await startServer({ console: true });
    const { access } = await connect(server, await signInAs(server, "purchaser", "Ana"));
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    const limited = await askAdmin(server, "PATCH", `/shops/${server.shopId}/keys/${String(connection?.keyId)}`, {
      limits: { supplierIds: ["mill"], beyond: "refuse" },
    });
    assert.equal(limited.status, 200, limited.text);
    const refused = await callTool(server, access, "purchase_order_create", { supplierId: "dyer" });
    assert.equal(refused.status, 200, refused.text);
    assert.equal(refused.at("result", "structuredContent", "error", "reason"), "LIMIT_EXCEEDED");
    const made = await callTool(server, access, "purchase_order_create", { supplierId: "mill" });
    assert.equal(made.at("result", "isError"), undefined, made.text);
  });

  test("nobody gives more than their role may, then or later", async () => {
    await using server = await startServer({ console: true });
    const clientId = await registerClient(server);
    for (const role of ["viewer", "receiver"] as const) {
      const person = await signInAs(server, role);
      const asked = ask(server, clientId);
      assert.equal((await decide(server, person, asked.parameters, { scope: "write" })).status, 403);
      codeIn(await decide(server, person, asked.parameters, { scope: "read" }));
    }
    const purchaser = await signInAs(server, "purchaser");
    const { access } = await connect(server, purchaser, { clientId });
    assert.equal((await callTool(server, access, "purchase_order_create", {})).status, 200);
    await askAdmin(server, "PATCH", `/shops/${server.shopId}/people/${purchaser.personId}`, { role: "viewer" });
    assert.equal((await callTool(server, access, "purchase_order_create", {})).status, 403);
  });

  test("who has signed in with a key makes none; the operator makes one for a shop", async () => {
    await using server = await startServer({ console: true });
    const clientId = await registerClient(server);
    const asked = ask(server, clientId);
    const byKey = await signInWith(server, { apiKey: server.writeKey, name: "Key person" });
    assert.equal((await decide(server, byKey, asked.parameters)).status, 403);
    const decided = await askAdmin(server, "POST", `/shops/${server.shopId}/connections`, {
      request: asked.parameters,
      decision: "allow",
      scope: "read",
      personId: null,
    });
    const answered = await exchange(server, codeIn(decided), asked);
    assert.equal((await callTool(server, answered.textAt("access_token"))).status, 200);
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    assert.equal(connection?.name, "Assistant for operator");
  });

  test("one that proposes has limits from the consent on, and its person may approve what it asks for (C77, C78)", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "owner", "Ana");
    const clientId = await registerClient(server);
    const asked = ask(server, clientId);
    const limits = { dayValueMax: 5 };
    const decided = await decide(server, person, asked.parameters, { scope: "propose", limits });
    const access = (await exchange(server, codeIn(decided), asked)).textAt("access_token");
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    assert.deepEqual(
      [connection?.scope, connection?.limits?.dayValueMax, connection?.limits?.beyond],
      ["propose", 5, "ask"],
    );
    const proposed = await callTool(server, access, "purchase_order_create", { poName: "By an assistant" });
    const request = ["result", "structuredContent", "approvalRequest"] as const;
    assert.equal(proposed.at(...request, "requestedBy", "name"), "Assistant for Ana", proposed.text);
    const id = proposed.textAt(...request, "approvalRequestId");
    const path = `/shops/${server.shopId}/approval-requests/${id}/approve`;
    const approved = await askAdmin(server, "POST", path, {}, { key: await person.bearer() });
    assert.equal(approved.at("data", "approvalRequest", "status"), "approved", approved.text);
  });

  test("each request is answered once, by whom it was shown to", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "owner", "Ana");
    const other = await signInAs(server, "owner", "Ben");
    const clientId = await registerClient(server);
    const { parameters } = ask(server, clientId);
    const asOther = await decide(server, person, parameters, { personId: other.personId });
    assert.equal(asOther.status, 403, asOther.text);
    const denied = await decide(server, person, parameters, { decision: "deny" });
    const told = new URL(denied.textAt("data", "redirectTo"));
    assert.equal(told.origin + told.pathname, callback);
    assert.deepEqual(Object.fromEntries(told.searchParams), {
      error: "access_denied",
      state: parameters["state"],
      iss: server.url,
    });
    for (const again of ["allow", "deny"])
      assert.equal((await decide(server, person, parameters, { decision: again })).status, 400);
    const look = await askAdmin(
      server,
      "GET",
      `/shops/${server.shopId}/connection-request?${new URLSearchParams(parameters).toString()}`,
      undefined,
      { key: await person.bearer() },
    );
    assert.equal(look.status, 400);
    const bearerless = await server.request("POST", `/admin/v1/shops/${server.shopId}/connections`, {
      key: null,
      undocumented: true,
      headers: { Cookie: person.cookie },
      body: { request: ask(server, clientId).parameters, decision: "allow", personId: person.personId },
    });
    assert.equal(bearerless.status, 401, "a cookie decides nothing");
  });

  test("a request that was answered stays answered, until answeredRequestsMax later ones have been", async () => {
    await using server = await startServer({ console: true });
    const clientId = await registerClient(server);
    const { parameters } = ask(server, clientId);
    assert.equal((await decide(server, await signInAs(server, "owner"), parameters, { decision: "deny" })).status, 201);
    for (const laterMs of [86_401_000, registrationMs / 2]) {
      server.clock.advance(laterMs);
      const person = await signInAs(server, "owner");
      const other = await decide(server, person, ask(server, clientId).parameters, { decision: "deny" });
      assert.equal(other.status, 201, other.text);
      const again = await decide(server, person, parameters);
      assertFault(again, 400, "INVALID_INPUT");
      assert.match(again.textAt("error", "message"), /was answered already/);
    }

    const countOf = async (): Promise<unknown> =>
      await server.engine.read(server.shopId, async (tx) => {
        const [row] = await tx.all<{ n: number }>("select count(*) as n from connection_request where shop_id = ?", [
          server.shopId,
        ]);
        return row?.n;
      });
    await server.engine.write(server.shopId, async (tx) => {
      await tx.batch([
        {
          sql: `insert into connection_request (shop_id, request_hash, decided_at)
                with recursive other(n) as (select 1 union all select n + 1 from other where n < ${answeredRequestsMax})
                select ?, 'other ' || n, ${server.clock.now() - answeredRequestsMax} + n from other`,
          params: [server.shopId],
        },
      ]);
    });
    const person = await signInAs(server, "owner");
    assert.equal((await decide(server, person, ask(server, clientId).parameters)).status, 201);
    assert.equal(await countOf(), answeredRequestsMax);
  });

  test("the page is told who asks, and where the answer goes", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "viewer");
    const clientId = await registerClient(server, {
      client_name: "Cursor\u202Eevil\n",
      redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"],
    });
    const { parameters } = ask(server, clientId, {
      redirect_uri: "cursor://anysphere.cursor-mcp/oauth/callback",
      scope: "write offline_access",
    });
    const look = await askAdmin(
      server,
      "GET",
      `/shops/${server.shopId}/connection-request?${new URLSearchParams(parameters).toString()}`,
      undefined,
      { key: await person.bearer() },
    );
    assert.deepEqual(look.at("data", "request"), {
      clientName: "Cursor evil",
      clientHost: "cursor:",
      hasDocument: false,
      redirect: { kind: "app", host: "cursor:" },
      scopesAsked: ["write"],
      scopeMax: "read",
    });
  });

  test("a registered client is known by the host that is answered, whichever it has registered first", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "owner", "Ana");
    const loopback = "http://127.0.0.1:9999/cb";
    const clientId = await registerClient(server, { client_name: "X", redirect_uris: [callback, loopback] });
    for (const [redirectUri, host] of [
      [loopback, "127.0.0.1"],
      [callback, new URL(callback).host],
    ] as const) {
      const asked = ask(server, clientId, { redirect_uri: redirectUri });
      const look = await askAdmin(
        server,
        "GET",
        `/shops/${server.shopId}/connection-request?${new URLSearchParams(asked.parameters).toString()}`,
        undefined,
        { key: await person.bearer() },
      );
      assert.equal(look.at("data", "request", "clientHost"), host, look.text);
      assert.equal((await exchange(server, codeIn(await decide(server, person, asked.parameters)), asked)).status, 200);
      const connections = (await keysOf(server)).filter(({ kind }) => kind === "connection");
      assert.ok(
        connections.some(({ clientHost }) => clientHost === host),
        host,
      );
    }
  });

  test("paused, revoked, its person deleted: the next call fails", async () => {
    await using server = await startServer({ console: true });
    const shop = `/shops/${server.shopId}`;
    const person = await signInAs(server, "purchaser", "Ana");
    const one = await connect(server, person);
    const [connection] = (await keysOf(server)).filter(({ kind }) => kind === "connection");
    const key = `${shop}/keys/${connection?.keyId}`;
    await askAdmin(server, "PATCH", key, { paused: true });
    assert.equal((await callTool(server, one.access)).status, 401);
    assert.equal((await refresh(server, one.refresh, one.clientId)).at("error"), "invalid_request");
    await askAdmin(server, "PATCH", key, { paused: false });
    assert.equal((await callTool(server, one.access)).status, 200);
    const next = await refresh(server, one.refresh, one.clientId);
    assert.equal(next.status, 200, next.text);
    await askAdmin(server, "DELETE", key);
    assert.equal((await callTool(server, one.access)).status, 401);
    assert.equal((await callTool(server, next.textAt("access_token"))).status, 401);
    assert.equal((await refresh(server, next.textAt("refresh_token"), one.clientId)).at("error"), "invalid_grant");
    const refused = (await server.audit()).find(({ status }) => status === 401);
    assert.equal(refused?.keyId, connection?.keyId);

    const two = await connect(server, person);
    const asked = ask(server, two.clientId);
    const waiting = codeIn(await decide(server, person, asked.parameters));
    await askAdmin(server, "DELETE", `${shop}/people/${person.personId}`);
    assert.equal((await callTool(server, two.access)).status, 401);
    assert.equal((await refresh(server, two.refresh, two.clientId)).at("error"), "invalid_grant");
    assert.equal((await exchange(server, waiting, asked)).at("error"), "invalid_grant");
    assert.ok((await keysOf(server)).every(({ kind, revokedAt }) => kind === "key" || revokedAt !== null));
  });

  test("a shop has as many connections as it may have", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "owner");
    await connect(server, person);
    await server.engine.write(server.shopId, async (tx) => {
      for (let index = 1; index < connectionsOfShopMax; index += 1)
        await tx.batch([
          {
            sql: `insert into api_key (shop_id, key_id, name, scope, secret_hash, last_four, created_at, client_id, expires_at)
                  values (?, ?, 'x', 'read', ?, '', 0, 'x', ?)`,
            params: [server.shopId, `key_x${index}`, `x${index}`, server.clock.now() + refreshIdleMs],
          },
        ]);
    });
    const { parameters } = ask(server, await registerClient(server));
    const refused = await decide(server, person, parameters);
    assert.equal(refused.status, 400);
    assert.match(refused.text, new RegExp(`${connectionsOfShopMax} connections`));
  });
});

suite("codes and tokens (C75)", () => {
  test("a code is for its client, its redirect, its challenge and this resource, and for a minute", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "owner");
    const clientId = await registerClient(server);
    const other = await registerClient(server, otherClient);
    const asked = ask(server, clientId);
    const code = codeIn(await decide(server, person, asked.parameters));
    const wrong = (changed: Readonly<Record<string, string>>) => exchange(server, code, asked, changed);
    assert.equal((await wrong({ client_id: other })).at("error"), "invalid_grant");
    assert.equal((await wrong({ redirect_uri: `${callback}/x` })).at("error"), "invalid_grant");
    assert.equal((await wrong({ code_verifier: "a".repeat(43) })).at("error"), "invalid_grant");
    assert.equal(
      (await wrong({ code_verifier: asked.parameters["code_challenge"] ?? "" })).at("error"),
      "invalid_grant",
    );
    assert.equal((await wrong({ code_verifier: "" })).at("error"), "invalid_request");
    assert.equal((await wrong({ resource: "https://other.example/mcp" })).at("error"), "invalid_target");
    assert.equal((await wrong({ resource: "" })).at("error"), "invalid_target");
    assert.equal((await wrong({ grant_type: "password" })).at("error"), "unsupported_grant_type");
    assert.equal((await wrong({ client_id: "" })).status, 401);
    const good = await wrong({});
    assert.equal(good.status, 200, good.text);
    assert.equal(good.at("token_type"), "Bearer");
    assert.equal(good.at("expires_in"), accessTokenMs / 1_000);
    assert.equal(good.at("scope"), "write");
    assert.equal(good.headers["cache-control"], "no-store");
    const late = ask(server, clientId);
    const lateCode = codeIn(await decide(server, person, late.parameters));
    server.clock.advance(connectCodeMs);
    assert.equal((await exchange(server, lateCode, late)).at("error"), "invalid_grant");
  });

  test("a code that comes twice ends the connection that came of it, at once", async () => {
    await using server = await startServer({ console: true });
    const { code, asked, access, refresh: token, clientId } = await connect(server, await signInAs(server, "owner"));
    assert.equal((await callTool(server, access)).status, 200);
    assert.equal((await exchange(server, code, asked)).at("error"), "invalid_grant");
    assert.equal((await callTool(server, access)).status, 401);
    assert.equal((await refresh(server, token, clientId)).at("error"), "invalid_grant");
  });

  test("a code that many send at the same time gives tokens once, and they are ended", async () => {
    await using server = await startServer({ console: true });
    const asked = ask(server, await registerClient(server));
    const code = codeIn(await decide(server, await signInAs(server, "owner"), asked.parameters));
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(server, code, asked)));
    const given = answers.filter(({ status }) => status === 200);
    assert.equal(given.length, 1);
    assert.equal((await callTool(server, given[0]?.textAt("access_token") ?? "")).status, 401);
  });

  test("a refresh token rotates; for a moment the same successor is told again, then its reuse ends the connection", async () => {
    await using server = await startServer({ console: true });
    const { access, clientId, ...first } = await connect(server, await signInAs(server, "owner"));
    const other = await registerClient(server, otherClient);
    assert.equal((await refresh(server, first.refresh, other)).at("error"), "invalid_grant");
    const foreign = { resource: "https://other.example/mcp" };
    assert.equal((await refresh(server, first.refresh, clientId, foreign)).at("error"), "invalid_target");
    const next = await refresh(server, first.refresh, clientId);
    assert.equal(next.status, 200, next.text);
    assert.notEqual(next.textAt("refresh_token"), first.refresh);
    server.clock.advance(rotationGraceMs - 1_000);
    const again = await refresh(server, first.refresh, clientId);
    assert.equal(again.textAt("refresh_token"), next.textAt("refresh_token"));
    assert.equal(again.textAt("access_token"), next.textAt("access_token"));
    assert.equal((await callTool(server, access)).status, 200);
    assert.equal((await callTool(server, next.textAt("access_token"))).status, 200);
    server.clock.advance(2_000);
    assert.equal((await refresh(server, first.refresh, clientId)).at("error"), "invalid_grant");
    for (const token of [access, next.textAt("access_token")])
      assert.equal((await callTool(server, token)).status, 401);
    assert.equal((await refresh(server, next.textAt("refresh_token"), clientId)).at("error"), "invalid_grant");
    const events = await askAdmin(server, "GET", `/shops/${server.shopId}/events?types=api_key.revoked`);
    assert.equal(events.at("data", "events", "length"), 1);
  });

  test("many refreshes at the same time get the same successor", async () => {
    await using server = await startServer({ console: true });
    const { clientId, ...first } = await connect(server, await signInAs(server, "owner"));
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(server, first.refresh, clientId)));
    assert.equal(new Set(answers.map((each) => each.textAt("refresh_token"))).size, 1);
    assert.equal((await refresh(server, answers[0]?.textAt("refresh_token") ?? "", clientId)).status, 200);
  });

  test("an access token ends after an hour, a connection that is not used after ninety days", async () => {
    await using server = await startServer({ console: true });
    const { access, clientId, ...first } = await connect(server, await signInAs(server, "owner"));
    server.clock.advance(accessTokenMs);
    assert.equal((await callTool(server, access)).status, 401);
    server.clock.advance(refreshIdleMs);
    assert.equal((await refresh(server, first.refresh, clientId)).at("error"), "invalid_grant");
  });

  test("a token is for /mcp alone", async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "owner");
    const { access, refresh: token } = await connect(server, person);
    for (const each of [access, token]) {
      assert.equal((await server.get("/api/v1/purchase-orders", { key: each })).status, 401);
      assert.equal(
        (await askAdmin(server, "GET", `/shops/${server.shopId}/keys`, undefined, { key: each })).status,
        401,
      );
    }
    assert.equal((await callTool(server, token)).status, 401, "a refresh token calls nothing");
    assert.equal((await callTool(server, await person.bearer())).status, 401);
  });

  test("a client gives up a token, or the connection with its refresh token; not another's", async () => {
    await using server = await startServer({ console: true });
    const { access, clientId, ...first } = await connect(server, await signInAs(server, "owner"));
    const other = await registerClient(server, otherClient);
    const revoke = (token: string, id = clientId) => oauth(server, "/oauth/revoke", { token, client_id: id });
    assert.equal((await revoke(first.refresh, other)).at("error"), "invalid_client");
    assert.equal((await revoke("nonsense")).status, 200);
    assert.equal((await revoke(access)).status, 200);
    assert.equal((await callTool(server, access)).status, 401);
    const next = await refresh(server, first.refresh, clientId);
    assert.equal((await revoke(next.textAt("refresh_token"))).status, 200);
    assert.equal((await callTool(server, next.textAt("access_token"))).status, 401);
    assert.equal((await refresh(server, next.textAt("refresh_token"), clientId)).at("error"), "invalid_grant");
  });

  test("secrets are in no log, audit row, event, export or list", async () => {
    await using server = await startServer({ console: true });
    const { code, access, refresh: token, asked, clientId } = await connect(server, await signInAs(server, "owner"));
    await callTool(server, access);
    await open(server, `/oauth/${access}/${token}/${code}`);
    const next = await refresh(server, token, clientId);
    const shop = `/shops/${server.shopId}`;
    const told = [
      ...server.logged,
      JSON.stringify(await server.audit()),
      (await open(server, "/metrics")).text,
      ...(await Promise.all(
        ["keys", "events", "changes", "audit-log", "export"].map(async (each) => {
          return (await askAdmin(server, "GET", `${shop}/${each}`)).text;
        }),
      )),
    ].join("\n");
    const secrets = [code, access, token, asked.verifier, next.textAt("access_token"), next.textAt("refresh_token")];
    for (const secret of secrets) assert.ok(!told.includes(secret.slice(-34)), secret.slice(0, 4));
    assert.doesNotMatch(told, /connection_token|successor/);
    const rows = await server.engine.read(server.shopId, (tx) =>
      tx.all<Record<string, unknown>>("select * from connection_token where shop_id = ?", [server.shopId]),
    );
    assert.ok(rows.length > 0);
    for (const secret of secrets) assert.ok(!JSON.stringify(rows).includes(secret.slice(-34)));
  });

  test("guessing codes and tokens is limited; a right one is taken all the same", async () => {
    await using server = await startServer({ console: true, isClockStill: true });
    const { clientId, ...first } = await connect(server, await signInAs(server, "owner"));
    const guess = () => refresh(server, `opr_${server.shopId}_${"b".repeat(34)}`, clientId);
    for (let tried = 0; tried < tokenGuessesMax; tried += 1) assert.equal((await guess()).status, 400);
    const limited = await guess();
    assert.equal(limited.status, 429);
    assert.equal(limited.at("error"), "temporarily_unavailable");
    assert.ok(Number(limited.headers["retry-after"]) > 0);
    assert.equal((await refresh(server, first.refresh, clientId)).status, 200);
    server.clock.advance(tokenGuessMs);
    assert.equal((await guess()).status, 400);
  });
});

suite("requests that nobody is asked about (C73, C75)", () => {
  test("another's redirect, a plain challenge, a foreign resource: a page says so, and sends nobody anywhere", async () => {
    await using server = await startServer({ console: true });
    const clientId = await registerClient(server);
    const { parameters } = ask(server, clientId);
    const without = (name: string) => Object.fromEntries(Object.entries(parameters).filter(([each]) => each !== name));
    const refused = [
      { ...parameters, redirect_uri: "https://evil.example/callback" },
      { ...parameters, redirect_uri: `${callback}/../evil` },
      { ...parameters, redirect_uri: `${callback}?next=https://evil.example` },
      { ...parameters, redirect_uri: callback.replace("assistant.example", "assistant.example@evil.example") },
      { ...parameters, redirect_uri: callback.replace("assistant.example", "assistant.example.evil.example") },
      { ...parameters, redirect_uri: callback.toUpperCase() },
      { ...parameters, client_id: "nobody" },
      { ...parameters, client_id: `${clientId}x` },
      { ...parameters, client_id: "http://assistant.example/client.json" },
      { ...parameters, response_type: "token" },
      { ...parameters, code_challenge_method: "plain" },
      { ...parameters, code_challenge: "short" },
      { ...parameters, resource: "https://other.example/mcp" },
      { ...parameters, resource: `${server.url}/api` },
      { ...parameters, state: "s".repeat(2_001) },
      without("redirect_uri"),
      without("client_id"),
      without("code_challenge"),
      without("code_challenge_method"),
      without("resource"),
    ];
    for (const each of refused) {
      const answered = await authorize(server, each);
      assert.equal(answered.status, 400, JSON.stringify(each));
      assert.equal(answered.headers.location, undefined);
      assert.match(String(answered.headers["content-security-policy"]), /frame-ancestors 'none'/);
      assert.doesNotMatch(answered.text, /evil/);
    }
    const doubled = `${new URLSearchParams(parameters).toString()}&resource=https%3A%2F%2Fother.example`;
    assert.equal((await authorize(server, doubled)).status, 400);
    const person = await signInAs(server, "owner");
    for (const each of refused.slice(0, 6)) assert.equal((await decide(server, person, each)).status, 400);
    assert.equal((await authorize(server, parameters)).status, 302);
  });

  test("the page that asks is never framed, and the way to it leaves no trace", async () => {
    await using server = await startServer({ console: true });
    const { parameters } = ask(server, await registerClient(server));
    const sent = await authorize(server, parameters);
    assert.equal(sent.headers["cache-control"], "no-store");
    assert.equal(sent.headers["referrer-policy"], "no-referrer");
    const page = await open(server, sent.headers.location ?? "");
    assert.equal(page.status, 200);
    assert.match(String(page.headers["content-security-policy"]), /frame-ancestors 'none'/);
    assert.equal(page.headers["referrer-policy"], "no-referrer");
  });

  test("redirects that are registered: https, loopback with any port, schemes of apps, nothing that a browser runs", async () => {
    await using server = await startServer({ console: true });
    const barred = [
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "blob:https://x.example/1",
      "http://assistant.example/",
      "http://127.0.0.1.evil.example/",
      "https://user@assistant.example/",
      "https://assistant.example/#fragment",
      "//assistant.example/",
      "https://assistant.example/ x",
      `https://assistant.example/${"x".repeat(500)}`,
    ];
    for (const uri of barred) {
      const answered = await oauth(
        server,
        "/oauth/register",
        JSON.stringify({ redirect_uris: [uri] }),
        "application/json",
      );
      assert.equal(answered.status, 400, uri);
      assert.equal(answered.at("error"), "invalid_redirect_uri", uri);
      server.clock.advance(registrationEveryMs);
    }
    const uris = ["http://127.0.0.1:1/cb", "http://localhost/cb", "com.example.app:/cb", "https://vscode.dev/redirect"];
    const clientId = await registerClient(server, { redirect_uris: uris });
    const opens = async (redirectUri: string) =>
      (await authorize(server, ask(server, clientId, { redirect_uri: redirectUri }).parameters)).status;
    assert.equal(await opens("http://127.0.0.1:50001/cb"), 302);
    assert.equal(await opens("http://localhost:50001/cb"), 302);
    assert.equal(await opens("com.example.app:/cb"), 302);
    assert.equal(await opens("http://127.0.0.1:50001/other"), 400);
    assert.equal(await opens("http://[::1]:50001/cb"), 400);
    assert.equal(await opens("com.example.app:/cb/x"), 400);
    assert.equal(await opens("https://vscode.dev:8443/redirect"), 400);
  });

  test("a registration is a public client's, and says what it may do", async () => {
    await using server = await startServer({ console: true });
    const sent = { redirect_uris: [callback], token_endpoint_auth_method: "client_secret_post", grant_types: ["x"] };
    const answered = await oauth(server, "/oauth/register", JSON.stringify(sent), "application/json");
    assert.equal(answered.status, 201);
    assert.equal(answered.at("token_endpoint_auth_method"), "none");
    assert.equal(answered.at("client_secret"), undefined);
    assert.equal(answered.at("scope"), "read propose write");
    assert.deepEqual(answered.at("grant_types"), ["authorization_code", "refresh_token"]);
    assert.deepEqual(answered.at("response_types"), ["code"]);
    assert.deepEqual(answered.at("redirect_uris"), [callback]);
  });

  test("a registration of which nothing came ends; one that is used goes on", async () => {
    await using server = await startServer({ console: true, isClockStill: true });
    const person = await signInAs(server, "owner");
    // Two registrations that say the same at the same instant are one.
    const unused = await registerClient(server, { client_name: "Unused", redirect_uris: [callback] });
    const { clientId, ...first } = await connect(server, person);
    server.clock.advance(registrationMs);
    const back = await signInAs(server, "owner", "Back");
    assert.equal((await decide(server, back, ask(server, unused).parameters)).status, 400);
    codeIn(await decide(server, back, ask(server, clientId).parameters));
    assert.equal((await refresh(server, first.refresh, clientId)).status, 200);
  });

  test("floods of registrations are limited by address, and in all", async () => {
    await using server = await startServer({ console: true, isClockStill: true });
    const register = () =>
      oauth(server, "/oauth/register", JSON.stringify({ redirect_uris: [callback] }), "application/json");
    for (let made = 0; made < registrationsMax; made += 1) assert.equal((await register()).status, 201);
    const limited = await register();
    assert.equal(limited.status, 429);
    assert.equal(limited.at("error"), "temporarily_unavailable");
    server.clock.advance(registrationEveryMs);
    assert.equal((await register()).status, 201);
    assert.ok(registrationsOfAllMax * registrationOfAllEveryMs > 0);
  });

  test("the operator's token is nobody's: a connection is asked for by a session or the operator, in a shop that is there", async () => {
    await using server = await startServer({ console: true });
    const { parameters } = ask(server, await registerClient(server));
    const refused = await askAdmin(
      server,
      "POST",
      "/shops/other/connections",
      { request: parameters, decision: "allow", personId: null },
      { key: adminToken },
    );
    assert.equal(refused.status, 404, refused.text);
  });
});
