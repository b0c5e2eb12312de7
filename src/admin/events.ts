/**
 * The events of a shop: read in their order, and followed as they come (C58).
 *
 * Following polls the table, so that it sees what other nodes write too. It waits in no queue of the shop, and holds no
 * more than one page of events for a reader who is slow.
 */
import { z } from "zod";
import { type EventType, eventTypePatterns, eventTypes, typesNamed } from "../core/events/events.ts";
import { Fault, invalidField } from "../base/fault.ts";
import { sleep } from "../base/time/waiting.ts";
import { listParameterMax, pageShape } from "../operations/fields.ts";
import { type StoredEvent, countEventsAfter, eventsAfter, lastSequence } from "../shop/events/events.ts";
import { type AdminCall, type AdminContext, data, inShop, operation, shopOf } from "./operation.ts";

/** Streams of events that a process serves. The next one is refused. */
export const eventStreamsMax = 200;

/** Of them, those of one shop, so that others have some. */
export const eventStreamsOfShopMax = 100;

/** Of those of a shop, those of one person: as many as the pages that may be open. */
export const eventStreamsOfPersonMax = 20;

/** Interval at which a shop whose events are followed is polled for new ones, for all that follow them together. */
export const eventPollMs = 500;

/** A stream that has had nothing to tell for so long says that it is still there. */
export const eventHeartbeatMs = 15_000;

const eventPageMax = 500;

const eventPageDefault = 50;

const types = z
  .array(
    z.enum(eventTypePatterns, {
      error: "must be a type of event, purchase_order.*, storefront_sync.* and the like, or *",
    }),
  )
  .min(1)
  .max(listParameterMax)
  .optional()
  .meta({ query: "list", description: "Only events of these types, or groups like purchase_order.*." });

const sequence = z.int().min(0).meta({ query: "integer", description: "Only events after this sequence." });

/** Members of every event (C56); `data` depends on its type. */
const eventSchema = z.strictObject({
  eventId: z.string(),
  sequence: z.int(),
  type: z.enum(eventTypes),
  timestamp: z.string(),
  shopId: z.string(),
  actor: z.strictObject({
    type: z.string(),
    id: z.string().nullable(),
    name: z.string().nullable(),
    keyId: z.string().optional(),
  }),
  requestId: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});

const namedTypes = (patterns: readonly string[] | undefined): readonly EventType[] | null =>
  patterns === undefined || patterns.includes("*") ? null : typesNamed(patterns);

export const listEvents = operation({
  name: "event_list",
  route: { method: "GET", path: "/shops/{shopId}/events" },
  role: "viewer",
  describes: {
    summary: "Events in their order, those after a sequence.",
    description:
      "For a reader who catches up: `cursor` is the sequence to go on after, null on the last page; `lastSequence` is that of the newest event. Events are kept for 30 days.",
    output: z.strictObject({ events: z.array(eventSchema), ...pageShape, lastSequence: z.int() }),
  },
  input: z.strictObject({
    ...inShop,
    after: sequence.default(0),
    types,
    limit: z.int().min(1).max(eventPageMax).default(eventPageDefault).meta({ query: "integer" }),
  }),
  /**
   * Events in their order, those after a sequence. `cursor` is the sequence to go on after, null on the last page;
   * `lastSequence` is that of the shop's newest event, whatever its type.
   */
  async run({ engine }, { shopId: id, after, types: patterns, limit }) {
    const wanted = namedTypes(patterns);
    return await engine.read(id, async (tx) => {
      const [, found, totalCount, last] = await Promise.all([
        shopOf(tx, id),
        eventsAfter(tx, id, after, wanted, limit + 1),
        countEventsAfter(tx, id, after, wanted),
        lastSequence(tx, id),
      ]);
      if (after > last) throw invalidField("/after", aheadOf(last), aheadAction);
      const page = found.slice(0, limit);
      const end = found.length > limit ? page.at(-1) : undefined;
      const cursor = end === undefined ? null : String(end.sequence);
      return data({ events: page.map(eventJson), totalCount, cursor, lastSequence: last });
    });
  },
});

/** As it was delivered. */
function eventJson({ text }: StoredEvent): unknown {
  const event: unknown = JSON.parse(text);
  return event;
}

export const followEvents = operation({
  name: "event_stream",
  route: { method: "GET", path: "/shops/{shopId}/events/stream" },
  role: "viewer",
  describes: {
    summary: "Events as they come, as a stream of server-sent events.",
    description:
      "Those after a sequence, then each new one, until the reader leaves. `Last-Event-ID` wins over `after`; without either it begins with the next event.",
    output: { pieces: "text/event-stream" },
  },
  input: z.strictObject({ ...inShop, after: sequence.optional(), types }),
  /**
   * Server-sent events: those after a sequence and then each as it comes, until the reader leaves. `Last-Event-ID` wins
   * over `after`; without either it begins with the next event.
   */
  async run(context, { shopId: id, after, types: patterns }, call) {
    const last = await context.engine.read(id, async (tx) => {
      await shopOf(tx, id);
      return await lastSequence(tx, id);
    });
    const lastRead = sequenceOf(call.lastEventId);
    const from = lastRead ?? after ?? last;
    if (from > last && lastRead === null) throw invalidField("/after", aheadOf(last), aheadAction);
    if (from > last) throw new Fault("INVALID_INPUT", `Last-Event-ID ${aheadOf(last)}.`, { action: aheadAction });
    return {
      file: streamed(context, id, { from, wanted: namedTypes(patterns), call }),
      contentType: "text/event-stream",
      // A proxy must pass each event on as it comes.
      headers: { "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
    };
  },
});

/**
 * Returns the message for a place that the shop's events have not reached yet: silence would be taken for no news
 * (C61a).
 */
const aheadOf = (last: number): string =>
  last === 0 ? "is ahead of the shop's events: it has none yet" : `is ahead of the shop's newest event, ${last}`;

const aheadAction =
  "Check that it is a number of this shop. After a restore from a backup, read again what you keep of the shop and go on after its newest event.";

/** @throws Fault INVALID_INPUT for what no stream has sent. */
function sequenceOf(lastEventId: string | null): number | null {
  if (lastEventId === null || lastEventId === "") return null;
  if (/^\d+$/.test(lastEventId) && Number.isSafeInteger(Number(lastEventId))) return Number(lastEventId);
  throw new Fault("INVALID_INPUT", "Last-Event-ID must be the sequence of an event.", {
    action: "Send the id of the last event that you have read, or none.",
  });
}

/** Events of one poll: a reader who is slow is given the next ones when these are read. */
const pollEventsMax = 100;

/** Streams that are open in this process: in all, of each shop, and of each person in a shop. */
const openStreams = new Map<string, number>();

/**
 * Takes a place for a stream and returns what gives it back. @throws Fault DO_OVERLOADED when there is none for this
 * shop or person.
 */
function placeFor(shopId: string, person: AdminCall["person"]): () => void {
  const shares: readonly (readonly [holder: string, most: number])[] = [
    ["all", eventStreamsMax],
    [`shop ${shopId}`, eventStreamsOfShopMax],
    ...(person === null ? [] : [[`${shopId} ${person.personId ?? ""}`, eventStreamsOfPersonMax] as const]),
  ];
  if (shares.some(([holder, most]) => (openStreams.get(holder) ?? 0) >= most))
    throw new Fault("DO_OVERLOADED", "Too many streams of events are open.", {
      action: "Close others, or read events page by page.",
      retryAfterMs: eventHeartbeatMs,
    });
  const add = (by: number): void => {
    for (const [holder] of shares) {
      const count = (openStreams.get(holder) ?? 0) + by;
      if (count === 0) openStreams.delete(holder);
      else openStreams.set(holder, count);
    }
  };
  add(1);
  return () => add(-1);
}

/** By shop, the newest sequence as of the last poll: all streams of a shop share it. */
const polled = new Map<string, { readonly atMs: number; readonly last: Promise<number> }>();

/** The shop's newest sequence, no older than `eventPollMs`. */
function newest({ engine, clock }: Pick<AdminContext, "engine" | "clock">, shopId: string): Promise<number> {
  const found = polled.get(shopId);
  if (found !== undefined && clock.now() - found.atMs < eventPollMs) return found.last;
  const last = engine.peek(shopId, (tx) => lastSequence(tx, shopId));
  polled.set(shopId, { atMs: clock.now(), last });
  return last;
}

/** Events that are followed, and their reader. */
interface Following {
  readonly from: number;
  readonly wanted: readonly EventType[] | null;
  readonly call: Pick<AdminCall, "person" | "mayStillAsk" | "signal">;
}

/**
 * Pieces of a stream: an event each, or a comment when there was none for a while. By the comment a reader knows that
 * the stream is alive. It ends with the reader's right to ask. The right is checked after events were read and before
 * the first of them is written. So nothing that was committed after its end is written.
 */
async function* streamed(
  context: Pick<AdminContext, "engine" | "clock">,
  shopId: string,
  { from, wanted, call: { person, mayStillAsk, signal } }: Following,
): AsyncGenerator<string> {
  const { engine, clock } = context;
  const leave = placeFor(shopId, person);
  try {
    let after = from;
    let seen = from;
    let saidAtMs = clock.now();
    yield `: the events after ${after}\n\n`;
    while (!signal.aborted) {
      const last = await newest(context, shopId);
      const isNew = last > seen;
      const found = isNew
        ? await engine.read(shopId, (tx) => eventsAfter(tx, shopId, after, wanted, pollEventsMax))
        : [];
      let checkedAtMs = Number.NEGATIVE_INFINITY;
      for (const { sequence: id, type, text } of found) {
        // Once for those that were read together, and again for a reader who takes them slowly.
        if (clock.now() - checkedAtMs >= eventPollMs) {
          if (!(await mayStillAsk())) return;
          checkedAtMs = clock.now();
        }
        yield `id: ${id}\nevent: ${type}\ndata: ${text}\n\n`;
        after = id;
        saidAtMs = clock.now();
      }
      if (found.length === pollEventsMax) continue;
      if (isNew) seen = last;
      if (clock.now() - saidAtMs >= eventHeartbeatMs) {
        saidAtMs = clock.now();
        yield ": nothing new\n\n";
      }
      await sleep(eventPollMs, signal);
    }
  } finally {
    leave();
    if (openStreams.size === 0) polled.clear();
  }
}
