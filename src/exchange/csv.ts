/**
 * Reads CSV as spreadsheets and shops write it: rows with the columns that a format wants.
 *
 * Owns: encoding, separators, headers, and the line number of a row. Does not own: the meaning of rows (csv-formats.ts) or quoting
 * (csv-parse).
 *
 * Only the current batch of rows is in memory, so a file may be larger than memory.
 */
import { CsvError, type Info, parse } from "csv-parse";
import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { lineFault } from "./file-format.ts";

/** The longest row, in bytes. */
export const rowBytesMax = 1_048_576;

/** Rows of a batch: a format looks them up together. */
const batchRows = 200;

const newline = 0x0a;

/** Separators that spreadsheets use, depending on the country they are set to. */
const delimiters = [",", ";", "\t"] as const;

export interface ColumnWanted {
  /** Accepted headers, the usual one first. Case, spaces, `_`, `-` and a text in parentheses at the end do not matter. */
  readonly headers: readonly string[];
  readonly needed?: true;
}

export interface CsvRow<Key extends string> {
  /** Of the line that it begins on: a quoted value may span lines. */
  readonly lineNumber: number;
  /** Approximate length. */
  readonly bytes: number;
  /** The value without spaces around it; null when it is empty or the file has no such column. */
  value(key: Key): string | null;
  /** Whether the file has the column. */
  has(key: Key): boolean;
  /** The column's header as the file spells it. */
  header(key: Key): string;
}

const normalized = (header: string): string => header.toLowerCase().replaceAll(/[\s_-]/g, "");

/** Whether a header is the wanted one: `On hand (current)` matches `On hand`; `On hand (new) (editable)` matches `On hand (new)`. */
const isHeader = (header: string, wanted: string): boolean =>
  normalized(header) === normalized(wanted) || normalized(header).startsWith(`${normalized(wanted)}(`);

/** The index of each wanted column. No two have the same. @throws Fault INVALID_INPUT when a needed column is missing. */
function indexesOf<Key extends string>(
  found: readonly string[],
  wanted: Readonly<Record<Key, ColumnWanted>>,
): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  const taken = new Set<number>();
  for (const [key, { headers, needed }] of Object.entries<ColumnWanted>(wanted)) {
    const index = headers
      .map((header) => found.findIndex((each, at) => !taken.has(at) && isHeader(each, header)))
      .find((at) => at !== -1);
    if (index === undefined) {
      if (needed === true)
        throw lineFault(1, [{ path: "", message: `there is no column ${JSON.stringify(headers[0])}` }]);
      continue;
    }
    taken.add(index);
    indexes.set(key, index);
  }
  return indexes;
}

/**
 * The bytes in pieces of whole lines, checked to be UTF-8 text.
 *
 * @throws Fault INVALID_INPUT naming the line that is not UTF-8.
 */
async function* textOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  let lineNumber = 1;
  const checked = (lines: Buffer): Buffer => {
    if (!isUtf8(lines) || lines.includes(0)) throw notText(lines, lineNumber);
    for (let at = lines.indexOf(newline); at !== -1; at = lines.indexOf(newline, at + 1)) lineNumber += 1;
    return lines;
  };
  for await (const piece of body) {
    const bytes = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    const end = bytes.lastIndexOf(newline) + 1;
    if (end > 0) yield checked(bytes.subarray(0, end));
    rest = bytes.subarray(end);
    if (rest.length > rowBytesMax) throw tooLong(lineNumber);
  }
  if (rest.length > 0) yield checked(rest);
}

const tooLong = (lineNumber: number) =>
  lineFault(lineNumber, [{ path: "", message: `is longer than ${rowBytesMax} bytes, the most a row may have` }]);

function notText(lines: Buffer, firstLine: number) {
  let lineNumber = firstLine;
  let start = 0;
  for (let end = lines.indexOf(newline); end !== -1; end = lines.indexOf(newline, start)) {
    const line = lines.subarray(start, end);
    if (!isUtf8(line) || line.includes(0)) break;
    start = end + 1;
    lineNumber += 1;
  }
  return lineFault(lineNumber, [{ path: "", message: "is not UTF-8 text; save the file as CSV UTF-8" }]);
}

/** The most frequent separator of the first line. */
function delimiterOf(firstLines: Buffer): string {
  const [line = ""] = firstLines.toString().split("\n", 1);
  const counts = delimiters.map((delimiter) => line.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
}

const badQuote = "has a quote within a value; it must be doubled, and the value quoted";

/** Our messages for the errors of csv-parse. */
const csvMessages: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `is longer than ${rowBytesMax} bytes, the most a row may have`,
  CSV_QUOTE_NOT_CLOSED: "begins a quoted value that never ends",
  CSV_INVALID_CLOSING_QUOTE: badQuote,
  INVALID_OPENING_QUOTE: badQuote,
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH:
    "has more or fewer values than there are columns; a value with a separator in it must be quoted",
};

const csvFault = (error: CsvError, linesTooMany: number) =>
  lineFault((typeof error["lines"] === "number" ? error["lines"] : 1) - linesTooMany, [
    { path: "", message: csvMessages[error.code] ?? error.message },
  ]);

const countOf = (character: string, fields: readonly string[]): number => {
  let count = 0;
  for (const field of fields) if (field.includes(character)) count += field.split(character).length - 1;
  return count;
};

/**
 * The rows below the header, in batches.
 *
 * @throws Fault INVALID_INPUT naming the line: it is not UTF-8, badly quoted, or has more or fewer values than the header; or the header
 *                             lacks a needed column.
 */
export async function* csvRows<Key extends string>(
  body: AsyncIterable<Uint8Array>,
  wanted: Readonly<Record<Key, ColumnWanted>>,
): AsyncGenerator<readonly CsvRow<Key>[]> {
  const text = textOf(body);
  const first = await text.next();
  if (first.done === true) throw lineFault(1, [{ path: "", message: "the file is empty" }]);
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    yield* text;
  };
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(first.value),
    info: true,
    max_record_size: rowBytesMax,
    record_delimiter: ["\r\n", "\n"],
    skip_empty_lines: true,
  });
  const source = Readable.from(whole(), { objectMode: true });
  source.once("error", (error) => parser.destroy(error));
  source.pipe(parser);
  let headers: readonly string[] | null = null;
  let indexes: ReadonlyMap<string, number> = new Map();
  let batch: CsvRow<Key>[] = [];
  // Within quotes csv-parse counts a CR LF as two lines.
  let linesTooMany = 0;
  try {
    for await (const parsed of parser) {
      const { record, info }: { record: string[]; info: Info } = parsed;
      if (headers === null) {
        headers = record;
        indexes = indexesOf(record, wanted);
        continue;
      }
      linesTooMany += countOf("\r", record);
      // Spreadsheets leave empty rows below the last one.
      if (record.every((value) => value.trim() === "")) continue;
      batch.push(rowOf(record, info.lines - linesTooMany - countOf("\n", record), headers, indexes));
      if (batch.length < batchRows) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    throw error instanceof CsvError ? csvFault(error, linesTooMany) : error;
  } finally {
    source.destroy();
  }
  if (batch.length > 0) yield batch;
}

function rowOf<Key extends string>(
  record: readonly string[],
  lineNumber: number,
  headers: readonly string[],
  indexes: ReadonlyMap<string, number>,
): CsvRow<Key> {
  return {
    lineNumber,
    bytes: record.reduce((sum, value) => sum + value.length + 1, 0),
    value(key) {
      const value = record[indexes.get(key) ?? -1]?.trim() ?? "";
      return value === "" ? null : value;
    },
    has: (key) => indexes.has(key),
    header: (key) => headers[indexes.get(key) ?? -1] ?? key,
  };
}
