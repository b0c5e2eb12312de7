/** The console's page and files as they are served: what may be cached, and what the page may load. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { createConsolePages } from "../../src/http/console-pages.ts";
import { startServer } from "../support/server.ts";

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
  const sizes: Record<string, number> = {};
  for (const file of files) {
    assert.match(file, /-[0-9A-Z]{8}\.(?:js|css|woff2)$/);
    const answered = await server.get(file, ask);
    assert.equal(answered.status, 200);
    assert.match(String(answered.headers["cache-control"]), /immutable/);
    sizes[path.extname(file)] = gzipSync(answered.text).length;
  }
  // Budgets of the first load, compressed.
  assert.ok((sizes[".js"] ?? Infinity) <= 40_000 && (sizes[".css"] ?? Infinity) <= 15_000, JSON.stringify(sizes));
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
  assert.ok(!/https?:|<style|style=|<script(?![^>]*src=)/.test(page.text), page.text);
});

test("an installation without the built console says how to get it", async () => {
  const pages = createConsolePages(() => Promise.resolve(null));
  await using server = await startServer({ surfaces: [{ path: "/console", handle: pages }] });
  const page = await server.get("/console", ask);
  assert.equal(page.status, 200);
  assert.match(page.text, /npm run build:console/);
});
