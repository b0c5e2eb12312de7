/** A write that is kept as an approval request in place of being done (C77). */
import { causesWith, expiryOf, type ApprovalCause } from "../../core/access/approvals.ts";
import { leftOf } from "../../core/access/limits.ts";
import { Fault } from "../../base/fault.ts";
import { bytesOfText } from "../../store/cache.ts";
import { writtenDecimals } from "../../core/money/minor-units.ts";
import { type Money, moneyDecimalsMax, moneyToNumber, zeroMoney } from "../../core/money/money.ts";
import { only } from "../../core/order/guidance.ts";
import {
  approvalRequestBytesMax,
  approvalRequestsPendingMax,
  type ApprovalRequest,
  countPending,
  requestStatements,
} from "../../shop/access/approval-requests.ts";
import { findPerson } from "../../shop/access/people.ts";
import { eventStatements } from "../../shop/events/events.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { Call, Operation } from "../operation.ts";
import { approverMailStatements } from "./approver-mails.ts";
import { type RehearsedWrite, rehearsedWrite } from "./rehearsed-write.ts";

/** A write that is asked for. */
interface RequestedWrite {
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
export async function proposalOf(call: Call, asked: RequestedWrite): Promise<ApprovalRequest | null> {
  const { operation, input, raw, holderId, purchaseOrderId, isProposed } = asked;
  const rehearsed = await rehearsedWrite(call, input, (dry) => operation.run(dry, input));
  const causes = causesWith(isProposed, rehearsed.causes);
  if (causes.length === 0) return null;
  const bytes = bytesOfText(JSON.stringify([raw, rehearsed.answer.data, rehearsed.changes]));
  if (bytes > approvalRequestBytesMax)
    throw new Fault("OUTPUT_TOO_LARGE", `This needs a decision, and has more than ${approvalRequestBytesMax} bytes.`, {
      action: "Ask for it in smaller parts.",
    });
  const order = shownOrder(rehearsed);
  const approvalRequestId = call.ids.next("apr");
  const requestedAtMs = call.clock.now();
  const base = call.mailing.publicUrl ?? call.baseUrl ?? call.consoleOrigin;
  const url = base === null ? null : `${base}/console/approvals/${approvalRequestId}`;
  return {
    approvalRequestId,
    purchaseOrderId,
    holderId,
    status: "pending",
    requestedAtMs,
    expiresAtMs: expiryOf(call.shop, requestedAtMs),
    operation: operation.name,
    summary: summaryOf(operation, purchaseOrderId, order, rehearsed),
    causes,
    order,
    preview: rehearsed.answer.data,
    changes: rehearsed.changes,
    requestedBy: call.actor,
    requestId: call.requestId,
    input: raw,
    digest: rehearsed.digest,
    url,
    advice: await adviceOf(call, causes, url),
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

/** People of a rule that are named. */
const peopleNamed = 3;

/** Who decides. */
async function decidersOf(call: Call, causes: readonly ApprovalCause[]): Promise<string> {
  const { shopId, approverRoles } = call.shop;
  const withRole = (roles: readonly string[]): string => `a person with the role ${roles.join(" or ")}`;
  const rule = causes.find((cause) => cause.cause === "rule");
  if (rule === undefined) return withRole(approverRoles);
  const { roles, personIds } = rule.approvers;
  const people = await call.read((tx) =>
    Promise.all(personIds.slice(0, peopleNamed).map((personId) => findPerson(tx, shopId, personId))),
  );
  const named = [
    ...(roles.length === 0 ? [] : [withRole(roles)]),
    ...people.flatMap((person) => person?.name ?? []),
    ...(personIds.length > peopleNamed ? ["others"] : []),
  ];
  return `whom the rule ${rule.name} names${named.length === 0 ? "" : `: ${named.join(", ")}`}`;
}

/** Who decides, what is left of the limits, and what to do meanwhile. */
async function adviceOf(call: Call, causes: readonly ApprovalCause[], url: string | null): Promise<string> {
  const where = url === null ? "" : ` at ${url}`;
  const left = causes.flatMap((cause) =>
    cause.cause === "limit" ? (leftOf(cause, call.shop.currencyCode) ?? []) : [],
  );
  const tools = "; approval_request_get tells the decision, approval_request_withdraw takes the request back";
  return [
    `Nothing is changed until it is approved${where}, by ${await decidersOf(call, causes)}.`,
    ...left.map((sentence) => `${sentence}.`),
    `Go on with other work meanwhile${only("mcp", tools)}.`,
  ].join(" ");
}

/** `EUR 1,284.00` */
const amountText = (amount: Money, currency: string): string =>
  new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    currencyDisplay: "code",
    ...writtenDecimals(currency, moneyDecimalsMax),
  })
    .format(moneyToNumber(amount))
    .replace("\u00a0", " ");

/** A move of an order, by the status that it gets. Others: it is moved. */
const moves: Readonly<Record<string, (poNumber: string, supplier: string) => string>> = {
  Sent: (poNumber, supplier) => `Send ${poNumber} to ${supplier}`,
  Cancelled: (poNumber, supplier) => `Cancel ${poNumber} of ${supplier}`,
  Completed: (poNumber, supplier) => `Complete ${poNumber} of ${supplier}`,
};

/**
 * `Send PO-1031 to Maasbrand, EUR 1,284.00`; else `Change lines: PO-1031 of Maasbrand, EUR 20.00`, or `Change a
 * supplier: Maasbrand, email, phone`.
 */
function summaryOf(
  { title }: Operation,
  purchaseOrderId: string | null,
  shown: ApprovalRequest["order"],
  { changes, recordName }: RehearsedWrite,
): string {
  if (shown === null)
    return recordName === null ? title : `${title}: ${recordName}, ${changes.map(({ field }) => field).join(", ")}`;
  const { poNumber, grandTotal, currencyCode, movesTo } = shown;
  const supplier = shown.supplierName ?? "no supplier";
  const of = `${poNumber} of ${supplier}`;
  const move = movesTo === null ? undefined : moves[movesTo];
  const what =
    purchaseOrderId === null
      ? `${title} for ${supplier}`
      : move !== undefined
        ? move(poNumber, supplier)
        : movesTo !== null && changes.length === 1
          ? `Move ${of} to ${movesTo}`
          : `${title}: ${of}`;
  return grandTotal === zeroMoney ? what : `${what}, ${amountText(grandTotal, currencyCode)}`;
}

/**
 * Adds the request, and tells of it, by mail too.
 *
 * @throws Fault DO_OVERLOADED  too many requests of the shop wait already.
 */
export async function keepStatements(tx: Tx, call: Call, request: ApprovalRequest): Promise<readonly Statement[]> {
  const {
    shop: { shopId },
    actor,
    requestId,
    traceparent,
    clock,
    ids,
  } = call;
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
    ...(await approverMailStatements(tx, call, request)),
  ];
}
