/** Pulling what a store holds: catalogue, levels and sales, once whole and then what has changed (C66). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { replaceRecord } from "../../../src/shop/record-table.ts";
import { saleTable, supplierTable, supplierVariantTable, variantTable } from "../../../src/shop/catalogue/catalogue.ts";
import { markSeriesStatement } from "../../../src/shop/forecast/demand.ts";
import { insertPushStatement, itemResultsStatement } from "../../../src/shop/storefront/stock-pushes.ts";
import { hintPull } from "../../../src/shop/storefront/storefront-pulls.ts";
import { saveShop, loadShop } from "../../../src/shop/access/accounts.ts";
import { valuesFrom } from "../../../src/core/order/purchase-order-fields.ts";
import { supplierRecordFields, supplierVariantFields } from "../../../src/shop/catalogue/catalogue.ts";
import { money, quantity } from "../../support/goods.ts";
import { ask, ended, heldBy, pullAll, pullerOn, pullOf } from "../../support/peers/pulling.ts";
import { onFake, type OnFake } from "./connected.ts";
import { fakeToken } from "./fake.ts";
import { until } from "../../support/until.ts";

const dayMs = 24 * 60 * 60 * 1_000;

/** A store with two locations, three variants of two products, levels and orders. */
const inStore = (use: (world: OnFake) => Promise<void>): Promise<void> =>
  onFake(async (world) => {
    const { fake } = world;
    fake.bulkLooks = 0;
    fake.addLocation("1");
    fake.addLocation("2");
    fake.addVariant("100", {
      productId: "8",
      productTitle: "Mug",
      imageUrl: "https://cdn.shopify.com/mug.png",
      title: "Red",
      sku: "MUG-R",
      barcode: "4006381333931",
      price: "12.50",
      cost: "4.1234",
    });
    fake.addVariant("101", { productId: "8", title: "Blue" });
    fake.addVariant("200", { productId: "9", productTitle: "Gift box", status: "ARCHIVED", tracked: true });
    fake.addVariant("201", { productId: "9", requiresComponents: true });
    fake.setLevel("100", "1", 7);
    fake.levelOf("100", "1").committed = 2;
    fake.setLevel("100", "2", 5);
    fake.setLevel("101", "1", -3);
    await use(world);
  });

const sold = (days: number, at = "12:00:00Z"): number => {
  const day = new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
  return Date.parse(`${day}T${at}`);
};

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

suite("a pull of everything", () => {
  test("brings locations, names, codes, costs, states, what is on hand, and sales by day; a second one changes nothing", () =>
    inStore(async (world) => {
      const { fake, engine, shop } = world;
      fake.addOrder("1", { processedAtMs: sold(10), lines: [{ variantId: "100", quantity: 2 }], retailLocation: "2" });
      fake.addOrder("2", {
        processedAtMs: sold(10),
        lines: [
          { variantId: "100", quantity: 3 },
          { variantId: "101", quantity: 1 },
        ],
      });
      fake.addOrder("3", { processedAtMs: sold(10), lines: [{ variantId: "100", quantity: 1 }] });
      fake.addOrder("4", { processedAtMs: sold(5), lines: [{ variantId: "100", quantity: 50 }], test: true });
      fake.addOrder("5", { processedAtMs: sold(5), lines: [{ variantId: "100", quantity: 60 }], cancelled: true });
      fake.addOrder("6", { processedAtMs: sold(400), lines: [{ variantId: "100", quantity: 70 }] });
      fake.addOrder("7", { processedAtMs: sold(3), lines: [{ variantId: "100", quantity: 4 }], fulfilledFrom: ["1"] });
      const pull = await pullAll(world);
      assert.equal(pull.state, "done", pull.error ?? "");
      assert.deepEqual(pull.notes, []);
      const held = await heldBy(world);
      assert.deepEqual(held.locations, [
        { location_id: "1", name: "Location 1" },
        { location_id: "2", name: "Location 2" },
      ]);
      const variant = (id: string) => held.variants.find((each) => each["variant_id"] === id);
      assert.deepEqual(variant("100"), {
        variant_id: "100",
        product_id: "8",
        product_name: "Mug",
        variant_name: "Red",
        sku: "MUG-R",
        barcode: "4006381333931",
        price: money(12.5),
        unit_cost: money(4.1234),
        status: "active",
        image_url: "https://cdn.shopify.com/mug.png",
      });
      assert.deepEqual(
        held.variants.map((each) => [each["status"], each["image_url"] === null]),
        [
          ["active", false],
          ["active", false],
          ["inactive", true],
          ["unsyncable", true],
        ],
      );
      assert.deepEqual(held.levels, [
        { variant_id: "100", location_id: "1", on_hand: quantity(9) },
        { variant_id: "100", location_id: "2", on_hand: quantity(5) },
        { variant_id: "101", location_id: "1", on_hand: quantity(-3) },
      ]);
      assert.deepEqual(held.sales, [
        { variant_id: "100", location_id: "", date: dayOf(sold(10)), quantity: quantity(4) },
        { variant_id: "100", location_id: "1", date: dayOf(sold(3)), quantity: quantity(4) },
        { variant_id: "100", location_id: "2", date: dayOf(sold(10)), quantity: quantity(2) },
        { variant_id: "101", location_id: "", date: dayOf(sold(10)), quantity: quantity(1) },
      ]);
      const { counts } = pull;
      assert.deepEqual([counts.locations, counts.variants, counts.levels, counts.sales], [2, 4, 3, 6]);
      const stale = await engine.read(shop.shopId, (tx) =>
        tx.all("select 1 as found from demand_series where shop_id = ? and stale_from is not null", [shop.shopId]),
      );
      assert.deepEqual(stale, []);
      assert.equal((await pullAll(world, true)).state, "done");
      assert.deepEqual(await heldBy(world), held);
    }));

  test("counts a day in the shop's timezone", () =>
    inStore(async (world) => {
      const { fake, engine, shop } = world;
      const kept = await engine.read(shop.shopId, (tx) => loadShop(tx, shop.shopId));
      assert.ok(kept !== null);
      await engine.write(shop.shopId, (tx) => saveShop(tx, { ...kept, timezone: "America/Los_Angeles" }));
      fake.addOrder("1", { processedAtMs: sold(10, "03:00:00Z"), lines: [{ variantId: "100", quantity: 1 }] });
      await pullAll(world);
      assert.deepEqual(
        (await heldBy(world)).sales.map(({ date }) => date),
        [dayOf(sold(11))],
      );
    }));

  test("leaves what the shop has entered: suppliers' terms, what the store has no value for, its own names of things", () =>
    inStore(async (world) => {
      const { fake, engine, shop } = world;
      const { shopId } = shop;
      const gid = "gid://shopify/ProductVariant/101";
      const supplier = { ...valuesFrom(supplierRecordFields, { supplierId: "mill", name: "Mill" }) };
      const terms = valuesFrom(supplierVariantFields, { supplierId: "mill", variantId: gid, unitCost: money(3) });
      await engine.write(shopId, (tx) =>
        tx.batch([
          replaceRecord(supplierTable, shopId, supplier),
          replaceRecord(supplierVariantTable, shopId, terms),
          replaceRecord(variantTable, shopId, {
            variantId: gid,
            productId: "gid://shopify/Product/8",
            productName: "Old name",
            variantName: null,
            sku: "OWN",
            barcode: "123",
            unitCost: money(3),
            price: null,
            status: "active",
            isArchived: false,
            imageUrl: null,
            reorder: null,
          }),
        ]),
      );
      fake.addOrder("1", { processedAtMs: sold(3), lines: [{ variantId: "101", quantity: 1 }] });
      await pullAll(world);
      const held = await heldBy(world);
      const own = held.variants.find((each) => each["variant_id"] === gid);
      assert.deepEqual([own?.["product_name"], own?.["sku"], own?.["barcode"]], ["Mug", "OWN", "123"]);
      assert.deepEqual([own?.["unit_cost"], own?.["price"]], [money(3), money(10)]);
      assert.equal(own?.["product_id"], "gid://shopify/Product/8");
      assert.ok(!held.variants.some((each) => each["variant_id"] === "101"));
      assert.equal(held.levels.find(({ variant_id }) => variant_id === gid)?.on_hand, quantity(-3));
      assert.equal(held.sales[0]?.variant_id, gid);
      const kept = await engine.read(shopId, (tx) =>
        tx.all<object>("select unit_cost from supplier_variant where shop_id = ?", [shopId]),
      );
      assert.deepEqual(
        [...kept].map((row) => ({ ...row })),
        [{ unit_cost: money(3) }],
      );
    }));

  test("tells what is deleted and archived, and puts sales of a file that name no location in the same place", () =>
    inStore(async (world) => {
      const { fake, engine, shop } = world;
      const { shopId } = shop;
      const fromFile = { variantId: "100", locationId: null, date: dayOf(sold(10)), quantity: quantity(9) };
      const elsewhere = { ...fromFile, locationId: "fair", quantity: quantity(1) };
      await engine.write(shopId, (tx) =>
        tx.batch([
          ...["gone", "4711"].map((variantId) =>
            replaceRecord(variantTable, shopId, {
              variantId,
              productId: "p",
              productName: `Old ${variantId}`,
              variantName: null,
              sku: "S",
              barcode: null,
              unitCost: null,
              price: null,
              status: "active",
              isArchived: false,
              imageUrl: null,
              reorder: null,
            }),
          ),
          ...[fromFile, elsewhere].flatMap((sale) => [
            replaceRecord(saleTable, shopId, sale),
            markSeriesStatement(shopId, sale),
          ]),
        ]),
      );
      fake.addOrder("1", { processedAtMs: sold(10), lines: [{ variantId: "100", quantity: 2 }], retailLocation: "2" });
      const { counts } = await pullAll(world);
      assert.equal(counts.deleted, 2);
      assert.deepEqual(counts.deletedNames.toSorted(), ["Old 4711 (S)", "Old gone (S)"]);
      const held = await heldBy(world);
      assert.equal(held.variants.find((each) => each["variant_id"] === "gone")?.["status"], "deleted");
      assert.deepEqual(
        held.sales.map(({ location_id, quantity: n }) => [location_id, n]),
        [
          ["", quantity(0)],
          ["2", quantity(2)],
          ["fair", quantity(1)],
        ],
      );
    }));

  test("says how far sales reach back, and that without the scope there are none", () =>
    inStore(async (world) => {
      const { fake } = world;
      fake.addOrder("1", { processedAtMs: sold(100), lines: [{ variantId: "100", quantity: 2 }] });
      fake.scopes = new Set([...fake.scopes].filter((scope) => scope !== "read_all_orders"));
      const recent = await pullAll(world);
      assert.match(recent.notes.join(), /60 days.*read_all_orders/);
      fake.scopes = new Set([...fake.scopes].filter((scope) => scope !== "read_orders"));
      const none = await pullAll(world, true);
      assert.equal(none.state, "done");
      assert.match(none.notes.join(), /lacks the scope read_orders/);
      assert.equal((await heldBy(world)).variants.length, 4);
    }));
});

suite("a pull of what has changed", () => {
  test("brings it, and sets what was sold to what it is now", () =>
    inStore(async (world) => {
      const { fake } = world;
      const order = fake.addOrder("1", { processedAtMs: sold(30), lines: [{ variantId: "100", quantity: 5 }] });
      fake.addOrder("2", { processedAtMs: sold(30), lines: [{ variantId: "100", quantity: 1 }] });
      fake.addVariant("300", { productId: "7" });
      world.advance(60 * 60 * 1_000);
      await pullAll(world);
      world.advance(60 * 60 * 1_000);
      fake.addVariant("101", { productId: "8", title: "Navy" });
      fake.deleteVariant("201");
      fake.deleteProduct("7");
      fake.setLevel("100", "2", 1);
      order.lines[0] = { variantId: "100", quantity: 2 };
      order.updatedAtMs = fake.now();
      const begun = fake.bulks.size;
      const pull = await pullAll(world);
      assert.equal(pull.state, "done", pull.error ?? "");
      assert.equal(pull.isFull, false);
      assert.deepEqual([pull.counts.levels, pull.counts.sales, pull.counts.deleted], [1, 1, 2]);
      const held = await heldBy(world);
      const of = (id: string, member: string) => held.variants.find((each) => each["variant_id"] === id)?.[member];
      assert.deepEqual(
        [of("101", "variant_name"), of("201", "status"), of("300", "status")],
        ["Navy", "deleted", "deleted"],
      );
      assert.equal(of("200", "status"), "inactive");
      assert.equal(held.levels.find((each) => each.location_id === "2")?.on_hand, quantity(1));
      assert.deepEqual(
        held.sales.map(({ quantity: n }) => n),
        [quantity(3)],
      );
      for (const [, bulk] of [...fake.bulks].slice(begun)) assert.ok(bulk.count <= 8, "everything was asked for again");
      world.advance(60 * 60 * 1_000);
      order.cancelled = true;
      order.updatedAtMs = fake.now();
      await pullAll(world);
      assert.deepEqual(
        (await heldBy(world)).sales.map(({ quantity: n }) => n),
        [quantity(1)],
      );
    }));

  test("brings a unit cost and a level's end, which are changes of no product and no quantity", () =>
    inStore(async (world) => {
      const { fake } = world;
      world.advance(60 * 60 * 1_000);
      await pullAll(world);
      world.advance(60 * 60 * 1_000);
      fake.setCost("100", "5.5");
      fake.deactivateLevel("100", "2");
      const pull = await pullAll(world);
      assert.equal(pull.state, "done", pull.error ?? "");
      assert.deepEqual([pull.isFull, pull.counts.variants], [false, 1]);
      const held = await heldBy(world);
      const costs = held.variants.map((each) => [each["variant_id"], each["unit_cost"]]);
      assert.deepEqual(costs[0], ["100", money(5.5)]);
      assert.deepEqual(
        held.levels.filter((each) => each.variant_id === "100").map((each) => each.on_hand),
        [quantity(9), 0],
      );
      world.advance(60 * 60 * 1_000);
      fake.setCost("100", null);
      fake.setLevel("100", "2", 0);
      assert.equal((await pullAll(world, true)).state, "done");
      assert.equal((await heldBy(world)).levels.length, 3);
    }));

  test("follows a hint after a while, once for many; before a first pull nothing does", () =>
    inStore(async (world) => {
      const { engine, shop, clock } = world;
      const hint = () => engine.write(shop.shopId, (tx) => hintPull(tx, shop.shopId, clock.now()));
      assert.equal(await hint(), null);
      assert.equal(await pullOf(world), null);
      const first = await pullAll(world);
      const dueAtMs = await hint();
      assert.ok(dueAtMs !== null && dueAtMs >= (first.endedAtMs ?? 0) + 60_000);
      assert.equal(await hint(), null);
      world.advance(61_000);
      const puller = pullerOn(world);
      puller.wake(shop.shopId);
      const next = await until("the next pull ends", async () => {
        const pull = await pullOf(world);
        return pull?.pullId !== first.pullId && pull?.state !== "running" && pull;
      });
      await puller.close();
      assert.deepEqual([next?.state, next?.isFull, next?.hintedAtMs, next?.dueAtMs], ["done", false, null, null]);
    }));
});

suite("a pull and stock that is on its way", () => {
  const item = (delta: number) => ({
    variantId: "100",
    locationId: "1",
    delta: quantity(delta),
    lines: [{ poLineItemId: "pol_1", delta: quantity(delta) }],
  });

  test("leaves out a level to which a push is under way, and asks for it again", () =>
    inStore(async (world) => {
      const { fake, engine, shop, clock } = world;
      const { shopId } = shop;
      await engine.write(shopId, (tx) =>
        tx.batch([insertPushStatement(shopId, "po_1", { reference: "push_1", items: [item(4)] }, clock.now())]),
      );
      const { pullId } = await ask(world);
      const puller = pullerOn(world);
      puller.wake(shopId);
      await until("the second round", async () => ((await pullOf(world))?.round ?? 0) > 0);
      const meanwhile = await heldBy(world);
      assert.ok(!meanwhile.levels.some((each) => each.variant_id === "100" && each.location_id === "1"));
      // It lands, and is recorded as the outbox does.
      fake.setLevel("100", "1", 11);
      await engine.write(shopId, (tx) =>
        tx.batch([
          itemResultsStatement(
            shopId,
            "push_1",
            [{ ...item(4), result: { outcome: "landed", isReadBack: false } }],
            clock.now(),
          ),
        ]),
      );
      const pull = await ended(world, pullId);
      await puller.close();
      assert.equal(pull.state, "done");
      assert.deepEqual(pull.notes, []);
      const level = (await heldBy(world)).levels.find((each) => each.variant_id === "100" && each.location_id === "1");
      assert.equal(level?.on_hand, quantity(13));
    }));
});

suite("the results of bulk operations", () => {
  test("are read in pieces, from Shopify's host only and without the token", () =>
    inStore(async (world) => {
      const { fake } = world;
      for (let id = 1_000; id < 2_000; id += 1) fake.addVariant(String(id), { productTitle: "P".repeat(150) });
      const pull = await pullAll(world);
      assert.equal(pull.state, "done", pull.error ?? "");
      assert.equal((await heldBy(world)).variants.length, 1_004);
      assert.ok(fake.downloads.length > 4);
      for (const { headers, range } of fake.downloads) {
        assert.match(range ?? "", /^bytes=\d+-\d+$/);
        assert.ok(!JSON.stringify(headers).includes(fakeToken));
      }
      fake.knowsRanges = false;
      assert.equal((await pullAll(world, true)).state, "done");
      fake.resultsAt = "https://storage.googleapis.com.evil.example";
      const refused = await pullAll(world, true);
      assert.deepEqual([refused.state, refused.step], ["failed", "variants"]);
      assert.match(refused.error ?? "", /storage\.googleapis\.com\.evil\.example.*not read/);
    }));

  test("that fail are begun anew, at most three times; a call that fails is repeated", () =>
    inStore(async (world) => {
      const { fake } = world;
      fake.strike({ kind: "status", status: 503 }, "RunBulk", 2);
      assert.equal((await pullAll(world)).state, "done");
      fake.strike({ kind: "status", status: 503 }, "PullLocations", 1_000);
      const failed = await pullAll(world, true, { attemptsMax: 3 });
      assert.deepEqual([failed.state, failed.attempts, failed.step], ["failed", 3, "locations"]);
      assert.match(failed.error ?? "", /503/);
      assert.ok(failed.pulledUntilMs !== null, "what was pulled before still counts");
    }));
});
