/**
 * The status table: which moves POST /status makes, and what stands in their way (spec "States and transitions", C22, C23).
 *
 * Owns: moves asked for by name. Does not own: moves that follow from goods (goods.ts), deletion (edit.ts), or the inventory
 * guard, which comes after every rule here.
 */
import { type DecisionContext, decision, moved } from "./decision.ts";
import { Fault, type LineDetail } from "./fault.ts";
import { isWhollyCancelled } from "./lines.ts";
import {
  type Decision,
  type FieldChange,
  type LineItem,
  type PurchaseOrder,
  type Status,
  statuses,
} from "./purchase-order.ts";

/** Spec "Moves through POST /purchase-orders/{id}/status". A held status has no row of its own: it is left to `previousStatus`. */
export const moves: Record<Status, readonly Status[]> = {
  Draft: ["Sent"],
  Sent: ["Draft", "Cancelled", "On Hold", "Disputed"],
  "Partially Confirmed": ["Cancelled", "On Hold", "Disputed"],
  Confirmed: ["Sent", "In Progress", "Cancelled", "On Hold", "Disputed"],
  "In Progress": ["Confirmed", "Cancelled", "On Hold", "Disputed"],
  "Partially Received": ["Cancelled", "On Hold", "Disputed"],
  Received: ["In Progress", "Partially Received", "On Hold", "Disputed"],
  Completed: ["In Progress", "Partially Received", "Received"],
  Cancelled: [],
  "On Hold": [],
  Disputed: [],
};

const heldStatuses: ReadonlySet<Status> = new Set(["Cancelled", "On Hold", "Disputed"]);

/** Where an order cannot go back to once goods have come in (spec "Rules for /status" 3). */
const beforeGoods: ReadonlySet<Status> = new Set(["Draft", "Sent", "Partially Confirmed", "Confirmed"]);

/** Cancelled, On Hold and Disputed: left only to the status held in `previousStatus`. */
export const isHeld = (order: Pick<PurchaseOrder, "status">): boolean => heldStatuses.has(order.status);

/** A line that must be confirmed before work begins and has no confirmed quantity. */
const isUnconfirmed = (line: LineItem): boolean => line.quantityConfirmed === 0 && !isWhollyCancelled(line);

/** What has been received, or told to the storefront, cannot be undone by a change of status. */
const hasGoods = (order: PurchaseOrder): boolean =>
  order.lineItems.some((line) => line.quantityReceived !== 0 || line.quantitySynced !== 0);

/**
 * The moves that POST /status makes from here, for messages and for a caller that asks. A listed move can still be stopped by
 * what it needs (a location, confirmed lines, the inventory guard), never by the table or by goods received.
 */
export function availableMoves(order: PurchaseOrder): readonly Status[] {
  const listed = isHeld(order) ? [order.previousStatus] : moves[order.status];
  const goods = hasGoods(order);
  return listed.filter((to) => to !== "Completed" && !(goods && beforeGoods.has(to)));
}

/** `Draft, Cancelled, On Hold`, or `none`. */
const listed = (list: readonly Status[]): string => (list.length === 0 ? "none" : list.join(", "));

/** Line ids that a message spells out; `details` holds them all. */
const idsInMessageMax = 20;

const someOf = (ids: readonly string[]): string =>
  ids.length <= idsInMessageMax
    ? ids.join(", ")
    : `${ids.slice(0, idsInMessageMax).join(", ")} and ${ids.length - idsInMessageMax} more`;

/** The log's account of a move. */
export const statusChange = (from: Status, to: Status): FieldChange => ({
  field: "status",
  poLineItemId: null,
  before: from,
  after: to,
});

const statusNamed = (name: string): Status | undefined => statuses.find((status) => status === name);

/** The endpoint that brings about what POST /status does not, when there is one. */
function wayTo(to: Status, order: PurchaseOrder): string | undefined {
  switch (to) {
    case "In Progress":
      return order.status === "Sent" || order.status === "Partially Confirmed"
        ? "POST /confirm with confirmAll: true moves the order to In Progress."
        : undefined;
    case "Partially Received":
    case "Received":
      return order.status === "In Progress" || order.status === "Partially Received"
        ? "Use POST /receive; the status follows from the quantities received."
        : undefined;
    case "Cancelled":
      return order.status === "Draft"
        ? "Delete the draft with DELETE /purchase-orders/{id}."
        : "Move the order back first, then cancel it.";
    case "Draft":
    case "Sent":
    case "Partially Confirmed":
    case "Confirmed":
    case "Completed":
    case "On Hold":
    case "Disputed":
      return undefined;
  }
}

function refuse(message: string, order: PurchaseOrder, way?: string): Fault {
  const available = availableMoves(order);
  const action =
    way ?? (available.length === 0 ? "No move is open through POST /status." : `Choose one of: ${listed(available)}.`);
  return new Fault("INVALID_INPUT", `${message} Allowed moves from here: ${listed(available)}.`, { action });
}

/**
 * Moves the order to the status asked for, or says what stands in the way. The checks run in the order of C23; the inventory
 * guard of a move to Sent comes after them and is not here.
 *
 * A return from a held status is subject to no table, but goods received bar it like any other move back.
 *
 * @throws Fault INVALID_INPUT  `target` is no status, is Completed, is the current status, is not listed, is barred by received
 *                              or synced quantity, or is Sent while the order has no locationId.
 * @throws Fault INVALID_INPUT (409) PREVIOUS_STATUS_MISMATCH  a held status is left for another than `previousStatus`.
 * @throws Fault INVALID_INPUT (409) USE_CONFIRM_ENDPOINT      a confirmed status is asked for where only /confirm leads to it.
 * @throws Fault INVALID_INPUT (409) UNCONFIRMED_LINES         work is to begin while lines are unconfirmed; they are named.
 * Source: spec "Moves through POST /purchase-orders/{id}/status"; C22, C23.
 */
export function decideStatus(order: PurchaseOrder, target: string, context: DecisionContext): Decision {
  const from = order.status;
  const to = statusNamed(target);
  if (to === undefined) {
    const message = `must be one of ${statuses.join(", ")}`;
    throw new Fault("INVALID_INPUT", `/status: ${message}.`, { details: [{ path: "/status", message }] });
  }
  if (to === "Completed")
    throw new Fault("INVALID_INPUT", "An order is completed with POST /complete, not by setting its status.", {
      action:
        from === "In Progress"
          ? "Use POST /receive and then POST /complete, or POST /quick-complete."
          : "Use POST /complete from Received or Partially Received.",
    });
  if (to === from) throw refuse(`The order is already ${from}.`, order);
  if (isHeld(order)) {
    if (to !== order.previousStatus)
      throw new Fault(
        "INVALID_INPUT",
        `An order that is ${from} goes back only to the status it had before, ${order.previousStatus}.`,
        { reason: "PREVIOUS_STATUS_MISMATCH", action: `Move it to ${order.previousStatus}.` },
      );
  } else if (
    (from === "Sent" || from === "Partially Confirmed") &&
    (to === "Partially Confirmed" || to === "Confirmed")
  ) {
    throw new Fault("INVALID_INPUT", `${to} follows from the confirmed quantities and is not set by POST /status.`, {
      reason: "USE_CONFIRM_ENDPOINT",
      action: "Use POST /confirm with lines, or with confirmAll: true.",
    });
  } else if (!moves[from].includes(to)) {
    throw refuse(`An order cannot be moved from ${from} to ${to}.`, order, wayTo(to, order));
  }
  if (beforeGoods.has(to) && hasGoods(order))
    throw refuse(`The order has received or synced quantity, so it cannot go back to ${to}.`, order);
  if (to === "Sent" && order.locationId === null)
    throw new Fault("INVALID_INPUT", "The order has no locationId, which it needs before it is sent.", {
      action: "Set locationId with PATCH /purchase-orders/{id}, then move it to Sent.",
    });
  if (from === "Confirmed" && to === "In Progress") {
    const details: readonly LineDetail[] = order.lineItems.filter(isUnconfirmed).map((line) => ({
      lineItemId: line.poLineItemId,
      variantId: line.variantId,
      message: "has no confirmed quantity",
    }));
    if (details.length > 0)
      throw new Fault(
        "INVALID_INPUT",
        `Lines without a confirmed quantity: ${someOf(details.map((detail) => detail.lineItemId))}.`,
        {
          reason: "UNCONFIRMED_LINES",
          action: "Confirm them with POST /confirm, or cancel them with PATCH /line-items (quantityCancelled).",
          details,
        },
      );
  }
  const log = { action: "status", message: `Moved from ${from} to ${to}.`, changes: [statusChange(from, to)] };
  return decision(order, moved(order, to, context.nowMs), { log: [log] }, context);
}
