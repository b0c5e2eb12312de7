/** What `GET /readyz` has before others: shops that have held the event loop for long wait for its answer (Q5). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { unavailable } from "../../src/store/engine-rules.ts";
import { createHealth } from "../../src/http/health.ts";
import { loopDebtMsMax, LoopShare } from "../../src/store/loop-share.ts";

/** Asks whether the process can serve, and has a shop ask for a step that has held the event loop for as long as counts. */
async function askedBeside(ready: Promise<void>) {
  let nowMs = 0;
  const loop = new LoopShare({
    now: () => nowMs,
    nextRound: (callback) => void setImmediate(callback),
    after: () => {},
  });
  const readyz = createHealth({ ready: () => ready, loop, identity: "srv_of_a_test" }).find(
    ({ path }) => path === "/readyz",
  );
  const asked = { path: "/readyz", operation: "unknown", request: { method: "GET" } };
  const answering = readyz !== undefined && "handle" in readyz ? readyz.handle(Object(asked)) : assert.fail();
  const answered = answering.then(
    (response) => response?.status,
    () => "failed",
  );
  loop.run("heavy", () => {
    nowMs += loopDebtMsMax;
  });
  let begun = false;
  const step = async (): Promise<void> => {
    await loop.waitForShare("heavy");
    begun = true;
  };
  void step();
  const hasBegun = async (): Promise<boolean> => {
    for (let round = 0; round < 20; round += 1) await nextRound();
    return begun;
  };
  return { answered, hasBegun };
}

test("while a process looks whether it can serve, no step begins of a shop that has held the event loop for long", async () => {
  const looked = Promise.withResolvers<void>();
  const { answered, hasBegun } = await askedBeside(looked.promise);
  assert.equal(await hasBegun(), false);
  looked.resolve();
  assert.equal(await answered, 200);
  assert.equal(await hasBegun(), true);
});

test("nor does a process that cannot serve keep the shop waiting", async () => {
  const looked = Promise.withResolvers<void>();
  const { answered, hasBegun } = await askedBeside(looked.promise);
  looked.reject(unavailable("The disk takes no more."));
  assert.equal(await answered, "failed");
  assert.equal(await hasBegun(), true);
});
