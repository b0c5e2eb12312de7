/** Tokens that are exchanged for the app's client id and secret: renewed in time, once among many, and when Shopify refuses one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectedShop } from "../../../src/core/storefront/storefront-config.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import { RenewingToken } from "../../../src/storefront/shopify/token.ts";
import type { Storefront } from "../../../src/storefront/storefront.ts";
import { delegated } from "../../../src/store/delegated.ts";
import type { Clock } from "../../../src/base/time/clock.ts";
import type { Engine } from "../../../src/store/store.ts";
import { quantity } from "../../support/goods.ts";
import { onFake, type OnFake, secretKey } from "./connected.ts";

const hourMs = 60 * 60 * 1_000;

/** The shop of the fake, connected with the client id and secret; `expiresAtMs` null: nobody knows when its token ends. */
function renewing({ fake, shop, clock }: OnFake, expiresInMs: number | null): ConnectedShop {
  const box = new SecretBox(secretKey);
  const { storefront } = shop;
  assert.ok(storefront.kind === "shopify");
  return {
    ...shop,
    storefront: {
      ...storefront,
      clientId: fake.clientId,
      clientSecret: box.seal(shop.shopId, fake.clientSecret),
      ...(expiresInMs === null ? {} : { expiresAtMs: clock.now() + expiresInMs }),
    },
  };
}

const opened = (world: OnFake, shop: ConnectedShop): Storefront => world.reopened().storefronts.open(shop);

const inStore = (use: (world: OnFake) => Promise<void>): Promise<void> =>
  onFake(async (world) => {
    world.fake.addVariant("100");
    world.fake.addLocation("1");
    await use(world);
  });

test("a token is renewed before it ends, and the renewed one is used by a process that starts later", () =>
  inStore(async (world) => {
    const { fake } = world;
    const shop = renewing(world, 2 * hourMs);
    const storefront = opened(world, shop);
    await storefront.checkVariants(["100"]);
    assert.equal(fake.grants.length, 0);
    world.advance(1.75 * hourMs);
    // The first one would be taken for a while yet.
    assert.equal((await storefront.readCosts(["100"])).length, 1);
    assert.equal(fake.grants.length, 1);
    fake.token = "shpat_the_first_one_is_over";
    assert.deepEqual(await storefront.checkVariants(["100"]), ["active"]);
    assert.equal(fake.grants.length, 1);
    assert.deepEqual(await opened(world, shop).checkVariants(["100"]), ["active"]);
    assert.equal(fake.grants.length, 1);
    world.advance(24 * hourMs);
    assert.deepEqual(await storefront.checkVariants(["100"]), ["active"]);
    assert.equal(fake.grants.length, 2);
  }));

test("many calls in several processes that need a token at a time make one exchange", () =>
  inStore(async (world) => {
    const { fake } = world;
    const shop = renewing(world, 1);
    const storefronts = [opened(world, shop), opened(world, shop), opened(world, shop)];
    fake.token = "shpat_the_first_one_is_over";
    const states = await Promise.all(
      storefronts.flatMap((storefront) => [storefront.checkVariants(["100"]), storefront.readCosts(["100"])]),
    );
    assert.equal(states.length, 6);
    assert.equal(fake.grants.length, 1);
  }));

/** A process's token of the shop of the fake, which has ended. */
function processToken(
  { fake, shop, engine, clock }: OnFake,
  more: { readonly engine?: Engine; readonly clock?: Clock } = {},
): RenewingToken {
  const { domain, clientId, clientSecret } = fake;
  const first = { accessToken: "shpat_the_first_one_is_over", expiresAtMs: 0 };
  const secrets = new SecretBox(secretKey);
  const origin = `http://${domain}`;
  const parts = { shopId: shop.shopId, engine, clock, secrets, origin, clientId, clientSecret, first, madeFor: "it" };
  return new RenewingToken({ ...parts, ...more });
}

test("a process that has seen no renewed token does not renew what another one has renewed since", () =>
  inStore(async (world) => {
    let othersToken: string | null = null;
    const slow = processToken(world, {
      engine: {
        ...delegated(world.engine),
        async peek(shopId, work) {
          const seen = await world.engine.peek(shopId, work);
          othersToken ??= await processToken(world).current();
          return seen;
        },
      },
    });
    assert.equal(await slow.current(), othersToken);
    assert.equal(world.fake.grants.length, 1);
  }));

test("processes whose clocks differ a little make one exchange, whichever is ahead", () =>
  inStore(async (world) => {
    const { fake, engine, clock } = world;
    /** The engine, which calls this after each write. */
    const afterWrites = (then: () => void | Promise<void>): Engine => ({
      ...delegated(engine),
      async write(shopId, work, options) {
        const value = await engine.write(shopId, work, options);
        await then();
        return value;
      },
    });
    for (const apartMs of [-5_000, 5_000]) {
      fake.grants.splice(0);
      world.advance(24 * hourMs);
      const claimed = Promise.withResolvers<void>();
      const looked = Promise.withResolvers<void>();
      const first = processToken(world, {
        engine: afterWrites(() => {
          claimed.resolve();
          return looked.promise;
        }),
      }).current();
      await claimed.promise;
      const others = processToken(world, {
        clock: { now: () => clock.now() + apartMs },
        engine: afterWrites(looked.resolve),
      }).current();
      assert.equal(await others, await first);
      assert.equal(fake.grants.length, 1);
    }
  }));

test("a token that Shopify refuses is renewed once, and the change is sent again byte by byte", () =>
  inStore(async (world) => {
    const { fake } = world;
    const storefront = opened(world, renewing(world, null));
    await storefront.checkVariants(["100"]);
    fake.token = "shpat_the_first_one_was_revoked";
    const change = { variantId: "100", locationId: "1", delta: quantity(5) };
    const context = { reference: "push_1", documentUri: "openpo://shops/demo/purchase-orders/po_1" };
    assert.deepEqual(await storefront.changeOnHand([change], context), [{ outcome: "applied" }]);
    assert.equal(fake.levelOf("100", "1").available, 5);
    assert.equal(fake.grants.length, 1);
    fake.grants.splice(0);
    fake.clientSecret = "shpss_another";
    await assert.rejects(
      storefront.checkVariants(["100"], {}).then(() => storefront.readCosts(["100"])),
      {
        kind: "auth",
        message: /client id and secret/,
      },
    );
  }));

test("an exchange that fails leaves the token in use as long as it holds", () =>
  inStore(async (world) => {
    const { fake } = world;
    const storefront = opened(world, renewing(world, 0.25 * hourMs));
    fake.strike({ kind: "status", status: 503 }, "grant", 100);
    assert.deepEqual(await storefront.checkVariants(["100"]), ["active"]);
    assert.equal(fake.grants.length, 0);
  }));
