/** Answers of writes on orders: what is added to one stays when the answer is read again after follow-on work (D9). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withData } from "../../src/operations/purchase-orders/access.ts";
import type { Tx } from "../../src/store/store.ts";

const tx: Tx = { all: () => Promise.resolve([]), batch: () => Promise.resolve() };
const effects = [{ effectId: "eff_1", kind: "sync-tags" as const, lane: "sync-tags" }];
const saved = { effects, answer: () => ({ data: { version: 1 }, etag: "1" }) };

test("members added to an answer are in the answer that replaces it once first attempts have changed it", async () => {
  const committed = withData(
    { ...saved, answerAfter: () => Promise.resolve({ data: { version: 2 }, etag: "2" }) },
    { warnings: ["no cost"] },
  );
  assert.deepEqual(committed.effects, effects);
  assert.deepEqual(committed.answer(new Map()), { data: { version: 1, warnings: ["no cost"] }, etag: "1" });
  assert.deepEqual(await committed.answerAfter?.(tx, new Map()), {
    data: { version: 2, warnings: ["no cost"] },
    etag: "2",
  });
});

test("an answer that is not read again, or of which nothing is left, stays so", async () => {
  assert.equal("answerAfter" in withData(saved, { warnings: [] }), false);
  const gone = withData({ ...saved, answerAfter: () => Promise.resolve(null) }, { warnings: [] });
  assert.equal(await gone.answerAfter?.(tx, new Map()), null);
});
