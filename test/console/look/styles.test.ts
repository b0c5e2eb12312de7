/** The console's style sheets: one page of tokens, and no rule that reaches into what another part shows. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { iconNames } from "../../../console/icons/names.ts";
import { noticePage } from "../../../src/suppliers/page.ts";

const sheets = globSync("console/styles/**/*.css").toSorted();

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

/** Whatever is no token: colours, typefaces, sizes of type, corners, shadows, times of motion, and the space within and between. */
const ownLooks: readonly RegExp[] = [
  /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/i,
  /\bfont-family:(?! var)/,
  /\bfont-size: (?!var|inherit)|\bfont:[^;]*\d(?:rem|px)/,
  /\bborder-(?:\w+-){0,2}radius: (?!var|0(?:;|\s|$))/,
  /\bbox-shadow: (?!var|none)/,
  /\b(?:animation|transition)[\w-]*:[^;]*\d(?:ms|s)\b/,
  /(?<!scroll-)\b(?:gap|padding|margin)[\w-]*: [^;]*\drem/,
];

const hasOwnLook = ({ body }: Rule): boolean => ownLooks.some((each) => each.test(body));

/** Sheets of what every screen is made of: tokens, elements, the frame and the kit. */
const isOfKit = (file: string): boolean => /\/(?:tokens|elements|frame|find|kit|parts\/[\w-]+)\.css$/.test(file);

/** A text in pieces, cut at these signs where they stand in no brackets. */
function cut(text: string, signs: string): readonly string[] {
  const pieces = [""];
  let depth = 0;
  for (const sign of text) {
    if (sign === "(" || sign === "[") depth += 1;
    if (sign === ")" || sign === "]") depth -= 1;
    if (depth === 0 && signs.includes(sign)) pieces.push("");
    else pieces[pieces.length - 1] += sign;
  }
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== "");
}

/** The classes of the element with which each of a rule's selectors begins. */
const leads = (selector: string): readonly (readonly string[])[] =>
  cut(selector, ",").flatMap((whole) => {
    const [first = ""] = cut(whole, " >+~");
    const { inner, rest } = /^:(?:is|where)\((?<inner>.*?)\)(?<rest>.*)$/.exec(first)?.groups ?? {};
    if (inner !== undefined) return cut(inner, ",").flatMap((each) => leads(each + (rest ?? "")));
    return [[...first.replaceAll(/\(.*\)/g, "").matchAll(/\.([a-z][\w-]*)/g)].map(([, name = ""]) => name)];
  });

/** The sheets of the kit are one. */
const sheetOf = (file: string): string => (isOfKit(file) ? "the kit" : file);

/** The sheets in which a rule begins with a class that stands alone. */
function homesOf(all: readonly Rule[]): ReadonlyMap<string, ReadonlySet<string>> {
  const homes = new Map<string, Set<string>>();
  for (const { file, selector } of all)
    for (const [name, ...others] of leads(selector))
      if (name !== undefined && others.length === 0) homes.set(name, (homes.get(name) ?? new Set()).add(sheetOf(file)));
  return homes;
}

/**
 * A rule that reaches into another part: it begins with a class that is at home in another sheet, or, in a screen's sheet,
 * with none; or it means whatever stands in the page, or in a part after anything.
 */
const reaching =
  (homes: ReadonlyMap<string, ReadonlySet<string>>) =>
  ({ file, selector }: Rule): boolean => {
    if (/^(?:from|to|\d+%|@.*)$/.test(selector)) return false;
    if (/(?:^|,\s*)(?:main|body) |\* \+ \*/.test(selector)) return true;
    const isForeign = (name: string): boolean => [...(homes.get(name) ?? [])].some((home) => home !== sheetOf(file));
    return leads(selector).some((names) => (names.length > 0 ? names.every(isForeign) : !isOfKit(file)));
  };

test("every look is of the page of tokens", () => {
  assert.ok(rules.length > 300);
  const faults = rules.filter((rule) => !rule.file.endsWith("/tokens.css") && hasOwnLook(rule));
  assert.deepEqual(
    faults.map(({ file, selector }) => `${file}: ${selector}`),
    [],
  );
});

test("a look that is no token is found", () => {
  for (const look of [
    "color: #123",
    "font-family: serif",
    "font-size: 0.6875rem",
    "font: 500 11px / 1.5 var(--font)",
    "border-radius: 50%",
    "border-start-end-radius: 4px",
    "box-shadow: 0 1px 2px var(--ink)",
    "animation: breathe 1.4s infinite",
    "transition-duration: 120ms",
    "margin-inline: auto 0.4rem",
    "column-gap: 0.125rem",
  ])
    assert.ok(rulesOf("x", `a { ${look} }`).every(hasOwnLook), look);
  for (const look of ["border-radius: 0", "font: inherit", "box-shadow: none", "scroll-margin: 4rem", "padding: 1px"])
    assert.ok(!rulesOf("x", `a { ${look} }`).some(hasOwnLook), look);
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
    rules.filter(reaching(homesOf(rules))).map(({ file, selector }) => `${file}: ${selector}`),
    [],
  );
});

test("a rule that reaches into another part is found", () => {
  const planted = (text: string): readonly Rule[] => rulesOf("console/styles/receive.css", text);
  const found = (text: string): number => {
    const all = [...rules, ...planted(text)];
    return all.filter(reaching(homesOf(all))).filter((rule) => rule.body.includes("red")).length;
  };
  for (const selector of [
    "main button",
    ".scan-panel > * + *",
    ".problem button",
    ".count-bar button, .problem button",
    ":is(.count-bar, .rows) .chip",
    ".tasks a",
    "h2",
    ".rows:not(.count-bar) td",
    ".problem",
  ])
    assert.ok(found(`${selector} { color: red }`) > 0, selector);
  for (const selector of [".count-bar .problem button", ".dialog.counting", "button.over", "li.wanted > .chip"])
    assert.equal(found(`${selector} { color: red }`), 0, selector);
});

/** The classes that a source names in its elements. */
const namedIn = (source: string): readonly string[] =>
  [...source.matchAll(/\bclass=(?:"([^"]*)"|\{([^}]*(?:\$\{[^}]*\}[^}]*)*)\})/g)].flatMap(
    ([, plain, computed = ""]) => {
      const texts =
        plain === undefined ? [...computed.matchAll(/["`]([^"`]*)["`]/g)].map(([, text = ""]) => text) : [plain];
      return texts.flatMap((text) => text.split(/\s+|\$\{[^}]*\}?/)).filter((name) => /^[a-z][\w-]*$/.test(name));
    },
  );

test("what the kit is made of has its look in the sheets of the kit", () => {
  const named = new Set(
    globSync("console/{kit,parts}/**/*.tsx").flatMap((file) => namedIn(readFileSync(file, "utf8"))),
  );
  assert.ok(named.size > 80, String(named.size));
  const foreign = [...homesOf(rules)].filter(([name, homes]) => named.has(name) && !homes.has("the kit"));
  assert.deepEqual(
    foreign.map(([name, homes]) => `${name}: ${[...homes].join(", ")}`),
    [],
  );
});

test("no part of the console has a look of its own, but the heights of rows that are not drawn", () => {
  const styled = globSync("console/**/*.tsx").filter((file) => /\bstyle=/.test(readFileSync(file, "utf8")));
  assert.deepEqual(styled.toSorted(), ["console/parts/lists/row-chunks.tsx", "console/reorder/grid.tsx"]);
});

/** Parts that the kit does not show by themselves, and why. */
const notInKit: Readonly<Record<string, string>> = {
  "frame/find.tsx": "a dialog of the frame, in which the kit stands: Ctrl K opens it there",
  "frame/language-field.tsx": "in the person's menu of the frame",
  "frame/shell.tsx": "the frame",
  "lazy.tsx": "a skeleton, a part or a problem",
  "lists/record-bar.tsx": "a list bar with the fields that the kit shows",
  "lists/row-chunks.tsx": "the rows of its tables",
  "lists/summary.tsx": "a notice, with the rows that were refused",
  "lists/tick-bar.tsx": "a bar in the place of a list bar, while rows are ticked",
  "owner-only.tsx": "what is empty, with the person's role",
};

test("the kit shows every part", () => {
  const kit = globSync("console/kit/*.tsx").map((file) => readFileSync(file, "utf8"));
  const shown = new Set(
    kit.flatMap((text) => [...text.matchAll(/"\.\.\/parts\/([^"]+\.tsx)"/g)].map(([, name]) => name)),
  );
  const parts = globSync("**/*.tsx", { cwd: "console/parts" });
  assert.ok(parts.length > 30);
  assert.deepEqual(parts.filter((name) => !shown.has(name)).toSorted(), Object.keys(notInKit));
});
