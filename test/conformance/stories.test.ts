/**
 * Runs the instructions of the documents against the program with its demo shop: every curl command of README.md and docs/suppliers.md in order, and the
 * Arazzo description of an order's life cycle, with an independent runner.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { onPostgres } from "../support/store.ts";
import { toolPath } from "../support/programs/tools.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");

/** Runs `use` with the program and its demo shop. The data is in `data` below the directory, as in the README. */
const withDemo = (use: (program: RunningProgram, directory: string) => Promise<void>): Promise<void> =>
  withDirectory(async (directory) => {
    const program = await serveProgram({ OPENPO_DATA_DIR: path.join(directory, "data") });
    await use(program, directory);
    assert.equal((await program.end("SIGTERM")).code, 0);
  });

test("every command of the README to a server works, in order", async () => {
  const readme = await readFile(path.join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const scripts = blocks.filter((block) => /^curl|^openpo /m.test(block));
  assert.equal(scripts.length, 3);
  await withDemo(async (program, directory) => {
    for (const name of ["examples", "node_modules", "src"])
      await symlink(path.join(root, name), path.join(directory, name));
    await writeFile(path.join(directory, "records.ndjson"), '{"type":"location","locationId":"new","name":"New"}\n');
    if (onPostgres) {
      // On PostgreSQL the service stores no token, so the test puts it where the README reads it.
      await mkdir(path.join(directory, "data"));
      await writeFile(path.join(directory, "data/admin-token"), program.adminToken);
    }
    // A failing command is an error. Variables stay set from one block to the next, as in a terminal.
    let terminal = 'set -euo pipefail\ncurl() { command curl -sS --fail-with-body "$@"; }\n';
    terminal += `ADMIN_TOKEN=${program.adminToken}\n`;
    let orderId = "";
    for (const script of scripts) {
      // Among nodes the command is told which server to ask.
      const typed = (onPostgres ? script.replaceAll(/^openpo .*\n/gm, "") : script)
        .replaceAll("http://127.0.0.1:8080", program.url)
        .replaceAll("opo_demo_…", program.word("write key"))
        .replaceAll("po_…", orderId);
      assert.ok(!typed.includes("…"), `a placeholder was not replaced: ${typed}`);
      const { stdout } = await run("bash", ["-c", terminal + typed], { cwd: directory });
      terminal += [...typed.matchAll(/^\w+=\S+$/gm)].map(([assignment]) => `${assignment}\n`).join("");
      orderId = /"purchaseOrderId":"(po_\w+)"[^{}]*?"status":"Draft"/.exec(stdout)?.[1] ?? orderId;
    }
    assert.notEqual(orderId, "");
    const order = await program.ask("GET", `/api/v1/purchase-orders/${orderId}`, program.word("read key"));
    assert.equal(order.at("data", "purchaseOrder", "status"), "Sent");
    if (onPostgres) return;
    const { text } = await program.ask("GET", "/admin/v1/shops/tideline/export", program.adminToken);
    assert.match(text, /"locationId":"new"/);
  });
});

test("every curl command of docs/suppliers.md works, in order: a link, the supplier's answer to it, and its acceptance", async () => {
  const page = await readFile(path.join(root, "docs/suppliers.md"), "utf8");
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block.replaceAll(/\\\n\s*/g, ""));
  const commands = blocks.flatMap((block) => block.split("\n").filter((line) => line.startsWith("curl")));
  assert.equal(commands.length, 4);
  await withDemo(async (program) => {
    const writeKey = program.word("write key");
    const made = await program.ask("POST", "/api/v1/purchase-orders", writeKey, {
      supplierId: "sup_roastery",
      locationId: "loc_warehouse",
      lineItems: ["var_011", "var_012"].map((variantId) => ({ variantId, quantityOrdered: 24, unitCost: 4 })),
    });
    const order = `/api/v1/purchase-orders/${String(made.at("data", "purchaseOrder", "purchaseOrderId"))}`;
    assert.ok((await program.ask("POST", `${order}/status`, writeKey, { status: "Sent" })).status < 300);
    const lineIds = [0, 1].map((at) => String(made.at("data", "purchaseOrder", "lineItems", at, "poLineItemId")));
    const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    let told = "";
    for (const command of commands) {
      const typed = command
        .replaceAll("https://openpo.example.com", program.url)
        .replaceAll("opl_my-shop_…", () => /opl_demo_\w+/.exec(told)?.[0] ?? "")
        .replaceAll("my-shop", "demo")
        .replaceAll("spr_…", () => /spr_\w+/.exec(told)?.[0] ?? "")
        .replaceAll(/\bpo_1\b/g, path.basename(order))
        .replaceAll(/\bpol_([12])\b/g, (_, which: string) => lineIds[Number(which) - 1] ?? "")
        // A day that is over is refused.
        .replaceAll("2027-01-15", inAMonth)
        .replace("curl", "curl -sS --fail-with-body");
      assert.ok(!typed.includes("…"), `a placeholder was not replaced: ${typed}`);
      const env = { ...process.env, OPENPO_ADMIN_TOKEN: program.adminToken };
      told += (await run("bash", ["-euo", "pipefail", "-c", typed], { env })).stdout;
    }
    const after = await program.ask("GET", order, writeKey);
    assert.equal(after.at("data", "purchaseOrder", "status"), "Partially Confirmed");
    assert.equal(after.at("data", "purchaseOrder", "lineItems", 0, "quantityConfirmed"), 8);
  });
});

test("every step of the Arazzo description of an order's life cycle succeeds", async () => {
  await withDemo(async (program) => {
    const { stdout } = await run(
      process.execPath,
      [
        toolPath("@redocly/cli/bin/cli.js"),
        "respect",
        "docs/lifecycle.arazzo.yaml",
        `--server=openpo=${program.url}`,
        `--input=apiKey=${program.word("write key")}`,
      ],
      {
        cwd: root,
        env: { PATH: process.env["PATH"], REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      },
    );
    assert.match(stdout, /Workflows: 1 passed, 1 total/);
    assert.match(stdout, /Steps: 9 passed, 9 total/);
  });
});
