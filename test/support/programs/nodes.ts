/**
 * Nodes that share a database, as an operator runs them: separate processes, each with its own port, that can be killed and restarted.
 */
import { systemClock } from "../../../src/base/time/system.ts";
import { adminToken } from "../clients.ts";
import { withClient } from "../postgres/postgres.ts";
import { type RunningProgram, serveProgram } from "../process.ts";
import { pause } from "../until.ts";

/** A node may be started while the database is down. */
const startMsMax = 90_000;
const startPauseMs = 300;

export interface ServiceNode {
  /** The address at which it listens, or listened before it was killed. */
  readonly url: string;
  /** Its current process; null while it is stopped. */
  readonly program: RunningProgram | null;
  /** Starts it, repeatedly until it serves. `main` is that of another program than this checkout's. */
  start(main?: string): Promise<void>;
  /** Ends it with the signal. Returns its exit status. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** The stderr of all its processes that have ended. */
  readonly log: string;
}

/** Makes a node that is not started yet. `env` is added to the variables that connect it to this database. */
export function serviceNode(databaseUrl: string, env: Readonly<Record<string, string>> = {}): ServiceNode {
  let url = "http://127.0.0.1:1";
  let program: RunningProgram | null = null;
  let log = "";
  return {
    get url() {
      return url;
    },
    get program() {
      return program;
    },
    get log() {
      return log;
    },
    async start(main) {
      const untilMs = systemClock.now() + startMsMax;
      while (program === null) {
        try {
          const given = {
            OPENPO_DATABASE_URL: databaseUrl,
            OPENPO_ADMIN_TOKEN: adminToken,
            OPENPO_DEMO: "0",
            ...env,
          };
          program = await serveProgram(given, [], main);
          ({ url } = program);
        } catch (error) {
          log += `\n${String(error)}\n`;
          if (systemClock.now() > untilMs) throw error;
          await pause(startPauseMs);
        }
      }
    },
    async end(signal) {
      const ended = program;
      if (ended === null) return null;
      const { code, stderr } = await ended.end(signal);
      program = null;
      log += stderr;
      return code;
    },
  };
}

/** Starts this many nodes on a database, runs `use`, and ends them afterwards. `env` as with `serviceNode`. @throws the error of `use`, with the errors that the nodes have logged. */
export async function withNodes(
  databaseUrl: string,
  count: number,
  use: (nodes: readonly ServiceNode[]) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const nodes = Array.from({ length: count }, () => serviceNode(databaseUrl, env));
  const started = nodes.map((node) => node.start());
  const endAll = async (): Promise<void> => {
    await Promise.allSettled(started);
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
  };
  try {
    await Promise.all(started);
    await use(nodes);
  } catch (error) {
    await endAll();
    const logged = nodes.flatMap(({ log }) => log.split("\n").filter((line) => line.includes('"level":50')));
    if (logged.length === 0) throw error;
    throw new Error(`${String(error)}\nThe nodes have logged errors:\n${logged.join("\n")}`, { cause: error });
  }
  await endAll();
}

/** Reads rows of the shop directly from the database: `$1` is its id. */
export const rowsOf = <R extends object>(databaseUrl: string, shopId: string, sql: string): Promise<R[]> =>
  withClient(databaseUrl, async (client) => {
    await client.query("select set_config('openpo.shop_id', $1, false)", [shopId]);
    return (await client.query<R>(sql, [shopId])).rows;
  });
