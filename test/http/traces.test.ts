/** The trace of a request: in the log, in the audit log, and passed on to what it asks of others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/operations/registry.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

test("a request's trace is on its log line, in its audit row and in the effects that it asks for", async () => {
  await using server = await startGoodsServer({ operations });
  await server.bringOrder("In Progress", [lineA]);
  const body = { lines: [{ lineItemId: "a", quantityReceived: 3 }] };
  const received = await server.post(server.order("/receive"), body, { headers: { traceparent } });
  assert.equal(received.status, 200, received.text);
  const [row] = await server.audit();
  assert.equal(row?.traceId, traceId);
  assert.match(row?.spanId ?? "", /^[0-9a-f]{16}$/);
  const line = server.logged.map((text): Record<string, unknown> => JSON.parse(text)).at(-1);
  assert.deepEqual([line?.["requestId"], line?.["traceId"], line?.["spanId"]], [row?.requestId, traceId, row?.spanId]);
  const effects = await server.engine.read(server.shopId, (tx) =>
    tx.all<{ kind: string }>("select kind from effect where shop_id = ? and traceparent = ?", [
      server.shopId,
      `00-${traceId}-${row?.spanId}-01`,
    ]),
  );
  assert.ok(
    effects.some(({ kind }) => kind === "push-stock"),
    JSON.stringify(effects),
  );
});

test("without a traceparent, or with a wrong one, each request begins a trace", async () => {
  await using server = await startGoodsServer({ operations });
  for (const headers of [{}, { traceparent: "00-0-0-00" }, { traceparent: [traceparent, traceparent] }])
    assert.equal((await server.get("/api/v1/purchase-orders", { headers })).status, 200);
  const traces = (await server.audit()).slice(0, 3).map((row) => row.traceId ?? "");
  for (const each of traces) assert.match(each, /^[0-9a-f]{32}$/);
  assert.equal(new Set([...traces, traceId]).size, 4);
});
