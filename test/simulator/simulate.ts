/**
 * Plays simulations: `npm run simulate -- --seeds 1000`.
 *
 *     --seeds N       how many (default 1,000), from --from (default 1) on
 *     --workers N     processes that play at the same time (default: one for each processor)
 *     --resume FILE   keeps what has been played in a file, and goes on from there
 *     --failures N    seeds that fail before no more are played (default 5)
 *     --as-it-is      does not look for the shortest story
 *     --digests       prints for each seed what its course comes to
 *     --seed TEXT     plays one seed, and prints its story
 *
 * A seed that fails is printed with the shortest story that fails in the same way. A run fails too if none of its seeds comes to a state of the table
 * (states/table.ts); one of 200 seeds or more prints how many have come to each. The last line is `N passed, N failed`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { findings } from "./check.ts";
import { digestOf } from "./digest.ts";
import { reachedBy, seedsForFrequent, StateCounts } from "./states/count.ts";
import { shrunk } from "./shrink.ts";
import { type Story, storyOf } from "./story.ts";
import { play, prepare } from "./world.ts";

/** Seeds that one process plays. */
const chunkSeeds = 250;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    workers: { type: "string", default: String(availableParallelism()) },
    resume: { type: "string" },
    seed: { type: "string" },
    digests: { type: "boolean", default: false },
    chunk: { type: "string" },
    failures: { type: "string", default: "5" },
    "as-it-is": { type: "boolean", default: false },
  },
});

/** Files are in memory where that is possible: they are synced to nothing but the simulation. */
const roomFor = (): string =>
  mkdtempSync(path.join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "openpo-simulator-"));

interface Failure {
  readonly seed: string;
  readonly findings: readonly string[];
  readonly story: Story;
}

/** What is kept of the seeds that have been played. */
interface Played {
  readonly done: readonly number[];
  readonly failed: readonly string[];
  /** By state, how many seeds have come to it. */
  readonly reached: Readonly<Record<string, number>>;
}

/** What is told of a seed. */
interface Told {
  readonly seed: number;
  /** States that it has come to. */
  readonly reached: readonly string[];
  readonly digest?: string;
  readonly failure?: Failure;
}

/** Plays stories in this process. */
async function withStage<T>(use: (perform: (story: Story) => ReturnType<typeof play>) => Promise<T>): Promise<T> {
  const room = roomFor();
  const end = (): void => rmSync(room, { recursive: true, force: true });
  process.once("exit", end);
  try {
    await prepare(path.join(room, "template"));
    return await use((story) => play(story, path.join(room, "template"), path.join(room, "run")));
  } finally {
    process.off("exit", end);
    end();
  }
}

/** Plays the seeds and reports each as a line of JSON: what `playAll` reads. */
async function playChunk(first: number, last: number): Promise<void> {
  await withStage(async (perform) => {
    for (let seed = first; seed <= last; seed += 1) {
      const story = storyOf(String(seed));
      const course = await perform(story);
      const found = findings(course);
      const digest = values.digests ? { digest: digestOf(course) } : {};
      const report = async (): Promise<object> => {
        if (found.length === 0) return {};
        const judged = async (shorter: Story): Promise<readonly string[]> => findings(await perform(shorter));
        const least = values["as-it-is"] ? { story, findings: found } : await shrunk(story, found, judged);
        return { failure: { seed: story.seed, ...least } };
      };
      process.stdout.write(`${JSON.stringify({ seed, reached: reachedBy(course), ...digest, ...(await report()) })}\n`);
    }
  });
}

function show({ seed, findings: found, story }: Failure): void {
  console.log(`\n✖ seed ${seed}: ${found.length} ${found.length === 1 ? "finding" : "findings"}`);
  for (const finding of found.slice(0, 8)) console.log(`    ${finding.slice(0, 2_000)}`);
  console.log(`  The shortest story that fails so, of ${story.steps.length} steps:`);
  const { steps, ...setting } = story;
  console.log(`    ${JSON.stringify(setting)}`);
  for (const step of steps) console.log(`    ${JSON.stringify(step)}`);
  console.log(`  Again: npm run simulate -- --seed ${seed}`);
}

/** The seeds that are played, in chunks of one process each. */
async function playAll(): Promise<void> {
  const from = Number(values.from);
  const to = from + Number(values.seeds) - 1;
  const failuresMax = Number(values.failures);
  const file = values.resume;
  const kept: Played =
    file !== undefined && existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as Played)
      : { done: [], failed: [], reached: {} };
  const done = new Set(kept.done);
  const failures: string[] = [...kept.failed];
  const reached = new StateCounts(kept.reached);
  let passed = 0;
  const chunks: number[] = [];
  for (let first = from; first <= to; first += chunkSeeds) {
    if (done.has(first)) passed += Math.min(chunkSeeds, to - first + 1);
    else chunks.push(first);
  }
  const running = new Set<ChildProcess>();
  const startedAtMs = Date.now();
  const one = async (first: number): Promise<void> => {
    const last = Math.min(first + chunkSeeds - 1, to);
    const flags = (["digests", "as-it-is"] as const).filter((flag) => values[flag]).map((flag) => `--${flag}`);
    const options = ["--chunk", `${first}-${last}`, ...flags];
    const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, ...options], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    running.add(child);
    const closed = new Promise<number | null>((resolve) => void child.once("close", resolve));
    let played = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const told = JSON.parse(line) as Told;
      played += 1;
      reached.add(told.reached);
      if (told.digest !== undefined) console.log(`${told.seed} ${told.digest}`);
      if (told.failure === undefined) passed += 1;
      else {
        failures.push(told.failure.seed);
        show(told.failure);
        if (failures.length >= failuresMax) for (const each of running) each.kill();
      }
    }
    const status = await closed;
    running.delete(child);
    if (failures.length >= failuresMax) return;
    if (status !== 0 || played < last - first + 1) {
      failures.push(`after ${first + played - 1}`);
      console.log(`\n✖ the process that played ${first} to ${last} ended with ${status} after ${played} seeds`);
    }
    done.add(first);
    if (file !== undefined)
      writeFileSync(file, JSON.stringify({ done: [...done], failed: failures, reached: reached.counts }));
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    if (!values.digests) console.log(`${passed} of ${to - from + 1} seeds after ${seconds} s`);
  };
  const worker = async (): Promise<void> => {
    for (let first = chunks.shift(); first !== undefined; first = chunks.shift()) {
      if (failures.length >= failuresMax) break;
      await one(first);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.workers)) }, worker));
  // Seeds that failed may not have been played to their ends.
  const missed = failures.length === 0 ? reached.missed(passed) : [];
  if (failures.length === 0 && passed >= seedsForFrequent) for (const line of reached.table(passed)) console.log(line);
  for (const { name, rule, tells } of missed) console.log(`✖ no seed has come to "${name}" (${rule}): ${tells}`);
  console.log(`${passed} passed, ${failures.length + missed.length} failed`);
  process.exitCode = failures.length + missed.length === 0 && passed > 0 ? 0 : 1;
}

/** Plays one seed and prints everything. */
async function playOne(seed: string): Promise<void> {
  await withStage(async (perform) => {
    const story = storyOf(seed);
    const course = await perform(story);
    for (const { requestId, shopId, deed, idempotencyKey, sentMs, answeredMs, reply } of course.attempts)
      console.log(
        `${sentMs.toFixed(1).padStart(10)} ${answeredMs.toFixed(1).padStart(10)} ${requestId} ${shopId} ${idempotencyKey ?? ""} ${JSON.stringify(deed)} → ${reply?.status ?? "no answer"}`,
      );
    console.log(
      `digest ${digestOf(course)}, ${course.tasksRun} tasks, ${Math.round(course.elapsedMs)} ms of virtual time`,
    );
    const found = findings(course);
    if (found.length > 0) {
      const judged = async (shorter: Story): Promise<readonly string[]> => findings(await perform(shorter));
      show({ seed, ...(await shrunk(story, found, judged)) });
    }
    console.log(found.length === 0 ? "1 passed, 0 failed" : "0 passed, 1 failed");
    process.exitCode = found.length === 0 ? 0 : 1;
  });
}

if (values.chunk !== undefined) {
  const [first, last] = values.chunk.split("-").map(Number);
  await playChunk(first ?? 1, last ?? 1);
} else if (values.seed !== undefined) await playOne(values.seed);
else await playAll();
