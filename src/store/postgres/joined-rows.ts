/**
 * Statements that change one row each and differ only in their values, as one statement for all of these rows (D409). PostgreSQL begins and
 * ends each statement anew, which takes it longer than changing a row does.
 *
 * The values are one parameter, a JSON array of objects by column. The table's own row type says what they are, so nothing here knows types.
 *
 * Owns: which statements can be joined, and their text. Does not own: when they are sent, and what is undone when they fail (transaction.ts).
 *
 * - Only statements that follow one another are joined, and only if no two of them change the same row: so their order does not matter.
 * - A joined update names all columns of the key but one as parameters. Whatever plan PostgreSQL makes, it reads no more than the rows of
 *   one order.
 */
import { checkParams } from "../engine-rules.ts";
import type { SqlValue, Statement } from "../store.ts";

/** With fewer rows, one statement each is as fast. */
const joinedMin = 8;

/** Rows of one statement. The program writes their JSON, and the database's process reads it, in one step. */
const joinedMax = 250;

/** Columns that a joined update names as parameters: those of the shop and of one order. */
const sharedMin = 2;

/** What a statement changes, read from its text. */
interface Form {
  readonly table: string;
  /** Of the parameters, in their order. */
  readonly columns: readonly string[];
  /** Places of parameters that name the row. Null: no two statements meet the same row, or PostgreSQL refuses the second. */
  readonly key: readonly number[] | null;
  /** Of an insert, what follows the values. Null: it is an update. */
  readonly onConflict: string | null;
}

const insertText =
  /^\s*insert into (\w+)\s+\((\w+(?:, \w+)*)\)\s+values \((\?(?:, \?)*)\)(?:\s+(on conflict \((\w+(?:, \w+)*)\) do (?:nothing|update set\s[^?]*)))?\s*$/;

const updateText = /^\s*update (\w+) set (\w+ = \?(?:, \w+ = \?)*) where (\w+ = \?(?: and \w+ = \?)*)\s*$/;

function insertForm(sql: string): Form | null {
  const [, table, names, values, onConflict = "", conflictKey] = insertText.exec(sql) ?? [];
  if (table === undefined || names === undefined || values === undefined) return null;
  const columns = names.split(", ");
  if (values.split(", ").length !== columns.length) return null;
  const key = conflictKey?.split(", ").map((column) => columns.indexOf(column)) ?? null;
  return key?.includes(-1) === true ? null : { table, columns, key, onConflict };
}

function updateForm(sql: string): Form | null {
  const [, table, sets, conditions] = updateText.exec(sql) ?? [];
  if (table === undefined || sets === undefined || conditions === undefined) return null;
  const nameOf = (each: string): string => each.slice(0, -" = ?".length);
  const changed = sets.split(", ").map(nameOf);
  const columns = [...changed, ...conditions.split(" and ").map(nameOf)];
  if (new Set(columns).size < columns.length) return null;
  return { table, columns, key: columns.map((_, place) => place).slice(changed.length), onConflict: null };
}

const forms = new Map<string, Form | null>();

/** Texts of the program are few; those of lists vary a little. */
const formsMax = 4_000;

function formOf(sql: string): Form | null {
  const found = forms.get(sql);
  if (found !== undefined) return found;
  const form = insertForm(sql) ?? updateForm(sql);
  if (forms.size < formsMax) forms.set(sql, form);
  return form;
}

/** No two statements have the same values in these places. */
const areDistinct = (run: readonly Statement[], key: readonly number[]): boolean =>
  new Set(run.map(({ params }) => JSON.stringify(key.map((place) => params[place])))).size === run.length;

/** What PostgreSQL refuses in JSON: U+0000, and halves of a character. */
const refusedInJson = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** The rows as JSON: of the columns with these places. Null: a value cannot be in JSON as it is. */
function rowsOf(run: readonly Statement[], { columns }: Form, places: readonly number[]): string | null {
  const rows = run.map(({ params }) => {
    const row: Record<string, SqlValue> = {};
    for (const place of places) row[columns[place] ?? ""] = params[place] ?? null;
    return row;
  });
  const text = JSON.stringify(rows);
  return refusedInJson.test(text) ? null : text;
}

function joinedInsert(run: readonly Statement[], form: Form): Statement | null {
  const names = form.columns.join(", ");
  const rows = rowsOf(run, form, [...form.columns.keys()]);
  if (rows === null) return null;
  return {
    sql: `insert into ${form.table} (${names})
      select ${names} from json_populate_recordset(null::${form.table}, ?) ${form.onConflict ?? ""}`,
    params: [rows],
  };
}

/** Null: the statements share too little of their key. */
function joinedUpdate(run: readonly Statement[], form: Form, key: readonly number[]): Statement | null {
  const [first] = run;
  const shared = key.filter((place) => run.every(({ params }) => params[place] === first?.params[place]));
  const [own, ...more] = key.filter((place) => !shared.includes(place));
  if (first === undefined || own === undefined || more.length > 0 || shared.length < sharedMin) return null;
  const nameOf = (place: number): string => form.columns[place] ?? "";
  const changed = [...form.columns.keys()].filter((place) => !key.includes(place));
  const rows = rowsOf(run, form, [...changed, own]);
  if (rows === null) return null;
  return {
    sql: `update ${form.table} as stored set ${changed.map((place) => `${nameOf(place)} = changed.${nameOf(place)}`).join(", ")}
      from json_populate_recordset(null::${form.table}, ?) as changed
      where ${shared.map((place) => `stored.${nameOf(place)} = ?`).join(" and ")} and stored.${nameOf(own)} = changed.${nameOf(own)}`,
    params: [rows, ...shared.map((place) => first.params[place] ?? null)],
  };
}

/** The statement that does what all of these do; null when there is none. They have the same text. */
function joined(run: readonly Statement[], form: Form): Statement | null {
  if (form.key !== null && !areDistinct(run, form.key)) return null;
  for (const { params } of run) {
    // Where a single statement is refused, so are several.
    if (params.length !== form.columns.length) return null;
    checkParams(params);
  }
  return form.onConflict === null && form.key !== null ? joinedUpdate(run, form, form.key) : joinedInsert(run, form);
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
    const form = run.length < joinedMin ? null : formOf(sql);
    const one = form === null ? null : joined(run, form);
    if (one === null) made.push(...run);
    else made.push(one);
    start = end;
  }
  return made;
}
