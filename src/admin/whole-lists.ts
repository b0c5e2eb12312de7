/** Pages of lists that are loaded as a whole, since no shop has many of their rows (C55a). */
import { type CursorScope, decodeCursor, encodeCursor, invalidCursor } from "../base/cursor.ts";
import { cursor, optionalLimit } from "../operations/fields.ts";
import { type AdminAnswer, data } from "./operation.ts";

/** Parameters of such a list. */
export const wholeList = { limit: optionalLimit, cursor } as const;

interface WholeList<Row, Name extends string> {
  readonly scope: CursorScope;
  /** The member of the answer. */
  readonly name: Name;
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
}

/**
 * The list, or a page of it.
 *
 * @throws Fault INVALID_INPUT  the cursor is not of this list, or the row that it goes on after is gone.
 */
export function pageOfWhole<Row extends object, Name extends string>(
  { scope, name, rows, idOf }: WholeList<Row, Name>,
  { limit, cursor: encoded }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): AdminAnswer {
  const [after = null] = encoded === undefined ? [] : decodeCursor(scope, encoded, ["string"]);
  const from = after === null ? 0 : rows.findIndex((row) => idOf(row) === after) + 1;
  if (after !== null && from === 0) throw invalidCursor();
  const shown = rows.slice(from, limit === undefined ? rows.length : from + limit);
  const last = from + shown.length < rows.length ? shown.at(-1) : undefined;
  return data({
    [name]: shown,
    totalCount: rows.length,
    cursor: last === undefined ? null : encodeCursor(scope, [idOf(last)]),
  });
}
