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
 * Brings a file to the program's version, each migration in a transaction of its own.
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
  for (const [index, statements] of schema.entries()) {
    if (index < version) continue;
    database.exec("begin immediate");
    try {
      for (const statement of statements) database.exec(statement);
      database.exec(`pragma user_version = ${index + 1}`);
      database.exec("commit");
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }
  return version < schema.length;
}
