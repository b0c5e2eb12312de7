/**
 * A shop without a storefront, in which some things are archived, in a real browser: nothing of a storefront is shown, what is archived is not
 * offered for anything new, and a mistake is told in words beside its field.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { apiOf, makeShop } from "../../support/pages/console-shop.ts";
import { endConsole, newPage, picture, skip } from "../../support/pages/console.ts";

after(endConsole);

const records: readonly object[] = [
  ...["Main hall", "Cold hall", "Old hall"].map((name) => ({
    type: "location",
    locationId: name,
    name,
    ...(name === "Old hall" ? { status: "archived" } : {}),
  })),
  ...["Maasbrand Roastery", "Maasbrand Closed"].map((name) => ({
    type: "supplier",
    supplierId: name,
    name,
    currencyCode: "EUR",
    ...(name === "Maasbrand Closed" ? { status: "archived" } : {}),
  })),
  ...["Espresso beans", "Espresso old blend"].map((productName) => ({
    type: "variant",
    variantId: productName,
    productId: productName,
    productName,
    sku: `SKU-${productName}`,
    isArchived: productName === "Espresso old blend",
  })),
  {
    type: "purchaseOrder",
    purchaseOrderId: "old",
    poNumber: "PO-OLD",
    status: "Draft",
    supplierId: "Maasbrand Closed",
    locationId: "Old hall",
    createdAt: "2026-01-05T09:00:00.000Z",
    lineItems: [{ variantId: "Espresso old blend", quantityOrdered: 2, unitCost: 3 }],
  },
];

/** Choices that a field offers for a text. */
async function offeredFor(page: Page, label: string, text: string): Promise<readonly string[]> {
  const field = page.getByRole("combobox", { name: label });
  await field.fill(text);
  const offer = page.getByRole("listbox", { name: label }).getByRole("option");
  await offer.first().waitFor();
  return await offer.allInnerTexts();
}

test("what is archived is offered for no new order or line, and keeps its name where it stands", { skip }, async () => {
  const { page, program, faults } = await newPage();
  const { link, key } = await makeShop(program, "archived", records);
  const storefront = { storefront: { kind: "none" } };
  assert.equal((await program.ask("PUT", "/admin/v1/shops/archived", program.adminToken, storefront)).status, 200);
  await page.goto(link);
  await page.getByRole("link", { name: "PO-OLD" }).waitFor();
  await page.goto(`${program.url}/console/new-order`);
  assert.deepEqual(await offeredFor(page, "Supplier", "Maas"), ["Maasbrand Roastery"]);
  await page.getByRole("option", { name: "Maasbrand Roastery" }).click();
  assert.deepEqual(await offeredFor(page, "Where do the goods go?", "hall"), ["Cold hall", "Main hall"]);
  await page.getByRole("option", { name: "Main hall" }).click();
  await page.getByRole("combobox", { name: "Where do the goods go?" }).waitFor({ state: "detached" });
  const [found, ...others] = await offeredFor(page, "Add a product", "Espresso");
  assert.match(found ?? "", /^Espresso beans/);
  assert.match(found ?? "", /not sold by Maasbrand Roastery · 0 on hand$/);
  assert.deepEqual(others, []);

  await page.goto(`${program.url}/console/orders/old`);
  await page.getByRole("link", { name: "Maasbrand Closed" }).waitFor();
  await page.getByText("Espresso old blend").first().waitFor();
  await page.getByText("Paste rows from a sheet").click();
  await page
    .getByLabel("Rows", { exact: true })
    .fill("SKU-Espresso old blend\t3\nEspresso old blend\t1\nSKU-Espresso beans\t1");
  await page.getByRole("button", { name: "Check rows", exact: true }).click();
  await page.getByText("The product of this code is archived.").nth(1).waitFor();
  assert.equal(await page.getByText("The product of this code is archived.").count(), 2);
  await page.getByRole("button", { name: "Edit details" }).click();
  assert.equal(await page.getByRole("combobox", { name: "Supplier" }).inputValue(), "Maasbrand Closed");
  assert.deepEqual(await offeredFor(page, "Supplier", "Maas"), ["Maasbrand Roastery"]);
  assert.deepEqual(await offeredFor(page, "Location", "hall"), ["Cold hall", "Main hall"]);
  await page.goto(`${program.url}/console/suppliers/Maasbrand Roastery`);
  const [priced, ...more] = await offeredFor(page, "Add a product to the price list", "Espresso");
  assert.match(priced ?? "", /^Espresso beans/);
  assert.deepEqual(more, []);
  await page.goto(`${program.url}/console/products`);
  await page.getByRole("row", { name: /Espresso old blend.*Archived/ }).waitFor();
  // A list is filtered by what it has, archived or not.
  await page.goto(`${program.url}/console/orders`);
  await page
    .getByRole("button", { name: /Filter/ })
    .first()
    .click();
  assert.deepEqual(await offeredFor(page, "Supplier", "Maas"), ["Maasbrand Closed", "Maasbrand Roastery"]);
  assert.equal((await apiOf(program, key).order("old")).supplierId, "Maasbrand Closed");
  assert.deepEqual(faults, []);
});

test("a shop without a storefront is told nothing of syncing; one with a sandbox is", { skip }, async () => {
  const { page, program, faults } = await newPage();
  for (const [shopId, kind] of [
    ["unsynced", "none"],
    ["synced", "sandbox"],
  ] as const) {
    const { link } = await makeShop(program, shopId, records);
    await program.ask("PUT", `/admin/v1/shops/${shopId}`, program.adminToken, { storefront: { kind } });
    const expected = kind === "none" ? 0 : 1;
    await page.context().clearCookies();
    await page.goto(link);
    await page.getByRole("link", { name: "PO-OLD" }).waitFor();
    await page.setViewportSize({ width: 1_800, height: 900 });
    assert.equal(await page.getByRole("columnheader", { name: "Storefront" }).count(), expected, kind);
    assert.equal(await page.getByRole("link", { name: "Sync failed" }).count(), expected, kind);
    await page.goto(`${program.url}/console/orders/old`);
    await page.getByRole("heading", { name: "PO-OLD" }).waitFor();
    assert.equal(await page.locator("dt", { hasText: "Storefront" }).count(), expected, kind);
    await picture(page, `order-${shopId}`);
  }
  assert.deepEqual(faults, []);
});

test("a mistake in a line is told in words beside it, and above by the name of its field", { skip }, async () => {
  const { page, program, faults } = await newPage();
  const { link } = await makeShop(program, "mistaken", records);
  await page.goto(link);
  await page.getByRole("link", { name: "PO-OLD" }).click();
  await page.getByText("Custom line").click();
  await page.getByLabel("What is ordered").fill("Cups");
  await page.getByLabel("Quantity", { exact: true }).fill("-5");
  await page.getByRole("button", { name: "Add line", exact: true }).click();
  await page.locator(".cell-note", { hasText: /^More than 0\.$/ }).waitFor();
  await page
    .getByRole("alert")
    .getByText(/^Quantity ordered: More than 0\.$/)
    .waitFor();
  assert.equal(await page.getByText("what details names").count(), 0);
  await picture(page, "order-mistaken");
  assert.deepEqual(faults, []);
});
