/** What axe-core finds on a page: rules of WCAG 2.2, levels A and AA. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is looked at of a page; left out: all of it, by all rules. */
export interface Part {
  /** Selector of one element. */
  readonly within?: string;
  /** Names of rules. */
  readonly rules?: readonly string[];
}

/** Rules whose findings differ by the width or the theme of a page. */
export const rulesOfLooks = [
  "aria-hidden-focus",
  "button-name",
  "color-contrast",
  "label",
  "link-in-text-block",
  "link-name",
  "scrollable-region-focusable",
  "select-name",
  "target-size",
] as const;

const levels = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };

// The page has no media, and its style sheets need not be read again: the rules by which axe-core does so are not among these.
const run = ({ within, rules }: Part): string => `axe.run(${JSON.stringify(within) ?? "document"}, {
  runOnly: ${JSON.stringify(rules === undefined ? levels : { type: "rule", values: rules })},
  resultTypes: ["violations"],
  preload: false,
}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " at " + target + ": " + failureSummary)))`;

/** The findings, a line or more each. */
export async function accessibilityFaults(page: Page, part: Part = {}): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  return await page.evaluate<readonly string[]>(run(part));
}

/** What is found on the page, wide and narrow, light and dark. The page is light and wide afterwards. */
export async function accessibilityFaultsInThemes(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["dark", "light"] as const)
    for (const width of [360, 1_280]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      for (const fault of await accessibilityFaults(page)) faults.push(`${colorScheme}, ${width} px: ${fault}`);
    }
  return faults;
}
