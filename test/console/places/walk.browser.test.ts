/**
 * Every place of the console as each role sees it, at four widths, light and dark, in a shop of long, Chinese and Arabic names, without findings of
 * axe-core and without anything that goes over an edge. The list of places is the console's own.
 *
 * CI looks at each place in all roles, and at each width and in each theme in one of them. `OPENPO_PLACES=whole` looks at all of them in all roles, and at
 * the contrast of each state of each control (`npm run test:places`).
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 *
 * Comes first: it takes two minutes.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { places } from "../../../console/places.ts";
import { roles } from "../../../src/core/access/role.ts";
import { rulesOfLooks } from "../../support/pages/axe.ts";
import { endConsole, newPage, skip } from "../../support/pages/console.ts";
import { contrastFaultsOfStates } from "../../support/pages/contrast.ts";
import type { RunningProgram } from "../../support/process.ts";
import { addresses, furtherAddresses, invite, makeNames, type Rows, rowsOf, type Shop } from "./addresses.ts";
import { allLooks, fitFaults, follow, loadingFaults, type Look, lookFaults, none, themes, widths } from "./looks.ts";

after(endConsole);

const isWhole = process.env["OPENPO_PLACES"] === "whole";

/** The operator signs in with the admin token, and has no account in the shop. */
const everybody = [...roles, "operator"] as const;

type Who = (typeof everybody)[number];

let seeded: Promise<{ readonly shop: Shop; readonly rows: Rows }> | null = null;

async function seed(program: RunningProgram): Promise<{ readonly shop: Shop; readonly rows: Rows }> {
  const shop = await makeNames(program);
  return { shop, rows: await rowsOf(program, shop) };
}

async function signIn(page: Page, program: RunningProgram, who: Who): Promise<Rows> {
  const { shop, rows } = await (seeded ??= seed(program));
  if (who === "operator") {
    await page.goto(`${program.url}/console/orders`);
    await page.getByLabel("Key or invitation").fill(program.adminToken);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Open .+ قهوة/ }).click();
  } else await page.goto(await invite(program, shop, who));
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  return rows;
}

/**
 * How CI looks at a place: as those who see all of it, owner and operator, at two widths each, and as the others at one, in the theme in which those do not
 * see it there. Neighbours in the list of places begin with another width and another theme.
 */
function looksAt(nth: number, who: Who): readonly Look[] {
  if (isWhole) return allLooks;
  const first = Math.floor(nth / themes.length);
  const look = (number: number, turn: number): Look => ({
    width: widths[number % widths.length] ?? widths[0],
    theme: themes[(nth + number + turn) % themes.length] ?? themes[0],
  });
  if (who === "owner") return [look(first, 0), look(first + 1, 0)];
  if (who === "operator") return [look(first + 2, 0), look(first + 3, 0)];
  return [look(first + everybody.indexOf(who), 1)];
}

const narrowest = 360;

/** Widths at which tables just do not fit any more, and just fit. */
const edges = [900, 960, 1_076];

interface Visit {
  readonly name: string;
  readonly looks: readonly Look[];
  /** Widths at which only what goes over an edge is looked for. */
  readonly fits: readonly number[];
  /** True: the first look is by all rules, also by those that find the same at each width and in each theme. */
  readonly isFirst: boolean;
}

async function placeFaults(page: Page, { name, looks, fits, isFirst }: Visit): Promise<readonly string[]> {
  const faults = [...(await loadingFaults(page, name))];
  for (const [nth, look] of looks.entries()) {
    const part = (isFirst && nth === 0) || isWhole ? {} : { rules: rulesOfLooks };
    faults.push(...(await lookFaults(page, { name, look, part })));
  }
  faults.push(...(await fitFaults(page, name, fits)));
  if (isWhole) for (const fault of await contrastFaultsOfStates(page)) faults.push(`${name}: ${fault}`);
  return faults;
}

for (const who of everybody)
  test(`every place has no findings for the ${who}`, { skip }, async () => {
    const { page, program, faults } = await newPage();
    const rows = await signIn(page, program, who);
    const found: string[] = [];
    const seen = new Set<string>();
    for (const [nth, place] of places.entries()) {
      await follow(page, `/console/${addresses[place](rows)}`);
      const looks = looksAt(nth, who);
      for (const { width, theme } of looks) seen.add(`${width} ${theme}`);
      const fits = who === "owner" || isWhole ? [narrowest, ...edges] : [narrowest];
      found.push(...(await placeFaults(page, { name: `${place}, ${who}`, looks, fits, isFirst: who === "owner" })));
    }
    if (who === "owner")
      for (const [nth, address] of furtherAddresses(rows).entries()) {
        await follow(page, `/console/${address}`);
        const looks = looksAt(nth, who).slice(0, isWhole ? allLooks.length : 1);
        found.push(...(await placeFaults(page, { name: address, looks, fits: [narrowest], isFirst: true })));
      }
    none(found);
    none(faults);
    assert.equal(seen.size, allLooks.length);
    await page.context().close();
  });

interface Opened {
  readonly at: (rows: Rows) => string;
  readonly open: (page: Page) => Promise<void>;
  /** Selector of what is there then. */
  readonly part: string;
  /** How it is looked at; left out: on a phone in the dark, on a desk in the light. */
  readonly looks?: readonly Look[];
}

const dialog = "dialog:modal";
const panel = ".pop > .panel";

const draft = ({ orders }: Rows): string => `orders/${orders["Draft"]}`;

/** Presses what has these names, one after another. */
const press =
  (...names: readonly (string | RegExp)[]) =>
  async (page: Page): Promise<void> => {
    for (const name of names) await page.locator("main").getByRole("button", { name, exact: true }).first().click();
  };

const tickFirst = (page: Page): Promise<void> => page.locator("main .row-tick input").nth(1).check();

/** What a place opens: menus, forms, choices, dialogs and questions. */
const opened: Readonly<Record<string, Opened>> = {
  "the search for everything": { at: () => "home", open: (page) => page.keyboard.press("Control+k"), part: dialog },
  "the list of keys": { at: () => "home", open: (page) => page.keyboard.press("?"), part: dialog },
  "what a person may do": { at: () => "home", open: (page) => page.locator("button.me").click(), part: "#me" },
  "further places on a phone": {
    at: () => "home",
    open: async (page) => {
      await page.setViewportSize({ width: 390, height: 800 });
      await page.locator(".unfold").click();
    },
    part: ".side nav",
    looks: themes.map((theme) => ({ width: 390, theme })),
  },
  "filters of orders": { at: () => "orders", open: press("Filters"), part: panel },
  "columns of orders": { at: () => "orders", open: press("Columns"), part: panel },
  "moves of ticked orders": {
    at: () => "orders",
    open: async (page) => {
      await tickFirst(page);
      await press("Move")(page);
    },
    part: ".tick-bar",
  },
  "a view to save": { at: () => "orders?status=Sent", open: press("Save view"), part: ".view-form" },
  "filters of what to reorder": { at: () => "reorder", open: press("Filters"), part: panel },
  "filters of transfers": { at: () => "stock/transfers", open: press("Filters"), part: panel },
  "choices of a field": {
    at: () => "new-order",
    open: (page) => page.getByRole("combobox").first().focus(),
    part: ".combobox:has([role=option])",
  },
  "actions of an order": { at: draft, open: press("More actions"), part: panel },
  "sending an order": { at: draft, open: press("Send to the supplier"), part: dialog },
  "deleting an order": { at: draft, open: press("More actions", "Delete"), part: dialog },
  "cancelling an order": {
    at: ({ orders }) => `orders/${orders["Sent"]}`,
    open: press("More actions", "Cancel the order"),
    part: dialog,
  },
  "a product to reorder": {
    at: () => "reorder",
    open: (page) => page.locator("main tbody th button").first().click(),
    part: dialog,
  },
  "reorder settings": {
    at: ({ variantId }) => `products/${variantId}`,
    open: press(/^Reorder settings at/),
    part: dialog,
  },
  "stock to set": { at: ({ variantId }) => `products/${variantId}`, open: press(/^Set stock at/), part: dialog },
  "merging a supplier": { at: ({ supplierId }) => `suppliers/${supplierId}`, open: press("Merge"), part: dialog },
  "deleting a supplier": { at: ({ supplierId }) => `suppliers/${supplierId}`, open: press("Delete"), part: dialog },
  "a new key": {
    at: () => "keys",
    open: async (page) => {
      await page.getByRole("textbox", { name: "Name" }).fill("Counting bot");
      await press("Create key")(page);
    },
    part: dialog,
  },
  "limits of a key": { at: () => "keys", open: press(/^Limits of/), part: dialog },
  "revoking a key": { at: () => "keys", open: press(/^Revoke /), part: dialog },
  "deleting a person": { at: () => "people", open: press(/^Delete /), part: dialog },
  "deleting an endpoint": { at: ({ endpointId }) => `webhooks/${endpointId}`, open: press("Delete"), part: dialog },
};

test("what a place opens has no findings", { skip }, async () => {
  const { page, program, faults } = await newPage();
  const rows = await signIn(page, program, "owner");
  const found: string[] = [];
  for (const [name, { at, open, part, looks }] of Object.entries(opened)) {
    await page.setViewportSize({ width: 1_440, height: 800 });
    // What the one before has opened is closed, or gone with its place.
    await page.keyboard.press("Escape");
    await follow(page, "/console/settings/approvals");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.locator(dialog).waitFor({ state: "detached" });
    await follow(page, `/console/${at(rows)}`);
    none(await loadingFaults(page, name));
    await open(page);
    await page.locator(part).first().waitFor();
    const usual: readonly Look[] = isWhole
      ? allLooks
      : [
          { width: 390, theme: "dark" },
          { width: 1_440, theme: "light" },
        ];
    for (const look of looks ?? usual) found.push(...(await lookFaults(page, { name, look, part: { within: part } })));
    if (isWhole) for (const fault of await contrastFaultsOfStates(page)) found.push(`${name}: ${fault}`);
  }
  none(found);
  none(faults);
});
