/**
 * Records which documented statuses of which operations the tests have seen, over all test processes.
 *
 * Every process appends what it saw to its own file in the directory that `test/run.ts` names. At the end of a whole run, `test/run.ts`
 * combines the files, prints the matrix and fails on a documented status that no test has seen.
 */
import { appendFileSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { isJsonObject, type Json, type JsonObject } from "../../../src/base/json.ts";

/** The environment variable with the directory. It is not set if a test file is run by hand. */
export const observedDirectoryVariable = "OPENPO_TEST_OBSERVED";

const seen = new Set<string>();

/** Records that the operation answered with this documented status. */
export function recordObserved(operation: string, status: number): void {
  const directory = process.env[observedDirectoryVariable];
  const entry = `${operation} ${status}`;
  if (directory === undefined || seen.has(entry)) return;
  seen.add(entry);
  appendFileSync(path.join(directory, `${process.pid}.txt`), `${entry}\n`);
}

/** Documented statuses that the tests need not see, with the reason. */
export interface Hole {
  readonly status: number;
  /** Default: every operation. */
  readonly operations?: RegExp;
  readonly reason: string;
}

interface Matrix {
  /** One line for each operation. */
  readonly text: string;
  /** Statuses that are documented but neither seen nor excepted, and exceptions that are not needed. */
  readonly faults: readonly string[];
}

/** Compares the records in `directory` with the document's paths. */
export function matrixOf(document: Json, directory: string, holes: readonly Hole[]): Matrix {
  const observed = new Set(
    globSync("*.txt", { cwd: directory }).flatMap((file) =>
      readFileSync(path.join(directory, file), "utf8").split("\n"),
    ),
  );
  const rows = documentedStatuses(document);
  const statuses = [...new Set(rows.flatMap((row) => row.statuses))].sort();
  const needed = new Set<Hole>();
  const faults: string[] = [];
  const lines = rows.map(({ operation, statuses: documented }) => {
    const cells = statuses.map((status) => {
      if (!documented.includes(status)) return "   ";
      if (observed.has(`${operation} ${status}`)) return status;
      const hole = holes.find((each) => String(each.status) === status && (each.operations?.test(operation) ?? true));
      if (hole === undefined) faults.push(`${operation} is documented to answer ${status}; no test has seen it`);
      else needed.add(hole);
      return hole === undefined ? " ? " : " - ";
    });
    return `${operation.padEnd(42)} ${cells.join(" ")}`;
  });
  for (const hole of holes)
    if (!needed.has(hole))
      faults.push(`the hole ${hole.status} (${hole.reason}) is none any more: take it off the list`);
  const excused = [...needed].map((hole) => ` -  ${hole.status}: ${hole.reason}`);
  return { text: [...lines, ...excused].join("\n"), faults };
}

interface Row {
  readonly operation: string;
  readonly statuses: readonly string[];
}

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});

const documentedStatuses = (document: Json): readonly Row[] =>
  Object.values(object(object(document)["paths"])).flatMap((methods) =>
    Object.values(object(methods)).flatMap((entry) => {
      const { operationId, responses } = object(entry);
      return typeof operationId === "string"
        ? [{ operation: operationId, statuses: Object.keys(object(responses)) }]
        : [];
    }),
  );
