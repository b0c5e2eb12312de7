/** The program on a Node that is too old says what it needs, whatever that Node cannot load. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const root = path.join(import.meta.dirname, "../..");
const main = path.join(root, "src/main.ts");
const message =
  /^OpenPO needs Node 24\.10 or later; this is v[\d.]+\.\nIn a checkout npm ci brings one: use npm start, or npm exec -- node src\/main\.ts COMMAND\.\n$/;

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

const run = (node: string, args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(node, args, { env: { PATH: process.env["PATH"] } }, (error, _stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stderr }),
    );
  });

test("with a version before the one that is needed, the program says so before it loads anything else", async () => {
  // An older Node takes a file by its ending, after following links. It knows .cjs, and not .ts.
  assert.equal(path.extname(realpathSync(main)), ".cjs");
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-old-"));
  try {
    for (const version of ["20.20.2", "24.9.0"]) {
      const pretence = path.join(directory, "pretence.cjs");
      await writeFile(
        pretence,
        `Object.defineProperty(process.versions, "node", { value: "${version}" });\n` +
          "process.getBuiltinModule = undefined;\n",
      );
      const { code, stderr } = await run(process.execPath, ["--require", pretence, main, "--version"]);
      assert.match(stderr, message);
      assert.equal(code, 1);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("each older Node that is installed on this machine says so too", async (context) => {
  const ran: string[] = [];
  for (const node of new Set(
    [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/bin"].map((each) => path.join(each, "node")),
  )) {
    if (!existsSync(node)) continue;
    const { stdout } = await promisify(execFile)(node, ["--version"]);
    const [major = 0] = stdout.slice(1).split(".").map(Number);
    if (major >= 24) continue;
    const { code, stderr } = await run(node, [main, "shop", "list"]);
    assert.match(stderr, message, stdout);
    assert.equal(code, 1);
    ran.push(stdout.trim());
  }
  if (ran.length === 0) context.skip("no older Node is installed");
});
