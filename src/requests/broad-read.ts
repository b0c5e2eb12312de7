/**
 * Broad reads: reads that would hold the event loop for too long (loop-limits.ts). An operation that finds out that its
 * read is one calls `call.leaveLoop()`; the operation then runs anew, from its start, on a reader thread.
 *
 * Owns: what a thread is told and what it answers, both plain data; running an operation there. Does not own: the
 * threads (threads/reader-pool.ts), which reads are broad (each operation).
 */
import { Fault } from "../base/fault.ts";
import { NoticingTx } from "../store/delegated.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Footprint, RunStatement, SqlValue, Tx, Work } from "../store/store.ts";
import { type Storefront, unusableStorefront } from "../storefront/storefront.ts";
import {
  type Reply,
  type ShownAnswer,
  asBytes,
  asFault,
  failure,
  isLong,
  notModified,
  shownAnswer,
  shownReply,
  withinBytes,
} from "./envelope.ts";
import { noting } from "./remembered/remembered-reads.ts";
import { type Call, noMailing, type Operation } from "./operation.ts";
import type { Incoming } from "./request.ts";

/**
 * A read that a write begins with and that may be broad, such as a forecast. `run` takes and returns plain data, and
 * calls `leaveLoop` before the work that may take long, as an operation does.
 */
export interface BroadQuery<QueryInput, Found> {
  /** Its name among `broadQueries`. */
  readonly name: string;
  run(tx: Tx, context: BroadContext, queryInput: QueryInput): Promise<Found>;
}

/** Facts of its call that a broad part may use. */
export type BroadContext = Pick<Call, "shop" | "clock" | "leaveLoop">;

/** A broad part, as a thread is told of it. */
export interface BroadQueryRead {
  readonly query: string;
  readonly queryInput: unknown;
  readonly shop: Call["shop"];
  /** The time of the read. */
  readonly nowMs: number;
}

/** Result of a thread, or the text of what was thrown. */
export type FoundQuery = { readonly found: unknown } | { readonly bug: string };

/** A broad read, as a thread is told of it. */
export interface BroadRead {
  /** The operation's name in the registry. */
  readonly operation: string;
  /** As the operation's schema has parsed it. */
  readonly input: unknown;
  readonly shop: Call["shop"];
  readonly actor: Call["actor"];
  readonly ifMatch: Call["ifMatch"];
  readonly incoming: Pick<Incoming, "requestId" | "surface" | "ifNoneMatch">;
  /** The time of the read. */
  readonly nowMs: number;
  readonly responseBytesMax: number;
  /** The answer is only sent on: a long body is wanted as bytes. */
  readonly asBytes: boolean;
}

/** Answer of a thread. `bug`: something other than a `Fault` was thrown, for the log. */
export interface BroadReply {
  readonly reply: Reply;
  readonly bug: string | null;
}

/** An answer that follows from what these statements have seen, the input and the shop's settings. */
export interface BroadAnswer {
  readonly shown: ShownAnswer;
  readonly statements: readonly RunStatement[];
}

/** An answer with the rows that it was made from; null: some have changed since. */
export interface BroadFinding {
  readonly shown: ShownAnswer;
  readonly seen: Footprint | null;
}

/** The port to the reader threads. */
export interface Readers {
  /**
   * Runs the operation on a reader thread when it is the shop's turn. The answer is durable and complete (S4).
   *
   * @throws Fault DO_OVERLOADED   too many of the shop's broad reads wait, or its turn did not come in time.
   * @throws Fault DO_UNAVAILABLE  the thread has died.
   */
  read(broad: BroadRead): Promise<BroadReply>;
  /**
   * Returns the same for a caller that may remember the answer. One that can be remembered, and is not long, comes with
   * its footprint.
   */
  find(broad: BroadRead): Promise<BroadFinding | BroadReply>;
  /** The same for a part of a call. @returns what the part's `run` has returned. @throws also what is a bug of it. */
  readQuery(broad: BroadQueryRead): Promise<unknown>;
}

/** Thrown by `leaveLoop`: not a failure, `perform` continues on a thread. */
export class ReaderThreadNeeded extends Error {
  override readonly name = "ReaderThreadNeeded";
}

const stackOf = (error: unknown): string => String(error instanceof Error ? error.stack : error);

const unusable = (what: string) => (): never => {
  throw new Error(`a broad read may not ${what}`);
};

const noIds: Ids = { next: unusable("make ids"), processName: "", claimant: unusable("claim anything") };

const noStorefront: Storefront = unusableStorefront("a broad read may not ask the storefront");

/** A call that can read and nothing else. */
export const readingCall = (
  reading: Pick<Call, "shop" | "actor" | "operation" | "requestId" | "clock" | "ifMatch" | "read" | "leaveLoop">,
): Call => ({
  ...reading,
  readQuery: (query, queryInput) =>
    reading.read((tx) => query.run(tx, { ...reading, leaveLoop: () => {} }, queryInput)),
  afterwards: () => {},
  ahead: null,
  limitedKeyId: null,
  approvedBy: null,
  ids: noIds,
  traceparent: null,
  baseUrl: null,
  consoleOrigin: null,
  storefront: noStorefront,
  mailing: noMailing,
  change: unusable("change anything"),
  needDecision: unusable("need a decision"),
  rehearse: unusable("rehearse anything"),
  settle: unusable("wait for effects"),
  commit: unusable("change anything"),
});

type ReadShop = <T>(work: Work<T>) => Promise<T>;

/** Reads and tells which statements were run. */
async function readTelling<T>(
  read: ReadShop,
  work: Work<T>,
  onSeen: (seen: readonly RunStatement[]) => void,
): Promise<T> {
  const run = new Map<string, (readonly SqlValue[])[]>();
  const value = await read((tx) =>
    work(
      new NoticingTx(tx, ({ sql, params }) => {
        const known = run.get(sql);
        if (known === undefined) run.set(sql, [params]);
        else known.push(params);
      }),
    ),
  );
  onSeen([...run].map(([sql, params]) => ({ sql, params })));
  return value;
}

/**
 * Runs a broad read where it holds up nobody. Never rejects.
 *
 * @param read         reads the shop as `Engine.read` does.
 * @param isRemembered an answer that can be remembered, and is not a long one, is wanted with what it was made from.
 */
export async function runBroadRead(
  operations: readonly Operation[],
  read: ReadShop,
  broad: BroadRead,
  isRemembered: boolean,
): Promise<BroadAnswer | BroadReply> {
  const { shop, actor, ifMatch, incoming, nowMs } = broad;
  const clock: Clock = { now: () => nowMs };
  try {
    const operation = operations.find(({ name }) => name === broad.operation);
    if (operation?.scope !== "read") throw new Error(`${broad.operation} is not a read`);
    const reading = readingCall({
      shop,
      actor,
      operation: operation.name,
      requestId: incoming.requestId,
      clock,
      ifMatch,
      read,
      leaveLoop: () => {},
    });
    const { call, seen } = noting<readonly RunStatement[]>(reading, (work, onSeen) => readTelling(read, work, onSeen));
    const answer = await operation.run(isRemembered ? call : reading, broad.input);
    const unchanged = notModified(incoming, answer);
    if (unchanged !== null) return { reply: unchanged, bug: null };
    const shown = shownAnswer(answer, incoming.surface);
    const reply = withinBytes(shownReply(incoming, operation, shown), broad.responseBytesMax);
    const statements = seen()?.flat() ?? null;
    if (statements !== null && !isLong(reply)) return { shown, statements };
    return { reply: broad.asBytes ? asBytes(reply) : reply, bug: null };
  } catch (error) {
    const reply = failure(incoming.requestId, asFault(error), incoming.surface);
    return { reply, bug: error instanceof Fault ? null : stackOf(error) };
  }
}

/** Runs a broad part where it holds up nobody. Never rejects. */
export async function runBroadQuery(
  queries: Readonly<Record<string, () => Promise<BroadQuery<unknown, unknown>>>>,
  read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  { query: name, queryInput, shop, nowMs }: BroadQueryRead,
): Promise<FoundQuery> {
  const context: BroadContext = { shop, clock: { now: () => nowMs }, leaveLoop: () => {} };
  try {
    const query = await queries[name]?.();
    if (query?.name !== name) throw new Error(`there is no broad query ${name}`);
    return { found: await read((tx) => query.run(tx, context, queryInput)) };
  } catch (error) {
    return { bug: stackOf(error) };
  }
}
