/**
 * Which rows a read has seen, whether they have changed since, and whether they are on disk (D111).
 *
 * Owns: what a statement reads and changes, found from sqlite's own account of it (its authorizer) and from its text; counts of changes.
 * Does not own: statements and syncs (file.ts), what is remembered (operations/memory.ts).
 *
 * Invariants:
 * - W6. A `SeenRows` that stands has seen the state that is committed now. Every statement that may have changed a row which it has seen
 *       makes it fall, at once and also if the change is rolled back, whoever runs the statement. So nobody has to remember what to forget. A
 *       statement whose rows are not known from its text counts as changing, or reading, the whole table. The same holds of what another
 *       connection has read: it saw what was committed when it began, or later, and no row of that has changed since (`isAsAt`).
 * - W7. Rows that were seen are durable as soon as the commit `due` is synced: no later one has touched them.
 */
import type { SqlValue } from "../store.ts";

/** What one statement reads or changes. */
export interface Scope {
  /** Tables (which rows there are) and `table.column` (their values), as far as they are not confined to a part. */
  readonly names: readonly string[];
  /** Rows of these tables that belong to one part, named by this parameter; null when the statement is not confined to a part. */
  readonly part: { readonly tables: readonly string[]; readonly parameter: number } | null;
}

/** Accesses that sqlite has reported of a statement. */
export interface Accesses {
  /** By table, the columns that are read. */
  readonly read: Map<string, Set<string>>;
  /** `table` for inserted and deleted rows, `table.column` for updated ones. */
  readonly changed: Set<string>;
}

export const newAccesses = (): Accesses => ({ read: new Map(), changed: new Set() });

/** How often rows have changed. */
interface Cell {
  changes: number;
  /** The last of all changes of the file that was one of these; the last one before they were counted if there was none. */
  changedAt: number;
}

/** Changes of a part, and where they are counted. */
interface PartCell extends Cell {
  readonly watch: RowWatch;
  readonly key: string;
}

/** Parts whose changes are counted, of all files that share this: some 200 bytes each. */
const partsWatchedMax = 20_000;

/** The parts that files watch, the one that was seen first first. A part that is dropped counts as changed. */
export class WatchedParts {
  readonly #max: number;
  readonly #cells = new Set<PartCell>();

  constructor(max = partsWatchedMax) {
    this.#max = max;
  }

  add(cell: PartCell): void {
    this.#cells.add(cell);
    const [oldest] = this.#cells;
    if (oldest === undefined || this.#cells.size <= this.#max) return;
    this.#cells.delete(oldest);
    oldest.watch.drop(oldest.key);
    oldest.changes += 1;
  }

  delete(cell: PartCell): void {
    this.#cells.delete(cell);
  }
}

const keyOfPart = (value: SqlValue | undefined): string => `part ${String(value)}`;

/** Rows that a read has seen. */
export class SeenRows {
  readonly #watch: RowWatch;
  readonly #keys: string[] = [];
  readonly #cells: Cell[] = [];
  readonly #changes: number[] = [];

  constructor(watch: RowWatch) {
    this.#watch = watch;
    this.#see(watch.end);
  }

  #see(cell: Cell): void {
    this.#cells.push(cell);
    this.#changes.push(cell.changes);
  }

  #seeKey(key: string): void {
    this.#keys.push(key);
    this.#see(this.#watch.cell(key));
  }

  add({ names, part }: Scope, params: readonly SqlValue[]): void {
    for (const name of names) this.#seeKey(name);
    if (part === null) return;
    const key = keyOfPart(params[part.parameter]);
    this.#keys.push(key);
    this.#see(this.#watch.part(key));
    for (const table of part.tables) this.#seeKey(`${table} at large`);
  }

  get isEmpty(): boolean {
    return this.#cells.length === 1;
  }

  /** No row of them has changed. */
  stands(): boolean {
    return this.#cells.every((cell, index) => cell.changes === this.#changes[index]);
  }

  /** No row of them has changed after this one of all changes of the file. */
  isAsAt(change: number): boolean {
    return this.#cells.every((cell) => cell.changedAt <= change);
  }

  /** The commit that must be synced for all of them to be durable; 0: they are. */
  get due(): number {
    return this.#keys.reduce((latest, key) => Math.max(latest, this.#watch.unsynced(key)), 0);
  }
}

/** Counts the changes of one open file. */
export class RowWatch {
  readonly #cells = new Map<string, Cell>();
  readonly #parts = new Map<string, PartCell>();
  readonly #watched: WatchedParts;
  /** Changed since the last commit. */
  readonly #uncommitted = new Set<string>();
  /** Changed by a commit that is not synced yet: the number of the latest. */
  readonly #unsynced = new Map<string, number>();
  /** All changes so far. */
  #changes = 0;
  #committedChanges = 0;
  /** Changes when the file is closed: from then on another connection may change it. */
  readonly end: Cell = { changes: 0, changedAt: 0 };

  /** @param watched the parts of all files. */
  constructor(watched: WatchedParts) {
    this.#watched = watched;
  }

  /** The file is closed. */
  close(): void {
    this.end.changes += 1;
    for (const cell of this.#parts.values()) this.#watched.delete(cell);
    this.#parts.clear();
  }

  cell(name: string): Cell {
    const cell = this.#cells.get(name) ?? { changes: 0, changedAt: this.#changes };
    this.#cells.set(name, cell);
    return cell;
  }

  part(key: string): Cell {
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const cell: PartCell = { changes: 0, changedAt: this.#changes, watch: this, key };
    this.#parts.set(key, cell);
    this.#watched.add(cell);
    return cell;
  }

  /** Forgets a part whose changes are counted no more. */
  drop(key: string): void {
    this.#parts.delete(key);
  }

  /** A statement has changed something. */
  changed({ names, part }: Scope, params: readonly SqlValue[]): void {
    for (const name of names) this.#change(name, this.#cells.get(name));
    if (part === null) return;
    const key = keyOfPart(params[part.parameter]);
    this.#change(key, this.#parts.get(key));
  }

  #change(key: string, cell: Cell | undefined): void {
    this.#uncommitted.add(key);
    this.#changes += 1;
    if (cell === undefined) return;
    cell.changes += 1;
    cell.changedAt = this.#changes;
  }

  /** The last of all changes that whoever begins to read now is sure to see. */
  get committedChange(): number {
    return this.#committedChanges;
  }

  /** @param due the commit's number; null when no answer depends on it. */
  committed(due: number | null): void {
    if (due !== null) for (const key of this.#uncommitted) this.#unsynced.set(key, due);
    this.#uncommitted.clear();
    this.#committedChanges = this.#changes;
  }

  /** Every commit up to this one is on disk. */
  synced(due: number): void {
    for (const [key, latest] of this.#unsynced) if (latest <= due) this.#unsynced.delete(key);
  }

  /** The commit that must be synced for these rows to be durable; 0: they are. */
  unsynced(key: string): number {
    return this.#unsynced.get(key) ?? 0;
  }
}

/** Accesses of a statement that reads. */
export function readScope(sql: string, { read }: Accesses, partColumn: string | null): Scope {
  const part = partColumn === null ? null : readPart(sql, partColumn);
  const names = [...read].flatMap(([table, columns]) =>
    table === part?.table ? [] : [table, ...[...columns].map((column) => `${table}.${column}`)],
  );
  return { names, part: part === null ? null : { tables: [part.table], parameter: part.parameter } };
}

/** Accesses of a statement that changes something. */
export function changeScope(sql: string, { changed }: Accesses, partColumn: string | null): Scope {
  const tables = new Set([...changed].map((name) => name.split(".", 1)[0] ?? name));
  const part = partColumn === null ? null : changedPart(sql, partColumn);
  // Who reads a whole table is concerned by every change, who reads a part only by those of that part and by those of unknown parts.
  const confined = part !== null && tables.size === 1 && tables.has(part.table);
  const atLarge = confined ? [] : [...tables].map((table) => `${table} at large`);
  return {
    names: [...changed, ...atLarge],
    part: confined ? { tables: [...tables], parameter: part.parameter } : null,
  };
}

interface Part {
  readonly table: string;
  readonly parameter: number;
}

const parametersIn = (sql: string): number => sql.split("?").length - 1;

/** The part that a plain select of one table's rows, with names from other tables at most, is confined to. */
function readPart(text: string, column: string): Part | null {
  const sql = text.replaceAll(/\s+/g, " ").toLowerCase();
  if (/ or | union | intersect | except |\(select /.test(sql)) return null;
  const found = new RegExp(
    `^ ?select .* from (\\w+)(?: (?!where|left|join|cross)(\\w+))?(?: left join .*)? where (?:(\\w+)\\.)?shop_id = \\? and (?:(\\w+)\\.)?${column} = \\?`,
  ).exec(sql);
  if (found === null) return null;
  const [upTo, table = "", alias, first, second] = found;
  if (first !== second || (first !== undefined && first !== alias && first !== table)) return null;
  if (sql.split(" where ").length !== 2 || sql.split(new RegExp(`\\b${table}\\b`)).length !== 2) return null;
  return { table, parameter: parametersIn(upTo) - 1 };
}

/** The part that an insert of one row, an update or a deletion is confined to. */
function changedPart(text: string, column: string): Part | null {
  const sql = text.replaceAll(/\s+/g, " ").toLowerCase().trim();
  const inserted = new RegExp(
    `^insert into (\\w+) \\(shop_id, ${column}[,)][^()]*\\)? ?values \\(\\?, \\?[^()]*\\)(?! ?,)`,
  ).exec(sql);
  // An upsert, or an update that moves a row, may concern another part as well.
  if (inserted !== null) return sql.includes(" on conflict ") ? null : { table: inserted[1] ?? "", parameter: 1 };
  if (/ or |\(select /.test(sql) || sql.split(" where ").length !== 2 || sql.split(column).length !== 2) return null;
  const found = new RegExp(`^(?:update|delete from) (\\w+)(?: set .*)? where shop_id = \\? and ${column} = \\?`).exec(
    sql,
  );
  return found === null ? null : { table: found[1] ?? "", parameter: parametersIn(found[0]) - 1 };
}
