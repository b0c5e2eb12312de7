/** A process that has more requests than it answers in time refuses further ones at once, and goes on answering (H13). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Surface } from "../../src/http/surface.ts";
import { crateOperations } from "../support/operations.ts";
import { statusesIn } from "../support/raw.ts";
import { startServer } from "../support/server.ts";

const stepMs = 10;
const mebibyte = 1_048_576;
const crates = "/api/v1/crates";

/** Holds the event loop. */
const busy: Surface = {
  path: "/busy",
  handle() {
    const endsAtMs = performance.now() + stepMs;
    while (performance.now() < endsAtMs);
    return Promise.resolve(new Response("done"));
  },
};

/** Opens a connection that the server has accepted. `ask` sends a request for `/busy` and resolves with the status of its answer. */
async function open(port: number): Promise<{ readonly ask: () => Promise<string | undefined> }> {
  const socket = connect(port, "127.0.0.1");
  const answered = async (): Promise<string | undefined> => {
    const [head]: unknown[] = await once(socket, "data");
    return statusesIn(String(head))[0];
  };
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.equal(await answered(), "200");
  return {
    ask: async () => {
      socket.write("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n");
      const status = await answered();
      socket.destroy();
      return status;
    },
  };
}

test("an overloaded process refuses requests in words and without an audit row, and answers health, metrics and those that wait", async () => {
  const admission = { startWaitMsMax: 100, startsWaitingMin: 10 };
  const connectionLimits = { connectionsMax: 1_000, unreadBytesMax: mebibyte, admission };
  await using server = await startServer({ operations: crateOperations(), surfaces: [busy], connectionLimits });
  assert.equal((await server.get(crates)).status, 200);
  const connections = await Promise.all(Array.from({ length: 80 }, () => open(server.port)));
  const waiting = connections.map(({ ask }) => ask());
  await sleep(admission.startWaitMsMax + 50);
  for (let count = 0; count < 3; count += 1) {
    const refused = await server.post(crates, { label: "x" }, { headers: { "Idempotency-Key": "overloaded" } });
    assert.equal(refused.status, 503);
    assert.equal(refused.at("error", "code"), "DO_OVERLOADED");
    assert.equal(refused.at("error", "retryable"), true);
    assert.ok(Number(refused.headers["retry-after"]) >= 1, String(refused.headers["retry-after"]));
    assert.equal(refused.headers["access-control-allow-origin"], "*");
  }
  for (const path of ["/healthz", "/readyz", "/metrics"])
    assert.equal((await server.get(path, { undocumented: true })).status, 200, path);
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(["200"]));
  assert.equal((await server.get(crates)).status, 200);
  const metrics = (await server.get("/metrics", { undocumented: true })).text;
  assert.match(metrics, /^openpo_errors_total\{operation="unknown",code="DO_OVERLOADED"\} 3$/m);
  assert.equal((await server.audit()).length, 2);
});
