/**
 * Incoming stock: what the open orders of a shop are still to bring, and which products are tagged for it (C41, C42).
 *
 * Owns: what of an order is incoming, how a change of the order moves the ledger, and what the storefront is told of
 * it. Does not own: the ledger's rows (shop/order/purchase-orders.ts) or the calls (jobs/outbox/steps/mirror.ts).
 */
import type { Effect } from "../order/effect.ts";
import { isCustom, pendingQuantity } from "../order/lines.ts";
import { asQuantity, type Quantity, zeroQuantity } from "../money/money.ts";
import type { OrderWithLines } from "../order/purchase-order.ts";
import { isOpen } from "../order/status.ts";

/** Key under which the level of a variant at a location is found in a map. */
export const levelKey = (variantId: string, locationId: string): string => JSON.stringify([variantId, locationId]);

/**
 * Incoming stock of one order: catalogue variant → pending quantity at the order's location. Empty unless the order is
 * open and has a location.
 *
 * Source: C41.
 */
export function incomingOf(order: OrderWithLines | null): ReadonlyMap<string, Quantity> {
  const incoming = new Map<string, Quantity>();
  if (order === null || !isOpen(order) || order.locationId === null) return incoming;
  for (const line of order.lineItems) {
    const pending = pendingQuantity(line);
    if (pending === 0 || isCustom(line)) continue;
    incoming.set(line.variantId, asQuantity((incoming.get(line.variantId) ?? 0) + pending));
  }
  return incoming;
}

/** A change of the incoming ledger: one variant at one location. */
export interface IncomingDelta {
  readonly variantId: string;
  readonly locationId: string;
  readonly delta: Quantity;
}

/** Each variant and location once, with the sum of its changes. What stays the same is left out. */
export function summedDeltas(deltas: Iterable<IncomingDelta>): readonly IncomingDelta[] {
  const sums = new Map<string, { variantId: string; locationId: string; delta: number }>();
  for (const { variantId, locationId, delta } of deltas) {
    const key = JSON.stringify([locationId, variantId]);
    const entry = sums.get(key) ?? { variantId, locationId, delta: 0 };
    entry.delta += delta;
    sums.set(key, entry);
  }
  return [...sums.values()]
    .filter((entry) => entry.delta !== 0)
    .map((entry) => ({ ...entry, delta: asQuantity(entry.delta) }));
}

/**
 * Returns the changes of the incoming ledger when `before` becomes `after` (null: there is no such order). What stays
 * the same is left out.
 *
 * Source: C41.
 */
export function incomingDeltas(before: OrderWithLines | null, after: OrderWithLines | null): readonly IncomingDelta[] {
  const brought = (order: OrderWithLines | null, sign: 1 | -1): readonly IncomingDelta[] => {
    const locationId = order?.locationId ?? null;
    return locationId === null
      ? []
      : [...incomingOf(order)].map(([variantId, quantity]) => ({
          variantId,
          locationId,
          delta: asQuantity(sign * quantity),
        }));
  };
  const gone = brought(before, -1);
  const come = brought(after, 1);
  // Each has every variant once, so one alone needs no summing.
  return gone.length === 0 ? come : summedDeltas([...gone, ...come]);
}

/** When a line's goods are expected, as far as its order says. */
const expectedOf = (order: OrderWithLines, variantId: string): string =>
  JSON.stringify([
    order.expectedDeliveryDate,
    order.orderDate,
    order.sentAtMs,
    order.sentDate,
    order.supplierLeadTimeDays,
    order.lineItems
      .filter((line) => line.variantId === variantId)
      .map((line) => [pendingQuantity(line), line.expectedDeliveryDate, line.leadTimeDays]),
  ]);

/**
 * Returns the goods that come on another day than before, as changes of the ledger by 0. The quantities may be the
 * same, and yet forecasts are not.
 */
export function rescheduled(before: OrderWithLines | null, after: OrderWithLines | null): readonly IncomingDelta[] {
  const locationId = after?.locationId ?? null;
  if (before === null || after === null || locationId === null) return [];
  return [...incomingOf(after).keys()]
    .filter((variantId) => expectedOf(before, variantId) !== expectedOf(after, variantId))
    .map((variantId) => ({ variantId, locationId, delta: zeroQuantity }));
}

/**
 * Returns the effects by which the storefront follows the ledger: one a location for incoming quantities. While the
 * shop has an on-order tag, there is one for the tags too. None without deltas.
 *
 * Source: C41, C42.
 */
export function incomingEffects(
  deltas: readonly Pick<IncomingDelta, "locationId" | "variantId">[],
  onOrderTag: string | null,
): readonly Effect[] {
  const mirrors = [...Map.groupBy(deltas, (delta) => delta.locationId)].map(([locationId, moved]): Effect => ({
    kind: "mirror-incoming",
    locationId,
    variantIds: variantsOf(moved),
  }));
  if (mirrors.length === 0 || onOrderTag === null) return mirrors;
  return [...mirrors, { kind: "sync-tags", variantIds: variantsOf(deltas) }];
}

const variantsOf = (deltas: readonly Pick<IncomingDelta, "variantId">[]): readonly string[] => [
  ...new Set(deltas.map((delta) => delta.variantId)),
];

// The on-order tag (C42).

/** A variant's product and what is on order of the variant, over all locations. */
export interface OnOrder {
  readonly variantId: string;
  /** Null for a variant that the shop's catalogue does not hold; it is then a product of its own. */
  readonly productId: string | null;
  readonly incoming: Quantity;
}

/**
 * Which products get the on-order tag: those with something incoming of any of their variants. One change per product,
 * named by its first variant.
 *
 * @param variants every variant of the products in question.
 * Source: C42.
 */
export function tagPlan(
  variants: readonly OnOrder[],
): readonly { readonly variantId: string; readonly present: boolean }[] {
  const products = Map.groupBy(variants, (variant) =>
    variant.productId === null ? `variant ${variant.variantId}` : `product ${variant.productId}`,
  );
  return [...products.values()].flatMap((siblings) => {
    const [first] = siblings;
    return first === undefined
      ? []
      : [{ variantId: first.variantId, present: siblings.some((variant) => variant.incoming > 0) }];
  });
}
