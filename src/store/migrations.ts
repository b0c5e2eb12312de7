/**
 * Numbered migrations, in the SQL text that all engines share (D6; architecture, "One SQL text: rules").
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fold } from "../base/text/fold.ts";

const migrationName = /^(\d{4})\.sql$/;

/**
 * Reads the migrations of a directory; migration n is element n − 1.
 *
 * @throws Error when they are not numbered 0001, 0002, … without a gap.
 */
export function loadMigrations(directory: string): readonly string[] {
  const names = readdirSync(directory)
    .filter((name) => migrationName.test(name))
    .sort();
  if (names.length === 0) throw new Error(`No migrations (0001.sql, …) in ${directory}.`);
  return names.map((name, index) => {
    const expected = `${String(index + 1).padStart(4, "0")}.sql`;
    if (name !== expected) throw new Error(`${directory}: expected migration ${expected}, found ${name}.`);
    return readFileSync(join(directory, name), "utf8");
  });
}

/** Folds all but the last line, and each text of the list that is the last line, as JSON. */
function foldWithList(text: string): string {
  const cut = text.lastIndexOf("\n");
  // The program wrote it.
  const list: readonly string[] = JSON.parse(text.slice(cut + 1));
  return [text.slice(0, cut), ...list].map(fold).join("\n");
}

/**
 * Functions of the program that a migration may use, in statements of the form `update TABLE set COLUMN =
 * FUNCTION(EXPRESSION)`. What is null stays null.
 */
export const migrationFunctions: Readonly<Record<string, (text: string) => string>> = {
  fold,
  fold_with_list: foldWithList,
};

/** A statement that uses one of them. */
export interface Computed {
  readonly table: string;
  readonly column: string;
  readonly compute: (text: string) => string;
  readonly expression: string;
}

const computedPattern = /^update (\w+) set (\w+) = (\w+)\(([\s\S]*)\)$/;

/** Returns the function of the program that the statement calls; null: it calls none. */
export function computedBy(statement: string): Computed | null {
  const [, table, column, name = "", expression] = computedPattern.exec(statement) ?? [];
  const compute = Object.hasOwn(migrationFunctions, name) ? migrationFunctions[name] : undefined;
  if (table === undefined || column === undefined || expression === undefined || compute === undefined) return null;
  return { table, column, compute, expression };
}

/** Splits a migration into statements, without comments. Migrations hold no string that contains `--` or `;`. */
export function statementsOf(text: string): readonly string[] {
  return text
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
