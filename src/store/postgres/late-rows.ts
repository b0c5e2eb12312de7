/**
 * Rows that writes of one transaction add, and that nobody has asked for yet (D382). PostgreSQL begins and ends each
 * statement on its own. So the rows of all writes that share a transaction are sent together, in one statement a table.
 *
 * Owns: which rows wait, and which statements may meet them. Does not own: when they are sent and what is undone when
 * they are refused (transaction.ts), their statements (joined-rows.ts).
 *
 * - A statement meets the rows of every table whose name is a word of its text. No table's rows depend on another
 *   one's.
 * - Rows of a table wait only as long as all of them are added in the same manner.
 * - Once a statement has met rows of a table, none of that table wait any more in this transaction: they would not wait
 *   for long.
 */
import type { Statement } from "../store.ts";
import { type Query, queryOf } from "./connection.ts";
import { type Addition, joinedAdditions } from "./joined-rows.ts";
import type { Member } from "./transaction.ts";

/**
 * Rows that wait. Beyond it they are sent with what comes next: they are written as JSON in one step of the event loop.
 */
export const lateRowsMax = 1_000;

/** Texts whose words are known. Further ones are read each time. */
const wordsMax = 4_000;

/** A row that a member adds. */
export interface LateRow {
  readonly member: Member;
  readonly table: string;
  readonly statement: Statement;
  /** Number of rows that the statement adds. */
  readonly rows: number;
}

const wordsOfTexts = new Map<string, ReadonlySet<string>>();

function wordsOf(sql: string): ReadonlySet<string> {
  const found = wordsOfTexts.get(sql);
  if (found !== undefined) return found;
  const made = new Set(sql.match(/\w+/g));
  if (wordsOfTexts.size < wordsMax) wordsOfTexts.set(sql, made);
  return made;
}

/** The statements that add these rows. */
export function queriesOf(rows: readonly LateRow[]): readonly Query[] {
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return [...byTable.values()]
    .flatMap((each) => joinedAdditions(each.map(({ statement }) => statement)))
    .map((statement) => queryOf(statement));
}

export class LateRows {
  #rows: LateRow[] = [];
  /** Number of rows that all of them add. */
  #count = 0;
  /** The tables of which rows wait. */
  #tables: ReadonlySet<string> = new Set();
  /** Of each table, the manner in which its rows are added. */
  readonly #manners = new Map<string, string>();
  /** Tables whose rows do not wait any more. */
  readonly #met = new Set<string>();

  /**
   * The tables of which rows wait that the statement may meet. @param addition what it adds, if that is all that it
   * does.
   */
  metBy(sql: string, addition: Addition | null): readonly string[] {
    if (this.#tables.size === 0) return [];
    const words = wordsOf(sql);
    const own = addition !== null && this.#mayWait(addition) ? addition.table : null;
    return [...this.#tables].filter((table) => table !== own && words.has(table));
  }

  #mayWait({ table, manner }: Addition): boolean {
    return !this.#met.has(table) && (this.#manners.get(table) ?? manner) === manner;
  }

  /** Makes the rows wait if they may. @returns false: they are to be sent. */
  add(member: Member, statement: Statement, addition: Addition): boolean {
    if (!this.#mayWait(addition)) return false;
    const { table, manner, rows } = addition;
    this.#manners.set(table, manner);
    this.#rows.push({ member, table, statement, rows });
    this.#count += rows;
    if (!this.#tables.has(table)) this.#tables = new Set([...this.#tables, table]);
    return true;
  }

  /** As many rows wait as may. */
  get areFull(): boolean {
    return this.#count >= lateRowsMax;
  }

  /** All that wait, those of writes that have failed too. */
  get all(): readonly LateRow[] {
    return this.#rows;
  }

  /** Takes the rows of these tables, none of which wait any longer. */
  takeMet(tables: readonly string[]): readonly LateRow[] {
    for (const table of tables) this.#met.add(table);
    return this.#take(({ table }) => tables.includes(table));
  }

  takeAll(): readonly LateRow[] {
    return this.#take(() => true);
  }

  /** Makes rows wait again that were undone with others, or not sent. */
  takeBack(rows: readonly LateRow[]): void {
    this.#set([...rows, ...this.#rows]);
  }

  /** These were added. */
  remove(rows: readonly LateRow[]): void {
    const added = new Set(rows);
    this.#take((row) => added.has(row));
  }

  #take(isTaken: (row: LateRow) => boolean): readonly LateRow[] {
    const taken = this.#rows.filter(isTaken);
    this.#set(this.#rows.filter((row) => !isTaken(row)));
    return taken;
  }

  #set(rows: readonly LateRow[]): void {
    this.#rows = [...rows];
    this.#count = rows.reduce((sum, row) => sum + row.rows, 0);
    this.#tables = new Set(rows.map(({ table }) => table));
  }
}
