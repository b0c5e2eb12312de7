/**
 * Complaints about other connections of Shopify, each as a test of this one under its number:
 *
 * 1. One bundle fails a whole batch: https://github.com/microsoft/BCApps/issues/8396.
 * 2. Incoming is shared with other apps and stays stuck: https://community.shopify.dev/t/shopify-incoming-inventory-api-issues/17815.
 * 3. An absolute push overwrites sales: https://github.com/Shopify/shopify_python_api/issues/728.
 * 4. Committed stock is counted twice: https://github.com/microsoft/ALAppExtensions/issues/27413.
 * 5. Goods land at the wrong location: https://github.com/frappe/erpnext_shopify/issues/107.
 * 6. A location that cannot hold the item: https://github.com/nozzlegear/ShopifySharp/issues/591.
 * 7. An API version breaks writes; an empty call at 250 items: https://github.com/microsoft/BCApps/pull/6244.
 * 8. Retries without a pause when throttled: https://github.com/microsoft/BCApps/pull/10417.
 * 9. Answers time out in the middle: https://github.com/Shopify/shopify-api-js/issues/406.
 * 10. 200 without an error, and nothing has changed: https://github.com/Shopify/shopify-api-php/issues/156.
 * 11. Failures are repeated for ever and nobody sees why: https://github.com/frappe/ecommerce_integrations/issues/266.
 * 12. A deleted variant breaks the sync, or is only unreadable: https://github.com/frappe/ecommerce_integrations/pull/217.
 * 13. A cost in the wrong currency: https://github.com/microsoft/BCApps/issues/8561.
 * 14. Receiving twice doubles the stock: https://github.com/frappe/erpnext/issues/13990.
 * 15. The whole catalogue is read to push a few lines: https://github.com/microsoft/BCApps/issues/6395.
 * 16. A read right after the write shows the old value: seen with eventually consistent reads.
 *
 * Only on sqlite: its subject is the conversation with the storefront, which knows no engine.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { insertPushStatement } from "../../../src/shop/storefront/stock-pushes.ts";
import { clearWritesStatement, sweepWritesStatement } from "../../../src/shop/storefront/storefront-writes.ts";
import type { ItemResult } from "../../../src/storefront/storefront.ts";
import { StorefrontError } from "../../../src/storefront/storefront.ts";
import { money, quantity } from "../../support/goods.ts";
import { configOf, onFake, type OnFake } from "./connected.ts";
import { fakeToken, fakeVersion } from "./fake.ts";

const hourMs = 60 * 60 * 1_000;

const outcomes = (results: readonly ItemResult[]): readonly string[] => results.map(({ outcome }) => outcome);

const documentUri = "openpo://shops/demo/purchase-orders/po_1";

let references = 0;
const context = () => ({ reference: `push_${(references += 1)}`, documentUri });

const change = (variantId: string, units: number, locationId = "1") => ({
  variantId,
  locationId,
  delta: quantity(units),
});

/** A store with variants 100 to 119 and two locations. */
const inStore = (use: (world: OnFake) => Promise<void>): Promise<void> =>
  onFake(async (world) => {
    for (let id = 100; id < 120; id += 1) world.fake.addVariant(String(id));
    world.fake.addLocation("1");
    world.fake.addLocation("2");
    await use(world);
  });

const keysOf = ({ fake }: OnFake): readonly unknown[] =>
  fake.callsOf("Adjust").map(({ variables }) => variables["key"]);

const outcomesOf = ({ fake }: OnFake, name: string): readonly string[] =>
  fake.callsOf(name).map(({ outcome }) => outcome);

const rejection = async (call: Promise<unknown>): Promise<StorefrontError> => {
  const [result] = await Promise.allSettled([call]);
  assert.ok(result?.status === "rejected" && result.reason instanceof StorefrontError);
  return result.reason;
};

test("a look-up of 500 variants gets through at the smallest plan's rate, though it outlives the call that asks for it", () =>
  onFake(async ({ fake, storefront }) => {
    const ids = Array.from({ length: 500 }, (_, index) => String(1_000 + index));
    for (const id of ids) fake.addVariant(id);
    // Ten times as fast as the smallest plan, with a tenth of a call's time: 1,500 points against 1,000 a second, and one second.
    fake.bucket = { maximumAvailable: 400, restoreRate: 1_000 };
    fake.drain();
    const callMs = 1_000;
    let attempts = 0;
    for (let states: readonly string[] | null = null; states === null; attempts += 1) {
      assert.ok(attempts < 4, "repeats never get through");
      states = await storefront.checkVariants(ids, { signal: AbortSignal.timeout(callMs) }).catch((error: unknown) => {
        assert.ok(error instanceof StorefrontError && error.landed === "no", String(error));
        return null;
      });
      if (states !== null) assert.ok(states.length === 500 && states.every((state) => state === "active"));
    }
    assert.ok(attempts >= 2, "one call was enough, so nothing was tried");
    const done = fake.callsOf("Variants").filter(({ outcome }) => outcome === "done").length;
    assert.ok(done <= 7, `${done} pages were asked for, of 5: what is known was asked for again`);
  }));

suite("complaints about connections of Shopify", () => {
  test("1. a bundle among the items fails alone, and the rest is sent under a new key", () =>
    inStore(async (world) => {
      const { fake, storefront } = world;
      await storefront.checkVariants(["100", "101", "102"]);
      // It becomes a bundle after it was looked up.
      fake.addVariant("101", { requiresComponents: true });
      const results = await storefront.changeOnHand([change("100", 1), change("101", 2), change("102", 3)], context());
      assert.deepEqual(outcomes(results), ["applied", "rejected", "applied"]);
      assert.equal(results[1]?.outcome === "rejected" && results[1].reason, "unsyncable");
      assert.deepEqual([fake.levelOf("100", "1").available, fake.levelOf("102", "1").available], [1, 3]);
      const keys = keysOf(world);
      assert.equal(new Set(keys).size, 2);
    }));

  test("2. what other apps have incoming stays, and ours goes back to nothing", () =>
    inStore(async ({ fake, storefront }) => {
      fake.levelOf("100", "1").incoming = 40;
      const set = (units: number) =>
        storefront.setIncoming([{ variantId: "100", locationId: "1", incoming: quantity(units) }], context());
      await set(7);
      assert.equal(fake.levelOf("100", "1").incoming, 47);
      await set(3);
      assert.equal(fake.levelOf("100", "1").incoming, 43);
      await set(0);
      assert.equal(fake.levelOf("100", "1").incoming, 40);
      for (const { variables } of fake.callsOf("Adjust")) assert.match(JSON.stringify(variables), /ledgerDocumentUri/);
    }));

  test("2b. an incoming change whose answer was lost is repeated as it was before anything else is told, and counts once", () =>
    inStore(async (world) => {
      const { fake } = world;
      const set = (units: number) =>
        world
          .reopened()
          .storefront.setIncoming([{ variantId: "100", locationId: "1", incoming: quantity(units) }], context());
      fake.strike({ kind: "lost" }, "Adjust");
      assert.equal((await rejection(set(7))).landed, "maybe");
      await set(9);
      assert.equal(fake.levelOf("100", "1").incoming, 9);
      const [first, second] = fake.callsOf("Adjust");
      assert.equal(first?.body, second?.body);
    }));

  test("2c. what was sent is kept as long as its push, and swept after it", () =>
    inStore(async ({ storefront, engine }) => {
      const [kept, gone] = [context(), context()];
      await storefront.changeOnHand([change("100", 1)], kept);
      await storefront.changeOnHand([change("100", 1)], gone);
      const left = await engine.write("demo", async (tx) => {
        await tx.batch([
          insertPushStatement("demo", "po_1", { reference: kept.reference, items: [] }, 0),
          sweepWritesStatement("demo", Number.MAX_SAFE_INTEGER),
        ]);
        return await tx.all<{ reference: string }>("select reference from storefront_write where shop_id = ?", [
          "demo",
        ]);
      });
      assert.deepEqual(
        left.map(({ reference }) => reference),
        [kept.reference],
      );
    }));

  test("3. a sale between two calls is kept: stock is added, never set", () =>
    inStore(async ({ fake, storefront }) => {
      fake.levelOf("100", "1").available = 20;
      fake.meanwhile = () => {
        fake.levelOf("100", "1").available -= 5;
      };
      await storefront.changeOnHand([change("100", 10)], context());
      assert.equal(fake.levelOf("100", "1").available, 25);
    }));

  test("4. what customers have ordered is not counted twice", () =>
    inStore(async ({ fake, storefront }) => {
      Object.assign(fake.levelOf("100", "1"), { available: 6, committed: 4 });
      const made = context();
      await storefront.changeOnHand([change("100", 10)], made);
      assert.deepEqual(
        { ...fake.levelOf("100", "1"), updatedAtMs: 0 },
        { available: 16, committed: 4, incoming: 0, updatedAtMs: 0, isActive: true },
      );
      const [level] = await storefront.readOnHand([change("100", 10)], made);
      assert.deepEqual(level, { verified: true, onHand: quantity(20) });
    }));

  test("5. goods land at the location of the order, in a store with several", () =>
    inStore(async ({ fake, storefront }) => {
      await storefront.changeOnHand([change("100", 4, "2"), change("101", 1, "gid://shopify/Location/2")], context());
      assert.deepEqual([fake.levelOf("100", "1").available, fake.levelOf("100", "2").available], [0, 4]);
      assert.equal(fake.levelOf("101", "2").available, 1);
    }));

  test("6. a location that cannot hold stock is refused for its lines, by name", () =>
    inStore(async ({ fake, storefront }) => {
      fake.addLocation("3", { isActive: false });
      const results = await storefront.changeOnHand(
        [change("100", 1, "3"), change("101", 1), change("102", 1, "warehouse")],
        context(),
      );
      assert.deepEqual(outcomes(results), ["rejected", "applied", "rejected"]);
      assert.match(JSON.stringify(results[0]), /location 3 is not a location of the Shopify store/);
      assert.match(JSON.stringify(results[2]), /location warehouse/);
    }));

  test("7. every adjustment has its key and its changeFromQuantity, and none is empty", () =>
    inStore(async (world) => {
      const { fake, storefront } = world;
      for (let id = 1_000; id < 1_500; id += 1) fake.addVariant(String(id));
      for (const count of [0, 1, 249, 250, 251, 500]) {
        const before = fake.callsOf("Adjust").length;
        const changes = Array.from({ length: count }, (_, index) => change(String(1_000 + index), 1));
        assert.ok((await storefront.changeOnHand(changes, context())).every(({ outcome }) => outcome === "applied"));
        assert.equal(fake.callsOf("Adjust").length - before, Math.ceil(count / 250));
      }
      for (const call of fake.callsOf("Adjust")) {
        assert.equal(call.outcome, "done");
        assert.match(call.body, /@idempotent\(key: \$key\)/);
        const { input }: { input: { changes: readonly object[] } } = JSON.parse(JSON.stringify(call.variables));
        assert.ok(input.changes.length > 0 && input.changes.every((each) => Object.hasOwn(each, "changeFromQuantity")));
      }
    }));

  test("8. a throttled call waits for its points instead of asking again and again", () =>
    inStore(async ({ fake, storefront }) => {
      await storefront.checkVariants(["100"]);
      fake.bucket = { maximumAvailable: 100, restoreRate: 100 };
      fake.drain();
      const begunMs = Date.now();
      const variantIds = Array.from({ length: 20 }, (_, index) => String(100 + index));
      assert.ok((await storefront.checkVariants(variantIds)).every((state) => state === "active"));
      // 19 variants cost 57 points, which take 0.57 s.
      assert.ok(Date.now() - begunMs >= 450, `it took ${Date.now() - begunMs} ms`);
      const asked = fake.callsOf("Variants").length;
      assert.ok(asked <= 4, `${asked} calls`);
    }));

  test("8b. all effects of a shop share one limit: nothing is throttled once the store has said how much it takes", () =>
    inStore(async ({ fake, storefront }) => {
      fake.bucket = { maximumAvailable: 200, restoreRate: 400 };
      fake.drain();
      await storefront.checkVariants(["100"]);
      const before = fake.calls.filter(({ outcome }) => outcome === "throttled").length;
      await Promise.all(
        Array.from({ length: 16 }, (_, index) => storefront.changeOnHand([change(String(100 + index), 1)], context())),
      );
      const after = fake.calls.filter(({ outcome }) => outcome === "throttled").length;
      assert.ok(after - before <= 1, `${after - before} calls were throttled`);
      for (let id = 100; id < 116; id += 1) assert.equal(fake.levelOf(String(id), "1").available, 1);
    }));

  test("8c. shops on one store, and a shop with a new token, share the store's limit", () =>
    inStore(async (world) => {
      const { fake, shop } = world;
      const { storefronts } = world.reopened();
      fake.bucket = { maximumAvailable: 200, restoreRate: 400 };
      fake.drain();
      await storefronts.open(shop).checkVariants(["100"]);
      const before = fake.calls.filter(({ outcome }) => outcome === "throttled").length;
      const others = ["other", "third", "fourth"].map((shopId) =>
        storefronts.open({ ...shop, shopId, storefront: configOf(fake, shopId) }),
      );
      const again = storefronts.open({ ...shop, storefront: configOf(fake, shop.shopId) });
      await Promise.all(
        [...others, again].flatMap((storefront) =>
          Array.from({ length: 4 }, (_, index) => storefront.checkVariants([String(100 + index)])),
        ),
      );
      const after = fake.calls.filter(({ outcome }) => outcome === "throttled").length;
      assert.ok(after - before <= 1, `${after - before} calls were throttled`);
    }));

  test("8d. a call about no items learns what it costs: it waits for its points once, also when a store is connected", () =>
    inStore(async (world) => {
      const { fake } = world;
      fake.costs.set("Connect", 150);
      fake.bucket = { maximumAvailable: 200, restoreRate: 400 };
      fake.drain();
      const store = { domain: fake.domain, accessToken: fakeToken, clientId: null, clientSecret: null };
      const { storefronts } = world.reopened();
      const facts = await storefronts.shopify.check({ ...store, apiVersion: fakeVersion });
      assert.equal(facts.locationCount, 2);
      assert.deepEqual(outcomesOf(world, "Connect"), ["throttled", "done"]);
    }));

  test("8e. what calls cost is known after one of them was throttled: none of the next ones is", () =>
    inStore(async (world) => {
      const { fake, storefront } = world;
      fake.costs.set("AddTag", 60);
      fake.costs.set("RemoveTag", 60);
      fake.bucket = { maximumAvailable: 120, restoreRate: 2_000 };
      fake.drain();
      const tag = (present: boolean) => storefront.setTags([{ variantId: "100", tag: "On order", present }], context());
      await tag(true);
      await tag(false);
      const throttled = (): number => fake.calls.filter(({ outcome }) => outcome === "throttled").length;
      const before = throttled();
      for (const present of [true, false, true, false]) await tag(present);
      assert.equal(throttled(), before);
    }));

  test("8f. a store that takes no more is asked again after a pause, whatever it says; a long one is left to the caller", () =>
    inStore(async (world) => {
      const { fake, storefront } = world;
      fake.strike({ kind: "error", code: "THROTTLED" }, "Variants");
      assert.deepEqual(await storefront.checkVariants(["100"]), ["active"]);
      fake.strike({ kind: "status", status: 429, headers: { "retry-after": "0.01" } }, "Costs");
      assert.deepEqual(await storefront.readCosts(["100"]), [null]);
      assert.deepEqual(outcomesOf(world, "Variants"), ["THROTTLED", "done"]);
      assert.deepEqual(outcomesOf(world, "Costs"), ["429", "done"]);
      fake.strike({ kind: "status", status: 429, headers: { "retry-after": "60" } }, "Variants");
      const told = await rejection(storefront.checkVariants(["101"]));
      assert.deepEqual([told.kind, told.landed, told.retryAfterMs], ["throttled", "no", 60_000]);
      assert.equal(fake.callsOf("Variants").length, 3);
    }));

  test("8g. an access token is asked for again after a pause, when a store is connected with the app's id and secret", () =>
    inStore(async (world) => {
      const { fake } = world;
      fake.strike({ kind: "status", status: 429, headers: { "retry-after": "0.01" } }, "grant", 2);
      const { clientId, clientSecret, domain } = fake;
      const { storefronts } = world.reopened();
      const store = { domain, accessToken: null, clientId, clientSecret, apiVersion: fakeVersion };
      assert.equal((await storefronts.shopify.check(store)).grant?.accessToken, fake.grants[0]?.token);
    }));

  test("9. a lost answer says that it may have landed; the retry sends the same bytes under the same key, and it lands once", () =>
    inStore(async (world) => {
      const { fake } = world;
      const made = context();
      fake.strike({ kind: "lost" }, "Adjust");
      const error = await rejection(world.storefront.changeOnHand([change("100", 8)], made));
      assert.equal(error.landed, "maybe");
      // Another process sends it again: key and input are stored.
      const { storefront } = world.reopened();
      assert.deepEqual(outcomes(await storefront.changeOnHand([change("100", 8)], made)), ["applied"]);
      assert.equal(fake.levelOf("100", "1").available, 8);
      const [first, second] = fake.callsOf("Adjust");
      assert.equal(first?.body, second?.body);
    }));

  test("9b. a batch that was lost is repeated as it was, although the batch before it has landed and the catalogue has changed", () =>
    inStore(async (world) => {
      const { fake } = world;
      for (let id = 1_000; id < 1_300; id += 1) fake.addVariant(String(id));
      const changes = Array.from({ length: 300 }, (_, index) => change(String(1_000 + index), 2));
      const made = context();
      await world.storefront.checkVariants(["1000"]);
      fake.strike({ kind: "status", status: 503 }, "Nothing");
      let adjusts = 0;
      fake.meanwhile = () => {
        adjusts += 1;
        fake.strike({ kind: "lost" }, "Adjust");
      };
      const first = await world.storefront.changeOnHand(changes, made);
      assert.equal(adjusts, 1);
      assert.equal(first.filter(({ outcome }) => outcome === "applied").length, 250);
      assert.equal(first.filter(({ outcome }) => outcome === "unknown").length, 50);
      fake.addVariant("1299", { requiresComponents: true });
      const again = await world.reopened().storefront.changeOnHand(changes, made);
      assert.ok(again.every(({ outcome }) => outcome === "applied"));
      for (let id = 1_000; id < 1_300; id += 1) assert.equal(fake.levelOf(String(id), "1").available, 2);
      const bodies = fake.callsOf("Adjust").map(({ body }) => body);
      assert.equal(bodies.length, 3);
      assert.equal(bodies[1], bodies[2]);
    }));

  test("9c. after 24 hours a call without an outcome is not repeated: it is unknown until somebody clears it", () =>
    inStore(async (world) => {
      const { fake, storefront, engine } = world;
      const made = context();
      fake.strike({ kind: "lost" }, "Adjust");
      await rejection(storefront.changeOnHand([change("100", 8)], made));
      world.advance(25 * hourMs);
      const error = await rejection(storefront.changeOnHand([change("100", 8)], made));
      assert.equal(error.landed, "maybe");
      assert.match(error.message, /storefront-sync\/reset/);
      assert.equal(fake.callsOf("Adjust").length, 1);
      assert.equal(fake.levelOf("100", "1").available, 8);
      const push = { reference: made.reference, items: [] };
      await engine.write("demo", (tx) =>
        tx.batch([insertPushStatement("demo", "po_1", push, 0), clearWritesStatement("demo", "po_2", fake.now())]),
      );
      assert.equal(
        (await rejection(storefront.changeOnHand([change("100", 8)], made))).landed,
        "maybe",
        "another order",
      );
      await engine.write("demo", (tx) => tx.batch([clearWritesStatement("demo", "po_1", fake.now())]));
      assert.deepEqual(outcomes(await storefront.changeOnHand([change("100", 8)], made)), ["applied"]);
      assert.equal(new Set(keysOf(world)).size, 2);
    }));

  test("10. 200 without an error and without the change is not taken for success", () =>
    inStore(async ({ fake, storefront }) => {
      const made = context();
      fake.strike({ kind: "nothing" }, "Adjust");
      const error = await rejection(storefront.changeOnHand([change("100", 3)], made));
      assert.equal(error.landed, "maybe");
      assert.deepEqual(outcomes(await storefront.changeOnHand([change("100", 3)], made)), ["applied"]);
      assert.equal(fake.levelOf("100", "1").available, 3);
    }));

  test("10b. an answer that shows another change is not taken for success", () =>
    inStore(async ({ fake, storefront }) => {
      const shown = {
        name: "available",
        delta: 2,
        quantityAfterChange: null,
        item: { id: "gid://shopify/InventoryItem/100" },
        location: { id: "gid://shopify/Location/1" },
      };
      const group = { id: "gid://shopify/InventoryAdjustmentGroup/1", createdAt: "2026-01-01T00:00:00Z" };
      const data = {
        inventoryAdjustQuantities: { inventoryAdjustmentGroup: { ...group, changes: [shown] }, userErrors: [] },
      };
      const made = context();
      fake.strike({ kind: "body", body: JSON.stringify({ data }) }, "Adjust");
      const error = await rejection(storefront.changeOnHand([change("100", 3)], made));
      assert.match(error.message, /does not show the change/);
      assert.equal(error.landed, "maybe");
      assert.deepEqual(outcomes(await storefront.changeOnHand([change("100", 3)], made)), ["applied"]);
      assert.equal(fake.levelOf("100", "1").available, 3);
    }));

  test("11. a missing scope is said by name, and is not tried again and again", () =>
    inStore(async ({ fake, storefront }) => {
      await storefront.checkVariants(["100"]);
      fake.scopes = new Set(["read_products", "read_inventory"]);
      const error = await rejection(storefront.changeOnHand([change("100", 3)], context()));
      assert.deepEqual([error.kind, error.landed], ["auth", "no"]);
      assert.match(error.message, /write_inventory/);
      assert.equal(fake.callsOf("Adjust").length, 1);
    }));

  test("12. a deleted variant is deleted, a store that does not answer is an error, and neither is taken for the other", () =>
    inStore(async ({ fake, storefront }) => {
      assert.deepEqual(await storefront.checkVariants(["100", "999", "SKU-1"]), ["active", "deleted", "deleted"]);
      fake.strike({ kind: "status", status: 503 }, "Variants");
      assert.equal((await rejection(storefront.checkVariants(["101"]))).kind, "error");
      fake.deleteVariant("100");
      const results = await storefront.changeOnHand([change("100", 1), change("101", 1)], context());
      assert.deepEqual(outcomes(results), ["rejected", "applied"]);
    }));

  const gone = [
    ["a push of stock", ({ storefront }: OnFake) => storefront.changeOnHand([change("100", 1)], context())],
    ["a look at the stock", ({ storefront }: OnFake) => storefront.readOnHand([change("100", 1)], context())],
    [
      "incoming",
      ({ storefront }: OnFake) =>
        storefront.setIncoming([{ variantId: "100", locationId: "1", incoming: quantity(3) }], context()),
    ],
    [
      "a unit cost",
      ({ storefront }: OnFake) => storefront.writeCosts([{ variantId: "100", unitCost: money(3) }], context()),
    ],
    ["a look at the unit cost", ({ storefront }: OnFake) => storefront.readCosts(["100"])],
    [
      "a tag that is taken away",
      ({ storefront }: OnFake) =>
        storefront.setTags([{ variantId: "100", tag: "On order", present: false }], context()),
    ],
    [
      "a page of a pull",
      async ({ storefront }: OnFake) => {
        const changedSinceMs = Date.now() - hourMs;
        const part = { stage: "variants", changedSinceMs, soldSinceMs: 0 } as const;
        return await storefront.pull?.page({ ...part, cursor: null });
      },
    ],
  ] as const;
  for (const [what, call] of gone)
    test(`12b. a variant that Shopify has just called gone does not count as active: ${what}`, () =>
      inStore(async (world) => {
        const { fake, storefront } = world;
        const made = storefront.changeOnHand([change("100", 1)], context());
        await made;
        assert.deepEqual(await storefront.checkVariants(["100", "101"]), ["active", "active"]);
        fake.deleteProduct("8100");
        const looks = fake.callsOf("Variants").length;
        await call(world);
        assert.deepEqual(await storefront.checkVariants(["100", "101"]), ["deleted", "active"]);
        // The other one is still known.
        assert.deepEqual(
          fake
            .callsOf("Variants")
            .slice(looks)
            .map(({ variables }) => variables["ids"]),
          [["gid://shopify/ProductVariant/100"]],
        );
      }));

  test("13. a cost is not written into a store that counts in another currency", () =>
    inStore(async ({ fake, storefront }) => {
      fake.currency = "EUR";
      const [result] = await storefront.writeCosts([{ variantId: "100", unitCost: money(5) }], context());
      assert.ok(result?.outcome === "rejected");
      assert.match(result.message, /EUR.*USD/);
      assert.equal(fake.callsOf("WriteCosts").length, 0);
    }));

  test("13b. costs of one product are one call", () =>
    inStore(async ({ fake, storefront }) => {
      for (let id = 300; id < 340; id += 1) fake.addVariant(String(id), { productId: id < 320 ? "31" : "32" });
      const costs = Array.from({ length: 40 }, (_, index) => ({
        variantId: String(300 + index),
        unitCost: money(1.25),
      }));
      assert.ok((await storefront.writeCosts(costs, context())).every(({ outcome }) => outcome === "applied"));
      assert.equal(fake.callsOf("WriteCosts").length, 2);
    }));

  test("14. three receipts at the same time add three times, a repeated one once", () =>
    inStore(async ({ fake, storefront }) => {
      await Promise.all([1, 2, 3].map(() => storefront.changeOnHand([change("100", 10)], context())));
      assert.equal(fake.levelOf("100", "1").available, 30);
      const made = context();
      await Promise.allSettled([1, 2, 3].map(() => storefront.changeOnHand([change("100", 10)], made)));
      assert.equal(fake.levelOf("100", "1").available, 40);
    }));

  test("15. a push reads the variants of its order and nothing else", () =>
    inStore(async ({ fake, storefront }) => {
      for (let id = 1_000; id < 1_500; id += 1) fake.addVariant(String(id));
      await storefront.changeOnHand([change("1000", 1), change("1001", 1)], context());
      assert.deepEqual(
        fake.calls.map(({ name }) => name),
        ["Variants", "Adjust"],
      );
      assert.deepEqual(fake.callsOf("Variants")[0]?.variables["ids"], [
        "gid://shopify/ProductVariant/1000",
        "gid://shopify/ProductVariant/1001",
      ]);
    }));

  test("16. a level that Shopify still shows as before the change is not verified, and is read again", () =>
    inStore(async ({ fake, storefront }) => {
      const made = context();
      await storefront.changeOnHand([change("100", 3)], made);
      const level = fake.levelOf("100", "1");
      const changedAtMs = level.updatedAtMs;
      level.updatedAtMs = changedAtMs - hourMs;
      assert.equal((await storefront.readOnHand([change("100", 3)], made))[0]?.verified, false);
      level.updatedAtMs = changedAtMs;
      assert.equal((await storefront.readOnHand([change("100", 3)], made))[0]?.verified, true);
    }));
});
