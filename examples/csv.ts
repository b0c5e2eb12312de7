/** Reads comma-separated values as RFC 4180 spells them, the first row naming the columns. */
import { readFileSync } from "node:fs";

export type CsvRow = Readonly<Record<string, string>>;

/** The rows of a file by column name. Quoted fields may hold commas, quotes (doubled) and line breaks. */
export function csvRows(file: string): readonly CsvRow[] {
  const rows: string[][] = [[]];
  for (const [, field = "", end] of readFileSync(file, "utf8").matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end !== ",") rows.push([]);
  }
  const [columns = [], ...records] = rows.filter((row) => row.length > 1 || (row[0] ?? "") !== "");
  return records.map((record) => Object.fromEntries(columns.map((column, index) => [column, record[index] ?? ""])));
}
