/**
 * Numbered migrations of an sqlite file, made from the SQL text that all engines share (D6).
 *
 * The text declares `text`, `bigint` and `double precision` (architecture, "One SQL text: rules"). Here `bigint`
 * becomes `integer`, `double precision` becomes `real`, and every table becomes `strict`: a value of another type fails
 * the write.
 */
import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../base/fault.ts";
import { loadMigrations, migrationFunctions, statementsOf } from "../migrations.ts";

/** A file of a newer version needs an operator, so a retry is not urgent. */
const newerVersionRetryMs = 60_000;

/** Element n − 1 is migration n: the statements that bring a file from version n − 1 to n. */
export type Schema = readonly (readonly string[])[];

/** Reads the migrations of a directory. @throws Error when they are not numbered without a gap. */
export const loadSchema = (schemaDirectory: string): Schema => loadMigrations(schemaDirectory).map(sqliteStatements);

/** The shared text's statements as sqlite takes them. */
export function sqliteStatements(text: string): readonly string[] {
  return statementsOf(text)
    .map((statement) => statement.replace(/\bbigint\b/gi, "integer").replace(/\bdouble\s+precision\b/gi, "real"))
    .map((statement) => (/^create\s+table\b/i.test(statement) ? `${statement} strict` : statement));
}

/**
 * Statements that make at once what all migrations make of an empty file, by the text of these migrations. They are
 * learned from the first file: a new shop's takes 12 ms of the loop with them, and 96 ms with its 50 migrations. A
 * program has two schemas.
 */
const statementsOfNewFiles = new Map<string, readonly string[]>();

/** Returns the statements that make a file as it is, or null: it has rows, or tables of sqlite's own. */
function statementsOfFile(database: DatabaseSync): readonly string[] | null {
  const parts = database
    .prepare("select type, name, sql from sqlite_schema where sql is not null order by rowid")
    .all();
  const isPlain = parts.every(
    ({ type, name }) =>
      !String(name).startsWith("sqlite_") &&
      (type !== "table" || database.prepare(`select 1 from "${String(name)}" limit 1`).get() === undefined),
  );
  return isPlain ? parts.map(({ sql }) => String(sql)) : null;
}

/** Runs these statements in a transaction that ends with this version of the file. */
function bringTo(version: number, database: DatabaseSync, statements: readonly string[]): void {
  database.exec("begin immediate");
  try {
    for (const statement of statements) database.exec(statement);
    database.exec(`pragma user_version = ${version}`);
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

/**
 * Brings a file to the program's version, each migration in a transaction of its own; a new file in one.
 *
 * @returns whether anything was migrated.
 * @throws Fault DO_UNAVAILABLE when the file's version is newer than the program's.
 */
export function migrate(database: DatabaseSync, schema: Schema): boolean {
  const version = Number(database.prepare("pragma user_version").get()?.["user_version"]);
  if (version > schema.length)
    throw new Fault(
      "DO_UNAVAILABLE",
      `This shop's data was written by a newer version of OpenPO: its schema is ${version}, and this version knows ${schema.length}.`,
      {
        action: "Start the newer version again, or restore the shop from a backup made before the upgrade.",
        retryAfterMs: newerVersionRetryMs,
      },
    );
  for (const [name, compute] of Object.entries(migrationFunctions))
    database.function(name, { deterministic: true }, (text) => (text === null ? null : compute(String(text))));
  const isNew = version === 0 && database.prepare("select 1 from sqlite_schema limit 1").get() === undefined;
  const text = isNew ? schema.flat().join(";") : "";
  const statementsOfNew = statementsOfNewFiles.get(text);
  if (statementsOfNew !== undefined) {
    bringTo(schema.length, database, statementsOfNew);
    return true;
  }
  for (const [index, statements] of schema.entries()) if (index >= version) bringTo(index + 1, database, statements);
  const learned = isNew ? statementsOfFile(database) : null;
  if (learned !== null) statementsOfNewFiles.set(text, learned);
  return version < schema.length;
}
