/**
 * Reads CSV as spreadsheets and shops write it: rows with the columns that a format wants.
 *
 * Owns: encoding, headers, the line number of a row, and what spreadsheets wrap around a value. Does not own:
 * separators and quotes (csv-split.ts), the meaning of rows (csv-formats.ts).
 *
 * Only the current batch of rows is in memory, so a file may be larger than memory. A row that cannot be read is told,
 * and the next is read.
 */
import { isUtf8 } from "node:buffer";
import { OpeningReader, RowSplitter, type SplitRow } from "./csv-split.ts";
import { type FileFaults, lineFault } from "./file-format.ts";

/** Rows of a batch: a format looks them up together. */
const batchRows = 200;

/** Bytes of a batch's rows, the last one apart. */
const batchBytes = 131_072;

export interface ColumnWanted {
  /**
   * Accepted headers, the usual one first. Case, spaces, `_`, `-` and a text in parentheses at the end do not matter.
   */
  readonly headers: readonly string[];
  /** A file without it is refused; `unless`: not if it has that column, which is declared before this one. */
  readonly needed?: true | { readonly unless: string };
}

export interface CsvRow<Key extends string> {
  /** Of the line that it begins on: a quoted value may span lines. */
  readonly lineNumber: number;
  /** Approximate length. */
  readonly bytes: number;
  /** Numbers have a comma before their decimals: the file is of a country where a semicolon separates values. */
  readonly hasDecimalComma: boolean;
  /** The value without spaces around it; null when it is empty or the file has no such column. */
  value(key: Key): string | null;
  /** Returns true if the file has the column. */
  has(key: Key): boolean;
  /** The column's header as the file spells it. */
  header(key: Key): string;
}

const normalized = (header: string): string => header.toLowerCase().replaceAll(/[\s_-]/g, "");

/**
 * The index of each wanted column. No two have the same. @throws Fault INVALID_INPUT when a needed column is missing.
 */
function indexesOf<Key extends string>(
  { cells, lineNumber }: SplitRow,
  wanted: Readonly<Record<Key, ColumnWanted>>,
): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  const taken = new Set<number>();
  const names = cells.map(normalized);
  for (const [key, { headers, needed }] of Object.entries<ColumnWanted>(wanted)) {
    const index = headers
      .map(normalized)
      // `On hand (current)` is an `On hand`; `On hand (new) (editable)` is an `On hand (new)`.
      .map((header) =>
        names.findIndex((each, at) => !taken.has(at) && (each === header || each.startsWith(`${header}(`))),
      )
      .find((at) => at !== -1);
    if (index === undefined) {
      if (needed === true || (needed !== undefined && !indexes.has(needed.unless)))
        throw lineFault(lineNumber, [{ path: "", message: `there is no column ${JSON.stringify(headers[0])}` }]);
      continue;
    }
    taken.add(index);
    indexes.set(key, index);
  }
  return indexes;
}

// Bytes to text.

const lineEnds = /\r\n|\r|\n/g;

/** Returns how many of these bytes end with a whole character. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * The file as text, without a byte order mark.
 *
 * @throws Fault INVALID_INPUT naming the line that is not UTF-8.
 */
async function* decoded(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  let linesBefore = 0;
  let isReturned = false;
  let isFirst = true;
  const checked = (bytes: Buffer): string => {
    if (!isUtf8(bytes) || bytes.includes(0)) throw notText(bytes, linesBefore);
    const text = bytes.toString("utf8");
    linesBefore += text.match(lineEnds)?.length ?? 0;
    if (isReturned && text.startsWith("\n")) linesBefore -= 1;
    isReturned = text.endsWith("\r");
    const plain = isFirst && text.startsWith("\uFEFF") ? text.slice(1) : text;
    isFirst = false;
    return plain;
  };
  for await (const piece of body) {
    const bytes = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    const end = wholeLength(bytes);
    rest = bytes.subarray(end);
    if (end > 0) yield checked(bytes.subarray(0, end));
  }
  if (rest.length > 0) throw notText(rest, linesBefore);
}

/** The fault of bytes that are no text, by the first line of them that is none. */
function notText(bytes: Buffer, linesBefore: number) {
  let lineNumber = linesBefore + 1;
  for (const line of bytes.toString("latin1").split(lineEnds)) {
    const found = Buffer.from(line, "latin1");
    if (!isUtf8(found) || found.includes(0)) break;
    lineNumber += 1;
  }
  return lineFault(lineNumber, [{ path: "", message: "is not UTF-8 text; save the file as CSV UTF-8" }]);
}

// Text to rows.

/** Splitter of a file's rows, once its first line is there. */
interface Split {
  readonly delimiter: string;
  readonly rows: AsyncGenerator<SplitRow>;
}

/** The file's rows, the head first. A line that only names the separator is none. */
async function splitOf(body: AsyncIterable<Uint8Array>): Promise<Split> {
  const text = decoded(body);
  const begun: string[] = [];
  const reader = new OpeningReader();
  let opening: ReturnType<OpeningReader["add"]> = null;
  while (opening === null) {
    const piece = await text.next();
    if (piece.done === true) break;
    begun.push(piece.value);
    opening = reader.add(piece.value);
  }
  const { delimiter, isAlone } = opening ?? reader.end();
  const rows = async function* (): AsyncGenerator<SplitRow> {
    const splitter = new RowSplitter(delimiter, isAlone ? 2 : 1);
    for (const piece of begun) yield* splitter.split(piece);
    for await (const piece of text) yield* splitter.split(piece);
    const last = splitter.end();
    if (last !== null) yield last;
  };
  const split = { delimiter, rows: rows() };
  if (isAlone) await split.rows.next();
  return split;
}

/** @throws Fault INVALID_INPUT when there is none, or it cannot be read. */
async function headOf({ rows }: Split): Promise<SplitRow> {
  const head = await rows.next();
  if (head.done === true) throw lineFault(1, [{ path: "", message: "the file is empty" }]);
  const { lineNumber, fault } = head.value;
  if (fault !== null) throw lineFault(lineNumber, [{ path: "", message: fault }]);
  return head.value;
}

const wrongCount = "has more or fewer values than there are columns; a value with a separator in it must be quoted";

/**
 * The rows below the head, in batches. Those that cannot be read are told to `faults` and left out: they are badly
 * quoted, or have more or fewer values than the head.
 *
 * @throws Fault INVALID_INPUT naming the line: it is not UTF-8 or too long, or the head lacks a needed column.
 */
export async function* csvRows<Key extends string>(
  body: AsyncIterable<Uint8Array>,
  wanted: Readonly<Record<Key, ColumnWanted>>,
  faults: FileFaults,
): AsyncGenerator<readonly CsvRow<Key>[]> {
  const split = await splitOf(body);
  const head = await headOf(split);
  const indexes = indexesOf(head, wanted);
  let batch: CsvRow<Key>[] = [];
  let bytes = 0;
  for await (const row of split.rows) {
    // Spreadsheets leave empty rows below the last one.
    if (row.fault === null && row.cells.every((value) => value.trim() === "")) continue;
    const fault = row.fault ?? (row.cells.length === head.cells.length ? null : wrongCount);
    if (fault !== null) {
      faults.add(lineFault(row.lineNumber, [{ path: "", message: fault }]));
      continue;
    }
    batch.push(rowOf(row, head.cells, indexes, split.delimiter === ";"));
    bytes += row.bytes;
    if (batch.length < batchRows && bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** A formula that keeps a text from being taken for a number: `="0012"`. */
const formula = /^="([^]*)"$/;

function plainValue(cell: string): string {
  const value = cell.trim();
  const [, text] = formula.exec(value) ?? [];
  return text === undefined ? value : text.replaceAll('""', '"').trim();
}

function rowOf<Key extends string>(
  { cells, lineNumber, bytes }: SplitRow,
  headers: readonly string[],
  indexes: ReadonlyMap<string, number>,
  hasDecimalComma: boolean,
): CsvRow<Key> {
  return {
    lineNumber,
    bytes,
    hasDecimalComma,
    value(key) {
      const value = plainValue(cells[indexes.get(key) ?? -1] ?? "");
      return value === "" ? null : value;
    },
    has: (key) => indexes.has(key),
    header: (key) => headers[indexes.get(key) ?? -1] ?? key,
  };
}
