/**
 * Text as searches compare it (C13).
 */

/**
 * Folds text for comparison: case, width and composition do not count. Applied to the `…_folded` columns and to the words searched for, so
 * that the database only compares code points.
 */
export function fold(text: string): string {
  // Upper case first, so that "ß" equals "SS". A final sigma depends on its neighbours, so it becomes a plain one.
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}
