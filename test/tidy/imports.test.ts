/**
 * The structure of ARCHITECTURE.md as a test: who may import whom, and what must not be found in the tree. When a failure seems
 * wrong, the design is asking a question: answer it in ARCHITECTURE.md first, then here.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

/** What the files of each room may import: a file, everything below a folder (`…/`), a package or a module. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  core: ["core/", "node:crypto"],
  shop: ["shop/", "core/", "node:crypto"],
  storefront: ["storefront/", "core/"],
  operations: ["operations/", "shop/", "storefront/storefront.ts", "core/", "zod", "node:crypto"],
  http: ["http/", "operations/", "core/fault.ts", "core/json.ts", "core/idempotency.ts", "shop/shop.ts", "zod", "hono"],
  // A tool call is the REST request it stands for, so the routes are read here too.
  mcp: [
    "mcp/",
    "http/routes.ts",
    "operations/",
    "core/fault.ts",
    "core/json.ts",
    "core/idempotency.ts",
    "core/lifecycle.ts",
    "shop/shop.ts",
    "zod",
    "@modelcontextprotocol/server",
  ],
  cli: [
    "cli/",
    "admin/",
    "core/fault.ts",
    "config.ts",
    "open-store.ts",
    "data-directory.ts",
    "database.ts",
    "serve.ts",
    "node:",
  ],
  admin: ["admin/", "operations/", "shop/", "storefront/", "core/", "zod", "csv-parse", "node:"],
};

/** Files that may import more than their room. */
const beyond: Readonly<Record<string, readonly string[]>> = {
  "config.ts": ["zod", "node:"],
  // The outbox is where effects meet the storefront; it knows the port only.
  "shop/outbox.ts": ["storefront/storefront.ts"],
  "shop/effect-work.ts": ["storefront/storefront.ts"],
  // The sandbox keeps its state in an engine of its own (D8).
  "storefront/sandbox.ts": ["shop/shop.ts"],
  "shop/sqlite.ts": ["node:"],
  "shop/sqlite-file.ts": ["node:"],
  "shop/sqlite-schema.ts": ["node:"],
  "shop/migrations.ts": ["node:"],
  "shop/postgres-connection.ts": ["pg"],
  "shop/postgres-schema.ts": ["node:"],
  "shop/system.ts": ["node:"],
  "http/server.ts": ["node:", "@hono/node-server"],
  "http/reference-bundle.ts": ["node:"],
};

/** They wire the others together and may import anything. */
const wiring: ReadonlySet<string> = new Set([
  "main.ts",
  "serve.ts",
  "cli.ts",
  "open-store.ts",
  "data-directory.ts",
  "database.ts",
]);

/** They bind the program to one platform: only the wiring and each other may import them. */
const adapters: ReadonlySet<string> = new Set([
  "shop/sqlite.ts",
  "shop/sqlite-file.ts",
  "shop/sqlite-schema.ts",
  "shop/migrations.ts",
  "shop/postgres.ts",
  "shop/postgres-connection.ts",
  "shop/postgres-coordination.ts",
  "shop/postgres-schema.ts",
  "shop/system.ts",
  "http/server.ts",
  "http/reference-bundle.ts",
]);

/** They alone may read the time or draw lots; everyone else is handed a clock and an id source. */
const sources: ReadonlySet<string> = new Set(["shop/system.ts", ...wiring]);

/** What a file imports, as written. */
function imports(source: string): readonly string[] {
  const statements = [
    /^(?:import|export)\s[^;"]*?\bfrom\s+"([^"]+)"/gm,
    /^import\s+"([^"]+)"/gm,
    /\bimport\(\s*["'`]([^"'`]+)/g,
    /\brequire\(\s*["'`]([^"'`]+)/g,
  ];
  return statements.flatMap((statement) => [...source.matchAll(statement)].map((match) => match[1] ?? ""));
}

const covers = (allowed: string, target: string): boolean =>
  allowed === target || (/[/:]$/.test(allowed) ? target.startsWith(allowed) : target.startsWith(`${allowed}/`));

/** What is wrong with the imports of `src/<path>`, each with what to do about it. */
function importFaults(path: string, source: string): readonly string[] {
  if (wiring.has(path)) return [];
  const room = path.includes("/") ? path.slice(0, path.indexOf("/")) : null;
  const allowed = [...(room === null ? [] : (rooms[room] ?? [])), ...(beyond[path] ?? [])];
  if (allowed.length === 0)
    return [
      `src/${path}: belongs to no room. Put it into one, or give the new room a row in ARCHITECTURE.md and here.`,
    ];
  return imports(source).flatMap((specifier) => {
    const target = specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier;
    const faults: string[] = [];
    if (!allowed.some((entry) => covers(entry, target)))
      faults.push(
        `src/${path}: imports ${target}, which ${room ?? "it"} may not. It may import ${allowed.join(", ")}. ` +
          "Pass in what it needs, or move the code to the room that may.",
      );
    if (adapters.has(target) && !adapters.has(path))
      faults.push(`src/${path}: imports the adapter ${target}. Import its port; main.ts wires the adapter in.`);
    if (specifier.startsWith(".") && !/\.(ts|json)$/.test(specifier))
      faults.push(`src/${path}: imports ${specifier} without its extension. Name the file.`);
    return faults;
  });
}

/** Source without comments: rules about code are not about prose. */
const code = (source: string): string => source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");

/** What must not be found in the code of `src/<path>`. */
function codeFaults(path: string, source: string): readonly string[] {
  const text = code(source);
  const faults: string[] = [];
  const refuse = (pattern: RegExp, advice: string): void => {
    const found = pattern.exec(text);
    if (found !== null) faults.push(`src/${path}: ${found[0]} found. ${advice}`);
  };
  if (!wiring.has(path)) refuse(/\bconsole\.\w+\(/, "Use the logger that is passed in, or let the error travel.");
  if (!sources.has(path))
    refuse(/\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/, "Take a Clock or Ids as an argument.");
  refuse(/\beval\(|\bnew Function\(/, "Not every platform has it, and none needs it.");
  return faults;
}

const sourceFiles = globSync("src/**/*.ts").sort();
const inSource = (file: string): string => file.slice("src/".length);
const textOf = (file: string): string => readFileSync(file, "utf8");

const none = (faults: readonly string[]): void => {
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
};

test("every file imports only what its room may", () => {
  assert.ok(sourceFiles.length > 0);
  none(sourceFiles.flatMap((file) => importFaults(inSource(file), textOf(file))));
});

test("time and chance come from outside, nothing prints, nothing is evaluated", () => {
  none(sourceFiles.flatMap((file) => codeFaults(inSource(file), textOf(file))));
});

test("there are no barrels and no folders for what has no name", () => {
  const nameless = /(?:^|\/)(?:utils?|helpers?|common|misc|shared|lib)(?:\/|\.ts$)/;
  none(
    sourceFiles
      .filter((file) => file.endsWith("/index.ts") || nameless.test(file))
      .map((file) => `${file}: name the file for what it holds, and import that file.`),
  );
});

test("file names are kebab-case nouns", () => {
  none(
    [...sourceFiles, ...globSync("test/**/*.ts")]
      .filter((file) => !/^[a-z0-9/.-]+$/.test(file))
      .map((file) => `${file}: write its name in kebab-case.`),
  );
});

test("migrations of a schema are numbered from 0001 without a gap", () => {
  const schemas = Map.groupBy(globSync("src/**/*.sql").sort(), (file) => dirname(file));
  assert.ok(schemas.size > 0);
  none(
    [...schemas.values()].flatMap((files) =>
      files.flatMap((file, index) => {
        const expected = `${String(index + 1).padStart(4, "0")}.sql`;
        return file.endsWith(`/${expected}`)
          ? []
          : [
              `${file}: expected ${expected} here. Number migrations in order; never rename or edit one that was released.`,
            ];
      }),
    ),
  );
});

test("nothing is left to do", () => {
  // Written so that this line is not one of them.
  const marks = /\b(?:TOD[O]|FIXM[E]|XX[X])\b/;
  const files = [...sourceFiles, ...globSync("{test,bench,examples}/**/*.ts"), ...globSync("src/**/*.sql")];
  none(
    files
      .filter((file) => marks.test(textOf(file)))
      .map((file) => `${file}: do it now, or write an issue and take the mark out.`),
  );
});

// The checks themselves: each must see what it is there to see.

const faulty: readonly (readonly [string, string, RegExp])[] = [
  ["core/x.ts", 'import { z } from "zod";', /imports zod/],
  ["core/x.ts", 'import type {\n  Tx,\n} from "../shop/shop.ts";', /imports shop\/shop\.ts/],
  ["core/x.ts", 'export { a } from "../shop/rows.ts";', /imports shop\/rows\.ts/],
  ["core/x.ts", 'const a = await import("node:fs");', /imports node:fs/],
  ["core/x.ts", 'import "node:fs";', /imports node:fs/],
  ["shop/x.ts", 'import { a } from "../operations/perform.ts";', /imports operations/],
  ["shop/x.ts", 'import { a } from "../storefront/storefront.ts";', /imports storefront/],
  ["operations/x.ts", 'import { a } from "../storefront/sandbox.ts";', /imports storefront\/sandbox\.ts/],
  ["operations/x.ts", 'import { a } from "../shop/sqlite.ts";', /the adapter shop\/sqlite\.ts/],
  ["operations/x.ts", 'import { a } from "hono/cors";', /imports hono\/cors/],
  ["http/x.ts", 'import { a } from "../core/lines.ts";', /imports core\/lines\.ts/],
  ["http/x.ts", 'import { a } from "../shop/rows.ts";', /imports shop\/rows\.ts/],
  ["core/x.ts", 'import { a } from "./lines";', /without its extension/],
  ["attic/x.ts", "", /belongs to no room/],
  ["stray.ts", "", /belongs to no room/],
];
for (const [path, source, fault] of faulty)
  test(`refused in src/${path}: ${JSON.stringify(source)}`, () => {
    assert.match(importFaults(path, source).join("\n"), fault);
  });

test("what the rooms may import is accepted", () => {
  const fine: readonly (readonly [string, string])[] = [
    ["core/x.ts", 'import { createHash } from "node:crypto";\nimport { a } from "./lines.ts";'],
    ["operations/x.ts", 'import { z } from "zod";\nimport type { S } from "../storefront/storefront.ts";'],
    ["http/x.ts", 'import { cors } from "hono/cors";\nimport { Fault } from "../core/fault.ts";'],
    ["shop/sqlite.ts", 'import { DatabaseSync } from "node:sqlite";'],
    ["main.ts", 'import pino from "pino";'],
  ];
  for (const [path, source] of fine) none(importFaults(path, source));
});

test("code is searched, prose is not", () => {
  assert.match(codeFaults("core/x.ts", "const now = Date.now();").join(), /Take a Clock/);
  assert.match(codeFaults("http/x.ts", "console.log(1);").join(), /logger/);
  assert.match(codeFaults("core/x.ts", "eval(text);").join(), /eval/);
  none(codeFaults("core/x.ts", "/** Never `Date.now()`. */\n// console.log(1)\nconst a = 1;"));
  none(codeFaults("shop/system.ts", "const now = Date.now();"));
});
