/**
 * The reader threads: broad reads run on them, with connections of their own, so that they hold up no other request.
 *
 * Owns: which broad read runs when (by store/fair-queue.ts), which thread has which file open. Does not own: the
 * threads (thread-pool.ts), what is read (requests/broad-read.ts), what a thread does (reader-thread.ts).
 */
import type { Fault } from "../base/fault.ts";
import type { Gauge } from "../http/metrics.ts";
import type { AnswerThreads, LargeAnswer, MadeAnswer } from "../mcp/large-answers.ts";
import type {
  BroadAnswer,
  BroadFinding,
  BroadQueryRead,
  BroadRead,
  BroadReply,
  FoundQuery,
  Readers,
} from "../requests/broad-read.ts";
import { unavailable } from "../store/engine-rules.ts";
import { type FairLimits, FairQueue } from "../store/fair-queue.ts";
import type { Footprint, Log, RunStatement } from "../store/store.ts";
import { moduleBeside, type Thread, ThreadPool } from "./thread-pool.ts";

/**
 * Returns the numbers that may run and wait with so many threads: one shop leaves a thread to the others, unless there
 * is one only.
 */
export const limitsWith = (threads: number): FairLimits => ({
  runningMax: threads,
  runningPerShopMax: Math.max(1, threads - 1),
  // More than a full bucket of the default rate limit, so that a burst within it is not refused.
  waitingPerShopMax: 240,
  waitMsMax: 30_000,
});

/**
 * Memory for new values of one thread. With Node's default, the rows of large orders stay for long. A thread then takes
 * 100 MB more while clients read one order again and again.
 */
const youngMegabytesMax = 8;

/** Shops in a database, as a thread opens them. */
export interface DatabaseSource {
  readonly kind: "database";
  readonly url: string;
  readonly schemaName: string;
  readonly schemaDirectory: string;
}

/** Access of a thread to the shops. Plain data. */
export type ReaderSource = { readonly kind: "files" } | DatabaseSource;

/** A shop that a thread may read. */
export interface Loan {
  /** The shop's file; null: its rows are in the database. */
  readonly file: string | null;
  /** Resolves when everything that the thread may have seen is durable (S4). */
  untilDurable(): Promise<void>;
  /**
   * To be called before the thread reads.
   *
   * @returns what says, after it, which rows these statements of it have seen. Null: some have changed since, or nobody
   *   knows.
   */
  observe(): (statements: readonly RunStatement[]) => Footprint | null;
  /** Nothing is read for now. When `recall` is called, the thread closes the file and the loan is given back. */
  rest(recall: () => void): void;
  /** Something is read again. To be called before `recall` is. */
  resume(): void;
  giveBack(): void;
}

/** Access of reader threads to the shops. */
export interface ReaderStore {
  readonly source: ReaderSource;
  /** @throws Fault NOT_FOUND or DO_UNAVAILABLE as `Engine.read` does. */
  lend(shopId: string): Promise<Loan>;
}

/** A read that a thread is asked for. */
type ThreadRead =
  /** `isRemembered`: the answer is wanted with what it was made from, if it can be remembered. */
  { readonly broad: BroadRead; readonly isRemembered: boolean } | { readonly query: BroadQueryRead };

/** Task of a thread. */
export type ThreadTask = { readonly file: string | null } & (
  | ThreadRead
  | { readonly answer: LargeAnswer }
  /** Closes the file that it has read last. */
  | { readonly close: true }
);

interface ReaderPoolOptions {
  readonly store: ReaderStore;
  readonly log: Log;
  readonly limits: FairLimits;
  /** The module that a thread runs. Default: threads/reader-thread.ts. */
  readonly module?: URL;
}

/** Answer of a thread, and the footprint of its statements. */
interface Found<Answer> {
  readonly answer: Answer;
  readonly seenBy: ReturnType<Loan["observe"]>;
}

/** The shop whose file a thread has open. */
interface Kept {
  readonly shopId: string;
  readonly loan: Loan;
}

const died = (): Fault => unavailable("This read could not be completed; nothing was changed.");

export class ReaderPool implements Readers, AnswerThreads {
  readonly #store: ReaderStore;
  readonly #queue: FairQueue;
  readonly #pool: ThreadPool;
  readonly #kept = new Map<Thread, Kept>();

  constructor({ store, log, limits, module }: ReaderPoolOptions) {
    this.#store = store;
    this.#queue = new FairQueue(limits);
    this.#pool = new ThreadPool({
      module: module ?? moduleBeside(import.meta.url, "reader-thread"),
      name: "openpo-reader",
      workerData: store.source,
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytesMax },
      log,
      diedMessage: "A reader thread has died; another one takes its place.",
      died,
      rested: (thread) => this.#kept.get(thread)?.loan.rest(() => void this.#close(thread)),
      ended: (thread) => {
        this.#kept.get(thread)?.loan.giveBack();
        this.#kept.delete(thread);
      },
    });
  }

  get gauges(): readonly Gauge[] {
    return [
      {
        name: "reader_threads",
        help: "Threads that run broad reads or wait for one.",
        type: "gauge",
        value: () => this.#pool.threads.size,
      },
      {
        name: "broad_reads_waiting",
        help: "Broad reads that wait for a reader thread.",
        type: "gauge",
        value: () => this.#queue.waiting,
      },
    ];
  }

  async read(broad: BroadRead): Promise<BroadReply> {
    return (await this.#queued<BroadReply>(broad.shop.shopId, { broad, isRemembered: false })).answer;
  }

  async find(broad: BroadRead): Promise<BroadFinding | BroadReply> {
    const broadTask = { broad, isRemembered: true };
    const { answer, seenBy } = await this.#queued<BroadAnswer | BroadReply>(broad.shop.shopId, broadTask);
    return "shown" in answer ? { shown: answer.shown, seen: seenBy(answer.statements) } : answer;
  }

  async readQuery(query: BroadQueryRead): Promise<unknown> {
    const { answer } = await this.#queued<FoundQuery>(query.shop.shopId, { query });
    if ("bug" in answer) throw new Error(`on a reader thread: ${answer.bug}`);
    return answer.found;
  }

  makeAnswer(shopId: string, answer: LargeAnswer): Promise<MadeAnswer> {
    return this.#run(shopId, async () => {
      const made = await this.#pool.ask<MadeAnswer | null>(this.#take(), { file: null, answer });
      if (made === null) throw new Error("a thread could not make an answer");
      return made;
    });
  }

  /** Runs what needs a thread, in the shop's turn. */
  #run<T>(shopId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(shopId, async () => {
      if (this.#pool.isClosed) throw unavailable("The service is stopping.");
      return await work();
    });
  }

  #queued<Answer>(shopId: string, what: ThreadRead): Promise<Found<Answer>> {
    return this.#run(shopId, async () => {
      const has = this.#pool.idle.findLast((thread) => this.#kept.get(thread)?.shopId === shopId);
      const kept = has === undefined ? undefined : this.#kept.get(has);
      if (kept !== undefined) return await this.#readWith<Answer>(this.#take(has), kept.loan, what);
      const loan = await this.#store.lend(shopId);
      let before: Loan | null = null;
      try {
        const thread = this.#take();
        before = this.#kept.get(thread)?.loan ?? null;
        this.#kept.set(thread, { shopId, loan });
        return await this.#readWith<Answer>(thread, loan, what);
      } catch (error) {
        // Else the thread has it, which gives it back when it ends.
        if (![...this.#kept.values()].some((each) => each.loan === loan)) loan.giveBack();
        throw error;
      } finally {
        // The thread has closed that file before it opened this one, or has ended.
        before?.giveBack();
      }
    });
  }

  /** Reads on a thread that has the loan. */
  async #readWith<Answer>(thread: Thread, loan: Loan, what: ThreadRead): Promise<Found<Answer>> {
    const seenBy = loan.observe();
    const answer = await this.#pool.ask<Answer>(thread, { file: loan.file, ...what });
    await loan.untilDurable();
    return { answer, seenBy };
  }

  /** Takes an idle thread. Its file is not closed meanwhile. */
  #take(idle?: Thread): Thread {
    const thread = this.#pool.take(idle);
    this.#kept.get(thread)?.loan.resume();
    return thread;
  }

  /** Has an idle thread close the file that it has open. */
  async #close(thread: Thread): Promise<void> {
    const kept = this.#kept.get(thread);
    if (kept === undefined) return;
    this.#kept.delete(thread);
    try {
      await this.#pool.ask(this.#take(thread), { file: null, close: true } satisfies ThreadTask);
    } catch {
      // The thread has ended, and its connection with it.
    } finally {
      kept.loan.giveBack();
    }
  }

  /** Ends every thread. Reads that still run or wait are refused. */
  async close(): Promise<void> {
    await this.#pool.close();
  }
}
