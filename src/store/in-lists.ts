/**
 * Lists of values in SQL: `in (?, ?, …)`, in as many statements as they need (architecture, "One SQL text: rules").
 */
import type { SqlValue, Tx } from "./store.ts";

/** Values that one list may hold on every engine. */
export const inListMax = 90;

/** `?, ?, ?` for as many values. */
export const placeholders = (count: number): string => (count === 0 ? "" : `?${", ?".repeat(count - 1)}`);

/**
 * The condition that a row of the shop has one of these keys, and its parameters. A key is the values of `columns`, in
 * their order.
 *
 * Each key of several columns is named in full, with the shop. SQLite would look for `shop_id = ? and (… or …)` in any
 * index that begins with the shop. PostgreSQL may compare each key of `in (values …)` with all rows of the shop.
 */
export function hasOneOf(
  shopId: string,
  columns: readonly string[],
  keys: readonly (readonly string[])[],
): { readonly sql: string; readonly params: readonly string[] } {
  const [column] = columns;
  if (columns.length === 1)
    return { sql: `shop_id = ? and ${column} in (${placeholders(keys.length)})`, params: [shopId, ...keys.flat()] };
  const isThis = `(${["shop_id", ...columns].map((each) => `${each} = ?`).join(" and ")})`;
  return { sql: `(${keys.map(() => isThis).join(" or ")})`, params: keys.flatMap((key) => [shopId, ...key]) };
}

/** The values in their order, in groups of at most `size`. */
export function chunksOf<T>(values: readonly T[], size: number): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}

/** Asks for at most `inListMax` of the distinct values at a time, all side by side, and joins the rows. */
export async function inChunks<R>(
  values: readonly string[],
  ask: (chunk: readonly string[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  return (await Promise.all(chunksOf([...new Set(values)], inListMax).map(ask))).flat();
}

/**
 * Rows of a statement in which `(?)` stands for the list of values. The list comes after all other parameters; the
 * statement's order holds only within each chunk of `inListMax` values.
 */
export const selectIn = <Row>(
  tx: Tx,
  sql: string,
  params: readonly SqlValue[],
  values: readonly string[],
): Promise<readonly Row[]> =>
  inChunks(values, (chunk) =>
    tx.all<Row>(sql.replace("(?)", `(${placeholders(chunk.length)})`), [...params, ...chunk]),
  );
