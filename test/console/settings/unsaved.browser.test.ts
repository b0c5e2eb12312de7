/**
 * What was typed and is not saved: each form asks before it is left, and what the service refuses stands beside its field.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { endConsole, invitation, newPage, picture, skip, withPerson } from "../../support/pages/console.ts";
import { becomes } from "../../support/until.ts";

after(endConsole);

interface Typed {
  readonly name: string;
  /** Steps of the place below `/console`. */
  readonly place: string;
  /** Opens the form, where it is not open. */
  readonly open?: (page: Page) => Promise<unknown>;
  readonly field: (page: Page) => Locator;
  readonly text: string;
}

const field =
  (name: string | RegExp) =>
  (page: Page): Locator =>
    page.getByRole("main").getByRole("textbox", { name, exact: true });

const order = "orders/po_demo_07";

/** Forms with the field that is typed into. Those of settings and records have tests of their own. */
const forms: readonly Typed[] = [
  {
    name: "the order's header",
    place: order,
    open: (page) => page.getByRole("button", { name: "Edit details" }).click(),
    field: field("Note"),
    text: "For the winter",
  },
  {
    name: "a line that is added",
    place: "orders/po_demo_24",
    open: async (page) => {
      await page.getByRole("combobox", { name: "Add a product" }).fill("teapot");
      await page
        .getByRole("option", { name: /teapot/i })
        .first()
        .click();
    },
    field: field(/^Quantity of /),
    text: "12",
  },
  { name: "a comment", place: order, field: field(/^Comment/), text: "Call them first" },
  { name: "an invitation", place: "people", field: field("Name"), text: "Bea" },
  { name: "a new key", place: "keys", field: field("Name"), text: "night bot" },
  { name: "an endpoint", place: "webhooks", field: field("Description (optional)"), text: "the ledger" },
];

for (const { name, place, open, field: fieldOf, text } of forms)
  test(`${name} asks before it is left, and stays as it was typed`, { skip }, () =>
    withPerson("owner", async (page, program) => {
      await page.goto(`${program.url}/console/${place}`);
      await open?.(page);
      await fieldOf(page).fill(text);
      const asked = page.waitForEvent("dialog");
      const acted = page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
      const dialog = await asked;
      assert.match(dialog.message(), /not saved/);
      await dialog.dismiss();
      await acted;
      assert.equal(await fieldOf(page).inputValue(), text);
    }),
  );

test("what is ticked for reordering is asked about, but not where it stays", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/reorder`);
    const box = page.getByRole("main").getByRole("checkbox").first();
    await box.check();
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    const head = page.getByRole("main").getByRole("columnheader").getByRole("link").first();
    await head.click();
    await page.waitForURL(/sort=/);
    await page.goBack();
    await page.waitForURL(/reorder$/);
    assert.deepEqual(asked, []);
    await page.getByRole("navigation", { name: "Forecast views" }).locator("a:not([aria-current])").first().click();
    await becomes(async () => asked.length, 1);
    await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    await becomes(async () => asked.length, 2);
    assert.match(asked[0] ?? "", /not saved/);
    assert.equal(await box.isChecked(), true);
    assert.equal(new URL(page.url()).pathname, "/console/reorder");
    // Nothing is ticked any more, so nobody is asked.
    await box.uncheck();
    await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    await page.getByRole("heading", { name: "Suppliers" }).waitFor();
    assert.equal(asked.length, 2);
  }),
);

/** Answers the question that `act` leads to. @returns what it said. */
async function answered(page: Page, yes: boolean, act: () => Promise<unknown>): Promise<string> {
  const asked = page.waitForEvent("dialog");
  const acted = act();
  const dialog = await asked;
  await (yes ? dialog.accept() : dialog.dismiss());
  await acted;
  return dialog.message();
}

test("a dialog asks before Escape takes what was typed in it, each time; Cancel gives it up", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/keys`);
    const open = page.getByRole("button", { name: /^Limits of / }).first();
    await open.click();
    const dialog = page.getByRole("dialog");
    // Nothing is asked about nothing.
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await open.click();
    const amount = dialog.getByLabel("An order, at most");
    await amount.fill("250");
    for (let time = 0; time < 3; time += 1) {
      assert.match(await answered(page, false, () => page.keyboard.press("Escape")), /not saved/);
      assert.equal(await amount.inputValue(), "250");
    }
    await answered(page, true, () => page.keyboard.press("Escape"));
    await dialog.waitFor({ state: "detached" });
    await open.click();
    assert.equal(await amount.inputValue(), "");
    await amount.fill("300");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    await page.getByRole("heading", { name: "Suppliers" }).waitFor();
  }),
);

test("a mail to a supplier and a replay of events ask before the page is left", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/orders?status=Draft`);
    await page.getByRole("main").getByRole("link", { name: /^PO-/ }).first().click();
    await page.getByRole("button", { name: "Send to the supplier" }).click();
    const message = page.getByRole("dialog").getByLabel("Message");
    // Whoever goes back in the very moment of typing is asked too.
    const typeAndLeave = `{
      const field = document.querySelector("dialog textarea");
      field.value = "Please hurry.";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      history.back();
    }`;
    await message.waitFor();
    assert.match(await answered(page, false, () => page.evaluate(typeAndLeave)), /not saved/);
    assert.equal(await message.inputValue(), "Please hurry.");
    // The dialog keeps the text.
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    const endpoint = { url: "https://ledger.example/hooks", eventTypes: ["*"] };
    const put = await program.ask("POST", "/admin/v1/shops/demo/webhook-endpoints", program.adminToken, endpoint);
    assert.equal(put.status, 201, put.text);
    await page.goto(`${program.url}/console/webhooks`);
    await page.getByRole("main").getByRole("link", { name: endpoint.url }).click();
    await page.locator("summary", { hasText: "Replay past events" }).click();
    await page.getByLabel("Since").fill("2026-01-01T10:00");
    const leave = () => page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    assert.match(await answered(page, false, leave), /not saved/);
  }),
);

/** What stands beside a field as wrong. */
async function saysOf(page: Page, label: string): Promise<string> {
  const wrong = page.getByRole("main").locator("[aria-invalid='true']");
  await wrong.waitFor();
  assert.equal(await page.getByLabel(label, { exact: true }).getAttribute("aria-invalid"), "true");
  const [id] = String(await wrong.getAttribute("aria-describedby")).split(" ");
  return await page.locator(`#${id}`).innerText();
}

test("what is refused of an endpoint, a key or an invitation stands beside its field", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/webhooks`);
    await page.getByRole("textbox", { name: "URL", exact: true }).fill("ftp://ledger.example/");
    await page.getByRole("button", { name: "Add endpoint" }).click();
    assert.equal(
      await saysOf(page, "URL"),
      "Write a whole address without spaces, user name or #, like https://example.com/orders.",
    );

    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${program.url}/console/people`);
    await field("Name")(page).fill("   ");
    await page.getByRole("button", { name: "Create link" }).click();
    assert.equal(await saysOf(page, "Name"), "This is needed.");

    await page.goto(`${program.url}/console/keys`);
    await field("Name")(page).fill("night bot");
    await page.locator("details.limits > summary").click();
    await page.getByLabel("An order, at most").fill("99999999999999999999");
    await page.getByRole("button", { name: "Create key" }).click();
    assert.equal(await saysOf(page, "An order, at most"), "This number is too large.");
  }),
);

test("what is refused of a saved view stands beside its name, and nothing else is said of it", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/orders?status=Sent`);
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name of the view").fill("  ");
    await page.getByRole("form", { name: "Save view" }).getByRole("button", { name: "Save", exact: true }).click();
    assert.equal(await saysOf(page, "Name of the view"), "This is needed.");
    assert.equal(await page.locator(".problem").count(), 0);
  }),
);

const neededIn = {
  de: "Bitte ausfüllen oder auswählen.",
  fr: "À renseigner.",
  es: "Es obligatorio.",
  nl: "Dit is nodig.",
} as const;

for (const [language, words] of Object.entries(neededIn))
  test(`what is wrong stands beside its field in the language ${language}`, { skip }, async () => {
    const { page, program, faults } = await newPage(language);
    await page.goto(await invitation(program));
    await page.locator("#me").waitFor({ state: "attached" });
    await page.goto(`${program.url}/console/orders?status=Sent`);
    await page.locator("nav.tabs button").click();
    await page.locator("[name='viewName']").fill("  ");
    await page.locator("form.view-form button.primary").click();
    const [id] = String(await page.locator("[aria-invalid='true']").getAttribute("aria-describedby")).split(" ");
    assert.equal(await page.locator(`#${id}`).innerText(), words);
    await picture(page, `refused-view-${language}`);
    assert.deepEqual(faults, []);
    await page.context().close();
  });
