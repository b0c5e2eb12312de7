/**
 * Statements that change one row each and differ only in their values, as one statement for all of these rows (D409).
 * PostgreSQL begins and ends each statement anew, which takes it longer than changing a row does.
 *
 * The values are one parameter, a JSON array of objects by column. The table's own row type says what they are, so
 * nothing here knows types.
 *
 * Owns: which statements can be joined, and their text. Does not own: when they are sent, and what is undone when they
 * fail (transaction.ts).
 *
 * - Statements of one text that follow one another are joined if no two of them change the same row: so their order
 *   does not matter.
 * - Rows that are added to one table are joined too (`joinedAdditions`), those of one key in their order. Where rows of
 *   one key are added up, their sum is one row (D382).
 * - A joined update names all columns of the key but one as parameters. Whatever plan PostgreSQL makes, it reads no
 *   more than the rows of one order.
 */
import { checkParams } from "../engine-rules.ts";
import type { SqlValue, Statement } from "../store.ts";

/** With fewer rows, one statement each is as fast. */
const joinedMin = 8;

/** Rows of one statement. The program writes their JSON, and the database's process reads it, in one step. */
const joinedMax = 250;

/** Columns that a joined update names as parameters: those of the shop and of one order. */
const sharedMin = 2;

/** Values by the place of their column. */
type Row = readonly SqlValue[];

/** Change of a statement, read from its text. */
interface Form {
  readonly table: string;
  /** Of the parameters of a row, in their order. */
  readonly columns: readonly string[];
  /**
   * Places of parameters that name the row. Null: no two statements meet the same row, or PostgreSQL refuses the
   * second.
   */
  readonly key: readonly number[] | null;
}

/** A statement that adds rows. */
interface InsertForm extends Form {
  readonly rows: number;
  /** Rows of one key are added up, column by column. */
  readonly isSum: boolean;
  /** Of all rows as JSON. */
  readonly joinedSql: string;
  /** Of one row. */
  readonly singleSql: string;
  /** See `Addition`. */
  readonly manner: string | null;
}

const insertText =
  /^\s*insert into (\w+)\s+\((\w+(?:, \w+)*)\)\s+values (\(\?(?:, \?)*\)(?:, \(\?(?:, \?)*\))*)(?:\s+(on conflict \((\w+(?:, \w+)*)\) do (?:nothing|update set\s([^?]*))))?\s*$/;

const updateText = /^\s*update (\w+) set (\w+ = \?(?:, \w+ = \?)*) where (\w+ = \?(?: and \w+ = \?)*)\s*$/;

function insertForm(sql: string): InsertForm | null {
  const [, table, names, values, onConflict = "", conflictKey, changes = ""] = insertText.exec(sql) ?? [];
  if (table === undefined || names === undefined || values === undefined) return null;
  const columns = names.split(", ");
  const rows = values.split("), (");
  if (rows.some((row) => row.split(", ").length !== columns.length)) return null;
  const keyNames = conflictKey?.split(", ") ?? null;
  const key = keyNames?.map((column) => columns.indexOf(column)) ?? null;
  if (key?.includes(-1) === true) return null;
  const sum = columns
    .filter((column) => keyNames?.includes(column) === false)
    .map((column) => `${column} = ${table}.${column} + excluded.${column}`)
    .join(", ");
  const list = columns.join(", ");
  const into = `insert into ${table} (${list})`;
  return {
    table,
    columns,
    key,
    rows: rows.length,
    isSum: sum !== "" && changes.trim() === sum,
    joinedSql: `${into} select ${list} from json_populate_recordset(null::${table}, ?) ${onConflict}`,
    singleSql: `${into} values (${columns.map(() => "?").join(", ")}) ${onConflict}`,
    manner: /\bselect\b/i.test(onConflict) ? null : `${into} ${onConflict}`,
  };
}

function updateForm(sql: string): Form | null {
  const [, table, sets, conditions] = updateText.exec(sql) ?? [];
  if (table === undefined || sets === undefined || conditions === undefined) return null;
  const nameOf = (each: string): string => each.slice(0, -" = ?".length);
  const changed = sets.split(", ").map(nameOf);
  const columns = [...changed, ...conditions.split(" and ").map(nameOf)];
  if (new Set(columns).size < columns.length) return null;
  return { table, columns, key: columns.map((_, place) => place).slice(changed.length) };
}

/** Of each text, how it adds or changes rows; null: neither can be joined. */
const forms = new Map<string, { readonly insert: InsertForm | null; readonly update: Form | null }>();

/** Texts of the program are few; those of lists vary a little. */
const formsMax = 4_000;

function formsOf(sql: string): { readonly insert: InsertForm | null; readonly update: Form | null } {
  const found = forms.get(sql);
  if (found !== undefined) return found;
  const made = { insert: insertForm(sql), update: updateForm(sql) };
  if (forms.size < formsMax) forms.set(sql, made);
  return made;
}

/** Returns the key of a row among those of its table. */
const keyOf = (row: Row, key: readonly number[]): string => JSON.stringify(key.map((place) => row[place]));

/** No two rows have the same values in these places. */
const areDistinct = (rows: readonly Row[], key: readonly number[]): boolean =>
  new Set(rows.map((row) => keyOf(row, key))).size === rows.length;

/** Parts of JSON that PostgreSQL refuses: U+0000, and halves of a character. */
const refusedInJson = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/;

/**
 * The rows as JSON: of the columns with these places. It is put together as text: objects with many members of which
 * some are absent take several times as long. Null: a value cannot be in JSON as it is.
 */
function jsonOf(rows: readonly Row[], { columns }: Form, places: readonly number[]): string | null {
  const texts: string[] = [];
  for (const row of rows) {
    let text = "";
    for (const place of places) {
      const value = row[place] ?? null;
      // What is absent is null.
      if (value !== null) text += `${text === "" ? "" : ","}"${columns[place] ?? ""}":${JSON.stringify(value)}`;
    }
    texts.push(`{${text}}`);
  }
  const json = `[${texts.join(",")}]`;
  return refusedInJson.test(json) ? null : json;
}

function joinedInsert(rows: readonly Row[], form: InsertForm): Statement | null {
  if (form.key !== null && !areDistinct(rows, form.key)) return null;
  const json = jsonOf(rows, form, [...form.columns.keys()]);
  return json === null ? null : { sql: form.joinedSql, params: [json] };
}

/** Null: the statements share too little of their key. */
function joinedUpdate(rows: readonly Row[], form: Form): Statement | null {
  const [first] = rows;
  const key = form.key ?? [];
  if (!areDistinct(rows, key)) return null;
  const shared = key.filter((place) => rows.every((row) => row[place] === first?.[place]));
  const [own, ...more] = key.filter((place) => !shared.includes(place));
  if (first === undefined || own === undefined || more.length > 0 || shared.length < sharedMin) return null;
  const nameOf = (place: number): string => form.columns[place] ?? "";
  const changed = [...form.columns.keys()].filter((place) => !key.includes(place));
  const json = jsonOf(rows, form, [...changed, own]);
  if (json === null) return null;
  return {
    sql: `update ${form.table} as stored set ${changed.map((place) => `${nameOf(place)} = changed.${nameOf(place)}`).join(", ")}
      from json_populate_recordset(null::${form.table}, ?) as changed
      where ${shared.map((place) => `stored.${nameOf(place)} = ?`).join(" and ")} and stored.${nameOf(own)} = changed.${nameOf(own)}`,
    params: [json, ...shared.map((place) => first[place] ?? null)],
  };
}

/** The rows of statements of this form. Null: one of them is refused, so it must be sent as it is. */
function rowsOf(run: readonly Statement[], { columns }: Form): readonly Row[] | null {
  const rows: Row[] = [];
  for (const { params } of run) {
    if (params.length === 0 || params.length % columns.length !== 0) return null;
    checkParams(params);
    for (let start = 0; start < params.length; start += columns.length)
      rows.push(params.length === columns.length ? params : params.slice(start, start + columns.length));
  }
  return rows;
}

/** The statement that does what all of these do; null when there is none. They have the same text. */
function joined(run: readonly Statement[], sql: string): Statement | null {
  const { insert, update } = formsOf(sql);
  const form = insert ?? update;
  const rows = form === null ? null : rowsOf(run, form);
  if (form === null || rows === null || rows.length !== run.length) return null;
  return insert === null ? joinedUpdate(rows, form) : joinedInsert(rows, insert);
}

/** The same changes in fewer statements. */
export function withJoinedRows(statements: readonly Statement[]): readonly Statement[] {
  if (statements.length < joinedMin) return statements;
  const made: Statement[] = [];
  for (let start = 0; start < statements.length;) {
    const sql = statements[start]?.sql ?? "";
    let end = start + 1;
    while (end < statements.length && end - start < joinedMax && statements[end]?.sql === sql) end += 1;
    const run = statements.slice(start, end);
    const one = run.length < joinedMin ? null : joined(run, sql);
    if (one === null) made.push(...run);
    else made.push(one);
    start = end;
  }
  return made;
}

/** Rows that a statement adds if it does nothing else, whatever other tables hold. */
export interface Addition {
  readonly table: string;
  readonly rows: number;
  /** Two statements with the same one can be joined. */
  readonly manner: string;
}

/** Null: the statement does something else. @throws TypeError for a value that may not be bound. */
export function additionOf({ sql, params }: Statement): Addition | null {
  const form = formsOf(sql).insert;
  if (form === null || form.manner === null || params.length !== form.rows * form.columns.length) return null;
  checkParams(params);
  return { table: form.table, rows: form.rows, manner: form.manner };
}

/** Rows of one key as one. Null: what is to be added up is no number that is exact. */
function summed(rows: readonly Row[], { columns, key }: InsertForm): readonly Row[] | null {
  const places = [...columns.keys()].filter((place) => key?.includes(place) !== true);
  const sums = new Map<string, SqlValue[]>();
  for (const row of rows) {
    const name = keyOf(row, key ?? []);
    const sum = sums.get(name);
    for (const place of places) {
      const [value, before] = [row[place], sum?.[place] ?? 0];
      if (typeof value !== "number" || typeof before !== "number" || !Number.isSafeInteger(value + before)) return null;
      if (sum !== undefined) sum[place] = value + before;
    }
    if (sum === undefined) sums.set(name, [...row]);
  }
  return [...sums.values()];
}

/** Rows that one statement can add: neighbours, none of which meets another one's row. */
function* runsOf(rows: readonly Row[], key: readonly number[] | null): Generator<readonly Row[]> {
  let run: Row[] = [];
  const names = new Set<string>();
  for (const row of rows) {
    const name = key === null ? "" : keyOf(row, key);
    if (run.length === joinedMax || (key !== null && names.has(name))) {
      yield run;
      run = [];
      names.clear();
    }
    run.push(row);
    names.add(name);
  }
  if (run.length > 0) yield run;
}

/** Returns fewer statements with the effect of these. They add rows in the same manner (`additionOf`). */
export function joinedAdditions(statements: readonly Statement[]): readonly Statement[] {
  const form = formsOf(statements[0]?.sql ?? "").insert;
  const given = form === null ? null : rowsOf(statements, form);
  if (form === null || given === null) return statements;
  const rows = (form.isSum ? summed(given, form) : null) ?? given;
  if (rows.length < joinedMin && rows.length >= statements.length) return statements;
  const single = (row: Row): Statement => ({ sql: form.singleSql, params: row });
  return [...runsOf(rows, form.key)].flatMap((run) => {
    const one = run.length < joinedMin ? null : joinedInsert(run, form);
    return one === null ? run.map(single) : [one];
  });
}
