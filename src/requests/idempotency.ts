/**
 * Idempotency keys of writes: which request runs under a key, which is answered from the store, and what is stored
 * (C17–C21).
 *
 * Owns: claims of keys in flight, reading and writing stored answers, how much space those of a shop take. Does not
 * own: the key's form and the fingerprint (core/access/idempotency.ts), the rows (shop/access/idempotency.ts), when
 * each step happens (perform.ts).
 *
 * Invariant H2 of perform.ts holds here: a claim keeps other attempts away. Should two attempts run all the same, the
 * second finds the first one's record in its own transaction (`refuseIfAnswered`).
 */
import { Fault } from "../base/fault.ts";
import { memberOf } from "../base/json.ts";
import { mention } from "../core/order/guidance.ts";
import type { PurchaseOrder } from "../core/order/purchase-order.ts";
import { idempotencyKeyProblem, idempotencyLifetimeMs } from "../core/access/idempotency.ts";
import {
  type IdempotencyRecord,
  findIdempotencyRecord,
  findStoredHeaders,
  findStoredFingerprint,
  idempotencyStatements,
  loadStoredBytes,
  oldestRecords,
  storedBytesOf,
  unlessAnswered,
} from "../shop/access/idempotency.ts";
import type { Clock } from "../base/time/clock.ts";
import type {
  Compression,
  Coordination,
  Engine,
  Footprint,
  KeyClaim,
  KeyRelease,
  Statement,
  Tx,
} from "../store/store.ts";
import { type Caller, holderOf, identifyWith } from "./caller.ts";
import type { StoreCounts } from "./store-counts.ts";
import type { Reply } from "./envelope.ts";
import { bytesOfText, Cache } from "../store/cache.ts";
import type { Operation } from "./operation.ts";
import type { Incoming } from "./request.ts";
import { SharedPeeks } from "./remembered/shared-peeks.ts";

/** Stored answers that were told again and that a process remembers. */
export const replaysRememberedBytesMax = 16_777_216;

/** Stored answers of a shop (Idempotency-Key). A keyed write whose answer does not fit is 503 and changes nothing. */
export const storedAnswersBytesMax = 4_294_967_296;

/**
 * Stored answers of this size and above may take half of `storedAnswersBytesMax`, so that small ones always find room.
 */
export const storedLargeBytesMin = 16_384;

/** Answers up to this length are stored as they are; longer ones compressed. */
export const storedPlainBytesMax = 2_048;

/** A write with an idempotency key. */
export interface KeyedRequest {
  readonly shopId: string;
  /** Of the API key, or of the person (caller.ts, `holderOf`). */
  readonly holderId: string;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly operation: string;
  /** An answer was stored under the key when the request came. */
  readonly wasAnswered: boolean;
}

/** Reads the order that an operation looks at first. */
export type LookAhead = (tx: Tx) => Promise<PurchaseOrder | null>;

/** Outcome of a keyed request's claim. */
export type Attempt =
  /** It runs, and holds the key until `release`. `ahead`: what was read beside the claim. */
  | { readonly kind: "run"; readonly ahead: PurchaseOrder | null }
  | StoredReplay
  | { readonly kind: "refused"; readonly fault: Fault };

/**
 * Whose idempotency key it is: a holder's, or that of the API key with this secret, which is looked up in the same
 * round trip.
 */
type Asker = { readonly secretHash: string } | { readonly holderId: string };

/** A stored answer that is to be told again, and what its reading has seen. */
interface StoredReplay {
  readonly kind: "replay";
  readonly record: IdempotencyRecord;
  readonly seen: readonly Footprint[];
  /** The record is known to be on disk. */
  readonly isDurable: boolean;
}

/** Answer as it is stored under a key. */
interface KeyedAnswer {
  readonly reply: Reply;
  /** The one order that the request made or changed; null: there is none. */
  readonly purchaseOrderId: string | null;
}

/** Encoding of stored bodies that are compressed. Stored texts name it: it never changes. */
const compressed = "brotli-base64";

/** Shorter answers are compressed on the event loop, in about 1 ms. */
const compressedAsideBytesMin = 131_072;

/** The oldest records among which the wait for room is looked for. */
const oldestMax = 10_000;

export interface IdempotencyDependencies {
  readonly engine: Engine;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly compression: Compression;
  readonly counts?: StoreCounts;
  /** Default `storedAnswersBytesMax`. */
  readonly storedAnswersBytesMax?: number;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(deps: IdempotencyDependencies) {
  const { engine, coordination, clock, compression } = deps;
  const quotaBytes = deps.storedAnswersBytesMax ?? storedAnswersBytesMax;
  const expiredAtMs = (): number => clock.now() - idempotencyLifetimeMs;
  const answers = new StoredAnswerReader(engine, compression, expiredAtMs);

  return {
    /**
     * True if an answer is stored for a write with one idempotency key. Other requests have none; a wrong key is
     * refused later.
     */
    async wasAnswered(tx: Tx, shopId: string, asker: Asker, incoming: Incoming): Promise<boolean> {
      const idempotencyKey = keyOfWrite(incoming);
      if (idempotencyKey === null) return false;
      if ("secretHash" in asker)
        return (await findStoredFingerprint(tx, shopId, asker.secretHash, idempotencyKey, expiredAtMs())) !== null;
      return (await findIdempotencyRecord(tx, shopId, asker.holderId, idempotencyKey, expiredAtMs())) !== null;
    },

    /**
     * True if the answer of a write with one idempotency key is remembered. If not, `wasAnswered` says whether there is
     * one.
     */
    isRemembered(shopId: string, holderId: string, incoming: Incoming): boolean {
      const idempotencyKey = keyOfWrite(incoming);
      return idempotencyKey !== null && answers.known({ shopId, holderId, idempotencyKey }) !== null;
    },

    /**
     * Adds to a statement that no answer is stored under the write's key. Null: the key is wrong, which is refused
     * later.
     */
    unlessAnswered(
      statement: Statement,
      shopId: string,
      holderId: string,
      { idempotencyKeys }: Incoming,
    ): Statement | null {
      if (idempotencyKeyProblem(idempotencyKeys) !== null) return null;
      const [idempotencyKey] = idempotencyKeys;
      if (idempotencyKey === undefined) return statement;
      return unlessAnswered(statement, shopId, holderId, idempotencyKey, expiredAtMs());
    },

    /**
     * Decides whether the request runs, and claims its key then.
     *
     * @param lookAhead reads what the request looks at first, in the round trip of the claim. Null: nothing is read.
     */
    claim: async (request: KeyedRequest, lookAhead: LookAhead | null): Promise<Attempt> =>
      (await knownReplay(deps, request, answers)) ?? (await claimedAttempt(deps, request, answers, lookAhead)),

    /**
     * True if a claimed key is still held. If so, no other attempt replays the stored answer until `release`. `tx`: a
     * write that asks.
     */
    holds: (request: KeyedRequest, tx?: Tx): Promise<boolean> =>
      coordination.holdsKey(request.shopId, scopeOf(request), tx),

    /** Gives the key back, if that was not done with the last write. */
    release: (request: KeyedRequest): Promise<void> => coordination.releaseKey(request.shopId, scopeOf(request)),

    /** Gives the key back with the write that stores the request's last answer. */
    releaseWith: (request: KeyedRequest): KeyRelease => coordination.releaseKeyWith(request.shopId, scopeOf(request)),

    /** The stored answer as it is sent again (C18). */
    async replayOf(request: KeyedRequest, { record, seen }: StoredReplay): Promise<Reply> {
      const { status, headers, storedAtMs } = record;
      const body = await answers.bodyOf(request, record, seen);
      const replayHeaders = { ...headers, "Idempotent-Replayed": "true" };
      return { status, headers: replayHeaders, body, errorCode: null, answeredAtMs: storedAtMs };
    },

    /**
     * Checks, inside the change, that no other attempt has stored its answer (H2).
     *
     * @returns the bytes that the shop's stored answers take.
     * @throws Fault INVALID_INPUT (IDEMPOTENCY_IN_PROGRESS) when one has.
     */
    async refuseIfAnswered(tx: Tx, { shopId, holderId, idempotencyKey, requestId }: KeyedRequest): Promise<number> {
      const [headers, bytes] = await Promise.all([
        findStoredHeaders(tx, shopId, holderId, idempotencyKey, expiredAtMs()),
        loadStoredBytes(tx, shopId),
      ]);
      if (headers !== null && headers["X-Request-Id"] !== requestId) throw inProgress();
      return bytes;
    },

    /**
     * Stores the reply under the key.
     *
     * @param storedBytes what the shop's stored answers take in this transaction; null: the reply replaces this
     *   request's own stored answer, whose place it takes.
     * @throws Fault DO_OVERLOADED when the quota has no room for it.
     */
    async storeStatements(
      tx: Tx,
      request: KeyedRequest,
      answer: KeyedAnswer,
      storedBytes: number | null,
    ): Promise<readonly Statement[]> {
      const { shopId, holderId, idempotencyKey } = request;
      const record = await recordOf(deps, request, answer);
      const bytes = storedBytesOf(idempotencyKey, record);
      if (storedBytes !== null) await checkRoom(tx, shopId, { storedBytes, bytes, quotaBytes }, expiredAtMs());
      if (deps.counts !== undefined) deps.counts.storedAnswerBytes += bytes;
      return idempotencyStatements(shopId, holderId, idempotencyKey, record);
    },
  };
}

/** The idempotency key of a write that has one; a wrong one is refused later. */
function keyOfWrite({ idempotencyKeys, target }: Incoming): string | null {
  const [idempotencyKey, ...others] = idempotencyKeys;
  if (idempotencyKey === undefined || others.length > 0) return null;
  return target instanceof Fault || target.scope === "read" ? null : idempotencyKey;
}

/** A stored answer, and what reading it has seen. */
interface Found {
  readonly record: IdempotencyRecord | null;
  readonly seen: readonly Footprint[];
  readonly isDurable: boolean;
  /** Order that was read beside. */
  readonly ahead: PurchaseOrder | null;
}

/** Reads stored answers. It remembers, expanded, those that were told again. */
class StoredAnswerReader {
  readonly #engine: Engine;
  readonly #peeks: SharedPeeks;
  readonly #compression: Compression;
  readonly #expiredAtMs: () => number;
  readonly #replays = new Cache<IdempotencyRecord>(replaysRememberedBytesMax);

  constructor(engine: Engine, compression: Compression, expiredAtMs: () => number) {
    this.#engine = engine;
    this.#peeks = new SharedPeeks(engine);
    this.#compression = compression;
    this.#expiredAtMs = expiredAtMs;
  }

  /** The answer if it is remembered: durable, and not expired. */
  known(request: Pick<KeyedRequest, "shopId" | "holderId" | "idempotencyKey">): IdempotencyRecord | null {
    const known = this.#replays.get(nameOf(request));
    return known !== null && known.storedAtMs > this.#expiredAtMs() ? known : null;
  }

  /** Reads the answer in the round trip of another call, after it. */
  async findBeside(
    { shopId, holderId, idempotencyKey }: KeyedRequest,
    call: (tx: Tx) => Promise<void>,
    lookAhead: LookAhead | null,
  ): Promise<Found> {
    const sinceMs = this.#expiredAtMs();
    return await this.#peeks.peek(shopId, async (tx) => {
      const [called, found, aheadResult] = await Promise.allSettled([
        call(tx),
        findIdempotencyRecord(tx, shopId, holderId, idempotencyKey, sinceMs),
        lookAhead?.(tx) ?? null,
      ]);
      for (const each of [called, found, aheadResult]) if (each.status === "rejected") throw each.reason;
      const value = <T>(each: PromiseSettledResult<T>): T | null => (each.status === "fulfilled" ? each.value : null);
      return { record: value(found), ahead: value(aheadResult), seen: [], isDurable: false };
    });
  }

  async find(request: KeyedRequest): Promise<Found> {
    const { shopId, holderId, idempotencyKey, wasAnswered } = request;
    const sinceMs = this.#expiredAtMs();
    const known = this.known(request);
    if (known !== null) return { record: known, seen: [], isDurable: true, ahead: null };
    const seen: Footprint[] = [];
    const work = (tx: Tx): Promise<IdempotencyRecord | null> =>
      findIdempotencyRecord(tx, shopId, holderId, idempotencyKey, sinceMs);
    // What is remembered must be durable, so it is read and not peeked at.
    const record = wasAnswered
      ? await this.#engine.read(shopId, work, (each) => seen.push(each))
      : await this.#engine.peek(shopId, work);
    return { record, seen, isDurable: wasAnswered, ahead: null };
  }

  /** @param seen what reading the record has seen; empty: nobody knows, or it is remembered already. */
  async bodyOf(request: KeyedRequest, record: IdempotencyRecord, seen: readonly Footprint[]): Promise<string> {
    const body = record.encoding === compressed ? await this.#compression.expand(record.body) : record.body;
    if (seen.length > 0)
      this.#replays.put(nameOf(request), { ...record, body, encoding: null }, bytesOfText(body), seen);
    return body;
  }
}

const nameOf = (request: Pick<KeyedRequest, "shopId" | "holderId" | "idempotencyKey">): string =>
  `${request.shopId} ${scopeOf(request)}`;

/**
 * The reply as it is stored: compressed where that makes it smaller (D103). A large one is compressed off the event
 * loop, except where the engine's transaction cannot wait for it.
 */
async function recordOf(
  { engine, compression, clock }: Pick<IdempotencyDependencies, "engine" | "compression" | "clock">,
  { fingerprint, operation }: KeyedRequest,
  { reply: { status, headers, body }, purchaseOrderId }: KeyedAnswer,
): Promise<IdempotencyRecord> {
  const storedAtMs = clock.now();
  const record = { fingerprint, status, headers, body, encoding: null, storedAtMs, operation, purchaseOrderId };
  if (body.length <= storedPlainBytesMax) return record;
  const isAside = !engine.embedded && body.length > compressedAsideBytesMin;
  const small = isAside ? await compression.compressAside(body) : compression.compress(body);
  return small.length < body.length ? { ...record, body: small, encoding: compressed } : record;
}

/**
 * Checks that an answer fits beside the stored ones. Large ones may take half of the quota, so that the others always
 * find room.
 *
 * @throws Fault DO_OVERLOADED with the wait until enough stored answers have expired.
 */
async function checkRoom(
  tx: Tx,
  shopId: string,
  { storedBytes, bytes, quotaBytes }: { storedBytes: number; bytes: number; quotaBytes: number },
  expiredAtMs: number,
): Promise<void> {
  let excess = storedBytes + bytes - (bytes < storedLargeBytesMin ? quotaBytes : quotaBytes / 2);
  if (excess <= 0) return;
  let waitMs = idempotencyLifetimeMs;
  for (const oldest of await oldestRecords(tx, shopId, oldestMax)) {
    waitMs = oldest.storedAtMs - expiredAtMs;
    excess -= oldest.bytes;
    if (excess <= 0) break;
  }
  // Expired answers count no more, whether or not they have been deleted.
  if (excess <= 0 && waitMs <= 0) return;
  throw new Fault("DO_OVERLOADED", "The stored answers of this shop leave no room for another; nothing was changed.", {
    action: `Send the request without ${mention("idempotencyKey")}, or wait as long as ${mention("retryAfter")} says.`,
    retryAfterMs: Math.max(1_000, waitMs),
  });
}

/** The answer to a repeated request, if it is remembered. */
async function knownReplay(
  { engine, coordination }: Pick<IdempotencyDependencies, "engine" | "coordination">,
  request: KeyedRequest,
  answers: StoredAnswerReader,
): Promise<StoredReplay | null> {
  // While nobody runs, the answer does not change; and it is told within the step that finds it, so nobody need be kept
  // away.
  if (!engine.embedded || !request.wasAnswered) return null;
  if (await coordination.holdsKey(request.shopId, scopeOf(request))) return null;
  const record = answers.known(request);
  return record?.fingerprint === request.fingerprint ? { kind: "replay", record, seen: [], isDurable: true } : null;
}

/** Claims the key, and gives it back unless the request runs. */
async function claimedAttempt(
  deps: Pick<IdempotencyDependencies, "engine" | "coordination">,
  request: KeyedRequest,
  answers: StoredAnswerReader,
  lookAhead: LookAhead | null,
): Promise<Attempt> {
  const { coordination } = deps;
  const { shopId, fingerprint } = request;
  const { holder, record, seen, isDurable, ahead } = await claimAndRead(deps, request, answers, lookAhead);
  let isHeld = holder === null;
  let runs = false;
  try {
    if (record === null) {
      runs = isHeld;
      if (holder === null) return { kind: "run", ahead };
      return refused(holder.kind === "run" && holder.fingerprint !== fingerprint ? keyReused(null) : inProgress());
    }
    if (record.fingerprint !== fingerprint) return refused(keyReused(record));
    // An attempt that runs may replace its answer. A node that has died does not, and one that only seems dead is kept
    // from it.
    if (holder?.kind === "run") {
      isHeld = await coordination.takeOverKey(shopId, scopeOf(request), holder.fingerprint);
      if (!isHeld) return refused(inProgress());
    }
    return { kind: "replay", record, seen, isDurable };
  } finally {
    if (isHeld && !runs) await coordination.releaseKey(shopId, scopeOf(request));
  }
}

/**
 * Claims the key and reads the stored answer after that: an attempt may have stored its answer since the request came
 * (H2).
 */
async function claimAndRead(
  { engine, coordination }: { readonly engine: Engine; readonly coordination: Coordination },
  request: KeyedRequest,
  answers: StoredAnswerReader,
  lookAhead: LookAhead | null,
): Promise<Found & { readonly holder: KeyClaim | null }> {
  const { shopId, fingerprint, wasAnswered } = request;
  const claim: KeyClaim = { kind: wasAnswered ? "replay" : "run", fingerprint };
  for (;;) {
    let holder: KeyClaim | "again" | null = "again";
    const claimKey = async (tx?: Tx): Promise<void> => {
      holder = await coordination.claimKey(shopId, scopeOf(request), claim, tx);
    };
    try {
      let found: Found;
      if (engine.embedded) {
        await claimKey();
        found = await answers.find(request);
      } else found = await answers.findBeside(request, claimKey, lookAhead);
      if (holder !== "again") return { ...found, holder };
    } catch (error) {
      if (holder === null) await coordination.releaseKey(shopId, scopeOf(request));
      throw error;
    }
  }
}

/**
 * The fingerprint of the request whose answer is stored under this key of the API key that was sent; null when none is.
 *
 * @param connection  the caller, if it was sent no API key but the token of a connection.
 * @throws Fault UNAUTHORIZED for another API key.
 */
export async function answeredFingerprint(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  bearerToken: string | null,
  idempotencyKey: string,
  connection?: Caller,
): Promise<string | null> {
  const sinceMs = clock.now() - idempotencyLifetimeMs;
  if (connection !== undefined) {
    const { shopId } = connection.shop;
    const record = await engine.peek(shopId, (tx) =>
      findIdempotencyRecord(tx, shopId, holderOf(connection), idempotencyKey, sinceMs),
    );
    return record?.fingerprint ?? null;
  }
  const { found } = await identifyWith(engine, bearerToken, (tx, shopId, secretHash) =>
    findStoredFingerprint(tx, shopId, secretHash, idempotencyKey, sinceMs),
  );
  return found;
}

/**
 * True if a refusal is stored as the answer under its key (spec "Idempotency", C19). What is beyond a limit today may
 * be within it tomorrow (C78).
 */
export const isStoredRefusal = (error: unknown): error is Fault =>
  error instanceof Fault &&
  error.status >= 400 &&
  error.status < 500 &&
  !error.retryable &&
  error.reason !== "LIMIT_EXCEEDED";

const scopeOf = ({ holderId, idempotencyKey }: Pick<KeyedRequest, "holderId" | "idempotencyKey">): string =>
  `${holderId} ${idempotencyKey}`;

const refused = (fault: Fault): Attempt => ({ kind: "refused", fault });

/** The order that a request names, or the one that its answer is about; null: there is none, or there are several. */
export function orderOf(incoming: Incoming, operation: Operation, data: unknown = null): string | null {
  const drafts = memberOf(data, "drafts");
  const draft: unknown = Array.isArray(drafts) && drafts.length === 1 ? drafts[0] : null;
  const ids = [inputWithoutBody(incoming, operation), memberOf(data, "purchaseOrder"), draft].map((of) =>
    memberOf(of, "purchaseOrderId"),
  );
  return ids.find((id) => typeof id === "string") ?? null;
}

/**
 * Returns the input that a request gives without its body; a tool call gives all its arguments. Null: it cannot be
 * read.
 */
function inputWithoutBody(incoming: Incoming, operation: Operation): unknown {
  try {
    return incoming.assemble(operation, {}).raw;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

const inProgress = (): Fault =>
  new Fault("INVALID_INPUT", `The first request with this ${mention("idempotencyKey")} is still running.`, {
    reason: "IDEMPOTENCY_IN_PROGRESS",
    action: "Send the same request again in a moment to get its answer.",
  });

/** @param first  the stored answer of the first request; null: it is still running. */
function keyReused(first: IdempotencyRecord | null): Fault {
  const used = `This ${mention("idempotencyKey")} was used for a different request`;
  return new Fault("INVALID_INPUT", `${used}${first === null ? ", which is still running" : firstCall(first)}.`, {
    reason: "IDEMPOTENCY_KEY_REUSED",
    action: "Use a new key for a new request.",
  });
}

function firstCall({ operation, purchaseOrderId, storedAtMs }: IdempotencyRecord): string {
  const at = `answered at ${new Date(storedAtMs).toISOString()}`;
  if (operation === null) return `, ${at}`;
  return `: ${operation}${purchaseOrderId === null ? "" : ` of order ${purchaseOrderId}`}, ${at}`;
}
