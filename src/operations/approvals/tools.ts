/** Approval requests of an agent: what it has asked for, and what became of it (C80). Tools without a path on REST. */
import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { approvalStatuses } from "../../core/access/approvals.ts";
import { elsewhereStep } from "../../core/order/advice/next-step.ts";
import {
  approvalRequestJson,
  approvalRequestSchema,
  listedRequestJson,
  listedRequestSchema,
} from "../../requests/approvals/request-json.ts";
import { operation } from "../../requests/operation.ts";
import { pageOfApprovalRequests } from "../../shop/access/approval-requests.ts";
import { readTool } from "../agent/tool.ts";
import { cursor, id, limit, listParameter, pageShape } from "../fields.ts";
import { requestOf, unknownRequest, withdrawRequest } from "./decide.ts";

/** A request in a list. */
const rowSchema = listedRequestSchema.pick({
  approvalRequestId: true,
  operation: true,
  purchaseOrderId: true,
  summary: true,
  status: true,
  requestedAt: true,
  comment: true,
});

export const listOwnRequests = operation({
  ...readTool,
  name: "approval_request_list",
  aboutApprovals: true,
  toolSets: ["purchasing", "reorder", "receiving", "stock"],
  title: "Approval requests",
  summary: "What you have asked people to approve, newest first, and what became of it.",
  description: "purchase_order_log_list tells who approved.",
  faults: [],
  input: z
    .strictObject({ status: listParameter(z.enum(approvalStatuses), "Status."), limit, cursor })
    .meta({ example: { status: ["pending"] } }),
  output: z.strictObject({ approvalRequests: z.array(rowSchema), ...pageShape }),
  async run(call, { limit: rows, cursor: encoded, status: statuses = null }) {
    const { shop, actor, operation: list, clock } = call;
    const scope = { list, shopId: shop.shopId, filters: { statuses } };
    const [after = null] = encoded === undefined ? [] : decodeCursor(scope, encoded, ["string"]);
    const nowMs = clock.now();
    const filters = { statuses, purchaseOrderId: null, holderId: actor.id };
    const page = await call.read((tx) =>
      pageOfApprovalRequests(tx, shop.shopId, filters, { after, limit: rows, nowMs }),
    );
    return {
      data: {
        approvalRequests: page.requests.map((request) => rowSchema.strip().parse(listedRequestJson(request, nowMs))),
        totalCount: page.totalCount,
        cursor: page.end === null ? null : encodeCursor(scope, [page.end]),
      },
    };
  },
});

export const getOwnRequest = operation({
  ...readTool,
  name: "approval_request_get",
  aboutApprovals: true,
  toolSets: ["purchasing", "reorder", "receiving", "stock"],
  title: "An approval request",
  summary: "What became of a request of yours, who decided it, and their comment.",
  description: "With what it would change.",
  faults: ["NOT_FOUND"],
  input: z.strictObject({ approvalRequestId: id }).meta({ example: { approvalRequestId: "apr_01" } }),
  output: z.strictObject({ approvalRequest: approvalRequestSchema }),
  async run(call, { approvalRequestId }) {
    const request = await call.read((tx) => requestOf(tx, call, approvalRequestId));
    if (request.holderId !== call.actor.id) throw unknownRequest(approvalRequestId);
    return { data: { approvalRequest: approvalRequestJson(request, call.clock.now()) } };
  },
});

/** The same as a tool, which has no path. */
export const withdrawOwnRequest = operation({
  ...withdrawRequest,
  route: null,
  nextStep: () => elsewhereStep("The request has ended and nothing was done."),
  toolSets: ["purchasing", "reorder", "receiving", "stock"],
});
