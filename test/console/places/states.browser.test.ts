/**
 * Every place of the console without findings of axe-core when it has nothing to show and when the service fails, and without somebody who is signed in.
 * The list of places is the console's own.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { places } from "../../../console/places.ts";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, invitation, newPage, skip } from "../../support/pages/console.ts";
import { addresses, type Rows, rowsOf } from "./addresses.ts";
import { allLooks, fitFaults, follow, loadingFaults, type Look, lookFaults, none } from "./looks.ts";

after(endConsole);

/** What is found on the page. */
async function faultsOf(page: Page, name: string, looks: readonly Look[]): Promise<readonly string[]> {
  const faults = [...(await loadingFaults(page, name))];
  for (const look of looks) faults.push(...(await lookFaults(page, { name, look })));
  faults.push(...(await fitFaults(page, name, [360])));
  return faults;
}

/** What is found on all places: each in one look, neighbours in different ones. */
async function faultsOfPlaces(page: Page, rows: Rows, state: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [nth, place] of places.entries()) {
    await follow(page, `/console/${addresses[place](rows)}`);
    const number = nth % allLooks.length;
    faults.push(...(await faultsOf(page, `${place}, ${state}`, allLooks.slice(number, number + 1))));
  }
  return faults;
}

/** True where a place shows nothing but that it is loading. */
const isBare = `(() => {
  const main = document.querySelector("main");
  const said = [...main.querySelectorAll(":not(h1)")].filter((each) => each.children.length === 0 && each.checkVisibility())
    .map((each) => each.closest(".hidden") === null ? each.textContent.trim() : "").join("");
  return main.querySelector(".skeleton, input, button") === null && said.replace(/Loading.*/, "") === "";
})()`;

test(
  "every place has no findings when the service fails, and shows more than a word while it waits",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    await page.goto(await invitation(program));
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    const rows = await rowsOf(program, { shopId: "demo", key: program.word("write key") });
    await page.route(/\/(?:api|admin)\/v1\//, (route) => route.abort());
    none(await faultsOfPlaces(page, rows, "failing"));
    await page.goto(`${program.url}/console/orders`);
    none(await faultsOf(page, "failing from the start", allLooks));
    // Nothing is answered.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.route(/\/(?:api|admin)\/v1\//, () => undefined);
    const bare: string[] = [];
    for (const place of places) {
      await follow(page, `/console/${addresses[place](rows)}`);
      await untilOnPage(page, `document.querySelector("main")?.children.length > 0`);
      if (await page.evaluate<boolean>(isBare)) bare.push(place);
    }
    none(bare);
    none(faults);
  },
);

test("every place of an empty shop, and those of who is not signed in, have no findings", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await page.goto(`${program.url}/console/orders`);
  none(await faultsOf(page, "signed out", allLooks));
  const shop = { name: "Quiet Corner", currencyCode: "EUR" };
  const made = await program.ask("PUT", "/admin/v1/shops/quiet", program.adminToken, shop);
  assert.ok(made.status < 300, made.text);
  await page.goto(await invitation(program, "owner", "quiet"));
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  const orders = { Draft: "none", Sent: "none", Received: "none", "In Progress": "none" };
  const ids = {
    approvalRequestId: "none",
    endpointId: "none",
    supplierId: "none",
    variantId: "none",
    locationId: "none",
  };
  none(await faultsOfPlaces(page, { shopId: "quiet", orders, ...ids }, "empty"));
  await page.goto(`${program.url}/console/nowhere`);
  await page.getByText("There is no such page.").waitFor();
  none(await accessibilityFaults(page));
  none(faults);
});

test("every place that the console leads to is in its list", () => {
  const root = path.join(import.meta.dirname, "../../..");
  // A step that stands for something takes a word too, as that of a new supplier.
  const shapes = places.map((place) => new RegExp(`^${place.replaceAll(/:\w+/g, "[^/]+")}$`));
  const links = globSync("console/**/*.{ts,tsx}", { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), "utf8").matchAll(/hrefOf\(("[^)]*)\)/g)].map(([, steps = ""]) => ({
      file,
      shape: steps
        .split(/,\s*/)
        .map((step) => /^"(.*)"$/.exec(step)?.[1] ?? "*")
        .join("/"),
    })),
  );
  assert.ok(links.length > 10);
  none(
    links
      .filter(({ shape }) => !shapes.some((each) => each.test(shape)))
      .map(({ file, shape }) => `${file} leads to ${shape}`),
  );
});
