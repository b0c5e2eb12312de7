/**
 * The turn to set stock at a storefront that can only take a new level. Two callers that read the same figure would
 * undo each other. One call of a shop at a time has it, on any node.
 *
 * Owns: the SQL of `storefront_turn`. Does not own: what is done in a turn (storefront/medusa/on-hand.ts).
 */
import { clocksApartMsMax } from "../../core/access/rate-limit.ts";
import type { Claims } from "../../store/claims.ts";
import type { Statement, Tx } from "../../store/store.ts";

/** Turns of a node that has died are free at once; what they were interrupted in stays for the next one. */
export const lockClaims: Claims = {
  table: "storefront_turn",
  column: "owner",
  givenBack: "until_at = ?",
  among: "until_at > 0",
};

/** A turn that was taken. */
interface TakenLock {
  /**
   * The write (shop/storefront/storefront-writes.ts) whose holder has ended without knowing what became of it; null:
   * there is none.
   */
  readonly interrupted: string | null;
}

interface LockRow {
  readonly owner: string;
  readonly until_at: number;
  readonly reference: string | null;
}

async function loadLock(tx: Tx, shopId: string): Promise<LockRow | null> {
  const [row] = await tx.all<LockRow>("select owner, until_at, reference from storefront_turn where shop_id = ?", [
    shopId,
  ]);
  return row ?? null;
}

/**
 * Takes the turn until `untilMs`, as far ahead as anybody takes it; null while another has it. One that ends later is
 * from before the clock was set back, and nobody has it (D74). `takesOver`: nobody else can have it.
 */
export async function takeLock(
  tx: Tx,
  shopId: string,
  owner: string,
  { nowMs, untilMs, takesOver }: { readonly nowMs: number; readonly untilMs: number; readonly takesOver: boolean },
): Promise<TakenLock | null> {
  const row = await loadLock(tx, shopId);
  const isHeld = row !== null && row.until_at > nowMs && row.until_at <= untilMs + clocksApartMsMax;
  if (!takesOver && isHeld && row.owner !== owner) return null;
  await tx.batch([
    {
      sql: `insert into storefront_turn (shop_id, owner, until_at, reference) values (?, ?, ?, null)
            on conflict (shop_id) do update set owner = excluded.owner, until_at = excluded.until_at`,
      params: [shopId, owner, untilMs],
    },
  ]);
  return { interrupted: row?.reference ?? null };
}

/** True if this owner still has the turn. */
export async function hasLock(tx: Tx, shopId: string, owner: string): Promise<boolean> {
  return (await loadLock(tx, shopId))?.owner === owner;
}

/** Keeps the turn until `untilMs`. `reference`: the write that is about to be sent; null: nothing is. */
export const keepLockStatement = (
  shopId: string,
  owner: string,
  { untilMs, reference }: { readonly untilMs: number; readonly reference: string | null },
): Statement => ({
  sql: "update storefront_turn set until_at = ?, reference = ? where shop_id = ? and owner = ?",
  params: [untilMs, reference, shopId, owner],
});

/** Gives the turn back; what it was interrupted in stays for the next one. */
export const endLockStatement = (shopId: string, owner: string): Statement => ({
  sql: "update storefront_turn set until_at = 0 where shop_id = ? and owner = ?",
  params: [shopId, owner],
});
