/**
 * Webhooks of three nodes on one database: what a node was sending when it died or froze is sent by another one when its lease ends, under
 * the same id, and nothing is lost (L1, L2, C60).
 */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { z } from "zod";
import { ask, hangUp, makeShop, operate } from "../support/clients.ts";
import { rowsOf, serviceNode } from "../support/nodes.ts";
import { freshDatabase } from "../support/postgres.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** Attempts of an endpoint that run at a time on all nodes. */
const perEndpointMax = 4;
const eventCount = 10;
/** How long a claim holds. */
const leaseMs = 30_000;
/** How long after the end of a lease all is delivered, on a slow machine. The nodes search every second. */
const takeoverMsMax = 60_000;

const endpointSchema = z.object({ data: z.object({ endpointId: z.string() }) });
const deliveriesSchema = z.object({
  data: z.object({
    deliveries: z.array(z.object({ eventId: z.string(), state: z.string(), attempts: z.int() })),
  }),
});

interface Sending {
  readonly shopId: string;
  readonly endpointId: string;
  readonly receiver: Receiver;
  /** What the receiver has not answered. */
  readonly held: ServerResponse[];
  /** When the first lease of what is held ends. */
  readonly leasedUntilMs: number;
}

/** Makes a shop on the node, with events that it is sending to a receiver which does not answer. */
async function startSending(url: string, databaseUrl: string, shopId: string, receiver: Receiver): Promise<Sending> {
  const held: ServerResponse[] = [];
  receiver.answer = (response) => void held.push(response);
  const token = await makeShop(url, shopId, {}, []);
  const made = await operate(url, "POST", `/shops/${shopId}/webhook-endpoints`, {
    url: receiver.url,
    eventTypes: ["purchase_order.*"],
  });
  for (let count = 0; count < eventCount; count += 1) {
    const created = await ask(url, { method: "POST", target: "/api/v1/purchase-orders", token, body: {} });
    assert.equal(created.status, 201, created.text);
  }
  await receiver.until(() => held.length === perEndpointMax);
  const leased = await rowsOf<{ due_at: string }>(
    databaseUrl,
    shopId,
    "select due_at from openpo.delivery where shop_id = $1 and lease_owner is not null",
  );
  assert.equal(leased.length, perEndpointMax);
  const leasedUntilMs = Math.min(...leased.map((row) => Number(row.due_at)));
  assert.ok(leasedUntilMs <= Date.now() + leaseMs, "a lease ends");
  return { shopId, endpointId: endpointSchema.parse(made).data.endpointId, receiver, held, leasedUntilMs };
}

test("a node dies and another freezes while they send: a third sends all of it after the lease, under the same ids", async (context) => {
  const database = await freshDatabase();
  const receivers = await Promise.all([startReceiver(), startReceiver()]);
  const env = { OPENPO_WEBHOOK_ALLOW: "127.0.0.1", OPENPO_WEBHOOK_HTTP: "1" };
  const dying = serviceNode(database.url, env);
  const frozen = serviceNode(database.url, env);
  const other = serviceNode(database.url, env);
  try {
    const [first, second] = receivers;
    // No other node runs while one begins to send: it could claim a part.
    await dying.start();
    const killed = await startSending(dying.url, database.url, "killed", first);
    dying.program?.signal("SIGSTOP");
    await frozen.start();
    const halted = await startSending(frozen.url, database.url, "halted", second);
    frozen.program?.signal("SIGSTOP");
    await dying.end("SIGKILL");
    await other.start();
    const sendings = [killed, halted];
    // The node that was killed was the one that sent.
    await until("its connections end", () => killed.held.every(({ destroyed }) => destroyed));
    const firstAgainMs = new Map<string, number>();
    for (const { shopId, receiver } of sendings)
      receiver.answer = (response) => {
        if (!firstAgainMs.has(shopId)) firstAgainMs.set(shopId, Date.now());
        response.writeHead(204).end();
      };
    const statesOf = async ({ shopId, endpointId }: Sending) => {
      const below = `/shops/${shopId}/webhook-endpoints/${endpointId}/deliveries?limit=100`;
      return deliveriesSchema.parse(await operate(other.url, "GET", below)).data.deliveries;
    };
    const prove = async (sending: Sending): Promise<void> => {
      const { shopId, receiver } = sending;
      const sentTwice = new Set(receiver.received.slice(0, perEndpointMax).map(({ eventId }) => eventId));
      assert.equal(sentTwice.size, perEndpointMax);
      const deliveries = await statesOf(sending);
      assert.equal(deliveries.length, eventCount);
      for (const { eventId, state, attempts } of deliveries) {
        assert.deepEqual([state, attempts], ["delivered", sentTwice.has(eventId) ? 2 : 1], `${shopId} ${eventId}`);
        const sent = receiver.received.filter((each) => each.eventId === eventId);
        assert.deepEqual(
          sent.map(({ headers, body }) => [headers["webhook-id"], body]),
          Array.from({ length: attempts }, () => [eventId, sent[0]?.body]),
        );
      }
    };
    for (const sending of sendings) {
      const { shopId, leasedUntilMs } = sending;
      const isDone = async (): Promise<boolean> =>
        (await statesOf(sending)).every(({ state }) => state === "delivered");
      await until(`${shopId} is delivered`, isDone, leasedUntilMs - Date.now() + takeoverMsMax);
      const againMs = firstAgainMs.get(shopId) ?? 0;
      assert.ok(againMs >= leasedUntilMs, `sent again ${leasedUntilMs - againMs} ms before the lease ended`);
      await prove(sending);
      context.diagnostic(`${shopId}: sent again ${againMs - leasedUntilMs} ms after the lease`);
    }
    // The frozen node goes on, and learns that what it was sending has failed. That is no longer its own.
    frozen.program?.signal("SIGCONT");
    for (const response of halted.held) response.writeHead(500).end();
    assert.equal(await frozen.end("SIGTERM"), 0);
    for (const sending of sendings) await prove(sending);
  } finally {
    await Promise.all([dying, frozen, other].map((node) => node.end("SIGKILL")));
    hangUp();
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await database.drop();
  }
});
