/**
 * Webhooks of two nodes on one database: what a node was sending when it froze is sent by another one, under the same id, and nothing is lost (L1, L2,
 * C38, C60).
 */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { z } from "zod";
import { ask, hangUp, makeShop, operate } from "../support/clients.ts";
import { rowsOf, serviceNode } from "../support/programs/nodes.ts";
import { freshDatabase } from "../support/postgres/postgres.ts";
import { type Receiver, startReceiver } from "../support/peers/receiver.ts";
import { until } from "../support/until.ts";

/** Attempts of an endpoint that run at a time on all nodes. */
const perEndpointMax = 4;
const eventCount = 10;

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
}

/** Makes a shop on the node, with events that it is sending to a receiver which does not answer. */
async function startSending(url: string, shopId: string, receiver: Receiver): Promise<Sending> {
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
  return { shopId, endpointId: endpointSchema.parse(made).data.endpointId, receiver, held };
}

test("a node freezes while it sends: another sends all of it, whose claims it gives back, under the same ids", async (context) => {
  const database = await freshDatabase();
  const receiver = await startReceiver();
  const env = { OPENPO_WEBHOOK_ALLOW: "127.0.0.1", OPENPO_WEBHOOK_HTTP: "1" };
  const frozen = serviceNode(database.url, env);
  const other = serviceNode(database.url, env);
  try {
    // No other node runs while one begins to send: it could claim a part.
    await frozen.start();
    const { endpointId, held } = await startSending(frozen.url, "halted", receiver);
    await other.start();
    frozen.program?.signal("SIGSTOP");
    const frozenAtMs = performance.now();
    receiver.answer = (response) => void response.writeHead(204).end();
    // No delivery is taken up because its claim is over: the other node gives back what the frozen one has.
    const longer =
      "update openpo.delivery set due_at = due_at + 3600000 where shop_id = $1 and lease_owner is not null";
    await rowsOf(database.url, "halted", longer);
    await receiver.until(() => receiver.received.length > perEndpointMax);
    context.diagnostic(`sent again ${Math.round(performance.now() - frozenAtMs)} ms after it froze`);
    const states = async () => {
      const below = `/shops/halted/webhook-endpoints/${endpointId}/deliveries?limit=100`;
      return deliveriesSchema.parse(await operate(other.url, "GET", below)).data.deliveries;
    };
    const prove = async (): Promise<void> => {
      const sentTwice = new Set(receiver.received.slice(0, perEndpointMax).map(({ eventId }) => eventId));
      assert.equal(sentTwice.size, perEndpointMax);
      const deliveries = await states();
      assert.equal(deliveries.length, eventCount);
      for (const { eventId, state, attempts } of deliveries) {
        assert.deepEqual([state, attempts], ["delivered", sentTwice.has(eventId) ? 2 : 1], eventId);
        const sent = receiver.received.filter((each) => each.eventId === eventId);
        assert.deepEqual(
          sent.map(({ headers, body }) => [headers["webhook-id"], body]),
          Array.from({ length: attempts }, () => [eventId, sent[0]?.body]),
        );
      }
    };
    await until("all is delivered", async () => (await states()).every(({ state }) => state === "delivered"));
    await prove();
    // The frozen node goes on, and learns that what it was sending has failed. That is no longer its own.
    frozen.program?.signal("SIGCONT");
    for (const response of held) response.writeHead(500).end();
    assert.equal(await frozen.end("SIGTERM"), 0);
    await prove();
  } finally {
    await Promise.all([frozen, other].map((node) => node.end("SIGKILL")));
    hangUp();
    await receiver.close();
    await database.drop();
  }
});
