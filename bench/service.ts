/** The service as users run it, started and stopped by a benchmark, with what it needs of memory and time. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { serviceArguments } from "./servers.ts";

export const adminToken = "bench-admin-token-0123456789";

export interface Service {
  readonly port: number;
  /** From the start of the process until `GET /readyz` answered 200. */
  readonly readyMs: number;
  /** Megabytes of memory now and at most. */
  readonly memory: () => { readonly nowMb: number; readonly peakMb: number };
  /** Milliseconds of processor time so far. */
  readonly processorMs: () => number;
  /** Open descriptors. */
  readonly descriptors: () => number;
  stop(): Promise<void>;
}

/** Starts the service on a data directory. */
export async function startService(directory: string, more: Readonly<Record<string, string>> = {}): Promise<Service> {
  const port = await freePort();
  const startedMs = performance.now();
  const child = spawn(process.execPath, serviceArguments, {
    env: {
      ...process.env,
      PORT: String(port),
      OPENPO_DATA_DIR: directory,
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_DEMO: "0",
      OPENPO_LOG_LEVEL: "error",
      ...more,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  let readyMs = 0;
  while (readyMs === 0) {
    if (child.exitCode !== null) throw new Error(`the service has ended with ${child.exitCode}`);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    await ready?.arrayBuffer();
    if (ready?.status === 200) readyMs = performance.now() - startedMs;
    else await sleep(5);
  }
  const memory = () => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const megabytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
    return { nowMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
  };
  return {
    port,
    readyMs,
    memory,
    processorMs: () => processorMsOf(child.pid ?? 0),
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    stop: () => stop(child),
  };
}

/** In steps of 10 ms: Linux counts hundredths of a second. */
function processorMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

/** From the start of a process that does nothing until it has ended: what Node itself takes. The least of some tries. */
export async function bareNodeMs(): Promise<number> {
  const times: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) {
    const startedMs = performance.now();
    await once(spawn(process.execPath, ["-e", ""], { stdio: "ignore" }), "exit");
    times.push(performance.now() - startedMs);
  }
  return Math.min(...times);
}
