/**
 * A node while the database can be read and takes nothing, as when its disk is full (S6, H1, D104).
 *
 * Only on postgres: test/store/sqlite/full-disk.crash.test.ts fills the disk of a data directory.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { crateOperations } from "../../support/shops/operations.ts";
import { shopsSchema, withClient } from "../../support/postgres/postgres.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { databaseOf } from "../../support/store.ts";
import { until } from "../../support/until.ts";

const crates = "/api/v1/crates";
const filled = ["location", "idempotency_record", "audit_log", "token_bucket"];

/** Makes every row that is added fail with the error of a full disk. */
const fill = (server: TestServer): Promise<void> =>
  inDatabase(server, [
    `create function ${shopsSchema}.full_disk() returns trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    ...filled.map(
      (table) => `create trigger full_disk before insert or update on ${shopsSchema}.${table}
                  for each row execute function ${shopsSchema}.full_disk()`,
    ),
  ]);

const makeRoom = (server: TestServer): Promise<void> =>
  inDatabase(
    server,
    filled.map((table) => `drop trigger full_disk on ${shopsSchema}.${table}`),
  );

async function inDatabase({ directory }: TestServer, statements: readonly string[]): Promise<void> {
  await withClient(databaseOf(directory) ?? "", async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

test("a database that takes no more: reads and replays go on within the rate limit, writes are 503, not ready; it recovers", async () => {
  await using server = await startServer({
    operations: crateOperations(),
    shop: { rateLimit: { capacity: 6, refillPerSecond: 0.001 } },
  });
  const create = (label: string, key: string) =>
    server.post(crates, { label }, { headers: { "Idempotency-Key": key } });
  const ready = async (): Promise<number> => (await server.get("/readyz", { key: null, undocumented: true })).status;
  const first = await create("before", "k1");
  assert.equal(first.status, 201);
  assert.equal(await ready(), 200);
  await fill(server);

  const refused = await create("during", "k2");
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.at("error", "code"), "DO_UNAVAILABLE");
  assert.equal(await ready(), 503);
  const shown = await server.get(crates);
  assert.equal(shown.status, 200, shown.text);
  assert.equal(shown.at("data", "crates", "length"), 1);
  const again = await create("before", "k1");
  assert.equal(again.text, first.text);
  const statuses: number[] = [];
  for (let index = 0; index < 6; index += 1) statuses.push((await server.get(crates)).status);
  assert.deepEqual(statuses.slice(-2), [429, 429], "the rate limit holds");
  assert.ok(server.logged.some((line) => line.includes("answered without an audit row")));

  await makeRoom(server);
  server.clock.advance(10_000_000);
  await until("it is ready again", async () => (await ready()) === 200);
  assert.equal(await ready(), 200);
  assert.equal((await create("during", "k2")).status, 201);
  assert.equal((await server.get(crates)).at("data", "crates", "length"), 2);
});
