/**
 * The thread that draws PDFs, one after another (drawing-threads.ts).
 */
import { parentPort, workerData } from "node:worker_threads";
import { runInBackground } from "../store/background-thread.ts";
import type { DrawingTask, DrawnDocument } from "./drawing-threads.ts";
import { loadFonts } from "./fonts.ts";
import { missingCharacter } from "./missing.ts";
import { pdfOf } from "./pdf.ts";
import { sheetOf } from "./sheet.ts";

runInBackground();

const { fontFile }: { readonly fontFile: string | null } = workerData;

const fonts = loadFonts(fontFile);

async function drawn({ content, as }: DrawingTask): Promise<DrawnDocument> {
  try {
    // A page has the reader's own fonts.
    if (as === "sheet") return { sheet: sheetOf(content) };
    const missing = missingCharacter(fonts, content);
    if (missing !== null) return { missing };
    return { bytes: await pdfOf(sheetOf(content), content.createdAtMs, fonts) };
  } catch (error) {
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on("message", (task: DrawingTask) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void drawn(task).then((answer) => parentPort?.postMessage(answer));
});
