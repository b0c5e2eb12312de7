import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopShare } from "../../src/store/loop-share.ts";
import { beginImport } from "../../src/exchange/import-run.ts";
import { stageRecords } from "../../src/exchange/staging.ts";
import { withShops } from "../support/admin.ts";

test("the checks of a file give way to the requests of another shop (Q5)", () => {
  let nowMs = 0;
  const due: (() => void)[] = [];
  const loop = new LoopShare({
    now: () => nowMs,
    nextRound: (callback) => void setImmediate(callback),
    after: (_, callback) => void due.push(callback),
  });
  return withShops(
    async (open) => {
      const { shop, ...context } = await open("importing");
      const lease = await beginImport(context, shop.shopId);
      let checked = 0;
      // 6 ms of the event loop each.
      const value = (): unknown => {
        nowMs += 6;
        checked += 1;
        return { type: "location", locationId: `l${checked}`, name: "L" };
      };
      const records = async function* () {
        for (let lineNumber = 1; lineNumber <= 6; lineNumber += 1)
          yield { lineNumber, bytes: 50, value, columns: null };
      };
      const left = loop.arrive("another");
      const staging = stageRecords(context, shop, lease, "req_test", records());
      for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(checked, 2, "the shop owes 12 ms");
      nowMs += 2;
      for (const callback of due.splice(0)) callback();
      for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(checked, 3, "one more when it owes 10 ms");
      left();
      assert.deepEqual((await staging).counts, { location: 6 });
    },
    { loop },
  );
});
