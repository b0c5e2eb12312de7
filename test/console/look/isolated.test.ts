/** Names that run from right to left in the console's sentences, and who writes its numbers and days. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { dotted } from "../../../console/texts/isolated.ts";
import { languages } from "../../../console/texts/languages.ts";

/** Of a supplier, a product or a person. */
const name = "شركة القهوة";

/** What a text may take: one of these is what it takes, the others may have it throw. */
const partsTried: readonly unknown[] = [
  name,
  [name],
  { poNumber: name, title: name, name, hint: name },
  new Proxy({}, { get: () => name }),
];

type Said = (...parts: readonly unknown[]) => unknown;

const isSaid = (text: unknown): text is Said => typeof text === "function";

/** Every text below this one, by its path; null for one that takes nothing that was tried. */
function* saidIn(text: unknown, at: string): Generator<readonly [at: string, said: string | null]> {
  if (typeof text === "string") yield [at, text];
  else if (isSaid(text)) {
    let isTaken = false;
    for (const part of partsTried)
      try {
        const said = [...saidIn(text(...Array.from({ length: 8 }, () => part)), `${at}()`)];
        isTaken = true;
        yield* said;
      } catch {}
    if (!isTaken) yield [at, null];
  } else if (typeof text === "object" && text !== null)
    for (const [member, each] of Object.entries(text)) yield* saidIn(each, `${at}.${member}`);
}

for (const language of languages)
  test(`each text that takes a name isolates it, in the language ${language}`, async () => {
    const said: (readonly [string, string | null])[] = [];
    for (const file of globSync(`console/texts/${language}/**/*.ts`, { exclude: ["**/plural.ts"] }))
      said.push(...saidIn({ ...(await import(path.resolve(file))) }, path.basename(file)));
    assert.ok(said.filter(([, text]) => text?.includes(name) === true).length > 200);
    assert.deepEqual(
      said.filter(([, text]) => text?.replaceAll(`\u2068${name}\u2069`, "").includes(name) ?? true).map(([at]) => at),
      [],
    );
  });

test("facts beside each other are isolated, and what runs as the page does is left as it is", () => {
  assert.equal(dotted(["PO-7", null, name]), `PO-7 · \u2068${name}\u2069`);
  assert.equal(dotted(["Łódź", "250 g"]), "Łódź · 250 g");
});

test("numbers and days are written by the functions of data/format.ts alone, as the reader's country writes them", () => {
  const files = globSync("console/**/*.{ts,tsx}").filter((file) => file !== "console/data/format.ts");
  const faults = files.flatMap((file) =>
    [
      ...readFileSync(file, "utf8").matchAll(
        /Intl\.\w*Format\b|\.toLocale(?:Date|Time)?String|\.to(?:Date|UTC)String\b/g,
      ),
    ].map(([found]) => `${file}: ${found}`),
  );
  assert.deepEqual(faults, []);
});
