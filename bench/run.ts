/**
 * Runs benchmarks, each in its own process, one after another. Without arguments it measures all rows of the table in RESULTS.md and writes the
 * table: about a quarter of an hour. With arguments it runs the pieces of the table, and the other programs of this folder, whose name
 * begins with one of them, and replaces the rows that they measure: a piece takes at most three minutes.
 *
 * A single row: `OPENPO_BENCH_ONLY="create, 10 lines, keyed, 1 shop" npm run bench -- hot`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { type Figure, cellsOf, rows } from "./report.ts";

/** What measures the rows of the table. */
const pieces: readonly { readonly name: string; readonly program: string; readonly environment: NodeJS.ProcessEnv }[] =
  [
    { name: "hot", program: "hot.ts", environment: {} },
    { name: "size-lists", program: "size.ts", environment: {} },
    { name: "many-shops", program: "many-shops.ts", environment: { OPENPO_BENCH_SECONDS: "2" } },
    { name: "size-import", program: "size-import.ts", environment: {} },
    { name: "forecast", program: "forecast.ts", environment: { OPENPO_BENCH_SALES: "10" } },
    { name: "large-logs", program: "large-logs.ts", environment: {} },
    { name: "console", program: "console.ts", environment: {} },
    { name: "spans", program: "spans.ts", environment: {} },
    { name: "nodes-round-trips", program: "nodes-round-trips.ts", environment: {} },
    { name: "on-postgres-hot", program: "on-postgres.ts", environment: { OPENPO_BENCH_PROGRAM: "hot.ts" } },
    { name: "on-postgres-size", program: "on-postgres.ts", environment: { OPENPO_BENCH_PROGRAM: "size.ts" } },
  ];

/** Files of this folder that are no benchmarks. */
const parts: ReadonlySet<string> = new Set([
  "run.ts",
  "report.ts",
  "service.ts",
  "servers.ts",
  "raw-load.ts",
  "copy-rows.ts",
  "free-port.ts",
  "goods.ts",
]);

const results = path.join(import.meta.dirname, "RESULTS.md");
const [begin, end] = ["<!-- table: written by `npm run bench` -->", "<!-- end of table -->"];
const header = ["Row", "Figure", "Bound", "Value", "Goal", "Reached", "Measured"];

/** Puts what was measured into the table. Other rows stay as they are. */
function writeTable(figures: readonly Figure[]): void {
  const text = readFileSync(results, "utf8");
  const [before = "", rest = ""] = text.split(begin);
  const [table = "", after = ""] = rest.split(end);
  const lines = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const stored = new Map(lines.map(([, name = "", ...cells]) => [name, [name, ...cells.slice(0, -1)]]));
  const measured = new Date().toISOString().slice(0, 16).replace("T", " ");
  const written = rows.map((row): readonly string[] => {
    const figure = figures.findLast(({ name }) => name === row.name);
    if (figure !== undefined) return [...cellsOf(row, figure), `${measured}, load ${Math.round(loadavg()[0] ?? 0)}`];
    return stored.get(row.name) ?? [row.name, ...header.slice(1).map(() => "")];
  });
  const lineOf = (cells: readonly string[]): string =>
    `|${cells.map((cell) => (cell === "" ? " |" : ` ${cell} |`)).join("")}`;
  const all = [lineOf(header), lineOf(header.map(() => "---")), ...written.map(lineOf)].join("\n");
  writeFileSync(results, `${before}${begin}\n\n${all}\n\n${end}${after}`);
}

function run(program: string, environment: NodeJS.ProcessEnv, directory: string): void {
  console.log(`\n== ${program}`);
  const file = path.join(directory, "report.ndjson");
  writeFileSync(file, "");
  const { status } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", path.join(import.meta.dirname, program)],
    { stdio: "inherit", env: { ...environment, ...process.env, OPENPO_BENCH_REPORT: file } },
  );
  if (status !== 0) process.exitCode = 1;
  const figures = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Figure => JSON.parse(line));
  if (figures.length > 0) writeTable(figures);
}

const wanted = process.argv.slice(2);
const isWanted = (name: string): boolean => wanted.some((part) => name.startsWith(part));
const chosen = pieces.filter(({ name }) => wanted.length === 0 || isWanted(name));
const others = readdirSync(import.meta.dirname).filter(
  (name) =>
    name.endsWith(".ts") && !parts.has(name) && !pieces.some(({ program }) => program === name) && isWanted(name),
);
if (chosen.length + others.length === 0) {
  console.log(`No benchmark's name begins with ${wanted.join(" or ")}.`);
  process.exitCode = 1;
}
console.log(
  `Node ${process.version}, ${process.platform} ${arch()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}`,
);
const directory = mkdtempSync(path.join(tmpdir(), "openpo-bench-report-"));
try {
  for (const { program, environment } of chosen) run(program, environment, directory);
  for (const program of others.sort()) run(program, {}, directory);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
