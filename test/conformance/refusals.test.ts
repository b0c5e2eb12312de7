/**
 * The errors that every operation can answer with. The tests make each operation fail: without a plan, without rate limit tokens, without
 * access to the shop's data or the storefront, with a bug, and with a too large answer. Every answer is checked against the document.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { bindingOf } from "../../src/http/routes.ts";
import type { RestOperation } from "../../src/requests/operation.ts";
import { restOperations } from "../../src/operations/registry.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { world } from "../support/shops/read-only.ts";
import { ids, ready, view } from "../support/openapi/ready.ts";
import { exampleRequest, spelled } from "../support/openapi/requests.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";

/** A method that may be called without its object. */
function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === "function" ? value.bind(target) : value;
}

const ask = (server: TestServer, operation: RestOperation): Promise<TestResponse> => {
  const { target, body } = exampleRequest(bindingOf(operation));
  return server.request(operation.route.method, target, { body });
};

test("without the plan every operation is 403 PLAN_REQUIRED", async () => {
  await using server = await startServer({ shop: { planRestApi: false } });
  for (const operation of restOperations) {
    const answer = await ask(server, operation);
    assert.equal(answer.status, 403, operation.name);
    assert.equal(answer.at("error", "code"), "PLAN_REQUIRED");
  }
});

test("with an empty bucket every operation is 429 with a Retry-After", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 1, refillPerSecond: 0.001 } } });
  await server.get("/api/v1/purchase-orders");
  for (const operation of restOperations) {
    const answer = await ask(server, operation);
    assert.equal(answer.status, 429, operation.name);
    assert.ok(Number(answer.headers["retry-after"]) > 100);
  }
});

test("when the shop's data is unavailable every operation is a retryable 503", async () => {
  const unavailable = (): never => {
    throw new Fault("DO_UNAVAILABLE", "The shop's file cannot be read.", { retryAfterMs: 5_000 });
  };
  await using server = await startServer({
    perform: ({ engine }) => ({
      engine: new Proxy(engine, {
        get: (target, name) => (name === "read" || name === "admit" ? unavailable : bound(target, name)),
      }),
    }),
  });
  for (const operation of restOperations) {
    const answer = await ask(server, operation);
    assert.equal(answer.status, 503, operation.name);
    assert.equal(answer.headers["retry-after"], "5");
  }
});

test("a bug in any operation is 500 INTERNAL without details", async () => {
  const broken = restOperations.map((operation): RestOperation => ({
    ...operation,
    run: () => Promise.reject(new TypeError("the secret of the bug")),
  }));
  await using server = await startServer({ operations: broken });
  for (const operation of restOperations) {
    const answer = await ask(server, operation);
    assert.equal(answer.status, 500, operation.name);
    assert.ok(!answer.text.includes("secret"));
  }
});

/** Imports the order `po_1` anew and sends the operation a request that succeeds on it or on the read-only records. */
async function askReady(
  server: Awaited<ReturnType<typeof startGoodsServer>>,
  operation: RestOperation,
): Promise<TestResponse> {
  const [status, line, input] = ready[operation.name] ?? ["Draft", lineA, {}];
  await server.bringOrder(status, [line]);
  const { status: _status, ...example } = exampleOf(operation);
  const asked = operation.scope === "write" ? { ...exampleOf(operation), resolutions: undefined } : example;
  const merged: unknown = JSON.parse(
    JSON.stringify({ ...asked, cursor: undefined, variantIds: undefined, ...ids, ...input }),
  );
  const known = Object.entries(merged as Record<string, never>).filter(([name]) => name in operation.input.shape);
  const { target, body } = spelled(bindingOf(operation), Object.fromEntries(known));
  return server.request(operation.route.method, target, { body });
}

test("every operation succeeds on existing records", async () => {
  await using server = await startGoodsServer();
  await server.bring([...world, view]);
  for (const operation of restOperations) {
    const answer = await askReady(server, operation);
    assert.equal(answer.status, operation.success, `${operation.name}: ${answer.text}`);
    // The next operation must not find a push in flight.
    if (operation.name in ready) await server.settled();
  }
});

test("an answer above the size limit is 413 for every operation, and nothing is changed", async () => {
  await using server = await startGoodsServer({ responseBytesMax: 20 });
  await server.bring([...world, view]);
  for (const operation of restOperations) {
    const answer = await askReady(server, operation);
    assert.equal(answer.status, 413, `${operation.name}: ${answer.text}`);
    assert.equal(answer.at("error", "code"), "OUTPUT_TOO_LARGE");
  }
});

test("a storefront that fails or hangs in the guard is 502 or 504 in every operation that documents these", async () => {
  await using server = await startGoodsServer();
  for (const [fault, call, status] of [
    ["UPSTREAM_STOREFRONT", "error", 502],
    ["TIMEOUT", "timeout", 504],
  ] as const)
    for (const operation of restOperations.filter((each) => each.faults.includes(fault))) {
      await server.faults([{ outcome: call }]);
      const answer = await askReady(server, operation);
      assert.equal(answer.status, status, `${operation.name}: ${answer.text}`);
      await server.faults([]);
    }
});
