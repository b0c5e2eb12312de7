/**
 * The first page in a real browser: what there is to do for each role and what is on its way.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endConsole, picture, skip, withPerson } from "../../support/pages/console.ts";

after(endConsole);

const forAll = ["late", "expected today", "awaiting supplier", "storefront failures"];
const forBuyers = ["answers to accept", "to reorder", "drafts to send"];

const tasksOf = { viewer: forAll, receiver: forAll, purchaser: [...forAll, ...forBuyers] } as const;

const cards = [
  "Arriving next",
  "On its way, by week",
  "Runs out first",
  "On its way, by supplier",
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
