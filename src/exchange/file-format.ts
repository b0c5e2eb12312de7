/**
 * Port of a file format: the records of a file with their lines, and the refusal that names a line.
 *
 * Does not own: any format (ndjson.ts, csv-formats.ts) or what a record must look like (record-types.ts).
 */
import { Fault, type ValidationDetail } from "../base/fault.ts";
import { detailsMax } from "../requests/input.ts";

/** A record as a file has it, not yet checked. */
export interface FileRecord {
  /** From 1. */
  readonly lineNumber: number;
  /** Its approximate size. It bounds how many records are staged in one turn. */
  readonly bytes: number;
  /** Reads its text. @throws Fault INVALID_INPUT when it is not a record's. */
  readonly value: () => unknown;
  /** The column of each field, by the field's JSON pointer; null when the file has no columns. */
  readonly columns: Readonly<Record<string, string>> | null;
  /**
   * Fields that the file has a column for, those within an address by their path (`address/city`). The others stay as
   * they are when it is applied. Absent: it has them all.
   */
  readonly sets?: readonly string[];
}

/** Reader of a file format. */
export interface FileFormat {
  /** True if a second record with the same key is a mistake. Otherwise it replaces the first. */
  readonly refusesRepeats: boolean;
  /**
   * The file's records. What is wrong with one is told to `faults`, and reading goes on.
   *
   * @throws Fault INVALID_INPUT naming the line behind which the file cannot be read.
   */
  records(body: AsyncIterable<Uint8Array>, faults: FileFaults): AsyncGenerator<FileRecord>;
}

/** A refusal that names a line of a file. */
export class LineFault extends Fault {
  readonly lineNumber: number;
  readonly mistakes: readonly ValidationDetail[];

  constructor(lineNumber: number, message: string, mistakes: readonly ValidationDetail[]) {
    super("INVALID_INPUT", message, {
      details: mistakes,
      action: "Nothing was imported. Correct the line and send the whole file again.",
    });
    this.lineNumber = lineNumber;
    this.mistakes = mistakes;
  }
}

/** Faults of a file, collected while it is read, so that one refusal names many lines. */
export class FileFaults {
  readonly #faults: LineFault[] = [];
  #count = 0;

  /**
   * @throws Fault INVALID_INPUT when there are as many mistakes as a refusal tells: the rest of the file is not looked
   *   at.
   */
  add(fault: LineFault): void {
    this.#faults.push(fault);
    this.#count += fault.mistakes.length;
    if (this.#count >= detailsMax) throw this.#refusal();
  }

  /** Returns the value of `make`; null when it throws the fault of a line, which is added. */
  tried<T>(make: () => T): T | null {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      this.add(error);
      return null;
    }
  }

  /** @throws Fault INVALID_INPUT when anything was wrong. */
  refuse(): void {
    if (this.#faults.length > 0) throw this.#refusal();
  }

  #refusal(): Fault {
    const faults = this.#faults.toSorted((one, other) => one.lineNumber - other.lineNumber);
    const [first] = faults;
    const details = faults.flatMap(({ mistakes }) => mistakes).slice(0, detailsMax);
    const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
    const isCut = this.#count >= detailsMax;
    return new Fault("INVALID_INPUT", `${first?.message ?? ""}${more}`, {
      details,
      action: `Nothing was imported. Correct the lines that details names${isCut ? `, the first ${detailsMax} mistakes,` : ""} and send the whole file again.`,
    });
  }
}

/** Characters of a caller's text that a message quotes. */
const shownLengthMax = 100;

/** A cell as a message quotes it. */
export const shown = (value: string): string =>
  JSON.stringify(value.length <= shownLengthMax ? value : `${value.slice(0, shownLengthMax)}…`);

/** A refusal that names the line, and each field by its column or else by its JSON pointer. */
export function lineFault(
  lineNumber: number,
  details: readonly ValidationDetail[],
  columns: FileRecord["columns"] = null,
): LineFault {
  const [first] = details;
  const columnOf = (path: string): string => {
    const column = columns?.[path];
    return column === undefined ? "" : `, column ${shown(column)}`;
  };
  const pointer = first === undefined || first.path === "" || columnOf(first.path) !== "" ? "" : `${first.path}: `;
  const where = `line ${lineNumber}${columnOf(first?.path ?? "")}: ${pointer}`;
  return new LineFault(
    lineNumber,
    `${where}${first?.message ?? "is not a record"}`,
    details.map(({ path, message }) => ({ path, message: `line ${lineNumber}${columnOf(path)}: ${message}` })),
  );
}

/** The error as a refusal of this line when it is INVALID_INPUT; any other error unchanged. */
export function errorOnLine(lineNumber: number, error: unknown, columns: FileRecord["columns"] = null): unknown {
  if (error instanceof LineFault || !(error instanceof Fault) || error.code !== "INVALID_INPUT") return error;
  const details = (error.details ?? []).flatMap((detail) => ("path" in detail ? detail : []));
  const whole = { path: "", message: error.message.replace(/^The body/, "The line") };
  return lineFault(lineNumber, details.length > 0 ? details : [whole], columns);
}
