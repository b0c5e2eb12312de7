/**
 * Records that are kept whole, one row each: how a kind of record is written, replaced, paged through and looked up by
 * key.
 */
import type { Field, Fields, ValuesOf } from "../core/order/purchase-order-fields.ts";
import { placeholders, selectIn } from "../store/in-lists.ts";
import { type Change, type Row, replace } from "../store/change.ts";
import type { SqlValue, Tx } from "../store/store.ts";
import { columnOf, columnsOf, recordReader } from "./columns.ts";

/** The table of one kind of record: how a record becomes a row, and a row a record. */
export interface RecordTable<Stored, Row> {
  readonly name: string;
  /** Columns of the key after the shop id. Pages are in its order. */
  readonly key: readonly (keyof Row & string)[];
  readonly columns: { readonly [Column in keyof Row & string]: (record: Stored) => SqlValue };
  /** Columns that are written but never read back. */
  readonly derived?: Readonly<Record<string, (record: Stored) => SqlValue>>;
  from(row: Row): Stored;
}

/** The table of records that are made of fields, each with a column of its own. `key` names fields. */
export const fieldTable = <T extends Fields, Stored extends ValuesOf<T>>(
  name: string,
  key: readonly (keyof T & string)[],
  fields: T & { readonly [Name in keyof Stored]: Field },
): RecordTable<Stored, Row> => ({
  name,
  key: key.map((name) => columnOf(name)),
  columns: columnsOf<T>(fields),
  from: recordReader<Stored>(fields),
});

/** Stores the record, replacing the one with its key. */
export function replaceRecord<Stored, Row>(table: RecordTable<Stored, Row>, shopId: string, record: Stored): Change {
  const columns: Readonly<Record<string, (record: Stored) => SqlValue>> = { ...table.columns, ...table.derived };
  return replace(
    table,
    shopId,
    Object.fromEntries(Object.entries(columns).map(([column, valueOf]) => [column, valueOf(record)])),
  );
}

/** A page of records in the order of the key, after the record `after`. */
export async function pageOf<Stored, Row>(
  tx: Tx,
  table: RecordTable<Stored, Row>,
  shopId: string,
  after: Stored | null,
  limit: number,
): Promise<readonly Stored[]> {
  const key = table.key.join(", ");
  const behind = after === null ? "" : ` and (${key}) > (${placeholders(table.key.length)})`;
  const rows = await tx.all<Row>(
    `select ${Object.keys(table.columns).join(", ")} from ${table.name} where shop_id = ?${behind} order by ${key} limit ?`,
    [shopId, ...(after === null ? [] : table.key.map((column) => table.columns[column](after))), limit],
  );
  return rows.map((row) => table.from(row));
}

/**
 * The records with one of these keys. A key is the values of the key's columns, in their order. Each of several columns
 * is asked for alone: PostgreSQL may compare those of a list with all rows of a table that is being filled.
 */
export async function recordsByKey<Stored, Row>(
  tx: Tx,
  table: RecordTable<Stored, Row>,
  shopId: string,
  keys: readonly (readonly string[])[],
): Promise<readonly Stored[]> {
  const select = `select ${Object.keys(table.columns).join(", ")} from ${table.name} where shop_id = ? and`;
  const [column, ...more] = table.key;
  if (more.length === 0) {
    const rows = await selectIn<Row>(tx, `${select} ${column} in (?)`, [shopId], keys.flat());
    return rows.map((row) => table.from(row));
  }
  const isThis = table.key.map((each) => `${each} = ?`).join(" and ");
  const rows = await Promise.all(keys.map((key) => tx.all<Row>(`${select} ${isThis}`, [shopId, ...key])));
  return rows.flat().map((row) => table.from(row));
}
