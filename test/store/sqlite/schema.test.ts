import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { loadSchema, migrate, sqliteStatements } from "../../../src/store/sqlite/schema.ts";
import { peopleAfter, peopleBefore } from "../../support/shops/people-before.ts";

async function withMigrations(files: Record<string, string>, body: (directory: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "openpo-schema-"));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    body(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("the shared text becomes strict tables with SQLite's types", () => {
  const text = `-- A table; with "bigint" in a comment.
    create table t (
      a text not null, -- its key
      n bigint,
      x double  precision,
      primary key (a)
    );
    create unique index t_by_n on t (n, a);`;
  const statements = sqliteStatements(text);
  const database = new DatabaseSync(":memory:");
  for (const statement of statements) database.exec(statement);
  assert.deepEqual(
    database
      .prepare("pragma table_info(t)")
      .all()
      .map((column) => [column["name"], column["type"]]),
    [
      ["a", "TEXT"],
      ["n", "INTEGER"],
      ["x", "REAL"],
    ],
  );
  assert.throws(() => database.exec("insert into t (a, n) values ('a', 'not a number')"), /cannot store TEXT/);
  assert.equal(statements.length, 2);
  database.close();
});

test("migrations run once, in order, and a failing one leaves the previous version", async () => {
  const files = {
    "0001.sql": "create table one (a bigint not null);",
    "0002.sql": "insert into one (a) values (1); create table two (a bigint not null);",
  };
  const database = new DatabaseSync(":memory:");
  const version = (): unknown => database.prepare("pragma user_version").get()?.["user_version"];
  const ones = (): unknown => database.prepare("select count(*) as n from one").get()?.["n"];
  await withMigrations(files, (directory) => {
    assert.equal(migrate(database, loadSchema(directory)), true);
    assert.equal(migrate(database, loadSchema(directory)), false);
    assert.deepEqual([version(), ones()], [2, 1]);
  });
  await withMigrations({ ...files, "0003.sql": "delete from one; create table two (a bigint);" }, (directory) => {
    assert.throws(() => migrate(database, loadSchema(directory)), /already exists/);
    assert.deepEqual([version(), ones()], [2, 1], "nothing of the third is kept");
  });
  await withMigrations({ "0001.sql": "create table one (a bigint);" }, (directory) => {
    assert.throws(() => migrate(database, loadSchema(directory)), { code: "DO_UNAVAILABLE" });
  });
  database.close();
});

/** Everything that a file holds: its tables, indexes and version. */
const heldBy = (database: DatabaseSync): unknown => [
  database.prepare("pragma user_version").get(),
  database.prepare("select type, name, tbl_name, sql from sqlite_schema order by name").all(),
];

test("a later new file is made in one step and is as the migrations make it, also after one that failed", async () => {
  for (const schema of [loadSchema("src/shop/schema"), loadSchema("src/storefront/sandbox/schema")]) {
    const [byMigrations, first, later] = [0, 1, 2].map(() => new DatabaseSync(":memory:"));
    assert.ok(byMigrations !== undefined && first !== undefined && later !== undefined);
    // Not new when the last one runs, so that nothing is learned.
    schema.forEach((_, index) => migrate(byMigrations, schema.slice(0, index + 1)));
    for (const database of [first, later]) {
      assert.equal(migrate(database, schema), true);
      assert.deepEqual(heldBy(database), heldBy(byMigrations));
      assert.equal(migrate(database, schema), false);
    }
    const before = new DatabaseSync(":memory:");
    before.exec("create table z (a)");
    const other = [["create table z (a)"], ["create index z_by_a on z (a)"]];
    migrate(new DatabaseSync(":memory:"), other);
    assert.throws(() => migrate(before, other), /already exists/);
  }
});

test("rows that migrations put into a new file are in every new file", async () => {
  const files = { "0001.sql": "create table one (a bigint not null); insert into one (a) values (7);" };
  await withMigrations(files, (directory) => {
    for (const database of [new DatabaseSync(":memory:"), new DatabaseSync(":memory:")]) {
      migrate(database, loadSchema(directory));
      assert.deepEqual({ ...database.prepare("select a from one").get() }, { a: 7 });
    }
  });
});

test("a gap in the numbers, or no migration at all, is refused at the start", async () => {
  await withMigrations({ "0001.sql": "", "0003.sql": "" }, (directory) => {
    assert.throws(() => loadSchema(directory), /expected migration 0002\.sql, found 0003\.sql/);
  });
  await withMigrations({ "readme.txt": "" }, (directory) => {
    assert.throws(() => loadSchema(directory), /No migrations/);
  });
});

test("of the people whom a key has made, an upgrade leaves the one that was seen last (C49)", () => {
  const schema = loadSchema(join(import.meta.dirname, "../../../src/shop/schema"));
  const database = new DatabaseSync(":memory:");
  migrate(database, schema.slice(0, 28));
  for (const sql of peopleBefore) database.exec(sql);
  migrate(database, schema);
  for (const [sql, rows] of Object.entries(peopleAfter))
    assert.deepEqual(
      database
        .prepare(sql)
        .all()
        .map((row) => Object.values(row)),
      rows,
      sql,
    );
  database.close();
});

test("a migration may use functions of the program", async () => {
  const files = {
    "0001.sql": `create table one (name text, folded text);
      insert into one (name) values ('Łódź
["Früh"]');
      insert into one (name) values (null);
      update one set folded = fold_with_list(name);`,
  };
  const database = new DatabaseSync(":memory:");
  await withMigrations(files, (directory) => {
    migrate(database, loadSchema(directory));
    assert.deepEqual(
      database
        .prepare("select folded from one order by folded")
        .all()
        .map((row) => row["folded"]),
      [null, "lodz\nfruh"],
    );
  });
  database.close();
});
