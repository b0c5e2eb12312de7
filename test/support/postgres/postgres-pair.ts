/**
 * A PostgreSQL and its synchronous standby behind one address, as docs/operating.md describes it. A failover kills the primary (-9) and
 * promotes the standby; then a new standby can be made.
 *
 * The standby follows through a proxy. Before the primary is killed, the proxy holds back what it sends for a moment: a commit that did not
 * wait for the standby would be lost then, each time.
 */
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { systemClock } from "../../../src/base/time/system.ts";
import { type PostgresServer, startPostgres, withClient } from "./postgres.ts";
import { type DatabaseProxy, startProxy } from "./proxy.ts";
import { pause, until } from "../until.ts";

const followsMsMax = 60_000;

/** One address for a server that changes. */
interface Switch {
  readonly port: number;
  /** Cuts all connections; later ones go to this port, or are refused with null. */
  turn(port: number | null): void;
  close(): Promise<void>;
}

async function startSwitch(): Promise<Switch> {
  const sockets = new Set<Socket>();
  let to: number | null = null;
  const server = createServer((client) => {
    if (to === null) return void client.destroy();
    const database = connect(to, "127.0.0.1");
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    turn(port) {
      to = port;
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      to = null;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

interface PairOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** False: commits do not wait for the standby. Default true. */
  readonly synchronous?: boolean;
}

export interface PostgresPair extends AsyncDisposable {
  /** The service's address: that of the primary, whichever it is. */
  readonly url: string;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer | null;
  /**
   * Holds back what the primary sends its standby for `heldBackMs`, kills all of its processes, promotes the standby, and turns the address to
   * it. @returns how long that took after the kill.
   */
  failOver(heldBackMs: number): Promise<number>;
  /** Makes a new standby of the primary, and has commits wait for it. */
  addStandby(): Promise<void>;
}

const portOf = (url: string): number => Number(new URL(url).port);

function at(url: string, port: number): string {
  const other = new URL(url);
  other.port = String(port);
  return other.href;
}

/** The processes of the server with this data directory, which do not end at once with the one that started them. */
export function processesOf(data: string): readonly number[] {
  const [first = ""] = readFileSync(`${data}/postmaster.pid`, "utf8").split("\n");
  const children = globSync("/proc/[0-9]*/stat").flatMap((file) => {
    try {
      const fields = readFileSync(file, "utf8").split(") ").at(-1)?.split(" ") ?? [];
      return fields[1] === first ? [Number(file.split("/")[2])] : [];
    } catch {
      return [];
    }
  });
  return [Number(first), ...children];
}

/** @throws Error when the standby does not follow in time. */
async function untilFollowing(primary: PostgresServer, name: string, state: readonly string[]): Promise<void> {
  await withClient(primary.superuserUrl, async (client) => {
    await until(
      `${name} follows`,
      async () => {
        const { rows } = await client.query<{ sync_state: string }>(
          "select sync_state from pg_stat_replication where application_name = $1 and state = 'streaming'",
          [name],
        );
        return state.includes(rows[0]?.sync_state ?? "");
      },
      followsMsMax,
    );
  });
}

async function waitFor(primary: PostgresServer, names: string): Promise<void> {
  await withClient(primary.superuserUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${names}'`);
    await client.query("select pg_reload_conf()");
  });
}

export async function startPair({ settings = {}, synchronous = true }: PairOptions = {}): Promise<PostgresPair> {
  const serverSettings = { wal_keep_size: "1GB", ...settings };
  const address = await startSwitch();
  const servers: (PostgresServer & AsyncDisposable)[] = [];
  let proxy: DatabaseProxy | null = null;
  let primary = await startPostgres({ settings: serverSettings });
  servers.push(primary);
  let standby: PostgresServer | null = null;
  address.turn(portOf(primary.url));
  const pair: PostgresPair = {
    url: at(primary.url, address.port),
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    async addStandby() {
      const name = `standby_${servers.length}`;
      proxy = await startProxy(primary.superuserUrl);
      const made = await startPostgres({
        settings: serverSettings,
        standbyOf: { primary, through: proxy.url, name },
      });
      servers.push(made);
      standby = made;
      await untilFollowing(primary, name, ["async", "sync"]);
      if (!synchronous) return;
      await waitFor(primary, name);
      await untilFollowing(primary, name, ["sync"]);
    },
    async failOver(heldBackMs) {
      const [dying, promoted] = [primary, standby];
      if (promoted === null || proxy === null) throw new Error("there is no standby");
      proxy.stall();
      await pause(heldBackMs);
      const left = processesOf(dying.data);
      const killedAtMs = systemClock.now();
      for (const pid of left) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has ended with the first one.
        }
      }
      await dying.crash("SIGKILL");
      await proxy.close();
      address.turn(null);
      await withClient(promoted.superuserUrl, (client) => client.query("select pg_promote(true, 60)"));
      // It has the names of the old primary's standby among its settings if it was copied from one that had them.
      await waitFor(promoted, "");
      address.turn(portOf(promoted.url));
      [primary, standby, proxy] = [promoted as typeof primary, null, null];
      return systemClock.now() - killedAtMs;
    },
    async [Symbol.asyncDispose]() {
      await address.close();
      await proxy?.close();
      for (const server of servers) await server.stop();
    },
  };
  try {
    await pair.addStandby();
    return pair;
  } catch (error) {
    await pair[Symbol.asyncDispose]();
    throw error;
  }
}
