import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { StorefrontConfig } from "../../src/core/storefront/storefront-config.ts";
import { StorefrontError } from "../../src/storefront/storefront.ts";
import { line, quantity } from "../support/goods.ts";
import { shopId, withWorld } from "../support/peers/storefront.ts";

/** As a later version has stored it. */
const unknownKind: StorefrontConfig = JSON.parse('{"kind": "elsewhere"}');

suite("the storefront of a shop", () => {
  test("one of a kind that this version does not have refuses every call and says so", () =>
    withWorld(async ({ storefronts }) => {
      const storefront = storefronts.open({ shopId, currencyCode: "USD", storefront: unknownKind });
      const context = { reference: "r", documentUri: "test:" };
      const calls = [
        storefront.checkVariants(["v1"]),
        storefront.activateVariants(["v1"]),
        storefront.changeOnHand([], context),
        storefront.readOnHand([], context),
        storefront.setIncoming([], context),
        storefront.writeCosts([], context),
        storefront.readCosts(["v1"]),
        storefront.setTags([], context),
      ];
      for (const call of calls)
        await assert.rejects(call, (error) => {
          assert.ok(error instanceof StorefrontError);
          assert.match(error.message, /storefronts of kind elsewhere are not available/);
          assert.equal(error.landed, "no");
          return true;
        });
    }));

  test("goods received by a shop of such a kind reach no other storefront, and the effect says why", () =>
    withWorld(
      async (world) => {
        await world.place("po_1", [line("l1", { confirmed: 10, variantId: "v1" })]);
        await world.receive("po_1", { l1: quantity(4) });
        await world.outbox.settle(shopId, [], 0);
        await world.quiet();
        const rows = await world.engine.read(shopId, (tx) =>
          tx.all<{ state: string; detail: string }>(
            "select state, detail from effect where shop_id = ? and kind = 'push-stock'",
            [shopId],
          ),
        );
        assert.equal(rows[0]?.state, "failed");
        assert.match(rows[0]?.detail ?? "", /storefronts of kind elsewhere are not available/);
        assert.equal(await world.onHand("v1"), 0);
        assert.equal((await world.load("po_1")).storefrontSyncState, "failed");
      },
      { settings: { storefront: unknownKind } },
    ));
});
