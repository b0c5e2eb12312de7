/**
 * Keyboard on the frame: the focus goes to the heading of a place that was gone to, and `?` lists the keys. How the sidebar folds. And a whole day by
 * keyboard alone.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { apiOf, makeShop, showsStatus, untilOnPage } from "../../support/pages/console-shop.ts";
import { dialogsGone, endConsole, newPage, skip, withPerson } from "../../support/pages/console.ts";
import { until } from "../../support/until.ts";

after(endConsole);

test("the focus goes to the heading of a place; ? lists the keys, but not while somebody writes", { skip }, () =>
  withPerson("viewer", async (page) => {
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    await page.getByRole("heading", { name: "Suppliers", level: 1 }).waitFor();
    await untilOnPage(page, `document.activeElement.matches("h1") && document.title.startsWith("Suppliers")`);
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("This list").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("searchbox").first().pressSequentially("Mill?");
    await untilOnPage(page, `document.activeElement.value === "Mill?" && document.querySelector("dialog") === null`);
  }),
);

test(
  "the sidebar is folded by its button and by a key, and stays so; where there is less room it unfolds over the screen",
  { skip },
  () =>
    withPerson("viewer", async (page) => {
      const side = page.locator(".side");
      const widthIs = (isFolded: boolean) =>
        untilOnPage(page, `document.querySelector(".side").offsetWidth ${isFolded ? "<" : ">"} 100`);
      const mainFrom = async (): Promise<number> => (await page.getByRole("main").boundingBox())?.x ?? 0;
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.getByRole("button", { name: "Fold the sidebar" }).click();
      await widthIs(true);
      assert.ok((await mainFrom()) < 100);
      await page.reload();
      await page.getByRole("button", { name: "Unfold the sidebar" }).waitFor();
      await widthIs(true);
      await page.keyboard.press("Control+b");
      await widthIs(false);
      await page.setViewportSize({ width: 1_024, height: 768 });
      await widthIs(true);
      const leave = [
        () => page.keyboard.press("Escape"),
        () => page.mouse.click(500, 6),
        () => side.getByRole("link", { name: "Suppliers" }).click(),
      ];
      for (const each of leave) {
        await page.keyboard.press("Control+b");
        await widthIs(false);
        assert.ok((await mainFrom()) < 100, "the screen keeps its room");
        await each();
        await widthIs(true);
      }
    }),
);

test(
  "the bar of a phone has five places by role and the way to the others, each with its whole name",
  { skip },
  async () => {
    for (const [role, fifth] of [
      ["viewer", "Products"],
      ["receiver", "Stock"],
      ["purchaser", "Approvals"],
    ] as const)
      await withPerson(role, async (page) => {
        await page.setViewportSize({ width: 360, height: 780 });
        const names = page.getByRole("navigation", { name: "Console" }).locator(".words:visible");
        assert.deepEqual(await names.allTextContents(), ["Home", "Orders", "Receive", "Reorder", fifth, "More"]);
        const cut = `[...document.querySelectorAll("nav .words")].filter((each) => each.scrollWidth > each.clientWidth)`;
        for (const language of ["de", "fr", "es", "nl"]) {
          assert.deepEqual(await page.evaluate(`${cut}.map((each) => each.textContent)`), []);
          assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
          await page.locator("button.me").click();
          await Promise.all([page.waitForEvent("load"), page.locator("#me select").selectOption(language)]);
          await page.locator("nav .unfold").waitFor();
        }
        assert.deepEqual(await page.evaluate(`${cut}.map((each) => each.textContent)`), []);
      });
  },
);

test("the search for everything offers what can be done to the open order, and nothing that cannot", { skip }, () =>
  withPerson("purchaser", async (page) => {
    const open = async (poNumber: string): Promise<void> => {
      await page.getByRole("navigation").getByRole("link", { name: "Orders" }).click();
      await page.getByRole("link", { name: poNumber }).click();
      await page.getByRole("button", { name: "More actions" }).waitFor();
    };
    const offered = async (poNumber: string): Promise<readonly string[]> => {
      await page.keyboard.press("Control+k");
      const here = page.getByRole("option").filter({ hasText: poNumber });
      await here.first().waitFor();
      return (await here.locator(".name").allTextContents()).map((name) => name.replace(` ${poNumber}`, ""));
    };
    const draft = ["Send to the supplier", "Mark as sent", "Order again", "Delete", "Preview and print"];
    await open("PO-1024");
    assert.deepEqual(await offered("PO-1024"), draft);
    await page.keyboard.type("again po-1024");
    await page.getByRole("option", { name: "Order again" }).waitFor();
    await page.keyboard.press("Escape");
    await dialogsGone(page);
    await open("PO-1021");
    const begun = await offered("PO-1021");
    assert.ok(begun.includes("Receive") && begun.includes("Put on hold") && !begun.includes("Delete"), begun.join());
    await page.getByRole("option", { name: "Receive PO-1021" }).click();
    await page.getByRole("heading", { name: "Receive PO-1021" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Home" }).waitFor();
    assert.equal(await page.getByRole("option", { name: "PO-1021" }).count(), 0, "a place of its own has its own");
  }),
);

test("a field that begins with the focus has it before it is painted, so that no key is lost", { skip }, () =>
  withPerson("purchaser", async (page) => {
    // The observer is called after the page has changed and before it is painted.
    const atOnce = page.evaluate(`new Promise((done) => {
      new MutationObserver((_, watching) => {
        const field = document.querySelector("main [role=combobox]");
        if (field === null) return;
        watching.disconnect();
        done(document.activeElement === field);
      }).observe(document.body, { childList: true, subtree: true });
    })`);
    await page.getByRole("link", { name: "New order" }).click();
    assert.equal(await atOnce, true);
  }),
);

const saleDay = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10);

const lineOf = (id: string): object => ({
  poLineItemId: `${id}-0`,
  variantId: "v0",
  quantityOrdered: 4,
  unitCost: 2,
});

const records: readonly object[] = [
  { type: "location", locationId: "l0", name: "Main hall" },
  { type: "location", locationId: "l1", name: "Yard" },
  { type: "supplier", supplierId: "s", name: "The Mill", currencyCode: "EUR", leadTimeDays: 7 },
  ...["Flour", "Oats"].flatMap((productName, nth) => [
    { type: "variant", variantId: `v${nth}`, productId: `p${nth}`, productName, barcode: `4000000${nth}` },
    { type: "supplierVariant", supplierId: "s", variantId: `v${nth}`, unitCost: 2 },
    { type: "inventoryLevel", variantId: `v${nth}`, locationId: "l0", onHand: 2 },
    { type: "sale", variantId: `v${nth}`, locationId: "l0", date: saleDay, quantity: 40 },
  ]),
  ...["PO-17", "PO-18"].map((poNumber) => ({
    type: "purchaseOrder",
    purchaseOrderId: poNumber,
    poNumber,
    status: "Draft",
    supplierId: "s",
    locationId: "l0",
    lineItems: [lineOf(poNumber)],
  })),
  {
    type: "purchaseOrder",
    purchaseOrderId: "PO-19",
    poNumber: "PO-19",
    status: "Partially Received",
    supplierId: "s",
    locationId: "l0",
    lineItems: [6, 0].map((quantityReceived, nth) => ({
      poLineItemId: `PO-19-${nth}`,
      variantId: `v${nth}`,
      quantityOrdered: 4,
      quantityConfirmed: 4,
      quantityReceived,
      allowOverReceipt: true,
      unitCost: 2,
    })),
  },
  {
    type: "forecastView",
    viewId: "to_order",
    viewName: "To order",
    mode: "stock",
    isStarred: true,
    filters: { onlyReorder: true },
    columns: ["productName", "supplierName", "suggestedOrderQuantity", "expectedArrivalDate", "needsReorder"],
  },
];

/** In the page: the name of a control, as it is told below. */
const nameOf = `((each) => (each.getAttribute("aria-label") ?? each.labels?.[0]?.textContent ?? each.textContent).trim())`;

/**
 * In the page: the name of what has the focus; null while nothing has it. A ring is an outline or, in the search for everything, a line below: of a row
 * that is a link as a whole it is the row's. A heading and a dialog are where something
 * begins, and are not operated.
 */
const focused = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return null;
  const isRinged = [at, at.closest("tr")].some((each) => {
    if (each === null) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow.includes("inset");
  });
  const { top, bottom, left, right } = at.getBoundingClientRect();
  const isInSight = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  return { name: ${nameOf}(at), isSeen: at.matches("h1, h2, dialog") || (isRinged && isInSight) };
})()`;

interface Focused {
  readonly name: string;
  readonly isSeen: boolean;
}

/** A person without a mouse: presses keys, and looks each time where the focus is. */
const keysOf = (page: Page) => {
  /** What has the focus, which is seen. It may be on its way: a dialog that closes gives it back a moment later. */
  const at = async (): Promise<string> => {
    const look = (): Promise<Focused | null> => page.evaluate<Focused | null>(focused);
    const { name } = await until(
      async () =>
        `seen: the focus of ${JSON.stringify(await look())} on ${page.url()}: ${await page.evaluate<string>("document.body.innerText")}`,
      async () => {
        const found = await look();
        return found?.isSeen === true ? found : null;
      },
    );
    return name;
  };
  const press = async (key: string): Promise<void> => {
    await page.keyboard.press(key);
    await at();
  };
  /** Goes on to what is called so, if it does not have the focus yet. What is not there yet is waited for, as a person does. */
  const to = async (name: RegExp | string, key = "Tab"): Promise<void> => {
    const passed: string[] = [];
    const isIt = typeof name === "string" ? `=== ${JSON.stringify(name)}` : `.match(${String(name)})`;
    await untilOnPage(
      page,
      `[...document.querySelectorAll("a, button, input, select, textarea, summary")].some(
        (each) => !each.disabled && each.checkVisibility() && Boolean(${nameOf}(each)${isIt}))`,
    );
    for (let said = await at(); typeof name === "string" ? said !== name : !name.test(said); said = await at()) {
      passed.push(said);
      assert.ok(passed.length < 60, `${key} leads to no ${String(name)}, but to ${passed.join(" | ")}`);
      await page.keyboard.press(key);
    }
  };
  const type = (text: string): Promise<void> => page.keyboard.type(text);
  /** Looks for something in the whole shop, and goes there. */
  const find = async (text: string, option: RegExp): Promise<void> => {
    await press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").waitFor();
    // What is found in the shop comes above places and actions, a moment after them.
    const searched = page.waitForResponse((answer) => new URL(answer.url()).searchParams.get("search") === text);
    await type(text);
    await searched;
    await page.locator(".find [role=listbox][aria-busy=false]").waitFor();
    const wanted = page.getByRole("dialog").getByRole("option", { name: option });
    await wanted.waitFor();
    for (let presses = 0; (await wanted.getAttribute("aria-selected")) !== "true"; presses += 1) {
      assert.ok(presses < 30, String(option));
      await press("ArrowDown");
    }
    await press("Enter");
  };
  /** Takes the first choice of the list that is open. */
  const take = async (option: string): Promise<void> => {
    await page.getByRole("option", { name: option, selected: true }).waitFor();
    await press("Enter");
  };
  const heading = async (name: RegExp | string): Promise<void> => {
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await at();
  };
  return { at, press, to, type, find, take, heading };
};

test(
  "a day without a mouse: an order is found, made, sent and received; reorder, supplier, list, approval, key, and out again",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    const { link, key } = await makeShop(program, "keyboard", records);
    const agent = { name: "Careful agent", scope: "propose" };
    const made = await program.ask("POST", "/admin/v1/shops/keyboard/keys", program.adminToken, agent);
    const asking = apiOf(program, String(made.at("data", "apiKey")));
    await asking.send("POST", "/PO-18/status", { status: "Sent" });
    const { at, press, to, type, find, take, heading } = keysOf(page);

    await page.goto(`${program.url}/console`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.keyboard.press("Tab");
    await to(/^Key or invitation/);
    await page.keyboard.insertText(link);
    await press("Enter");
    await heading(/^Hello, /);
    await to(/^Assistants have changed nothing since yesterday/);

    // An order, found by its number.
    await find("PO-17", /^PO-17/);
    await heading("PO-17");

    // A new one, with two lines.
    await find("new order", /^New order/);
    await page.getByRole("combobox", { name: "Supplier" }).waitFor();
    await type("mill");
    await take("The Mill");
    await page.getByRole("combobox", { name: "Where do the goods go?" }).waitFor();
    await type("main");
    await take("Main hall");
    for (const [product, quantity] of [
      ["Flour", "3"],
      ["Oats", "5"],
    ] as const) {
      await untilOnPage(page, `document.activeElement.labels?.[0]?.textContent === "Add a product"`);
      await type(product);
      await page.getByRole("option", { name: product, selected: true }).waitFor();
      await press("Enter");
      await page.getByLabel(`Quantity of ${product}`).waitFor();
      await press("Control+a");
      await type(quantity);
      await press("Enter");
      await page.getByRole("button", { name: new RegExp(`^Ordered, ${product}: ${quantity}`) }).waitFor();
    }
    const orderId = new URL(page.url()).pathname.split("/").at(-1) ?? "";

    // It is sent, and confirmed as ordered.
    await to("Send to the supplier", "Shift+Tab");
    await press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Mark as sent" }).waitFor();
    await to("Mark as sent");
    await press("Enter");
    await dialogsGone(page);
    await showsStatus(page, "Sent");
    await to("Confirm all as ordered");
    await press("Enter");
    await showsStatus(page, "In Progress");
    await at();

    // What has come is counted.
    await to("Receive");
    await press("Enter");
    await untilOnPage(page, `document.activeElement.labels?.[0]?.textContent.startsWith("Scan")`);
    for (const barcode of ["40000000", "40000001"]) {
      await type(barcode);
      await press("Enter");
    }
    await to(/^Receive \(2\)/);
    await press("Enter");
    await page.getByText("2 lines received.").waitFor();
    await at();
    const api = apiOf(program, key);
    assert.deepEqual(
      (await api.order(orderId)).lineItems.map((line) => [line.quantityOrdered, line.quantityReceived]),
      [
        [3, 1],
        [5, 1],
      ],
    );

    // What runs out is reordered.
    await find("reorder", /^Reorder/);
    await page.getByText("Tick what to order.").waitFor();
    await to("Tick all suggested");
    await press("Enter");
    await to("Make 1 draft");
    await press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Make 1 draft", disabled: false }).waitFor();
    await to(/^Deliver to/);
    await type("Y");
    await to("Make 1 draft");
    await press("Enter");
    const draft = dialog.getByRole("link", { name: /^PO-/ });
    await draft.waitFor();
    const draftId = (await draft.getAttribute("href"))?.split("/").at(-1) ?? "";
    const { locationId, expectedDeliveryDate } = await api.order(draftId);
    assert.equal(locationId, "l1");
    assert.match(expectedDeliveryDate ?? "", /^\d{4}-/);
    await at();
    await to("Close");
    await press("Enter");
    await dialogsGone(page);
    await at();

    // A supplier is changed.
    await find("mill", /^The Mill/);
    await heading("The Mill");
    await to("Edit");
    await press("Enter");
    await to(/^Phone/);
    await type("+31 10 555 0101");
    await press("Enter");
    await page.getByText("+31 10 555 0101").first().waitFor();
    await at();

    // A product is looked up.
    await find("oats", /^Oats/);
    await heading(/^Oats/);

    // A list is filtered, and kept as a view.
    await find("orders", /^Orders Go to$/);
    await heading("Orders");
    // Too much of one product does not fill the bar while another one is missing.
    const bar = page.getByRole("row", { name: /PO-19/ }).locator("progress");
    assert.deepEqual([await bar.getAttribute("value"), await bar.getAttribute("max")], ["4", "8"]);
    await to("Filters");
    await press("Enter");
    await to("Draft");
    await press("Enter");
    await page.waitForURL(/status=Draft/);
    await press("Escape");
    await to("Save view", "Shift+Tab");
    await press("Enter");
    await to("Name of the view");
    await type("My drafts");
    await press("Enter");
    await page.getByRole("link", { name: /^My drafts/ }).waitFor();
    await at();

    // What the assistant has asked for is decided.
    await find("approvals", /^Approvals/);
    await to(/^Choose PO-18/);
    await press("Space");
    await to(/^Approve/);
    await press("Enter");
    await page.locator(".notice").getByRole("link", { name: /PO-18/ }).waitFor();
    await at();

    // A key is made.
    await find("keys", /^Assistants/);
    await to("Name");
    await type("Night bot");
    await press("Enter");
    await dialog.getByRole("textbox", { name: "API key" }).waitFor();
    await at();
    await press("Escape");
    await to("Close without copying");
    await press("Enter");
    await dialogsGone(page);
    await page.getByRole("row", { name: /Night bot/ }).waitFor();
    await at();

    await find("sign out", /^Sign out/);
    await heading("Sign in");
    assert.deepEqual(faults, []);
  },
);
