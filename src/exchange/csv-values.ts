/**
 * The values of a CSV row as members of a record: texts, codes and numbers as spreadsheets write them, and as they
 * damage them.
 *
 * T3. A number is taken exactly as it is written, or refused. A code that a spreadsheet has shortened is refused, not
 * guessed.
 */
import type { FieldKind, Fields } from "../core/order/purchase-order-fields.ts";
import type { ColumnWanted, CsvRow } from "./csv.ts";
import { lineFault, LineFault, shown } from "./file-format.ts";

/** Decimal digits that a double always holds exactly. */
const exactDigitsMax = 15;

/** The refusal of one value, naming its line and column. */
export const refused = <Key extends string>(row: CsvRow<Key>, key: Key, message: string): LineFault =>
  lineFault(row.lineNumber, [{ path: "/value", message }], { "/value": row.header(key) });

/** @throws Fault INVALID_INPUT naming line and column when the value is empty. */
export function needed<Key extends string>(row: CsvRow<Key>, key: Key): string {
  const value = row.value(key);
  if (value === null) throw refused(row, key, "is needed");
  return value;
}

/** The text; without the apostrophe that keeps a spreadsheet from taking it for a formula. */
export const textOf = <Key extends string>(row: CsvRow<Key>, key: Key): string | null =>
  row.value(key)?.replace(/^'(?=[=+\-@|%])/, "") ?? null;

/** The figure of a long number in a narrow column: `8.719E+12`. */
const shortened = /^(\d)(?:[.,](\d+))?E\+(\d{1,3})$/i;

/** Text of a cell whose formula has failed. */
const failedFormula = /^#(?:N\/A|NAME\?|REF!|VALUE!|DIV\/0!|NULL!|NUM!)$/i;

/**
 * A SKU, barcode or id as it was before a spreadsheet had it; null when empty.
 *
 * @throws Fault INVALID_INPUT when digits are lost, or it is the error of a formula.
 */
export function codeOf<Key extends string>(row: CsvRow<Key>, key: Key): string | null {
  // An apostrophe makes a number a text: `'0012`.
  const value = row.value(key)?.replace(/^'\s*/, "") ?? "";
  if (value === "") return null;
  if (failedFormula.test(value)) throw refused(row, key, `is the error of a formula, ${value}`);
  const [, first = "", decimals = "", power = ""] = shortened.exec(value) ?? [];
  if (first === "") return value;
  if (Number(power) === decimals.length) return first + decimals;
  throw refused(
    row,
    key,
    `${shown(value)} is what a spreadsheet has made of a longer number, whose digits are lost; make the column text, enter it anew and export it again`,
  );
}

/**
 * The number as it is written (T3); null when empty. @throws Fault INVALID_INPUT when it is no number, or not an exact
 * one.
 */
export function numberOf<Key extends string>(row: CsvRow<Key>, key: Key): number | null {
  const written = row.value(key)?.replace(/^'\s*/, "") ?? null;
  if (written === null) return null;
  const value = row.hasDecimalComma ? withPoint(row, key, written) : written;
  // Each part of the pattern ends where the next begins, so a long cell is read once.
  const match = /^[+-]?(\d*)(?:\.\d*)?$/.exec(value);
  if (match === null || !/\d/.test(value))
    throw refused(
      row,
      key,
      `must be a number like ${row.hasDecimalComma ? "1234,50" : "1234.50"}, not ${shown(written)}`,
    );
  const [, whole = ""] = match;
  // How many decimals a number may have is up to the member's schema.
  if (significantDigits(whole) > exactDigitsMax) throw refused(row, key, `has too many digits: ${shown(written)}`);
  return Number(value);
}

/** Digits in threes: `1.234` or `1.234.567`, and what follows a comma. */
const groupedByPoints = /^([+-]?\d{1,3}(?:\.\d{3})+)(?:,(\d*))?$/;

const groupedByCommas = /^([+-]?\d{1,3}(?:,\d{3})+)\.(\d*)$/;

/**
 * The number with a decimal point, of a file with decimal commas. @throws Fault INVALID_INPUT when it can be read in
 * two ways.
 */
function withPoint<Key extends string>(row: CsvRow<Key>, key: Key, value: string): string {
  const [, byPoints, afterComma] = groupedByPoints.exec(value) ?? [];
  if (byPoints !== undefined && !/^[+-]?0/.test(byPoints)) {
    const isOneGroup = byPoints.indexOf(".") === byPoints.lastIndexOf(".");
    if (afterComma === undefined && isOneGroup)
      throw refused(
        row,
        key,
        `${shown(value)} can be read as ${byPoints.replace(".", "")} and as ${byPoints.replace(".", ",")}; write one of them`,
      );
    return `${byPoints.replaceAll(".", "")}.${afterComma ?? ""}`;
  }
  const [, byCommas, afterPoint = ""] = groupedByCommas.exec(value) ?? [];
  if (byCommas !== undefined) return `${byCommas.replaceAll(",", "")}.${afterPoint}`;
  return value.replace(",", ".");
}

/** Digits without the zeros before them. */
function significantDigits(whole: string): number {
  let start = 0;
  while (whole[start] === "0") start += 1;
  return whole.length - start;
}

/** For each member of a record, the column that it is in and how the column is read. */
export type Members<Key extends string> = Readonly<
  Record<string, readonly [Key, (row: CsvRow<Key>, key: Key) => string | number | null]>
>;

/**
 * The members whose column the file has (T2).
 *
 * @throws Fault INVALID_INPUT naming the line and each column with a mistake.
 */
export function present<Key extends string>(row: CsvRow<Key>, members: Members<Key>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const faults: LineFault[] = [];
  for (const [name, [key, valueOf]] of Object.entries(members)) {
    if (!row.has(key)) continue;
    try {
      values[name] = valueOf(row, key);
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      faults.push(error);
    }
  }
  const [first] = faults;
  if (first === undefined) return values;
  const mistakes = faults.flatMap((fault) => fault.mistakes);
  throw new LineFault(row.lineNumber, first.message, mistakes);
}

/** The column of each member. */
export const columnsOf = <Key extends string>(members: Members<Key>): Readonly<Record<string, Key>> =>
  Object.fromEntries(Object.entries(members).map(([name, [key]]) => [name, key]));

/** Readers of a column, by the kind of its field. A field of another kind has no column by itself. */
const readers: Partial<Readonly<Record<FieldKind, Members<string>[string][1]>>> = {
  text: textOf,
  day: textOf,
  integer: numberOf,
  money: numberOf,
  quantity: numberOf,
};

/** `leadTimeDays` as a header: `Lead time days`. */
const inWords = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * Columns and members of a table's fields, so that a new field is a column by itself.
 *
 * @param headers  of fields that have others beside their name, the usual one first.
 */
export function columnsOfFields<T extends Fields>(
  fields: T,
  headers: Partial<Readonly<Record<keyof T & string, readonly string[]>>>,
): { readonly columns: Readonly<Record<string, ColumnWanted>>; readonly members: Members<string> } {
  const read = Object.entries(fields).flatMap(([name, { kind }]) => {
    const valueOf = readers[kind];
    return valueOf === undefined ? [] : [{ name, valueOf }];
  });
  return {
    columns: Object.fromEntries(
      read.map(({ name }) => [name, { headers: [...(headers[name] ?? []), inWords(name)] }] as const),
    ),
    members: Object.fromEntries(read.map(({ name, valueOf }) => [name, [name, valueOf]] as const)),
  };
}
