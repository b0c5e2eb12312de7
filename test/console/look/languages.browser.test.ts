/**
 * The console in other languages than English: chosen by a person, and fitting wherever English does.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { languages } from "../../../console/texts/languages.ts";
import { endConsole, invitation, newPage, photograph, skip } from "../../support/pages/console.ts";

after(endConsole);

/** Opens the orders by an invitation, in a browser of this language. */
async function signIn(locale: string): Promise<Awaited<ReturnType<typeof newPage>>> {
  const opened = await newPage(locale);
  await opened.page.goto(await invitation(opened.program));
  await opened.page.locator("#me").waitFor({ state: "attached" });
  return opened;
}

const languageOf = (page: Page): Promise<string> => page.evaluate<string>("document.documentElement.lang");

test(
  "a person chooses the language; it is theirs, and with it numbers and days; English text of the service is marked",
  { skip },
  async () => {
    const { page, faults } = await signIn("en-US");
    assert.equal(await languageOf(page), "en");
    await page.locator("button.me").click();
    await page.getByRole("combobox", { name: "Language" }).selectOption({ label: "Deutsch" });
    await page.getByRole("heading", { name: "Bestellungen", exact: true }).waitFor();
    assert.equal(await languageOf(page), "de");
    const amounts = await page.locator("td.amount").allTextContents();
    assert.ok(
      amounts.some((amount) => /\d,\d\d/.test(amount)),
      amounts.join(" | "),
    );

    // What the service refuses is said in German; its own sentence follows, as English.
    await page.goto(new URL("/console/orders/po_none", page.url()).href);
    await page.getByRole("alert").locator('[lang="en"]').waitFor();
    await photograph(page, "refused-de");

    // Signed out, the page for signing in speaks it, too; and who signs in elsewhere has it there.
    await page.getByRole("button", { name: "Abmelden", exact: true }).click();
    await page.getByRole("heading", { name: "Anmelden" }).waitFor();
    assert.deepEqual(faults, []);
    await page.context().close();
  },
);

test("a name that runs from right to left leaves what stands beside it in its place", { skip }, async () => {
  const { page, program, faults } = await signIn("en-US");
  const product = { variantId: "coffee", productId: "coffee", productName: "مسحوق القهوة", sku: "250-A" };
  const made = await program.ask("POST", "/admin/v1/shops/demo/variants", program.adminToken, product);
  assert.equal(made.status, 201, made.text);
  await page.goto(new URL("/console/products?search=250-A", page.url()).href);
  const name = await page.getByRole("link", { name: product.productName }).boundingBox();
  const sku = await page.getByText(product.sku, { exact: true }).boundingBox();
  assert.ok(name !== null && sku !== null);
  assert.ok(name.x + name.width <= sku.x, JSON.stringify({ name, sku }));
  await photograph(page, "right-to-left");
  assert.deepEqual(faults, []);
  await page.context().close();
});

/** Places that show the most, and the widest. */
const widePlaces = [
  "home",
  "orders",
  "new-order",
  "dock",
  "reorder",
  "stock/takes",
  "suppliers",
  "products",
  "new/suppliers",
  "keys",
  "approvals",
  "activity",
  "people",
  "settings",
  "storefront",
  "import",
] as const;

for (const language of languages.slice(1))
  test(`nothing stands out of the window in the language ${language}`, { skip }, async () => {
    const { page, faults } = await signIn(language);
    assert.equal(await languageOf(page), language);
    for (const place of widePlaces) {
      // As the browser's button for back would.
      await page.evaluate(
        `history.pushState(null, "", "/console/${place}"); dispatchEvent(new PopStateEvent("popstate"))`,
      );
      await page.locator("main h1").waitFor();
      await page.locator("main .skeleton").first().waitFor({ state: "detached" });
      for (const width of [1_280, 768, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await photograph(page, `${language}-${place.replace("/", "-")}-${width}`);
      }
    }
    assert.deepEqual(faults, []);
    await page.context().close();
  });
