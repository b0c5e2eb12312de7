/** Compares by code point, as the database orders text. `<` compares by UTF-16 code unit. */
export function compareText(a: string, b: string): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1)
    if (a.charCodeAt(index) !== b.charCodeAt(index)) return (a.codePointAt(index) ?? 0) - (b.codePointAt(index) ?? 0);
  return a.length - b.length;
}
