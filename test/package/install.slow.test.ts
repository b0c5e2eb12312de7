/**
 * The packages as users get them: packed, installed in an empty folder with what they depend on, and used.
 *
 * npm takes the dependencies from its cache or the registry.
 *
 * Runs alone: it builds `dist` anew, from which the programs of other files read the console.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");

async function pack(folder: string, destination: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", `./${folder}`, "--pack-destination", destination, "--json"], {
    cwd: root,
    maxBuffer: 16 * 2 ** 20,
  });
  // A build may print before.
  const [{ filename }]: [{ filename: string }] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  return `./${filename}`;
}

/** The first output of a started program that matches. */
async function said(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = "";
  for (;;) {
    const found = pattern.exec(text);
    if (found !== null) return found;
    assert.ok(child.stdout !== null);
    const [piece]: unknown[] = await once(child.stdout, "data");
    text += String(piece);
  }
}

const useOfClient = `
import { createClient } from "openpo-client";
const openpo = createClient({ baseUrl: process.argv[2], apiKey: process.argv[3] });
const created = await openpo.call("purchase_order_create", { poName: "Packed" });
console.log(created.ok ? created.data.purchaseOrder.status : created.error.message);
`;

test("the packed program starts, its command finds it, and the packed client creates an order on it", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-package-"));
  let server: ChildProcess | null = null;
  try {
    const packages = [await pack("", directory), await pack("client", directory)];
    await writeFile(path.join(directory, "package.json"), '{ "type": "module", "private": true }');
    await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], { cwd: directory });
    for (const left of ["node_modules/node", "node_modules/openpo/src", "node_modules/openpo/test"])
      assert.ok(!existsSync(path.join(directory, left)), left);

    const openpo = path.join(directory, "node_modules/openpo/dist/main.js");
    const env = { PATH: process.env["PATH"], OPENPO_LOG_LEVEL: "warn" };
    server = spawn(process.execPath, [openpo], {
      cwd: directory,
      env: { ...env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [, url = "", key = ""] = await said(server, /serves at (\S+)[\s\S]*write key +(\S+)\n/);
    const page = await fetch(`${url}/docs/reference.js`);
    assert.equal(page.status, 200);
    assert.ok((await page.text()).length > 100_000);

    const made = await run(path.join(directory, "node_modules/.bin/openpo"), ["shop", "create", "acme"], {
      cwd: directory,
      env,
    });
    assert.match(made.stderr, new RegExp(`^Asking the server at ${url}, which runs on \\./data\\.$`, "m"));
    await writeFile(path.join(directory, "use.js"), useOfClient);
    const used = await run(process.execPath, ["use.js", url, key], { cwd: directory });
    assert.equal(used.stdout.trim(), "Draft");

    // The fonts of documents are in the package, and so is what draws them.
    const listed = await fetch(`${url}/api/v1/purchase-orders?limit=1`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const [, orderId = ""] = /"purchaseOrderId":"([^"]+)"/.exec(await listed.text()) ?? [];
    const pdf = path.join(directory, "order.pdf");
    await run(
      path.join(directory, "node_modules/.bin/openpo"),
      ["order", "document", orderId, "--shop", "demo", "--output", pdf],
      { cwd: directory, env },
    );
    const drawn = await readFile(pdf, "latin1");
    assert.match(drawn, /^%PDF-/);
    assert.match(drawn, /\+NotoSans/);
    assert.ok(existsSync(path.join(directory, "node_modules/openpo/dist/documents/fonts/OFL.txt")));

    server.kill("SIGTERM");
    const [code]: unknown[] = await once(server, "exit");
    assert.equal(code, 0);
  } finally {
    server?.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  }
});
