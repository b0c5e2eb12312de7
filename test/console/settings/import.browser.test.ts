/**
 * Importing in a real browser: what a file would change, a bad row by line and column, 20,000 products, all or nothing.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { endConsole, picture, skip, withConsole } from "../../support/pages/console.ts";
import type { RunningProgram } from "../../support/process.ts";

after(endConsole);

async function signIn(page: Page, program: RunningProgram, shopId: string, role: string): Promise<void> {
  const token = program.adminToken;
  await program.ask("PUT", `/admin/v1/shops/${shopId}`, token, { name: "New shop", currencyCode: "EUR" });
  const body = { name: "Olga", role };
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/invitations`, token, body);
  await page.goto(String(made.at("data", "url")));
  await page.getByRole("heading", { name: /^Hello, / }).waitFor();
  await page.goto(`${program.url}/console/import`);
}

const choose = (page: Page, name: string, lines: readonly string[]): Promise<void> =>
  page
    .locator("input[type=file]")
    .setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(`${lines.join("\n")}\n`) });

const counts = async (program: RunningProgram, shopId: string) =>
  (await program.ask("GET", `/admin/v1/shops/${shopId}`, program.adminToken)).at("data", "shop", "counts");

const products = ["Handle,Title,Variant SKU,Variant Price,Cost per item", "mug,Mug,MUG,9.50,4", "cup,Cup,CUP,7,3"];

test("a bad row is named by line, column and value, and nothing comes in until the file is right", { skip }, () =>
  withConsole(async (page, _link, program) => {
    await signIn(page, program, "files", "owner");
    await picture(page, "import-empty");
    await choose(page, "products.csv", [...products, "pot,Pot,POT,cheap,5"]);
    await page.getByText(`Line 4, Variant Price: "cheap" is no number.`).waitFor();
    await page.getByText("pot,Pot,POT,cheap,5").waitFor();
    assert.equal(await page.locator("td.wrong").innerText(), "cheap");
    await picture(page, "import-refused");

    // All mistakes come at once, also as a table; what a sheet would run as a formula is a text there.
    await choose(page, "products.csv", [
      ...products,
      "pot,Pot,POT,cheap,5",
      "jug,Jug,JUG,=1,x",
      "urn,,URN,3,4",
      "cut,Cut",
    ]);
    await page.getByText("Line 5, Cost per item").waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download this list" }).click();
    const pieces: Buffer[] = [];
    for await (const piece of await (await downloading).createReadStream()) pieces.push(Buffer.from(piece));
    assert.equal(
      Buffer.concat(pieces).toString(),
      [
        "\ufeffLine,Column,Mistake",
        `4,Variant Price,"""cheap"" is no number."`,
        `5,Variant Price,"""=1"" is no number."`,
        `5,Cost per item,"""x"" is no number."`,
        "6,Title,This is needed.",
        "7,,The values do not fit the columns. Put them in quotes.",
        "",
      ].join("\r\n"),
    );
    await picture(page, "import-refused-many");

    await choose(page, "products.csv", products);
    await page.getByText("2 products").waitFor();
    await picture(page, "import-checked");
    assert.equal(Object(await counts(program, "files")).variants, 0);
    await page.getByRole("button", { name: /^Import \(/ }).click();
    await page.getByText("Imported:").waitFor();
    assert.equal(Object(await counts(program, "files")).variants, 2);

    await choose(page, "products.csv", products);
    await page.getByText("2 products, 2 of them replace what is there").waitFor();
    for (const [name, lines, found] of [
      ["stock.csv", ["Handle,Location,On hand", "mug,Warehouse,12"], "1 stock level"],
      ["prices.csv", ["Supplier,Handle,Unit cost,Currency", "Potters,mug,4,EUR"], "1 supplier's price"],
      [
        "suppliers.csv",
        ["Name,E-mail,Currency,City", "Potters,hello@potters.example,USD,Delft"],
        "1 supplier, 1 of them replaces what is there",
      ],
      ["sales.csv", ["Handle,Date,Quantity,Location", "mug,2026-01-05,3,Warehouse"], "1 day of sales"],
    ] as const) {
      await choose(page, name, lines);
      await page.getByText(found, { exact: true }).waitFor();
      await page.getByRole("button", { name: /^Import \(/ }).click();
      await page.getByText("Imported:").waitFor();
    }
    await picture(page, "import-done");
    assert.equal(Object(await counts(program, "files")).suppliers, 1);

    await choose(page, "suppliers.csv", ["Name,E-mail,Phone,City", "Potters,new@potters.example,,Delft"]);
    await page.getByText("Email: 1 changed", { exact: true }).waitFor();
    await page.getByText("Before and after").click();
    const changed = page.getByRole("row", { name: "Email hello@potters.example new@potters.example" });
    await changed.waitFor();
    assert.equal(await page.locator(".diff tbody tr").count(), 1);
    await picture(page, "import-changes");
    assert.deepEqual(await accessibilityFaults(page), []);
  }),
);

test("20,000 products come in, and the page tells how far it is", { skip }, () =>
  withConsole(async (page, _link, program) => {
    await signIn(page, program, "many", "owner");
    const head = products[0] ?? "";
    const rows = Array.from({ length: 20_000 }, (_, nth) => `p-${nth},Product ${nth},SKU-${nth},9.50,4`);
    // What comes and goes is waited for before it can come.
    const checking = page.getByRole("progressbar", { name: "Checking …" }).waitFor();
    await choose(page, "products.csv", [head, ...rows]);
    await checking;
    await page.getByText("20,000 products").waitFor({ timeout: 180_000 });
    assert.equal(await page.locator(".file tbody tr").count(), 20);
    const importing = page.getByRole("progressbar", { name: "Importing …" }).waitFor();
    await page.getByRole("button", { name: "Import (20,000)" }).click();
    await importing;
    await page.getByText("Imported:").waitFor({ timeout: 180_000 });
    assert.equal(Object(await counts(program, "many")).variants, 20_000);
  }),
);

test("a purchaser is told who imports", { skip }, () =>
  withConsole(async (page, _link, program) => {
    await signIn(page, program, "files", "purchaser");
    await page.getByText("Files are imported by owners of the shop.").waitFor();
  }),
);
