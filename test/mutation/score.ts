/**
 * The mutation score of the rules that matter most: `npm run test:mutation`, or with parts of the names of some files.
 *
 * Each mutant (mutants.ts) of a file is given to the tests of that file. A mutant that fails a test, or that does not end, is killed; one with which
 * all tests pass has survived. The score is the share of the killed ones. Mutants that change nothing anybody could see are listed in
 * equivalent.ts, each with its reason, and do not count. One that is killed all the same fails the run, since its reason is wrong, and so does one
 * that the source no longer has.
 *
 * It prints each survivor and each equivalent mutant, and the last line is `N passed, N failed`: files that reach `scoreMin`, and files that do not.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { type Equivalent, equivalents } from "./equivalent.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { type Change, changeVariable } from "./play.ts";

const scoreMin = 90;
/** A test that runs so many times as long as without a mutant does not end. */
const timesMax = 10;
const secondsMin = 20;

const root = path.join(import.meta.dirname, "../..");
const files = (...names: readonly string[]): readonly string[] => names.map((name) => `test/${name}.test.ts`);
const goods = [
  ...files(
    "goods/rules",
    "order/rules/lines",
    "order/rules/status",
    "storefront/costs/sync",
    "order/rules/edit",
    "goods/incoming",
    "storefront/stock-push",
    "storefront/sync",
  ),
  "test/goods/rules-random.test.ts",
];

/** The files, and the tests that hold their rules. */
const targets: Readonly<Record<string, readonly string[]>> = {
  "src/core/order/status.ts": files("order/rules/status", "goods/guard", "goods/rules"),
  "src/core/order/status-move.ts": files("order/rules/status", "goods/rules"),
  "src/core/goods/goods.ts": goods,
  "src/core/order/lines.ts": goods,
  "src/core/goods/receive.ts": goods,
  "src/core/goods/confirm.ts": goods,
  "src/core/goods/complete.ts": goods,
  "src/core/order/purchase-order-fields.ts": files("order/rules/fields", "order/rules/edit", "supplier/terms"),
  "src/core/access/idempotency.ts": files("requests/identity"),
  "src/requests/idempotency.ts": files("requests/answers-told-again"),
  "src/shop/access/idempotency.ts": files("requests/answers-told-again"),
  "src/core/access/rate-limit.ts": ["test/access/rate-limit.test.ts"],
  "src/core/storefront/cost-sync.ts": files("storefront/costs/sync"),
  "src/shop/storefront/cost-sync.ts": files("storefront/costs/rows"),
  "src/operations/purchase-orders/goods/cost-sync.ts": files("storefront/costs/steps"),
};

// The tests tell nothing to a runner that this process may be part of.
const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
const environment = { ...inherited, OPENPO_TEST_ENGINE: "sqlite" };

interface Played {
  readonly passed: boolean;
  readonly seconds: number;
}

function play(tests: readonly string[], change: Change | null, secondsMax: number): Promise<Played> {
  const startedAtMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      `--test-reporter=${path.join(import.meta.dirname, "first-failure.ts")}`,
      path.join(import.meta.dirname, "play.ts"),
      ...tests,
    ],
    {
      cwd: root,
      stdio: "ignore",
      env: { ...environment, ...(change === null ? {} : { [changeVariable]: JSON.stringify(change) }) },
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

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ");
const shown = (text: string): string => inOneLine(text).slice(0, 90);

/** Whether the mutant is the one that the entry describes. */
function isMeantBy({ at, after }: Equivalent, { start, end, before, text }: Mutant, source: string): boolean {
  const [ahead = "", changed, behind = ""] = at.split(/[«»]/);
  return (
    changed === inOneLine(before) &&
    after === inOneLine(text) &&
    inOneLine(source.slice(0, start)).endsWith(ahead) &&
    inOneLine(source.slice(end)).startsWith(behind)
  );
}

/** The mutants of a file, those that are equivalent with their reason. */
function mutantsWithReasons(
  file: string,
): readonly { readonly mutant: Mutant; readonly equivalent: Equivalent | undefined }[] {
  const source = readFileSync(path.join(root, file), "utf8");
  const mutants = mutantsOf(file, source);
  const known = equivalents
    .filter((each) => each.file === file)
    .map((each) => {
      const meant = mutants.filter((mutant) => isMeantBy(each, mutant, source));
      if (meant.length === 1) return { equivalent: each, mutant: meant[0] };
      throw new Error(`equivalent.ts: ${file} has ${meant.length} mutants ${each.at} → ${each.after}, not one.`);
    });
  return mutants.map((mutant) => ({ mutant, equivalent: known.find((each) => each.mutant === mutant)?.equivalent }));
}

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
  const left = [...mutantsWithReasons(file)];
  const score = { killed: 0, survived: 0, equivalent: 0, wrong: 0 };
  const working = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { mutant, equivalent } = next;
      const { file: at, start, end, text, line, before } = mutant;
      const { passed } = await play(tests, { file: at, start, end, text }, secondsMax);
      if (!passed) score.killed += 1;
      else if (equivalent === undefined) score.survived += 1;
      else score.equivalent += 1;
      if (!passed && equivalent !== undefined) score.wrong += 1;
      const change = `${at}:${line}: ${shown(before)} → ${shown(text)}`;
      if (passed)
        console.log(equivalent === undefined ? `survived ${change}` : `equivalent ${change}: ${equivalent.reason}`);
      else if (equivalent !== undefined) console.log(`NOT EQUIVALENT ${change}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, working));
  return score;
}

for (const { file } of equivalents)
  if (!(file in targets)) throw new Error(`equivalent.ts: ${file} is not among the files.`);
for (const file of Object.keys(targets)) mutantsWithReasons(file);

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
