/** Tables as CSV files. */

/**
 * Place before what a sheet takes for a formula or a command, where a cell begins. Blanks may stand before it,
 * which some of them take away. A cell of ours may be several for one that parts at `;`, tabs or line ends.
 */
const beforeFormula = /(?:^[\s\p{Cc}\p{Cf}]*|[;\t\n][\p{Zs}\p{Cf}]*)(?=[=+\-@|%＝＋－＠｜％﹢﹣﹦﹫−])|^[\t\n]/gu;

/**
 * A cell. A text that a sheet would take for a formula gets an apostrophe before it. A control character becomes a
 * blank: the text comes from others.
 */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const plain = value.replaceAll(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, " ");
  const text = plain.replace(beforeFormula, (before, at: number) =>
    at === 0 && !before.startsWith(";") ? `'${before}` : `${before.charAt(0)}'${before.slice(1)}`,
  );
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as CSV, the head first, behind the mark by which sheets know UTF-8. */
export const csvOf = (rows: readonly (readonly (string | number)[])[]): string =>
  "\ufeff" + rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
