/**
 * A person lets an assistant in, in a real browser (C74): sent by it, they sign in, allow or deny, and end the connection.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityFaultsInThemes } from "../support/pages/axe.ts";
import { ask } from "../support/peers/connect.ts";
import { endConsole, invitation, newPage, picture, skip } from "../support/pages/console.ts";
import type { RunningProgram } from "../support/process.ts";
import { until } from "../support/until.ts";

after(endConsole);

/** An assistant on this machine: its own address, to which the browser comes back with an answer. */
async function startAssistant(program: RunningProgram) {
  const answers: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname === "/callback") answers.push(url.searchParams);
    response.end("The assistant has its answer.");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === "object" && address !== null ? address.port : assert.fail();
  const redirectUri = `http://127.0.0.1:${port}/callback`;
  const post = (path: string, type: string, body: string) =>
    fetch(`${program.url}${path}`, { method: "POST", headers: { "Content-Type": type }, body });
  const registered = await post(
    "/oauth/register",
    "application/json",
    JSON.stringify({ client_name: "Claude", redirect_uris: [redirectUri] }),
  );
  const { client_id: clientId } = Object(await registered.json());
  const { parameters, verifier } = ask(program, clientId, {
    redirect_uri: redirectUri,
    state: "state-of-the-assistant",
    scope: "read write",
  });
  return {
    /** Where it sends the person. */
    sends: `${program.url}/oauth/authorize?${new URLSearchParams(parameters).toString()}`,
    /** The answer that the browser has brought. */
    answer: () => until("the browser is back at the assistant", () => answers.at(-1)),
    async token(code: string): Promise<string> {
      const form = { grant_type: "authorization_code", code, client_id: clientId, redirect_uri: redirectUri };
      const body = new URLSearchParams({ ...form, code_verifier: verifier, resource: `${program.url}/mcp` }).toString();
      const answered = await post("/oauth/token", "application/x-www-form-urlencoded", body);
      return String(Object(await answered.json()).access_token);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The status of a tool's call with a token. */
async function statusOfCall(program: RunningProgram, token: string): Promise<number> {
  const answered = await fetch(`${program.url}/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-11-25",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "location_list", arguments: {} },
    }),
  });
  await answered.arrayBuffer();
  return answered.status;
}

const question = (page: Page) => page.getByRole("heading", { name: "Let Claude into your shop?" });

/** What the page may not do, but for the way back to the assistant. */
const faultsBut = (faults: readonly string[]) =>
  faults.filter((fault) => !/^\/oauth\/authorize |\/callback/.test(fault));

test("a person allows an assistant, which works until its connection is revoked", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await using assistant = await startAssistant(program);
  await page.goto(await invitation(program));
  await page.getByRole("link", { name: "PO-1024" }).waitFor();
  await page.goto(assistant.sends);
  await question(page).waitFor();
  assert.ok(await page.getByText("a program on this computer").isVisible(), "where the answer goes");
  assert.ok(
    await page.getByRole("radio", { name: /^Read It/ }).isChecked(),
    "reading is preset, whatever is asked for",
  );
  await picture(page, "connect");
  assert.deepEqual(await accessibilityFaultsInThemes(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, "connect-phone");
  await page.setViewportSize({ width: 1_280, height: 900 });
  await page.getByRole("button", { name: "Allow" }).click();
  const answer = await assistant.answer();
  assert.equal(answer.get("state"), "state-of-the-assistant");
  assert.equal(answer.get("iss"), program.url);
  const token = await assistant.token(answer.get("code") ?? assert.fail(answer.toString()));
  assert.equal(await statusOfCall(program, token), 200);
  await page.goto(`${program.url}/console/keys`);
  const row = page.getByRole("row", { name: /Claude/ });
  await row.waitFor();
  await picture(page, "connections");
  assert.deepEqual(await accessibilityFaultsInThemes(page), []);
  await row.getByRole("button", { name: /Revoke/ }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /Revoke/ })
    .click();
  await until("the token is refused", async () => (await statusOfCall(program, token)) === 401 || undefined);
  assert.deepEqual(faultsBut(faults), []);
});

test("whoever is signed out signs in on the way, and a denial is told to the assistant", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await using assistant = await startAssistant(program);
  await page.goto(assistant.sends);
  await page.getByText("Operator", { exact: true }).click();
  await page.getByLabel("Admin token").fill(program.adminToken);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Open Tideline Coffee & Tea" }).click();
  await question(page).waitFor();
  await picture(page, "connect-operator");
  await page.getByRole("button", { name: "Deny" }).click();
  const answer = await assistant.answer();
  assert.equal(answer.get("error"), "access_denied");
  assert.equal(answer.get("state"), "state-of-the-assistant");
  assert.equal(answer.get("iss"), program.url);
  assert.deepEqual(faultsBut(faults), []);
});

test("whoever signed in with a key is told that a person makes connections", { skip }, async () => {
  const { page, program, faults } = await newPage();
  await using assistant = await startAssistant(program);
  await page.goto(assistant.sends);
  await page.getByLabel("API key").fill(program.word("write key"));
  await page.getByLabel("Your name").fill("Ida");
  await page.keyboard.press("Enter");
  await page.getByText("Whoever has signed in with an API key makes no connections.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Allow" }).count(), 0);
  assert.deepEqual(faultsBut(faults), []);
});
