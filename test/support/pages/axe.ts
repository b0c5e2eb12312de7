/** What axe-core finds on a page: rules of WCAG 2.2, levels A and AA. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const run = `axe.run(document, {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
  resultTypes: ["violations"],
}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " at " + target + ": " + failureSummary)))`;

/** The findings, a line or more each. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  return await page.evaluate<readonly string[]>(run);
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
