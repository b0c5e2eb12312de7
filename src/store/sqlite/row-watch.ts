/**
 * Which rows a read has seen, whether they have changed since, and whether they are on disk (D111).
 *
 * Owns: accesses of a statement, by sqlite's own account (its authorizer), the form of a change and the text of a read;
 * counts of changes. Does not own: statements and syncs (file.ts), what is remembered
 * (requests/remembered/remembered-reads.ts).
 *
 * Invariants:
 * - W6. A `SeenRows` that stands has seen the state that is committed now. Every statement that may have changed a row
 *       which it has seen makes it fall at once, whoever runs the statement. It falls also if the change is rolled
 *       back. So nobody has to remember what to forget. A statement whose rows are not known counts as changing, or
 *       reading, the whole table. The same holds of reads of another connection. They saw what was committed when they
 *       began, or later, and no row of that has changed since (`isAsAt`). Footprints stand while the file is closed:
 *       nobody else opens it (directory-lock.ts). This process opens it to read, or with the same watch.
 * - W7. Rows that were seen are durable as soon as the commit `due` is synced: no later one has touched them.
 */
import type { Form } from "../change.ts";
import type { SqlValue } from "../store.ts";

/** Orders, of all shops, of which it is known whether they have changed, each by itself: some 200 bytes each. */
export const slicesWatchedMax = 131_072;

/** Rows that one statement reads or changes. */
export interface Scope {
  /** Tables (which rows there are) and `table.column` (their values), as far as they are not confined to a part. */
  readonly names: readonly string[];
  /**
   * Rows of these tables that belong to one part, named by this parameter; null when the statement is not confined to a
   * part.
   */
  readonly slice: { readonly tables: readonly string[]; readonly parameter: number } | null;
}

/** Accesses that sqlite has reported of a statement. */
export interface Accesses {
  /** By table, the columns that are read. */
  readonly read: Map<string, Set<string>>;
  /** `table` for inserted and deleted rows, `table.column` for updated ones. */
  readonly changed: Set<string>;
}

export const newAccesses = (): Accesses => ({ read: new Map(), changed: new Set() });

/** When rows have changed. */
interface Cell {
  readonly key: string;
  /**
   * The last of all changes of the file that was one of these; the last one before they were watched if there was none.
   */
  changedAt: number;
}

/** When a part has changed, and which watch knows it. */
interface SliceCell extends Cell {
  readonly watch: RowWatch;
}

/** The parts that files watch, the one that was seen first first. A part that is dropped counts as changed. */
export class WatchedSlices {
  readonly #max: number;
  readonly #cells = new Set<SliceCell>();

  /** @param max  default: `slicesWatchedMax`. */
  constructor(max = slicesWatchedMax) {
    this.#max = max;
  }

  add(cell: SliceCell): void {
    this.#cells.add(cell);
    const [oldest] = this.#cells;
    if (oldest === undefined || this.#cells.size <= this.#max) return;
    this.#cells.delete(oldest);
    oldest.watch.drop(oldest.key);
    oldest.changedAt = Infinity;
  }

  delete(cell: SliceCell): void {
    this.#cells.delete(cell);
  }
}

const keyOfSlice = (value: SqlValue | undefined): string => `part ${String(value)}`;

/** An array that has no room for more, since many are kept: `[...before, one]` leaves room for 16. */
const withOne = <T>(before: readonly T[], one: T): readonly T[] => before.toSpliced(before.length, 0, one);

/**
 * Rows that a read has seen. Many thousands are kept, so cells that several share are kept once (`cellsOf`,
 * `listWith`).
 */
export class SeenRows {
  readonly #watch: RowWatch;
  /** The last of all changes of the file when the read began. */
  readonly #at: number;
  #cells: readonly (readonly Cell[])[] = [];
  #parts: readonly Cell[] = [];

  constructor(watch: RowWatch) {
    this.#watch = watch;
    this.#at = watch.changes;
  }

  add(scope: Scope, params: readonly SqlValue[]): void {
    const cells = this.#watch.cellsOf(scope);
    if (!this.#cells.includes(cells)) this.#cells = this.#watch.listWith(this.#cells, cells);
    if (scope.slice === null) return;
    const slice = this.#watch.slice(keyOfSlice(params[scope.slice.parameter]));
    if (!this.#parts.includes(slice)) this.#parts = withOne(this.#parts, slice);
  }

  get isEmpty(): boolean {
    return this.#cells.length === 0;
  }

  /** No row of them has changed. */
  stands(): boolean {
    return this.isAsAt(this.#at);
  }

  /** No row of them has changed after this one of all changes of the file. */
  isAsAt(change: number): boolean {
    const isAsBefore = (cell: Cell): boolean => cell.changedAt <= change;
    return (
      isAsBefore(this.#watch.end) &&
      this.#parts.every(isAsBefore) &&
      this.#cells.every((cells) => cells.every(isAsBefore))
    );
  }

  /** The commit that must be synced for all of them to be durable; 0: they are. */
  get due(): number {
    return [this.#parts, ...this.#cells]
      .flat()
      .reduce((latest, { key }) => Math.max(latest, this.#watch.unsynced(key)), 0);
  }
}

let names = 0;

/** A name that no other file has, nor the same one before. */
function nextName(): string {
  names += 1;
  return `${names} `;
}

/** Counts the changes of one shop's file, also while that is closed: nobody else opens it. */
export class RowWatch {
  readonly #cells = new Map<string, Cell>();
  readonly #cellsOf = new WeakMap<Scope, readonly Cell[]>();
  /** By how many came before: the list that was made last. */
  readonly #lists: (readonly (readonly Cell[])[])[] = [];
  readonly #parts = new Map<string, SliceCell>();
  readonly #watched: WatchedSlices;
  /** Changed since the last commit. */
  readonly #uncommitted = new Set<string>();
  /** Changed by a commit that is not synced yet: the number of the latest. */
  readonly #unsynced = new Map<string, number>();
  /** All changes so far. */
  #changes = 0;
  #committedChanges = 0;
  /** Changes when what was seen of the file counts no more. */
  readonly end: Cell = { key: "end", changedAt: 0 };

  /** Prefix of the keys of the file's remembered values. */
  #name = nextName();

  /** @param watched the parts of all files. */
  constructor(watched: WatchedSlices) {
    this.#watched = watched;
  }

  get name(): string {
    return this.#name;
  }

  /** The file is about to be closed, and every commit on which an answer depends is on disk. What was seen stands. */
  rest(): void {
    this.#uncommitted.clear();
    this.#unsynced.clear();
  }

  /** Forgets what was made of rows, some of which were rolled back. */
  forgetMade(): void {
    this.#name = nextName();
  }

  /**
   * The file has failed or is gone, or is watched no more: what was seen of it counts no more. What is to be synced
   * still is.
   */
  forget(): void {
    this.forgetMade();
    this.#changes += 1;
    this.end.changedAt = this.#changes;
    this.#committedChanges = this.#changes;
    for (const cell of this.#parts.values()) this.#watched.delete(cell);
    this.#parts.clear();
  }

  /** The last of all changes so far, committed or not. */
  get changes(): number {
    return this.#changes;
  }

  /** Of what is not confined to a part, and of changes whose part is not known. The same array each time. */
  cellsOf(scope: Scope): readonly Cell[] {
    const known = this.#cellsOf.get(scope);
    if (known !== undefined) return known;
    const atLarge = scope.slice?.tables.map((table) => `${table} at large`) ?? [];
    const cells = [...scope.names, ...atLarge].map((key) => this.#cell(key));
    this.#cellsOf.set(scope, cells);
    return cells;
  }

  /** The list with these cells; the one that was made last if that has the same, as after a read of the same kind. */
  listWith(before: readonly (readonly Cell[])[], cells: readonly Cell[]): readonly (readonly Cell[])[] {
    const latest = this.#lists[before.length];
    if (latest?.at(-1) === cells && before.every((each, index) => each === latest[index])) return latest;
    const list = withOne(before, cells);
    this.#lists[before.length] = list;
    return list;
  }

  #cell(key: string): Cell {
    const cell = this.#cells.get(key) ?? { key, changedAt: this.#changes };
    this.#cells.set(key, cell);
    return cell;
  }

  slice(key: string): Cell {
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const cell: SliceCell = { key, changedAt: this.#changes, watch: this };
    this.#parts.set(key, cell);
    this.#watched.add(cell);
    return cell;
  }

  /** Forgets a part whose changes are counted no more. */
  drop(key: string): void {
    this.#parts.delete(key);
  }

  /** A statement has changed something. */
  changed({ names, slice }: Scope, params: readonly SqlValue[]): void {
    for (const name of names) this.#change(name, this.#cells.get(name));
    if (slice === null) return;
    const key = keyOfSlice(params[slice.parameter]);
    this.#change(key, this.#parts.get(key));
  }

  #change(key: string, cell: Cell | undefined): void {
    this.#uncommitted.add(key);
    this.#changes += 1;
    if (cell !== undefined) cell.changedAt = this.#changes;
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
export function readScope(sql: string, { read }: Accesses, sliceColumn: string | null): Scope {
  const slice = sliceColumn === null ? null : readSlice(sql, sliceColumn);
  const names = [...read].flatMap(([table, columns]) =>
    table === slice?.table ? [] : [table, ...[...columns].map((column) => `${table}.${column}`)],
  );
  return { names, slice: slice === null ? null : { tables: [slice.table], parameter: slice.parameter } };
}

/** Accesses of a statement that changes something. */
export function changeScope(form: Form | null, { changed }: Accesses, sliceColumn: string | null): Scope {
  const tables = new Set([...changed].map((name) => name.split(".", 1)[0] ?? name));
  const parameter = sliceColumn === null ? undefined : form?.confinedBy.get(sliceColumn);
  const slice = form === null || parameter === undefined ? null : { table: form.table, parameter };
  // Who reads a whole table is concerned by every change, who reads a part only by those of that part and by those of
  // unknown parts.
  const confined = slice !== null && tables.size === 1 && tables.has(slice.table);
  const atLarge = confined ? [] : [...tables].map((table) => `${table} at large`);
  return {
    names: [...changed, ...atLarge],
    slice: confined ? { tables: [...tables], parameter: slice.parameter } : null,
  };
}

interface Slice {
  readonly table: string;
  readonly parameter: number;
}

const parametersIn = (sql: string): number => sql.split("?").length - 1;

/** The part that a plain select of one table's rows, with names from other tables at most, is confined to. */
function readSlice(text: string, column: string): Slice | null {
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
