/**
 * The storefront of a shop in a real browser, over the fake of Shopify: connected by the operator, pulled by an owner, left again. Secrets stay out of
 * the page.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { apiOf, makeShop } from "../../support/pages/console-shop.ts";
import { endConsole, newPage, picture, skip, withEnvironment } from "../../support/pages/console.ts";
import { allScopes, FakeShopify, fakeToken } from "../../storefront/shopify/fake.ts";
import { until } from "../../support/until.ts";

after(endConsole);

const publicUrl = "https://openpo.example.com";

/** No findings, wide and light, narrow and dark. */
async function look(page: Page, name: string): Promise<void> {
  await picture(page, name);
  for (const [colorScheme, width] of [
    ["dark", 360],
    ["light", 1_280],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await accessibilityFaults(page), [], `${name} at ${width}`);
  }
}

/** Everything that the page shows or keeps. */
const keptBy = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((each) => each.value) + JSON.stringify({ ...localStorage, ...sessionStorage })",
  );

test(
  "the operator connects a store, refused until token and scopes are right; an owner pulls, sees it go on and fail, and what came; the shop leaves it",
  { skip },
  async () => {
    const fake = await new FakeShopify().listen();
    fake.currency = "EUR";
    fake.addLocation("1");
    for (const id of ["100", "101"]) fake.addVariant(id, { productTitle: `Oolong ${id}`, sku: `TEA-${id}` });
    fake.setLevel("100", "1", 7);
    withEnvironment({
      OPENPO_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
      OPENPO_STOREFRONT_ALLOW: `http://${fake.domain}`,
      OPENPO_PUBLIC_URL: publicUrl,
    });
    try {
      const owner = await newPage();
      const { program } = owner;
      const { link, key } = await makeShop(program, "tideline", [
        { type: "location", locationId: "1", name: "Dock" },
        { type: "supplier", supplierId: "mill", name: "Mill" },
      ]);
      const theirs = owner.page;
      await theirs.goto(link.replace(publicUrl, program.url));
      await theirs.getByRole("heading", { name: "Orders" }).waitFor();
      await theirs.getByRole("navigation").getByRole("link", { name: "Storefront" }).click();
      await theirs.getByText("This shop is on the built-in sandbox").waitFor();
      await theirs.getByRole("heading", { name: "Connecting is the operator's" }).waitFor();
      await look(theirs, "storefront-sandbox");

      const { page, faults } = await newPage();
      await page.goto(`${program.url}/console/orders`);
      await page.getByLabel("Key or invitation").fill(program.adminToken);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "Open Shop tideline" }).click();
      await page.getByRole("navigation").getByRole("link", { name: "Storefront" }).click();

      // By keyboard alone, with what is refused first.
      const form = page.getByRole("form", { name: "Connect a store" });
      await form
        .getByRole("combobox", { name: "Secret" })
        .selectOption({ label: "Access token of a custom app (shpat_…)" });
      await form.getByLabel("Store", { exact: true }).fill(fake.domain);
      await form.getByLabel("Access token", { exact: true }).fill("shpat_wrong");
      await page.keyboard.press("Enter");
      await form.getByText("The store refused it. Check the address and the secret.").waitFor();
      await look(page, "storefront-refused");
      fake.scopes = new Set(allScopes.filter((scope) => scope !== "write_inventory"));
      await form.getByLabel("Access token", { exact: true }).fill(fakeToken);
      await page.keyboard.press("Enter");
      await form.getByText("The app lacks these rights: write_inventory").waitFor();
      fake.scopes = new Set(allScopes);
      fake.topicsRefused.add("ORDERS_CREATE");
      await form.getByLabel("Client secret (optional)").fill(fake.clientSecret);
      await page.keyboard.press("Enter");
      await page.getByText("The store is connected.").waitFor();
      for (const secret of [fakeToken, fake.clientSecret])
        assert.ok(!(await keptBy(page)).includes(secret), "a secret is in the page");
      await page.getByText("Nothing was pulled yet.").waitFor();
      await look(page, "storefront-connected");

      // What the store refuses to tell is said, and can be asked for again.
      await theirs.reload();
      await theirs.getByText(/ORDERS_CREATE \(This app is not approved/).waitFor();
      fake.topicsRefused.clear();
      await theirs.getByRole("button", { name: "Ask the store again" }).click();
      await theirs.getByText("Told at once").waitFor();
      assert.equal(await theirs.getByRole("button", { name: "Disconnect" }).count(), 0);

      // A pull that somebody else looks at too, and that a reload finds again.
      fake.bulkLooks = Number.MAX_SAFE_INTEGER;
      await theirs.getByRole("button", { name: "Pull now" }).click();
      await theirs.getByText("Pulling: products, step 2 of 6").first().waitFor();
      await look(theirs, "storefront-pulling");
      await theirs.reload();
      await theirs.getByText("Pulling: products, step 2 of 6").first().waitFor();
      assert.equal(await theirs.getByRole("button", { name: "Pull now" }).count(), 0);
      fake.bulkLooks = 0;
      for (const bulk of fake.bulks.values()) bulk.looksLeft = 0;
      await theirs.getByText(/^Pulled /).waitFor({ timeout: 60_000 });
      await theirs.getByRole("row", { name: /Oolong 100.*TEA-100.*7/ }).waitFor();
      await look(theirs, "storefront-pulled");

      fake.strike({ kind: "status", status: 402 }, "PullLocations");
      await theirs.getByRole("button", { name: "Pull what has changed" }).click();
      await theirs
        .getByRole("alert")
        .getByText(/The pull of .* has failed:[^]*frozen/)
        .waitFor({ timeout: 60_000 });
      await look(theirs, "storefront-failed");
      fake.setLevel("100", "1", 9);
      await theirs.getByRole("button", { name: "Pull again" }).click();
      await theirs.getByRole("row", { name: /Oolong 100.*TEA-100.*9/ }).waitFor({ timeout: 60_000 });

      // While a push has no known outcome the shop stays; then what is incoming is taken back, and the webhooks with it.
      const { send } = apiOf(program, key);
      const lineItems = [{ variantId: "100", quantityOrdered: 10, unitCost: 2 }];
      const made = await send("POST", "", { supplierId: "mill", locationId: "1", lineItems });
      const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
      const lineItemId = String(made.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId"));
      await send("POST", `/${id}/status`, { status: "Sent" });
      await send("POST", `/${id}/confirm`, { confirmAll: true });
      await until("incoming", () => fake.levelOf("100", "1").incoming === 10);
      // The store answers no push until the page has said so, however often it is tried.
      fake.strike({ kind: "hang" }, "Adjust", Number.POSITIVE_INFINITY);
      await send("POST", `/${id}/receive`, { lines: [{ lineItemId, quantityReceived: 4 }] });
      await page.getByRole("button", { name: "Disconnect" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("is taken back there").waitFor();
      await dialog.getByRole("button", { name: "Disconnect" }).click();
      await dialog.getByRole("alert").getByText("A push of stock has no known outcome yet").waitFor();
      await look(page, "storefront-leaving");
      fake.faults.length = 0;
      await until(
        "received",
        () => fake.levelOf("100", "1").available === 13 && fake.levelOf("100", "1").incoming === 6,
      );
      await until("left", async () => {
        if ((await dialog.count()) === 0) return true;
        await dialog
          .getByRole("button", { name: "Disconnect" })
          .click({ timeout: 1_000 })
          .catch(() => {});
        return false;
      });
      await page.getByText("This shop is on the built-in sandbox").waitFor();
      assert.equal(fake.levelOf("100", "1").incoming, 0);
      assert.equal(fake.subscriptions.size, 0);

      // A shop without any store says so, and keeps its own stock.
      await page.getByLabel("Platform").selectOption("None: the shop keeps its own stock");
      await page.getByRole("button", { name: "Go on without a store" }).click();
      await page.getByText("This shop has no store: it keeps its own stock.").waitFor();
      await look(page, "storefront-none");

      for (const each of [page, theirs]) assert.ok(!(await keptBy(each)).includes(fakeToken), "the token is in a page");
      assert.deepEqual([...faults, ...owner.faults], []);
    } finally {
      await fake.close();
    }
  },
);
