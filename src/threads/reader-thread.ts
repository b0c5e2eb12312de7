/**
 * A reader thread: runs the broad reads that it is sent, one after another (threads/reader-pool.ts).
 */
import { parentPort, workerData } from "node:worker_threads";
import type { LargeAnswer, MadeAnswer } from "../mcp/large-answers.ts";
import {
  type BroadAnswer,
  type BroadReply,
  type FoundQuery,
  runBroadQuery,
  runBroadRead,
} from "../requests/broad-read.ts";
import { systemClock } from "../base/time/system.ts";
import { broadQueries } from "../operations/broad-queries.ts";
import type { DatabaseSource, ReaderSource, ThreadTask } from "./reader-pool.ts";
import { runInBackground } from "../store/background-thread.ts";
import { LentFileReader } from "../store/sqlite/reader.ts";
import type { Engine, Work } from "../store/store.ts";

runInBackground();

const source: ReaderSource = workerData;

const files = new LentFileReader();

/** The database's shops, once a read has needed them. */
let engine: Engine | null = null;

/**
 * The shops on a connection of its own. The main thread has brought the schema to this version. A thread on files loads
 * no client of databases.
 */
async function openEngine({ url, schemaName, schemaDirectory }: DatabaseSource): Promise<Engine> {
  const [{ openPostgresEngine }, { openPostgresPool }] = await Promise.all([
    import("../store/postgres/engine.ts"),
    import("../store/postgres/connection.ts"),
  ]);
  const pool = await openPostgresPool({ url, connectionsMax: 1, schemas: [schemaName] });
  return await openPostgresEngine({ pool, schemaName, schemaDirectory, clock: systemClock, migrates: false });
}

async function read<T>(shopId: string, file: string | null, work: Work<T>): Promise<T> {
  if (file !== null) return files.read(file, work);
  if (source.kind === "files") throw new Error("a shop in a file was not lent");
  engine ??= await openEngine(source);
  return await engine.read(shopId, work);
}

/** All operations, which take a thread longer to load than most reads do. */
const loadOperations = async () => (await import("../operations/registry.ts")).operations;

/** An agent's answer; null when it cannot be made. The protocol's library is loaded when it is first needed. */
async function madeAnswer(answer: LargeAnswer): Promise<MadeAnswer | null> {
  try {
    const { makeLargeAnswer } = await import("../mcp/large-answers.ts");
    return await makeLargeAnswer(await loadOperations(), answer);
  } catch {
    return null;
  }
}

async function answerOf(task: ThreadTask): Promise<BroadAnswer | BroadReply | FoundQuery | MadeAnswer | null> {
  if ("close" in task) {
    files.close();
    return null;
  }
  if ("answer" in task) return await madeAnswer(task.answer);
  const shopId = "broad" in task ? task.broad.shop.shopId : task.query.shop.shopId;
  const readShop = <T>(work: Work<T>): Promise<T> => read(shopId, task.file, work);
  return "broad" in task
    ? await runBroadRead(await loadOperations(), readShop, task.broad, task.isRemembered)
    : await runBroadQuery(broadQueries, readShop, task.query);
}

/** Answers; the memory of a long body goes over to the other thread. */
async function answer(task: ThreadTask): Promise<void> {
  const answered = await answerOf(task);
  const memory = answered !== null && "reply" in answered ? answered.reply.bytes?.buffer : undefined;
  parentPort?.postMessage(answered, memory instanceof ArrayBuffer ? [memory] : []);
}

parentPort?.on("message", (task: ThreadTask) => void answer(task));
