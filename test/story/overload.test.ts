/** A process that has more requests than it answers in time refuses further ones at once, and goes on answering (H11). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Surface } from "../../src/http/surface.ts";
import { crateOperations } from "../support/operations.ts";
import { assertToldInWords, exchange, statusesIn } from "../support/raw.ts";
import { startServer } from "../support/server.ts";

const stepMs = 10;
const mebibyte = 1_048_576;

/** Holds the event loop. */
const busy: Surface = {
  path: "/busy",
  handle() {
    const endsAtMs = performance.now() + stepMs;
    while (performance.now() < endsAtMs);
    return Promise.resolve(new Response("done"));
  },
};

test("an overloaded process refuses requests in words and without an audit row, and answers health, metrics and those that wait", async () => {
  const admission = { startWaitMsMax: 100, startsWaitingMin: 10 };
  const connectionLimits = { connectionsMax: 1_000, unreadBytesMax: mebibyte, admission };
  await using server = await startServer({ operations: crateOperations(), surfaces: [busy], connectionLimits });
  const crates = "/api/v1/crates";
  assert.equal((await server.get(crates)).status, 200);
  const rows = (await server.audit()).length;
  const last = "Connection: close\r\n";
  const pipelined = `GET /busy HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
  const waiting = Array.from({ length: 80 }, () => exchange(server.port, pipelined));
  // Connections are accepted one by one, each beside a request that starts.
  const refusals = await (async () => {
    const found: Awaited<ReturnType<typeof server.get>>[] = [];
    while (found.length < 3) {
      const answer = await server.post(crates, { label: "x" }, { headers: { "Idempotency-Key": "overloaded" } });
      if (answer.status === 503) found.push(answer);
      else await sleep(1);
    }
    return found;
  })();
  for (const refused of refusals) {
    assert.equal(refused.at("error", "code"), "DO_OVERLOADED");
    assert.equal(refused.at("error", "retryable"), true);
    assert.ok(Number(refused.headers["retry-after"]) >= 1, String(refused.headers["retry-after"]));
    assert.equal(refused.headers["access-control-allow-origin"], "*");
  }
  for (const path of ["/healthz", "/readyz", "/metrics"])
    assert.equal((await server.get(path, { undocumented: true })).status, 200, path);
  const statuses = (await Promise.all(waiting)).map((text) => {
    const [status = ""] = statusesIn(text);
    if (status !== "200") assertToldInWords(text, "503");
    return status;
  });
  assert.ok(statuses.includes("200"));
  assert.equal((await server.get(crates)).status, 200);
  const metrics = (await server.get("/metrics", { undocumented: true })).text;
  assert.ok(Number(/^openpo_requests_refused_total (\d+)$/m.exec(metrics)?.[1]) >= refusals.length);
  assert.ok((await server.audit()).length <= rows + 3);
});
