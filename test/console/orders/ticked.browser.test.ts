/**
 * Orders that are ticked in the list: what can be done with all of them, what becomes of each, and who may do it.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { accessibilityFaults } from "../../support/pages/axe.ts";
import { apiOf, makeShop, press } from "../../support/pages/console-shop.ts";
import {
  dialogsGone,
  endConsole,
  invitation,
  picture,
  skip,
  withConsole,
  withEnvironment,
  withPerson,
} from "../../support/pages/console.ts";
import { mailEnv } from "../../support/peers/mail-shop.ts";
import { type SmtpServerForTests, startSmtpServer } from "../../support/peers/smtp.ts";
import type { RunningProgram } from "../../support/process.ts";
import { becomes, until } from "../../support/until.ts";

let mailServer: SmtpServerForTests | null = null;

before(async () => {
  mailServer = await startSmtpServer();
  withEnvironment(mailEnv(mailServer));
});

after(async () => {
  await endConsole();
  await mailServer?.close();
});

const startMs = Date.parse("2026-01-01T00:00:00.000Z");

const order = (number: number, status: string, more: object = {}): object => ({
  type: "purchaseOrder",
  purchaseOrderId: `po-${number}`,
  poNumber: `PO-${number}`,
  status,
  supplierId: "mill",
  locationId: "hall",
  createdAt: new Date(startMs + number * 60_000).toISOString(),
  lineItems: [
    {
      poLineItemId: `line-${number}`,
      variantId: "v",
      quantityOrdered: 10,
      unitCost: 2.5,
      ...(status === "Confirmed" ? { quantityConfirmed: 10 } : {}),
    },
  ],
  ...more,
});

const records: readonly object[] = [
  { type: "location", locationId: "hall", name: "Main hall" },
  { type: "supplier", supplierId: "mill", name: "Mill & Sons", email: "orders@mill.example", currencyCode: "EUR" },
  { type: "supplier", supplierId: "mute", name: "Mute", currencyCode: "EUR" },
  { type: "variant", variantId: "v", productId: "p", productName: "Flour", sku: "FLOUR" },
  order(11, "Draft"),
  order(12, "Draft"),
  order(13, "Draft", { supplierId: "mute" }),
  order(14, "Draft"),
  order(21, "Confirmed"),
  order(22, "Confirmed"),
  order(23, "Confirmed"),
  order(31, "Completed"),
];

interface Desk {
  readonly page: Page;
  readonly program: RunningProgram;
  readonly api: ReturnType<typeof apiOf>;
  readonly bar: Locator;
  readonly summary: Locator;
  readonly box: (number: number) => Locator;
  readonly tick: (...numbers: readonly number[]) => Promise<void>;
  /** Presses an entry of the bar's menus, and the button of the question about it. */
  readonly does: (menu: string | null, entry: string) => Promise<void>;
  readonly statuses: (...numbers: readonly number[]) => Promise<readonly string[]>;
}

/** An owner who looks at the orders of a new shop. */
const atDesk = (shopId: string, use: (desk: Desk) => Promise<void>, more: readonly object[] = []): Promise<void> =>
  withConsole(async (page, _link, program) => {
    const { link, key } = await makeShop(program, shopId, [...records, ...more]);
    await page.goto(link);
    await page.getByRole("link", { name: "PO-11", exact: true }).waitFor();
    const api = apiOf(program, key);
    const bar = page.getByRole("group", { name: "With the selected orders" });
    const box = (number: number): Locator => page.getByRole("checkbox", { name: `Select PO-${number}`, exact: true });
    await use({
      page,
      program,
      api,
      bar,
      summary: page.locator(".summary"),
      box,
      async tick(...numbers) {
        for (const number of numbers) await box(number).click();
        await bar.getByText(`${numbers.length} selected`).waitFor();
      },
      async does(menu, entry) {
        if (menu !== null) await bar.getByRole("button", { name: menu, exact: true }).click();
        await bar.getByRole("button", { name: entry, exact: true }).click();
        await page.getByRole("dialog").getByRole("button", { name: entry, exact: true }).click();
        await dialogsGone(page);
      },
      statuses: (...numbers) => Promise.all(numbers.map(async (number) => (await api.order(`po-${number}`)).status)),
    });
  });

/** Requests that write, of a page from now on. */
function writesOf(page: Page): readonly string[] {
  const writes: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== "GET" && pathname.includes("/purchase-orders/")) writes.push(pathname);
  });
  return writes;
}

const all = [31, 23, 22, 21, 14, 13, 12, 11];

test(
  "rows are ticked one by one, as a range, by key and all at once; Escape and other filters take all ticks off, and nothing moves",
  { skip },
  () =>
    atDesk("ticking", async ({ page, bar, box }) => {
      const table = page.locator("table.list");
      const topOf = async (): Promise<number> => (await table.boundingBox())?.y ?? 0;
      const before = await topOf();
      await box(23).click();
      await bar.getByText("1 selected").waitFor();
      assert.equal(await topOf(), before);
      assert.ok(!(await page.getByRole("searchbox").isVisible()));
      await box(13).click({ modifiers: ["Shift"] });
      await bar.getByText("5 selected").waitFor();
      const head = page.getByRole("checkbox", { name: "Select all shown" });
      assert.equal(await head.evaluate((each) => Reflect.get(each, "indeterminate")), true);
      await picture(page, "orders-ticked");
      assert.deepEqual(await accessibilityFaults(page), []);
      await head.click();
      await bar.getByText(`${all.length} selected`).waitFor();
      await page.keyboard.press("Escape");
      await bar.waitFor({ state: "detached" });
      assert.equal(await page.locator(".row-tick :checked").count(), 0);
      assert.equal(await topOf(), before);

      // The row that has the focus, and the one below the pointer.
      await page.getByRole("link", { name: "PO-21", exact: true }).focus();
      await page.keyboard.press("x");
      await bar.getByText("1 selected").waitFor();
      assert.ok(await box(21).isChecked());
      await page.keyboard.press("x");
      await bar.waitFor({ state: "detached" });
      await page.getByRole("link", { name: "PO-21", exact: true }).blur();
      await page.getByRole("row", { name: "PO-31" }).hover();
      await page.keyboard.press("x");
      await becomes(() => box(31).isChecked(), true);

      // A phone shows no heads: the bar selects all, too.
      await bar.getByRole("button", { name: "More" }).click();
      await bar.getByRole("button", { name: "Select all shown" }).click();
      await bar.getByText(`${all.length} selected`).waitFor();
      await bar.getByRole("button", { name: "Clear the selection" }).click();
      await bar.waitFor({ state: "detached" });
      await box(31).click();
      await page.getByRole("link", { name: "Waiting for supplier" }).click();
      await page.waitForURL(/status=/);
      await page.getByRole("link", { name: "All", exact: true }).click();
      await page.getByRole("link", { name: "PO-31" }).waitFor();
      assert.equal(await page.locator(".row-tick :checked").count(), 0);
    }),
);

test("ticks stay when more orders are loaded", { skip }, () =>
  atDesk(
    "more",
    async ({ page, bar, box, tick }) => {
      await page.getByText("50 of 60").waitFor();
      await tick(31, 22);
      await press(page, "button", "Load more");
      await page.getByText("60 of 60").waitFor();
      await bar.getByText("2 selected").waitFor();
      assert.ok(await box(22).isChecked());
    },
    Array.from({ length: 52 }, (_, index) => order(index - 52, "Completed")),
  ),
);

test(
  "orders are moved one after another, each once, though the button is pressed twice; one that was changed meanwhile is refused and stays ticked",
  { skip },
  () =>
    atDesk("moving", async ({ page, api, bar, box, tick, summary, statuses }) => {
      await tick(21, 22, 23);
      const writes = writesOf(page);
      // Changed by another, of which the page learns too late: its stream brings nothing more.
      await page.route("**/events/stream*", (route) => route.abort());
      await page.route(/\/api\/v1\/purchase-orders(?:\?|$)/, (route) => route.abort());
      await api.send("PATCH", "/po-22", { poName: "Renamed meanwhile" });
      await bar.getByRole("button", { name: "Move", exact: true }).click();
      await picture(page, "orders-ticked-move");
      await bar.getByRole("button", { name: "Start work" }).click();
      await picture(page, "orders-ticked-question");
      await page.getByRole("dialog").getByRole("button", { name: "Start work" }).dblclick();

      await summary.getByText("2 orders done, 1 refused").waitFor();
      await dialogsGone(page);
      await picture(page, "orders-ticked-refused");
      assert.deepEqual(await accessibilityFaults(page), []);
      assert.deepEqual(
        writes,
        [23, 22, 21].map((number) => `/api/v1/purchase-orders/po-${number}/status`),
      );
      assert.deepEqual(await statuses(21, 22, 23), ["In Progress", "Confirmed", "In Progress"]);
      const refused = summary.getByRole("listitem");
      assert.match(await refused.innerText(), /^PO-22 Somebody has changed it meanwhile/);
      assert.deepEqual(await Promise.all([21, 22, 23].map((number) => box(number).isChecked())), [false, true, false]);
      await refused.getByRole("link", { name: "PO-22" }).click();
      await page.waitForURL(/po-22$/);
    }),
);

test(
  "a move of several is taken back, each for the version that was made; what was changed since stays",
  { skip },
  () =>
    atDesk("back", async ({ page, api, tick, does, statuses }) => {
      const toast = page.locator(".toast");
      const says = (text: string | RegExp) => toast.locator("p").filter({ hasText: text }).waitFor();
      await tick(21, 22);
      await does("Move", "Put on hold");
      await says(/^Put on hold, 2 orders/);
      // It stays while it is pointed at.
      await toast.hover();
      await picture(page, "orders-ticked-toast");
      await page.locator("h1").click();
      await page.keyboard.press("Control+z");
      await says(/^Undone: Put on hold, 2 orders/);
      assert.deepEqual(await statuses(21, 22), ["Confirmed", "Confirmed"]);
      await tick(21, 22);
      await does("Move", "Put on hold");
      await says(/^Put on hold, 2 orders/);
      // It stays while it is pointed at.
      await toast.hover();
      await api.send("PATCH", "/po-22", { note: "Changed by another" });
      await toast.getByRole("button", { name: "Undo" }).click();
      await says(/^Undone: Put on hold, 1 order\. Not undone\. PO-22: Somebody has changed it meanwhile/);
      assert.deepEqual(await statuses(21, 22), ["Confirmed", "On Hold"]);
    }),
);

test("only moves that are open to all are offered; of a cancellation a person is asked in red", { skip }, () =>
  atDesk("common", async ({ page, bar, box, tick, does, statuses }) => {
    const offered = async (): Promise<readonly string[]> => {
      await bar.getByRole("button", { name: "Move", exact: true }).click();
      const names = await bar.locator(".menu button").allInnerTexts();
      await page.keyboard.press("Escape");
      await bar.locator(".menu").waitFor({ state: "detached" });
      return names;
    };
    await tick(21);
    assert.deepEqual(await offered(), ["Mark as sent", "Start work", "Cancel the order", "Put on hold", "Dispute"]);
    await box(31).click();
    await bar.getByText("2 selected").waitFor();
    assert.deepEqual(await offered(), ["In Progress"]);
    await box(11).click();
    await bar.getByText("3 selected").waitFor();
    assert.deepEqual(await offered(), []);
    // Escape closed the menu alone.
    await bar.getByText("3 selected").waitFor();
    await bar.getByRole("button", { name: "Move", exact: true }).click();
    await bar.getByText("No step is open to all of them.").waitFor();
    await page.keyboard.press("Escape");
    await bar.getByRole("button", { name: "More", exact: true }).click();
    await bar.getByText("Send: only drafts").waitFor();
    await page.keyboard.press("Escape");
    await box(11).click();
    await box(31).click();
    await box(22).click();
    await does("Move", "Cancel the order");
    await bar.waitFor({ state: "detached" });
    assert.deepEqual(await statuses(21, 22, 23), ["Cancelled", "Cancelled", "Confirmed"]);
  }),
);

test(
  "drafts are mailed to their suppliers and moved to Sent; one without an address is refused, with the reason",
  { skip },
  () =>
    atDesk("sending", async ({ page, tick, does, summary, statuses, box }) => {
      const sentBefore = mailServer?.taken.length ?? 0;
      await tick(11, 12, 13);
      await does(null, "Send");
      await summary.getByText("2 orders done, 1 refused").waitFor();
      assert.match(await summary.getByRole("listitem").innerText(), /^PO-13 The supplier has no e-mail address/);
      assert.deepEqual(await statuses(11, 12, 13), ["Sent", "Sent", "Draft"]);
      assert.equal(mailServer?.taken.length, sentBefore + 2);
      assert.ok(await box(13).isChecked());
      await picture(page, "orders-ticked-sent");
    }),
);

test("a move that needs approval is asked for, and counted so", { skip }, () =>
  atDesk("asking", async ({ page, program, tick, does, summary, statuses }) => {
    const rule = { ruleId: "all", name: "All", when: { totalAbove: 1 }, approvers: { roles: ["owner"] } };
    const settings = { settings: { approvalRules: [rule] } };
    const set = await program.ask("PUT", "/admin/v1/shops/asking", program.adminToken, settings);
    assert.ok(set.status < 300, set.text);
    await page.goto("about:blank");
    await page.goto(await invitation(program, "purchaser", "asking"));
    await page.getByRole("link", { name: "PO-11", exact: true }).waitFor();
    await tick(11, 12);
    await does("Move", "Mark as sent");
    await summary.getByText("2 wait for approval").waitFor();
    await summary.getByRole("link", { name: "See the request" }).first().waitFor();
    assert.deepEqual(await statuses(11, 12), ["Draft", "Draft"]);
  }),
);

test("drafts of one supplier and place become one, which is shown then; others are not offered it", { skip }, () =>
  atDesk("merging", async ({ page, api, bar, box, tick, statuses }) => {
    await tick(11, 12, 13);
    await bar.getByRole("button", { name: "More" }).click();
    await picture(page, "orders-ticked-more");
    assert.equal(await bar.getByRole("button", { name: "Merge" }).count(), 0);
    await bar.getByText("Merge: select at least two drafts of one supplier").waitFor();
    await page.keyboard.press("Escape");
    await box(13).click();
    await box(14).click();
    await bar.getByRole("button", { name: "More" }).click();
    await bar.getByRole("button", { name: "Merge" }).click();
    const dialog = page.getByRole("dialog", { name: "Merge 3 drafts?" });
    assert.equal(await dialog.getByLabel("Draft that stays").inputValue(), "po-11");
    await dialog.getByLabel("Draft that stays").selectOption("po-12");
    await picture(page, "orders-ticked-merge");
    await dialog.getByRole("button", { name: "Merge" }).click();
    await page.waitForURL(/orders\/po-12$/);
    await page.getByRole("heading", { name: "PO-12" }).waitFor();
    assert.equal((await api.order("po-12")).quantityOrdered, 30);
    assert.deepEqual(await statuses(13), ["Draft"]);
  }),
);

test("a viewer prints, downloads and exports what is ticked, and is offered nothing else", { skip }, () =>
  withPerson("viewer", async (page) => {
    const writes = writesOf(page);
    for (const number of [1_024, 1_023])
      await page.getByRole("checkbox", { name: `Select PO-${number}`, exact: true }).click();
    const bar = page.getByRole("group", { name: "With the selected orders" });
    await bar.getByText("2 selected").waitFor();
    const names = await bar.locator("button, a").allInnerTexts();
    assert.deepEqual(
      names.filter((name) => name !== ""),
      ["Print", "Download PDF", "Export CSV"],
    );
    await picture(page, "orders-ticked-viewer");
    const csv = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Export CSV" }).click();
    const lines = readFileSync(await (await csv).path(), "utf8")
      .replace("\uFEFF", "")
      .trimEnd()
      .split("\r\n");
    assert.deepEqual(
      lines.map((line) => line.split(",")[0]),
      ["poNumber", "PO-1024", "PO-1023"],
    );
    const files: string[] = [];
    page.on("download", (download) => files.push(download.suggestedFilename()));
    await bar.getByRole("button", { name: "Download PDF" }).click();
    await until("two files came", () => files.length === 2);
    await page.getByText("2 orders done").waitFor();
    await bar.getByRole("link", { name: "Print" }).click();
    await page.waitForURL(/print$/);
    await page.getByRole("button", { name: "Print" }).waitFor();
    assert.equal(await page.locator(".sheet").count(), 2);
    await page.getByText("PO-1023").first().waitFor();
    assert.deepEqual(writes, []);
  }),
);
