/**
 * The events of a shop over HTTP (C56–C58): what makes one, how they are read again, and how they are followed.
 */
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { z } from "zod";
import { sweepEveryRequests } from "../../src/requests/write/sweeps.ts";
import { eventsKeptMs } from "../../src/core/events/events.ts";
import { eventsAfter } from "../../src/shop/events/events.ts";
import { type RunningProgram, withProgram } from "../support/process.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const eventSchema = z.strictObject({
  eventId: z.string(),
  sequence: z.int(),
  type: z.string(),
  timestamp: z.string(),
  shopId: z.string(),
  actor: z.strictObject({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
  requestId: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
const pageSchema = z.strictObject({
  events: z.array(eventSchema),
  totalCount: z.int(),
  cursor: z.string().nullable(),
  lastSequence: z.int(),
});

const events = "/admin/v1/shops/shop/events";
const orders = "/api/v1/purchase-orders";

interface Shop {
  readonly program: RunningProgram;
  readonly token: string;
  readonly apiKey: string;
  readonly keyId: string;
  readonly call: (method: string, path: string, body?: object) => ReturnType<RunningProgram["ask"]>;
  readonly page: (query?: string) => Promise<z.output<typeof pageSchema>>;
}

/** A shop with a variant, a location and a key: two events. */
async function withShop(use: (shop: Shop) => Promise<void>): Promise<void> {
  await withProgram(async (program, token) => {
    await program.ask("PUT", "/admin/v1/shops/shop", token, { name: "Shop", currencyCode: "EUR" });
    const key = await program.ask("POST", "/admin/v1/shops/shop/keys", token, { name: "bot", scope: "write" });
    const records = [
      { type: "location", locationId: "dock", name: "Dock" },
      { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt", unitCost: 4, sku: "R-1" },
    ];
    const file = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    const brought = await program.ask("POST", "/admin/v1/shops/shop/import", token, file);
    assert.equal(brought.status, 200, brought.text);
    const apiKey = String(key.at("data", "apiKey"));
    await use({
      program,
      token,
      apiKey,
      keyId: String(key.at("data", "keyId")),
      call: (method, path, body) => program.ask(method, path, apiKey, body),
      async page(query = "?limit=500") {
        const answered = await program.ask("GET", events + query, token);
        assert.equal(answered.status, 200, answered.text);
        return pageSchema.parse(answered.at("data"));
      },
    });
  });
}

test("every change of an order is one event with the log's time, actor and request; nothing else is one", async () => {
  await withShop(async ({ program, token, keyId, call, page }) => {
    const made = await call("POST", orders, {
      locationId: "dock",
      lineItems: [{ variantId: "red", quantityOrdered: 10, unitCost: 4 }],
    });
    const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
    const lineItemId = String(made.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId"));
    const at = `${orders}/${id}`;
    const asked: [string, string, object, number][] = [
      ["PATCH", at, { note: "soon" }, 200],
      ["PATCH", at, { note: "soon" }, 200],
      ["POST", `${at}/receive`, { lines: [{ lineItemId, quantityReceived: 1 }] }, 400],
      ["POST", `${at}/status`, { status: "Sent" }, 200],
      ["POST", `${at}/status`, { status: "Draft" }, 200],
      ["POST", `${at}/status`, { status: "Sent" }, 200],
      ["POST", `${at}/confirm`, { confirmAll: true }, 200],
      ["POST", `${at}/receive`, { lines: [{ lineItemId, quantityReceived: 4 }] }, 200],
      ["POST", `${at}/receive`, { lines: [{ lineItemId, quantityReceived: 4 }] }, 200],
      ["POST", `${at}/unreceive`, { lines: [{ lineItemId, quantity: 1 }] }, 200],
      ["POST", `${at}/status`, { status: "On Hold" }, 200],
      ["POST", `${at}/status`, { status: "Partially Received" }, 200],
      ["POST", `${at}/status`, { status: "In Progress" }, 400],
      ["POST", `${at}/receive`, { lines: [{ lineItemId, quantityReceived: 10 }] }, 200],
    ];
    for (const [method, path, body, status] of asked) {
      const answered = await call(method, path, body);
      assert.equal(answered.status, status, JSON.stringify(answered.at()));
    }
    // Pushes of the received goods are told by the outbox, some time after the answer.
    await until(
      "three pushes are told",
      async () => (await page()).events.filter(({ type }) => type === "storefront_sync.verified").length >= 3,
    );
    const completed = await call("POST", `${at}/complete`);
    assert.equal(completed.status, 200, JSON.stringify(completed.at()));
    const { events: all, totalCount, cursor, lastSequence } = await page();
    assert.deepEqual(
      all.map(({ sequence }) => sequence),
      all.map((_, index) => index + 1),
    );
    assert.deepEqual([totalCount, cursor, lastSequence], [all.length, null, all.length]);
    assert.deepEqual(
      all.filter(({ type }) => type !== "storefront_sync.verified").map(({ type }) => type),
      [
        "api_key.created",
        "import.completed",
        ...[
          "created",
          "updated",
          "sent",
          "moved_back",
          "sent",
          "in_progress",
          "partially_received",
          "unreceived",
          "on_hold",
          "resumed",
          "received",
          "completed",
        ].map((name) => `purchase_order.${name}`),
      ],
    );
    assert.deepEqual(all[0]?.data, { keyId, name: "bot", scope: "write" });
    assert.deepEqual(all[1]?.data, { counts: { location: 1, variant: 1 } });
    const received = all.find(({ type }) => type === "purchase_order.received");
    const line = { poLineItemId: lineItemId, variantId: "red", sku: "R-1" };
    assert.deepEqual(received?.data["lines"], [
      { ...line, quantityDelta: 7, quantityReceived: 10, quantityPending: 0 },
    ]);
    assert.deepEqual(received?.data["status"], { from: "Partially Received", to: "Received" });
    const schedule = await call("GET", `${at}/receipt-schedule`);
    assert.equal(schedule.at("data", "receipts", 0, "receiptId"), received?.data["receiptId"]);
    assert.deepEqual(received?.actor, { type: "api-key", id: keyId, name: "bot" });
    const log = await call("GET", `${at}/log`);
    const entries = z
      .array(z.object({ occurredAt: z.string(), requestId: z.string().nullable(), action: z.string() }))
      .parse(log.at("data", "log"))
      .filter(({ action }) => action !== "storefront-sync");
    assert.deepEqual(
      all.filter(({ type }) => type.startsWith("purchase_order.")).map((event) => [event.timestamp, event.requestId]),
      entries.map((entry) => [entry.occurredAt, entry.requestId]).toReversed(),
      "an event for each entry of the log",
    );
    const revoke = () => program.ask("DELETE", `/admin/v1/shops/shop/keys/${keyId}`, token);
    await revoke();
    await revoke();
    const after = await page(`?after=${lastSequence}`);
    assert.deepEqual(
      after.events.map(({ type, actor, data }) => [type, actor.name, data["keyId"]]),
      [["api_key.revoked", "operator", keyId]],
    );
  });
});

test("a replay makes no event, a deleted order tells its ids, and pages filter by type", async () => {
  await withShop(async ({ program, token, apiKey, call, page }) => {
    const keyed = async () => {
      const answered = await fetch(program.url + orders, {
        method: "POST",
        headers: { Authorization: `Bearer ${apiKey}`, "Idempotency-Key": "k" },
        body: JSON.stringify({ lineItems: [{ variantId: "red", quantityOrdered: 2 }] }),
      });
      return z
        .object({ data: z.object({ purchaseOrder: z.object({ purchaseOrderId: z.string(), poNumber: z.string() }) }) })
        .parse(await answered.json()).data.purchaseOrder;
    };
    const order = await keyed();
    assert.deepEqual(await keyed(), order);
    await call("DELETE", `${orders}/${order.purchaseOrderId}`);
    const { events: two } = await page("?types=purchase_order.*");
    assert.deepEqual(
      two.map(({ type }) => type),
      ["purchase_order.created", "purchase_order.deleted"],
    );
    assert.equal(two[1]?.data["purchaseOrderId"], order.purchaseOrderId);
    assert.equal(two[1]?.data["poNumber"], order.poNumber);
    assert.deepEqual(two[1]?.data["status"], { from: "Draft", to: null });
    const first = await page("?limit=1");
    assert.deepEqual([first.events.length, first.cursor, first.totalCount], [1, "1", 4]);
    const named = await page("?types=import.completed&types=api_key.created,test.ping");
    assert.deepEqual(
      named.events.map(({ sequence }) => sequence),
      [1, 2],
    );
    assert.equal(named.totalCount, 2);
    for (const query of ["?types=purchase_order", "?after=-1", "?limit=0", "?limit=501", "?after=x"]) {
      const answered = await program.ask("GET", events + query, token);
      assert.equal(answered.status, 400, query);
    }
    for (const [query, message] of [
      ["?after=9007199254740991", /is ahead of the shop's newest event, 4$/],
      ["?after=5", /is ahead of the shop's newest event, 4$/],
      ["?after=9007199254740992", /must be at most 9007199254740991$/],
      ["?after=1.5", /must be an integer$/],
    ] as const)
      for (const below of ["", "/stream"]) {
        const answered = await program.ask("GET", `${events}${below}${query}`, token);
        assert.equal(answered.status, 400, `${below}${query}`);
        assert.equal(answered.at("error", "details", 0, "path"), "/after");
        assert.match(String(answered.at("error", "details", 0, "message")), message, `${below}${query}`);
      }
    assert.deepEqual((await page("?after=4")).events, [], "the newest is not ahead");
    assert.equal((await program.ask("GET", "/admin/v1/shops/none/events", token)).status, 404);
    assert.equal((await program.ask("GET", events, apiKey)).status, 401);
  });
});

/** Opens a stream and gathers what it sends. */
function follow(program: RunningProgram, token: string, query = "", lastEventId: string | null = null) {
  let text = "";
  let status = 0;
  const asked = request(`${program.url}${events}/stream${query}`, {
    headers: { Authorization: `Bearer ${token}`, ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }) },
  });
  asked.on("response", (response) => {
    status = response.statusCode ?? 0;
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
  });
  asked.on("error", () => {});
  asked.end();
  return {
    ids: () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
    text: () => text,
    status: () => status,
    async until(holds: () => boolean) {
      await until(() => `${status} ${text}`, holds);
    },
    end: () => asked.destroy(),
  };
}

test("a stream sends events as they come and goes on after Last-Event-ID; it ends with the service", async () => {
  await withShop(async ({ program, token, call, page }) => {
    const whole = follow(program, token, "?after=0");
    const next = follow(program, token);
    const typed = follow(program, token, "?types=purchase_order.updated");
    await whole.until(() => whole.ids().length === 2 && next.text() !== "" && typed.text() !== "");
    const made = await call("POST", orders, {});
    await whole.until(() => whole.ids().length === 3 && next.ids().length === 1);
    assert.deepEqual([whole.ids(), next.ids()], [[1, 2, 3], [3]]);
    const stored = (await page("?after=2")).events[0];
    assert.deepEqual(JSON.parse(/^data: (.*)$/m.exec(next.text())?.[1] ?? ""), stored);
    assert.match(next.text(), /^id: 3\nevent: purchase_order\.created\ndata: /m);
    next.end();
    const path = `${orders}/${String(made.at("data", "purchaseOrder", "purchaseOrderId"))}`;
    await call("PATCH", path, { note: "a" });
    await call("PATCH", path, { note: "b" });
    const again = follow(program, token, "?after=0", "3");
    await again.until(() => again.ids().length === 2);
    await typed.until(() => typed.ids().length === 2);
    assert.deepEqual(
      [again.ids(), typed.ids()],
      [
        [4, 5],
        [4, 5],
      ],
    );
    for (const [sent, message] of [
      ["x", /Last-Event-ID must be the sequence of an event/],
      ["9007199254740992", /Last-Event-ID must be the sequence of an event/],
      ["9007199254740991", /Last-Event-ID is ahead of the shop's newest event, 5\./],
      ["6", /Last-Event-ID is ahead of the shop's newest event, 5\./],
    ] as const) {
      const wrong = follow(program, token, "", sent);
      await wrong.until(() => wrong.status() === 400 && message.test(wrong.text()));
    }
    const head = await fetch(`${program.url}${events}/stream`, {
      method: "HEAD",
      headers: { Authorization: `Bearer ${token}` },
    });
    assert.equal(head.headers.get("content-type"), "text/event-stream");
    const { code, stderr } = await program.end("SIGTERM");
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /did not end in time/, "open streams do not hold up the end");
  });
});

test("events older than 30 days are deleted with later requests; the newest stays, so its number is not given again", async () => {
  await using server = await startServer();
  const { engine, shopId } = server;
  for (let count = 0; count < 3; count += 1) await server.post(orders, {});
  const sequences = () =>
    engine.read(shopId, async (tx) => (await eventsAfter(tx, shopId, 0, null, 100)).map(({ sequence }) => sequence));
  assert.deepEqual(await sequences(), [1, 2, 3]);
  server.clock.advance(eventsKeptMs + 1_000);
  for (let request = 0; request < sweepEveryRequests; request += 1) await server.get(orders);
  await until(sequences, async () => (await sequences()).length <= 1);
  assert.deepEqual(await sequences(), [3]);
  await server.post(orders, {});
  assert.deepEqual(await sequences(), [3, 4]);
});
