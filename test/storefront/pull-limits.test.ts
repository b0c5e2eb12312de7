/** Bounds on pulls of storefronts and on hints to pull, each with the value that the program has (docs/limits.md). */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import {
  createStorefrontHints,
  eventsKnownMax,
  hintedShopsBytesMax,
} from "../../src/admin/storefront/shopify-hints.ts";
import { bodyBytesMax, BodyBudget, RequestBody } from "../../src/http/body.ts";
import type { HttpRequest } from "../../src/http/surface.ts";
import { createPuller, namesListedMax, notesMax, pullLimits, type Puller } from "../../src/jobs/puller.ts";
import { defaultSettings, loadShop, saveShop } from "../../src/shop/access/accounts.ts";
import { insertPushStatement } from "../../src/shop/storefront/stock-pushes.ts";
import {
  hintedDueAtMs,
  hintedPullEveryMs,
  hintWaitMs,
  type Pull,
  savePullStatement,
} from "../../src/shop/storefront/storefront-pulls.ts";
import { delegated } from "../../src/store/delegated.ts";
import { chunksOf } from "../../src/store/in-lists.ts";
import type { Engine } from "../../src/store/store.ts";
import type { Pulled, PullPage, PullStage, PullRequest } from "../../src/storefront/pull.ts";
import { SecretBox } from "../../src/base/secret-box.ts";
import { begunMax, pieceBytesMax } from "../../src/storefront/shopify/bulk.ts";
import { type ReadContext, StorefrontError, unusableStorefront } from "../../src/storefront/storefront.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import { configOf, onFake, type OnFake, secretKey } from "./shopify/connected.ts";
import { quantity } from "../support/goods.ts";
import { ask, pullAll, pullOf } from "../support/peers/pulling.ts";
import { makePlace, onPostgres, openStore } from "../support/store.ts";
import { pause, until } from "../support/until.ts";

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const empty: PullPage = { records: [], cursor: null };

/** What the test's own platform answers. */
type Page = (request: PullRequest, context: ReadContext | undefined) => Promise<PullPage> | PullPage;

/** Answers one part, and nothing in the others. */
const only =
  (stage: PullStage, page: Page): Page =>
  (request, context) =>
    request.stage === stage ? page(request, context) : empty;

const shopNamed = (shopId: string) =>
  ({ shopId, currencyCode: "USD", storefront: { kind: "sandbox" }, name: "Demo", timezone: "UTC" }) as const;

interface World {
  readonly engine: Engine;
  readonly puller: Puller;
  /** The clock stands still but for this. */
  readonly advance: (ms: number) => void;
  readonly now: () => number;
  readonly pull: (shopId?: string) => Promise<Pull | null>;
  /** Begins a pull, or goes on with the one that has begun. */
  readonly go: (shopId?: string) => Promise<void>;
  readonly untilPull: (what: string, holds: (pull: Pull) => boolean, shopId?: string) => Promise<Pull>;
}

/** Shops on a platform of the test's own; pauses are the shortest that there are. */
async function onPlatform(page: Page, use: (world: World) => Promise<void>, shops = ["demo"]): Promise<void> {
  const place = await makePlace();
  const store = await openStore(place.directory);
  const { engine } = store;
  let nowMs = systemClock.now();
  const clock = { now: () => nowMs };
  const ids = timeOrderedIds(clock);
  for (const shopId of shops) {
    await engine.create(shopId);
    const shop = { ...defaultSettings, ...shopNamed(shopId), planRestApi: true, createdAtMs: 0, updatedAtMs: 0 };
    await engine.write(shopId, (tx) => saveShop(tx, shop));
  }
  const storefront = {
    ...unusableStorefront("only pulled"),
    pull: {
      bringsAllVariants: false,
      names: (_: string, id: string) => [id],
      page: async (request: PullRequest, context?: ReadContext) => await page(request, context),
    },
  };
  const puller = createPuller({
    engine,
    clock,
    ids,
    log: { info: () => {}, warn: () => {}, error: assert.fail },
    search: null,
    storefrontOf: () => Promise.resolve(storefront),
    random: () => 0,
  });
  const of = (shopId: string) => ({ engine, clock, ids, shop: shopNamed(shopId), reopened: assert.fail });
  const pull = (shopId = "demo") => pullOf(of(shopId));
  try {
    await use({
      engine,
      puller,
      advance(ms) {
        nowMs += ms;
      },
      now: () => nowMs,
      pull,
      async go(shopId = "demo") {
        if ((await pull(shopId))?.state !== "running") await ask(of(shopId));
        puller.wake(shopId);
      },
      async untilPull(what, holds, shopId = "demo") {
        return until(
          async () => [what, await pull(shopId)],
          async () => {
            const found = await pull(shopId);
            return found?.leaseOwner === null && holds(found) && found;
          },
        );
      },
    });
  } finally {
    await puller.close();
    await store.close();
    await place.remove();
  }
}

const isOver = ({ state }: Pull): boolean => state !== "running";

const level = (variantId: string, locationId: string): Pulled => ({
  type: "level",
  variantId,
  locationId,
  onHand: quantity(1),
});

const variant = (id: number): Pulled => ({
  type: "variant",
  variantId: `v${id}`,
  productId: "p",
  productName: `P${id}`,
  variantName: null,
  sku: null,
  barcode: null,
  price: null,
  unitCost: null,
  status: "active",
  imageUrl: null,
});

test("so many pulls ask for a page at a time (pullsMax); the others wait for their turn, and metrics count them", async () => {
  const gate = Promise.withResolvers<void>();
  let [asking, most] = [0, 0];
  const shops = many(pullLimits.pullsMax + 3, (index) => `shop-${index}`);
  const page: Page = async ({ stage }) => {
    asking += 1;
    most = Math.max(most, asking);
    await gate.promise;
    asking -= 1;
    return stage === "locations"
      ? { records: [{ type: "location", locationId: "l", name: "L" }], cursor: null }
      : empty;
  };
  await onPlatform(
    page,
    async ({ puller, go, untilPull, now, advance }) => {
      for (const shopId of shops) await go(shopId);
      await until("as many ask as may", () => asking >= pullLimits.pullsMax);
      advance(5_000);
      const meanwhile = puller.work();
      // First: what waits must end, whatever is asserted.
      gate.resolve();
      assert.deepEqual([meanwhile.running, meanwhile.startedTotal], [pullLimits.pullsMax, pullLimits.pullsMax]);
      assert.equal(now() - (meanwhile.oldestStartedAtMs ?? 0), 5_000);
      for (const shopId of shops) assert.equal((await untilPull("done", isOver, shopId)).state, "done");
      assert.equal(most, pullLimits.pullsMax);
      const { lastDoneAtMs, ...work } = puller.work();
      assert.equal(lastDoneAtMs, now());
      assert.deepEqual(work, {
        running: 0,
        oldestStartedAtMs: null,
        startedTotal: shops.length,
        doneTotal: shops.length,
        failedTotal: 0,
        doneMsTotal: shops.length * 5_000,
        recordsTotal: shops.length,
      });
    },
    shops,
  );
});

test("a page that fails is asked for again after backoffMs, twice as long each time up to backoffMsMax, and attemptsMax times", () =>
  onPlatform(
    only("variants", () => Promise.reject(new StorefrontError("error", "not today", { landed: "no" }))),
    async ({ puller, go, untilPull, now, advance }) => {
      const { backoffMs, backoffMsMax, attemptsMax } = pullLimits;
      await go();
      const waits: number[] = [];
      for (let attempts = 1; attempts < attemptsMax; attempts += 1) {
        const { dueAtMs } = await untilPull(`${attempts} attempts`, (pull) => pull.attempts === attempts);
        waits.push((dueAtMs ?? 0) - now());
        advance(backoffMsMax);
        await go();
      }
      assert.deepEqual(
        waits,
        many(attemptsMax - 1, (index) => Math.min(backoffMsMax, backoffMs * 2 ** index)),
      );
      const failed = await untilPull("failed", isOver);
      assert.deepEqual([failed.state, failed.attempts, failed.error], ["failed", attemptsMax, "not today"]);
      const { running, doneTotal, failedTotal } = puller.work();
      assert.deepEqual([running, doneTotal, failedTotal], [0, 0, 1]);
    },
  ));

test("a page has pageMsMax, and its lease (leaseMs) is longer", () => {
  const asked = Promise.withResolvers<void>();
  return onPlatform(
    only("variants", async () => {
      asked.resolve();
      await pause(20);
      return empty;
    }),
    async ({ go, untilPull, pull, now }) => {
      const timeouts: number[] = [];
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => {
        timeouts.push(ms);
        return timeout(ms);
      };
      try {
        await go();
        await asked.promise;
        const leased = await pull();
        if (leased?.leaseOwner !== null) assert.equal((leased?.dueAtMs ?? 0) - now(), pullLimits.leaseMs);
        await untilPull("done", isOver);
      } finally {
        AbortSignal.timeout = timeout;
      }
      assert.deepEqual([...new Set(timeouts)], [pullLimits.pageMsMax]);
      assert.ok(pullLimits.leaseMs > pullLimits.pageMsMax);
    },
  );
});

test("a page is stored in slices of sliceRowsMax rows, each a turn of its own", () => {
  const locations = many(pullLimits.sliceRowsMax * 2 + 50, (id): Pulled => ({
    type: "location",
    locationId: `l${id}`,
    name: "L",
  }));
  return onPlatform(
    only("locations", () => ({ records: locations, cursor: null })),
    async ({ engine, go, untilPull }) => {
      const write = engine.write.bind(engine);
      const counts: number[] = [];
      const counted: Engine["write"] = async (shopId, work, options) => {
        const result = await write(shopId, work, options);
        const rows = await engine.read(shopId, (tx) =>
          tx.all<{ n: number }>("select count(*) as n from location where shop_id = ?", [shopId]),
        );
        counts.push(Number(rows[0]?.n));
        return result;
      };
      engine.write = counted;
      try {
        await go();
        await untilPull("done", isOver);
      } finally {
        engine.write = write;
      }
      assert.equal(counts.at(-1), locations.length);
      const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0)).filter((step) => step > 0);
      assert.deepEqual(steps, [pullLimits.sliceRowsMax, pullLimits.sliceRowsMax, 50]);
    },
  );
});

test("levels that a push keeps changing are asked for in roundsMax further rounds, each after roundWaitMs, then they are told", () => {
  let asked = 0;
  return onPlatform(
    only("levels", () => {
      asked += 1;
      return { records: [level("v1", "l1")], cursor: null };
    }),
    async ({ engine, go, untilPull, now, advance }) => {
      const item = { variantId: "v1", locationId: "l1", delta: quantity(1), lines: [] };
      const push = { reference: "push_1", items: [item] };
      await engine.write("demo", (tx) => tx.batch([insertPushStatement("demo", "po_1", push, now())]));
      await go();
      const { roundsMax, roundWaitMs } = pullLimits;
      for (let round = 1; round <= roundsMax; round += 1) {
        const { dueAtMs } = await untilPull(`round ${round}`, (pull) => pull.round === round);
        assert.equal((dueAtMs ?? 0) - now(), roundWaitMs);
        advance(roundWaitMs);
        await go();
      }
      const { notes, state } = await untilPull("done", isOver);
      assert.equal(state, "done");
      assert.match(notes.join("\n"), /changed all the time/);
      assert.equal(asked, 1 + roundsMax);
    },
  );
});

test("a pull keeps notesMax notes, and names namesListedMax of the variants that it has found deleted", () => {
  const notes = many(notesMax + 5, (index) => `note ${index}`);
  let isEmpty = false;
  const page = only("variants", () =>
    isEmpty
      ? { records: [{ type: "product", productId: "p", variantIds: [] }], cursor: null }
      : { records: many(namesListedMax + 3, variant), cursor: null, notes },
  );
  return onPlatform(page, async ({ go, untilPull }) => {
    await go();
    const first = await untilPull("done", isOver);
    assert.deepEqual(first.notes, notes.slice(0, notesMax));
    isEmpty = true;
    await go();
    const { counts } = await untilPull("done again", (pull) => isOver(pull) && pull.pullId !== first.pullId);
    assert.deepEqual([counts.deleted, counts.deletedNames.length], [namesListedMax + 3, namesListedMax]);
  });
});

test("a bulk operation of Shopify that fails is begun begunMax times, then the page is refused saying why", () =>
  onFake(async ({ fake, storefront }) => {
    fake.bulkErrors.push(...many(begunMax, () => "INTERNAL_SERVER_ERROR"));
    const pages = async (): Promise<void> => {
      for (let cursor: string | null = null; ;) {
        const request: PullRequest = { stage: "variants", cursor, changedSinceMs: null, soldSinceMs: 0 };
        const page = await storefront.pull?.page(request);
        cursor = page?.cursor ?? null;
        if (cursor === null) return;
      }
    };
    await assert.rejects(pages, /could not run .*INTERNAL_SERVER_ERROR/);
    assert.equal(fake.callsOf("RunBulk").length, begunMax);
  }));

test("a line of Shopify's result file that is longer than pieceBytesMax is not held: the pull fails saying so", () =>
  onFake(async (world) => {
    const { fake } = world;
    fake.addLocation("1");
    fake.bulkLooks = 0;
    fake.addVariant("100", { productTitle: "P".repeat(pieceBytesMax) });
    fake.addVariant("101");
    const failed = await pullAll(world, false, { attemptsMax: 1 });
    assert.deepEqual([failed.state, failed.step], ["failed", "variants"]);
    assert.match(failed.error ?? "", new RegExp(`larger than ${pieceBytesMax} bytes`));
    for (const { range = "" } of fake.downloads) {
      const [, from, to] = /(\d+)-(\d+)/.exec(range ?? "") ?? [];
      assert.ok(Number(to) - Number(from) < pieceBytesMax);
    }
  }));

test("a hint is followed after hintWaitMs, and hintedPullEveryMs after the pull before", () => {
  assert.equal(hintedDueAtMs({ endedAtMs: null }, 1_000_000), 1_000_000 + hintWaitMs);
  assert.equal(hintedDueAtMs({ endedAtMs: 999_000 }, 1_000_000), 999_000 + hintedPullEveryMs);
});

/** Sends a webhook to a shop, signed with the secret. */
async function webhookTo(
  hints: ReturnType<typeof createStorefrontHints>,
  { shopId, secret, event, bytes = Buffer.from("{}") }: Webhook,
): Promise<void> {
  assert.ok("reply" in hints);
  const headers = new Map([
    ["x-shopify-hmac-sha256", createHmac("sha256", secret).update(bytes).digest("base64")],
    ["x-shopify-event-id", event],
  ]);
  const request: HttpRequest = {
    method: "POST",
    header: (name) => headers.get(name) ?? null,
    readBody: (take) => Promise.resolve(take(bytes)),
    web: assert.fail,
  };
  const body = new RequestBody(request, new BodyBudget());
  const context = {
    request,
    body,
    requestId: "req_1",
    trace: { traceId: "1".repeat(32), spanId: "1".repeat(16), parentId: null, sampled: false },
    path: `/storefront/shopify/${shopId}`,
    search: "",
    headerValues: () => [],
    remoteAddress: "192.0.2.1",
    operation: "unknown",
    errorCode: null,
    shopId: null,
    replayed: false,
  };
  try {
    await hints.reply(context);
  } finally {
    body.release();
  }
}

interface Webhook {
  readonly shopId: string;
  readonly secret: string;
  readonly event: string;
  readonly bytes?: Buffer;
}

/** Connects the world's shop to the fake with this client secret. */
async function connectWith({ fake, engine, shop: { shopId } }: OnFake, secret: string): Promise<void> {
  const clientSecret = new SecretBox(secretKey).seal(shopId, secret);
  const storefront = { ...configOf(fake, shopId), clientId: fake.clientId, clientSecret };
  const kept = await engine.read(shopId, (tx) => loadShop(tx, shopId));
  assert.ok(kept !== null);
  await engine.write(shopId, (tx) => saveShop(tx, { ...kept, storefront }));
}

// What a process remembers is the same on both engines.
if (!onPostgres)
  test("a webhook's body is at most bodyBytesMax, and of the last eventsKnownMax events each hints once", () =>
    onFake(async (world) => {
      const { fake, engine, shop, clock } = world;
      const { shopId } = shop;
      await connectWith(world, fake.clientSecret);
      const pull = await pullAll(world);
      assert.equal(pull.state, "done", pull.error ?? "");
      const { storefronts } = world.reopened();
      const hints = createStorefrontHints({ engine, clock, storefronts, wakePull: () => {} });
      const send = (event: string, bytes?: Buffer): Promise<void> =>
        webhookTo(hints, { shopId, secret: fake.clientSecret, event, ...(bytes === undefined ? {} : { bytes }) });
      /** Whether the event is followed by a pull. */
      const isHint = async (event: string): Promise<boolean> => {
        await engine.write(shopId, (tx) => tx.batch([savePullStatement(shopId, { ...pull, hintedAtMs: null })]));
        await send(event);
        return (await pullOf(world))?.hintedAtMs !== null;
      };
      await assert.rejects(send("e0", Buffer.alloc(bodyBytesMax + 1)), new RegExp(`larger than ${bodyBytesMax} bytes`));
      assert.deepEqual([await isHint("e1"), await isHint("e1")], [true, false]);
      await send("more 0");
      const others = many(eventsKnownMax - 2, (index) => `more ${index + 1}`);
      for (const chunk of chunksOf(others, 100)) await Promise.all(chunk.map((event) => send(event)));
      assert.equal(await isHint("e1"), false);
      await send("one more");
      await send("and one more");
      assert.equal(await isHint("more 0"), true);
    }));

// Nodes remember no shops, since others change them.
if (!onPostgres)
  test("webhooks that are not signed read a shop once while it stays as it is, for as many shops as hintedShopsBytesMax takes", () =>
    onFake(async (world) => {
      const { fake, shop, clock } = world;
      await connectWith(world, fake.clientSecret);
      const { storefronts } = world.reopened();
      const kept = await world.engine.read(shop.shopId, (tx) => loadShop(tx, shop.shopId));
      assert.ok(kept !== null);
      const large = "x".repeat(1_000_000);
      const fitting = Math.floor(hintedShopsBytesMax / (large.length + 5_000));
      const others = many(fitting + 1, (index) => `s${index}`);
      for (const shopId of others) {
        await world.engine.create(shopId);
        await world.engine.write(shopId, (tx) => saveShop(tx, { ...kept, shopId, name: large }));
      }
      let reads = 0;
      const engine: Engine = {
        ...delegated(world.engine),
        read: (shopId, work, onSeen) => {
          reads += 1;
          return world.engine.read(shopId, work, onSeen);
        },
      };
      const hints = createStorefrontHints({ engine, clock, storefronts, wakePull: () => {} });
      let events = 0;
      const send = (shopId: string, secret: string): Promise<void> =>
        webhookTo(hints, { shopId, secret, event: `e${(events += 1)}` });
      const readsOf = async (shopId: string): Promise<number> => {
        const before = reads;
        await assert.rejects(send(shopId, "forged"), /is not signed/);
        return reads - before;
      };
      const { shopId } = shop;
      assert.deepEqual([await readsOf(shopId), await readsOf(shopId)], [1, 0]);
      await send(shopId, fake.clientSecret);
      await connectWith(world, "another secret");
      await assert.rejects(send(shopId, fake.clientSecret), /is not signed/);
      await send(shopId, "another secret");
      for (const other of others.slice(0, fitting)) assert.equal(await readsOf(other), 1);
      for (const other of others.slice(0, fitting)) assert.equal(await readsOf(other), 0, `${fitting} shops fit`);
      assert.equal(await readsOf(others.at(-1) ?? ""), 1);
      assert.equal(await readsOf(others[0] ?? ""), 1);
    }));
