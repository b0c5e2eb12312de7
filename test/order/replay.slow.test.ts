import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { replay, type ReplayOptions, type ReplayResult } from "../../examples/replay.ts";
import { databaseOf, inPlace, onPostgres } from "../support/store.ts";

const data = path.join(import.meta.dirname, "../../../shared/data/adventureworks");
const skip = existsSync(data) ? false : `the AdventureWorks data is not at ${data}`;
/** Orders that are replayed. `npm run test:kills` has more. On PostgreSQL fewer are enough: only the recovery after a killed node differs. */
const orders = Math.ceil(Number(process.env["OPENPO_REPLAY_ORDERS"] ?? 80) * (onPostgres ? 0.4 : 1));
const slice: ReplayOptions = { data, orders, parallel: 8, faults: false, kills: 0 };

const replayed = (options: ReplayOptions): Promise<ReplayResult> =>
  inPlace(async (directory) => {
    process.env["OPENPO_DATABASE_URL"] = databaseOf(directory) ?? "";
    try {
      return await replay(options);
    } finally {
      delete process.env["OPENPO_DATABASE_URL"];
    }
  });

test("replaying the AdventureWorks orders over HTTP ends with exactly the received stock", { skip }, async () => {
  const result = await replayed(slice);
  assert.deepEqual(result.differences, []);
  assert.equal(result.orders, slice.orders);
  assert.ok(result.confirmedShort > slice.orders / 3, `only ${result.confirmedShort} orders were confirmed short`);
});

test("with storefront faults and kills (-9) of the server the stock is the same", { skip }, async () => {
  const kills = Math.ceil(orders / 40);
  const result = await replayed({ ...slice, faults: true, kills });
  assert.deepEqual(result.differences, []);
  assert.equal(result.kills, kills);
  assert.ok(result.faultsSet > slice.orders / 4, `only ${result.faultsSet} faults were set`);
});
