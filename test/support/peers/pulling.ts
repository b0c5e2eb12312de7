/** Pulls of a shop on a platform, and what they leave in the shop. */
import { DueSearch } from "../../../src/jobs/due-search.ts";
import type { ConnectedShop } from "../../../src/core/storefront/storefront-config.ts";
import { createPuller, type Puller, type pullLimits } from "../../../src/jobs/puller.ts";
import type { RecordEntry } from "../../../src/shop/catalogue/record-log.ts";
import { askForPull, loadPull, type Pull } from "../../../src/shop/storefront/storefront-pulls.ts";
import type { Clock, Ids } from "../../../src/base/time/clock.ts";
import type { Engine } from "../../../src/store/store.ts";
import type { StorefrontConnections } from "../../../src/storefront/connections.ts";
import { until } from "../until.ts";

/** A shop on a platform. */
interface Pullable {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly shop: ConnectedShop;
  /** As another process, or this one after a restart, opens them. */
  reopened(): { readonly storefronts: StorefrontConnections };
}

/** Waits are short. */
const quickPulls: Partial<typeof pullLimits> = { backoffMs: 5, backoffMsMax: 20, roundWaitMs: 20 };

/** A puller of this store, as one process has it. */
export function pullerOn(world: Pullable, limits: Partial<typeof pullLimits> = {}, alone = true): Puller {
  const { engine, clock, ids } = world;
  const { storefronts } = world.reopened();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  return createPuller({
    engine,
    clock,
    ids,
    log,
    search: alone ? null : new DueSearch({ engine, clock, log, random: Math.random, everyMs: 50 }),
    storefrontOf: (shop) => Promise.resolve(storefronts.open(shop)),
    random: Math.random,
    limits: { ...quickPulls, ...limits },
  });
}

export const pullOf = ({ engine, shop: { shopId } }: Pullable): Promise<Pull | null> =>
  engine.read(shopId, (tx) => loadPull(tx, shopId));

/** Asks for a pull, as the operator does. */
export const ask = ({ engine, shop: { shopId }, ids, clock }: Pullable, everything = false): Promise<Pull> =>
  engine.write(shopId, (tx) => askForPull(tx, shopId, everything, ids.next("pull"), clock.now()));

/** Waits until the pull is over. */
export const ended = (world: Pullable, pullId: string): Promise<Pull> =>
  until(
    () => pullOf(world),
    async () => {
      const pull = await pullOf(world);
      return pull?.pullId === pullId && pull.state !== "running" && pull;
    },
  );

/** Pulls to the end. */
export async function pullAll(
  world: Pullable,
  everything = false,
  limits: Partial<typeof pullLimits> = {},
): Promise<Pull> {
  const puller = pullerOn(world, limits);
  try {
    const { pullId } = await ask(world, everything);
    puller.wake(world.shop.shopId);
    return await ended(world, pullId);
  } finally {
    await puller.close();
  }
}

/** What histories tell of pulls: kind, id, action and the actor's name, and the fields that changed. */
export async function toldOf({ engine, shop: { shopId } }: Pullable) {
  const rows = await engine.read(shopId, (tx) =>
    tx.all<{ kind: string; record_id: string; doc: string }>(
      "select kind, record_id, doc from record_log where shop_id = ? order by log_id",
      [shopId],
    ),
  );
  return rows.map(({ kind, record_id: id, doc }) => {
    const { action, actor, operation, changes }: RecordEntry = JSON.parse(doc);
    return { kind, id, action, by: actor.name, operation, changes };
  });
}

/** What the shop has, table by table. */
export async function heldBy({ engine, shop: { shopId } }: Pullable) {
  const rows = async <R extends object>(sql: string): Promise<R[]> =>
    (await engine.read(shopId, (tx) => tx.all<R>(sql, [shopId]))).map((row) => ({ ...row }));
  return {
    locations: await rows<{ location_id: string; name: string }>(
      "select location_id, name from location where shop_id = ? order by location_id",
    ),
    variants: await rows<Readonly<Record<string, string | number | null>>>(
      `select variant_id, product_id, product_name, variant_name, sku, barcode, price, unit_cost, status, image_url
       from variant where shop_id = ? order by variant_id`,
    ),
    levels: await rows<{ variant_id: string; location_id: string; on_hand: number }>(
      "select variant_id, location_id, on_hand from inventory_level where shop_id = ? order by variant_id, location_id",
    ),
    sales: await rows<{ variant_id: string; location_id: string; date: string; quantity: number }>(
      `select variant_id, location_id, date, quantity from sale where shop_id = ?
       order by variant_id, location_id, date`,
    ),
  };
}
