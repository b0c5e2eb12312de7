/**
 * The claim of one call on an order, while it goes from change to storefront call to change (S5, C43, C45).
 *
 * Owns: taking, renewing and ending a claim. Does not own: its row (shop/order/order-claims.ts), which calls a claim
 * keeps away (stock-sync.ts).
 *
 * A call that fails ends its claim in a change of its own. If the process dies, the claim ends with its lease; on one
 * process also with the next start, which voids the leases of earlier processes (jobs/outbox/runner.ts, O1).
 */
import {
  type ClaimEffect,
  claimStatements,
  endClaimStatement,
  endConfirmation,
  renewClaimStatement,
} from "../../../shop/order/order-claims.ts";
import type { Tx } from "../../../store/store.ts";
import type { Call } from "../../../requests/operation.ts";
import { stampOf } from "../access.ts";

/** Lease of a claim that is not renewed: with a search it is below 10 s (C38). */
export const claimLeaseMs = 6_000;

const claimRenewMs = 2_000;

/** A claim that a call may take once. */
export class OrderClaim {
  readonly claimId: string;
  readonly #call: Call;
  #effect: ClaimEffect | null = null;
  #renewing: ReturnType<typeof setInterval> | undefined;

  constructor(call: Call) {
    this.claimId = call.ids.next("eff");
    this.#call = call;
  }

  /**
   * Takes the claim, inside a change that has checked that nobody else has it. Does nothing when it is taken already.
   */
  async take(tx: Tx, effect: ClaimEffect): Promise<void> {
    if (this.#effect !== null) return;
    this.#effect = effect;
    const { claimId } = this;
    const nowMs = this.#call.clock.now();
    await tx.batch(
      claimStatements(this.#call.shop.shopId, { claimId, effect, nowMs, leasedUntilMs: nowMs + claimLeaseMs }),
    );
    // A renewal that fails is followed by others before the lease ends.
    this.#renewing = setInterval(() => void this.#renew().catch(() => {}), claimRenewMs);
  }

  #renew(): Promise<void> {
    const { shop, clock } = this.#call;
    const renew = renewClaimStatement(shop.shopId, this.claimId, clock.now() + claimLeaseMs);
    return this.#call.change((tx) => tx.batch([renew]));
  }

  /**
   * Ends the claim, inside the call's last change and before that loads the order, whose sync state may change with it.
   */
  async end(tx: Tx): Promise<void> {
    if (this.#effect === null) return;
    const { shop, clock } = this.#call;
    if (this.#effect.kind === "end-confirmation")
      await endConfirmation(tx, shop.shopId, this.claimId, this.#effect, stampOf(this.#call));
    await tx.batch([endClaimStatement(shop.shopId, this.claimId, clock.now())]);
  }

  get isTaken(): boolean {
    return this.#effect !== null;
  }

  stopRenewing(): void {
    clearInterval(this.#renewing);
  }
}

/**
 * Runs `work`, which may take the claim and then ends it in its last change. If `work` fails, the claim is ended
 * afterwards.
 */
export async function withOrderClaim<T>(call: Call, work: (claim: OrderClaim) => Promise<T>): Promise<T> {
  const claim = new OrderClaim(call);
  try {
    return await work(claim);
  } catch (error) {
    // The failure is what the caller is told; a claim that cannot be ended now ends with its lease.
    if (claim.isTaken) await call.change((tx) => claim.end(tx)).catch(() => {});
    throw error;
  } finally {
    claim.stopRenewing();
  }
}
