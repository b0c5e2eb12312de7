/**
 * Which of the nodes that start together on an empty database makes what a first start makes.
 *
 * The nodes lock one row in turn (table `first_start`). The first one holds the lock until its start has succeeded or
 * failed; the others wait for that. A node that dies during its first start loses the lock with its connection, and the
 * next node makes one.
 */
import { type PostgresPool, beginWrite, command, commit, rollback, sqlState } from "./connection.ts";

/** Longest wait of a node for another node's first start. */
const firstStartMsMax = 120_000;

interface FirstStart {
  readonly isNew: boolean;
  /** Records that the first start has succeeded; there is none after that. */
  complete(): Promise<void>;
  /** Lets another node make the first start, unless it is complete. */
  release(): void;
}

const selectIdentity = (schemaName: string): string =>
  `select database_id || '.' || (select oid from pg_database where datname = current_database()) as identity
   from "${schemaName}".first_start where one = 1`;

/**
 * By which the nodes of a database are recognised. A copy of the database on the same server is told apart.
 *
 * @returns null when the database has no schema of this version yet.
 */
export async function databaseIdentity(pool: PostgresPool, schemaName: string): Promise<string | null> {
  return await pool.using(async (connection) => {
    try {
      const [row] = await connection.run<{ identity: string }>(selectIdentity(schemaName));
      return row?.identity ?? null;
    } catch (error) {
      if (missing.has(sqlState(error) ?? "")) return null;
      throw error;
    }
  });
}

/** Schema, table or column does not exist. */
const missing: ReadonlySet<string> = new Set(["3F000", "42P01", "42703"]);

/** Claims the first start, or waits until the node that has claimed it has completed it or is gone. */
export async function claimFirstStart(pool: PostgresPool, schemaName: string): Promise<FirstStart> {
  const connection = await pool.connect();
  let isOpen = true;
  const release = (): void => {
    if (!isOpen) return;
    isOpen = false;
    connection.sendOnly([rollback]);
    connection.release();
  };
  try {
    await connection.rowsOf([beginWrite]);
    await connection.run(`set local lock_timeout = ${firstStartMsMax}`);
    await connection.run("set local statement_timeout = 0");
    // The connection is idle while the node makes the demo shop.
    await connection.run("set local idle_in_transaction_session_timeout = 0");
    const lockRow = `select settled from "${schemaName}".first_start where one = 1 for update`;
    const [[row] = []] = await connection.rowsOf([{ ...command(lockRow), answerMsMax: firstStartMsMax * 2 }]);
    if (typeof row !== "object" || row === null || !("settled" in row)) throw new Error("first_start has no row");
    const isNew = row.settled === false;
    if (!isNew) release();
    return {
      isNew,
      async complete() {
        if (!isOpen) return;
        await connection.run(`update "${schemaName}".first_start set settled = true where one = 1`);
        await connection.rowsOf([commit]);
        isOpen = false;
        connection.release();
      },
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}
