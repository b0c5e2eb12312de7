/**
 * The renewed token of a shop's storefront, as a row, so that among nodes one renews it and all use it.
 *
 * Owns: the SQL of `storefront_token`. Does not own: renewing it, and what seals it (storefront/).
 */
import type { Tx } from "../../store/store.ts";
import { type Change, update } from "../../store/change.ts";
import { tables } from "../tables.ts";

export interface RenewedToken {
  /** Sealed. */
  readonly token: string;
  readonly expiresAtMs: number;
}

/** The token that was renewed under this connection; null when none was. */
export async function loadToken(tx: Tx, shopId: string, madeFor: string): Promise<RenewedToken | null> {
  const [row] = await tx.all<{ token: string | null; expires_at: number | null }>(
    "select token, expires_at from storefront_token where shop_id = ? and made_for = ?",
    [shopId, madeFor],
  );
  return row === undefined || row.token === null || row.expires_at === null
    ? null
    : { token: row.token, expiresAtMs: row.expires_at };
}

/**
 * Takes on the renewal until `untilMs`; one that would end after `aheadMs` is from before the clock was set back.
 *
 * @returns false when another process has it.
 */
export async function claimRenewal(
  tx: Tx,
  shopId: string,
  madeFor: string,
  { nowMs, untilMs, aheadMs }: { readonly nowMs: number; readonly untilMs: number; readonly aheadMs: number },
): Promise<boolean> {
  const rows = await tx.all(
    `insert into storefront_token (shop_id, made_for, token, expires_at, renewing_until) values (?, ?, null, null, ?)
     on conflict (shop_id) do update set renewing_until = excluded.renewing_until,
       token = case when storefront_token.made_for = excluded.made_for then storefront_token.token end,
       expires_at = case when storefront_token.made_for = excluded.made_for then storefront_token.expires_at end,
       made_for = excluded.made_for
     where storefront_token.made_for <> excluded.made_for or storefront_token.renewing_until <= ?
       or storefront_token.renewing_until > ?
     returning shop_id`,
    [shopId, madeFor, untilMs, nowMs, aheadMs],
  );
  return rows.length > 0;
}

/** Stores the renewed token and ends the renewal. */
export const saveTokenStatement = (shopId: string, madeFor: string, { token, expiresAtMs }: RenewedToken): Change =>
  update(tables.storefront_token, shopId, { made_for: madeFor }, { token, expires_at: expiresAtMs, renewing_until: 0 });

/** Ends a renewal that has failed; the next one may begin at this time. */
export const endRenewalStatement = (shopId: string, madeFor: string, atMs: number): Change =>
  update(tables.storefront_token, shopId, { made_for: madeFor }, { renewing_until: atMs });
