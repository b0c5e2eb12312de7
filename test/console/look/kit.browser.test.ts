/**
 * The kit of the console, photographed in both themes and densities, which a person chooses by hand and keeps, and its contrast in every state.
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
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { contrastFaults, contrastFaultsOfStates, type State, stateOf } from "../../support/pages/contrast.ts";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, photograph, picture, skip, withPerson } from "../../support/pages/console.ts";

const root = path.join(import.meta.dirname, "../../..");
const built = mkdtempSync(path.join(tmpdir(), "openpo-kit-"));

after(async () => {
  await endConsole();
  rmSync(built, { recursive: true });
});

/** Lets the page be the console that was built with its kit, under the policy of the one that is served. */
async function withKit(page: Page): Promise<void> {
  if (readdirSync(built).length === 0)
    execFileSync(process.execPath, ["console/build.ts", "--kit", "--out", built], { cwd: root, stdio: "inherit" });
  const contentTypes: Readonly<Record<string, string>> = { ".js": "text/javascript", ".css": "text/css" };
  for (const name of readdirSync(built))
    await page.route(`**/console/${name}`, async (route) => {
      const contentType = contentTypes[path.extname(name)];
      await route.fulfill({ path: path.join(built, name), ...(contentType === undefined ? {} : { contentType }) });
    });
  await page.route("**/console/kit", async (route) => {
    const response = await route.fetch();
    // A shop whose storefront has pictures.
    const body = readFileSync(path.join(built, "index.html"), "utf8").replace(
      "<html",
      '<html data-pictures="https://x.test"',
    );
    await route.fulfill({ response, body });
  });
}

test("the console as it is served has no kit", { skip }, () =>
  withPerson("viewer", async (page, program) => {
    await page.goto(`${program.url}/console/kit`);
    await page.getByText("There is no such page").waitFor();
  }),
);

const rowHeight = `document.querySelector("table.list tbody tr").getBoundingClientRect().height`;

test("theme and density are chosen by hand and kept, and the kit has no findings in any of them", { skip }, () =>
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
        await untilOnPage(page, `getComputedStyle(document.documentElement).colorScheme === "${theme.toLowerCase()}"`);
        for (const width of [360, 1_280]) {
          await page.setViewportSize({ width, height: 900 });
          assert.deepEqual(await accessibilityFaults(page), []);
        }
        await picture(page, `kit-${density}-${theme}`.toLowerCase());
        heights.push(await page.evaluate<number>(rowHeight));
      }
    const [comfortable = 0, , compact = 0] = heights;
    assert.ok(compact < comfortable, heights.join(" "));
  }),
);

/** Lets `use` work with the kit, of which what unfolds is open. */
const withOpenKit = (use: (page: Page) => Promise<void>): Promise<void> =>
  withPerson("owner", async (page, program) => {
    await withKit(page);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.goto(`${program.url}/console/kit`);
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await page.getByRole("combobox", { name: "Found by name" }).pressSequentially("a");
    await page.locator("[role=option]").first().waitFor();
    await page.evaluate("document.getElementById('me').showPopover()");
    await use(page);
  });

const look = (theme: string, density: string): string =>
  `Object.assign(document.documentElement.dataset, ${JSON.stringify({ theme, density })})`;

test("text, icons, fields and rings of the kit have contrast in every state, theme and density", { skip }, () =>
  withOpenKit(async (page) => {
    const faults: string[] = [];
    const force = await stateOf(page);
    for (const state of ["hover", "focus", "pressed", "plain"] as const) {
      await force(state);
      await photograph(page, `kit-${state}`);
      for (const theme of ["light", "dark"])
        for (const density of ["comfortable", "compact"]) {
          await page.evaluate(look(theme, density));
          for (const fault of await contrastFaults(page, state))
            faults.push(`${state}, ${theme}, ${density}: ${fault}`);
        }
    }
    await page.evaluate(look("system", "comfortable"));
    await page.getByRole("button", { name: "Dialog", exact: true }).dispatchEvent("click");
    await page.getByRole("dialog").waitFor();
    for (const fault of await contrastFaultsOfStates(page)) faults.push(`dialog, ${fault}`);
    assert.deepEqual(faults, [], faults.join("\n"));
  }),
);

/** What the kit unfolds over the page: the button, and what is there then. */
const unfolded = [
  ["Menu", ".pop > .menu"],
  ["Filters", ".pop > .filters"],
  ["Columns", ".pop > .columns"],
  ["Dialog", "dialog:modal"],
  ["Wide dialog", "dialog:modal"],
  ["Two that are one", "dialog:modal [role=option]"],
  ["Shown once", "dialog:modal"],
] as const;

test("what unfolds is photographed open in both themes, and has no findings", { skip }, () =>
  withPerson("viewer", async (page, program) => {
    await withKit(page);
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const theme of ["light", "dark"])
      for (const [name, part] of unfolded) {
        await page.goto(`${program.url}/console/kit`);
        await page.getByRole("heading", { name: "Kit" }).waitFor();
        await page.evaluate(look(theme, "comfortable"));
        await page.getByRole("button", { name, exact: true }).click();
        await page.locator(part).first().waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], name);
        await photograph(page, `kit-${name.replaceAll(" ", "-")}-${theme}`.toLowerCase());
      }
  }),
);

/** A token that is given another's value, and where that is seen. */
const tooPale: readonly (readonly [token: string, value: string, state: State, what: string])[] = [
  ["--hover", "var(--ink)", "hover", "text of"],
  ["--accent-strong", "var(--on-accent)", "hover", "text of"],
  ["--neutral", "var(--ink)", "pressed", "text of"],
  ["--accent", "var(--surface)", "focus", "ring of"],
  ["--control-line", "var(--line)", "plain", "edge of"],
  ["--ink-quiet", "var(--line)", "plain", "placeholder of"],
  ["--done-ink", "var(--done)", "plain", "icon of"],
];

test("a token that is too pale is found in the state that shows it", { skip }, () =>
  withOpenKit(async (page) => {
    const force = await stateOf(page);
    const states = new Set(tooPale.map(([, , state]) => state));
    for (const state of states) {
      await force(state);
      for (const [token, value, , what] of tooPale.filter(([, , where]) => where === state)) {
        const set = (to: string): Promise<unknown> =>
          page.evaluate(`document.documentElement.style.setProperty("${token}", "${to}")`);
        await set(value);
        const faults = await contrastFaults(page, state);
        assert.ok(
          faults.some((fault) => fault.startsWith(what)),
          `${token} in the state ${state}: ${faults.join("\n")}`,
        );
        await set("");
      }
    }
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
