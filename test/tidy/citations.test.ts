/**
 * Checks that every citation resolves (rules of docs/contract.md, decisions, invariants of modules, headings of the specification, links
 * between documents) and that nothing is defined twice.
 *
 * Only prose is read: comments and names of tests in TypeScript, comments in SQL, Markdown without code. Strings and text between backticks
 * are not read, so fixtures, ids and ISO weeks there are not citations. In prose these are citations:
 * - an id, a capital letter with one to three digits that stands alone: `C12`, `(S4, D7)`, `P1–P6`
 * - `spec "Heading"`, with an item of the list under it: `spec "Heading" 6`; more after commas
 * - `contract §9`, `contract §9 "Heading"`; more after commas
 * - a relative link in Markdown
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

// Prose.

interface Document {
  readonly path: string;
  readonly text: string;
}

/** Returns the comments, each as one line; consecutive line comments are joined. */
function commentsOf(source: string, lineMark: RegExp): readonly string[] {
  const comments: string[] = [];
  let open: string[] | null = null;
  let lineBefore = -2;
  for (const [number, line] of source.split("\n").entries()) {
    if (open === null) {
      const block = /^\s*\/\*\*?(.*)$/.exec(line)?.[1];
      const lineComment = lineMark.exec(line)?.[1];
      if (block !== undefined) open = [block];
      else if (lineComment !== undefined) {
        comments.push(lineBefore === number - 1 ? `${comments.pop()} ${lineComment}` : lineComment);
        lineBefore = number;
      }
    } else open.push(line.replace(/^\s*\*(?!\/) ?/, ""));
    if (open?.at(-1)?.includes("*/") === true) {
      comments.push(open.join(" ").replace(/\*\/.*$/, ""));
      open = null;
    }
  }
  return comments;
}

const typescriptLineMark = /(?:^|\s)\/\/ ?(.*)$/;
const sqlLineMark = /^\s*-- ?(.*)$/;
const testName = /\btest\(\s*("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

/** Returns the pieces of a document that may contain citations, each as one line and without code. */
function proseOf({ path, text }: Document): readonly string[] {
  const pieces = path.endsWith(".md")
    ? text.replaceAll(/^```[\s\S]*?^```/gm, "").split(/\n{2,}|\n(?=\s*(?:[-|]|\d+\.) )/)
    : path.endsWith(".sql")
      ? commentsOf(text, sqlLineMark)
      : [
          ...commentsOf(text, typescriptLineMark),
          ...[...text.matchAll(testName)].map(([, name = ""]) => name.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "")),
        ];
  return pieces.map((piece) =>
    piece
      .replaceAll(/`[^`]*`/g, "")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

// Definitions.

/** The module's first comment. */
const headerOf = (source: string): string => /^\/\*\*[\s\S]*?\*\//.exec(source)?.[0] ?? "";

const firsts = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].flatMap(([, first]) => first ?? []);

const invariant = /^\s*\* - ([A-Z]\d{1,3})\. /gm;

/** Returns the ids that a document defines. */
function definitionsOf({ path, text }: Document): readonly string[] {
  if (path === "docs/contract.md") return firsts(text, /^\*\*(C\d+)\.\*\* /gm);
  if (path.startsWith("docs/decisions/")) return firsts(text, /^- \*\*(D\d+)\. /gm);
  return path.startsWith("src/") && path.endsWith(".ts") ? firsts(headerOf(text), invariant) : [];
}

/** Reports ids that are defined more than once or in the wrong place. */
function definitionFaults(documents: readonly Document[]): readonly string[] {
  const places = Map.groupBy(
    documents.flatMap((document) => definitionsOf(document).map((id) => ({ id, path: document.path }))),
    ({ id }) => id,
  );
  const twice = [...places]
    .filter(([, found]) => found.length > 1)
    .map(
      ([id, found]) => `${id} is defined in ${found.map(({ path }) => path).join(" and ")}. Give one another number.`,
    );
  const astray = documents
    .filter(({ path }) => path.endsWith(".ts"))
    .flatMap(({ path, text }) =>
      firsts(text, invariant)
        .slice(definitionsOf({ path, text }).length)
        .map((id) => `${path}: ${id} is defined outside the first comment of a module in src. Move it there.`),
    );
  return [...twice, ...astray];
}

/** The sections of docs/contract.md that can be cited: a heading, and how many items its numbered list has. */
interface Headings {
  /** By heading, those of Part I. */
  readonly spec: ReadonlyMap<string, number>;
  /** By number, or number and heading, those of Part II: `9`, `9 Receipt`. */
  readonly contract: ReadonlySet<string>;
}

function headingsOf(contract: string): Headings {
  const spec = new Map<string, number>();
  const rules = new Set<string>();
  let inRules = false;
  let section = "";
  let heading = "";
  for (const line of contract.split("\n")) {
    const [, marks, title = ""] = /^(#+) (.+)$/.exec(line.replaceAll("`", "")) ?? [];
    const item = Number(/^(\d+)\. /.exec(line)?.[1] ?? 0);
    if (marks === "#") inRules = title.startsWith("Part II:");
    else if (marks !== undefined && inRules) {
      section = /^(\d+)\. /.exec(title)?.[1] ?? section;
      rules.add(marks === "##" ? section : `${section} ${title}`);
    } else if (marks !== undefined) {
      heading = title;
      spec.set(heading, 0);
    } else if (item > 0 && !inRules && heading !== "") spec.set(heading, item);
  }
  return { spec, contract: rules };
}

// Citations.

/** Names that look like ids but are not. */
const names: ReadonlySet<string> = new Set();

/** Returns the ids that a piece of prose cites; a range cites every id in it. */
function idsIn(prose: string): readonly string[] {
  return [...prose.matchAll(/(?<![\w%./#$-])([A-Z])(\d{1,3})(?:[–-]\1?(\d{1,3}))?(?![\w-])/g)].flatMap(
    ([, letter = "", first = "", last = first]) =>
      Array.from(
        { length: Math.max(1, Number(last) - Number(first) + 1) },
        (_, index) => `${letter}${Number(first) + index}`,
      ),
  );
}

const specCitation = /\bspec((?:,? "[^"]+"(?: \d+(?:–\d+)?)?)+)/g;
const contractCitation = /\bcontract((?:,? §\d+(?: "[^"]+")?)+)/g;

/** Reports cited headings that do not exist. */
function headingFaultsIn(prose: string, headings: Headings): readonly string[] {
  const faults: string[] = [];
  for (const list of firsts(prose, specCitation))
    for (const [, heading = "", first, last = first] of list.matchAll(/"([^"]+)"(?: (\d+)(?:–(\d+))?)?/g)) {
      const items = headings.spec.get(heading);
      if (items === undefined) faults.push(`spec "${heading}": docs/contract.md has no such heading in Part I`);
      else if (Number(last ?? 0) > items) faults.push(`spec "${heading}" ${last}: the list there ends with ${items}`);
    }
  for (const list of firsts(prose, contractCitation))
    for (const [, section = "", heading] of list.matchAll(/§(\d+)(?: "([^"]+)")?/g)) {
      const key = heading === undefined ? section : `${section} ${heading}`;
      if (!headings.contract.has(key)) faults.push(`contract §${key}: docs/contract.md has no such heading in Part II`);
    }
  return faults;
}

/** Reports citations of a document that do not resolve. */
function citationFaults(document: Document, defined: ReadonlySet<string>, headings: Headings): readonly string[] {
  return proseOf(document).flatMap((prose) => [
    ...idsIn(prose)
      .filter((id) => !defined.has(id) && !names.has(id))
      .map(
        (id) =>
          `${document.path}: ${id} is defined nowhere (${prose.slice(0, 80)}…). Cite what is there; code goes between backticks.`,
      ),
    ...headingFaultsIn(prose, headings).map((fault) => `${document.path}: ${fault}.`),
  ]);
}

// Links.

/** Returns the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(firsts(text.replaceAll(/^```[\s\S]*?^```/gm, ""), /^#+ (.+)$/gm).map(anchorOf));

/** Reports relative links of a Markdown document to missing files or headings. */
function linkFaults({ path, text }: Document, read: (path: string) => string | null): readonly string[] {
  return firsts(text, /\]\(([^)\s]+)\)/g).flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? text : read(normalize(join(dirname(path), file)));
    if (target === null) return [`${path}: there is no ${link}.`];
    return anchor === undefined || anchorsOf(target).has(anchor) ? [] : [`${path}: ${link} has no such heading.`];
  });
}

// The tree.

const documents: readonly Document[] = globSync(
  [
    "{src,test,bench,examples}/**/*.ts",
    "client/*.ts",
    "{src,docs}/**/*.sql",
    "{docs,bench,client,examples}/**/*.md",
    "*.md",
  ],
  { exclude: ["test/node_modules/**"] },
)
  .sort()
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

const textOf = (path: string): string => documents.find((document) => document.path === path)?.text ?? "";

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // The link is to a folder.
    return error instanceof Error && "code" in error && error.code === "EISDIR" ? "" : null;
  }
}

const none = (faults: readonly string[]): void => {
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
};

test("every rule, decision and invariant is defined once", () => {
  none(definitionFaults(documents));
});

test("every citation resolves", () => {
  const defined = new Set(documents.flatMap(definitionsOf));
  assert.ok(["C1", "D1", "P1", "S1"].every((id) => defined.has(id)));
  const headings = headingsOf(textOf("docs/contract.md"));
  assert.ok(headings.spec.size > 20 && headings.contract.size > 20);
  none(documents.flatMap((document) => citationFaults(document, defined, headings)));
});

test("every link between documents leads to an existing file and heading", () => {
  none(documents.filter(({ path }) => path.endsWith(".md")).flatMap((document) => linkFaults(document, readOrNull)));
});

/** Files that comments name: by their path from the root, from src or test, or from a folder that the file is in. */
const fileNamed = /(?<![\w./@{-])(?:\.{1,2}\/)?(?:[\w-]+\/)*[\w.-]+\.tsx?\b/g;

/** Reports files that a comment names and that are not there. */
function fileFaults({ path, text }: Document, exists: (path: string) => boolean): readonly string[] {
  const folders = dirname(path)
    .split("/")
    .map((_, index, names) => names.slice(0, index + 1).join("/"));
  return commentsOf(text, typescriptLineMark)
    .flatMap((comment) => comment.match(fileNamed) ?? [])
    .filter((name) => !["", "src", "test", ...folders].some((folder) => exists(normalize(join(folder, name)))))
    .map(
      (name) => `${path}: there is no ${name}. Name it by its path from src, or from the folder that the file is in.`,
    );
}

test("every file that a comment names is there", () => {
  const sources = documents.filter(({ path }) => /^(?:src|test|client)\/.*\.ts$/.test(path));
  none(sources.flatMap((document) => fileFaults(document, existsSync)));
});

test("ARCHITECTURE.md says which module defines which letter", () => {
  const section =
    textOf("ARCHITECTURE.md")
      .split(/^## /m)
      .find((part) => part.startsWith("Invariants")) ?? "";
  const listed = [...section.matchAll(/\b([A-Z]) \(([^)]*)\)/g)].flatMap(([, letter = "", modules = ""]) =>
    firsts(modules, /`([^`]+)`/g).map((module) => `${letter} src/${module}`),
  );
  const defined = documents
    .filter(({ path }) => path.startsWith("src/"))
    .flatMap((document) => definitionsOf(document).map((id) => `${id.charAt(0)} ${document.path}`));
  assert.deepEqual(listed.toSorted(), [...new Set(defined)].toSorted());
});

test("the glossary is in alphabetical order and has no term twice", () => {
  const terms = firsts(textOf("docs/glossary.md"), /^- \*\*(.+?)\*\*/gm).map((term) => term.toLowerCase());
  assert.ok(terms.length > 50);
  assert.deepEqual(terms, [...new Set(terms)].sort());
});

// Tests of the checks themselves.

const planted: readonly Document[] = [
  {
    path: "docs/contract.md",
    text: "# Contract\n\n# Part I: the spec\n\n## Errors\n\n1. One.\n2. Two.\n\n# Part II: the rules\n\n**C1.** A rule.\n\n## 9. Shapes\n\n### Receipt\n",
  },
  { path: "docs/decisions/orders.md", text: "- **D1. A decision.** Because.\n" },
  {
    path: "src/core/x.ts",
    text: "/**\n * X.\n *\n * - P1. A rule that\n *   always holds.\n * - P2. Another.\n */\nconst a = 1;\n",
  },
];
const plantedDefined = new Set(planted.flatMap(definitionsOf));
const plantedHeadings = headingsOf(planted[0]?.text ?? "");
const faultsOf = (path: string, text: string): string =>
  citationFaults({ path, text }, plantedDefined, plantedHeadings).join("\n");

const bad: readonly (readonly [string, string, RegExp])[] = [
  ["src/x.ts", "/** Does it (C2). */", /C2 is defined nowhere/],
  ["src/x.ts", "const a = 1; // see D2", /D2 is defined nowhere/],
  ["src/x.ts", "/** Keeps P1–P3. */", /P3 is defined nowhere/],
  ["src/x.ts", "/** Keeps Z1. */", /Z1 is defined nowhere/],
  ["test/x.test.ts", 'test(\n  "it holds (P9)", () => {});', /P9 is defined nowhere/],
  ["test/x.test.ts", "test(`C7: ${name}`, () => {});", /C7 is defined nowhere/],
  ["src/schema/0001.sql", "select 1;\n-- Rows (S9).\n", /S9 is defined nowhere/],
  ["docs/x.md", "It is so (D9).\n", /D9 is defined nowhere/],
  ["src/x.ts", '/**\n * Source: spec\n * "Terrors".\n */', /no such heading in Part I/],
  ["src/x.ts", '/** Source: spec "Errors", "Terrors" 1; C1. */', /spec "Terrors"/],
  ["src/x.ts", '/** Source: spec "Errors" 3. */', /the list there ends with 2/],
  ["src/x.ts", '/** Source: spec "Errors" 1–3. */', /the list there ends with 2/],
  ["src/x.ts", '/** Source: spec "Receipt". */', /no such heading in Part I/],
  ["src/x.ts", "// contract §8", /contract §8/],
  ["src/x.ts", '/** contract §9, §9 "Recipe" */', /contract §9 Recipe/],
];
for (const [path, text, fault] of bad)
  test(`reported in ${path}: ${JSON.stringify(text).replaceAll(/[A-Z]\d/g, "…")}`, () => {
    assert.match(faultsOf(path, text), fault);
  });

test("citations that resolve, and text that is not a citation, are accepted", () => {
  const fine: readonly (readonly [string, string])[] = [
    ["src/x.ts", '/** Source: spec "Errors" 1–2; C1, P1–P2; contract §9, §9 "Receipt". */'],
    [
      "src/x.ts",
      '/** A week like `2026-W49`, or 2026-W49, 2026-01-01T00:00. */\nconst sku = "NB-A5", size = "A5"; // %E6',
    ],
    ["src/x.ts", 'const url = "http://host/C9"; const text = "see C9";'],
    ["docs/x.md", "`C9` and\n\n```\nC9\n```\n\nC1.\n"],
  ];
  for (const [path, text] of fine) assert.equal(faultsOf(path, text), "", text);
});

test("an id that is defined twice or in the wrong place is reported", () => {
  none(definitionFaults(planted));
  const second = { path: "src/shop/y.ts", text: "/**\n * Y.\n *\n * - P2. Something else.\n */\n" };
  assert.match(definitionFaults([...planted, second]).join(), /P2 is defined in src\/core\/x\.ts and src\/shop\/y\.ts/);
  const again = { path: "docs/contract.md", text: `${planted[0]?.text}\n**C1.** Once more.\n` };
  assert.match(definitionFaults([again]).join(), /C1 is defined in/);
  const late = { path: "src/shop/z.ts", text: "/** Z. */\n\n/**\n * - Z1. A rule.\n */\n" };
  assert.match(definitionFaults([late]).join(), /Z1 is defined outside/);
  const inTest = { path: "test/z.test.ts", text: "/**\n * - Z2. A rule.\n */\n" };
  assert.match(definitionFaults([inTest]).join(), /Z2 is defined outside/);
});

test("links that do not resolve are reported", () => {
  const read = (path: string): string | null => (path === "docs/a.md" ? "# One & two\n" : null);
  const faults = (text: string): string => linkFaults({ path: "docs/x.md", text }, read).join("\n");
  assert.equal(faults("## Here\n[a](a.md) [b](a.md#one--two) [c](#here) [d](https://host/x)\n"), "");
  assert.match(faults("[a](b.md)"), /there is no b\.md/);
  assert.match(faults("[a](a.md#three)"), /no such heading/);
  assert.match(faults("[a](#there)"), /no such heading/);
});

test("a file that a comment names and that is not there is reported", () => {
  const exists = (path: string): boolean => ["src/core/order/edit.ts", "src/core/order/lines.ts"].includes(path);
  const faults = (comment: string): string =>
    fileFaults({ path: "src/core/order/edit.ts", text: comment }, exists).join();
  assert.equal(faults("/** Lines (lines.ts, core/order/lines.ts, order/lines.ts). */"), "");
  assert.match(faults("/**\n * Lines (goods/lines.ts).\n */"), /there is no goods\/lines\.ts/);
});
