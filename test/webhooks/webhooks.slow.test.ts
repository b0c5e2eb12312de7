/**
 * Webhooks over HTTP (C59–C61): endpoints, deliveries that a receiver can verify, and what becomes of those that fail.
 */
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { type RunningProgram, withProgram } from "../support/process.ts";
import { type Received, type Receiver, startReceiver } from "../support/peers/receiver.ts";
import { quiet, until } from "../support/until.ts";

const shop = "/admin/v1/shops/shop";
const endpoints = `${shop}/webhook-endpoints`;
const orders = "/api/v1/purchase-orders";

const deliverySchema = z.strictObject({
  deliveryId: z.string(),
  eventId: z.string(),
  type: z.string(),
  endpointId: z.string(),
  state: z.enum(["pending", "delivered", "failed"]),
  attempts: z.int(),
  lastStatus: z.int().nullable(),
  lastMs: z.int().nullable(),
  lastError: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
});

interface Shop {
  readonly program: RunningProgram;
  readonly token: string;
  readonly apiKey: string;
  readonly admin: (method: string, path: string, body?: object, status?: number) => ReturnType<RunningProgram["ask"]>;
  readonly makeOrder: () => Promise<string>;
  readonly deliveries: (endpointId: string, query?: string) => Promise<readonly z.output<typeof deliverySchema>[]>;
}

const open = { OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8", OPENPO_WEBHOOK_HTTP: "1" };

/** A shop on a program that may send webhooks to this machine. */
async function withShop(
  use: (shop: Shop) => Promise<void>,
  env: Readonly<Record<string, string>> = open,
): Promise<void> {
  await withProgram(async (program, token) => {
    const admin: Shop["admin"] = async (method, path, body, status) => {
      const answered = await program.ask(method, path, token, body);
      if (status !== undefined) assert.equal(answered.status, status, answered.text);
      return answered;
    };
    await admin("PUT", shop, { name: "Shop", currencyCode: "EUR" });
    const key = await admin("POST", `${shop}/keys`, { name: "bot", scope: "write" });
    const apiKey = String(key.at("data", "apiKey"));
    await use({
      program,
      token,
      apiKey,
      admin,
      async makeOrder() {
        const made = await program.ask("POST", orders, apiKey, {});
        return String(made.at("data", "purchaseOrder", "purchaseOrderId"));
      },
      async deliveries(endpointId, query = "") {
        const listed = await admin("GET", `${endpoints}/${endpointId}/deliveries${query}`, undefined, 200);
        return z.array(deliverySchema).parse(listed.at("data", "deliveries"));
      },
    });
  }, env);
}

async function withReceivers<const T extends readonly unknown[]>(
  wanted: T,
  use: (...receivers: { [K in keyof T]: Receiver }) => Promise<void>,
): Promise<void> {
  const receivers = await Promise.all(wanted.map(() => startReceiver()));
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one receiver for each that is wanted
    await use(...(receivers as { [K in keyof T]: Receiver }));
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.close()));
  }
}

/** The headers that an independent verifier reads. */
const headersOf = ({ headers }: Received): Record<string, string> => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"]),
});

test("an endpoint is sent each event that it wants, signed as the standard's own verifier expects", async () => {
  await withReceivers([1, 2], async (orderly, everything) => {
    await withShop(async ({ program, apiKey, admin, makeOrder, deliveries }) => {
      const made = await admin(
        "POST",
        endpoints,
        { url: orderly.url, eventTypes: ["purchase_order.*"], description: "ERP" },
        201,
      );
      const endpointId = String(made.at("data", "endpointId"));
      const secret = String(made.at("data", "secret"));
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      const all = await admin("POST", endpoints, { url: everything.url, eventTypes: ["*"] }, 201);
      const id = await makeOrder();
      const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      await program.ask("PATCH", `${orders}/${id}`, apiKey, { note: "soon" }, { traceparent: trace });
      await admin("POST", `${shop}/keys`, { name: "other", scope: "read" });
      await everything.until(() => everything.received.length === 3);
      await orderly.until(() => orderly.received.length === 2);
      assert.deepEqual(orderly.received.map(({ type }) => type).toSorted(), [
        "purchase_order.created",
        "purchase_order.updated",
      ]);
      const updated = orderly.received.find(({ type }) => type === "purchase_order.updated");
      assert.match(String(updated?.headers["traceparent"]), /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
      const events = await admin("GET", `${shop}/events`);
      for (const delivery of orderly.received) {
        assert.equal(delivery.headers["webhook-id"], delivery.eventId);
        assert.equal(delivery.headers["content-type"], "application/json");
        assert.deepEqual(new Webhook(secret).verify(delivery.body, headersOf(delivery)), JSON.parse(delivery.body));
        assert.deepEqual(events.at("data", "events", delivery.sequence - 1), JSON.parse(delivery.body));
      }
      await until("all delivered", async () =>
        (await deliveries(endpointId)).every(({ state }) => state === "delivered"),
      );
      const listed = await deliveries(endpointId);
      assert.deepEqual(
        listed.map(({ type, state, attempts, lastStatus, lastError, nextAttemptAt }) => [
          type,
          state,
          attempts,
          lastStatus,
          lastError,
          nextAttemptAt,
        ]),
        ["updated", "created"].map((type) => [`purchase_order.${type}`, "delivered", 1, 204, null, null]),
      );
      assert.equal((await deliveries(endpointId, "?state=failed")).length, 0);
      assert.equal((await deliveries(endpointId, "?state=failed,delivered")).length, 2);
      assert.equal((await deliveries(endpointId, "?type=purchase_order.created&limit=1")).length, 1);
      const list = await admin("GET", endpoints);
      assert.ok(!list.text.includes("whsec"), "a secret is shown once");
      assert.equal(list.at("data", "totalCount"), 2);
      const one = await admin("GET", `${endpoints}/${endpointId}`);
      assert.equal(one.at("data", "endpoint", "status"), "enabled");
      assert.equal(typeof one.at("data", "endpoint", "lastDeliveredAt"), "string");
      await admin("DELETE", `${endpoints}/${String(all.at("data", "endpointId"))}`, undefined, 200);
      await admin("PATCH", `${endpoints}/${endpointId}`, { eventTypes: ["purchase_order.updated"] }, 200);
      await makeOrder();
      await program.ask("PATCH", `${orders}/${id}`, apiKey, { note: "later" });
      await orderly.until(() => orderly.received.length === 3);
      assert.equal(orderly.received[2]?.type, "purchase_order.updated");
      assert.equal(everything.received.length, 3);
    });
  });
});

test("ed25519 shows the public key, which verifies; a rotation signs with both secrets and loses nothing", async () => {
  await withReceivers([1, 2], async (shared, keyed) => {
    await withShop(async ({ admin, makeOrder }) => {
      const made = await admin("POST", endpoints, { url: shared.url, eventTypes: ["*"] }, 201);
      const path = `${endpoints}/${String(made.at("data", "endpointId"))}`;
      const pair = await admin("POST", endpoints, { url: keyed.url, eventTypes: ["*"], signature: "ed25519" }, 201);
      const publicKey = String(pair.at("data", "secret"));
      assert.match(publicKey, /^whpk_/);
      await makeOrder();
      const rotated = await admin("POST", `${path}/rotate-secret`, { overlapHours: 1 }, 200);
      const secrets = [String(made.at("data", "secret")), String(rotated.at("data", "secret"))];
      assert.notEqual(secrets[0], secrets[1]);
      await makeOrder();
      await shared.until(() => shared.received.length === 2);
      await keyed.until(() => keyed.received.length === 2);
      const [before, after] = shared.received;
      assert.ok(before !== undefined && after !== undefined);
      new Webhook(secrets[0] ?? "").verify(before.body, headersOf(before));
      for (const secret of secrets) new Webhook(secret).verify(after.body, headersOf(after));
      const key = createPublicKey({
        key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(publicKey.slice(5), "base64")]),
        format: "der",
        type: "spki",
      });
      for (const delivery of keyed.received) {
        const [, signature = ""] = /^v1a,(\S+)$/.exec(String(delivery.headers["webhook-signature"])) ?? [];
        const content = `${delivery.eventId}.${String(delivery.headers["webhook-timestamp"])}.${delivery.body}`;
        assert.ok(verify(null, Buffer.from(content), key, Buffer.from(signature, "base64")));
      }
      await admin("POST", `${path}/rotate-secret`, { overlapHours: 0 }, 200);
      await makeOrder();
      await shared.until(() => shared.received.length === 3);
      const [, , last] = shared.received;
      assert.equal(String(last?.headers["webhook-signature"]).split(" ").length, 1);
    });
  });
});

test("a failure is told and tried again; 410 disables with an event; retry, test and replay send again", async () => {
  await withReceivers([1, 2], async (flaky, watcher) => {
    await withShop(async ({ admin, makeOrder, deliveries }) => {
      const made = await admin("POST", endpoints, { url: flaky.url, eventTypes: ["purchase_order.*"] }, 201);
      await admin("POST", endpoints, { url: watcher.url, eventTypes: ["webhook_endpoint.disabled"] }, 201);
      const endpointId = String(made.at("data", "endpointId"));
      const path = `${endpoints}/${endpointId}`;
      flaky.answer = (response) => void response.writeHead(500).end("secret of the host");
      await makeOrder();
      const attempted = (state: string, attempts: number) =>
        until(
          () => deliveries(endpointId),
          async () => {
            const [delivery] = await deliveries(endpointId);
            return delivery?.state === state && delivery.attempts >= attempts && delivery.lastMs !== null && delivery;
          },
        );
      const failed = await attempted("pending", 1);
      assert.deepEqual([failed.lastStatus, failed.lastError], [500, "HTTP 500"], "of an opened host only the status");
      const told = await admin("GET", `${shop}/events?after=1`);
      const inMs =
        Date.parse(failed.nextAttemptAt ?? "") - Date.parse(String(told.at("data", "events", 0, "timestamp")));
      assert.ok(inMs >= 4_000, `${inMs}`);
      flaky.answer = (response) => void response.writeHead(204).end();
      await admin("POST", `${path}/deliveries/${failed.deliveryId}/retry`, {}, 200);
      await attempted("delivered", 2);
      const ids = flaky.received.map(({ headers }) => headers["webhook-id"]);
      assert.equal(new Set(ids).size, 1, "the same id on every attempt");

      const tested = await admin("POST", `${path}/test`, {}, 200);
      assert.deepEqual(
        [tested.at("data", "delivery", "state"), tested.at("data", "delivery", "lastStatus")],
        ["delivered", 204],
      );
      assert.equal(flaky.received.at(-1)?.type, "test.ping");

      flaky.answer = (response) => void response.writeHead(410).end();
      await makeOrder();
      await watcher.until(() => watcher.received.length === 1);
      const disabled: unknown = JSON.parse(watcher.received[0]?.body ?? "");
      assert.deepEqual(z.object({ data: z.unknown() }).parse(disabled).data, { endpointId, reason: "gone" });
      const gone = await admin("GET", path);
      assert.deepEqual(
        [gone.at("data", "endpoint", "status"), gone.at("data", "endpoint", "disabledReason")],
        ["disabled", "gone"],
      );
      await makeOrder();
      await admin("POST", `${path}/test`, {}, 400);
      flaky.answer = (response) => void response.writeHead(204).end();
      const before = flaky.received.length;
      const enabled = await admin("PATCH", path, { status: "enabled" }, 200);
      assert.equal(enabled.at("data", "endpoint", "disabledReason"), null);
      await flaky.until(() => flaky.received.length === before + 1);
      const replayed = await admin("POST", `${path}/replay`, { afterSequence: 0 }, 200);
      assert.equal(replayed.at("data", "replayed"), 3, "its own types alone, also from while it was disabled");
      await flaky.until(() => flaky.received.length === before + 4);
      for (const wrong of [
        {},
        { afterSequence: 1, from: "2026-01-01T00:00:00Z" },
        { from: "yesterday" },
        { from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" },
      ])
        await admin("POST", `${path}/replay`, wrong, 400);
    });
  });
});

test("replay sends the events of a time, and none that are no longer kept", async () => {
  await withReceivers([1], async (receiver) => {
    await withShop(async ({ admin, makeOrder }) => {
      for (let count = 0; count < 3; count += 1) await makeOrder();
      const made = await admin("POST", endpoints, { url: receiver.url, eventTypes: ["purchase_order.*"] }, 201);
      const replay = async (range: object): Promise<unknown> =>
        (await admin("POST", `${endpoints}/${String(made.at("data", "endpointId"))}/replay`, range, 200)).at(
          "data",
          "replayed",
        );
      assert.equal(await replay({ from: "2020-01-01T00:00:00Z", to: "2020-02-01T00:00:00Z" }), 0);
      assert.equal(await replay({ afterSequence: 1_000 }), 0);
      const second = (await admin("GET", `${shop}/events?after=2&limit=1`)).at("data", "events", 0, "timestamp");
      assert.equal(await replay({ from: second, to: second }), 1);
      await receiver.until(() => receiver.received.length === 1);
      assert.equal(receiver.received[0]?.sequence, 3);
      assert.equal(await replay({ to: second }), 2);
      assert.equal(await replay({ from: second }), 2);
      await receiver.until(() => new Set(receiver.received.map(({ sequence }) => sequence)).size === 3);
    });
  });
});

test("nothing is sent any more of a shop that was deleted, and a shop of the same id begins anew", async () => {
  await withReceivers([1, 2], async (failing, good) => {
    await withShop(async ({ admin, makeOrder }) => {
      failing.answer = (response) => void response.writeHead(503, { "Retry-After": "1" }).end();
      await admin("POST", endpoints, { url: failing.url, eventTypes: ["*"] }, 201);
      for (let count = 0; count < 5; count += 1) await makeOrder();
      await failing.until(() => failing.received.length >= 5);
      await admin("DELETE", `${shop}?confirm=shop`, undefined, 200);
      // What was being sent may still arrive.
      await quiet(1_000);
      const had = failing.received.length;
      await admin("PUT", shop, { name: "Shop", currencyCode: "EUR" });
      assert.equal((await admin("GET", endpoints)).at("data", "totalCount"), 0);
      assert.equal((await admin("GET", `${shop}/events`)).at("data", "lastSequence"), 0);
      const made = await admin("POST", endpoints, { url: good.url, eventTypes: ["*"] }, 201);
      await admin("POST", `${shop}/keys`, { name: "bot", scope: "write" }, 201);
      await good.until(() => good.received.length === 1);
      assert.equal(good.received[0]?.sequence, 1);
      const tested = await admin("POST", `${endpoints}/${String(made.at("data", "endpointId"))}/test`, {}, 200);
      assert.equal(tested.at("data", "delivery", "state"), "delivered");
      await quiet(2_000);
      assert.equal(failing.received.length, had, "every retry was due by then");
    });
  });
});

test("/metrics tells of webhooks that wait, of attempts that failed and of endpoints that were disabled", async () => {
  await withReceivers([1, 2], async (failing, gone) => {
    await withShop(async ({ program, admin, makeOrder }) => {
      const shown = async (name: string): Promise<number> => {
        const { text } = await program.ask("GET", "/metrics", "");
        return Number(new RegExp(`^openpo_${name} ([\\d.]+)$`, "m").exec(text)?.[1]);
      };
      const untilShown = (name: string, wanted: number) =>
        until(`${name} is ${wanted}`, async () => (await shown(name)) === wanted);
      failing.answer = (response) => void response.writeHead(500).end();
      gone.answer = (response) => void response.writeHead(410).end();
      for (const { url } of [failing, gone]) await admin("POST", endpoints, { url, eventTypes: ["purchase_order.*"] });
      await makeOrder();
      await untilShown("webhook_endpoints_disabled", 1);
      await untilShown("webhook_attempts_failed_total", 2);
      await untilShown("webhook_backlog", 1);
      assert.equal(await shown("webhook_endpoints_disabled_total"), 1);
      assert.equal(await shown("webhook_overdue_seconds"), 0);
      assert.equal(await shown("writes_waiting"), 0);
      assert.equal(await shown("outbox_effects_failed_total"), 0);
    });
  });
});

test("an endpoint needs an https URL of a public host, and nobody but the operator can add one", async () => {
  const refused = [
    "http://example.com/hook",
    "ftp://example.com",
    "example.com",
    "https://user@example.com",
    "https://example.com/#fragment",
    "https://127.0.0.1/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://169.254.169.254/latest",
    "https://10.0.0.1",
  ];
  await withShop(
    async ({ program, apiKey, admin }) => {
      for (const url of refused) {
        const answered = await admin("POST", endpoints, { url, eventTypes: ["*"] });
        assert.equal(answered.status, 400, url);
        assert.equal(answered.at("error", "details", 0, "path"), "/url");
      }
      const good = { url: "https://example.com/hook", eventTypes: ["*"] };
      for (const wrong of [
        { eventTypes: [] },
        { eventTypes: ["purchase_order"] },
        { signature: "md5" },
        { secret: "mine" },
      ])
        await admin("POST", endpoints, { ...good, ...wrong }, 400);
      assert.equal((await program.ask("POST", endpoints, apiKey, good)).status, 401);
      assert.equal((await program.ask("POST", "/api/v1/webhook-endpoints", apiKey, good)).status, 404);
      const tools = await program.ask("POST", "/mcp", apiKey, {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/list",
      });
      assert.ok(!tools.text.includes("webhook"), "no tool of an agent speaks of endpoints");
      await admin("POST", endpoints, good, 201);
      await admin("GET", `${endpoints}/we_none`, undefined, 404);
      await admin("POST", `${endpoints}/we_none/replay`, { afterSequence: 0 }, 404);
    },
    { OPENPO_WEBHOOK_ALLOW: "0.0.0.0/0,::/0" },
  );
});
