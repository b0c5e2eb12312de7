/** The console's page and files as they are served: what may be cached, and what the page may load. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pictureOrigins, type StorefrontConfig } from "../../src/core/storefront/storefront-config.ts";
import { createConsolePages } from "../../src/http/console-pages.ts";
import { loadShop, saveShop } from "../../src/shop/access/accounts.ts";
import { askAdmin, fromPage, signInAs, signInWith } from "../support/people.ts";
import { adminToken, startServer, type TestServer } from "../support/server.ts";

const root = path.join(import.meta.dirname, "../..");
if (!existsSync(path.join(root, "dist/console/index.html")))
  execFileSync(process.execPath, ["console/build.ts"], { cwd: root, stdio: "inherit" });

const ask = { key: null, undocumented: true } as const;

test("every place of the console is the page, asked for anew; its files have hashed names and may be kept for good", async () => {
  await using server = await startServer({ console: true });
  const page = await server.get("/console", ask);
  assert.equal(page.status, 200);
  assert.match(String(page.headers["content-type"]), /^text\/html/);
  assert.equal(page.headers["cache-control"], "no-cache");
  for (const place of ["/console/", "/console/orders", "/console/orders/po_1?x=1", "/console/index.html"])
    assert.equal((await server.get(place, ask)).text, page.text, place);
  const files = [...page.text.matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)].map(([, file]) => file ?? "");
  // The styles, the script, the font.
  assert.equal(files.length, 3);
  for (const file of files) {
    assert.match(file, /-[0-9A-Z]{8}\.(?:js|css|woff2)$/);
    const answered = await server.get(file, ask);
    assert.equal(answered.status, 200);
    assert.match(String(answered.headers["cache-control"]), /immutable/);
  }
  for (const file of ["/console/app.js", "/console/../package.json", "/console/.env"])
    assert.equal((await server.get(file, ask)).status, 404, file);
  assert.equal((await server.post("/console/orders", {}, ask)).status, 405);
});

test("the page's policy allows this server alone, no inline script or style, and no script made of text", async () => {
  await using server = await startServer({ console: true });
  const page = await server.get("/console", ask);
  const policy = String(page.headers["content-security-policy"]);
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ])
    assert.ok(policy.includes(rule), policy);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.ok(!/unsafe|https?:/.test(policy), policy);
  const text = page.text.replace(/ data-passkeys="http:\/\/localhost:\d+"/, "");
  assert.ok(!/https?:|<style|style=|<script(?![^>]*src=)/.test(text), text);
});

/** Stores how the shop of the server is connected, as an operator would have. */
const connect = (server: TestServer, storefront: StorefrontConfig): Promise<void> =>
  server.engine.write(server.shopId, async (tx) => {
    const shop = (await loadShop(tx, server.shopId)) ?? assert.fail("no shop");
    await saveShop(tx, { ...shop, storefront });
  });

const shopify = { kind: "shopify", domain: "tea.example", accessToken: "sealed", apiVersion: "2026-10" } as const;

const medusaAt = (url: string): StorefrontConfig => ({ kind: "medusa", url, secretKey: "sealed" });

test("the page may show pictures of the storefront of the session's shop alone, and says from where", async () => {
  await using server = await startServer({ console: true });
  const { cookie } = await signInAs(server, "viewer");
  const shownTo = async (headers: Record<string, string>, path = "/console/products") => {
    const page = await server.get(path, { ...ask, headers });
    assert.equal(page.status, 200);
    const policy = String(page.headers["content-security-policy"]);
    const [, pictures = ""] = /; img-src 'self' data:([^;]*); /.exec(policy) ?? assert.fail(policy);
    const [, said = ""] =
      /^<!doctype html>\n<html(?: data-pictures="([^"]*)")?(?: data-passkeys="[^"]*")? lang="en">/.exec(page.text) ??
      [];
    assert.equal(pictures.trim(), said);
    // Nothing else of the policy moves.
    assert.ok(!/https?:/.test(policy.replace(pictures, "")), policy);
    return { said, etag: String(page.headers["etag"]) };
  };
  const none = await shownTo({ Cookie: cookie });
  assert.equal(none.said, "");

  await connect(server, shopify);
  const some = await shownTo({ Cookie: cookie });
  assert.equal(some.said, "https://cdn.shopify.com");
  // A browser that has the page of before gets the new one, and one that has this one keeps it, with its policy.
  assert.notEqual(some.etag, none.etag);
  assert.equal((await shownTo({ Cookie: cookie, "If-None-Match": none.etag })).said, "https://cdn.shopify.com");
  const again = await server.get("/console", { ...ask, headers: { Cookie: cookie, "If-None-Match": some.etag } });
  assert.equal(again.status, 304);
  assert.match(String(again.headers["content-security-policy"]), /data: https:\/\/cdn\.shopify\.com;/);
  // Nobody, and whoever is in no shop or whose session has ended.
  for (const headers of [{}, { Cookie: "openpo_console=opc_x" }, { Cookie: `${cookie}x` }])
    assert.equal((await shownTo(headers)).said, "");
  const operator = await signInWith(server, { adminToken });
  assert.equal((await shownTo({ Cookie: operator.cookie })).said, "");
  // A person of another shop.
  await askAdmin(server, "PUT", "/shops/other", { name: "Other", currencyCode: "EUR" });
  const invited = await askAdmin(server, "POST", "/shops/other/invitations", { name: "Bo", role: "owner" });
  const bo = await signInWith(server, { invitation: new URL(invited.textAt("data", "url")).hash.slice(1) });
  assert.equal((await shownTo({ Cookie: bo.cookie })).said, "");

  await fromPage(server, "DELETE", "/session", { cookie });
  assert.equal((await shownTo({ Cookie: cookie })).said, "");
});

test("no address of a storefront ends the policy or adds to it, and none without TLS is in it", () => {
  assert.deepEqual(pictureOrigins(medusaAt("https://shop.example:9000/")), ["https://shop.example:9000"]);
  for (const url of [
    "http://shop.example",
    "https://[::1]",
    "https://a;script-src",
    "https://a,b",
    "https://a'b",
    "https://*",
    'https://a"b',
    "https://a\r\nX-Evil: 1",
    "data:image/png",
    "javascript:alert(1)",
    "shop.example",
    "",
  ])
    assert.deepEqual(pictureOrigins(medusaAt(url)), [], url);
  for (const kind of ["none", "sandbox"] as const) assert.deepEqual(pictureOrigins({ kind }), []);
});

test("an installation without the built console says how to get it", async () => {
  const pages = createConsolePages(() => Promise.resolve(null));
  await using server = await startServer({ surfaces: [{ path: "/console", handle: pages }] });
  const page = await server.get("/console", ask);
  assert.equal(page.status, 200);
  assert.match(page.text, /npm run build:console/);
});
