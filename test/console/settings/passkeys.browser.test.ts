/**
 * A person's passkeys, with Chromium's own virtual authenticator (C49): from adding one to signing in by it.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { accessibilityFaultsInThemes } from "../../support/pages/axe.ts";
import { endConsole, newPage, invitation, picture, skip } from "../../support/pages/console.ts";
import { registerAssistant } from "../../support/peers/assistant.ts";
import { ask } from "../../support/peers/connect.ts";
import type { RunningProgram } from "../../support/process.ts";

after(endConsole);

/** The machine by its name: browsers take no address for a relying party. */
const named = (address: string): string => address.replace("//127.0.0.1:", "//localhost:");

/** Lets `use` work with a page at the name of the machine, and with the authenticator of its device. */
async function withDevice(
  use: (page: Page, program: RunningProgram, device: { verifies(isVerified: boolean): Promise<void> }) => Promise<void>,
): Promise<void> {
  const { page, program, faults } = await newPage();
  try {
    const session: CDPSession = await page.context().newCDPSession(page);
    await session.send("WebAuthn.enable");
    const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const verifies = async (isUserVerified: boolean): Promise<void> => {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    };
    await use(page, program, { verifies });
    assert.deepEqual(
      faults.filter((each) => !each.startsWith(named(program.url))),
      [],
    );
  } finally {
    await page.context().close();
  }
}

const passkeyButton = (page: Page) => page.getByRole("button", { name: "Use a passkey" });

async function openOwn(page: Page): Promise<void> {
  await page.locator("button.me").click();
  await page.locator("#me").getByRole("link", { name: "Your passkeys" }).click();
  await page.getByRole("heading", { name: "Your passkeys" }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

/** A page of the console that an assistant leads to. */
async function consentOf(program: RunningProgram): Promise<string> {
  const redirectUri = "https://assistant.example/callback";
  const clientId = await registerAssistant(program, redirectUri);
  const { parameters } = ask(program, clientId, { redirect_uri: redirectUri });
  return `${named(program.url)}/console/connect?${new URLSearchParams(parameters).toString()}`;
}

test(
  "a person adds a passkey, signs out, is back by it where they were and where an assistant has sent them, and removes it",
  { skip },
  async () => {
    await withDevice(async (page, program, device) => {
      await page.goto(named(await invitation(program, "viewer")));
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await openOwn(page);
      assert.equal(await page.locator("#me:popover-open").count(), 0);
      await page.getByText("You have no passkey yet.").waitFor();
      await picture(page, "passkeys-none");
      await page.getByRole("textbox", { name: "Name" }).fill("Work laptop");
      await device.verifies(false);
      const add = page.getByRole("button", { name: "Add a passkey" });
      await add.click();
      await page.getByRole("alert").getByText("No passkey was added").waitFor();
      await picture(page, "passkeys-not-added");
      await device.verifies(true);
      await add.click();
      await page.getByRole("row", { name: /^Work laptop/ }).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
      assert.equal(await page.getByRole("textbox", { name: "Name" }).inputValue(), "");
      await page.getByRole("button", { name: "Rename Work laptop" }).click();
      await page.getByRole("row").getByRole("textbox").fill("Ana's laptop");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("row", { name: /^Ana's laptop/ }).waitFor();
      assert.deepEqual(await accessibilityFaultsInThemes(page), []);
      // This device has one.
      await page.getByRole("textbox", { name: "Name" }).fill("Again");
      await add.click();
      await page.getByRole("alert").getByText("no second one").waitFor();

      await page.goto(`${named(program.url)}/console/orders?status=Draft`);
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      await signOut(page);
      await picture(page, "sign-in-passkey");
      assert.deepEqual(await accessibilityFaultsInThemes(page), []);
      await device.verifies(false);
      await passkeyButton(page).click();
      await page.getByRole("alert").getByText("No passkey was used").waitFor();
      await device.verifies(true);
      await passkeyButton(page).click();
      await page.getByRole("heading", { name: "Orders" }).waitFor();
      assert.equal(new URL(page.url()).search, "?status=Draft");

      await signOut(page);
      await page.goto(await consentOf(program));
      await passkeyButton(page).click();
      await page.getByText("Claude").first().waitFor();
      await page.getByRole("button", { name: "Allow" }).waitFor();

      await page.goto(`${named(program.url)}/console/account`);
      const row = page.getByRole("row", { name: /^Ana's laptop/ });
      await row.waitFor();
      await picture(page, "passkeys");
      assert.equal(await row.getByText("Never").count(), 0, "it was used");
      await page.getByRole("button", { name: "Delete Ana's laptop" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("You have no passkey yet.").waitFor();
      await signOut(page);
      await passkeyButton(page).click();
      await page.getByRole("alert").getByText("Nobody can sign in with this passkey now").waitFor();
    });
  },
);

test("at an address that is no name a page offers no passkey, and says where they are added", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await page.goto(await invitation(program, "viewer"));
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  await openOwn(page);
  const link = page.getByRole("link", { name: named(program.url) });
  assert.equal(await link.getAttribute("href"), `${named(program.url)}/console/account`);
  assert.equal(await page.getByRole("button", { name: "Add a passkey" }).count(), 0);
  await picture(page, "passkeys-elsewhere");
  await signOut(page);
  assert.equal(await passkeyButton(page).count(), 0);
  assert.deepEqual(faults, []);
});

test("who is signed in with a key is told that passkeys are for people of the shop", { skip }, async () => {
  await withDevice(async (page, program) => {
    await page.goto(`${named(program.url)}/console/account`);
    await page.getByRole("textbox").fill(program.word("write key"));
    await page.getByLabel("Your name").fill("Kim");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("Only a person of the shop has passkeys").waitFor();
  });
});
