/**
 * Numbered migrations of a PostgreSQL schema, from the SQL text that all engines share (D6), and the wall between its shops.
 *
 * Every `text` is compared by code point, as sqlite does (`collate "C"`). Indexes leave out `search_folded`: it rides along in
 * sqlite's, but may be longer than an entry of an index can be here. Every table gets row-level security: a transaction sees and writes
 * the rows of the one shop it has named (`openpo.shop_id`), whatever its statements say.
 */
import { join } from "node:path";
import { loadMigrations, statementsOf } from "../migrations.ts";
import { type PostgresConnection, type PostgresPool, command, maintenanceMsMax, sqlState } from "./connection.ts";

/** Tables in which work that is due is looked for over all shops (`withWorkDue`). */
const searchedTables: ReadonlySet<string> = new Set(["effect", "import_run"]);

const tableName = /^create\s+table\s+(\w+)/i;

/** The tables that this text makes. */
export const tablesOf = (text: string): readonly string[] =>
  statementsOf(text).flatMap((statement) => tableName.exec(statement)?.[1] ?? []);

/** The shared text's statements as PostgreSQL takes them. */
export function postgresStatements(text: string): readonly string[] {
  return statementsOf(text).flatMap((statement) => {
    const collated = statement.replace(/\btext\b/gi, 'text collate "C"').replace(/,\s*search_folded\)/gi, ")");
    const table = tableName.exec(statement)?.[1];
    if (table === undefined) return [collated];
    const wall = [
      collated,
      `alter table ${table} enable row level security`,
      `alter table ${table} force row level security`,
      `create policy one_shop on ${table} using (shop_id = current_setting('openpo.shop_id', true))`,
    ];
    if (!searchedTables.has(table)) return wall;
    return [
      ...wall,
      `create policy work_due on ${table} for select using (current_setting('openpo.looking_for_work', true) = 'on')`,
    ];
  });
}

/** A numbered line of migrations in a PostgreSQL schema: each element the statements of one step. */
export interface MigrationLine {
  /** Under which its version is kept. */
  readonly name: string;
  readonly steps: readonly (readonly string[])[];
}

export const sharedLine = (directory: string): MigrationLine => ({
  name: "shop",
  steps: loadMigrations(directory).map(postgresStatements),
});

/** A line in PostgreSQL's own words; `{schema}` in it stands for the schema's name. Each file is sent whole. */
export const ownLine = (name: string, schemaName: string): MigrationLine => ({
  name,
  steps: loadMigrations(join(import.meta.dirname, "schema", name)).map((text) => [
    text.replaceAll("{schema}", `"${schemaName}"`),
  ]),
});

/** Tries of making what several nodes that start together make at the same moment. */
const triesMax = 10;

const pauseMs = 100;

/** Two that make the same schema or table at once: the later one is told of a duplicate, and finds it there on its next try. */
const isRace = (error: unknown): boolean => ["23505", "42P06", "42P07"].includes(sqlState(error) ?? "");

/**
 * Brings a PostgreSQL schema to the program's version. Of several nodes that start together one migrates and the others wait.
 *
 * @throws Error when the schema is of a newer version of the program, or the role may not change it.
 */
export async function migratePostgres(
  pool: PostgresPool,
  schemaName: string,
  lines: readonly MigrationLine[],
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await pool.using((connection) => migrate(connection, schemaName, lines));
      return;
    } catch (error) {
      if (!isRace(error) || tries === triesMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function migrate(
  connection: PostgresConnection,
  schemaName: string,
  lines: readonly MigrationLine[],
): Promise<void> {
  const run = async (text: string): Promise<void> => {
    await connection.rowsOf([{ ...command(text), answerMsMax: maintenanceMsMax }]);
  };
  try {
    await run("begin");
    await run("set local lock_timeout = 0");
    await run("set local statement_timeout = 0");
    const [schema] = await connection.run("select 1 as found from pg_namespace where nspname = $1", [schemaName]);
    if (schema === undefined) await run(`create schema "${schemaName}"`);
    await run(`set local search_path = "${schemaName}"`);
    await run(`create table if not exists migration (
      line text not null, version bigint not null, primary key (line, version))`);
    // Whoever comes second waits here, and then finds it done.
    await run("lock table migration in share row exclusive mode");
    for (const { name, steps } of lines) {
      const [row] = await connection.run<{ version: number | null }>(
        "select max(version) as version from migration where line = $1",
        [name],
      );
      const version = row?.version ?? 0;
      if (version > steps.length)
        throw new Error(
          `The database's schema ${schemaName} was written by a newer version of OpenPO (${name} ${version}; this one knows ${steps.length}). Run the newer version.`,
        );
      for (const [index, statements] of steps.entries()) {
        if (index < version) continue;
        for (const statement of statements) await run(statement);
        await connection.run("insert into migration (line, version) values ($1, $2)", [name, index + 1]);
      }
    }
    await run("commit");
  } catch (error) {
    connection.sendOnly([command("rollback")]);
    throw error;
  }
}
