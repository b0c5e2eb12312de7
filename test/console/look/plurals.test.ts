/** Counts in texts of the console: one of a thing is said otherwise than several, in every language. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { languages } from "../../../console/texts/languages.ts";

const folder = path.join(import.meta.dirname, "../../../console/texts");

/** Names of parameters that are counts. */
const isCount =
  /^(?:(?:\w+C|c)ount|total|all|found|loaded|shown|left|kept|changed|done|of|more|days|times|lines|orders|rows|fields|records|products|drafts|requests|entries)$/;

type Text = (...parts: readonly unknown[]) => unknown;

const isText = (value: unknown): value is Text => typeof value === "function";

/** What the text says of so many; null: it is no text of counts alone. */
function saidOf(text: Text, names: readonly string[], count: unknown): string | null {
  try {
    const words = text(...names.map((name) => (isCount.test(name) ? count : "…")));
    return typeof words === "string" ? words : null;
  } catch {
    return null;
  }
}

const namesOf = (text: Text): readonly string[] =>
  (/^\(?([^)=]*)\)?\s*=>/.exec(text.toString())?.[1] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** True if it says "1 things", where it says "2 things". */
function isPlural(text: Text): boolean {
  const names = namesOf(text);
  if (!names.some((name) => isCount.test(name))) return false;
  const pairs = [
    [1, 2],
    ["1", "2"],
  ].map(([one, two]) => [saidOf(text, names, one), saidOf(text, names, two)] as const);
  const spoken = pairs.filter(([one, two]) => one !== null && two !== null && /\b2\b/.test(two));
  return (
    spoken.length > 0 &&
    spoken.every(([one, two]) => two?.replaceAll(/\b2\b/g, "1") === one && /\b1 \p{Ll}{2}/u.test(one ?? ""))
  );
}

/** Texts without a word that follows the count, or of counts that are never one. */
const without: ReadonlySet<string> = new Set([
  // "3 of 12", "3 chosen", "and 3 more".
  "reorder.ts reorderTexts.shown",
  "stock.ts stockTexts.of",
  "home.ts homeTexts.moreFailures",
  "receive.ts receiveTexts.ofBase",
  "receive.ts receiveTexts.outcome.counted",
  "receive.ts receiveTexts.outcome.undone",
  "send.ts sendTexts.more",
  "supplier.ts supplierTexts.more",
  "ticked.ts tickedTexts.selected",
  "ticked.ts tickedTexts.running",
  "ticked.ts tickedTexts.refused",
  "ticked.ts tickedTexts.waiting",
  ...["selected", "archived", "broughtBack", "done", "refused"].map((name) => `ticked.ts tickedTexts.records.${name}`),
  "access.ts accessTexts.activity.shown",
  "approvals.ts approvalTexts.moreLines",
  "approvals.ts approvalTexts.ticked",
  "approvals.ts approvalTexts.causes.limit",
  "import.ts importTexts.replaced",
  "texts.ts texts.activity.shown",
  "texts.ts texts.navigation.waiting",
  "texts.ts texts.navigation.counts.dock",
  "texts.ts texts.orders.shown",
  "texts.ts texts.orders.exporting",
  "texts.ts texts.combobox.found",
  // In French a price is written as several are.
  "records.ts recordTexts.paste.save",
  // Days of a plot and of a filter, the bound of a board, points of a platform, drafts that become one, repetitions.
  "reorder.ts reorderTexts.outlook",
  "reorder.ts reorderTexts.lasts",
  "texts.ts texts.orders.lastDays",
  "home.ts homeTexts.cut",
  "storefront.ts storefrontTexts.points",
  "ticked.ts tickedTexts.mergeTitle",
  "access.ts accessTexts.activity.times",
  "texts.ts texts.activity.times",
]);

test("one of a thing is told by a word of its own", async () => {
  const found: string[] = [];
  for (const language of languages)
    for (const file of globSync("**/*.ts", { cwd: path.join(folder, language) }).toSorted()) {
      const walk = (value: unknown, at: string): void => {
        if (isText(value) && isPlural(value) && !without.has(at)) found.push(`${language} ${at}`);
        else if (typeof value === "object" && value !== null)
          for (const [name, each] of Object.entries(value)) walk(each, `${at}.${name}`);
      };
      const module: object = await import(path.join(folder, language, file));
      for (const [name, value] of Object.entries(module))
        if (typeof value === "object") walk(value, `${path.basename(file)} ${name}`);
    }
  assert.deepEqual(found, []);
});

test("a text that says 1 things is found", () => {
  assert.equal(
    isPlural((count: unknown) => `${String(count)} lines`),
    true,
  );
  assert.equal(
    isPlural((count: unknown) => (count === 1 ? "1 line" : `${String(count)} lines`)),
    false,
  );
  assert.equal(
    isPlural((count: unknown) => (count === "1" ? "1 line" : `${String(count)} lines`)),
    false,
  );
});
