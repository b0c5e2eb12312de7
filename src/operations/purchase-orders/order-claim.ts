/**
 * The claim of one call on an order, while it goes from change to storefront call to change (S5, C45).
 *
 * Owns: taking, renewing and ending a claim. Does not own: its row (shop/order-claims.ts), which calls a claim keeps away (stock-sync.ts).
 *
 * A call that fails ends its claim in a change of its own. If the process dies, the claim ends with its lease; on one process also with
 * the next start, which voids the leases of earlier processes (outbox/runner.ts, O1).
 */
import { type ClaimEffect, claimStatements, endClaimStatement, renewClaimStatement } from "../../shop/order-claims.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { Call } from "../operation.ts";

/** How long a claim holds without being renewed: longer than a renewal may wait for the shop's turn. */
const claimLeaseMs = 15_000;

const claimRenewMs = 3_000;

export interface OrderClaim {
  readonly claimId: string;
  /** Takes the claim, inside a change that has checked that nobody else has it. Does nothing when it is taken already. */
  take(tx: Tx, effect: ClaimEffect): Promise<void>;
  /** Ends the claim, inside the call's last change. */
  end(tx: Tx): Promise<void>;
}

/** Runs `work`, which may take the claim once and ends it in its last change. If `work` fails, the claim is ended afterwards. */
export async function withOrderClaim<T>(call: Call, work: (claim: OrderClaim) => Promise<T>): Promise<T> {
  const { shopId } = call.shop;
  const claimId = call.ids.next("eff");
  const leasedUntilMs = (): number => call.clock.now() + claimLeaseMs;
  const change = (statement: Statement): Promise<void> => call.change((tx) => tx.batch([statement]));
  let renewing: ReturnType<typeof setInterval> | null = null;
  const claim: OrderClaim = {
    claimId,
    async take(tx, effect) {
      if (renewing !== null) return;
      const nowMs = call.clock.now();
      await tx.batch(claimStatements(shopId, { claimId, effect, nowMs, leasedUntilMs: leasedUntilMs() }));
      // A renewal that fails is followed by others before the lease ends.
      renewing = setInterval(() => {
        change(renewClaimStatement(shopId, claimId, leasedUntilMs())).catch(() => {});
      }, claimRenewMs);
    },
    end: (tx) => tx.batch(renewing === null ? [] : [endClaimStatement(shopId, claimId, call.clock.now())]),
  };
  try {
    return await work(claim);
  } catch (error) {
    // The failure is what the caller is told; a claim that cannot be ended now ends with its lease.
    if (renewing !== null) await call.change((tx) => claim.end(tx)).catch(() => {});
    throw error;
  } finally {
    if (renewing !== null) clearInterval(renewing);
  }
}
