/**
 * Runs the program as an operator does: as a separate process, with its own store (store.ts decides the engine) and a free port.
 *
 * A data directory in `OPENPO_DATA_DIR` identifies a store. On PostgreSQL the program gets the address of the database that belongs to
 * this directory, unless the test sets an address.
 */
import { once } from "node:events";
import { fetchChecked } from "./openapi/contract.ts";
import {
  type Environment,
  type Finished,
  runInThisProcess,
  running,
  startProgram,
  thisProgram,
} from "./programs/program.ts";
import { databaseFor, makePlace } from "./store.ts";

/** Only ends what hangs: a start takes a second, and a minute on a machine that does much else. */
const startMsMax = 180_000;
/** The admin token on PostgreSQL, where one is required, if the test sets none. */
const adminTokenOnDatabase = "an-admin-token-on-a-database";

/** Returns the environment with which the program uses the store of its data directory. */
export async function onStore(env: Environment, args: readonly string[] = []): Promise<Environment> {
  const directory = env["OPENPO_DATA_DIR"];
  if (directory === undefined || env["OPENPO_DATABASE_URL"] !== undefined) return env;
  const url = await databaseFor(directory);
  if (url === null) return env;
  const serves = args.length === 0 || args[0] === "serve";
  const token = serves ? { OPENPO_ADMIN_TOKEN: adminTokenOnDatabase } : {};
  return { OPENPO_DATABASE_URL: url, ...token, ...env };
}

/** Runs a command in this process until it ends. */
export const runCommand = async (
  args: readonly string[],
  env: Environment = {},
  stdin: string | null = null,
): Promise<Finished> => runInThisProcess(args, await onStore(env, args), stdin);

/** Runs the program as a process until it exits. */
export const runProgram = async (
  args: readonly string[],
  env: Environment = {},
  stdin: string | null = null,
): Promise<Finished> => startProgram(args, await onStore(env, args), stdin).finished;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Returns the member of the JSON body at this path. */
  at(...steps: readonly (string | number)[]): unknown;
}

export interface RunningProgram {
  /** The process id. */
  readonly pid: number;
  readonly url: string;
  /** All output on stdout so far. */
  readonly stdout: string;
  /** All output on stderr so far: the log. */
  readonly stderr: string;
  /** Returns the word after this label of the banner, such as `read key` or `write key`. */
  word(label: string): string;
  /** The admin token that was set, or that the first start printed. */
  readonly adminToken: string;
  /** Sends a request. A string or bytes are sent unchanged, other bodies as JSON. */
  ask(
    method: string,
    target: string,
    token: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered>;
  /** Sends a signal, without waiting for the end. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Finished>;
}

/** Follows the path into a parsed JSON value. */
function member(value: unknown, steps: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of steps) found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  return found;
}

/** Starts the server, of another checkout if `main` is its; resolves when it listens. */
export async function serveProgram(
  given: Environment,
  args: readonly string[] = [],
  main = thisProgram,
): Promise<RunningProgram> {
  const env = await onStore(given, args);
  const { child, output, finished } = startProgram(args, env, null, main);
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`no start within ${startMsMax} ms`));
    }, startMsMax);
    const look = (): void => {
      const found = /^(?:OpenPO serves at |\{"url":")([^\s"]+)/m.exec(output.stdout)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout?.on("data", look);
    child.once("close", (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code}: ${output.stderr}`));
    });
  });
  return {
    pid: child.pid ?? 0,
    url,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    word: (label) => new RegExp(`^ *${label} +(\\S+)$`, "m").exec(output.stdout)?.[1] ?? "",
    adminToken: env["OPENPO_ADMIN_TOKEN"] ?? /\bopa_[\w-]+/.exec(output.stdout)?.[0] ?? "",
    async ask(method, target, token, body, headers = {}) {
      const raw = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
      const response = await fetchChecked(url + target, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body), duplex: "half" }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        at: (...steps) => member(JSON.parse(text), steps),
      };
    },
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      child.kill(signal);
      return await finished;
    },
  };
}

/** Runs `use` with a temporary directory. Afterwards kills programs that still run and removes the directory. */
export async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const place = await makePlace();
  try {
    await use(place.directory);
  } finally {
    for (const child of running) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await place.remove();
  }
}

/** Runs `use` with a program on an empty directory, without a demo shop, with a known admin token. Ends it afterwards. */
export async function withProgram(
  use: (program: RunningProgram, adminToken: string) => Promise<void>,
  env: Environment = {},
): Promise<void> {
  await withDirectory(async (directory) => {
    const adminToken = "an-admin-token-for-tests";
    const program = await serveProgram({
      OPENPO_DATA_DIR: directory,
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_DEMO: "0",
      ...env,
    });
    try {
      await use(program, adminToken);
    } finally {
      await program.end("SIGTERM");
    }
  });
}
