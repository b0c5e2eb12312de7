/**
 * Comments of the source: docstrings begin with their subject, sentences are short, lines end at 120 columns.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const wordsMax = 25;
const columnsMax = 120;

/** The docstrings of a source, each as paragraphs in one line. An item of a list and a tag begin a paragraph. */
function docstringsOf(source: string): readonly (readonly string[])[] {
  return [...source.matchAll(/^[ \t]*\/\*\*(.*?)\*\//gms)].map(([, body = ""]) =>
    body
      .split("\n")
      .map((line) => line.replace(/^\s*\*?/, ""))
      .join("\n")
      .split(/\n\s*\n|\n(?=\s*(?:- |\d+\. |@\w|Source:))/)
      .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
      .filter((paragraph) => paragraph !== ""),
  );
}

const sentencesOf = (paragraph: string): readonly string[] => paragraph.split(/(?<=[.?!]["”)]*)\s+/);

/** The words of a sentence. Code counts as one, citations and the mark of an item or a tag as none. */
const wordsOf = (sentence: string): number =>
  sentence
    .replaceAll(/`[^`]*`/g, "code")
    .replaceAll(/\([^)]*\b[A-Z]\d+[^)]*\)/g, "")
    .replace(/^(?:@\w+(?: (?:Fault|\w+Error))?(?: [A-Z_]+)?|- [A-Z]\d+\.|-|\d+\.) /, "")
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** A drawing of a directory is no sentence. */
const isLayout = (sentence: string): boolean => sentence.includes(" · ");

/** The faults of a source's comments, each with the way out. */
function commentFaults(file: string, source: string): readonly string[] {
  const docstrings = docstringsOf(source);
  const openings = docstrings
    .flatMap(([first = ""]) => first)
    .filter((first) => /^(?:What|How|Whether|Those|These|That|They|Them|Their)\b/.test(first))
    .map((first) => `${file}: "${first.slice(0, 60)}" begins with no subject. Say what it is, or what it returns.`);
  const long = docstrings
    .flat()
    .flatMap(sentencesOf)
    .filter((sentence) => wordsOf(sentence) > wordsMax && !isLayout(sentence))
    .map((sentence) => `${file}: "${sentence.slice(0, 60)}" has ${wordsOf(sentence)} words. Make it two sentences.`);
  const wide = source
    .split("\n")
    .flatMap((line, index) =>
      /^\s*(?:\/\/ (?!oxlint)|\/\*\*|\*)/.test(line) && line.length > columnsMax ? [index + 1] : [],
    )
    .map((line) => `${file}:${line} is wider than ${columnsMax} columns.`);
  return [...openings, ...long, ...wide];
}

test("docstrings begin with their subject, sentences have at most 25 words, comment lines 120 columns", () => {
  const files = globSync(["src/**/*.ts", "console/**/*.{ts,tsx}", "client/*.ts"]).filter(
    (file) => file !== "client/generated.ts",
  );
  const faults = files.flatMap((file) => commentFaults(file, readFileSync(file, "utf8")));
  assert.ok(files.length > 500, String(files.length));
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
});

test("a docstring without a subject, a long sentence and a wide line are seen", () => {
  const words = "w ".repeat(wordsMax + 1).trim();
  const source = [
    "/** What it is. */",
    "/**",
    " * Rows of a page.",
    " *",
    ` * @returns ${words}.`,
    ` * - ${words.slice(2)}. \`two words\` (C12, D3).`,
    " */",
    "/** Those that hold. */",
    "/** Whether",
    " * it holds. */",
    `// ${"wide ".repeat(24)}`,
    `// oxlint-disable-next-line ${"wide ".repeat(24)}`,
  ].join("\n");
  assert.deepEqual(
    commentFaults("a.ts", source).map((fault) => fault.replaceAll(/".*"/g, "…")),
    [
      "a.ts: … begins with no subject. Say what it is, or what it returns.",
      "a.ts: … begins with no subject. Say what it is, or what it returns.",
      "a.ts: … begins with no subject. Say what it is, or what it returns.",
      "a.ts: … has 26 words. Make it two sentences.",
      "a.ts:11 is wider than 120 columns.",
    ],
  );
});
