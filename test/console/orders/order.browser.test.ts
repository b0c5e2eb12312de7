/**
 * A purchaser's way through an order in a real browser, by keyboard alone: edit, add, merge, send, confirm, complete.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { PurchaseOrder } from "../../../client/index.ts";
import { apiOf, choose, press, showsStatus, untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withConsole, withoutEvents } from "../../support/pages/console.ts";
import type { RunningProgram } from "../../support/process.ts";
import { becomes } from "../../support/until.ts";

after(endConsole);

interface Variant {
  readonly variantId: string;
  readonly sku: string;
  readonly productName: string;
  readonly status: string;
}

/** Active variants of the demo shop. */
async function variantsOf(program: RunningProgram): Promise<readonly Variant[]> {
  const found = await program.ask("GET", "/admin/v1/shops/demo/variants?limit=50", program.adminToken);
  const rows = found.at("data", "variants") as readonly Variant[];
  return rows.filter(({ status, sku }) => status === "active" && sku !== null);
}

/** A draft with three lines. */
async function draft(program: RunningProgram, variants: readonly Variant[]): Promise<PurchaseOrder> {
  const locations = await program.ask("GET", "/admin/v1/shops/demo/locations", program.adminToken);
  const made = await apiOf(program).send("POST", "", {
    locationId: locations.at("data", "locations", 0, "locationId"),
    lineItems: variants.slice(0, 3).map(({ variantId }) => ({ variantId, quantityOrdered: 5, unitCost: 2 })),
  });
  return made.at("data", "purchaseOrder") as PurchaseOrder;
}

/** Signs in and opens a new draft. */
async function openDraft(page: Page, link: string, program: RunningProgram) {
  const variants = await variantsOf(program);
  const order = await draft(program, variants);
  const { purchaseOrderId: id } = order;
  await page.goto(link);
  await page.getByRole("link", { name: order.poNumber }).waitFor();
  await page.goto(`${new URL(link).origin}/console/orders/${id}`);
  return { variants, order, id, agent: apiOf(program) };
}

test(
  "a purchaser edits, adds and pastes lines by keyboard; what another changed is merged, never overwritten",
  { skip },
  async () => {
    await withConsole(async (page, link, program) => {
      await withoutEvents(page);
      const { variants, order, id, agent } = await openDraft(page, link, program);

      // Like a sheet: typing edits, Enter saves and goes down, arrows walk.
      await page
        .getByRole("button", { name: /^Ordered, / })
        .first()
        .focus();
      await page.keyboard.type("7");
      await page.keyboard.press("Enter");
      await page.keyboard.type("8");
      await page.keyboard.press("Enter");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("2.5");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: /^Unit cost, .*2\.50/ }).waitFor();
      const edited = (await agent.order(id)).lineItems.map((line) => [line.quantityOrdered, line.unitCost]);
      assert.deepEqual(edited, [
        [7, 2],
        [8, 2],
        [5, 2.5],
      ]);

      // A date: its field is walked through by the keyboard, and Enter saves it.
      const date = page.getByRole("button", { name: /^Expected, / }).first();
      await date.focus();
      await page.keyboard.press("F2");
      await page.keyboard.type("06152027");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: /^Expected, .*Jun 15, 2027$/ }).waitFor();
      const dates = async () => (await agent.order(id)).lineItems.map((line) => line.expectedDeliveryDate);
      await becomes(dates, ["2027-06-15", null, null]);
      await date.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.type("07");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Expected, .*Jun 15, 2027$/ }).waitFor();
      await becomes(dates, ["2027-06-15", null, null]);

      // A refusal stands beside its cell.
      await page
        .getByRole("button", { name: /^Ordered, / })
        .first()
        .focus();
      await page.keyboard.type("0");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").waitFor();
      assert.notEqual(await page.locator("td .cell-note").first().innerText(), "");
      await page.getByRole("button", { name: /^Ordered, .*: 0$/ }).waitFor();

      // Somebody else changes another line: both changes stand.
      const [first, second] = order.lineItems;
      const change = (lineItemId: string | undefined, quantityOrdered: number) =>
        agent.send("PATCH", `/${id}/line-items`, { lines: [{ lineItemId, quantityOrdered }] });
      await change(second?.poLineItemId, 80);
      await page
        .getByRole("button", { name: /^Ordered, / })
        .first()
        .focus();
      await page.keyboard.type("9");
      await page.keyboard.press("Enter");
      await page.getByText(/changed 1 line\./).waitFor();
      await page.getByText("Your change was saved with it.").waitFor();
      await becomes(async () => (await agent.order(id)).lineItems.map((line) => line.quantityOrdered), [9, 80, 5]);

      // Somebody else changes the same value: theirs stands, and the person is told.
      await change(first?.poLineItemId, 70);
      await page
        .getByRole("button", { name: /^Ordered, / })
        .first()
        .focus();
      await page.keyboard.type("1");
      await page.keyboard.press("Enter");
      await page.getByText(/Your change was not saved/).waitFor();
      await page.getByText("The order now says 70.").waitFor();
      assert.equal((await agent.order(id)).lineItems[0]?.quantityOrdered, 70);
      await picture(page, "order-conflict");
      // What was typed is kept, and is saved over theirs when the person says so.
      const kept = page.getByRole("button", { name: /^Ordered, .*: 1$/ });
      await kept.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Enter");
      await page.getByText(/Your change was not saved/).waitFor({ state: "detached" });
      await page.locator("td .cell-note").waitFor({ state: "detached" });
      await becomes(async () => (await agent.order(id)).lineItems[0]?.quantityOrdered, 1);

      // A product by search.
      await page.getByRole("combobox", { name: "Add a product" }).focus();
      await page.keyboard.type(variants[3]?.sku ?? "");
      await page.getByRole("option").first().waitFor();
      await page.keyboard.press("Enter");
      await page.getByLabel(/^Quantity of/).waitFor();
      await page.keyboard.press("Enter");
      await page.locator("table.grid tbody tr").nth(3).waitFor();
      await untilOnPage(page, "document.activeElement.getAttribute('role') === 'combobox'");

      // Rows of a sheet in one call.
      await page.getByText("Paste rows from a sheet").focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("Rows", { exact: true }).focus();
      await page.keyboard.insertText(`SKU\tQty\n${variants[4]?.sku ?? ""}\t3\nno-such-code\t1`);
      await press(page, "button", "Check rows");
      await page.getByText("No product has this code.").waitFor();
      const rows = variants.slice(4, 24).map(({ sku }) => `${sku}\t3\t1.25`);
      await page.getByLabel("Rows", { exact: true }).focus();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(rows.join("\n"));
      await press(page, "button", "Check rows");
      let calls = 0;
      page.on(
        "request",
        (request) => (calls += request.method() === "POST" && request.url().endsWith("/line-items") ? 1 : 0),
      );
      await press(page, "button", `Add ${rows.length} lines`);
      await page
        .locator("table.grid tbody tr")
        .nth(3 + rows.length)
        .waitFor();
      assert.equal(calls, 1);
      assert.equal((await agent.order(id)).lineItems.length, 4 + rows.length);
      await picture(page, "order-draft");
    });
  },
);

test(
  "an order is sent, confirmed line by line and completed; the screen offers only what is allowed",
  { skip },
  async () => {
    await withConsole(async (page, link, program) => {
      const { id, agent } = await openDraft(page, link, program);
      await showsStatus(page, "Draft");
      assert.equal(await page.getByRole("button", { name: "Confirm all as ordered" }).count(), 0);
      await press(page, "button", "More actions");
      await page.getByText("Mark the order as sent first.").first().waitFor();
      await press(page, "button", "Mark as sent");
      await showsStatus(page, "Sent");
      await picture(page, "order-sent");

      await choose(page, "link", "Confirm line by line");
      await page
        .getByRole("button", { name: /^Confirmed, / })
        .first()
        .focus();
      for (const quantity of ["4", "5", "5"]) {
        await page.keyboard.type(quantity);
        await page.keyboard.press("Enter");
      }
      await page.getByText("3 lines changed").waitFor();
      await picture(page, "confirm");
      await press(page, "button", "Save");
      await showsStatus(page, "Confirmed");
      await press(page, "link", "Back to the order");
      await press(page, "button", "Start work");
      await showsStatus(page, "In Progress");

      const now = await agent.order(id);
      await agent.send("POST", `/${id}/receive`, {
        lines: now.lineItems.map((line) => ({
          lineItemId: line.poLineItemId,
          quantityReceived: line.quantityConfirmed,
        })),
      });
      await page.reload();
      await choose(page, "link", "Complete");
      await page.getByRole("button", { name: "Complete the order" }).waitFor();
      await picture(page, "complete");
      await press(page, "button", "Complete the order");
      await showsStatus(page, "Completed");
      assert.equal((await agent.order(id)).status, "Completed");
      await press(page, "link", "Back to the order");
      await page.getByText("Arrow keys walk").waitFor({ state: "detached" });
      await picture(page, "order-completed");
      await choose(page, "button", "Order again");
      await showsStatus(page, "Draft");
      const again = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      assert.notEqual(again, id);
      assert.equal((await agent.order(again)).lineItems.length, now.lineItems.length);
    });
  },
);

test(
  "the history of an order, and all activity, have no words of the API, no ids and no days of machines",
  { skip },
  async () => {
    await withConsole(async (page, link, program) => {
      const { order, id, agent } = await openDraft(page, link, program);
      const ids = async (kind: "supplier" | "location") => {
        const rows = await program.ask("GET", `/admin/v1/shops/demo/${kind}s`, program.adminToken);
        return [0, 1].map((nth) => String(rows.at("data", `${kind}s`, nth, `${kind}Id`)));
      };
      const [[supplierId, otherSupplierId], [, locationId]] = [await ids("supplier"), await ids("location")];
      await agent.send("PATCH", `/${id}`, { supplierId, orderDate: "2026-11-01", shippingAddress: { city: "Delft" } });
      await agent.send("PATCH", `/${id}`, {
        supplierId: otherSupplierId,
        locationId,
        poName: "Spring",
        currencyCode: "GBP",
        orderDate: "2026-11-02",
        expectedDeliveryDate: "2027-05-01",
        supplierReference: "R 7",
        paymentTerms: "30 days",
        incoterm: "FOB",
        shippingCost: 8.5,
        discountAmount: 2,
        taxAmount: 1,
        tags: ["weekly"],
        note: "Call first",
        noteToSupplier: "Ring the bell",
        shippingAddress: { companyName: "Side door", city: "Rotterdam" },
        fxRateOverride: 1.123456,
      });
      const lines = order.lineItems.map(({ poLineItemId: lineItemId }) => ({
        lineItemId,
        unitCostCurrencyCode: "USD",
        expectedDeliveryDate: "2027-05-02",
        supplierSku: "MB-1",
        moq: 2,
      }));
      await agent.send("PATCH", `/${id}/line-items`, { lines });
      await page.reload();
      const ofMachines = /\b[a-z]+[A-Z]\w*|\b(?:sup|var|loc|key)_\w+|\d{4}-\d\d-\d\d|[{}]/;
      const saysNone = async (name: string, entries: Locator) => {
        const text = await entries.allInnerTexts();
        assert.ok(text.length > 0, name);
        assert.equal(ofMachines.exec(text.join("\n"))?.[0], undefined, name);
      };
      const entries = page.locator(".timeline > li");
      await entries.nth(3).waitFor();
      for (const each of await entries.locator("summary").all()) await each.click();
      await entries.getByText("Rotterdam").first().waitFor();
      await untilOnPage(page, "!/Loading/.test(document.querySelector('.timeline').innerText)");
      await saysNone("the order", entries);
      await picture(page, "order-history");
      const { origin } = new URL(page.url());
      await page.goto(`${origin}/console`);
      await page.getByText("Changed 3 lines").first().waitFor();
      await saysNone("home", page.locator(".plain-rows li", { hasText: order.poNumber }));
      await page.goto(`${origin}/console/activity?view=changes`);
      const summary = page.locator(".change-list summary", { hasText: "expected delivery," }).first();
      await summary.click();
      await page.getByRole("row", { name: /^Note/ }).first().waitFor();
      await untilOnPage(page, "!/Loading/.test(document.querySelector('.change-list').innerText)");
      const ofOrder = page.locator(".change-list > li", { hasText: order.poNumber });
      await saysNone("all activity", ofOrder);
      // A line is its product, not an id.
      const ofLines = ofOrder.filter({ has: page.locator("summary", { hasText: "3 lines" }) }).first();
      await ofLines.locator("summary").click();
      const [line] = order.lineItems;
      await ofLines
        .getByRole("rowheader", { name: line?.productName ?? "" })
        .first()
        .waitFor();
      assert.doesNotMatch(await ofLines.innerText(), /pol_/);
    });
  },
);
