/**
 * The rule of the suites. The name of a test file says what it costs: `forecast/memo.slow.test.ts`. A file without a cost takes seconds and is in `npm test`.
 *
 * - `.slow`: takes long, or starts programs.
 * - `.browser`: drives a real browser.
 * - `.crash`: kills processes, databases or disks.
 * - `.pg`: is cheap, and needs PostgreSQL.
 */
const costs = ["slow", "browser", "crash", "pg"] as const;
type Cost = (typeof costs)[number];

/** Files that a message names. */
const namedMax = 5;

/** The cost in the name of a test file, or null. */
export function costOf(file: string): Cost | null {
  const suffix = /\.(\w+)\.test\.ts$/.exec(file)?.[1];
  return costs.find((cost) => cost === suffix) ?? null;
}

interface Selection {
  /** Parts of paths. Empty: any path. */
  readonly words: readonly string[];
  /** Costs that are asked for, alone or, with `all`, beside the files without a cost. */
  readonly costs: ReadonlySet<Cost>;
  readonly all: boolean;
}

/** Reads `[--all | --slow | --browser | --crash | --pg]… [word]…`. Throws if an option is none of these. */
export function selectionOf(args: readonly string[]): Selection {
  const options = args.filter((arg) => arg.startsWith("--")).map((arg) => arg.slice(2));
  const asked = costs.filter((cost) => options.includes(cost));
  const all = options.includes("all");
  if (new Set(options).size > asked.length + (all ? 1 : 0)) throw new Error(`Options: --all --${costs.join(" --")}`);
  return { words: args.filter((arg) => !arg.startsWith("--")), costs: new Set(asked), all };
}

/**
 * A costly file is selected by its option, by `--all`, or by a word that has its cost or is its path; one that needs PostgreSQL also by that engine.
 */
export function isSelected(file: string, selection: Selection, onPostgres: boolean): boolean {
  const { words, all } = selection;
  const naming = words.filter((word) => file.includes(word));
  if (words.length > 0 && naming.length === 0) return false;
  const cost = costOf(file);
  if (all) return true;
  if (selection.costs.size > 0) return cost !== null && selection.costs.has(cost);
  if (cost === null || (cost === "pg" && onPostgres)) return true;
  return naming.some((word) => word.includes(`.${cost}`));
}

/** Returns what is wrong with a word that selects no file: no path has it, or its files wait for the name of their cost. */
export function faultOfWord(word: string, files: readonly string[]): string {
  const named = files.filter((file) => file.includes(word));
  if (named.length === 0) return `No test file has "${word}" in its path.`;
  return `"${word}" selects nothing, since its files are costly: write ${named.slice(0, namedMax).join(", ")}, or add --all.`;
}
