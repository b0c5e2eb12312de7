/** Starts a writing process (engine-writer.ts) that a test can kill. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "../support/until.ts";

interface Writer {
  readonly acknowledged: readonly number[];
  kill(): Promise<void>;
}

/** Starts a writer and waits until it begins to write. */
export async function startWriter(directory: string, first: number): Promise<Writer> {
  const child = spawn(process.execPath, ["test/store/engine-writer.ts", directory, String(first)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  await until("it is ready", () => {
    if (child.exitCode !== null) throw new Error(errors);
    return output.startsWith("ready\n");
  });
  return {
    get acknowledged() {
      // A last line cut off by the kill does not count.
      return output.split("\n").slice(1, -1).map(Number);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
