/** The path of a request through the service (C1–C11, C17–C21, C37), tested with operations made for these tests. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { z } from "zod";
import type { Json } from "../../src/base/json.ts";
import { Fault } from "../../src/base/fault.ts";
import { bodyBytesMax, headerBytesMax } from "../../src/http/body.ts";
import { refusalRowsPerMinuteMax } from "../../src/requests/audit/refusals.ts";
import { responseBytesMax } from "../../src/requests/envelope.ts";
import { sweepEveryRequests, sweptRowsMax } from "../../src/requests/write/sweeps.ts";
import type { AuditEntry } from "../../src/shop/audit/audit.ts";
import type { Surface } from "../../src/http/surface.ts";
import { operation } from "../../src/requests/operation.ts";
import type { PerformDependencies } from "../../src/requests/perform.ts";
import type { Engine } from "../../src/store/store.ts";
import { delegated } from "../../src/store/delegated.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { sendUnread } from "../support/peers/raw.ts";
import { startServer, type TestResponse, type TestServer, type TestServerOptions } from "../support/server.ts";
import { until } from "../support/until.ts";

const crates = "/api/v1/crates";
const start = (options: TestServerOptions = {}) => startServer({ operations: crateOperations(), ...options });

const code = (response: TestResponse): Json | undefined => response.at("error", "code");
const newCrate = async (server: TestServer, label = "first"): Promise<string> =>
  (await server.post(crates, { label })).textAt("data", "crate", "crateId");
const labels = async (server: TestServer): Promise<Json[]> => {
  const list = (await server.get(crates)).at("data", "crates");
  return Array.isArray(list) ? list.map((crate) => crate.label) : assert.fail();
};

/** Sends raw bytes on a new socket. Returns the received bytes when the server has closed it. */
function raw(server: TestServer, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.on("error", reject);
  });
}

test("a success has data, meta and the request id, also as a header; the client's own id is ignored (C2)", async () => {
  await using server = await start();
  const response = await server.post(crates, { label: "first" }, { headers: { "X-Request-Id": "mine" } });
  assert.equal(response.status, 201);
  assert.match(response.textAt("meta", "requestId"), /^req_/);
  assert.equal(response.at("meta", "apiVersion"), "1.2");
  assert.equal(response.headers["content-type"], "application/json");
  assert.equal(response.headers["location"], `${crates}/${response.textAt("data", "crate", "crateId")}`);
  assert.equal(response.headers["access-control-allow-origin"], "*");
  assert.equal(response.headers["ratelimit-policy"], '"shop";q=100000;w=1');
  assert.match(String(response.headers["ratelimit"]), /^"shop";r=\d+;t=\d+$/);
});

test("a missing, malformed, unknown, doubled or revoked key is 401 with one message, before anything else (C1, C6)", async () => {
  await using server = await start();
  const stranger = server.writeKey.replace("test-shop", "nobody");
  const last = server.writeKey.at(-1) === "A" ? "B" : "A";
  const headers = [
    {},
    { Authorization: "" },
    { Authorization: server.writeKey },
    { Authorization: `Basic ${server.writeKey}` },
    { Authorization: `Bearer ${stranger}` },
    { Authorization: `Bearer ${server.writeKey.slice(0, -1)}${last}` },
    { Authorization: [`Bearer ${server.writeKey}`, `Bearer ${server.writeKey}`] },
  ];
  for (const each of headers)
    for (const target of [crates, "/api/v1/nowhere", "/api/v1", "/api/v1/"]) {
      const response = await server.request("POST", target, { key: null, headers: each, body: "{" });
      assert.equal(response.status, 401, JSON.stringify(each));
      assert.equal(code(response), "UNAUTHORIZED");
      assert.equal(response.at("error", "message"), "The API key is missing, invalid or revoked.");
      assert.equal(response.headers["www-authenticate"], "Bearer");
    }
  assert.deepEqual(await server.audit(), []);
});

test("a key is revoked with effect on the next request, and that request is in the audit log", async () => {
  await using server = await start();
  const { keyId, apiKey } = await server.addKey("write");
  assert.equal((await server.get(crates, { key: apiKey })).status, 200);
  await server.engine.write(server.shopId, (tx) =>
    tx.batch([{ sql: "update api_key set revoked_at = 1 where key_id = ?", params: [keyId] }]),
  );
  assert.equal((await server.get(crates, { key: apiKey })).status, 401);
  const [row] = await server.audit();
  assert.deepEqual(
    [row?.keyId, row?.status, row?.tag, row?.errorCode],
    [keyId, 401, "rest:crate_list", "UNAUTHORIZED"],
  );
});

test("a plan without the REST API is refused before the path is looked at", async () => {
  await using server = await start({ shop: { planRestApi: false } });
  for (const target of [crates, "/api/v1/nowhere"]) {
    const response = await server.get(target);
    assert.equal(response.status, 403);
    assert.equal(code(response), "PLAN_REQUIRED");
    assert.ok(response.headers["ratelimit"]);
  }
});

test("unknown paths are 404: trailing and doubled slashes, other case, bad escapes, dots (C7)", async () => {
  await using server = await start();
  for (const path of [
    "/nowhere",
    "/crates/",
    "//crates",
    "/Crates",
    "/crates/%zz",
    "/crates/%00",
    "/crates/a/b",
    "/./crates",
    "/crates/%ff",
    "",
  ]) {
    const response = await server.get(`/api/v1${path}`);
    assert.equal(response.status, 404, path);
    assert.equal(code(response), "NOT_FOUND");
  }
  const unknown = await server.get(`${crates}/a%2Fb%20c`);
  assert.match(unknown.textAt("error", "message"), /no crate a\/b c/);
});

test("paths outside the API get the same error body", async () => {
  await using server = await start();
  for (const target of ["/", "/nowhere", "/api", "/api/v2/crates", "/api/v1x", "/admin/v1/shops"]) {
    const response = await server.get(target);
    assert.equal(response.status, 404, target);
    assert.equal(code(response), "NOT_FOUND");
  }
});

test("a wrong method is 405 with Allow, also for an unknown id and a read key; HEAD and OPTIONS are served (C7)", async () => {
  await using server = await start();
  for (const key of [server.readKey, server.writeKey])
    for (const method of ["PUT", "POST", "PATCH", "TRACE", "PROPFIND"]) {
      const response = await server.request(method, `${crates}/unknown`, { key });
      assert.equal(response.status, 405, method);
      assert.equal(code(response), "METHOD_NOT_ALLOWED");
      assert.equal(response.headers["allow"], "DELETE, GET");
    }
  const id = await newCrate(server);
  const get = await server.get(`${crates}/${id}`);
  const head = await server.request("HEAD", `${crates}/${id}`);
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers["etag"], get.headers["etag"]);
  assert.equal((await server.request("HEAD", `${crates}/unknown`)).status, 404);
  assert.equal((await server.request("HEAD", `${crates}/${id}/seal`)).status, 405);
});

test("OPTIONS needs no key and answers CORS preflights (C8)", async () => {
  await using server = await start();
  const preflight = await server.request("OPTIONS", `${crates}/x`, { key: null });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers["allow"], "DELETE, GET");
  assert.equal(preflight.headers["access-control-allow-origin"], "*");
  assert.equal(
    preflight.headers["access-control-allow-headers"],
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match",
  );
  assert.match(String(preflight.headers["access-control-allow-methods"]), /PATCH/);
  const refused = await server.get(crates, { key: null });
  assert.equal(refused.headers["access-control-allow-origin"], "*");
  assert.match(String(refused.headers["access-control-expose-headers"]), /Idempotent-Replayed/);
});

test("openapi.json is the raw document, public whatever key is sent, and takes no token (C9)", async () => {
  await using server = await start({ shop: { rateLimit: { capacity: 1, refillPerSecond: 0.001 } } });
  for (const key of [null, "nonsense", server.readKey]) {
    const response = await server.get("/api/v1/openapi.json", { key });
    assert.equal(response.status, 200);
    assert.equal(response.at("openapi"), "3.1.0");
    assert.equal(response.at("meta"), undefined);
  }
  assert.equal((await server.get(crates)).status, 200);
  assert.equal((await server.post("/api/v1/openapi.json", {}, { key: null })).status, 405);
});

test("a read key on a write is refused with the operation's name, and nothing changes", async () => {
  await using server = await start();
  const response = await server.post(crates, "{", { key: server.readKey });
  assert.equal(response.status, 403);
  assert.equal(code(response), "FORBIDDEN_SCOPE");
  assert.match(response.textAt("error", "message"), /crate_create/);
  assert.deepEqual(await labels(server), []);
});

test("bodies: JSON whatever the content type, at most 1 MB inclusive, never encoded (C10)", async () => {
  await using server = await start();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "nonsense"])
    assert.equal((await server.post(crates, '{"label":"x"}', { headers: { "Content-Type": type } })).status, 201, type);
  const fill = (bytes: number): string => `{"label":"x"${" ".repeat(bytes - 13)}}`;
  for (const chunked of [false, true]) {
    assert.equal((await server.post(crates, fill(bodyBytesMax), { chunked })).status, 201);
    const tooLarge = await server.post(crates, fill(bodyBytesMax + 1), { chunked });
    assert.equal(tooLarge.status, 400);
    assert.match(tooLarge.textAt("error", "message"), /larger than 1048576 bytes/);
  }
  assert.equal((await server.delete(`${crates}/x`, { body: "x".repeat(bodyBytesMax + 1), chunked: true })).status, 400);
  const encoded = await server.post(crates, "x", { headers: { "Content-Encoding": "gzip" } });
  assert.match(encoded.textAt("error", "message"), /encoded/);
  assert.equal(
    (await server.post(crates, '{"label":"x"}', { headers: { "Content-Encoding": "identity" } })).status,
    201,
  );
});

const badBodies: readonly (readonly [string, RegExp, string | null])[] = [
  ["{", /not valid JSON/, null],
  ["  ", /not valid JSON/, null],
  ["[]", /must be a JSON object/, null],
  ["null", /must be a JSON object/, null],
  ['"x"', /must be a JSON object/, null],
  ["{}", /\/label: is required/, "/label"],
  ["", /\/label: is required/, "/label"],
  ['{"label":5}', /\/label: must be text$/, "/label"],
  ['{"label":"x","colour":1}', /\/colour: unknown field; known here: label, /, "/colour"],
  [
    '{"label":"x","parts":[{"partName":"p","size":1}]}',
    /\/parts\/0\/size: unknown field; known here: partName, count$/,
    "/parts/0/size",
  ],
  ['{"label":"x","parts":[{"partName":"p","count":"5"}]}', /\/parts\/0\/count: must be a number$/, "/parts/0/count"],
  ['{"label":"x","__proto__":{}}', /\/__proto__: unknown field/, "/__proto__"],
  ['{"label":"\\u0000"}', /U\+0000/, "/label"],
];
test("a body that does not match the schema is 400 and names the place (C3, C11)", async () => {
  await using server = await start();
  for (const [body, message, path] of badBodies) {
    const response = await server.post(crates, body);
    assert.equal(response.status, 400, body);
    assert.equal(code(response), "INVALID_INPUT");
    assert.match(response.textAt("error", "message"), message);
    if (path !== null) assert.equal(response.at("error", "details", 0, "path"), path);
  }
  assert.deepEqual(await labels(server), []);
});

test("query parameters are decoded by their kind; unknown, repeated and misspelt ones are named (C11, C12)", async () => {
  await using server = await start();
  const asked = await server.get(`${crates}?limit=5&sealed=true&kind=wood,steel&place=a,b&place=c%2Cd&search=x+y%26`);
  assert.deepEqual(asked.at("data", "asked"), {
    limit: 5,
    sealed: true,
    kind: ["wood", "steel"],
    place: ["a", "b", "c", "d"],
    search: "x y&",
  });
  const repeated = await server.get(`${crates}?kind=wood&kind=steel`);
  assert.deepEqual(repeated.at("data", "asked", "kind"), ["wood", "steel"], "a list may be repeated (C13)");
  for (const [query, path] of [
    ["limit=", "/limit"],
    ["limit=0", "/limit"],
    ["limit=51", "/limit"],
    ["limit=5.0", "/limit"],
    ["limit=1e1", "/limit"],
    ["limit=%2B5", "/limit"],
    ["limit=5&limit=5", "/limit"],
    ["sealed=1", "/sealed"],
    ["search=a&search=b", "/search"],
    ["kind=glass", "/kind/0"],
    ["kind=", "/kind"],
    ["search=%zz", "/search"],
    ["search=%00", "/search"],
    ["colour=red", "/colour"],
    ["__proto__=1", "/__proto__"],
    ["Limit=5", "/Limit"],
  ]) {
    const response = await server.get(`${crates}?${query}`);
    assert.equal(response.status, 400, query);
    assert.equal(response.at("error", "details", 0, "path"), path, query);
  }
  const write = await server.post(`${crates}?label=x`, {});
  assert.match(write.textAt("error", "message"), /label: belongs in the body/);
  const removal = await server.delete(`${crates}/x`, { body: { parts: ["a"] } });
  assert.match(removal.textAt("error", "message"), /parts: belongs in the query/);
});

test("the path's id may be repeated in the body when it is equal (C11)", async () => {
  await using server = await start();
  const id = await newCrate(server);
  assert.equal((await server.post(`${crates}/${id}/seal`, { crateId: id })).status, 200);
  assert.equal((await server.delete(`${crates}/${id}`, { body: { crateId: id } })).status, 200);
  const other = await server.post(`${crates}/${id}/seal`, { crateId: "other" });
  assert.equal(other.status, 400);
  assert.equal(other.at("error", "details", 0, "path"), "/crateId");
});

test("the rate limit is the shop's: 429 with a wait that suffices, refilled on time", async () => {
  await using server = await start({ shop: { rateLimit: { capacity: 2, refillPerSecond: 0.5 } }, isClockStill: true });
  assert.match(String((await server.get(crates)).headers["ratelimit"]), /r=1;/);
  assert.match(String((await server.get(crates, { key: server.readKey })).headers["ratelimit"]), /r=0;/);
  const refused = await server.get(crates);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers["ratelimit-policy"], '"shop";q=2;w=4');
  const wait = Number(refused.at("error", "retryAfterMs"));
  assert.equal(refused.headers["retry-after"], String(Math.ceil(wait / 1000)));
  server.clock.advance(wait);
  assert.equal((await server.get(crates)).status, 200);
  assert.equal((await server.audit()).filter((row) => row.status === 429).length, 1);
});

test("a keyed write runs once; its replay is the same byte for byte, even with an empty bucket (C18)", async () => {
  await using server = await start({ shop: { rateLimit: { capacity: 1, refillPerSecond: 0.001 } } });
  const headers = { "Idempotency-Key": "k1" };
  const first = await server.post(crates, '{"label":"x","parts":[{"count":1.0,"partName":"p"}]}', { headers });
  assert.equal(first.status, 201);
  assert.equal(first.headers["idempotent-replayed"], undefined);
  for (const body of [
    '{"label":"x","parts":[{"count":1.0,"partName":"p"}]}',
    '{"parts":[{"partName":"p","count":1}],"label":"x"}',
  ]) {
    const again = await server.post(crates, body, { headers });
    assert.equal(again.headers["idempotent-replayed"], "true");
    assert.equal(again.text, first.text);
    assert.equal(again.status, 201);
    for (const name of ["x-request-id", "location", "etag"]) assert.equal(again.headers[name], first.headers[name]);
  }
  assert.equal((await server.post(crates, { label: "x" }, { headers })).status, 429);
  assert.equal((await server.post(crates, { label: "x" }, { headers, key: server.readKey })).status, 403);
  const rows = await server.audit();
  assert.deepEqual(
    rows.map((row) => [row.status, row.replayed]),
    [
      [403, false],
      [429, false],
      [201, true],
      [201, true],
      [201, false],
    ],
  );
});

test("a different request under the same key is refused and replaces nothing; API keys do not share keys (C17, C19)", async () => {
  await using server = await start();
  const headers = { "Idempotency-Key": "k1" };
  const first = await server.post(crates, { label: "x" }, { headers });
  for (const [target, body] of [
    [crates, { label: "y" }],
    [`${crates}?a=1`, { label: "x" }],
    [`${crates}/x/seal`, { label: "x" }],
    [crates, "{"],
  ] as const) {
    const other = await server.post(target, body, { headers });
    assert.equal(other.status, 400);
    assert.equal(other.at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
    assert.equal(other.at("error", "retryable"), false);
  }
  assert.equal((await server.post(crates, { label: "x" }, { headers })).text, first.text);
  const { apiKey } = await server.addKey("write");
  assert.equal(
    (await server.post(crates, { label: "y" }, { headers, key: apiKey })).headers["idempotent-replayed"],
    undefined,
  );
  assert.deepEqual(await labels(server), ["x", "y"]);
});

test("client errors are stored under their key, also for a body that is not JSON; retryable and server errors are not (C19)", async () => {
  await using server = await start();
  const id = await newCrate(server);
  const attempt = (key: string, target: string, body: unknown) =>
    server.post(target, body, { headers: { "Idempotency-Key": key } });
  for (const [key, target, body, status] of [
    ["schema", crates, {}, 400],
    ["json", crates, "{", 400],
    ["missing", `${crates}/none/seal`, {}, 404],
  ] as const) {
    const first = await attempt(key, target, body);
    assert.equal(first.status, status);
    const again = await attempt(key, target, body);
    assert.equal(again.text, first.text);
    assert.equal(again.headers["idempotent-replayed"], "true");
  }
  for (const [key, target, body, status] of [
    ["upstream", `${crates}/${id}/seal`, { fail: "upstream" }, 502],
    ["bug", `${crates}/${id}/seal`, { fail: "bug" }, 500],
    ["path", `${crates}/a/b/c`, {}, 404],
  ] as const) {
    assert.equal((await attempt(key, target, body)).status, status);
    const again = await attempt(key, target, body);
    assert.equal(again.status, status);
    assert.equal(again.headers["idempotent-replayed"], undefined);
  }
  assert.deepEqual(await labels(server), ["first"]);
});

test("a retry after a bug that followed the commit never runs the write again (C20)", async () => {
  await using server = await start();
  const id = await newCrate(server);
  const attempt = () => server.post(`${crates}/${id}/seal`, { fail: "late" }, { headers: { "Idempotency-Key": "k" } });
  assert.equal((await attempt()).status, 500);
  const again = await attempt();
  assert.equal(again.status, 200);
  assert.equal(again.at("data", "crate", "label"), "first!");
  assert.deepEqual(await labels(server), ["first!"]);
});

const rehearse = (): Promise<never> => Promise.reject(new Error("no dry run was asked for"));

test("an answer and its replay show the first attempts of follow-on work (C38)", async () => {
  const waits: number[] = [];
  const outbox: PerformDependencies["outbox"] = {
    settle: (_shopId, effectIds, waitMs) => {
      waits.push(waitMs);
      return Promise.resolve(new Map(effectIds.map((id) => [id, { state: "failed", detail: "no", itemCount: 0 }])));
    },
    rehearse,
  };
  await using server = await start({ shop: { followOnWaitMs: 321 }, perform: () => ({ outbox }) });
  const id = await newCrate(server);
  const attempt = () => server.post(`${crates}/${id}/ship`, {}, { headers: { "Idempotency-Key": "k" } });
  const first = await attempt();
  assert.equal(first.at("data", "shipped"), "failed");
  assert.equal((await attempt()).text, first.text);
  assert.deepEqual(waits, [321]);
  assert.deepEqual(await labels(server), ["first>"]);
});

test("if waiting for follow-on work fails, a retry gets the committed answer and nothing is done twice (C20)", async () => {
  const outbox: PerformDependencies["outbox"] = {
    settle: () => Promise.reject(new Error("broken off")),
    rehearse,
  };
  await using server = await start({ perform: () => ({ outbox }) });
  const id = await newCrate(server);
  const attempt = () => server.post(`${crates}/${id}/ship`, {}, { headers: { "Idempotency-Key": "k" } });
  assert.equal((await attempt()).status, 500);
  const again = await attempt();
  assert.equal(again.at("data", "shipped"), "pending");
  assert.equal((await attempt()).text, again.text);
  assert.deepEqual(await labels(server), ["first>"]);
});

test("a change that has committed is not answered as a failure when the store fails afterwards", async () => {
  const settle = (): Promise<never> =>
    Promise.reject(new Fault("DO_UNAVAILABLE", "The database is away.", { retryAfterMs: 1_000 }));
  await using server = await start({ perform: () => ({ outbox: { settle, rehearse } }) });
  const id = await newCrate(server);
  for (const headers of [{}, { "Idempotency-Key": "k" }]) {
    const answer = await server.post(`${crates}/${id}/ship`, {}, { headers });
    assert.equal(answer.status, 200, "not a 503 that says that nothing was changed");
    assert.equal(answer.at("data", "shipped"), "pending");
  }
  assert.deepEqual(await labels(server), ["first>>"]);
  assert.equal(server.logged.filter((line) => line.includes("first attempts")).length, 2);
});

test("a full queue is 503 with Retry-After before the schema is checked, and is not stored under the key (C1, C19)", async () => {
  let full = false;
  const refusing = (engine: Engine): Engine => ({
    ...delegated(engine),
    admit: (shopId) => {
      if (full) throw new Fault("DO_OVERLOADED", "The shop is busy.", { retryAfterMs: 1_500 });
      engine.admit(shopId);
    },
  });
  await using server = await start({ perform: (deps) => ({ engine: refusing(deps.engine) }) });
  const headers = { "Idempotency-Key": "k" };
  full = true;
  for (const body of ["{", "{}", '{"label":"x"}']) {
    const refused = await server.post(crates, body, { headers });
    assert.equal(refused.status, 503);
    assert.equal(code(refused), "DO_OVERLOADED");
    assert.equal(refused.headers["retry-after"], "2");
  }
  assert.equal((await server.get(crates)).status, 200);
  full = false;
  assert.equal((await server.post(crates, { label: "x" }, { headers })).status, 201);
  assert.deepEqual(await labels(server), ["x"]);
});

test("a read is answered although the shop's turn does not come, and its audit row follows; one that fails is told in the log", async () => {
  const turn = Promise.withResolvers<void>();
  let fails = false;
  const waiting = (engine: Engine): Engine => ({
    ...delegated(engine),
    embedded: true,
    async write(shopId, work, options) {
      if (options?.append === true) await turn.promise;
      if (options?.append === true && fails) throw new Error("no disk");
      return await engine.write(shopId, work, options);
    },
  });
  await using server = await start({ perform: (deps) => ({ engine: waiting(deps.engine), auditJournal: null }) });
  assert.equal((await server.get(crates)).status, 200);
  assert.deepEqual(await server.audit(), []);
  turn.resolve();
  await until("the row follows", async () => (await server.audit()).length > 0);
  assert.equal((await server.audit()).length, 1);
  fails = true;
  assert.equal((await server.get(crates)).status, 500, "a row that fails in time is the answer");
});

test("while the first attempt runs, the same key is refused at once, not queued; afterwards it is free (C19)", async () => {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  await using server = await start({
    operations: crateOperations({
      beforeSeal: () => {
        reached.resolve();
        return gate.promise;
      },
    }),
  });
  const id = await newCrate(server);
  const attempt = (body: object) => server.post(`${crates}/${id}/seal`, body, { headers: { "Idempotency-Key": "k" } });
  const running = attempt({});
  await reached.promise;
  const early = await attempt({});
  assert.equal(early.status, 400);
  assert.equal(early.at("error", "reason"), "IDEMPOTENCY_IN_PROGRESS");
  assert.equal(early.at("error", "retryable"), true);
  assert.equal(early.at("error", "retryAfterMs"), 1000);
  assert.equal(early.headers["retry-after"], "1");
  assert.equal((await attempt({ label: "other" })).at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
  gate.resolve();
  const first = await running;
  assert.equal(first.status, 200);
  const replays = await Promise.all(Array.from({ length: 8 }, () => attempt({})));
  for (const each of replays) assert.equal(each.text, first.text);
});

test("many requests at once under one key: it runs once, and all that are not refused get the same answer", async () => {
  await using server = await start();
  const attempt = () => server.post(crates, { label: "x" }, { headers: { "Idempotency-Key": "k" } });
  const answers = await Promise.all(Array.from({ length: 20 }, attempt));
  const done = answers.filter((answer) => answer.status === 201);
  assert.ok(done.length >= 1);
  assert.equal(new Set(done.map((answer) => answer.text)).size, 1);
  for (const answer of answers)
    if (answer.status !== 201) assert.equal(answer.at("error", "reason"), "IDEMPOTENCY_IN_PROGRESS");
  assert.deepEqual(await labels(server), ["x"]);
});

test("an answer is stored for exactly 24 hours (C21)", async () => {
  await using server = await start();
  const attempt = () => server.post(crates, { label: "x" }, { headers: { "Idempotency-Key": "k" } });
  const storedAtMs = async (): Promise<number> => {
    const [row] = await server.engine.read(server.shopId, (tx) =>
      tx.all<{ stored_at: number }>("select stored_at from idempotency_record"),
    );
    return row?.stored_at ?? assert.fail();
  };
  await attempt();
  const day = 86_400_000;
  server.clock.advance((await storedAtMs()) + day - 1_000 - server.clock.now());
  assert.equal((await attempt()).headers["idempotent-replayed"], "true");
  server.clock.advance((await storedAtMs()) + day - server.clock.now());
  assert.equal((await attempt()).headers["idempotent-replayed"], undefined);
  assert.deepEqual(await labels(server), ["x", "x"]);
});

test("expired answers and old audit rows are deleted a few at a time, with later requests; others stay", async () => {
  await using server = await start({ shop: { auditRetentionDays: 30 } });
  const { engine, shopId } = server;
  const keyed = (key: string) => server.post(crates, { label: key }, { headers: { "Idempotency-Key": key } });
  await keyed("old");
  const copies = sweptRowsMax + 20;
  await engine.write(shopId, (tx) =>
    tx.batch(
      Array.from({ length: copies }, (_, index) => ({
        sql: `insert into idempotency_record (shop_id, key_id, idempotency_key, fingerprint, status, headers, body, stored_at)
              values (?, 'key_0', ?, '', 200, '{}', '', ?)`,
        params: [shopId, `old-${index}`, index],
      })),
    ),
  );
  const count = async (table: string): Promise<number> => {
    const [row] = await engine.read(shopId, (tx) => tx.all<{ n: number }>(`select count(*) as n from ${table}`));
    return row?.n ?? 0;
  };
  await engine.write(shopId, (tx) =>
    tx.batch(
      Array.from({ length: copies }, (_, index) => ({
        sql: `insert into audit_log (shop_id, audit_id, at, request_id, tag, method, path, status, duration_ms, replayed)
              values (?, ?, ?, '', '', '', '', 200, 0, 0)`,
        params: [shopId, `aud_00${String(index).padStart(4, "0")}`, index],
      })),
    ),
  );
  // Each pruning adds a row of its own.
  const requested = "audit_log where tag <> 'console:audit_log_prune'";
  const audited = await count("audit_log");
  const requests = async (): Promise<void> => {
    for (let request = 0; request < sweepEveryRequests; request += 1) await server.get(crates);
  };
  server.clock.advance(31 * 86_400_000);
  await keyed("new");
  await requests();
  await until(
    "the first are swept",
    async () => (await count("idempotency_record")) < copies && (await count("audit_log where at < 1000")) < copies,
  );
  assert.equal(await count("idempotency_record"), copies + 2 - sweptRowsMax);
  assert.equal(await count("audit_log where at < 1000"), copies - sweptRowsMax);
  await requests();
  await until(
    "all are swept",
    async () =>
      (await count("idempotency_record")) === 1 &&
      (await count("audit_log where at < 1000")) === 0 &&
      // Rows of reads are written after their answers.
      (await count(requested)) > 2 * sweepEveryRequests,
  );
  assert.equal(await count("idempotency_record"), 1);
  assert.equal(await count(requested), 2 * sweepEveryRequests + 1, `${audited} old rows are gone`);
  await server.changeShop({ auditRetentionDays: 0 });
  server.clock.advance(400 * 86_400_000);
  await requests();
  await requests();
  await until("the rows of reads are there", async () => (await count(requested)) === 4 * sweepEveryRequests + 1);
  assert.equal(await count(requested), 4 * sweepEveryRequests + 1);
});

test("an empty, repeated or over-long Idempotency-Key is 400 on a write and ignored on a read (C21)", async () => {
  await using server = await start();
  for (const key of ["", ["a", "a"], "k".repeat(256)]) {
    const headers = { "Idempotency-Key": key };
    assert.equal((await server.post(crates, { label: "x" }, { headers })).status, 400);
    assert.equal((await server.get(crates, { headers })).status, 200);
  }
  assert.equal(
    (await server.post(crates, { label: "x" }, { headers: { "Idempotency-Key": "k".repeat(255) } })).status,
    201,
  );
  assert.deepEqual(await labels(server), ["x"]);
});

test("If-None-Match answers 304 without a body; If-Match that does not match is 412 (C37)", async () => {
  await using server = await start();
  const id = await newCrate(server);
  const target = `${crates}/${id}`;
  for (const tag of ['"first"', 'W/"first"', '"x", "first"', "*"]) {
    const response = await server.get(target, { headers: { "If-None-Match": tag } });
    assert.equal(response.status, 304, tag);
    assert.equal(response.headers["etag"], '"first"');
  }
  assert.equal((await server.get(target, { headers: { "If-None-Match": '"second"' } })).status, 200);
  const mismatch = await server.post(`${target}/seal`, {}, { headers: { "If-Match": '"second"' } });
  assert.equal(mismatch.status, 412);
  assert.equal(code(mismatch), "INVALID_INPUT");
  for (const tag of ['W/"first"', '"second", "third"', "first"])
    assert.equal((await server.post(`${target}/seal`, {}, { headers: { "If-Match": tag } })).status, 412, tag);
  for (const tag of ['"first"', '"second", "first"', "*"]) {
    const another = `${crates}/${await newCrate(server)}`;
    assert.equal((await server.post(`${another}/seal`, {}, { headers: { "If-Match": tag } })).status, 200, tag);
  }
});

test("an answer above the size limit is 413, and a write with such an answer changes nothing", async () => {
  await using server = await start({ responseBytesMax: 300 });
  const id = await newCrate(server);
  assert.equal((await server.post(`${crates}/${id}/seal`, { label: "z".repeat(40) })).status, 200);
  for (let count = 0; count < 4; count += 1) await newCrate(server, "y".repeat(40));
  const list = await server.get(crates);
  assert.equal(list.status, 413);
  assert.equal(code(list), "OUTPUT_TOO_LARGE");
  assert.match(list.textAt("error", "action"), /limit/);
  const tiny = await start({ responseBytesMax: 50 });
  try {
    assert.equal((await tiny.post(crates, { label: "x" })).status, 413);
    const rows = await tiny.engine.read(tiny.shopId, (tx) => tx.all("select location_id from location"));
    assert.deepEqual(rows, []);
  } finally {
    await tiny.stop();
  }
});

test("an answer has at most responseBytesMax bytes, a read's as well as a write's", async () => {
  const output = z.strictObject({ text: z.string() });
  const shape = {
    title: "T",
    summary: "S.",
    description: "D.",
    tag: "Crates",
    toolSets: ["stock"],
    destructive: false,
    faults: [],
  } as const;
  const input = z.strictObject({ bytes: z.string() });
  const text = (bytes: string) => ({ data: { text: "x".repeat(Number(bytes)) } });
  await using server = await start({
    operations: [
      ...crateOperations(),
      operation({
        ...shape,
        name: "crate_text_get",
        scope: "read",
        repeat: "read",
        route: { method: "GET", path: "/crates/{bytes}/text" },
        success: 200,
        input,
        output,
        run: (_, { bytes }) => Promise.resolve(text(bytes)),
      }),
      operation({
        ...shape,
        name: "crate_text_set",
        scope: "write",
        repeat: "safe",
        route: { method: "POST", path: "/crates/{bytes}/text" },
        success: 200,
        input,
        output,
        run: (call, { bytes }) => call.commit(() => Promise.resolve({ effects: [], answer: () => text(bytes) })),
      }),
    ],
  });
  for (const method of ["GET", "POST"])
    for (const [bytes, status] of [
      [responseBytesMax - 1_024, 200],
      [responseBytesMax, 413],
    ] as const) {
      const answer = await server.request(method, `${crates}/${bytes}/text`, { undocumented: true });
      assert.equal(answer.status, status, `${method} ${bytes}`);
    }
});

test("request line and headers have at most headerBytesMax bytes", async () => {
  await using server = await start();
  const ask = (bytes: number): Promise<string> =>
    raw(server, `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ${"x".repeat(bytes)}\r\n\r\n`);
  assert.match(await ask(headerBytesMax - 1_024), /^HTTP\/1\.1 200 /);
  assert.match(await ask(headerBytesMax), /^HTTP\/1\.1 431 /);
});

test("a bug is INTERNAL with the request id, and the log has its stack but no key and no body (H5)", async () => {
  await using server = await start();
  const id = await newCrate(server);
  const response = await server.post(`${crates}/${id}/seal`, { fail: "bug", label: "a secret label" });
  assert.equal(response.status, 500);
  assert.equal(code(response), "INTERNAL");
  assert.ok(!response.text.includes("a bug"));
  const lines = server.logged.filter((line) => line.includes(response.textAt("error", "requestId")));
  assert.ok(lines.some((line) => line.includes("TypeError: a bug") && line.includes("operations.ts")));
  const everything = server.logged.join("\n");
  for (const secret of [server.writeKey, server.writeKey.slice(-34), "a secret label", "Bearer"])
    assert.ok(!everything.includes(secret));
});

test("every request with a key of the shop leaves one audit row, with its tag, before its answer leaves (H1)", async () => {
  await using server = await start();
  const id = await newCrate(server);
  await server.get(`${crates}/${id}?a=b`);
  await server.request("HEAD", `${crates}/${id}`);
  await server.get("/api/v1/nowhere");
  await server.request("PUT", crates);
  await server.post(crates, {}, { key: server.readKey });
  await server.post(crates, "{");
  await server.post(`${crates}/${id}/seal`, { fail: "bug" });
  const rows = (await server.audit()).toReversed();
  assert.deepEqual(
    rows.map((row) => [row.tag, row.method, row.path, row.status, row.errorCode]),
    [
      ["rest:crate_create", "POST", crates, 201, null],
      ["rest:crate_get", "GET", `${crates}/${id}`, 400, "INVALID_INPUT"],
      ["rest:crate_get", "HEAD", `${crates}/${id}`, 200, null],
      ["rest:unknown", "GET", "/api/v1/nowhere", 404, "NOT_FOUND"],
      ["rest:unknown", "PUT", crates, 405, "METHOD_NOT_ALLOWED"],
      ["rest:crate_create", "POST", crates, 403, "FORBIDDEN_SCOPE"],
      ["rest:crate_create", "POST", crates, 400, "INVALID_INPUT"],
      ["rest:crate_seal", "POST", `${crates}/${id}/seal`, 500, "INTERNAL"],
    ],
  );
  for (const row of rows) assert.match(row.requestId, /^req_/);
});

test("errors of the HTTP parser have the same error body, with a request id (C2, H6)", async () => {
  await using server = await start();
  const auth = `Authorization: Bearer ${server.writeKey}\r\n`;
  for (const [text, status] of [
    ["NONSENSE\r\n\r\n", 400],
    [`GET ${crates} HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n${auth}\r\n`, 400],
    [`GET ${crates} HTTP/1.1\r\nHost: x\r\n${auth}X-Long: ${"x".repeat(70_000)}\r\n\r\n`, 431],
    [`POST ${crates} HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
    [`POST ${crates} HTTP/1.1\r\nHost: x\r\n${auth}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
  ] as const) {
    const answer = await raw(server, text);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), text.slice(0, 60));
    assert.match(answer, /\r\nX-Request-Id: req_/i);
    assert.match(answer, /\r\nContent-Type: application\/json/i);
    const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as {
      error: { code: string; retryable: boolean };
    };
    assert.equal(body.error.code, "INVALID_INPUT");
    assert.equal(body.error.retryable, false);
  }
});

test("five hundred ids fit into a query (C31)", async () => {
  await using server = await start();
  const ids = Array.from({ length: 500 }, () => server.ids.next("pol")).join(",");
  assert.equal((await server.delete(`${crates}/x?parts=${ids}`)).status, 404);
});

test("health, readiness and metrics need no key and show nothing of a shop", async () => {
  await using server = await start();
  await newCrate(server, "quite secret");
  const look = (target: string) => server.get(target, { key: null, undocumented: true });
  assert.equal((await look("/healthz")).status, 200);
  assert.equal((await look("/readyz")).status, 200);
  assert.equal((await server.request("POST", "/healthz", { undocumented: true })).status, 405);
  const { text } = await look("/metrics");
  assert.match(text, /^openpo_requests_total\{operation="crate_create",status="201"\} 1$/m);
  assert.match(text, /^openpo_request_duration_seconds_bucket\{operation="crate_create",le="\+Inf"\} 1$/m);
  assert.ok(!text.includes(server.shopId) && !text.includes("secret"));
});

test("an additional surface answers below its path, with the same error body", async () => {
  const surface: Surface = {
    path: "/admin/v1",
    handle: ({ path }) => {
      if (path === "/admin/v1/bug") return Promise.reject(new Error("a bug"));
      return Promise.resolve(path === "/admin/v1/shops" ? Response.json({ ok: true }) : null);
    },
  };
  await using server = await start({ surfaces: [surface] });
  const shops = await server.get("/admin/v1/shops", { undocumented: true });
  assert.equal(shops.status, 200);
  assert.match(String(shops.headers["x-request-id"]), /^req_/);
  assert.equal((await server.get("/admin/v1/other")).status, 404);
  assert.equal((await server.get("/admin/v1/bug", { undocumented: true })).status, 500);
  assert.equal((await server.get("/admin/v1x")).status, 404);
});

test("a stop lets running requests finish and refuses new ones", async () => {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const server = await start({
    operations: crateOperations({
      beforeSeal: () => {
        reached.resolve();
        return gate.promise;
      },
    }),
  });
  const id = await newCrate(server);
  const running = server.post(`${crates}/${id}/seal`, {});
  await reached.promise;
  const stopped = server.stop();
  await assert.rejects(raw(server, `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`), { code: "ECONNREFUSED" });
  gate.resolve();
  assert.equal((await running).status, 200);
  await stopped;
});

test("without a token no body is read, unless an answer is stored under its key (C1)", async () => {
  await using server = await start({ shop: { rateLimit: { capacity: 1, refillPerSecond: 0.001 } } });
  const headers = { "Idempotency-Key": "k" };
  const first = await server.post(crates, { label: "first" }, { headers });
  assert.equal(first.status, 201);
  // The body never arrives, and is not waited for.
  const head = (more: string): string =>
    `POST ${crates} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.writeKey}\r\nConnection: close\r\nContent-Length: 9\r\n${more}\r\n`;
  for (const more of ["", "Idempotency-Key: other\r\n"]) {
    const refused = await raw(server, head(more));
    assert.match(refused, /^HTTP\/1\.1 429 /);
  }
  const again = await server.post(crates, { label: "first" }, { headers });
  assert.equal(again.status, 201);
  assert.equal(again.headers["idempotent-replayed"], "true");
});

test("a request that turns out to be a replay gives its token back (C18)", async () => {
  const rateLimit = { capacity: 10, refillPerSecond: 0.001 };
  const given: PerformDependencies[] = [];
  await using server = await start({
    shop: { rateLimit },
    perform: (deps) => {
      given.push(deps);
      return {};
    },
  });
  const left = async (): Promise<number> =>
    Math.floor((await given[0]?.coordination.peekTokens(server.shopId, rateLimit, server.clock.now()))?.remaining ?? 0);
  const body = JSON.stringify({ label: "x" });
  // Nothing is stored under its key when it comes, so it takes a token. While its body is on the way, another request is answered.
  const socket = await sendUnread(
    server.port,
    `POST ${crates} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.writeKey}\r\nIdempotency-Key: k\r\n` +
      `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await until("a token is taken", async () => (await left()) === 9);
  const first = await server.post(crates, { label: "x" }, { headers: { "Idempotency-Key": "k" } });
  assert.deepEqual([first.status, await left()], [201, 8]);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write(body);
  socket.resume();
  await once(socket, "close");
  assert.match(text, /^HTTP\/1\.1 201 /);
  assert.match(text, /\r\nIdempotent-Replayed: true\r\n/i);
  assert.equal(await left(), 9);
});

test("refusals without a token have an audit row each up to a hundred a minute, and one that counts the others", async () => {
  await using server = await start();
  const extra = 50;
  // A minute begins.
  server.clock.advance(60_000 - (server.clock.now() % 60_000));
  for (let count = 0; count < refusalRowsPerMinuteMax + extra; count += 1)
    assert.equal((await server.get("/api/v1/nowhere")).status, 404);
  const other = await server.get("/api/v1/nowhere", { key: server.readKey });
  assert.equal(other.status, 404);
  assert.equal((await server.get(crates)).status, 200);
  const rows = async () => (await server.audit()).filter(({ status }) => status === 404);
  const counted = (list: readonly AuditEntry[]): number => list.reduce((sum, { count }) => sum + count, 0);
  await until("all are counted", async () => counted(await rows()) >= refusalRowsPerMinuteMax + extra + 1);
  const all = await rows();
  assert.equal(counted(all), refusalRowsPerMinuteMax + extra + 1);
  assert.equal(all.length, refusalRowsPerMinuteMax + 2);
  server.clock.advance(60_000);
  await server.get("/api/v1/nowhere");
  assert.equal((await rows()).length, all.length + 1);
});

test("secrets in a path are masked in the log, the audit log and messages, and long paths are cut", async () => {
  await using server = await start();
  const encoded = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join("");
  const secrets = [
    server.writeKey,
    encodeURIComponent(server.readKey).replaceAll("_", "%5F"),
    `opa_${"s".repeat(40)}`,
    server.readKey.replace("o", "%6F"),
    encoded(server.writeKey),
  ];
  for (const secret of secrets) {
    const response = await server.get(`/api/v1/${secret}/${"x".repeat(2_000)}`);
    assert.equal(response.status, 404);
    assert.doesNotMatch(response.text, new RegExp(secret));
    assert.ok(response.text.length < 1_000);
  }
  const texts = [...server.logged, ...(await server.audit()).map(({ path }) => path)];
  assert.equal(texts.filter((text) => text.includes("_***")).length, secrets.length * 2);
  for (const text of texts) {
    for (const secret of [...secrets, server.readKey.slice(-30)]) assert.ok(!text.includes(secret), text);
    assert.ok(text.length < 1_000);
  }
});
