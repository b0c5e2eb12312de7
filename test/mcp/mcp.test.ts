/**
 * The agent surface through the protocol's own client: every tool of the registry, and the same keys, scopes, limits, idempotency and
 * errors as REST (spec "What the service does"; contract §1 "Agent surface").
 *
 * Only on sqlite: its subject is what assistants are shown and answered; mcp/twins.slow.test.ts gives the same commands on both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { demoRecords } from "../../src/demo/records.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { faultsOf } from "../../src/http/openapi/failures.ts";
import { columnIds } from "../../src/core/forecast/forecast.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { textLengthMax } from "../../src/mcp/cut-lists.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { answerOf, connectAgent, mcpHeaders, revisions, toolCall, usualTools } from "../support/mcp.ts";
import { type RequestOptions, startServer, type TestResponse, type TestServer } from "../support/server.ts";
import { inToolNames } from "../support/openapi/wording.ts";

const orders = "/api/v1/purchase-orders";

const post = (server: TestServer, body: unknown, options: RequestOptions = {}): Promise<TestResponse> =>
  server.request("POST", "/mcp", {
    body,
    undocumented: true,
    ...options,
    headers: { ...mcpHeaders, ...options.headers },
  });

const isSchema = (value: unknown): value is AnySchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema, with objects that have no members but those it names. */
function closed(schema: AnySchemaObject): AnySchemaObject {
  const entries = Object.entries(schema).map(([word, value]) => [word, isSchema(value) ? closed(value) : value]);
  const isObject = isSchema(schema["properties"]) && schema["additionalProperties"] === undefined;
  return { ...Object.fromEntries(entries), ...(isObject ? { additionalProperties: false } : {}) };
}

/** The first id of each kind that stands in a row of a list. */
function idsIn(list: Json | undefined, ids: Map<string, string>): void {
  if (list === undefined || typeof list !== "object" || list === null) return;
  if (isJsonArray(list)) for (const entry of list) idsIn(entry, ids);
  else
    for (const [name, value] of Object.entries(list)) {
      if (name.endsWith("Id") && typeof value === "string" && !ids.has(name)) ids.set(name, value);
      else idsIn(value, ids);
    }
}

/** The same value with every member that is an id of a known kind replaced. */
function withIds(value: Json, ids: ReadonlyMap<string, string>): Json {
  if (isJsonArray(value)) return value.map((entry) => withIds(entry, ids));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const own = ids.get(name) ?? ids.get(name.replace(/s$/, ""));
      if (own === undefined) return [name, withIds(member, ids)];
      return [name, isJsonArray(member) ? [own] : own];
    }),
  );
}

for (const revision of revisions)
  test(`a client of revision ${revision} lists every tool and gets from each what it promises`, async () => {
    await using server = await startGoodsServer({ shop: { confirmationWaitMs: 200 } });
    await server.bring([...demoRecords(server.clock.now())]);
    await using agent = await connectAgent(server, { revision, address: "/mcp?schemas=1" });
    const { tools } = await agent.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      usualTools.map(({ name }) => name),
    );
    // The client itself holds successes against the output schema; older ones do so with failures too.
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const ids = new Map<string, string>();
    const lists = restOperations.filter(({ route }) => route.method === "GET" && !route.path.includes("{"));
    for (const { name } of lists) idsIn((await agent.call(name)).at(), ids);

    for (const operation of usualTools) {
      const write = operation.scope === "write";
      if (write) {
        const created = await agent.call("purchase_order_create", {
          supplierId: "mill",
          locationId: "warehouse",
          lineItems: [{ variantId: "red", quantityOrdered: 2, unitCost: 1 }],
        });
        const lineItemId = created.textAt("lineItems", 0, "lineItemId");
        ids.set("purchaseOrderId", created.textAt("purchaseOrder", "purchaseOrderId"));
        for (const name of ["lineItemId", "itemId"]) ids.set(name, lineItemId);
      }
      const { cursor: _cursor, ...example } = exampleOf(operation);
      const input = withIds(example, ids);
      assert.ok(isJsonObject(input));
      const answer = await agent.call(operation.name, input);
      const told = `${operation.name}: ${JSON.stringify(answer.result.structuredContent)}`;
      if (!write) assert.ok(!answer.isError, told);
      if (answer.isError) {
        const known: ReadonlySet<string> = faultsOf(operation);
        const word = answer.at("error", "reason") ?? answer.textAt("error", "code");
        assert.ok(typeof word === "string" && known.has(word), told);
      }
      const schema = tools.find(({ name }) => name === operation.name)?.outputSchema;
      assert.ok(isSchema(schema));
      assert.ok(ajv.validate(schema, answer.result.structuredContent), `${told} ${ajv.errorsText()}`);
      // A read shows nothing that its schema does not name.
      const names = closed(schema);
      if (!write) assert.ok(ajv.validate(names, answer.result.structuredContent), `${told} ${ajv.errorsText()}`);
      if (JSON.stringify(answer.at()).length < textLengthMax)
        assert.deepEqual(JSON.parse(answer.text), answer.result.structuredContent, "the text says the same");
    }
  });

test("a read key is shown the reads, and the write that it may run dry; a write is refused before anything changes", async () => {
  await using server = await startServer();
  await using agent = await connectAgent(server, { key: server.readKey });
  const { tools } = await agent.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    usualTools.filter(({ scope, name }) => scope === "read" || name === "reorder_from_view").map(({ name }) => name),
  );
  const refused = await agent.call("purchase_order_create", { poName: "never" });
  assert.ok(refused.isError);
  assert.equal(refused.at("error", "code"), "FORBIDDEN_SCOPE");
  assert.match(refused.textAt("error", "message"), /purchase_order_create/);
  assert.equal((await agent.call("purchase_order_list")).at("totalCount"), 0);
});

test("a key that is missing, wrong, revoked or of a shop without the plan is refused by HTTP, and what is known of it is audited", async () => {
  await using server = await startServer();
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const key of [null, "nonsense", `${server.writeKey}x`]) {
    const refused = await post(server, list, { key });
    assert.equal(refused.status, 401);
    const metadata = `${server.url}/.well-known/oauth-protected-resource/mcp`;
    assert.equal(refused.headers["www-authenticate"], `Bearer resource_metadata="${metadata}", scope="read"`);
    assert.equal(refused.at("error", "code"), "UNAUTHORIZED");
  }
  assert.equal((await server.audit()).length, 0);

  const { keyId, apiKey } = await server.addKey("write");
  await server.engine.write(server.shopId, (tx) =>
    tx.batch([
      {
        sql: "update api_key set revoked_at = ? where shop_id = ? and key_id = ?",
        params: [server.clock.now(), server.shopId, keyId],
      },
    ]),
  );
  assert.equal((await post(server, list, { key: apiKey })).status, 401);
  await server.changeShop({ planRestApi: false });
  assert.equal((await post(server, list)).at("error", "code"), "PLAN_REQUIRED");
  const audit = await server.audit();
  assert.deepEqual(
    audit.map(({ tag, status, path }) => [tag, status, path]),
    [
      ["mcp:unknown", 403, "/mcp"],
      ["mcp:unknown", 401, "/mcp"],
    ],
  );
});

test("a call is audited under its tool, acts as an agent and shares the shop's rate limit, as every message does (C71)", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 20, refillPerSecond: 0.001 } } });
  await using agent = await connectAgent(server);
  const ping = await post(server, { jsonrpc: "2.0", id: 1, method: "ping" });
  const left = Number(/r=(\d+)/.exec(String(ping.headers["ratelimit"]))?.[1]);
  assert.ok(left < 20, "the ping and what connecting needed");
  for (let lists = left; lists > 3; lists -= 1) await agent.client.listTools(undefined, { cacheMode: "bypass" });
  const created = await agent.call("purchase_order_create", { poName: "by an agent", idempotencyKey: "k" });
  const purchaseOrderId = created.textAt("purchaseOrder", "purchaseOrderId");
  const log = await agent.call("purchase_order_log_list", { purchaseOrderId });
  assert.equal(log.at("log", 0, "actor", "type"), "agent");
  assert.equal(log.at("log", 0, "operation"), "purchase_order_create");
  const rest = await server.get(`${orders}/${purchaseOrderId}`);
  assert.equal(rest.status, 200);
  assert.match(String(rest.headers["ratelimit"]), /r=0/);

  const limited = await agent.call("purchase_order_list");
  assert.ok(limited.isError);
  assert.equal(limited.at("error", "code"), "RATE_LIMITED");
  assert.equal(limited.at("error", "retryable"), true);
  assert.ok(Number(limited.at("error", "retryAfterMs")) > 0);
  const raw = await post(server, toolCall("purchase_order_list", {}));
  assert.match(String(raw.headers["ratelimit"]), /^"shop";r=0;t=\d+$/);
  assert.equal(raw.at("result", "structuredContent", "error", "requestId"), raw.headers["x-request-id"]);

  const refused = await post(server, { jsonrpc: "2.0", id: 1, method: "ping" });
  assert.equal(refused.status, 429);
  assert.equal(refused.at("error", "code"), "RATE_LIMITED");

  const replayed = await agent.call("purchase_order_create", { poName: "by an agent", idempotencyKey: "k" });
  assert.deepEqual(replayed.at("purchaseOrder"), created.at("purchaseOrder"), "a replay needs no token");
  assert.deepEqual([created.at("replayed"), replayed.at("replayed")], [undefined, true]);
  assert.deepEqual(
    (await server.audit()).map(({ tag, status, method, path, replayed }) => [tag, status, method, path, replayed]),
    [
      ["mcp:purchase_order_create", 201, "POST", orders, true],
      ["mcp:unknown", 429, "POST", "/mcp", false],
      ["mcp:purchase_order_list", 429, "GET", orders, false],
      ["mcp:purchase_order_list", 429, "GET", orders, false],
      ["rest:purchase_order_get", 200, "GET", `${orders}/${purchaseOrderId}`, false],
      ["mcp:purchase_order_log_list", 200, "GET", `${orders}/${purchaseOrderId}/log`, false],
      ["mcp:purchase_order_create", 201, "POST", orders, false],
    ],
  );
});

test("one idempotency key means one change, whichever surface it comes by", async () => {
  await using server = await startServer();
  await using agent = await connectAgent(server);
  const lineItems = [{ variantId: "a", quantityOrdered: 2 }];
  const first = await agent.call("purchase_order_create", { poName: "once", lineItems, idempotencyKey: "1" });
  const again = await server.post(orders, { lineItems, poName: "once" }, { headers: { "Idempotency-Key": "1" } });
  assert.equal(again.headers["idempotent-replayed"], "true");
  const purchaseOrderId = first.textAt("purchaseOrder", "purchaseOrderId");
  const lineItemId = first.textAt("lineItems", 0, "lineItemId");
  assert.equal(again.at("data", "purchaseOrder", "purchaseOrderId"), purchaseOrderId);
  assert.equal(again.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId"), lineItemId);

  const target = `${orders}/${purchaseOrderId}/line-items?lineItemIds=${lineItemId}`;
  const removed = await server.delete(target, { headers: { "Idempotency-Key": "2" } });
  assert.deepEqual(removed.at("data", "deletedLineItemIds"), [lineItemId]);
  const input = { purchaseOrderId, lineItemIds: [lineItemId] };
  const replay = await agent.callWhole("purchase_order_line_item_delete", { ...input, idempotencyKey: "2" });
  assert.deepEqual(replay.at("purchaseOrder"), removed.at("data", "purchaseOrder"));
  assert.equal(replay.at("replayed"), true);
  const { _meta: meta } = replay.result;
  assert.equal(meta?.["openpo/idempotentReplayed"], true);
  assert.equal(meta?.["openpo/requestId"], removed.at("meta", "requestId"));

  const other = await agent.call("purchase_order_line_item_delete", { ...input, idempotencyKey: "1" });
  assert.equal(other.at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
  const told = new RegExp(`: purchase_order_create of order ${purchaseOrderId}, answered at 20\\d\\d-\\S+Z\\.$`);
  assert.match(other.textAt("error", "message"), told);
  const onRest = await server.post(orders, { poName: "another" }, { headers: { "Idempotency-Key": "1" } });
  assert.match(onRest.textAt("error", "message"), told);
  assert.match(onRest.textAt("error", "message"), /^This Idempotency-Key was used for a different request: /);
  const ofLine = await server.post(orders, { poName: "another" }, { headers: { "Idempotency-Key": "2" } });
  assert.match(
    ofLine.textAt("error", "message"),
    new RegExp(`: purchase_order_line_item_delete of order ${purchaseOrderId}, answered at `),
  );
  const badly = await server.post(orders, { poName: 5 }, { headers: { "Idempotency-Key": "3" } });
  assert.equal(badly.status, 400);
  const refusedFirst = await server.post(orders, { poName: "another" }, { headers: { "Idempotency-Key": "3" } });
  assert.match(refusedFirst.textAt("error", "message"), /: purchase_order_create, answered at /);
  for (const idempotencyKey of ["", "k".repeat(256), 5]) {
    const bad = await agent.call("purchase_order_create", { idempotencyKey });
    assert.equal(bad.at("error", "code"), "INVALID_INPUT", JSON.stringify(idempotencyKey));
  }
  assert.equal((await agent.call("purchase_order_list")).at("totalCount"), 1);
});

test("a refusal tells what REST tells, so that an agent can correct itself", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 5 }]);
  await using agent = await connectAgent(server);
  const cases: readonly (readonly [string, string, JsonObject, string])[] = [
    ["purchase_order_status", "/status", { status: "Received" }, "POST"],
    ["purchase_order_status", "/status", { status: "Confirmed" }, "POST"],
    [
      "purchase_order_confirm",
      "/confirm",
      { lines: [{ lineItemId: "b", quantityConfirmed: -1 }], nonsense: 1 },
      "POST",
    ],
    ["purchase_order_complete", "/complete", {}, "POST"],
    ["purchase_order_update", "", { status: "Sent" }, "PATCH"],
    ["purchase_order_delete", "", {}, "DELETE"],
  ];
  for (const [tool, below, body, method] of cases) {
    const told = await agent.call(tool, { purchaseOrderId: "po_1", ...body });
    const rest = await server.request(method, server.order(below), method === "DELETE" ? {} : { body });
    assert.ok(told.isError, tool);
    for (const member of ["code", "reason", "message", "action", "details", "retryable", "retryAfterMs"]) {
      const spoken = inToolNames(JSON.stringify(rest.at("error", member) ?? null));
      assert.equal(JSON.stringify(told.at("error", member) ?? null), spoken, `${tool}: ${member}`);
    }
  }
  const missing = await agent.call("purchase_order_get", { idempotencyKey: "x" });
  assert.deepEqual(
    [missing.at("error", "details", 0, "path"), missing.at("error", "details", 1, "path")],
    ["/purchaseOrderId", "/idempotencyKey"],
  );
});

test("supplierVariantDetails is in no result (C36)", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 5 }]);
  await using agent = await connectAgent(server);
  const input = {
    purchaseOrderId: "po_1",
    lines: [{ lineItemId: "a", supplierVariantDetails: { secret: "between us" } }],
    updateSupplier: true,
    idempotencyKey: "d",
  };
  const results = [
    await agent.call("purchase_order_line_item_update", input),
    await agent.call("purchase_order_line_item_update", input),
    await agent.call("purchase_order_get", { purchaseOrderId: "po_1" }),
    await agent.call("purchase_order_log_list", { purchaseOrderId: "po_1" }),
  ];
  assert.equal(results[0]?.at("sideEffects", "supplierUpdate", "outcome"), "applied");
  for (const { isError, result } of results) {
    assert.ok(!isError);
    assert.doesNotMatch(JSON.stringify(result), /between us|supplierVariantDetails/);
  }
});

test("an answer that is too long as text is cut there and says how to page; nothing is above the response cap", async () => {
  await using server = await startGoodsServer({ responseBytesMax: 300_000 });
  const lineItems = Array.from({ length: 300 }, (_, index) => ({
    poLineItemId: `l${index}`,
    variantId: "red",
    quantityOrdered: 1,
  }));
  await server.bringOrder("Draft", lineItems);
  await using agent = await connectAgent(server);
  const asked = { purchaseOrderId: "po_1", include: ["order"] };
  const long = await agent.call("purchase_order_line_item_list", asked);
  assert.equal(long.at("totalCount"), 300);
  const cut = JSON.parse(long.text);
  assert.equal(cut.totalCount, 300);
  assert.ok(long.text.length <= textLengthMax && cut.lineItems.length > 10);
  assert.deepEqual([cut.lineItemsCut.shown, cut.lineItemsCut.of], [cut.lineItems.length, 300]);
  assert.deepEqual([long.at("cursor"), "cursor" in cut], [null, false], "no cursor says that this is all");
  const order = JSON.parse((await agent.call("purchase_order_get", { purchaseOrderId: "po_1" })).text);
  assert.partialDeepStrictEqual(order.purchaseOrder, {
    purchaseOrderId: "po_1",
    status: "Draft",
    itemCount: 300,
    totalValue: 0,
    quantityPending: 300,
  });
  const { lineItems: shown, lineItemsCut } = order.purchaseOrder;
  assert.deepEqual([lineItemsCut.shown, lineItemsCut.of], [shown.length, 300]);
  for (const { tool, arguments: more, shown: count } of [cut.lineItemsCut, lineItemsCut]) {
    const next = await agent.call(tool, { ...more, limit: 1 });
    assert.equal(next.at("lineItems", 0, "lineItemId"), `l${count}`, "where the text ends");
  }
  const page = await agent.call("purchase_order_line_item_list", { ...asked, limit: 50 });
  assert.equal(typeof page.at("cursor"), "string");
  await server.bringOrder("Draft", [
    ...lineItems,
    ...lineItems.map((line) => ({ ...line, poLineItemId: `${line.poLineItemId}b`, note: "n".repeat(500) })),
  ]);
  const tooLong = await agent.call("purchase_order_get", { purchaseOrderId: "po_1" });
  assert.equal(tooLong.at("error", "code"), "OUTPUT_TOO_LARGE");
});

test("only names of ours are answered: a foreign Host or Origin is refused before the key is looked at", async () => {
  await using server = await startServer();
  const call = toolCall("purchase_order_list", {});
  const refusals: readonly Readonly<Record<string, string>>[] = [
    { Host: "evil.example" },
    { Host: `evil.example:${server.port}` },
    { Origin: "http://evil.example" },
    { Origin: "null" },
  ];
  for (const headers of refusals)
    for (const key of [server.writeKey, null]) {
      const refused = await post(server, call, { headers, key });
      assert.equal(refused.status, 403, JSON.stringify(headers));
      assert.match(refused.textAt("error", "message"), /OPENPO_PUBLIC_URL/);
    }
  for (const headers of [{ Host: `localhost:${server.port}` }, { Origin: "http://localhost:3000" }])
    assert.equal((await post(server, call, { headers })).status, 200, JSON.stringify(headers));
  assert.equal((await server.audit()).length, 2, "what was refused reached nobody");
});

test("what is no message of the protocol is a protocol error, and nothing else is", async () => {
  await using server = await startServer();
  const cases: readonly (readonly [string | Uint8Array, number, number])[] = [
    ["{", 400, -32_700],
    ["", 400, -32_600],
    [new Uint8Array([0x22, 0xff, 0x22]), 400, -32_700],
    [JSON.stringify([toolCall("purchase_order_list", {})]), 400, -32_600],
    ["5", 400, -32_600],
    [JSON.stringify(toolCall("no_such_tool", {})), 200, -32_602],
    [JSON.stringify({ jsonrpc: "2.0", id: 1, method: "no/such" }), 200, -32_601],
    [JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen" }), 404, -32_601],
  ];
  for (const [body, status, code] of cases) {
    const answer = await post(server, body);
    assert.deepEqual([answer.status, answer.at("error", "code")], [status, code], answer.text);
  }
  // Readable as JSON but not as C10 wants it: the tool says so, and nothing is rounded or overwritten in silence.
  const sloppy = ['{"poName":"a","poName":"b"}', '{"shippingCost":1e400}', '{"poName":"\\ud800"}', '{"__proto__":{}}'];
  for (const [index, input] of sloppy.entries()) {
    const message = JSON.stringify(toolCall("purchase_order_create", {})).replace("{}", input);
    const answer = await post(server, message);
    assert.equal(
      answer.at("result", "structuredContent", "error", "code"),
      "INVALID_INPUT",
      `${index}: ${answer.text}`,
    );
  }
  const deep = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  for (const tool of ["purchase_order_create", "purchase_order_list"]) {
    const call = JSON.stringify(toolCall(tool, {}));
    const answer = await post(server, call.replace("{}", deep(15_000)));
    assert.match(answer.textAt("result", "structuredContent", "error", "message"), /nested deeper/);
    // A long message is refused before it is parsed at all.
    const long = await post(server, call.replace("{}", deep(50_000)));
    assert.equal(long.status, 400);
    assert.match(long.textAt("error", "message"), /nested deeper/);
  }
  assert.equal((await server.get(orders)).at("data", "totalCount"), 0);
});

test("a message takes as much as any body; there is nothing to get, delete or reach below", async () => {
  await using server = await startServer();
  const fill = (bytes: number): string => {
    const message = JSON.stringify(toolCall("purchase_order_list", {}));
    return message + " ".repeat(bytes - message.length);
  };
  assert.equal((await post(server, fill(1_048_576))).at("result", "structuredContent", "totalCount"), 0);
  for (const chunked of [false, true]) {
    const refused = await post(server, fill(1_048_577), { chunked });
    assert.equal(refused.status, 400);
    assert.equal(refused.at("error", "code"), "INVALID_INPUT");
  }
  const encoded = await post(server, fill(500), { headers: { "Content-Encoding": "gzip" } });
  assert.equal(encoded.at("error", "code"), "INVALID_INPUT");
  for (const method of ["GET", "DELETE", "PUT"]) {
    const refused = await server.request(method, "/mcp", { undocumented: true });
    assert.equal(refused.status, 405);
    assert.equal(refused.headers["allow"], "POST");
  }
  assert.equal((await server.request("POST", "/mcp/more", { undocumented: true, body: {} })).status, 404);
});

test("an agent finds the status model, and a way from a forecast view to drafts", async () => {
  await using server = await startServer();
  for (const revision of revisions) {
    await using agent = await connectAgent(server, { revision });
    assert.match(agent.client.getInstructions() ?? "", /status-model/);
    const { resources } = await agent.client.listResources();
    const [resource] = resources;
    assert.ok(resource !== undefined);
    const { contents } = await agent.client.readResource({ uri: resource.uri });
    assert.match(JSON.stringify(contents), /\| Sent \| Draft, Cancelled, On Hold, Disputed \|/);
    await assert.rejects(agent.client.readResource({ uri: "openpo://guides/none" }));
    const figures = await agent.client.readResource({ uri: "openpo://guides/forecast-figures" });
    for (const column of columnIds) assert.match(JSON.stringify(figures), new RegExp(`\\b${column}\\b`));
    const { prompts } = await agent.client.listPrompts();
    assert.deepEqual(
      prompts.map(({ name }) => name),
      ["reorder_from_forecast"],
    );
    const values = { viewId: "view_7", locationId: "loc_7" };
    const prompt = await agent.client.getPrompt({ name: "reorder_from_forecast", arguments: values });
    assert.match(JSON.stringify(prompt.messages), /view_7.*loc_7/);
    await assert.rejects(agent.client.getPrompt({ name: "reorder_from_forecast", arguments: { viewId: "v" } }));
    await assert.rejects(agent.client.getPrompt({ name: "none" }));
  }
});

test("the answer of the revision before reads the same without its client", async () => {
  await using server = await startServer();
  const answer = await post(server, toolCall("purchase_order_create", { poName: "plain" }));
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.at("result", "_meta", "openpo/requestId"), answer.headers["x-request-id"]);
  assert.equal(answer.at("result", "structuredContent", "purchaseOrder", "poName"), "plain");
  assert.ok(server.logged.some((line) => line.includes('"operation":"mcp:purchase_order_create"')));
  assert.ok(!server.logged.some((line) => line.includes(server.writeKey)));
  assert.equal(answerOf({ content: [] }).at(), null);
});

test("without a token a large message is refused unread, unless an answer is stored under its key (C1, C18, C71)", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 2, refillPerSecond: 0.001 } } });
  const notes = Array.from({ length: 60 }, (_, index) => ({
    variantId: `v-${index}`,
    quantityOrdered: 1,
    note: "x".repeat(2_000),
  }));
  const create = (idempotencyKey: string) => toolCall("purchase_order_create", { lineItems: notes, idempotencyKey });
  const first = await post(server, create("k"));
  assert.equal(first.status, 200);
  assert.match(String(first.headers["ratelimit"]), /r=1/);
  await post(server, { jsonrpc: "2.0", id: 1, method: "ping" });
  const other = await post(server, create("other"));
  assert.equal(other.status, 429);
  assert.equal(other.at("error", "code"), "RATE_LIMITED");
  const again = await post(server, create("k"));
  assert.equal(again.status, 200);
  const order = (response: TestResponse) => response.at("result", "structuredContent", "purchaseOrder");
  assert.deepEqual(order(again), order(first));
  assert.match(String(again.headers["ratelimit"]), /r=0/);
});

test("without a token a large message that is no replay is refused the same way each time, and a replay of another key's answer is answered (C18)", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 3, refillPerSecond: 0.001 } } });
  const { apiKey } = await server.addKey("write");
  const create = (poName: string) =>
    toolCall("purchase_order_create", {
      poName,
      lineItems: Array.from({ length: 60 }, () => ({ variantId: "v", quantityOrdered: 1, note: "x".repeat(2_000) })),
      idempotencyKey: "k",
    });
  const name = (response: TestResponse) => response.at("result", "structuredContent", "purchaseOrder", "poName");
  assert.equal(name(await post(server, create("first"))), "first");
  assert.equal(name(await post(server, create("second"), { key: apiKey })), "second");
  await post(server, { jsonrpc: "2.0", id: 1, method: "ping" });
  const refused: TestResponse[] = [];
  for (let count = 0; count < 3; count += 1) refused.push(await post(server, create("second")));
  for (const response of refused) {
    assert.equal(response.status, 429);
    assert.equal(response.at("error", "code"), "RATE_LIMITED");
    assert.match(String(response.headers["ratelimit"]), /r=0/);
  }
  assert.equal(name(await post(server, create("second"), { key: apiKey })), "second");
  assert.equal(name(await post(server, create("first"))), "first");
  assert.equal((await post(server, create("second"))).status, 429);
});

test("of a message that is no tool call at most 64 KiB are read (C71)", async () => {
  await using server = await startServer();
  const params = { padding: "x".repeat(70_000) };
  for (const message of [
    { jsonrpc: "2.0", id: 1, method: "ping", params },
    { jsonrpc: "2.0", id: 1, params: { method: "tools/call", ...params }, method: "ping" },
    { padding: '"method":"tools/call"'.repeat(4_000), jsonrpc: "2.0", id: 1, method: "ping" },
  ]) {
    const refused = await post(server, message);
    assert.equal(refused.status, 400);
    assert.match(refused.textAt("error", "message"), /larger than 65536 bytes/);
  }
  const called = await post(server, toolCall("purchase_order_create", { poName: "x", note: "y".repeat(70_000) }));
  assert.equal(called.status, 200);
});
