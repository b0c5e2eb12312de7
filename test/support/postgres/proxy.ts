/** A TCP proxy between a node and its database that can lose an answer, stop forwarding, or refuse connections. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { commit } from "../../../src/store/postgres/connection.ts";

type LostCommit = "before" | "after" | "for-long" | "before-for-long";

export interface DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /**
   * Cuts the next connection that sends a commit, once. `before`: the commit is not forwarded. `after`: the commit is forwarded, but its
   * answer is lost. `for-long` (as `after`) and `before-for-long`: new connections are then refused until `resume`. Resolves when the
   * connection is cut.
   */
  loseCommit(when: LostCommit): Promise<void>;
  /** Stops forwarding in both directions, on existing and new connections, until `resume`. */
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

/** Delay until the database side of a cut connection is closed. */
const lastWordsMs = 300;

/** Matches a `commit` statement: its text in both forms of the protocol, and the name under which it is prepared. */
const commits = ["\0commit\0", "Q\0\0\0\x0bcommit\0", `\0${commit.name}\0`];

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
