/**
 * The thread that draws PDFs, one after another (documents.ts).
 */
import { parentPort } from "node:worker_threads";
import type { DocumentContent } from "./content.ts";
import { pdfDocument } from "./pdf.ts";

parentPort?.on("message", (content: DocumentContent) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void pdfDocument(content).then((bytes) => parentPort?.postMessage(bytes));
});
