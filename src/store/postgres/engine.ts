/**
 * The engine for many nodes: all shops in one PostgreSQL schema, every table keyed by shop id (architecture, "Engines").
 *
 * Owns: a shop's turn across nodes, what travels together, what runs together, whether a commit happened. Does not own: the line of
 * writes that wait within this node (queue.ts), connections and errors (postgres-connection.ts), tables (postgres-schema.ts).
 *
 * - A turn holds the lock of the shop's row, so writes of a shop take effect one at a time however many nodes there are (S1). Under the
 *   lock each statement sees what was committed last. A read is one snapshot and takes no lock; what is only added (`append`) keeps the
 *   shop from being removed and waits for nothing else.
 * - Statements that answer nothing are kept back and leave with the next one that does, or with the commit: a change is a flight for
 *   the turn and its first load, one for each further load, one for everything it saves.
 * - Writes of a shop that wait together share a transaction, each behind a savepoint. What a write saves leaves with the first load of
 *   the next; one that fails there is undone alone, and what followed it is sent again: nobody has seen an answer to that yet.
 * - A commit whose answer got lost is looked up by a mark that the turn has left, which is known before the commit is sent (S4). Only when
 *   the database stays away is it told as unknown.
 */
import { Fault } from "../../core/fault.ts";
import { mention } from "../../core/guidance.ts";
import { shopIdPattern } from "../../core/api-key.ts";
import { notFound, unavailable } from "../engine-rules.ts";
import { loadMigrations } from "../migrations.ts";
import { type QueueLimits, type QueuedWrite, ShopQueue, defaultQueueLimits } from "../queue.ts";
import type { Clock, DueRows, Engine, Log, SqlValue, Statement, Tx, WriteOptions } from "../store.ts";
import {
  type Answer,
  type PostgresConnection,
  type PostgresPool,
  type Query,
  command,
  faultOf,
  isLost,
  maintenanceMsMax,
  queryOf,
  sqlState,
} from "./connection.ts";
import { migratePostgres, ownLine, searchAllShops, sharedLine, tablesOf } from "./schema.ts";

/** Writes that share a transaction: the more, the longer other nodes wait for the shop. */
const groupLengthMax = 32;

/** How long a commit's outcome is looked for, and how often. */
const outcomeMsMax = 12_000;

const outcomePauseMs = 200;

/** What somebody waits who was told that an outcome is not known. */
const unknownRetryMs = 2_000;

export interface PostgresEngineOptions {
  readonly pool: PostgresPool;
  /** The PostgreSQL schema that holds these shops; made if it is absent. */
  readonly schemaName: string;
  /** Where the numbered migrations are. */
  readonly schemaDirectory: string;
  /** Rows that `shopsWithDueRows` searches for. Default: none. */
  readonly dueRows?: readonly DueRows[];
  readonly queue?: QueueLimits;
  readonly clock: Clock;
  readonly log?: Log;
}

type Work<T> = (tx: Tx) => Promise<T>;

/** A statement of a work; one that answers has somebody waiting. */
interface Entry {
  readonly query: Query;
  readonly waiter: { resolve(rows: readonly unknown[]): void; reject(error: unknown): void } | null;
}

/** One work's part of a transaction. */
class Part {
  /** Not sent yet, or sent without success. */
  entries: Entry[] = [];
  /** Its savepoint stands. */
  marked = false;
  /** Its work is over. */
  ended = false;
  wrote = false;
  /** Why nothing of it can be kept. */
  trouble: { readonly error: unknown } | null = null;

  /** Gives up what has not been sent. */
  fail(error: unknown): void {
    this.trouble ??= { error };
    for (const { waiter } of this.entries.splice(0)) waiter?.reject(error);
  }
}

const savepoint = command("savepoint part");

const release = command("release savepoint part");

const undo = command("rollback to savepoint part");

interface Sent {
  readonly query: Query;
  readonly part: Part | null;
  readonly entry: Entry | null;
}

/** One transaction on one connection: sends what its parts want, as much as possible at once. */
class Transaction {
  readonly #connection: PostgresConnection;
  readonly #opening: readonly Query[];
  /** Several works share it, so that each must be undone alone. */
  readonly #shared: boolean;
  #parts: Part[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #sendingSoon = false;
  /** The rows of the last of the opening statements; null until it has succeeded. */
  opened: readonly unknown[] | null = null;
  /** Why the whole of it is lost. */
  lost: { readonly error: unknown } | null = null;

  constructor(connection: PostgresConnection, opening: readonly Query[], shared: boolean) {
    this.#connection = connection;
    this.#opening = opening;
    this.#shared = shared;
  }

  begin(): Part {
    const part = new Part();
    this.#parts.push(part);
    return part;
  }

  /** Ends a part whose work succeeded: what it saves leaves with what comes next. */
  keep(part: Part): void {
    part.ended = true;
    if (this.#shared && (part.marked || part.entries.length > 0)) part.entries.push({ query: release, waiter: null });
  }

  /** Ends a part of which nothing is kept. */
  drop(part: Part): void {
    part.ended = true;
    part.entries = [];
    if (this.#shared && part.marked) part.entries = [undo, release].map((query): Entry => ({ query, waiter: null }));
  }

  ask(part: Part, query: Query): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      part.entries.push({ query, waiter: { resolve, reject } });
      if (this.#sendingSoon) return;
      this.#sendingSoon = true;
      // What is asked side by side travels together.
      queueMicrotask(() => {
        this.#sendingSoon = false;
        // Whoever asked is told.
        this.flush().catch(() => {});
      });
    });
  }

  /**
   * Sends all there is, and `closing` behind it. @returns the answers to `closing`.
   *
   * @throws what went wrong with the transaction as a whole. What goes wrong with one of several parts is told to that part.
   */
  flush(closing: readonly Query[] = []): Promise<readonly Answer[]> {
    const flight = this.#last.then(() => this.#send(closing));
    this.#last = flight.catch(() => {});
    return flight;
  }

  async #send(closing: readonly Query[]): Promise<readonly Answer[]> {
    for (;;) {
      if (this.lost !== null) throw this.#fail(this.lost.error);
      const flight = this.#waiting(closing);
      if (flight.length === 0) return [];
      const answers = await this.#connection.exchange(flight.map(({ query }) => query));
      const failed = answers.findIndex((answer) => !answer.ok);
      for (const [index, { part, entry }] of flight.entries()) {
        const answer = answers[index];
        if (answer?.ok !== true) break;
        if (index === this.#opening.length - 1) this.opened ??= answer.rows;
        if (part === null) continue;
        part.marked = this.#shared;
        if (entry === null) continue;
        part.entries.shift();
        if (entry.query.writes) part.wrote = true;
        entry.waiter?.resolve(answer.rows);
      }
      this.#parts = this.#parts.filter((part) => !part.ended || part.entries.length > 0);
      if (failed === -1) return answers.slice(answers.length - closing.length);
      const answer = answers[failed];
      const error = answer?.ok === false ? answer.error : null;
      const part = flight[failed]?.part ?? null;
      if (part === null || !this.#shared || this.#connection.lost) throw this.#fail(error);
      await this.#undo(part, error);
    }
  }

  #waiting(closing: readonly Query[]): readonly Sent[] {
    const own = (query: Query): Sent => ({ query, part: null, entry: null });
    return [
      ...(this.opened === null ? this.#opening.map(own) : []),
      ...this.#parts.flatMap((part) => [
        ...(this.#shared && !part.marked && part.entries.length > 0 ? [{ query: savepoint, part, entry: null }] : []),
        ...part.entries.map((entry): Sent => ({ query: entry.query, part, entry })),
      ]),
      ...closing.map(own),
    ];
  }

  /** Undoes the part of which a statement has failed, and nothing else. */
  async #undo(part: Part, error: unknown): Promise<void> {
    part.fail(error);
    if (!part.marked) throw this.#fail(error);
    try {
      await this.#connection.rowsOf([undo, release]);
    } catch (trouble) {
      throw this.#fail(trouble);
    }
    part.marked = false;
    this.#parts = this.#parts.filter((each) => each !== part || !each.ended);
  }

  #fail(error: unknown): unknown {
    this.lost ??= { error };
    for (const part of this.#parts) part.fail(this.lost.error);
    return this.lost.error;
  }
}

/** A view of the shop that ends with the work it was made for. */
class PartTx implements Tx {
  readonly #transaction: Transaction;
  readonly #part: Part;
  readonly #mayWrite: boolean;
  #ended = false;

  constructor(transaction: Transaction, part: Part, mayWrite: boolean) {
    this.#transaction = transaction;
    this.#part = part;
    this.#mayWrite = mayWrite;
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    const rows = await this.#transaction.ask(this.#part, this.#queryOf({ sql, params }));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who writes the statement names its columns
    return rows as R[];
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    for (const statement of statements) this.#part.entries.push({ query: this.#queryOf(statement), waiter: null });
  }

  #queryOf(statement: Statement): Query {
    if (this.#ended) throw new Error("a Tx was used after its work had ended");
    const { trouble } = this.#part;
    if (trouble !== null) throw trouble.error;
    const query = queryOf(statement);
    if (query.writes && !this.#mayWrite) throw new Error(`a read may not change anything: ${statement.sql}`);
    return query;
  }

  end(): void {
    this.#ended = true;
  }
}

/** A write in the queue. */
interface PendingWrite extends QueuedWrite {
  readonly durable: boolean;
  /** Runs the work. @returns what settles the promise; `keep`: it succeeded. */
  run(tx: Tx): Promise<{ readonly keep: boolean; readonly settle: () => void }>;
  refuse(error: unknown): void;
}

/** Begins a turn; a marked one can be looked for when its commit is lost. */
const turnOf = (schemaName: string, shopId: string, marked: boolean): Query => ({
  text: `select "${schemaName}".engine_turn($1, ${String(marked)}) as opened`,
  values: [shopId],
  name: `${schemaName}.${marked ? "marked_turn" : "turn"}`,
  writes: false,
});

/** Begins what takes no turn. */
const besideTurns = (schemaName: string, what: "engine_look" | "engine_append", shopId: string): Query => ({
  text: `select "${schemaName}".${what}($1) as opened`,
  values: [shopId],
  name: `${schemaName}.${what}`,
  writes: false,
});

const beginWrite = command("begin");

const beginRead = command("begin isolation level repeatable read read only");

const commit = command("commit");

const rollback = command("rollback");

/** For a transaction of which nothing must outlive a loss of power. */
const unsynced = command("set local synchronous_commit = off");

/** What a turn says when its commit may or may not have happened. */
const unknownOutcome = (cause: unknown): Fault =>
  new Fault("DO_UNAVAILABLE", "The database was lost while it committed: whether this was kept is not known.", {
    action: `Wait, then look at what is there; or send the same request with the same ${mention("idempotencyKey")}, which has one effect in any case.`,
    retryAfterMs: unknownRetryMs,
    cause,
  });

class PostgresEngine implements Engine {
  readonly #options: PostgresEngineOptions;
  readonly #tables: readonly string[];
  /** Shops with writes that wait or run. */
  readonly #queues = new Map<string, ShopQueue<PendingWrite>>();
  /** The same for what is added beside their turns. */
  readonly #appends = new Map<string, ShopQueue<PendingWrite>>();
  readonly #removals = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<unknown>>();
  #refusal: Fault | null = null;

  constructor(options: PostgresEngineOptions) {
    this.#options = options;
    this.#tables = loadMigrations(options.schemaDirectory).flatMap(tablesOf);
  }

  async create(shopId: string): Promise<void> {
    if (!shopIdPattern.test(shopId)) throw new TypeError(`not a shop id: ${shopId}`);
    while (this.#removals.has(shopId)) await this.#removals.get(shopId);
    await this.#run(
      `insert into "${this.#options.schemaName}".engine_shop (shop_id) values ($1) on conflict do nothing`,
      [shopId],
    );
  }

  async exists(shopId: string): Promise<boolean> {
    if (!shopIdPattern.test(shopId) || this.#removals.has(shopId)) return false;
    const rows = await this.#run(`select 1 from "${this.#options.schemaName}".engine_shop where shop_id = $1`, [
      shopId,
    ]);
    return rows.length > 0;
  }

  async list(): Promise<string[]> {
    const rows = await this.#run<{ shop_id: string }>(
      `select shop_id from "${this.#options.schemaName}".engine_shop order by shop_id`,
    );
    return rows.map((row) => row.shop_id).filter((shopId) => !this.#removals.has(shopId));
  }

  /** @throws Fault for a store that cannot be used. */
  async #run<R>(text: string, values: readonly SqlValue[] = []): Promise<R[]> {
    if (this.#refusal !== null) throw this.#refusal;
    return this.#told(this.#options.pool.using((connection) => connection.run<R>(text, values)));
  }

  async #told<T>(promise: Promise<T>): Promise<T> {
    this.#running.add(promise);
    try {
      return await promise;
    } catch (error) {
      throw faultOf(error) ?? error;
    } finally {
      this.#running.delete(promise);
    }
  }

  async remove(shopId: string): Promise<void> {
    if (this.#removals.has(shopId)) return this.#removals.get(shopId);
    if (this.#refusal !== null) throw this.#refusal;
    const removal = this.#told(this.#remove(shopId)).finally(() => this.#removals.delete(shopId));
    this.#removals.set(shopId, removal);
    return removal;
  }

  async #remove(shopId: string): Promise<void> {
    for (const queue of [this.#queues.get(shopId), this.#appends.get(shopId)]) {
      queue?.refuseAll(notFound(shopId));
      await queue?.untilIdle();
    }
    const { pool, schemaName } = this.#options;
    const slow = (text: string): Query => ({
      text,
      values: [shopId],
      writes: true,
      answerMsMax: maintenanceMsMax,
    });
    await pool.using(async (connection) => {
      const removing = connection.rowsOf([
        beginWrite,
        command("set local statement_timeout = 0"),
        // Stronger than a turn: nothing is added beside it any more.
        slow(`select 1 from "${schemaName}".engine_shop where shop_id = $1 for update`),
        turnOf(schemaName, shopId, false),
        ...this.#tables.map((table) => slow(`delete from "${schemaName}".${table} where shop_id = $1`)),
        slow(`delete from "${schemaName}".engine_turn_kept where shop_id = $1`),
        slow(`delete from "${schemaName}".engine_shop where shop_id = $1`),
        commit,
      ]);
      await removing.catch((error: unknown) => {
        // Another node was first.
        if (!isNoShop(error)) throw error;
      });
    });
  }

  async shopsWithDueRows(nowMs: number): Promise<string[]> {
    const { pool, schemaName, dueRows = [] } = this.#options;
    if (dueRows.length === 0) return [];
    const searches = dueRows.map(
      ({ table, condition }) =>
        `select shop_id from "${schemaName}".${table} where ${condition.replaceAll("?", "$1::bigint")}`,
    );
    const query: Query = {
      text: `select shop_id from (${searches.join(" union ")}) as due order by shop_id`,
      values: [nowMs],
      name: `${schemaName}.due_rows`,
      writes: false,
    };
    return this.#told(
      pool.using(async (connection) => {
        const [, , found] = await connection.rowsOf([beginRead, command(searchAllShops), query, commit]);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement above
        return (found as { shop_id: string }[]).map((row) => row.shop_id);
      }),
    );
  }

  read<T>(shopId: string, work: Work<T>): Promise<T> {
    return this.#read(shopId, work);
  }

  /** What is visible is on disk: there is nothing to be gained by looking sooner. */
  peek<T>(shopId: string, work: Work<T>): Promise<T> {
    return this.#read(shopId, work);
  }

  async #read<T>(shopId: string, work: Work<T>): Promise<T> {
    this.#mustServe(shopId);
    return this.#told(this.#look(shopId, work));
  }

  async #look<T>(shopId: string, work: Work<T>): Promise<T> {
    const { pool, schemaName } = this.#options;
    return pool.using(async (connection) => {
      const transaction = new Transaction(
        connection,
        [beginRead, besideTurns(schemaName, "engine_look", shopId)],
        false,
      );
      const part = transaction.begin();
      const tx = new PartTx(transaction, part, false);
      try {
        const result = await work(tx);
        if (transaction.opened === null) await transaction.flush();
        return result;
      } catch (error) {
        throw this.#ofShop(shopId, transaction.lost?.error ?? error);
      } finally {
        tx.end();
        connection.sendOnly([rollback]);
      }
    });
  }

  #mustServe(shopId: string): void {
    if (this.#refusal !== null) throw this.#refusal;
    if (!shopIdPattern.test(shopId) || this.#removals.has(shopId)) throw notFound(shopId);
  }

  async write<T>(shopId: string, work: Work<T>, options: WriteOptions = {}): Promise<T> {
    this.#mustServe(shopId);
    return new Promise<T>((resolve, reject) => {
      this.#queue(options.append === true ? this.#appends : this.#queues, shopId).add({
        durable: options.durable ?? true,
        run: async (tx) => {
          try {
            const value = await work(tx);
            return { keep: true, settle: () => resolve(value) };
          } catch (error) {
            return { keep: false, settle: () => reject(error) };
          }
        },
        refuse: reject,
      });
    });
  }

  admit(shopId: string): void {
    this.#queues.get(shopId)?.admit();
  }

  #queue(queues: Map<string, ShopQueue<PendingWrite>>, shopId: string): ShopQueue<PendingWrite> {
    const found = queues.get(shopId);
    if (found !== undefined) return found;
    const takesTurn = queues === this.#queues;
    const queue = new ShopQueue<PendingWrite>({
      limits: this.#options.queue ?? defaultQueueLimits,
      groupLengthMax,
      clock: this.#options.clock,
      turn: async (group) => {
        await this.#turn(shopId, group, takesTurn);
        // One that nobody waits in is made again when it is needed.
        setImmediate(() => {
          if (queue.idle && queues.get(shopId) === queue) queues.delete(shopId);
        });
      },
    });
    queues.set(shopId, queue);
    return queue;
  }

  /** One group of writes in one transaction. Settles when the next may run, with everything answered. */
  async #turn(shopId: string, group: readonly PendingWrite[], takesTurn: boolean): Promise<void> {
    const { pool, schemaName } = this.#options;
    const marked = group.some((write) => write.durable);
    const opening = takesTurn ? turnOf(schemaName, shopId, marked) : besideTurns(schemaName, "engine_append", shopId);
    try {
      const settled = await pool.using((connection) => this.#runGroup(connection, shopId, group, opening));
      for (const settle of settled) settle();
    } catch (error) {
      const told = this.#ofShop(shopId, error);
      for (const write of group) write.refuse(faultOf(told) ?? told);
    }
  }

  /** @throws what went wrong with all of it: nothing is kept then, or it is a Fault that says that this is not known. */
  async #runGroup(
    connection: PostgresConnection,
    shopId: string,
    group: readonly PendingWrite[],
    opening: Query,
  ): Promise<readonly (() => void)[]> {
    const shared = group.length > 1;
    const transaction = new Transaction(connection, [beginWrite, opening], shared);
    let open = true;
    try {
      const done: { readonly write: PendingWrite; readonly part: Part; readonly settle: () => void }[] = [];
      let keeps = false;
      let mustSync = false;
      for (const write of group) {
        const part = transaction.begin();
        const tx = new PartTx(transaction, part, true);
        const { keep, settle } = await write.run(tx);
        tx.end();
        if (transaction.lost !== null) throw transaction.lost.error;
        const kept = keep && part.trouble === null;
        const wrote = part.wrote || part.entries.some(({ query }) => query.writes);
        if (kept) transaction.keep(part);
        else transaction.drop(part);
        if (kept && wrote) {
          keeps = true;
          if (write.durable) mustSync = true;
        }
        done.push({ write, part, settle });
      }
      // The turn must be known by its mark before a commit of it that matters is sent, and parts that fail must be undone.
      if (shared || !keeps || (mustSync && transaction.opened === null)) await transaction.flush();
      // As it stands before the commit: what becomes of that is told for all of them together.
      const results = done.map(({ write, part: { trouble }, settle }) =>
        trouble === null ? settle : () => write.refuse(faultOf(trouble.error) ?? trouble.error),
      );
      if (keeps) {
        open = false;
        await this.#commit(connection, shopId, transaction, mustSync);
      }
      return results;
    } finally {
      if (open) connection.sendOnly([rollback]);
    }
  }

  async #commit(
    connection: PostgresConnection,
    shopId: string,
    transaction: Transaction,
    mustSync: boolean,
  ): Promise<void> {
    const turn = textOf(transaction.opened);
    let answer: Answer | undefined;
    try {
      answer = (await transaction.flush(mustSync ? [commit] : [unsynced, commit])).at(-1);
    } catch (error) {
      if (!isLost(error)) {
        connection.sendOnly([rollback]);
        throw error;
      }
      if (turn === null) throw unknownOutcome(error);
      await this.#findOutcome(shopId, turn, error);
      return;
    }
    if (answer?.ok !== true || answer.command !== "COMMIT")
      throw new Error("the database has rolled a transaction back that had no error");
  }

  /** Waits until the database tells what became of the turn. @throws Fault DO_UNAVAILABLE when it was not committed, or is not known. */
  async #findOutcome(shopId: string, turn: string, cause: unknown): Promise<void> {
    const { pool, schemaName, clock, log } = this.#options;
    const [number = "", mark = ""] = turn.split(" ");
    const untilMs = clock.now() + outcomeMsMax;
    for (;;) {
      let outcome: string | null = null;
      try {
        const [row] = await pool.using((connection) =>
          connection.run<{ outcome: string }>(`select "${schemaName}".engine_outcome($1, $2, $3) as outcome`, [
            shopId,
            number,
            mark,
          ]),
        );
        outcome = row?.outcome ?? null;
      } catch (error) {
        if (isNoShop(error)) throw error;
      }
      if (outcome === "kept") return;
      if (outcome === "lost") throw faultOf(cause) ?? cause;
      if (outcome === "unknown" || clock.now() >= untilMs) {
        log?.error({ err: cause, shopId, turn }, "The outcome of a commit could not be found out.");
        throw unknownOutcome(cause);
      }
      await new Promise((resolve) => setTimeout(resolve, outcomePauseMs));
    }
  }

  #ofShop(shopId: string, error: unknown): unknown {
    return isNoShop(error) ? notFound(shopId) : error;
  }

  async ready(): Promise<void> {
    await this.#run("select 1");
  }

  async close(): Promise<void> {
    this.#refusal ??= unavailable("The service is stopping.");
    await Promise.allSettled(this.#removals.values());
    await Promise.all([...this.#queues.values(), ...this.#appends.values()].map((queue) => queue.untilIdle()));
    await Promise.allSettled(this.#running);
  }
}

const isNoShop = (error: unknown): boolean => sqlState(error) === "OP404";

/** The one value of the one row of the opening statement. */
function textOf(rows: readonly unknown[] | null): string | null {
  const [row] = rows ?? [];
  const value: unknown = typeof row === "object" && row !== null && "opened" in row ? row.opened : null;
  return typeof value === "string" ? value : null;
}

/**
 * Opens the engine over a schema of the pool's database, and brings that to the program's version. The pool stays the caller's.
 *
 * @throws Error when the schema cannot be used, saying why.
 */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const { pool, schemaName, schemaDirectory, dueRows = [] } = options;
  const lines = [ownLine("postgres", schemaName), sharedLine(schemaDirectory)];
  const searched = dueRows.map(({ table }) => table);
  await migratePostgres(pool, schemaName, lines, searched);
  return new PostgresEngine(options);
}
