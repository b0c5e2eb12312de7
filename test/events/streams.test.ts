/** Streams of events of people: their shares, and their end with whoever follows (C58, C61a). */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { eventStreamsMax, eventStreamsOfPersonMax, eventStreamsOfShopMax } from "../../src/admin/events.ts";
import { askAdmin, fromPage, signInAs, signInWith, type SignedInPerson } from "../support/people.ts";
import { sendUnread, statusesIn } from "../support/peers/raw.ts";
import { adminToken, startServer, type TestServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

interface Stream {
  readonly socket: Socket;
  readonly text: () => string;
  readonly isOver: () => boolean;
}

/** Follows the shop's events and waits until the answer has begun. */
async function follow(server: TestServer, bearer: string, shopId = server.shopId): Promise<Stream> {
  const socket = await sendUnread(
    server.port,
    `GET /admin/v1/shops/${shopId}/events/stream?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n\r\n`,
  );
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.resume();
  await until("the answer begins", () => text.includes("\r\n\r\n"));
  return { socket, text: () => text, isOver: () => text.endsWith("\r\n0\r\n\r\n") };
}

const statusOf = ({ text }: Stream): string | undefined => statusesIn(text())[0];

test("a person, and a shop, has a share of the streams: others follow theirs meanwhile", async () => {
  await using server = await startServer({ console: true });
  await askAdmin(server, "PUT", "/shops/other", { name: "Other" });
  const streams: Stream[] = [];
  const open = async (bearer: string, shopId?: string): Promise<string | undefined> => {
    const stream = await follow(server, bearer, shopId);
    streams.push(stream);
    return statusOf(stream);
  };
  const ana = await (await signInAs(server, "viewer")).bearer();
  const people = [ana, await (await signInAs(server, "viewer")).bearer()];
  for (let count = 0; count < eventStreamsOfPersonMax; count += 1)
    for (const bearer of people) assert.equal(await open(bearer), "200");
  for (const bearer of people) assert.equal(await open(bearer), "503");
  while (streams.filter((stream) => statusOf(stream) === "200").length < eventStreamsOfShopMax)
    assert.equal(await open(adminToken), "200");
  assert.equal(await open(adminToken), "503");
  assert.equal(await open(await (await signInAs(server, "owner")).bearer()), "503");
  assert.equal(await open(adminToken, "other"), "200");
  assert.ok(eventStreamsOfShopMax < eventStreamsMax);
  // A place that was given back is somebody's again.
  streams[0]?.socket.destroy();
  await until("a place is free", async () => (await open(ana)) === "200");
  for (const { socket } of streams) socket.destroy();
});

/** What ends a bearer, or what it may ask for. */
const ends: Readonly<Record<string, (server: TestServer, person: SignedInPerson) => Promise<unknown>>> = {
  "the person is deleted": (server, { personId }) =>
    askAdmin(server, "DELETE", `/shops/${server.shopId}/people/${personId}`),
  "they sign out": (server, { cookie }) => fromPage(server, "DELETE", "/session", { cookie }),
  "their sessions end": (server, { cookie }) => fromPage(server, "DELETE", "/sessions", { cookie }),
  "the session is revoked": async (server) => {
    const sessions = await askAdmin(server, "GET", `/shops/${server.shopId}/sessions`);
    await askAdmin(
      server,
      "DELETE",
      `/shops/${server.shopId}/sessions/${sessions.textAt("data", "sessions", 0, "sessionId")}`,
    );
  },
};

/** Events as a stream has them: what is told, not what is heard of the stream itself. */
const eventCount = ({ text }: Stream): number => text().match(/^id: /gm)?.length ?? 0;

/** After the end, an event comes; the stream is over without it. */
async function assertEnds(server: TestServer, stream: Stream, end: () => Promise<unknown>): Promise<void> {
  await server.post("/api/v1/purchase-orders", {});
  await until("an event is followed", () => eventCount(stream) > 0);
  const before = eventCount(stream);
  await end();
  await server.post("/api/v1/purchase-orders", { poName: "after the end" });
  await until("the stream is over", () => stream.isOver());
  assert.equal(eventCount(stream), before, "nothing is told after the end");
}

for (const [what, end] of Object.entries(ends))
  test(`a stream ends before its next event when ${what}`, async () => {
    await using server = await startServer({ console: true });
    const person = await signInAs(server, "viewer");
    await assertEnds(server, await follow(server, await person.bearer()), () => end(server, person));
  });

test("a stream ends before its next event when the key of who follows is paused, and when it is revoked", async () => {
  await using server = await startServer({ console: true });
  for (const [method, body] of [
    ["PATCH", { paused: true }],
    ["DELETE", undefined],
  ] as const) {
    const { keyId, apiKey } = await server.addKey("read");
    const person = await signInWith(server, { apiKey, name: `With ${keyId}` });
    const path = `/shops/${server.shopId}/keys/${keyId}`;
    await assertEnds(server, await follow(server, await person.bearer()), () => askAdmin(server, method, path, body));
  }
});

test("a stream that a lesser role may follow goes on", async () => {
  await using server = await startServer({ console: true });
  const ana = await signInAs(server, "purchaser");
  const stream = await follow(server, await ana.bearer());
  await askAdmin(server, "PATCH", `/shops/${server.shopId}/people/${ana.personId}`, { role: "viewer" });
  await server.post("/api/v1/purchase-orders", {});
  await until("the event comes", () => eventCount(stream) === 1);
  stream.socket.destroy();
});

test(
  "a stream of one node ends before its next event when another node has ended the session",
  { skip: !onPostgres },
  async () => {
    await using server = await startServer({ console: true });
    await using other = await startServer({ console: true, beside: server });
    const ana = await signInAs(server, "viewer");
    const stream = await follow(server, await ana.bearer());
    await assertEnds(other, stream, () => askAdmin(other, "DELETE", `/shops/${other.shopId}/people/${ana.personId}`));
  },
);
