/**
 * The threads that draw PDFs. One starts when it is first needed and ends when it was idle for a while, so that a service that draws
 * nothing has none. One that dies (out of memory) is replaced; its caller is told to repeat the request.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Fault } from "../core/fault.ts";
import type { Log } from "../store/store.ts";
import type { DocumentContent } from "./content.ts";

/** A thread that was idle for so long ends. */
const idleMsMax = 60_000;

/** Memory of one thread. A document that needs more fails, and nothing else does. */
const threadMegabytesMax = 512;

const retryAfterMs = 1_000;

interface Thread {
  readonly worker: Worker;
  idleTimer: ReturnType<typeof setTimeout> | null;
}

/** The module that a thread runs has the extension of this one: `.ts`, and `.js` in the package. */
const threadModule = new URL(import.meta.url.replace(/drawing-threads(\.\w+)$/, "document-thread$1"));

const undrawn = (): Fault =>
  new Fault("DO_UNAVAILABLE", "The document could not be drawn; nothing was changed.", {
    action: "Send the same request again.",
    retryAfterMs,
  });

export class DrawingThreads {
  readonly #log: Log;
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The PDF with this content. @throws Fault DO_UNAVAILABLE when the thread dies, or the service stops. */
  async draw(content: DocumentContent): Promise<Uint8Array> {
    if (this.#isClosed) throw undrawn();
    const thread = this.#idle.pop() ?? this.#start();
    if (thread.idleTimer !== null) clearTimeout(thread.idleTimer);
    const { worker } = thread;
    worker.ref();
    const drawn = Promise.withResolvers<Uint8Array>();
    const onExit = (): void => drawn.reject(undrawn());
    worker.once("message", drawn.resolve);
    worker.once("exit", onExit);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(content);
    try {
      const bytes = await drawn.promise;
      this.#rest(thread);
      return bytes;
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
  }

  #start(): Thread {
    const worker = new Worker(threadModule, {
      name: "openpo-documents",
      resourceLimits: { maxOldGenerationSizeMb: threadMegabytesMax },
    });
    const thread: Thread = { worker, idleTimer: null };
    this.#threads.add(thread);
    worker.on("error", (error) =>
      this.#log.error({ err: error }, "A document could not be drawn; its thread has ended."),
    );
    worker.once("exit", () => {
      this.#threads.delete(thread);
      const index = this.#idle.indexOf(thread);
      if (index !== -1) this.#idle.splice(index, 1);
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
