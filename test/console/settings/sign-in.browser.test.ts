/**
 * Signing in with whatever a person has, in one field; coming back by a link in a mail, to where one was (C49).
 *
 * Only on sqlite: its subject is the page in the browser; access/sign-in-links.test.ts asks for links on both engines.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults, accessibilityFaultsInThemes } from "../../support/pages/axe.ts";
import { endConsole, newPage, picture, skip, withConsole, withEnvironment } from "../../support/pages/console.ts";
import { mailEnv, mailedLink as linkIn } from "../../support/peers/mail-shop.ts";
import { type SmtpServerForTests, startSmtpServer } from "../../support/peers/smtp.ts";

let mailServer: SmtpServerForTests | null = null;
if (skip === false) {
  mailServer = await startSmtpServer();
  withEnvironment(mailEnv(mailServer));
}

after(async () => {
  await endConsole();
  await mailServer?.close();
});

/** The link in the latest mail, once there are so many. */
const mailedLink = (count: number): Promise<string> => linkIn(mailServer ?? assert.fail(), count);

/** Types the e-mail and asks for a link. */
async function askFor(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail or key").fill(email);
  await page.getByRole("button", { name: "Mail me a link" }).click();
  await page.getByRole("status").getByText("Check your mail").waitFor();
}

test(
  "an owner gives a person an e-mail; their session ends, and a link brings them back to where they were",
  { skip },
  async () => {
    await withConsole(async (page, link) => {
      await page.goto(link);
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await page.getByRole("navigation").getByRole("link", { name: "People" }).click();
      await page
        .getByRole("button", { name: /^E-mail of / })
        .first()
        .click();
      const form = page.locator("th form");
      await form.getByLabel("E-mail").fill("ana@shop.example");
      await picture(page, "person-email");
      assert.deepEqual(await accessibilityFaults(page), []);
      await form.getByRole("button", { name: "Save" }).click();
      await page.getByText("ana@shop.example").waitFor();

      await page.goto(new URL("/console/orders?status=Draft", page.url()).href);
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await page.context().clearCookies();
      await page.reload();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await picture(page, "sign-in");
      assert.deepEqual(await accessibilityFaultsInThemes(page), []);
      await askFor(page, "ana@shop.example");
      await picture(page, "sign-in-mailed");
      assert.deepEqual(await accessibilityFaultsInThemes(page), []);

      const mailed = await mailedLink(1);
      const other = await page.context().newPage();
      await other.goto(mailed);
      const enter = other.getByRole("button", { name: "Sign in by the link" });
      await enter.waitFor();
      assert.equal(new URL(other.url()).hash, "", "the secret has left the address");
      await picture(other, "sign-in-link");
      assert.deepEqual(await accessibilityFaultsInThemes(other), []);
      assert.deepEqual(await page.context().cookies(), [], "opening it has used nothing");
      await enter.click();
      await other.getByRole("heading", { name: "Orders" }).waitFor();
      assert.equal(new URL(other.url()).pathname + new URL(other.url()).search, "/console/orders?status=Draft");
      const kept = await other.evaluate<string>("JSON.stringify([localStorage, sessionStorage, history.state])");
      assert.doesNotMatch(kept, /opm_|openpo-return/);

      // The page that has asked goes on by itself.
      await page.bringToFront();
      await page.evaluate("dispatchEvent(new Event('focus'))");
      await page.getByRole("heading", { name: "Orders" }).waitFor();

      // Once more: it was used, and the page says how to go on.
      await other.getByRole("button", { name: "Sign out", exact: true }).click();
      await other.getByRole("heading", { name: "Sign in" }).waitFor();
      await other.goto(mailed);
      await other.reload();
      await other.goto(mailed);
      await other.getByRole("button", { name: "Sign in by the link" }).click();
      await other.getByRole("alert").getByText("This link was used already").waitFor();
      await picture(other, "sign-in-used");
      await askFor(other, "ana@shop.example");
      await other.goto(await mailedLink(2));
      await other.getByRole("button", { name: "Sign in by the link" }).click();
      await other.getByRole("navigation", { name: "Console" }).waitFor();
    });
  },
);

test("a session that ends under a page is taken up again by a link that is opened beside it", { skip }, async () => {
  await withConsole(async (page, link, program) => {
    await page.goto(link);
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    const people = await program.ask("GET", "/admin/v1/shops/demo/people", program.adminToken);
    const rows = people.at("data", "people") as readonly { readonly personId: string; readonly name: string }[];
    const { personId } = rows.find(({ name }) => name === "Ana the viewer") ?? assert.fail(people.text);
    const path = `/admin/v1/shops/demo/people/${personId}`;
    await program.ask("PATCH", path, program.adminToken, { email: "viewer@shop.example" });
    // Before the session ends: the page may notice that by itself at any time, and takes no text from then on.
    await page.getByRole("searchbox", { name: "Search orders" }).fill("PO-10");
    await page.waitForURL(/search=PO-10$/);
    await page.context().clearCookies();
    const sessions = await program.ask("GET", "/admin/v1/shops/demo/sessions", program.adminToken);
    for (const each of sessions.at("data", "sessions") as readonly { personId: string; sessionId: string }[])
      if (each.personId === personId)
        await program.ask("DELETE", `/admin/v1/shops/demo/sessions/${each.sessionId}`, program.adminToken);
    await page.evaluate("history.pushState(null, '', '?search=PO-102'); dispatchEvent(new PopStateEvent('popstate'))");
    const again = page.getByRole("dialog", { name: "Sign in" });
    await again.waitFor();
    const before = mailServer?.taken.length ?? 0;
    await askFor(page, "viewer@shop.example");
    const other = await page.context().newPage();
    await other.goto(await mailedLink(before + 1));
    await other.getByRole("button", { name: "Sign in by the link" }).click();
    await other.getByRole("navigation", { name: "Console" }).waitFor();
    await page.bringToFront();
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await again.waitFor({ state: "detached" });
    assert.equal(await page.getByRole("searchbox", { name: "Search orders" }).inputValue(), "PO-102");
  }, "viewer");
});

test(
  "the field takes a key, a pasted invitation and the admin token, hides them, and says what it does not know",
  { skip },
  async () => {
    const { page, program, faults } = await newPage();
    await page.goto(`${program.url}/console/orders`);
    const who = page.getByLabel("E-mail or key");
    await who.fill("Ana");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("no e-mail or key").waitFor();
    await who.fill("nobody@shop.example");
    assert.equal(await page.locator(".masked").count(), 0);
    await who.fill(program.adminToken);
    assert.equal(await page.locator(".masked").count(), 1);
    await who.fill(program.word("write key"));
    assert.equal(await page.locator(".masked").count(), 1);
    await page.getByLabel("Your name").fill("Kim");
    await picture(page, "sign-in-key");
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    assert.deepEqual(faults, []);
  },
);
