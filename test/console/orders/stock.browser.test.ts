/**
 * Stock takes, adjustments, transfers and manufacturing orders in a real browser: lists with filters, and each record.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeShop } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withConsole } from "../../support/pages/console.ts";
import { becomes } from "../../support/until.ts";

after(endConsole);

const kinds = [
  { step: "takes", title: "Stock takes", status: "Completed", says: "Difference" },
  { step: "adjustments", title: "Adjustments", status: "Completed", says: "Change" },
  { step: "transfers", title: "Transfers", status: "Received", says: "Requested" },
  { step: "manufacturing", title: "Manufacturing", status: "Completed", says: "Materials" },
] as const;

test(
  "each kind of stock record has a list that is filtered by its address, and a page for each record",
  { skip },
  async () => {
    await withConsole(async (page, link, program) => {
      await page.goto(link);
      await page.getByRole("link", { name: "Stock", exact: true }).click();
      // First what is on hand, in all places and in one; a row leads to its product.
      await page.getByRole("heading", { name: "On hand", level: 1 }).waitFor();
      const products = page.locator("table.list tbody tr");
      const grinder = products.filter({ hasText: "Hand Grinder" }).first();
      await grinder.waitFor();
      const sumOf = async (): Promise<string> => await grinder.locator("td").nth(2).innerText();
      const all = await sumOf();
      await picture(page, "stock-on-hand");
      await page.getByRole("button", { name: "Filters", exact: true }).click();
      await page.getByRole("combobox", { name: "Location" }).fill("Shop");
      await page.getByRole("option").first().click();
      await page.waitForURL(/locationId=/);
      await page.keyboard.press("Escape");
      await becomes(async () => (await sumOf()) === all, false);
      await page.locator("button.taken").click();
      await becomes(sumOf, all);
      await grinder.getByRole("link").click();
      await page.waitForURL(/\/products\//);
      await page.goBack();
      for (const { step, title, status, says } of kinds) {
        await page
          .getByRole("navigation", { name: "Kinds of stock records" })
          .getByRole("link", { name: title })
          .click();
        await page.getByRole("heading", { name: title, level: 1 }).waitFor();
        const rows = page.locator("table.list tbody tr");
        await rows.first().waitFor();
        const all = await rows.count();
        await picture(page, `stock-${step}`);
        await page.getByRole("button", { name: "Filters", exact: true }).click();
        await page.getByRole("button", { name: status, exact: true }).click();
        await page.waitForURL(/status=/);
        await page.keyboard.press("Escape");
        await becomes(async () => [...new Set(await page.locator("table.list .chip").allInnerTexts())], [status]);
        assert.ok((await rows.count()) <= all);
        await rows.first().getByRole("link").click();
        await page.getByText(says, { exact: true }).first().waitFor();
        // Products and locations have their names.
        const shown = await page.locator("main").innerText();
        assert.ok(!/\b(?:var|loc)_/.test(shown));
        if (step === "takes") assert.match(shown, /Kind of count\s+(?:Full|Partial|Cycle)/);
        await picture(page, `stock-${step}-record`);
        const facts = await page.locator("dl.facts").innerText();
        assert.ok(!/\b(?:full|partial|cycle|in-house|outsourced)\b/.test(facts), `a word of the API: ${facts}`);
        // On a phone a line has its figures too: its row leads nowhere.
        await page.setViewportSize({ width: 390, height: 844 });
        const cells = await page.locator("table.whole tbody tr").first().locator("th, td").all();
        assert.ok(cells.length > 2);
        for (const cell of cells) assert.ok(await cell.isVisible(), `${step}: ${await cell.getAttribute("data-name")}`);
        await page.setViewportSize({ width: 1_280, height: 900 });
        await page.goBack();
        await page.locator("button.taken", { hasText: status }).waitFor();
      }
      await page.goto(`${new URL(link).origin}/console/stock/transfers/none`);
      await page.getByRole("alert").waitFor();
      assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0, "another attempt finds no more");
      await page.goto(`${new URL(link).origin}/console/orders/none`);
      const said = await page.getByRole("alert").innerText();
      assert.ok(!said.includes("GET /"), `what a program would send: ${said}`);

      const empty = await makeShop(program, "bare", [{ type: "location", locationId: "l", name: "Hall" }]);
      await page.goto("about:blank");
      await page.goto(empty.link);
      await page.getByRole("link", { name: "Stock", exact: true }).click();
      await page.getByText("There are no products yet.").waitFor();
      await page.getByRole("link", { name: "Stock takes" }).click();
      await page.getByText("There are no stock takes yet.").waitFor();
      await picture(page, "stock-empty");
    });
  },
);
