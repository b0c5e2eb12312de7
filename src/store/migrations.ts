/** Numbered migrations, as the text that all engines share (architecture, "One SQL text: rules"). */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const migrationName = /^(\d{4})\.sql$/;

/**
 * Migration n is element n − 1.
 *
 * @throws Error when the directory's migrations are not numbered 0001, 0002, … without a gap.
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

/** The statements of a shared text. Comments are dropped and statements end in `;`: migrations hold no string with `--` or `;` in it. */
export function statementsOf(text: string): readonly string[] {
  return text
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
