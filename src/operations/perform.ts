/**
 * The one path that every request takes, whatever surface it came in by, in the order of C1.
 *
 * Owns: who may ask, idempotency, the rate limit, the audit row, and what of them commits together with a change. Does not own:
 * what an operation does, how a request was spelled or how the answer becomes bytes (http).
 *
 * Invariants:
 * - H1. Every request with a key of the shop, a revoked one too, leaves one audit row, written before its answer leaves.
 * - H2. The record of a keyed write commits with the write. As long as the first attempt runs, nobody else runs the request and
 *       nobody is shown an answer that may still change. Should two attempts run all the same (a lease that ended too early, a commit
 *       whose answer was lost), the second finds the first one's record in its own transaction, and keeps nothing; and the first
 *       leaves its record as it is, should it have lost the key meanwhile.
 * - H3. What was refused before the shop's turn has changed nothing.
 */
import { parseApiKey } from "../core/api-key.ts";
import type { EffectOutcome } from "../core/effect.ts";
import { Fault, type ValidationDetail } from "../core/fault.ts";
import { mention } from "../core/guidance.ts";
import { idempotencyLifetimeMs, parseIdempotencyKey, requestFingerprint } from "../core/idempotency.ts";
import { type Json, parseJson } from "../core/json.ts";
import { type ApiKey, findApiKey, loadShop, type Shop } from "../shop/accounts.ts";
import { auditStatement } from "../shop/audit.ts";
import {
  findIdempotencyRecord,
  hasIdempotencyRecord,
  type IdempotencyRecord,
  idempotencyStatement,
  sweepIdempotencyStatement,
} from "../shop/idempotency.ts";
import type {
  Clock,
  Coordination,
  Engine,
  Ids,
  Log,
  RateLimitState,
  Statement,
  Tx,
  WriteOptions,
} from "../store/store.ts";
import type { StorefrontOf } from "../storefront/storefront.ts";
import { asFault, failure, type Reply, success } from "./envelope.ts";
import type { Surface } from "./guidance.ts";
import { checkInput } from "./input.ts";
import type { Answer, Call, Operation } from "./operation.ts";

/** Answers above it are refused with 413: what a client can be expected to hold in memory. */
export const responseBytesMax = 10 * 1_048_576;
/** Expired idempotency records of a shop are deleted at most this often, with a write that stores one. */
const sweepEveryMs = 3_600_000;

/** How an audit row is written that nothing else commits with (D5). */
const auditOnly: WriteOptions = { durable: false, append: true };

export interface PerformDependencies {
  readonly engine: Engine;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: {
    settle(shopId: string, effectIds: readonly string[], waitMs: number): Promise<ReadonlyMap<string, EffectOutcome>>;
  };
  readonly storefrontOf: StorefrontOf;
  readonly log: Log;
  /** Default `responseBytesMax`. */
  readonly responseBytesMax?: number;
}

/** A request as every surface tells it. */
export interface Incoming {
  readonly surface: Surface;
  readonly requestId: string;
  /** The API key, or null when none was sent in an understandable way. */
  readonly bearerToken: string | null;
  /** What was asked for, or why that is nothing (404, 405). */
  readonly target: Operation | Fault;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** Decoded parameters in the order they were sent: part of what makes requests the same. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** One entry per header line. */
  readonly idempotencyKeys: readonly string[];
  /** Strong validators of `If-Match` without quotes, or `*` alone; null when not sent. */
  readonly ifMatch: readonly string[] | null;
  /** `If-None-Match` as sent. */
  readonly ifNoneMatch: string | null;
  /** Reads the body; called at most once. @throws Fault INVALID_INPUT when it is too large or encoded. */
  body(): Promise<Uint8Array>;
  /** Joins path, query and body to what the operation's input schema reads, with what is wrong about their form. */
  assemble(operation: Operation, body: Json): { readonly raw: unknown; readonly found: readonly ValidationDetail[] };
}

export type Perform = (incoming: Incoming) => Promise<Reply>;

/** A key and the shop it is of. */
export interface Caller {
  readonly shop: Shop;
  readonly key: ApiKey;
}

/** The shop and its key, found by the key alone (S7). @throws Fault UNAUTHORIZED, the same whatever is wrong with it. */
export async function identify(engine: Engine, bearerToken: string | null): Promise<Caller> {
  return (await identifyBeside(engine, bearerToken, () => Promise.resolve(null))).caller;
}

/** Identifies and, in the same flight, reads what `beside` reads. */
async function identifyBeside<T>(
  engine: Engine,
  bearerToken: string | null,
  beside: (tx: Tx, shopId: string, secretHash: string) => Promise<T>,
): Promise<{ readonly caller: Caller; readonly found: T }> {
  const parsed = bearerToken === null ? null : parseApiKey(bearerToken);
  if (parsed === null) throw unauthorized();
  const { shopId, secretHash } = parsed;
  try {
    return await engine.peek(shopId, async (tx) => {
      const [key, shop, found] = await Promise.all([
        findApiKey(tx, shopId, secretHash),
        loadShop(tx, shopId),
        beside(tx, shopId, secretHash),
      ]);
      if (key === null || shop === null) throw unauthorized();
      return { caller: { shop, key }, found };
    });
  } catch (error) {
    throw error instanceof Fault && error.code === "NOT_FOUND" ? unauthorized() : error;
  }
}

/** Whether this key may ask for anything at all. @throws Fault UNAUTHORIZED when it was revoked, PLAN_REQUIRED. */
export function admit({ shop, key }: Caller): void {
  if (key.revokedAtMs !== null) throw unauthorized();
  if (!shop.planRestApi)
    throw new Fault("PLAN_REQUIRED", "The shop's plan does not include the REST API.", {
      action: "Change the shop's plan.",
    });
}

/** One request by a key of the shop, on its way. */
interface Visit extends Caller {
  readonly incoming: Incoming;
  readonly startedAtMs: number;
  readonly auditId: string;
  /** Whether an answer was stored under its idempotency key when it came. */
  readonly wasAnswered: boolean;
  /** Null until a token was asked for. */
  bucket: RateLimitState | null;
  /** Set once a keyed write has passed the idempotency layer: from then on its answer is stored. */
  keeping: { readonly idempotencyKey: string; readonly fingerprint: string } | null;
  /** What the transaction of the change has stored as the answer; null until it has. */
  committed: Reply | null;
}

/**
 * Makes the function that serves requests.
 *
 * Its replies are complete but for what belongs to the transport (content type, CORS). It never rejects.
 */
export function createPerform(deps: PerformDependencies): Perform {
  const { engine, coordination, clock, ids, log } = deps;
  const bytesMax = deps.responseBytesMax ?? responseBytesMax;
  const sweptAtMs = new Map<string, number>();

  /** The whole path of C1, from the key to the answer. */
  async function perform(incoming: Incoming): Promise<Reply> {
    const startedAtMs = clock.now();
    let visit: Visit | null = null;
    try {
      const { caller, found } = await identifyBeside(engine, incoming.bearerToken, (tx, shopId, secretHash) =>
        wasAnswered(tx, shopId, secretHash, incoming),
      );
      visit = {
        incoming,
        ...caller,
        startedAtMs,
        auditId: ids.next("aud"),
        wasAnswered: found,
        bucket: null,
        keeping: null,
        committed: null,
      };
      admit(caller);
      return await withRateLimit(visit, await attend(visit));
    } catch (error) {
      const fault = asFault(error);
      if (fault.code === "INTERNAL") log.error({ requestId: incoming.requestId, err: error }, "request failed");
      const reply = failure(incoming.requestId, fault, incoming.surface);
      if (visit === null) return reply;
      await recordRefusal(visit, reply);
      return fault.code === "UNAUTHORIZED" ? reply : await refusal(visit, reply);
    }
  }

  /** A refusal as it is answered. Where not even the bucket can be looked up, that is what is told. */
  async function refusal(visit: Visit, reply: Reply): Promise<Reply> {
    try {
      return await withRateLimit(visit, reply);
    } catch (error) {
      return failure(visit.incoming.requestId, asFault(error), visit.incoming.surface);
    }
  }

  /** Whether a write's answer is stored already; what is wrong with its idempotency key is told later. */
  async function wasAnswered(tx: Tx, shopId: string, secretHash: string, incoming: Incoming): Promise<boolean> {
    const [idempotencyKey, ...others] = incoming.idempotencyKeys;
    if (idempotencyKey === undefined || others.length > 0) return false;
    if (incoming.target instanceof Fault || incoming.target.scope === "read") return false;
    return await hasIdempotencyRecord(tx, shopId, secretHash, idempotencyKey, clock.now() - idempotencyLifetimeMs);
  }

  /** Route, scope; then the way of a read or of a write. */
  async function attend(visit: Visit): Promise<Reply> {
    const { incoming, key } = visit;
    if (incoming.target instanceof Fault) throw incoming.target;
    const operation = incoming.target;
    if (operation.scope === "read") return attendRead(visit, operation);
    if (key.scope === "read")
      throw new Fault("FORBIDDEN_SCOPE", `A key with the read scope may not call ${operation.name}.`, {
        action: "Use a key with the write scope.",
      });
    return attendWrite(visit, operation);
  }

  async function attendRead(visit: Visit, operation: Operation): Promise<Reply> {
    const { incoming, shop } = visit;
    await takeToken(visit);
    const { raw, found } = incoming.assemble(operation, {});
    const input = checkInput(operation.input, raw, found);
    const answer = await operation.run(await callOf(visit, operation), input);
    const reply = bounded(
      answer.etag !== undefined && matchesNone(incoming.ifNoneMatch, answer.etag)
        ? { status: 304, headers: answerHeaders(incoming, answer), body: "", errorCode: null }
        : rendered(visit, operation, answer),
    );
    await engine.write(shop.shopId, (tx) => tx.batch([audit(visit, reply)]), auditOnly);
    return reply;
  }

  async function attendWrite(visit: Visit, operation: Operation): Promise<Reply> {
    const { incoming, shop, key } = visit;
    const idempotencyKey = parseIdempotencyKey(incoming.idempotencyKeys);
    const body = meaning(await incoming.body());
    if (idempotencyKey === null) {
      await takeToken(visit);
      return run(visit, operation, body);
    }
    const fingerprint = requestFingerprint({ ...incoming, body: "fault" in body ? { bytes: body.bytes } : body });
    const attempt = await claim(visit, idempotencyKey, fingerprint);
    if (attempt.kind === "replay") return replay(visit, attempt.record);
    try {
      await takeToken(visit);
      if (attempt.kind === "refused") throw attempt.fault;
      visit.keeping = { idempotencyKey, fingerprint };
      return await run(visit, operation, body);
    } catch (error) {
      if (visit.keeping === null || !isKept(error)) throw error;
      const reply = failure(incoming.requestId, error, incoming.surface);
      await close(visit, reply);
      return reply;
    } finally {
      if (attempt.kind === "run") await coordination.releaseKey(shop.shopId, claimScope(key, idempotencyKey));
    }
  }

  /** Queue, body, schema; then the operation. What it leaves is stored with its audit row. */
  async function run(visit: Visit, operation: Operation, body: Body): Promise<Reply> {
    const { incoming, shop } = visit;
    engine.admit(shop.shopId);
    if ("fault" in body) throw body.fault;
    const { raw, found } = incoming.assemble(operation, body.json);
    const input = checkInput(operation.input, raw, found);
    const reply = rendered(visit, operation, await operation.run(await callOf(visit, operation), input));
    if (visit.committed === null) await close(visit, bounded(reply));
    else if (visit.keeping !== null && !sameReply(visit.committed, reply)) {
      const scope = claimScope(visit.key, visit.keeping.idempotencyKey);
      // A node that stood still for too long: what it has committed may have been told as the answer, and stays it.
      if (!(await coordination.holdsKey(shop.shopId, scope))) return visit.committed;
      await close(visit, reply);
    }
    return reply;
  }

  /**
   * Decides whether this request is the one to run under its key. A claim of the kind `replay` tells others that the first attempt is
   * over. The stored answer is read again after the claim, in case an attempt has ended in between (H2).
   */
  async function claim(visit: Visit, idempotencyKey: string, fingerprint: string): Promise<Attempt> {
    const { shop, key } = visit;
    const scope = claimScope(key, idempotencyKey);
    const kind = visit.wasAnswered ? "replay" : "run";
    const holder = await coordination.claimKey(shop.shopId, scope, { kind, fingerprint });
    let mine = holder === null;
    try {
      if (holder?.kind === "run")
        return { kind: "refused", fault: holder.fingerprint === fingerprint ? inProgress() : keyReused() };
      const record = await engine.peek(shop.shopId, (tx) => storedAnswer(tx, visit, idempotencyKey));
      if (record === null && !mine) return { kind: "refused", fault: inProgress() };
      if (record === null) {
        mine = false;
        return { kind: "run" };
      }
      return record.fingerprint === fingerprint ? { kind: "replay", record } : { kind: "refused", fault: keyReused() };
    } finally {
      if (mine) await coordination.releaseKey(shop.shopId, scope);
    }
  }

  /** The stored answer, byte for byte (C18). Its own audit row says that it was one. */
  async function replay(visit: Visit, record: IdempotencyRecord): Promise<Reply> {
    const reply: Reply = {
      status: record.status,
      headers: { ...record.headers, "Idempotent-Replayed": "true" },
      body: record.body,
      errorCode: null,
    };
    const { shop } = visit;
    await Promise.all([
      // Read through the gate: what is replayed must be as durable as the first answer was (S4).
      engine.read(shop.shopId, async () => {}),
      engine.write(shop.shopId, (tx) => tx.batch([audit(visit, reply, true)]), auditOnly),
    ]);
    return reply;
  }

  const storedAnswer = (tx: Tx, { shop, key }: Visit, idempotencyKey: string): Promise<IdempotencyRecord | null> =>
    findIdempotencyRecord(tx, shop.shopId, key.keyId, idempotencyKey, clock.now() - idempotencyLifetimeMs);

  /** @throws Fault INVALID_INPUT (IDEMPOTENCY_IN_PROGRESS) when another attempt under the key has stored its answer (H2). */
  async function refuseIfAnswered(tx: Tx, visit: Visit): Promise<void> {
    if (visit.keeping === null) return;
    const record = await storedAnswer(tx, visit, visit.keeping.idempotencyKey);
    if (record !== null && record.headers["X-Request-Id"] !== visit.incoming.requestId) throw inProgress();
  }

  /** Keeps the answer of a request that has not kept it with its change, or has another one by now. */
  async function close(visit: Visit, reply: Reply): Promise<void> {
    await engine.write(
      visit.shop.shopId,
      async (tx) => {
        await refuseIfAnswered(tx, visit);
        await tx.batch(closing(visit, reply));
      },
      { durable: visit.keeping !== null },
    );
  }

  async function takeToken(visit: Visit): Promise<void> {
    const { shop } = visit;
    visit.bucket = await coordination.takeToken(shop.shopId, shop.rateLimit, clock.now());
    const { retryAfterMs } = visit.bucket;
    if (retryAfterMs !== null)
      throw new Fault("RATE_LIMITED", "The shop's rate limit is reached.", {
        retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)),
        action: `Wait as long as ${mention("retryAfter")} says, then send the same request again.`,
      });
  }

  /** What the operation is given of its surroundings. */
  async function callOf(visit: Visit, operation: Operation): Promise<Call> {
    const { incoming, shop, key } = visit;
    const { shopId } = shop;
    return {
      shop,
      actor: { type: incoming.surface === "mcp" ? "agent" : "api-key", id: key.keyId, name: key.name },
      operation: operation.name,
      requestId: incoming.requestId,
      clock,
      ids,
      storefront: await deps.storefrontOf(shopId),
      ifMatch: incoming.ifMatch,
      read: (work) => engine.read(shopId, work),
      change: (work) => engine.write(shopId, work),
      settle: (effectIds, waitMs) => deps.outbox.settle(shopId, effectIds, waitMs),
      commit: async (work) => {
        if (visit.committed !== null) throw new Error(`${operation.name} committed twice`);
        const committed = await engine.write(shopId, async (tx) => {
          // Side by side, so that the look costs no round trip; a refusal of the work tells nothing if there is an answer already.
          const unanswered = refuseIfAnswered(tx, visit);
          const working = work(tx);
          await Promise.allSettled([unanswered, working]);
          await unanswered;
          const left = await working;
          const pending = new Map(left.effectIds.map((id): [string, EffectOutcome] => [id, { state: "pending" }]));
          const reply = bounded(rendered(visit, operation, left.answer(pending)));
          await tx.batch(closing(visit, reply));
          return { left, reply };
        });
        visit.committed = committed.reply;
        const { left } = committed;
        if (left.effectIds.length === 0) return left.answer(new Map());
        const outcomes = await deps.outbox.settle(shopId, left.effectIds, shop.followOnWaitMs);
        const { answerAnew } = left;
        const anew = answerAnew === undefined ? null : await engine.read(shopId, (tx) => answerAnew(tx, outcomes));
        return anew ?? left.answer(outcomes);
      },
    };
  }

  /** @throws Fault OUTPUT_TOO_LARGE. Before a change commits, so that a 413 has changed nothing. */
  function bounded(reply: Reply): Reply {
    const bytes = Buffer.byteLength(reply.body);
    if (bytes <= bytesMax) return reply;
    throw new Fault("OUTPUT_TOO_LARGE", `The answer would have ${bytes} bytes, more than the ${bytesMax} allowed.`, {
      action: "Ask for less: pass limit and go on with cursor, or narrow the filters.",
    });
  }

  /** The statements that close a request: its audit row and, for a keyed write, its stored answer. */
  function closing(visit: Visit, reply: Reply): readonly Statement[] {
    const { shop, key, keeping } = visit;
    if (keeping === null) return [audit(visit, reply)];
    const nowMs = clock.now();
    const record: IdempotencyRecord = {
      fingerprint: keeping.fingerprint,
      status: reply.status,
      headers: reply.headers,
      body: reply.body,
      storedAtMs: nowMs,
    };
    const statements = [
      audit(visit, reply),
      idempotencyStatement(shop.shopId, key.keyId, keeping.idempotencyKey, record),
    ];
    if (nowMs - (sweptAtMs.get(shop.shopId) ?? 0) < sweepEveryMs) return statements;
    sweptAtMs.set(shop.shopId, nowMs);
    return [...statements, sweepIdempotencyStatement(shop.shopId, nowMs - idempotencyLifetimeMs)];
  }

  function audit(visit: Visit, reply: Reply, replayed = false): Statement {
    const { incoming, shop, key, auditId, startedAtMs } = visit;
    const name = incoming.target instanceof Fault ? "unknown" : incoming.target.name;
    return auditStatement(shop.shopId, {
      auditId,
      atMs: startedAtMs,
      requestId: incoming.requestId,
      tag: `${incoming.surface}:${name}`,
      keyId: key.keyId,
      method: incoming.method,
      path: incoming.path,
      status: reply.status,
      errorCode: reply.errorCode,
      durationMs: Math.max(0, Math.round(clock.now() - startedAtMs)),
      replayed,
    });
  }

  /** The audit row of a refusal. Where even that cannot be written, the log has it: the caller is told the refusal itself. */
  async function recordRefusal(visit: Visit, reply: Reply): Promise<void> {
    const { shop, incoming } = visit;
    try {
      await engine.write(shop.shopId, (tx) => tx.batch([audit(visit, reply)]), auditOnly);
    } catch (error) {
      log.error({ requestId: incoming.requestId, err: error, status: reply.status }, "refusal not in the audit log");
    }
  }

  /** `RateLimit` as IETF draft 10 spells it (C6): `t` is the seconds until the bucket is full. */
  async function withRateLimit(visit: Visit, reply: Reply): Promise<Reply> {
    const { shop, bucket } = visit;
    const { capacity, refillPerSecond } = shop.rateLimit;
    const state = bucket ?? (await coordination.peekTokens(shop.shopId, shop.rateLimit, clock.now()));
    const headers = {
      ...reply.headers,
      "RateLimit-Policy": `"shop";q=${Math.floor(capacity)};w=${Math.max(1, Math.ceil(capacity / refillPerSecond))}`,
      RateLimit: `"shop";r=${Math.floor(state.remaining)};t=${Math.ceil(state.resetAfterMs / 1000)}`,
    };
    return { ...reply, headers };
  }

  return perform;
}

type Attempt =
  | { readonly kind: "run" }
  | { readonly kind: "replay"; readonly record: IdempotencyRecord }
  | { readonly kind: "refused"; readonly fault: Fault };

/** A body by its meaning; what is not acceptable JSON keeps its bytes, and its fault for later (C1, C17). */
type Body = { readonly json: Json } | { readonly bytes: Uint8Array; readonly fault: Fault };

function meaning(bytes: Uint8Array): Body {
  try {
    return { json: parseJson(bytes) };
  } catch (error) {
    if (error instanceof Fault) return { bytes, fault: error };
    throw error;
  }
}

const claimScope = (key: ApiKey, idempotencyKey: string): string => `${key.keyId} ${idempotencyKey}`;

/** Whether a refusal is stored as the answer under its key (spec "Idempotency", C19). */
const isKept = (error: unknown): error is Fault =>
  error instanceof Fault && error.status >= 400 && error.status < 500 && !error.retryable;

const rendered = (visit: Visit, operation: Operation, answer: Answer<unknown>): Reply =>
  success(visit.incoming.requestId, answer.data, {
    status: operation.success,
    headers: answerHeaders(visit.incoming, answer),
    surface: visit.incoming.surface,
  });

const answerHeaders = (incoming: Incoming, answer: Answer<unknown>): Record<string, string> => ({
  "X-Request-Id": incoming.requestId,
  ...(answer.location === undefined ? {} : { Location: answer.location }),
  ...(answer.etag === undefined ? {} : { ETag: `"${answer.etag}"` }),
});

const sameReply = (a: Reply, b: Reply): boolean =>
  a.body === b.body && a.status === b.status && JSON.stringify(a.headers) === JSON.stringify(b.headers);

/** Whether `If-None-Match` names this version: weak comparison, as for every read. */
function matchesNone(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === `"${etag}"`);
}

const unauthorized = (): Fault =>
  new Fault("UNAUTHORIZED", "The API key is missing, invalid or revoked.", {
    action: "Send Authorization: Bearer <API_KEY> with a key of the shop.",
  });

const inProgress = (): Fault =>
  new Fault("INVALID_INPUT", `The first request with this ${mention("idempotencyKey")} is still running.`, {
    reason: "IDEMPOTENCY_IN_PROGRESS",
    action: "Send the same request again in a moment to get its answer.",
  });

const keyReused = (): Fault =>
  new Fault("INVALID_INPUT", `This ${mention("idempotencyKey")} was used for a different request.`, {
    reason: "IDEMPOTENCY_KEY_REUSED",
    action: "Use a new key for a new request.",
  });
