import assert from "node:assert/strict";
import { test } from "node:test";
import { storefrontCallLimitMs, withinLimit } from "../../src/requests/write/upstream-time-limit.ts";
import { StorefrontError } from "../../src/storefront/storefront.ts";
import { shortened } from "../support/programs/shortened.ts";

test("a call to a hanging storefront is aborted at the time limit", async () => {
  const signals: AbortSignal[] = [];
  const hanging = withinLimit((signal) => {
    signals.push(signal);
    return new Promise<never>(() => {});
  }, 10);
  await assert.rejects(
    hanging,
    (error) => error instanceof StorefrontError && error.kind === "timeout" && error.landed === "maybe",
  );
  assert.deepEqual(
    signals.map((signal) => signal.aborted),
    [true],
  );
});

test("unless it is told otherwise, a call has storefrontCallLimitMs", async (t) => {
  const asked = shortened(t, [storefrontCallLimitMs]);
  const hanging = withinLimit(() => new Promise<never>(() => {}));
  assert.deepEqual(asked, [storefrontCallLimitMs]);
  await assert.rejects(hanging, { kind: "timeout" });
});

test("an answer within the limit is passed on, and so is a failure", async () => {
  assert.equal(await withinLimit(() => Promise.resolve(1)), 1);
  const failure = new StorefrontError("error", "broken", { landed: "no" });
  await assert.rejects(
    withinLimit(() => Promise.reject(failure)),
    (error) => error === failure,
  );
});
