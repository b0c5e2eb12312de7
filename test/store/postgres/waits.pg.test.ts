/** What a node waits for at most at its database (docs/limits.md). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import {
  answerMsMax,
  connectMsMax,
  idleTransactionMsMax,
  lockMsMax,
  PostgresPool,
} from "../../../src/store/postgres/connection.ts";
import { freshDatabase, openPostgresStore, openTestPool } from "../../support/postgres/postgres.ts";
import { shortened } from "../../support/programs/shortened.ts";

async function withDatabase(use: (url: string) => Promise<void>): Promise<void> {
  const database = await freshDatabase();
  try {
    await use(database.url);
  } finally {
    await database.drop();
  }
}

test("a connection is waited for for connectMsMax: then the pool is full", (t) =>
  withDatabase(async (url) => {
    const pool = await openTestPool(url, 1);
    const held = await pool.connect();
    const asked = shortened(t, [connectMsMax]);
    await assert.rejects(pool.connect(), { code: "DO_OVERLOADED" });
    assert.ok(asked.includes(connectMsMax));
    held.release();
    (await pool.connect()).release();
    await pool.close();
  }));

test("a server that accepts a connection and says nothing is given up after connectMsMax", async (t) => {
  const mute = createServer().listen(0, "127.0.0.1");
  await once(mute, "listening");
  const address = mute.address();
  assert.ok(typeof address === "object" && address !== null);
  const sockets: Socket[] = [];
  mute.on("connection", (socket) => sockets.push(socket));
  const url = `postgres://u:p@127.0.0.1:${address.port}/d?sslmode=disable`;
  const pool = new PostgresPool({ url, connectionsMax: 1, schemas: [] });
  const asked = shortened(t, [connectMsMax]);
  await assert.rejects(pool.connect(), { code: "DO_UNAVAILABLE" });
  assert.ok(asked.includes(connectMsMax));
  for (const socket of sockets) socket.destroy();
  mute.close();
});

test("an answer is waited for for answerMsMax, and the connection is lost then", (t) =>
  withDatabase(async (url) => {
    const pool = await openTestPool(url, 1);
    const asked = shortened(t, [answerMsMax]);
    const connection = await pool.connect();
    await assert.rejects(connection.run("select pg_sleep(15)"), /timeout/);
    assert.equal(connection.lost, true);
    connection.release();
    assert.ok(asked.includes(answerMsMax));
    await pool.close();
  }));

test("a session has lockMsMax for a lock and idleTransactionMsMax between the statements of a transaction", () =>
  withDatabase(async (url) => {
    const store = await openPostgresStore(url);
    await store.engine.create("a");
    const rows = await store.engine.read("a", (tx) =>
      tx.all<{ name: string; ms: string }>(
        `select name, setting as ms from pg_settings
         where name in ('lock_timeout', 'idle_in_transaction_session_timeout') order by name`,
      ),
    );
    assert.deepEqual(
      rows.map(({ ms }) => Number(ms)),
      [idleTransactionMsMax, lockMsMax],
    );
    await store.close();
  }));
