/**
 * Numbered migrations, in the SQL text that all engines share (D6; architecture, "One SQL text: rules").
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

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

/** Splits a migration into statements, without comments. Migrations hold no string that contains `--` or `;`. */
export function statementsOf(text: string): readonly string[] {
  return text
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
