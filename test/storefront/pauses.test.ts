/** Pauses after a call that a platform has throttled: every call of the store keeps to them. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { z } from "zod";
import { StoreCalls } from "../../src/storefront/calls.ts";
import { MedusaClient } from "../../src/storefront/medusa/client.ts";
import { pauseAfter, throttledPauseMsMax, throttledPauseMsMin } from "../../src/storefront/pause.ts";
import { Pacing } from "../../src/storefront/shopify/pacing.ts";
import { StorefrontError } from "../../src/storefront/storefront.ts";
import { listenOnPort, stopListening } from "../support/peers/serving.ts";

const throttled = (retryAfterMs?: number): StorefrontError =>
  new StorefrontError("throttled", "no more", {
    landed: "no",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

test("a throttled call is sent again after the pause that was asked for, never at once, and a few times only", () => {
  assert.equal(pauseAfter(throttled(375), 1), 375);
  assert.equal(pauseAfter(throttled(1), 1), throttledPauseMsMin);
  assert.equal(pauseAfter(throttled(), 4), throttledPauseMsMin);
  assert.equal(pauseAfter(throttled(), 5), null);
  assert.equal(pauseAfter(throttled(throttledPauseMsMax), 1), throttledPauseMsMax);
  assert.equal(pauseAfter(throttled(throttledPauseMsMax + 1), 1), null, "the caller is told when to come back");
  assert.equal(pauseAfter(new StorefrontError("error", "it failed", { landed: "no", retryAfterMs: 500 }), 1), null);
});

test("no call of a store begins while it rests, and a rest from before the clock was set back ends", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let nowMs = 1_000_000;
  const pacing = new Pacing({ now: () => nowMs });
  const begun: string[] = [];
  const take = (name: string): Promise<void> => pacing.take(1, undefined).then(() => void begun.push(name));
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    context.mock.timers.tick(ms);
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
  };
  pacing.rest(300);
  const both = Promise.all([take("one"), take("other")]);
  await pass(0);
  await pass(299);
  assert.deepEqual(begun, []);
  await pass(1);
  await both;
  assert.deepEqual(begun, ["one", "other"]);
  pacing.rest(300);
  nowMs -= 60 * 60 * 1_000;
  const late = take("late");
  await pass(throttledPauseMsMax);
  assert.deepEqual(begun, ["one", "other"]);
  nowMs += 60 * 60 * 1_000;
  await pass(throttledPauseMsMax);
  await late;
});

test("requests of a Medusa wait together once it has answered 429", async () => {
  const statuses = [429, 200, 200];
  const arrived: string[] = [];
  const server = createServer((request, response) => {
    arrived.push(request.url ?? "");
    const status = statuses.shift() ?? 200;
    response.writeHead(status, status === 429 ? { "retry-after": "0.3" } : {}).end('{"ok":true}');
  });
  const port = await listenOnPort(server);
  try {
    let nowMs = 0;
    const clock = { now: () => nowMs };
    const store = { origin: `http://127.0.0.1:${port}`, secretKey: "sk_test" };
    const client = new MedusaClient(store, { clock, calls: new StoreCalls(clock) });
    const ask = (path: string) => client.ask(path, z.object({ ok: z.boolean() }), { signal: undefined });
    const first = ask("/admin/one");
    assert.deepEqual(await first, { ok: true });
    assert.deepEqual(arrived, ["/admin/one", "/admin/one"]);
    // The clock has stood still: the rest is not over for others.
    const given = new AbortController();
    const other = client.ask("/admin/other", z.object({ ok: z.boolean() }), { signal: given.signal });
    given.abort();
    await assert.rejects(other, { kind: "timeout", landed: "no" });
    assert.deepEqual(arrived, ["/admin/one", "/admin/one"]);
    nowMs += 300;
    await ask("/admin/other");
    assert.deepEqual(arrived, ["/admin/one", "/admin/one", "/admin/other"]);
  } finally {
    await stopListening(server);
  }
});
