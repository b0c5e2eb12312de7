/** Languages of the console: no text has fewer than all of them, and nothing that a person reads stands elsewhere. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { fieldName } from "../../../console/data/format.ts";
import { languageNames, languages, type ServiceTexts } from "../../../console/texts/languages.ts";
import { faultCodes } from "../../../src/base/fault.ts";
import { languages as offered } from "../../../src/base/text/language.ts";
import { consoleWords } from "../../../src/core/access/console-words.ts";
import { columnIds } from "../../../src/core/forecast/forecast.ts";
import { warningReasons } from "../../../src/core/order/advice/warnings.ts";
import { storedHeaderFields, storedLineFields } from "../../../src/core/order/purchase-order-fields.ts";
import { lineItemStatuses, statuses } from "../../../src/core/order/purchase-order.ts";
import { supplierRecordFields, variantFields } from "../../../src/shop/catalogue/catalogue.ts";

const folder = path.join(import.meta.dirname, "../../../console");
const filesIn = (language: string): readonly string[] =>
  globSync("**/*.ts", { cwd: path.join(folder, "texts", language) }).sort();

/** The texts of a language by where they are; a function is what it says of names and counts. */
async function textsIn(language: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const walk = (value: unknown, at: string): void => {
    if (typeof value === "string") found.set(at, value);
    else if (typeof value === "function") found.set(at, "function");
    else if (typeof value === "object" && value !== null)
      for (const [name, each] of Object.entries(value)) walk(each, `${at}.${name}`);
  };
  for (const file of filesIn(language)) {
    const module: object = await import(path.join(folder, "texts", language, file));
    for (const [name, value] of Object.entries(module)) if (typeof value === "object") walk(value, `${file} ${name}`);
  }
  return found;
}

test("the console is built in the languages that the service offers, each with its name", () => {
  assert.deepEqual(languages, offered);
  assert.deepEqual(Object.keys(languageNames), [...languages]);
});

test("every text is there in every language, and hardly one is the English one", async () => {
  const english = await textsIn("en");
  assert.ok(english.size > 1_000, String(english.size));
  for (const language of languages.slice(1)) {
    const texts = await textsIn(language);
    for (const [at, text] of english) {
      const other = texts.get(at);
      assert.ok(other !== undefined && (other !== "" || text === ""), `${language}: ${at}`);
    }
    const words = [...english].filter(([, text]) => /[a-z]{3} [a-z]{2}/i.test(text));
    const same = words.filter(([at, text]) => texts.get(at) === text).map(([at, text]) => `${at}: ${text}`);
    assert.ok(same.length < words.length / 50, `${language}:\n${same.join("\n")}`);
  }
});

test("in other languages there are words for each code of the service, and for each status", async () => {
  const states = [...statuses, ...lineItemStatuses];
  for (const language of languages.slice(1)) {
    const { serviceTexts }: { readonly serviceTexts: ServiceTexts } = await import(
      path.join(folder, "texts", language, "service.ts")
    );
    for (const [names, wanted] of [
      [serviceTexts.problems, Object.keys(faultCodes)],
      [serviceTexts.warnings, warningReasons],
      [serviceTexts.fields, columnIds],
      [serviceTexts.states, states],
    ] as const)
      assert.deepEqual(
        wanted.filter((name) => names[name] === undefined),
        [],
        language,
      );
  }
});

test("every field that an order, a line, a supplier or a product has is named in a person's words", async () => {
  const names = [storedHeaderFields, storedLineFields, supplierRecordFields, variantFields]
    .flatMap((fields) => Object.keys(fields))
    .filter((name) => !/Ms$|^version$|^(?:purchaseOrder|poLineItem)Id$/.test(name));
  assert.ok(names.length > 60);
  // A name that is spelled apart is no words where it is shortened.
  const shortened = /\b(?:po|fx|sku|moq|ids?|url|is|code)\b|\d/i;
  const unnamed = names.filter(
    (name) => !/ ID$|^(?:SKU|Supplier's SKU)$/.test(fieldName(name)) && shortened.test(fieldName(name)),
  );
  assert.deepEqual(unnamed, []);
  for (const language of languages.slice(1)) {
    const { serviceTexts }: { readonly serviceTexts: ServiceTexts } = await import(
      path.join(folder, "texts", language, "service.ts")
    );
    assert.deepEqual(
      names.filter((name) => serviceTexts.fields[name] === undefined),
      [],
      language,
    );
  }
});

test("in all languages it is said why a request was refused", async () => {
  for (const language of languages) {
    const { refusals }: { readonly refusals: Readonly<Record<string, string>> } = await import(
      path.join(folder, "texts", language, "refusals.ts")
    );
    assert.deepEqual(
      Object.keys(faultCodes).filter((code) => refusals[code] === undefined),
      [],
      language,
    );
  }
});

test("mails name places, statuses and requests as the console does", async () => {
  for (const language of languages) {
    const { approvals, statuses: named, requests } = consoleWords[language];
    assert.equal((await textsIn(language)).get("texts.ts texts.navigation.places.approvals"), approvals);
    const { serviceTexts }: { readonly serviceTexts: ServiceTexts } = await import(
      path.join(folder, "texts", language, "service.ts")
    );
    const known = statuses.flatMap((status) => {
      const name = serviceTexts.states[status];
      return name === undefined ? [] : [[status, name] as const];
    });
    assert.deepEqual(named, Object.fromEntries(known), language);
    assert.deepEqual(requests, serviceTexts.requests, language);
  }
});

/** Texts outside of `texts/` that are no words of a language. */
const notWords = [
  /^[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)*$/, // classes, names of the browser's storage
  /^(?:Escape|Enter|Tab|Shift|Arrow\w+|Control\+[BKZ] Meta\+[BKZ]|Home|End|Page\w+)$/,
  /^(?:Edge?|Firefox|Chrome|Safari|Android|Windows|Macintosh|Linux|Authorization|Content-Type|Last-Event-ID)$/,
  /^(?:claude|codex|openpo|export) |^Bearer |^status=|CurrencyCode$/,
  /^Letter$|^# in the shell/,
  /^Correct what details names/, // begin of what the service says
  /^\.[\w-]+ [a-z]+(?: [a-z]+)?$|^merge into …$/, // selectors, and keys of what runs
];

test("nothing that a person reads is written outside of the texts", () => {
  const states = new Set<string>([...statuses, ...lineItemStatuses]);
  const stockStates = ["Counted", "Reverted", "Ready to Ship", "In Transit", "Planned", "Partially Completed"];
  const paid = ["Unpaid", "Partially Paid", "Paid", "Overpaid"];
  const isState = (text: string): boolean => [...states, ...stockStates, ...paid].includes(text);
  const files = globSync("**/*.{ts,tsx}", { cwd: folder }).filter(
    (file) => !/^(?:texts|icons)\/|build\.ts$|kit\/[^/]+$|\.d\.ts$/.test(file),
  );
  const found = files.flatMap((file) => {
    const loader = file.endsWith("x") ? "tsx" : "ts";
    const { code } = transformSync(readFileSync(path.join(folder, file), "utf8"), {
      loader,
      jsx: "automatic",
      jsxImportSource: "preact",
    });
    return code.split("\n").flatMap((line) => {
      if (/^\s*(?:import|export) .* from |^\s*(?:\/\/|\/?\*)/.test(line)) return [];
      return [...line.matchAll(/(\w+: )?("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g)].flatMap(
        ([, member = "", literal = ""]) => {
          const text = literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "…");
          if (member === "class: ") return [];
          const isShown = /^(?:children|title|label|placeholder): $/.test(member) && /[a-z]{2}/i.test(text);
          const isRead = /[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]+/.test(text);
          if (!isShown && !isRead) return [];
          return isState(text) || notWords.some((each) => each.test(text)) ? [] : [`${file}: ${member}${literal}`];
        },
      );
    });
  });
  assert.deepEqual(found, []);
});
