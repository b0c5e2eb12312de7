/**
 * The settings of a shop in a real browser: what an owner changes, what is refused beside its field, what is the operator's, two owners at once.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, picture, skip, withPerson } from "../../support/pages/console.ts";
import type { RunningProgram } from "../../support/process.ts";

after(endConsole);

/** The shop as the service has it. */
async function shopOf(program: RunningProgram): Promise<Record<string, unknown>> {
  return Object((await program.ask("GET", "/admin/v1/shops/demo", program.adminToken)).at("data", "shop"));
}

async function openSettings(page: Page) {
  await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
  const form = page.getByRole("form", { name: "Settings of Tideline" });
  await form.waitFor();
  return form;
}

/** What stands beside a field as wrong. */
async function saysOf(page: Page, label: string): Promise<string> {
  const field = page.getByLabel(label);
  assert.equal(await field.getAttribute("aria-invalid"), "true", label);
  const [wrong] = String(await field.getAttribute("aria-describedby")).split(" ");
  return await page.locator(`#${wrong}`).innerText();
}

test(
  "an owner changes the shop's settings; a refusal stands beside its field, and the head shows the new name",
  { skip },
  () =>
    withPerson("owner", async (page, program) => {
      const before = await shopOf(program);
      const form = await openSettings(page);
      await page.getByText("Set by the operator of the service").waitFor();
      assert.equal(await form.getByLabel("Requests at once").count(), 0);
      await picture(page, "settings");

      const asked: unknown[] = [];
      page.on("request", (request) => {
        if (request.method() === "PUT") asked.push(request.postDataJSON());
      });
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      assert.deepEqual(asked.splice(0), [{}], "nothing was changed, so nothing is sent");

      await form.getByLabel("Name of the shop").fill("Tideline Roasters");
      await form.getByLabel("E-mail an order when it is sent").check();
      await form.getByLabel("Costs at completion").selectOption("moving-average");
      await form.getByRole("button", { name: "Add a rate" }).click();
      await form.getByLabel("Currency", { exact: true }).last().fill("sek");
      await form.getByLabel("1 SEK in").fill("0.09");
      await form.getByLabel("Time zone").fill("Atlantis");
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByRole("alert").getByText("Not saved: one field is wrong.").waitFor();
      assert.match(await saysOf(page, "Time zone"), /^Name a time zone/);
      await untilOnPage(page, "document.activeElement.name === 'timezone'");
      await picture(page, "settings-refused");
      assert.deepEqual((await shopOf(program))["settings"], before["settings"]);

      await form.getByLabel("Time zone").fill("Asia/Tokyo");
      await form.getByLabel("Audit log is kept for (days)").fill("ninety");
      await form.getByRole("button", { name: "Save" }).click();
      await form.locator("#wrong-auditRetentionDays").waitFor();
      assert.equal(await saysOf(page, "Audit log is kept for (days)"), "must be a number");
      await form.getByLabel("Audit log is kept for (days)").fill("30");
      asked.splice(0);
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      const { fxRates } = Object(before["settings"]);
      const settings = {
        emailOnSent: true,
        costSyncMode: "moving-average",
        timezone: "Asia/Tokyo",
        auditRetentionDays: 30,
        fxRates: { ...fxRates, SEK: 0.09 },
      };
      assert.deepEqual(asked, [{ name: "Tideline Roasters", settings }]);
      const after = await shopOf(program);
      assert.equal(after["name"], "Tideline Roasters");
      assert.deepEqual(after["settings"], { ...Object(before["settings"]), ...settings });
      await page.getByRole("banner").getByRole("link", { name: "Tideline Roasters" }).waitFor();
    }),
);

test(
  "two owners who change different settings both have theirs; a lost network loses nothing that was typed",
  { skip },
  () =>
    withPerson("owner", async (page, program) => {
      // The script of the sidebar's numbers may be lost too.
      await page.route("**/place-counts-*.js", (route) => route.abort());
      const asked = page.waitForRequest("**/place-counts-*.js");
      await page.reload();
      await asked;
      const form = await openSettings(page);
      const other = { settings: { onOrderTag: "set-by-another", confirmationWaitMs: 12_345 } };
      assert.equal((await program.ask("PUT", "/admin/v1/shops/demo", program.adminToken, other)).status, 200);
      await form.getByLabel("An answer waits for follow-on work (ms)").fill("1500");
      await page.context().setOffline(true);
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByRole("alert").getByText("The server does not answer.").waitFor();
      assert.equal(await form.getByLabel("An answer waits for follow-on work (ms)").inputValue(), "1500");
      await page.context().setOffline(false);
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      const { followOnWaitMs, onOrderTag, confirmationWaitMs } = Object((await shopOf(program))["settings"]);
      assert.deepEqual([followOnWaitMs, onOrderTag, confirmationWaitMs], [1_500, "set-by-another", 12_345]);
    }),
);

test("who is no owner is told who changes settings", { skip }, () =>
  withPerson("purchaser", async (page, program) => {
    assert.equal(await page.getByRole("navigation").getByRole("link", { name: "Settings" }).count(), 0);
    for (const place of ["settings", "settings/documents"]) {
      await page.goto(`${program.url}/console/${place}`);
      await page.getByText("Settings are changed by owners of the shop.").waitFor();
      assert.equal(await page.getByRole("button", { name: "Save" }).count(), 0);
    }
  }),
);

test(
  "leaving what was typed and is not saved asks first, by a link and by the way back; what was saved is left without a question",
  { skip },
  () =>
    withPerson("owner", async (page, program) => {
      const form = await openSettings(page);
      const name = form.getByLabel("Name of the shop");
      const orders = page.getByRole("navigation").getByRole("link", { name: "Orders" });
      /** Answers the question that this makes the page ask. */
      const answering = async (leaves: boolean, act: () => Promise<unknown>): Promise<void> => {
        const asked = page.waitForEvent("dialog");
        const acted = act();
        const dialog = await asked;
        assert.match(dialog.message(), /not saved/);
        await (leaves ? dialog.accept() : dialog.dismiss());
        await acted;
      };
      await name.fill("Tideline unsaved");
      await answering(false, () => orders.click());
      assert.equal(await name.inputValue(), "Tideline unsaved");
      await answering(false, () => page.evaluate("history.back()"));
      await untilOnPage(page, `location.pathname.endsWith("/settings")`);
      assert.equal(await name.inputValue(), "Tideline unsaved");
      // What was refused is not saved, either.
      await form.getByLabel("Time zone").fill("Atlantis");
      await form.getByRole("button", { name: "Save" }).click();
      await form.locator("[aria-invalid='true']").waitFor();
      await answering(true, () => orders.click());
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      assert.notEqual((await shopOf(program))["name"], "Tideline unsaved");
      const again = await openSettings(page);
      await again.getByLabel("Name of the shop").fill("Tideline saved");
      await again.getByRole("button", { name: "Save" }).click();
      await again.getByText("Saved.").waitFor();
      page.on("dialog", (dialog) => assert.fail(dialog.message()));
      await orders.click();
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      assert.equal((await shopOf(program))["name"], "Tideline saved");
    }),
);
