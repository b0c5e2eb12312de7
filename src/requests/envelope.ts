/**
 * Answers on the wire: the success envelope, the error body and the headers that follow from a fault (spec "Common
 * conventions", "Errors"; C2–C6). Every surface over HTTP uses it.
 */
import { Fault, type FaultCode } from "../base/fault.ts";
import type { Surface } from "../core/order/guidance.ts";
import { worded } from "./wording.ts";
import type { Answer, Operation } from "./operation.ts";
import type { Incoming } from "./request.ts";

/** The body of an answer, 10 MiB: a client can be expected to hold this much in memory. */
export const responseBytesMax = 10_485_760;

export const apiVersion = "1.2";

/** An answer before it becomes bytes. Header names are spelled as they are sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or empty (304). */
  readonly body: string;
  /**
   * The body's bytes if a thread has made them; `body` is empty then. Of this answer alone: their memory is given back
   * when it has been sent.
   */
  readonly bytes?: Uint8Array;
  /** Null on success. */
  readonly errorCode: FaultCode | null;
  /** Of the stored answer of an earlier call: when that was answered. */
  readonly answeredAtMs?: number;
  /**
   * Of an earlier call's refusal, where the surface tells it: the order that it was about, as it is now. Null: it is
   * not there.
   */
  readonly orderNow?: OrderNow | null;
}

/**
 * Frees the memory of a reply's bytes that nobody reads any more. Otherwise several megabytes would stay until the next
 * garbage collection.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && !buffer.detached) buffer.transfer(0);
}

/** An order as it is when an earlier call's refusal is told again. */
interface OrderNow {
  readonly purchaseOrderId: string;
  readonly status: string;
  readonly version: number;
}

/** True if it is the stored answer of an earlier request (C18). */
export const isReplay = ({ headers }: Reply): boolean => headers["Idempotent-Replayed"] !== undefined;

interface SuccessOptions {
  readonly status?: 200 | 201 | 202;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default `rest`. */
  readonly surface?: Surface;
}

/** U+0000 as JSON writes it. It stands around mentions, and in no text from outside. */
const mentionInJson = "\\u0000";

/** The content as JSON, with what its texts mention in the words of the surface that asked. */
function bodyOf(content: unknown, surface: Surface): string {
  const body = JSON.stringify(content);
  if (!body.includes(mentionInJson)) return body;
  return JSON.stringify(content, (_member, value: unknown) =>
    typeof value === "string" ? worded(value, surface) : value,
  );
}

/** The reply to a request that was done: `{ data, meta }`. */
export const success = (requestId: string, data: unknown, options: SuccessOptions = {}): Reply =>
  successOf(requestId, bodyOf(data, options.surface ?? "rest"), options);

/** @param dataText  `data` as JSON. */
const successOf = (requestId: string, dataText: string, options: SuccessOptions, more: object = {}): Reply => ({
  status: options.status ?? 200,
  headers: { "X-Request-Id": requestId, ...options.headers },
  body: `{"data":${dataText},"meta":${JSON.stringify({ requestId, apiVersion, ...more })}}`,
  errorCode: null,
});

/** The error body with `Retry-After`, `Allow` and `WWW-Authenticate` as far as the fault asks for them. */
export function failure(requestId: string, fault: Fault, surface: Surface = "rest"): Reply {
  const headers: Record<string, string> = { "X-Request-Id": requestId };
  if (fault.retryAfterMs !== null) headers["Retry-After"] = String(Math.max(1, Math.ceil(fault.retryAfterMs / 1000)));
  if (fault.allow !== null) headers["Allow"] = fault.allow.join(", ");
  if (fault.code === "UNAUTHORIZED") headers["WWW-Authenticate"] = "Bearer";
  const error = {
    code: fault.code,
    message: fault.message,
    retryable: fault.retryable,
    requestId,
    ...(fault.retryAfterMs === null ? {} : { retryAfterMs: fault.retryAfterMs }),
    ...(fault.action === null ? {} : { action: fault.action }),
    ...(fault.reason === null ? {} : { reason: fault.reason }),
    ...(fault.details === null ? {} : { details: fault.details }),
  };
  return { status: fault.status, headers, body: bodyOf({ error }, surface), errorCode: fault.code };
}

/** An answer as a surface shows it, before it is the answer to one request. */
export interface ShownAnswer extends Omit<Answer<unknown>, "data"> {
  /** JSON. */
  readonly dataText: string;
}

export const shownAnswer = ({ data, ...others }: Answer<unknown>, surface: Surface): ShownAnswer => ({
  ...others,
  dataText: bodyOf(data, surface),
});

export const shownReply = (
  { requestId }: Pick<Incoming, "requestId">,
  operation: Operation,
  shown: ShownAnswer,
): Reply => successOf(requestId, shown.dataText, { status: operation.success, headers: answerHeaders(shown) });

/** The answer of a dry run (C81). It has no ETag and no Location: there is no such version, and nothing new. */
export const dryReply = (
  { requestId, surface }: Pick<Incoming, "requestId" | "surface">,
  { data }: Answer<unknown>,
  storefrontWrites: object,
): Reply =>
  successOf(
    requestId,
    bodyOf(data, surface),
    {},
    {
      dryRun: true,
      ...(Object.keys(storefrontWrites).length === 0 ? {} : { storefrontWrites }),
    },
  );

/** An operation's answer as a reply. */
export const answerReply = (
  incoming: Pick<Incoming, "requestId" | "surface">,
  operation: Operation,
  answer: Answer<unknown>,
): Reply => shownReply(incoming, operation, shownAnswer(answer, incoming.surface));

/** True if `If-None-Match` names this ETag, by weak comparison. */
export function namesTag(ifNoneMatch: string | null, etag: string): boolean {
  const names = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim());
  return names.some((name) => name === "*" || name.replace(/^W\//, "") === `"${etag}"`);
}

/**
 * The 304 reply when `If-None-Match` names the answer's version and it tells of every change; by weak comparison as for
 * every read. Else null.
 */
export function notModified(
  { requestId, ifNoneMatch }: Pick<Incoming, "requestId" | "ifNoneMatch">,
  answer: Omit<Answer<unknown>, "data">,
): Reply | null {
  const { etag, isNewerThanEtag = false } = answer;
  if (etag === undefined || isNewerThanEtag || !namesTag(ifNoneMatch, etag)) return null;
  return { status: 304, headers: { "X-Request-Id": requestId, ...answerHeaders(answer) }, body: "", errorCode: null };
}

const answerHeaders = ({ location, etag }: Omit<Answer<unknown>, "data">): Record<string, string> => ({
  ...(location === undefined ? {} : { Location: location }),
  ...(etag === undefined ? {} : { ETag: `"${etag}"` }),
});

/** The way out of an answer that is too large. */
export const tooLargeAction =
  "Ask for less where the call takes limit, cursor or filters. Else the order has too much text: shorten its notes, or use another order.";

/** The reply itself. @throws Fault OUTPUT_TOO_LARGE when its body has more bytes than are allowed. */
export function withinBytes(reply: Reply, bytesMax: number): Reply {
  const bytes = Buffer.byteLength(reply.body);
  if (bytes <= bytesMax) return reply;
  throw new Fault("OUTPUT_TOO_LARGE", `The answer would have ${bytes} bytes, more than the ${bytesMax} allowed.`, {
    action: tooLargeAction,
  });
}

/** Shorter bodies stay texts: Node writes them together with the headers. */
const bytesMin = 65_536;

/** True if the body is better passed on as bytes than as a text. */
export const isLong = ({ body }: Reply): boolean => body.length >= bytesMin;

/** The reply with a long body as bytes, which pass from thread to thread and to the socket without being copied. */
export const asBytes = (reply: Reply): Reply =>
  isLong(reply) ? { ...reply, body: "", bytes: Buffer.from(reply.body) } : reply;

/** True if a client could not tell the two apart. */
export const sameReply = (a: Reply, b: Reply): boolean =>
  a.body === b.body && a.status === b.status && JSON.stringify(a.headers) === JSON.stringify(b.headers);

/** The fault that the caller is told for whatever was thrown: what is not a `Fault` is a bug and becomes INTERNAL. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("INTERNAL", "Something went wrong on the server's side.", {
    action: "Report this requestId. After a write, read the order before repeating it.",
    cause: error,
  });
}

export function respond(reply: Reply): Response {
  const headers = new Headers(reply.headers);
  headers.set("X-Content-Type-Options", "nosniff");
  const body = reply.bytes === undefined ? reply.body : new Uint8Array(reply.bytes);
  if (body.length === 0) return new Response(null, { status: reply.status, headers });
  headers.set("Content-Type", "application/json");
  return new Response(body, { status: reply.status, headers });
}
