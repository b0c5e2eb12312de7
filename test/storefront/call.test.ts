/** One call of the storefront by a lane (O2): how it ends, and that it leaves nothing. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { callStorefront } from "../../src/jobs/outbox/storefront-call.ts";
import type { CallStep, Work } from "../../src/jobs/outbox/step.ts";
import { StorefrontError } from "../../src/storefront/storefront.ts";
import { systemClock } from "../../src/base/time/system.ts";
import { until } from "../support/until.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

const nothing: Work = () => Promise.resolve({ kind: "ended", outcomes: new Map() });
const shop = { shopId: "a", currencyCode: "EUR", storefront: { kind: "sandbox" as const } };

/** Calls once. Returns what the step was told of a failure; null without one. */
async function call(
  aborting: AbortSignal,
  timeLimitMs: number,
  run: CallStep["call"],
): Promise<StorefrontError | null> {
  let failure: StorefrontError | null = null;
  await callStorefront(
    {
      // The step does not use it.
      storefrontOf: () => Promise.resolve(Object.create(null)),
      clock: systemClock,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      timeLimitMs,
      beginByMs: () => Infinity,
      parent: null,
      aborting,
    },
    shop,
    {
      kind: "call",
      call: run,
      failed: (error) => {
        failure = error;
        return nothing;
      },
    },
  );
  return failure;
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new StorefrontError("timeout", "cut off", { landed: "maybe" })));
  });

test("a call that has ended leaves nothing behind, however long the service runs on", async () => {
  assert.ok(typeof collectGarbage === "function");
  const aborting = new AbortController();
  const signals: WeakRef<AbortSignal>[] = [];
  for (let count = 0; count < 20; count += 1)
    await call(aborting.signal, 60_000, (_, signal) => {
      signals.push(new WeakRef(signal));
      // A storefront may listen and not take its listener back.
      signal.addEventListener("abort", () => {});
      return Promise.resolve(nothing);
    });
  assert.deepEqual(getEventListeners(aborting.signal, "abort"), []);
  await until("collected", () => {
    collectGarbage();
    return signals.every((signal) => signal.deref() === undefined);
  });
});

test("a call ends when its time is over, when the service ends, and at once when it is ending already", async () => {
  const running = new AbortController();
  assert.equal((await call(running.signal, 1, (_, signal) => never(signal)))?.kind, "timeout");
  const stopping = new AbortController();
  const called = call(stopping.signal, 60_000, (_, signal) => {
    setImmediate(() => stopping.abort());
    return never(signal);
  });
  assert.equal((await called)?.kind, "timeout");
  let calls = 0;
  const refused = await call(stopping.signal, 60_000, (_, signal) => {
    calls += 1;
    return never(signal);
  });
  assert.equal(refused?.landed, "no");
  assert.equal(calls, 0);
});
