/**
 * What the console takes of a browser when there is much to show: memory of 10,000 orders.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { bigRecords, makeShop, ordersOfBig, untilOnPage } from "../support/pages/console-shop.ts";
import { endConsole, skip, withConsole } from "../support/pages/console.ts";
import type { RunningProgram } from "../support/process.ts";

after(endConsole);

const heapBytesMax = 60 * 1_024 * 1_024;

/** Makes the shop, with a rate limit that a script does not reach, and signs in. */
async function openShop(page: Page, program: RunningProgram, shopId: string, records: Iterable<object>): Promise<void> {
  const { link } = await makeShop(program, shopId, records);
  const settings = { rateLimit: { capacity: 10_000, refillPerSecond: 10_000 } };
  const changed = await program.ask("PUT", `/admin/v1/shops/${shopId}`, program.adminToken, { settings });
  assert.equal(changed.status, 200, changed.text);
  await page.goto(link);
  await page.getByRole("heading", { name: "Orders" }).waitFor();
}

const toldAfterMs = 100;

/** Has what is near the window told as a busy browser tells it: late, and several changes at once. */
const toldLate = `{
  const Plain = IntersectionObserver;
  window.IntersectionObserver = class extends Plain {
    constructor(tell, options) {
      let told = [];
      super((entries) => {
        if (told.length === 0) setTimeout(() => tell(told.splice(0)), ${toldAfterMs});
        told.push(...entries);
      }, options);
    }
  };
}`;

/** Scrolls to the top and back to the end before either is told, and waits until both are. */
const awayAndBack = `new Promise((done) => {
  scrollTo(0, 0);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    scrollTo(0, document.body.scrollHeight);
    setTimeout(done, ${3 * toldAfterMs});
  }));
})`;

/** Bytes of JavaScript's heap that are in use, without what nobody refers to any more. */
async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  return usedSize;
}

test(
  "the list keeps below 60 MB of heap when all of 10,000 orders were loaded, and its rows can be walked through",
  { skip },
  (t) =>
    withConsole(async (page, _, program) => {
      await page.addInitScript(toldLate);
      await openShop(page, program, "big", bigRecords());
      await page.getByText(`50 of ${ordersOfBig.toLocaleString("en")}`).waitFor();
      const devtools = await page.context().newCDPSession(page);
      const before = await heapOf(devtools);
      await page.evaluate(`new Promise((done) => {
      const next = () => {
        const button = document.querySelector(".more button");
        if (button === null) done(null);
        else {
          if (!button.disabled) button.click();
          setTimeout(next, 1);
        }
      };
      next();
    })`);
      await page.getByText(`${ordersOfBig.toLocaleString("en")} of ${ordersOfBig.toLocaleString("en")}`).waitFor();
      const after = await heapOf(devtools);
      const told = `heap ${Math.round(before / 1e6)} MB with one page, ${Math.round(after / 1e6)} MB with 200`;
      t.diagnostic(told);
      assert.ok(after < heapBytesMax, told);

      assert.ok((await page.locator("table.list tbody tr").count()) < 1_000, "few rows are drawn");
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      await page.getByRole("link", { name: "PO-10000" }).waitFor();
      await page.evaluate(awayAndBack);
      const last = page.getByRole("link", { name: "PO-10003" });
      await last.scrollIntoViewIfNeeded();
      const place = await page.evaluate<number>("scrollY");
      await last.click();
      await page.getByRole("heading", { name: "Activity" }).waitFor();
      await page.goBack();
      await page.getByRole("link", { name: "PO-10003" }).waitFor();
      await untilOnPage(page, `Math.abs(scrollY - ${place}) < 300`);
    }),
);
