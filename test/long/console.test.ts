/** A person's way through the console in a real browser: from the link that the first start prints to an order and back. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { browserPath } from "../support/browser.ts";
import { type RunningProgram, serveProgram } from "../support/process.ts";
import { makePlace, type StorePlace } from "../support/store.ts";

const skip = browserPath === undefined && "NO CHROMIUM ON THIS MACHINE: the console was not looked at";

/** Paths of openapi.json as patterns. */
function documentedPaths(): readonly RegExp[] {
  const text = readFileSync(path.join(import.meta.dirname, "../../openapi.json"), "utf8");
  const document: { readonly paths: Readonly<Record<string, unknown>> } = JSON.parse(text);
  return Object.keys(document.paths).map((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, "[^/]+")}$`));
}

interface Started {
  readonly place: StorePlace;
  readonly program: RunningProgram;
  readonly browser: Browser;
}

let started: Promise<Started> | null = null;

/** One program and one browser for all tests here. */
async function start(): Promise<Started> {
  const place = await makePlace();
  return {
    place,
    program: await serveProgram({ OPENPO_DATA_DIR: path.join(place.directory, "data") }),
    browser: await chromium.launch({
      args: ["--no-sandbox"],
      ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    }),
  };
}

after(async () => {
  const { program, browser, place } = (await started) ?? {};
  await browser?.close();
  await program?.end("SIGTERM");
  await place?.remove();
});

/** An invitation to the demo shop, for an owner. */
async function invitation(program: RunningProgram): Promise<string> {
  const body = { name: "Ana", role: "owner" };
  const made = await program.ask("POST", "/admin/v1/shops/demo/invitations", program.adminToken, body);
  return String(made.at("data", "url"));
}

/** Lets `use` work with a page on the demo shop; the page may contact no other server and break no policy. */
async function withConsole(use: (page: Page, link: string) => Promise<void>): Promise<void> {
  const isFirst = started === null;
  const { program, browser } = await (started ??= start());
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  const faults: string[] = [];
  const paths = documentedPaths();
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const { origin, pathname } = new URL(request.url());
    if (origin !== program.url && request.url() !== "data:,") faults.push(request.url());
    else if (!pathname.startsWith("/console") && !paths.some((each) => each.test(pathname)) && origin === program.url)
      faults.push(`${pathname} is no operation`);
  });
  try {
    await use(page, isFirst ? program.word("console") : await invitation(program));
    assert.deepEqual(faults, []);
  } finally {
    await page.close();
  }
}

test(
  "one click on the printed link shows the orders; the link works once and its secret leaves the page",
  { skip },
  async () => {
    await withConsole(async (page, link) => {
      await page.goto(link);
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await page.getByRole("link", { name: "PO-1024" }).waitFor();
      const secret = new URL(link).hash.slice(1);
      const kept = await page.evaluate<string>(
        "location.href + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie",
      );
      assert.ok(!kept.includes(secret) && !kept.includes("ops_") && !kept.includes("opc_"), kept);
      await page.reload();
      await page.getByRole("link", { name: "PO-1024" }).waitFor();

      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await page.goto("about:blank");
      await page.goto(link);
      const refusal = page.getByRole("alert");
      await refusal.waitFor();
      assert.match(await refusal.innerText(), /was used already.*new one/s);
    });
  },
);

test("filters are in the address, work by keyboard alone, and the way back restores them", { skip }, async () => {
  await withConsole(async (page, link) => {
    await page.goto(link);
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
    await page.keyboard.press("/");
    assert.equal(await page.evaluate("document.activeElement.type"), "search");
    await page.keyboard.type("maasbrand");
    await page.waitForURL(/search=maasbrand/);
    await page.getByRole("link", { name: "PO-1022" }).waitFor({ state: "detached" });
    const sent = page.getByRole("button", { name: "Sent", exact: true });
    await sent.focus();
    await page.keyboard.press("Space");
    await page.waitForURL(/status=Sent/);
    await page.getByRole("link", { name: "PO-1024" }).waitFor({ state: "detached" });
    assert.equal(await sent.getAttribute("aria-pressed"), "true");
    const address = page.url();
    await page.getByRole("link", { name: "PO-1023" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "PO-1023" }).waitFor();
    assert.equal(page.url(), address);
    assert.equal(await page.getByRole("searchbox").inputValue(), "maasbrand");
  });
});

test("no width scrolls sideways, in light and dark, full, empty and failing", { skip }, async () => {
  await withConsole(async (page, link) => {
    await page.goto(link);
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
    const { origin } = new URL(link);
    const wide = (): Promise<number> => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [360, 768, 1_280]) {
        await page.setViewportSize({ width, height: 800 });
        for (const place of [
          "/console/orders",
          "/console/orders?search=nothing-like-it",
          "/console/orders/po_demo_07",
        ]) {
          await page.goto(origin + place);
          await page.getByRole("heading", { level: 1 }).waitFor();
          assert.ok((await wide()) <= 0, `${place} at ${width} is ${await wide()} too wide`);
        }
      }
    }
    await page.route("**/api/v1/**", (route) => route.abort());
    await page.goto(`${origin}/console/orders?status=Draft`);
    await page.getByRole("alert").waitFor();
    await page.unroute("**/api/v1/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
  });
});
