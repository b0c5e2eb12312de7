/** Runs the program of a checkout, which need not be this one, at a time of one's choice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { ask, type Answered, type Asked } from "../support/clients.ts";

/** The environment variable with the milliseconds by which at-time.ts moves the clock. */
export const clockVariable = "OPENPO_TEST_CLOCK_MS";

/** The environment variable by which that moves the machine's clock alone. */
export const machineOnlyVariable = "OPENPO_TEST_CLOCK_OF_MACHINE";

/** A start takes a second, and many times as much on a machine that does other things too. */
const startMsMax = 60_000;

/** The shops' secrets, also those of kept releases, are sealed under it. */
export const secretKey = Buffer.alloc(32, 9).toString("base64");

export interface Running {
  readonly url: string;
  ask(asked: Asked): Promise<Answered>;
  stop(): Promise<void>;
}

/** The environment in which the program's clock shows `atMs` now. */
export const atTime = (atMs: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${path.join(import.meta.dirname, "at-time.ts")} --disable-warning=ExperimentalWarning`,
  [clockVariable]: String(atMs - Date.now()),
});

/** The environment in which the program's machine has a clock that is wrong by so much; the database's clock stays as it is. */
export const withMachineClock = (byMs: number): Readonly<Record<string, string>> => ({
  ...atTime(Date.now()),
  [clockVariable]: String(byMs),
  [machineOnlyVariable]: "1",
});

/** Starts the program of the checkout; resolves when it listens. */
export async function startCheckout(checkout: string, env: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, [path.join(checkout, "src/main.ts")], {
    env: { PATH: process.env["PATH"], PORT: "0", OPENPO_DEMO: "0", OPENPO_LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    cwd: checkout,
  });
  const ended = once(child, "close");
  let [shown, logged] = ["", ""];
  child.stderr.on("data", (data: Buffer) => (logged += data.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), startMsMax);
    child.stdout.on("data", (data: Buffer) => {
      shown += data.toString();
      const found = /^OpenPO serves at (\S+)/m.exec(shown)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("close", (code) => reject(new Error(`ended with ${code}: ${logged}`)));
    child.once("close", () => clearTimeout(timer));
    child.stdout.once("data", () => clearTimeout(timer));
  });
  return {
    url,
    ask: (asked) => ask(url, asked),
    async stop() {
      child.kill("SIGTERM");
      await ended;
      if (child.exitCode !== 0) throw new Error(`ended with ${child.exitCode}: ${logged}`);
    },
  };
}
