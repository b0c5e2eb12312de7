/**
 * A person is sent to the consent page by an assistant, is signed out, and comes back to it by a link in a mail (C49, C74): on a phone, in the
 * dark, in the window of the mail, in the one that asked, and from another device.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaults } from "../support/pages/axe.ts";
import { endConsole, newPage, photograph, skip, withEnvironment } from "../support/pages/console.ts";
import { consentAsked, faultsBut, startAssistant, statusOfCall } from "../support/peers/assistant.ts";
import { mailedLink, mailEnv } from "../support/peers/mail-shop.ts";
import { type SmtpServerForTests, startSmtpServer } from "../support/peers/smtp.ts";
import type { RunningProgram } from "../support/process.ts";

let mailServer: SmtpServerForTests | null = null;
if (skip === false) {
  mailServer = await startSmtpServer();
  withEnvironment(mailEnv(mailServer));
}

after(async () => {
  await endConsole();
  await mailServer?.close();
});

const mails = (): SmtpServerForTests => mailServer ?? assert.fail();

const phone = { width: 390, height: 844 };

/** A purchaser with this e-mail. */
async function invite(program: RunningProgram, email: string): Promise<void> {
  const body = { name: "Ana", role: "purchaser", email };
  const made = await program.ask("POST", "/admin/v1/shops/demo/invitations", program.adminToken, body);
  const { page } = await newPage();
  await page.goto(String(made.at("data", "url")));
  await page.getByRole("navigation", { name: "Console" }).waitFor();
  await page.context().close();
}

async function askForLink(page: Page, email: string): Promise<string> {
  const before = mails().taken.length;
  await page.getByLabel("E-mail or key").fill(email);
  await page.getByRole("button", { name: "Mail me a link" }).click();
  await page.getByRole("status").getByText("Check your mail").waitFor();
  return await mailedLink(mails(), before + 1);
}

/** A page of a phone in the dark, sent by the assistant, that asks to sign in. */
async function sentBy(assistant: { readonly sends: string }) {
  const made = await newPage();
  await made.page.setViewportSize(phone);
  await made.page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await made.page.goto(assistant.sends);
  await made.page.getByRole("heading", { name: "Sign in" }).waitFor();
  return made;
}

const requestOf = (page: Page): string => new URL(page.url()).search;

test(
  "whoever is signed out comes back by a mailed link to the same request, allows it, and the token works",
  { skip },
  async () => {
    const { page: first, program } = await newPage();
    await first.context().close();
    await invite(program, "ana@shop.example");
    await using assistant = await startAssistant(program);
    const { page, faults } = await sentBy(assistant);
    const request = requestOf(page);
    assert.match(request, /client_id=/);
    await page.getByText("An assistant asks to work in your shop").waitFor();
    await photograph(page, "by-mail-1-sign-in");
    const link = await askForLink(page, "ana@shop.example");
    await photograph(page, "by-mail-2-asked");
    assert.deepEqual(await accessibilityFaults(page), []);

    const ofMail = await page.context().newPage();
    await ofMail.setViewportSize(phone);
    await ofMail.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await ofMail.goto(link);
    const enter = ofMail.getByRole("button", { name: "Sign in by the link" });
    await enter.waitFor();
    assert.equal(await ofMail.getByText("You did not ask for it in this browser").count(), 0);
    await photograph(ofMail, "by-mail-3-link");
    await enter.click();
    await consentAsked(ofMail).waitFor();
    assert.equal(requestOf(ofMail), request);
    assert.equal(new URL(ofMail.url()).pathname, "/console/connect");
    await photograph(ofMail, "by-mail-4-consent");
    assert.deepEqual(await accessibilityFaults(ofMail), []);
    await ofMail.getByRole("radio", { name: /^Read and write/ }).check();
    await ofMail.getByRole("button", { name: "Allow" }).click();
    const answer = await assistant.answer();
    assert.equal(answer.get("state"), "state-of-the-assistant");
    const token = await assistant.token(answer.get("code") ?? assert.fail(answer.toString()));
    assert.equal(await statusOfCall(program, token), 200);

    // The window that asked is signed in too, and its request is answered.
    await page.bringToFront();
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByRole("alert").getByText("You can close this page").waitFor();
    await photograph(page, "by-mail-5-answered");
    assert.deepEqual(faultsBut(faults), []);
  },
);

test(
  "a link that is opened on another device says so, uses nothing, and is pasted in the window that asked",
  { skip },
  async () => {
    const { page: first, program } = await newPage();
    await first.context().close();
    await invite(program, "bo@shop.example");
    await using assistant = await startAssistant(program);
    const { page, faults } = await sentBy(assistant);
    const request = requestOf(page);
    const link = await askForLink(page, "bo@shop.example");

    const { page: other } = await newPage();
    await other.goto(link);
    await other.getByText("You did not ask for it in this browser").waitFor();
    await photograph(other, "by-mail-6-elsewhere");
    assert.deepEqual(await accessibilityFaults(other), []);

    await page.getByRole("button", { name: "Go back" }).click();
    await page.getByLabel("E-mail or key").fill(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await consentAsked(page).waitFor();
    assert.equal(requestOf(page), request);
    await page.getByRole("button", { name: "Allow" }).click();
    const token = await assistant.token((await assistant.answer()).get("code") ?? assert.fail());
    assert.equal(await statusOfCall(program, token), 200);

    // Whoever signs in there all the same learns that it was used.
    await other.getByRole("button", { name: "Sign in by the link" }).click();
    await other.getByRole("alert").getByText("This link was used already").waitFor();
    assert.deepEqual(faultsBut(faults), []);
  },
);
