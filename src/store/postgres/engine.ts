/**
 * The engine for many nodes: all shops in one PostgreSQL schema, every table keyed by shop id (architecture,
 * "Engines").
 *
 * Owns: a shop's turn across nodes, which writes share a transaction, whether a commit happened. Does not own: writes
 * that wait within this node (../queue.ts), what is sent together (transaction.ts), connections and errors
 * (connection.ts), tables (schema.ts).
 *
 * - A turn holds the lock of the shop's row, so writes of a shop take effect one at a time on any number of nodes (S1).
 *   Under the lock, each statement sees the latest committed state. A read is one snapshot and takes no lock. An
 *   `append` write only keeps the shop from being removed, and waits for nothing else.
 * - A change takes one round trip for the turn and its first load, and one for each further load. One more saves
 *   everything with the commit (D67).
 * - Each turn leaves a mark, which is known before its commit is sent. If the answer to a commit is lost, the mark is
 *   looked up (S4, D69). Only when the database cannot be reached any more is the outcome reported as unknown.
 */
import { sleep } from "../../base/time/waiting.ts";
import { shopIdPattern } from "../../base/secret.ts";
import { Fault } from "../../base/fault.ts";
import { mention } from "../../core/order/guidance.ts";
import { notFound, unavailable } from "../engine-rules.ts";
import type { Claims } from "../claims.ts";
import { loadMigrations } from "../migrations.ts";
import { LoopShare } from "../loop-share.ts";
import { type PendingWrite, type QueueDepth, type QueueLimits, ShopQueue, defaultQueueLimits } from "../queue.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { DueRows, DueShop, Engine, Log, SoughtRows, SqlValue, Work, WriteOptions } from "../store.ts";
import {
  type Answer,
  type PostgresConnection,
  type PostgresPool,
  type Query,
  beginRead,
  beginWrite,
  command,
  commit,
  faultOf,
  isLost,
  maintenanceMsMax,
  rollback,
  sqlState,
  takesNothing,
  unsynced,
} from "./connection.ts";
import { paced } from "./paced-tx.ts";
import { migratePostgres, ownLine, searchAllShops, sharedLine, tablesOf } from "./schema.ts";
import { FirstStatistics } from "./statistics.ts";
import { type Member, MemberTx, Transaction } from "./transaction.ts";

/** Writes that share a transaction. With more, other nodes would wait longer for the shop. */
const groupLengthMax = 32;

/** Time for which the outcome of a commit is looked up. */
const outcomeMsMax = 12_000;

const outcomePauseMs = 200;

/** After a write that the database had no room for, the node is not ready for so long. */
const fullForMs = 5_000;

/** The wait that a caller is told with an unknown outcome. */
const unknownRetryMs = 2_000;

interface PostgresEngineOptions {
  readonly pool: PostgresPool;
  /** The PostgreSQL schema that holds these shops; made if it is absent. */
  readonly schemaName: string;
  /** Holds the numbered migrations. */
  readonly schemaDirectory: string;
  /** False: the schema is at the program's version already, as for a reader thread. Default true. */
  readonly migrates?: boolean;
  /** The program as people know it (`OpenPO 0.1.0`), for who meets its schema with an older one. */
  readonly program?: string | undefined;
  /** Rows that `shopsWithDueRows` searches for. Default: none. */
  readonly dueRows?: readonly DueRows[];
  /** Rows that `shopsWithValue` searches. Default: none. */
  readonly sought?: SoughtRows | undefined;
  /** Rows that are claimed, and are given back over all shops (presence.ts). Default: none. */
  readonly claims?: readonly Claims[];
  readonly queue?: QueueLimits;
  /** Counts the writes that wait. */
  readonly depth?: QueueDepth;
  readonly clock: Clock;
  /** Default: one of its own. */
  readonly loop?: LoopShare;
  readonly log?: Log;
}

/**
 * Opens the engine over a schema of the pool's database, and brings the schema to the program's version. Closing the
 * engine leaves the pool open.
 *
 * @throws Error when the schema cannot be used, saying why.
 */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const {
    pool,
    schemaName,
    schemaDirectory,
    dueRows = [],
    claims = [],
    sought,
    migrates = true,
    program,
    log,
  } = options;
  if (!migrates) return new PostgresEngine(options);
  const lines = [ownLine("postgres", schemaName), sharedLine(schemaDirectory)];
  const searched = [
    ...dueRows,
    ...claims.filter(({ table }) => !dueRows.some((rows) => rows.table === table)),
    ...(sought === undefined ? [] : [{ table: sought.table, searchedBy: sought.text }]),
  ];
  await migratePostgres(pool, schemaName, lines, { searched, program, log });
  return new PostgresEngine(options);
}

/** Begins a turn. A marked one can be looked up when the answer to its commit is lost. */
const turnOf = (schemaName: string, shopId: string, marked: boolean): Query => ({
  text: `select "${schemaName}".engine_turn($1, ${String(marked)}) as opened`,
  values: [shopId],
  name: `${schemaName}.${marked ? "marked_turn" : "turn"}`,
  writes: false,
});

/**
 * Begins a look at the shop, which takes no turn. The function of the migrations is called only to refuse a shop that
 * is not there: it takes five times as long as this statement (D67).
 */
export function beginPeek(schemaName: string, shopId: string): Query {
  const schema = `"${schemaName}"`;
  return {
    text: `select case when exists (select 1 from ${schema}.engine_shop where shop_id = $1)
      then set_config('openpo.shop_id', $1, true) else (select null from ${schema}.engine_look($1)) end as opened`,
    values: [shopId],
    name: `${schemaName}.look`,
    writes: false,
  };
}

/** Begins an addition beside the turns. */
const appendTo = (schemaName: string, shopId: string): Query => ({
  text: `select "${schemaName}".engine_append($1) as opened`,
  values: [shopId],
  name: `${schemaName}.engine_append`,
  writes: false,
});

/** Ends a transaction that may be lost in a power cut. */
const commitUnsynced = [unsynced, commit];

/** The refusal of a write whose commit may or may not have happened. */
const unknownOutcome = (cause: unknown): Fault =>
  new Fault("DO_UNAVAILABLE", "The database was lost during the commit: whether the change was kept is not known.", {
    action: `Wait, then read what is stored. Or send the same request with the same ${mention("idempotencyKey")}, which has one effect in any case.`,
    retryAfterMs: unknownRetryMs,
    cause,
  });

interface NodeWrite extends PendingWrite {
  /** False: it may be settled before the commit. */
  readonly committed: boolean;
}

class PostgresEngine implements Engine {
  readonly embedded = false;
  readonly #options: PostgresEngineOptions;
  readonly #loop: LoopShare;
  readonly #tables: readonly string[];
  /** Queues of shops with writes that wait or run. */
  readonly #queues = new Map<string, ShopQueue<NodeWrite>>();
  /** The same for `append` writes. */
  readonly #appends = new Map<string, ShopQueue<NodeWrite>>();
  readonly #removals = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #statistics: FirstStatistics;
  #refusal: Fault | null = null;
  /** When the database last had no room for a write. */
  #fullAtMs: number | null = null;

  constructor(options: PostgresEngineOptions) {
    this.#options = options;
    this.#loop = options.loop ?? new LoopShare();
    this.#tables = tablesOf(loadMigrations(options.schemaDirectory));
    this.#statistics = new FirstStatistics(options.pool, options.schemaName, options.log);
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

  async shopsWithDueRows(nowMs: number): Promise<readonly DueShop[]> {
    const { schemaName, dueRows = [] } = this.#options;
    if (dueRows.length === 0) return [];
    const searches = dueRows.map(
      ({ table, condition }) =>
        `select shop_id, '${table}' as due_table from "${schemaName}".${table} where ${condition.replaceAll("?", "$1::bigint")}`,
    );
    const found = await this.#searchAll<{ shop_id: string; due_table: string }>({
      text: `select shop_id, due_table from (${searches.join(" union ")}) as due order by shop_id, due_table`,
      values: [nowMs],
      name: `${schemaName}.due_rows`,
      writes: false,
    });
    return found.map((row) => ({ shopId: row.shop_id, table: row.due_table }));
  }

  async shopsWithValue(value: string): Promise<string[]> {
    const { schemaName, sought } = this.#options;
    if (sought === undefined) return [];
    const found = await this.#searchAll<{ shop_id: string }>({
      text: `select distinct shop_id from "${schemaName}".${sought.table} where ${sought.text} = $1 order by shop_id`,
      values: [value],
      name: `${schemaName}.sought`,
      writes: false,
    });
    return found.map((row) => row.shop_id);
  }

  /** The rows that a search over all shops finds. */
  async #searchAll<Row>(search: Query): Promise<Row[]> {
    const queries = [beginRead, command(searchAllShops), search, commit];
    const [, , found] = await this.#tracked(this.#options.pool.using((connection) => connection.rowsOf(queries)));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the searches above
    return found as Row[];
  }

  /** Runs a statement outside any turn. @throws Fault for a store that cannot be used. */
  async #run<R>(text: string, values: readonly SqlValue[] = []): Promise<R[]> {
    if (this.#refusal !== null) throw this.#refusal;
    return this.#tracked(this.#options.pool.using((connection) => connection.run<R>(text, values)));
  }

  /** Makes `close` wait for it. @throws Fault in place of the database's error for a store that cannot be used. */
  async #tracked<T>(promise: Promise<T>): Promise<T> {
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
    const removal = this.#tracked(this.#remove(shopId)).finally(() => this.#removals.delete(shopId));
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
        // Stronger than the lock of a turn: appends wait for it too.
        slow(`select 1 from "${schemaName}".engine_shop where shop_id = $1 for update`),
        turnOf(schemaName, shopId, false),
        ...this.#tables.map((table) => slow(`delete from "${schemaName}".${table} where shop_id = $1`)),
        slow(`delete from "${schemaName}".engine_turn_kept where shop_id = $1`),
        slow(`delete from "${schemaName}".engine_shop where shop_id = $1`),
        commit,
      ]);
      await removing.catch((error: unknown) => {
        // Another node has removed it first.
        if (!isNoShop(error)) throw error;
      });
    });
  }

  read<T>(shopId: string, work: Work<T>): Promise<T> {
    return this.#read(shopId, work);
  }

  /** A visible state is on disk here, so a peek gains nothing over a read. */
  peek<T>(shopId: string, work: Work<T>): Promise<T> {
    return this.#read(shopId, work);
  }

  async #read<T>(shopId: string, work: Work<T>): Promise<T> {
    this.#mustServe(shopId);
    return this.#tracked(this.#snapshotRead(shopId, work));
  }

  async #snapshotRead<T>(shopId: string, work: Work<T>): Promise<T> {
    const { pool, schemaName } = this.#options;
    return pool.using(async (connection) => {
      const opening = [beginRead, beginPeek(schemaName, shopId)];
      const transaction = new Transaction(connection, opening, false);
      const tx = new MemberTx(transaction, transaction.begin(), false);
      try {
        const result = await paced(this.#loop, shopId, tx, work);
        if (!transaction.used) await transaction.flush();
        return result;
      } catch (error) {
        throw shopError(shopId, transaction.lost?.error ?? error);
      } finally {
        tx.end();
        if (transaction.begun) connection.endLater(rollback);
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
        committed: options.committed ?? true,
        run: async (tx) => {
          try {
            const value = await paced(this.#loop, shopId, tx, work);
            return { keep: true, settle: () => resolve(value) };
          } catch (error) {
            return { keep: false, settle: () => reject(error) };
          }
        },
        refuse: reject,
      });
    });
  }

  isOpen(): boolean {
    return true;
  }

  admit(shopId: string): void {
    this.#queues.get(shopId)?.admit();
  }

  #queue(queues: Map<string, ShopQueue<NodeWrite>>, shopId: string): ShopQueue<NodeWrite> {
    const found = queues.get(shopId);
    if (found !== undefined) return found;
    const takesTurn = queues === this.#queues;
    const queue = new ShopQueue<NodeWrite>({
      limits: this.#options.queue ?? defaultQueueLimits,
      groupLengthMax,
      depth: this.#options.depth,
      turn: async (group) => {
        await this.#turn(shopId, group, takesTurn);
        // An idle queue is dropped and made again when it is needed.
        setImmediate(() => {
          if (queue.idle && queues.get(shopId) === queue) queues.delete(shopId);
        });
        return 0;
      },
      gate: () => this.#loop.waitForShare(shopId),
    });
    queues.set(shopId, queue);
    return queue;
  }

  /**
   * Runs one group of writes in one transaction. Settles when the next may run; by then all of the group are settled
   * too.
   */
  async #turn(shopId: string, group: readonly NodeWrite[], takesTurn: boolean): Promise<void> {
    const { pool, schemaName } = this.#options;
    const marked = group.some((write) => write.durable);
    const opening = takesTurn ? turnOf(schemaName, shopId, marked) : appendTo(schemaName, shopId);
    try {
      const settles = await pool.using((connection) => this.#runGroup(connection, shopId, group, opening));
      for (const settle of settles) settle();
      const taking = this.#statistics.turnKept();
      if (taking !== null) void this.#tracked(taking);
    } catch (error) {
      const refusal = this.#refusalOf(shopError(shopId, error));
      for (const write of group) write.refuse(refusal);
    }
  }

  /** Returns the refusal that the caller of a failed write gets. */
  #refusalOf(error: unknown): unknown {
    if (takesNothing(error)) this.#fullAtMs = this.#options.clock.now();
    return faultOf(error) ?? error;
  }

  /**
   * Runs the group and commits it. @returns what settles each of its writes.
   *
   * @throws the error of the whole group: then nothing is kept, or it is a Fault that says that the outcome is unknown.
   */
  async #runGroup(
    connection: PostgresConnection,
    shopId: string,
    group: readonly NodeWrite[],
    opening: Query,
  ): Promise<readonly (() => void)[]> {
    const shared = group.length > 1;
    const transaction = new Transaction(connection, [beginWrite, opening], shared);
    let open = true;
    try {
      const done: { readonly write: NodeWrite; readonly member: Member; readonly settle: () => void }[] = [];
      let keeps = false;
      let mustSync = false;
      for (const write of group) {
        const member = transaction.begin();
        const tx = new MemberTx(transaction, member, true);
        const { keep, settle } = await write.run(tx);
        tx.end();
        if (transaction.lost !== null) throw transaction.lost.error;
        const kept = keep && member.failure === null;
        const wrote = member.writes;
        if (kept) transaction.keep(member);
        else await transaction.drop(member);
        if (kept && wrote) {
          keeps = true;
          if (write.durable) mustSync = true;
        }
        done.push({ write, member, settle });
      }
      // Before the commit is sent, parts that fail must be undone, and the mark of a turn that must be durable must be
      // known.
      if (shared || !keeps || (mustSync && transaction.opened === null)) await transaction.flush();
      // As of before the commit: if that fails, all of them fail together.
      const settles = done.map(({ write, member: { failure }, settle }) =>
        failure === null ? settle : () => write.refuse(this.#refusalOf(failure.error)),
      );
      if (keeps && !mustSync && group.every((write) => !write.committed)) {
        open = false;
        if (!shared) await transaction.flush();
        connection.sendOnly(commitUnsynced);
      } else if (keeps) {
        open = false;
        await this.#commit(connection, shopId, transaction, mustSync);
      }
      return settles;
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
    const turn = markOf(transaction.opened);
    let answer: Answer | undefined;
    try {
      answer = (await transaction.flush(mustSync ? [commit] : commitUnsynced)).at(-1);
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

  /**
   * Looks up whether the turn was committed, until the database answers.
   *
   * @throws Fault DO_UNAVAILABLE when it was not committed, or when that stays unknown.
   */
  async #findOutcome(shopId: string, turn: string, cause: unknown): Promise<void> {
    const { pool, schemaName, log } = this.#options;
    const [number = "", mark = ""] = turn.split(" ");
    const untilMs = performance.now() + outcomeMsMax;
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
      if (outcome === "unknown" || performance.now() >= untilMs) {
        log?.error({ err: cause, shopId, turn }, "The outcome of a commit could not be found out.");
        throw unknownOutcome(cause);
      }
      await sleep(outcomePauseMs);
    }
  }

  async ready(): Promise<void> {
    const [row] = await this.#run<{ read_only: string }>(
      "select current_setting('transaction_read_only') as read_only",
    );
    const isFull = this.#fullAtMs !== null && this.#options.clock.now() < this.#fullAtMs + fullForMs;
    if (isFull || row?.read_only === "on") throw unavailable("The database takes no more. What is stored can be read.");
  }

  async close(): Promise<void> {
    this.#refusal ??= unavailable("The service is stopping.");
    await Promise.allSettled(this.#removals.values());
    await Promise.all([...this.#queues.values(), ...this.#appends.values()].map((queue) => queue.untilIdle()));
    await Promise.allSettled(this.#running);
  }
}

/** The SQLSTATE that the functions of the engine's migrations raise for a shop that does not exist. */
const isNoShop = (error: unknown): boolean => sqlState(error) === "OP404";

const shopError = (shopId: string, error: unknown): unknown => (isNoShop(error) ? notFound(shopId) : error);

/** The mark of a turn: the one value of the opening statement's row. */
function markOf(rows: readonly unknown[] | null): string | null {
  const [row] = rows ?? [];
  const value: unknown = typeof row === "object" && row !== null && "opened" in row ? row.opened : null;
  return typeof value === "string" ? value : null;
}
