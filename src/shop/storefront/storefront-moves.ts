/** Work of a shop that is under way at its storefront, for leaving it (C65) and for its status (C67). */
import type { Effect } from "../../core/order/effect.ts";
import { chunksOf } from "../../store/in-lists.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { effectStatements } from "./effects.ts";
import { remove } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** True if a push has no known outcome, or a call of the storefront is under way. */
export async function hasWorkUnderWay(tx: Tx, shopId: string): Promise<boolean> {
  const [pushes, effects] = await Promise.all([
    tx.all("select 1 as found from stock_push where shop_id = ? and settled_at is null limit 1", [shopId]),
    tx.all(
      `select 1 as found from effect where shop_id = ? and state = 'pending'
         and (kind = 'push-stock' or (lease_owner is not null and kind in ('mirror-incoming', 'sync-tags', 'take-back-costs'))) limit 1`,
      [shopId],
    ),
  ]);
  return pushes.length + effects.length > 0;
}

/** Effects of the shop that are not settled. */
export async function pendingStorefrontEffects(tx: Tx, shopId: string): Promise<number> {
  const [row] = await tx.all<{ n: number }>(
    `select count(*) as n from effect where shop_id = ? and state = 'pending'
       and kind in ('push-stock', 'mirror-incoming', 'sync-tags', 'settle-costs', 'take-back-costs')`,
    [shopId],
  );
  return row?.n ?? 0;
}

/** Variants and locations at which the storefront may show something incoming on our account. */
export async function heldIncoming(
  tx: Tx,
  shopId: string,
): Promise<readonly { readonly variantId: string; readonly locationId: string }[]> {
  const rows = await tx.all<{ variant_id: string; location_id: string }>(
    `select variant_id, location_id from storefront_incoming where shop_id = ?
     union select variant_id, location_id from incoming where shop_id = ? and quantity <> 0
     order by location_id, variant_id`,
    [shopId, shopId],
  );
  const open = await tx.all<{ location_id: string; items: string }>(
    "select location_id, items from storefront_incoming_batch where shop_id = ?",
    [shopId],
  );
  const held = new Map<string, { readonly variantId: string; readonly locationId: string }>();
  const add = (variantId: string, locationId: string): void => {
    held.set(JSON.stringify([variantId, locationId]), { variantId, locationId });
  };
  for (const { variant_id: variantId, location_id: locationId } of rows) add(variantId, locationId);
  for (const { location_id: locationId, items } of open) {
    const parsed: readonly { readonly variantId: string }[] = JSON.parse(items);
    for (const { variantId } of parsed) add(variantId, locationId);
  }
  return [...held.values()];
}

/**
 * True if a part of the incoming quantity that a storefront shows is ours, by our own record of a platform that only
 * counts.
 */
export async function isIncomingHeld(tx: Tx, shopId: string): Promise<boolean> {
  const rows = await tx.all(
    `select 1 as found from storefront_incoming where shop_id = ?
     union all select 1 as found from storefront_incoming_batch where shop_id = ? limit 1`,
    [shopId, shopId],
  );
  return rows.length > 0;
}

/** Forget what was sent to a storefront that the shop leaves. */
export const forgetStoreStatements = (shopId: string): readonly Statement[] => [
  remove(tables.storefront_write, shopId),
  remove(tables.storefront_incoming, shopId),
  remove(tables.storefront_incoming_batch, shopId),
  remove(tables.storefront_turn, shopId),
  remove(tables.storefront_subscription, shopId),
  remove(tables.storefront_call, shopId),
];

/** Variants that one effect tells of. */
const variantsPerEffect = 250;

/** A variant at a location. */
interface LevelRow {
  readonly variant_id: string;
  readonly location_id: string;
}

/** The effects that tell the storefront what is incoming at these places, and the tags that go with it. */
export function tellIncomingStatements(
  shopId: string,
  rows: readonly LevelRow[],
  ids: Ids,
  nowMs: number,
): readonly Statement[] {
  const effects: Effect[] = [];
  for (const [locationId, levels] of Map.groupBy(rows, (row) => row.location_id))
    for (const chunk of chunksOf(levels, variantsPerEffect))
      effects.push({ kind: "mirror-incoming", locationId, variantIds: chunk.map((row) => row.variant_id) });
  for (const chunk of chunksOf([...new Set(rows.map((row) => row.variant_id))], variantsPerEffect))
    effects.push({ kind: "sync-tags", variantIds: chunk });
  return effectStatements(shopId, effects, ids, nowMs).statements;
}

/** The effects that tell a new storefront all that is incoming, and the tags that go with it. */
export async function retellStatements(tx: Tx, shopId: string, ids: Ids, nowMs: number): Promise<readonly Statement[]> {
  const rows = await tx.all<LevelRow>(
    "select variant_id, location_id from incoming where shop_id = ? and quantity <> 0 order by location_id, variant_id",
    [shopId],
  );
  return tellIncomingStatements(shopId, rows, ids, nowMs);
}
