/** How long a store is asked to tell of its changes, and when it is asked again (C66). */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  requestSubscription,
  subscriptionCheckMs,
  checkSubscription,
  subscribeMsMax,
} from "../../src/admin/storefront/storefront-webhooks.ts";
import { defaultSettings } from "../../src/shop/access/accounts.ts";
import { loadSubscription } from "../../src/shop/storefront/storefront-subscriptions.ts";
import { StorefrontError } from "../../src/storefront/storefront.ts";
import { shop as shopFacts } from "../support/goods.ts";
import { shopId, withWorld, type World } from "../support/peers/storefront.ts";
import { until } from "../support/until.ts";

type Context = Parameters<typeof requestSubscription>[0];

const shop = {
  ...defaultSettings,
  ...shopFacts({}),
  shopId,
  name: "Mill",
  planRestApi: true,
  createdAtMs: 0,
  updatedAtMs: 0,
  storefront: { kind: "shopify", domain: "mill.myshopify.com", accessToken: "sealed", apiVersion: "2026-10" },
} as const;

/** A service whose store is asked by `subscribe`, at a time that the test sets. */
function contextOf(
  { engine }: World,
  subscribe: (signal: AbortSignal) => Promise<readonly []>,
): { readonly context: Context; nowMs: number } {
  const world = { nowMs: 1_000 };
  const context = {
    engine,
    clock: { now: () => world.nowMs },
    publicUrl: "https://orders.example.com",
    storefronts: {
      shopify: {
        secretOf: () => "secret",
        subscribe: (_shop: unknown, _address: unknown, _former: unknown, signal: AbortSignal) => subscribe(signal),
      },
    },
    calls: { log: { info: () => {}, warn: () => {}, error: assert.fail } },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are asked for
  return Object.assign(world, { context: context as unknown as Context });
}

/** Makes `AbortSignal.timeout` a signal that `end` ends, and notes for how long it was asked. */
function timeouts(t: TestContext): { readonly askedMs: number[]; end(): void } {
  const ending = new AbortController();
  const askedMs: number[] = [];
  t.mock.method(AbortSignal, "timeout", (ms: number) => {
    askedMs.push(ms);
    return ending.signal;
  });
  return { askedMs, end: () => ending.abort() };
}

test("a store that hangs is asked to tell of its changes for subscribeMsMax, and the connection stands", (t) =>
  withWorld(async (world) => {
    const times = timeouts(t);
    let hangs = 0;
    const { context } = contextOf(
      world,
      (signal) =>
        new Promise((_resolve, reject) => {
          hangs += 1;
          const error = new StorefrontError("timeout", "the store has not answered", { landed: "maybe" });
          signal.addEventListener("abort", () => reject(error));
        }),
    );
    const asking = requestSubscription(context, shop);
    await until("asked", () => hangs === 1);
    assert.deepEqual(times.askedMs, [subscribeMsMax]);
    times.end();
    await asking;
    const asked = await world.engine.read(shopId, (tx) => loadSubscription(tx, shopId));
    assert.equal(asked?.state, "failed");
    assert.match(asked.message ?? "", /has not answered/);
  }));

test("a store that tells of all is asked again subscriptionCheckMs after the last time, and not before", () =>
  withWorld(async (world) => {
    let calls = 0;
    const service = contextOf(world, async () => {
      calls += 1;
      return [];
    });
    const { context } = service;
    await checkSubscription(context, shop);
    assert.equal(calls, 1);
    service.nowMs += subscriptionCheckMs - 1;
    await checkSubscription(context, shop);
    assert.equal(calls, 1);
    service.nowMs += 1;
    await checkSubscription(context, shop);
    assert.equal(calls, 2);
  }));
