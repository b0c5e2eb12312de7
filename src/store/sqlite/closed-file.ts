/**
 * A read of a shop whose file is closed and stays closed (D376). Where many shops share few open files, opening one
 * closes another, which takes longer than the read.
 *
 * Owns: what such a read has seen, and what it recalls and remembers as a read of an open file does. Does not own: when
 * a file is read so (engine.ts), how (reader.ts).
 */
import type { DatabaseSync } from "node:sqlite";
import type { Cache } from "../cache.ts";
import type { Remembered, SqlValue, Statement, Tx, TxCache, Work } from "../store.ts";
import type { KnownStatements } from "./file.ts";
import { openClosedFile, ReaderTx } from "./reader.ts";
import { type RowWatch, SeenRows } from "./row-watch.ts";
import { WorkWatch } from "./work-watch.ts";

interface ClosedFile {
  readonly path: string;
  /** Of the program's schema. */
  readonly version: number;
  readonly watch: RowWatch;
  readonly knownStatements: KnownStatements;
  readonly remembered: Cache<object>;
  /**
   * False as soon as somebody has it opened. A write then begins with a later round of the event loop, when no work
   * reads any more.
   */
  readonly isClosed: () => boolean;
  /** The error of work that has awaited something other than its `Tx`. */
  readonly stuckError: () => Error;
}

/** The file has to be opened for this read. */
class MustBeOpened extends Error {
  override readonly name = "MustBeOpened";
}

class ClosedTx implements Tx, TxCache {
  readonly #file: ClosedFile;
  /** Opened by the first statement: what is recalled needs no file. */
  #opened: { readonly database: DatabaseSync; readonly tx: ReaderTx } | null = null;
  /** Rows that are read. Null: nobody knows, since a statement is new. */
  #seen: SeenRows | null;
  /** It cannot be read so. */
  hasFailed = false;

  constructor(file: ClosedFile) {
    this.#file = file;
    this.#seen = new SeenRows(file.watch);
  }

  get seen(): SeenRows | null {
    return this.#seen;
  }

  get cache(): this {
    return this;
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    const known = this.#file.knownStatements.find(sql);
    try {
      if (known?.writes === true || this.hasFailed) throw new MustBeOpened(sql);
      if (known === null) this.#seen = null;
      else this.#seen?.add(known.scope, params);
      this.#opened ??= this.#open();
      return await this.#opened.tx.all<R>(sql, params);
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }

  /** An open file says what is wrong with it. */
  batch(statements: readonly Statement[]): Promise<void> {
    this.hasFailed = true;
    return Promise.reject(new MustBeOpened(statements[0]?.sql));
  }

  #open() {
    const database = openClosedFile(this.#file.path, this.#file.version);
    if (database === null) throw new MustBeOpened(this.#file.path);
    return { database, tx: new ReaderTx(database) };
  }

  async recall<T extends object>(entry: Remembered, load: () => Promise<T | null>): Promise<T | null> {
    const value = this.#file.remembered.get(this.#file.watch.name + entry.key);
    if (value !== null) {
      this.#seen = this.#seeing(entry, this.#seen);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key stands for this load
      return value as T;
    }
    const seen = this.#seeing(entry, new SeenRows(this.#file.watch));
    const loaded = await load();
    if (loaded !== null) this.#remember(entry, loaded, seen);
    return loaded;
  }

  know(entry: Remembered, value: object): void {
    this.#remember(entry, value, this.#seeing(entry, new SeenRows(this.#file.watch)));
  }

  /** The same with the rows of these statements. */
  #seeing({ reads }: Remembered, seen: SeenRows | null): SeenRows | null {
    for (const { sql, params } of reads) {
      const known = this.#file.knownStatements.find(sql);
      if (known === null) return null;
      seen?.add(known.scope, params);
    }
    return seen;
  }

  #remember({ key, bytesOf }: Remembered, value: object, seen: SeenRows | null): void {
    const { remembered, watch } = this.#file;
    if (seen !== null && !this.hasFailed) remembered.put(watch.name + key, value, bytesOf(value), [seen]);
  }

  end(): void {
    this.hasFailed = true;
    this.#opened?.database.close();
  }
}

/**
 * Reads the file and leaves it closed.
 *
 * @returns null when that cannot be, or the read has failed: an open file says why.
 * @throws what `work` throws of its own.
 */
export async function readInPlace<T>(
  file: ClosedFile,
  work: Work<T>,
): Promise<{ readonly result: T; readonly seen: SeenRows | null } | null> {
  const tx = new ClosedTx(file);
  const watch = new WorkWatch(file.stuckError, () => {});
  const outcome = await watch.run(() => work(tx));
  const { hasFailed, seen } = tx;
  tx.end();
  if (hasFailed || !file.isClosed()) return null;
  if (!outcome.ok) throw outcome.error;
  return { result: outcome.value, seen };
}
