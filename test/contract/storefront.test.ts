import assert from "node:assert/strict";
import { quantityToNumber } from "../../src/core/money/money.ts";
import { systemClock } from "../../src/base/time/system.ts";
import type { SandboxLevel } from "../../src/storefront/sandbox/control.ts";
import { openSandbox } from "../../src/storefront/sandbox/sandbox.ts";
import type { VariantState } from "../../src/storefront/storefront.ts";
import { openOnFake } from "../storefront/shopify/connected.ts";
import { makePlace, openStore } from "../support/store.ts";
import { storefrontSuite } from "./storefront-suite.ts";

storefrontSuite("sandbox", async () => {
  const place = await makePlace();
  const store = await openStore(place.directory);
  const sandbox = openSandbox({ engine: store.sandboxEngine, clock: systemClock, shopId: "demo" });
  const active = Array.from({ length: 12 }, (_, index) => `v${index}`);
  const many = Array.from({ length: 500 }, (_, index) => `m${index}`);
  const seed = (variantId: string, status: VariantState, productId = `product of ${variantId}`) => ({
    variantId,
    productId,
    status,
    unitCost: null,
  });
  await sandbox.seedVariants([
    ...active.map((id, index) => seed(id, "active", index >= 10 ? "shared" : `product of ${id}`)),
    ...many.map((id) => seed(id, "active")),
    seed("resting", "inactive"),
    seed("gone", "deleted"),
    seed("bundle", "unsyncable"),
  ]);
  const shown = async (variantId: string) => {
    const { variants } = await sandbox.state([variantId]);
    return variants[0] ?? assert.fail(`the sandbox does not have ${variantId}`);
  };
  const level = async (variantId: string, locationId: string, figure: keyof Omit<SandboxLevel, "locationId">) => {
    const found = (await shown(variantId)).levels.find((each) => each.locationId === locationId);
    return found === undefined ? 0 : quantityToNumber(found[figure]);
  };
  return {
    storefront: sandbox,
    active,
    many,
    inactive: "resting",
    deleted: "gone",
    unsyncable: "bundle",
    locations: ["here", "there"],
    loseNextAnswer: (call) =>
      sandbox.replaceFaults({
        latencyMs: 0,
        applyDelayMs: 0,
        faults: [{ call, outcome: "lost-response", variantIds: null, times: 1 }],
      }),
    onHand: (variantId, locationId) => level(variantId, locationId, "onHand"),
    incoming: (variantId, locationId) => level(variantId, locationId, "incoming"),
    tags: async (variantId) => (await shown(variantId)).tags,
    tagByHand: async (variantId, tag) => {
      await sandbox.setTags([{ variantId, tag, present: true }], { reference: tag, documentUri: "test:" });
    },
    dispose: async () => {
      await store.close();
      await place.remove();
    },
  };
});

storefrontSuite("shopify", async () => {
  const world = await openOnFake();
  const { fake, storefront } = world;
  const active = Array.from({ length: 12 }, (_, index) => String(100 + index));
  const many = Array.from({ length: 500 }, (_, index) => String(1_000 + index));
  for (const [index, id] of active.entries()) fake.addVariant(id, index >= 10 ? { productId: "7" } : {});
  for (const id of many) fake.addVariant(id);
  fake.addVariant("200", { status: "DRAFT" });
  fake.addVariant("202", { requiresComponents: true });
  fake.addLocation("1");
  fake.addLocation("2");
  return {
    storefront,
    active,
    many,
    inactive: "200",
    deleted: "201",
    unsyncable: "202",
    locations: ["1", "gid://shopify/Location/2"],
    loseNextAnswer: async (call) => fake.strike({ kind: "lost" }, call === "changeOnHand" ? "Adjust" : "WriteCosts"),
    onHand: async (variantId, locationId) => fake.levelOf(variantId, locationId.replace(/.*\//, "")).available,
    incoming: async (variantId, locationId) => fake.levelOf(variantId, locationId).incoming,
    tags: async (variantId) => fake.productOf(variantId).tags,
    tagByHand: async (variantId, tag) => void fake.productOf(variantId).tags.push(tag),
    dispose: () => world.close(),
  };
});
