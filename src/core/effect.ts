/**
 * Effects: what is to be done outside the shop after a change has committed (S3). Core describes them, the shop keeps them in
 * its outbox in the same transaction, the outbox applies each one once and resumes after a crash.
 *
 * An effect names what to bring about and carries no amounts that could go stale: the amounts are taken from the shop's data
 * when the effect is started, and are then persisted under a reference before the storefront is called (C40).
 */
export type Effect =
  /** Push on-hand changes of received − synced for these lines of the order at its location. */
  | { readonly kind: "push-stock"; readonly purchaseOrderId: string; readonly poLineItemIds: readonly string[] }
  /** Bring the storefront's incoming figure of these variants at this location to the local ledger's. */
  | { readonly kind: "mirror-incoming"; readonly locationId: string; readonly variantIds: readonly string[] }
  /** Tag or untag these variants as on order, by the local incoming ledger (C42). */
  | { readonly kind: "sync-tags"; readonly variantIds: readonly string[] }
  /** Read the costs of a completed order back and settle its `proposed` rows (C45). */
  | { readonly kind: "settle-costs"; readonly purchaseOrderId: string };

/** How an effect stands: what its first attempt, or a later one, has brought. */
export type EffectOutcome =
  /** Not finished yet: not started, under way, or to be tried again. */
  | { readonly state: "pending" }
  /** Done. `itemCount` = items it touched. */
  | { readonly state: "applied"; readonly itemCount: number }
  /** Nothing was left to do. */
  | { readonly state: "skipped" }
  /** Refused, or given up after the named number of attempts. Items that landed stay landed. */
  | { readonly state: "failed"; readonly detail: string; readonly itemCount: number };
