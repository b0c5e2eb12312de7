import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopShare } from "../../src/store/loop-share.ts";
import type { Engine } from "../../src/store/store.ts";
import { beginImport } from "../../src/exchange/import-run.ts";
import { FileFaults } from "../../src/exchange/file-format.ts";
import { stageBytesMax, stageRecords } from "../../src/exchange/staging.ts";
import { delegated } from "../../src/store/delegated.ts";
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
      const left = loop.admit("another");
      const staging = stageRecords(
        context,
        shop,
        lease,
        { requestId: "req_test", by: null },
        records(),
        new FileFaults(),
      );
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

test("a file is staged in turns of stageBytesMax bytes", () =>
  withShops(async (open) => {
    const { shop, ...context } = await open("importing");
    const lease = await beginImport(context, shop.shopId);
    let read = 0;
    const seen: number[] = [];
    const records = async function* () {
      for (let lineNumber = 1; lineNumber <= 10; lineNumber += 1) {
        read += 1;
        const value = () => ({ type: "location", locationId: `l${lineNumber}`, name: "L" });
        yield { lineNumber, bytes: stageBytesMax / 4, value, columns: null };
      }
    };
    const engine: Engine = {
      ...delegated(context.engine),
      write: (shopId, work, options) => {
        seen.push(read);
        return context.engine.write(shopId, work, options);
      },
    };
    await stageRecords(
      { ...context, engine },
      shop,
      lease,
      { requestId: "req_test", by: null },
      records(),
      new FileFaults(),
    );
    assert.deepEqual(seen, [4, 8, 10]);
  }));
