/**
 * Two PostgreSQL servers that Patroni runs, with one etcd, behind HAProxy (deploy/haproxy-postgres.cfg). `OPENPO_PATRONI` names a directory into which
 * Debian's packages are unpacked (`apt-get download`, `dpkg -x`): patroni, etcd-server, libpq5, libyaml-0-2, and python3-click, -colorama, -dateutil, -etcd,
 * -prettytable, -psutil, -psycopg2, -six, -urllib3, -wcwidth, -yaml. It needs a PostgreSQL with `pg_basebackup` and `pg_rewind`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { processesOf } from "./postgres-pair.ts";
import { freePort } from "../programs/ports.ts";
import { unprivilegedUser, withClient } from "./postgres.ts";
import { until } from "../until.ts";

const packages = process.env["OPENPO_PATRONI"];
const binaries = process.env["OPENPO_TEST_POSTGRES_BIN"] ?? globSync("/usr/lib/postgresql/*/bin").sort().at(-1);
const haproxy = process.env["OPENPO_HAPROXY"] ?? "/usr/sbin/haproxy";
const configuration = path.join(import.meta.dirname, "../../../deploy/haproxy-postgres.cfg");

/** Why tests with Patroni are skipped; false: they are not. */
export const noPatroni =
  packages === undefined
    ? "only by npm run test:patroni"
    : existsSync(haproxy) && binaries !== undefined
      ? false
      : "NO HAPROXY, OR NO POSTGRESQL OF DEBIAN, ON THIS MACHINE: Patroni was not tried";

/** How long a failover may take on a slow machine. Patroni itself waits for `ttl`. */
const failoverMsMax = 120_000;

const cluster = z.object({ members: z.array(z.object({ name: z.string(), role: z.string(), state: z.string() })) });

interface PatroniCluster extends AsyncDisposable {
  /** The service's address, through HAProxy. */
  readonly url: string;
  /** The name of the primary. */
  primary(): Promise<string>;
  /** Waits until the other server follows, and commits wait for it. */
  untilSynchronous(): Promise<void>;
  /** Kills Patroni and PostgreSQL of the primary (-9). @returns its name. */
  killPrimary(): Promise<string>;
  /** Starts Patroni of this server again. */
  start(name: string): void;
}

interface Member {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  readonly restPort: number;
  patroni: ChildProcess | null;
}

const settingsOf = ({ name, directory, port, restPort }: Member, etcd: string): object => ({
  scope: "openpo",
  name,
  restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
  etcd3: { host: etcd },
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 2,
      retry_timeout: 5,
      synchronous_mode: true,
      postgresql: {
        use_pg_rewind: true,
        parameters: { max_connections: 300, max_locks_per_transaction: 256, wal_log_hints: "on" },
      },
    },
    initdb: [{ encoding: "UTF8" }, { locale: "C" }],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    data_dir: path.join(directory, "data"),
    bin_dir: binaries,
    pgpass: path.join(directory, "pgpass"),
    authentication: {
      superuser: { username: "postgres", password: "secret" },
      replication: { username: "replicator", password: "secret" },
      rewind: { username: "rewinder", password: "secret" },
    },
    pg_hba: ["host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256"],
    parameters: { unix_socket_directories: "" },
  },
});

export async function startPatroni(): Promise<PatroniCluster> {
  const at = packages ?? "";
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-patroni-"));
  chmodSync(directory, 0o755);
  const user = unprivilegedUser();
  const [client, peer, listen] = [await freePort(), await freePort(), await freePort()];
  const children = new Set<ChildProcess>();
  const logs: string[] = [];
  const run = (
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    as = {},
  ): ChildProcess => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"], ...as });
    for (const output of [child.stdout, child.stderr]) output.on("data", (data: Buffer) => logs.push(data.toString()));
    children.add(child);
    return child;
  };
  const etcd = `127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const etcdArgs = {
    "data-dir": path.join(directory, "etcd"),
    "initial-cluster": `default=${peerUrl}`,
    "listen-client-urls": `http://${etcd}`,
    "advertise-client-urls": `http://${etcd}`,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
  };
  run(
    path.join(at, "usr/bin/etcd"),
    Object.entries(etcdArgs).map(([name, value]) => `--${name}=${value}`),
  );
  const members: Member[] = [];
  for (const name of ["server1", "server2"]) {
    const member = {
      name,
      directory: path.join(directory, name),
      port: await freePort(),
      restPort: await freePort(),
      patroni: null,
    };
    mkdirSync(member.directory, { mode: 0o700 });
    const file = path.join(member.directory, "patroni.json");
    // JSON is YAML too.
    writeFileSync(file, JSON.stringify(settingsOf(member, etcd)));
    if (user !== null) for (const each of [member.directory, file]) chownSync(each, user.uid, user.gid);
    members.push(member);
  }
  const memberOf = (name: string): Member => members.find((member) => member.name === name) ?? members[0] ?? fail(name);
  const start = (name: string): void => {
    const member = memberOf(name);
    const env = {
      HOME: member.directory,
      PYTHONPATH: path.join(at, "usr/lib/python3/dist-packages"),
      LD_LIBRARY_PATH: globSync(path.join(at, "usr/lib/*-linux-gnu*")).join(":"),
    };
    const args = [path.join(at, "usr/bin/patroni"), path.join(member.directory, "patroni.json")];
    member.patroni = run("python3", args, env, { ...user, cwd: member.directory });
  };
  const seen = async (): Promise<z.output<typeof cluster>["members"]> => {
    for (const { restPort } of members) {
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`).catch(() => null);
      if (answer !== null) return cluster.parse(await answer.json()).members;
    }
    return [];
  };
  const what = (): string => logs.slice(-40).join("");
  const primary = async (): Promise<string> =>
    await until(
      what,
      async () => (await seen()).find(({ role, state }) => role === "leader" && state === "running")?.name,
      failoverMsMax,
    );
  const superuser = `postgres://postgres:secret@127.0.0.1:${listen}/postgres`;
  const killAll = (member: Member): void => {
    member.patroni?.kill("SIGKILL");
    if (!existsSync(path.join(member.directory, "data/postmaster.pid"))) return;
    for (const pid of processesOf(path.join(member.directory, "data"))) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended with the first one.
      }
    }
  };
  const endAll = (): void => {
    for (const member of members) killAll(member);
    for (const child of children) child.kill("SIGKILL");
  };
  process.once("exit", endAll);
  const made: PatroniCluster = {
    url: `postgres://openpo:secret@127.0.0.1:${listen}/openpo`,
    primary,
    start,
    async untilSynchronous() {
      await until(what, async () => (await seen()).some(({ role }) => role === "sync_standby"), failoverMsMax);
    },
    async killPrimary() {
      const name = await primary();
      killAll(memberOf(name));
      return name;
    },
    async [Symbol.asyncDispose]() {
      process.removeListener("exit", endAll);
      endAll();
      await until("everything has ended", () =>
        [...children].every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null),
      );
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  try {
    start("server1");
    await primary();
    start("server2");
    run(haproxy, ["-db", "-f", configuration], {
      LISTEN: `127.0.0.1:${listen}`,
      ...Object.fromEntries(
        members.flatMap(({ port, restPort }, index) => [
          [`SERVER_${index + 1}`, `127.0.0.1:${port}`],
          [`PATRONI_${index + 1}`, String(restPort)],
        ]),
      ),
    });
    await made.untilSynchronous();
    const answers = (url: string): Promise<unknown> =>
      until(what, () => withClient(url, (client) => client.query("select 1")).catch(() => null));
    await answers(superuser);
    await withClient(superuser, async (client) => {
      await client.query("create role openpo login password 'secret'");
      await client.query("create database openpo owner openpo");
    });
    await answers(made.url);
    return made;
  } catch (error) {
    await made[Symbol.asyncDispose]();
    throw error;
  }
}

const fail = (name: string): never => {
  throw new Error(`there is no ${name}`);
};
