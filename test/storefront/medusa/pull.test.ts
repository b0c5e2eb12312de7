/** Pulling what a Medusa holds (C66): over the fake, or with `npm run test:medusa` a real one, which has what other tests have left there too. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import type { Pull } from "../../../src/shop/storefront/storefront-pulls.ts";
import { money, quantity } from "../../support/goods.ts";
import { ask, ended, heldBy, pullAll, pullerOn, pullOf, toldOf } from "../../support/peers/pulling.ts";
import { type OnMedusa, onMedusa } from "./connected.ts";
import { isReal } from "./place.ts";
import { Selling } from "./selling.ts";
import { until } from "../../support/until.ts";

const variantsList = "GET /admin/product-variants";
const ordersList = "GET /admin/orders";

interface Stocked extends OnMedusa {
  /** Two locations; goods are sold from the first. */
  readonly dock: string;
  readonly fair: string;
  readonly selling: Selling;
  /** A product with two variants, of which the first has prices and codes, and 50 at the dock and 5 at the fair. */
  readonly productId: string;
  readonly variantIds: readonly [string, string];
  readonly name: string;
}

const inStore = (use: (world: Stocked) => Promise<void>): Promise<void> =>
  onMedusa(async (world) => {
    const { medusa } = world;
    const dock = await medusa.addLocation("Dock");
    const fair = await medusa.addLocation("Fair");
    const name = `Mug ${randomUUID()}`;
    const prices = [
      { currency_code: "eur", amount: 11 },
      { currency_code: "usd", amount: 9, min_quantity: 5 },
      { currency_code: "usd", amount: 12.5 },
    ];
    const [made] = await medusa.addProducts([
      { title: name, variants: [{ sku: name, barcode: name.slice(4), prices }, {}] },
    ]);
    assert.ok(made !== undefined);
    const [first = "", second = ""] = made.variantIds;
    await medusa.setLevel(first, dock, { stocked_quantity: 50 });
    await medusa.setLevel(first, fair, { stocked_quantity: 5.25 });
    const selling = new Selling(medusa, dock);
    await use({ ...world, dock, fair, selling, productId: made.productId, variantIds: [first, second], name });
  });

/** What the shop has of these variants. */
async function heldOf(world: OnMedusa, variantIds: readonly string[]) {
  const held = await heldBy(world);
  const isOurs = (each: { readonly variant_id?: unknown }): boolean => variantIds.includes(String(each.variant_id));
  return {
    variants: variantIds.map((id) => held.variants.find((each) => each["variant_id"] === id)),
    levels: held.levels.filter((each) => isOurs(each)),
    sales: held.sales.filter((each) => isOurs(each)),
  };
}

const done = (pull: Pull): Pull => {
  assert.equal(pull.state, "done", pull.error ?? "");
  return pull;
};

const today = (): string => new Date().toISOString().slice(0, 10);

test("everything is brought: locations, names, codes, prices, costs, states, what is on hand, and sales; a second pull changes nothing", () =>
  inStore(async (world) => {
    const { medusa, dock, fair, selling, productId, variantIds, name } = world;
    const [first, second] = variantIds;
    const [draft = ""] = await medusa.addVariants(1, "draft");
    const [bundle] = await medusa.addProducts([{ variants: [{ itemsOf: [{ variantId: second, required: 2 }] }] }]);
    const bundleId = bundle?.variantIds[0] ?? "";
    await medusa.ask("POST", `/admin/products/${productId}/variants/${second}`, { title: "Default variant" });
    await medusa.ask("POST", `/admin/products/${productId}`, { thumbnail: "https://pictures.example/mug.png" });
    const metadata = { unit_cost: "4.1234", unit_cost_currency: "usd" };
    await medusa.ask("POST", `/admin/inventory-items/${await medusa.itemOf(first)}`, { metadata });
    const sent = await selling.sell(first, 3);
    await selling.send(sent, 3);
    await selling.sell(first, 4);
    const calledBack = await selling.sell(first, 1);
    await selling.send(calledBack, 1);
    await selling.callBack(calledBack);
    const pull = done(await pullAll(world));
    assert.deepEqual(pull.notes, []);
    const held = await heldOf(world, [first, second, draft, bundleId]);
    assert.deepEqual(held.variants[0], {
      variant_id: first,
      product_id: productId,
      product_name: name,
      variant_name: "v0",
      sku: name,
      barcode: name.slice(4),
      price: money(12.5),
      unit_cost: money(4.1234),
      status: "active",
      image_url: "https://pictures.example/mug.png",
    });
    assert.deepEqual(
      held.variants.map((each) => [each?.["status"], each?.["variant_name"]]),
      [
        ["active", "v0"],
        ["active", null],
        ["inactive", "v0"],
        ["unsyncable", "v0"],
      ],
    );
    // What was sent has left the stock; what was only sold is reserved.
    const onHand = isReal ? 47 : 50;
    const byPlace = new Map(held.levels.map((each) => [`${each.variant_id} ${each.location_id}`, each.on_hand]));
    assert.deepEqual(
      byPlace,
      new Map([
        [`${first} ${dock}`, quantity(onHand)],
        [`${first} ${fair}`, quantity(5.25)],
      ]),
    );
    assert.deepEqual(
      held.sales.map((each) => [each.location_id, each.date, each.quantity]),
      [
        ["", today(), quantity(5)],
        [dock, today(), quantity(3)],
      ],
    );
    const whole = await heldBy(world);
    assert.ok(whole.locations.some((each) => each.location_id === fair && each.name === "Fair"));
    const { counts } = pull;
    assert.deepEqual([counts.variants, counts.sales >= 2], [whole.variants.length, true]);
    const told = await toldOf(world);
    const of = told.filter(({ id }) => id === first || id === fair);
    assert.deepEqual(
      of.map(({ kind, action, by, operation }) => [kind, action, by, operation]),
      [
        ["location", "created", "Medusa", "storefront_pull"],
        ["variant", "created", "Medusa", "storefront_pull"],
      ],
    );
    assert.ok(of[1]?.changes.some(({ field, after }) => field === "unitCost" && after === 4.1234));
    done(await pullAll(world, true));
    assert.deepEqual(await heldOf(world, [first, second, draft, bundleId]), held);
    assert.deepEqual(await toldOf(world), told);
  }));

test("a pull of what has changed asks for orders that have, sets what was sold to what it is now, and tells what was deleted", () =>
  inStore(async (world) => {
    const { medusa, dock, fair, selling, productId, variantIds } = world;
    const [first, second] = variantIds;
    const [gone] = await medusa.addProducts([{ variants: [{}] }]);
    const goneId = gone?.variantIds[0] ?? "";
    const [edited, returned, cancelled] = [
      await selling.sell(first, 5),
      await selling.sell(first, 8),
      await selling.sell(first, 2),
    ];
    await selling.send(returned, 8);
    done(await pullAll(world));
    const soldOf = async () => (await heldOf(world, [first])).sales.map((each) => [each.location_id, each.quantity]);
    assert.deepEqual(await soldOf(), [
      ["", quantity(7)],
      [dock, quantity(8)],
    ]);
    await selling.edit(edited, 4);
    await selling.takeBack(returned, 2, 1);
    await selling.cancel(cancelled);
    await medusa.ask("POST", `/admin/products/${productId}`, { title: "Cup" });
    await medusa.deleteVariant(productId, second);
    await medusa.deleteProduct(gone?.productId ?? "");
    await medusa.removeLevel(first, fair);
    const asked = medusa.proxy.callsOf(ordersList).length;
    const toldBefore = await toldOf(world);
    const pull = done(await pullAll(world));
    assert.equal(pull.isFull, false);
    const held = await heldOf(world, [first, second, goneId]);
    assert.deepEqual(
      held.variants.map((each) => [each?.["product_name"], each?.["status"]]),
      [
        ["Cup", "active"],
        [held.variants[1]?.["product_name"], "deleted"],
        [held.variants[2]?.["product_name"], "deleted"],
      ],
    );
    assert.equal(pull.counts.deleted, 2);
    const told = (await toldOf(world)).slice(toldBefore.length);
    const deleted = [{ field: "status", before: "active", after: "deleted" }];
    assert.deepEqual(
      [second, goneId].map((id) => told.filter((each) => each.id === id).map(({ changes }) => changes)),
      [[deleted], [deleted]],
    );
    const renamed = told.find(({ id }) => id === first)?.changes;
    assert.deepEqual(
      renamed?.map(({ field, after }) => [field, after]),
      [["productName", "Cup"]],
    );
    assert.equal(held.levels.find((each) => each.location_id === fair)?.on_hand, 0);
    assert.deepEqual(await soldOf(), [
      ["", quantity(4)],
      [dock, quantity(5)],
    ]);
    const queries = medusa.proxy.callsOf(ordersList).slice(asked);
    assert.ok(queries.length > 0 && queries.every(({ query }) => query.includes("updated_at")));
  }));

test("rows that move up while a list is walked are not missed, and what was deleted before is", () =>
  inStore(async (world) => {
    const { medusa } = world;
    const products = await medusa.addProducts(Array.from({ length: 210 }, () => ({ variants: [{}] })));
    const [first, ...others] = products.slice(0, 3);
    assert.ok(first !== undefined);
    const stateOf = async () => (await heldOf(world, first.variantIds)).variants[0]?.["status"];
    let isDeleted = false;
    const happens = async (): Promise<void> => {
      // The shop has them: their page is behind, and what follows moves up.
      if (isDeleted || (await stateOf()) === undefined) return;
      isDeleted = true;
      for (const { productId } of [first, ...others]) await medusa.deleteProduct(productId);
    };
    medusa.proxy.strike(variantsList, { kind: "before", happens }, 1_000);
    done(await pullAll(world));
    const ids = products.slice(3).flatMap(({ variantIds }) => variantIds);
    const held = await heldOf(world, ids);
    assert.ok(held.variants.every((each) => each?.["status"] === "active"));
    medusa.proxy.heal();
    const pull = done(await pullAll(world));
    assert.ok(pull.counts.deleted >= 3);
    assert.deepEqual([isDeleted, await stateOf()], [true, "deleted"]);
  }));

suite("a pull that does not go well", () => {
  test("goes on where it was in another process, and nothing is doubled", () =>
    inStore(async (world) => {
      const { medusa, shop, selling, variantIds } = world;
      const [first] = variantIds;
      await medusa.addVariants(isReal ? 10 : 450);
      for (let sold = 0; sold < (isReal ? 3 : 120); sold += 1) await selling.sell(first, 0.25);
      const { pullId } = await ask(world);
      const steps = new Set<string>();
      for (let closes = 0; (await pullOf(world))?.state === "running"; closes += 1) {
        assert.ok(closes < 400, "it does not come forward");
        const calls = medusa.proxy.calls.length;
        const puller = pullerOn(world, { sliceRowsMax: 50 });
        puller.wake(shop.shopId);
        // A page takes two calls at most: what is under way after them is given up.
        await until(
          "two calls or the end",
          async () => medusa.proxy.calls.length > calls + 2 || (await pullOf(world))?.state !== "running",
        );
        await puller.close();
        steps.add((await pullOf(world))?.step ?? "");
      }
      const pull = done(await ended(world, pullId));
      assert.ok(steps.size >= 3, [...steps].join());
      assert.ok(pull.counts.variants > 0);
      const held = await heldOf(world, variantIds);
      const sold = held.sales.reduce((sum, each) => sum + each.quantity, 0);
      assert.equal(sold, quantity(isReal ? 0.75 : 30));
      done(await pullAll(world, true));
      assert.deepEqual(await heldOf(world, variantIds), held);
    }));

  test("is repeated after an error, and fails with what Medusa's answer lacks", () =>
    inStore(async (world) => {
      const { proxy } = world.medusa;
      proxy.strike(ordersList, { kind: "status", status: 503 }, 2);
      done(await pullAll(world));
      proxy.strike(variantsList, { kind: "body", body: '{"variants":[{"id":"x"}],"count":1}' }, 100);
      const failed = await pullAll(world, true, { attemptsMax: 3 });
      assert.deepEqual([failed.state, failed.step, failed.attempts], ["failed", "variants", 3]);
      assert.match(failed.error ?? "", /product-variants cannot be understood \(at variants\.0\.manage_inventory\)/);
      assert.equal((await heldOf(world, [world.variantIds[0]])).variants[0]?.["status"], "active");
      proxy.heal();
      proxy.strike("GET /admin/stock-locations", { kind: "status", status: 401 }, 1);
      const refused = await pullAll(world);
      assert.deepEqual([refused.state, refused.attempts], ["failed", 1]);
      assert.match(refused.error ?? "", /secret key/);
    }));
});

if (!isReal)
  test("what was sold a year ago is brought, by days, and from the only location that the store has", () =>
    onMedusa(async (world) => {
      const { fake } = world.medusa;
      assert.ok(fake !== null);
      const dock = await world.medusa.addLocation("Dock");
      const [variantId = ""] = await world.medusa.addVariants(1);
      const daysAgo = (days: number): number => Date.now() - days * 86_400_000;
      for (const days of [360, 30, 30, 400]) fake.addOrder(daysAgo(days), [{ variantId, quantity: days }]);
      done(await pullAll(world));
      assert.deepEqual(
        (await heldOf(world, [variantId])).sales.map((each) => [each.location_id, each.date, each.quantity]),
        [
          [dock, new Date(daysAgo(360)).toISOString().slice(0, 10), quantity(360)],
          [dock, new Date(daysAgo(30)).toISOString().slice(0, 10), quantity(60)],
        ],
      );
    }));
