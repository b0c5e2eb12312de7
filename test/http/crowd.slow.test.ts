/** Connections that ask nothing, and requests that wait, in numbers that no client needs: both are bounded (H7, H10). */
// Only on sqlite: its subject is how requests come in, not where their data are.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { connectionsRefusedAtOnceMax, pipelinedReadMax, requestsWaitingMax } from "../../src/http/node/connections.ts";
import { unreadBytesMax } from "../../src/http/node/server.ts";
import type { Surface } from "../../src/http/surface.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { assertToldInWords, statusesIn } from "../support/peers/raw.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

interface Line {
  readonly socket: Socket;
  readonly received: () => string;
}

async function open(port: number): Promise<Line> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
  socket.on("error", () => {});
  await once(socket, "connect");
  return { socket, received: () => text };
}

test("of the connections beyond the limit that ask nothing, the oldest is refused when there are too many (H10)", async () => {
  const connectionLimits = { connectionsMax: 2, unreadBytesMax };
  await using server = await startServer({ operations: crateOperations(), connectionLimits });
  const served = [await open(server.port), await open(server.port)];
  const oldest = await open(server.port);
  const silent = await Promise.all(many(connectionsRefusedAtOnceMax - 1, () => open(server.port)));
  assert.equal(oldest.received(), "");
  const next = await open(server.port);
  await until("refused", () => oldest.received() !== "");
  assertToldInWords(oldest.received(), "503");
  assert.match(oldest.received(), /"DO_OVERLOADED"/);
  assert.ok([...silent, next].every((line) => line.received() === ""));
  for (const { socket } of [...served, ...silent, next, oldest]) socket.destroy();
});

test("requests that wait for the answers before them are bounded over all connections (H7)", async () => {
  const gate = Promise.withResolvers<void>();
  const slow: Surface = {
    path: "/slow",
    async handle() {
      await gate.promise;
      return new Response("done");
    },
  };
  await using server = await startServer({ operations: crateOperations(), surfaces: [slow] });
  const each = pipelinedReadMax - 1;
  const full = Math.floor(requestsWaitingMax / (each - 1));
  const requests = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n".repeat(each);
  const lines: Line[] = [];
  for (let count = 0; count <= full; count += 1) {
    const line = await open(server.port);
    line.socket.write(requests);
    lines.push(line);
  }
  const last = lines.at(-1);
  assert.equal((await server.get("/api/v1/crates")).status, 200, "a request that waits behind no other is served");
  gate.resolve();
  await until("refused", () => statusesIn(last?.received() ?? "").includes("503"));
  const text = last?.received() ?? "";
  assertToldInWords(text, "503");
  assert.match(text, /Too many requests wait/);
  const answered = statusesIn(text).filter((status) => status === "200").length;
  assert.equal(answered, requestsWaitingMax - full * (each - 1) + 1);
  for (const { socket } of lines) socket.destroy();
});
