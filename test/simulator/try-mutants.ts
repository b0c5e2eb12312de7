/**
 * Plants each fault of mutants.ts and plays seeds until one fails: `npm run simulate:mutants`, or with names of some of them.
 *
 * A fault that no seed finds is a hole in the simulator; those that are known (`open`) are told and do not fail the run. The last line is `N passed, N failed`.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";
import { type Mutant, mutantSeedsMax, mutants, mutantVariable } from "./mutants.ts";

interface Found {
  /** Null: no seed has failed. */
  readonly seed: string | null;
  readonly finding: string;
  readonly seconds: number;
}

async function find({ name, seed: first = 1 }: Mutant): Promise<Found> {
  const startedAtMs = Date.now();
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--import",
      path.join(import.meta.dirname, "mutate.ts"),
      path.join(import.meta.dirname, "simulate.ts"),
      "--from",
      String(first),
      "--seeds",
      String(mutantSeedsMax),
      "--workers",
      "1",
      "--failures",
      "1",
      "--as-it-is",
    ],
    { env: { ...process.env, [mutantVariable]: name }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (output += piece.toString()));
  await new Promise((resolve) => void child.once("close", resolve));
  const [, seed, finding = ""] = /✖ seed (\d+): [^\n]*\n\s*([^\n]*)/.exec(output) ?? [];
  const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
  return { seed: seed ?? null, finding: seed === undefined ? output.slice(-300) : finding, seconds };
}

const wanted = process.argv.slice(2);
const left = mutants.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
let found = 0;
let missed = 0;
console.log("| planted fault | found by seed | after | what it breaks | what was seen |");
console.log("| --- | --- | --- | --- | --- |");
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const { seed, finding, seconds } = await find(mutant);
      if (seed !== null) found += 1;
      else if (mutant.open === undefined) missed += 1;
      const seen = finding.replaceAll("|", "/").slice(0, 160);
      console.log(
        `| ${mutant.name} | ${seed ?? (mutant.open === undefined ? "NOT FOUND" : "not yet")} | ${seconds} s | ${mutant.breaks} | ${seen} |`,
      );
    }
  }),
);
console.log(`${found} passed, ${missed} failed`);
process.exitCode = missed === 0 && found > 0 ? 0 : 1;
