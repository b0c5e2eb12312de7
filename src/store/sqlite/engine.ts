/**
 * The embedded engine: one sqlite file a shop (architecture, "Engines").
 *
 * Owns: which shops' files are open, whose turn it is on each, what runs together, and when answers leave. Does not own: the line
 * of waiting writes (queue.ts), the file and its durability (sqlite-file.ts), the schema (sqlite-schema.ts).
 *
 * - Writes of a shop that wait together run one after another, each in a savepoint, and are committed together (S1, S2). The
 *   commit does not wait for the disk. Results are handed out when it is synced, and the next group runs meanwhile (S4).
 * - A refusal is a result like any other: it tells what earlier writes left, so it waits for their sync too.
 * - Reads share the connection and run at once unless a group of writes is under way; then they wait for its commit. As `work` may
 *   await nothing but its `Tx`, and that answers within the same turn of the event loop, a group is over before the loop goes on,
 *   and a second connection would gain nothing: no read ever waits longer than the program is busy anyway. In return no read can see
 *   half a write, nothing but memory is shared, and a `-wal` file can always be emptied.
 * - A `work` that is not settled when the event loop goes on has awaited something else (S5). It is rolled back and reported as a bug.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { access, constants as accessModes, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Fault } from "../../core/fault.ts";
import { shopIdPattern } from "../../core/api-key.ts";
import { notFound, unavailable } from "../engine-rules.ts";
import { type QueueLimits, type QueuedWrite, ShopQueue, defaultQueueLimits } from "../queue.ts";
import type { Clock, Engine, Log, SqlValue, Statement, Tx } from "../store.ts";
import { ShopFile, StoreTrouble, isBusy, syncDirectory } from "./file.ts";
import { type Schema, loadSchema } from "./schema.ts";

/** Writes that are committed together; reads of the shop wait for a group, so it is kept short. */
const groupLengthMax = 64;

/** Reads of a shop that follow each other without the event loop going round; then it does, so that a long loop of reads holds up nobody. */
const readsARoundMax = 100;

const fileSuffix = ".db";

export interface SqliteEngineOptions {
  /** Where the files are; created if it is absent. */
  readonly directory: string;
  /** Where the numbered migrations are. */
  readonly schemaDirectory: string;
  /** Files kept open at the same time; more only while more shops are busy. */
  readonly shopsOpenMax: number;
  readonly queue?: QueueLimits;
  readonly clock: Clock;
  readonly log?: Log;
  /** A sync has failed and nothing more may be acknowledged. Default: ends the process with status 1. */
  readonly onFatal?: (error: unknown) => void;
}

/** The engine, and what only files can do. */
export interface SqliteEngine extends Engine {
  /**
   * Copies the shop's data to a new file at `path`: all that was acknowledged before the call, and whatever is committed while it
   * runs. The shop is served meanwhile.
   *
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_UNAVAILABLE  the shop cannot be read, or the copy not be written.
   */
  snapshot(shopId: string, path: string): Promise<void>;
}

/** A view of the file that ends with the turn it was made for. */
class FileTx implements Tx {
  readonly #file: ShopFile;
  readonly #mayWrite: boolean;
  #ended = false;
  wrote = false;
  /** The store failed under a statement: whatever `work` makes of it, nothing of this turn can be kept. */
  trouble: StoreTrouble | null = null;

  constructor(file: ShopFile, mayWrite: boolean) {
    this.#file = file;
    this.#mayWrite = mayWrite;
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who writes the statement names its columns
    return this.#use(sql, () => this.#file.all(sql, params)) as R[];
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    for (const { sql, params } of statements) this.#use(sql, () => this.#file.run(sql, params));
  }

  #use<T>(sql: string, action: () => T): T {
    if (this.#ended) throw new Error("a Tx was used after its work had ended");
    if (this.trouble !== null) throw this.trouble.fault;
    try {
      if (this.#file.writes(sql)) {
        if (!this.#mayWrite) throw new Error(`a read may not change anything: ${sql}`);
        this.wrote = true;
      }
      return action();
    } catch (error) {
      if (!(error instanceof StoreTrouble)) throw error;
      this.trouble = error;
      throw error.fault;
    }
  }

  end(): void {
    this.#ended = true;
  }
}

type Work<T> = (tx: Tx) => Promise<T>;

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** A write in the queue: run in its turn, settled when what it tells is durable. */
interface PendingWrite extends QueuedWrite {
  readonly durable: boolean;
  /** Runs the work. @returns what settles the promise, and whether what it wrote is kept. */
  run(tx: Tx): Promise<{ readonly keep: boolean; readonly settle: () => void }>;
  refuse(error: unknown): void;
}

/** What a committed group owes its callers: now, and once the disk has it. */
interface GroupResult {
  readonly atOnce: readonly (() => void)[];
  readonly whenSynced: readonly (() => void)[];
}

/** One shop: its queue and, while it is open, its file. */
class ShopDoor {
  readonly #shopId: string;
  readonly #openFile: () => ShopFile;
  readonly #log: Log | null;
  readonly #queue: ShopQueue<PendingWrite>;
  #file: ShopFile | null = null;
  /** A file that could not be used any more and still has a sync under way. */
  #retiring: Promise<void> | null = null;
  #inTurn = false;
  #afterTurn: (() => void)[] = [];
  /** Works under way, each with what makes it fail as stuck. */
  readonly #unsettled = new Set<() => void>();
  #stuckCheckDue = false;
  #readsThisRound = 0;
  #waitingReads = 0;
  readonly #snapshots = new Set<Promise<void>>();
  /** What was last logged as wrong with the store, until a write succeeds. */
  #loggedTrouble: string | null = null;

  constructor(options: {
    readonly shopId: string;
    readonly openFile: () => ShopFile;
    readonly queue: QueueLimits;
    readonly clock: Clock;
    readonly log: Log | null;
  }) {
    this.#shopId = options.shopId;
    this.#openFile = options.openFile;
    this.#log = options.log;
    this.#queue = new ShopQueue({
      limits: options.queue,
      groupLengthMax,
      clock: options.clock,
      turn: (group) => this.#turn(group),
    });
  }

  /** Nothing runs, waits or is still to be synced: it may be closed. */
  get idle(): boolean {
    return (
      this.#queue.idle &&
      this.#unsettled.size === 0 &&
      this.#waitingReads === 0 &&
      this.#snapshots.size === 0 &&
      this.#retiring === null &&
      !(this.#file?.busy ?? false)
    );
  }

  admit(): void {
    this.#queue.admit();
  }

  /** @throws Fault DO_UNAVAILABLE when the file cannot be opened. */
  open(): ShopFile {
    if (this.#file !== null) return this.#file;
    try {
      this.#file = this.#openFile();
      return this.#file;
    } catch (error) {
      if (error instanceof StoreTrouble) this.#note(error);
      throw error instanceof StoreTrouble ? error.fault : error;
    }
  }

  async read<T>(work: Work<T>, gated: boolean): Promise<T> {
    while (this.#inTurn || this.#retiring !== null || this.#readsThisRound >= readsARoundMax) {
      this.#waitingReads += 1;
      await this.#untilReadable();
      this.#waitingReads -= 1;
    }
    const file = this.open();
    this.#readsThisRound += 1;
    const tx = new FileTx(file, false);
    const outcome = await this.#attempt(() => work(tx));
    tx.end();
    if (tx.trouble !== null) {
      this.#giveUp(file, tx.trouble);
      throw tx.trouble.fault;
    }
    if (gated && !file.synced) await file.untilSynced();
    if (outcome.ok) return outcome.value;
    throw outcome.error;
  }

  async #untilReadable(): Promise<void> {
    if (this.#retiring !== null) return this.#retiring;
    if (this.#inTurn) return new Promise((resolve) => void this.#afterTurn.push(resolve));
    return nextRound();
  }

  async snapshot(path: string): Promise<void> {
    await this.#retiring;
    const file = this.open();
    const snapshot = file.copyTo(path);
    this.#snapshots.add(snapshot);
    try {
      await snapshot;
      // One that was closed under way, as trouble with the store does, ends like one that is whole.
      if (file !== this.#file) throw unavailable("This shop's data could not be copied to its end.");
    } catch (error) {
      throw error instanceof StoreTrouble ? error.fault : error;
    } finally {
      this.#snapshots.delete(snapshot);
    }
  }

  write<T>(work: Work<T>, durable: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.add({
        durable,
        run: async (tx) => {
          const outcome = await this.#attempt(() => work(tx));
          return outcome.ok
            ? { keep: true, settle: () => resolve(outcome.value) }
            : { keep: false, settle: () => reject(outcome.error) };
        },
        refuse: reject,
      });
    });
  }

  /** Runs one group of writes and commits it. Settles when the next may run; results leave when the disk has them. */
  async #turn(group: readonly PendingWrite[]): Promise<void> {
    while (this.#file !== null && this.#file.untilMoved !== null) {
      await this.#file.untilMoved;
      // A turn begins when the event loop goes round, with no read half done.
      await nextRound();
    }
    // A read that has not settled by now never will in time.
    this.#failStuck();
    this.#inTurn = true;
    try {
      await this.#retiring;
      const file = this.open();
      const { atOnce, whenSynced } = await this.#runGroup(file, group);
      for (const settle of atOnce) settle();
      if (file.synced) for (const settle of whenSynced) settle();
      else void this.#settleWhenSynced(file, whenSynced, group);
    } catch (error) {
      for (const write of group) write.refuse(error);
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
  async #runGroup(file: ShopFile, group: readonly PendingWrite[]): Promise<GroupResult> {
    const result = { atOnce: new Array<() => void>(), whenSynced: new Array<() => void>() };
    let mustSync = false;
    let changed = false;
    // A write on its own needs no savepoint: the transaction is its own.
    const alone = group.length === 1;
    try {
      file.begin();
      for (const write of group) {
        if (!alone) file.savepoint();
        const tx = new FileTx(file, true);
        const { keep, settle } = await write.run(tx);
        tx.end();
        if (tx.trouble !== null) throw tx.trouble;
        if (!keep && alone) file.rollback();
        else if (!keep) file.rollbackToSavepoint();
        else if (!alone) file.release();
        if (keep && tx.wrote) changed = true;
        if (keep && tx.wrote && write.durable) mustSync = true;
        (write.durable ? result.whenSynced : result.atOnce).push(settle);
      }
      if (changed) file.commit(mustSync);
      else file.rollback();
    } catch (error) {
      this.#giveUp(file, error);
      throw error instanceof StoreTrouble ? error.fault : error;
    }
    if (changed && this.#loggedTrouble !== null) {
      this.#loggedTrouble = null;
      this.#log?.info({ shopId: this.#shopId }, "The shop's data can be written again.");
    }
    return result;
  }

  /** Waits for the work's end, or for the event loop to go on without it. */
  #attempt<T>(work: () => Promise<T>): Promise<Outcome<T>> {
    return new Promise((resolve) => {
      const stuck = (): void => {
        this.#unsettled.delete(stuck);
        const message = `work on shop ${this.#shopId} awaited something other than its Tx and was rolled back`;
        const error = new Error(message);
        this.#log?.error({ shopId: this.#shopId, err: error }, message);
        resolve({ ok: false, error });
      };
      const settled = (outcome: Outcome<T>): void => {
        this.#unsettled.delete(stuck);
        resolve(outcome);
      };
      this.#unsettled.add(stuck);
      this.#scheduleStuckCheck();
      try {
        work().then(
          (value) => settled({ ok: true, value }),
          (error: unknown) => settled({ ok: false, error }),
        );
      } catch (error) {
        settled({ ok: false, error });
      }
    });
  }

  #scheduleStuckCheck(): void {
    if (this.#stuckCheckDue) return;
    this.#stuckCheckDue = true;
    setImmediate(() => {
      this.#stuckCheckDue = false;
      this.#readsThisRound = 0;
      this.#failStuck();
    });
  }

  #failStuck(): void {
    for (const stuck of this.#unsettled) stuck();
  }

  /** Rolls back; opens the file anew next time if that may help. What earlier commits wait for is still synced. */
  #giveUp(file: ShopFile, error: unknown): void {
    const trouble = error instanceof StoreTrouble ? error : null;
    if (trouble !== null) this.#note(trouble);
    try {
      file.rollback();
    } catch {
      // The connection is closed below, which ends the transaction as well.
    }
    if (trouble?.reopen === false || file !== this.#file) return;
    this.#file = null;
    this.#retiring = this.#retire(file);
  }

  async #retire(file: ShopFile): Promise<void> {
    // Reads that share the connection end in this round.
    await nextRound();
    await file.untilQuiet();
    file.close();
    this.#retiring = null;
  }

  #note(trouble: StoreTrouble): void {
    if (this.#loggedTrouble === trouble.message) return;
    this.#loggedTrouble = trouble.message;
    this.#log?.error({ shopId: this.#shopId, err: trouble.cause }, trouble.message);
  }

  /** Refuses what waits. What runs is finished. */
  refuseAll(fault: Fault): void {
    this.#queue.refuseAll(fault);
  }

  /** Waits until nothing runs or waits, then closes the file. */
  async finish(): Promise<void> {
    while (!this.idle) {
      await this.#queue.untilIdle();
      await this.#retiring;
      await this.#file?.untilQuiet();
      await Promise.allSettled(this.#snapshots);
      await nextRound();
    }
    this.close();
  }

  /** Closes the file of an idle shop; its next use opens it again. */
  close(): void {
    this.#file?.close();
    this.#file = null;
  }
}

class FileEngine implements SqliteEngine {
  readonly #options: SqliteEngineOptions;
  readonly #schema: Schema;
  /** Shops in use, the least recently used first. */
  readonly #doors = new Map<string, ShopDoor>();
  readonly #removals = new Map<string, Promise<void>>();
  #refusal: Fault | null = null;

  constructor(options: SqliteEngineOptions) {
    this.#options = options;
    mkdirSync(options.directory, { recursive: true });
    this.#schema = loadSchema(options.schemaDirectory);
  }

  async create(shopId: string): Promise<void> {
    if (!shopIdPattern.test(shopId)) throw new TypeError(`not a shop id: ${shopId}`);
    while (this.#removals.has(shopId)) await this.#removals.get(shopId);
    if (this.#refusal !== null) throw this.#refusal;
    const path = this.#path(shopId);
    if (existsSync(path)) return;
    // A removal cut short may have left a `-wal`; it must not be taken for the new file's.
    rmSync(`${path}-wal`, { force: true });
    const door = this.#newDoor(shopId);
    try {
      door.open();
    } catch (error) {
      this.#doors.delete(shopId);
      rmSync(path, { force: true });
      rmSync(`${path}-wal`, { force: true });
      throw error;
    }
  }

  exists(shopId: string): Promise<boolean> {
    return Promise.resolve(this.#exists(shopId));
  }

  async remove(shopId: string): Promise<void> {
    if (this.#removals.has(shopId)) return this.#removals.get(shopId);
    if (this.#refusal !== null) throw this.#refusal;
    if (!this.#exists(shopId)) return;
    const removal = this.#remove(shopId).finally(() => this.#removals.delete(shopId));
    this.#removals.set(shopId, removal);
    return removal;
  }

  async #remove(shopId: string): Promise<void> {
    const door = this.#doors.get(shopId);
    door?.refuseAll(notFound(shopId));
    await door?.finish();
    this.#doors.delete(shopId);
    try {
      // The database file first: a `-wal` alone is no shop.
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.#path(shopId)}${suffix}`, { force: true });
      syncDirectory(this.#options.directory);
    } catch (error) {
      throw unavailable("This shop's data cannot be deleted.", error);
    }
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#options.directory);
    return names
      .filter((name) => name.endsWith(fileSuffix))
      .map((name) => name.slice(0, -fileSuffix.length))
      .filter((shopId) => shopIdPattern.test(shopId) && !this.#removals.has(shopId))
      .sort();
  }

  /** Each shop's rows are in its own file, so a search would open all of them: the caller asks each shop instead. */
  shopsWithDueRows(): Promise<string[]> {
    return this.list();
  }

  async read<T>(shopId: string, work: Work<T>): Promise<T> {
    return this.#door(shopId).read(work, true);
  }

  async peek<T>(shopId: string, work: Work<T>): Promise<T> {
    return this.#door(shopId).read(work, false);
  }

  async write<T>(shopId: string, work: Work<T>, options?: { readonly durable?: boolean }): Promise<T> {
    return this.#door(shopId).write(work, options?.durable ?? true);
  }

  async snapshot(shopId: string, path: string): Promise<void> {
    return this.#door(shopId).snapshot(path);
  }

  admit(shopId: string): void {
    this.#doors.get(shopId)?.admit();
  }

  async ready(): Promise<void> {
    if (this.#refusal !== null) throw this.#refusal;
    try {
      await access(this.#options.directory, accessModes.R_OK | accessModes.W_OK);
    } catch (error) {
      throw unavailable("The data directory cannot be read and written.", error);
    }
  }

  async close(): Promise<void> {
    this.#refusal ??= unavailable("The service is stopping.");
    await Promise.allSettled(this.#removals.values());
    await Promise.all([...this.#doors.values()].map((door) => door.finish()));
    this.#doors.clear();
  }

  #path(shopId: string): string {
    return join(this.#options.directory, `${shopId}${fileSuffix}`);
  }

  #exists(shopId: string): boolean {
    return shopIdPattern.test(shopId) && !this.#removals.has(shopId) && existsSync(this.#path(shopId));
  }

  #door(shopId: string): ShopDoor {
    if (this.#refusal !== null) throw this.#refusal;
    const door = this.#doors.get(shopId);
    if (door === undefined || this.#removals.has(shopId)) {
      if (!this.#exists(shopId)) throw notFound(shopId);
      return this.#newDoor(shopId);
    }
    this.#doors.delete(shopId);
    this.#doors.set(shopId, door);
    return door;
  }

  #newDoor(shopId: string): ShopDoor {
    const { log = null, clock, queue = defaultQueueLimits } = this.#options;
    const door = new ShopDoor({
      shopId,
      queue,
      clock,
      log,
      openFile: () =>
        new ShopFile({
          path: this.#path(shopId),
          schema: this.#schema,
          fatal: (error) => this.#fatal(error),
          moveFailed: (error) =>
            log?.error({ shopId, err: error }, "The shop's write-ahead log could not be moved into its file."),
        }),
    });
    this.#doors.set(shopId, door);
    this.#closeLeastRecentlyUsed();
    return door;
  }

  /** Keeps the number of open files within its limit, as far as enough shops are idle. */
  #closeLeastRecentlyUsed(): void {
    let tooMany = this.#doors.size - this.#options.shopsOpenMax;
    if (tooMany <= 0) return;
    const [latest] = [...this.#doors.keys()].slice(-1);
    for (const [shopId, door] of this.#doors) {
      if (tooMany <= 0 || shopId === latest) return;
      if (!door.idle) continue;
      door.close();
      this.#doors.delete(shopId);
      tooMany -= 1;
    }
  }

  #fatal(error: unknown): void {
    this.#refusal = unavailable("Writing to disk failed; the service is stopping.");
    this.#options.log?.error(
      { err: error },
      "A sync to disk has failed. Nothing more is acknowledged; the process ends.",
    );
    if (this.#options.onFatal === undefined) process.exit(1);
    this.#options.onFatal(error);
  }
}

const nextRound = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Opens the engine over a directory of shops. The directory has been locked by the caller (`lockDirectory`). */
export function openSqliteEngine(options: SqliteEngineOptions): Promise<SqliteEngine> {
  return Promise.resolve(new FileEngine(options));
}

/**
 * Claims a data directory for this process, until `release` or the process's end: the system gives the lock back, however the
 * process ends. One that is absent is made for this user alone.
 *
 * @throws Error when another process has it, or the directory cannot be written.
 */
export function lockDirectory(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(directory, "lock.db"), { timeout: 0 });
  try {
    // The write stays in memory and uncommitted for as long as the lock is held; it only shows that one could write.
    lock.exec("pragma journal_mode = memory; begin exclusive; pragma user_version = 1");
  } catch (error) {
    lock.close();
    const held = isBusy(error);
    throw new Error(
      held
        ? `Another OpenPO process is using the data directory ${directory}. Stop it first, or give this one a directory of its own (OPENPO_DATA_DIR).`
        : `The data directory ${directory} cannot be written.`,
      { cause: error },
    );
  }
  heldLocks.add(lock);
  return {
    release() {
      if (heldLocks.delete(lock)) lock.close();
    },
  };
}

/** A connection that nobody refers to any more is closed by the garbage collector, and its lock with it. */
const heldLocks = new Set<DatabaseSync>();
