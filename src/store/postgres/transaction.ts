/**
 * One transaction on one connection, with as few round trips as possible.
 *
 * Owns: what is sent together, savepoints between the writes that share the transaction, undoing one of them alone. Does not own:
 * beginning a turn, the commit and what becomes of it (engine.ts).
 *
 * - A transaction of its own can be sent in front of this one, in the same round trip (`runBefore`).
 * - Statements without rows (`Tx.batch`) are held back and sent with the next statement that returns rows, or with the commit.
 * - Writes that share a transaction are its parts, each behind a savepoint. What a part saves is sent with the first load of the next part.
 *   If one of those statements fails, its part is undone alone and what followed it is sent again; no caller has seen an answer to it yet.
 */
import type { SqlValue, Statement, Tx } from "../store.ts";
import {
  type Answer,
  type PostgresConnection,
  type Query,
  queryOf,
  releaseSavepoint as release,
  savepoint,
  undoToSavepoint as undo,
} from "./connection.ts";
import { withJoinedRows } from "./joined-rows.ts";

/** A statement of a part. With a waiter, `work` awaits its rows. */
interface Entry {
  readonly query: Query;
  readonly waiter: { resolve(rows: readonly unknown[]): void; reject(error: unknown): void } | null;
}

/** The part of a transaction that belongs to one `work`. */
export class Part {
  /** Statements that were not sent yet, or whose sending failed before they ran. */
  entries: Entry[] = [];
  /** Its savepoint exists. */
  marked = false;
  /** Its work is over. */
  ended = false;
  /** A statement of it has changed data. */
  wrote = false;
  /** Why nothing of it can be kept. */
  failure: { readonly error: unknown } | null = null;

  /** A statement of it has changed data, or will once it is sent. */
  get writes(): boolean {
    return this.wrote || this.entries.some(({ query }) => query.writes);
  }

  /** Drops what was not sent. */
  fail(error: unknown): void {
    this.failure ??= { error };
    for (const { waiter } of this.entries.splice(0)) waiter?.reject(error);
  }
}

/** A query of a round trip; `part` and `entry` are null where it belongs to none. */
interface Sent {
  readonly query: Query;
  readonly part: Part | null;
  readonly entry: Entry | null;
}

/** A whole transaction that is sent before this one begins. */
interface Front {
  readonly queries: readonly Query[];
  resolve(answers: readonly Answer[]): void;
  reject(error: unknown): void;
}

export class Transaction {
  readonly #connection: PostgresConnection;
  readonly #opening: readonly Query[];
  /** Several parts share it, so each must be undone alone. */
  readonly #shared: boolean;
  #parts: Part[] = [];
  #fronts: Front[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #sendingSoon = false;
  /** The rows of the last opening statement; null until it has succeeded. */
  opened: readonly unknown[] | null = null;
  /** Its beginning was sent. */
  begun = false;
  /** Something was sent: it has begun, or others were sent in front of it. */
  used = false;
  /** Why all of it is lost. */
  lost: { readonly error: unknown } | null = null;

  /** @param opening the statements that begin it; sent with the first others. */
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

  /** Ends a part whose work has succeeded: what it saves is sent with what comes next. */
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

  /** Runs a statement of the part and returns its rows. */
  ask(part: Part, query: Query): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      part.entries.push({ query, waiter: { resolve, reject } });
      this.#sendSoon();
    });
  }

  /** Sends a whole transaction in front of this one. @throws Error when this one has begun. */
  runBefore(queries: readonly Query[]): Promise<readonly Answer[]> {
    if (this.begun) throw new Error("nothing can be sent before a transaction that has begun");
    return new Promise((resolve, reject) => {
      this.#fronts.push({ queries, resolve, reject });
      this.#sendSoon();
    });
  }

  #sendSoon(): void {
    if (this.#sendingSoon) return;
    this.#sendingSoon = true;
    // Statements that are started side by side are sent together.
    queueMicrotask(() => {
      this.#sendingSoon = false;
      // The waiters get the error.
      this.#flush([], false).catch(() => {});
    });
  }

  /**
   * Begins the transaction if it has not begun, and sends everything that was held back, followed by `closing`.
   *
   * @returns the answers to `closing`.
   * @throws the error of the transaction as a whole. The error of one of several parts goes to that part.
   */
  flush(closing: readonly Query[] = []): Promise<readonly Answer[]> {
    return this.#flush(closing, true);
  }

  /** @param begins false: the transaction does not begin as long as it has no statement. */
  #flush(closing: readonly Query[], begins: boolean): Promise<readonly Answer[]> {
    const sending = this.#last.then(() => this.#send(closing, begins));
    this.#last = sending.catch(() => {});
    return sending;
  }

  async #send(closing: readonly Query[], begins: boolean): Promise<readonly Answer[]> {
    for (;;) {
      if (this.lost !== null) throw this.#loseAll(this.lost.error);
      const fronts = this.#fronts.splice(0);
      const goesOn = begins || this.begun || this.#parts.some((part) => part.entries.length > 0);
      const sent = goesOn ? this.#toSend(closing) : [];
      if (fronts.length + sent.length === 0) return [];
      this.used = true;
      if (sent.length > 0) this.begun = true;
      const front = fronts.flatMap(({ queries }) => queries);
      const all = await this.#connection.exchange([...front, ...sent.map(({ query }) => query)]);
      takeFronts(fronts, all);
      const answers = all.slice(front.length);
      this.#take(sent, answers);
      const failed = answers.findIndex((answer) => !answer.ok);
      if (failed === -1) return answers.slice(answers.length - closing.length);
      const answer = answers[failed];
      const error = answer?.ok === false ? answer.error : null;
      const part = sent[failed]?.part ?? null;
      if (part === null || !this.#shared || this.#connection.lost) throw this.#loseAll(error);
      await this.#undo(part, error);
    }
  }

  /** Records the answers up to the first failure, and gives rows to those who wait. */
  #take(sent: readonly Sent[], answers: readonly Answer[]): void {
    for (const [index, { part, entry }] of sent.entries()) {
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
  }

  #toSend(closing: readonly Query[]): readonly Sent[] {
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

  /** Undoes the part whose statement has failed, and nothing else. */
  async #undo(part: Part, error: unknown): Promise<void> {
    part.fail(error);
    if (!part.marked) throw this.#loseAll(error);
    try {
      await this.#connection.rowsOf([undo, release]);
    } catch (failure) {
      throw this.#loseAll(failure);
    }
    part.marked = false;
    this.#parts = this.#parts.filter((each) => each !== part || !each.ended);
  }

  #loseAll(error: unknown): unknown {
    this.lost ??= { error };
    for (const front of this.#fronts.splice(0)) front.reject(this.lost.error);
    for (const part of this.#parts) part.fail(this.lost.error);
    return this.lost.error;
  }
}

/** Gives those who sent a transaction in front its answers. */
function takeFronts(fronts: readonly Front[], answers: readonly Answer[]): void {
  let from = 0;
  for (const front of fronts) {
    const to = from + front.queries.length;
    front.resolve(answers.slice(from, to));
    from = to;
  }
}

/** The shop as one `work` sees it; unusable after that. */
export class PartTx implements Tx {
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
    return rows as R[];
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    for (const statement of withJoinedRows(statements))
      this.#part.entries.push({ query: this.#queryOf(statement), waiter: null });
  }

  #queryOf(statement: Statement): Query {
    if (this.#ended) throw new Error("a Tx was used after its work had ended");
    const { failure } = this.#part;
    if (failure !== null) throw failure.error;
    const query = queryOf(statement);
    if (query.writes && !this.#mayWrite) throw new Error(`a read may not change anything: ${statement.sql}`);
    return query;
  }

  /** See `runBefore`. */
  runBefore(queries: readonly Query[]): Promise<readonly Answer[]> {
    if (this.#mayWrite) throw new Error("nothing is sent before a write: it would not be undone with it");
    return this.#transaction.runBefore(queries);
  }

  end(): void {
    this.#ended = true;
  }
}

/**
 * Runs a whole transaction in the round trip that begins the read which `tx` belongs to, before it: the read sees what it has committed. It
 * must be asked for before any statement of the read.
 *
 * @param queries from `begin` to `commit`.
 * @returns their answers; never rejects unless the connection is lost.
 */
export function runBefore(tx: Tx, queries: readonly Query[]): Promise<readonly Answer[]> {
  if (!(tx instanceof PartTx)) throw new Error("not a read of this engine");
  return tx.runBefore(queries);
}
