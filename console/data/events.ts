/**
 * Events of the shop (C58): read, and followed as they come. A page that is hidden follows nothing; it goes on after the last event that
 * it has seen.
 */
import { withBearer } from "./client.ts";
import { member, shopId, textOf } from "./session.ts";

/** What the console looks at in an event. */
export interface ShopEvent {
  readonly type: string;
  readonly actorName: string | null;
  /** Of events about a key. */
  readonly keyId: string | null;
}

const eventOf = (value: unknown): ShopEvent => ({
  type: textOf(member(value, "type")) ?? "",
  actorName: textOf(member(member(value, "actor"), "name")),
  keyId: textOf(member(member(value, "data"), "keyId")),
});

const pageMax = 500;

const addressOf = (types: readonly string[], step = ""): string => {
  const query = types.length === 0 ? "" : `types=${types.join(",")}`;
  return `/admin/v1/shops/${encodeURIComponent(shopId())}/events${step}?${query}`;
};

/** The events of these types that are kept, at most 500; none when they cannot be read. */
export async function pastEvents(types: readonly string[]): Promise<readonly ShopEvent[]> {
  try {
    const response = await withBearer(`${addressOf(types)}&limit=${pageMax}`);
    const body: unknown = await response.json();
    const events = member(member(body, "data"), "events");
    return Array.isArray(events) ? events.map(eventOf) : [];
  } catch {
    return [];
  }
}

const firstWaitMs = 1_000;
const waitMsMax = 30_000;

/** Calls `seen` for each event of these types (all when none is named) from now on. @returns what ends it. */
export function followEvents(types: readonly string[], seen: (event: ShopEvent) => void): () => void {
  let isStopped = false;
  let lastEventId: string | null = null;
  let waitMs = firstWaitMs;
  let reading = new AbortController();
  const onVisibility = (): void => {
    if (document.hidden) reading.abort();
  };
  const read = async (): Promise<void> => {
    reading = new AbortController();
    const headers = lastEventId === null ? {} : { "Last-Event-ID": lastEventId };
    const response = await withBearer(addressOf(types, "/stream"), { headers, signal: reading.signal });
    if (!response.ok || response.body === null) return;
    waitMs = firstWaitMs;
    for await (const { id, data } of messagesOf(response.body)) {
      lastEventId = id;
      seen(eventOf(JSON.parse(data)));
    }
  };
  const follow = async (): Promise<void> => {
    while (!isStopped) {
      if (document.hidden) await untilVisible();
      else {
        await read().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        waitMs = Math.min(waitMs * 2, waitMsMax);
      }
    }
  };
  document.addEventListener("visibilitychange", onVisibility);
  void follow();
  return () => {
    isStopped = true;
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
