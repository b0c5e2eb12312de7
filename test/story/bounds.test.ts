/** Bounds on what people and owners of a shop can make a process keep or hold open (docs/operating.md, "Sizes and limits"). */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bearersOfSessionMax,
  consoleViewsMax,
  eventStreamsMax,
  invitationsMax,
  operatorSessionsMax,
  peopleMax,
  sessionsOfPersonMax,
} from "../../src/core/limits.ts";
import { webhookEndpointsMax } from "../../src/core/webhooks.ts";
import { type Invitation, inviteStatements, type Person, personStatement } from "../../src/shop/people.ts";
import { askAdmin, fromPage, invite, signInAs, signInWith } from "../support/people.ts";
import { adminToken, startServer, type TestResponse } from "../support/server.ts";

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function assertFull(answered: TestResponse, words: RegExp): void {
  assert.equal(answered.status, 400, answered.text);
  assert.match(answered.textAt("error", "message"), words);
}

test("a session has twenty bearers and a person twenty sessions: beyond that the oldest ends", async () => {
  await using server = await startServer({ console: true });
  const read = async (key: string): Promise<number> =>
    (await server.get("/api/v1/purchase-orders?limit=1", { key })).status;
  const ana = await signInAs(server, "viewer");
  const bearers: string[] = [];
  for (let count = 0; count <= bearersOfSessionMax; count += 1) {
    server.clock.advance(1);
    bearers.push(await ana.bearer());
  }
  const statuses: number[] = [];
  for (const bearer of bearers) statuses.push(await read(bearer));
  assert.deepEqual(statuses, [401, ...many(bearersOfSessionMax, () => 200)]);

  const cookies: string[] = [];
  for (let count = 0; count <= sessionsOfPersonMax; count += 1) {
    server.clock.advance(1);
    cookies.push((await signInWith(server, { apiKey: server.readKey, name: "Ben" })).cookie);
  }
  const open: number[] = [];
  for (const cookie of cookies) open.push((await fromPage(server, "POST", "/token", { cookie })).status);
  assert.deepEqual(open, [401, ...many(sessionsOfPersonMax, () => 200)]);
});

test("the operator has a hundred sessions: beyond that the one that was not seen for longest ends", async () => {
  await using server = await startServer({ console: true });
  const cookies: string[] = [];
  for (let count = 0; count <= operatorSessionsMax; count += 1) {
    server.clock.advance(1);
    cookies.push((await signInWith(server, { adminToken })).cookie);
  }
  const status = async (index: number): Promise<number> =>
    (await fromPage(server, "POST", "/token", { cookie: cookies[index] ?? "" })).status;
  assert.deepEqual([await status(0), await status(1), await status(operatorSessionsMax)], [401, 200, 200]);
});

test("a shop has a thousand people, invitations and console views, and fifty webhook endpoints: one more is refused", async () => {
  await using server = await startServer({ console: true });
  const { engine, shopId } = server;
  const shop = `/shops/${shopId}`;
  const nowMs = server.clock.now();
  const secret = await invite(server, "viewer");
  const person = (index: number): Person => ({
    personId: `per_${index}`,
    name: `Person ${index}`,
    email: null,
    role: "viewer",
    keyId: null,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
  });
  const invitation = (index: number): Invitation => ({
    invitationId: `inv_${index}`,
    name: "Ana",
    email: null,
    role: "viewer",
    createdAtMs: nowMs,
    expiresAtMs: nowMs + 1_000,
    usedAtMs: null,
    personId: null,
    revokedAtMs: null,
  });
  await engine.write(shopId, (tx) => tx.batch(many(peopleMax, (index) => personStatement(shopId, person(index)))));
  assertFull(await fromPage(server, "POST", "/session", { body: { invitation: secret } }), /has 1000 people/);
  assertFull(
    await fromPage(server, "POST", "/session", { body: { apiKey: server.readKey, name: "Ben" } }),
    /has 1000 people/,
  );
  await engine.write(shopId, (tx) =>
    tx.batch(
      many(invitationsMax - 1, (index) => inviteStatements(shopId, invitation(index), `hash ${index}`, 0)).flat(),
    ),
  );
  const invited = { name: "Ana", role: "viewer" };
  assertFull(await askAdmin(server, "POST", `${shop}/invitations`, invited), /keeps 1000 invitations/);

  const view = { viewName: "A view", query: "status=Sent", isShared: true };
  const records = many(consoleViewsMax, (index) =>
    JSON.stringify({ type: "consoleView", viewId: `v${index}`, ...view }),
  );
  const brought = await askAdmin(server, "POST", `${shop}/import`, records.join("\n"), {
    headers: { "Content-Type": "application/x-ndjson" },
  });
  assert.equal(brought.status, 200, brought.text);
  assertFull(await askAdmin(server, "PUT", `${shop}/console-views/another`, view), /has 1000 views/);
  assert.equal((await askAdmin(server, "PUT", `${shop}/console-views/v1`, view)).status, 200);

  const endpoint = { url: "https://hooks.example.com/x", eventTypes: ["purchase_order.created"] };
  for (let count = 0; count < webhookEndpointsMax; count += 1)
    assert.equal((await askAdmin(server, "POST", `${shop}/webhook-endpoints`, endpoint)).status, 201);
  assertFull(await askAdmin(server, "POST", `${shop}/webhook-endpoints`, endpoint), /has 50 webhook endpoints/);
});

test("a process serves two hundred streams of events, refuses the next, and serves it when one has ended", async () => {
  await using server = await startServer({ console: true });
  const over = new AbortController();
  const follow = (signal: AbortSignal): Promise<Response> =>
    fetch(`${server.url}/admin/v1/shops/${server.shopId}/events/stream`, {
      headers: { Authorization: `Bearer ${adminToken}` },
      signal,
    });
  const first = new AbortController();
  await follow(first.signal);
  await Promise.all(many(eventStreamsMax - 1, () => follow(over.signal)));
  const refused = await follow(over.signal);
  assert.equal(refused.status, 503);
  assert.ok(refused.headers.has("retry-after"));
  assert.match(await refused.text(), /"DO_OVERLOADED"/);
  first.abort();
  let status = 503;
  while (status === 503) {
    const next = await follow(over.signal);
    ({ status } = next);
  }
  assert.equal(status, 200);
  over.abort();
});
