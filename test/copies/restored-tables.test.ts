/**
 * What becomes of each table when one shop is restored (D383): a table that a migration adds is restored, kept or forgotten, and somebody has decided which.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { forgottenTables, keptTables, restoredTables } from "../../src/shop/restore.ts";
import { loadMigrations, statementsOf } from "../../src/store/migrations.ts";

test("every table of a shop is either restored, kept or forgotten", () => {
  const statements = loadMigrations(path.join(import.meta.dirname, "../../src/shop/schema")).flatMap(statementsOf);
  const named = (pattern: RegExp): readonly string[] =>
    statements.flatMap((statement) => pattern.exec(statement)?.[1] ?? []);
  const dropped = named(/^drop table (\w+)/);
  const tables = named(/^create table (\w+)/).filter((table) => !dropped.includes(table));
  assert.ok(tables.length > 60);
  assert.deepEqual([...restoredTables, ...keptTables, ...forgottenTables].sort(), tables.toSorted());
});

test("every table with a secret is kept: nobody comes in again by a restore", () => {
  const withSecrets = loadMigrations(path.join(import.meta.dirname, "../../src/shop/schema"))
    .flatMap(statementsOf)
    .flatMap((statement) => (/\bsecret/.test(statement) ? (/^create table (\w+)/.exec(statement)?.[1] ?? []) : []));
  assert.ok(withSecrets.includes("api_key") && withSecrets.includes("supplier_link"));
  assert.deepEqual(
    withSecrets.filter((table) => !keptTables.includes(table)),
    [],
  );
});
