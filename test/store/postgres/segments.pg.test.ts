/** What is sent to PostgreSQL in one piece: rows, failures in the middle, and the names of prepared statements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Answer,
  beginRead,
  beginWrite,
  commit,
  type PostgresConnection,
  type Query,
  rollback,
} from "../../../src/store/postgres/connection.ts";
import { freshDatabase, openTestPool } from "../../support/postgres/postgres.ts";
import { until } from "../../support/until.ts";

async function withConnection(use: (connection: PostgresConnection) => Promise<void>): Promise<void> {
  const database = await freshDatabase();
  const pool = await openTestPool(database.url, 1);
  try {
    await pool.using(async (connection) => {
      await connection.run("create temporary table note (id bigint primary key, said text)");
      await use(connection);
    });
  } finally {
    await pool.close();
    await database.drop();
  }
}

const asked = (text: string, values: Query["values"] = [], name?: string): Query => ({
  text,
  values,
  writes: false,
  ...(name === undefined ? {} : { name }),
});

const insert = (id: number, said: string | null = null): Query =>
  asked("insert into note (id, said) values ($1, $2)", [id, said], "insert");

const fails: Query = asked("select 1 / $1::bigint as n", [0], "divide");

const ids = async (connection: PostgresConnection): Promise<readonly number[]> =>
  (await connection.run<{ id: number }>("select id from note order by id")).map(({ id }) => id);

const said = (answers: readonly Answer[]): readonly unknown[] =>
  answers.map((answer) => (answer.ok ? answer.command : "failed"));

test("every kind of value comes back as it was sent, of any length, also when a name is used again in the same piece", () =>
  withConnection(async (connection) => {
    const texts = ["", "ÄÖ€🧾\n", "x".repeat(200_000), null];
    const echo = asked(
      "select $1::text as text, $2::bigint as whole, $3::double precision as part, $4::bigint as none",
    );
    for (let turn = 0; turn < 3; turn += 1) {
      const queries = texts.map((text) => ({
        ...echo,
        values: [text, 9_007_199_254_740_991, -0.125, null],
        name: "echo",
      }));
      const answers = await connection.rowsOf([beginRead, ...queries, asked("select true as yes"), rollback]);
      const rows = texts.map((text) => [{ text, whole: 9_007_199_254_740_991, part: -0.125, none: null }]);
      assert.deepEqual(answers, [[], ...rows, [{ yes: true }], []]);
    }
  }));

test("what follows a statement that has failed is not run, and its transaction is rolled back", () =>
  withConnection(async (connection) => {
    for (let turn = 0; turn < 2; turn += 1) {
      const answers = await connection.exchange([beginWrite, insert(1), fails, insert(2), commit]);
      assert.deepEqual(said(answers), ["BEGIN", "INSERT", "failed", "failed", "failed"]);
      assert.deepEqual(await ids(connection), []);
    }
    assert.deepEqual(said(await connection.exchange([beginWrite, insert(3), commit])), ["BEGIN", "INSERT", "COMMIT"]);
    assert.deepEqual(await ids(connection), [3]);
    assert.equal(connection.lost, false);
  }));

test("a statement with more parameters than PostgreSQL counts fails by itself, and nothing of it is sent with what comes next", () =>
  withConnection(async (connection) => {
    const paramsMax = 65_535;
    const counted = (count: number): Query =>
      asked(
        `select array_length(array[${Array.from({ length: count }, (_, index) => `$${index + 1}`).join()}]::text[], 1) as n`,
        Array.from({ length: count }, () => ""),
      );
    assert.deepEqual(await connection.rowsOf([counted(paramsMax)]), [[{ n: paramsMax }]]);
    const [inserted, refused] = await connection.exchange([insert(1), counted(paramsMax + 1)]);
    assert.equal(inserted?.ok, false);
    assert.ok(refused?.ok === false && refused.error instanceof RangeError);
    assert.deepEqual(said(await connection.exchange([insert(2)])), ["INSERT"]);
    assert.deepEqual(await ids(connection), [2]);
    assert.equal(connection.lost, false);
  }));

test("a transaction that is sent behind one that fails is run", () =>
  withConnection(async (connection) => {
    const answers = await connection.exchange([beginWrite, insert(1), fails, commit, beginWrite, insert(2), commit]);
    assert.deepEqual(said(answers), ["BEGIN", "INSERT", "failed", "ROLLBACK", "BEGIN", "INSERT", "COMMIT"]);
    assert.deepEqual(await ids(connection), [2]);
  }));

test("statements outside of a transaction that are sent together are kept together or not at all", () =>
  withConnection(async (connection) => {
    assert.deepEqual(said(await connection.exchange([insert(1), fails])), ["INSERT", "failed"]);
    assert.deepEqual(await ids(connection), []);
    await connection.run("create temporary table later (id bigint unique deferrable initially deferred)");
    const twice = asked("insert into later values (1)");
    assert.deepEqual(said(await connection.exchange([twice, twice])), ["failed", "failed"]);
    assert.deepEqual(await connection.run("select id from later"), []);
  }));

test("a name can be used after its first statement has failed, was left out, or could not be prepared", () =>
  withConnection(async (connection) => {
    const failed = asked("select 1 / $1::bigint as n", [0], "first");
    const leftOut = asked("select $1::bigint as n", [7], "second");
    const notThere = asked("select n from later", [], "third");
    await connection.exchange([beginRead, failed, leftOut, rollback]);
    await connection.exchange([beginRead, notThere, rollback]);
    await connection.run("create temporary table later as select 5 as n");
    for (let turn = 0; turn < 3; turn += 1) {
      const queries = [beginRead, { ...failed, values: [1] }, leftOut, notThere, rollback];
      assert.deepEqual(await connection.rowsOf(queries), [[], [{ n: 1 }], [{ n: 7 }], [{ n: 5 }], []]);
    }
    const prepared = await connection.run<{ name: string }>("select name from pg_prepared_statements");
    assert.ok(
      prepared.some(({ name }) => name === "second"),
      "what was left out once is prepared when it is run",
    );
    // Two transactions in one round trip, of which the first one fails before it prepares what the second has too.
    const both = asked("select $1::bigint as both", [1], "both");
    const answers = await connection.exchange([beginRead, fails, both, commit, beginRead, both, rollback]);
    assert.deepEqual(said(answers), ["BEGIN", "failed", "failed", "ROLLBACK", "BEGIN", "SELECT", "ROLLBACK"]);
    assert.deepEqual((await connection.rowsOf([beginRead, both, rollback]))[1], [{ both: 1 }]);
  }));

test("a look is ended with what is sent next, and at the end of the round of the event loop otherwise", () =>
  withConnection(async (connection) => {
    const begun = asked("select now()::text as at");
    const begunAt = async (): Promise<unknown> => (await connection.rowsOf([begun]))[0];
    const [, first] = await connection.rowsOf([beginRead, begun]);
    assert.deepEqual(await begunAt(), first);
    connection.endLater(rollback);
    assert.notDeepEqual(await begunAt(), first);
    // Asked of the session itself: a pooler in between gives the connection a process id of its own.
    const [own] = await connection.run<{ pid: number }>("select pg_backend_pid() as pid");
    const database = await freshDatabase();
    const other = await openTestPool(database.url, 1);
    try {
      await connection.rowsOf([beginRead, begun]);
      connection.endLater(rollback);
      const idle = asked("select state from pg_stat_activity where pid = $1", [own?.pid ?? 0]);
      await until("the look is ended", async () => {
        const [[row] = []] = await other.using((each) => each.rowsOf([idle]));
        return JSON.stringify(row) === JSON.stringify({ state: "idle" });
      });
    } finally {
      await other.close();
      await database.drop();
    }
  }));
