/**
 * Connections to PostgreSQL: a bounded pool, statements sent many at a time, and how the database's errors read to a caller.
 *
 * Owns: how a connection is set, the shared text's placeholders, which statements are prepared, time limits. Does not own:
 * transactions (postgres.ts) or the schema (postgres-schema.ts).
 *
 * Invariants:
 * - N1. Whatever the server's defaults, a commit is on its disk before it is answered (`synchronous_commit`), unless the
 *       transaction itself asked otherwise.
 * - N2. Nothing is waited for without end: not a connection, not a lock, not a statement, not a peer that has vanished. A session whose
 *       client is gone gives its locks back.
 */
import {
  type CustomTypesConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type QueryResult,
  types as defaultTypes,
} from "pg";
import { Fault } from "../../core/fault.ts";
import { checkParams, unavailable } from "../engine-rules.ts";
import type { Log, SqlValue, Statement } from "../store.ts";

/** For a free connection, or a new one. */
const connectMsMax = 5_000;

/** For a lock: as long as a write may wait in a shop's queue. */
const lockMsMax = 10_000;

/** For one statement, at the server; a little later the client gives the connection up. */
const statementMsMax = 20_000;

const answerMsMax = 25_000;

/** What maintenance of a whole shop or schema may take instead: one statement of it. */
export const maintenanceMsMax = 600_000;

/** After it the server ends a transaction that says nothing, so that a node that hangs holds no shop. */
const silenceMsMax = 8_000;

/** Texts that are prepared on every connection. Beyond it, as with texts seen once, they are parsed each time. */
const preparedMax = 400;

const textsMax = 4_000;

/** What a caller waits for a database that is away, and for one that has too much to do. */
const unavailableRetryMs = 1_000;

const overloadedRetryMs = 1_000;

const serverVersionMin = 150_000;

/** A statement as PostgreSQL takes it. */
export interface Query {
  readonly text: string;
  readonly values: readonly SqlValue[];
  readonly name?: string;
  /** It changes data, as far as can be told from its first words. */
  readonly writes: boolean;
  /** Waited for as long, instead of `answerMsMax`. */
  readonly answerMsMax?: number;
}

export type Answer =
  | { readonly ok: true; readonly rows: readonly unknown[]; readonly command: string }
  | { readonly ok: false; readonly error: unknown };

/** A command of the program's own, without parameters. */
export const command = (text: string): Query => ({ text, values: [], writes: false });

interface KnownText {
  readonly text: string;
  readonly writes: boolean;
  uses: number;
  name: string | null;
}

const knownTexts = new Map<string, KnownText>();

let namesGiven = 0;

const allowed = /^\s*(select|insert|update|delete|with)\b/i;

const changes = /^\s*(?:insert|update|delete)\b|^\s*with\b[^]*\b(?:insert\s+into|update|delete\s+from)\b/i;

function known(sql: string): KnownText {
  const found = knownTexts.get(sql);
  if (found !== undefined) return found;
  // A statement of `work` never ends or begins a transaction (S2).
  if (!allowed.test(sql)) throw new Error(`not a statement that work may run: ${sql}`);
  let count = 0;
  const text = sql.replace(/'(?:[^']|'')*'|\?/g, (part) => (part === "?" ? `$${(count += 1)}` : part));
  const made: KnownText = { text, writes: changes.test(sql), uses: 0, name: null };
  if (knownTexts.size < textsMax) knownTexts.set(sql, made);
  return made;
}

/**
 * The shared text as PostgreSQL takes it. Texts that come again are prepared once a connection.
 *
 * @throws TypeError for what may not be bound, Error for what `work` may not run.
 */
export function queryOf({ sql, params }: Statement): Query {
  checkParams(params);
  const text = known(sql);
  text.uses += 1;
  if (text.uses === 2 && namesGiven < preparedMax) text.name = `s${(namesGiven += 1)}`;
  const { name, writes } = text;
  return { text: text.text, values: params, writes, ...(name === null ? {} : { name }) };
}

/** int8, numeric (what sums of int8 are). */
const numericTypes: ReadonlySet<number> = new Set([20, 1700]);

const types: CustomTypesConfig = {
  // oxlint-disable-next-line typescript/no-unsafe-return, typescript/no-explicit-any -- the library's own signature
  getTypeParser: (oid: number, format?: any): any =>
    // oxlint-disable-next-line typescript/no-unsafe-argument -- handed on as it came
    numericTypes.has(oid) ? Number : defaultTypes.getTypeParser(oid, format),
};

/** SQLSTATE of an error of the server; null for any other. */
export function sqlState(error: unknown): string | null {
  return error instanceof DatabaseError ? (error.code ?? null) : null;
}

/** The connection is gone, or will be: an error of the socket, or of a server that ends sessions. */
export function isLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return /^(?:08|57P0|25P03)/.test(state);
  return error instanceof Error && lostMessages.test(error.message);
}

const lostMessages =
  /Connection terminated|connection error|Client was closed|Query read timeout|timeout expired|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|socket/i;

const overloaded = (message: string, cause: unknown): Fault =>
  new Fault("DO_OVERLOADED", message, {
    action: "Nothing was changed. Wait, then send the same request again; send fewer requests in parallel.",
    retryAfterMs: overloadedRetryMs,
    cause,
  });

const away = (message: string, cause: unknown): Fault => unavailable(message, cause, unavailableRetryMs);

/** How an error of the store reads to a caller; null for an error of the statement, which is a bug. */
export function faultOf(error: unknown): Fault | null {
  if (error instanceof Fault) return error;
  const state = sqlState(error);
  if (state === null) return isLost(error) ? away("The database cannot be reached.", error) : null;
  if (state === "55P03") return overloaded("This shop did not get to this change in time.", error);
  if (state === "57014") return overloaded("The database did not answer in time.", error);
  if (state.startsWith("40")) return overloaded("The database had to put this off.", error);
  if (state === "53300") return overloaded("The database has no connection left.", error);
  if (isLost(error)) return away("The connection to the database was lost.", error);
  if (state === "25006") return away("The database cannot be written.", error);
  if (/^(?:53|58|XX)/.test(state)) return unavailable("The database cannot be used.", error);
  if (/^28|^3D000/.test(state)) return unavailable("The database refuses this service.", error);
  return null;
}

export interface PostgresPoolOptions {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: string;
  readonly connectionsMax: number;
  /** PostgreSQL schemas in which unqualified names are looked up. */
  readonly schemas: readonly string[];
  readonly log?: Log;
}

/** One connection, for as long as somebody has it. */
export class PostgresConnection {
  readonly #client: PoolClient;
  readonly #pool: PostgresPool;
  /** An exchange on it has failed in a way that leaves it unusable. */
  lost = false;

  constructor(client: PoolClient, pool: PostgresPool) {
    this.#client = client;
    this.#pool = pool;
  }

  /** Sends all of these in one flight. @returns their answers in the same order; never rejects. */
  async exchange(queries: readonly Query[]): Promise<readonly Answer[]> {
    this.#pool.statements += queries.length;
    this.#pool.roundTrips += 1;
    const settled = await Promise.allSettled(this.#send(queries));
    return settled.map((outcome): Answer => {
      if (outcome.status === "fulfilled") return { ok: true, rows: outcome.value.rows, command: outcome.value.command };
      if (isLost(outcome.reason)) this.lost = true;
      return { ok: false, error: outcome.reason };
    });
  }

  /** Sends these and waits for nothing: what comes next on the connection comes after them. */
  sendOnly(queries: readonly Query[]): void {
    this.#pool.statements += queries.length;
    for (const sent of this.#send(queries)) sent.catch(() => (this.lost = true));
  }

  /** Sends all of these in one flight. @returns the rows of each. @throws what the database says of the first that failed. */
  async rowsOf(queries: readonly Query[]): Promise<readonly (readonly unknown[])[]> {
    return (await this.exchange(queries)).map((answer) => {
      if (!answer.ok) throw answer.error;
      return answer.rows;
    });
  }

  /** One statement of the program's own with its rows. @throws what the database says. */
  async run<R>(text: string, values: readonly SqlValue[] = []): Promise<R[]> {
    const [rows] = await this.rowsOf([{ text, values, writes: false }]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who writes the statement names its columns
    return rows as R[];
  }

  #send(queries: readonly Query[]): readonly Promise<QueryResult>[] {
    const { stream } = this.#client.connection;
    // Together they leave as one piece.
    stream.cork();
    try {
      return queries.map(({ text, values, name, answerMsMax }) =>
        this.#client.query({
          text,
          values: [...values],
          ...(name === undefined ? {} : { name }),
          ...(answerMsMax === undefined ? {} : { query_timeout: answerMsMax }),
        }),
      );
    } finally {
      stream.uncork();
    }
  }

  /** Gives it back. One that is lost is thrown away. */
  release(): void {
    this.#client.release(this.lost);
  }
}

export class PostgresPool {
  readonly #pool: Pool;
  readonly #url: string;
  /** Counted since the start. A round trip is a wait for the database's answer, however many statements it answers. */
  statements = 0;
  roundTrips = 0;

  constructor({ url, connectionsMax, schemas, log }: PostgresPoolOptions) {
    this.#url = url;
    // Set by statements and not by the connection's options: a pooler between would refuse those.
    const settings = [
      "set client_min_messages = warning",
      "set synchronous_commit = on",
      `set search_path = ${schemas.map((name) => `"${name}"`).join(", ")}`,
      `set statement_timeout = ${statementMsMax}`,
      `set lock_timeout = ${lockMsMax}`,
      `set idle_in_transaction_session_timeout = ${silenceMsMax}`,
      "set tcp_keepalives_idle = 10",
      "set tcp_keepalives_interval = 5",
      "set tcp_keepalives_count = 3",
    ].join("; ");
    this.#pool = new Pool({
      connectionString: url,
      application_name: "openpo",
      max: connectionsMax,
      pipeline: true,
      types,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: connectMsMax,
      query_timeout: answerMsMax,
      // oxlint-disable-next-line typescript/no-misused-promises -- the library awaits it, whatever its type says
      onConnect: async (client) => {
        await client.query(settings);
      },
    });
    this.#pool.on("connect", (client) => {
      // An error of a connection is told by whoever waits on it; unheard it would end the process.
      client.on("error", () => {});
    });
    this.#pool.on("error", (error) => log?.info({ err: error }, "A connection to the database has ended."));
  }

  /** @throws Fault DO_OVERLOADED when none is free in time, DO_UNAVAILABLE when none can be made. */
  async connect(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), this);
    } catch (error) {
      if (error instanceof Error && error.message === "timeout exceeded when trying to connect")
        throw overloaded("All connections to the database are in use.", error);
      throw faultOf(error) ?? away("The database cannot be reached.", error);
    }
  }

  /** Has a connection for as long as `work` runs. */
  async using<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** @throws Error when this is not a database that can be used, saying why. */
  async check(): Promise<void> {
    await this.using(async (connection) => {
      const [server] = await connection.run<{ version: string; encoding: string; walled: boolean }>(
        `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
                not (rolsuper or rolbypassrls) as walled
         from pg_roles where rolname = current_user`,
      );
      if (Number(server?.version) < serverVersionMin)
        throw new Error(`The database is PostgreSQL ${server?.version ?? "?"}; OpenPO needs 15 or later.`);
      if (server?.encoding !== "UTF8")
        throw new Error(`The database's encoding is ${server?.encoding ?? "?"}; OpenPO needs UTF8.`);
      this.walled = server.walled;
    });
  }

  /** Row-level security holds for the role that connects. */
  walled = true;

  /** Open ones, in use or not. */
  get connections(): number {
    return this.#pool.totalCount;
  }

  /** Those who wait for one. */
  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** The database without user and password, for messages. */
  get place(): string {
    const { host, pathname } = new URL(this.#url);
    return `${host}${pathname}`;
  }

  /** Waits for what is under way and closes every connection. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }
}

/** Opens a pool and looks whether the database can be used. @throws Fault, or Error saying what is wrong with it. */
export async function openPostgresPool(options: PostgresPoolOptions): Promise<PostgresPool> {
  const pool = new PostgresPool(options);
  try {
    await pool.check();
    if (!pool.walled)
      options.log?.info(
        { database: pool.place },
        "The database's role is a superuser or bypasses row-level security: that wall between shops does not stand.",
      );
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}
