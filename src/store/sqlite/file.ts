/**
 * One shop's open sqlite file: its connection, its statements, and the gate behind which commits become durable (S2, S4).
 *
 * Owns: the connection and how it is set, prepared statements, what may be bound, when the `-wal` file is synced and moved into
 * the database file, and how sqlite's errors read to a caller. Does not own: whose turn it is (sqlite.ts).
 *
 * Invariants:
 * - W1. A commit writes to the `-wal` file and does not sync it. `untilSynced` resolves when an `fdatasync` of that file has
 *       succeeded that began after the commit, or when nothing that must be durable has been committed since the last one.
 * - W2. The `-wal` file under the descriptor is the one that sqlite writes: sqlite creates it when the file is opened, removes it
 *       only when the connection closes, and meanwhile truncates or overwrites it in place. Both descriptors are opened after
 *       the connection and closed after it: closing one of the database file earlier would drop sqlite's locks on it.
 * - W3. What leaves the `-wal` file is durable in the database file first. A commit may overwrite the `-wal` from its start only
 *       when all of it has been copied to the database file. That is done here and not within a commit: after a sync of the gate
 *       the pages are copied with sqlite's own syncs switched off for that one statement, then the database file is synced off the
 *       event loop, and no turn begins before it is (`untilMoved`; a sync within the statement would hold up every shop for three
 *       quarters of the time it takes). A crash in between finds the `-wal` whole, with everything in it. So a commit is at every
 *       moment in a synced database file or in the `-wal` file that the gate syncs.
 *       All else runs with `synchronous=normal`, set explicitly and read back: sqlite then syncs the header of a `-wal` begun anew
 *       and, when the connection closes, copies and syncs in that order itself. With `off` a power cut after closing could lose all.
 * - W4. A failed sync is final: the kernel may have dropped the pages and forgotten the error, so a second try would succeed and
 *       mean nothing. `fatal` is called, nothing that waits is acknowledged.
 * - W5. The connection holds the file exclusively. No other process can write between two of our turns, no `-shm` file exists,
 *       and a statement takes no lock (which makes a small read twice as fast). The price: other programs cannot look into an
 *       open shop's file.
 */
import { constants as accessModes, accessSync, closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync, backup, constants } from "node:sqlite";
import { Fault } from "../../core/fault.ts";
import { checkParams, unavailable } from "../engine-rules.ts";
import type { SqlValue } from "../store.ts";
import { type Schema, migrate } from "./schema.ts";

/** Prepared statements kept for each open file; the program's own texts are fewer. */
const statementsMax = 256;

/** Pages in the `-wal` file from which on they are moved into the database file: about 4 MB. */
const walPagesMax = 1_000;

/** What a `-wal` file that one large commit has blown up is cut back to. */
const walBytesKept = 16 * 1_048_576;

/** Pages that a copy of the file takes at once; a statement that comes meanwhile waits for them. */
const copiedPagesAtOnce = 200;

const readOnlyMessage = "This shop's data cannot be written: the disk or the file is read-only.";

/** How sqlite's errors about the store, by primary code, read to a caller. All others are errors of the statement: bugs. */
const storeTroubles: Readonly<Record<number, { readonly message: string; readonly reopen: boolean }>> = {
  5: { message: "Another program is using this shop's data file.", reopen: true },
  7: { message: "There is not enough memory to use this shop's data.", reopen: true },
  8: { message: readOnlyMessage, reopen: true },
  10: { message: "Reading or writing this shop's data failed.", reopen: true },
  11: { message: "This shop's data file is damaged.", reopen: true },
  13: { message: "The disk that holds this shop's data is full.", reopen: false },
  14: { message: "This shop's data file cannot be opened.", reopen: true },
  26: { message: "This shop's data file is damaged.", reopen: true },
};

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC: a sync that sqlite made itself has failed. */
const failedSyncCodes: ReadonlySet<number> = new Set([1034, 1290]);

/** A store that could not be used: what the caller is told, and whether the file has to be opened anew. */
export class StoreTrouble extends Error {
  override readonly name = "StoreTrouble";
  readonly fault: Fault;
  readonly reopen: boolean;

  constructor(fault: Fault, reopen: boolean) {
    super(fault.message, { cause: fault.cause });
    this.fault = fault;
    this.reopen = reopen;
  }
}

function sqliteCode(error: unknown): number | null {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : null;
}

/** Somebody else holds the file. */
export const isBusy = (error: unknown): boolean => ((sqliteCode(error) ?? 0) & 0xff) === 5;

function troubleOf(error: unknown): StoreTrouble | null {
  const trouble = storeTroubles[(sqliteCode(error) ?? 0) & 0xff];
  return trouble === undefined ? null : new StoreTrouble(unavailable(trouble.message, error), trouble.reopen);
}

/** A file that may only be read cannot be locked either, and sqlite then tells of the lock: look for the reason. */
function openingTroubleOf(error: unknown, path: string): StoreTrouble {
  try {
    accessSync(path, accessModes.W_OK);
    accessSync(dirname(path), accessModes.W_OK);
  } catch (refusal) {
    const code = refusal instanceof Error && "code" in refusal ? refusal.code : null;
    if (code === "EROFS" || code === "EACCES") return new StoreTrouble(unavailable(readOnlyMessage, error), true);
  }
  return troubleOf(error) ?? new StoreTrouble(unavailable("This shop's data file cannot be opened.", error), true);
}

interface CachedStatement {
  readonly statement: StatementSync;
  readonly writes: boolean;
}

/** Makes the names in a directory durable: files created or removed in it. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export interface ShopFileOptions {
  readonly path: string;
  readonly schema: Schema;
  /** Called once when a sync has failed (W4). */
  readonly fatal: (error: unknown) => void;
  /** Called when pages could not be moved out of the `-wal` file; they stay there and it is tried again. */
  readonly moveFailed: (error: unknown) => void;
}

export class ShopFile {
  readonly #options: ShopFileOptions;
  readonly #database: DatabaseSync;
  readonly #wal: number;
  readonly #main: number;
  readonly #statements = new Map<string, CachedStatement>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #rollbackTo: StatementSync;
  readonly #walState: StatementSync;
  readonly #checkpoint: StatementSync;

  /** Set while a statement of `work` is prepared: what the authorizer has seen of it. */
  #preparing: { writes: boolean } | null = null;
  /** Numbers of commits that must be durable: the latest one made, and the latest one known to be on disk. */
  #due = 0;
  #synced = 0;
  #syncing = false;
  #moveDue = false;
  /** The database file is being synced after pages have been copied to it. */
  #moving: Promise<void> | null = null;
  #failed: Fault | null = null;
  #waiters: { readonly due: number; readonly resolve: () => void; readonly reject: (fault: Fault) => void }[] = [];

  /**
   * Opens the file, creating it if it is absent, and brings it to the program's version.
   *
   * @throws StoreTrouble  it cannot be opened or used, or a newer version of the program has written it.
   */
  constructor(options: ShopFileOptions) {
    this.#options = options;
    let database: DatabaseSync | null = null;
    try {
      database = new DatabaseSync(options.path, { timeout: 0 });
      this.#database = database;
      database.exec("pragma locking_mode = exclusive");
      // A new file's first page must be on disk before its `-wal` is: sqlite drops the `-wal` of an empty file.
      database.exec("pragma synchronous = full");
      database.exec("pragma journal_mode = wal");
      database.exec("pragma synchronous = normal");
      database.exec("pragma wal_autocheckpoint = 0");
      database.exec(`pragma journal_size_limit = ${walBytesKept}`);
      database.exec("pragma temp_store = memory");
      const migrated = migrate(database, options.schema);
      this.#assertSetting("locking_mode", "exclusive");
      this.#assertSetting("journal_mode", "wal");
      this.#assertSetting("synchronous", 1);

      this.#begin = database.prepare("begin immediate");
      this.#commit = database.prepare("commit");
      this.#rollback = database.prepare("rollback");
      this.#savepoint = database.prepare("savepoint write");
      this.#release = database.prepare("release write");
      this.#rollbackTo = database.prepare("rollback to write");
      this.#walState = database.prepare("pragma wal_checkpoint(noop)");
      this.#checkpoint = database.prepare("pragma wal_checkpoint(passive)");
      database.setAuthorizer((action) => this.#authorize(action));

      this.#wal = openSync(`${options.path}-wal`, "r");
      this.#main = openSync(options.path, "r");
      if (migrated) fsyncSync(this.#wal);
      syncDirectory(dirname(options.path));
    } catch (error) {
      database?.close();
      if (error instanceof Fault) throw new StoreTrouble(error, true);
      throw openingTroubleOf(error, options.path);
    }
  }

  /** A reopened file may come up with other settings than it was left with. */
  #assertSetting(name: string, expected: string | number): void {
    const actual = this.#database.prepare(`pragma ${name}`).get()?.[name];
    if (actual !== expected) throw new Error(`pragma ${name} is ${String(actual)} instead of ${expected}`);
  }

  /** A statement of `work` never ends or begins a transaction (S2); one that changes nothing may be read with. */
  #authorize(action: number): number {
    if (this.#preparing === null) return constants.SQLITE_OK;
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_READ:
      case constants.SQLITE_FUNCTION:
      case constants.SQLITE_RECURSIVE:
        return constants.SQLITE_OK;
      case constants.SQLITE_INSERT:
      case constants.SQLITE_UPDATE:
      case constants.SQLITE_DELETE:
        this.#preparing.writes = true;
        return constants.SQLITE_OK;
      default:
        return constants.SQLITE_DENY;
    }
  }

  #prepare(sql: string): CachedStatement {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const seen = { writes: false };
    this.#preparing = seen;
    try {
      const prepared = { statement: this.#database.prepare(sql), writes: seen.writes };
      const [oldest] = this.#statements.keys();
      if (this.#statements.size >= statementsMax && oldest !== undefined) this.#statements.delete(oldest);
      this.#statements.set(sql, prepared);
      return prepared;
    } finally {
      this.#preparing = null;
    }
  }

  /**
   * Whether this statement changes data.
   *
   * @throws Error when it is none that `work` may run.
   */
  writes(sql: string): boolean {
    return this.#guard(() => this.#prepare(sql).writes);
  }

  /** @throws StoreTrouble, TypeError for what may not be bound, or sqlite's error about the statement. */
  all(sql: string, params: readonly SqlValue[]): unknown[] {
    checkParams(params);
    return this.#guard(() => this.#prepare(sql).statement.all(...params));
  }

  run(sql: string, params: readonly SqlValue[]): void {
    checkParams(params);
    this.#guard(() => this.#prepare(sql).statement.run(...params));
  }

  begin(): void {
    this.#guard(() => this.#begin.run());
  }

  savepoint(): void {
    this.#guard(() => this.#savepoint.run());
  }

  release(): void {
    this.#guard(() => this.#release.run());
  }

  rollbackToSavepoint(): void {
    this.#guard(() => {
      this.#rollbackTo.run();
      this.#release.run();
    });
  }

  /** Ends the transaction if one is open, keeping nothing. Some errors have ended it already. */
  rollback(): void {
    if (this.#database.isTransaction) this.#guard(() => this.#rollback.run());
  }

  /** `mustSync`: an answer will tell of this commit; `untilSynced` waits for it from now on, and the sync begins at once. */
  commit(mustSync: boolean): void {
    this.#guard(() => this.#commit.run());
    if (mustSync) this.#due += 1;
    if (Number(this.#walState.get()?.["log"]) >= walPagesMax) this.#moveDue = true;
    if (mustSync || this.#moveDue) this.#sync();
  }

  #guard<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (failedSyncCodes.has(sqliteCode(error) ?? 0)) this.#fail(error);
      throw troubleOf(error) ?? error;
    }
  }

  /** Every commit so far that must be durable is. */
  get synced(): boolean {
    return this.#synced >= this.#due && this.#failed === null;
  }

  /** A sync is under way; the file may not be closed. */
  get busy(): boolean {
    return this.#syncing || this.#moving !== null;
  }

  /** Resolves when no sync is under way. A failed one is told to those who wait for answers; here it only has to be over. */
  async untilQuiet(): Promise<void> {
    while (this.busy) {
      await Promise.allSettled([this.untilSynced(), this.#moving]);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }

  /** Null when a turn may begin; else resolves when it may (W3). */
  get untilMoved(): Promise<void> | null {
    return this.#moving;
  }

  /** @throws Fault DO_UNAVAILABLE when the sync fails; the process is then on its way out (W4). */
  untilSynced(): Promise<void> {
    if (this.#failed !== null) return Promise.reject(this.#failed);
    if (this.synced) return Promise.resolve();
    const due = this.#due;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ due, resolve, reject });
    });
  }

  /** One sync at a time; what is committed meanwhile is covered by the next. */
  #sync(): void {
    if (this.#syncing || this.#failed !== null) return;
    this.#syncing = true;
    const covered = this.#due;
    fdatasync(this.#wal, (error) => {
      this.#syncing = false;
      if (error !== null) {
        this.#fail(error);
        return;
      }
      this.#synced = covered;
      if (this.#moveDue) this.#moveWal();
      const waiters = this.#waiters;
      this.#waiters = waiters.filter((waiter) => waiter.due > covered);
      for (const waiter of waiters) if (waiter.due <= covered) waiter.resolve();
      if (this.#synced < this.#due) this.#sync();
    });
  }

  #moveWal(): void {
    // Only a `work` that awaits what it must not can still be in a transaction here; it is about to be rolled back.
    if (this.#moving !== null || this.#database.isTransaction) return;
    this.#moveDue = false;
    try {
      this.#database.exec("pragma synchronous = off");
      this.#checkpoint.get();
    } catch (error) {
      // Then sqlite takes none of it for copied, and the `-wal` goes on growing.
      this.#options.moveFailed(error);
      return;
    } finally {
      this.#database.exec("pragma synchronous = normal");
    }
    this.#moving = new Promise((resolve) => {
      fdatasync(this.#main, (error) => {
        this.#moving = null;
        if (error !== null) this.#fail(error);
        resolve();
      });
    });
  }

  #fail(error: unknown): void {
    if (this.#failed !== null) return;
    this.#failed = unavailable("Writing this shop's data to disk failed.", error);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#failed);
    this.#options.fatal(error);
  }

  /**
   * Copies everything that is committed to a new database file, a few pages at a time and off the event loop; what is committed
   * meanwhile is in it too. The file may not be closed before it is over.
   *
   * @throws StoreTrouble when the copy cannot be written or the file cannot be read.
   */
  async copyTo(path: string): Promise<void> {
    try {
      await backup(this.#database, path, { rate: copiedPagesAtOnce });
    } catch (error) {
      throw troubleOf(error) ?? error;
    }
  }

  /** Moves everything into the database file and closes it. Not to be called while it is busy. */
  close(): void {
    this.#database.close();
    closeSync(this.#wal);
    closeSync(this.#main);
  }
}
