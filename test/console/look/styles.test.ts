/** The console's style sheets: one page of tokens, and no rule that reaches into what another part shows. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { iconNames } from "../../../console/icons/names.ts";
import { noticePage } from "../../../src/suppliers/page.ts";

const sheets = globSync("console/styles/*.css").toSorted();

interface Rule {
  readonly file: string;
  readonly selector: string;
  readonly body: string;
}

/** Rules without a rule in them. */
const rulesOf = (file: string, text: string): readonly Rule[] =>
  [...text.replaceAll(/\/\*[^]*?\*\//g, "").matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = "", body = ""]) => ({
    file,
    selector: selector.trim(),
    body,
  }));

const rules = sheets.flatMap((file) => rulesOf(file, readFileSync(file, "utf8")));

/** Colours that are no token, and typefaces. */
const hasOwnLook = ({ body }: Rule): boolean =>
  /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(|font-family:(?! var)/i.test(body);

/** Whatever stands in the page, or in a part after anything, is meant. */
const reaches = ({ selector }: Rule): boolean => /(?:^|,\s*)(?:main|body) |\* \+ \*/.test(selector);

test("colours and typefaces are in the page of tokens alone", () => {
  assert.ok(rules.length > 300);
  const faults = rules.filter((rule) => !rule.file.endsWith("/tokens.css") && hasOwnLook(rule));
  assert.deepEqual(
    faults.map(({ file, selector }) => `${file}: ${selector}`),
    [],
  );
  assert.ok(rulesOf("x", "a { color: #123 }").every(hasOwnLook));
});

test("the supplier's page has the colours of the console", () => {
  const tokens = readFileSync("console/styles/tokens.css", "utf8");
  const pairs = [...tokens.matchAll(/light-dark\((#\w+), (#\w+)\)/g)].map(([, light = "", dark = ""]) => light + dark);
  const long = (colour: string): string => colour.replace(/^#(\w)(\w)(\w)$/, "#$1$1$2$2$3$3");
  const [light = [], dark = []] = [...noticePage("en", "ended").matchAll(/:root \{[^}]*\}/g)].map(([rule]) =>
    [...rule.matchAll(/(--[\w-]+): (#\w+)/g)].map(([, name = "", colour = ""]) => ({ name, colour: long(colour) })),
  );
  assert.ok(light.length > 10);
  assert.deepEqual(
    light.filter(({ colour }, nth) => !pairs.includes(colour + (dark[nth]?.colour ?? ""))),
    [],
  );
});

test("every icon that pages carry is shown somewhere", () => {
  const sources = globSync("console/**/*.{ts,tsx}").filter((file) => file !== "console/icons/names.ts");
  const text = sources.map((file) => readFileSync(file, "utf8")).join("\n");
  const symbols = [...readFileSync("console/icons/icons.svg", "utf8").matchAll(/id="icon-([\w-]+)"/g)];
  assert.deepEqual(
    symbols.map(([, name]) => name),
    [...iconNames],
  );
  assert.deepEqual(
    iconNames.filter((name) => !text.includes(`"${name}"`)),
    [],
  );
});

test("no rule reaches into another part", () => {
  assert.deepEqual(
    rules.filter(reaches).map(({ file, selector }) => `${file}: ${selector}`),
    [],
  );
  assert.ok(rulesOf("x", "main button { color: red } .does > * + * { margin: 0 }").every(reaches));
});

test("no part of the console has a look of its own, but the heights of rows that are not drawn", () => {
  const styled = globSync("console/**/*.tsx").filter((file) => /\bstyle=/.test(readFileSync(file, "utf8")));
  assert.deepEqual(styled.toSorted(), ["console/parts/lists/row-chunks.tsx", "console/reorder/grid.tsx"]);
});
