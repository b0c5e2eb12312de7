/**
 * A change of rows as a value: which table, which rows, which columns. Who must know what a write touches asks the
 * value; nobody reads its text.
 *
 * Owns: the values and the one place where they become SQL (architecture, "One SQL text: rules"). Does not own: the
 * tables (shop), when a change is sent and what is joined with it (engines).
 */
import { placeholders } from "./in-lists.ts";
import type { SqlValue, Statement } from "./store.ts";

/** A row by column name. */
export type Row = Readonly<Record<string, SqlValue>>;

/** A table of the shops' schema. */
export interface Table {
  readonly name: string;
  /** Columns of the primary key after `shop_id`. */
  readonly key: readonly string[];
}

/** Fate of a row that is there already. Default: the write fails. */
type OnConflict =
  | "fail"
  /** It stays. */
  | "keep"
  /** It takes the new values of these columns. */
  | readonly string[]
  /** The new values are added to its own, column by column. */
  | "add";

/** New value of a column that depends on the stored one. */
export class Term {
  readonly kind: "plus" | "orElse";
  readonly value: SqlValue;

  constructor(kind: Term["kind"], value: SqlValue) {
    this.kind = kind;
    this.value = value;
  }
}

/** The stored number and this one. */
export const plus = (by: number): Term => new Term("plus", by);

/** The stored value, or this one where there is none. */
export const orElse = (value: SqlValue): Term => new Term("orElse", value);

/** Condition on a column other than that it has a value. */
class Condition {
  readonly operator: "<" | "<=" | ">" | "<>" | "in" | "fixed";
  readonly values: readonly SqlValue[];

  constructor(operator: Condition["operator"], values: readonly SqlValue[]) {
    this.operator = operator;
    this.values = values;
  }
}

export const below = (value: SqlValue): Condition => new Condition("<", [value]);
export const upTo = (value: SqlValue): Condition => new Condition("<=", [value]);
export const above = (value: SqlValue): Condition => new Condition(">", [value]);
export const not = (value: SqlValue): Condition => new Condition("<>", [value]);
/** The column has this value, which is part of the text: a partial index of such rows can be used. */
export const fixed = (value: string): Condition => new Condition("fixed", [value]);
/** @param values at most `inListMax`. */
export const oneOf = (values: readonly SqlValue[]): Condition => new Condition("in", values);

/** Rows by conditions on their columns, all of which hold; null: the column is null. */
export type Where = Readonly<Record<string, SqlValue | Condition>>;

/** Columns with their new values. */
export type NewValues = Readonly<Record<string, SqlValue | Term>>;

/** Facts that changes with the same columns share. */
export interface Form {
  /** `text`: written out, since the stored rows decide about it. */
  readonly kind: "insert" | "update" | "delete" | "text";
  readonly table: string;
  readonly sql: string;
  /** Column of each parameter; of a text, empty where the parameter is no column's value. */
  readonly columns: readonly string[];
  /**
   * Places of the parameters that confine the change: all rows that it touches have these values in these columns,
   * before and after it.
   */
  readonly confinedBy: ReadonlyMap<string, number>;
  /** Of an insert: columns that name its row, and what becomes of one that is there. */
  readonly conflict: { readonly key: readonly string[]; readonly on: OnConflict };
  /**
   * It does nothing but give columns values, to rows that have values: no term, no other condition, and no column
   * twice.
   */
  readonly isPlain: boolean;
}

/** A change of rows. Its parameters are in the order of the form's columns. */
export interface Change extends Statement {
  readonly form: Form;
}

/** The value of the column in all rows that the change touches; undefined: they may have several. */
export function valueIn({ form, params }: Change, column: string): SqlValue | undefined {
  const place = form.confinedBy.get(column);
  return place === undefined ? undefined : params[place];
}

/** A change rather than a text. */
export const isChange = (statement: Statement): statement is Change => "form" in statement;

const forms = new Map<string, Form>();

/** Forms that are kept. The program has fewer, but for lists of several lengths. */
const formsMax = 4_000;

function formOf(signature: string, make: () => Form): Form {
  const known = forms.get(signature);
  if (known !== undefined) return known;
  if (forms.size >= formsMax) forms.clear();
  const form = make();
  forms.set(signature, form);
  return form;
}

function conflictText({ name, key }: Table, on: OnConflict, columns: readonly string[]): string {
  if (on === "fail") return "";
  const into = ` on conflict (${["shop_id", ...key].join(", ")}) do`;
  if (on === "keep") return `${into} nothing`;
  const sets =
    on === "add"
      ? columns
          .filter((column) => column !== "shop_id" && !key.includes(column))
          .map((column) => `${column} = ${name}.${column} + excluded.${column}`)
      : on.map((column) => `${column} = excluded.${column}`);
  return `${into} update set ${sets.join(", ")}`;
}

/** Form of an insert of these columns; `shop_id` is the first. */
export function insertForm(table: Table, columns: readonly string[], on: OnConflict = "fail"): Form {
  const text = `insert into ${table.name} (${columns.join(", ")}) values (${placeholders(columns.length)})`;
  const key = ["shop_id", ...table.key];
  const changesOther = on !== "fail" && on !== "keep";
  return {
    kind: "insert",
    table: table.name,
    sql: text + conflictText(table, on, columns),
    columns,
    confinedBy: new Map(
      columns.flatMap((column, place) => (changesOther && !key.includes(column) ? [] : [[column, place]])),
    ),
    conflict: { key, on },
    isPlain: true,
  };
}

/** Change of the form with these values, in the order of its columns. */
export const changeOf = (form: Form, params: readonly SqlValue[]): Change => ({ form, sql: form.sql, params });

/** Adds the row. */
export function insert(table: Table, shopId: string, row: Row, on: OnConflict = "fail"): Change {
  const names = Object.keys(row);
  const manner = typeof on === "string" ? on : on.join();
  const form = formOf(`insert ${table.name} ${names.join()} ${manner}`, () =>
    insertForm(table, ["shop_id", ...names], on),
  );
  return changeOf(form, [shopId, ...Object.values(row)]);
}

/**
 * Form of a change that is written out, because the stored rows decide about it.
 *
 * @param columns of each parameter the column in which all rows that the change touches have its value; null: none.
 */
export const textForm = ({ name }: Table, sql: string, columns: readonly (string | null)[]): Form => ({
  kind: "text",
  table: name,
  sql,
  columns: columns.map((column) => column ?? ""),
  confinedBy: new Map(columns.flatMap((column, place) => (column === null ? [] : [[column, place]]))),
  conflict: { key: [], on: "fail" },
  isPlain: false,
});

/** Adds the row, or gives the one with its key all values of this one. */
export const replace = (table: Table, shopId: string, row: Row): Change =>
  insert(
    table,
    shopId,
    row,
    Object.keys(row).filter((column) => !table.key.includes(column)),
  );

/** A condition with its parameters. */
interface Clause {
  readonly text: string;
  readonly column: string;
  readonly params: readonly SqlValue[];
  /** It confines the column to the one parameter. */
  readonly isEqual: boolean;
}

function conditionClause(column: string, condition: SqlValue | Condition): Clause {
  if (!(condition instanceof Condition))
    return condition === null
      ? { text: `${column} is null`, column, params: [], isEqual: false }
      : { text: `${column} = ?`, column, params: [condition], isEqual: true };
  const { operator, values } = condition;
  if (operator === "fixed") return { text: `${column} = '${String(values[0])}'`, column, params: [], isEqual: false };
  if (operator === "in")
    return { text: `${column} in (${placeholders(values.length)})`, column, params: values, isEqual: false };
  return operator === "<>" && values[0] === null
    ? { text: `${column} is not null`, column, params: [], isEqual: false }
    : { text: `${column} ${operator} ?`, column, params: values, isEqual: false };
}

function setClause(column: string, value: SqlValue | Term): Clause {
  if (!(value instanceof Term)) return { text: `${column} = ?`, column, params: [value], isEqual: true };
  const text = value.kind === "plus" ? `${column} = ${column} + ?` : `${column} = coalesce(${column}, ?)`;
  return { text, column, params: [value.value], isEqual: false };
}

const columnsOf = (clauses: readonly Clause[]): readonly string[] =>
  clauses.flatMap(({ column, params }) => params.map(() => column));

function confinedBy(sets: readonly Clause[], conditions: readonly Clause[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let place = columnsOf(sets).length;
  for (const { column, params, isEqual } of conditions) {
    if (isEqual && sets.every((set) => set.column !== column)) places.set(column, place);
    place += params.length;
  }
  return places;
}

const conditionsOf = (shopId: string, where: Where): readonly Clause[] => [
  conditionClause("shop_id", shopId),
  ...Object.entries(where).map(([column, condition]) => conditionClause(column, condition)),
];

/** Changes a table's rows that are there, all at once or some of them. */
function changeWhere(
  kind: "update" | "delete",
  table: Table,
  sets: readonly Clause[],
  conditions: readonly Clause[],
): Change {
  const texts = (clauses: readonly Clause[], between: string): string => clauses.map(({ text }) => text).join(between);
  const target = kind === "update" ? `update ${table.name} set ${texts(sets, ", ")}` : `delete from ${table.name}`;
  const sql = `${target} where ${texts(conditions, " and ")}`;
  const clauses = [...sets, ...conditions];
  const form = formOf(sql, () => {
    const columns = columnsOf(clauses);
    return {
      kind,
      table: table.name,
      sql,
      columns,
      confinedBy: confinedBy(sets, conditions),
      conflict: { key: [], on: "fail" },
      isPlain: clauses.every(({ isEqual }) => isEqual) && new Set(columns).size === columns.length,
    };
  });
  return changeOf(
    form,
    clauses.flatMap(({ params }) => params),
  );
}

/** Gives columns new values, in the rows where the conditions hold. A key column never changes. */
export const update = (table: Table, shopId: string, where: Where, set: NewValues): Change =>
  changeWhere(
    "update",
    table,
    Object.entries(set).map(([column, value]) => setClause(column, value)),
    conditionsOf(shopId, where),
  );

/** Deletes the rows where the conditions hold. */
export const remove = (table: Table, shopId: string, where: Where = {}): Change =>
  changeWhere("delete", table, [], conditionsOf(shopId, where));
