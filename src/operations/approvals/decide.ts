/** Deciding about approval requests (C79, C80): who may, how one ends, rejecting, and withdrawing by who has asked. */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { type ApprovalCause, type Cleared, type Undecidable, undecidable } from "../../core/access/approvals.ts";
import { unmailedStatements } from "../../requests/approvals/approver-mails.ts";
import { approvalRequestJson, approvalRequestSchema, statusNow } from "../../requests/approvals/request-json.ts";
import { type Answer, type Call, operation } from "../../requests/operation.ts";
import {
  type ApprovalRequest,
  type ListedRequest,
  askerOf,
  decidedStatement,
  loadApprovalRequest,
  type RequestAsker,
} from "../../shop/access/approval-requests.ts";
import { findPerson } from "../../shop/access/people.ts";
import { eventStatements } from "../../shop/events/events.ts";
import type { Tx } from "../../store/store.ts";
import { noteMax, pathId, shownId, textOfLines } from "../fields.ts";
import { stampOf } from "../purchase-orders/access.ts";

export const path = "/approval-requests/{approvalRequestId}";

export const decision = {
  tag: "Approvals",
  toolSets: [],
  scope: "write",
  success: 200,
  destructive: false,
  repeat: "refused",
  aboutApprovals: true,
  leastRole: "viewer",
  faults: ["NOT_FOUND"],
  output: z.strictObject({ approvalRequest: approvalRequestSchema }),
} as const;

export const decisionInput = z.strictObject({
  approvalRequestId: pathId,
  comment: textOfLines(noteMax).nullable().default(null),
});

export type DecisionAnswer = Answer<z.output<typeof decision.output>>;

export const unknownRequest = (approvalRequestId: string): Fault =>
  new Fault("NOT_FOUND", `There is no approval request ${shownId(approvalRequestId)}.`, {
    action: "List those of the shop.",
  });

/** A request, whatever became of it. @throws Fault NOT_FOUND */
export async function requestOf(tx: Tx, call: Pick<Call, "shop">, approvalRequestId: string): Promise<ApprovalRequest> {
  const request = await loadApprovalRequest(tx, call.shop.shopId, approvalRequestId);
  if (request === null) throw unknownRequest(approvalRequestId);
  return request;
}

/** A request that waits for a decision. @throws Fault NOT_FOUND, INVALID_INPUT it does not wait any more. */
export async function pendingRequest(tx: Tx, call: Call, approvalRequestId: string): Promise<ApprovalRequest> {
  const request = await requestOf(tx, call, approvalRequestId);
  const status = statusNow(request, call.clock.now());
  // What was begun is ended, however late.
  if (status === "pending" || (status === "expired" && request.begunBy !== null)) return request;
  throw new Fault("INVALID_INPUT", `This request is ${status}, and waits for no decision.`, {
    action: "Look at it, and at the order as it is now.",
  });
}

const refusals: Readonly<Record<Undecidable, string>> = {
  "by-key": "Whoever has signed in with an API key decides nothing.",
  own: "Nobody decides what he himself has asked for.",
  "own-agent": "Nobody decides what his own agents have asked for; so the shop has set it.",
  "not-approver": "You are not one of those who decide about this.",
};

/** Why the caller may not decide; null: they may. */
export async function undecidableBy(
  tx: Tx,
  { shop, actor }: Pick<Call, "shop" | "actor">,
  { requestedBy }: ListedRequest,
  { personId }: RequestAsker,
  causes: readonly ApprovalCause[],
): Promise<Undecidable | null> {
  const person = actor.id === null ? null : await findPerson(tx, shop.shopId, actor.id);
  const role = actor.id === null ? "owner" : (person?.role ?? "viewer");
  const decider = { personId: actor.id, role, keyId: actor.keyId ?? null };
  return undecidable(decider, { actor: requestedBy, personId }, causes, shop);
}

/** The caller may not decide: no refusal of what was asked for. */
export class NotDecider extends Fault {}

/** @throws Fault FORBIDDEN_SCOPE the caller may not decide about it. */
export async function requireDecider(
  tx: Tx,
  call: Call,
  request: ApprovalRequest,
  causes: readonly ApprovalCause[],
): Promise<void> {
  const asker = await askerOf(tx, call.shop.shopId, request);
  const why = await undecidableBy(tx, call, request, asker, causes);
  if (why !== null)
    throw new NotDecider("FORBIDDEN_SCOPE", refusals[why], {
      action: "Leave it to one of those who decide, or to the operator.",
    });
}

/** Stores what became of the request, and tells of it. */
export async function end(tx: Tx, call: Call, request: ApprovalRequest, cleared: Cleared | null = null): Promise<void> {
  const { approvalRequestId, operation: asked, purchaseOrderId, status } = request;
  const { shopId } = call.shop;
  await tx.batch([
    decidedStatement(shopId, request, cleared),
    ...(await unmailedStatements(tx, call, approvalRequestId)),
    ...eventStatements(
      shopId,
      { type: "approval.decided", data: { approvalRequestId, operation: asked, purchaseOrderId, status } },
      stampOf(call),
    ),
  ]);
}

/** Ends the request in a commit of its own. */
export const ended = (
  call: Call,
  approvalRequestId: string,
  check: (
    tx: Tx,
    request: ApprovalRequest,
  ) => Promise<Pick<ApprovalRequest, "status" | "decision"> & Partial<Pick<ApprovalRequest, "now">>>,
): Promise<DecisionAnswer> =>
  call.commit(async (tx) => {
    const request = await pendingRequest(tx, call, approvalRequestId);
    const next = { ...request, ...(await check(tx, request)) };
    await end(tx, call, next);
    return { effects: [], answer: () => shown(call, next) };
  });

export const shown = (call: Call, request: ApprovalRequest): DecisionAnswer => ({
  data: { approvalRequest: approvalRequestJson(request, call.clock.now()) },
});

export const decisionOf = (call: Call, comment: string | null) => ({ by: call.actor, atMs: call.clock.now(), comment });

/** @throws Fault INVALID_INPUT a process has stopped while it was carried out. */
function requireUntouched({ begunBy }: ApprovalRequest): void {
  if (begunBy !== null)
    throw new Fault("INVALID_INPUT", "This was approved, and is carried out in part.", {
      action: "Approve it again, which does the rest.",
    });
}

export const rejectRequest = operation({
  ...decision,
  name: "approval_request_reject",
  title: "Reject a request",
  summary: "Rejects what was asked for: it is not done.",
  description: "One rejection ends a request. People alone decide, and nobody what he himself has asked for.",
  route: { method: "POST", path: `${path}/reject` },
  input: decisionInput,
  run: (call, { approvalRequestId, comment }) =>
    ended(call, approvalRequestId, async (tx, request) => {
      requireUntouched(request);
      await requireDecider(tx, call, request, request.causes);
      return { status: "rejected", decision: decisionOf(call, comment) };
    }),
});

export const withdrawRequest = operation({
  ...decision,
  name: "approval_request_withdraw",
  title: "Withdraw a request",
  summary: "Takes back a request of your own that nobody has decided yet.",
  description: "It ends, and nothing is done.",
  route: { method: "POST", path: `${path}/withdraw` },
  input: z.strictObject({ approvalRequestId: pathId }),
  run: (call, { approvalRequestId }) =>
    ended(call, approvalRequestId, (_tx, request) => {
      requireUntouched(request);
      const { type, id } = request.requestedBy;
      if (id !== call.actor.id || (type === "user") !== (call.actor.type === "user"))
        throw unknownRequest(approvalRequestId);
      return Promise.resolve({ status: "withdrawn", decision: decisionOf(call, null) });
    }),
});
