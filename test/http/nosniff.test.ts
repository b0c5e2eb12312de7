/**
 * `X-Content-Type-Options: nosniff` is on every kind of answer, whoever makes it: parser, pipeline, surfaces, files, streams.
 *
 * Only on sqlite: its subject is how requests come in, not where their data are.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { exchange, sendUnread } from "../support/peers/raw.ts";
import { adminToken, startServer } from "../support/server.ts";

test("every kind of answer says that its type must not be guessed", async () => {
  await using server = await startServer({ console: true });
  const ask = (method: string, target: string, more = "", body = ""): string =>
    `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
  const key = `Authorization: Bearer ${server.writeKey}\r\n`;
  const operator = `Authorization: Bearer ${adminToken}\r\n`;
  const json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
  const asked: Readonly<Record<string, readonly [string, number]>> = {
    "a line that is not HTTP": ["GARBAGE\r\n\r\n", 400],
    "large headers": [ask("GET", "/", `X-Large: ${"x".repeat(70_000)}\r\n`), 431],
    "two hosts": [ask("GET", "/healthz", "Host: y\r\n"), 400],
    "an unknown expectation": [ask("GET", "/healthz", "Expect: tea\r\n"), 417],
    "a success": [ask("GET", "/api/v1/purchase-orders", key), 200],
    "a change": [ask("POST", "/api/v1/purchase-orders", key + json, "{}"), 201],
    "no key": [ask("GET", "/api/v1/purchase-orders"), 401],
    "bad input": [ask("POST", "/api/v1/purchase-orders", key + json, "{"), 400],
    "a wrong method": [ask("PUT", "/api/v1/purchase-orders", key), 405],
    options: [ask("OPTIONS", "/api/v1/purchase-orders"), 204],
    "an unknown path": [ask("GET", "/nowhere"), 404],
    document: [ask("GET", "/api/v1/openapi.json"), 200],
    health: [ask("GET", "/healthz"), 200],
    readiness: [ask("GET", "/readyz"), 200],
    metrics: [ask("GET", "/metrics"), 200],
    "the operator's": [ask("GET", "/admin/v1/shops", operator), 200],
    "a file": [ask("GET", `/admin/v1/shops/${server.shopId}/export`, operator), 200],
    "the console's page": [ask("GET", "/console/"), 200],
    "a tool list": [ask("POST", "/mcp", key + json, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 200],
    "an agent without a key": [ask("POST", "/mcp", json, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 401],
  };
  for (const [what, [text, status]] of Object.entries(asked)) {
    const [head = ""] = (await exchange(server.port, text)).split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), what);
    assert.match(head, /\r\nX-Content-Type-Options: nosniff(\r\n|$)/i, what);
  }
  const socket = await sendUnread(server.port, ask("GET", `/admin/v1/shops/${server.shopId}/events/stream`, operator));
  socket.resume();
  const [first] = await once(socket, "data");
  socket.destroy();
  assert.match(String(first), /\r\nX-Content-Type-Options: nosniff\r\n/i, "a stream");
  assert.match(String(first), /\r\nContent-Type: text\/event-stream\r\n/i);
});
