/**
 * Moving an order by name, which is what POST /status does (spec "States and transitions"; C22, C23).
 *
 * Owns: the order of the checks and what a move needs beside the table. Does not own: the table (status.ts), moves that
 * follow from goods (core/goods/), deletion (edit.ts), or the inventory guard, which comes after every rule
 * here.
 */
import { type DecisionContext, decision, moved, statusChange } from "./decision.ts";
import { Fault, type LineDetail } from "../../base/fault.ts";
import { mention } from "./guidance.ts";
import { isWhollyCancelled } from "./lines.ts";
import { type Decision, type LineItem, type PurchaseOrder, type Status, statuses } from "./purchase-order.ts";
import { availableMoves, elsewhereFrom, guidanceTo, hasGoods, isBeforeGoods, isHeld, movesFrom } from "./status.ts";

/** True if the inventory guard checks the order's variants before a move to this status (C44). */
export const isGuardedMove = (to: Status): boolean => to === "Sent";

/**
 * Moves the order to the status asked for, or says what stands in the way. The checks run in the order of C23; the
 * inventory guard of a move to Sent comes after them and is not here.
 *
 * A return from a held status is not held against the table, but goods received bar it like any other move back.
 *
 * @param reason why, kept in the log; null: nobody said.
 * @throws Fault INVALID_INPUT  `target` is no status, is Completed, is the current status or is not listed. Or it is
 *                              barred by received or synced quantities, or is Sent without a locationId.
 * @throws Fault INVALID_INPUT (409) PREVIOUS_STATUS_MISMATCH  a held status is left for another than `previousStatus`.
 * @throws Fault INVALID_INPUT (409) USE_CONFIRM_ENDPOINT      a confirmed status is asked for where only confirming
 *   leads to it.
 * @throws Fault INVALID_INPUT (409) UNCONFIRMED_LINES         work is to begin while lines are unconfirmed; they are
 *   named.
 * Source: spec "Moves through POST /purchase-orders/{id}/status"; C22, C23.
 */
export function decideStatus(
  order: PurchaseOrder,
  target: string,
  context: DecisionContext,
  reason: string | null = null,
): Decision {
  const from = order.status;
  const to = statusNamed(target);
  refuseCompleting(order, to);
  if (to === from) throw refusal(`The order is already ${from}.`, order);
  if (isHeld(order)) refuseOtherThanPrevious(order, to);
  else refuseUnlisted(order, to);
  if (isBeforeGoods({ status: to }) && hasGoods(order, context))
    throw refusal(`The order has received or synced quantity, so it cannot go back to ${to}.`, order);
  if (to === "Sent" && order.locationId === null)
    throw new Fault("INVALID_INPUT", "The order has no locationId, which it needs before it is sent.", {
      action: `Set locationId with ${mention("purchase_order_update")}, then move it to Sent.`,
    });
  if (from === "Confirmed" && to === "In Progress") refuseUnconfirmedLines(order);
  const why = reason === null ? "" : ` (${reason})`;
  const log = { action: "status", message: `Moved from ${from} to ${to}${why}.`, changes: [statusChange(from, to)] };
  return decision(order, moved(order, to, context), { log: [log] }, context);
}

function statusNamed(name: string): Status {
  const named = statuses.find((status) => status === name);
  if (named !== undefined) return named;
  const message = `must be one of ${statuses.join(", ")}`;
  throw new Fault("INVALID_INPUT", `/status: ${message}.`, { details: [{ path: "/status", message }] });
}

function refuseCompleting(order: PurchaseOrder, to: Status): void {
  if (to !== "Completed") return;
  const complete = mention("purchase_order_complete");
  throw new Fault("INVALID_INPUT", `An order is completed with ${complete}, not by setting its status.`, {
    action: guidanceTo(order, "complete") ?? `Use ${complete}.`,
  });
}

function refuseOtherThanPrevious({ status, previousStatus }: PurchaseOrder, to: Status): void {
  if (to === previousStatus) return;
  throw new Fault(
    "INVALID_INPUT",
    `An order that is ${status} goes back only to the status it had before, ${previousStatus}.`,
    { reason: "PREVIOUS_STATUS_MISMATCH", action: `Move it to ${previousStatus}.` },
  );
}

function refuseUnlisted(order: PurchaseOrder, to: Status): void {
  const { status: from } = order;
  if (movesFrom(from).includes(to)) return;
  const elsewhere = elsewhereFrom(from, to);
  if (elsewhere?.reason === undefined)
    throw refusal(`An order cannot be moved from ${from} to ${to}.`, order, elsewhere?.instead(order));
  throw new Fault(
    "INVALID_INPUT",
    `${to} follows from the confirmed quantities and is not set by ${mention("purchase_order_status")}.`,
    { reason: elsewhere.reason, action: elsewhere.instead(order) },
  );
}

/** A line that must be confirmed before work begins and has no confirmed quantity. */
const isUnconfirmed = (line: LineItem): boolean => line.quantityConfirmed === 0 && !isWhollyCancelled(line);

function refuseUnconfirmedLines(order: PurchaseOrder): void {
  const details: readonly LineDetail[] = order.lineItems.filter(isUnconfirmed).map((line) => ({
    lineItemId: line.poLineItemId,
    variantId: line.variantId,
    message: "has no confirmed quantity",
  }));
  if (details.length === 0) return;
  const [confirm, update] = [mention("purchase_order_confirm"), mention("purchase_order_line_item_update")];
  throw new Fault(
    "INVALID_INPUT",
    `Lines without a confirmed quantity: ${someOf(details.map((detail) => detail.lineItemId))}.`,
    {
      reason: "UNCONFIRMED_LINES",
      action: `Confirm them with ${confirm}, or cancel them with ${update} (quantityCancelled).`,
      details,
    },
  );
}

/** A refusal that lists the moves that are open. */
function refusal(message: string, order: PurchaseOrder, instead?: string): Fault {
  const moves = availableMoves(order);
  const open = moves.length === 0 ? "none" : moves.join(", ");
  const choice =
    moves.length === 0 ? `No move is open through ${mention("purchase_order_status")}.` : `Choose one of: ${open}.`;
  return new Fault("INVALID_INPUT", `${message} Allowed moves from here: ${open}.`, { action: instead ?? choice });
}

/** Line ids that a message spells out; `details` holds them all. */
const idsInMessageMax = 20;

const someOf = (ids: readonly string[]): string =>
  ids.length <= idsInMessageMax
    ? ids.join(", ")
    : `${ids.slice(0, idsInMessageMax).join(", ")} and ${ids.length - idsInMessageMax} more`;
