/**
 * A server reads an ordinary request without making the web's objects of it (http/node/reply.ts): the answers are the same either way.
 *
 * Only on sqlite: its subject is how requests come in, not where their data are.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type TestResponse } from "../support/server.ts";

/** What a caller can tell answers apart by, without what differs between any two requests. */
function comparable({ status, headers, text }: TestResponse): unknown {
  const { date: _date, "x-request-id": requestId, ratelimit: _left, "content-length": length, ...others } = headers;
  // Only the answer to an ordinary HEAD tells the length that a GET would have.
  if (text !== "") others["content-length"] = length;
  // When a used key had its answer is of each form's own first request.
  const told = text.replaceAll(String(requestId), "req").replace(/answered at [^"]*Z/, "answered");
  return { status, others, text: told };
}

test("an ordinary request and one that takes the web's form get the same answer", async () => {
  await using server = await startServer();
  const order = { lineItems: [] };
  for (const [method, target, options] of [
    ["GET", "/api/v1/purchase-orders", {}],
    ["GET", "/api/v1/purchase-orders?limit=2&search=%C3%A9", {}],
    ["HEAD", "/api/v1/purchase-orders", {}],
    ["GET", "/api/v1/purchase-orders", { key: null }],
    ["GET", "/api/v1/purchase-orders/po_none", {}],
    ["GET", "/api/v1/purchase-orders", { headers: { "If-None-Match": '"1"' } }],
    ["GET", "/api/v1/nothing", {}],
    ["PUT", "/api/v1/purchase-orders", {}],
    ["DELETE", "/api/v1/purchase-orders/po_none", {}],
    ["OPTIONS", "/api/v1/purchase-orders", { key: null }],
    ["POST", "/api/v1/purchase-orders", { body: { lineItems: 1 } }],
    ["POST", "/api/v1/purchase-orders", { body: "{" }],
    ["POST", "/api/v1/purchase-orders", { body: order, key: null }],
    ["POST", "/api/v1/purchase-orders", { body: order, headers: { "Content-Encoding": "gzip" } }],
  ] as const) {
    const forms = [];
    for (const host of ["openpo.test", "[::1]"])
      forms.push(
        comparable(
          await server.request(method, target, {
            ...options,
            headers: { Host: host, "Idempotency-Key": host, ...("headers" in options ? options.headers : {}) },
          }),
        ),
      );
    const [first, second] = forms;
    assert.deepEqual(first, second, `${method} ${target}`);
  }
});
