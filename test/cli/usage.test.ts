/** Help, version and wrong usage of the command `openpo`, which need no store. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { helpOf } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/commands.ts";
import { serve } from "../../src/cli/serve.ts";
import { shownOptions } from "../../src/service/options.ts";
import { runWithoutStore } from "../support/programs/program.ts";

test("arguments: help and version are answered, anything else is refused with a hint", async () => {
  const help = await runWithoutStore(["--help"]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /Usage: openpo/);
  const manifest: { version: string } = JSON.parse(
    await readFile(path.join(import.meta.dirname, "../../package.json"), "utf8"),
  );
  assert.equal((await runWithoutStore(["--version"])).stdout.trim(), manifest.version);
  for (const args of [["fly"], ["serve", "now"]]) {
    const refused = await runWithoutStore(args);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^openpo: unknown (?:command|argument) \w+\.\n {2}See openpo (?:serve )?--help\.$/m);
  }
});

test("both helps list every option; a start refuses a variable that is gone, and names an unknown one", async () => {
  for (const args of [["--help"], ["serve", "--help"]]) {
    const { stdout } = await runWithoutStore(args);
    for (const { name, meaning } of shownOptions)
      assert.ok(stdout.includes(`${name} `) && stdout.includes(meaning), name);
  }
  const gone = await runWithoutStore(["serve"], { OPENPO_UNREAD_MB: "16", OPENPO_LOGLEVEL: "warn" });
  assert.equal(gone.code, 1, gone.stderr);
  assert.match(gone.stderr, /OPENPO_LOGLEVEL is no variable of OpenPO.*the nearest is OPENPO_LOG_LEVEL\./);
  assert.match(gone.stderr, /OPENPO_UNREAD_MB: is gone: OPENPO_MEMORY_MB sets it/);
});

test("the help of a group of commands is shown in each way of asking for it", async () => {
  const groups = [...new Set(commands.filter(({ name }) => name.includes(" ")).map(({ name }) => name.split(" ")[0]))];
  const kept = ["supplier", "variant", "location"];
  assert.deepEqual(groups, ["shop", "storefront", "key", "console", ...kept, "order", "approval", "audit", "webhook"]);
  for (const group of groups.filter((each) => each !== undefined))
    for (const args of [
      [group, "--help"],
      [group, "-h"],
      ["help", group],
    ]) {
      const { code, stdout, stderr } = await runWithoutStore(args);
      assert.equal(code, 0, stderr);
      assert.equal(stderr, "");
      for (const { name, summary } of commands.filter((each) => each.name.startsWith(`${group} `)))
        assert.match(stdout, new RegExp(`^ {2}${name} +${summary}$`, "m"));
    }
  const one = await runWithoutStore(["help", "key", "list"]);
  assert.equal(one.stdout, (await runWithoutStore(["key", "list", "--help"])).stdout);
  assert.match(one.stdout, /^openpo key list: /);
  assert.equal((await runWithoutStore(["key", "list", "--wrong", "--help"])).code, 0);
  assert.equal((await runWithoutStore(["help", "fly"])).code, 2);
});

test("wrong usage ends with 2 and the way to the help", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["fly"], /unknown command fly\.\n {2}See openpo --help\./],
    [["--fly"], /unknown option --fly\./],
    [["shop"], /openpo shop needs one of create, list, delete\.\n {2}See openpo shop --help\./],
    [["shop", "create"], /SHOP_ID is missing/],
    [["shop", "create", "a", "b"], /unknown argument b\.\n {2}See openpo shop create --help\./],
    [["shop", "create", "a", "--setting", "x"], /--setting x: must be NAME=VALUE/],
    [["shop", "create", "a", "--rest-api", "maybe"], /--rest-api must be yes or no/],
    [["shop", "list", "--fast"], /Unknown option '--fast'\.\n {2}See openpo shop list --help\./],
    [["shop", "list", "--url", "nowhere"], /--url: nowhere is not an address/],
    [["shop", "delete", "a"], /--confirm is missing/],
    [["key", "list"], /--shop is missing/],
    [["key", "create", "--shop", "a"], /--name is missing/],
    [["audit", "--shop", "a", "--limit", "many"], /--limit must be a whole number/],
    [["import", "--shop", "a"], /FILE is missing/],
    [["webhook", "create", "--shop", "a"], /RECEIVER_URL is missing/],
    [["webhook", "replay", "--shop", "a", "we_1", "--after", "x"], /--after must be a whole number/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runWithoutStore(args);
    assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, message);
    assert.equal(stdout, "");
  }
});

test("every command has a help that names its options", async () => {
  const all = [serve, ...commands];
  const { stdout } = await runWithoutStore(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/gm)].map(([, name]) => name);
  assert.deepEqual(
    names,
    all.map(({ name }) => name),
  );
  for (const command of all) {
    const { name, options } = command;
    const help = helpOf(command);
    assert.match(help, new RegExp(`^openpo ${name}: .+\\n\\nUsage: openpo ${name} `));
    for (const option of ["json", ...Object.keys(options)]) assert.match(help, new RegExp(`^ {2}--${option} `, "m"));
  }
  for (const command of all.filter(({ name }) => name === "serve" || name === "shop create")) {
    const shown = await runWithoutStore([...command.name.split(" "), "--help"]);
    assert.equal(shown.code, 0);
    assert.equal(shown.stdout.trimEnd(), helpOf(command).trimEnd());
  }
});
