/**
 * An order's whole way, in real browsers and with a real mail: a purchaser drafts it, looks at the file and sends it; the supplier reads the mail, opens
 * its link on a telephone without script and answers; the purchaser accepts; a receiver counts the goods.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { apiOf, makeShop, press, showsStatus } from "../../support/pages/console-shop.ts";
import { endConsole, invitation, picture, skip, withConsole, withEnvironment } from "../../support/pages/console.ts";
import { attachedTo, mailEnv, sha256Of } from "../../support/peers/mail-shop.ts";
import { textOf as pdfText } from "../../support/pages/poppler.ts";
import { parseMail, type SmtpServerForTests, startSmtpServer } from "../../support/peers/smtp.ts";
import { patienceMs } from "../../support/until.ts";

let mailServer: SmtpServerForTests | null = null;

before(async () => {
  mailServer = await startSmtpServer();
  withEnvironment(mailEnv(mailServer));
});

after(async () => {
  await endConsole();
  await mailServer?.close();
});

const shopId = "whole-way";

const records: readonly object[] = [
  { type: "location", locationId: "l", name: "Main hall" },
  { type: "supplier", supplierId: "s", name: "Mill & Sons", email: "orders@mill.example", currencyCode: "EUR" },
  ...["Flour", "Oats"].map((productName, index) => ({
    type: "variant",
    variantId: `v${index}`,
    productId: `p${index}`,
    productName,
    sku: `SKU-${index}`,
    barcode: `400000${index}`,
    unitCost: 2.5,
  })),
];

/** A person of the shop in a browser profile of their own. */
async function signedIn(of: Page, link: string): Promise<Page> {
  const browser = of.context().browser();
  assert.ok(browser !== null);
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  await page.goto(link);
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  return page;
}

test(
  "an order goes from a draft to a mail, to the supplier's answer on a telephone, to received goods",
  { skip },
  async () => {
    await withConsole(async (operatorPage, _link, program) => {
      const server = mailServer;
      assert.ok(server !== null);
      const { key } = await makeShop(program, shopId, records);
      const api = apiOf(program, key);

      // The purchaser makes a draft with two lines.
      const purchaser = await signedIn(operatorPage, await invitation(program, "purchaser", shopId));
      await purchaser.getByRole("link", { name: "New order" }).first().click();
      await purchaser.getByRole("combobox", { name: "Supplier" }).fill("Mill");
      await purchaser.getByRole("option", { name: "Mill & Sons" }).click();
      for (const [product, quantity] of [
        ["Flour", "10"],
        ["Oats", "4"],
      ] as const) {
        await purchaser.getByRole("combobox", { name: "Add a product" }).fill(product);
        await purchaser.getByRole("option", { name: new RegExp(product) }).click();
        await purchaser.getByLabel(new RegExp(`^Quantity of ${product}`)).fill(quantity);
        await purchaser.getByRole("button", { name: "Add line" }).click();
        await purchaser.locator("section[aria-labelledby=lines]").getByText(product, { exact: true }).first().waitFor();
      }
      const orderId = new URL(purchaser.url()).pathname.split("/").at(-1) ?? "";
      assert.equal((await api.order(orderId)).status, "Draft");

      // They look at the file, keep it, and send it: two clicks.
      const dialog = purchaser.getByRole("dialog");
      await purchaser.getByRole("button", { name: "Send to the supplier" }).click();
      await dialog.getByText(/^SHA-256/).waitFor();
      const downloading = purchaser.waitForEvent("download");
      await dialog.getByRole("button", { name: "Download" }).click();
      const pieces: Buffer[] = [];
      for await (const piece of await (await downloading).createReadStream()) pieces.push(Buffer.from(piece));
      const previewed = Buffer.concat(pieces);
      await dialog.getByRole("button", { name: "Send", exact: true }).click();
      await showsStatus(purchaser, "Sent");

      // The supplier reads the mail: the file is the one that was shown.
      await server.until(() => server.taken.length === 1);
      const [mail] = server.taken;
      assert.ok(mail !== undefined);
      assert.deepEqual(mail.to, ["orders@mill.example"]);
      const [pdf] = [...attachedTo(mail).values()];
      assert.ok(pdf !== undefined);
      assert.equal(Buffer.compare(pdf, previewed), 0);
      const text = pdfText(pdf);
      for (const word of ["Purchase order", "Flour", "Oats", "Mill & Sons"]) assert.ok(text.includes(word), text);
      assert.doesNotMatch(text, /Draft/);
      const log = await program.ask("GET", `/api/v1/purchase-orders/${orderId}/log`, key);
      assert.ok(log.text.includes(sha256Of(previewed)));
      const documents = await program.ask("GET", `/api/v1/purchase-orders/${orderId}/documents`, key);
      assert.deepEqual(
        [
          documents.at("data", "documents", 0, "documentType"),
          documents.at("data", "documents", 0, "version"),
          documents.at("data", "documents", 0, "fileSizeBytes"),
        ],
        ["purchase-order", (await api.order(orderId)).version, previewed.length],
      );

      // They open the link on a telephone, without script, and answer each line another way.
      const words = (parseMail(mail).parts[0]?.bytes.toString() ?? "").replaceAll("\r\n", "\n");
      const [url = ""] = /http\S+\/s\/\S+/.exec(words) ?? [];
      const browser = purchaser.context().browser();
      assert.ok(browser !== null);
      const telephone = await browser.newContext({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false });
      const phone = await telephone.newPage();
      phone.setDefaultTimeout(patienceMs);
      await phone.goto(url);
      await phone.getByRole("heading", { name: /^Purchase order/ }).waitFor();
      const flour = phone.getByRole("group", { name: "Flour" });
      await flour.getByLabel("Quantity you will deliver").fill("8");
      await flour.getByLabel("Delivery date").fill("2027-01-15");
      await phone.getByRole("group", { name: "Oats" }).getByLabel("Quantity you will deliver").fill("4");
      await phone.getByLabel("Your order number").fill("SO-77");
      await phone.getByLabel("Tracking number").fill("1Z999");
      await phone.getByRole("button", { name: "Send answer" }).click();
      await phone.getByText("has your answer").waitFor();
      await telephone.close();

      // The purchaser's page learns of it by itself; they accept and begin.
      await purchaser.getByText("Mill & Sons answered on").waitFor();
      await picture(purchaser, "whole-way-answer");
      await purchaser.getByRole("button", { name: "Accept all" }).click();
      await showsStatus(purchaser, "Confirmed");
      await press(purchaser, "button", "Start work");
      await showsStatus(purchaser, "In Progress");

      // A receiver counts what comes.
      const receiver = await signedIn(operatorPage, await invitation(program, "receiver", shopId));
      await receiver.goto(`${program.url}/console/receive/${orderId}`);
      await receiver.getByRole("button", { name: "Receive all remaining" }).click();
      await receiver.getByRole("button", { name: /^Receive \(/ }).click();
      await receiver.getByText("2 lines received.").waitFor();

      const order = await api.order(orderId);
      assert.deepEqual(
        [
          order.status,
          order.supplierReference,
          order.lineItems.map((line) => [line.quantityConfirmed, line.quantityReceived, line.expectedDeliveryDate]),
        ],
        [
          "Received",
          "SO-77",
          [
            [8, 8, "2027-01-15"],
            [4, 4, null],
          ],
        ],
      );
      const shipments = await program.ask("GET", `/api/v1/purchase-orders/${orderId}/shipments`, key);
      assert.equal(shipments.at("data", "shipments", 0, "trackingNumber"), "1Z999");

      // And the purchaser completes it.
      await purchaser.goto(`${program.url}/console/orders/${orderId}/complete`);
      await purchaser.getByRole("button", { name: "Complete the order" }).click();
      await purchaser.getByText("The storefront took the costs of").waitFor();
      assert.equal((await api.order(orderId)).status, "Completed");
    });
  },
);
