/** The names of test files say what they cost, and the runner selects them by it (test/support/costs.ts). */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { costOf, faultOfWord, isSelected, selectionOf } from "../support/costs.ts";
import { placeOf } from "../support/engines.ts";

const files = globSync("test/**/*.test.ts", { exclude: ["test/node_modules/**"] }).sort();

test("a test file has a folder of its noun, and at most one cost, which the runner knows", () => {
  const names = /^test\/(?:[a-z-]+\/){1,3}[a-z0-9-]+(?:\.(?:slow|browser|crash|pg))?\.test\.ts$/;
  assert.deepEqual(
    files.filter((file) => !names.test(file)),
    [],
  );
});

test("a cheap file that needs PostgreSQL says so in its name, and no other one does", () => {
  const faults = files.filter((file) => {
    const { engines } = placeOf(file, (name) => readFileSync(name, "utf8"));
    const needs = engines.length === 1 && engines[0] === "postgres";
    const cost = costOf(file);
    return cost === "pg" ? !needs : cost === null && needs;
  });
  assert.deepEqual(faults, []);
});

const some = [
  "test/forecast/rows.test.ts",
  "test/forecast/memo.slow.test.ts",
  "test/store/plans.pg.test.ts",
  "test/store/kills.crash.test.ts",
  "test/console/list.browser.test.ts",
];
const selected = (text: string, onPostgres = false): string =>
  some
    .filter((file) => isSelected(file, selectionOf(text === "" ? [] : text.split(" ")), onPostgres))
    .map((file) => file.replace(/^.*\/(.+)\.test\.ts$/, "$1"))
    .join(" ");

test("without a cost in the arguments only cheap files are selected, and on PostgreSQL those that need it", () => {
  assert.equal(selected(""), "rows");
  assert.equal(selected("", true), "rows plans.pg");
  assert.equal(selected("forecast"), "rows");
  assert.equal(selected("store", true), "plans.pg");
});

test("costly files are selected by option, by --all, and by a word that has their cost", () => {
  assert.equal(selected("--slow --browser"), "memo.slow list.browser");
  assert.equal(selected("--crash"), "kills.crash");
  assert.equal(selected("forecast --all"), "rows memo.slow");
  assert.equal(selected("store --crash"), "kills.crash");
  assert.equal(selected("memo.slow"), "memo.slow");
  assert.equal(selected("test/store/plans.pg.test.ts rows"), "rows plans.pg");
  assert.throws(() => selected("--quick"), /Options/);
});

test("a word that selects nothing is a fault, which names the files that it would select with their cost", () => {
  assert.match(faultOfWord("forecst", some), /No test file has "forecst"/);
  assert.match(faultOfWord("store/kills", some), /costly: write test\/store\/kills\.crash\.test\.ts, or add --all/);
});
