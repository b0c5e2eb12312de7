/** The way of a client's requests to served programs: over HTTP, to any of them, on connections that may be cut while a request runs. */
import type { Reply } from "../../src/requests/envelope.ts";
import { type Answered, ask } from "../support/clients.ts";
import type { Sent } from "./client.ts";
import type { Random } from "./random.ts";

export interface HttpOptions {
  /** The nodes' addresses at this moment. */
  readonly urls: () => readonly string[];
  readonly random: Random;
  /** Of all requests, so many are cut off, each within this time. */
  readonly cuts: { readonly share: number; readonly withinMs: number };
  /** Told why an answer has not come. */
  readonly onLost?: (why: string) => void;
  /** Throws if something is wrong with an answer. */
  readonly check?: (sent: { readonly method: string; readonly target: string }, answer: Answered) => void;
}

/** Headers as replies spell them. */
const spelled = new Map(
  ["X-Request-Id", "Idempotent-Replayed", "Retry-After", "Location", "ETag"].map((name) => [name.toLowerCase(), name]),
);

/** The trace of a request, by which the audit log tells its id when its answer was lost. */
export const traceOf = (requestId: string): string => requestId.replace(/\D/g, "").padStart(32, "0");

export const overHttp =
  ({ urls, random, cuts, onLost = () => {}, check }: HttpOptions) =>
  async ({ requestId, method, path, search, headers, body }: Sent): Promise<Reply | null> => {
    const { authorization = "", ...others } = headers;
    const asked = {
      method,
      target: path + (search === "" ? "" : `?${search}`),
      token: authorization.replace("Bearer ", ""),
      headers: { traceparent: `00-${traceOf(requestId)}-${"1".padStart(16, "0")}-00`, ...others },
      ...(body === null ? {} : { body }),
      ...(random.chance(cuts.share) ? { waitMsMax: random.next() * cuts.withinMs } : {}),
    };
    const answer = await ask(random.pick(urls()), asked).catch((error: unknown) => {
      onLost(error instanceof Error && "code" in error ? String(error.code) : String(error));
      return null;
    });
    if (answer === null) return null;
    check?.(asked, answer);
    return {
      status: answer.status,
      headers: Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [spelled.get(name) ?? name, String(value)]),
      ),
      body: answer.text,
      errorCode: null,
    };
  };
