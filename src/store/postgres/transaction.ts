/**
 * One transaction on one connection, with as few round trips as possible.
 *
 * Owns: what is sent together, savepoints between the writes that share the transaction, undoing one of them alone.
 * Does not own: beginning a turn, the commit and what becomes of it (engine.ts).
 *
 * - A transaction of its own can be sent in front of this one, in the same round trip (`runBefore`).
 * - Statements without rows (`Tx.batch`) are held back and sent with the next statement that returns rows, or with the
 *   commit.
 * - Writes that share a transaction are its parts, each behind a savepoint. What a part saves is sent with the first
 *   load of the next part. If one of those statements fails, its member is undone alone and the statements after it are
 *   sent again. No caller has seen an answer to it yet.
 * - Rows that a part adds wait until the transaction ends, or until a statement names their table: those of all parts
 *   are sent together (D382). No table's rows depend on another one's: there are no triggers, views and foreign keys.
 *   If they are refused, the member with the refused rows is undone, and with it those after it: they may have read its
 *   changes.
 */
import type { SqlValue, Statement, Tx } from "../store.ts";
import {
  type Answer,
  type PostgresConnection,
  type Query,
  faultOf,
  queryOf,
  releaseSavepoint as release,
  savepoint,
  undoneWith,
  undoToSavepoint as undo,
} from "./connection.ts";
import { isAddition, withJoinedRows } from "./joined-rows.ts";
import { LateRows, type LateRow, queriesOf } from "./late-rows.ts";

/** Statements that are sent for a member. */
interface Entry {
  /** Null: rows that have waited. */
  readonly query: Query | null;
  /** `work` awaits the rows that it returns. */
  readonly waiter: { resolve(rows: readonly unknown[]): void; reject(error: unknown): void } | null;
  /** Rows that have waited, of any part. */
  readonly late: readonly LateRow[];
  /** It removes the part's savepoint. */
  readonly unmarks: boolean;
}

const noRows: readonly LateRow[] = [];

// Each has its members in the same order: so what reads them stays fast, whatever was sent before.
const ownEntry = (query: Query, waiter: Entry["waiter"] = null, unmarks = false): Entry => ({
  query,
  waiter,
  late: noRows,
  unmarks,
});

const lateEntry = (late: readonly LateRow[]): Entry => ({ query: null, waiter: null, late, unmarks: false });

/** The part of a transaction that belongs to one `work`. */
export class Member {
  /** Entries that were not sent yet, or whose sending failed before they ran. */
  entries: Entry[] = [];
  /** Its savepoint exists. */
  marked = false;
  /** Rows that have waited and were added behind its savepoint, of any part: they are undone with it. */
  added: LateRow[] = [];
  /** Its work is over. */
  ended = false;
  /** Nothing of it is kept, as its work has asked for. */
  dropped = false;
  /** A statement of it has changed data, or will at the end. */
  wrote = false;
  /** Why nothing of it can be kept. */
  failure: { readonly error: unknown } | null = null;

  /** A statement of it has changed data, or will once it is sent. */
  get writes(): boolean {
    return this.wrote || this.entries.some(({ query }) => query?.writes === true);
  }

  get isKept(): boolean {
    return !this.dropped && this.failure === null;
  }

  /** Drops what was not sent. @returns the rows of other parts among it. */
  fail(error: unknown): readonly LateRow[] {
    this.failure ??= { error };
    const dropped = this.entries.splice(0);
    for (const { waiter } of dropped) waiter?.reject(error);
    return dropped.flatMap(({ late }) => late);
  }
}

/** A query of a round trip. */
interface Sent {
  readonly query: Query;
  /** Null where it belongs to none. */
  readonly member: Member | null;
  readonly entry: Entry | null;
  /** Of a query that adds them, rows that have waited. */
  readonly late: readonly LateRow[] | null;
  /** The last one of its entry. */
  readonly ends: boolean;
}

const sentOf = (query: Query, member: Member | null, entry: Entry | null): Sent => ({
  query,
  member,
  entry,
  late: null,
  ends: true,
});

const ownSent = (query: Query): Sent => sentOf(query, null, null);

/** A whole transaction that is sent before another one begins. */
interface Front {
  /** From `begin` on. */
  readonly opening: readonly Query[];
  readonly query: Query;
  /** Up to `commit`. */
  readonly closing: readonly Query[];
  /** It may be one transaction with others of the same shop that may. They keep or lose what they do together. */
  readonly isJoined: boolean;
}

interface WaitingFront extends Front {
  resolve(answers: readonly Answer[]): void;
  reject(error: unknown): void;
}

export class Transaction {
  readonly #connection: PostgresConnection;
  readonly #opening: readonly Query[];
  /** Several parts share it, so each must be undone alone. */
  readonly #shared: boolean;
  /** Members that have something to send, and the last one. */
  #members: Member[] = [];
  /** Members with a savepoint, each behind that of the one before. */
  readonly #marked: Member[] = [];
  /** Rows that wait. */
  readonly #late = new LateRows();
  #fronts: WaitingFront[] = [];
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

  begin(): Member {
    const member = new Member();
    this.#members.push(member);
    return member;
  }

  /**
   * Ends a part whose work has succeeded: what it saves is sent with what comes next. Its savepoint stays, in case that
   * its rows are refused.
   */
  keep(member: Member): void {
    member.ended = true;
  }

  /**
   * Ends a part of which nothing is kept, once what was sent of it is answered: otherwise an answer would count for
   * what undoes it.
   */
  async drop(member: Member): Promise<void> {
    await this.#last;
    member.ended = true;
    member.dropped = true;
    const others = member.entries.splice(0).flatMap(({ late }) => late);
    this.#late.takeBack([...member.added.splice(0), ...others]);
    if (member.marked) member.entries = [ownEntry(undo), ownEntry(release, null, true)];
  }

  /** Adds statements without rows to the part, in order. @param mayWait false: none of them waits. */
  add(member: Member, statements: readonly Statement[], mayWait: boolean): void {
    let direct: Statement[] = [];
    const addDirect = (): void => {
      member.entries.push(...withJoinedRows(direct).map((statement) => ownEntry(queryOf(statement))));
      direct = [];
    };
    for (const statement of statements) {
      const addition = mayWait && isAddition(statement) ? statement : null;
      const met = this.#late.metBy(statement, mayWait);
      if (met.length > 0) {
        addDirect();
        member.entries.push(lateEntry(this.#late.takeMet(met)));
      }
      if (addition === null || !this.#late.add(member, addition)) {
        direct.push(statement);
        continue;
      }
      member.wrote = true;
      if (!this.#late.areFull) continue;
      addDirect();
      member.entries.push(lateEntry(this.#late.takeAll()));
    }
    addDirect();
  }

  /** Runs a statement of the part and returns its rows. */
  ask(member: Member, query: Query, sql: string): Promise<readonly unknown[]> {
    const met = this.#late.metBy({ sql });
    if (met.length > 0) member.entries.push(lateEntry(this.#late.takeMet(met)));
    return new Promise((resolve, reject) => {
      member.entries.push(ownEntry(query, { resolve, reject }));
      this.#sendSoon();
    });
  }

  /** Sends a whole transaction in front of this one. @throws Error when this one has begun. */
  runBefore(front: Front): Promise<readonly Answer[]> {
    if (this.begun) throw new Error("nothing can be sent before a transaction that has begun");
    return new Promise((resolve, reject) => {
      this.#fronts.push({ ...front, resolve, reject });
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
   * Begins the transaction if it has not begun, and sends everything that was held back and the rows that wait,
   * followed by `closing`.
   *
   * @returns the answers to `closing`.
   * @throws the error of the transaction as a whole. The error of one of several parts goes to that part.
   */
  flush(closing: readonly Query[] = []): Promise<readonly Answer[]> {
    return this.#flush(closing, true);
  }

  /** @param isEnd false: rows wait on, and the transaction does not begin as long as it has no statement. */
  #flush(closing: readonly Query[], isEnd: boolean): Promise<readonly Answer[]> {
    const sending = this.#last.then(() => this.#send(closing, isEnd));
    this.#last = sending.catch(() => {});
    return sending;
  }

  async #send(closing: readonly Query[], isEnd: boolean): Promise<readonly Answer[]> {
    for (;;) {
      if (this.lost !== null) throw this.#loseAll(this.lost.error);
      const fronts = joinedFronts(this.#fronts.splice(0));
      const goesOn = isEnd || this.begun || this.#members.some((member) => member.entries.length > 0);
      const sent = goesOn ? this.#toSend(closing, isEnd) : [];
      if (fronts.length + sent.length === 0) return [];
      this.used = true;
      if (sent.length > 0) this.begun = true;
      const front = fronts.flatMap(queriesOfFront);
      const all = await this.#connection.exchange([...front, ...sent.map(({ query }) => query)]);
      takeFronts(fronts, all);
      const answers = all.slice(front.length);
      this.#take(sent, answers);
      const failed = answers.findIndex((answer) => !answer.ok);
      if (failed === -1) return answers.slice(answers.length - closing.length);
      const answer = answers[failed];
      const error = answer?.ok === false ? answer.error : null;
      const { member = null, late = null } = sent[failed] ?? {};
      if ((member === null && late === null) || !this.#shared || this.#connection.lost) throw this.#loseAll(error);
      try {
        if (late !== null) await this.#undoLate(late, error);
        else if (member !== null) await this.#undo(member, error);
      } catch (failure) {
        throw this.#loseAll(failure);
      }
    }
  }

  /** Records the answers up to the first failure, and gives rows to those who wait. */
  #take(sent: readonly Sent[], answers: readonly Answer[]): void {
    for (const [index, { member, entry, late, ends }] of sent.entries()) {
      const answer = answers[index];
      if (answer?.ok !== true) break;
      if (index === this.#opening.length - 1) this.opened ??= answer.rows;
      if (late !== null && ends) {
        this.#marked.at(-1)?.added.push(...late);
        this.#late.remove(late);
      }
      if (member === null || !ends) continue;
      if (entry === null) {
        member.marked = true;
        this.#marked.push(member);
        continue;
      }
      member.entries.shift();
      if (entry.query?.writes === true) member.wrote = true;
      if (entry.unmarks) this.#unmark(member);
      entry.waiter?.resolve(answer.rows);
    }
    this.#members = this.#members.filter((member) => !member.ended || member.entries.length > 0);
  }

  #toSend(closing: readonly Query[], isEnd: boolean): readonly Sent[] {
    const sent = this.opened === null ? this.#opening.map(ownSent) : [];
    for (const member of this.#members) if (member.entries.length > 0) this.#addMember(sent, member);
    if (isEnd) sent.push(...this.#ofLate(this.#late.all, null, null));
    for (const query of closing) sent.push(ownSent(query));
    return sent;
  }

  #addMember(sent: Sent[], member: Member): void {
    member.entries = member.entries.filter(
      ({ query, late }) => query !== null || late.some((row) => row.member.isKept),
    );
    let isMarked = member.marked || !this.#shared;
    for (const entry of member.entries) {
      // Rows of others alone are not undone with it.
      const isOthers = entry.query === null && entry.late.every((row) => row.member !== member);
      if (!isMarked && !isOthers) {
        sent.push(sentOf(savepoint, member, null));
        isMarked = true;
      }
      if (entry.query === null) sent.push(...this.#ofLate(entry.late, member, entry));
      else sent.push(sentOf(entry.query, member, entry));
    }
  }

  /** Behind a savepoint of their own, where they must be undone alone when they are refused. */
  #ofLate(rows: readonly LateRow[], member: Member | null, entry: Entry | null): readonly Sent[] {
    const late = rows.filter((row) => row.member.isKept);
    const queries = queriesOf(late);
    if (queries.length === 0) return [];
    const all = this.#shared ? [savepoint, ...queries, release] : queries;
    return all.map((query, index) => ({ query, member, entry, late, ends: index === all.length - 1 }));
  }

  /** Undoes the part whose statement has failed, and nothing else. */
  async #undo(member: Member, error: unknown): Promise<void> {
    const unsent = member.fail(error);
    if (this.#marked.at(-1) !== member) throw error;
    await this.#connection.rowsOf([undo, release]);
    this.#unmark(member);
    this.#leave([member]);
    this.#sendFirst([...member.added.splice(0), ...unsent]);
  }

  /**
   * Undoes the part whose rows were refused, and those after it that may have read what it has changed. @throws an
   * error that is about no row.
   */
  async #undoLate(rows: readonly LateRow[], error: unknown): Promise<void> {
    if (faultOf(error) !== null) throw error;
    await this.#connection.rowsOf([undo, release]);
    const refused = await this.#refusedOf(rows);
    if (refused === null) throw error;
    const from = this.#marked.indexOf(refused.member);
    const undone = from === -1 ? [] : this.#marked.slice(from);
    if (undone.length > 0) await this.#connection.rowsOf([...undone.slice(1).map(() => release), undo, release]);
    const unsent = [
      ...refused.member.fail(refused.error),
      ...undone.flatMap((member) => member.fail(undoneWith(refused.error))),
    ];
    for (const member of undone.toReversed()) this.#unmark(member);
    this.#leave([refused.member, ...undone]);
    this.#sendFirst([...undone.flatMap((member) => member.added.splice(0)), ...unsent]);
  }

  /**
   * Adds the rows of one part after another, and undoes that. @returns the first part whose rows are refused; null when
   * none are.
   */
  async #refusedOf(rows: readonly LateRow[]): Promise<{ readonly member: Member; readonly error: unknown } | null> {
    const ofMembers = [...Map.groupBy(rows, ({ member }) => member)].flatMap(([member, own]) =>
      queriesOf(own).map((query) => ({ member, query })),
    );
    const answers = await this.#connection.exchange([savepoint, ...ofMembers.map(({ query }) => query)]);
    const failed = answers.findIndex((answer) => !answer.ok);
    await this.#connection.rowsOf([undo, release]);
    const answer = answers[failed];
    const member = ofMembers[failed - 1]?.member;
    return member === undefined || answer?.ok !== false ? null : { member, error: answer.error };
  }

  /** The part's savepoint, the last one, is no more. */
  #unmark(member: Member): void {
    this.#marked.pop();
    member.marked = false;
  }

  /** Leaves out members that are undone. A member that has ended meanwhile has nothing more to send. */
  #leave(undone: readonly Member[]): void {
    this.#members = this.#members.filter((member) => !undone.includes(member) || !member.ended);
  }

  /**
   * Rows that were undone with others, or dropped with them: they come before all that was not sent, of which some may
   * meet them.
   */
  #sendFirst(rows: readonly LateRow[]): void {
    const kept = rows.filter(({ member }) => member.isKept);
    const next = this.#members.find(({ entries }) => entries.length > 0);
    if (next === undefined) this.#late.takeBack(kept);
    else if (kept.length > 0) next.entries.unshift(lateEntry(kept));
  }

  #loseAll(error: unknown): unknown {
    this.lost ??= { error };
    for (const front of this.#fronts.splice(0)) front.reject(this.lost.error);
    for (const member of this.#members) member.fail(this.lost.error);
    return this.lost.error;
  }
}

/** Groups of waiting fronts that become one transaction each. */
function joinedFronts(fronts: readonly WaitingFront[]): readonly (readonly WaitingFront[])[] {
  const joined = fronts.filter(({ isJoined }) => isJoined);
  const alone = fronts.filter(({ isJoined }) => !isJoined).map((front) => [front]);
  return joined.length === 0 ? alone : [joined, ...alone];
}

const queriesOfFront = (fronts: readonly WaitingFront[]): readonly Query[] => [
  ...(fronts[0]?.opening ?? []),
  ...fronts.map(({ query }) => query),
  ...(fronts[0]?.closing ?? []),
];

/** Gives those who sent a transaction in front its answers. */
function takeFronts(fronts: readonly (readonly WaitingFront[])[], answers: readonly Answer[]): void {
  let from = 0;
  for (const together of fronts) {
    const to = from + queriesOfFront(together).length;
    const own = answers.slice(from, to);
    from = to;
    for (const [index, front] of together.entries()) {
      const { opening, closing } = front;
      const at = opening.length + index;
      front.resolve([
        ...own.slice(0, opening.length),
        ...own.slice(at, at + 1),
        ...own.slice(own.length - closing.length),
      ]);
    }
  }
}

/** The shop as one `work` sees it; unusable after that. */
export class MemberTx implements Tx {
  readonly #transaction: Transaction;
  readonly #member: Member;
  readonly #mayWrite: boolean;
  #ended = false;

  constructor(transaction: Transaction, member: Member, mayWrite: boolean) {
    this.#transaction = transaction;
    this.#member = member;
    this.#mayWrite = mayWrite;
  }

  async all<R>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    const rows = await this.#transaction.ask(this.#member, this.#queryOf({ sql, params }), sql);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
    return rows as R[];
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    this.#mustBeOpen();
    if (!this.#mayWrite) for (const statement of statements) this.#queryOf(statement);
    this.#transaction.add(this.#member, statements, this.#mayWrite);
  }

  #mustBeOpen(): void {
    if (this.#ended) throw new Error("a Tx was used after its work had ended");
    const { failure } = this.#member;
    if (failure !== null) throw failure.error;
  }

  #queryOf(statement: Statement): Query {
    this.#mustBeOpen();
    const query = queryOf(statement);
    if (query.writes && !this.#mayWrite) throw new Error(`a read may not change anything: ${statement.sql}`);
    return query;
  }

  /** See `runBefore`. */
  runBefore(front: Front): Promise<readonly Answer[]> {
    if (this.#mayWrite) throw new Error("nothing is sent before a write: it would not be undone with it");
    return this.#transaction.runBefore(front);
  }

  end(): void {
    this.#ended = true;
  }
}

/**
 * Runs a whole transaction in the round trip that begins the read which `tx` belongs to, before it: the read sees what
 * it has committed. It must be asked for before any statement of the read.
 *
 * @returns the answers to its opening, its query and its closing; never rejects unless the connection is lost.
 */
export function runBefore(tx: Tx, front: Front): Promise<readonly Answer[]> {
  if (!(tx instanceof MemberTx)) throw new Error("not a read of this engine");
  return tx.runBefore(front);
}
