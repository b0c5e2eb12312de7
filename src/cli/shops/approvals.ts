/**
 * Commands on what waits for somebody's decision (C80), and on the comments of an order (C70a).
 */
import { memberOf } from "../../base/json.ts";
import type { Option } from "../arguments.ts";
import { asking, wholeNumber } from "../command.ts";
import { listIn, shown, table } from "../output.ts";

const pageOptions = {
  limit: { value: "N", help: "at most so many (50)" },
  cursor: { value: "CURSOR", help: "go on after an earlier page" },
} as const satisfies Record<string, Option>;

/** Rows under headings, and the way to the next page. */
function pageShown(data: unknown, headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cursor = memberOf(data, "cursor");
  const shownRows = rows.length === 0 ? "There are none." : table(headings, rows);
  return typeof cursor === "string" ? `${shownRows}\nThere are more: --cursor ${cursor}` : shownRows;
}

const nameOf = (actor: unknown): unknown => memberOf(actor, "name") ?? memberOf(actor, "id");

const list = { name: "approval list" } as const;

export const approvalList = asking({
  ...list,
  summary: "list the writes that wait for a decision, or were decided, newest first",
  options: {
    status: { value: "STATUS", help: "only these, separated by commas: pending,approved" },
    order: { value: "PURCHASE_ORDER_ID", help: "only those about this order", member: "purchaseOrderId" },
    ...pageOptions,
  },
  operation: "approval_request_list",
  input: (args) => ({
    status: args.text("status")?.split(",") ?? null,
    purchaseOrderId: args.text("order"),
    limit: wholeNumber(args, "limit", list),
    cursor: args.text("cursor"),
  }),
  told: (data) =>
    pageShown(
      data,
      ["REQUEST", "STATUS", "UNTIL", "BY", "SUMMARY"],
      listIn(data, "approvalRequests").map((request) => [
        memberOf(request, "approvalRequestId"),
        memberOf(request, "status"),
        memberOf(request, "expiresAt"),
        nameOf(memberOf(request, "requestedBy")),
        memberOf(request, "summary"),
      ]),
    ),
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
  options: pageOptions,
  operation: "comment_list",
  input: (args) => ({
    purchaseOrderId: args.parameter(0),
    limit: wholeNumber(args, "limit", comments),
    cursor: args.text("cursor"),
  }),
  told: (data) =>
    pageShown(
      data,
      ["COMMENT", "AT", "BY", "TEXT"],
      listIn(data, "comments").map((comment) => [
        memberOf(comment, "commentId"),
        memberOf(comment, "createdAt"),
        nameOf(memberOf(comment, "createdBy")),
        memberOf(comment, "text"),
      ]),
    ),
});
