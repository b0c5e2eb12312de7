/**
 * Approval requests of a shop (table `approval_request`; C77, C80).
 *
 * Owns: their SQL and bounds. Does not own: who may decide and what is compared (core/access/approvals.ts), running
 * what was approved (operations/approvals).
 */
import { type Actor, keyOf } from "../../core/access/actor.ts";
import type { AskFacts } from "../../core/access/approval-mail.ts";
import type { ApprovalStatus, Cleared } from "../../core/access/approvals.ts";
import { compareText } from "../../base/text/compare-text.ts";
import { asMoney } from "../../core/money/money.ts";
import type { FieldChange } from "../../core/order/purchase-order.ts";
import { below, type Change, insert, not, remove, update } from "../../store/change.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

/** Requests of a shop that wait for a decision. One more is refused. */
export const approvalRequestsPendingMax = 500;

/** Time for which a request that was decided is kept. */
export const approvalRequestsKeptMs = 34_560_000_000;

/** Bytes of a request's input and preview together. */
export const approvalRequestBytesMax = 1_048_576;

/** A write that waits for a decision, or was decided, as lists show it. */
export interface ListedRequest extends AskFacts {
  /** Whose idempotency keys the asker's are: a key, a person or the operator. */
  readonly holderId: string;
  readonly status: Exclude<ApprovalStatus, "expired">;
  readonly requestedAtMs: number;
  readonly requestId: string;
  /** `changeDigest` of what it would do. */
  readonly digest: string;
  readonly url: string | null;
  /** Who decides, and what to do meanwhile. */
  readonly advice: string;
  /** Who has begun to carry it out; a stopped process may have left it half done. Null: nobody has. */
  readonly begunBy: Actor | null;
  readonly decision: Decision | null;
}

/** The change that a write would make, as people are shown it. */
interface ShownChange {
  /** The answer that the write would have given. */
  readonly preview: unknown;
  /** Changes of orders, with before and after. */
  readonly changes: readonly FieldChange[];
}

interface Detail extends ShownChange {
  /** As the operation reads it. */
  readonly input: unknown;
  /** Of a request that was overtaken: the change that it would make now. */
  readonly now: ShownChange | null;
}

/** A request with what it would do. */
export interface ApprovalRequest extends ListedRequest, Detail {}

interface Decision {
  readonly by: Actor;
  readonly atMs: number;
  readonly comment: string | null;
  /** Of one that has failed: the refusal. */
  readonly refusal?: { readonly code: string; readonly reason: string | null; readonly message: string };
}

interface RequestRow {
  readonly approval_request_id: string;
  readonly purchase_order_id: string | null;
  readonly holder_id: string;
  readonly status: ApprovalRequest["status"];
  readonly requested_at: number;
  readonly expires_at: number;
  readonly content: string;
}

const columns = "approval_request_id, purchase_order_id, holder_id, status, requested_at, expires_at, content";

type Content = Omit<
  ListedRequest,
  "approvalRequestId" | "purchaseOrderId" | "holderId" | "status" | "requestedAtMs" | "expiresAtMs"
>;

function requestFrom(row: RequestRow): ListedRequest {
  // Only `textsOf` writes it.
  const content: Content = JSON.parse(row.content);
  return {
    ...content,
    approvalRequestId: row.approval_request_id,
    purchaseOrderId: row.purchase_order_id,
    holderId: row.holder_id,
    status: row.status,
    requestedAtMs: row.requested_at,
    expiresAtMs: row.expires_at,
  };
}

/** The columns of JSON. */
function textsOf(request: ApprovalRequest): { readonly content: string; readonly detail: string } {
  const { operation, summary, order, causes, requestedBy, requestId, digest, url, advice, begunBy, decision } = request;
  const content: Content = {
    operation,
    summary,
    order,
    causes,
    requestedBy,
    requestId,
    digest,
    url,
    advice,
    begunBy,
    decision,
  };
  const { input, preview, changes, now } = request;
  const detail: Detail = { input, preview, changes, now };
  return { content: JSON.stringify(content), detail: JSON.stringify(detail) };
}

/** Adds a request, and deletes those that were decided long ago. */
export const requestStatements = (shopId: string, request: ApprovalRequest): readonly Change[] => [
  insert(tables.approval_request, shopId, {
    approval_request_id: request.approvalRequestId,
    purchase_order_id: request.purchaseOrderId,
    holder_id: request.holderId,
    status: request.status,
    requested_at: request.requestedAtMs,
    expires_at: request.expiresAtMs,
    ...textsOf(request),
  }),
  remove(tables.approval_request, shopId, {
    status: not("pending"),
    requested_at: below(request.requestedAtMs - approvalRequestsKeptMs),
  }),
];

/** Stores the end of a request. @param cleared  the order as it was approved; null: no rule was met. */
export const decidedStatement = (shopId: string, request: ApprovalRequest, cleared: Cleared | null): Change =>
  update(
    tables.approval_request,
    shopId,
    { approval_request_id: request.approvalRequestId },
    {
      status: request.status,
      ...textsOf(request),
      cleared_value: cleared?.value ?? null,
      cleared_supplier_id: cleared?.supplierId ?? null,
      cleared_location_id: cleared?.locationId ?? null,
    },
  );

export async function loadApprovalRequest(
  tx: Tx,
  shopId: string,
  approvalRequestId: string,
): Promise<ApprovalRequest | null> {
  const [row] = await tx.all<RequestRow & { readonly detail: string }>(
    `select ${columns}, detail from approval_request where shop_id = ? and approval_request_id = ?`,
    [shopId, approvalRequestId],
  );
  if (row === undefined) return null;
  const detail: Detail = JSON.parse(row.detail);
  return { ...requestFrom(row), ...detail };
}

/** Filters of a list; null: not filtered by it. */
interface ApprovalFilters {
  readonly statuses: readonly ApprovalStatus[] | null;
  readonly purchaseOrderId: string | null;
  readonly holderId: string | null;
}

/** Requests of one status, or of any. */
type OfStatus = Omit<ApprovalFilters, "statuses"> & { readonly status: ApprovalStatus | null };

function conditionsOf(shopId: string, filters: OfStatus, nowMs: number) {
  const { status, purchaseOrderId, holderId } = filters;
  const conditions = ["shop_id = ?"];
  const params: SqlValue[] = [shopId];
  const only = (sql: string, ...values: readonly SqlValue[]): void => {
    conditions.push(sql);
    params.push(...values);
  };
  if (status !== null) only("status = ?", status === "expired" ? "pending" : status);
  if (status === "pending") only("expires_at > ?", nowMs);
  if (status === "expired") only("expires_at <= ?", nowMs);
  if (purchaseOrderId !== null) only("purchase_order_id = ?", purchaseOrderId);
  if (holderId !== null) only("holder_id = ?", holderId);
  return { where: conditions.join(" and "), params };
}

/** A page of requests, newest first, after the one with this id. Each status is a range of an index. */
export async function pageOfApprovalRequests(
  tx: Tx,
  shopId: string,
  { statuses, ...filters }: ApprovalFilters,
  { after, limit, nowMs }: { readonly after: string | null; readonly limit: number; readonly nowMs: number },
): Promise<{
  readonly requests: readonly ListedRequest[];
  readonly totalCount: number;
  readonly end: string | null;
}> {
  const ranges = (statuses === null ? [null] : [...new Set(statuses)]).map((status) =>
    conditionsOf(shopId, { ...filters, status }, nowMs),
  );
  const [found, counts] = await Promise.all([
    Promise.all(
      ranges.map(({ where, params }) =>
        tx.all<RequestRow>(
          `select ${columns} from approval_request where ${where}${after === null ? "" : " and approval_request_id < ?"}
           order by approval_request_id desc limit ?`,
          [...params, ...(after === null ? [] : [after]), limit + 1],
        ),
      ),
    ),
    Promise.all(
      ranges.map(({ where, params }) =>
        tx.all<{ readonly n: number }>(`select count(*) as n from approval_request where ${where}`, params),
      ),
    ),
  ]);
  const rows = found.flat().toSorted((one, other) => compareText(other.approval_request_id, one.approval_request_id));
  const requests = rows.slice(0, limit).map(requestFrom);
  return {
    requests,
    totalCount: counts.reduce((sum, [counted]) => sum + (counted?.n ?? 0), 0),
    end: rows.length > limit ? (requests.at(-1)?.approvalRequestId ?? null) : null,
  };
}

/** The request that waits and asks for the same, of the same asker: the same change by the same input. Null: none. */
export async function loadPendingAlike(
  tx: Tx,
  shopId: string,
  { operation, purchaseOrderId, holderId, digest, input }: ApprovalRequest,
  nowMs: number,
): Promise<ApprovalRequest | null> {
  const { where, params } = conditionsOf(shopId, { status: "pending", purchaseOrderId, holderId }, nowMs);
  const rows = await tx.all<RequestRow>(`select ${columns} from approval_request where ${where}`, params);
  const text = JSON.stringify(input);
  for (const listed of rows.map(requestFrom)) {
    if (listed.operation !== operation || listed.digest !== digest) continue;
    const request = await loadApprovalRequest(tx, shopId, listed.approvalRequestId);
    if (request !== null && JSON.stringify(request.input) === text) return request;
  }
  return null;
}

/** Number of requests that wait for a decision, without those that have expired. */
export async function countPending(tx: Tx, shopId: string, nowMs: number): Promise<number> {
  const { where, params } = conditionsOf(shopId, { status: "pending", purchaseOrderId: null, holderId: null }, nowMs);
  const [counted] = await tx.all<{ readonly n: number }>(
    `select count(*) as n from approval_request where ${where}`,
    params,
  );
  return counted?.n ?? 0;
}

/** The order as it was approved, each time. */
export async function loadCleared(tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly Cleared[]> {
  const rows = await tx.all<{
    readonly cleared_value: number;
    readonly cleared_supplier_id: string | null;
    readonly cleared_location_id: string | null;
  }>(
    `select cleared_value, cleared_supplier_id, cleared_location_id from approval_request
     where shop_id = ? and purchase_order_id = ? and cleared_value is not null`,
    [shopId, purchaseOrderId],
  );
  return rows.map((row) => ({
    purchaseOrderId,
    value: asMoney(row.cleared_value),
    supplierId: row.cleared_supplier_id,
    locationId: row.cleared_location_id,
  }));
}

/** Who asked for a write, as far as deciding depends on it. */
export interface RequestAsker {
  /** The person of an agent; null: a person has asked, or it is nobody's. */
  readonly personId: string | null;
  readonly isRevoked: boolean;
}

/** Who asked. */
export async function askerOf(
  tx: Tx,
  shopId: string,
  { requestedBy }: Pick<ListedRequest, "requestedBy">,
): Promise<RequestAsker> {
  const keyId = keyOf(requestedBy);
  const [row] =
    keyId === null
      ? []
      : await tx.all<{
          readonly person_id: string | null;
          readonly made_by: string | null;
          readonly revoked_at: number | null;
        }>("select person_id, made_by, revoked_at from api_key where shop_id = ? and key_id = ?", [shopId, keyId]);
  return row === undefined
    ? { personId: null, isRevoked: false }
    : { personId: row.person_id ?? row.made_by, isRevoked: row.revoked_at !== null };
}
