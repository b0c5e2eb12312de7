/** Reads comma-separated values (RFC 4180). The first row has the column names. */
import { readFileSync } from "node:fs";

export type CsvRow = Readonly<Record<string, string>>;

/** Returns the rows of a file by column name. Quoted fields may contain commas, doubled quotes and line breaks. */
export function csvRows(file: string): readonly CsvRow[] {
  const rows: string[][] = [[]];
  for (const [, field = "", end] of readFileSync(file, "utf8").matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end !== ",") rows.push([]);
  }
  const [columns = [], ...records] = rows.filter((row) => row.length > 1 || (row[0] ?? "") !== "");
  return records.map((record) => Object.fromEntries(columns.map((column, index) => [column, record[index] ?? ""])));
}
