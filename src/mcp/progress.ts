/**
 * Progress of calls that wait for the storefront: a notification every second until the call is answered. A client's
 * own time limit begins anew with each. Clients get it that take a stream and have named a token.
 *
 * Owns: the stream. Does not own: what the call answers (app.ts), and headers: an answer that is streamed has only
 * those that were known when it began.
 */
import { INTERNAL_ERROR } from "@modelcontextprotocol/server";
import { type JsonObject, memberOf } from "../base/json.ts";
import { sleep, withinMs } from "../base/time/waiting.ts";
import type { Operation } from "../requests/operation.ts";
import { protocolFailure } from "./message.ts";

/** Time after which a call that is not answered is told of, and time between two notifications. */
const progressEveryMs = 1_000;

/** The token by which a client wants to be told of its call; null: it does not, or the call does not wait. */
export function progressTokenOf(
  message: JsonObject,
  accept: string | null,
  operation: Operation | undefined,
): string | number | null {
  if (operation?.faults.includes("UPSTREAM_STOREFRONT") !== true) return null;
  if (accept?.includes("text/event-stream") !== true) return null;
  const token = ["_meta", "progressToken"].reduce(memberOf, memberOf(message, "params"));
  return typeof token === "string" || typeof token === "number" ? token : null;
}

/** The answer, or a stream that tells of it until it is there. */
export async function withProgress(
  token: string | number,
  id: string | number | null,
  answering: Promise<Response>,
): Promise<Response> {
  let isAnswered = false;
  const noted = answering.finally(() => (isAnswered = true));
  await withinMs(noted, progressEveryMs);
  if (isAnswered) return await noted;
  const over = new AbortController();
  const answered = noted
    .catch(() => protocolFailure(500, INTERNAL_ERROR, "The call failed.", id))
    .finally(() => over.abort());
  const encoder = new TextEncoder();
  const event = (data: string): Uint8Array => encoder.encode(`event: message\ndata: ${data}\n\n`);
  let progress = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (progress > 0) await sleep(progressEveryMs, over.signal);
        if (over.signal.aborted) {
          controller.enqueue(event(await (await answered).text()));
          controller.close();
          return;
        }
        progress += 1;
        const params = { progressToken: token, progress, message: "Waiting for the storefront." };
        controller.enqueue(event(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params })));
      },
      cancel: () => over.abort(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}
