/**
 * A supplier's answer to an order by its link, and its results once a person accepts it (C64).
 *
 * Owns: when the order has overtaken a proposal, and which changes accepting one makes. Does not own: those changes'
 * rules (core/goods/confirm.ts, core/order/edit.ts), the page that a supplier sees (suppliers), who may accept (admin).
 *
 * A proposal changes nothing by itself. It keeps of each line what the order said when the supplier answered. If the
 * order says something else by now, the line is overtaken and not accepted: nobody knows the supplier's answer to the
 * new one.
 */
import type { Shipment } from "../order/attachments.ts";
import { decideConfirm } from "../goods/confirm.ts";
import { decision } from "../order/decision.ts";
import { type HeaderFacts, decideEditLines, decideHeader } from "../order/edit.ts";
import { Fault, invalidField } from "../../base/fault.ts";
import { type GoodsContext } from "../goods/goods.ts";
import { mention } from "../order/guidance.ts";
import { type Quantity, zeroQuantity, quantityText } from "../money/money.ts";
import type { Decision, LineItem, PurchaseOrder } from "../order/purchase-order.ts";
import { permits } from "../order/status.ts";

/** Values of a line in the order when the supplier answered. */
type LineBasis = Pick<LineItem, "quantityOrdered" | "quantityConfirmed" | "quantityCancelled" | "expectedDeliveryDate">;

/** The supplier's answer on a line. */
export interface LineAnswer {
  readonly lineItemId: string;
  /** The total that the supplier will send. Null: it says nothing of it. */
  readonly quantityConfirmed: Quantity | null;
  /** Null: it says nothing of it. */
  readonly expectedDeliveryDate: string | null;
  /** Nothing of the line will come. `quantityConfirmed` is then 0. */
  readonly cannotDeliver: boolean;
}

/** A line of a proposal. */
export interface ProposedLine extends LineAnswer {
  readonly basis: LineBasis;
  readonly isAccepted: boolean;
}

/**
 * State of a proposal. `accepted`: every line is. `rejected`: what was not accepted before. `replaced`: the supplier
 * has answered anew.
 */
type ProposalState = "open" | "accepted" | "rejected" | "replaced";

/** A supplier's answer on an order as a whole. */
export interface SupplierAnswer {
  readonly lines: readonly LineAnswer[];
  /** The supplier's own number for the order. */
  readonly reference: string | null;
  readonly trackingNumber: string | null;
  /** Words to whoever ordered. */
  readonly message: string | null;
}

/** A supplier's answer, kept beside the order. */
export interface SupplierProposal {
  readonly proposalId: string;
  readonly purchaseOrderId: string;
  readonly linkId: string;
  readonly state: ProposalState;
  readonly lines: readonly ProposedLine[];
  readonly reference: string | null;
  readonly trackingNumber: string | null;
  readonly message: string | null;
  readonly createdAtMs: number;
  /** When it was accepted as a whole, rejected or replaced. */
  readonly decidedAtMs: number | null;
  /** Who accepted or rejected it. */
  readonly decidedBy: string | null;
}

/** True if a supplier may answer: not before the order is sent, nor once nothing more can change by it. */
export const mayAnswer = (order: Pick<PurchaseOrder, "status">): boolean =>
  order.status !== "Draft" && permits(order, "edit-lines");

/** True if quantities can still be answered. Later on only dates, the reference and tracking can. */
export const mayConfirm = (order: Pick<PurchaseOrder, "status">): boolean =>
  order.status === "Sent" || order.status === "Partially Confirmed" || order.status === "Confirmed";

/**
 * The answer with what the order says now.
 *
 * @throws Fault INVALID_INPUT  the order's status lets nothing be answered, a line is not on it, or a quantity is
 *                              answered too late.
 */
export function proposedLines(order: PurchaseOrder, answer: SupplierAnswer, today: string): readonly ProposedLine[] {
  if (!mayAnswer(order))
    throw new Fault("INVALID_INPUT", `The order is ${order.status} and takes no answer.`, {
      action: "Ask whoever sent the order.",
    });
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  return answer.lines.map((entry, index) => {
    const line = lines.get(entry.lineItemId);
    if (line === undefined)
      throw invalidField(
        `/lines/${index}/lineItemId`,
        `${entry.lineItemId} is not a line of the order`,
        "Open the link again; the order has changed.",
      );
    if (entry.quantityConfirmed !== null && !mayConfirm(order) && entry.quantityConfirmed !== line.quantityConfirmed)
      throw invalidField(
        `/lines/${index}/quantityConfirmed`,
        `cannot be answered while the order is ${order.status}`,
        "Leave quantityConfirmed and cannotDeliver out, or ask whoever sent the order.",
      );
    if (entry.expectedDeliveryDate !== null && entry.expectedDeliveryDate < today)
      throw invalidField(
        `/lines/${index}/expectedDeliveryDate`,
        `${entry.expectedDeliveryDate} is over; the shop's day is ${today}`,
        "Send today or a later day.",
      );
    const { quantityOrdered, quantityConfirmed, quantityCancelled, expectedDeliveryDate } = line;
    const basis = { quantityOrdered, quantityConfirmed, quantityCancelled, expectedDeliveryDate };
    return { ...entry, basis, isAccepted: false };
  });
}

/** True of an answer without any content. */
export const saysNothing = ({ lines, reference, trackingNumber, message }: SupplierAnswer): boolean =>
  lines.length === 0 && reference === null && trackingNumber === null && message === null;

/** True if two answers say the same, so that one that is sent twice counts once. */
export function saysTheSame(answer: SupplierAnswer, proposal: SupplierProposal): boolean {
  const contentOf = ({ lines, reference, trackingNumber, message }: SupplierAnswer): string =>
    JSON.stringify([
      lines.map((line) => [line.lineItemId, line.quantityConfirmed, line.expectedDeliveryDate, line.cannotDeliver]),
      reference,
      trackingNumber,
      message,
    ]);
  return contentOf(answer) === contentOf(proposal);
}

/**
 * True if the order says something else of the line than when the supplier answered. An order that was raised to what
 * the supplier had said beyond it is what the supplier said.
 *
 * @param line null: the line is gone.
 */
function isOvertaken(line: LineItem | null, proposed: ProposedLine): boolean {
  if (proposed.isAccepted) return false;
  if (line === null) return true;
  const { basis, quantityConfirmed, expectedDeliveryDate } = proposed;
  if (expectedDeliveryDate !== null && line.expectedDeliveryDate !== basis.expectedDeliveryDate) return true;
  if (quantityConfirmed === null) return false;
  if (line.quantityConfirmed !== basis.quantityConfirmed || line.quantityCancelled !== basis.quantityCancelled)
    return true;
  if (line.quantityOrdered === basis.quantityOrdered) return false;
  return !(quantityConfirmed > basis.quantityOrdered && quantityConfirmed <= line.quantityOrdered);
}

/** Ids of the proposal's lines that the order has overtaken; all that wait when its status takes no answer any more. */
export function overtakenLineIds(order: PurchaseOrder, proposal: SupplierProposal): ReadonlySet<string> {
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const isOver = !mayAnswer(order);
  return new Set(
    proposal.lines
      .filter((each) => (isOver && !each.isAccepted) || isOvertaken(lines.get(each.lineItemId) ?? null, each))
      .map((each) => each.lineItemId),
  );
}

/** A change that accepting a proposal makes, in the name of the operation by which others make it. */
interface AcceptStep {
  readonly operation: "purchase_order_confirm" | "purchase_order_line_item_update" | "purchase_order_update";
  readonly before: PurchaseOrder;
  readonly decided: Decision;
}

/** Changes of an accepted proposal: all of them are committed together, or none. */
export interface AcceptDecision {
  readonly next: PurchaseOrder;
  readonly steps: readonly AcceptStep[];
  /** Lines whose confirmed quantity changes, which the inventory guard stands before. */
  readonly updatedLineItemIds: readonly string[];
  /** A shipment with the supplier's tracking number; null: none, or the order has it. */
  readonly trackingNumber: string | null;
  readonly proposal: SupplierProposal;
}

/** Facts for the rule beside order and proposal. */
export interface AcceptFacts extends HeaderFacts {
  readonly shipments: readonly Pick<Shipment, "trackingNumber">[];
}

/**
 * Accepts a proposal: all lines that wait, or those named. What the supplier confirmed becomes confirmed (C24); dates
 * and cancelled quantities become edits (C30); the reference becomes `supplierReference`, with the first acceptance. A
 * line that cannot be delivered is confirmed with 0 and cancelled in full. Accepting again what is accepted changes
 * nothing.
 *
 * @param lineItemIds null: all.
 * @throws Fault INVALID_INPUT  the proposal was rejected or replaced, a line is not in it, the order has overtaken one,
 *                              or a rule of the operations above refuses.
 * Source: C64, C64a.
 */
export function decideAccept(
  order: PurchaseOrder,
  proposal: SupplierProposal,
  lineItemIds: readonly string[] | null,
  facts: AcceptFacts,
  context: GoodsContext,
): AcceptDecision {
  const named = linesToAccept(proposal, lineItemIds);
  const waiting = named.filter((line) => !line.isAccepted);
  const isFirst = proposal.state === "open" && proposal.lines.every((line) => !line.isAccepted);
  if (proposal.state === "accepted" || (waiting.length === 0 && !isFirst))
    return { next: order, steps: [], updatedLineItemIds: [], trackingNumber: null, proposal };
  refuseOvertaken(order, proposal, waiting);
  const taking = new Taking(order, context);
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  // Cancelling comes between: a line is not cancelled beyond what is confirmed of it, and the status follows from what
  // is left.
  const undone = waiting.filter((each) => each.cannotDeliver && lines.get(each.lineItemId)?.quantityConfirmed !== 0);
  taking.confirm(undone.map(({ lineItemId }) => ({ lineItemId, quantityConfirmed: zeroQuantity })));
  taking.edit(
    waiting.flatMap(({ lineItemId, cannotDeliver, expectedDeliveryDate }) => {
      const quantityOrdered = lines.get(lineItemId)?.quantityOrdered;
      if (!cannotDeliver && expectedDeliveryDate === null) return [];
      return [
        {
          lineItemId,
          ...(cannotDeliver && quantityOrdered !== undefined ? { quantityCancelled: quantityOrdered } : {}),
          ...(expectedDeliveryDate === null ? {} : { expectedDeliveryDate }),
        },
      ];
    }),
  );
  taking.confirm(
    waiting.flatMap(({ lineItemId, quantityConfirmed }) =>
      quantityConfirmed === null ? [] : [{ lineItemId, quantityConfirmed }],
    ),
  );
  if (isFirst && proposal.reference !== null) taking.reference(proposal.reference, facts);
  const isTracked = facts.shipments.some(({ trackingNumber }) => trackingNumber === proposal.trackingNumber);
  const trackingNumber = isFirst && !isTracked ? proposal.trackingNumber : null;
  if (trackingNumber !== null) taking.tracking(trackingNumber);
  const accepted = new Set(waiting.map((line) => line.lineItemId));
  const after = proposal.lines.map((line) => (accepted.has(line.lineItemId) ? { ...line, isAccepted: true } : line));
  const isDone = after.every((line) => line.isAccepted);
  return {
    next: taking.order,
    steps: taking.steps,
    updatedLineItemIds: [...taking.confirmedLineIds],
    trackingNumber,
    proposal: {
      ...proposal,
      lines: after,
      state: isDone ? "accepted" : "open",
      decidedAtMs: isDone ? context.nowMs : null,
    },
  };
}

/** The lines that are asked for. @throws Fault INVALID_INPUT when the proposal is closed or has no such line. */
function linesToAccept(proposal: SupplierProposal, lineItemIds: readonly string[] | null): readonly ProposedLine[] {
  if (proposal.state === "rejected" || proposal.state === "replaced")
    throw new Fault(
      "INVALID_INPUT",
      proposal.state === "rejected"
        ? "The proposal was rejected."
        : "The supplier has sent a newer proposal in place of this one.",
      { action: "Read the order's proposals and accept the one that is open." },
    );
  if (lineItemIds === null) return proposal.lines;
  const lines = new Map(proposal.lines.map((line) => [line.lineItemId, line]));
  return lineItemIds.map((lineItemId, index) => {
    const line = lines.get(lineItemId);
    if (line !== undefined) return line;
    throw invalidField(
      `/lineItemIds/${index}`,
      `${lineItemId} is not a line of the proposal`,
      "Name lines of the proposal, or leave lineItemIds out for all of them.",
    );
  });
}

/** Lines that a message names; `details` has them all. */
const namedLinesMax = 5;

function refuseOvertaken(order: PurchaseOrder, proposal: SupplierProposal, waiting: readonly ProposedLine[]): void {
  if (!mayAnswer(order))
    throw new Fault("INVALID_INPUT", `The order has overtaken the proposal: it is ${order.status}.`, {
      action: "Reject the proposal, or move the order back and accept it then.",
    });
  const overtaken = overtakenLineIds(order, proposal);
  const stale = waiting.filter((line) => overtaken.has(line.lineItemId));
  if (stale.length > 0) {
    const names = stale.slice(0, namedLinesMax).map((line) => line.lineItemId);
    const more = stale.length > namedLinesMax ? `, and ${stale.length - namedLinesMax} more` : "";
    throw new Fault(
      "INVALID_INPUT",
      `The order has overtaken the proposal: ${names.join(", ")}${more} changed since the supplier answered. Nothing was changed.`,
      {
        action:
          "Accept the other lines by naming them in lineItemIds, or reject the proposal and ask the supplier to answer again by the same link.",
        details: detailsOf(order, stale, () => "changed since the supplier answered"),
      },
    );
  }
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const above = waiting.filter(
    ({ lineItemId, quantityConfirmed }) => (quantityConfirmed ?? 0) > (lines.get(lineItemId)?.quantityOrdered ?? 0),
  );
  if (above.length === 0) return;
  throw new Fault(
    "INVALID_INPUT",
    `The supplier confirms more than was ordered of ${above.length === 1 ? "1 line" : `${above.length} lines`}. Nothing was changed.`,
    {
      action: `Raise quantityOrdered with ${mention("purchase_order_line_item_update")} first, or accept the other lines by naming them in lineItemIds.`,
      details: detailsOf(order, above, ({ quantityConfirmed, basis }) => {
        return `${quantityText(quantityConfirmed ?? zeroQuantity)} is above the ordered quantity, ${quantityText(basis.quantityOrdered)}`;
      }),
    },
  );
}

const detailsOf = (order: PurchaseOrder, lines: readonly ProposedLine[], messageOf: (line: ProposedLine) => string) => {
  const variants = new Map(order.lineItems.map((line) => [line.poLineItemId, line.variantId]));
  return lines.map((line) => ({
    lineItemId: line.lineItemId,
    variantId: variants.get(line.lineItemId) ?? "",
    message: messageOf(line),
  }));
};

/** The order on its way through the steps of an acceptance. */
class Taking {
  order: PurchaseOrder;
  readonly steps: AcceptStep[] = [];
  readonly confirmedLineIds = new Set<string>();
  readonly #context: GoodsContext;

  constructor(order: PurchaseOrder, context: GoodsContext) {
    this.order = order;
    this.#context = context;
  }

  confirm(lines: readonly { readonly lineItemId: string; readonly quantityConfirmed: Quantity }[]): void {
    if (lines.length === 0) return;
    const decided = decideConfirm(this.order, { lines }, this.#context);
    for (const lineItemId of decided.updatedLineItemIds) this.confirmedLineIds.add(lineItemId);
    this.#take("purchase_order_confirm", decided);
  }

  /** @throws Fault INVALID_INPUT when a line does not let itself be changed: all lines are, or none. */
  edit(edits: Parameters<typeof decideEditLines>[1]): void {
    if (edits.length === 0) return;
    const decided = decideEditLines(this.order, edits, this.#context);
    const [failed] = decided.failed;
    if (failed !== undefined)
      throw new Fault("INVALID_INPUT", `${failed.lineItemId}: ${failed.message} Nothing was changed.`, {
        action: "Accept the other lines by naming them in lineItemIds.",
        details: decided.failed.map(({ lineItemId, message }) => ({ path: `/lineItemIds/${lineItemId}`, message })),
      });
    this.#take("purchase_order_line_item_update", decided);
  }

  reference(supplierReference: string, facts: HeaderFacts): void {
    this.#take(
      "purchase_order_update",
      decideHeader(this.order, { supplierReference }, { ...facts, change: null }, this.#context),
    );
  }

  /** The shipment belongs to what the order shows, so its version rises with it (P5). */
  tracking(trackingNumber: string): void {
    const changes = [{ field: "trackingNumber", poLineItemId: null, before: null, after: trackingNumber }];
    const log = [{ action: "edit", message: "Added a shipment with the supplier's tracking number.", changes }];
    this.#take("purchase_order_update", decision(this.order, this.order, { log }, this.#context));
  }

  #take(operation: AcceptStep["operation"], decided: Decision): void {
    if (decided.next === this.order) return;
    this.steps.push({ operation, before: this.order, decided });
    this.order = decided.next;
  }
}
