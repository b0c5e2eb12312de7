import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { replay, type ReplayOptions, type ReplayResult } from "../../examples/replay.ts";
import { databaseOf, inPlace, onPostgres } from "../support/store.ts";

const data = path.join(import.meta.dirname, "../../../shared/data/adventureworks");
const skip = existsSync(data) ? false : `the AdventureWorks data is not at ${data}`;
// The orders are the same on each engine; fewer are enough to see what a node leaves to the one that comes after it.
const slice: ReplayOptions = { data, orders: onPostgres ? 80 : 200, parallel: 8, faults: false, kills: 0 };

const replayed = (options: ReplayOptions): Promise<ReplayResult> =>
  inPlace((directory) => {
    process.env["OPENPO_DATABASE_URL"] = databaseOf(directory) ?? "";
    return replay(options);
  });

test("real orders replayed over HTTP end in the stock that was received", { skip }, async () => {
  const result = await replayed(slice);
  assert.deepEqual(result.differences, []);
  assert.equal(result.orders, slice.orders);
});

test("with faults at the storefront and kills -9 of the server the stock is exactly the same", { skip }, async () => {
  const kills = onPostgres ? 1 : 5;
  const result = await replayed({ ...slice, faults: true, kills });
  assert.deepEqual(result.differences, []);
  assert.equal(result.kills, kills);
  assert.ok(result.faultsSet > slice.orders / 4, `only ${result.faultsSet} faults were set`);
});
