/**
 * A reader thread: runs the broad reads that it is sent, one after another (reader-pool.ts).
 */
import { parentPort, workerData } from "node:worker_threads";
import { runBroadRead } from "./operations/broad-read.ts";
import { operations } from "./operations/registry.ts";
import type { ReaderSource, ThreadTask } from "./reader-pool.ts";
import { readLentFile } from "./store/sqlite/reader.ts";
import type { Engine, Work } from "./store/store.ts";

const source: ReaderSource = workerData;

/** The database's shops, once a read has needed them. */
let engine: Engine | null = null;

/** Loaded only where it is needed: a thread on files does not load the database's client. */
async function openEngine(url: string): Promise<Engine> {
  const { openReaderEngine } = await import("./database.ts");
  return await openReaderEngine(url);
}

async function read<T>(shopId: string, file: string | null, work: Work<T>): Promise<T> {
  if (file !== null) return readLentFile(file, work);
  if (source.kind === "files") throw new Error("a shop in a file was not lent");
  engine ??= await openEngine(source.url);
  return await engine.read(shopId, work);
}

parentPort?.on("message", ({ file, broad }: ThreadTask) => {
  void runBroadRead(operations, (work) => read(broad.shop.shopId, file, work), broad).then((answer) =>
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(answer),
  );
});
