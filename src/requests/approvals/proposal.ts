/** A write that is kept as an approval request in place of being done (C77). */
import { causesWith, expiryOf, type ApprovalCause, type ApprovalSettings } from "../../core/access/approvals.ts";
import { Fault } from "../../base/fault.ts";
import { bytesOfText } from "../../store/cache.ts";
import { moneyToNumber } from "../../core/money/money.ts";
import { only } from "../../core/order/guidance.ts";
import type { PurchaseOrder } from "../../core/order/purchase-order.ts";
import {
  approvalRequestBytesMax,
  approvalRequestsPendingMax,
  type ApprovalRequest,
  countPending,
  requestStatements,
} from "../../shop/access/approval-requests.ts";
import { eventStatements } from "../../shop/events/events.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { Call, Operation } from "../operation.ts";
import { type RehearsedWrite, rehearsedWrite } from "./rehearsed-write.ts";

/** A write that is asked for. */
interface AskedWrite {
  readonly operation: Operation;
  /** Before it is parsed, so that it can be parsed again. */
  readonly raw: unknown;
  readonly input: unknown;
  readonly holderId: string;
  /** The order that it names; null: none. */
  readonly purchaseOrderId: string | null;
  /** The key may only propose. */
  readonly isProposed: boolean;
}

/**
 * Decides the write in full, as a request for a decision.
 *
 * @returns null: it needs no decision any more.
 * @throws Fault what the write would be refused with.
 * @throws Fault OUTPUT_TOO_LARGE  the request would be too large to be kept.
 */
export async function proposalOf(call: Call, asked: AskedWrite): Promise<ApprovalRequest | null> {
  const { operation, input, raw, holderId, purchaseOrderId, isProposed } = asked;
  const rehearsed = await rehearsedWrite(call, input, (dry) => operation.run(dry, input));
  const causes = causesWith(isProposed, rehearsed.causes);
  if (causes.length === 0) return null;
  const bytes = bytesOfText(JSON.stringify([raw, rehearsed.answer.data, rehearsed.changes]));
  if (bytes > approvalRequestBytesMax)
    throw new Fault("OUTPUT_TOO_LARGE", `This needs a decision, and has more than ${approvalRequestBytesMax} bytes.`, {
      action: "Ask for it in smaller parts.",
    });
  const approvalRequestId = call.ids.next("apr");
  const requestedAtMs = call.clock.now();
  const base = call.mailing.publicUrl ?? call.baseUrl;
  const url = base === null ? null : `${base}/console/approvals/${approvalRequestId}`;
  return {
    approvalRequestId,
    purchaseOrderId,
    holderId,
    status: "pending",
    requestedAtMs,
    expiresAtMs: expiryOf(call.shop, requestedAtMs),
    operation: operation.name,
    summary: summaryOf(operation, rehearsed.order),
    causes,
    order: shownOrder(rehearsed),
    preview: rehearsed.answer.data,
    changes: rehearsed.changes,
    requestedBy: call.actor,
    requestId: call.requestId,
    input: raw,
    digest: rehearsed.digest,
    url,
    advice: adviceOf(call.shop, causes, url),
    begunBy: null,
    decision: null,
    now: null,
  };
}

/** The order as it would be. */
function shownOrder({ order, changes }: RehearsedWrite): ApprovalRequest["order"] {
  if (order === null) return null;
  const { poNumber, supplierName, grandTotal, currencyCode } = order;
  const moved = changes.find(({ field, poLineItemId }) => field === "status" && poLineItemId === null);
  return {
    poNumber,
    supplierName,
    grandTotal,
    currencyCode,
    movesTo: typeof moved?.after === "string" ? moved.after : null,
  };
}

/** Who decides, and what to do meanwhile. */
function adviceOf({ approverRoles }: ApprovalSettings, causes: readonly ApprovalCause[], url: string | null): string {
  const rule = causes.find((cause) => cause.cause === "rule");
  const who =
    rule === undefined ? `a person with the role ${approverRoles.join(" or ")}` : `whom the rule ${rule.name} names`;
  const where = url === null ? "" : ` at ${url}`;
  const tools = "; approval_request_get tells the decision, approval_request_withdraw takes the request back";
  return `Nothing is changed until it is approved${where}, by ${who}. Go on with other work meanwhile${only("mcp", tools)}.`;
}

/** `Move an order to a status: PO-1031, Maasbrand, 1284 EUR`. */
function summaryOf({ title }: Operation, order: PurchaseOrder | null): string {
  if (order === null) return title;
  const { poNumber, supplierName, grandTotal, currencyCode } = order;
  return [`${title}: ${poNumber}`, supplierName, `${moneyToNumber(grandTotal)} ${currencyCode}`]
    .filter((part) => part !== null)
    .join(", ");
}

/**
 * Adds the request, and tells of it.
 *
 * @throws Fault DO_OVERLOADED  too many requests of the shop wait already.
 */
export async function keepStatements(
  tx: Tx,
  { shop: { shopId }, actor, requestId, traceparent, clock, ids }: Call,
  request: ApprovalRequest,
): Promise<readonly Statement[]> {
  const nowMs = clock.now();
  if ((await countPending(tx, shopId, nowMs)) >= approvalRequestsPendingMax)
    throw new Fault("DO_OVERLOADED", `${approvalRequestsPendingMax} requests of the shop wait for a decision.`, {
      action: "Wait until people have decided some of them, or withdraw some.",
      retryAfterMs: 60_000,
    });
  const { approvalRequestId, operation, purchaseOrderId, status } = request;
  return [
    ...requestStatements(shopId, request),
    ...eventStatements(
      shopId,
      { type: "approval.requested", data: { approvalRequestId, operation, purchaseOrderId, status } },
      { actor, requestId, traceparent, nowMs, ids },
    ),
  ];
}
