/**
 * HAProxy in front of nodes, with the configuration that is shipped (deploy/haproxy.cfg), but that answers say in `X-Node` which node sent them.
 * `OPENPO_HAPROXY` names the program; by default it is that of the Debian package.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { freePort } from "../programs/ports.ts";
import { until } from "../until.ts";

const haproxy = process.env["OPENPO_HAPROXY"] ?? "/usr/sbin/haproxy";
const shipped = readFileSync(path.join(import.meta.dirname, "../../../deploy/haproxy.cfg"), "utf8");
/** HAProxy's own answers have no such header. */
const tellsNode = "    http-response set-header X-Node %s\n";

/** Why tests behind HAProxy are skipped; false: they are not. */
export const noHaproxy = existsSync(haproxy)
  ? false
  : "NO HAPROXY ON THIS MACHINE (apt-get install haproxy, or OPENPO_HAPROXY): what needs a load balancer was not tried";

export interface LoadBalancer extends AsyncDisposable {
  readonly url: string;
  /** What it has logged. */
  readonly log: string;
  /** How it sees the nodes: `UP`, `DOWN`, `UP 1/2`, … by `node1` to `node3`. */
  states(): Promise<ReadonlyMap<string, string>>;
  /** How many requests run at each node. */
  running(): Promise<ReadonlyMap<string, number>>;
  /** Sends a command to its control socket. */
  control(command: string): Promise<string>;
}

/** Starts it in front of two or three nodes, which are `host:port` each. */
export async function startHaproxy(nodes: readonly string[]): Promise<LoadBalancer> {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-haproxy-"));
  const port = await freePort();
  const socket = path.join(directory, "control");
  const configuration = path.join(directory, "haproxy.cfg");
  writeFileSync(configuration, shipped.replace("backend nodes\n", `$&${tellsNode}`));
  const child: ChildProcess = spawn(haproxy, ["-db", "-f", configuration], {
    env: {
      ...process.env,
      LISTEN: `127.0.0.1:${port}`,
      CONTROL: socket,
      ...Object.fromEntries(nodes.map((node, index) => [`NODE_${index + 1}`, node])),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "close");
  let log = "";
  for (const output of [child.stdout, child.stderr]) output?.on("data", (data: Buffer) => (log += data.toString()));
  const control = async (command: string): Promise<string> => {
    const asked = connect(socket);
    asked.end(`${command}\n`);
    return await text(asked);
  };
  /** A column of its statistics, by node. */
  const statistics = async (column: number): Promise<ReadonlyMap<string, string>> => {
    const rows = (await control("show stat")).split("\n").map((line) => line.split(","));
    return new Map(rows.filter(([name]) => name === "nodes").map((row) => [row[1] ?? "", row[column] ?? ""]));
  };
  const balancer: LoadBalancer = {
    url: `http://127.0.0.1:${port}`,
    get log() {
      return log;
    },
    control,
    states: () => statistics(17),
    running: async () => new Map([...(await statistics(4))].map(([name, count]) => [name, Number(count)])),
    async [Symbol.asyncDispose]() {
      process.removeListener("exit", kill);
      kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    await until(
      () => log,
      () => {
        if (child.exitCode !== null) throw new Error(`HAProxy ended: ${log}`);
        return balancer.states().catch(() => null);
      },
    );
    return balancer;
  } catch (error) {
    await balancer[Symbol.asyncDispose]();
    throw error;
  }
}
