/** Stock and days of cover that a request would bring, for whoever decides about it (C80). */
import { z } from "zod";
import { dayIn } from "../../base/time/calendar.ts";
import { daysOfCover, replenishment } from "../../core/forecast/forecast.ts";
import {
  addQuantity,
  type Quantity,
  quantityFrom,
  quantityToNumber,
  subtractQuantity,
  zeroQuantity,
} from "../../core/money/money.ts";
import { isCustom, pendingQuantity } from "../../core/order/lines.ts";
import { type PurchaseOrder, statuses } from "../../core/order/purchase-order.ts";
import { hasLeftDraft } from "../../core/order/status.ts";
import { statusNow } from "../../requests/approvals/request-json.ts";
import type { ApprovalRequest } from "../../shop/access/approval-requests.ts";
import type { Shop } from "../../shop/access/accounts.ts";
import { loadVariantFacts } from "../../shop/forecast/forecast-rows.ts";
import { loadOrder } from "../../shop/order/purchase-orders.ts";
import type { Tx } from "../../store/store.ts";

/** Variants of a request of which stock and cover are shown, in the order of its lines. */
export const stockCoverMax = 100;

const rowSchema = z.strictObject({
  variantId: z.string(),
  productName: z.string().nullable().meta({ description: "Null: the catalogue does not have it." }),
  variantName: z.string().nullable(),
  sku: z.string().nullable(),
  onHand: z.number().meta({ description: "At the order's location." }),
  incoming: z.number(),
  quantity: z.number().meta({ description: "What the request adds to what is incoming." }),
  daysBefore: z
    .number()
    .nullable()
    .meta({ description: "Days that stock and incoming goods last; null: nothing sells." }),
  daysAfter: z.number().nullable().meta({ description: "The same with this quantity." }),
});

/** Stock and cover, of each variant of which a request that waits orders more. */
export const stockCoverSchema = z.array(rowSchema).meta({
  description: `Of each variant of which a request that waits orders more: stock, and days of cover by the forecast; at most ${stockCoverMax}.`,
});

/** The part of an order's JSON that is read. */
const previewSchema = z.object({
  purchaseOrder: z.object({
    status: z.enum(statuses),
    previousStatus: z.enum(statuses),
    locationId: z.string().nullable(),
    lineItems: z.array(z.object({ variantId: z.string(), isCustom: z.boolean(), quantityPending: z.number() })),
  }),
});

/** Quantities that suppliers are asked for, by variant. */
interface Ordered {
  readonly locationId: string | null;
  readonly pending: ReadonlyMap<string, Quantity>;
}

function summed(lines: Iterable<readonly [string, Quantity]>): ReadonlyMap<string, Quantity> {
  const pending = new Map<string, Quantity>();
  for (const [variantId, quantity] of lines)
    pending.set(variantId, addQuantity(pending.get(variantId) ?? zeroQuantity, quantity));
  return pending;
}

const orderedNow = ({ locationId, lineItems }: PurchaseOrder): Ordered => ({
  locationId,
  pending: summed(lineItems.flatMap((line) => (isCustom(line) ? [] : [[line.variantId, pendingQuantity(line)]]))),
});

/** The order as the write would leave it with its supplier; null: it would be with nobody, or there is none. */
function orderedThen({ preview, order }: ApprovalRequest, now: PurchaseOrder | null): Ordered | null {
  const parsed = previewSchema.safeParse(preview);
  // A mail shows no order: it leaves the lines as they are.
  if (!parsed.success) return now !== null && order?.movesTo === "Sent" ? orderedNow(now) : null;
  const { locationId, lineItems, ...standing } = parsed.data.purchaseOrder;
  if (!hasLeftDraft(standing)) return null;
  const lines = lineItems.flatMap(({ variantId, isCustom: isOwn, quantityPending }): [string, Quantity][] =>
    isOwn ? [] : [[variantId, quantityFrom(quantityPending) ?? zeroQuantity]],
  );
  return { locationId, pending: summed(lines) };
}

/** Stock and cover of what a request orders more. Empty: it orders nothing more, or does not wait. */
export async function stockCoverOf(
  tx: Tx,
  shop: Shop,
  request: ApprovalRequest,
  nowMs: number,
): Promise<z.output<typeof stockCoverSchema>> {
  const { purchaseOrderId } = request;
  if (statusNow(request, nowMs) !== "pending") return [];
  const now = purchaseOrderId === null ? null : await loadOrder(tx, shop.shopId, purchaseOrderId);
  const then = orderedThen(request, now);
  if (then === null) return [];
  const before = now !== null && hasLeftDraft(now) ? orderedNow(now).pending : new Map<string, Quantity>();
  const raised = [...then.pending].flatMap(([variantId, quantity]): [string, Quantity][] => {
    const more = subtractQuantity(quantity, before.get(variantId) ?? zeroQuantity);
    return more > 0 ? [[variantId, more]] : [];
  });
  const shown = new Map(raised.slice(0, stockCoverMax));
  const context = { shop, today: dayIn(shop.timezone, nowMs) };
  const found = await loadVariantFacts(tx, shop.shopId, [...shown.keys()], context, then.locationId);
  const factsOf = new Map(found.map((facts) => [facts.variantId, facts]));
  return [...shown].map(([variantId, quantity]) => {
    const facts = factsOf.get(variantId);
    const { productName = null, variantName = null, sku = null } = facts ?? {};
    const { onHand = zeroQuantity, incoming = zeroQuantity } = facts ?? {};
    const demand = facts === undefined ? { dailyDemand: 0 } : replenishment(facts, context);
    const stock = addQuantity(onHand, incoming);
    return {
      variantId,
      productName,
      variantName,
      sku,
      onHand: quantityToNumber(onHand),
      incoming: quantityToNumber(incoming),
      quantity: quantityToNumber(quantity),
      daysBefore: daysOfCover(stock, demand),
      daysAfter: daysOfCover(addQuantity(stock, quantity), demand),
    };
  });
}
