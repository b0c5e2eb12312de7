/** A shop in a real store whose storefront is a fake Shopify. */
import type { ConnectedShop } from "../../../src/core/storefront/storefront-config.ts";
import { saveShop } from "../../../src/shop/access/accounts.ts";
import type { StorefrontConnections } from "../../../src/storefront/connections.ts";
import { parseAllowedHosts } from "../../../src/storefront/hosts.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import type { Storefront } from "../../../src/storefront/storefront.ts";
import { createStorefronts } from "../../../src/service/storefronts.ts";
import type { Clock, Ids } from "../../../src/base/time/clock.ts";
import type { Engine } from "../../../src/store/store.ts";
import { systemClock, timeOrderedIds } from "../../../src/base/time/system.ts";
import { makePlace, openStore } from "../../support/store.ts";
import { FakeShopify, fakeToken, fakeVersion } from "./fake.ts";
import { plainShop } from "../../support/shops/plain-shop.ts";

export const secretKey = Buffer.alloc(32, 7);

/** What the shop's record says of its connection to the fake. */
export const configOf = (fake: FakeShopify, shopId: string) =>
  ({
    kind: "shopify",
    domain: fake.domain,
    accessToken: new SecretBox(secretKey).seal(shopId, fakeToken),
    apiVersion: fakeVersion,
  }) as const;

/** That the fake may be connected. */
const allowedOf = (fake: FakeShopify) => parseAllowedHosts(`http://${fake.domain}`) ?? new Map<string, string>();

export interface OnFake {
  readonly fake: FakeShopify;
  readonly shop: ConnectedShop;
  readonly engine: Engine;
  readonly storefront: Storefront;
  /** As another process, or this one after a restart, opens them: nothing is remembered. */
  reopened(): { readonly storefronts: StorefrontConnections; readonly storefront: Storefront };
  readonly clock: Clock;
  readonly ids: Ids;
  /** Sets the service's clock ahead. */
  advance(ms: number): void;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export async function openOnFake(): Promise<OnFake> {
  const fake = await new FakeShopify().listen();
  const place = await makePlace();
  const store = await openStore(place.directory);
  let aheadMs = 0;
  const clock: Clock = { now: () => systemClock.now() + aheadMs };
  const ids = timeOrderedIds(clock);
  const shop: ConnectedShop = { shopId: "demo", currencyCode: "USD", storefront: configOf(fake, "demo") };
  await store.engine.create(shop.shopId);
  await store.engine.write(shop.shopId, (tx) => saveShop(tx, plainShop(shop.shopId, { ...shop, name: "Demo" })));
  const warnings: string[] = [];
  const warn = (_: object, message: string): void => void warnings.push(message);
  const reopened = () => {
    const storefronts = createStorefronts({
      engine: store.engine,
      clock,
      ids,
      log: { info: warn, warn, error: warn },
      secrets: new SecretBox(secretKey),
      allowed: allowedOf(fake),
      sandboxOf: () => {
        throw new Error("the sandbox was opened instead");
      },
    });
    return { storefronts, storefront: storefronts.open(shop) };
  };
  return {
    fake,
    shop,
    engine: store.engine,
    storefront: reopened().storefront,
    reopened,
    clock,
    ids,
    advance(ms) {
      aheadMs += ms;
      fake.aheadMs += ms;
    },
    warnings,
    async close() {
      await fake.close();
      await store.close();
      await place.remove();
    },
  };
}

/** Runs `use` on a shop with a fake Shopify. */
export async function onFake(use: (world: OnFake) => Promise<void>): Promise<void> {
  const world = await openOnFake();
  try {
    await use(world);
  } finally {
    await world.close();
  }
}
