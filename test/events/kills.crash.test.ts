/**
 * Many writers while the program is killed (-9) again and again: every acknowledged change has exactly one event, a shop's sequence has no
 * gaps, and a receiver of webhooks gets every event, each under one id (E1, E2, L1, S2, C56, C58, C60).
 *
 * The receiver takes some time over each delivery, and refuses some at first. It counts as taken only what it has answered, so a delivery
 * that is given up before its answer is missing in the end. A reader follows each shop's stream of events over all kills.
 *
 * `OPENPO_TEST_EVENTS_WRITERS` is the number of writers, `OPENPO_TEST_EVENTS_KILLS` that of the kills. `OPENPO_TEST_EVENTS_SEED` seeds both.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { adminToken, hangUp, operate } from "../support/clients.ts";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { pause, until } from "../support/until.ts";
import { judgeHistory } from "../world/history.ts";
import { Load } from "../world/load.ts";
import { randomOf } from "../world/random.ts";

const writerCount = Number(process.env["OPENPO_TEST_EVENTS_WRITERS"] ?? 60);
const killCount = Number(process.env["OPENPO_TEST_EVENTS_KILLS"] ?? 6);
const seed = Number(process.env["OPENPO_TEST_EVENTS_SEED"] ?? 20_261_122);

const shopIds = ["north", "east", "south", "west"] as const;
/** How many requests are answered between two kills, at most. */
const answersPerLifeMax = 100;
const patienceMs = 120_000;
/** How long the receiver takes over a delivery, at most. */
const receiverMs = 20;
/** Of so many events one is refused when it comes first. */
const refusedEvery = 15;
/** On PostgreSQL the deliveries that the last process was sending wait for the end of their lease. */
const drainMsMax = 90_000;

const eventSchema = z.object({
  eventId: z.string(),
  sequence: z.int(),
  type: z.string(),
  shopId: z.string(),
  requestId: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
type Event = z.output<typeof eventSchema>;
const pageSchema = z.object({
  data: z.object({ events: z.array(eventSchema), cursor: z.string().nullable(), lastSequence: z.int() }),
});
const pendingSchema = z.object({ data: z.object({ totalCount: z.int() }) });
const endpointSchema = z.object({ data: z.object({ endpointId: z.string() }) });

interface Shop {
  readonly shopId: string;
  readonly endpointId: string;
  /** The sequences that the stream has sent, in its order. */
  readonly followed: number[];
}

/** The program at its present address. */
interface Service {
  readonly url: string;
  program: RunningProgram;
}

/** Follows the shop's stream, over the ends of the program, until the signal is aborted. */
async function follow({ shopId, followed }: Shop, service: Service, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await fetch(`${service.url}/admin/v1/shops/${shopId}/events/stream?after=0`, {
        headers: {
          Authorization: `Bearer ${adminToken}`,
          ...(followed.length === 0 ? {} : { "Last-Event-ID": String(followed.at(-1)) }),
        },
        signal,
      });
      assert.equal(response.status, 200);
      let text = "";
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += part;
        const pieces = text.split("\n\n");
        text = pieces.pop() ?? "";
        for (const piece of pieces) {
          const [, id] = /^id: (\d+)$/m.exec(piece) ?? [];
          if (id !== undefined) followed.push(Number(id));
        }
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      await pause(50);
    }
  }
}

/** All events of the shop, as they are read. */
async function eventsOf({ shopId }: Shop, url: string): Promise<readonly Event[]> {
  const found: Event[] = [];
  for (let cursor: string | null = "0"; cursor !== null;) {
    const { data }: z.output<typeof pageSchema> = pageSchema.parse(
      await operate(url, "GET", `/shops/${shopId}/events?limit=500&after=${cursor}`),
    );
    found.push(...data.events);
    ({ cursor } = data);
    if (cursor === null) assert.equal(data.lastSequence, found.at(-1)?.sequence);
  }
  return found;
}

test("under many writers and kills (-9) every acknowledged change has one event, without a gap, delivered under one id", async (context) => {
  const random = randomOf(String(seed));
  const broken = new AbortController();
  const following = new AbortController();
  const receiver = await startReceiver();
  /** By event id, the body of what was taken. */
  const taken = new Map<string, string>();
  const refused = new Set<string>();
  receiver.answer = (response, { eventId, sequence, body, headers }) => {
    assert.equal(headers["webhook-id"], eventId);
    const answered = async (): Promise<void> => {
      await pause(random.next() * receiverMs);
      if (response.destroyed || response.socket?.destroyed === true) return;
      if (sequence % refusedEvery === 0 && !refused.has(eventId)) {
        refused.add(eventId);
        response.writeHead(503, { "Retry-After": "1" }).end();
        return;
      }
      taken.set(eventId, body);
      response.writeHead(204).end();
    };
    void answered();
  };
  const prove = async (directory: string): Promise<void> => {
    const start = (): Promise<RunningProgram> =>
      serveProgram({
        OPENPO_DATA_DIR: directory,
        OPENPO_ADMIN_TOKEN: adminToken,
        OPENPO_DEMO: "0",
        OPENPO_WEBHOOK_ALLOW: "127.0.0.1",
        OPENPO_WEBHOOK_HTTP: "1",
      });
    const service: Service = {
      program: await start(),
      get url() {
        return this.program.url;
      },
    };
    let kills = 0;
    const load = await Load.open({
      urls: () => [service.url],
      seed: String(seed),
      shopIds,
      settings: () => ({}),
      clients: writerCount,
      inAHurry: false,
      isOver: () => kills >= killCount || broken.signal.aborted,
    });
    const shops = await Promise.all(
      shopIds.map(async (shopId): Promise<Shop> => {
        const endpoint = { url: receiver.url, eventTypes: ["purchase_order.*"] };
        const made = await operate(service.url, "POST", `/shops/${shopId}/webhook-endpoints`, endpoint);
        return { shopId, endpointId: endpointSchema.parse(made).data.endpointId, followed: [] };
      }),
    );
    const killing = async (): Promise<void> => {
      while (kills < killCount && !broken.signal.aborted) {
        const wanted = load.client.answered + 1 + random.next() * answersPerLifeMax;
        await until("more is answered", () => load.client.answered >= wanted || broken.signal.aborted);
        await service.program.end("SIGKILL");
        service.program = await start();
        kills += 1;
      }
    };
    const writing = load.run();
    const followers = shops.map((shop) => follow(shop, service, following.signal));
    const startedMs = performance.now();
    try {
      await Promise.all(
        [killing(), writing].map((each) =>
          each.catch((error: unknown) => {
            broken.abort();
            throw error;
          }),
        ),
      );
      const writtenMs = performance.now();
      for (const history of await load.histories())
        assert.deepEqual(judgeHistory(history).findings, [], history.shopId);
      const events = await Promise.all(shops.map((shop) => eventsOf(shop, service.url)));
      const wanted = events.flat().filter(({ type }) => type.startsWith("purchase_order."));
      const missing = (): typeof wanted => wanted.filter(({ eventId }) => !taken.has(eventId));
      await until(
        () => `${missing().length} events delivered: ${JSON.stringify(missing()[0])}`,
        () => missing().length === 0,
        drainMsMax,
      );
      const drainedMs = performance.now();
      for (const event of wanted)
        assert.deepEqual(eventSchema.parse(JSON.parse(taken.get(event.eventId) ?? "")), event, "as it is read");
      const bodies = new Set(receiver.received.map(({ body }) => body));
      assert.equal(bodies.size, wanted.length, "an event is delivered under one id and with the same bytes every time");
      for (const { shopId, endpointId, followed } of shops) {
        const pending = `/shops/${shopId}/webhook-endpoints/${endpointId}/deliveries?state=pending`;
        const isPending = async (): Promise<boolean> =>
          pendingSchema.parse(await operate(service.url, "GET", pending)).data.totalCount > 0;
        await until(`all of ${shopId} is delivered`, async () => !(await isPending()), patienceMs);
        const all = events[shops.findIndex((shop) => shop.shopId === shopId)]?.length ?? 0;
        await until(`the stream of ${shopId} has ${all} events`, () => followed.length >= all, patienceMs);
        assert.deepEqual(
          followed,
          Array.from({ length: Math.max(all, followed.length) }, (_, index) => index + 1),
          `the stream of ${shopId} has each event once, in order`,
        );
      }
      context.diagnostic(
        `${writerCount} writers, ${kills} kills in ${Math.round((writtenMs - startedMs) / 1_000)} s: ${wanted.length} changes, ` +
          `${receiver.received.length} attempts, ${refused.size} refused at first; all delivered ${Math.round((drainedMs - writtenMs) / 1_000)} s later`,
      );
    } catch (error) {
      context.diagnostic(`OPENPO_TEST_EVENTS_SEED=${seed}`);
      throw error;
    } finally {
      broken.abort();
      following.abort();
      await Promise.allSettled([writing, ...followers]);
      await service.program.end("SIGTERM");
      hangUp();
    }
  };
  try {
    await withDirectory(prove);
  } finally {
    await receiver.close();
  }
});
