/**
 * Clients of one or several nodes, as the specification wants them: a request ends with an answer, a lost connection or the client's
 * timeout, and what failed is repeated under its key.
 */
import assert from "node:assert/strict";
import { Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { z } from "zod";
import { systemClock } from "../../src/base/time/system.ts";
import { pause } from "./until.ts";

export const adminToken = "an-admin-token-for-nodes";
/** The client's default timeout: longer than the slowest operation takes. */
const patientMs = 45_000;

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly token: string;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** The client's timeout. Default: `patientMs`. */
  readonly waitMsMax?: number;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

/** Closes the idle keep-alive connections. */
export const hangUp = (): void => agent.destroy();

/** Sends one request to a node, without retries. @throws Error when no complete answer comes. */
export function ask(url: string, asked: Asked): Promise<Answered> {
  const { method, target, token, idempotencyKey, ifMatch, body, waitMsMax = patientMs } = asked;
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url + target,
      {
        agent,
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
          ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
          ...(text === undefined
            ? {}
            : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    const timer = setTimeout(() => request.destroy(new Error("the client timed out")), waitMsMax);
    request.on("close", () => clearTimeout(timer));
    request.on("error", reject);
    request.end(text);
  });
}

/** Calls an operation of the admin API, which must succeed. Returns the JSON of its answer. */
export async function operate(url: string, method: string, below: string, body?: unknown): Promise<unknown> {
  const target = `/admin/v1${below}`;
  const answer = await ask(url, { method, target, token: adminToken, ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, `${method} ${target}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

const madeKey = z.object({ data: z.object({ keyId: z.string(), apiKey: z.string() }) });

/** Creates a write key of the shop. */
export const makeKey = async (
  url: string,
  shopId: string,
): Promise<{ readonly keyId: string; readonly apiKey: string }> =>
  madeKey.parse(await operate(url, "POST", `/shops/${shopId}/keys`, { name: "a client", scope: "write" })).data;

/** Creates a shop with these records, and with a very high rate limit unless the settings have one. Returns its write key. */
export async function makeShop(
  url: string,
  shopId: string,
  settings: object,
  records: readonly object[],
): Promise<string> {
  await operate(url, "PUT", `/shops/${shopId}`, {
    name: shopId,
    currencyCode: "EUR",
    plan: { restApi: true },
    settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 }, ...settings },
  });
  if (records.length > 0)
    await operate(url, "POST", `/shops/${shopId}/import`, records.map((record) => JSON.stringify(record)).join("\n"));
  return (await makeKey(url, shopId)).apiKey;
}

/** A generator of numbers from 0 to below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A final answer: a retry would get the same. */
export interface Definite extends Answered {
  readonly replayed: boolean;
  readonly requestId: string;
}

/** The answer to a keyed request, and how often it came without being a replay. */
interface Told {
  readonly asked: Asked;
  readonly answer: Definite;
  ran: number;
}

export interface Client {
  /** All answered keyed requests, by key. */
  readonly told: ReadonlyMap<string, Told>;
  /** Request ids and times of all answers to requests with an API key. */
  readonly answers: readonly {
    readonly requestId: string;
    readonly asked: Asked;
    readonly answer: Answered;
    readonly atMs: number;
  }[];
  /** How many attempts were lost, timed out or got a retryable error, by reason. */
  readonly repeats: ReadonlyMap<string, number>;
  /**
   * Sends the request to the nodes in turn, waiting as Retry-After says, until there is a final answer. With a key, every final answer
   * must equal the first, byte for byte. `first` is the node to begin with.
   */
  insist(asked: Asked, first?: number): Promise<Definite>;
}

export interface ClientOptions {
  /** Their addresses at this moment. */
  readonly nodes: readonly { readonly url: string }[];
  /** Throws if something is wrong with an answer. */
  readonly check: (asked: Asked, answer: Answered) => void;
  readonly random: () => number;
  /** Time limit for the final answer of a request. */
  readonly patienceMs: number;
  /** Aborted: no further attempts are made. */
  readonly signal: AbortSignal;
}

/** Makes a client that follows the specification: it repeats a request with the same key if it failed, was lost or timed out. */
export function createClient({ nodes, check, random, patienceMs, signal }: ClientOptions): Client {
  const told = new Map<string, Told>();
  const answers: { requestId: string; asked: Asked; answer: Answered; atMs: number }[] = [];
  const repeats = new Map<string, number>();

  function keep(asked: Asked, answer: Definite): Definite {
    const { idempotencyKey } = asked;
    if (idempotencyKey === undefined) return answer;
    const known = told.get(idempotencyKey) ?? { asked, answer, ran: 0 };
    told.set(idempotencyKey, known);
    if (!answer.replayed) known.ran += 1;
    assert.deepEqual(
      essence(answer),
      essence(known.answer),
      `${asked.method} ${asked.target} got two different answers`,
    );
    assert.ok(known.ran <= 1, `${asked.method} ${asked.target} ran twice under one key`);
    return answer;
  }

  return {
    told,
    answers,
    repeats,
    async insist(asked, first = Math.floor(random() * nodes.length)) {
      const untilMs = systemClock.now() + patienceMs;
      const history: string[] = [];
      for (let tries = 0; ; tries += 1) {
        const url = nodes[(first + tries) % nodes.length]?.url ?? "";
        let pauseMs = 50 + random() * 150;
        let why: string;
        try {
          const answer = await ask(url, asked);
          check(asked, answer);
          const requestId = String(answer.headers["x-request-id"]);
          const replayed = answer.headers["idempotent-replayed"] === "true";
          answers.push({ requestId, asked, answer, atMs: systemClock.now() });
          const retryAfter = answer.headers["retry-after"];
          if (answer.status < 500 && retryAfter === undefined) return keep(asked, { ...answer, replayed, requestId });
          why = `${answer.status} ${wordOf(answer)}`;
          assert.notEqual(wordOf(answer), "INTERNAL", `${asked.method} ${asked.target}: ${answer.text}`);
          if (retryAfter !== undefined) pauseMs = Number(retryAfter) * 1_000;
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          why = error instanceof Error && "code" in error ? String(error.code) : String(error);
        }
        history.push(why);
        repeats.set(why, (repeats.get(why) ?? 0) + 1);
        const { waitMsMax } = asked;
        // The client's own timeout doubles after each failure.
        if (waitMsMax !== undefined) asked = { ...asked, waitMsMax: Math.min(waitMsMax * 2, patientMs) };
        if (systemClock.now() > untilMs)
          assert.fail(`${asked.method} ${asked.target} has no final answer: ${history.join(", ")}`);
        signal.throwIfAborted();
        await pause(pauseMs);
      }
    },
  };
}

/** The headers that a replay restores (C18). */
const essence = ({ status, text, requestId, headers }: Definite) => ({
  status,
  text,
  requestId,
  location: headers.location,
  etag: headers.etag,
});

/** Returns the reason of a refusal, or its code if it has no reason. */
function wordOf({ text }: Answered): string {
  const { error } = refusal.parse(JSON.parse(text));
  return error.reason ?? error.code;
}
const refusal = z.object({ error: z.object({ code: z.string(), reason: z.string().optional() }) });
