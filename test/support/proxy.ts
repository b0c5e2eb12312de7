/** What stands between a node and its database in tests: it can lose an answer, fall silent, or be gone. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type LostCommit = "before" | "after" | "for-long" | "before-for-long";

export interface DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /**
   * Cuts the next connection that sends a commit, once. `after`: the commit gets through, its answer does not come back. `for-long`: and
   * from then on new connections are refused until `resume`. `before`: not even the commit gets through. Resolves when that has happened.
   */
  loseCommit(when: LostCommit): Promise<void>;
  /** From now on nothing gets through in either direction, on connections that stand and on new ones, until `resume`. */
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

/** How long the database does not notice that a connection was cut. */
const lastWordsMs = 300;

/** `commit` as a statement of its own, in either of the protocol's ways to send it. */
const commits = ["\0commit\0", "Q\0\0\0\x0bcommit\0"];

export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  let losing: { readonly when: LostCommit; readonly done: () => void } | null = null;
  let stalled = false;
  let refusing = false;

  const cut = (client: Socket, database: Socket): void => {
    client.destroy();
    database.destroy();
  };
  const server = createServer((client) => {
    if (refusing) return void client.destroy();
    const database = connect(Number(target.port), target.hostname);
    const pair = [client, database] as const;
    pairs.add(pair);
    let mute = false;
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => {
        pairs.delete(pair);
        if (!mute) cut(client, database);
      });
      if (stalled) socket.pause();
    }
    client.on("data", (bytes: Buffer) => {
      const sent = bytes.toString("latin1");
      if (losing === null || !commits.some((each) => sent.includes(each))) return void database.write(bytes);
      const { when, done } = losing;
      losing = null;
      mute = true;
      refusing = when.endsWith("for-long");
      if (when.startsWith("before")) done();
      else database.write(bytes);
      client.destroy();
      setTimeout(() => {
        database.destroy();
        done();
      }, lastWordsMs);
    });
    database.on("data", (bytes: Buffer) => {
      if (!mute) client.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const through = new URL(databaseUrl);
  through.port = String(typeof address === "object" ? address?.port : "");
  return {
    url: through.href,
    loseCommit: (when) => new Promise((resolve) => (losing = { when, done: resolve })),
    stall() {
      stalled = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    resume() {
      stalled = false;
      refusing = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    async close() {
      for (const pair of pairs) cut(...pair);
      server.close();
      await once(server, "close");
    },
  };
}
