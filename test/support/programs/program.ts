/**
 * Starts the program as a separate process.
 *
 * Tests that need a store use process.ts, which runs on both engines. From here they only run what needs no store.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { systemClock } from "../../../src/base/time/system.ts";

/** The program of this checkout. */
export const thisProgram = path.join(import.meta.dirname, "../../../src/main.ts");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Running processes, to be killed when a test fails. */
export const running = new Set<ChildProcess>();

export type Environment = Readonly<Record<string, string>>;

/** What every program of the tests gets, unless a test says otherwise. */
const usual = {
  PORT: "0",
  OPENPO_LOG_LEVEL: "warn",
  // The same limits on every machine.
  OPENPO_MEMORY_MB: "1024",
};

/** Starts the program with this environment and a free port. `main` is that of another checkout, if any. */
export function startProgram(
  args: readonly string[],
  env: Environment,
  stdin: string | null = null,
  main = thisProgram,
) {
  const child: ChildProcess = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: {
      PATH: process.env["PATH"],
      ...usual,
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

/**
 * Runs a command in this process, to the status that it ends with: a process of its own takes half a second of a processor to load the program, and most
 * commands far less. For a command that is killed, or runs beside another one of this process, see `startProgram`.
 */
export async function runInThisProcess(
  args: readonly string[],
  env: Environment,
  stdin: string | null = null,
): Promise<Finished> {
  const { runCommandLine } = await import("../../../src/cli/command-line.ts");
  const texts = { stdout: "", stderr: "" };
  const into = (name: keyof typeof texts): Writable =>
    new Writable({
      decodeStrings: false,
      write(piece: string | Buffer, _encoding, done) {
        texts[name] += piece.toString();
        done();
      },
    });
  const code = await runCommandLine(args, {
    env: { ...usual, ...env },
    stdin: () => Readable.from(stdin === null ? [] : [Buffer.from(stdin)]),
    stdout: into("stdout"),
    stderr: into("stderr"),
    nowMs: systemClock.now(),
  });
  return { code, ...texts };
}

/** Runs a command to its end. Its data directory can neither be read nor made. */
export const runWithoutStore = (args: readonly string[], env: Environment = {}): Promise<Finished> =>
  runInThisProcess(args, { OPENPO_DATA_DIR: path.join(import.meta.filename, "data"), PORT: "9", ...env });
