/** A test server with reader threads. */
import type { BroadRead, Readers } from "../../../src/requests/broad-read.ts";
import type { AnswerThreads } from "../../../src/mcp/large-answers.ts";
import { limitsWith, ReaderPool, type ReaderStore } from "../../../src/threads/reader-pool.ts";
import { type TestServerOptions, startServer } from "../server.ts";

export const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** The server, and the names of the operations that have left the event loop. */
export async function startBroadServer(options: TestServerOptions = {}, module?: URL) {
  const left: string[] = [];
  const server = await startServer({
    ...options,
    readers: (store: ReaderStore): Readers & AnswerThreads & { close(): Promise<void> } => {
      const pool = new ReaderPool({
        store,
        log: silent,
        limits: limitsWith(2),
        ...(module === undefined ? {} : { module }),
      });
      return {
        read: (broad: BroadRead) => {
          left.push(broad.operation);
          return pool.read(broad);
        },
        find: (broad: BroadRead) => {
          left.push(broad.operation);
          return pool.find(broad);
        },
        readQuery: (broad) => {
          left.push(broad.query);
          return pool.readQuery(broad);
        },
        makeAnswer: (shopId, answer) => {
          left.push(`answer of ${answer.tool}`);
          return pool.makeAnswer(shopId, answer);
        },
        close: () => pool.close(),
      };
    },
  });
  return { server, left };
}
