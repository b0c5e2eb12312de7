/**
 * The journal of audit rows. On an embedded engine the rows of reads of all shops are written to one file first. They
 * are moved to the shops' own logs later, many at a time (D5). A read of an order that is remembered needs no file of
 * its shop then.
 *
 * Owns: which rows wait for which shop, when they are moved, and that nobody reads a log from which some are missing.
 * Does not own: the rows (audit.ts), the journal's file and its durability (the engine that it is given).
 *
 * Invariants:
 * - A1. A row is committed, in the journal or in its shop's log, before `add` resolves: it survives `kill -9`.
 *       `auditJournalSyncMs` later it survives loss of power too.
 * - A2. A row leaves the journal when it is durable in its shop's log, with its link in the chain of hashes. The rows
 *       of a shop leave in the order in which they were added, at most about `auditJournalWaitMs` after that. After a
 *       crash in between it is found there, and gets no further link.
 * - A3. Who reads a shop's log through `engine` sees every row that was added before. While the shop's log cannot be
 *       written, what it holds is shown (D104).
 * - A4. Rows end with their shop. A shop that is made under the same id later gets none of them.
 */
import { delegated, NoticingTx } from "../../store/delegated.ts";
import { isNotFound, unavailable } from "../../store/engine-rules.ts";
import { chunksOf, inListMax, placeholders } from "../../store/in-lists.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine, Log, Statement, Tx, Work } from "../../store/store.ts";
import { type AuditEntry, notInLog } from "./audit.ts";

/**
 * Audit rows of reads in the journal of all shops, on SQLite, some 400 bytes each (D5). Beyond it the rows of the
 * shops that have waited longest are moved to their logs. Beyond twice as many, further rows are written to the shops'
 * logs.
 */
export const auditJournalRowsMax = 262_144;

/** With so many rows of one shop in the journal, they are moved to its log. */
export const auditJournalShopRows = 250;

/** Longest time for which a row is in the journal before it is synced to disk. */
export const auditJournalSyncMs = 1_000;

/**
 * Longest wait of a shop's first row in the journal. Then its rows are moved to the shop's log, and into its chain of
 * hashes.
 */
export const auditJournalWaitMs = 300_000;

/** Time for which a stop moves rows from the journal to the shops' logs. What is left is moved after the next start. */
export const auditJournalStopMs = 1_000;

/** The name of the journal's file among those of its engine. */
const journalId = "audit";

/** Rows that one write takes to the journal. */
const rowsTogetherMax = 256;

/** Rows that one write moves to a shop's log: a turn is held for some 3 ms. */
const rowsMovedTogether = 250;

/** Moved rows that one write deletes from the journal. */
const rowsDeletedTogether = 1_024;

/** Shops to whose logs rows are moved at the same time, to make room. Their syncs overlap. */
const shopsMovedTogether = 4;

/** Rows of one shop, in the order in which they were added. */
interface Waiting {
  /** Places of the rows in the journal. */
  readonly seqs: number[];
  /** Since when the first of them waits, or was tried last. */
  readonly sinceMs: number;
  /** With so many they are moved. */
  moveAt: number;
}

interface PendingRow {
  readonly seq: number;
  readonly shopId: string;
  readonly entry: AuditEntry;
}

/** Rows that are written to the journal together. */
interface Group {
  readonly rows: PendingRow[];
  readonly written: Promise<void>;
}

export interface JournalLimits {
  readonly rowsMax: number;
  readonly shopRows: number;
  readonly syncMs: number;
  readonly waitMs: number;
  readonly stopMs: number;
}

/** Statements that write rows to a shop's log, with their link. */
interface ChainedRows {
  statements(tx: Tx, shopId: string, entries: readonly AuditEntry[]): Promise<readonly Statement[]>;
}

interface AuditJournalOptions {
  /** An engine for the journal's file alone. It is closed with the journal. */
  readonly file: Engine;
  /** The shops, without what watches their changes. */
  readonly shops: Engine;
  readonly trail: ChainedRows;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: as the program has them. */
  readonly limits?: Partial<JournalLimits> | undefined;
}

/** Where audit rows of reads are written. */
export interface AuditRowPlace {
  /** False: there are so many rows in it that further ones are written to the shops' logs. */
  readonly hasRoom: boolean;
  /** Resolves when the row is committed. @throws Fault DO_UNAVAILABLE when it cannot be written. */
  add(shopId: string, entry: AuditEntry): Promise<void>;
}

/** Thrown at a statement that reads a log from which rows are missing. */
class RowsAreMissing extends Error {
  override readonly name = "RowsAreMissing";
}

const readsLog = (sql: string): boolean => /\baudit_/.test(sql);

export class AuditJournal implements AuditRowPlace {
  readonly #options: AuditJournalOptions;
  readonly #limits: JournalLimits;
  /** By shop. The shop whose row was added first is the first. */
  readonly #waiting = new Map<string, Waiting>();
  /** Shops whose rows are being moved: from which place in the journal on, and until when. */
  readonly #moving = new Map<string, { readonly first: number; readonly ended: Promise<void> }>();
  /** Rows for which no write has begun. */
  #group: Group | null = null;
  /** Writes to the journal that have not ended. */
  readonly #writing = new Set<Promise<void>>();
  /** Rows that were moved and are to be deleted from the journal. */
  #moved: number[] = [];
  #last = 0;
  #count = 0;
  #syncTimer: ReturnType<typeof setTimeout> | null = null;
  #waitTimer: ReturnType<typeof setTimeout> | null = null;
  #makingRoom = false;
  #closing: Promise<void> | null = null;

  private constructor(options: AuditJournalOptions) {
    this.#options = options;
    this.#limits = {
      rowsMax: auditJournalRowsMax,
      shopRows: auditJournalShopRows,
      syncMs: auditJournalSyncMs,
      waitMs: auditJournalWaitMs,
      stopMs: auditJournalStopMs,
      ...options.limits,
    };
  }

  /** Opens the journal, with the rows that an earlier process has left in it. */
  static async open(options: AuditJournalOptions): Promise<AuditJournal> {
    const journal = new AuditJournal(options);
    await options.file.create(journalId);
    const left = await options.file.peek(journalId, (tx) =>
      tx.all<{ seq: number; shop_id: string }>("select seq, shop_id from pending_row order by seq"),
    );
    for (const { seq, shop_id: shopId } of left) journal.#note(shopId, seq);
    journal.#last = left.at(-1)?.seq ?? 0;
    return journal;
  }

  /** Rows that are to be moved to their shops' logs. */
  get count(): number {
    return this.#count;
  }

  get hasRoom(): boolean {
    return this.#count < 2 * this.#limits.rowsMax && this.#closing === null;
  }

  #note(shopId: string, seq: number): Waiting {
    const waiting = this.#waiting.get(shopId) ?? this.#wait(shopId, [], this.#limits.shopRows);
    waiting.seqs.push(seq);
    this.#count += 1;
    return waiting;
  }

  #wait(shopId: string, seqs: number[], moveAt: number): Waiting {
    const waiting = { seqs, sinceMs: this.#options.clock.now(), moveAt };
    this.#waiting.set(shopId, waiting);
    this.#moveOldLater();
    return waiting;
  }

  add(shopId: string, entry: AuditEntry): Promise<void> {
    this.#last += 1;
    const seq = this.#last;
    const group = this.#group ?? this.#begin();
    group.rows.push({ seq, shopId, entry });
    if (group.rows.length >= rowsTogetherMax) this.#group = null;
    const waiting = this.#note(shopId, seq);
    if (waiting.seqs.length >= waiting.moveAt) this.#moveSoon(shopId);
    if (this.#count > this.#limits.rowsMax) void this.#makeRoom();
    return group.written;
  }

  /** Begins a write that takes the rows which are added until its turn comes. */
  #begin(): Group {
    const rows: PendingRow[] = [];
    const work = async (tx: Tx): Promise<void> => {
      if (this.#group?.rows === rows) this.#group = null;
      await tx.batch(rows.map(insertion));
    };
    const written = this.#write(work, false).catch((error: unknown) => {
      if (this.#group?.rows === rows) this.#group = null;
      for (const { shopId, seq } of rows) this.#forget(shopId, seq);
      throw error;
    });
    // Those who have added rows are told.
    written.catch(() => {});
    this.#group = { rows, written };
    return this.#group;
  }

  /** Writes to the journal, and deletes some of the rows that were moved. */
  #write(work: Work<void>, durable: boolean): Promise<void> {
    const deleted = this.#moved.splice(0, rowsDeletedTogether);
    const { file } = this.#options;
    const written = file
      .write(
        journalId,
        async (tx) => {
          await work(tx);
          await tx.batch(chunksOf(deleted, inListMax).map(deletion));
        },
        { durable },
      )
      .catch((error: unknown) => {
        this.#moved.push(...deleted);
        throw error;
      })
      .finally(() => this.#writing.delete(written));
    this.#writing.add(written);
    if (!durable) this.#syncSoon();
    return written;
  }

  /** Syncs the journal a little later. What was moved meanwhile is deleted. */
  #syncSoon(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = null;
      // A sync that fails ends the process; a disk that is full is told to those who add rows.
      this.#sync().catch(() => {});
    }, this.#limits.syncMs).unref();
  }

  #sync(): Promise<void> {
    return this.#write((tx) => tx.batch([mark(this.#options.clock.now())]), true);
  }

  /** A row that could not be written waits for nothing. */
  #forget(shopId: string, seq: number): void {
    const seqs = this.#waiting.get(shopId)?.seqs ?? [];
    const at = seqs.indexOf(seq);
    if (at === -1) return;
    seqs.splice(at, 1);
    this.#count -= 1;
    if (seqs.length === 0) this.#waiting.delete(shopId);
  }

  /** True if rows of the shop are not in its log yet. */
  has(shopId: string): boolean {
    return this.#waiting.has(shopId) || this.#moving.has(shopId);
  }

  /**
   * Moves the shop's rows that were added before to its log. Resolves when they are durable there.
   *
   * @throws Fault DO_OVERLOADED or DO_UNAVAILABLE when the log cannot be written; the rows stay in the journal.
   */
  async settle(shopId: string): Promise<void> {
    const last = this.#last;
    await this.#moving.get(shopId)?.ended.catch(() => {});
    for (;;) {
      const moving = this.#moving.get(shopId);
      const first = moving?.first ?? this.#waiting.get(shopId)?.seqs[0] ?? Infinity;
      // Those that are added all the time are not waited for.
      if (first > last) return;
      await (moving?.ended ?? this.#move(shopId));
    }
  }

  #moveSoon(shopId: string): void {
    if (this.#moving.has(shopId)) return;
    this.#move(shopId).catch(() => {});
  }

  /** Moves what the shop has waiting now. */
  #move(shopId: string): Promise<void> {
    const first = this.#waiting.get(shopId)?.seqs[0] ?? Infinity;
    const ended = this.#moveRows(shopId).finally(() => this.#moving.delete(shopId));
    this.#moving.set(shopId, { first, ended });
    return ended;
  }

  async #moveRows(shopId: string): Promise<void> {
    const waiting = this.#waiting.get(shopId);
    if (waiting === undefined) return;
    this.#waiting.delete(shopId);
    const seqs = [...waiting.seqs];
    try {
      // Those that cannot be written are taken out of `waiting`, and are not found in the journal.
      await Promise.allSettled(this.#writing);
      while (seqs.length > 0) {
        const some = seqs.slice(0, rowsMovedTogether);
        const entries = await this.#entries(some);
        await this.#options.shops.write(shopId, (tx) => this.#writeMissing(tx, shopId, entries));
        this.#end(seqs.splice(0, some.length));
      }
    } catch (error) {
      if (isNotFound(error)) {
        this.#end(seqs);
        return;
      }
      this.#putBack(shopId, seqs);
      this.#options.log.warn(
        { shopId, err: error, rows: seqs.length },
        "audit rows wait in the journal: the shop cannot be written",
      );
      throw error;
    }
  }

  /** Rows that an earlier process has moved, and could not delete from the journal, are in the log. */
  async #writeMissing(tx: Tx, shopId: string, entries: readonly AuditEntry[]): Promise<void> {
    const missing = await notInLog(tx, shopId, entries);
    if (missing.length > 0) await tx.batch(await this.#options.trail.statements(tx, shopId, missing));
  }

  /** The rows at these places in the journal. */
  async #entries(seqs: readonly number[]): Promise<readonly AuditEntry[]> {
    const rows = await this.#options.file.peek(journalId, (tx) =>
      Promise.all(
        chunksOf(seqs, inListMax).map((chunk) =>
          tx.all<{ entry: string }>(
            `select entry from pending_row where seq in (${placeholders(chunk.length)}) order by seq`,
            chunk,
          ),
        ),
      ),
    );
    return rows.flat().map(({ entry }): AuditEntry => JSON.parse(entry));
  }

  /** Ends the wait of rows that are in their shop's log, or whose shop is gone. */
  #end(seqs: readonly number[]): void {
    this.#count -= seqs.length;
    this.#moved.push(...seqs);
    this.#syncSoon();
  }

  /**
   * Rows that could not be moved come before those that were added meanwhile. They are tried again when as many have
   * come again.
   */
  #putBack(shopId: string, seqs: readonly number[]): void {
    const added = this.#waiting.get(shopId)?.seqs ?? [];
    const all = [...seqs, ...added];
    this.#waiting.delete(shopId);
    if (all.length > 0) this.#wait(shopId, all, all.length + this.#limits.shopRows);
  }

  /** Moves the rows of shops that have waited for too long, as soon as the first of them has. */
  #moveOldLater(): void {
    const [oldest] = this.#waiting.values();
    if (this.#waitTimer !== null || oldest === undefined || this.#closing !== null) return;
    const { waitMs } = this.#limits;
    const inMs = Math.max(waitMs / 100, oldest.sinceMs + waitMs - this.#options.clock.now());
    this.#waitTimer = setTimeout(() => void this.#moveOld(), inMs).unref();
  }

  async #moveOld(): Promise<void> {
    const oldMs = this.#options.clock.now() - this.#limits.waitMs;
    const isOld = ([first]: Iterable<Waiting>): boolean => first !== undefined && first.sinceMs <= oldMs;
    // One shop at a time: nobody waits for these rows.
    await this.#moveUntil(() => this.#closing !== null || !isOld(this.#waiting.values()), 1);
    this.#waitTimer = null;
    this.#moveOldLater();
  }

  /** Moves the rows of the shops that have waited for longest until there is room. */
  async #makeRoom(): Promise<void> {
    if (this.#makingRoom) return;
    this.#makingRoom = true;
    const { rowsMax } = this.#limits;
    await this.#moveUntil(() => this.#closing !== null || this.#count <= rowsMax - rowsMax / 8);
    this.#makingRoom = false;
  }

  /** Moves the rows of each shop that has some now, until it is enough. */
  async #moveUntil(isEnough: () => boolean, together = shopsMovedTogether): Promise<void> {
    const shopIds = [...this.#waiting.keys()];
    const mover = async (): Promise<void> => {
      for (let shopId = shopIds.shift(); shopId !== undefined && !isEnough(); shopId = shopIds.shift())
        await this.settle(shopId).catch(() => {});
    };
    await Promise.all(Array.from({ length: together }, mover));
  }

  /** Takes the rows of a shop that is gone out of the journal. */
  async drop(shopId: string): Promise<void> {
    await this.#moving.get(shopId)?.ended.catch(() => {});
    const seqs = this.#waiting.get(shopId)?.seqs;
    if (seqs === undefined) return;
    this.#waiting.delete(shopId);
    await Promise.allSettled(this.#writing);
    this.#end(seqs);
    await this.#deleteMoved();
  }

  /** Deletes everything that was moved from the journal, durably. */
  async #deleteMoved(): Promise<void> {
    do await this.#sync();
    while (this.#moved.length > 0);
  }

  /** The engine, at which nobody reads a log without the rows that wait for it. */
  engine(below: Engine): Engine {
    const complete = async <T>(shopId: string, work: Work<T>, run: (work: Work<T>) => Promise<T>): Promise<T> => {
      this.#refuseWhenClosing();
      if (!this.has(shopId)) return await run(work);
      let isBehind = false;
      const notice = ({ sql }: Statement): void => {
        isBehind ||= readsLog(sql);
        if (isBehind) throw new RowsAreMissing();
      };
      try {
        const result = await run((tx) => work(new NoticingTx(tx, notice)));
        if (!isBehind) return result;
      } catch (error) {
        if (!isBehind) throw error;
      }
      // What cannot be moved now is told in the log, and stays where it is.
      await this.settle(shopId).catch(() => {});
      return await run(work);
    };
    return {
      ...delegated(below),
      create: async (shopId) => {
        this.#refuseWhenClosing();
        if (this.has(shopId) && !(await below.exists(shopId))) await this.drop(shopId);
        await below.create(shopId);
      },
      remove: async (shopId) => {
        this.#refuseWhenClosing();
        await below.remove(shopId);
        await this.drop(shopId);
      },
      read: (shopId, work, onSeen) => complete(shopId, work, (whole) => below.read(shopId, whole, onSeen)),
      peek: (shopId, work, credential) => complete(shopId, work, (whole) => below.peek(shopId, whole, credential)),
      write: async (shopId, work, options) => {
        this.#refuseWhenClosing();
        return await below.write(shopId, work, options);
      },
      admit: (shopId) => {
        this.#refuseWhenClosing();
        below.admit(shopId);
      },
      ready: async () => {
        this.#refuseWhenClosing();
        await below.ready();
      },
      close: async () => {
        await this.close();
        await below.close();
      },
    };
  }

  /** The shops are closed after the journal. @throws Fault DO_UNAVAILABLE as they would. */
  #refuseWhenClosing(): void {
    if (this.#closing !== null) throw unavailable("The service is stopping.");
  }

  /** Moves what it can in a short time, and closes the journal's file. The rest is moved by the next process. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { file, clock } = this.#options;
    const untilMs = clock.now() + this.#limits.stopMs;
    if (this.#waitTimer !== null) clearTimeout(this.#waitTimer);
    await this.#moveUntil(() => clock.now() >= untilMs);
    await Promise.allSettled([...this.#moving.values()].map(({ ended }) => ended));
    await Promise.allSettled(this.#writing);
    if (this.#syncTimer !== null) {
      clearTimeout(this.#syncTimer);
      // On a disk that takes nothing, what was moved is moved again by the next process.
      await this.#deleteMoved().catch(() => {});
      if (this.#syncTimer !== null) clearTimeout(this.#syncTimer);
    }
    await file.close();
  }
}

const insertion = ({ seq, shopId, entry }: PendingRow): Statement => ({
  sql: "insert into pending_row (seq, shop_id, entry) values (?, ?, ?)",
  params: [seq, shopId, JSON.stringify(entry)],
});

const deletion = (seqs: readonly number[]): Statement => ({
  sql: `delete from pending_row where seq in (${placeholders(seqs.length)})`,
  params: [...seqs],
});

const mark = (nowMs: number): Statement => ({
  sql: "insert into sync_mark (mark, at) values (?, ?) on conflict (mark) do update set at = excluded.at",
  params: ["sync", nowMs],
});
