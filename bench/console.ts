/**
 * Measures what a person at the console waits for in a browser: lists of 4,000 and 10,000 orders, an export, an order of 500 lines and its PDF, 20,000 products and
 * 2,000 suppliers, scans, an import. Each figure is the best of several rounds, for other work of the machine only adds to it; of filters it is that of 95 of 100.
 * The program is the one that tests use, on SQLite. Needs Chromium. Tests hold what keeps these short: how much is asked for and drawn.
 */
import { readFileSync } from "node:fs";
import { apiOf, bigRecords, makeShop, ordersOfBig } from "../test/support/pages/console-shop.ts";
import { endConsole, skip, withConsole } from "../test/support/pages/console.ts";
import type { RunningProgram } from "../test/support/process.ts";
import { goodsKinds, places, products } from "./goods.ts";
import { report } from "./report.ts";

type Page = Parameters<Parameters<typeof withConsole>[0]>[0];

const [rounds, scans, filters] = [5, 20, 20];
const throttling = 4;

const ms = (name: string, value: number): void => report({ name, value, figure: `${Math.round(value)} ms` });

async function leastOf(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await measure());
  return Math.min(...times);
}

/** How long the page takes from `begins` to a frame in which `holds` does. */
const timed = (page: Page, begins: string, holds: string): Promise<number> =>
  page.evaluate<number>(`new Promise((done) => {
    const from = performance.now();
    const look = () => ((${holds}) ? setTimeout(() => done(performance.now() - from)) : requestAnimationFrame(look));
    ${begins};
    requestAnimationFrame(look);
  })`);

async function signIn(page: Page, link: string): Promise<string> {
  await page.goto(link);
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  return `${new URL(link).origin}/console`;
}

/** From the next key to the frame in which `holds` does: what is called presses it. */
async function fromKey(page: Page, holds: string, press: () => Promise<void>): Promise<number> {
  await page.evaluate(`(() => {
    globalThis.shown = new Promise((done) => addEventListener("keydown", () => {
      const from = performance.now();
      const look = () => ((${holds}) ? setTimeout(() => done(performance.now() - from)) : requestAnimationFrame(look));
      requestAnimationFrame(look);
    }, { capture: true, once: true }));
  })()`);
  await press();
  return await page.evaluate<number>("shown");
}

async function measureOrders(page: Page, program: RunningProgram): Promise<void> {
  const { link, key } = await makeShop(program, "big", bigRecords());
  const console = await signIn(page, link);
  const first = async (): Promise<number> => {
    await page.goto(`${console}/orders?view=all`, { waitUntil: "commit" });
    await page.locator("table.list tbody tr").nth(49).waitFor();
    return await page.evaluate<number>("performance.now()");
  };
  ms("console: first rows of 10,000 orders", await leastOf(first));

  const times: number[] = [];
  // The page keeps lists that it has read, so each choice of statuses is a new one: a Gray code of the first three with the fourth on and off.
  const [draft, sent, confirmed, completed] = ["Draft", "Sent", "Confirmed", "Completed"] as const;
  const walk = [draft, sent, draft, confirmed, draft, sent, draft, completed, draft, sent] as const;
  for (let nth = 0; nth < filters; nth += 1) {
    if (nth % walk.length === 0) {
      await page.goto(`${console}/orders${nth === 0 ? "" : "?dateFrom=2020-01-01"}`);
      await page.getByText(`50 of ${ordersOfBig.toLocaleString("en")}`).waitFor();
      await page.getByRole("button", { name: "Filters", exact: true }).click();
      await page.getByRole("button", { name: draft, exact: true }).waitFor();
    }
    const status = walk[nth % walk.length] ?? draft;
    const begins = `const before = document.querySelector("output").textContent;
      [...document.querySelectorAll(".toggle")].find((each) => each.textContent === "${status}").click()`;
    const shown = `document.querySelector("output").textContent`;
    times.push(await timed(page, begins, `/^50 of/.test(${shown}) && ${shown} !== before`));
  }
  times.sort((a, b) => a - b);
  ms("console: a filter of 10,000 orders, 95 of 100", times[Math.ceil(times.length * 0.95) - 1] ?? Infinity);

  const whole = `PO-${9_999 + ordersOfBig}`;
  const open = (): Promise<number> =>
    timed(
      page,
      `document.querySelector('a[href$="/orders/o${ordersOfBig - 1}"]').click()`,
      `document.querySelector("table.grid")?.ariaRowCount === "501"`,
    );
  const fromList = async (): Promise<number> => {
    await page.goto(`${console}/orders?search=${whole}`);
    await page.getByRole("link", { name: whole }).waitFor();
    return await open();
  };
  ms("console: an order of 500 lines is usable", await leastOf(fromList));

  const devtools = await page.context().newCDPSession(page);
  const longest = async (): Promise<number> => {
    await page.goto(`${console}/orders?search=${whole}`);
    await page.getByRole("link", { name: whole }).waitFor();
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: throttling });
    await page.evaluate(`(() => {
      globalThis.tasks = [0];
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
    })()`);
    await open();
    const cell = page.getByRole("button", { name: /^Ordered, / }).nth(3);
    await cell.focus();
    await page.keyboard.type("77");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Ordered, .*: 77$/ }).waitFor();
    // Entries come some time after their tasks.
    await page.waitForTimeout(500);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    return await page.evaluate<number>("Math.max(...tasks)");
  };
  ms("console: longest task of an order of 500 lines, at a fourth of the speed", await leastOf(longest));

  const target = `/admin/v1/shops/big/purchase-orders/o${ordersOfBig - 1}`;
  const { send } = apiOf(program, key);
  let round = 0;
  const drawn = async (): Promise<number> => {
    // Another version of the order, so that it is drawn anew.
    await send("PATCH", `/o${ordersOfBig - 1}`, { note: `round ${(round += 1)}` });
    const fromMs = performance.now();
    const answer = await program.ask("GET", `${target}/document.pdf`, program.adminToken);
    if (answer.status !== 200) throw new Error(answer.text);
    return performance.now() - fromMs;
  };
  ms("PDF of an order of 500 lines", await leastOf(drawn));
}

const ordersOfUsual = 4_000;

/** A bucket of calls that is empty is full again after so long. */
const refillMs = 13_000;

/** A shop of 4,000 orders: its list, its searches and its export. */
async function measureUsual(page: Page, program: RunningProgram): Promise<void> {
  const { link } = await makeShop(program, "usual", bigRecords(ordersOfUsual));
  const console = await signIn(page, link);
  const hasRows = `document.querySelectorAll("table.list tbody tr").length === 50`;
  const clicked = async (): Promise<number> => {
    await page.goto(`${console}/home`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForTimeout(500);
    return await timed(page, `document.querySelector('nav a[href="/console/orders"]').click()`, hasRows);
  };
  ms("console: rows of 4,000 orders, by a click", await leastOf(clicked));

  let round = 0;
  const field = page.getByRole("searchbox");
  const listed = async (): Promise<number> => {
    const found = `PO-12${(round += 1)}`;
    await page.goto(`${console}/orders?view=all`);
    await field.pressSequentially(found);
    await page.getByText("50 of 100").waitFor();
    return await fromKey(page, `document.querySelector("output").textContent === "10 of 10"`, () => field.press("0"));
  };
  ms("console: a search of 4,000 orders, from the key to its rows", await leastOf(listed));
  const everywhere = async (): Promise<number> => {
    const found = `PO-13${(round += 1)}`;
    await page.goto(`${console}/orders?view=all`);
    await page.locator("table.list tbody tr").nth(49).waitFor();
    // Its script comes when the screen is there.
    await page.waitForTimeout(600);
    await page.keyboard.press("Control+K");
    await page.keyboard.type(found);
    const first = `document.querySelector("dialog [role=option]")?.textContent`;
    await page.getByRole("option", { name: found }).first().waitFor();
    return await fromKey(page, `/^${found}0/.test(${first})`, () => page.keyboard.press("0"));
  };
  ms("console: a search of everything in a shop of 4,000 orders, from the key", await leastOf(everywhere));

  await page.goto(`${console}/orders?view=all`);
  const times: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    await page.waitForTimeout(refillMs);
    const saved = page.waitForEvent("download");
    const fromMs = performance.now();
    await page.getByRole("button", { name: "Export CSV" }).click();
    const file = await (await saved).path();
    times.push(performance.now() - fromMs);
    const lines = readFileSync(file, "utf8").trimEnd().split("\r\n").length - 1;
    if (lines !== ordersOfUsual) throw new Error(`the file has ${lines} orders`);
  }
  ms("console: export of 4,000 orders", Math.min(...times));
}

function* productRecords(): Generator<object> {
  for (let nth = 0; nth < products; nth += 1)
    yield {
      type: "variant",
      variantId: `v${nth}`,
      productId: `p${nth}`,
      productName: `Product ${nth}`,
      sku: `S-${nth}`,
    };
}

function* manyProducts(): Generator<object> {
  yield { type: "location", locationId: "loc", name: "Warehouse" };
  yield { type: "supplier", supplierId: "sup", name: "Supplier", leadTimeDays: 7 };
  yield* productRecords();
  yield { type: "forecastView", viewId: "all", viewName: "Everything", mode: "stock", columns: ["productName", "sku"] };
}

async function measureProducts(page: Page, program: RunningProgram): Promise<void> {
  const { link } = await makeShop(program, "many", manyProducts());
  const console = await signIn(page, link);
  const first = async (): Promise<number> => {
    await page.goto(`${console}/reorder?view=all`, { waitUntil: "commit" });
    await page.locator(`tr[data-row="0"]`).waitFor();
    return await page.evaluate<number>("performance.now()");
  };
  ms("console: first of 20,000 products to reorder", await leastOf(first));
  const search = async (): Promise<number> => {
    const fromMs = performance.now();
    const shopPath = "/admin/v1/shops/many/variants?search=product%2001&limit=10";
    const found = await program.ask("GET", shopPath, program.adminToken);
    if (found.status !== 200) throw new Error(found.text);
    return performance.now() - fromMs;
  };
  ms("a search of 20,000 products", await leastOf(search));
}

function* manyRecords(): Generator<object> {
  yield* places();
  for (const records of Object.values(goodsKinds)) yield* records(0);
}

/** Lists of records. Beside each stands a place where the console shows nothing but its frame. */
async function measureRecords(page: Page, program: RunningProgram): Promise<void> {
  const { link } = await makeShop(program, "records", manyRecords());
  const console = await signIn(page, link);
  const held = (name: string, value: number, bound: number): void =>
    report({ name, value, figure: `${Math.round(value)} ms`, bound: `${Math.round(bound)} ms` });
  const firstRow = `document.querySelector("table.list tbody tr") !== null`;
  const notFound = `document.querySelector("main > .notice") !== null`;
  const lists = [
    ["products", "20,000 products"],
    ["suppliers", "2,000 suppliers"],
    ["locations", "5 locations"],
  ] as const;

  const opened = (place: string, holds: string) => async (): Promise<number> => {
    await page.goto("about:blank");
    await page.goto(`${console}/${place}`, { waitUntil: "commit" });
    await timed(page, "", holds);
    return await page.evaluate<number>("performance.now()");
  };
  const frame = await leastOf(opened("nowhere", notFound));
  for (const [place, name] of lists)
    held(`console: list of ${name}, by its address`, await leastOf(opened(place, firstRow)), frame);

  const clicked = (place: string, holds: string) => async (): Promise<number> => {
    await page.goto(`${console}/keys`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    return await timed(page, `document.querySelector('nav a[href="/console/${place}"]').click()`, holds);
  };
  const heading = await leastOf(clicked("import", `/Import/.test(document.querySelector("h1")?.textContent)`));
  for (const [place, name] of lists)
    held(`console: list of ${name}, by a click`, await leastOf(clicked(place, firstRow)), heading);

  const searches = [
    ["products", "20,000 products", "S-1"],
    ["suppliers", "2,000 suppliers", "orders@s"],
  ] as const;
  for (const [place, name, words] of searches) {
    await page.goto(`${console}/${place}`);
    const field = page.getByRole("searchbox");
    let round = 0;
    const search = async (): Promise<number> => {
      round += 1;
      await field.fill(`${words}1${round}`);
      await page.getByText("50 of 111").waitFor();
      return await fromKey(page, `document.querySelector("output").textContent !== "50 of 111"`, () =>
        field.press("0"),
      );
    };
    ms(`console: a search of ${name}, from the key to its rows`, await leastOf(search));
  }
}

async function measureScans(page: Page, program: RunningProgram): Promise<void> {
  const { send } = apiOf(program);
  const ask = (path: string) => program.ask("GET", `/admin/v1/shops/demo${path}`, program.adminToken);
  const locationId = String((await ask("/locations")).at("data", "locations", 0, "locationId"));
  const { data }: { readonly data: { readonly variants: readonly { variantId: string; barcode: string | null }[] } } =
    JSON.parse((await ask("/variants?limit=50")).text);
  const { variantId, barcode } = data.variants.find((each) => each.barcode !== null) ?? {};
  const made = await send("POST", "", { locationId, lineItems: [{ variantId, quantityOrdered: 1_000, unitCost: 1 }] });
  const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
  await send("POST", `/${id}/status`, { status: "Sent" });
  await send("POST", `/${id}/confirm`, { confirmAll: true });
  await page.goto(`${program.url}/console/receive/${id}`);
  await page.getByLabel("Scan", { exact: true }).waitFor();
  // From the key that ends a scan to the frame that shows its count.
  await page.evaluate(`(() => {
    globalThis.shown = [];
    const panel = document.querySelector(".outcome");
    addEventListener("keydown", ({ key }) => {
      if (key !== "Enter") return;
      const from = performance.now();
      const before = panel.dataset.nth;
      const look = () => (panel.dataset.nth === before ? requestAnimationFrame(look) : shown.push(performance.now() - from));
      requestAnimationFrame(look);
    }, { capture: true });
  })()`);
  for (let nth = 1; nth <= scans; nth += 1) {
    await page.keyboard.insertText(barcode ?? "");
    await page.keyboard.press("Enter");
    await page.locator(`[data-nth='${nth}']`).waitFor();
  }
  const times = (await page.evaluate<number[]>("shown")).toSorted((a, b) => a - b);
  ms("console: a scan's count is seen, median", times[scans / 2] ?? Infinity);
}

async function measureImport(page: Page, program: RunningProgram): Promise<void> {
  const { link } = await makeShop(program, "new", []);
  const console = await signIn(page, link);
  await page.goto(`${console}/import`);
  const rows = Array.from({ length: products }, (_, nth) => `p-${nth},Product ${nth},SKU-${nth},9.50,4`);
  const lines = ["Handle,Title,Variant SKU,Variant Price,Cost per item", ...rows];
  const file = { name: "products.csv", mimeType: "text/csv", buffer: Buffer.from(`${lines.join("\n")}\n`) };
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByText("20,000 products").waitFor();
  const fromMs = performance.now();
  await page.getByRole("button", { name: "Import (20,000)" }).click();
  await page.getByText("Imported:").waitFor();
  ms("console: an import of 20,000 products", performance.now() - fromMs);
}

if (skip === false) {
  try {
    for (const measure of [measureUsual, measureOrders, measureProducts, measureRecords, measureImport])
      await withConsole((page, _, program) => measure(page, program));
    await withConsole(async (page, link, program) => {
      await signIn(page, link);
      await measureScans(page, program);
    });
  } finally {
    await endConsole();
  }
} else console.log(skip);
