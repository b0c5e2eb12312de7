/**
 * NDJSON, the format of exports: one JSON object per line.
 *
 * Owns: splitting a stream into lines, and the limit of a line. Memory is bounded by `lineBytesMax`.
 */
import { JoinedBytes } from "../base/joined-bytes.ts";
import { parseRecord } from "../base/json.ts";
import { type FileFormat, lineFault } from "./file-format.ts";

/** The longest line of a file: room for an order of the most lines with a long history. */
export const lineBytesMax = 16_777_216;

interface Line {
  readonly number: number;
  readonly bytes: Uint8Array;
}

const newline = 0x0a;

const carriageReturn = 0x0d;

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** A line without its carriage return and, if it is the first, without a byte order mark. */
function trimmed(line: Line): Line {
  let { bytes } = line;
  if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
  if (line.number === 1 && byteOrderMark.every((byte, index) => bytes[index] === byte)) bytes = bytes.subarray(3);
  return { number: line.number, bytes };
}

const blanks: ReadonlySet<number> = new Set([0x20, 0x09, carriageReturn]);

/** True if there is nothing but blanks in this part, which is looked at without a copy of it. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && blanks.has(bytes[at] ?? 0)) at += 1;
  return at === end;
}

/** The current line as far as it has come. */
class LineBuffer {
  #number = 1;
  readonly #bytes = new JoinedBytes();

  /** @throws Fault INVALID_INPUT when the line is longer than `lineBytesMax`. */
  add(piece: Uint8Array): void {
    if (this.#bytes.length + piece.length > lineBytesMax)
      throw lineFault(this.#number, [
        { path: "", message: `is longer than ${lineBytesMax} bytes, the most a line may have` },
      ]);
    this.#bytes.add(piece);
  }

  /** True if the next piece begins a line. */
  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Passes a line over that has nothing in it. */
  pass(): void {
    this.#number += 1;
  }

  /** The line so far; the next one begins. */
  take(): Line {
    return trimmed({ number: this.#number++, bytes: this.#bytes.take() });
  }
}

/** The lines of a stream that are not blank, numbered from 1. The last line may lack its newline. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const buffer = new LineBuffer();
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (buffer.isEmpty && isBlank(chunk, start, end)) buffer.pass();
      else {
        buffer.add(chunk.subarray(start, end));
        const line = buffer.take();
        if (!isBlank(line.bytes, 0, line.bytes.length)) yield line;
      }
      start = end + 1;
    }
    // A copy: the source may reuse its buffer.
    buffer.add(chunk.slice(start));
  }
  const last = buffer.take();
  if (!isBlank(last.bytes, 0, last.bytes.length)) yield last;
}

export const ndjson: FileFormat = {
  refusesRepeats: false,
  async *records(body) {
    for await (const { number, bytes } of linesOf(body))
      yield { lineNumber: number, bytes: bytes.length, value: () => parseRecord(bytes), columns: null };
  },
};
