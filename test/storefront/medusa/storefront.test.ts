/**
 * The tests of every storefront, on Medusa: the fake, or with `npm run test:medusa` a real one.
 *
 * Only on sqlite: its subject is the conversation with the storefront, which knows no engine.
 */
import assert from "node:assert/strict";
import { storefrontSuite } from "../../contract/storefront-suite.ts";
import { openOnMedusa } from "./connected.ts";
import { isReal } from "./place.ts";
import { setLevels, writeItem } from "./proxy.ts";

storefrontSuite(isReal ? "a real Medusa" : "Medusa over the fake", async () => {
  const world = await openOnMedusa();
  const { medusa } = world;
  const locations = [await medusa.addLocation("Here"), await medusa.addLocation("There")] as const;
  const own = await medusa.addVariants(10);
  const [shared] = await medusa.addProducts([{ variants: [{}, {}] }]);
  const many = await medusa.addVariants(500);
  const [inactive] = await medusa.addVariants(1, "draft");
  const [gone] = await medusa.addProducts([{ variants: [{}, {}] }]);
  const [part] = own;
  const [bundle] = await medusa.addProducts([{ variants: [{ itemsOf: [{ variantId: part ?? "", required: 2 }] }] }]);
  const deleted = gone?.variantIds[1] ?? assert.fail("no variant to delete");
  await medusa.deleteVariant(gone?.productId ?? "", deleted);
  return {
    storefront: world.storefront,
    active: [...own, ...(shared?.variantIds ?? [])],
    many,
    inactive: inactive ?? "",
    deleted,
    unsyncable: bundle?.variantIds[0] ?? "",
    locations,
    loseNextAnswer: async (call) =>
      medusa.proxy.strike(call === "changeOnHand" ? setLevels : writeItem, { kind: "lost" }),
    onHand: async (variantId, locationId) => (await medusa.level(variantId, locationId)).stocked,
    incoming: async (variantId, locationId) => (await medusa.level(variantId, locationId)).incoming,
    tags: async (variantId) => (await medusa.productOf(variantId)).tags.map(({ value }) => value).sort(),
    tagByHand: (variantId, tag) => medusa.tagByHand(variantId, tag),
    dispose: () => world.close(),
  };
});
