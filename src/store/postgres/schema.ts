/**
 * Numbered migrations of a PostgreSQL schema, made from the SQL text that all engines share (D6), and the row-level
 * security between shops (D66).
 *
 * - Every `text` column is compared by code point, as sqlite does it (`collate "C"`).
 * - Indexes leave out `search_folded`. sqlite keeps it in the index; PostgreSQL limits the length of an index entry.
 * - Every table gets row-level security: a transaction sees and writes the rows of the one shop that it has named
 *   (`openpo.shop_id`), whatever its statements say. An update, insert or delete in a migration is about all shops. The
 *   owner of the tables, who runs it, may do so for that statement. Tables that are searched over all shops (D77) get a
 *   second policy, for reading.
 * - A schema in use is changed when nothing runs on its shops: a migration first takes the table that every turn and
 *   look begins with. So it and a turn never wait for each other. It waits for what runs, and gives up after
 *   `quietMsMax` and tries again later, since everything that begins meanwhile waits behind it. So a backup that runs
 *   for an hour holds up the new node, not the service.
 * - The role may not truncate tables: row-level security does not hold for that, and no statement of the program does
 *   it.
 */
import { join } from "node:path";
import { escapeLiteral } from "pg";
import type { DueRows, Log } from "../store.ts";
import { type Computed, computedBy, loadMigrations, statementsOf } from "../migrations.ts";
import {
  type PostgresConnection,
  type PostgresPool,
  type Query,
  beginWrite,
  command,
  commit,
  maintenanceMsMax,
  rollback,
  sqlState,
} from "./connection.ts";
import { sleep } from "../../base/time/waiting.ts";

const tableChange = /^(create|drop)\s+table\s+(\w+)/i;

/** Names of the tables that these migrations leave. */
export function tablesOf(migrations: readonly string[]): readonly string[] {
  const tables = new Set<string>();
  for (const statement of migrations.flatMap(statementsOf)) {
    const [, change = "", table = ""] = tableChange.exec(statement) ?? [];
    if (change.toLowerCase() === "create") tables.add(table);
    else tables.delete(table);
  }
  return [...tables];
}

/** Tables that a statement reads or writes to change existing rows, or to fill their new columns. */
const filledTables = (statement: string): readonly string[] =>
  /^(?:update|insert|delete)\b/i.test(statement)
    ? [...new Set([...statement.matchAll(/\b(?:update|into|from|join)\s+(\w+)/gi)].map(([, table = ""]) => table))]
    : [];

/** A statement, or one whose values the program computes. */
type Step = string | Computed;

/** The shared text's statements as PostgreSQL takes them. */
function postgresStatements(text: string): readonly Step[] {
  return statementsOf(text).flatMap((statement): readonly Step[] => {
    const declares = /^(?:create|alter)\b/i.test(statement);
    const collated = declares
      ? statement.replace(/\btext\b/gi, 'text collate "C"').replace(/,\s*search_folded\)/gi, ")")
      : statement;
    const filled = filledTables(statement);
    if (filled.length > 0)
      return [
        ...filled.map((table) => `alter table ${table} no force row level security`),
        computedBy(statement) ?? collated,
        ...filled.map((table) => `alter table ${table} force row level security`),
      ];
    const [, change, table] = tableChange.exec(statement) ?? [];
    if (table === undefined || change?.toLowerCase() !== "create") return [collated];
    return [
      collated,
      `alter table ${table} enable row level security`,
      `alter table ${table} force row level security`,
      `create policy one_shop on ${table} using (shop_id = current_setting('openpo.shop_id', true))`,
    ];
  });
}

/** Lets the transaction read the searched tables of all shops. */
export const searchAllShops = "set local openpo.looking_for_work = 'on'";

/**
 * Policy that lets a search in. Databases in use have it under this name, made by their migrations before searches were
 * passed in.
 */
const searchPolicy = "work_due";

/** A numbered sequence of migrations of a PostgreSQL schema. */
interface MigrationLine {
  /** The name under which its version is kept. */
  readonly name: string;
  /** Step n brings the schema from version n − 1 to n; each step is a list of statements. */
  readonly steps: readonly (readonly Step[])[];
}

/** The migrations that all engines share. */
export const sharedLine = (directory: string): MigrationLine => ({
  name: "shop",
  steps: loadMigrations(directory).map(postgresStatements),
});

/**
 * Migrations in PostgreSQL's own SQL, below `schema/`; `{schema}` stands for the schema's name. Each file is one
 * statement list.
 */
export const ownLine = (name: string, schemaName: string): MigrationLine => ({
  name,
  steps: loadMigrations(join(import.meta.dirname, "schema", name)).map((text) => [
    text.replaceAll("{schema}", `"${schemaName}"`),
  ]),
});

/** Where rows are that are searched for over all shops. */
type SearchedRows = Pick<DueRows, "table" | "searchedBy">;

/** Tries to migrate while other nodes that start at the same moment do so too. */
const triesMax = 10;

const pauseMs = 100;

/** Longest wait of a migration for a table. PostgreSQL has a vacuum give way after a second. */
const quietMsMax = 2_000;

/** Until it tries again. */
const quietPauseMs = 3_000;

/** Time for which it tries. */
const quietTriesMsMax = 600_000;

/** Somebody else holds a table, or waits for one that the migration holds. */
const isHeld = (error: unknown): boolean => ["55P03", "40P01"].includes(sqlState(error) ?? "");

/**
 * Two nodes have made the same schema or table at once. One gets an error about a duplicate, and finds it made on its
 * next try.
 */
const isRace = (error: unknown): boolean => ["23505", "42P06", "42P07"].includes(sqlState(error) ?? "");

interface MigrationOptions {
  /** Rows that are searched for over all shops. Default: none. */
  readonly searched?: readonly SearchedRows[];
  /** The program as people know it (`OpenPO 0.1.0`). A schema that it migrates says so in its comment. */
  readonly program?: string | undefined;
  readonly log?: Log | undefined;
  /** Time for which it is tried while others hold a table. */
  readonly triesMsMax?: number;
}

/**
 * Brings a PostgreSQL schema to the program's version. Of several nodes that start together one migrates and the others
 * wait.
 *
 * @throws Error when the schema is of a newer version of the program, or the role may not change it.
 */
export async function migratePostgres(
  pool: PostgresPool,
  schemaName: string,
  lines: readonly MigrationLine[],
  options: MigrationOptions = {},
): Promise<void> {
  const { log, triesMsMax = quietTriesMsMax } = options;
  const untilMs = performance.now() + triesMsMax;
  for (let races = 0; ;) {
    try {
      await pool.using((connection) => migrate(connection, schemaName, lines, options));
      return;
    } catch (error) {
      if (isHeld(error)) {
        if (performance.now() > untilMs)
          throw new Error(
            `its schema ${schemaName} could not be brought to this version: other sessions hold its tables, such as a backup that runs. Start again when they have ended.`,
            { cause: error },
          );
        log?.warn({ err: error, schemaName }, "the migration waits until other sessions have let go of a table");
        await sleep(quietPauseMs);
      } else {
        races += 1;
        if (!isRace(error) || races === triesMax) throw error;
        await sleep(pauseMs);
      }
    }
  }
}

/** One try, in one transaction: runs the steps that the schema has not had, while other nodes wait. */
async function migrate(
  connection: PostgresConnection,
  schemaName: string,
  lines: readonly MigrationLine[],
  { searched = [], program }: MigrationOptions,
): Promise<void> {
  const ask = async (query: Query): Promise<void> => {
    await connection.rowsOf([{ ...query, answerMsMax: maintenanceMsMax }]);
  };
  const run = (text: string): Promise<void> => ask(command(text));
  try {
    await ask(beginWrite);
    await run("set local lock_timeout = 0");
    await run("set local statement_timeout = 0");
    const [schema] = await connection.run("select 1 as found from pg_namespace where nspname = $1", [schemaName]);
    if (schema === undefined) await run(`create schema "${schemaName}"`);
    await run(`set local search_path = "${schemaName}"`);
    await run(`create table if not exists migration (
      line text not null, version bigint not null, primary key (line, version))`);
    // A node that comes second waits here, and then finds everything done.
    await run("lock table migration in share row exclusive mode");
    if (await isBehind(connection, schemaName, lines)) {
      await run(`set local lock_timeout = ${quietMsMax}`);
      await run("lock table engine_shop in access exclusive mode");
    }
    let isChanged = false;
    for (const line of lines) if (await migrateLine(connection, schemaName, line, { run, program })) isChanged = true;
    if (isChanged && program !== undefined)
      await run(`comment on schema "${schemaName}" is ${escapeLiteral(`${writtenBy}${program}`)}`);
    const tables = searched.map(({ table }) => table);
    await allowSearches(connection, schemaName, tables, run);
    await indexSearches(connection, schemaName, searched, run);
    await denyTruncate(connection, schemaName, run);
    await ask(commit);
  } catch (error) {
    connection.sendOnly([rollback]);
    throw error;
  }
}

/** Prefix of a schema's comment; the program that has changed the schema last follows. */
const writtenBy = "Written by ";

/** The program that has changed the schema last, as far as that is known. */
async function writerOf(connection: PostgresConnection, schemaName: string): Promise<string> {
  const [row] = await connection.run<{ comment: string | null }>(
    "select obj_description($1::regnamespace, 'pg_namespace') as comment",
    [`"${schemaName}"`],
  );
  const comment = row?.comment ?? "";
  return comment.startsWith(writtenBy) ? comment.slice(writtenBy.length) : "a newer version of OpenPO";
}

/** True if the schema holds shops, and there are steps that it has not had. */
async function isBehind(
  connection: PostgresConnection,
  schemaName: string,
  lines: readonly MigrationLine[],
): Promise<boolean> {
  const [shops] = await connection.run(
    "select 1 as found from pg_class where relnamespace = $1::regnamespace and relname = $2",
    [`"${schemaName}"`, "engine_shop"],
  );
  if (shops === undefined) return false;
  const rows = await connection.run<{ line: string; version: number }>(
    "select line, max(version) as version from migration group by line",
  );
  const versions = new Map(rows.map(({ line, version }) => [line, version]));
  return lines.some(({ name, steps }) => (versions.get(name) ?? 0) < steps.length);
}

/** Rows of which the values are computed at once. */
const filledRows = 1_000;

/** Sets the column of every row to what is computed of the expression. */
async function fill(connection: PostgresConnection, { table, column, compute, expression }: Computed): Promise<void> {
  await connection.run(
    `declare to_fill no scroll cursor for
       select cast(tableoid as text) as part, cast(ctid as text) as place, ${expression} as value from ${table}`,
  );
  interface Row {
    readonly part: string;
    readonly place: string;
    readonly value: string | null;
  }
  for (;;) {
    const rows = await connection.run<Row>(`fetch ${filledRows} from to_fill`);
    if (rows.length === 0) break;
    const filled = rows.flatMap(({ value, ...row }) => (value === null ? [] : { ...row, value: compute(value) }));
    await connection.run(
      `update ${table} t set ${column} = f.value
       from json_to_recordset(cast($1 as json)) as f(part oid, place tid, value text)
       where t.tableoid = f.part and t.ctid = f.place`,
      [JSON.stringify(filled)],
    );
  }
  await connection.run("close to_fill");
}

/** Runs the steps of one line that the schema has not had yet. @returns whether there were any. */
async function migrateLine(
  connection: PostgresConnection,
  schemaName: string,
  { name, steps }: MigrationLine,
  {
    run,
    program = "this version",
  }: { readonly run: (text: string) => Promise<void>; readonly program?: string | undefined },
): Promise<boolean> {
  const [row] = await connection.run<{ version: number | null }>(
    "select max(version) as version from migration where line = $1",
    [name],
  );
  const version = row?.version ?? 0;
  if (version > steps.length)
    throw new Error(
      `its schema ${schemaName} was written by ${await writerOf(connection, schemaName)} (${name} ${version}), which is newer: ${program} knows ${name} ${steps.length}. Start the newer version again, or restore a backup from before the upgrade into another database.`,
    );
  for (const [index, statements] of steps.entries()) {
    if (index < version) continue;
    for (const statement of statements)
      await (typeof statement === "string" ? run(statement) : fill(connection, statement));
    await connection.run("insert into migration (line, version) values ($1, $2)", [name, index + 1]);
  }
  return version < steps.length;
}

/**
 * Makes the policies by which these tables can be searched over all shops, where they are missing. A table without
 * row-level security (an operator has distributed it, docs/distribution.sql) needs none.
 */
async function allowSearches(
  connection: PostgresConnection,
  schemaName: string,
  tables: readonly string[],
  run: (text: string) => Promise<void>,
): Promise<void> {
  if (tables.length === 0) return;
  const rows = await connection.run<{ relname: string }>(
    `select relname from pg_class
     where relnamespace = $1::regnamespace and relrowsecurity
       and not exists (select 1 from pg_policy where polrelid = pg_class.oid and polname = $2)`,
    [`"${schemaName}"`, searchPolicy],
  );
  const closed = new Set(rows.map((row) => row.relname));
  for (const table of tables)
    if (closed.has(table))
      await run(
        `create policy ${searchPolicy} on ${table} for select using (current_setting('openpo.looking_for_work', true) = 'on')`,
      );
}

/** Makes the indexes by which rows of all shops are found, where they are missing. */
async function indexSearches(
  connection: PostgresConnection,
  schemaName: string,
  searched: readonly SearchedRows[],
  run: (text: string) => Promise<void>,
): Promise<void> {
  for (const { table, searchedBy } of searched) {
    if (searchedBy === undefined) continue;
    const name = `${table}_search`;
    const [made] = await connection.run(
      "select 1 as found from pg_class where relnamespace = $1::regnamespace and relname = $2",
      [`"${schemaName}"`, name],
    );
    if (made === undefined)
      await run(`create index ${name} on ${table} (${searchedBy}, shop_id) where ${searchedBy} is not null`);
  }
}

/** Takes the right to truncate from the role that owns the tables, where it has it. */
async function denyTruncate(
  connection: PostgresConnection,
  schemaName: string,
  run: (text: string) => Promise<void>,
): Promise<void> {
  const tables = await connection.run<{ relname: string }>(
    `select relname from pg_class
     where relnamespace = $1::regnamespace and relkind in ('r', 'p') and has_table_privilege(oid, 'truncate')`,
    [`"${schemaName}"`],
  );
  for (const { relname } of tables) await run(`revoke truncate on "${relname}" from current_user`);
}
