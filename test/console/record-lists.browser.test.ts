/**
 * Lists of suppliers, products, locations and stock in a real browser: filters, columns and density, which the address
 * keeps.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../support/pages/axe.ts";
import { makeShop } from "../support/pages/console-shop.ts";
import { endConsole, picture, skip, withConsole } from "../support/pages/console.ts";

after(endConsole);

const records: readonly object[] = [
  { type: "location", locationId: "l", name: "Main hall", address: { city: "Rotterdam", countryCode: "NL" } },
  { type: "location", locationId: "m", name: "Market stall" },
  { type: "supplier", supplierId: "s", name: "Mill & Sons", email: "post@mill.example", phone: "+31 10 1" },
  { type: "supplier", supplierId: "t", name: "Tin works" },
  { type: "variant", variantId: "v", productId: "p", productName: "Flour", sku: "FLO-1", barcode: "4006381333931" },
  { type: "variant", variantId: "w", productId: "q", productName: "Oats", sku: "OAT-1", price: 2.5 },
  { type: "variant", variantId: "x", productId: "r", productName: "Tin", sku: "TIN-1" },
  { type: "supplierVariant", supplierId: "s", variantId: "v", unitCost: 2.5 },
  { type: "supplierVariant", supplierId: "s", variantId: "w", unitCost: 1 },
  { type: "supplierVariant", supplierId: "t", variantId: "x", unitCost: 3 },
];

const main = (page: Page) => page.getByRole("main");
const rows = (page: Page) => main(page).locator("table.list tbody tr");
const heads = (page: Page) => main(page).getByRole("columnheader");

/** Chooses columns in the list's menu, by whether they are to be shown. */
async function choose(page: Page, columns: Readonly<Record<string, boolean>>): Promise<void> {
  await main(page).getByRole("button", { name: "Columns", exact: true }).click();
  for (const [name, isShown] of Object.entries(columns))
    await main(page).getByRole("checkbox", { name, exact: true }).setChecked(isShown);
  await page.keyboard.press("Escape");
}

test("products are filtered by supplier, and each list shows the columns that its address names", { skip }, () =>
  withConsole(async (page, _link, program) => {
    const { link } = await makeShop(program, "lists", records);
    await page.goto(link);
    await page.getByRole("navigation").getByRole("link", { name: "Products" }).click();
    await rows(page).nth(2).waitFor();
    await main(page).getByRole("button", { name: "Filters" }).click();
    await main(page).getByRole("combobox", { name: "Supplier" }).fill("mill");
    await main(page)
      .getByRole("option", { name: /Mill & Sons/ })
      .click();
    await page.keyboard.press("Escape");
    await rows(page).nth(2).waitFor({ state: "detached" });
    assert.deepEqual(await rows(page).getByRole("link").allInnerTexts(), ["Flour", "Oats"]);
    await choose(page, { Barcode: true, "Selling price": true, Cover: false });
    await heads(page).filter({ hasText: "Barcode" }).waitFor();
    assert.match(page.url(), /supplierId=s&columns=/);
    await page.reload();
    await main(page)
      .getByRole("row", { name: /4006381333931/ })
      .waitFor();
    await main(page)
      .getByRole("row", { name: /€2\.50/ })
      .waitFor();
    assert.equal(await heads(page).filter({ hasText: "Cover" }).count(), 0);
    assert.deepEqual(await accessibilityFaults(page), []);
    await picture(page, "products-chosen-columns");
    // What was chosen is looks, and no filter: nothing is read for it.
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await choose(page, { Barcode: false });
    await heads(page).filter({ hasText: "Barcode" }).waitFor({ state: "detached" });
    await main(page).getByRole("button", { name: "Columns", exact: true }).click();
    await main(page).getByRole("button", { name: "Compact" }).click();
    await main(page).locator("[data-density=compact] table").waitFor();
    await main(page).getByRole("button", { name: "Usual columns and rows" }).click();
    await heads(page).filter({ hasText: "Cover" }).waitFor();
    await page.keyboard.press("Escape");
    assert.deepEqual(
      asked.filter((url) => url.includes("/variants")),
      [],
    );
    await main(page)
      .getByRole("button", { name: /Supplier: Mill & Sons/ })
      .click();
    await rows(page).nth(2).waitFor();

    await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    await rows(page).nth(1).waitFor();
    assert.equal(await main(page).getByRole("button", { name: "Filters" }).count(), 0, "there is nothing to filter by");
    await choose(page, { Phone: true });
    await main(page)
      .getByRole("row", { name: /\+31 10 1/ })
      .waitFor();

    await page.getByRole("navigation").getByRole("link", { name: "Stock" }).click();
    await rows(page).nth(2).waitFor();
    await main(page).getByRole("button", { name: "Filters" }).click();
    await main(page).getByRole("combobox", { name: "Supplier" }).fill("tin");
    await main(page)
      .getByRole("option", { name: /Tin works/ })
      .click();
    await page.keyboard.press("Escape");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await choose(page, { Incoming: false });
    await heads(page).filter({ hasText: "Incoming" }).waitFor({ state: "detached" });
  }),
);
