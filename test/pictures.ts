/**
 * Takes the pictures of docs/console.md in the demo shop (`npm run pictures`), after the console was built, and those
 * of our side of connecting an assistant, which the console shows itself: build it again afterwards.
 */
import assert from "node:assert/strict";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { untilOnPage } from "./support/pages/console-shop.ts";
import { endConsole, invitation, newPage, skip, withEnvironment } from "./support/pages/console.ts";
import { registerAssistant } from "./support/peers/assistant.ts";
import { ask } from "./support/peers/connect.ts";
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

/** Nothing is being read, and each task of home has its number. */
const isWhole = `[...document.querySelectorAll(".skeleton, .tasks strong")].every((each) => each.textContent !== "–" && !(each.matches(".skeleton") && each.checkVisibility()))`;

async function take(page: Page, origin: string, picture: Picture): Promise<void> {
  const { name, place, width = 1_080, height = 640, prepare } = picture;
  await page.setViewportSize({ width, height });
  await page.goto(`${origin}/console/${place}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await prepare(page);
  await untilOnPage(page, isWhole);
  await page.mouse.move(0, 0);
  const file = path.join(folder, `${name}.png`);
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  assert.ok(size <= bytesMax, `${name} has ${size} bytes`);
  process.stdout.write(`docs/console/${name}.png, ${size} bytes\n`);
}

/** Of a picture that the console shows. */
const consoleBytesMax = 40 * 1_024;

/** Runs in a page: a PNG as WebP. */
const asWebp = (png: string): string => `(async () => {
  const image = new Image();
  image.src = "data:image/png;base64,${png}";
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.7).split(",")[1];
})()`;

/** The pages that a person sees who connects an assistant, on a phone, light and dark, in `console/pictures`. */
async function takeConnecting(page: Page, program: RunningProgram): Promise<void> {
  const redirectUri = "https://claude.ai/api/mcp/auth_callback";
  const clientId = await registerAssistant(program, redirectUri);
  const { parameters } = ask(program, clientId, { redirect_uri: redirectUri, scope: "read write" });
  const browser = page.context().browser() ?? assert.fail("the browser is gone");
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      viewport: { width: 390, height: 400 },
      deviceScaleFactor: 1.25,
      colorScheme,
      reducedMotion: "reduce",
    });
    const phone = await context.newPage();
    const save = async (name: string): Promise<void> => {
      const png = await phone.screenshot();
      const blank = await context.newPage();
      const webp = Buffer.from(await blank.evaluate<string>(asWebp(png.toString("base64"))), "base64");
      await blank.close();
      const file = `console/pictures/${name}-${colorScheme}.webp`;
      assert.ok(webp.length <= consoleBytesMax, `${file} has ${webp.length} bytes`);
      writeFileSync(path.join(import.meta.dirname, "..", file), webp);
      process.stdout.write(`${file}, ${webp.length} bytes\n`);
    };
    await phone.goto(`${program.url}/oauth/authorize?${new URLSearchParams(parameters).toString()}`);
    await phone.getByRole("heading", { name: "Sign in" }).waitFor();
    await save("sign-in");
    await phone.setViewportSize({ width: 390, height: 1_020 });
    await phone.goto(await invitation(program));
    await phone.getByRole("link", { name: "PO-1024" }).waitFor();
    await phone.goto(`${program.url}/oauth/authorize?${new URLSearchParams(parameters).toString()}`);
    await phone.getByRole("button", { name: "Allow" }).waitFor();
    await save("consent");
    await context.close();
  }
}

if (skip !== false) throw new Error(skip);
// With mail the page to sign in asks for an e-mail, too.
withEnvironment({ OPENPO_SMTP_URL: "smtp://127.0.0.1:2525", OPENPO_MAIL_FROM: "OpenPO <orders@shop.example>" });
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
      width: 1_280,
      height: 800,
      prepare: async (shown) => {
        await shown
          .getByText(/days left/)
          .first()
          .waitFor();
        await shown.getByText("Sync failed").waitFor();
      },
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
      height: 720,
      prepare: (shown) => shown.getByRole("row", { name: /Reorder agent/ }).waitFor(),
    },
    {
      name: "activity",
      place: "activity",
      height: 760,
      prepare: async (shown) => {
        await shown
          .getByRole("row", { name: /Changed an order.*Done/s })
          .getByRole("button")
          .click();
        await shown.getByText("Ask for the new harvest.").first().waitFor();
      },
    },
  ];
  await takeConnecting(page, program);
  if (process.argv[2] !== "connect") for (const picture of pictures) await take(page, program.url, picture);
} finally {
  await endConsole();
}
