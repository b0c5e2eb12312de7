/** Takes the pictures of docs/console.md in the demo shop (`npm run pictures`), after the console was built. */
import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { endConsole, invitation, newPage, skip } from "./support/pages/console.ts";
import type { RunningProgram } from "./support/process.ts";

const folder = path.join(import.meta.dirname, "../docs/console");

const bytesMax = 150 * 1_024;

/** An agent with a key of its own works through the night. */
async function nightOf(program: RunningProgram): Promise<void> {
  const body = { name: "Reorder agent", scope: "write" };
  const made = await program.ask("POST", "/admin/v1/shops/demo/keys", program.adminToken, body);
  const key = String(made.at("data", "apiKey"));
  const orders = "/api/v1/purchase-orders";
  await program.ask("GET", `${orders}?status=Draft`, key);
  await program.ask("GET", `${orders}/po_demo_07`, key);
  await program.ask("PATCH", `${orders}/po_none`, key, { note: "Not there" });
  const change = { poName: "Autumn teas", note: "Ask for the new harvest." };
  const changed = await program.ask("PATCH", `${orders}/po_demo_07`, key, change);
  assert.equal(changed.status, 200, changed.text);
}

/** The order with most lines in this status. */
async function orderIn(program: RunningProgram, status: string): Promise<string> {
  const query = `status=${encodeURIComponent(status)}&limit=50`;
  const listed = await program.ask("GET", `/api/v1/purchase-orders?${query}`, program.word("write key"));
  const orders = listed.at("data", "purchaseOrders") as { purchaseOrderId: string; totalLineItems?: number }[];
  const [order] = orders;
  assert.ok(order !== undefined, `no order is ${status}`);
  return order.purchaseOrderId;
}

interface Picture {
  readonly name: string;
  readonly place: string;
  readonly width?: number;
  readonly height?: number;
  /** What is done before it is taken. */
  readonly prepare: (page: Page) => Promise<void>;
}

async function scanSome(page: Page, program: RunningProgram, purchaseOrderId: string): Promise<void> {
  const read = await program.ask("GET", `/api/v1/purchase-orders/${purchaseOrderId}`, program.word("write key"));
  const lines = read.at("data", "purchaseOrder", "lineItems") as { barcode: string | null }[];
  await page.getByLabel("Scan", { exact: true }).focus();
  for (const { barcode } of lines.slice(0, 2)) {
    if (barcode === null) continue;
    for (let scans = 0; scans < 3; scans += 1) {
      await page.keyboard.type(barcode);
      await page.keyboard.press("Enter");
      // The same code at once is the trigger held down.
      await page.waitForTimeout(400);
    }
  }
}

async function take(page: Page, origin: string, picture: Picture): Promise<void> {
  const { name, place, width = 1_080, height = 640, prepare } = picture;
  await page.setViewportSize({ width, height });
  await page.goto(`${origin}/console/${place}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await prepare(page);
  await page.mouse.move(0, 0);
  const file = path.join(folder, `${name}.png`);
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  assert.ok(size <= bytesMax, `${name} has ${size} bytes`);
  process.stdout.write(`docs/console/${name}.png, ${size} bytes\n`);
}

if (skip !== false) throw new Error(skip);
mkdirSync(folder, { recursive: true });
try {
  const { page, program } = await newPage();
  await nightOf(program);
  await page.goto(await invitation(program));
  await page.getByRole("link", { name: "PO-1024" }).waitFor();
  const [draft, waiting] = [await orderIn(program, "Draft"), await orderIn(program, "In Progress")];
  const pictures: readonly Picture[] = [
    {
      name: "home",
      place: "home",
      height: 720,
      prepare: (shown) => shown.getByRole("heading", { name: "Runs out first" }).waitFor(),
    },
    { name: "orders", place: "orders", prepare: (shown) => shown.getByRole("link", { name: "PO-1024" }).waitFor() },
    {
      name: "order",
      place: `orders/${draft}`,
      height: 900,
      prepare: (shown) =>
        shown
          .getByRole("button", { name: /^Ordered, / })
          .first()
          .waitFor(),
    },
    {
      name: "receive",
      place: `receive/${waiting}`,
      width: 390,
      height: 780,
      prepare: (shown) => scanSome(shown, program, waiting),
    },
    { name: "reorder", place: "reorder", prepare: (shown) => shown.getByRole("row").nth(1).waitFor() },
    {
      name: "keys",
      place: "keys",
      height: 500,
      prepare: (shown) => shown.getByRole("row", { name: /Reorder agent/ }).waitFor(),
    },
    {
      name: "activity",
      place: "activity",
      height: 760,
      prepare: async (shown) => {
        await shown
          .getByRole("row", { name: /purchase_order_update.*Done/s })
          .getByRole("button")
          .click();
        await shown.getByText("Ask for the new harvest.").first().waitFor();
      },
    },
  ];
  for (const picture of pictures) await take(page, program.url, picture);
} finally {
  await endConsole();
}
