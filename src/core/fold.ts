/**
 * Text as searches compare it (C13): case, width and composition do not count. Written into `…_folded` columns and applied to
 * what is searched for, so that the database only ever compares code points.
 */
export function fold(text: string): string {
  // Upper, then lower: "ß" meets "SS". The final sigma depends on its neighbours, so it gives way to the plain one.
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}
