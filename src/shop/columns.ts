/**
 * Records in columns, by the tables of fields (core/order/purchase-order-fields.ts): a column's name, the value
 * written, the record read back.
 *
 * What takes a table of fields is called once, when the program starts, and answers what is used for each record.
 */
import type { Changes, Field, FieldKind, Fields, FieldValue, ValuesOf } from "../core/order/purchase-order-fields.ts";
import { type Change, type Row, type Table, changeOf, insertForm, update } from "../store/change.ts";
import type { SqlValue } from "../store/store.ts";

/** Columns, each with the value that a record has there. */
export type Columns<Of> = Readonly<Record<string, (of: Of) => SqlValue>>;

/** Kinds that are stored as JSON text. All others are stored as core holds them. */
const jsonKinds: ReadonlySet<FieldKind> = new Set(["rates", "strings", "address", "reorder"]);

/**
 * `noteToSupplier` → `note_to_supplier`; an instant `createdAtMs` → `created_at`, since all instants are in
 * milliseconds. A duration `lastMs` → `last_ms`.
 */
export const columnOf = (name: string, kind: FieldKind = "instant"): string =>
  (kind === "instant" ? name.replace(/Ms$/, "") : name).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of the fields, for a select. `prefix` names their table: `o.`. */
export const columnList = (fields: Fields, prefix = ""): string =>
  Object.entries(fields)
    .map(([name, { kind }]) => `${prefix}${columnOf(name, kind)}`)
    .join(", ");

/** Booleans are 1 and 0. */
const toColumn = (value: FieldValue): SqlValue => {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
};

/** The columns of the fields, for writing. */
export function columnsOf<T extends Fields>(fields: T): Columns<ValuesOf<T>> {
  const columns: Record<string, (of: ValuesOf<T>) => SqlValue> = {};
  for (const name in fields) columns[columnOf(name, fields[name]?.kind)] = (of) => toColumn(of[name]);
  return columns;
}

/** The columns of the fields for which there is a change, each with its new value. */
export function changedColumns<T extends Fields>(
  fields: T,
  changes: Changes<T>,
): readonly (readonly [column: string, value: SqlValue])[] {
  const columns: [string, SqlValue][] = [];
  for (const name in fields) {
    const value = changes[name];
    if (value !== undefined) columns.push([columnOf(name, fields[name]?.kind), toColumn(value)]);
  }
  return columns;
}

/**
 * A function that makes the insert of a record: the shop and the rest of its key, then its columns.
 *
 * @param on columns to which the record's values go where its key is there already. `fail`: the insert fails then.
 */
export function insertInto<Of>(
  table: Table,
  key: readonly string[],
  columns: Columns<Of>,
  on: "fail" | readonly string[] = "fail",
): (keyValues: readonly SqlValue[], of: Of) => Change {
  const form = insertForm(table, ["shop_id", ...key, ...Object.keys(columns)], on);
  const values = Object.values(columns);
  return (keyValues, of) => {
    const params = [...keyValues];
    for (const valueOf of values) params.push(valueOf(of));
    return changeOf(form, params);
  };
}

/**
 * A function that makes the update of a record: of the columns that differ, so that indexes on the others are not
 * written. Null when none differs.
 */
export function updateIn<Of>(
  table: Table,
  columns: Columns<Of>,
): (shopId: string, key: Row, before: Of, next: Of) => Change | null {
  const entries = Object.entries(columns);
  return (shopId, key, before, next) => {
    const set: Record<string, SqlValue> = {};
    let differs = false;
    for (const [column, valueOf] of entries) {
      const value = valueOf(next);
      if (value === valueOf(before)) continue;
      set[column] = value;
      differs = true;
    }
    return differs ? update(table, shopId, key, set) : null;
  };
}

/**
 * Returns the value of a JSON column. Rates of an order from before orders had any are a member of the shop's settings
 * of that moment (migration 41).
 */
function parsed(kind: FieldKind, text: string): unknown {
  const value: unknown = JSON.parse(text);
  const isOfSettings = kind === "rates" && typeof value === "object" && value !== null && "fxRates" in value;
  return isOfSettings ? value.fxRates : value;
}

/** A function that makes a record of a row which has the columns of these fields. */
export function recordReader<Of>(fields: { readonly [Name in keyof Of]: Field }): (row: Row) => Of {
  const members = Object.entries<Field>(fields).map(([name, { kind }]) => ({
    name,
    column: columnOf(name, kind),
    kind,
    isJson: jsonKinds.has(kind),
  }));
  return (row) => {
    // A copy has all names from the start: an object that grows by so many computed names becomes a slow one.
    const record: Record<string, unknown> = { ...fields };
    for (const { name, column, kind, isJson } of members) {
      const value = row[column];
      if (kind === "boolean") record[name] = value === 1;
      else record[name] = isJson && typeof value === "string" ? parsed(kind, value) : value;
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table names every member and what its column holds
    return record as Of;
  };
}
