/**
 * Cursors: where a page of a list ended, as an opaque string (C12).
 *
 * A digest binds a cursor to its list, its shop and its filters; a cursor that was changed or is used elsewhere is
 * refused. The digest is no secret: a cursor only names a position in what its caller may read anyway.
 */
import { createHash } from "node:crypto";
import { type Fault, invalidField } from "./fault.ts";
import { canonicalJson, type Json, type JsonObject } from "./json.ts";

/**
 * The list that a cursor belongs to. `filters`: its parameters except `limit` and `cursor`; absent ones may be
 * undefined.
 */
export interface CursorScope {
  readonly list: string;
  readonly shopId: string;
  readonly filters: { readonly [parameter: string]: Json | undefined };
}

/** The sort keys of the last row of a page, the most significant first. */
type CursorPosition = readonly (string | number)[];

const digestLength = 16;

/** The cursor of a position. */
export function encodeCursor(scope: CursorScope, position: CursorPosition): string {
  const text = Buffer.from(JSON.stringify(position)).toString("base64url");
  return `${text}.${digest(scope, text)}`;
}

/** Kinds of the sort keys of a list. */
type KeyKinds = readonly ("string" | "number")[];

/** A position with sort keys of these kinds. */
type PositionOf<Kinds extends KeyKinds> = {
  readonly [Key in keyof Kinds]: Kinds[Key] extends "string" ? string : number;
};

/**
 * The position that was encoded in the same scope, with sort keys of these kinds.
 *
 * @throws Fault INVALID_INPUT when it is malformed, was changed, or belongs to another list, shop or other filters.
 */
export function decodeCursor<const Kinds extends KeyKinds>(
  scope: CursorScope,
  cursor: string,
  kinds: Kinds,
): PositionOf<Kinds> {
  const position = decodeAnyCursor(scope, cursor);
  if (!hasKinds(position, kinds)) throw invalidCursor();
  return position;
}

/** The same of a list that is in the order of a name, then an id. */
export function decodeNamePosition(scope: CursorScope, cursor: string): { readonly name: string; readonly id: string } {
  const [name, id] = decodeCursor(scope, cursor, ["string", "string"]);
  return { name, id };
}

/** The same where a list has positions of several kinds. */
export function decodeAnyCursor(scope: CursorScope, cursor: string): unknown {
  const [text, sum, ...rest] = cursor.split(".");
  if (text === undefined || sum === undefined || rest.length > 0 || sum !== digest(scope, text)) throw invalidCursor();
  return parsed(Buffer.from(text, "base64url").toString());
}

/** True if a position has just these sort keys. */
export const hasKinds = <const Kinds extends KeyKinds>(
  position: unknown,
  kinds: Kinds,
): position is PositionOf<Kinds> =>
  Array.isArray(position) &&
  position.length === kinds.length &&
  kinds.every((kind, index) => typeof position[index] === kind);

/** The text as JSON. It may be anything: a caller can compute a fitting digest. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidCursor();
  }
}

/** The refusal of a cursor. */
export const invalidCursor = (): Fault =>
  invalidField(
    "/cursor",
    "is not a cursor of this list with these filters",
    "Pass `cursor` of the previous page unchanged and keep the other parameters, or leave it out to start again.",
  );

function digest(scope: CursorScope, text: string): string {
  const filters: Record<string, Json> = {};
  for (const [name, value] of Object.entries(scope.filters)) if (value !== undefined) filters[name] = value;
  const bound: JsonObject = { list: scope.list, shopId: scope.shopId, filters, text };
  return createHash("sha256").update(canonicalJson(bound)).digest("base64url").slice(0, digestLength);
}
