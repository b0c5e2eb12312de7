/**
 * Confirming what the supplier says it will send (spec "Rules attached to the endpoints" 2; C24).
 *
 * Owns: confirmed quantities and the status that follows from them. Does not own: from which statuses an order is
 * confirmed (core/order/status.ts).
 */
import { Fault, invalidField } from "../../base/fault.ts";
import {
  type GoodsContext,
  type GoodsDecision,
  goodsDecision,
  linesNamed,
  type NewTotals,
  unchangedGoods,
  withTotals,
} from "./goods.ts";
import { mention } from "../order/guidance.ts";
import { accountedQuantity, baseQuantity, isWhollyCancelled } from "../order/lines.ts";
import { type Quantity, quantityText } from "../money/money.ts";
import type { LineItem, PurchaseOrder, Status } from "../order/purchase-order.ts";
import { guidanceTo, refuseUnless } from "../order/status.ts";

/** The new total confirmed of a line. */
interface ConfirmedTotal {
  readonly lineItemId: string;
  readonly quantityConfirmed: Quantity;
}

/** Every line, or the lines named. */
type ConfirmInput = { readonly confirmAll: true } | { readonly lines: readonly ConfirmedTotal[] };

/**
 * Records what the supplier confirmed, as new totals; 0 un-confirms, repeating changes nothing. The status follows from
 * the lines: Sent, Partially Confirmed or Confirmed. A line confirmed below what was ordered counts as confirmed.
 * `confirmAll` sets every line that is not wholly cancelled to what was ordered and begins work.
 *
 * @throws Fault INVALID_INPUT  the status does not allow it, a line is not on the order, or a total is above the
 *                              ordered or below the accounted quantity.
 * Source: spec "Rules attached to the endpoints" 2; C24.
 */
export function decideConfirm(order: PurchaseOrder, input: ConfirmInput, context: GoodsContext): GoodsDecision {
  refuseUnless(order, "confirm");
  const totals = "lines" in input ? namedTotals(order, input.lines) : allTotals(order);
  const { lineItems, changes } = withTotals(order, totals, context.nowMs);
  const guidance = guidanceTo(order, "confirm");
  if (guidance !== null) {
    if (changes.length === 0) return unchangedGoods(order);
    throw new Fault("INVALID_INPUT", `Confirmed quantities do not change while the order is ${order.status}.`, {
      action: guidance,
    });
  }
  const to = "lines" in input ? confirmedStatus(lineItems) : "In Progress";
  return goodsDecision(order, lineItems, to, { action: "confirm", done: "Confirmed", changes }, context);
}

const allTotals = (order: PurchaseOrder): NewTotals =>
  new Map(
    order.lineItems
      .filter((line) => !isWhollyCancelled(line))
      .map((line) => [line.poLineItemId, { quantityConfirmed: line.quantityOrdered }]),
  );

function namedTotals(order: PurchaseOrder, lines: readonly ConfirmedTotal[]): NewTotals {
  const edit = mention("purchase_order_line_item_update");
  return new Map(
    linesNamed(order, lines).map(({ line, entry, path }) => {
      const { quantityConfirmed } = entry;
      const field = `${path}/quantityConfirmed`;
      if (quantityConfirmed > line.quantityOrdered)
        throw invalidField(
          field,
          `${quantityText(quantityConfirmed)} is above the ordered quantity, ${quantityText(line.quantityOrdered)}`,
          `Confirm at most what was ordered, or raise quantityOrdered with ${edit} first.`,
        );
      const base = baseQuantity({ ...line, quantityConfirmed });
      if (base < baseQuantity(line) && base < accountedQuantity(line))
        throw invalidField(
          field,
          `${quantityText(quantityConfirmed)} is below what is already received, rejected or cancelled, ${quantityText(accountedQuantity(line))}`,
          `Lower quantityRejected or quantityCancelled with ${edit} first, or confirm more.`,
        );
      return [line.poLineItemId, { quantityConfirmed }];
    }),
  );
}

/** The status that follows from the confirmed quantities alone, while work has not begun. */
function confirmedStatus(lineItems: readonly LineItem[]): Status {
  if (!lineItems.some((line) => line.quantityConfirmed > 0)) return "Sent";
  return lineItems.every((line) => isWhollyCancelled(line) || line.quantityConfirmed > 0)
    ? "Confirmed"
    : "Partially Confirmed";
}
