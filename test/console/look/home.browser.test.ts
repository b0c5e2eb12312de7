/**
 * The first page in a real browser: what there is to do for each role and what is on its way.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { dateOf, dayIn } from "../../../src/base/time/calendar.ts";
import { connectAgent } from "../../support/mcp.ts";
import { makeShop } from "../../support/pages/console-shop.ts";
import { endConsole, newPage, picture, skip, withPerson } from "../../support/pages/console.ts";
import { becomes } from "../../support/until.ts";

after(endConsole);

const forAll = ["late", "expected today", "awaiting supplier", "storefront failures"];
const forBuyers = ["answers to accept", "to reorder", "drafts to send"];

const tasksOf = { viewer: forAll, receiver: forAll, purchaser: [...forAll, ...forBuyers] } as const;

const cards = [
  "Arriving next",
  "On its way, by week",
  "Runs out first",
  "Received, by week",
  "Spend by supplier",
  "Deliveries",
  "Lately",
];

for (const role of ["viewer", "receiver", "purchaser"] as const)
  test(`a ${role} is told what there is to do, what comes and what runs out`, { skip }, () =>
    withPerson(role, async (page, program) => {
      await page.goto(`${program.url}/console`);
      const todo = page.getByRole("navigation", { name: "What to do" });
      await todo.getByText("late", { exact: true }).waitFor();
      const told = (await todo.locator("a > span").allInnerTexts()).filter((task) => task !== "e-mail failures");
      assert.deepEqual(new Set(told), new Set<string>(tasksOf[role]));
      for (const name of cards) await page.getByRole("region", { name, exact: true }).waitFor();
      // A plot has its figures as a table, and the days of four weeks are there.
      await page.getByRole("region", { name: "On its way, by week" }).locator("table").waitFor({ state: "attached" });
      assert.equal(await page.locator("table.calendar time").count(), 28);
      await picture(page, `home-${role}`);
    }),
  );

test("home says what assistants did since yesterday, and its link shows just that", { skip }, () =>
  withPerson("purchaser", async (page, program) => {
    await using agent = await connectAgent({ url: program.url, writeKey: program.word("write key") });
    await page.goto(`${program.url}/console`);
    await page.getByRole("link", { name: "Assistants have changed nothing since yesterday" }).waitFor();
    const added = await agent.call("comment_add", {
      purchaseOrderId: "PO-1021",
      text: "Asked for the tracking number.",
    });
    assert.ok(!added.isError, added.text);
    const devtools = await page.context().newCDPSession(page);
    // At any time it is another day in one of these zones than in the shop's.
    for (const timezoneId of ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"]) {
      await devtools.send("Emulation.setTimezoneOverride", { timezoneId });
      await page.goto(`${program.url}/console`);
      await page.getByRole("link", { name: "What assistants did since yesterday (1)" }).click();
      await page.getByRole("heading", { name: "Activity" }).waitFor();
      const rows = page.locator(".change-list > li");
      await becomes(() => rows.count(), 1);
      await rows.locator("summary").getByText("Asked for the tracking number.").waitFor();
      const from = await page.getByLabel("From").inputValue();
      assert.equal(from, dateOf(dayIn(timezoneId, Date.now()) - 1));
      if (timezoneId === "UTC") await picture(page, "activity-since-yesterday");
      // Nothing had happened by the end of the day before.
      await page.getByLabel("Until").fill(from);
      await page.getByText("Nothing matches these filters.").waitFor();
      await page.getByLabel("Until").fill("");
      await becomes(() => rows.count(), 1);
    }
  }),
);

test(
  "a new shop shows five steps to its first order and what there is besides; a receiver nothing to do",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    const { link } = await makeShop(program, "fresh", []);
    await page.goto(link.replace("/console/orders#", "/console#"));
    const steps = page.getByRole("region", { name: "Five steps to your first order" });
    await steps.waitFor();
    assert.equal(await steps.getByRole("listitem").count(), 5);
    assert.equal(await page.getByRole("region", { name: "And besides" }).getByRole("listitem").count(), 4);
    await picture(page, "home-new");
    await page.goto(`${program.url}/console/dock`);
    await page.getByText("Nothing waits to be received.").waitFor();
    await picture(page, "receive-new");
    assert.deepEqual(faults, []);
  },
);
