/** The program of a file, and pages of it, for the stories of the console. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import type { Role } from "../../../src/core/access/role.ts";
import { browserPath, leaveBrowser, openBrowser } from "./browser.ts";
import { type RunningProgram, serveProgram } from "../process.ts";
import { makePlace, type StorePlace } from "../store.ts";
import { patienceMs } from "../until.ts";

export const skip = browserPath === undefined && "NO CHROMIUM ON THIS MACHINE: the console was not looked at";

/**
 * What the console may ask: its own files and sign-in, the operations of the two documents, the stream of events (C55, C58), and whether the
 * service is ready, which the operator sees.
 */
function allowedPaths(): readonly RegExp[] {
  const documented = ["openapi.json", "admin-openapi.json"].flatMap((name) => {
    const text = readFileSync(path.join(import.meta.dirname, "../../..", name), "utf8");
    const document: { readonly paths: Readonly<Record<string, unknown>> } = JSON.parse(text);
    return Object.keys(document.paths).map((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, "[^/]+")}$`));
  });
  return [/^\/console(?:\/|$)/, /^\/readyz$/, /^\/admin\/v1\/shops\/[^/]+\/events\/stream$/, ...documented];
}

interface Started {
  readonly place: StorePlace;
  readonly program: RunningProgram;
  readonly browser: Browser;
}

let started: Promise<Started> | null = null;

let moreEnv: Readonly<Record<string, string>> | null = null;

/** What the program gets beside what it always gets. Called before the first page. */
export function withEnvironment(env: Readonly<Record<string, string>>): void {
  assert.equal(started, null, "the program runs already");
  moreEnv = env;
}

interface FirstStart {
  readonly directory: string;
  /** It has ended. */
  readonly program: RunningProgram;
}

let firstStart: Promise<FirstStart> | null = null;

/** What every program of a browser's tests is told. */
const usual = { OPENPO_WEBHOOK_ALLOW: "127.0.0.1", OPENPO_WEBHOOK_HTTP: "1" };

async function startFirst(): Promise<FirstStart> {
  const place = await makePlace();
  process.once("exit", () => rmSync(place.directory, { recursive: true, force: true }));
  const directory = path.join(place.directory, "data");
  const program = await serveProgram({ ...usual, OPENPO_DATA_DIR: directory });
  await program.end("SIGTERM");
  return { directory, program };
}

/**
 * Starts the program on a copy of what its first start in this process made: a demo shop takes 0.9 s of a processor to make. What that start printed
 * holds for the copy, at its address.
 */
export async function serveDemo(directory: string): Promise<RunningProgram> {
  const first = await (firstStart ??= startFirst());
  cpSync(first.directory, directory, { recursive: true });
  const program = await serveProgram({ ...usual, OPENPO_DATA_DIR: directory });
  const word = (label: string): string => first.program.word(label).replace(first.program.url, program.url);
  return Object.assign(program, { word, adminToken: first.program.adminToken });
}

/** One program for all tests of the file. */
async function start(): Promise<Started> {
  const place = await makePlace();
  let program: RunningProgram | null = null;
  try {
    const directory = path.join(place.directory, "data");
    // Another environment may be part of what a first start makes.
    program =
      moreEnv === null
        ? await serveDemo(directory)
        : await serveProgram({ ...usual, ...moreEnv, OPENPO_DATA_DIR: directory });
    return { place, program, browser: await openBrowser() };
  } catch (error) {
    await program?.end("SIGKILL");
    await place.remove();
    throw error;
  }
}

/** Ends the program, if it could be started, and leaves the browser. The next file begins anew. */
export async function endConsole(): Promise<void> {
  const { program, place } = (await started?.catch(() => null)) ?? {};
  started = null;
  moreEnv = null;
  await leaveBrowser();
  await program?.end("SIGTERM");
  await place?.remove();
}

/** The link of an invitation, which leads to the orders: its own leads home. */
export const toOrders = (link: string): string => link.replace("/console#", "/console/orders#");

/** An invitation to a shop. */
export async function invitation(program: RunningProgram, role: Role = "owner", shopId = "demo"): Promise<string> {
  const body = { name: `Ana the ${role}`, role };
  const made = await program.ask("POST", `/admin/v1/shops/${shopId}/invitations`, program.adminToken, body);
  return toOrders(String(made.at("data", "url")));
}

/** Notes what no page of the console may do: fail, break its policy, ask another server or what is no operation. @returns the notes. */
function watched(page: Page, { url }: Pick<RunningProgram, "url">): readonly string[] {
  const faults: string[] = [];
  const allowed = allowedPaths();
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const { origin, pathname, protocol } = new URL(request.url());
    // The page's own texts and files, the browser's viewer of PDFs, and the person's mail program.
    if (["data:", "blob:", "mailto:", "chrome:", "chrome-extension:"].includes(protocol)) return;
    if (origin !== url) faults.push(request.url());
    else if (!allowed.some((each) => each.test(pathname))) faults.push(`${pathname} is no operation`);
  });
  return faults;
}

interface NewPage {
  readonly page: Page;
  readonly program: RunningProgram;
  /** What the page did that it may not. */
  readonly faults: readonly string[];
}

/** A page of a browser that is new to the console, in this language. `endConsole` closes it. */
export async function newPage(locale = "en-US"): Promise<NewPage> {
  const { program, browser } = await (started ??= start());
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, locale });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  // A console that came by plain HTTP from another machine of the network is no secure context.
  await page.addInitScript('if (location.protocol.startsWith("http")) delete Crypto.prototype.randomUUID');
  return { page, program, faults: watched(page, program) };
}

/**
 * Lets `use` work with a page on the demo shop, and with a link that signs somebody in.
 *
 * @param role  whom the link is for; left out: an owner, whose link is the printed one the first time.
 */
export async function withConsole(
  use: (page: Page, link: string, program: RunningProgram) => Promise<void>,
  role?: Role,
): Promise<void> {
  const isFirst = started === null;
  const { page, program, faults } = await newPage();
  try {
    const invited = isFirst && role === undefined ? null : await invitation(program, role);
    await use(page, invited ?? toOrders(program.word("console")), program);
    assert.deepEqual(faults, []);
  } finally {
    await page.context().close();
  }
}

/** Waits until no dialog is left in the page: one that has closed leaves it a moment after it is out of sight. */
export const dialogsGone = (page: Page): Promise<void> => page.locator("dialog").waitFor({ state: "detached" });

/** All that a page holds: its elements, and what stands in its fields. */
export const heldIn = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((each) => each.value)",
  );

/** Keeps the shop's events from a page that is opened or reloaded afterwards, so that it learns of another's change when it saves. */
export const withoutEvents = (page: Page): Promise<unknown> =>
  page.route("**/events/stream*", (route) => route.abort());

/**
 * Lets all requests of a page go to the server again. One that a route holds at this moment is let go too, and what the route does with it later comes to
 * nothing: Playwright's `unroute` would have it fail the file.
 */
export const throughAgain = (page: Page): Promise<void> => page.unrouteAll({ behavior: "ignoreErrors" });

/** Lets `use` work with a page on which somebody with this role is signed in and sees the orders. */
export const withPerson = (role: Role, use: (page: Page, program: RunningProgram) => Promise<void>): Promise<void> =>
  withConsole(async (page, link, program) => {
    await page.goto(link);
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    await use(page, program);
  }, role);

/** The elements that stand out of the window. */
const widest = `[...document.querySelectorAll("body *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth)
  .map((each) => each.parentElement.className + " > " + each.outerHTML.slice(0, 80)).join(" | ")`;

/** Writes the page as it is as a picture, where `CI_ARTIFACTS` names a folder. No page scrolls sideways. */
export async function photograph(page: Page, name: string): Promise<void> {
  const folder = process.env["CI_ARTIFACTS"];
  assert.ok((await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")) <= 0, name);
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

/**
 * Looks at the page on three widths, light and dark: none scrolls sideways. Where `CI_ARTIFACTS` names a folder, each is written as a picture
 * for a person to look at.
 */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["CI_ARTIFACTS"];
  const before = page.viewportSize();
  for (const colorScheme of folder === undefined ? (["light"] as const) : (["light", "dark"] as const)) {
    // Colours that are on their way from one theme to the other are nobody's.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [360, 768, 1_280]) {
      await page.setViewportSize({ width, height: 900 });
      const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      if (folder !== undefined) {
        mkdirSync(folder, { recursive: true });
        await page.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
      const outside = tooWide <= 0 ? "" : await page.evaluate<string>(widest);
      assert.ok(tooWide <= 0, `${name} at ${width} is ${tooWide} too wide: ${outside}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  if (before !== null) await page.setViewportSize(before);
}
