/**
 * Reordering in a real browser: from figures to drafts, by keyboard, with 20,000 products, and when answers are lost.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { dialogsGone, endConsole, picture, skip, throughAgain, withConsole } from "../../support/pages/console.ts";
import type { RunningProgram } from "../../support/process.ts";

after(endConsole);

const variantsCount = 20_000;
const soldCount = 50;

/** A shop of 20,000 products from three suppliers; fifty of them sell, and are nearly out of stock. */
function* bigShop(): Generator<object> {
  yield { type: "location", locationId: "loc", name: "Warehouse" };
  for (const nth of [0, 1, 2])
    yield { type: "supplier", supplierId: `sup_${nth}`, name: `Supplier ${nth}`, leadTimeDays: 7 };
  const saleDay = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10);
  for (let nth = 0; nth < variantsCount; nth += 1) {
    const variantId = `var_${String(nth).padStart(5, "0")}`;
    const productName = `Product ${String(nth).padStart(5, "0")}`;
    yield { type: "variant", variantId, productId: `prod_${nth}`, productName, sku: `SKU-${nth}`, unitCost: 2 };
    if (nth % 400 !== 0) continue;
    const terms = nth === 0 ? { moq: 24, packSize: 12 } : {};
    yield { type: "supplierVariant", supplierId: `sup_${nth % 3}`, variantId, unitCost: 3, ...terms };
    yield { type: "inventoryLevel", variantId, locationId: "loc", onHand: 2 };
    yield { type: "sale", variantId, locationId: "loc", date: saleDay, quantity: 40 };
  }
  const columns = ["productName", "sku", "supplierName", "onHand", "dailyDemand", "stockoutDate", "moq", "packSize"];
  const last = ["suggestedOrderQuantity", "unitCost", "suggestedOrderValue", "needsReorder"];
  const view = { type: "forecastView", mode: "stock", columns: [...columns, ...last] };
  yield { ...view, viewId: "to_order", viewName: "To order", isStarred: true, filters: { onlyReorder: true } };
  yield { ...view, viewId: "all", viewName: "Everything" };
}

let seeded: Promise<void> | null = null;

async function seed(program: RunningProgram): Promise<void> {
  const token = program.adminToken;
  await program.ask("PUT", "/admin/v1/shops/big", token, { name: "Big shop", currencyCode: "EUR" });
  const file = [...bigShop()].map((record) => `${JSON.stringify(record)}\n`).join("");
  const imported = await program.ask("POST", "/admin/v1/shops/big/import", token, file);
  assert.equal(imported.status, 200, imported.text);
}

/** Signs a purchaser in to the shop of this id, at a place of the console. */
async function signIn(page: Page, program: RunningProgram, shopId: string, at: string, role = "purchaser") {
  const body = { name: "Ben", role };
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/invitations`, program.adminToken, body);
  await page.goto(String(made.at("data", "url")));
  await page.getByRole("heading", { name: /^Hello, / }).waitFor();
  await page.goto(`${program.url}/console/${at}`);
}

async function drafts(program: RunningProgram, shopId: string) {
  const body = { name: "reader", scope: "read" };
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/keys`, program.adminToken, body);
  const answer = await program.ask("GET", "/api/v1/purchase-orders?status=Draft", String(made.at("data", "apiKey")));
  const orders = answer.at("data", "purchaseOrders") as {
    poNumber: string;
    supplierName: string;
    lineItemCount?: number;
    quantityOrdered: number;
  }[];
  return orders.toSorted((a, b) => a.supplierName.localeCompare(b.supplierName));
}

test("fifty ticked lines of three suppliers become three drafts in two clicks, lost answers or not", { skip }, () =>
  withConsole(async (page, _link, program) => {
    await (seeded ??= seed(program));
    await signIn(page, program, "big", "reorder");
    await page.getByRole("button", { name: "Tick all suggested" }).click();
    await page.getByText(`${soldCount} lines of 3 suppliers`).waitFor();
    await picture(page, "reorder-ticked");

    // The second draft is made, and every answer about it is lost.
    let asked = 0;
    await page.route("**/api/v1/purchase-orders", async (route) => {
      asked += 1;
      if (asked === 1) return await route.continue();
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Make 3 drafts" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Make 3 drafts" }).click();
    await dialog.getByText("trying again makes none twice").waitFor({ timeout: 60_000 });
    assert.equal(await dialog.getByRole("link", { name: /^PO-/ }).count(), 1);
    await picture(page, "reorder-partly");
    await throughAgain(page);
    await dialog.getByRole("button", { name: "Try the others again" }).click();
    await dialog.getByText("All 3 drafts exist.").waitFor();
    const made = await drafts(program, "big");
    assert.deepEqual(
      made.map(({ supplierName }) => supplierName),
      ["Supplier 0", "Supplier 1", "Supplier 2"],
    );
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByText("Tick what to order.").waitFor();
  }),
);

test(
  "of 20,000 products the first are seen before the others are read; they are ticked and edited by keyboard",
  { skip },
  () =>
    withConsole(async (page, _link, program) => {
      await (seeded ??= seed(program));
      await signIn(page, program, "big", "reorder?view=all");
      const row = (nth: number) => page.locator(`tr[data-row="${nth}"]`);
      await row(0).waitFor();
      const loaded = await page.getByText(/ of 20,000 products loaded/).innerText();
      assert.ok(Number(/([\d,]+) of/.exec(loaded)?.[1]?.replace(",", "")) < 2_000, loaded);
      assert.ok((await page.locator("tr[data-row]").count()) < 100);

      const quantity = row(0).getByLabel(/^Quantity of/);
      await quantity.focus();
      await page.keyboard.type("30");
      await page.keyboard.press("Enter");
      await row(0).getByRole("button", { name: "Round Product 00000 up to 36" }).waitFor();
      assert.equal(await row(0).getByRole("checkbox").isChecked(), true);
      await untilOnPage(page, "document.activeElement.closest('tr')?.dataset.row === '1'");
      for (let nth = 1; nth <= 10; nth += 1) {
        // A row that is not read yet is not gone to.
        const loadedNow = `/([\\d,]+) of 20,000 products loaded/.exec(document.body.innerText)?.[1].replace(",", "")`;
        await untilOnPage(page, `Number(${loadedNow}) > ${1 + 10 * nth}`);
        await page.keyboard.press("PageDown");
        await untilOnPage(page, `document.activeElement.closest('tr')?.dataset.row === '${1 + 10 * nth}'`);
      }
      await page.keyboard.type("5");
      await page.keyboard.press("ArrowUp");
      await page.getByText("2 lines of 1 supplier").waitFor();

      // To the end: pages are read until its rows have come.
      await page.evaluate("document.querySelector('.forecast').scrollTo(0, 1e9)");
      await row(variantsCount - 1).waitFor({ timeout: 60_000 });
      assert.ok((await page.locator("tr[data-row]").count()) < 100);

      // By name the service sorts: the first rows are enough, and what was ticked stays so.
      const asked: string[] = [];
      page.on("request", (request) => {
        if (/forecast-views\/all\/rows/.test(request.url())) asked.push(new URL(request.url()).search);
      });
      await page.getByRole("columnheader", { name: "Product", exact: true }).getByRole("link").click();
      await page.getByText(/^[\d,]{1,5} of 20,000 products loaded/).waitFor();
      assert.deepEqual(asked[0], "?limit=100");
      assert.ok(asked.length < 4, asked.join(" "));
      await page.getByText("2 lines of 1 supplier").waitFor();
      assert.equal(
        await row(0)
          .getByLabel(/^Quantity of/)
          .inputValue(),
        "30",
      );
      assert.equal(await row(0).getByRole("checkbox").isChecked(), true);
    }),
);

test(
  "a shop without a view says what one is for and makes one; a view without suppliers orders from the cheapest",
  { skip },
  () =>
    withConsole(async (page, link, program) => {
      await program.ask("PUT", "/admin/v1/shops/empty", program.adminToken, { name: "Empty", currencyCode: "EUR" });
      await signIn(page, program, "empty", "reorder", "owner");
      await page.getByText("There is no forecast view yet.").waitFor();
      await picture(page, "reorder-empty");
      await page.getByRole("button", { name: /^Make the view/ }).click();
      await page.getByText("Nothing needs a reorder in this view.").waitFor();

      await page.goto(link);
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await page.goto(`${program.url}/console/reorder`);
      await page.locator("tr[data-row='0']").waitFor();
      await picture(page, "reorder-demo");
      await page.getByRole("link", { name: "The next six months" }).click();
      await page.getByText(/does not show who supplies/).waitFor();
      await picture(page, "reorder-months");
      await page.locator("tr[data-row='0'] [data-kind=quantity]").fill("4");
      await page.keyboard.press("Enter");
      await page.getByText("1 line", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Make drafts" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Make 1 draft" }).click();
      await page.getByRole("dialog").getByText("The draft exists.").waitFor();
      await page.getByRole("button", { name: "Close" }).click();
      await dialogsGone(page);
      await page.route("**/forecast-views/**", (route) => route.abort());
      await page.getByRole("link", { name: "To order" }).click();
      await page.getByRole("alert").waitFor({ timeout: 30_000 });
      await picture(page, "reorder-failing");
      await throughAgain(page);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator("tr[data-row='0']").waitFor();
    }),
);

test(
  "a view is searched, filtered by supplier and sorted; the address keeps it; a product shows its sales and stock",
  { skip },
  () =>
    withConsole(async (page, link, program) => {
      await page.goto(link);
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await page.goto(`${program.url}/console/reorder`);
      const names = page.locator("tr[data-row] th[scope=row]");
      await names.first().waitFor();
      const all = await names.count();
      await page.getByRole("columnheader", { name: "On hand" }).getByRole("link").click();
      await page.getByRole("columnheader", { name: "On hand" }).and(page.locator("[aria-sort=ascending]")).waitFor();
      const onHand = async (): Promise<readonly number[]> => {
        const at = await page.locator("thead th").allInnerTexts();
        const cells = page.locator(
          `tr[data-row] > :nth-child(${at.findIndex((head) => head.startsWith("On hand")) + 1})`,
        );
        return (await cells.allInnerTexts()).map(Number);
      };
      const sorted = await onHand();
      assert.deepEqual(
        sorted,
        sorted.toSorted((one, other) => one - other),
      );
      await page.getByRole("searchbox", { name: "Search this view" }).fill("atelier");
      await page.getByText(`2 of ${all} products`, { exact: true }).waitFor();
      await page.getByRole("button", { name: "Tick all suggested" }).click();
      await page.getByText("2 lines of 1 supplier").waitFor();
      assert.match(page.url(), /sort=onHand/);
      await page.reload();
      await page.getByText(`2 of ${all} products`, { exact: true }).waitFor();
      await picture(page, "reorder-searched");
      await page.getByRole("searchbox", { name: "Search this view" }).fill("no such product");
      await page.getByText("Nothing in this view is called so.").waitFor();
      await page.getByRole("searchbox", { name: "Search this view" }).fill("");
      await page.getByText(`${all} of ${all} products`, { exact: true }).waitFor();
      await page.getByRole("button", { name: "Filters" }).click();
      await page.getByRole("combobox", { name: "Supplier" }).selectOption("Maasbrand Roastery");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /Supplier: Maasbrand Roastery/ }).click();
      await page.getByText(`${all} of ${all} products`, { exact: true }).waitFor();

      const heads = page.locator("thead th");
      const headsBefore = await heads.count();
      await page.getByRole("button", { name: "Columns" }).click();
      await page.getByRole("checkbox", { name: "On hand" }).uncheck();
      await page.keyboard.press("Escape");
      await page.getByRole("columnheader", { name: "On hand" }).waitFor({ state: "detached" });
      assert.match(page.url(), /[?&]columns=/);
      await page.reload();
      await names.first().waitFor();
      assert.equal(await heads.count(), headsBefore - 1);

      await names.first().getByRole("button").click();
      await page.getByRole("dialog").getByRole("heading", { name: "Stock, next 13 weeks" }).waitFor();
      await picture(page, "reorder-product");
      await page.keyboard.press("Escape");
      await dialogsGone(page);
    }),
);
