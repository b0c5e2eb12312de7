/**
 * What a file format must provide: the records of a file with their lines, and the refusal that names a line.
 *
 * Does not own: any format (ndjson.ts, csv-formats.ts) or what a record must look like (record-types.ts).
 */
import { Fault, type ValidationDetail } from "../base/fault.ts";

/** Mistakes that one refusal lists. */
const mistakesToldMax = 20;

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
}

/** How a file is read. */
export interface FileFormat {
  /** Whether a second record with the same key is a mistake. Otherwise it replaces the first. */
  readonly refusesRepeats: boolean;
  /** @throws Fault INVALID_INPUT naming the line. */
  records(body: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord>;
}

/** A refusal that names the line, and each field by its column or else by its JSON pointer. */
export function lineFault(
  lineNumber: number,
  details: readonly ValidationDetail[],
  columns: FileRecord["columns"] = null,
): Fault {
  const [first] = details;
  const columnOf = (path: string): string => {
    const column = columns?.[path];
    return column === undefined ? "" : `, column ${JSON.stringify(column)}`;
  };
  const pointer = first === undefined || first.path === "" || columnOf(first.path) !== "" ? "" : `${first.path}: `;
  const where = `line ${lineNumber}${columnOf(first?.path ?? "")}: ${pointer}`;
  return new Fault("INVALID_INPUT", `${where}${first?.message ?? "is not a record"}`, {
    details: details
      .slice(0, mistakesToldMax)
      .map(({ path, message }) => ({ path, message: `line ${lineNumber}${columnOf(path)}: ${message}` })),
    action: "Nothing was imported. Correct the line and send the whole file again.",
  });
}

/** The error as a refusal of this line when it is INVALID_INPUT; any other error unchanged. */
export function errorOnLine(lineNumber: number, error: unknown, columns: FileRecord["columns"] = null): unknown {
  if (!(error instanceof Fault) || error.code !== "INVALID_INPUT") return error;
  const details = (error.details ?? []).flatMap((detail) => ("path" in detail ? detail : []));
  const whole = { path: "", message: error.message.replace(/^The body/, "The line") };
  return lineFault(lineNumber, details.length > 0 ? details : [whole], columns);
}
