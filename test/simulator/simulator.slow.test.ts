/**
 * The deterministic simulator: any story of a seed ends in what the model says, a seed has one course, and planted faults are found.
 *
 * Each run is a process of its own, since a simulation replaces the platform's time and random numbers.
 *
 * Comes first: it takes longest.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { mutantSeedsMax, mutants, mutantVariable } from "../faults/planted.ts";

/** Seeds that are played. `npm run test:simulator` plays 1,000, `npm run simulate -- --seeds 1000000` as many as you like. */
const seeds = Number(process.env["OPENPO_SIMULATOR_SEEDS"] ?? 200);

interface Run {
  readonly status: number | null;
  readonly output: string;
}

function simulate(options: readonly string[], mutant: string | null = null): Promise<Run> {
  const hooks = mutant === null ? [] : ["--import", path.join(import.meta.dirname, "../faults/mutate.ts")];
  const program = path.join(import.meta.dirname, "simulate.ts");
  const { [mutantVariable]: _, ...env } = process.env;
  return node([...hooks, program, ...options], mutant === null ? env : { ...env, [mutantVariable]: mutant });
}

function node(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (output += piece.toString()));
  return new Promise((resolve) => {
    child.once("close", (status) => resolve({ status, output }));
  });
}

const digestsIn = ({ output }: Run): readonly string[] =>
  output.split("\n").filter((line) => /^\d+ [0-9a-f]{64}$/.test(line));

test("a seed has one course: every answer, every row and every moment are the same again", async () => {
  const run = await simulate(["--from", "1", "--seeds", "12", "--digests", "--workers", "1"]);
  const again = await simulate(["--from", "7", "--seeds", "6", "--digests", "--workers", "1"]);
  assert.equal(digestsIn(run).length, 12, run.output);
  assert.deepEqual(digestsIn(again), digestsIn(run).slice(6));
  assert.equal(new Set(digestsIn(run).map((line) => line.split(" ")[1])).size, 12, "seeds differ from each other");
});

test(`${seeds} seeds: what is answered, read and stored is what the model says, and no state of the table is missed`, async () => {
  const run = await simulate(["--seeds", String(seeds), "--workers", String(Math.min(2, availableParallelism()))]);
  assert.ok(run.output.endsWith(`\n${seeds} passed, 0 failed\n`), run.output);
  assert.equal(run.status, 0);
});

test("a run that was interrupted goes on where it was", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-simulator-"));
  try {
    const file = path.join(directory, "played.json");
    const first = await simulate(["--seeds", "2", "--resume", file]);
    assert.match(first.output, /2 passed, 0 failed/);
    const { reached, ...kept }: { readonly reached: Readonly<Record<string, number>> } = JSON.parse(
      readFileSync(file, "utf8"),
    );
    assert.deepEqual(kept, { done: [1], failed: [] });
    assert.ok(Object.keys(reached).length > 0);
    const again = await simulate(["--seeds", "2", "--resume", file]);
    assert.equal(again.output, "2 passed, 0 failed\n", "nothing is played again");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a seed that fails is printed with its shortest story", async () => {
  const run = await simulate(["--seeds", "10", "--failures", "1", "--workers", "1"], "no-sync");
  assert.equal(run.status, 1);
  const [, seed = "", steps = ""] =
    /✖ seed (\d+): [^]*?The shortest story that fails so, of (\d+) steps:\n/.exec(run.output) ?? [];
  assert.ok(Number(steps) >= 1 && Number(steps) <= 6, run.output);
  assert.match(run.output, /"do":"kill","withPower":false/, "without the power cut it does not fail");
  assert.ok(run.output.includes(`npm run simulate -- --seed ${seed}`), run.output);
});

/** One of each layer; `npm run simulate:mutants` plants all. */
const planted = [
  "answers-before-sync",
  "move-not-synced",
  "nothing-is-resumed",
  "answer-not-stored",
  "any-change-is-approved",
] as const;

for (const name of planted) {
  const mutant = mutants.find((each) => each.name === name);
  test(`the planted fault ${name} is found`, async () => {
    assert.ok(mutant !== undefined);
    const from = ["--from", String(mutant.seed ?? 1), "--seeds", String(mutantSeedsMax)];
    const run = await simulate([...from, "--failures", "1", "--as-it-is"], name);
    assert.equal(run.status, 1, run.output);
    assert.match(run.output, /✖ seed \d+: \d+ finding/);
  });
}

for (const { name, found } of mutants) {
  if (typeof found !== "object") continue;
  test(`the planted fault ${name} is found by ${found.byTest}`, async () => {
    const run = await node([path.join(import.meta.dirname, "try-mutants.ts"), name], process.env);
    assert.ok(run.output.includes(`\n| ${name} | ${found.byTest} |`), run.output);
    assert.match(run.output, /\n1 passed, 0 failed\n$/);
    assert.equal(run.status, 0);
  });
}
