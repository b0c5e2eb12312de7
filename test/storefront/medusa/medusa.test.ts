/**
 * What the adapter of Medusa does beyond what every storefront does: on the fake, or with `npm run test:medusa` on a real one.
 *
 * Only on sqlite: its subject is the conversation with the storefront, which knows no engine.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ItemResult,
  type OnHandChange,
  type Storefront,
  StorefrontError,
} from "../../../src/storefront/storefront.ts";
import { money, quantity } from "../../support/goods.ts";
import { type OnMedusa, onMedusa } from "./connected.ts";
import { isReal, type MedusaPlace } from "./place.ts";
import { readItems, setLevels, writeItem } from "./proxy.ts";
import { shopId } from "../../support/peers/storefront.ts";
import { pause, until } from "../../support/until.ts";

const outcomes = (results: readonly ItemResult[]): readonly string[] => results.map((result) => result.outcome);

let references = 0;
const context = (signal?: AbortSignal) => ({
  reference: `ref-${(references += 1)}`,
  documentUri: "openpo://shops/demo/test",
  ...(signal === undefined ? {} : { signal }),
});

/** A Medusa with as many variants, which have 10 in stock at one location. */
const withStock = (count: number, use: (world: OnMedusa & Stocked) => Promise<void>): Promise<void> =>
  onMedusa(async (world) => {
    const { medusa } = world;
    const locationId = await medusa.addLocation("Dock");
    const variantIds = await medusa.addVariants(count);
    for (const variantId of variantIds) await medusa.setLevel(variantId, locationId, { stocked_quantity: 10 });
    await use({
      ...world,
      locationId,
      variantIds,
      add: (units, places = variantIds.map((_, place) => place)) =>
        places.map((place) => ({ variantId: variantIds[place] ?? "", locationId, delta: quantity(units) })),
      stock: async (place = 0) => (await medusa.level(variantIds[place] ?? "", locationId)).stocked,
    });
  });

interface Stocked {
  readonly locationId: string;
  readonly variantIds: readonly string[];
  /** The same change of these variants, of all when none are named. */
  readonly add: (units: number, places?: readonly number[]) => readonly OnHandChange[];
  readonly stock: (place?: number) => Promise<number>;
}

const failsWith =
  (kind: StorefrontError["kind"], landed: StorefrontError["landed"], words = /./) =>
  (error: unknown): boolean =>
    error instanceof StorefrontError && error.kind === kind && error.landed === landed && words.test(error.message);

/** A call of which the write gets no answer, and for which nobody waits any more then, as when the process is killed. */
async function cutOff(
  { proxy }: MedusaPlace,
  kind: "hang" | "swallow",
  call: (signal: AbortSignal) => Promise<unknown>,
) {
  const stop = new AbortController();
  proxy.strike(setLevels, { kind });
  const before = proxy.unanswered;
  const failed = assert.rejects(call(stop.signal), failsWith("timeout", "maybe"));
  await until("the call is unanswered", () => proxy.unanswered !== before);
  stop.abort();
  await failed;
  proxy.heal();
}

test("what is sold between the read and the comparison is kept: the sum is made anew", () =>
  withStock(1, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    medusa.proxy.strike(readItems, { kind: "after", happens: () => medusa.addByHand(id, locationId, -3) });
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), context())), ["applied"]);
    assert.equal(await stock(), 12);
    assert.equal(medusa.proxy.callsOf(setLevels).length, 1);
  }));

test("what is changed between the comparison and the write is seen in the answer and added again", () =>
  withStock(2, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(1), context())), ["applied", "applied"]);
    medusa.proxy.strike(setLevels, { kind: "before", happens: () => medusa.addByHand(id, locationId, 4) });
    const made = context();
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), made)), ["applied", "applied"]);
    assert.deepEqual([await stock(0), await stock(1)], [20, 16]);
    assert.deepEqual(
      (await storefront.readOnHand(add(5), made)).map(({ verified }) => verified),
      [true, true],
    );
  }));

test("exactly the same quantity is added by somebody else in between, and both count", () =>
  withStock(1, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    await storefront.changeOnHand(add(1), context());
    medusa.proxy.strike(setLevels, { kind: "before", happens: () => medusa.addByHand(id, locationId, 5) });
    await storefront.changeOnHand(add(5), context());
    assert.equal(await stock(), 21);
  }));

test(
  "from a Medusa whose answers show the new figure nothing is concluded",
  { skip: isReal ? "the real one shows the old figure" : false },
  () =>
    withStock(1, async ({ medusa, storefront, add, stock }) => {
      assert.ok(medusa.fake);
      medusa.fake.showsBefore = false;
      for (let turns = 0; turns < 3; turns += 1)
        assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), context())), ["applied"]);
      assert.equal(await stock(), 25);
    }),
);

test("a level that keeps changing is left for later, and nothing has been written", () =>
  withStock(1, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    medusa.proxy.strike(readItems, { kind: "after", happens: () => medusa.addByHand(id, locationId, 1) }, 100);
    const later = context();
    await assert.rejects(storefront.changeOnHand(add(5), later), failsWith("throttled", "no", /kept changing/));
    assert.equal(medusa.proxy.callsOf(setLevels).length, 0);
    medusa.proxy.heal();
    const before = await stock();
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), later)), ["applied"]);
    assert.equal(await stock(), before + 5);
  }));

test("orders that add to the same levels at the same moment all count, from several nodes too", () =>
  withStock(3, async ({ engine, storefront, reopened, add, stock }) => {
    // One process alone has one adapter; among nodes each has its own.
    const nodes = engine.embedded ? [storefront] : [storefront, reopened().storefront, reopened().storefront];
    const push = async (node: Storefront, units: number) => {
      const made = context();
      // Whoever waits for its turn for too long comes again, as the outbox does.
      for (;;)
        try {
          return await node.changeOnHand(add(units), made);
        } catch (error) {
          if (!(error instanceof StorefrontError) || error.kind !== "throttled") throw error;
        }
    };
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, index) => push(nodes[index % nodes.length] ?? storefront, index + 1)),
    );
    assert.deepEqual([...new Set(results.flatMap(outcomes))], ["applied"]);
    for (const place of [0, 1, 2]) assert.equal(await stock(place), 10 + 45);
  }));

for (const [what, kind] of [
  ["has been carried out", "hang"],
  ["never arrived", "swallow"],
] as const)
  test(`after a process was killed in a call that ${what}, other orders and the retry lead to the right stock`, () =>
    withStock(2, async ({ medusa, storefront, reopened, advance, add, stock }) => {
      const killed = context();
      await cutOff(medusa, kind, (signal) => storefront.changeOnHand(add(5), { ...killed, signal }));
      // The next holder of the turn finds out what became of the call before it computes anything.
      advance(30_000);
      const { storefront: other } = reopened();
      assert.deepEqual(outcomes(await other.changeOnHand(add(2), context())), ["applied", "applied"]);
      assert.deepEqual(outcomes(await other.changeOnHand(add(5), killed)), ["applied", "applied"]);
      assert.deepEqual([await stock(0), await stock(1)], [17, 17]);
      const back = await other.readOnHand(add(5), killed);
      assert.deepEqual(back, [
        { verified: true, onHand: quantity(17) },
        { verified: true, onHand: quantity(17) },
      ]);
    }));

test("while another node has the turn a call waits, and goes on when the turn is over", () =>
  withStock(1, async ({ engine, medusa, storefront, reopened, add, stock }) => {
    if (engine.embedded) return assert.ok(engine.embedded, "one process alone waits in itself");
    const reached = Promise.withResolvers<void>();
    medusa.proxy.strike(setLevels, {
      kind: "before",
      happens: () => {
        reached.resolve();
        return pause(700);
      },
    });
    const first = storefront.changeOnHand(add(5), context());
    await reached.promise;
    const [turn] = await engine.read(shopId, (tx) =>
      tx.all<{ owner: string }>("select owner from storefront_turn", []),
    );
    assert.match(turn?.owner ?? "", /^node_\w+\.\d+$/, "by which it is known when the node dies (D473)");
    const second = reopened().storefront.changeOnHand(add(2), context());
    assert.deepEqual(outcomes([...(await first), ...(await second)]), ["applied", "applied"]);
    assert.equal(await stock(), 17);
  }));

test("a lost answer beside a change from outside: the other levels of the call say what became of it", () =>
  withStock(2, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    const lost = context();
    medusa.proxy.strike(setLevels, { kind: "lost" });
    await assert.rejects(storefront.changeOnHand(add(5), lost), failsWith("error", "maybe"));
    await medusa.addByHand(id, locationId, -4);
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), lost)), ["applied", "applied"]);
    assert.deepEqual([await stock(0), await stock(1)], [11, 15]);
  }));

test("a lost answer that no level explains stays unknown, says the figures, and is made anew only when somebody clears it", () =>
  withStock(1, async ({ medusa, storefront, engine, add, stock, variantIds: [id = ""], locationId }) => {
    const lost = context();
    medusa.proxy.strike(setLevels, { kind: "lost" });
    await assert.rejects(storefront.changeOnHand(add(5), lost), failsWith("error", "maybe"));
    await medusa.addByHand(id, locationId, -4);
    for (let turns = 0; turns < 2; turns += 1)
      await assert.rejects(
        storefront.changeOnHand(add(5), lost),
        failsWith("error", "maybe", /from 10 to 15 .* storefront-sync\/reset/),
      );
    assert.equal(await stock(), 11);
    // Others are not held up by it.
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(2), context())), ["applied"]);
    await engine.write("demo", (tx) =>
      tx.batch([{ sql: "update storefront_write set cleared_at = ?", params: [Date.now() + 1_000] }]),
    );
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), lost)), ["applied"]);
    assert.equal(await stock(), 18);
  }));

test("a sale that only reserves does not make a lost call doubtful, and what is reserved stays", () =>
  withStock(1, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    const lost = context();
    await cutOff(medusa, "swallow", (signal) => storefront.changeOnHand(add(5), { ...lost, signal }));
    const inventory_item_id = await medusa.itemOf(id);
    await medusa.ask("POST", "/admin/reservations", { inventory_item_id, location_id: locationId, quantity: 2 });
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), lost)), ["applied"]);
    assert.equal(await stock(), 15);
    assert.equal((await medusa.level(id, locationId)).reserved, 2);
  }));

test("a call that Medusa fails at is looked up and made again", () =>
  withStock(1, async ({ medusa, storefront, add, stock, variantIds: [id = ""], locationId }) => {
    const failed = context();
    medusa.proxy.strike(setLevels, { kind: "status", status: 500 });
    await assert.rejects(storefront.changeOnHand(add(5), failed), failsWith("error", "maybe", /HTTP 500/));
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), failed)), ["applied"]);
    assert.equal(await stock(), 15);
    // Medusa takes back what a failed call has changed, which the level's time shows.
    const undone = context();
    medusa.proxy.strike(setLevels, { kind: "failed", happens: () => medusa.addByHand(id, locationId, -5) });
    await assert.rejects(storefront.changeOnHand(add(5), undone), failsWith("error", "maybe", /HTTP 500/));
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), undone)), ["applied"]);
    assert.equal(await stock(), 20);
    medusa.proxy.strike(setLevels, { kind: "failed", happens: () => {} });
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), context())), ["applied"]);
    assert.equal(await stock(), 25);
  }));

test("an answer without an error that does not show the new figure is not believed", () =>
  withStock(1, async ({ medusa, storefront, add, stock }) => {
    const silent = context();
    medusa.proxy.strike(setLevels, { kind: "status", status: 200, body: '{"created":[],"updated":[]}' });
    await assert.rejects(storefront.changeOnHand(add(5), silent), failsWith("error", "maybe", /does not show/));
    assert.equal(await stock(), 10);
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), silent)), ["applied"]);
    assert.equal(await stock(), 15);
  }));

test("a level that vanishes right before the write is made anew, and the others of the call are not held up", () =>
  withStock(3, async ({ medusa, storefront, add, stock, variantIds: [, id = ""], locationId }) => {
    medusa.proxy.strike(setLevels, { kind: "before", happens: () => medusa.removeLevel(id, locationId) });
    assert.deepEqual(outcomes(await storefront.changeOnHand(add(5), context())), ["applied", "applied", "applied"]);
    assert.deepEqual([await stock(0), await stock(1), await stock(2)], [15, 5, 15]);
  }));

test("a level that Medusa refuses for good is rejected alone with Medusa's words", () =>
  withStock(4, async ({ medusa, storefront, add, stock, variantIds, locationId }) => {
    // A rule of the merchant's own in front of Medusa.
    const body = '{"type":"invalid_data","message":"item is frozen"}';
    medusa.proxy.strike(
      setLevels,
      { kind: "status", status: 400, body },
      100,
      await medusa.itemOf(variantIds[1] ?? ""),
    );
    const results = await storefront.changeOnHand(add(5), context());
    assert.deepEqual(outcomes(results), ["applied", "rejected", "applied", "applied"]);
    assert.match(results[1]?.outcome === "rejected" ? results[1].message : "", /item is frozen/);
    assert.deepEqual([await stock(0), await stock(1), await stock(2), await stock(3)], [15, 10, 15, 15]);
    const levels = variantIds.map((variantId) => ({ variantId, locationId, incoming: quantity(3) }));
    assert.deepEqual(outcomes(await storefront.setIncoming(levels, context())), outcomes(results));
  }));

test("more than is there cannot be taken away: that line is refused with both figures", () =>
  withStock(2, async ({ storefront, stock, variantIds: [one = "", other = ""], locationId }) => {
    const changes = [
      { variantId: one, locationId, delta: quantity(-11) },
      { variantId: other, locationId, delta: quantity(-4) },
      { variantId: other, locationId: "sloc_nowhere", delta: quantity(1) },
    ];
    const [short, done, nowhere] = await storefront.changeOnHand(changes, context());
    assert.ok(short?.outcome === "rejected" && nowhere?.outcome === "rejected");
    assert.match(short.message, /has 10 .* 11 cannot be taken away/);
    assert.equal(nowhere.reason, "unknown-location");
    assert.equal(done?.outcome, "applied");
    assert.deepEqual([await stock(0), await stock(1)], [10, 6]);
  }));

test("two variants of one inventory item are one level", () =>
  withStock(1, async ({ medusa, storefront, stock, variantIds: [id = ""], locationId }) => {
    const [twin] = await medusa.addProducts([{ variants: [{ itemsOf: [{ variantId: id, required: 1 }] }] }]);
    const variantIds = [id, twin?.variantIds[0] ?? ""];
    const changes = variantIds.map((variantId) => ({ variantId, locationId, delta: quantity(5) }));
    assert.deepEqual(outcomes(await storefront.changeOnHand(changes, context())), ["applied", "applied"]);
    assert.equal(await stock(), 20);
    const levels = variantIds.map((variantId) => ({ variantId, locationId, incoming: quantity(3) }));
    assert.deepEqual(outcomes(await storefront.setIncoming(levels, context())), ["applied", "applied"]);
    assert.equal((await medusa.level(id, locationId)).incoming, 6);
  }));

test("a product that is a draft, proposed or rejected is inactive; publishing it publishes its other variants", () =>
  onMedusa(async ({ medusa, storefront }) => {
    const made = await medusa.addProducts(
      ["draft", "proposed", "rejected", "published"].map((status) => ({ status, variants: [{}, {}] })),
    );
    const [draft = [], ...others] = made.map(({ variantIds }) => variantIds);
    const [one = "", sibling = ""] = draft;
    assert.deepEqual(await storefront.checkVariants([one, ...others.map(([id = ""]) => id)]), [
      "inactive",
      "inactive",
      "inactive",
      "active",
    ]);
    assert.equal(storefront.capabilities.activates, "product");
    assert.deepEqual(outcomes(await storefront.activateVariants([one])), ["applied"]);
    assert.deepEqual(await storefront.checkVariants([sibling]), ["active"]);
  }));

test("an inventory that Medusa does not manage and a bundle are unsyncable", () =>
  withStock(2, async ({ medusa, storefront, variantIds: [one = "", other = ""] }) => {
    const part = (variantId: string, required: number) => ({ variantId, required });
    const made = await medusa.addProducts([
      { variants: [{ isManaged: false }] },
      { variants: [{ itemsOf: [part(one, 1), part(other, 1)] }] },
      { variants: [{ itemsOf: [part(one, 6)] }] },
      { variants: [{ itemsOf: [part(one, 1)] }] },
    ]);
    const states = await storefront.checkVariants(made.map(({ variantIds: [id = ""] }) => id));
    assert.deepEqual(states, ["unsyncable", "unsyncable", "unsyncable", "active"]);
  }));

test("what others have as incoming stays, and ours is taken back alone", () =>
  withStock(2, async ({ medusa, storefront, variantIds: [one = "", other = ""], locationId }) => {
    await medusa.setLevel(one, locationId, { incoming_quantity: 7 });
    const set = (units: number) =>
      storefront.setIncoming(
        [one, other].map((variantId) => ({ variantId, locationId, incoming: quantity(units) })),
        context(),
      );
    const shown = async () => [
      (await medusa.level(one, locationId)).incoming,
      (await medusa.level(other, locationId)).incoming,
    ];
    await set(2.5);
    assert.deepEqual(await shown(), [9.5, 2.5]);
    medusa.proxy.strike(readItems, {
      kind: "after",
      happens: () => medusa.setLevel(one, locationId, { incoming_quantity: 10.5 }),
    });
    assert.deepEqual(outcomes(await set(4)), ["applied", "applied"]);
    assert.deepEqual(await shown(), [12, 4]);
    // A merchant has set it to nothing: it does not fall below.
    await medusa.setLevel(other, locationId, { incoming_quantity: 0 });
    assert.deepEqual(outcomes(await set(0)), ["applied", "applied"]);
    assert.deepEqual(await shown(), [8, 0]);
    assert.deepEqual((await medusa.level(one, locationId)).stocked, 10);
  }));

for (const [what, kind] of [
  ["has been carried out", "hang"],
  ["never arrived", "swallow"],
] as const)
  test(`what is incoming is right after a call without an answer that ${what}`, () =>
    withStock(2, async ({ medusa, storefront, reopened, variantIds, locationId }) => {
      const set = (use: Storefront, units: number, signal?: AbortSignal) =>
        use.setIncoming(
          variantIds.map((variantId) => ({ variantId, locationId, incoming: quantity(units) })),
          context(signal),
        );
      await set(storefront, 3);
      await cutOff(medusa, kind, (signal) => set(storefront, 8, signal));
      await set(reopened().storefront, 6);
      for (const variantId of variantIds) assert.equal((await medusa.level(variantId, locationId)).incoming, 6);
    }));

test("costs stand in the inventory item's metadata with their currency, beside the merchant's entries", () =>
  withStock(2, async ({ medusa, storefront, variantIds: [one = "", other = ""] }) => {
    const itemId = await medusa.itemOf(one);
    await medusa.ask("POST", `/admin/inventory-items/${itemId}`, { metadata: { shelf: "A7" } });
    const costs = [
      { variantId: one, unitCost: money(12.3456) },
      { variantId: other, unitCost: money(7) },
    ];
    assert.deepEqual(outcomes(await storefront.writeCosts(costs, context())), ["applied", "applied"]);
    const path = `/admin/inventory-items?id[]=${itemId}&fields=id,metadata`;
    const shown = async () =>
      (await medusa.ask<{ inventory_items: { metadata: unknown }[] }>("GET", path)).inventory_items[0]?.metadata;
    assert.deepEqual(await shown(), { shelf: "A7", unit_cost: "12.3456", unit_cost_currency: "usd" });
    const writes = medusa.proxy.calls.filter(({ call }) => writeItem.test(call)).length;
    assert.deepEqual(outcomes(await storefront.writeCosts(costs, context())), ["unchanged", "unchanged"]);
    assert.equal(medusa.proxy.calls.filter(({ call }) => writeItem.test(call)).length, writes);
    await medusa.ask("POST", `/admin/inventory-items/${itemId}`, { metadata: { unit_cost_currency: "eur" } });
    assert.deepEqual(await storefront.readCosts([one, other]), [null, money(7)]);
  }));

test("the tags of 60 products are set in three calls, and others' stay", () =>
  onMedusa(async ({ medusa, storefront }) => {
    const variantIds = await medusa.addVariants(60);
    const [first = ""] = variantIds;
    const own = `summer ${context().reference} ${Date.now()}`;
    await medusa.tagByHand(first, own);
    const tag = `on order ${Date.now()}`;
    const set = (present: boolean) =>
      storefront.setTags(
        variantIds.map((variantId) => ({ variantId, tag, present })),
        context(),
      );
    assert.deepEqual([...new Set(outcomes(await set(true)))], ["applied"]);
    assert.equal(medusa.proxy.callsOf("POST /admin/products/batch").length, 3);
    assert.deepEqual((await medusa.productOf(first)).tags.map(({ value }) => value).sort(), [tag, own].sort());
    assert.deepEqual([...new Set(outcomes(await set(true)))], ["unchanged"]);
    assert.deepEqual([...new Set(outcomes(await set(false)))], ["applied"]);
    assert.deepEqual(
      (await medusa.productOf(first)).tags.map(({ value }) => value),
      [own],
    );
  }));

test("a 429 is waited for; no more than four requests of a store are under way", () =>
  onMedusa(async ({ medusa, storefront }) => {
    const variantIds = await medusa.addVariants(12);
    medusa.proxy.strike(/^GET/, { kind: "status", status: 429, headers: { "retry-after": "1" } }, 2);
    const sinceMs = Date.now();
    assert.deepEqual([...new Set(await storefront.checkVariants(variantIds))], ["active"]);
    assert.ok(Date.now() - sinceMs >= 2_000);
    medusa.proxy.underWayMax = 0;
    medusa.proxy.strike(/./, { kind: "before", happens: () => pause(50) }, 100);
    const costs = variantIds.map((variantId) => ({ variantId, unitCost: money(3) }));
    await storefront.writeCosts(costs, context());
    assert.equal(medusa.proxy.underWayMax, 4);
    medusa.proxy.heal();
    medusa.proxy.strike(/^GET/, { kind: "status", status: 429, headers: { "retry-after": "0.01" } }, 5);
    await assert.rejects(storefront.checkVariants(variantIds), failsWith("throttled", "no"));
  }));

test("what is no answer of Medusa is told as such, never with the key", () =>
  withStock(1, async ({ medusa, storefront, reopened, shop, add, variantIds }) => {
    const large = JSON.stringify({ variants: "x".repeat(9_000_000) });
    const cases = [
      [{ status: 401, body: '{"message":"Unauthorized"}' }, "auth", "no", /secret key/],
      [{ status: 403, body: "{}" }, "auth", "no", /may not do it/],
      [{ status: 302, headers: { location: "http://169.254.169.254/" } }, "auth", "no", /redirected/],
      [{ status: 404, body: "<pre>Cannot GET</pre>" }, "auth", "no", /not the Admin API/],
      [{ status: 200, body: "<html>" }, "error", "no", /not JSON/],
      [{ status: 200, body: "{}" }, "error", "no", /cannot be understood \(at variants\)/],
      [{ status: 200, body: large }, "error", "maybe", /larger than 8388608 bytes/],
      [{ status: 503, body: "busy" }, "error", "no", /HTTP 503/],
      [{ status: 409, body: '{"type":"conflict","message":"busy"}' }, "error", "no", /under way/],
      [{ status: 400, body: '{"type":"invalid_data","message":"odd fields"}' }, "error", "no", /odd fields/],
    ] as const;
    for (const [answer, kind, landed, words] of cases) {
      medusa.proxy.strike("GET /admin/product-variants", { kind: "status", ...answer });
      await assert.rejects(storefront.checkVariants(variantIds), (error) => {
        assert.ok(error instanceof StorefrontError);
        assert.deepEqual([error.kind, error.landed], [kind, landed], error.message);
        assert.match(error.message, words);
        assert.ok(!error.message.includes(medusa.key));
        return true;
      });
    }
    const { storefronts } = reopened();
    storefronts.open(shop);
    assert.equal(storefronts.stateOf(shop)?.lastCallAtMs, null);
    medusa.proxy.strike(setLevels, { kind: "status", status: 401, body: "{}" });
    await assert.rejects(storefront.changeOnHand(add(1), context()), failsWith("auth", "no"));
    await medusa.proxy.close();
    await assert.rejects(storefront.changeOnHand(add(1), context()), failsWith("error", "no", /could not be reached/));
  }));

test("a look-up of 500 variants is five requests, and none after nobody waits for it", () =>
  onMedusa(async ({ medusa, storefront }) => {
    const variantIds = Array.from({ length: 500 }, (_, index) => `variant_${index}`);
    assert.deepEqual([...new Set(await storefront.checkVariants(variantIds))], ["deleted"]);
    assert.equal(medusa.proxy.calls.length, 5);
    const stop = new AbortController();
    medusa.proxy.strike(/./, { kind: "before", happens: () => stop.abort() }, 100);
    await assert.rejects(storefront.checkVariants(variantIds, { signal: stop.signal }), failsWith("timeout", "no"));
    assert.ok(medusa.proxy.calls.length <= 9);
  }));
