/** One program and one browser for the stories of the console. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { browserPath } from "./browser.ts";
import { type RunningProgram, serveProgram } from "./process.ts";
import { makePlace, type StorePlace } from "./store.ts";

export const skip = browserPath === undefined && "NO CHROMIUM ON THIS MACHINE: the console was not looked at";

/** Paths of the two documents as patterns. */
function documentedPaths(): readonly RegExp[] {
  return ["openapi.json", "admin-openapi.json"].flatMap((name) => {
    const text = readFileSync(path.join(import.meta.dirname, "../..", name), "utf8");
    const document: { readonly paths: Readonly<Record<string, unknown>> } = JSON.parse(text);
    return Object.keys(document.paths).map((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, "[^/]+")}$`));
  });
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

/** Ends the program and the browser. */
export async function endConsole(): Promise<void> {
  const { program, browser, place } = (await started) ?? {};
  await browser?.close();
  await program?.end("SIGTERM");
  await place?.remove();
}

/** An invitation to the demo shop, for an owner. */
async function invitation(program: RunningProgram): Promise<string> {
  const body = { name: "Ana", role: "owner" };
  const made = await program.ask("POST", "/admin/v1/shops/demo/invitations", program.adminToken, body);
  return String(made.at("data", "url"));
}

/** Lets `use` work with a page on the demo shop; the page may contact no other server and break no policy. */
export async function withConsole(
  use: (page: Page, link: string, program: RunningProgram) => Promise<void>,
): Promise<void> {
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
    await use(page, isFirst ? program.word("console") : await invitation(program), program);
    assert.deepEqual(faults, []);
  } finally {
    await page.close();
  }
}

/** Writes pictures of the page for a person to look at, where `CI_ARTIFACTS` names a folder: three widths, light and dark. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["CI_ARTIFACTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [360, 768, 1_280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  if (before !== null) await page.setViewportSize(before);
}
