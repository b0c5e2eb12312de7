/** Language of the console's page: the chosen one, else the one that the browser likes best. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createConsolePages } from "../../../src/http/console-pages.ts";
import { fromPage, signInAs, signInWith } from "../../support/people.ts";
import { adminToken, startServer, type TestResponse, type TestServer } from "../../support/server.ts";

const ask = { key: null, undocumented: true } as const;

const pageOf = (language: string): string => `<!doctype html>\n<html lang="${language}"></html>\n`;

const pages = createConsolePages(() =>
  Promise.resolve(
    new Map([
      ["index.html", pageOf("en")],
      ["index.de.html", pageOf("de")],
      ["index.nl.html", pageOf("nl")],
      ["index.css", "p {}"],
    ]),
  ),
);

/** Serves pages of three languages. */
const startConsole = (): ReturnType<typeof startServer> => startServer({ console: pages });

async function languageOf(
  server: TestServer,
  headers: Record<string, string>,
  path = "/console/orders",
): Promise<string> {
  const page = await server.get(path, { ...ask, headers });
  assert.equal(page.status, 200);
  assert.equal(page.headers["cache-control"], "no-cache");
  assert.match(String(page.headers["vary"]), /Accept-Language.*Cookie/);
  return /<html[^>]* lang="([a-z]+)"/.exec(page.text)?.[1] ?? "";
}

/** The cookie of this name that an answer sets, as it is sent back; null without one. */
const set = (answered: TestResponse, name: string): string | null =>
  (answered.headers["set-cookie"] ?? []).find((line) => line.startsWith(`${name}=`))?.split(";")[0] ?? null;

test("a page is in the language that the browser likes best, and English where there is no such page", async () => {
  await using server = await startConsole();
  for (const [liked, language] of [
    ["de-CH,de;q=0.9,en;q=0.8", "de"],
    ["fr, nl;q=0.5", "nl"],
    ["en-GB, de;q=0.9", "en"],
    ["ja", "en"],
    ["de;q=0", "en"],
    ["", "en"],
  ] as const)
    assert.equal(await languageOf(server, { "Accept-Language": liked }), language, liked);
  for (const path of ["/console", "/console/index.html", "/console/index.de.html"])
    assert.equal(await languageOf(server, { "Accept-Language": "nl" }, path), "nl", path);
  assert.equal((await server.get("/console/index.fr.html", { ...ask, headers: {} })).status, 200);
});

test("a chosen language is kept in the browser, and comes with the person to another one", async () => {
  await using server = await startConsole();
  const person = await signInAs(server, "viewer");
  const chosen = await fromPage(server, "PUT", "/language", { cookie: person.cookie, body: { language: "de" } });
  assert.deepEqual([chosen.status, chosen.at("data", "language")], [200, "de"]);
  const line = (chosen.headers["set-cookie"] ?? [])[0] ?? "";
  assert.match(line, /^openpo_language=de; HttpOnly; SameSite=Lax; Path=\/console; Max-Age=31536000$/);
  const browser = { Cookie: "openpo_language=de", "Accept-Language": "nl" };
  assert.equal(await languageOf(server, browser), "de");
  // A cookie of a language that there is none of is as good as none.
  assert.equal(await languageOf(server, { ...browser, Cookie: "openpo_language=xx" }), "nl");

  const given = await fromPage(server, "POST", "/token", { cookie: person.cookie });
  assert.equal(given.at("data", "person", "language"), "de");
  assert.equal(set(given, "openpo_language"), "openpo_language=de");
  const other = await signInAs(server, "owner");
  const others = await fromPage(server, "POST", "/token", { cookie: other.cookie });
  assert.equal(others.at("data", "person", "language"), null);
  assert.equal(set(others, "openpo_language"), null);
});

test("without a session, or with an operator's, the language is the browser's alone", async () => {
  await using server = await startConsole();
  const { cookie } = await signInWith(server, { adminToken });
  for (const session of [undefined, cookie, "openpo_console=opc_demo_ended"]) {
    const sent = { body: { language: "nl" }, ...(session === undefined ? {} : { cookie: session }) };
    const chosen = await fromPage(server, "PUT", "/language", sent);
    assert.equal(chosen.status, 200, chosen.text);
    assert.equal(set(chosen, "openpo_language"), "openpo_language=nl");
  }
});

test("an unknown language, another site and another method are refused", async () => {
  await using server = await startConsole();
  const { cookie } = await signInAs(server, "viewer");
  const unknown = await fromPage(server, "PUT", "/language", { cookie, body: { language: "xx" } });
  assert.deepEqual([unknown.status, set(unknown, "openpo_language")], [400, null]);
  const headers = { "Sec-Fetch-Site": "cross-site" };
  const foreign = await fromPage(server, "PUT", "/language", { cookie, body: { language: "de" }, headers });
  assert.deepEqual([foreign.status, set(foreign, "openpo_language")], [403, null]);
  assert.equal((await fromPage(server, "POST", "/language", { cookie, body: { language: "de" } })).status, 405);
});
