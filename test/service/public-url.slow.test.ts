/** Links begin with the service's public address (`OPENPO_PUBLIC_URL`), whoever asks for them and wherever (D336). */
// Only on sqlite: its subject is how requests come in, not where their data are.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { runCommand, serveProgram, withDirectory } from "../support/process.ts";

const publicUrl = "https://openpo.example.com";
const token = "an-admin-token-for-tests";
const orders = "/admin/v1/shops/demo/purchase-orders";

/** The demo's first order that was sent. */
const orderId = "po_demo_24";

test("a server with a public address puts it before every link, whatever it is asked by; commands beside it need not be told", async () => {
  await withDirectory(async (directory) => {
    const store = { OPENPO_DATA_DIR: path.join(directory, "data"), OPENPO_ADMIN_TOKEN: token };
    const program = await serveProgram({ ...store, OPENPO_PUBLIC_URL: `${publicUrl}/` });
    assert.match(program.stdout, /^Others reach it at https:\/\/openpo\.example\.com$/m);
    assert.ok(program.word("console").startsWith(`${publicUrl}/console#opi_demo_`), program.stdout);
    const forwarded = { Host: "elsewhere.example", "X-Forwarded-Proto": "http" };
    const link = await program.ask("POST", `${orders}/${orderId}/supplier-links`, token, {}, forwarded);
    const url = String(link.at("data", "url"));
    assert.ok(url.startsWith(`${publicUrl}/s/opl_demo_`), link.text);
    assert.equal((await fetch(url.replace(publicUrl, program.url))).status, 200);
    const invited = { name: "Jo", role: "viewer" };
    const invitation = await program.ask("POST", "/admin/v1/shops/demo/invitations", token, invited, forwarded);
    assert.ok(String(invitation.at("data", "url")).startsWith(`${publicUrl}/console#opi_demo_`), invitation.text);
    // With a database the command works on it and reads its own environment; on a directory the server has recorded it.
    const isOnDatabase = program.stdout.includes("postgres:");
    const env = { ...store, ...(isOnDatabase ? { OPENPO_PUBLIC_URL: publicUrl } : {}) };
    const made = await runCommand(["order", "link", orderId, "--shop", "demo"], env);
    assert.equal(made.code, 0, made.stderr);
    assert.ok(made.stdout.startsWith(`${publicUrl}/s/opl_demo_`), made.stdout);
    assert.equal((await fetch(made.stdout.trim().replace(publicUrl, program.url))).status, 200);
    await program.end("SIGTERM");
    const beside = ["console", "invite", "--shop", "demo", "--name", "Jo"];
    const direct = await runCommand(beside, { ...store, OPENPO_PUBLIC_URL: publicUrl });
    assert.ok(direct.stdout.startsWith(`${publicUrl}/console#opi_demo_`), direct.stderr);
    const guessed = await runCommand(["order", "link", orderId, "--shop", "demo"], store);
    assert.equal(guessed.code, 2, guessed.stdout);
    assert.match(guessed.stderr, /service with --url, or start the service with OPENPO_PUBLIC_URL/);
  });
});
