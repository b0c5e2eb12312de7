/**
 * What a file shows to others: nothing that no other file uses, and nothing of the ports or of core/ without a word on what it is. A function that
 * two files need stands in one of them.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

/** Every export of these carries a docstring: the rules, and the ports that adapters implement. */
const documented: readonly RegExp[] = [
  /^src\/core\//,
  /^src\/store\/store\.ts$/,
  /^src\/storefront\/storefront\.ts$/,
  /^src\/requests\/operation\.ts$/,
];

/**
 * What a source with a planted fault imports, and texts that the console's build takes in place of the English ones.
 */
const usedOtherwise = /^test\/faults\/planted\.ts$|^console\/texts\/(?!en\/)[a-z]{2}\//;

interface Export {
  readonly name: string;
  readonly hasDocstring: boolean;
}

/** What a source file exports by a declaration. A comment just above the declaration is its docstring. */
function exportsOf(source: string): readonly Export[] {
  const declaration =
    /(?<docstring>\*\/\n)?^export (?:async )?(?:const|function\*?|interface|type|class) (?<name>\w+)/gm;
  return [...source.matchAll(declaration)].map(({ groups }) => ({
    name: groups?.["name"] ?? "",
    hasDocstring: groups?.["docstring"] !== undefined,
  }));
}

/** What a source file imports by name from its neighbours, as `file name` with the file's path from the root. */
function importsOf(file: string, source: string): readonly string[] {
  const statements = [
    /^(?:import|export)\s+(?:type\s+)?\{(?<names>[^}]*)\}\s+from\s+"(?<from>\.[^"]+)"/gm,
    /\bconst \{(?<names>[^}]*)\} = await import\("(?<from>\.[^"]+)"\)/g,
    /\(await import\("(?<from>\.[^"]+)"\)\)\.(?<names>\w+)/g,
  ];
  const found = statements.flatMap((statement) => [...source.matchAll(statement)]);
  return found.flatMap(({ groups }) => {
    const target = path.normalize(path.join(path.dirname(file), groups?.["from"] ?? ""));
    return (groups?.["names"] ?? "")
      .split(",")
      .map((name) =>
        name
          .trim()
          .replace(/^type\s+/, "")
          .replace(/\s+as\s.*$/, ""),
      )
      .filter((name) => name !== "")
      .map((name) => `${target} ${name}`);
  });
}

/** What is wrong with the exports of these files, each with what to do about it. */
function exportFaults(files: ReadonlyMap<string, string>): readonly string[] {
  const used = new Set([...files].flatMap(([file, source]) => importsOf(file, source)));
  return (
    [...files]
      // The console's rules on codes are a copy of the service's, with what only that shows (test/catalogue/codes.test.ts).
      .filter(([file]) => /^(?:src|console|test)\//.test(file) && !usedOtherwise.test(file))
      .flatMap(([file, source]) =>
        exportsOf(source).flatMap(({ name, hasDocstring }) => [
          ...(used.has(`${file} ${name}`)
            ? []
            : [`${file}: no other file uses ${name}. Take its \`export\` away, or the whole of it.`]),
          ...(hasDocstring || !documented.some((pattern) => pattern.test(file))
            ? []
            : [`${file}: ${name} has no docstring. Say what it is, in what unit, and where the rule comes from.`]),
        ]),
      )
  );
}

const read = (pattern: string): readonly (readonly [string, string])[] =>
  globSync(pattern, { exclude: ["test/node_modules/**"] })
    .sort()
    .map((file) => [file, readFileSync(file, "utf8")] as const);

test("what is exported is used by another file, and core and the ports say what they export", () => {
  const files = new Map(["{src,test,bench,examples,client,console}/**/*.{ts,tsx}", "*.ts"].flatMap(read));
  assert.ok(files.size > 0);
  const faults = exportFaults(files);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
});

test("an export without use and one without a docstring are seen", () => {
  const files = new Map([
    [
      "src/core/a.ts",
      "/** Used. */\nexport const used = 1;\nexport const bare = 2;\n\n/** Idle. */\nexport type Idle = 1;\n",
    ],
    [
      "src/shop/b.ts",
      'import {\n  type Idle as Other,\n  used,\n} from "../core/a.ts";\n\nexport const plain = used;\n',
    ],
    ["test/c.test.ts", 'import { plain } from "../src/shop/b.ts";\n'],
  ]);
  const faults = exportFaults(files).join("\n");
  assert.match(faults, /no other file uses bare/);
  assert.match(faults, /bare has no docstring/);
  assert.doesNotMatch(faults, /used has|uses used|Idle|plain/);
});

/** Functions outside others with their bodies, as one line without their names and comments. Short ones are no twins. */
function functionsOf(source: string): readonly (readonly [name: string, body: string])[] {
  const text = source.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const declared =
    /^(?:export )?(?:async )?function\*? (\w+)[^]*?\n\}\n|^(?:export )?const (\w+) = (?:async )?(?:<[^>]*>)?\([^]*?;\n(?=\n*\S)/gm;
  return [...`${text}\nend`.matchAll(declared)]
    .map(([whole, ofFunction, ofConst]) => {
      const name = ofFunction ?? ofConst ?? "";
      const body = whole.replace(new RegExp(`\\b${name}\\b`), "").replace(/^export /, "");
      return [name, body.replaceAll(/\s+/g, " ").trim()] as const;
    })
    .filter(([, body]) => body.length > 70);
}

test("no function stands in two files", () => {
  const files = read("src/**/*.ts");
  const found = files.flatMap(([file, source]) =>
    functionsOf(source).map(([name, body]) => ({ at: `${file} ${name}`, body })),
  );
  assert.ok(found.length > 2_000, String(found.length));
  const twins = [...Map.groupBy(found, ({ body }) => body).values()].filter((each) => each.length > 1);
  assert.deepEqual(
    twins.map((each) => each.map(({ at }) => at)),
    [],
  );
  const one =
    "const total = (count: number): string => (count === 1 ? `${count} line of an order` : `${count} lines`);\n";
  const again = `/** B. */\nexport ${one.replace("total", "sum")}`;
  assert.equal(functionsOf(one)[0]?.[1], functionsOf(again)[0]?.[1]);
});
