/**
 * An order's way to its supplier and back, in a real browser: sent, by a link to a telephone without script, answered, accepted, received.
 * And the supplier's pages by themselves: what axe-core finds, and whether anything goes over the edge.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { apiOf, makeShop, press, showsStatus } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withConsole } from "../../support/pages/console.ts";
import { patienceMs } from "../../support/until.ts";

after(endConsole);

const records: readonly object[] = [
  { type: "location", locationId: "l", name: "Main hall" },
  { type: "supplier", supplierId: "s", name: "Mill & Sons", currencyCode: "EUR" },
  ...["Flour", "Oats"].map((productName, index) => ({
    type: "variant",
    variantId: `v${index}`,
    productId: `p${index}`,
    productName,
    sku: `SKU-${index}`,
  })),
  {
    type: "purchaseOrder",
    purchaseOrderId: "po_1",
    poNumber: "PO-1",
    status: "Draft",
    supplierId: "s",
    locationId: "l",
    noteToSupplier: "Please ring the bell at the gate.",
    lineItems: ["Flour", "Oats"].map((productName, index) => ({
      poLineItemId: `po_1-${index}`,
      variantId: `v${index}`,
      productName,
      sku: `SKU-${index}`,
      quantityOrdered: 10,
      unitCost: 2.5,
    })),
  },
];

/** A telephone of a supplier: another browser profile, by default without script. */
async function telephone(
  page: Page,
  options: { readonly javaScriptEnabled?: boolean; readonly colorScheme?: "light" | "dark" } = {},
): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
  const browser: Browser | null = page.context().browser();
  assert.ok(browser !== null);
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    javaScriptEnabled: false,
    ...options,
  });
  const own = await context.newPage();
  own.setDefaultTimeout(patienceMs);
  return { context, page: own };
}

test(
  "an order goes from draft to receipt by its supplier's answer, given on a telephone without script",
  { skip },
  async () => {
    await withConsole(async (page, _link, program) => {
      const { link, key } = await makeShop(program, "links", records);
      const api = apiOf(program, key);
      await page.goto(link);
      await page.getByRole("link", { name: "PO-1" }).first().click();
      await page.getByRole("heading", { name: "PO-1" }).waitFor();
      await api.send("POST", "/po_1/status", { status: "Sent" });
      await page.reload();
      await showsStatus(page, "Sent");
      // Parts of the page above it are still being loaded: a button that moves while the mouse is down is not clicked.
      await press(page, "button", "Make a link");
      const url = await page.getByLabel("Link", { exact: true }).inputValue();
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Close without copying" }).click();

      const phone = await telephone(page);
      const elsewhere: string[] = [];
      phone.page.on("request", (request) => {
        if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith("data:"))
          elsewhere.push(request.url());
      });
      await phone.page.goto(url);
      await phone.page.getByRole("heading", { name: "Purchase order PO-1" }).waitFor();
      await picture(phone.page, "supplier-360");
      const flour = phone.page.getByRole("group", { name: "Flour" });
      await flour.getByLabel("Quantity you will deliver").fill("8");
      await flour.getByLabel("Delivery date").fill("2027-01-15");
      await phone.page.getByRole("group", { name: "Oats" }).getByLabel("Cannot be delivered").check();
      await phone.page.getByLabel("Your order number").fill("SO-77");
      await phone.page.getByRole("button", { name: "Send answer" }).click();
      await phone.page.getByText("has your answer").waitFor();
      await phone.page.reload();
      assert.deepEqual(elsewhere, []);
      const files = await phone.page.getByRole("link", { name: /^(PDF|CSV)$/ }).evaluateAll((links) => links.length);
      assert.equal(files, 2);
      await phone.context.close();

      await page.getByText("Mill & Sons answered on").waitFor();
      await picture(page, "supplier-answer");
      assert.deepEqual(await page.locator("main .primary").allInnerTexts(), ["Accept all"]);
      assert.deepEqual(await accessibilityFaults(page), []);
      await page.goto(`${new URL(url).origin}/console/orders`);
      await page.getByRole("region", { name: "Suppliers have answered" }).getByRole("link", { name: "PO-1" }).click();
      await page.getByRole("button", { name: "Accept all" }).click();
      await showsStatus(page, "Confirmed");
      await page.getByText("Earlier answers").waitFor();
      await api.send("POST", "/po_1/status", { status: "In Progress" });
      await api.send("POST", "/po_1/receive", { lines: [{ lineItemId: "po_1-0", quantityReceived: 8 }] });
      const order = await api.order("po_1");
      assert.deepEqual(
        [
          order.status,
          order.supplierReference,
          order.lineItems.map((line) => [line.quantityReceived, line.quantityCancelled]),
        ],
        [
          "Received",
          "SO-77",
          [
            [8, 0],
            [0, 10],
          ],
        ],
      );
      await page.goto(`${new URL(url).origin}/console/orders/po_1`);
      await page.getByRole("button", { name: /^Revoke the link/ }).click();
      await page.getByText("There is no link now.").waitFor();
      const gone = await telephone(page);
      await gone.page.goto(url);
      await gone.page.getByRole("heading", { name: "This link leads nowhere" }).waitFor();
      await gone.context.close();
    });
  },
);

test(
  "without a mail server the dialog says what to set, and the text goes to the person's mail program with a link that works",
  { skip },
  async () => {
    await withConsole(async (page, _link, program) => {
      const { link, key } = await makeShop(program, "own-mail", [
        ...records,
        { type: "supplier", supplierId: "s", name: "Mill & Sons", currencyCode: "EUR", email: "orders@mill.example" },
      ]);
      await page.goto(link);
      await page.getByRole("link", { name: "PO-1" }).first().click();
      await page.getByRole("button", { name: "Send to the supplier" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("The operator sets OPENPO_SMTP_URL and OPENPO_MAIL_FROM").waitFor();
      await dialog.getByRole("button", { name: "Download" }).waitFor();
      await picture(page, "send-own-program");
      assert.deepEqual(await accessibilityFaults(page), []);
      const watching = await page.context().newCDPSession(page);
      await watching.send("Page.enable");
      const asked = new Promise<string>((resolve) => {
        watching.on("Page.frameRequestedNavigation", ({ url }) => resolve(url));
      });
      await dialog.getByRole("button", { name: "Open my mail program" }).click();
      const mail = new URL(await asked);
      assert.deepEqual([mail.protocol, mail.pathname], ["mailto:", "orders@mill.example"]);
      assert.match(mail.searchParams.get("subject") ?? "", /^Purchase order PO-1 from /);
      const body = mail.searchParams.get("body") ?? "";
      const [url = ""] = /http\S+\/s\/\S+/.exec(body) ?? [];
      assert.doesNotMatch(body, /\{link\}/);
      assert.equal((await fetch(url)).status, 200);
      await dialog.getByRole("button", { name: "Mark as sent" }).click();
      await showsStatus(page, "Sent");
      assert.equal((await apiOf(program, key).order("po_1")).status, "Sent");
    });
  },
);

test(
  "the supplier's pages have no faults that axe-core finds, light and dark, and nothing goes over the edge",
  { skip },
  async () => {
    await withConsole(async (page, _link, program) => {
      const { key } = await makeShop(program, "pages", records);
      await apiOf(program, key).send("POST", "/po_1/status", { status: "Sent" });
      const made = await program.ask(
        "POST",
        "/admin/v1/shops/pages/purchase-orders/po_1/supplier-links",
        program.adminToken,
        {},
      );
      const url = String(made.at("data", "url"));
      for (const colorScheme of ["light", "dark"] as const) {
        const phone = await telephone(page, { javaScriptEnabled: true, colorScheme });
        const look = async (name: string): Promise<void> => {
          await picture(phone.page, `supplier-${name}`);
          await phone.page.emulateMedia({ colorScheme });
          assert.deepEqual(await accessibilityFaults(phone.page), [], `${name}, ${colorScheme}`);
        };
        await phone.page.goto(url);
        await look("order");
        await phone.page.getByLabel("Your order number").evaluate((field) => field.removeAttribute("maxlength"));
        await phone.page.getByLabel("Your order number").fill("x".repeat(300));
        await phone.page.getByRole("button", { name: "Send answer" }).click();
        await phone.page.getByRole("alert").waitFor();
        await look("errors");
        await phone.page.goto(`${url}x`);
        await look("ended");
        await phone.context.close();
      }
    });
  },
);
