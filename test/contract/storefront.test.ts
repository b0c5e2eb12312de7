import assert from "node:assert/strict";
import { quantityToNumber } from "../../src/core/money.ts";
import { systemClock } from "../../src/system.ts";
import type { SandboxLevel } from "../../src/storefront/sandbox/control.ts";
import { openSandbox } from "../../src/storefront/sandbox/sandbox.ts";
import type { VariantState } from "../../src/storefront/storefront.ts";
import { makePlace, openStore } from "../support/store.ts";
import { storefrontSuite } from "./storefront-suite.ts";

storefrontSuite("sandbox", async () => {
  const place = await makePlace();
  const store = await openStore(place.directory);
  const sandbox = openSandbox({ engine: store.sandboxEngine, clock: systemClock, shopId: "demo" });
  const active = Array.from({ length: 12 }, (_, index) => `v${index}`);
  const seed = (variantId: string, status: VariantState, productId = `product of ${variantId}`) => ({
    variantId,
    productId,
    status,
    unitCost: null,
  });
  await sandbox.seedVariants([
    ...active.map((id, index) => seed(id, "active", index >= 10 ? "shared" : `product of ${id}`)),
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
