/** A request without a token costs little, whatever it carries: its body is not parsed for a 429 (C1, C71). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyBytesMax } from "../../src/http/body.ts";
import { Fault } from "../../src/base/fault.ts";
import { bodyMembersMax, cheapLengthMax, objectMembersMax, parseJson } from "../../src/base/json.ts";
import { readMessage } from "../../src/mcp/message.ts";
import { mcpHeaders, toolCall } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";
const rateLimit = { capacity: 2, refillPerSecond: 0.001 };

/** Objects of as many members as one may have. */
const members = (count: number, bytes: number): readonly object[] =>
  Array.from({ length: Math.floor(count / objectMembersMax) }, (_, first) =>
    Object.fromEntries(
      Array.from({ length: objectMembersMax }, (_, index) => [
        (first * objectMembersMax + index).toString(36),
        "x".repeat(Math.floor(bytes / count) - 12),
      ]),
    ),
  );

/** Bodies that take the most time to read: as many members as may be, and far more. */
const most = { lineItems: [], extra: members(bodyMembersMax - 10, bodyBytesMax * 0.9) };
const tooMany = Object.fromEntries(Array.from({ length: 121_000 }, (_, index) => [index.toString(36), 1]));

test("no body is parsed for a 429, and one under an answered key once", async (t) => {
  await using server = await startServer({ shop: { rateLimit } });
  const ask = async (path: string, body: string, headers: Readonly<Record<string, string>>) =>
    await server.request("POST", path, { body, headers, undocumented: true });
  assert.equal((await ask(orders, JSON.stringify({ lineItems: [] }), { "Idempotency-Key": "stored" })).status, 201);
  assert.equal((await server.get(`${orders}?limit=1`)).status, 200);
  const large = JSON.stringify(most);
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: most });
  const call = (more: object): string => JSON.stringify(toolCall("purchase_order_create", { ...most, ...more }));
  const calls = [
    ["a body of many members", 429, orders, large, {}, 0],
    ["a body of too many", 429, orders, JSON.stringify(tooMany), {}, 0],
    ["a keyed body", 429, orders, large, { "Idempotency-Key": "k" }, 0],
    // A long message that is no tool call is refused for its length.
    ["a ping", 400, "/mcp", ping, mcpHeaders, 0],
    ["a tool call", 429, "/mcp", call({}), mcpHeaders, 0],
    ["a keyed tool call", 429, "/mcp", call({ idempotencyKey: "k" }), mcpHeaders, 0],
    // What may be a replay is read first, once for the same bytes (C18).
    ["a body under an answered key", 429, orders, large, { "Idempotency-Key": "stored" }, 1],
    ["a tool call under an answered key", 429, "/mcp", call({ idempotencyKey: "stored" }), mcpHeaders, 1],
  ] as const;
  for (const [what, status, path, body, headers, times] of calls) {
    assert.ok(body.length > bodyBytesMax / 2 && body.length <= bodyBytesMax, what);
    const parse = t.mock.method(JSON, "parse");
    for (let count = 0; count < 3; count += 1) assert.equal((await ask(path, body, headers)).status, status, what);
    const parsed = parse.mock.calls.filter((one) => one.arguments[0].length > cheapLengthMax).length;
    parse.mock.restore();
    assert.equal(parsed, times, what);
  }
});

test("a body that no request can have is refused before it is parsed", (t) => {
  const wide = Object.fromEntries(Array.from({ length: 38_000 }, (_, index) => [index.toString(36), 1]));
  const bodies = {
    nested: `{"a":${"[".repeat(bodyBytesMax / 2 - 20)}${"]".repeat(bodyBytesMax / 2 - 20)}}`,
    "empty objects": `{"lineItems":[${"{},".repeat(340_000)}{}]}`,
    "one object of many members": JSON.stringify(wide),
  };
  for (const [what, text] of Object.entries(bodies)) {
    const bytes = Buffer.from(text);
    const message = Buffer.from(JSON.stringify(toolCall("purchase_order_create", {})).replace("{}", text));
    for (const read of [() => parseJson(bytes), () => readMessage(message)]) {
      const parse = t.mock.method(JSON, "parse");
      assert.throws(read, Fault);
      const lengths = parse.mock.calls.map((call) => call.arguments[0].length);
      parse.mock.restore();
      assert.ok(Math.max(0, ...lengths) <= cheapLengthMax, `${what}: ${Math.max(...lengths)} characters were parsed`);
    }
  }
});
