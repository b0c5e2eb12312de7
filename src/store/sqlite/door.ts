/**
 * One shop of the embedded engine: its queue and, while it is open, its file.
 *
 * Owns: whose turn it is, which writes are committed together, when results leave, opening the file again after a
 * failure. Does not own: the queue (../queue.ts), the file and its durability (file.ts), which shops are open
 * (engine.ts).
 *
 * - Writes that wait together run one after another and are committed together (S1, S2). The commit does not wait for
 *   the disk: results leave when it is synced, and the next group runs meanwhile (S4).
 * - A write that fails after it has changed something ends its group. The transaction is rolled back, the statements of
 *   the writes before it are run again, and those are committed. They leave the same rows, since a statement depends on
 *   nothing but rows and parameters. A savepoint for each write would copy every page that the write changes (D402).
 * - A refusal is a result like any other. It may depend on earlier writes, so it waits for their sync too.
 * - Reads use the same connection and run at once, unless a group of writes is under way; then they wait for its
 *   commit. `work` awaits nothing but its `Tx`, which answers within the same round of the event loop. So a group is
 *   over before the loop goes on, and a second connection would gain nothing. A long write is over later, since it
 *   gives way to other shops. In return, no read can see half a write, nothing but memory is shared, and a `-wal` file
 *   can be emptied between groups.
 * - `work` that has not settled when the event loop goes on is rolled back and reported as a bug (work-watch.ts).
 */
import type { Fault } from "../../base/fault.ts";
import { type Form, isChange } from "../change.ts";
import { unavailable } from "../engine-rules.ts";
import type { Beside, LoopShare } from "../loop-share.ts";
import { type PendingWrite, type QueueDepth, type QueueLimits, ShopQueue } from "../queue.ts";
import type { Footprint, Log, Remembered, RunStatement, SqlValue, Statement, Tx, TxCache, Work } from "../store.ts";
import { type Made, type PreparedStatement, type RunWrite, type ShopFile, StoreFailure } from "./file.ts";
import { SeenRows } from "./row-watch.ts";
import { WorkWatch } from "./work-watch.ts";

/**
 * After so long a group of writes of a shop ends, however many are in it. Reads and other shops' requests get the event
 * loop then (SQLite). A commit takes about 0.2 ms of it.
 */
export const groupHoldMsMax = 4;

/** The same while reads come, of any shop: those of the shop wait for a whole group (D440). */
export const groupHoldBesideReadsMsMax = 2;

/** The same while nothing but writes of this shop comes: larger groups write fewer pages (D440). */
export const groupHoldAloneMsMax = 8;

/** Writes that have waited for so long give way no more to reads that came after them (D440). */
export const giveWayMsMax = 100;

/** Writes that are committed together. Reads of the shop wait for a group, so groups are small. */
const groupLengthMax = 64;

/** Time for which a group of writes may hold the event loop, by who wants something beside them (D440). */
const groupHoldMs: Readonly<Record<Beside, number>> = {
  reads: groupHoldBesideReadsMsMax,
  "other shops": groupHoldMsMax,
  nobody: groupHoldAloneMsMax,
};

/**
 * Reads of a shop that run in one round of the event loop. Further ones wait for the next, so that a long loop of reads
 * holds up nobody.
 */
const readsPerRoundMax = 100;

/** True if two writes are the same statement on the same slice of rows. The watch is told of the first only. */
const isSameChange = (one: RunWrite, other: RunWrite): boolean => {
  const { slice } = one.prepared.known.scope;
  return (
    one.prepared === other.prepared && (slice === null || one.params[slice.parameter] === other.params[slice.parameter])
  );
};

/** Ends a part of a turn. Resolves when the next may begin. */
type GiveWay = () => Promise<void>;

/** The file as one piece of work sees it; unusable after that. */
class FileTx implements Tx, TxCache {
  readonly #file: ShopFile;
  readonly #giveWay: GiveWay | null;
  /** Values that this write has read or made, for others when it is kept. */
  readonly #made = new Map<string, Made>();
  /** Rows that it reads; null: it may write. */
  readonly #seen: SeenRows | null;
  #ended = false;
  wrote = false;
  /** Statements that it has run to change something, in order. */
  readonly writes: RunWrite[] = [];
  /** The store has failed under a statement. Nothing of this turn can be kept, however `work` ends. */
  failure: StoreFailure | null = null;

  constructor(file: ShopFile, seen: SeenRows | null, giveWay: GiveWay | null = null) {
    this.#file = file;
    this.#seen = seen;
    this.#giveWay = giveWay;
  }

  async giveWay(): Promise<void> {
    await this.#giveWay?.();
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    try {
      const prepared = this.#prepared(sql, params);
      const rows = this.#file.all(prepared, params);
      const { writes, scope, returnsChanges } = prepared.known;
      if (writes) this.writes.push({ prepared, params });
      // A sweep that finds nothing, for one, leaves everything that is remembered.
      if (writes && !(returnsChanges && rows.length === 0)) this.#file.watch.changed(scope, params);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
      return rows as R[];
    } catch (error) {
      throw this.#reported(error);
    }
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    try {
      let last: PreparedStatement | null = null;
      let reported: RunWrite | null = null;
      for (const statement of statements) {
        const { sql, params } = statement;
        const form = isChange(statement) ? statement.form : null;
        // Many have the text of the one before: a line each.
        const prepared: PreparedStatement = last?.known.sql === sql ? last : this.#prepared(sql, params, form);
        const { writes, scope } = prepared.known;
        const changes = this.#file.run(prepared, params);
        if (!writes) continue;
        last = prepared;
        const write = { prepared, params };
        this.writes.push(write);
        if (changes === 0 || (reported !== null && isSameChange(reported, write))) continue;
        this.#file.watch.changed(scope, params);
        reported = write;
      }
    } catch (error) {
      throw this.#reported(error);
    }
  }

  /** The statement, when it may run. What it reads is noted. */
  #prepared(sql: string, params: readonly SqlValue[], form: Form | null = null): PreparedStatement {
    if (this.#ended) throw new Error("a Tx was used after its work had ended");
    if (this.failure !== null) throw this.failure.fault;
    const prepared = this.#file.prepared(sql, form);
    const { writes, scope } = prepared.known;
    if (writes) {
      if (this.#seen !== null) throw new Error(`a read may not change anything: ${sql}`);
      this.wrote = true;
    } else this.#seen?.add(scope, params);
    return prepared;
  }

  /** Returns the error as the caller gets it. */
  #reported(error: unknown): unknown {
    if (!(error instanceof StoreFailure)) return error;
    this.failure = error;
    return error.fault;
  }

  get cache(): this {
    return this;
  }

  async recall<T extends object>(remembered: Remembered, load: () => Promise<T | null>): Promise<T | null> {
    const made = this.#made.get(remembered.key);
    const value = made?.seen.stands() === true ? made.value : this.#file.recall(remembered.key);
    if (value !== null) {
      for (const { sql, params } of remembered.reads) this.#prepared(sql, params);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key stands for this load
      return value as T;
    }
    const seen = this.#seeing(remembered);
    const loaded = await load();
    if (loaded !== null) this.#make(remembered, loaded, seen);
    return loaded;
  }

  know(remembered: Remembered, value: object): void {
    this.#make(remembered, value, this.#seeing(remembered));
  }

  /** The rows of these statements as they are now. */
  #seeing({ reads }: Remembered): SeenRows {
    const seen = new SeenRows(this.#file.watch);
    for (const { sql, params } of reads) seen.add(this.#file.prepared(sql).known.scope, params);
    return seen;
  }

  #make({ key, bytesOf }: Remembered, value: object, seen: SeenRows): void {
    const made = { value, bytes: bytesOf(value), seen };
    // What a write has made may be rolled back.
    if (this.#seen === null) this.#made.set(key, made);
    else this.#file.remember(key, made);
  }

  end(): void {
    this.#ended = true;
  }

  /** The write is kept: others may see what it has made. */
  kept(): void {
    for (const [key, made] of this.#made) this.#file.remember(key, made);
  }
}

/** The results of a committed group: those that leave at once, and those that leave when the disk has the commit. */
interface GroupResult {
  readonly atOnce: readonly (() => void)[];
  readonly whenSynced: readonly (() => void)[];
  /** Writes at the end of the group that were not run: the time was up, or one before them had to be undone. */
  readonly left: number;
}

/** A shop's file that another connection may read. */
export interface FileLoan {
  /**
   * Resolves when everything that was committed by now is durable (S4). @throws Fault DO_UNAVAILABLE when the sync
   * fails.
   */
  untilDurable(): Promise<void>;
  /**
   * To be called before something is read.
   *
   * @returns what says, after it, which rows these statements have seen. Null: some of them have changed since
   *   `observe` was called.
   */
  observe(): (statements: readonly RunStatement[]) => Footprint | null;
  /**
   * Says that nothing is read for now: the file may be closed. Before that `recall` is called, once, and the loan is to
   * be given back at once.
   */
  rest(recall: () => void): void;
  /** Ends the rest, since something is read again. To be called before `recall` is. */
  resume(): void;
  /** Ends the loan. The other connection must be closed by then. */
  giveBack(): void;
}

/** The rows that these statements have seen on another connection, if none has changed since this change. */
function seenSince(file: ShopFile, change: number, statements: readonly RunStatement[]): Footprint | null {
  const seen = new SeenRows(file.watch);
  try {
    for (const { sql, params } of statements) {
      const scope = file.scopeOf(sql);
      for (const each of scope.slice === null ? params.slice(0, 1) : params) seen.add(scope, each);
    }
  } catch (error) {
    if (error instanceof StoreFailure) return null;
    throw error;
  }
  return seen.isAsAt(change) ? seen : null;
}

/** A loan as the door knows it. */
interface Lent {
  readonly returned: Promise<void>;
  /** Null while something is read. */
  recall: (() => void) | null;
}

interface ShopDoorOptions {
  readonly shopId: string;
  readonly openFile: () => ShopFile;
  /** Called when something could not be written because the disk takes no more. */
  readonly diskFull: () => void;
  readonly queue: QueueLimits;
  readonly depth?: QueueDepth | undefined;
  readonly loop: LoopShare;
  readonly log: Log | null;
}

export class ShopDoor {
  readonly #shopId: string;
  readonly #openFile: () => ShopFile;
  readonly #diskFull: () => void;
  readonly #log: Log | null;
  readonly #loop: LoopShare;
  readonly #queue: ShopQueue<PendingWrite>;
  readonly #watch: WorkWatch;
  #file: ShopFile | null = null;
  /** A file that has failed, or that nobody used for long, is being closed; a sync of it may still be under way. */
  #retiring: Promise<void> | null = null;
  #inTurn = false;
  #afterTurn: (() => void)[] = [];
  #readsThisRound = 0;
  #waitingReads = 0;
  readonly #snapshots = new Set<Promise<void>>();
  /** Copies that have not read their first pages yet. */
  readonly #beginning = new Set<Promise<void>>();
  /** Readers of the file on connections of their own. */
  readonly #loans = new Set<Lent>();
  /** It is to be closed as soon as nothing runs. */
  #isFinishing = false;
  /** The failure that was logged last, until a write succeeds. */
  #loggedFailure: string | null = null;

  constructor({ shopId, openFile, diskFull, queue, depth, loop, log }: ShopDoorOptions) {
    this.#shopId = shopId;
    this.#openFile = openFile;
    this.#diskFull = diskFull;
    this.#log = log;
    this.#loop = loop;
    this.#queue = new ShopQueue({
      limits: queue,
      groupLengthMax,
      depth,
      turn: (group) => this.#turn(group),
      gate: (waitedMs) => this.#gate(waitedMs),
    });
    this.#watch = new WorkWatch(
      () => this.#stuckError(),
      () => {
        this.#readsThisRound = 0;
      },
    );
  }

  /** Nothing runs, waits or is still to be synced: the file may be closed. */
  get idle(): boolean {
    return (
      this.#queue.idle &&
      this.#watch.idle &&
      this.#waitingReads === 0 &&
      this.#snapshots.size === 0 &&
      [...this.#loans].every(({ recall }) => recall !== null) &&
      this.#retiring === null &&
      !(this.#file?.busy ?? false)
    );
  }

  /** @throws Fault DO_OVERLOADED when the queue is full. */
  admit(): void {
    this.#queue.admit();
  }

  /** When the next group may begin, whose first write has waited for so long. */
  #gate(waitedMs: number): Promise<void> | null {
    const givesWay = waitedMs < giveWayMsMax && this.#loop.besideWritesOf(this.#shopId) === "reads";
    return givesWay ? this.#loop.waitAfterReads(this.#shopId) : this.#loop.waitForShare(this.#shopId);
  }

  /** The shop's file, opened if it is not open. @throws Fault DO_UNAVAILABLE when it cannot be opened. */
  open(): ShopFile {
    if (this.#file !== null) return this.#file;
    try {
      this.#file = this.#openFile();
      return this.#file;
    } catch (error) {
      if (error instanceof StoreFailure) this.#logFailure(error);
      throw error instanceof StoreFailure ? error.fault : error;
    }
  }

  /**
   * @param gated  the result leaves when everything that it may depend on is synced. That is the rows it has seen or,
   *               without a statement, all that is committed.
   */
  async read<T>(work: Work<T>, gated: boolean, onSeen?: (seen: Footprint) => void): Promise<T> {
    const turn = this.#loop.waitForShare(this.#shopId);
    if (turn !== null) await this.#waiting(turn);
    while (this.#inTurn || this.#retiring !== null || this.#readsThisRound >= readsPerRoundMax)
      await this.#waiting(this.#untilReadable());
    const file = this.open();
    this.#readsThisRound += 1;
    const seen = new SeenRows(file.watch);
    const tx = new FileTx(file, seen);
    const outcome = await this.#loop.holding(this.#shopId, () => this.#watch.run(() => work(tx)));
    tx.end();
    if (tx.failure !== null) {
      this.#abandon(file, tx.failure);
      throw tx.failure.fault;
    }
    if (gated && !file.synced) await file.untilSynced(seen.isEmpty ? undefined : seen.due);
    if (!outcome.ok) throw outcome.error;
    onSeen?.(seen);
    return outcome.value;
  }

  /** Waits; meanwhile the shop is not idle, so nobody forgets this door and opens the file at another one. */
  async #waiting(until: Promise<void>): Promise<void> {
    this.#waitingReads += 1;
    try {
      await until;
    } finally {
      this.#waitingReads -= 1;
    }
  }

  async #untilReadable(): Promise<void> {
    if (this.#retiring !== null) return this.#retiring;
    if (this.#inTurn) return new Promise((resolve) => void this.#afterTurn.push(resolve));
    return nextRound();
  }

  /** Copies the shop's file to `path` while the shop is served. @throws Fault DO_UNAVAILABLE. */
  async snapshot(path: string): Promise<void> {
    while (this.#inTurn || this.#retiring !== null) await this.#waiting(this.#untilReadable());
    const file = this.open();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    this.#beginning.add(begun);
    const snapshot = file.copyTo(path, () => {
      this.#beginning.delete(begun);
      resolve();
    });
    this.#snapshots.add(snapshot);
    try {
      await snapshot;
      // The copy also ends without an error when the file was closed under it, as after a failure of the store.
      if (file !== this.#file) throw unavailable("This shop's data could not be copied completely.");
    } catch (error) {
      throw error instanceof StoreFailure ? error.fault : error;
    } finally {
      this.#snapshots.delete(snapshot);
    }
  }

  /**
   * Lets another connection read the file until the loan is returned; until then the file is not closed.
   *
   * @throws Fault DO_UNAVAILABLE when the file cannot be opened.
   */
  async lend(): Promise<FileLoan> {
    const file = await this.#sharable();
    try {
      file.share();
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      this.#abandon(file, error);
      throw error.fault;
    }
    const { promise: returned, resolve } = Promise.withResolvers<void>();
    const lent: Lent = { returned, recall: null };
    this.#loans.add(lent);
    return {
      untilDurable: () => file.untilSynced(),
      observe: () => {
        const since = file.watch.committedChange;
        return (statements) => (file === this.#file ? seenSince(file, since, statements) : null);
      },
      rest: (recall) => {
        lent.recall = recall;
        if (file !== this.#file || this.#isFinishing) recallLoan(lent);
      },
      resume: () => {
        lent.recall = null;
      },
      giveBack: () => {
        this.#loans.delete(lent);
        resolve();
      },
    };
  }

  /** Waits until every loan is given back. Those that rest are recalled. */
  async #untilReturned(): Promise<void> {
    for (const lent of this.#loans) recallLoan(lent);
    await Promise.all([...this.#loans].map(({ returned }) => returned));
  }

  /** The open file; one that cannot be shared is opened anew first, since the disk may have room by now. */
  async #sharable(): Promise<ShopFile> {
    for (let tries = 1; ; tries += 1) {
      while (this.#inTurn || this.#retiring !== null) await this.#waiting(this.#untilReadable());
      const file = this.open();
      if (file.canShare) return file;
      const fault = unavailable("The disk has no room for a large read of this shop.");
      if (tries > 1) throw fault;
      this.#abandon(file, new StoreFailure(fault, true, true));
    }
  }

  write<T>(work: Work<T>, durable: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.add({
        durable,
        run: async (tx) => {
          const outcome = await this.#watch.run(() => work(tx));
          return outcome.ok
            ? { keep: true, settle: () => resolve(outcome.value) }
            : { keep: false, settle: () => reject(outcome.error) };
        },
        refuse: reject,
      });
    });
  }

  /**
   * Runs one group of writes and commits it. Settles when the next may run; results leave when the disk has them.
   *
   * @returns how many writes it has left to the next turn.
   */
  async #turn(group: readonly PendingWrite[]): Promise<number> {
    for (;;) {
      const waits = this.#file?.untilMoved ?? this.#beginning.values().next().value ?? null;
      if (waits === null) break;
      await waits;
      // A turn begins with a round of the event loop, when no read is half done.
      await nextRound();
    }
    // A read that has not settled by now is stuck.
    this.#watch.failStuck();
    this.#inTurn = true;
    try {
      await this.#retiring;
      const file = this.open();
      const { atOnce, whenSynced, left } = await this.#loop.holding(this.#shopId, (endPart) =>
        this.#runGroup(file, group, endPart),
      );
      for (const settle of atOnce) settle();
      if (file.synced) for (const settle of whenSynced) settle();
      else void this.#settleWhenSynced(file, whenSynced, left === 0 ? group : group.slice(0, -left));
      return left;
    } catch (error) {
      for (const write of group) write.refuse(error);
      return 0;
    } finally {
      this.#inTurn = false;
      for (const resolve of this.#afterTurn.splice(0)) resolve();
    }
  }

  async #settleWhenSynced(
    file: ShopFile,
    whenSynced: readonly (() => void)[],
    group: readonly PendingWrite[],
  ): Promise<void> {
    try {
      await file.untilSynced();
      for (const settle of whenSynced) settle();
    } catch (error) {
      for (const write of group) write.refuse(error);
    }
  }

  /** @throws Fault DO_UNAVAILABLE when the store fails; nothing of the group is kept then. */
  async #runGroup(
    file: ShopFile,
    group: readonly PendingWrite[],
    endPart: () => Promise<void> | null,
  ): Promise<GroupResult> {
    const giveWay = async (): Promise<void> => {
      const turn = endPart();
      if (turn !== null) await this.#watch.excuse(turn);
    };
    const result = { atOnce: new Array<() => void>(), whenSynced: new Array<() => void>(), left: group.length };
    const startedAtMs = this.#loop.now();
    const holdMs = groupHoldMs[this.#loop.besideWritesOf(this.#shopId)];
    let mustSync = false;
    let changed = false;
    const kept: (readonly RunWrite[])[] = [];
    try {
      file.begin();
      for (const write of group) {
        if (result.left < group.length && this.#loop.now() - startedAtMs >= holdMs) break;
        result.left -= 1;
        const tx = new FileTx(file, null, giveWay);
        const { keep, settle } = await write.run(tx);
        tx.end();
        if (tx.failure !== null) throw tx.failure;
        if (keep) kept.push(tx.writes);
        if (keep) tx.kept();
        if (keep && tx.wrote) changed = true;
        if (keep && tx.wrote && write.durable) mustSync = true;
        (write.durable ? result.whenSynced : result.atOnce).push(settle);
        if (!keep && tx.wrote) {
          file.rollback();
          file.beginWith(kept.flat());
          break;
        }
      }
      if (changed) file.commit(mustSync);
      else file.rollback();
    } catch (error) {
      this.#abandon(file, error);
      throw error instanceof StoreFailure ? error.fault : error;
    }
    if (changed && this.#loggedFailure !== null) {
      this.#loggedFailure = null;
      this.#log?.info({ shopId: this.#shopId }, "The shop's data can be written again.");
    }
    return result;
  }

  #stuckError(): Error {
    const message = `work on shop ${this.#shopId} awaited something other than its Tx and was rolled back`;
    const error = new Error(message);
    this.#log?.error({ shopId: this.#shopId, err: error }, message);
    return error;
  }

  /**
   * Rolls back. If it may help, the file is opened again at its next use. Syncs that earlier commits wait for still
   * complete.
   */
  #abandon(file: ShopFile, error: unknown): void {
    const failure = error instanceof StoreFailure ? error : null;
    if (failure !== null) this.#logFailure(failure);
    // Some of it was made by writes that are rolled back.
    file.watch.forgetMade();
    try {
      file.rollback();
    } catch {
      // The connection is closed below, which ends the transaction as well.
    }
    if (failure?.reopen === false || file !== this.#file) return;
    file.watch.forget();
    this.#file = null;
    this.#retiring = this.#retire(file, () => file.untilQuiet());
  }

  /**
   * Closes the file of an idle shop without holding the event loop for its syncs. What is asked of the shop meanwhile
   * waits, and then opens it again.
   */
  async retire(): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    this.#retiring = this.#retire(file, () => file.moveAll());
    await this.#retiring;
  }

  async #retire(file: ShopFile, untilClosable: () => Promise<void>): Promise<void> {
    try {
      // Reads on the same connection end in this round of the event loop.
      await nextRound();
      await this.#untilReturned();
      await untilClosable();
      file.close();
    } finally {
      this.#retiring = null;
    }
  }

  /** Nothing of the shop is open. */
  get isClosed(): boolean {
    return this.#file === null && this.#retiring === null;
  }

  /** Gives back memory that the open file does not need. */
  releaseMemory(): void {
    if (!this.#inTurn) this.#file?.releaseMemory();
  }

  #logFailure(failure: StoreFailure): void {
    if (failure.isFull) this.#diskFull();
    if (this.#loggedFailure === failure.message) return;
    this.#loggedFailure = failure.message;
    this.#log?.error({ shopId: this.#shopId, err: failure.cause }, failure.message);
  }

  /** Refuses the writes that wait. The running ones are finished. */
  refuseAll(fault: Fault): void {
    this.#queue.refuseAll(fault);
  }

  /** Waits until nothing runs or waits, then closes the file. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    while (!this.idle) {
      await this.#queue.untilIdle();
      await this.#retiring;
      await this.#file?.untilQuiet();
      await Promise.allSettled(this.#snapshots);
      await this.#untilReturned();
      await nextRound();
    }
    await this.retire();
  }
}

function recallLoan(lent: Lent): void {
  const { recall } = lent;
  lent.recall = null;
  recall?.();
}

const nextRound = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
