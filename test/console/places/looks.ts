/** What is looked at on a place of the console, at a width and in a theme. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { accessibilityFaults, type Part } from "../../support/pages/axe.ts";

export interface Look {
  readonly width: number;
  readonly theme: "light" | "dark";
}

export const widths = [390, 768, 1_024, 1_440] as const;
export const themes = ["light", "dark"] as const;

export const allLooks: readonly Look[] = widths.flatMap((width) => themes.map((theme) => ({ width, theme })));

const loaded = `(async () => {
  const isLoading = () =>
    document.querySelector("h1, [role=alert]") === null || [...document.querySelectorAll("[role=status], output")].some((each) => each.checkVisibility() && /Loading/.test(each.textContent));
  for (let looks = 0; looks < 3_000 && isLoading(); looks += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  return !isLoading();
})()`;

/** Days and instants that stand on the page as plain text. Cells that are edited and the document that is printed have their own forms. */
const plainTimes = `(() => {
  const found = [];
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode())
    if (/\\b[A-Z][a-z]{2}\\s\\d{1,2},\\s\\d{4}/.test(node.data) && node.parentElement.closest("time, button.cell, .document") === null) found.push(node.data);
  return found;
})()`;

const wideTimes = `[...document.querySelectorAll("main :is(td, th, dd) time")]
  .filter((time) => time.getBoundingClientRect().right > time.closest("td, th, dd").getBoundingClientRect().right + 1)
  .map((time) => time.textContent)`;

/** Heads of tables that do not stand above the cells of their column. */
const crookedHeads = `[...document.querySelectorAll("main table")].flatMap((table) => {
  const [heads, cells] = ["thead tr", "tbody tr"].map((row) => [...(table.querySelector(row)?.cells ?? [])]);
  const head = table.querySelector("thead");
  if (head === null || heads.length !== cells.length || getComputedStyle(head).position === "absolute") return [];
  const left = (cell) => cell.getBoundingClientRect().left;
  return heads.filter((each, nth) => Math.abs(left(each) - left(cells[nth])) > 1).map((each) => each.textContent);
})`;

/** Cells that have no room for what they say, and names of rows that are cut to a few letters or broken into many lines. */
const squeezed = `[...document.querySelectorAll("main table.rows > tbody > tr > :is(th, td)")].filter((cell) => {
  if (cell.textContent.trim() === "" || !cell.checkVisibility()) return false;
  const isCut = cell.scrollWidth > cell.clientWidth;
  if (cell.tagName === "TD") return isCut && cell.clientWidth < 40;
  const isCard = getComputedStyle(cell).display !== "table-cell";
  return cell.clientWidth < (isCard ? 100 : 140) && (isCut || cell.getBoundingClientRect().height > 120);
}).slice(0, 3).map((cell) => cell.textContent)`;

/** The elements that stand out of the window and are not moved within another. */
const widest = `[...document.querySelectorAll("body *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .slice(0, 3)
  .map((each) => each.parentElement.className + " > " + each.outerHTML.slice(0, 80)).join(" | ")`;

/** What goes over the edge of the window, or of its cell, or stands in another column than its own. */
async function overEdgesOf(page: Page, name: string): Promise<readonly string[]> {
  const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const times = await page.evaluate<readonly string[]>(wideTimes);
  const heads = await page.evaluate<readonly string[]>(crookedHeads);
  const cells = await page.evaluate<readonly string[]>(squeezed);
  return [
    ...cells.map((text) => `${name}: there is too little room for ${text}`),
    ...heads.map((text) => `${name}: the head ${text} is not above its column`),
    ...(tooWide > 0 ? [`${name}: ${tooWide} too wide: ${await page.evaluate<string>(widest)}`] : []),
    ...times.map((text) => `${name}: ${text} goes over its cell's edge`),
  ];
}

/** What is wrong with a place once it has loaded. */
export async function loadingFaults(page: Page, name: string): Promise<readonly string[]> {
  const isLoaded = await page.evaluate<boolean>(loaded);
  const times = await page.evaluate<readonly string[]>(plainTimes);
  return [...(isLoaded ? [] : [`${name}: still loading`]), ...times.map((text) => `${name}: ${text} is no <time>`)];
}

/** What is found on the page as it is, at a width and in a theme of the system. */
export async function lookFaults(
  page: Page,
  { name, look: { width, theme }, part }: { readonly name: string; readonly look: Look; readonly part?: Part },
): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.setViewportSize({ width, height: 800 });
  const faults = await accessibilityFaults(page, part);
  return [
    ...faults.map((fault) => `${name}, ${theme}, ${width} px: ${fault}`),
    ...(await overEdgesOf(page, `${name}, ${width} px`)),
  ];
}

/** What does not fit at these widths. */
export async function fitFaults(page: Page, name: string, at: readonly number[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const width of at) {
    await page.setViewportSize({ width, height: 800 });
    faults.push(...(await overEdgesOf(page, `${name}, ${width} px`)));
  }
  return faults;
}

/** Leads to a place as a link does, so that neither the console nor axe-core is loaded again. */
export const follow = (page: Page, href: string): Promise<void> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(href)}); dispatchEvent(new PopStateEvent("popstate"))`);

export const none = (faults: readonly string[]): void => assert.deepEqual(faults, [], faults.join("\n"));
