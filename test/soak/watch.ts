/**
 * Loaded into the program that is soaked (`--import`): writes its memory and how long turns of its event loop take to the file
 * `OPENPO_SOAK_REPORT`, every second. SIGUSR2 begins anew, so that the start does not count. `OPENPO_SOAK_PLANT` plants what must break the bounds.
 */
import { openSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createHistogram } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

export interface Watched {
  readonly heapMb: number;
  /** How much later than due a timer came, at the 99th percentile and at most. */
  readonly lateP99Ms: number;
  readonly lateMsMax: number;
  /** Of that, what the event loop's own work took: processor time of the thread between two ticks. */
  readonly workP99Ms: number;
  readonly workMsMax: number;
}

const tickMs = 20;
const reportEveryMs = 1_000;

function watch(file: string): void {
  const late = createHistogram();
  const work = createHistogram();
  let atMs = performance.now();
  let usedMicros = process.threadCpuUsage().user + process.threadCpuUsage().system;
  const micros = (ms: number): number => Math.max(1, Math.round(ms * 1_000));
  setInterval(() => {
    const nowMs = performance.now();
    const { user, system } = process.threadCpuUsage();
    const lateMs = Math.max(0, nowMs - atMs - tickMs);
    late.record(micros(lateMs));
    // Within the tick it may work: only what made the timer late counts.
    work.record(micros(Math.min(lateMs, (user + system - usedMicros) / 1_000)));
    atMs = nowMs;
    usedMicros = user + system;
  }, tickMs).unref();
  setInterval(() => {
    const watched: Watched = {
      heapMb: process.memoryUsage().heapUsed / 1_048_576,
      lateP99Ms: late.percentile(99) / 1_000,
      lateMsMax: late.max / 1_000,
      workP99Ms: work.percentile(99) / 1_000,
      workMsMax: work.max / 1_000,
    };
    writeFileSync(`${file}.next`, JSON.stringify(watched));
    renameSync(`${file}.next`, file);
  }, reportEveryMs).unref();
  process.on("SIGUSR2", () => {
    late.reset();
    work.reset();
  });
}

/** Leaks a little of everything, and blocks. */
const plants: Readonly<Record<string, () => void>> = {
  memory: () => void leaked.push(Buffer.alloc(192 * 1_048_576, 1)),
  descriptors: () => {
    for (let count = 0; count < 100; count += 1) openSync("/dev/null", "r");
  },
  files: () =>
    writeFileSync(path.join(process.env["OPENPO_DATA_DIR"] ?? "", "shops", "leak"), Buffer.alloc(16 * 1_048_576), {
      flag: "a",
    }),
  wal: () =>
    writeFileSync(path.join(process.env["OPENPO_DATA_DIR"] ?? "", "shops", "leak-wal"), Buffer.alloc(16 * 1_048_576), {
      flag: "a",
    }),
  loop: () => {
    const untilMs = performance.now() + 200;
    while (performance.now() < untilMs);
  },
};
const leaked: Buffer[] = [];
const plantEveryMs = 500;
/** So often, and no more: the machine has to live on. */
const plantsMax = 8;

function leak(names: readonly string[]): void {
  let times = 0;
  const timer = setInterval(() => {
    for (const name of names) plants[name]?.();
    times += 1;
    if (times === plantsMax) clearInterval(timer);
  }, plantEveryMs);
  timer.unref();
}

const file = process.env["OPENPO_SOAK_REPORT"];
if (isMainThread && file !== undefined) {
  watch(file);
  const planted = (process.env["OPENPO_SOAK_PLANT"] ?? "").split(",").filter((name) => name !== "");
  if (planted.length > 0) process.once("SIGUSR2", () => leak(planted));
}
