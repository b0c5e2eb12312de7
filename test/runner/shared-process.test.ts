import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { reasonForOwnProcess } from "../support/engines.ts";

const heading = 'import assert from "node:assert/strict";\nimport { after, test } from "node:test";\n';
const inTurns =
  "const inTurns = (turns, then) => void setImmediate(() => (turns === 0 ? then() : inTurns(turns - 1, then)));\n";
const passes = 'test("passes", () => assert.ok(true));\n';

/** Runs files of these texts as `test/run.ts` does without a word. @returns the end of its output, from the failures on. */
async function ran(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-runner-"));
  try {
    await mkdir(path.join(directory, "test"));
    for (const [name, text] of Object.entries(files))
      await writeFile(path.join(directory, `test/${name}.test.ts`), text);
    const { NODE_TEST_CONTEXT: _, OPENPO_TEST_ENGINE: _engine, ...env } = process.env;
    const args = [path.join(import.meta.dirname, "../run.ts"), "test/"];
    const ended = await promisify(execFile)(process.execPath, args, { cwd: directory, env }).catch(
      (error: unknown) => error,
    );
    assert.ok(
      typeof ended === "object" && ended !== null && "stdout" in ended && typeof ended.stdout === "string",
      String(ended),
    );
    const lines = ended.stdout.trim().split("\n");
    return lines.slice(lines.findLastIndex((line) => line.startsWith("The tests that failed")) + 1).slice(-8);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("files that share processes: every test counts, also those in suites", async () => {
  const files = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, heading + passes]));
  const inSuite =
    'import { suite } from "node:test";\nsuite("of two", () => { test("in it", () => assert.ok(true)); });\n';
  const lines = await ran({
    ...files,
    f: heading + inSuite + passes,
    own: `// Own process: it is tried.\n${heading}${passes}`,
  });
  assert.equal(lines.at(-1), "8 passed, 0 failed");
});

test("a file that cannot be loaded, one that changes its surroundings, one that throws when it has ended and one that leaves a server fail, and the others run", async () => {
  const lines = await ran({
    a: heading + passes,
    broken: 'import "nowhere";\n',
    changing: `${heading}${passes}process.env["OPENPO_LEFT"] = "1";\nafter(() => {});\n`,
    failing: `${heading}test("fails", () => assert.equal(1, 2));\n`,
    last: heading + passes,
    late: `${heading}${inTurns}test("ends too early", () => { assert.ok(true); inTurns(99, () => { throw new Error("late"); }); });\n`,
    serving: `import { createServer } from "node:net";\n${heading}${inTurns}const server = createServer();\ntest("listens", () => new Promise((resolve) => { assert.ok(true); server.listen(0, resolve); }));\nafter(() => inTurns(99, () => server.close()));\n`,
  });
  assert.equal(lines.at(-1), "5 passed, 5 failed", lines.join("\n"));
  for (const said of [
    /broken.*Cannot find package/,
    /changing.*surroundings/,
    /fails \(test\/failing\.test\.ts\)/,
    /late\.test\.ts.*asynchronous activity/,
    /serving.*leaves servers or programs/,
  ])
    assert.ok(
      lines.some((line) => said.test(line)),
      `${said} in ${lines.join("\n")}`,
    );
});

test("a file whose process ends before it is a failure by name", async () => {
  const lines = await ran({ a: heading + passes, ending: `${heading}test("ends", () => process.exit(0));\n` });
  assert.ok(
    lines.some((line) => /ending\.test\.ts did not run to its end/.test(line)),
    lines.join("\n"),
  );
});

test("a file says why it has a process of its own", () => {
  const reason = "what others load is in its figures.";
  assert.equal(reasonForOwnProcess(`/**\n * Counts.\n *\n * Own process: ${reason}\n */\nimport "x";`), reason);
  assert.equal(reasonForOwnProcess('test("Own process: no", () => {});'), null);
});
