/**
 * The protocol's official conformance suite against the service as an authorization server (contract §15). Its scenarios
 * are the server's metadata and one whole code grant, in which the test stands for the person with a browser.
 *
 * The suite's other scenarios of authorization are about clients. Nothing is expected to fail.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import {
  registerClient,
  authorize,
  connectHere,
  decide,
  documentOf,
  serveDocuments,
} from "../support/peers/connect.ts";
import { signInAs, type SignedInPerson } from "../support/people.ts";
import { freePort } from "../support/programs/ports.ts";
import { toolPath } from "../support/programs/tools.ts";
import { startServer, type TestServer } from "../support/server.ts";

const suite = toolPath("@modelcontextprotocol/conformance/dist/index.js");

/** Every scenario of the suite, with its checks. */
const scenarios = { "authorization-server-metadata-endpoint": 2, "authorization-code-grant": 1 };

/** Does what a browser does with the address that the suite prints, where the person allows what is asked. */
async function allowInBrowser(server: TestServer, person: SignedInPerson, address: URL): Promise<void> {
  const sent = await authorize(server, address.searchParams.toString());
  assert.equal(sent.status, 302, sent.text);
  const page = new URL(sent.headers.location ?? "", server.url);
  const decided = await decide(server, person, Object.fromEntries(page.searchParams));
  assert.equal(decided.status, 201, decided.text);
  assert.equal((await fetch(decided.textAt("data", "redirectTo"))).status, 200);
}

/** Runs the suite with a client that has the callback's address, and returns what it told. */
async function told(server: TestServer, person: SignedInPerson, clientId: string, port: number): Promise<string> {
  const args = ["authorization", "--url", server.url, "--client-id", clientId, "--port", String(port)];
  const run = spawn(process.execPath, [suite, ...args, "--resource", `${server.url}/mcp`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(run, "exit");
  const lines: string[] = [];
  try {
    for await (const line of createInterface(run.stdout)) {
      lines.push(line);
      if (line.startsWith(`${server.url}/oauth/authorize?`)) await allowInBrowser(server, person, new URL(line));
    }
  } finally {
    run.kill();
  }
  const [code] = await ended;
  assert.equal(code, 0, lines.join("\n"));
  return lines.join("\n");
}

function assertPassed(output: string): void {
  assert.match(output, new RegExp(`Running test \\(${Object.keys(scenarios).length} scenarios\\)`));
  for (const [scenario, checks] of Object.entries(scenarios))
    assert.match(output, new RegExp(`✓ ${scenario}: ${checks} passed, 0 failed`), output);
  assert.doesNotMatch(output, /skipped|warning/i);
}

test("a client that has registered", async () => {
  await using server = await startServer({ console: true });
  const person = await signInAs(server, "purchaser");
  const port = await freePort();
  const redirect = `http://127.0.0.1:${port}/callback`;
  const clientId = await registerClient(server, { client_name: "Suite", redirect_uris: [redirect] });
  assertPassed(await told(server, person, clientId, port));
});

test("a client that is known by its document", async () => {
  const port = await freePort();
  const redirect = `http://127.0.0.1:${port}/callback`;
  await using documents = await serveDocuments({ "/client": { body: documentOf({ redirect_uris: [redirect] }) } });
  await using server = await startServer({ console: true, connect: connectHere });
  const person = await signInAs(server, "purchaser");
  assertPassed(await told(server, person, `${documents.url}/client`, port));
});
