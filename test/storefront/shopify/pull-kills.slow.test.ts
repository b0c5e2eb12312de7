/** Pulls that are killed, and pulls by several processes: one page after another is stored once (C66). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { quantity } from "../../support/goods.ts";
import { onFake, type OnFake } from "./connected.ts";
import { ask, ended, heldBy, pullAll, pullerOn, pullOf } from "../../support/peers/pulling.ts";
import { pause, until } from "../../support/until.ts";

const dayMs = 24 * 60 * 60 * 1_000;

const inStore = (use: (world: OnFake) => Promise<void>): Promise<void> =>
  onFake(async (world) => {
    world.fake.addLocation("1");
    await use(world);
  });

suite("a pull that is interrupted", () => {
  test("goes on where it was in another process, and nothing is doubled", () =>
    inStore(async (world) => {
      const { fake } = world;
      for (let id = 1_000; id < 1_600; id += 1) fake.addVariant(String(id), { productId: String(id), sku: `S${id}` });
      for (let id = 1; id <= 300; id += 1)
        fake.addOrder(String(id), {
          processedAtMs: Date.now() - (1 + (id % 20)) * dayMs,
          lines: [{ variantId: String(1_000 + (id % 7)), quantity: 2 }],
        });
      const { pullId } = await ask(world);
      const steps = new Set<string>();
      const whereIs = async (): Promise<string> => {
        const pull = await pullOf(world);
        return [pull?.state, pull?.step, pull?.cursor, pull?.round].join();
      };
      for (let kills = 0; (await pullOf(world))?.state === "running"; kills += 1) {
        assert.ok(kills < 150, "it does not come forward");
        const before = await whereIs();
        const puller = pullerOn(world, { sliceRowsMax: 50 });
        await puller.start();
        await pause(100);
        // On a busy machine a slice takes longer than such a life: every third one lives until it has stored something.
        if (kills % 3 === 2) await until("the pull has not moved", async () => (await whereIs()) !== before);
        await puller.close();
        steps.add((await pullOf(world))?.step ?? "");
      }
      const pull = await ended(world, pullId);
      assert.equal(pull.state, "done", pull.error ?? "");
      assert.ok(steps.size >= 3, [...steps].join());
      const held = await heldBy(world);
      assert.equal(held.variants.length, 600);
      assert.equal(
        held.sales.reduce((sum, each) => sum + each.quantity, 0),
        quantity(600),
      );
      const again = await pullAll(world, true);
      assert.equal(again.state, "done");
      assert.deepEqual(await heldBy(world), held);
    }));

  test("is one process's at a time: a second one writes nothing while the lease holds", () =>
    inStore(async (world) => {
      const { fake, shop } = world;
      for (let id = 1_000; id < 1_400; id += 1) fake.addVariant(String(id));
      const { pullId } = await ask(world);
      const pullers = [pullerOn(world, {}, false), pullerOn(world, {}, false), pullerOn(world, {}, false)];
      for (const puller of pullers) puller.wake(shop.shopId);
      assert.equal((await ended(world, pullId)).state, "done");
      await Promise.all(pullers.map((puller) => puller.close()));
      // Each of the three operations was begun once.
      assert.equal(fake.callsOf("RunBulk").length, 3);
    }));
});
