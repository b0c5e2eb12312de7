/**
 * Connections to PostgreSQL: a bounded pool, many statements in one round trip, and the faults that callers see for the
 * database's errors.
 *
 * Owns: settings of a connection, the shared SQL's placeholders, which statements are prepared, time limits. Does not
 * own: transactions (transaction.ts, engine.ts), the schema (schema.ts).
 *
 * Invariants:
 * - N1. Whatever the server's defaults are, a commit is on the server's disk before it is answered
 *       (`synchronous_commit`), unless the transaction itself asks otherwise.
 * - N2. Every wait has a limit: for a connection, a lock, a statement, a server that no longer answers. A session whose
 *       client is gone releases its locks.
 * - N3. A connection has a session of its own for as long as it is open: settings and prepared statements belong to the
 *       session. A pooler that gives each transaction any session is refused (`check`).
 */
import {
  Client,
  type CustomTypesConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type QueryResult,
  types as defaultTypes,
} from "pg";
import { Fault } from "../../base/fault.ts";
import { checkParams, unavailable } from "../engine-rules.ts";
import type { Log, SqlValue, Statement } from "../store.ts";
import { type Answer, Segment, type Session } from "./segment.ts";

export type { Answer } from "./segment.ts";

/** Longest wait for a free or new connection. */
export const connectMsMax = 5_000;

/** Longest wait for a lock: as long as a write may wait in a shop's queue. */
export const lockMsMax = 10_000;

/** Longest run of one statement at the server. The client waits a little longer and then drops the connection. */
export const statementMsMax = 20_000;

/** Longest wait for the answer to a statement. */
export const answerMsMax = 25_000;

/** The same for one statement of maintenance on a whole shop or schema. */
export const maintenanceMsMax = 600_000;

/** The server ends a transaction that is idle for so long, so that a node that hangs does not hold a shop. */
export const idleTransactionMsMax = 8_000;

/** Texts that are prepared on every connection. Further ones, and those used only once, are parsed each time. */
export const preparedMax = 400;

/** Texts that are known. Further ones are translated each time. */
export const textsMax = 4_000;

/** When a caller tries again: a database that cannot be reached, and one that is overloaded. */
const unavailableRetryMs = 1_000;

const overloadedRetryMs = 1_000;

const serverVersionMin = 150_000;

/** Tries to find out if a pooler lends a connection's session to another one. */
const sharingTriesMax = 3;

/** A statement as PostgreSQL takes it. */
export interface Query {
  readonly text: string;
  readonly values: readonly SqlValue[];
  readonly name?: string;
  /** It changes data, judged by its first words. */
  readonly writes: boolean;
  /** Longest wait for its answer, instead of `answerMsMax`. */
  readonly answerMsMax?: number;
}

/** A command in PostgreSQL's own SQL, without parameters; or several, of which the last one's answer counts. */
export const command = (text: string): Query => ({ text, values: [], writes: false });

/** A command that many transactions have. It is prepared, once per connection. */
const usualCommand = (text: string, name: string): Query => ({ ...command(text), name: `command.${name}` });

export const beginWrite = usualCommand("begin", "begin");

export const beginRead = usualCommand("begin isolation level repeatable read read only", "begin_read");

/** For a transaction that may be lost in a power cut. */
export const unsynced = usualCommand("set local synchronous_commit = off", "unsynced");

export const commit = usualCommand("commit", "commit");

export const rollback = usualCommand("rollback", "rollback");

export const savepoint = usualCommand("savepoint part", "savepoint");

export const releaseSavepoint = usualCommand("release savepoint part", "release");

export const undoToSavepoint = usualCommand("rollback to savepoint part", "undo");

const endsTransaction = /^(?:commit|rollback)$/i;

/** Several commands in one text, which cannot be prepared. */
const isSeveral = ({ text, values, name }: Query): boolean =>
  values.length === 0 && name === undefined && text.includes(";");

/**
 * Returns the queries by segment: each is sent with one sync. The end of a transaction before another one stands alone,
 * so that it ends also a transaction that has failed.
 */
function segmentsOf(queries: readonly Query[]): readonly (readonly Query[])[] {
  const segments: Query[][] = [];
  let open: Query[] | null = null;
  for (const [index, query] of queries.entries()) {
    const ends = endsTransaction.test(query.text);
    const standsAlone = isSeveral(query) || (ends && index < queries.length - 1);
    if (open === null || standsAlone) segments.push((open = []));
    open.push(query);
    if (standsAlone || ends) open = null;
  }
  return segments;
}

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

/** The shared SQL with PostgreSQL's placeholders, which are counted from `after` on. */
export function numbered(sql: string, after: number): string {
  let count = after;
  return sql.replace(/'(?:[^']|'')*'|\?/g, (part) => (part === "?" ? `$${(count += 1)}` : part));
}

function known(sql: string): KnownText {
  const found = knownTexts.get(sql);
  if (found !== undefined) return found;
  // A statement of `work` never ends or begins a transaction (S2).
  if (!allowed.test(sql)) throw new Error(`not a statement that work may run: ${sql}`);
  const made: KnownText = { text: numbered(sql, 0), writes: changes.test(sql), uses: 0, name: null };
  if (knownTexts.size < textsMax) knownTexts.set(sql, made);
  return made;
}

/**
 * A statement of the shared SQL as PostgreSQL takes it. A text that is used again is prepared, once per connection.
 *
 * @throws TypeError for a value that may not be bound, Error for a statement that `work` may not run.
 */
export function queryOf({ sql, params }: Statement): Query {
  checkParams(params);
  const text = known(sql);
  text.uses += 1;
  if (text.uses === 2 && namesGiven < preparedMax) text.name = `s${(namesGiven += 1)}`;
  const { name, writes } = text;
  return { text: text.text, values: params, writes, ...(name === null ? {} : { name }) };
}

/** int8, and numeric, which is the type of sums of int8. */
const numericTypes: ReadonlySet<number> = new Set([20, 1700]);

/** Returns the parser of a value's text. Values are always sent as text. */
const parserOf = (typeId: number): ((text: string) => unknown) =>
  numericTypes.has(typeId) ? Number : defaultTypes.getTypeParser(typeId, "text");

/** Query that ends the transaction of a connection and is yet to be sent. */
const endings = new WeakMap<PoolClient, { readonly query: Query }>();

/** Statements that are prepared on each connection. */
const sessions = new WeakMap<PoolClient, Session>();

function sessionOf(client: PoolClient): Session {
  const found = sessions.get(client);
  if (found !== undefined) return found;
  const made: Session = new Map();
  sessions.set(client, made);
  return made;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the library's own signature
const types: CustomTypesConfig = { getTypeParser: (typeId: number): any => parserOf(typeId) };

/** The SQLSTATE of an error from the server; null for any other error. */
export function sqlState(error: unknown): string | null {
  return error instanceof DatabaseError ? (error.code ?? null) : null;
}

/** True if the error means that the connection is lost: a socket error, or a server that ends sessions. */
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

/**
 * Returns the refusal of a write that was undone with another one of its transaction, whose rows were refused when all
 * had run (D382).
 */
export const undoneWith = (cause: unknown): Fault =>
  overloaded("This was undone together with another change of the shop, which could not be kept.", cause);

const unreachable = (message: string, cause: unknown): Fault => unavailable(message, cause, unavailableRetryMs);

/** The fault that a caller sees for an error of the store; null for an error about the statement, which is a bug. */
export function faultOf(error: unknown): Fault | null {
  if (error instanceof Fault) return error;
  const state = sqlState(error);
  if (state === null) return isLost(error) ? unreachable("The database cannot be reached.", error) : null;
  if (state === "55P03") return overloaded("This shop did not get to this change in time.", error);
  if (state === "57014") return overloaded("The database did not answer in time.", error);
  if (state.startsWith("40")) return overloaded("The database rolled this back because of other transactions.", error);
  if (state === "53300") return overloaded("The database has no connection left.", error);
  if (isLost(error)) return unreachable("The connection to the database was lost.", error);
  if (state === "25006") return unreachable("The database cannot be written.", error);
  if (/^(?:53|58|XX)/.test(state)) return unavailable("The database cannot be used.", error);
  if (/^28|^3D000/.test(state)) return unavailable("The database refuses this service.", error);
  return null;
}

/** True if the error says that the database answers but takes nothing: its disk is full, or it is read-only. */
export function takesNothing(error: unknown): boolean {
  const state = sqlState(error instanceof Fault ? error.cause : error);
  return state === "53100" || state === "25006";
}

interface PostgresPoolOptions {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: string;
  readonly connectionsMax: number;
  /** PostgreSQL schemas in which unqualified names are looked up. */
  readonly schemas: readonly string[];
  readonly log?: Log;
}

/** The rows of each answer. @throws the database's error of the first that failed. */
export const rowsOf = (answers: readonly Answer[]): readonly (readonly unknown[])[] =>
  answers.map((answer) => {
    if (!answer.ok) throw answer.error;
    return answer.rows;
  });

/** Of a text with several commands, the library answers an array of results, although its type does not say so. */
function lastOf(result: QueryResult | readonly QueryResult[]): QueryResult {
  if ("rows" in result) return result;
  const last = result.at(-1);
  if (last === undefined) throw new Error("the database has answered nothing");
  return last;
}

/** A connection that was taken from the pool, until `release`. */
export class PostgresConnection {
  readonly #client: PoolClient;
  readonly #pool: PostgresPool;
  /** An error has made it unusable. */
  lost = false;

  constructor(client: PoolClient, pool: PostgresPool) {
    this.#client = client;
    this.#pool = pool;
  }

  /** The process of the session that the server has named when the connection was opened. */
  get processId(): number {
    return "processID" in this.#client ? Number(this.#client.processID) : 0;
  }

  /**
   * Sends all queries in one round trip. Once one has failed, those that follow it in its transaction fail with it, and
   * a transaction that should have ended is rolled back.
   *
   * @returns their answers in the same order; never rejects.
   */
  async exchange(queries: readonly Query[]): Promise<readonly Answer[]> {
    this.#pool.statements += queries.length;
    this.#pool.roundTrips += 1;
    const answers = await this.#send(queries);
    const last = queries.at(-1);
    if (!this.lost && answers.at(-1)?.ok === false && last !== undefined && endsTransaction.test(last.text))
      this.sendOnly([rollback]);
    return answers;
  }

  /**
   * Ends the connection's transaction with the next query on it, whoever sends that. The end of this round of the event
   * loop is the latest time.
   */
  endLater(query: Query): void {
    const ending = { query };
    endings.set(this.#client, ending);
    setImmediate(() => {
      if (endings.get(this.#client) === ending) this.sendOnly([]);
    });
  }

  /** Sends the queries and does not wait for answers. Later ones on this connection come after them. */
  sendOnly(queries: readonly Query[]): void {
    this.#pool.statements += queries.length;
    void this.#loseIfFailed(this.#send(queries));
  }

  async #loseIfFailed(sent: Promise<readonly Answer[]>): Promise<void> {
    if ((await sent).some(({ ok }) => !ok)) this.lost = true;
  }

  /**
   * Sends all queries in one round trip. @returns the rows of each. @throws the database's error of the first that
   * failed.
   */
  async rowsOf(queries: readonly Query[]): Promise<readonly (readonly unknown[])[]> {
    return rowsOf(await this.exchange(queries));
  }

  /** Runs one statement in PostgreSQL's own SQL. @returns its rows. @throws the database's error. */
  async run<R>(text: string, values: readonly SqlValue[] = []): Promise<R[]> {
    const [rows] = await this.rowsOf([{ text, values, writes: false }]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
    return rows as R[];
  }

  async #send(queries: readonly Query[]): Promise<readonly Answer[]> {
    const { stream } = this.#client.connection;
    const sent: Promise<readonly Answer[]>[] = [];
    const ending = endings.get(this.#client);
    endings.delete(this.#client);
    // Corked, they leave in one packet.
    stream.cork();
    try {
      if (ending !== undefined) void this.#loseIfFailed(this.#sendSegment([ending.query]));
      for (const segment of segmentsOf(queries)) sent.push(this.#sendSegment(segment));
    } finally {
      stream.uncork();
    }
    const answers = (await Promise.all(sent)).flat();
    if (answers.some((answer) => !answer.ok && isLost(answer.error))) this.lost = true;
    return answers;
  }

  #sendSegment(queries: readonly Query[]): Promise<readonly Answer[]> {
    const [first] = queries;
    if (first !== undefined && isSeveral(first)) return this.#sendText(first);
    const limits = queries.flatMap((query) => query.answerMsMax ?? []);
    const segment = new Segment(
      queries,
      sessionOf(this.#client),
      parserOf,
      limits.length === 0 ? undefined : Math.max(...limits),
    );
    this.#client.query(segment);
    return segment.answers;
  }

  async #sendText({ text, answerMsMax: query_timeout }: Query): Promise<readonly Answer[]> {
    try {
      const result = await this.#client.query({ text, ...(query_timeout === undefined ? {} : { query_timeout }) });
      const { rows, command: said } = lastOf(result);
      return [{ ok: true, rows, command: said }];
    } catch (error) {
      return [{ ok: false, error }];
    }
  }

  /** Returns it to the pool; a lost one is closed. */
  release(): void {
    this.#client.release(this.lost);
  }
}

/** The connections of a process. */
export class PostgresPool {
  readonly #pool: Pool;
  readonly #url: string;
  /** Counts since the start. A round trip is one wait for answers, however many statements were sent. */
  statements = 0;
  roundTrips = 0;

  constructor({ url, connectionsMax, schemas, log }: PostgresPoolOptions) {
    this.#url = url;
    // Set by statements and not by options of the connection, which a pooler in between would refuse.
    const settings = [
      "set client_min_messages = warning",
      "set synchronous_commit = on",
      // Statistics know nothing of a shop that is new or has grown, and a plan made for its id then reads all of its
      // rows where a key would do (D369).
      "set plan_cache_mode = force_generic_plan",
      // A plan is kept while its table grows. One that reads all of a small table would be the plan for a large one
      // (D369).
      "set enable_seqscan = off",
      // Up to version 17 a plan with a scan that is off costs so much that the server compiles it, each time: 750 ms
      // for the search for what is due (D369).
      "set jit = off",
      `set search_path = ${schemas.map((name) => `"${name}"`).join(", ")}`,
      `set statement_timeout = ${statementMsMax}`,
      `set lock_timeout = ${lockMsMax}`,
      `set idle_in_transaction_session_timeout = ${idleTransactionMsMax}`,
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
      // oxlint-disable-next-line typescript/no-misused-promises -- the library awaits it, although its type does not say so
      onConnect: async (client) => {
        await client.query(settings);
      },
    });
    this.#pool.on("connect", (client) => {
      // Those who wait on the connection get its error. Without a listener it would also end the process.
      client.on("error", () => {});
    });
    this.#pool.on("error", (error) => log?.info({ err: error }, "A connection to the database has ended."));
  }

  /**
   * Takes a connection. @throws Fault DO_OVERLOADED when none is free in time, DO_UNAVAILABLE when none can be opened.
   */
  async connect(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), this);
    } catch (error) {
      if (error instanceof Error && error.message === "timeout exceeded when trying to connect")
        throw overloaded("All connections to the database are in use.", error);
      throw faultOf(error) ?? unreachable("The database cannot be reached.", error);
    }
  }

  /** Takes a connection while `work` runs. */
  async using<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect();
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /**
   * Checks the server's version and encoding, and whether row-level security holds. @throws Error saying what is wrong.
   */
  async check(): Promise<void> {
    await this.using(async (connection) => {
      const [server] = await connection.run<{ version: string; encoding: string; secured: boolean; pid: number }>(
        `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
                not (rolsuper or rolbypassrls) as secured, pg_backend_pid() as pid
         from pg_roles where rolname = current_user`,
      );
      if (Number(server?.version) < serverVersionMin)
        throw new Error(`The database is PostgreSQL ${server?.version ?? "?"}; OpenPO needs 15 or later.`);
      if (server?.encoding !== "UTF8")
        throw new Error(`The database's encoding is ${server?.encoding ?? "?"}; OpenPO needs UTF8.`);
      this.rowSecurityHolds = server.secured;
      // Where the server has named its own process there is no pooler in between.
      if (server.pid !== connection.processId && (await this.#sharesSession(connection)))
        throw new Error(
          "A pooler in between gives each transaction another session of the database, and OpenPO needs one for each connection. With PgBouncer set pool_mode = session for this database, or name PostgreSQL itself.",
        );
    });
  }

  /**
   * True if a pooler lends the session of this connection to others between two transactions. Another connection begins
   * a transaction and checks which session it has got.
   */
  async #sharesSession(connection: PostgresConnection): Promise<boolean> {
    const pidQuery = "select pg_backend_pid() as pid";
    const own = async (): Promise<number | undefined> => (await connection.run<{ pid: number }>(pidQuery))[0]?.pid;
    for (let tries = 0; tries < sharingTriesMax; tries += 1) {
      const before = await own();
      const other = new Client({
        connectionString: this.#url,
        connectionTimeoutMillis: connectMsMax,
        query_timeout: connectMsMax,
      });
      // Those who wait for an answer get the error.
      other.on("error", () => {});
      try {
        await other.connect();
        await other.query("begin");
        const { rows } = await other.query<{ pid: number }>(pidQuery);
        if (rows[0]?.pid === before || (await own()) !== before) return true;
      } catch (error) {
        // It lends a session for a statement only, and refuses transactions.
        if (sqlState(error) === "08P01") return true;
        // Without a further connection nothing can be told.
        return false;
      } finally {
        await other.end();
      }
    }
    return false;
  }

  /** Row-level security holds for the role that connects. */
  rowSecurityHolds = true;

  /** Open connections, in use or not. */
  get connections(): number {
    return this.#pool.totalCount;
  }

  /** Callers that wait for a connection. */
  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** The database without user and password, for messages. */
  get place(): string {
    const { host, pathname } = new URL(this.#url);
    return `${host}${pathname}`;
  }

  /** Waits for what runs and closes every connection. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }
}

/**
 * Opens a pool and checks the database. @throws Fault when it cannot be reached, Error saying what is wrong with it.
 */
export async function openPostgresPool(options: PostgresPoolOptions): Promise<PostgresPool> {
  const pool = new PostgresPool(options);
  try {
    await pool.check();
    if (!pool.rowSecurityHolds)
      options.log?.warn(
        { database: pool.place },
        "The database's role is a superuser or bypasses row-level security, so it does not separate the shops.",
      );
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}
