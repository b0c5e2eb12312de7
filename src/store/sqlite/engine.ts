/**
 * The embedded engine: one sqlite file per shop in a directory (architecture, "Engines").
 *
 * Owns: which shops exist and which are open, creating and removing their files. Does not own: one shop's turns and
 * reads (door.ts), the file and its durability (file.ts), the schema (schema.ts), the lock of the directory
 * (directory-lock.ts).
 */
import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { access, constants as accessModes, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { shopIdPattern } from "../../base/secret.ts";
import { Fault } from "../../base/fault.ts";
import { notFound, unavailable } from "../engine-rules.ts";
import { LoopShare } from "../loop-share.ts";
import { Cache, recordsRememberedBytesMax } from "../cache.ts";
import { type QueueDepth, type QueueLimits, defaultQueueLimits } from "../queue.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { DueShop, Engine, Footprint, Log, Work, WriteOptions } from "../store.ts";
import { readInPlace } from "./closed-file.ts";
import { type FileLoan, ShopDoor } from "./door.ts";
import { makeDirectory, makePrivateFile } from "./directories.ts";
import { DroppedStatements, KnownStatements, ShopFile, syncDirectory } from "./file.ts";
import { readClosedFile } from "./reader.ts";
import { ReadsInPlace } from "./reads-in-place.ts";
import { RowWatch, WatchedSlices } from "./row-watch.ts";
import { type Schema, loadSchema } from "./schema.ts";

/**
 * Shops whose files are open at the same time. Fewer where the system grants the process few descriptors (`ulimit -n`).
 */
export const shopsOpenMax = 256;

/**
 * Of the open shops, those used last keep what they have read in memory, up to 2 MB each, and all of their prepared
 * statements.
 */
export const shopsWarmMax = 64;

/**
 * Prepared statements that files have given back and that Node has not collected, of all shops: some 8 KB each. Beyond
 * it a file that is used no more is closed, which frees its statements at once.
 */
export const statementsDroppedMax = 512;

/**
 * Shops, open or closed, of which a process knows whether what it remembers of their rows still holds: some 10 KB each.
 */
export const shopsWatchedMax = 4_096;

/** Files that are being closed to make room for others. While there are so many, no further one is opened. */
export const filesClosingMax = 64;

const fileSuffix = ".db";

/** Bytes that must fit on the disk for the engine to be ready: some small changes. */
const readyBytes = 262_144;

/** After a write that the disk had no room for, the engine is not ready for so long. */
const fullForMs = 5_000;

/** When a request is repeated that came while its shop's file was replaced. */
const replacedRetryMs = 2_000;

const fullMessage = "The disk with the data directory takes no more. What is stored can be read.";

interface SqliteEngineOptions {
  /** Holds the files; created if it is absent. */
  readonly directory: string;
  /** Holds the numbered migrations. */
  readonly schemaDirectory: string;
  /** The column by which rows belong to parts that are read one by one (row-watch.ts). */
  readonly sliceColumn?: string;
  /** Files that are open at the same time; more only while more shops are busy. */
  readonly shopsOpenMax: number;
  /** Of these, the ones used last keep what they have read of their files in memory. */
  readonly shopsWarmMax?: number;
  readonly statementsDroppedMax?: number;
  readonly shopsWatchedMax?: number;
  /** With so many pages a shop's `-wal` file is moved into its database file. Default: about 4 MB. */
  readonly walPagesMax?: number | undefined;
  readonly queue?: QueueLimits;
  /** Counts the writes that wait. */
  readonly depth?: QueueDepth;
  readonly clock: Clock;
  /** Default: one of its own. */
  readonly loop?: LoopShare;
  readonly log?: Log;
  /** A sync has failed and nothing more may be acknowledged (W4). Default: ends the process with status 1. */
  readonly onFatal?: (error: unknown) => void;
}

/** Bounds that hold unless the engine is opened with others. */
export const defaultShopLimits = { shopsWarmMax, shopsWatchedMax, statementsDroppedMax } as const;

/** The engine, with what only files can do. */
export interface SqliteEngine extends Engine {
  /**
   * Copies the shop's data to a new file at `path`: everything that was acknowledged before the call, and what is
   * committed while it runs. The shop is served meanwhile.
   *
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_UNAVAILABLE  the shop cannot be read, or the copy cannot be written.
   */
  snapshot(shopId: string, path: string): Promise<void>;
  /**
   * Lets another connection read the shop's file (reader.ts) until the loan is given back.
   *
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_UNAVAILABLE  the shop's file cannot be opened.
   */
  lend(shopId: string): Promise<FileLoan & { readonly path: string }>;
  /**
   * Reads the shop like `peek`. A file that is closed is read in place and stays closed, in a third of the time. The
   * exception is a file beside which a crash has left something.
   *
   * @throws Fault NOT_FOUND       there is no such shop.
   * @throws Fault DO_UNAVAILABLE  the shop's file cannot be read.
   */
  peekClosed<T>(shopId: string, work: Work<T>): Promise<T>;
  /**
   * Puts another file in the place of the shop's, or makes the shop. Meanwhile requests of the shop are refused with
   * DO_UNAVAILABLE; those that run end first. The shop has the one file or the other, whenever the process dies.
   *
   * @param prepare  is given the shop's file, closed and whole, or null without one, and ends with `staged` as it is to
   *              be. When it fails, the shop goes on with its file.
   * @throws Fault DO_UNAVAILABLE  the shop's file cannot be opened, unless it is given up, or the files cannot be
   *                               exchanged.
   */
  replace<T>(shopId: string, files: ReplacedFiles, prepare: (present: string | null) => Promise<T>): Promise<T>;
  /** Files that are open, or are being closed. */
  readonly filesOpen: number;
}

/** Which file takes whose place. */
interface ReplacedFiles {
  /** In the same file system as the shops. */
  readonly staged: string;
  /** Where the shop's file is kept; what is there is lost. */
  readonly keptAs: string;
  /** The shop's file is not opened any more: it is damaged. */
  readonly isGivenUp: boolean;
}

/** Opens the engine over a directory of shops. The caller has locked the data directory (directory-lock.ts). */
export function openSqliteEngine(options: SqliteEngineOptions): Promise<SqliteEngine> {
  return Promise.resolve(new SqliteShops(options));
}

class SqliteShops implements SqliteEngine {
  readonly embedded = true;
  readonly #options: SqliteEngineOptions & Record<keyof typeof defaultShopLimits, number>;
  readonly #schema: Schema;
  /** Shops in use, the least recently used one first. */
  readonly #doors = new Map<string, ShopDoor>();
  readonly #removals = new Map<string, Promise<void>>();
  /** Shops whose files are being replaced. */
  readonly #replacements = new Map<string, Promise<unknown>>();
  readonly #loop: LoopShare;
  readonly #knownStatements = new KnownStatements();
  readonly #dropped = new DroppedStatements();
  readonly #watchedSlices = new WatchedSlices();
  /** Of shops that are or were open, the one that was opened longest ago first. */
  readonly #watches = new Map<string, RowWatch>();
  readonly #remembered = new Cache<object>(recordsRememberedBytesMax);
  /** Counts of reads of closed shops since they were open. */
  readonly #inPlace = new ReadsInPlace();
  /** Files that are being closed to make room. */
  readonly #closing = new Map<string, Promise<void>>();
  /** The shops used last. */
  readonly #warm = new Set<string>();
  #refusal: Fault | null = null;
  /** When the disk last had no room for a write. */
  #fullAtMs: number | null = null;
  #probing: Promise<void> | null = null;

  constructor(options: SqliteEngineOptions) {
    this.#options = { ...defaultShopLimits, ...options };
    this.#loop = options.loop ?? new LoopShare();
    makeDirectory(options.directory);
    this.#schema = loadSchema(options.schemaDirectory);
  }

  async create(shopId: string): Promise<void> {
    if (!shopIdPattern.test(shopId)) throw new TypeError(`not a shop id: ${shopId}`);
    while (this.#removals.has(shopId)) await this.#removals.get(shopId);
    await this.#untilReplaced(shopId);
    if (this.#refusal !== null) throw this.#refusal;
    const path = this.#path(shopId);
    if (existsSync(path)) return;
    await this.#untilRoom();
    // An interrupted removal may have left a `-wal`; sqlite must not take it for the new file's.
    rmSync(`${path}-wal`, { force: true });
    const door = this.#newDoor(shopId);
    try {
      makeFile(path);
      door.open();
    } catch (error) {
      this.#forget(shopId);
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
      throw error;
    }
  }

  exists(shopId: string): Promise<boolean> {
    return Promise.resolve(this.#exists(shopId));
  }

  async remove(shopId: string): Promise<void> {
    // Whoever asks for the shop from now on is refused, so nothing is awaited without need.
    if (this.#replacements.has(shopId)) await this.#untilReplaced(shopId);
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
    this.#forget(shopId);
    this.#unwatch(shopId);
    try {
      // The database file first: without it, a `-wal` is no shop.
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.#path(shopId)}${suffix}`, { force: true });
      syncDirectory(this.#options.directory);
    } catch (error) {
      throw unavailable("This shop's data cannot be deleted.", error);
    }
  }

  async replace<T>(shopId: string, files: ReplacedFiles, prepare: (present: string | null) => Promise<T>): Promise<T> {
    if (!shopIdPattern.test(shopId)) throw new TypeError(`not a shop id: ${shopId}`);
    while (this.#removals.has(shopId)) await this.#removals.get(shopId);
    if (this.#refusal !== null) throw this.#refusal;
    if (this.#replacements.has(shopId)) throw beingReplaced();
    const replacing = this.#replace(shopId, files, prepare).finally(() => this.#replacements.delete(shopId));
    this.#replacements.set(shopId, replacing);
    return await replacing;
  }

  async #replace<T>(
    shopId: string,
    { staged, keptAs, isGivenUp }: ReplacedFiles,
    prepare: (present: string | null) => Promise<T>,
  ): Promise<T> {
    const path = this.#path(shopId);
    const isThere = existsSync(path);
    // Opened, it gets what a crash has left beside it, and the schema of this program.
    if (isThere && !isGivenUp) (this.#doors.get(shopId) ?? this.#newDoor(shopId)).open();
    const door = this.#doors.get(shopId);
    door?.refuseAll(beingReplaced());
    await door?.finish();
    await this.#closing.get(shopId);
    this.#forget(shopId);
    this.#unwatch(shopId);
    // Closing has moved all of the `-wal` file into the file. Beside another file it would damage that.
    if (isThere && !isGivenUp) requireNoLog(path);
    const prepared = await prepare(isThere && !isGivenUp ? path : null);
    if (this.#refusal !== null) throw this.#refusal;
    try {
      makeDirectory(dirname(keptAs));
      for (const suffix of ["", "-wal"]) {
        rmSync(`${keptAs}${suffix}`, { force: true });
        if (existsSync(`${path}${suffix}`)) linkSync(`${path}${suffix}`, `${keptAs}${suffix}`);
      }
      if (isThere && !isGivenUp) requireNoLog(path);
      for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
      syncDirectory(dirname(keptAs));
      syncDirectory(this.#options.directory);
      renameSync(staged, path);
      syncDirectory(this.#options.directory);
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw unavailable("The restored file could not be put in its place.", error);
    }
    return prepared;
  }

  async #untilReplaced(shopId: string): Promise<void> {
    await this.#replacements.get(shopId)?.catch(() => {});
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
  async shopsWithDueRows(): Promise<readonly DueShop[]> {
    return (await this.list()).map((shopId) => ({ shopId, table: null }));
  }

  /** Every shop, as for rows that are due. */
  shopsWithValue(): Promise<string[]> {
    return this.list();
  }

  async read<T>(shopId: string, work: Work<T>, onSeen?: (seen: Footprint) => void): Promise<T> {
    const read = this.#staysClosed(shopId) ? await this.#readInPlace(shopId, work, onSeen) : null;
    if (read !== null) return read.result;
    if (this.#mustWait(shopId)) await this.#untilRoom();
    return this.#door(shopId).read(work, true, onSeen);
  }

  async peek<T>(shopId: string, work: Work<T>): Promise<T> {
    const read = this.#staysClosed(shopId) ? await this.#readInPlace(shopId, work) : null;
    if (read !== null) return read.result;
    if (this.#mustWait(shopId)) await this.#untilRoom();
    return this.#door(shopId).read(work, false);
  }

  /** The shop's file is closed, and stays so for the next read: opening it would close another. */
  #staysClosed(shopId: string): boolean {
    return (
      this.#refusal === null &&
      this.#doors.size - this.#closing.size >= this.#options.shopsOpenMax &&
      this.#isClosed(shopId) &&
      !this.#inPlace.isEnough(shopId) &&
      this.#exists(shopId)
    );
  }

  /** Nobody has the shop's file open or is putting another in its place. */
  #isClosed(shopId: string): boolean {
    return !this.#doors.has(shopId) && !this.#removals.has(shopId) && !this.#replacements.has(shopId);
  }

  /**
   * Reads a file that `#staysClosed`. Everything in it is durable (S4). @returns null when it is to be opened after
   * all.
   */
  async #readInPlace<T>(
    shopId: string,
    work: Work<T>,
    onSeen?: (seen: Footprint) => void,
  ): Promise<{ readonly result: T } | null> {
    const turn = this.#loop.waitForShare(shopId);
    if (turn !== null) {
      await turn;
      if (!this.#staysClosed(shopId)) return null;
    }
    this.#inPlace.add(shopId);
    // Those that were opened beyond the limit while more shops were busy.
    this.#closeLeastRecentlyUsed(shopId);
    const file = {
      path: this.#path(shopId),
      version: this.#schema.length,
      watch: this.#watchOf(shopId),
      knownStatements: this.#knownStatements,
      remembered: this.#remembered,
      isClosed: () => this.#isClosed(shopId),
      stuckError: () => new Error(`work on shop ${shopId} awaited something other than its Tx`),
    };
    const read = await this.#loop.holding(shopId, () => readInPlace(file, work));
    if (read?.seen) onSeen?.(read.seen);
    return read;
  }

  /** `append` needs nothing of its own: a turn ends within a round of the event loop. */
  async write<T>(shopId: string, work: Work<T>, { durable = true }: WriteOptions = {}): Promise<T> {
    if (this.#mustWait(shopId)) await this.#untilRoom();
    return this.#door(shopId).write(work, durable);
  }

  async snapshot(shopId: string, path: string): Promise<void> {
    if (this.#mustWait(shopId)) await this.#untilRoom();
    return this.#door(shopId).snapshot(path);
  }

  async lend(shopId: string): Promise<FileLoan & { readonly path: string }> {
    if (this.#mustWait(shopId)) await this.#untilRoom();
    return { path: this.#path(shopId), ...(await this.#door(shopId).lend()) };
  }

  async peekClosed<T>(shopId: string, work: Work<T>): Promise<T> {
    const isReached = this.#doors.has(shopId) || this.#replacements.has(shopId);
    if (isReached || this.#refusal !== null || !this.#exists(shopId)) return this.peek(shopId, work);
    const read = await readClosedFile(this.#path(shopId), this.#schema.length, work).catch(() => null);
    if (read !== null) return read.result;
    const result = await this.peek(shopId, work);
    const door = this.#doors.get(shopId);
    if (door?.idle === true && !this.#closing.has(shopId)) this.#beginClosing(shopId, door);
    return result;
  }

  get filesOpen(): number {
    return this.#doors.size;
  }

  isOpen(shopId: string): boolean {
    return this.#doors.has(shopId);
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
    const now = this.#options.clock.now();
    if (this.#fullAtMs !== null && now < this.#fullAtMs + fullForMs) throw unavailable(fullMessage);
    this.#probing ??= this.#probe().finally(() => (this.#probing = null));
    await this.#probing;
  }

  /** Writes a file and removes it: a disk does not say in advance what it takes. */
  async #probe(): Promise<void> {
    const path = join(this.#options.directory, "ready-probe");
    try {
      await writeFile(path, Buffer.alloc(readyBytes), { mode: 0o600 });
    } catch (error) {
      throw unavailable(fullMessage, error);
    } finally {
      await rm(path, { force: true });
    }
  }

  async close(): Promise<void> {
    this.#refusal ??= unavailable("The service is stopping.");
    await Promise.allSettled([...this.#removals.values(), ...this.#replacements.values()]);
    await Promise.all([...this.#doors.values()].map((door) => door.finish()));
    await Promise.all(this.#closing.values());
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
    if (this.#replacements.has(shopId)) throw beingReplaced();
    const door = this.#doors.get(shopId);
    if (door === undefined || this.#removals.has(shopId)) {
      if (!this.#exists(shopId)) throw notFound(shopId);
      return this.#newDoor(shopId);
    }
    this.#doors.delete(shopId);
    this.#doors.set(shopId, door);
    this.#warmUp(shopId);
    return door;
  }

  /** The shop is in use: the one that was not for longest gives its memory back. */
  #warmUp(shopId: string): void {
    this.#warm.delete(shopId);
    this.#warm.add(shopId);
    const [oldest] = this.#warm;
    if (oldest === undefined || this.#warm.size <= this.#options.shopsWarmMax) return;
    this.#warm.delete(oldest);
    const door = this.#doors.get(oldest);
    if (door === undefined) return;
    const mustClose = this.#dropped.count >= this.#options.statementsDroppedMax;
    if (!mustClose || !door.idle) door.releaseMemory();
    else if (!this.#closing.has(oldest)) this.#beginClosing(oldest, door);
  }

  /** True if the shop's file would have to be opened while too many others are being closed. */
  #mustWait(shopId: string): boolean {
    return this.#closing.size >= filesClosingMax && !this.#doors.has(shopId);
  }

  async #untilRoom(): Promise<void> {
    while (this.#closing.size >= filesClosingMax) await Promise.race(this.#closing.values());
  }

  #newDoor(shopId: string): ShopDoor {
    const { log = null, clock, queue = defaultQueueLimits } = this.#options;
    const door = new ShopDoor({
      shopId,
      queue,
      loop: this.#loop,
      depth: this.#options.depth,
      log,
      diskFull: () => {
        this.#fullAtMs = clock.now();
      },
      openFile: () =>
        new ShopFile({
          path: this.#path(shopId),
          schema: this.#schema,
          sliceColumn: this.#options.sliceColumn ?? null,
          walPagesMax: this.#options.walPagesMax,
          knownStatements: this.#knownStatements,
          dropped: this.#dropped,
          watch: this.#watchOf(shopId),
          remembered: this.#remembered,
          fatal: (error) => this.#fatal(error),
          moveFailed: (error) =>
            log?.error({ shopId, err: error }, "The shop's write-ahead log could not be moved into its file."),
        }),
    });
    this.#doors.set(shopId, door);
    this.#inPlace.forget(shopId);
    this.#warmUp(shopId);
    this.#closeLeastRecentlyUsed(shopId);
    return door;
  }

  /** The shop's watch. What was seen of the shops that were opened longest ago, and are closed, counts no more. */
  #watchOf(shopId: string): RowWatch {
    const watch = this.#watches.get(shopId) ?? new RowWatch(this.#watchedSlices);
    this.#watches.delete(shopId);
    this.#watches.set(shopId, watch);
    for (const known of this.#watches.keys()) {
      if (this.#watches.size <= this.#options.shopsWatchedMax) break;
      if (!this.#doors.has(known)) this.#unwatch(known);
    }
    return watch;
  }

  #unwatch(shopId: string): void {
    this.#watches.get(shopId)?.forget();
    this.#watches.delete(shopId);
  }

  /** Begins to close idle shops until no more than `shopsOpenMax` are open; busy ones stay open. */
  #closeLeastRecentlyUsed(latest: string): void {
    let tooMany = this.#doors.size - this.#closing.size - this.#options.shopsOpenMax;
    if (tooMany <= 0) return;
    for (const [shopId, door] of this.#doors) {
      if (tooMany <= 0 || shopId === latest) return;
      if (!door.idle || this.#closing.has(shopId)) continue;
      tooMany -= 1;
      this.#beginClosing(shopId, door);
    }
  }

  #beginClosing(shopId: string, door: ShopDoor): void {
    this.#closing.set(shopId, this.#close(shopId, door));
  }

  async #close(shopId: string, door: ShopDoor): Promise<void> {
    try {
      await door.retire();
    } catch (error) {
      this.#options.log?.error({ shopId, err: error }, "The shop's file could not be closed.");
    } finally {
      this.#closing.delete(shopId);
      // Unless it was asked for meanwhile.
      if (door.isClosed && door.idle && this.#doors.get(shopId) === door) this.#forget(shopId);
    }
  }

  #forget(shopId: string): void {
    this.#doors.delete(shopId);
    this.#warm.delete(shopId);
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

/** The refusal of requests while the shop's file is replaced. */
const beingReplaced = (): Fault =>
  unavailable("This shop is being restored from a backup.", undefined, replacedRetryMs);

/** @throws Fault DO_UNAVAILABLE when something is left in the file's `-wal`. */
function requireNoLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) throw unavailable("This shop's file could not be closed completely.");
}

/** @throws Fault DO_UNAVAILABLE when the disk does not take it. */
function makeFile(path: string): void {
  try {
    makePrivateFile(path);
  } catch (error) {
    throw unavailable("This shop's data file cannot be made.", error);
  }
}
