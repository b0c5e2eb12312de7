/**
 * Next thing to do with an order, as advice for agents (C68, C69). Pure.
 *
 * Does not own: which orders need attention (attention.ts), what an operation allows (status.ts and the deciding
 * modules).
 */
import type { WarningReason } from "./warnings.ts";
import type { Status, StorefrontSyncState } from "../purchase-order.ts";

/** A tool to call next. Arguments that only the caller can know are not in it; `advice` names them. */
export interface NextStep {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | boolean>>;
  readonly advice: string;
}

/** The facts of one order that decide on the next step. */
interface NextStepFacts {
  readonly purchaseOrderId: string;
  readonly status: Status;
  readonly previousStatus: Status;
  readonly locationId: string | null;
  readonly itemCount: number;
  /** True if the supplier has confirmed something of it. */
  readonly isConfirmedInPart: boolean;
  /** True if something of it is still to come. */
  readonly isPending: boolean;
  /** True if the storefront lacks goods that were received. */
  readonly isUnsynced: boolean;
  readonly storefrontSyncState: StorefrontSyncState;
  /** True if the shop mails a draft to its supplier when it is moved to Sent (C63). */
  readonly isMailedOnSent: boolean;
}

type StepOf<Facts> = (facts: Facts) => NextStep;

type SyncFacts = Pick<NextStepFacts, "purchaseOrderId" | "status" | "previousStatus" | "storefrontSyncState">;

/**
 * Pushes what was received and is not at the storefront, after reopening a completed order; while a push is on its way,
 * looks again.
 */
export const syncStep: StepOf<SyncFacts> = ({ purchaseOrderId, status, previousStatus, storefrontSyncState }) => {
  if (storefrontSyncState === "in-flight")
    return { tool: "purchase_order_get", arguments: { purchaseOrderId }, advice: "A sync is on its way: look again." };
  if (status === "Completed")
    return {
      tool: "purchase_order_status",
      arguments: { purchaseOrderId, status: previousStatus },
      advice:
        "The storefront lacks goods that were received: reopen the order, then purchase_order_storefront_sync, then purchase_order_complete.",
    };
  return {
    tool: "purchase_order_storefront_sync",
    arguments: { purchaseOrderId },
    advice: "Pushes what was received and is not at the storefront.",
  };
};

/** Completes an order whose goods are in. */
export const completeStep: StepOf<Pick<NextStepFacts, "purchaseOrderId">> = ({ purchaseOrderId }) => ({
  tool: "purchase_order_complete",
  arguments: { purchaseOrderId },
  advice: "All goods are in, or will not come.",
});

/** Takes an order back to where it was before it was disputed or put on hold. */
export const resumeStep =
  (advice: string): StepOf<Pick<NextStepFacts, "purchaseOrderId" | "previousStatus">> =>
  ({ purchaseOrderId, previousStatus }) => ({
    tool: "purchase_order_status",
    arguments: { purchaseOrderId, status: previousStatus },
    advice,
  });

const step =
  (tool: string, advice: string, more: NextStep["arguments"] = {}): StepOf<NextStepFacts> =>
  ({ purchaseOrderId }) => ({ tool, arguments: { purchaseOrderId, ...more }, advice });

const draftStep: StepOf<NextStepFacts> = (facts) => {
  if (facts.itemCount === 0) return step("purchase_order_line_item_add", "It has no lines yet.")(facts);
  if (facts.locationId === null) return step("purchase_order_update", "Sent needs a locationId.")(facts);
  const advice = facts.isMailedOnSent
    ? "Marks it as sent and mails it to the supplier: ask first."
    : "Marks it as sent; in this shop that mails nothing.";
  return step("purchase_order_status", advice, { status: "Sent" })(facts);
};

/** Back from Confirmed the order keeps its confirmed quantities, and confirmAll would overwrite them (C24). */
const sentStep: StepOf<NextStepFacts> = (facts) =>
  step(
    "purchase_order_confirm",
    facts.isConfirmedInPart
      ? "When the supplier answers: lines with what it confirmed."
      : "When the supplier answers: lines with what it confirmed, or confirmAll true when it confirmed everything.",
  )(facts);

const restStep = step(
  "purchase_order_receive",
  "Receive the rest when it comes. What will not come: set quantityCancelled with purchase_order_line_item_update, then purchase_order_complete.",
);

/** The step after a draft's move to Sent that mailed nothing (C70). */
export const unmailedStep = (then: NextStep): NextStep => ({
  ...then,
  advice: `Nothing was mailed: a person still has to give the order to the supplier. ${then.advice}`,
});

/** Leads to other orders when nothing is left to do with what was asked for. */
export const elsewhereStep = (advice: string): NextStep => ({
  tool: "orders_needing_attention",
  arguments: {},
  advice: `${advice} This finds others that wait.`,
});

const completedStep: StepOf<NextStepFacts> = (facts) => {
  if (facts.storefrontSyncState === "failed") return syncStep(facts);
  return elsewhereStep(
    facts.isPending
      ? "Nothing is left to do: what is pending is expected no more. If it comes all the same, reopen the order with purchase_order_status."
      : "Nothing is left to do with this order.",
  );
};

const steps: Readonly<Record<Status, StepOf<NextStepFacts>>> = {
  Draft: draftStep,
  Sent: sentStep,
  "Partially Confirmed": step("purchase_order_confirm", "When the supplier answers for the other lines."),
  Confirmed: step("purchase_order_status", "Goods can be received from In Progress on.", { status: "In Progress" }),
  "In Progress": step("purchase_order_receive", "When goods come: each line's new total received."),
  "Partially Received": (facts) => {
    if (facts.isUnsynced) return syncStep(facts);
    return facts.isPending ? restStep(facts) : completeStep(facts);
  },
  Received: (facts) => (facts.isUnsynced ? syncStep(facts) : completeStep(facts)),
  Completed: completedStep,
  Cancelled: () => elsewhereStep("Nothing is left to do with this order."),
  "On Hold": resumeStep("Resumes the order."),
  Disputed: resumeStep("Once the dispute is settled."),
};

const tools: Readonly<Partial<Record<WarningReason, string>>> = {
  "no-lines": "purchase_order_line_item_add",
  "unknown-variant": "purchase_order_line_item_update",
  "not-this-supplier": "purchase_order_line_item_update",
  "no-cost": "purchase_order_line_item_update",
  "off-moq": "purchase_order_line_item_update",
  "off-pack-size": "purchase_order_line_item_update",
  "other-supplier-terms": "purchase_order_line_item_update",
};

/** Corrects what an answer warns of, before anything else is done with the order (C16). */
export const correctionStep = (
  purchaseOrderId: string,
  reasons: readonly WarningReason[],
  then: NextStep,
): NextStep => ({
  tool: reasons.map((reason) => tools[reason]).find((tool) => tool !== undefined) ?? "purchase_order_update",
  arguments: { purchaseOrderId },
  advice: `Correct first what warnings names (${[...new Set(reasons)].join(", ")}), unless it is meant so; then ${then.tool}.`,
});

/**
 * Says what usually comes next for an order.
 *
 * Source: C69.
 */
export const nextStepOf = (facts: NextStepFacts): NextStep => steps[facts.status](facts);
