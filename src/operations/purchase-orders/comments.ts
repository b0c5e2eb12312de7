/**
 * Comments on an order: entries of its log that change nothing of it, so that its version stays (C70a). REST has them
 * in the admin API; agents have a tool.
 */
import { z } from "zod";
import { lineEvent } from "../../core/events/events.ts";
import { operation } from "../../requests/operation.ts";
import { eventStatements } from "../../shop/events/events.ts";
import { commentAction, type LogEntry, logStatement } from "../../shop/order/purchase-order-history.ts";
import { logged } from "../../shop/order/purchase-orders.ts";
import { instant, instantSchema, noteMax, textOfLines } from "../fields.ts";
import { orderFaults, orderToChange, path, stampOf, write } from "./access.ts";
import { logEntryJson, logEntrySchema } from "./attachments.ts";
import { purchaseOrderId } from "./json.ts";

export const commentSchema = z
  .strictObject({
    commentId: z.string(),
    text: z.string(),
    createdAt: instantSchema,
    createdBy: logEntrySchema.shape.actor,
  })
  .meta({ description: "A comment on an order." });

export const commentJson = (entry: LogEntry): z.output<typeof commentSchema> => ({
  commentId: entry.logId,
  text: entry.message,
  createdAt: instant(entry.occurredAtMs),
  createdBy: logEntryJson(entry).actor,
});

export const addComment = operation({
  ...write,
  name: "comment_add",
  toolSets: ["purchasing", "receiving"],
  title: "Comment on an order",
  summary: "Adds a comment to an order's log, where people read it.",
  description: "Nobody can change it. The supplier never sees it.",
  route: { method: "POST", path: `${path}/comments` },
  success: 201,
  repeat: "adds-again",
  receiving: true,
  destructive: false,
  nextStep: ({ purchaseOrderId: ofOrder }) => ({
    tool: "purchase_order_get",
    arguments: { purchaseOrderId: ofOrder },
    advice: "The comment changed nothing of the order. This shows where it stands.",
  }),
  faults: orderFaults,
  input: z
    .strictObject({ purchaseOrderId, text: textOfLines(noteMax) })
    .meta({ example: { purchaseOrderId: "po_demo_24", text: "The supplier calls back on Monday." } }),
  output: z.strictObject({ comment: commentSchema }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const stamp = stampOf(call);
      const entry = logged({ action: commentAction, message: input.text, changes: [] }, stamp);
      await tx.batch([
        logStatement(shopId, order.purchaseOrderId, entry),
        ...eventStatements(shopId, lineEvent("purchase_order.updated", order, new Set()), stamp),
      ]);
      return { effects: [], answer: () => ({ data: { comment: commentJson(entry) } }) };
    }),
});

/** The same as a tool, which has no path. */
export const commentTool = operation({ ...addComment, route: null });
