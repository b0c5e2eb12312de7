/**
 * Every place of the console without findings of axe-core, full, empty and failing, wide and narrow, light and dark. The list of places is
 * the console's own: the compiler asks for an address of each one that is added.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { places } from "../../console/places.ts";
import { accessibilityFaults } from "../support/pages/axe.ts";
import { untilOnPage } from "../support/pages/console-shop.ts";
import { endConsole, invitation, newPage, skip } from "../support/pages/console.ts";
import type { RunningProgram } from "../support/process.ts";

after(endConsole);

/** Rows of the demo shop that places name. */
interface Rows {
  /** An order in each status. */
  readonly orders: Readonly<Record<string, string>>;
  readonly endpointId: string;
  readonly supplierId: string;
  readonly variantId: string;
  readonly locationId: string;
  readonly approvalRequestId: string;
}

const addresses: Readonly<Record<(typeof places)[number], (rows: Rows) => string>> = {
  home: () => "home",
  orders: () => "orders",
  "orders/:purchaseOrderId": ({ orders }) => `orders/${orders["Draft"]}`,
  "orders/:purchaseOrderId/confirm": ({ orders }) => `orders/${orders["Sent"]}/confirm`,
  "orders/:purchaseOrderId/complete": ({ orders }) => `orders/${orders["Received"]}/complete`,
  "orders/:purchaseOrderId/print": ({ orders }) => `orders/${orders["Sent"]}/print`,
  "new-order": () => "new-order",
  dock: () => "dock",
  "receive/:purchaseOrderId": ({ orders }) => `receive/${orders["In Progress"]}`,
  reorder: () => "reorder",
  import: () => "import",
  stock: () => "stock",
  "stock/:kind": () => "stock/manufacturing",
  "stock/:kind/:recordId": () => "stock/transfers/to_demo_01",
  suppliers: () => "suppliers",
  "suppliers/:supplierId": ({ supplierId }) => `suppliers/${supplierId}`,
  products: () => "products",
  "products/:variantId": ({ variantId }) => `products/${variantId}`,
  locations: () => "locations",
  "locations/:locationId": ({ locationId }) => `locations/${locationId}`,
  "new/:kind": () => "new/suppliers",
  connect: () => "connect",
  keys: () => "keys",
  approvals: () => "approvals",
  "approvals/:approvalRequestId": ({ approvalRequestId }) => `approvals/${approvalRequestId}`,
  activity: () => "activity",
  people: () => "people",
  account: () => "account",
  webhooks: () => "webhooks",
  storefront: () => "storefront",
  settings: () => "settings",
  "settings/documents": () => "settings/documents",
  "settings/approvals": () => "settings/approvals",
  "webhooks/:endpointId": ({ endpointId }) => `webhooks/${endpointId}`,
  shops: () => "shops",
  "shops/:shopId": () => "shops/demo",
};

/** Orders of the demo shop by status, and an endpoint. */
async function rowsOf(program: RunningProgram): Promise<Rows> {
  const listed = await program.ask("GET", "/api/v1/purchase-orders?limit=50", program.word("write key"));
  const found = listed.at("data", "purchaseOrders") as readonly { status: string; purchaseOrderId: string }[];
  const body = { url: "http://127.0.0.1:9/hook", eventTypes: ["purchase_order.*"] };
  const made = await program.ask("POST", "/admin/v1/shops/demo/webhook-endpoints", program.adminToken, body);
  const first = async (list: string, id: string): Promise<string> => {
    const answer = await program.ask("GET", `/admin/v1/shops/demo/${list}?limit=1`, program.adminToken);
    return String(answer.at("data", list, 0, id));
  };
  const orders = Object.fromEntries(found.map(({ status, purchaseOrderId }) => [status, purchaseOrderId]));
  const agent = { name: "Careful agent", scope: "propose" };
  const key = await program.ask("POST", "/admin/v1/shops/demo/keys", program.adminToken, agent);
  const target = `/api/v1/purchase-orders/${orders["Draft"]}/status`;
  const asked = await program.ask("POST", target, String(key.at("data", "apiKey")), { status: "Sent" });
  assert.equal(asked.status, 202, asked.text);
  return {
    orders,
    approvalRequestId: String(asked.at("data", "approvalRequest", "approvalRequestId")),
    endpointId: String(made.at("data", "endpointId")),
    supplierId: await first("suppliers", "supplierId"),
    variantId: await first("variants", "variantId"),
    locationId: await first("locations", "locationId"),
  };
}

const loaded = `(async () => {
  const isLoading = () =>
    document.querySelector("h1, [role=alert]") === null || [...document.querySelectorAll("[role=status], output")].some((each) => each.checkVisibility() && /Loading/.test(each.textContent));
  for (let looks = 0; looks < 3_000 && isLoading(); looks += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  return !isLoading();
})()`;

/** Days and instants that stand on the page as plain text. Cells that are edited and the document that is printed have their own forms. */
const plainTimes = `(() => {
  const found = [];
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode())
    if (/\\b[A-Z][a-z]{2}\\s\\d{1,2},\\s\\d{4}/.test(node.data) && node.parentElement.closest("time, button.cell, .document") === null) found.push(node.data);
  return found;
})()`;

const wideTimes = `[...document.querySelectorAll("main :is(td, th, dd) time")]
  .filter((time) => time.getBoundingClientRect().right > time.closest("td, th, dd").getBoundingClientRect().right + 1)
  .map((time) => time.textContent)`;

/** Heads of tables that do not stand above the cells of their column. */
const crookedHeads = `[...document.querySelectorAll("main table")].flatMap((table) => {
  const [heads, cells] = ["thead tr", "tbody tr"].map((row) => [...(table.querySelector(row)?.cells ?? [])]);
  const head = table.querySelector("thead");
  if (head === null || heads.length !== cells.length || getComputedStyle(head).position === "absolute") return [];
  const left = (cell) => cell.getBoundingClientRect().left;
  return heads.filter((each, nth) => Math.abs(left(each) - left(cells[nth])) > 1).map((each) => each.textContent);
})`;

/** What goes over the edge of the window, or of its cell, or stands in another column than its own. */
async function overEdgesOf(page: Page, name: string): Promise<readonly string[]> {
  const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const times = await page.evaluate<readonly string[]>(wideTimes);
  const heads = await page.evaluate<readonly string[]>(crookedHeads);
  return [
    ...heads.map((text) => `${name}: the head ${text} is not above its column`),
    ...(tooWide > 0 ? [`${name}: ${tooWide} too wide`] : []),
    ...times.map((text) => `${name}: ${text} goes over its cell's edge`),
  ];
}

/** What is found on the page, wide and light, then narrow and dark. */
async function faultsOf(page: Page, name: string): Promise<readonly string[]> {
  const faults = (await page.evaluate<boolean>(loaded)) ? [] : [`${name}: still loading`];
  for (const text of await page.evaluate<readonly string[]>(plainTimes)) faults.push(`${name}: ${text} is no <time>`);
  for (const [colorScheme, width] of [
    ["light", 1_280],
    ["dark", 360],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 800 });
    for (const fault of await accessibilityFaults(page)) faults.push(`${name}, ${colorScheme}, ${width} px: ${fault}`);
    faults.push(...(await overEdgesOf(page, `${name}, ${width} px`)));
  }
  // As tables just do not fit any more, and just fit.
  for (const width of [900, 1_076]) {
    await page.setViewportSize({ width, height: 800 });
    faults.push(...(await overEdgesOf(page, `${name}, ${width} px`)));
  }
  return faults;
}

/** Leads to a place as a link does, so that neither the console nor axe-core is loaded again. */
const follow = (page: Page, href: string): Promise<void> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(href)}); dispatchEvent(new PopStateEvent("popstate"))`);

/** What is found on all places. */
async function faultsOfPlaces(page: Page, rows: Rows, state: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const place of places) {
    await follow(page, `/console/${addresses[place](rows)}`);
    faults.push(...(await faultsOf(page, `${place}, ${state}`)));
  }
  return faults;
}

const none = (faults: readonly string[]): void => assert.deepEqual(faults, [], faults.join("\n"));

/** True where a place shows nothing but that it is loading. */
const isBare = `(() => {
  const main = document.querySelector("main");
  const said = [...main.querySelectorAll(":not(h1)")].filter((each) => each.children.length === 0 && each.checkVisibility())
    .map((each) => each.closest(".hidden") === null ? each.textContent.trim() : "").join("");
  return main.querySelector(".skeleton, input, button") === null && said.replace(/Loading.*/, "") === "";
})()`;

test("every place has no findings, full and failing, and more than a word while it waits", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await page.goto(await invitation(program));
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  const rows = await rowsOf(program);
  none(await faultsOfPlaces(page, rows, "full"));
  await page.route(/\/(?:api|admin)\/v1\//, (route) => route.abort());
  none(await faultsOfPlaces(page, rows, "failing"));
  await page.goto(`${program.url}/console/orders`);
  none(await faultsOf(page, "failing from the start"));
  // Nothing is answered.
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.route(/\/(?:api|admin)\/v1\//, () => undefined);
  const bare: string[] = [];
  for (const place of places) {
    await follow(page, `/console/${addresses[place](rows)}`);
    await untilOnPage(page, `document.querySelector("main")?.children.length > 0`);
    if (await page.evaluate<boolean>(isBare)) bare.push(place);
  }
  none(bare);
  none(faults);
});

test("every place of an empty shop, and those of who is not signed in, have no findings", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await page.goto(`${program.url}/console/orders`);
  none(await faultsOf(page, "signed out"));
  const shop = { name: "Quiet Corner", currencyCode: "EUR" };
  const made = await program.ask("PUT", "/admin/v1/shops/quiet", program.adminToken, shop);
  assert.ok(made.status < 300, made.text);
  await page.goto(await invitation(program, "owner", "quiet"));
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  const orders = { Draft: "none", Sent: "none", Received: "none", "In Progress": "none" };
  const ids = {
    approvalRequestId: "none",
    endpointId: "none",
    supplierId: "none",
    variantId: "none",
    locationId: "none",
  };
  none(await faultsOfPlaces(page, { orders, ...ids }, "empty"));
  await page.goto(`${program.url}/console/nowhere`);
  await page.getByText("There is no such page.").waitFor();
  none(await accessibilityFaults(page));
  none(faults);
});

test("every place that the console leads to is in its list", () => {
  const root = path.join(import.meta.dirname, "../..");
  // A step that stands for something takes a word too, as that of a new supplier.
  const shapes = places.map((place) => new RegExp(`^${place.replaceAll(/:\w+/g, "[^/]+")}$`));
  const links = globSync("console/**/*.{ts,tsx}", { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), "utf8").matchAll(/hrefOf\(("[^)]*)\)/g)].map(([, steps = ""]) => ({
      file,
      shape: steps
        .split(/,\s*/)
        .map((step) => /^"(.*)"$/.exec(step)?.[1] ?? "*")
        .join("/"),
    })),
  );
  assert.ok(links.length > 10);
  none(
    links
      .filter(({ shape }) => !shapes.some((each) => each.test(shape)))
      .map(({ file, shape }) => `${file} leads to ${shape}`),
  );
});
