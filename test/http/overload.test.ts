/** A process that has more requests than it answers in time refuses further ones at once, and goes on answering (H13). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import type { AdmissionLimits } from "../../src/http/node/admission.ts";
import type { Surface } from "../../src/http/surface.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { exchange, statusesIn } from "../support/peers/raw.ts";
import { startServer } from "../support/server.ts";
import { pause, until } from "../support/until.ts";

const stepMs = 10;
const mebibyte = 1_048_576;
const crates = "/api/v1/crates";

/** Each request holds the event loop for a while, until the test has seen enough. */
function busySurface() {
  const seen = { answered: 0, enough: false };
  const surface: Surface = {
    path: "/busy",
    handle() {
      const endsAtMs = performance.now() + (seen.enough ? 0 : stepMs);
      while (performance.now() < endsAtMs);
      seen.answered += 1;
      return Promise.resolve(new Response("done"));
    },
  };
  return { surface, seen };
}

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

/** A server on which many requests wait: more than it answers while the test looks. */
async function startBusy(admission: AdmissionLimits) {
  const { surface, seen } = busySurface();
  const connectionLimits = { connectionsMax: 1_000, unreadBytesMax: mebibyte, admission };
  const server = await startServer({ operations: crateOperations(), surfaces: [surface], connectionLimits });
  assert.equal((await server.get(crates)).status, 200);
  const connections = await Promise.all(Array.from({ length: 400 }, () => open(server.port)));
  const asking = Promise.all(connections.map(({ ask }) => ask()));
  const finish = async (): Promise<ReadonlySet<string | undefined>> => {
    seen.enough = true;
    return new Set(await asking);
  };
  return { server, seen, finish, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("an overloaded process refuses requests in words and without an audit row, and answers health, metrics and those that wait (H13)", async () => {
  const admission = { startWaitMsMax: 300, startsWaitingMin: 10 };
  await using busy = await startBusy(admission);
  const { server, seen } = busy;
  // The others have come by then, however long the loop took to read them.
  await until("the first one is answered", () => seen.answered > 0);
  await pause(admission.startWaitMsMax + 50);
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
  // On a slow machine the last of those that came first are refused too.
  const statuses = await busy.finish();
  assert.ok(statuses.has("200"));
  assert.ok([...statuses].every((status) => status === "200" || status === "503"));
  assert.equal((await server.get(crates)).status, 200);
  const metrics = (await server.get("/metrics", { undocumented: true })).text;
  assert.ok(Number(/^openpo_errors_total\{operation="unknown",code="DO_OVERLOADED"\} (\d+)$/m.exec(metrics)?.[1]) >= 3);
  assert.equal((await server.audit()).length, 2);
});

test("connections that arrive together are accepted before the requests that wait", async () => {
  await using busy = await startBusy({ startWaitMsMax: 60_000, startsWaitingMin: 10 });
  const { server, seen } = busy;
  const health = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  await until("it answers", () => seen.answered > 0);
  const answeredBefore = seen.answered;
  const answers = await Promise.all(Array.from({ length: 100 }, () => exchange(server.port, health)));
  const startedMeanwhile = seen.answered - answeredBefore;
  await busy.finish();
  assert.deepEqual(new Set(answers.flatMap(statusesIn)), new Set(["200"]));
  assert.ok(startedMeanwhile <= 50, `${startedMeanwhile} requests started meanwhile, one for almost each connection`);
});
