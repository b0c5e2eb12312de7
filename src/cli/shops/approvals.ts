/**
 * Commands on what waits for somebody's decision (C80), and on the comments of an order (C70a).
 */
import { memberOf } from "../../base/json.ts";
import type { Option } from "../arguments.ts";
import { asking, listOptions, wholeNumber } from "../command.ts";
import { listShown, shown } from "../output.ts";

/** Shows who it was in this member: by name, else by id. */
const nameIn =
  (member: string) =>
  (item: unknown): unknown =>
    memberOf(memberOf(item, member), "name") ?? memberOf(memberOf(item, member), "id");

const list = { name: "approval list" } as const;

export const approvalList = asking({
  ...list,
  summary: "list the writes that wait for a decision, or were decided, newest first",
  options: {
    status: { value: "STATUS", help: "only these, separated by commas: pending,approved" },
    order: { value: "PURCHASE_ORDER_ID", help: "only those about this order", member: "purchaseOrderId" },
    ...listOptions,
  },
  operation: "approval_request_list",
  input: (args) => ({
    status: args.text("status")?.split(",") ?? null,
    purchaseOrderId: args.text("order"),
    limit: wholeNumber(args, "limit", list),
    cursor: args.text("cursor"),
  }),
  told: listShown("approvalRequests", {
    REQUEST: "approvalRequestId",
    STATUS: "status",
    UNTIL: "expiresAt",
    BY: nameIn("requestedBy"),
    SUMMARY: "summary",
  }),
});

const commentOption = {
  comment: { value: "TEXT", help: "what whoever asked is told with it" },
} as const satisfies Record<string, Option>;

const decided = (data: unknown): string => {
  const request = memberOf(data, "approvalRequest");
  const refusal = memberOf(memberOf(request, "refusal"), "message");
  const told = `Request ${shown(memberOf(request, "approvalRequestId"))} is ${shown(memberOf(request, "status"))}`;
  return typeof refusal === "string" ? `${told}: ${shown(refusal)}` : `${told}.`;
};

export const approvalApprove = asking({
  name: "approval approve",
  parameters: ["REQUEST_ID"],
  summary: "approve a write that waits; it is done at once, in the name of who asked",
  options: commentOption,
  operation: "approval_request_approve",
  input: (args) => ({ approvalRequestId: args.parameter(0), comment: args.text("comment") }),
  told: decided,
});

export const approvalReject = asking({
  name: "approval reject",
  parameters: ["REQUEST_ID"],
  summary: "reject a write that waits; nothing is changed",
  options: commentOption,
  operation: "approval_request_reject",
  input: (args) => ({ approvalRequestId: args.parameter(0), comment: args.text("comment") }),
  told: decided,
});

export const orderComment = asking({
  name: "order comment",
  parameters: ["PURCHASE_ORDER_ID", "TEXT"],
  summary: "add a comment to an order's log; the supplier never sees it",
  operation: "comment_add",
  input: (args) => ({ purchaseOrderId: args.parameter(0), text: args.parameter(1) }),
  told: (data) => `Comment ${shown(memberOf(memberOf(data, "comment"), "commentId"))} is added.`,
});

const comments = { name: "order comments" } as const;

export const orderComments = asking({
  ...comments,
  parameters: ["PURCHASE_ORDER_ID"],
  summary: "list the comments on an order, newest first",
  options: listOptions,
  operation: "comment_list",
  input: (args) => ({
    purchaseOrderId: args.parameter(0),
    limit: wholeNumber(args, "limit", comments),
    cursor: args.text("cursor"),
  }),
  told: listShown("comments", { COMMENT: "commentId", AT: "createdAt", BY: nameIn("createdBy"), TEXT: "text" }),
});
