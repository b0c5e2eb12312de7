/**
 * Stops a test's PostgreSQL and removes its directory when this process's standard input closes. It closes when the test process ends,
 * however it ends. Argument: the directory that postgres.ts has created, with the database's files in `data`.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

const [directory = ""] = process.argv.slice(2);
const pidFile = path.join(directory, "data/postmaster.pid");
const waitMsMax = 10_000;

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

// An interrupt at the terminal ends the tests. This process must survive it to clean up.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => {});
process.stdin.resume();
process.stdin.on("close", () => {
  const pid = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, "utf8"), 10) : 0;
  const untilMs = Date.now() + waitMsMax;
  const end = (): void => {
    if (pid > 0 && signal(pid, 0) && Date.now() < untilMs) return void setTimeout(end, 20);
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    process.exit();
  };
  // An immediate shutdown: the data is not needed any more.
  if (pid > 0) signal(pid, "SIGQUIT");
  end();
});
