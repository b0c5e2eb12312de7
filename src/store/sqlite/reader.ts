/**
 * Reading a shop's file on a connection of its own: beside the one that writes it, for reader threads (W5 of file.ts), or while nobody has
 * it open.
 */
import { existsSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { checkParams } from "../engine-rules.ts";
import type { Statement, SqlValue, Tx, Work } from "../store.ts";

/** How long a reader waits for a lock that the writing connection holds for a moment. */
const lockMsMax = 2_000;

class ReaderTx implements Tx {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    checkParams(params);
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
    return statement.all(...params) as R[];
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    throw new Error(`a read may not change anything: ${statements[0]?.sql ?? ""}`);
  }
}

/**
 * Reads a lent file (`SqliteEngine.lend`): every statement of `work` sees the same committed state. What it sees may not be durable yet.
 * The connection is closed when the promise settles.
 */
export async function readLentFile<T>(path: string, work: Work<T>): Promise<T> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: lockMsMax });
  try {
    database.exec("pragma temp_store = memory");
    database.exec("begin");
    return await work(new ReaderTx(database));
  } finally {
    database.close();
  }
}

/**
 * Reads a file that nobody has open, without locks and without a file beside it.
 *
 * @returns null when it cannot be read so: a crash has left a `-wal` file, or it has another version than `version`.
 */
export async function readClosedFile<T>(
  path: string,
  version: number,
  work: Work<T>,
): Promise<{ readonly result: T } | null> {
  if (existsSync(`${path}-wal`)) return null;
  const database = new DatabaseSync(new URL("?immutable=1", pathToFileURL(path)), { readOnly: true });
  try {
    if (database.prepare("pragma user_version").get()?.["user_version"] !== version) return null;
    return { result: await work(new ReaderTx(database)) };
  } finally {
    database.close();
  }
}
