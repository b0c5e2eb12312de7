/**
 * Receiving goods and taking them back (spec "Rules attached to the endpoints" 1; C25, C26, C29).
 *
 * Owns: received quantities and the status that follows from them. Does not own: from which statuses goods are received
 * (core/order/status.ts), receiving everything at once (complete.ts).
 */
import { invalidField } from "../../base/fault.ts";
import {
  type GoodsContext,
  type GoodsDecision,
  goodsDecision,
  linesNamed,
  type NewTotals,
  receiptsOf,
  unchangedGoods,
  withTotals,
} from "./goods.ts";
import { mention } from "../order/guidance.ts";
import { accountedQuantity, baseQuantity, pendingQuantity } from "../order/lines.ts";
import { asQuantity, type Quantity, quantityText } from "../money/money.ts";
import type { LineItem, PurchaseOrder, Status } from "../order/purchase-order.ts";
import { refuseUnless } from "../order/status.ts";

/** New totals of a line; what is left out stays. */
interface ReceivedTotal {
  readonly lineItemId: string;
  readonly quantityReceived: Quantity;
  readonly quantityRejected?: Quantity | undefined;
  readonly quantityCancelled?: Quantity | undefined;
}

/** An amount of a line to take back. */
interface TakenBack {
  readonly lineItemId: string;
  /** Above 0. */
  readonly quantity: Quantity;
}

/**
 * Records new totals received, and rejected or cancelled ones where given; repeating the call changes nothing. The
 * order becomes Received when nothing is pending on any line, else Partially Received. A line whose totals stay is not
 * held to the cap again.
 *
 * @throws Fault INVALID_INPUT  the status does not allow it, a line is not on the order, or a total is below what is
 *                              synced. Or totals exceed what was confirmed (else ordered) without `allowOverReceipt`.
 * Source: spec "Rules attached to the endpoints" 1; C25, C29.
 */
export function decideReceive(
  order: PurchaseOrder,
  input: { readonly lines: readonly ReceivedTotal[]; readonly allowOverReceipt: boolean },
  context: GoodsContext,
): GoodsDecision {
  refuseUnless(order, "receive");
  const { lineItems, changes } = withTotals(order, receivedTotals(order, input), context.nowMs);
  if (changes.length === 0) return unchangedGoods(order);
  const to = lineItems.every((line) => pendingQuantity(line) === 0) ? "Received" : "Partially Received";
  const receipts = receiptsOf("receive", null, order, lineItems);
  const change = { action: "receive", done: "Received goods on", changes, receipts };
  return goodsDecision(order, lineItems, to, change, context);
}

function receivedTotals(
  order: PurchaseOrder,
  input: { readonly lines: readonly ReceivedTotal[]; readonly allowOverReceipt: boolean },
): NewTotals {
  return new Map(
    linesNamed(order, input.lines).map(({ line, entry, path }) => {
      const next = {
        quantityReceived: entry.quantityReceived,
        quantityRejected: entry.quantityRejected ?? line.quantityRejected,
        quantityCancelled: entry.quantityCancelled ?? line.quantityCancelled,
      };
      const field = `${path}/quantityReceived`;
      if (next.quantityReceived < line.quantityReceived && next.quantityReceived < line.quantitySynced)
        throw invalidField(
          field,
          `${quantityText(next.quantityReceived)} is below what is already synced to the storefront, ${quantityText(line.quantitySynced)}`,
          `Take goods back with ${mention("purchase_order_unreceive")}.`,
        );
      const isSame =
        next.quantityReceived === line.quantityReceived &&
        next.quantityRejected === line.quantityRejected &&
        next.quantityCancelled === line.quantityCancelled;
      if (!isSame && !input.allowOverReceipt && accountedQuantity(next) > baseQuantity(line))
        throw invalidField(
          field,
          `received + rejected + cancelled would be ${quantityText(accountedQuantity(next))}, above the ${
            line.quantityConfirmed > 0 ? "confirmed" : "ordered"
          } quantity, ${quantityText(baseQuantity(line))}`,
          "Correct the totals, or send allowOverReceipt: true to take more than was expected.",
        );
      return [line.poLineItemId, next];
    }),
  );
}

/**
 * Takes received goods back: each amount is subtracted, so repeating takes back again. It may go below what is synced;
 * the storefront is then told of the difference. Nothing left received → In Progress; something pending → Partially
 * Received.
 *
 * @throws Fault INVALID_INPUT  the status does not allow it, a line is not on the order, or more is taken back than was
 *                              received.
 * Source: C26.
 */
export function decideUnreceive(
  order: PurchaseOrder,
  input: { readonly lines: readonly TakenBack[]; readonly reason: string | null },
  context: GoodsContext,
): GoodsDecision {
  refuseUnless(order, "unreceive");
  const totals: NewTotals = new Map(
    linesNamed(order, input.lines).map(({ line, entry, path }) => {
      if (entry.quantity > line.quantityReceived)
        throw invalidField(
          `${path}/quantity`,
          `${quantityText(entry.quantity)} is more than was received, ${quantityText(line.quantityReceived)}`,
          "The quantity is the amount to take back, not a new total.",
        );
      return [line.poLineItemId, { quantityReceived: asQuantity(line.quantityReceived - entry.quantity) }];
    }),
  );
  const { lineItems, changes } = withTotals(order, totals, context.nowMs);
  const receipts = receiptsOf("unreceive", input.reason, order, lineItems);
  const change = { action: "unreceive", done: "Took goods back on", changes, receipts, reason: input.reason };
  return goodsDecision(order, lineItems, statusAfterTakingBack(lineItems), change, context);
}

function statusAfterTakingBack(lineItems: readonly LineItem[]): Status {
  if (lineItems.every((line) => line.quantityReceived === 0)) return "In Progress";
  return lineItems.every((line) => pendingQuantity(line) === 0) ? "Received" : "Partially Received";
}
