/** Databases that tests of one process use one after another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDatabase, shopsSchema, withClient } from "../support/postgres/postgres.ts";

const changes = [
  `comment on schema ${shopsSchema} is 'Written by OpenPO 9.8.7'`,
  `insert into ${shopsSchema}.migration (line, version) select 'shop', max(version) + 1 from ${shopsSchema}.migration where line = 'shop'`,
  `alter table ${shopsSchema}.supplier add column of_a_test text`,
  `create table ${shopsSchema}.of_a_test (n bigint)`,
];

test("a database with the schemas of the template is used again, one whose schemas a test has changed is dropped", async () => {
  const usual = await freshDatabase();
  await usual.drop();
  const again = await freshDatabase();
  assert.equal(again.url, usual.url);
  await again.drop();
  for (const change of changes) {
    const changed = await freshDatabase();
    await withClient(changed.url, (client) => client.query(change));
    await changed.drop();
    const next = await freshDatabase();
    assert.notEqual(next.url, changed.url, change);
    await next.drop();
    await assert.rejects(
      withClient(changed.url, async () => {}),
      /does not exist/,
      change,
    );
  }
});
