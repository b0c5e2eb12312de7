/** The reference page: this process serves all of it, and in a real browser it shows the operations and sends a request with a key. */
// Only on sqlite: its subject is the page in the browser; other tests ask the same of both engines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDocs } from "../../src/http/docs.ts";
import { loadReferenceBundle } from "../../src/http/node/reference-bundle.ts";
import { loadCarried } from "../../src/http/node/carried-files.ts";
import { createStartPage } from "../../src/http/start-page.ts";
import { accessibilityFaults } from "../support/pages/axe.ts";
import { browserPath, leaveBrowser, openBrowser } from "../support/pages/browser.ts";
import { startServer } from "../support/server.ts";

const startDocs = () =>
  startServer({
    console: true,
    surfaces: [createDocs(loadReferenceBundle), ...createStartPage(() => loadCarried("README.md"))],
  });

test("the page and its scripts are public, may load nothing from other servers, and have ETags", async () => {
  await using server = await startDocs();
  const ask = { key: null, undocumented: true } as const;
  for (const [target, type] of [
    ["/docs", "text/html"],
    ["/docs/start.js", "text/javascript"],
    ["/docs/reference.js", "text/javascript"],
  ] as const) {
    const answer = await server.get(target, ask);
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers["content-type"]), new RegExp(`^${type}`));
    assert.match(String(answer.headers["content-security-policy"]), /default-src 'none'.*connect-src 'self'/);
    const again = await server.get(target, { ...ask, headers: { "If-None-Match": String(answer.headers["etag"]) } });
    assert.equal(again.status, 304);
    assert.equal((await server.post(target, {}, ask)).status, 405);
  }
  assert.ok(!/https?:/.test((await server.get("/docs", ask)).text), "the page refers to no other server");
  assert.equal((await server.get("/docs/other.js", ask)).status, 404);
});

test("an installation without the page's script says so", async () => {
  await using server = await startServer({ surfaces: [createDocs(() => Promise.resolve(null))] });
  assert.equal((await server.get("/docs/reference.js", { undocumented: true })).status, 404);
});

const browserAccepts = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test("a browser gets a page at / that leads to what is there; other clients are told that there is nothing", async () => {
  await using server = await startDocs();
  const ask = { key: null, undocumented: true, headers: browserAccepts } as const;
  const page = await server.get("/", ask);
  assert.equal(page.status, 200);
  assert.match(String(page.headers["content-type"]), /^text\/html/);
  assert.match(String(page.headers["content-security-policy"]), /^default-src 'none'/);
  assert.match(String(page.headers["vary"]), /Accept\b(?!-)/);
  assert.ok(!/https?:|<script/.test(page.text), "the page refers to no other server and has no scripts");
  const targets = [...page.text.matchAll(/href="(\/[^"]*)"/g)].map(([, target]) => target ?? "");
  assert.deepEqual(targets.slice(0, 2), ["/docs", "/README.md"]);
  for (const target of targets) assert.equal((await server.get(target, ask)).status, 200, target);
  assert.match((await server.get("/README.md", ask)).text, /^# OpenPO/);
  assert.equal((await server.post("/", {}, ask)).status, 405);
  for (const Accept of ["*/*", "application/json"]) {
    const other = await server.get("/", { ...ask, headers: { Accept } });
    assert.deepEqual([other.status, other.at("error", "code")], [404, "NOT_FOUND"]);
  }
  assert.equal((await server.get("//", ask)).status, 404);
});

test("an installation without a README has a page that does not lead to one", async () => {
  await using server = await startServer({ surfaces: createStartPage(() => Promise.resolve(null)) });
  const ask = { key: null, undocumented: true, headers: browserAccepts } as const;
  assert.ok(!(await server.get("/", ask)).text.includes("README"));
  assert.equal((await server.get("/README.md", ask)).status, 404);
});

test(
  "a reader sees the operations, enters a key and gets an answer; no other server is contacted",
  { skip: browserPath === undefined && "NO CHROMIUM ON THIS MACHINE: the reference page was not looked at" },
  async () => {
    await using server = await startDocs();
    const created = await server.post("/api/v1/purchase-orders", { poName: "Seen in the browser" });
    assert.equal(created.status, 201);
    try {
      const page = await (await openBrowser()).newPage();
      const asked: string[] = [];
      const errors: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).origin));
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(`${server.url}/`);
      await page.getByRole("link", { name: "API reference" }).click();
      await page.goto(`${server.url}/docs#tag/purchase-orders/GET/api/v1/purchase-orders`);
      await page.getByText("List purchase orders").first().waitFor();
      await page.getByPlaceholder("Token").first().fill(server.readKey);
      await page
        .getByRole("button", { name: /Test Request/ })
        .first()
        .click();
      const answered = page.waitForResponse((response) => response.url().includes("/api/v1/purchase-orders?"));
      await page.getByRole("button", { name: /^Send/ }).first().click();
      const answer = await answered;
      assert.equal(answer.status(), 200);
      await page.getByText("Seen in the browser").first().waitFor();
      const unreadable = (await accessibilityFaults(page)).filter((fault) => fault.startsWith("color-contrast"));
      assert.deepEqual(unreadable, []);
      assert.deepEqual(new Set(asked.filter((origin) => origin !== "null")), new Set([server.url]));
      assert.deepEqual(errors, []);
    } finally {
      await leaveBrowser();
    }
  },
);
