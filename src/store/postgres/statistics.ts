/**
 * Statistics of tables that have none yet. Without them PostgreSQL takes each index that begins with the shop for as
 * good as the key's own. A look-up then walks all that the shop has there. PostgreSQL's own autovacuum comes after a
 * minute (D369).
 *
 * Owns: the first statistics of a table. Does not own: later ones, which are autovacuum's.
 */
import type { Log } from "../store.ts";
import type { PostgresPool } from "./connection.ts";

/** Turns of this node until it looks for such tables, from one look to the next twice as many. */
export const statisticsTurnsMin = 32;

/** A smaller table has too few rows to tell anything about. */
export const statisticsBytesMin = 32_768;

export class FirstStatistics {
  readonly #pool: PostgresPool;
  readonly #schemaName: string;
  readonly #log: Log | undefined;
  #turns = 0;
  #nextAt = statisticsTurnsMin;
  #isTaking = false;

  constructor(pool: PostgresPool, schemaName: string, log: Log | undefined) {
    this.#pool = pool;
    this.#schemaName = schemaName;
    this.#log = log;
  }

  /** A turn was kept. @returns the taking of statistics, if it is time to look for tables without; never rejects. */
  turnKept(): Promise<void> | null {
    this.#turns += 1;
    if (this.#turns < this.#nextAt || this.#isTaking) return null;
    this.#nextAt = this.#turns * 2;
    this.#isTaking = true;
    return this.#take()
      .catch((error: unknown) => {
        this.#log?.info({ err: error, schemaName: this.#schemaName }, "Statistics of the tables could not be taken.");
      })
      .finally(() => {
        this.#isTaking = false;
      });
  }

  async #take(): Promise<void> {
    await this.#pool.using(async (connection) => {
      const tables = await connection.run<{ relname: string }>(
        `select relname from pg_class
         where relnamespace = $1::regnamespace and relkind = 'r' and reltuples <= 0 and pg_relation_size(oid) >= $2
           and pg_has_role(relowner, 'usage')`,
        [`"${this.#schemaName}"`, statisticsBytesMin],
      );
      for (const { relname } of tables)
        await connection.run(`analyze (skip_locked) "${this.#schemaName}"."${relname}"`);
    });
  }
}
