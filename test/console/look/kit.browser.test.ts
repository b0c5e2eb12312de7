/**
 * The kit of the console, photographed in both themes and densities, which a person chooses by hand and keeps.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withPerson } from "../../support/pages/console.ts";

after(endConsole);

const rowHeight = `document.querySelector("table.list tbody tr").getBoundingClientRect().height`;

test("theme and density are chosen by hand and kept, and the kit has no findings in any of them", { skip }, () =>
  withPerson("viewer", async (page, program) => {
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
        await untilOnPage(page, `getComputedStyle(document.documentElement).colorScheme === "${theme.toLowerCase()}"`);
        assert.deepEqual(await accessibilityFaults(page), []);
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
