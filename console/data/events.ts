/**
 * Events of the shop (C58): read, and followed as they come.
 *
 * Owns: the one stream of the page, whoever follows it, and its place. A page that is hidden follows nothing; it goes
 * on after the last event that it has seen. The stream is open while somebody follows it. Invariant: who follows, and
 * then reads, is told each event that what they read does not have yet, however late the stream opens.
 */
import type { Input } from "../../client/index.ts";
import { openpo, withBearer } from "./client.ts";
import { sleep } from "./reading.ts";
import { member, shopId, signedIn, textOf } from "./session.ts";

type Pattern = NonNullable<Input<"event_list">["types"]>[number];

/** Members of an event that the console reads. */
interface ShopEvent {
  readonly type: string;
  readonly actorName: string | null;
  /** Of events about an order. */
  readonly purchaseOrderId: string | null;
  readonly version: number | null;
  /** Of events about a key. */
  readonly keyId: string | null;
}

function eventOf(payload: unknown): ShopEvent {
  const data = member(payload, "data");
  const version = member(data, "version");
  return {
    type: textOf(member(payload, "type")) ?? "",
    actorName: textOf(member(member(payload, "actor"), "name")),
    purchaseOrderId: textOf(member(data, "purchaseOrderId")),
    version: typeof version === "number" ? version : null,
    keyId: textOf(member(data, "keyId")),
  };
}

const pageMax = 500;

/** The events of these types that are kept, at most 500; none when they cannot be read. */
export async function pastEvents(types: readonly Pattern[]): Promise<readonly ShopEvent[]> {
  const result = await openpo.call("event_list", { shopId: shopId(), types, limit: pageMax });
  return result.ok ? result.data.events.map(eventOf) : [];
}

const firstWaitMs = 1_000;
const waitMsMax = 30_000;

/** The newest event that the page has seen of this shop. */
let place = { shopId: "", sequence: 0 };

/**
 * Where a stream begins when nobody has followed: what is read from now on is as new as the bearer with which it is
 * read.
 */
function placeNow(): string {
  const sequence = signedIn()?.shop.lastSequence ?? 0;
  if (place.shopId !== shopId() || place.sequence < sequence) place = { shopId: shopId(), sequence };
  return String(place.sequence);
}

const followers = new Set<(event: ShopEvent) => void>();

const hearers = new Set<(event: ShopEvent) => void>();

/** Calls `seen` for the events of the stream while others follow it. @returns what ends it. */
export function hearEvents(seen: (event: ShopEvent) => void): () => void {
  hearers.add(seen);
  return () => void hearers.delete(seen);
}

/** Ends the stream; null while none is open. */
let close: (() => void) | null = null;

/** Calls `seen` for each event that what is read from now on may not have. @returns what ends it. */
export function followEvents(seen: (event: ShopEvent) => void): () => void {
  // Whoever follows twice is called twice.
  const follower = (event: ShopEvent): void => seen(event);
  followers.add(follower);
  close ??= stream();
  return () => {
    followers.delete(follower);
    if (followers.size > 0) return;
    close?.();
    close = null;
  };
}

function stream(): () => void {
  let isClosed = false;
  const shop = shopId();
  let lastEventId = placeNow();
  let waitMs = firstWaitMs;
  let reading = new AbortController();
  const onVisibility = (): void => {
    if (document.hidden) reading.abort();
  };
  const read = async (): Promise<void> => {
    reading = new AbortController();
    const headers = { "Last-Event-ID": lastEventId };
    const address = `/admin/v1/shops/${encodeURIComponent(shop)}/events/stream`;
    const response = await withBearer(address, { headers, signal: reading.signal });
    // The shop was restored to before that event: it goes on with the next one.
    if (response.status === 400) lastEventId = "";
    if (!response.ok || response.body === null) return;
    waitMs = firstWaitMs;
    for await (const { id, data } of messagesOf(response.body)) {
      if (isClosed) return;
      lastEventId = id;
      place = { shopId: shop, sequence: Number(id) };
      const event = eventOf(JSON.parse(data));
      for (const each of [...followers, ...hearers]) each(event);
    }
  };
  const follow = async (): Promise<void> => {
    while (!isClosed) {
      if (document.hidden) await untilVisible();
      else {
        await read().catch(() => undefined);
        await sleep(waitMs);
        waitMs = Math.min(waitMs * 2, waitMsMax);
      }
    }
  };
  document.addEventListener("visibilitychange", onVisibility);
  void follow();
  return () => {
    isClosed = true;
    document.removeEventListener("visibilitychange", onVisibility);
    reading.abort();
  };
}

const untilVisible = (): Promise<void> =>
  new Promise((resolve) => document.addEventListener("visibilitychange", () => resolve(), { once: true }));

/** The events in a stream; comments, by which the service says that it is there, are left out. */
async function* messagesOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<{ readonly id: string; readonly data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line]));
      const id = fields.get("id")?.slice("id: ".length);
      const data = fields.get("data")?.slice("data: ".length);
      if (id !== undefined && data !== undefined) yield { id, data };
    }
  }
}
