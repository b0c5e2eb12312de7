/**
 * Figures of suppliers and products, in a real browser: open and late orders, cover, sales and stock as plots, prices paid, documents, reorder
 * settings of a location; from a supplier to its late orders, from a product to its orders and back.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../support/pages/axe.ts";
import { makeShop } from "../support/pages/console-shop.ts";
import { dialogsGone, endConsole, picture, skip, withConsole } from "../support/pages/console.ts";

after(endConsole);

const dayMs = 86_400_000;
const now = Date.now();
const at = (days: number): string => new Date(now + days * dayMs).toISOString();
const on = (days: number): string => at(days).slice(0, 10);

const longName = "株式会社京都焙煎珈琲豆輸入販売 and Sons’ Very Old Roasting Company of the Upper Harbour";

const order = (purchaseOrderId: string, status: string, unitCost: number, facts: object, received = 0): object => ({
  type: "purchaseOrder",
  purchaseOrderId,
  poNumber: `PO-${purchaseOrderId}`,
  status,
  supplierId: "s",
  locationId: "l",
  currencyCode: "EUR",
  lineItems: [{ poLineItemId: "1", variantId: "v", quantityOrdered: 40, quantityReceived: received, unitCost }],
  ...facts,
});

const records: readonly object[] = [
  { type: "location", locationId: "l", name: "Main hall" },
  { type: "location", locationId: "m", name: "Ladengeschäft am Rathausmarkt mit Lager im zweiten Untergeschoss" },
  {
    type: "supplier",
    supplierId: "s",
    name: longName,
    contactName: "Bea",
    email: "b@mill.example",
    currencyCode: "EUR",
  },
  { type: "supplier", supplierId: "t", name: "Mill & Sons", email: "mill@mill.example", currencyCode: "USD" },
  {
    type: "variant",
    variantId: "v",
    productId: "p",
    productName: "エチオピア・イルガチェフェ Whole beans, washed, from the high villages",
    variantName: "1 kg",
    sku: "ETH-YIR-1000",
  },
  { type: "variant", variantId: "w", productId: "q", productName: "Oats", sku: "OAT-1", isArchived: true },
  { type: "supplierVariant", supplierId: "s", variantId: "v", unitCost: 4.125, leadTimeDays: 14, supplierSku: "X-9" },
  { type: "supplierVariant", supplierId: "t", variantId: "v", unitCost: 5, unitCostCurrencyCode: "USD" },
  { type: "inventoryLevel", variantId: "v", locationId: "l", onHand: 120 },
  { type: "inventoryLevel", variantId: "v", locationId: "m", onHand: 30 },
  ...Array.from({ length: 75 }, (_, index) => ({
    type: "sale",
    variantId: "v",
    locationId: "l",
    date: on(-1 - index),
    quantity: 3 + ((index * 7) % 4),
  })),
  order("1", "Completed", 3.9, { createdAt: at(-120), receivedAt: at(-100), expectedDeliveryDate: on(-100) }, 40),
  order("2", "Completed", 4, { createdAt: at(-90), receivedAt: at(-70), expectedDeliveryDate: on(-76) }, 40),
  order("3", "Completed", 4.1255, { createdAt: at(-60), receivedAt: at(-50), expectedDeliveryDate: on(-50) }, 40),
  order("4", "Sent", 4.125, {
    createdAt: at(-20),
    expectedDeliveryDate: on(-2),
    documents: [
      {
        documentId: "d",
        fileName: "proforma-invoice-with-a-long-name-2026-11.pdf",
        contentType: "application/pdf",
        fileSizeBytes: 12_000,
        documentType: "invoice",
        version: 1,
        uploadedAt: at(-3),
        uploadedBy: null,
      },
    ],
  }),
  order("5", "Confirmed", 4.125, { createdAt: at(-5), expectedDeliveryDate: on(16) }),
  order("6", "Draft", 4.2, { createdAt: at(-1) }),
];

const main = (page: Page) => page.getByRole("main");
const row = (page: Page, name: RegExp) => main(page).getByRole("row", { name });

test(
  "a supplier's list and page tell what is open, late and on time, what was paid, and lead to its late orders",
  { skip },
  () =>
    withConsole(async (page, _link, program) => {
      const { link } = await makeShop(program, "figures", records);
      await page.goto(link);
      await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
      await row(page, /€330\.00/).waitFor();
      const listed = row(page, /Bea/);
      assert.match(await listed.innerText(), /b@mill\.example\s+€330\.00\s+\w{3} \d+\s+1\s/);
      await row(page, /^Select Mill & Sons Mill & Sons Active mill@mill\.example – – – –$/).waitFor();
      await picture(page, "supplier-list");
      assert.deepEqual(await accessibilityFaults(page), []);
      await listed.getByRole("link", { name: "1", exact: true }).click();
      await main(page).getByRole("link", { name: "PO-4" }).waitFor();
      assert.equal(await main(page).getByRole("link", { name: /^PO-/ }).count(), 1);
      await page.goBack();
      await main(page).getByRole("link", { name: longName }).click();
      const card = main(page).getByRole("region", { name: "Orders and deliveries" });
      await card.getByText("€330.00 (2)").waitFor();
      await card.getByText("2 of 3 (67 %)").waitFor();
      await card.getByText("6 days").waitFor();
      await card.getByRole("link", { name: "PO-5" }).waitFor();
      const paid = main(page).getByRole("region", { name: "Prices paid" });
      await paid.getByRole("row", { name: /PO-3 .*\+3\.1% €4\.1255$/ }).waitFor();
      assert.equal(await paid.getByRole("row", { name: /^PO-6/ }).count(), 0);
      await main(page).getByRole("region", { name: "Documents" }).getByText("proforma-invoice").waitFor();
      await main(page)
        .getByRole("region", { name: "Documents" })
        .getByText(/Invoice/)
        .waitFor();
      await picture(page, "supplier-figures");
      assert.deepEqual(await accessibilityFaults(page), []);
      await main(page).getByRole("region", { name: "Documents" }).getByRole("link", { name: "PO-4" }).click();
      await main(page).getByRole("link", { name: longName }).click();
      await card.waitFor();
    }),
);

test("a product's list and page tell how long stock lasts, and a location gets settings of its own", { skip }, () =>
  withConsole(async (page, _link, program) => {
    const { link } = await makeShop(program, "cover", records);
    await page.goto(link);
    await page.getByRole("navigation").getByRole("link", { name: "Products" }).click();
    await row(page, /Oats.*Archived/).waitFor();
    await row(page, /ETH-YIR-1000.* 150 80 \d+ days/).waitFor();
    await picture(page, "product-list");
    assert.deepEqual(await accessibilityFaults(page), []);
    await main(page)
      .getByRole("link", { name: /Whole beans/ })
      .click();
    await main(page)
      .getByRole("region", { name: "Stock and demand" })
      .getByText(/\d+ days/)
      .waitFor();
    const outlook = main(page).getByRole("region", { name: "Sales and stock" });
    await outlook.getByText(/Sold \d+ in 30 days/).waitFor();
    await outlook.getByText("Nothing is left").waitFor();
    const orders = main(page).getByRole("region", { name: "Orders", exact: true });
    await orders.getByRole("row", { name: /^PO-6 .* Draft .* €4\.20$/ }).waitFor();
    await orders.getByRole("button", { name: "Load more" }).click();
    await orders.getByRole("row", { name: /^PO-1 / }).waitFor();
    await main(page).getByRole("button", { name: "Reorder settings at Main hall" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reorder point, at least").fill("25");
    await picture(page, "reorder-settings");
    assert.deepEqual(await accessibilityFaults(page), []);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialogsGone(page);
    await row(page, /^Main hall 120 .*Reorder point, at least: 25/).waitFor();
    const read = async () =>
      (await program.ask("GET", "/admin/v1/shops/cover/variants/v", program.adminToken)).at(
        "data",
        "variant",
        "reorder",
        "locations",
      );
    assert.deepEqual(
      ((await read()) as readonly { locationId: string; minimum: number }[]).map(({ locationId, minimum }) => [
        locationId,
        minimum,
      ]),
      [["l", 25]],
    );
    await picture(page, "product-figures");
    assert.deepEqual(await accessibilityFaults(page), []);
    // Taken back, nothing is set.
    await main(page).getByRole("button", { name: "Reorder settings at Main hall" }).click();
    await dialog.getByLabel("Reorder point, at least").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialogsGone(page);
    assert.equal(
      (await program.ask("GET", "/admin/v1/shops/cover/variants/v", program.adminToken)).at(
        "data",
        "variant",
        "reorder",
      ),
      null,
    );
    await orders.getByRole("link", { name: "PO-5" }).click();
    await main(page)
      .getByRole("link", { name: /Whole beans/ })
      .click();
    await outlook.waitFor();
  }),
);

test(
  "a product's picture is a link on its page: the page itself reads nothing from another server (C55)",
  { skip },
  () =>
    withConsole(async (page, _link, program) => {
      const { link } = await makeShop(program, "pictures", records);
      await page.goto(`${new URL(link).origin}/console/products/w${new URL(link).hash}`);
      await main(page).getByRole("button", { name: "Edit", exact: true }).click();
      await main(page).getByLabel("Picture").fill("https://pictures.example/oats.png");
      await main(page).getByRole("button", { name: "Save", exact: true }).click();
      const shown = main(page).getByRole("link", { name: "pictures.example" });
      await shown.waitFor();
      assert.deepEqual(
        [await shown.getAttribute("href"), await shown.getAttribute("rel")],
        ["https://pictures.example/oats.png", "noreferrer"],
      );
      assert.equal(await main(page).getByRole("region", { name: "Stock, next 13 weeks" }).count(), 0);
      await picture(page, "product-without-stock");
    }),
);
