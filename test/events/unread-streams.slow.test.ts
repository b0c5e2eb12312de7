/**
 * Readers of event streams who read nothing: what they are sent is bounded, they are cut, and nobody else waits for them (C58, H9).
 *
 * Runs alone: another file's work would be in how long other requests wait.
 */
// Only on sqlite: its subject is how requests come in, not where their data are.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { eventHeartbeatMs, eventPollMs, eventStreamsMax, eventStreamsOfShopMax } from "../../src/admin/events.ts";
import { eventStatements } from "../../src/shop/events/events.ts";
import { heldBytes } from "../support/programs/garbage.ts";
import { exchange, sendUnread, statusesIn } from "../support/peers/raw.ts";
import { adminToken, startServer, type TestServer } from "../support/server.ts";
import { pause, quiet, until } from "../support/until.ts";

const stalledCount = 20;
const eventCount = 1_000;
const eventBytes = 16_000;
const silenceMs = 3_000;
/** All that the stalled readers would be sent is more than four times as much. */
const growthMax = 75 * 1_048_576;

/** A request for the shop's stream of events. */
const following = ({ shopId }: Pick<TestServer, "shopId">, after: number): string =>
  `GET /admin/v1/shops/${shopId}/events/stream?after=${after} HTTP/1.1\r\nHost: x\r\n` +
  `Authorization: Bearer ${adminToken}\r\n\r\n`;

async function addEvents({ engine, shopId, ids, clock }: TestServer, count: number): Promise<void> {
  const pad = "x".repeat(eventBytes);
  const actor = { type: "system", id: null, name: null } as const;
  for (let left = count; left > 0; left -= 50)
    await engine.write(shopId, (tx) =>
      tx.batch(
        Array.from({ length: Math.min(50, left) }, () =>
          eventStatements(
            shopId,
            { type: "import.completed", data: { pad } },
            { actor, requestId: null, traceparent: null, nowMs: clock.now(), ids },
          ),
        ).flat(),
      ),
    );
}

/** Reads a stream and counts its events. */
async function reading(
  server: Pick<TestServer, "port" | "shopId">,
  after: number,
): Promise<{ readonly socket: Socket; readonly ids: number[] }> {
  const socket = await sendUnread(server.port, following(server, after));
  const ids: number[] = [];
  let rest = "";
  socket.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("id: ")) ids.push(Number(line.slice(4)));
  });
  socket.resume();
  return { socket, ids };
}

test("streams that nobody reads hold little memory and are cut; another reader gets every event meanwhile", async () => {
  const waitLimits = { silenceMs, arrivalMs: 200, drainMs: 600 };
  await using server = await startServer({ console: true, waitLimits });
  await addEvents(server, eventCount);
  // Reads the same once before: what that takes is not the stalled readers'.
  const before = await reading(server, 0);
  await until("all events are read", () => before.ids.length === eventCount);
  before.socket.destroy();
  const startedWith = heldBytes();
  const stalled: Socket[] = [];
  for (let count = 0; count < stalledCount; count += 1)
    stalled.push(await sendUnread(server.port, following(server, 0)));
  const good = await reading(server, 0);
  const cuts = (): number =>
    server.logged.filter((line) => line.includes("an answer that nobody reads is cut off")).length;
  await pause(silenceMs / 2);
  // Pages that are just being read are not held: the least counts, while all readers are stalled.
  let heldMore = heldBytes() - startedWith;
  await until("little is held, or somebody is cut", () => {
    heldMore = Math.min(heldMore, heldBytes() - startedWith);
    return heldMore < growthMax || cuts() > 0;
  });
  assert.ok(heldMore < growthMax, `${Math.round(heldMore / 1_048_576)} MiB more`);
  await until("all are cut", async () => {
    assert.equal((await server.get("/healthz", { key: null, undocumented: true })).status, 200);
    return cuts() >= stalledCount;
  });
  await until("the good reader has all", () => good.ids.length === eventCount);
  await addEvents(server, 1);
  await until("it gets the next", () => good.ids.length === eventCount + 1);
  assert.deepEqual(
    good.ids,
    Array.from({ length: eventCount + 1 }, (_, index) => index + 1),
  );
  for (const socket of [...stalled, good.socket]) socket.destroy();
});

interface OpenStream {
  readonly socket: Socket;
  readonly shopId: string;
  readonly status: string | undefined;
}

test("a process serves a bounded number of streams; the place of a reader who left is free", async () => {
  await using server = await startServer({ console: true });
  const second = { key: adminToken, undocumented: true, body: { name: "Second" } };
  assert.equal((await server.request("PUT", "/admin/v1/shops/second-shop", second)).status, 201);
  const streams: OpenStream[] = [];
  const asked = async (): Promise<OpenStream> => {
    // As many of one shop as it may have; then of the next.
    const ofFirst = streams.filter(({ shopId, status }) => shopId === server.shopId && status === "200");
    const shopId = ofFirst.length < eventStreamsOfShopMax ? server.shopId : "second-shop";
    const { socket } = await reading({ port: server.port, shopId }, 0);
    const text = await new Promise<string>((resolve) =>
      socket.once("data", (chunk: Buffer) => resolve(chunk.toString())),
    );
    return { socket, shopId, status: statusesIn(text)[0] };
  };
  // One after another: 200 requests at once may be more than a busy machine answers in time.
  while (streams.length < eventStreamsMax) {
    const stream = await asked();
    streams.push(stream);
    assert.equal(stream.status, "200");
  }
  const one = await asked();
  assert.equal(one.status, "503");
  streams.shift()?.socket.destroy();
  const placeFreed = async (): Promise<string | undefined> => {
    const next = await asked();
    streams.push(next);
    return next.status;
  };
  await until("the place of a reader who left is free", async () => (await placeFreed()) === "200");
  assert.equal(await placeFreed(), "503");
  assert.equal(
    statusesIn(await exchange(server.port, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))[0],
    "200",
  );
  for (const { socket } of [...streams, one]) socket.destroy();
});

test("a stream on which nothing is new for 15 s says that it is alive; an event says so too", async () => {
  await using server = await startServer({ console: true });
  const socket = await sendUnread(server.port, following(server, 0));
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.resume();
  const signs = (): number => text.match(/^: nothing new$/gm)?.length ?? 0;
  await until("the stream begins", () => text.includes(": the events after 0"));
  server.clock.advance(eventHeartbeatMs - 2_000);
  await addEvents(server, 1);
  await until("the event comes", () => text.includes("id: 1\n"));
  server.clock.advance(eventHeartbeatMs - 5_000);
  await quiet(3 * eventPollMs);
  assert.equal(signs(), 0, "15 s begin with the event");
  for (const count of [1, 2]) {
    server.clock.advance(eventHeartbeatMs);
    await until(`sign ${count}`, () => signs() === count);
  }
  socket.destroy();
});
