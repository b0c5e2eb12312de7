/** Bounds on what people and owners of a shop can make a process keep or hold open (docs/limits.md). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import { bearersOfSessionMax, peopleMax, sessionsOfPersonMax } from "../../src/people/sign-in.ts";
import { bodyMembersMax, objectMembersMax } from "../../src/base/json.ts";
import { consoleViewsMax } from "../../src/admin/console-views.ts";
import { eventHeartbeatMs, eventPollMs, eventStreamsMax, eventStreamsOfShopMax } from "../../src/admin/events.ts";
import { invitationsMax } from "../../src/admin/access/people.ts";
import { listeningSockets } from "../../src/http/node/server.ts";
import { messageBytesMax } from "../../src/mcp/app.ts";
import { operatorSessionsMax } from "../../src/store/engine-rules.ts";
import { signInBytesMax } from "../../src/people/sign-in.ts";
import { storedPlainBytesMax } from "../../src/requests/idempotency.ts";
import { webhookEndpointsMax } from "../../src/core/events/webhooks.ts";
import {
  exportPagesAtOnceMax,
  exportRecords,
  exportQueue,
  ordersPerPage,
  recordsPerPage,
} from "../../src/exchange/export.ts";
import { bodyBytesMax, BodyBudget } from "../../src/http/body.ts";
import { pageOfLog } from "../../src/shop/order/purchase-order-history.ts";
import { type Invitation, inviteStatements, type Person, personStatement } from "../../src/shop/access/people.ts";
import type { Engine } from "../../src/store/store.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { mcpHeaders } from "../support/mcp.ts";
import { askAdmin, fromPage, invite, signInAs, signInWith } from "../support/people.ts";
import { adminToken, startServer, type TestResponse, type TestServer } from "../support/server.ts";
import { pause, quiet, until } from "../support/until.ts";

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
    language: null,
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
  // Whom a key makes does not count among the shop's people (C49).
  const byKey = await fromPage(server, "POST", "/session", { body: { apiKey: server.readKey, name: "Ben" } });
  assert.equal(byKey.status, 201, byKey.text);
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
  assert.equal((await askAdmin(server, "PUT", "/shops/second", { name: "Second" })).status, 201);
  const follow = (signal: AbortSignal, shopId: string = server.shopId): Promise<Response> =>
    fetch(`${server.url}/admin/v1/shops/${shopId}/events/stream`, {
      headers: { Authorization: `Bearer ${adminToken}` },
      signal,
    });
  const first = new AbortController();
  // They are held: fetch gives up an answer that nothing refers to.
  const streams = [
    await follow(first.signal),
    // As many of one shop as it may have, and the rest of another.
    ...(await Promise.all(many(eventStreamsOfShopMax - 1, () => follow(over.signal)))),
    ...(await Promise.all(many(eventStreamsMax - eventStreamsOfShopMax, () => follow(over.signal, "second")))),
  ];
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
  assert.deepEqual([...new Set(streams.map((stream) => stream.status))], [200]);
  over.abort();
});

/** Counts what is asked of the engine until it is disposed of. */
function counting(engine: Engine, name: "read" | "peek") {
  const real = engine[name];
  const counted = {
    count: 0,
    [Symbol.dispose]: () => void Object.assign(engine, { [name]: real }),
  };
  Object.assign(engine, {
    [name]: (...args: readonly unknown[]): unknown => {
      counted.count += 1;
      return Reflect.apply(real, engine, args);
    },
  });
  return counted;
}

/** What a stream of the shop's events has sent so far. */
async function followed(server: TestServer, signal: AbortSignal): Promise<() => string> {
  const answer = await fetch(`${server.url}/admin/v1/shops/${server.shopId}/events/stream`, {
    headers: { Authorization: `Bearer ${adminToken}` },
    signal,
  });
  let text = "";
  const decoder = new TextDecoder();
  void (async () => {
    for await (const part of answer.body ?? []) text += decoder.decode(part);
  })().catch(() => {});
  return () => text;
}

test("all streams of a shop together look for new events every eventPollMs, and tell after eventHeartbeatMs that they are there", async () => {
  await using server = await startServer({ console: true });
  const over = new AbortController();
  try {
    const streams = await Promise.all(many(8, () => followed(server, over.signal)));
    await until("all streams are open", () => streams.every((text) => text() !== ""));
    {
      using looks = counting(server.engine, "peek");
      await quiet(3 * eventPollMs);
      assert.ok(looks.count >= 1 && looks.count <= 5, `${looks.count} looks`);
    }
    assert.ok(streams.every((text) => !text().includes("nothing new")));
    server.clock.advance(eventHeartbeatMs);
    await until("all are told", () => streams.every((text) => text().includes(": nothing new")));
  } finally {
    over.abort();
  }
});

test("a message to /mcp that is no tool call has at most messageBytesMax bytes", async () => {
  await using server = await startServer();
  const ping = async (bytes: number): Promise<readonly [number, string | undefined]> => {
    const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: {} });
    const sent = await server.post("/mcp", message.padEnd(bytes), { headers: mcpHeaders, undocumented: true });
    return [sent.status, sent.headers.connection];
  };
  assert.deepEqual(await ping(messageBytesMax), [200, "keep-alive"]);
  assert.equal((await ping(messageBytesMax + 1))[0], 400);
  // Most of it is not read, so the connection is closed, and its client is told.
  assert.deepEqual(await ping(bodyBytesMax), [400, "close"]);
});

test("a request and a message whose objects have more than bodyMembersMax members are refused, under a key with the same answer again", async () => {
  await using server = await startServer();
  const members = Object.fromEntries(many(objectMembersMax, (index) => [index.toString(36), 1]));
  const unknown = { lines: many(bodyMembersMax / objectMembersMax, () => members) };
  const tooMany = new RegExp(`more than ${bodyMembersMax} members`);
  const post = (key: string) =>
    server.post("/api/v1/purchase-orders", unknown, { headers: { "Idempotency-Key": key } });
  const first = await post("k");
  assertFull(first, tooMany);
  assert.equal((await post("k")).text, first.text);
  assertFull(await server.post("/api/v1/purchase-orders", unknown), tooMany);
  const params = { name: "purchase_order_create", arguments: unknown };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  assertFull(await server.post("/mcp", call, { headers: mcpHeaders, undocumented: true }), tooMany);
});

test("a sign-in has at most signInBytesMax bytes, which is told before anything of it is read", async () => {
  await using server = await startServer({ console: true });
  const signIn = (bytes: number) =>
    fromPage(server, "POST", "/session", { body: JSON.stringify({ adminToken: "wrong" }).padEnd(bytes) });
  assert.equal((await signIn(signInBytesMax)).status, 401);
  assertFull(await signIn(signInBytesMax + 1), /larger than/);
  // Neither is JSON.
  assertFull(await fromPage(server, "POST", "/session", { body: "[".repeat(bodyBytesMax) }), /larger than/);
  assertFull(await fromPage(server, "POST", "/session", { body: "[".repeat(signInBytesMax) }), /not valid JSON/);
});

test("bodies of one shop that arrive slowly leave room for those of others", async () => {
  const bodies = new BodyBudget({ bytesMax: 65_536 });
  await using server = await startServer({ console: true, bodies });
  const head = `POST /api/v1/purchase-orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.writeKey}\r\nContent-Length: 20000\r\n\r\n`;
  const slow = connect(server.port, "127.0.0.1");
  slow.write(head + " ".repeat(19_000));
  await until("it has arrived", () => bodies.bytes === 19_000);
  const order = JSON.stringify({ lineItems: [] });
  const refused = await server.post("/api/v1/purchase-orders", order.padEnd(16_000));
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.at("error", "code"), "DO_OVERLOADED");
  assert.equal((await server.post("/api/v1/purchase-orders", order.padEnd(10_000))).status, 201);
  const signedIn = await fromPage(server, "POST", "/session", { body: JSON.stringify({ adminToken }).padEnd(16_000) });
  assert.equal(signedIn.status, 201, signedIn.text);
  slow.destroy();
  await until("its memory is free", () => bodies.bytes === 0);
  assert.equal((await server.post("/api/v1/purchase-orders", order.padEnd(30_000))).status, 201);
});

test("lines of files that have not ended yet take the memory of bodies, and those of one shop leave room for others", async () => {
  const bodies = new BodyBudget({ bytesMax: 65_536 });
  await using server = await startServer({ console: true, bodies });
  const line = JSON.stringify({ type: "location", locationId: "l-1", name: "Depot" });
  const head = `POST /admin/v1/shops/${server.shopId}/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Length: 90000\r\n\r\n`;
  const slow = connect(server.port, "127.0.0.1");
  slow.write(`${head}${line}\n${" ".repeat(19_000)}`);
  await until("the second line has begun", () => bodies.bytes === 19_000);
  const importOf = (file: string) => askAdmin(server, "POST", `/shops/${server.shopId}/import`, file);
  const refused = await importOf(line.padEnd(30_000));
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.at("error", "code"), "DO_OVERLOADED");
  assert.equal((await importOf(`${line}\n`.repeat(1_000))).status, 200, "a file of short lines takes little");
  slow.destroy();
  await until("its memory is free", () => bodies.bytes === 0);
  assert.equal((await importOf(line.padEnd(30_000))).status, 200);
  assert.equal(bodies.bytes, 0);
});

test(
  "listeningSockets sockets listen on the port",
  { skip: process.platform !== "linux" && "other systems have one" },
  async () => {
    await using server = await startServer();
    const address = `0100007F:${server.port.toString(16).toUpperCase().padStart(4, "0")}`;
    const listening = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .filter((line) => new RegExp(`^ *\\d+: ${address} [0-9A-F:]+ 0A `).test(line));
    assert.equal(listening.length, listeningSockets);
  },
);

test("an export reads recordsPerPage records or ordersPerPage orders at a time, and waits until they are asked for", async () => {
  await using server = await startGoodsServer();
  const variants = many(2 * recordsPerPage, (index) => ({
    type: "variant",
    variantId: `v${index}`,
    productId: "p",
    productName: "Mug",
  }));
  const orders = many(2 * ordersPerPage + 1, (index) => ({
    type: "purchaseOrder",
    purchaseOrderId: `o${index}`,
    poNumber: `N-${index}`,
    lineItems: [],
  }));
  await server.bring([...variants, ...orders]);
  using reads = counting(server.engine, "read");
  const lines: Record<string, number[]> = { variant: [], purchaseOrder: [] };
  let pieces = 0;
  for await (const piece of exportRecords(server.engine, server.shopId)) {
    pieces += 1;
    const before = reads.count;
    await quiet(1);
    assert.equal(reads.count, before, "nothing is read ahead");
    for (const [type, counts] of Object.entries(lines)) {
      const count = piece.split(`{"type":"${type}"`).length - 1;
      if (count > 0) counts.push(count);
    }
  }
  assert.ok(reads.count >= pieces);
  assert.deepEqual(lines, {
    variant: [recordsPerPage, recordsPerPage, 3],
    purchaseOrder: [ordersPerPage, ordersPerPage, 1],
  });
});

test("an export has each order's own history, oldest first", async () => {
  await using server = await startGoodsServer();
  const orders = ["first", "second"];
  for (const note of ["one", "two", "three"])
    for (const purchaseOrderId of orders)
      if (note === "one")
        await server.bring([{ type: "purchaseOrder", purchaseOrderId, poNumber: purchaseOrderId, lineItems: [] }]);
      else await server.patch(`/api/v1/purchase-orders/${purchaseOrderId}`, { poName: `${purchaseOrderId} ${note}` });
  const logs = await Promise.all(
    orders.map((id) => server.engine.read(server.shopId, (tx) => pageOfLog(tx, server.shopId, id, null, null))),
  );
  const newestFirst = logs.map(({ entries }) => entries.map(({ logId }) => logId));
  let text = "";
  for await (const piece of exportRecords(server.engine, server.shopId)) text += piece;
  const placesOf = (ids: readonly string[]) => ids.map((id) => text.indexOf(`"${id}"`));
  const places = newestFirst.map((ids) => placesOf(ids.toReversed()));
  assert.ok(places.every((each) => each.length >= 2 && each.every((place) => place > 0)));
  const inFile = orders.flatMap((id, index) => [text.indexOf(`"purchaseOrderId":"${id}"`), ...(places[index] ?? [])]);
  assert.deepEqual(
    inFile,
    inFile.toSorted((a, b) => a - b),
  );
});

test("the exports of a process read exportPagesAtOnceMax pages at once, one of a shop", async () => {
  const exports = exportQueue();
  let running = 0;
  let most = 0;
  const shops = new Set<string>();
  const page = (shopId: string) => async (): Promise<void> => {
    assert.equal(shops.has(shopId), false, "one of a shop");
    shops.add(shopId);
    most = Math.max(most, (running += 1));
    await pause(1);
    running -= 1;
    shops.delete(shopId);
  };
  await Promise.all(many(24, (index) => exports.run(`s${index % 4}`, page(`s${index % 4}`))));
  assert.equal(most, exportPagesAtOnceMax);
});

test("exports asked for by HTTP share the turns, wait as long as it takes, and give up their place when their client leaves", async () => {
  const exports = exportQueue();
  await using server = await startGoodsServer({ console: true, exports });
  const { shopId } = server;
  await server.bring(
    many(2 * ordersPerPage, (index) => ({
      type: "purchaseOrder",
      purchaseOrderId: `o${index}`,
      poNumber: `N-${index}`,
      lineItems: [],
    })),
  );
  const run = exports.run.bind(exports);
  let pages = 0;
  /** Before this page the shop's turn is taken by something else, until `free` is called. */
  let heldAtPage = 0;
  let free = (): void => {};
  using atEnd = new DisposableStack();
  atEnd.defer(() => free());
  const hold = (): void => {
    const { promise, resolve } = Promise.withResolvers<void>();
    free = resolve;
    void run(shopId, () => promise);
  };
  exports.run = (...args) => {
    pages += 1;
    if (pages === heldAtPage) hold();
    return run(...args);
  };
  const asked = (signal: AbortSignal | null = null) =>
    fetch(`${server.url}/admin/v1/shops/${shopId}/export`, {
      headers: { Authorization: `Bearer ${adminToken}` },
      signal,
    });
  const waiting = (count: number) =>
    until(
      () => `${count} waiting: ${exports.waiting}`,
      () => exports.waiting === count,
    );
  const whole = await (await asked()).text();
  const pagesOfOne = pages;

  hold();
  const leaving = new AbortController();
  const leavers = [asked(leaving.signal), asked(leaving.signal)];
  const staying = [asked(), asked()];
  await waiting(4);
  leaving.abort();
  for (const leaver of leavers) await assert.rejects(leaver, { name: "AbortError" });
  await waiting(2);
  free();
  for (const answer of staying) assert.equal(await (await answer).text(), whole);
  assert.equal(pages, 3 * pagesOfOne + leavers.length, "those that left asked for a page each and read none");

  pages = 0;
  heldAtPage = pagesOfOne;
  const leavingLate = new AbortController();
  const begun = await asked(leavingLate.signal);
  assert.equal(begun.status, 200);
  const text = begun.text();
  await waiting(1);
  leavingLate.abort();
  await assert.rejects(text, { name: "AbortError" });
  await waiting(0);
  free();
  assert.deepEqual(
    server.logged.filter((line) => line.includes('"level":"error"')),
    [],
  );
});

test("an answer is stored as it is up to storedPlainBytesMax characters, and compressed beyond", async () => {
  await using server = await startGoodsServer();
  const { engine, shopId } = server;
  const keyed = (key: string, body: object) =>
    server.post("/api/v1/purchase-orders", body, { headers: { "Idempotency-Key": key } });
  const lineItems = many(50, (index) => ({ variantId: "red", quantityOrdered: index + 1, unitCost: 1 }));
  // A shorter one that would be much smaller compressed: its mistakes are alike.
  const wrong = { lineItems: many(9, () => ({ variantId: 1 })) };
  const answers = [await keyed("large", { lineItems }), await keyed("refused", wrong)];
  assert.deepEqual(
    answers.map(({ status, text }) => [status, text.length > storedPlainBytesMax]),
    [
      [201, true],
      [400, false],
    ],
  );
  const rows = await engine.read(shopId, (tx) =>
    tx.all<{ encoding: string | null }>(
      "select encoding from idempotency_record where shop_id = ? order by idempotency_key",
      [shopId],
    ),
  );
  assert.deepEqual(
    rows.map(({ encoding }) => encoding !== null),
    [true, false],
  );
});
