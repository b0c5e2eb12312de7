/**
 * The threads that draw PDFs. One starts when it is first needed and ends when it was idle for a while, so that a
 * service that draws nothing has none. One that dies (out of memory) is replaced; its caller is told to repeat the
 * request.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Fault, invalidField } from "../base/fault.ts";
import type { Log } from "../store/store.ts";
import type { DocumentContent } from "./content.ts";
import type { Missing } from "./missing.ts";
import type { Sheet } from "./sheet.ts";

/** A thread that was idle for so long ends. */
const idleMsMax = 60_000;

/** Memory of one thread. A document that needs more fails, and nothing else does. */
const threadMegabytesMax = 512;

const retryAfterMs = 1_000;

/** Task of a thread. */
export interface DrawingTask {
  readonly content: DocumentContent;
  readonly as: "pdf" | "sheet";
}

/** Answer of a thread. */
export type DrawnDocument =
  | { readonly bytes: Uint8Array }
  | { readonly sheet: Sheet }
  | { readonly missing: Missing }
  /** The stack of what was thrown. */
  | { readonly bug: string };

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

function unprintable({ path, place, character, isProductName }: Missing): Fault {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const name = isProductName ? "Set the line's supplierProductName, which is printed in its place. Or print" : "Print";
  return invalidField(
    path,
    `has the character ${character} (${code}) in ${place}, which no font of the documents has`,
    `${name} the order's page from the console, which the browser draws. Or have the operator install a package of fonts that has it, or set OPENPO_DOCUMENT_FONT (docs/documents.md).`,
  );
}

export class DrawingThreads {
  readonly #log: Log;
  readonly #fontFile: string | null;
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  /** @param fontFile  the operator's font; null: there is none. */
  constructor(log: Log, fontFile: string | null) {
    this.#log = log;
    this.#fontFile = fontFile;
  }

  /**
   * The PDF with this content.
   *
   * @throws Fault INVALID_INPUT   no font has a character of it.
   * @throws Fault DO_UNAVAILABLE  the thread has died, or the service stops.
   */
  async draw(content: DocumentContent): Promise<Uint8Array> {
    const answer = await this.#ask({ content, as: "pdf" });
    if (!("bytes" in answer)) throw new Error("a PDF has bytes");
    return answer.bytes;
  }

  /** The sheet with this content. @throws Fault as `draw`. */
  async sheet(content: DocumentContent): Promise<Sheet> {
    const answer = await this.#ask({ content, as: "sheet" });
    if (!("sheet" in answer)) throw new Error("a sheet was asked for");
    return answer.sheet;
  }

  async #ask(task: DrawingTask): Promise<Exclude<DrawnDocument, { missing: unknown } | { bug: unknown }>> {
    if (this.#isClosed) throw undrawn();
    const thread = this.#idle.pop() ?? this.#start();
    if (thread.idleTimer !== null) clearTimeout(thread.idleTimer);
    const { worker } = thread;
    worker.ref();
    const drawn = Promise.withResolvers<DrawnDocument>();
    const onExit = (): void => drawn.reject(undrawn());
    worker.once("message", drawn.resolve);
    worker.once("exit", onExit);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(task);
    try {
      const answer = await drawn.promise;
      this.#rest(thread);
      if ("missing" in answer) throw unprintable(answer.missing);
      if ("bug" in answer) throw new Error(`on a drawing thread: ${answer.bug}`);
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
  }

  #start(): Thread {
    const worker = new Worker(threadModule, {
      workerData: { fontFile: this.#fontFile },
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
