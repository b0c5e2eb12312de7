/** Approval requests as people see and decide them (C80). */
import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { approvalStatuses } from "../../core/access/approvals.ts";
import { requestOf, undecidableBy } from "../../operations/approvals/decide.ts";
import { stockCoverOf, stockCoverSchema } from "../../operations/approvals/stock-cover.ts";
import { cursor, id, limit, listParameter, pageShape, pathId } from "../../operations/fields.ts";
import {
  approvalRequestJson,
  approvalRequestSchema,
  listedRequestJson,
  listedRequestSchema,
  statusNow,
} from "../../requests/approvals/request-json.ts";
import { moneyToNumber } from "../../core/money/money.ts";
import { actorOf, type SignedIn } from "../../requests/caller.ts";
import { askerOf, type ListedRequest, pageOfApprovalRequests } from "../../shop/access/approval-requests.ts";
import type { Shop } from "../../shop/access/accounts.ts";
import { findPerson } from "../../shop/access/people.ts";
import type { Tx } from "../../store/store.ts";
import { data, inShop, operation, shopOf } from "../operation.ts";

const orderSchema = z
  .strictObject({
    poNumber: z.string(),
    supplierName: z.string().nullable(),
    grandTotal: z.number(),
    currencyCode: z.string(),
    movesTo: z.string().nullable().meta({ description: "The status that it would get; null: it keeps its own." }),
  })
  .nullable()
  .meta({ description: "The order as it would be; null: it is about none." });

const ofCaller = {
  order: orderSchema,
  inNameOf: z
    .string()
    .nullable()
    .meta({ description: "Whose key or connection has asked; null: a person, or nobody's." }),
  mayDecide: z.boolean().meta({ description: "Whoever asks here may approve or reject it." }),
  mayWithdraw: z.boolean().meta({ description: "Whoever asks here has asked for it, and nobody has decided it." }),
};

/** A request in a list. */
const rowSchema = z.strictObject({ ...listedRequestSchema.shape, ...ofCaller });

const shownSchema = z.strictObject({ ...approvalRequestSchema.shape, ...ofCaller, stockCover: stockCoverSchema });

/** The order, and what the caller may do with the request. */
async function ofCallerJson(
  tx: Tx,
  { shop, person, nowMs }: { readonly shop: Shop; readonly person: SignedIn | null; readonly nowMs: number },
  request: ListedRequest,
) {
  const { order } = request;
  const { type, id: askerId } = request.requestedBy;
  const asker = await askerOf(tx, shop.shopId, request);
  const why = await undecidableBy(tx, { shop, actor: actorOf(person) }, request, asker, request.causes);
  const named = asker.personId === null ? null : await findPerson(tx, shop.shopId, asker.personId);
  const isPending = statusNow(request, nowMs) === "pending";
  return {
    order: order === null ? null : { ...order, grandTotal: moneyToNumber(order.grandTotal) },
    inNameOf: named?.name ?? null,
    mayDecide: isPending && !asker.isRevoked && why === null,
    mayWithdraw: isPending && type === "user" && askerId === (person?.personId ?? null),
  };
}

export const listApprovalRequests = operation({
  name: "approval_request_list",
  route: { method: "GET", path: "/shops/{shopId}/approval-requests" },
  role: "viewer",
  describes: {
    summary: "Writes that wait for a decision, or were decided, newest first.",
    description:
      "What a key may only propose, what is beyond its limits, and orders that meet one of the shop's approval rules. A request that nobody decides in time is `expired`.",
    output: z.strictObject({ approvalRequests: z.array(rowSchema), ...pageShape }),
  },
  input: z.strictObject({
    ...inShop,
    status: listParameter(z.enum(approvalStatuses), "Status."),
    purchaseOrderId: id.optional(),
    limit,
    cursor,
  }),
  async run(
    { engine, clock },
    { shopId, limit: rows, cursor: encoded, status: statuses = null, purchaseOrderId = null },
    call,
  ) {
    const scope = { list: "approval-requests", shopId, filters: { statuses, purchaseOrderId } };
    const [after = null] = encoded === undefined ? [] : decodeCursor(scope, encoded, ["string"]);
    const nowMs = clock.now();
    return await engine.read(shopId, async (tx) => {
      const shop = await shopOf(tx, shopId);
      const filters = { statuses, purchaseOrderId, holderId: null };
      const page = await pageOfApprovalRequests(tx, shopId, filters, { after, limit: rows, nowMs });
      const { person } = call;
      return data({
        approvalRequests: await Promise.all(
          page.requests.map(async (each) => ({
            ...listedRequestJson(each, nowMs),
            ...(await ofCallerJson(tx, { shop, person, nowMs }, each)),
          })),
        ),
        totalCount: page.totalCount,
        cursor: page.end === null ? null : encodeCursor(scope, [page.end]),
      });
    });
  },
});

export const getApprovalRequest = operation({
  name: "approval_request_get",
  route: { method: "GET", path: "/shops/{shopId}/approval-requests/{approvalRequestId}" },
  role: "viewer",
  describes: {
    summary: "A write that waits for a decision, or was decided.",
    description: "Who asked for what, why it needs a decision, what it would change, and what became of it.",
    output: z.strictObject({ approvalRequest: shownSchema }),
  },
  input: z.strictObject({ ...inShop, approvalRequestId: pathId }),
  async run({ engine, clock }, { shopId, approvalRequestId }, { person }) {
    return await engine.read(shopId, async (tx) => {
      const shop = await shopOf(tx, shopId);
      const request = await requestOf(tx, { shop }, approvalRequestId);
      const nowMs = clock.now();
      return data({
        approvalRequest: {
          ...approvalRequestJson(request, nowMs),
          ...(await ofCallerJson(tx, { shop, person, nowMs }, request)),
          stockCover: await stockCoverOf(tx, shop, request, nowMs),
        },
      });
    });
  },
});
