/**
 * Chromium for tests that look at pages: one a process. Files that share a process share it, each with contexts of its own. To start one for each file
 * took as long as many of the files.
 */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The browser of this machine; undefined without one. The first has no windows, and takes two thirds of the processor time of the others. */
export const browserPath = [
  "/usr/lib/chromium/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((each) => existsSync(each));

let launched: Promise<Browser> | null = null;
let isShared = false;

/** The browser of this process. */
export const openBrowser = (): Promise<Browser> =>
  (launched ??= chromium.launch({
    args: ["--no-sandbox"],
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
  }));

/** Closes the pages that a file has left, and the browser unless other files share it. */
export async function leaveBrowser(): Promise<void> {
  const browser = await launched?.catch(() => null);
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  if (isShared) return;
  launched = null;
  await browser?.close();
}

/** Keeps one browser for all files of this process. @returns what ends it. */
export async function shareBrowser(): Promise<() => Promise<void>> {
  if (browserPath === undefined) return async () => {};
  await openBrowser();
  isShared = true;
  return async () => {
    isShared = false;
    await leaveBrowser();
  };
}
