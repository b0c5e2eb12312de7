/**
 * One attempt: a POST to an endpoint, to an address that was checked for this very attempt (C60, C61).
 *
 * Every address of the host is looked up and judged for each attempt, and the connection goes to one of those that were
 * judged. So a name cannot change in between. Connections are not kept, since the next attempt judges again. Redirects
 * are not followed.
 */
import { request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { neutralised } from "../base/text/plain-text.ts";
import { unless } from "../base/time/waiting.ts";
import type { AttemptResult } from "../core/events/webhooks.ts";
import { bareHost, type ConnectPolicy, formFault, isAddress, judge } from "./addresses.ts";
import type { Resolve } from "./names.ts";

/** Time limit of an attempt, from looking up the name to the end of the answer. */
export const attemptMsMax = 15_000;

/** Bytes of an answer that are read; the rest is cut off. */
export const webhookAnswerBytesMax = 65_536;

/** Bytes of an answer that are kept when it was no success. */
export const excerptBytesMax = 500;

interface PostOptions {
  readonly policy: ConnectPolicy;
  readonly resolve: Resolve;
  /** Default `attemptMsMax`. */
  readonly timeoutMs?: number;
  /** Ends the attempt without a result that counts. */
  readonly aborting: AbortSignal;
}

/** The failure of a look-up that took too long. */
export const lookUpTooSlow = (): Error => new Error("the name was not looked up in time");

/**
 * Sends the body. Resolves with what the receiver answered or why it did not; null when `aborting` ended the attempt.
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { policy, resolve, timeoutMs = attemptMsMax, aborting }: PostOptions,
): Promise<AttemptResult | null> {
  const startedAtMs = performance.now();
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([deadline, aborting]);
  const ms = (): number => Math.round(performance.now() - startedAtMs);
  try {
    const target = new URL(url);
    const fault = formFault(policy, url);
    if (fault !== null) throw new Error(`the URL ${fault}`);
    const { addresses, isOpened } = await unless(signal, allowedAddresses(target, policy, resolve), lookUpTooSlow);
    const bytes = Buffer.from(body);
    const sent = { ...headers, "Content-Type": "application/json", "Content-Length": String(bytes.length) };
    const answer = await exchange(target, { method: "POST", addresses, headers: sent, signal }, bytes, answerIn);
    return {
      kind: "answered",
      status: answer.status,
      ms: ms(),
      retryAfter: answer.retryAfter,
      excerpt: isOpened ? null : answer.excerpt,
    };
  } catch (error) {
    if (aborting.aborted) return null;
    const reason = deadline.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error);
    return { kind: "failed", ms: ms(), reason };
  }
}

/** @throws Error unless every address of the host may be connected to. */
export async function allowedAddresses(
  target: URL,
  policy: ConnectPolicy,
  resolve: Resolve,
): Promise<{ readonly addresses: readonly string[]; readonly isOpened: boolean }> {
  const host = bareHost(target);
  const addresses = isAddress(host) ? [host] : await resolve(host);
  const verdicts = addresses.map((address) => judge(policy, host, address));
  // Which address it is, nobody is told: that would map a network from inside.
  if (verdicts.length === 0 || verdicts.includes("refused"))
    throw new Error("the host is at an address that is not allowed");
  return { addresses, isOpened: verdicts.includes("opened") };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly excerpt: string;
}

const answerIn = async (response: IncomingMessage): Promise<Answer> => ({
  status: response.statusCode ?? 0,
  retryAfter: response.headers["retry-after"] ?? null,
  excerpt: await beginningOf(response),
});

interface Exchange {
  readonly method: "GET" | "POST";
  /** Addresses of the host that were judged. The connection goes to one of them. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Sends a request on a connection of its own, and reads the answer. */
export async function exchange<T>(
  target: URL,
  { method, addresses, headers, signal }: Exchange,
  body: Uint8Array | null,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const options: RequestOptions = {
    method,
    hostname: bareHost(target),
    port: target.port,
    path: target.pathname + target.search,
    headers,
    agent: false,
    lookup: lookupAmong(addresses),
    signal,
  };
  const sent: ClientRequest = target.protocol === "https:" ? httpsRequest(options) : httpRequest(options);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve).once("error", reject);
      // After an answer of 101 nothing else comes.
      sent.once("close", () => reject(new Error("the connection ended without an answer")));
      sent.end(body ?? undefined);
    });
    sent.on("error", () => {});
    return await read(response);
  } finally {
    sent.destroy();
  }
}

/** Answers a look-up with what was judged. */
const lookupAmong =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (all === true) callback(null, found);
    else callback(null, first?.address ?? "", first?.family ?? 0);
  };

/** Reads an answer to its end, or as far as it may be read. A receiver that answered and then hangs has answered. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) continue;
      if (bytes < excerptBytesMax) kept.push(chunk);
      bytes += chunk.length;
      if (bytes >= webhookAnswerBytesMax) break;
    }
  } catch {
    // Cut off, or too slow: the status is known.
  }
  // What cannot be stored as text is left out.
  return neutralised(
    Buffer.concat(kept).subarray(0, excerptBytesMax).toString("utf8").replaceAll("\0", "").replaceAll("\uFFFD", ""),
  );
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
  if (code !== null) return `could not be reached: ${code}`;
  return error instanceof Error ? error.message : "could not be reached";
}
