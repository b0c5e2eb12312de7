/**
 * Reading a shop's file on a connection of its own: beside the one that writes it, for reader threads (W5 of file.ts),
 * or while nobody has it open.
 */
import { existsSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { checkParams } from "../engine-rules.ts";
import type { Statement, SqlValue, Tx, Work } from "../store.ts";

/** Time for which a reader waits for a lock that the writing connection holds for a moment. */
const readerLockMsMax = 2_000;

/** Prepared statements that a connection keeps. */
export const readerStatementsMax = 100;

export class ReaderTx implements Tx {
  readonly #database: DatabaseSync;
  /** The one that was prepared first comes first. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    checkParams(params);
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size > readerStatementsMax && oldest !== undefined) this.#statements.delete(oldest);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
    return statement.all(...params) as R[];
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    throw new Error(`a read may not change anything: ${statements[0]?.sql ?? ""}`);
  }
}

/**
 * Reads lent files (`SqliteEngine.lend`), one at a time. The connection to the latest one stays open until another file
 * is read or `close` is called. Opening it and reading its schema take longer than most reads.
 */
export class LentFileReader {
  #open: { readonly path: string; readonly database: DatabaseSync; readonly tx: ReaderTx } | null = null;

  /** Every statement of `work` sees the same committed state, the latest. What it sees may not be durable yet. */
  async read<T>(path: string, work: Work<T>): Promise<T> {
    const { database, tx } = this.#opened(path);
    let isOver = false;
    try {
      database.exec("begin");
      const result = await work(tx);
      database.exec("rollback");
      isOver = true;
      return result;
    } finally {
      if (!isOver) this.close();
    }
  }

  #opened(path: string) {
    if (this.#open?.path === path) return this.#open;
    this.close();
    const database = new DatabaseSync(path, { readOnly: true, timeout: readerLockMsMax });
    database.exec("pragma temp_store = memory");
    this.#open = { path, database, tx: new ReaderTx(database) };
    return this.#open;
  }

  /** Closes the connection that is open. */
  close(): void {
    this.#open?.database.close();
    this.#open = null;
  }
}

/**
 * Opens a file that nobody has open for reading, without locks and without a file beside it.
 *
 * @returns null when it cannot be read so: a crash has left a `-wal` file, or it has another version than `version`.
 */
export function openClosedFile(path: string, version: number): DatabaseSync | null {
  if (existsSync(`${path}-wal`)) return null;
  const database = new DatabaseSync(new URL("?immutable=1", pathToFileURL(path)), { readOnly: true });
  try {
    if (database.prepare("pragma user_version").get()?.["user_version"] === version) return database;
  } catch (error) {
    database.close();
    throw error;
  }
  database.close();
  return null;
}

/** Reads a file that nobody has open. @returns null when it cannot be read so (`openClosedFile`). */
export async function readClosedFile<T>(
  path: string,
  version: number,
  work: Work<T>,
): Promise<{ readonly result: T } | null> {
  const database = openClosedFile(path, version);
  if (database === null) return null;
  try {
    return { result: await work(new ReaderTx(database)) };
  } finally {
    database.close();
  }
}
