/**
 * Tests the structure of ARCHITECTURE.md: which folder may import which, and what must not be in the tree. If a failure seems wrong, the
 * structure may have to change: change ARCHITECTURE.md first, then this test.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

/**
 * What the files of each room may import: a file, everything below a folder (`…/`), a package or a module. A file belongs to the
 * room of its longest matching folder.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  base: ["base/", "node:"],
  core: ["core/", "base/", "node:crypto"],
  store: ["store/", "core/", "base/", "node:fs", "node:os", "node:path"],
  "store/sqlite": ["store/", "core/", "base/", "node:"],
  "store/postgres": ["store/", "core/", "base/", "node:", "pg"],
  shop: ["shop/", "store/", "core/", "base/", "node:crypto"],
  storefront: ["storefront/", "core/", "base/", "node:crypto"],
  // The sandbox keeps its state in its own engine (D8).
  "storefront/sandbox": ["storefront/", "store/", "core/", "base/"],
  // What was sent to Shopify is stored with the shop.
  "storefront/shopify": ["storefront/", "shop/", "store/", "core/", "base/", "zod", "node:crypto"],
  // What was sent to Medusa is stored with the shop.
  "storefront/medusa": ["storefront/", "shop/", "store/", "core/", "base/", "zod"],
  // Where effects meet the storefront, and where what it holds comes into the shop: they know the port only.
  jobs: ["jobs/", "shop/", "store/", "storefront/storefront.ts", "storefront/pull.ts", "core/", "base/"],
  // Where events meet their receivers.
  webhooks: ["webhooks/", "jobs/runner.ts", "shop/", "store/", "core/", "base/", "node:"],
  documents: [
    "documents/",
    "threads/thread-pool.ts",
    "shop/",
    "store/",
    "core/",
    "base/",
    "node:",
    "pdfkit",
    "fontkit",
    "bidi-js",
  ],
  mail: ["mail/", "jobs/runner.ts", "shop/", "store/", "core/", "base/", "nodemailer"],
  requests: ["requests/", "shop/", "store/", "storefront/storefront.ts", "core/", "base/", "zod", "node:crypto"],
  operations: [
    "operations/",
    "requests/",
    "shop/",
    "store/",
    "storefront/storefront.ts",
    "core/",
    "base/",
    "zod",
    "node:crypto",
  ],
  http: ["http/", "operations/", "requests/", "core/", "base/", "store/store.ts", "zod", "hono/router/trie-router"],
  "http/node": ["http/", "operations/", "requests/", "core/", "base/", "store/store.ts", "node:", "@hono/node-server"],
  // What answers HTTP shares routes, bodies and the shape of a surface.
  mcp: [
    "mcp/",
    "http/",
    "operations/",
    "requests/",
    "core/",
    "base/",
    "store/store.ts",
    "zod",
    "@modelcontextprotocol/server",
  ],
  exchange: [
    "exchange/",
    "documents/",
    "operations/",
    "requests/",
    "shop/",
    "store/",
    "core/",
    "base/",
    "zod",
    "node:buffer",
  ],
  admin: [
    "admin/",
    "connect/consent.ts",
    "http/",
    "exchange/",
    "webhooks/",
    "documents/",
    "operations/",
    "requests/",
    "shop/",
    "store/",
    "storefront/",
    "core/",
    "base/",
    "zod",
    "node:",
  ],
  // How an assistant gets its tokens. A client's document is fetched as carefully as a webhook is sent.
  connect: [
    "connect/",
    "webhooks/addresses.ts",
    "webhooks/fetch-text.ts",
    "webhooks/names.ts",
    "http/",
    "requests/",
    "shop/",
    "store/",
    "core/",
    "base/",
    "zod",
    "node:crypto",
  ],
  people: [
    "people/",
    "http/",
    "operations/",
    "requests/",
    "shop/",
    "store/",
    "core/",
    "base/",
    "zod",
    "node:crypto",
    "@simplewebauthn/server",
  ],
  suppliers: [
    "suppliers/",
    "documents/documents.ts",
    "http/",
    "operations/",
    "requests/",
    "shop/",
    "store/",
    "core/",
    "base/",
    "zod",
    "node:crypto",
  ],
  demo: ["demo/", "admin/ask.ts", "core/", "base/"],
  // Worker threads that answer broad reads: they open a shop's file themselves.
  threads: [
    "threads/",
    "mcp/large-answers.ts",
    "http/metrics.ts",
    "operations/broad-queries.ts",
    "operations/registry.ts",
    "requests/",
    "store/",
    "base/",
    "node:",
  ],
  // A shop's data that comes back from a copy.
  copies: ["copies/", "admin/operation.ts", "exchange/", "jobs/", "shop/", "store/", "core/", "base/", "node:"],
  // The wiring: everything meets here.
  service: ["*"],
  cli: [
    "cli/",
    "service/",
    "copies/",
    "admin/",
    "http/routes.ts",
    "demo/",
    "documents/",
    "exchange/",
    "shop/",
    "core/",
    "base/",
    "store/",
    "node:",
    "zod",
  ],
};

/** The entry point, which belongs to no room. */
const isEntry = (path: string): boolean => !path.includes("/");

/** Files that may read the machine's clock and print. */
const touchesMachine = (path: string): boolean =>
  isEntry(path) || path.startsWith("service/") || ["base/time/system.ts", "cli/cli.ts"].includes(path);

/** They bind the program to one platform: only each other and the rooms that open them may import them. */
const adapterRooms: readonly string[] = ["store/sqlite", "store/postgres", "http/node"];
const openingRooms: readonly string[] = ["service", "threads", "copies", "cli"];

/** The room of a file or an import, or null for the wiring, a package or a folder that is no room. */
const roomOf = (path: string): string | null =>
  Object.keys(rooms)
    .filter((room) => path.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0] ?? null;

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
  allowed === "*" || allowed === target || target.startsWith(/[/:]$/.test(allowed) ? allowed : `${allowed}/`);

const resolved = (path: string, specifier: string): string =>
  specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier;

/** What is wrong with the imports of `src/<path>`, each with what to do about it. */
function importFaults(path: string, source: string): readonly string[] {
  if (isEntry(path)) return [];
  const room = roomOf(path);
  if (room === null)
    return [
      `src/${path}: belongs to no room. Put it into one, or give the new room a row in ARCHITECTURE.md and here.`,
    ];
  const allowed = rooms[room] ?? [];
  return imports(source).flatMap((specifier) => {
    const target = resolved(path, specifier);
    const targetRoom = roomOf(target) ?? "";
    const faults: string[] = [];
    if (!allowed.some((entry) => covers(entry, target)))
      faults.push(
        `src/${path}: imports ${target}, which ${room} may not. It may import ${allowed.join(", ")}. ` +
          "Pass in what it needs, or move the code to the room that may.",
      );
    if (adapterRooms.includes(targetRoom) && targetRoom !== room && !openingRooms.includes(room))
      faults.push(`src/${path}: imports the adapter ${target}. Import its port; the wiring passes the adapter in.`);
    if (specifier.startsWith(".") && !/\.(ts|json)$/.test(specifier))
      faults.push(`src/${path}: imports ${specifier} without its extension. Name the file.`);
    return faults;
  });
}

/** Rooms that import each other, directly or by way of others. A room and the folder it lies in count as two. */
function circles(files: readonly (readonly [path: string, source: string])[]): readonly string[] {
  const arrows = new Map<string, Set<string>>();
  for (const [path, source] of files) {
    const room = roomOf(path);
    if (room === null) continue;
    for (const specifier of imports(source)) {
      const target = roomOf(resolved(path, specifier));
      if (target === null || target === room) continue;
      arrows.set(room, (arrows.get(room) ?? new Set()).add(target));
    }
  }
  const reachable = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const next of arrows.get(from) ?? []) if (!seen.has(next)) reachable(next, seen.add(next));
    return seen;
  };
  return [...arrows.keys()]
    .filter((room) => reachable(room).has(room))
    .map((room) => `src/${room}: imports, by way of other rooms, itself. Imports point one way.`);
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
  if (!touchesMachine(path)) refuse(/\bconsole\.\w+\(/, "Use the logger that is passed in, or let the error travel.");
  if (!touchesMachine(path))
    refuse(/\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/, "Take a Clock or Ids as an argument.");
  if (!isEntry(path) && path !== "service/options.ts")
    refuse(/\bprocess\.env\b|\benv\b[^=;]*= process\b/, "Make it an option of service/options.ts.");
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

/** The first and the last cells of the rows of ARCHITECTURE.md's table of rooms. */
const roomRows = (): ReadonlyMap<string, string> =>
  new Map(
    [...textOf("ARCHITECTURE.md").matchAll(/^\| `([a-z/]+)\/` \| .* \| ([^|]+) \|$/gm)].map(
      ([, room = "", may = ""]) => [room, may],
    ),
  );

test("ARCHITECTURE.md has each room with what it may import, and AGENTS.md its folder", () => {
  const rows = roomRows();
  assert.deepEqual([...rows.keys()].toSorted(), Object.keys(rooms).toSorted());
  // A room may import itself; Node's modules are left to this file.
  const named = (entry: string): string => entry.replace(/^@?([\w-]+)\/.*$/, "$1");
  none(
    [...rows].flatMap(([room, may]) =>
      (rooms[room] ?? [])
        .filter((entry) => entry !== "*" && !entry.startsWith("node:") && !entry.startsWith(`${room}/`))
        .filter((entry) => !may.includes(named(entry)))
        .map((entry) => `ARCHITECTURE.md: the row of ${room} lacks ${entry}.`),
    ),
  );
  const guide = textOf("AGENTS.md");
  none(Object.keys(rooms).filter((room) => !room.includes("/") && !guide.includes(`\`src/${room}/`)));
});

test("rooms do not import each other in a cycle", () => {
  none(circles(sourceFiles.map((file) => [inSource(file), textOf(file)] as const)));
});

/** Rules that the console has, too: files that import nothing. */
const sharedRules = ["src/core/goods/codes.ts", "src/core/money/minor-units.ts"];

test("the console imports nothing of the server but two files of rules: it talks to it through the client alone", () => {
  for (const file of sharedRules) assert.deepEqual(imports(textOf(file)), [], file);
  const files = globSync("console/**/*.{ts,tsx}").filter(
    (file) => !["console/build.ts", "console/fonts/take.ts", "console/icons/take.ts"].includes(file),
  );
  assert.ok(files.length > 10);
  const faults = files.flatMap((file) =>
    imports(readFileSync(file, "utf8"))
      .filter((specifier) => {
        if (!specifier.startsWith(".")) return !/^(?:preact|@preact\/signals)(?:\/|$)/.test(specifier);
        const imported = normalize(join(dirname(file), specifier));
        return !sharedRules.includes(imported) && !/^(?:console|client)\//.test(imported);
      })
      .map(
        (specifier) =>
          `${file}: imports ${specifier}. The console may import console/, client/, ${sharedRules.join(", ")}, preact and @preact/signals.`,
      ),
  );
  assert.deepEqual(faults, []);
});

test("the code reads no clock or random source directly, prints nothing and evaluates no code", () => {
  none(sourceFiles.flatMap((file) => codeFaults(inSource(file), textOf(file))));
});

test("there are no barrels and no folders like utils", () => {
  const nameless = /(?:^|\/)(?:utils?|helpers?|common|misc|shared|lib)(?:\/|\.ts$)/;
  none(
    sourceFiles
      .filter((file) => file.endsWith("/index.ts") || nameless.test(file))
      .map((file) => `${file}: name the file for what it holds, and import that file.`),
  );
});

/** Folders of another size, with the number of their files and folders; migrations and declarations of packages do not count. */
const sizedOtherwise: Readonly<Record<string, number>> = {
  // Nouns of the rules that need no third file.
  "src/core/events": 2,
  // A sender and its protocol.
  "src/mail": 2,
  // The simulator is one program.
};

test("a folder holds 3 to 15 files that belong together", () => {
  const exclude = ["test/node_modules/**", "**/*.sql", "**/*.d.ts"];
  const files = ["{src,console}/**/*.*", "test/**/*.ts"].flatMap((pattern) => globSync(pattern, { exclude }));
  const within = new Map<string, Set<string>>();
  for (const file of files)
    for (let place = file; place.includes("/"); place = dirname(place))
      within.set(dirname(place), (within.get(dirname(place)) ?? new Set()).add(place));
  const filesIn = (members: ReadonlySet<string>): number => [...members].filter((name) => name.includes(".")).length;
  const sizes = [...within]
    // The tests of a noun are in its folder, however few.
    .filter(([folder, members]) => filesIn(members) > 15 || (members.size < 3 && !folder.startsWith("test/")))
    .map(([folder, members]) => [folder, members.size] as const);
  assert.deepEqual(Object.fromEntries(sizes), sizedOtherwise);
});

test("file names are kebab-case nouns", () => {
  none(
    [...sourceFiles, ...globSync("test/**/*.ts", { exclude: ["test/node_modules/**"] })]
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

test("no code has a mark of unfinished work", () => {
  // The brackets keep this line from matching itself.
  const marks = /\b(?:TOD[O]|FIXM[E]|XX[X])\b/;
  const files = [
    ...sourceFiles,
    ...globSync("{test,bench,examples}/**/*.ts", { exclude: ["test/node_modules/**"] }),
    ...globSync("src/**/*.sql"),
  ];
  none(
    files
      .filter((file) => marks.test(textOf(file)))
      .map((file) => `${file}: do it now, or write an issue and take the mark out.`),
  );
});

test("tests of the console do not wait with what its policy refuses", () => {
  // Playwright evaluates the text in the page from its second look on: the wait fails unless the first look finds it.
  const waits = /\.waitForFunctio[n]\(/;
  none(
    globSync("test/{console,http,support}/**/*.ts")
      .filter((file) => waits.test(textOf(file)))
      .map((file) => `${file}: wait with untilOnPage() of test/support/pages/console-shop.ts.`),
  );
});

// Tests of the checks themselves.

const faulty: readonly (readonly [string, string, RegExp])[] = [
  ["core/x.ts", 'import { z } from "zod";', /imports zod/],
  ["core/x.ts", 'import type {\n  Tx,\n} from "../store/store.ts";', /imports store\/store\.ts/],
  ["core/x.ts", 'export { a } from "../shop/catalogue.ts";', /imports shop\/catalogue\.ts/],
  ["core/x.ts", 'const a = await import("node:fs");', /imports node:fs/],
  ["core/x.ts", 'import "node:fs";', /imports node:fs/],
  ["shop/x.ts", 'import { a } from "../requests/perform.ts";', /imports requests/],
  ["shop/x.ts", 'import { a } from "../storefront/storefront.ts";', /imports storefront/],
  ["store/x.ts", 'import { a } from "../shop/catalogue.ts";', /imports shop/],
  ["operations/x.ts", 'import { a } from "../storefront/sandbox/sandbox.ts";', /imports storefront\/sandbox/],
  ["operations/x.ts", 'import { a } from "../store/sqlite/engine.ts";', /the adapter store\/sqlite\/engine\.ts/],
  ["store/postgres/x.ts", 'import { a } from "../sqlite/engine.ts";', /the adapter store\/sqlite/],
  ["operations/x.ts", 'import { a } from "hono/cors";', /imports hono\/cors/],
  ["http/x.ts", 'import { a } from "../shop/catalogue.ts";', /imports shop\/catalogue\.ts/],
  ["core/x.ts", 'import { a } from "./lines";', /without its extension/],
  ["attic/x.ts", "", /belongs to no room/],
];
for (const [path, source, fault] of faulty)
  test(`refused in src/${path}: ${JSON.stringify(source)}`, () => {
    assert.match(importFaults(path, source).join("\n"), fault);
  });

test("allowed imports are accepted", () => {
  const fine: readonly (readonly [string, string])[] = [
    ["core/x.ts", 'import { createHash } from "node:crypto";\nimport { a } from "./lines.ts";'],
    ["operations/x.ts", 'import { z } from "zod";\nimport type { S } from "../storefront/storefront.ts";'],
    ["http/x.ts", 'import { Fault } from "../base/fault.ts";'],
    ["store/sqlite/x.ts", 'import { DatabaseSync } from "node:sqlite";'],
    ["main.ts", 'import pino from "pino";'],
  ];
  for (const [path, source] of fine) none(importFaults(path, source));
});

test("a cycle of rooms is found", () => {
  const files = [
    ["shop/x.ts", 'import { a } from "../jobs/x.ts";'],
    ["jobs/x.ts", 'import { b } from "../shop/x.ts";'],
    ["core/x.ts", 'import { c } from "./y.ts";'],
  ] as const;
  assert.match(circles(files).join("\n"), /src\/shop: [^]*src\/jobs: /);
  none(circles(files.slice(1)));
});

test("code is searched, comments are not", () => {
  assert.match(codeFaults("core/x.ts", "const now = Date.now();").join(), /Take a Clock/);
  assert.match(codeFaults("http/x.ts", "console.log(1);").join(), /logger/);
  assert.match(codeFaults("core/x.ts", "eval(text);").join(), /eval/);
  none(codeFaults("core/x.ts", "/** Never `Date.now()`. */\n// console.log(1)\nconst a = 1;"));
  none(codeFaults("base/time/system.ts", "const now = Date.now();"));
});

/**
 * Where code beside the wiring and the engines themselves asks which engine is in use, by file. A count may only fall: what differs
 * between engines belongs behind the port.
 */
const engineQuestions: Readonly<Record<string, number>> = {
  "jobs/outbox/joined-steps.ts": 1,
  "jobs/outbox/lane.ts": 1,
  "requests/audit/audit-trail.ts": 1,
  "requests/audit/audit.ts": 1,
  "requests/caller.ts": 1,
  "requests/idempotency.ts": 3,
  "requests/perform.ts": 2,
  "shop/order/purchase-orders.ts": 2,
  "shop/restore.ts": 1,
  "storefront/medusa/on-hand.ts": 1,
  "threads/reader-thread.ts": 1,
};

/** An engine that is asked what it is, and what only one of them has. */
const asksForEngine = /\.embedded\b|\btx\.(?:cache|states)\b|\bkind === "(?:sqlite|postgres|files|database)"/g;

const questionsIn = (source: string): number => [...code(source).matchAll(asksForEngine)].length;

test("no further code asks which engine is in use", () => {
  const counted = sourceFiles
    .filter((file) => !/^src\/(?:store|service|cli)\//.test(file))
    .map((file) => [inSource(file), questionsIn(textOf(file))] as const)
    .filter(([, count]) => count > 0);
  assert.deepEqual(Object.fromEntries(counted), engineQuestions, "write a lower count here; a higher one has no place");
  assert.equal(questionsIn("if (engine.embedded) return tx.cache;\n// tx.states\n"), 2);
});
