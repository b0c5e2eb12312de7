/**
 * How many clicks a person needs, from home or from the screen that is named: a click is one that the page hears from the mouse.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import type { Role } from "../../../src/core/access/role.ts";
import { apiOf, clicksOf, makeShop, showsStatus } from "../../support/pages/console-shop.ts";
import { endConsole, newPage, skip } from "../../support/pages/console.ts";
import { connectAgent } from "../../support/mcp.ts";
import { becomes } from "../../support/until.ts";

after(endConsole);

const barcodes = Array.from({ length: 12 }, (_, index) => String(40_000_000 + index));

function order(id: string, status: string, more: object = {}): object {
  return {
    type: "purchaseOrder",
    purchaseOrderId: id,
    poNumber: `PO-${id}`,
    status,
    supplierId: "s",
    locationId: "l",
    lineItems: barcodes.map((barcode, index) => ({
      poLineItemId: `${id}-${index}`,
      variantId: `v${index}`,
      barcode,
      quantityOrdered: 1,
      ...(status === "In Progress" ? { quantityConfirmed: 1 } : {}),
      unitCost: 2,
    })),
    ...more,
  };
}

const saleDay = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10);

const records: readonly object[] = [
  { type: "location", locationId: "l", name: "Hall" },
  { type: "supplier", supplierId: "s", name: "The Mill", currencyCode: "EUR", leadTimeDays: 7 },
  ...barcodes.flatMap((barcode, index) => [
    { type: "variant", variantId: `v${index}`, productId: `p${index}`, productName: `Product ${index}`, barcode },
    { type: "supplierVariant", supplierId: "s", variantId: `v${index}`, unitCost: 2 },
    { type: "inventoryLevel", variantId: `v${index}`, locationId: "l", onHand: 2 },
    { type: "sale", variantId: `v${index}`, locationId: "l", date: saleDay, quantity: 40 },
  ]),
  {
    type: "forecastView",
    viewId: "to_order",
    viewName: "To order",
    mode: "stock",
    isStarred: true,
    filters: { onlyReorder: true },
    columns: ["productName", "supplierName", "onHand", "suggestedOrderQuantity", "unitCost", "needsReorder"],
  },
];

/** A shop with these orders, and home as somebody with this role sees it. */
async function atHome(shopId: string, orders: readonly object[], role: Role = "owner") {
  const { page, program } = await newPage();
  const { key } = await makeShop(program, shopId, [...records, ...orders]);
  const ask = async (target: string, body: object) => {
    const answer = await program.ask("POST", `/admin/v1/shops/${shopId}${target}`, program.adminToken, body);
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  const invited = await ask("/invitations", { name: "Ida", role });
  await page.goto(String(invited.at("data", "url")));
  await page.getByRole("heading", { name: "Hello, Ida" }).waitFor();
  return { page, program, key, api: apiOf(program, key), ask, clicks: await clicksOf(page) };
}

const toPlace = (page: Page, name: RegExp): Promise<void> =>
  page.getByRole("navigation", { name: "Console" }).getByRole("link", { name }).click();

test(
  "from the reorder screen three clicks make the order of all that is suggested, a fourth opens it",
  { skip },
  async () => {
    const { page, clicks } = await atHome("reordering", [], "purchaser");
    await toPlace(page, /^Reorder/);
    await page.getByText("Tick what to order.").waitFor();
    const before = await clicks();
    await page.getByRole("button", { name: "Tick all suggested" }).click();
    await page.getByRole("button", { name: "Make 1 draft" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Make 1 draft" }).click();
    const made = dialog.getByRole("link", { name: /^PO-/ });
    await made.waitFor();
    assert.equal((await clicks()) - before, 3);
    await made.click();
    await page.getByRole("button", { name: "Send to the supplier" }).waitFor();
    assert.equal((await clicks()) - before, 4);
  },
);

test("from home two clicks and a scanner receive twelve lines", { skip }, async () => {
  const { page, api, clicks } = await atHome("scanning", [order("12", "In Progress")], "receiver");
  await toPlace(page, /^Receive/);
  const scan = async (code: string): Promise<void> => {
    // What a scanner does, into whatever has the focus.
    await page.keyboard.insertText(code);
    await page.keyboard.press("Enter");
  };
  await page.getByLabel("Scan", { exact: true }).waitFor();
  await scan("PO-12");
  await page.getByRole("heading", { name: /PO-12/ }).waitFor();
  for (const [index, barcode] of barcodes.entries()) {
    await scan(barcode);
    await page.locator(`[data-nth='${index + 1}']`).waitFor();
  }
  await page.getByRole("button", { name: "Receive (12)" }).click();
  await page.getByText("12 lines received.").waitFor();
  assert.equal(await clicks(), 2);
  assert.ok((await api.order("12")).lineItems.every((line) => line.quantityReceived === 1));
});

test("who changed an order is on its page, without a click", { skip }, async () => {
  const { page, api, clicks } = await atHome("changed", [order("1", "Draft")], "viewer");
  await api.send("PATCH", "/1", { note: "Ring the bell" });
  await toPlace(page, /^Orders/);
  await page.getByRole("link", { name: "PO-1", exact: true }).click();
  const before = await clicks();
  const entry = page.getByRole("region", { name: "Activity" }).getByRole("listitem").first();
  await becomes(async () => /night bot/.test(await entry.innerText()), true);
  assert.equal((await clicks()) - before, 0);
});

for (const role of ["owner", "purchaser"] as const)
  test(
    `from home one click shows the ${role} what the assistant did, however much people did since`,
    { skip },
    async () => {
      const { page, program, key, ask, clicks } = await atHome(
        `assisted-${role}`,
        [order("1", "Draft"), order("2", "Draft")],
        role,
      );
      await using agent = await connectAgent({ url: program.url, writeKey: key });
      const done = await agent.call("purchase_order_update", { purchaseOrderId: "2", note: "what the bot wrote" });
      assert.ok(!done.isError, done.text);
      // More than a page of the activity.
      await Promise.all(
        Array.from({ length: 51 }, (_, nth) => ask("/purchase-orders/1/comments", { text: `Remark ${nth}` })),
      );
      await page.getByRole("link", { name: "What assistants did" }).click();
      await page.locator(".change-list li", { hasText: /PO-2.*night bot/s }).waitFor();
      assert.equal(await clicks(), 1);
    },
  );

test("from home two clicks accept a supplier's answer", { skip }, async () => {
  const { page, ask, clicks } = await atHome("answered", [order("1", "Sent")], "purchaser");
  const linked = await ask("/purchase-orders/1/supplier-links", {});
  const proposed = await fetch(`${String(linked.at("data", "url"))}/proposal`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ lines: barcodes.map((_, index) => ({ lineItemId: `1-${index}`, quantityConfirmed: 1 })) }),
  });
  assert.ok(proposed.ok, await proposed.text());
  await page.getByRole("link", { name: /1\s*answers to accept/ }).click();
  await page.getByRole("button", { name: "Accept all" }).click();
  await showsStatus(page, "Confirmed");
  assert.equal(await clicks(), 2);
});
