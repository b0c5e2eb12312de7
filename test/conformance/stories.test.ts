/**
 * Runs the instructions of the documents against the program with its demo shop: every curl command of the README in order, and the
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

test("every curl command of the README works, in order", async () => {
  const readme = await readFile(path.join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const scripts = blocks.filter((block) => /^curl|first-order\.sh/m.test(block));
  assert.ok(scripts.length >= 3, `${scripts.length} scripts with curl`);
  await withDemo(async (program, directory) => {
    await symlink(path.join(root, "examples"), path.join(directory, "examples"));
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
      const typed = script
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
    assert.match(await readFile(path.join(directory, "records.ndjson"), "utf8"), /"locationId":"new"/);
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
