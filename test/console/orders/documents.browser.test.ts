/**
 * An order as its supplier gets it, in a real browser: files, the page to print, and how documents look.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withConsole, withPerson } from "../../support/pages/console.ts";

after(endConsole);

const logo = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 20"><path fill="#0b5f6b" d="M0 0H60V20Z"/></svg>',
);

test("an owner sets the letterhead, and the order's page, its print and its PDF have it", { skip }, async () => {
  await withConsole(async (page, link, program) => {
    await page.goto(link);
    await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Documents", exact: true }).click();
    await page.getByRole("form", { name: "How documents look" }).getByLabel("Language").selectOption("de");
    await page.getByLabel("Company").fill("Leuchtturm Kaffee GmbH");
    await page.getByLabel("Foot of every page").fill("USt-IdNr. DE123456789");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Documents").waitFor();
    await page
      .getByLabel("Logo", { exact: true })
      .setInputFiles({ name: "l.svg", mimeType: "image/svg+xml", buffer: logo });
    await page.getByAltText("The logo as it is now").waitFor();
    // It is shown, not only there.
    await untilOnPage(page, "document.querySelector('.logo img').naturalWidth > 0");
    await picture(page, "documents");
    await page.getByLabel("Foot of every page").fill("𒀀");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("Not saved: one field is wrong.").waitFor();
    assert.match(await page.locator("#wrong-footer").innerText(), /U\+12000/);
    await untilOnPage(page, "document.activeElement.name === 'footer'");
    await picture(page, "documents-refused");

    const listed = await program.ask("GET", "/api/v1/purchase-orders?status=Sent&limit=1", program.word("write key"));
    const id = String(listed.at("data", "purchaseOrders", 0, "purchaseOrderId"));
    const number = String(listed.at("data", "purchaseOrders", 0, "poNumber"));
    await page.goto(`${new URL(link).origin}/console/orders/${id}`);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download PDF" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), `${number}.pdf`);
    assert.match(readFileSync(await file.path(), "latin1"), /^%PDF-1\.7/);
    await page.getByRole("link", { name: "Preview and print" }).click();
    await page.getByRole("heading", { name: "Bestellung" }).waitFor();
    await page.getByText("Leuchtturm Kaffee GmbH").waitFor();
    await page.getByText("USt-IdNr. DE123456789").waitFor();
    await picture(page, "print");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getByRole("button", { name: "Print" }).isVisible(), false);
    assert.equal(await page.getByRole("navigation").isVisible(), false);
    // What prints the page repeats a table's head.
    const display = await page.evaluate<string>("getComputedStyle(document.querySelector('.sheet thead')).display");
    assert.equal(display, "table-header-group");
  });
});

test("a viewer downloads and prints, and is told who sets how documents look", { skip }, () =>
  withPerson("viewer", async (page, program) => {
    const listed = await program.ask("GET", "/api/v1/purchase-orders?limit=1", program.word("write key"));
    const id = String(listed.at("data", "purchaseOrders", 0, "purchaseOrderId"));
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/console/orders/${id}`);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    assert.match(readFileSync(await file.path(), "utf8"), /^\ufeffPO number,Line,Supplier SKU/);
    await page.goto(`${origin}/console/settings/documents`);
    await page.getByText("Settings are changed by owners of the shop.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Save" }).count(), 0);
  }),
);
