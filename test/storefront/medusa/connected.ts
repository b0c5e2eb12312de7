/** A shop in a real store whose storefront is a Medusa behind a proxy that can fail. */
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
import { MedusaPlace } from "./place.ts";
import { plainShop } from "../../support/shops/plain-shop.ts";

const secretKey = Buffer.alloc(32, 7);

export interface OnMedusa {
  readonly medusa: MedusaPlace;
  readonly shop: ConnectedShop;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly storefront: Storefront;
  /** As another process, or this one after a restart, opens them: nothing is remembered. */
  readonly reopened: (engine?: Engine) => {
    readonly storefronts: StorefrontConnections;
    readonly storefront: Storefront;
  };
  /** Sets the service's clock ahead. */
  readonly advance: (ms: number) => void;
  readonly close: () => Promise<void>;
}

export async function openOnMedusa(): Promise<OnMedusa> {
  const medusa = await MedusaPlace.open();
  const place = await makePlace();
  const store = await openStore(place.directory);
  let aheadMs = 0;
  const clock: Clock = { now: () => systemClock.now() + aheadMs };
  const ids = timeOrderedIds(clock);
  const shopId = "demo";
  const { url } = medusa.proxy;
  const shop: ConnectedShop = {
    shopId,
    currencyCode: "USD",
    storefront: { kind: "medusa", url, secretKey: new SecretBox(secretKey).seal(shopId, medusa.key) },
  };
  await store.engine.create(shopId);
  await store.engine.write(shopId, (tx) => saveShop(tx, plainShop(shop.shopId, { ...shop, name: "Demo" })));
  const reopened = (engine: Engine = store.engine) => {
    const storefronts = createStorefronts({
      engine,
      clock,
      ids,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      secrets: new SecretBox(secretKey),
      allowed: parseAllowedHosts(url) ?? new Map<string, string>(),
      sandboxOf: () => {
        throw new Error("the sandbox was opened instead");
      },
    });
    return { storefronts, storefront: storefronts.open(shop) };
  };
  return {
    medusa,
    shop,
    engine: store.engine,
    clock,
    ids,
    storefront: reopened().storefront,
    reopened,
    advance(ms) {
      aheadMs += ms;
    },
    async close() {
      await medusa.close();
      await store.close();
      await place.remove();
    },
  };
}

/** Runs `use` on a shop with a Medusa. */
export async function onMedusa(use: (world: OnMedusa) => Promise<void>): Promise<void> {
  const world = await openOnMedusa();
  try {
    await use(world);
  } finally {
    await world.close();
  }
}
