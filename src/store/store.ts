/**
 * The door to one shop's data: the port that every engine implements.
 *
 * Owns: serialisation of writes, atomicity, durability of what was answered. Does not own: what the data means (core),
 * the SQL and how rows map to values (shop), calls of the storefront (outbox).
 *
 * Invariants:
 * - S1. Writes on one shop take effect one at a time, in the order in which they were accepted. Reads see a committed
 *       state, never half a write, and never wait for upstream calls.
 * - S2. A write is all or nothing.
 * - S3. An effect is in the outbox if and only if the change that asked for it committed.
 * - S4. A promise of `read` or `write` resolves only when everything it reports is durable: it survives kill -9 and
 *   loss of power.
 * - S5. No upstream call happens inside `work`. Inside `work` only the `Tx` may be awaited.
 * - S6. The queue of a shop is bounded in length and age; beyond that a write gets 503 DO_OVERLOADED. When a shop's
 *       store cannot be used, its requests get 503 DO_UNAVAILABLE, nothing is acknowledged, and other shops are served.
 * - S7. A shop is found by its id alone.
 */

import type { BucketLimit, BucketReading } from "../core/access/rate-limit.ts";

/** A value that a statement may bind. Engines refuse booleans, bigints, dates, undefined and NaN with a TypeError. */
export type SqlValue = string | number | null;

/** A statement in the shared SQL (architecture, "One SQL text: rules"), with `?` for each parameter. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** One shop's database inside `work`; unusable after it. Integer columns come back as numbers. */
export interface Tx {
  /**
   * Runs a statement and returns its rows. Statements that are started side by side, without an await in between, share
   * one round trip on a network engine.
   *
   * @throws TypeError for a value that may not be bound, Error for a statement that may not run here.
   */
  all<R>(sql: string, params?: readonly SqlValue[]): Promise<R[]>;
  /**
   * Runs the statements in order and returns no rows; most are changes (change.ts). An embedded engine runs them at
   * once. A network engine sends them with the next `all` or with the commit; a statement that fails then fails the
   * write.
   */
  batch(statements: readonly Statement[]): Promise<void>;
  /**
   * Lets other shops have the event loop, if the shop has held it for long. Work that goes through many rows calls it
   * between some of them and the next. Whoever asks for this shop waits until the work has ended. Absent where nobody
   * waits for the work.
   */
  giveWay?(): Promise<void>;
  /** Values of the shop that the process remembers. Absent where others may change the rows without its knowledge. */
  readonly cache?: TxCache | undefined;
}

/** Values that a process has read or written and remembers as long as the rows stand (D111). */
export interface TxCache {
  /**
   * Returns the value that `load` makes of the rows of the statements. It is remembered, if they would read the same as
   * when it was made. `load` runs these statements, no others. Nobody may change the value.
   */
  recall<T extends object>(remembered: Remembered, load: () => Promise<T | null>): Promise<T | null>;
  /** Says what `load` would make of the rows now, in this transaction. */
  know(remembered: Remembered, value: object): void;
}

/** Something that is remembered. */
export interface Remembered {
  readonly key: string;
  readonly reads: readonly Statement[];
  /** Returns the bytes of the value in memory, roughly. */
  readonly bytesOf: (value: object) => number;
}

/** Work on a shop's database in one read or one write. It awaits nothing but its `Tx` (S5). */
export type Work<T> = (tx: Tx) => Promise<T>;

/** Options of a commit. */
export interface WriteOptions {
  /**
   * False: committed before the promise resolves, but not yet synced to disk; it survives kill -9, but not a power cut.
   * For rows that no answer depends on, such as the audit row of a read. Default true.
   */
  readonly durable?: boolean;
  /**
   * False: the promise may resolve before the commit, which a network engine sends without waiting for its answer. The
   * shop's next turns see what was written; a crash, or an error of the commit, may take it back unnoticed. For counts
   * beside an answer that was only read. Default true.
   */
  readonly committed?: boolean;
  /**
   * True: the work only adds rows that no other rows depend on, such as an audit row. Unless the engine is embedded it
   * reads nothing, and may run outside the shop's turns, so that it does not wait for one. Default false.
   */
  readonly append?: boolean;
}

/**
 * Rows whose presence says that a shop has work due. An engine that keeps all shops in one place can be asked for such
 * shops.
 */
export interface DueRows {
  /** A table of the shops' schema. */
  readonly table: string;
  /** A condition on the table's columns in the shared SQL, in which every `?` stands for the time in milliseconds. */
  readonly condition: string;
  /**
   * A column that is null where nothing is due. Given where most rows are not due yet: an engine that searches all
   * shops then finds the others by an index that begins with it.
   */
  readonly searchedBy?: string;
}

/** A shop that has rows which are due. */
export interface DueShop {
  readonly shopId: string;
  /** The table of these; null: any. */
  readonly table: string | null;
}

/** Rows by a value of which shops are found. */
export interface SoughtRows {
  /** A table of the shops' schema. */
  readonly table: string;
  /** A text of their columns in the shared SQL; null in rows by which nothing is found. */
  readonly text: string;
}

/** A statement of a read, with the parameters of each time that it was run. */
export interface RunStatement {
  readonly sql: string;
  readonly params: readonly (readonly SqlValue[])[];
}

/** Rows that a read has seen. An engine that cannot know whether others change them has none. */
export interface Footprint {
  /** Nothing has changed any of them: the same read would see the same. */
  stands(): boolean;
}

/** Databases of many shops, each reached by its shop id. */
export interface Engine {
  /** It works in this process, and no other changes its rows: its reads tell what they have seen (`onSeen`). */
  readonly embedded: boolean;
  /**
   * Creates the shop's database; one that exists stays as it is.
   *
   * @throws TypeError when the id is not one of a shop.
   */
  create(shopId: string): Promise<void>;
  /** True if the shop has a database. */
  exists(shopId: string): Promise<boolean>;
  /**
   * Deletes the shop's database with everything in it; does nothing without one. Writes that wait for the shop fail
   * with NOT_FOUND.
   */
  remove(shopId: string): Promise<void>;
  /** Ids of all shops, in code-point order. */
  list(): Promise<string[]>;
  /**
   * Shops that may have rows which are due at this time, for each table. The `DueRows` that the engine was opened with
   * describe them. An engine that cannot search all shops at once names every shop.
   */
  shopsWithDueRows(nowMs: number): Promise<readonly DueShop[]>;
  /**
   * Ids of the shops that may have a row with this value, as the `SoughtRows` that the engine was opened with describe
   * it. An engine that cannot search all shops at once names every shop.
   */
  shopsWithValue(value: string): Promise<string[]>;

  /**
   * Reads the shop: every statement of `work` sees the same committed state, and what they have seen is durable when
   * the promise resolves. If `work` runs no statement, everything that was committed before is.
   *
   * @param onSeen called when `work` has succeeded, if the engine knows which rows it has seen and who changes them.
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_UNAVAILABLE  the shop's store cannot be read.
   */
  read<T>(shopId: string, work: Work<T>, onSeen?: (seen: Footprint) => void): Promise<T>;
  /**
   * Like `read`, but what it sees may not be synced to disk yet: for decisions, never for answers.
   *
   * @param credential  hash of the secret that the caller has shown. An engine that knows that the shop has no such key
   *                    may refuse with NOT_FOUND, without opening anything.
   */
  peek<T>(shopId: string, work: Work<T>, credential?: string): Promise<T>;
  /**
   * Runs `work` in the shop's turn and commits what it wrote. If `work` throws, nothing is kept and the error is passed
   * on.
   *
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_OVERLOADED   the shop's queue is full, or the turn did not come in time; nothing was kept.
   * @throws Fault DO_UNAVAILABLE  the store cannot be written. Nothing was kept, with one exception: if a network
   *                               engine lost its connection during the commit, the outcome may be unknown. The message
   *                               says so. A caller that repeats the write must first check what is stored.
   */
  write<T>(shopId: string, work: Work<T>, options?: WriteOptions): Promise<T>;
  /** True if a write of the shop opens nothing first, which may close what another shop needs. */
  isOpen(shopId: string): boolean;
  /** Checks that the shop's queue has room. @throws Fault DO_OVERLOADED when it is full. */
  admit(shopId: string): void;

  /** Checks that the engine can serve (`GET /readyz`). @throws Fault DO_UNAVAILABLE with the reason when it cannot. */
  ready(): Promise<void>;
  /** Lets running work finish, syncs and closes everything. */
  close(): Promise<void>;
}

/** Why an idempotency key is in flight. */
export interface KeyClaim {
  /**
   * `run`: its holder may run the request. `replay`: an answer was stored under the key when its holder's request came.
   * The first attempt is over, and its holder only reads that answer.
   */
  readonly kind: "run" | "replay";
  /** Equal for the same request (core/access/idempotency.ts). */
  readonly fingerprint: string;
}

/** Release of a key with the commit of a write. */
export interface KeyRelease {
  /** Statements of that write. */
  readonly statements: readonly Statement[];
  /** To be called once the write has committed: `releaseKey` does nothing from then on. */
  done(): void;
}

/**
 * State that the processes of a shop share outside its database: the rate-limit bucket and the idempotency keys in
 * flight. In a single process this is memory, so a crash leaves nothing behind. Among several nodes it is rows, with
 * leases for the keys.
 */
export interface Coordination {
  /** Takes one token from the shop's bucket if there is one. */
  takeToken(shopId: string, limit: BucketLimit, nowMs: number): Promise<BucketReading>;
  /**
   * Takes tokens one after another as `takeToken` does, provided that a statement has a row. On a network engine it is
   * one round trip, that in which the read begins; two when there are fewer tokens than were asked for.
   *
   * @param batch how many, and a statement that reads the shop.
   * @param tx    a read of the shop that has run no statement yet.
   * @returns what each of them is told; null where the statement had no row: nothing was taken.
   */
  takeTokensWhen(
    shopId: string,
    limit: BucketLimit,
    nowMs: number,
    batch: { readonly when: Statement; readonly count: number },
    tx: Tx,
  ): Promise<readonly (BucketReading | null)[]>;
  /** Puts back a token that was taken for a request which needs none. */
  giveToken(shopId: string, limit: BucketLimit, nowMs: number): Promise<BucketReading>;
  /** Reads the bucket and takes nothing. */
  peekTokens(shopId: string, limit: BucketLimit, nowMs: number): Promise<BucketReading>;
  /**
   * Marks an idempotency key as in flight.
   *
   * @param scope names the key within the shop; equal texts are the same key.
   * @param tx    a read of the shop that has run no statement yet. It sees what was committed before the key was
   *              claimed. On a network engine the claim is made in the round trip in which the read begins.
   * @returns null when this call holds the key now, else the claim of its holder. `again`: its holder has changed at
   *          that moment; the call is to be repeated in another read.
   */
  claimKey(shopId: string, scope: string, claim: KeyClaim, tx?: Tx): Promise<KeyClaim | "again" | null>;
  /**
   * Takes a key over from a process that may have died, to replay the answer that is stored under it.
   *
   * @param fingerprint that of the holder's claim, of the kind `run`.
   * @returns whether this call holds the key now. It does not if the holder is known to run, or has begun to replace
   *   the stored answer.
   */
  takeOverKey(shopId: string, scope: string, fingerprint: string): Promise<boolean>;
  /**
   * True if this process still holds a key that it claimed. If so, its lease is renewed, and `takeOverKey` cannot take
   * the key any more. If not, another process may have held it since and answered with what was stored then.
   *
   * @param tx a write of the shop that the check is part of.
   */
  holdsKey(shopId: string, scope: string, tx?: Tx): Promise<boolean>;
  /** Gives a key back. A key that this process does not hold is left alone. */
  releaseKey(shopId: string, scope: string): Promise<void>;
  /**
   * Gives a key back with the commit of a write, which needs no round trip then. A key that this process does not hold
   * is left alone.
   */
  releaseKeyWith(shopId: string, scope: string): KeyRelease;
  /**
   * Notes a session of the operator, who belongs to no shop, as seen at this time (C49). Beyond `operatorSessionsMax`
   * of them the one that was not seen for longest ends.
   *
   * @param session names it; a hash of its secret.
   */
  seeOperatorSession(session: string, nowMs: number): Promise<void>;
  /** True if there is such a session, and it was seen after `sinceMs`. */
  hasOperatorSession(session: string, sinceMs: number): Promise<boolean>;
  endOperatorSession(session: string): Promise<void>;
  /** Ends all of them. */
  endOperatorSessions(): Promise<void>;
  /**
   * A secret that all processes with this store share, with which they sign what is stored nowhere and lives for
   * minutes. On an embedded engine each start has another one.
   */
  sharedSecret(): Promise<string>;
}

/** Messages of the program to its operator: fields for a machine, a text for a person. A pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Makes texts smaller where they are stored. What was compressed once must be readable for as long as it is stored. */
export interface Compression {
  /** The compressed form as ASCII text. It takes about 5 ms for each megabyte. */
  compress(text: string): string;
  /** The same, for the most part off the event loop. */
  compressAside(text: string): Promise<string>;
  /** The text that was compressed. @throws Error for a text that `compress` has not made. */
  expand(compressed: string): Promise<string>;
  /** A short form of a text for memory, a byte in each character; short if the dictionary is like the text. */
  pack(text: string, dictionary: Uint8Array): Packed;
  /** The text. It is needed at once, so it is expanded on the event loop. */
  unpack(packed: Packed, dictionary: Uint8Array): string;
}

/** A text that was packed. */
export interface Packed {
  readonly bytes: string;
  /** Of the text, in bytes. */
  readonly length: number;
}
