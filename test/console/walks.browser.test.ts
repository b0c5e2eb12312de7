/**
 * Walks of people through the console in a real browser: how many clicks they take, links and sessions that end, a network that is slow, two tabs,
 * another language, names and numbers that are long.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaultsInThemes } from "../support/pages/axe.ts";
import { apiOf, clicksOf, makeShop, press, showsStatus } from "../support/pages/console-shop.ts";
import {
  endConsole,
  invitation,
  newPage,
  picture,
  skip,
  withConsole,
  withPerson,
  withoutEvents,
} from "../support/pages/console.ts";
import { connectAgent } from "../support/mcp.ts";
import type { RunningProgram } from "../support/process.ts";
import { becomes, pause, until } from "../support/until.ts";

after(endConsole);

const orderInStatus = async (program: RunningProgram, status: string): Promise<Record<string, unknown>> => {
  const target = `/api/v1/purchase-orders?status=${encodeURIComponent(status)}&limit=1`;
  const listed = await program.ask("GET", target, program.word("write key"));
  return Object(listed.at("data", "purchaseOrders", 0));
};

/**
 * Keeps a page from learning that its session has ended, until what it returns is called. The page may ask at any moment, by its stream of events or by
 * what it reads later than its rows, and then lays the sign-in over what a test is about to press.
 */
async function unawareOfItsEnd(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/console/token", async (route) => {
    await promise;
    await route.fallback();
  });
  return resolve;
}

test(
  "a key signs in with its rights, and signing out everywhere ends the person's sessions on all devices",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    const other = await newPage();
    for (const each of [page, other.page]) {
      await each.goto(`${program.url}/console/orders`);
      await signInWithKey(each, program, "Mina", program.word("read key"));
      await each.getByRole("link", { name: "PO-1024" }).waitFor();
    }
    assert.equal(await page.getByRole("link", { name: "New order" }).count(), 0, "a read key is a viewer's");
    await page.getByRole("button", { name: "Mina viewer" }).click();
    await picture(page, "person-menu");
    const learns = await unawareOfItsEnd(other.page);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.page.getByRole("link", { name: "PO-1024" }).click();
    learns();
    await other.page.getByText("You are signed out. Sign in again to go on.").waitFor();
    // Who signs in again is where they were.
    const { pathname } = new URL(other.page.url());
    // The page looks by itself whether somebody has signed in. A look from before, answered late, says nothing of who signs in meanwhile.
    const [looked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await other.page.route(
      "**/console/token",
      async (route) => {
        const answer = await route.fetch();
        looked.resolve();
        await late.promise;
        await route.fulfill({ response: answer });
      },
      { times: 1 },
    );
    await other.page.evaluate("dispatchEvent(new Event('focus'))");
    await looked.promise;
    const signedIn = other.page.waitForResponse("**/console/session");
    await signInWithKey(other.page, program, "Mina", program.word("read key"));
    assert.equal((await signedIn).status(), 201);
    late.resolve();
    await other.page.getByRole("heading", { name: /PO-1024/ }).waitFor();
    assert.equal(new URL(other.page.url()).pathname, pathname);
    assert.deepEqual([...faults, ...other.faults], []);
  },
);

/** Signs in by a key. A name is one person's, so each key has one of its own here (C49). */
async function signInWithKey(
  page: Page,
  program: RunningProgram,
  name: string,
  key = program.word("write key"),
): Promise<void> {
  await page.getByLabel("Key or invitation").fill(key);
  await page.getByLabel("Your name").fill(name);
  await page.keyboard.press("Enter");
}

/** Ends the sessions of a person who is signed in on this page, from another browser. */
async function endSessionsOf(program: RunningProgram, name: string): Promise<void> {
  const { page } = await newPage();
  await page.goto(`${program.url}/console/orders`);
  await signInWithKey(page, program, name);
  await page.getByRole("button", { name: new RegExp(`^${name} `) }).click();
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.context().close();
}

test(
  "what is typed while the session ends is there for the same person after signing in again, and for nobody else",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    await page.goto(`${program.url}/console/orders`);
    await signInWithKey(page, program, "Ida");
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
    const agent = apiOf(program);
    const locations = await program.ask("GET", "/admin/v1/shops/demo/locations", program.adminToken);
    const found = await program.ask("GET", "/admin/v1/shops/demo/variants?limit=3", program.adminToken);
    const variants = found.at("data", "variants") as readonly { readonly variantId: string }[];
    const made = await agent.send("POST", "", {
      locationId: locations.at("data", "locations", 0, "locationId"),
      lineItems: variants.map(({ variantId }) => ({ variantId, quantityOrdered: 5, unitCost: 2 })),
    });
    const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
    const quantities = async () => (await agent.order(id)).lineItems.map((line) => line.quantityOrdered);
    await page.goto(`${program.url}/console/orders/${id}`);
    const cells = page.getByRole("button", { name: /^Ordered, / });
    await cells.first().focus();
    // The first cell is being saved when the end is learned of, the second one is being typed in.
    const learns = await unawareOfItsEnd(page);
    await endSessionsOf(program, "Ida");
    await page.keyboard.type("41");
    await page.keyboard.press("Enter");
    await page.keyboard.type("42");
    learns();
    await page.getByText("You are signed out. Sign in again to go on.").waitFor();
    const typing = page.locator("input[aria-label^='Ordered, ']");
    assert.equal(await typing.inputValue(), "42", "it is there below the sign-in");
    await picture(page, "signed-out-over-order");
    assert.deepEqual(await accessibilityFaultsInThemes(page), []);
    await page.evaluate(
      `document.querySelector("dialog").addEventListener("close", () => (document.title += " closed"))`,
    );
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("heading", { name: "Sign in" }).isVisible(), true);
    assert.equal(await typing.inputValue(), "42", "Escape gives nothing up below the sign-in");
    assert.doesNotMatch(await page.title(), /closed/, "the dialog is not closed, not even for a moment");
    assert.deepEqual(await quantities(), [5, 5, 5]);
    await signInWithKey(page, program, "Ida");
    await page.getByRole("heading", { name: "Sign in" }).waitFor({ state: "detached" });
    assert.equal(await typing.inputValue(), "42");
    await cells.filter({ hasText: "41" }).waitFor();
    await page.keyboard.press("Enter");
    await cells.filter({ hasText: "42" }).waitFor();
    await until(quantities, async () => String(await quantities()) === "41,42,5");

    await agent.send("POST", `/${id}/status`, { status: "Sent" });
    await page.goto(`${program.url}/console/orders/${id}/confirm`);
    const confirmed = page.getByRole("button", { name: /^Confirmed, / });
    await confirmed.first().focus();
    await page.keyboard.type("7");
    await page.keyboard.press("Enter");
    await page.getByText("1 line changed").waitFor();
    const learnsAgain = await unawareOfItsEnd(page);
    await endSessionsOf(program, "Ida");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    learnsAgain();
    await page.getByText("You are signed out. Sign in again to go on.").waitFor();
    // A key is one person, whatever name is told (C49), so somebody else has a key of their own.
    const other = await program.ask("POST", "/admin/v1/shops/demo/keys", program.adminToken, {
      name: "Bob's",
      scope: "write",
    });
    await signInWithKey(page, program, "Bob", String(other.at("data", "apiKey")));
    await page.getByRole("button", { name: "Bob purchaser" }).waitFor();
    await confirmed.first().waitFor();
    assert.equal(await page.getByText("1 line changed").count(), 0);
    assert.equal(await confirmed.filter({ hasText: "7" }).count(), 0);
    const order = await agent.order(id);
    assert.deepEqual([order.status, order.lineItems[0]?.quantityConfirmed], ["Sent", 0]);
    assert.deepEqual(faults, []);
  },
);

test("a new link signs in where an old one was refused, in the same tab", { skip }, async () => {
  const { page, program } = await newPage();
  const used = await invitation(program, "viewer");
  await page.goto(used);
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.goto("about:blank");
  await page.goto(used);
  await page.getByRole("alert").waitFor();
  await page.goto(await invitation(program, "viewer"));
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
});

test("each view that is always there shows the orders that the service has for it", { skip }, () =>
  withPerson("viewer", async (page, program) => {
    const open = "Sent,Partially Confirmed,Confirmed,In Progress,Partially Received";
    const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/Amsterdam" }).format(new Date());
    for (const [name, query] of [
      ["To receive", "status=Confirmed,In Progress,Partially Received"],
      ["Overdue", `status=${open}&expectedBefore=${today}`],
      ["Waiting for supplier", "status=Sent,Partially Confirmed"],
      ["Sync failed", "storefrontSyncState=failed"],
    ] as const) {
      const key = program.word("write key");
      const listed = await program.ask("GET", encodeURI(`/api/v1/purchase-orders?limit=50&${query}`), key);
      const orders = listed.at("data", "purchaseOrders") as readonly { readonly poNumber: string }[];
      // Its count may stand behind the name.
      await page.getByRole("link", { name: new RegExp(`^${name}( \\d+)?$`) }).click();
      await page.getByText(`${orders.length} of ${orders.length}`).waitFor();
      // The view before may have shown as many.
      await becomes(
        () => page.locator("table.list tbody tr").getByRole("link").allInnerTexts(),
        orders.map(({ poNumber }) => poNumber),
      );
      if (name !== "Sync failed") assert.ok(orders.length > 0, name);
    }
  }),
);

test(
  "a key is three clicks away and its first call is waited for; from an agent's night to a diff are three",
  { skip },
  () =>
    withPerson("owner", async (page, program) => {
      const clicks = await clicksOf(page);
      await page.getByRole("navigation").getByRole("link", { name: "Keys" }).click();
      await page.getByRole("textbox", { name: "Name" }).click();
      await page.keyboard.type("Night bot");
      await page.keyboard.press("Tab");
      await page.keyboard.press("w");
      await page.getByRole("button", { name: "Create key" }).click();
      const dialog = page.getByRole("dialog");
      const apiKey = await dialog.getByRole("textbox", { name: "API key" }).inputValue();
      assert.equal(await clicks(), 3);
      // An assistant that has only begun has called nothing, and the dialog says what is still to be done.
      const assistant = await connectAgent({ url: program.url, writeKey: apiKey }, { revision: "2025-11-25" });
      await assistant[Symbol.asyncDispose]();
      await dialog.getByText("makes it when you ask it something").waitFor();
      const order = await orderInStatus(program, "Draft");
      const target = `/api/v1/purchase-orders/${String(order["purchaseOrderId"])}`;
      assert.equal((await program.ask("PATCH", target, apiKey, { note: "what the bot wrote" })).status, 200);
      await dialog.getByText("First call seen: Changed an order").waitFor();
      await dialog.getByRole("button", { name: "Close" }).click();
      await dialog.getByRole("button", { name: "Close without copying" }).click();

      await page.getByRole("navigation").getByRole("link", { name: "Orders" }).click();
      await page.getByRole("link", { name: "PO-1024" }).waitFor();
      const before = await clicks();
      await page.getByRole("navigation").getByRole("link", { name: "Activity" }).click();
      await page
        .getByRole("row", { name: /Changed an order.*Night bot/s })
        .getByRole("button")
        .click();
      await page.getByRole("row", { name: /^Note .*what the bot wrote$/ }).waitFor();
      assert.equal((await clicks()) - before, 2);
      await page
        .locator(".request-details")
        .getByRole("link", { name: String(order["poNumber"]) })
        .click();
      await page.getByRole("heading", { name: new RegExp(String(order["poNumber"])) }).waitFor();
      assert.equal((await clicks()) - before, 3);
    }),
);

test(
  "an order is confirmed as ordered with two clicks from the list, and pasted rows are added with one",
  { skip },
  () =>
    withPerson("purchaser", async (page, program) => {
      const sent = await orderInStatus(program, "Sent");
      const clicks = await clicksOf(page);
      await page.getByRole("link", { name: String(sent["poNumber"]), exact: true }).click();
      await page.getByRole("button", { name: "Confirm all as ordered" }).click();
      await page.locator(".heading .chip", { hasText: /^(?:Confirmed|In Progress)$/ }).waitFor();
      assert.equal(await clicks(), 2);

      const draft = await orderInStatus(program, "Draft");
      const found = await program.ask("GET", "/admin/v1/shops/demo/variants?limit=50", program.adminToken);
      const variants = found.at("data", "variants") as readonly {
        readonly sku: string | null;
        readonly status: string;
      }[];
      const skus = variants.flatMap(({ sku, status }) => (sku === null || status !== "active" ? [] : [sku]));
      await page.goto(`${program.url}/console/orders/${String(draft["purchaseOrderId"])}`);
      await page.getByText("Paste rows from a sheet").click();
      // What a sheet puts on the clipboard.
      await page.getByLabel("Rows", { exact: true }).fill(skus.map((sku) => `${sku}\t3`).join("\n"));
      await page.getByLabel("Rows", { exact: true }).focus();
      await page.keyboard.press("Control+A");
      await page.keyboard.press("Control+X");
      const again = await clicksOf(page);
      const added = page.waitForRequest(
        (request) => request.method() === "POST" && request.url().endsWith("/line-items"),
      );
      await page.keyboard.press("Control+V");
      await page.getByRole("button", { name: `Add ${skus.length} lines` }).click();
      const { lineItems } = (await added).postDataJSON();
      assert.deepEqual([Object(lineItems).length, await again()], [skus.length, 1]);
    }),
);

test(
  "an expired bearer is renewed unseen; a slow network shows that it is waited for, and loses nothing",
  { skip },
  () =>
    withPerson("purchaser", async (page, program) => {
      const draft = await orderInStatus(program, "Draft");
      const statuses: number[] = [];
      page.on("response", (response) => {
        if (response.url().includes("/api/v1/")) statuses.push(response.status());
      });
      await page.route(
        `**/api/v1/purchase-orders/${String(draft["purchaseOrderId"])}*`,
        (route) => route.continue({ headers: { ...route.request().headers(), authorization: "Bearer ops_expired" } }),
        { times: 1 },
      );
      await page.goto(`${program.url}/console/orders/${String(draft["purchaseOrderId"])}`);
      await page.getByRole("heading", { name: new RegExp(String(draft["poNumber"])) }).waitFor();
      assert.ok(statuses.includes(401) && statuses.includes(200), String(statuses));

      await page.route(
        "**/line-items",
        async (route) => {
          await pause(1_500);
          await route.continue();
        },
        { times: 1 },
      );
      const cell = page.getByRole("button", { name: /^Ordered, / }).first();
      await cell.focus();
      await page.keyboard.type("41");
      await page.keyboard.press("Enter");
      await page.keyboard.type("42");
      await page.keyboard.press("Enter");
      const agent = apiOf(program);
      const quantities = async () =>
        (await agent.order(String(draft["purchaseOrderId"]))).lineItems.slice(0, 2).map((line) => line.quantityOrdered);
      await until(quantities, async () => String(await quantities()) === "41,42");
      await page
        .getByRole("button", { name: /^Ordered, .*: 42$/ })
        .first()
        .waitFor();
    }),
);

test("two tabs of one person edit one order, and each shows what the other saved", { skip }, () =>
  withPerson("purchaser", async (page, program) => {
    const draft = await orderInStatus(program, "Draft");
    const address = `${program.url}/console/orders/${String(draft["purchaseOrderId"])}`;
    const tab = await page.context().newPage();
    for (const each of [page, tab]) {
      await each.goto(address);
      await each
        .getByRole("button", { name: /^Ordered, / })
        .first()
        .waitFor();
    }
    const type = async (each: Page, nth: number, text: string): Promise<void> => {
      await each
        .getByRole("button", { name: /^Ordered, / })
        .nth(nth)
        .focus();
      await each.keyboard.type(text);
      await each.keyboard.press("Enter");
    };
    await type(page, 0, "51");
    await tab
      .getByRole("button", { name: /^Ordered, .*: 51$/ })
      .first()
      .waitFor();
    await type(tab, 1, "52");
    await page
      .getByRole("button", { name: /^Ordered, .*: 52$/ })
      .first()
      .waitFor();
    // Signing out in one tab ends the other.
    await tab.getByRole("button", { name: "Sign out", exact: true }).click();
    await tab.getByRole("heading", { name: "Sign in" }).waitFor();
    await type(page, 0, "53");
    await page.getByText("You are signed out. Sign in again to go on.").waitFor();
    await tab.close();
  }),
);

test("a German reader sees dates, numbers and money in German, and types them so", { skip }, async () => {
  const { page, program, faults } = await newPage("de-DE");
  const records = [
    { type: "location", locationId: "l", name: "Halle" },
    { type: "supplier", supplierId: "s", name: "Mühle", currencyCode: "EUR" },
    { type: "variant", variantId: "v", productId: "p", productName: "Becher", sku: "B-1" },
    {
      type: "purchaseOrder",
      purchaseOrderId: "german",
      poNumber: "PO-german",
      supplierId: "s",
      locationId: "l",
      expectedDeliveryDate: "2026-03-09",
      lineItems: [
        { poLineItemId: "g", variantId: "v", productName: "Becher", sku: "B-1", quantityOrdered: 1_200, unitCost: 2.5 },
      ],
    },
  ];
  const { link, key } = await makeShop(program, "german", records);
  await page.goto(link);
  const row = page.getByRole("row", { name: /PO-german/ });
  await row.waitFor();
  const text = (await row.innerText()).replaceAll(/\s+/g, " ");
  // The list leaves out the year where it is this one.
  assert.match(text, new Date().getFullYear() === 2026 ? /9\. März/ : /09\.03\.2026/);
  assert.match(text, /1\.200/);
  assert.match(text, /3\.000,00 €/);
  await picture(page, "orders-german");
  await page.getByRole("link", { name: "PO-german" }).click();
  const cost = page.getByRole("button", { name: /^EK-Preis, / });
  await cost.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("1.234,5");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^EK-Preis, .*1\.234,50/ }).waitFor();
  assert.equal((await apiOf(program, key).order("german")).lineItems[0]?.unitCost, 1_234.5);
  // A point groups thousands here, so this is no number, and is not guessed.
  await cost.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("2.5");
  await page.keyboard.press("Enter");
  await page.locator("td .cell-note").first().waitFor();
  assert.equal((await apiOf(program, key).order("german")).lineItems[0]?.unitCost, 1_234.5);
  assert.deepEqual(faults, []);
});

const long = (word: string): string =>
  `${word} ${"with a name that nobody has cut and that goes on ".repeat(4)}`.slice(0, 200).trim();

test("long names and large numbers stay in the window on every width", { skip }, () =>
  withConsole(async (page, _, program) => {
    const records = [
      { type: "location", locationId: "l", name: long("Hall") },
      {
        type: "supplier",
        supplierId: "s",
        name: `${"Unbreakable".repeat(15)} ${long("Mill")}`.slice(0, 200),
        currencyCode: "EUR",
      },
      ...[0, 1, 2].map((at) => ({
        type: "variant",
        variantId: `v${at}`,
        productId: `p${at}`,
        productName: long(`Product${at}`),
        variantName: "Unbreakable".repeat(12),
        sku: `SKU-${"0123456789".repeat(8)}${at}`,
        barcode: `${"98765432".repeat(6)}${at}`,
      })),
      {
        type: "purchaseOrder",
        purchaseOrderId: "long",
        poNumber: `PO-${"1234567890".repeat(6)}`,
        poName: long("Restock"),
        note: long("Note"),
        status: "Sent",
        supplierId: "s",
        locationId: "l",
        expectedDeliveryDate: "2026-12-31",
        lineItems: [0, 1, 2].map((at) => ({
          poLineItemId: `line-${at}`,
          variantId: `v${at}`,
          productName: long(`Product${at}`),
          variantName: "Unbreakable".repeat(12),
          sku: `SKU-${"0123456789".repeat(8)}${at}`,
          barcode: `${"98765432".repeat(6)}${at}`,
          quantityOrdered: 99_999_999,
          unitCost: 99.99,
        })),
      },
    ];
    const { link, key } = await makeShop(program, "long", records);
    await program.ask("PUT", "/admin/v1/shops/long", program.adminToken, { name: long("Shop") });
    await page.goto(link);
    const { origin } = new URL(link);
    await page.getByRole("link", { name: /^PO-1234/ }).waitFor();
    await picture(page, "long-orders");
    for (const place of ["orders/long", "orders/long/confirm", "orders/long/print"]) {
      await page.goto(`${origin}/console/${place}`);
      await page
        .getByText(/Unbreakable/)
        .first()
        .waitFor();
      await picture(page, `long-${place.replaceAll("/", "-")}`);
    }
    await page.goto(`${origin}/console/orders/long`);
    await press(page, "button", "Confirm all as ordered");
    await showsStatus(page, "In Progress");
    await apiOf(program, key).send("POST", "/long/receive", {
      lines: [{ lineItemId: "line-0", quantityReceived: 88_888_888 }],
    });
    // A stream that stays open would be waited for.
    await withoutEvents(page);
    for (const place of ["receive/long", "orders/long/complete", "dock", "activity", "settings", "stock"]) {
      await page.goto(`${origin}/console/${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      await picture(page, `long-${place.replaceAll("/", "-")}`);
    }
  }),
);
