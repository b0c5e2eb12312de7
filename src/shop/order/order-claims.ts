/**
 * Claims of calls on an order (C43, C45). While a call waits for the storefront, or writes costs to it, calls that must
 * not run beside it are refused.
 *
 * A claim is an effect that the call itself has leased and renews. The call settles it in its last change. If the
 * process dies, the lease ends, and the outbox runs the effect. Owns: the SQL of these effects as claims, and what
 * ending one means for the order. Does not own: when a claim is taken and renewed
 * (operations/purchase-orders/goods/order-claim.ts), the table (shop/storefront/effects.ts).
 */
import type { Effect } from "../../core/order/effect.ts";
import { waitEnded } from "../../core/storefront/sync.ts";
import type { Tx } from "../../store/store.ts";
import { effectRow, laneOf, settleEffectStatement } from "../storefront/effects.ts";
import { type Stamp, loadOrder, saveDecision } from "./purchase-orders.ts";
import { hasFailedPush, isPushInFlight } from "../storefront/stock-pushes.ts";
import { type Change, insert, update, fixed } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** An effect that a call claims. */
export type ClaimEffect = Extract<Effect, { readonly kind: "end-confirmation" | "end-cost-sync" }>;

/** Which effect a claim is, and until when it holds without being renewed. */
interface NewClaim {
  readonly claimId: string;
  readonly effect: ClaimEffect;
  readonly nowMs: number;
  readonly leasedUntilMs: number;
}

/** Takes a claim on the order. One of the same kind whose lease has ended is settled. */
export function claimStatements(
  shopId: string,
  { claimId, effect, nowMs, leasedUntilMs }: NewClaim,
): readonly Change[] {
  const lane = laneOf(effect);
  return [
    update(
      tables.effect,
      shopId,
      { lane, state: fixed("pending") },
      { state: "skipped", lease_owner: null, settled_at: nowMs },
    ),
    insert(tables.effect, shopId, {
      ...effectRow(claimId, effect, lane, nowMs),
      attempts: 1,
      due_at: leasedUntilMs,
      lease_owner: claimId,
    }),
  ];
}

/** Renews the claim, unless the outbox has taken it. */
export const renewClaimStatement = (shopId: string, claimId: string, leasedUntilMs: number): Change =>
  update(
    tables.effect,
    shopId,
    { effect_id: claimId, state: fixed("pending"), lease_owner: claimId },
    { due_at: leasedUntilMs },
  );

/** Ends the claim. */
export const endClaimStatement = (shopId: string, claimId: string, nowMs: number): Change =>
  settleEffectStatement(shopId, claimId, { state: "skipped" }, nowMs);

/**
 * The order is not in flight any more on account of the call with this claim, which waited for the storefront (C43).
 */
export async function endConfirmation(
  tx: Tx,
  shopId: string,
  claimId: string,
  { purchaseOrderId, sinceMs, wasFailed }: Extract<ClaimEffect, { readonly kind: "end-confirmation" }>,
  stamp: Stamp,
): Promise<void> {
  const [order, isPushing, hasFailed, others] = await Promise.all([
    loadOrder(tx, shopId, purchaseOrderId),
    isPushInFlight(tx, shopId, purchaseOrderId),
    hasFailedPush(tx, shopId, purchaseOrderId, sinceMs),
    // There is another when this call was so slow that its lease had ended.
    claimsHeld(tx, shopId, purchaseOrderId, stamp.nowMs, claimId),
  ]);
  if (order === null) return;
  const inFlight = isPushing || others.has("end-confirmation");
  const ended = waitEnded(order, { inFlight, failed: wasFailed || hasFailed }, stamp.nowMs);
  await saveDecision(tx, shopId, order, ended, stamp);
}

/** Kind of a claim on an order: that of a call, or of the outbox that writes its costs. */
export type Held = ClaimEffect["kind"] | "take-back-costs";

/** The kinds of claims that are held on the order now. @param ownClaimId a claim to leave out. */
export async function claimsHeld(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  nowMs: number,
  ownClaimId: string | null,
): Promise<ReadonlySet<Held>> {
  const rows = await tx.all<{ effect_id: string; kind: Held }>(
    `select effect_id, kind from effect
     where shop_id = ? and lane in (?, ?, ?) and state = 'pending' and due_at + 0 > ?
       and (lease_owner = effect_id or (lease_owner is not null and kind = 'take-back-costs'))`,
    [shopId, ...claimLanes(purchaseOrderId), nowMs],
  );
  return new Set(rows.filter((row) => row.effect_id !== ownClaimId).map((row) => row.kind));
}

const claimLanes = (purchaseOrderId: string): readonly string[] => [
  laneOf({ kind: "end-confirmation", purchaseOrderId, sinceMs: 0, wasFailed: false }),
  laneOf({ kind: "end-cost-sync", purchaseOrderId }),
  laneOf({ kind: "take-back-costs", purchaseOrderId }),
];
