/**
 * PgBouncer in front of a test's PostgreSQL. `OPENPO_PGBOUNCER` names the program; by default it is that of the Debian package.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort } from "../programs/ports.ts";
import { unprivilegedUser, withClient } from "./postgres.ts";
import { until } from "../until.ts";

const pgbouncer = process.env["OPENPO_PGBOUNCER"] ?? "/usr/sbin/pgbouncer";

/** Why tests through PgBouncer are skipped; false: they are not. */
export const noPgbouncer = existsSync(pgbouncer)
  ? false
  : "NO PGBOUNCER ON THIS MACHINE (apt-get install pgbouncer, or OPENPO_PGBOUNCER): databases behind a pooler were not tried";

interface Pooler extends AsyncDisposable {
  /** The address of this database through it. */
  urlOf(databaseUrl: string): string;
  /** Ends it at once; all its connections are cut. */
  crash(): Promise<void>;
  start(): Promise<void>;
}

/** Starts it in front of the server of this address, whose role it lets in. */
export async function startPgbouncer(
  serverUrl: string,
  poolMode: "session" | "transaction" | "statement",
): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-pgbouncer-"));
  const port = await freePort();
  const file = (name: string, text: string): string => {
    const made = path.join(directory, name);
    writeFileSync(made, text);
    return made;
  };
  const users = file("users.txt", `"${username}" "${password}"\n`);
  const configuration = file(
    "pgbouncer.ini",
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${poolMode}
default_pool_size = 50
max_client_conn = 500
# Databases of tests are copied and dropped, which a connection that is kept would prevent.
server_lifetime = ${poolMode === "session" ? 0 : 3600}
log_connections = 0
log_disconnections = 0
`,
  );
  // It refuses to run as root.
  const user = unprivilegedUser();
  chmodSync(directory, 0o700);
  if (user !== null) for (const each of [directory, users, configuration]) chownSync(each, user.uid, user.gid);
  const through = (databaseUrl: string): string => {
    const url = new URL(databaseUrl);
    url.port = String(port);
    return url.href;
  };
  let child: ChildProcess | null = null;
  let log = "";
  const kill = (): void => void child?.kill("SIGKILL");
  process.once("exit", kill);
  const pooler: Pooler = {
    urlOf: through,
    async crash() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "close");
      kill();
      await ended;
    },
    async start() {
      const started = spawn(pgbouncer, [configuration], {
        ...user,
        cwd: directory,
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      for (const output of [started.stdout, started.stderr])
        output.on("data", (data: Buffer) => (log += data.toString()));
      await until(
        () => `PgBouncer answers: ${log}`,
        async () => {
          if (started.exitCode !== null) throw new Error(`PgBouncer ended: ${log}`);
          return await withClient(through(serverUrl), (client) => client.query("select 1")).catch(() => null);
        },
      );
    },
    async [Symbol.asyncDispose]() {
      process.removeListener("exit", kill);
      await pooler.crash();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    await pooler.start();
    return pooler;
  } catch (error) {
    await pooler[Symbol.asyncDispose]();
    throw error;
  }
}
