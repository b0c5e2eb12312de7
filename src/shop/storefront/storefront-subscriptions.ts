/**
 * Subscription of a shop at its store, as a row. It is stored before the store is called, so that after a crash it is
 * known what to cancel.
 *
 * Owns: the SQL of `storefront_subscription`. Does not own: asking the store (its adapter), when it is asked
 * (admin/storefront/storefront-webhooks.ts).
 */
import type { Tx } from "../../store/store.ts";
import { type Change, replace, update } from "../../store/change.ts";
import { tables } from "../tables.ts";

export interface Subscription {
  readonly address: string;
  /** Addresses at which the store may tell changes still. */
  readonly former: readonly string[];
  /** `subscription`: what has become of it is not known. */
  readonly state: "asked" | "made" | "failed";
  /** Why it is not made, or not whole. */
  readonly message: string | null;
  readonly requestedAtMs: number;
}

interface SubscriptionRow {
  readonly address: string;
  readonly former: string;
  readonly state: Subscription["state"];
  readonly message: string | null;
  readonly asked_at: number;
}

/** Null: the store was never asked. */
export async function loadSubscription(tx: Tx, shopId: string): Promise<Subscription | null> {
  const [row] = await tx.all<SubscriptionRow>(
    "select address, former, state, message, asked_at from storefront_subscription where shop_id = ?",
    [shopId],
  );
  if (row === undefined) return null;
  const { address, state, message, asked_at: requestedAtMs } = row;
  // Only this module writes them.
  const former: readonly string[] = JSON.parse(row.former);
  return { address, former, state, message, requestedAtMs };
}

/** The store is asked now. What it was asked for at other addresses is to be taken back. */
export async function beginSubscription(tx: Tx, shopId: string, address: string, nowMs: number): Promise<Subscription> {
  const found = await loadSubscription(tx, shopId);
  const known = found === null ? [] : [...found.former, found.address];
  const former = [...new Set(known)].filter((each) => each !== address);
  const begun: Subscription = { address, former, state: "asked", message: null, requestedAtMs: nowMs };
  await tx.batch([
    replace(tables.storefront_subscription, shopId, {
      address,
      former: JSON.stringify(former),
      state: begun.state,
      message: null,
      asked_at: nowMs,
    }),
  ]);
  return begun;
}

/** Stores the outcome, unless another address was subscribed meanwhile. */
export const endSubscriptionStatement = (shopId: string, subscription: Subscription, message: string | null): Change =>
  update(
    tables.storefront_subscription,
    shopId,
    { address: subscription.address },
    {
      state: message === null ? "made" : "failed",
      message,
      former: JSON.stringify(message === null ? [] : subscription.former),
    },
  );
