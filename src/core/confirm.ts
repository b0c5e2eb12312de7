/**
 * Confirming: what the supplier says it will send (spec "Rules attached to the endpoints" 2; C24).
 *
 * Owns: confirmed quantities and the status that follows from them. Does not own: from which statuses an order is confirmed
 * (status.ts).
 */
import { Fault, invalidField } from "./fault.ts";
import {
  concluded,
  type Edits,
  edited,
  type GoodsContext,
  type GoodsDecision,
  linesNamed,
  nothing,
  shown,
} from "./goods.ts";
import { mention } from "./guidance.ts";
import { accountedQuantity, baseQuantity, isWhollyCancelled } from "./lines.ts";
import type { Quantity } from "./money.ts";
import type { LineItem, PurchaseOrder, Status } from "./purchase-order.ts";
import { guidanceTo, refuseUnless } from "./status.ts";

export interface ConfirmedTotal {
  readonly lineItemId: string;
  readonly quantityConfirmed: Quantity;
}

/**
 * Records what the supplier confirmed, as new totals; 0 un-confirms, repeating changes nothing. The status follows from the lines:
 * Sent, Partially Confirmed or Confirmed. `confirmAll` confirms every line that is not wholly cancelled and begins work.
 *
 * @throws Fault INVALID_INPUT  the status does not take it, a line is not on the order, or a total is above what was ordered or below
 *                              what is already accounted for.
 * Source: spec "Rules attached to the endpoints" 2; C24.
 */
export function decideConfirm(
  order: PurchaseOrder,
  input: { readonly confirmAll: true } | { readonly lines: readonly ConfirmedTotal[] },
  context: GoodsContext,
): GoodsDecision {
  refuseUnless(order, "confirm");
  const edits =
    "lines" in input
      ? confirmedTotals(order, input.lines)
      : new Map(
          order.lineItems
            .filter((line) => !isWhollyCancelled(line))
            .map((line) => [line.poLineItemId, { quantityConfirmed: line.quantityOrdered }]),
        );
  const { lineItems, changes } = edited(order, edits, context.nowMs);
  const guidance = guidanceTo(order, "confirm");
  if (guidance !== null) {
    if (changes.length === 0) return nothing(order);
    throw new Fault("INVALID_INPUT", `Confirmed quantities do not change while the order is ${order.status}.`, {
      action: guidance,
    });
  }
  const to = "lines" in input ? confirmedStatus(lineItems) : "In Progress";
  return concluded(order, lineItems, to, { action: "confirm", done: "Confirmed", changes }, context);
}

function confirmedTotals(order: PurchaseOrder, lines: readonly ConfirmedTotal[]): Edits {
  return new Map(
    linesNamed(order, lines).map(({ line, entry, path }) => {
      const { quantityConfirmed } = entry;
      const field = `${path}/quantityConfirmed`;
      if (quantityConfirmed > line.quantityOrdered)
        throw invalidField(
          field,
          `${shown(quantityConfirmed)} is above the ordered quantity, ${shown(line.quantityOrdered)}`,
          `Confirm at most what was ordered, or raise quantityOrdered with ${mention("purchase_order_line_item_update")} first.`,
        );
      const base = baseQuantity({ ...line, quantityConfirmed });
      if (base < baseQuantity(line) && base < accountedQuantity(line))
        throw invalidField(
          field,
          `${shown(quantityConfirmed)} is below what is already received, rejected or cancelled, ${shown(accountedQuantity(line))}`,
          `Lower quantityRejected or quantityCancelled with ${mention("purchase_order_line_item_update")} first, or confirm more.`,
        );
      return [line.poLineItemId, { quantityConfirmed }];
    }),
  );
}

/** Where the confirmed quantities alone put an order on which work has not begun. */
function confirmedStatus(lineItems: readonly LineItem[]): Status {
  const confirmed = lineItems.some((line) => line.quantityConfirmed > 0);
  if (!confirmed) return "Sent";
  return lineItems.every((line) => isWhollyCancelled(line) || line.quantityConfirmed === line.quantityOrdered)
    ? "Confirmed"
    : "Partially Confirmed";
}
