/** The documents: their sizes, since readers have five minutes, their examples, and the table of dependencies. */
import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readArguments } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/commands.ts";

const textOf = (file: string): string => readFileSync(file, "utf8");

/** Lists that follow from the code: docs/errors.md is written by a program, and tidy/bounds holds each value of docs/limits.md. */
const listFiles: readonly string[] = ["docs/errors.md", "docs/limits.md"];
const generatedPart = /<!-- (?:Generated|table: written by)[^]*?<!-- [Ee]nd of [^>]*-->/g;

const bytesOf = (text: string): number => Buffer.byteLength(text.replaceAll(generatedPart, ""));
const linesOf = (text: string): number => text.trimEnd().split("\n").length;

const documents = globSync(["*.md", "{docs,client,bench,examples}/**/*.md"], { exclude: ["**/node_modules/**"] })
  .filter((file) => !listFiles.includes(file))
  .toSorted();

const kilobyte = 1_000;

test("documents are no longer than their readers have time for", () => {
  assert.ok(documents.length > 20);
  const sizes = documents.map((file) => ({ file, bytes: bytesOf(textOf(file)) }));
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(all <= 340 * kilobyte, `${all} bytes in all, 340,000 at most`);
  for (const [file, most] of [
    ["README.md", 8],
    ["CONTRIBUTING.md", 12],
    ["bench/RESULTS.md", 20],
    ["docs/operating.md", 60],
  ] as const)
    assert.ok(bytesOf(textOf(file)) <= most * kilobyte, `${file} is longer than ${most} kB`);
  assert.ok(linesOf(textOf("README.md")) <= 100, "README.md is longer than 100 lines");
  assert.ok(linesOf(textOf("CHANGELOG.md")) <= 60, "CHANGELOG.md is longer than 60 lines");
  const guide = linesOf(textOf("AGENTS.md"));
  assert.ok(guide >= 70 && guide <= 200, `AGENTS.md has ${guide} lines, not 70 to 200`);
});

test("decisions are few enough to be read: one paragraph each, at most 100 in all", () => {
  const pages = globSync("docs/decisions/*.md").map(textOf);
  const decisions = pages.flatMap((page) => [...page.matchAll(/^- \*\*D\d+\. /gm)]).length;
  assert.ok(decisions > 50 && decisions <= 100, String(decisions));
  assert.ok(pages.reduce((sum, page) => sum + bytesOf(page), 0) <= 60 * kilobyte);
});

test("parts that a program writes do not count", () => {
  assert.equal(bytesOf("a\n<!-- Generated from x. -->\n| b |\n<!-- End of what is generated. -->\nc"), 4);
  assert.equal(bytesOf("a\n<!-- table: written by `x` -->\n| b |\n<!-- end of table -->\nc"), 4);
});

test("cells of tables are not padded", () => {
  const padded = /^\|.*(?<!\|) {2,}\||^\| ?-{4,}/;
  const faults = documents.flatMap((file) =>
    textOf(file)
      .replaceAll(/^```[^]*?^```/gm, "")
      .split("\n")
      .filter((line) => padded.test(line))
      .map((line) => `${file}: ${line.slice(0, 60)}`),
  );
  assert.deepEqual(faults, []);
});

/** Packages by kind, as docs/decisions/dependencies.md calls the kinds. */
function packages(): ReadonlyMap<string, string> {
  const manifest: { dependencies: object; devDependencies: object } = JSON.parse(textOf("package.json"));
  const tests: { dependencies: object } = JSON.parse(textOf("test/package.json"));
  const kinds = [
    ["run time", manifest.dependencies],
    ["checkout", manifest.devDependencies],
    ["checks", tests.dependencies],
  ] as const;
  return new Map(kinds.flatMap(([kind, set]) => Object.keys(set).map((name) => [name, kind] as const)));
}

test("docs/decisions/dependencies.md has every package with its kind, and no other", () => {
  const rows = textOf("docs/decisions/dependencies.md").matchAll(
    /^\| ([^|]+) \| (run time|checkout|checks) \| [^|]+\|$/gm,
  );
  const told = [...rows].flatMap(([, names = "", kind = ""]) => names.split(", ").map((name) => [name, kind]));
  assert.deepEqual(Object.fromEntries(told), Object.fromEntries(packages()));
});

/** The words of a line of the shell, without its comment. */
const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/\s#.*$/, "").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match.slice(1).join(""));

/** Lines that are indented or fenced. */
const commandsIn = (text: string): readonly string[] =>
  [...text.replaceAll(/\\\n\s*/g, "").matchAll(/^(?: {3,}|(?=openpo ))(openpo .+)$/gm)].map(([, line = ""]) => line);

function readCommand(line: string): void {
  const [, ...words] = wordsOf(line);
  const command = commands.find(({ name }) => words.join(" ").startsWith(name)) ?? assert.fail(`no command: ${line}`);
  readArguments(command, words.slice(command.name.split(" ").length));
}

test("every command in a document is one that the program takes", () => {
  const lines = documents.flatMap((file) => commandsIn(textOf(file)));
  assert.ok(lines.length > 30, String(lines.length));
  for (const line of lines) if (!/^openpo serve\b/.test(line)) assert.doesNotThrow(() => readCommand(line), line);
  assert.throws(() => readCommand("openpo backup /b --every-day"), /every-day/);
  assert.throws(() => readCommand("openpo restore"), /missing/);
});

test("every example in JSON can be read", () => {
  const examples = documents.flatMap((file) => [...textOf(file).matchAll(/^```json\n([^]*?)^```/gm)]);
  assert.ok(examples.length > 0);
  for (const [, example = ""] of examples) assert.doesNotThrow(() => JSON.parse(example), example);
});

/** Paths from the root, and paths of a room below src. */
const rooms = readdirSync("src").filter((name) => !name.includes("."));
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([a-z]+)(\/[\w./-]+\.(?:tsx?|mjs|sh|cfg|conf|yaml|c|py))`/g)].flatMap(
    ([, folder = "", rest = ""]) =>
      ["src", "test", "bench", "deploy", "examples", "console"].includes(folder)
        ? [folder + rest]
        : rooms.includes(folder)
          ? [`src/${folder}${rest}`]
          : [],
  );

test("every source file that a document names is there", () => {
  const named = documents.flatMap((file) => pathsIn(textOf(file)).map((path) => ({ file, path })));
  assert.ok(named.length > 100, String(named.length));
  const missing = named.filter(({ path }) => !existsSync(path)).map(({ file, path }) => `${file}: there is no ${path}`);
  assert.deepEqual(missing, []);
  assert.deepEqual(pathsIn("`core/x.ts` `bench/y.ts` `a/z.ts`"), ["src/core/x.ts", "bench/y.ts"]);
});
