/**
 * Threads of one module that answer one task at a time each.
 *
 * A thread starts when it is first needed and ends when it was idle for a while. So a service that needs none has none.
 * A thread that dies (out of memory) is replaced; its caller is told to repeat the request.
 */
import { once } from "node:events";
import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Log } from "../store/store.ts";

/** A thread that was idle for so long ends. */
const idleMsMax = 60_000;

/** Memory of one thread. A task that needs more fails, and nothing else does. */
const threadMegabytesMax = 512;

interface ThreadPoolOptions {
  /** The module that a thread runs. */
  readonly module: URL;
  readonly name: string;
  /** Plain data that a thread starts with. */
  readonly workerData: unknown;
  readonly resourceLimits?: ResourceLimits;
  readonly log: Log;
  /** The log's line about a thread that has died. */
  readonly diedMessage: string;
  /** Makes the error of the caller whose thread has died. */
  readonly died: () => Error;
  /** Called when a thread begins to be idle. */
  readonly rested?: (thread: Thread) => void;
  /** Called when a thread has ended. */
  readonly ended?: (thread: Thread) => void;
}

/** A running thread. */
export interface Thread {
  readonly worker: Worker;
  idleTimer: NodeJS.Timeout | null;
}

/**
 * The module beside this one that a thread runs. It has the extension of this one: `.ts`, and `.js` in the package.
 *
 * @param url   this module's.
 * @param name  the other one's, without its extension.
 */
export const moduleBeside = (url: string, name: string): URL =>
  new URL(url.replace(/[^/]+(\.\w+)$/, (_, extension: string) => name + extension));

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  get threads(): ReadonlySet<Thread> {
    return this.#threads;
  }

  /** The one that was busy last is the last one. */
  get idle(): readonly Thread[] {
    return this.#idle;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes an idle thread, or starts one, for tasks of the caller alone. */
  take(thread: Thread = this.#idle.at(-1) ?? this.#start()): Thread {
    this.#forget(thread);
    if (thread.idleTimer !== null) clearTimeout(thread.idleTimer);
    return thread;
  }

  /** Has a taken thread do a task; then the thread is idle. @throws what `died` returns if it dies meanwhile. */
  async ask<Answer>(thread: Thread, task: object): Promise<Answer> {
    const { worker } = thread;
    worker.ref();
    const answered = Promise.withResolvers<Answer>();
    const onExit = (): void => answered.reject(this.#options.died());
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
      this.#forget(thread);
      void thread.worker.terminate();
    }, idleMsMax);
    thread.idleTimer.unref();
    this.#idle.push(thread);
    this.#options.rested?.(thread);
  }

  #forget(thread: Thread): void {
    const index = this.#idle.indexOf(thread);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  #start(): Thread {
    const { module, name, workerData, resourceLimits, log, diedMessage, ended } = this.#options;
    const worker = new Worker(module, {
      workerData,
      name,
      resourceLimits: { maxOldGenerationSizeMb: threadMegabytesMax, ...resourceLimits },
    });
    const thread: Thread = { worker, idleTimer: null };
    this.#threads.add(thread);
    worker.on("error", (error) => log.error({ err: error }, diedMessage));
    worker.once("exit", () => {
      this.#threads.delete(thread);
      this.#forget(thread);
      ended?.(thread);
    });
    return thread;
  }

  /** Ends every thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#threads].map(async ({ worker }) => {
        const ended = once(worker, "exit");
        await worker.terminate();
        await ended.catch(() => {});
      }),
    );
  }
}
