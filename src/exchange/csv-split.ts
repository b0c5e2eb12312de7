/**
 * Splits the text of a CSV file into rows, as its pieces come: which character separates values, where a row ends, what
 * quotes hold. Pure.
 *
 * A line ends with LF, CR LF or CR, whichever comes. A row that cannot be read is told with what is wrong, and reading
 * goes on with the next line. No more of a row is held than `rowBytesMax`, of the head `columnNamesBytesMax`.
 */
import { lineFault } from "./file-format.ts";

/** The longest row, in bytes. */
export const rowBytesMax = 1_048_576;

/** The longest head, in bytes: the row with the names of the columns. */
export const columnNamesBytesMax = 65_536;

/** Columns of a file. */
export const columnsMax = 1_000;

/** Separators that spreadsheets use, depending on the country they are set to. */
const delimiters = [",", ";", "\t"] as const;

const codeOf = (character: string): number => character.charCodeAt(0);

const [lineFeed, carriageReturn, quotation, blank] = [codeOf("\n"), codeOf("\r"), codeOf('"'), codeOf(" ")];

const isLineEnd = (code: number): boolean => code === lineFeed || code === carriageReturn;

/** A UTF-16 code unit in UTF-8; each half of a pair counts two. */
const bytesOf = (code: number): number =>
  code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;

/** Findings of the first line: the character that separates values, and if the line is only that (`sep=;`). */
interface Opening {
  readonly delimiter: string;
  readonly isAlone: boolean;
}

/** Excel's way to name the separator. */
const namesDelimiter = /^"?sep=([,;\t|])"?$/i;

/** Collects the beginning of a text until its first line is there. */
export class OpeningReader {
  /** Without blank lines before the first. */
  #line = "";
  #isQuoted = false;
  readonly #counts = new Map<string, number>(delimiters.map((delimiter) => [delimiter, 0]));

  /** @returns null while the line goes on. @throws Fault INVALID_INPUT when it is longer than `columnNamesBytesMax`. */
  add(text: string): Opening | null {
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quotation) this.#isQuoted = !this.#isQuoted;
      else if (!this.#isQuoted && isLineEnd(code)) {
        if (this.#line !== "" || at > start) {
          this.#line += text.slice(start, at);
          return this.end();
        }
        start = at + 1;
      } else if (!this.#isQuoted) {
        const character = text.charAt(at);
        const count = this.#counts.get(character);
        if (count !== undefined) this.#counts.set(character, count + 1);
      }
    }
    this.#line += text.slice(start);
    if (this.#line.length > columnNamesBytesMax) throw headTooLong(1);
    return null;
  }

  /** Returns the finding of the line so far, when nothing follows it: its most frequent separator. */
  end(): Opening {
    const [, named] = namesDelimiter.exec(this.#line) ?? [];
    if (named !== undefined) return { delimiter: named, isAlone: true };
    const [most = delimiters[0]] = delimiters.toSorted(
      (one, other) => (this.#counts.get(other) ?? 0) - (this.#counts.get(one) ?? 0),
    );
    return { delimiter: most, isAlone: false };
  }
}

/** A row as the file has it. */
export interface SplitRow {
  /** Of the line that it begins on, from 1: a quoted value may span lines. */
  readonly lineNumber: number;
  readonly cells: readonly string[];
  readonly bytes: number;
  /** Fault of the row; null when it could be read. */
  readonly fault: string | null;
}

const badQuote = "has a quote within a value; it must be doubled, and the value quoted";

const tooLong = (lineNumber: number) =>
  lineFault(lineNumber, [{ path: "", message: `is longer than ${rowBytesMax} bytes, the most a row may have` }]);

const headTooLong = (lineNumber: number) =>
  lineFault(lineNumber, [
    { path: "", message: `is longer than ${columnNamesBytesMax} bytes, the most that the names of columns may have` },
  ]);

/**
 * Place of the reader: before a cell, in it, in its quotes, behind a quote, or in a row that is not read on.
 */
type Place = "before" | "plain" | "quoted" | "closed" | "passed";

/** Splits text into rows, piece by piece. */
export class RowSplitter {
  readonly #delimiter: number;
  #place: Place = "before";
  #cell = "";
  #cells: string[] = [];
  #fault: string | null = null;
  #bytes = 0;
  #line = 1;
  #firstLine = 1;
  /** Rows up to the head that are still to come. */
  #headRows: number;
  /** The last character was a carriage return, which ended a line; a line feed behind it ends none. */
  #isReturned = false;

  /** @param headRows  the first rows, which `columnNamesBytesMax` holds for. */
  constructor(delimiter: string, headRows: number) {
    this.#delimiter = codeOf(delimiter);
    this.#headRows = headRows;
  }

  /**
   * The rows that end in this piece, blank lines left out. @throws Fault INVALID_INPUT when a row is longer than it may
   * be.
   */
  *split(text: string): Generator<SplitRow> {
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const isSecondHalf = this.#isReturned && code === lineFeed;
      this.#isReturned = code === carriageReturn;
      if (isSecondHalf && this.#place !== "quoted") {
        start = at + 1;
        continue;
      }
      this.#count(code);
      if (isLineEnd(code)) {
        if (!isSecondHalf) this.#line += 1;
        if (this.#place === "quoted") continue;
        this.#take(text.slice(start, at));
        const row = this.#ended();
        if (row !== null) yield row;
        start = at + 1;
      } else if (this.#steps(code, text, start, at)) start = at + 1;
    }
    this.#take(text.slice(start));
  }

  /** The row that the file ends with, if its last line has no end. */
  end(): SplitRow | null {
    if (this.#place === "quoted") this.#fault ??= "begins a quoted value that never ends";
    return this.#ended();
  }

  /**
   * Goes on to the character at `at`. @returns whether it, and the text from `start` on before it, has been dealt with.
   */
  #steps(code: number, text: string, start: number, at: number): boolean {
    if (this.#place === "passed") return false;
    if (this.#place === "quoted") {
      if (code !== quotation) return false;
      this.#take(text.slice(start, at));
      this.#place = "closed";
    } else if (code === this.#delimiter) {
      this.#take(text.slice(start, at));
      this.#endCell();
    } else if (code === quotation) this.#quote(text.slice(start, at));
    else if (this.#place === "closed") {
      if (code !== blank) this.#pass(badQuote);
    } else {
      this.#place = "plain";
      return false;
    }
    return true;
  }

  /** At a quote that is in no quotes. */
  #quote(before: string): void {
    if (this.#place === "closed") this.#cell += '"';
    // `="0012"` is a formula that keeps a text from being taken for a number.
    else if (this.#cell + before === "=") this.#cell = "";
    else if (this.#place !== "before") {
      this.#pass(badQuote);
      return;
    }
    this.#place = "quoted";
  }

  #take(text: string): void {
    if (this.#place !== "passed" && this.#place !== "closed") this.#cell += text;
  }

  #endCell(): void {
    if (this.#cells.length >= columnsMax)
      this.#pass(`has more than ${columnsMax} values, the most that a file may have columns`);
    else this.#cells.push(this.#cell);
    this.#cell = "";
    if (this.#place !== "passed") this.#place = "before";
  }

  #pass(fault: string): void {
    this.#fault = fault;
    this.#place = "passed";
  }

  #count(code: number): void {
    this.#bytes += bytesOf(code);
    if (this.#bytes > rowBytesMax) throw tooLong(this.#firstLine);
    if (this.#headRows > 0 && this.#bytes > columnNamesBytesMax) throw headTooLong(this.#firstLine);
  }

  /** The row; null for a blank line. The next one begins. */
  #ended(): SplitRow | null {
    const isBlank = this.#cells.length === 0 && this.#cell === "" && this.#place === "before";
    if (!isBlank && this.#place !== "passed") this.#endCell();
    const row = { lineNumber: this.#firstLine, cells: this.#cells, bytes: this.#bytes, fault: this.#fault };
    this.#place = "before";
    this.#cell = "";
    this.#cells = [];
    this.#fault = null;
    this.#bytes = 0;
    this.#firstLine = this.#line;
    if (isBlank) return null;
    this.#headRows -= 1;
    return row;
  }
}
