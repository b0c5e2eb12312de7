/**
 * The refusals beside a sync that runs (C43, C45).
 */
import { Fault } from "../../../base/fault.ts";
import type { PurchaseOrder } from "../../../core/order/purchase-order.ts";
import { type Held, claimsHeld } from "../../../shop/order/order-claims.ts";
import { isPushInFlight } from "../../../shop/storefront/stock-pushes.ts";
import type { Tx } from "../../../store/store.ts";
import type { Call } from "../../../requests/operation.ts";

/** Wait of a caller before it asks again for the outcome of a push. */
const inFlightRetryAfterMs = 1_000;

/**
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT  a push of the order has no known outcome yet, or a call waits for the
 *                                       storefront to show it (C43).
 */
export async function refuseWhileInFlight(tx: Tx, call: Call, order: PurchaseOrder): Promise<void> {
  refuseInFlight(order, await syncsOf(tx, call, order, null));
}

/**
 * @param ownClaimId the caller's own claim.
 * @throws Fault ON_HAND_SYNC_IN_FLIGHT  as `refuseWhileInFlight`, or another call writes the order's unit costs (C45).
 */
export async function refuseBesideSyncs(tx: Tx, call: Call, order: PurchaseOrder, ownClaimId: string): Promise<void> {
  const syncs = await syncsOf(tx, call, order, ownClaimId);
  refuseInFlight(order, syncs);
  if (syncs.claims.has("end-cost-sync")) throw inFlight(`Another call is writing the unit costs of ${order.poNumber}.`);
  if (syncs.claims.has("take-back-costs"))
    throw inFlight(`The unit costs of ${order.poNumber} are being written after goods were taken back.`);
}

interface Syncs {
  readonly isPushing: boolean;
  readonly claims: ReadonlySet<Held>;
}

async function syncsOf(
  tx: Tx,
  call: Call,
  { purchaseOrderId }: PurchaseOrder,
  ownClaimId: string | null,
): Promise<Syncs> {
  const { shopId } = call.shop;
  const [isPushing, claims] = await Promise.all([
    isPushInFlight(tx, shopId, purchaseOrderId),
    claimsHeld(tx, shopId, purchaseOrderId, call.clock.now(), ownClaimId),
  ]);
  return { isPushing, claims };
}

function refuseInFlight({ poNumber }: PurchaseOrder, { isPushing, claims }: Syncs): void {
  if (isPushing) throw inFlight(`A stock sync of ${poNumber} is still running.`);
  if (claims.has("end-confirmation"))
    throw inFlight(`Another call waits until the storefront shows the stock of ${poNumber}.`);
}

const inFlight = (message: string): Fault =>
  new Fault("ON_HAND_SYNC_IN_FLIGHT", message, {
    action: "Wait and repeat the same call.",
    retryAfterMs: inFlightRetryAfterMs,
  });
