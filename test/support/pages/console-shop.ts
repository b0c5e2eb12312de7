/** A large shop for the console's budgets, and what stories say to the program beside the page. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { PurchaseOrder } from "../../../client/index.ts";
import type { RunningProgram } from "../process.ts";
import { pause, until } from "../until.ts";
import { toOrders } from "./console.ts";

/** 10,000 orders, newest first in the list; `o9999` has 500 lines. */
export const ordersOfBig = 10_000;
const variantsOfBig = 2_000;
const wholeOrderLines = 500;

/** Records of the large shop. The last order has 500 lines. */
export function* bigRecords(orders = ordersOfBig): Generator<object> {
  for (const index of [0, 1]) yield { type: "location", locationId: `l${index}`, name: `Hall ${index}` };
  for (let index = 0; index < 20; index += 1)
    yield { type: "supplier", supplierId: `s${index}`, name: `Vendor ${index}`, currencyCode: "EUR" };
  for (let index = 0; index < variantsOfBig; index += 1)
    yield {
      type: "variant",
      variantId: `v${index}`,
      productId: `p${index}`,
      productName: `Product ${index}`,
      sku: `SKU-${index}`,
      barcode: String(4_000_000 + index),
    };
  const startMs = Date.parse("2024-01-01T00:00:00.000Z");
  for (let index = 0; index < orders; index += 1) {
    const lines = index === orders - 1 ? wholeOrderLines : 2;
    yield {
      type: "purchaseOrder",
      purchaseOrderId: `o${index}`,
      poNumber: `PO-${10_000 + index}`,
      status: lines > 2 ? "Draft" : (["Draft", "Sent", "Confirmed", "Completed"] as const)[index % 4],
      supplierId: `s${index % 20}`,
      locationId: `l${index % 2}`,
      createdAt: new Date(startMs + index * 300_000).toISOString(),
      lineItems: Array.from({ length: lines }, (_, line) => ({
        poLineItemId: `o${index}-${line}`,
        variantId: `v${(index * 7 + line * 31) % variantsOfBig}`,
        productName: `Product ${(index * 7 + line * 31) % variantsOfBig}`,
        sku: `SKU-${(index * 7 + line * 31) % variantsOfBig}`,
        quantityOrdered: 5,
        unitCost: 4.5,
      })),
    };
  }
}

/** Makes a shop of these records. @returns the link of an invitation for its owner, and a key that writes. */
export async function makeShop(
  program: RunningProgram,
  shopId: string,
  records: Iterable<object>,
): Promise<{ readonly link: string; readonly key: string }> {
  const ask = async (method: string, path: string, body: unknown) => {
    const answer = await program.ask(method, `/admin/v1/shops/${shopId}${path}`, program.adminToken, body);
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  await ask("PUT", "", { name: `Shop ${shopId}`, currencyCode: "EUR" });
  await ask("POST", "/import", [...records].map((record) => `${JSON.stringify(record)}\n`).join(""));
  const invited = await ask("POST", "/invitations", { name: "Ana", role: "owner" });
  const made = await ask("POST", "/keys", { name: "night bot", scope: "write" });
  return { link: toOrders(String(invited.at("data", "url"))), key: String(made.at("data", "apiKey")) };
}

/** What the API says, asked with a key beside the person; without one with the demo's. */
export const apiOf = (program: RunningProgram, key = program.word("write key")) => ({
  order: async (id: string): Promise<PurchaseOrder> => {
    const ask = () => program.ask("GET", `/api/v1/purchase-orders/${id}`, key);
    let answer = await ask();
    // Who looks again and again for what a slow page saves comes to the key's rate limit.
    for (; answer.status === 429; answer = await ask()) await pause(Number(answer.headers.get("retry-after")) * 1_000);
    assert.equal(answer.status, 200, answer.text);
    return answer.at("data", "purchaseOrder") as PurchaseOrder;
  },
  send: async (method: string, target: string, body?: unknown) => {
    const answer = await program.ask(method, `/api/v1/purchase-orders${target}`, key, body);
    assert.ok(answer.status < 300, answer.text);
    return answer;
  },
});

/** Counts the clicks on a page from now on, those that lead to another page of it too. */
export async function clicksOf(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`(() => {
    globalThis.clicks = 0;
    addEventListener("click", (event) => (globalThis.clicks += event.detail > 0 ? 1 : 0), { capture: true });
  })()`);
  return () => page.evaluate<number>("globalThis.clicks");
}

/** Waits until the order's heading shows this status. */
export const showsStatus = (page: Page, status: string): Promise<void> =>
  page.locator(".heading .chip", { hasText: new RegExp(`^${status}$`) }).waitFor();

/** Presses a button or link with the keyboard. */
export async function press(page: Page, role: "button" | "link", name: string): Promise<void> {
  const control = page.getByRole(role, { name, exact: true }).first();
  await control.focus();
  await page.keyboard.press("Enter");
}

/** Does with an order what stands in its menu. */
export async function choose(page: Page, role: "button" | "link", name: string): Promise<void> {
  await press(page, "button", "More actions");
  await press(page, role, name);
}

/**
 * Waits until an expression holds in the page. Its policy lets no text become a script by itself: Playwright's `waitForFunction` fails there when the first
 * look does not find it.
 */
export const untilOnPage = (page: Page, expression: string): Promise<true> =>
  until(expression, () => page.evaluate<boolean>(expression));
