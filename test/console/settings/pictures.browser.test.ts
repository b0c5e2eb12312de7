/**
 * Pictures of products in a real browser: of the shop's storefront alone, in the list, on the product's page, in an order and in a reorder view; the
 * page of another shop shows none.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { makeShop, untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, newPage, picture, skip, withEnvironment } from "../../support/pages/console.ts";
import { FakeShopify, fakeToken } from "../../storefront/shopify/fake.ts";
import { until } from "../../support/until.ts";

after(endConsole);

/** A red square. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

const cdn = "https://cdn.shopify.com/s/files/1/";

const products: Readonly<Record<string, { readonly productTitle: string; readonly imageUrl?: string }>> = {
  "100": { productTitle: "Assam", imageUrl: `${cdn}assam.png?v=17` },
  "101": { productTitle: "Broken", imageUrl: `${cdn}broken.png` },
  "102": { productTitle: "Ceylon", imageUrl: "https://elsewhere.example/ceylon.png" },
  "103": { productTitle: "Darjeeling, first flush, from the high gardens above Kurseong" },
};

const reorderView = {
  type: "forecastView",
  viewId: "all",
  viewName: "Everything",
  mode: "stock",
  columns: ["productName", "sku", "onHand", "suggestedOrderQuantity"],
};

const main = (page: Page) => page.getByRole("main");
const pictures = (page: Page) => main(page).locator("img.picture");
const places = (page: Page) => main(page).locator(".picture");

/** Attributes of the only picture of the page. */
async function onlyPicture(page: Page): Promise<Record<string, string>> {
  // One that cannot be read gives way to its place.
  await until("one picture is there", async () => (await pictures(page).count()) === 1);
  const read = `Object.fromEntries([...document.querySelector("main img.picture").attributes].map(({ name, value }) => [name, value]))`;
  return await page.evaluate<Record<string, string>>(read);
}

const isDrawn = `document.querySelector("main img.picture")?.naturalWidth > 0`;

test(
  "products show the pictures that their storefront keeps, in every list, small and without saying from where; no other shop's page does",
  { skip },
  async () => {
    const fake = await new FakeShopify().listen();
    fake.currency = "EUR";
    fake.addLocation("1");
    for (const [id, facts] of Object.entries(products)) fake.addVariant(id, { sku: `TEA-${id}`, ...facts });
    withEnvironment({
      OPENPO_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
      OPENPO_STOREFRONT_ALLOW: `http://${fake.domain}`,
    });
    try {
      const { page, program, faults } = await newPage();
      const ask = async (method: string, path: string, body?: unknown) => {
        const answer = await program.ask(method, `/admin/v1/shops/tea${path}`, program.adminToken, body);
        assert.ok(answer.status < 300, answer.text);
        return answer;
      };
      const other = await makeShop(program, "other", [
        { type: "variant", variantId: "v", productId: "p", productName: "Oats", imageUrl: `${cdn}oats.png` },
      ]);
      const { link } = await makeShop(program, "tea", [{ type: "supplier", supplierId: "s", name: "Estate" }]);
      await ask("PUT", "", { storefront: { kind: "shopify", domain: fake.domain, accessToken: fakeToken } });
      await ask("POST", "/storefront/pull");
      const pulled = async (): Promise<boolean> => (await ask("GET", "/variants")).at("data", "totalCount") === 4;
      await until("the products are there", pulled);
      const lineItems = Object.entries(products).map(([variantId, { productTitle: productName }]) => ({
        poLineItemId: variantId,
        variantId,
        productName,
        quantityOrdered: 4,
        unitCost: 2,
      }));
      const order = { type: "purchaseOrder", purchaseOrderId: "o", poNumber: "PO-7", status: "Draft", supplierId: "s" };
      const counted = { ...order, purchaseOrderId: "o2", poNumber: "PO-8", status: "In Progress", locationId: "1" };
      const file = [reorderView, { ...order, locationId: "1", lineItems }].map((each) => `${JSON.stringify(each)}\n`);
      await ask("POST", "/import", file.join(""));

      const asked: string[] = [];
      const referers: (string | null)[] = [];
      await page.route(/^https:/, async (route) => {
        const request = route.request();
        asked.push(request.url());
        referers.push(await request.headerValue("referer"));
        if (request.url().includes("broken")) await route.fulfill({ status: 404 });
        else await route.fulfill({ contentType: "image/png", body: png });
      });
      // Nobody is signed in when the page is loaded, so that it is loaded once more.
      await page.goto(link);
      await page.locator('html[data-pictures="https://cdn.shopify.com"]').waitFor();
      await page.getByRole("link", { name: "PO-7" }).waitFor();

      await page.getByRole("navigation").getByRole("link", { name: "Products" }).click();
      const inList = await onlyPicture(page);
      assert.deepEqual(
        { ...inList, class: "" },
        {
          class: "",
          src: `${cdn}assam.png?v=17&width=56`,
          alt: "",
          width: "28",
          height: "28",
          loading: "lazy",
          referrerpolicy: "no-referrer",
        },
      );
      await untilOnPage(page, isDrawn);
      assert.equal(await places(page).count(), 4);
      await picture(page, "pictures-products");
      assert.deepEqual(await accessibilityFaults(page), []);

      await main(page).getByRole("link", { name: "Assam" }).click();
      await main(page).getByRole("heading", { name: "History" }).waitFor();
      const onPage = await onlyPicture(page);
      assert.deepEqual([onPage["src"], onPage["alt"]], [`${cdn}assam.png?v=17&width=192`, "Assam"]);
      await picture(page, "pictures-product");
      assert.deepEqual(await accessibilityFaults(page), []);

      // An address of somebody else is read as one, and nothing is loaded from it.
      await page.goto(`${program.url}/console/products/102`);
      await main(page).getByRole("link", { name: "elsewhere.example" }).waitFor();
      assert.equal(await pictures(page).count(), 0);

      await page.goto(`${program.url}/console/orders/o`);
      assert.equal((await onlyPicture(page))["src"], inList["src"]);
      assert.equal(await places(page).count(), 4);
      await picture(page, "pictures-order");
      assert.deepEqual(await accessibilityFaults(page), []);

      await ask("POST", "/import", `${JSON.stringify({ ...counted, lineItems })}\n`);
      await page.goto(`${program.url}/console/receive/o2`);
      assert.equal((await onlyPicture(page))["src"], inList["src"]);
      assert.equal(await places(page).count(), 4);
      await picture(page, "pictures-receive");
      assert.deepEqual(await accessibilityFaults(page), []);

      await page.goto(`${program.url}/console/reorder`);
      assert.equal((await onlyPicture(page))["src"], inList["src"]);
      assert.equal(await places(page).count(), 4);
      await picture(page, "pictures-reorder");
      assert.deepEqual(await accessibilityFaults(page), []);

      assert.ok(
        asked.every((url) => url.startsWith(cdn)),
        asked.join("\n"),
      );
      assert.ok(referers.every((referer) => referer === null));
      // Pictures are all that the page asked of another server, and its policy refused none.
      assert.deepEqual(
        faults.filter((fault) => !fault.startsWith(cdn)),
        [],
      );

      // Somebody of another shop signs in on this page.
      const before = asked.length;
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await page.getByLabel("Key or invitation").fill(other.key);
      await page.getByLabel("Your name").fill("Bo");
      await page.keyboard.press("Enter");
      await page.locator("html:not([data-pictures])").waitFor();
      await page.getByRole("navigation").getByRole("link", { name: "Products" }).click();
      await main(page).getByRole("link", { name: "Oats" }).click();
      await main(page).getByRole("link", { name: "cdn.shopify.com" }).waitFor();
      assert.equal(await places(page).count(), 0);
      assert.equal(asked.length, before);
      await page.context().close();
    } finally {
      await fake.close();
    }
  },
);
