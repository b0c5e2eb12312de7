/**
 * The kit of the console, photographed in both themes and densities, which a person chooses by hand and keeps.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults, contrastFaults } from "../../support/pages/axe.ts";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withPerson } from "../../support/pages/console.ts";

const root = path.join(import.meta.dirname, "../../..");
const built = mkdtempSync(path.join(tmpdir(), "openpo-kit-"));

after(async () => {
  await endConsole();
  rmSync(built, { recursive: true });
});

/** Lets the page be the console that was built with its kit, under the policy of the one that is served. */
async function withKit(page: Page): Promise<void> {
  execFileSync(process.execPath, ["console/build.ts", "--kit", "--out", built], { cwd: root, stdio: "inherit" });
  const contentTypes: Readonly<Record<string, string>> = { ".js": "text/javascript", ".css": "text/css" };
  for (const name of readdirSync(built))
    await page.route(`**/console/${name}`, async (route) => {
      const contentType = contentTypes[path.extname(name)];
      await route.fulfill({ path: path.join(built, name), ...(contentType === undefined ? {} : { contentType }) });
    });
  await page.route("**/console/kit", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: readFileSync(path.join(built, "index.html"), "utf8") });
  });
}

test("the console as it is served has no kit", { skip }, () =>
  withPerson("viewer", async (page, program) => {
    await page.goto(`${program.url}/console/kit`);
    await page.getByText("There is no such page").waitFor();
  }),
);

const rowHeight = `document.querySelector("table.list tbody tr").getBoundingClientRect().height`;

test(
  "theme and density are chosen by hand and kept; the kit has no findings in any of them, nor of contrast where it is pointed at or pressed",
  { skip },
  () =>
    withPerson("viewer", async (page, program) => {
      await withKit(page);
      await page.goto(`${program.url}/console/kit`);
      await page.getByRole("heading", { name: "Kit" }).waitFor();
      const heights: number[] = [];
      for (const density of ["Comfortable", "Compact"])
        for (const theme of ["Light", "Dark"]) {
          // The system's theme is the other one: the person's wins.
          await page.emulateMedia({ colorScheme: theme === "Light" ? "dark" : "light", reducedMotion: "reduce" });
          await page.getByRole("button", { name: /^Ana the viewer/ }).click();
          await page.getByRole("button", { name: density }).click();
          await page.getByRole("button", { name: theme, exact: true }).click();
          await page.keyboard.press("Escape");
          await page.reload();
          await page.getByRole("heading", { name: "Kit" }).waitFor();
          await untilOnPage(
            page,
            `getComputedStyle(document.documentElement).colorScheme === "${theme.toLowerCase()}"`,
          );
          for (const width of [360, 1_280]) {
            await page.setViewportSize({ width, height: 900 });
            assert.deepEqual(await accessibilityFaults(page), []);
          }
          // Colours do not depend on the density.
          if (density === "Compact")
            for (const states of [["hover"], ["hover", "active"]] as const)
              assert.deepEqual(await contrastFaults(page, states), [], `${theme}, ${String(states)}`);
          await picture(page, `kit-${density}-${theme}`.toLowerCase());
          heights.push(await page.evaluate<number>(rowHeight));
        }
      const [comfortable = 0, , compact = 0] = heights;
      assert.ok(compact < comfortable, heights.join(" "));
    }),
);

test("the list shows at least 16 orders on a desk, 10 on a tablet and 4 on a phone", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/orders`);
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
    for (const [width, height, least] of [
      [1_440, 900, 16],
      [1_024, 768, 10],
      [390, 844, 4],
    ] as const) {
      await page.setViewportSize({ width, height });
      const edge = `(document.querySelector(".unfold").checkVisibility() ? document.querySelector("nav").getBoundingClientRect().top : innerHeight)`;
      const whole = `[...document.querySelectorAll("table.list tbody tr")].filter((row) => row.getBoundingClientRect().bottom <= ${edge}).length`;
      const seen = await page.evaluate<number>(whole);
      assert.ok(seen >= least, `${seen} orders are whole at ${width} × ${height}`);
    }
  }),
);
