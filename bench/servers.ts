/** Servers that a benchmark starts, each in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestBytes } from "./bounds/client.ts";
import { freePort } from "./free-port.ts";

/** How the service is started: with the options of Node that `npm start` has. */
export const serviceArguments = [
  "--max-semi-space-size=8",
  "--disable-warning=ExperimentalWarning",
  path.join(import.meta.dirname, "../src/main.ts"),
];

const children: ChildProcess[] = [];

/** Starts a program that serves `PORT` and answers `/readyz`, with whatever status, when it is ready. @returns its port. */
export async function startServer(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const port = await freePort();
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    env: { ...process.env, ...environment, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.push(child);
  for (let tries = 0; tries < 1_200; tries += 1) {
    const connection = new Connection(port);
    const ready = await connection.ask(requestBytes("GET", "/readyz")).catch(() => null);
    connection.close();
    if (ready !== null) return port;
    await sleep(50);
  }
  throw new Error("a server did not become ready");
}

export async function stopServers(): Promise<void> {
  for (const child of children.splice(0)) {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }
}
