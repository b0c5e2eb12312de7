/** The threads that draw PDFs. */
import { Fault, invalidField } from "../base/fault.ts";
import type { Log } from "../store/store.ts";
import { moduleBeside, ThreadPool } from "../threads/thread-pool.ts";
import type { DocumentContent } from "./content.ts";
import type { Missing } from "./missing.ts";
import type { Sheet } from "./sheet.ts";

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
  readonly #pool: ThreadPool;

  /** @param fontFile  the operator's font; null: there is none. */
  constructor(log: Log, fontFile: string | null) {
    this.#pool = new ThreadPool({
      module: moduleBeside(import.meta.url, "document-thread"),
      name: "openpo-documents",
      workerData: { fontFile },
      log,
      diedMessage: "A document could not be drawn; its thread has ended.",
      died: undrawn,
    });
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
    if (this.#pool.isClosed) throw undrawn();
    const answer = await this.#pool.ask<DrawnDocument>(this.#pool.take(), task);
    if ("missing" in answer) throw unprintable(answer.missing);
    if ("bug" in answer) throw new Error(`on a drawing thread: ${answer.bug}`);
    return answer;
  }

  /** Ends every thread. */
  async close(): Promise<void> {
    await this.#pool.close();
  }
}
