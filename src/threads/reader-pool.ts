/**
 * The reader threads: broad reads run on them, with connections of their own, so that they hold up no other request.
 *
 * Owns: the threads, which broad read runs when (by store/fair-queue.ts). Does not own: what is read
 * (requests/broad-read.ts), what a thread does (threads/reader-thread.ts).
 *
 * A thread starts when it is first needed and ends when it was idle for a while. So a service without broad reads has
 * none. A thread that dies (out of memory) is replaced; its caller is told to repeat the read.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
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

/** A thread that was idle for so long ends. */
const idleMsMax = 60_000;

/** Memory of one thread. A read that needs more fails, and nothing else does. */
const threadMegabytesMax = 512;

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

/** A running thread. */
interface Thread {
  readonly worker: Worker;
  idleTimer: ReturnType<typeof setTimeout> | null;
  /** The shop whose file it has open. */
  kept: { readonly shopId: string; readonly loan: Loan } | null;
}

/** The module that a thread runs has the extension of this one: `.ts`, and `.js` in the package. */
const threadModule = new URL(import.meta.url.replace(/reader-pool(\.\w+)$/, "reader-thread$1"));

const died = (cause: unknown): Fault => unavailable("This read could not be completed; nothing was changed.", cause);

export class ReaderPool implements Readers, AnswerThreads {
  readonly #options: ReaderPoolOptions;
  readonly #queue: FairQueue;
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  #refusal: Fault | null = null;

  constructor(options: ReaderPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.limits);
  }

  get gauges(): readonly Gauge[] {
    return [
      {
        name: "reader_threads",
        help: "Threads that run broad reads or wait for one.",
        type: "gauge",
        value: () => this.#threads.size,
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
    return this.#queue.run(shopId, async () => {
      if (this.#refusal !== null) throw this.#refusal;
      const made = await this.#ask<MadeAnswer | null>(this.#take(), { file: null, answer });
      if (made === null) throw new Error("a thread could not make an answer");
      return made;
    });
  }

  #queued<Answer>(shopId: string, what: ThreadRead): Promise<Found<Answer>> {
    return this.#queue.run(shopId, async () => {
      if (this.#refusal !== null) throw this.#refusal;
      const has = this.#idle.findLast(({ kept }) => kept?.shopId === shopId);
      if (has?.kept) return await this.#readWith<Answer>(this.#take(has), has.kept.loan, what);
      const loan = await this.#options.store.lend(shopId);
      let before: Loan | null = null;
      try {
        const thread = this.#take();
        before = thread.kept?.loan ?? null;
        thread.kept = { shopId, loan };
        return await this.#readWith<Answer>(thread, loan, what);
      } catch (error) {
        // Else the thread has it, which gives it back when it ends.
        if (![...this.#threads].some(({ kept }) => kept?.loan === loan)) loan.giveBack();
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
    const answer = await this.#ask<Answer>(thread, { file: loan.file, ...what });
    await loan.untilDurable();
    return { answer, seenBy };
  }

  /** Takes an idle thread. Its file is not closed meanwhile. */
  #take(thread = this.#idle.at(-1) ?? this.#start()): Thread {
    const index = this.#idle.indexOf(thread);
    if (index !== -1) this.#idle.splice(index, 1);
    thread.kept?.loan.resume();
    if (thread.idleTimer !== null) clearTimeout(thread.idleTimer);
    return thread;
  }

  /** Has an idle thread close the file that it has open. */
  async #close(thread: Thread): Promise<void> {
    const { kept } = thread;
    if (kept === null) return;
    thread.kept = null;
    try {
      await this.#ask(this.#take(thread), { file: null, close: true });
    } catch {
      // The thread has ended, and its connection with it.
    } finally {
      kept.loan.giveBack();
    }
  }

  async #ask<Answer>(thread: Thread, task: ThreadTask): Promise<Answer> {
    const { worker } = thread;
    worker.ref();
    const answered = Promise.withResolvers<Answer>();
    const onExit = (): void => answered.reject(died(null));
    worker.once("message", answered.resolve);
    worker.once("exit", onExit);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(task);
    try {
      const answer = await answered.promise;
      this.#rest(thread);
      return answer;
    } finally {
      worker.off("exit", onExit);
    }
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    thread.idleTimer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(thread), 1);
      void thread.worker.terminate();
    }, idleMsMax);
    thread.idleTimer.unref();
    this.#idle.push(thread);
    thread.kept?.loan.rest(() => void this.#close(thread));
  }

  #start(): Thread {
    const { store, log, module = threadModule } = this.#options;
    const worker = new Worker(module, {
      workerData: store.source,
      name: "openpo-reader",
      resourceLimits: { maxOldGenerationSizeMb: threadMegabytesMax, maxYoungGenerationSizeMb: youngMegabytesMax },
    });
    const thread: Thread = { worker, idleTimer: null, kept: null };
    this.#threads.add(thread);
    worker.on("error", (error) => log.error({ err: error }, "A reader thread has died; another one takes its place."));
    worker.once("exit", () => {
      this.#threads.delete(thread);
      thread.kept?.loan.giveBack();
      thread.kept = null;
      const index = this.#idle.indexOf(thread);
      if (index !== -1) this.#idle.splice(index, 1);
    });
    return thread;
  }

  /** Ends every thread. Reads that still run or wait are refused. */
  async close(): Promise<void> {
    this.#refusal ??= unavailable("The service is stopping.");
    await Promise.all(
      [...this.#threads].map(async ({ worker }) => {
        const ended = once(worker, "exit");
        await worker.terminate();
        await ended.catch(() => {});
      }),
    );
  }
}
