/** Audit rows of reads are written behind the answers, within bounds (H1, D112). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { auditGroupsBehindMax, AuditRows, auditWaitMsMax } from "../../src/requests/audit/audit.ts";
import type { Engine } from "../../src/store/store.ts";
import { auditEntry, noTrail } from "../support/audit.ts";
import { quiet, until } from "../support/until.ts";

const row = auditEntry();

/** An engine whose writes wait until the disk is free. */
function waitingEngine(embedded: boolean) {
  const free = Promise.withResolvers<void>();
  const engine: Pick<Engine, "write" | "embedded"> = {
    embedded,
    write: async (_shopId, work) => {
      await free.promise;
      return work({ all: () => Promise.resolve([]), batch: () => Promise.resolve() });
    },
  };
  return { engine, free: free.resolve };
}

/** Whether the answer has left after four times what it waits for its row. */
const leaves = (answer: Promise<void>): Promise<boolean> =>
  Promise.race([answer.then(() => true), quiet(4 * auditWaitMsMax).then(() => false)]);

test("an answer waits for its audit row until the shop's turn comes, but not for long", async () => {
  const { engine, free } = waitingEngine(true);
  const rows = new AuditRows(engine, noTrail, assert.fail);
  const askedMs = performance.now();
  await rows.add("shop", row);
  assert.ok(performance.now() - askedMs >= auditWaitMsMax - 1);
  free();
});

test("each row that fails when its answer has left is told, of a shop's log and of the journal; one that fails before is refused", async () => {
  const failing = (): { readonly written: Promise<void>; readonly fail: () => void } => {
    const { promise, reject } = Promise.withResolvers<void>();
    return { written: promise, fail: () => reject(new Error("full")) };
  };
  for (const where of ["log", "journal"] as const) {
    const lost: string[] = [];
    let group = failing();
    const journal = where === "log" ? null : { hasRoom: true, add: () => group.written };
    const rows = new AuditRows(
      { embedded: true, write: () => group.written.then(() => assert.fail()) },
      noTrail,
      (shopId, { auditId }, error) => lost.push(`${shopId} ${auditId} ${String(error)}`),
      journal,
    );
    const add = (auditId: string): Promise<void> => rows.add("shop", auditEntry({ auditId }));
    await Promise.all([add("aud_1"), add("aud_2")]);
    await add("aud_3");
    assert.deepEqual(lost, []);
    group.fail();
    await until("all are told", () => lost.length >= 3);
    assert.deepEqual(
      lost,
      ["aud_1", "aud_2", "aud_3"].map((auditId) => `shop ${auditId} Error: full`),
      where,
    );
    group = failing();
    group.fail();
    await assert.rejects(add("aud_4"), /full/);
    assert.equal(lost.length, 3);
  }
});

test("with too many shops' rows behind, an answer waits for its own, and for no longer than that", async () => {
  const { engine, free } = waitingEngine(true);
  const rows = new AuditRows(engine, noTrail, assert.fail);
  const others = Array.from({ length: auditGroupsBehindMax }, (_, index) => rows.add(`shop ${index}`, row));
  assert.equal((await Promise.all(others.map(leaves))).includes(false), false);
  const late = rows.add("late", row);
  assert.equal(await leaves(late), false);
  free();
  await late;
});

test("among nodes an answer waits for its row", async () => {
  const { engine, free } = waitingEngine(false);
  const answer = new AuditRows(engine, noTrail, assert.fail).add("shop", row);
  assert.equal(await leaves(answer), false);
  free();
  await answer;
});
