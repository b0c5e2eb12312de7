/**
 * Rows that writes of one transaction add, and that nobody has asked for yet (D382). PostgreSQL begins and ends each
 * statement on its own. So the rows of all writes that share a transaction are sent together, in one statement a table.
 *
 * Owns: which rows wait, and which statements may meet them. Does not own: when they are sent and what is undone when
 * they are refused (transaction.ts), their statements (joined-rows.ts).
 *
 * - A change meets the rows of its table; a text, those of every table whose name is a word of it. No table's rows
 *   depend on another one's.
 * - Rows of a table wait only as long as all of them are added in one form.
 * - Once a statement has met rows of a table, none of that table wait any more in this transaction: they would not wait
 *   for long.
 */
import type { Change, Form } from "../change.ts";
import { checkParams } from "../engine-rules.ts";
import { type Query, queryOf } from "./connection.ts";
import { joinedAdditions } from "./joined-rows.ts";
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
  readonly change: Change;
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
  const byTable = Map.groupBy(rows, ({ change }) => change.form.table);
  return [...byTable.values()]
    .flatMap((each) => joinedAdditions(each.map(({ change }) => change)))
    .map((statement) => queryOf(statement));
}

export class LateRows {
  #rows: LateRow[] = [];
  /** The tables of which rows wait. */
  #tables: ReadonlySet<string> = new Set();
  /** Of each table, the form in which its rows are added. */
  readonly #forms = new Map<string, Form>();
  /** Tables whose rows do not wait any more. */
  readonly #met = new Set<string>();

  /**
   * The tables of which rows wait that the statement may meet. A change meets rows of its own table; a text, those of
   * each table that it names, since it may read them.
   *
   * @param mayWait false: a change that adds a row meets the rows of its table too.
   */
  metBy(statement: { readonly sql: string; readonly form?: Form }, mayWait = false): readonly string[] {
    if (this.#tables.size === 0) return [];
    const { form } = statement;
    if (form !== undefined && form.kind !== "text")
      return this.#tables.has(form.table) && !(mayWait && this.#mayWait(form)) ? [form.table] : [];
    const words = wordsOf(statement.sql);
    return [...this.#tables].filter((table) => words.has(table));
  }

  #mayWait(form: Form): boolean {
    return form.kind === "insert" && !this.#met.has(form.table) && (this.#forms.get(form.table) ?? form) === form;
  }

  /**
   * Makes the row wait if it may. @returns false: it is to be sent.
   *
   * @throws TypeError for a value that may not be bound.
   */
  add(member: Member, change: Change): boolean {
    const { form, params } = change;
    if (!this.#mayWait(form)) return false;
    checkParams(params);
    const { table } = form;
    this.#forms.set(table, form);
    this.#rows.push({ member, change });
    if (!this.#tables.has(table)) this.#tables = new Set([...this.#tables, table]);
    return true;
  }

  /** As many rows wait as may. */
  get areFull(): boolean {
    return this.#rows.length >= lateRowsMax;
  }

  /** All that wait, those of writes that have failed too. */
  get all(): readonly LateRow[] {
    return this.#rows;
  }

  /** Takes the rows of these tables, none of which wait any longer. */
  takeMet(tables: readonly string[]): readonly LateRow[] {
    for (const table of tables) this.#met.add(table);
    return this.#take(({ change }) => tables.includes(change.form.table));
  }

  takeAll(): readonly LateRow[] {
    return this.#take(() => true);
  }

  /** Makes rows wait again that were undone with others, or not sent. */
  takeBack(rows: readonly LateRow[]): void {
    this.#set([...rows, ...this.#rows]);
  }

  /** Removes rows that were added. */
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
    this.#tables = new Set(rows.map(({ change }) => change.form.table));
  }
}
