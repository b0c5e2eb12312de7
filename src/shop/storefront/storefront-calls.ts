/**
 * When a storefront was called last, and what went wrong last, as a row: so it is known after a restart, and on every
 * node (C67). `account` is its domain or URL: a call of a storefront that the shop has left tells nothing of the next
 * one.
 *
 * Owns: the SQL of `storefront_call`. Does not own: when it is stored (storefront/calls.ts).
 */
import type { Tx } from "../../store/store.ts";
import { type Change, changeOf, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** State of the calls of a storefront. */
interface StorefrontCalls {
  readonly lastCallAtMs: number | null;
  readonly lastError: { readonly atMs: number; readonly message: string } | null;
}

export const noCalls: StorefrontCalls = { lastCallAtMs: null, lastError: null };

/** Returns the stored state of the storefront's calls. */
export async function loadCalls(tx: Tx, shopId: string, account: string): Promise<StorefrontCalls> {
  const [row] = await tx.all<{ called_at: number | null; failed_at: number | null; error: string | null }>(
    "select called_at, failed_at, error from storefront_call where shop_id = ? and account = ?",
    [shopId, account],
  );
  if (row === undefined) return noCalls;
  const { called_at: lastCallAtMs, failed_at: atMs, error: message } = row;
  return { lastCallAtMs, lastError: atMs === null || message === null ? null : { atMs, message } };
}

/** Stores the latest call, and the latest error if there is a newer one. */
export const noteCallsStatement = (
  shopId: string,
  account: string,
  { lastCallAtMs, lastError }: StorefrontCalls,
): Change => changeOf(noteCalls, [shopId, account, lastCallAtMs, lastError?.atMs ?? null, lastError?.message ?? null]);

const noteCalls = textForm(
  tables.storefront_call,
  `insert into storefront_call (shop_id, account, called_at, failed_at, error) values (?, ?, ?, ?, ?)
   on conflict (shop_id, account) do update set called_at = coalesce(excluded.called_at, storefront_call.called_at),
     failed_at = coalesce(excluded.failed_at, storefront_call.failed_at),
     error = coalesce(excluded.error, storefront_call.error)`,
  ["shop_id", "account", null, null, null],
);

/** The later of what two have seen. */
export const laterCalls = (one: StorefrontCalls, other: StorefrontCalls): StorefrontCalls => ({
  lastCallAtMs: Math.max(one.lastCallAtMs ?? 0, other.lastCallAtMs ?? 0) || null,
  lastError: (one.lastError?.atMs ?? 0) >= (other.lastError?.atMs ?? 0) ? one.lastError : other.lastError,
});
