/** Comments on an order, for the people of the shop (C70a). */
import { z } from "zod";
import { Fault } from "../base/fault.ts";
import { decodeCursor, encodeCursor } from "../base/cursor.ts";
import { cursor, limit, pageShape, shownId } from "../operations/fields.ts";
import { addComment, commentJson, commentSchema } from "../operations/purchase-orders/comments.ts";
import { purchaseOrderId } from "../operations/purchase-orders/json.ts";
import { pageOfComments } from "../shop/order/purchase-order-history.ts";
import { loadHeader } from "../shop/order/purchase-orders.ts";
import { data, inShop, operation, performed, shopOf } from "./operation.ts";

export const addOrderComment = performed("receiver", addComment);

export const listOrderComments = operation({
  name: "comment_list",
  route: { method: "GET", path: "/shops/{shopId}/purchase-orders/{purchaseOrderId}/comments" },
  role: "viewer",
  describes: {
    summary: "Comments on an order, newest first.",
    description: "They stand in the order's log, too.",
    output: z.strictObject({ comments: z.array(commentSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inShop, purchaseOrderId, limit, cursor }),
  run: ({ engine }, { shopId, purchaseOrderId: orderId, limit: rows, cursor: encoded }) => {
    const scope = { list: "comments", shopId, filters: { purchaseOrderId: orderId } };
    const position = encoded === undefined ? null : decodeCursor(scope, encoded, ["number", "string"]);
    const after = position === null ? null : { atMs: position[0], id: position[1] };
    return engine.read(shopId, async (tx) => {
      await shopOf(tx, shopId);
      if ((await loadHeader(tx, shopId, orderId)) === null)
        throw new Fault("NOT_FOUND", `There is no purchase order ${shownId(orderId)}.`);
      const { entries, totalCount, end } = await pageOfComments(tx, shopId, orderId, after, rows);
      return data({
        comments: entries.map(commentJson),
        totalCount,
        cursor: end === null ? null : encodeCursor(scope, [end.atMs, end.id]),
      });
    });
  },
});
