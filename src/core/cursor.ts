/**
 * Cursors: where a page of a list ended, as an opaque string (C12).
 *
 * A cursor is bound to its list, its shop and its filters by a digest; one that was changed or is used elsewhere is refused. It
 * carries no right: it only names a position within what its caller may read anyway.
 */
import { createHash } from "node:crypto";
import { type Fault, invalidField } from "./fault.ts";
import { canonicalJson, type Json, type JsonObject } from "./json.ts";

/** What a cursor belongs to. `filters` are the list's parameters but for `limit` and `cursor`; absent ones may be undefined. */
export interface CursorScope {
  readonly list: string;
  readonly shopId: string;
  readonly filters: { readonly [parameter: string]: Json | undefined };
}

/** Sort keys of the last row of a page, in order of significance. */
export type CursorPosition = readonly (string | number)[];

const digestLength = 16;

export function encodeCursor(scope: CursorScope, position: CursorPosition): string {
  const text = Buffer.from(JSON.stringify(position)).toString("base64url");
  return `${text}.${digest(scope, text)}`;
}

/**
 * The position that `encodeCursor` was given in the same scope.
 *
 * @throws Fault INVALID_INPUT when it is malformed, was changed, or belongs to another list, shop or other filters.
 */
export function decodeCursor(scope: CursorScope, cursor: string): CursorPosition {
  const [text, sum, ...rest] = cursor.split(".");
  if (text === undefined || sum === undefined || rest.length > 0 || sum !== digest(scope, text)) throw invalidCursor();
  const position = parsed(Buffer.from(text, "base64url").toString());
  if (!Array.isArray(position)) throw invalidCursor();
  return position.map((key: unknown) => {
    if (typeof key !== "string" && typeof key !== "number") throw invalidCursor();
    return key;
  });
}

/** What the text says; the digest is no secret, so even a fitting one may come with any text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidCursor();
  }
}

/** For a list whose cursor holds other sort keys than it should. */
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
