/**
 * One shop's open sqlite file: its connection, its statements, and when its commits become durable (S2, S4).
 *
 * Owns: the connection and its settings, prepared statements, the values that may be bound, and the faults for sqlite's
 * errors. It decides when the `-wal` file is synced and moved into the database file. Does not own: whose turn it is
 * (door.ts).
 *
 * Invariants:
 * - W1. A commit writes to the `-wal` file and does not sync it. `untilSynced` resolves when an `fdatasync` of that
 *       file has succeeded that began after the commit. It resolves at once when nothing that must be durable was
 *       committed since the last sync.
 * - W2. The `-wal` file behind our descriptor is the one that sqlite writes. sqlite creates it when the file is opened
 *       and removes it only when the connection closes. Otherwise it truncates or overwrites it in place. Both
 *       descriptors are opened after the connection and closed after it: closing one of the database file earlier would
 *       drop sqlite's locks on it.
 * - W3. Content that leaves the `-wal` file is durable in the database file first. sqlite may overwrite the `-wal` from
 *       its start only when all of it was copied to the database file. That copy is made here and not within a commit.
 *       It takes all pages of the `-wal`, so it is made after a sync that covers every commit, also those on which no
 *       answer depends. If commits were made during the sync, no turn begins until the next one has succeeded
 *       (`untilMoved`). Else a power cut could leave a part of a change in the database file whose other part was lost
 *       with the `-wal`. Pages are copied with sqlite's own syncs switched off for that one statement. Then the
 *       database file is synced off the event loop, and no turn begins before that has succeeded (`untilMoved`). A sync
 *       within the statement would block every shop for three quarters of the time it takes. A crash in between finds
 *       the `-wal` complete. So at every moment a commit is in a synced database file or in the `-wal` file that is
 *       synced here. Everything else runs with `synchronous=normal`, set explicitly and read back. sqlite then syncs
 *       the header of a `-wal` that it begins again. When the connection closes it copies and syncs in that order
 *       itself. With `off`, a power cut after closing could lose everything. The one exception is the first commit into
 *       an empty `-wal`. Its header protects nothing that was there before, and the sync of W1 covers it. sqlite's own
 *       sync would hold the event loop at the first request of every shop.
 * - W4. A failed sync is final: the kernel may have dropped the pages and forgotten the error, so a second sync would
 *       succeed and prove nothing. `fatal` is called, and nothing that waits is acknowledged.
 * - W5. The connection locks the file exclusively until `share` is called: a statement takes no lock, which makes a
 *       small read up to twice as fast. From `share` on, further connections may read the file (reader.ts), and no
 *       other may write or checkpoint. So the statements about the `-wal` file stay true. A reader closes its
 *       connection before this one is closed. Where the disk has no room for the `-shm` file, the connection goes
 *       without it, so that the shop can be read. It cannot be shared then (`canShare`).
 * - W8. Commits that a process finds in the `-wal` file are synced before anything of them is reported. The process
 *       before may have been killed between a commit and its sync: then everybody can read the commit, but it is not on
 *       disk. A file that was closed has no `-wal`.
 */
import {
  constants as accessModes,
  accessSync,
  closeSync,
  fdatasync,
  fstatSync,
  fsync,
  fsyncSync,
  open,
  openSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync, backup, constants } from "node:sqlite";
import { Fault } from "../../base/fault.ts";
import { checkParams, unavailable } from "../engine-rules.ts";
import type { Cache } from "../cache.ts";
import type { Form } from "../change.ts";
import type { SqlValue } from "../store.ts";
import {
  type Accesses,
  changeScope,
  newAccesses,
  readScope,
  type RowWatch,
  type Scope,
  type SeenRows,
} from "./row-watch.ts";
import { type Schema, migrate } from "./schema.ts";

/** Prepared statements that an open file keeps; the program has fewer. */
export const fileStatementsMax = 256;

/** Statements that a file keeps when it is one of many: about as many as a read takes, of some 10 KB each. */
const statementsKept = 16;

/**
 * With so many pages, about 4 MB, the `-wal` file is moved into the database file, unless the engine is told otherwise.
 */
const defaultWalPagesMax = 1_000;

/** A `-wal` file that one large commit has made bigger is cut back to this. */
const walBytesKept = 16 * 1_048_576;

/** Pages that a copy of the file takes at a time; a statement waits for at most these. */
const copiedPagesAtOnce = 200;

const readOnlyMessage = "This shop's data cannot be written: the disk or the file is read-only.";

/** sqlite's errors about the store, by primary code. All other errors are about the statement, and bugs. */
const storeFailures: Readonly<Record<number, { readonly message: string; readonly reopen: boolean }>> = {
  5: { message: "Another program is using this shop's data file.", reopen: true },
  7: { message: "There is not enough memory to use this shop's data.", reopen: true },
  8: { message: readOnlyMessage, reopen: true },
  10: { message: "Reading or writing this shop's data failed.", reopen: true },
  11: { message: "This shop's data file is damaged.", reopen: true },
  13: { message: "The disk that holds this shop's data is full.", reopen: false },
  14: { message: "This shop's data file cannot be opened.", reopen: true },
  26: { message: "This shop's data file is damaged.", reopen: true },
};

/**
 * A write that failed, but for a full disk (13): a quota of the disk, or the largest size of a file. The connection is
 * as good as before.
 */
const writeFailure = { code: 778, message: "This shop's data cannot be written: its disk takes no more." };

/** SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE and SQLITE_IOERR_SHMMAP: the `-shm` file cannot be made. */
const noSharedMemoryCodes: ReadonlySet<number> = new Set([4618, 4874, 5386]);

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC: a sync that sqlite itself made has failed. */
const failedSyncCodes: ReadonlySet<number> = new Set([1034, 1290]);

/** A store that could not be used: the fault for the caller, and whether opening the file again may help. */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";
  readonly fault: Fault;
  readonly reopen: boolean;
  /** The disk takes no more, for this shop or for all. */
  readonly isFull: boolean;

  constructor(fault: Fault, reopen: boolean, isFull = false) {
    super(fault.message, { cause: fault.cause });
    this.fault = fault;
    this.reopen = reopen;
    this.isFull = isFull;
  }
}

function sqliteCode(error: unknown): number | null {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : null;
}

/** True if the error says that another connection has locked the file. */
export const isBusy = (error: unknown): boolean => ((sqliteCode(error) ?? 0) & 0xff) === 5;

function failureOf(error: unknown): StoreFailure | null {
  const code = sqliteCode(error) ?? 0;
  if (code === writeFailure.code) return new StoreFailure(unavailable(writeFailure.message, error), false, true);
  const failure = storeFailures[code & 0xff];
  if (failure === undefined) return null;
  return new StoreFailure(unavailable(failure.message, error), failure.reopen, (code & 0xff) === 13);
}

/** sqlite reports a file that cannot be written as one that cannot be locked: find the real reason. */
function openingFailureOf(error: unknown, path: string): StoreFailure {
  try {
    accessSync(path, accessModes.W_OK);
    accessSync(dirname(path), accessModes.W_OK);
  } catch (refusal) {
    const code = refusal instanceof Error && "code" in refusal ? refusal.code : null;
    if (code === "EROFS" || code === "EACCES") return new StoreFailure(unavailable(readOnlyMessage, error), true);
  }
  return failureOf(error) ?? new StoreFailure(unavailable("This shop's data file cannot be opened.", error), true);
}

/** Opens the file for writing, as one that can be shared (W5) if the disk has room for that. */
function connect(path: string): { readonly database: DatabaseSync; readonly canShare: boolean } {
  for (const canShare of [true, false]) {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      if (!canShare) database.exec("pragma locking_mode = exclusive");
      // A new file's first page must be on disk before its `-wal`: sqlite ignores the `-wal` of an empty file.
      database.exec("pragma synchronous = full");
      database.exec("pragma journal_mode = wal");
      // The first access is without the exclusive lock: that makes the `-shm` file, without which `share` could not
      // give the lock up.
      database.prepare("select 1 from sqlite_schema limit 1").get();
      return { database, canShare };
    } catch (error) {
      database.close();
      if (!canShare || !noSharedMemoryCodes.has(sqliteCode(error) ?? 0)) throw error;
    }
  }
  throw new Error("unreachable");
}

/** Facts about a statement by its text. It is the same in all files of one schema. */
interface KnownStatement {
  readonly sql: string;
  readonly writes: boolean;
  /** Scope that it changes if it writes, else that it reads. */
  readonly scope: Scope;
  /** It changes rows and returns each of them. */
  readonly returnsChanges: boolean;
}

/** Statements whose texts are known. The program has fewer. */
export const knownStatementsMax = 2_048;

/**
 * Facts about statements, for all files of an engine. The names of the columns that a statement reads take more memory
 * than the statement, and 2,000 shops have the same ones.
 */
export class KnownStatements {
  readonly #known = new Map<string, KnownStatement>();

  find(sql: string): KnownStatement | null {
    return this.#known.get(sql) ?? null;
  }

  add(known: KnownStatement): void {
    if (this.#known.size >= knownStatementsMax) this.#known.clear();
    this.#known.set(known.sql, known);
  }
}

/** Statements that one file has given back and that have not been collected. */
interface DroppedOfFile {
  count: number;
}

/**
 * Counts statements that files have given back. sqlite has their memory until Node has collected them, or their file is
 * closed.
 */
export class DroppedStatements {
  #count = 0;
  readonly #registry = new FinalizationRegistry<DroppedOfFile>((file) => {
    if (file.count === 0) return;
    file.count -= 1;
    this.#count -= 1;
  });

  /** Number of statements that take memory. */
  get count(): number {
    return this.#count;
  }

  add(statement: StatementSync, file: DroppedOfFile): void {
    file.count += 1;
    this.#count += 1;
    this.#registry.register(statement, file);
  }

  /** The file is closed, which has freed them. */
  freed(file: DroppedOfFile): void {
    this.#count -= file.count;
    file.count = 0;
  }
}

/** A statement that one file has prepared. */
export interface PreparedStatement {
  readonly known: KnownStatement;
  readonly statement: StatementSync;
  /** Which of all uses of statements of the file was its latest. */
  usedAt: number;
}

/** A statement that has changed something, or could have. */
export interface RunWrite {
  readonly prepared: PreparedStatement;
  readonly params: readonly SqlValue[];
}

/** A value that was made of rows. */
export interface Made {
  readonly value: object;
  readonly bytes: number;
  readonly seen: SeenRows;
}

/** Makes the creation and removal of files in a directory durable. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

interface ShopFileOptions {
  readonly path: string;
  readonly schema: Schema;
  /**
   * The column by which the rows of some tables belong to parts that are read one by one (row-watch.ts). Null: no table
   * has one.
   */
  readonly sliceColumn: string | null;
  /** Facts about statements in files of this schema. */
  readonly knownStatements: KnownStatements;
  /** Counts what files have given back. */
  readonly dropped: DroppedStatements;
  /** Of this shop's file, from when it was open before. */
  readonly watch: RowWatch;
  /** With so many pages the `-wal` file is moved into the database file. Default `defaultWalPagesMax`. */
  readonly walPagesMax?: number | undefined;
  /** Remembered values of all files. */
  readonly remembered: Cache<object>;
  /** Called once when a sync has failed (W4). */
  readonly fatal: (error: unknown) => void;
  /** Called when pages could not be moved out of the `-wal` file. They stay there, and it is tried again. */
  readonly moveFailed: (error: unknown) => void;
}

/** An open file. Its methods are called by one turn or read at a time (door.ts). */
export class ShopFile {
  readonly watch: RowWatch;
  readonly #options: ShopFileOptions;
  /** True if `share` is possible: not if the disk was full when the file was opened. */
  readonly canShare: boolean;
  readonly #database: DatabaseSync;
  readonly #wal: number;
  /** Opened when it is first synced. */
  #main: number | null = null;
  /** The names of the files are on disk. */
  #isListed = false;
  /** The `-wal` file is empty, and the commit that begins it runs with sqlite's syncs switched off (W3). */
  #isWalEmpty = false;
  readonly #statements = new Map<string, PreparedStatement>();
  #uses = 0;
  readonly #dropped: DroppedOfFile = { count: 0 };
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #walState: StatementSync;
  readonly #checkpoint: StatementSync;

  /** Set while a statement of `work` is prepared: what sqlite's authorizer has found in it. */
  #preparing: Accesses | null = null;
  /** Commits that must be durable are numbered: the latest one, and the latest one known to be on disk. */
  #due = 0;
  #synced = 0;
  #syncing = false;
  #isShared = false;
  #moveDue = false;
  /** Commits of any kind. */
  #commits = 0;
  /** Keeps turns from beginning until the `-wal` file is synced as it is: then it can be moved. */
  #moveGate: PromiseWithResolvers<void> | null = null;
  /** The database file is being synced after pages have been copied to it. */
  #moving: Promise<void> | null = null;
  #failed: Fault | null = null;
  #waiters: { readonly due: number; readonly resolve: () => void; readonly reject: (fault: Fault) => void }[] = [];

  /**
   * Opens the file, creating it if it is absent, and brings it to the program's version.
   *
   * @throws StoreFailure  it cannot be opened or used, or a newer version of the program has written it.
   */
  constructor(options: ShopFileOptions) {
    this.#options = options;
    this.watch = options.watch;
    let database: DatabaseSync | null = null;
    try {
      const connection = connect(options.path);
      database = connection.database;
      this.#database = database;
      this.canShare = connection.canShare;
      database.exec("pragma locking_mode = exclusive");
      // The lock is taken by the first transaction that could write.
      database.exec("begin immediate; commit");
      database.exec(
        `pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma journal_size_limit = ${walBytesKept};
         pragma temp_store = memory`,
      );
      const migrated = migrate(database, options.schema);
      this.#assertSetting("locking_mode", "exclusive");
      this.#assertSetting("journal_mode", "wal");
      this.#assertSetting("synchronous", 1);

      this.#begin = database.prepare("begin immediate");
      this.#commit = database.prepare("commit");
      this.#rollback = database.prepare("rollback");
      this.#walState = database.prepare("pragma wal_checkpoint(noop)");
      this.#checkpoint = database.prepare("pragma wal_checkpoint(passive)");
      database.setAuthorizer((action, table, column) => this.#authorize(action, table, column));

      this.#wal = openSync(`${options.path}-wal`, "r");
      this.#isWalEmpty = fstatSync(this.#wal).size === 0;
      if (this.#isWalEmpty) database.exec("pragma synchronous = off");
      if (!migrated && this.#isWalEmpty) return;
      this.#syncWhatIsThere();
    } catch (error) {
      database?.close();
      if (error instanceof Fault) throw new StoreFailure(error, true);
      throw openingFailureOf(error, options.path);
    }
  }

  /** Syncs the content of the `-wal` file before the first commit (W8), and its name. */
  #syncWhatIsThere(): void {
    try {
      fsyncSync(this.#wal);
      syncDirectory(dirname(this.#options.path));
    } catch (error) {
      this.#options.fatal(error);
      throw error;
    }
    this.#isListed = true;
  }

  /** A file that is opened again may have other settings than before. */
  #assertSetting(name: string, expected: string | number): void {
    const actual = this.#database.prepare(`pragma ${name}`).get()?.[name];
    if (actual !== expected) throw new Error(`pragma ${name} is ${String(actual)} instead of ${expected}`);
  }

  /** Lets a statement of `work` read and change rows, and nothing else: it must not begin or end a transaction (S2). */
  #authorize(action: number, table: string | null, column: string | null): number {
    const accesses = this.#preparing;
    if (accesses === null) return constants.SQLITE_OK;
    switch (action) {
      case constants.SQLITE_READ: {
        const columns = accesses.read.get(table ?? "") ?? new Set();
        accesses.read.set(table ?? "", columns.add(column ?? ""));
        return constants.SQLITE_OK;
      }
      case constants.SQLITE_SELECT:
      case constants.SQLITE_FUNCTION:
      case constants.SQLITE_RECURSIVE:
        return constants.SQLITE_OK;
      case constants.SQLITE_INSERT:
      case constants.SQLITE_DELETE:
        accesses.changed.add(table ?? "");
        return constants.SQLITE_OK;
      case constants.SQLITE_UPDATE:
        accesses.changed.add(`${table ?? ""}.${column ?? ""}`);
        return constants.SQLITE_OK;
      default:
        return constants.SQLITE_DENY;
    }
  }

  #prepare(sql: string, form: Form | null): PreparedStatement {
    this.#uses += 1;
    const cached = this.#statements.get(sql);
    if (cached !== undefined) {
      cached.usedAt = this.#uses;
      return cached;
    }
    const found = this.#options.knownStatements.find(sql);
    // A text that is known was allowed before.
    const { known, statement } =
      found === null ? this.#learn(sql, form) : { known: found, statement: this.#database.prepare(found.sql) };
    if (this.#statements.size >= fileStatementsMax) this.#keepStatements(fileStatementsMax - 1);
    const prepared = { known, statement, usedAt: this.#uses };
    this.#statements.set(known.sql, prepared);
    return prepared;
  }

  /** Gives back all statements but the ones used last. */
  #keepStatements(kept: number): void {
    const byAge = [...this.#statements.values()].sort((a, b) => a.usedAt - b.usedAt);
    for (const { known, statement } of byAge.slice(0, Math.max(0, byAge.length - kept))) {
      this.#options.dropped.add(statement, this.#dropped);
      this.#statements.delete(known.sql);
    }
  }

  /** Prepares a statement of which nothing is known. @throws Error when `work` may not run it. */
  #learn(sql: string, form: Form | null): Pick<PreparedStatement, "known" | "statement"> {
    const accesses = newAccesses();
    this.#preparing = accesses;
    try {
      const statement = this.#database.prepare(sql);
      const writes = accesses.changed.size > 0;
      const { sliceColumn } = this.#options;
      const scope = writes ? changeScope(form, accesses, sliceColumn) : readScope(sql, accesses, sliceColumn);
      const known = { sql, writes, scope, returnsChanges: / returning /i.test(sql) };
      this.#options.knownStatements.add(known);
      return { known, statement };
    } finally {
      this.#preparing = null;
    }
  }

  /** The statement, prepared. @param form of a change. @throws Error when `work` may not run it. */
  prepared(sql: string, form: Form | null = null): PreparedStatement {
    return this.#guard(() => this.#prepare(sql, form));
  }

  /** Returns the scope that a statement of a read reads. @throws Error when a read may not run it. */
  scopeOf(sql: string): Scope {
    const { writes, scope } = this.#options.knownStatements.find(sql) ?? this.prepared(sql).known;
    if (writes) throw new Error(`a read may not change anything: ${sql}`);
    return scope;
  }

  /** @throws StoreFailure, TypeError for a value that may not be bound, or sqlite's error about the statement. */
  all({ statement }: PreparedStatement, params: readonly SqlValue[]): unknown[] {
    checkParams(params);
    return this.#guard(() => statement.all(...params));
  }

  /** @returns how many rows it has changed. */
  run({ statement }: PreparedStatement, params: readonly SqlValue[]): number {
    checkParams(params);
    return Number(this.#guard(() => statement.run(...params)).changes);
  }

  /** Returns the value that is remembered under the key, if its rows stand; else null. */
  recall(key: string): object | null {
    return this.#options.remembered.get(this.watch.name + key);
  }

  remember(key: string, { value, bytes, seen }: Made): void {
    this.#options.remembered.put(this.watch.name + key, value, bytes, [seen]);
  }

  begin(): void {
    this.#guard(() => this.#begin.run());
  }

  /** Begins anew with what a transaction that was rolled back had run. The rows are as they were then. */
  beginWith(statements: readonly RunWrite[]): void {
    this.begin();
    for (const { prepared, params } of statements) this.all(prepared, params);
  }

  /** Rolls the transaction back, unless an error has ended it already. */
  rollback(): void {
    if (this.#database.isTransaction) this.#guard(() => this.#rollback.run());
  }

  /** @param mustSync answers depend on this commit: its sync begins at once, and `untilSynced` waits for it. */
  commit(mustSync: boolean): void {
    this.#guard(() => this.#commit.run());
    this.#commits += 1;
    if (mustSync) this.#due += 1;
    this.watch.committed(mustSync ? this.#due : null);
    const pages = Number(this.#walState.get()?.["log"]);
    if (this.#isWalEmpty && pages > 0) {
      this.#isWalEmpty = false;
      this.#database.exec("pragma synchronous = normal");
    }
    if (pages >= (this.#options.walPagesMax ?? defaultWalPagesMax)) this.#moveDue = true;
    if (mustSync || this.#moveDue) this.#sync();
  }

  #guard<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (failedSyncCodes.has(sqliteCode(error) ?? 0)) this.#fail(error);
      throw failureOf(error) ?? error;
    }
  }

  /** Every commit that must be durable is durable. */
  get synced(): boolean {
    return this.#synced >= this.#due && this.#failed === null;
  }

  /** A sync is under way; the file may not be closed. */
  get busy(): boolean {
    return this.#syncing || this.#moving !== null;
  }

  /** Resolves when no sync is under way, however it ended. */
  async untilQuiet(): Promise<void> {
    while (this.busy) {
      await Promise.allSettled([this.untilSynced(), this.#moving]);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }

  /** Null when a turn may begin; otherwise resolves when one may (W3). */
  get untilMoved(): Promise<void> | null {
    return this.#moving ?? this.#moveGate?.promise ?? null;
  }

  /**
   * Resolves when every commit up to this one that must be durable is. @throws Fault DO_UNAVAILABLE when the sync fails
   * (W4).
   */
  untilSynced(due = this.#due): Promise<void> {
    if (this.#failed !== null) return Promise.reject(this.#failed);
    if (this.#synced >= due) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ due, resolve, reject });
    });
  }

  /** One sync runs at a time; commits that are made meanwhile wait for the next. */
  #sync(): void {
    if (this.#syncing || this.#failed !== null) return;
    this.#syncing = true;
    const covered = this.#due;
    const commits = this.#commits;
    this.#syncWal((error) => {
      this.#syncing = false;
      if (error !== null) {
        this.#fail(error);
        return;
      }
      this.#synced = covered;
      this.watch.synced(covered);
      if (this.#moveDue && commits === this.#commits) this.#moveWal();
      else if (this.#moveDue) this.#holdTurns();
      const waiters = this.#waiters;
      this.#waiters = waiters.filter((waiter) => waiter.due > covered);
      for (const waiter of waiters) if (waiter.due <= covered) waiter.resolve();
      if (this.#synced < this.#due || this.#moveGate !== null) this.#sync();
    });
  }

  /** Before the first sync of an open file, the `-wal` that sqlite has made for it must have its name on disk. */
  #syncWal(done: (error: NodeJS.ErrnoException | null) => void): void {
    if (this.#isListed) {
      fdatasync(this.#wal, done);
      return;
    }
    open(dirname(this.#options.path), "r", (failure, directory) => {
      if (failure !== null) {
        done(failure);
        return;
      }
      fsync(directory, (error) => {
        closeSync(directory);
        if (error !== null) {
          done(error);
          return;
        }
        this.#isListed = true;
        fdatasync(this.#wal, done);
      });
    });
  }

  /** Until the `-wal` file is synced as it is. */
  #holdTurns(): void {
    this.#moveGate ??= Promise.withResolvers();
  }

  /** All of the `-wal` file is synced. */
  #moveWal(): void {
    this.#move();
    // Those that waited look again: they wait for the move, or go on without it.
    this.#moveGate?.resolve();
    this.#moveGate = null;
  }

  #move(): void {
    // A transaction is open here if its `work` has given way. Its commit has the pages moved.
    if (this.#moving !== null || this.#database.isTransaction) return;
    this.#moveDue = false;
    let main: number;
    try {
      main = this.#main ??= openSync(this.#options.path, "r");
      this.#database.exec("pragma synchronous = off");
      this.#checkpoint.get();
    } catch (error) {
      // sqlite then counts nothing as copied, and the `-wal` goes on growing.
      this.#options.moveFailed(error);
      return;
    } finally {
      this.#database.exec("pragma synchronous = normal");
    }
    this.#moving = new Promise((resolve) => {
      fdatasync(main, (error) => {
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
    this.#moveGate?.resolve();
    this.#moveGate = null;
    this.#options.fatal(error);
  }

  /**
   * Copies everything that is committed to a new database file, a few pages at a time and off the event loop. The copy
   * includes what is committed meanwhile. The file must not be closed before it is done.
   *
   * @param begun  told when the first pages are copied, or the copy has failed. Until then no transaction may begin.
   *               Node gives a copy up that finds one before it has read a page, and goes on with one that finds it
   *               later.
   * @throws StoreFailure when the copy cannot be written or the file cannot be read.
   */
  async copyTo(path: string, begun: () => void): Promise<void> {
    try {
      await backup(this.#database, path, { rate: copiedPagesAtOnce, progress: begun });
    } catch (error) {
      throw failureOf(error) ?? error;
    } finally {
      begun();
    }
  }

  /** Lets further connections read the file, until it is closed. */
  share(): void {
    if (this.#isShared) return;
    this.#guard(() => {
      this.#database.exec("pragma locking_mode = normal");
      // The lock is released when the next transaction ends.
      this.#database.prepare("select 1 from sqlite_schema limit 1").get();
    });
    this.#isShared = true;
  }

  /**
   * Gives back the memory of pages that were read, and of all statements but the last ones. Costs some microseconds now
   * and later.
   */
  releaseMemory(): void {
    this.#guard(() => this.#database.exec("pragma shrink_memory"));
    this.#keepStatements(statementsKept);
  }

  /**
   * Moves everything into the database file with the syncs off the event loop, so that `close` finds nothing to move.
   * No turn may run meanwhile. If it fails, `close` does it.
   */
  async moveAll(): Promise<void> {
    await this.untilQuiet();
    const { log, checkpointed } = this.#walState.get() ?? {};
    if (Number(log) <= Number(checkpointed) || this.#failed !== null) return;
    this.#moveDue = true;
    this.#sync();
    await this.untilQuiet();
  }

  /** Moves what `moveAll` has left into the database file and closes it. Must not be called while it is `busy`. */
  close(): void {
    this.watch.rest();
    // Node holds a connection as long as its statements, and it holds the authorizer, which holds them: else none of
    // these is ever collected.
    this.#database.setAuthorizer(null);
    this.#database.close();
    this.#options.dropped.freed(this.#dropped);
    closeSync(this.#wal);
    if (this.#main !== null) closeSync(this.#main);
  }
}
