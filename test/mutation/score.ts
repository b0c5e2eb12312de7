/**
 * The mutation score of the rules that matter most: `npm run test:mutation`, or with parts of the names of some files.
 *
 * Each mutant (mutants.ts) of a file is given to the tests of that file. A mutant that fails a test, or that does not end, is killed; one with which
 * all tests pass has survived. The score is the share of the killed ones. Mutants that change nothing anybody could see are listed in
 * equivalent.ts, each with its reason, and do not count; one that is killed all the same fails the run, since its reason is wrong.
 *
 * It prints each survivor, and the last line is `N passed, N failed`: files that reach `scoreMin`, and files that do not.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { equivalent } from "./equivalent.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { type Change, changeVariable } from "./play.ts";

const scoreMin = 90;
/** A test that runs so many times as long as without a mutant does not end. */
const timesMax = 10;
const secondsMin = 20;

const root = path.join(import.meta.dirname, "../..");
const unit = (...names: readonly string[]): readonly string[] => names.map((name) => `test/unit/${name}.test.ts`);
const goods = [
  ...unit("goods", "lines", "status", "cost-sync", "edit", "incoming", "stock-push", "sync"),
  "test/property/goods.test.ts",
];

/** The files, and the tests that hold their rules. */
const targets: Readonly<Record<string, readonly string[]>> = {
  "src/core/status.ts": unit("status", "guard", "goods"),
  "src/core/status-move.ts": unit("status", "goods"),
  "src/core/goods.ts": goods,
  "src/core/lines.ts": goods,
  "src/core/receive.ts": goods,
  "src/core/confirm.ts": goods,
  "src/core/complete.ts": goods,
  "src/core/purchase-order-fields.ts": unit("purchase-order-fields", "edit", "lines", "supplier-terms"),
  "src/core/idempotency.ts": unit("idempotency", "request-identity"),
  "src/core/rate-limit.ts": [...unit("limits"), "test/property/rate-limit.test.ts"],
  "src/core/cost-sync.ts": unit("cost-sync", "write-back", "outbox"),
};

interface Played {
  readonly passed: boolean;
  readonly seconds: number;
}

function play(tests: readonly string[], change: Change | null, secondsMax: number): Promise<Played> {
  const startedAtMs = performance.now();
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", path.join(import.meta.dirname, "play.ts"), ...tests],
    {
      cwd: root,
      stdio: "ignore",
      env: { ...process.env, ...(change === null ? {} : { [changeVariable]: JSON.stringify(change) }) },
    },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), secondsMax * 1_000);
  return new Promise((resolve) => {
    child.once("close", (status) => {
      clearTimeout(timer);
      resolve({ passed: status === 0, seconds: (performance.now() - startedAtMs) / 1_000 });
    });
  });
}

const shown = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 90);
const reasonOf = ({ file, before, text, line }: Mutant, source: string): string | null =>
  equivalent.find(
    (each) =>
      each.file === file &&
      each.before === shown(before) &&
      each.after === shown(text) &&
      (source.split("\n")[line - 1] ?? "").includes(each.on),
  )?.reason ?? null;

interface Score {
  readonly killed: number;
  readonly survived: number;
  readonly equivalent: number;
  readonly wrong: number;
}

async function scoreOf(file: string, tests: readonly string[]): Promise<Score> {
  const whole = await play(tests, null, 600);
  if (!whole.passed) throw new Error(`${file}: its tests fail as the tree stands: ${tests.join(" ")}`);
  const secondsMax = Math.max(secondsMin, whole.seconds * timesMax);
  const source = readFileSync(path.join(root, file), "utf8");
  const left = [...mutantsOf(file, source)];
  const score = { killed: 0, survived: 0, equivalent: 0, wrong: 0 };
  const working = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const { file: at, start, end, text, line, before } = mutant;
      const { passed } = await play(tests, { file: at, start, end, text }, secondsMax);
      const reason = reasonOf(mutant, source);
      if (passed && reason !== null) score.equivalent += 1;
      else if (passed) score.survived += 1;
      else score.killed += 1;
      if (!passed && reason !== null) score.wrong += 1;
      if (passed === (reason === null))
        console.log(`${passed ? "survived" : "NOT EQUIVALENT"} ${at}:${line}: ${shown(before)} → ${shown(text)}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, working));
  return score;
}

const wanted = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const [file, tests] of Object.entries(targets)) {
  if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
  const { killed, survived, equivalent: same, wrong } = await scoreOf(file, tests);
  const score = (100 * killed) / (killed + survived);
  const isGood = score >= scoreMin && wrong === 0;
  if (isGood) passed += 1;
  else failed += 1;
  console.log(
    `${isGood ? "✔" : "✖"} ${file}: ${score.toFixed(1)} % (${killed} killed, ${survived} survived, ${same} equivalent)`,
  );
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
