import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { replay, type ReplayOptions } from "../../examples/replay.ts";

const data = path.join(import.meta.dirname, "../../../shared/data/adventureworks");
const skip = existsSync(data) ? false : `the AdventureWorks data is not at ${data}`;
const slice: ReplayOptions = { data, orders: 200, parallel: 8, faults: false, kills: 0 };

test("real orders replayed over HTTP end in the stock that was received", { skip }, async () => {
  const result = await replay(slice);
  assert.deepEqual(result.differences, []);
  assert.equal(result.orders, 200);
});

test("with faults at the storefront and kills -9 of the server the stock is exactly the same", { skip }, async () => {
  const result = await replay({ ...slice, faults: true, kills: 5 });
  assert.deepEqual(result.differences, []);
  assert.equal(result.kills, 5);
  assert.ok(result.faultsSet > 50, `only ${result.faultsSet} faults were set`);
});
