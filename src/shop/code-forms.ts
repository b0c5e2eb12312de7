/**
 * The texts that codes may be stored as. The database lowers A to Z alone, on both engines, so an index of
 * `lower(column)` finds these.
 */
import { gtinOf, scannedCode } from "../core/goods/codes.ts";
import { placeholders } from "../store/in-lists.ts";
import type { Fragment } from "./fragment.ts";

/** A to Z without regard to case, as the database does it. */
export const asciiLower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** A text without regard to case as it may stand in a column, of which the database lowers A to Z alone. */
export const caseForms = (text: string): readonly string[] => [
  ...new Set([text, text.toUpperCase(), text.toLowerCase()].map(asciiLower)),
];

/** The texts that a code with this key may be stored as, lowered like `caseForms`. */
function storedForms(key: string): readonly string[] {
  if (key.length !== 14 || gtinOf(key) === null) return caseForms(key);
  return [8, 12, 13, 14]
    .filter((length) => key.startsWith("0".repeat(14 - length)))
    .map((length) => key.slice(14 - length));
}

/**
 * Returns the texts as which a code may be stored that a scan of this one stands for. They are the code itself, and the
 * article in the case that it is of.
 */
export function formsOfCode(code: string): readonly string[] {
  const { keys, keyWithin } = scannedCode(code);
  return [...new Set([...keys, ...(keyWithin === null ? [] : [keyWithin])].flatMap(storedForms))];
}

/** The condition that a column has this code; null: no condition. */
export function codeIn(column: string, code: string | null): readonly Fragment[] {
  if (code === null) return [];
  const forms = formsOfCode(code);
  if (forms.length === 0) return [{ sql: "1 = 0", params: [] }];
  return [{ sql: `lower(${column}) in (${placeholders(forms.length)})`, params: forms }];
}
