/**
 * What the console weighs: its built files, and what the first page asks for.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Request } from "playwright-core";
import { languages } from "../../console/texts/languages.ts";
import { endConsole, invitation, newPage, skip } from "../support/pages/console.ts";
import { until } from "../support/until.ts";

after(endConsole);

const folder = path.join(import.meta.dirname, "../../dist/console");

const kilobyte = 1_024;

/**
 * Bytes compressed, at most. `load`: what the first page of all needs, with its font and the home screen. `fonts`: that
 * one and the one with further letters. `all` has 3 kB of words for mistakes, which no page loads before somebody makes
 * one.
 */
const budgets = {
  first: 42 * kilobyte,
  more: 27 * kilobyte,
  all: 194 * kilobyte,
  style: 15 * kilobyte,
  font: 40 * kilobyte,
  fonts: 62 * kilobyte,
  load: 110 * kilobyte,
} as const;

/** Bytes more in another language than English: its words for what the service says. */
const moreWords = 4 * kilobyte;

/** The page, its styles, script and font; who is signed in, their views and the orders. */
const requestsMax = 7;

const textOf = (name: string): string => readFileSync(path.join(folder, name), "utf8");

const weightOf = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + gzipSync(textOf(name), { level: 9 }).length, 0);

/** The file with all that it imports at once. */
function withImports(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, imported = ""] of textOf(name).matchAll(/(?:from|import)"\.\/([^"]+)"/g)) withImports(imported, found);
  return found;
}

/** Names of the scripts that this one loads later. */
const loadedLaterBy = (name: string): readonly string[] =>
  [...textOf(name).matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, file = ""]) => file);

/** The script with all that it imports, at once and later. */
function withAll(name: string, found = new Set<string>()): ReadonlySet<string> {
  for (const each of withImports(name)) {
    if (found.has(each)) continue;
    found.add(each);
    for (const later of loadedLaterBy(each)) withAll(later, found);
  }
  return found;
}

for (const language of languages)
  test(`the console keeps its budgets in the language ${language}: the first page, each screen that is loaded later, all of it, the styles`, () => {
    const page = language === "en" ? "index.html" : `index.${language}.html`;
    const words = language === "en" ? 0 : moreWords;
    const [, start = ""] = /src="\/console\/([^"]+\.js)"/.exec(textOf(page)) ?? [];
    const first = withImports(start);
    assert.ok(weightOf(first) <= budgets.first + words, `the first page has ${weightOf(first)} bytes of script`);
    const later = loadedLaterBy(start);
    assert.ok(later.length > 0);
    for (const name of later) {
      const more = weightOf([...withImports(name)].filter((each) => !first.has(each)));
      assert.ok(more <= budgets.more, `${name} adds ${more} bytes of script`);
    }
    const all = weightOf(withAll(start));
    assert.ok(all <= budgets.all + 2 * words, `all scripts have ${all} bytes`);
    const styles = readdirSync(folder).filter((name) => name.endsWith(".css"));
    assert.ok(weightOf(styles) <= budgets.style, `the styles have ${weightOf(styles)} bytes`);
    const [font = ""] = /inter-latin-[^"]+\.woff2/.exec(textOf(page)) ?? [];
    const fontBytes = statSync(path.join(folder, font)).size;
    assert.ok(fontBytes <= budgets.font, `the font has ${fontBytes} bytes`);
    const fonts = readdirSync(folder).filter((name) => name.endsWith(".woff2"));
    const allFontBytes = fonts.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
    assert.ok(
      fonts.length === 2 && allFontBytes <= budgets.fonts,
      `the ${fonts.length} fonts have ${allFontBytes} bytes`,
    );
    const home = later.find((name) => name.startsWith("home-")) ?? assert.fail("there is no home");
    const load = weightOf([...withImports(home), ...styles, page]) + fontBytes;
    assert.ok(load <= budgets.load + words, `the first load has ${load} bytes`);
  });

/** What the page does not wait for: texts of its own, and the stream of events, which stays open. */
const notWaitedFor = /^data:|\/events\/stream$/;

/** In the page: notes when the row of an order is first there, for the page goes on to ask for what may come later. */
const notesTheRow = `new MutationObserver((_, watch) => {
  if (!document.body?.textContent.includes("PO-1024")) return;
  watch.disconnect();
  performance.mark("row");
}).observe(document, { childList: true, subtree: true, characterData: true });`;

/** In the page: what it had asked for until then, itself among it. */
const askedBeforeTheRow = `(() => {
  const [{ startTime }] = performance.getEntriesByName("row");
  return ["navigation", "resource"]
    .flatMap((type) => performance.getEntriesByType(type))
    .filter((entry) => entry.startTime <= startTime && !${notWaitedFor}.test(entry.name))
    .map((entry) => entry.name);
})()`;

test("the list of orders is there after seven requests at most, none of them to another server", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await page.goto(await invitation(program));
  await page.getByRole("link", { name: "PO-1024" }).waitFor();
  await page.addInitScript(notesTheRow);
  const running = new Set<Request>();
  page.on("request", (request) => {
    if (!notWaitedFor.test(request.url())) running.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"] as const)
    page.on(end as "requestfinished", (request) => void running.delete(request));
  await page.goto(`${program.url}/console/orders`);
  await page.getByRole("link", { name: "PO-1024" }).waitFor();
  // The page lists a request when it has ended.
  await until("no request runs", () => running.size === 0);
  const asked = await page.evaluate<readonly string[]>(askedBeforeTheRow);
  assert.ok(asked.some((each) => each.endsWith("/api/v1/purchase-orders")));
  assert.ok(asked.length <= requestsMax, asked.join("\n"));
  assert.deepEqual(faults, []);
});
