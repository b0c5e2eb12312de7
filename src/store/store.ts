/**
 * The door to one shop's data: the port that every engine implements.
 *
 * Owns: serialisation of writes, atomicity, durability of what was answered. Does not own: what the data means (core) or how
 * rows map to it (rows.ts and its neighbours), nor anything upstream.
 *
 * Invariants:
 * - S1. Writes on one shop take effect one at a time, in the order in which they were accepted. Reads see a committed state,
 *       never half a write, and never wait for upstream calls.
 * - S2. A write is all or nothing.
 * - S3. An effect is in the outbox if and only if the change that asked for it committed.
 * - S4. A promise of `read` or `write` resolves only when what it tells is durable: it survives kill -9 and loss of power.
 * - S5. No upstream call happens inside `work`. Inside `work` only the `Tx` may be awaited.
 * - S6. The queue of a shop is bounded in length and age; beyond it 503 DO_OVERLOADED. A store that cannot be used: 503
 *       DO_UNAVAILABLE for that shop, nothing acknowledged, other shops served.
 * - S7. A shop is found by its id alone.
 */

/** What a statement may bind. Booleans, bigints, dates, undefined and NaN are refused by the adapter. */

export type SqlValue = string | number | null;

export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** A view of one shop's database inside `work`. Placeholders are `?`; int columns come back as numbers. */
export interface Tx {
  /** What is asked side by side, without awaiting in between, travels together on a network engine. */
  all<R>(sql: string, params?: readonly SqlValue[]): Promise<R[]>;
  /**
   * Runs the statements in order, answering nothing: a loop on an embedded engine; a network engine sends them with the next `all`
   * or at the end, and one that fails then fails the write.
   */
  batch(statements: readonly Statement[]): Promise<void>;
}

export interface WriteOptions {
  /**
   * False: committed before the promise resolves, but not yet synced to disk (it survives kill -9, not a power cut). For
   * records that no answer tells of, such as the audit row of a read. Default true.
   */
  readonly durable?: boolean;
  /**
   * True: the work reads nothing and adds rows that stand in no relation to others, such as an audit row. It may take effect beside the
   * shop's turns, so that a read never waits for one. Default false.
   */
  readonly append?: boolean;
}

/** Rows whose presence says that a shop has work due. An engine that keeps all shops in one place can be asked for such shops. */
export interface DueRows {
  /** A table of the shops' schema. */
  readonly table: string;
  /** A condition on the table's columns in the shared SQL, in which every `?` stands for the time in milliseconds. */
  readonly condition: string;
}

/** Databases of many shops, each reached by its shop id. */
export interface Engine {
  /** Creates the shop's database if it is absent. Idempotent. */
  create(shopId: string): Promise<void>;
  /** @returns false when there is no such database. */
  exists(shopId: string): Promise<boolean>;
  /** Deletes the shop's database with everything in it. Work that waits on it fails with NOT_FOUND. */
  remove(shopId: string): Promise<void>;
  /** Ids of all shops, in code-point order. */
  list(): Promise<string[]>;
  /**
   * Ids of the shops that may have rows which are due at this time, as the `DueRows` that the engine was opened with describe them. An
   * engine that cannot search all shops at once names every shop.
   */
  shopsWithDueRows(nowMs: number): Promise<string[]>;

  /**
   * A consistent view; every statement of `work` sees the same committed state, which is durable when the promise resolves.
   *
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_UNAVAILABLE  the shop's store cannot be read.
   */
  read<T>(shopId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Like `read`, but what it sees may not be synced yet: for decisions, never for answers. */
  peek<T>(shopId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in the shop's turn and commits what it wrote; if `work` throws, nothing of it is kept and the error is passed on.
   *
   * @throws Fault DO_OVERLOADED   the shop's queue is full, or the turn did not come in time; nothing was kept.
   * @throws Fault DO_UNAVAILABLE  the store cannot be written. Nothing was kept, unless the store is a network away and was lost
   *                               while it committed: then that may not be known, and the message says so. Whoever repeats a
   *                               write looks at what is there first.
   */
  write<T>(shopId: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** @throws Fault DO_OVERLOADED when a write accepted now would find the shop's queue full. */
  admit(shopId: string): void;

  /** Resolves when the engine can serve; rejects with the reason when it cannot (`GET /readyz`). */
  ready(): Promise<void>;
  /** Lets running work finish, syncs and closes everything. */
  close(): Promise<void>;
}

/** One token bucket's parameters (contract §7 "Shop settings"). */
export interface RateLimit {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/** The state of a bucket after a call. `retryAfterMs` is null when the call got its token. */
export interface RateLimitState {
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetAfterMs: number;
  readonly retryAfterMs: number | null;
}

/** Why an idempotency key is in flight. */
export interface KeyClaim {
  /**
   * `run`: its holder may run the request. `replay`: an answer was stored under the key when its holder's request came, so the first
   * attempt is over and its holder only reads that answer.
   */
  readonly kind: "run" | "replay";
  /** Equal for the same request (core/idempotency.ts). */
  readonly fingerprint: string;
}

/**
 * What the nodes that serve one shop agree on outside its database: the rate-limit bucket and the idempotency keys in flight.
 * On one process this is memory, so a crash leaves nothing behind; on several it is rows with a lease.
 */
export interface Coordination {
  /** Takes one token from the shop's bucket if there is one. */
  takeToken(shopId: string, limit: RateLimit, nowMs: number): Promise<RateLimitState>;
  /** Reads the bucket and takes nothing. */
  peekTokens(shopId: string, limit: RateLimit, nowMs: number): Promise<RateLimitState>;
  /**
   * Marks an idempotency key as in flight.
   *
   * @param scope names the key within the shop; equal texts are the same key.
   * @returns null when this call holds the key now, else the claim of its holder.
   */
  claimKey(shopId: string, scope: string, claim: KeyClaim): Promise<KeyClaim | null>;
  /**
   * Whether this process still holds a key that it claimed; if so, its lease is renewed. If not, another process may have held it since
   * and answered with what was stored then.
   */
  holdsKey(shopId: string, scope: string): Promise<boolean>;
  /** Gives a key back. A key that this process does not hold is left alone. */
  releaseKey(shopId: string, scope: string): Promise<void>;
}

/** What the program tells its operator: fields for a machine, a message for a person. A pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where the time comes from. Nothing else reads it. */
export interface Clock {
  now(): number;
}

/** Where ids come from: opaque, prefixed (`po_…`), time-ordered, unique across processes. */
export interface Ids {
  next(prefix: string): string;
}
