/**
 * Plants each fault of faults/planted.ts and plays seeds until one fails: `npm run simulate:mutants`, or with names of some of them. Where the list
 * names a test that finds the fault, that test is run.
 *
 * A fault that is not found is a hole in the simulator, and fails the run. The last line is `N passed, N failed`.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";
import { engineVariable } from "../support/store.ts";
import { isOfSimulator, type Mutant, mutantSeedsMax, mutants, mutantVariable } from "../faults/planted.ts";

interface Found {
  /** The seed, or the test. Null: nothing has failed. */
  readonly by: string | null;
  readonly finding: string;
  readonly seconds: number;
}

const root = path.join(import.meta.dirname, "../..");
const planting = [
  "--disable-warning=ExperimentalWarning",
  "--import",
  path.join(import.meta.dirname, "../faults/mutate.ts"),
];

/** What a program prints while the fault is planted in it. */
async function outputOf(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  // In a test's process, node:test would run nothing.
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...own, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (output += piece.toString()));
  await new Promise((resolve) => void child.once("close", resolve));
  return output;
}

async function findBySeed({ name, seed: first = 1 }: Mutant): Promise<Omit<Found, "seconds">> {
  const program = path.join(import.meta.dirname, "simulate.ts");
  const seeds = ["--from", String(first), "--seeds", String(mutantSeedsMax)];
  const options = [...seeds, "--workers", "1", "--failures", "1", "--as-it-is"];
  const output = await outputOf([...planting, program, ...options], { [mutantVariable]: name });
  const [, seed, finding = ""] = /✖ seed (\d+): [^\n]*\n\s*([^\n]*)/.exec(output) ?? [];
  return seed === undefined ? { by: null, finding: output.slice(-300) } : { by: seed, finding };
}

async function findByTest({ name }: Mutant, test: string): Promise<Omit<Found, "seconds">> {
  const env = { [mutantVariable]: name, [engineVariable]: "sqlite", NODE_OPTIONS: planting.join(" ") };
  const output = await outputOf([path.join(root, "test/run.ts"), test], env);
  // Tests that were run and failed, not a program that cannot run.
  const [, failed = "0"] = /\n\d+ passed, (\d+) failed\n$/.exec(output) ?? [];
  const [, finding = ""] = /✖ ([^\n]*)/.exec(output) ?? [];
  return Number(failed) > 0 && finding !== "" ? { by: test, finding } : { by: null, finding: output.slice(-300) };
}

async function find(mutant: Mutant): Promise<Found> {
  const startedAtMs = Date.now();
  const result = await (typeof mutant.found === "object"
    ? findByTest(mutant, mutant.found.byTest)
    : findBySeed(mutant));
  return { ...result, seconds: Math.round((Date.now() - startedAtMs) / 1_000) };
}

const wanted = process.argv.slice(2);
const left = mutants.filter((mutant) =>
  wanted.length === 0 ? isOfSimulator(mutant) || typeof mutant.found === "object" : wanted.includes(mutant.name),
);
let found = 0;
let missed = 0;
console.log("| planted fault | found by | after | what it breaks | what was seen |");
console.log("| --- | --- | --- | --- | --- |");
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const { by, finding, seconds } = await find(mutant);
      if (by === null) missed += 1;
      else found += 1;
      const seen = finding.replaceAll("|", "/").slice(0, 160);
      console.log(`| ${mutant.name} | ${by ?? "NOT FOUND"} | ${seconds} s | ${mutant.breaks} | ${seen} |`);
    }
  }),
);
console.log(`${found} passed, ${missed} failed`);
process.exitCode = missed === 0 && found > 0 ? 0 : 1;
