/**
 * Lists of suppliers, products, locations and stock in a real browser: filters, columns and density, which the address
 * keeps, and what is done with several rows at once.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../support/pages/axe.ts";
import { makeShop } from "../support/pages/console-shop.ts";
import { endConsole, picture, skip, withConsole, withPerson } from "../support/pages/console.ts";

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
    // The link of a record back to its list has the filters with which the list was left.
    await rows(page).getByRole("link", { name: "Flour" }).click();
    await page.getByRole("heading", { name: "Flour" }).waitFor();
    await main(page).getByRole("link", { name: "Products", exact: true }).click();
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

test(
  "several records are archived at once, brought back by Undo where nobody changed them since, and saved as a file",
  { skip },
  () =>
    withConsole(async (page, _link, program) => {
      const { link } = await makeShop(program, "several", records);
      const shop = "/admin/v1/shops/several";
      const statuses = async (): Promise<readonly unknown[]> => {
        const read = (id: string) => program.ask("GET", `${shop}/suppliers/${id}`, program.adminToken);
        return (await Promise.all(["s", "t"].map(read))).map((answer) => answer.at("data", "supplier", "status"));
      };
      const bar = page.getByRole("group", { name: "With the selected rows" });
      const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true });
      const toast = page.locator(".toast");
      await page.goto(link);
      await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
      await box("Mill & Sons").click();
      await box("Tin works").click();
      await bar.getByText("2 selected").waitFor();
      assert.equal(await bar.getByRole("button", { name: "Bring back" }).count(), 0, "none of them is archived");
      await picture(page, "suppliers-ticked");
      assert.deepEqual(await accessibilityFaults(page), []);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        bar.getByRole("button", { name: "Export CSV" }).click(),
      ]);
      assert.equal(download.suggestedFilename(), "suppliers.csv");
      const [head = "", first = ""] = readFileSync(await download.path(), "utf8").split("\r\n");
      assert.match(head, /^\ufeffsupplierId,name,contactName,email,/);
      assert.match(first, /^s,Mill & Sons,,post@mill\.example,'\+31 10 1,/);
      await bar.getByRole("button", { name: "Archive" }).click();
      await toast.getByText(/^2 archived/).waitFor();
      assert.deepEqual(await statuses(), ["archived", "archived"]);
      await bar.waitFor({ state: "detached" });
      assert.equal(await rows(page).getByText("Archived").count(), 2);
      await toast.getByRole("button", { name: "Undo" }).click();
      await toast.getByText("Undone: 2 archived").waitFor();
      assert.deepEqual(await statuses(), ["active", "active"]);

      // What somebody changed since stays as it is, and is named.
      await page.getByRole("checkbox", { name: "Select all shown" }).click();
      await bar.getByRole("button", { name: "Archive" }).click();
      await toast.getByText(/^2 archived/).waitFor();
      const changed = await program.ask("PATCH", `${shop}/suppliers/t`, program.adminToken, { phone: "+49 1" });
      assert.equal(changed.status, 200);
      await toast.getByRole("button", { name: "Undo" }).click();
      await toast.getByText(/Undone: 1 archived\. Not undone: Tin works was changed since/).waitFor();
      assert.deepEqual(await statuses(), ["active", "archived"]);
      await box("Tin works").click();
      await bar.getByRole("button", { name: "Bring back" }).click();
      await toast.getByText("1 brought back").waitFor();
      assert.deepEqual(await statuses(), ["active", "active"]);

      // What is refused stays ticked, with the reason.
      await page.route("**/suppliers/s", (route) =>
        route.request().method() === "PATCH" ? route.abort() : route.continue(),
      );
      await page.getByRole("checkbox", { name: "Select all shown" }).click();
      await bar.getByRole("button", { name: "Archive" }).click();
      await page.locator(".summary").getByText("1 done, 1 refused").waitFor({ timeout: 60_000 });
      await bar.getByText("1 selected").waitFor();
      assert.equal(await box("Mill & Sons").isChecked(), true);
    }),
);

test("whoever may not change records saves those that are ticked as a file, and no more", { skip }, () =>
  withPerson("viewer", async (page, program) => {
    await page.goto(`${program.url}/console/products`);
    await page
      .getByRole("checkbox", { name: /^Select (?!all)/ })
      .first()
      .click();
    const bar = page.getByRole("group", { name: "With the selected rows" });
    await bar.getByRole("button", { name: "Export CSV" }).waitFor();
    assert.equal(await bar.getByRole("button").count(), 2, "the other one takes the ticks off");
  }),
);
