/** Documents by which clients describe themselves (C73): where they are fetched from, what they may say, and how often they are asked for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clientDocumentBytesMax,
  clientDocumentFailedMs,
  clientDocumentKeptMs,
  clientDocumentMs,
  clientDocumentsFetchedMax,
} from "../../src/connect/clients.ts";
import { clientDocumentEveryMs, clientDocumentsMax } from "../../src/http/attempts.ts";
import { usedCodeMs } from "../../src/core/access/grant.ts";
import { Clients } from "../../src/connect/clients.ts";
import { OAuthError } from "../../src/connect/oauth-error.ts";
import { onlyGlobal } from "../../src/webhooks/addresses.ts";
import {
  ask,
  authorize,
  callback,
  codeIn,
  connectHere,
  decide,
  documentOf,
  exchange,
  serveDocuments,
} from "../support/peers/connect.ts";
import { signInAs } from "../support/people.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { shortened } from "../support/programs/shortened.ts";

const opens = async (server: TestServer, clientId: string): Promise<number> =>
  (await authorize(server, ask(server, clientId).parameters)).status;

test("a document that lies, redirects, is huge, slow or no document is refused, without a word on what was there", async () => {
  await using documents = await serveDocuments({
    "/good.json": { body: documentOf() },
    "/other.json": { body: documentOf({ client_id: "https://assistant.example/client.json" }) },
    "/moved.json": { status: 302, headers: { Location: "/good.json" }, body: "" },
    "/missing-redirects.json": { body: documentOf({ redirect_uris: undefined }) },
    "/script.json": { body: documentOf({ redirect_uris: [callback, "javascript:alert(1)"] }) },
    "/secret.json": { body: documentOf({ token_endpoint_auth_method: "client_secret_basic" }) },
    "/huge.json": { body: documentOf({ padding: "x".repeat(clientDocumentBytesMax) }) },
    "/text.json": { body: "<html>SECRET-OF-THE-INSIDE</html>" },
    "/failing.json": { status: 500, body: documentOf() },
  });
  await using server = await startServer({ console: true, connect: connectHere });
  assert.equal(await opens(server, `${documents.url}/good.json`), 302);
  const names = ["other", "moved", "missing-redirects", "script", "secret", "huge", "text", "failing", "absent"];
  for (const name of names) {
    const answered = await authorize(server, ask(server, `${documents.url}/${name}.json`).parameters);
    assert.equal(answered.status, 400, name);
    assert.doesNotMatch(answered.text, /SECRET|500|404|302/, name);
  }
  assert.equal(documents.asked.filter((target) => target === "/good.json").length, 1, "a redirect is not followed");
});

test("an id that is no https URL in its plain form is no client's", async () => {
  await using documents = await serveDocuments({ "/good.json": { body: documentOf() }, "/": { body: documentOf() } });
  await using server = await startServer({ console: true, connect: connectHere });
  const { host } = new URL(documents.url);
  const ids = [
    `http://${host}/good.json`,
    `https://user@${host}/good.json`,
    `https://${host}/a/../good.json`,
    `https://${host}/good.json#x`,
    `https://${host.toUpperCase()}/good.json`,
    `https://${host}/`,
    `https://${host}`,
    `file:///etc/passwd`,
  ];
  for (const id of ids) assert.equal(await opens(server, id), 400, id);
  assert.deepEqual(documents.asked, []);
});

test("documents inside are not fetched unless the operator has opened the place", async () => {
  await using documents = await serveDocuments({ "/good.json": { body: documentOf() } });
  await using server = await startServer({ console: true });
  const { port } = new URL(documents.url);
  const hosts = [
    "localhost",
    "127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "10.0.0.1",
    "[fd00:ec2::254]",
    "2852039166",
    "0xA9.0xFE.43518",
    "[64:ff9b::a9fe:a9fe]",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "[fd20:ce::254]",
  ];
  for (const host of hosts) assert.equal(await opens(server, `https://${host}:${port}/good.json`), 400, host);
  assert.deepEqual(documents.asked, []);
});

test("a document is kept for an hour, a failure for a minute; then what it says now holds", async () => {
  await using documents = await serveDocuments({ "/client.json": { body: documentOf() } });
  await using server = await startServer({ console: true, connect: connectHere });
  const id = `${documents.url}/client.json`;
  const person = await signInAs(server, "owner");
  const asked = ask(server, id);
  assert.equal(await opens(server, id), 302);
  documents.set("/client.json", { body: documentOf({ redirect_uris: ["https://new.example/"] }) });
  assert.equal(await opens(server, id), 302);
  const code = codeIn(await decide(server, person, asked.parameters));
  server.clock.advance(clientDocumentKeptMs);
  assert.equal(await opens(server, id), 400, "the redirect is no longer the client's");
  assert.equal((await decide(server, person, ask(server, id).parameters)).status, 400);
  assert.equal((await exchange(server, code, asked)).at("error"), "invalid_grant", "the code is too old by now");
  assert.equal(documents.asked.length, 2);

  documents.set("/late.json", { status: 503, body: "" });
  assert.equal(await opens(server, `${documents.url}/late.json`), 400);
  documents.set("/late.json", { body: documentOf() });
  assert.equal(await opens(server, `${documents.url}/late.json`), 400);
  server.clock.advance(clientDocumentFailedMs);
  assert.equal(await opens(server, `${documents.url}/late.json`), 302);
});

test("an address has so many documents fetched at once, and a process so many at a time", async () => {
  await using documents = await serveDocuments({});
  await using server = await startServer({ console: true, connect: connectHere, isClockStill: true });
  for (let index = 0; index < clientDocumentsMax; index += 1)
    assert.equal(await opens(server, `${documents.url}/${index}.json`), 400);
  assert.equal(await opens(server, `${documents.url}/one-more.json`), 429);
  server.clock.advance(clientDocumentEveryMs);
  assert.equal(await opens(server, `${documents.url}/one-more.json`), 400);
  assert.ok(usedCodeMs > clientDocumentKeptMs);

  const never = Promise.withResolvers<readonly string[]>();
  const clients = new Clients({ clock: server.clock, policy: onlyGlobal, resolve: () => never.promise });
  const finding = Array.from({ length: clientDocumentsFetchedMax }, (_, index) =>
    clients.find(`https://a.example/${index}`).catch(() => null),
  );
  const same = clients.find("https://a.example/0").catch(() => null);
  await assert.rejects(
    clients.find("https://a.example/x"),
    (error) => error instanceof OAuthError && error.status === 503,
  );
  never.reject(new Error("no such name"));
  await Promise.all([...finding, same]);
});

test("a document that does not come within clientDocumentMs is given up", async (t) => {
  await using documents = await serveDocuments({ "/slow.json": { body: '{"client_id":', hangs: true } });
  await using server = await startServer({ console: true, connect: connectHere });
  const waits = shortened(t, [clientDocumentMs]);
  assert.equal(await opens(server, `${documents.url}/slow.json`), 400);
  assert.ok(waits.includes(clientDocumentMs));
});
