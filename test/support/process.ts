/**
 * The program as an operator runs it: a process of its own, on a store of its own (store.ts says of which kind) and a free port.
 *
 * A data directory that is named by `OPENPO_DATA_DIR` stands for a store: on PostgreSQL the program gets the address of a database
 * that belongs to this directory, unless the test names one itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fetchChecked } from "./contract.ts";
import { databaseFor, makePlace } from "./store.ts";

const main = path.join(import.meta.dirname, "../../src/main.ts");
const startMsMax = 20_000;
/** Of a server whose test names none and that cannot keep one: on a database it must be given. */
const adminTokenOnDatabase = "an-admin-token-on-a-database";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What still runs, so that a failed test leaves nothing behind. */
const running = new Set<ChildProcess>();

type Environment = Readonly<Record<string, string>>;

/** The environment that makes the program work on the store which its data directory stands for. */
export async function onStore(env: Environment, args: readonly string[] = []): Promise<Environment> {
  const directory = env["OPENPO_DATA_DIR"];
  if (directory === undefined || env["OPENPO_DATABASE_URL"] !== undefined) return env;
  const url = await databaseFor(directory);
  if (url === null) return env;
  const serves = args.length === 0 || args[0] === "serve";
  const token = serves ? { OPENPO_ADMIN_TOKEN: adminTokenOnDatabase } : {};
  return { OPENPO_DATABASE_URL: url, ...token, ...env };
}

function start(args: readonly string[], env: Environment, stdin: string | null = null) {
  const child: ChildProcess = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      OPENPO_LOG_LEVEL: "warn",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      ...env,
    },
    stdio: [stdin === null ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(stdin);
  running.add(child);
  child.once("close", () => running.delete(child));
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (data: Buffer) => (output.stdout += data.toString()));
  child.stderr?.on("data", (data: Buffer) => (output.stderr += data.toString()));
  const finished = once(child, "close").then((): Finished => ({ code: child.exitCode, ...output }));
  return { child, output, finished };
}

/** Runs the program until it ends by itself. */
export const runProgram = async (
  args: readonly string[],
  env: Environment = {},
  stdin: string | null = null,
): Promise<Finished> => start(args, await onStore(env, args), stdin).finished;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body's member at this path. */
  at(...steps: readonly (string | number)[]): unknown;
}

export interface RunningProgram {
  readonly url: string;
  /** Everything on stdout so far. */
  readonly stdout: string;
  /** The word behind this label of the banner: `read key`, `write key`. */
  word(label: string): string;
  /** As it was given, or as a first start shows it. */
  readonly adminToken: string;
  /** Asks; a string or bytes are sent as they are, other bodies as JSON. */
  ask(method: string, target: string, token: string, body?: unknown): Promise<Answered>;
  /** Sends a signal that it may survive. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Finished>;
}

/** Member by member into what `JSON.parse` gave. */
function member(value: unknown, steps: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of steps) found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  return found;
}

/** Starts serving; resolves when it listens. */
export async function serveProgram(given: Environment, args: readonly string[] = []): Promise<RunningProgram> {
  const env = await onStore(given, args);
  const { child, output, finished } = start(args, env);
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
    url,
    get stdout() {
      return output.stdout;
    },
    word: (label) => new RegExp(`^ *${label} +(\\S+)$`, "m").exec(output.stdout)?.[1] ?? "",
    adminToken: env["OPENPO_ADMIN_TOKEN"] ?? /\bopa_[\w-]+/.exec(output.stdout)?.[0] ?? "",
    async ask(method, target, token, body) {
      const raw = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
      const response = await fetchChecked(url + target, {
        method,
        headers: { Authorization: `Bearer ${token}` },
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

/** A directory that is gone afterwards, with every program that the test has left running. */
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

/** A program on an empty directory without a demo shop, with a known admin token; ended afterwards. */
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
