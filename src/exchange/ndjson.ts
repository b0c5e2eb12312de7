/**
 * NDJSON, the format of exports: one JSON object per line.
 *
 * Owns: splitting a stream into lines, and the limit of a line. Memory is bounded by `lineBytesMax`.
 */
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

const isBlank = ({ bytes }: Line): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09);

/** The pieces of the current line. */
class LineBuffer {
  #number = 1;
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @throws Fault INVALID_INPUT when the line is longer than `lineBytesMax`. */
  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > lineBytesMax)
      throw lineFault(this.#number, [
        { path: "", message: `is longer than ${lineBytesMax} bytes, the most a line may have` },
      ]);
    if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The line so far; the next one begins. */
  take(): Line {
    const [first] = this.#pieces;
    const bytes = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return trimmed({ number: this.#number++, bytes });
  }
}

/** The lines of a stream that are not blank, numbered from 1. The last line may lack its newline. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const buffer = new LineBuffer();
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      buffer.add(chunk.subarray(start, end));
      start = end + 1;
      const line = buffer.take();
      if (!isBlank(line)) yield line;
    }
    // A copy: the source may reuse its buffer.
    buffer.add(chunk.slice(start));
  }
  const last = buffer.take();
  if (!isBlank(last)) yield last;
}

export const ndjson: FileFormat = {
  refusesRepeats: false,
  async *records(body) {
    for await (const { number, bytes } of linesOf(body))
      yield { lineNumber: number, bytes: bytes.length, value: () => parseRecord(bytes), columns: null };
  },
};
