/**
 * Effects: work outside the shop that follows a committed change (S3). The rules describe them, and the change stores
 * them in the outbox in its own transaction. The outbox applies each one once and resumes after a crash.
 *
 * An effect names what to do and carries no amounts that could go stale; a difference does not. Amounts are taken from
 * the shop's data when the effect starts, and are stored under a reference before the storefront is called (C40).
 */

import type { Quantity } from "../money/money.ts";

/** One piece of work. */
export type Effect =
  /** Keep a variant in the shop's own ledger of stock as the catalogue has it (C84). */
  | { readonly kind: "keep-variant"; readonly variantId: string }
  /** Change the shop's own ledger of stock by what a person has set (C84). The shop's level has changed already. */
  | {
      readonly kind: "keep-level";
      readonly variantId: string;
      readonly locationId: string;
      readonly delta: Quantity;
    }
  /** Push on-hand changes of received − synced for these lines of the order at its location. */
  | { readonly kind: "push-stock"; readonly purchaseOrderId: string; readonly poLineItemIds: readonly string[] }
  /** Set the storefront's incoming quantities of these variants at this location to those of the local ledger (C41). */
  | { readonly kind: "mirror-incoming"; readonly locationId: string; readonly variantIds: readonly string[] }
  /** Tag or untag the products of these variants as on order, by the local incoming ledger (C42). */
  | { readonly kind: "sync-tags"; readonly variantIds: readonly string[] }
  /** Read the costs of a completed order back and settle its `proposed` rows (C45). */
  | { readonly kind: "settle-costs"; readonly purchaseOrderId: string }
  /** Take goods that were taken back out of the moving average, and write what it is then to the storefront (C45). */
  | { readonly kind: "take-back-costs"; readonly purchaseOrderId: string }
  /**
   * A call waits until the storefront shows what it took, and the order is in flight (C43). The call itself claims this
   * effect and ends the wait. If its process dies, the lease ends and the outbox ends the wait. `sinceMs`: when the
   * wait began. `wasFailed`: the latest push before it had failed.
   */
  | {
      readonly kind: "end-confirmation";
      readonly purchaseOrderId: string;
      readonly sinceMs: number;
      readonly wasFailed: boolean;
    }
  /**
   * A call writes the order's unit costs, and keeps other cost syncs of the order away (C45). The call itself claims
   * this effect and settles it. If its process dies, the lease ends and the outbox settles it; there is nothing else to
   * do.
   */
  | { readonly kind: "end-cost-sync"; readonly purchaseOrderId: string };

/** State of an effect after an attempt. */
export type EffectOutcome =
  /** Not finished: not started, running, or waiting for its next attempt. */
  | { readonly state: "pending" }
  /** Done. `itemCount`: items that it changed. */
  | { readonly state: "applied"; readonly itemCount: number }
  /** Nothing was left to do. */
  | { readonly state: "skipped" }
  /** Refused, or given up after the named number of attempts. Items that landed stay landed. */
  | { readonly state: "failed"; readonly detail: string; readonly itemCount: number };

/** Returns the name of an order in the storefront's own history. */
export const orderUri = (shopId: string, purchaseOrderId: string): string =>
  `openpo://shops/${shopId}/purchase-orders/${purchaseOrderId}`;
