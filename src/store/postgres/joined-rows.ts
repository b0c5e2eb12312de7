/**
 * Statements that change one row each and differ only in their values, as one statement for all of these rows (D382).
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
import { type Change, type Form, isChange } from "../change.ts";
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

/** Facts about a form whose changes can be joined. */
interface Joinable {
  /** Places of the columns that name a row. Null: no two inserts meet, or PostgreSQL refuses the second. */
  readonly key: readonly number[] | null;
  /** The insert of all rows, which are its one parameter as JSON; of an update empty. */
  readonly intoJson: string;
}

const known = new WeakMap<Form, Joinable>();

/** A form of plain values, whose rows can be joined. Null: not this one. */
function joinableOf(form: Form): Joinable | null {
  if (!form.isPlain || form.kind === "delete" || form.kind === "text") return null;
  const found = known.get(form);
  if (found !== undefined) return found;
  const { table, columns, conflict, confinedBy, sql } = form;
  const list = columns.join(", ");
  const onConflict = sql.indexOf(" on conflict ");
  const made =
    form.kind === "update"
      ? { key: [...confinedBy.values()], intoJson: "" }
      : {
          key: conflict.on === "fail" ? null : conflict.key.map((column) => columns.indexOf(column)),
          intoJson: `insert into ${table} (${list}) select ${list} from json_populate_recordset(null::${table}, ?)${onConflict === -1 ? "" : sql.slice(onConflict)}`,
        };
  known.set(form, made);
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

function joinedInsert(rows: readonly Row[], form: Form): Statement | null {
  const joinable = joinableOf(form);
  if (joinable === null || (joinable.key !== null && !areDistinct(rows, joinable.key))) return null;
  const json = jsonOf(rows, form, [...form.columns.keys()]);
  return json === null ? null : { sql: joinable.intoJson, params: [json] };
}

/** Null: the changes share too little of their key. */
function joinedUpdate(rows: readonly Row[], form: Form): Statement | null {
  const [first] = rows;
  const key = joinableOf(form)?.key ?? [];
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

/** The changes of one form from here on, at most `joinedMax`; none where a text stands. */
function runFrom(statements: readonly Statement[], start: number): readonly Change[] {
  const run: Change[] = [];
  for (const each of statements.slice(start, start + joinedMax)) {
    if (!isChange(each) || (run[0] ?? each).form !== each.form) break;
    run.push(each);
  }
  return run;
}

/** The statement that does what all of these changes do; null when there is none. They have one form. */
function joined(changes: readonly Change[]): Statement | null {
  const form = changes[0]?.form;
  if (form === undefined || joinableOf(form) === null) return null;
  const rows = changes.map(({ params }) => params);
  for (const row of rows) checkParams(row);
  return form.kind === "update" ? joinedUpdate(rows, form) : joinedInsert(rows, form);
}

/** The same changes in fewer statements. */
export function withJoinedRows(statements: readonly Statement[]): readonly Statement[] {
  if (statements.length < joinedMin) return statements;
  const made: Statement[] = [];
  for (let start = 0; start < statements.length;) {
    const run = runFrom(statements, start);
    const one = run.length < joinedMin ? null : joined(run);
    if (one === null) made.push(...statements.slice(start, start + Math.max(1, run.length)));
    else made.push(one);
    start += Math.max(1, run.length);
  }
  return made;
}

/** True if the statement adds a row and does nothing else. */
export const isAddition = (statement: Statement): statement is Change =>
  isChange(statement) && statement.form.kind === "insert";

/** Rows of one key as one. Null: what is to be added up is no number that is exact. */
function summed(rows: readonly Row[], { columns }: Form, key: readonly number[]): readonly Row[] | null {
  const places = [...columns.keys()].filter((place) => !key.includes(place));
  const sums = new Map<string, SqlValue[]>();
  for (const row of rows) {
    const name = keyOf(row, key);
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

/** Returns fewer statements with the effect of these, which add rows and have one form. */
export function joinedAdditions(changes: readonly Change[]): readonly Statement[] {
  const form = changes[0]?.form;
  if (form === undefined) return changes;
  const key = joinableOf(form)?.key ?? null;
  const given = changes.map(({ params }) => params);
  const rows = (form.conflict.on === "add" && key !== null ? summed(given, form, key) : null) ?? given;
  if (rows.length < joinedMin && rows.length >= changes.length) return changes;
  const single = (row: Row): Statement => ({ sql: form.sql, params: row });
  return [...runsOf(rows, key)].flatMap((run) => {
    const one = run.length < joinedMin ? null : joinedInsert(run, form);
    return one === null ? run.map(single) : [one];
  });
}
